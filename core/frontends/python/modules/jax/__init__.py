# SPDX-License-Identifier: Apache-2.0
"""JAX's surface over Gantry's graphs: docs/jax.md says what is there."""
import sys
import _gantry

if "mindspore" in sys.modules:
    raise ImportError("a program uses either mindspore or jax: both were imported")

from jax import _core, _effects, _types, errors
from jax._array import Array
from jax import sharding, tree_util, tree, checkpoint_policies
from jax._stage import Jitted, ShapeDtypeStruct, eval_shape, jit
from jax import _batch
from jax._transform import (checkpoint, grad, hessian, jacfwd, jacobian, jacrev, jvp, linearize, named_scope, remat, value_and_grad,
                            vjp, vmap)
from jax._custom import custom_jvp, custom_vjp
from jax import flatten_util, image, lax, numpy, nn, ops, random, dtypes
from jax._names import missing as _missing

__version__ = "0.4.38"
_sharding = sharding


def devices(backend=None):
    return [sharding.DEVICE]


local_devices = devices


def device_count(backend=None):
    return 1


local_device_count = device_count


def default_backend():
    return "cpu"


def process_index():
    return 0


def device_put(x, device=None, *, src=None, donate=False, may_alias=None):
    """In a graph a copy between memories where the kinds differ."""
    from jax._stage import prefix_leaves
    leaves, structure = tree_util.tree_flatten(x)
    places = prefix_leaves(device, x)
    moved = []
    for leaf, place in zip(leaves, places):
        array = _core.asarray(leaf)
        kind = array._kind if place is None else sharding.kind_of(place)
        array = _core.device_put(array, kind)
        if isinstance(place, sharding.Sharding) and not isinstance(array, _core.Batched):
            array = _core.copy_of(array)
            array._put = place if place.memory_kind else None
        moved.append(array)
    return tree_util.tree_unflatten(structure, moved)


def device_get(x):
    return tree_util.tree_map(lambda leaf: leaf._numpy() if isinstance(leaf, Array) else leaf, x)


def block_until_ready(x):
    return x


def named_call(fun, *, name=None):
    return named_scope(name or fun.__name__)(fun)


def custom_gradient(fun):
    """@fun gives its result and the function that makes the gradients of its arguments of that of the result."""
    made = custom_vjp(lambda *args: fun(*args)[0])

    def forward(*args):
        result, rule = fun(*args)
        return result, (args,)

    def backward(saved, cotangent):
        given = fun(*saved[0])[1](cotangent)
        return given if isinstance(given, tuple) and len(given) == len(saved[0]) else (given,)
    made.defvjp(forward, backward)
    return made


def linear_transpose(fun, *primals, reduce_axes=()):
    from jax._names import refuse
    refuse("jax.linear_transpose", "reduce_axes", reduce_axes, ())
    def transposed(cotangent):
        zeros = tree_util.tree_map(lambda x: numpy.zeros(x.shape, x.dtype), primals)
        return vjp(fun, *zeros)[1](cotangent)
    return transposed


def make_mesh(axis_shapes, axis_names, axis_types=None, *, devices=None):
    import numpy
    from jax.sharding import DEVICE, Mesh
    axis_shapes = tuple(axis_shapes)
    if _core.product(axis_shapes) != 1:
        raise ValueError(f"Number of devices 1 must equal the product of mesh_shape {axis_shapes}")
    return Mesh(numpy.array([DEVICE] if devices is None else devices).reshape(axis_shapes), tuple(axis_names))


def typeof(x):
    return _core.asarray(x).aval


class _Setting:
    """What concerns how others compile changes nothing here."""

    def __init__(self, *values):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __call__(self, function):
        return function


class default_matmul_precision(_Setting):
    pass


class debug_nans(_Setting):
    pass


class checking_leaks(_Setting):
    pass


class disable_jit:
    """Functions run operation by operation."""

    def __init__(self, disable=True):
        self.disable = disable

    def __enter__(self):
        self.before = Jitted.disabled
        Jitted.disabled = self.disable

    def __exit__(self, *error):
        Jitted.disabled = self.before


def clear_caches():
    pass


def pure_callback(*args, **kwargs):
    raise NotImplementedError("jax.pure_callback: a graph takes no results of Python; compute them outside and pass them as an argument")


def effects_barrier():
    """What a graph does beside its results it has done when it returns."""


class debug:
    """jax.debug: in a graph done when that has run (_effects.py)."""

    @staticmethod
    def print(text, *args, ordered=False, partitioned=False, **kwargs):
        import builtins
        _effects.call(lambda *args, **kwargs: builtins.print(text.format(*args, **kwargs)), *args, **kwargs)

    @staticmethod
    def callback(function, *args, ordered=False, partitioned=False, **kwargs):
        _effects.call(function, *args, **kwargs)


class _Config:
    def update(self, name, value):
        if name == "jax_enable_x64" and value:
            raise ValueError("arrays of 64-bit types are not there: jax_enable_x64 stays False")
        setattr(self, name, value)

    jax_enable_x64 = False


config = _Config()
typing = sys.modules[__name__]
ArrayLike = object


def _module(name):
    import importlib
    return importlib.import_module(name)


_LATE = ("ad_checkpoint", "experimental", "scipy")


def __getattr__(name):
    if name in _LATE:
        return _module(f"jax.{name}")
    raise _missing("jax", name, globals())
