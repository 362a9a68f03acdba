/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM is found when it is first used: to load its 120 MiB takes 15 ms, which every command would wait for. */
#include "core/kernels/emit/llvm.h"
#include "core/base/error.h"
#include "core/base/symbols.h"

typedef struct
{
  GantryLlvmFunctions functions;
  char *why; /* (nullable): it cannot be used */
} Loaded;

static const Loaded *
loaded_library (void)
{
  static const char *const names[] = { GANTRY_LLVM_NAMES };
  static gsize ready;
  static Loaded loaded;

  G_STATIC_ASSERT (sizeof (GantryLlvmFunctions) == G_N_ELEMENTS (names) * sizeof (gpointer));
  if (g_once_init_enter (&ready))
    {
      loaded.why = gantry_symbols_load (GANTRY_LLVM_LIBRARY, names, G_N_ELEMENTS (names), (gpointer *) &loaded.functions);
      /* Which LLVM itself depends on: its code for processors without conversions of half precision calls it. */
      if (loaded.why == NULL)
        loaded.why = gantry_symbols_share ("libgcc_s.so.1");
      g_once_init_leave (&ready, 1);
    }
  return &loaded;
}

gboolean
gantry_llvm_load (GError **error)
{
  const Loaded *loaded = loaded_library ();

  if (loaded->why == NULL)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "LLVM cannot be used: %s (%s); install it", GANTRY_LLVM_LIBRARY, loaded->why);
  return FALSE;
}

const GantryLlvmFunctions *
gantry_llvm (void)
{
  const Loaded *loaded = loaded_library ();

  if (loaded->why != NULL)
    g_error ("LLVM cannot be used: %s (%s); install it", GANTRY_LLVM_LIBRARY, loaded->why);
  return &loaded->functions;
}
