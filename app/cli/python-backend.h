/* SPDX-License-Identifier: Apache-2.0 */
/* What the child gives to the embedded Python: graphs compiled and run as gantry-cli runs any model, and gradients. */
#pragma once
#include "core/frontends/python/python.h"

G_BEGIN_DECLS

/** @threads: 0: as many as there are processors. Returns: (transfer full): free with gantry_python_backend_free() */
GantryPythonBackend *gantry_python_backend_new (guint threads);
void gantry_python_backend_free (GantryPythonBackend *backend);

/**
 * gantry_cli_python_graphs:
 * @folder: exists
 *
 * Runs the program as the child of whoever opens it as a model: its graphs and errors become files (core/compiler/python-model.h
 * reads them). Limits the memory of this process. Returns: the exit status
 */
int gantry_cli_python_graphs (const GantryPythonOptions *options, const GantryPythonBackend *backend, const char *folder, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPythonBackend, gantry_python_backend_free)

G_END_DECLS
