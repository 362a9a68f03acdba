/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of MindIR, and of the texts that MindSpore writes of its graphs, which begin with '#': whatever the bytes, reading ends in a
 * module or in one error; the verifier looks at every module, and what the dialect makes of it. */
#include "core/frontends/mindspore/mindspore.h"
#include "core/graph/graph.h"
#include "core/passes/passes.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* A reader that is asked for hours is never asked to make a large constant. */
static gboolean
is_small (const GantryModule *module)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (gantry_type_elements (gantry_node_type (module, &module->nodes[i])) > 1 << 16)
      return FALSE;
  return TRUE;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const GantryMindsporeOptions options = { .max_nodes = 10000 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GantryMindsporeInfo) info = NULL;
  g_autoptr (GError) error = NULL, refusal = NULL;
  const char *name = size > 0 && *data == '#' ? "fuzz.ir" : "fuzz.mindir";
  g_autoptr (GantryModule) module = gantry_mindspore_import_bytes (context, bytes, name, &options, &info, NULL, &error);
  g_autoptr (GantryModule) legal = NULL;

  g_assert ((module == NULL) == (error != NULL));
  if (module == NULL)
    return 0;
  g_assert (gantry_verify (module, NULL, &error) == (error == NULL));
  if (error == NULL && is_small (module))
    legal = gantry_pass_legalize.run (module, NULL, NULL, &refusal);
  g_assert (legal == NULL || gantry_verify (legal, NULL, NULL));
  return 0;
}
