/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds of random tests: the same each time, others where GANTRY_TEST_SEED asks for them; told in the log of the test, so
 * that what failed can be asked for again. */
#pragma once
#include <glib.h>

/** @own: what tells this place of the test from others. Returns: the seed, @own itself where none is asked for */
static inline guint32
test_seed (guint32 own)
{
  const char *text = g_getenv ("GANTRY_TEST_SEED");
  guint32 asked = text != NULL ? (guint32) g_ascii_strtoull (text, NULL, 10) : 0;

  g_test_message ("random with GANTRY_TEST_SEED=%u", asked);
  return own + asked * 2654435761u;
}

/** Returns: (transfer full) */
static inline GRand *
test_rand (guint32 own)
{
  return g_rand_new_with_seed (test_seed (own));
}
