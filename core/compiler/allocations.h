/* SPDX-License-Identifier: Apache-2.0 */
/* The orders and the allocators that a program can be planned with, side by side. */
#pragma once
#include "core/compiler/planning.h"

G_BEGIN_DECLS

/** What one order and one allocator give, with the placements of the compilation and without a limit. */
typedef struct
{
  guint8 order;        /* GantryOrderPolicy */
  guint8 allocator;    /* GantryAllocator */
  guint8 is_chosen;    /* it is what the settings say */
  guint64 peak_bytes;  /* of device memory, all parts */
  guint64 least_bytes; /* no packing of this order takes less: what is alive at the peak */
  double step_us;      /* predicted */
} GantryAllocation;

/**
 * gantry_compilation_compare_allocations:
 *
 * A plan for each order and allocator: by order, then by allocator. As many plans as there are rows.
 *
 * Returns: (transfer full) (nullable) (element-type GantryAllocation): NULL where the program cannot be planned, or it was cancelled
 */
GArray *gantry_compilation_compare_allocations (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryProgress *progress,
                                                GError **error);

G_END_DECLS
