/* SPDX-License-Identifier: Apache-2.0 */
/* stack: where a loop of the backward phase has put slices together that are taken apart again for the parameters of each layer, what is
 * done alike with each slice is done with the stack: layer by layer an optimizer updates parameters and states, each operation element by
 * element; over all layers that is one operation of stacks, whose results are taken apart instead. So absorb can put it into the loop. It
 * is done only where that will be so: what is put together for a loop has no place of its own, what is put together for anything else is
 * copied. */
#include "core/graph/builder-composite.h"
#include "core/graph/rewriter.h"
#include "core/passes/absorb-private.h"
#include "core/passes/bodies-private.h"
#include "core/passes/passes.h"
#include <string.h>

/* Nodes of the entry function that do the same, one of each trip. */
typedef struct
{
  guint32 *members; /* by trip: index in the entry function */
  guint32 stack;    /* of the slices themselves: index of what shows the stack in the entry function, else G_MAXUINT32 */
  guint group;      /* those of a group depend on each other: index of one of them, as a forest */
  guint n_returned; /* members that are results of the function */
  gboolean refused; /* of the group's first: somebody reads one of them for himself */
  guint32 last;     /* the last member */
  guint32 new_id;
} Alike;

typedef struct
{
  const GantryModule *module;
  const GantryFunction *entry;
  const GantryNode *node; /* the scan */
  GantryScan scan;
  const GantryUses *uses;
  GPtrArray *all; /* Alike */
  guint32 *alike; /* by index in the entry function: 1 + index of those it is one of */
  guint32 *trip;  /* by index: which one */
  guint32 *slice; /* by index: of a slice: 1 + index of those that its view is one of */
  GArray *made;   /* guint32: ids of what does it with stacks */
} Stack;

static Alike *
alike_new (guint32 stack, gint64 n)
{
  Alike *a = g_new0 (Alike, 1);

  a->stack = stack;
  a->members = g_new (guint32, n);
  memset (a->members, 0xff, (gsize) n * sizeof *a->members);
  return a;
}

static void
alike_free (gpointer data)
{
  Alike *a = data;

  g_free (a->members);
  g_free (a);
}

static void
stack_free (gpointer data)
{
  Stack *s = data;

  g_ptr_array_unref (s->all);
  g_array_unref (s->made);
  g_free (s->alike);
  g_free (s->trip);
  g_free (s->slice);
  g_free (s);
}

static const GantryNode *
node_at (const Stack *s, guint32 index)
{
  return &s->module->nodes[s->entry->first_node + index];
}

static guint32
index_of (const Stack *s, const GantryNode *node)
{
  return gantry_module_position (s->module, node) - s->entry->first_node;
}

static Alike *
alike_at (const Stack *s, guint32 index)
{
  return s->alike[index] != 0 ? g_ptr_array_index (s->all, s->alike[index] - 1) : NULL;
}

/* The only user of node @i, G_MAXUINT32: there is none, or it is a result, or there are others. */
static guint32
only_user (const Stack *s, guint32 i)
{
  guint32 user = _gantry_only_user (s->uses, s->entry->first_node + i);

  return user != G_MAXUINT32 ? user - s->entry->first_node : G_MAXUINT32;
}

static void
take (Stack *s, Alike *a)
{
  a->group = s->all->len;
  for (gint64 t = 0; t < s->scan.length; t++)
    {
      s->alike[a->members[t]] = s->all->len + 1;
      s->trip[a->members[t]] = (guint32) t;
      a->last = MAX (a->last, a->members[t]);
    }
  g_ptr_array_add (s->all, a);
}

/* Slices, and what they are without the dimension of the trips. */

