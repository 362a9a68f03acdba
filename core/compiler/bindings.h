/* SPDX-License-Identifier: Apache-2.0 */
/* What the user gives a model before it is read: sizes of its symbolic dimensions, values of its inputs. */
#pragma once
#include "core/graph/input-values.h"

G_BEGIN_DECLS

/**
 * GantryDimBinding: "--dim batch=8".
 *
 * @name: of the dimension as the model has it, or "input:axis" for one without a name
 */
typedef struct
{
  const char *name;
  gint64 size;
} GantryDimBinding;

/**
 * GantryBindings: reference counted; not changed any more once two own it. Both lists are in order of the names.
 *
 * @outside: the user allows what the model reads outside its folder. It is in no file, for files come from strangers, and two
 *  bindings that differ in it alone are equal.
 * @read: the files that values of inputs were read from: likewise
 */
typedef struct
{
  gatomicrefcount ref_count;
  char *entry;   /* (nullable): which graph of a program that makes several */
  char *program; /* (nullable): the SHA-256 of the program that may run; like @outside in no file */
  guint n_dims, n_inputs;
  GantryDimBinding *dims;
  GantryInputValue *inputs;
  gboolean outside;
  GantryReadFiles *read;
} GantryBindings;

/** Returns: (transfer full): nothing is bound */
GantryBindings *gantry_bindings_new (void);
/** @bindings: (nullable): none. Returns: (transfer full): a copy, to be changed */
GantryBindings *gantry_bindings_copy (const GantryBindings *bindings);
GantryBindings *gantry_bindings_ref (GantryBindings *bindings);
void gantry_bindings_unref (GantryBindings *bindings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryBindings, gantry_bindings_unref)
/** Both (nullable): none. */
gboolean gantry_bindings_equal (const GantryBindings *a, const GantryBindings *b);

/** @name: (nullable): which graph of the program is opened; NULL: its first */
void gantry_bindings_set_entry (GantryBindings *bindings, const char *name);
/** @hash: SHA-256 of what may run; a program that is something else by then is not run */
void gantry_bindings_set_program (GantryBindings *bindings, const char *hash);
/** No dimension is bound any more. */
void gantry_bindings_clear_dims (GantryBindings *bindings);
/** @size: of the dimension; the last one that was set counts */
void gantry_bindings_set_dim (GantryBindings *bindings, const char *name, gint64 size);
/** @value: (nullable): what gantry_literal_from_text() reads; NULL: the input is given when the program runs, as usual. */
void gantry_bindings_set_input (GantryBindings *bindings, const char *name, const char *value);
/** Returns: (nullable): the value of input @name */
const char *gantry_bindings_get_input (const GantryBindings *bindings, const char *name);
/** Those of @other (nullable) too; where both say something @other is right. */
void gantry_bindings_merge (GantryBindings *bindings, const GantryBindings *other);

/**
 * gantry_input_value_read:
 * @text: as a user writes it: a value, or "@FILE" for the one in a .pb or .npy file
 * @read: gets that file
 *
 * Returns: (transfer full): the value as gantry_bindings_set_input() takes it, so that the file is not needed any more
 */
char *gantry_input_value_read (const char *text, GantryReadFiles *read, GError **error);

/** What fits into a line of @value, "dense<f32[100]: 0.5, 0.25..." Returns: (transfer full) */
char *gantry_input_value_label (const char *value);

G_END_DECLS
