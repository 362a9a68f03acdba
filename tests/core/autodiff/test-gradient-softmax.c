/* SPDX-License-Identifier: Apache-2.0 */
/* gantry: table. Softmax and its logarithm, written out in the forms that models have, and what only looks like them: gradients
 * against finite differences, and whether the derivative was taken as one. */
#include "core/graph/operation.h"
#include "tests/core/autodiff/gradient-test.h"
#include "tests/random-seed.h"

typedef struct
{
  const char *name;
  const char *parameters;
  const char *nodes;  /* the last one is %9 */
  guint exponentials; /* that the derivative computes or reads */
  guint comparisons;  /* those of the largest element's derivative */
} Case;

/* clang-format off */
#define LARGEST "%2 = reduce(%1) {kind = \"max\", dimensions = [1]}: f64[3] " ROWS ("3", "2") "%4 = subtract(%1, %3): f64[3,3] "
#define ROWS(id, of) "%" id " = broadcast_in_dim(%" of ") {shape = [3,3], broadcast_dimensions = [0]}: f64[3,3] "
#define COLUMNS(id, of) "%" id " = broadcast_in_dim(%" of ") {shape = [3,3], broadcast_dimensions = [1]}: f64[3,3] "
#define SUM "%5 = exponential(%4): f64[3,3] %6 = reduce(%5) {kind = \"add\", dimensions = [1]}: f64[3] "

static const Case cases[] = {
  { "softmax", "%1: f64[3,3]", LARGEST SUM ROWS ("7", "6") "%9 = divide(%5, %7): f64[3,3]", 1, 0 },
  { "logarithm", "%1: f64[3,3]", LARGEST SUM "%7 = log(%6): f64[3] " ROWS ("8", "7") "%9 = subtract(%4, %8): f64[3,3]", 2, 0 },
  { "no-shift", "%4: f64[3,3]", SUM ROWS ("7", "6") "%9 = divide(%5, %7): f64[3,3]", 1, 0 },
  { "shift-from-elsewhere", "%1: f64[3,3], %2: f64[3]",
    ROWS ("3", "2") "%4 = subtract(%1, %3): f64[3,3] " SUM ROWS ("7", "6") "%9 = divide(%5, %7): f64[3,3]", 1, 0 },
  { "kept-dimensions", "%1: f64[2,3,1,4]",
    "%2 = reduce(%1) {kind = \"max\", dimensions = [1,3]}: f64[2,1] %10 = reshape(%2) {shape = [2,1,1,1]}: f64[2,1,1,1] "
    "%3 = broadcast_in_dim(%10) {shape = [2,3,1,4], broadcast_dimensions = [0,1,2,3]}: f64[2,3,1,4] "
    "%4 = subtract(%1, %3): f64[2,3,1,4] %5 = exponential(%4): f64[2,3,1,4] "
    "%6 = reduce(%5) {kind = \"add\", dimensions = [1,3]}: f64[2,1] %7 = reshape(%6) {shape = [2,1,1,1]}: f64[2,1,1,1] "
    "%8 = broadcast_in_dim(%7) {shape = [2,3,1,4], broadcast_dimensions = [0,1,2,3]}: f64[2,3,1,4] "
    "%9 = divide(%5, %8): f64[2,3,1,4]", 1, 0 },
  { "logarithm-of-kept-dimensions", "%4: f64[3,2]",
    "%5 = exponential(%4): f64[3,2] %6 = reduce(%5) {kind = \"add\", dimensions = [0]}: f64[2] "
    "%7 = reshape(%6) {shape = [1,2]}: f64[1,2] %8 = log(%7): f64[1,2] "
    "%10 = broadcast_in_dim(%8) {shape = [3,2], broadcast_dimensions = [0,1]}: f64[3,2] %9 = subtract(%4, %10): f64[3,2]", 2, 0 },
  /* Not softmax, but near it. */
  { "columns-of-rows", "%1: f64[3,3]", LARGEST SUM COLUMNS ("7", "6") "%9 = divide(%5, %7): f64[3,3]", 1, 1 },
  { "sum-read-twice", "%1: f64[3,3]",
    LARGEST SUM ROWS ("7", "6") "%8 = divide(%5, %7): f64[3,3] %9 = multiply(%8, %7): f64[3,3]", 1, 1 },
  { "exponential-read-twice", "%1: f64[3,3]",
    LARGEST SUM ROWS ("7", "6") "%8 = divide(%5, %7): f64[3,3] %9 = multiply(%8, %5): f64[3,3]", 1, 1 },
  { "shifted-read-twice", "%1: f64[3,3]",
    LARGEST SUM ROWS ("7", "6") "%8 = divide(%5, %7): f64[3,3] %9 = multiply(%8, %4): f64[3,3]", 1, 1 },
  { "shift-is-no-number-of-rows", "%1: f64[3,3]",
    "%2 = reduce(%1) {kind = \"max\", dimensions = [0]}: f64[3] " COLUMNS ("3", "2") "%4 = subtract(%1, %3): f64[3,3] "
    SUM ROWS ("7", "6") "%9 = divide(%5, %7): f64[3,3]", 1, 1 },
  { "logarithm-of-another", "%1: f64[3,3]",
    LARGEST SUM "%7 = log(%6): f64[3] " ROWS ("8", "7") "%9 = subtract(%1, %8): f64[3,3]", 1, 1 },
  { "largest-of-exponentials", "%4: f64[3,3]",
    "%5 = exponential(%4): f64[3,3] %6 = reduce(%5) {kind = \"max\", dimensions = [1]}: f64[3] " ROWS ("7", "6")
    "%9 = divide(%5, %7): f64[3,3]", 1, 1 },
};
/* clang-format on */

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *text = g_strdup_printf ("module \"case\" { func @main #1 (%s) -> (%%9) { %s } }", c->parameters, c->nodes);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gradient_parse (context, text), gradients = NULL;
  GradientCheck check = { .low = -2, .high = 2, .random = test_rand (7) };

  gradients = gradient_check (module, &check);
  g_assert_cmpuint (gradient_count (gradients, GANTRY_OP_EXPONENTIAL), ==, c->exponentials);
  g_assert_cmpuint (gradient_count (gradients, GANTRY_OP_COMPARE), ==, c->comparisons);
  g_rand_free (check.random);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/gradient/softmax/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  return g_test_run ();
}
