/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a node, read only: its meaning as a tensor expression, the LLVM IR and the assembly made of it. */
#pragma once
#include "core/document/document.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_CODE_VIEW (gantry_code_view_get_type ())
G_DECLARE_FINAL_TYPE (GantryCodeView, gantry_code_view, GANTRY, CODE_VIEW, GtkBox)

/** Returns: (transfer floating): empty pages */
GtkWidget *gantry_code_view_new (void);
/** @node: of @module, 0: none; @run: (nullable): whose code is shown */
void gantry_code_view_set (GantryCodeView *view, GantryModule *module, guint32 node, GantryRunResult *run);
/** What is shown on a page ("expression", "llvm", "assembly"). (transfer full) */
char *gantry_code_view_get_text (GantryCodeView *view, const char *page);
/** @page: "expression", "llvm" or "assembly" */
void gantry_code_view_show_page (GantryCodeView *view, const char *page);

G_END_DECLS
