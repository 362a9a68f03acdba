/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps, plans, the solver, the front and runs of several steps on the command line. */
#include "tests/app/cli/step-test.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* Bytes that a run touched where its plan has nothing. */
static gint64
outside (JsonNode *node)
{
  JsonObject *memory = json_object_get_object_member (json_node_get_object (node), "memory");

  g_assert_nonnull (memory);
  return json_object_get_int_member (json_object_get_object_member (memory, "outside"), "bytes");
}

static double
real (JsonNode *node, const char *key)
{
  g_assert_true (json_object_has_member (json_node_get_object (node), key));
  return json_object_get_double_member (json_node_get_object (node), key);
}

static JsonArray *
list (JsonNode *node, const char *key)
{
  g_assert_true (json_object_has_member (json_node_get_object (node), key));
  return json_object_get_array_member (json_node_get_object (node), key);
}

static void
test_train (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autoptr (CliResult) passes = cli_run ("passes", place->step, NULL);
  g_autoptr (JsonNode) plan = step_ask (place, "plan", NULL);
  JsonObject *nodes = json_object_get_object_member (json_node_get_object (made), "nodes");

  g_assert_cmpint (step_number (made, "parameters"), ==, 4);
  g_assert_cmpint (step_number (made, "states"), ==, 9); /* two moments of each, and the step */
  g_assert_cmpint (json_object_get_int_member (nodes, "backward"), >, 0);
  g_assert_cmpint (json_object_get_int_member (nodes, "update"), >, 0);
  g_assert_cmpint (step_number (made, "planned_bytes"), >=, step_number (made, "lower_bound_bytes"));
  g_assert_cmpint (step_number (made, "alias_bytes"), >, step_number (made, "parameter_bytes") * 2);
  g_assert_cmpint (step_number (made, "copied_bytes"), ==, 0);
  cli_assert_status (passes, 0);
  g_assert_nonnull (strstr (passes->out, "\ntrain "));
  g_assert_cmpint (step_number (plan, "planned_bytes"), ==, step_number (made, "planned_bytes"));
}

static void
test_gradients_only (StepPlace *place, gconstpointer data)
{
  g_autofree char *path = step_program ("mlp.gir");
  g_autoptr (CliResult) result = cli_run ("train", "--gradients-only", "--json", path, NULL);
  g_autoptr (JsonNode) root = NULL;

  cli_assert_status (result, 0);
  root = cli_json (result);
  g_assert_cmpint (step_number (root, "states"), ==, 0);
  g_assert_cmpint (step_number (root, "alias_bytes"), ==, 0);
}

/* Without the loss the results are the gradients, or the parameters and states: less is computed and kept, and a run of steps
 * tells no losses. */
static void
test_no_loss (StepPlace *place, gconstpointer data)
{
  g_autofree char *path = step_program ("mlp.gir");
  g_autoptr (CliResult) with = cli_run ("train", "--gradients-only", "--loss=mse", "--json", path, NULL);
  g_autoptr (CliResult) without = cli_run ("train", "--gradients-only", "--no-loss", "--loss=mse", "--json", path, NULL);
  g_autoptr (CliResult) update = cli_run ("train", "--no-loss", "--loss=mse", "-o", place->step, path, NULL);
  g_autoptr (JsonNode) a = NULL, b = NULL, steps = NULL;

  cli_assert_status (with, 0);
  cli_assert_status (without, 0);
  cli_assert_status (update, 0);
  a = cli_json (with);
  b = cli_json (without);
  g_assert_true (json_object_get_boolean_member (json_node_get_object (b), "no_loss"));
  g_assert_false (json_object_get_boolean_member (json_node_get_object (a), "no_loss"));
  g_assert_cmpint (step_number (a, "output_bytes"), >, step_number (b, "output_bytes"));
  g_assert_cmpint (step_number (a, "steps"), >, step_number (b, "steps"));
  g_assert_nonnull (strstr (update->out, "which is no result"));
  steps = step_ask (place, "run", "--steps", "2", NULL);
  g_assert_false (json_object_has_member (json_node_get_object (steps), "losses"));
  g_assert_cmpint (step_number (steps, "runs"), ==, 2);
}

