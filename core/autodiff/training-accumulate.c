/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient accumulation: the loss and the gradients of a batch as the means over its microbatches, which a scan takes one after the
 * other. Residuals are those of one microbatch; what lives as long as the scan are the sums of the gradients. */
#include "core/autodiff/training-private.h"
#include "core/plan/placement.h"

typedef struct
{
  const GantryTraining *training;
  const GantryModule *source;
  const GantryFunction *entry;
  GantryBuilder *builder;
  gint64 n;             /* microbatches */
  gint64 batch;         /* examples of one */
  guint32 *inside;      /* by index of the entry's parameters: the parameter of the body that stands for it */
  GArray *operands;     /* ids: carries, xs, captures */
} Accumulation;

static const GantryNode *
parameter_at (const Accumulation *a, guint32 i)
{
  return &a->source->nodes[a->entry->first_node + i];
}

/* The target or the labels, which the loss has added: rows of the result that it is made of. */
static gboolean
is_of_loss (const Accumulation *a, const GantryNode *node)
{
  return gantry_module_node (a->training->module, node->id) == NULL;
}

/* Whether microbatches may have slices of the parameter of the entry: it is neither trained nor kept from step to step, nor the state of
 * a random generator. */
static gboolean
is_data (const Accumulation *a, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (a->source, node);

  return gantry_parameter_role (a->source, node) == GANTRY_SUBJECT_INPUT && type->kind == GANTRY_TYPE_TENSOR && type->rank > 0
         && type->element != GANTRY_U32 && type->element != GANTRY_U64
         && gantry_attrs_find (a->source->context, node->attrs, "role") == NULL
         && gantry_attrs_find (a->source->context, node->attrs, "initial") == NULL
         && gantry_attrs_find (a->source->context, node->attrs, "alias") == NULL;
}

static gboolean
is_divided (const Accumulation *a, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (a->source, node);

  return is_data (a, node) && (type->dims[0] == a->batch || is_of_loss (a, node));
}

static gboolean
find_batch (Accumulation *a, GError **error)
{
  for (guint32 i = 0; i < a->entry->n_params; i++)
    if (is_data (a, parameter_at (a, i)) && !is_of_loss (a, parameter_at (a, i)))
      {
        const GantryType *type = gantry_node_type (a->source, parameter_at (a, i));

        if (gantry_type_is_static (type) && type->dims[0] > 0 && type->dims[0] <= G_MAXINT32)
          {
            a->batch = type->dims[0];
            return TRUE;
          }
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                     "microbatches divide the first dimension of the first input, '%s', whose size is not known: bind it",
                     gantry_context_string (a->source->context, parameter_at (a, i)->name));
        return FALSE;
      }
  g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                       "microbatches divide the first dimension of the first input, and the program has no input with a dimension");
  return FALSE;
}

/* The parameters of the new entry, which keep their ids; data has the examples of all microbatches. */
static void
write_parameters (Accumulation *a)
{
  for (guint32 i = 0; i < a->entry->n_params; i++)
    {
      GantryNode copy = *parameter_at (a, i);
      const GantryType *type = gantry_node_type (a->source, parameter_at (a, i));
      gint64 dims[GANTRY_MAX_RANK];

      if (is_divided (a, parameter_at (a, i)))
        {
          memcpy (dims, type->dims, sizeof *dims * type->rank);
          dims[0] *= a->n;
          copy.type = gantry_context_tensor (a->source->context, (GantryElementType) type->element, type->rank, dims);
        }
      gantry_builder_add_node (a->builder, &copy, NULL, &a->source->origins[copy.origins]);
    }
}

static const GantryType *
result_type (const Accumulation *a, guint i)
{
  return gantry_node_type (a->source, gantry_module_node (a->source, gantry_function_result_id (a->source, a->entry, i)));
}

static void
write_carries (Accumulation *a)
{
  for (guint i = 0; i < a->entry->n_results; i++)
    {
      const GantryType *type = result_type (a, i);
      GantryElementType element = gantry_training_element ((GantryElementType) type->element);
      guint32 zero = gantry_builder_splat (a->builder, element, 0, type->rank, type->dims);

      g_array_append_val (a->operands, zero);
    }
}

