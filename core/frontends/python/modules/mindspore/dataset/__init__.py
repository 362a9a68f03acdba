# SPDX-License-Identifier: Apache-2.0
"""Datasets over NumPy arrays and generators: rows of named columns, mapped, batched, shuffled, repeated, in one thread."""
from mindspore.dataset import transforms
from mindspore.dataset.sources import (Dataset, GeneratorDataset, NumpySlicesDataset, PaddedDataset, Schema, RandomSampler, SequentialSampler,
                                       SubsetRandomSampler, SubsetSampler, DistributedSampler, WeightedRandomSampler, zip)
from mindspore.dataset import config


def __getattr__(name):
    from mindspore.ops._names import missing
    return missing("mindspore.dataset", name, globals())
