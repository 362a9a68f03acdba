# SPDX-License-Identifier: Apache-2.0
"""Checkpointed functions and names."""
from jax._transform import checkpoint, checkpoint_name, remat
from jax import checkpoint_policies

checkpoint_policies = checkpoint_policies
