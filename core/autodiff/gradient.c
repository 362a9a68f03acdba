/* SPDX-License-Identifier: Apache-2.0 */
/* From a module to the module with its gradients: what is asked for is checked, the entry
 * function is written with its backward nodes after its own, and the functions that are still
 * called are carried over. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"
#include "core/graph/rewriter.h"

typedef struct
{
  GantryDiffJob job;
  const GantryGradientOptions *options;
  GArray *outputs;          /* guint: indices of results */
  GArray *by;               /* guint: indices of parameters */
  GantryRewriter *rewriter; /* of the source: for its builder and to note what was replaced */
} State;

static gboolean invalid (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
invalid (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (GANTRY_ERROR, GANTRY_ERROR_INVALID, format, args);
  va_end (args);
  return FALSE;
}

/* What is asked for */

static gboolean
check_output (const State *state, guint index, GError **error)
{
  const GantryModule *module = state->job.source;
  const GantryFunction *entry = gantry_module_entry (module);
  const GantryType *type;

  if (index >= entry->n_results)
    return invalid (error, "there is no result %u to differentiate: @%s has %u", index, gantry_context_string (module->context, entry->name), entry->n_results);
  type = gantry_node_type (module, gantry_module_node (module, gantry_function_result_id (module, entry, index)));
  if (!_gantry_type_has_cotangent (&state->job, type))
    return invalid (error, "result %u is no tensor of floating point numbers: it has no derivative", index);
  if (!state->options->seeds && type->rank != 0)
    return invalid (error, "result %u has %u dimensions: only a scalar can be differentiated without a cotangent for it", index, type->rank);
  return TRUE;
}

static gboolean
check_parameter (const State *state, guint index, GError **error)
{
  const GantryModule *module = state->job.source;
  const GantryFunction *entry = gantry_module_entry (module);

  if (index >= entry->n_params)
    return invalid (error, "there is no parameter %u to differentiate by: @%s has %u", index, gantry_context_string (module->context, entry->name),
                    entry->n_params);
  if (!_gantry_type_has_cotangent (&state->job, gantry_node_type (module, &module->nodes[entry->first_node + index])))
    return invalid (error, "parameter %u is no tensor of floating point numbers: nothing can be differentiated by it", index);
  return TRUE;
}

static gboolean
read_options (State *state, GError **error)
{
  const GantryGradientOptions *options = state->options;
  const GantryModule *module = state->job.source;
  const GantryFunction *entry = gantry_module_entry (module);
  guint first = 0;

  if (options->outputs != NULL)
    g_array_append_vals (state->outputs, options->outputs, options->n_outputs);
  else
    g_array_append_val (state->outputs, first);
  if (options->with_respect_to != NULL)
    g_array_append_vals (state->by, options->with_respect_to, options->n_with_respect_to);
  else
    for (guint i = 0; i < entry->n_params; i++)
      if (_gantry_type_has_cotangent (&state->job, gantry_node_type (module, &module->nodes[entry->first_node + i])))
        g_array_append_val (state->by, i);
  for (guint i = 0; i < state->outputs->len; i++)
    if (!check_output (state, g_array_index (state->outputs, guint, i), error))
      return FALSE;
  for (guint i = 0; i < state->by->len; i++)
    if (!check_parameter (state, g_array_index (state->by, guint, i), error))
      return FALSE;
  return TRUE;
}

/* The entry function */

/* Slots of entry results are counted over the results before. */
static guint
result_slot (const GantryModule *module, const GantryFunction *function, guint index)
{
  guint slot = 0;

  for (guint i = 0; i < index; i++)
    slot += _gantry_slot_count (module, gantry_module_node (module, gantry_function_result_id (module, function, i)));
  return slot;
}

static GantryActivity *
activity_of_entry (State *state)
{
  const GantryModule *module = state->job.module;
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GByteArray) varied = g_byte_array_new ();
  g_autofree guint8 *useful = g_new0 (guint8, _gantry_result_slots (module, entry) + 1);

  for (guint i = 0; i < entry->n_params; i++)
    {
      guint8 flag = FALSE;

      for (guint k = 0; k < state->by->len; k++)
        flag |= g_array_index (state->by, guint, k) == i;
      for (guint k = 0; k < _gantry_slot_count (module, &module->nodes[entry->first_node + i]); k++)
        g_byte_array_append (varied, &flag, 1);
    }
  for (guint i = 0; i < state->outputs->len; i++)
    useful[result_slot (module, entry, g_array_index (state->outputs, guint, i))] = TRUE;
  return _gantry_activity_new (&state->job, entry, varied->data, useful);
}

