/* SPDX-License-Identifier: Apache-2.0 */
/* The loss of a training step: the forward program with one more input where the loss needs it, and a scalar as its
 * only result. */
#include "core/autodiff/training-private.h"
#include "core/graph/rewriter.h"

typedef struct
{
  GantryTraining *training;
  GantryRewriter *rewriter;
  guint32 extra; /* the target or the labels */
} LossBuilder;

static void
fail_output (GantryTraining *training, GError **error, const char *why)
{
  const GantryNode *node = gantry_module_node (training->module, training->output);
  g_autofree char *label = gantry_node_label (training->module, node);
  g_autofree char *type = gantry_context_type_text (training->module->context, node->type);

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the loss cannot be made of result %u, '%s' of type %s: %s", training->options->output, label, type,
               why);
}

/* Checks that the loss can be made of the chosen result and finds it. */
static gboolean
find_output (GantryTraining *training, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (training->module);
  const GantryTrainingOptions *options = training->options;
  const GantryType *type;

  if (options->output >= entry->n_results)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the loss is to be made of result %u, but the program has %u; count from 0", options->output,
                   entry->n_results);
      return FALSE;
    }
  training->output = gantry_function_result_id (training->module, entry, options->output);
  type = gantry_node_type (training->module, gantry_module_node (training->module, training->output));
  if (!gantry_type_is_static (type))
    fail_output (training, error, "its shape is not known; bind the dimensions of the inputs");
  else if (!gantry_element_is_float (type->element) || !gantry_element_is_compiled (type->element))
    fail_output (training, error, "it is not of floating point; choose another result");
  else if (gantry_type_elements (type) == 0)
    fail_output (training, error, "it is empty");
  else if (options->loss == GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY && type->rank == 0)
    fail_output (training, error, "softmax cross-entropy needs a last dimension of classes");
  else
    return TRUE;
  return FALSE;
}

static gboolean
name_is_taken (const GantryModule *module, const char *name)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 i = 0; i < entry->n_params; i++)
    if (g_str_equal (gantry_context_string (module->context, module->nodes[entry->first_node + i].name), name))
      return TRUE;
  return FALSE;
}

/* The target has the output's type; labels are i32 and lack its last dimension. */
static guint32
add_input (LossBuilder *loss)
{
  GantryTraining *training = loss->training;
  GantryContext *context = training->module->context;
  const GantryNode *output = gantry_module_node (training->module, training->output);
  const GantryType *type = gantry_node_type (training->module, output);
  gboolean labels = training->options->loss == GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY;
  g_autofree char *name = g_strdup (labels ? "labels" : "target");
  GantryNode node = { .op = GANTRY_OP_PARAMETER, .location = output->location, .n_origins = 1 };

  for (guint n = 2; name_is_taken (training->module, name); n++)
    {
      g_free (name);
      name = g_strdup_printf ("%s%u", labels ? "labels" : "target", n);
    }
  node.name = gantry_context_intern (context, name);
  node.type = labels ? gantry_context_tensor (context, GANTRY_I32, type->rank - 1, type->dims)
                     : gantry_context_tensor (context, (GantryElementType) type->element, type->rank, type->dims);
  return gantry_builder_add_node (gantry_rewriter_builder (loss->rewriter), &node, NULL, &training->output);
}

static guint32
mean_of_all (GantryBuilder *builder, guint32 x)
{
  const GantryType *type = gantry_builder_get_type (builder, x);
  gint64 axes[GANTRY_MAX_RANK];
  gint64 n = gantry_type_elements (type);
  guint32 sum;

  if (type->rank == 0)
    return x;
  for (guint d = 0; d < type->rank; d++)
    axes[d] = d;
  sum = gantry_builder_reduce (builder, "add", x, axes, type->rank);
  return gantry_builder_binary (builder, GANTRY_OP_DIVIDE, sum, gantry_builder_scalar (builder, (GantryElementType) type->element, (double) n));
}

static guint32
mean_squared_error (GantryBuilder *builder, guint32 output, guint32 target)
{
  guint32 difference = gantry_builder_binary (builder, GANTRY_OP_SUBTRACT, output, target);

  return mean_of_all (builder, gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, difference, difference));
}

/* The mean of @x over the rows that are @counted (bool, of its shape); 0 where none is. */
static guint32
mean_of_counted (GantryBuilder *builder, guint32 x, guint32 counted)
{
  const GantryType *type = gantry_builder_get_type (builder, x);
  GantryElementType element = (GantryElementType) type->element;
  gint64 axes[GANTRY_MAX_RANK];
  guint32 sum, n;

  if (type->rank == 0)
    return gantry_builder_select (builder, counted, x, gantry_builder_scalar (builder, element, 0));
  for (guint d = 0; d < type->rank; d++)
    axes[d] = d;
  sum = gantry_builder_reduce (builder, "add", gantry_builder_select (builder, counted, x, gantry_builder_splat (builder, element, 0, type->rank, type->dims)),
                               axes, type->rank);
  n = gantry_builder_reduce (builder, "add", gantry_builder_convert (builder, counted, element), axes, type->rank);
  return gantry_builder_binary (builder, GANTRY_OP_DIVIDE, sum,
                                gantry_builder_binary (builder, GANTRY_OP_MAXIMUM, n, gantry_builder_scalar (builder, element, 1)));
}

