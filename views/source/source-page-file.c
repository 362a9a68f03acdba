/* SPDX-License-Identifier: Apache-2.0 */
/* Which file is shown and when it is read, and the chain of places that lead to it. */
#include "core/base/error.h"
#include "views/format.h"
#include "views/scroll-fit.h"
#include "views/source/source-chain.h"
#include "views/source/source-page-private.h"
#include <string.h>

const GantryModel *
_gantry_source_page_model (const GantrySourcePage *self)
{
  return self->facts->compilation->model;
}

static GantryContext *
context_of (const GantrySourcePage *self)
{
  return self->facts->imported->module->context;
}

void
_gantry_source_page_show_words (GantrySourcePage *self, const char *words, gboolean ask)
{
  gtk_label_set_text (self->words, words);
  gtk_widget_set_visible (self->ask, ask);
  gtk_widget_set_visible (GTK_WIDGET (self->note), FALSE);
  gtk_stack_set_visible_child_name (self->stack, "words");
}

/* The chain of places */

static void
place_chosen (GtkWidget *button, gpointer data)
{
  GantrySourcePage *self = data;
  const GantryLocation *place = g_object_get_data (G_OBJECT (button), "place");

  self->jump = *place;
  if (place->file != self->file)
    _gantry_source_page_show_file (self, place->file);
  else if (self->reading == NULL)
    _gantry_source_page_mark (self);
}

static GtkWidget *
place_button_new (GantrySourcePage *self, const GantrySourceStep *step)
{
  g_autofree char *file = g_path_get_basename (gantry_context_string (context_of (self), step->place->file));
  g_autofree char *text = g_strdup_printf ("%s:%u  %s", file, step->place->line, step->text);
  GtkWidget *button = gtk_button_new (), *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_button_set_child (GTK_BUTTON (button), label);
  gtk_widget_set_tooltip_text (button, text);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "inspector-link");
  g_object_set_data_full (G_OBJECT (button), "place", g_memdup2 (step->place, sizeof *step->place), g_free);
  g_signal_connect_object (button, "clicked", G_CALLBACK (place_chosen), self, 0);
  return button;
}

/* Of one place the text itself tells enough. */
void
_gantry_source_page_show_chain (GantrySourcePage *self)
{
  const GantryCompilation *compilation = self->facts->compilation;
  guint snapshot = MIN (gantry_selection_snapshot (self->selection), compilation->n_snapshots - 1);
  guint32 primary = gantry_selection_primary (self->selection);
  g_autoptr (GArray) steps = primary != 0 ? gantry_source_chain_new (compilation, snapshot, primary) : NULL;
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gboolean shown = steps != NULL && steps->len > 1;

  for (guint i = 0; shown && i < steps->len; i++)
    gtk_box_append (GTK_BOX (box), place_button_new (self, &g_array_index (steps, GantrySourceStep, i)));
  gtk_widget_set_name (box, "places");
  gantry_scroll_fit_set_child (GANTRY_SCROLL_FIT (self->chain), box);
  gtk_widget_set_visible (self->chain, shown);
}

/* The file */

char *
_gantry_source_page_path_of (GantrySourcePage *self, guint32 file)
{
  const char *name = gantry_context_string (context_of (self), file);
  g_autofree char *folder = g_path_get_dirname (_gantry_source_page_model (self)->path);

  return g_canonicalize_filename (name, folder);
}

static void
show_note (GantrySourcePage *self, const GantrySourceText *text)
{
  g_autoptr (GString) note = g_string_new (NULL);

  if (self->error != NULL)
    g_string_append_printf (note, "%s\n", self->error);
  if (text->age == GANTRY_SOURCE_CHANGED)
    g_string_append (note, "This file has changed since the model was opened: lines may have moved. ");
  else if (text->age == GANTRY_SOURCE_NEWER)
    g_string_append (note, "This file is newer than the model: lines may have moved. ");
  if (!text->is_utf8)
    g_string_append (note, "It is not UTF-8: what cannot be read is replaced. ");
  if (text->n_cut > 0)
    {
      g_autofree char *lines = gantry_format_plural (text->n_cut, "line is", "lines are");

      g_string_append_printf (note, "%s too long, and cut. ", lines);
    }
  gantry_notice_set_text (self->note, g_strchomp (note->str));
  gtk_widget_set_visible (GTK_WIDGET (self->note), *note->str != '\0');
}

static void
text_read (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantrySourcePage) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantrySourceText) text = gantry_source_text_read_finish (result, &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || self->facts == NULL)
    return;
  g_clear_object (&self->reading);
  gantry_source_view_set_text (self->view, text);
  if (text == NULL)
    {
      _gantry_source_page_show_words (self, error->message, g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_OUTSIDE));
      return;
    }
  gtk_stack_set_visible_child_name (self->stack, "text");
  show_note (self, text);
  gantry_source_view_mark_errors (self->view, NULL, 0);
  if (self->facts->compilation == gantry_document_get_compilation (self->document))
    _gantry_source_page_mark (self);
  if (self->places != NULL)
    gantry_source_view_mark_errors (self->view, (const GantrySourceSpot *) (gpointer) self->places->spots->data, self->places->spots->len);
}

