/* SPDX-License-Identifier: Apache-2.0 */
/* The front that is searched for unasked: it comes when it is quiet, goes when something happens, modifies nothing, and is no other than
 * one that was asked for. */
#include "tests/core/document/document-test.h"
#include <glib/gstdio.h>

#define QUIET_MS 1
#define N_POINTS 2

static double
progress_of (GantryDocument *document)
{
  double progress;

  g_object_get (document, "front-progress", &progress, NULL);
  return progress;
}

static gboolean
is_modified (GantryDocument *document)
{
  gboolean modified;

  g_object_get (document, "modified", &modified, NULL);
  return modified;
}

static gboolean
set (gpointer flag)
{
  *(gboolean *) flag = TRUE;
  return G_SOURCE_REMOVE;
}

/* For what must not happen: as long as several searches would have had to begin. */
static void
idle_for_a_while (void)
{
  gboolean over = FALSE;

  g_timeout_add (60 * QUIET_MS, set, &over);
  doc_wait_until (over);
}

static void
click (GantryDocument *document, GantryPlacementKind kind)
{
  g_autoptr (GArray) residuals = doc_residuals (document);

  g_assert_cmpuint (gantry_document_set_placement (document, doc_last (document), (const guint32 *) (gpointer) residuals->data, 1, (int) kind, NULL), ==, 1);
}

/* Each point has what was clicked. */
static void
check_clicked (GantryDocument *document, GPtrArray *front)
{
  const GArray *clicks = gantry_document_get_settings (document)->choices->entries;

  g_assert_cmpuint (front->len, >, 0);
  g_assert_cmpuint (clicks->len, >, 0);
  for (guint i = 0; i < front->len; i++)
    for (guint c = 0; c < clicks->len; c++)
      {
        const GantryChoice *click = &g_array_index (clicks, GantryChoice, c);
        const GantryChoice *entry = gantry_choices_find (((GantryVariant *) g_ptr_array_index (front, i))->choices, click->key);

        g_assert_true (entry != NULL ? entry->kind == click->kind : click->kind == GANTRY_PLACEMENT_KEEP);
      }
}

/* A save with a front that nobody has asked for leaves one that somebody else has asked for. */
static void
check_asked_in_file (GantryDocument *unasked, const char *path)
{
  g_autoptr (GantryDocument) asks = gantry_document_new (), reads = gantry_document_new ();
  g_autoptr (GPtrArray) asked = NULL;
  g_autoptr (GError) error = NULL;

  gantry_document_open (asks, path, NULL, NULL, &error);
  g_assert_no_error (error);
  asked = gantry_document_front (asks, 3, 0, 5, NULL, &error);
  g_assert_no_error (error);
  gantry_document_save (asks, NULL, &error);
  g_assert_no_error (error);
  gantry_document_save (unasked, NULL, &error);
  g_assert_no_error (error);
  gantry_document_open (reads, path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (((GantryVariant *) g_ptr_array_index (gantry_document_get_front (reads), 0))->name, ==,
                   ((GantryVariant *) g_ptr_array_index (asked, 0))->name);
  g_assert_cmpuint (gantry_document_get_front (reads)->len, ==, asked->len);
}

/* Nothing is modified by it; who saves keeps it. */
static void
test_found (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-background-XXXXXX", NULL), *path = g_build_filename (folder, "a.gantry", NULL);
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE), other = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  guint n;

  gantry_document_save (document, path, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (progress_of (document), ==, -1);
  gantry_document_keep_front (document, N_POINTS, QUIET_MS);
  doc_wait_until (progress_of (document) >= 0);
  g_assert_false (gantry_document_is_busy (document));
  doc_wait_until (gantry_document_get_front (document) != NULL);
  g_assert_cmpfloat (progress_of (document), ==, -1);
  g_assert_false (is_modified (document));
  g_assert_false (gantry_document_is_unsaved (document));
  n = gantry_document_get_front (document)->len;
  idle_for_a_while (); /* it is not searched for again */
  g_assert_cmpfloat (progress_of (document), ==, -1);
  gantry_document_set_notes (document, "for another reason");
  gantry_document_save (document, NULL, &error);
  g_assert_no_error (error);
  gantry_document_open (other, path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gantry_document_get_front (other)->len, ==, n);
  /* It is none that was asked for there either: another click, another front, and one that was asked for stays in the file. */
  check_asked_in_file (document, path);
  gantry_document_keep_front (other, N_POINTS, QUIET_MS);
  click (other, GANTRY_PLACEMENT_OFFLOAD);
  doc_wait_until (progress_of (other) >= 0);
  doc_wait_until (progress_of (other) < 0);
  check_clicked (other, gantry_document_get_front (other));
  g_unlink (path);
  g_rmdir (folder);
}

/* An edit ends the search at once, and the next one is with it; an edit that makes another front replaces the one that is there. */
static void
test_edited (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE);

  gantry_document_keep_front (document, N_POINTS, QUIET_MS);
  doc_wait_until (progress_of (document) >= 0);
  click (document, GANTRY_PLACEMENT_RECOMPUTE);
  g_assert_cmpfloat (progress_of (document), ==, -1);
  g_assert_null (gantry_document_get_front (document));
  doc_wait_until (gantry_document_get_front (document) != NULL);
  check_clicked (document, gantry_document_get_front (document));
  click (document, GANTRY_PLACEMENT_OFFLOAD);
  doc_wait_until (progress_of (document) >= 0);
  doc_wait_until (progress_of (document) < 0);
  check_clicked (document, gantry_document_get_front (document));
  doc_check_consistent (document);
}

