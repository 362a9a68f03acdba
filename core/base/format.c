/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, times and counts as people read them. */
#include "core/base/format.h"
#include <string.h>

#define FIGURES 3u
#define MOST_FIGURES 6u

/* Three figures that count: 1.23, 12.3, 123. */
static char *
with_unit (double value, const char *unit)
{
  return g_strdup_printf ("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
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

/* @figures that count. What rounding carries into the next unit is said in that: 1.00 MiB, never 1024 KiB. */
static char *
with_figures (guint64 bytes, guint figures, gboolean up)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  guint power = 0, digits = 0;
  guint64 value, scale;

  while (power + 1 < G_N_ELEMENTS (units) && bytes >> (10 * (power + 1)) > 0)
    power++;
  if (power > 0 && scaled (bytes, power, 0, up) >= 1024 && power + 1 < G_N_ELEMENTS (units))
    power++;
  if (power > 0)
    for (digits = figures - 1; digits > 0 && scaled (bytes, power, digits, up) >= power_of_ten (figures); digits--)
      ;
  value = scaled (bytes, power, digits, up);
  scale = power_of_ten (digits);
  return digits == 0 ? g_strdup_printf ("%" G_GUINT64_FORMAT " %s", value, units[power])
                     : g_strdup_printf ("%" G_GUINT64_FORMAT ".%0*" G_GUINT64_FORMAT " %s", value / scale, (int) digits,
                                        value % scale, units[power]);
}

char *
gantry_format_bytes (guint64 bytes)
{
  return with_figures (bytes, FIGURES, TRUE);
}

char *
gantry_format_bytes_down (guint64 bytes)
{
  return with_figures (bytes, FIGURES, FALSE);
}

void
gantry_format_bytes_apart (guint64 a, guint64 b, char **text_a, char **text_b)
{
  for (guint figures = FIGURES; figures <= MOST_FIGURES; figures++)
    {
      *text_a = with_figures (a, figures, TRUE);
      *text_b = with_figures (b, figures, TRUE);
      if (a == b || strcmp (*text_a, *text_b) != 0)
        return;
      g_free (*text_a);
      g_free (*text_b);
    }
  *text_a = gantry_format_bytes (a);
  *text_b = gantry_format_bytes (b);
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
  return with_unit (count, units[unit]);
}

char *
gantry_format_ns (gint64 ns)
{
  if (ns < 1000)
    return g_strdup_printf ("%" G_GINT64_FORMAT " ns", ns);
  if (ns < 1000 * 1000)
    return with_unit ((double) ns / 1e3, "µs");
  if (ns < G_GINT64_CONSTANT (1000000000))
    return with_unit ((double) ns / 1e6, "ms");
  return with_unit ((double) ns / 1e9, "s");
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
