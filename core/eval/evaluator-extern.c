/* SPDX-License-Identifier: Apache-2.0 */
/* What no tensor expression says, written by hand: sort, scatter and random bits. */
#include "core/eval/evaluator-private.h"
#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/graph/literal.h"
#include <math.h>
#include <string.h>

static gboolean
invalid (GError **error, const char *what)
{
  g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, what);
  return FALSE;
}

static guint8 *
dense_bytes (const GantryLiteral *literal)
{
  guint8 *bytes = g_malloc ((gsize) gantry_type_bytes (literal->type) + 1);

  gantry_literal_copy_to (literal, bytes);
  return bytes;
}

/* Type of result @i of @node. */
static const GantryType *
result_type (const GantryModule *module, const GantryNode *node, guint i)
{
  const GantryType *type = gantry_node_type (module, node);

  if (type->kind != GANTRY_TYPE_TUPLE)
    return type;
  return gantry_context_type (module->context, gantry_context_tuple_member (module->context, node->type, i));
}

/* Sort: rows along one dimension are put in order by the first operand. NaN is larger than all else, and
 * equal keys keep their order. */

typedef struct
{
  GantryElementType element;
  gboolean descending;
  const GantryLane *keys;
} Order;

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer data)
{
  const Order *order = data;
  const GantryLane *x = &order->keys[*(const gint64 *) a];
  const GantryLane *y = &order->keys[*(const gint64 *) b];
  int result;

  if (_gantry_lanes_are_float (order->element))
    {
      result = isnan (x->f) || isnan (y->f) ? (isnan (x->f) != 0) - (isnan (y->f) != 0) : (x->f > y->f) - (x->f < y->f);
    }
  else if (order->element == GANTRY_BOOL || !gantry_element_is_signed (order->element))
    result = (x->u > y->u) - (x->u < y->u);
  else
    result = (x->i > y->i) - (x->i < y->i);
  return order->descending ? -result : result;
}

/* Stable: merges runs of doubled length. @spare is as long as @order. */
static void
merge_sort (gint64 *rows, gint64 *spare, gint64 n, const Order *order)
{
  for (gint64 run = 1; run < n; run *= 2)
    {
      for (gint64 begin = 0; begin < n; begin += 2 * run)
        {
          gint64 middle = MIN (begin + run, n);
          gint64 end = MIN (begin + 2 * run, n);
          gint64 i = begin;
          gint64 j = middle;

          for (gint64 k = begin; k < end; k++)
            if (i < middle && (j >= end || compare_keys (&rows[i], &rows[j], (gpointer) order) <= 0))
              spare[k] = rows[i++];
            else
              spare[k] = rows[j++];
        }
      memcpy (rows, spare, (gsize) n * sizeof *rows);
    }
}

static void
sort_line (GantryLiteral *const *operands, guint8 *const *sources, guint8 **targets, guint n, gint64 first, gint64 stride, gint64 length, Order *order,
           GantryLane *keys, gint64 *rows)
{
  gsize key_size = gantry_element_size (order->element);

  for (gint64 i = 0; i < length; i++)
    {
      rows[i] = i;
      keys[i] = _gantry_lane_read (order->element, sources[0] + (gsize) (first + i * stride) * key_size);
    }
  merge_sort (rows, rows + length, length, order);
  for (guint o = 0; o < n; o++)
    {
      gsize size = gantry_element_size (operands[o]->type->element);

      for (gint64 i = 0; i < length; i++)
        memcpy (targets[o] + (gsize) (first + i * stride) * size, sources[o] + (gsize) (first + rows[i] * stride) * size, size);
    }
}

