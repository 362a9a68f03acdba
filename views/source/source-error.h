/* SPDX-License-Identifier: Apache-2.0 */
/* The source of an error, where its message names a place: the lines around it, the place marked. */
#pragma once
#include "views/source/source-view.h"

G_BEGIN_DECLS

typedef struct
{
  char *path;
  GArray *spots; /* GantrySourceSpot */
} GantrySourcePlaces;

/**
 * gantry_source_places_of:
 * @message: of an error
 *
 * Reads "FILE:LINE:COLUMN: what" at the beginning and at the beginning of further lines, those of the first file alone; else the last
 * `File "FILE", line LINE` of a Python traceback that is no part of Gantry.
 *
 * Returns: (transfer full) (nullable): %NULL where @message names no place
 */
GantrySourcePlaces *gantry_source_places_of (const char *message);
void gantry_source_places_free (GantrySourcePlaces *places);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantrySourcePlaces, gantry_source_places_free)

/**
 * gantry_source_error_new:
 * @message: of an error
 * @opened: (nullable): what was opened, or is: the file is shown where it is that one, or lies in its folder or below
 *
 * Returns: (transfer floating) (nullable): %NULL where @message names no place. It is seen once the file is read, where it can be
 */
GtkWidget *gantry_source_error_new (const char *message, const char *opened);
/** What it shows it in: for tests. (transfer none) */
GantrySourceView *gantry_source_error_get_view (GtkWidget *widget);

G_END_DECLS
