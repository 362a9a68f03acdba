/* SPDX-License-Identifier: Apache-2.0 */
/* Plans within a limit: squeezed until all parts of memory fit, or an error that says by how much they do not, who is alive
 * at the peak, and what would help most. */
#include "core/planner/planner-private.h"

#define MOST_TRIES 6u
/* Of the largest values at the peak so many are tried in another placement: one prediction each. */
#define MOST_TRIED 8u
#define MOST_NAMED 3u

typedef struct
{
  guint32 root; /* value */
  guint64 bytes;
  guint8 kind; /* what would help */
  guint64 saves;
} LiveValue;

static int
compare_bytes (const void *a, const void *b)
{
  const LiveValue *x = a, *y = b;

  return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : (x->root > y->root) - (x->root < y->root);
}

static int
compare_savings (const void *a, const void *b)
{
  const LiveValue *x = a, *y = b;

  return x->saves != y->saves ? (x->saves > y->saves ? -1 : 1) : compare_bytes (a, b);
}

/* Who is alive at index @at of line on the device, largest first. */
static GArray *
find_live_values (const GantryPlanner *planner, guint32 at)
{
  GArray *values = g_array_new (FALSE, TRUE, sizeof (LiveValue));
  g_autofree guint8 *over = g_new0 (guint8, planner->ranges->len + 1);

  for (guint32 i = 0; i < planner->ranges->len; i++)
    if (RANGE (planner, i)->over != NONE && RANGE (planner, i)->begin <= at)
      over[RANGE (planner, i)->over] = TRUE;
  for (guint32 i = 0; i < planner->ranges->len; i++)
    {
      const LiveRange *range = RANGE (planner, i);
      LiveValue value = { VALUE (planner->program, range->unit)->root, range->bytes };

      if (range->memory == GANTRY_MEMORY_DEVICE && !over[i] && range->inside == NONE
          && (range->fixed ? value.root == range->unit : range->begin <= at && at <= range->end))
        g_array_append_val (values, value);
    }
  g_array_sort (values, compare_bytes);
  return values;
}

static GantryPlacements *
with (const GantryPlacements *placements, guint32 node, guint8 kind)
{
  GantryPlacements *changed = placements != NULL ? gantry_placements_copy (placements) : gantry_placements_new ();
  const GantryPlacement entry = { node, kind, GANTRY_DECIDED_BY_CLICK, GANTRY_MEMORY_PINNED_HOST, GANTRY_SUBJECT_NONE };

  gantry_placements_set (changed, &entry);
  return changed;
}

/* What @value would save in its best placement. */
static void
try_live_value (GantryPlanner *planner, const GantryPlacements *placements, guint64 limit, guint64 peak, LiveValue *value)
{
  gint32 index = planner->candidate_of[value->root];
  const GantryCandidate *candidate;

  if (index < 0 || planner->kind[value->root] != GANTRY_PLACEMENT_KEEP)
    return;
  candidate = &g_array_index (planner->candidates, GantryCandidate, (guint) index);
  for (guint8 kind = GANTRY_PLACEMENT_RECOMPUTE; kind <= GANTRY_PLACEMENT_OFFLOAD; kind++)
    {
      g_autoptr (GantryPlacements) changed = NULL;

      if (!(candidate->allowed & 1 << kind))
        continue;
      changed = with (placements, candidate->node, kind);
      _gantry_planner_evaluate (planner, changed, limit, planner->own);
      if (planner->own->peak_bytes < peak && peak - planner->own->peak_bytes > value->saves)
        {
          value->saves = peak - planner->own->peak_bytes;
          value->kind = kind;
        }
    }
  _gantry_planner_evaluate (planner, placements, limit, planner->own);
}

static void
append_live_value (const GantryPlanner *planner, GString *text, const LiveValue *value, gboolean saves)
{
  const GantryModule *module = planner->program->module;
  g_autofree char *size = gantry_format_bytes (saves ? value->saves : value->bytes);
  guint32 shown_by = planner->shown_by[value->root];
  g_autofree char *label = gantry_node_label (module, gantry_module_node (module, shown_by != 0 ? shown_by : VALUE (planner->program, value->root)->node));

  if (saves)
    g_string_append_printf (text, "%s '%s' (saves %s)", gantry_placement_kind_name (value->kind), label, size);
  else
    g_string_append_printf (text, "'%s' (%s)", label, size);
}

static char *
describe (GantryPlanner *planner, const GantryPlacements *placements, guint64 limit)
{
  GString *text = g_string_new ("");
  guint64 peak = planner->own->peak_bytes;
  guint32 at = 0, n = 0;
  g_autoptr (GArray) values = NULL;
  LiveValue *all;

  _gantry_planner_find_lifetimes (planner, &at);
  values = find_live_values (planner, at);
  all = (LiveValue *) (void *) values->data;
  for (guint i = 0; i < MIN (values->len, MOST_NAMED); i++)
    {
      g_string_append (text, i == 0 ? "; alive at the peak: " : ", ");
      append_live_value (planner, text, &all[i], FALSE);
    }
  for (guint i = 0; i < MIN (values->len, MOST_TRIED); i++)
    try_live_value (planner, placements, limit, peak, &all[i]);
  g_array_sort (values, compare_savings);
  for (guint i = 0; i < values->len && n < MOST_NAMED && all[i].saves > 0; i++)
    if (n == 0 || all[i].root != all[i - 1].root)
      {
        g_string_append (text, n++ == 0 ? "; most would help: " : ", ");
        append_live_value (planner, text, &all[i], TRUE);
      }
  if (n == 0)
    g_string_append (text, "; no placement of one value alone helps: change several, make the batch smaller or raise the limit");
  return g_string_free (text, FALSE);
}

