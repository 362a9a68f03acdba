/* SPDX-License-Identifier: Apache-2.0 */
/* Where the batch of a step may be divided, and where that would be another step. */
#include "tests/app/cli/step-test.h"
#include "tests/core/frontends/onnx/model-writer.h"
#include <glib/gstdio.h>
#include <string.h>

#define BATCH "--dim=n=64"

/* tanh (x w) m of each example, then @last, an operation that makes "y" of "h" ("" for the second time); "m" is an input of 32 values. */
static void
make (StepPlace *place, const char *last, const char *inputs, const char *result, const char *loss)
{
  g_autofree char *path = g_build_filename (place->folder, "open.onnx", NULL);
  g_autofree float *weights = g_new0 (float, 16 * 32);
  g_autoptr (CliResult) made = NULL;
  g_autoptr (GBytes) bytes = NULL;
  Message *graph = message_new (), *node;

  for (guint i = 0; i < 16 * 32; i++)
    weights[i] = (float) (i % 7) / 16 - 0.2f;
  put_text (graph, 2, "g");
  put_input (graph, write_value ("x", ELEMENT_FLOAT, "n,16"));
  put_input (graph, write_value ("m", ELEMENT_FLOAT, "32"));
  put_initializer (graph, write_tensor ("w", ELEMENT_FLOAT, "16,32", weights, 16 * 32 * sizeof *weights));
  put_node (graph, write_node ("MatMul", "product", "x,w", "p"));
  put_node (graph, write_node ("Tanh", "bound", "p", "t"));
  put_node (graph, write_node ("Mul", "scale", "t,m", "h"));
  put_node (graph, write_node ("Transpose", "turn", "h", "turned"));
  node = write_node (last, "last", inputs, "y");
  if (strcmp (last, "ReduceSum") == 0)
    put_attribute (node, write_attribute_int ("keepdims", 0));
  put_node (graph, node);
  put_output (graph, write_value ("y", ELEMENT_FLOAT, result));
  bytes = finish_model (write_model (graph));
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), NULL));
  g_unlink (place->step);
  made = cli_run ("train", BATCH, "--optimizer=adam", "--loss", loss, "-o", place->step, path, NULL);
  cli_assert_status (made, 0);
}

static void
tear_down (StepPlace *place, gconstpointer data)
{
  g_autofree char *path = g_build_filename (place->folder, "open.onnx", NULL);

  g_unlink (path);
  step_place_tear_down (place, data);
}

static void
assert_refused_with (StepPlace *place, const char *what)
{
  g_autoptr (CliResult) result = cli_run ("solve", "--no-kernels", "--fit=80%", "--allow=microbatches", place->step, NULL);

  cli_assert_status (result, 1);
  if (strstr (result->err, what) == NULL)
    g_error ("'%s' is not in: %s", what, result->err);
}

/* The loss of the whole batch is not the mean of those of its parts: that is said, and nothing is divided. */
static void
test_other_loss (StepPlace *place, gconstpointer data)
{
  make (place, "ReduceSum", "h", "", "output");
  assert_refused_with (place, "a sum over the examples");
  make (place, "MatMul", "h,turned", "n,n", "output");
  assert_refused_with (place, "each pair of examples");
  make (place, "Neg", "turned", "32,n", "mse");
  assert_refused_with (place, "first dimension");
}

static JsonObject *
solution_of (JsonNode *solved)
{
  return json_object_get_object_member (json_node_get_object (solved), "solution");
}

/* An input that has as many elements as a microbatch has examples, but is none of examples, is not divided: another number is taken. */
static void
test_fixed_input (StepPlace *place, gconstpointer data)
{
  g_autoptr (JsonNode) solved = NULL;

  make (place, "Neg", "h", "n,32", "mse");
  solved = step_ask (place, "solve", "--no-kernels", "--no-offload", "--no-recompute", "--fit=80%", "--allow=microbatches", NULL);
  g_assert_cmpint (json_object_get_int_member (solution_of (solved), "microbatches"), >, 2);
}

/* A peak that falls little with each number falls far with many; the time is for all of them. */
static void
test_many (StepPlace *place, gconstpointer data)
{
  g_autofree char *model = cli_own_file ("open-batch.onnx");
  g_autoptr (CliResult) made = cli_run ("train", "--dim=batch=256", "--loss=mse", "--optimizer=adam", "-o", place->step, model, NULL);
  g_autoptr (CliResult) late = NULL;
  g_autoptr (JsonNode) solved = NULL;

  cli_assert_status (made, 0);
  solved = step_ask (place, "solve", "--no-kernels", "--no-offload", "--no-recompute", "--fit=14100B", "--allow=microbatches", "--seconds=0", NULL);
  g_assert_cmpint (json_object_get_int_member (solution_of (solved), "microbatches"), >=, 32);
  g_assert_false (json_object_get_boolean_member (solution_of (solved), "numbers_ended"));
  late = cli_run ("solve", "--no-kernels", "--no-offload", "--no-recompute", "--fit=14100B", "--allow=microbatches", "--seconds=1e-6", place->step, NULL);
  cli_assert_status (late, 1);
  g_assert_nonnull (strstr (late->err, "the time for more was over"));
}

/* Labels may mark padding, so that a mean over rows depends on them: that is said of this loss, and only of this. */
static void
test_counted (StepPlace *place, gconstpointer data)
{
  static const char *const losses[] = { "mse", "softmax-cross-entropy" };

  for (guint i = 0; i < G_N_ELEMENTS (losses); i++)
    {
      g_autoptr (CliResult) result = NULL;

      make (place, "Neg", "h", "n,32", losses[i]);
      result = cli_run ("solve", "--no-kernels", "--no-offload", "--no-recompute", "--fit=80%", "--allow=microbatches", place->step, NULL);
      cli_assert_status (result, 0);
      g_assert_true ((strstr (result->out, "labels that are classes") != NULL) == (i == 1));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/cli/microbatches/other-loss", StepPlace, NULL, step_place_set_up, test_other_loss, tear_down);
  g_test_add ("/cli/microbatches/fixed-input", StepPlace, NULL, step_place_set_up, test_fixed_input, tear_down);
  g_test_add ("/cli/microbatches/many", StepPlace, NULL, step_place_set_up, test_many, tear_down);
  g_test_add ("/cli/microbatches/counted", StepPlace, NULL, step_place_set_up, test_counted, tear_down);
  return g_test_run ();
}
