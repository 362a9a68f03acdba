/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through the base order and writes down what runs under the placements: each work, works that run once more, each with
 * the instances that it reads and makes, and the copies between the memories. */
#include "core/planner/planner-private.h"
#include <string.h>

/* Values that are looked at to find out whether a loop would run once more. */
#define MOST_LOOKED_AT 64

typedef struct
{
  guint32 work;
  guint32 next; /* of its uses */
} Frame;

guint32
_gantry_planner_add_range (GantryPlanner *planner, guint32 unit, guint8 instance, guint8 memory, guint32 at)
{
  LiveRange range = { .unit = unit,
                      .begin = at,
                      .end = at,
                      .last_use = at,
                      .over = NONE,
                      .inside = NONE,
                      .bytes = VALUE (planner->program, unit)->bytes,
                      .instance = instance,
                      .memory = memory };

  g_array_append_val (planner->ranges, range);
  return planner->ranges->len - 1;
}

/* What stands for a unit that a work has as operand and does not read: no bytes. */
static guint32
add_absent (GantryPlanner *planner, guint32 unit, guint32 at)
{
  guint32 l = value_is_constant (VALUE (planner->program, unit)) ? NONE : _gantry_planner_add_range (planner, unit, 1, GANTRY_MEMORY_DEVICE, at);

  if (l != NONE)
    RANGE (planner, l)->bytes = 0;
  return l;
}

void
_gantry_planner_extend (GantryPlanner *planner, guint32 l, guint32 at)
{
  LiveRange *range = RANGE (planner, l);

  range->end = MAX (range->end, at);
  range->last_use = MAX (range->last_use, at);
  if (range->inside != NONE)
    _gantry_planner_extend (planner, range->inside, at);
}

/* Where a root lives: of what is made on the device and belongs to the host, the host. */
gboolean
_gantry_planner_in_host (const GantryPlanner *planner, guint32 root)
{
  const Value *value = VALUE (planner->program, root);

  if (value->memory != GANTRY_MEMORY_DEVICE)
    return TRUE;
  if (value->kind == VALUE_INPUT)
    return planner->kind[root] == GANTRY_PLACEMENT_OFFLOAD;
  if (value->donated != NONE && value->result)
    return _gantry_planner_in_host (planner, value->donated);
  return value->result && planner->kind[root] == GANTRY_PLACEMENT_OFFLOAD && (planner->program->resident || planner->candidate_of[root] >= 0);
}

guint8
_gantry_planner_memory_of (const GantryPlanner *planner, guint32 root)
{
  const Value *value = VALUE (planner->program, root);

  if (!_gantry_planner_in_host (planner, root))
    return GANTRY_MEMORY_DEVICE;
  if (value->memory == GANTRY_MEMORY_DEVICE && value->kind != VALUE_INPUT && value->donated != NONE)
    return planner->memory[value->donated];
  return planner->memory[root];
}

/* The range in the host that @root is copied to or fetched from; made when it is first asked for. */
static guint32
host_range (GantryPlanner *planner, guint32 root, guint32 at)
{
  if (planner->in_host[root] == NONE)
    {
      const Value *value = VALUE (planner->program, root);
      guint8 memory = _gantry_planner_memory_of (planner, root);
      guint32 l = _gantry_planner_add_range (planner, root, 0, memory != GANTRY_MEMORY_DEVICE ? memory : planner->memory[root], at);

      RANGE (planner, l)->fixed = planner->program->resident && (value->kind == VALUE_INPUT || value->result);
      RANGE (planner, l)->kept = value->result;
      planner->in_host[root] = l;
    }
  return planner->in_host[root];
}

