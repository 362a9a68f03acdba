/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: literals from text. */
#pragma once
#include "core/frontends/xla/scan-private.h"
#include "core/graph/builder.h"
#include "core/graph/context.h"

G_BEGIN_DECLS

/**
 * gantry_xla_literal:
 * @content: numbers in nested brackets or braces, one number that stands for all, or hexadecimal bytes in quotes
 * @type: id of a static tensor type
 *
 * Returns: a literal id; 0 and no failure where Gantry holds no values of that element type; 0 and a failure where the
 * content does not fit the type
 */
guint32 gantry_xla_literal (GantryXlaScan *s, GantryContext *context, GantryXlaSpan content, guint32 type);

/** The same of the bytes of all elements, or of one that stands for all; bools may lie eight in a byte. */
guint32 gantry_xla_literal_bytes (GantryXlaScan *s, GantryContext *context, const guint8 *bytes, gsize length, guint32 type);

/** @result: index of the result that is written over @parameter, -1 for any of its type */
typedef struct
{
  guint32 parameter;
  gint64 result;
} XlaDonation;

/** Gives the entry's parameters the attribute `alias`. @donations: XlaDonation, in the order of the text; of two for one
 * result the first holds, and one whose result is of another size or memory is left out */
void gantry_xla_donate (GantryBuilder *b, const GArray *donations, const guint32 *results, guint n_results);

/** The last part of "jit(f)/layer.1/add": behind the last '/' outside of brackets. */
const char *gantry_xla_last_part (const char *name);
/** The scope of an operation of that name: all but the last part. A call is named after what transforms what it calls,
 * "jit(step)/jvp(jit(norm))", and that is a scope as a whole. Returns: a scope id, 0 for none */
guint32 gantry_xla_scope_of (GantryContext *context, const char *name);
/** Gives nodes the phases that their scopes tell, or what is computed from what, before the module is finished. @entry: its function */
void gantry_xla_mark_phases (GantryBuilder *b, guint32 entry);
/** The same where nothing is named. */
void gantry_xla_mark_phases_by_structure (GantryBuilder *b, guint32 entry);

/** Whether a rule knows the operation "stablehlo.add". */
gboolean gantry_xla_knows_operation (const char *name);

G_END_DECLS
