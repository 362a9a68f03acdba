/* SPDX-License-Identifier: Apache-2.0 */
/* Several runs in a row: what a run writes over its inputs (donated parameters and state) is what the next one reads,
 * and stays on the device. */
#include "core/base/allocate.h"
#include "core/base/error.h"
#include "core/runtime/executor-private.h"
#include <string.h>

/* Which inputs stay. */

static int
compare_offsets (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const GantryExecutor *executor = user_data;
  const GantryPlanBuffer *buffers = executor->executable->plan->buffers;
  const Place *x = &executor->places[*(const guint32 *) a], *y = &executor->places[*(const guint32 *) b];
  const GantryPlanBuffer *of_x = &buffers[x->owner], *of_y = &buffers[y->owner];

  if (of_x->memory != of_y->memory)
    return of_x->memory < of_y->memory ? -1 : 1;
  return (of_x->offset > of_y->offset) - (of_x->offset < of_y->offset);
}

/* The places that lie over no other one, at whatever time. (transfer full): by place */
static guint8 *
find_alone (const GantryExecutor *executor)
{
  const GantryPlanBuffer *buffers = executor->executable->plan->buffers;
  g_autofree guint32 *order = g_new (guint32, executor->n_places + 1);
  guint8 *alone = g_malloc (executor->n_places + (gsize) 1);
  guint64 end = 0;
  guint32 highest = G_MAXUINT32; /* place that reaches to @end */

  for (guint32 p = 0; p < executor->n_places; p++)
    {
      order[p] = p;
      alone[p] = TRUE;
    }
  g_qsort_with_data (order, (gint) executor->n_places, sizeof *order, compare_offsets, (gpointer) executor);
  for (guint32 k = 0; k < executor->n_places; k++)
    {
      guint32 p = order[k];
      const GantryPlanBuffer *buffer = &buffers[executor->places[p].owner];
      gboolean same = highest != G_MAXUINT32 && buffers[executor->places[highest].owner].memory == buffer->memory;

      if (executor->places[p].used == 0)
        continue;
      if (same && buffer->offset < end)
        alone[p] = alone[highest] = FALSE;
      if (!same || buffer->offset + executor->places[p].used > end)
        {
          highest = p;
          end = buffer->offset + executor->places[p].used;
        }
    }
  return alone;
}

/* The buffers that hold the result donated to input @i: it, and what it is a view of or written over. */
gboolean
_gantry_executor_is_donated (const GantryExecutor *executor, guint32 input, guint32 buffer)
{
  const GantryExecutable *executable = executor->executable;
  const GantryPlanBuffer *buffers = executable->plan->buffers;

  if (executor->alias[input] < 0)
    return FALSE;
  for (guint32 b = executable->outputs[executor->alias[input]]; b != GANTRY_NO_BUFFER; b = buffers[b].shares)
    if (b == buffer)
      return TRUE;
  return FALSE;
}

/* Nothing is written into the place of an input but the result that is donated to it. */
static void
find_writes (GantryExecutor *executor, const guint32 *input_of)
{
  const GantryExecutable *executable = executor->executable;

  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];

      for (guint32 k = 0; k < instruction->n_buffers; k++)
        {
          guint32 buffer = executable->buffer_refs[instruction->buffers + k];
          guint32 place = executor->place_of[buffer], input = place != G_MAXUINT32 ? input_of[place] : 0;

          if (input != 0 && executor->stays[input - 1] && _gantry_executor_writes (executor, instruction, k))
            executor->stays[input - 1] = _gantry_executor_is_donated (executor, input - 1, buffer);
        }
    }
}

static gint
alias_of (const GantryExecutable *executable, guint32 input)
{
  const GantryNode *node = gantry_module_node (executable->module, executable->plan->buffers[executable->inputs[input]].node);
  gint alias = node != NULL ? gantry_parameter_alias (executable->module, node) : -1;

  /* One that does not fit is no alias: the verifier of the module tells about it. */
  if (alias < 0 || alias >= (gint) executable->n_outputs
      || executable->plan->buffers[executable->outputs[alias]].size != executable->plan->buffers[executable->inputs[input]].size)
    return -1;
  return alias;
}

