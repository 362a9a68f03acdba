/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of the texts that MindSpore writes where save_graphs is set, as a model: the graph that it ended with, and what each phase and
 * pass made on the way. Names end in the number of the text among all that the program wrote, and phases begin with their own. */
#include "core/compiler/model-private.h"
#include "core/compiler/python-model.h"
#include <string.h>

#define MOST_TEXTS 4096u
#define MOST_PROBLEMS 20u /* that are told one by one */

typedef struct
{
  char *file, *pass; /* "04_auto_monad_0005.ir", "auto_monad" */
  gint64 phase;      /* -1: a pass within one */
  guint64 number;
  guint graph; /* to which it belongs: a new one begins where phases do */
} Text;

static void
clear_text (gpointer data)
{
  Text *text = data;

  g_free (text->file);
  g_free (text->pass);
}

/* Returns: FALSE where @name is no name of such a text */
static gboolean
text_of (const char *name, Text *text)
{
  gsize length = strlen (name), digits = 0, begin = strspn (name, "0123456789");

  if (!g_str_has_suffix (name, ".ir"))
    return FALSE;
  length -= strlen (".ir");
  while (digits < length && g_ascii_isdigit (name[length - 1 - digits]))
    digits++;
  if (digits == 0 || digits == length || name[length - digits - 1] != '_' || digits > 9)
    return FALSE;
  text->number = g_ascii_strtoull (name + length - digits, NULL, 10);
  text->phase = begin > 0 && begin < 9 && name[begin] == '_' ? g_ascii_strtoll (name, NULL, 10) : -1;
  begin = text->phase >= 0 ? begin + 1 : 0;
  length -= digits + 1;
  text->pass = g_strndup (name + begin, length > begin ? length - begin : 0);
  text->file = g_strdup (name);
  return TRUE;
}

static gint
by_number (gconstpointer a, gconstpointer b)
{
  const Text *x = a, *y = b;

  return x->number != y->number ? (x->number < y->number ? -1 : 1) : strcmp (x->file, y->file);
}

/* Returns: (transfer full): the texts of @folder in the order in which they were written; empty where there is none */
static GArray *
list_texts (const char *folder)
{
  GArray *texts = g_array_new (FALSE, TRUE, sizeof (Text));
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  gint64 phase = -1;
  guint graph = 0;

  g_array_set_clear_func (texts, clear_text);
  while (dir != NULL && texts->len < MOST_TEXTS && (name = g_dir_read_name (dir)) != NULL)
    {
      Text text = { 0 };

      if (text_of (name, &text))
        g_array_append_val (texts, text);
    }
  g_array_sort (texts, by_number);
  for (guint i = 0; i < texts->len; i++)
    {
      Text *text = &g_array_index (texts, Text, i);

      if (text->phase >= 0 && text->phase <= phase)
        graph++;
      if (text->phase >= 0)
        phase = text->phase;
      text->graph = graph;
    }
  return texts;
}

gboolean
_gantry_model_has_texts (const char *folder)
{
  g_autoptr (GArray) texts = list_texts (folder);

  return texts->len > 0;
}

/* The graph that the user names ("1", "2", ...), or the only one. Returns: FALSE with an error that says which there are */
static gboolean
choose_graph (const GantryModel *model, const GArray *texts, guint *graph, GError **error)
{
  const char *entry = model->bindings->entry;
  guint n = g_array_index (texts, Text, texts->len - 1).graph + 1;
  g_autoptr (GPtrArray) graphs = g_ptr_array_new_with_free_func (gantry_program_graph_free);
  g_autofree char *message = NULL;

  for (guint i = 0; i < n; i++)
    {
      GantryProgramGraph *choice = g_new0 (GantryProgramGraph, 1);

      choice->name = g_strdup_printf ("%u", i + 1);
      choice->arguments = g_strdup ("in the order in which they were compiled");
      g_ptr_array_add (graphs, choice);
      if (entry != NULL ? g_str_equal (entry, choice->name) : n == 1)
        {
          *graph = i;
          return TRUE;
        }
    }
  message = entry != NULL ? g_strdup_printf ("%s: the texts are of %u graphs, and none is '%s'; there are", model->path, n, entry)
                          : g_strdup_printf ("%s: the texts are of %u graphs, name one as the entry:", model->path, n);
  gantry_program_choice_set (error, graphs, message);
  return FALSE;
}

