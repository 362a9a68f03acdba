/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and places as people read them. */
#include "views/format.h"
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
gantry_format_type_bytes (const GantryType *type)
{
  gint64 bytes = gantry_type_is_tensor (type) ? gantry_type_bytes (type) : -1;

  return bytes >= 0 ? gantry_format_bytes ((guint64) bytes) : NULL;
}

char *
gantry_format_plural (guint64 n, const char *singular, const char *plural)
{
  g_autofree char *number = gantry_format_integer (n);

  return g_strdup_printf ("%s %s", number, n == 1 ? singular : plural);
}

/* What is left of @path below @folder, or NULL. */
static const char *
below (const char *path, const char *folder)
{
  gsize length = strlen (folder);

  while (length > 0 && folder[length - 1] == G_DIR_SEPARATOR)
    length--;
  return strncmp (path, folder, length) == 0 && path[length] == G_DIR_SEPARATOR ? path + length + 1 : NULL;
}

char *
gantry_format_location (const char *location, const char *beside)
{
  g_autofree char *folder = beside != NULL ? g_path_get_dirname (beside) : NULL;
  const char *rest;

  if (!g_path_is_absolute (location))
    return g_strdup (location);
  rest = folder != NULL && g_path_is_absolute (folder) ? below (location, folder) : NULL;
  if (rest != NULL)
    return g_strdup (rest);
  rest = below (location, g_get_home_dir ());
  return rest != NULL ? g_build_filename ("~", rest, NULL) : g_strdup (location);
}

static char *
delta (gboolean less, gboolean none, char *size)
{
  char *text = none ? g_strdup (" (±0)") : g_strdup_printf (" (%s%s)", less ? "−" : "+", size);

  g_free (size);
  return text;
}

char *
gantry_format_delta_bytes (gint64 bytes)
{
  return delta (bytes < 0, bytes == 0, gantry_format_bytes ((guint64) (bytes < 0 ? -bytes : bytes)));
}

char *
gantry_format_delta_ns (gint64 ns)
{
  return delta (ns < 0, ns == 0, gantry_format_ns (ns < 0 ? -ns : ns));
}
