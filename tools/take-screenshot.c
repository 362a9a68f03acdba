/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a model, if any, in the window, brings it into a state, waits until everything is drawn, and writes what is seen as PNG.
 * Used by tools/screenshots; needs a display. */
#include "app/gantry/application.h"
#include "app/gantry/state.h"
#include "app/gantry/window.h"
#include "core/compiler/model.h"
#include "core/document/size.h"
#include <stdlib.h>

static char *limit, *dialog, *trust;
static gboolean compare, measured;
static char *out, *find, *code_page, *page_size, *train, *policy, **actions;
static gboolean dark, run, unfold, fit, maximize;
static int pass;

static const GOptionEntry entries[] = {
  { "out", 'o', 0, G_OPTION_ARG_FILENAME, &out, "Where the picture goes", "FILE" },
  { "size", 0, 0, G_OPTION_ARG_STRING, &page_size, "Size of the window", "WIDTHxHEIGHT" },
  { "dark", 0, 0, G_OPTION_ARG_NONE, &dark, "Dark style", NULL },
  { "train", 0, 0, G_OPTION_ARG_STRING, &train, "Make a training step of the model with this optimizer", "NAME" },
  { "policy", 0, 0, G_OPTION_ARG_STRING, &policy, "Place values as these statements say", "TEXT" },
  { "limit", 0, 0, G_OPTION_ARG_STRING, &limit, "Limit of device memory: 8GiB, 50%", "SIZE" },
  { "compare", 0, 0, G_OPTION_ARG_NONE, &compare, "Save variants, find the front and show the page that compares them", NULL },
  { "dialog", 0, 0, G_OPTION_ARG_STRING, &dialog, "Take the picture of this dialog: train, policy, orders or solve", "NAME" },
  { "act", 0, 0, G_OPTION_ARG_STRING_ARRAY, &actions, "Then do this: 'place::recompute alike'", "ACTION" },
  { "pass", 0, 0, G_OPTION_ARG_INT, &pass, "Show this pass, counted from 1", "N" },
  { "find", 0, 0, G_OPTION_ARG_STRING, &find, "Select the first node that contains this", "TEXT" },
  { "run", 0, 0, G_OPTION_ARG_NONE, &run, "Run and measure first", NULL },
  { "measured", 0, 0, G_OPTION_ARG_NONE, &measured, "Run and measure first, and show what the run took instead of who is alive", NULL },
  { "code", 0, 0, G_OPTION_ARG_STRING, &code_page, "Show code: expression, llvm or assembly", "PAGE" },
  { "unfold", 0, 0, G_OPTION_ARG_NONE, &unfold, "Unfold all scopes", NULL },
  { "fit", 0, 0, G_OPTION_ARG_NONE, &fit, "Show the whole graph", NULL },
  { "trust", 0, 0, G_OPTION_ARG_FILENAME, &trust, "Run this Python program, which is the file to open or what its session was made of, without asking",
    "FILE" },
  { "time", 0, 0, G_OPTION_ARG_NONE, &maximize, "Give time and memory the whole height", NULL },
  { NULL },
};

static gboolean
is_idle (GantryWindow *window)
{
  GantryPassView *view = gantry_window_get_pass_view (window);

  return !gantry_document_is_busy (gantry_window_get_document (window)) && !gantry_graph_canvas_is_busy (gantry_pass_view_get_before (view))
         && !gantry_graph_canvas_is_busy (gantry_pass_view_get_after (view)) && gantry_time_panel_is_ready (gantry_window_get_time_panel (window))
         && gantry_source_page_is_ready (gantry_window_get_source_page (window)) && g_strcmp0 (gantry_window_get_page (window), "loading") != 0;
}

static gboolean
tick (gpointer data)
{
  ++*(guint *) data;
  return G_SOURCE_CONTINUE;
}

/* Until all work is done, and then for some frames more. */
static void
settle_for (GantryWindow *window, guint frames)
{
  guint ticks = 0, id = g_timeout_add (30, tick, &ticks), idle_since = 0;

  while (ticks < idle_since + frames)
    {
      g_main_context_iteration (NULL, TRUE);
      if (!is_idle (window))
        idle_since = ticks;
    }
  g_source_remove (id);
}

