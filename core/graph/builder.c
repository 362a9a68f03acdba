/* SPDX-License-Identifier: Apache-2.0 */
/* Functions being written, and nodes added with inferred types. Folding stands in builder-fold.c, freezing in
 * builder-freeze.c, the sugar for lowering rules in builder-sugar.c. */
#include "core/graph/builder-private.h"
#include "core/graph/builder-walk.h"
#include <string.h>

#define MOST_BROADCASTS 8u

static void
draft_free (gpointer data)
{
  GantryDraft *draft = data;

  g_array_unref (draft->nodes);
  g_array_unref (draft->captures);
  g_free (draft);
}

static void
reset (GantryBuilder *builder)
{
  builder->drafts = g_ptr_array_new_with_free_func (draft_free);
  builder->open = g_array_new (FALSE, FALSE, sizeof (guint));
  builder->operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  builder->origins = g_array_new (FALSE, FALSE, sizeof (guint32));
  builder->places = g_array_new (FALSE, TRUE, sizeof (GantryPlace));
  builder->ended = g_hash_table_new (NULL, NULL);
  builder->splats = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) gantry_literal_unref);
}

static void
clear (GantryBuilder *builder)
{
  g_ptr_array_unref (builder->drafts);
  g_array_unref (builder->open);
  g_array_unref (builder->operands);
  g_array_unref (builder->origins);
  g_array_unref (builder->places);
  g_hash_table_unref (builder->ended);
  g_hash_table_unref (builder->splats);
}

void
_gantry_builder_reset (GantryBuilder *builder)
{
  clear (builder);
  reset (builder);
}

GantryBuilder *
gantry_builder_new (GantryContext *context, const char *name)
{
  GantryBuilder *builder = g_new0 (GantryBuilder, 1);

  builder->context = gantry_context_ref (context);
  builder->name = gantry_context_intern (context, name);
  builder->place_origins = g_array_new (FALSE, FALSE, sizeof (guint32));
  reset (builder);
  return builder;
}

void
gantry_builder_free (GantryBuilder *builder)
{
  if (builder == NULL)
    return;
  clear (builder);
  g_array_unref (builder->place_origins);
  g_clear_error (&builder->error);
  gantry_context_unref (builder->context);
  g_free (builder);
}

GantryContext *
gantry_builder_context (GantryBuilder *builder)
{
  return builder->context;
}

/* Errors */

void
gantry_builder_fail (GantryBuilder *builder, GantryError code, const char *format, ...)
{
  va_list args;

  if (builder->error != NULL)
    return;
  va_start (args, format);
  builder->error = g_error_new_valist (GANTRY_ERROR, (gint) code, format, args);
  va_end (args);
}

gboolean
gantry_builder_check (GantryBuilder *builder, GError **error)
{
  if (builder->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&builder->error));
  return FALSE;
}

/* Functions */

guint32
gantry_builder_begin (GantryBuilder *builder, const char *name, guint32 function_id)
{
  GantryDraft *draft = g_new0 (GantryDraft, 1);
  guint index = builder->drafts->len;

  draft->nodes = g_array_new (FALSE, FALSE, sizeof (GantryNode));
  draft->captures = g_array_new (FALSE, FALSE, sizeof (GantryNode));
  draft->head.name = gantry_context_intern (builder->context, name);
  draft->head.id = function_id != 0 ? function_id : gantry_context_next_function_id (builder->context);
  if (function_id != 0)
    gantry_context_reserve_function_ids (builder->context, function_id);
  g_ptr_array_add (builder->drafts, draft);
  g_array_append_val (builder->open, index);
  return draft->head.id;
}

static GantryDraft *
current (GantryBuilder *builder)
{
  g_assert (builder->open->len > 0);
  return g_ptr_array_index (builder->drafts, g_array_index (builder->open, guint, builder->open->len - 1));
}

void
gantry_builder_end (GantryBuilder *builder, const guint32 *results, guint n_results)
{
  GantryDraft *draft = current (builder);

  draft->head.results = builder->operands->len;
  draft->head.n_results = n_results;
  g_array_append_vals (builder->operands, results, n_results);
  g_hash_table_insert (builder->ended, GUINT_TO_POINTER (draft->head.id), GUINT_TO_POINTER (g_array_index (builder->open, guint, builder->open->len - 1) + 1));
  g_array_set_size (builder->open, builder->open->len - 1);
}

guint32
gantry_builder_parameter (GantryBuilder *builder, guint32 type, const char *name)
{
  GantryDraft *draft = current (builder);
  guint32 id;

  g_return_val_if_fail (draft->nodes->len == draft->head.n_params, 0);
  if (name != NULL)
    builder->next_name = gantry_context_intern (builder->context, name);
  id = gantry_builder_add_typed (builder, GANTRY_OP_PARAMETER, NULL, 0, 0, type);
  return id;
}

