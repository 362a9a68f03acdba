/* SPDX-License-Identifier: Apache-2.0 */
/* dot_general as a batched matrix product. The dimensions of each operand fall into batching, free and
 * contracting ones; where a group lies in memory like one dimension it is one row, column or depth, so that
 * transposed operands are read as they are. */
#include "core/kernels/library/dims-private.h"
#include "core/graph/operation.h"
#include "core/kernels/library/library.h"
#include <string.h>

/* About what generated code does in the time of a call. */
#define SMALL_FLOPS 32768
/* From here on the threads share a product. */
#define CUT_FLOPS 2000000

/* The free dimensions in order, the contracting ones in the order of the attribute. */
static gboolean
group_operand (const GantryType *type, GantryDimList batching, GantryDimList contracting, GantryDimGroup *free_group, GantryDimGroup *depth)
{
  *free_group = *depth = (GantryDimGroup){ 1, 1 };
  for (guint d = 0; d < type->rank; d++)
    if (!gantry_dim_list_contains (batching, d) && !gantry_dim_list_contains (contracting, d) && !gantry_dim_group_extend (free_group, type, d))
      return FALSE;
  for (gsize i = 0; i < contracting.n; i++)
    if (!gantry_dim_group_extend (depth, type, contracting.ints[i]))
      return FALSE;
  return TRUE;
}

typedef struct
{
  int rank;
  dnnl_dims_t left, right, result;
  dnnl_dims_t left_strides, right_strides, result_strides;
} Product;

static gboolean
describe_product (const GantryModule *module, const GantryNode *node, Product *p)
{
  const GantryType *left = gantry_node_operand_type (module, node, 0);
  const GantryType *right = gantry_node_operand_type (module, node, 1);
  GantryDimList left_batch = gantry_dim_list (module, node, "lhs_batching_dimensions");
  GantryDimList right_batch = gantry_dim_list (module, node, "rhs_batching_dimensions");
  GantryDimGroup m, n, k, right_k;
  gint64 result_stride;
  guint b = 0;

  if (!group_operand (left, left_batch, gantry_dim_list (module, node, "lhs_contracting_dimensions"), &m, &k)
      || !group_operand (right, right_batch, gantry_dim_list (module, node, "rhs_contracting_dimensions"), &n, &right_k) || k.size != right_k.size
      || left_batch.n + 2 > DNNL_MAX_NDIMS)
    return FALSE;
  for (gsize i = 0; i < left_batch.n; i++, b++)
    {
      p->left[b] = p->right[b] = p->result[b] = left->dims[left_batch.ints[i]];
      p->left_strides[b] = gantry_dim_stride (left, (guint) left_batch.ints[i]);
      p->right_strides[b] = gantry_dim_stride (right, (guint) right_batch.ints[i]);
    }
  result_stride = m.size * n.size;
  for (guint i = b; i-- > 0;)
    {
      p->result_strides[i] = result_stride;
      result_stride *= p->result[i];
    }
  p->rank = (int) b + 2;
  p->left[b] = p->result[b] = m.size;
  p->left[b + 1] = p->right[b] = k.size;
  p->right[b + 1] = p->result[b + 1] = n.size;
  /* A dimension of one element lies anywhere: say where it does least harm. */
  p->left_strides[b] = m.size > 1 ? m.stride : k.size * k.stride;
  p->left_strides[b + 1] = k.size > 1 ? k.stride : 1;
  p->right_strides[b] = k.size > 1 ? right_k.stride : n.size;
  p->right_strides[b + 1] = n.size > 1 ? n.stride : 1;
  p->result_strides[b] = n.size;
  p->result_strides[b + 1] = 1;
  return TRUE;
}

/* Returns: NULL when the library has only its reference implementation for it. */
static dnnl_primitive_desc_t
describe_primitive (GantryLibrary *library, const dnnl_memory_desc_t *mds)
{
  dnnl_matmul_desc_t operation;
  dnnl_primitive_attr_t attributes;
  dnnl_primitive_desc_t description = NULL;
  const char *name = "ref";

  if (gantry_dnnl ()->matmul_desc_init (&operation, &mds[0], &mds[1], NULL, &mds[2]) != dnnl_success
      || gantry_dnnl ()->primitive_attr_create (&attributes) != dnnl_success)
    return NULL;
  gantry_dnnl ()->primitive_attr_set_scratchpad_mode (attributes, dnnl_scratchpad_mode_user);
  if (gantry_dnnl ()->primitive_desc_create (&description, &operation, attributes, gantry_library_engine (library), NULL) != dnnl_success)
    description = NULL;
  gantry_dnnl ()->primitive_attr_destroy (attributes);
  if (description != NULL)
    gantry_dnnl ()->primitive_desc_query (description, dnnl_query_impl_info_str, 0, &name);
  if (description != NULL && g_str_has_prefix (name, "ref"))
    {
      gantry_dnnl ()->primitive_desc_destroy (description);
      return NULL;
    }
  return description;
}

/* A part of the product: batches [batch, ..), rows [row, ..), columns [column, ..). */
typedef struct
{
  gint64 batch, n_batch;
  gint64 row, n_rows;
  gint64 column, n_columns;
} Cut;

