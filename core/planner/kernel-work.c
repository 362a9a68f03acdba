/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the work of a node by kind, with that of the bodies of fusions and calls. A loop or branch has none here: its body is planned by itself. */
#include "core/planner/kernel-work.h"
#include <string.h>

/* As in core/graph/op-cost.c: costs are asked of modules that the verifier has not seen. */
#define MAX_DEPTH 64

const char *
gantry_work_name (GantryWorkKind work)
{
  static const char *const names[] = {
    [GANTRY_WORK_BYTES] = "bytes",
    [GANTRY_WORK_SIMPLE] = "simple",
    [GANTRY_WORK_DIVISION] = "division",
    [GANTRY_WORK_EXPONENTIAL] = "exponential",
    [GANTRY_WORK_FUNCTION] = "function",
    [GANTRY_WORK_NARROW] = "narrow",
    [GANTRY_WORK_ROWS] = "rows",
    [GANTRY_WORK_REDUCTION] = "reduction",
    [GANTRY_WORK_REDUCTION_ACROSS] = "reduction_across",
    [GANTRY_WORK_WINDOW] = "window",
    [GANTRY_WORK_WINDOW_PADDED] = "window_padded",
    [GANTRY_WORK_TRANSPOSITION] = "transposition",
    [GANTRY_WORK_STRIDED] = "strided",
    [GANTRY_WORK_ORDER] = "order",
    [GANTRY_WORK_PRODUCT_F32] = "product_f32",
    [GANTRY_WORK_PRODUCT_THIN] = "product_thin",
    [GANTRY_WORK_PRODUCT_F64] = "product_f64",
    [GANTRY_WORK_PRODUCT_F16] = "product_f16",
    [GANTRY_WORK_PRODUCT_INT] = "product_int",
    [GANTRY_WORK_CONVOLUTION] = "convolution",
    [GANTRY_WORK_CONVOLUTION_PLAIN] = "convolution_plain",
    [GANTRY_WORK_CONVOLUTION_FREE] = "convolution_free",
    [GANTRY_WORK_CONVOLUTION_FREE_PLAIN] = "convolution_free_plain",
    [GANTRY_WORK_CONVOLUTION_POINT] = "convolution_point",
    [GANTRY_WORK_CONVOLUTION_POINT_PLAIN] = "convolution_point_plain",
    [GANTRY_WORK_CONVOLUTION_POINT_FREE] = "convolution_point_free",
    [GANTRY_WORK_CONVOLUTION_POINT_FREE_PLAIN] = "convolution_point_free_plain",
    [GANTRY_WORK_CONVOLUTION_WEIGHTS] = "convolution_weights",
    [GANTRY_WORK_CONVOLUTION_DEPTH] = "convolution_depth",
    [GANTRY_WORK_CONVOLUTION_DEPTH_PLAIN] = "convolution_depth_plain",
  };

  return names[work];
}

static void add_node (const GantryModule *module, const GantryNode *node, guint depth, double *work);

static void
add_body (const GantryModule *module, const GantryNode *node, const char *key, guint depth, double *work)
{
  const GantryAttr *attr = gantry_attrs_find (module->context, node->attrs, key);
  const GantryFunction *body = attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION && depth < MAX_DEPTH ? gantry_module_function (module, attr->id) : NULL;

  for (guint32 i = 0; body != NULL && i < body->n_nodes; i++)
    add_node (module, &module->nodes[body->first_node + i], depth + 1, work);
}

static double
elements_of (const GantryType *type)
{
  gint64 n = type->kind == GANTRY_TYPE_TUPLE ? -1 : gantry_type_elements (type);

  return n > 0 ? (double) n : 0;
}

/* Each element of the larger operand is used for so few results that it is not worth while to bring it into another order. */
#define THIN 4.0

static gboolean
is_thin (const GantryModule *module, const GantryNode *node, double flops)
{
  double larger = MAX (elements_of (gantry_node_operand_type (module, node, 0)), elements_of (gantry_node_operand_type (module, node, 1)));

  return flops < 2 * THIN * larger;
}

