/* SPDX-License-Identifier: Apache-2.0 */
/* A training step while it is being built: what the steps of the builder (loss, differentiation, update) hand
 * to each other. */
#pragma once
#include "core/autodiff/autodiff.h"

G_BEGIN_DECLS

/** One entry parameter that is trained. Ids are of nodes; 0: not there (yet). */
typedef struct
{
  guint index;  /* of the entry parameter */
  guint32 node; /* id of the entry parameter */
  char *name;
  GantryElementType element; /* what its update is computed in: f32, or f64 for f64 */
  guint32 gradient;          /* in the differentiated module: of the parameter's type */
  guint32 available;         /* position of the gradient among the nodes of the entry */
  guint32 ready;             /* position after which the parameter may be overwritten: gradient known, last use past */
  guint32 value;             /* the gradient, L2 term included, of type @element */
  guint32 square;            /* scalar: sum of the squares of @value */
  guint32 m, v;              /* states, of type @element */
  guint32 new_value, new_m, new_v;
} GantryTrained;

typedef struct
{
  GantryModule *module; /* as given */
  const GantryTrainingOptions *options;
  GArray *trained; /* GantryTrained, in order of the entry parameters */
  GantryModule *with_loss;
  guint32 output; /* id of the result that the loss is made of */
  guint32 step;   /* state: i32 counter, 0 when the optimizer has none */
} GantryTraining;

static inline GantryTrained *
gantry_training_at (const GantryTraining *training, guint i)
{
  return &g_array_index (training->trained, GantryTrained, i);
}

/** What is computed for a parameter of @element: halves in f32. */
static inline GantryElementType
gantry_training_element (GantryElementType element)
{
  return element == GANTRY_F64 ? GANTRY_F64 : GANTRY_F32;
}

/** @module with the loss, a scalar, as its only result; fills @training->output. Returns: (transfer full) (nullable) */
GantryModule *_gantry_training_add_loss (GantryTraining *training, const GantryProgress *progress, GError **error);

/**
 * @differentiated, whose results are the loss and the gradients, for as many times its batch as the options have microbatches: inputs
 * that have the batch for their first dimension get that many times as many examples, others stay. Returns: (transfer full) (nullable)
 */
GantryModule *_gantry_training_accumulate (const GantryTraining *training, GantryModule *differentiated, const GantryProgress *progress, GError **error);

/** The whole step from @differentiated, whose results are the loss and the gradients. Returns: (transfer full) (nullable) */
GantryModule *_gantry_training_add_update (GantryTraining *training, GantryModule *differentiated, const GantryProgress *progress, GError **error);

/**
 * GantryUpdateScalars: values of a step that all parameters share, one for each of f32 [0] and f64 [1]; 0: not made
 *
 * @clip: factor of every gradient
 * @rate: learning rate / (1 - beta1^t), of Adam
 * @correction: 1 / (1 - beta2^t), of Adam
 */
typedef struct
{
  guint32 clip[2], rate[2], correction[2];
  guint32 new_step;
} GantryUpdateScalars;

/** How many states of a parameter's shape the optimizer has: 0, 1 (m) or 2 (m and v). */
guint _gantry_optimizer_states (GantryOptimizer optimizer);
/** Adds the shared values; the place of @builder is set. @step: the counter, 0 when there is none. */
void
_gantry_optimizer_begin (GantryBuilder *builder, const GantryTrainingOptions *options, guint32 step, gboolean f32, gboolean f64, GantryUpdateScalars *scalars);
/** Adds new_m, new_v and new_value of one parameter. */
void _gantry_optimizer_update (GantryBuilder *builder, const GantryTrainingOptions *options, const GantryUpdateScalars *scalars, GantryTrained *trained);

G_END_DECLS
