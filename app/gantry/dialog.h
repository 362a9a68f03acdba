/* SPDX-License-Identifier: Apache-2.0 */
/* What the dialogs of the window share, and how each is opened. A dialog has the name of its action, so that tests
 * find it; each lives until it is closed. */
#pragma once
#include "app/gantry/window.h"

G_BEGIN_DECLS

/** The training step to make of the program. Named "train". */
void _gantry_dialog_train (GantryWindow *window);
/** The policy as text, with what became of each statement beside it. Named "policy". */
void _gantry_dialog_policy (GantryWindow *window);
/** Every order of execution with every allocator; one can be chosen. Named "orders". */
void _gantry_dialog_orders (GantryWindow *window);
/** The solver: a goal, what it may use, how far it is. Named "solve". */
void _gantry_dialog_solve (GantryWindow *window);

/** An empty modal window with a title, that closes on Escape. @content: (transfer floating); @end: (nullable): button in the header */
GtkWindow *_gantry_dialog_new (GantryWindow *window, const char *name, const char *title, GtkWidget *content, GtkWidget *end);
/** A row with an entry for a number. */
GtkWidget *_gantry_dialog_number (const char *title, const char *name, double value);
/** FALSE, and the row marked, when what stands there is no number of at least @least. */
gboolean _gantry_dialog_read_number (GtkWidget *row, double least, double *value);

G_END_DECLS
