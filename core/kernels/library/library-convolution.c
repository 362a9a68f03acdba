/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions. The library says in which layouts it is fast; weights that are constant are brought
 * into theirs once. One whose input has holes (lhs_dilation) is a transposed convolution of what is not holes: it counts the taps of the
 * weights the other way, and its padding is what it leaves out of the result, so that tap k of n with dilation d and padding p below
 * is tap n - 1 - k with padding d (n - 1) - p. The library adds bias and relu to that by code of no speed: they are an epilogue. */
#include "core/kernels/library/library.h"
#include "core/graph/operation.h"
#include <string.h>

/* From here on the threads share a convolution, by at least so many channels each. */
#define CUT_FLOPS 2000000
#define MIN_CHANNELS 32
/* What one thread does while the library wakes its own threads, which share the processors with ours: 130 us where 2 have 2. */
#define TEAM_FLOPS 10e6

typedef struct
{
  int spatial;
  gint64 groups;
  gboolean bias, relu;
  gboolean transposed;
  gboolean gradient;                  /* of weights: what lies behind the last window is no matter there */
  GantryElementType elements[4];      /* input, weights, bias, result */
  dnnl_dims_t input, weights, result; /* weights: with a dimension for groups when there are any */
  dnnl_dims_t strides, dilates, low, high;
} Convolution;

static gint64
int_at (const GantryModule *module, const GantryNode *node, const char *key, gsize i, gint64 fallback)
{
  gsize n;
  const gint64 *ints = gantry_attrs_ints (module->context, node->attrs, key, &n);

  return i < n ? ints[i] : fallback;
}

gboolean
gantry_library_is_small_products (const GantryModule *module, const GantryNode *node)
{
  const GantryType *weights = gantry_node_operand_type (module, node, 1);

  if (gantry_attrs_int (module->context, node->attrs, "feature_group_count", 1) == 1)
    return FALSE;
  for (guint d = 2; d < weights->rank; d++)
    if (weights->dims[d] != 1)
      return FALSE;
  return TRUE;
}

static gboolean
has_holes (const GantryModule *module, const GantryNode *node)
{
  gsize n;
  const gint64 *dilation = gantry_attrs_ints (module->context, node->attrs, "lhs_dilation", &n);

  for (gsize i = 0; i < n; i++)
    if (dilation[i] != 1)
      return TRUE;
  return FALSE;
}

/* Steps and padding of spatial dimension @i, whose weights have @taps. Returns: FALSE where the library has no such */
static gboolean
describe_window (const GantryModule *module, const GantryNode *node, Convolution *c, int i, gint64 taps)
{
  gint64 stride = int_at (module, node, "window_strides", i, 1), dilation = int_at (module, node, "rhs_dilation", i, 1);
  gint64 low = int_at (module, node, "padding", 2 * i, 0), high = int_at (module, node, "padding", 2 * i + 1, 0);

  c->dilates[i] = dilation - 1;
  c->strides[i] = c->transposed ? int_at (module, node, "lhs_dilation", i, 1) : stride;
  c->low[i] = c->transposed ? (taps - 1) * dilation - low : low;
  c->high[i] = c->transposed ? (taps - 1) * dilation - high : high;
  if (c->transposed)
    return stride == 1 && c->low[i] >= 0 && c->high[i] > -c->strides[i];
  return c->low[i] >= 0 && (c->gradient || c->high[i] >= 0);
}

