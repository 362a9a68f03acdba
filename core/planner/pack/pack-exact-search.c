/* SPDX-License-Identifier: Apache-2.0 */
/* The decisions of the exact packing, branch and bound over valleys.
 *
 * A valley is a stretch of sections at one level between higher ones. Of a section in it there are few cases: one of
 * the items that fit into the valley lies there at its level, or none does and the section's level rises to where the
 * next item can lie at the lowest. Exactly one of these holds in each packing, so none is looked at twice; it is enough
 * to look for packings in which nothing can sink, equal items come in order, and of two with the same lifetime and
 * nothing between, the larger lies below. Any valley may be decided next, which lets the search go where there is least
 * choice. Where no item crosses from one section to the next the sides do not matter to each other and are solved one
 * by one. States from which nothing was found are remembered.
 *
 * That offsets are given in rising order, room that some item could fill is never left, and parts are solved alone are
 * ideas of Moffitt's "MiniMalloc" (ASPLOS 2023); choosing by least choice for each failure is Boussemart et al.'s
 * weighted degree (ECAI 2004). */
#include "core/planner/pack/pack-exact-private.h"

typedef struct
{
  guint32 first, last; /* sections, inclusive */
  gint32 level;
  gint32 rim; /* the lower of the neighbours' levels */
} Valley;

/* A section that could be decided. */
typedef struct
{
  Valley valley;
  guint32 section;
  guint32 options;
  gint32 slack;
  gboolean empty; /* nothing fits on the valley */
} Choice;

/* Of the same lifetime, with nothing between: the larger lies below. */
static gboolean
in_order (const Exact *e, guint32 item, gint32 level)
{
  guint32 first = e->first[item], last = e->last[item];
  guint32 under = (guint32) e->under[first];

  return under == EXACT_NO_ITEM || e->top[first] != level || e->first[under] != first || e->last[under] != last || e->size[under] >= e->size[item];
}

/* Can @item lie at the level of its valley: there is room, something to lie on, and no order that forbids it. */
static gboolean
is_candidate (const Exact *e, guint32 item, gint32 level)
{
  guint32 same = e->same[item];

  if (e->placed[item] || e->low[item] != level || (same != EXACT_NO_ITEM && !e->placed[same]) || !in_order (e, item, level))
    return FALSE;
  for (guint32 s = e->first[item]; s <= e->last[item]; s++)
    if (e->top[s] == level)
      return TRUE;
  return FALSE;
}

/* Counts in `cover` the candidates on each section of the valley. Returns: the least size of a candidate */
static gint32
count_candidates (Exact *e, const Valley *valley)
{
  gint32 least = EXACT_WALL;

  for (guint32 s = valley->first; s <= valley->last + 1; s++)
    e->cover[s] = 0;
  for (guint32 k = e->starting[valley->first]; k < e->starting[valley->last + 1]; k++)
    {
      guint32 i = e->by_first[k];

      if (!is_candidate (e, i, valley->level))
        continue;
      e->cover[e->first[i]]++;
      e->cover[e->last[i] + 1]--;
      least = MIN (least, e->size[i]);
    }
  for (guint32 s = valley->first + 1; s <= valley->last; s++)
    e->cover[s] += e->cover[s - 1];
  return least;
}

static int
compare_ratios (const Exact *e, const Choice *a, const Choice *b)
{
  guint64 x = (guint64) a->options * ((guint64) e->failures[b->section] + 1);
  guint64 y = (guint64) b->options * ((guint64) e->failures[a->section] + 1);

  return (x > y) - (x < y);
}

