# SPDX-License-Identifier: Apache-2.0
# s0.R002: NamedSharding with a memory kind; with_memory_kind; what kinds there are.
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[0]).reshape(1, 1), ("x", "y"))
plain = NamedSharding(mesh, P("x", "y"))
assert repr(plain) == "NamedSharding(mesh=Mesh('x': 1, 'y': 1), spec=PartitionSpec('x', 'y'))"
assert plain.with_memory_kind("pinned_host").memory_kind == "pinned_host"
assert jax.device_put(1.0, plain).sharding.memory_kind == "device"
assert NamedSharding(mesh, P("x"), memory_kind="device") != NamedSharding(mesh, P("x"), memory_kind="pinned_host")
try:
    NamedSharding(mesh, P("x"), memory_kind="attic")
except ValueError as error:
    assert "device, pinned_host, unpinned_host" in str(error)
else:
    raise AssertionError("nothing was raised")
