# SPDX-License-Identifier: Apache-2.0
"""Products of bools are bools, running sums of small integers stay small: as JAX has them."""
import jax.numpy as jnp
import numpy as np

a = jnp.asarray([[True, True], [False, True]])
for product in (a @ a.T, jnp.dot(a, a.T), jnp.einsum("ij,kj->ik", a, a), jnp.tensordot(a, a.T, 1)):
    assert product.dtype == jnp.bool_, product.dtype
    assert np.array_equal(np.asarray(product), [[True, True], [True, True]])
assert jnp.matmul(a, a, preferred_element_type=jnp.int32).tolist() == [[1, 2], [0, 1]]
sums = jnp.cumsum(jnp.asarray([100, 100, 100], jnp.int8))
assert sums.dtype == jnp.int8 and sums.tolist() == [100, -56, 44], sums
assert jnp.cumprod(jnp.asarray([100, 3], jnp.uint8)).tolist() == [100, 44]
assert jnp.cumsum(jnp.asarray([100, 100], jnp.int8), dtype=jnp.int32).tolist() == [100, 200]
assert jnp.cumsum(a[0]).dtype == jnp.int32
