/* SPDX-License-Identifier: Apache-2.0 */
/* Colours by role, light and dark, styles of text, and its widths without a font at hand. */
#pragma once
#include "core/graph/operation.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_INK_BACKGROUND,
  GANTRY_INK_SURFACE,   /* boxes of scopes, headers of lanes */
  GANTRY_INK_SURFACE_2, /* nested once more */
  GANTRY_INK_BORDER,
  GANTRY_INK_TEXT,
  GANTRY_INK_TEXT_DIM,
  GANTRY_INK_TEXT_ON_CLASS, /* on the fill of a node */
  GANTRY_INK_EDGE,
  GANTRY_INK_EDGE_SELECTED,
  GANTRY_INK_SELECTION,
  GANTRY_INK_HOVER,
  GANTRY_INK_MATCH,   /* found by search */
  GANTRY_INK_MADE,    /* not there before this pass */
  GANTRY_INK_REMOVED, /* not there after it */
  GANTRY_INK_GRID,
  GANTRY_INK_PLANNED,
  GANTRY_INK_MEASURED,
  GANTRY_INK_WAIT,
  GANTRY_INK_COPY,
  GANTRY_INK_CALL,     /* of a runtime library, on a thread of the host */
  GANTRY_INK_RANGE,    /* that a program named */
  GANTRY_INK_OVERHEAD, /* of measuring */
  GANTRY_INK_PEAK,
  GANTRY_INK_LIMIT,
  GANTRY_INK_ERROR,
  GANTRY_INK_KEEP, /* placements: told apart by pattern and letter too */
  GANTRY_INK_RECOMPUTE,
  GANTRY_INK_OFFLOAD,
  GANTRY_INK_BF16,
  GANTRY_INK_INT8,
  GANTRY_INK_CLASS, /* + GantryOpClass: fill of a node of that class; told apart by colour-blind people as well */
  GANTRY_N_INKS = GANTRY_INK_CLASS + GANTRY_N_CLASSES
} GantryInk;

/** style of a text: a size step, and flags */
typedef enum
{
  GANTRY_TEXT_SMALL,  /* 8.5 pt at scale 1 */
  GANTRY_TEXT_NORMAL, /* 10.5 pt */
  GANTRY_TEXT_LARGE,  /* 13 pt */
  GANTRY_TEXT_SIZE_MASK = 3,
  GANTRY_TEXT_BOLD = 1 << 2,
  GANTRY_TEXT_MONO = 1 << 3,
  GANTRY_TEXT_CENTER = 1 << 4,
  GANTRY_TEXT_RIGHT = 1 << 5,
  GANTRY_TEXT_TABULAR = 1 << 6,
} GantryTextStyle;

typedef struct
{
  float red, green, blue;
} GantryColor;

typedef struct
{
  gboolean dark;
  const char *font; /* family */
  const char *mono_font;
  GantryColor ink[GANTRY_N_INKS];
} GantryTheme;

/** Static. */
const GantryTheme *gantry_theme_get (gboolean dark);
/** WCAG 2.1: from 1 to 21. */
double gantry_color_contrast (const GantryColor *a, const GantryColor *b);
/** Height in points of a size step at scale 1. */
float gantry_theme_text_size (guint style);
/** A close upper estimate of the width of a line at scale 1, in points; pure, so that layouts are the same everywhere. */
float gantry_theme_text_width (const char *text, guint style);

G_END_DECLS