static GantryWorkKind
product_kind (const GantryModule *module, const GantryNode *node, double flops)
{
  GantryElementType element = (GantryElementType) gantry_node_operand_type (module, node, 0)->element;

  switch (element)
    {
    case GANTRY_F32: return is_thin (module, node, flops) ? GANTRY_WORK_PRODUCT_THIN : GANTRY_WORK_PRODUCT_F32;
    case GANTRY_F16:
    case GANTRY_BF16: return GANTRY_WORK_PRODUCT_F16;
    default: return gantry_element_is_float (element) ? GANTRY_WORK_PRODUCT_F64 : GANTRY_WORK_PRODUCT_INT;
    }
}

static gboolean
is_along_last (const GantryModule *module, const GantryNode *node)
{
  gsize n;
  const gint64 *dimensions = gantry_attrs_ints (module->context, node->attrs, "dimensions", &n);

  return n > 0 && dimensions[n - 1] == (gint64) gantry_node_operand_type (module, node, 0)->rank - 1;
}

/* Elements beside each other in @type from dimension @d on. */
static double
inner_elements (const GantryType *type, gint64 d)
{
  double n = 1;

  for (gint64 i = type->rank - 1; i >= d; i--)
    n *= (double) type->dims[i];
  return n;
}

/* Whether dimension @d of the operand has one element. */
static gboolean
is_one (const GantryType *to, const gint64 *permutation, gint64 d)
{
  for (guint i = 0; i < to->rank; i++)
    if (permutation[i] == d)
      return to->dims[i] == 1;
  return FALSE;
}

/* Of a transposition: dimensions that are last before and after, those of one element anywhere. */
static double
kept_run (const GantryType *to, const gint64 *permutation)
{
  gint64 last = to->rank - 1;
  double run = 1;

  for (gint64 d = to->rank - 1; d >= 0; d--)
    {
      if (to->dims[d] == 1)
        continue;
      while (last > permutation[d] && is_one (to, permutation, last))
        last--;
      if (permutation[d] != last)
        break;
      run *= (double) to->dims[d];
      last--;
    }
  return run;
}

/* Dimensions from the last on of which both have all, and one more. */
static double
common_run (const GantryType *a, const GantryType *b)
{
  double run = 1;

  for (gint64 d = MIN (a->rank, b->rank) - 1; d >= 0; d--)
    {
      run *= (double) MIN (a->dims[d], b->dims[d]);
      if (a->dims[d] != b->dims[d])
        break;
    }
  return run;
}

/* What a movement writes: of an update, which is in place, that alone. */
static const GantryType *
moved_type (const GantryModule *module, const GantryNode *node)
{
  return node->op == GANTRY_OP_DYNAMIC_UPDATE_SLICE ? gantry_node_operand_type (module, node, 1) : gantry_node_type (module, node);
}

/* How many elements lie beside each other in the operand and in the result of a movement. */
static double
run_of (const GantryModule *module, const GantryNode *node)
{
  const GantryType *to = gantry_node_type (module, node), *from = gantry_node_operand_type (module, node, 0);
  const gint64 *dims;
  gsize n;

  switch (node->op)
    {
    case GANTRY_OP_TRANSPOSE: dims = gantry_attrs_ints (module->context, node->attrs, "permutation", &n); return n == to->rank ? kept_run (to, dims) : 1;
    case GANTRY_OP_GATHER: dims = gantry_attrs_ints (module->context, node->attrs, "slice_sizes", &n); return n > 0 ? (double) dims[n - 1] : 1;
    case GANTRY_OP_REVERSE:
      dims = gantry_attrs_ints (module->context, node->attrs, "dimensions", &n);
      return n > 0 ? inner_elements (to, dims[n - 1] + 1) : inner_elements (to, 0);
    case GANTRY_OP_DYNAMIC_UPDATE_SLICE: from = moved_type (module, node); G_GNUC_FALLTHROUGH;
    default: return from->kind == GANTRY_TYPE_TENSOR && to->kind == GANTRY_TYPE_TENSOR ? common_run (from, to) : 1;
    }
}

