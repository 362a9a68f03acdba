/* SPDX-License-Identifier: Apache-2.0 */
/* What is unsaved in a window: it is kept, comes back as it was shown, is asked for before it goes, and outlives a kill.
 *
 * GANTRY_KILLS=100 kills so many times and holds each loss to three seconds, which the ordinary test, on a machine of any load, does
 * not. GANTRY_KILL_MINUTES=60 draws the times of the kills from so many minutes, so that some come while the window starts. */
#include "app/gantry/application.h"
#include "tests/app/gantry/window-test.h"
#include "tests/random-seed.h"
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static char *program; /* this one, started again as one that is killed */

static void
edit (GantryWindow *window, guint n)
{
  gantry_document_set_limit (gantry_window_get_document (window), 0);
  gantry_document_set_limit (gantry_window_get_document (window), 1000000000 + (guint64) n);
}

static guint64
limit_of (GantryWindow *window)
{
  return gantry_document_get_settings (gantry_window_get_document (window))->target.memory_limit;
}

static GantryWindow *
window_of (GantryRecovery *recovery)
{
  GantryWindow *window = window_test_new ();

  gantry_window_recover (window, recovery);
  window_test_wait (window);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  return window;
}

static gboolean
same_folds (GHashTable *a, GHashTable *b)
{
  return a != NULL && b != NULL && g_hash_table_size (a) == g_hash_table_size (b);
}

static float
width_of (GantryGraphCanvas *canvas)
{
  return (float) gtk_widget_get_width (GTK_WIDGET (canvas));
}

static guint
n_files (void)
{
  g_autofree char *folder = gantry_recovery_folder (NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  while ((name = g_dir_read_name (dir)) != NULL)
    n += g_str_has_suffix (name, ".gantry");
  return n;
}

/* Of a window that is gone: a save that was under way holds its lock until it has ended. (transfer full) */
static GPtrArray *
kept_list (void)
{
  GPtrArray *list = gantry_recovery_list ();

  while (list->len < n_files ())
    {
      g_ptr_array_unref (list);
      views_turn ();
      list = gantry_recovery_list ();
    }
  return list;
}

static void
remove_all (void)
{
  g_autoptr (GPtrArray) list = kept_list ();

  for (guint i = 0; i < list->len; i++)
    gantry_recovery_remove (g_ptr_array_index (list, i));
}

static void
test_restored (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  g_autoptr (GPtrArray) list = NULL;
  GantryGraphCanvas *canvas;
  GantryGraphView before, after;
  g_autoptr (GHashTable) folded = NULL;
  float middle;
  guint32 ids[2];
  guint pass;

  if (window == NULL)
    return;
  edit (window, 7);
  gantry_pass_list_select (gantry_window_get_pass_list (window), 3);
  window_test_wait (window);
  canvas = gantry_pass_view_get_canvas (gantry_window_get_pass_view (window));
  gantry_graph_canvas_fold_all (canvas);
  window_test_wait (window);
  folded = g_hash_table_ref (gantry_graph_canvas_get_folded (canvas));
  ids[0] = gantry_graph_canvas_get_module (canvas)->nodes[3].id;
  ids[1] = gantry_graph_canvas_get_module (canvas)->nodes[5].id;
  gantry_selection_set (gantry_window_get_selection (window), 3, ids, 2);
  gantry_graph_canvas_zoom (canvas, 1.7);
  gantry_graph_canvas_get_view (canvas, &before);
  middle = before.x + width_of (canvas) / before.scale / 2;
  pass = gantry_pass_list_get_selected (gantry_window_get_pass_list (window));
  gantry_window_keep (window);
  window_test_free (window);

  list = kept_list ();
  g_assert_cmpuint (list->len, ==, 1);
  window = window_of (g_ptr_array_index (list, 0));
  canvas = gantry_pass_view_get_canvas (gantry_window_get_pass_view (window));
  g_assert_cmpuint (limit_of (window), ==, 1000000007);
  g_assert_cmpstr (gantry_document_get_undo_name (gantry_window_get_document (window)), !=, NULL);
  g_assert_cmpuint (gantry_pass_list_get_selected (gantry_window_get_pass_list (window)), ==, pass);
  g_assert_cmpuint (gantry_selection_count (gantry_window_get_selection (window)), ==, 2);
  g_assert_cmpuint (gantry_selection_primary (gantry_window_get_selection (window)), ==, ids[0]);
  g_assert_true (same_folds (gantry_graph_canvas_get_folded (canvas), folded));
  for (guint i = 0; i < 4; i++)
    views_wait_frame (GTK_WIDGET (canvas));
  gantry_graph_canvas_get_view (canvas, &after);
  g_assert_cmpfloat_with_epsilon (after.scale, before.scale, 1e-4);
  g_assert_cmpfloat_with_epsilon (after.x + width_of (canvas) / after.scale / 2, middle, 1);
  g_assert_cmpfloat_with_epsilon (after.y, before.y, 1);
  g_assert_cmpstr (gantry_document_get_path (gantry_window_get_document (window)), !=, gantry_recovery_get_path (g_ptr_array_index (list, 0)));
  gantry_recovery_remove (g_ptr_array_index (list, 0));
  window_test_free (window);
}

static void
respond (const char *name, const char *response)
{
  GtkWidget *dialog;

  views_wait_until ((dialog = window_test_dialog (name)) != NULL);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), response);
  gtk_window_destroy (GTK_WINDOW (dialog)); /* as a button does */
  views_settle ();
}

