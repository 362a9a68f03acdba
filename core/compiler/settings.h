/* SPDX-License-Identifier: Apache-2.0 */
/* What the user may set for a compilation. */
#pragma once
#include "core/memory/target.h"

G_BEGIN_DECLS

/** @disabled_passes: (nullable): NULL-terminated names of passes to leave out */
typedef struct
{
  char **disabled_passes;
  gboolean finite_math;
  gboolean program_order; /* no reordering for memory */
  GantryTarget target;
} GantryCompileSettings;

void gantry_compile_settings_init (GantryCompileSettings *settings);
void gantry_compile_settings_copy (GantryCompileSettings *to, const GantryCompileSettings *from);
void gantry_compile_settings_clear (GantryCompileSettings *settings);
gboolean gantry_compile_settings_enabled (const GantryCompileSettings *settings, const char *pass);
/** Returns: TRUE when something changed */
gboolean gantry_compile_settings_set_enabled (GantryCompileSettings *settings, const char *pass, gboolean enabled);

G_END_DECLS