/* Copies value @unit, which lies at @from_offset of range @from, to where @root lives. */
static void
evict (GantryPlanner *planner, guint32 from, guint64 from_offset, guint32 unit, guint32 root, guint64 to_offset, guint32 at)
{
  Copy copy = { .from = from,
                .unit = unit,
                .from_offset = from_offset,
                .to_offset = to_offset,
                .at = at,
                .ready = at,
                .queue = GANTRY_QUEUE_TO_HOST,
                .after = NONE,
                .next_release = NONE };

  copy.bytes = VALUE (planner->program, unit)->bytes;
  copy.to = host_range (planner, root, at);
  copy.us = gantry_target_predict_copy_us (&planner->target, copy.bytes);
  planner->evicted[root] = planner->evictions->len;
  g_array_append_val (planner->evictions, copy);
}

/* Has the result that is donated to the input of @unit been copied over it already? */
static gboolean
value_is_gone (const GantryPlanner *planner, guint32 unit)
{
  guint32 donated = VALUE (planner->program, VALUE (planner->program, unit)->root)->donated;

  if (donated == NONE || planner->evicted[donated] == NONE)
    return FALSE;
  for (guint32 k = 0; k < planner->writers.n[unit]; k++)
    if (planner->device_range[g_array_index (planner->writers.values, guint32, planner->writers.first[unit] + k)] != NONE)
      return TRUE;
  return FALSE;
}

/* The instance on the device of a unit that lives in the host. It stays from one use to the next where there would hardly be time
 * to fetch it again. */
static guint32
fetch (GantryPlanner *planner, guint32 unit, guint32 at, gboolean once)
{
  const Value *value = VALUE (planner->program, unit);
  Copy copy = {
    .unit = unit, .from_offset = value->offset, .at = at, .ready = at, .bytes = value->bytes, .queue = GANTRY_QUEUE_TO_DEVICE, .next_release = NONE
  };
  guint32 l = planner->again[unit];

  copy.us = gantry_target_predict_copy_us (&planner->target, copy.bytes);
  if (l != NONE
      && (once
          || (planner->narrow ? RANGE (planner, l)->last_use == at
                              : START_US (planner, at) - START_US (planner, RANGE (planner, l)->last_use + 1) < 2 * copy.us)))
    return l;
  copy.from = host_range (planner, value->root, 0);
  _gantry_planner_extend (planner, copy.from, at);
  copy.after = planner->evicted[value->root];
  if (VALUE (planner->program, value->root)->kind != VALUE_INPUT)
    copy.earliest = RANGE (planner, copy.from)->begin + (copy.after == NONE);
  copy.to = planner->again[unit] = _gantry_planner_add_range (planner, unit, 1, GANTRY_MEMORY_DEVICE, at);
  g_array_append_val (planner->fetches, copy);
  if (value->kind == VALUE_INPUT && value_is_gone (planner, unit))
    planner->late_donation[value->root] = TRUE;
  return copy.to;
}

/* A copy to the host, as a schedule says. */
static void
spill (GantryPlanner *planner, guint32 v)
{
  guint32 from = planner->again[v] != NONE ? planner->again[v] : planner->device_range[v];

  evict (planner, from, 0, v, v, 0, planner->line->len);
}

/* The place of what leaves is free from here on: who takes it waits for the copy. */
static void
release (GantryPlanner *planner, guint32 v)
{
  Copy *copy = EVICTION (planner, planner->evicted[v]);
  LiveRange *from = RANGE (planner, copy->from);

  copy->scheduled = TRUE;
  from->released = TRUE;
  from->end = MAX (from->last_use, planner->line->len - 1);
}

/* A copy to the device, as a schedule says. */
static void
prefetch (GantryPlanner *planner, guint32 v)
{
  guint32 at = planner->line->len;
  Copy copy = { .unit = v,
                .at = at,
                .earliest = at,
                .ready = NONE,
                .bytes = VALUE (planner->program, v)->bytes,
                .queue = GANTRY_QUEUE_TO_DEVICE,
                .after = planner->evicted[v],
                .next_release = NONE,
                .scheduled = TRUE };

  copy.us = gantry_target_predict_copy_us (&planner->target, copy.bytes);
  copy.from = host_range (planner, v, at);
  _gantry_planner_extend (planner, copy.from, at);
  copy.to = planner->again[v] = _gantry_planner_add_range (planner, v, 1, GANTRY_MEMORY_DEVICE, at);
  planner->fetched[v] = planner->fetches->len;
  g_array_append_val (planner->fetches, copy);
}

