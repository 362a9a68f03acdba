/* SPDX-License-Identifier: Apache-2.0 */
/* Computes a model or a training step with the evaluator, which reads the tensor expressions and compiles nothing: what the
 * generated code and the libraries are compared with. Prints the name of each entry parameter that is trained, in the order of
 * the gradients, and writes the results as DIR/output_N.npy where --output-dir names a folder.
 *
 * Usage: evaluate-model [--input NAME=FILE]... [--output-dir DIR] MODEL|SESSION */
#include "app/cli/inputs.h"
#include "core/autodiff/autodiff.h"
#include "core/eval/evaluator.h"

static gboolean
write_results (GantryModule *module, GantryLiteral **results, const char *folder, GError **error)
{
  for (guint i = 0; i < gantry_module_entry (module)->n_results; i++)
    {
      g_autofree char *name = g_strdup_printf ("output_%u.npy", i);
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (!gantry_tensor_file_write_npy (results[i], path, error))
        return FALSE;
    }
  return TRUE;
}

static GPtrArray *
make_arguments (GantryModule *module, char **given, GError **error)
{
  g_autoptr (GantryReadFiles) read = gantry_read_files_new ();
  g_autoptr (GArray) sources = gantry_inputs_find (module, given, read, error);
  GPtrArray *arguments = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  for (guint i = 0; sources != NULL && i < sources->len; i++)
    {
      const GantryInputSource *source = &g_array_index (sources, GantryInputSource, i);
      guint8 *bytes;

      g_ptr_array_add (arguments, gantry_literal_new_zeroed (source->type, &bytes));
      gantry_input_source_write (source, bytes);
    }
  if (sources == NULL)
    g_clear_pointer (&arguments, g_ptr_array_unref);
  return arguments;
}

static gboolean
evaluate (GantryModule *module, char **given, const char *folder, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GPtrArray) arguments = make_arguments (module, given, error);
  GantryLiteral **results = g_new0 (GantryLiteral *, entry->n_results + 1);
  gboolean ok = arguments != NULL && gantry_evaluate (module, entry, (GantryLiteral **) arguments->pdata, results, NULL, error)
                && write_results (module, results, folder, error);

  for (guint i = 0; i < entry->n_results; i++)
    g_clear_pointer (&results[i], gantry_literal_unref);
  g_free (results);
  return ok;
}

static void
print_parameters (GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      g_autofree char *label = gantry_node_label (module, node);

      if (gantry_parameter_role (module, node) == GANTRY_SUBJECT_PARAMETER)
        printf ("%s\n", label);
    }
}

int
main (int argc, char **argv)
{
  g_auto (GantryCliOptions) common = GANTRY_CLI_OPTIONS_INIT;
  g_auto (GStrv) inputs = NULL;
  g_autofree char *folder = NULL;
  g_autoptr (GantryDocument) document = NULL;
  g_autoptr (GError) error = NULL;
  const GantryCompilation *compilation;
  const GOptionEntry own[] = {
    { "input", 'i', 0, G_OPTION_ARG_STRING_ARRAY, &inputs, "An input, as of gantry-cli run", "VALUE" },
    { "output-dir", 0, 0, G_OPTION_ARG_FILENAME, &folder, "Evaluate and write the results as .npy", "DIR" },
    { NULL },
  };

  if (!gantry_cli_parse ("evaluate-model", "MODEL", "Computes a model with the evaluator.", &common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2)
    {
      fprintf (stderr, "evaluate-model: give one model\n");
      return GANTRY_EXIT_ERROR;
    }
  document = gantry_cli_open (&common, argv[1], &error);
  if (document == NULL)
    return gantry_cli_fail (error);
  compilation = gantry_document_get_compilation (document);
  if (compilation->refusal != NULL)
    return gantry_cli_fail (compilation->refusal);
  print_parameters (gantry_compilation_module (compilation));
  if (folder != NULL && !evaluate (gantry_compilation_module (compilation), inputs, folder, &error))
    return gantry_cli_fail (error);
  return GANTRY_EXIT_DONE;
}
