/* SPDX-License-Identifier: Apache-2.0 */
/* A run that is watched: instruction by instruction, in the order of the list, with everything that the
 * plan promises checked from outside. It shares no code with what made the plan. */
#include "core/base/error.h"
#include "core/runtime/executor-private.h"
#include <string.h>

#define POISON 0xa5

typedef struct
{
  GantryExecutor *executor;
  guint8 *alive;    /* by place */
  guint64 *hashes;  /* by place, then of the constant region: before the instruction */
  guint32 next;     /* first step whose places are not yet allocated */
  GByteArray *seen; /* what a device that is not the host holds, for looking at */
} Watch;

static const GantryPlanBuffer *
owner_of (const Watch *watch, guint32 place)
{
  return &watch->executor->executable->plan->buffers[watch->executor->places[place].owner];
}

static guint8 *
address_of (const Watch *watch, guint32 place)
{
  return watch->executor->base[place];
}

/* Bytes of a place that really are in the arena: the last one need not be whole. Memory of the caller is as long as the value. */
static gsize
bytes_of (const Watch *watch, guint32 place)
{
  const GantryPlanBuffer *buffer = owner_of (watch, place);

  if (watch->executor->lent[place])
    return watch->executor->places[place].used;
  return MIN (watch->executor->places[place].bytes, watch->executor->arena_bytes[buffer->memory] - buffer->offset);
}

static gboolean
fail (const Watch *watch, guint32 buffer, guint32 other, const char *what, GError **error)
{
  g_autofree char *a = _gantry_executor_describe (watch->executor->executable, buffer);
  g_autofree char *b = _gantry_executor_describe (watch->executor->executable, other);

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "verify: %s %s %s", a, what, b);
  return FALSE;
}

static gboolean
check_free (const Watch *watch, guint32 place, GError **error)
{
  const GantryExecutor *executor = watch->executor;
  const GantryPlanBuffer *buffer = owner_of (watch, place);

  for (guint32 p = 0; p < executor->n_places; p++)
    {
      const GantryPlanBuffer *other = owner_of (watch, p);

      if (watch->alive[p] && p != place && other->memory == buffer->memory && executor->places[p].bytes > 0 && executor->places[place].bytes > 0
          && buffer->offset < other->offset + executor->places[p].bytes && other->offset < buffer->offset + executor->places[place].bytes)
        return fail (watch, executor->places[place].owner, executor->places[p].owner, "lies over the place of the living", error);
    }
  return TRUE;
}

/* An input that is read where the caller has it is there already. */
static gboolean
holds_input (const Watch *watch, guint32 place)
{
  return watch->executor->lent[place] && owner_of (watch, place)->category == GANTRY_BUFFER_INPUT;
}

/* Overwrites a place, also where the processor cannot. */
static gboolean
poison (const Watch *watch, guint32 place, GError **error)
{
  gsize bytes = bytes_of (watch, place);
  g_autofree guint8 *pattern = NULL;

  if (gantry_device_is_host (watch->executor->device))
    {
      memset (address_of (watch, place), POISON, bytes);
      return TRUE;
    }
  pattern = g_malloc (MAX (bytes, 1));
  memset (pattern, POISON, bytes);
  return gantry_device_upload (watch->executor->device, address_of (watch, place), pattern, bytes, error);
}

/* Allocates what begins at steps up to @step. */
static gboolean
enter_steps (Watch *watch, guint32 step, GError **error)
{
  const GantryExecutor *executor = watch->executor;

  for (; watch->next <= step; watch->next++)
    for (guint32 k = executor->allocated.first[watch->next]; k < executor->allocated.first[watch->next + 1]; k++)
      {
        guint32 p = executor->allocated.items[k];

        if ((executor->verify & GANTRY_VERIFY_PLACES) && !check_free (watch, p, error))
          return FALSE;
        watch->alive[p] = TRUE;
        if ((executor->verify & GANTRY_VERIFY_POISON) && !executor->kept[p] && !holds_input (watch, p) && !poison (watch, p, error))
          return FALSE;
      }
  return TRUE;
}

