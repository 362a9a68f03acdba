# SPDX-License-Identifier: Apache-2.0
# An argument is followed or refused: no value is wrong without a word.
import ast
import os
import numpy as np
import jax
import jax.scipy.linalg
import jax.numpy as jnp
import optax
from jax import lax, random

x = np.arange(12, dtype=np.float32).reshape(3, 4)
a = jnp.asarray(x)
key = random.PRNGKey(0)
square = lambda v: (v * v).sum()

REFUSED = {
    "axis_index_groups": lambda: jax.vmap(lambda v: lax.psum(v, "i", axis_index_groups=[[0], [1]]), axis_name="i")(a),
    "pivoting": lambda: jax.scipy.linalg.qr(a, pivoting=True),
    "hermitian": lambda: jnp.linalg.svd(a, hermitian=True),
    "complex numbers": lambda: jnp.linalg.eigvals(jnp.eye(2)),
    "rates of 10": lambda: random.poisson(key, 12.0),
    "preferred_element_type": lambda: lax.conv(jnp.ones((1, 1, 5)), jnp.ones((1, 1, 2)), (1,), "VALID", preferred_element_type="float16"),
    "order": lambda: jnp.array(x, order="F"),
    "out_sharding": lambda: a.at[0].set(1.0, out_sharding=1),
    "wrap_negative_indices": lambda: a.at[0].set(1.0, wrap_negative_indices=False),
    "implementation": lambda: jax.nn.dot_product_attention(*[jnp.ones((1, 2, 2, 2))] * 3, implementation="cudnn"),
    "out": lambda: jnp.sum(a, out=a),
    "replace": lambda: random.categorical(key, jnp.ones(3), replace=False),
    "holomorphic": lambda: jax.hessian(square, holomorphic=True),
    "allow_int": lambda: jax.grad(square, allow_int=True),
}
for name, function in REFUSED.items():
    try:
        function()
    except NotImplementedError as error:
        assert name in str(error), str(error)
    else:
        raise AssertionError(f"{name} is dropped")
for function in (lambda: jnp.unique(a, size=3, axis=0), lambda: jnp.where(a > 0, a, a, size=2), lambda: jnp.pad(a, 1, mode="maximum", stat_length=1)):
    try:
        function()
    except NotImplementedError:
        continue
    raise AssertionError("an argument is dropped")

stop = jax.custom_vjp(lambda v: v)
stop.defvjp(lambda v: (v, None), lambda kept, g: (g,))
try:
    jax.grad(lambda v: lax.scan(lambda c, _: (stop(c), None), v, None, 2000)[0])(1.0)
except NotImplementedError as error:
    assert "custom_vjp" in str(error)
else:
    raise AssertionError("a scan of 2,000 steps is written out")
for function in (lambda: a.at[0].get(mode="wrap"), lambda: jnp.take(a, 1, mode="nearest")):
    try:
        function()
    except ValueError as error:
        assert "mode" in str(error)
        continue
    raise AssertionError("a mode that is not known is taken")


def same(have, want):
    have, want = np.asarray(have), np.asarray(want)
    assert have.shape == want.shape, (have.shape, want.shape)
    assert np.allclose(have, want, rtol=1e-5, atol=1e-5), (have, want)


