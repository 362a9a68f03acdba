/* SPDX-License-Identifier: Apache-2.0 */
/* Globs: one star that stands for anything, taken apart once and matched from left to right without going back
 * more than a part. */
#include "core/planner/policy/policy-private.h"
#include <string.h>

void
_gantry_glob_init (Glob *glob, const char *text)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new ();
  GString *part = g_string_new (NULL);

  for (const char *p = text; *p != '\0'; p++)
    if (*p == '*')
      {
        g_ptr_array_add (parts, g_string_free (part, FALSE));
        part = g_string_new (NULL);
      }
    else
      {
        if (*p == '\\' && p[1] == '*')
          p++;
        g_string_append_c (part, *p);
      }
  g_ptr_array_add (parts, g_string_free (part, FALSE));
  glob->n_parts = parts->len;
  g_ptr_array_add (parts, NULL);
  glob->parts = (char **) g_ptr_array_free (g_steal_pointer (&parts), FALSE);
}

void
_gantry_glob_clear (Glob *glob)
{
  g_strfreev (glob->parts);
}

gboolean
_gantry_glob_matches (const Glob *glob, const char *text)
{
  const char *first = glob->parts[0], *last = glob->parts[glob->n_parts - 1];
  gsize length = strlen (text), head = strlen (first), tail = strlen (last);
  const char *p = text + head, *end = text + length - tail;

  if (glob->n_parts == 1)
    return strcmp (first, text) == 0;
  if (length < head + tail || memcmp (text, first, head) != 0 || memcmp (end, last, tail) != 0)
    return FALSE;
  /* The leftmost place of each part in between leaves most room for the next. */
  for (guint i = 1; i + 1 < glob->n_parts; i++)
    {
      gsize size = strlen (glob->parts[i]);
      const char *found = size == 0 ? p : memmem (p, (gsize) (end - p), glob->parts[i], size);

      if (found == NULL)
        return FALSE;
      p = found + size;
    }
  return TRUE;
}

/* One part of a path against one part of a glob, both ended by '/' or their end: stars within it. */
static gboolean
part_matches (const char *glob, const char *glob_end, const char *text, const char *end)
{
  const char *star = NULL, *from = NULL;

  while (text < end)
    if (glob < glob_end && *glob == '*')
      {
        star = ++glob;
        from = text;
      }
    else if (glob < glob_end && *glob == *text)
      {
        glob++;
        text++;
      }
    else if (star != NULL)
      {
        glob = star;
        text = ++from;
      }
    else
      return FALSE;
  while (glob < glob_end && *glob == '*')
    glob++;
  return glob == glob_end;
}

static const char *
part_end (const char *p, const char *end)
{
  const char *slash = memchr (p, '/', (gsize) (end - p));

  return slash != NULL ? slash : end;
}

gboolean
_gantry_scope_glob_matches (const char *glob, const char *path, gsize length)
{
  const char *g = glob, *g_end = glob + strlen (glob), *p = path, *p_end = path + length;
  const char *star = NULL, *from = NULL;

  /* The same with parts in place of letters and ** in place of the star. A path ends one past its end. */
  while (p <= p_end)
    {
      const char *ge = g <= g_end ? part_end (g, g_end) : NULL, *pe = part_end (p, p_end);

      if (ge != NULL && ge - g == 2 && g[0] == '*' && g[1] == '*')
        {
          star = g = ge + 1;
          from = p;
        }
      else if (ge != NULL && part_matches (g, ge, p, pe))
        {
          g = ge + 1;
          p = pe + 1;
        }
      else if (star != NULL)
        {
          g = star;
          p = from = part_end (from, p_end) + 1;
        }
      else
        return FALSE;
    }
  while (g <= g_end && part_end (g, g_end) - g == 2 && g[0] == '*' && g[1] == '*')
    g = part_end (g, g_end) + 1;
  return g > g_end;
}