/* Notes that user @u takes one slice of a stack, whose view is read. Returns: FALSE where it does not, or it was taken before */
static gboolean
add_slice (const Stack *s, guint32 u, guint32 *members)
{
  const GantryNode *node = node_at (s, u);
  guint32 view = _gantry_absorb_takes_slice (s->module, node) ? only_user (s, u) : G_MAXUINT32;
  const GantryType *type, *slice;
  gint64 t;
  gsize n;

  if (view == G_MAXUINT32 || node_at (s, view)->op != GANTRY_OP_RESHAPE)
    return FALSE;
  type = gantry_node_type (s->module, node_at (s, view));
  slice = gantry_node_type (s->module, node);
  t = gantry_attrs_ints (s->module->context, node->attrs, "start_indices", &n)[0];
  if (type->rank + 1 != slice->rank || memcmp (type->dims, slice->dims + 1, type->rank * sizeof *type->dims) != 0 || members[t] != G_MAXUINT32)
    return FALSE;
  members[t] = view;
  return TRUE;
}

/* @i: shows a stack of the scan */
static void
add_slices (Stack *s, guint32 i)
{
  guint32 position = s->entry->first_node + i, first = s->uses->first[position], n = s->uses->first[position + 1] - first;
  Alike *a;
  gboolean good = n == s->scan.length;

  if (!good)
    return;
  a = alike_new (i, n);
  for (guint32 u = first; u < first + n && good; u++)
    good = s->uses->users[u] != G_MAXUINT32 && add_slice (s, s->uses->users[u] - s->entry->first_node, a->members);
  if (!good)
    {
      alike_free (a);
      return;
    }
  take (s, a);
  for (guint32 u = first; u < first + n; u++)
    s->slice[s->uses->users[u] - s->entry->first_node] = s->all->len;
}

static void
find_slices (Stack *s)
{
  for (guint32 i = 0; i < s->entry->n_nodes; i++)
    {
      const GantryNode *node = node_at (s, i);
      gint64 member;

      if (node->op != GANTRY_OP_RESULT || gantry_node_operand (s->module, node, 0) != s->node)
        continue;
      member = gantry_attrs_int (s->module->context, node->attrs, "index", 0);
      if (member >= s->scan.n_carries && s->scan.y_axes[member - s->scan.n_carries] == 0
          && gantry_type_bytes (gantry_node_type (s->module, node)) >= s->scan.length * GANTRY_LEAST_ABSORBED_BYTES)
        add_slices (s, i);
    }
}

/* What is done with them. */

static gboolean
is_same_value (const Stack *s, const GantryNode *a, const GantryNode *b)
{
  if (a == b)
    return TRUE;
  if (a->op != b->op || a->attrs != b->attrs || a->type != b->type)
    return FALSE;
  return a->op == GANTRY_OP_CONSTANT
         || (a->op == GANTRY_OP_BROADCAST_IN_DIM && is_same_value (s, gantry_node_operand (s->module, a, 0), gantry_node_operand (s->module, b, 0)));
}

static gboolean
has_dims (const GantryType *type, const GantryType *like)
{
  return type->kind == GANTRY_TYPE_TENSOR && type->memory == GANTRY_MEMORY_DEVICE && type->rank == like->rank
         && memcmp (type->dims, like->dims, like->rank * sizeof *like->dims) == 0;
}

/* Whether each element of what @node gives depends on that element of what it reads alone. */
static gboolean
is_elementwise (const Stack *s, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryType *type = gantry_node_type (s->module, node);

  if (info == NULL || (info->flags & GANTRY_OP_ELEMENTWISE) == 0 || (info->flags & (GANTRY_OP_EFFECT | GANTRY_OP_EXTERN)) != 0
      || type->kind != GANTRY_TYPE_TENSOR || type->rank >= GANTRY_MAX_RANK)
    return FALSE;
  for (guint k = 0; k < node->n_operands; k++)
    if (gantry_node_operand (s->module, node, k) == NULL || !has_dims (gantry_node_operand_type (s->module, node, k), type))
      return FALSE;
  return has_dims (type, type);
}

/* Whether @node does in trip @t what @first does in the first one. */
static gboolean
does_the_same (const Stack *s, const GantryNode *first, const GantryNode *node, guint32 t)
{
  if (node->op != first->op || node->attrs != first->attrs || node->type != first->type || node->n_operands != first->n_operands || node->phase != first->phase
      || s->alike[index_of (s, node)] != 0)
    return FALSE;
  for (guint k = 0; k < node->n_operands; k++)
    {
      guint32 x = index_of (s, gantry_node_operand (s->module, first, k)), y = index_of (s, gantry_node_operand (s->module, node, k));

      if (s->alike[x] != s->alike[y] || (s->alike[x] != 0 && s->trip[y] != t) || node_at (s, x)->type != node_at (s, y)->type)
        return FALSE;
    }
  return TRUE;
}

