/* SPDX-License-Identifier: Apache-2.0 */
/* Files that cannot be opened, and programs that open and cannot be compiled. */
#include "tests/app/gantry/window-test.h"
#include <adwaita.h>
#include <glib/gstdio.h>
#include <string.h>

/* What the command line says of a file. (transfer full) */
static char *
cli_message (const char *path)
{
  g_autofree char *cli = window_test_cli ();
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;
  char *words = NULL;

  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDERR_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE, &error, cli, "info", path, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, NULL, &words, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_subprocess_get_exit_status (process), ==, 1);
  return words;
}

static void
test_broken (void)
{
  static const char *const files[] = { "cyclic.onnx", "not-onnx.onnx", "oversized.onnx", "truncated.onnx", "wrong-type.onnx", "no-such-file.onnx" };
  GantryWindow *window;

  if (!window_test_has_cli ())
    return;
  window = window_test_new ();
  if (window == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *name = g_build_filename ("broken", files[i], NULL), *path = views_sample (name);
      g_autofree char *canonical = g_canonicalize_filename (path, NULL), *words = cli_message (canonical);

      window_test_open (window, canonical);
      g_assert_cmpstr (gantry_window_get_page (window), ==, "error");
      g_assert_nonnull (gantry_window_get_error (window));
      g_test_message ("%s", gantry_window_get_error (window));
      g_assert_nonnull (strstr (words, gantry_window_get_error (window)));
    }
  /* And the window goes on. */
  {
    g_autofree char *path = views_sample ("sample.onnx");

    window_test_open (window, path);
    g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  }
  window_test_free (window);
}

/* A file that cannot be opened takes nothing away from the model that is open. */
static void
test_broken_beside_model (void)
{
  g_autofree char *path = views_sample ("broken/truncated.onnx");
  GantryWindow *window = window_test_sample ();

  if (window == NULL)
    return;
  window_test_open (window, path);
  g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  g_assert_nonnull (gantry_window_get_error (window));
  g_assert_nonnull (gantry_document_get_compilation (gantry_window_get_document (window)));
  window_test_free (window);
}

/* Programs that open and cannot be compiled */

static void
test_refusal (void)
{
  g_autofree char *path = views_sample ("unknown-operation.onnx");
  GantryWindow *window = window_test_new ();
  GtkWidget *button;

  if (window == NULL)
    return;
  window_test_open (window, path);
  g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  g_assert_nonnull (gantry_document_get_compilation (gantry_window_get_document (window))->refusal);
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run"));
  /* A value of an input would not help; where the operation is, and what there is without it, do. */
  g_assert_null (window_test_find (GTK_WIDGET (window), "set-values"));
  g_assert_nonnull (window_test_find (GTK_WIDGET (window), "without-operations"));
  button = window_test_button (window_test_find (GTK_WIDGET (window), "operations"), "com.example.Frobnicate \303\227 2");
  g_assert_nonnull (button);
  g_signal_emit_by_name (button, "clicked");
  g_assert_cmpuint (gantry_selection_count (gantry_window_get_selection (window)), ==, 2);
  g_assert_false (window_test_has_text (GTK_WIDGET (window), "planned") || window_test_has_text (GTK_WIDGET (window), "0.0 ms"));
  window_test_free (window);
}

/* All of it is seen: nothing of a bar is cut off. */
static gboolean
is_inside (GtkWidget *widget, GtkWidget *of)
{
  graphene_rect_t bounds;

  return gtk_widget_compute_bounds (widget, of, &bounds) && bounds.origin.x >= 0 && bounds.origin.y >= 0
         && bounds.origin.x + bounds.size.width <= (float) gtk_widget_get_width (of)
         && bounds.origin.y + bounds.size.height <= (float) gtk_widget_get_height (of);
}

static GtkWidget *
notice_of (GtkWidget *widget)
{
  while (widget != NULL && !gtk_widget_has_css_class (widget, "notice"))
    widget = gtk_widget_get_parent (widget);
  return widget;
}

