/* SPDX-License-Identifier: Apache-2.0 */
/* One quantity, one figure: what plan, solve and run say of the same bytes and times, in text and in JSON. */
#include "tests/app/cli/step-test.h"
#include "core/base/format.h"
#include <glib/gstdio.h>
#include <string.h>

static gboolean
known (JsonNode *node)
{
  return json_object_get_boolean_member (json_node_get_object (node), "sizes_known");
}

/* What kernels need that were made otherwise than those of a run without options says nothing of such a run. */
static void
test_conditions (StepPlace *place, gconstpointer data)
{
  static const char *const otherwise[] = { "--no-library", "--threads=1023", "--instructions=sse4", "--quick-compile", "--device=grid" };
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autofree char *out = g_build_filename (place->folder, "ran.gantry", NULL), *all = NULL;
  g_autoptr (JsonNode) usual = NULL, after = NULL;
  g_autoptr (CliResult) after_usual = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (otherwise); i++)
    {
      g_autoptr (JsonNode) ran = step_ask (place, "run", otherwise[i], "--runs", "1", "--warmup", "0", "-o", out, NULL);
      g_autoptr (CliResult) result = cli_run ("plan", "--json", out, NULL);
      g_autoptr (JsonNode) plan = NULL;

      cli_assert_status (result, 0);
      plan = cli_json (result);
      g_assert_false (known (plan));
      g_assert_cmpint (step_part (plan, "context and code"), ==, 0);
      g_assert_cmpint (step_part (ran, "context and code"), >, 0);
    }
  all = g_strdup_printf ("--threads=%u", g_get_num_processors ());
  usual = step_ask (place, "run", all, "--runs", "1", "--warmup", "0", "-o", out, NULL);
  after_usual = cli_run ("plan", "--json", out, NULL);
  after = cli_json (after_usual);
  g_assert_true (known (after));
  g_assert_cmpint (step_number (after, "lower_bound_bytes"), ==, step_number (usual, "lower_bound_bytes"));
  g_assert_cmpint (step_number (after, "planned_bytes"), ==, step_number (usual, "planned_bytes"));
}

/* A size that a search fits a program into is one that a run fits into, too: both count the code, here most of it. */
static void
test_fit (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autofree char *out = g_build_filename (place->folder, "fits.gantry", NULL), *size = NULL, *limit = NULL, *tight = NULL;
  g_autoptr (JsonNode) solved = NULL, ran = step_ask (place, "run", "--runs", "1", "--warmup", "0", NULL), again = NULL;
  g_autoptr (CliResult) result = NULL, refused = NULL;
  JsonObject *solution;

  size = g_strdup_printf ("--fit=%" G_GINT64_FORMAT, step_number (ran, "planned_bytes"));
  limit = g_strdup_printf ("--limit=%" G_GINT64_FORMAT, step_number (ran, "planned_bytes"));
  solved = step_ask (place, "solve", size, "--seconds", "5", "-o", out, NULL);
  solution = json_object_get_object_member (json_node_get_object (solved), "solution");
  g_assert_true (json_object_get_boolean_member (solution, "sizes_known"));
  g_assert_cmpint (json_object_get_int_member (solution, "planned_bytes"), ==, step_number (solved, "planned_bytes"));
  result = cli_run ("run", "--json", "--runs", "1", "--warmup", "0", limit, out, NULL);
  cli_assert_status (result, 0);
  again = cli_json (result);
  g_assert_cmpint (step_number (again, "planned_bytes"), ==, step_number (solved, "planned_bytes"));
  /* Values alone would fit. */
  g_assert_cmpint (step_number (made, "planned_bytes"), <, step_part (ran, "context and code"));
  tight = g_strdup_printf ("--fit=%" G_GINT64_FORMAT, step_part (ran, "context and code"));
  refused = cli_run ("solve", tight, "--seconds", "5", place->step, NULL);
  cli_assert_status (refused, 1);
}

