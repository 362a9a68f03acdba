/* SPDX-License-Identifier: Apache-2.0 */
/* The target file of a device from what it does: every key is there, each rate with what it was measured of, and plans are made by it. How
 * fast anything was is not looked at. */
#include "core/planner/machine.h"
#include "tests/app/cli/cli-test.h"
#include <string.h>

typedef struct
{
  char *folder, *target;
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  place->folder = cli_temporary_folder ();
  place->target = g_build_filename (place->folder, "this.target", NULL);
}

static void
tear_down (Place *place, gconstpointer data)
{
  g_free (place->target);
  cli_remove_folder (place->folder);
}

static const char *const measured_keys[] = { "peak_flops", "vector_f64", "vector_f16",       "product_f32", "product_f64",   "product_f16",
                                             "product_i8", "special",    "memory_bandwidth", "launch_us",   "link_bandwidth" };

/* Each key has a rate, and a comment above it that says of what. */
static void
assert_file (const char *path, gboolean measured)
{
  g_autofree char *text = NULL;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) error = NULL;
  GantryTarget target;

  g_assert_true (g_file_get_contents (path, &text, NULL, &error));
  gantry_target_init_cpu (&target, 1);
  g_assert_true (gantry_target_parse (&target, text, -1, &error));
  g_assert_no_error (error);
  g_assert_nonnull (strstr (target.name, ", measured"));
  g_assert_true (g_key_file_load_from_data (file, text, strlen (text), G_KEY_FILE_KEEP_COMMENTS, &error));
  for (guint i = 0; i < G_N_ELEMENTS (measured_keys); i++)
    {
      g_autofree char *comment = g_key_file_get_comment (file, "target", measured_keys[i], &error);

      g_assert_no_error (error);
      g_assert_cmpfloat (g_key_file_get_double (file, "target", measured_keys[i], NULL), >, 0);
      g_test_message ("%s: %s", measured_keys[i], comment);
      if (measured)
        g_assert_true (g_str_has_prefix (comment, " measured: "));
    }
  g_assert_cmpfloat (g_key_file_get_double (file, "target", "product_f8", NULL), >, 0);
  g_assert_true (!measured || strstr (text, "f8e4m3fn is not compiled") != NULL);
}

static void
assert_name (const char *path, const char *name)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *has = NULL;

  g_assert_true (g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL));
  has = g_key_file_get_string (file, "target", "name", NULL);
  g_assert_cmpstr (has, ==, name);
}

/* What a run of its program does, as it is told, in the time that it took: an array is read and written, a product of two matrices of N rows
 * is N^3 multiplications and additions, and a chain at least its own operations. */
static void
assert_counted (JsonObject *rate)
{
  const char *key = json_object_get_string_member (rate, "key"), *of = json_object_get_string_member (rate, "of"), *matrices = strstr (of, "matrices ");
  double value = json_object_get_double_member (rate, "value"), seconds = json_object_get_double_member (rate, "milliseconds") / 1e3;
  double n = g_ascii_strtod (matrices != NULL ? matrices + strlen ("matrices ") : of, NULL), work;

  if (strcmp (key, "launch_us") == 0)
    {
      g_assert_cmpfloat_with_epsilon (value * (double) json_object_get_int_member (rate, "kernels") / 1e6, seconds, 1e-6 * seconds);
      return;
    }
  work = value * seconds;
  if (strstr (of, " negated") != NULL)
    g_assert_cmpfloat_with_epsilon (work, 8 * n, 1e-6 * work);
  else if (matrices != NULL)
    g_assert_cmpfloat_with_epsilon (work, 2 * n * n * n, 1e-6 * work);
  else
    g_assert_cmpfloat (work, >=, n * g_ascii_strtod (strstr (of, "each of ") + strlen ("each of "), NULL) * (1 - 1e-6));
}

