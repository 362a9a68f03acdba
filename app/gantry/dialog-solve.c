/* SPDX-License-Identifier: Apache-2.0 */
/* Fit...: asks the solver. The best found so far is told while it searches; stopping takes that. The answer is kept as
 * a variant and loaded. Closing the dialog ends the search and changes nothing; what it had found is offered for a while. */
#include "app/gantry/dialog.h"
#include "app/gantry/window-private.h"
#include "core/document/size.h"
#include "views/compare/front-view.h"
#include "views/format.h"
#include <string.h>

#define OFFER_SECONDS 20

typedef struct
{
  gatomicrefcount ref_count; /* the dialog's and the search's */
  GantryWindow *window;
  GantryDocument *document;
  GtkWindow *dialog; /* (nullable): NULL when it was closed */
  GtkWidget *fit, *most, *size, *time, *recompute, *offload, *approximate, *microbatches, *price, *seconds, *start, *spinner, *form, *front;
  GtkLabel *message;
  gulong activity_handler;
  gboolean searching;
} Solve;

static void
solve_unref (gpointer data)
{
  Solve *s = data;

  if (!g_atomic_ref_count_dec (&s->ref_count))
    return;
  g_object_unref (s->document);
  g_free (s);
}

static void
say (Solve *s, const char *text, gboolean error)
{
  gtk_label_set_text (s->message, text);
  if (error)
    gtk_widget_add_css_class (GTK_WIDGET (s->message), "error");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (s->message), "error");
}

static void
set_searching (Solve *s, gboolean searching)
{
  s->searching = searching;
  if (s->dialog == NULL)
    return;
  gtk_button_set_label (GTK_BUTTON (s->start), searching ? "_Stop" : "_Search");
  gtk_button_set_use_underline (GTK_BUTTON (s->start), TRUE);
  gtk_widget_set_sensitive (s->form, !searching);
  gtk_spinner_set_spinning (GTK_SPINNER (s->spinner), searching);
  gtk_widget_set_visible (s->spinner, searching);
}

static void
activity_changed (Solve *s)
{
  g_autofree char *activity = NULL;

  g_object_get (s->document, "activity", &activity, NULL);
  if (s->searching && s->dialog != NULL && activity != NULL && *activity != '\0')
    say (s, activity, FALSE);
}

/* What was asked for is the name: "fit 8.0 GiB", "at most 12 ms". */
static char *
goal_name (const GantrySolveGoal *goal)
{
  g_autofree char *bytes = gantry_format_limit (goal->memory_bytes), *time = gantry_format_ns ((gint64) (goal->step_us * 1000));

  return goal->memory_bytes > 0 ? g_strdup_printf ("fit %s", bytes) : g_strdup_printf ("at most %s", time);
}

typedef struct
{
  Solve *solve;
  GantryWindow *window;
  GantryCompilation *compilation; /* that the search is for */
  char *name;
} Asked;

static void
asked_free (Asked *asked)
{
  g_object_unref (asked->window);
  gantry_compilation_unref (asked->compilation);
  g_free (asked->name);
  solve_unref (asked->solve);
  g_free (asked);
}

static void
load_answer (GantryWindow *window, GantryVariant *variant)
{
  gantry_document_add_variant (window->document, variant);
  gantry_document_load_variant (window->document, variant);
}

/* "peak 6.1 GiB, step 12 ms, proven to be the best of all schedules" */
static char *
figures_of (const GantryVariant *variant)
{
  g_autofree char *peak = gantry_memory_peak_text (variant->figures.peak_bytes, variant->limit, variant->figures.sizes_known);
  g_autofree char *step = gantry_format_ns ((gint64) (variant->figures.step_us * 1000));

  if (variant->proof != GANTRY_PROOF_NONE)
    return g_strdup_printf ("peak %s, step %s, proven to be %s", peak, step, gantry_proof_text (variant->proof));
  if (variant->cut)
    return g_strdup_printf ("peak %s, step %s; the search was ended by its limit of time", peak, step);
  if (variant->gap >= 0)
    return g_strdup_printf ("peak %s, step %s, at most %.1f %% from the best", peak, step, 100 * variant->gap);
  return g_strdup_printf ("peak %s, step %s", peak, step);
}