/* Planned and touched mean the device's memory, as the limit does; what is of the host, or of both, says so. */
static void
test_host_apart (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autoptr (JsonNode) ran = step_ask (place, "run", "--steps", "1", "--rules", "* offload", NULL);
  g_autoptr (CliResult) text = cli_run ("run", "--steps=1", "--rules=* offload", place->step, NULL);
  JsonObject *memory = json_object_get_object_member (json_node_get_object (ran), "memory");
  gint64 host = json_object_get_int_member (memory, "host_planned_bytes"), touched = json_object_get_int_member (memory, "touched_bytes");
  g_autofree char *planned_text = gantry_format_bytes ((guint64) step_number (ran, "planned_bytes"));
  g_autofree char *host_text = gantry_format_bytes ((guint64) host);
  g_autofree char *line = g_strdup_printf ("%s planned and %s of host memory\n", planned_text, host_text);

  g_assert_cmpint (host, >, 0);
  g_assert_cmpint (host, ==, step_number (ran, "host_planned_bytes"));
  g_assert_cmpint (json_object_get_int_member (memory, "planned_bytes"), ==, step_number (ran, "planned_bytes"));
  g_assert_cmpint (json_object_get_int_member (memory, "planned_all_bytes"), ==, step_number (ran, "planned_bytes") + host);
  g_assert_cmpint (touched, ==, step_number (ran, "touched_bytes"));
  g_assert_cmpint (json_object_get_int_member (memory, "touched_all_bytes"), ==, touched + json_object_get_int_member (memory, "host_touched_bytes"));
  g_assert_nonnull (strstr (text->out, line));
}

/* Both plans of a run that is planned again count what the kernels need: the second is the one that ran. */
static void
test_replan_peak (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autoptr (JsonNode) ran = step_ask (place, "run", "--replan", "--no-library", NULL);
  JsonObject *changes = json_object_get_object_member (json_node_get_object (ran), "changes");

  g_assert_true (json_object_get_boolean_member (changes, "sizes_before_known"));
  g_assert_cmpint (json_object_get_int_member (changes, "planned_after_bytes"), ==, step_number (ran, "planned_bytes"));
  g_assert_cmpint (json_object_get_int_member (changes, "planned_before_bytes"), >=, step_part (ran, "context and code"));
}

/* What is predicted for another machine is not shown as what was predicted of this run. */
static void
test_elsewhere (StepPlace *place, gconstpointer data)
{
  g_autofree char *target = g_strconcat ("--target=", g_getenv ("GANTRY_SOURCE_ROOT"), "/data/targets/h200.target", NULL);
  g_autofree char *threads = g_strdup_printf ("--threads=%u", g_get_num_processors () + 1);
  const char *const options[][2] = { { target, "H200, stated rates" }, { threads, "cpu, " }, { "--device=grid", "cpu, " } };
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir"), here = step_ask (place, "run", "--runs=1", NULL);

  g_assert_false (json_object_get_boolean_member (json_node_get_object (here), "predicted_elsewhere"));
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autoptr (JsonNode) ran = step_ask (place, "run", "--runs=1", options[i][0], NULL);
      g_autoptr (CliResult) text = cli_run ("run", "--runs=1", options[i][0], place->step, NULL);

      g_assert_true (json_object_get_boolean_member (json_node_get_object (ran), "predicted_elsewhere"));
      g_assert_true (g_str_has_prefix (json_object_get_string_member (json_node_get_object (ran), "predicted_for"), options[i][1]));
      g_assert_nonnull (strstr (text->out, "which is not what ran"));
      g_assert_null (strstr (text->out, "; predicted "));
    }
}

/* A GPU by its name and by its file is one machine. */
static void
test_named_target (StepPlace *place, gconstpointer data)
{
  static const char *const equal[] = { "planned_bytes", "steps", "limit_bytes" };
  g_autofree char *file = g_strconcat ("--target=", g_getenv ("GANTRY_SOURCE_ROOT"), "/data/targets/h100.target", NULL);
  g_autoptr (JsonNode) made = step_make (place, "transformer-tiny.gir"), name = step_ask (place, "plan", "--target=h100", NULL);
  g_autoptr (JsonNode) by_file = step_ask (place, "plan", file, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (equal); i++)
    g_assert_cmpint (step_number (name, equal[i]), ==, step_number (by_file, equal[i]));
  g_assert_cmpint (step_number (name, "limit_bytes"), >, 0);
  g_assert_cmpfloat (json_object_get_double_member (json_node_get_object (name), "step_ms"), ==,
                     json_object_get_double_member (json_node_get_object (by_file), "step_ms"));
}

