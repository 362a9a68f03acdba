/* SPDX-License-Identifier: Apache-2.0 */
/* The derivative of softmax and of its logarithm as one, where they are written out: p = e / sum (e) with e = exp (t) gives t the
 * cotangent p (g - sum (g p)), and l = t - log (sum (exp (t))) gives it g - exp (l) sum (g). Only the result is read again, where
 * the rules of the parts would read e and the sums as well. Both do not change when a number is added to a row: what is subtracted
 * from each row before, its largest element, gets no cotangent, since all that it would get cancels. */
#include "core/autodiff/gradient-private.h"
#include "core/base/integers.h"

/* The node at the end of @node's only operand, where @node is the only one that reads it; NULL else. */
static const GantryNode *
only_operand (const GantryDiff *d, const GantryNode *node, guint i, guint n_users)
{
  const GantryNode *operand = gantry_node_operand (d->module, node, i);
  guint32 position = gantry_module_position (d->module, operand);

  return d->job->uses->first[position + 1] - d->job->uses->first[position] == n_users ? operand : NULL;
}

/* Has @node the same number all along the dimensions @axes? */
static gboolean
is_of_rows (const GantryDiff *d, const GantryNode *node, const gint64 *axes, gsize n)
{
  const GantryType *operand = node->op == GANTRY_OP_BROADCAST_IN_DIM ? gantry_node_operand_type (d->module, node, 0) : NULL;
  gsize n_to;
  const gint64 *to = gantry_attrs_ints (d->context, node->attrs, "broadcast_dimensions", &n_to);

  for (gsize i = 0; operand != NULL && i < n_to; i++)
    if (gantry_ints_contain (axes, n, to[i]) && operand->dims[i] != 1)
      return FALSE;
  return operand != NULL;
}

/* Are the dimensions of both the same but for ones? Then a reshape between them moves nothing. */
static gboolean
same_but_for_ones (const GantryType *a, const GantryType *b)
{
  guint i = 0, j = 0;

  for (;;)
    {
      while (i < a->rank && a->dims[i] == 1)
        i++;
      while (j < b->rank && b->dims[j] == 1)
        j++;
      if (i == a->rank || j == b->rank)
        return i == a->rank && j == b->rank;
      if (a->dims[i++] != b->dims[j++])
        return FALSE;
    }
}

/* Through reshapes that only add or take dimensions of one, each read once. */
static const GantryNode *
through_reshapes (const GantryDiff *d, const GantryNode *node)
{
  while (node != NULL && node->op == GANTRY_OP_RESHAPE)
    node = same_but_for_ones (gantry_node_type (d->module, node), gantry_node_operand_type (d->module, node, 0)) ? only_operand (d, node, 0, 1) : NULL;
  return node;
}

/* Does the broadcast @node give each row of @whole its own number of those that a reduction over @axes has for them? */
static gboolean
gives_rows_back (const GantryDiff *d, const GantryNode *node, const GantryType *whole, const gint64 *axes, gsize n)
{
  const GantryType *operand = gantry_node_operand_type (d->module, node, 0);
  gint64 to[GANTRY_MAX_RANK];
  guint next = 0;

  if (!is_of_rows (d, node, axes, n) || !gantry_type_same_shape (gantry_node_type (d->module, node), whole))
    return FALSE;
  _gantry_diff_read_list (d, node, "broadcast_dimensions", operand->rank, -1, to);
  for (guint i = 0; i < whole->rank; i++)
    if (!gantry_ints_contain (axes, n, i) && whole->dims[i] != 1)
      {
        while (next < operand->rank && to[next] < (gint64) i)
          if (operand->dims[next++] != 1)
            return FALSE;
        if (next == operand->rank || to[next] != (gint64) i || operand->dims[next++] != whole->dims[i])
          return FALSE;
      }
  for (; next < operand->rank; next++)
    if (operand->dims[next] != 1)
      return FALSE;
  return TRUE;
}

