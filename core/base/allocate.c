/* SPDX-License-Identifier: Apache-2.0 */
/* What is larger than the memory of the machine is refused at once: a system that promises more than it has would end the
 * process later, when the pages are touched. */
#include "core/base/allocate.h"
#include "core/base/format.h"
#include "core/base/pages.h"
#include "core/base/process-memory.h"

gpointer
gantry_try_allocate (gsize n, gsize size, const char *what, GError **error)
{
  gsize bytes;
  gpointer memory = NULL;

  if (!g_size_checked_mul (&bytes, n, size))
    bytes = G_MAXSIZE;
  if (bytes <= gantry_process_memory_of_machine ())
    memory = g_try_malloc0 (MAX (bytes, 1));
  if (memory == NULL)
    gantry_set_no_memory (bytes, what, error);
  return memory;
}

void
gantry_set_no_memory (gsize bytes, const char *what, GError **error)
{
  g_autofree char *text = gantry_format_bytes (bytes);

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "%s would take %s, which %s", what, bytes < G_MAXSIZE ? text : "more bytes than can be counted",
               bytes > gantry_process_memory_of_machine () ? "is more than this machine has" : "is more than is free now");
}

gpointer
gantry_pages_try_new (gsize size, const char *what, GError **error)
{
  gpointer memory = size <= gantry_process_memory_of_machine () ? gantry_pages_new_or_null (size) : NULL;

  if (memory == NULL)
    gantry_set_no_memory (size, what, error);
  return memory;
}