static void
assert_rates (const CliResult *result, const char *device, guint n_measured)
{
  g_autoptr (JsonNode) root = cli_json (result);
  JsonObject *object = json_node_get_object (root);
  JsonArray *rates = json_object_get_array_member (object, "rates");
  guint n = 0;

  g_assert_cmpstr (json_object_get_string_member (object, "device"), ==, device);
  for (guint i = 0; i < json_array_get_length (rates); i++)
    {
      JsonObject *rate = json_array_get_object_element (rates, i);

      if (!json_object_get_boolean_member (rate, "measured"))
        {
          g_assert_nonnull (json_object_get_string_member (rate, "why"));
          /* On a busy machine a difference of times may be none. */
          n += strcmp (json_object_get_string_member (rate, "why"), "what it takes is lost in what equal runs differ by") == 0;
          continue;
        }
      n++;
      g_assert_cmpint (json_object_get_int_member (rate, "runs"), >=, 10);
      /* A second kernel would be bound by what it reads of the first. */
      if (g_strcmp0 (json_object_get_string_member (rate, "key"), "launch_us") != 0)
        g_assert_cmpint (json_object_get_int_member (rate, "kernels"), <=, 1);
      if (json_object_has_member (rate, "milliseconds"))
        assert_counted (rate);
      g_assert_cmpfloat (json_object_get_double_member (rate, "least"), >, 0);
      g_assert_cmpfloat (json_object_get_double_member (rate, "value"), >=, json_object_get_double_member (rate, "least"));
      g_assert_cmpfloat (json_object_get_double_member (rate, "value"), <=, json_object_get_double_member (rate, "most"));
    }
  g_assert_cmpuint (n, ==, n_measured);
}

/* There and back: what was measured is what is planned by. */
static void
test_processor (Place *place, gconstpointer data)
{
  g_autofree char *model = cli_own_file ("linear.onnx");
  g_autoptr (CliResult) made = cli_run ("calibrate", "--json", "--seconds=600", "--threads=1", "-o", place->target, NULL);
  g_autoptr (CliResult) plan = cli_run ("plan", "--json", "--target", place->target, model, NULL);
  g_autoptr (CliResult) compiled = cli_run ("compile", "--json", "--target", place->target, model, NULL);
  g_autoptr (JsonNode) root = NULL;

  cli_assert_status (made, 0);
  assert_rates (made, "cpu", 19);
  assert_file (place->target, TRUE);
  assert_name (place->target, "cpu, 1 thread, measured");
  cli_assert_status (plan, 0);
  root = cli_json (plan);
  g_assert_nonnull (strstr (json_object_get_string_member (json_node_get_object (root), "target"), ", measured"));
  g_assert_cmpfloat (json_object_get_double_member (json_node_get_object (root), "step_ms"), >, 0);
  cli_assert_status (compiled, 0);
}

static void
test_grid (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) made = cli_run ("calibrate", "--json", "--seconds=600", "--device=grid", "-o", place->target, NULL);

  cli_assert_status (made, 0);
  assert_rates (made, "grid", 18);
  assert_file (place->target, TRUE);
}

/* What there was no time for is as stated, and says so. */
static void
test_no_time (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) printed = cli_run ("calibrate", "--seconds=1e-9", NULL);

  cli_assert_status (printed, 0);
  g_assert_nonnull (strstr (printed->err, "note: product_f32 was not measured"));
  g_assert_nonnull (strstr (printed->out, "matrices 256 x 256): no time was left; stated: "));
  g_assert_true (g_file_set_contents (place->target, printed->out, -1, NULL));
  assert_file (place->target, FALSE);
}

#ifdef FAKE_LIBCUDA
static CliResult *
run_on_stand_in (const char *how, const char *target)
{
  CliResult *result;

  g_setenv ("GANTRY_LIBCUDA", FAKE_LIBCUDA, TRUE);
  g_setenv ("GANTRY_FAKE_CUDA", how, TRUE);
  result = cli_run ("calibrate", "--json", "--device=cuda", "-o", target, NULL);
  g_unsetenv ("GANTRY_FAKE_CUDA");
  g_unsetenv ("GANTRY_LIBCUDA");
  return result;
}
#endif