/* What reads @operand, of trip @t, as node @first reads that of the first trip. Returns: G_MAXUINT32: nobody */
static guint32
find_partner (const Stack *s, const GantryNode *first, const Alike *operand, guint32 t, const guint32 *taken)
{
  guint32 position = s->entry->first_node + operand->members[t];

  for (guint32 u = s->uses->first[position]; u < s->uses->first[position + 1]; u++)
    {
      guint32 i = s->uses->users[u] != G_MAXUINT32 ? s->uses->users[u] - s->entry->first_node : G_MAXUINT32;
      gboolean fresh = i != G_MAXUINT32;

      for (guint32 k = 0; k < t && fresh; k++)
        fresh = taken[k] != i;
      if (fresh && does_the_same (s, first, node_at (s, i), t))
        return i;
    }
  return G_MAXUINT32;
}

static guint
first_of_group (const Stack *s, guint a)
{
  while (((Alike *) g_ptr_array_index (s->all, a))->group != a)
    a = ((Alike *) g_ptr_array_index (s->all, a))->group;
  return a;
}

/* Those that are @a depend on those that are @b, or the other way round. */
static void
join (const Stack *s, guint a, guint b)
{
  ((Alike *) g_ptr_array_index (s->all, first_of_group (s, a)))->group = first_of_group (s, b);
}

/* What those that are @a read as operand @k is done for them alone, alike as well. Returns: (nullable): it is not */
static Alike *
find_alike_before (const Stack *s, const Alike *a, guint k)
{
  const GantryNode *first = gantry_node_operand (s->module, node_at (s, a->members[0]), k);
  Alike *before;

  if (first->phase == GANTRY_PHASE_FORWARD || s->alike[index_of (s, first)] != 0 || !is_elementwise (s, first))
    return NULL;
  before = alike_new (G_MAXUINT32, s->scan.length);
  for (gint64 t = 0; t < s->scan.length; t++)
    {
      const GantryNode *node = gantry_node_operand (s->module, node_at (s, a->members[t]), k);

      before->members[t] = index_of (s, node);
      if (only_user (s, before->members[t]) != a->members[t] || !does_the_same (s, first, node, (guint32) t))
        {
          alike_free (before);
          return NULL;
        }
    }
  return before;
}

/* With what is done before, for what those that are number @which do. */
static void
take_before (Stack *s, guint which)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint));

  g_array_append_val (open, which);
  while (open->len > 0)
    {
      guint next = g_array_index (open, guint, open->len - 1);
      const Alike *a = g_ptr_array_index (s->all, next);

      g_array_set_size (open, open->len - 1);
      for (guint k = 0; k < node_at (s, a->members[0])->n_operands; k++)
        {
          Alike *before = find_alike_before (s, a, k);
          guint taken = s->all->len;

          if (before == NULL)
            continue;
          take (s, before);
          join (s, taken, next);
          g_array_append_val (open, taken);
        }
    }
}

/* Looks for what the others do as node @i does in the first trip. */
static void
extend (Stack *s, guint32 i)
{
  const GantryNode *node = node_at (s, i);
  const Alike *operand = NULL;
  Alike *a;

  for (guint k = 0; k < node->n_operands && operand == NULL; k++)
    {
      const GantryNode *from = gantry_node_operand (s->module, node, k);

      if (from != NULL && s->alike[index_of (s, from)] != 0 && s->trip[index_of (s, from)] == 0)
        operand = alike_at (s, index_of (s, from));
    }
  if (operand == NULL || s->alike[i] != 0 || !is_elementwise (s, node) || !does_the_same (s, node, node, 0))
    return;
  a = alike_new (G_MAXUINT32, s->scan.length);
  a->members[0] = i;
  for (guint32 t = 1; t < s->scan.length; t++)
    if ((a->members[t] = find_partner (s, node, operand, t, a->members)) == G_MAXUINT32)
      {
        alike_free (a);
        return;
      }
  take (s, a);
  for (guint k = 0; k < node->n_operands; k++)
    {
      guint32 from = s->alike[index_of (s, gantry_node_operand (s->module, node, k))];

      if (from != 0)
        join (s, from - 1, s->alike[i] - 1);
    }
  take_before (s, s->alike[i] - 1);
}

