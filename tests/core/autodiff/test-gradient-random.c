/* SPDX-License-Identifier: Apache-2.0 */
/* 500 random programs against finite differences along random directions, and some of their
 * gradients again. */
#include "core/graph/operation.h"
#include "core/graph/verifier.h"
#include "tests/core/autodiff/gradient-test.h"
#include "tests/core/autodiff/random-gradient.h"
#include "tests/random-seed.h"

#define PROGRAMS 500u
#define GROUP 25u /* in one case of the report */

static void
test_group (gconstpointer data)
{
  guint first = GPOINTER_TO_UINT (data);
  guint32 base = test_seed (0);

  for (guint seed = first; seed < first + GROUP; seed++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = random_gradient_module (context, base + seed), once = NULL, twice = NULL;
      g_autoptr (GError) error = NULL;
      GradientCheck check = { .low = -1, .high = 1, .directions = 2, .random = g_rand_new_with_seed (base + seed + 1000), .step = 1e-6, .tolerance = 1e-5 };

      gantry_verify (module, NULL, &error);
      g_assert_no_error (error);
      once = gradient_check (module, &check);
      if (seed % 10 == 0)
        twice = gradient_check (once, &check);
      g_rand_free (check.random);
    }
}

/* The programs do hold what they are there for. */
static void
test_variety (void)
{
  guint n[GANTRY_N_OPS] = { 0 };
  guint32 base = test_seed (0);

  for (guint seed = 0; seed < PROGRAMS; seed++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = random_gradient_module (context, base + seed);

      for (guint op = 1; op < GANTRY_N_OPS; op++)
        n[op] += gradient_count (module, op) > 0;
    }
  g_assert_cmpuint (n[GANTRY_OP_SCAN], >, PROGRAMS / 4);
  g_assert_cmpuint (n[GANTRY_OP_IF], >, PROGRAMS / 4);
  g_assert_cmpuint (n[GANTRY_OP_WHILE], >, PROGRAMS / 4);
  g_assert_cmpuint (n[GANTRY_OP_CALL] + n[GANTRY_OP_FUSION], >, PROGRAMS / 4);
  g_assert_cmpuint (n[GANTRY_OP_DOT_GENERAL], >, PROGRAMS / 10);
  g_assert_cmpuint (n[GANTRY_OP_SORT], >, PROGRAMS / 10);
  g_assert_cmpuint (n[GANTRY_OP_SCATTER], >, PROGRAMS / 10);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gradient/random/variety", test_variety);
  for (guint first = 0; first < PROGRAMS; first += GROUP)
    {
      g_autofree char *path = g_strdup_printf ("/gradient/random/from-%u", first);

      g_test_add_data_func (path, GUINT_TO_POINTER (first), test_group);
    }
  return g_test_run ();
}
