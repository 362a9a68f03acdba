/* SPDX-License-Identifier: Apache-2.0 */
/* Frozen snapshots: life, look-ups, uses and comparison. */
#include "core/graph/module.h"
#include "core/base/format.h"
#include "core/graph/dialect.h"
#include "core/graph/operation.h"
#include <string.h>

GantryModule *
gantry_module_ref (GantryModule *module)
{
  g_atomic_ref_count_inc (&module->ref_count);
  return module;
}

void
gantry_module_unref (GantryModule *module)
{
  if (module == NULL || !g_atomic_ref_count_dec (&module->ref_count))
    return;
  g_free (module->functions);
  g_free (module->by_id);
  if (module->whole != NULL)
    {
      gantry_module_unref (module->whole);
      g_free (module);
      return;
    }
  g_free (module->nodes);
  g_free (module->operands);
  g_free (module->origins);
  g_free (module->index);
  g_free (module->replaced);
  gantry_context_unref (module->context);
  g_free (module);
}

gsize
gantry_module_size (const GantryModule *module)
{
  return sizeof *module + module->n_functions * (sizeof (GantryFunction) + sizeof (guint32)) + module->n_nodes * sizeof (GantryNode)
         + ((gsize) module->n_operands + module->n_origins + module->n_index + 2 * (gsize) module->n_replaced) * sizeof (guint32);
}

const GantryFunction *
gantry_module_function (const GantryModule *module, guint32 function_id)
{
  guint low = 0, high = module->n_functions;

  /* A fused program has a function for each fusion: looking through all of them would be quadratic. */
  while (module->by_id != NULL && low < high)
    {
      guint middle = low + (high - low) / 2;
      const GantryFunction *function = &module->functions[module->by_id[middle]];

      if (function->id == function_id)
        return function;
      if (function->id < function_id)
        low = middle + 1;
      else
        high = middle;
    }
  for (guint i = 0; module->by_id == NULL && i < module->n_functions; i++)
    if (module->functions[i].id == function_id)
      return &module->functions[i];
  return NULL;
}

const GantryFunction *
gantry_module_function_of (const GantryModule *module, const GantryNode *node)
{
  guint32 position = gantry_module_position (module, node);
  guint low = 0, high = module->n_functions;

  /* Functions lie one after the other in the node array. */
  while (high - low > 1)
    {
      guint middle = (low + high) / 2;

      if (module->functions[middle].first_node <= position)
        low = middle;
      else
        high = middle;
    }
  /* An empty function shares its start with the next one. */
  while (low + 1 < module->n_functions && position >= module->functions[low].first_node + module->functions[low].n_nodes)
    low++;
  return &module->functions[low];
}

const GantryFunction *
gantry_node_fusion_body (const GantryModule *module, const GantryNode *node)
{
  const GantryAttr *body = node->op == GANTRY_OP_FUSION ? gantry_attrs_find (module->context, node->attrs, "body") : NULL;

  return body != NULL && body->kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (module, body->id) : NULL;
}

GantryLiteral *
gantry_node_literal (const GantryModule *module, const GantryNode *node)
{
  const GantryAttr *value = node->op == GANTRY_OP_CONSTANT ? gantry_attrs_find (module->context, node->attrs, "value") : NULL;

  return value != NULL && value->kind == GANTRY_ATTR_LITERAL ? gantry_context_literal (module->context, value->id) : NULL;
}

guint32
gantry_module_successor (const GantryModule *module, guint32 id)
{
  guint32 low = 0, high = module->n_replaced;

  if (gantry_module_node (module, id) != NULL)
    return id;
  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (module->replaced[2 * middle] == id)
        return module->replaced[2 * middle + 1];
      if (module->replaced[2 * middle] < id)
        low = middle + 1;
      else
        high = middle;
    }
  return 0;
}

const char *
gantry_node_op_name (const GantryModule *module, const GantryNode *node)
{
  return gantry_context_op_name (module->context, node->op);
}

const char *
gantry_phase_name (GantryPhase phase)
{
  static const char *const names[GANTRY_N_PHASES] = { "forward", "backward", "update" };

  g_return_val_if_fail ((guint) phase < GANTRY_N_PHASES, "forward");
  return names[phase];
}

char *
gantry_node_label (const GantryModule *module, const GantryNode *node)
{
  if (node->name != 0)
    return gantry_format_text (gantry_context_string (module->context, node->name), FALSE);
  return g_strdup_printf ("%%%u", node->id);
}

