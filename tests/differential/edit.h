/* SPDX-License-Identifier: Apache-2.0 */
/* Programs rewritten: nodes of the entry function become parameters, are taken out, or give way to others. Types are
 * inferred anew, so that a change of a shape goes through, or is refused. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

typedef enum
{
  DIFF_EDIT_KEEP,
  DIFF_EDIT_PARAMETER, /* its value comes from outside */
  DIFF_EDIT_REPLACE,   /* its uses become those of `with`, which stands before it */
} DiffEditKind;

/**
 * DiffEdit: what becomes of one node of the entry function.
 *
 * @attrs: (KEEP): 0: as they are, else an attrs id
 * @type: (PARAMETER): 0: as it is, else a type id
 */
typedef struct
{
  guint8 kind; /* DiffEditKind */
  guint32 with;
  guint32 attrs;
  guint32 type;
} DiffEdit;

/**
 * diff_edit:
 * @edits: (array): one for each node of the entry function
 * @results: node ids of @module
 *
 * Writes the program with only what its results need; parameters that nothing needs go as well.
 *
 * Returns: (transfer full) (nullable): NULL where the types do not fit any more
 */
GantryModule *diff_edit (GantryModule *module, const DiffEdit *edits, const guint32 *results, guint n_results);

/** Makes parameters of the constants that have attribute `leaf`, which is their role. Returns: (transfer full) */
GantryModule *diff_edit_leaves (GantryModule *module);

G_END_DECLS
