/* SPDX-License-Identifier: Apache-2.0 */
/* Events that lie within others, as calls of a thread and named ranges do: which row each comes to lie in, so that no
 * row has two at a time. The first row that is free takes an event; of events that nest this gives the depth. */
#include "profiler/recording-private.h"

#define MOST_ROWS 16u

guint
_gantry_nest (const GantryEvent *events, guint n, guint most, guint8 *rows)
{
  gint64 until[MOST_ROWS];
  guint n_rows = 0;

  most = CLAMP (most, 1, MOST_ROWS);
  for (guint i = 0; i < n; i++)
    {
      guint row = 0;

      while (row < n_rows && until[row] > events[i].begin)
        row++;
      if (row == most)
        row--; /* deeper than is told apart */
      else if (row == n_rows)
        until[n_rows++] = events[i].end;
      until[row] = MAX (until[row], events[i].end);
      rows[i] = (guint8) row;
    }
  return n_rows;
}