typedef struct
{
  gboolean called;
  GantryVariant *variant;
} Found;

static void
solved (GObject *source, GAsyncResult *result, gpointer data)
{
  Found *found = data;
  g_autoptr (GError) error = NULL;

  found->variant = gantry_document_solve_finish (GANTRY_DOCUMENT (source), result, &error);
  g_assert_no_error (error);
  found->called = TRUE;
}

/* A search that was asked for ends it, is answered, and it begins anew. */
static void
test_solved (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE);
  const GantrySolveGoal goal = { .memory_bytes = gantry_document_get_prediction (document)->prediction->peak_bytes };
  Found found = { 0 };

  gantry_document_keep_front (document, N_POINTS, QUIET_MS);
  doc_wait_until (progress_of (document) >= 0);
  gantry_document_solve_async (document, &goal, solved, &found);
  g_assert_cmpfloat (progress_of (document), ==, -1);
  doc_wait_until (found.called);
  gantry_variant_unref (found.variant);
  doc_wait_until (gantry_document_get_front (document) != NULL);
}

/* What was asked for stays, whatever is clicked then; a program that has another has one of its own, and an undo brings the first back. */
static void
test_asked (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) asked = gantry_document_front (document, 2, 0, 5, NULL, &error);

  g_assert_no_error (error);
  gantry_document_keep_front (document, N_POINTS, QUIET_MS);
  idle_for_a_while ();
  click (document, GANTRY_PLACEMENT_RECOMPUTE);
  doc_wait (document);
  idle_for_a_while ();
  g_assert_cmpfloat (progress_of (document), ==, -1);
  g_assert_true (gantry_document_get_front (document) == asked);
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  doc_wait_until (gantry_document_get_front (document) != NULL && gantry_document_get_front (document) != asked);
  gantry_document_undo (document);
  doc_wait (document);
  g_assert_true (gantry_document_get_front (document) == asked);
}

/* The user stops it until something is edited. What is no training step has none. */
static void
test_stopped (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE), forward = doc_open ("mlp.gir", FALSE);

  gantry_document_keep_front (document, N_POINTS, QUIET_MS);
  gantry_document_keep_front (forward, N_POINTS, QUIET_MS);
  doc_wait_until (progress_of (document) >= 0);
  gantry_document_stop_front (document);
  g_assert_cmpfloat (progress_of (document), ==, -1);
  idle_for_a_while ();
  g_assert_cmpfloat (progress_of (document), ==, -1);
  g_assert_null (gantry_document_get_front (document));
  g_assert_cmpfloat (progress_of (forward), ==, -1);
  g_assert_null (gantry_document_get_front (forward));
  click (document, GANTRY_PLACEMENT_OFFLOAD);
  doc_wait_until (gantry_document_get_front (document) != NULL);
  gantry_document_keep_front (document, 0, 0);
  click (document, GANTRY_PLACEMENT_RECOMPUTE);
  doc_wait (document);
  idle_for_a_while ();
  g_assert_cmpfloat (progress_of (document), ==, -1);
}

/* A document may go while it searches: nothing holds it, and the search ends with it. */
static void
test_dropped (void)
{
  GantryDocument *document = doc_open ("mlp.gir", TRUE);

  g_object_add_weak_pointer (G_OBJECT (document), (gpointer *) &document);
  gantry_document_keep_front (document, N_POINTS, QUIET_MS);
  doc_wait_until (progress_of (document) >= 0);
  g_object_unref (document);
  g_assert_null (document);
  idle_for_a_while ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/document/background/found", test_found);
  g_test_add_func ("/document/background/edited", test_edited);
  g_test_add_func ("/document/background/solved", test_solved);
  g_test_add_func ("/document/background/asked", test_asked);
  g_test_add_func ("/document/background/stopped", test_stopped);
  g_test_add_func ("/document/background/dropped", test_dropped);
  return g_test_run ();
}
