/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of who reads a file, in one line. */
#include "core/base/fail.h"

gboolean
gantry_fail (GError **error, GantryError code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (GANTRY_ERROR, (gint) code, format, args);
  va_end (args);
  return FALSE;
}

void
gantry_error_say_whose (GError **error, const char *who)
{
  g_autofree char *prefix = g_strconcat (who, ":", NULL);

  if (error != NULL && *error != NULL && !g_str_has_prefix ((*error)->message, prefix))
    gantry_error_prefix (error, "%s ", prefix);
}
