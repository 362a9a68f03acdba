# SPDX-License-Identifier: Apache-2.0
"""Transformations of columns."""
import numpy as np
from mindspore import _core


class TypeCast:
    def __init__(self, output_type):
        self.dtype = np.dtype(_core.as_type(output_type).name.lower()) if not isinstance(output_type, np.dtype) else output_type

    def __call__(self, data):
        return np.asarray(data).astype(self.dtype)


class OneHot:
    def __init__(self, num_classes, smoothing_rate=0.0):
        self.num_classes, self.rate = num_classes, smoothing_rate

    def __call__(self, data):
        hot = np.eye(self.num_classes, dtype=np.asarray(data).dtype)[np.asarray(data)]
        return hot if not self.rate else hot * (1 - self.rate) + self.rate / self.num_classes


class Fill:
    def __init__(self, fill_value):
        self.value = fill_value

    def __call__(self, data):
        return np.full_like(data, self.value)


class Concatenate:
    def __init__(self, axis=0, prepend=None, append=None):
        self.axis, self.prepend, self.append = axis, prepend, append

    def __call__(self, data):
        parts = [p for p in (self.prepend, data, self.append) if p is not None]
        return np.concatenate(parts, self.axis)


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, *data):
        for transform in self.transforms:
            data = transform(*data)
            data = data if isinstance(data, tuple) else (data,)
        return data if len(data) > 1 else data[0]


class PadEnd:
    def __init__(self, pad_shape, pad_value=0):
        self.shape, self.value = pad_shape, pad_value or 0

    def __call__(self, data):
        result = np.full([n if n is not None else d for n, d in zip(self.shape, data.shape)], self.value, data.dtype)
        result[tuple(slice(0, d) for d in data.shape)] = data
        return result


class Duplicate:
    def __call__(self, data):
        return data, data


class RandomApply:
    def __init__(self, transforms, prob=0.5):
        self.transforms, self.prob = Compose(transforms), prob

    def __call__(self, data):
        return self.transforms(data) if np.random.rand() < self.prob else data
