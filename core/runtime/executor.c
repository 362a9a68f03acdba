/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a loaded executable: inputs in, the command lists on their queues, results out, and then
 * what was measured to the observer. */
#include "core/base/allocate.h"
#include "core/base/error.h"
#include "core/runtime/executor-private.h"
#include <string.h>

static void
places_by_step_clear (PlacesByStep *places)
{
  g_free (places->first);
  g_free (places->items);
}

void
gantry_executor_free (GantryExecutor *executor)
{
  if (executor == NULL)
    return;
  _gantry_executor_free_regions (executor);
  if (executor->parent == NULL)
    gantry_device_unload (executor->device, executor->loaded);
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    gantry_device_deallocate (executor->device, kind, executor->arenas[kind], executor->arena_bytes[kind]);
  gantry_device_deallocate (executor->device, GANTRY_MEMORY_DEVICE, executor->constants, executor->constant_bytes);
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    g_free (executor->commands[queue]);
  g_clear_pointer (&executor->segments, g_array_unref);
  g_free (executor->literals);
  g_free (executor->addresses);
  g_free (executor->arguments);
  g_free (executor->first_argument);
  g_free (executor->prepared);
  g_free (executor->event_of);
  g_free (executor->stamps);
  g_free (executor->places);
  g_free (executor->place_of);
  places_by_step_clear (&executor->allocated);
  places_by_step_clear (&executor->released);
  g_free (executor->alias);
  g_free (executor->stays);
  g_free (executor->kept);
  g_free (executor->readable);
  g_free (executor->donatable);
  g_free (executor->returnable);
  g_free (executor->slots);
  g_free (executor->first_slot);
  g_free (executor->base);
  g_free (executor->lent);
  g_clear_pointer (&executor->measure, gantry_memory_measure_unref);
  g_free (executor->step_begin);
  g_free (executor->step_end);
  gantry_executable_unref (executor->executable);
  gantry_device_unref (executor->device);
  g_free (executor);
}

GantryExecutor *
gantry_executor_new (GantryDevice *device, GantryExecutable *executable, GCancellable *cancellable, GError **error)
{
  g_autoptr (GantryExecutor) executor = NULL;

  g_return_val_if_fail (device != NULL && executable != NULL, NULL);
  if (!_gantry_executor_check (executable, gantry_device_is_host (device), error))
    return NULL;
  executor = g_new0 (GantryExecutor, 1);
  executor->device = gantry_device_ref (device);
  executor->executable = gantry_executable_ref (executable);
  executor->step_begin = g_new0 (gint64, executable->plan->n_steps + 1);
  executor->step_end = g_new0 (gint64, executable->plan->n_steps + 1);
  _gantry_executor_index_places (executor);
  _gantry_executor_find_stays (executor);
  _gantry_executor_note_free (executor);
  if (!_gantry_executor_allocate (executor, error) || !gantry_device_load (device, executable, &executor->loaded, error)
      || !_gantry_executor_make_commands (executor, error) || !_gantry_executor_load_regions (executor, cancellable, error)
      || !_gantry_executor_initialise (executor, cancellable, error))
    return NULL;
  if (gantry_device_is_host (device))
    _gantry_executor_give_back (executor);
  _gantry_executor_find_bindings (executor);
  return g_steal_pointer (&executor);
}

static gboolean
check_sizes (const GantryExecutor *executor, const GantryRunInput *inputs, guint n_inputs, const GantryRunOutput *outputs, guint n_outputs, GError **error)
{
  const GantryExecutable *executable = executor->executable;

  if (n_inputs != executable->n_inputs || n_outputs != executable->n_outputs)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "run: the program takes %u inputs and gives %u results, not %u and %u", executable->n_inputs,
                   executable->n_outputs, n_inputs, n_outputs);
      return FALSE;
    }
  for (guint i = 0; i < n_inputs + n_outputs; i++)
    {
      gboolean input = i < n_inputs;
      guint k = input ? i : i - n_inputs;
      guint32 buffer = input ? executable->inputs[k] : executable->outputs[k];
      gsize given = input ? inputs[k].size : outputs[k].size;
      guint64 size = executable->plan->buffers[buffer].size;

      if (input && inputs[k].data == NULL && size > 0)
        {
          if (!_gantry_executor_check_stays (executor, k, error))
            return FALSE;
          continue;
        }
      if (!input && outputs[k].data == NULL)
        continue;
      if (given != size)
        {
          g_autofree char *what = _gantry_executor_describe (executable, buffer);

          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "run: %s %u, %s, has %" G_GUINT64_FORMAT " bytes, not %" G_GSIZE_FORMAT,
                       input ? "input" : "result", k, what, size, given);
          return FALSE;
        }
    }
  return TRUE;
}

