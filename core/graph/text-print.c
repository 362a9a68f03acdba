/* SPDX-License-Identifier: Apache-2.0 */
/* Prints modules in the text form that docs/text-form.md describes. */
#include "core/graph/text.h"
#include "core/graph/operation.h"
#include "core/graph/text-private.h"

typedef struct
{
  GString *out;
  const GantryModule *module;
  GantryContext *context;
  gboolean elide;
  gboolean locations;
  GHashTable *numbers; /* (nullable): of locations that led to others */
} Printer;

static void
print_ids (Printer *p, const guint32 *ids, guint n)
{
  g_string_append_c (p->out, '(');
  for (guint i = 0; i < n; i++)
    {
      g_string_append (p->out, i > 0 ? ", " : "");
      if (ids[i] == 0)
        g_string_append_c (p->out, '_');
      else
        g_string_append_printf (p->out, "%%%u", ids[i]);
    }
  g_string_append_c (p->out, ')');
}

/* Attributes */

static void
print_list (Printer *p, const GantryAttr *attr)
{
  /* Only the elements tell the kinds apart: an empty list has to say which it is. */
  if (attr->n == 0)
    g_string_append (p->out, attr->kind == GANTRY_ATTR_INTS ? "ints" : attr->kind == GANTRY_ATTR_FLOATS ? "floats" : "strings");
  g_string_append_c (p->out, '[');
  for (guint64 i = 0; i < attr->n; i++)
    {
      g_string_append (p->out, i > 0 ? ", " : "");
      if (attr->kind == GANTRY_ATTR_INTS)
        g_string_append_printf (p->out, "%" G_GINT64_FORMAT, attr->ints[i]);
      else if (attr->kind == GANTRY_ATTR_FLOATS)
        _gantry_text_print_double (p->out, attr->floats[i]);
      else
        _gantry_text_print_string (p->out, gantry_context_string (p->context, attr->ids[i]));
    }
  g_string_append_c (p->out, ']');
}

static void
print_function_name (Printer *p, guint32 id)
{
  const GantryFunction *function = gantry_module_function (p->module, id);

  if (function != NULL)
    {
      g_string_append_c (p->out, '@');
      _gantry_text_print_name (p->out, gantry_context_string (p->context, function->name));
      g_string_append_c (p->out, ' ');
    }
  g_string_append_printf (p->out, "#%u", id);
}

static void
print_value (Printer *p, const GantryAttr *attr)
{
  switch ((GantryAttrKind) attr->kind)
    {
    case GANTRY_ATTR_INT: g_string_append_printf (p->out, "%" G_GINT64_FORMAT, attr->i); break;
    case GANTRY_ATTR_FLOAT: _gantry_text_print_double (p->out, attr->f); break;
    case GANTRY_ATTR_STRING: _gantry_text_print_string (p->out, gantry_context_string (p->context, attr->id)); break;
    case GANTRY_ATTR_INTS:
    case GANTRY_ATTR_FLOATS:
    case GANTRY_ATTR_STRINGS: print_list (p, attr); break;
    case GANTRY_ATTR_TYPE:
      g_string_append (p->out, "type ");
      _gantry_text_print_type (p->out, p->context, attr->id);
      break;
    case GANTRY_ATTR_LITERAL:
      if (gantry_context_literal (p->context, attr->id) == NULL)
        g_string_append (p->out, "none"); /* the verifier's matter: it does not parse */
      else
        _gantry_text_print_literal (p->out, p->context, gantry_context_literal (p->context, attr->id), p->elide);
      break;
    case GANTRY_ATTR_FUNCTION: print_function_name (p, attr->id); break;
    }
}

static void
print_attributes (Printer *p, guint32 id)
{
  const GantryAttrs *attrs = gantry_context_attrs (p->context, id);

  if (attrs->n == 0)
    return;
  g_string_append (p->out, " {");
  for (guint i = 0; i < attrs->n; i++)
    {
      g_string_append (p->out, i > 0 ? ", " : "");
      _gantry_text_print_name (p->out, gantry_context_string (p->context, attrs->items[i].key));
      g_string_append (p->out, " = ");
      print_value (p, &attrs->items[i]);
    }
  g_string_append_c (p->out, '}');
}

/* Nodes */

