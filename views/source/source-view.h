/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a source file, read only, with what its lines cost in the margin, lines that are marked, and the place of an error. */
#pragma once
#include "views/source/source-heat.h"
#include "views/source/source-text.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_SOURCE_VIEW (gantry_source_view_get_type ())
G_DECLARE_FINAL_TYPE (GantrySourceView, gantry_source_view, GANTRY, SOURCE_VIEW, GtkBox)

/**
 * GantrySourceView:
 *
 * Signals: "line-chosen" (uint line, from 1): the user has clicked it, or moved the caret to it;
 * "describe-line" (uint line) -> string (nullable): what a tip over the line says.
 */
GtkWidget *gantry_source_view_new (void);
/** Shows @text, nothing where it is NULL. What is in sight stays where it is the same file again. */
void gantry_source_view_set_text (GantrySourceView *view, const GantrySourceText *text);
/** @heat: (nullable); @file: string id: whose lines are shown */
void gantry_source_view_set_heat (GantrySourceView *view, GantrySourceHeat *heat, guint32 file);
/**
 * gantry_source_view_mark:
 * @lines: (array length=n): from 1: replace those that were marked
 * @line: that is brought into sight, 0: none
 * @column: in bytes, from 1: what begins there is marked too; 0: not known
 */
void gantry_source_view_mark (GantrySourceView *view, const guint32 *lines, guint n, guint32 line, guint32 column);
/** @line, @column: from 1; column in bytes, 0: not known */
typedef struct
{
  guint32 line, column;
} GantrySourceSpot;

/** Marks the places of errors, and brings the first into sight. */
void gantry_source_view_mark_errors (GantrySourceView *view, const GantrySourceSpot *spots, guint n);

/* For tests. */
char *gantry_source_view_get_text (GantrySourceView *view); /* (transfer full) */
/** Between the first and the last line that are seen. */
gboolean gantry_source_view_is_in_sight (GantrySourceView *view, guint32 line);
/** Whether gantry_source_view_mark() has marked @line, from 1; FALSE where the text has no such line. */
gboolean gantry_source_view_is_marked (GantrySourceView *view, guint32 line);
/** What is marked as beginning at a column, or as an error: (transfer full) */
char *gantry_source_view_get_marked (GantrySourceView *view, gboolean error);
/** As if the user had clicked the line. */
void gantry_source_view_choose_line (GantrySourceView *view, guint32 line);
/** What the tip says. (transfer full) (nullable) */
char *gantry_source_view_describe (GantrySourceView *view, guint32 line);

G_END_DECLS
