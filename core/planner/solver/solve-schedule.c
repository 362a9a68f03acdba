/* SPDX-License-Identifier: Apache-2.0 */
/* The model that schedules are searched in, and the way from a schedule to an answer of the pool. */
#include "core/planner/solver/solve-schedule-private.h"
#include <string.h>

#define MOST_STATES 200000u
#define MOST_TRIMMED 300u /* runs that leaving out is tried of, at a time */
#define MOST_TASTED 500u  /* works: in larger programs a schedule takes long, and not all ways to choose are tried */
#define MOST_TRIES 3      /* of a limit below the one that is asked for */

void
_gantry_schedule_model_free (ScheduleModel *model)
{
  GArray **const arrays[] = { &model->works, &model->values, &model->reads, &model->makes, &model->overs, &model->afters };

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_array_unref (*arrays[i]);
  g_free (model->value_of);
  g_free (model->item_of);
  g_free (model->position);
  g_free (model);
}

/* What a click, or the goal, forbids to make again. */
static gboolean
must_stay (const ScheduleModel *model, guint32 root)
{
  const SolveProblem *problem = model->problem;
  const GantryPlanner *planner = problem->planner;
  const GantryPlacement *entry = problem->base != NULL ? gantry_placements_find (problem->base, VALUE (planner->program, root)->node) : NULL;
  gint32 candidate = planner->candidate_of[root];

  if ((problem->allowed >> GANTRY_PLACEMENT_RECOMPUTE & 1) == 0)
    return TRUE;
  if (entry != NULL && entry->decider == GANTRY_DECIDED_BY_CLICK && entry->kind != GANTRY_PLACEMENT_RECOMPUTE)
    return TRUE;
  return candidate >= 0 && (g_array_index (planner->candidates, GantryCandidate, (guint) candidate).allowed >> GANTRY_PLACEMENT_RECOMPUTE & 1) == 0;
}

/* Values that have a place of the arena of their own, groups as a whole. */
static void
add_values (ScheduleModel *model)
{
  const Program *program = model->problem->planner->program;

  for (guint32 v = 0; v < program->values->len; v++)
    {
      const Value *value = VALUE (program, v);
      ScheduleValue entry = { .bytes = gantry_place_bytes (value->bytes), .maker = NONE, .item = model->item_of[v] };

      model->value_of[v] = NONE;
      if (value->root != v || (value->kind != VALUE_COMPUTED && value->kind != VALUE_GROUP))
        continue;
      if (value->kind == VALUE_GROUP || value->group != NONE || value->memory != GANTRY_MEMORY_DEVICE)
        model->complete = FALSE;
      if (value->memory != GANTRY_MEMORY_DEVICE || (program->resident && value->result) || model->problem->planner->unmade[v]
          || (value->group != NONE && program->resident && VALUE (program, value->group)->result))
        entry.bytes = 0;
      if (value->group != NONE)
        entry.bytes = 0; /* the group has it */
      entry.lasting = value->result || value->kind == VALUE_GROUP || value->group != NONE || must_stay (model, v);
      model->value_of[v] = model->values->len;
      g_array_append_val (model->values, entry);
    }
}

/* Stacks that scan @w may make others over. The planner decides that without a schedule: what does not fit here may fit there. */
static void
add_overlays (ScheduleModel *model, guint32 w)
{
  const GantryPlanner *planner = model->problem->planner;
  const Program *program = planner->program;
  guint first = model->overs->len;

  for (guint o = 0; o < planner->overlays->len; o++)
    {
      const Overlay *overlay = &g_array_index (planner->overlays, Overlay, o);
      guint known = first;
      guint32 v;

      if (overlay->work != w)
        continue;
      model->complete = FALSE;
      if (VALUE (program, WORK (program, w)->first_value + overlay->result)->donated != NONE)
        continue;
      v = model->value_of[VALUE (program, _gantry_program_operand (program, work_node (program, WORK (program, w)), overlay->operand))->root];
      while (known < model->overs->len && g_array_index (model->overs, guint32, known) != v)
        known++;
      if (v != NONE && known == model->overs->len && !SCHEDULE_VALUE (model, v)->lasting)
        g_array_append_val (model->overs, v);
    }
}