static gboolean
leave_step (Watch *watch, guint32 step, GError **error)
{
  const GantryExecutor *executor = watch->executor;

  for (guint32 k = executor->released.first[step]; k < executor->released.first[step + 1]; k++)
    {
      guint32 p = executor->released.items[k];

      /* Results are still to be read when the last step is over. */
      if (step + 1 >= executor->executable->plan->n_steps)
        continue;
      watch->alive[p] = FALSE;
      if ((executor->verify & GANTRY_VERIFY_POISON) && !executor->lent[p] && !poison (watch, p, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
check_operands (const Watch *watch, const GantryInstruction *instruction, GError **error)
{
  const GantryExecutor *executor = watch->executor;
  const GantryPlan *plan = executor->executable->plan;

  for (guint32 k = 0; k < instruction->n_buffers; k++)
    {
      guint32 b = executor->executable->buffer_refs[instruction->buffers + k], place = executor->place_of[b];
      const GantryPlanBuffer *buffer = &plan->buffers[b];

      if (buffer->region != GANTRY_REGION_ARENA)
        continue;
      if (!watch->alive[place] || buffer->begin > instruction->step || buffer->end < instruction->step)
        return fail (watch, b, executor->executable->buffer_refs[instruction->buffers + instruction->n_buffers - 1], "is used when it is not alive, beside",
                     error);
    }
  return TRUE;
}

/* FNV-1a over words, Fowler, Noll, Vo. */
static guint64
hash (const guint8 *data, gsize size)
{
  guint64 h = G_GUINT64_CONSTANT (0xcbf29ce484222325), word;

  for (; size >= 8; size -= 8, data += 8)
    {
      memcpy (&word, data, 8);
      h = (h ^ word) * G_GUINT64_CONSTANT (0x100000001b3);
      h ^= h >> 29;
    }
  for (; size > 0; size--, data++)
    h = (h ^ *data) * G_GUINT64_CONSTANT (0x100000001b3);
  return h;
}

/* Part of a place that an instruction may write: bytes from the place's begin. */
typedef struct
{
  guint64 begin, end;
} Part;

static int
compare_parts (gconstpointer a, gconstpointer b)
{
  const Part *x = a, *y = b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The parts of the place that the instruction may write, in order: several values may lie in one side by side. */
static GArray *
written_parts (const Watch *watch, const GantryInstruction *instruction, guint32 place)
{
  const GantryExecutor *executor = watch->executor;
  const guint32 *refs = executor->executable->buffer_refs + instruction->buffers;
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (Part));

  for (guint32 k = 0; k < instruction->n_buffers; k++)
    {
      const GantryPlanBuffer *buffer = &executor->executable->plan->buffers[refs[k]];
      Part part = { buffer->offset - owner_of (watch, place)->offset };

      if (executor->place_of[refs[k]] != place || !_gantry_executor_writes (executor, instruction, k))
        continue;
      part.end = part.begin + buffer->size;
      g_array_append_val (parts, part);
    }
  g_array_sort (parts, compare_parts);
  return parts;
}

/* Returns: what lies at @address of the device, valid until the next call; NULL with @error */
static const guint8 *
look_at (Watch *watch, const guint8 *address, gsize bytes, GError **error)
{
  if (gantry_device_is_host (watch->executor->device))
    return address;
  g_byte_array_set_size (watch->seen, (guint) MIN (MAX (bytes, 1), G_MAXUINT32));
  if (bytes > watch->seen->len)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "verify: a place of more than 4 GiB on %s is not compared",
                   gantry_device_name (watch->executor->device));
      return NULL;
    }
  return gantry_device_download (watch->executor->device, watch->seen->data, address, bytes, error) ? watch->seen->data : NULL;
}

/* Of all of the place but those parts. @hashed: (out) */
static gboolean
hash_rest (Watch *watch, guint32 place, const GArray *parts, guint64 *hashed, GError **error)
{
  guint64 size = MIN (bytes_of (watch, place), watch->executor->places[place].used), at = 0, h = 0;
  const guint8 *data = look_at (watch, address_of (watch, place), size, error);

  if (data == NULL)
    return FALSE;

  for (guint i = 0; i < parts->len; i++)
    {
      const Part *part = &g_array_index (parts, Part, i);

      if (part->begin > at)
        h = h * 31 + hash (data + at, MIN (part->begin, size) - at);
      at = MIN (MAX (at, part->end), size);
    }
  *hashed = h * 31 + hash (data + at, size - at);
  return TRUE;
}

/* Hashes all that the instruction may not write, or compares with what was hashed. */
static gboolean
check_untouched (Watch *watch, guint32 i, gboolean compare, GError **error)
{
  const GantryExecutor *executor = watch->executor;
  const GantryInstruction *instruction = &executor->executable->instructions[i];
  const guint8 *data = look_at (watch, executor->constants, executor->constant_bytes, error);
  guint64 constants;

  if (data == NULL)
    return FALSE;
  constants = hash (data, executor->constant_bytes);
  if (compare && constants != watch->hashes[executor->n_places])
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "verify: instruction %u writes into the constants", i);
      return FALSE;
    }
  watch->hashes[executor->n_places] = constants;
  for (guint32 p = 0; p < executor->n_places; p++)
    {
      g_autoptr (GArray) parts = NULL;
      guint64 now;

      if (!watch->alive[p])
        continue;
      parts = written_parts (watch, instruction, p);
      if (!hash_rest (watch, p, parts, &now, error))
        return FALSE;
      if (compare && now != watch->hashes[p])
        return fail (watch, executor->executable->buffer_refs[instruction->buffers + instruction->n_buffers - 1], executor->places[p].owner,
                     "was written, and so was", error);
      watch->hashes[p] = now;
    }
  return TRUE;
}

