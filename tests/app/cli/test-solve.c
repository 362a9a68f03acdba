/* SPDX-License-Identifier: Apache-2.0 */
/* What one search reports another one does not refuse: points of the front, and answers for a time, asked for again as sizes. */
#include "tests/app/cli/step-test.h"
#include <string.h>

typedef struct
{
  const char *name, *optimizer; /* "": gradients only */
} Sample;

static void
make (const StepPlace *place, const Sample *sample)
{
  g_autofree char *path = step_program (sample->name), *optimizer = g_strconcat ("--optimizer=", sample->optimizer, NULL);
  g_autoptr (CliResult) result = cli_run ("train", sample->optimizer[0] != '\0' ? optimizer : "--gradients-only", "-o", place->step, path, NULL);

  cli_assert_status (result, 0);
}

static void
check_fits (const StepPlace *place, gint64 bytes)
{
  g_autofree char *fit = g_strdup_printf ("--fit=%" G_GINT64_FORMAT, bytes);
  g_autoptr (JsonNode) solved = step_ask (place, "solve", "--no-kernels", "--seconds=0", fit, NULL);

  g_assert_cmpint (step_number (solved, "planned_bytes"), <=, bytes);
}

static void
test_points (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) front = NULL;
  g_autoptr (CliResult) refused = NULL;
  JsonArray *points;
  double slowest = 0;
  const char *bytes;

  make (place, data);
  front = step_ask (place, "pareto", "--no-kernels", "--points=4", "--seconds=8", NULL);
  points = json_object_get_array_member (json_node_get_object (front), "points");
  for (guint i = 0; i < json_array_get_length (points); i++)
    {
      JsonObject *point = json_array_get_object_element (points, i);

      check_fits (place, json_object_get_int_member (point, "planned_bytes"));
      slowest = MAX (slowest, json_object_get_double_member (point, "step_ms"));
    }
  for (guint part = 0; part < 2; part++)
    {
      char text[G_ASCII_DTOSTR_BUF_SIZE];
      g_autofree char *at_most = g_strconcat ("--at-most=", g_ascii_dtostr (text, sizeof text, slowest * (1 + part * 0.3)), NULL);
      g_autoptr (JsonNode) small = step_ask (place, "solve", "--no-kernels", "--seconds=3", at_most, NULL);

      check_fits (place, step_number (small, "planned_bytes"));
    }
  refused = cli_run ("solve", "--no-kernels", "--fit=16", "--seconds=5", place->step, NULL);
  cli_assert_status (refused, 1);
  g_assert_nonnull (strstr (refused->err, "the least found is "));
  /* Behind a size that is rounded all its bytes stand; below a KiB it is those. */
  bytes = strchr (refused->err, '(');
  bytes = bytes != NULL ? bytes + 1 : strpbrk (strstr (refused->err, "the least found is "), "0123456789");
  g_assert_nonnull (bytes);
  check_fits (place, g_ascii_strtoll (bytes, NULL, 10));
}

/* Six layers of sigmoid (x w + b), whose step of Adam has more works than any exact search looks at. */
static char *
layers_text (void)
{
  GString *text = g_string_new ("module \"layers\" {\n  func @main #1 (%1 \"x\": f32[2048,1024]");
  guint x = 1, next = 14;

  for (guint i = 0; i < 6; i++)
    g_string_append_printf (text, ", %%%u \"fc%u/w\": f32[1024,1024] {role = \"parameter\"}, %%%u \"fc%u/b\": f32[1024] {role = \"parameter\"}", 2 + 2 * i, i,
                            3 + 2 * i, i);
  g_string_append (text, ") -> (%37) {\n");
  for (guint i = 0; i < 6; i++, x = next - 1)
    {
      g_string_append_printf (text, "    %%%u = dot_general(%%%u, %%%u) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[2048,1024]\n",
                              next, x, 2 + 2 * i);
      g_string_append_printf (text, "    %%%u = broadcast_in_dim(%%%u) {broadcast_dimensions = [1], shape = [2048, 1024]}: f32[2048,1024]\n", next + 1,
                              3 + 2 * i);
      g_string_append_printf (text, "    %%%u = add(%%%u, %%%u): f32[2048,1024]\n    %%%u = logistic(%%%u): f32[2048,1024]\n", next + 2, next, next + 1,
                              next + 3, next + 2);
      next += 4;
    }
  g_string_append (text, "  }\n}\n");
  return g_string_free (text, FALSE);
}

