/* SPDX-License-Identifier: Apache-2.0 */
/* GantryScatter, as the StableHLO specification states it, for one input: the input is copied and each update
 * goes to its place in row-major order; updates out of bounds are left out. Where an update comes from and goes to
 * is a sum over its coordinates, which is worked out once. */
#include "core/kernels/builtin/builtin.h"
#include "core/base/integers.h"
#include "core/graph/operation.h"
#include <math.h>
#include <string.h>

static double
larger (double a, double b)
{
  return isnan (a) || isnan (b) ? NAN : a > b || (a == b && !signbit (a)) ? a : b;
}

static double
smaller (double a, double b)
{
  return isnan (a) || isnan (b) ? NAN : a < b || (a == b && signbit (a)) ? a : b;
}

static void
combine_floats (const GantryScatter *s, guint8 *to, const guint8 *from)
{
  double x = gantry_element_read_double (s->element, to), y = gantry_element_read_double (s->element, from);

  switch (s->op)
    {
    case GANTRY_OP_ADD: x += y; break;
    case GANTRY_OP_MULTIPLY: x *= y; break;
    case GANTRY_OP_MAXIMUM: x = larger (x, y); break;
    default: x = smaller (x, y); break;
    }
  gantry_element_write_double (s->element, to, x);
}

static void
combine_integers (const GantryScatter *s, guint8 *to, const guint8 *from)
{
  gint64 x = gantry_element_read_int (s->element, to), y = gantry_element_read_int (s->element, from);
  gboolean u = s->element == GANTRY_BOOL || !gantry_element_is_signed (s->element);
  gboolean more = u ? (guint64) x > (guint64) y : x > y;

  switch (s->op)
    {
    case GANTRY_OP_ADD: x = (gint64) ((guint64) x + (guint64) y); break;
    case GANTRY_OP_MULTIPLY: x = (gint64) ((guint64) x * (guint64) y); break;
    case GANTRY_OP_MAXIMUM: x = more ? x : y; break;
    default: x = more ? y : x; break;
    }
  gantry_element_write_int (s->element, to, s->element == GANTRY_BOOL ? x != 0 : x);
}

/* Where the update at @at goes. Returns: FALSE when that is out of bounds. */
static gboolean
target_of (const GantryScatter *s, const guint8 *indices, const gint64 *at, gint64 *target)
{
  gint64 row = 0, place = 0;

  for (guint d = 0; d < s->update_rank; d++)
    row += at[d] * s->index_strides[d];
  for (guint d = 0; d < s->rank; d++)
    {
      gint64 start = s->batch_of[d] >= 0 ? at[s->batch_of[d]] : 0;
      gint64 along = s->window_of[d] >= 0 ? at[s->window_of[d]] : 0;

      if (s->component_of[d] >= 0)
        start = gantry_element_read_int (s->index_element, indices + (gsize) (row + s->component_of[d] * s->component_stride) * s->index_size);
      if (s->index_element == GANTRY_U64 && start < 0)
        return FALSE; /* beyond what a signed index can say */
      if (__builtin_add_overflow (start, along, &start) || start < 0 || start >= s->dims[d])
        return FALSE;
      place += start * s->strides[d];
    }
  *target = place;
  return TRUE;
}

/* Buffers: input, indices, updates, result. */
static void
run_scatter (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const GantryScatter *s = state;
  guint8 *result = buffers[3];
  const guint8 *updates = buffers[2];
  gint64 at[GANTRY_MAX_RANK] = { 0 }, target;

  if (begin >= end)
    return;
  if (result != buffers[0] && s->n_elements > 0)
    memcpy (result, buffers[0], (gsize) s->n_elements * s->size);
  for (gint64 i = 0; i < s->n_updates; i++, updates += s->size)
    {
      if (target_of (s, buffers[1], at, &target))
        {
          guint8 *to = result + (gsize) target * s->size;

          if (s->op == GANTRY_OP_NONE)
            memcpy (to, updates, s->size);
          else if (gantry_element_is_float (s->element))
            combine_floats (s, to, updates);
          else
            combine_integers (s, to, updates);
        }
      for (guint d = s->update_rank; d-- > 0 && ++at[d] == s->update_dims[d];)
        at[d] = 0;
    }
}

static gboolean
op_of_kind (const char *kind, GantryOp *op)
{
  static const struct
  {
    const char *kind;
    guint op;
  } kinds[] = {
    { "set", GANTRY_OP_NONE }, { "add", GANTRY_OP_ADD }, { "mul", GANTRY_OP_MULTIPLY }, { "max", GANTRY_OP_MAXIMUM }, { "min", GANTRY_OP_MINIMUM }
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_strcmp0 (kinds[i].kind, kind) == 0)
      {
        *op = kinds[i].op;
        return TRUE;
      }
  return FALSE;
}

typedef struct
{
  const gint64 *ints;
  gsize n;
} List;

static List
list_of (const GantryModule *module, const GantryNode *node, const char *key)
{
  List list;

  list.ints = gantry_attrs_ints (module->context, node->attrs, key, &list.n);
  return list;
}