/* Who starts Gantry on a file sees that file, and is told what else came back. */
static void
test_asked_for_in_front (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE), *asked, *restored;
  g_autofree char *path = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "data", "programs", "mlp.gir", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GPtrArray) list = NULL;
  GtkApplication *application;

  if (window == NULL)
    return;
  application = gtk_window_get_application (GTK_WINDOW (window));
  edit (window, 7);
  gantry_window_keep (window);
  window_test_free (window);
  list = kept_list ();
  g_assert_cmpuint (list->len, ==, 1);
  g_clear_pointer (&list, g_ptr_array_unref); /* with the locks: what is held is not offered */
  g_application_open (G_APPLICATION (application), &file, 1, "");
  g_assert_cmpuint (g_list_length (gtk_application_get_windows (application)), ==, 2);
  asked = g_list_nth_data (gtk_application_get_windows (application), 0);
  restored = g_list_nth_data (gtk_application_get_windows (application), 1);
  views_wait_until (window_test_has_text (GTK_WIDGET (asked), "Unsaved work was restored, in 1 window of its own"));
  window_test_wait (asked);
  window_test_wait (restored);
  g_assert_cmpstr (gantry_document_get_path (gantry_window_get_document (asked)), ==, path);
  g_assert_cmpuint (limit_of (restored), ==, 1000000007);
  window_test_free (asked);
  window_test_free (restored);
  remove_all ();
}

/* A model that reads outside its folder: asked at each start, restored with the answer, and there for the next start where it is no. */
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

  if (window == NULL)
    return;
  g_assert_cmpint (g_mkdir (home, 0700), ==, 0);
  g_assert_true (g_file_set_contents (secret, "secret of someone", -1, NULL));
  g_assert_true (g_file_set_contents (model, text, -1, NULL));
  gantry_window_open (window, model);
  respond ("outside", "allow");
  window_test_wait (window);
  edit (window, 3);
  gantry_window_keep (window);
  window_test_free (window);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GPtrArray) list = kept_list ();

      g_assert_cmpuint (list->len, ==, 1);
      window = window_test_new ();
      gantry_window_recover (window, g_ptr_array_index (list, 0));
      g_clear_pointer (&list, g_ptr_array_unref);
      respond ("outside", i == 0 ? "cancel" : "allow");
      window_test_wait (window);
      if (i == 0)
        window_test_free (window);
    }
  g_assert_cmpuint (limit_of (window), ==, 1000000003);
  g_assert_null (window_test_dialog ("not-restored"));
  g_assert_true (gantry_document_get_bindings (gantry_window_get_document (window))->outside); /* opened again with other sizes, too */
  window_test_free (window);
  remove_all ();
  g_unlink (model);
  g_unlink (secret);
  g_rmdir (home);
  g_rmdir (folder);
}

