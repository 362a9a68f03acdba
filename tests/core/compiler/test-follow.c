/* SPDX-License-Identifier: Apache-2.0 */
/* Following nodes through all passes of a training compilation, in both directions; the ids and keys that results are
 * kept by; planning again without compiling again. */
#include "core/compiler/compiler.h"
#include "core/graph/operation.h"
#include <string.h>

static GantryModel *
open_program (const char *name)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *path = g_build_filename (root != NULL ? root : ".", "data", "programs", name, NULL);
  g_autoptr (GError) error = NULL;
  GantryModel *model = gantry_model_open (path, NULL, -1, NULL, &error);

  g_assert_no_error (error);
  return model;
}

static GantryCompilation *
compile_step (GantryModel *model, const GantryCompileSettings *settings)
{
  g_auto (GantryCompileSettings) own;
  g_autoptr (GError) error = NULL;
  GantryCompilation *compilation;

  gantry_compile_settings_init (&own);
  own.train = TRUE;
  own.training.optimizer = GANTRY_OPTIMIZER_ADAM;
  compilation = gantry_compile (model, settings != NULL ? settings : &own, NULL, &error);
  g_assert_no_error (error);
  g_assert_no_error (compilation->refusal);
  return compilation;
}

static gboolean
holds (const GArray *ids, guint32 id)
{
  for (guint i = 0; i < ids->len; i++)
    if (g_array_index (ids, guint32, i) == id)
      return TRUE;
  return FALSE;
}

/* One step: whatever @from's node is followed to is followed back to it. */
static void
check_step (const GantryCompilation *compilation, guint from, guint to)
{
  const GantryModule *module = compilation->snapshots[from].module;
  const GantryModule *next = compilation->snapshots[to].module;
  guint found = 0;

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      g_autoptr (GArray) ids = gantry_compilation_follow (compilation, from, module->nodes[i].id, to);

      for (guint k = 0; k < ids->len; k++)
        {
          guint32 id = g_array_index (ids, guint32, k);
          g_autoptr (GArray) back = gantry_compilation_follow (compilation, to, id, from);

          g_assert_nonnull (gantry_module_node (next, id));
          g_assert_true (holds (back, module->nodes[i].id));
          found++;
        }
      /* A node that a pass leaves alone is itself. */
      if (gantry_module_node (next, module->nodes[i].id) != NULL)
        g_assert_true (holds (ids, module->nodes[i].id));
    }
  g_assert_cmpuint (found, >, 0);
}

static void
test_each_pass (void)
{
  g_autoptr (GantryModel) model = open_program ("mlp.gir");
  g_autoptr (GantryCompilation) compilation = compile_step (model, NULL);

  for (guint i = 1; i < compilation->n_snapshots; i++)
    {
      check_step (compilation, i - 1, i);
      check_step (compilation, i, i - 1);
    }
}

/* Over all passes: what the step is made of leads back to the file, but for what the optimizer adds from nothing; each
 * operation of the file is found in the step. */
static void
test_all_passes (void)
{
  g_autoptr (GantryModel) model = open_program ("mlp.gir");
  g_autoptr (GantryCompilation) compilation = compile_step (model, NULL);
  guint last = compilation->n_snapshots - 1;
  const GantryModule *import = compilation->snapshots[0].module, *step = compilation->snapshots[last].module;
  guint backward = 0, led_back = 0;

  for (guint32 i = 0; i < import->n_nodes; i++)
    {
      g_autoptr (GArray) ids = gantry_compilation_follow (compilation, 0, import->nodes[i].id, last);

      g_assert_cmpuint (ids->len, >, 0);
      for (guint k = 1; k < ids->len; k++)
        g_assert_cmpuint (g_array_index (ids, guint32, k - 1), <, g_array_index (ids, guint32, k));
    }
  for (guint32 i = 0; i < gantry_module_entry (step)->n_nodes; i++)
    {
      const GantryNode *node = &step->nodes[i];
      g_autoptr (GArray) ids = gantry_compilation_follow (compilation, last, node->id, 0);

      backward += node->phase == GANTRY_PHASE_BACKWARD;
      led_back += node->phase == GANTRY_PHASE_BACKWARD && ids->len > 0;
      if (node->phase == GANTRY_PHASE_FORWARD && node->op == GANTRY_OP_DOT_GENERAL)
        {
          g_assert_cmpuint (ids->len, ==, 1);
          g_assert_cmpuint (gantry_module_node (import, g_array_index (ids, guint32, 0))->op, ==, GANTRY_OP_DOT_GENERAL);
        }
    }
  g_assert_cmpuint (backward, >, 0);
  g_assert_cmpuint (led_back, ==, backward);
}

