/* SPDX-License-Identifier: Apache-2.0 */
/* simplify: running sums, products and extremes of long axes, by blocks. */
#include "core/expr/scalar.h"
#include "core/graph/builder-composite.h"
#include "core/graph/op-attributes.h"
#include "core/passes/simplify-private.h"

/* Elements of a block: below twice as many, one window is as good. */
#define BLOCK 32

typedef struct
{
  GantryBuilder *b;
  const char *kind;
  GantryOp op;
  guint axis;
  gboolean reverse; /* from each element to the end */
} Running;

static guint32
identity_of (const Running *r, GantryElementType element)
{
  GantryScalar identity;

  if (!gantry_scalar_identity (r->op, element, &identity))
    return 0;
  return gantry_element_is_float (element) ? gantry_builder_scalar (r->b, element, identity.f) : gantry_builder_int_scalar (r->b, element, identity.i);
}

/* @low elements of the identity in front of the axis and @high behind it; negative: so many are cut off. */
static guint32
pad (const Running *r, guint32 x, gint64 low, gint64 high)
{
  gint64 lows[GANTRY_MAX_RANK] = { 0 }, highs[GANTRY_MAX_RANK] = { 0 };

  lows[r->axis] = low;
  highs[r->axis] = high;
  return gantry_builder_pad_if_any (r->b, x, identity_of (r, (GantryElementType) gantry_builder_get_type (r->b, x)->element), lows, highs, NULL);
}

/* One window as long as the axis. */
static guint32
window (const Running *r, guint32 x)
{
  const GantryType *type = gantry_builder_get_type (r->b, x);
  gint64 sizes[GANTRY_MAX_RANK], padding[2 * GANTRY_MAX_RANK] = { 0 };
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (r->b));

  for (guint i = 0; i < type->rank; i++)
    sizes[i] = i == r->axis ? type->dims[i] : 1;
  padding[2 * r->axis + r->reverse] = type->dims[r->axis] - 1;
  gantry_attr_list_set_string (attrs, "kind", r->kind);
  gantry_attr_list_set_ints (attrs, "window_dimensions", sizes, type->rank);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * type->rank);
  return gantry_builder_add (r->b, GANTRY_OP_REDUCE_WINDOW, &x, 1, gantry_attr_list_end (attrs));
}

/* Each block by itself, and what is in front of it (behind it, where it is the reverse) from the totals of the blocks, which run likewise.
 * An axis of n elements takes about 32 n operations, n / 32 of which are again split. */
static guint32
run (const Running *r, guint32 x)
{
  const GantryType *type = gantry_builder_get_type (r->b, x);
  gint64 n = type->dims[r->axis], n_blocks = (n + BLOCK - 1) / BLOCK;
  Running in_block = *r;
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = type->rank;
  guint32 blocks, totals, y;

  if (n <= 2 * BLOCK)
    return window (r, x);
  in_block.axis = r->axis + 1;
  for (guint i = 0; i < rank + 1; i++)
    dims[i] = i < r->axis ? type->dims[i] : i == r->axis ? n_blocks : i == r->axis + 1 ? BLOCK : type->dims[i - 1];
  x = pad (r, x, 0, n_blocks * BLOCK - n);
  blocks = window (&in_block, gantry_builder_reshape (r->b, x, rank + 1, dims));
  totals = r->reverse ? gantry_builder_slice_axis (r->b, blocks, in_block.axis, 0, 1, 1)
                      : gantry_builder_slice_axis (r->b, blocks, in_block.axis, BLOCK - 1, BLOCK, 1);
  totals = run (r, r->reverse ? pad (r, totals, -1, 1) : pad (r, totals, 1, -1));
  y = gantry_builder_binary_broadcast (r->b, r->op, blocks, totals);
  dims[r->axis] = n_blocks * BLOCK;
  for (guint i = r->axis + 1; i < rank; i++)
    dims[i] = dims[i + 1];
  return gantry_builder_slice_axis (r->b, gantry_builder_reshape (r->b, y, rank, dims), r->axis, 0, n, 1);
}

guint32
_gantry_simplify_running (GantryBuilder *b, const GantryNode *node, guint32 x)
{
  GantryContext *context = gantry_builder_context (b);
  const GantryType *type = gantry_builder_get_type (b, x);
  const char *kind = gantry_attrs_string (context, node->attrs, "kind", "add");
  Running running = { .b = b, .kind = kind, .op = gantry_reduction_op (kind) };
  GantryWindow windows[GANTRY_MAX_RANK];
  gint axis;

  if (!gantry_type_is_static (type) || type->rank == 0 || type->rank == GANTRY_MAX_RANK || type->element == GANTRY_BOOL)
    return 0;
  gantry_op_windows (context, node->attrs, GANTRY_OP_REDUCE_WINDOW, type->rank, windows);
  axis = gantry_op_running_axis (windows, type, &running.reverse);
  if (axis < 0 || type->dims[axis] <= 2 * BLOCK)
    return 0;
  running.axis = (guint) axis;
  return gantry_builder_convert (b, run (&running, gantry_builder_widen (b, x)), (GantryElementType) type->element);
}
