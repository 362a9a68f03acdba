/* SPDX-License-Identifier: Apache-2.0 */
/* Measured times: a sorted table by key. */
#include "core/compiler/measured.h"
#include "core/base/keyed-array.h"
#include <math.h>

GantryMeasuredTimes *
gantry_measured_times_new (const char *run, const char *name)
{
  GantryMeasuredTimes *times = g_new0 (GantryMeasuredTimes, 1);

  g_atomic_ref_count_init (&times->ref_count);
  times->run = g_strdup (run);
  times->name = g_strdup (name);
  times->entries = g_array_new (FALSE, FALSE, sizeof (GantryMeasuredTime));
  return times;
}

GantryMeasuredTimes *
gantry_measured_times_ref (GantryMeasuredTimes *times)
{
  g_atomic_ref_count_inc (&times->ref_count);
  return times;
}

void
gantry_measured_times_unref (GantryMeasuredTimes *times)
{
  if (times == NULL || !g_atomic_ref_count_dec (&times->ref_count))
    return;
  g_free (times->run);
  g_free (times->name);
  g_free (times->conditions);
  g_array_unref (times->entries);
  g_free (times);
}

void
gantry_measured_times_add (GantryMeasuredTimes *times, guint64 key, double us)
{
  GantryMeasuredTime time = { key, us };

  if (isfinite (us) && us > 0)
    g_array_append_val (times->entries, time);
}

void
gantry_measured_times_sort (GantryMeasuredTimes *times)
{
  gantry_keyed_array_sort (times->entries);
}

GantryMeasuredTimes *
gantry_measured_times_of (const char *run, const char *name, GHashTable *us, const GantryModule *module, const guint64 *keys)
{
  GantryMeasuredTimes *times = gantry_measured_times_new (run, name);
  const GantryFunction *function = gantry_module_entry (module);

  for (guint32 i = function->first_node; i < function->first_node + function->n_nodes; i++)
    {
      const double *time = g_hash_table_lookup (us, GUINT_TO_POINTER (module->nodes[i].id));

      if (time != NULL)
        gantry_measured_times_add (times, keys[i], *time);
    }
  gantry_measured_times_sort (times);
  return times;
}

gboolean
gantry_measured_times_equal (const GantryMeasuredTimes *a, const GantryMeasuredTimes *b)
{
  if (a == b)
    return TRUE;
  return a != NULL && b != NULL && g_strcmp0 (a->run, b->run) == 0 && g_strcmp0 (a->conditions, b->conditions) == 0 && a->link_bandwidth == b->link_bandwidth
         && gantry_keyed_array_equal (a->entries, b->entries);
}

GHashTable *
gantry_measured_times_by_node (const GantryMeasuredTimes *times, const GantryModule *module, const guint64 *keys)
{
  GHashTable *us = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  const GantryFunction *function = gantry_module_entry (module);

  for (guint32 i = function->first_node; i < function->first_node + function->n_nodes; i++)
    {
      const GantryMeasuredTime *time = gantry_keyed_array_find (times->entries, keys[i]);

      if (time != NULL)
        g_hash_table_insert (us, GUINT_TO_POINTER (module->nodes[i].id), g_memdup2 (&time->us, sizeof time->us));
    }
  return us;
}
