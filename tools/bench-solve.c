/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the solver on training steps: how long it takes to fit a model into 30, 50 and 70 % of what keeping everything
 * takes, how far the answer may be from the best, and what recomputing everything, offloading everything and keeping every
 * sqrt(n)-th value give within the same memory.
 *
 *   bench-solve [--seconds=N] [--exact] [--target=FILE] [--no-offload] [--methods [--link=GB/s] [--percent=N]] [--peer=TEXT] MODEL...
 *
 * prints a line for each figure: name, value, unit, spread, peer.
 *
 * --methods asks each method alone, and those that may only recompute or only offload, on links of 50, 12 and 2 GB/s for 20 to 70 %: the
 * figure is auto's time in times of the best of them, above 1 where that is worse.
 *
 * TEXT is what another compiler took to decide on a transformer of 12 layers. --exact lets the integer program run to its end, for the bound that the
 * quick answer is held against.
 */
#include "core/compiler/compiler.h"
#include "core/planner/solver/solve.h"
#include "tools/bench-figure.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static gboolean exact, no_offload, methods;
static double seconds, only_link;
static int only_percent;
static char *optimizer, *target_file, *peer_text;

static const GOptionEntry options[] = {
  { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds, "A safety: end each answer after so long; 0: never", "N" },
  { "exact", 0, 0, G_OPTION_ARG_NONE, &exact, "Let the integer program run to its end as well", NULL },
  { "target", 0, 0, G_OPTION_ARG_FILENAME, &target_file, "The machine, as a key file", "FILE" },
  { "no-offload", 0, 0, G_OPTION_ARG_NONE, &no_offload, "Recompute only", NULL },
  { "methods", 0, 0, G_OPTION_ARG_NONE, &methods, "auto against each method and each restriction, on three links", NULL },
  { "link", 0, 0, G_OPTION_ARG_DOUBLE, &only_link, "With --methods: one of the links alone", "GB/s" },
  { "percent", 0, 0, G_OPTION_ARG_INT, &only_percent, "With --methods: one of the budgets alone", "N" },
  { "optimizer", 0, 0, G_OPTION_ARG_STRING, &optimizer, "none, sgd, momentum, adam or adamw", "NAME" },
  { "peer", 0, 0, G_OPTION_ARG_STRING, &peer_text, "What another compiler took for transformer-12 and 30 %", "TEXT" },
  { NULL },
};

static void
print_figure (const char *model, guint percent, const char *what, double value, const char *unit, const char *peer)
{
  g_autofree char *full = g_strdup_printf ("solve.%s.%u.%s", model, percent, what);

  bench_print_figure (full, &value, 1, unit, peer);
}

/* The least time within @limit that one simple policy gives: all values of @kind but every @keep-th; INFINITY: it does not fit. */
static double
simple_policy (GantryPlanner *planner, GantryPlacementKind kind, guint keep, guint64 limit)
{
  g_autoptr (GantryPlacements) placements = gantry_placements_new ();
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();
  guint n, seen = 0;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  for (guint i = 0; i < n; i++)
    if (candidates[i].subject == GANTRY_SUBJECT_RESIDUAL && (candidates[i].allowed >> kind & 1) != 0 && (keep == 0 || seen++ % keep != 0))
      gantry_placements_set (
        placements,
        &(GantryPlacement){ .node = candidates[i].node, .kind = (guint8) kind, .decider = GANTRY_DECIDED_BY_SOLVER, .memory = GANTRY_MEMORY_PINNED_HOST });
  gantry_planner_predict (planner, placements, prediction);
  return prediction->peak_bytes <= limit ? prediction->step_us : INFINITY;
}

