/* SPDX-License-Identifier: Apache-2.0 */
/* What mapping a file tells the guard of mapped files. */
#pragma once
#include "core/base/file.h"

G_BEGIN_DECLS

/**
 * _gantry_file_guard_add:
 * @start: (nullable): of an empty file
 * @path: in the message of gantry_file_guard_end()
 */
void _gantry_file_guard_add (const char *start, gsize length, const char *path);

G_END_DECLS
