/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, times and counts as people read them. */
#include "core/base/format.h"
#include <string.h>

/* Three figures that count: 1.23, 12.3, 123. */
static char *
with_unit (double value, const char *unit)
{
  return g_strdup_printf ("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

char *
gantry_format_bytes (guint64 bytes)
{
  static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  double value = (double) bytes;
  guint unit = 0;

  if (bytes < 1024)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " B", bytes);
  for (value /= 1024; value >= 1023.5 && unit + 1 < G_N_ELEMENTS (units); unit++)
    value /= 1024;
  return with_unit (value, units[unit]);
}

/* @digits behind the point, in units of 1024^@power, rounded up or down. No figure is lost on the way: 10^9 units of a PiB have 80
 * bits. */
static char *
rounded (guint64 bytes, guint power, guint digits, gboolean up)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  const guint shift = 10 * power;
  unsigned __int128 scaled = bytes, one = (unsigned __int128) 1 << shift;
  guint64 scale = 1, whole;

  for (guint i = 0; i < digits; i++)
    scale *= 10;
  scaled = scaled * scale + (up ? one - 1 : 0);
  scaled >>= shift;
  whole = (guint64) (scaled / scale);
  return digits == 0 ? g_strdup_printf ("%" G_GUINT64_FORMAT " %s", whole, units[power])
                     : g_strdup_printf ("%" G_GUINT64_FORMAT ".%0*" G_GUINT64_FORMAT " %s", whole, (int) digits,
                                        (guint64) (scaled % scale), units[power]);
}

static guint
power_of (guint64 bytes)
{
  guint power = 0;

  while (power < 6 && bytes >> (10 * (power + 1)) > 0)
    power++;
  return power;
}

/* Three figures that count. */
static guint
digits_of (guint64 bytes, guint power)
{
  guint64 whole = bytes >> (10 * power);

  return power == 0 ? 0 : whole < 10 ? 2 : whole < 100 ? 1 : 0;
}

char *
gantry_format_bytes_up (guint64 bytes)
{
  guint power = power_of (bytes);

  return rounded (bytes, power, digits_of (bytes, power), TRUE);
}

char *
gantry_format_bytes_down (guint64 bytes)
{
  guint power = power_of (bytes);

  return rounded (bytes, power, digits_of (bytes, power), FALSE);
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