/* Whoever reads one of them must be one of others that are alike, or the caller of the function. */
static void
refuse_read (Stack *s)
{
  for (guint k = 0; k < s->all->len; k++)
    {
      Alike *a = g_ptr_array_index (s->all, k), *group = g_ptr_array_index (s->all, first_of_group (s, k));

      for (gint64 t = 0; t < s->scan.length; t++)
        for (guint32 u = s->uses->first[s->entry->first_node + a->members[t]]; u < s->uses->first[s->entry->first_node + a->members[t] + 1]; u++)
          {
            guint32 user = s->uses->users[u];

            a->n_returned += user == G_MAXUINT32;
            group->refused = group->refused || (user != G_MAXUINT32 && s->alike[user - s->entry->first_node] == 0);
          }
    }
  for (guint k = 0; k < s->all->len; k++)
    {
      const Alike *a = g_ptr_array_index (s->all, k);

      if (a->n_returned != 0 && (a->n_returned != s->scan.length || a->stack != G_MAXUINT32))
        ((Alike *) g_ptr_array_index (s->all, first_of_group (s, k)))->refused = TRUE;
    }
}

static gboolean
is_done (const Stack *s, const Alike *a)
{
  return !((Alike *) g_ptr_array_index (s->all, first_of_group (s, s->alike[a->members[0]] - 1)))->refused;
}

/* Returns: whether there is anything to be done with stacks */
static gboolean
find (Stack *s)
{
  gboolean any = FALSE;

  find_slices (s);
  for (guint32 i = 0; s->all->len > 0 && i < s->entry->n_nodes; i++)
    extend (s, i);
  refuse_read (s);
  for (guint k = 0; k < s->all->len; k++)
    any = any || (((Alike *) g_ptr_array_index (s->all, k))->n_returned > 0 && is_done (s, g_ptr_array_index (s->all, k)));
  return any;
}

/* Writing */

static void
stand_at (const Stack *s, GantryBuilder *b, const Alike *a)
{
  g_autofree guint32 *ids = g_new (guint32, s->scan.length);

  for (gint64 t = 0; t < s->scan.length; t++)
    ids[t] = node_at (s, a->members[t])->id;
  gantry_builder_set_place_of (b, node_at (s, a->members[0]));
  gantry_builder_set_origins (b, ids, (guint) s->scan.length);
}

/* What all trips have in common, once for each. */
static guint32
write_common (const Stack *s, GantryRewriter *rewriter, const GantryNode *node)
{
  const GantryType *type = gantry_context_type (s->module->context, _gantry_stack_type (s->module, gantry_node_type (s->module, node), s->scan.length));
  gint64 dims[GANTRY_MAX_RANK];
  gsize n = type->rank - 1u;
  const gint64 *from = NULL;
  const GantryNode *source = node;

  if (node->op == GANTRY_OP_BROADCAST_IN_DIM)
    {
      from = gantry_attrs_ints (s->module->context, node->attrs, "broadcast_dimensions", &n);
      source = gantry_node_operand (s->module, node, 0);
    }
  for (gsize i = 0; i < n; i++)
    dims[i] = (from != NULL ? from[i] : (gint64) i) + 1;
  return gantry_builder_broadcast (gantry_rewriter_builder (rewriter), gantry_rewriter_map (rewriter, source->id), type->rank, type->dims, dims);
}