static void
fit (GantryPlanner *planner, const char *name, guint percent, const GantryPrediction *all, guint64 constants)
{
  guint64 limit = all->peak_bytes * percent / 100; /* of the arena; a goal counts the constants beside it too */
  GantrySolveGoal goal = { .memory_bytes = limit + constants, .seconds = seconds, .allowed = no_offload ? 1u << GANTRY_PLACEMENT_RECOMPUTE : 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GantrySolution) solution = gantry_solve (planner, &goal, NULL, NULL, &error);
  g_autofree char *peer = NULL, *gap = NULL;
  guint n;
  double recompute, offload, root, bound;

  gantry_planner_candidates (planner, &n);
  if (solution == NULL)
    {
      g_printerr ("%s, %u %%: %s\n", name, percent, error->message);
      return;
    }
  bound = solution->bound;
  if (exact && solution->proof == GANTRY_PROOF_NONE)
    {
      g_autoptr (GantrySolution) best = NULL;

      goal.method = GANTRY_SOLVE_EXACT;
      goal.effort = 100;
      goal.seconds = 120;
      best = gantry_solve (planner, &goal, NULL, NULL, NULL);
      if (best != NULL)
        bound = MAX (bound, best->bound);
    }
  recompute = simple_policy (planner, GANTRY_PLACEMENT_RECOMPUTE, 0, limit) / solution->figures.step_us;
  offload = simple_policy (planner, GANTRY_PLACEMENT_OFFLOAD, 0, limit) / solution->figures.step_us;
  root = simple_policy (planner, GANTRY_PLACEMENT_RECOMPUTE, (guint) MAX (sqrt (n), 2), limit) / solution->figures.step_us;
  peer = g_strdup_printf ("recompute all %.3f x, offload all %.3f x, sqrt(n) %.3f x this time", recompute, offload, root);
  print_figure (name, percent, "time", solution->figures.step_us / all->step_us, "x", peer);
  gap = g_strdup_printf ("%s, %u values, %" G_GUINT64_FORMAT " predictions", solution->method, n, solution->n_predictions);
  print_figure (name, percent, "gap", 100 * (solution->figures.step_us - bound) / solution->figures.step_us, "%", gap);
  print_figure (name, percent, "solved_in", solution->milliseconds, "ms",
                peer_text != NULL && percent == 30 && g_str_has_prefix (name, "transformer-12.") ? peer_text : "not measured");
}

/* The time of one method alone, with a planner of its own: what another one has found is no help. INFINITY: nothing was found */
static double
time_of (GantryCompilation *compilation, const GantryCompileSettings *settings, double link, guint percent, GantrySolveMethod method, guint allowed,
         const char **how)
{
  GantryTarget target = settings->target;
  GantryPlanOptions plan = { .target = &target };
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  g_autoptr (GantrySolution) solution = NULL;
  g_autoptr (GError) error = NULL;
  GantrySolveGoal goal = { .seconds = seconds, .method = method, .allowed = allowed };
  guint64 beside;

  target.link_bandwidth = link;
  planner = gantry_planner_new (gantry_compilation_module (compilation), &plan, NULL, NULL);
  if (planner == NULL)
    return INFINITY;
  gantry_planner_predict (planner, NULL, all);
  /* Of what placements can lower: constants and code lie beside it. */
  beside = gantry_memory_parts_total (&all->beside);
  goal.memory_bytes = beside + (all->peak_bytes - beside) * percent / 100;
  solution = gantry_solve (planner, &goal, NULL, NULL, &error);
  if (solution == NULL && how != NULL)
    g_printerr ("%u %%: %s\n", percent, error->message);
  if (how != NULL)
    *how = solution != NULL ? solution->method : "refused";
  return solution != NULL ? solution->figures.step_us / all->step_us : INFINITY;
}

