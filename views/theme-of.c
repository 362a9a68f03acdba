/* SPDX-License-Identifier: Apache-2.0 */
/* Light and dark, from the style manager to our own palettes. */
#include "views/theme-of.h"
#include <adwaita.h>

const GantryTheme *
gantry_theme_of (GtkWidget *widget)
{
  return gantry_theme_get (adw_style_manager_get_dark (adw_style_manager_get_default ()));
}

void
gantry_theme_watch (gpointer object, void (*changed) (gpointer object))
{
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (changed), object, G_CONNECT_SWAPPED);
}
