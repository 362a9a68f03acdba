/* SPDX-License-Identifier: Apache-2.0 */
/* core/autodiff: from a forward program to its gradients and to a whole training step. It reads a
 * frozen module and writes the next snapshot, as a pass does: the forward nodes keep their ids, each node
 * of the backward phase lists the forward node it derives from as its origin, and each node carries its
 * phase (core/graph/module.h). */
#pragma once
#include "core/base/progress.h"
#include "core/graph/builder.h"
#include "core/graph/module.h"
#include "core/plan/placement.h"

G_BEGIN_DECLS

/**
 * GantryGradientOptions:
 * @outputs: (array length=n_outputs): indices of results of the entry function to differentiate; NULL: the first
 * @with_respect_to: (array length=n_with_respect_to): indices of parameters of the entry function; NULL: all of
 *  floating point
 * @seeds: TRUE: the entry function takes one more parameter for each output, of its type: the cotangent; FALSE: the outputs are
 *  scalars and the cotangent is 1
 * @keep_results: the results of the forward program come first, then the gradients
 * @integers: integers have a derivative too, by the same rules in their own arithmetic, also through conversions to and from
 *  floating point, as MindSpore has it; an integer quotient and operations on bits have none
 */
typedef struct
{
  const guint *outputs;
  guint n_outputs;
  const guint *with_respect_to;
  guint n_with_respect_to;
  gboolean seeds;
  gboolean keep_results;
  gboolean integers;
} GantryGradientOptions;

/**
 * gantry_differentiate:
 *
 * Reverse mode (Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 3) over all core operations, calls, branches,
 * scans and bounded loops. Where a value does not depend on a parameter in a differentiable way the gradient is zero of the
 * parameter's type; integers have none, unless @options says so.
 *
 * Returns: (transfer full) (nullable): the next snapshot; %GANTRY_ERROR_UNSUPPORTED names the operations on the way that
 *  have no derivative ("<op>: <why>", one a line, with where they stand), %GANTRY_ERROR_INVALID: an index out of
 *  range, or an output that is no floating point scalar and has no seed
 */
GantryModule *gantry_differentiate (GantryModule *module, const GantryGradientOptions *options, const GantryProgress *progress, GError **error);

/** TRUE when the core operation has a derivative (or needs none: its result is of integers or booleans). */
gboolean gantry_op_is_differentiable (guint op);

typedef enum
{
  GANTRY_LOSS_OUTPUT,                /* result @output itself; a tensor is averaged */
  GANTRY_LOSS_MEAN_SQUARED_ERROR,    /* against one more input of the output's type, "target" */
  GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY, /* over the last dimension, against integer labels of one dimension less, "labels" */
} GantryLoss;

typedef enum
{
  GANTRY_OPTIMIZER_NONE, /* results are the loss and the gradients */
  GANTRY_OPTIMIZER_SGD,
  GANTRY_OPTIMIZER_MOMENTUM,
  GANTRY_OPTIMIZER_ADAM,
  GANTRY_OPTIMIZER_ADAMW,
} GantryOptimizer;

/**
 * GantryTrainingOptions: a plain value.
 *
 * Formulas are those of optax 0.2 (`sgd`, `adam`, `adamw`, `clip_by_global_norm`), so that results can be compared: Adam
 * with bias correction by a step counter (i32, itself a state), eps outside the root; AdamW decays the parameter
 * by learning_rate * weight_decay; momentum m = momentum * m + g; clipping by min (1, clip_norm / global norm).
 *
 * @output: index of the result that the loss is made of
 * @l2: adds l2 * sum (w^2) over all parameters to the loss; 0: none
 * @clip_norm: 0: none
 * @with_respect_to: (nullable): NULL-terminated globs over the names of parameters; NULL: all
 * @microbatches: how many microbatches a step takes, each as large as the batch of the program; the step's inputs hold all of them. Loss
 *  and gradients are the means over them (gradient accumulation), the update is made once. 0 or 1: the batch is one. At most
 *  %GANTRY_TRAINING_MOST_MICROBATCHES
 * @no_loss: the loss is no result (a gradient need not compute it)
 */
typedef struct
{
  GantryLoss loss;
  guint output;
  GantryOptimizer optimizer;
  double learning_rate, momentum, beta1, beta2, epsilon, weight_decay;
  double clip_norm;
  double l2;
  char **with_respect_to;
  guint microbatches;
  gboolean no_loss;
} GantryTrainingOptions;

