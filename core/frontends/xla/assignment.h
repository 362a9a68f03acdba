/* SPDX-License-Identifier: Apache-2.0 */
/* What XLA's buffer assignment says of the module that it ended with (*-buffer-assignment.txt, xla/service/buffer_assignment.cc), and
 * when its values are alive (*-live-range.txt, xla/hlo/utils/hlo_live_range.cc): XLA's plan of memory, which nobody has measured. */
#pragma once
#include "core/base/base.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_XLA_ALLOCATION_ARGUMENT, /* of a parameter, also where a result is written over it */
  GANTRY_XLA_ALLOCATION_OUTPUT,   /* "maybe-live-out" */
  GANTRY_XLA_ALLOCATION_CONSTANT,
  GANTRY_XLA_ALLOCATION_TEMPORARY,
  GANTRY_XLA_ALLOCATION_THREAD_LOCAL, /* in the bodies of reductions and the like: no time is known */
  GANTRY_XLA_ALLOCATION_HOST,         /* of any kind, in the memory space of the host */
  GANTRY_XLA_N_ALLOCATIONS
} GantryXlaAllocationKind;

const char *gantry_xla_allocation_kind_name (GantryXlaAllocationKind kind); /* "temporary" */

/** The memory space of the host: xla/layout.h */
#define GANTRY_XLA_HOST_COLOR 5u

/** @color: the memory space */
typedef struct
{
  guint number;
  guint64 size;
  GantryXlaAllocationKind kind;
  guint color;
  guint first_value, n_values;
} GantryXlaAllocation;

/** A value in its allocation. @begin, @end: steps, inclusive; @timed: they are known */
typedef struct
{
  char *name; /* "while.12{2}": instruction and place in its tuple; "dot{}" */
  guint64 size, offset;
  guint32 begin, end;
  gboolean timed;
} GantryXlaValue;

/**
 * GantryXlaAssignment:
 *
 * @total_bytes: of all allocations but the host's, which are there all the time
 * @bytes: of all by kind
 * @steps: (element-type utf8): the instructions in the order in which they run, nested computations where they are called; empty where
 *  no live ranges were read
 * @live_bytes: (nullable): by step, the bytes of the values that are alive on the device, with arguments and constants all the time. Values in
 *  one place count once; what lies over each other in part counts each time, up to the size of the allocation.
 * @peak_step: where that is largest
 */
typedef struct
{
  guint64 total_bytes;
  guint64 bytes[GANTRY_XLA_N_ALLOCATIONS];
  GArray *allocations; /* GantryXlaAllocation */
  GArray *values;      /* GantryXlaValue, allocation by allocation */
  GPtrArray *steps;
  guint64 *live_bytes;
  guint peak_step;
} GantryXlaAssignment;

void gantry_xla_assignment_free (GantryXlaAssignment *assignment);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryXlaAssignment, gantry_xla_assignment_free)

/**
 * gantry_xla_assignment_parse:
 * @text: @length bytes, at most 1 GiB; no NUL is needed
 * @name: stands for the file in messages
 *
 * At most 4 million values. Lines that are none of an allocation or a value are passed over.
 *
 * Returns: (transfer full) (nullable): NULL with file and line where it contradicts itself: a value outside of its allocation, sizes that
 *  together are more than 2^63, or no allocation at all
 */
GantryXlaAssignment *gantry_xla_assignment_parse (const char *text, gsize length, const char *name, GError **error);

/** Reads the live ranges of its values, and makes the curve. FALSE: as gantry_xla_assignment_parse(), and nothing is changed. */
gboolean gantry_xla_assignment_read_live_ranges (GantryXlaAssignment *assignment, const char *text, gsize length, const char *name, GError **error);

G_END_DECLS