/* auto's time in times of the best of all others. */
static void
compare_at (GantryCompilation *compilation, const GantryCompileSettings *settings, const char *name, double link, guint percent)
{
  static const struct
  {
    const char *name;
    GantrySolveMethod method;
    guint allowed;
  } others[] = {
    { "exact", GANTRY_SOLVE_EXACT, 0 },
    { "search", GANTRY_SOLVE_SEARCH, 0 },
    { "autotm", GANTRY_SOLVE_AUTOTM, 0 },
    { "recompute only", GANTRY_SOLVE_AUTO, 1u << GANTRY_PLACEMENT_KEEP | 1u << GANTRY_PLACEMENT_RECOMPUTE },
    { "offload only", GANTRY_SOLVE_AUTO, 1u << GANTRY_PLACEMENT_KEEP | 1u << GANTRY_PLACEMENT_OFFLOAD },
  };
  const char *how;
  double automatic = time_of (compilation, settings, link, percent, GANTRY_SOLVE_AUTO, 0, &how), best = INFINITY;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *what = g_strdup_printf ("auto_against_best_at_%.0f_GB_s", link / 1e9);

  g_string_append_printf (text, "auto (%s) %.4f x keeping all", how, automatic);
  for (guint o = 0; o < G_N_ELEMENTS (others); o++)
    {
      double x = time_of (compilation, settings, link, percent, others[o].method, others[o].allowed, NULL);

      g_string_append_printf (text, ", %s %.4f", others[o].name, x);
      best = MIN (best, x);
    }
  print_figure (name, percent, what, isinf (automatic) && isinf (best) ? 1 : automatic / best, "x", text->str);
}

static void
compare_methods (GantryCompilation *compilation, const GantryCompileSettings *settings, const char *name)
{
  static const double links[] = { 50, 12, 2 };
  static const guint percents[] = { 20, 30, 40, 50, 70 };

  for (guint l = 0; l < G_N_ELEMENTS (links); l++)
    for (guint p = 0; p < G_N_ELEMENTS (percents); p++)
      if ((only_link <= 0 || links[l] == only_link) && (only_percent <= 0 || percents[p] == (guint) only_percent))
        compare_at (compilation, settings, name, links[l] * 1e9, percents[p]);
}

static gboolean
measure (const char *path, GError **error)
{
  static const guint percents[] = { 30, 50, 70 };
  g_auto (GantryCompileSettings) settings;
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GantryCompilation) compilation = NULL;
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  g_autofree char *name = g_path_get_basename (path);
  GantryPlanner *planner;

  gantry_compile_settings_init (&settings);
  if (target_file != NULL)
    {
      g_autofree char *text = NULL;
      gsize length;

      if (!g_file_get_contents (target_file, &text, &length, error) || !gantry_target_parse (&settings.target, text, (gssize) length, error))
        return FALSE;
      settings.target.memory_limit = 0; /* the goals are limits of their own */
    }
  settings.train = TRUE;
  if (!gantry_optimizer_parse (optimizer != NULL ? optimizer : "none", &settings.training.optimizer, error))
    return FALSE;
  model = gantry_model_open (path, NULL, -1, NULL, error);
  compilation = model != NULL ? gantry_compile (model, &settings, NULL, error) : NULL;
  planner = compilation != NULL ? gantry_compilation_take_planner (compilation, NULL, error) : NULL;
  if (planner == NULL)
    return FALSE;
  gantry_planner_predict (planner, NULL, all);
  if (methods)
    compare_methods (compilation, &settings, name);
  for (guint i = 0; !methods && i < G_N_ELEMENTS (percents); i++)
    fit (planner, name, percents[i], all, compilation->plan != NULL ? compilation->plan->constant_bytes : 0);
  gantry_compilation_give_planner (compilation, planner);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("MODEL... - measure the placement solver");
  g_autoptr (GError) error = NULL;

  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      g_printerr ("bench-solve: %s\n", error->message);
      return EXIT_FAILURE;
    }
  for (int i = 1; i < argc; i++)
    if (!measure (argv[i], &error))
      {
        g_printerr ("bench-solve: %s: %s\n", argv[i], error->message);
        return EXIT_FAILURE;
      }
  return EXIT_SUCCESS;
}