static void
settle (GantryWindow *window)
{
  settle_for (window, 20);
}

static void
act (GantryWindow *window, const char *action)
{
  g_action_group_activate_action (G_ACTION_GROUP (window), action, NULL);
  settle (window);
}

/* A training step of the forward program that was opened. */
static void
make_step (GantryWindow *window)
{
  GantryTrainingOptions training;
  g_autoptr (GError) error = NULL;

  gantry_training_options_init (&training);
  if (!gantry_optimizer_parse (train, &training.optimizer, &error))
    g_error ("%s", error->message);
  gantry_document_set_training (gantry_window_get_document (window), &training);
  gantry_training_options_clear (&training);
  settle (window);
  gantry_pass_list_select (gantry_window_get_pass_list (window), gantry_document_get_compilation (gantry_window_get_document (window))->n_snapshots - 1);
  g_action_group_change_action_state (G_ACTION_GROUP (window), "single-pane", g_variant_new_boolean (TRUE));
  settle (window);
}

static void
do_actions (GantryWindow *window)
{
  for (guint i = 0; actions != NULL && actions[i] != NULL; i++)
    {
      g_autoptr (GVariant) target = NULL;
      g_autofree char *name = NULL;
      g_autoptr (GError) error = NULL;

      if (!g_action_parse_detailed_name (actions[i], &name, &target, &error))
        g_error ("%s", error->message);
      g_action_group_activate_action (G_ACTION_GROUP (window), name, target);
      settle (window);
    }
}

/* What the page shows in daily use: some policies as variants, and the front. */
static void
make_variants (GantryWindow *window)
{
  static const char *const policies[][2] = { { "keep all", NULL },
                                             { "dots saved", "policy dots_saveable in encoder/layer.*" },
                                             { "nothing saved", "policy nothing_saveable in encoder/layer.*" },
                                             { "state on host", "role:state offload" } };
  GantryDocument *document = gantry_window_get_document (window);
  GantryComparePanel *panel = gantry_window_get_compare_panel (window);

  for (guint i = 0; i < G_N_ELEMENTS (policies); i++)
    {
      g_autoptr (GError) error = NULL;

      if (!gantry_document_set_policy (document, policies[i][1], &error))
        g_error ("%s", error->message);
      settle (window);
      gantry_compare_panel_save_variant (panel, policies[i][0]);
    }
  gantry_compare_panel_find_front (panel, 12, 10);
  while (gantry_compare_panel_is_searching (panel))
    settle_for (window, 10);
  gantry_document_load_variant (document, gantry_compare_panel_get_row (panel, 2));
  g_action_group_activate_action (G_ACTION_GROUP (window), "bottom-page", g_variant_new_string ("compare"));
  gtk_widget_grab_focus (GTK_WIDGET (gantry_pass_view_get_canvas (gantry_window_get_pass_view (window))));
  settle (window);
}

static void
set_limit (GantryWindow *window)
{
  g_autoptr (GError) error = NULL;
  guint64 bytes;
  GantrySize size;

  if (!gantry_size_parse (limit, &size, &error) || !gantry_size_resolve (gantry_window_get_document (window), &size, &bytes, &error))
    g_error ("%s", error->message);
  if (size.part > 0)
    gantry_document_set_limit_part (gantry_window_get_document (window), size.part);
  else
    gantry_document_set_limit (gantry_window_get_document (window), bytes);
  settle (window);
}

