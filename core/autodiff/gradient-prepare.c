/* SPDX-License-Identifier: Apache-2.0 */
/* What comes before differentiation: calls and fusions are inlined, and a loop of at most
 * `most_trips` trips becomes a scan of so many iterations, each of which goes on only where the
 * condition still holds. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"
#include "core/graph/rewriter.h"

#define MOST_DEPTH 64u
#define MOST_NODES (1u << 24)

typedef struct
{
  guint depth;
  guint64 n_nodes; /* made by inlining */
  gboolean integers;
} Inliner;

static guint32 inline_node (Inliner *inliner, GantryBuilder *builder, const GantryModule *module, const GantryNode *node, const guint32 *operands);
static guint32 inline_function (Inliner *inliner, GantryBuilder *builder, const GantryModule *module, const GantryFunction *function, const guint32 *arguments,
                                guint32 *results);

/* What a call gives: its only result, or a tuple of them. */
static guint32
inline_call (Inliner *inliner, GantryBuilder *builder, const GantryModule *module, const GantryNode *node, const guint32 *operands)
{
  const GantryFunction *body = _gantry_body_of (module, node, "body");
  g_autofree guint32 *results = NULL;

  if (body == NULL || body->n_params != node->n_operands)
    {
      gantry_builder_fail (builder, GANTRY_ERROR_INVALID, "%s names no function of its operands", gantry_node_op_name (module, node));
      return 0;
    }
  results = g_new0 (guint32, body->n_results + 1);
  inline_function (inliner, builder, module, body, operands, results);
  gantry_builder_set_place_of (builder, node);
  gantry_builder_set_origins (builder, &node->id, 1);
  return body->n_results == 1 ? results[0] : gantry_builder_add (builder, GANTRY_OP_TUPLE, results, body->n_results, 0);
}

/* Copies the nodes of @function into the open function. Returns: 0 after an error */
static guint32
inline_function (Inliner *inliner, GantryBuilder *builder, const GantryModule *module, const GantryFunction *function, const guint32 *arguments,
                 guint32 *results)
{
  g_autofree guint32 *map = g_new0 (guint32, function->n_nodes + 1);
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (++inliner->depth > MOST_DEPTH)
    gantry_builder_fail (builder, GANTRY_ERROR_TOO_LARGE, "calls lie within calls at a depth over %u", MOST_DEPTH);
  for (guint32 i = 0; i < function->n_nodes && inliner->depth <= MOST_DEPTH && inliner->n_nodes <= MOST_NODES; i++)
    {
      const GantryNode *node = &module->nodes[function->first_node + i];

      g_array_set_size (operands, 0);
      for (guint k = 0; k < node->n_operands; k++)
        g_array_append_val (operands, map[gantry_module_position (module, gantry_node_operand (module, node, k)) - function->first_node]);
      map[i] = i < function->n_params ? arguments[i] : inline_node (inliner, builder, module, node, (const guint32 *) (gpointer) operands->data);
    }
  inliner->depth--;
  for (guint i = 0; i < function->n_results; i++)
    results[i] = map[gantry_module_position (module, gantry_module_node (module, gantry_function_result_id (module, function, i))) - function->first_node];
  return 1;
}

/* Bounded loops */

static gboolean
is_bounded_loop (const GantryModule *module, const GantryNode *node, gboolean integers)
{
  gboolean has_float = FALSE;

  if (node->op != GANTRY_OP_WHILE || gantry_attrs_int (module->context, node->attrs, "most_trips", -1) < 0
      || gantry_attrs_int (module->context, node->attrs, "exact_trips", -1) >= 0) /* a scan of a bound would not see that there are others */
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryType *type = gantry_node_operand_type (module, node, i);

      if (!gantry_type_is_tensor (type))
        return FALSE;
      has_float |= integers || gantry_element_is_float (type->element);
    }
  return has_float;
}

static guint32
begin_like (GantryBuilder *builder, const GantryModule *module, const GantryFunction *like, const char *suffix, guint32 *parameters)
{
  g_autofree char *name = g_strdup_printf ("%s.%s", gantry_context_string (module->context, like->name), suffix);
  guint32 id = gantry_builder_begin (builder, name, 0);

  for (guint i = 0; i < like->n_params; i++)
    {
      const GantryNode *node = &module->nodes[like->first_node + i];

      gantry_builder_set_name (builder, node->name);
      parameters[i] = gantry_builder_parameter (builder, node->type, NULL);
    }
  return id;
}

static guint
n_carries_of (const GantryModule *module, const GantryNode *node)
{
  return (guint) gantry_attrs_int (module->context, node->attrs, "n_carries", node->n_operands);
}

