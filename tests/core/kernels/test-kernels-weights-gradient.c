/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of the weights of convolutions, as a training step has them: windows as large as images. Random ones of 1 to 3 dimensions with
 * steps, dilation and padding, some of which leave a border of the image out. */
#include "core/graph/operation.h"
#include "core/kernels/library/library.h"
#include "tests/core/kernels/kernel-test.h"
#include "tests/random-seed.h"

#define N_CASES 120u

/* Of the convolution whose weights these are the gradient of. */
typedef struct
{
  guint n; /* spatial dimensions */
  gint64 images, in, out;
  gint64 size[3], taps[3], steps[3], dilation[3], low[3], high[3], places[3];
  gboolean half;
} Case;

static gboolean
draw_window (GRand *rand, Case *c)
{
  gint64 places = 1, taps = 1;

  for (guint i = 0; i < c->n; i++)
    {
      gint64 rest;

      c->size[i] = g_rand_int_range (rand, 3, c->n == 3 ? 8 : 16);
      c->taps[i] = g_rand_int_range (rand, 1, 4);
      c->steps[i] = g_rand_int_range (rand, 1, 4);
      c->dilation[i] = g_rand_int_range (rand, 1, 3);
      c->low[i] = g_rand_int_range (rand, 0, 3);
      c->high[i] = g_rand_int_range (rand, 0, 3);
      rest = c->size[i] + c->low[i] + c->high[i] - (c->taps[i] - 1) * c->dilation[i] - 1;
      if (rest < 0)
        return FALSE;
      c->places[i] = rest / c->steps[i] + 1;
      c->high[i] -= rest % c->steps[i]; /* what the last window does not reach */
      places *= c->places[i];
      taps *= c->taps[i];
    }
  return taps == 1 ? places >= 128 && c->images > 1 : places >= 4 * taps;
}

static void
draw (GRand *rand, Case *c)
{
  static const gint64 channels[] = { 1, 3, 8, 16, 24, 32 };

  do
    *c = (Case){ .n = (guint) g_rand_int_range (rand, 1, 4),
                 .images = channels[g_rand_int_range (rand, 0, 5)],
                 .in = channels[g_rand_int_range (rand, 0, 6)],
                 .out = channels[g_rand_int_range (rand, 0, 6)],
                 .half = g_rand_int_range (rand, 0, 6) == 0 };
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

/* Channels stand for images, images for channels. */
static GantryModule *
module_of (GantryContext *context, const Case *c)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "gradient");
  g_autoptr (GError) error = NULL;
  GantryAttrList *attrs = gantry_attr_list_new (context);
  gint64 padding[6];
  guint32 operands[2], y;
  GantryModule *module;

  for (guint i = 0; i < c->n; i++)
    {
      padding[2 * i] = c->low[i];
      padding[2 * i + 1] = c->high[i];
    }
  gantry_attr_list_set_ints (attrs, "window_strides", c->dilation, c->n);
  gantry_attr_list_set_ints (attrs, "rhs_dilation", c->steps, c->n);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * c->n);
  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation){ .file = gantry_context_intern (context, "test"), .line = 1 }));
  operands[0] = gantry_builder_parameter (builder, type_of (context, c, c->in, c->images, c->size), NULL);
  operands[1] = gantry_builder_parameter (builder, type_of (context, c, c->out, c->images, c->places), NULL);
  y = gantry_builder_add (builder, GANTRY_OP_CONVOLUTION, operands, 2, gantry_attr_list_end (attrs));
  gantry_builder_check (builder, &error);
  g_assert_no_error (error);
  gantry_builder_end (builder, &y, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

/* Whether it is one, and has the taps that it is of. */
static void
check_is_gradient (const GantryModule *module, const Case *c)
{
  const GantryFunction *entry = gantry_module_entry (module);
  const GantryNode *node = &module->nodes[entry->first_node + entry->n_nodes - 1];
  const GantryType *type = gantry_node_type (module, node);

  g_assert_true (gantry_node_has_large_window (module, node));
  g_assert_cmpint (type->dims[0], ==, c->in);
  g_assert_cmpint (type->dims[1], ==, c->out);
  for (guint i = 0; i < c->n; i++)
    g_assert_cmpint (type->dims[2 + i], ==, c->taps[i]);
}

static guint
count_library (GantryModule *module, const GantryKernelOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSet) set = gantry_kernels_compile (module, options, NULL, &error);
  guint n = 0;

  g_assert_no_error (error);
  for (guint32 i = 0; i < set->n_kernels; i++)
    n += set->kernels[i].kind == GANTRY_KERNEL_LIBRARY && gantry_library_is_weights_gradient (&set->kernels[i]);
  return n;
}

static void
test_random (void)
{
  /* Of numbers of a few units; sums of up to 24 x 16^2 products, of which many cancel. */
  static const KernelTolerance tolerance = { .relative = 1e-5, .absolute = 4e-3 };
  g_autoptr (GRand) rand = test_rand (43);
  guint n_library = 0;

  for (guint i = 0; i < N_CASES; i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = NULL;
      GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
      Case c;

      draw (rand, &c);
      g_test_message ("%u: %u dimensions, %d to %d channels, %d images%s", i, c.n, (int) c.in, (int) c.out, (int) c.images, c.half ? ", f16" : "");
      module = module_of (context, &c);
      check_is_gradient (module, &c);
      options.n_threads = 1 + i % 2;
      options.free_layouts = i % 3 != 0;
      n_library += count_library (module, &options);
      kernel_test_whole (module, &options, &tolerance, rand);
    }
  g_test_message ("%u by the library's gradients", n_library);
  if (gantry_library_load (NULL))
    g_assert_cmpuint (n_library, >=, N_CASES * 3 / 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/weights-gradient/random", test_random);
  return g_test_run ();
}