/* What is answered contradicts no refusal: not in another call either. */
static void
test_refusal (StepPlace *place, gconstpointer data)
{
  g_autofree char *path = g_build_filename (place->folder, "layers.gir", NULL), *text = layers_text ();
  g_autoptr (CliResult) made = NULL;
  gint64 named = 0;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  made = cli_run ("train", "--optimizer=adam", "--lr=0.01", "-o", place->step, path, NULL);
  cli_assert_status (made, 0);
  for (guint mib = 30; mib <= 46; mib += 16)
    {
      g_autofree char *fit = g_strdup_printf ("--fit=%uMiB", mib);
      g_autoptr (CliResult) refused = cli_run ("solve", "--no-kernels", "--seconds=0", fit, place->step, NULL);

      if (refused->status == 0)
        continue;
      named = MAX (named, g_ascii_strtoll (strchr (refused->err, '(') + 1, NULL, 10));
    }
  g_assert_cmpint (named, >, 0);
  for (guint mib = 57; mib <= 60; mib += 3)
    {
      g_autofree char *fit = g_strdup_printf ("--fit=%uMiB", mib);
      g_autoptr (JsonNode) solved = step_ask (place, "solve", "--no-kernels", "--seconds=0", fit, NULL);

      g_assert_cmpint (step_number (solved, "planned_bytes"), >=, named);
    }
  {
    g_autoptr (JsonNode) small = step_ask (place, "solve", "--no-kernels", "--seconds=0", "--at-most=490", NULL);
    JsonObject *solution = json_object_get_object_member (json_node_get_object (small), "solution");

    g_assert_cmpint (step_number (small, "planned_bytes"), <=, 56 << 20);
    g_assert_true (json_object_get_null_member (solution, "gap") || json_object_get_double_member (solution, "gap") < 1);
  }
}

/* More memory is never slower, in calls that know nothing of each other. */
static void
test_more_memory (StepPlace *place, gconstpointer data)
{
  g_autofree char *path = step_program ("transformer-tiny.gir");
  g_autoptr (CliResult) made = cli_run ("train", "--loss=softmax-cross-entropy", "--optimizer=adam", "--lr=0.01", "--clip=1", "-o", place->step, path, NULL);
  double slower = G_MAXDOUBLE;

  cli_assert_status (made, 0);
  for (guint bytes = 10752; bytes <= 12288; bytes += 512)
    {
      g_autofree char *fit = g_strdup_printf ("--fit=%u", bytes);
      g_autoptr (JsonNode) solved = step_ask (place, "solve", "--no-kernels", "--seconds=0", fit, NULL);
      JsonObject *solution = json_object_get_object_member (json_node_get_object (solved), "solution");
      double ms = json_object_get_double_member (solution, "step_ms");

      g_assert_cmpfloat (ms, <=, slower * (1 + 1e-6));
      slower = ms;
    }
}

static gboolean
is_approximate (JsonNode *node)
{
  return json_object_get_boolean_member (json_node_get_object (node), "approximate");
}

/* What is stored in fewer bits is said by whoever tells of results; a search uses it where it is allowed to. */
static void
test_approximate (StepPlace *place, gconstpointer data)
{
  static const Sample sample = { "transformer-tiny.gir", "" };
  g_autoptr (JsonNode) kept = NULL, planned = NULL, ran = NULL, solved = NULL;
  g_autoptr (CliResult) refused = NULL;

  make (place, &sample);
  kept = step_ask (place, "plan", NULL);
  planned = step_ask (place, "plan", "--rules=role:residual bf16", NULL);
  ran = step_ask (place, "run", "--runs=1", "--input=value:0.1", "--rules=role:residual int8", NULL);
  solved = step_ask (place, "solve", "--no-kernels", "--fit=95%", "--seconds=0", NULL);
  g_assert_false (is_approximate (kept));
  g_assert_false (is_approximate (solved));
  g_assert_true (is_approximate (planned));
  g_assert_true (is_approximate (ran));
  g_assert_cmpint (2 * step_number (planned, "stored_bytes"), ==, step_number (planned, "stored_exact_bytes"));
  refused = cli_run ("solve", "--no-kernels", "--fit=95%", "--allow=f8", place->step, NULL);
  cli_assert_status (refused, 1);
  g_assert_nonnull (strstr (refused->err, "--allow f8: there are bf16, int8, microbatches and approximate"));
}

/* What is found for a size beyond the limit keeps to the limit. */
static void
test_limit (StepPlace *place, gconstpointer data)
{
  static const Sample sample = { "mlp.gir", "adam" };
  g_autoptr (JsonNode) kept = NULL, solved = NULL;

  make (place, &sample);
  kept = step_ask (place, "plan", NULL);
  solved = step_ask (place, "solve", "--no-kernels", "--fit=90%", "--limit=70%", "--seconds=0", NULL);
  g_assert_cmpint (10 * step_number (solved, "planned_bytes"), <=, 7 * step_number (kept, "planned_bytes"));
}

int
main (int argc, char **argv)
{
  static const Sample samples[] = {
    { "mlp.gir", "momentum" }, { "mlp.gir", "adam" }, { "lstm.gir", "" }, { "layers-tiny.gir", "" }, { "layers-tiny.gir", "adam" }
  };

  g_test_init (&argc, &argv, NULL);
  g_test_add ("/cli/solve/limit", StepPlace, NULL, step_place_set_up, test_limit, step_place_tear_down);
  g_test_add ("/cli/solve/approximate", StepPlace, NULL, step_place_set_up, test_approximate, step_place_tear_down);
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autofree char *path = g_strdup_printf ("/cli/solve/%s/%s", samples[i].name, samples[i].optimizer[0] != '\0' ? samples[i].optimizer : "gradients");

      g_test_add (path, StepPlace, &samples[i], step_place_set_up, test_points, step_place_tear_down);
    }
  g_test_add ("/cli/solve/refusal", StepPlace, NULL, step_place_set_up, test_refusal, step_place_tear_down);
  g_test_add ("/cli/solve/more-memory", StepPlace, NULL, step_place_set_up, test_more_memory, step_place_tear_down);
  return g_test_run ();
}
