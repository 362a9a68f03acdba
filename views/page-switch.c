/* SPDX-License-Identifier: Apache-2.0 */
/* Buttons of the bottom panel's title bars; what they do is the window's. */
#include "views/page-switch.h"

static void
add_page (GtkWidget *box, const char *label, const char *target, const char *tooltip)
{
  GtkWidget *button = gtk_toggle_button_new_with_label (label);

  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", target);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.bottom-page");
  gtk_widget_set_tooltip_text (button, tooltip);
  gtk_box_append (GTK_BOX (box), button);
}

GtkWidget *
gantry_page_switch_new (void)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  gtk_widget_add_css_class (box, "linked");
  add_page (box, "Time", "time", "Lanes and memory over time (F7)");
  add_page (box, "Kernels", "kernels", "Every kernel and copy, planned and measured (F4)");
  add_page (box, "Compare", "compare", "Variants and the front of memory and time (F8)");
  gtk_accessible_update_property (GTK_ACCESSIBLE (box), GTK_ACCESSIBLE_PROPERTY_LABEL, "Page of the bottom panel", -1);
  return box;
}

GtkWidget *
gantry_maximize_button_new (void)
{
  GtkWidget *button = gtk_toggle_button_new ();

  gtk_button_set_icon_name (GTK_BUTTON (button), "view-fullscreen-symbolic");
  gtk_widget_set_tooltip_text (button, "Give this panel the whole height");
  gtk_widget_add_css_class (button, "flat");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.maximize-time");
  return button;
}