/* Many at once is the union of each by itself. */
static void
test_sets (void)
{
  g_autoptr (GantryModel) model = open_program ("transformer-tiny.gir");
  g_autoptr (GantryCompilation) compilation = compile_step (model, NULL);
  guint last = compilation->n_snapshots - 1;
  const GantryModule *import = compilation->snapshots[0].module;
  g_autoptr (GArray) together = NULL;
  g_autoptr (GHashTable) each = g_hash_table_new (NULL, NULL);
  guint32 nodes[20];

  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    {
      g_autoptr (GArray) ids = NULL;

      nodes[i] = import->nodes[i * 7 % import->n_nodes].id;
      ids = gantry_compilation_follow (compilation, 0, nodes[i], last);
      for (guint k = 0; k < ids->len; k++)
        g_hash_table_add (each, GUINT_TO_POINTER (g_array_index (ids, guint32, k)));
    }
  together = gantry_compilation_follow_all (compilation, 0, nodes, G_N_ELEMENTS (nodes), last);
  g_assert_cmpuint (together->len, ==, g_hash_table_size (each));
  for (guint k = 0; k < together->len; k++)
    g_assert_true (g_hash_table_contains (each, GUINT_TO_POINTER (g_array_index (together, guint32, k))));
}

/* Two compilations of one model: ids differ, keys do not. In a context of its own that begins at the same id, ids are the
 * same: this is what a run in another process relies on. */
static void
test_keys_and_ids (void)
{
  g_autoptr (GantryModel) model = open_program ("transformer-tiny.gir"), other = open_program ("transformer-tiny.gir");
  g_autoptr (GantryCompilation) first = compile_step (model, NULL), second = compile_step (model, NULL), third = NULL;
  const GantryModule *a = gantry_compilation_module (first), *b = gantry_compilation_module (second), *c;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_int64_hash, g_int64_equal);
  guint moved = 0;

  g_assert_cmpuint (second->first_id, >, first->first_id);
  gantry_context_reserve_node_ids (other->module->context, second->first_id);
  third = compile_step (other, NULL);
  c = gantry_compilation_module (third);
  g_assert_cmpuint (a->n_nodes, ==, b->n_nodes);
  g_assert_cmpuint (a->n_nodes, ==, c->n_nodes);
  for (guint32 i = 0; i < gantry_module_entry (a)->n_nodes; i++)
    {
      moved += a->nodes[i].id != b->nodes[i].id;
      g_assert_cmpuint (first->keys[i], ==, second->keys[i]);
      g_assert_true (g_hash_table_add (seen, &first->keys[i]));
    }
  g_assert_cmpuint (moved, >, 0);
  for (guint32 i = 0; i < b->n_nodes; i++)
    g_assert_cmpuint (b->nodes[i].id, ==, c->nodes[i].id);
}

