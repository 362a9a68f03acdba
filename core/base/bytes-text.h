/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of bytes as people write them: one meaning of a unit for options, entries and rules. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** What an error says of the units that gantry_bytes_parse() knows. */
#define GANTRY_BYTES_UNITS "B, KB, MB, GB, TB (thousands), KiB, MiB, GiB, TiB, K, M, G or T (1024)"

/**
 * gantry_bytes_parse:
 * @text: "1000000", "512MiB", "1.5e9", "8 GB": a number that is not negative, and a unit in any case; blanks around both
 * @bytes: (out): rounded down, exactly: no binary fraction stands between
 *
 * KB, MB, GB and TB count in thousands; KiB, MiB, GiB and TiB, and the bare letters K, M, G and T, in powers of 1024 (IEC 80000-13).
 *
 * Returns: FALSE where @text is no such number, or 2^60 bytes and more
 */
gboolean gantry_bytes_parse (const char *text, guint64 *bytes);

G_END_DECLS
