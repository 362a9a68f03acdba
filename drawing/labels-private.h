/* SPDX-License-Identifier: Apache-2.0 */
/* Where labels of a picture go: none over another one, or over what is not to be covered. */
#pragma once
#include "drawing/layout/layout.h"
#include "drawing/scene.h"

G_BEGIN_DECLS

#define GANTRY_LABEL_HEIGHT 14.0f

typedef struct
{
  GantryLayoutBox room; /* that no label leaves */
  GArray *taken;        /* GantryLayoutBox */
} GantryLabels;

void _gantry_labels_init (GantryLabels *labels, float x, float y, float width, float height);
void _gantry_labels_clear (GantryLabels *labels);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantryLabels, _gantry_labels_clear)
/** Nothing is written over @box. */
void _gantry_labels_take (GantryLabels *labels, const GantryLayoutBox *box);
/**
 * _gantry_labels_place:
 * @wished: (array length=n): places, the best first
 *
 * Takes the first of them that is free. Returns: its index; @n: there is none, and nothing is taken
 */
guint _gantry_labels_place (GantryLabels *labels, const GantryLayoutBox *wished, guint n);
/** Writes @text into @box, on ground of its own, so that lines below do not strike it through. */
void _gantry_labels_write (GantryScene *scene, const GantryLayoutBox *box, const char *text, GantryTextStyle style, GantryInk ink);

G_END_DECLS
