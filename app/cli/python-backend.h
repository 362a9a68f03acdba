/* SPDX-License-Identifier: Apache-2.0 */
/* What the child gives to the embedded Python: graphs compiled and run as gantry-cli runs any model, and gradients. */
#pragma once
#include "core/frontends/python/python.h"

G_BEGIN_DECLS

/** @threads: 0: as many as there are processors. Returns: (transfer full): free with gantry_python_backend_free() */
GantryPythonBackend *gantry_python_backend_new (guint threads);
void gantry_python_backend_free (GantryPythonBackend *backend);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPythonBackend, gantry_python_backend_free)

G_END_DECLS
