/* SPDX-License-Identifier: Apache-2.0 */
/* The module `_gantry` and the files of the modules that are written over it. */
#pragma once
#include "core/frontends/python/trace.h"
#include <gio/gio.h>

G_BEGIN_DECLS

PyObject *gantry_py_module_init (void);
/** The files of modules/, made into the program by glib-compile-resources. */
GResource *gantry_python_modules_get_resource (void);
/** A file of Gantry's Python modules ("mindspore/ops.py"). Returns: (transfer full) (nullable) */
GBytes *gantry_py_resource (const char *path);
/** Method of `_gantry`: see array-memory.c. */
PyObject *gantry_py_align_arrays (PyObject *module, PyObject *table);

G_END_DECLS
