/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient accumulation: the loss and the gradients of a batch as the means over its microbatches, which a scan takes one after the
 * other. Residuals are those of one microbatch; what lives as long as the scan are the sums of the gradients. */
#include "core/autodiff/training-private.h"
#include "core/plan/placement.h"

/* An input that is the state of a random generator. */
typedef struct
{
  gboolean is_state;
  guint32 last; /* the generator that draws last, where each goes on with the state that one before it leaves; else 0 */
  guint32 left; /* the state that it leaves, where the program has it; else 0 */
} State;

typedef struct
{
  const GantryTraining *training;
  const GantryModule *source;
  const GantryFunction *entry;
  GantryBuilder *builder;
  gint64 n;         /* microbatches */
  gint64 batch;     /* examples of one */
  guint32 *inside;  /* by index of the entry's parameters: the parameter of the body that stands for it */
  State *states;    /* likewise: of random generators */
  guint n_carried;  /* states that go on from microbatch to microbatch */
  GArray *operands; /* ids: carries, xs, captures */
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

static gboolean
is_unsigned (const GantryType *type)
{
  return type->kind == GANTRY_TYPE_TENSOR && (type->element == GANTRY_U32 || type->element == GANTRY_U64);
}

/* What makes random bits of a state, or may do so in a body of its own. */
static gboolean
makes_bits (GantryOp op)
{
  switch (op)
    {
    case GANTRY_OP_RNG_BIT_GENERATOR:
    case GANTRY_OP_XOR:
    case GANTRY_OP_SHIFT_LEFT:
    case GANTRY_OP_SHIFT_RIGHT_LOGICAL:
    case GANTRY_OP_FUSION:
    case GANTRY_OP_CALL:
    case GANTRY_OP_IF:
    case GANTRY_OP_WHILE:
    case GANTRY_OP_SCAN:
    case GANTRY_OP_CUSTOM_CALL: return TRUE;
    default: return FALSE;
    }
}

static guint32
index_of (const Accumulation *a, guint32 id)
{
  return gantry_module_position (a->source, gantry_module_node (a->source, id)) - a->entry->first_node;
}

static gboolean
reads_any (const Accumulation *a, const GantryNode *node, const guint8 *values)
{
  for (guint k = 0; k < node->n_operands; k++)
    if (values[index_of (a, gantry_node_operand_id (a->source, node, k))])
      return TRUE;
  return FALSE;
}

/* Whether the input has the type of a state (two or four words) and only bits are made of it: labels and indices of that type and size
 * are compared, gathered by and converted. One that nobody reads is none of them either way. */
static gboolean
is_random_state (const Accumulation *a, const GantryNode *parameter)
{
  const GantryType *type = gantry_node_type (a->source, parameter);
  g_autofree guint8 *reached = NULL;
  gboolean read = FALSE;

  if (!is_unsigned (type) || type->rank != 1 || (type->dims[0] != 2 && type->dims[0] != 4))
    return FALSE;
  reached = g_new0 (guint8, a->entry->n_nodes);
  reached[index_of (a, parameter->id)] = 1;
  for (guint32 i = a->entry->n_params; i < a->entry->n_nodes; i++)
    {
      const GantryNode *node = &a->source->nodes[a->entry->first_node + i];

      if (!reads_any (a, node, reached))
        continue;
      if (makes_bits ((GantryOp) node->op))
        return TRUE;
      read = TRUE;
      reached[i] = is_unsigned (gantry_node_type (a->source, node));
    }
  return !read;
}

/* Follows the state through the generators that draw from it, one after the other; whoever else reads it ends that. */
static void
find_last (const Accumulation *a, guint32 id, State *state)
{
  g_autofree guint8 *passed = g_new0 (guint8, a->entry->n_nodes);
  guint32 current = id;

  passed[index_of (a, id)] = 1;
  for (guint32 i = a->entry->n_params; i < a->entry->n_nodes; i++)
    {
      const GantryNode *node = &a->source->nodes[a->entry->first_node + i];

      if (node->op == GANTRY_OP_RNG_BIT_GENERATOR && gantry_node_operand_id (a->source, node, 0) == current)
        {
          state->last = node->id;
          state->left = current = 0;
        }
      else if (node->op == GANTRY_OP_RESULT && state->last != 0 && gantry_node_operand_id (a->source, node, 0) == state->last)
        {
          if (gantry_attrs_int (a->source->context, node->attrs, "index", 0) != 0)
            continue;
          state->left = current = node->id;
          passed[i] = 1;
        }
      else if (reads_any (a, node, passed))
        {
          state->last = state->left = 0;
          return;
        }
    }
}

static void
find_states (Accumulation *a)
{
  for (guint32 i = 0; i < a->entry->n_params; i++)
    {
      const GantryNode *node = parameter_at (a, i);

      a->states[i].is_state = gantry_parameter_role (a->source, node) == GANTRY_SUBJECT_INPUT && is_random_state (a, node);
      if (a->states[i].is_state)
        find_last (a, node->id, &a->states[i]);
      a->n_carried += a->states[i].last != 0;
    }
}

/* Whether microbatches may have slices of the parameter of the entry: it is neither trained nor kept from step to step, nor the state of
 * a random generator. */
static gboolean
is_data (const Accumulation *a, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (a->source, node);

  return gantry_parameter_role (a->source, node) == GANTRY_SUBJECT_INPUT && type->kind == GANTRY_TYPE_TENSOR && type->rank > 0
         && !a->states[index_of (a, node->id)].is_state && gantry_attrs_find (a->source->context, node->attrs, "role") == NULL
         && gantry_attrs_find (a->source->context, node->attrs, "initial") == NULL && gantry_attrs_find (a->source->context, node->attrs, "alias") == NULL;
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
        if (gantry_type_is_static (type))
          {
            g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                         "microbatches divide the first dimension of the first input, '%s', whose size is %" G_GINT64_FORMAT ": it is to be from 1 to %d",
                         gantry_context_string (a->source->context, parameter_at (a, i)->name), type->dims[0], G_MAXINT32);
            return FALSE;
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
  for (guint32 i = 0; i < a->entry->n_params; i++)
    if (a->states[i].last != 0)
      g_array_append_val (a->operands, parameter_at (a, i)->id);
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

      if (is_divided (a, node) != divided || a->states[i].last != 0)
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
  for (guint kind = 0; kind < 3; kind++) /* carries, xs, captures */
    for (guint32 i = 0; i < a->entry->n_params; i++)
      if (kind == (a->states[i].last != 0 ? 0 : is_divided (a, parameter_at (a, i)) ? 1 : 2))
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

  gantry_builder_set_place (a->builder, gantry_context_scope (a->source->context, "microbatches"), gantry_module_node (a->source, loss)->location);
  gantry_builder_set_phase (a->builder, phase);
  gantry_builder_set_origins (a->builder, &loss, 1);
}

/* The function of a microbatch: what @entry was, its results added to the sums, and the states that its random generators leave. Where the scan is written
 * out, one fusion of all
 * additions would need the gradients of all microbatches at once: barriers are between them. Returns: its id, 0 where it was cancelled */
static guint32
write_body (Accumulation *a, const GantryProgress *progress, GError **error)
{
  guint n = a->entry->n_results;
  guint32 body = gantry_builder_begin (a->builder, "microbatch", 0);
  g_autofree guint32 *sums = g_new (guint32, n + a->n_carried);

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
  set_place (a, GANTRY_PHASE_FORWARD);
  for (guint32 i = 0; i < a->entry->n_params; i++)
    if (a->states[i].last != 0)
      sums[n++] = a->states[i].left != 0 ? a->states[i].left : gantry_builder_result (a->builder, a->states[i].last, 0);
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
      guint32 sum = a->entry->n_results + a->n_carried > 1 ? gantry_builder_result (a->builder, scan, i) : scan;
      GantryElementType element = (GantryElementType) gantry_builder_get_type (a->builder, sum)->element;

      set_place (a, i == 0 ? GANTRY_PHASE_FORWARD : GANTRY_PHASE_BACKWARD);
      sum = gantry_builder_binary (a->builder, GANTRY_OP_DIVIDE, sum, gantry_builder_splat (a->builder, element, (double) a->n, type->rank, type->dims));
      results[i] = gantry_builder_convert (a->builder, sum, (GantryElementType) type->element);
    }
  gantry_builder_end (a->builder, results, a->entry->n_results);
}

static gboolean
write_entry (Accumulation *a, const GantryProgress *progress, GError **error)
{
  GantryScan scan = { .length = a->n, .n_carries = a->entry->n_results + a->n_carried };
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
  Accumulation a = { .training = training,
                     .source = differentiated,
                     .entry = gantry_module_entry (differentiated),
                     .builder = builder,
                     .n = training->options->microbatches,
                     .operands = operands };
  g_autofree guint32 *inside = a.inside = g_new0 (guint32, a.entry->n_params + 1);
  g_autofree State *states = a.states = g_new0 (State, a.entry->n_params + 1);
  GantryModule *module;

  find_states (&a);
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
