# SPDX-License-Identifier: Apache-2.0
"""optax: gradient transformations, schedules and losses, by their formulas."""
from optax._base import (EmptyState, GradientTransformation, OptState, Params, Updates, apply_updates, chain, global_norm, identity,
                         incremental_update, masked, multi_transform, set_to_zero, stateless, tree_zeros)
from optax._transforms import (ScaleByAdamState, ScaleByScheduleState, TraceState, add_decayed_weights, add_noise, clip,
                               clip_by_global_norm, ema, scale, scale_by_adam, scale_by_learning_rate, scale_by_rms, scale_by_schedule,
                               scale_by_trust_ratio, trace)
from optax._optimizers import ScaleByLionState, adagrad, adam, adamw, lamb, lars, lion, rmsprop, scale_by_lion, sgd
from optax._factored import (ApplyEvery, FactoredState, ScaleBySM3State, adafactor, apply_every, noisy_sgd, optimistic_gradient_descent,
                             scale_by_factored_rms, scale_by_optimistic_gradient, scale_by_param_block_rms, scale_by_sm3, sm3)
from optax._rarer import (ApplyIfFiniteState, MultiSteps, MultiStepsState, adabelief, adadelta, adamax, adamaxw, adan, adaptive_grad_clip,
                          amsgrad, apply_if_finite, bias_correction, centralize, clip_by_block_rms, fromage, inject_hyperparams,
                          keep_params_nonnegative, nadam, nadamw, named_chain, normalize_by_update_norm, novograd, partition,
                          periodic_update, radam, rprop, safe_increment, safe_int32_increment, safe_norm, scale_by_adadelta, scale_by_adamax,
                          scale_by_adan, scale_by_amsgrad, scale_by_belief, scale_by_novograd, scale_by_param_block_norm, scale_by_radam, scale_by_rprop,
                          scale_by_rss, scale_by_sign, scale_by_stddev, scale_by_yogi, sign_sgd, update_moment, yogi, zero_nans)
from optax._schedules import (constant_schedule, cosine_decay_schedule, cosine_onecycle_schedule, exponential_decay, join_schedules,
                              linear_onecycle_schedule, linear_schedule, piecewise_constant_schedule, piecewise_interpolate_schedule,
                              polynomial_schedule, sgdr_schedule, warmup_constant_schedule, warmup_cosine_decay_schedule,
                              warmup_exponential_decay_schedule)
from optax import losses, schedules, tree_utils
from optax.losses import (convex_kl_divergence, cosine_distance, cosine_similarity, ctc_loss, ctc_loss_with_forward_probs, hinge_loss, huber_loss, kl_divergence, l2_loss, log_cosh,
                          poly_loss_cross_entropy, safe_softmax_cross_entropy, sigmoid_binary_cross_entropy, sigmoid_focal_loss,
                          smooth_labels, softmax_cross_entropy, softmax_cross_entropy_with_integer_labels, squared_error)
from jax._names import missing as _missing

__version__ = "0.2.4"


def __getattr__(name):
    raise _missing("optax", name, globals())
