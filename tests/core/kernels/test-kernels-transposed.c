/* SPDX-License-Identifier: Apache-2.0 */
/* Transposed convolutions: those whose input has holes. Random ones of 1 to 3 dimensions, with groups, dilation, padding that cuts and
 * that adds on one side, weights that are constants or not, bias and relu, beside convolutions that keep values in blocks of channels. */
#include "core/kernels/library/library.h"
#include "tests/core/kernels/kernel-test.h"
#include "tests/random-seed.h"

#define N_CASES 150u

typedef struct
{
  guint n;                        /* spatial dimensions */
  gint64 images, in, out, groups; /* in, out: channels of a group */
  gint64 size[3], taps[3], steps[3], dilation[3], padding[6], result[3];
  gboolean bias, relu, constant, half, between; /* between: other convolutions before and after it */
} Case;

static gboolean
draw_window (GRand *rand, Case *c)
{
  gboolean holes = FALSE;

  for (guint i = 0; i < c->n; i++)
    {
      gint64 reach;

      c->size[i] = g_rand_int_range (rand, 1, 7);
      c->taps[i] = g_rand_int_range (rand, 1, 5);
      c->steps[i] = g_rand_int_range (rand, 1, 4);
      c->dilation[i] = g_rand_int_range (rand, 1, 3);
      reach = (c->taps[i] - 1) * c->dilation[i];
      c->padding[2 * i] = g_rand_int_range (rand, reach > 0 ? -1 : 0, (gint32) reach + 2);
      c->padding[2 * i + 1] = g_rand_int_range (rand, 0, (gint32) (reach + c->steps[i]) + 1);
      c->result[i] = (c->size[i] - 1) * c->steps[i] + 1 + c->padding[2 * i] + c->padding[2 * i + 1] - reach;
      if (c->result[i] < 1)
        return FALSE;
      holes = holes || c->steps[i] > 1;
    }
  return holes;
}

static void
draw (GRand *rand, Case *c)
{
  static const gint64 channels[] = { 1, 3, 8, 16, 24, 32 };

  do
    {
      *c = (Case){ .n = (guint) g_rand_int_range (rand, 1, 4),
                   .images = g_rand_int_range (rand, 1, 4),
                   .in = channels[g_rand_int_range (rand, 0, 6)],
                   .out = channels[g_rand_int_range (rand, 0, 6)],
                   .groups = g_rand_int_range (rand, 0, 3) == 0 ? 2 : 1,
                   .bias = g_rand_boolean (rand),
                   .relu = g_rand_boolean (rand),
                   .constant = g_rand_boolean (rand),
                   .half = g_rand_int_range (rand, 0, 5) == 0 };
      c->between = !c->half && g_rand_boolean (rand); /* which would round between */
    }
  while (!draw_window (rand, c));
}

static guint32
type_of (GantryContext *context, const Case *c, gint64 first, gint64 second, const gint64 *spatial)
{
  gint64 dims[5] = { first, second };

  for (guint i = 0; i < c->n; i++)
    dims[2 + i] = spatial[i];
  return gantry_context_tensor (context, c->half ? GANTRY_F16 : GANTRY_F32, c->n + 2, dims);
}

/* Weights of a convolution of one place, which only mixes channels. */
static guint32
mixing_weights (GantryBuilder *builder, const Case *c, gint64 channels)
{
  static const gint64 ones[3] = { 1, 1, 1 };

  return gantry_builder_parameter (builder, type_of (gantry_builder_context (builder), c, channels, channels, ones), NULL);
}

static guint32
mix (GantryBuilder *builder, guint32 x, guint32 weights)
{
  return gantry_builder_add (builder, GANTRY_OP_CONVOLUTION, (guint32[]){ x, weights }, 2, 0);
}

static guint32
attrs_of (GantryContext *context, const Case *c)
{
  GantryAttrList *attrs = gantry_attr_list_new (context);

  gantry_attr_list_set_ints (attrs, "lhs_dilation", c->steps, c->n);
  gantry_attr_list_set_ints (attrs, "rhs_dilation", c->dilation, c->n);
  gantry_attr_list_set_ints (attrs, "padding", c->padding, 2 * c->n);
  gantry_attr_list_set_int (attrs, "feature_group_count", c->groups);
  if (c->relu)
    gantry_attr_list_set_string (attrs, "post", "relu");
  return gantry_attr_list_end (attrs);
}

static GantryModule *
module_of (GantryContext *context, const Case *c, GRand *rand)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "transposed");
  g_autoptr (GError) error = NULL;
  guint32 type = type_of (context, c, c->out * c->groups, c->in, c->taps), operands[3], before, after, y;
  gint64 width[1] = { c->out * c->groups };
  g_autoptr (GantryLiteral) literal = c->constant ? kernel_test_literal (rand, gantry_context_type (context, type), FALSE) : NULL;
  GantryModule *module;

  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation){ .file = gantry_context_intern (context, "test"), .line = 1 }));
  operands[0] = gantry_builder_parameter (builder, type_of (context, c, c->images, c->in * c->groups, c->size), NULL);
  before = mixing_weights (builder, c, c->in * c->groups);
  after = mixing_weights (builder, c, c->out * c->groups);
  operands[1] = literal == NULL ? gantry_builder_parameter (builder, type, NULL) : 0;
  operands[2] = gantry_builder_parameter (builder, gantry_context_tensor (context, c->half ? GANTRY_F16 : GANTRY_F32, 1, width), NULL);
  if (literal != NULL)
    operands[1] = gantry_builder_literal (builder, literal);
  if (c->between)
    operands[0] = mix (builder, operands[0], before);
  y = gantry_builder_add (builder, GANTRY_OP_CONVOLUTION, operands, c->bias ? 3 : 2, attrs_of (context, c));
  if (c->between)
    y = mix (builder, y, after);
  gantry_builder_check (builder, &error);
  g_assert_no_error (error);
  gantry_builder_end (builder, &y, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

static guint
count_library (GantryModule *module, const GantryKernelOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSet) set = gantry_kernels_compile (module, options, NULL, &error);
  guint n = 0;

  g_assert_no_error (error);
  for (guint32 i = 0; i < set->n_kernels; i++)
    n += set->kernels[i].kind == GANTRY_KERNEL_LIBRARY;
  return n;
}

static void
test_random (void)
{
  /* Of numbers of a few units; three sums in a row of up to 64 x 64 x 64 products of which many cancel. */
  static const KernelTolerance tolerances[] = { { .relative = 1e-5, .absolute = 2e-3 }, { .relative = 1e-4, .absolute = 0.1 } };
  g_autoptr (GRand) rand = test_rand (41);
  guint n_library = 0;

  for (guint i = 0; i < N_CASES; i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = NULL;
      GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
      Case c;

      draw (rand, &c);
      g_test_message ("%u: %u dimensions, %d x %d x %d channels, batch %d%s%s%s%s%s", i, c.n, (int) c.groups, (int) c.in, (int) c.out, (int) c.images,
                      c.bias ? ", bias" : "", c.relu ? ", relu" : "", c.constant ? ", constant" : "", c.half ? ", f16" : "", c.between ? ", between" : "");
      module = module_of (context, &c, rand);
      options.n_threads = 1 + i % 2;
      options.free_layouts = i % 3 != 0;
      n_library += !c.between && count_library (module, &options) == 1;
      kernel_test_whole (module, &options, &tolerances[c.between], rand);
    }
  g_test_message ("%u by the library alone", n_library);
  if (gantry_library_load (NULL))
    g_assert_cmpuint (n_library, >=, N_CASES / 8);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/transposed/random", test_random);
  return g_test_run ();
}
