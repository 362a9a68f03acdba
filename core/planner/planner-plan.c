/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a question that was asked down as a plan: buffers for every instance, and what each step reads and writes. */
#include "core/graph/region.h"
#include "core/planner/writer-private.h"

/* Steps stand as they were simulated: copies out before copies in before the work. */
static void
number_steps (Writer *w)
{
  GantryPlanner *planner = w->planner;
  guint32 n = planner->line->len, step = w->n_init, e = 0, f = 0;

  for (guint32 at = 0; at <= n; at++)
    {
      for (; e < planner->evictions->len && EVICTION (planner, e)->at <= at; e++)
        w->eviction_step[e] = step++;
      for (; f < planner->fetches->len && FETCH (planner, f)->at <= at; f++)
        w->fetch_step[f] = step++;
      w->step_of[at] = at < n ? step++ : step;
    }
  w->n_steps = step;
  w->last = MAX (step, w->n_init + 1) - 1;
  g_assert (step == planner->own->steps->len);
}

static void
number_ranges (Writer *w)
{
  GantryPlanner *planner = w->planner;

  for (guint32 i = 0; i < planner->ranges->len; i++)
    {
      const LiveRange *range = RANGE (planner, i);
      gboolean given = VALUE (planner->program, range->unit)->kind == VALUE_INPUT && range->instance == 0;

      w->begin[i] = given ? w->n_init : w->step_of[range->begin];
      w->end[i] = range->kept || range->fixed ? w->last : MIN (w->step_of[range->end], w->last);
      w->buffer[i] = NONE;
    }
  /* What a copy writes is there from that step on; what it reads must still be there. */
  for (guint32 i = planner->evictions->len; i-- > 0;)
    {
      const Copy *copy = EVICTION (planner, i);

      if (VALUE (planner->program, RANGE (planner, copy->to)->unit)->kind != VALUE_INPUT)
        w->begin[copy->to] = w->eviction_step[i];
      w->end[copy->to] = MAX (w->end[copy->to], w->eviction_step[i]);
      w->end[copy->from] = MAX (w->end[copy->from], w->eviction_step[i]);
    }
  for (guint32 i = 0; i < planner->fetches->len; i++)
    {
      const Copy *copy = FETCH (planner, i);

      w->begin[copy->to] = w->fetch_step[i];
      w->end[copy->from] = MAX (w->end[copy->from], w->fetch_step[i]);
    }
}

static guint8
role_of (const Writer *w, guint32 v)
{
  const Program *program = w->planner->program;
  const Value *root = VALUE (program, VALUE (program, v)->root);
  gint32 candidate = w->planner->candidate_of[VALUE (program, v)->root];
  guint8 subject = candidate >= 0 ? g_array_index (w->planner->candidates, GantryCandidate, (guint) candidate).subject : GANTRY_SUBJECT_NONE;

  if (root->kind != VALUE_INPUT && root->donated != NONE)
    return role_of (w, root->donated);
  switch (subject)
    {
    case GANTRY_SUBJECT_PARAMETER: return GANTRY_ROLE_PARAMETER;
    case GANTRY_SUBJECT_STATE: return GANTRY_ROLE_STATE;
    case GANTRY_SUBJECT_INPUT: return GANTRY_ROLE_INPUT;
    case GANTRY_SUBJECT_RESIDUAL: return GANTRY_ROLE_RESIDUAL;
    default: break;
    }
  if (root->phase == GANTRY_PHASE_BACKWARD)
    return GANTRY_ROLE_GRADIENT;
  return subject == GANTRY_SUBJECT_OUTPUT ? GANTRY_ROLE_OUTPUT : GANTRY_ROLE_OTHER;
}

static guint8
category_of (const Writer *w, const Value *value)
{
  const Value *root = VALUE (w->planner->program, value->root);

  if (value_is_constant (root))
    return GANTRY_BUFFER_CONSTANT;
  if (value->returned && (value->kind != VALUE_INPUT || value->base != NONE))
    return GANTRY_BUFFER_OUTPUT;
  return root->kind == VALUE_INPUT ? GANTRY_BUFFER_INPUT : GANTRY_BUFFER_TEMPORARY;
}

