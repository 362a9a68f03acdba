/* SPDX-License-Identifier: Apache-2.0 */
/* A program run for its graphs: each becomes a text module in a folder, beside a list of them and a list of errors. */
#include "app/cli/cli.h"
#include "app/cli/python-backend.h"
#include "core/base/base.h"
#include "core/graph/text.h"
#include <sys/resource.h>
#include <string.h>
#include <unistd.h>

#define MOST_FILE_BYTES (G_GUINT64_CONSTANT (8) << 30)

/* Not more memory than the machine has, no core files, no file that fills the disk. */
static void
limit_process (void)
{
  if (!GANTRY_SANITIZED)
    gantry_process_limit (RLIMIT_AS, gantry_process_memory_of_machine ());
  gantry_process_limit (RLIMIT_CORE, 0);
  gantry_process_limit (RLIMIT_FSIZE, MOST_FILE_BYTES);
}

static gboolean
write_graphs (GPtrArray *graphs, const char *folder, GantryReadFiles *read, GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL);
  g_autofree char *index = g_build_filename (folder, "graphs.tsv", NULL);

  for (guint i = 0; i < graphs->len; i++)
    {
      const GantryPythonGraph *graph = g_ptr_array_index (graphs, i);
      g_autofree char *file = g_strdup_printf ("%u.gir", i), *path = g_build_filename (folder, file, NULL);
      g_autofree char *text = gantry_module_to_text (graph->module, NULL);
      g_autofree char *name = gantry_cli_field (graph->name), *arguments = gantry_cli_field (graph->arguments);
      g_autofree char *lines = gantry_cli_field (graph->host_lines), *policy = gantry_cli_field (graph->policy);

      if (!gantry_output_write (path, read, text, strlen (text), error))
        return FALSE;
      g_string_append_printf (list, "%s\t%s\t%s\t%s\t%s\n", file, name, arguments, lines, policy);
    }
  return gantry_output_write (index, read, list->str, list->len, error);
}

static gboolean
write_errors (GPtrArray *errors, const char *folder, GantryReadFiles *read, GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL);
  g_autofree char *path = g_build_filename (folder, "errors.tsv", NULL);

  for (guint i = 0; i < errors->len; i++)
    {
      const GantryPythonError *one = g_ptr_array_index (errors, i);
      g_autofree char *file = gantry_cli_field (one->file), *type = gantry_cli_field (one->type);
      g_autofree char *message = gantry_cli_field (one->message), *calls = gantry_cli_field (one->calls != NULL ? one->calls : "");

      g_string_append_printf (list, "%s\t%u\t%u\t%s\t%s\t%s\n", file, one->line, one->column, type, message, calls);
    }
  return gantry_output_write (path, read, list->str, list->len, error);
}

static gboolean
write_sources (GPtrArray *sources, const char *folder, GantryReadFiles *read, GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL);
  g_autofree char *path = g_build_filename (folder, "sources.tsv", NULL);

  for (guint i = 0; i < sources->len; i++)
    {
      g_autofree char *source = gantry_cli_field (g_ptr_array_index (sources, i));

      g_string_append_printf (list, "%s\n", source);
    }
  return gantry_output_write (path, read, list->str, list->len, error);
}

int
gantry_cli_python_graphs (const GantryPythonOptions *options, const GantryPythonBackend *backend, const char *folder, GError **error)
{
  g_autoptr (GPtrArray) graphs = NULL, errors = NULL, sources = NULL;
  g_autoptr (GantryReadFiles) read = gantry_read_files_new ();
  pid_t self = getpid ();
  int status;

  limit_process ();
  status = gantry_python_import (options, backend, &graphs, &errors, &sources, error);
  /* A child that the program forked comes this way too. */
  if (getpid () != self || (error != NULL && *error != NULL))
    return status;
  gantry_read_files_add (read, options->argv[0]);
  for (guint i = 0; i < sources->len; i++)
    gantry_read_files_add (read, g_ptr_array_index (sources, i));
  if (!write_graphs (graphs, folder, read, error) || !write_errors (errors, folder, read, error) || !write_sources (sources, folder, read, error))
    return 1;
  return status;
}
