/* SPDX-License-Identifier: Apache-2.0 */
/* The two palettes and the width table. Fills of operation classes keep 4.5 : 1 against the text on them. */
#include "drawing/theme.h"
#include <math.h>

#define RGB(hex) \
  { \
    ((hex) >> 16 & 255) / 255.0f, ((hex) >> 8 & 255) / 255.0f, ((hex) &255) / 255.0f \
  }

static const GantryTheme light = {
  .dark = FALSE,
  .font = "Cantarell, DejaVu Sans, sans-serif",
  .mono_font = "DejaVu Sans Mono, monospace",
  .ink = {
    [GANTRY_INK_BACKGROUND] = RGB (0xfafafa),
    [GANTRY_INK_SURFACE] = RGB (0xf0f1f3),
    [GANTRY_INK_SURFACE_2] = RGB (0xe6e8eb),
    [GANTRY_INK_BORDER] = RGB (0xc4c8ce),
    [GANTRY_INK_TEXT] = RGB (0x1f2328),
    [GANTRY_INK_TEXT_DIM] = RGB (0x5b6470),
    [GANTRY_INK_TEXT_ON_CLASS] = RGB (0x16191d),
    [GANTRY_INK_EDGE] = RGB (0x8b939e),
    [GANTRY_INK_EDGE_SELECTED] = RGB (0x1c5fd4),
    [GANTRY_INK_SELECTION] = RGB (0x1c5fd4),
    [GANTRY_INK_HOVER] = RGB (0x1f2328),
    [GANTRY_INK_MATCH] = RGB (0xc25e00),
    [GANTRY_INK_MADE] = RGB (0x1a7f37),
    [GANTRY_INK_REMOVED] = RGB (0xc4262e),
    [GANTRY_INK_GRID] = RGB (0xe0e3e7),
    [GANTRY_INK_PLANNED] = RGB (0xa9c4ec),
    [GANTRY_INK_MEASURED] = RGB (0x2f6fd0),
    [GANTRY_INK_WAIT] = RGB (0x8b939e),
    [GANTRY_INK_COPY] = RGB (0x8e5bc4),
    [GANTRY_INK_CALL] = RGB (0x3f7684),
    [GANTRY_INK_RANGE] = RGB (0x577434),
    [GANTRY_INK_OVERHEAD] = RGB (0x8a6522),
    [GANTRY_INK_PEAK] = RGB (0xc4262e),
    [GANTRY_INK_LIMIT] = RGB (0xc25e00),
    [GANTRY_INK_ERROR] = RGB (0xc4262e),
    [GANTRY_INK_KEEP] = RGB (0x2b6cb0),
    [GANTRY_INK_RECOMPUTE] = RGB (0xb4540a),
    [GANTRY_INK_OFFLOAD] = RGB (0x7b3fb5),
    [GANTRY_INK_BF16] = RGB (0x0f7173),
    [GANTRY_INK_INT8] = RGB (0xa3286b),
    [GANTRY_INK_CLASS + GANTRY_CLASS_INPUT] = RGB (0xd8dde4),
    [GANTRY_INK_CLASS + GANTRY_CLASS_CONSTANT] = RGB (0xe9e4da),
    [GANTRY_INK_CLASS + GANTRY_CLASS_ELEMENTWISE] = RGB (0xbfe3c8),
    [GANTRY_INK_CLASS + GANTRY_CLASS_MOVEMENT] = RGB (0xe2d4f2),
    [GANTRY_INK_CLASS + GANTRY_CLASS_REDUCTION] = RGB (0xf6dca6),
    [GANTRY_INK_CLASS + GANTRY_CLASS_CONTRACTION] = RGB (0xa9cbf5),
    [GANTRY_INK_CLASS + GANTRY_CLASS_FUSION] = RGB (0x9edbd6),
    [GANTRY_INK_CLASS + GANTRY_CLASS_CONTROL] = RGB (0xf3c6d8),
    [GANTRY_INK_CLASS + GANTRY_CLASS_MEMORY] = RGB (0xf4c9a8),
    [GANTRY_INK_CLASS + GANTRY_CLASS_OTHER] = RGB (0xd3d3d3),
  },
};