static gboolean
add_piece (GantryLibrary *library, const GantryModule *module, const GantryNode *node, const Product *p, const Cut *cut, gboolean constant_weights)
{
  Product q = *p;
  dnnl_memory_desc_t mds[3];
  dnnl_primitive_desc_t description;
  int m = p->rank - 2, n = p->rank - 1;
  gint64 left = cut->row * p->left_strides[m], right = cut->column * p->right_strides[n];
  gint64 result = cut->row * p->result_strides[m] + cut->column * p->result_strides[n];
  GantryElementType types[3];

  q.left[m] = q.result[m] = cut->n_rows;
  q.right[n] = q.result[n] = cut->n_columns;
  if (p->rank > 2)
    {
      q.left[0] = q.right[0] = q.result[0] = cut->n_batch;
      left += cut->batch * p->left_strides[0];
      right += cut->batch * p->right_strides[0];
      result += cut->batch * p->result_strides[0];
    }
  for (guint i = 0; i < 3; i++)
    types[i] = i < 2 ? gantry_node_operand_type (module, node, i)->element : gantry_node_type (module, node)->element;
  if (gantry_dnnl ()->memory_desc_init_by_strides (&mds[0], q.rank, q.left, dnnl_f32, q.left_strides) != dnnl_success
      || gantry_dnnl ()->memory_desc_init_by_strides (&mds[1], q.rank, q.right, dnnl_f32, q.right_strides) != dnnl_success
      || gantry_dnnl ()->memory_desc_init_by_strides (&mds[2], q.rank, q.result, dnnl_f32, q.result_strides) != dnnl_success)
    return FALSE;
  description = describe_primitive (library, mds);
  return description != NULL && gantry_library_begin (library, description)
         && gantry_library_add (library, DNNL_ARG_SRC, 0, left, types[0], &mds[0], &mds[0], 1, FALSE)
         && gantry_library_add (library, DNNL_ARG_WEIGHTS, 1, right, types[1], &mds[1], &mds[1], 1, constant_weights)
         && gantry_library_add (library, DNNL_ARG_DST, 2, result, types[2], &mds[2], &mds[2], 1, FALSE);
}

/* Equal parts of @n in multiples of @unit, as near to @parts as that goes. */
static gint64
part_of (gint64 n, gint64 parts, gint64 unit)
{
  gint64 size = (n + parts - 1) / parts;

  return MIN (n, (size + unit - 1) / unit * unit);
}

/* Converted operands are converted whole. */
static gboolean
can_cut (const GantryModule *module, const GantryNode *node)
{
  for (guint i = 0; i < 2; i++)
    if (gantry_node_operand_type (module, node, i)->element != GANTRY_F32)
      return FALSE;
  return gantry_node_type (module, node)->element == GANTRY_F32;
}

/* Cuts the batch, or the longer side of the result. */
static gboolean
add_pieces (GantryLibrary *library, const GantryModule *module, const GantryNode *node, const Product *p, gint64 parts, gboolean constant_weights)
{
  gint64 n_batch = p->rank > 2 ? p->left[0] : 1, rows = p->left[p->rank - 2], columns = p->right[p->rank - 1];
  gint64 size[3] = { n_batch, rows, columns };

  if (parts > 1 && n_batch >= parts)
    size[0] = part_of (n_batch, parts, 1);
  else if (parts > 1 && rows >= columns)
    size[1] = part_of (rows, parts, 48);
  else if (parts > 1)
    size[2] = part_of (columns, parts, 48);
  for (gint64 b = 0; b < n_batch; b += size[0])
    for (gint64 r = 0; r < rows; r += size[1])
      for (gint64 c = 0; c < columns; c += size[2])
        {
          Cut cut = { b, MIN (size[0], n_batch - b), r, MIN (size[1], rows - r), c, MIN (size[2], columns - c) };

          if (!add_piece (library, module, node, p, &cut, constant_weights))
            return FALSE;
        }
  return TRUE;
}

GantryMade
gantry_library_make_dot (const GantryModule *module, const GantryNode *node, guint n_threads, const GantryLibraryLayouts *layouts, GantryKernel *kernel)
{
  Product p = { 0 };
  GantryLibrary *library;
  gint64 parts;

  if (gantry_node_flops (module, node) < CUT_FLOPS)
    n_threads = 1;
  parts = n_threads > 1 && can_cut (module, node) ? 2 * n_threads : 1;
  /* A call of the library costs more than a small product by itself. */
  if (gantry_node_flops (module, node) < SMALL_FLOPS || !describe_product (module, node, &p))
    return GANTRY_NOT_MINE;
  library = gantry_library_new (parts > 1 ? 1 : n_threads);
  if (library == NULL)
    return GANTRY_NOT_MINE;
  if (!add_pieces (library, module, node, &p, parts, layouts->constant_weights))
    {
      gantry_library_free (library);
      return GANTRY_NOT_MINE;
    }
  gantry_library_finish (library, 3, kernel);
  return GANTRY_MADE;
}
