/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a failing program small. */
#pragma once
#include "tests/differential/differential.h"

G_BEGIN_DECLS

/**
 * diff_shrink:
 * @n_attempts: (out): how many programs were run
 *
 * Replaces @finding's program and configuration by smaller ones that fail in the same way (another value, an error, or
 * the end of the process). To be called from a process with one thread.
 *
 * Returns: (transfer full) (nullable): what the small one does; NULL where the given one does not fail
 */
char *diff_shrink (DiffFinding *finding, guint *n_attempts);

G_END_DECLS