static gboolean
describe (const GantryModule *module, const GantryNode *node, Convolution *c)
{
  const GantryType *input = gantry_node_operand_type (module, node, 0);
  const GantryType *weights = gantry_node_operand_type (module, node, 1);
  const GantryType *result = gantry_node_type (module, node);
  gboolean skip = gantry_attrs_int (module->context, node->attrs, "skip_padding", 0) != 0;
  guint w = 0;

  if (input->rank < 3 || input->rank > 5 || gantry_attrs_int (module->context, node->attrs, "batch_group_count", 1) != 1)
    return FALSE;
  c->spatial = (int) input->rank - 2;
  c->groups = gantry_attrs_int (module->context, node->attrs, "feature_group_count", 1);
  c->bias = node->n_operands == 3;
  for (guint i = 0; i < node->n_operands; i++)
    c->elements[i] = gantry_node_operand_type (module, node, i)->element;
  c->elements[3] = result->element;
  c->relu = g_strcmp0 (gantry_attrs_string (module->context, node->attrs, "post", ""), "relu") == 0;
  memcpy (c->input, input->dims, input->rank * sizeof *input->dims);
  memcpy (c->result, result->dims, result->rank * sizeof *result->dims);
  if (c->groups > 1)
    c->weights[w++] = c->groups;
  c->weights[w++] = weights->dims[0] / c->groups;
  for (guint d = 1; d < weights->rank; d++)
    c->weights[w++] = weights->dims[d];
  c->transposed = has_holes (module, node);
  for (int i = 0; i < c->spatial; i++)
    if (!describe_window (module, node, c, i, weights->dims[2 + i]) || (skip && (c->transposed || c->low[i] > 0 || c->high[i] > 0)))
      return FALSE;
  return !c->transposed || !c->bias || c->elements[2] == GANTRY_F32;
}

/* Row-major. */
static gboolean
plain (dnnl_memory_desc_t *md, int rank, const dnnl_dims_t dims)
{
  dnnl_dims_t strides;
  gint64 stride = 1;

  for (int d = rank; d-- > 0;)
    {
      strides[d] = stride;
      stride *= dims[d];
    }
  return gantry_dnnl ()->memory_desc_init_by_strides (md, rank, dims, dnnl_f32, strides) == dnnl_success;
}

static gboolean
activations (dnnl_memory_desc_t *md, int rank, const dnnl_dims_t dims, guint block)
{
  static const dnnl_format_tag_t by_8[] = { dnnl_nCw8c, dnnl_nChw8c, dnnl_nCdhw8c };
  static const dnnl_format_tag_t by_16[] = { dnnl_nCw16c, dnnl_nChw16c, dnnl_nCdhw16c };

  dnnl_format_tag_t tag = block == 8 ? by_8[rank - 3] : by_16[rank - 3];

  if (block == 0)
    return plain (md, rank, dims);
  return gantry_dnnl ()->memory_desc_init_by_tag (md, rank, dims, dnnl_f32, tag) == dnnl_success;
}

static gboolean
bias_layout (dnnl_memory_desc_t *md, const Convolution *c)
{
  dnnl_dims_t dims = { c->result[1] };

  return plain (md, 1, dims);
}

static gboolean
any_layout (dnnl_memory_desc_t *md, int rank, const dnnl_dims_t dims)
{
  return gantry_dnnl ()->memory_desc_init_by_tag (md, rank, dims, dnnl_f32, dnnl_format_tag_any) == dnnl_success;
}

/* @plus_zero: 0 is added to what relu gives, which makes 0 of -0. */
static dnnl_primitive_attr_t
attributes_of (const Convolution *c, gboolean plus_zero)
{
  dnnl_primitive_attr_t attributes = NULL;
  dnnl_post_ops_t after = NULL;

  if (gantry_dnnl ()->primitive_attr_create (&attributes) != dnnl_success)
    return NULL;
  gantry_dnnl ()->primitive_attr_set_scratchpad_mode (attributes, dnnl_scratchpad_mode_user);
  if (c->relu && !c->transposed && gantry_dnnl ()->post_ops_create (&after) == dnnl_success)
    {
      gantry_dnnl ()->post_ops_append_eltwise (after, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f);
      if (plus_zero)
        gantry_dnnl ()->post_ops_append_eltwise (after, 1.0f, dnnl_eltwise_linear, 1.0f, 0.0f);
      gantry_dnnl ()->primitive_attr_set_post_ops (attributes, after);
      gantry_dnnl ()->post_ops_destroy (after);
    }
  return attributes;
}

static gboolean
describe_operation (dnnl_convolution_desc_t *operation, const Convolution *c, const dnnl_memory_desc_t *input, const dnnl_memory_desc_t *weights,
                    const dnnl_memory_desc_t *bias, const dnnl_memory_desc_t *result)
{
  if (c->transposed)
    return gantry_dnnl ()->dilated_deconvolution_forward_desc_init (operation, dnnl_forward_inference, dnnl_deconvolution_direct, input, weights, NULL, result,
                                                                    c->strides, c->dilates, c->low, c->high)
           == dnnl_success;
  return gantry_dnnl ()->dilated_convolution_forward_desc_init (operation, dnnl_forward_inference, dnnl_convolution_direct, input, weights,
                                                                c->bias ? bias : NULL, result, c->strides, c->dilates, c->low, c->high)
         == dnnl_success;
}