static void
print_location (Printer *p, guint32 id)
{
  const GantryLocation *location = gantry_context_get_location (p->context, id);

  if (location == NULL)
    {
      g_string_append (p->out, " loc(none)");
      return;
    }
  g_string_append (p->out, " loc(");
  _gantry_text_print_location (p->out, p->context, location, p->numbers);
  g_string_append_c (p->out, ')');
}

static void
print_place (Printer *p, const GantryNode *node)
{
  if (node->scope != 0)
    {
      g_string_append (p->out, " scope(");
      _gantry_text_print_string (p->out, gantry_context_scope_path (p->context, node->scope));
      g_string_append_c (p->out, ')');
    }
  if (node->phase != GANTRY_PHASE_FORWARD)
    g_string_append_printf (p->out, " phase(%s)", gantry_phase_name ((GantryPhase) node->phase));
  if (!p->locations)
    return;
  print_location (p, node->location);
  if (node->n_origins > 0)
    {
      g_string_append (p->out, " from");
      print_ids (p, p->module->origins + node->origins, node->n_origins);
    }
}

static void
print_id (Printer *p, const GantryNode *node)
{
  g_string_append_printf (p->out, "%%%u", node->id);
  if (node->name != 0)
    {
      g_string_append_c (p->out, ' ');
      _gantry_text_print_string (p->out, gantry_context_string (p->context, node->name));
    }
}

/* A parameter is its value, type and attributes; its operation is known from where it stands. */
static void
print_parameter (Printer *p, const GantryNode *node)
{
  print_id (p, node);
  g_string_append (p->out, ": ");
  _gantry_text_print_type (p->out, p->context, node->type);
  print_attributes (p, node->attrs);
  print_place (p, node);
}

static void
print_node (Printer *p, const GantryNode *node)
{
  const char *op = gantry_node_op_name (p->module, node);

  print_id (p, node);
  g_string_append (p->out, " = ");
  if (node->op >= GANTRY_OP_FOREIGN)
    _gantry_text_print_string (p->out, op);
  else
    g_string_append (p->out, op);
  print_ids (p, p->module->operands + node->operands, node->n_operands);
  print_attributes (p, node->attrs);
  g_string_append (p->out, ": ");
  _gantry_text_print_type (p->out, p->context, node->type);
  print_place (p, node);
}

static void
print_function (Printer *p, const GantryFunction *function)
{
  const GantryNode *nodes = p->module->nodes + function->first_node;

  g_string_append (p->out, "  func @");
  _gantry_text_print_name (p->out, gantry_context_string (p->context, function->name));
  g_string_append_printf (p->out, " #%u (", function->id);
  for (guint32 i = 0; i < function->n_params; i++)
    {
      g_string_append (p->out, i > 0 ? ",\n    " : "\n    ");
      print_parameter (p, &nodes[i]);
    }
  g_string_append (p->out, ") -> ");
  print_ids (p, p->module->operands + function->results, function->n_results);
  g_string_append (p->out, " {\n");
  for (guint32 i = function->n_params; i < function->n_nodes; i++)
    {
      g_string_append (p->out, "    ");
      print_node (p, &nodes[i]);
      g_string_append_c (p->out, '\n');
    }
  g_string_append (p->out, "  }\n");
}

char *
gantry_module_to_text (const GantryModule *module, const GantryTextOptions *options)
{
  Printer p = { .module = module, .context = module->context, .locations = TRUE };

  if (options != NULL)
    {
      p.elide = options->elide_literals;
      p.locations = options->locations;
    }
  p.out = g_string_new ("module ");
  _gantry_text_print_string (p.out, gantry_context_string (p.context, module->name));
  g_string_append (p.out, " {\n");
  if (p.locations)
    p.numbers = _gantry_text_print_locations (p.out, module);
  for (guint i = 0; i < module->n_functions; i++)
    print_function (&p, &module->functions[i]);
  g_string_append (p.out, "}\n");
  g_clear_pointer (&p.numbers, g_hash_table_unref);
  return g_string_free (p.out, FALSE);
}

char *
gantry_node_to_text (const GantryModule *module, const GantryNode *node)
{
  Printer p = { .out = g_string_new (NULL), .module = module, .context = module->context, .elide = TRUE };

  if (node->op == GANTRY_OP_PARAMETER)
    print_parameter (&p, node);
  else
    print_node (&p, node);
  return g_string_free (p.out, FALSE);
}
