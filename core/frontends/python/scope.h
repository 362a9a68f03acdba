/* SPDX-License-Identifier: Apache-2.0 */
/* Which Cell nodes are of. */
#pragma once
#include "core/frontends/python/trace.h"

/** The construct of @cell begins: nodes are of it until gantry_py_scope_end(). One that no Cell around it names is called by its class.
 *  Returns: what they were of before, for gantry_py_scope_end() */
guint32 gantry_py_scope_begin (GantryPyState *state, PyObject *cell);
/** The construct has ended, or failed. @before: what gantry_py_scope_begin() returned */
void gantry_py_scope_end (GantryPyState *state, guint32 before);
/** @cell, of which nodes are called @base, "" where it is the whole graph, names the Cells that it holds. Never fails: what cannot be told has no
 *  name. */
void gantry_py_scope_name_cells (GantryPyState *state, PyObject *cell, const char *base);