gboolean
_gantry_evaluate_sort (const GantryModule *module, const GantryNode *node, GantryLiteral *const *operands, GantryLiteral **results, GError **error)
{
  guint n = node->n_operands;
  gint64 dimension = gantry_attrs_int (module->context, node->attrs, "dimension", -1);
  g_autoptr (GPtrArray) sources = g_ptr_array_new_with_free_func (g_free);
  g_autofree guint8 **targets = g_new0 (guint8 *, n + 1);
  g_autofree GantryLane *keys = NULL;
  g_autofree gint64 *rows = NULL;
  gint64 stride = 1;
  gint64 length, elements;
  Order order;

  if (n == 0 || operands[0] == NULL || dimension < 0 || dimension >= operands[0]->type->rank)
    return invalid (error, "attribute dimension is not one of the operand's");
  for (guint o = 1; o < n; o++)
    if (operands[o] == NULL || operands[o]->type->rank != operands[0]->type->rank
        || memcmp (operands[o]->type->dims, operands[0]->type->dims, operands[0]->type->rank * sizeof (GantryDim)) != 0)
      return invalid (error, "the operands have different shapes");
  for (guint o = 0; o < n; o++)
    {
      if (!gantry_type_same_shape (result_type (module, node, o), operands[o]->type))
        return invalid (error, "a result is not of its operand's type");
    }
  for (guint o = 0; o < n; o++)
    {
      g_ptr_array_add (sources, dense_bytes (operands[o]));
      results[o] = gantry_literal_new_zeroed (result_type (module, node, o), &targets[o]);
    }
  for (guint d = (guint) dimension + 1; d < operands[0]->type->rank; d++)
    stride *= operands[0]->type->dims[d];
  length = operands[0]->type->dims[dimension];
  elements = gantry_type_elements (operands[0]->type);
  keys = g_new (GantryLane, (gsize) length + 1);
  rows = g_new (gint64, 2 * (gsize) length + 1);
  order = (Order){ .element = operands[0]->type->element, .keys = keys, .descending = gantry_attrs_int (module->context, node->attrs, "descending", 0) != 0 };
  for (gint64 outer = 0; elements > 0 && outer < elements; outer += stride * length)
    for (gint64 inner = 0; inner < stride; inner++)
      sort_line (operands, (guint8 *const *) sources->pdata, targets, n, outer + inner, stride, length, &order, keys, rows);
  return TRUE;
}

/* Scatter, as the StableHLO specification states it, for one input; updates in row-major order. */

typedef struct
{
  const GantryType *input, *indices, *updates;
  const gint64 *update_window, *inserted, *input_batching, *index_batching, *to_operand;
  gsize n_update_window, n_inserted, n_input_batching, n_index_batching, n_to_operand;
  gint64 index_vector_dim;
  guint8 window_axis[GANTRY_MAX_RANK];  /* per input dimension: 1 + the update dimension that runs along it */
  guint8 scatter_axis[GANTRY_MAX_RANK]; /* of the indices' dimensions without the vector's: the update dimension */
  guint n_scatter;
} Scatter;

static gboolean
in_range (const gint64 *list, gsize n, gint64 end)
{
  for (gsize i = 0; i < n; i++)
    if (list[i] < 0 || list[i] >= end)
      return FALSE;
  return TRUE;
}

static gboolean
scatter_check (Scatter *s, GError **error)
{
  guint windows = 0;
  gboolean vector = s->index_vector_dim < s->indices->rank;

  if (s->index_vector_dim < 0 || s->index_vector_dim > s->indices->rank || !in_range (s->update_window, s->n_update_window, s->updates->rank)
      || !in_range (s->inserted, s->n_inserted, s->input->rank) || !in_range (s->input_batching, s->n_input_batching, s->input->rank)
      || !in_range (s->index_batching, s->n_index_batching, s->indices->rank) || !in_range (s->to_operand, s->n_to_operand, s->input->rank)
      || s->n_input_batching != s->n_index_batching || gantry_ints_contain (s->index_batching, s->n_index_batching, s->index_vector_dim)
      || s->n_to_operand != (gsize) (vector ? s->indices->dims[s->index_vector_dim] : 1))
    return invalid (error, "the dimension numbers do not fit the operands");
  for (guint d = 0; d < s->updates->rank; d++)
    if (!gantry_ints_contain (s->update_window, s->n_update_window, d))
      s->scatter_axis[s->n_scatter++] = (guint8) d;
  for (guint d = 0; d < s->input->rank; d++)
    if (!gantry_ints_contain (s->inserted, s->n_inserted, d) && !gantry_ints_contain (s->input_batching, s->n_input_batching, d))
      {
        if (windows == s->n_update_window)
          return invalid (error, "the dimension numbers do not fit the operands");
        s->window_axis[d] = (guint8) (1 + s->update_window[windows++]);
      }
  if (windows != s->n_update_window || s->n_scatter != s->indices->rank - (vector ? 1 : 0))
    return invalid (error, "the dimension numbers do not fit the operands");
  for (guint k = 0; k < s->n_scatter; k++)
    if (s->updates->dims[s->scatter_axis[k]] != s->indices->dims[k + (k >= s->index_vector_dim ? 1 : 0)])
      return invalid (error, "the updates do not have a place for each index");
  return TRUE;
}

