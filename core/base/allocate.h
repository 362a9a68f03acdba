/* SPDX-License-Identifier: Apache-2.0 */
/* Memory whose size a file says. A program may abort where it cannot have the few bytes that it needs itself; a file that asks for
 * more than there is ends in an error. Readers take such memory here and nowhere else, so that tests can make each of these
 * calls fail. */
#pragma once
#include "core/base/error.h"
#include <string.h>

G_BEGIN_DECLS

/**
 * gantry_try_allocate:
 * @n: how many
 * @size: bytes of one
 * @what: for the message: "the steps of a plan"
 *
 * Returns: (transfer full) (nullable): @n times @size zeros, not %NULL for none; free with g_free(). %NULL with
 *  %GANTRY_ERROR_NO_MEMORY, which tells the size, where the system does not have them or no machine could
 */
gpointer gantry_try_allocate (gsize n, gsize size, const char *what, GError **error);

/** Tells @error that @what would take @bytes (%G_MAXSIZE: more than can be counted), which are not there. */
void gantry_set_no_memory (gsize bytes, const char *what, GError **error);

#define gantry_try_new0(Type, n, what, error) ((Type *) gantry_try_allocate ((n), sizeof (Type), (what), (error)))

/** A copy of @size bytes of a file. Returns: (transfer full) (nullable): as gantry_try_allocate() */
static inline GBytes *
gantry_try_bytes (gconstpointer data, gsize size, const char *what, GError **error)
{
  gpointer copy = gantry_try_allocate (size, 1, what, error);

  if (copy == NULL)
    return NULL;
  if (size > 0)
    memcpy (copy, data, size);
  return g_bytes_new_take (copy, size);
}

/**
 * gantry_pages_try_new:
 * @size: bytes
 * @what: for the message: "a result"
 *
 * As gantry_pages_new(), for a size that a program says: as with gantry_try_allocate(), more than the machine has is refused at once.
 *
 * Returns: (transfer full) (nullable): %NULL with %GANTRY_ERROR_NO_MEMORY, which tells the size. Free with gantry_pages_free().
 */
gpointer gantry_pages_try_new (gsize size, const char *what, GError **error);

G_END_DECLS