/* Rules from a file and from the command line; what matches nothing is said, with its line. */
static void
test_rules (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "transformer-tiny.gir");
  g_autofree char *file = g_build_filename (place->folder, "rules", NULL);
  g_autoptr (JsonNode) plan = NULL;
  JsonObject *unmatched;

  g_assert_true (g_file_set_contents (file, "# state to the host\nrole:state offload\nscope:nowhere/* recompute\n", -1, NULL));
  plan = step_ask (place, "plan", "--policy", file, "--rules", "role:parameter keep", NULL);
  g_assert_cmpint (step_number (plan, "planned_bytes"), <, step_number (made, "planned_bytes"));
  g_assert_cmpint (step_number (plan, "copied_bytes"), >, 0);
  g_assert_cmpint (step_number (plan, "host_argument_bytes"), >, 0);
  g_assert_cmpint (step_number (plan, "argument_bytes"), <, step_number (made, "argument_bytes"));
  g_assert_cmpuint (json_array_get_length (list (plan, "rules")), ==, 3);
  g_assert_cmpuint (json_array_get_length (list (plan, "unmatched")), ==, 1);
  unmatched = json_array_get_object_element (list (plan, "unmatched"), 0);
  g_assert_cmpint (json_object_get_int_member (unmatched, "line"), ==, 3);
  g_assert_cmpstr (json_object_get_string_member (unmatched, "rule"), ==, "scope:nowhere/* recompute");
  g_assert_cmpstr (json_object_get_string_member (unmatched, "problem"), ==, "matches nothing");
  g_assert_cmpuint (json_array_get_length (list (plan, "holders")), >, 0);
  g_assert_cmpuint (json_array_get_length (list (plan, "scopes")), >, 0);
  g_assert_true (json_object_has_member (json_object_get_object_member (json_node_get_object (plan), "categories"), "residual"));
}

/* A run tells as well which rules have no effect. */
static void
test_rules_of_a_run (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autoptr (CliResult) told = cli_run ("run", "--steps=1", "--json", "--rules=role:state offload; scope:nowhere recompute", place->step, NULL);
  g_autoptr (JsonNode) object = NULL;

  cli_assert_status (told, 0);
  object = cli_json (told);
  g_assert_cmpint (step_number (object, "copied_bytes"), >, 0);
  g_assert_nonnull (strstr (told->err, "'scope:nowhere recompute' (line 1, statement 2): matches nothing"));
  g_assert_null (strstr (told->err, "role:state"));
}

/* The machine is what the file says: half the link, twice the time of a copy that nothing hides. */
static void
test_target (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "transformer-tiny.gir");
  g_autofree char *file = g_build_filename (place->folder, "target", NULL);
  g_autoptr (JsonNode) slow = NULL;

  g_assert_true (g_file_set_contents (file, "[target]\nname=slow\npeak_flops=1e6\nmemory_bandwidth=1e6\n", -1, NULL));
  slow = step_ask (place, "plan", "--target", file, NULL);
  g_assert_cmpfloat (real (slow, "step_ms"), >, 2 * real (made, "step_ms"));
}

static void
test_solve (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "transformer-tiny.gir");
  g_autofree char *out = g_build_filename (place->folder, "solved.gantry", NULL);
  g_autoptr (JsonNode) solved = step_ask (place, "solve", "--no-kernels", "--fit", "60%", "--seconds", "5", "-o", out, NULL);
  g_autoptr (JsonNode) same = step_ask (place, "plan", "--no-kernels", "--fit", "60%", "--fastest", "--seconds", "5", NULL);
  g_autoptr (CliResult) reopened = cli_run ("plan", "--json", out, NULL);
  g_autoptr (JsonNode) again = NULL;
  JsonObject *solution = json_object_get_object_member (json_node_get_object (solved), "solution");
  gint64 fit = json_object_get_int_member (solution, "fit_bytes");

  g_assert_cmpint (fit, <=, step_number (made, "planned_bytes") * 6 / 10 + 64);
  g_assert_cmpint (json_object_get_int_member (solution, "planned_bytes"), <=, fit);
  g_assert_cmpint (step_number (solved, "lower_bound_bytes"), <=, fit);
  g_assert_cmpfloat (json_object_get_double_member (solution, "gap"), >=, 0);
  g_assert_cmpint (step_number (same, "copied_bytes"), ==, step_number (solved, "copied_bytes"));
  cli_assert_status (reopened, 0);
  again = cli_json (reopened);
  g_assert_cmpint (step_number (again, "planned_bytes"), ==, step_number (solved, "planned_bytes"));
  g_assert_cmpint (step_number (again, "copied_bytes"), ==, step_number (solved, "copied_bytes"));
  g_assert_cmpuint (json_array_get_length (list (again, "without_value")), ==, 0);
}

/* Without the pass that made them values are gone: their placements are told, whatever the output's form. */
static void
test_without_value (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "transformer-tiny.gir");
  g_autofree char *out = g_build_filename (place->folder, "small.gantry", NULL);
  g_autoptr (JsonNode) solved = step_ask (place, "solve", "--no-kernels", "--fit", "60%", "--seconds", "5", "-o", out, NULL);
  g_autoptr (CliResult) told = cli_run ("plan", "--json", "--disable", "fuse", out, NULL);
  g_autoptr (JsonNode) plan = NULL;
  JsonArray *gone;

  cli_assert_status (told, 0);
  plan = cli_json (told);
  gone = list (plan, "without_value");
  g_assert_cmpuint (json_array_get_length (gone), >, 0);
  g_assert_nonnull (strstr (told->err, "no effect"));
  g_assert_nonnull (strstr (told->err, json_array_get_string_element (gone, 0)));
}