/* No name of JSON has two meanings: what plan and run say of the same bytes is called alike, and measured and planned never. */
static void
test_names (StepPlace *place, gconstpointer data)
{
  static const char *const planned[] = { "planned_bytes", "lower_bound_bytes", "host_planned_bytes" };
  static const char *const gone[] = { "\"peak_bytes\"", "\"host_peak_bytes\"", "\"planned_host_bytes\"", "\"planned_now_bytes\"" };
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir"), ran = NULL, plan = NULL;
  g_autoptr (CliResult) run_text = NULL, plan_text = NULL;

  run_text = cli_run ("run", "--json", "--runs=1", place->step, NULL);
  plan_text = cli_run ("plan", "--json", "--kernels", place->step, NULL);
  ran = cli_json (run_text);
  plan = cli_json (plan_text);
  for (guint i = 0; i < G_N_ELEMENTS (planned); i++)
    g_assert_cmpint (step_number (ran, planned[i]), ==, step_number (plan, planned[i]));
  for (guint i = 0; i < G_N_ELEMENTS (gone); i++)
    g_assert_true (strstr (run_text->out, gone[i]) == NULL && strstr (plan_text->out, gone[i]) == NULL);
  g_assert_true (json_object_has_member (json_node_get_object (ran), "touched_bytes"));
  g_assert_false (json_object_has_member (json_node_get_object (plan), "touched_bytes"));
}

/* Times and sizes of one plan are of the same kernels; whose they are is said, and what cannot be brought together is refused. */
static void
test_times_otherwise (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir"), ran = NULL, plan = NULL;
  g_autofree char *out = g_build_filename (place->folder, "own.gantry", NULL);
  g_autoptr (CliResult) planned = NULL, text = NULL, mixed = NULL, usual = NULL, kept = NULL;

  ran = step_ask (place, "run", "--no-library", "--runs=1", "-o", out, NULL);
  planned = cli_run ("plan", "--json", "--times", "last", out, NULL);
  plan = cli_json (planned);
  g_assert_cmpstr (json_object_get_string_member (json_node_get_object (plan), "runs_with"), ==, "no library");
  g_assert_true (known (plan));
  g_assert_cmpint (step_number (plan, "planned_bytes"), ==, step_number (ran, "planned_bytes"));
  text = cli_run ("plan", "--times", "last", "-o", out, out, NULL);
  cli_assert_status (text, 0);
  g_assert_nonnull (strstr (text->out, "for        runs with no library\n"));
  /* Those of kernels of the library are none of these. */
  mixed = cli_run ("plan", "--kernels", "--times", "last", out, NULL);
  cli_assert_status (mixed, 1);
  g_assert_nonnull (strstr (mixed->err, "was made with no library"));
  /* The session keeps what its times were made with: a run of another kind is not compared with them. */
  usual = cli_run ("run", "--runs=1", out, NULL);
  cli_assert_status (usual, 0);
  g_assert_nonnull (strstr (usual->out, "with no library, which is not what ran"));
  kept = cli_run ("run", "--runs=1", "--no-library", out, NULL);
  g_assert_nonnull (strstr (kept->out, "; predicted "));
}

/* What is not known whole says so wherever it stands. */
static void
test_at_least (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autoptr (CliResult) part = cli_run ("plan", "--limit", "900%", place->step, NULL);
  g_autoptr (CliResult) known_part = cli_run ("plan", "--kernels", "--limit", "100%", place->step, NULL);

  cli_assert_status (part, 0);
  g_assert_nonnull (strstr (part->out, ", at least 11.1 % of it used"));
  g_assert_nonnull (strstr (part->out, "sum, at least"));
  g_assert_nonnull (strstr (part->err, "--limit 900% is of at least "));
  cli_assert_status (known_part, 0);
  g_assert_nonnull (strstr (known_part->out, ", 100.0 % of it used"));
  g_assert_null (strstr (known_part->out, "at least"));
  g_assert_null (strstr (known_part->err, "--limit"));
}

/* What was touched above the limit is an answer of its own to who asks whether it fits. What is planned whole is none: neither are rests of
 * pages, nor what a library generates, at load or, with fewer instructions, in its first product. */
