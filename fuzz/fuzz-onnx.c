/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the ONNX reader: whatever the bytes, importing ends in a module that the verifier
 * accepts and whose text form parses back, or in an error with a message. */

#include "core/frontends/onnx/onnx.h"
#include "core/graph/graph.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Whatever names and values a model has, its text form parses back to the same module. */
static void
check_text (const GantryModule *module)
{
  g_autofree char *text = gantry_module_to_text (module, NULL);
  g_autofree char *why = NULL;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) again = gantry_module_from_text (context, text, -1, "fuzz.gantry-text", &error);

  if (again == NULL)
    g_error ("the text form does not parse: %s", error->message);
  if (!gantry_module_equal (module, again, &why))
    g_error ("the text form is of another module: %s", why);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  /* Small models reach every part of the reader; a limit keeps one input from taking seconds. A
   * dimension to bind that the model does not have is an error, so only every other input is told
   * one. */
  const GantryOnnxDim batch = { "n", 2 };
  const GantryOnnxOptions options = { .dims = &batch, .n_dims = size % 2, .max_nodes = 5000 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_onnx_import_bytes (context, bytes, "fuzz.onnx", &options, &info, NULL, &error);

  g_assert ((module == NULL) == (error != NULL));
  if (module == NULL)
    {
      g_assert (error->message[0] != '\0');
      return 0;
    }
  g_assert (info != NULL);
  if (!gantry_verify (module, NULL, &error))
    g_error ("the import is not sound: %s", error->message);

  check_text (module);
  return 0;
}