/* Where the update at @at goes in the input. Returns: FALSE when that is out of bounds. */
static gboolean
scatter_target (const Scatter *s, const GantryLiteral *indices, const gint64 *at, gint64 *target)
{
  gint64 full[GANTRY_MAX_RANK] = { 0 };
  gint64 offset = 0;

  for (gsize k = 0; k < s->n_to_operand; k++)
    {
      gint64 position = 0;
      guint next = 0;

      for (guint d = 0; d < s->indices->rank; d++)
        position = position * s->indices->dims[d] + (d == s->index_vector_dim ? (gint64) k : at[s->scatter_axis[next++]]);
      full[s->to_operand[k]] = gantry_literal_get_int (indices, position);
    }
  for (gsize k = 0; k < s->n_input_batching; k++)
    {
      gint64 d = s->index_batching[k];

      full[s->input_batching[k]] = at[s->scatter_axis[d - (d < s->index_vector_dim ? 0 : 1)]];
    }
  for (guint d = 0; d < s->input->rank; d++)
    {
      gint64 along = s->window_axis[d] != 0 ? at[s->window_axis[d] - 1] : 0;
      gint64 sum;

      if (s->indices->element == GANTRY_U64 && full[d] < 0)
        return FALSE; /* an index beyond G_MAXINT64 */
      if (__builtin_add_overflow (full[d], along, &sum) || sum < 0 || sum >= s->input->dims[d])
        return FALSE;
      offset = offset * s->input->dims[d] + sum;
    }
  *target = offset;
  return TRUE;
}

static gboolean
scatter_kind (const char *kind, GantryOp *op)
{
  static const struct
  {
    const char *kind;
    GantryOp op;
  } kinds[] = {
    { "set", GANTRY_OP_NONE }, { "add", GANTRY_OP_ADD }, { "mul", GANTRY_OP_MULTIPLY }, { "max", GANTRY_OP_MAXIMUM }, { "min", GANTRY_OP_MINIMUM },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_strcmp0 (kinds[i].kind, kind) == 0)
      {
        *op = kinds[i].op;
        return TRUE;
      }
  return FALSE;
}

static void
scatter_all (const Scatter *s, GantryLiteral *const *operands, GantryOp op, guint8 *data)
{
  GantryElementType element = s->input->element;
  gsize size = gantry_element_size (element);
  gint64 elements = gantry_type_elements (s->updates);
  gint64 at[GANTRY_MAX_RANK] = { 0 };
  gint64 target;

  for (gint64 i = 0; i < elements; i++)
    {
      if (scatter_target (s, operands[1], at, &target))
        {
          gint64 source = operands[2]->splat ? 0 : i;
          GantryLane update = _gantry_lane_read (element, operands[2]->data + source * (gint64) size);
          GantryLane old = _gantry_lane_read (element, data + target * (gint64) size);

          if (op != GANTRY_OP_NONE)
            _gantry_lanes_binary (op, element, &update, &old, &update, 1);
          _gantry_lanes_write (element, data + target * (gint64) size, &update, 1);
        }
      for (guint d = s->updates->rank; d-- > 0 && ++at[d] == s->updates->dims[d];)
        at[d] = 0;
    }
}

