/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the graph passes: how many nodes each goes through in a second, and how many bytes its snapshot keeps
 * for a node, against a budget of 64.
 *
 *   bench-passes [--runs=N] [--nodes=N] [--peer=TEXT] [FILE]    a line for each figure: name, median, unit, least..most, peer
 *
 * Without a FILE, on a program of 100,000 core operations in which each pass finds something to do. `legalize` has
 * nothing to do there; a model of a foreign format as FILE measures it as well, and the whole way from the file to the
 * plan, beside which TEXT says what another compiler took for that.
 */
#include "core/compiler/compiler.h"
#include "core/graph/builder.h"
#include "core/graph/text.h"
#include "tools/bench-figure.h"
#include "tools/bench-main.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET 64 /* bytes a node and a pass: docs/design */

static int n_runs = 5;
static int n_nodes = 100000;
static char **files;
static char *peer;

static const GOptionEntry options[] = {
  { "runs", 0, 0, G_OPTION_ARG_INT, &n_runs, "How often to run the passes", "N" },
  { "nodes", 0, 0, G_OPTION_ARG_INT, &n_nodes, "Size of the program that is made up", "N" },
  { "peer", 0, 0, G_OPTION_ARG_STRING, &peer, "What another compiler took for FILE", "TEXT" },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, NULL, "[FILE]" },
  { NULL },
};

/* --- the program ----------------------------------------------------------------------------- */

/* Twelve nodes: a chain to fuse that a reduction ends, a factor of one, two transposes that undo each other, a value
 * computed twice, one that nobody uses, and an addend that folds. */
static guint32
add_layer (GantryBuilder *b, guint32 x, guint32 one, guint32 half, const GantryDim *dims)
{
  const gint64 swap[] = { 1, 0 }, first = 0, last = 1;
  guint32 y = gantry_builder_binary (b, GANTRY_OP_MULTIPLY, x, one);
  guint32 t = gantry_builder_transpose (b, gantry_builder_transpose (b, y, swap), swap);
  guint32 e = gantry_builder_unary (b, GANTRY_OP_TANH, t);
  guint32 twice = gantry_builder_unary (b, GANTRY_OP_TANH, t);
  guint32 addend = gantry_builder_binary (b, GANTRY_OP_ADD, half, half);
  guint32 sum = gantry_builder_binary (b, GANTRY_OP_ADD, e, gantry_builder_binary (b, GANTRY_OP_MULTIPLY, twice, addend));

  gantry_builder_unary (b, GANTRY_OP_NEGATE, sum);
  return gantry_builder_binary (b, GANTRY_OP_SUBTRACT, sum, gantry_builder_broadcast (b, gantry_builder_reduce (b, "max", sum, &last, 1), 2, dims, &first));
}

static GantryModule *
make_program (GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "bench");
  const GantryDim dims[] = { 16, 16 };
  GantryLocation location = { .line = 1 }; /* the text form wants one */
  guint32 x, one, half, place;

  location.file = gantry_context_intern (context, "bench");
  place = gantry_context_location (context, &location);
  gantry_builder_set_place (builder, 0, place);
  gantry_builder_begin (builder, "main", 0);
  x = gantry_builder_parameter (builder, gantry_context_tensor (context, GANTRY_F32, 2, dims), "x");
  one = gantry_builder_splat (builder, GANTRY_F32, 1, 2, dims);
  half = gantry_builder_splat (builder, GANTRY_F32, 0.5, 2, dims);
  for (int i = 0; i < n_nodes; i += 12)
    {
      g_autofree char *scope = g_strdup_printf ("block.%d/layer.%d", i / 600, i / 12);

      gantry_builder_set_place (builder, gantry_context_scope (context, scope), place);
      x = add_layer (builder, x, one, half, dims);
    }
  gantry_builder_end (builder, &x, 1);
  return gantry_builder_finish (builder, error);
}