static void
test_above_limit (StepPlace *place, gconstpointer data)
{
  static const struct
  {
    const char *program, *instructions;
  } cases[] = {
    { "mlp.gir", "--instructions=native" },
    { "convnet.gir", "--instructions=native" },
    { "convnet.gir", "--instructions=avx2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (JsonNode) made = g_unlink (place->step) <= 0 ? step_make (place, cases[i].program) : NULL;
      g_autoptr (JsonNode) first = step_ask (place, "run", "--runs=1", cases[i].instructions, NULL);
      g_autofree char *limit = g_strdup_printf ("--limit=%" G_GINT64_FORMAT, step_number (first, "planned_bytes"));
      g_autoptr (CliResult) result = cli_run ("run", "--json", "--runs=1", cases[i].instructions, limit, place->step, NULL);
      g_autoptr (JsonNode) ran = cli_json (result);
      JsonObject *memory = json_object_get_object_member (json_node_get_object (ran), "memory");
      JsonObject *touched = json_object_get_object_member (memory, "touched");

      cli_assert_status (result, 0);
      g_assert_false (json_object_get_boolean_member (memory, "above_limit"));
      g_assert_null (strstr (result->err, "Above the limit"));
      g_assert_cmpint (json_object_get_int_member (touched, "context and code"), <=, step_part (ran, "context and code"));
      g_assert_cmpint (json_object_get_int_member (memory, "touched_bytes") - step_number (first, "planned_bytes"), <=,
                       json_object_get_int_member (memory, "rounding_bytes"));
    }
}

/* It is the exit status, too: of code that no plan knows of, 4 MiB are touched beside what fits exactly. */
static void
test_status_above_limit (StepPlace *place, gconstpointer data)
{
#ifdef CODE_PAGES
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir"), first = step_ask (place, "run", "--runs=1", NULL), ran = NULL;
  g_autofree char *limit = g_strdup_printf ("--limit=%" G_GINT64_FORMAT, step_number (first, "planned_bytes"));
  g_autoptr (CliResult) within = NULL, above = NULL, profiled = NULL;
  JsonObject *memory;

  g_setenv ("LD_PRELOAD", CODE_PAGES, TRUE);
  within = cli_run ("run", "--runs=1", place->step, NULL);
  above = cli_run ("run", "--json", "--runs=1", limit, place->step, NULL);
  profiled = cli_run ("profile", "--runs=1", limit, place->step, NULL);
  g_unsetenv ("LD_PRELOAD");
  cli_assert_status (within, 0);
  cli_assert_status (above, 4);
  cli_assert_status (profiled, 4);
  g_assert_nonnull (strstr (above->err, "Above the limit: "));
  ran = cli_json (above);
  memory = json_object_get_object_member (json_node_get_object (ran), "memory");
  g_assert_true (json_object_get_boolean_member (memory, "above_limit"));
  g_assert_cmpint (step_number (ran, "touched_bytes"), >=, step_number (ran, "limit_bytes") + (3 << 20)); /* not all that is planned is touched */
#else
  g_test_skip ("a sanitizer wants to be loaded before anything else");
#endif
}

/* An arm that is planned for and never taken: 12 MiB. */
static const char branch[] = "func.func @main(%p: tensor<i1>, %x: tensor<1024xf32>) -> tensor<1024xf32> {\n"
                             "  %r = \"stablehlo.if\"(%p) ({\n"
                             "    %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<1024xf32>) -> tensor<2048x1024xf32>\n"
                             "    %s = stablehlo.sine %b : tensor<2048x1024xf32>\n"
                             "    %d = stablehlo.dot_general %s, %s, contracting_dims = [0] x [0] : (tensor<2048x1024xf32>, tensor<2048x1024xf32>)"
                             " -> tensor<1024x1024xf32>\n"
                             "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                             "    %t = stablehlo.reduce(%d init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1024x1024xf32>, tensor<f32>)"
                             " -> tensor<1024xf32>\n"
                             "    stablehlo.return %t : tensor<1024xf32>\n"
                             "  }, {\n"
                             "    %n = stablehlo.negate %x : tensor<1024xf32>\n"
                             "    stablehlo.return %n : tensor<1024xf32>\n"
                             "  }) : (tensor<i1>) -> tensor<1024xf32>\n"
                             "  return %r : tensor<1024xf32>\n}\n";

/* The highest value of the counter of device memory in a trace. */
static gint64
highest_in_trace (const char *path)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  JsonArray *events;
  gint64 highest = 0;

  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);
  events = json_object_get_array_member (json_node_get_object (json_parser_get_root (parser)), "traceEvents");
  for (guint i = 0; i < json_array_get_length (events); i++)
    {
      JsonObject *event = json_array_get_object_element (events, i);

      if (g_strcmp0 (json_object_get_string_member (event, "ph"), "C") == 0)
        highest = MAX (highest, json_object_get_int_member (json_object_get_object_member (event, "args"), "value"));
    }
  return highest;
}