/* @need: what the plan that came nearest takes, by part. What is needed is rounded up, so that the two differ in their text
 * where they do. */
static void
refuse (GantryPlanner *planner, const GantryPlacements *placements, guint64 limit, const GantryMemoryParts *need, GError **error)
{
  guint64 total = gantry_memory_parts_total (need);
  g_autofree char *needed = gantry_memory_peak_text (total, limit, planner->options.sizes != NULL), *allowed = gantry_format_limit (limit);
  g_autofree char *over = gantry_format_bytes (total - limit), *exactly = gantry_format_bytes_exactly (total - limit);
  g_autofree char *parts = gantry_memory_parts_text (need);
  g_autofree char *more = describe (planner, placements, limit);

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "the program needs %s of device memory (%s) where the limit is %s: %s%s too much%s", needed, parts,
               allowed, over, exactly, more);
}

static void
refuse_host (guint64 need, guint64 limit, GError **error)
{
  g_autofree char *needed = gantry_format_bytes_within (need, limit), *allowed = gantry_format_limit (limit);
  g_autofree char *over = gantry_format_bytes (need - limit), *exactly = gantry_format_bytes_exactly (need - limit);

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY,
               "what is offloaded takes %s of host memory where the limit of the host is %s: %s%s too much; keep or recompute some of it, or "
               "raise that limit",
               needed, allowed, over, exactly);
}

GantryPlan *
_gantry_planner_plan_within (GantryPlanner *planner, const GantryPlacements *placements, guint64 limit, GantryMemoryParts *need, const GantryProgress *progress)
{
  guint64 asked = limit, least = G_MAXUINT64;

  g_clear_pointer (&planner->refused, gantry_plan_unref);
  for (guint try = 0; try < MOST_TRIES; try++)
    {
      g_autoptr (GantryPlan) plan = NULL;
      guint64 bytes;

      _gantry_planner_evaluate (planner, placements, asked, planner->own);
      plan = _gantry_planner_write (planner, progress);
      if (gantry_progress_cancelled (progress, NULL))
        return NULL;
      bytes = gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE);
      if (limit == 0 || bytes <= limit)
        {
          g_clear_pointer (&planner->refused, gantry_plan_unref);
          return g_steal_pointer (&plan);
        }
      plan->refused = TRUE;
      if (try == 0) /* as predicted; later ones are asked for less */
        planner->refused = gantry_plan_ref (plan);
      if (bytes < least)
        {
          least = bytes;
          gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, need);
        }
      /* A packing may stand higher than what is alive: then less is allowed to be. */
      if (gantry_plan_least_bytes (plan) > limit + limit / 8 || bytes - limit >= asked)
        break;
      asked -= bytes - limit;
    }
  return NULL;
}

guint64
_gantry_planner_effective_limit (const GantryPlacements *placements, guint64 limit)
{
  guint64 own = placements != NULL ? placements->fetch_limit : 0;

  return own != 0 && (limit == 0 || own < limit) ? own : limit;
}

GantryPlan *
gantry_planner_plan (GantryPlanner *planner, const GantryPlacements *placements, const GantryProgress *progress, GError **error)
{
  const guint64 limit = planner->target.memory_limit, host_limit = planner->target.host_limit;
  const guint64 asked = _gantry_planner_effective_limit (placements, limit);
  GantryMemoryParts need = { { 0 } };
  g_autoptr (GantryPlan) plan = NULL;

  if (asked != limit) /* what only the placements ask for refuses nothing */
    plan = _gantry_planner_plan_within (planner, placements, asked, &need, progress);
  need = (GantryMemoryParts){ { 0 } };
  if (plan == NULL)
    plan = _gantry_planner_plan_within (planner, placements, limit, &need, progress);
  if (gantry_progress_cancelled (progress, error))
    return NULL;
  if (plan == NULL)
    {
      _gantry_planner_evaluate (planner, placements, limit, planner->own);
      refuse (planner, placements, limit, &need, error);
      return NULL;
    }
  if (host_limit == 0 || gantry_plan_host_bytes (plan) <= host_limit)
    return g_steal_pointer (&plan);
  refuse_host (gantry_plan_host_bytes (plan), host_limit, error);
  plan->refused = TRUE;
  planner->refused = g_steal_pointer (&plan);
  return NULL;
}

GantryPlan *
gantry_planner_take_refused (GantryPlanner *planner)
{
  return g_steal_pointer (&planner->refused);
}