static void
test_pareto (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autofree char *out = g_build_filename (place->folder, "front.gantry", NULL);
  g_autoptr (JsonNode) front = step_ask (place, "pareto", "--no-kernels", "--points", "4", "--seconds", "5", "-o", out, NULL);
  g_autoptr (CliResult) text = cli_run ("pareto", "--no-kernels", "--points", "2", "--seconds", "1", place->step, NULL);
  JsonArray *points = list (front, "points");

  g_assert_cmpuint (json_array_get_length (points), >=, 1);
  g_assert_cmpuint (json_array_get_length (points), <=, 4);
  for (guint i = 1; i < json_array_get_length (points); i++)
    {
      JsonObject *a = json_array_get_object_element (points, i - 1), *b = json_array_get_object_element (points, i);

      g_assert_cmpint (json_object_get_int_member (b, "planned_bytes"), <, json_object_get_int_member (a, "planned_bytes"));
      g_assert_cmpfloat (json_object_get_double_member (b, "step_ms"), >=, json_object_get_double_member (a, "step_ms"));
    }
  /* No kernel of it was made yet. */
  g_assert_false (json_object_get_boolean_member (json_array_get_object_element (points, 0), "sizes_known"));
  g_assert_nonnull (strstr (text->out, "at least "));
}

/* The losses of steps in a row fall, and are the same wherever things lie: bit for bit. */
static void
test_steps (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autoptr (JsonNode) keep = step_ask (place, "run", "--steps", "6", NULL);
  g_autoptr (JsonNode) moved = step_ask (place, "run", "--steps", "6", "--rules", "role:state offload; policy nothing_saveable", NULL);
  g_autoptr (JsonNode) replanned = step_ask (place, "run", "--steps", "6", "--replan", NULL);
  JsonArray *a = list (keep, "losses"), *b = list (moved, "losses");

  g_assert_cmpuint (json_array_get_length (a), ==, 6);
  g_assert_cmpuint (json_array_get_length (b), ==, 6);
  for (guint i = 0; i < 6; i++)
    {
      g_assert_cmpfloat (json_array_get_double_element (a, i), ==, json_array_get_double_element (b, i));
      g_assert_cmpfloat (json_array_get_double_element (a, i), ==, json_array_get_double_element (list (replanned, "losses"), i));
      if (i > 0)
        g_assert_cmpfloat (json_array_get_double_element (a, i), <, json_array_get_double_element (a, i - 1));
    }
  g_assert_cmpint (step_number (keep, "runs"), ==, 6);
  g_assert_cmpint (outside (keep), ==, 0);
  g_assert_cmpint (outside (moved), ==, 0);
  g_assert_cmpint (step_number (moved, "copied_bytes"), >, 0);
  g_assert_cmpfloat (real (moved, "hidden_measured"), >=, 0);
  g_assert_cmpfloat (real (moved, "hidden_measured"), <=, 1);
  g_assert_true (json_object_has_member (json_node_get_object (replanned), "predicted_before_milliseconds"));
}

/* A rate that is much too high ends in numbers that JSON does not have: the object can be read all the same. */
static void
test_infinite_loss (StepPlace *place, gconstpointer data)
{
  g_autofree char *path = step_program ("mlp.gir");
  g_autoptr (CliResult) made = cli_run ("train", "--loss=mse", "--lr=1e30", "-o", place->step, path, NULL);
  g_autoptr (JsonNode) run = step_ask (place, "run", "--steps=4", NULL);
  JsonArray *losses = list (run, "losses");

  cli_assert_status (made, 0);
  g_assert_cmpuint (json_array_get_length (losses), ==, 4);
  g_assert_true (json_array_get_null_element (losses, 3));
}

/* The operations that take longest, the longest first, each with its phase and a prediction. */
static void
test_slowest (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autoptr (JsonNode) run = step_ask (place, "run", "--steps=3", "--slowest=4", NULL);
  g_autoptr (CliResult) text = cli_run ("run", "--steps=3", "--slowest=4", place->step, NULL);
  g_autoptr (JsonNode) plain = step_ask (place, "run", "--steps=1", NULL);
  JsonArray *slowest = list (run, "slowest");
  double total = 0;

  g_assert_cmpuint (json_array_get_length (slowest), ==, 4);
  for (guint i = 0; i < 4; i++)
    {
      JsonObject *a = json_array_get_object_element (slowest, i);
      double ms = json_object_get_double_member (a, "milliseconds");

      g_assert_cmpfloat (ms, >, 0);
      g_assert_cmpfloat (json_object_get_double_member (a, "predicted_milliseconds"), >, 0);
      g_assert_cmpint (json_object_get_int_member (a, "count"), ==, 1);
      g_assert_nonnull (json_object_get_string_member (a, "phase"));
      if (i > 0)
        g_assert_cmpfloat (ms, <=, json_object_get_double_member (json_array_get_object_element (slowest, i - 1), "milliseconds"));
      total += ms;
    }
  g_assert_cmpfloat (total, <=, 3 * real (run, "milliseconds_max"));
  cli_assert_status (text, 0);
  g_assert_nonnull (strstr (text->out, "ms of a run"));
  g_assert_false (json_object_has_member (json_node_get_object (plain), "slowest"));
}

