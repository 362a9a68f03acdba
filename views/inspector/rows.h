/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the inspector: sections, keys with values, and links that select nodes. */
#pragma once
#include "views/selection.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct
{
  GtkBox *box;
  GtkGrid *grid; /* of the section that is open */
  int n;
  GantrySelection *selection;
  GtkSizeGroup *keys; /* of all sections: values begin below each other; the box holds it */
} GantryRows;

/** Empties @box and writes into it from now on. */
void gantry_rows_begin (GantryRows *rows, GtkBox *box, GantrySelection *selection);
/** @title: in large type, cut where it is long; @subtitle: (nullable): below it, pale. Before the first section */
void gantry_rows_title (GantryRows *rows, const char *title, const char *subtitle);
/** @title: (nullable): NULL: only a gap. Rows go below it from now on */
void gantry_rows_section (GantryRows *rows, const char *title);
/** NULL or "" writes nothing. */
void gantry_rows_text (GantryRows *rows, const char *key, const char *value);
/** As gantry_rows_text(), in the type of code. */
void gantry_rows_mono (GantryRows *rows, const char *key, const char *value);
/** As above; @value is freed. */
void gantry_rows_take (GantryRows *rows, const char *key, char *value);
/** A paragraph over both columns. */
void gantry_rows_note (GantryRows *rows, const char *text);
/** Any widget over both columns. */
void gantry_rows_widget (GantryRows *rows, GtkWidget *widget);
/** A button that selects @node of @snapshot of @module. @key: (nullable): continues the key above */
void gantry_rows_link (GantryRows *rows, const char *key, const GantryModule *module, guint snapshot, guint32 node);
/** A button that does @action ("win.go-to-source") and has @key as its name. */
void gantry_rows_action (GantryRows *rows, const char *key, const char *text, const char *tooltip, const char *action);
/** "Conv conv1" : what a node is called in one line. (transfer full) */
char *gantry_rows_node_name (const GantryModule *module, const GantryNode *node);

G_END_DECLS