static void
write_root (Writer *w, guint32 v, GantryPlanBuffer *buffer)
{
  GantryPlanner *planner = w->planner;
  const Value *value = VALUE (planner->program, v);
  guint32 l = _gantry_planner_main_range (planner, v);
  const LiveRange *range = l != NONE ? RANGE (planner, l) : NULL;

  buffer->begin = l != NONE ? w->begin[l] : w->n_init;
  buffer->end = l != NONE ? w->end[l] : w->last;
  buffer->memory = l != NONE ? range->memory : GANTRY_MEMORY_DEVICE;
  if (l != NONE)
    w->buffer[l] = v;
  if (value->kind == VALUE_INPUT && planner->program->resident)
    buffer->end = w->last;
  if (value->kind != VALUE_INPUT && value->donated != NONE && (range == NULL || range->fixed))
    {
      buffer->shares = value->donated;
      buffer->in_place = TRUE;
    }
  else if (range != NULL && range->fixed && value->kind != VALUE_INPUT)
    buffer->begin = w->n_init;
  else if (range != NULL && range->inside != NONE)
    w->relative[v] = value->group_offset;
}

static void
write_constant (Writer *w, guint32 v, GantryPlanBuffer *buffer)
{
  const Value *value = VALUE (w->planner->program, v);

  buffer->region = value->kind == VALUE_LITERAL ? GANTRY_REGION_LITERAL : GANTRY_REGION_CONSTANT;
  buffer->offset = value->root == v ? w->constants->offset[v] : 0;
  buffer->begin = w->constants->begin[value->root];
  buffer->end = w->constants->end[value->root];
  if (value->base == NONE && w->constants->over[v] != NONE)
    {
      buffer->shares = w->constants->over[v];
      buffer->in_place = TRUE;
    }
}

/* One buffer for each value, under the value's index. */
static void
write_value (Writer *w, guint32 v)
{
  GantryPlanner *planner = w->planner;
  const Value *value = VALUE (planner->program, v);
  GantryPlanBuffer *buffer = BUFFER (w, v);

  buffer->node = value->node;
  buffer->member = value->member;
  buffer->category = category_of (w, value);
  buffer->role = role_of (w, v);
  buffer->pieces = VALUE (planner->program, value->root)->kind == VALUE_PIECES;
  buffer->size = planner->unmade[value->root] || buffer->pieces ? 0 : value->bytes;
  buffer->shares = value->base;
  /* A view of a filled place is not filled again. */
  buffer->literal = value->kind == VALUE_LITERAL || value->base == NONE ? value->literal : 0;
  if (value_is_constant (value))
    write_constant (w, v, buffer);
  else if (value->root == v)
    write_root (w, v, buffer);
  else
    {
      guint32 l = value->unit == v ? planner->device_range[v] : NONE;
      GantryPlanBuffer root = *BUFFER (w, value->root);

      buffer->begin = root.begin;
      buffer->end = root.end;
      buffer->memory = root.memory;
      w->relative[v] = value->offset - VALUE (planner->program, value->base)->offset;
      if (l != NONE) /* its part of an argument on the device */
        w->buffer[l] = v;
    }
}

guint32
_gantry_writer_add_buffer (Writer *w, GantryPlanBuffer buffer, guint64 relative)
{
  g_array_append_val (w->buffers, buffer);
  w->relative = g_renew (guint64, w->relative, w->buffers->len);
  w->relative[w->buffers->len - 1] = relative;
  return w->buffers->len - 1;
}

/* Instances that no value's buffer stands for. */
static void
write_ranges (Writer *w)
{
  GantryPlanner *planner = w->planner;

  for (guint32 l = 0; l < planner->ranges->len; l++)
    {
      const LiveRange *range = RANGE (planner, l);
      const Value *value = VALUE (planner->program, range->unit);
      GantryPlanBuffer buffer = { .node = value->node,
                                  .member = value->member,
                                  .memory = range->memory,
                                  .instance = range->instance,
                                  .stored = range->stored,
                                  .shares = GANTRY_NO_BUFFER,
                                  .size = range->bytes,
                                  .begin = w->begin[l],
                                  .end = w->end[l] };

      if (w->buffer[l] != NONE)
        continue;
      buffer.category = value->kind == VALUE_INPUT ? GANTRY_BUFFER_INPUT : GANTRY_BUFFER_TEMPORARY;
      buffer.role = role_of (w, range->unit);
      w->buffer[l] = _gantry_writer_add_buffer (w, buffer, range->inside != NONE ? value->group_offset : 0);
    }
  for (guint32 l = 0; l < planner->ranges->len; l++)
    {
      const LiveRange *range = RANGE (planner, l);
      GantryPlanBuffer *buffer = BUFFER (w, w->buffer[l]);

      if (range->inside != NONE)
        buffer->shares = w->buffer[range->inside];
      else if (range->over != NONE)
        {
          buffer->shares = w->buffer[range->over];
          buffer->in_place = TRUE;
        }
    }
}

