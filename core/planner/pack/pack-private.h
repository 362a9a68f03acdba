/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the packing share: items made uniform (sizes rounded, times compressed), and the
 * three ways to place them: the skyline, linear in practice, the search over orders, and the exact search. */
#pragma once
#include "core/planner/pack/pack.h"

typedef struct
{
  guint32 begin, end; /* inclusive; indices of the times at which something begins */
  guint64 size;       /* rounded up to the alignment, > 0 */
  guint64 offset;
} PackItem;

/** One packing problem: items sorted by begin, then by falling end, then by falling size. */
typedef struct
{
  guint32 n;
  guint32 n_times;
  PackItem *items;
  guint32 *origin; /* index of each item in what the caller gave */
  guint64 lower_bound;
  guint64 target; /* good enough */
  guint64 *live;  /* per time */
} PackProblem;

/** Which of the unplaced items that fit on the lowest segment of the skyline comes next. */
typedef enum
{
  PACK_PRESSURE, /* the largest load during its life, then the longest */
  PACK_LONGEST,
  PACK_LARGEST,
  PACK_AREA,
  PACK_N_RULES
} PackRule;

/** Writes the items' offsets. Returns: the height */
guint64 _gantry_pack_skyline (PackProblem *problem, PackRule rule);

/** The same by a pool that is asked in the order of time. */
guint64 _gantry_pack_pool (PackProblem *problem);
/** The same by best fit, largest first; a skyline where it is cancelled. */
guint64 _gantry_pack_best_fit (PackProblem *problem, const GantryProgress *progress);

/** Improves on the offsets of the items, which are a valid packing of height @height; @work: how long, where there are
 * no @rounds, in neighbours looked at. Returns: the height reached */
guint64 _gantry_pack_search (PackProblem *problem, guint64 height, guint rounds, guint64 work, const GantryProgress *progress);

/** Puts what stands above @ceiling below it. @work: (inout): how much may be done; what is left. Returns: FALSE where
 * that did not suffice, and the offsets are of no use */
gboolean _gantry_pack_repair (PackProblem *problem, guint64 ceiling, guint64 *work, const GantryProgress *progress);

/** Either end of what an item takes of the arena. */
typedef enum
{
  PACK_BOTTOM,
  PACK_TOP,
} PackEdge;

/** Who is alive together with whom, see pack-windows.c. */
typedef struct _PackWindows PackWindows;

/** The items that end at @ceiling or below are in it. */
PackWindows *_gantry_pack_windows_new (const PackProblem *problem, guint64 ceiling);
void _gantry_pack_windows_free (PackWindows *windows);
/** Items in the order of an edge: all those in it that are alive together with @item, and others. */
const guint32 *_gantry_pack_windows_list (const PackWindows *windows, guint32 item, PackEdge edge, guint32 *length);
/** An item must have the same offset when it is taken out as when it was put in. Returns: what it cost, in entries */
guint64 _gantry_pack_windows_insert (PackWindows *windows, guint32 item);
guint64 _gantry_pack_windows_remove (PackWindows *windows, guint32 item);

typedef enum
{
  PACK_NONE, /* proved: there is no packing within the capacity */
  PACK_FOUND,
  PACK_LIMIT, /* not known: out of nodes, or cancelled */
} PackOutcome;

typedef struct _PackExact PackExact;

/** Returns: (nullable): NULL where the problem is too large */
PackExact *_gantry_pack_exact_new (const PackProblem *problem);
void _gantry_pack_exact_free (PackExact *exact);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PackExact, _gantry_pack_exact_free)
/** What every height is a multiple of. */
guint64 _gantry_pack_exact_unit (const PackExact *exact);
/** Looks for a packing within @capacity; offsets and @height are written when there is one. @nodes, @work: (inout): how
 * much may be searched, in decisions and in list entries; what is left */
PackOutcome _gantry_pack_exact_run (PackExact *exact, PackProblem *problem, guint64 capacity, guint64 *nodes, guint64 *work, guint64 *height,
                                    const GantryProgress *progress);
