/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the text form: whatever the bytes, parsing ends in a module or in an error, and a module that parsed
 * prints to a text that parses again and prints the same. */

#include "core/ir/ir.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static char *
print_again (const char *text)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module
    = gantry_module_from_text (context, text, -1, "again.gantry-text", &error);

  if (module == NULL)
    g_error ("the printed form does not parse: %s\n%s", error->message, text);
  return gantry_module_to_text (module, NULL);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module
    = gantry_module_from_text (context, (const char *) data, (gssize) size, "fuzz.gantry-text", &error);

  g_assert ((module == NULL) == (error != NULL));
  if (module == NULL)
    return 0;

  g_autofree char *once = gantry_module_to_text (module, NULL);
  g_autofree char *twice = print_again (once);
  if (!g_str_equal (once, twice))
    g_error ("printing is not stable:\n%s\n---\n%s", once, twice);
  return 0;
}
