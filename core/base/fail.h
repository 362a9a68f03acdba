/* SPDX-License-Identifier: Apache-2.0 */
/* For who reads a file: an error and FALSE in one line, and whose error it is. */
#pragma once
#include "core/base/error.h"

G_BEGIN_DECLS

/**
 * gantry_fail:
 * @error: (out) (nullable)
 *
 * Sets @error. Returns: FALSE, so that it can be returned
 */
gboolean gantry_fail (GError **error, GantryError code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/** Puts "@who: " in front of the message of @error, which may be unset, unless that is there already. */
void gantry_error_say_whose (GError **error, const char *who);

G_END_DECLS
