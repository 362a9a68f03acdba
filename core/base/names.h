/* SPDX-License-Identifier: Apache-2.0 */
/* Names that people write for the members of an enumeration. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** Where @name (nullable) stands among the @n @names of a table. Returns: @n where it does not */
guint gantry_find_name (const char *const *names, guint n, const char *name);

G_END_DECLS
