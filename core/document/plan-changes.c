/* SPDX-License-Identifier: Apache-2.0 */
/* Two forecasts compared, step by step and value by value. */
#include "core/document/plan-changes.h"
#include <math.h>
#include <string.h>

void
gantry_plan_changes_unref (GantryPlanChanges *changes)
{
  if (changes == NULL || !g_atomic_ref_count_dec (&changes->ref_count))
    return;
  g_array_unref (changes->times);
  g_array_unref (changes->placements);
  g_free (changes);
}

/* A step is the same one in both where it does the same for the same node for the same time. */
static guint64
key_of (const GantryPlanStep *step, guint32 nth)
{
  return (guint64) step->node << 32 | (guint64) (nth & 0xffffff) << 8 | (guint64) (step->queue & 3u) << 4 | (guint64) (step->kind & 3u) << 1
         | (step->instance & 1u);
}

/* Keys of all steps, in order. (transfer full) */
static guint64 *
keys_of (const GArray *steps)
{
  guint64 *keys = g_new (guint64, steps->len + 1);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint i = 0; i < steps->len; i++)
    {
      const GantryPlanStep *step = &g_array_index (steps, GantryPlanStep, i);
      guint64 first = key_of (step, 0);
      guint nth = GPOINTER_TO_UINT (g_hash_table_lookup (seen, &first));

      g_hash_table_insert (seen, g_memdup2 (&first, sizeof first), GUINT_TO_POINTER (nth + 1));
      keys[i] = key_of (step, nth);
    }
  return keys;
}

/* Length of the longest ascending subsequence (patience sorting, as Fredman told in 1975). */
static guint
longest_ascending (const guint *numbers, guint n)
{
  g_autofree guint *tops = g_new (guint, n + 1);
  guint n_tops = 0;

  for (guint i = 0; i < n; i++)
    {
      guint low = 0, high = n_tops;

      while (low < high)
        {
          guint middle = (low + high) / 2;

          if (tops[middle] < numbers[i])
            low = middle + 1;
          else
            high = middle;
        }
      tops[low] = numbers[i];
      n_tops = MAX (n_tops, low + 1);
    }
  return n_tops;
}

static void
compare_order (GantryPlanChanges *changes, const GArray *before, const GArray *after)
{
  g_autofree guint64 *old = keys_of (before), *new = keys_of (after);
  g_autofree guint *places = g_new (guint, after->len + 1);
  g_autoptr (GHashTable) where = g_hash_table_new (g_int64_hash, g_int64_equal); /* key -> 1 + index */
  guint n = 0;

  for (guint i = 0; i < before->len; i++)
    g_hash_table_insert (where, &old[i], GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < after->len; i++)
    {
      guint at = GPOINTER_TO_UINT (g_hash_table_lookup (where, &new[i]));

      if (at > 0)
        places[n++] = at;
    }
  changes->n_steps = after->len;
  changes->n_new = after->len - n;
  changes->n_gone = before->len - n;
  changes->n_moved = n - longest_ascending (places, n);
}

static int
compare_time_changes (gconstpointer a, gconstpointer b)
{
  const GantryTimeChange *x = a, *y = b;
  double of_x = fabs (x->after_us - x->before_us), of_y = fabs (y->after_us - y->before_us);

  if (of_x != of_y)
    return of_x > of_y ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

static gpointer
time_key (const GantryPlanStep *step)
{
  return GSIZE_TO_POINTER ((gsize) step->node * GANTRY_N_QUEUES + step->queue);
}

static void
compare_times (GantryPlanChanges *changes, const GArray *before, const GArray *after)
{
  g_autoptr (GHashTable) old = g_hash_table_new (NULL, NULL); /* node and queue -> GantryPlanStep */

  for (guint i = 0; i < before->len; i++)
    {
      GantryPlanStep *step = &g_array_index (before, GantryPlanStep, i);

      /* Conversions are never measured by themselves. */
      if (step->kind != GANTRY_STEP_CONVERT)
        g_hash_table_insert (old, time_key (step), step);
    }
  for (guint i = 0; i < after->len; i++)
    {
      const GantryPlanStep *step = &g_array_index (after, GantryPlanStep, i);
      const GantryPlanStep *was = g_hash_table_lookup (old, time_key (step));
      GantryTimeChange change = { step->node, step->queue, was != NULL ? was->duration_us : 0, step->duration_us };

      if (was == NULL || step->kind == GANTRY_STEP_CONVERT)
        continue;
      g_hash_table_remove (old, time_key (step)); /* what is done twice is told once */
      if (fabs (change.after_us - change.before_us) > 1e-9 * MAX (change.after_us, change.before_us))
        g_array_append_val (changes->times, change);
    }
  g_array_sort (changes->times, compare_time_changes);
}

static void
compare_placements (GantryPlanChanges *changes, const GantryPlacements *before, const GantryPlacements *after)
{
  guint i = 0, j = 0;

  /* Both by ascending node; what has no entry is kept. */
  while (i < before->entries->len || j < after->entries->len)
    {
      const GantryPlacement *x = i < before->entries->len ? &g_array_index (before->entries, GantryPlacement, i) : NULL;
      const GantryPlacement *y = j < after->entries->len ? &g_array_index (after->entries, GantryPlacement, j) : NULL;
      GantryPlacementChange change = { 0 };
      gboolean first = x != NULL && (y == NULL || x->node <= y->node), second = y != NULL && (x == NULL || y->node <= x->node);

      change.node = first ? x->node : y->node;
      change.before = first ? x->kind : GANTRY_PLACEMENT_KEEP;
      change.after = second ? y->kind : GANTRY_PLACEMENT_KEEP;
      i += first;
      j += second;
      if (change.before != change.after)
        g_array_append_val (changes->placements, change);
    }
}

GantryPlanChanges *
gantry_plan_changes_new (const GantryForecast *before, const GantryPlanFigures *figures_before, const GantryForecast *after,
                         const GantryPlanFigures *figures_after)
{
  GantryPlanChanges *changes = g_new0 (GantryPlanChanges, 1);
  const GantryPrediction *a = before->prediction, *b = after->prediction;

  g_atomic_ref_count_init (&changes->ref_count);
  changes->times = g_array_new (FALSE, FALSE, sizeof (GantryTimeChange));
  changes->placements = g_array_new (FALSE, FALSE, sizeof (GantryPlacementChange));
  changes->before = *figures_before;
  changes->after = *figures_after;
  compare_order (changes, a->steps, b->steps);
  compare_times (changes, a->steps, b->steps);
  compare_placements (changes, before->placements, after->placements);
  return changes;
}

char *
gantry_plan_changes_summary (const GantryPlanChanges *changes)
{
  GString *text = g_string_new (NULL);
  guint n = changes->placements->len;

  if (changes->n_moved == 0 && changes->n_new == 0 && changes->n_gone == 0)
    g_string_append_printf (text, "All %u steps in the same order", changes->n_steps);
  else
    g_string_append_printf (text, "%u of %u steps stand elsewhere, %u are new, %u are gone", changes->n_moved, changes->n_steps, changes->n_new,
                            changes->n_gone);
  if (n == 0)
    g_string_append (text, "; every value placed as before");
  else
    g_string_append_printf (text, "; %u value%s placed otherwise", n, n == 1 ? " is" : "s are");
  return g_string_free (text, FALSE);
}
