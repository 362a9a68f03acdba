/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of tensor files: the first byte says which kind the rest is (TensorProto, numpy, plain bytes). What reads is
 * written as numpy and reads again as the same values. */

#include "core/compiler/tensor-file.h"
#include "core/graph/literal.h"
#include "fuzz/fuzz-file.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_again (GantryContext *context, const GantryLiteral *literal)
{
  g_autofree char *path = fuzz_file_path ("again.npy");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryLiteral) again = NULL;

  if (gantry_type_bytes (literal->type) > 1 << 20)
    return;
  if (!gantry_tensor_file_write_npy (literal, path, &error))
    g_error ("cannot be written: %s", error->message);
  again = gantry_tensor_file_read (context, path, literal->type, &error);
  if (again == NULL)
    g_error ("what was written does not read: %s", error->message);
  g_assert_cmpint (gantry_type_elements (again->type), ==, gantry_type_elements (literal->type));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const char *const names[] = { "t.npy", "t.pb", "t.raw" };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryLiteral) literal = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  const GantryType *type = NULL;
  GantryDim four = 4;

  if (size == 0)
    return 0;
  path = fuzz_file_write (names[data[0] % 3], data + 1, size - 1);
  if ((data[0] & 4) != 0)
    type = gantry_context_type (context, gantry_context_tensor (context, (data[0] & 8) != 0 ? GANTRY_BF16 : GANTRY_F32, 1, &four));
  literal = gantry_tensor_file_read (context, path, type, &error);
  g_assert ((literal == NULL) == (error != NULL));
  if (literal == NULL)
    g_assert (error->message[0] != '\0');
  else
    check_again (context, literal);
  return 0;
}
