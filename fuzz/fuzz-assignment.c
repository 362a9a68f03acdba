/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of XLA's buffer assignments and live ranges: what stands before "HloLiveRange" is the one, the rest the other. Whatever
 * the bytes, reading ends in a result that does not contradict itself or in one error. */
#include "core/frontends/xla/assignment.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check (const GantryXlaAssignment *assignment)
{
  guint64 total = 0;

  for (guint i = 0; i < assignment->allocations->len; i++)
    {
      const GantryXlaAllocation *allocation = &g_array_index (assignment->allocations, GantryXlaAllocation, i);

      total += allocation->kind != GANTRY_XLA_ALLOCATION_HOST ? allocation->size : 0;
    }
  g_assert (total == assignment->total_bytes);
  for (guint i = 0; i < assignment->steps->len; i++)
    g_assert (assignment->live_bytes[i] <= assignment->total_bytes && assignment->live_bytes[i] <= assignment->live_bytes[assignment->peak_step]);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const char *text = (const char *) data, *ranges = g_strstr_len (text, (gssize) size, "HloLiveRange");
  gsize length = ranges != NULL ? (gsize) (ranges - text) : size;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryXlaAssignment) assignment = gantry_xla_assignment_parse (text, length, "fuzz.txt", &error);
  gboolean fine;

  g_assert ((assignment == NULL) == (error != NULL));
  if (assignment == NULL)
    return 0;
  check (assignment);
  fine = gantry_xla_assignment_read_live_ranges (assignment, text + length, size - length, "fuzz.txt", &error);
  g_assert (fine == (error == NULL));
  check (assignment);
  return 0;
}
