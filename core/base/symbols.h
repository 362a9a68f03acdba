/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are loaded when they are first used, so that what does not use them starts without them. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/**
 * gantry_symbols_load:
 * @library: its name as the dynamic linker looks for it
 * @names: @n symbols
 * @table: (out): their addresses
 *
 * Loads @library for good, with its symbols for nobody else. The caller keeps the table (g_once_init_enter()).
 *
 * Returns: (transfer full) (nullable): NULL, or why it cannot be used
 */
char *gantry_symbols_load (const char *library, const char *const *names, guint n, gpointer *table);
/** Loads @library for good, with its symbols for all of the process: code that is made at run time finds them by name.
 *  Returns: (transfer full) (nullable): NULL, or why it cannot be used */
char *gantry_symbols_share (const char *library);

G_END_DECLS
