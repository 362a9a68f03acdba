/* SPDX-License-Identifier: Apache-2.0 */
/* Each subcommand: what it prints, writes and answers, and what it says when it cannot. */
#include "core/base/child-program.h"
#include "tests/app/cli/cli-test.h"
#include <cairo.h>
#include <glib/gstdio.h>
#include <string.h>

static void
assert_members (JsonObject *object, const char *const *keys)
{
  for (guint i = 0; keys[i] != NULL; i++)
    if (!json_object_has_member (object, keys[i]))
      g_error ("no key '%s'", keys[i]);
}

static void
test_info (void)
{
  g_autofree char *path = cli_own_file ("sample.onnx");
  g_autoptr (CliResult) result = cli_run ("info", "--json", path, NULL);
  g_autoptr (JsonNode) root = NULL;
  JsonObject *object, *input;

  cli_assert_status (result, 0);
  root = cli_json (result);
  object = json_node_get_object (root);
  g_assert_cmpint (json_object_get_int_member (object, "nodes"), ==, 94);
  g_assert_cmpint (json_object_get_int_member (object, "initializers"), ==, 71);
  g_assert_cmpint (json_object_get_int_member (object, "opset"), ==, 17);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (object, "outputs")), ==, 1);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (object, "unsupported")), ==, 0);
  input = json_array_get_object_element (json_object_get_array_member (object, "inputs"), 0);
  g_assert_cmpstr (json_object_get_string_member (input, "name"), ==, "image");
  g_assert_cmpstr (json_object_get_string_member (input, "type"), ==, "f32[1,3,32,32]");
}

/* Of a trace, which has no model, info says what was recorded. */
static void
test_info_of_trace (void)
{
  static const char *const files[] = { "tests/fixtures/recordings/kineto.json.gz", "fuzz/corpus/cupti/small.cupti" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      const char *source = g_getenv ("GANTRY_SOURCE_ROOT");
      g_autofree char *path = g_build_filename (source != NULL ? source : ".", files[i], NULL);
      g_autoptr (CliResult) result = cli_run ("info", "--json", path, NULL), text = cli_run ("info", path, NULL);
      g_autoptr (JsonNode) root = NULL;
      JsonObject *object;

      cli_assert_status (result, 0);
      root = cli_json (result);
      object = json_node_get_object (root);
      g_assert_cmpstr (json_object_get_string_member (object, "format"), ==, "recording");
      g_assert_cmpint (json_object_get_int_member (json_object_get_object_member (object, "events"), "kernel"), >, 0);
      g_assert_cmpuint (json_array_get_length (json_object_get_array_member (object, "lanes")), >, 0);
      g_assert_cmpfloat (json_object_get_double_member (object, "milliseconds"), >, 0);
      cli_assert_status (text, 0);
      g_assert_nonnull (strstr (text->out, "kernel"));
      g_assert_null (strstr (text->out, "initializers"));
    }
}

/* What cannot be compiled is named by info, with status 0, and refused by the rest, with status 3. */
static void
test_unsupported (void)
{
  g_autofree char *path = cli_own_file ("unknown-operation.onnx");
  g_autoptr (CliResult) info = cli_run ("info", "--json", path, NULL);
  g_autoptr (CliResult) run = cli_run ("run", path, NULL);
  g_autoptr (CliResult) compile = cli_run ("compile", path, NULL);
  g_autoptr (JsonNode) root = NULL;
  JsonObject *first;

  cli_assert_status (info, 0);
  root = cli_json (info);
  first = json_array_get_object_element (json_object_get_array_member (json_node_get_object (root), "unsupported"), 0);
  g_assert_nonnull (strstr (json_object_get_string_member (first, "operation"), "Frobnicate"));
  g_assert_cmpint (json_object_get_int_member (first, "count"), ==, 2);
  cli_assert_status (run, 3);
  cli_assert_status (compile, 3);
  g_assert_nonnull (strstr (run->err, "Frobnicate"));
}

