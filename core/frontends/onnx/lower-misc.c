/* SPDX-License-Identifier: Apache-2.0 */
/* Operations whose result's extent depends on data: lowered where the data is constant, or where
 * the model declares the extent. And optional values, of which only present and absent tensors
 * exist here. */
#include "core/frontends/onnx/onnx-lower.h"

/* Positions along @axis where the condition holds, when the model declares how many there are: a
 * stable sort brings them to the front. */
static guint32
positions_of_true (GantryLower *l, guint32 condition, gint64 n)
{
  GantryDim dim = gantry_lower_dim (l, condition, 0);
  GantryAttrList *attrs = gantry_lower_attrs (l);
  guint32 key = gantry_builder_convert (l->b, gantry_lower_unary (l, GANTRY_OP_NOT, condition), GANTRY_I32);
  guint32 sorted;

  gantry_attr_list_set_int (attrs, "dimension", 0);
  gantry_attr_list_set_int (attrs, "descending", FALSE);
  gantry_attr_list_set_int (attrs, "stable", TRUE);
  sorted = gantry_lower_add (l, GANTRY_OP_SORT, attrs, 2, key, gantry_builder_iota (l->b, GANTRY_I64, 1, &dim, 0));
  if (sorted == 0)
    return 0;
  return gantry_builder_slice_axis (l->b, gantry_builder_result (l->b, sorted, 1), 0, 0, n, 1);
}

/* The slices of x where the condition is true; without an axis x is flat. A condition that is not known needs a declared type of the result. */
static void
compress (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 condition = gantry_lower_operand (l, 1);
  GantryDim total = gantry_type_elements (gantry_lower_type (l, x));
  const GantryType *declared = gantry_lower_declared (l, 0);
  gint64 *indices;
  gint64 axis = 0, n = 0;
  gint64 *known;
  gsize n_known;

  if (!gantry_lower_check_rank (l, 1, 1, 1))
    return;
  if (gantry_lower_has_attr (l, "axis"))
    axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", 0), gantry_lower_rank (l, x));
  else
    x = gantry_builder_reshape (l->b, x, 1, &total);
  if (axis < 0)
    return;
  if (gantry_lower_dim (l, condition, 0) > gantry_lower_dim (l, x, axis))
    {
      gantry_lower_invalid (l, "the condition is longer than the axis");
      return;
    }
  known = gantry_lower_known_ints (l, condition, &n_known);
  if (known == NULL)
    {
      if (declared == NULL || declared->rank != gantry_lower_rank (l, x) || declared->dims[axis] > gantry_lower_dim (l, condition, 0))
        gantry_lower_needs_constant (l, condition, "condition");
      else
        l->out[0] = gantry_builder_take (l->b, x, axis, positions_of_true (l, condition, declared->dims[axis]));
      return;
    }
  indices = gantry_arena_new0 (l->arena, gint64, n_known + 1);
  for (gsize i = 0; i < n_known; i++)
    if (known[i] != 0)
      indices[n++] = (gint64) i;
  l->out[0] = gantry_lower_take (l, x, axis, indices, n);
}

/* The coordinates of what is not zero, [rank, count]. */
static void
non_zero (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);
  gsize n;
  double *known = gantry_lower_known_doubles (l, x, &n);
  const GantryType *declared = gantry_lower_declared (l, 0);
  gint64 *coordinates;
  gint64 count = 0, at = 0;

  if (known == NULL && rank == 1 && declared != NULL && declared->rank == 2 && declared->dims[1] <= dims[0])
    {
      guint32 holds = gantry_builder_compare (l->b, "NE", x, gantry_builder_like (l->b, x, 0));

      l->out[0] = gantry_builder_reshape (l->b, positions_of_true (l, holds, declared->dims[1]), 2, declared->dims);
      return;
    }
  if (known == NULL)
    {
      gantry_lower_needs_constant (l, x, "data");
      return;
    }
  for (gsize i = 0; i < n; i++)
    count += known[i] != 0;
  coordinates = gantry_arena_new0 (l->arena, gint64, count * rank + 1);
  for (gsize i = 0; i < n; i++)
    if (known[i] != 0)
      {
        gint64 rest = (gint64) i;

        for (gint k = (gint) rank - 1; k >= 0; k--)
          {
            coordinates[k * count + at] = rest % dims[k];
            rest /= dims[k];
          }
        at++;
      }
  l->out[0] = gantry_builder_reshape (l->b, gantry_builder_ints (l->b, coordinates, count * rank), 2, (GantryDim[]){ rank, count });
}

