# SPDX-License-Identifier: Apache-2.0
"""optax: gradient transformations, schedules and losses, by their formulas."""
from optax._base import (EmptyState, GradientTransformation, OptState, Params, Updates, apply_updates, chain, global_norm, identity,
                         incremental_update, masked, multi_transform, set_to_zero, stateless, tree_zeros)
from optax._transforms import (ScaleByAdamState, ScaleByScheduleState, TraceState, add_decayed_weights, add_noise, clip,
                               clip_by_global_norm, ema, scale, scale_by_adam, scale_by_learning_rate, scale_by_rms, scale_by_schedule,
                               trace)
from optax._optimizers import adagrad, adam, adamw, lion, rmsprop, sgd
from optax._schedules import (constant_schedule, cosine_decay_schedule, exponential_decay, join_schedules, linear_schedule,
                              piecewise_constant_schedule, polynomial_schedule, warmup_cosine_decay_schedule)
from optax import losses, schedules, tree_utils
from optax.losses import (cosine_similarity, huber_loss, l2_loss, log_cosh, sigmoid_binary_cross_entropy, smooth_labels,
                          softmax_cross_entropy, softmax_cross_entropy_with_integer_labels, squared_error)
from jax._names import missing as _missing

__version__ = "0.2.4"


def __getattr__(name):
    raise _missing("optax", name, globals())
