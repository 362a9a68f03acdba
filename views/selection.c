/* SPDX-License-Identifier: Apache-2.0 */
/* The selection and its images in the other snapshots, which are made when somebody asks. */
#include "views/selection.h"

/* A selection of more nodes is followed by its first ones: following is for looking, not for counting. */
#define MOST_FOLLOWED 4096u

struct _GantrySelection
{
  GObject parent_instance;
  GantryCompilation *compilation;
  guint snapshot;
  guint32 primary;
  GHashTable *ids;
  GHashTable *images; /* snapshot index + 1 -> set */
};

G_DEFINE_FINAL_TYPE (GantrySelection, gantry_selection, G_TYPE_OBJECT)

static guint changed_signal;

static void
gantry_selection_finalize (GObject *object)
{
  GantrySelection *self = GANTRY_SELECTION (object);

  g_clear_pointer (&self->compilation, gantry_compilation_unref);
  g_hash_table_unref (self->ids);
  g_hash_table_unref (self->images);
  G_OBJECT_CLASS (gantry_selection_parent_class)->finalize (object);
}

static void
gantry_selection_class_init (GantrySelectionClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gantry_selection_finalize;
  changed_signal = g_signal_new ("changed", GANTRY_TYPE_SELECTION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
gantry_selection_init (GantrySelection *self)
{
  self->ids = g_hash_table_new (NULL, NULL);
  self->images = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_hash_table_unref);
}

GantrySelection *
gantry_selection_new (void)
{
  return g_object_new (GANTRY_TYPE_SELECTION, NULL);
}

static void
changed (GantrySelection *self)
{
  g_hash_table_remove_all (self->images);
  g_signal_emit (self, changed_signal, 0);
}

static GHashTable *
follow (GantrySelection *self, guint to)
{
  GHashTable *image = g_hash_table_new (NULL, NULL);
  GHashTableIter iter;
  gpointer key;
  guint n = 0;

  g_hash_table_iter_init (&iter, self->ids);
  while (g_hash_table_iter_next (&iter, &key, NULL) && n++ < MOST_FOLLOWED)
    {
      g_autoptr (GArray) found = gantry_compilation_follow (self->compilation, self->snapshot, GPOINTER_TO_UINT (key), to);

      for (guint i = 0; i < found->len; i++)
        g_hash_table_add (image, GUINT_TO_POINTER (g_array_index (found, guint32, i)));
    }
  return image;
}

GHashTable *
gantry_selection_in (GantrySelection *self, guint snapshot)
{
  GHashTable *image;

  g_return_val_if_fail (GANTRY_IS_SELECTION (self), NULL);
  if (self->compilation == NULL || snapshot == self->snapshot || snapshot >= self->compilation->n_snapshots)
    return self->ids;
  image = g_hash_table_lookup (self->images, GUINT_TO_POINTER (snapshot + 1));
  if (image == NULL)
    {
      image = follow (self, snapshot);
      g_hash_table_insert (self->images, GUINT_TO_POINTER (snapshot + 1), image);
    }
  return image;
}

/* The import is the same object for every compilation of a model: what is selected goes through it. */
void
gantry_selection_set_compilation (GantrySelection *self, GantryCompilation *compilation)
{
  g_autoptr (GHashTable) kept = NULL;

  g_return_if_fail (GANTRY_IS_SELECTION (self));
  if (self->compilation == compilation)
    return;
  if (self->compilation != NULL && compilation != NULL && self->compilation->model == compilation->model)
    kept = g_hash_table_ref (gantry_selection_in (self, 0));
  else
    kept = g_hash_table_new (NULL, NULL);
  if (kept != self->ids)
    {
      g_hash_table_unref (self->ids);
      self->ids = g_hash_table_ref (kept);
    }
  self->snapshot = 0;
  if (!g_hash_table_contains (self->ids, GUINT_TO_POINTER (self->primary)))
    {
      GHashTableIter iter;
      gpointer key = NULL;

      g_hash_table_iter_init (&iter, self->ids);
      self->primary = g_hash_table_iter_next (&iter, &key, NULL) ? GPOINTER_TO_UINT (key) : 0;
    }
  g_clear_pointer (&self->compilation, gantry_compilation_unref);
  if (compilation != NULL)
    self->compilation = gantry_compilation_ref (compilation);
  changed (self);
}

static gboolean
is_exactly (GantrySelection *self, guint snapshot, const guint32 *ids, guint n)
{
  if (self->snapshot != snapshot || g_hash_table_size (self->ids) != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!g_hash_table_contains (self->ids, GUINT_TO_POINTER (ids[i])))
      return FALSE;
  return n == 0 || self->primary == ids[0];
}

void
gantry_selection_set (GantrySelection *self, guint snapshot, const guint32 *ids, guint n)
{
  g_return_if_fail (GANTRY_IS_SELECTION (self));
  if (is_exactly (self, snapshot, ids, n))
    return;
  /* A new set, because a view may hold the old one. */
  g_hash_table_unref (self->ids);
  self->ids = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < n; i++)
    g_hash_table_add (self->ids, GUINT_TO_POINTER (ids[i]));
  self->snapshot = snapshot;
  self->primary = n > 0 ? ids[0] : 0;
  changed (self);
}

/* The selection moves into @snapshot, for more to be added to it. */
static void
move_to (GantrySelection *self, guint snapshot)
{
  GHashTable *image = g_hash_table_ref (gantry_selection_in (self, snapshot));
  GHashTable *own = g_hash_table_new (NULL, NULL);
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, image);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_hash_table_add (own, key);
  g_hash_table_unref (image);
  g_hash_table_unref (self->ids);
  self->ids = own;
  self->snapshot = snapshot;
}

void
gantry_selection_toggle (GantrySelection *self, guint snapshot, const guint32 *ids, guint n)
{
  gboolean all = TRUE;

  g_return_if_fail (GANTRY_IS_SELECTION (self));
  move_to (self, snapshot);
  for (guint i = 0; i < n && all; i++)
    all = g_hash_table_contains (self->ids, GUINT_TO_POINTER (ids[i]));
  for (guint i = 0; i < n; i++)
    if (all)
      g_hash_table_remove (self->ids, GUINT_TO_POINTER (ids[i]));
    else
      g_hash_table_add (self->ids, GUINT_TO_POINTER (ids[i]));
  if (!all && n > 0)
    self->primary = ids[0];
  else if (!g_hash_table_contains (self->ids, GUINT_TO_POINTER (self->primary)))
    {
      GHashTableIter iter;
      gpointer key = NULL;

      g_hash_table_iter_init (&iter, self->ids);
      self->primary = g_hash_table_iter_next (&iter, &key, NULL) ? GPOINTER_TO_UINT (key) : 0;
    }
  changed (self);
}

void
gantry_selection_clear (GantrySelection *self)
{
  gantry_selection_set (self, self->snapshot, NULL, 0);
}

guint
gantry_selection_count (GantrySelection *self)
{
  return g_hash_table_size (self->ids);
}

guint
gantry_selection_snapshot (GantrySelection *self)
{
  return self->snapshot;
}

guint32
gantry_selection_primary (GantrySelection *self)
{
  return self->primary;
}
