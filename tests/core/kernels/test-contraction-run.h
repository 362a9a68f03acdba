/* SPDX-License-Identifier: Apache-2.0 */
/* Binds the work of one node by a scheduler, runs the bound program on the CPU and compares with the evaluator. */
#pragma once
#include "core/ir/ir.h"
#include "core/kernels/bind-private.h"

typedef struct
{
  GantryModule *module;
  const GantryNode *node;
  GPtrArray *texprs;   /* of its results */
  GantryKernelSource source;
} ContractionCase;

/** @operands: "f32[2,3] f32[3]", @attributes as in tests/core/ir/ir-test.h. */
ContractionCase *contraction_case_op (GantryOp op, const char *operands, const char *attributes);
/** The fusion in a module in text form. */
ContractionCase *contraction_case_text (const char *text);
void contraction_case_free (ContractionCase *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ContractionCase, contraction_case_free)

void contraction_gpu (GantryGpu *gpu, guint capability);
/** Returns: (nullable): NULL where the scheduler says that it is not of its kind; what it made has passed the check. */
GantryBound *contraction_bind (const ContractionCase *c, GantryScheduler scheduler, const GantryGpu *gpu);
/** Runs and compares; @depth: how many products are summed. */
void contraction_check (const ContractionCase *c, const GantryBound *bound, GRand *rand, gint64 depth);
/** To machine code: FALSE where there is no assembler. */
gboolean contraction_assemble (const ContractionCase *c, const GantryBound *bound, const GantryGpu *gpu, GantryGpuImage *image);
/** The same for products of which each may be off by @rounding. */
void contraction_check_rounded (const ContractionCase *c, const GantryBound *bound, GRand *rand, gint64 depth, double rounding);
/** How many words the busiest bank of shared memory gives one after the other in any phase of the statements of that kind, by
 *  their index expressions: 1 is without conflict, 0: there are no such statements. */
guint contraction_bank_conflicts (const GantryGrid *grid, GantryGridKind kind);
