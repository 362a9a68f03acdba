/* SPDX-License-Identifier: Apache-2.0 */
/* Replan with measured times: the button in the header that says whose times are planned with, and what they have changed. */
#include "app/gantry/window-private.h"
#include "core/document/plan-changes.h"
#include "views/format.h"
#include "views/shown-plan.h"
#include <math.h>

#define MOST_ROWS 8u

static const GantryMeasuredTimes *
times_of (GantryWindow *self)
{
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);

  return settings != NULL ? settings->measured : NULL;
}

/* "run 2, with no library": what its kernels were made with that those of a run from here would not be. (transfer full) (nullable) */
static char *
name_of (GantryWindow *self)
{
  const GantryMeasuredTimes *times = times_of (self);
  g_autofree char *unusual = times != NULL ? gantry_compile_settings_unusual (gantry_document_get_settings (self->document)) : NULL;

  if (times == NULL || unusual == NULL)
    return times != NULL ? g_strdup (times->name) : NULL;
  return g_strdup_printf ("%s, with %s", times->name, unusual);
}

static GtkWidget *
text_new (const char *text, const char *css_class, float xalign)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), xalign);
  if (css_class != NULL)
    gtk_widget_add_css_class (label, css_class);
  return label;
}

/* A line of the table: what, before, after, difference. */
static void
add_line (GtkGrid *grid, int row, const char *what, const char *before, const char *after, const char *delta)
{
  GtkWidget *label = text_new (what, row == 0 ? "dim-label" : NULL, 0);
  const char *const cells[] = { before, after, delta };

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 30);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_tooltip_text (label, what);
  gtk_grid_attach (grid, label, 0, row, 1, 1);
  for (int i = 0; i < (int) G_N_ELEMENTS (cells); i++)
    {
      label = text_new (cells[i], row == 0 || i == 0 ? "dim-label" : NULL, 1);
      gtk_widget_add_css_class (label, "numeric");
      gtk_grid_attach (grid, label, i + 1, row, 1, 1);
    }
}

/* "(+4 ms)" is how a delta follows a value; here it stands alone. */
static char *
bare (char *delta)
{
  g_autofree char *text = g_strstrip (delta);
  gsize n = strlen (text);

  return n > 2 && text[0] == '(' ? g_strndup (text + 1, n - 2) : g_strdup (text);
}

static void
add_time (GtkGrid *grid, int row, const char *what, double before_us, double after_us)
{
  g_autofree char *before = gantry_format_ns ((gint64) round (before_us * 1000));
  g_autofree char *after = gantry_format_ns ((gint64) round (after_us * 1000));
  g_autofree char *delta = bare (gantry_format_delta_ns ((gint64) round ((after_us - before_us) * 1000)));

  add_line (grid, row, what, before, after, delta);
}

/* @known: FALSE: both are at least so much */
static void
add_bytes (GtkGrid *grid, int row, const char *what, guint64 of_before, guint64 of_after, gboolean known)
{
  g_autofree char *before = gantry_memory_peak_text (of_before, 0, known), *after = gantry_memory_peak_text (of_after, 0, known);
  g_autofree char *delta = bare (gantry_format_delta_bytes ((gint64) of_after - (gint64) of_before));

  add_line (grid, row, what, before, after, delta);
}

static GtkWidget *
grid_new (void)
{
  GtkWidget *grid = gtk_grid_new ();

  gtk_grid_set_column_spacing (GTK_GRID (grid), 18);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 3);
  return grid;
}

/* @fits: what is planned now has a time; @sizes_known: what kernels need is counted */
static GtkWidget *
make_figures (const GantryPlanChanges *changes, gboolean fits, gboolean sizes_known)
{
  GtkWidget *grid = grid_new ();

  add_line (GTK_GRID (grid), 0, "Predicted", "before", "now", "difference");
  if (fits)
    {
      add_time (GTK_GRID (grid), 1, "Step", changes->before.step_us, changes->after.step_us);
      add_time (GTK_GRID (grid), 2, "Of that waiting", changes->before.stall_us, changes->after.stall_us);
    }
  else
    add_line (GTK_GRID (grid), 1, "Step", "", GANTRY_DOES_NOT_FIT, "");
  add_bytes (GTK_GRID (grid), 3, "Peak of memory", changes->before.peak_bytes, changes->after.peak_bytes, sizes_known);
  add_bytes (GTK_GRID (grid), 4, "Copied", changes->before.copied_bytes, changes->after.copied_bytes, TRUE);
  return grid;
}

static char *
label_of (const GantryModule *module, guint32 id)
{
  const GantryNode *node = gantry_module_node (module, id);

  return node != NULL ? gantry_node_label (module, node) : g_strdup_printf ("%%%u", id);
}

static GtkWidget *
make_times (const GantryPlanChanges *changes, const GantryModule *module)
{
  GtkWidget *grid = grid_new ();
  guint n = MIN (changes->times->len, MOST_ROWS);

  add_line (GTK_GRID (grid), 0, "Largest differences", "before", "now", "difference");
  for (guint i = 0; i < n; i++)
    {
      const GantryTimeChange *change = &g_array_index (changes->times, GantryTimeChange, i);
      g_autofree char *label = label_of (module, change->node);
      g_autofree char *what = change->queue == GANTRY_QUEUE_COMPUTE ? g_strdup (label) : g_strdup_printf ("copy of %s", label);

      add_time (GTK_GRID (grid), (int) i + 1, what, change->before_us, change->after_us);
    }
  return grid;
}

