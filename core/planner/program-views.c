/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no work since it already lies where it should: contiguous slices are views with an offset, the
 * operands of a concatenation are made inside its place, a result is written over the argument that is donated to it. */
#include "core/expr/storage.h"
#include "core/planner/program-private.h"

/* More pairs of writers and readers of stacked arguments than this are not looked at. */
#define MOST_PAIRS 4000000u

guint32
_gantry_program_value_of (const Program *program, const GantryNode *node)
{
  return program->first_value[gantry_module_position (program->module, node) - program->function->first_node];
}

static gboolean
is_returned (const Program *program, const GantryNode *node)
{
  return program->returned[gantry_module_position (program->module, node) - program->function->first_node];
}

/* Where a slice begins in its operand when it needs no work. */
static gboolean
slice_offset (const Program *program, const GantryNode *node, guint64 *offset)
{
  return gantry_slice_is_contiguous (program->module, node, offset) && *offset % GANTRY_PLACE_ALIGNMENT == 0;
}

static gboolean
may_be_part (const Program *program, guint32 v, guint64 offset)
{
  const Value *value = VALUE (program, v), *root = VALUE (program, value->root);

  return root->kind == VALUE_COMPUTED && value->offset == 0 && value->bytes == root->bytes && root->group == NONE && root->memory == GANTRY_MEMORY_DEVICE
         && root->phase != GANTRY_PHASE_FORWARD && root->bytes > 0 && WORK (program, root->maker)->n_values == 1
         && !is_returned (program, work_node (program, WORK (program, root->maker))) && offset % GANTRY_PLACE_ALIGNMENT == 0;
}

/* All operands must be able to, or none is. */
static gboolean
add_group (Program *program, const GantryNode *node, GError **error)
{
  const GantryModule *module = program->module;
  const GantryType *type = gantry_node_type (module, node);
  guint32 first_part = program->parts->len, n = 0;
  guint64 offset = 0;
  Value *group;

  if (node->phase == GANTRY_PHASE_FORWARD || type->memory != GANTRY_MEMORY_DEVICE || !gantry_concatenate_is_contiguous (module, node))
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 v = _gantry_program_operand (program, node, i);

      if (v == NONE || !may_be_part (program, v, offset))
        break;
      /* Marked at once, so that one value is not taken twice. */
      VALUE (program, VALUE (program, v)->root)->group = program->values->len;
      VALUE (program, VALUE (program, v)->root)->group_offset = offset;
      g_array_append_val (program->parts, VALUE (program, v)->root);
      offset += VALUE (program, v)->bytes;
      n++;
    }
  if (n == node->n_operands)
    {
      group = _gantry_program_add_value (program, node, 0, type, error);
      if (group == NULL)
        return FALSE;
      group->kind = VALUE_GROUP;
      group->first_part = first_part;
      group->n_parts = n;
      return TRUE;
    }
  for (guint32 k = first_part; k < program->parts->len; k++)
    VALUE (program, g_array_index (program->parts, guint32, k))->group = NONE;
  g_array_set_size (program->parts, first_part);
  return FALSE;
}

gboolean
_gantry_program_add_placed (Program *program, const GantryNode *node, GError **error)
{
  const GantryType *type = gantry_node_type (program->module, node);
  g_autoptr (GError) local = NULL;
  guint32 v;
  guint64 offset;

  if (!program->resident || type->kind != GANTRY_TYPE_TENSOR)
    return FALSE;
  if (node->op == GANTRY_OP_CONCATENATE ? _gantry_program_add_pieces (program, node, &local)
                                        : node->op == GANTRY_OP_SLICE && _gantry_program_add_slice (program, node, &local))
    return TRUE;
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (node->op == GANTRY_OP_CONCATENATE)
    return add_group (program, node, error);
  if (node->op != GANTRY_OP_SLICE && node->op != GANTRY_OP_COPY)
    return FALSE;
  v = _gantry_program_operand (program, node, 0);
  if (v == NONE || value_is_constant (VALUE (program, v)))
    return FALSE;
  /* What is fetched for its users has no place of its own on the device to be returned from. */
  if (VALUE (program, v)->memory != GANTRY_MEMORY_DEVICE && is_returned (program, node))
    return FALSE;
  if (node->op == GANTRY_OP_SLICE)
    return slice_offset (program, node, &offset) && _gantry_program_add_view (program, node, 0, v, offset, type, error);
  return VALUE (program, v)->memory != GANTRY_MEMORY_DEVICE && type->memory == GANTRY_MEMORY_DEVICE
         && _gantry_program_add_view (program, node, 0, v, 0, type, error);
}

/* Donations */

gint
_gantry_program_alias (const Program *program, guint32 i)
{
  gint alias = gantry_parameter_alias (program->module, &program->module->nodes[program->function->first_node + i]);

  return alias < 0 && program->over != NULL ? program->over[i] : alias;
}

typedef struct
{
  guint32 first, second; /* works: in this order */
} Pair;

