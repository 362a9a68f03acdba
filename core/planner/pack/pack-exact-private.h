/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the exact packing share: the state of a search (pack-exact-state.c changes and takes back,
 * pack-exact-search.c decides, pack-exact.c sets up and tries again in another way).
 *
 * Time is cut into sections: maximal sets of items that are alive together. Sizes and offsets are counted in units,
 * the greatest common divisor of the sizes. Whatever is still to be placed on a section lies at its level or above. */
#pragma once
#include "core/planner/pack/pack-private.h"

/** Higher than anything: beyond the rim of a part, or nothing found. */
#define EXACT_WALL G_MAXINT32
#define EXACT_NO_ITEM G_MAXUINT32

/** Which section is decided next; a forced one always is, but for the first. */
typedef enum
{
  EXACT_BY_OPTIONS,         /* fewest options, then least slack, then lowest */
  EXACT_BY_FAILURES,        /* fewest options for each failure that it had */
  EXACT_BY_LEVEL,           /* lowest, then fewest options */
  EXACT_BY_SLACK,           /* least slack, then fewest options */
  EXACT_BY_HARDNESS,        /* most failures, then least slack, then fewest options */
  EXACT_BY_FORCED_FAILURES, /* fewest options for each failure, then least slack */
} ExactRule;

typedef struct
{
  guint32 where; /* index into `state` */
  gint32 value;
} ExactUndo;

typedef struct
{
  /* The problem. */
  guint32 n, n_sections, n_words;
  guint64 unit;
  gint32 capacity;
  guint32 *first, *last; /* of an item: its sections, inclusive */
  gint32 *size;
  guint32 *same;      /* of an item: one before it with the same size and sections, or EXACT_NO_ITEM */
  guint8 *has_larger; /* of an item: another with the same sections is larger */
  gint32 *pressure;   /* of an item: the largest load among its sections */
  guint32 *rank;      /* of an item: the place in which it is tried */
  guint32 *starting;  /* of a section: where its items begin in by_first; one more at the end */
  guint16 *by_first;  /* items in the order of their first sections */

  /* What changes. The first four are of sections, `low` is of items; all lie in `state`, for the undo log. */
  gint32 *state;
  gint32 *level;
  gint32 *top;   /* of what is placed: below the level where room is given up */
  gint32 *total; /* sizes still to be placed */
  gint32 *under; /* the item placed last, or -1 */
  gint32 *low;   /* the lowest offset that is left: the highest level among its sections */
  gint32 *offset;
  guint8 *placed;
  guint32 *count;      /* of a section: items still to be placed, which stand first in its list */
  guint32 *crossing;   /* of a section: those that are also alive in the one before */
  guint32 *list_begin; /* of a section */
  guint16 *list;
  guint32 *slot_begin; /* of an item: where it stands in the list of each of its sections */
  guint32 *slot;
  guint16 *stack; /* items in the order in which they were placed */
  guint32 n_stack;
  ExactUndo *log;
  guint32 n_log, log_room;

  /* Scratch. */
  guint64 *dirty, *touched; /* sections, a bit each */
  guint16 *raised;          /* sections whose level went above what is placed there */
  guint32 n_raised, raised_room;
  gint32 *cover;
  guint16 *pool; /* the candidates of all open decisions */
  guint32 n_pool, pool_room;

  /* What is learned: how often a section was where it failed, and states from which nothing was found. */
  guint32 *failures;
  guint64 *table;
  guint table_bits;

  ExactRule rule;
  guint32 depth, most_depth;
  guint64 nodes, limit;
  guint64 work, most_work; /* list entries looked at: a node may cost more than another */
  const GantryProgress *progress;
} Exact;

/** The items that are placed and the values that were, to go back to. */
typedef struct
{
  guint32 n_log, n_stack;
} ExactMark;

static inline ExactMark
_gantry_exact_mark (const Exact *e)
{
  return (ExactMark){ e->n_log, e->n_stack };
}

void _gantry_exact_undo (Exact *e, ExactMark mark);
/** Puts an item down at a level that all its sections have. Returns: FALSE where the rest cannot fit any more */
gboolean _gantry_exact_place (Exact *e, guint32 item, gint32 level);
/** Gives up the room below @level on these sections. Returns: FALSE where the rest cannot fit any more, or need not */
gboolean _gantry_exact_raise (Exact *e, guint32 first, guint32 last, gint32 level);
/** Looks for a packing of all items within e->capacity, at most e->limit nodes long. */
PackOutcome _gantry_exact_search (Exact *e);
