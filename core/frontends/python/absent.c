/* SPDX-License-Identifier: Apache-2.0 */
/* A build without Python's development files: everything says so. */
#include "core/frontends/python/python.h"
#include "core/base/error.h"

const char *
gantry_python_missing (void)
{
  return "this build has no Python: install python3.11-dev and build again";
}

int
gantry_python_run (const GantryPythonOptions *options, const GantryPythonBackend *backend, GError **error)
{
  g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, gantry_python_missing ());
  return 2;
}

int
gantry_python_import (const GantryPythonOptions *options, const GantryPythonBackend *backend, GPtrArray **graphs, GPtrArray **errors, GPtrArray **sources,
                      GError **error)
{
  *graphs = g_ptr_array_new ();
  *errors = g_ptr_array_new ();
  *sources = g_ptr_array_new ();
  return gantry_python_run (options, backend, error);
}
