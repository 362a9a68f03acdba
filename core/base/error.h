/* SPDX-License-Identifier: Apache-2.0 */
/* The one error domain of Gantry. A message says what went wrong, where (file, node, byte offset)
 * and what the user can do; the code says which kind of answer a caller owes. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum
{
  GANTRY_ERROR_FAILED,      /* something else; the message says what */
  GANTRY_ERROR_INVALID,     /* malformed input: wrong type, cyclic, inconsistent */
  GANTRY_ERROR_TRUNCATED,   /* input ends before it should */
  GANTRY_ERROR_TOO_LARGE,   /* a limit on size or depth was exceeded */
  GANTRY_ERROR_UNSUPPORTED, /* well formed, but Gantry cannot do it; CLI exit status 3 */
  GANTRY_ERROR_NO_MEMORY,   /* memory or a memory limit is exhausted */
  GANTRY_ERROR_MISMATCH,    /* results differ from what was expected; CLI exit status 2 */
  GANTRY_ERROR_OUTSIDE,     /* a file outside the model's folder is asked for: the user has to allow it */
  GANTRY_ERROR_UNTRUSTED,   /* a program would run that nobody has allowed */
  GANTRY_ERROR_CONFLICT,    /* somebody else has changed the same thing since it was read */
  GANTRY_ERROR_CHANGED,     /* a session's model is another one now: the user has to accept it */
} GantryError;

#define GANTRY_ERROR (gantry_error_quark ())
/** Returns: the domain of errors whose codes are of #GantryError; write it %GANTRY_ERROR */
GQuark gantry_error_quark (void);

/**
 * gantry_error_prefix:
 * @error: (inout) (nullable): an error location
 * @format: printf-style prefix
 *
 * Prepends where an error happened, keeping domain and code. Does nothing when @error is unset.
 */
void gantry_error_prefix (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_END_DECLS
