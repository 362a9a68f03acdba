/* SPDX-License-Identifier: Apache-2.0 */
/* What the header says of the placements and takes for them: the limit of memory, the variant that they are, and what
 * undo and redo would do. */
#include "app/gantry/window-private.h"
#include "core/document/size.h"
#include "views/format.h"
#include "views/shown-plan.h"
#include <string.h>

/* The limit */

static char *
limit_text (GantryWindow *self)
{
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);

  return settings != NULL ? gantry_size_limit_text (&settings->target) : g_strdup ("");
}

static void
show_limit (GantryWindow *self)
{
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);
  guint64 limit = settings != NULL ? settings->target.memory_limit : 0;
  g_autofree char *text = limit_text (self), *bytes = gantry_format_integer (limit), *size = gantry_size_text (limit);
  g_autofree char *now = limit > 0 ? g_strdup_printf ("\nNow %s: %s bytes", size, bytes) : g_strdup ("");
  g_autofree char *tooltip = g_strconcat ("Limit of device memory: 8 GiB, 512MiB, or 50% of the peak of keeping everything; empty: none", now, NULL);

  self->limit_shown = limit;
  gtk_editable_set_text (GTK_EDITABLE (self->limit_entry), text);
  gtk_widget_remove_css_class (GTK_WIDGET (self->limit_entry), "error");
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->limit_entry), tooltip);
}

static void
limit_given (GantryWindow *self)
{
  g_autofree char *text = g_strstrip (g_strdup (gtk_editable_get_text (GTK_EDITABLE (self->limit_entry))));
  g_autofree char *shown = limit_text (self);
  g_autoptr (GError) error = NULL;
  guint64 bytes = 0;
  GantrySize size;

  if (strcmp (text, shown) == 0) /* what is shown is rounded */
    return;
  if (gantry_size_parse (text, &size, NULL) && size.part > 0)
    gantry_document_set_limit_part (self->document, size.part);
  else if (gantry_size_read (self->document, text, self->limit_shown, &bytes, &error))
    gantry_document_set_limit (self->document, bytes);
  else
    {
      gtk_widget_add_css_class (GTK_WIDGET (self->limit_entry), "error");
      gtk_widget_set_tooltip_text (GTK_WIDGET (self->limit_entry), error->message);
      _gantry_window_toast (self, error->message);
      return;
    }
  show_limit (self);
  if (gantry_document_fits (self->document))
    gtk_widget_grab_focus (GTK_WIDGET (gantry_pass_view_get_canvas (self->pass_view)));
  else /* who tries again types here, and not the shortcuts of the graph */
    gtk_editable_select_region (GTK_EDITABLE (self->limit_entry), 0, -1);
}

static gboolean
limit_key (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, gpointer data)
{
  GantryWindow *self = data;

  if (key != GDK_KEY_Escape)
    return FALSE;
  show_limit (self);
  gtk_widget_grab_focus (GTK_WIDGET (gantry_pass_view_get_canvas (self->pass_view)));
  return TRUE;
}

/* Variants */

/* What a part comes to follows the program. */
static gboolean
same_limit (const GantryVariant *variant, const GantryTarget *target)
{
  return variant->limit_part == target->memory_part && (target->memory_part > 0 || variant->limit == target->memory_limit);
}

/* The variant that says what the document says now. */
static GantryVariant *
current_variant (GantryWindow *self)
{
  GPtrArray *variants = gantry_document_get_variants (self->document);
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);

  for (guint i = 0; settings != NULL && variants != NULL && i < variants->len; i++)
    {
      GantryVariant *variant = g_ptr_array_index (variants, i);

      if (g_strcmp0 (variant->policy, settings->policy) == 0 && same_limit (variant, &settings->target)
          && gantry_choices_equal (variant->choices, settings->choices))
        return variant;
    }
  return NULL;
}

/* "12.4 MiB, 3.21 ms". (transfer full) (nullable): nothing is known of it as the program and its times are */
static char *
figures_text (GantryWindow *self, const GantryVariant *variant)
{
  g_autofree char *peak = gantry_memory_peak_text (variant->figures.peak_bytes, variant->limit, variant->figures.sizes_known);
  g_autofree char *step = gantry_format_ns ((gint64) (variant->figures.step_us * 1000));

  if (!variant->predicted || !gantry_document_is_current (self->document, variant))
    return NULL;
  return g_strdup_printf ("%s, %s", peak, gantry_variant_fits (variant) ? step : GANTRY_DOES_NOT_FIT);
}

