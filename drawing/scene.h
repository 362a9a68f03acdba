/* SPDX-License-Identifier: Apache-2.0 */
/* A display list: what a painter wants to be seen, as flat marks in points, y downwards, independent of who
 * draws it: the window turns it into render nodes, gantry-cli into SVG or PNG by cairo. Only marks that are cheap
 * everywhere exist (see the notes on GTK's renderer in docs/decisions.md): axis-aligned fills, frames, hatches and
 * single lines of text. */
#pragma once
#include "drawing/theme.h"
#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  GANTRY_MARK_FILL,
  GANTRY_MARK_FRAME, /* the border of the box, inside it; its width in points is `style` */
  GANTRY_MARK_HATCH, /* thin diagonal stripes: waiting */
  GANTRY_MARK_TEXT,  /* one line; what does not fit into the box's width is cut with an ellipsis */
} GantryMarkKind;

typedef struct
{
  float x, y, width, height;
  guint8 kind;  /* GantryMarkKind */
  guint8 ink;   /* GantryInk */
  guint8 alpha; /* 255: opaque */
  guint8 style;
  guint32 text; /* offset of a NUL-terminated string in texts */
  float scale;  /* of text: the painter's zoom */
} GantryMark;

typedef struct
{
  GArray *marks; /* GantryMark, painted in order */
  GString *texts;
  float width, height; /* of the whole picture */
  guint budget;        /* most marks; 0: no limit, for files */
  guint n_clipped;     /* marks left out because the budget was used up: a test watches that it stays 0 */
} GantryScene;

/** The most marks of a frame, and of texts in it. */
#define GANTRY_SCENE_BUDGET 20000u
#define GANTRY_SCENE_TEXT_BUDGET 2500u

/** Returns: (transfer full): an empty one of that size in points, without a budget */
GantryScene *gantry_scene_new (float width, float height);
void gantry_scene_free (GantryScene *scene);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryScene, gantry_scene_free)
void gantry_scene_clear (GantryScene *scene, float width, float height);
/* Marks outside the picture are dropped; what sticks out is cut (fills) or kept (texts, frames). */
/** A filled rectangle; what sticks out is cut, so that its marks stay small. @alpha: 255: opaque */
void gantry_scene_fill (GantryScene *scene, float x, float y, float width, float height, GantryInk ink, guint8 alpha);
/** @line: width of the border in points, which lies inside. */
void gantry_scene_frame (GantryScene *scene, float x, float y, float width, float height, guint line, GantryInk ink, guint8 alpha);
/** Stripes in the box, opaque. */
void gantry_scene_hatch (GantryScene *scene, float x, float y, float width, float height, GantryInk ink);
/** @text: (nullable): copied; nothing is painted of none, or where the box is less than 4 points wide. @scale: of the sizes that the
 *  style names */
void gantry_scene_text (GantryScene *scene, float x, float y, float width, float height, const char *text, GantryTextStyle style, float scale, GantryInk ink);
/** Returns: (transfer none): the line of a text, valid until the next mark; "" of other marks */
const char *gantry_scene_mark_text (const GantryScene *scene, const GantryMark *mark);

G_END_DECLS
