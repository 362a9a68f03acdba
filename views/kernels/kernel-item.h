/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and columns of the table of kernels. */
#pragma once
#include "profiler/kernel-table.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/** What a row shows: its figures, and the words that it is found by. */
struct _GantryKernelItem
{
  GObject parent_instance;
  GantryKernelRow row;
  GantryLaunchDetail detail;
  gboolean has_detail;
  char *name, *operation, *scope, *phase; /* never NULL */
  char *words;                            /* all of it, folded: for a search */
  double share;                           /* of what all rows take, 0 to 1 */
  double difference;                      /* of the largest that there is, -1 to 1 */
};

#define GANTRY_TYPE_KERNEL_ITEM (gantry_kernel_item_get_type ())
G_DECLARE_FINAL_TYPE (GantryKernelItem, gantry_kernel_item, GANTRY, KERNEL_ITEM, GObject)

/** @module: (nullable) */
GantryKernelItem *gantry_kernel_item_new (const GantryKernelRow *row, const GantryRecording *recording, const GantryModule *module);
/** A table that sorts by any column, over @items. @selection: (out) (transfer none) */
GtkWidget *gantry_kernel_columns_new (GListModel *items, GtkSelectionModel **selection);
/** @scopes: some row has a scope; @phases: or a phase; @plans: or was planned; @launches: some row knows its registers */
void gantry_kernel_columns_fit (GtkColumnView *view, gboolean scopes, gboolean phases, gboolean plans, gboolean launches);
/** @then: what the rows were planned for is not what is planned now */
void gantry_kernel_columns_planned_then (GtkColumnView *view, gboolean then);

G_END_DECLS
