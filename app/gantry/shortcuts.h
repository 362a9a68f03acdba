/* SPDX-License-Identifier: Apache-2.0 */
/* All shortcuts in one table: the accelerators of actions, and the window that lists them with the keys that the views
 * handle themselves. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/** @action: (nullable): NULL for a key that a view handles while it has the focus. */
typedef struct
{
  const char *group;
  const char *title;
  const char *action;
  const char *accelerators; /* separated by spaces */
} GantryShortcut;

/** Returns: (array length=n) (transfer none) */
const GantryShortcut *gantry_shortcuts_table (guint *n);
/** Gives @application the accelerators of all actions in the table. */
void gantry_shortcuts_install (GtkApplication *application);
/** Returns: (transfer none): a window made from the table */
GtkWidget *gantry_shortcuts_window_new (void);

G_END_DECLS