static gboolean
within (List list, gint64 end)
{
  for (gsize i = 0; i < list.n; i++)
    if (list.ints[i] < 0 || list.ints[i] >= end)
      return FALSE;
  return TRUE;
}

/* Which update dimension goes with which of the indices and of the input. Returns: FALSE when they do not fit. */
static gboolean
map_dimensions (GantryScatter *s, const GantryModule *module, const GantryNode *node)
{
  const GantryType *indices = gantry_node_operand_type (module, node, 1);
  List window = list_of (module, node, "update_window_dims"), inserted = list_of (module, node, "inserted_window_dims");
  List batch = list_of (module, node, "input_batching_dims");
  List index_batch = list_of (module, node, "scatter_indices_batching_dims");
  List to_operand = list_of (module, node, "scatter_dims_to_operand_dims");
  gint64 vector = gantry_attrs_int (module->context, node->attrs, "index_vector_dim", 0), stride = 1;
  gint64 update_of[GANTRY_MAX_RANK + 1]; /* per dimension of the indices */
  gsize windows = 0;
  guint next = 0;

  if (vector < 0 || vector > indices->rank || !within (window, s->update_rank) || !within (inserted, s->rank) || !within (batch, s->rank)
      || !within (index_batch, indices->rank) || !within (to_operand, s->rank) || batch.n != index_batch.n
      || gantry_ints_contain (index_batch.ints, index_batch.n, vector) || to_operand.n != (gsize) (vector < indices->rank ? indices->dims[vector] : 1))
    return FALSE;
  for (guint d = 0; d < indices->rank; d++)
    {
      update_of[d] = -1;
      if (d == vector)
        continue;
      while (next < s->update_rank && gantry_ints_contain (window.ints, window.n, next))
        next++;
      if (next == s->update_rank || s->update_dims[next] != indices->dims[d])
        return FALSE;
      update_of[d] = next++;
    }
  while (next < s->update_rank && gantry_ints_contain (window.ints, window.n, next))
    next++;
  if (next != s->update_rank)
    return FALSE;
  for (guint d = indices->rank; d-- > 0; stride *= indices->dims[d])
    if (d == vector)
      s->component_stride = stride;
    else
      s->index_strides[update_of[d]] = stride;
  for (guint d = 0; d < s->rank; d++)
    {
      s->window_of[d] = s->batch_of[d] = s->component_of[d] = -1;
      if (gantry_ints_contain (inserted.ints, inserted.n, d) || gantry_ints_contain (batch.ints, batch.n, d))
        continue;
      if (windows == window.n)
        return FALSE;
      s->window_of[d] = window.ints[windows++];
    }
  for (gsize k = 0; k < batch.n; k++)
    s->batch_of[batch.ints[k]] = update_of[index_batch.ints[k]];
  for (gsize k = 0; k < to_operand.n; k++)
    s->component_of[to_operand.ints[k]] = (gint64) k;
  return windows == window.n;
}

gboolean
gantry_scatter_read (GantryScatter *s, const GantryModule *module, const GantryNode *node, GString *why)
{
  const GantryType *input = gantry_node_operand_type (module, node, 0);
  const GantryType *indices = gantry_node_operand_type (module, node, 1);
  const GantryType *updates = gantry_node_operand_type (module, node, 2);
  gint64 stride = 1;

  if (!gantry_element_is_compiled (input->element) || updates->element != input->element || !gantry_element_is_integer (indices->element)
      || !gantry_element_is_compiled (indices->element))
    {
      g_string_append (why, "its types are not compiled");
      return FALSE;
    }
  memset (s, 0, sizeof *s);
  s->element = input->element;
  s->index_element = indices->element;
  s->size = gantry_element_size (input->element);
  s->index_size = gantry_element_size (indices->element);
  s->rank = input->rank;
  s->update_rank = updates->rank;
  s->n_updates = gantry_type_elements (updates);
  s->n_elements = gantry_type_elements (input);
  memcpy (s->update_dims, updates->dims, updates->rank * sizeof *updates->dims);
  for (guint d = input->rank; d-- > 0; stride *= input->dims[d])
    {
      s->dims[d] = input->dims[d];
      s->strides[d] = stride;
    }
  if (op_of_kind (gantry_attrs_string (module->context, node->attrs, "kind", NULL), &s->op) && map_dimensions (s, module, node))
    return TRUE;
  g_string_append (why, "its dimension numbers or kind do not fit the operands");
  return FALSE;
}

GantryMade
gantry_builtin_make_scatter (const GantryModule *module, const GantryNode *node, GantryKernel *kernel, GString *why)
{
  g_autofree GantryScatter *s = g_new (GantryScatter, 1);

  if (!gantry_scatter_read (s, module, node, why))
    return GANTRY_CANNOT;
  kernel->state = g_steal_pointer (&s);
  kernel->free_state = g_free;
  kernel->func = run_scatter;
  kernel->n_tasks = 1;
  return GANTRY_MADE;
}
