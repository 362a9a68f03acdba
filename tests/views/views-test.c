/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of widgets share. */
#include "tests/views/views-test.h"
#include <adwaita.h>
#include <glib/gstdio.h>

static gboolean
tick (gpointer data)
{
  return G_SOURCE_REMOVE;
}

void
views_turn (void)
{
  guint id = g_timeout_add (10, tick, NULL);

  g_main_context_iteration (NULL, TRUE);
  if (g_main_context_find_source_by_id (NULL, id) != NULL)
    g_source_remove (id);
}

void
views_settle (void)
{
  for (guint i = 0; i < 400 && g_main_context_iteration (NULL, FALSE); i++)
    ;
}

static gboolean
frame (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  return --*(guint *) data > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

void
views_wait_frame (GtkWidget *widget)
{
  guint left = 3;

  gtk_widget_add_tick_callback (widget, frame, &left, NULL);
  views_wait_until (left == 0);
  views_settle ();
}

/* GTK 4.8 asks what lies below the pointer when a tooltip's time has come, also where its window has gone meanwhile: that the
 * pointer rested over a window which a test closes is no fault of the window. */
static gboolean
is_fatal (const char *domain, GLogLevelFlags level, const char *message, gpointer user_data)
{
  return !g_str_equal (message, "gdk_surface_get_device_position: assertion 'GDK_IS_SURFACE (surface)' failed")
         && !g_str_equal (message, "_gtk_widget_find_at_coords: assertion 'GDK_IS_SURFACE (surface)' failed");
}

/* That of tests would write that the test ends here. */
static void
log_message (const char *domain, GLogLevelFlags level, const char *message, gpointer user_data)
{
  if (is_fatal (domain, level, message, NULL))
    g_log_default_handler (domain, level, message, NULL);
}

gboolean
views_have_display (void)
{
  static const char *const domains[] = { "Gdk", "Gtk" };

  if (!gtk_init_check ())
    {
      g_test_skip ("there is no display; tools/test gives the tests one");
      return FALSE;
    }
  adw_init ();
  g_test_log_set_fatal_handler (is_fatal, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (domains); i++)
    g_log_set_handler (domains[i], G_LOG_LEVEL_CRITICAL | G_LOG_FLAG_FATAL | G_LOG_FLAG_RECURSION, log_message, NULL);
  return TRUE;
}

char *
views_source_file (const char *path)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");

  return g_build_filename (root != NULL ? root : ".", path, NULL);
}

char *
views_sample (const char *name)
{
  g_autofree char *path = g_build_filename ("data", "models", name, NULL);

  return views_source_file (path);
}

char *
views_shared_model (const char *name)
{
  const char *shared = g_getenv ("GANTRY_SHARED");
  g_autofree char *beside = views_source_file ("../shared");
  char *path = g_build_filename (shared != NULL ? shared : beside, "data", "onnx", name, NULL);

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return path;
  g_test_skip ("the folder shared/data/onnx is not beside the tree, nor named by GANTRY_SHARED");
  g_free (path);
  return NULL;
}

GantryDocument *
views_open_text (const char *text)
{
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("views-XXXXXX.gir", &path, &error);

  g_assert_no_error (error);
  g_close (fd, NULL);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
  gantry_document_open (document, path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_unlink (path);
  return g_steal_pointer (&document);
}

#define COLUMNS 40u

char *
views_large_program (guint n)
{
  static const char *const operations[] = { "tanh", "exponential", "negate", "abs", "logistic" };
  GString *text = g_string_new ("module \"large\" {\n  func @main #1 (\n    %1 \"x\": f32[64] loc(\"large.gir\" \"x\")) -> (");

  g_string_append_printf (text, "%%%u) {\n", n + 1);
  for (guint i = 2; i <= n + 1; i++)
    {
      const char *place = "loc(\"large.gir\" \"made\")";

      guint from = i > 1 + COLUMNS ? i - COLUMNS : 1;

      if (i % 10 == 0 && i > 2 * COLUMNS)
        g_string_append_printf (text, "    %%%u = add(%%%u, %%%u): f32[64] scope(\"part%u/block%u\") %s\n", i, from, from - 3, i / 1000, i / 50, place);
      else
        g_string_append_printf (text, "    %%%u = %s(%%%u): f32[64] scope(\"part%u/block%u\") %s\n", i, operations[i % G_N_ELEMENTS (operations)], from,
                                i / 1000, i / 50, place);
    }
  g_string_append (text, "  }\n}\n");
  return g_string_free (text, FALSE);
}