/* An unknown operation in a branch that may be taken is no damaged file, and the refusal says which input decides. */
static void
test_set (void)
{
  g_autofree char *path = cli_own_file ("rate.onnx"), *folder = cli_temporary_folder ();
  g_autofree char *output = g_build_filename (folder, "output_0.npy", NULL), *bytes = NULL;
  g_autoptr (CliResult) open = cli_run ("plan", path, NULL), other = cli_run ("plan", path, "--set", "rate=8000", NULL);
  g_autoptr (CliResult)
    run = cli_run ("run", path, "--set", "rate=16000", "--set", "gain=[3]", "--input", "x=value:1", "--output-dir", folder, "--runs", "1", NULL);
  gsize length = 0;
  float y[2];

  cli_assert_status (open, 3);
  g_assert_nonnull (strstr (open->err, "Frobnicate"));
  g_assert_nonnull (strstr (open->err, "it depends on 'rate': set the value of this input"));
  g_assert_nonnull (strstr (open->err, "; --set NAME=VALUE sets a value"));
  cli_assert_status (other, 3);
  g_assert_nonnull (strstr (other->err, "Frobnicate"));
  g_assert_null (strstr (other->err, "--set"));
  cli_assert_status (run, 0);
  g_assert_true (g_file_get_contents (output, &bytes, &length, NULL));
  memcpy (y, bytes + length - sizeof y, sizeof y);
  g_assert_cmpfloat (y[0], ==, 48003);
  g_assert_cmpfloat (y[1], ==, 48003);
  cli_remove_folder (g_steal_pointer (&folder));
}

/* Who shows the messages beside controls of its own, as the window does, gets none that names an option. */
static void
test_no_option_hints (void)
{
  g_autofree char *path = cli_own_file ("rate.onnx");
  g_autoptr (CliResult) asked = NULL;

  g_setenv (GANTRY_NO_OPTION_HINTS, "1", TRUE);
  asked = cli_run ("plan", path, NULL);
  g_unsetenv (GANTRY_NO_OPTION_HINTS);
  cli_assert_status (asked, 3);
  g_assert_nonnull (strstr (asked->err, "it depends on 'rate'"));
  g_assert_null (strstr (asked->err, "--"));
}

/* The value may be a file, whose name may hold '='; an input that has a default keeps it. */
static void
test_set_file (void)
{
  g_autofree char *path = cli_own_file ("rate.onnx"), *folder = cli_temporary_folder ();
  g_autofree char *value = g_build_filename (folder, "rate=16.npy", NULL), *set = g_strconcat ("rate=@", value, NULL);
  static const char header[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (), }";
  g_autoptr (GString) npy = g_string_new_len ("\x93NUMPY\x01\x00", 8);
  const guint16 length = sizeof header - 1;
  const gint64 rate = 16000;

  g_string_append_len (npy, (const char *) &length, 2);
  g_string_append (npy, header);
  g_string_append_len (npy, (const char *) &rate, sizeof rate);
  g_assert_true (g_file_set_contents (value, npy->str, (gssize) npy->len, NULL));
  {
    g_autoptr (CliResult) info = cli_run ("info", path, "--set", set, "--json", NULL);
    g_autoptr (JsonNode) root = NULL;

    cli_assert_status (info, 0);
    root = cli_json (info);
    g_assert_cmpuint (json_array_get_length (json_object_get_array_member (json_node_get_object (root), "inputs")), ==, 1);
    g_assert_cmpuint (json_array_get_length (json_object_get_array_member (json_node_get_object (root), "unsupported")), ==, 0);
  }
  cli_remove_folder (g_steal_pointer (&folder));
}

static void
test_set_wrong (void)
{
  static const struct
  {
    const char *set, *error;
  } cases[] = {
    { "rate", "write the name of an input and its value" },
    { "speed=1", "there is no input 'speed' to set; the inputs are: x, rate" },
    { "rate=1.5", "input 'rate': value:1:1: expected a value of type i64, not '1.5'" },
    { "x=[1,2,3]", "input 'x': value:1:8: the value is f32[3] where f32[2] is wanted" },
    { "rate=@/nowhere.npy", "--set rate: " },
  };
  g_autofree char *path = cli_own_file ("rate.onnx");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CliResult) result = cli_run ("plan", path, "--set", cases[i].set, NULL);

      cli_assert_status (result, 1);
      cli_assert_one_error (result, cases[i].error);
    }
}

