/* SPDX-License-Identifier: Apache-2.0 */
/* Values for inputs: what a person may write, what is refused and how that is said, and the program in which an input is
 * a constant. */
#include "core/graph/graph.h"
#include "core/graph/input-values.h"
#include <string.h>

static const GantryType *
type_of (GantryContext *context, GantryElementType element, guint rank, const GantryDim *dims)
{
  return gantry_context_type (context, gantry_context_tensor (context, element, rank, dims));
}

/* @wanted: the literal as the text form writes it, or after '!' how the error ends */
static void
assert_value (const char *text, GantryElementType element, guint rank, const GantryDim *dims, const char *wanted)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryLiteral) literal = gantry_literal_from_text (context, text, type_of (context, element, rank, dims), &error);
  g_autofree char *got = literal != NULL ? gantry_literal_to_text (context, literal) : g_strdup ("nothing");

  if (*wanted == '!')
    {
      g_assert_null (literal);
      if (!g_str_has_suffix (error->message, wanted + 1))
        g_error ("'%s': %s", text, error->message);
      return;
    }
  g_assert_no_error (error);
  g_assert_cmpstr (got, ==, wanted);
}

#define DIMS(...) \
  (const GantryDim[]) \
  { \
    __VA_ARGS__ \
  }
#define N GANTRY_DIM_UNKNOWN

static void
test_read (void)
{
  assert_value ("16000", GANTRY_I64, 0, NULL, "dense<i64[]: 16000>");
  assert_value (" -1.5e3 ", GANTRY_F32, 0, NULL, "dense<f32[]: -1500.0>");
  assert_value ("nan", GANTRY_F16, 0, NULL, "dense<f16[]: nan>");
  assert_value ("true", GANTRY_BOOL, 0, NULL, "dense<bool[]: true>");
  assert_value ("[1, 0, true]", GANTRY_BOOL, 1, DIMS (N), "dense<bool[3]: true, false, true>");
  assert_value ("[1,2]", GANTRY_I64, 1, DIMS (2), "dense<i64[2]: 1, 2>");
  assert_value ("[[1,2],[3,4]]", GANTRY_BF16, 2, DIMS (N, 2), "dense<bf16[2,2]: 1.0, 2.0, 3.0, 4.0>");
  assert_value ("[]", GANTRY_I64, 1, DIMS (N), "dense<i64[0]: >");
  assert_value ("[[],[]]", GANTRY_I64, 2, DIMS (N, N), "dense<i64[2,0]: >");
  assert_value ("7", GANTRY_U8, 2, DIMS (2, 3), "splat<u8[2,3]: 7>");
  assert_value ("dense<f32[2]: 1, inf>", GANTRY_F32, 1, DIMS (N), "dense<f32[2]: 1.0, inf>");
  assert_value ("hex<i16[2]: 01000200>", GANTRY_I16, 1, DIMS (2), "dense<i16[2]: 1, 2>");
}

static void
test_refuse (void)
{
  assert_value ("", GANTRY_I64, 0, NULL, "!value:1:1: expected a number, but the text ends");
  assert_value ("300", GANTRY_U8, 0, NULL, "!expected a value of type u8, not '300'");
  assert_value ("1.5", GANTRY_I64, 0, NULL, "!expected a value of type i64, not '1.5'");
  assert_value ("16000 Hz", GANTRY_I64, 0, NULL, "!value:1:7: expected the end of the value, not 'Hz'");
  assert_value ("[1,2", GANTRY_I64, 1, DIMS (2), "!expected ',' or ']' after a value, but the text ends");
  assert_value ("[1,2,3]", GANTRY_I64, 1, DIMS (2), "!the value is i64[3] where i64[2] is wanted");
  assert_value ("[1,2]", GANTRY_I64, 0, NULL, "!the value is i64[2] where i64[] is wanted");
  assert_value ("[[1,2],[3]]", GANTRY_I64, 2, DIMS (2, 2), "!one list has 2 values, another at its level 1");
  assert_value ("[[1],2]", GANTRY_I64, 2, DIMS (2, 1), "!a number stands inside 1 lists, another inside 2");
  assert_value ("[1,[2]]", GANTRY_I64, 2, DIMS (2, 1), "!a list stands inside 1 lists, too many");
  assert_value ("0", GANTRY_F32, 1, DIMS (N), "!one number for dimensions that are not known: write a list of them");
  assert_value ("dense<f32[1]: 1>", GANTRY_F64, 1, DIMS (1), "!the value is f32[1] where f64[1] is wanted");
  assert_value ("1", GANTRY_STRING, 0, NULL, "!write a whole literal, for example dense<i64[2]: 1, 2>, or name a file");
}

/* Deep nesting is an error, not the end of the stack. */
static void
test_deep (void)
{
  g_autofree char *text = g_strnfill (100000, '[');

  assert_value (text, GANTRY_F32, 0, NULL, "!a list stands inside 16 lists, too many");
}

static const char program[] = "module \"m\" {\n"
                              "  func @main #1 (%1 \"x\": f32[2], %2 \"k\": i64[], %3 \"y\": f32[2]) -> (%7, %2) {\n"
                              "    %4 = convert(%2) {to = type f32[]}: f32[]\n"
                              "    %5 = broadcast_in_dim(%4) {broadcast_dimensions = ints[], shape = [2]}: f32[2]\n"
                              "    %6 = add(%1, %5): f32[2]\n"
                              "    %7 = add(%6, %3): f32[2]\n"
                              "  }\n"
                              "}\n";

static void
test_set (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, program, -1, "p", &error), next = NULL;
  const GantryInputValue values[] = { { "k", "3" }, { "x", "[1, 2]" } };
  const GantryFunction *entry;
  const GantryNode *node;

  g_assert_no_error (error);
  next = gantry_module_set_inputs (module, values, G_N_ELEMENTS (values), &error);
  g_assert_no_error (error);
  gantry_verify (next, NULL, &error);
  g_assert_no_error (error);
  entry = gantry_module_entry (next);
  g_assert_cmpuint (entry->n_params, ==, 1);
  g_assert_cmpuint (entry->n_nodes, ==, 7);
  node = gantry_module_node (next, 2);
  g_assert_cmpuint (node->op, ==, GANTRY_OP_CONSTANT);
  g_assert_true (gantry_node_is_set_input (next, node));
  g_assert_cmpstr (gantry_context_string (context, node->name), ==, "k");
  /* Ids and uses are what they were. */
  g_assert_cmpuint (gantry_node_operand_id (next, gantry_module_node (next, 6), 0), ==, 1);
  g_assert_cmpuint (gantry_function_result_id (next, entry, 1), ==, 2);
  g_assert_false (gantry_node_is_set_input (next, gantry_module_node (next, 3)));
}

static void
test_set_wrong (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, program, -1, "p", &error);

  g_assert_no_error (error);
  g_assert_null (gantry_module_set_inputs (module, (const GantryInputValue[]){ { "z", "3" } }, 1, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==, "there is no input 'z' to set; the inputs are: x, k, y");
  g_clear_error (&error);
  g_assert_null (gantry_module_set_inputs (module, (const GantryInputValue[]){ { "k", "3.5" } }, 1, &error));
  g_assert_cmpstr (error->message, ==, "input 'k': value:1:1: expected a value of type i64, not '3.5'");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/input-values/read", test_read);
  g_test_add_func ("/input-values/refuse", test_refuse);
  g_test_add_func ("/input-values/deep", test_deep);
  g_test_add_func ("/input-values/set", test_set);
  g_test_add_func ("/input-values/set-wrong", test_set_wrong);
  return g_test_run ();
}
