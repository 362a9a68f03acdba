/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli where the GPU is missing, or breaks while a program runs: one sentence, the right status, and the session file
 * as it was. The programs are children that load the stand-in as the driver. */
#include "core/plan/plan.h"
#include "tests/app/cli/cli-test.h"
#include "tests/app/cli/forms.h"
#include <string.h>

static char *folder;

/* @how: of the stand-in; NULL: no driver at all */
static void
set_driver (const char *how)
{
  g_setenv ("GANTRY_LIBCUDA", how != NULL ? FAKE_LIBCUDA : "/nowhere/libcuda.so.1", TRUE);
  g_setenv ("GANTRY_FAKE_CUDA", how != NULL ? how : "", TRUE);
}

static void
test_devices (void)
{
  g_autoptr (CliResult) none = NULL, two = NULL, as_json = NULL, measured = NULL, wrong = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object, *gpu;

  set_driver (NULL);
  none = cli_run ("devices", NULL);
  cli_assert_status (none, 0);
  g_assert_true (g_str_has_prefix (none->out, "cpu "));
  g_assert_nonnull (strstr (none->out, "cuda       not usable: no NVIDIA driver: /nowhere/libcuda.so.1"));
  set_driver ("devices=2,version=12080,mode=3");
  two = cli_run ("devices", NULL);
  cli_assert_status (two, 0);
  g_assert_nonnull (strstr (two->out, "cuda:1     Stand-in GPU 1, compute capability 9.0, 4.0"));
  g_assert_nonnull (strstr (two->out, "PCI 0000:02:00.0"));
  g_assert_nonnull (strstr (two->out, "for one process at a time"));
  g_assert_nonnull (strstr (two->out, "driver     CUDA 12.8"));
  as_json = cli_run ("devices", "--json", NULL);
  cli_assert_status (as_json, 0);
  node = cli_json (as_json);
  object = json_node_get_object (node);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (object, "devices")), ==, 3);
  gpu = json_array_get_object_element (json_object_get_array_member (object, "devices"), 2);
  g_assert_cmpstr (json_object_get_string_member (gpu, "device"), ==, "cuda:1");
  g_assert_true (json_object_get_boolean_member (gpu, "usable"));
  g_assert_true (json_object_get_null_member (object, "missing"));
  set_driver ("");
  measured = cli_run ("devices", "--measure", NULL);
  cli_assert_status (measured, 0);
  g_assert_nonnull (strstr (measured->out, "copies to host"));
  wrong = cli_run ("run", "--device=gpu", "x.onnx", NULL);
  cli_assert_status (wrong, 1);
  cli_assert_one_error (wrong, "--device gpu: takes cpu");
}

/* What breaks, with the exit status and a part of the message. */
static const struct
{
  const char *name, *how;
  int status;
  const char *part;
} cases[] = {
  { "no-driver", NULL, 3, "no NVIDIA driver" },
  { "stub", "init=34", 3, "stub" },
  { "too-old", "version=11040", 3, "it knows CUDA 11.4" },
  { "no-device", "devices=0", 3, "no NVIDIA GPU" },
  { "no-privilege", "init=800", 1, "this user may not use the GPU" },
  { "busy", "retain=46", 1, "the GPU is busy" },
  { "no-memory", "accept=1,memory=1000", 1, "needed in one piece where" },
  { "not-its-code", "fail=cuModuleLoadDataEx:1:209", 3, "does not take the code" },
  { "lost-at-load", "accept=1,lose=cuModuleLoadDataEx:1:999", 1, "is lost" },
  { "lost-in-a-kernel", "accept=1,lose=cuLaunchKernelEx:3:700", 1, "is lost" },
  { "lost-in-a-copy", "accept=1,lose=cuMemcpyAsync:4:214", 1, "could not correct" },
};

