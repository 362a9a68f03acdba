/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: what kind of reduction one is, and writing one in place. A region of scalars is written for whole
 * tensors: each of its operations is elementwise, so a scalar becomes the tensor of what it is at every place. */
#include "core/frontends/xla/lower-private.h"

#define MOST_DEPTH 32

static const struct
{
  const char *operation, *kind, *of_bools;
  GantryOp op;
} kinds[] = {
  { "add", "add", "or", GANTRY_OP_ADD },          { "multiply", "mul", "and", GANTRY_OP_MULTIPLY }, { "maximum", "max", "or", GANTRY_OP_MAXIMUM },
  { "minimum", "min", "and", GANTRY_OP_MINIMUM }, { "and", "and", "and", GANTRY_OP_AND },           { "or", "or", "or", GANTRY_OP_OR },
};

const char *
gantry_xla_body_kind (XlaLower *l, guint32 function, guint i, guint n)
{
  const GantryFunction *f = gantry_module_function (l->source, function);
  const GantryNode *node;
  guint32 first, second, a, b;
  const char *name;

  if (f == NULL || f->n_params < 2 * n || i >= f->n_results)
    return NULL;
  first = l->source->nodes[f->first_node + i].id;
  second = l->source->nodes[f->first_node + n + i].id;
  node = gantry_module_node (l->source, gantry_function_result_id (l->source, f, i));
  if (node == NULL || node->id == second)
    return node != NULL ? "set" : NULL;
  if (node->n_operands != 2)
    return NULL;
  a = gantry_node_operand_id (l->source, node, 0);
  b = gantry_node_operand_id (l->source, node, 1);
  if (!((a == first && b == second) || (a == second && b == first)))
    return NULL;
  name = gantry_node_op_name (l->source, node);
  name = strchr (name, '.') != NULL ? strchr (name, '.') + 1 : name;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    if (strcmp (kinds[k].operation, name) == 0)
      return gantry_node_type (l->source, node)->element == GANTRY_BOOL ? kinds[k].of_bools : kinds[k].kind;
  return NULL;
}

guint32
gantry_xla_combine (XlaLower *l, const char *kind, guint32 x, guint32 y)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    if (strcmp (kinds[k].kind, kind) == 0)
      return gantry_xla_binary (l, kinds[k].op, x, y);
  return gantry_xla_spread (l, y, x);
}

gboolean
gantry_xla_is_identity (XlaLower *l, const char *kind, guint32 id)
{
  GantryLiteral *literal = id != 0 ? gantry_builder_constant_of (l->b, id) : NULL;
  GantryElementType element = gantry_xla_element (l, id);
  guint bits = 8 * (guint) gantry_element_size (element);
  gboolean is_float = gantry_element_is_float (element), with_sign = gantry_element_is_signed (element);
  gint64 whole, least, most;
  double value;

  if (literal == NULL)
    return FALSE;
  if (element == GANTRY_BOOL)
    return gantry_literal_get_int (literal, 0) == (strcmp (kind, "and") == 0);
  value = is_float ? gantry_literal_get_double (literal, 0) : 0;
  whole = is_float ? 0 : gantry_literal_get_int (literal, 0);
  most = with_sign ? (gint64) (G_MAXUINT64 >> (65 - bits)) : (gint64) (G_MAXUINT64 >> (64 - bits));
  least = with_sign ? -most - 1 : 0;
  if (strcmp (kind, "add") == 0 || strcmp (kind, "or") == 0)
    return is_float ? value == 0 : whole == 0;
  if (strcmp (kind, "mul") == 0)
    return is_float ? value == 1 : whole == 1;
  if (strcmp (kind, "and") == 0)
    return !is_float && (with_sign ? whole == -1 : whole == most);
  if (strcmp (kind, "max") == 0)
    return is_float ? value == -INFINITY : whole == least;
  return is_float ? value == INFINITY : whole == most;
}

/* Writing in place */

typedef struct
{
  guint32 id;
  guint n_members;
  guint32 *members;
} Value;

typedef struct
{
  XlaLower *l;
  const GantryFunction *f;
  Value *values;
  gboolean lifted;
} Body;

static Value *
value_of (Body *body, guint32 id)
{
  const GantryNode *node = gantry_module_node (body->l->source, id);
  guint32 at = node != NULL ? gantry_module_position (body->l->source, node) : 0;

  return node != NULL && at >= body->f->first_node && at < body->f->first_node + body->f->n_nodes ? &body->values[at - body->f->first_node] : NULL;
}