/* A limit that holds is held; one that cannot be is one error that says by how much. */
static void
test_limit (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "transformer-tiny.gir");
  g_autofree char *enough = g_strdup_printf ("%" G_GINT64_FORMAT, step_number (made, "planned_bytes") + (4 << 20));
  g_autoptr (JsonNode) fits = step_ask (place, "run", "--steps", "1", "--limit", enough, NULL);
  g_autoptr (CliResult) tight = cli_run ("run", "--steps=1", "--limit=8KiB", place->step, NULL);

  g_assert_cmpint (step_number (fits, "limit_bytes"), ==, step_number (made, "planned_bytes") + (4 << 20));
  g_assert_cmpint (step_number (fits, "planned_bytes"), <=, step_number (fits, "limit_bytes"));
  cli_assert_status (tight, 1);
  g_assert_nonnull (strstr (tight->err, "KiB"));
  g_assert_nonnull (strstr (tight->err, "solve --fit"));
}

/* The host's limit is held by the plan of a run, and by a search; what fits below it runs. */
static void
test_host_limit (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "transformer-tiny.gir");
  g_autoptr (JsonNode) ran = step_ask (place, "run", "--steps=1", "--rules=role:state offload", NULL);
  gint64 bytes = step_number (ran, "host_planned_bytes");
  g_autofree char *enough = g_strdup_printf ("--host-limit=%" G_GINT64_FORMAT, bytes);
  g_autofree char *less = g_strdup_printf ("--host-limit=%" G_GINT64_FORMAT, bytes - 1);
  g_autoptr (JsonNode) fits = step_ask (place, "run", "--steps=1", "--rules=role:state offload", enough, NULL);
  g_autoptr (CliResult) tight = cli_run ("run", "--steps=1", "--rules=role:state offload", less, place->step, NULL);

  g_assert_cmpint (bytes, >, 0);
  g_assert_cmpint (step_number (fits, "host_planned_bytes"), ==, bytes);
  cli_assert_status (tight, 1);
  cli_assert_one_error (tight, "host memory");
  g_assert_nonnull (strstr (tight->err, "1 B too much"));
}

/* Every order with every allocator in one table; what is chosen is marked there, and what the plan then is; it comes back with the
 * session, and runs. */
static void
test_allocations (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "transformer-tiny.gir");
  g_autofree char *out = g_build_filename (place->folder, "ordered.gantry", NULL);
  g_autoptr (JsonNode) told = step_ask (place, "plan", "--allocations", "--order=depth", "--allocator=bfc", "-o", out, NULL);
  JsonArray *rows = json_object_get_array_member (json_node_get_object (told), "allocations");
  g_autoptr (CliResult) run = cli_run ("run", "--steps=1", out, NULL);
  guint n_chosen = 0;

  g_assert_cmpuint (json_array_get_length (rows), ==, 4 * 3);
  for (guint i = 0; i < json_array_get_length (rows); i++)
    {
      JsonObject *row = json_array_get_object_element (rows, i);

      g_assert_cmpint (json_object_get_int_member (row, "planned_bytes"), >=, json_object_get_int_member (row, "lower_bound_bytes"));
      if (!json_object_get_boolean_member (row, "chosen"))
        continue;
      n_chosen++;
      g_assert_cmpstr (json_object_get_string_member (row, "order"), ==, "depth");
      g_assert_cmpstr (json_object_get_string_member (row, "allocator"), ==, "bfc");
      g_assert_cmpint (json_object_get_int_member (row, "planned_bytes"), ==, step_number (told, "planned_bytes"));
    }
  g_assert_cmpuint (n_chosen, ==, 1);
  cli_assert_status (run, 0);
  g_assert_true (step_number (made, "planned_bytes") <= step_number (told, "planned_bytes"));
}

/* One meaning of memory: a limit of just what a run says that it needs is enough for it, one byte less is not; and a limit
 * of just what the plan takes is enough for the plan. */