static const GantryNode *
output_node (const GantryDiff *d, guint index)
{
  return gantry_module_node (d->module, gantry_function_result_id (d->module, d->function, index));
}

/* A parameter for the cotangent of each output, where asked for. */
static guint32 *
add_seeds (State *state, GantryDiff *d)
{
  guint32 *seeds = g_new0 (guint32, state->outputs->len + 1);

  for (guint i = 0; state->options->seeds && i < state->outputs->len; i++)
    {
      const GantryNode *node = output_node (d, g_array_index (state->outputs, guint, i));
      g_autofree char *label = gantry_node_label (d->module, node);
      g_autofree char *name = g_strdup_printf ("%s/cotangent", label);

      _gantry_diff_stand_at (d, node);
      seeds[i] = gantry_builder_parameter (d->builder, node->type, name);
    }
  return seeds;
}

static void
seed_outputs (State *state, GantryDiff *d, const guint32 *seeds)
{
  for (guint i = 0; i < state->outputs->len; i++)
    {
      guint index = g_array_index (state->outputs, guint, i);
      const GantryNode *node = output_node (d, index);
      guint32 seed = seeds[i];

      if (!d->activity->useful[d->activity->first[gantry_module_position (d->module, node) - d->function->first_node]])
        continue;
      _gantry_diff_stand_at (d, node);
      if (seed == 0)
        seed = gantry_builder_scalar (d->builder, gantry_node_type (d->module, node)->element, 1);
      _gantry_diff_seed (d, result_slot (d->module, d->function, index), seed);
    }
}

static gboolean
end_entry (State *state, GantryDiff *d, GError **error)
{
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 id;

  for (guint i = 0; state->options->keep_results && i < d->function->n_results; i++)
    {
      id = _gantry_diff_result (d, output_node (d, i));
      g_array_append_val (results, id);
    }
  for (guint i = 0; i < state->by->len; i++)
    {
      guint index = g_array_index (state->by, guint, i);
      const GantryNode *node = &d->module->nodes[d->function->first_node + index];

      id = d->cotangents[d->activity->first[index]];
      if (id == 0)
        {
          if (!gantry_type_is_static (gantry_node_type (d->module, node)))
            return invalid (error, "the shape of parameter %u is not known; bind the symbols first", index);
          _gantry_diff_stand_at (d, node);
          id = _gantry_diff_splat (d, gantry_node_type (d->module, node), 0);
        }
      g_array_append_val (results, id);
    }
  gantry_builder_end (d->builder, (const guint32 *) (gpointer) results->data, results->len);
  return gantry_builder_check (d->builder, error);
}

/* Which new node stands for which old one: for views that follow a node. */
static void
note_replaced (State *state, const GantryDiff *d)
{
  const GantryModule *source = state->job.source;
  const GantryFunction *entry = gantry_module_entry (source);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *old = &source->nodes[entry->first_node + i];
      const GantryNode *node = gantry_module_node (d->module, gantry_module_successor (d->module, old->id));

      if (node != NULL && gantry_module_function_of (d->module, node) == d->function)
        gantry_rewriter_replace (state->rewriter, old, _gantry_diff_result (d, node));
    }
}

/* A parameter is donated to a result by its index: where the results are not kept, to none. */
static void
write_parameters (State *state, GantryDiff *d)
{
  for (guint i = 0; i < d->function->n_params; i++)
    {
      const GantryNode *node = &d->module->nodes[d->function->first_node + i];
      GantryNode copy = *node;
      GantryAttrList *attrs;

      if (state->options->keep_results || gantry_parameter_alias (d->module, node) < 0)
        {
          d->map[i] = _gantry_diff_copy_node (d, node);
          continue;
        }
      attrs = gantry_attr_list_new (d->context);
      gantry_attr_list_set_all (attrs, node->attrs);
      gantry_attr_list_set_int (attrs, "alias", -1);
      copy.attrs = gantry_attr_list_end (attrs);
      copy.n_origins = 0;
      d->map[i] = gantry_builder_add_node (d->builder, &copy, NULL, NULL);
    }
}