/* What is planned and never touched is not there: neither in the figures of a run, nor in its parts, nor in its curve. */
static void
test_untouched (StepPlace *place, gconstpointer data)
{
  g_autofree char *program = g_build_filename (place->folder, "branch.mlir", NULL);
  g_autofree char *out = g_build_filename (place->folder, "out.gantry", NULL);
  g_autofree char *trace = g_build_filename (place->folder, "trace.json", NULL);
  g_autoptr (CliResult) result = NULL, exported = NULL;
  g_autoptr (JsonNode) ran = NULL;
  g_autoptr (GList) keys = NULL;
  JsonObject *memory, *touched;
  gint64 sum = 0;

  g_assert_true (g_file_set_contents (program, branch, -1, NULL));
  result = cli_run ("run", "--json", "--runs=1", "--warmup=0", "--input=p=zeros", "-o", out, program, NULL);
  cli_assert_status (result, 0);
  ran = cli_json (result);
  memory = json_object_get_object_member (json_node_get_object (ran), "memory");
  touched = json_object_get_object_member (memory, "touched");
  g_assert_cmpint (step_part (ran, "workspaces"), >=, 12 << 20);
  g_assert_cmpint (json_object_get_int_member (touched, "workspaces"), <, 1 << 20);
  g_assert_cmpint (step_number (ran, "touched_bytes"), <, step_number (ran, "planned_bytes") - (11 << 20));
  g_assert_cmpint (json_object_get_int_member (memory, "held_bytes"), <, step_number (ran, "planned_bytes") - (11 << 20));
  keys = json_object_get_members (touched);
  for (const GList *l = keys; l != NULL; l = l->next)
    sum += json_object_get_int_member (touched, l->data);
  g_assert_cmpint (sum, ==, step_number (ran, "touched_bytes"));
  g_assert_cmpint (json_object_get_int_member (memory, "touched_bytes"), ==, sum);
  exported = cli_run ("export", "-o", trace, out, NULL);
  cli_assert_status (exported, 0);
  g_assert_cmpint (highest_in_trace (trace), ==, sum);
}

#define WEIGHTS (256 * 256 * 3 * 3)
#define PIXELS (256 * 14 * 14)

/* Floats, in a file of their own or behind the header of a .npy that ends after @header bytes. */
static char *
write_floats (const StepPlace *place, const char *name, guint n, gsize header)
{
  g_autoptr (GString) bytes = g_string_new (NULL);
  char *path = g_build_filename (place->folder, name, NULL);

  if (header > 0)
    {
      const guint16 length = (guint16) (header - 10);

      g_string_append_len (bytes, "\x93NUMPY\x01\x00", 8);
      g_string_append_len (bytes, (const char *) &length, 2);
      g_string_append (bytes, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 256, 14, 14), }");
      while (bytes->len < header - 1)
        g_string_append_c (bytes, ' ');
      g_string_append_c (bytes, '\n');
    }
  for (guint i = 0; i < n; i++)
    {
      const float value = (float) (i % 7) / 7;

      g_string_append_len (bytes, (const char *) &value, sizeof value);
    }
  g_assert_true (g_file_set_contents (path, bytes->str, (gssize) bytes->len, NULL));
  return path;
}

