/* SPDX-License-Identifier: Apache-2.0 */
/* gantry: table */
/* The table of shortcuts and what is made from it. */
#include "app/gantry/shortcuts.h"
#include <string.h>

static const GantryShortcut shortcuts[] = {
  { "Files", "Open", "win.open", "<Control>o" },
  { "Files", "Open a folder of dumps", "win.open-folder", "<Control><Alt>o" },
  { "Files", "New window", "app.new-window", "<Control>n" },
  { "Files", "Save session", "win.save", "<Control>s" },
  { "Files", "Save session as", "win.save-as", "<Control><Shift>s" },
  { "Files", "Load the model again", "win.reload", "<Control><Shift>l" },
  { "Files", "Export picture", "win.export", "<Control>e" },
  { "Files", "Close window", "window.close", "<Control>w" },
  { "Files", "Quit", "app.quit", "<Control>q" },
  { "Edit", "Undo", "win.undo", "<Control>z" },
  { "Edit", "Redo", "win.redo", "<Control><Shift>z <Control>y" },
  { "Edit", "Training step", "win.train", "<Control>t" },
  { "Edit", "Limit of memory", "win.limit", "<Control>l" },
  { "Edit", "Run and measure", "win.run-or-tell", "<Control>r F5" },
  { "Edit", "Cancel", "win.cancel", "<Control>period" },
  { "Find", "Find nodes", "win.find", "<Control>f slash" },
  { "Find", "Next match", "win.find-next", "<Control>g F3" },
  { "Find", "Previous match", "win.find-previous", "<Control><Shift>g <Shift>F3" },
  { "Panels", "Passes", "win.show-passes", "F9" },
  { "Panels", "Inspector", "win.show-inspector", "F10" },
  { "Panels", "Source", "win.show-source", "F12" },
  { "Panels", "Time and memory", "win.bottom-page::time", "F7" },
  { "Panels", "Kernels", "win.bottom-page::kernels", "F4" },
  { "Panels", "Compare variants", "win.bottom-page::compare", "F8" },
  { "Panels", "Panel at the bottom", "win.show-time", "<Control>j" },
  { "Panels", "Maximise the panel at the bottom", "win.maximize-time", "<Control><Shift>j" },
  { "Panels", "Main menu", "win.menu", "<Control>F10" },
  { "Panels", "Keyboard shortcuts", "win.show-shortcuts", "<Control>question" },
  { "Passes", "Next pass", "win.next-pass", "<Alt>Down" },
  { "Passes", "Previous pass", "win.previous-pass", "<Alt>Up" },
  { "Passes", "One pane or two", "win.single-pane", "<Control>1" },
  { "Graph", "Fit", "win.fit", "<Control>0" },
  { "Graph", "Zoom in", "win.zoom-in", "<Control>plus <Control>equal <Control>KP_Add" },
  { "Graph", "Zoom out", "win.zoom-out", "<Control>minus <Control>KP_Subtract" },
  { "Graph", "Fold all scopes", "win.fold-all", "<Control>bracketleft" },
  { "Graph", "Unfold all scopes", "win.unfold-all", "<Control>bracketright" },
  { "Graph", "Clear the selection", "win.clear-selection", "<Control><Shift>a" },
  { "Placements", "Policy", "win.policy", "<Control>p" },
  { "Placements", "Fit: let the solver place", "win.solve", "<Control><Shift>f" },
  { "Placements", "Save as variant", "win.save-variant", "<Control>d" },
  { "Placements", "Clear placements", "win.clear-placements", "<Control>BackSpace" },
  { "Placements", "Keep in all equal blocks", "win.place::keep alike", "<Control><Shift>k" },
  { "Placements", "Recompute in all equal blocks", "win.place::recompute alike", "<Control><Shift>r" },
  { "Placements", "Offload in all equal blocks", "win.place::offload alike", "<Control><Shift>o" },
  { "Placements", "As the policy says in all equal blocks", "win.place::unset alike", "<Control><Shift>u" },
  { "Time", "Plan with measured times", "win.replan", "<Control>m" },
  { "Time", "Plan with predicted times", "win.model-times", "<Control><Shift>m" },
  { "Time", "Show the selection in the lanes", "win.show-in-time", "<Control><Shift>t" },
  { "Time", "Show the code of the selection", "win.show-code", "<Control><Shift>c" },
  { "Time", "Go to the source of the selection", "win.go-to-source", "<Control>u" },
  { "Time", "Go to the peak of memory", "win.peak", "<Control>k" },
  { "In the graph", "Walk along edges", NULL, "Up Down Left Right" },
  { "In the graph", "Fold or unfold the scope", NULL, "Return" },
  { "In the graph", "Fit the selection, then everything", NULL, "f" },
  { "In the graph", "Fit everything", NULL, "space" },
  { "In the graph", "Keep, recompute or offload the selection", NULL, "k r o" },
  { "In the graph", "Store the selection as bf16 or in 8 bits", NULL, "b 8" },
  { "In the graph", "The same for the whole scope", NULL, "<Shift>k <Shift>r <Shift>o <Shift>b" },
  { "In the graph", "Place the selection as the policy says", NULL, "u" },
  { "In the graph", "Zoom in and out", NULL, "w s" },
  { "In the graph", "Pan left and right", NULL, "a d" },
  { "In the graph", "Page up and down", NULL, "Page_Up Page_Down" },
  { "On the time axis", "Zoom in and out at the pointer", NULL, "w s" },
  { "On the time axis", "Pan left and right", NULL, "a d" },
  { "On the time axis", "Fit the selection, then everything", NULL, "f" },
  { "On the time axis", "Next and previous event", NULL, "Right Left" },
};

