/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of StableHLO bytecode and of what jax.export serializes: whatever the bytes behind the first four,
 * reading ends in a module or in one error; the verifier looks at every module. */

#include "core/frontends/xla/xla.h"
#include "core/graph/graph.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
read_bytes (const guint8 *data, gsize size)
{
  const GantryXlaOptions options = { .module = -1, .max_nodes = 10000 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_xla_import_text (context, (const char *) data, size, "fuzz.mlirbc", &options, &info, NULL, &error);

  g_assert ((module == NULL) == (error != NULL));
  if (module != NULL)
    g_assert (gantry_verify (module, NULL, &error) == (error == NULL));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const guint8 magic[] = { 'M', 'L', 0xef, 'R' };
  g_autofree guint8 *bytes = NULL;

  if (size >= 64 && memcmp (data + 4, "ML", 2) != 0 && data[1] == 0 && data[2] == 0) /* as an export begins */
    read_bytes (data, size);
  bytes = g_memdup2 (data, MAX (size, 1));
  memcpy (bytes, magic, MIN (size, sizeof magic));
  read_bytes (bytes, size);
  return 0;
}