static void
test_passes (void)
{
  static const char *const keys[] = { "name", "title", "enabled", "nodes_before", "nodes_after", "made", "removed", "holds", "milliseconds", NULL };
  g_autofree char *path = cli_own_file ("sample.onnx");
  g_autoptr (CliResult) result = cli_run ("passes", "--json", "--disable", "cse", path, NULL);
  g_autoptr (CliResult) text = cli_run ("passes", "--after", "fuse", path, NULL);
  g_autoptr (JsonNode) root = NULL;
  JsonArray *passes;

  cli_assert_status (result, 0);
  root = cli_json (result);
  passes = json_object_get_array_member (json_node_get_object (root), "passes");
  g_assert_cmpuint (json_array_get_length (passes), >, 6);
  for (guint i = 0; i < json_array_get_length (passes); i++)
    {
      JsonObject *pass = json_array_get_object_element (passes, i);

      assert_members (pass, keys);
      g_assert_cmpint (json_object_get_int_member (pass, "nodes_before") + json_object_get_int_member (pass, "made")
                         - json_object_get_int_member (pass, "removed"),
                       ==, json_object_get_int_member (pass, "nodes_after"));
      g_assert_cmpint (json_object_get_boolean_member (pass, "enabled"), !=, strcmp (json_object_get_string_member (pass, "name"), "cse") == 0);
    }
  cli_assert_status (text, 0);
  g_assert_nonnull (strstr (text->out, "fusion("));
}

static void
test_run (void)
{
  static const char *const keys[] = { "device",      "milliseconds", "planned_bytes", "touched_bytes", "lower_bound_bytes",
                                      "arena_bytes", "kernels",      "threads",       "runs",          "compile_milliseconds",
                                      NULL };
  g_autofree char *path = cli_own_file ("linear.onnx");
  g_autoptr (CliResult) result = cli_run ("run", "--json", "--runs=3", path, NULL);
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (GList) parts = NULL;
  JsonObject *memory, *touched;
  JsonObject *object;
  gint64 sum = 0;

  cli_assert_status (result, 0);
  root = cli_json (result);
  object = json_node_get_object (root);
  assert_members (object, keys);
  g_assert_cmpint (json_object_get_int_member (object, "runs"), ==, 3);
  memory = json_object_get_object_member (object, "memory");
  g_assert_cmpint (json_object_get_int_member (memory, "touched_bytes"), ==, json_object_get_int_member (object, "touched_bytes"));
  g_assert_cmpint (json_object_get_int_member (memory, "touched_bytes"), >, 0);
  touched = json_object_get_object_member (memory, "touched");
  parts = json_object_get_members (touched);
  for (const GList *l = parts; l != NULL; l = l->next)
    sum += json_object_get_int_member (touched, l->data);
  g_assert_cmpint (sum, ==, json_object_get_int_member (memory, "touched_bytes"));
  g_assert_cmpint (json_object_get_int_member (json_object_get_object_member (memory, "outside"), "bytes"), ==, 0);
  g_assert_cmpint (json_object_get_int_member (memory, "process_bytes"), >=, json_object_get_int_member (memory, "process_now_bytes"));
  g_assert_cmpfloat (json_object_get_double_member (object, "milliseconds"), >, 0);
}

/* The time of a run is that of its recorded repetitions: what recording them takes is no part of it. */
/* The numbers at the end of a .npy of four. */
static void
assert_four (const char *folder, const char *name, float expected)
{
  g_autofree char *path = g_build_filename (folder, "out", name, NULL), *bytes = NULL;
  gsize length;
  float numbers[4];

  g_assert_true (g_file_get_contents (path, &bytes, &length, NULL));
  g_assert_cmpuint (length, >, sizeof numbers);
  memcpy (numbers, bytes + length - sizeof numbers, sizeof numbers);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    g_assert_cmpfloat (numbers[i], ==, expected);
}

