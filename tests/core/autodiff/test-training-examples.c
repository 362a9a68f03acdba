/* SPDX-License-Identifier: Apache-2.0 */
/* Which losses are means over examples that do not depend on each other, and which are not shown to be: each of these programs is
 * compared with itself for twice as many examples. */
#include "tests/core/autodiff/training-test.h"
#include <string.h>

#define BATCH 4

/* What stands between "x" of the batch and the loss; %2 is a parameter, %9 the output. */
typedef struct
{
  const char *name, *body;
  GantryLoss loss;
  const char *refusal; /* (nullable): part of it; NULL: it is a mean */
} Sample;

#define LAYER " %3 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[B,5]"
#define SUM LAYER " %4 = tanh(%3): f64[B,5] %5 = reduce(%4) {kind = \"add\", dimensions = [0, 1]}: f64[]"
#define COLUMNS LAYER " %4 = reduce(%3) {kind = \"add\", dimensions = [0]}: f64[5]"

static const Sample samples[] = {
  { "rows", LAYER " %9 = tanh(%3): f64[B,5]", GANTRY_LOSS_MEAN_SQUARED_ERROR, NULL },
  { "rows-averaged", LAYER " %9 = tanh(%3): f64[B,5]", GANTRY_LOSS_OUTPUT, NULL },
  { "mean", SUM " %6 = constant() {value = dense<f64[]: B.0>}: f64[] %9 = divide(%5, %6): f64[]", GANTRY_LOSS_OUTPUT, NULL },
  { "mean-of-squares", SUM " %6 = constant() {value = dense<f64[]: B.0>}: f64[] %7 = divide(%5, %6): f64[] %9 = multiply(%7, %7): f64[]", GANTRY_LOSS_OUTPUT,
    "no linear function" },
  { "sum", SUM " %9 = negate(%5): f64[]", GANTRY_LOSS_OUTPUT, "a sum over the examples" },
  { "other-divisor", SUM " %6 = constant() {value = dense<f64[]: 4.0>}: f64[] %9 = divide(%5, %6): f64[]", GANTRY_LOSS_OUTPUT, "a sum over the examples" },
  { "greatest", LAYER " %9 = reduce(%3) {kind = \"max\", dimensions = [0, 1]}: f64[]", GANTRY_LOSS_OUTPUT, "no sum over the batch" },
  { "centred", COLUMNS " %5 = broadcast_in_dim(%4) {broadcast_dimensions = [1], shape = [B, 5]}: f64[B,5] %9 = subtract(%3, %5): f64[B,5]", GANTRY_LOSS_OUTPUT,
    "a reduction over the batch" },
  { "pairs", LAYER " %9 = dot_general(%3, %3) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]}: f64[B,B]", GANTRY_LOSS_OUTPUT,
    "each pair of examples" },
  { "over-examples", LAYER " %9 = dot_general(%3, %3) {lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]}: f64[5,5]", GANTRY_LOSS_OUTPUT,
    "sums over the batch" },
  { "shifted",
    LAYER " %4 = constant() {value = dense<f64[]: 0.0>}: f64[]"
          " %9 = pad(%3, %4) {edge_padding_low = [1, 0], edge_padding_high = [-1, 0], interior_padding = [0, 0]}: f64[B,5]",
    GANTRY_LOSS_OUTPUT, "moves or joins" },
  { "reversed", LAYER " %9 = reverse(%3) {dimensions = [0]}: f64[B,5]", GANTRY_LOSS_OUTPUT, "moves or joins" },
  { "reversed-features", LAYER " %9 = reverse(%3) {dimensions = [1]}: f64[B,5]", GANTRY_LOSS_MEAN_SQUARED_ERROR, NULL },
  { "sorted", LAYER " %9 = sort(%3) {dimension = 0}: f64[B,5]", GANTRY_LOSS_OUTPUT, "sorts the examples" },
  { "numbered", LAYER " %4 = iota() {to = type f64[B,5], iota_dimension = 0}: f64[B,5] %9 = add(%3, %4): f64[B,5]", GANTRY_LOSS_OUTPUT,
    "numbers the examples" },
  { "transposed", LAYER " %9 = transpose(%3) {permutation = [1, 0]}: f64[5,B]", GANTRY_LOSS_MEAN_SQUARED_ERROR, "first dimension" },
  { "transposed-averaged", LAYER " %9 = transpose(%3) {permutation = [1, 0]}: f64[5,B]", GANTRY_LOSS_OUTPUT, NULL },
  { "flattened", LAYER " %9 = reshape(%3) {shape = [N]}: f64[N]", GANTRY_LOSS_MEAN_SQUARED_ERROR, NULL },
  { "flattened-transposed", LAYER " %4 = transpose(%3) {permutation = [1, 0]}: f64[5,B] %9 = reshape(%4) {shape = [N]}: f64[N]", GANTRY_LOSS_MEAN_SQUARED_ERROR,
    "first dimension" },
  { "two-orders",
    LAYER " %4 = transpose(%3) {permutation = [1, 0]}: f64[5,B] %5 = reshape(%4) {shape = [N]}: f64[N] %6 = reshape(%3) {shape = [N]}: f64[N]"
          " %9 = add(%5, %6): f64[N]",
    GANTRY_LOSS_OUTPUT, "another order" },
};

static GantryModule *
program (const Sample *sample, guint batch)
{
  g_autofree char *size = g_strdup_printf ("%u", batch), *elements = g_strdup_printf ("%u", 5 * batch);
  g_autoptr (GString) text = g_string_new (sample->body);

  g_string_prepend (text, "module \"m\" { func @main #1 (%1 \"x\": f64[B,3], %2 \"w\": f64[3,5] {role = \"parameter\"}) -> (%9) {");
  g_string_append (text, " } }");
  g_string_replace (text, "B", size, 0);
  g_string_replace (text, "N", elements, 0);
  return training_from_text (text->str);
}

static void
test_sample (gconstpointer data)
{
  const Sample *sample = data;
  g_autoptr (GantryModule) module = program (sample, BATCH);
  g_autoptr (GantryModule) twice = program (sample, 2 * BATCH);
  g_autoptr (GError) error = NULL;
  GantryTrainingOptions options;

  gantry_training_options_init (&options);
  options.loss = sample->loss;
  if (gantry_training_check_examples (module, twice, &options, &error))
    g_assert_null (sample->refusal);
  else
    {
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_test_message ("%s", error->message);
      g_assert_nonnull (sample->refusal);
      g_assert_nonnull (strstr (error->message, sample->refusal));
    }
  gantry_training_options_clear (&options);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autofree char *path = g_strconcat ("/training/examples/", samples[i].name, NULL);

      g_test_add_data_func (path, &samples[i], test_sample);
    }
  return g_test_run ();
}