/* Where new nodes stand */

void
gantry_builder_set_place (GantryBuilder *builder, guint32 scope, guint32 location)
{
  builder->scope = scope;
  builder->location = location;
}

void
gantry_builder_set_phase (GantryBuilder *builder, GantryPhase phase)
{
  builder->phase = phase;
}

void
gantry_builder_set_place_of (GantryBuilder *builder, const GantryNode *node)
{
  gantry_builder_set_place (builder, node->scope, node->location);
  gantry_builder_set_phase (builder, (GantryPhase) node->phase);
}

void
gantry_builder_set_name (GantryBuilder *builder, guint32 name)
{
  builder->next_name = name;
}

void
gantry_builder_set_origins (GantryBuilder *builder, const guint32 *origins, guint n)
{
  g_array_set_size (builder->place_origins, 0);
  g_array_append_vals (builder->place_origins, origins, n);
}

void
gantry_builder_set_fold (GantryBuilder *builder, GantryFoldFunc fold, gint64 elements)
{
  builder->fold = fold;
  builder->fold_elements = elements;
}

/* Look-ups */

static GantryNode *
find (GantryBuilder *builder, guint32 id)
{
  const GantryPlace *place;
  GantryDraft *draft;

  if (id == 0 || id >= builder->places->len)
    return NULL;
  place = &g_array_index (builder->places, GantryPlace, id);
  if (place->draft == 0)
    return NULL;
  draft = g_ptr_array_index (builder->drafts, place->draft - 1);
  if (draft->dropped)
    return NULL;
  if ((place->position & GANTRY_IN_CAPTURES) != 0)
    return &g_array_index (draft->captures, GantryNode, place->position & ~GANTRY_IN_CAPTURES);
  return &g_array_index (draft->nodes, GantryNode, place->position);
}

const GantryNode *
gantry_builder_node (GantryBuilder *builder, guint32 id)
{
  return find (builder, id);
}

guint32
gantry_builder_type (GantryBuilder *builder, guint32 id)
{
  const GantryNode *node = find (builder, id);

  return node != NULL ? node->type : 0;
}

const GantryType *
gantry_builder_get_type (GantryBuilder *builder, guint32 id)
{
  return gantry_context_type (builder->context, gantry_builder_type (builder, id));
}

guint32
gantry_builder_operand_of (GantryBuilder *builder, guint32 id, guint i)
{
  const GantryNode *node = find (builder, id);

  return node != NULL && i < node->n_operands ? g_array_index (builder->operands, guint32, node->operands + i) : 0;
}

void
gantry_builder_name_node (GantryBuilder *builder, guint32 id, guint32 name)
{
  GantryNode *node = find (builder, id);

  if (node != NULL && node->name == 0)
    node->name = name;
}

void
gantry_builder_set_parameter_attrs (GantryBuilder *builder, guint32 id, guint32 attrs)
{
  GantryNode *node = find (builder, id);

  g_return_if_fail (node != NULL && node->op == GANTRY_OP_PARAMETER);
  node->attrs = attrs;
}

void
gantry_builder_choose_phases (GantryBuilder *builder, GantryPhaseOf phase_of, gpointer user_data)
{
  for (guint d = 0; d < builder->drafts->len; d++)
    {
      const GantryDraft *draft = g_ptr_array_index (builder->drafts, d);

      for (guint i = 0; i < draft->nodes->len; i++)
        {
          GantryNode *node = &g_array_index (draft->nodes, GantryNode, i);

          if (node->op != GANTRY_OP_PARAMETER)
            node->phase = phase_of (builder, node, user_data);
        }
    }
}

const GantryNode *
gantry_builder_node_at (GantryBuilder *builder, guint32 function_id, guint position)
{
  guint draft = GPOINTER_TO_UINT (g_hash_table_lookup (builder->ended, GUINT_TO_POINTER (function_id)));
  const GArray *nodes = draft != 0 ? ((const GantryDraft *) g_ptr_array_index (builder->drafts, draft - 1))->nodes : NULL;

  return nodes != NULL && position < nodes->len ? &g_array_index (nodes, GantryNode, position) : NULL;
}

const guint32 *
gantry_builder_results (GantryBuilder *builder, guint32 function_id, guint *n)
{
  guint draft = GPOINTER_TO_UINT (g_hash_table_lookup (builder->ended, GUINT_TO_POINTER (function_id)));
  const GantryFunction *head = draft != 0 ? &((const GantryDraft *) g_ptr_array_index (builder->drafts, draft - 1))->head : NULL;

  *n = head != NULL ? head->n_results : 0;
  /* Without any operand the array has no memory, and NULL + 0 is undefined. */
  return *n > 0 ? &g_array_index (builder->operands, guint32, head->results) : NULL;
}

