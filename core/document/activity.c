/* SPDX-License-Identifier: Apache-2.0 */
/* Progress from a worker thread to the document, coalesced into one idle call at a time. */
#include "core/document/document-private.h"

struct _GantryActivity
{
  GantryProgress progress;
  GMutex lock;
  GMainContext *main_context;
  GWeakRef document;
  gatomicrefcount ref_count;
  void (*tell) (GantryDocument *document, const char *what, double fraction);
  gboolean pending;
  gboolean ended;
  double fraction;
  char *what;
};

static void
release (gpointer data)
{
  GantryActivity *activity = data;

  if (!g_atomic_ref_count_dec (&activity->ref_count))
    return;
  g_weak_ref_clear (&activity->document);
  g_main_context_unref (activity->main_context);
  g_clear_object (&activity->progress.cancellable);
  g_mutex_clear (&activity->lock);
  g_free (activity->what);
  g_free (activity);
}

static gboolean
deliver (gpointer data)
{
  GantryActivity *activity = data;
  g_autoptr (GantryDocument) document = g_weak_ref_get (&activity->document);
  g_autofree char *what = NULL;
  double fraction;
  gboolean ended;

  g_mutex_lock (&activity->lock);
  activity->pending = FALSE;
  what = g_strdup (activity->what);
  fraction = activity->fraction;
  ended = activity->ended;
  g_mutex_unlock (&activity->lock);
  if (document != NULL && !ended && !g_cancellable_is_cancelled (activity->progress.cancellable))
    activity->tell (document, what, fraction);
  return G_SOURCE_REMOVE;
}

static void
report (double fraction, const char *what, gpointer user_data)
{
  GantryActivity *activity = user_data;
  gboolean schedule;

  g_mutex_lock (&activity->lock);
  activity->fraction = fraction;
  if (g_strcmp0 (activity->what, what) != 0)
    {
      g_free (activity->what);
      activity->what = g_strdup (what);
    }
  schedule = !activity->pending;
  activity->pending = TRUE;
  g_mutex_unlock (&activity->lock);
  if (schedule)
    {
      g_autoptr (GSource) source = g_idle_source_new ();

      g_atomic_ref_count_inc (&activity->ref_count);
      g_source_set_callback (source, deliver, activity, release);
      g_source_attach (source, activity->main_context);
    }
}

GantryActivity *
_gantry_document_activity_new (GantryDocument *document, GCancellable *cancellable)
{
  return _gantry_document_activity_new_for (document, cancellable, _gantry_document_set_activity);
}

GantryActivity *
_gantry_document_activity_new_for (GantryDocument *document, GCancellable *cancellable,
                                   void (*tell) (GantryDocument *document, const char *what, double fraction))
{
  GantryActivity *activity = g_new0 (GantryActivity, 1);

  g_atomic_ref_count_init (&activity->ref_count);
  g_mutex_init (&activity->lock);
  g_weak_ref_init (&activity->document, document);
  activity->tell = tell;
  activity->main_context = g_main_context_ref_thread_default ();
  activity->progress = (GantryProgress){ .report = report, .user_data = activity, .cancellable = g_object_ref (cancellable) };
  return activity;
}

const GantryProgress *
_gantry_document_activity_progress (GantryActivity *activity)
{
  return &activity->progress;
}

void
_gantry_document_activity_free (GantryActivity *activity)
{
  g_mutex_lock (&activity->lock);
  activity->ended = TRUE;
  g_mutex_unlock (&activity->lock);
  release (activity);
}
