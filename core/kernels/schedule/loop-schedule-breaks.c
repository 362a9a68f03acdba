/* SPDX-License-Identifier: Apache-2.0 */
/* Where the comparisons of an expression change along a variable: its loop is cut there, so that each part decides them. */
#include "core/kernels/schedule/loop-schedule.h"
#include <string.h>

static gint64
floor_divide (gint64 a, gint64 b)
{
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

typedef struct
{
  gint64 *list;
  guint n, max;
  gint64 lo, hi; /* of the variable */
  gboolean full;
} Breaks;

static void
add_break (Breaks *breaks, gint64 at)
{
  guint i = 0;

  if (at <= breaks->lo || at > breaks->hi)
    return;
  while (i < breaks->n && breaks->list[i] < at)
    i++;
  if (i < breaks->n && breaks->list[i] == at)
    return;
  if (breaks->n == breaks->max)
    {
      breaks->full = TRUE;
      return;
    }
  memmove (breaks->list + i + 1, breaks->list + i, (breaks->n - i) * sizeof *breaks->list);
  breaks->list[i] = at;
  breaks->n++;
}

/* factor * v + rest >= 0 becomes true or false at one value of v. */
static void
break_at (Breaks *breaks, gint64 factor, gint64 rest)
{
  if (factor > 0)
    add_break (breaks, -floor_divide (rest, factor));
  else
    add_break (breaks, floor_divide (rest, -factor) + 1);
}

/* @sum is x - y of a comparison: breaks where it passes 0. */
static void
breaks_of_difference (GantryKx *kx, guint32 difference, guint variable, Breaks *breaks)
{
  g_autoptr (GArray) terms = g_array_new (FALSE, FALSE, sizeof (GantryKxTerm));
  gint64 constant = gantry_kx_as_sum (kx, difference, 1, terms), factor = 0;
  GantryIndexRange rest;
  guint64 spread;
  guint n = 0;

  for (guint i = 0; i < terms->len; i++)
    {
      GantryKxTerm term = g_array_index (terms, GantryKxTerm, i);
      const GantryKxNode *node = gantry_kx_node (kx, term.node);

      if (node->kind == GANTRY_KX_INDEX && node->a == variable)
        factor += term.factor;
      else if (node->vars >> variable & 1)
        return;
      else
        g_array_index (terms, GantryKxTerm, n++) = term;
    }
  if (factor == 0)
    return;
  rest = gantry_kx_range (kx, gantry_kx_linear (kx, constant, (GantryKxTerm *) terms->data, n));
  spread = (guint64) rest.hi - (guint64) rest.lo; /* ends that are not known lie farther apart than a gint64 says */
  /* A rest that varies much never decides anything: a triangle is not made of rectangles. */
  if (spread > 16 && spread / 2 > (guint64) ABS (factor))
    return;
  for (guint i = 0; i < 2; i++)
    {
      gint64 r = i == 0 ? rest.lo : rest.hi;

      break_at (breaks, factor, r);
      break_at (breaks, factor, r - 1);
    }
}

guint
gantry_schedule_breaks (GantryKx *kx, const GantryKxRoot *roots, guint n, guint variable, gint64 *list, guint max)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, roots, n);
  guint32 n_nodes = kx->nodes->len;
  Breaks breaks = { list, 0, max, kx->ranges[variable].lo, kx->ranges[variable].hi, FALSE };

  for (guint32 id = 0; id < n_nodes && !breaks.full; id++)
    {
      GantryKxNode node = *gantry_kx_node (kx, id);

      if (!needed[id] || node.kind != GANTRY_KX_BINARY || !(node.vars >> variable & 1) || gantry_kx_node (kx, node.a)->type != GANTRY_I64)
        continue;
      if (node.op == GANTRY_OP_COMPARE || node.op == GANTRY_OP_MAXIMUM || node.op == GANTRY_OP_MINIMUM)
        breaks_of_difference (kx, gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_SUBTRACT, 0, node.a, node.b), variable, &breaks);
    }
  return breaks.full ? 0 : breaks.n;
}