static GtkWidget *
make_placements (const GantryPlanChanges *changes, const GantryModule *module)
{
  GtkWidget *grid = grid_new ();

  add_line (GTK_GRID (grid), 0, "Placed otherwise", "before", "now", "");
  for (guint i = 0; i < MIN (changes->placements->len, MOST_ROWS); i++)
    {
      const GantryPlacementChange *change = &g_array_index (changes->placements, GantryPlacementChange, i);
      g_autofree char *label = label_of (module, change->node);

      add_line (GTK_GRID (grid), (int) i + 1, label, gantry_placement_kind_name (change->before), gantry_placement_kind_name (change->after), "");
    }
  return grid;
}

static GtkWidget *
make_buttons (void)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  static const char *const buttons[][2] = { { "Times of the model", "win.model-times" },
                                            { "Times of the run shown", "win.replan" },
                                            { "Kernels", "win.bottom-page::kernels" } };

  gtk_widget_set_halign (box, GTK_ALIGN_END);
  for (guint i = 0; i < G_N_ELEMENTS (buttons); i++)
    {
      GtkWidget *button = gtk_button_new_with_label (buttons[i][0]);

      gtk_actionable_set_detailed_action_name (GTK_ACTIONABLE (button), buttons[i][1]);
      gtk_box_append (GTK_BOX (box), button);
    }
  return box;
}

static void
fill_popover (GantryWindow *self)
{
  GtkPopover *popover = gtk_menu_button_get_popover (self->times_button);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  const GantryPlanChanges *changes = gantry_document_get_changes (self->document);
  const GantryMeasuredTimes *times = times_of (self);
  const GantryForecast *now = gantry_document_get_prediction (self->document);
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  g_autofree char *name = name_of (self);
  g_autofree char *title = times != NULL ? g_strdup_printf ("Planned with the times of %s", name) : g_strdup ("Planned with predicted times");
  g_autofree char *summary = NULL;

  gtk_widget_set_margin_start (box, 6);
  gtk_widget_set_margin_end (box, 6);
  gtk_widget_set_margin_top (box, 6);
  gtk_widget_set_margin_bottom (box, 6);
  gtk_box_append (GTK_BOX (box), text_new (title, "heading", 0));
  if (changes != NULL && compilation != NULL && now != NULL)
    {
      const GantryModule *module = gantry_compilation_module (compilation);
      GtkWidget *label;

      summary = gantry_plan_changes_summary (changes);
      label = text_new (summary, NULL, 0);
      gtk_label_set_wrap (GTK_LABEL (label), TRUE);
      gtk_label_set_max_width_chars (GTK_LABEL (label), 56);
      gtk_box_append (GTK_BOX (box), label);
      gtk_box_append (GTK_BOX (box), make_figures (changes, gantry_document_fits (self->document), now->prediction->sizes_known));
      if (changes->placements->len > 0)
        gtk_box_append (GTK_BOX (box), make_placements (changes, module));
      if (changes->times->len > 0)
        gtk_box_append (GTK_BOX (box), make_times (changes, module));
    }
  gtk_box_append (GTK_BOX (box), make_buttons ());
  gtk_popover_set_child (popover, box);
}

/* A session brings the times that it was planned with: what is shown follows the page too. */
void
_gantry_window_update_times (GantryWindow *self)
{
  const GantryMeasuredTimes *times = times_of (self);
  gboolean model = g_strcmp0 (gtk_stack_get_visible_child_name (self->stack), "model") == 0;
  g_autofree char *name = name_of (self);
  g_autofree char *text = times != NULL ? g_strdup_printf ("Times: %s", name) : g_strdup ("Times: model");
  g_autofree char *words = NULL;

  gtk_label_set_text (self->times_label, text);
  words = times == NULL ? g_strdup ("The plan is made with predicted times; Ctrl+M plans with those of the run shown")
                        : g_strdup_printf ("The plan is made with times that %s measured, of %u nodes", times->name, times->entries->len);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->times_button), words);
  /* Nothing to say before anything was measured. */
  gtk_widget_set_visible (GTK_WIDGET (self->times_button), model && (times != NULL || gantry_document_get_changes (self->document) != NULL));
}

static void
changes_told (GantryWindow *self)
{
  _gantry_window_update_times (self);
  fill_popover (self);
  if (!self->replanning || gantry_document_get_changes (self->document) == NULL)
    return;
  self->replanning = FALSE;
  if (gtk_widget_get_mapped (GTK_WIDGET (self->times_button)))
    gtk_menu_button_popup (self->times_button);
}

void
_gantry_window_use_times (GantryWindow *self, gboolean measured)
{
  GantryRunResult *run = gantry_document_get_run (self->document);
  g_autoptr (GError) error = NULL;

  if (measured && run == NULL)
    {
      _gantry_window_toast (self, "Nothing was measured yet: run the program first");
      return;
    }
  gtk_menu_button_popdown (self->times_button);
  self->replanning = TRUE;
  if (!gantry_document_set_measured (self->document, measured ? run : NULL, &error))
    {
      self->replanning = FALSE;
      _gantry_window_tell (self, "These times cannot be planned with", error);
    }
}

void
_gantry_window_connect_times (GantryWindow *self)
{
  gtk_menu_button_set_popover (self->times_button, gtk_popover_new ());
  g_signal_connect_swapped (self->document, "notify::changes", G_CALLBACK (changes_told), self);
  g_signal_connect_swapped (self->document, "notify::compilation", G_CALLBACK (changes_told), self);
  fill_popover (self);
  _gantry_window_update_times (self);
}
