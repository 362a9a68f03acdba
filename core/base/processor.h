/* SPDX-License-Identifier: Apache-2.0 */
/* Which processor this is, without a compiler to ask. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/**
 * gantry_processor_identity:
 *
 * The same for two processors that have the same model and run the same instructions: "AuthenticAMD 00a10f11 7ef8320b-178bfbff-...".
 *
 * Returns: (transfer full): one line, for comparing
 */
char *gantry_processor_identity (void);

G_END_DECLS
