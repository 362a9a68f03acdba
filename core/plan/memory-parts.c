/* SPDX-License-Identifier: Apache-2.0 */
/* Names and sum of the parts of memory. */
#include "core/plan/memory-parts.h"

static const char *const names[] = {
  [GANTRY_PART_ARGUMENTS] = "arguments",     [GANTRY_PART_CONSTANTS] = "constants",   [GANTRY_PART_PACKED_WEIGHTS] = "packed weights",
  [GANTRY_PART_TEMPORARIES] = "temporaries", [GANTRY_PART_WORKSPACES] = "workspaces", [GANTRY_PART_CODE] = "context and code",
};
#define AT_LEAST "at least "

G_STATIC_ASSERT (G_N_ELEMENTS (names) == GANTRY_N_MEMORY_PARTS);

const char *
gantry_memory_part_name (GantryMemoryPart part)
{
  g_return_val_if_fail (part < GANTRY_N_MEMORY_PARTS, NULL);
  return names[part];
}

guint64
gantry_memory_parts_total (const GantryMemoryParts *parts)
{
  guint64 total = 0;

  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    total = parts->bytes[i] > G_MAXUINT64 - total ? G_MAXUINT64 : total + parts->bytes[i];
  return total;
}

char *
gantry_memory_peak_text (guint64 bytes, guint64 limit, gboolean sizes_known)
{
  g_autofree char *size = gantry_format_bytes_within (bytes, limit);

  return g_strconcat (sizes_known ? "" : AT_LEAST, size, NULL);
}

void
gantry_memory_peak_texts (guint64 planned, gboolean sizes_known, guint64 measured, guint64 limit, char **planned_text, char **measured_text)
{
  g_autofree char *size = NULL;

  gantry_format_bytes_apart (planned, measured, limit, &size, measured_text);
  *planned_text = g_strconcat (sizes_known ? "" : AT_LEAST, size, NULL);
}

char *
gantry_memory_parts_text (const GantryMemoryParts *parts)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    if (parts->bytes[i] > 0)
      {
        g_autofree char *size = gantry_format_bytes (parts->bytes[i]);

        g_string_append_printf (text, "%s%s %s", text->len > 0 ? ", " : "", names[i], size);
      }
  return g_string_free (text, FALSE);
}