static void
add_work (ScheduleModel *model, guint32 w)
{
  const GantryPlanner *planner = model->problem->planner;
  const Program *program = planner->program;
  const Work *work = WORK (program, w);
  ScheduleWork entry = { .work = w,
                         .us = planner->cost_us[w],
                         .workspace = gantry_place_bytes (work->workspace),
                         .first_read = model->reads->len,
                         .first_make = model->makes->len,
                         .first_over = model->overs->len,
                         .first_after = model->afters->len };

  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 v = model->value_of[VALUE (program, USE (program, work, k))->root];

      if (v != NONE)
        g_array_append_val (model->reads, v);
    }
  entry.repeats = _gantry_planner_can_repeat (planner, w);
  for (guint32 k = 0; k < work->n_values; k++)
    {
      guint32 v = model->value_of[work->first_value + k], group = VALUE (program, work->first_value + k)->group;

      if (v == NONE)
        continue;
      g_array_append_val (model->makes, v);
      SCHEDULE_VALUE (model, v)->maker = model->works->len;
      entry.repeats = entry.repeats && !SCHEDULE_VALUE (model, v)->lasting;
      if (group != NONE && SCHEDULE_VALUE (model, model->value_of[group])->maker == NONE)
        {
          SCHEDULE_VALUE (model, model->value_of[group])->maker = model->works->len;
          g_array_append_val (model->makes, model->value_of[group]);
        }
    }
  for (guint32 k = planner->first_overwritable[w]; k < planner->first_overwritable[w + 1]; k++)
    {
      guint32 v = model->value_of[VALUE (program, USE (program, work, g_array_index (planner->overwritable, guint32, k)))->root];

      if (v != NONE && !SCHEDULE_VALUE (model, v)->lasting)
        g_array_append_val (model->overs, v);
    }
  add_overlays (model, w);
  for (guint32 k = program->first_after[w]; k < program->first_after[w + 1]; k++)
    g_array_append_val (model->afters, model->position[program->after[k]]);
  entry.n_reads = model->reads->len - entry.first_read;
  entry.n_makes = model->makes->len - entry.first_make;
  entry.n_over = model->overs->len - entry.first_over;
  entry.n_after = model->afters->len - entry.first_after;
  /* The planner may write each result over an operand, this model one: what does not fit here may fit there. */
  if (entry.n_makes > 1 && entry.n_over > 0)
    model->complete = FALSE;
  g_array_append_val (model->works, entry);
}

void
_gantry_schedule_reverse (GArray *array, guint first)
{
  const guint size = g_array_get_element_size (array);

  for (guint a = first, b = array->len; b > a + 1; a++)
    {
      char *x = array->data + (gsize) a * size, *y = array->data + (gsize) --b * size;

      for (guint k = 0; k < size; k++)
        {
          char swap = x[k];

          x[k] = y[k];
          y[k] = swap;
        }
    }
}

ScheduleModel *
_gantry_schedule_model_new (SolveProblem *problem)
{
  GantryPlanner *planner = problem->planner;
  const Program *program = planner->program;
  ScheduleModel *model = g_new0 (ScheduleModel, 1);

  model->problem = problem;
  model->works = g_array_new (FALSE, FALSE, sizeof (ScheduleWork));
  model->values = g_array_new (FALSE, FALSE, sizeof (ScheduleValue));
  model->reads = g_array_new (FALSE, FALSE, sizeof (guint32));
  model->makes = g_array_new (FALSE, FALSE, sizeof (guint32));
  model->overs = g_array_new (FALSE, FALSE, sizeof (guint32));
  model->afters = g_array_new (FALSE, FALSE, sizeof (guint32));
  model->value_of = g_new (guint32, program->values->len + 1);
  model->position = g_new0 (guint32, program->works->len + 1);
  model->item_of = g_new (gint32, program->values->len + 1);
  model->complete = program->resident != FALSE && !problem->compresses;
  _gantry_planner_evaluate (planner, problem->base, 0, problem->prediction);
  model->fixed = planner->held[GANTRY_MEMORY_DEVICE] + planner->beside_bytes + (guint64) planner->loop_bytes;
  for (guint32 v = 0; v < program->values->len; v++)
    model->item_of[v] = -1;
  for (guint i = 0; i < problem->items->len; i++)
    model->item_of[ITEM (problem, i)->root] = (gint32) i;
  add_values (model);
  for (guint32 i = 0; i < planner->n_order; i++)
    model->position[planner->order[i]] = i;
  for (guint32 i = 0; i < planner->n_order; i++)
    add_work (model, planner->order[i]);
  return model;
}