static gboolean
write_entry (State *state, GError **error)
{
  GantryBuilder *builder = gantry_rewriter_builder (state->rewriter);
  const GantryFunction *entry = gantry_module_entry (state->job.module);
  g_autoptr (GantryDiff) d = _gantry_diff_new (&state->job, builder, entry, activity_of_entry (state));
  g_autofree guint32 *seeds = NULL;

  d->keep_ids = TRUE;
  gantry_builder_begin (builder, gantry_context_string (d->context, entry->name), entry->id);
  write_parameters (state, d);
  seeds = add_seeds (state, d);
  if (!_gantry_diff_forward (d, error))
    return FALSE;
  seed_outputs (state, d, seeds);
  if (!_gantry_diff_backward (d, error) || !end_entry (state, d, error))
    return FALSE;
  note_replaced (state, d);
  return TRUE;
}

/* Functions of the module that the result still calls, and those that they call. */
static gboolean
copy_functions (State *state, GError **error)
{
  GantryDiffJob *job = &state->job;
  GantryBuilder *builder = gantry_rewriter_builder (state->rewriter);
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < job->to_copy->len; i++)
    {
      const GantryFunction *function = gantry_module_function (job->module, g_array_index (job->to_copy, guint32, i));

      gantry_builder_begin (builder, gantry_context_string (job->module->context, function->name), function->id);
      for (guint32 k = 0; k < function->n_nodes; k++)
        {
          const GantryNode *node = &job->module->nodes[function->first_node + k];
          GantryNode copy = *node;
          guint n;
          const guint32 *origins = _gantry_job_origins (job, node, &n);

          copy.n_origins = origins == &node->id ? 0 : (guint16) n;
          _gantry_job_need (job, node->attrs);
          gantry_builder_add_node (builder, &copy, job->module->operands + node->operands, origins);
        }
      gantry_builder_end (builder, job->module->operands + function->results, function->n_results);
    }
  return gantry_builder_check (builder, error);
}

static GantryModule *
run (State *state, GError **error)
{
  GantryDiffJob *job = &state->job;
  g_autoptr (GError) local = NULL;
  gboolean done;

  if (!read_options (state, error))
    return NULL;
  job->module = _gantry_prepare (job->source, job->integers, job->progress, error);
  if (job->module == NULL)
    return NULL;
  job->uses = gantry_uses_new (job->module);
  done = write_entry (state, &local) && copy_functions (state, &local);
  if (job->refusals->len > 0)
    {
      if (g_hash_table_size (job->refused) > GANTRY_MOST_REFUSALS)
        g_string_append_printf (job->refusals, "\nand %u more", g_hash_table_size (job->refused) - GANTRY_MOST_REFUSALS);
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, job->refusals->str);
      return NULL;
    }
  if (!done)
    {
      g_propagate_error (error, job->error != NULL ? g_steal_pointer (&job->error) : g_steal_pointer (&local));
      return NULL;
    }
  return gantry_rewriter_finish (state->rewriter, error);
}

GantryModule *
gantry_differentiate (GantryModule *module, const GantryGradientOptions *options, const GantryProgress *progress, GError **error)
{
  State state = { .options = options };
  GantryModule *result;

  g_return_val_if_fail (module != NULL && options != NULL, NULL);
  state.job.source = module;
  state.job.progress = progress;
  state.job.integers = options->integers;
  state.job.refusals = g_string_new (NULL);
  state.job.refused = g_hash_table_new (NULL, NULL);
  state.job.needed = g_hash_table_new (NULL, NULL);
  state.job.shifts = g_hash_table_new (NULL, NULL);
  state.job.to_copy = g_array_new (FALSE, FALSE, sizeof (guint32));
  state.outputs = g_array_new (FALSE, FALSE, sizeof (guint));
  state.by = g_array_new (FALSE, FALSE, sizeof (guint));
  state.rewriter = gantry_rewriter_new (module);
  result = run (&state, error);
  gantry_rewriter_free (state.rewriter);
  g_array_unref (state.outputs);
  g_array_unref (state.by);
  g_array_unref (state.job.to_copy);
  g_hash_table_unref (state.job.needed);
  g_hash_table_unref (state.job.refused);
  g_hash_table_unref (state.job.shifts);
  g_clear_pointer (&state.job.uses, gantry_uses_free);
  g_string_free (state.job.refusals, TRUE);
  g_clear_error (&state.job.error);
  g_clear_pointer (&state.job.module, gantry_module_unref);
  return result;
}