/* The instance of what a schedule copies: the one that was made or fetched last. */
static guint32
resolve_copied (GantryPlanner *planner, guint32 v, guint32 at)
{
  guint32 l = planner->again[v] != NONE ? planner->again[v] : planner->device_range[v], f = planner->fetched[v];

  if (f != NONE && FETCH (planner, f)->to == l)
    FETCH (planner, f)->ready = MIN (FETCH (planner, f)->ready, at);
  return l;
}

/* Which instance a work that runs at @at reads. @late: it belongs to the backward phase, or runs once more */
static guint32
resolve (GantryPlanner *planner, guint32 unit, guint32 at, gboolean late)
{
  const Value *value = VALUE (planner->program, unit);
  guint32 again = planner->again[unit];
  gboolean candidate = planner->candidate_of[value->root] >= 0;

  if (value_is_constant (value))
    return NONE;
  /* The forward phase reads what is exact, however long that must stay. */
  if (!late && planner->compresses && planner->rounded[unit] && planner->device_range[unit] != NONE)
    return planner->device_range[unit];
  if (planner->copies[unit])
    return resolve_copied (planner, unit, at);
  if (value->kind != VALUE_COMPUTED || planner->device_range[unit] == NONE)
    return _gantry_planner_in_host (planner, value->root) ? fetch (planner, unit, at, FALSE) : planner->device_range[unit];
  if (planner->kind[unit] == GANTRY_PLACEMENT_OFFLOAD && !value->result)
    return late || again != NONE ? fetch (planner, unit, at, TRUE) : planner->device_range[unit];
  if (late && planner->compresses && _gantry_planner_compresses (planner, unit))
    return planner->restored[unit];
  if (again != NONE && (!candidate || planner->kind[unit] == GANTRY_PLACEMENT_RECOMPUTE || planner->schedule->len > 0))
    return again;
  return planner->device_range[unit];
}

static void
place_made (GantryPlanner *planner, guint32 v, guint32 l, guint32 at)
{
  const Value *value = VALUE (planner->program, v);
  guint32 group = value->group;

  planner->device_range[v] = l;
  if (planner->unmade[v])
    return;
  if (group != NONE && !_gantry_planner_in_host (planner, group))
    {
      if (planner->device_range[group] == NONE)
        {
          planner->device_range[group] = _gantry_planner_add_range (planner, group, 0, GANTRY_MEMORY_DEVICE, at);
          RANGE (planner, planner->device_range[group])->fixed = VALUE (planner->program, group)->result;
        }
      RANGE (planner, l)->inside = planner->device_range[group];
      RANGE (planner, planner->device_range[group])->kept |= value->result;
      _gantry_planner_extend (planner, l, at);
    }
  else if (group != NONE && planner->copy_at_end[group])
    RANGE (planner, l)->kept = TRUE; /* copied at the end */
  else if (group != NONE)
    evict (planner, l, 0, v, group, value->group_offset, at + 1);
  else if (RANGE (planner, l)->memory != GANTRY_MEMORY_DEVICE)
    {
      planner->in_host[v] = l;
      planner->device_range[v] = NONE;
      RANGE (planner, l)->fixed = planner->program->resident && value->result;
      RANGE (planner, l)->kept = value->result;
    }
  else if (_gantry_planner_in_host (planner, v) && planner->copy_at_end[v])
    RANGE (planner, l)->kept = TRUE; /* copied at the end */
  else if (_gantry_planner_in_host (planner, v)
           || (planner->kind[v] == GANTRY_PLACEMENT_OFFLOAD && !value->result && !planner->copies[v] && !_gantry_planner_loops_leave (planner, v)))
    evict (planner, l, 0, v, v, 0, at + 1);
  else if (value->result)
    {
      RANGE (planner, l)->fixed = planner->program->resident;
      RANGE (planner, l)->kept = TRUE;
    }
}

