/* SPDX-License-Identifier: Apache-2.0 */
/* Residuals in fewer bits: what is stored for one that is placed so, and which values can be. The forward phase reads the exact
 * value; what is stored is converted back for who reads it later. So results are approximate, and say so. Values of which more
 * than digits would be lost are not stored so: core/planner/rounding/rounding.h.
 *
 * GANTRY_PLACEMENT_BF16: each element rounded to the nearest bf16, ties to even: at most 2^-8 of it is lost.
 * GANTRY_PLACEMENT_INT8: blocks of 64 elements as they lie in memory, each with a scale of its own (block-wise absmax, as in Dettmers et
 * al., "8-bit Optimizers via Block-wise Quantization", 2021, here linear): a record of 68 bytes has the scale (f32, the largest
 * absolute value / 127) and 64 signed bytes, element / scale rounded to nearest, ties to even. At most the largest absolute value of
 * the block / 254 is lost. A block with an infinity or a NaN becomes NaN; one whose largest value is below 1e-30 becomes 0. */
#pragma once
#include "core/plan/plan.h"

G_BEGIN_DECLS

#define GANTRY_COMPRESSED_BLOCK 64
#define GANTRY_COMPRESSED_RECORD 68u
/** Blocks whose largest absolute value is below it are zeros. */
#define GANTRY_COMPRESSED_LEAST 1e-30f

/** One conversion that a plan needs, to and fro. */
typedef struct
{
  guint8 kind;     /* GantryPlacementKind: BF16 or INT8 */
  guint8 element;  /* GantryElementType of the value */
  gint64 elements; /* how many */
} GantryCompression;

/** Results of a run depend on a placement of this kind. */
gboolean gantry_placement_is_approximate (GantryPlacementKind kind);
/** Why a value of @type cannot be stored as @kind says. Returns: (nullable) (transfer none): it can */
const char *gantry_compression_why_not (GantryPlacementKind kind, const GantryType *type);
/** Bytes that a value of @elements takes, stored as @kind says. */
guint64 gantry_compressed_bytes (GantryPlacementKind kind, gint64 elements);
/** Arithmetic of a conversion in either direction, for the cost model. */
gint64 gantry_compression_flops (GantryPlacementKind kind, gint64 elements);

/** The conversions that @placements ask for, each once; they may be more than those that a plan makes.
 *  Returns: (transfer full) (element-type GantryCompression) */
GArray *gantry_placements_compressions (const GantryPlacements *placements, const GantryModule *module);
/** Some value is stored in fewer bits: results are approximate. */
gboolean gantry_placements_are_approximate (const GantryPlacements *placements);

/** The conversion of @step. Returns: FALSE: it is none. @back: (out): from fewer bits */
gboolean
gantry_plan_step_compression (const GantryPlan *plan, const GantryPlanStep *step, const GantryModule *module, GantryCompression *compression, gboolean *back);
/** Of a plan: what is stored in fewer bits. */
typedef struct
{
  guint values;         /* stored so */
  guint64 exact_bytes;  /* that they have */
  guint64 stored_bytes; /* that are stored */
  double convert_us;    /* of total_us: conversions */
} GantryCompressionSums;
/** @sums: (out caller-allocates): 0 where the plan is exact. Linear in the steps */
void gantry_plan_sum_compression (const GantryPlan *plan, GantryCompressionSums *sums);
/** "approximate: 12 residuals are stored in fewer bits (4.0 MiB instead of 16.0 MiB)". Returns: (transfer full) (nullable): NULL: the plan
 *  is exact */
char *gantry_plan_approximate_text (const GantryPlan *plan);

G_END_DECLS
