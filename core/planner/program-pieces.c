/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that have no place. What differs from block to block of a rolled program, such as the weights of layers, is put together for the
 * loop that walks along it: a concatenation of as many values as the loop has trips. Where loops alone read it, none is made: trip i
 * has value i where it lies. What a loop stacks is taken apart again by slices, each of one trip: where nothing else reads the stack, trip
 * i makes slice i where the slice shall lie, such as in the place of the parameter that it is donated to. */
#include "core/expr/storage.h"
#include "core/graph/region.h"
#include "core/plan/pieces.h"
#include "core/planner/program-private.h"

/* Which stack of a scan @node shows: its key in the set, NULL: none. The forward phase's may be saved, as a whole. */
static gpointer
stack_of (const Program *program, const GantryNode *node)
{
  const GantryModule *module = program->module;
  const GantryNode *scan = node->op == GANTRY_OP_RESULT ? gantry_node_operand (module, node, 0) : NULL;
  const GantryType *type = gantry_node_type (module, node);
  GantryScan of;
  gint64 member;

  if (scan == NULL || scan->op != GANTRY_OP_SCAN || scan->phase == GANTRY_PHASE_FORWARD || type->kind != GANTRY_TYPE_TENSOR
      || type->memory != GANTRY_MEMORY_DEVICE || gantry_type_bytes (type) <= 0)
    return NULL;
  gantry_scan_of (module, scan, &of);
  member = gantry_attrs_int (module->context, node->attrs, "index", 0);
  if (of.length < 2 || member < of.n_carries || member >= of.n_carries + of.n_ys || of.y_axes[member - of.n_carries] != 0)
    return NULL;
  return GSIZE_TO_POINTER ((gsize) (gantry_module_position (module, scan) - program->function->first_node + 1) << 32 | (gsize) member);
}

/* Whether @node takes one slice of its operand, a stack. */
static gboolean
is_one_slice (const GantryModule *module, const GantryNode *node)
{
  const GantryType *from, *to = gantry_node_type (module, node);
  guint64 offset;

  if (node->op != GANTRY_OP_SLICE || !gantry_slice_is_contiguous (module, node, &offset))
    return FALSE;
  from = gantry_node_operand_type (module, node, 0);
  for (guint d = 1; d < from->rank; d++)
    if (from->dims[d] != to->dims[d])
      return FALSE;
  return to->dims[0] == 1;
}

/* The slice of a stack that result @id of the function is, if it is one: the stack's key. */
static gpointer
returned_slice (const Program *program, guint32 id)
{
  const GantryNode *node = gantry_module_node (program->module, id);

  while (node != NULL && node->op != GANTRY_OP_RESULT && node->n_operands == 1
         && (node->op == GANTRY_OP_SLICE || (gantry_op_info (node->op)->flags & GANTRY_OP_VIEW) != 0))
    node = gantry_node_operand (program->module, node, 0);
  return node != NULL ? stack_of (program, node) : NULL;
}

/* Results that are written over no argument can be placed, as a whole. */
static void
leave_returned (Program *program)
{
  const GantryFunction *function = program->function;
  g_autofree guint8 *donated = g_new0 (guint8, function->n_results + (gsize) 1);

  for (guint32 i = 0; i < function->n_params; i++)
    {
      gint alias = _gantry_program_alias (program, i);

      if (alias >= 0 && alias < (gint) function->n_results)
        donated[alias] = TRUE;
    }
  for (guint i = 0; i < function->n_results; i++)
    {
      gpointer key = donated[i] ? NULL : returned_slice (program, gantry_function_result_id (program->module, function, i));

      if (key != NULL)
        g_hash_table_remove (program->cut, key);
    }
}

/* Each slice must be taken, or a place of its own would be nobody's. */
static void
leave_incomplete (Program *program, GHashTable *slices)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, program->cut);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      const GantryNode *scan = &program->module->nodes[program->function->first_node + (GPOINTER_TO_SIZE (key) >> 32) - 1];
      GHashTable *taken = g_hash_table_lookup (slices, key);
      GantryScan of;

      gantry_scan_of (program->module, scan, &of);
      if (taken == NULL || g_hash_table_size (taken) != of.length)
        g_hash_table_iter_remove (&iter);
    }
}

/* Notes of each operand of @node whether it leaves a stack whole. */
static void
note_readers (Program *program, const GantryNode *node, GHashTable *whole, GHashTable *slices)
{
  const GantryModule *module = program->module;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (module, node, i);
      gpointer key = operand != NULL ? stack_of (program, operand) : NULL;
      gsize n;

      if (operand != NULL && operand->op == GANTRY_OP_SCAN && node->op != GANTRY_OP_RESULT)
        g_hash_table_add (whole, GSIZE_TO_POINTER (gantry_module_position (module, operand) - program->function->first_node + 1));
      if (key != NULL && !is_one_slice (module, node))
        g_hash_table_add (whole, key);
      if (key == NULL || !is_one_slice (module, node))
        continue;
      if (!g_hash_table_contains (slices, key))
        g_hash_table_insert (slices, key, g_hash_table_new (NULL, NULL));
      g_hash_table_add (g_hash_table_lookup (slices, key), GSIZE_TO_POINTER ((gsize) gantry_attrs_ints (module->context, node->attrs, "start_indices", &n)[0]));
    }
}

