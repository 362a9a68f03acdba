/* SPDX-License-Identifier: Apache-2.0 */
/* absorb: what is done element by element with the stacks that a loop of the backward phase makes, and ends in results of the program, is
 * done in the loop, slice by slice: so an optimizer's update of stacked parameters runs in the trip that makes the gradient of a layer, and
 * no stack of gradients is ever there (as LOMO does for separate parameters: Lv and others, Full parameter fine-tuning for large
 * language models with limited resources, 2023). Parameters and states are walked along and written over slice by slice. It is done where all
 * readers of a stack are such; clipping by a global norm, which reads all gradients first, keeps the stack. */
#include "core/passes/absorb-private.h"
#include "core/passes/bodies-private.h"
#include "core/passes/passes.h"
#include <string.h>

static void
absorbed_free (gpointer data)
{
  GantryAbsorbed *a = data;

  g_free (a->depends);
  g_free (a->inside);
  g_free (a->kept);
  g_free (a->hoisted);
  g_array_unref (a->xs);
  g_array_unref (a->captures);
  g_array_unref (a->outputs);
  g_free (a);
}

gint
_gantry_absorb_stack_of (const GantryAbsorbed *a, const GantryNode *node)
{
  gint64 index;

  if (node->op != GANTRY_OP_RESULT || gantry_node_operand (a->module, node, 0) != a->node)
    return -1;
  index = gantry_attrs_int (a->module->context, node->attrs, "index", 0);
  return index >= a->scan.n_carries && a->scan.y_axes[index - a->scan.n_carries] == 0 ? (gint) index : -1;
}

