/* SPDX-License-Identifier: Apache-2.0 */
/* How large the window and its panels are, kept from one start to the next. */
#include "app/gantry/state.h"
#include "app/gantry/window-private.h"

static int
inspector_width (void)
{
  return CLAMP (gantry_state_get_int ("inspector-width", 340), 200, 2000);
}

static int
source_width (void)
{
  return CLAMP (gantry_state_get_int ("source-width", 480), 200, 2000);
}

static int
time_height (void)
{
  return CLAMP (gantry_state_get_int ("time-height", 300), 120, 2000);
}

/* What is remembered of the source page beside "shown" and "hidden": that nobody has said which. Programs are shown with it then. */
#define AS_THE_MODEL 2

/* For the words of a page that has no source to show. */
#define SOURCE_WORDS_WIDTH 260

/* The divider has a place for a page that was never seen when the page is. The graph keeps half of the room at least, and more where
 * there is no source. */
static void
source_shown (GantryWindow *self)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self->source_paned));
  int wanted = gantry_source_page_has_source (self->source_page) ? source_width () : SOURCE_WORDS_WIDTH;

  if (!self->arranging)
    self->source_choice = gtk_widget_get_visible (GTK_WIDGET (self->source_bin));
  if (gtk_widget_get_visible (GTK_WIDGET (self->source_bin)) && width > 0)
    gtk_paned_set_position (self->source_paned, MAX (width - wanted, width / 2));
}

/* Dividers count from the top left, the panels that are remembered stand right and below: what the header, the status
 * bar and the borders take is known only once all have their sizes. @size: what @panel has, 0: it is hidden */
static void
give_size (GtkPaned *paned, int size, int wanted)
{
  if (size > 0)
    gtk_paned_set_position (paned, MAX (gtk_paned_get_position (paned) + size - wanted, 0));
}

static gboolean
fit_panels (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  GantryWindow *self = data;

  if (gtk_widget_get_width (widget) == 0)
    return G_SOURCE_CONTINUE;
  give_size (self->right_paned, gtk_widget_get_width (GTK_WIDGET (self->inspector_bin)), inspector_width ());
  self->arranging = TRUE;
  source_shown (self);
  self->arranging = FALSE;
  give_size (self->bottom_paned, gtk_widget_get_height (GTK_WIDGET (self->time_bin)), time_height ());
  return G_SOURCE_REMOVE;
}

void
_gantry_window_restore_layout (GantryWindow *self)
{
  int width = CLAMP (gantry_state_get_int ("width", 1440), 480, 10000);
  int height = CLAMP (gantry_state_get_int ("height", 900), 360, 10000);
  int passes = CLAMP (gantry_state_get_int ("passes-width", 260), 150, 1000);

  gtk_window_set_default_size (GTK_WINDOW (self), width, height);
  if (gantry_state_get_int ("maximized", 0) != 0)
    gtk_window_maximize (GTK_WINDOW (self));
  gtk_paned_set_position (self->left_paned, passes);
  gtk_paned_set_position (self->right_paned, MAX (width - passes - inspector_width (), 200));
  gtk_paned_set_position (self->bottom_paned, MAX (height - 80 - time_height (), 160));
  gtk_widget_add_tick_callback (GTK_WIDGET (self->bottom_paned), fit_panels, self, NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->passes_bin), gantry_state_get_int ("show-passes", 1) != 0);
  gtk_widget_set_visible (GTK_WIDGET (self->inspector_bin), gantry_state_get_int ("show-inspector", 1) != 0);
  gtk_widget_set_visible (GTK_WIDGET (self->time_bin), gantry_state_get_int ("show-time", 1) != 0);
  g_signal_connect (self, "notify::default-width", G_CALLBACK (_gantry_window_show_target), NULL);
  g_signal_connect (self, "notify::maximized", G_CALLBACK (_gantry_window_show_target), NULL);
  g_signal_connect_swapped (self->source_bin, "notify::visible", G_CALLBACK (source_shown), self);
  self->source_choice = gantry_state_get_int ("show-source", AS_THE_MODEL);
  self->arranging = TRUE;
  gtk_widget_set_visible (GTK_WIDGET (self->source_bin), self->source_choice == 1);
  self->arranging = FALSE;
}