/* Is @a decided before @b? */
static gboolean
goes_before (const Exact *e, const Choice *a, const Choice *b)
{
  guint32 failed_a = e->failures[a->section], failed_b = e->failures[b->section];
  int ratio;

  if (e->rule == EXACT_BY_FAILURES)
    return compare_ratios (e, a, b) < 0;
  if ((a->options <= 1) != (b->options <= 1))
    return a->options <= 1;
  switch (e->rule)
    {
    case EXACT_BY_OPTIONS:
      if (a->options != b->options)
        return a->options < b->options;
      return a->slack != b->slack ? a->slack < b->slack : a->valley.level < b->valley.level;
    case EXACT_BY_LEVEL:
      if (a->valley.level != b->valley.level)
        return a->valley.level < b->valley.level;
      return a->options < b->options;
    case EXACT_BY_FORCED_FAILURES: ratio = compare_ratios (e, a, b); return ratio != 0 ? ratio < 0 : a->slack < b->slack;
    case EXACT_BY_HARDNESS:
      if (failed_a != failed_b)
        return failed_a > failed_b;
      G_GNUC_FALLTHROUGH;
    default: return a->slack != b->slack ? a->slack < b->slack : a->options < b->options;
    }
}

static void
consider (Exact *e, const Valley *valley, Choice *best)
{
  gint32 least = count_candidates (e, valley);
  gint32 wait = MIN (least, valley->rim - valley->level);

  if (least == EXACT_WALL)
    {
      *best = (Choice){ *valley, valley->first, 0, 0, TRUE };
      return;
    }
  for (guint32 s = valley->first; s <= valley->last; s++)
    {
      gint32 slack = e->capacity - valley->level - e->total[s];
      Choice choice = { *valley, s, (guint32) e->cover[s] + (slack >= wait), slack, FALSE };

      if (best->options == G_MAXUINT32 || goes_before (e, &choice, best))
        *best = choice;
    }
}

/* In a part all sections have items to come, so that its outer neighbours are walls. */
static Choice
choose (Exact *e, guint32 first, guint32 last)
{
  Choice best = { .options = G_MAXUINT32 };

  for (guint32 s = first; s <= last && best.options > 0;)
    {
      Valley valley = { s, s, e->level[s], s > first ? e->level[s - 1] : EXACT_WALL };

      while (valley.last < last && e->level[valley.last + 1] == valley.level)
        valley.last++;
      if (valley.last < last)
        valley.rim = MIN (valley.rim, e->level[valley.last + 1]);
      if (valley.rim > valley.level)
        consider (e, &valley, &best);
      s = valley.last + 1;
    }
  return best;
}