GantryLiteral *
gantry_builder_constant_of (GantryBuilder *builder, guint32 id)
{
  const GantryNode *node = find (builder, id);
  const GantryAttr *value;
  GantryLiteral *scalar, *splat;
  guint32 source = id;
  g_autoptr (GBytes) bytes = NULL;

  if (node == NULL)
    return NULL;
  if (node->op == GANTRY_OP_CONSTANT)
    {
      value = gantry_attrs_find (builder->context, node->attrs, "value");
      return value != NULL && value->kind == GANTRY_ATTR_LITERAL ? gantry_context_literal (builder->context, value->id) : NULL;
    }
  if (node->op != GANTRY_OP_BROADCAST_IN_DIM)
    return NULL;
  splat = g_hash_table_lookup (builder->splats, GUINT_TO_POINTER (id));
  if (splat != NULL)
    return splat;
  /* Broadcasts of broadcasts, up to a depth: in a long chain looking back from each would be quadratic. */
  for (guint depth = 0; depth < MOST_BROADCASTS && node != NULL && node->op == GANTRY_OP_BROADCAST_IN_DIM; depth++)
    {
      source = gantry_builder_operand_of (builder, source, 0);
      node = find (builder, source);
    }
  if (node == NULL || node->op != GANTRY_OP_CONSTANT)
    return NULL;
  scalar = gantry_builder_constant_of (builder, source);
  if (scalar == NULL || scalar->size != gantry_element_size (scalar->type->element) || !gantry_type_is_static (gantry_builder_get_type (builder, id)))
    return NULL;
  bytes = g_bytes_new (scalar->data, scalar->size);
  splat = gantry_literal_new (gantry_builder_get_type (builder, id), bytes, TRUE, NULL);
  if (splat != NULL)
    g_hash_table_insert (builder->splats, GUINT_TO_POINTER (id), splat);
  return splat;
}

/* Adding */

static guint32
append (GantryBuilder *builder, GantryNode *node, const guint32 *operands, const guint32 *origins)
{
  GantryDraft *draft = current (builder);
  guint index = g_array_index (builder->open, guint, builder->open->len - 1);
  GantryPlace *place;

  if (node->id == 0)
    node->id = gantry_context_next_node_id (builder->context);
  if (node->id >= builder->places->len)
    g_array_set_size (builder->places, MAX (node->id + 1, builder->places->len + builder->places->len / 2));
  place = &g_array_index (builder->places, GantryPlace, node->id);
  if (place->draft != 0)
    {
      gantry_builder_fail (builder, GANTRY_ERROR_INVALID, "node id %%%u is used twice", node->id);
      return 0;
    }
  *place = (GantryPlace){ .draft = index + 1, .position = draft->nodes->len };
  node->operands = builder->operands->len;
  if (node->n_operands > 0)
    g_array_append_vals (builder->operands, operands, node->n_operands);
  node->origins = builder->origins->len;
  if (node->n_origins > 0)
    g_array_append_vals (builder->origins, origins, node->n_origins);
  if (node->op == GANTRY_OP_PARAMETER && draft->head.n_params == draft->nodes->len)
    draft->head.n_params++;
  g_array_append_val (draft->nodes, *node);
  return node->id;
}

guint32
gantry_builder_add_node (GantryBuilder *builder, const GantryNode *like, const guint32 *operands, const guint32 *origins)
{
  GantryNode node = *like;

  if (builder->error != NULL)
    return 0;
  if (node.id != 0)
    gantry_context_reserve_node_ids (builder->context, node.id);
  return append (builder, &node, operands, origins);
}

guint32
gantry_builder_add_typed (GantryBuilder *builder, guint op, const guint32 *operands, guint n_operands, guint32 attrs, guint32 type)
{
  GantryNode node = { .op = (guint16) op, .n_operands = MIN (n_operands, GANTRY_MOST_OPERANDS), .attrs = attrs, .type = type };

  if (n_operands > GANTRY_MOST_OPERANDS)
    gantry_builder_fail (builder, GANTRY_ERROR_TOO_LARGE, "a node has at most %u operands, not %u", GANTRY_MOST_OPERANDS, n_operands);
  if (builder->error != NULL)
    return 0;
  node.phase = builder->phase;
  node.scope = builder->scope;
  node.location = builder->location;
  node.name = builder->next_name;
  node.n_origins = (guint16) MIN (builder->place_origins->len, G_MAXUINT16);
  builder->next_name = 0;
  return append (builder, &node, operands, (const guint32 *) (gpointer) builder->place_origins->data);
}