/* The sum of rows that operand @i of @node gives back to them, of its logarithm where @logarithm; NULL: it is none. */
static const GantryNode *
find_sum (const GantryDiff *d, const GantryNode *node, guint i, gboolean logarithm)
{
  const GantryNode *spread = only_operand (d, node, i, 1), *sum;
  gsize n;
  const gint64 *axes;

  if (spread == NULL || spread->op != GANTRY_OP_BROADCAST_IN_DIM)
    return NULL;
  sum = through_reshapes (d, only_operand (d, spread, 0, 1));
  if (sum != NULL && logarithm)
    sum = sum->op == GANTRY_OP_LOG ? through_reshapes (d, only_operand (d, sum, 0, 1)) : NULL;
  if (sum == NULL || sum->op != GANTRY_OP_REDUCE || g_strcmp0 (gantry_attrs_string (d->context, sum->attrs, "kind", ""), "add") != 0)
    return NULL;
  axes = gantry_attrs_ints (d->context, sum->attrs, "dimensions", &n);
  return gives_rows_back (d, spread, gantry_node_operand_type (d->module, sum, 0), axes, n) ? sum : NULL;
}

/* Is @node p = e / sum (e), or l = t - log (sum (exp (t)))? @sum, @exponential: (out): its parts */
static gboolean
match (const GantryDiff *d, const GantryNode *node, const GantryNode **sum, const GantryNode **exponential)
{
  gboolean logarithm = node->op == GANTRY_OP_SUBTRACT;
  guint n_users = logarithm ? 1 : 2; /* of the exponential */

  if (node->op != GANTRY_OP_DIVIDE && !logarithm)
    return FALSE;
  *sum = find_sum (d, node, 1, logarithm);
  *exponential = *sum != NULL ? only_operand (d, *sum, 0, n_users) : NULL;
  if (*exponential == NULL || (*exponential)->op != GANTRY_OP_EXPONENTIAL)
    return FALSE;
  return gantry_node_operand (d->module, node, 0) == (logarithm ? gantry_node_operand (d->module, *exponential, 0) : *exponential);
}

/* Where @t has no other readers and is x minus a number for each row, that gets nothing. */
static void
note_shift (GantryDiff *d, const GantryNode *exponential, const GantryNode *sum, guint n_users)
{
  const GantryNode *t = only_operand (d, exponential, 0, n_users);
  gsize n;
  const gint64 *axes = gantry_attrs_ints (d->context, sum->attrs, "dimensions", &n);

  if (t != NULL && t->op == GANTRY_OP_SUBTRACT && is_of_rows (d, gantry_node_operand (d->module, t, 1), axes, n))
    g_hash_table_add (d->job->shifts, GUINT_TO_POINTER (t->id));
}

gboolean
_gantry_gradient_softmax (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const GantryNode *sum, *exponential;
  GantryBuilder *builder = d->builder;
  guint32 result = _gantry_diff_result (d, node), p = result, of_rows;

  if (g_hash_table_contains (d->job->shifts, GUINT_TO_POINTER (node->id)))
    {
      _gantry_diff_give (d, node, 0, g);
      return TRUE;
    }
  if (!match (d, node, &sum, &exponential))
    return FALSE;
  if (node->op == GANTRY_OP_SUBTRACT)
    {
      p = gantry_builder_unary (builder, GANTRY_OP_EXPONENTIAL, result);
      of_rows = _gantry_diff_spread (d, sum, _gantry_diff_reduce (d, sum, "add", g));
      g = gantry_builder_binary (builder, GANTRY_OP_SUBTRACT, g, _gantry_diff_multiply (d, p, of_rows));
    }
  else
    {
      of_rows = _gantry_diff_spread (d, sum, _gantry_diff_reduce (d, sum, "add", _gantry_diff_multiply (d, g, p)));
      g = _gantry_diff_multiply (d, gantry_builder_binary (builder, GANTRY_OP_SUBTRACT, g, of_rows), p);
    }
  note_shift (d, exponential, sum, node->op == GANTRY_OP_SUBTRACT ? 2 : 1);
  _gantry_diff_give (d, exponential, 0, g);
  return TRUE;
}
