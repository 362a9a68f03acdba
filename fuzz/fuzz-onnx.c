/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the ONNX reader: whatever the bytes, importing ends in a module that the verifier accepts, or in an
 * error with a message. */

#include "core/frontends/onnx/onnx.h"
#include "core/ir/ir.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  /* Small models reach every part of the reader; a limit keeps one input from taking seconds. A dimension to bind that
   * the model does not have is an error, so only every other input is told one. */
  const GantryOnnxDim batch = { "n", 2 };
  const GantryOnnxOptions options = { .dims = &batch, .n_dims = size % 2, .max_nodes = 5000 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module
    = gantry_onnx_import_bytes (context, bytes, "fuzz.onnx", &options, &info, NULL, &error);

  g_assert ((module == NULL) == (error != NULL));
  if (module == NULL)
    {
      g_assert (error->message[0] != '\0');
      return 0;
    }
  g_assert (info != NULL);
  if (!gantry_verify (module, NULL, &error))
    g_error ("the import is not sound: %s", error->message);

  g_autofree char *text = gantry_module_to_text (module, NULL);
  g_assert (text != NULL);
  return 0;
}