void
_gantry_executor_find_stays (GantryExecutor *executor)
{
  const GantryExecutable *executable = executor->executable;
  g_autofree guint8 *alone = find_alone (executor);
  g_autofree guint32 *input_of = g_new0 (guint32, executor->n_places + 1); /* by place: 1 + input */

  executor->alias = g_new (gint, executable->n_inputs + 1);
  executor->stays = g_new0 (guint8, executable->n_inputs + 1);
  executor->kept = g_new0 (guint8, executor->n_places + 1);
  for (guint32 i = 0; i < executable->n_inputs; i++)
    {
      guint32 place = executor->place_of[executable->inputs[i]];

      executor->alias[i] = alias_of (executable, i);
      executor->stays[i] = alone[place];
      input_of[place] = i + 1;
    }
  find_writes (executor, input_of);
}

gint
gantry_executor_alias (const GantryExecutor *executor, guint input)
{
  g_return_val_if_fail (input < executor->executable->n_inputs, -1);
  return executor->alias[input];
}

gboolean
_gantry_executor_check_stays (const GantryExecutor *executor, guint input, GError **error)
{
  gboolean lent = executor->lent[executor->place_of[executor->executable->inputs[input]]];
  g_autofree char *what = NULL;

  if ((executor->stays[input] || lent) && (executor->complete || (lent && executor->readable[input])))
    return TRUE;
  what = _gantry_executor_describe (executor->executable, executor->executable->inputs[input]);
  if (!executor->stays[input] && !lent)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "run: input %u, %s, cannot stay on the device: other values use its place; give it for each run, or plan "
                 "the program as a training step",
                 input, what);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "run: input %u, %s, has no data, and there was no run, or one that was broken off, to keep it from",
                 input, what);
  return FALSE;
}

/* Between runs. */

typedef struct
{
  guint32 in, out; /* buffers */
  gpointer kept;   /* (nullable): what @out held before anything was carried */
} Carried;

static void
carried_clear (gpointer data)
{
  g_free (((Carried *) data)->kept);
}

/* What is to be carried from the place of a result to that of an input. */
static GArray *
find_carried (GantryExecutor *executor, const GantryRunInput *inputs)
{
  const GantryExecutable *executable = executor->executable;
  GArray *carried = g_array_new (FALSE, FALSE, sizeof (Carried));

  g_array_set_clear_func (carried, carried_clear);
  memset (executor->kept, 0, executor->n_places);
  for (guint32 i = 0; i < executable->n_inputs; i++)
    {
      guint32 in = executable->inputs[i];
      Carried one = { in, executor->alias[i] >= 0 ? executable->outputs[executor->alias[i]] : in, NULL };

      if (inputs[i].data != NULL)
        continue;
      executor->kept[executor->place_of[in]] = TRUE;
      if (executor->addresses[in] != executor->addresses[one.out])
        g_array_append_val (carried, one);
    }
  return carried;
}