/* A session with a run of the processor in it: the run on the GPU fails, the file is byte by byte what it was. */
static void
test_run (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autofree char *session = g_build_filename (folder, "step.gantry", NULL), *before = NULL, *after = NULL;
  g_autoptr (CliResult) failed = NULL, opened = NULL;
  gsize n_before, n_after;

  g_assert_true (g_file_get_contents (session, &before, &n_before, NULL));
  set_driver (cases[i].how);
  failed = cli_run ("run", "--session", "--device=cuda", "--runs=2", session, NULL);
  cli_assert_status (failed, cases[i].status);
  g_test_message ("%s", failed->err);
  cli_assert_one_error (failed, cases[i].part);
  g_assert_true (g_file_get_contents (session, &after, &n_after, NULL));
  g_assert_cmpmem (before, n_before, after, n_after);
  opened = cli_run ("run", "--device=cpu", "--runs=1", "--warmup=0", session, NULL);
  cli_assert_status (opened, 0);
}

/* The stand-in takes real code and does nothing with it: the whole way is gone, and what the driver gave is reported. */
static void
test_whole_way (void)
{
  g_autofree char *session = g_build_filename (folder, "step.gantry", NULL);
  g_autoptr (CliResult) ran = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object;

  set_driver ("accept=1");
  ran = cli_run ("run", "--json", "--device=cuda:0", "--runs=3", session, NULL);
  cli_assert_status (ran, 0);
  node = cli_json (ran);
  object = json_node_get_object (node);
  g_assert_cmpstr (json_object_get_string_member (object, "device"), ==, "Stand-in GPU 0");
  g_assert_cmpint (json_object_get_int_member (object, "allocated_bytes"), >=, json_object_get_int_member (object, "arena_bytes"));
  /* The driver gives pages of 2 MiB. */
  g_assert_cmpint (json_object_get_int_member (object, "driver_bytes") % (2 << 20), ==, 0);
  g_assert_cmpint (json_object_get_int_member (object, "driver_bytes"), >=, json_object_get_int_member (object, "allocated_bytes"));
  g_assert_cmpfloat (json_object_get_double_member (object, "clock_error_us"), >, 0);
}

/* What is told of a run's memory is what the driver counted, by allocation, and what it took for code by itself: 6 MiB for each module. */
static void
test_memory (void)
{
  const gint64 page = 2 << 20, code = 3 * page;
  g_autofree char *session = g_build_filename (folder, "step.gantry", NULL);
  g_autoptr (CliResult) ran = NULL, text = NULL, limited = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object, *memory, *touched;

  set_driver ("accept=1,code=6291456,context=524288000");
  ran = cli_run ("run", "--json", "--device=cuda:0", "--runs=2", session, NULL);
  cli_assert_status (ran, 0);
  node = cli_json (ran);
  object = json_node_get_object (node);
  memory = json_object_get_object_member (object, "memory");
  g_assert_true (json_object_get_boolean_member (memory, "driver"));
  g_assert_cmpint (json_object_get_int_member (object, "driver_before_bytes"), ==, 524288000);
  touched = json_object_get_object_member (memory, "touched");
  g_assert_cmpint (json_object_get_int_member (touched, "arguments, temporaries and workspaces"), ==,
                   (json_object_get_int_member (object, "arena_bytes") + page - 1) / page * page);
  g_assert_cmpint (json_object_get_int_member (touched, "context and code") % code, ==, 0);
  g_assert_cmpint (json_object_get_int_member (touched, "context and code"), >=, code);
  g_assert_cmpint (json_object_get_int_member (object, "touched_bytes"), ==,
                   json_object_get_int_member (object, "driver_bytes") + json_object_get_int_member (touched, "context and code"));
  g_assert_cmpint (json_object_get_int_member (memory, "touched_bytes"), ==, json_object_get_int_member (object, "touched_bytes"));
  g_assert_true (json_object_get_null_member (memory, "process_bytes"));
  g_assert_true (json_object_get_null_member (memory, "host_touched_bytes"));
  text = cli_run ("run", "--device=cuda:0", "--runs=1", session, NULL);
  cli_assert_status (text, 0);
  g_assert_nonnull (strstr (text->out, ", as the driver counts"));
  /* What the driver takes in pages of 2 MiB, and for code, is no breach of a limit that the allocations keep to. */
  limited = cli_run ("run", "--device=cuda:0", "--runs=1", "--limit=1MiB", session, NULL);
  cli_assert_status (limited, 0);
  g_assert_nonnull (strstr (limited->out, "rest of its pages and what it took by itself; that keeps to the limit of 1.00 MiB"));
}

