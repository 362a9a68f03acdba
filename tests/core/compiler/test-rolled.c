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

/* What a trip has of slices that are in the host is on the device for all of it, and what a loop saves in the place of products is there as
 * a whole when others are free by and by: @most_staged is for those. Places are of whole lines, of which small programs notice @slack bytes. */
static void
check (GantryModel *model, double most_staged, double slack, double most_time)
{
  for (guint p = 0; p < G_N_ELEMENTS (loop_policies); p++)
    {
      g_autofree char *policy = loop_policy (p, "x");
      Figures rolled = figures_of (model, policy, AS_LOOPS), written_out = figures_of (model, policy, WRITTEN_OUT);
      Figures chosen = figures_of (model, policy, BY_COST);
      double most = strstr (policy, "offload") != NULL || strstr (policy, "dots") != NULL ? most_staged : MOST_MEMORY;

      g_test_message ("%s: %.3f MiB, written out %.3f (%.3f); %.0f us, written out %.0f (%.3f)", policy, rolled.bytes / MIB, written_out.bytes / MIB,
                      rolled.bytes / written_out.bytes, rolled.us, written_out.us, rolled.us / written_out.us);
      g_assert_cmpfloat (rolled.bytes, <=, most * written_out.bytes + slack);
      g_assert_cmpfloat (rolled.us, <=, most_time * written_out.us);
      g_test_message ("by cost: %.3f, %.3f", chosen.bytes / written_out.bytes, chosen.us / written_out.us);
      g_assert_cmpfloat (chosen.bytes, <=, most * written_out.bytes);
      g_assert_cmpfloat (chosen.us, <=, MAX (most_time, MOST_TIME) * written_out.us);
    }
}

static void
check_file (const char *name, double most_staged, double slack, double most_time)
{
  g_autofree char *path = test_source_file ("data/programs", name);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, -1, NULL, &error);

  g_test_message ("%s", name);
  g_assert_no_error (error);
  check (model, most_staged, slack, most_time);
}

static void
test_layers (void)
{
  check_file ("layers.gir", MOST_MEMORY, 0, MOST_TIME);
  check_file ("layers-unrolled.gir", MOST_MEMORY, 0, MOST_TIME);
  check_file ("layers-tiny.gir", MOST_MEMORY, 1024, 1.25);
  check_file ("layers-unrolled-tiny.gir", MOST_MEMORY, 0, MOST_TIME);
}

/* Layers whose weights are parameters of their own. */
static void
test_transformers (void)
{
  check_file ("transformer-tiny.gir", MOST_MEMORY, 0, MOST_TIME);
  check_file ("transformer-4.gir", 1.055, 0, MOST_TIME);
}

static void
test_recurrent (void)
{
  g_autofree char *text = gru_program (40, 16, 128);
  GantryContext *context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "gru.gir", &error);
  g_autoptr (GantryModel) model = NULL;

  g_assert_no_error (error);
  model = gantry_model_new (module, "gru");
  check (model, 1.09, 0, 1.08);
  gantry_module_unref (module);
  gantry_context_unref (context);
  /* Five steps of width four: what a trip costs beside its kernels is much of them. */
  check_file ("lstm.gir", MOST_MEMORY, 2048, 1.6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compiler/rolled/layers", test_layers);
  g_test_add_func ("/compiler/rolled/transformers", test_transformers);
  g_test_add_func ("/compiler/rolled/recurrent", test_recurrent);
  return g_test_run ();
}
