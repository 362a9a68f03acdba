/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are loaded when they are first used. */
#include "core/base/symbols.h"
#include <dlfcn.h>

char *
gantry_symbols_load (const char *library, const char *const *names, guint n, gpointer *table)
{
  /* It is never unloaded: its threads would go on in nothing, and what it keeps for each thread would outlive it. */
  void *loaded = dlopen (library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);

  if (loaded == NULL)
    return g_strdup (dlerror ());
  for (guint i = 0; i < n; i++)
    if ((table[i] = dlsym (loaded, names[i])) == NULL)
      return g_strdup_printf ("it has no %s", names[i]);
  return NULL;
}

char *
gantry_symbols_share (const char *library)
{
  return dlopen (library, RTLD_LAZY | RTLD_GLOBAL | RTLD_NODELETE) != NULL ? NULL : g_strdup (dlerror ());
}
