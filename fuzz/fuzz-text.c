/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the text form: whatever the bytes, parsing ends in a module or in an error, and a module that parsed
 * prints to a text that parses again to an equal one and prints the same. The verifier looks at every module. */

#include "core/graph/graph.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_again (const GantryModule *module, const char *text)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *why = NULL;
  g_autofree char *twice = NULL;
  g_autoptr (GantryModule) again = gantry_module_from_text (context, text, -1, "again.gir", &error);

  if (again == NULL)
    g_error ("the printed form does not parse: %s\n%s", error->message, text);
  if (!gantry_module_equal (module, again, &why))
    g_error ("the printed form parses to another module: %s\n%s", why, text);
  twice = gantry_module_to_text (again, NULL);
  if (!g_str_equal (text, twice))
    g_error ("printing is not stable:\n%s\n---\n%s", text, twice);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, (const char *) data, (gssize) size, "fuzz.gir", &error);

  g_assert ((module == NULL) == (error != NULL));
  if (module == NULL)
    return 0;

  g_autofree char *text = gantry_module_to_text (module, NULL);
  check_again (module, text);
  g_assert (gantry_verify (module, NULL, &error) == (error == NULL));
  return 0;
}