const SolveAnswer *
_gantry_schedule_evaluate (const ScheduleModel *model, const guint8 *kinds, const guint32 *works, guint n)
{
  SolveProblem *problem = model->problem;
  const Program *program = problem->planner->program;
  g_autofree guint8 *own = g_new0 (guint8, problem->items->len + 1);
  g_autofree guint8 *ran = g_new0 (guint8, model->works->len + 1);
  GantryScheduleEntry *schedule = g_new0 (GantryScheduleEntry, n + 1);
  g_autoptr (GBytes) bytes = g_bytes_new_take (schedule, n * sizeof *schedule);

  for (guint i = 0; kinds != NULL && i < problem->items->len; i++)
    own[i] = kinds[i] == GANTRY_PLACEMENT_RECOMPUTE ? GANTRY_PLACEMENT_KEEP : kinds[i];
  for (guint i = 0; i < n; i++)
    {
      const ScheduleWork *work = SCHEDULE_WORK (model, works[i]);
      const Work *from = WORK (program, work->work);

      schedule[i].node = work_node (program, from)->id;
      for (guint32 k = 0; ran[works[i]] && k < from->n_values; k++)
        if (model->item_of[from->first_value + k] >= 0)
          own[model->item_of[from->first_value + k]] = GANTRY_PLACEMENT_RECOMPUTE;
      ran[works[i]] = TRUE;
    }
  return _gantry_solve_evaluate_schedule (problem, own, bytes);
}

const SolveAnswer *
_gantry_schedule_evaluate_copies (const ScheduleModel *model, const GArray *entries)
{
  SolveProblem *problem = model->problem;
  GantryPlanner *planner = problem->planner;
  g_autofree guint8 *kinds = g_new0 (guint8, problem->items->len + 1), *ran = g_new0 (guint8, planner->program->works->len + 1);
  g_autoptr (GBytes) bytes = g_bytes_new (entries->data, entries->len * sizeof (GantryScheduleEntry));

  for (guint i = 0; i < entries->len; i++)
    {
      const GantryScheduleEntry *entry = &g_array_index (entries, GantryScheduleEntry, i);
      const GantryNode *node = gantry_module_node (planner->program->module, entry->node);
      guint32 w = planner->work_at[gantry_module_position (planner->program->module, node) - planner->program->function->first_node];
      const Work *work = WORK (planner->program, w);

      for (guint32 k = 0; k < work->n_values; k++)
        {
          gint32 item = model->item_of[work->first_value + k];

          if (item >= 0 && entry->action == GANTRY_SCHEDULE_SPILL)
            kinds[item] = GANTRY_PLACEMENT_OFFLOAD;
          else if (item >= 0 && ran[w] && kinds[item] == GANTRY_PLACEMENT_KEEP)
            kinds[item] = GANTRY_PLACEMENT_RECOMPUTE;
        }
      ran[w] |= entry->action == GANTRY_SCHEDULE_RUN;
    }
  return _gantry_solve_evaluate_schedule (problem, kinds, bytes);
}

static gboolean
is_offloaded (const ScheduleModel *model, const guint8 *kinds, guint32 v)
{
  gint32 item = SCHEDULE_VALUE (model, v)->item;

  return item >= 0 && kinds[item] == GANTRY_PLACEMENT_OFFLOAD;
}