/* An argument that is donated to one result and is another one keeps its value until that is read, and from step to step. */
static void
test_returned_argument (void)
{
  static const struct
  {
    const char *results, *option, *value;
    float first, second;
  } cases[] = {
    { "%0, %a", "--runs", "1", 8, 3 },
    { "%0, %a", "--steps", "3", 19, 11 },
    { "%b, %a", "--runs", "1", 5, 3 },
    { "%b, %a", "--steps", "2", 3, 5 },
  };
  char *folder = cli_temporary_folder ();
  g_autofree char *path = g_build_filename (folder, "x.mlir", NULL), *out = g_build_filename (folder, "out", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf (
        "func.func @main(%%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %%b: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> "
        "(tensor<4xf32>, tensor<4xf32>) {\n  %%0 = stablehlo.add %%a, %%b : tensor<4xf32>\n  return %s : tensor<4xf32>, tensor<4xf32>\n}\n",
        cases[i].results);
      g_autoptr (CliResult) result = NULL;

      g_assert_true (g_file_set_contents (path, text, -1, NULL));
      result = cli_run ("run", path, cases[i].option, cases[i].value, "--warmup", "0", "--quick-compile", "-i", "value:3", "-i", "value:5", "--output-dir", out,
                        NULL);
      cli_assert_status (result, 0);
      assert_four (folder, "output_0.npy", cases[i].first);
      assert_four (folder, "output_1.npy", cases[i].second);
    }
  cli_remove_folder (folder);
}

/* What is written wrong is told with what there is. */
static void
test_says_what_there_is (void)
{
  static const struct
  {
    const char *arguments[5], *says;
  } wrong[] = {
    { { "run", "--input", "no-such=zeros" }, "the inputs are: " },
    { { "plan", "--target", "h1000" }, "there are a100, h100" },
    { { "run", "--steps", "2" }, "is no training step, nothing goes on from one run to the next" },
    { { "export", "-o", "here.unknown" }, ".onnx, .mlir, .mindir or .gir" },
    { { "run", "-o", "/nowhere/at/all.gantry" }, "its folder has to be there" },
  };
  g_autofree char *model = cli_own_file ("linear.onnx");

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (CliResult) result = cli_run (wrong[i].arguments[0], wrong[i].arguments[1], wrong[i].arguments[2], model, NULL);

      g_assert_cmpint (result->status, !=, 0);
      g_assert_nonnull (strstr (result->err, wrong[i].says));
    }
}

