/* SPDX-License-Identifier: Apache-2.0 */
/* What mapping a file tells the guard of mapped files. */
#pragma once
#include "core/base/file.h"

G_BEGIN_DECLS

/** @start: (nullable): of an empty file */
void _gantry_file_guard_add (const char *start, gsize length);

G_END_DECLS
