/* SPDX-License-Identifier: Apache-2.0 */
/* The models of the data folder and the sample: each opens with the counts that its origin gives, compiles, and its
 * planned arena is within a tenth of the lower bound. Broken files end in one error that names the file. */
#include "core/compiler/compiler.h"
#include "core/frontends/front-end.h"
#include "tests/test-files.h"
#include <string.h>

typedef struct
{
  const char *name;
  guint nodes, initializers; /* counted by the tool that made the folder's table */
  GantryDimBinding dims[2];
} Known;

static const Known models[] = {
  { "fastestdet", 218, 157 },
  { "fns_candy", 59, 64, { { "None", 1 } } },
  { "gonnx_gru", 5, 3, { { "batch_size", 1 }, { "seq_length", 4 } } },
  { "light_bvlc_alexnet", 40, 17 },
  { "light_inception_v1", 237, 118 },
  { "light_resnet50", 415, 269 },
  { "light_shufflenet", 446, 281 },
  { "light_squeezenet", 105, 52 },
  { "light_vgg19", 82, 39 },
  { "light_zfnet512", 38, 18 },
  { "mnist", 12, 8 },
  { "nnfusion_gru_bidirectional", 4, 0 },
  { "silero_vad_16k_op15", 350, 15, { { "batch", 1 }, { "sequence", 512 } } },
  { "squeezenet_fp16", 66, 52 },
  { "super_resolution", 8, 8, { { "batch_size", 1 } } },
  { "ultraface_rfb320", 242, 244 },
};

