/* SPDX-License-Identifier: Apache-2.0 */
/* Labels that wrap. */
#include "views/wrapped-label.h"

void
gantry_label_wrap (GtkLabel *label)
{
  PangoAttrList *attributes = pango_attr_list_new ();

  pango_attr_list_insert (attributes, pango_attr_insert_hyphens_new (FALSE));
  gtk_label_set_attributes (label, attributes);
  pango_attr_list_unref (attributes);
  gtk_label_set_wrap (label, TRUE);
  gtk_label_set_wrap_mode (label, PANGO_WRAP_WORD_CHAR);
}

GtkWidget *
gantry_wrapped_label_new (const char *text)
{
  GtkWidget *label = gtk_label_new (text);

  gantry_label_wrap (GTK_LABEL (label));
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  return label;
}
