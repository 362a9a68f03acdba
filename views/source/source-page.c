/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of a compilation, and when it is computed; the widget. */
#include "views/format.h"
#include "views/scroll-fit.h"
#include "views/shown-plan.h"
#include "views/source/source-page-private.h"
#include "views/wrapped-label.h"
#include <string.h>

enum
{
  SELECTED,
  SOURCE_FOUND,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (GantrySourcePage, gantry_source_page, GTK_TYPE_BOX)

/* What is shown of a compilation */

static gboolean
names_file (const GantrySourcePage *self, guint32 file)
{
  for (guint i = 0; i < self->files->len; i++)
    if (g_array_index (self->files, guint32, i) == file)
      return TRUE;
  return FALSE;
}

/* The file that was shown before, by its path; else that of what is selected; else the model's own; else the first that is named. */
static guint32
choose_file (GantrySourcePage *self, const char *before)
{
  guint32 own = g_array_index (self->files, guint32, 0);

  for (guint i = 0; i < self->files->len; i++)
    {
      guint32 file = g_array_index (self->files, guint32, i);
      g_autofree char *path = _gantry_source_page_path_of (self, file);

      if (g_strcmp0 (path, before) == 0)
        return file;
      if (strcmp (path, _gantry_source_page_model (self)->path) == 0)
        own = file;
    }
  return _gantry_source_page_file_of_selection (self, own);
}

static void
fill_chooser (GantrySourcePage *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  g_array_set_size (self->files, 0);
  g_array_append_vals (self->files, self->facts->imported->files->data, self->facts->imported->files->len);
  for (guint i = 0; i < self->files->len; i++)
    {
      g_autofree char *path = _gantry_source_page_path_of (self, g_array_index (self->files, guint32, i));
      g_autofree char *name = gantry_format_location (path, _gantry_source_page_model (self)->path);

      gtk_string_list_append (names, name);
    }
  self->filling = TRUE;
  gtk_drop_down_set_model (self->chooser, G_LIST_MODEL (names));
  self->filling = FALSE;
  gtk_widget_set_visible (GTK_WIDGET (self->chooser), self->files->len > 0);
}

static void
show_imported (GantrySourcePage *self)
{
  g_autofree char *before = g_steal_pointer (&self->path);

  _gantry_source_page_stop_reading (self);
  _gantry_source_page_forget_error (self);
  fill_chooser (self);
  self->file = 0;
  if (self->files->len > 0)
    {
      _gantry_source_page_show_file (self, choose_file (self, before));
      return;
    }
  gantry_source_view_set_text (self->view, NULL);
  _gantry_source_page_show_words (self,
                                  "This model does not say in which lines its nodes were written, as Python programs and files of StableHLO and HLO do. "
                                  "Close this page with F12.",
                                  FALSE);
}

static void
tell_source (GantrySourcePage *self)
{
  if (self->has_source == (self->files->len > 0))
    return;
  self->has_source = self->files->len > 0;
  g_signal_emit (self, signals[SOURCE_FOUND], 0);
}

static void
facts_made (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantrySourcePage) self = data;
  g_autoptr (GError) error = NULL;
  GantrySourceFacts *facts = gantry_source_facts_make_finish (result, &error);
  g_autoptr (GantrySourceFacts) before = NULL;
  guint32 chosen = self->chosen;

  if (facts == NULL)
    return; /* asked for anew */
  g_clear_object (&self->making);
  before = g_steal_pointer (&self->facts);
  self->facts = facts;
  self->chosen = 0;
  if (before == NULL || before->imported != facts->imported)
    {
      self->jump.line = 0;
      show_imported (self);
      _gantry_source_page_show_chain (self);
      tell_source (self);
    }
  else
    {
      if (self->file != 0 && names_file (self, self->file))
        gantry_source_view_set_heat (self->view, facts->heat, self->file);
      if (before->compilation != facts->compilation)
        _gantry_source_page_selection_changed (self);
    }
  if (chosen != 0 && _gantry_source_page_is_of_now (self))
    _gantry_source_page_select_line (self, chosen);
}

