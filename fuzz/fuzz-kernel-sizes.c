/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of tables of kernel sizes: whatever the bytes, they end in a table that reads back, or in an error. */
#include "core/ir/kernel-sizes.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup (size > 0 ? (const char *) data : "", size), *written = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_parse (text, &error), again = NULL;

  g_assert ((sizes == NULL) == (error != NULL));
  if (sizes == NULL)
    return 0;
  written = gantry_kernel_sizes_to_text (sizes);
  again = gantry_kernel_sizes_parse (written, NULL);
  g_assert (gantry_kernel_sizes_equal (sizes, again));
  return 0;
}