gboolean
_gantry_evaluate_scatter (const GantryModule *module, const GantryNode *node, GantryLiteral *const *operands, GantryLiteral **results, GError **error)
{
  GantryContext *context = module->context;
  const GantryType *type = gantry_node_type (module, node);
  guint8 *data;
  Scatter s = { 0 };
  GantryOp op;

  if (node->n_operands != 3 || operands[0] == NULL || operands[1] == NULL || operands[2] == NULL || !gantry_type_same_shape (operands[0]->type, type)
      || operands[2]->type->element != type->element || !gantry_element_is_integer (operands[1]->type->element))
    return invalid (error, "the values of the operands are not of their types");
  s.input = operands[0]->type;
  s.indices = operands[1]->type;
  s.updates = operands[2]->type;
  s.update_window = gantry_attrs_ints (context, node->attrs, "update_window_dims", &s.n_update_window);
  s.inserted = gantry_attrs_ints (context, node->attrs, "inserted_window_dims", &s.n_inserted);
  s.input_batching = gantry_attrs_ints (context, node->attrs, "input_batching_dims", &s.n_input_batching);
  s.index_batching = gantry_attrs_ints (context, node->attrs, "scatter_indices_batching_dims", &s.n_index_batching);
  s.to_operand = gantry_attrs_ints (context, node->attrs, "scatter_dims_to_operand_dims", &s.n_to_operand);
  s.index_vector_dim = gantry_attrs_int (context, node->attrs, "index_vector_dim", 0);
  if (!scatter_kind (gantry_attrs_string (context, node->attrs, "kind", NULL), &op))
    return invalid (error, "attribute kind is not set, add, mul, max or min");
  if (!scatter_check (&s, error))
    return FALSE;
  results[0] = gantry_literal_new_zeroed (type, &data);
  if (gantry_type_bytes (type) > 0)
    gantry_literal_copy_to (operands[0], data);
  scatter_all (&s, operands, op, data);
  return TRUE;
}

/* Random bits: Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2,
 * 3", SC 2011). state[0] is the key and state[1] the low half of the counter, whose high half is 0. Each block
 * gives four 32-bit words; results up to 32 bits wide take the low bits of one word each, 64-bit results two
 * words, the first of them low. The counter of the new state is past the blocks used. */

static void
philox (guint64 key, guint64 counter, guint32 *words)
{
  guint32 k0 = (guint32) key;
  guint32 k1 = (guint32) (key >> 32);
  guint32 c[4] = { (guint32) counter, (guint32) (counter >> 32), 0, 0 };

  for (guint round = 0; round < 10; round++)
    {
      guint64 p0 = (guint64) c[0] * 0xD2511F53u;
      guint64 p1 = (guint64) c[2] * 0xCD9E8D57u;
      guint32 next[4] = { (guint32) (p1 >> 32) ^ c[1] ^ k0, (guint32) p1, (guint32) (p0 >> 32) ^ c[3] ^ k1, (guint32) p0 };

      memcpy (c, next, sizeof c);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
  memcpy (words, c, sizeof c);
}

gboolean
_gantry_evaluate_random (const GantryModule *module, const GantryNode *node, GantryLiteral *const *operands, GantryLiteral **results, GError **error)
{
  const GantryType *state = result_type (module, node, 0);
  const GantryType *type = result_type (module, node, 1);
  gint64 elements = gantry_type_elements (type);
  gsize size = gantry_element_size (type->element);
  guint words_each = size == 8 ? 2 : 1;
  guint64 key, counter;
  guint8 *data;
  GantryLane words[2];
  guint32 block[4] = { 0 };

  if (node->n_operands != 1 || operands[0] == NULL || operands[0]->type->element != GANTRY_U64 || gantry_type_elements (operands[0]->type) != 2
      || !gantry_type_same_shape (operands[0]->type, state) || elements < 0 || gantry_type_bytes (type) < 0 || !gantry_element_is_integer (type->element))
    return invalid (error, "the state has to be u64[2] and the bits integers of a static shape");
  key = (guint64) gantry_literal_get_int (operands[0], 0);
  counter = (guint64) gantry_literal_get_int (operands[0], 1);
  results[1] = gantry_literal_new_zeroed (type, &data);
  for (gint64 i = 0; i < elements; i++)
    {
      guint word = (guint) (i * words_each % 4);
      GantryLane lane;

      if (word == 0)
        philox (key, counter++, block);
      lane.u = block[word] | (words_each == 2 ? (guint64) block[word + 1] << 32 : 0);
      _gantry_lanes_write (type->element, data + i * (gint64) size, &lane, 1);
    }
  words[0].u = key;
  words[1].u = counter;
  results[0] = gantry_literal_new_zeroed (state, &data);
  _gantry_lanes_write (GANTRY_U64, data, words, 2);
  return TRUE;
}
