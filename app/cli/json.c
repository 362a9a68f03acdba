/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands print as one JSON object. */
#include "app/cli/cli.h"
#include "core/base/format.h"
#include <math.h>
#include <string.h>

/* What a terminal would obey stands in strings alone: there it is an escape of JSON. Bytes that are no UTF-8, which JSON has not,
 * are replaced. (transfer full) */
static char *
shown_json (const char *json)
{
  g_autofree char *valid = g_utf8_make_valid (json, -1);
  GString *shown = g_string_sized_new (strlen (valid) + 1);

  for (const char *at = valid, *next; *at != '\0'; at = next)
    {
      g_autofree char *text = NULL, *one = NULL;

      next = g_utf8_next_char (at);
      if ((guchar) *at >= ' ' && (guchar) *at < 0x7f)
        {
          g_string_append_c (shown, *at);
          continue;
        }
      text = g_strndup (at, (gsize) (next - at));
      one = gantry_format_text (text, TRUE);
      if (strcmp (one, text) == 0)
        g_string_append (shown, text);
      else
        g_string_append_printf (shown, "\\u%04x", g_utf8_get_char (at));
    }
  return g_string_free (shown, FALSE);
}

void
gantry_cli_print_json (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autofree char *text = NULL, *shown = NULL;

  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  text = json_generator_to_data (generator, NULL);
  shown = shown_json (text);
  fprintf (stdout, "%s\n", shown);
}

void
gantry_cli_add_int (JsonBuilder *json, const char *key, gint64 value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_int_value (json, value);
}

void
gantry_cli_add_measured (JsonBuilder *json, const char *key, gboolean known, guint64 value)
{
  json_builder_set_member_name (json, key);
  if (known)
    json_builder_add_int_value (json, (gint64) value);
  else
    json_builder_add_null_value (json);
}

void
gantry_cli_add_number (JsonBuilder *json, double value)
{
  if (isfinite (value))
    json_builder_add_double_value (json, value);
  else
    json_builder_add_null_value (json);
}

void
gantry_cli_add_double (JsonBuilder *json, const char *key, double value)
{
  json_builder_set_member_name (json, key);
  gantry_cli_add_number (json, value);
}

void
gantry_cli_add_gap (JsonBuilder *json, double gap)
{
  gantry_cli_add_double (json, "gap", gap < 0 ? INFINITY : gap);
}

void
gantry_cli_add_string (JsonBuilder *json, const char *key, const char *value)
{
  json_builder_set_member_name (json, key);
  if (value != NULL)
    json_builder_add_string_value (json, value);
  else
    json_builder_add_null_value (json);
}

void
gantry_cli_add_parts (JsonBuilder *json, const char *key, const GantryMemoryParts *parts)
{
  json_builder_set_member_name (json, key);
  json_builder_begin_object (json);
  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    gantry_cli_add_int (json, gantry_memory_part_name ((GantryMemoryPart) i), (gint64) parts->bytes[i]);
  json_builder_end_object (json);
}

void
gantry_cli_add_boolean (JsonBuilder *json, const char *key, gboolean value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_boolean_value (json, value);
}

void
gantry_cli_add_figures (JsonBuilder *json, const GantryPlanFigures *figures)
{
  gantry_cli_add_int (json, "planned_bytes", (gint64) figures->peak_bytes);
  gantry_cli_add_parts (json, "parts", &figures->parts);
  gantry_cli_add_boolean (json, "sizes_known", figures->sizes_known);
  gantry_cli_add_int (json, "temp_bytes", (gint64) figures->temp_bytes);
  gantry_cli_add_int (json, "host_planned_bytes", (gint64) figures->host_bytes);
  gantry_cli_add_int (json, "copied_bytes", (gint64) figures->copied_bytes);
  gantry_cli_add_double (json, "step_ms", figures->step_us / 1000);
  gantry_cli_add_double (json, "recompute_ms", figures->recompute_us / 1000);
  gantry_cli_add_double (json, "stall_ms", figures->stall_us / 1000);
}