static gboolean
run_one (Watch *watch, guint32 i, GCancellable *cancellable, GError **error)
{
  GantryExecutor *executor = watch->executor;

  if ((executor->verify & GANTRY_VERIFY_PLACES) && !check_operands (watch, &executor->executable->instructions[i], error))
    return FALSE;
  if ((executor->verify & GANTRY_VERIFY_WRITES) && !check_untouched (watch, i, FALSE, error))
    return FALSE;
  if (!_gantry_executor_run_one (executor, i, cancellable, error))
    return FALSE;
  return (executor->verify & GANTRY_VERIFY_WRITES) == 0 || check_untouched (watch, i, TRUE, error);
}

static gboolean
run_all (Watch *watch, const GantryRunInput *inputs, GCancellable *cancellable, GError **error)
{
  GantryExecutor *executor = watch->executor;
  const GantryExecutable *executable = executor->executable;
  guint32 n_steps = executable->plan->n_steps, step = executable->plan->n_init_steps;

  watch->next = step;
  if (!enter_steps (watch, step, error))
    return FALSE;
  if (!_gantry_executor_upload (executor, inputs, error))
    return FALSE;
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];

      if (instruction->init || instruction->kind == GANTRY_INSTRUCTION_WAIT)
        continue;
      for (; step < MIN (instruction->step, n_steps); step++)
        if (!leave_step (watch, step, error))
          return FALSE;
      if (!enter_steps (watch, step, error) || !run_one (watch, i, cancellable, error))
        return FALSE;
    }
  return enter_steps (watch, n_steps, error);
}

gboolean
_gantry_executor_run_checked (GantryExecutor *executor, const GantryRunInput *inputs, GCancellable *cancellable, GError **error)
{
  Watch watch = { executor };
  gboolean done;

  if ((executor->verify & GANTRY_VERIFY_PLACES) && !_gantry_executor_check_races (executor, error))
    return FALSE;
  watch.alive = g_new0 (guint8, executor->n_places + 1);
  watch.hashes = g_new0 (guint64, executor->n_places + 1);
  watch.seen = g_byte_array_new ();
  done = run_all (&watch, inputs, cancellable, error);
  g_byte_array_unref (watch.seen);
  g_free (watch.alive);
  g_free (watch.hashes);
  return done;
}
