/* SPDX-License-Identifier: Apache-2.0 */
/* The error domain, and what adds a place to a message. */
#include "core/base/error.h"

G_DEFINE_QUARK (gantry - error - quark, gantry_error)

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