static void
test_exact_limit (StepPlace *place, gconstpointer data)
{
  g_autofree char *path = step_program ("transformer-tiny.gir");
  g_autoptr (CliResult) made = cli_run ("train", "--optimizer=adam", "--loss=softmax-cross-entropy", "-o", place->step, path, NULL);
  g_autoptr (JsonNode) keep = step_ask (place, "plan", NULL);
  g_autoptr (JsonNode) ran = step_ask (place, "run", "--no-library", "--steps=1", NULL);
  g_autofree char *exact = g_strdup_printf ("%" G_GINT64_FORMAT, step_number (keep, "planned_bytes"));
  g_autofree char *needed = g_strdup_printf ("%" G_GINT64_FORMAT, step_number (ran, "planned_bytes"));
  g_autofree char *less = g_strdup_printf ("%" G_GINT64_FORMAT, step_number (keep, "lower_bound_bytes") - 1);
  g_autoptr (JsonNode) planned = step_ask (place, "plan", "--limit", exact, NULL);
  g_autoptr (JsonNode) fits = step_ask (place, "run", "--no-library", "--steps=1", "--limit", needed, NULL);
  g_autoptr (CliResult) same = cli_run ("plan", "--limit", exact, place->step, NULL);
  g_autofree char *size = NULL, *limit = NULL;
  const char *peak;
  g_autoptr (CliResult) tight = cli_run ("plan", "--limit", less, place->step, NULL);
  g_autoptr (CliResult) told = cli_run ("run", "--no-library", "--limit=8KiB", place->step, NULL);

  cli_assert_status (made, 0);
  g_assert_cmpint (step_number (keep, "constant_bytes"), >, 0);
  g_assert_cmpint (step_number (planned, "planned_bytes"), ==, step_number (keep, "planned_bytes"));
  g_assert_cmpint (step_number (fits, "planned_bytes"), ==, step_number (ran, "planned_bytes"));
  g_assert_cmpint (step_number (ran, "planned_bytes"), >, step_number (keep, "planned_bytes")); /* there is code */
  cli_assert_status (same, 0);
  peak = strstr (same->out, "peak at least ");
  g_assert_nonnull (peak);
  peak += strlen ("peak at least ");
  size = g_strndup (peak, strcspn (peak, ";"));
  limit = g_strdup_printf ("limit %s, at least 100.0 %%", size);
  g_assert_nonnull (strstr (same->out, limit)); /* what keeps to it just so is not printed as more */
  cli_assert_status (tight, 1);
  cli_assert_status (told, 1);
  g_assert_nonnull (strstr (told->err, "where the limit is 8.0"));
}

/* What kernels need is known before the first run where it is asked for, and the plan after a run is the same. */
static void
test_kernels (StepPlace *place, gconstpointer data)
{
  static const char *const names[] = { "arguments", "constants", "packed weights", "temporaries", "workspaces", "context and code" };
  g_autoptr (JsonNode) made = step_make (place, "convnet.gir");
  g_autofree char *out = g_build_filename (place->folder, "ran.gantry", NULL);
  g_autoptr (JsonNode) blind = step_ask (place, "plan", NULL);
  g_autoptr (JsonNode) known = step_ask (place, "plan", "--kernels", NULL);
  g_autoptr (JsonNode) ran = step_ask (place, "run", "--runs", "1", "--warmup", "0", "-o", out, NULL);
  g_autoptr (CliResult) result = cli_run ("plan", "--json", out, NULL);
  g_autoptr (JsonNode) after = NULL;
  g_autofree char *target = g_strconcat ("--target=", g_getenv ("GANTRY_SOURCE_ROOT"), "/data/targets/h200.target", NULL);
  g_autoptr (CliResult) gpu = cli_run ("plan", "--kernels", target, place->step, NULL);
  gint64 sum = 0;

  cli_assert_status (gpu, 0);
  g_assert_nonnull (strstr (gpu->err, "what kernels for sm_90a need is not counted"));
  cli_assert_status (result, 0);
  after = cli_json (result);
  g_assert_false (json_object_get_boolean_member (json_node_get_object (blind), "sizes_known"));
  g_assert_cmpint (step_part (blind, "context and code"), ==, 0);
  g_assert_true (json_object_get_boolean_member (json_node_get_object (known), "sizes_known"));
  g_assert_cmpint (step_part (known, "context and code"), >, 0);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_assert_cmpint (step_part (known, names[i]), ==, step_part (ran, names[i]));
      g_assert_cmpint (step_part (known, names[i]), ==, step_part (after, names[i]));
      sum += step_part (known, names[i]);
    }
  g_assert_cmpint (sum, ==, step_number (known, "planned_bytes"));
  g_assert_cmpint (sum, ==, step_number (ran, "planned_bytes"));
}