/* A result that is itself an argument lies where another result is carried to: it is set aside before. */
static gboolean
keep_overwritten (GantryExecutor *executor, GArray *carried, GError **error)
{
  g_autofree guint8 *written = g_new0 (guint8, executor->n_places + 1);

  for (guint i = 0; i < carried->len; i++)
    written[executor->place_of[g_array_index (carried, Carried, i).in]] = TRUE;
  for (guint i = 0; i < carried->len; i++)
    {
      Carried *one = &g_array_index (carried, Carried, i);
      guint32 place = executor->place_of[one->out];
      gsize size = executor->executable->plan->buffers[one->in].size;

      if (place == G_MAXUINT32 || !written[place])
        continue;
      one->kept = gantry_try_allocate (size, 1, "a result that is an argument", error);
      if (one->kept == NULL || !gantry_device_download (executor->device, one->kept, executor->addresses[one->out], size, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
_gantry_executor_carry (GantryExecutor *executor, const GantryRunInput *inputs, GError **error)
{
  g_autoptr (GArray) carried = find_carried (executor, inputs);
  g_autofree GantryCommand *commands = g_new0 (GantryCommand, carried->len + 1);
  guint32 n = 0;

  if (!keep_overwritten (executor, carried, error))
    return FALSE;
  for (guint i = 0; i < carried->len; i++)
    {
      const Carried *one = &g_array_index (carried, Carried, i);
      GantryCommand copy = { .kind = GANTRY_COMMAND_COPY, .instruction = G_MAXUINT32, .stamp = GANTRY_NO_STAMP };

      copy.copy.to = executor->addresses[one->in];
      copy.copy.from = executor->addresses[one->out];
      copy.copy.bytes = executor->executable->plan->buffers[one->in].size;
      if (one->kept == NULL)
        commands[n++] = copy;
    }
  if (n > 0)
    {
      GantryBatch *batch = gantry_device_begin (executor->device, 0, NULL, NULL);

      gantry_batch_submit (executor->device, batch, GANTRY_QUEUE_COMPUTE, commands, n);
      if (!gantry_device_finish (executor->device, batch, error))
        return FALSE;
    }
  for (guint i = 0; i < carried->len; i++)
    {
      const Carried *one = &g_array_index (carried, Carried, i);

      if (one->kept != NULL
          && !gantry_device_upload (executor->device, executor->addresses[one->in], one->kept, executor->executable->plan->buffers[one->in].size, error))
        return FALSE;
    }
  return TRUE;
}

/* What changes from step to step: inputs that stay are given once, results that are donated are read once. */
static void
prepare (const GantryExecutor *executor, guint step, guint n_steps, const GantryRunInput *last, GantryRunInput *inputs, const GantryRunOutput *wanted,
         GantryRunOutput *outputs)
{
  const GantryExecutable *executable = executor->executable;

  for (guint32 i = 0; i < executable->n_inputs; i++)
    {
      inputs[i] = last[i];
      if (step > 0 && (executor->stays[i] || executor->alias[i] >= 0))
        inputs[i].data = NULL;
    }
  for (guint32 i = 0; i < executable->n_outputs; i++)
    outputs[i] = wanted[i];
  for (guint32 i = 0; i < executable->n_inputs && step + 1 < n_steps; i++)
    if (executor->alias[i] >= 0)
      outputs[executor->alias[i]].data = NULL;
}

gboolean
gantry_executor_run_steps (GantryExecutor *executor, guint n_steps, const GantryRunInput *inputs, guint n_inputs, const GantryRunOutput *outputs,
                           guint n_outputs, const GantryRunHooks *hooks, const GantryObserver *observer, GCancellable *cancellable, GError **error)
{
  const GantryExecutable *executable = executor->executable;
  g_autofree GantryRunInput *last = g_new0 (GantryRunInput, executable->n_inputs + 1);
  g_autofree GantryRunInput *now = g_new0 (GantryRunInput, executable->n_inputs + 1);
  g_autofree GantryRunOutput *read = g_new0 (GantryRunOutput, executable->n_outputs + 1);

  if (n_inputs != executable->n_inputs || n_outputs != executable->n_outputs)
    return gantry_executor_run (executor, inputs, n_inputs, outputs, n_outputs, observer, cancellable, error);
  memcpy (last, inputs, n_inputs * sizeof *last);
  for (guint step = 0; step < n_steps; step++)
    {
      prepare (executor, step, n_steps, last, now, outputs, read);
      if (hooks != NULL && hooks->feed != NULL)
        hooks->feed (hooks->self, step, now);
      for (guint32 i = 0; i < n_inputs; i++)
        if (now[i].data != NULL)
          last[i] = now[i];
      if (!gantry_executor_run (executor, now, n_inputs, read, n_outputs, observer, cancellable, error))
        return FALSE;
      if (hooks != NULL && hooks->done != NULL && !hooks->done (hooks->self, step, read))
        return TRUE;
    }
  return TRUE;
}
