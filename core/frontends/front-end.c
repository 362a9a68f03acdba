/* SPDX-License-Identifier: Apache-2.0 */
/* What a file said about itself, when it is not needed any more. */
#include "core/frontends/front-end.h"

void
gantry_read_info_clear (GantryReadInfo *info)
{
  g_free (info->format);
  g_free (info->producer);
  g_clear_pointer (&info->unknown, g_ptr_array_unref);
  g_clear_pointer (&info->unbound, g_ptr_array_unref);
  g_clear_pointer (&info->files, g_ptr_array_unref);
}
