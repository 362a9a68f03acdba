/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the exact packing: an item is placed or room is given up, what follows from that is worked out for the
 * sections that it touches, and all of it can be taken back. */
#include "core/planner/pack/pack-exact-private.h"
#include <string.h>

/* More different releases than this on one section are not looked at: the weaker bound stands. */
#define MOST_RELEASES 48

static inline void
set_value (Exact *e, gint32 *where, gint32 value)
{
  if (e->n_log == e->log_room)
    {
      e->log_room *= 2;
      e->log = g_renew (ExactUndo, e->log, e->log_room);
    }
  e->log[e->n_log++] = (ExactUndo){ (guint32) (where - e->state), *where };
  *where = value;
}

static inline void
mark_dirty (Exact *e, guint32 first, guint32 last)
{
  guint32 a = first / 64, b = last / 64;
  guint64 low = ~G_GUINT64_CONSTANT (0) << (first % 64), high = ~G_GUINT64_CONSTANT (0) >> (63 - last % 64);

  if (a == b)
    {
      e->dirty[a] |= low & high;
      return;
    }
  e->dirty[a] |= low;
  for (guint32 w = a + 1; w < b; w++)
    e->dirty[w] = ~G_GUINT64_CONSTANT (0);
  e->dirty[b] |= high;
}

static inline void
add_raised (Exact *e, guint32 section)
{
  if (e->n_raised == e->raised_room)
    {
      e->raised_room *= 2;
      e->raised = g_renew (guint16, e->raised, e->raised_room);
    }
  e->raised[e->n_raised++] = (guint16) section;
}

/* The lists are sparse sets: what is taken out moves behind the end and comes back when the end does, so that putting
 * back in the opposite order needs no moving. */
static void
take_out (Exact *e, guint32 item)
{
  for (guint32 s = e->first[item]; s <= e->last[item]; s++)
    {
      guint32 end = e->list_begin[s] + --e->count[s];
      guint32 slot = e->slot_begin[item] + s - e->first[item], at = e->slot[slot];
      guint16 other = e->list[end];

      e->list[at] = other;
      e->slot[e->slot_begin[other] + s - e->first[other]] = at;
      e->list[end] = (guint16) item;
      e->slot[slot] = end;
      if (s > e->first[item])
        e->crossing[s]--;
    }
  e->placed[item] = TRUE;
  e->stack[e->n_stack++] = (guint16) item;
}

static void
put_back (Exact *e, guint32 item)
{
  for (guint32 s = e->first[item]; s <= e->last[item]; s++)
    {
      e->count[s]++;
      if (s > e->first[item])
        e->crossing[s]++;
    }
  e->placed[item] = FALSE;
}

void
_gantry_exact_undo (Exact *e, ExactMark mark)
{
  while (e->n_log > mark.n_log)
    {
      const ExactUndo *entry = &e->log[--e->n_log];

      e->state[entry->where] = entry->value;
    }
  while (e->n_stack > mark.n_stack)
    put_back (e, e->stack[--e->n_stack]);
}

static gboolean
fail_at (Exact *e, guint32 section)
{
  e->failures[section]++;
  memset (e->dirty, 0, e->n_words * sizeof *e->dirty);
  return FALSE;
}

/* The items of a section as jobs on one machine with releases (J. R. Jackson's rule, 1955): for each release, what is
 * released from there on must still fit above it. Few releases are different, so they are gathered first. */
static gboolean
fits_released (const Exact *e, guint32 section)
{
  const guint16 *list = e->list + e->list_begin[section];
  gint32 level = e->level[section];
  gint32 release[MOST_RELEASES], sum[MOST_RELEASES];
  guint32 n = 0, at = 0;

  for (guint32 k = 0; k < e->count[section]; k++)
    {
      gint32 low = e->low[list[k]];

      if (low == level)
        continue;
      if (n == 0 || release[at] != low)
        {
          for (at = 0; at < n && release[at] != low; at++)
            ;
          if (at == MOST_RELEASES)
            return TRUE;
          if (at == n)
            {
              release[n] = low;
              sum[n++] = 0;
            }
        }
      sum[at] += e->size[list[k]];
    }
  for (guint32 k = 0; k < n; k++)
    {
      gint32 above = release[k];

      for (guint32 j = 0; j < n; j++)
        above += release[j] >= release[k] ? sum[j] : 0;
      if (above > e->capacity)
        return FALSE;
    }
  return TRUE;
}

