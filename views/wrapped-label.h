/* SPDX-License-Identifier: Apache-2.0 */
/* Labels that wrap what may hold names: between words, within a name where it must be, and with no hyphen that the name does not have. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/** Makes a label that exists wrap so; its attributes are replaced. */
void gantry_label_wrap (GtkLabel *label);
/** One that can be selected and copied, from the left. Returns: (transfer floating) */
GtkWidget *gantry_wrapped_label_new (const char *text);

G_END_DECLS