void
_gantry_source_page_stop_reading (GantrySourcePage *self)
{
  if (self->reading != NULL)
    g_cancellable_cancel (self->reading);
  g_clear_object (&self->reading);
}

static void
read_file (GantrySourcePage *self)
{
  const GantryModel *model = _gantry_source_page_model (self);
  GantrySourceRequest request = { self->path, model->path, g_hash_table_contains (self->asked, self->path), { 0 }, 0 };

  _gantry_source_page_stop_reading (self);
  for (guint i = 0; model->files != NULL && i < model->files->len; i++)
    {
      const GantryModelFile *file = &g_array_index (model->files, GantryModelFile, i);

      if (i == 0)
        request.model_modified_ns = file->identity.modified_ns;
      if (strcmp (file->path, self->path) == 0)
        {
          request.identity = file->identity;
          request.anywhere = TRUE; /* it was read already */
        }
    }
  self->reading = g_cancellable_new ();
  gantry_source_text_read_async (&request, self->reading, text_read, g_object_ref (self));
}

void
_gantry_source_page_forget_error (GantrySourcePage *self)
{
  g_clear_pointer (&self->error, g_free);
  g_clear_pointer (&self->places, gantry_source_places_free);
}

void
_gantry_source_page_show_file (GantrySourcePage *self, guint32 file)
{
  guint position;

  for (position = 0; position < self->files->len; position++)
    if (g_array_index (self->files, guint32, position) == file)
      break;
  if (position == self->files->len)
    return;
  self->filling = TRUE;
  gtk_drop_down_set_selected (self->chooser, position);
  self->filling = FALSE;
  if (file != self->file)
    _gantry_source_page_forget_error (self);
  g_free (self->path);
  self->file = file;
  self->path = _gantry_source_page_path_of (self, file);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->chooser), self->path);
  gantry_source_view_set_heat (self->view, self->facts->heat, file);
  read_file (self);
}

gboolean
gantry_source_page_show_error (GantrySourcePage *self, const char *message)
{
  g_autoptr (GantrySourcePlaces) places = gantry_source_places_of (message);
  g_autofree char *folder = NULL, *path = NULL;

  if (places == NULL || self->facts == NULL || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return FALSE;
  folder = g_path_get_dirname (_gantry_source_page_model (self)->path);
  path = g_canonicalize_filename (places->path, folder);
  for (guint i = 0; i < self->files->len; i++)
    {
      guint32 file = g_array_index (self->files, guint32, i);
      g_autofree char *other = _gantry_source_page_path_of (self, file);

      if (strcmp (path, other) != 0)
        continue;
      _gantry_source_page_forget_error (self);
      self->file = file;
      self->error = g_strdup (message);
      self->places = g_steal_pointer (&places);
      _gantry_source_page_show_file (self, file);
      return TRUE;
    }
  return FALSE;
}

void
_gantry_source_page_file_chosen (GantrySourcePage *self)
{
  guint position = gtk_drop_down_get_selected (self->chooser);

  if (!self->filling && self->facts != NULL && position < self->files->len)
    _gantry_source_page_show_file (self, g_array_index (self->files, guint32, position));
}

void
_gantry_source_page_ask_clicked (GantrySourcePage *self)
{
  if (self->path == NULL)
    return;
  g_hash_table_add (self->asked, g_strdup (self->path));
  read_file (self);
}

/* Where the primary node was written; @fallback where it has no place. */
guint32
_gantry_source_page_file_of_selection (GantrySourcePage *self, guint32 fallback)
{
  guint snapshot = MIN (gantry_selection_snapshot (self->selection), self->facts->compilation->n_snapshots - 1);
  const GantryModule *module = self->facts->compilation->snapshots[snapshot].module;
  const GantryNode *node = gantry_module_node (module, gantry_selection_primary (self->selection));
  const GantryLocation *place = node != NULL ? gantry_source_place (module, node) : NULL;

  return place != NULL ? place->file : fallback;
}

void
_gantry_source_page_selection_changed (GantrySourcePage *self)
{
  guint32 file;

  if (self->facts == NULL || self->facts->compilation != gantry_document_get_compilation (self->document))
    return; /* it is looked at when the facts are there */
  self->jump.line = 0;
  _gantry_source_page_show_chain (self);
  /* Who chose a line goes on reading there, wherever the kernel of that line begins. */
  file = self->choosing ? self->file : _gantry_source_page_file_of_selection (self, self->file);
  if (file != self->file)
    _gantry_source_page_show_file (self, file);
  else if (self->reading == NULL && self->file != 0)
    _gantry_source_page_mark (self);
}