/* A limit in per cent is one of all that the program needs, its code too: all of it is enough, and a run keeps it. */
static void
test_percent (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "transformer-tiny.gir");
  g_autoptr (JsonNode) ran = step_ask (place, "run", "--steps=1", NULL);
  g_autoptr (JsonNode) all = step_ask (place, "run", "--steps=1", "--limit=100%", NULL);
  g_autoptr (JsonNode) planned = step_ask (place, "plan", "--kernels", "--limit=100%", NULL);
  g_autoptr (CliResult) less = cli_run ("run", "--steps=1", "--limit=10%", place->step, NULL);

  g_assert_cmpint (step_number (ran, "planned_bytes"), >, step_number (made, "planned_bytes")); /* there is code */
  g_assert_cmpint (step_number (all, "limit_bytes"), >=, step_number (ran, "planned_bytes"));
  g_assert_cmpint (step_number (all, "planned_bytes"), <=, step_number (all, "limit_bytes"));
  g_assert_cmpint (step_number (planned, "limit_bytes"), ==, step_number (all, "limit_bytes"));
  cli_assert_status (less, 1);
  g_assert_nonnull (strstr (less->err, "where the limit is"));
}

/* As many values are listed as were asked for. */
static void
test_holders (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "transformer-tiny.gir");
  g_autoptr (CliResult) two = cli_run ("plan", "--holders=2", "--limit=200%", place->step, NULL);
  g_autoptr (CliResult) none = cli_run ("plan", "--holders=0", place->step, NULL);
  guint n = 0;

  cli_assert_status (two, 0);
  cli_assert_status (none, 0);
  for (const char *at = two->out; (at = strstr (at, ", until ")) != NULL; at++)
    n++;
  g_assert_cmpuint (n, ==, 2);
  g_assert_nonnull (strstr (two->out, "limit "));
  g_assert_nonnull (strstr (two->out, " % of it used"));
  g_assert_null (strstr (none->out, ", until "));
}

static void
assert_error (const char *what, ...)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autoptr (CliResult) result = NULL;
  va_list list;

  va_start (list, what);
  for (const char *argument = va_arg (list, const char *); argument != NULL; argument = va_arg (list, const char *))
    g_ptr_array_add (arguments, (gpointer) argument);
  va_end (list);
  result = cli_runv (arguments);
  cli_assert_status (result, 1);
  cli_assert_one_error (result, what);
}

/* Each mistake is one line that names it. */
static void
test_errors (StepPlace *place, gconstpointer data)
{
  g_autofree char *path = step_program ("mlp.gir");
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autofree char *file = g_build_filename (place->folder, "rules", NULL);

  g_assert_true (g_file_set_contents (file, "role:state offload\nrole:state fly\n", -1, NULL));
  assert_error ("magic", "train", "--optimizer=magic", path, NULL);
  assert_error ("huber", "train", "--loss=huber", path, NULL);
  assert_error ("--lr", "train", "--lr=-1", path, NULL);
  assert_error ("do not go together", "train", "--gradients-only", "--optimizer=adam", path, NULL);
  assert_error ("rules: ", "plan", "--policy", file, place->step, NULL);
  assert_error ("--rules: policy:1:12", "plan", "--rules", "role:state fly", place->step, NULL);
  assert_error ("is no size", "plan", "--limit", "much", place->step, NULL);
  assert_error ("is no size", "plan", "--limit", "-3MiB", place->step, NULL);
  assert_error ("--order", "plan", "--order", "sideways", place->step, NULL);
  assert_error ("--allocator", "plan", "--allocator", "none", place->step, NULL);
  assert_error ("is no size that anything fits into", "plan", "--fit", "0%", place->step, NULL);
  assert_error ("is no size that anything fits into", "plan", "--fit", "0", place->step, NULL);
  assert_error ("is no size that anything fits into", "plan", "--limit", "0%", place->step, NULL);
  assert_error ("is no size that anything fits into", "plan", "--limit", "0KiB", place->step, NULL);
  assert_error ("is no size that anything fits into", "plan", "--host-limit", "0", place->step, NULL);
  assert_error ("--target", "plan", "--target", "/no/such/file", place->step, NULL);
  assert_error ("--fit", "solve", place->step, NULL);
  assert_error ("not both", "solve", "--fit=1MiB", "--at-most=3", place->step, NULL);
  assert_error ("--method", "solve", "--fit=1MiB", "--method=guess", place->step, NULL);
  assert_error ("points", "pareto", "--points=1", place->step, NULL);
  assert_error ("--steps", "run", "--steps=-1", place->step, NULL);
  assert_error ("no such file", "plan", "no such file", NULL);
}

static double
first_loss (JsonNode *ran)
{
  return json_array_get_double_element (json_object_get_array_member (json_node_get_object (ran), "losses"), 0);
}