static gboolean
inline_call (Body *body, const GantryNode *node, const guint32 *operands, Value *value)
{
  const GantryAttr *attr = gantry_attrs_find (body->l->context, node->attrs, "body");

  return attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION
         && gantry_xla_inline (body->l, attr->id, operands, node->n_operands, value->members, value->n_members, body->lifted);
}

static gboolean
inline_node (Body *body, const GantryNode *node, Value *value)
{
  XlaLower *l = body->l;
  const GantryType *type = gantry_node_type (l->source, node);
  guint32 *operands = XLA_NEW (l, guint32, node->n_operands);
  GError *error = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const Value *operand = value_of (body, gantry_node_operand_id (l->source, node, i));

      operands[i] = operand != NULL ? operand->id : 0;
    }
  if (node->op == GANTRY_OP_RESULT)
    {
      const Value *tuple = value_of (body, gantry_node_operand_id (l->source, node, 0));
      gint64 index = gantry_attrs_int (l->context, node->attrs, "index", 0);

      value->id = tuple != NULL && index >= 0 && index < tuple->n_members ? tuple->members[index] : 0;
      return TRUE;
    }
  value->n_members = type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
  value->members = XLA_NEW (l, guint32, value->n_members);
  if (node->op == GANTRY_OP_CALL)
    {
      if (!inline_call (body, node, operands, value))
        return FALSE;
    }
  else if (node->op < GANTRY_OP_FOREIGN)
    value->members[0] = gantry_builder_add (l->b, node->op, operands, node->n_operands, node->attrs);
  else if (!gantry_xla_lower_node (l->b, l->source, node, operands, value->members, value->n_members, l->depth + 1, body->lifted, &error))
    {
      l->failed = TRUE;
      gantry_builder_fail (l->b, (GantryError) error->code, "%s", error->message);
      g_error_free (error);
      return FALSE;
    }
  value->id = value->n_members == 1 ? value->members[0] : 0;
  return TRUE;
}

gboolean
gantry_xla_inline (XlaLower *l, guint32 function, const guint32 *arguments, guint n_arguments, guint32 *results, guint n_results, gboolean lifted)
{
  Body body = { l, gantry_module_function (l->source, function), NULL, lifted };
  guint depth = l->depth;

  if (body.f == NULL || body.f->n_params != n_arguments || body.f->n_results < n_results)
    {
      gantry_xla_refuse (l, "a region does not take %u values and give %u", n_arguments, n_results);
      return FALSE;
    }
  if (depth >= MOST_DEPTH)
    {
      gantry_xla_refuse (l, "regions are nested more than %d deep", MOST_DEPTH);
      return FALSE;
    }
  l->depth++;
  body.values = XLA_NEW (l, Value, body.f->n_nodes);
  for (guint i = 0; i < body.f->n_nodes && !l->failed; i++)
    {
      const GantryNode *node = &l->source->nodes[body.f->first_node + i];

      if (i < body.f->n_params)
        {
          body.values[i].id = arguments[i];
          continue;
        }
      gantry_builder_set_place (l->b, node->scope != 0 ? node->scope : l->node->scope, node->location);
      inline_node (&body, node, &body.values[i]);
    }
  l->depth = depth;
  gantry_builder_set_place (l->b, l->node->scope, l->node->location);
  for (guint i = 0; i < n_results && !l->failed; i++)
    {
      const Value *value = value_of (&body, gantry_function_result_id (l->source, body.f, i));

      results[i] = value != NULL ? value->id : 0;
      if (results[i] == 0)
        gantry_xla_refuse (l, "result %u of a region is not computed", i);
    }
  return !l->failed;
}

gboolean
gantry_xla_apply (XlaLower *l, guint32 function, const guint32 *arguments, guint n_arguments, guint32 *results, guint n_results, guint32 like)
{
  guint32 *all = XLA_NEW (l, guint32, n_arguments + l->n_captures);

  memcpy (all, arguments, sizeof *all * n_arguments);
  memcpy (all + n_arguments, l->in + l->n_in, sizeof *all * l->n_captures);
  if (!gantry_xla_inline (l, function, all, n_arguments + l->n_captures, results, n_results, TRUE))
    return FALSE;
  for (guint i = 0; i < n_results; i++)
    results[i] = gantry_xla_spread (l, results[i], like);
  return TRUE;
}
