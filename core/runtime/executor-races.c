/* SPDX-License-Identifier: Apache-2.0 */
/* Happens-before over the queues, worked out from the instruction list alone: what two queues do with the same bytes
 * must be in order through waits, unless both only read. Vector clocks, one position for each queue (Fidge 1988,
 * Mattern 1989). */
#include "core/base/error.h"
#include "core/runtime/executor-private.h"

typedef struct
{
  guint32 instruction;
  guint32 buffer;
  guint8 write;
} Access;

typedef struct
{
  const GantryExecutor *executor;
  guint32 *position;                 /* by instruction: 1 + how many stand before it on its queue */
  guint32 (*clock)[GANTRY_N_QUEUES]; /* by instruction: how many of each queue are done before it begins */
  GArray *accesses[GANTRY_N_QUEUES]; /* Access */
} Races;

/* A launch writes the values and the workspace of its node. */
gboolean
_gantry_executor_writes (const GantryExecutor *executor, const GantryInstruction *instruction, guint32 k)
{
  guint32 buffer = executor->executable->buffer_refs[instruction->buffers + k];

  if (instruction->kind == GANTRY_INSTRUCTION_COPY)
    return k == 1;
  return instruction->kind == GANTRY_INSTRUCTION_FILL || executor->executable->plan->buffers[buffer].node == instruction->node;
}

static void
turn_clocks (Races *races)
{
  const GantryExecutable *executable = races->executor->executable;
  guint32 now[GANTRY_N_QUEUES][GANTRY_N_QUEUES] = { { 0 } }; /* what each queue knows of the others */

  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];
      guint32 *mine = now[instruction->queue];

      if (instruction->init)
        continue;
      if (instruction->kind == GANTRY_INSTRUCTION_WAIT)
        {
          const GantryInstruction *event = &executable->instructions[instruction->event];

          for (guint q = 0; q < GANTRY_N_QUEUES; q++)
            mine[q] = MAX (mine[q], races->clock[instruction->event][q]);
          mine[event->queue] = MAX (mine[event->queue], races->position[instruction->event]);
        }
      for (guint q = 0; q < GANTRY_N_QUEUES; q++)
        races->clock[i][q] = mine[q];
      races->position[i] = ++mine[instruction->queue];
    }
}

static void
list_accesses (Races *races)
{
  const GantryExecutable *executable = races->executor->executable;

  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];

      for (guint32 k = 0; k < instruction->n_buffers && !instruction->init; k++)
        {
          Access access = { i, executable->buffer_refs[instruction->buffers + k] };

          access.write = _gantry_executor_writes (races->executor, instruction, k);
          if (executable->plan->buffers[access.buffer].region == GANTRY_REGION_ARENA)
            g_array_append_val (races->accesses[instruction->queue], access);
        }
    }
}

static gboolean
in_order (const Races *races, guint32 first, guint32 second)
{
  guint8 queue = races->executor->executable->instructions[first].queue;

  return races->clock[second][queue] >= races->position[first];
}

static gboolean
collide (const Races *races, const Access *a, const Access *b)
{
  const GantryPlanBuffer *x = &races->executor->executable->plan->buffers[a->buffer];
  const GantryPlanBuffer *y = &races->executor->executable->plan->buffers[b->buffer];

  return (a->write || b->write) && x->memory == y->memory && x->offset < y->offset + y->size && y->offset < x->offset + x->size
         && !in_order (races, a->instruction, b->instruction) && !in_order (races, b->instruction, a->instruction);
}

/* Of two queues one copies, and copies are few. */
static gboolean
compare_queues (const Races *races, guint first, guint second, GError **error)
{
  const GArray *a = races->accesses[first], *b = races->accesses[second];

  for (guint i = 0; i < a->len; i++)
    for (guint j = 0; j < b->len; j++)
      {
        const Access *x = &g_array_index (a, Access, i), *y = &g_array_index (b, Access, j);
        g_autofree char *one = NULL, *other = NULL;

        if (!collide (races, x, y))
          continue;
        one = _gantry_executor_describe (races->executor->executable, x->buffer);
        other = _gantry_executor_describe (races->executor->executable, y->buffer);
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
                     "verify: instructions %u (%s %s) and %u (%s %s) use the same bytes and do not wait for each other", x->instruction,
                     x->write ? "writes" : "reads", one, y->instruction, y->write ? "writes" : "reads", other);
        return FALSE;
      }
  return TRUE;
}

gboolean
_gantry_executor_check_races (const GantryExecutor *executor, GError **error)
{
  guint32 n = executor->executable->n_instructions;
  Races races = { executor };
  gboolean fine = TRUE;

  races.position = g_new0 (guint32, n + 1);
  races.clock = g_malloc0 ((n + (gsize) 1) * sizeof *races.clock);
  for (guint q = 0; q < GANTRY_N_QUEUES; q++)
    races.accesses[q] = g_array_new (FALSE, FALSE, sizeof (Access));
  turn_clocks (&races);
  list_accesses (&races);
  for (guint a = 0; a < GANTRY_N_QUEUES && fine; a++)
    for (guint b = a + 1; b < GANTRY_N_QUEUES && fine; b++)
      fine = compare_queues (&races, a, b, error);
  for (guint q = 0; q < GANTRY_N_QUEUES; q++)
    g_array_unref (races.accesses[q]);
  g_free (races.position);
  g_free (races.clock);
  return fine;
}