/* One section: its level is no lower than what is left for it, and no item on it is left lower than its level. */
static gboolean
update_section (Exact *e, guint32 s)
{
  const guint16 *list = e->list + e->list_begin[s];
  guint32 n = e->count[s];
  gint32 least = EXACT_WALL, level = e->level[s];

  if (n == 0)
    return TRUE;
  e->work += n;
  for (guint32 k = 0; k < n; k++)
    least = MIN (least, e->low[list[k]]);
  if (least > level)
    {
      set_value (e, &e->level[s], level = least);
      add_raised (e, s);
    }
  if (level + e->total[s] > e->capacity)
    return fail_at (e, s);
  for (guint32 k = 0; k < n; k++)
    if (e->low[list[k]] < level)
      {
        set_value (e, &e->low[list[k]], level);
        mark_dirty (e, e->first[list[k]], e->last[list[k]]);
      }
  return TRUE;
}

static gboolean
propagate (Exact *e)
{
  gboolean any = TRUE;

  memset (e->touched, 0, e->n_words * sizeof *e->touched);
  while (any)
    {
      any = FALSE;
      for (guint32 w = 0; w < e->n_words; w++)
        while (e->dirty[w] != 0)
          {
            guint32 bit = (guint32) __builtin_ctzll (e->dirty[w]);

            e->dirty[w] &= e->dirty[w] - 1;
            e->touched[w] |= G_GUINT64_CONSTANT (1) << bit;
            any = TRUE;
            if (!update_section (e, w * 64 + bit))
              return FALSE;
          }
    }
  for (guint32 w = 0; w < e->n_words; w++)
    for (guint64 left = e->touched[w]; left != 0; left &= left - 1)
      {
        guint32 s = w * 64 + (guint32) __builtin_ctzll (left);

        if (!fits_released (e, s))
          return fail_at (e, s);
      }
  return TRUE;
}

static gboolean
could_sink (const Exact *e, guint32 item)
{
  gint32 top = 0, level = EXACT_WALL;

  for (guint32 s = e->first[item]; s <= e->last[item]; s++)
    {
      top = MAX (top, e->top[s]);
      level = MIN (level, e->level[s]);
      if (level < top + e->size[item])
        return FALSE;
    }
  return TRUE;
}

/* An item still to come that fits into room that was given up: each packing from here on has one in which it lies
 * there, and which is found elsewhere. */
static gboolean
leaves_gap (Exact *e)
{
  for (guint32 r = 0; r < e->n_raised; r++)
    {
      guint32 s = e->raised[r];
      const guint16 *list = e->list + e->list_begin[s];

      for (guint32 k = 0; k < e->count[s]; k++)
        {
          if (e->top[s] + e->size[list[k]] > e->level[s])
            continue;
          if (!could_sink (e, list[k]))
            continue;
          e->failures[s]++;
          return TRUE;
        }
    }
  return FALSE;
}

gboolean
_gantry_exact_place (Exact *e, guint32 item, gint32 level)
{
  gint32 top = level + e->size[item];

  e->offset[item] = level;
  take_out (e, item);
  for (guint32 s = e->first[item]; s <= e->last[item]; s++)
    {
      set_value (e, &e->level[s], top);
      set_value (e, &e->top[s], top);
      set_value (e, &e->total[s], e->total[s] - e->size[item]);
      set_value (e, &e->under[s], (gint32) item);
    }
  e->n_raised = 0;
  mark_dirty (e, e->first[item], e->last[item]);
  return propagate (e) && !leaves_gap (e);
}

gboolean
_gantry_exact_raise (Exact *e, guint32 first, guint32 last, gint32 level)
{
  e->n_raised = 0;
  for (guint32 s = first; s <= last; s++)
    {
      set_value (e, &e->level[s], level);
      add_raised (e, s);
    }
  mark_dirty (e, first, last);
  return propagate (e) && !leaves_gap (e);
}