/* Both questions in a row: what lies outside is allowed, and is gone; the unsaved work stays until the user discards it. */
static void
test_two_questions (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-outside-XXXXXX", NULL), *home = g_build_filename (folder, "home", NULL);
  g_autofree char *secret = g_build_filename (folder, "secret", NULL), *model = g_build_filename (home, "reader.gir", NULL);
  g_autofree char *text = g_strdup_printf ("module \"reader\" {\n  func @main #1 (%%1 \"x\": f32[4]) -> (%%3) {\n"
                                           "    %%2 = constant() {value = file<f32[4]: \"%s\", 0, 16>}: f32[4]\n"
                                           "    %%3 = add(%%1, %%2): f32[4]\n  }\n}\n",
                                           secret);
  GantryWindow *window = window_test_new ();

  if (window == NULL)
    return;
  g_assert_cmpint (g_mkdir (home, 0700), ==, 0);
  g_assert_true (g_file_set_contents (secret, "secret of someone", -1, NULL) && g_file_set_contents (model, text, -1, NULL));
  gantry_window_open (window, model);
  respond ("outside", "allow");
  window_test_wait (window);
  edit (window, 5);
  g_assert_true (gantry_window_keep (window));
  window_test_free (window);
  g_assert_true (g_file_set_contents (secret, "cut", -1, NULL)); /* there, and shorter than what is read of it */
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GPtrArray) list = kept_list ();

      g_assert_cmpuint (list->len, ==, 1);
      window = window_test_new ();
      gantry_window_recover (window, g_ptr_array_index (list, 0));
      g_clear_pointer (&list, g_ptr_array_unref);
      respond ("outside", "allow");
      respond ("not-restored", i == 0 ? "keep" : "discard");
      window_test_wait (window);
      window_test_free (window);
      g_assert_cmpuint (n_files (), ==, 1 - i);
    }
  g_unlink (model);
  g_unlink (secret);
  g_rmdir (home);
  g_rmdir (folder);
}

/* By itself, and only while there is something; asked before it goes. */
static void
test_asked (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", FALSE);
  g_autofree char *other = views_source_file ("data/programs/optimizer-8.gir"), *path = NULL;
  GantryDocument *document;

  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  path = g_strdup (gantry_document_get_path (document));
  g_assert_cmpuint (n_files (), ==, 0);
  edit (window, 1);
  views_wait_until (n_files () == 1);
  gantry_document_undo (document);
  views_wait_until (n_files () == 0); /* all is as it was */
  gantry_document_redo (document);
  gantry_window_open (window, other);
  respond ("unsaved", "cancel");
  window_test_wait (window);
  g_assert_cmpstr (gantry_document_get_path (document), ==, path);
  gtk_window_close (GTK_WINDOW (window));
  respond ("unsaved", "cancel");
  views_wait_until (n_files () == 1);
  gantry_window_open (window, other);
  respond ("unsaved", "discard");
  window_test_wait (window);
  g_assert_cmpstr (gantry_document_get_path (document), ==, other);
  views_wait_until (n_files () == 0);
  gtk_window_close (GTK_WINDOW (window)); /* nothing to ask */
  g_assert_null (window_test_dialog ("unsaved"));
  views_settle ();
}

/* The session manager ends the program and nobody answers: what is unsaved is kept at once, and again where it has changed since. */
static void
test_logout (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", FALSE);

  if (window == NULL)
    return;
  g_signal_emit_by_name (gtk_window_get_application (GTK_WINDOW (window)), "query-end");
  g_assert_cmpuint (n_files (), ==, 0); /* there is nothing */
  for (guint i = 1; i <= 2; i++)
    {
      g_autoptr (GPtrArray) list = NULL;

      edit (window, i);
      g_signal_emit_by_name (gtk_window_get_application (GTK_WINDOW (window)), "query-end");
      g_assert_cmpuint (n_files (), ==, 1);
      list = gantry_recovery_list ();
      g_assert_cmpuint (list->len, ==, 0); /* the program goes on where the logout is called off */
    }
  window_test_free (window);
  {
    g_autoptr (GPtrArray) list = kept_list ();

    g_assert_cmpuint (list->len, ==, 1);
    window = window_of (g_ptr_array_index (list, 0));
  }
  g_assert_cmpuint (limit_of (window), ==, 1000000002);
  window_test_free (window);
  remove_all ();
}

