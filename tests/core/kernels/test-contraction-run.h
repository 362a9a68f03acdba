/* SPDX-License-Identifier: Apache-2.0 */
/* Binds the work of one node by a scheduler, runs the bound program on the CPU and compares with the evaluator. */
#pragma once
#include "core/graph/graph.h"
#include "core/kernels/schedule/bind.h"
#include "core/plan/executable.h"

typedef struct
{
  GantryModule *module;
  const GantryNode *node;
  GPtrArray *texprs; /* of its results; none where the kernel is written by hand */
  guint n_results;
  guint block; /* channels in a block of the results; 0: plain */
  GantryKernelSource source;
} ContractionCase;

/** @operands: "f32[2,3] f32[3]", @attributes as in tests/core/graph/graph-test.h. */
ContractionCase *contraction_case_op (GantryOp op, const char *operands, const char *attributes);
/** The fusion in a module in text form. */
ContractionCase *contraction_case_text (const char *text);
/** The first operand and the results lie in blocks of so many channels. @block: 0: they are plain */
void contraction_case_block (ContractionCase *c, guint block);
void contraction_case_free (ContractionCase *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ContractionCase, contraction_case_free)

void contraction_gpu (GantryGpu *gpu, guint capability);
const GantryType *contraction_result_type (const ContractionCase *c, guint i);
/** Memory for a buffer: aligned for vectors, its bytes no numbers; for g_aligned_free(). */
gpointer contraction_aligned (gsize size);
/** Numbers from -1 to 1, or integers from -100 to 99. (transfer full) */
GantryLiteral *contraction_random_operand (GRand *rand, const GantryType *type);
/** @scheduler: (nullable): NULL: the kernel is written by hand. Returns: (nullable): NULL where the scheduler says that it is not of its kind; what it
 * made has passed the check. */
GantryBound *contraction_bind (const ContractionCase *c, GantryScheduler scheduler, const GantryGpu *gpu);
/** Runs and compares; @depth: how many products are summed. */
void contraction_check (const ContractionCase *c, const GantryBound *bound, GRand *rand, gint64 depth);
/** To machine code: FALSE where there is no assembler. */
gboolean contraction_assemble (const ContractionCase *c, const GantryBound *bound, const GantryGpu *gpu, GantryGpuImage *image);
/** What nvdisasm says of the code (GANTRY_NVDISASM, the toolkit's or that of the path). Returns: (transfer full) (nullable): NULL where
 *  it is not installed */
char *contraction_disassemble (const GantryGpuImage *image);
/** The same for products of which each may be off by @rounding. */
void contraction_check_rounded (const ContractionCase *c, const GantryBound *bound, GRand *rand, gint64 depth, double rounding);