/* Neighbours in memory are no neighbours in the other array. */
static gboolean
is_strided (const GantryModule *module, const GantryNode *node)
{
  const char *key = node->op == GANTRY_OP_SLICE ? "strides" : node->op == GANTRY_OP_PAD ? "interior_padding" : NULL;
  gint64 usual = node->op == GANTRY_OP_SLICE ? 1 : 0;
  gsize n = 0;
  const gint64 *steps = key != NULL ? gantry_attrs_ints (module->context, node->attrs, key, &n) : NULL;

  return n > 0 && steps[n - 1] != usual;
}

static void
add_movement (const GantryModule *module, const GantryNode *node, double *work)
{
  double elements = elements_of (moved_type (module, node)), run = run_of (module, node);

  if (is_strided (module, node))
    work[GANTRY_WORK_STRIDED] += elements;
  else if (run <= 1)
    work[GANTRY_WORK_TRANSPOSITION] += elements;
  else
    {
      work[GANTRY_WORK_ROWS] += elements / run;
      work[GANTRY_WORK_SIMPLE] += elements;
    }
}

/* Weights are scaled by what a normalization has, and no more is done to them. */
#define MOST_STEPS_TO_LITERAL 8

/* Made of literals alone, which are brought into the library's order once. */
static gboolean
is_constant (const GantryModule *module, const GantryNode *node, guint depth)
{
  if (node == NULL || node->op == GANTRY_OP_CONSTANT)
    return node != NULL;
  if (node->n_operands == 0 || depth == 0 || !gantry_op_is_load_time (node->op))
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (!is_constant (module, gantry_node_operand (module, node, i), depth - 1))
      return FALSE;
  return TRUE;
}

/* Channels that fill registers of 512 bits, which are the widest that oneDNN blocks by; of an image, whose channels are few, those of the result alone. */
#define BLOCK 16
#define FEW_CHANNELS 4

static gboolean
is_point (const GantryType *weights)
{
  for (guint d = 2; d < weights->rank; d++)
    if (weights->dims[d] != 1)
      return FALSE;
  return TRUE;
}

static GantryWorkKind
convolution_work (const GantryModule *module, const GantryNode *node)
{
  const GantryType *weights = gantry_node_operand_type (module, node, 1);
  gint64 groups = gantry_attrs_int (module->context, node->attrs, "feature_group_count", 1), in, out;
  gboolean constant = is_constant (module, gantry_node_operand (module, node, 1), MOST_STEPS_TO_LITERAL), full;

  if (weights->rank < 2)
    return GANTRY_WORK_CONVOLUTION_PLAIN;
  in = weights->dims[1];
  out = weights->dims[0];
  full = weights->element == GANTRY_F32 && groups == 1 && out % BLOCK == 0 && (in % BLOCK == 0 || (constant && in <= FEW_CHANNELS));
  if (groups > 1 && in == 1 && weights->element == GANTRY_F32)
    return constant && out % BLOCK == 0 ? GANTRY_WORK_CONVOLUTION_DEPTH : GANTRY_WORK_CONVOLUTION_DEPTH_PLAIN;
  if (!constant && gantry_node_has_large_window (module, node))
    return GANTRY_WORK_CONVOLUTION_WEIGHTS;
  return (is_point (weights) ? GANTRY_WORK_CONVOLUTION_POINT : GANTRY_WORK_CONVOLUTION)
         + (constant ? 0 : GANTRY_WORK_CONVOLUTION_FREE - GANTRY_WORK_CONVOLUTION) + (full ? 0 : GANTRY_WORK_CONVOLUTION_PLAIN - GANTRY_WORK_CONVOLUTION);
}

static gboolean
has_padding (const GantryModule *module, const GantryNode *node)
{
  gsize n;
  const gint64 *padding = gantry_attrs_ints (module->context, node->attrs, "padding", &n);

  for (gsize i = 0; i < n; i++)
    if (padding[i] != 0)
      return TRUE;
  return FALSE;
}

