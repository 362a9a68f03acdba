/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of packing tables: whatever the bytes, reading ends in a table or in an error, and a small table gets a
 * packing that is valid and not below its bound. */

#include "core/planner/pack/pack-csv.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPackTable) table = gantry_pack_table_from_csv ((const char *) data, size, "fuzz.csv", &error);
  GantryPackOptions options = { .alignment = 1 + size % 3 * 31, .rounds = 20, .nodes = 200 };
  GantryPackResult result;

  g_assert ((table == NULL) == (error != NULL));
  if (table == NULL || table->n > 200)
    return 0;
  gantry_pack_solve (table->items, table->n, &options, NULL, &result);
  g_assert (result.height >= result.lower_bound && result.lower_bound >= result.load);
  g_assert (gantry_pack_check (table->items, table->n, options.alignment, NULL, NULL));
  return 0;
}
