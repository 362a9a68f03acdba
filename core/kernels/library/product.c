/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels are exactly a matrix product that cuBLASLt can do instead: a dot_general, alone or in a fusion with a
 * conversion of its result, whose groups of dimensions lie in memory as rows and columns of dense matrices. */
#include "core/kernels/library/product.h"
#include "core/graph/operation.h"
#include "core/kernels/library/dims-private.h"
#include "core/kernels/program/node-kernel.h"

/* Batching, free and contracting dimensions of an operand. */
static gboolean
group_operand (const GantryType *type, GantryDimList batching, GantryDimList contracting, GantryDimGroup *groups)
{
  for (guint i = 0; i < 3; i++)
    groups[i] = (GantryDimGroup){ 1, 1 };
  for (gsize i = 0; i < batching.n; i++)
    if (!gantry_dim_group_extend (&groups[0], type, batching.ints[i]))
      return FALSE;
  for (guint d = 0; d < type->rank; d++)
    if (!gantry_dim_list_contains (batching, d) && !gantry_dim_list_contains (contracting, d) && !gantry_dim_group_extend (&groups[1], type, d))
      return FALSE;
  for (gsize i = 0; i < contracting.n; i++)
    if (!gantry_dim_group_extend (&groups[2], type, contracting.ints[i]))
      return FALSE;
  return TRUE;
}

/* Are the rows and columns dense: as [rows, columns], or the other way round? */
static gboolean
is_dense (GantryDimGroup rows, GantryDimGroup columns, guint8 *transposed)
{
  *transposed = FALSE;
  if ((columns.size == 1 || columns.stride == 1) && (rows.size == 1 || rows.stride == columns.size))
    return TRUE;
  *transposed = TRUE;
  return (rows.size == 1 || rows.stride == 1) && (columns.size == 1 || columns.stride == rows.size);
}

static gboolean
is_product_element (guint8 element)
{
  return element == GANTRY_F16 || element == GANTRY_BF16 || element == GANTRY_F32;
}

/* @dot: the product; @result: its element type where it is stored. */
static gboolean
describe (const GantryModule *module, const GantryNode *dot, guint8 result, GantryGpuProduct *p)
{
  const GantryType *left = gantry_node_operand_type (module, dot, 0), *right = gantry_node_operand_type (module, dot, 1);
  GantryDimGroup a[3], b[3];

  if (dot->n_operands != 2 || left->element != right->element || !is_product_element (left->element) || !is_product_element (result)
      || !group_operand (left, gantry_dim_list (module, dot, "lhs_batching_dimensions"), gantry_dim_list (module, dot, "lhs_contracting_dimensions"), a)
      || !group_operand (right, gantry_dim_list (module, dot, "rhs_batching_dimensions"), gantry_dim_list (module, dot, "rhs_contracting_dimensions"), b)
      || !is_dense (a[1], a[2], &p->a_transposed) || !is_dense (b[2], b[1], &p->b_transposed) || a[0].size != b[0].size || a[2].size != b[2].size)
    return FALSE;
  p->element = left->element;
  p->result = result;
  p->m = a[1].size;
  p->n = b[1].size;
  p->k = a[2].size;
  p->batch = a[0].size;
  p->a_stride = p->batch > 1 ? a[0].stride : 0;
  p->b_stride = p->batch > 1 ? b[0].stride : 0;
  p->c_stride = p->batch > 1 ? p->m * p->n : 0;
  return p->m > 0 && p->n > 0 && p->k > 0 && p->batch > 0;
}

/* The buffer of the fusion that the operand of a node in its body is. */
static gboolean
find_parameter (const GantryModule *module, const GantryFunction *body, const GantryNode *node, guint i, guint32 *parameter)
{
  guint32 id = gantry_node_operand_id (module, node, i);

  for (guint32 k = 0; k < body->n_params; k++)
    if (module->nodes[body->first_node + k].id == id)
      {
        *parameter = k;
        return TRUE;
      }
  return FALSE;
}

/* A body of a product and perhaps a conversion of it, nothing else. */
static gboolean
describe_fusion (const GantryModule *module, const GantryNode *fusion, GantryGpuProduct *p)
{
  const GantryFunction *body = gantry_node_fusion_body (module, fusion);
  const GantryNode *dot, *last;
  guint32 n_inner;

  if (body == NULL || body->n_results != 1 || body->n_nodes <= body->n_params)
    return FALSE;
  n_inner = body->n_nodes - body->n_params;
  dot = &module->nodes[body->first_node + body->n_params];
  last = &module->nodes[body->first_node + body->n_nodes - 1];
  if (dot->op != GANTRY_OP_DOT_GENERAL || n_inner > 2 || gantry_function_result_id (module, body, 0) != last->id
      || (n_inner == 2 && (last->op != GANTRY_OP_CONVERT || gantry_node_operand_id (module, last, 0) != dot->id)))
    return FALSE;
  return find_parameter (module, body, dot, 0, &p->a) && find_parameter (module, body, dot, 1, &p->b)
         && describe (module, dot, gantry_node_type (module, last)->element, p);
}

GantryGpuProduct *
gantry_product_of (const GantryModule *module, const GantryNode *node)
{
  GantryGpuProduct product = { .a = 0, .b = 1, .c = node->n_operands };
  gboolean found = FALSE;

  if (node->op == GANTRY_OP_DOT_GENERAL)
    found = describe (module, node, gantry_node_type (module, node)->element, &product);
  else if (node->op == GANTRY_OP_FUSION)
    found = describe_fusion (module, node, &product);
  return found ? g_memdup2 (&product, sizeof product) : NULL;
}
