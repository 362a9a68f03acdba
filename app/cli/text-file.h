/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody writes by hand and names on the command line: statements, a machine. */
#pragma once
#include "core/base/read-files.h"

G_BEGIN_DECLS

/** The text of the file @path, which @option names, and which @read gets. A device or a queue has no end: at most 16 MiB.
 *  (transfer full) (nullable): %NULL with @error */
char *gantry_cli_read_text (GantryReadFiles *read, const char *option, const char *path, GError **error);

G_END_DECLS
