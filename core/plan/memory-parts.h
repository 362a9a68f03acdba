/* SPDX-License-Identifier: Apache-2.0 */
/* The named parts that all bytes of one memory kind are made of. A limit, a peak, a curve, a percentage and a report all mean
 * the sum of these parts; none of them leaves a part out. The same parts name what a plan predicts and what a run measures,
 * so that the two can be laid side by side. */
#pragma once
#include "core/base/base.h"

G_BEGIN_DECLS

/** The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_PART_ARGUMENTS,      /* the entry's parameters and results; donated places count once */
  GANTRY_PART_CONSTANTS,      /* literals, and values computed from them once at load */
  GANTRY_PART_PACKED_WEIGHTS, /* constants once more, in the layout that a library's kernel reads */
  GANTRY_PART_TEMPORARIES,    /* values between the steps of one run */
  GANTRY_PART_WORKSPACES,     /* scratch of a single step, a library's own included */
  GANTRY_PART_CODE,           /* generated code; on a GPU its modules: the driver's context is in no plan yet */
  GANTRY_N_MEMORY_PARTS
} GantryMemoryPart;

/** Bytes by part, of one memory kind, at one moment. */
typedef struct
{
  guint64 bytes[GANTRY_N_MEMORY_PARTS];
} GantryMemoryParts;

/** The part's name for people and for files: "arguments", "constants", "packed weights", ... Returns: (transfer none) */
const char *gantry_memory_part_name (GantryMemoryPart part);

/** Returns: the sum of all parts, bytes; G_MAXUINT64 where it would overflow */
guint64 gantry_memory_parts_total (const GantryMemoryParts *parts);
/** Parts that only kernels know: counted as 0 until they are made (GantryPlan.sizes_known). */
#define GANTRY_MEMORY_PARTS_OF_KERNELS "workspaces, packed weights and code"
/**
 * The sum of all parts at the peak wherever it is shown: "16.7 MiB", or "at least 16.7 MiB" while what kernels need is not known. @limit:
 * that it keeps to or not, 0: none (gantry_format_bytes_within()).
 * Returns: (transfer full)
 */
char *gantry_memory_peak_text (guint64 bytes, guint64 limit, gboolean sizes_known);
/** The same beside a peak that was measured, so that whichever is the larger reads so (gantry_format_bytes_apart()). @planned_text,
 *  @measured_text: (out) (transfer full) */
void gantry_memory_peak_texts (guint64 planned, gboolean sizes_known, guint64 measured, guint64 limit, char **planned_text, char **measured_text);
/** "arguments 1.2 MiB, constants 340.0 KiB, temporaries 4.1 MiB": those that are not 0. Returns: (transfer full) */
char *gantry_memory_parts_text (const GantryMemoryParts *parts);

G_END_DECLS
