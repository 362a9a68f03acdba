/* SPDX-License-Identifier: Apache-2.0 */
/* Which values are products to a policy of jax.checkpoint_policies: what a dot makes, and what a loop saves in the place of such. */
#include "core/planner/policy/policy-private.h"

/* Of a node; the first three are for dots without batch dimensions, and shifted by one for any, convolutions too. */
enum
{
  IS_DOT = 1,
  ABOVE_DOTS = 4,    /* element by element of a dot and more, up to what its body is given */
  ABOVE_OTHERS = 16, /* element by element of something that is none */
  OF_ELEMENTS = 64,  /* each element is made of single elements of the operands */
};

struct _Dots
{
  const ModuleFacts *facts;
  guint8 *traits; /* by position in the module; none where no loop saves anything */
};

static gboolean
is_dot (const GantryModule *module, const GantryNode *node, gboolean any)
{
  gsize n;

  if (any && node->op == GANTRY_OP_CONVOLUTION)
    return TRUE;
  if (node->op != GANTRY_OP_DOT_GENERAL)
    return FALSE;
  gantry_attrs_ints (module->context, node->attrs, "lhs_batching_dimensions", &n);
  return any || n == 0;
}

/* A fusion is a product when there is one in it, and so is each of its results. */
static gboolean
node_makes_dot (const GantryModule *module, const GantryNode *node, gboolean any)
{
  const GantryNode *maker = node->op == GANTRY_OP_RESULT ? gantry_node_operand (module, node, 0) : node;
  const GantryFunction *body = maker != NULL ? gantry_node_fusion_body (module, maker) : NULL;

  if (is_dot (module, node, any))
    return TRUE;
  for (guint32 b = 0; body != NULL && b < body->n_nodes; b++)
    if (is_dot (module, &module->nodes[body->first_node + b], any))
      return TRUE;
  return FALSE;
}

static gboolean
is_of_elements (const GantryModule *module, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryFunction *body = gantry_node_fusion_body (module, node);

  for (guint32 b = 0; body != NULL && b < body->n_nodes; b++)
    {
      const GantryNode *inner = &module->nodes[body->first_node + b];

      if (inner->op != GANTRY_OP_PARAMETER && inner->op != GANTRY_OP_CONSTANT && !is_of_elements (module, inner))
        return FALSE;
    }
  return body != NULL || gantry_node_is_view (module, node)
         || (info != NULL && ((info->flags & GANTRY_OP_ELEMENTWISE) != 0 || info->op_class == GANTRY_CLASS_MOVEMENT));
}

static gboolean
is_given (const GantryNode *operand)
{
  return operand == NULL || operand->op == GANTRY_OP_PARAMETER || operand->op == GANTRY_OP_CONSTANT;
}

static guint8
traits_of (const Dots *dots, const GantryNode *node)
{
  return dots->traits[gantry_module_position (dots->facts->module, node)];
}

/* Of the node at @position, whose operands have theirs. */
static guint8
find_traits (const Dots *dots, guint32 position)
{
  const GantryModule *module = dots->facts->module;
  const GantryNode *node = &module->nodes[position];
  guint8 traits = is_of_elements (module, node) ? OF_ELEMENTS : 0;

  for (guint any = 0; any < 2; any++)
    {
      traits |= node_makes_dot (module, node, any == 1) ? IS_DOT << any : 0;
      for (guint k = 0; k < node->n_operands; k++)
        {
          const GantryNode *operand = gantry_node_operand (module, node, k);
          guint8 of = is_given (operand) ? 0 : traits_of (dots, operand);

          if (of & IS_DOT << any)
            traits |= ABOVE_DOTS << any;
          else if (of & OF_ELEMENTS)
            traits |= of & (ABOVE_DOTS | ABOVE_OTHERS) << any;
          else if (!is_given (operand))
            traits |= ABOVE_OTHERS << any;
        }
    }
  return traits;
}

Dots *
_gantry_dots_new (const ModuleFacts *facts)
{
  Dots *dots = g_new0 (Dots, 1);
  gboolean any = FALSE;

  dots->facts = facts;
  for (guint32 i = 0; i < facts->n && !any; i++)
    any = facts_is_stack (facts, i);
  if (!any)
    return dots;
  dots->traits = g_new0 (guint8, facts->module->n_nodes);
  for (guint32 position = 0; position < facts->module->n_nodes; position++)
    dots->traits[position] = find_traits (dots, position);
  return dots;
}

void
_gantry_dots_free (Dots *dots)
{
  g_free (dots->traits);
  g_free (dots);
}

static gint64
elements_of (const Dots *dots, const GantryNode *node)
{
  return gantry_type_elements (gantry_node_type (dots->facts->module, node));
}

/* Whether @node and all that it is made of element by element, up to what its body is given, come of products that are saved as well, or
 * directly of one: what a loop saves in the place of products, and no more than they are. Most values are decided by their traits, or by the
 * next product above them. */
static gboolean
stands_for_dots (const Dots *dots, const GantryNode *node, gboolean any)
{
  gint64 own = elements_of (dots, node), elements = 0;
  guint8 traits = traits_of (dots, node);
  g_autoptr (GHashTable) seen = NULL;
  g_autoptr (GPtrArray) left = NULL;

  if (!(traits & OF_ELEMENTS) || !(traits & ABOVE_DOTS << any) || traits & ABOVE_OTHERS << any)
    return FALSE;
  seen = g_hash_table_new (NULL, NULL);
  left = g_ptr_array_new ();
  g_ptr_array_add (left, (gpointer) node);
  for (guint next = 0; next < left->len && elements < own; next++)
    {
      const GantryNode *of = left->pdata[next];

      for (guint k = 0; k < of->n_operands; k++)
        {
          const GantryNode *operand = gantry_node_operand (dots->facts->module, of, k);

          if (is_given (operand) || !(traits_of (dots, operand) & (IS_DOT | ABOVE_DOTS) << any) || !g_hash_table_add (seen, (gpointer) operand))
            continue;
          if (traits_of (dots, operand) & IS_DOT << any)
            elements += elements_of (dots, operand);
          else
            g_ptr_array_add (left, (gpointer) operand);
        }
    }
  return elements >= own;
}

/* Whether an operand of @node, as large as that, is a product. */
static gboolean
reads_dot (const Dots *dots, const GantryNode *node, gboolean any)
{
  const GantryModule *module = dots->facts->module;
  gint64 elements = elements_of (dots, node);

  for (guint k = 0; k < node->n_operands; k++)
    {
      const GantryNode *operand = gantry_node_operand (module, node, k);

      while (operand != NULL && operand->op != GANTRY_OP_RESULT && operand->n_operands == 1 && gantry_node_is_view (module, operand))
        operand = gantry_node_operand (module, operand, 0);
      if (operand != NULL && elements_of (dots, operand) == elements && traits_of (dots, operand) & IS_DOT << any)
        return TRUE;
    }
  return FALSE;
}

gboolean
_gantry_dots_made (const Dots *dots, guint32 i, gboolean any)
{
  const GantryNode *node = facts_source (dots->facts, i);
  const GantryOpInfo *info = gantry_op_info (node->op);

  if (!facts_is_stack (dots->facts, i) || info == NULL)
    return node_makes_dot (dots->facts->module, node, any);
  if (traits_of (dots, node) & IS_DOT << any)
    return TRUE;
  return (((info->flags & GANTRY_OP_ELEMENTWISE) != 0 || node->op == GANTRY_OP_FUSION) && reads_dot (dots, node, any)) || stands_for_dots (dots, node, any);
}