static inline guint64
mix (guint64 x)
{
  /* The finalizer of splitmix64 (Vigna). */
  x = (x ^ x >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* Never 0. Two states that differ have one value with a probability of 2^-64. */
static guint64
hash_state (const Exact *e, guint32 first, guint32 last)
{
  guint64 hash = mix (((guint64) first << 32 | last) + 1);

  for (guint32 s = first; s <= last; s++)
    {
      guint32 under = (guint32) e->under[s];

      hash = mix (hash ^ ((guint64) (guint32) e->level[s] << 32 | (guint32) e->top[s]));
      /* What may not lie on it matters as well. */
      if (under != EXACT_NO_ITEM && e->has_larger[under] && e->first[under] == s)
        hash += mix (under + G_GUINT64_CONSTANT (0x100000001));
    }
  for (guint32 k = e->starting[first]; k < e->starting[last + 1]; k++)
    if (!e->placed[e->by_first[k]])
      hash += mix ((guint64) e->by_first[k] + 77);
  return hash | 1;
}

static PackOutcome solve_part (Exact *e, guint32 first, guint32 last);

static PackOutcome
solve_parts (Exact *e, guint32 first, guint32 last)
{
  PackOutcome outcome = PACK_FOUND;

  for (guint32 s = first, end; s <= last && outcome == PACK_FOUND; s = end + 1)
    {
      end = s;
      if (e->count[s] == 0)
        continue;
      while (end < last && e->crossing[end + 1] > 0)
        end++;
      outcome = solve_part (e, s, end);
    }
  return outcome;
}

/* Pushes the candidates on the section of @choice, best rank first. */
static void
push_candidates (Exact *e, const Choice *choice)
{
  guint32 begin = e->n_pool;

  while (e->n_pool + e->n > e->pool_room)
    {
      e->pool_room *= 2;
      e->pool = g_renew (guint16, e->pool, e->pool_room);
    }
  for (guint32 k = e->starting[choice->valley.first]; k < e->starting[choice->section + 1]; k++)
    {
      guint32 i = e->by_first[k], at = e->n_pool;

      if (e->last[i] < choice->section || !is_candidate (e, i, choice->valley.level))
        continue;
      e->n_pool++;
      for (; at > begin && e->rank[e->pool[at - 1]] > e->rank[i]; at--)
        e->pool[at] = e->pool[at - 1];
      e->pool[at] = (guint16) i;
    }
}

/* No item lies on the section at the level of its valley: the next one lies on an item of the valley that does not
 * reach the section, or at least as high as the rim. */
static gint32
next_level (const Exact *e, const Choice *choice)
{
  const Valley *valley = &choice->valley;
  gint32 next = valley->rim;

  for (guint32 k = e->starting[valley->first]; k < e->starting[valley->last + 1]; k++)
    {
      guint32 i = e->by_first[k];

      if ((e->first[i] > choice->section || e->last[i] < choice->section) && !e->placed[i] && e->low[i] == valley->level)
        next = MIN (next, valley->level + e->size[i]);
    }
  return next;
}

static PackOutcome
give_up_room (Exact *e, const Choice *choice, guint32 first, guint32 last)
{
  const Valley *valley = &choice->valley;
  gint32 level = choice->empty ? valley->rim : next_level (e, choice);
  ExactMark mark = _gantry_exact_mark (e);
  PackOutcome outcome = PACK_NONE;

  if (level == EXACT_WALL)
    return PACK_NONE;
  if (_gantry_exact_raise (e, choice->empty ? valley->first : choice->section, choice->empty ? valley->last : choice->section, level))
    outcome = solve_parts (e, first, last);
  if (outcome != PACK_FOUND)
    _gantry_exact_undo (e, mark);
  return outcome;
}

static PackOutcome
try_candidates (Exact *e, const Choice *choice, guint32 first, guint32 last)
{
  guint32 begin = e->n_pool, end;
  PackOutcome outcome = PACK_NONE;

  push_candidates (e, choice);
  end = e->n_pool;
  for (guint32 k = begin; k < end && outcome == PACK_NONE; k++)
    {
      ExactMark mark = _gantry_exact_mark (e);

      if (_gantry_exact_place (e, e->pool[k], choice->valley.level))
        outcome = solve_parts (e, first, last);
      if (outcome != PACK_FOUND)
        _gantry_exact_undo (e, mark);
    }
  e->n_pool = begin;
  return outcome;
}

static PackOutcome
solve_part (Exact *e, guint32 first, guint32 last)
{
  guint64 hash, *entry;
  PackOutcome outcome = PACK_NONE;
  Choice choice;

  e->work += last - first;
  if (++e->nodes > e->limit || e->work > e->most_work || e->depth >= e->most_depth || (e->nodes % 1024 == 0 && gantry_progress_cancelled (e->progress, NULL)))
    return PACK_LIMIT;
  hash = hash_state (e, first, last);
  entry = &e->table[hash >> (64 - e->table_bits)];
  if (*entry == hash)
    return PACK_NONE;
  e->depth++;
  choice = choose (e, first, last);
  if (!choice.empty)
    outcome = try_candidates (e, &choice, first, last);
  if (outcome == PACK_NONE)
    outcome = give_up_room (e, &choice, first, last);
  e->depth--;
  if (outcome == PACK_NONE)
    {
      e->failures[choice.section]++;
      *entry = hash;
    }
  return outcome;
}

PackOutcome
_gantry_exact_search (Exact *e)
{
  ExactMark mark = _gantry_exact_mark (e);
  PackOutcome outcome;

  e->nodes = 0;
  e->depth = 0;
  e->work = 0;
  outcome = solve_parts (e, 0, e->n_sections - 1);
  if (outcome != PACK_FOUND)
    _gantry_exact_undo (e, mark);
  return outcome;
}