/* A size that placements alone do not reach is reached in microbatches, and the step takes the same examples to the same loss. */
static void
test_microbatches (StepPlace *place, gconstpointer data)
{
  g_autofree char *model = cli_own_file ("open-batch.onnx"), *whole = g_build_filename (place->folder, "whole.gantry", NULL);
  g_autoptr (CliResult) made = cli_run ("train", "--dim=batch=64", "--loss=mse", "--optimizer=adam", "-o", place->step, model, NULL);
  g_autoptr (CliResult) refused = cli_run ("solve", "--no-kernels", "--no-offload", "--fit=80%", place->step, NULL);
  g_autoptr (JsonNode) before = step_ask (place, "run", "--steps=1", "--input=hash:3", NULL), solved = NULL, after = NULL;
  g_autoptr (CliResult) text = cli_run ("solve", "--no-kernels", "--no-offload", "--fit=80%", "--allow=microbatches", "-o", whole, place->step, NULL);
  JsonObject *solution;

  cli_assert_status (made, 0);
  cli_assert_status (refused, 1);
  cli_assert_status (text, 0);
  g_assert_nonnull (strstr (text->out, "64 as "));
  g_assert_nonnull (strstr (text->out, "those of one batch of 64"));
  solved = step_ask (place, "solve", "--no-kernels", "--no-offload", "--fit=80%", "--allow=microbatches", NULL);
  solution = json_object_get_object_member (json_node_get_object (solved), "solution");
  g_assert_cmpint (json_object_get_int_member (solution, "microbatches"), >, 1);
  g_assert_cmpint (json_object_get_int_member (solution, "batch"), ==, 64);
  g_assert_cmpstr (json_object_get_string_member (solution, "batch_dimension"), ==, "batch");
  g_assert_cmpint (step_number (solved, "planned_bytes"), <=, json_object_get_int_member (solution, "fit_bytes"));
  g_free (place->step);
  place->step = g_steal_pointer (&whole);
  after = step_ask (place, "run", "--steps=1", "--input=hash:3", NULL);
  g_assert_cmpfloat_with_epsilon (first_loss (after), first_loss (before), 1e-5 * fabs (first_loss (before)));
}

/* What cannot be divided is refused with the name of what stands against it. */
static void
test_no_microbatches (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autofree char *path = step_program ("mlp.gir");

  assert_error ("'x' (f32[8,6])", "solve", "--no-kernels", "--fit=50%", "--allow=microbatches", place->step, NULL);
  assert_error ("one of time", "solve", "--no-kernels", "--at-most=1", "--allow=microbatches", place->step, NULL);
  assert_error ("no training step", "solve", "--no-kernels", "--fit=50%", "--allow=microbatches", path, NULL);
  assert_error ("bf16, int8 and approximate", "pareto", "--no-kernels", "--allow=microbatches", place->step, NULL);
}

/* What is dearer than time is used less, and told by the front. */
static void
test_host_price (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) made = step_make (place, "mlp.gir");
  g_autoptr (JsonNode) free = step_ask (place, "solve", "--no-kernels", "--fit=75%", NULL);
  g_autoptr (JsonNode) dear = step_ask (place, "solve", "--no-kernels", "--fit=75%", "--host-price=1e6", NULL);
  g_autoptr (CliResult) front = cli_run ("pareto", "--no-kernels", "--points=2", place->step, NULL);

  assert_error ("from 0 to 1e+09 ms a GiB", "solve", "--no-kernels", "--fit=75%", "--host-price=-1", place->step, NULL);
  g_assert_cmpint (step_number (free, "host_planned_bytes"), >, 0);
  g_assert_cmpint (step_number (dear, "host_planned_bytes"), <, step_number (free, "host_planned_bytes"));
  cli_assert_status (front, 0);
  g_assert_nonnull (strstr (front->out, "host"));
  assert_error ("--host-price", "solve", "--at-most=1", "--host-price=1", place->step, NULL);
  assert_error ("price of host memory", "solve", "--no-kernels", "--fit=75%", "--host-price=-1", place->step, NULL);
}

/* A run tells what of its placements it does not carry out, as its plan does. */
static void
test_not_done (StepPlace *place, gconstpointer data)
{
  static const char late[] = "module \"late\" {\n  func @main #1 (%1 \"p\": f32[64] {alias = 0, role = \"parameter\"}, %2 \"x\": f32[64]) -> (%4, %6) {\n"
                             "    %3 = add(%1, %2): f32[64]\n    %4 = optimization_barrier(%3): f32[64]\n"
                             "    %5 = multiply(%4, %1): f32[64]\n    %6 = sine(%5): f32[64]\n  }\n}\n";
  g_autofree char *path = g_build_filename (place->folder, "late.gir", NULL);
  g_autoptr (CliResult) ran = NULL, told = NULL;
  g_autoptr (JsonNode) json = NULL;
  JsonArray *problems;

  g_assert_true (g_file_set_contents (path, late, -1, NULL));
  ran = cli_run ("run", "--runs=1", path, NULL);
  told = cli_run ("run", "--runs=1", "--json", path, NULL);
  cli_assert_status (ran, 0);
  g_assert_nonnull (strstr (ran->out, "not done   keep of p: it is still read after"));
  json = cli_json (told);
  problems = json_object_get_array_member (json_node_get_object (json), "problems");
  g_assert_cmpuint (json_array_get_length (problems), ==, 1);
  g_assert_cmpstr (json_object_get_string_member (json_array_get_object_element (problems, 0), "name"), ==, "p");
}