/* What of the operands of the scan is walked along (@divided), or taken whole. */
static void
write_data (Accumulation *a, gboolean divided)
{
  for (guint32 i = 0; i < a->entry->n_params; i++)
    {
      const GantryNode *node = parameter_at (a, i);
      const GantryType *type = gantry_node_type (a->source, node);
      gint64 dims[GANTRY_MAX_RANK + 1] = { a->n };
      guint32 id = node->id;

      if (is_divided (a, node) != divided)
        continue;
      if (divided)
        {
          memcpy (dims + 1, type->dims, sizeof *dims * type->rank);
          id = gantry_builder_reshape (a->builder, id, type->rank + 1, dims);
        }
      g_array_append_val (a->operands, id);
    }
}

static void
write_body_parameters (Accumulation *a, guint32 *sums)
{
  for (guint i = 0; i < a->entry->n_results; i++)
    sums[i] = gantry_builder_parameter (a->builder, gantry_builder_type (a->builder, g_array_index (a->operands, guint32, i)), NULL);
  for (guint divided = 2; divided-- > 0;)
    for (guint32 i = 0; i < a->entry->n_params; i++)
      if (is_divided (a, parameter_at (a, i)) == (divided != 0))
        {
          gantry_builder_set_origins (a->builder, &parameter_at (a, i)->id, 1);
          a->inside[i] = gantry_builder_parameter (a->builder, parameter_at (a, i)->type, NULL);
        }
}

static guint32
inside_of (const Accumulation *a, guint32 id)
{
  guint32 at = gantry_module_position (a->source, gantry_module_node (a->source, id)) - a->entry->first_node;

  return at < a->entry->n_params ? a->inside[at] : id;
}

static gboolean
write_nodes (Accumulation *a, const GantryProgress *progress, GError **error)
{
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = a->entry->n_params; i < a->entry->n_nodes; i++)
    {
      const GantryNode *node = &a->source->nodes[a->entry->first_node + i];

      if ((i & 1023) == 0 && gantry_progress_cancelled (progress, error))
        return FALSE;
      g_array_set_size (operands, 0);
      for (guint k = 0; k < node->n_operands; k++)
        {
          guint32 id = inside_of (a, gantry_node_operand_id (a->source, node, k));

          g_array_append_val (operands, id);
        }
      gantry_builder_add_node (a->builder, node, (const guint32 *) (gpointer) operands->data, &a->source->origins[node->origins]);
    }
  return TRUE;
}

/* Where what belongs to all microbatches stands. */
static void
set_place (Accumulation *a, GantryPhase phase)
{
  guint32 loss = gantry_function_result_id (a->source, a->entry, 0);

  gantry_builder_set_place (a->builder, gantry_context_scope (a->source->context, "microbatches"),
                            gantry_module_node (a->source, loss)->location);
  gantry_builder_set_phase (a->builder, phase);
  gantry_builder_set_origins (a->builder, &loss, 1);
}

/* The function of a microbatch: what @entry was, and its results added to the sums. Where the scan is written out, one fusion of all
 * additions would need the gradients of all microbatches at once: barriers are between them. Returns: its id, 0 where it was cancelled */
static guint32
write_body (Accumulation *a, const GantryProgress *progress, GError **error)
{
  guint n = a->entry->n_results;
  guint32 body = gantry_builder_begin (a->builder, "microbatch", 0);
  g_autofree guint32 *sums = g_new (guint32, n);

  write_body_parameters (a, sums);
  if (!write_nodes (a, progress, error))
    return 0;
  for (guint i = 0; i < n; i++)
    {
      guint32 value = inside_of (a, gantry_function_result_id (a->source, a->entry, i));
      GantryElementType element = (GantryElementType) gantry_builder_get_type (a->builder, sums[i])->element;

      set_place (a, i == 0 ? GANTRY_PHASE_FORWARD : GANTRY_PHASE_BACKWARD); /* first the loss */
      sums[i] = gantry_builder_binary (a->builder, GANTRY_OP_ADD, sums[i], gantry_builder_convert (a->builder, value, element));
      sums[i] = gantry_builder_unary (a->builder, GANTRY_OP_OPTIMIZATION_BARRIER, sums[i]);
    }
  gantry_builder_end (a->builder, sums, n);
  return body;
}