static GMenu *
variants_menu (GantryWindow *self)
{
  GPtrArray *variants = gantry_document_get_variants (self->document);
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenu) list = g_menu_new (), edit = g_menu_new (), other = g_menu_new ();

  for (guint i = 0; variants != NULL && i < variants->len; i++)
    {
      const GantryVariant *variant = gantry_document_get_figures (self->document, g_ptr_array_index (variants, i));
      g_autofree char *shown = gantry_variant_shown_name (variant), *name = gantry_format_short (shown, GANTRY_MENU_NAME),
                      *figures = figures_text (self, variant);
      g_autofree char *label = figures != NULL ? g_strdup_printf ("%s   %s", name, figures) : g_strdup (name);
      g_autofree char *escaped = _gantry_window_menu_text (label);
      g_autoptr (GMenuItem) item = g_menu_item_new (escaped, NULL);

      g_menu_item_set_action_and_target (item, "win.variant", "s", variant->name);
      g_menu_append_item (list, item);
    }
  g_menu_append (edit, "_Save as variant…", "win.save-variant");
  g_menu_append (edit, "_Rename…", "win.rename-variant");
  g_menu_append (edit, "_Delete", "win.delete-variant");
  g_menu_append (other, "_Policy…", "win.policy");
  g_menu_append (other, "_Fit…", "win.solve");
  g_menu_append (other, "_Orders and allocators…", "win.orders");
  g_menu_append (other, "C_lear placements", "win.clear-placements");
  g_menu_append (other, "_Compare", "win.bottom-page::compare");
  g_menu_append_section (menu, variants != NULL && variants->len > 0 ? "Variants" : NULL, G_MENU_MODEL (list));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (edit));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (other));
  return menu;
}

static void
show_variant (GantryWindow *self)
{
  const GantryVariant *current = current_variant (self);
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "variant");
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);
  gboolean placed = settings != NULL
                    && ((settings->policy != NULL && *settings->policy != '\0') || (settings->choices != NULL && settings->choices->entries->len > 0));

  gtk_label_set_text (self->variant_label, current != NULL ? current->name : placed ? "Unnamed variant" : "No variant");
  g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_string (current != NULL ? current->name : ""));
  for (guint i = 0; i < 2; i++)
    g_simple_action_set_enabled (G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), i == 0 ? "rename-variant" : "delete-variant")),
                                 current != NULL);
}

void
_gantry_window_fill_variants (GantryWindow *self)
{
  g_autoptr (GMenu) menu = variants_menu (self);

  gtk_menu_button_set_menu_model (self->variant_button, G_MENU_MODEL (menu));
  show_variant (self);
}

static GantryVariant *
find_variant (GantryWindow *self, const char *name)
{
  GPtrArray *variants = gantry_document_get_variants (self->document);

  for (guint i = 0; variants != NULL && i < variants->len; i++)
    if (strcmp (((GantryVariant *) g_ptr_array_index (variants, i))->name, name) == 0)
      return g_ptr_array_index (variants, i);
  return NULL;
}

void
_gantry_window_load_variant (GantryWindow *self, const char *name)
{
  GantryVariant *variant = find_variant (self, name);

  if (variant != NULL)
    gantry_document_load_variant (self->document, variant);
}

static void
name_given (AdwMessageDialog *dialog, const char *response, gpointer data)
{
  GantryWindow *self = data;
  GtkEditable *entry = GTK_EDITABLE (adw_message_dialog_get_extra_child (dialog));
  g_autofree char *name = g_strstrip (g_strdup (gtk_editable_get_text (entry)));
  const char *old = g_object_get_data (G_OBJECT (dialog), "old-name");

  if (strcmp (response, "save") != 0 || *name == '\0')
    return;
  if (old == NULL)
    gantry_compare_panel_save_variant (self->compare_panel, name);
  else if (strcmp (old, name) != 0 && find_variant (self, name) != NULL)
    _gantry_window_toast (self, "There is a variant of that name already");
  else
    gantry_document_rename_variant (self->document, old, name);
}

