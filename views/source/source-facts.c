/* SPDX-License-Identifier: Apache-2.0 */
/* A hundred thousand nodes take longer than a frame: a worker thread sorts them by line. */
#include "views/source/source-facts.h"

void
gantry_source_facts_free (GantrySourceFacts *facts)
{
  if (facts == NULL)
    return;
  g_clear_pointer (&facts->compilation, gantry_compilation_unref);
  g_clear_pointer (&facts->plan, gantry_plan_unref);
  g_clear_pointer (&facts->run, gantry_run_result_unref);
  g_clear_pointer (&facts->imported, gantry_source_index_unref);
  g_clear_pointer (&facts->shown, gantry_source_index_unref);
  g_clear_pointer (&facts->heat, gantry_source_heat_unref);
  g_clear_pointer (&facts->measured_us, g_hash_table_unref);
  g_free (facts);
}

/* Of @a or @b (nullable), where one of them is of that module. (transfer full) */
static GantrySourceIndex *
index_of (GantryModule *module, GantrySourceIndex *a, GantrySourceIndex *b)
{
  if (a != NULL && a->module == module)
    return gantry_source_index_ref (a);
  return b != NULL && b->module == module ? gantry_source_index_ref (b) : gantry_source_index_new (module);
}

/* What was known before is put into the task's own facts, and replaced. */
static void
make (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GantrySourceFacts *facts = data, *made = g_new0 (GantrySourceFacts, 1);
  GantryCompilation *compilation = facts->compilation;

  made->compilation = gantry_compilation_ref (compilation);
  made->snapshot = facts->snapshot;
  made->plan = facts->plan != NULL ? gantry_plan_ref (facts->plan) : NULL;
  made->run = facts->run != NULL ? gantry_run_result_ref (facts->run) : NULL;
  made->imported = index_of (gantry_compilation_imported (compilation), facts->imported, facts->shown);
  made->shown = index_of (compilation->snapshots[facts->snapshot].module, facts->shown, made->imported);
  if (facts->measured_us != NULL)
    made->measured_us = g_hash_table_ref (facts->measured_us);
  else if (made->run != NULL && made->run->recording != NULL)
    made->measured_us = gantry_recording_measured_us (made->run->recording);
  made->heat = gantry_source_heat_new (gantry_compilation_module (compilation), made->plan, made->measured_us);
  g_task_return_pointer (task, made, (GDestroyNotify) gantry_source_facts_free);
}

void
gantry_source_facts_make_async (GantryCompilation *compilation, guint snapshot, GantryPlan *plan, GantryRunResult *run, const GantrySourceFacts *before,
                                GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  GantrySourceFacts *facts = g_new0 (GantrySourceFacts, 1);

  facts->compilation = gantry_compilation_ref (compilation);
  facts->snapshot = MIN (snapshot, compilation->n_snapshots - 1);
  facts->plan = plan != NULL ? gantry_plan_ref (plan) : NULL;
  facts->run = run != NULL ? gantry_run_result_ref (run) : NULL;
  if (before != NULL)
    {
      facts->imported = gantry_source_index_ref (before->imported);
      facts->shown = gantry_source_index_ref (before->shown);
      if (before->run == run && before->measured_us != NULL)
        facts->measured_us = g_hash_table_ref (before->measured_us);
    }
  g_task_set_task_data (task, facts, (GDestroyNotify) gantry_source_facts_free);
  g_task_run_in_thread (task, make);
}

GantrySourceFacts *
gantry_source_facts_make_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
