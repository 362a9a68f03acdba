/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of tables of kernel sizes: whatever the bytes, they end in a table that reads back, or in an error. */
#include "core/plan/kernel-sizes.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *written = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSizes) sizes = NULL, again = NULL;

  g_string_append_len (text, size > 0 ? (const char *) data : "", (gssize) strnlen (size > 0 ? (const char *) data : "", size));
  if (size % 8 != 7) /* else nothing behind the checksum's line would be reached */
    gantry_kernel_sizes_append_checksum (text);
  sizes = gantry_kernel_sizes_parse (text->str, &error);
  g_assert ((sizes == NULL) == (error != NULL));
  if (sizes == NULL)
    return 0;
  written = gantry_kernel_sizes_to_text (sizes);
  again = gantry_kernel_sizes_parse (written, NULL);
  g_assert (gantry_kernel_sizes_equal (sizes, again));
  return 0;
}