#define GANTRY_TRAINING_MOST_MICROBATCHES 4096

/** SGD with rate 0.01 on output 0; Adam's 0.9, 0.999, 1e-8; momentum 0.9. */
void gantry_training_options_init (GantryTrainingOptions *options);
/** @to: holds nothing before, and is to be cleared with gantry_training_options_clear() */
void gantry_training_options_copy (GantryTrainingOptions *to, const GantryTrainingOptions *from);
void gantry_training_options_clear (GantryTrainingOptions *options);
/** The training options as a key file with the group [training]. Returns: (transfer full) */
char *gantry_training_options_to_text (const GantryTrainingOptions *options);
/** Reads that; absent keys keep the value that @options has. */
gboolean gantry_training_options_parse (GantryTrainingOptions *options, const char *text, gssize length, GError **error);
/** Names for options and files: "mse", "softmax-cross-entropy", "output"; "none", "sgd", "momentum", "adam", "adamw". */
const char *gantry_loss_name (GantryLoss loss);
/** Returns: (transfer none): "?" where it is none */
const char *gantry_optimizer_name (GantryOptimizer optimizer);
/** Returns: FALSE with %GANTRY_ERROR_INVALID, which names those there are, and @loss as it was */
gboolean gantry_loss_parse (const char *name, GantryLoss *loss, GError **error);
/** Returns: FALSE with %GANTRY_ERROR_INVALID, which names those there are, and @optimizer as it was */
gboolean gantry_optimizer_parse (const char *name, GantryOptimizer *optimizer, GError **error);

/**
 * gantry_training_check_examples:
 * @module: a program of core operations, before it is differentiated, for a batch of two examples or more; @twice: the same for twice as many
 *
 * Whether the loss that @options make of @module is the mean over examples that do not depend on each other, and microbatches can have
 * slices of the first dimension of what has examples. Then the means of loss and gradients over microbatches of one size are those of the
 * whole batch, up to rounding and to random numbers that are drawn. What is not shown by the structure of the program is refused.
 *
 * Returns: FALSE with %GANTRY_ERROR_INVALID, which says where examples meet, or what is not seen through
 */
gboolean gantry_training_check_examples (const GantryModule *module, const GantryModule *twice, const GantryTrainingOptions *options, GError **error);

/**
 * gantry_operand_is_setting:
 *
 * Whether operand @operand of @user, an imported operation, only tells it what to do, not what to do it with: the scales of
 * Resize, the bounds of Clip. A constant there is no weight.
 */
gboolean gantry_operand_is_setting (const GantryModule *module, const GantryNode *user, guint operand);

/**
 * gantry_parameterize:
 * @names: (nullable): NULL-terminated globs over names of constants
 *
 * The weights of an imported model become entry parameters with role "parameter" and attribute `initial`: floating point
 * constants of at least one dimension that are dense, read from the file and used by something else than shape
 * arithmetic; the running mean and variance of `onnx.BatchNormalization`, what `onnx.Constant` makes among the other
 * nodes, and a constant with attribute `role` "buffer" stay constants unless named. A parameter keeps the
 * node id, name and place of its constant, and stands after the parameters that the program has already.
 *
 * Returns: (transfer full) (nullable): the next snapshot, @module itself when there is nothing to do;
 *  %GANTRY_ERROR_INVALID when a glob matches no such constant and no parameter that is one already
 */
GantryModule *gantry_parameterize (GantryModule *module, char *const *names, const GantryProgress *progress, GError **error);

/**
 * gantry_training_step:
 * @module: core operations; entry parameters with role "parameter" are trained
 *
 * Results: the loss, then for each parameter its new value, then the new states; each parameter and state has `alias` set
 * to its result (donated). Without an optimizer: the loss, then the gradients, nothing donated. States are named
 * "<parameter>/m", "<parameter>/v", "step"; scopes of the update are "update/<parameter>". The new step counter comes last.
 * The loss, the states and the arithmetic of the update of f16 and bf16 parameters are f32.
 *
 * Returns: (transfer full) (nullable): the next snapshot; %GANTRY_ERROR_INVALID: no parameter to train, a glob that
 *  matches none, an output or labels of the wrong kind, shapes that are not bound; %GANTRY_ERROR_UNSUPPORTED as
 *  gantry_differentiate()
 */
GantryModule *gantry_training_step (GantryModule *module, const GantryTrainingOptions *options, const GantryProgress *progress, GError **error);

G_END_DECLS