const GantryShortcut *
gantry_shortcuts_table (guint *n)
{
  *n = G_N_ELEMENTS (shortcuts);
  return shortcuts;
}

void
gantry_shortcuts_install (GtkApplication *application)
{
  for (guint i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    if (shortcuts[i].action != NULL)
      {
        g_auto (GStrv) keys = g_strsplit (shortcuts[i].accelerators, " ", -1);

        gtk_application_set_accels_for_action (application, shortcuts[i].action, (const char *const *) keys);
      }
}

/* Without the keys of the number pad, which are written as those that they stand for. (transfer full) */
static char *
shown_keys (const char *accelerators)
{
  g_auto (GStrv) keys = g_strsplit (accelerators, " ", -1);
  GString *shown = g_string_new (NULL);

  for (guint i = 0; keys[i] != NULL; i++)
    if (strstr (keys[i], "KP_") == NULL)
      g_string_append_printf (shown, "%s%s", shown->len > 0 ? " " : "", keys[i]);
  return g_string_free (shown, FALSE);
}

/* GTK 4.8 can fill a shortcuts window from XML alone, so XML is what the table is turned into. */
static char *
table_to_xml (void)
{
  GString *xml = g_string_new ("<interface><object class='GtkShortcutsWindow' id='window'><property name='modal'>1</property>"
                               "<child><object class='GtkShortcutsSection'><property name='section-name'>all</property>"
                               "<property name='max-height'>12</property>");

  for (guint i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    {
      g_autofree char *title = g_markup_escape_text (shortcuts[i].title, -1);
      g_autofree char *shown = shown_keys (shortcuts[i].accelerators), *keys = g_markup_escape_text (shown, -1);

      if (i == 0 || g_strcmp0 (shortcuts[i].group, shortcuts[i - 1].group) != 0)
        g_string_append_printf (xml, "%s<child><object class='GtkShortcutsGroup'><property name='title'>%s</property>", i > 0 ? "</object></child>" : "",
                                shortcuts[i].group);
      g_string_append_printf (xml,
                              "<child><object class='GtkShortcutsShortcut'><property name='title'>%s</property>"
                              "<property name='accelerator'>%s</property></object></child>",
                              title, keys);
    }
  g_string_append (xml, "</object></child></object></child></object></interface>");
  return g_string_free (xml, FALSE);
}

GtkWidget *
gantry_shortcuts_window_new (void)
{
  g_autofree char *xml = table_to_xml ();
  g_autoptr (GtkBuilder) builder = gtk_builder_new_from_string (xml, -1);

  return g_object_ref (GTK_WIDGET (gtk_builder_get_object (builder, "window")));
}
