/* SPDX-License-Identifier: Apache-2.0 */
/* Differences, types and places as people read them. */
#include "views/format.h"
#include "core/document/document.h"
#include <string.h>

char *
gantry_format_type_bytes (const GantryType *type)
{
  gint64 bytes = gantry_type_is_tensor (type) ? gantry_type_bytes (type) : -1;

  return bytes >= 0 ? gantry_format_bytes ((guint64) bytes) : NULL;
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

char *
gantry_format_when (const char *iso)
{
  gboolean of_file = iso != NULL && g_str_has_prefix (iso, GANTRY_WHEN_OF_FILE);
  const char *date = of_file ? iso + strlen (GANTRY_WHEN_OF_FILE) : iso;
  g_autoptr (GDateTime) utc = date != NULL ? g_date_time_new_from_iso8601 (date, NULL) : NULL;
  g_autoptr (GDateTime) local = utc != NULL ? g_date_time_to_local (utc) : NULL;

  if (local == NULL)
    return g_strdup (iso);
  return g_date_time_format (local, of_file ? GANTRY_WHEN_OF_FILE "%-e %b %Y %H:%M:%S" : "%-e %b %Y %H:%M:%S");
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

char *
gantry_format_short (const char *text, guint most)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  glong length = g_utf8_strlen (valid, -1), head = (glong) most / 2, tail = (glong) most - head - 1;
  g_autofree char *first = NULL;

  if (length <= (glong) most)
    return g_steal_pointer (&valid);
  first = g_utf8_substring (valid, 0, head);
  return g_strconcat (first, "\342\200\246", g_utf8_offset_to_pointer (valid, length - tail), NULL);
}

char *
gantry_format_placed (int kind, guint n, const char *why)
{
  g_autofree char *count = NULL;

  if (why != NULL)
    return g_strdup (why);
  if (n == 1)
    return NULL;
  count = gantry_format_plural (n, "value", "values");
  return g_strdup_printf ("%s: %s", kind == GANTRY_PLACEMENT_UNSET ? "As the policy says" : gantry_placement_kind_name ((GantryPlacementKind) kind), count);
}