/* The means, in the types that the results of one microbatch have. */
static void
write_means (Accumulation *a, guint32 scan)
{
  g_autofree guint32 *results = g_new (guint32, a->entry->n_results);

  for (guint i = 0; i < a->entry->n_results; i++)
    {
      const GantryType *type = result_type (a, i);
      guint32 sum = a->entry->n_results > 1 ? gantry_builder_result (a->builder, scan, i) : scan;
      GantryElementType element = (GantryElementType) gantry_builder_get_type (a->builder, sum)->element;

      set_place (a, i == 0 ? GANTRY_PHASE_FORWARD : GANTRY_PHASE_BACKWARD);
      sum = gantry_builder_binary (a->builder, GANTRY_OP_DIVIDE, sum,
                                   gantry_builder_splat (a->builder, element, (double) a->n, type->rank, type->dims));
      results[i] = gantry_builder_convert (a->builder, sum, (GantryElementType) type->element);
    }
  gantry_builder_end (a->builder, results, a->entry->n_results);
}

static gboolean
write_entry (Accumulation *a, const GantryProgress *progress, GError **error)
{
  GantryScan scan = { .length = a->n, .n_carries = a->entry->n_results };
  gint64 zeros[1] = { 0 };
  g_autofree gint64 *axes = g_new0 (gint64, a->entry->n_params + 1);
  guint32 tuple;

  gantry_builder_begin (a->builder, gantry_context_string (a->source->context, a->entry->name), a->entry->id);
  write_parameters (a);
  set_place (a, GANTRY_PHASE_FORWARD);
  write_carries (a);
  write_data (a, TRUE);
  scan.n_xs = a->operands->len - scan.n_carries;
  write_data (a, FALSE);
  scan.n_captures = a->operands->len - scan.n_carries - scan.n_xs;
  scan.axes = axes;
  scan.y_axes = zeros;
  scan.body = write_body (a, progress, error);
  if (scan.body == 0)
    return FALSE;
  set_place (a, GANTRY_PHASE_FORWARD); /* what is called in the forward phase has phases of its own */
  tuple = gantry_builder_scan (a->builder, &scan, (const guint32 *) (gpointer) a->operands->data);
  write_means (a, tuple);
  return gantry_builder_check (a->builder, error);
}

static void
copy_function (Accumulation *a, const GantryFunction *function)
{
  gantry_builder_begin (a->builder, gantry_context_string (a->source->context, function->name), function->id);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &a->source->nodes[function->first_node + i];

      gantry_builder_add_node (a->builder, node, &a->source->operands[node->operands], &a->source->origins[node->origins]);
    }
  gantry_builder_end (a->builder, &a->source->operands[function->results], function->n_results);
}

GantryModule *
_gantry_training_accumulate (const GantryTraining *training, GantryModule *differentiated, const GantryProgress *progress, GError **error)
{
  GantryContext *context = differentiated->context;
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, gantry_context_string (context, differentiated->name));
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  Accumulation a = { .training = training, .source = differentiated, .entry = gantry_module_entry (differentiated), .builder = builder,
                     .n = training->options->microbatches, .operands = operands };
  g_autofree guint32 *inside = a.inside = g_new0 (guint32, a.entry->n_params + 1);
  GantryModule *module;

  if (!find_batch (&a, error) || !write_entry (&a, progress, error))
    return NULL;
  for (guint i = 1; i < differentiated->n_functions; i++)
    copy_function (&a, &differentiated->functions[i]);
  module = gantry_builder_finish (builder, error);
  if (module != NULL && differentiated->n_replaced > 0)
    {
      module->n_replaced = differentiated->n_replaced;
      module->replaced = g_memdup2 (differentiated->replaced, 2 * sizeof (guint32) * differentiated->n_replaced);
    }
  return module;
}
