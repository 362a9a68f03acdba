/* SPDX-License-Identifier: Apache-2.0 */
/* Before | after a pass, side by side, or one pane; selection and folds are tied. */
#pragma once
#include "views/graph/graph-pane.h"

G_BEGIN_DECLS

#define GANTRY_TYPE_PASS_VIEW (gantry_pass_view_get_type ())
G_DECLARE_FINAL_TYPE (GantryPassView, gantry_pass_view, GANTRY, PASS_VIEW, GtkBox)

/** Signal "place": as that of the canvas. */
GtkWidget *gantry_pass_view_new (GantrySelection *selection);
/** NULL shows nothing. Snapshot 0 is always shown alone. */
void gantry_pass_view_set (GantryPassView *view, GantryCompilation *compilation, guint index);
/** @single: TRUE: only the snapshot after the pass, FALSE: the one before it beside that. */
void gantry_pass_view_set_single (GantryPassView *view, gboolean single);
/** As it was set, though snapshot 0 is shown alone anyway. */
gboolean gantry_pass_view_get_single (GantryPassView *view);
/** The canvas that has or had the focus, else that after the pass: what actions act on. */
GantryGraphCanvas *gantry_pass_view_get_canvas (GantryPassView *view);
/** Returns: (transfer none): the canvas on the left, which shows nothing where one pane is shown */
GantryGraphCanvas *gantry_pass_view_get_before (GantryPassView *view);
/** Returns: (transfer none): the canvas on the right, or the only one */
GantryGraphCanvas *gantry_pass_view_get_after (GantryPassView *view);
/** How saved values are placed, in both panes: (nullable). @steps: (nullable) (element-type GantryPlanStep): what is planned */
void gantry_pass_view_set_placements (GantryPassView *view, GantryPlacements *placements, const GArray *steps);
/** What the last search found, in the canvas that actions act on. (transfer none) (nullable) (element-type guint32) */
const GArray *gantry_pass_view_get_matches (GantryPassView *view);
/** Marks what contains @text in both panes. Returns: number of matches in the canvas that actions act on */
guint gantry_pass_view_search (GantryPassView *view, const char *text);
/** Selects the next (1) or previous (-1) match. Returns: its number from 1 on, 0 when there is none */
guint gantry_pass_view_step_match (GantryPassView *view, int step);

/** Of the last search. */
guint gantry_pass_view_n_matches (GantryPassView *view);

G_END_DECLS