/* A driver that does not say what is free is believed to say nothing. */
static void
test_memory_unknown (void)
{
  g_autofree char *session = g_build_filename (folder, "step.gantry", NULL);
  g_autoptr (CliResult) ran = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object;

  set_driver ("accept=1,fail=cuMemGetInfo_v2:2:1");
  ran = cli_run ("run", "--json", "--device=cuda:0", "--runs=1", session, NULL);
  cli_assert_status (ran, 0);
  node = cli_json (ran);
  object = json_node_get_object (node);
  g_assert_true (json_object_get_null_member (object, "memory"));
  g_assert_true (json_object_get_null_member (object, "touched_bytes"));
}

static double
predicted (const char *command, const char *option, const char *model)
{
  g_autoptr (CliResult) result = cli_run (command, "--json", option, model, NULL);
  g_autoptr (JsonNode) node = NULL;

  cli_assert_status (result, 0);
  node = cli_json (result);
  return json_object_get_double_member (json_node_get_object (node), "predicted_milliseconds");
}

/* What is made for a GPU is planned with a GPU's rates, whether a file, a name or an architecture tells which. */
static void
test_rates (void)
{
  static const struct
  {
    const char *option;
    double ms;
  } ways[] = { { "--target=sm_90a", 2.05 }, { "--target=h200", 2.05 }, { "--target=sm_80", 7.05 }, { "--target=rtx4090", 1.66 } };
  g_autofree char *gir = g_build_filename (folder, "product.gir", NULL);
  g_autoptr (CliResult) wrong = NULL;
  const char *text = "module \"m\" {\n  func @main #1 (%1: f32[4096,4096], %2: f32[4096,4096]) -> (%3) {\n    %3 = dot_general(%1, %2) "
                     "{lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4096,4096]\n  }\n}\n";

  set_driver (NULL);
  g_assert_true (g_file_set_contents (gir, text, -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_assert_cmpfloat_with_epsilon (predicted ("compile", ways[i].option, gir), ways[i].ms, 0.01);
    }
  set_driver ("accept=1,minor=0,major=8");
  g_assert_cmpfloat_with_epsilon (predicted ("run", "--device=cuda", gir), ways[2].ms, 0.01);
  wrong = cli_run ("plan", "--target=h1000", gir, NULL);
  cli_assert_status (wrong, 1);
}

static gint64
workspaces (const char *option, const char *model)
{
  g_autoptr (CliResult) result = cli_run ("run", "--json", "--device=cuda", "--runs=1", "--warmup=0", option, model, NULL);
  g_autoptr (JsonNode) node = NULL;

  cli_assert_status (result, 0);
  node = cli_json (result);
  return json_object_get_int_member (json_object_get_object_member (json_node_get_object (node), "parts"), "workspaces");
}

/* What cuBLASLt works in is planned. */
static void
test_gpu_library (void)
{
  g_autofree char *gir = g_build_filename (folder, "small.gir", NULL);
  const char *text = "module \"m\" {\n  func @main #1 (%1: f32[32,32], %2: f32[32,32]) -> (%3) {\n    %3 = dot_general(%1, %2) "
                     "{lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[32,32]\n  }\n}\n";

  g_assert_true (g_file_set_contents (gir, text, -1, NULL));
  set_driver ("accept=1");
  g_setenv ("GANTRY_LIBCUBLASLT", FAKE_LIBCUDA, TRUE);
  g_assert_cmpint (workspaces ("--threads=1", gir), ==, 0);
  g_assert_cmpint (workspaces ("--gpu-library", gir), ==, 32 << 20);
  g_unsetenv ("GANTRY_LIBCUBLASLT");
}

static void
check_times (const char *how, const char *clock, guint n_notes)
{
  g_autofree char *session = g_build_filename (folder, "step.gantry", NULL);
  g_autoptr (CliResult) timed = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonArray *notes, *runs;

  set_driver (how);
  timed = cli_run ("profile", "--json", "--unrecorded", "--device=cuda", "--warmup=2", "--runs=4", session, NULL);
  cli_assert_status (timed, 0);
  node = cli_json (timed);
  g_assert_cmpstr (json_object_get_string_member (json_node_get_object (node), "timed_by"), ==, clock);
  notes = json_object_get_array_member (json_node_get_object (node), "notes");
  g_assert_cmpuint (json_array_get_length (notes), ==, n_notes);
  if (n_notes > 0)
    g_assert_nonnull (strstr (json_array_get_string_element (notes, 0), "not as a CUDA graph"));
  runs = json_object_get_array_member (json_node_get_object (node), "runs_milliseconds");
  g_assert_cmpuint (json_array_get_length (runs), ==, 4);
}

/* Steps of which nothing is recorded are timed by the GPU where they are graphs, and where they are not it is told. */
static void
test_unrecorded (void)
{
  check_times ("accept=1", "events of the GPU", 0);
  check_times ("accept=1,fail=cuStreamBeginCapture_v2:1:900", "the host's clock", 1);
}

/* A limit of just what is taken does, one place less does not: the model's weights, which stay in its file for the
 * processor, lie on a GPU and count. */
static void
test_limit (void)
{
  g_autofree char *model = cli_own_file ("sample.onnx"), *fits = NULL, *less = NULL;
  g_autoptr (CliResult) free_run = NULL, within = NULL, beyond = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonObject *object;
  gint64 planned, weights;

  set_driver ("accept=1");
  free_run = cli_run ("run", "--json", "--device=cuda", "--runs=1", "--warmup=0", model, NULL);
  cli_assert_status (free_run, 0);
  node = cli_json (free_run);
  object = json_node_get_object (node);
  planned = json_object_get_int_member (object, "planned_bytes");
  weights = json_object_get_int_member (json_object_get_object_member (object, "parts"), "constants");
  g_assert_cmpint (planned, >=, json_object_get_int_member (object, "allocated_bytes"));
  g_assert_cmpint (weights, >, 50000);
  fits = g_strdup_printf ("--limit=%" G_GINT64_FORMAT, planned);
  less = g_strdup_printf ("--limit=%" G_GINT64_FORMAT, planned - GANTRY_PLACE_ALIGNMENT);
  within = cli_run ("run", "--device=cuda", "--runs=1", "--warmup=0", fits, model, NULL);
  cli_assert_status (within, 0);
  beyond = cli_run ("run", "--device=cuda", "--runs=1", "--warmup=0", less, model, NULL);
  cli_assert_status (beyond, 1);
  g_test_message ("%s", beyond->err);
  g_assert_nonnull (strstr (beyond->err, "constants "));
}

static void
make_session (void)
{
  g_autofree char *gir = g_build_filename (folder, "form.gir", NULL), *session = g_build_filename (folder, "step.gantry", NULL);
  g_autofree char *text = form_text (FORM_SCAN, FORM_PLAIN, "f32");
  g_autoptr (CliResult) made = NULL, ran = NULL;

  g_assert_true (g_file_set_contents (gir, text, -1, NULL));
  made = cli_run ("train", "--loss=output", "--optimizer=adam", "-o", session, gir, NULL);
  cli_assert_status (made, 0);
  ran = cli_run ("run", "--session", "--runs=2", session, NULL);
  cli_assert_status (ran, 0);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = cli_temporary_folder ();
  make_session ();
  g_test_add_func ("/runtime/cuda-cli/devices", test_devices);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strconcat ("/runtime/cuda-cli/", cases[i].name, NULL);

      g_test_add_data_func (name, GUINT_TO_POINTER (i), test_run);
    }
  g_test_add_func ("/runtime/cuda-cli/whole-way", test_whole_way);
  g_test_add_func ("/runtime/cuda-cli/memory", test_memory);
  g_test_add_func ("/runtime/cuda-cli/memory-unknown", test_memory_unknown);
  g_test_add_func ("/runtime/cuda-cli/rates", test_rates);
  g_test_add_func ("/runtime/cuda-cli/gpu-library", test_gpu_library);
  g_test_add_func ("/runtime/cuda-cli/unrecorded", test_unrecorded);
  g_test_add_func ("/runtime/cuda-cli/limit", test_limit);
  status = g_test_run ();
  cli_remove_folder (folder);
  return status;
}
