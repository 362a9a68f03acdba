/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of HLO as a protocol buffer: whatever the bytes, reading ends in a module or in one error; the verifier
 * looks at every module. */

#include "core/frontends/xla/xla.h"
#include "core/graph/graph.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const GantryXlaOptions options = { .module = -1, .max_nodes = 10000 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_xla_import_text (context, (const char *) data, size, "fuzz.hlo.pb", &options, &info, NULL, &error);

  g_assert ((module == NULL) == (error != NULL));
  if (module != NULL)
    g_assert (gantry_verify (module, NULL, &error) == (error == NULL));
  return 0;
}
