# SPDX-License-Identifier: Apache-2.0
"""Sources of rows and what is done to them. A dataset is a chain of steps, each of which iterates over the one before."""
import builtins
import copy
import numpy as np
from mindspore._core import Tensor
from mindspore._text import only as _only

_OF_WORKERS = ("python_multiprocessing", "max_rowsize")  # how the work is divided


class Dataset:
    """@rows: a function that gives an iterator over tuples of arrays, new for each epoch."""

    def __init__(self, rows, columns, size):
        self._rows, self._columns, self._size = rows, list(columns), size
        self._batch_size, self._repeat = 1, 1

    def _derived(self, rows, columns=None, size=None):
        made = copy.copy(self)
        made.__class__ = Dataset
        made._rows, made._columns = rows, list(columns if columns is not None else self._columns)
        made._size = self._size if size is None else size
        return made

    # What it is

    def get_dataset_size(self):
        if self._size is None:
            self._size = sum(1 for _ in self._rows())
        return self._size

    __len__ = get_dataset_size

    def get_batch_size(self):
        return self._batch_size

    def get_repeat_count(self):
        return self._repeat

    def get_col_names(self):
        return list(self._columns)

    def output_shapes(self, estimate=False):
        return [list(np.asarray(c).shape) for c in next(self._rows())]

    def output_types(self):
        return [np.asarray(c).dtype for c in next(self._rows())]

    def num_classes(self):
        return None

    # Steps

    def batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, **options):
        _only("batch", **{n: (v, None) for n, v in options.items() if n not in _OF_WORKERS})
        if isinstance(batch_size, bool) or not isinstance(batch_size, int):
            raise TypeError(f"Argument batch_size with value {batch_size} is not of type [<class 'int'>, <class 'Callable'>], but got "
                            f"{type(batch_size)}.")
        if batch_size < 1:
            raise ValueError(f"Input batch_size is not within the required interval of [1, 2147483647].")

        def rows():
            batch = []
            for row in self._rows():
                batch.append(row)
                if len(batch) == batch_size:
                    yield _stacked(batch)
                    batch = []
            if batch and not drop_remainder:
                yield _stacked(batch)
        n = self._size
        made = self._derived(rows, size=None if n is None else n // batch_size if drop_remainder else -(-n // batch_size))
        made._batch_size = batch_size
        if n is None:
            made._size = None
        return made

    def padded_batch(self, batch_size, drop_remainder=False, num_parallel_workers=None, pad_info=None):
        def rows():
            batch = []
            for row in self._rows():
                batch.append(row)
                if len(batch) == batch_size:
                    yield _stacked(_padded(batch, pad_info, self._columns))
                    batch = []
            if batch and not drop_remainder:
                yield _stacked(_padded(batch, pad_info, self._columns))
        made = self._derived(rows)
        made._size = None
        return made

    def map(self, operations, input_columns=None, output_columns=None, column_order=None, num_parallel_workers=None, **options):
        _only("map", **{n: (v, None) for n, v in options.items() if n not in _OF_WORKERS})
        operations = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        taken = _names(input_columns) or self._columns[:1]
        given = _names(output_columns) or taken
        at = [self._columns.index(c) for c in taken]
        after = self._columns[:at[0]] + [c for c in given] + [c for c in self._columns[at[0]:] if c not in taken]

        def rows():
            for row in self._rows():
                values = tuple(row[i] for i in at)
                for operation in operations:
                    values = operation(*values)
                    values = values if isinstance(values, tuple) else (values,)
                others = {c: v for c, v in builtins.zip(self._columns, row) if c not in taken}
                others.update(builtins.zip(given, (np.asarray(v) for v in values)))
                yield tuple(others[c] for c in after)
        made = self._derived(rows, after)
        return made.project(column_order) if column_order else made

    def filter(self, predicate, input_columns=None, num_parallel_workers=None):
        at = [self._columns.index(c) for c in (_names(input_columns) or self._columns)]
        made = self._derived(lambda: (row for row in self._rows() if predicate(*(row[i] for i in at))))
        made._size = None
        return made

    def shuffle(self, buffer_size):
        if buffer_size < 2:
            raise ValueError("Input buffer_size is not within the required interval of [2, 2147483647].")

        def rows():
            generator, buffer = _generator(), []
            for row in self._rows():
                buffer.append(row)
                if len(buffer) == buffer_size:
                    yield buffer.pop(int(generator.integers(len(buffer))))
            while buffer:
                yield buffer.pop(int(generator.integers(len(buffer))))
        return self._derived(rows)

    def repeat(self, count=None):
        if count is None or count == -1:
            count = 1 if count is None else 2 ** 31

        def rows():
            for _ in range(count):
                yield from self._rows()
        made = self._derived(rows, size=None if self._size is None else self._size * count)
        made._repeat = self._repeat * count
        if self._size is None:
            made._size = None
        return made

    def take(self, count=-1):
        def rows():
            for i, row in enumerate(self._rows()):
                if count != -1 and i >= count:
                    return
                yield row
        return self._derived(rows, size=self.get_dataset_size() if count == -1 else min(count, self.get_dataset_size()))

    def skip(self, count):
        def rows():
            for i, row in enumerate(self._rows()):
                if i >= count:
                    yield row
        return self._derived(rows, size=max(0, self.get_dataset_size() - count))

    def split(self, sizes, randomize=True):
        n = self.get_dataset_size()
        sizes = [s if isinstance(s, int) else round(s * n) for s in sizes]
        order = _generator().permutation(n) if randomize else np.arange(n)
        all_rows = list(self._rows())
        parts, first = [], 0
        for size in sizes:
            chosen = [all_rows[i] for i in order[first:first + size]]
            parts.append(self._derived(lambda chosen=chosen: iter(chosen), size=len(chosen)))
            first += size
        return parts

    def zip(self, datasets):
        return zip((self,) + (tuple(datasets) if isinstance(datasets, tuple) else (datasets,)))

    def concat(self, datasets):
        parts = [self] + (list(datasets) if isinstance(datasets, (list, tuple)) else [datasets])

        def rows():
            for part in parts:
                yield from part._rows()
        return self._derived(rows, size=sum(p.get_dataset_size() for p in parts))

    __add__ = concat

    def rename(self, input_columns, output_columns):
        names = dict(builtins.zip(_names(input_columns), _names(output_columns)))
        return self._derived(self._rows, [names.get(c, c) for c in self._columns])

    def project(self, columns):
        columns = _names(columns)
        at = [self._columns.index(c) for c in columns]
        return self._derived(lambda: (tuple(row[i] for i in at) for row in self._rows()), columns)

    def apply(self, apply_func):
        return apply_func(self)

    def device_que(self, *args, **kwargs):
        return self

    def use_sampler(self, new_sampler):
        return self._derived(lambda: _sampled(list(self._rows()), new_sampler))

    def close_pool(self):
        pass

    # Iterating

    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=True):
        return _Iterator(self.project(columns) if columns else self, output_numpy, False)

    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=True):
        return _Iterator(self, output_numpy, True)

    def __iter__(self):
        return iter(self.create_tuple_iterator(num_epochs=1))