static void
take_answer (GantryWindow *window, GantryVariant *variant)
{
  g_autofree char *figures = figures_of (variant), *name = gantry_variant_shown_name (variant), *text = g_strdup_printf ("%s: %s", name, figures);

  load_answer (window, variant);
  _gantry_window_toast (window, text);
}

/* An answer that came when the dialog was closed. */
typedef struct
{
  GantryWindow *window;
  GantryModel *model; /* only compared: of another program it would mean nothing */
  GantryVariant *variant;
} Offer;

static void
offer_free (gpointer data, GClosure *closure)
{
  Offer *offer = data;

  gantry_variant_unref (offer->variant);
  g_free (offer);
}

static void
offer_taken (AdwToast *toast, gpointer data)
{
  const Offer *offer = data;

  if (gantry_document_get_model (offer->window->document) == offer->model)
    load_answer (offer->window, offer->variant);
}

static void
offer_answer (GantryWindow *window, GantryVariant *variant)
{
  g_autofree char *figures = figures_of (variant), *text = g_strdup_printf ("Search stopped. It had found: %s", figures);
  AdwToast *toast = adw_toast_new (text);
  Offer *offer = g_new0 (Offer, 1);

  *offer = (Offer){ window, gantry_document_get_model (window->document), gantry_variant_ref (variant) };
  adw_toast_set_timeout (toast, OFFER_SECONDS);
  adw_toast_set_button_label (toast, "Load");
  g_signal_connect_data (toast, "button-clicked", G_CALLBACK (offer_taken), offer, offer_free, 0);
  adw_toast_overlay_add_toast (window->toasts, toast); /* the window's own: it goes before the window does */
}

/* The dialog is closed. Nothing is told to a window that is gone, nor of a program that is. */
static void
tell_stopped (const Asked *asked, GantryVariant *variant)
{
  const GantryCompilation *now = gantry_document_get_compilation (asked->window->document);

  if (!gtk_widget_get_mapped (GTK_WIDGET (asked->window)) || now == NULL || now->model != asked->compilation->model)
    return;
  if (variant != NULL)
    offer_answer (asked->window, variant);
  else
    _gantry_window_toast (asked->window, "Search stopped before anything was found; placements are as they were");
}

static void
solved (GObject *source, GAsyncResult *result, gpointer data)
{
  Asked *asked = data;
  Solve *s = asked->solve;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryVariant) found = gantry_document_solve_finish (GANTRY_DOCUMENT (source), result, &error);
  g_autoptr (GantryVariant) variant = found != NULL ? gantry_variant_renamed (found, asked->name) : NULL;
  GtkWindow *dialog = s->dialog;

  set_searching (s, FALSE);
  if (dialog == NULL)
    tell_stopped (asked, variant);
  else if (variant != NULL)
    {
      take_answer (asked->window, variant);
      gtk_window_close (dialog);
    }
  else if (error != NULL)
    say (s, g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) ? "Stopped before anything was found" : error->message, TRUE);
  asked_free (asked);
}

/* The same with the batch divided: another program, of which a variant of this one would say nothing. */
static void
divided (GObject *source, GAsyncResult *result, gpointer data)
{
  Asked *asked = data;
  Solve *s = asked->solve;
  GtkWindow *dialog = s->dialog;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryDivided) answer = gantry_document_divide_finish (GANTRY_DOCUMENT (source), result, &error);

  set_searching (s, FALSE);
  if (dialog == NULL)
    tell_stopped (asked, NULL);
  else if (answer != NULL)
    {
      g_autofree char *figures = figures_of (answer->variant);
      g_autofree char *text = answer->microbatches == 1 ? g_strdup_printf ("%s: %s, the batch as a whole", asked->name, figures)
                                                        : g_strdup_printf ("%s: %s, in %u microbatches of %" G_GINT64_FORMAT, asked->name, figures,
                                                                           answer->microbatches, answer->batch / answer->microbatches);

      _gantry_window_toast (
        asked->window, gantry_document_load_divided (s->document, answer) ? text : "Another model was opened meanwhile: what was found is not of this one");
      gtk_window_close (dialog);
    }
  else if (error != NULL)
    say (s, g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) ? "Stopped before anything was found" : error->message, TRUE);
  asked_free (asked);
}