static void
prepare (GantryWindow *window)
{
  if (train != NULL)
    make_step (window);
  if (policy != NULL && !gantry_document_set_policy (gantry_window_get_document (window), policy, NULL))
    g_error ("the policy has a mistake");
  settle (window);
  if (limit != NULL)
    set_limit (window);
  if (compare)
    make_variants (window);
  if (run || measured)
    act (window, "run");
  if (run || measured)
    settle_for (window, 150); /* the toast that tells the result goes */
  if (unfold)
    act (window, "unfold-all");
  if (pass > 0)
    gantry_pass_list_select (gantry_window_get_pass_list (window), (guint) pass);
  settle (window);
  if (find != NULL)
    {
      gantry_pass_view_search (gantry_window_get_pass_view (window), find);
      gantry_pass_view_step_match (gantry_window_get_pass_view (window), 1);
      gantry_pass_view_search (gantry_window_get_pass_view (window), "");
    }
  if (measured)
    gantry_memory_side_show_measured (gantry_time_panel_get_side (gantry_window_get_time_panel (window)), TRUE);
  if (code_page != NULL)
    {
      gantry_inspector_show_page (gantry_window_get_inspector (window), "code");
      gantry_code_view_show_page (gantry_inspector_get_code_view (gantry_window_get_inspector (window)), code_page);
    }
  do_actions (window);
  if (maximize)
    g_action_group_change_action_state (G_ACTION_GROUP (window), "maximize-time", g_variant_new_boolean (TRUE));
  settle (window);
  if (fit)
    act (window, "fit");
}

/* A toplevel by its name, once it is drawn. */
static GtkWidget *
find_dialog (GantryWindow *window)
{
  GListModel *toplevels = gtk_window_get_toplevels ();

  act (window, dialog);
  for (guint i = 0; i < g_list_model_get_n_items (toplevels); i++)
    {
      g_autoptr (GtkWidget) toplevel = g_list_model_get_item (toplevels, i);

      if (g_strcmp0 (gtk_widget_get_name (toplevel), dialog) == 0)
        return toplevel;
    }
  g_error ("there is no dialog called %s", dialog);
}

/* As if the question had been answered before. */
static void
trust_program (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *mark = gantry_model_program_mark (trust, &error);

  if (mark == NULL)
    g_error ("%s", error->message);
  gantry_state_add_trusted (mark);
}

static gboolean
take (GtkWidget *window)
{
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (window);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  int width = gtk_widget_get_width (window), height = gtk_widget_get_height (window);
  GskRenderNode *node;
  GdkTexture *texture;
  gboolean ok;

  gdk_paintable_snapshot (paintable, snapshot, width, height);
  node = gtk_snapshot_free_to_node (snapshot);
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (GTK_NATIVE (window)), node, &GRAPHENE_RECT_INIT (0, 0, (float) width, (float) height));
  ok = gdk_texture_save_to_png (texture, out);
  g_object_unref (texture);
  gsk_render_node_unref (node);
  return ok;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("[MODEL] - write a picture of the window");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryApplication) application = NULL;
  g_auto (GStrv) size = NULL;
  GantryWindow *window;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc > 2 || out == NULL)
    {
      g_printerr ("take-screenshot: %s\n", error != NULL ? error->message : "say which model, if any, and --out where to");
      return EXIT_FAILURE;
    }
  application = gantry_application_new (G_APPLICATION_NON_UNIQUE);
  if (!g_application_register (G_APPLICATION (application), NULL, &error))
    {
      g_printerr ("take-screenshot: %s\n", error->message);
      return EXIT_FAILURE;
    }
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), dark ? ADW_COLOR_SCHEME_FORCE_DARK : ADW_COLOR_SCHEME_FORCE_LIGHT);
  window = GANTRY_WINDOW (gantry_window_new (GTK_APPLICATION (application)));
  size = g_strsplit (page_size != NULL ? page_size : "1440x900", "x", 2);
  gtk_window_set_default_size (GTK_WINDOW (window), atoi (size[0]), size[1] != NULL ? atoi (size[1]) : 900);
  gtk_window_present (GTK_WINDOW (window));
  if (trust != NULL)
    trust_program ();
  if (argc == 2)
    gantry_window_open (window, argv[1]);
  settle (window);
  prepare (window);
  if (gantry_window_get_error (window) != NULL)
    g_printerr ("take-screenshot: %s\n", gantry_window_get_error (window));
  if (!take (dialog != NULL ? find_dialog (window) : GTK_WIDGET (window)))
    {
      g_printerr ("take-screenshot: %s cannot be written\n", out);
      return EXIT_FAILURE;
    }
  gtk_window_destroy (GTK_WINDOW (window));
  return EXIT_SUCCESS;
}
