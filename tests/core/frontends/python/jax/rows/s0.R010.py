# SPDX-License-Identifier: Apache-2.0
# s0.R010: save_and_offload_only_these_names takes four arguments by name; the lists have no name in common.
from jax import checkpoint_policies as cp

both = dict(offload_src="device", offload_dst="pinned_host")
assert cp.save_and_offload_only_these_names(names_which_can_be_saved=["a"], names_which_can_be_offloaded=["b"], **both)
for call, kind in ((lambda: cp.save_and_offload_only_these_names(["a"], ["b"], "device", "pinned_host"), TypeError),
                   (lambda: cp.save_and_offload_only_these_names(names_which_can_be_saved=["a"], names_which_can_be_offloaded=["a"], **both), ValueError)):
    try:
        call()
    except kind:
        pass
    else:
        raise AssertionError("nothing was raised")
