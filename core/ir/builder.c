/* SPDX-License-Identifier: Apache-2.0 */
/* Functions being written, nodes added with inferred types, folding as they are added, freezing. The
 * sugar for lowering rules stands in builder-sugar.c. */
#include "core/ir/builder.h"
#include "core/ir/evaluator.h"
#include <string.h>

#define MOST_BROADCASTS 8u

typedef struct
{
  GantryFunction head;
  GArray *nodes;    /* GantryNode */
  GArray *captures; /* GantryNode: parameters that came later; they stand behind those of head.n_params */
  gboolean dropped;
} Draft;

#define IN_CAPTURES 0x80000000u /* of a position */

typedef struct
{
  guint32 draft; /* index + 1; 0: not here */
  guint32 position;
} Place;

struct _GantryBuilder
{
  GantryContext *context;
  guint32 name;
  GPtrArray *drafts; /* Draft, in order of begin */
  GArray *open;      /* guint: indices of drafts being written, innermost last */
  GArray *operands;   /* guint32 */
  GArray *origins;    /* guint32 */
  GArray *places;     /* Place by node id */
  GHashTable *ended;  /* function id -> index of its draft + 1 */
  GHashTable *splats; /* node id -> GantryLiteral made for gantry_builder_constant_of() */
  GArray *place_origins;
  guint32 scope, location, next_name;
  GantryPhase phase;
  gint64 fold_limit;
  GError *error;
};