static void
forget (GantrySourcePage *self)
{
  _gantry_source_page_stop_reading (self);
  _gantry_source_page_forget_error (self);
  g_clear_pointer (&self->facts, gantry_source_facts_free);
  g_clear_pointer (&self->path, g_free);
  g_array_set_size (self->files, 0);
  g_hash_table_remove_all (self->asked);
  self->file = self->chosen = 0;
  gantry_source_view_set_heat (self->view, NULL, 0);
  gantry_source_view_set_text (self->view, NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->chooser), FALSE);
  gtk_widget_set_visible (self->chain, FALSE);
  _gantry_source_page_show_words (self, "Nothing is open. The lines that a model was written in are shown here.", FALSE);
}

/* The plan of what is shown, as the curve has it. (transfer full) (nullable) */
static GantryPlan *
plan_of (GantrySourcePage *self)
{
  const GantryForecast *forecast = gantry_document_get_prediction (self->document);
  GantryPlan *plan = gantry_shown_plan (self->document), *refused = gantry_document_get_refused_plan (self->document);

  if (gantry_shows_forecast (self->document))
    return gantry_plan_is_of_forecast (refused, forecast) ? gantry_plan_ref (refused) : gantry_prediction_to_plan (forecast->prediction);
  return plan != NULL ? gantry_plan_ref (plan) : NULL;
}

static gboolean
update (gpointer data)
{
  GantrySourcePage *self = data;
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  g_autoptr (GantryPlan) plan = NULL;

  self->idle = 0;
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return G_SOURCE_REMOVE;
  if (self->making != NULL)
    g_cancellable_cancel (self->making);
  g_clear_object (&self->making);
  if (compilation == NULL)
    {
      forget (self);
      return G_SOURCE_REMOVE;
    }
  plan = plan_of (self);
  self->making = g_cancellable_new ();
  gantry_source_facts_make_async (compilation, self->snapshot, plan, gantry_shown_run (self->document), self->facts, self->making, facts_made,
                                  g_object_ref (self));
  return G_SOURCE_REMOVE;
}

/* Several things change at once when a compilation arrives: they are looked at together. */
static void
queue_update (GantrySourcePage *self)
{
  if (self->idle == 0)
    self->idle = g_idle_add_full (GTK_PRIORITY_RESIZE - 1, update, self, NULL);
}

void
gantry_source_page_set_snapshot (GantrySourcePage *self, guint snapshot)
{
  if (self->snapshot == snapshot)
    return;
  self->snapshot = snapshot;
  queue_update (self);
}

void
gantry_source_page_focus (GantrySourcePage *self)
{
  gtk_widget_child_focus (GTK_WIDGET (self->view), GTK_DIR_TAB_FORWARD);
}

/* Reading */

gboolean
gantry_source_page_has_source (GantrySourcePage *self)
{
  return self->has_source;
}

gboolean
gantry_source_page_is_ready (GantrySourcePage *self)
{
  return self->idle == 0 && self->making == NULL && self->reading == NULL;
}

GantrySourceView *
gantry_source_page_get_view (GantrySourcePage *self)
{
  return self->view;
}

const char *
gantry_source_page_get_path (GantrySourcePage *self)
{
  return self->path;
}

const char *
gantry_source_page_get_words (GantrySourcePage *self)
{
  return strcmp (gtk_stack_get_visible_child_name (self->stack), "words") == 0 ? gtk_label_get_text (self->words) : NULL;
}

const char *
gantry_source_page_get_note (GantrySourcePage *self)
{
  return gtk_widget_get_visible (GTK_WIDGET (self->note)) ? gantry_notice_get_text (self->note) : NULL;
}

/* The object */

static void
gantry_source_page_dispose (GObject *object)
{
  GantrySourcePage *self = GANTRY_SOURCE_PAGE (object);

  g_clear_handle_id (&self->idle, g_source_remove);
  _gantry_source_page_stop_reading (self);
  _gantry_source_page_forget_error (self);
  if (self->making != NULL)
    g_cancellable_cancel (self->making);
  g_clear_object (&self->making);
  g_clear_pointer (&self->facts, gantry_source_facts_free);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->files, g_array_unref);
  g_clear_pointer (&self->asked, g_hash_table_unref);
  g_clear_object (&self->document);
  g_clear_object (&self->selection);
  G_OBJECT_CLASS (gantry_source_page_parent_class)->dispose (object);
}