/* Whether each of the labels is one of @n classes. */
static guint32
classes_of (GantryBuilder *builder, guint32 labels, gint64 n)
{
  const GantryType *type = gantry_builder_get_type (builder, labels);
  guint32 none = gantry_builder_splat (builder, GANTRY_I32, 0, type->rank, type->dims);
  guint32 end = gantry_builder_splat (builder, GANTRY_I32, (double) MIN (n, G_MAXINT32), type->rank, type->dims);

  return gantry_builder_binary (builder, GANTRY_OP_AND, gantry_builder_compare (builder, "GE", labels, none),
                                gantry_builder_compare (builder, "LT", labels, end));
}

/* log (sum (exp (x))) - x[label], averaged over the rows whose label is a class: others, such as -100, mark what is padding. x is moved by its largest
 * element rounded up: that keeps exp() from overflowing as well as the element itself would, and rounding has no derivative, so that no gradient is sent
 * through the maximum, where all of it would cancel. */
static guint32
softmax_cross_entropy (GantryBuilder *builder, guint32 x, guint32 labels)
{
  const GantryType *type = gantry_builder_get_type (builder, x);
  gint64 last = (gint64) type->rank - 1;
  gint64 leading[GANTRY_MAX_RANK];
  guint32 shift, sum, log_sum, one_hot, picked, zero;

  for (guint d = 0; d + 1 < type->rank; d++)
    leading[d] = d;
  shift = gantry_builder_unary (builder, GANTRY_OP_CEIL, gantry_builder_reduce (builder, "max", x, &last, 1));
  x = gantry_builder_binary (builder, GANTRY_OP_SUBTRACT, x, gantry_builder_broadcast (builder, shift, type->rank, type->dims, leading));
  sum = gantry_builder_reduce (builder, "add", gantry_builder_unary (builder, GANTRY_OP_EXPONENTIAL, x), &last, 1);
  log_sum = gantry_builder_unary (builder, GANTRY_OP_LOG, sum);
  one_hot = gantry_builder_compare (builder, "EQ", gantry_builder_broadcast (builder, labels, type->rank, type->dims, leading),
                                    gantry_builder_iota (builder, GANTRY_I32, type->rank, type->dims, last));
  zero = gantry_builder_splat (builder, (GantryElementType) type->element, 0, type->rank, type->dims);
  picked = gantry_builder_reduce (builder, "add", gantry_builder_select (builder, one_hot, x, zero), &last, 1);
  return mean_of_counted (builder, gantry_builder_binary (builder, GANTRY_OP_SUBTRACT, log_sum, picked), classes_of (builder, labels, type->dims[last]));
}

/* The loss in f32 at least; halves would lose the mean of a large output. */
static guint32
add_loss (LossBuilder *loss, guint32 output)
{
  GantryTraining *training = loss->training;
  GantryBuilder *builder = gantry_rewriter_builder (loss->rewriter);
  const GantryNode *source = gantry_module_node (training->module, training->output);
  GantryElementType element = gantry_training_element ((GantryElementType) gantry_node_type (training->module, source)->element);
  guint32 result = 0;

  gantry_builder_set_place (builder, gantry_context_scope (training->module->context, "loss"), source->location);
  gantry_builder_set_phase (builder, GANTRY_PHASE_FORWARD);
  gantry_builder_set_origins (builder, &source->id, 1);
  output = gantry_builder_convert (builder, output, element);
  switch (training->options->loss)
    {
    case GANTRY_LOSS_OUTPUT: result = mean_of_all (builder, output); break;
    case GANTRY_LOSS_MEAN_SQUARED_ERROR: result = mean_squared_error (builder, output, gantry_builder_convert (builder, loss->extra, element)); break;
    case GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY: result = softmax_cross_entropy (builder, output, loss->extra); break;
    }
  gantry_builder_name_node (builder, result, gantry_context_intern (training->module->context, "loss"));
  return result;
}

static gboolean
keep (GantryRewriter *rewriter, const GantryModule *source, const GantryNode *node, gpointer user_data, GError **error)
{
  gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

/* The entry by hand, since it gains a parameter and changes its results. */
static gboolean
write_entry (LossBuilder *loss, const GantryProgress *progress, GError **error)
{
  const GantryModule *module = loss->training->module;
  const GantryFunction *entry = gantry_module_entry (module);
  GantryBuilder *builder = gantry_rewriter_builder (loss->rewriter);
  guint32 result;

  gantry_builder_begin (builder, gantry_context_string (module->context, entry->name), entry->id);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      if ((i & 1023) == 0 && gantry_progress_cancelled (progress, error))
        return FALSE;
      if (i == entry->n_params && loss->training->options->loss != GANTRY_LOSS_OUTPUT)
        loss->extra = add_input (loss);
      gantry_rewriter_keep (loss->rewriter, &module->nodes[entry->first_node + i]);
    }
  if (entry->n_nodes == entry->n_params && loss->training->options->loss != GANTRY_LOSS_OUTPUT)
    loss->extra = add_input (loss);
  result = add_loss (loss, gantry_rewriter_map (loss->rewriter, loss->training->output));
  gantry_builder_end (builder, &result, 1);
  return gantry_builder_check (builder, error);
}

GantryModule *
_gantry_training_add_loss (GantryTraining *training, const GantryProgress *progress, GError **error)
{
  GantryModule *module = training->module;
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  LossBuilder loss = { .training = training, .rewriter = rewriter };

  if (!find_output (training, error) || !write_entry (&loss, progress, error))
    return NULL;
  for (guint i = 1; i < module->n_functions; i++)
    if (!gantry_rewriter_run_function (rewriter, &module->functions[i], keep, NULL, progress, error))
      return NULL;
  return gantry_rewriter_finish (rewriter, error);
}
