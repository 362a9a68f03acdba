/* SPDX-License-Identifier: Apache-2.0 */
/* Who may read the counters, as the kernel module says it. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** @params: the module's list of parameters: /proc/driver/nvidia/params. (transfer full) */
char *_gantry_cupti_privileges_text (const char *params);

G_END_DECLS