static void
find_cut (Program *program, const guint8 *needed)
{
  const GantryModule *module = program->module;
  const GantryFunction *function = program->function;
  g_autoptr (GHashTable) whole = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) slices = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_hash_table_unref);

  program->cut = g_hash_table_new (NULL, NULL);
  for (guint32 n = 0; program->resident && n < function->n_nodes; n++)
    if (needed[n])
      note_readers (program, &module->nodes[function->first_node + n], whole, slices);
  for (guint32 n = 0; program->resident && n < function->n_nodes; n++)
    {
      gpointer key = needed[n] ? stack_of (program, &module->nodes[function->first_node + n]) : NULL;

      if (key == NULL)
        continue;
      if (program->returned[n])
        g_hash_table_add (whole, key);
      g_hash_table_add (program->cut, key);
    }
  if (g_hash_table_size (program->cut) == 0)
    return;
  leave_returned (program);
  leave_incomplete (program, slices);
  for (guint32 n = 0; n < function->n_nodes; n++)
    {
      gpointer key = stack_of (program, &module->nodes[function->first_node + n]);

      if (key != NULL && (g_hash_table_contains (whole, key) || g_hash_table_contains (whole, GSIZE_TO_POINTER (GPOINTER_TO_SIZE (key) >> 32))))
        g_hash_table_remove (program->cut, key);
    }
}

void
_gantry_program_find_pieces (Program *program, const guint8 *needed)
{
  program->walked = gantry_function_find_walked (program->module, program->function, needed);
  find_cut (program, needed);
}

static void
become_pieces (Value *value, guint32 first_part, guint32 n)
{
  value->kind = VALUE_PIECES;
  value->bytes = 0;
  value->first_part = first_part;
  value->n_parts = n;
}

gboolean
_gantry_program_add_pieces (Program *program, const GantryNode *node, GError **error)
{
  guint32 first_part = program->parts->len;
  Value *pieces;

  if (!program->resident || !program->walked[gantry_module_position (program->module, node) - program->function->first_node])
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 v = _gantry_program_operand (program, node, i);

      /* Literals lie in the file of the model anyhow, and what the host has is fetched as a whole. */
      if (v == NONE || value_is_constant (VALUE (program, v)) || VALUE (program, v)->memory != GANTRY_MEMORY_DEVICE)
        {
          g_array_set_size (program->parts, first_part);
          return FALSE;
        }
      g_array_append_val (program->parts, v);
    }
  pieces = _gantry_program_add_value (program, node, 0, gantry_node_type (program->module, node), error);
  if (pieces == NULL)
    return FALSE;
  become_pieces (pieces, first_part, node->n_operands);
  return TRUE;
}

gboolean
_gantry_program_cut_results (Program *program, const GantryNode *node, guint32 first_value, GError **error)
{
  gsize position = gantry_module_position (program->module, node) - program->function->first_node + 1;
  const GantryType *tuple = gantry_node_type (program->module, node);
  guint32 n = program->values->len - first_value;
  GantryScan scan;

  gantry_scan_of (program->module, node, &scan);
  for (guint32 k = scan.n_carries; k < n; k++)
    {
      guint32 first_part = program->parts->len;

      if (!g_hash_table_contains (program->cut, GSIZE_TO_POINTER (position << 32 | k)))
        continue;
      for (gint64 t = 0; t < scan.length; t++)
        {
          guint32 part = program->values->len;
          Value *value = _gantry_program_add_value (program, node, k, gantry_context_type (program->module->context, (guint32) tuple->dims[k]), error);

          if (value == NULL)
            return FALSE;
          value->kind = VALUE_COMPUTED;
          value->maker = program->works->len;
          value->bytes /= (guint64) scan.length;
          g_array_append_val (program->parts, part);
        }
      become_pieces (VALUE (program, first_value + k), first_part, (guint32) scan.length);
    }
  return TRUE;
}

gboolean
_gantry_program_add_slice (Program *program, const GantryNode *node, GError **error)
{
  guint32 v = _gantry_program_operand (program, node, 0);
  const Value *stack = v != NONE ? VALUE (program, VALUE (program, v)->root) : NULL;
  guint64 offset;

  if (stack == NULL || stack->kind != VALUE_PIECES || !gantry_slice_is_contiguous (program->module, node, &offset))
    return FALSE;
  v = value_part (program, stack, (guint32) (offset / VALUE (program, value_part (program, stack, 0))->bytes));
  return _gantry_program_add_view (program, node, 0, v, 0, gantry_node_type (program->module, node), error);
}

gboolean
_gantry_program_shows (const Program *program, guint32 v, guint32 root)
{
  const Value *value = VALUE (program, v);

  for (guint32 k = 0; value->kind == VALUE_PIECES && k < value->n_parts; k++)
    if (VALUE (program, value_part (program, value, k))->root == root)
      return TRUE;
  return value->root == root;
}