/* A file that is mapped is used where it lies, where it can be. Weights that a library has packed are not kept twice. */
static void
test_where_they_lie (StepPlace *place, gconstpointer data)
{
  static const struct
  {
    gsize header;
    gint64 copied;
  } inputs[] = { { 128, 0 }, { 100, PIXELS * 4 } };
  g_autofree char *weights = write_floats (place, "w.bin", WEIGHTS, 0), *program = g_build_filename (place->folder, "conv.gir", NULL);
  g_autofree char *text = g_strdup_printf ("module \"conv\" {\n  func @main #1 (%%1 \"x\": f32[1,256,14,14]) -> (%%3) {\n"
                                           "    %%2 = constant() {value = file<f32[256,256,3,3]: \"%s\", 0, %d>}: f32[256,256,3,3]\n"
                                           "    %%3 = convolution(%%1, %%2) {padding = [1, 1, 1, 1]}: f32[1,256,14,14]\n  }\n}\n",
                                           weights, WEIGHTS * 4);

  g_assert_true (g_file_set_contents (program, text, -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    {
      g_autofree char *x = write_floats (place, "x=1.npy", PIXELS, inputs[i].header), *input = g_strconcat ("--input=x=", x, NULL);
      g_autoptr (CliResult) result = cli_run ("run", "--json", "--runs=1", "--warmup=0", "--allow-outside", input, program, NULL);
      g_autoptr (JsonNode) ran = NULL;
      JsonObject *touched;

      cli_assert_status (result, 0);
      ran = cli_json (result);
      touched = json_object_get_object_member (json_object_get_object_member (json_node_get_object (ran), "memory"), "touched");
      g_assert_cmpint (step_number (ran, "copied_in_out_bytes"), ==, inputs[i].copied);
      g_assert_cmpint (step_part (ran, "constants"), >=, WEIGHTS * 4);
      g_assert_cmpint (step_part (ran, "packed weights"), >=, WEIGHTS * 4);
      g_assert_cmpint (json_object_get_int_member (touched, "packed weights"), >=, WEIGHTS * 4);
      g_assert_cmpint (json_object_get_int_member (touched, "constants"), <, WEIGHTS);
    }
}

/* A parameter's first value is written anew for each run. The file that it comes from is not in memory beside it. */
static void
test_written_anew (StepPlace *place, gconstpointer data)
{
  enum
  {
    SIDE = 2048
  };
  g_autofree char *program = g_build_filename (place->folder, "wide.gir", NULL), *weights = write_floats (place, "w.npy", SIDE * SIDE, 128);
  g_autofree char *header = g_strdup_printf ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", SIDE, SIDE);
  g_autofree char *input = g_strconcat ("--input=w=", weights, NULL), *bytes = NULL;
  const char *text = "module \"wide\" {\n  func @main #1 (%1 \"x\": f32[2,2048], %2 \"w\": f32[2048,2048] {role = \"parameter\"}) -> (%3) {\n"
                     "    %3 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[2,2048]\n  }\n}\n";
  g_autoptr (CliResult) made = NULL;
  g_autoptr (JsonNode) ran = NULL;
  JsonObject *memory, *owners;
  gsize length;

  g_assert_true (g_file_get_contents (weights, &bytes, &length, NULL));
  memset (bytes + 10, ' ', 117);
  memcpy (bytes + 10, header, strlen (header));
  g_assert_true (g_file_set_contents (weights, bytes, (gssize) length, NULL));
  g_assert_true (g_file_set_contents (program, text, -1, NULL));
  made = cli_run ("train", "-o", place->step, program, NULL);
  cli_assert_status (made, 0);
  ran = step_ask (place, "run", "--runs=3", "--warmup=0", input, NULL);
  memory = json_object_get_object_member (json_node_get_object (ran), "memory");
  if (json_object_get_null_member (memory, "process_bytes"))
    {
      g_test_skip ("the system does not say what the process holds");
      return;
    }
  owners = json_object_get_object_member (memory, "owners");
  g_assert_cmpint (step_part (ran, "arguments"), >=, SIDE * SIDE * 4);
  g_assert_cmpint (json_object_get_int_member (owners, "gone again"), <, SIDE * SIDE * 3);
}

/* The figures of the README of ten layers of JAX's offloading tutorial: they depend on no machine. */
static void
test_tutorial (StepPlace *place, gconstpointer data)
{
  static const struct
  {
    const char *rules, *temporaries;
  } rows[] = {
    { "", "12.5 MiB" },
    { "policy nothing_saveable", "3.50 MiB" },
    { "policy nothing_saveable; name:x offload", "1.50 MiB" },
    { "policy nothing_saveable; name:x offload; role:parameter offload", "3.50 MiB" },
  };
  g_autofree char *program = step_program ("layers.gir");
  g_autoptr (CliResult) made = cli_run ("train", "--gradients-only", "-o", place->step, program, NULL);

  cli_assert_status (made, 0);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (JsonNode) plan = step_ask (place, "plan", "--rules", rows[i].rules, NULL);
      g_autofree char *temporaries = gantry_format_bytes ((guint64) step_part (plan, "temporaries"));

      g_assert_cmpstr (temporaries, ==, rows[i].temporaries);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/cli/figures/" name, StepPlace, NULL, step_place_set_up, function, step_place_tear_down)
  ADD ("conditions", test_conditions);
  ADD ("fit", test_fit);
  ADD ("host-apart", test_host_apart);
  ADD ("replan-peak", test_replan_peak);
  ADD ("elsewhere", test_elsewhere);
  ADD ("named-target", test_named_target);
  ADD ("names", test_names);
  ADD ("times-otherwise", test_times_otherwise);
  ADD ("at-least", test_at_least);
  ADD ("tutorial", test_tutorial);
  ADD ("above-limit", test_above_limit);
  ADD ("status-above-limit", test_status_above_limit);
  ADD ("untouched", test_untouched);
  ADD ("where-they-lie", test_where_they_lie);
  ADD ("written-anew", test_written_anew);
  return g_test_run ();
}
