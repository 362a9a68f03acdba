/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps whose loops run as loops take no more memory and hardly more time than written out, however values are placed. That their
 * bits are the same is tests/core/build/test-written-out.c. */
#include "core/compiler/compiler.h"
#include "core/graph/graph.h"
#include "tests/core/build/loop-policies.h"
#include "tests/core/build/loop-programs.h"
#include "tests/test-files.h"

#define MIB (1024 * 1024.0)
#define MOST_MEMORY 1.02
#define MOST_TIME 1.05

typedef struct
{
  double bytes, us;
} Figures;

/* What becomes of loops. */
typedef enum
{
  WRITTEN_OUT,
  AS_LOOPS,
  BY_COST, /* as a loop where that costs little */
} Loops;

static Figures
figures_of (GantryModel *model, const char *policy, Loops loops)
{
  g_auto (GantryCompileSettings) settings;
  g_autoptr (GantryCompilation) compilation = NULL;
  g_autoptr (GError) error = NULL;

  gantry_compile_settings_init (&settings);
  settings.train = TRUE;
  settings.policy = g_strdup (policy);
  settings.most_unrolled = loops == WRITTEN_OUT ? 100000 : 1;
  if (loops == AS_LOOPS)
    gantry_compile_settings_keep_loops (&settings);
  settings.training.loss = GANTRY_LOSS_OUTPUT;
  settings.training.optimizer = GANTRY_OPTIMIZER_ADAM;
  compilation = gantry_compile (model, &settings, NULL, &error);
  g_assert_no_error (error);
  return (Figures){ (double) gantry_plan_memory_bytes (compilation->plan, GANTRY_MEMORY_DEVICE), compilation->plan->total_us };
}

/* What holds of a program as loops, besides MOST_MEMORY and MOST_TIME. */
typedef struct
{
  double staged; /* what a trip has of slices that are in the host is on the device for all of it, and what a loop saves in the place of products
                  * is there as a whole when others are free by and by: times the memory */
  double again;  /* where an operation is made again whose result a loop saved in the place of its operands: times the time */
  double slack;  /* bytes: places are of whole lines, which small programs notice */
  double time;   /* times the time, where loops are too small to be loops */
} Bounds;

#define BOUNDS \
  { \
    .staged = MOST_MEMORY, .again = MOST_TIME, .time = MOST_TIME \
  }

static void
check (GantryModel *model, const Bounds *bounds)
{
  for (guint p = 0; p < G_N_ELEMENTS (loop_policies); p++)
    {
      g_autofree char *policy = loop_policy (p, "x");
      Figures rolled = figures_of (model, policy, AS_LOOPS), written_out = figures_of (model, policy, WRITTEN_OUT);
      Figures chosen = figures_of (model, policy, BY_COST);
      double most = strstr (policy, "offload") != NULL || strstr (policy, "dots") != NULL ? bounds->staged : MOST_MEMORY;
      double most_time = strstr (policy, "op:") != NULL ? bounds->again : MOST_TIME;

      g_test_message ("%s: %.3f MiB, written out %.3f (%.3f); %.0f us, written out %.0f (%.3f)", policy, rolled.bytes / MIB, written_out.bytes / MIB,
                      rolled.bytes / written_out.bytes, rolled.us, written_out.us, rolled.us / written_out.us);
      g_assert_cmpfloat (rolled.bytes, <=, most * written_out.bytes + bounds->slack);
      g_assert_cmpfloat (rolled.us, <=, MAX (most_time, bounds->time) * written_out.us);
      g_test_message ("by cost: %.3f, %.3f", chosen.bytes / written_out.bytes, chosen.us / written_out.us);
      g_assert_cmpfloat (chosen.bytes, <=, most * written_out.bytes);
      g_assert_cmpfloat (chosen.us, <=, most_time * written_out.us);
    }
}

static void
check_file (const char *name, Bounds bounds)
{
  g_autofree char *path = test_source_file ("data/programs", name);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, -1, NULL, &error);

  g_test_message ("%s", name);
  g_assert_no_error (error);
  check (model, &bounds);
}

/* @text: taken */
static void
check_text (char *text, Bounds bounds)
{
  g_autofree char *owned = text;
  GantryContext *context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "loop.gir", &error);
  g_autoptr (GantryModel) model = NULL;

  g_assert_no_error (error);
  model = gantry_model_new (module, "loop");
  check (model, &bounds);
  gantry_module_unref (module);
  gantry_context_unref (context);
}

static void
test_layers (void)
{
  const Bounds bounds = BOUNDS;
  Bounds tiny = BOUNDS;

  check_file ("layers.gir", bounds);
  check_file ("layers-unrolled.gir", bounds);
  check_file ("layers-unrolled-tiny.gir", bounds);
  tiny.slack = 1024;
  tiny.time = 1.25;
  check_file ("layers-tiny.gir", tiny);
}

/* Layers whose weights are parameters of their own. */
static void
test_transformers (void)
{
  Bounds bounds = BOUNDS;

  check_file ("transformer-tiny.gir", bounds);
  bounds.staged = 1.055;
  check_file ("transformer-4.gir", bounds);
}

static void
test_recurrent (void)
{
  Bounds gru = BOUNDS, lstm = BOUNDS, tiny = BOUNDS;

  gru.staged = 1.09;
  gru.again = 1.08;
  check_text (gru_program (40, 16, 128), gru);
  lstm.again = 1.24;
  check_text (lstm_program (40, 16, 128), lstm);
  /* Five steps of width four: what a trip costs beside its kernels is much of them. */
  tiny.slack = 2048;
  tiny.time = 1.6;
  check_file ("lstm.gir", tiny);
}

/* A product behind the loop instead of sums within it needs stacks: where a limit is not met, the refusal says so, and without it is met. */
static void
test_limited (void)
{
  g_autofree char *text = gru_program (40, 16, 128);
  GantryContext *context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "loop.gir", &error);
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GantryCompilation) with = NULL, without = NULL;
  g_auto (GantryCompileSettings) settings;

  g_assert_no_error (error);
  model = gantry_model_new (module, "loop");
  gantry_compile_settings_init (&settings);
  gantry_compile_settings_keep_loops (&settings);
  settings.train = TRUE;
  settings.training.loss = GANTRY_LOSS_OUTPUT;
  settings.training.optimizer = GANTRY_OPTIMIZER_ADAM;
  settings.target.memory_limit = 9 << 19;
  with = gantry_compile (model, &settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_error (with->plan_error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_test_message ("%s", with->plan_error->message);
  g_assert_nonnull (strstr (with->plan_error->message, "; the pass 'hoist' (Sums of products over trips) has taken memory to save time"));
  gantry_compile_settings_set_enabled (&settings, "hoist", FALSE);
  without = gantry_compile (model, &settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_no_error (without->plan_error);
  settings.target.memory_limit = 1 << 20;
  g_clear_pointer (&without, gantry_compilation_unref);
  without = gantry_compile (model, &settings, NULL, &error);
  g_assert_error (without->plan_error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_assert_null (strstr (without->plan_error->message, "hoist"));
  gantry_module_unref (module);
  gantry_context_unref (context);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compiler/rolled/layers", test_layers);
  g_test_add_func ("/compiler/rolled/transformers", test_transformers);
  g_test_add_func ("/compiler/rolled/recurrent", test_recurrent);
  g_test_add_func ("/compiler/rolled/limited", test_limited);
  return g_test_run ();
}