/* From the last use backwards: what is computed again and not read before it is made anew, or never, is left out. */
void
_gantry_schedule_leave_out_unread (const ScheduleModel *model, GArray *schedule, const guint8 *kinds)
{
  g_autofree guint8 *wanted = g_new0 (guint8, model->values->len + 1), *ran = g_new0 (guint8, model->works->len + 1);
  g_autofree guint8 *first = g_new0 (guint8, schedule->len + 1), *out = g_new0 (guint8, schedule->len + 1);
  guint n = 0;

  for (guint i = 0; i < schedule->len; i++)
    {
      guint32 w = g_array_index (schedule, guint32, i);

      first[i] = !ran[w];
      ran[w] = TRUE;
    }
  for (guint i = schedule->len; i-- > 0;)
    {
      const ScheduleWork *work = SCHEDULE_WORK (model, g_array_index (schedule, guint32, i));
      gboolean any = first[i], away = FALSE;

      for (guint32 k = 0; k < work->n_makes; k++)
        {
          any |= wanted[SCHEDULE_MAKE (model, work, k)];
          away |= kinds != NULL && is_offloaded (model, kinds, SCHEDULE_MAKE (model, work, k));
        }
      any = first[i] || (any && !away);
      out[i] = !any;
      for (guint32 k = 0; any && k < work->n_makes; k++)
        wanted[SCHEDULE_MAKE (model, work, k)] = FALSE;
      for (guint32 k = 0; any && k < work->n_reads; k++)
        wanted[SCHEDULE_READ (model, work, k)] = TRUE;
    }
  for (guint i = 0; i < schedule->len; i++)
    if (!out[i])
      g_array_index (schedule, guint32, n++) = g_array_index (schedule, guint32, i);
  g_array_set_size (schedule, n);
}

/* Instances: a value from one making to the last reading of that. */
typedef struct
{
  guint32 value, begin, end, over;
} Instance;

guint64
_gantry_schedule_peak (const ScheduleModel *model, const GArray *schedule)
{
  g_autoptr (GArray) instances = g_array_new (FALSE, FALSE, sizeof (Instance));
  g_autofree guint32 *now = g_new (guint32, model->values->len + 1), *made = g_new (guint32, schedule->len + 1);
  g_autofree guint64 *change = g_new0 (guint64, schedule->len + 2);
  guint64 live = 0, peak = 0;

  memset (now, 0xff, model->values->len * sizeof *now);
  for (guint32 i = 0; i < schedule->len; i++)
    {
      const ScheduleWork *work = SCHEDULE_WORK (model, g_array_index (schedule, guint32, i));

      for (guint32 k = 0; k < work->n_reads; k++)
        if (now[SCHEDULE_READ (model, work, k)] != NONE)
          g_array_index (instances, Instance, now[SCHEDULE_READ (model, work, k)]).end = i;
      made[i] = instances->len;
      for (guint32 k = 0; k < work->n_makes; k++)
        {
          Instance instance = { SCHEDULE_MAKE (model, work, k), i, i, NONE };

          for (guint32 o = 0; k == 0 && o < work->n_over && instance.over == NONE; o++)
            instance.over = now[g_array_index (model->overs, guint32, work->first_over + o)];
          now[instance.value] = instances->len;
          g_array_append_val (instances, instance);
        }
    }
  for (guint32 k = 0; k < instances->len; k++)
    {
      const Instance *instance = &g_array_index (instances, Instance, k);
      guint64 bytes = SCHEDULE_VALUE (model, instance->value)->bytes;
      gboolean over = instance->over != NONE && g_array_index (instances, Instance, instance->over).end == instance->begin;

      change[instance->begin + over] += bytes;
      change[instance->end + 1] -= bytes;
    }
  for (guint32 i = 0; i < schedule->len; i++)
    {
      live += change[i];
      peak = MAX (peak, live + SCHEDULE_WORK (model, g_array_index (schedule, guint32, i))->workspace);
    }
  return peak + model->fixed;
}

typedef struct
{
  double us;
  guint at;
} Repeat;

