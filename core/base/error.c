/* SPDX-License-Identifier: Apache-2.0 */
/* The error domain, what makes an error and what adds a place to its message. */
#include "core/base/error.h"
#include "core/base/fail.h"

G_DEFINE_QUARK (gantry-error-quark, gantry_error)

void
gantry_error_prefix (GError **error, const char *format, ...)
{
  va_list args;
  g_autofree char *prefix = NULL;
  char *message;

  if (error == NULL || *error == NULL)
    return;
  va_start (args, format);
  prefix = g_strdup_vprintf (format, args);
  va_end (args);
  message = g_strconcat (prefix, (*error)->message, NULL);
  g_free ((*error)->message);
  (*error)->message = message;
}

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
