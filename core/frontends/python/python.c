/* SPDX-License-Identifier: Apache-2.0 */
/* What the front end hands out, with and without a Python to embed. */
#include "core/frontends/python/python.h"

void
gantry_python_error_free (GantryPythonError *error)
{
  g_free (error->file);
  g_free (error->type);
  g_free (error->message);
  g_free (error->calls);
  g_free (error);
}

void
gantry_python_graph_free (GantryPythonGraph *graph)
{
  g_free (graph->name);
  g_free (graph->arguments);
  g_free (graph->host_lines);
  g_free (graph->policy);
  gantry_module_unref (graph->module);
  g_free (graph);
}
