/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of XLA's dumps as a model: the module that XLA ended with, and what each of its passes made on the way. */
#include "core/compiler/model-private.h"
#include "core/compiler/python-model.h"
#include "core/frontends/xla/dump.h"
#include <string.h>

#define MOST_PROBLEMS 20u /* that are told one by one */

static void
name_stage (GantryModelStage *stage, const GantryXlaDumpModule *file, gboolean first)
{
  gboolean begins = g_str_equal (file->pass, "pipeline-start");

  if (first)
    stage->pass = g_strdup ("import");
  else if (file->pipeline == NULL)
    stage->pass = g_strdup_printf ("xla-%s", file->pass);
  else
    stage->pass = g_strdup_printf ("xla-%u-%s", file->step, file->pass);
  stage->title = g_strdup_printf ("XLA: %s", begins && file->pipeline != NULL ? file->pipeline : file->pass);
  g_strdelimit (stage->title, "_", ' ');
  stage->description = g_strdup_printf ("What XLA had after its pass %s%s%s: %s", file->pass, file->pipeline != NULL ? " of " : "",
                                        file->pipeline != NULL ? file->pipeline : "", file->file);
}

static void
take_stages (GantryModel *model, const GantryXlaDumpCompilation *compilation, GPtrArray *modules)
{
  model->stages = _gantry_model_stages_new ();
  for (guint i = 0; i < modules->len; i++)
    {
      const GantryXlaDumpModule *file = g_ptr_array_index (compilation->modules, i);
      GantryModelStage stage = { .module = g_ptr_array_index (modules, i) };

      if (stage.module == NULL) /* a broken file */
        continue;
      gantry_module_ref (stage.module);
      name_stage (&stage, file, model->stages->len == 0);
      g_array_append_val (model->stages, stage);
    }
}

static void
add_dump_files (GantryModel *model, const GantryXlaDump *dump, const GantryXlaDumpCompilation *compilation)
{
  for (guint i = 0; i < compilation->modules->len; i++)
    {
      const GantryXlaDumpModule *file = g_ptr_array_index (compilation->modules, i);
      g_autofree char *path = g_build_filename (dump->folder, file->file, NULL);

      _gantry_model_add_file (model, path);
      model->file_bytes += file->bytes;
    }
  for (guint i = 0; i < dump->files->len; i++)
    {
      g_autofree char *path = g_build_filename (dump->folder, g_ptr_array_index (dump->files, i), NULL);

      gantry_read_files_add (model->read, path);
    }
}

/* The one that the user names, or the only one. */
static const GantryXlaDumpCompilation *
choose_compilation (const GantryXlaDump *dump, const char *entry, GError **error)
{
  g_autoptr (GPtrArray) graphs = g_ptr_array_new_with_free_func (gantry_program_graph_free);
  g_autofree char *message = NULL;

  for (guint i = 0; i < dump->compilations->len; i++)
    {
      const GantryXlaDumpCompilation *one = g_ptr_array_index (dump->compilations, i);
      GantryProgramGraph *graph = g_new0 (GantryProgramGraph, 1);

      if (entry != NULL ? strcmp (one->name, entry) == 0 : dump->compilations->len == 1)
        {
          gantry_program_graph_free (graph);
          return one;
        }
      graph->name = g_strdup (one->name);
      graph->arguments = g_strdup_printf ("module %u, after %u passes", one->number, one->modules->len - 1);
      g_ptr_array_add (graphs, graph);
    }
  message = entry != NULL ? g_strdup_printf ("%s: the dump has no compilation '%s'; it has", dump->folder, entry)
                          : g_strdup_printf ("%s: the dump has %u compilations, name one as the entry:", dump->folder, dump->compilations->len);
  gantry_program_choice_set (error, graphs, message);
  return NULL;
}

static void
warn (GantryModel *model, char *text)
{
  GStrvBuilder *builder = g_strv_builder_new ();

  if (model->warnings != NULL)
    g_strv_builder_addv (builder, (const char **) model->warnings);
  g_strv_builder_add (builder, text);
  g_free (text);
  g_strfreev (model->warnings);
  model->warnings = g_strv_builder_end (builder);
  g_strv_builder_unref (builder);
}

/* What XLA planned is beside the program: where it cannot be read that is told, and the program opens. */
static void
read_assignment (GantryModel *model, const GantryXlaDump *dump, const GantryXlaDumpCompilation *compilation)
{
  g_autofree char *path = g_build_filename (dump->folder, compilation->assignment, NULL), *ranges_path = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GMappedFile) text = gantry_xla_dump_map (dump, compilation->assignment, &error), ranges = NULL;

  _gantry_model_add_file (model, path);
  if (text != NULL)
    model->assignment = gantry_xla_assignment_parse (g_mapped_file_get_contents (text), g_mapped_file_get_length (text), path, &error);
  if (model->assignment != NULL && compilation->live_ranges != NULL)
    {
      ranges_path = g_build_filename (dump->folder, compilation->live_ranges, NULL);
      _gantry_model_add_file (model, ranges_path);
      ranges = gantry_xla_dump_map (dump, compilation->live_ranges, &error);
      if (ranges != NULL)
        gantry_xla_assignment_read_live_ranges (model->assignment, g_mapped_file_get_contents (ranges), g_mapped_file_get_length (ranges), ranges_path, &error);
    }
  if (error != NULL)
    warn (model, g_strdup_printf ("XLA's assignment of buffers is left out: %s", error->message));
}

GantryModule *
_gantry_model_open_dump (GantryModel *model, GantryContext *context, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryXlaDump) dump = gantry_xla_dump_list (model->path, error);
  const GantryXlaDumpCompilation *compilation = dump != NULL ? choose_compilation (dump, model->bindings->entry, error) : NULL;
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GPtrArray) modules = NULL;
  g_autoptr (GantryModule) last = NULL;

  if (compilation == NULL)
    return NULL;
  add_dump_files (model, dump, compilation);
  modules = gantry_xla_dump_read (dump, compilation, context, &info, progress, error);
  if (modules == NULL)
    return NULL;
  take_stages (model, compilation, modules);
  for (guint i = 0; i < dump->problems->len; i++)
    if (i < MOST_PROBLEMS)
      warn (model, g_strdup (g_ptr_array_index (dump->problems, i)));
    else
      {
        warn (model, g_strdup_printf ("and %u more files of the folder are left out", dump->problems->len - i));
        break;
      }
  if (dump->n_links > 0)
    warn (model, g_strdup_printf ("%u symbolic links of the folder are not followed", dump->n_links));
  if (compilation->assignment != NULL)
    read_assignment (model, dump, compilation);
  last = gantry_module_set_inputs (g_array_index (model->stages, GantryModelStage, model->stages->len - 1).module, model->bindings->inputs,
                                   model->bindings->n_inputs, error);
  if (last == NULL)
    {
      gantry_error_prefix (error, "%s: ", model->path);
      return NULL;
    }
  if (!_gantry_model_take_xla_info (model, last, info, progress, error))
    return NULL;
  g_free (model->format);
  model->format = g_strdup (GANTRY_DUMP_FORMAT);
  return g_steal_pointer (&last);
}