static GantryWorkKind
elementwise_work (guint op)
{
  const GantryOpInfo *info = gantry_op_info (op);

  if (op == GANTRY_OP_EXPONENTIAL || op == GANTRY_OP_LOG || op == GANTRY_OP_POWER)
    return GANTRY_WORK_EXPONENTIAL;
  if (info->flags & GANTRY_OP_LONG)
    return GANTRY_WORK_FUNCTION;
  return (info->flags & GANTRY_OP_TRANSCENDENTAL) || op == GANTRY_OP_DIVIDE ? GANTRY_WORK_DIVISION : GANTRY_WORK_SIMPLE;
}

static double
narrow_elements (const GantryType *type)
{
  return gantry_element_is_float ((GantryElementType) type->element) && gantry_element_size ((GantryElementType) type->element) == 2 ? elements_of (type) : 0;
}

/* Of what @node reads and writes. */
static double
all_narrow (const GantryModule *module, const GantryNode *node)
{
  guint first = gantry_op_reads_part (node->op) ? 1 : 0;
  double n = narrow_elements (gantry_node_type (module, node)) > 0 ? (double) MAX (gantry_node_written_bytes (module, node), 0) / 2 : 0;

  if (first > 0 && node->op != GANTRY_OP_DYNAMIC_UPDATE_SLICE)
    n *= 2;
  for (guint i = first; i < node->n_operands; i++)
    n += narrow_elements (gantry_node_operand_type (module, node, i));
  return n;
}

/* Elements of 64 bits are half as many of a register; those of 16 are widened. */
static double
wide (const GantryType *type, double elements)
{
  return elements * MAX ((double) gantry_element_size ((GantryElementType) type->element) / 4, 1);
}

static void
add_node (const GantryModule *module, const GantryNode *node, guint depth, double *work)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryType *type = gantry_node_type (module, node);
  double flops = (double) MAX (gantry_node_flops (module, node), 0);

  if (info == NULL || (info->flags & (GANTRY_OP_STRUCTURE | GANTRY_OP_VIEW)))
    return;
  switch (node->op)
    {
    case GANTRY_OP_FUSION:
    case GANTRY_OP_CALL: add_body (module, node, "body", depth, work); break;
    case GANTRY_OP_DOT_GENERAL: work[product_kind (module, node, flops)] += flops; break;
    case GANTRY_OP_CONVOLUTION: work[convolution_work (module, node)] += flops; break;
    case GANTRY_OP_REDUCE:
      work[is_along_last (module, node) ? GANTRY_WORK_REDUCTION : GANTRY_WORK_REDUCTION_ACROSS] += wide (gantry_node_operand_type (module, node, 0), flops);
      break;
    case GANTRY_OP_REDUCE_WINDOW: work[has_padding (module, node) ? GANTRY_WORK_WINDOW_PADDED : GANTRY_WORK_WINDOW] += wide (type, flops); break;
    case GANTRY_OP_SORT:
    case GANTRY_OP_SCATTER:
    case GANTRY_OP_RNG_BIT_GENERATOR: work[GANTRY_WORK_ORDER] += MAX (flops, elements_of (type)); break;
    case GANTRY_OP_IOTA:
    case GANTRY_OP_BROADCAST_IN_DIM: break; /* of addresses alone */
    default:
      if (info->op_class == GANTRY_CLASS_ELEMENTWISE)
        work[elementwise_work (node->op)] += wide (type, elements_of (type));
      else if (info->op_class == GANTRY_CLASS_MOVEMENT)
        add_movement (module, node, work);
    }
}

void
gantry_node_work (const GantryModule *module, const GantryNode *node, double *work)
{
  memset (work, 0, GANTRY_N_WORKS * sizeof *work);
  add_node (module, node, 0, work);
  work[GANTRY_WORK_BYTES] = (double) MAX (gantry_node_bytes (module, node), 0);
  if (work[GANTRY_WORK_BYTES] > 0)
    {
      work[GANTRY_WORK_BYTES] += (GANTRY_WRITE_TRAFFIC - 1) * (double) MAX (gantry_node_written_bytes (module, node), 0);
      work[GANTRY_WORK_NARROW] = all_narrow (module, node);
    }
}
