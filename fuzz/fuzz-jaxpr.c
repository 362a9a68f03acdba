/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of jaxprs: whatever the bytes, reading ends in a module or in one error; the verifier looks at every module, and
 * legalizing it ends in a module or in one error too. */

#include "core/frontends/xla/xla.h"
#include "core/graph/graph.h"
#include "core/passes/passes.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const GantryXlaOptions options = { .module = -1, .max_nodes = 10000 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_xla_import_text (context, (const char *) data, size, "fuzz.jaxpr", &options, &info, NULL, &error);

  g_assert ((module == NULL) == (error != NULL));
  if (module == NULL)
    return 0;
  g_assert (gantry_verify (module, NULL, &error) == (error == NULL));
  if (error != NULL)
    return 0;

  g_autoptr (GantryModule) core = gantry_pass_legalize.run (module, NULL, NULL, &error);

  g_assert ((core == NULL) == (error != NULL));
  return 0;
}
