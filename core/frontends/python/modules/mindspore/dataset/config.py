# SPDX-License-Identifier: Apache-2.0
"""Settings of the data pipelines."""
_values = {"seed": None, "num_parallel_workers": 1, "prefetch_size": 16}


def set_seed(seed):
    _values["seed"] = seed


def get_seed():
    from mindspore.common.seed import get_seed as of_program
    return _values["seed"] if _values["seed"] is not None else of_program()


def set_num_parallel_workers(n):
    _values["num_parallel_workers"] = n


def get_num_parallel_workers():
    return _values["num_parallel_workers"]


def set_prefetch_size(n):
    _values["prefetch_size"] = n


def get_prefetch_size():
    return _values["prefetch_size"]


def set_auto_num_workers(enable):
    pass


set_enable_shared_mem = set_fast_recovery = set_enable_autotune = set_auto_num_workers