/* What implements it is called @name then, "ref": nothing. */
static dnnl_primitive_desc_t
create_primitive (GantryLibrary *library, const Convolution *c, const dnnl_convolution_desc_t *operation, gboolean plus_zero, const char **name)
{
  dnnl_primitive_attr_t attributes = attributes_of (c, plus_zero);
  dnnl_primitive_desc_t description = NULL;

  *name = "ref";
  if (attributes == NULL || gantry_dnnl ()->primitive_desc_create (&description, operation, attributes, gantry_library_engine (library), NULL) != dnnl_success)
    description = NULL;
  if (attributes != NULL)
    gantry_dnnl ()->primitive_attr_destroy (attributes);
  if (description != NULL)
    gantry_dnnl ()->primitive_desc_query (description, dnnl_query_impl_info_str, 0, name);
  return description;
}

/* Returns: NULL when the library refuses or has only its reference implementation. */
static dnnl_primitive_desc_t
describe_primitive (GantryLibrary *library, const Convolution *c, const dnnl_memory_desc_t *input, const dnnl_memory_desc_t *result)
{
  dnnl_memory_desc_t weights, bias;
  dnnl_convolution_desc_t operation;
  dnnl_primitive_desc_t description;
  const char *name;

  if (!any_layout (&weights, c->spatial + (c->groups > 1 ? 3 : 2), c->weights) || !bias_layout (&bias, c)
      || !describe_operation (&operation, c, input, &weights, &bias, result))
    return NULL;
  description = create_primitive (library, c, &operation, FALSE, &name);
  /* Its relu is x > 0 ? x : 0 * x there, so -0 of what is negative; the others' is a maximum. */
  if (description != NULL && c->relu && !c->transposed && strstr (name, "gemm") != NULL)
    {
      gantry_dnnl ()->primitive_desc_destroy (description);
      description = create_primitive (library, c, &operation, TRUE, &name);
    }
  if (description != NULL && strstr (name, "ref") != NULL)
    {
      gantry_dnnl ()->primitive_desc_destroy (description);
      return NULL;
    }
  return description;
}

/* Images [image, ..) and result channels [channel, ..), the latter whole groups. */
typedef struct
{
  gint64 image, n_images;
  gint64 channel, n_channels;
} Cut;

static gint64
product (const gint64 *dims, int n)
{
  gint64 all = 1;

  for (int i = 0; i < n; i++)
    all *= dims[i];
  return all;
}

/* The convolution of one cut, and where its parts of the input, the weights and the result begin. */
static Convolution
cut_out (const Convolution *c, const Cut *cut, gint64 *input, gint64 *weights, gint64 *result)
{
  Convolution part = *c;
  gint64 groups = c->groups * cut->n_channels / c->result[1], depth = c->input[1] / c->groups;
  gint64 first = cut->channel * c->groups / c->result[1] * depth; /* input channel */
  int grouped = c->groups > 1;

  part.input[0] = part.result[0] = cut->n_images;
  part.result[1] = cut->n_channels;
  if (grouped)
    {
      part.weights[0] = groups;
      part.input[1] = groups * depth;
    }
  else
    part.weights[0] = cut->n_channels;
  /* Whole blocks of channels lie one behind the other, in blocks or not. */
  *input = (cut->image * c->input[1] + (grouped ? first : 0)) * product (c->input + 2, c->spatial);
  *weights = cut->channel * depth * product (c->weights + 2 + grouped, c->spatial);
  *result = (cut->image * c->result[1] + cut->channel) * product (c->result + 2, c->spatial);
  return part;
}