void
_gantry_window_store_layout (GantryWindow *self)
{
  int width, height;

  gtk_window_get_default_size (GTK_WINDOW (self), &width, &height);
  if (width > 0 && height > 0)
    {
      gantry_state_set_int ("width", width);
      gantry_state_set_int ("height", height);
    }
  gantry_state_set_int ("maximized", gtk_window_is_maximized (GTK_WINDOW (self)));
  gantry_state_set_int ("show-passes", gtk_widget_get_visible (GTK_WIDGET (self->passes_bin)));
  gantry_state_set_int ("show-inspector", gtk_widget_get_visible (GTK_WIDGET (self->inspector_bin)));
  gantry_state_set_int ("show-time", gtk_widget_get_visible (GTK_WIDGET (self->time_bin)));
  gantry_state_set_int ("show-source", self->source_choice);
  if (gtk_widget_get_width (GTK_WIDGET (self->source_bin)) > 0 && gantry_source_page_has_source (self->source_page))
    gantry_state_set_int ("source-width", gtk_widget_get_width (GTK_WIDGET (self->source_bin)));
  if (gtk_widget_get_width (GTK_WIDGET (self->passes_bin)) > 0)
    gantry_state_set_int ("passes-width", gtk_paned_get_position (self->left_paned));
  if (gtk_widget_get_width (GTK_WIDGET (self->inspector_bin)) > 0)
    gantry_state_set_int ("inspector-width", gtk_widget_get_width (GTK_WIDGET (self->inspector_bin)));
  if (gtk_widget_get_height (GTK_WIDGET (self->time_bin)) > 0 && gtk_widget_get_visible (GTK_WIDGET (self->left_paned)))
    gantry_state_set_int ("time-height", gtk_widget_get_height (GTK_WIDGET (self->time_bin)));
}

void
_gantry_window_maximize_time (GantryWindow *self, gboolean maximize)
{
  if (maximize)
    gtk_widget_set_visible (GTK_WIDGET (self->time_bin), TRUE);
  gtk_widget_set_visible (GTK_WIDGET (self->left_paned), !maximize);
}

void
_gantry_window_show_bottom (GantryWindow *self, const char *page)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "bottom-page");

  if (gtk_stack_get_child_by_name (self->bottom_stack, page) == NULL)
    return;
  gtk_stack_set_visible_child_name (self->bottom_stack, page);
  gtk_widget_set_visible (GTK_WIDGET (self->time_bin), TRUE);
  g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_string (page));
}

void
_gantry_window_arrange_source (GantryWindow *self)
{
  const GantryModel *model = gantry_document_get_model (self->document);

  if (model == NULL || self->source_choice != AS_THE_MODEL)
    return;
  self->arranging = TRUE;
  gtk_widget_set_visible (GTK_WIDGET (self->source_bin), gantry_model_is_program (model->path));
  self->arranging = FALSE;
}

void
_gantry_window_source_found (GantryWindow *self)
{
  self->arranging = TRUE;
  source_shown (self);
  self->arranging = FALSE;
}

void
_gantry_window_show_source (GantryWindow *self)
{
  gtk_widget_set_visible (GTK_WIDGET (self->source_bin), TRUE);
  gantry_source_page_focus (self->source_page);
}

void
_gantry_window_show_in_time (GantryWindow *self)
{
  _gantry_window_show_bottom (self, "time");
  if (!gantry_time_panel_show_selection (self->time_panel))
    _gantry_window_toast (self, gantry_selection_count (self->selection) == 0 ? "Select a node first"
                                                                              : "What is selected takes no time: no step of the plan does its work");
}