/* The draft of a function, whether it is being written or has been. */
static GantryDraft *
draft_of (GantryBuilder *builder, guint32 function_id, guint *index)
{
  for (guint i = builder->drafts->len; i-- > 0;)
    {
      GantryDraft *draft = g_ptr_array_index (builder->drafts, i);

      *index = i;
      if (draft->head.id == function_id && !draft->dropped)
        return draft;
    }
  return NULL;
}

guint32
gantry_builder_capture (GantryBuilder *builder, guint32 function_id, guint32 type)
{
  guint index;
  GantryDraft *draft = draft_of (builder, function_id, &index);
  GantryNode node = { .op = GANTRY_OP_PARAMETER, .type = type, .scope = builder->scope, .location = builder->location };
  guint32 id;

  g_return_val_if_fail (draft != NULL, 0);
  id = node.id = gantry_context_next_node_id (builder->context);
  if (id >= builder->places->len)
    g_array_set_size (builder->places, MAX (id + 1, builder->places->len + builder->places->len / 2));
  g_array_index (builder->places, GantryPlace, id) = (GantryPlace){ index + 1, draft->captures->len | GANTRY_IN_CAPTURES };
  g_array_append_val (draft->captures, node);
  return id;
}

void
gantry_builder_order_captures (GantryBuilder *builder, guint32 function_id, const guint32 *ids, guint n)
{
  guint index;
  GantryDraft *draft = draft_of (builder, function_id, &index);
  g_autofree GantryNode *nodes = g_new0 (GantryNode, n + 1);

  g_return_if_fail (draft != NULL && draft->captures->len == n);
  for (guint i = 0; i < n; i++)
    nodes[i] = *find (builder, ids[i]);
  for (guint i = 0; i < n; i++)
    {
      g_array_index (draft->captures, GantryNode, i) = nodes[i];
      g_array_index (builder->places, GantryPlace, ids[i]).position = i | GANTRY_IN_CAPTURES;
    }
}

void
gantry_builder_reopen (GantryBuilder *builder, guint32 function_id)
{
  guint index;

  g_return_if_fail (draft_of (builder, function_id, &index) != NULL);
  g_array_append_val (builder->open, index);
}

void
gantry_builder_drop (GantryBuilder *builder, guint32 function_id)
{
  guint index;

  g_return_if_fail (draft_of (builder, function_id, &index) != NULL);
  for (guint i = index; i < builder->drafts->len; i++)
    ((GantryDraft *) g_ptr_array_index (builder->drafts, i))->dropped = TRUE;
}

static guint32
draft_result_type (gpointer data, guint32 function_id)
{
  GantryBuilder *builder = data;
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (builder->ended, GUINT_TO_POINTER (function_id)));
  const GantryDraft *draft = index != 0 ? g_ptr_array_index (builder->drafts, index - 1) : NULL;
  g_autofree guint32 *types = NULL;

  if (draft == NULL)
    return 0;
  types = g_new (guint32, draft->head.n_results + 1);
  for (guint j = 0; j < draft->head.n_results; j++)
    types[j] = gantry_builder_type (builder, g_array_index (builder->operands, guint32, draft->head.results + j));
  return draft->head.n_results == 1 ? types[0] : gantry_context_tuple (builder->context, draft->head.n_results, types);
}

guint32
gantry_builder_add (GantryBuilder *builder, guint op, const guint32 *operands, guint n_operands, guint32 attrs)
{
  g_autofree guint32 *types = g_new0 (guint32, n_operands + 1);
  GantryTypeQuery query = { .context = builder->context,
                            .op = op,
                            .n_operands = n_operands,
                            .operand_types = types,
                            .attrs = attrs,
                            .function_result = draft_result_type,
                            .data = builder };
  guint32 type, folded;

  if (builder->error != NULL)
    return 0;
  for (guint i = 0; i < n_operands; i++)
    {
      if (find (builder, operands[i]) == NULL)
        {
          gantry_builder_fail (builder, GANTRY_ERROR_INVALID, "%s: operand %u is not a value of this module",
                               gantry_context_op_name (builder->context, (guint16) op), i);
          return 0;
        }
      types[i] = gantry_builder_type (builder, operands[i]);
    }
  type = gantry_op_infer (&query, &builder->error);
  if (builder->error != NULL)
    return 0;
  folded = builder->fold != NULL ? builder->fold (builder, op, operands, n_operands, attrs, type, builder->fold_elements) : 0;
  if (folded != 0)
    return folded;
  return gantry_builder_add_typed (builder, op, operands, n_operands, attrs, type);
}