static gboolean
keep_nan (GantryLibrary *library, const Convolution *c, const dnnl_memory_desc_t *input, const dnnl_memory_desc_t *weights, const dnnl_memory_desc_t *bias,
          const dnnl_memory_desc_t *result)
{
  dnnl_convolution_desc_t operation;

  if (!describe_operation (&operation, c, input, weights, bias, result))
    return FALSE;
  gantry_library_keep_nan (library, &operation);
  return TRUE;
}

static gboolean
add_piece (GantryLibrary *library, const Convolution *whole, const GantryLibraryLayouts *layouts, const Cut *cut)
{
  gint64 input_begin, weights_begin, result_begin;
  const gsize taps = (gsize) product (whole->weights + (whole->groups > 1 ? 3 : 2), whole->spatial);
  Convolution c = cut_out (whole, cut, &input_begin, &weights_begin, &result_begin);
  dnnl_memory_desc_t outer_input, outer_weights, outer_result, any_input, any_result, input, weights, result, bias;
  dnnl_primitive_desc_t description;

  if (!activations (&outer_input, c.spatial + 2, c.input, layouts->blocked_input ? layouts->block : 0)
      || !activations (&outer_result, c.spatial + 2, c.result, layouts->blocked_result ? layouts->block : 0) || !any_layout (&any_input, c.spatial + 2, c.input)
      || !any_layout (&any_result, c.spatial + 2, c.result) || !plain (&outer_weights, c.spatial + (c.groups > 1 ? 3 : 2), c.weights)
      || !bias_layout (&bias, &c))
    return FALSE;
  description = describe_primitive (library, &c, layouts->blocked_input ? &outer_input : &any_input, layouts->blocked_result ? &outer_result : &any_result);
  /* It may not know blocks of this size for the processor: then it says what it wants, and they are reordered. */
  if (description == NULL && (layouts->blocked_input || layouts->blocked_result))
    description = describe_primitive (library, &c, &any_input, &any_result);
  if (description == NULL)
    return FALSE;
  input = *gantry_dnnl ()->primitive_desc_query_md (description, dnnl_query_src_md, 0);
  weights = *gantry_dnnl ()->primitive_desc_query_md (description, dnnl_query_weights_md, 0);
  result = *gantry_dnnl ()->primitive_desc_query_md (description, dnnl_query_dst_md, 0);
  if (!gantry_library_begin (library, description) || (c.relu && !c.transposed && !keep_nan (library, &c, &input, &weights, &bias, &result)))
    return FALSE;
  if (c.transposed)
    gantry_library_set_epilogue (library, c.bias, 2, cut->channel, c.relu);
  return gantry_library_add (library, DNNL_ARG_SRC, 0, input_begin, c.elements[0], &outer_input, &input, 1, FALSE)
         && gantry_library_add (library, DNNL_ARG_WEIGHTS, 1, weights_begin, c.elements[1], &outer_weights, &weights, c.transposed ? taps : 1,
                                layouts->constant_weights)
         && (!c.bias || c.transposed || gantry_library_add (library, DNNL_ARG_BIAS, 2, cut->channel, c.elements[2], &bias, &bias, 1, FALSE))
         && gantry_library_add (library, DNNL_ARG_DST, c.bias ? 3 : 2, result_begin, c.elements[3], &outer_result, &result, 1, FALSE);
}

/* Gradients of weights */

/* @dims of a tensor of the library whose first two dimensions the program has the other way, which are row-major there. */
static gboolean
exchanged (dnnl_memory_desc_t *md, int rank, const dnnl_dims_t dims)
{
  dnnl_dims_t strides;
  gint64 stride = 1;

  for (int d = rank; d-- > 2;)
    {
      strides[d] = stride;
      stride *= dims[d];
    }
  strides[0] = stride;
  strides[1] = stride * dims[0];
  return gantry_dnnl ()->memory_desc_init_by_strides (md, rank, dims, dnnl_f32, strides) == dnnl_success;
}

/* The convolution of which @c is the gradient of the weights: from @c's input, which has its images where that has channels, to @c's weights,
 * the gradient of what it gives. Its taps are @c's places. Returns: FALSE where its images end before its window does */