static gboolean
read_goal (Solve *s, GantrySolveGoal *goal, GError **error)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (s->size));

  goal->allowed = 1u << GANTRY_PLACEMENT_KEEP;
  if (gtk_check_button_get_active (GTK_CHECK_BUTTON (s->recompute)))
    goal->allowed |= 1u << GANTRY_PLACEMENT_RECOMPUTE;
  if (gtk_check_button_get_active (GTK_CHECK_BUTTON (s->offload)))
    goal->allowed |= 1u << GANTRY_PLACEMENT_OFFLOAD;
  if (gtk_check_button_get_active (GTK_CHECK_BUTTON (s->approximate)))
    goal->allowed |= GANTRY_APPROXIMATE_PLACEMENTS;
  if (gtk_widget_get_sensitive (s->price))
    goal->host_price = gtk_spin_button_get_value (GTK_SPIN_BUTTON (s->price)) * 1000;
  goal->seconds = gtk_spin_button_get_value (GTK_SPIN_BUTTON (s->seconds));
  if (!gtk_check_button_get_active (GTK_CHECK_BUTTON (s->fit)))
    {
      goal->step_us = gtk_spin_button_get_value (GTK_SPIN_BUTTON (s->time)) * 1000;
      return TRUE;
    }
  if (!gantry_size_read (s->document, text, gantry_document_get_settings (s->document)->target.memory_limit, &goal->memory_bytes, error))
    return FALSE;
  if (goal->memory_bytes > 0)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "nothing fits into no bytes: write for example 8GiB or 50%%");
  return FALSE;
}

static void
start (Solve *s)
{
  GantrySolveGoal goal = { 0 };
  g_autoptr (GError) error = NULL;
  Asked *asked;

  if (s->searching)
    {
      gantry_document_cancel_solve (s->document);
      return;
    }
  if (!read_goal (s, &goal, &error))
    {
      say (s, error->message, TRUE);
      return;
    }
  say (s, "Searching", FALSE);
  set_searching (s, TRUE);
  asked = g_new0 (Asked, 1);
  *asked = (Asked){ s, g_object_ref (s->window), gantry_compilation_ref (gantry_document_get_compilation (s->document)), goal_name (&goal) };
  g_atomic_ref_count_inc (&s->ref_count);
  if (gtk_widget_get_sensitive (s->microbatches) && gtk_check_button_get_active (GTK_CHECK_BUTTON (s->microbatches)))
    gantry_document_divide_async (s->document, &goal, divided, asked);
  else
    gantry_document_solve_async (s->document, &goal, solved, asked);
}

static void
goal_changed (Solve *s)
{
  gboolean fit = gtk_check_button_get_active (GTK_CHECK_BUTTON (s->fit));

  gtk_widget_set_sensitive (s->size, fit);
  gtk_widget_set_sensitive (s->time, !fit);
  gtk_widget_set_sensitive (s->microbatches, fit);
  gtk_widget_set_sensitive (s->price, fit && gtk_check_button_get_active (GTK_CHECK_BUTTON (s->offload)));
}

/* Its size is the one to fit into. */
static void
point_chosen (GantryFrontView *view, const GantryVariant *point, gpointer data)
{
  Solve *s = data;
  g_autofree char *size = gantry_format_limit (point->figures.peak_bytes);

  if (s->searching)
    return;
  gtk_check_button_set_active (GTK_CHECK_BUTTON (s->fit), TRUE);
  gtk_editable_set_text (GTK_EDITABLE (s->size), size);
}

