# SPDX-License-Identifier: Apache-2.0
"""Windows by any function, paddings by what they stand beside, extremes where nothing is a number, keys that are compared."""
import jax
import numpy as np
import jax.numpy as jnp
import optax
from jax import lax, random
from lib.programs import case

NUMBERS = np.random.RandomState(5)
X = NUMBERS.randn(4, 5).astype(np.float32)
SQUARE = NUMBERS.randn(4, 4).astype(np.float32)
SPD = SQUARE @ SQUARE.T + 4 * np.eye(4, dtype=np.float32)
IMAGE = NUMBERS.randn(1, 5, 5, 3).astype(np.float32)


@case
def windows_by_a_function():
    x = jnp.asarray(X)
    near = lambda a, b: a + b + a * b
    two = lambda x: lax.reduce_window(x, 0.0, near, (2, 2), (1, 2), ((0, 1), (1, 0)), window_dilation=(1, 2))
    return [two(x), lax.reduce_window(x, 0.0, near, (2, 1), (1, 1), "SAME", base_dilation=(2, 1)),
            jax.vmap(lambda r: lax.reduce_window(r, 0.0, near, (3,), (1,), "VALID"))(x)]


@case
def kernels_transposed():
    x, w = jnp.asarray(IMAGE), jnp.asarray(NUMBERS.randn(3, 3, 4, 3).astype(np.float32))
    return [lax.conv_transpose(x, w, (2, 2), "VALID", transpose_kernel=True), lax.conv_transpose(x, w, (2, 1), "SAME", transpose_kernel=True),
            lax.conv_general_dilated_patches(jnp.moveaxis(x, 3, 1), (3, 2), (1, 2), "SAME"),
            lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))]


@case
def padded_by_values():
    x, i = jnp.asarray(X), jnp.arange(6).reshape(2, 3)
    return [jnp.pad(x, ((0, 1), (2, 0)), mode="linear_ramp", end_values=2.0), jnp.pad(x, 1, mode="mean"), jnp.pad(x, 2, mode="maximum"),
            jnp.pad(x, ((1, 0), (0, 2)), mode="minimum"), jnp.pad(i, 1, mode="mean"), jnp.pad(i, 1, mode="linear_ramp")]


@case
def no_number_at_all():
    x = jnp.asarray(X).at[1].set(jnp.nan).at[0, 0].set(jnp.nan)
    return [jnp.nanmax(x, 1), jnp.nanmin(x, -1), jnp.nanargmax(x, 1), jnp.nanargmin(x, 1), jnp.nanmax(x), jnp.nanargmin(x, 0),
            jnp.nanmax(jnp.arange(3)), jnp.all(x > -9, 1, where=x > 0), jnp.any(x > 9, where=x > 0)]


@case
def bessel_at_zero():
    special = jax.scipy.special
    x = jnp.array([-2.0, 0.0, 0.5, 30.0])
    return [special.i1(x[:3]), special.i1e(x), jax.vmap(jax.grad(special.i1))(x[:3]), jax.vmap(jax.grad(special.i1e))(x),
            jax.vmap(jax.grad(special.i0e))(x), jnp.i0(x[:3])]


@case
def places_named_once():
    x = jnp.asarray(X)
    return [jax.grad(lambda x: jnp.sum(x.at[1].multiply(x[0]) ** 2))(x), x.at[1:3, 2].min(0.1), x.at[-1].max(x[0]), x.at[:, 1].divide(x[:, 0]),
            x.compress(jnp.array([True, False, True, True]), axis=0), jnp.place(x, x > 0.5, jnp.array([1.0, 2.0]), inplace=False),
            jnp.packbits(jnp.array([1, 0, 1, 1, 0, 0, 0, 1, 1])), jnp.unpackbits(jnp.array([1, 250], jnp.uint8), bitorder="little"),
            jnp.packbits(jnp.arange(20).reshape(2, 10) % 3, axis=1), jnp.square(True), jnp.square(jnp.arange(3))]


@case
def keys_compared():
    key = random.key(7)
    return [key == random.key(7), key != random.fold_in(key, 1), random.split(key, 3) == random.split(key, 3), random.uniform(random.clone(key), (2,))]


@case
def factors_of_lax():
    a, b = jnp.asarray(SPD), jnp.asarray(X)
    return [lax.linalg.cholesky(a), lax.linalg.triangular_solve(a, b, left_side=True, lower=True),
            lax.linalg.triangular_solve(a, b.T, lower=False), lax.linalg.triangular_solve(a, b, left_side=True, lower=True, transpose_a=True),
            lax.linalg.eigh(a)[1], lax.linalg.svd(b, compute_uv=False),
            jax.grad(lambda a: jnp.sum(lax.linalg.triangular_solve(a, b, left_side=True, lower=True)))(a)]


@case
def one_device():
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    return [jax.jit(lambda x: lax.with_sharding_constraint(jnp.sin(x), sharding) * 2)(jnp.asarray(X)), jnp.array(mesh.shape["x"])]


@case
def labels_in_time():
    logits = jnp.asarray(NUMBERS.randn(2, 7, 5).astype(np.float32))
    late = jnp.array([[0.0] * 7, [0.0] * 5 + [1.0] * 2])
    labels, none = jnp.array([[1, 2, 2], [3, 1, 2]]), jnp.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    loss = lambda logits: jnp.sum(optax.ctc_loss(logits, late, labels, none))
    return [optax.ctc_loss(logits, late, labels, none), *optax.ctc_loss_with_forward_probs(logits, late, labels, none, blank_id=4)[1:],
            jax.grad(loss)(logits)]


@case
def masked_in_half_precision():
    scores = jnp.asarray(X).astype(jnp.bfloat16)
    low = jnp.finfo(scores.dtype).min
    shown = jax.nn.softmax(jnp.where(jnp.arange(5) < 3, scores, low))
    return [shown.astype(jnp.float32) > 0, jnp.array(float(jnp.finfo(jnp.bfloat16).eps)), jnp.array(jnp.finfo(scores).bits), jnp.array(range(4)),
            jnp.array(jnp.iinfo(jnp.arange(3)).max),
            jnp.array([jnp.can_cast(a, b) for a in (jnp.bfloat16, jnp.float32, jnp.int8, jnp.int32) for b in (jnp.bfloat16, jnp.float32, jnp.float16)])]