static int
compare_repeats (gconstpointer a, gconstpointer b)
{
  const Repeat *x = a, *y = b;

  return x->us != y->us ? (x->us > y->us ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

/* Runs of works that have run before, dearest first. */
static GArray *
find_repeats (const ScheduleModel *model, const GArray *schedule)
{
  GArray *repeats = g_array_new (FALSE, FALSE, sizeof (Repeat));
  g_autofree guint8 *ran = g_new0 (guint8, model->works->len + 1);

  for (guint i = 0; i < schedule->len; i++)
    {
      guint32 w = g_array_index (schedule, guint32, i);

      if (ran[w])
        g_array_append_val (repeats, ((Repeat){ SCHEDULE_WORK (model, w)->us, i }));
      ran[w] = TRUE;
    }
  g_array_sort (repeats, compare_repeats);
  return repeats;
}

void
_gantry_schedule_trim (const ScheduleModel *model, guint64 limit, GArray *schedule)
{
  gboolean shorter = TRUE;

  _gantry_schedule_leave_out_unread (model, schedule, NULL);
  while (shorter && !_gantry_solve_is_over (model->problem))
    {
      g_autoptr (GArray) repeats = find_repeats (model, schedule);

      shorter = FALSE;
      for (guint r = 0; r < MIN (repeats->len, MOST_TRIMMED) && !shorter; r++)
        {
          g_autoptr (GArray) without = g_array_copy (schedule);

          g_array_remove_index (without, g_array_index (repeats, Repeat, r).at);
          _gantry_schedule_leave_out_unread (model, without, NULL);
          if (_gantry_schedule_peak (model, without) > limit)
            continue;
          g_array_set_size (schedule, 0);
          g_array_append_vals (schedule, without->data, without->len);
          shorter = TRUE;
        }
    }
}

/* An evicted schedule of @limit; where the planner needs more for it than the model thinks, one of less. */
static const SolveAnswer *
evict (const ScheduleModel *model, guint64 limit, const guint8 *kinds, const ScheduleTaste *taste)
{
  const SolveAnswer *answer = NULL;
  guint64 aim = limit;

  for (guint try = 0; try < MOST_TRIES && !_gantry_solve_is_over (model->problem); try++)
    {
      g_autoptr (GArray) schedule = g_array_new (FALSE, FALSE, sizeof (guint32));

      if (!_gantry_schedule_evict (model, aim, kinds, taste, schedule))
        break;
      if (kinds == NULL)
        _gantry_schedule_trim (model, aim, schedule);
      answer = _gantry_schedule_evaluate (model, kinds, (const guint32 *) (gpointer) schedule->data, schedule->len);
      if (answer->peak <= limit || answer->peak - limit >= aim)
        break;
      aim -= answer->peak - limit;
    }
  return answer;
}

ScheduleOutcome
_gantry_solve_schedules (SolveProblem *problem, guint64 limit, double *us)
{
  static const ScheduleTaste tastes[] = { { 1, 1 },   { 1, 0.5 }, { 1, 2 }, { 0.5, 1 },     { 1, 0 }, { 1, 0.25 }, { 1, 0.75 },
                                          { 1, 1.5 }, { 1, 3 },   { 1, 4 }, { 0.25, 0.25 }, { 2, 1 }, { 1, 8 } };
  g_autoptr (ScheduleModel) model = _gantry_schedule_model_new (problem);
  g_autoptr (GArray) exact = g_array_new (FALSE, FALSE, sizeof (guint32));
  ScheduleOutcome outcome = _gantry_schedule_exact (model, limit, MOST_STATES, exact);

  if (outcome == SCHEDULE_FOUND)
    {
      const char *method = problem->method;
      const SolveAnswer *answer;

      problem->method = "every schedule";
      answer = _gantry_schedule_evaluate (model, NULL, (const guint32 *) (gpointer) exact->data, exact->len);

      problem->method = method;
      *us = answer->us;
    }
  if (!model->complete && outcome != SCHEDULE_GIVEN_UP)
    outcome = SCHEDULE_GIVEN_UP;
  if (outcome != SCHEDULE_GIVEN_UP)
    return outcome;
  for (guint t = 0; t < (model->works->len <= MOST_TASTED ? G_N_ELEMENTS (tastes) : 3) && !_gantry_solve_is_over (problem); t++)
    evict (model, limit, NULL, &tastes[t]);
  return outcome;
}
