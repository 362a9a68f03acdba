# SPDX-License-Identifier: Apache-2.0
# s0.R006: the counters, and the total that they make.
import jax
import jax.numpy as jnp

f = jax.jit(lambda x, y: (x + y, jnp.sin(x) @ y), donate_argnums=0)
x = jnp.ones((32, 32))
stats = f.lower(x, x).compile().memory_analysis()
names = ["argument", "output", "temp", "alias", "generated_code"]
for name in names + ["host_" + n for n in names]:
    assert isinstance(getattr(stats, name + "_size_in_bytes"), int), name
size = 32 * 32 * 4
assert (stats.argument_size_in_bytes, stats.output_size_in_bytes, stats.alias_size_in_bytes) == (2 * size, 2 * size, size)
assert 0 < stats.temp_size_in_bytes <= 2 * size and stats.host_argument_size_in_bytes == 0
