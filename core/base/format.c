/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, times and counts as people read them. */
#include "core/base/format.h"
#include <string.h>

#define FIGURES 3u
#define MOST_FIGURES 6u

static const char *const byte_units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

/* Of times and counts three figures count: 1.23, 12.3, 123. */
static char *
with_unit (double value, guint more, const char *unit)
{
  return g_strdup_printf ("%.*f %s", (value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + (int) more, value, unit);
}

/* @digits behind the point, in units of 1024^@power, in units of the last digit; rounded up or down. No figure is lost on the way:
 * 10^9 units of a PiB have 80 bits. */
static guint64
scaled (guint64 bytes, guint power, guint digits, gboolean up)
{
  const guint shift = 10 * power;
  unsigned __int128 value = bytes, one = (unsigned __int128) 1 << shift;

  for (guint i = 0; i < digits; i++)
    value *= 10;
  return (guint64) ((value + (up ? one - 1 : 0)) >> shift);
}

static guint64
power_of_ten (guint digits)
{
  guint64 power = 1;

  for (guint i = 0; i < digits; i++)
    power *= 10;
  return power;
}

/* A size as it is written: @value units of the last of @digits behind the point, in units of 1024^@power. */
typedef struct
{
  guint64 value;
  guint digits, power;
} Figures;

/* In units of 1024^@f->power, with @figures that count. One digit at least is behind the point, so that what is shown is never off by
 * more than a hundredth: 439.04 is 439.1, not 440. */
static void
take_figures (Figures *f, guint64 bytes, guint figures, gboolean up)
{
  f->digits = 0;
  if (f->power > 0)
    for (f->digits = figures - 1; f->digits > 1 && scaled (bytes, f->power, f->digits, up) >= power_of_ten (figures); f->digits--)
      ;
  f->value = scaled (bytes, f->power, f->digits, up);
}

/* What rounding carries into the next unit is said in that: 1.00 MiB, never 1024.0 KiB. */
static Figures
figures_of (guint64 bytes, guint figures, gboolean up)
{
  Figures f = { 0 };

  while (f.power + 1 < G_N_ELEMENTS (byte_units) && bytes >> (10 * (f.power + 1)) > 0)
    f.power++;
  take_figures (&f, bytes, figures, up);
  if (f.value >= 1024 * power_of_ten (f.digits) && f.power + 1 < G_N_ELEMENTS (byte_units))
    {
      f.power++;
      take_figures (&f, bytes, figures, up);
    }
  return f;
}

static char *
write_figures (const Figures *f)
{
  guint64 scale = power_of_ten (f->digits);

  return f->digits == 0
           ? g_strdup_printf ("%" G_GUINT64_FORMAT " %s", f->value, byte_units[f->power])
           : g_strdup_printf ("%" G_GUINT64_FORMAT ".%0*" G_GUINT64_FORMAT " %s", f->value / scale, (int) f->digits, f->value % scale, byte_units[f->power]);
}

/* In whole bytes, rounded down: what a text means to whoever reads it again. */
static unsigned __int128
bytes_said (const Figures *f)
{
  return ((unsigned __int128) f->value << (10 * f->power)) / power_of_ten (f->digits);
}

/* As strcmp() */
static int
compare_said (const Figures *a, const Figures *b)
{
  unsigned __int128 x = ((unsigned __int128) a->value * power_of_ten (b->digits)) << (10 * a->power);
  unsigned __int128 y = ((unsigned __int128) b->value * power_of_ten (a->digits)) << (10 * b->power);

  return x < y ? -1 : x > y;
}

static Figures
figures_of_limit (guint64 bytes)
{
  for (guint figures = FIGURES; figures <= MOST_FIGURES; figures++)
    {
      Figures f = figures_of (bytes, figures, TRUE);

      if (bytes_said (&f) == bytes)
        return f;
    }
  return figures_of (bytes, MOST_FIGURES, FALSE);
}

char *
gantry_format_bytes (guint64 bytes)
{
  Figures f = figures_of (bytes, FIGURES, TRUE);

  return write_figures (&f);
}

char *
gantry_format_bytes_down (guint64 bytes)
{
  Figures f = figures_of (bytes, FIGURES, FALSE);

  return write_figures (&f);
}

char *
gantry_format_limit (guint64 bytes)
{
  Figures f = figures_of_limit (bytes);

  return write_figures (&f);
}

/* With @figures, but what is the limit, or keeps to it by less than six figures show, reads as the limit does. */
static Figures
figures_beside (guint64 bytes, guint64 limit, guint figures)
{
  Figures f = figures_of (bytes, figures, TRUE), most = figures_of_limit (limit);

  return limit > 0 && (bytes == limit || (bytes < limit && figures == MOST_FIGURES && compare_said (&f, &most) > 0)) ? most : f;
}

/* Whether @a and @b differ in their texts where they do, and neither reads as above the limit that keeps to it, nor the other way. */
static gboolean
tells_apart (guint64 a, guint64 b, guint64 limit, guint figures)
{
  const guint64 bytes[] = { a, b };
  Figures f[2], most = figures_of_limit (limit);

  for (guint i = 0; i < 2; i++)
    {
      f[i] = figures_beside (bytes[i], limit, figures);
      if (limit > 0 && bytes[i] != limit && (compare_said (&f[i], &most) < 0) != (bytes[i] < limit))
        return FALSE;
    }
  return a == b || compare_said (&f[0], &f[1]) != 0;
}

/* As many as it takes for @a and @b beside @limit. */
static guint
figures_apart (guint64 a, guint64 b, guint64 limit)
{
  guint figures = FIGURES;

  while (figures <= MOST_FIGURES && !tells_apart (a, b, limit, figures))
    figures++;
  if (figures <= MOST_FIGURES)
    return figures;
  return limit > 0 ? MOST_FIGURES : FIGURES; /* alike for all that is shown, but no limit is broken by rounding */
}

void
gantry_format_bytes_apart (guint64 a, guint64 b, guint64 limit, char **text_a, char **text_b)
{
  const guint figures = figures_apart (a, b, limit);
  Figures f = figures_beside (a, limit, figures);

  *text_a = write_figures (&f);
  f = figures_beside (b, limit, figures);
  *text_b = write_figures (&f);
}

char *
gantry_format_bytes_bound (guint64 bound, guint64 bytes, guint64 limit)
{
  Figures f = figures_beside (bytes, limit, figures_apart (bytes, bytes, limit));

  if (bound >= bytes)
    return write_figures (&f);
  f.value = scaled (bound, f.power, f.digits, FALSE);
  return f.value > 0 ? write_figures (&f) : gantry_format_bytes_down (bound);
}

char *
gantry_format_bytes_within (guint64 bytes, guint64 limit)
{
  g_autofree char *same = NULL;
  char *text;

  gantry_format_bytes_apart (bytes, bytes, limit, &text, &same);
  return text;
}

char *
gantry_format_count (double count)
{
  static const char *const units[] = { "K", "M", "G", "T", "P", "E" };
  guint unit = 0;

  if (count < 1000)
    return g_strdup_printf ("%.0f", count);
  for (count /= 1000; count >= 999.5 && unit + 1 < G_N_ELEMENTS (units); unit++)
    count /= 1000;
  return with_unit (count, 0, units[unit]);
}

char *
gantry_format_bytes_exactly (guint64 bytes)
{
  return bytes < 1024 ? g_strdup ("") : g_strdup_printf (" (%" G_GUINT64_FORMAT " bytes)", bytes);
}

char *
gantry_format_ns_finely (gint64 ns, guint more)
{
  static const struct
  {
    gint64 ns;
    const char *unit;
  } units[] = {
    { 1000, "µs" },
    { 1000 * 1000, "ms" },
    { G_GINT64_CONSTANT (1000000000), "s" },
  };
  guint i = 0;

  if (ns < 1000)
    return g_strdup_printf ("%" G_GINT64_FORMAT " ns", ns);
  while (i + 1 < G_N_ELEMENTS (units) && ns >= units[i + 1].ns)
    i++;
  return with_unit ((double) ns / (double) units[i].ns, more, units[i].unit);
}

char *
gantry_format_ns (gint64 ns)
{
  return gantry_format_ns_finely (ns, 0);
}

char *
gantry_format_integer (guint64 n)
{
  g_autofree char *digits = g_strdup_printf ("%" G_GUINT64_FORMAT, n);
  gsize length = strlen (digits);
  GString *text = g_string_new (NULL);

  for (gsize i = 0; i < length; i++)
    {
      if (i > 0 && (length - i) % 3 == 0)
        g_string_append_c (text, ',');
      g_string_append_c (text, digits[i]);
    }
  return g_string_free (text, FALSE);
}

char *
gantry_format_plural (guint64 n, const char *singular, const char *plural)
{
  g_autofree char *number = gantry_format_integer (n);

  return g_strdup_printf ("%s %s", number, n == 1 ? singular : plural);
}

/* Controls of both blocks, and marks that reorder what stands around them. */
static gboolean
is_obeyed (gunichar c, gboolean lines)
{
  if (lines && (c == '\n' || c == '\t'))
    return FALSE;
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

char *
gantry_format_text (const char *text, gboolean lines)
{
  GString *shown = g_string_new (NULL);

  while (*text != '\0')
    {
      gunichar c = g_utf8_get_char_validated (text, -1);
      gboolean valid = c < 0x80000000u;

      if (!valid || (is_obeyed (c, lines) && c < 0x100))
        g_string_append_printf (shown, "\\x%02x", valid ? c : (guint) (guchar) *text);
      else if (is_obeyed (c, lines))
        g_string_append_printf (shown, "\\u%04x", c);
      else
        g_string_append_unichar (shown, c);
      text = valid ? g_utf8_next_char (text) : text + 1;
    }
  return g_string_free (shown, FALSE);
}