/* As who presses the button with the keyboard, or the mouse: the bar goes and takes nobody's focus with it. */
static void
press_reload (GantryWindow *window, const GantryModel *before)
{
  GtkWidget *button = window_test_find (GTK_WIDGET (window), "reload");

  g_assert_nonnull (button);
  g_assert_true (gtk_widget_grab_focus (button));
  g_signal_emit_by_name (button, "clicked");
  views_wait_until (gantry_document_get_model (gantry_window_get_document (window)) != before);
  window_test_wait (window);
  views_wait_until (window_test_find (GTK_WIDGET (window), "changed-on-disk") == NULL);
  g_assert_true (gtk_window_get_focus (GTK_WINDOW (window)) == GTK_WIDGET (gantry_pass_view_get_canvas (gantry_window_get_pass_view (window))));
}

/* A model that is exported again while it is open: it is told, and loaded again with what was set and selected. */
static void
test_exported_again (void)
{
  g_autofree char *from = views_source_file ("data/programs/transformer-tiny.gir"), *text = NULL, *longer = NULL;
  g_autofree char *folder = g_dir_make_tmp ("gantry-model-XXXXXX", NULL), *path = g_build_filename (folder, "m.gir", NULL);
  GantryWindow *window = window_test_new ();
  guint32 id;
  GantryModel *before;

  if (window == NULL)
    return;
  g_assert_true (g_file_get_contents (from, &text, NULL, NULL));
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  window_test_open (window, path);
  edit (window, 9);
  before = gantry_document_get_model (gantry_window_get_document (window));
  id = gantry_graph_canvas_get_module (gantry_pass_view_get_canvas (gantry_window_get_pass_view (window)))->nodes[4].id;
  gantry_selection_set (gantry_window_get_selection (window), 0, &id, 1);
  g_assert_null (window_test_find (GTK_WIDGET (window), "changed-on-disk"));
  longer = g_strconcat (text, "\n\n", NULL);
  g_assert_true (g_file_set_contents (path, longer, -1, NULL));
  views_wait_until (window_test_find (GTK_WIDGET (window), "changed-on-disk") != NULL);
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run"));
  press_reload (window, before);
  views_wait_until (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run"));
  g_assert_cmpuint (limit_of (window), ==, 1000000009);
  g_assert_cmpuint (gantry_selection_primary (gantry_window_get_selection (window)), ==, id);
  g_assert_cmpstr (gantry_document_get_undo_name (gantry_window_get_document (window)), !=, NULL);
  window_test_free (window);
  g_unlink (path);
  g_rmdir (folder);
  remove_all ();
}

/* Kills */

typedef struct
{
  GantryWindow *window;
  guint n;
} Script;

static gboolean
next_edit (gpointer data)
{
  Script *script = data;

  edit (script->window, ++script->n);
  printf ("edit %u %" G_GINT64_FORMAT "\n", script->n, g_get_monotonic_time ());
  fflush (stdout);
  return G_SOURCE_CONTINUE;
}

/* Opens what was unsaved, or the program, and edits ten times a second until it is killed. */
G_GNUC_NORETURN static void
be_killed (void)
{
  g_autoptr (GPtrArray) list = gantry_recovery_list ();
  Script script = { NULL, 0 };

  if (list->len > 0)
    script.window = window_of (g_ptr_array_index (list, 0));
  else
    script.window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  if (limit_of (script.window) > 1000000000)
    script.n = (guint) (limit_of (script.window) - 1000000000);
  printf ("begin %u %u\n", script.n, list->len);
  fflush (stdout);
  g_clear_pointer (&list, g_ptr_array_unref);
  g_timeout_add (100, next_edit, &script);
  while (TRUE)
    g_main_context_iteration (NULL, TRUE);
}

typedef struct
{
  gboolean has_begun;
  guint begun, n_lists; /* what it began with */
  GArray *times;        /* gint64: of the edits after that */
  gint64 end;
} Life;

/* Kills from a thread of its own, so that a window that says nothing is killed in time too. */
typedef struct
{
  GSubprocess *process;
  gint64 at, done; /* monotonic time */
} Killer;

static gpointer
kill_in_time (gpointer data)
{
  Killer *killer = data;
  gint64 left = killer->at - g_get_monotonic_time ();

  if (left > 0)
    g_usleep ((gulong) left);
  g_subprocess_force_exit (killer->process);
  killer->done = g_get_monotonic_time ();
  return NULL;
}

static void
read_line (Life *life, const char *line)
{
  guint n;
  gint64 time;

  if (sscanf (line, "edit %u %" G_GINT64_FORMAT, &n, &time) == 2)
    g_array_append_val (life->times, time);
  else if (sscanf (line, "begin %u %u", &life->begun, &life->n_lists) == 2)
    life->has_begun = TRUE;
}

/* Killed at the time @at, or, where that is 0, @span microseconds after the first edit. */
static void
live (gint64 at, gint64 span, Life *life)
{
  const char *argv[] = { program, "--edit", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process = g_subprocess_newv (argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error);
  g_autoptr (GDataInputStream) lines = NULL;
  Killer killer = { process, at, 0 };
  GThread *thread = at != 0 ? g_thread_new ("killer", kill_in_time, &killer) : NULL;
  char *line;

  g_assert_no_error (error);
  lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (process));
  while ((line = g_data_input_stream_read_line (lines, NULL, NULL, NULL)) != NULL)
    {
      read_line (life, line);
      g_free (line);
      if (thread == NULL && life->times->len > 0)
        {
          killer.at = g_array_index (life->times, gint64, 0) + span;
          thread = g_thread_new ("killer", kill_in_time, &killer);
        }
    }
  if (thread != NULL)
    g_thread_join (thread);
  life->end = killer.done;
  g_subprocess_wait (process, NULL, NULL);
  g_assert_true (g_subprocess_get_if_signaled (process) && g_subprocess_get_term_sig (process) == SIGKILL);
}

/* How many seconds of edits the life after does not have. */
static double
lost_seconds (const Life *life, const Life *next)
{
  guint kept = next->begun > life->begun ? next->begun - life->begun : 0;

  if (kept >= life->times->len)
    return 0;
  return (double) (life->end - g_array_index (life->times, gint64, kept)) / G_USEC_PER_SEC;
}

static int
compare_spans (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

/* Of each kill how long after the first edit, or after the start of all of them, in order. (transfer full) */
static GArray *
draw_spans (GRand *random, guint n_kills, double minutes)
{
  GArray *spans = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (guint i = 0; i <= n_kills; i++)
    {
      double seconds = minutes > 0 ? g_rand_double_range (random, 0, 60 * minutes) : g_rand_double_range (random, 0.3, 6);
      gint64 span = (gint64) (seconds * G_USEC_PER_SEC);

      g_array_append_val (spans, span);
    }
  if (minutes > 0)
    g_array_sort (spans, compare_spans);
  return spans;
}

static void
test_killed (void)
{
  g_autoptr (GRand) random = test_rand (1);
  const char *asked = g_getenv ("GANTRY_KILLS"), *minutes = g_getenv ("GANTRY_KILL_MINUTES");
  guint n_kills = asked != NULL ? (guint) g_ascii_strtoull (asked, NULL, 10) : 5, n_kept = 0, n_begun = 0, n_over = 0;
  g_autoptr (GArray) spans = draw_spans (random, n_kills, minutes != NULL ? g_ascii_strtod (minutes, NULL) : 0);
  gint64 start = g_get_monotonic_time ();
  Life before = { 0 }; /* the last that had begun */
  double worst = 0;

  if (!views_have_display ())
    return;
  /* The last life only shows what the last kill lost: it is killed as the others are. */
  for (guint i = 0; i <= n_kills; i++)
    {
      Life life = { .times = g_array_new (FALSE, FALSE, sizeof (gint64)) };
      gint64 span = g_array_index (spans, gint64, i);
      double lost;

      live (minutes != NULL && i < n_kills ? start + span : 0, span % (6 * G_USEC_PER_SEC), &life);
      if (!life.has_begun)
        {
          g_test_message ("life %u: killed before it had begun", i);
          g_array_unref (life.times);
          continue;
        }
      lost = before.times != NULL ? lost_seconds (&before, &life) : 0;
      worst = MAX (worst, lost);
      n_over += lost > 3;
      n_kept += life.n_lists;
      n_begun++;
      g_test_message ("life %u: began at edit %u, made %u, the kill before lost %.2f s", i, life.begun, life.times->len, lost);
      g_assert_cmpuint (life.n_lists, <=, 1);
      g_assert_cmpuint (life.begun, >=, before.begun); /* nothing of the lives before */
      g_clear_pointer (&before.times, g_array_unref);
      before = life;
    }
  g_test_message ("%u kills in %.1f minutes, %u of them while the window started, lose at most %.2f s, %u more than 3 s", n_kills,
                  (double) (g_get_monotonic_time () - start) / (60.0 * G_USEC_PER_SEC), n_kills + 1 - n_begun, worst, n_over);
  g_assert_cmpuint (n_kept, >, 0);
  g_assert_true (asked == NULL || n_over == 0);
  g_array_unref (before.times);
  remove_all ();
}

/* Edits @model, takes the folder of it away where @gone, and gets SIGTERM. */
static int
be_terminated (const char *model, gboolean gone)
{
  GantryWindow *window = window_test_new ();
  g_autofree char *folder = g_path_get_dirname (model);
  GApplication *application = g_application_get_default ();

  window_test_open (window, model);
  edit (window, 3);
  window_test_wait (window);
  if (gone)
    g_assert_true (g_unlink (model) == 0 && g_rmdir (folder) == 0);
  raise (SIGTERM);
  return gantry_application_status (GANTRY_APPLICATION (application), g_application_run (application, 0, NULL));
}

/* @gone: neither the folder of the model nor that of temporary files is there. (transfer full): what was said on standard error */
static char *
terminate_one (const char *model, gboolean gone)
{
  const char *const argv[] = { program, gone ? "--term-gone" : "--term", model, NULL };
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autoptr (GSubprocess) process = NULL;
  char *err = NULL;

  g_subprocess_launcher_setenv (launcher, "XDG_STATE_HOME", "/dev/null/none", TRUE);
  if (gone)
    g_subprocess_launcher_setenv (launcher, "TMPDIR", "/dev/null/none", TRUE);
  process = g_subprocess_launcher_spawnv (launcher, argv, NULL);
  g_assert_true (g_subprocess_communicate_utf8 (process, NULL, NULL, NULL, &err, NULL));
  g_assert_true (g_subprocess_get_if_exited (process));
  g_assert_cmpint (g_subprocess_get_exit_status (process), ==, gone ? 1 : 0);
  return err;
}

/* A signal while nothing can be written where unsaved work is kept: it is kept elsewhere, or its loss is told. */
static void
test_terminated (void)
{
  g_autofree char *from = views_source_file ("data/programs/transformer-tiny.gir"), *text = NULL, *kept = NULL, *lost = NULL;
  g_autofree char *folder = g_dir_make_tmp ("gantry-term-XXXXXX", NULL), *model = g_build_filename (folder, "m.gir", NULL);
  g_autofree char *what = NULL;
  g_autoptr (GDir) dir = NULL;
  const char *name;

  if (!views_have_display ())
    return;
  g_assert_true (g_file_get_contents (from, &text, NULL, NULL) && g_file_set_contents (model, text, -1, NULL));
  kept = terminate_one (model, FALSE);
  what = g_strdup_printf ("unsaved work of m.gir (edits) is kept in %s/m-unsaved-", folder);
  if (strstr (kept, what) == NULL)
    g_error ("\"%s\" is not in %s", what, kept);
  dir = g_dir_open (folder, 0, NULL);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".gantry"))
      {
        g_autofree char *path = g_build_filename (folder, name, NULL);

        g_assert_cmpint (g_unlink (path), ==, 0);
      }
  lost = terminate_one (model, TRUE);
  if (strstr (lost, "unsaved work of m.gir is LOST (edits): ") == NULL)
    g_error ("no loss is told in %s", lost);
}

int
main (int argc, char **argv)
{
  gboolean killed = argc == 2 && strcmp (argv[1], "--edit") == 0;
  g_autofree char *folder = NULL;

  program = argv[0];
  if (killed)
    {
      gtk_init ();
      adw_init ();
      be_killed ();
    }
  if (argc == 3 && g_str_has_prefix (argv[1], "--term"))
    {
      gtk_init ();
      adw_init ();
      return be_terminated (argv[2], strcmp (argv[1], "--term-gone") == 0);
    }
  window_test_init (&argc, &argv);
  g_test_add_func ("/recovery/restored", test_restored);
  g_test_add_func ("/recovery/asked-for-in-front", test_asked_for_in_front);
  g_test_add_func ("/recovery/asked", test_asked);
  g_test_add_func ("/recovery/outside", test_outside);
  g_test_add_func ("/recovery/two-questions", test_two_questions);
  g_test_add_func ("/recovery/logout", test_logout);
  g_test_add_func ("/recovery/exported-again", test_exported_again);
  g_test_add_func ("/recovery/terminated", test_terminated);
  g_test_add_func ("/recovery/killed", test_killed);
  return window_test_run ();
}
