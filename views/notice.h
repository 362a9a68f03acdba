/* SPDX-License-Identifier: Apache-2.0 */
/* A bar that says something and offers what can be done: the text wraps, scrolls where it is long, and can be selected and copied; the
 * buttons stand beside it, or below where that would leave it too little room. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_NOTICE (gantry_notice_get_type ())
G_DECLARE_FINAL_TYPE (GantryNotice, gantry_notice, GANTRY, NOTICE, GtkWidget)

/** Returns: (transfer floating) */
GtkWidget *gantry_notice_new (const char *text);
/** @text: copied; plain, in as many lines as it has */
void gantry_notice_set_text (GantryNotice *self, const char *text);
/** (transfer none) */
const char *gantry_notice_get_text (GantryNotice *self);
/** @height: in points, above which the text scrolls; 120 unless set */
void gantry_notice_set_most_height (GantryNotice *self, int height);
/** @button: (transfer floating): after those that are there */
void gantry_notice_add (GantryNotice *self, GtkWidget *button);

G_END_DECLS
