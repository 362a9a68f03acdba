/* SPDX-License-Identifier: Apache-2.0 */
/* What a measured run shares: the pages of the arenas (measure-pages.c), memory outside of them (measure-outside.c), and the run
 * that asks both after each instruction (executor-measure.c). */
#pragma once
#include "core/base/process-memory.h"
#include "core/plan/plan-alive.h"
#include "core/runtime/executor-private.h"

/** The pages of an arena and of the guards around it. */
typedef struct
{
  guint8 *memory;                    /* of the first page: of the guard in front */
  gsize n, n_front;                  /* pages: all, and before the arena begins */
  guint32 *alive;                    /* by page: how many places lie on it now */
  guint8 *part;                      /* by page: GantryMemoryPart of the one that came last */
  guint8 *there;                     /* by page: it was there at the last look */
  guint8 *now;                       /* by page: room for what mincore() says */
  gsize n_there;                     /* pages that are, of those: */
  gsize held[GANTRY_N_MEMORY_PARTS]; /* where something is alive, by part */
  gsize outside;                     /* where nothing is */
} Zone;

typedef struct
{
  GantryExecutor *executor;
  GantryMemoryMeasure *measure;
  Zone zones[GANTRY_N_MEMORY_KINDS];
  gsize page;
  guint8 *alive;       /* by place */
  guint8 *is_argument; /* by buffer */
  GArray *spans;       /* GantryPlanSpan: which value a place holds when, by the step at which it begins */
  guint next_span;
  guint32 next; /* first step whose places are not yet allocated */
  guint64 lent; /* bytes of the caller's memory that are touched, of the device's kind */
  guint64 lent_host;
  guint64 steady;       /* ... of constants, packed weights and code */
  guint64 constants;    /* of that: constants, as far as they have been read */
  guint64 code;         /* ... and code, which a library may make when it first runs */
  gboolean peaks;       /* the process's peak can be reset */
  gint64 library_bytes; /* kept by kernels of a library */
  GantryPageFacts facts;
  guint32 n_calls, calls_between; /* of the library so far; and between two looks at its code */
  GArray *ranges;                 /* of measure-outside.c, by address */
  guint64 interval;               /* pages: all are looked at once so many were not */
  guint64 unlooked;               /* pages since */
  const char *missing;            /* (nullable): what the system does not tell, so that nothing is measured */
} Measuring;

/* measure-pages.c */
/** Begins to count the pages of the arena in memory @kind; nothing where the executor has none there. */
void _gantry_measure_zone_init (Measuring *m, GantryMemoryKind kind);
void _gantry_measure_zone_clear (Measuring *m, GantryMemoryKind kind);
/** From now on @place is alive: its pages may be there. */
void _gantry_measure_enter (Measuring *m, guint32 place);
/** @place is dead: pages that no other place lies on are given back. */
void _gantry_measure_leave (Measuring *m, guint32 place);
/** The place of @span holds another value from now on. */
void _gantry_measure_name_part (Measuring *m, const GantryPlanSpan *span);
/** Gives back the pages from @first to @end that nothing lies on. */
void _gantry_measure_drop_dead (Measuring *m, Zone *zone, gsize first, gsize end);
/** Looks at all pages of the arenas. Returns: how many are there; m->missing says when the system does not tell */
gsize _gantry_measure_look (Measuring *m);
/** Looks at the pages that @instruction should have touched, and at all of them as often as the run can afford: what was touched
 *  elsewhere is seen by the next of those at the latest. Returns: how many pages are there */
gsize _gantry_measure_look_after (Measuring *m, guint32 instruction);
/** Returns: how many pages were there when they were last looked at */
gsize _gantry_measure_pages (const Measuring *m);
/** Finds out how often that is, once the zones are there. */
void _gantry_measure_plan_looks (Measuring *m);

/* measure-outside.c */
/** Bytes of all of the device's memory that is touched outside of the arenas: lent by the caller, constants, packed weights. */
GantryMemoryParts _gantry_measure_outside (const GantryExecutor *executor, GantryPageFacts *facts);
/** Bytes of the host's memory kind that the caller has lent and that are touched. */
guint64 _gantry_measure_lent_host (const GantryExecutor *executor, GantryPageFacts *facts);
/** Lists what comes into memory as it is used: what is lent, and constants that lie where they are mapped; what is there of it now counts as
 *  seen. */
void _gantry_measure_list_ranges (Measuring *m);
/** After @instruction ran: bytes of what it uses outside of the arenas that were not seen before. The system maps pages of a file
 *  ahead, so that they may have come with an instruction before. */
GantryMemoryParts _gantry_measure_used (Measuring *m, const GantryInstruction *instruction);
/** How much of what is touched is no more than that memory comes in pages, at most: of all places of the device that are
 *  there by themselves; in bytes. */
guint64 _gantry_measure_rounding (const GantryExecutor *executor, gsize page);