static gboolean
forward_of (const Convolution *c, Convolution *forward)
{
  *forward = *c;
  forward->input[0] = c->input[1];
  forward->input[1] = c->input[0];
  forward->result[0] = c->weights[1];
  forward->result[1] = c->weights[0];
  forward->weights[0] = c->result[1];
  forward->weights[1] = c->result[0];
  for (int i = 0; i < c->spatial; i++)
    {
      const gint64 step = c->dilates[i] + 1, dilation = c->strides[i], taps = c->result[2 + i], places = c->weights[2 + i];

      forward->weights[2 + i] = taps;
      forward->result[2 + i] = places;
      forward->strides[i] = step;
      forward->dilates[i] = dilation - 1;
      forward->high[i] = (places - 1) * step + (taps - 1) * dilation + 1 - c->input[2 + i] - c->low[i];
      if (forward->high[i] <= -step)
        return FALSE;
      forward->high[i] = MAX (forward->high[i], 0);
    }
  return TRUE;
}

static dnnl_primitive_desc_t
describe_gradient (GantryLibrary *library, const Convolution *forward, const dnnl_memory_desc_t *any)
{
  dnnl_convolution_desc_t operation;
  dnnl_primitive_desc_t description;
  const char *name;

  if (gantry_dnnl ()->dilated_convolution_backward_weights_desc_init (&operation, dnnl_convolution_direct, &any[0], &any[1], NULL, &any[2], forward->strides,
                                                                      forward->dilates, forward->low, forward->high)
      != dnnl_success)
    return NULL;
  description = create_primitive (library, forward, &operation, FALSE, &name);
  if (description != NULL && strstr (name, "ref") != NULL)
    {
      gantry_dnnl ()->primitive_desc_destroy (description);
      return NULL;
    }
  return description;
}

static gboolean
add_gradient (GantryLibrary *library, const Convolution *c)
{
  const int rank = c->spatial + 2;
  dnnl_memory_desc_t outer[3], any[3], inner[3];
  dnnl_primitive_desc_t description;
  Convolution forward;

  if (!forward_of (c, &forward) || !exchanged (&outer[0], rank, forward.input) || !exchanged (&outer[1], rank, forward.weights)
      || !exchanged (&outer[2], rank, forward.result) || !any_layout (&any[0], rank, forward.input) || !any_layout (&any[1], rank, forward.weights)
      || !any_layout (&any[2], rank, forward.result))
    return FALSE;
  description = describe_gradient (library, &forward, any);
  if (description == NULL)
    return FALSE;
  inner[0] = *gantry_dnnl ()->primitive_desc_query_md (description, dnnl_query_src_md, 0);
  inner[1] = *gantry_dnnl ()->primitive_desc_query_md (description, dnnl_query_diff_weights_md, 0);
  inner[2] = *gantry_dnnl ()->primitive_desc_query_md (description, dnnl_query_diff_dst_md, 0);
  return gantry_library_begin (library, description) && gantry_library_add (library, DNNL_ARG_SRC, 0, 0, c->elements[0], &outer[0], &inner[0], 1, FALSE)
         && gantry_library_add (library, DNNL_ARG_DIFF_DST, 1, 0, c->elements[1], &outer[2], &inner[2], 1, FALSE)
         && gantry_library_add (library, DNNL_ARG_DIFF_WEIGHTS, 2, 0, c->elements[3], &outer[1], &inner[1], 1, FALSE);
}

static GantryLibrary *
make_gradient (const Convolution *c, guint n_threads)
{
  GantryLibrary *library = gantry_library_new (n_threads);

  if (library != NULL && !add_gradient (library, c))
    g_clear_pointer (&library, gantry_library_free);
  return library;
}

/* Cutting */

/* The library takes the input as it lies: tasks need not bring it in each for itself. */
static gboolean
takes_input (GantryLibrary *library, const Convolution *c, const GantryLibraryLayouts *layouts)
{
  dnnl_memory_desc_t outer, any, result;
  dnnl_primitive_desc_t description;
  gboolean takes;

  if (c->elements[0] != GANTRY_F32 || !activations (&outer, c->spatial + 2, c->input, layouts->blocked_input ? layouts->block : 0)
      || !activations (&result, c->spatial + 2, c->result, layouts->blocked_result ? layouts->block : 0) || !any_layout (&any, c->spatial + 2, c->input))
    return FALSE;
  description = describe_primitive (library, c, layouts->blocked_input ? &outer : &any, &result);
  if (description == NULL)
    return FALSE;
  takes = gantry_dnnl ()->memory_desc_equal (&outer, gantry_dnnl ()->primitive_desc_query_md (description, dnnl_query_src_md, 0));
  gantry_dnnl ()->primitive_desc_destroy (description);
  return takes;
}

