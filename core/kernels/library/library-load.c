/* SPDX-License-Identifier: Apache-2.0 */
/* oneDNN is found when it is first used: its OpenMP reads the environment while it is loaded, which main () has set by then, and commands
 * that compute nothing start without it. */
#include "core/kernels/library/library.h"
#include "core/base/error.h"
#include "core/base/symbols.h"

#define NAME "libdnnl.so." G_STRINGIFY (DNNL_VERSION_MAJOR)

typedef struct
{
  GantryLibraryFunctions functions;
  char *why; /* (nullable): it cannot be used */
} Loaded;

static const Loaded *
loaded_library (void)
{
#define NAMED(name) "dnnl_" #name,
  static const char *const names[] = { GANTRY_LIBRARY_FUNCTIONS (NAMED) "omp_set_num_threads", "GOMP_parallel" };
#undef NAMED
  static gsize ready;
  static Loaded loaded;

  G_STATIC_ASSERT (sizeof (GantryLibraryFunctions) == G_N_ELEMENTS (names) * sizeof (gpointer));
  if (g_once_init_enter (&ready))
    {
      loaded.why = gantry_symbols_load (NAME, names, G_N_ELEMENTS (names), (gpointer *) &loaded.functions);
      g_once_init_leave (&ready, 1);
    }
  return &loaded;
}

gboolean
gantry_library_load (GError **error)
{
  const Loaded *loaded = loaded_library ();

  if (loaded->why == NULL)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "oneDNN cannot be used: %s (%s); install it, or compile with generated code only", NAME, loaded->why);
  return FALSE;
}

const GantryLibraryFunctions *
gantry_dnnl (void)
{
  const Loaded *loaded = loaded_library ();

  g_assert (loaded->why == NULL);
  return &loaded->functions;
}