static void
emit (GantryPlanner *planner, guint32 w, guint8 instance)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);
  gboolean copy = work_node (program, work)->op == GANTRY_OP_COPY, late = instance > 0 || work->phase != GANTRY_PHASE_FORWARD;
  guint32 at;
  Run run = { .work = w, .instance = instance };
  guint64 streamed;
  double next;
  gboolean rounded = FALSE;
  const Loop *loop = planner->loop[w];

  _gantry_planner_convert_before (planner, work, late);
  at = planner->line->len;
  run.first_use = planner->use_range->len;
  next = START_US (planner, at) + planner->cost_us[w] + _gantry_planner_loop_us (planner, w) + _gantry_planner_stream_us (planner, w, &streamed);
  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 unit = USE (program, work, k), root = VALUE (program, unit)->root, l;

      if (loop != NULL && loop->unread[k])
        {
          l = add_absent (planner, unit, at);
          g_array_append_val (planner->use_range, l);
          continue;
        }

      /* A copy within the host, or to a result, reads where it lies. */
      if (copy && !value_is_constant (VALUE (program, unit)) && _gantry_planner_in_host (planner, root))
        l = host_range (planner, root, at);
      else if (_gantry_planner_streams (planner, root))
        l = planner->in_host[root];
      else
        l = resolve (planner, unit, at, late);
      if (l != NONE)
        _gantry_planner_extend (planner, l, at);
      rounded = rounded || (late && planner->compresses && _gantry_planner_reads_rounded (planner, unit, l));
      g_array_append_val (planner->use_range, l);
    }
  run.first_range = planner->ranges->len;
  for (guint32 k = 0; k < work->n_values; k++)
    _gantry_planner_add_range (planner, work->first_value + k, instance,
                               copy            ? VALUE (program, work->first_value + k)->memory
                               : instance == 0 ? _gantry_planner_stream_memory (planner, work->first_value + k)
                                               : GANTRY_MEMORY_DEVICE,
                               at);
  for (guint32 k = 0; k < work->n_values; k++)
    if (planner->unmade[work->first_value + k])
      RANGE (planner, run.first_range + k)->bytes = 0;
  for (guint32 k = 0; k < work->n_values; k++)
    if (instance == 0)
      place_made (planner, work->first_value + k, run.first_range + k, at);
    else
      {
        planner->again[work->first_value + k] = run.first_range + k;
        planner->rounded[work->first_value + k] = rounded;
      }
  g_array_append_val (planner->line, run);
  g_array_append_val (planner->start_us, next);
  if (instance == 0)
    _gantry_planner_convert_after (planner, work);
}

/* An explicit copy out of the device: nothing that the compute queue does. */
static void
emit_to_host (GantryPlanner *planner, const Work *work)
{
  const Program *program = planner->program;
  gboolean late = work->phase != GANTRY_PHASE_FORWARD;
  guint32 unit = USE (program, work, 0), at, v = work->first_value, from;
  guint32 operand = _gantry_program_operand (program, work_node (program, work), 0);

  _gantry_planner_convert_before (planner, work, late);
  at = planner->line->len;
  from = resolve (planner, unit, at, late);
  evict (planner, from, VALUE (program, operand)->offset - VALUE (program, unit)->offset, v, v, 0, at);
}

/* A value of the forward phase that is needed at place @position of the order, but is not there any more? */
static gboolean
is_gone (const GantryPlanner *planner, guint32 unit, guint32 position)
{
  const Value *value = VALUE (planner->program, unit);
  const Work *work;

  if (value->kind != VALUE_COMPUTED || planner->again[unit] != NONE || planner->rematerialized[value->maker] || planner->n_scheduled[value->maker] > 1)
    return FALSE;
  work = WORK (planner->program, value->maker);
  if (work->effect || work->phase != GANTRY_PHASE_FORWARD || value->memory != GANTRY_MEMORY_DEVICE)
    return FALSE;
  if (planner->candidate_of[unit] >= 0)
    return planner->kind[unit] == GANTRY_PLACEMENT_RECOMPUTE && !planner->again_in_loops[unit];
  return (planner->schedule->len > 0 ? planner->scheduled_last : planner->base_last)[unit] < position && !value->result && planner->decider[unit] == G_MAXUINT8;
}

