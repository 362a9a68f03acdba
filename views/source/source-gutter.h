/* SPDX-License-Identifier: Apache-2.0 */
/* The margin of a source: a column for each figure of a line, as text over a bar as long as its share of the largest, and its number. */
#pragma once
#include "drawing/theme.h"
#include "views/source/source-heat.h"
#include <gtksourceview/gtksource.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_SOURCE_GUTTER (gantry_source_gutter_get_type ())
G_DECLARE_FINAL_TYPE (GantrySourceGutter, gantry_source_gutter, GANTRY, SOURCE_GUTTER, GtkSourceGutterRenderer)

/** Returns: (transfer floating): for a gutter of a source view; it draws nothing until it gets costs */
GtkSourceGutterRenderer *gantry_source_gutter_new (void);
/** @heat: (nullable); @file: string id: whose lines are shown */
void gantry_source_gutter_set (GantrySourceGutter *gutter, GantrySourceHeat *heat, guint32 file);
/** How many lines the text has: for the width of the numbers. */
void gantry_source_gutter_set_lines (GantrySourceGutter *gutter, guint n_lines);
/** Pixels that the column of @figure takes, 0 where nothing of it is known. */
int gantry_source_gutter_column (GantrySourceGutter *gutter, GantrySourceFigure figure);
/** The colour of a bar, on which the theme's text keeps 4.5 : 1. */
GantryColor gantry_source_bar_color (const GantryTheme *theme, GantrySourceFigure figure);

G_END_DECLS
