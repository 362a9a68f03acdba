/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the kernels of a module one after the other, each operand and result in memory of its own that
 * ends (or begins) at a page that may not be touched, at any alignment, in tasks cut at random; and
 * compares every result with what the evaluator makes of the same operands. */
#pragma once
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"

/** How a node may differ from the evaluator: |a - b| <= absolute + relative * |b|, per element type. */
typedef struct
{
  double relative; /* of f32; 0: 1e-6. f16 and bf16 add one unit in the last place */
  double absolute; /* 0: 1e-37 */
  /** (nullable): whether rounding decides this element, so that a difference says nothing. Asked about floats that differ. */
  gboolean (*undecided) (GantryLiteral *const *arguments, guint member, gint64 element, gpointer data);
  gpointer data;
  gboolean special; /* arguments with NaN, infinities, zeros, denormals */
} KernelTolerance;

/** A random literal: small numbers, and special ones when asked for. Integers of all sizes, bools 0 and 1. */
GantryLiteral *kernel_test_literal (GRand *rand, const GantryType *type, gboolean special);
/** Compiles and runs @module with @arguments (or random ones when NULL) and fails the test on any difference. */
void
kernel_test_module (GantryModule *module, GantryLiteral *const *arguments, const GantryKernelOptions *options, const KernelTolerance *tolerance, GRand *rand);
/** The same, but only the results of the whole are compared: values between kernels may lie in any layout. */
void kernel_test_whole (GantryModule *module, const GantryKernelOptions *options, const KernelTolerance *tolerance, GRand *rand);
/** One node: @operands "f32[2,3] i64[]", @attributes as in tests/core/graph/graph-test.h. */
void kernel_test_op (GantryOp op, const char *operands, const char *attributes, const KernelTolerance *tolerance, GRand *rand);