/* Bytes of what loops would have to make once more so that @unit is made again. @effort: (inout): values that may be looked at; what is
 * farther away is not asked for */
static guint64
bytes_of_loops (const GantryPlanner *planner, guint32 unit, guint32 position, guint *effort)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, VALUE (program, unit)->maker);
  guint16 op = work_node (program, work)->op;
  guint64 bytes = 0;

  if (op == GANTRY_OP_SCAN || op == GANTRY_OP_WHILE)
    return VALUE (program, unit)->bytes;
  for (guint32 k = 0; k < work->n_uses && (*effort) > 0; k++)
    {
      --*effort;
      if (is_gone (planner, USE (program, work, k), position))
        bytes += bytes_of_loops (planner, USE (program, work, k), position, effort);
    }
  return bytes;
}

/* Whether @unit has to be made again for what runs at @position. No loop runs once more for what nobody has placed: of what it made, and of
 * what was made of that, the smaller is kept. */
static gboolean
must_rematerialize (const GantryPlanner *planner, guint32 unit, guint32 position)
{
  guint effort = MOST_LOOKED_AT;
  guint64 bytes;

  if (!is_gone (planner, unit, position) || planner->candidate_of[unit] >= 0 || planner->program->regions->len == 0)
    return is_gone (planner, unit, position);
  bytes = bytes_of_loops (planner, unit, position, &effort);
  return bytes == 0 || VALUE (planner->program, unit)->bytes > bytes;
}

/* Runs the maker of @unit once more, and before that what it needs and is gone. */
static void
rematerialize (GantryPlanner *planner, guint32 unit, guint32 position)
{
  const Program *program = planner->program;
  Frame frame = { VALUE (program, unit)->maker, 0 };

  g_array_set_size (planner->stack, 0);
  g_array_append_val (planner->stack, frame);
  planner->rematerialized[frame.work] = TRUE;
  while (planner->stack->len > 0)
    {
      Frame *top = &g_array_index (planner->stack, Frame, planner->stack->len - 1);
      const Work *work = WORK (program, top->work);

      if (top->next < work->n_uses)
        {
          guint32 use = USE (program, work, top->next++);

          if (!must_rematerialize (planner, use, position))
            continue;
          frame = (Frame){ VALUE (program, use)->maker, 0 };
          planner->rematerialized[frame.work] = TRUE;
          g_array_append_val (planner->stack, frame);
          continue;
        }
      emit (planner, top->work, 1);
      g_array_set_size (planner->stack, planner->stack->len - 1);
    }
}

static void
begin (GantryPlanner *planner)
{
  const Program *program = planner->program;
  guint32 n = program->values->len;
  double zero = 0;

  memset (planner->device_range, 0xff, n * sizeof (guint32));
  memset (planner->again, 0xff, n * sizeof (guint32));
  memset (planner->in_host, 0xff, n * sizeof (guint32));
  memset (planner->evicted, 0xff, n * sizeof (guint32));
  memset (planner->fetched, 0xff, n * sizeof (guint32));
  memset (planner->rematerialized, 0, program->works->len);
  memset (planner->made, 0, program->works->len);
  memset (planner->late_donation, 0, n);
  _gantry_planner_begin_compression (planner);
  g_array_set_size (planner->line, 0);
  g_array_set_size (planner->start_us, 0);
  g_array_append_val (planner->start_us, zero);
  g_array_set_size (planner->use_range, 0);
  g_array_set_size (planner->ranges, 0);
  g_array_set_size (planner->evictions, 0);
  g_array_set_size (planner->fetches, 0);
  g_array_set_size (planner->last_copies, 0);
  for (guint32 i = 0; i < program->first_unit[n]; i++)
    {
      guint32 v = program->units[i];
      const Value *value = VALUE (program, v);

      if (_gantry_planner_in_host (planner, value->root))
        {
          host_range (planner, value->root, 0);
          continue;
        }
      planner->device_range[v] = _gantry_planner_add_range (planner, v, 0, GANTRY_MEMORY_DEVICE, 0);
      RANGE (planner, planner->device_range[v])->fixed = program->resident;
      RANGE (planner, planner->device_range[v])->kept = value->result;
    }
}