/* One iteration: if (cond) body, else what came in. */
static guint32
write_iteration (Inliner *inliner, GantryBuilder *builder, const GantryModule *module, const GantryNode *node)
{
  const GantryFunction *cond = _gantry_body_of (module, node, "cond"), *body = _gantry_body_of (module, node, "body");
  guint n = n_carries_of (module, node);
  g_autofree guint32 *values = g_new0 (guint32, node->n_operands + 2);
  g_autofree guint32 *results = g_new0 (guint32, MAX (n, cond->n_results) + 1);
  GantryAttrList *attrs = gantry_attr_list_new (module->context);
  guint32 same, id, branch;

  same = begin_like (builder, module, body, "same", values);
  gantry_builder_end (builder, values, n);
  id = begin_like (builder, module, body, "iteration", values + 1);
  inline_function (inliner, builder, module, cond, values + 1, results);
  values[0] = results[0];
  gantry_builder_set_place_of (builder, node);
  gantry_builder_set_origins (builder, &node->id, 1);
  gantry_attr_list_set_function (attrs, "then", body->id);
  gantry_attr_list_set_function (attrs, "else", same);
  branch = gantry_builder_add_typed (builder, GANTRY_OP_IF, values, node->n_operands + 1, gantry_attr_list_end (attrs), node->type);
  for (guint i = 0; i < n; i++)
    results[i] = n == 1 ? branch : gantry_builder_result (builder, branch, i);
  gantry_builder_end (builder, results, n);
  return id;
}

static guint32
write_bounded_loop (Inliner *inliner, GantryBuilder *builder, const GantryModule *module, const GantryNode *node, const guint32 *operands)
{
  GantryScan scan = { .length = gantry_attrs_int (module->context, node->attrs, "most_trips", 0), .n_carries = n_carries_of (module, node) };
  const GantryFunction *cond = _gantry_body_of (module, node, "cond"), *body = _gantry_body_of (module, node, "body");

  if (cond == NULL || body == NULL || cond->n_params != node->n_operands || body->n_params != node->n_operands)
    {
      gantry_builder_fail (builder, GANTRY_ERROR_INVALID, "while names no functions of its operands");
      return 0;
    }
  gantry_builder_set_place_of (builder, node);
  gantry_builder_set_origins (builder, &node->id, 1);
  scan.n_captures = node->n_operands - scan.n_carries;
  scan.body = write_iteration (inliner, builder, module, node);
  gantry_builder_set_place_of (builder, node);
  gantry_builder_set_origins (builder, &node->id, 1);
  gantry_builder_set_name (builder, node->name);
  return gantry_builder_scan (builder, &scan, operands);
}

/* The walk */

static guint32
inline_node (Inliner *inliner, GantryBuilder *builder, const GantryModule *module, const GantryNode *node, const guint32 *operands)
{
  GantryNode copy = *node;

  if (node->op == GANTRY_OP_CALL || node->op == GANTRY_OP_FUSION)
    return inline_call (inliner, builder, module, node, operands);
  if (is_bounded_loop (module, node, inliner->integers))
    return write_bounded_loop (inliner, builder, module, node, operands);
  if (++inliner->n_nodes > MOST_NODES)
    gantry_builder_fail (builder, GANTRY_ERROR_TOO_LARGE, "calls within calls give more than %u nodes", MOST_NODES);
  copy.id = 0;
  copy.n_origins = 1;
  return gantry_builder_add_node (builder, &copy, operands, &node->id);
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  Inliner *inliner = user_data;
  g_autofree guint32 *operands = NULL;

  if (node->op != GANTRY_OP_CALL && node->op != GANTRY_OP_FUSION && !is_bounded_loop (module, node, inliner->integers))
    {
      gantry_rewriter_keep (rewriter, node);
      return TRUE;
    }
  operands = g_new0 (guint32, node->n_operands + 1);
  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i));
  gantry_rewriter_replace (rewriter, node, inline_node (inliner, gantry_rewriter_builder (rewriter), module, node, operands));
  return TRUE;
}

GantryModule *
_gantry_prepare (GantryModule *module, gboolean integers, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = NULL;
  Inliner inliner = { .integers = integers };
  gboolean any = FALSE;

  for (guint32 i = 0; i < module->n_nodes && !any; i++)
    any = module->nodes[i].op == GANTRY_OP_CALL || module->nodes[i].op == GANTRY_OP_FUSION || is_bounded_loop (module, &module->nodes[i], integers);
  if (!any)
    return gantry_module_ref (module);
  rewriter = gantry_rewriter_new (module);
  return gantry_rewriter_run (rewriter, visit, &inliner, progress, error) ? gantry_rewriter_finish (rewriter, error) : NULL;
}