/* Where the scan walks along these values already. Returns: (nullable) */
static const GantryNode *
find_walked (const Stack *s, const guint32 *operands)
{
  for (guint i = s->scan.n_carries; i < s->scan.n_carries + s->scan.n_xs; i++)
    {
      const GantryNode *node = gantry_node_operand (s->module, s->node, i);
      gboolean same = node->op == GANTRY_OP_CONCATENATE && node->n_operands == s->scan.length && s->scan.axes[i - s->scan.n_carries] == 0
                      && gantry_attrs_int (s->module->context, node->attrs, "dimension", 0) == 0;

      for (guint t = 0; same && t < s->scan.length; t++)
        {
          const GantryNode *view = gantry_node_operand (s->module, node, t);

          same = view->op == GANTRY_OP_RESHAPE && gantry_node_type (s->module, view)->dims[0] == 1
                 && gantry_node_operand (s->module, view, 0) == node_at (s, operands[t]);
        }
      if (same)
        return node;
    }
  return NULL;
}

/* What differs from trip to trip, put together. */
static guint32
write_stack (const Stack *s, GantryRewriter *rewriter, const guint32 *operands)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  const GantryNode *walked = find_walked (s, operands);
  const GantryType *type = gantry_node_type (s->module, node_at (s, operands[0]));
  g_autofree guint32 *pieces = g_new (guint32, s->scan.length);
  GantryDim dims[GANTRY_MAX_RANK] = { 1 };

  if (walked != NULL)
    return gantry_rewriter_map (rewriter, walked->id);
  memcpy (dims + 1, type->dims, type->rank * sizeof *dims);
  for (gint64 t = 0; t < s->scan.length; t++)
    pieces[t] = gantry_builder_reshape (b, gantry_rewriter_map (rewriter, node_at (s, operands[t])->id), type->rank + 1, dims);
  return gantry_builder_concatenate (b, pieces, (guint) s->scan.length, 0);
}

/* Operand @k of @a, as a stack. */
static guint32
write_operand (const Stack *s, GantryRewriter *rewriter, const Alike *a, guint k)
{
  g_autofree guint32 *operands = g_new (guint32, s->scan.length);
  gboolean same = TRUE;
  const Alike *from;

  for (gint64 t = 0; t < s->scan.length; t++)
    {
      operands[t] = index_of (s, gantry_node_operand (s->module, node_at (s, a->members[t]), k));
      same = same && is_same_value (s, node_at (s, operands[0]), node_at (s, operands[t]));
    }
  from = alike_at (s, operands[0]);
  if (from != NULL)
    return from->stack != G_MAXUINT32 ? gantry_rewriter_map (rewriter, node_at (s, from->stack)->id) : from->new_id;
  return same ? write_common (s, rewriter, node_at (s, operands[0])) : write_stack (s, rewriter, operands);
}

/* What the caller gets of it is taken apart. */
static void
write_results (const Stack *s, GantryRewriter *rewriter, const Alike *a)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);

  for (gint64 t = 0; t < s->scan.length; t++)
    {
      const GantryNode *node = node_at (s, a->members[t]);
      const GantryType *type = gantry_node_type (s->module, node);
      guint32 value;

      if (a->n_returned == 0)
        {
          gantry_rewriter_erase (rewriter, node);
          continue;
        }
      gantry_builder_set_place_of (b, node);
      gantry_builder_set_origins (b, &node->id, 1);
      value = gantry_builder_reshape (b, gantry_builder_slice_axis (b, a->new_id, 0, t, t + 1, 1), type->rank, type->dims);
      gantry_builder_name_node (b, value, node->name);
      gantry_rewriter_replace (rewriter, node, value);
    }
}

static void
write_alike (Stack *s, GantryRewriter *rewriter, Alike *a)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  const GantryNode *node = node_at (s, a->members[0]);
  g_autofree guint32 *operands = g_new (guint32, node->n_operands + (gsize) 1);

  stand_at (s, b, a);
  for (guint k = 0; k < node->n_operands; k++)
    operands[k] = write_operand (s, rewriter, a, k);
  a->new_id = gantry_builder_add_typed (b, node->op, operands, node->n_operands, node->attrs,
                                        _gantry_stack_type (s->module, gantry_node_type (s->module, node), s->scan.length));
  g_array_append_val (s->made, a->new_id);
  write_results (s, rewriter, a);
}

