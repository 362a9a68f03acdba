/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the list of passes over a model, verifies after each, keeps a snapshot of each, and plans. */
#include "core/compiler/compiler.h"
#include "core/ir/operation.h"
#include "core/ir/verifier.h"
#include "core/memory/memory.h"
#include "core/passes/passes.h"
#include <string.h>

/* The one list. A pass that runs twice has a second name, so that each can be switched off by itself. */
static const struct
{
  const char *name;
  const GantryPass *pass;
} pipeline[] = {
  { "legalize", &gantry_pass_legalize },
  { "simplify", &gantry_pass_simplify },
  { "epilogue", &gantry_pass_epilogue },
  { "fold", &gantry_pass_fold },
  { "cse", &gantry_pass_cse },
  { "dce", &gantry_pass_dce },
  { "fuse", &gantry_pass_fuse },
  { "dce-2", &gantry_pass_dce },
};
#define N_PASSES G_N_ELEMENTS (pipeline)

const GantryPassInfo *
gantry_compiler_passes (guint *n)
{
  static GantryPassInfo list[N_PASSES];
  static gsize ready = 0;

  if (g_once_init_enter (&ready))
    {
      for (guint i = 0; i < N_PASSES; i++)
        list[i] = (GantryPassInfo){ pipeline[i].name, pipeline[i].pass->title, pipeline[i].pass->description,
                                    pipeline[i].pass->required };
      g_once_init_leave (&ready, 1);
    }
  *n = N_PASSES;
  return list;
}

GantryCompilation *
gantry_compilation_ref (GantryCompilation *compilation)
{
  g_atomic_ref_count_inc (&compilation->ref_count);
  return compilation;
}

void
gantry_compilation_unref (GantryCompilation *compilation)
{
  if (compilation == NULL || !g_atomic_ref_count_dec (&compilation->ref_count))
    return;
  for (guint i = 0; i < compilation->n_snapshots; i++)
    {
      g_free (compilation->snapshots[i].pass);
      g_free (compilation->snapshots[i].title);
      g_free (compilation->snapshots[i].description);
      gantry_module_unref (compilation->snapshots[i].module);
    }
  g_free (compilation->snapshots);
  g_clear_error (&compilation->refusal);
  gantry_plan_unref (compilation->plan);
  gantry_model_unref (compilation->model);
  g_free (compilation);
}

/* Of the entry function: what stands in the body of a fusion is one node to the reader. */
static guint
count_working (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  guint n = 0;

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryOpInfo *info = gantry_op_info (module->nodes[entry->first_node + i].op);

      n += info == NULL || (info->flags & GANTRY_OP_STRUCTURE) == 0;
    }
  return n;
}

static void
count_changes (const GantryModule *before, const GantryModule *after, GantrySnapshot *snapshot)
{
  if (before == after)
    return;
  for (guint32 i = 0; i < after->n_nodes; i++)
    snapshot->n_made += gantry_module_node (before, after->nodes[i].id) == NULL;
  for (guint32 i = 0; i < before->n_nodes; i++)
    snapshot->n_removed += gantry_module_node (after, before->nodes[i].id) == NULL;
}

static void
add_snapshot (GantryCompilation *compilation, const char *name, const char *title, const char *description,
              gboolean enabled, GantryModule *module, double milliseconds)
{
  GantryModule *before = compilation->n_snapshots > 0 ? gantry_compilation_module (compilation) : module;
  GantrySnapshot *snapshot = &compilation->snapshots[compilation->n_snapshots++];

  snapshot->pass = g_strdup (name);
  snapshot->title = g_strdup (title);
  snapshot->description = g_strdup (description);
  snapshot->enabled = enabled;
  snapshot->module = module;
  snapshot->milliseconds = milliseconds;
  snapshot->nodes_before = count_working (before);
  snapshot->nodes_after = count_working (module);
  count_changes (before, module, snapshot);
}

/* A program that contradicts itself (types that do not fit) is a damaged file, not one that we cannot do yet. Where a
 * dimension is open the contradiction may only be that. */