gboolean
_gantry_executor_upload (GantryExecutor *executor, const GantryRunInput *inputs, GError **error)
{
  const GantryExecutable *executable = executor->executable;

  for (guint32 i = 0; i < executable->n_inputs; i++)
    {
      void *place = executor->addresses[executable->inputs[i]];

      if (inputs[i].data == NULL || inputs[i].data == place)
        continue;
      if (!gantry_device_upload (executor->device, place, inputs[i].data, inputs[i].size, error))
        return FALSE;
      executor->copied_bytes += inputs[i].size;
    }
  return TRUE;
}

static gboolean
download (GantryExecutor *executor, const GantryRunOutput *outputs, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      const void *place = executor->addresses[executor->executable->outputs[i]];

      if (outputs[i].data == NULL || outputs[i].data == place)
        continue;
      if (!gantry_device_download (executor->device, outputs[i].data, place, outputs[i].size, error))
        return FALSE;
      executor->copied_bytes += outputs[i].size;
    }
  return TRUE;
}

static gboolean
run_segment (GantryExecutor *executor, const Segment *segment, const guint32 *begin, gboolean timed, GCancellable *cancellable, GError **error)
{
  /* The compute queue last: a device may run it on this thread. */
  static const GantryQueue order[] = { GANTRY_QUEUE_TO_DEVICE, GANTRY_QUEUE_TO_HOST, GANTRY_QUEUE_COMPUTE };
  GantryBatch *batch;
  gboolean any = memcmp (segment->end, begin, sizeof segment->end) != 0;

  for (guint q = 0; q < GANTRY_N_QUEUES; q++)
    any = any || (executor->riders[q] != NULL && executor->riders[q]->len > 0);
  if (!any)
    return TRUE;
  batch = gantry_device_begin (executor->device, executor->n_events, timed ? executor->stamps : NULL, cancellable);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    if (segment->end[order[i]] > begin[order[i]])
      gantry_batch_submit (executor->device, batch, order[i], executor->commands[order[i]] + begin[order[i]], segment->end[order[i]] - begin[order[i]]);
    else if (executor->riders[order[i]] != NULL && executor->riders[order[i]]->len > 0)
      gantry_batch_submit (executor->device, batch, order[i], (const GantryCommand *) (gpointer) executor->riders[order[i]]->data,
                           executor->riders[order[i]]->len);
  memset (executor->riders, 0, sizeof executor->riders);
  return gantry_device_finish (executor->device, batch, error);
}

gboolean
_gantry_executor_run_one (GantryExecutor *executor, guint32 i, GCancellable *cancellable, GError **error)
{
  GantryCommand command;
  GantryBatch *batch;

  if (_gantry_instruction_is_of_host (&executor->executable->instructions[i]))
    return _gantry_executor_run_control (executor, i, TRUE, cancellable, error);
  command = _gantry_executor_command (executor, i);
  batch = gantry_device_begin (executor->device, 0, executor->stamps, cancellable);
  gantry_batch_submit (executor->device, batch, executor->executable->instructions[i].queue, &command, 1);
  return gantry_device_finish (executor->device, batch, error);
}

gboolean
_gantry_executor_run_queues (GantryExecutor *executor, gboolean timed, GCancellable *cancellable, GError **error)
{
  static const guint32 start[GANTRY_N_QUEUES];
  const guint32 *begin = start;

  for (guint s = 0; s < executor->segments->len; s++)
    {
      const Segment *segment = &g_array_index (executor->segments, Segment, s);

      if (!run_segment (executor, segment, begin, timed, cancellable, error)
          || (segment->control != G_MAXUINT32 && !_gantry_executor_run_control (executor, segment->control, timed, cancellable, error)))
        return FALSE;
      begin = segment->end;
    }
  return TRUE;
}

static gboolean
run_once (GantryExecutor *executor, const GantryRunInput *inputs, const GantryRunOutput *outputs, gboolean timed, gint64 *begin, gint64 *end,
          GCancellable *cancellable, GError **error)
{
  gboolean done;

  *begin = *end = gantry_time_ns ();
  _gantry_executor_bind (executor, inputs, outputs);
  if (!_gantry_executor_carry (executor, inputs, error))
    return FALSE;
  executor->complete = FALSE;
  if (executor->verify != 0)
    done = _gantry_executor_run_checked (executor, inputs, cancellable, error);
  else if (executor->measuring)
    done = _gantry_executor_run_measured (executor, inputs, cancellable, error);
  else
    {
      done = _gantry_executor_upload (executor, inputs, error);
      *begin = gantry_time_ns ();
      done = done && _gantry_executor_run_queues (executor, timed, cancellable, error);
    }
  *end = gantry_time_ns ();
  if (done && !timed && executor->verify == 0)
    _gantry_executor_assume_stamps (executor, *begin, *end);
  executor->complete = done;
  return done;
}