/* Returns: FALSE where @node is none of what is done with stacks */
static gboolean
visit_own (Stack *s, GantryRewriter *rewriter, const GantryNode *node)
{
  guint32 index = index_of (s, node);
  guint32 which = index < s->entry->n_nodes ? MAX (s->alike[index], s->slice[index]) : 0;
  Alike *a = which != 0 ? g_ptr_array_index (s->all, which - 1) : NULL;

  if (a == NULL || !is_done (s, a))
    return FALSE;
  if (a->stack != G_MAXUINT32)
    gantry_rewriter_erase (rewriter, node);
  else if (index == a->last)
    write_alike (s, rewriter, a);
  return TRUE;
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  GPtrArray *all = user_data;

  for (guint i = 0; i < all->len; i++)
    if (visit_own (g_ptr_array_index (all, i), rewriter, node))
      return TRUE;
  gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

/* Whether absorb would put all that @s has made into a loop. */
static gboolean
will_be_absorbed (const GantryModule *module, const GPtrArray *absorbed, const Stack *s)
{
  for (guint i = 0; i < s->made->len; i++)
    {
      const GantryNode *node = gantry_module_node (module, g_array_index (s->made, guint32, i));
      gboolean inside = FALSE;

      for (guint k = 0; k < absorbed->len && !inside; k++)
        {
          const GantryAbsorbed *a = g_ptr_array_index (absorbed, k);

          inside = a->inside[_gantry_absorb_index (a, node)];
        }
      if (!inside)
        return FALSE;
    }
  return TRUE;
}

/* Leaves out those of @all whose work absorb would leave where it is. Returns: whether there was one */
static gboolean
leave_out (GPtrArray *all, const GantryModule *module)
{
  g_autoptr (GantryUses) uses = gantry_uses_new (module);
  g_autoptr (GPtrArray) absorbed = _gantry_absorb_find (module, uses);
  guint n = all->len;

  for (guint i = all->len; i-- > 0;)
    if (!will_be_absorbed (module, absorbed, g_ptr_array_index (all, i)))
      g_ptr_array_remove_index (all, i);
  return all->len < n;
}

/* (transfer full) (nullable): %NULL where there is nothing to be done with stacks of @scan */
static Stack *
stack_new (const GantryModule *module, const GantryNode *scan, const GantryUses *uses)
{
  Stack *s = g_new0 (Stack, 1);

  s->module = module;
  s->entry = gantry_module_entry (module);
  s->node = scan;
  s->uses = uses;
  s->all = g_ptr_array_new_with_free_func (alike_free);
  s->made = g_array_new (FALSE, FALSE, sizeof (guint32));
  s->alike = g_new0 (guint32, s->entry->n_nodes + (gsize) 1);
  s->trip = g_new0 (guint32, s->entry->n_nodes + (gsize) 1);
  s->slice = g_new0 (guint32, s->entry->n_nodes + (gsize) 1);
  gantry_scan_of (module, scan, &s->scan);
  if (s->scan.length >= 2 && find (s))
    return s;
  stack_free (s);
  return NULL;
}

static GantryModule *
write_all (GantryModule *module, GPtrArray *all, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);

  for (guint i = 0; i < all->len; i++)
    g_array_set_size (((Stack *) g_ptr_array_index (all, i))->made, 0);
  return gantry_rewriter_run (rewriter, visit, all, progress, error) ? gantry_rewriter_finish (rewriter, error) : NULL;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (stack_free);
  g_autoptr (GantryUses) uses = gantry_uses_new (module);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      Stack *s = node->op == GANTRY_OP_SCAN && node->phase != GANTRY_PHASE_FORWARD ? stack_new (module, node, uses) : NULL;

      if (s != NULL)
        g_ptr_array_add (all, s);
    }
  while (all->len > 0)
    {
      g_autoptr (GantryModule) next = write_all (module, all, progress, error);

      if (next == NULL || !leave_out (all, next))
        return g_steal_pointer (&next);
    }
  return gantry_module_ref (module);
}

const GantryPass gantry_pass_stack = {
  .name = "stack",
  .title = "Updates of layers together",
  .description = "What is done alike with each slice that a loop has made is done with all of them at once, where it can become part of the loop.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