static void
test_median (void)
{
  g_autofree char *model = cli_own_file ("linear.onnx");
  char *folder = cli_temporary_folder ();
  g_autofree char *session = g_build_filename (folder, "run.gantry", NULL), *table = g_build_filename (folder, "run.csv", NULL);
  g_autoptr (CliResult) run = cli_run ("run", "--json", "--runs=3", "-o", session, model, NULL);
  g_autoptr (CliResult) made = cli_run ("export", session, "-o", table, NULL);
  g_autoptr (JsonNode) root = cli_json (run);
  double got = json_object_get_double_member (json_node_get_object (root), "milliseconds");
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  gint64 times[3];
  guint n = 0;

  cli_assert_status (made, 0);
  g_assert_true (g_file_get_contents (table, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (lines[i], ",", 8); /* lane, name of it, kind, name, begin, end, duration */

      if (g_strv_length (parts) < 8 || strcmp (parts[2], "run") != 0)
        continue;
      g_assert_cmpuint (n, <, 3);
      times[n++] = g_ascii_strtoll (parts[6], NULL, 10);
    }
  g_assert_cmpuint (n, ==, 3);
  /* The one in the middle: neither the smallest nor the largest, or as large. */
  g_assert_cmpfloat_with_epsilon (
    got * 1e6, (double) (times[0] + times[1] + times[2] - MIN (times[0], MIN (times[1], times[2])) - MAX (times[0], MAX (times[1], times[2]))), 0.51);
  cli_remove_folder (folder);
}

/* An output that differs is status 2; the own output of a run is as expected. */
static void
test_mismatch (void)
{
  g_autofree char *path = cli_own_file ("linear.onnx");
  char *folder = cli_temporary_folder ();
  g_autofree char *output = g_build_filename (folder, "output_0.npy", NULL);
  g_autoptr (CliResult) made = cli_run ("run", "--runs=1", "--input=ones", "--output-dir", folder, path, NULL);
  g_autoptr (CliResult) same = cli_run ("run", "--runs=1", "--input=x=value:1", "--expect", output, path, NULL);
  g_autoptr (CliResult) other = cli_run ("run", "--runs=1", "--input=hash:5", "--expect", output, path, NULL);

  cli_assert_status (made, 0);
  cli_assert_status (same, 0);
  cli_assert_status (other, 2);
  cli_remove_folder (folder);
}

/* Every x86-64 processor that there is a build for has the first of them; of others the error says what is missing. */
static void
test_instructions (void)
{
  static const struct
  {
    const char *option, *cpu, *text;
  } sets[] = {
    { "--instructions=sse4", "x86-64-v2", "SSE4" },
    { "--instructions=avx2", "x86-64-v3", "AVX2" },
    { "--instructions=avx512", "x86-64-v4", "AVX-512" },
  };
  g_autofree char *path = cli_own_file ("sample.onnx");
  g_autoptr (CliResult) none = cli_run ("run", "--instructions=mmx", path, NULL);
  g_autoptr (CliResult) block = cli_run ("run", "--layout-block=12", path, NULL);

  cli_assert_status (none, 1);
  cli_assert_one_error (none, "mmx");
  cli_assert_status (block, 1);
  cli_assert_one_error (block, "--layout-block");
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++)
    {
      g_autoptr (CliResult) run = cli_run ("run", "--runs=1", sets[i].option, "--layout-block=16", "--quick-compile", path, NULL);
      g_autoptr (CliResult) made = cli_run ("compile", "--json", sets[i].option, path, NULL);

      if (run->status == 3)
        {
          cli_assert_one_error (run, sets[i].text);
          continue;
        }
      cli_assert_status (run, 0);
      cli_assert_status (made, 0);
      g_assert_nonnull (strstr (made->out, sets[i].cpu));
    }
}

static void
test_limit (void)
{
  g_autofree char *path = cli_own_file ("sample.onnx");
  g_autoptr (CliResult) result = cli_run ("run", "--runs=1", "--limit=1000", path, NULL);

  cli_assert_status (result, 1);
  cli_assert_one_error (result, "memory");
}

static void
test_broken (gconstpointer data)
{
  static const char *const commands[] = { "info", "passes", "compile", "run" };
  g_autofree char *file = g_build_filename ("broken", data, NULL);
  g_autofree char *path = cli_own_file (file);

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autoptr (CliResult) result = cli_run (commands[i], path, NULL);

      cli_assert_status (result, 1);
      cli_assert_one_error (result, data);
    }
}

static void
test_wrong_options (void)
{
  g_autofree char *path = cli_own_file ("open-batch.onnx");
  g_autoptr (CliResult) nothing = cli_run ("info", NULL);
  g_autoptr (CliResult) option = cli_run ("info", "--no-such-option", path, NULL);
  g_autoptr (CliResult) pass = cli_run ("passes", "--disable", "no-such-pass", path, NULL);
  g_autoptr (CliResult) dim = cli_run ("passes", "--dim", "batch", path, NULL);
  g_autoptr (CliResult) unroll = cli_run ("passes", "--unroll", "-1", path, NULL), none = cli_run ("passes", "--unroll", "0", path, NULL);
  g_autoptr (CliResult) missing = cli_run ("info", "/nowhere/model.onnx", NULL);

  cli_assert_status (nothing, 1);
  cli_assert_status (option, 1);
  cli_assert_status (pass, 1);
  cli_assert_one_error (pass, "no-such-pass");
  cli_assert_status (dim, 1);
  cli_assert_one_error (dim, "batch=8");
  cli_assert_status (unroll, 1);
  cli_assert_status (none, 1);
  cli_assert_one_error (unroll, "--unroll takes a number of nodes from 1 on, not -1");
  cli_assert_status (missing, 1);
  cli_assert_one_error (missing, "/nowhere/model.onnx");
}

