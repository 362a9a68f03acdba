/* SPDX-License-Identifier: Apache-2.0 */
/* The small programs whose times tell the rates of a machine, and what they are run from. */
#pragma once
#include "app/cli/program.h"
#include "core/planner/target.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_PROBE_COPY,     /* every element negated: one array is read, one written */
  GANTRY_PROBE_PRODUCT,  /* of two square matrices */
  GANTRY_PROBE_VECTOR,   /* multiplications and additions on each element; rows are summed */
  GANTRY_PROBE_SPECIAL,  /* exponentials, logistics and hyperbolic tangents of each element; likewise */
  GANTRY_PROBE_LAUNCHES, /* small products, each of the result of the one before: what a kernel costs that has nothing to do */
} GantryProbeKind;

/** @size: elements of the array (whole rows of 512 where they are summed), rows of a matrix, how many launches */
typedef struct
{
  GantryProbeKind kind;
  GantryElementType element;
  gint64 size;
} GantryProbe;

/** Operations on each element that a probe of that kind counts as its own; 0 where it has none. */
guint gantry_probe_operations (GantryProbeKind kind);
/** Its program. Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_UNSUPPORTED for an element type that is not compiled */
GantryModule *gantry_probe_module (const GantryProbe *probe, GError **error);
/** Compiles it as programs are, but leaves loops loops. (transfer full) (nullable) */
GantryProgram *
gantry_probe_build (GantryModule *module, const GantryProgramOptions *how, const GantryTarget *target, const GantryProgress *progress, GError **error);
/** For people: "a product of two bf16 matrices 8192 x 8192" (transfer full) */
char *gantry_probe_text (const GantryProbe *probe);

/** What a program is run from: arrays of the host. */
typedef struct
{
  guint n;
  GantryRunInput *inputs;
} GantryProbeInputs;

/** Numbers from 0 to 1 (of integers from 0 to 7) for each parameter of @module, some ten thousand of them over and over. */
void gantry_probe_inputs_init (GantryProbeInputs *inputs, const GantryModule *module);
void gantry_probe_inputs_clear (GantryProbeInputs *inputs);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantryProbeInputs, gantry_probe_inputs_clear)

G_END_DECLS
