/* SPDX-License-Identifier: Apache-2.0 */
/* Settings are a plain value; this file copies and clears them. */
#include "core/compiler/settings.h"
#include <string.h>

void
gantry_compile_settings_init (GantryCompileSettings *settings)
{
  memset (settings, 0, sizeof *settings);
  gantry_target_init_cpu (&settings->target, 0);
}

void
gantry_compile_settings_copy (GantryCompileSettings *to, const GantryCompileSettings *from)
{
  *to = *from;
  to->disabled_passes = g_strdupv (from->disabled_passes);
}

void
gantry_compile_settings_clear (GantryCompileSettings *settings)
{
  g_clear_pointer (&settings->disabled_passes, g_strfreev);
}

gboolean
gantry_compile_settings_enabled (const GantryCompileSettings *settings, const char *pass)
{
  return settings->disabled_passes == NULL ||
         !g_strv_contains ((const char *const *) settings->disabled_passes, pass);
}

gboolean
gantry_compile_settings_set_enabled (GantryCompileSettings *settings, const char *pass, gboolean enabled)
{
  GPtrArray *names;

  if (gantry_compile_settings_enabled (settings, pass) == enabled)
    return FALSE;
  names = g_ptr_array_new ();
  for (guint i = 0; settings->disabled_passes != NULL && settings->disabled_passes[i] != NULL; i++)
    if (strcmp (settings->disabled_passes[i], pass) != 0)
      g_ptr_array_add (names, g_strdup (settings->disabled_passes[i]));
  if (!enabled)
    g_ptr_array_add (names, g_strdup (pass));
  g_ptr_array_add (names, NULL);
  g_strfreev (settings->disabled_passes);
  settings->disabled_passes = (char **) g_ptr_array_free (names, FALSE);
  return TRUE;
}
