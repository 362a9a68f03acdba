/* SPDX-License-Identifier: Apache-2.0 */
/* What the error of a program with several graphs lists. */
#include "core/document/graph-choice.h"
#include "core/compiler/python-model.h"

char **
gantry_graph_choices (const GError *error)
{
  GPtrArray *graphs = gantry_program_choice_graphs (error);
  char **choices;

  if (graphs == NULL)
    return NULL;
  choices = g_new0 (char *, 2 * graphs->len + 1);
  for (guint i = 0; i < graphs->len; i++)
    {
      const GantryProgramGraph *graph = g_ptr_array_index (graphs, i);

      choices[2 * i] = g_strdup (graph->name);
      choices[2 * i + 1] = g_strdup (graph->arguments);
    }
  return choices;
}
