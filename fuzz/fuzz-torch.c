/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of torch.export archives: whatever the bytes, reading ends in a module or in one error; the verifier looks at
 * every module. What begins with a brace is a program, read without an archive around it: a fuzzer does not guess checksums. */

#include "core/frontends/torch/torch.h"
#include "core/graph/graph.h"
#include "tests/core/frontends/torch/zip-writer.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const GantryTorchOptions options = { .max_nodes = 10000 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  const ZipEntry program = { .name = "models/model.json", .data = (const char *) data, .size = size };
  g_autoptr (GBytes) bytes = size > 0 && data[0] == '{' ? zip_write (&program, 1, FALSE) : g_bytes_new (data, size);
  g_autoptr (GantryTorchInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_torch_import_bytes (context, bytes, "fuzz.pt2", &options, &info, NULL, &error);

  g_assert ((module == NULL) == (error != NULL));
  if (module != NULL)
    g_assert (gantry_verify (module, NULL, &error) == (error == NULL));
  return 0;
}