static void
test_dims (void)
{
  g_autofree char *path = views_sample ("open-batch.onnx");
  GantryWindow *window = window_test_new ();
  GtkWidget *button;

  if (window == NULL)
    return;
  window_test_open (window, path);
  g_assert_nonnull (gantry_document_get_compilation (gantry_window_get_document (window))->refusal);
  button = window_test_find (GTK_WIDGET (window), "bind-dims");
  g_assert_nonnull (button);
  window_test_wait (window);
  views_wait_frame (button);
  g_assert_true (is_inside (button, notice_of (button)));
  g_signal_emit_by_name (button, "clicked");
  views_wait_until (window_test_is_idle (window));
  g_assert_null (gantry_document_get_compilation (gantry_window_get_document (window))->refusal);
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run"));
  g_assert_null (window_test_find (GTK_WIDGET (window), "bind-dims"));
  window_test_free (window);
}

/* A value for an input, where the refusal names it; one undo takes it back. */
static void
test_values (void)
{
  g_autofree char *path = views_sample ("rate.onnx");
  GantryWindow *window = window_test_new ();
  GantryDocument *document;
  GtkWidget *entry, *button;

  if (window == NULL)
    return;
  window_test_open (window, path);
  document = gantry_window_get_document (window);
  entry = window_test_find (GTK_WIDGET (window), "value-rate");
  button = window_test_find (GTK_WIDGET (window), "set-values");
  g_assert_nonnull (entry);
  g_assert_nonnull (button);
  gtk_editable_set_text (GTK_EDITABLE (entry), "16000");
  g_signal_emit_by_name (button, "clicked");
  views_wait_until (window_test_is_idle (window));
  g_assert_null (gantry_document_get_compilation (document)->refusal);
  g_assert_null (window_test_find (GTK_WIDGET (window), "set-values"));
  gantry_document_undo (document);
  views_wait_until (window_test_is_idle (window));
  g_assert_nonnull (window_test_find (GTK_WIDGET (window), "set-values"));
  window_test_free (window);
}

/* What a model reads outside its folder is asked for; the answer holds for this opening. */
static void
test_outside (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-outside-XXXXXX", NULL), *home = g_build_filename (folder, "home", NULL);
  g_autofree char *secret = g_build_filename (folder, "secret", NULL), *model = g_build_filename (home, "reader.gir", NULL);
  g_autofree char *text = g_strdup_printf ("module \"reader\" {\n  func @main #1 (%%1 \"x\": f32[4]) -> (%%3) {\n"
                                           "    %%2 = constant() {value = file<f32[4]: \"%s\", 0, 16>}: f32[4]\n"
                                           "    %%3 = add(%%1, %%2): f32[4]\n  }\n}\n",
                                           secret);
  GantryWindow *window = window_test_new ();
  GtkWidget *dialog;

  if (window == NULL)
    return;
  g_assert_cmpint (g_mkdir (home, 0700), ==, 0);
  g_assert_true (g_file_set_contents (secret, "secret of someone", -1, NULL));
  g_assert_true (g_file_set_contents (model, text, -1, NULL));
  for (guint i = 0; i < 2; i++)
    {
      window_test_open (window, model);
      g_assert_cmpstr (gantry_window_get_page (window), !=, "model");
      dialog = window_test_dialog ("outside");
      g_assert_nonnull (dialog);
      adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), i == 0 ? "cancel" : "allow");
      gtk_window_close (GTK_WINDOW (dialog));
      views_settle ();
    }
  views_wait_until (window_test_is_idle (window));
  g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  window_test_free (window);
  g_unlink (model);
  g_unlink (secret);
  g_rmdir (home);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/refused/broken", test_broken);
  g_test_add_func ("/app/refused/broken-beside-model", test_broken_beside_model);
  g_test_add_func ("/app/refused/refusal", test_refusal);
  g_test_add_func ("/app/refused/dims", test_dims);
  g_test_add_func ("/app/refused/values", test_values);
  g_test_add_func ("/app/refused/outside", test_outside);
  return window_test_run ();
}