/* Why a result cannot be written over the argument that is donated to it, the worst last. */
enum
{
  HOLDS,
  READ_BY_MAKER,
  READ_LATER
};

/* The step that makes @v, a result or part of one, must not write over what is still read of the argument donated to it. */
static guint8
writes_too_early (const GantryPlanner *planner, guint32 v)
{
  guint32 at = RANGE (planner, planner->device_range[v])->begin;
  guint8 why = HOLDS;

  for (guint32 k = 0; k < planner->units.n[v]; k++)
    {
      guint32 u = g_array_index (planner->units.values, guint32, planner->units.first[v] + k);
      guint32 last = planner->device_range[u] != NONE ? RANGE (planner, planner->device_range[u])->last_use : 0;

      if (last > at)
        return READ_LATER;
      if (last == at && !planner->in_place_donation[v])
        why = READ_BY_MAKER;
    }
  return why;
}

static guint8
check_donation (const GantryPlanner *planner, guint32 result)
{
  const Program *program = planner->program;
  const Value *root = VALUE (program, result);
  guint8 why = HOLDS;

  if (root->kind == VALUE_COMPUTED)
    return writes_too_early (planner, result);
  for (guint32 k = 0; k < root->n_parts; k++)
    {
      guint8 part = writes_too_early (planner, g_array_index (program->parts, guint32, root->first_part + k));

      why = MAX (why, part);
    }
  return why;
}

static void
add_problem (GantryPlanner *planner, guint32 input, guint8 why)
{
  GantryPlacementProblem problem = { VALUE (planner->program, input)->node, planner->kind[input], planner->kind[input] };

  problem.reason = (char *) (why == READ_LATER ? "it is still read after the result that it is donated to is made: the result "
                                                 "is copied over it at the end"
                                               : "what makes the result that it is donated to reads it beside writing: the result "
                                                 "is copied over it at the end");

  g_array_append_val (planner->problems, problem);
}

static void
end_copied (GantryPlanner *planner, guint32 input, guint32 result)
{
  const Program *program = planner->program;
  const Value *root = VALUE (program, result);

  add_problem (planner, input, READ_LATER);
  if (root->kind == VALUE_COMPUTED)
    evict (planner, planner->device_range[result], 0, result, result, 0, planner->line->len);
  for (guint32 k = 0; k < root->n_parts; k++)
    {
      guint32 part = g_array_index (program->parts, guint32, root->first_part + k);

      evict (planner, planner->device_range[part], 0, part, result, VALUE (program, part)->group_offset, planner->line->len);
    }
}

/* A result that cannot be written over its argument has a place of its own, and is copied at the end. */
static void
end_donations (GantryPlanner *planner)
{
  const Program *program = planner->program;

  for (guint32 i = 0; i < planner->donated->len; i++)
    {
      guint32 input = g_array_index (planner->donated, guint32, i), result = VALUE (program, input)->donated, at;
      guint32 l = planner->device_range[result];
      Run run = { NONE, planner->use_range->len, 0, 0, RUN_LAST_COPY };
      double next;
      guint8 why;

      if (_gantry_planner_in_host (planner, input))
        {
          if (planner->copy_at_end[result])
            end_copied (planner, input, result);
          continue;
        }
      why = l != NONE ? check_donation (planner, result) : HOLDS;
      if (why == HOLDS)
        continue;
      add_problem (planner, input, why);
      at = planner->line->len;
      RANGE (planner, l)->fixed = FALSE;
      RANGE (planner, l)->kept = TRUE;
      _gantry_planner_extend (planner, l, at);
      next = START_US (planner, at) + gantry_target_predict_us (&planner->target, 0, (gint64) (2 * RANGE (planner, l)->bytes));
      g_array_append_val (planner->last_copies, result);
      g_array_append_val (planner->use_range, l);
      g_array_append_val (planner->line, run);
      g_array_append_val (planner->start_us, next);
    }
}

