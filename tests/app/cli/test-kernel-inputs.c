/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up operands of a kernel by itself: no zeros, and no index that is out of bounds. */
#include "app/cli/kernel-inputs.h"
#include "core/graph/context.h"
#include "core/graph/literal.h"
#include <string.h>

static void
test_values (void)
{
  static const GantryElementType elements[] = { GANTRY_F32, GANTRY_F64, GANTRY_F16, GANTRY_BF16, GANTRY_I64, GANTRY_I32, GANTRY_U8, GANTRY_I8, GANTRY_BOOL };
  g_autoptr (GantryContext) context = gantry_context_new ();
  gint64 dims[2] = { 100, 37 };

  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    {
      const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, elements[e], 2, dims));
      gsize bytes = (gsize) gantry_type_bytes (type);
      guint8 *data = NULL, *other = NULL;
      g_autoptr (GantryLiteral) literal = gantry_literal_new_zeroed (type, &data);
      g_autoptr (GantryLiteral) second = gantry_literal_new_zeroed (type, &other);
      double least = G_MAXDOUBLE, most = -G_MAXDOUBLE, sum = 0;

      gantry_kernel_input_fill (type, gantry_kernel_input_bound (&type, 1), 0, data);
      gantry_kernel_input_fill (type, gantry_kernel_input_bound (&type, 1), 1, other);
      g_assert_cmpint (memcmp (data, other, bytes), !=, 0);
      for (gsize i = 0; i < 3700; i++)
        {
          double value = gantry_literal_get_double (literal, (gint64) i);

          least = MIN (least, value);
          most = MAX (most, value);
          sum += value;
        }
      if (gantry_element_is_float (elements[e]))
        {
          g_assert_cmpfloat (least, <, -0.9);
          g_assert_cmpfloat (most, >, 0.9);
          g_assert_cmpfloat (ABS (sum), <, 3700 * 0.1);
        }
      else
        {
          g_assert_cmpfloat (least, ==, 0);
          g_assert_cmpfloat (most, ==, elements[e] == GANTRY_BOOL ? 1 : 36);
        }
    }
}

/* An index is valid along any dimension of any operand. */
static void
test_bound (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  const GantryType *types[3] = { gantry_context_type (context, gantry_context_tensor (context, GANTRY_F32, 2, (gint64[]){ 100, 5 })), NULL,
                                 gantry_context_type (context, gantry_context_tensor (context, GANTRY_I32, 2, (gint64[]){ 0, 7 })) };
  const GantryType *scalar = gantry_context_type (context, gantry_context_tensor (context, GANTRY_I32, 0, NULL));

  g_assert_cmpint (gantry_kernel_input_bound (types, 3), ==, 5);
  g_assert_cmpint (gantry_kernel_input_bound (&scalar, 1), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/kernel-inputs/values", test_values);
  g_test_add_func ("/cli/kernel-inputs/bound", test_bound);
  return g_test_run ();
}