static void
add_stage (GantryModel *model, const Text *text, GantryModule *module)
{
  GantryModelStage stage = { .module = module };

  stage.pass = model->stages->len == 0 ? g_strdup ("import") : g_strdup_printf ("mindspore-%" G_GUINT64_FORMAT "-%s", text->number, text->pass);
  stage.title = g_strdup_printf ("MindSpore: %s", text->pass);
  g_strdelimit (stage.title, "_", ' ');
  stage.description = g_strdup_printf ("What MindSpore had after its %s %s: %s", text->phase >= 0 ? "phase" : "pass", text->pass, text->file);
  g_array_append_val (model->stages, stage);
}

/* Returns: FALSE when it was cancelled */
static gboolean
read_text (GantryModel *model, GantryContext *context, const Text *text, GPtrArray *problems, GantryReadInfo *info, const GantryProgress *progress,
           GError **error)
{
  g_autofree char *path = g_build_filename (model->path, text->file, NULL);
  const GantryReadOptions options = { 0 };
  GantryReadInfo own = { 0 };
  g_autoptr (GError) problem = NULL;
  GantryModule *module;

  if (gantry_progress_cancelled (progress, error))
    return FALSE;
  _gantry_model_add_file (model, path);
  model->file_bytes += g_array_index (model->files, GantryModelFile, model->files->len - 1).identity.size;
  module = gantry_front_end_mindspore.import (context, path, &options, &own, progress, &problem);
  if (module == NULL)
    {
      g_ptr_array_add (problems, g_strdup_printf ("%s is left out: %s", text->file, problem->message));
      return TRUE;
    }
  add_stage (model, text, module);
  gantry_read_info_clear (info);
  *info = own;
  return TRUE;
}

static void
tell_problems (GantryModel *model, GPtrArray *problems)
{
  if (problems->len > MOST_PROBLEMS)
    {
      guint more = problems->len - MOST_PROBLEMS;

      g_ptr_array_set_size (problems, MOST_PROBLEMS);
      g_ptr_array_add (problems, g_strdup_printf ("and %u more files of the folder are left out", more));
    }
  g_ptr_array_add (problems, NULL);
  if (problems->len > 1)
    model->warnings = g_strdupv ((char **) problems->pdata);
}

GantryModule *
_gantry_model_open_texts (GantryModel *model, GantryContext *context, const GantryProgress *progress, GError **error)
{
  g_autoptr (GArray) texts = list_texts (model->path);
  g_autoptr (GPtrArray) problems = g_ptr_array_new_with_free_func (g_free);
  g_auto (GantryReadInfo) info = { 0 };
  g_autoptr (GantryModule) last = NULL;
  guint graph;

  if (!choose_graph (model, texts, &graph, error))
    return NULL;
  model->stages = _gantry_model_stages_new ();
  for (guint i = 0; i < texts->len; i++)
    if (g_array_index (texts, Text, i).graph == graph && !read_text (model, context, &g_array_index (texts, Text, i), problems, &info, progress, error))
      return NULL;
  if (model->stages->len == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: none of its texts can be read: %s", model->path,
                   problems->len > 0 ? (const char *) g_ptr_array_index (problems, 0) : "there is none");
      return NULL;
    }
  tell_problems (model, problems);
  last = gantry_module_set_inputs (g_array_index (model->stages, GantryModelStage, model->stages->len - 1).module, model->bindings->inputs,
                                   model->bindings->n_inputs, error);
  if (last == NULL)
    {
      gantry_error_prefix (error, "%s: ", model->path);
      return NULL;
    }
  return _gantry_model_take_info (model, last, &info, progress, error) ? g_steal_pointer (&last) : NULL;
}
