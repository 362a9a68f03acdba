/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the executor share: a loaded executable. Made by executor-load.c, run by
 * executor.c, told about by executor-observe.c and checked by executor-verify.c. */
#pragma once
#include "core/runtime/runtime.h"

#define PLACE_ALIGNMENT 64u

/** A place of an arena, named by the buffer that owns it. */
typedef struct
{
  guint32 owner;
  guint32 begin, end; /* steps; those of a program without steps are at n_steps */
  guint64 bytes;      /* whole place */
} Place;

/** Indices of places, grouped by step: items[first[s]] to items[first[s + 1]]. */
typedef struct
{
  guint32 *first; /* n_steps + 2 */
  guint32 *items;
} PlacesByStep;

struct _GantryExecutor
{
  GantryDevice *device;
  GantryExecutable *executable;
  guint8 *arenas[GANTRY_N_MEMORY_KINDS]; /* NULL where nothing is planned */
  gsize arena_bytes[GANTRY_N_MEMORY_KINDS];
  guint8 *constants; /* the constant region, then the packed weights */
  gsize constant_bytes;
  void **addresses;  /* by buffer */

  void **arguments;            /* of all launches, one list after the other */
  guint32 *first_argument;     /* by instruction */
  GantryCommand *commands[GANTRY_N_QUEUES];
  guint32 n_commands[GANTRY_N_QUEUES];
  guint32 n_events;
  guint32 *event_of;           /* by instruction: the event that happens after it, or G_MAXUINT32 */
  GantryStamp *stamps;         /* by instruction */

  guint32 n_places;
  Place *places;
  guint32 *place_of;           /* by buffer: index in places, or G_MAXUINT32 outside the arenas */
  PlacesByStep allocated, released;
  gint64 *step_begin, *step_end; /* n_steps + 1: of the last run; 0, 0: did not run */
  GantryVerifyFlags verify;
  guint64 peak_bytes;
};

/* executor-load.c */
gboolean _gantry_executor_check (const GantryExecutable *executable, GError **error);
gboolean _gantry_executor_allocate (GantryExecutor *executor, GError **error);
void _gantry_executor_index_places (GantryExecutor *executor);
void _gantry_executor_make_commands (GantryExecutor *executor);
gboolean _gantry_executor_initialise (GantryExecutor *executor, GCancellable *cancellable, GError **error);
/** The command for one instruction that is no WAIT. */
GantryCommand _gantry_executor_command (GantryExecutor *executor, guint32 instruction);

/* executor-observe.c */
void _gantry_executor_time_steps (GantryExecutor *executor);
/** Tells @observer (nullable) the run whose stamps stand in the executor, and counts the peak. */
void _gantry_executor_tell (GantryExecutor *executor, const GantryObserver *observer, gint64 begin, gint64 end);

/* executor-verify.c */
gboolean _gantry_executor_run_checked (GantryExecutor *executor, const GantryRunInput *inputs,
                                       GCancellable *cancellable, GError **error);

static inline guint64
whole_place (guint64 size)
{
  return (size + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
}

/** "'relu1' (6.0 MiB)" (transfer full) */
char *_gantry_executor_describe (const GantryExecutable *executable, guint32 buffer);
