/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of slices against finite differences: pieces that are all of what they were cut from are joined, others padded. */
#include "core/graph/operation.h"
#include "tests/core/autodiff/gradient-test.h"
#include "tests/random-seed.h"

typedef struct
{
  const char *name;
  const char *nodes; /* from %1: f64[4,3]; the last one is %9 */
  guint joined;      /* concatenations in the gradients */
  guint padded;
} Case;

/* clang-format off */
#define ROWS(id, from, to, n) "%" id " = slice(%1) {start_indices = [" from ",0], limit_indices = [" to ",3], strides = [1,1]}: f64[" n ",3] "
#define COLUMNS(id, from, to, n) "%" id " = slice(%1) {start_indices = [0," from "], limit_indices = [4," to "], strides = [1,1]}: f64[4," n "] "

static const Case cases[] = {
  { "all", ROWS ("2", "2", "4", "2") ROWS ("3", "0", "2", "2") "%9 = multiply(%2, %3): f64[2,3]", 1, 0 },
  { "all-and-whole",
    ROWS ("2", "2", "4", "2") ROWS ("3", "0", "2", "2") "%4 = multiply(%2, %3): f64[2,3] "
    "%5 = reduce(%1) {kind = \"add\", dimensions = [0]}: f64[3] "
    "%6 = broadcast_in_dim(%5) {shape = [2,3], broadcast_dimensions = [1]}: f64[2,3] %9 = multiply(%4, %6): f64[2,3]", 1, 0 },
  { "unequal", ROWS ("2", "0", "3", "3") ROWS ("3", "3", "4", "1")
    "%4 = reduce(%2) {kind = \"add\", dimensions = [0]}: f64[3] %5 = reduce(%3) {kind = \"add\", dimensions = [0]}: f64[3] "
    "%9 = multiply(%4, %5): f64[3]", 1, 0 },
  { "overlapping", ROWS ("2", "0", "3", "3") ROWS ("3", "1", "4", "3") "%9 = multiply(%2, %3): f64[3,3]", 0, 2 },
  { "the-same-twice", ROWS ("2", "0", "2", "2") ROWS ("3", "0", "2", "2") "%9 = multiply(%2, %3): f64[2,3]", 0, 2 },
  { "not-all", ROWS ("2", "0", "1", "1") ROWS ("3", "2", "3", "1") "%9 = multiply(%2, %3): f64[1,3]", 0, 2 },
  { "inner-axis", COLUMNS ("2", "0", "1", "1") COLUMNS ("3", "1", "2", "1") COLUMNS ("4", "2", "3", "1")
    "%5 = multiply(%2, %3): f64[4,1] %9 = multiply(%5, %4): f64[4,1]", 0, 3 },
  { "strided", "%2 = slice(%1) {start_indices = [0,0], limit_indices = [4,3], strides = [2,1]}: f64[2,3] "
    "%3 = slice(%1) {start_indices = [1,0], limit_indices = [4,3], strides = [2,1]}: f64[2,3] %9 = multiply(%2, %3): f64[2,3]", 0, 2 },
  { "of-a-value",
    "%4 = tanh(%1): f64[4,3] %2 = slice(%4) {start_indices = [0,0], limit_indices = [2,3], strides = [1,1]}: f64[2,3] "
    "%3 = slice(%4) {start_indices = [2,0], limit_indices = [4,3], strides = [1,1]}: f64[2,3] %9 = multiply(%2, %3): f64[2,3]", 1, 0 },
};
/* clang-format on */

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *text = g_strdup_printf ("module \"case\" { func @main #1 (%%1: f64[4,3]) -> (%%9) { %s } }", c->nodes);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gradient_parse (context, text), gradients = NULL;
  GradientCheck check = { .low = -2, .high = 2, .random = test_rand (9) };

  gradients = gradient_check (module, &check);
  g_assert_cmpuint (gradient_count (gradients, GANTRY_OP_CONCATENATE), ==, c->joined);
  g_assert_cmpuint (gradient_count (gradients, GANTRY_OP_PAD), ==, c->padded);
  g_rand_free (check.random);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/gradient/slices/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  return g_test_run ();
}
