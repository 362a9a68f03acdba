/* SPDX-License-Identifier: Apache-2.0 */
/* The page beside the graph: the files that the nodes of a model were written in. What is selected is marked there, and a line that is
 * chosen selects its nodes; the margin says what each line costs. */
#pragma once
#include "core/document/document.h"
#include "views/selection.h"
#include "views/source/source-view.h"

G_BEGIN_DECLS

#define GANTRY_TYPE_SOURCE_PAGE (gantry_source_page_get_type ())
G_DECLARE_FINAL_TYPE (GantrySourcePage, gantry_source_page, GANTRY, SOURCE_PAGE, GtkBox)

/** Signal "selected": a line that was chosen has selected its nodes. Signal "source-found": gantry_source_page_has_source() has another
 *  answer. It reads and computes nothing while it is not seen. */
GtkWidget *gantry_source_page_new (GantryDocument *document, GantrySelection *selection);
/** The snapshot that is looked at: nodes of a line are selected in it. */
void gantry_source_page_set_snapshot (GantrySourcePage *page, guint snapshot);
/**
 * gantry_source_page_show_error:
 * @message: of an error
 *
 * Shows the place that @message names in one of the files, as that is now, with the message above it, until another compilation comes.
 *
 * Returns: FALSE where the page is not seen, or @message names no place in one of its files
 */
gboolean gantry_source_page_show_error (GantrySourcePage *page, const char *message);
/** Whether the model that was looked at last names files in which its nodes were written. */
gboolean gantry_source_page_has_source (GantrySourcePage *page);
/** The keyboard goes to the text, at what is selected. */
void gantry_source_page_focus (GantrySourcePage *page);

/* For tests. */
/** TRUE when nothing is being read or computed. */
gboolean gantry_source_page_is_ready (GantrySourcePage *page);
/** Returns: (transfer none): the text and its margin */
GantrySourceView *gantry_source_page_get_view (GantrySourcePage *page);
/** Path of the file shown: (transfer none) (nullable) */
const char *gantry_source_page_get_path (GantrySourcePage *page);
/** What is said instead of a text: (transfer none) (nullable) */
const char *gantry_source_page_get_words (GantrySourcePage *page);
/** What is said of the text: (transfer none) (nullable) */
const char *gantry_source_page_get_note (GantrySourcePage *page);

G_END_DECLS