static gboolean
is_malformed (const GantryCompilation *compilation, const GError *failure)
{
  char **unbound = compilation->model->unbound;

  return g_error_matches (failure, GANTRY_ERROR, GANTRY_ERROR_INVALID) && (unbound == NULL || unbound[0] == NULL);
}

/* One pass and its verification. A refusal of the user's program is kept; anything else is an error of ours. */
static gboolean
run_pass (GantryCompilation *compilation, guint index, const GantryPassOptions *options, gboolean enabled,
          const GantryProgress *progress, GError **error)
{
  const GantryPass *pass = pipeline[index].pass;
  GantryModule *before = gantry_compilation_module (compilation);
  g_autoptr (GantryModule) after = NULL;
  g_autoptr (GError) failure = NULL;
  gint64 start = g_get_monotonic_time ();
  double milliseconds;

  if (gantry_progress_cancelled (progress, error))
    return FALSE;
  gantry_progress_report (progress, (double) index / N_PASSES, pass->title);
  after = enabled ? pass->run (before, options, progress, &failure) : gantry_module_ref (before);
  milliseconds = (double) (g_get_monotonic_time () - start) / 1000.0;
  if (after == NULL)
    {
      if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED) || is_malformed (compilation, failure))
        {
          g_propagate_error (error, g_steal_pointer (&failure));
          return FALSE;
        }
      compilation->refusal = g_steal_pointer (&failure);
      return TRUE;
    }
  if (after != before && !gantry_verify (after, before, error))
    {
      gantry_error_prefix (error, "the pass '%s' broke the program (please report this): ", pipeline[index].name);
      return FALSE;
    }
  add_snapshot (compilation, pipeline[index].name, pass->title, pass->description, enabled, g_steal_pointer (&after),
                milliseconds);
  return TRUE;
}

/* The passes need static shapes to plan; a program with open dimensions is refused here, by name. */
static void
refuse_unbound (GantryCompilation *compilation)
{
  const GantryModel *model = compilation->model;
  g_autofree char *names = NULL;

  if (compilation->refusal == NULL || model->unbound == NULL || model->unbound[0] == NULL)
    return;
  names = g_strjoinv (", ", model->unbound);
  gantry_error_prefix (&compilation->refusal, "the size of %s is not given (bind it, for example --dim %s=1): ", names,
                       model->unbound[0]);
}

GantryCompilation *
gantry_compile (GantryModel *model, const GantryCompileSettings *settings, const GantryProgress *progress,
                GError **error)
{
  g_autoptr (GantryCompilation) compilation = g_new0 (GantryCompilation, 1);
  GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  GantryCompileSettings defaults;

  g_atomic_ref_count_init (&compilation->ref_count);
  gantry_compile_settings_init (&defaults);
  if (settings == NULL)
    settings = &defaults;
  compilation->model = gantry_model_ref (model);
  compilation->snapshots = g_new0 (GantrySnapshot, N_PASSES + 1);
  options.finite_math = settings->finite_math;
  add_snapshot (compilation, "import", "Import", "The program as the file has it.", TRUE,
                gantry_module_ref (model->module), 0);
  for (guint i = 0; i < N_PASSES && compilation->refusal == NULL; i++)
    if (!run_pass (compilation, i, &options,
                   pipeline[i].pass->required || gantry_compile_settings_enabled (settings, pipeline[i].name), progress,
                   error))
      return NULL;
  if (compilation->refusal == NULL)
    compilation->plan = gantry_compilation_plan (compilation, settings, NULL, NULL, NULL, progress,
                                                 &compilation->refusal);
  if (g_error_matches (compilation->refusal, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&compilation->refusal));
      return NULL;
    }
  refuse_unbound (compilation);
  return g_steal_pointer (&compilation);
}

