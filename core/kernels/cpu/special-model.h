/* SPDX-License-Identifier: Apache-2.0 */
/* A model of a GPU's unit for special functions: what code for the device `grid` calls where that for a GPU has an instruction.
 * It does not have the unit's bits, which NVIDIA does not publish, but results that round correctly; for tests, results that are off
 * by what the PTX ISA allows. Subnormal numbers are 0 where the instruction takes them so. */
#pragma once
#include "core/kernels/cpu/grid-run.h"

G_BEGIN_DECLS

/** The functions by the names that generated code calls them by. */
const GantryGridSymbol *gantry_special_symbols (guint *n);
/** @part: of what is allowed, 0 (as the process begins) to 1: by how much all results are off from now on, up or down by the
 *  argument's bits. What is 0, 1, infinite or no number stays. */
void gantry_special_set_error (double part);

G_END_DECLS
