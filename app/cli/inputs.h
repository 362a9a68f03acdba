/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a run reads and those it is compared with. */
#pragma once
#include "app/cli/cli.h"

G_BEGIN_DECLS

/** Where the value of a parameter comes from. */
typedef struct
{
  const GantryType *type;
  const char *name;
  char *text;             /* how it is made up: "random:0" */
  GantryLiteral *literal; /* (nullable): instead: the value as it lies in a file, or that of the attribute `initial` */
} GantryInputSource;

/**
 * gantry_inputs_find:
 * @given: (nullable): NULL-terminated "name=VALUE" or "VALUE" for the next input; VALUE is a file (.pb, a TensorProto;
 *  .npy; anything else raw bytes), or "random[:SEED]", "hash:SEED" (the numbers of core/base/random.h for the
 *  input's name; of integers and bools 0 or 1), "value:NUMBER", "arange" (i / n), "zeros", "ones"
 *
 * @read: gets the files
 *
 * Inputs that are not given are what their attribute `initial` says (parameters and state of a training step), else
 * "random:0".
 *
 * Returns: (transfer full) (nullable) (element-type GantryInputSource): one for each parameter; types are static
 */
GArray *gantry_inputs_find (GantryModule *module, char **given, GantryReadFiles *read, GError **error);
/** Writes the value into gantry_type_bytes() bytes: the same ones each time. */
void gantry_input_source_write (const GantryInputSource *source, guint8 *to);

/** Reads a value of @type (nullable: as the file says) from a file, as above. */
GantryLiteral *gantry_input_read (GantryContext *context, const char *path, const GantryType *type, GError **error);

typedef struct
{
  gboolean equal; /* same type and shape, every |a - b| <= absolute + relative |b|, NaN equals NaN */
  double worst_absolute;
  double worst_relative; /* |a - b| / max |b|: against the largest value expected */
  gint64 worst_index;
  char *why; /* (nullable): in words */
} GantryComparison;

/**
 * gantry_compare:
 * @relative: @absolute: how far values may lie apart, see GantryComparison
 * @comparison: (out caller-allocates): g_free() its `why`
 *
 * Compares element by element: floats in double, all others exactly.
 */
void gantry_compare (const GantryLiteral *got, const GantryLiteral *expected, double relative, double absolute, GantryComparison *comparison);

G_END_DECLS
