/* SPDX-License-Identifier: Apache-2.0 */
/* Labels by trial: pictures have few, so each box is held against all. */
#include "drawing/labels-private.h"

#define GROUND_ALPHA 110 /* what is below shines through, and strikes nothing through */
#define TEXT_PART 0.86f  /* of the estimated width, which is an upper one */

void
_gantry_labels_init (GantryLabels *labels, float x, float y, float width, float height)
{
  labels->room = (GantryLayoutBox){ x, y, width, height };
  labels->taken = g_array_new (FALSE, FALSE, sizeof (GantryLayoutBox));
}

void
_gantry_labels_clear (GantryLabels *labels)
{
  g_clear_pointer (&labels->taken, g_array_unref);
}

void
_gantry_labels_take (GantryLabels *labels, const GantryLayoutBox *box)
{
  g_array_append_vals (labels->taken, box, 1);
}

static gboolean
overlap (const GantryLayoutBox *a, const GantryLayoutBox *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static gboolean
is_free (const GantryLabels *labels, const GantryLayoutBox *box)
{
  const GantryLayoutBox *room = &labels->room;

  if (box->x < room->x || box->x + box->width > room->x + room->width || box->y < room->y || box->y + box->height > room->y + room->height)
    return FALSE;
  for (guint i = 0; i < labels->taken->len; i++)
    if (overlap (box, &g_array_index (labels->taken, GantryLayoutBox, i)))
      return FALSE;
  return TRUE;
}

guint
_gantry_labels_place (GantryLabels *labels, const GantryLayoutBox *wished, guint n)
{
  for (guint i = 0; i < n; i++)
    if (is_free (labels, &wished[i]))
      {
        _gantry_labels_take (labels, &wished[i]);
        return i;
      }
  return n;
}

void
_gantry_labels_write (GantryScene *scene, const GantryLayoutBox *box, const char *text, GantryTextStyle style, GantryInk ink)
{
  gantry_scene_fill (scene, box->x, box->y, box->width * TEXT_PART, box->height, GANTRY_INK_BACKGROUND, GROUND_ALPHA);
  gantry_scene_text (scene, box->x + 2, box->y, box->width - 2, box->height, text, style, 1, ink);
}