/* A picture of @view in each format is there and of its format. */
static void
render (const char *folder, const char *model, const char *view)
{
  const char *const endings[] = { "svg", "png", "dot" };

  for (guint i = 0; i < (strcmp (view, "graph") == 0 ? 3 : 2); i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%s.%s", folder, view, endings[i]);
      g_autoptr (CliResult) result = cli_run ("render", "--view", view, "--output", path, model, NULL);
      g_autofree char *text = NULL;
      gsize length;

      cli_assert_status (result, 0);
      g_assert_true (g_file_get_contents (path, &text, &length, NULL));
      if (i == 0)
        g_assert_nonnull (g_strstr_len (text, 1000, "<svg"));
      if (i == 2)
        g_assert_nonnull (strstr (text, "digraph"));
      if (i == 1)
        {
          cairo_surface_t *picture = cairo_image_surface_create_from_png (path);

          g_assert_cmpint (cairo_surface_status (picture), ==, CAIRO_STATUS_SUCCESS);
          g_assert_cmpint (cairo_image_surface_get_width (picture), >, 100);
          cairo_surface_destroy (picture);
        }
    }
}

static void
test_render (void)
{
  g_autofree char *path = cli_own_file ("sample.onnx");
  char *folder = cli_temporary_folder ();

  render (folder, path, "graph");
  render (folder, path, "timeline");
  render (folder, path, "memory");
  cli_remove_folder (folder);
}

static void
copy (const char *from, const char *folder, const char *name)
{
  g_autofree char *to = g_build_filename (folder, name, NULL);
  g_autofree char *text = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (from, &text, &length, NULL));
  g_assert_true (g_file_set_contents (to, text, (gssize) length, NULL));
}

/* One folder each of the verdicts that its model gives; a model without a data set has not passed. */
static void
test_verify (void)
{
  g_autofree char *unknown = cli_own_file ("unknown-operation.onnx");
  g_autofree char *cyclic = cli_own_file ("broken/cyclic.onnx");
  g_autofree char *linear = cli_own_file ("linear.onnx");
  const char *const models[] = { unknown, cyclic, linear };
  char *folder = cli_temporary_folder ();
  g_autoptr (CliResult) result = NULL;
  g_autoptr (JsonNode) root = NULL;
  JsonObject *totals;

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *inside = g_strdup_printf ("%s/case_%u", folder, i);

      g_assert_cmpint (g_mkdir (inside, 0777), ==, 0);
      copy (models[i], inside, "model.onnx");
    }
  result = cli_run ("verify", "--json", folder, NULL);
  cli_assert_status (result, 1);
  root = cli_json (result);
  totals = json_object_get_object_member (json_node_get_object (root), "totals");
  g_assert_cmpint (json_object_get_int_member (totals, "pass"), ==, 0);
  g_assert_cmpint (json_object_get_int_member (totals, "unsupported"), ==, 1);
  g_assert_cmpint (json_object_get_int_member (totals, "error"), ==, 2);
  cli_remove_folder (folder);
}

