/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that look random and that any other program can make again from a name and a seed: the n-th number is a
 * function of both, not of what was drawn before. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/**
 * gantry_random_start:
 * @name: of what the numbers are for
 * @seed: equal seeds give equal numbers
 *
 * Returns: fnv1a64 (@name) + @seed * 0x9e3779b97f4a7c15, where the numbers of @name begin
 */
guint64 gantry_random_start (const char *name, gint64 seed);

/** Returns: number @index from @start: (splitmix64 (@start + @index) >> 40) / 2^24, in [0, 1) with 24 bits */
double gantry_random_at (guint64 start, guint64 index);

G_END_DECLS