/* @old: (nullable): a variant to rename; NULL: a new one */
static void
ask_name (GantryWindow *self, const char *old)
{
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (self), old != NULL ? "Rename variant" : "Save as variant", NULL);
  GtkWidget *entry = gtk_entry_new ();

  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  gtk_editable_set_text (GTK_EDITABLE (entry), old != NULL ? old : "");
  gtk_entry_set_placeholder_text (GTK_ENTRY (entry), "Name");
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL, "Name of the variant", -1);
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), entry);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", "_Cancel", "save", old != NULL ? "_Rename" : "_Save", NULL);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "save");
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "save", ADW_RESPONSE_SUGGESTED);
  g_object_set_data_full (G_OBJECT (dialog), "old-name", g_strdup (old), g_free);
  g_signal_connect_object (dialog, "response", G_CALLBACK (name_given), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
  gtk_widget_grab_focus (entry);
}

void
_gantry_window_name_variant (GantryWindow *self, gboolean rename)
{
  const GantryVariant *current = current_variant (self);

  if (!rename || current != NULL)
    ask_name (self, rename ? current->name : NULL);
}

void
_gantry_window_delete_variant (GantryWindow *self)
{
  const GantryVariant *current = current_variant (self);
  g_autofree char *text = NULL;

  if (current == NULL)
    return;
  text = g_strdup_printf ("Deleted the variant %s; undo brings it back", current->name);
  gantry_document_delete_variant (self->document, current->name);
  _gantry_window_toast (self, text);
}

/* Undo */

static void
set_undo_item (GMenu *menu, const char *verb, const char *name, const char *action)
{
  g_autofree char *escaped = _gantry_window_menu_text (name != NULL ? name : "");
  g_autofree char *label = *escaped != '\0' ? g_strdup_printf ("%s: %s", verb, escaped) : g_strdup (verb);

  g_menu_append (menu, label, action);
}

/* All of the header that follows the settings of the document. */
void
_gantry_window_update_header (GantryWindow *self)
{
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);
  gboolean model = g_strcmp0 (gtk_stack_get_visible_child_name (self->stack), "model") == 0;

  /* What is being written stays, and what was wrong until the limit is another one. */
  if (settings != NULL
      && (settings->target.memory_limit != self->limit_shown
          || (gtk_widget_get_focus_child (GTK_WIDGET (self->limit_entry)) == NULL && !gtk_widget_has_css_class (GTK_WIDGET (self->limit_entry), "error"))))
    show_limit (self);
  show_variant (self);
  _gantry_window_update_times (self);
  g_menu_remove_all (self->undo_menu);
  set_undo_item (self->undo_menu, "_Undo", gantry_document_get_undo_name (self->document), "win.undo");
  set_undo_item (self->undo_menu, "_Redo", gantry_document_get_redo_name (self->document), "win.redo");
  gtk_widget_set_visible (GTK_WIDGET (self->variant_button), model && !gantry_document_is_recording (self->document));
  gtk_widget_set_visible (GTK_WIDGET (self->limit_entry), model && !gantry_document_is_recording (self->document));
}

void
_gantry_window_connect_header (GantryWindow *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();

  g_signal_connect_swapped (self->limit_entry, "activate", G_CALLBACK (limit_given), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (limit_key), self);
  gtk_widget_add_controller (GTK_WIDGET (self->limit_entry), keys);
  g_signal_connect_swapped (self->document, "notify::variants", G_CALLBACK (_gantry_window_fill_variants), self);
  g_signal_connect_swapped (self->document, "notify::prediction", G_CALLBACK (_gantry_window_fill_variants), self);
  g_signal_connect_swapped (self->document, "notify::settings", G_CALLBACK (_gantry_window_update_header), self);
  g_signal_connect_swapped (self->document, "notify::placements", G_CALLBACK (_gantry_window_update_header), self);
  g_signal_connect_swapped (self->document, "notify::can-undo", G_CALLBACK (_gantry_window_update_header), self);
  g_signal_connect_swapped (self->document, "notify::can-redo", G_CALLBACK (_gantry_window_update_header), self);
  _gantry_window_fill_variants (self);
}