/* A driver that takes all work and does none of it. */
static void
test_stand_in (Place *place, gconstpointer data)
{
#ifdef FAKE_LIBCUDA
  g_autofree char *model = cli_own_file ("linear.onnx");
  g_autoptr (CliResult) made = run_on_stand_in ("accept=1,memory=67108864,version=12080", place->target), plan = NULL, bad = NULL, lost = NULL;
  g_autofree char *text = NULL;

  cli_assert_status (made, 0);
  assert_rates (made, "cuda", 18);
  assert_file (place->target, TRUE);
  g_assert_true (g_file_get_contents (place->target, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "# Stand-in GPU 0, CUDA 12.8"));
  g_assert_nonnull (strstr (text, "\narch=sm_90a\n"));
  g_assert_nonnull (strstr (text, "\nmemory_limit=67108864\n"));
  g_assert_nonnull (strstr (text, "# with --allow-tf32: measured: "));
  plan = cli_run ("plan", "--json", "--target", place->target, model, NULL);
  cli_assert_status (plan, 0);
  g_assert_nonnull (strstr (plan->out, "Stand-in GPU 0, measured"));
  /* One that fails takes no other along; where the device is lost, what was measured before is kept. */
  bad = run_on_stand_in ("accept=1,memory=67108864,fail=cuModuleLoadDataEx:4:209", place->target);
  cli_assert_status (bad, 0);
  g_assert_nonnull (strstr (bad->err, "memory_bandwidth was not measured"));
  assert_rates (bad, "cuda", 17);
  assert_file (place->target, FALSE);
  lost = run_on_stand_in ("accept=1,memory=67108864,lose=cuModuleLoadDataEx:4:999", place->target);
  cli_assert_status (lost, 1);
  g_assert_nonnull (strstr (lost->err, "is lost"));
  assert_rates (lost, "cuda", 6);
  assert_file (place->target, FALSE);
#else
  g_test_skip ("the stand-in for the driver is not built");
#endif
}

static void
test_refused (Place *place, gconstpointer data)
{
  g_autofree char *nowhere = g_build_filename (place->folder, "no", "such.target", NULL);
  g_autoptr (CliResult) device = NULL, path = NULL, more = NULL, time = NULL, gpu = NULL;

  g_setenv ("GANTRY_LIBCUDA", "/nowhere/libcuda.so.1", TRUE);
  device = cli_run ("calibrate", "--device=gpu", NULL);
  gpu = cli_run ("calibrate", "--device=cuda", "-o", place->target, NULL);
  path = cli_run ("calibrate", "-o", nowhere, NULL);
  more = cli_run ("calibrate", "x.onnx", NULL);
  time = cli_run ("calibrate", "--seconds=0", NULL);
  g_unsetenv ("GANTRY_LIBCUDA");
  cli_assert_status (device, 1);
  cli_assert_one_error (device, "--device gpu: takes cpu");
  cli_assert_status (gpu, 3);
  cli_assert_one_error (gpu, "no NVIDIA driver");
  g_assert_false (g_file_test (place->target, G_FILE_TEST_EXISTS));
  cli_assert_status (path, 1);
  cli_assert_one_error (path, nowhere);
  cli_assert_status (more, 1);
  cli_assert_one_error (more, "takes no arguments");
  cli_assert_status (time, 1);
  cli_assert_one_error (time, "--seconds is more than 0");
}

/* What the command that plans has asked of a child, which says that it could not do it. (transfer full) (nullable) */
static char *
asked (const Place *place)
{
  g_autofree char *path = g_build_filename (place->folder, "asked", NULL);
  char *text = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  return text;
}

static void
make_child (const Place *place)
{
  g_autofree char *path = g_build_filename (place->folder, "child", NULL);
  g_autofree char *text = g_strdup_printf ("#!/bin/sh\necho \"$@\" >> %s/asked\necho 'gantry-cli calibrate: note: special was not measured' >&2\n"
                                           "echo 'gantry-cli calibrate: not kept: busy' >&2\nexit 1\n",
                                           place->folder);

  g_assert_true (g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_NONE, 0700, NULL));
}