static const GantryTheme dark = {
  .dark = TRUE,
  .font = "Cantarell, DejaVu Sans, sans-serif",
  .mono_font = "DejaVu Sans Mono, monospace",
  .ink = {
    [GANTRY_INK_BACKGROUND] = RGB (0x1d1f22),
    [GANTRY_INK_SURFACE] = RGB (0x272a2e),
    [GANTRY_INK_SURFACE_2] = RGB (0x303439),
    [GANTRY_INK_BORDER] = RGB (0x4c525a),
    [GANTRY_INK_TEXT] = RGB (0xf0f2f4),
    [GANTRY_INK_TEXT_DIM] = RGB (0xaab2bd),
    [GANTRY_INK_TEXT_ON_CLASS] = RGB (0xf7f8f9),
    [GANTRY_INK_EDGE] = RGB (0x7d8691),
    [GANTRY_INK_EDGE_SELECTED] = RGB (0x6ea8ff),
    [GANTRY_INK_SELECTION] = RGB (0x6ea8ff),
    [GANTRY_INK_HOVER] = RGB (0xf0f2f4),
    [GANTRY_INK_MATCH] = RGB (0xffb057),
    [GANTRY_INK_MADE] = RGB (0x57d27a),
    [GANTRY_INK_REMOVED] = RGB (0xff7b82),
    [GANTRY_INK_GRID] = RGB (0x34383d),
    [GANTRY_INK_PLANNED] = RGB (0x3c5a85),
    [GANTRY_INK_MEASURED] = RGB (0x5f9bf0),
    [GANTRY_INK_WAIT] = RGB (0x7d8691),
    [GANTRY_INK_COPY] = RGB (0xb98ae8),
    [GANTRY_INK_CALL] = RGB (0x7fbccb),
    [GANTRY_INK_RANGE] = RGB (0xa5cb7b),
    [GANTRY_INK_OVERHEAD] = RGB (0xd8b26c),
    [GANTRY_INK_PEAK] = RGB (0xff7b82),
    [GANTRY_INK_LIMIT] = RGB (0xffb057),
    [GANTRY_INK_ERROR] = RGB (0xff7b82),
    [GANTRY_INK_KEEP] = RGB (0x74b3f0),
    [GANTRY_INK_RECOMPUTE] = RGB (0xf5a25d),
    [GANTRY_INK_OFFLOAD] = RGB (0xc79bf2),
    [GANTRY_INK_BF16] = RGB (0x5fd0d0),
    [GANTRY_INK_INT8] = RGB (0xf59ac4),
    [GANTRY_INK_CLASS + GANTRY_CLASS_INPUT] = RGB (0x454b53),
    [GANTRY_INK_CLASS + GANTRY_CLASS_CONSTANT] = RGB (0x524b3d),
    [GANTRY_INK_CLASS + GANTRY_CLASS_ELEMENTWISE] = RGB (0x2b5e3b),
    [GANTRY_INK_CLASS + GANTRY_CLASS_MOVEMENT] = RGB (0x54407a),
    [GANTRY_INK_CLASS + GANTRY_CLASS_REDUCTION] = RGB (0x6b5115),
    [GANTRY_INK_CLASS + GANTRY_CLASS_CONTRACTION] = RGB (0x22508c),
    [GANTRY_INK_CLASS + GANTRY_CLASS_FUSION] = RGB (0x1d5f5b),
    [GANTRY_INK_CLASS + GANTRY_CLASS_CONTROL] = RGB (0x7a2f50),
    [GANTRY_INK_CLASS + GANTRY_CLASS_MEMORY] = RGB (0x75421c),
    [GANTRY_INK_CLASS + GANTRY_CLASS_OTHER] = RGB (0x525252),
  },
};

static double
linear (double value)
{
  return value <= 0.04045 ? value / 12.92 : pow ((value + 0.055) / 1.055, 2.4);
}

static double
luminance (const GantryColor *color)
{
  return 0.2126 * linear (color->red) + 0.7152 * linear (color->green) + 0.0722 * linear (color->blue);
}

double
gantry_color_contrast (const GantryColor *a, const GantryColor *b)
{
  double x = luminance (a), y = luminance (b);

  return (MAX (x, y) + 0.05) / (MIN (x, y) + 0.05);
}

const GantryTheme *
gantry_theme_get (gboolean want_dark)
{
  return want_dark ? &dark : &light;
}

float
gantry_theme_text_size (guint style)
{
  static const float sizes[] = { 8.5f, 10.5f, 13.0f, 13.0f };

  return sizes[style & GANTRY_TEXT_SIZE_MASK];
}

/* Advance of a character in thousandths of the size: an upper estimate over the usual interface fonts. */
static guint
advance_of (gunichar c)
{
  if (c == 'i' || c == 'l' || c == 'j' || c == '.' || c == ',' || c == ':' || c == ';' || c == '\'' || c == '|' || c == '!')
    return 300;
  if (c == ' ' || c == 't' || c == 'f' || c == 'r' || c == '(' || c == ')' || c == '[' || c == ']' || c == '/' || c == '-')
    return 410;
  if (c == 'm' || c == 'w' || c == 'M' || c == 'W' || c == '@' || c == '%')
    return 960;
  if (g_unichar_isupper (c))
    return 690;
  if (c < 0x1100)
    return 610;
  return g_unichar_iszerowidth (c) ? 0 : 1050;
}

float
gantry_theme_text_width (const char *text, guint style)
{
  guint64 sum = 0;

  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    sum += (style & GANTRY_TEXT_MONO) != 0 ? 610 : advance_of (g_utf8_get_char (p));
  return (float) sum / 1000.0f * gantry_theme_text_size (style) * 4 / 3 * ((style & GANTRY_TEXT_BOLD) != 0 ? 1.06f : 1);
}