static void
gantry_source_page_class_init (GantrySourcePageClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_source_page_dispose;
  signals[SELECTED] = g_signal_new ("selected", GANTRY_TYPE_SOURCE_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SOURCE_FOUND] = g_signal_new ("source-found", GANTRY_TYPE_SOURCE_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
add_title (GantrySourcePage *self)
{
  GtkWidget *title = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *heading = gtk_label_new ("Source");

  gtk_widget_add_css_class (title, "pane-title");
  gtk_widget_add_css_class (heading, "heading");
  self->chooser = GTK_DROP_DOWN (gtk_drop_down_new (NULL, NULL));
  gtk_widget_set_hexpand (GTK_WIDGET (self->chooser), TRUE);
  gtk_widget_set_halign (GTK_WIDGET (self->chooser), GTK_ALIGN_END);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->chooser), GTK_ACCESSIBLE_PROPERTY_LABEL, "File", -1);
  g_signal_connect_swapped (self->chooser, "notify::selected", G_CALLBACK (_gantry_source_page_file_chosen), self);
  gtk_box_append (GTK_BOX (title), heading);
  gtk_box_append (GTK_BOX (title), GTK_WIDGET (self->chooser));
  gtk_box_append (GTK_BOX (self), title);
  gtk_box_append (GTK_BOX (self), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
}

static GtkWidget *
words_new (GantrySourcePage *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12), *words = gantry_wrapped_label_new ("");

  self->words = GTK_LABEL (words);
  gtk_label_set_xalign (self->words, 0.5f);
  gtk_label_set_justify (self->words, GTK_JUSTIFY_CENTER);
  gtk_label_set_max_width_chars (self->words, 40);
  gtk_widget_add_css_class (words, "secondary");
  self->ask = gtk_button_new_with_label ("Show the file");
  gtk_widget_set_name (self->ask, "show-outside");
  gtk_widget_set_halign (self->ask, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (self->ask, "clicked", G_CALLBACK (_gantry_source_page_ask_clicked), self);
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_widget_set_margin_start (box, 18);
  gtk_widget_set_margin_end (box, 18);
  gtk_box_append (GTK_BOX (box), words);
  gtk_box_append (GTK_BOX (box), self->ask);
  return gantry_scroll_fit_new (box, 60, G_MAXINT16);
}

static void
gantry_source_page_init (GantrySourcePage *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  self->files = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->asked = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  add_title (self);
  self->note = GANTRY_NOTICE (gantry_notice_new (""));
  gtk_widget_add_css_class (GTK_WIDGET (self->note), "notice");
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->note));
  self->view = GANTRY_SOURCE_VIEW (gantry_source_view_new ());
  g_signal_connect_object (self->view, "line-chosen", G_CALLBACK (_gantry_source_page_line_chosen), self, 0);
  g_signal_connect_object (self->view, "describe-line", G_CALLBACK (_gantry_source_page_describe_line), self, 0);
  self->stack = GTK_STACK (gtk_stack_new ());
  gtk_widget_set_vexpand (GTK_WIDGET (self->stack), TRUE);
  gtk_stack_add_named (self->stack, GTK_WIDGET (self->view), "text");
  gtk_stack_add_named (self->stack, words_new (self), "words");
  self->chain = gantry_scroll_fit_new (NULL, 30, 110);
  gtk_widget_set_visible (self->chain, FALSE);
  gtk_box_append (GTK_BOX (self), self->chain);
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->stack));
  g_signal_connect (self, "map", G_CALLBACK (queue_update), NULL);
}

GtkWidget *
gantry_source_page_new (GantryDocument *document, GantrySelection *selection)
{
  static const char *const watched[] = { "notify::compilation", "notify::plan", "notify::prediction", "notify::run" };
  GantrySourcePage *self = g_object_new (GANTRY_TYPE_SOURCE_PAGE, NULL);

  self->document = g_object_ref (document);
  self->selection = g_object_ref (selection);
  for (guint i = 0; i < G_N_ELEMENTS (watched); i++)
    g_signal_connect_object (document, watched[i], G_CALLBACK (queue_update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (selection, "changed", G_CALLBACK (_gantry_source_page_selection_changed), self, G_CONNECT_SWAPPED);
  forget (self);
  return GTK_WIDGET (self);
}