GantryPlan *
gantry_compilation_plan (const GantryCompilation *compilation, const GantryCompileSettings *settings,
                         guint64 (*workspace) (const GantryModule *, const GantryNode *, gpointer),
                         gpointer workspace_data, GHashTable *measured_us, const GantryProgress *progress,
                         GError **error)
{
  GantryPlanOptions options = { .target = &settings->target, .workspace = workspace, .workspace_data = workspace_data,
                                .measured_us = measured_us };

  options.order = settings->program_order ? GANTRY_ORDER_PROGRAM : GANTRY_ORDER_BEST;
  return gantry_memory_plan (gantry_compilation_module (compilation), &options, progress, error);
}

/* Following nodes through the passes */

static void
step_forward (const GantryModule *next, GHashTable *ids, GHashTable *out)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, ids);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      guint32 id = gantry_module_successor (next, GPOINTER_TO_UINT (key));

      if (id != 0)
        g_hash_table_add (out, GUINT_TO_POINTER (id));
    }
  for (guint32 i = 0; i < next->n_nodes; i++)
    for (guint j = 0; j < next->nodes[i].n_origins; j++)
      if (g_hash_table_contains (ids, GUINT_TO_POINTER (next->origins[next->nodes[i].origins + j])))
        g_hash_table_add (out, GUINT_TO_POINTER (next->nodes[i].id));
}

static void
step_back (const GantryModule *previous, const GantryModule *module, GHashTable *ids, GHashTable *out)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, ids);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      const GantryNode *node = gantry_module_node (module, GPOINTER_TO_UINT (key));

      if (gantry_module_node (previous, GPOINTER_TO_UINT (key)) != NULL)
        g_hash_table_add (out, key);
      for (guint j = 0; node != NULL && j < node->n_origins; j++)
        g_hash_table_add (out, GUINT_TO_POINTER (module->origins[node->origins + j]));
    }
  for (guint32 i = 0; i < module->n_replaced; i++)
    if (g_hash_table_contains (ids, GUINT_TO_POINTER (module->replaced[2 * i + 1])))
      g_hash_table_add (out, GUINT_TO_POINTER (module->replaced[2 * i]));
}

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return x < y ? -1 : x > y;
}

GArray *
gantry_compilation_follow (const GantryCompilation *compilation, guint from, guint32 id, guint to)
{
  g_autoptr (GHashTable) ids = g_hash_table_new (NULL, NULL);
  GArray *result = g_array_new (FALSE, FALSE, sizeof (guint32));
  GHashTableIter iter;
  gpointer key;

  g_return_val_if_fail (from < compilation->n_snapshots && to < compilation->n_snapshots, result);
  g_hash_table_add (ids, GUINT_TO_POINTER (id));
  while (from != to)
    {
      guint next = from < to ? from + 1 : from - 1;
      GantryModule *here = compilation->snapshots[from].module, *there = compilation->snapshots[next].module;

      if (here != there) /* a pass that changed nothing hands the same module on */
        {
          GHashTable *out = g_hash_table_new (NULL, NULL);

          if (from < to)
            step_forward (there, ids, out);
          else
            step_back (there, here, ids, out);
          g_hash_table_unref (ids);
          ids = out;
        }
      from = next;
    }
  g_hash_table_iter_init (&iter, ids);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      guint32 found = GPOINTER_TO_UINT (key);

      if (gantry_module_node (compilation->snapshots[to].module, found) != NULL)
        g_array_append_val (result, found);
    }
  g_array_sort (result, compare_ids);
  return result;
}

GHashTable *
gantry_compilation_changes (const GantryCompilation *compilation, guint index, gboolean removed)
{
  GHashTable *set = g_hash_table_new (NULL, NULL);
  const GantryModule *before, *after;

  if (index == 0 || index >= compilation->n_snapshots)
    return set;
  before = compilation->snapshots[removed ? index : index - 1].module;
  after = compilation->snapshots[removed ? index - 1 : index].module;
  for (guint32 i = 0; i < after->n_nodes; i++)
    if (gantry_module_node (before, after->nodes[i].id) == NULL)
      g_hash_table_add (set, GUINT_TO_POINTER (after->nodes[i].id));
  return set;
}
