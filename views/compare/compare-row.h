/* SPDX-License-Identifier: Apache-2.0 */
/* One row of the table of variants: what a list model holds. */
#pragma once
#include "core/document/document.h"
#include "drawing/painters.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_COMPARE_ROW (gantry_compare_row_get_type ())
G_DECLARE_FINAL_TYPE (GantryCompareRow, gantry_compare_row, GANTRY, COMPARE_ROW, GObject)

struct _GantryCompareRow
{
  GObject parent_instance;
  GantryVariant *variant; /* figures; of the first row what is placed now */
  GantryPointKind kind;
  guint digits;     /* of a time, more than usual, so that no two rows read alike that are not */
  gboolean current; /* the figures are of the program and the times as they are, not of before */
};

/** @variant: kept by reference. Returns: (transfer full) */
GantryCompareRow *gantry_compare_row_new (GantryVariant *variant, GantryPointKind kind, gboolean current);
/** The table over @rows (GantryCompareRow), sortable by each column. @activated: (int position in the sorted model) */
GtkWidget *gantry_compare_table_new (GListModel *rows, GtkSelectionModel **selection);

G_END_DECLS