/* Channels of the result that can be cut off by themselves: whole blocks of whole groups. 0: none */
static gint64
unit_of (const Convolution *c, const GantryLibraryLayouts *layouts)
{
  gint64 width = c->result[1] / c->groups, depth = c->input[1] / c->groups, block = layouts->block;

  if (c->groups == 1)
    return block;
  for (gint64 k = 1; k <= c->groups; k++)
    if ((!layouts->blocked_result || k * width % block == 0) && (!layouts->blocked_input || k * depth % block == 0))
      return k * width;
  return 0;
}

static gint64
whole_units (gint64 n, gint64 parts, gint64 unit)
{
  gint64 size = (n + parts - 1) / parts;

  return MIN (n, (size + unit - 1) / unit * unit);
}

/* Images when there are enough of them, else channels of each image. */
static gboolean
add_pieces (GantryLibrary *library, const Convolution *c, const GantryLibraryLayouts *layouts, gint64 parts)
{
  gint64 images = c->input[0], channels = c->result[1], n_images = images, n_channels = channels;
  gint64 unit = unit_of (c, layouts);

  if (parts > 1 && images >= parts)
    n_images = whole_units (images, parts, 1);
  else if (parts > 1 && unit > 0)
    {
      n_images = 1;
      n_channels = whole_units (channels, (parts + images - 1) / images, MAX (unit, MIN_CHANNELS / unit * unit));
    }
  for (gint64 i = 0; i < images; i += n_images)
    for (gint64 k = 0; k < channels; k += n_channels)
      {
        Cut cut = { i, MIN (n_images, images - i), k, MIN (n_channels, channels - k) };

        if (!add_piece (library, c, layouts, &cut))
          return FALSE;
      }
  return TRUE;
}

static GantryLibrary *
make_library (const Convolution *c, const GantryLibraryLayouts *layouts, guint n_threads, gint64 parts)
{
  GantryLibrary *library = gantry_library_new (parts > 1 ? 1 : n_threads);

  if (library != NULL && ((parts > 1 && !takes_input (library, c, layouts)) || !add_pieces (library, c, layouts, parts)))
    g_clear_pointer (&library, gantry_library_free);
  return library;
}

/* Threads of the library's own for so much work: all, where the others' share takes longer than to wake them. */
static guint
team_of (gint64 flops, guint n_threads)
{
  return (double) flops * (n_threads - 1) > TEAM_FLOPS * n_threads ? n_threads : 1;
}

static gboolean
leaves_border_out (const Convolution *c)
{
  for (int i = 0; i < c->spatial && !c->transposed; i++)
    if (c->high[i] < 0)
      return TRUE;
  return FALSE;
}

GantryMade
gantry_library_make_convolution (const GantryModule *module, const GantryNode *node, const GantryLibraryLayouts *layouts, guint n_threads, GantryKernel *kernel)
{
  Convolution c = { 0 };
  GantryLibrary *library = NULL;

  c.gradient = !layouts->constant_weights && gantry_node_has_large_window (module, node);
  if (gantry_library_is_small_products (module, node) || !describe (module, node, &c))
    return GANTRY_NOT_MINE;
  if (gantry_node_flops (module, node) < CUT_FLOPS)
    n_threads = 1;
  if (c.gradient)
    library = make_gradient (&c, team_of (gantry_node_flops (module, node), n_threads));
  if (library == NULL && leaves_border_out (&c))
    return GANTRY_NOT_MINE;
  if (library == NULL && n_threads > 1)
    library = make_library (&c, layouts, n_threads, 2 * n_threads);
  if (library == NULL)
    library = make_library (&c, layouts, team_of (gantry_node_flops (module, node), n_threads), 1);
  if (library == NULL)
    return GANTRY_NOT_MINE;
  gantry_library_finish (library, node->n_operands + 1, kernel);
  return GANTRY_MADE;
}
