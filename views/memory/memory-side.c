/* SPDX-License-Identifier: Apache-2.0 */
/* Two pages, of which the second comes with a measurement. */
#include "views/memory/memory-side.h"

struct _GantryMemorySide
{
  GtkBox parent_instance;
  GantryAliveList *alive;
  GantryMemoryTable *table;
  GtkStack *pages;
  GtkWidget *switcher;
};

G_DEFINE_FINAL_TYPE (GantryMemorySide, gantry_memory_side, GTK_TYPE_BOX)

void
gantry_memory_side_set (GantryMemorySide *self, const GantryMemorySummary *summary, const char *difference)
{
  g_return_if_fail (GANTRY_IS_MEMORY_SIDE (self));
  gantry_memory_table_set (self->table, summary, difference);
  gtk_widget_set_visible (self->switcher, summary != NULL);
  if (summary == NULL)
    gantry_memory_side_show_measured (self, FALSE);
}

void
gantry_memory_side_show_measured (GantryMemorySide *self, gboolean measured)
{
  gtk_stack_set_visible_child_name (self->pages, measured && gtk_widget_get_visible (self->switcher) ? "measured" : "alive");
}

GantryAliveList *
gantry_memory_side_get_alive (GantryMemorySide *self)
{
  return self->alive;
}

GantryMemoryTable *
gantry_memory_side_get_table (GantryMemorySide *self)
{
  return self->table;
}

static void
gantry_memory_side_class_init (GantryMemorySideClass *klass)
{
}

static void
gantry_memory_side_init (GantryMemorySide *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  self->pages = GTK_STACK (gtk_stack_new ());
  gtk_stack_set_vhomogeneous (self->pages, FALSE);
  self->switcher = gtk_stack_switcher_new ();
  gtk_stack_switcher_set_stack (GTK_STACK_SWITCHER (self->switcher), self->pages);
  gtk_widget_add_css_class (self->switcher, "side-pages");
  gtk_widget_set_visible (self->switcher, FALSE); /* until memory is measured */
  gtk_box_append (GTK_BOX (self), self->switcher);
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->pages));
}

GtkWidget *
gantry_memory_side_new (GantrySelection *selection)
{
  GantryMemorySide *self = g_object_new (GANTRY_TYPE_MEMORY_SIDE, NULL);

  self->alive = GANTRY_ALIVE_LIST (gantry_alive_list_new (selection));
  self->table = GANTRY_MEMORY_TABLE (gantry_memory_table_new ());
  gtk_stack_add_titled (self->pages, GTK_WIDGET (self->alive), "alive", "Alive");
  gtk_stack_add_titled (self->pages, GTK_WIDGET (self->table), "measured", "Touched");
  return GTK_WIDGET (self);
}
