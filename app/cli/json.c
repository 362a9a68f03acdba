/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands print as one JSON object. */
#include "app/cli/cli.h"
#include <math.h>

void
gantry_cli_print_json (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autofree char *text = NULL;

  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  text = json_generator_to_data (generator, NULL);
  printf ("%s\n", text);
}

void
gantry_cli_add_int (JsonBuilder *json, const char *key, gint64 value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_int_value (json, value);
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