/* Closing the dialog stops the search and changes nothing. */
static void
destroyed (GtkWidget *dialog, gpointer data)
{
  Solve *s = data;

  g_signal_handler_disconnect (s->document, s->activity_handler);
  s->dialog = NULL;
  if (s->searching)
    gantry_document_cancel_solve (s->document);
  solve_unref (s);
}

static void
make_goals (Solve *s, GtkGrid *grid)
{
  const GantryForecast *now = gantry_document_get_prediction (s->document);
  const GantryCompileSettings *settings = gantry_document_get_settings (s->document);
  g_autofree char *limit = settings->target.memory_limit > 0 ? gantry_size_limit_text (&settings->target) : g_strdup ("50%");
  double step_ms = now != NULL ? now->prediction->step_us / 1000 : 1;

  s->fit = gtk_check_button_new_with_mnemonic ("_Fit into, as fast as can be");
  s->most = gtk_check_button_new_with_mnemonic ("_At most this time, as small as can be");
  gtk_check_button_set_group (GTK_CHECK_BUTTON (s->most), GTK_CHECK_BUTTON (s->fit));
  gtk_check_button_set_active (GTK_CHECK_BUTTON (s->fit), TRUE);
  s->size = gtk_entry_new ();
  gtk_editable_set_text (GTK_EDITABLE (s->size), limit);
  gtk_entry_set_activates_default (GTK_ENTRY (s->size), TRUE);
  gtk_widget_set_tooltip_text (s->size, "8 GiB, 512MiB, or 50% of the peak of keeping everything");
  s->time = gtk_spin_button_new_with_range (step_ms / 1000, step_ms * 100, step_ms / 20);
  gtk_spin_button_set_digits (GTK_SPIN_BUTTON (s->time), 3);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (s->time), step_ms * 1.1);
  gtk_grid_attach (grid, s->fit, 0, 0, 1, 1);
  gtk_grid_attach (grid, s->size, 1, 0, 1, 1);
  gtk_grid_attach (grid, s->most, 0, 1, 1, 1);
  gtk_grid_attach (grid, s->time, 1, 1, 1, 1);
  gtk_grid_attach (grid, gtk_label_new ("ms"), 2, 1, 1, 1);
}

/* A row of the form: what it is, a number, and its unit. */
static void
attach_number (GtkGrid *grid, int row, const char *text, GtkWidget *number, const char *unit)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_widget_set_halign (label, GTK_ALIGN_START);
  gtk_label_set_mnemonic_widget (GTK_LABEL (label), number);
  gtk_grid_attach (grid, label, 0, row, 1, 1);
  gtk_grid_attach (grid, number, 1, row, 1, 1);
  gtk_grid_attach (grid, gtk_label_new (unit), 2, row, 1, 1);
}