static void
draft_free (gpointer data)
{
  Draft *draft = data;

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
  builder->places = g_array_new (FALSE, TRUE, sizeof (Place));
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
  Draft *draft = g_new0 (Draft, 1);
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

static Draft *
current (GantryBuilder *builder)
{
  g_assert (builder->open->len > 0);
  return g_ptr_array_index (builder->drafts, g_array_index (builder->open, guint, builder->open->len - 1));
}

void
gantry_builder_end (GantryBuilder *builder, const guint32 *results, guint n_results)
{
  Draft *draft = current (builder);

  draft->head.results = builder->operands->len;
  draft->head.n_results = n_results;
  g_array_append_vals (builder->operands, results, n_results);
  g_hash_table_insert (builder->ended, GUINT_TO_POINTER (draft->head.id),
                       GUINT_TO_POINTER (g_array_index (builder->open, guint, builder->open->len - 1) + 1));
  g_array_set_size (builder->open, builder->open->len - 1);
}

guint32
gantry_builder_parameter (GantryBuilder *builder, guint32 type, const char *name)
{
  Draft *draft = current (builder);
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
gantry_builder_set_fold_limit (GantryBuilder *builder, gint64 elements)
{
  builder->fold_limit = elements;
}

/* Look-ups */

static GantryNode *
find (GantryBuilder *builder, guint32 id)
{
  const Place *place;
  Draft *draft;

  if (id == 0 || id >= builder->places->len)
    return NULL;
  place = &g_array_index (builder->places, Place, id);
  if (place->draft == 0)
    return NULL;
  draft = g_ptr_array_index (builder->drafts, place->draft - 1);
  if (draft->dropped)
    return NULL;
  if ((place->position & IN_CAPTURES) != 0)
    return &g_array_index (draft->captures, GantryNode, place->position & ~IN_CAPTURES);
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
      return value != NULL && value->kind == GANTRY_ATTR_LITERAL
               ? gantry_context_literal (builder->context, value->id) : NULL;
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
  if (scalar == NULL || scalar->size != gantry_element_size (scalar->type->element) ||
      !gantry_type_is_static (gantry_builder_get_type (builder, id)))
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
  Draft *draft = current (builder);
  guint index = g_array_index (builder->open, guint, builder->open->len - 1);
  Place *place;

  if (node->id == 0)
    node->id = gantry_context_next_node_id (builder->context);
  if (node->id >= builder->places->len)
    g_array_set_size (builder->places, MAX (node->id + 1, builder->places->len + builder->places->len / 2));
  place = &g_array_index (builder->places, Place, node->id);
  if (place->draft != 0)
    {
      gantry_builder_fail (builder, GANTRY_ERROR_INVALID, "node id %%%u is used twice", node->id);
      return 0;
    }
  *place = (Place){ .draft = index + 1, .position = draft->nodes->len };
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
gantry_builder_add_node (GantryBuilder *builder, const GantryNode *like, const guint32 *operands,
                         const guint32 *origins)
{
  GantryNode node = *like;

  if (builder->error != NULL)
    return 0;
  if (node.id != 0)
    gantry_context_reserve_node_ids (builder->context, node.id);
  return append (builder, &node, operands, origins);
}

guint32
gantry_builder_add_typed (GantryBuilder *builder, guint op, const guint32 *operands, guint n_operands, guint32 attrs,
                          guint32 type)
{
  GantryNode node = { .op = (guint16) op, .n_operands = MIN (n_operands, GANTRY_MOST_OPERANDS), .attrs = attrs,
                      .type = type };

  if (n_operands > GANTRY_MOST_OPERANDS)
    gantry_builder_fail (builder, GANTRY_ERROR_TOO_LARGE, "a node has at most %u operands, not %u",
                         GANTRY_MOST_OPERANDS, n_operands);
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
static Draft *
draft_of (GantryBuilder *builder, guint32 function_id, guint *index)
{
  for (guint i = builder->drafts->len; i-- > 0;)
    {
      Draft *draft = g_ptr_array_index (builder->drafts, i);

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
  Draft *draft = draft_of (builder, function_id, &index);
  GantryNode node = { .op = GANTRY_OP_PARAMETER, .type = type, .scope = builder->scope, .location = builder->location };
  guint32 id;

  g_return_val_if_fail (draft != NULL, 0);
  id = node.id = gantry_context_next_node_id (builder->context);
  if (id >= builder->places->len)
    g_array_set_size (builder->places, MAX (id + 1, builder->places->len + builder->places->len / 2));
  g_array_index (builder->places, Place, id) = (Place){ index + 1, draft->captures->len | IN_CAPTURES };
  g_array_append_val (draft->captures, node);
  return id;
}

void
gantry_builder_order_captures (GantryBuilder *builder, guint32 function_id, const guint32 *ids, guint n)
{
  guint index;
  Draft *draft = draft_of (builder, function_id, &index);
  g_autofree GantryNode *nodes = g_new0 (GantryNode, n + 1);

  g_return_if_fail (draft != NULL && draft->captures->len == n);
  for (guint i = 0; i < n; i++)
    nodes[i] = *find (builder, ids[i]);
  for (guint i = 0; i < n; i++)
    {
      g_array_index (draft->captures, GantryNode, i) = nodes[i];
      g_array_index (builder->places, Place, ids[i]).position = i | IN_CAPTURES;
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
    ((Draft *) g_ptr_array_index (builder->drafts, i))->dropped = TRUE;
}

static guint32
draft_result_type (gpointer data, guint32 function_id)
{
  GantryBuilder *builder = data;
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (builder->ended, GUINT_TO_POINTER (function_id)));
  const Draft *draft = index != 0 ? g_ptr_array_index (builder->drafts, index - 1) : NULL;
  g_autofree guint32 *types = NULL;

  if (draft == NULL)
    return 0;
  types = g_new (guint32, draft->head.n_results + 1);
  for (guint j = 0; j < draft->head.n_results; j++)
    types[j] = gantry_builder_type (builder, g_array_index (builder->operands, guint32, draft->head.results + j));
  return draft->head.n_results == 1 ? types[0]
                                    : gantry_context_tuple (builder->context, draft->head.n_results, types);
}

/* A module of one node over parameters, so that the evaluator can be asked about a node not yet frozen. */
static GantryLiteral *
evaluate_alone (GantryBuilder *builder, guint op, GantryLiteral **operands, const guint32 *types, guint n,
                guint32 attrs, guint32 type)
{
  g_autofree GantryNode *nodes = g_new0 (GantryNode, n + 1);
  g_autofree guint32 *ids = g_new0 (guint32, n + 1);
  g_autofree guint32 *index = g_new0 (guint32, n + 2);
  GantryFunction function = { .id = 1, .n_nodes = n + 1, .n_params = n };
  GantryModule module = { .context = builder->context, .n_functions = 1, .n_nodes = n + 1, .n_operands = n,
                          .n_index = n + 2, .functions = &function, .nodes = nodes, .operands = ids, .index = index };
  GantryLiteral *result = NULL;

  for (guint i = 0; i <= n; i++)
    {
      nodes[i].id = i + 1;
      nodes[i].op = GANTRY_OP_PARAMETER;
      nodes[i].type = i < n ? types[i] : type;
      index[i + 1] = i + 1;
      if (i < n)
        ids[i] = i + 1;
    }
  nodes[n].op = (guint16) op;
  nodes[n].n_operands = n;
  nodes[n].attrs = attrs;
  /* A node that cannot be folded is simply not folded. */
  gantry_evaluate_node (&module, &nodes[n], operands, &result, 1, NULL);
  return result;
}

static gboolean
foldable (guint op)
{
  const GantryOpInfo *info = gantry_op_info (op);

  return info != NULL && (info->flags & (GANTRY_OP_EXTERN | GANTRY_OP_STRUCTURE | GANTRY_OP_RANDOM | GANTRY_OP_EFFECT)) == 0 &&
         op != GANTRY_OP_FUSION && op != GANTRY_OP_CHECKPOINT_NAME;
}

static guint32
try_fold (GantryBuilder *builder, guint op, const guint32 *operands, guint n, guint32 attrs, guint32 type)
{
  g_autofree GantryLiteral **values = g_new0 (GantryLiteral *, n + 1);
  g_autofree guint32 *types = g_new0 (guint32, n + 1);
  g_autoptr (GantryLiteral) result = NULL;
  gint64 elements = gantry_type_elements (gantry_context_type (builder->context, type));

  if (builder->fold_limit <= 0 || elements < 0 || elements > builder->fold_limit || !foldable (op))
    return 0;
  for (guint i = 0; i < n; i++)
    {
      values[i] = gantry_builder_constant_of (builder, operands[i]);
      if (values[i] == NULL || gantry_type_elements (values[i]->type) > 64 * builder->fold_limit)
        return 0;
      types[i] = gantry_builder_type (builder, operands[i]);
    }
  result = evaluate_alone (builder, op, values, types, n, attrs, type);
  return result != NULL ? gantry_builder_literal (builder, result) : 0;
}

guint32
gantry_builder_add (GantryBuilder *builder, guint op, const guint32 *operands, guint n_operands, guint32 attrs)
{
  g_autofree guint32 *types = g_new0 (guint32, n_operands + 1);
  GantryTypeQuery query = { .context = builder->context, .op = op, .n_operands = n_operands,
                            .operand_types = types, .attrs = attrs, .function_result = draft_result_type,
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
  folded = try_fold (builder, op, operands, n_operands, attrs, type);
  if (folded != 0)
    return folded;
  return gantry_builder_add_typed (builder, op, operands, n_operands, attrs, type);
}

/* Freezing */

static void
freeze_nodes (GantryModule *module, const GantryNode *nodes, guint n)
{
  if (n > 0)
    memcpy (module->nodes + module->n_nodes, nodes, n * sizeof (GantryNode));
  module->n_nodes += n;
}

static void
freeze_draft (GantryModule *module, const Draft *draft)
{
  const GantryNode *nodes = (const GantryNode *) (gpointer) draft->nodes->data;
  GantryFunction *function = &module->functions[module->n_functions++];

  *function = draft->head;
  function->first_node = module->n_nodes;
  function->n_nodes = draft->nodes->len + draft->captures->len;
  function->n_params += draft->captures->len;
  freeze_nodes (module, nodes, draft->head.n_params);
  freeze_nodes (module, (const GantryNode *) (gpointer) draft->captures->data, draft->captures->len);
  if (draft->nodes->len > draft->head.n_params) /* a function without nodes has no array */
    freeze_nodes (module, nodes + draft->head.n_params, draft->nodes->len - draft->head.n_params);
}

static void
freeze_functions (GantryBuilder *builder, GantryModule *module)
{
  guint32 total = 0;

  module->functions = g_new0 (GantryFunction, MAX (builder->drafts->len, 1));
  for (guint i = 0; i < builder->drafts->len; i++)
    {
      const Draft *draft = g_ptr_array_index (builder->drafts, i);

      total += draft->nodes->len + draft->captures->len;
    }
  module->nodes = g_new (GantryNode, MAX (total, 1));
  for (guint i = 0; i < builder->drafts->len; i++)
    {
      const Draft *draft = g_ptr_array_index (builder->drafts, i);

      if (!draft->dropped)
        freeze_draft (module, draft);
    }
}

static int
compare_function_ids (gconstpointer a, gconstpointer b, gpointer functions)
{
  guint32 x = ((const GantryFunction *) functions)[*(const guint32 *) a].id;
  guint32 y = ((const GantryFunction *) functions)[*(const guint32 *) b].id;

  return x < y ? -1 : x > y;
}

static void
freeze_index (GantryModule *module)
{
  guint32 last = 0;

  module->by_id = g_new (guint32, module->n_functions);
  for (guint32 i = 0; i < module->n_functions; i++)
    module->by_id[i] = i;
  g_qsort_with_data (module->by_id, (gint) module->n_functions, sizeof (guint32), compare_function_ids,
                     module->functions);
  for (guint32 i = 0; i < module->n_nodes; i++)
    last = MAX (last, module->nodes[i].id);
  module->n_index = last + 1;
  module->index = g_new0 (guint32, module->n_index);
  for (guint32 i = 0; i < module->n_nodes; i++)
    module->index[module->nodes[i].id] = i + 1;
}

static guint32 *
freeze_ids (GArray *ids, guint32 *n)
{
  *n = ids->len;
  return g_memdup2 (ids->data, MAX (ids->len, 1) * sizeof (guint32));
}

GantryModule *
gantry_builder_finish (GantryBuilder *builder, GError **error)
{
  GantryModule *module;

  if (!gantry_builder_check (builder, error))
    return NULL;
  if (builder->open->len > 0 || builder->drafts->len == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a module has to have a function, and all of them ended");
      return NULL;
    }
  module = g_new0 (GantryModule, 1);
  g_atomic_ref_count_init (&module->ref_count);
  module->context = gantry_context_ref (builder->context);
  module->name = builder->name;
  freeze_functions (builder, module);
  freeze_index (module);
  if (builder->operands->len == 0)
    module->operands = g_new0 (guint32, 1);
  else
    module->operands = freeze_ids (builder->operands, &module->n_operands);
  module->origins = builder->origins->len > 0 ? freeze_ids (builder->origins, &module->n_origins) : g_new0 (guint32, 1);
  clear (builder);
  reset (builder);
  return module;
}
