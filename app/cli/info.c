/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli info: what a model file says about itself and what of it cannot be compiled; or what a trace holds. */
#include "app/cli/assignment-report.h"
#include "app/cli/trace-report.h"
#include "core/document/outside.h"

#define MOST_ALLOCATIONS 10u

static void
add_int (JsonBuilder *json, const char *key, gint64 value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_int_value (json, value);
}

static void
add_values (JsonBuilder *json, const char *key, const GantryModelValue *values, guint n)
{
  json_builder_set_member_name (json, key);
  json_builder_begin_array (json);
  for (guint i = 0; i < n; i++)
    {
      json_builder_begin_object (json);
      json_builder_set_member_name (json, "name");
      json_builder_add_string_value (json, values[i].name);
      json_builder_set_member_name (json, "type");
      json_builder_add_string_value (json, values[i].type);
      if (values[i].donated > 0)
        add_int (json, "donated_to_output", values[i].donated - 1);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_strings (JsonBuilder *json, const char *key, char **values)
{
  json_builder_set_member_name (json, key);
  json_builder_begin_array (json);
  for (guint i = 0; values != NULL && values[i] != NULL; i++)
    json_builder_add_string_value (json, values[i]);
  json_builder_end_array (json);
}

static void
add_string (JsonBuilder *json, const char *key, const char *value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_string_value (json, value);
}

static void
print_json (const GantryModel *model, const GPtrArray *unsupported)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  add_string (json, "path", model->path);
  add_string (json, "format", model->format);
  add_string (json, "producer", model->producer);
  add_int (json, "nodes", model->n_nodes);
  add_int (json, "initializers", model->n_initializers);
  add_int (json, "initializer_bytes", (gint64) model->initializer_bytes);
  add_int (json, "opset", model->main_opset);
  add_string (json, "opsets", model->opset);
  add_values (json, "inputs", model->inputs, model->n_inputs);
  add_values (json, "outputs", model->outputs, model->n_outputs);
  json_builder_set_member_name (json, "unsupported");
  json_builder_begin_array (json);
  for (guint i = 0; i < unsupported->len; i++)
    {
      const GantryModelRefusal *refusal = g_ptr_array_index (unsupported, i);

      json_builder_begin_object (json);
      add_string (json, "operation", refusal->operation);
      add_string (json, "why", refusal->why);
      add_string (json, "where", refusal->where);
      add_int (json, "count", refusal->count);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  add_strings (json, "unbound_dimensions", model->unbound);
  add_strings (json, "warnings", model->warnings);
  if (model->stages != NULL)
    gantry_cli_add_assignment (json, model->assignment, TRUE);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void say (const char *title, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
say (const char *title, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  gantry_cli_print ("%-13s %s\n", title, text);
}

static void
print_values (const char *title, const GantryModelValue *values, guint n)
{
  for (guint i = 0; i < n; i++)
    if (values[i].donated > 0)
      say (i == 0 ? title : "", "%s: %s, donated to output %u", values[i].name, values[i].type, values[i].donated - 1);
    else
      say (i == 0 ? title : "", "%s: %s", values[i].name, values[i].type);
}

static void
print_text (const GantryModel *model, const GPtrArray *unsupported)
{
  g_autofree char *file = gantry_cli_bytes (model->file_bytes);
  g_autofree char *weights = gantry_cli_bytes (model->initializer_bytes);

  say ("model", "%s (%s, %s%s%s)", model->path, model->format, file, *model->producer != '\0' ? ", by " : "", model->producer);
  if (*model->opset != '\0')
    say ("opset", "%s", model->opset);
  gantry_cli_print ("%-13s %u\n%-13s %u (%s)\n", "nodes", model->n_nodes, "initializers", model->n_initializers, weights);
  print_values ("inputs", model->inputs, model->n_inputs);
  print_values ("outputs", model->outputs, model->n_outputs);
  for (guint i = 0; model->unbound != NULL && model->unbound[i] != NULL; i++)
    say (i == 0 ? "unbound" : "", "%s", model->unbound[i]);
  if (unsupported->len == 0)
    gantry_cli_print ("%-13s none\n", "unsupported");
  for (guint i = 0; i < unsupported->len; i++)
    {
      const GantryModelRefusal *refusal = g_ptr_array_index (unsupported, i);

      g_autofree char *times = refusal->count > 1 ? g_strdup_printf ("%u times, first ", refusal->count) : g_strdup ("");

      say (i == 0 ? "unsupported" : "", "%s: %s (%s%s)", refusal->operation, refusal->why, times, refusal->where);
    }
  for (guint i = 0; model->warnings != NULL && model->warnings[i] != NULL; i++)
    say ("warning", "%s", model->warnings[i]);
  if (model->assignment != NULL)
    gantry_cli_print_assignment (model->assignment, MOST_ALLOCATIONS);
}

/* A trace stands by itself: no model is looked for. */
static int
info_of_trace (const char *path, gboolean as_json)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryRecording) recording = gantry_outside_read_trace (path, NULL, &error);
  g_autoptr (JsonBuilder) json = NULL;

  if (recording == NULL)
    return gantry_cli_fail (error);
  if (!as_json)
    {
      gantry_cli_print ("%-10s %s\n", "trace", path);
      gantry_cli_print_trace (recording);
      return GANTRY_EXIT_DONE;
    }
  json = json_builder_new ();
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "path", path);
  gantry_cli_add_string (json, "format", "recording");
  gantry_cli_add_trace (json, recording);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
  return GANTRY_EXIT_DONE;
}

int
gantry_cli_info (int argc, char **argv)
{
  g_auto (GantryCliOptions) options = GANTRY_CLI_OPTIONS_INIT;
  g_autoptr (GantryDocument) document = NULL;
  g_autoptr (GPtrArray) unsupported = NULL;
  g_autoptr (GError) error = NULL;

  options.keep_unbound = TRUE;
  if (!gantry_cli_parse ("info", "MODEL", "Says what is in a model file and what of it cannot be compiled, or what a trace holds.", &options, NULL, &argc,
                         &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2)
    {
      gantry_cli_tell ("gantry-cli info: give one model\n");
      return GANTRY_EXIT_ERROR;
    }
  if (gantry_outside_is_trace (argv[1]))
    return info_of_trace (argv[1], options.json);
  document = gantry_cli_open (&options, argv[1], &error);
  if (document == NULL)
    return gantry_cli_fail (error);
  unsupported = gantry_model_find_unsupported (gantry_document_get_model (document), NULL, &error);
  if (unsupported == NULL)
    return gantry_cli_fail (error);
  if (options.json)
    print_json (gantry_document_get_model (document), unsupported);
  else
    print_text (gantry_document_get_model (document), unsupported);
  return GANTRY_EXIT_DONE;
}
