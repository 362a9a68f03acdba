/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a training step as a plain value. */
#include "core/autodiff/autodiff.h"

void
gantry_training_options_init (GantryTrainingOptions *options)
{
  *options = (GantryTrainingOptions){
    .loss = GANTRY_LOSS_OUTPUT,
    .optimizer = GANTRY_OPTIMIZER_SGD,
    .learning_rate = 0.01,
    .momentum = 0.9,
    .beta1 = 0.9,
    .beta2 = 0.999,
    .epsilon = 1e-8,
    .microbatches = 1,
  };
}

void
gantry_training_options_copy (GantryTrainingOptions *to, const GantryTrainingOptions *from)
{
  *to = *from;
  to->with_respect_to = g_strdupv (from->with_respect_to);
}

void
gantry_training_options_clear (GantryTrainingOptions *options)
{
  g_clear_pointer (&options->with_respect_to, g_strfreev);
}