/* The derivative of a function that is put together of arms is that of the arm which is taken, whatever the others would give there. */
static void
test_special (StepPlace *place, gconstpointer data)
{
  /* Slopes by jax.grad in double precision. */
  static const struct
  {
    const char *name;
    double at[4], slope[4];
  } functions[] = {
    { "erfc", { 0, 1e-3, -0.7, 1.5 }, { -1.1283791670955126, -1.1283780387169096, -0.6912748604105386, -0.11893028922362936 } },
    { "erf_inv", { 0, 1e-3, -0.7, 0.999 }, { 0.8862269254527579, 0.8862276214943953, 1.5163632173337638, 198.93951776442725 } },
    { "lgamma", { 1, 4, 20, -0.25 }, { -0.5772156649015334, 1.2561176684318007, 2.9705239922421485, 2.914139120213528 } },
    { "bessel_i1e", { 0, 1e-3, -0.7, 70 }, { 0.5, 0.4990009369169398, 0.11082128265468205, -0.00033507563516124717 } },
  };
  g_autofree char *program = g_build_filename (place->folder, "special.mlir", NULL);
  g_autofree char *gradients = g_build_filename (place->folder, "output_1.npy", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      const double *at = functions[i].at;
      g_autofree char *text = g_strdup_printf ("module @m {\n  func.func public @main(%%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
                                               "    %%w = stablehlo.constant dense<[%.9e, %.9e, %.9e, %.9e]> : tensor<4xf32>\n"
                                               "    %%0 = stablehlo.add %%arg0, %%w : tensor<4xf32>\n    %%1 = chlo.%s %%0 : tensor<4xf32> -> tensor<4xf32>\n"
                                               "    return %%1 : tensor<4xf32>\n  }\n}\n",
                                               at[0], at[1], at[2], at[3], functions[i].name);
      g_autoptr (CliResult) made = NULL, ran = NULL;
      g_autofree char *bytes = NULL;
      gsize length;

      g_unlink (place->step);
      g_assert_true (g_file_set_contents (program, text, -1, NULL));
      made = cli_run ("train", "--gradients-only", "-o", place->step, program, NULL);
      cli_assert_status (made, 0);
      ran = cli_run ("run", "--runs=1", "--warmup=0", "--quick-compile", "--input=zeros", "--output-dir", place->folder, place->step, NULL);
      cli_assert_status (ran, 0);
      g_assert_true (g_file_get_contents (gradients, &bytes, &length, NULL));
      for (guint k = 0; k < 4; k++)
        {
          const double slope = functions[i].slope[k];
          float got;

          memcpy (&got, bytes + length - 16 + 4 * k, sizeof got);
          g_test_message ("%s at %g: %g", functions[i].name, at[k], 4 * got);
          g_assert_cmpfloat_with_epsilon (4 * got, slope, 2e-5 * MAX (fabs (slope), 1)); /* the loss is the mean of four */
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/cli/train/" name, StepPlace, NULL, step_place_set_up, function, step_place_tear_down)
  ADD ("step", test_train);
  ADD ("allocations", test_allocations);
  ADD ("gradients-only", test_gradients_only);
  ADD ("no-loss", test_no_loss);
  ADD ("rules", test_rules);
  ADD ("rules-of-a-run", test_rules_of_a_run);
  ADD ("target", test_target);
  ADD ("solve", test_solve);
  ADD ("without-value", test_without_value);
  ADD ("pareto", test_pareto);
  ADD ("steps", test_steps);
  ADD ("infinite-loss", test_infinite_loss);
  ADD ("slowest", test_slowest);
  ADD ("limit", test_limit);
  ADD ("host-limit", test_host_limit);
  ADD ("exact-limit", test_exact_limit);
  ADD ("microbatches", test_microbatches);
  ADD ("no-microbatches", test_no_microbatches);
  ADD ("host-price", test_host_price);
  ADD ("not-done", test_not_done);
  ADD ("kernels", test_kernels);
  ADD ("percent", test_percent);
  ADD ("holders", test_holders);
  ADD ("special", test_special);
  ADD ("errors", test_errors);
  return g_test_run ();
}
