/* SPDX-License-Identifier: Apache-2.0 */
/* channels: where it must act and where it must not; sums with zeros are the same. */
#include "tests/core/passes/pass-test.h"

#define IMAGE(element, dims, weights, attributes, result) \
  PROGRAM ("%1: " element dims ", %2: " element weights, "%3", "%3 = convolution(%1, %2) {" attributes "}: " element result)
#define GRADIENT(dims, exchanged, cotangent, attributes, result) \
  PROGRAM ("%1: bf16" dims ", %2: bf16" cotangent, "%4", \
           "%3 = transpose(%1) {permutation = [1, 0, 2, 3]}: bf16" exchanged " %4 = convolution(%3, %2) {" attributes "}: bf16" result)

static void
test_image (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_channels, NULL,
                                          IMAGE ("bf16", "[4,3,40,41]", "[16,3,5,3]", "padding = [2, 1, 1, 0], window_strides = [2, 3]", "[4,16,20,14]"));
  g_autoptr (PassCase)
    bias = pass_case_new (&gantry_pass_channels, NULL,
                          PROGRAM ("%1: f16[4,4,256], %2: f16[8,4,2], %3: f16[8]", "%4", "%4 = convolution(%1, %2, %3) {padding = [0, 0]}: f16[4,8,255]"));
  const GantryNode *made = pass_result (c->after, 0);

  g_assert_cmpint (made->op, ==, GANTRY_OP_CONVOLUTION);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (gantry_node_operand (c->after, made, i)->op, ==, GANTRY_OP_PAD);
      g_assert_cmpint (gantry_node_operand_type (c->after, made, i)->dims[1], ==, 8);
    }
  g_assert_cmpuint (pass_count (bias->after, GANTRY_OP_PAD), ==, pass_count (bias->before, GANTRY_OP_PAD) + 2);
  g_assert_cmpuint (pass_result (bias->after, 0)->n_operands, ==, 3);
}

/* What images are to another convolution are channels here: the first ones of the result are kept. */
static void
test_gradient (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_channels, NULL,
                                          GRADIENT ("[6,3,26,26]", "[3,6,26,26]", "[8,6,12,12]", "padding = [1, 0, 0, 1], rhs_dilation = [2, 2]", "[3,8,5,5]"));
  const GantryNode *made = pass_result (c->after, 0), *convolution = gantry_node_operand (c->after, made, 0), *exchanged;

  g_assert_cmpint (made->op, ==, GANTRY_OP_SLICE);
  g_assert_cmpint (convolution->op, ==, GANTRY_OP_CONVOLUTION);
  exchanged = gantry_node_operand (c->after, convolution, 0);
  g_assert_cmpint (exchanged->op, ==, GANTRY_OP_TRANSPOSE);
  g_assert_cmpint (gantry_node_operand (c->after, exchanged, 0)->op, ==, GANTRY_OP_PAD);
}

static const PassText untouched[] = {
  { "f32", IMAGE ("f32", "[2,3,40,40]", "[16,3,3,3]", "padding = [1, 1, 1, 1]", "[2,16,40,40]") },
  { "whole-blocks", IMAGE ("bf16", "[2,8,40,40]", "[16,8,3,3]", "padding = [1, 1, 1, 1]", "[2,16,40,40]") },
  { "one-channel", IMAGE ("bf16", "[2,1,40,40]", "[16,1,3,3]", "padding = [1, 1, 1, 1]", "[2,16,40,40]") },
  { "one-place", IMAGE ("bf16", "[2,3,40,40]", "[16,3,1,1]", "padding = [0, 0, 0, 0]", "[2,16,40,40]") },
  { "groups", IMAGE ("bf16", "[2,6,40,40]", "[16,3,3,3]", "padding = [1, 1, 1, 1], feature_group_count = 2", "[2,16,40,40]") },
  { "few-results", IMAGE ("bf16", "[2,3,40,40]", "[4,3,3,3]", "padding = [1, 1, 1, 1]", "[2,4,40,40]") },
  { "large-weights", IMAGE ("bf16", "[2,3,8,8]", "[64,3,3,3]", "padding = [1, 1, 1, 1]", "[2,64,8,8]") },
  { "otherwise-exchanged", PROGRAM ("%1: bf16[6,3,26,26], %2: bf16[8,6,12,12]", "%4",
                                    "%3 = transpose(%1) {permutation = [1, 0, 3, 2]}: bf16[3,6,26,26] "
                                    "%4 = convolution(%3, %2) {padding = [1, 0, 0, 1], rhs_dilation = [2, 2]}: bf16[3,8,5,5]") },
  { "large-gradient", GRADIENT ("[4,3,26,26]", "[3,4,26,26]", "[64,4,24,24]", "padding = [0, 0, 0, 0]", "[3,64,3,3]") },
};

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/channels/image", test_image);
  g_test_add_func ("/passes/channels/gradient", test_gradient);
  pass_add_unchanged ("/passes/channels/leaves", &gantry_pass_channels, untouched, G_N_ELEMENTS (untouched));
  return g_test_run ();
}
