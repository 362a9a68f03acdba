/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli passes: what each pass made of the program. */
#include "app/cli/cli.h"
#include "core/graph/text.h"
#include <string.h>

static void
print_json (const GantryCompilation *compilation)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "passes");
  json_builder_begin_array (json);
  for (guint i = 0; i < compilation->n_snapshots; i++)
    {
      const GantrySnapshot *snapshot = &compilation->snapshots[i];
      g_autofree char *holds = gantry_snapshot_properties_text (snapshot);

      json_builder_begin_object (json);
      json_builder_set_member_name (json, "name");
      json_builder_add_string_value (json, snapshot->pass);
      json_builder_set_member_name (json, "title");
      json_builder_add_string_value (json, snapshot->title);
      json_builder_set_member_name (json, "enabled");
      json_builder_add_boolean_value (json, snapshot->enabled);
      json_builder_set_member_name (json, "nodes_before");
      json_builder_add_int_value (json, snapshot->nodes_before);
      json_builder_set_member_name (json, "nodes_after");
      json_builder_add_int_value (json, snapshot->nodes_after);
      json_builder_set_member_name (json, "made");
      json_builder_add_int_value (json, snapshot->n_made);
      json_builder_set_member_name (json, "removed");
      json_builder_add_int_value (json, snapshot->n_removed);
      json_builder_set_member_name (json, "milliseconds");
      json_builder_add_double_value (json, snapshot->milliseconds);
      json_builder_set_member_name (json, "holds");
      json_builder_add_string_value (json, holds);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_set_member_name (json, "refusal");
  if (compilation->refusal != NULL)
    json_builder_add_string_value (json, compilation->refusal->message);
  else
    json_builder_add_null_value (json);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_text (const GantryCompilation *compilation)
{
  int width = 12;

  for (guint i = 0; i < compilation->n_snapshots; i++)
    width = (int) MAX ((gsize) width, strlen (compilation->snapshots[i].pass));
  gantry_cli_print ("%-*s %8s %8s %8s %8s %10s  %s\n", width, "pass", "before", "after", "made", "removed", "ms", "holds after it");
  for (guint i = 0; i < compilation->n_snapshots; i++)
    {
      const GantrySnapshot *snapshot = &compilation->snapshots[i];
      g_autofree char *holds = gantry_snapshot_properties_text (snapshot);

      gantry_cli_print ("%-*s %8u %8u %8u %8u %10.2f  %s%s\n", width, snapshot->pass, snapshot->nodes_before, snapshot->nodes_after, snapshot->n_made,
                        snapshot->n_removed, snapshot->milliseconds, holds, snapshot->enabled ? "" : " (off)");
    }
}

/* The program after one pass in the text form. */
static int
print_module (const GantryCompilation *compilation, const char *pass)
{
  GantryTextOptions options = { .elide_literals = TRUE };

  for (guint i = 0; i < compilation->n_snapshots; i++)
    if (strcmp (compilation->snapshots[i].pass, pass) == 0)
      {
        g_autofree char *text = gantry_module_to_text (compilation->snapshots[i].module, &options);

        gantry_cli_write_lines (stdout, text);
        return GANTRY_EXIT_DONE;
      }
  gantry_cli_tell ("gantry-cli passes: no pass '%s' has run\n", pass);
  return GANTRY_EXIT_ERROR;
}

int
gantry_cli_passes (int argc, char **argv)
{
  g_auto (GantryCliOptions) options = GANTRY_CLI_OPTIONS_INIT;
  g_autofree char *after = NULL;
  const GOptionEntry own[] = {
    { "after", 0, 0, G_OPTION_ARG_STRING, &after, "Print the program after this pass", "PASS" },
    { NULL },
  };
  g_autoptr (GantryDocument) document = NULL;
  g_autoptr (GError) error = NULL;
  const GantryCompilation *compilation;

  if (!gantry_cli_parse ("passes", "MODEL", "Runs the passes and says what each of them changed.", &options, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2)
    {
      gantry_cli_tell ("gantry-cli passes: give one model\n");
      return GANTRY_EXIT_ERROR;
    }
  document = gantry_cli_open (&options, argv[1], &error);
  if (document == NULL)
    return gantry_cli_fail (error);
  compilation = gantry_document_get_compilation (document);
  if (after != NULL)
    return print_module (compilation, after);
  if (options.json)
    print_json (compilation);
  else
    print_text (compilation);
  return compilation->refusal != NULL ? gantry_cli_fail (compilation->refusal) : GANTRY_EXIT_DONE;
}