/* What reads bytes [@offset, @offset + @bytes) of input @v runs before work @writer does; where that is how it was written. */
static void
add_pairs (Program *program, const guint32 *units, guint32 n_units, guint32 writer, guint64 offset, guint64 bytes, GArray *pairs)
{
  for (guint32 k = 0; k < n_units; k++)
    {
      const Value *unit = VALUE (program, units[k]);

      if (unit->offset >= offset + bytes || unit->offset + unit->bytes <= offset)
        continue;
      for (guint32 i = program->first_user[units[k]]; i < program->first_user[units[k] + 1]; i++)
        {
          Pair pair = { program->users[i], writer };

          if (pair.first < writer && !WORK (program, writer)->init && !WORK (program, pair.first)->init)
            g_array_append_val (pairs, pair);
        }
    }
}

static void
donate (Program *program, guint32 input, guint32 result, const guint32 *units, guint32 n_units, GArray *pairs)
{
  Value *root = VALUE (program, result);

  VALUE (program, input)->donated = result;
  root->donated = input;
  if (root->kind == VALUE_COMPUTED)
    add_pairs (program, units, n_units, root->maker, 0, root->bytes, pairs);
  for (guint32 k = 0; root->kind == VALUE_GROUP && k < root->n_parts && (guint64) root->n_parts * n_units < MOST_PAIRS; k++)
    {
      const Value *part = VALUE (program, g_array_index (program->parts, guint32, root->first_part + k));

      add_pairs (program, units, n_units, part->maker, part->group_offset, part->bytes, pairs);
    }
}

static void
sort_pairs (Program *program, const GArray *pairs)
{
  guint32 n = program->works->len;
  g_autofree guint32 *next_after = NULL, *next_before = NULL;

  program->first_after = g_new0 (guint32, n + 1);
  program->first_before = g_new0 (guint32, n + 1);
  program->after = g_new (guint32, pairs->len + 1);
  program->before = g_new (guint32, pairs->len + 1);
  for (guint i = 0; i < pairs->len; i++)
    {
      program->first_after[g_array_index (pairs, Pair, i).second + 1]++;
      program->first_before[g_array_index (pairs, Pair, i).first + 1]++;
    }
  for (guint32 w = 0; w < n; w++)
    {
      program->first_after[w + 1] += program->first_after[w];
      program->first_before[w + 1] += program->first_before[w];
    }
  next_after = g_memdup2 (program->first_after, (n + 1) * sizeof (guint32));
  next_before = g_memdup2 (program->first_before, (n + 1) * sizeof (guint32));
  for (guint i = 0; i < pairs->len; i++)
    {
      Pair pair = g_array_index (pairs, Pair, i);

      program->after[next_after[pair.second]++] = pair.first;
      program->before[next_before[pair.first]++] = pair.second;
    }
}

/* Values of one input stand anywhere; they are gathered by it. */
static void
gather_units (Program *program)
{
  guint32 n = program->values->len, *next, *units = g_new (guint32, n + 1), *first = g_new0 (guint32, n + 2);

  for (guint32 v = 0; v < n; v++)
    if (VALUE (program, v)->kind == VALUE_INPUT && VALUE (program, v)->unit == v)
      first[VALUE (program, v)->root + 1]++;
  for (guint32 v = 0; v < n; v++)
    first[v + 1] += first[v];
  next = g_memdup2 (first, (n + 1) * sizeof (guint32));
  for (guint32 v = 0; v < n; v++)
    if (VALUE (program, v)->kind == VALUE_INPUT && VALUE (program, v)->unit == v)
      units[next[VALUE (program, v)->root]++] = v;
  g_free (next);
  program->first_unit = first;
  program->units = units;
}

/* By value: is it, or a part of it, a result of the function? (transfer full) */
static guint8 *
find_returned (const Program *program)
{
  guint8 *returned = g_new0 (guint8, program->values->len + 1);

  for (guint32 r = 0; r < program->function->n_results; r++)
    {
      const GantryNode *node = gantry_module_node (program->module, gantry_function_result_id (program->module, program->function, r));
      guint32 value = node != NULL && gantry_node_type (program->module, node)->kind == GANTRY_TYPE_TENSOR ? _gantry_program_value_of (program, node) : NONE;

      if (value != NONE)
        returned[VALUE (program, value)->root] = TRUE;
    }
  return returned;
}

void
_gantry_program_find_donations (Program *program)
{
  const GantryModule *module = program->module;
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  g_autofree guint8 *returned = find_returned (program);
  const guint32 *first;

  gather_units (program);
  first = program->first_unit;
  for (guint32 i = 0; program->resident && i < program->function->n_params; i++)
    {
      gint alias = _gantry_program_alias (program, i);
      const GantryNode *node;
      guint32 input = program->first_value[i], result;
      const Value *root;

      /* An argument that is a result as well has to be there in the end. */
      if (alias < 0 || returned[input])
        continue;
      node = gantry_module_node (module, gantry_function_result_id (module, program->function, (guint) alias));
      if (node == NULL || gantry_node_type (module, node)->kind != GANTRY_TYPE_TENSOR)
        continue;
      result = VALUE (program, _gantry_program_value_of (program, node))->root;
      root = VALUE (program, result);
      if ((root->kind == VALUE_COMPUTED || root->kind == VALUE_GROUP) && root->donated == NONE && root->group == NONE
          && (root->memory == GANTRY_MEMORY_DEVICE || root->memory == VALUE (program, input)->memory) && root->bytes == VALUE (program, input)->bytes
          && root->bytes == VALUE (program, _gantry_program_value_of (program, node))->bytes)
        donate (program, input, result, &program->units[first[input]], first[input + 1] - first[input], pairs);
    }
  sort_pairs (program, pairs);
}