static void
test_replan (void)
{
  g_autoptr (GantryModel) model = open_program ("transformer-tiny.gir");
  g_autoptr (GantryCompilation) compilation = compile_step (model, NULL), again = NULL, wrong = NULL;
  g_auto (GantryCompileSettings) settings;
  g_autoptr (GError) error = NULL;

  gantry_compile_settings_copy (&settings, &compilation->settings);
  settings.policy = g_strdup ("role:state offload; name:nothing-of-that-name recompute");
  again = gantry_compilation_replan (compilation, &settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_compilation_module (again) == gantry_compilation_module (compilation));
  g_assert_cmpuint (again->plan->arena_bytes[GANTRY_MEMORY_DEVICE], <, compilation->plan->arena_bytes[GANTRY_MEMORY_DEVICE]);
  g_assert_cmpuint (again->plan->copied_bytes, >, 0);
  g_assert_cmpuint (again->reports->len, ==, 2);
  g_assert_cmpuint (((GantryPolicyReport *) g_ptr_array_index (again->reports, 0))->n_decided, >, 0);
  g_assert_nonnull (((GantryPolicyReport *) g_ptr_array_index (again->reports, 1))->problem);
  g_free (settings.policy);
  settings.policy = g_strdup ("role:state fly");
  wrong = gantry_compilation_replan (compilation, &settings, NULL, &error);
  g_assert_null (wrong);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
}

/* What cannot be trained is a refusal that names it; the snapshots up to there are shown, the passes after it as well. */
static void
test_refused (void)
{
  g_autoptr (GantryModel) model = open_program ("mlp.gir");
  g_auto (GantryCompileSettings) settings;
  g_autoptr (GantryCompilation) compilation = NULL;
  g_autoptr (GError) error = NULL;

  gantry_compile_settings_init (&settings);
  settings.train = TRUE;
  settings.training.output = 9;
  compilation = gantry_compile (model, &settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (compilation->refusal);
  g_assert_null (compilation->plan);
  g_assert_cmpuint (compilation->n_unreached, >, 3);
  g_assert_cmpstr (compilation->unreached[0]->name, ==, "train");
  g_assert_true (compilation->unreached[0]->training);
}

static void
test_training_text (void)
{
  GantryTrainingOptions a, b;
  const char *const globs[] = { "fc1/*", "a;b", NULL };
  static const char *const wrong[] = { "optimizer=magic", "microbatches=abc", "microbatches=1.5", "microbatches=-3",  "microbatches=4097",
                                       "output=x",        "output=-1",        "no_loss=maybe",    "learning_rate=abc" };
  g_autofree char *text = NULL, *again = NULL;
  g_autoptr (GError) error = NULL;

  gantry_training_options_init (&a);
  gantry_training_options_init (&b);
  a.loss = GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY;
  a.optimizer = GANTRY_OPTIMIZER_ADAMW;
  a.learning_rate = 0.1234567890123;
  a.weight_decay = 1e-300;
  a.l2 = 0.5;
  a.microbatches = 4;
  a.output = 3;
  a.with_respect_to = g_strdupv ((char **) globs);
  text = gantry_training_options_to_text (&a);
  g_assert_true (gantry_training_options_parse (&b, text, -1, &error));
  g_assert_no_error (error);
  again = gantry_training_options_to_text (&b);
  g_assert_cmpstr (text, ==, again);
  g_assert_cmpfloat (b.learning_rate, ==, a.learning_rate);
  g_assert_cmpuint (b.microbatches, ==, 4);
  g_assert_cmpstrv (b.with_respect_to, a.with_respect_to);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autofree char *lines = g_strconcat ("[training]\n", wrong[i], "\n", NULL);

      g_assert_false (gantry_training_options_parse (&b, lines, -1, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_clear_error (&error);
    }
  gantry_training_options_clear (&a);
  gantry_training_options_clear (&b);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compiler/follow/each-pass", test_each_pass);
  g_test_add_func ("/compiler/follow/all-passes", test_all_passes);
  g_test_add_func ("/compiler/follow/sets", test_sets);
  g_test_add_func ("/compiler/follow/keys-and-ids", test_keys_and_ids);
  g_test_add_func ("/compiler/replan", test_replan);
  g_test_add_func ("/compiler/refused-training", test_refused);
  g_test_add_func ("/compiler/training-text", test_training_text);
  return g_test_run ();
}