static void
count_uses (const GantryModule *module, guint32 *first)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    for (guint j = 0; j < module->nodes[i].n_operands; j++)
      {
        const GantryNode *operand = gantry_node_operand (module, &module->nodes[i], j);

        if (operand != NULL)
          first[gantry_module_position (module, operand) + 1]++;
      }
  for (guint i = 0; i < module->n_functions; i++)
    for (guint j = 0; j < module->functions[i].n_results; j++)
      {
        const GantryNode *result = gantry_module_node (module, gantry_function_result_id (module, &module->functions[i], j));

        if (result != NULL)
          first[gantry_module_position (module, result) + 1]++;
      }
}

GantryUses *
gantry_uses_new (const GantryModule *module)
{
  GantryUses *uses = g_new0 (GantryUses, 1);
  g_autofree guint32 *next = NULL;

  uses->first = g_new0 (guint32, (gsize) module->n_nodes + 1);
  count_uses (module, uses->first);
  for (guint32 i = 0; i < module->n_nodes; i++)
    uses->first[i + 1] += uses->first[i];
  uses->users = g_new0 (guint32, (gsize) uses->first[module->n_nodes] + 1);
  next = g_memdup2 (uses->first, sizeof (guint32) * ((gsize) module->n_nodes + 1));
  for (guint32 i = 0; i < module->n_nodes; i++)
    for (guint j = 0; j < module->nodes[i].n_operands; j++)
      {
        const GantryNode *operand = gantry_node_operand (module, &module->nodes[i], j);

        if (operand != NULL)
          uses->users[next[gantry_module_position (module, operand)]++] = i;
      }
  for (guint i = 0; i < module->n_functions; i++)
    for (guint j = 0; j < module->functions[i].n_results; j++)
      {
        const GantryNode *result = gantry_module_node (module, gantry_function_result_id (module, &module->functions[i], j));

        if (result != NULL)
          uses->users[next[gantry_module_position (module, result)]++] = G_MAXUINT32;
      }
  return uses;
}

void
gantry_uses_free (GantryUses *uses)
{
  if (uses == NULL)
    return;
  g_free (uses->first);
  g_free (uses->users);
  g_free (uses);
}

/* Comparison across contexts: everything by text or value. */

