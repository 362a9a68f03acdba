/* SPDX-License-Identifier: Apache-2.0 */
/* What keeping everything takes of training steps: nothing is saved for the backward phase that is made of hardly anything, and a program
 * that is written out takes no more than its loop; and which pass is for a GPU alone. */
#include "core/compiler/compiler.h"
#include "core/planner/planner.h"
#include "tests/test-files.h"

#define MIB (1024 * 1024.0)
#define ENLARGED 8 /* a value of more than so many times of what it is made of is a broadcast, whatever it is called */

/* The training step of a program of the tree. (transfer full) */
static GantryCompilation *
compile (const char *folder, const char *name, const char *optimizer)
{
  g_autofree char *path = test_source_file (folder, name);
  g_auto (GantryCompileSettings) settings;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, -1, NULL, &error);
  GantryCompilation *compilation;

  g_assert_no_error (error);
  gantry_compile_settings_init (&settings);
  settings.train = TRUE;
  gantry_optimizer_parse (optimizer, &settings.training.optimizer, &error);
  g_assert_no_error (error);
  compilation = gantry_compile (model, &settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (compilation->plan);
  return compilation;
}

static double
mib_of (const GantryCompilation *compilation)
{
  return (double) gantry_plan_memory_bytes (compilation->plan, GANTRY_MEMORY_DEVICE) / MIB;
}

static void
check_residual (const GantryModule *module, const GantryNode *node, guint64 bytes)
{
  guint64 operands = 0;

  for (guint i = 0; i < node->n_operands; i++)
    operands += gantry_type_bytes (gantry_node_operand_type (module, node, i));
  if (node->op == GANTRY_OP_BROADCAST_IN_DIM || bytes > ENLARGED * operands)
    g_error ("node %u, %s: %" G_GUINT64_FORMAT " bytes are saved that are made of %" G_GUINT64_FORMAT, node->id, gantry_node_op_name (module, node), bytes,
             operands);
}

/* Two blocks of BERT at batch 32, length 128 and width 768, in bf16. */
static void
test_bert (void)
{
  g_autoptr (GantryCompilation) compilation = compile ("data/recordings/h200-2026-11-27", "bert-32-128-768-loss.gir", "sgd");
  const GantryModule *module = gantry_compilation_module (compilation);
  g_autoptr (GError) error = NULL;
  GantryPlanner *planner = gantry_compilation_take_planner (compilation, NULL, &error);
  guint n, n_residuals = 0;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  g_assert_no_error (error);
  for (guint c = 0; c < n; c++)
    if (candidates[c].subject == GANTRY_SUBJECT_RESIDUAL)
      {
        check_residual (module, gantry_module_node (module, candidates[c].node), candidates[c].bytes);
        n_residuals++;
      }
  g_assert_cmpuint (n_residuals, >, 10);
  g_test_message ("%.1f MiB", mib_of (compilation));
  g_assert_cmpfloat (mib_of (compilation), <=, 270);
  gantry_compilation_give_planner (compilation, planner);
}

/* A relu knows from its result where it let its operand through: only the result, which the next product saves, is saved. */
static void
test_relu (void)
{
  g_autoptr (GantryCompilation) compilation = compile ("tests/fixtures/models", "relu-layers.gir", "none");
  g_autoptr (GError) error = NULL;
  GantryPlanner *planner = gantry_compilation_take_planner (compilation, NULL, &error);
  guint64 saved = 0;
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  g_assert_no_error (error);
  for (guint c = 0; c < n; c++)
    if (candidates[c].subject == GANTRY_SUBJECT_RESIDUAL)
      saved += candidates[c].bytes;
  g_assert_cmpuint (saved, >=, 256 * 512 * 4);
  g_assert_cmpuint (saved, <, 256 * 512 * 4 * 3 / 2);
  gantry_compilation_give_planner (compilation, planner);
}

static guint
stops_after (const GantryCompilation *compilation, const char *pass)
{
  const GantryModule *module = NULL;
  guint n = 0;

  for (guint i = 0; i < compilation->n_snapshots; i++)
    if (strcmp (compilation->snapshots[i].pass, pass) == 0)
      module = compilation->snapshots[i].module;
  g_assert_nonnull (module);
  for (guint32 i = 0; i < module->n_nodes; i++)
    n += module->nodes[i].op == GANTRY_OP_STOP_GRADIENT;
  return n;
}

/* What stops gradients is there until the gradients are taken, and no longer. */
static void
test_stopped (void)
{
  g_autoptr (GantryCompilation) compilation = compile ("tests/fixtures/models", "stopped.gir", "none");

  g_assert_cmpuint (stops_after (compilation, "legalize"), ==, 1);
  g_assert_cmpuint (stops_after (compilation, "simplify"), ==, 1);
  g_assert_cmpuint (stops_after (compilation, "simplify-2"), ==, 0);
}

/* Gradients of slices of a stack of parameters are written into one stack, not padded to it and added. */
static void
test_unrolled (void)
{
  g_autoptr (GantryCompilation) unrolled = compile ("data/programs", "layers-unrolled.gir", "none"), scan = compile ("data/programs", "layers.gir", "none");

  g_test_message ("written out %.2f MiB, as a scan %.2f MiB", mib_of (unrolled), mib_of (scan));
  g_assert_cmpfloat (mib_of (unrolled), <=, 1.05 * mib_of (scan));
}

/* Images of few channels get whole blocks where products are generated, for a GPU, and nowhere else: a processor's library does it itself. */
static void
test_channels (void)
{
  g_autofree char *path = test_source_file ("data/recordings/h200-2026-11-27", "resnet50-32-224.gir");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, -1, NULL, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < 2; i++)
    {
      g_auto (GantryCompileSettings) settings;
      g_autoptr (GantryCompilation) compilation = NULL;
      guint n = 0;

      gantry_compile_settings_init (&settings);
      settings.fuse_products = i == 1;
      compilation = gantry_compile (model, &settings, NULL, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < compilation->n_snapshots; k++)
        n += g_str_equal (compilation->snapshots[k].pass, "channels") && compilation->snapshots[k].changed;
      g_assert_cmpuint (n, ==, i);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compiler/steps/stopped", test_stopped);
  g_test_add_func ("/compiler/steps/bert", test_bert);
  g_test_add_func ("/compiler/steps/relu", test_relu);
  g_test_add_func ("/compiler/steps/unrolled", test_unrolled);
  g_test_add_func ("/compiler/steps/channels", test_channels);
  return g_test_run ();
}