/* A backend test passes; with its output changed it is a mismatch, status 2. */
static void
test_verify_conformance (void)
{
  g_autofree char *path = cli_shared_file ("onnx-conformance", "node/test_relu");
  char *folder;
  g_autofree char *set = NULL;
  g_autoptr (CliResult) pass = NULL, mismatch = NULL;
  static const char *const files[] = { "model.onnx", "test_data_set_0/input_0.pb", "test_data_set_0/output_0.pb" };

  if (path == NULL)
    return;
  pass = cli_run ("verify", path, NULL);
  cli_assert_status (pass, 0);
  g_assert_nonnull (strstr (pass->out, "1 pass, 0 mismatch, 0 unsupported, 0 error"));
  folder = cli_temporary_folder ();
  set = g_build_filename (folder, "test_data_set_0", NULL);
  g_assert_cmpint (g_mkdir (set, 0777), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      /* The input in the output's place: it has negative elements. */
      g_autofree char *from = g_build_filename (path, files[MIN (i, 1)], NULL);

      copy (from, folder, files[i]);
    }
  mismatch = cli_run ("verify", folder, NULL);
  cli_assert_status (mismatch, 2);
  g_assert_nonnull (strstr (mismatch->out, "0 pass, 1 mismatch, 0 unsupported, 0 error"));
  cli_remove_folder (folder);
}

/* A folder of XLA's dumps: its passes come before Gantry's, one of several compilations is named, and a session opens it again. */
static void
test_dump (void)
{
  char *folder = cli_temporary_folder ();
  g_autofree char *session = g_build_filename (folder, "x.gantry", NULL);
  g_autofree char *dump = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "xla-dump", NULL);
  g_autofree char *other = g_build_filename (folder, "module_0007.f.before_optimizations.txt", NULL);
  g_autofree char *third = g_build_filename (folder, "module_0008.f.cpu_after_optimizations.txt", NULL);
  g_autoptr (CliResult) info = cli_run ("info", "--json", dump, NULL), passes = cli_run ("passes", "--json", dump, NULL);
  g_autoptr (CliResult) saved = cli_run ("plan", "-o", session, dump, NULL), again = cli_run ("passes", "--json", session, NULL);
  g_autoptr (CliResult) carried = cli_run ("plan", "--embed", "-o", session, dump, NULL);
  g_autoptr (CliResult) several = NULL, second = NULL;
  g_autoptr (JsonNode) root = NULL, list = NULL, list_again = NULL;
  JsonObject *assignment;
  JsonArray *names;

  cli_assert_status (info, 0);
  root = cli_json (info);
  g_assert_cmpstr (json_object_get_string_member (json_node_get_object (root), "format"), ==, "XLA dump");
  assignment = json_object_get_object_member (json_node_get_object (root), "xla_assignment");
  g_assert_cmpint (json_object_get_int_member (assignment, "total_bytes"), ==, 352);
  g_assert_cmpint (json_object_get_int_member (assignment, "most_live_bytes"), ==, 352);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (assignment, "allocations")), ==, 4);
  cli_assert_status (passes, 0);
  list = cli_json (passes);
  names = json_object_get_array_member (json_node_get_object (list), "passes");
  g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (names, 0), "name"), ==, "import");
  g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (names, 0), "title"), ==, "XLA: before optimizations");
  g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (names, 2), "name"), ==, "xla-7-algsimp");
  g_assert_cmpint (json_object_get_int_member (json_array_get_object_element (names, 2), "removed"), >, 0);
  g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (names, 7), "name"), ==, "xla-after_optimizations");
  g_assert_cmpint (json_object_get_int_member (json_array_get_object_element (names, 7), "nodes_after"), ==,
                   json_object_get_int_member (json_node_get_object (root), "nodes"));
  g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (names, 8), "name"), ==, "legalize");
  cli_assert_status (saved, 0);
  cli_assert_status (again, 0);
  list_again = cli_json (again);
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (json_node_get_object (list_again), "passes")), ==, json_array_get_length (names));
  cli_assert_one_error (carried, "carries no folder of dumps along");
  g_assert_true (g_file_set_contents (other, "HloModule f\nENTRY e {\n  ROOT x = f32[2]{0} parameter(0)\n}\n", -1, NULL));
  g_assert_true (g_file_set_contents (third, "HloModule f\nENTRY e {\n  ROOT x = f32[3]{0} parameter(0)\n}\n", -1, NULL));
  several = cli_run ("info", folder, NULL);
  cli_assert_status (several, 1);
  g_assert_nonnull (strstr (several->err, "has 2 compilations, name one as the entry"));
  g_assert_nonnull (strstr (several->err, "f#2 (module 8"));
  g_assert_nonnull (strstr (several->err, "\n--entry=NAME names one\n"));
  second = cli_run ("info", "--entry=f#2", folder, NULL);
  cli_assert_status (second, 0);
  g_assert_nonnull (strstr (second->out, "f32[3]"));
  cli_remove_folder (folder);
}

