/* SPDX-License-Identifier: Apache-2.0 */
/* The front of memory and time that is drawn: what was searched for, and what searches have found since. */
#include "core/document/document-private.h"

/* Is @a as good as @b in both, as far as that is known? */
static gboolean
beats (GantryDocument *self, GantryVariant *a, GantryVariant *b)
{
  const GantryVariant *x = gantry_document_get_figures (self, a), *y = gantry_document_get_figures (self, b);

  return gantry_document_is_current (self, x) && gantry_document_is_current (self, y) && x->figures.peak_bytes <= y->figures.peak_bytes
         && x->figures.step_us <= y->figures.step_us;
}

static int
compare_peaks (gconstpointer a, gconstpointer b)
{
  const GantryVariant *x = *(GantryVariant *const *) a, *y = *(GantryVariant *const *) b;

  return x->figures.peak_bytes > y->figures.peak_bytes ? -1 : x->figures.peak_bytes < y->figures.peak_bytes;
}

/* The front that is drawn with an @answer that came later: what that beats is left out. (transfer full) (nullable): it beats nothing new */
static GPtrArray *
front_with (GantryDocument *self, GantryVariant *answer)
{
  GPtrArray *points = gantry_document_get_front (self);
  g_autoptr (GPtrArray) with = _gantry_variants_new ();

  for (guint i = 0; points != NULL && i < points->len; i++)
    {
      GantryVariant *point = g_ptr_array_index (points, i);

      if (beats (self, point, answer))
        return NULL;
      if (!beats (self, answer, point))
        g_ptr_array_add (with, gantry_variant_ref (point));
    }
  if (points == NULL || !gantry_document_is_current (self, answer))
    return NULL;
  g_ptr_array_add (with, gantry_variant_ref (answer));
  g_ptr_array_sort (with, compare_peaks);
  return g_steal_pointer (&with);
}

void
_gantry_document_take_front (GantryDocument *self, const char *program, GPtrArray *variants)
{
  g_autoptr (GPtrArray) points = NULL;
  g_autofree char *of = g_strdup (program != NULL ? program : _gantry_document_content (self));

  if (program != NULL)
    points = g_ptr_array_ref (variants);
  else if (variants->len > 0)
    points = front_with (self, g_ptr_array_index (variants, 0));
  if (points == NULL)
    return;
  _gantry_front_unref (self->front);
  self->front = _gantry_front_new (of, points, FALSE);
  self->n_others++;
  _gantry_document_changed (self);
  _gantry_document_notify (self, PROP_FRONT);
}

const char *
_gantry_document_content (GantryDocument *self)
{
  GantryCompilation *compilation = gantry_document_get_compilation (self);

  if (self->content == NULL && compilation != NULL)
    self->content = gantry_module_content (gantry_compilation_module (compilation));
  return self->content;
}

/* (nullable): NULL where it is of another program */
static GPtrArray *
points_of (GantryDocument *self, const GantryFront *front)
{
  return front != NULL && g_strcmp0 (front->program, _gantry_document_content (self)) == 0 ? front->points : NULL;
}

GPtrArray *
gantry_document_get_front (GantryDocument *self)
{
  GPtrArray *asked = points_of (self, self->front);

  return asked != NULL ? asked : points_of (self, self->background.front);
}

GantryFront *
_gantry_document_front_to_save (GantryDocument *self)
{
  return self->front != NULL ? self->front : self->background.front;
}
