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
  g_autofree char *path = step_program (sample->name),
                  *optimizer = g_strconcat ("--optimizer=", sample->optimizer, NULL);
  g_autoptr (CliResult)
    result = cli_run ("train", sample->optimizer[0] != '\0' ? optimizer : "--gradients-only", "-o",
                      place->step, path, NULL);

  cli_assert_status (result, 0);
}

static void
check_fits (const StepPlace *place, gint64 bytes)
{
  g_autofree char *fit = g_strdup_printf ("--fit=%" G_GINT64_FORMAT, bytes);
  g_autoptr (JsonNode)
    solved = step_ask (place, "solve", "--no-kernels", "--seconds=60", fit, NULL);

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
  front = step_ask (place, "pareto", "--no-kernels", "--points=4", "--seconds=60", NULL);
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
      g_autofree char *at_most = g_strconcat (
        "--at-most=", g_ascii_dtostr (text, sizeof text, slowest * (1 + part * 0.3)), NULL);
      g_autoptr (JsonNode)
        small = step_ask (place, "solve", "--no-kernels", "--seconds=20", at_most, NULL);

      check_fits (place, step_number (small, "planned_bytes"));
    }
  refused = cli_run ("solve", "--no-kernels", "--fit=16", "--seconds=60", place->step, NULL);
  cli_assert_status (refused, 1);
  g_assert_nonnull (strstr (refused->err, "the least found is "));
  bytes = strchr (refused->err, '(');
  check_fits (place, g_ascii_strtoll (bytes + 1, NULL, 10));
}

int
main (int argc, char **argv)
{
  static const Sample samples[] = {
    { "mlp.gir", "momentum" }, { "mlp.gir", "adam" },         { "lstm.gir", "" },
    { "layers-tiny.gir", "" }, { "layers-tiny.gir", "adam" }
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autofree char *path = g_strdup_printf (
        "/cli/solve/%s/%s", samples[i].name,
        samples[i].optimizer[0] != '\0' ? samples[i].optimizer : "gradients");

      g_test_add (path, StepPlace, &samples[i], step_place_set_up, test_points,
                  step_place_tear_down);
    }
  return g_test_run ();
}