class _Iterator:
    def __init__(self, dataset, output_numpy, as_dict):
        self._dataset, self._numpy, self._dict = dataset, output_numpy, as_dict
        self._running = None

    def __iter__(self):
        self._running = self._dataset._rows()
        return self

    def __next__(self):
        if self._running is None:
            self._running = self._dataset._rows()
        row = next(self._running)
        row = [np.asarray(v) for v in row]
        if not self._numpy:
            row = [Tensor(v) if v.dtype.kind not in "USO" else v for v in row]
        return dict(builtins.zip(self._dataset._columns, row)) if self._dict else row

    def stop(self):
        self._running = None

    release = stop


def _names(columns):
    return [columns] if isinstance(columns, str) else list(columns or ())


def _generator():
    from mindspore.dataset import config
    return np.random.default_rng(config.get_seed())


def _stacked(rows):
    try:
        return tuple(np.stack([np.asarray(v) for v in column]) for column in builtins.zip(*rows))
    except ValueError:
        raise RuntimeError("Inconsistent batch shapes, batch operation expects same shape for each data row.") from None


def _padded(rows, pad_info, columns):
    result = []
    for name, column in builtins.zip(columns, builtins.zip(*rows)):
        column = [np.asarray(v) for v in column]
        shape, value = (pad_info or {}).get(name, (None, 0))
        full = [max(v.shape[d] for v in column) if shape is None or shape[d] is None else shape[d] for d in range(column[0].ndim)]
        padded = []
        for v in column:
            whole = np.full(full, value or 0, v.dtype)
            whole[tuple(slice(0, n) for n in v.shape)] = v
            padded.append(whole)
        result.append(padded)
    return list(builtins.zip(*result))


# Samplers

class Sampler:
    def indices(self, n):
        return range(n)


class SequentialSampler(Sampler):
    def __init__(self, start_index=None, num_samples=None):
        self.start, self.n = start_index or 0, num_samples

    def indices(self, n):
        return range(self.start, n if self.n is None else min(n, self.start + self.n))


class RandomSampler(Sampler):
    def __init__(self, replacement=False, num_samples=None, shuffle=None):
        _only("RandomSampler", shuffle=(shuffle, None))
        self.replacement, self.n = replacement, num_samples

    def indices(self, n):
        count = n if self.n is None else self.n
        return _generator().integers(n, size=count) if self.replacement else _generator().permutation(n)[:count]