typedef struct
{
  double value;
  gint64 first;
  gint64 count;
} Distinct;

static int
compare_distinct (gconstpointer a, gconstpointer b)
{
  const Distinct *x = a, *y = b;

  return x->value != y->value ? (x->value < y->value ? -1 : 1) : (x->first < y->first ? -1 : x->first > y->first);
}

/* Constant data only, of one dimension or flat; values of 64 bit integers beyond 2^53 are refused.
 * */
static void
unique (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gboolean sorted = gantry_lower_int (l, "sorted", 1) != 0;
  gsize n;
  double *values = gantry_lower_known_doubles (l, x, &n);
  Distinct *all;
  gint64 *first, *inverse, *counts;
  double *distinct;
  gint64 n_distinct = 0;

  if (values == NULL)
    {
      gantry_lower_needs_constant (l, x, "data");
      return;
    }
  if ((gantry_lower_has_attr (l, "axis") && gantry_lower_rank (l, x) != 1) || n > 65536)
    {
      gantry_lower_fail (l, "only of one dimension and up to 65536 elements");
      return;
    }
  all = gantry_arena_new0 (l->arena, Distinct, n + 1);
  inverse = gantry_arena_new0 (l->arena, gint64, n + 1);
  for (gsize i = 0; i < n; i++)
    {
      if (values[i] != values[i] || fabs (values[i]) > 9007199254740992.0)
        {
          gantry_lower_fail (l, "a value is not a number or too large");
          return;
        }
      all[i] = (Distinct){ values[i], (gint64) i, 0 };
    }
  qsort (all, n, sizeof *all, compare_distinct);
  first = gantry_arena_new0 (l->arena, gint64, n + 1);
  counts = gantry_arena_new0 (l->arena, gint64, n + 1);
  distinct = gantry_arena_new0 (l->arena, double, n + 1);
  for (gsize i = 0; i < n; i++)
    {
      if (i == 0 || all[i].value != all[i - 1].value)
        {
          first[n_distinct] = all[i].first;
          distinct[n_distinct++] = all[i].value;
        }
      inverse[all[i].first] = n_distinct - 1;
      counts[n_distinct - 1]++;
    }
  if (!sorted && n_distinct > 1)
    {
      gantry_lower_fail (l, "only sorted");
      return;
    }
  l->out[0] = gantry_builder_floats (l->b, gantry_lower_element (l, x), distinct, n_distinct);
  if (gantry_lower_wants (l, 1))
    l->out[1] = gantry_builder_ints (l->b, first, n_distinct);
  if (gantry_lower_wants (l, 2))
    l->out[2] = gantry_builder_ints (l->b, inverse, n);
  if (gantry_lower_wants (l, 3))
    l->out[3] = gantry_builder_ints (l->b, counts, n_distinct);
}

static void
optional_has_element (GantryLower *l)
{
  gboolean present = gantry_lower_has (l, 0);

  if (present && gantry_lower_type (l, l->in[0])->kind != GANTRY_TYPE_TENSOR)
    gantry_lower_fail (l, "optional values are not supported");
  else
    l->out[0] = gantry_builder_int_scalar (l->b, GANTRY_BOOL, present);
}

static void
optional_get_element (GantryLower *l)
{
  if (!gantry_lower_has (l, 0) || gantry_lower_type (l, l->in[0])->kind != GANTRY_TYPE_TENSOR)
    gantry_lower_fail (l, "optional values are not supported");
  else
    l->out[0] = l->in[0];
}

/* clang-format off */
const GantryLowerRule gantry_lower_misc_rules[] = {
  { "Compress", compress, GANTRY_CLASS_MOVEMENT, 0, 0, NULL },
  { "NonZero", non_zero, GANTRY_CLASS_MOVEMENT, 0, 0, NULL },
  { "Unique", unique, GANTRY_CLASS_OTHER, 0, 0, NULL },
  { "OptionalHasElement", optional_has_element, GANTRY_CLASS_OTHER, GANTRY_LOWER_ANY_TYPE, 0, NULL },
  { "OptionalGetElement", optional_get_element, GANTRY_CLASS_OTHER, GANTRY_LOWER_ANY_TYPE, 0, NULL },
  { NULL },
};
/* clang-format on */
