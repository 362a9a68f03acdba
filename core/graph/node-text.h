/* SPDX-License-Identifier: Apache-2.0 */
/* A node in a sentence: the same words in the window and on the command line. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

/** "%13 multiply 'name'"; 0 as @id: "the end", of what is needed as long as the program runs. Returns: (transfer full) */
char *gantry_node_text (const GantryModule *module, guint32 id);
/** The same of a last use, but "the end (argument)" where @id is 0 and what is needed is an argument: its place is the caller's.
 *  Returns: (transfer full) */
char *gantry_node_until_text (const GantryModule *module, guint32 id, gboolean is_argument);

G_END_DECLS