/* Refs */

/* The buffer of [@offset, @offset + @bytes) of a range, named after value @v. */
static guint32
part_of (Writer *w, guint32 l, guint32 v, guint64 offset, guint64 bytes)
{
  const Program *program = w->planner->program;
  const LiveRange *range = RANGE (w->planner, l);
  GantryPlanBuffer buffer = *BUFFER (w, w->buffer[l]);
  gpointer known;
  g_autofree char *key = NULL;

  if ((offset == 0 && bytes == range->bytes) || range->bytes == 0)
    return w->buffer[l];
  /* The value's own buffer lies there. */
  if (w->buffer[l] == range->unit && VALUE (program, v)->root == VALUE (program, range->unit)->root
      && VALUE (program, v)->offset == VALUE (program, range->unit)->offset + offset && VALUE (program, v)->bytes == bytes)
    return v;
  key = g_strdup_printf ("%u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, l, offset, bytes);
  if (g_hash_table_lookup_extended (w->parts, key, NULL, &known))
    return GPOINTER_TO_UINT (known);
  buffer.node = VALUE (program, v)->node;
  buffer.member = VALUE (program, v)->member;
  buffer.shares = w->buffer[l];
  buffer.in_place = FALSE;
  buffer.size = bytes;
  known = GUINT_TO_POINTER (_gantry_writer_add_buffer (w, buffer, offset));
  g_hash_table_insert (w->parts, g_steal_pointer (&key), known);
  return GPOINTER_TO_UINT (known);
}

/* The buffer in which @work has value @v. */
static guint32
value_ref (Writer *w, const Work *work, guint32 v, const guint32 *use_range)
{
  const Program *program = w->planner->program;
  const Value *value = VALUE (program, v);
  guint32 k = 0;

  if (value_is_constant (value))
    return value->root;
  if (value->kind == VALUE_PIECES)
    return v;
  while (k < work->n_uses && USE (program, work, k) != value->unit)
    k++;
  g_assert (k < work->n_uses && use_range[k] != NONE);
  return part_of (w, use_range[k], v, value->offset - VALUE (program, RANGE (w->planner, use_range[k])->unit)->offset, value->bytes);
}

static guint32
operand_ref (Writer *w, const Work *work, const GantryNode *node, guint i, const guint32 *use_range)
{
  const Program *program = w->planner->program;
  const GantryNode *operand = gantry_node_operand (program->module, node, i);

  if (operand == NULL || gantry_node_type (program->module, operand)->kind == GANTRY_TYPE_TOKEN)
    return GANTRY_NO_BUFFER;
  return value_ref (w, work, _gantry_program_value_of (program, operand), use_range);
}

static void
add_ref (Writer *w, guint32 buffer)
{
  g_array_append_val (w->refs, buffer);
}

static void
add_workspace (Writer *w, const Work *work, guint32 step)
{
  guint64 bytes = _gantry_planner_workspace (w->planner, (guint32) (work - WORK (w->planner->program, 0)));
  const GantryPlanBuffer buffer = { .node = work_node (w->planner->program, work)->id,
                                    .category = GANTRY_BUFFER_WORKSPACE,
                                    .role = GANTRY_ROLE_WORKSPACE,
                                    .memory = GANTRY_MEMORY_DEVICE,
                                    .region = work->init ? GANTRY_REGION_CONSTANT : GANTRY_REGION_ARENA,
                                    .shares = GANTRY_NO_BUFFER,
                                    .size = bytes,
                                    .begin = step,
                                    .end = step,
                                    .offset = work->init ? w->planner->constants->workspace_offset[step] : 0 };

  if (bytes > 0)
    add_ref (w, _gantry_writer_add_buffer (w, buffer, 0));
}

/* Those that operand @v (NONE: none) has. */
static void
add_pieces (Writer *w, const Work *work, guint32 v, const guint32 *use_range)
{
  const Value *value = v != NONE ? VALUE (w->planner->program, v) : NULL;

  for (guint32 k = 0; value != NULL && value->kind == VALUE_PIECES && k < value->n_parts; k++)
    add_ref (w, value_ref (w, work, value_part (w->planner->program, value, k), use_range));
}

static void
write_work (Writer *w, const Work *work, guint32 first_made, const guint32 *use_range, guint32 s)
{
  const GantryNode *node = work_node (w->planner->program, work);
  GantryPlanStep *step = &w->plan->steps[s];

  step->first_ref = w->refs->len;
  for (guint i = 0; i < node->n_operands; i++)
    add_ref (w, operand_ref (w, work, node, i, use_range));
  for (guint i = 0; i < node->n_operands; i++)
    add_pieces (w, work, _gantry_program_operand (w->planner->program, node, i), use_range);
  step->n_operands = w->refs->len - step->first_ref;
  for (guint32 k = 0; k < work->n_values; k++)
    add_ref (w, work->init ? work->first_value + k : w->buffer[first_made + k]);
  add_workspace (w, work, s);
  step->n_refs = w->refs->len - step->first_ref;
}

static void
write_copy (Writer *w, guint32 s, guint32 from, guint32 to)
{
  GantryPlanStep *step = &w->plan->steps[s];

  step->first_ref = w->refs->len;
  step->n_operands = 1;
  step->n_refs = 2;
  add_ref (w, from);
  add_ref (w, to);
}

static void
write_steps (Writer *w)
{
  GantryPlanner *planner = w->planner;
  guint32 last_copy = 0, e = 0, f = 0;

  for (guint32 s = 0; s < w->n_init; s++)
    write_work (w, WORK (planner->program, w->constants->works[s]), NONE, NULL, s);
  for (guint32 at = 0; at <= planner->line->len; at++)
    {
      const Run *run;

      for (; e < planner->evictions->len && EVICTION (planner, e)->at <= at; e++)
        {
          const Copy *copy = EVICTION (planner, e);

          write_copy (w, w->eviction_step[e], part_of (w, copy->from, copy->unit, copy->from_offset, copy->bytes),
                      part_of (w, copy->to, copy->unit, copy->to_offset, copy->bytes));
        }
      for (; f < planner->fetches->len && FETCH (planner, f)->at <= at; f++)
        {
          const Copy *copy = FETCH (planner, f);

          write_copy (w, w->fetch_step[f], part_of (w, copy->from, copy->unit, copy->from_offset, copy->bytes), w->buffer[copy->to]);
        }
      if (at == planner->line->len)
        break;
      run = RUN (planner, at);
      if (run->kind == RUN_CONVERT)
        write_copy (w, w->step_of[at], w->buffer[g_array_index (planner->use_range, guint32, run->first_use)], w->buffer[run->first_range]);
      else if (run->work == NONE)
        write_copy (w, w->step_of[at], w->buffer[g_array_index (planner->use_range, guint32, run->first_use)],
                    g_array_index (planner->last_copies, guint32, last_copy++));
      else
        write_work (w, WORK (planner->program, run->work), run->first_range, &g_array_index (planner->use_range, guint32, run->first_use), w->step_of[at]);
    }
}

/* One function may be the body of several loops, each of which is run in its own way. */
static void
write_regions (Writer *w)
{
  const Program *program = w->planner->program;
  g_autoptr (GArray) regions = g_array_new (TRUE, TRUE, sizeof (GantryPlanRegion));

  for (guint32 i = 0; i < program->works->len; i++)
    {
      const GantryNode *node = work_node (program, WORK (program, i));
      const Loop *loop = w->planner->scans->len > 0 ? w->planner->loop[i] : NULL;
      GantryControl control = { 0 };

      if (gantry_node_is_control (node))
        gantry_control_of (program->module, node, &control);
      for (guint r = 0; r < control.n_regions; r++)
        {
          GantryPlanRegion region = { .node = node->id, .function = control.functions[r] };

          region.plan = gantry_plan_ref (loop != NULL ? loop->plan : _gantry_program_region_plan (program, region.function));
          g_array_append_val (regions, region);
        }
    }
  w->plan->n_regions = regions->len;
  w->plan->regions = (GantryPlanRegion *) (gpointer) g_array_free (g_steal_pointer (&regions), FALSE);
}

static void
write_totals (Writer *w)
{
  const GantryPlanner *planner = w->planner;
  const GantryPrediction *prediction = planner->own;
  GantryPlan *plan = w->plan;

  plan->n_init_steps = w->n_init;
  plan->resident = planner->program->resident;
  for (guint m = 0; m < GANTRY_N_MEMORY_KINDS; m++)
    {
      plan->argument_bytes[m] = planner->argument_bytes[m];
      plan->output_bytes[m] = planner->output_bytes[m];
      plan->alias_bytes[m] = planner->alias_bytes[m];
    }
  plan->constant_bytes = planner->constants->bytes;
  plan->literal_bytes = planner->constants->literal_bytes + planner->program->region_bytes + (guint64) planner->loop_bytes;
  plan->packed_bytes = planner->beside.bytes[GANTRY_PART_PACKED_WEIGHTS];
  plan->code_bytes = planner->beside.bytes[GANTRY_PART_CODE];
  plan->sizes_known = planner->options.sizes != NULL && !planner->options.sizes->at_least;
  plan->kernels = g_strdup (planner->options.sizes != NULL ? planner->options.sizes->conditions : NULL);
  plan->target = g_strdup (planner->target.name);
  plan->total_us = prediction->step_us;
  plan->copied_bytes = prediction->copied_bytes;
  plan->recompute_us = prediction->recompute_us;
  plan->stall_us = prediction->stall_us;
  plan->slices_staged = planner->program->slices_staged;
  write_regions (w);
  plan->n_problems = planner->problems->len;
  plan->problems = g_new0 (GantryPlacementProblem, plan->n_problems + 1);
  for (guint32 i = 0; i < plan->n_problems; i++)
    {
      plan->problems[i] = g_array_index (planner->problems, GantryPlacementProblem, i);
      plan->problems[i].reason = g_strdup (plan->problems[i].reason);
    }
}

/* Now that all are named. */
static void
add_buffers (Writer *w)
{
  GantryPlan *plan = gantry_plan_new (w->n_steps, w->buffers->len);

  if (w->n_steps > 0)
    memcpy (plan->steps, w->plan->steps, w->n_steps * sizeof (GantryPlanStep));
  if (w->buffers->len > 0)
    memcpy (plan->buffers, w->buffers->data, w->buffers->len * sizeof (GantryPlanBuffer));
  gantry_plan_unref (w->plan);
  w->plan = plan;
}

static void
finish (Writer *w)
{
  GantryPlan *plan = w->plan;
  g_autoptr (GArray) waits = g_array_new (FALSE, FALSE, sizeof (guint32));

  _gantry_plan_find_waits (plan, w->refs, waits);
  gantry_plan_set_pools (plan, w->refs->len, waits->len);
  if (w->refs->len > 0)
    memcpy (plan->refs, w->refs->data, w->refs->len * sizeof (guint32));
  if (waits->len > 0)
    memcpy (plan->waits, waits->data, waits->len * sizeof (guint32));
}

GantryPlan *
_gantry_planner_write (GantryPlanner *planner, const GantryProgress *progress)
{
  const Program *program = planner->program;
  guint32 n_leases = planner->ranges->len;
  g_autofree guint32 *step_of = g_new0 (guint32, planner->line->len + 2), *begin = g_new0 (guint32, n_leases + 1);
  g_autofree guint32 *end = g_new0 (guint32, n_leases + 1), *buffer = g_new0 (guint32, n_leases + 1);
  g_autofree guint32 *eviction_step = g_new0 (guint32, planner->evictions->len + 1);
  g_autofree guint32 *fetch_step = g_new0 (guint32, planner->fetches->len + 1);
  Writer w = { .planner = planner,
               .constants = planner->constants,
               .step_of = step_of,
               .begin = begin,
               .end = end,
               .buffer = buffer,
               .eviction_step = eviction_step,
               .fetch_step = fetch_step,
               .n_init = program->n_init };

  g_assert (!planner->overlay_failed);
  w.buffers = g_array_new (FALSE, TRUE, sizeof (GantryPlanBuffer));
  w.refs = g_array_new (FALSE, FALSE, sizeof (guint32));
  w.parts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  w.relative = g_new0 (guint64, program->values->len + 1);
  g_array_set_size (w.buffers, program->values->len);
  number_steps (&w);
  number_ranges (&w);
  for (guint32 v = 0; v < program->values->len; v++)
    write_value (&w, v);
  write_ranges (&w);
  /* The steps are those of the prediction. */
  w.plan = gantry_plan_new (w.n_steps, 0);
  if (w.n_steps > 0)
    memcpy (w.plan->steps, planner->own->steps->data, w.n_steps * sizeof (GantryPlanStep));
  write_steps (&w);
  add_buffers (&w);
  write_totals (&w);
  _gantry_writer_pack (&w, progress);
  finish (&w);
  g_array_unref (w.buffers);
  g_array_unref (w.refs);
  g_hash_table_unref (w.parts);
  g_free (w.relative);
  return w.plan;
}