static gboolean differ (char **why, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
differ (char **why, const char *format, ...)
{
  va_list args;

  if (why != NULL)
    {
      va_start (args, format);
      *why = g_strdup_vprintf (format, args);
      va_end (args);
    }
  return FALSE;
}

static gboolean
same_string (const GantryModule *a, guint32 x, const GantryModule *b, guint32 y)
{
  return strcmp (gantry_context_string (a->context, x), gantry_context_string (b->context, y)) == 0;
}

static gboolean
same_type (const GantryModule *a, guint32 x, const GantryModule *b, guint32 y)
{
  g_autofree char *s = gantry_context_type_text (a->context, x);
  g_autofree char *t = gantry_context_type_text (b->context, y);

  return strcmp (s, t) == 0;
}

static gboolean
same_attr (const GantryModule *a, const GantryAttr *x, const GantryModule *b, const GantryAttr *y)
{
  if (!same_string (a, x->key, b, y->key) || x->kind != y->kind || x->n != y->n)
    return FALSE;
  switch ((GantryAttrKind) x->kind)
    {
    case GANTRY_ATTR_INT: return x->i == y->i;
    case GANTRY_ATTR_FLOAT: return memcmp (&x->f, &y->f, sizeof x->f) == 0;
    case GANTRY_ATTR_FUNCTION: return x->id == y->id;
    case GANTRY_ATTR_STRING: return same_string (a, x->id, b, y->id);
    case GANTRY_ATTR_TYPE: return same_type (a, x->id, b, y->id);
    case GANTRY_ATTR_LITERAL: return gantry_literal_equal (gantry_context_literal (a->context, x->id), gantry_context_literal (b->context, y->id));
    case GANTRY_ATTR_INTS: return x->n == 0 || memcmp (x->ints, y->ints, x->n * sizeof *x->ints) == 0;
    case GANTRY_ATTR_FLOATS: return x->n == 0 || memcmp (x->floats, y->floats, x->n * sizeof *x->floats) == 0;
    case GANTRY_ATTR_STRINGS:
      for (guint i = 0; i < x->n; i++)
        if (!same_string (a, x->ids[i], b, y->ids[i]))
          return FALSE;
      return TRUE;
    }
  return FALSE;
}

static gboolean
same_attrs (const GantryModule *a, guint32 x, const GantryModule *b, guint32 y)
{
  const GantryAttrs *p = gantry_context_attrs (a->context, x), *q = gantry_context_attrs (b->context, y);

  if (p->n != q->n)
    return FALSE;
  for (guint i = 0; i < p->n; i++)
    if (!same_attr (a, &p->items[i], b, &q->items[i]))
      return FALSE;
  return TRUE;
}

/* With what led there. */
static gboolean
same_location (const GantryModule *a, guint32 x, const GantryModule *b, guint32 y)
{
  for (;;)
    {
      const GantryLocation *p = gantry_context_get_location (a->context, x);
      const GantryLocation *q = gantry_context_get_location (b->context, y);

      if (p == NULL || q == NULL || (a->context == b->context && x == y))
        return p == q;
      if (!same_string (a, p->file, b, q->file) || p->line != q->line || p->column != q->column || !same_string (a, p->text, b, q->text)
          || !same_string (a, p->function, b, q->function) || p->step != q->step || p->number != q->number)
        return FALSE;
      x = p->parent;
      y = q->parent;
    }
}

static gboolean
same_node (const GantryModule *a, const GantryNode *x, const GantryModule *b, const GantryNode *y, char **why)
{
  if (x->id != y->id || strcmp (gantry_node_op_name (a, x), gantry_node_op_name (b, y)) != 0)
    return differ (why, "node %%%u %s against %%%u %s", x->id, gantry_node_op_name (a, x), y->id, gantry_node_op_name (b, y));
  if (x->n_operands != y->n_operands || x->n_origins != y->n_origins
      || (x->n_operands > 0 && memcmp (a->operands + x->operands, b->operands + y->operands, 4 * x->n_operands) != 0)
      || (x->n_origins > 0 && memcmp (a->origins + x->origins, b->origins + y->origins, 4 * x->n_origins) != 0))
    return differ (why, "node %%%u has other operands or origins", x->id);
  if (!same_type (a, x->type, b, y->type))
    return differ (why, "node %%%u has another type", x->id);
  if (!same_attrs (a, x->attrs, b, y->attrs))
    return differ (why, "node %%%u has other attributes", x->id);
  if (!same_string (a, x->scope, b, y->scope) || !same_string (a, x->name, b, y->name) || !same_location (a, x->location, b, y->location)
      || x->phase != y->phase)
    return differ (why, "node %%%u has another name, scope, location or phase", x->id);
  return TRUE;
}

gboolean
gantry_module_equal (const GantryModule *a, const GantryModule *b, char **why)
{
  if (!same_string (a, a->name, b, b->name) || a->n_functions != b->n_functions || a->n_nodes != b->n_nodes)
    return differ (why, "name or number of functions or nodes differ (%u and %u nodes)", a->n_nodes, b->n_nodes);
  for (guint i = 0; i < a->n_functions; i++)
    {
      const GantryFunction *f = &a->functions[i], *g = &b->functions[i];

      if (f->id != g->id || !same_string (a, f->name, b, g->name) || f->n_nodes != g->n_nodes || f->n_params != g->n_params || f->n_results != g->n_results)
        return differ (why, "function %u differs in id, name or size", i);
      for (guint j = 0; j < f->n_results; j++)
        if (gantry_function_result_id (a, f, j) != gantry_function_result_id (b, g, j))
          return differ (why, "function %u: result %u differs", i, j);
    }
  for (guint32 i = 0; i < a->n_nodes; i++)
    if (!same_node (a, &a->nodes[i], b, &b->nodes[i], why))
      return FALSE;
  return TRUE;
}

char *
gantry_node_where (const GantryModule *module, const GantryNode *node)
{
  g_autofree char *place = gantry_context_location_text (module->context, node->location);
  g_autofree char *label = gantry_node_label (module, node);

  return g_strdup_printf ("%s%s%s '%s'", place != NULL ? place : "", place != NULL && *place != '\0' ? ": " : "", gantry_node_op_name (module, node), label);
}

char *
gantry_module_host_calls (const GantryModule *module)
{
  g_autoptr (GString) lines = g_string_new (NULL);

  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op == GANTRY_OP_CUSTOM_CALL)
      {
        const GantryNode *node = &module->nodes[i];
        g_autofree char *where = gantry_node_where (module, node);
        const char *text = gantry_attrs_string (module->context, node->attrs, "text", gantry_attrs_string (module->context, node->attrs, "target", ""));

        g_string_append_printf (lines, "\n  %s: %s", where, text);
      }
  return lines->len > 0 ? g_string_free (g_steal_pointer (&lines), FALSE) : NULL;
}