gboolean
gantry_executor_run (GantryExecutor *executor, const GantryRunInput *inputs, guint n_inputs, const GantryRunOutput *outputs, guint n_outputs,
                     const GantryObserver *observer, GCancellable *cancellable, GError **error)
{
  /* Where stamps cost time they are taken for who looks at them. */
  gboolean timed = observer != NULL || gantry_device_is_host (executor->device);
  gint64 begin, end;
  gboolean done;

  if (!check_sizes (executor, inputs, n_inputs, outputs, n_outputs, error))
    return FALSE;
  memset (executor->stamps, 0, executor->executable->n_instructions * sizeof (GantryStamp));
  if (observer != NULL && observer->spans != NULL && executor->executable->n_controls > 0)
    executor->spans = g_array_new (FALSE, FALSE, sizeof (GantryRegionSpan));
  if (observer != NULL && observer->region_events != NULL && executor->executable->n_controls > 0)
    executor->region_events = g_array_new (FALSE, FALSE, sizeof (GantryRegionEvent));
  executor->spans_left_out = executor->region_events_left_out = 0;
  done = run_once (executor, inputs, outputs, timed, &begin, &end, cancellable, error) && download (executor, outputs, n_outputs, error);
  executor->run_ns = end - begin;
  _gantry_executor_tell (executor, observer, begin, end);
  g_clear_pointer (&executor->spans, g_array_unref);
  g_clear_pointer (&executor->region_events, g_array_unref);
  return done;
}

gint64
gantry_executor_run_ns (const GantryExecutor *executor)
{
  return executor->run_ns;
}

static gboolean
check_type (const GantryExecutor *executor, guint i, const GantryLiteral *literal, GError **error)
{
  const GantryExecutable *executable = executor->executable;
  const GantryNode *node;
  const GantryType *type;

  node = gantry_module_node (executable->module, executable->plan->buffers[executable->inputs[i]].node);
  if (node == NULL)
    return TRUE;
  type = gantry_node_type (executable->module, node);
  if (gantry_type_same_shape (type, literal->type))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "run: the type of input %u (%s, %u dimensions) is not that of its parameter (%s, %u dimensions)", i,
               gantry_element_name (literal->type->element), literal->type->rank, gantry_element_name (type->element), type->rank);
  return FALSE;
}

/* The literals that results are written into, of the types that the results have. */
static gboolean
make_outputs (const GantryExecutor *executor, GPtrArray *literals, GantryRunOutput *outputs, GError **error)
{
  const GantryExecutable *executable = executor->executable;
  const GantryModule *module = executable->module;
  const GantryFunction *function = gantry_module_entry (module);

  for (guint i = 0; i < executable->n_outputs; i++)
    {
      guint64 size = executable->plan->buffers[executable->outputs[i]].size;
      const GantryNode *node = NULL;
      guint8 *data = NULL;
      GantryLiteral *literal;

      if (i < function->n_results)
        node = gantry_module_node (module, gantry_function_result_id (module, function, i));
      if (node == NULL || gantry_type_bytes (gantry_node_type (module, node)) != (gint64) size)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "run: result %u of the program has no static type", i);
          return FALSE;
        }
      literal = gantry_literal_try_new_pages (gantry_node_type (module, node), "a result", &data, error);
      if (literal == NULL)
        return FALSE;
      g_ptr_array_add (literals, literal);
      outputs[i] = (GantryRunOutput){ data, size };
    }
  return TRUE;
}

gboolean
gantry_executor_run_literals (GantryExecutor *executor, GantryLiteral *const *inputs, guint n_inputs, GantryLiteral **outputs, guint n_outputs,
                              const GantryObserver *observer, GCancellable *cancellable, GError **error)
{
  const GantryExecutable *executable = executor->executable;
  g_autofree GantryRunInput *from = g_new0 (GantryRunInput, n_inputs + 1);
  g_autofree GantryRunOutput *to = g_new0 (GantryRunOutput, executable->n_outputs + 1);
  g_autoptr (GPtrArray) literals = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autoptr (GPtrArray) dense = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < n_inputs; i++)
    {
      if (inputs[i] == NULL)
        continue;
      if (i < executable->n_inputs && !check_type (executor, i, inputs[i], error))
        return FALSE;
      from[i] = (GantryRunInput){ inputs[i]->data, inputs[i]->size };
      if (inputs[i]->splat)
        {
          gsize size = (gsize) gantry_type_bytes (inputs[i]->type);
          gpointer data = gantry_try_allocate (size, 1, "the values of an argument", error);

          if (data == NULL)
            return FALSE;
          g_ptr_array_add (dense, data);
          gantry_literal_copy_to (inputs[i], data);
          from[i] = (GantryRunInput){ data, size };
        }
    }
  if (!make_outputs (executor, literals, to, error) || !gantry_executor_run (executor, from, n_inputs, to, n_outputs, observer, cancellable, error))
    return FALSE;
  for (guint i = 0; i < n_outputs; i++)
    outputs[i] = gantry_literal_ref (g_ptr_array_index (literals, i));
  return TRUE;
}

void
gantry_executor_set_host_call (GantryExecutor *executor, GantryHostCall call, gpointer self)
{
  executor->host_call = call;
  executor->host_call_self = self;
}

void
gantry_executor_set_verify (GantryExecutor *executor, GantryVerifyFlags flags)
{
  executor->verify = flags;
}