/* A model has to come from a file, as it does for the user. */
static GantryModel *
open_program (GError **error)
{
  g_autoptr (GantryModule) module = make_program (error);
  g_autofree char *text = module != NULL ? gantry_module_to_text (module, NULL) : NULL;
  g_autofree char *path = NULL;
  GantryModel *model = NULL;
  int descriptor;

  if (text == NULL || (descriptor = g_file_open_tmp ("bench-passes-XXXXXX.gir", &path, error)) < 0)
    return NULL;
  g_close (descriptor, NULL);
  if (g_file_set_contents (path, text, -1, error))
    model = gantry_model_open (path, NULL, -1, NULL, error);
  g_unlink (path);
  return model;
}

/* --- figures --------------------------------------------------------------------------------- */

static void
print_figure (const char *pass, const char *name, double *values, int n, const char *unit, const char *beside)
{
  g_autofree char *model = files != NULL ? g_path_get_basename (files[0]) : NULL;
  g_autofree char *full = g_strdup_printf ("passes.%s%s%s.%s", model != NULL ? model : "", model != NULL ? "." : "", pass, name);

  bench_print_figure (full, values, (guint) n, unit, beside);
}

/* What a user waits for: @n_runs times from the file to the plan. */
static gboolean
bench_file (GError **error)
{
  g_autofree double *totals = g_new0 (double, n_runs);

  for (int i = 0; i < n_runs; i++)
    {
      gint64 start = g_get_monotonic_time ();
      g_autoptr (GantryModel) model = gantry_model_open (files[0], NULL, -1, NULL, error);
      g_autoptr (GantryCompilation) compilation = model != NULL ? gantry_compile (model, NULL, NULL, error) : NULL;

      if (compilation == NULL)
        return FALSE;
      totals[i] = (double) (g_get_monotonic_time () - start) / 1000;
    }
  print_figure ("all", "from_file_to_plan", totals, n_runs, "ms", peer != NULL ? peer : "not measured");
  return TRUE;
}

/* One pass over all runs. Its speed counts the nodes that it was given; its size those that it left. */
static void
print_pass (GantryCompilation *const *runs, guint pass)
{
  const GantryModule *before = runs[0]->snapshots[pass - 1].module, *after = runs[0]->snapshots[pass].module;
  g_autofree double *speeds = g_new (double, n_runs);
  g_autofree char *budget = g_strdup_printf ("quoted: budget %d B/node", BUDGET);
  double bytes = (double) gantry_module_size (after) / MAX (after->n_nodes, 1);

  for (int i = 0; i < n_runs; i++)
    speeds[i] = before->n_nodes / MAX (runs[i]->snapshots[pass].milliseconds / 1000, 1e-6);
  print_figure (runs[0]->snapshots[pass].pass, "speed", speeds, n_runs, "nodes/s", "not measured");
  if (before != after) /* else it shares the snapshot before */
    print_figure (runs[0]->snapshots[pass].pass, "snapshot", &bytes, 1, "B/node", budget);
}

static gboolean
bench (GError **error)
{
  g_autoptr (GantryModel) model = files != NULL ? gantry_model_open (files[0], NULL, -1, NULL, error) : open_program (error);
  g_autofree GantryCompilation **runs = g_new0 (GantryCompilation *, n_runs + 1);
  g_autofree double *totals = g_new0 (double, n_runs);
  gboolean ok = model != NULL;

  for (int i = 0; ok && i < n_runs; i++)
    {
      gint64 start = g_get_monotonic_time ();

      runs[i] = gantry_compile (model, NULL, NULL, error);
      totals[i] = (double) (g_get_monotonic_time () - start) / 1000;
      ok = runs[i] != NULL;
    }
  for (guint pass = 1; ok && pass < runs[0]->n_snapshots; pass++)
    if (pass > 1 || runs[0]->snapshots[0].module != runs[0]->snapshots[1].module)
      print_pass (runs, pass);
  if (ok)
    print_figure ("all", "with_verifier_and_plan", totals, n_runs, "ms", "not measured");
  for (int i = 0; i < n_runs; i++)
    gantry_compilation_unref (runs[i]);
  return ok && (files == NULL || bench_file (error));
}

int
main (int argc, char **argv)
{
  static const BenchLimit limits[] = { { "runs", &n_runs, 1, 1000 }, { "nodes", &n_nodes, 1, 10000000 }, { NULL } };
  int status = bench_main (argc, argv, "bench-passes", options, limits, bench);

  g_strfreev (files);
  g_free (peer);
  return status;
}