def known_types():
    mask = np.array([[True, False, True, True]] * 3)
    same(lax.reshape(a, (2, 6), (1, 0)), x.T.reshape(2, 6))
    same(jnp.reshape(a, (2, 6), order="F"), x.reshape(2, 6, order="F"))
    same(a.reshape(2, -1, order="F"), x.reshape(2, 6, order="F"))
    same(jnp.ravel(a, order="F"), x.ravel(order="F"))
    same(jnp.linspace(jnp.zeros(2), jnp.ones(2), 3, axis=1), np.linspace(np.zeros(2), np.ones(2), 3, axis=1))
    assert jnp.logspace(0, 2, 3, dtype="int32").dtype == "int32"
    assert bool(jnp.array_equal(jnp.array([np.nan]), jnp.array([np.nan]), equal_nan=True))
    same(jnp.take(a, np.array([-1, 9]), 1, mode="clip"), np.take(x, [-1, 9], 1, mode="clip"))
    same(jnp.take(a, np.array([-1, 9]), 1, mode="wrap"), np.take(x, [-1, 9], 1, mode="wrap"))
    same(jnp.repeat(jnp.arange(3), np.array([1, 2, 0]), total_repeat_length=5), [0, 1, 1, 1, 1])
    same(jnp.repeat(jnp.arange(3), 2, total_repeat_length=3), [0, 0, 1])
    for method in ("linear", "lower", "higher", "nearest", "midpoint"):
        for q in (0.3, np.array([0.1, 0.85], np.float32)):
            same(jnp.quantile(a, q, 1, method=method, keepdims=True), np.quantile(x, q, 1, method=method, keepdims=True))
    same(jnp.quantile(a, 0.4, keepdims=True), np.quantile(x, 0.4, keepdims=True))
    same(jnp.percentile(a, 40, 0, method="lower", keepdims=True), np.percentile(x, 40, 0, method="lower", keepdims=True))
    same(jnp.median(a, 1, keepdims=True), np.median(x, 1, keepdims=True))
    same(jnp.var(a, 1, where=mask), np.var(x, 1, where=mask))
    same(jnp.std(a, where=mask, ddof=1), np.std(x, where=mask, ddof=1))
    b = np.array([[True, False], [False, False]])
    w = np.array([[False, True], [True, True]])
    same(jnp.max(jnp.asarray(b), 1, where=w, initial=False), np.max(b, 1, where=w, initial=False))
    same(jnp.min(jnp.asarray(~b), 1, where=~w, initial=True), np.min(~b, 1, where=~w, initial=True))
    value, sign = jax.nn.logsumexp(a, 1, b=-1.0, return_sign=True)
    same(value, np.log(np.exp(x).sum(1))), same(sign, -np.ones(3))
    picked = x[:, mask[0]]
    same(jax.nn.standardize(a, where=mask), (x - picked.mean(1, keepdims=True)) / np.sqrt(picked.var(1, keepdims=True) + 1e-5))
    same(jnp.linalg.matrix_power(jnp.ones((2, 3, 3)), 0), np.stack([np.eye(3)] * 2))


known_types()
params = jnp.ones(3)
assert optax.sgd(0.1, 0.9, accumulator_dtype="bfloat16").init(params)[0].trace.dtype == "bfloat16"
lion = optax.lion(0.1, mu_dtype="bfloat16")
assert lion.update(params, lion.init(params), params)[1][0].mu.dtype == "bfloat16"

# Parameters that a function does not read: what they say changes no value here. Add to the list only such ones.
UNREAD = {
    "backend src donate may_alias sharding partitioned": "there is one device, and arrays never change",
    "copy memo": "arrays never change",
    "indices_are_sorted unique_indices": "hints of how, not of what",
    "precision accuracy": "always the whole precision",
    "unroll _split_transpose linear batch_size optimize stable compiler_options debug_info axis_types": "hints of how, not of what",
    "spmd_axis_name": "there is one device",
    "recall_target reduction_input_size_override aggregate_to_topk": "the largest are found exactly, as where there is no TPU",
    "lwork lapack_driver overwrite_input assume_unique method kth ordered": "hints of how, not of what; a partition is sorted whole",
    "allow_extended_dtype": "nothing has them",
    "overwrite_a overwrite_b check_finite debug": "arrays never change; JAX does not read them either",
}
# Of an interface that all functions of a file share.
SHARED = {"_batch.py": "name bs size attrs", "_array.py": "type_id index value", "_index.py": "x", "_base.py": "params extra",
          "_optimizers.py": "params", "_transforms.py": "params", "_schedules.py": "count", "initializers.py": "key",
          "_stage.py": "owner", "_custom.py": "_out _owner", "ops.py": "_", "_transform.py": "error", "sharding.py": "error", "__init__.py": "x values error args kwargs", "_convolution.py": "rhs_shape",
          "_rarer.py": "params state x step", "_factored.py": "params", "flatten_util.py": "vector", "linalg.py": "a rows", "_control.py": "_", "random.py": "_", "_gate.py": "error",
          "_branch.py": "k values", "_effects.py": "error", "tree_util.py": "_"}
allowed = {name for names in UNREAD for name in names.split()} | {"self", "cls"}
modules = os.path.dirname(os.path.abspath(__file__))
for _ in range(6):
    modules = os.path.dirname(modules)
modules = os.path.join(modules, "core", "frontends", "python", "modules")
unread, n = [], 0
for folder in ("jax", "optax"):
    for path, _, files in os.walk(os.path.join(modules, folder)):
        for file in (f for f in files if f.endswith(".py")):
            with open(os.path.join(path, file)) as source:
                tree = ast.parse(source.read())
            for function in ast.walk(tree):
                if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
                    continue
                n += 1
                parts = function.args
                names = [p.arg for p in parts.posonlyargs + parts.args + parts.kwonlyargs + [v for v in (parts.vararg, parts.kwarg) if v]]
                body = function.body if isinstance(function.body, list) else [function.body]
                read = {node.id for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)}
                unread += [f"{file}:{function.lineno}: {name}" for name in names
                           if name not in read | allowed | set(SHARED.get(file, "").split())]
assert n > 500, n
assert not unread, "parameters that are dropped: " + ", ".join(sorted(unread))