/* Would a work have to fetch it? Then a copy of it is a step of the compute queue, after the fetch. */
static gboolean
is_away (const GantryPlanner *planner, guint32 unit)
{
  guint32 root = VALUE (planner->program, unit)->root;

  return _gantry_planner_in_host (planner, root) || (planner->kind[root] == GANTRY_PLACEMENT_OFFLOAD && !VALUE (planner->program, root)->result);
}

/* A work that the schedule runs once more: not where what it makes was said to stay, or to come back from the host. */
static gboolean
is_superfluous (const GantryPlanner *planner, guint32 w)
{
  const Work *work = WORK (planner->program, w);

  for (guint32 k = 0; k < work->n_values; k++)
    if (planner->decider[work->first_value + k] != G_MAXUINT8 && !planner->copies[work->first_value + k]
        && planner->kind[work->first_value + k] != GANTRY_PLACEMENT_RECOMPUTE)
      return TRUE;
  return FALSE;
}

/* Runs @w, which stands at @position of the order. */
static void
walk_work (GantryPlanner *planner, guint32 w, guint32 position)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);

  if (planner->made[w])
    {
      if (!is_superfluous (planner, w))
        emit (planner, w, 1);
      return;
    }
  planner->made[w] = TRUE;
  for (guint32 k = 0; work->phase != GANTRY_PHASE_FORWARD && k < work->n_uses; k++)
    if ((planner->loop[w] == NULL || !planner->loop[w]->unread[k]) && must_rematerialize (planner, USE (program, work, k), position))
      rematerialize (planner, USE (program, work, k), position);
  if (work->to_host && !is_away (planner, USE (program, work, 0)))
    emit_to_host (planner, work);
  else
    emit (planner, w, 0);
}

static void
walk_schedule (GantryPlanner *planner)
{
  for (guint32 i = 0; i < planner->schedule->len; i++)
    {
      const Scheduled *entry = &g_array_index (planner->schedule, Scheduled, i);

      switch (entry->action)
        {
        case GANTRY_SCHEDULE_SPILL: spill (planner, entry->of); break;
        case GANTRY_SCHEDULE_RELEASE: release (planner, entry->of); break;
        case GANTRY_SCHEDULE_PREFETCH: prefetch (planner, entry->of); break;
        default: walk_work (planner, entry->of, i);
        }
    }
}

static void
walk (GantryPlanner *planner)
{
  begin (planner);
  if (planner->schedule->len > 0)
    walk_schedule (planner);
  else
    for (guint32 i = 0; i < planner->n_order; i++)
      walk_work (planner, planner->order[i], i);
  end_donations (planner);
  for (guint32 i = 0; i < planner->ranges->len; i++)
    if (RANGE (planner, i)->kept)
      RANGE (planner, i)->end = MAX (planner->line->len, 1) - 1;
}

void
_gantry_planner_walk (GantryPlanner *planner)
{
  const Program *program = planner->program;
  gboolean again = FALSE;

  memset (planner->copy_at_end, 0, program->values->len);
  walk (planner);
  for (guint32 i = 0; i < planner->donated->len; i++)
    {
      guint32 input = g_array_index (planner->donated, guint32, i);

      if (planner->late_donation[input])
        again = planner->copy_at_end[VALUE (program, input)->donated] = TRUE;
    }
  if (again)
    walk (planner);
}
