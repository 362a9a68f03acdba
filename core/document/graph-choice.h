/* SPDX-License-Identifier: Apache-2.0 */
/* A program that makes several graphs cannot be opened before one of them is named: which there are. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** Of an error of opening. Returns: (transfer full) (nullable) (array zero-terminated=1): name and arguments of each in turn; NULL: another
 *  error */
char **gantry_graph_choices (const GError *error);

G_END_DECLS