class SubsetSampler(Sampler):
    def __init__(self, indices, num_samples=None):
        self.chosen = list(indices)[:num_samples]

    def indices(self, n):
        return self.chosen


class SubsetRandomSampler(SubsetSampler):
    def indices(self, n):
        return _generator().permutation(self.chosen)


class DistributedSampler(Sampler):
    def __init__(self, num_shards, shard_id, shuffle=True, num_samples=None, offset=-1):
        _only("DistributedSampler", offset=(offset, -1))
        self.shards, self.shard, self.shuffle, self.n = num_shards, shard_id, shuffle, num_samples

    def indices(self, n):
        order = _generator().permutation(n) if self.shuffle else np.arange(n)
        return order[self.shard::self.shards][:self.n]


class WeightedRandomSampler(Sampler):
    def __init__(self, weights, num_samples=None, replacement=True):
        self.weights, self.n, self.replacement = np.asarray(weights, float), num_samples, replacement

    def indices(self, n):
        return _generator().choice(len(self.weights), self.n or n, self.replacement, self.weights / self.weights.sum())


def _sampled(rows, sampler):
    for i in (sampler.indices(len(rows)) if hasattr(sampler, "indices") and callable(sampler.indices) else sampler):
        yield rows[int(i)]


class Schema:
    def __init__(self, schema_file=None):
        _only("Schema", schema_file=(schema_file, None))
        self.columns = []

    def add_column(self, name, de_type, shape=None):
        self.columns.append((name, de_type, shape))


# Sources

def _as_row(value, columns):
    if isinstance(value, dict):
        return tuple(np.asarray(value[c]) for c in columns)
    return tuple(np.asarray(v.asnumpy() if isinstance(v, Tensor) else v) for v in (value if isinstance(value, tuple) else (value,)))


class GeneratorDataset(Dataset):
    """Rows of a generator function, of something to iterate over, or of something with __getitem__ and __len__."""

    def __init__(self, source, column_names=None, column_types=None, schema=None, num_samples=None, num_parallel_workers=1, shuffle=None,
                 sampler=None, num_shards=None, shard_id=None, **options):
        if column_names is None and schema is None:
            raise ValueError("Neither columns_names nor schema are provided.")
        columns = _names(column_names) or [c[0] for c in schema.columns]
        indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if sampler is None and num_shards is not None:
            sampler = DistributedSampler(num_shards, shard_id, shuffle is not False)

        def order():
            n = len(source)
            if sampler is not None:
                return sampler.indices(n) if hasattr(sampler, "indices") and callable(sampler.indices) else list(sampler)
            return _generator().permutation(n) if shuffle is not False else range(n)

        def rows():
            if indexed:
                values = (source[int(i)] for i in order())
            else:
                values = source() if callable(source) else iter(source)
            for i, value in enumerate(values):
                if num_samples is not None and i >= num_samples:
                    return
                row = _as_row(value, columns)
                if len(row) != len(columns):
                    raise RuntimeError(f"Invalid python function, the 'source' of 'GeneratorDataset' should return same number of NumPy "
                                       f"arrays as specified in column_names, the size of column_names is: {len(columns)} and number of "
                                       f"returned NumPy array is: {len(row)}")
                yield row
        size = None
        if indexed:
            size = len(source) if sampler is None and num_shards is None else len(list(order()))
            size = size if num_samples is None else min(size, num_samples)
        super().__init__(rows, columns, size)


class NumpySlicesDataset(GeneratorDataset):
    """Slices of arrays along their first dimension."""

    def __init__(self, data, column_names=None, num_samples=None, num_parallel_workers=1, shuffle=None, sampler=None, num_shards=None,
                 shard_id=None):
        if isinstance(data, dict):
            column_names = column_names or list(data)
            arrays = list(data.values())
        else:
            arrays = list(data) if isinstance(data, tuple) else [data]
            if column_names is None:
                column_names = [f"column_{i}" for i in range(len(arrays))]

        class Slices:
            def __len__(self):
                return len(arrays[0])

            def __getitem__(self, i):
                return tuple(a[i] for a in arrays)
        super().__init__(Slices(), column_names, num_samples=num_samples, shuffle=shuffle, sampler=sampler, num_shards=num_shards,
                         shard_id=shard_id)


class PaddedDataset(GeneratorDataset):
    def __init__(self, padded_samples):
        super().__init__([tuple(s.values()) for s in padded_samples], list(padded_samples[0]), shuffle=False)


def zip(datasets):
    parts = tuple(datasets)
    columns = [c for p in parts for c in p._columns]

    def rows():
        for row in builtins.zip(*(p._rows() for p in parts)):
            yield tuple(v for part in row for v in part)
    return Dataset(rows, columns, min(p.get_dataset_size() for p in parts))
