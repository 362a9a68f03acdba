/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording holds, as text or as members of a JSON object: for import and info. */
#pragma once
#include "app/cli/cli.h"

G_BEGIN_DECLS

/** Device, time, events by kind, lanes and notes. */
void gantry_cli_print_trace (const GantryRecording *recording);
/** The same as members of the object that is being built. */
void gantry_cli_add_trace (JsonBuilder *json, const GantryRecording *recording);

G_END_DECLS