static GtkWidget *
make_form (Solve *s)
{
  GtkWidget *grid = s->form = gtk_grid_new ();

  gtk_grid_set_row_spacing (GTK_GRID (grid), 10);
  gtk_grid_set_column_spacing (GTK_GRID (grid), 12);
  make_goals (s, GTK_GRID (grid));
  s->recompute = gtk_check_button_new_with_mnemonic ("Allow _recomputing");
  s->offload = gtk_check_button_new_with_mnemonic ("Allow _offloading to host memory");
  s->approximate = gtk_check_button_new_with_mnemonic ("Allow _approximate results: residuals in bf16 or 8 bits");
  s->microbatches = gtk_check_button_new_with_mnemonic ("Allow _microbatches: the batch in parts, one after the other");
  gtk_widget_set_tooltip_text (s->microbatches,
                               "As many as make the fastest step. Loss and gradients stay those of the whole batch: a loss that is not shown to be a mean over "
                               "examples that do not depend on each other is refused");
  gtk_check_button_set_active (GTK_CHECK_BUTTON (s->recompute), TRUE);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (s->offload), TRUE);
  s->price = gtk_spin_button_new_with_range (0, 1e6, 0.1);
  gtk_spin_button_set_digits (GTK_SPIN_BUTTON (s->price), 3);
  gtk_widget_set_tooltip_text (s->price, "How much longer a step may take for each GiB of host memory that it then does without; 0: host memory is free");
  s->seconds = gtk_spin_button_new_with_range (1, 3600, 1);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (s->seconds), 60);
  gtk_grid_attach (GTK_GRID (grid), s->recompute, 0, 2, 3, 1);
  gtk_grid_attach (GTK_GRID (grid), s->offload, 0, 3, 3, 1);
  gtk_grid_attach (GTK_GRID (grid), s->approximate, 0, 4, 3, 1);
  gtk_grid_attach (GTK_GRID (grid), s->microbatches, 0, 5, 3, 1);
  attach_number (GTK_GRID (grid), 6, "A GiB of host memory is worth", s->price, "ms");
  attach_number (GTK_GRID (grid), 7, "End the search after", s->seconds, "s");
  gtk_widget_set_name (s->fit, "fit");
  gtk_widget_set_name (s->most, "most");
  gtk_widget_set_name (s->size, "size");
  gtk_widget_set_name (s->recompute, "recompute");
  gtk_widget_set_name (s->offload, "offload");
  gtk_widget_set_name (s->approximate, "approximate");
  gtk_widget_set_name (s->price, "price");
  gtk_widget_set_name (s->microbatches, "microbatches");
  return grid;
}

static GtkWidget *
make_content (Solve *s)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 18), *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);

  gtk_widget_set_margin_start (box, 24);
  gtk_widget_set_margin_end (box, 24);
  gtk_widget_set_margin_top (box, 12);
  gtk_widget_set_margin_bottom (box, 18);
  s->spinner = gtk_spinner_new ();
  gtk_widget_set_visible (s->spinner, FALSE);
  s->message = GTK_LABEL (gtk_label_new ("Placements made by clicks stay as they are."));
  gtk_label_set_wrap (s->message, TRUE);
  gtk_label_set_xalign (s->message, 0);
  gtk_label_set_selectable (s->message, TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (s->message), TRUE);
  gtk_widget_set_name (GTK_WIDGET (s->message), "message");
  gtk_box_append (GTK_BOX (line), s->spinner);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (s->message));
  s->front = gantry_front_view_new (s->document);
  gtk_widget_set_name (s->front, "front");
  gtk_box_append (GTK_BOX (box), make_form (s));
  gtk_box_append (GTK_BOX (box), s->front);
  gtk_box_append (GTK_BOX (box), line);
  return box;
}

void
_gantry_dialog_solve (GantryWindow *window)
{
  Solve *s = g_new0 (Solve, 1);
  GtkWidget *content;

  g_atomic_ref_count_init (&s->ref_count);
  s->window = window;
  s->document = g_object_ref (window->document);
  content = make_content (s);
  s->start = gtk_button_new_with_mnemonic ("_Search");
  gtk_widget_add_css_class (s->start, "suggested-action");
  gtk_widget_set_name (s->start, "start");
  s->dialog = _gantry_dialog_new (window, "solve", "Fit", content, s->start);
  gtk_window_set_default_size (s->dialog, 520, -1);
  gtk_window_set_default_widget (s->dialog, s->start);
  s->activity_handler = g_signal_connect_swapped (window->document, "notify::activity", G_CALLBACK (activity_changed), s);
  g_signal_connect_swapped (s->fit, "toggled", G_CALLBACK (goal_changed), s);
  g_signal_connect_swapped (s->offload, "toggled", G_CALLBACK (goal_changed), s);
  g_signal_connect_swapped (s->start, "clicked", G_CALLBACK (start), s);
  g_signal_connect (s->front, "chosen", G_CALLBACK (point_chosen), s);
  g_signal_connect (s->dialog, "destroy", G_CALLBACK (destroyed), s);
  goal_changed (s);
  gtk_window_present (s->dialog);
}