/* Inference without control flow: the passes of training and of control flow have no part in it. */
static void
check_snapshots (const GantryCompilation *compilation)
{
  static const char *const names[] = { "import", "legalize", "simplify", "epilogue", "fold", "cse", "dce", "fuse", "dce-2" };

  g_assert_cmpuint (compilation->n_snapshots, ==, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpstr (compilation->snapshots[i].pass, ==, names[i]);
  for (guint i = 1; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpuint (compilation->snapshots[i].nodes_before, ==, compilation->snapshots[i - 1].nodes_after);
}

static void
check_plan (const GantryCompilation *compilation)
{
  const GantryPlan *plan = compilation->plan;
  guint64 arena;

  g_assert_nonnull (plan);
  arena = plan->arena_bytes[GANTRY_MEMORY_DEVICE];
  g_assert_cmpuint (plan->lower_bound, >, 0);
  g_assert_cmpuint (arena, >=, plan->lower_bound);
  g_assert_cmpuint (arena * 10, <=, plan->lower_bound * 11);
  g_test_message ("arena %" G_GUINT64_FORMAT ", lower bound %" G_GUINT64_FORMAT ", %.3f", arena, plan->lower_bound,
                  (double) arena / (double) plan->lower_bound);
}

static void
test_model (gconstpointer data)
{
  const Known *known = data;
  g_autofree char *file = g_strconcat (known->name, ".onnx", NULL);
  g_autofree char *path = test_shared_file ("data/onnx", file);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GantryCompilation) compilation = NULL;
  g_autoptr (GantryBindings) bindings = gantry_bindings_new ();

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the data folder with the models is not there (GANTRY_SHARED)");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (known->dims) && known->dims[i].name != NULL; i++)
    gantry_bindings_set_dim (bindings, known->dims[i].name, known->dims[i].size);
  model = gantry_model_open (path, bindings, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (model->n_nodes, ==, known->nodes);
  g_assert_cmpuint (model->n_initializers, ==, known->initializers);
  g_assert_cmpuint (model->n_unsupported, ==, 0);
  compilation = gantry_compile (model, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_no_error (compilation->refusal);
  check_snapshots (compilation);
  check_plan (compilation);
}

static guint
index_of (const char *pass)
{
  guint n, i;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (i = 0; i < n && strcmp (passes[i].name, pass) != 0; i++)
    ;
  g_assert_cmpuint (i, <, n);
  return i;
}

/* Every pass that may be left out is left out in turn, and then all of them. */
static void
test_disabled (gconstpointer data)
{
  g_autofree char *path = test_source_file ("data/models", "sample.onnx");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, -1, NULL, &error);
  GantryCompileSettings settings;
  guint n;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  g_assert_no_error (error);
  gantry_compile_settings_init (&settings);
  for (guint i = 0; i <= n; i++)
    {
      g_autoptr (GantryCompilation) compilation = NULL;

      for (guint j = 0; j < n; j++)
        gantry_compile_settings_set_enabled (&settings, passes[j].name, i < n && i != j);
      compilation = gantry_compile (model, &settings, NULL, &error);
      g_assert_no_error (error);
      g_assert_no_error (compilation->refusal);
      check_snapshots (compilation);
      for (guint k = 1; k < compilation->n_snapshots; k++)
        {
          const GantrySnapshot *snapshot = &compilation->snapshots[k];
          guint j = index_of (snapshot->pass);

          g_assert_cmpint (snapshot->enabled, ==, passes[j].required || (i < n && i != j));
          if (!snapshot->enabled)
            g_assert_true (snapshot->module == compilation->snapshots[k - 1].module);
        }
    }
  gantry_compile_settings_clear (&settings);
}

static void
test_sample (void)
{
  g_autofree char *path = test_source_file ("data/models", "sample.onnx");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, -1, NULL, &error);
  g_autoptr (GantryCompilation) compilation = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (model->n_nodes, ==, 94);
  g_assert_cmpuint (model->n_initializers, ==, 71);
  g_assert_cmpstr (model->format, ==, "ONNX");
  g_assert_cmpint (model->main_opset, ==, 17);
  g_assert_cmpuint (model->n_inputs, ==, 1);
  g_assert_cmpstr (model->inputs[0].name, ==, "image");
  g_assert_cmpstr (model->inputs[0].type, ==, "f32[1,3,32,32]");
  g_assert_cmpuint (model->n_outputs, ==, 1);
  g_assert_cmpstr (model->outputs[0].type, ==, "f32[1,10]");
  compilation = gantry_compile (model, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_no_error (compilation->refusal);
  check_snapshots (compilation);
  check_plan (compilation);
}

/* A model with an unknown operation opens; compiling it is refused with its name, how often and where. */
static void
test_unknown (void)
{
  g_autofree char *path = test_source_file ("data/models", "unknown-operation.onnx");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, -1, NULL, &error);
  g_autoptr (GantryCompilation) compilation = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (model->n_nodes, ==, 4);
  g_assert_cmpuint (model->n_unsupported, ==, 1);
  g_assert_nonnull (strstr (model->unsupported[0].operation, "Frobnicate"));
  g_assert_cmpuint (model->unsupported[0].count, ==, 2);
  compilation = gantry_compile (model, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_error (compilation->refusal, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (compilation->refusal->message, "Frobnicate"));
  g_assert_null (compilation->plan);
  g_assert_cmpuint (compilation->n_snapshots, ==, 1);
}

static void
test_open_dimension (void)
{
  g_autofree char *path = test_source_file ("data/models", "open-batch.onnx");
  g_autoptr (GantryBindings) batch = gantry_bindings_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, -1, NULL, &error);
  g_autoptr (GantryModel) bound = NULL;
  g_autoptr (GantryCompilation) refused = NULL;
  g_autoptr (GantryCompilation) compiled = NULL;

  g_assert_no_error (error);
  g_assert_cmpstr (model->inputs[0].type, ==, "f32[batch,8]");
  g_assert_cmpuint (g_strv_length (model->unbound), ==, 1);
  g_assert_cmpstr (model->unbound[0], ==, "batch");
  refused = gantry_compile (model, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (refused->refusal);
  g_assert_nonnull (strstr (refused->refusal->message, "set the size of"));
  gantry_bindings_set_dim (batch, "batch", 3);
  bound = gantry_model_open (path, batch, -1, NULL, &error);
  g_assert_no_error (error);
  compiled = gantry_compile (bound, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_no_error (compiled->refusal);
  g_assert_cmpstr (bound->outputs[0].type, ==, "f32[3,4]");
}

/* One error, which names the file and is one line. */
static void
test_broken (gconstpointer data)
{
  g_autofree char *file = g_build_filename ("broken", data, NULL);
  g_autofree char *path = test_source_file ("data/models", file);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GantryCompilation) compilation = NULL;

  g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
  model = gantry_model_open (path, NULL, -1, NULL, &error);
  if (model != NULL)
    compilation = gantry_compile (model, NULL, NULL, &error); /* types that contradict each other come out here */
  g_assert_null (compilation);
  g_assert_nonnull (error);
  g_assert_true (error->domain == GANTRY_ERROR);
  g_assert_false (g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED));
  g_assert_nonnull (strstr (error->message, data));
  g_assert_null (strchr (error->message, '\n'));
}

static void
test_missing (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (gantry_model_open ("/nowhere/model.onnx", NULL, -1, NULL, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "/nowhere/model.onnx"));
}

static void
test_cancelled (void)
{
  g_autofree char *path = test_source_file ("data/models", "sample.onnx");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const GantryProgress progress = { .cancellable = cancellable };
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, -1, NULL, &error);

  g_assert_no_error (error);
  g_cancellable_cancel (cancellable);
  g_assert_null (gantry_compile (model, NULL, &progress, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* What the dialog offers is read by who offers it, and by nobody before. */
static void
test_patterns (void)
{
#define ROW(folder) &gantry_front_end_##folder,
  static const GantryFrontEnd *const front_ends[] = { GANTRY_FRONT_END_LIST (ROW) };
#undef ROW
  g_autofree char *all = gantry_model_patterns (), *formats = gantry_model_formats ();
  g_auto (GStrv) offered = g_strsplit (all, " ", -1);

  for (guint i = 0; i < G_N_ELEMENTS (front_ends); i++)
    {
      g_auto (GStrv) patterns = g_strsplit (front_ends[i]->patterns, " ", -1);

      g_assert_nonnull (strstr (formats, front_ends[i]->formats));
      for (guint p = 0; patterns[p] != NULL; p++)
        {
          g_autofree char *path = g_strconcat ("/nowhere/model", patterns[p] + 1, NULL);

          g_assert_cmpint (patterns[p][0], ==, '*');
          g_assert_true (g_strv_contains ((const char *const *) offered, patterns[p]));
          if (strcmp (patterns[p], "*.hlo.pb") != 0) /* its first bytes say it */
            for (guint k = 0; k <= i; k++)
              g_assert_cmpint (front_ends[k]->reads (path), ==, k == i);
        }
    }
}

int
main (int argc, char **argv)
{
  static const char *const broken[] = { "truncated.onnx", "cyclic.onnx", "wrong-type.onnx", "oversized.onnx", "not-onnx.onnx" };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *path = g_strconcat ("/compiler/models/", models[i].name, NULL);

      g_test_add_data_func (path, &models[i], test_model);
    }
  g_test_add_func ("/compiler/models/sample", test_sample);
  g_test_add_data_func ("/compiler/models/disabled", NULL, test_disabled);
  g_test_add_func ("/compiler/models/unknown-operation", test_unknown);
  g_test_add_func ("/compiler/models/open-dimension", test_open_dimension);
  g_test_add_func ("/compiler/models/missing", test_missing);
  g_test_add_func ("/compiler/models/cancelled", test_cancelled);
  g_test_add_func ("/compiler/models/patterns", test_patterns);
  for (guint i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      g_autofree char *path = g_strconcat ("/compiler/broken/", broken[i], NULL);

      g_test_add_data_func (path, broken[i], test_broken);
    }
  return g_test_run ();
}