/* `plan` of @model, with another child than itself. @calibration: (nullable): in the environment (transfer full) */
static CliResult *
plan_with_child (const Place *place, const char *calibration, const char *option, const char *model)
{
  g_autofree char *cli = cli_program (), *child = g_build_filename (place->folder, "child", NULL);
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;
  CliResult *result = g_new0 (CliResult, 1);

  g_subprocess_launcher_setenv (launcher, "GANTRY_CLI", child, TRUE);
  if (calibration != NULL)
    g_subprocess_launcher_setenv (launcher, GANTRY_MACHINE_ENVIRONMENT, calibration, TRUE);
  else
    g_subprocess_launcher_unsetenv (launcher, GANTRY_MACHINE_ENVIRONMENT);
  process = g_subprocess_launcher_spawn (launcher, &error, cli, "plan", model, option, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (process, NULL, NULL, &result->out, &result->err, &error));
  result->status = g_subprocess_get_exit_status (process);
  return result;
}

/* The first plan for this processor has it measured, unless it is told what to plan for, or not to; where that fails rates are stated. What is
 * kept is planned by, and needs no child. */
static void
test_first_start (Place *place, gconstpointer data)
{
  g_autofree char *model = cli_own_file ("linear.onnx"), *nobody = NULL, *somebody = NULL, *still = NULL;
  g_autoptr (CliResult) off = NULL, other = NULL, first = NULL, kept = NULL, run = NULL;
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (GError) error = NULL;
  GantryTarget target;

  make_child (place);
  off = plan_with_child (place, "off", NULL, model);
  other = plan_with_child (place, NULL, "--target=h100", model);
  nobody = asked (place);
  g_assert_null (nobody);
  cli_assert_status (off, 0);
  cli_assert_status (other, 0);
  g_assert_nonnull (strstr (off->out, "\nrates      stated rates, not measured here\n"));
  first = plan_with_child (place, NULL, NULL, model);
  somebody = asked (place);
  cli_assert_status (first, 0);
  g_assert_nonnull (strstr (first->err, "note: this processor is measured once"));
  g_assert_nonnull (strstr (first->err, "by stated rates: not kept: busy\n"));
  g_assert_cmpstr (somebody, ==, "calibrate --keep --seconds=8 --threads=0\n");
  gantry_target_init_cpu (&target, 0);
  g_strlcpy (target.measured, "2026-11-28T01:02:03Z", sizeof target.measured);
  target.run_us = 12345678;
  gantry_curve_add (&target.curves[GANTRY_WORK_BYTES], 1000, 1);
  g_assert_true (gantry_machine_keep (&target, 0, &error));
  g_assert_no_error (error);
  kept = plan_with_child (place, NULL, NULL, model);
  run = plan_with_child (place, NULL, "--json", model);
  still = asked (place);
  g_assert_cmpstr (still, ==, somebody);
  cli_assert_status (kept, 0);
  g_assert_nonnull (strstr (kept->out, "\nrates      calibrated on this machine 2026-11-28\n"));
  root = cli_json (run);
  g_assert_cmpfloat (json_object_get_double_member (json_node_get_object (root), "step_ms"), >, 12345);
}

static void
test_keep_refused (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) grid = cli_run ("calibrate", "--keep", "--device=grid", NULL), plain = cli_run ("calibrate", "--keep", "--no-library", NULL);

  cli_assert_status (grid, 1);
  cli_assert_one_error (grid, "--keep is of the processor as it is");
  cli_assert_status (plain, 1);
  cli_assert_one_error (plain, "--keep is of the processor as it is");
}

#define ADD(name, function) g_test_add ("/cli/calibrate/" name, Place, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_autofree char *cache = cli_temporary_folder ();
  int status;

  g_setenv ("XDG_CACHE_HOME", cache, TRUE); /* nothing is kept there */
  g_test_init (&argc, &argv, NULL);
  ADD ("processor", test_processor);
  ADD ("grid", test_grid);
  ADD ("no-time", test_no_time);
  ADD ("stand-in", test_stand_in);
  ADD ("refused", test_refused);
  ADD ("first-start", test_first_start);
  ADD ("keep-refused", test_keep_refused);
  status = g_test_run ();
  cli_remove_folder (g_steal_pointer (&cache));
  return status;
}