static gboolean
same_dims (const GantryType *a, const GantryType *b)
{
  return a->kind == GANTRY_TYPE_TENSOR && b->kind == GANTRY_TYPE_TENSOR && a->rank == b->rank && memcmp (a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

gboolean
_gantry_absorb_is_fixed (const GantryAbsorbed *a, const GantryNode *node)
{
  gsize n;
  const gint64 *dims;

  if (node->op != GANTRY_OP_BROADCAST_IN_DIM)
    return FALSE;
  dims = gantry_attrs_ints (a->module->context, node->attrs, "broadcast_dimensions", &n);
  for (gsize i = 0; i < n; i++)
    if (dims[i] == 0)
      return FALSE;
  return TRUE;
}

/* Whether a trip can do its part of @node, as far as is known of its operands. */
static gboolean
can_be_inside (const GantryAbsorbed *a, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryType *type = gantry_node_type (a->module, node);

  if (info == NULL || (info->flags & GANTRY_OP_ELEMENTWISE) == 0 || (info->flags & (GANTRY_OP_EFFECT | GANTRY_OP_EXTERN)) != 0
      || type->kind != GANTRY_TYPE_TENSOR || type->rank == 0 || type->dims[0] != a->scan.length || type->memory != GANTRY_MEMORY_DEVICE)
    return FALSE;
  for (guint k = 0; k < node->n_operands; k++)
    {
      const GantryNode *operand = gantry_node_operand (a->module, node, k);
      guint32 i = operand != NULL ? _gantry_absorb_index (a, operand) : 0;
      gint stack = operand != NULL ? _gantry_absorb_stack_of (a, operand) : -1;

      if (operand == NULL || !same_dims (gantry_node_type (a->module, operand), type) || gantry_node_type (a->module, operand)->memory != GANTRY_MEMORY_DEVICE)
        return FALSE;
      if (stack >= 0 ? a->kept[stack] : a->depends[i] && !a->inside[i])
        return FALSE;
    }
  return TRUE;
}

static void
find_dependent (GantryAbsorbed *a)
{
  a->depends[a->index] = TRUE;
  for (guint32 i = a->index + 1; i < a->entry->n_nodes; i++)
    for (guint k = 0; !a->depends[i] && k < _gantry_absorb_node (a, i)->n_operands; k++)
      {
        const GantryNode *operand = gantry_node_operand (a->module, _gantry_absorb_node (a, i), k);

        a->depends[i] = operand != NULL && a->depends[_gantry_absorb_index (a, operand)];
      }
}

gboolean
_gantry_absorb_takes_slice (const GantryModule *module, const GantryNode *node)
{
  const GantryType *from, *to = gantry_node_type (module, node);

  if (node->op != GANTRY_OP_SLICE || to->rank == 0 || to->dims[0] != 1)
    return FALSE;
  from = gantry_node_operand_type (module, node, 0);
  return memcmp (from->dims + 1, to->dims + 1, (to->rank - 1u) * sizeof *to->dims) == 0;
}

/* Whether @user (G_MAXUINT32: the caller of the function) reads a stack as a whole, or slice by slice, when all is done. */
static gboolean
is_reader_of_stack (const GantryAbsorbed *a, guint32 user)
{
  return user == G_MAXUINT32 || _gantry_absorb_takes_slice (a->module, &a->module->nodes[user]);
}

/* Whether somebody outside reads what node @i gives; @stack: those count who read a stack when all is done */
static gboolean
is_read_outside (const GantryAbsorbed *a, const GantryUses *uses, guint32 i, gboolean stack)
{
  guint32 position = a->entry->first_node + i;

  for (guint32 u = uses->first[position]; u < uses->first[position + 1]; u++)
    if (is_reader_of_stack (a, uses->users[u]) ? stack : !a->inside[uses->users[u] - a->entry->first_node])
      return TRUE;
  return FALSE;
}

/* Takes out what cannot be inside since something else is not. Returns: whether there was any */
static gboolean
take_out (GantryAbsorbed *a, const GantryUses *uses)
{
  gboolean any = FALSE;

  for (guint32 i = a->index + 1; i < a->entry->n_nodes; i++)
    {
      gint stack = _gantry_absorb_stack_of (a, _gantry_absorb_node (a, i));

      if (stack >= 0 && !a->kept[stack] && is_read_outside (a, uses, i, TRUE))
        any = a->kept[stack] = TRUE;
      if (a->inside[i] && (!can_be_inside (a, _gantry_absorb_node (a, i)) || is_read_outside (a, uses, i, FALSE)))
        {
          a->inside[i] = FALSE;
          any = TRUE;
        }
    }
  return any;
}

/* What is read inside alone is made there too. */
static void
take_in (GantryAbsorbed *a, const GantryUses *uses)
{
  for (guint32 i = a->entry->n_nodes; i-- > a->entry->n_params;)
    {
      const GantryNode *node = _gantry_absorb_node (a, i);
      guint32 position = a->entry->first_node + i;

      a->inside[i] = a->inside[i]
                     || (!a->depends[i] && node->phase != GANTRY_PHASE_FORWARD && uses->first[position] < uses->first[position + 1] && can_be_inside (a, node)
                         && !is_read_outside (a, uses, i, TRUE));
    }
}

static void
add_once (GArray *list, guint32 index)
{
  for (guint i = 0; i < list->len; i++)
    if (g_array_index (list, guint32, i) == index)
      return;
  g_array_append_val (list, index);
}

/* Operands that come from elsewhere. */
static void
find_operands (GantryAbsorbed *a)
{
  for (guint32 i = a->entry->n_params; i < a->entry->n_nodes; i++)
    for (guint k = 0; a->inside[i] && k < _gantry_absorb_node (a, i)->n_operands; k++)
      {
        const GantryNode *operand = gantry_node_operand (a->module, _gantry_absorb_node (a, i), k), *source;
        guint32 index = _gantry_absorb_index (a, operand);

        if (a->depends[index] || a->inside[index])
          continue;
        if (!_gantry_absorb_is_fixed (a, operand))
          {
            add_once (a->xs, index);
            continue;
          }
        source = gantry_node_operand (a->module, operand, 0);
        if (source->op != GANTRY_OP_CONSTANT)
          add_once (a->captures, _gantry_absorb_index (a, source));
      }
}

/* What stands behind the scan and is to be read by it goes before it. Returns: FALSE where control would have to */
static gboolean
find_hoisted (GantryAbsorbed *a)
{
  const GArray *lists[] = { a->xs, a->captures };

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    for (guint i = 0; i < lists[l]->len; i++)
      a->hoisted[g_array_index (lists[l], guint32, i)] = TRUE;
  for (guint32 i = a->entry->n_nodes; i-- > a->index + 1;)
    {
      const GantryNode *node = _gantry_absorb_node (a, i);
      const GantryOpInfo *info = gantry_op_info (node->op);

      if (!a->hoisted[i])
        continue;
      if (info == NULL || info->op_class == GANTRY_CLASS_CONTROL || (info->flags & GANTRY_OP_EFFECT) != 0)
        return FALSE;
      for (guint k = 0; k < node->n_operands; k++)
        {
          const GantryNode *operand = gantry_node_operand (a->module, node, k);

          if (operand != NULL)
            a->hoisted[_gantry_absorb_index (a, operand)] = TRUE;
        }
    }
  memset (a->hoisted, FALSE, a->index + (gsize) 1);
  return TRUE;
}

static void
keep_small (GantryAbsorbed *a)
{
  const GantryType *type = gantry_node_type (a->module, a->node);

  for (guint i = a->scan.n_carries; i < type->rank; i++)
    a->kept[i] = gantry_type_bytes (gantry_context_type (a->module->context, (guint32) type->dims[i])) < a->scan.length * GANTRY_LEAST_ABSORBED_BYTES;
}

/* Returns: whether anything goes into the loop, and can */
static gboolean
find_inside (GantryAbsorbed *a, const GantryUses *uses)
{
  keep_small (a);
  find_dependent (a);
  for (guint32 i = a->index + 1; i < a->entry->n_nodes; i++)
    a->inside[i] = a->depends[i] && can_be_inside (a, _gantry_absorb_node (a, i));
  while (take_out (a, uses))
    ;
  for (guint32 i = a->index + 1; i < a->entry->n_nodes; i++)
    for (guint32 u = uses->first[a->entry->first_node + i]; a->inside[i] && u < uses->first[a->entry->first_node + i + 1]; u++)
      if (is_reader_of_stack (a, uses->users[u]))
        add_once (a->outputs, i);
  take_in (a, uses);
  find_operands (a);
  return a->outputs->len > 0 && a->node->n_operands + a->xs->len + a->captures->len <= GANTRY_MOST_OPERANDS && find_hoisted (a);
}

/* Returns: (transfer full) (nullable) */
static GantryAbsorbed *
absorbed_new (const GantryModule *module, const GantryNode *node, const GantryUses *uses)
{
  GantryAbsorbed *a = g_new0 (GantryAbsorbed, 1);

  a->module = module;
  a->entry = gantry_module_entry (module);
  a->node = node;
  a->index = _gantry_absorb_index (a, node);
  gantry_scan_of (module, node, &a->scan);
  a->body = gantry_module_function (module, a->scan.body);
  a->depends = g_new0 (guint8, a->entry->n_nodes + (gsize) 1);
  a->inside = g_new0 (guint8, a->entry->n_nodes + (gsize) 1);
  a->hoisted = g_new0 (guint8, a->entry->n_nodes + (gsize) 1);
  a->kept = g_new0 (guint8, a->scan.n_carries + a->scan.n_ys + (gsize) 1);
  a->xs = g_array_new (FALSE, FALSE, sizeof (guint32));
  a->captures = g_array_new (FALSE, FALSE, sizeof (guint32));
  a->outputs = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (gantry_node_type (module, node)->kind == GANTRY_TYPE_TUPLE && a->body != NULL && _gantry_body_is_named_once (module, a->scan.body)
      && find_inside (a, uses))
    return a;
  absorbed_free (a);
  return NULL;
}

/* What one takes in, another must not move. */
static gboolean
collides (const GPtrArray *all, const GantryAbsorbed *a)
{
  for (guint k = 0; k < all->len; k++)
    {
      const GantryAbsorbed *b = g_ptr_array_index (all, k);

      for (guint32 i = 0; i < a->entry->n_nodes; i++)
        if ((a->inside[i] && (b->inside[i] || b->hoisted[i])) || (a->hoisted[i] && b->inside[i]))
          return TRUE;
    }
  return FALSE;
}

GPtrArray *
_gantry_absorb_find (const GantryModule *module, const GantryUses *uses)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GPtrArray *all = g_ptr_array_new_with_free_func (absorbed_free);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      GantryAbsorbed *a = node->op == GANTRY_OP_SCAN && node->phase != GANTRY_PHASE_FORWARD ? absorbed_new (module, node, uses) : NULL;

      if (a != NULL && !collides (all, a))
        g_ptr_array_add (all, a);
      else if (a != NULL)
        absorbed_free (a);
    }
  return all;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryUses) uses = gantry_uses_new (module);
  g_autoptr (GPtrArray) all = _gantry_absorb_find (module, uses);

  return all->len == 0 ? gantry_module_ref (module) : _gantry_absorb_write (module, all, progress, error);
}

const GantryPass gantry_pass_absorb = {
  .name = "absorb",
  .title = "Updates in loops",
  .description = "What is done element by element with what a loop stacks is done trip by trip.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
