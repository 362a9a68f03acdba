/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli check: what no graph can be made of in a Python program, as compilers say it. */
#include "app/cli/cli.h"
#include "core/compiler/python-model.h"
#include <string.h>

static void
print_calls (const GantryProgramError *error)
{
  g_auto (GStrv) calls = g_strsplit (error->calls, "\n", -1);

  for (guint i = 0; calls[i] != NULL; i++)
    {
      const char *what = g_strrstr (calls[i], ": "); /* behind the place */

      if (what != NULL)
        {
          g_autofree char *where = g_strndup (calls[i], (gsize) (what - calls[i]));

          gantry_cli_print ("%s: note%s\n", where, what);
        }
    }
}

static void
print_error (const GantryProgramError *error)
{
  g_autofree char *message = gantry_cli_message (error->message);

  if (error->line > 0)
    gantry_cli_print ("%s:%u:%u: error: %s: ", error->file, error->line, error->column, error->type);
  else
    gantry_cli_print ("%s: error: %s: ", error->file, error->type);
  fprintf (stdout, "%s\n", message);
  print_calls (error);
}

static void
print_json (const GantryProgramGraphs *graphs)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "errors");
  json_builder_begin_array (json);
  for (guint i = 0; i < graphs->errors->len; i++)
    {
      const GantryProgramError *error = g_ptr_array_index (graphs->errors, i);

      json_builder_begin_object (json);
      gantry_cli_add_string (json, "file", error->file);
      gantry_cli_add_int (json, "line", error->line);
      gantry_cli_add_int (json, "column", error->column);
      gantry_cli_add_string (json, "type", error->type);
      gantry_cli_add_string (json, "message", error->message);
      gantry_cli_add_string (json, "calls", error->calls);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_set_member_name (json, "graphs");
  json_builder_begin_array (json);
  for (guint i = 0; i < graphs->graphs->len; i++)
    {
      const GantryProgramGraph *graph = g_ptr_array_index (graphs->graphs, i);

      json_builder_begin_object (json);
      gantry_cli_add_string (json, "name", graph->name);
      gantry_cli_add_string (json, "arguments", graph->arguments);
      gantry_cli_add_string (json, "python", graph->host_lines);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_graphs (const GantryProgramGraphs *graphs)
{
  for (guint i = 0; i < graphs->graphs->len; i++)
    {
      const GantryProgramGraph *graph = g_ptr_array_index (graphs->graphs, i);

      gantry_cli_print ("graph %s (%s)%s\n", graph->name, graph->arguments, *graph->host_lines != '\0' ? ", calls Python" : "");
    }
}

int
gantry_cli_check (int argc, char **argv)
{
  g_auto (GantryCliOptions) options = GANTRY_CLI_OPTIONS_INIT;
  g_autoptr (GantryProgramGraphs) graphs = NULL;
  g_autoptr (GError) error = NULL;

  if (!gantry_cli_parse ("check", "PROGRAM", "Runs a Python program and says what no graph can be made of: file:line:column: error.", &options, NULL, &argc,
                         &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2)
    {
      gantry_cli_tell ("gantry-cli check: give one Python program\n");
      return GANTRY_EXIT_ERROR;
    }
  graphs = gantry_program_graphs_run (argv[1], NULL, gantry_cli_progress (&options), &error);
  if (graphs == NULL)
    return gantry_cli_fail (error);
  if (options.json)
    print_json (graphs);
  else
    print_graphs (graphs);
  for (guint i = 0; !options.json && i < graphs->errors->len; i++)
    print_error (g_ptr_array_index (graphs->errors, i));
  if (graphs->failure != NULL)
    {
      gantry_cli_tell ("%s: %s\n", argv[1], graphs->failure);
      gantry_cli_write_lines (stderr, graphs->said);
    }
  else if (graphs->errors->len == 0 && graphs->graphs->len == 0)
    {
      gantry_program_graphs_find (graphs, argv[1], NULL, &error);
      return gantry_cli_fail (error);
    }
  return graphs->errors->len > 0 || graphs->failure != NULL ? GANTRY_EXIT_ERROR : GANTRY_EXIT_DONE;
}
