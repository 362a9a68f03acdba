/* SPDX-License-Identifier: Apache-2.0 */
/* What the dialog that fits a step into memory lets the search choose beside places: microbatches, a price of host memory, fewer bits. */
#include "tests/app/gantry/window-test.h"
#include <glib/gstdio.h>
#include <string.h>

static GantryDocument *
document_of (GantryWindow *window)
{
  return gantry_window_get_document (window);
}

static GtkWidget *
open_dialog (GantryWindow *window)
{
  GtkWidget *dialog;

  window_test_act (window, "solve");
  dialog = window_test_dialog ("solve");
  g_assert_nonnull (dialog);
  return dialog;
}

static void
check (GtkWidget *dialog, const char *name, gboolean on)
{
  gtk_check_button_set_active (GTK_CHECK_BUTTON (window_test_find (dialog, name)), on);
}

static void
start (GtkWidget *dialog, const char *size)
{
  gtk_editable_set_text (GTK_EDITABLE (window_test_find (dialog, "size")), size);
  g_signal_emit_by_name (window_test_find (dialog, "start"), "clicked");
}

static const char *
message_of (GtkWidget *dialog)
{
  return gtk_label_get_text (GTK_LABEL (window_test_find (dialog, "message")));
}

/* A training step of a model with an open batch, as the command line makes it. (transfer full) (nullable) */
static char *
make_step (const char *folder)
{
  g_autofree char *cli = window_test_has_cli () ? window_test_cli () : NULL;
  g_autofree char *model = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "data/models/open-batch.onnx", NULL);
  g_autofree char *path = g_build_filename (folder, "step.gantry", NULL);
  const char *argv[] = { cli, "train", "--dim=batch=256", "--loss=mse", "--optimizer=adam", "-o", path, model, NULL };
  gint status = -1;

  if (cli == NULL)
    return NULL;
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);
  return g_steal_pointer (&path);
}

/* The batch in parts: the step that is loaded has them, its loss is that of all examples, and it keeps to the size. */
static void
test_divided (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-fit-XXXXXX", NULL), *path = make_step (folder);
  GantryWindow *window = path != NULL ? window_test_new () : NULL;
  GtkWidget *dialog;

  if (window != NULL)
    {
      window_test_open (window, path);
      dialog = open_dialog (window);
      check (dialog, "microbatches", TRUE);
      check (dialog, "recompute", FALSE);
      check (dialog, "offload", FALSE);
      start (dialog, "14100B");
      views_wait_until (window_test_dialog ("solve") == NULL);
      window_test_wait (window);
      g_assert_cmpuint (gantry_document_get_settings (document_of (window))->training.microbatches, >=, 32);
      g_assert_cmpuint (gantry_document_get_prediction (document_of (window))->prediction->peak_bytes, <=, 14100);
      window_test_free (window);
    }
  else
    g_test_skip ("no gantry-cli, or no display");
  if (path != NULL)
    g_unlink (path);
  g_rmdir (folder);
}

/* A program whose batch nobody can divide: the dialog says why, stays, and changes nothing. */
static void
test_not_divided (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  g_autofree char *undo = NULL;
  GtkWidget *dialog;

  if (window == NULL)
    return;
  undo = g_strdup (gantry_document_get_undo_name (document_of (window)));
  dialog = open_dialog (window);
  check (dialog, "microbatches", TRUE);
  start (dialog, "80%");
  views_wait_until (gtk_widget_get_sensitive (window_test_find (dialog, "size")) && strcmp (message_of (dialog), "Searching") != 0);
  g_assert_nonnull (strstr (message_of (dialog), "batch"));
  g_assert_nonnull (window_test_dialog ("solve"));
  g_assert_cmpuint (gantry_document_get_settings (document_of (window))->training.microbatches, ==, 1);
  g_assert_cmpstr (gantry_document_get_undo_name (document_of (window)), ==, undo);
  gtk_window_close (GTK_WINDOW (dialog));
  window_test_free (window);
}

/* A price is asked for where something may go to the host, and none is of a goal of time; parts of a batch are for sizes alone. */
static void
test_sensitive (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  GtkWidget *dialog, *price, *microbatches;

  if (window == NULL)
    return;
  dialog = open_dialog (window);
  price = window_test_find (dialog, "price");
  microbatches = window_test_find (dialog, "microbatches");
  g_assert_true (gtk_widget_get_sensitive (price) && gtk_widget_get_sensitive (microbatches));
  check (dialog, "offload", FALSE);
  g_assert_false (gtk_widget_get_sensitive (price));
  check (dialog, "offload", TRUE);
  g_assert_true (gtk_widget_get_sensitive (price));
  check (dialog, "most", TRUE);
  g_assert_false (gtk_widget_get_sensitive (price) || gtk_widget_get_sensitive (microbatches));
  check (dialog, "fit", TRUE);
  g_assert_true (gtk_widget_get_sensitive (price) && gtk_widget_get_sensitive (microbatches));
  gtk_window_close (GTK_WINDOW (dialog));
  window_test_free (window);
}

/* What was searched with a price and fewer bits is loaded, and a step with a dear host puts nothing there. */
static void
test_price (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  GtkWidget *dialog;

  if (window == NULL)
    return;
  dialog = open_dialog (window);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (window_test_find (dialog, "price")), 1e6);
  check (dialog, "approximate", TRUE);
  start (dialog, "92%");
  views_wait_until (window_test_dialog ("solve") == NULL);
  window_test_wait (window);
  g_assert_cmpuint (gantry_document_get_variants (document_of (window))->len, ==, 1);
  g_assert_cmpuint (gantry_document_get_prediction (document_of (window))->prediction->host_bytes, ==, 0);
  window_test_free (window);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/fit/divided", test_divided);
  g_test_add_func ("/app/fit/not-divided", test_not_divided);
  g_test_add_func ("/app/fit/sensitive", test_sensitive);
  g_test_add_func ("/app/fit/price", test_price);
  return window_test_run ();
}