/* A folder of the texts that MindSpore writes of its graphs: a snapshot for each, in the order of their numbers; of several graphs one is
 * named, and what cannot be read is told. */
static void
test_texts (void)
{
  static const char *const names[] = { "00_parse_0000.ir", "opt_pass_1_cse_0001.ir", "12_validate_0010.ir", "00_parse_0011.ir" };
  char *folder = cli_temporary_folder ();
  g_autofree char *from = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "mindspore", "validate.ir", NULL);
  g_autofree char *text = NULL;
  g_autoptr (CliResult) passes = NULL, several = NULL, second = NULL, none = NULL;
  g_autoptr (JsonNode) root = NULL;
  JsonArray *list;

  g_assert_true (g_file_get_contents (from, &text, NULL, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);

      if (i == 3)
        {
          several = cli_run ("info", folder, NULL);
          cli_assert_status (several, 0);
          g_assert_nonnull (strstr (several->out, "00_parse_0000.ir is left out"));
          passes = cli_run ("passes", "--json", folder, NULL);
        }
      g_assert_true (g_file_set_contents (path, i == 0 ? "# IR entry: @f\nsubgraph @f() {\n  Return(%7)\n}\n" : text, -1, NULL));
    }
  g_assert_nonnull (passes);
  root = cli_json (passes);
  list = json_object_get_array_member (json_node_get_object (root), "passes");
  g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (list, 0), "title"), ==, "MindSpore: opt pass 1 cse");
  g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (list, 1), "name"), ==, "mindspore-10-validate");
  none = cli_run ("info", folder, NULL);
  cli_assert_status (none, 1);
  g_assert_nonnull (strstr (none->err, "of 2 graphs, name one as the entry"));
  second = cli_run ("info", "--entry=2", folder, NULL);
  cli_assert_status (second, 0);
  cli_remove_folder (folder);
}

int
main (int argc, char **argv)
{
  static const char *const broken[] = { "truncated.onnx", "cyclic.onnx", "wrong-type.onnx", "oversized.onnx", "not-onnx.onnx" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/info", test_info);
  g_test_add_func ("/cli/info-of-trace", test_info_of_trace);
  g_test_add_func ("/cli/unsupported", test_unsupported);
  g_test_add_func ("/cli/set", test_set);
  g_test_add_func ("/cli/no-option-hints", test_no_option_hints);
  g_test_add_func ("/cli/set-file", test_set_file);
  g_test_add_func ("/cli/set-wrong", test_set_wrong);
  g_test_add_func ("/cli/passes", test_passes);
  g_test_add_func ("/cli/dump", test_dump);
  g_test_add_func ("/cli/texts", test_texts);
  g_test_add_func ("/cli/run", test_run);
  g_test_add_func ("/cli/returned-argument", test_returned_argument);
  g_test_add_func ("/cli/median", test_median);
  g_test_add_func ("/cli/mismatch", test_mismatch);
  g_test_add_func ("/cli/instructions", test_instructions);
  g_test_add_func ("/cli/limit", test_limit);
  g_test_add_func ("/cli/wrong-options", test_wrong_options);
  g_test_add_func ("/cli/says-what-there-is", test_says_what_there_is);
  g_test_add_func ("/cli/render", test_render);
  g_test_add_func ("/cli/verify", test_verify);
  g_test_add_func ("/cli/verify/conformance", test_verify_conformance);
  for (guint i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      g_autofree char *path = g_strconcat ("/cli/broken/", broken[i], NULL);

      g_test_add_data_func (path, broken[i], test_broken);
    }
  return g_test_run ();
}
