/* SPDX-License-Identifier: Apache-2.0 */
/* A hash of what a module computes: for tables that outlive it and the process. */
#include "core/graph/module.h"
#include "core/graph/operation.h"
#include <string.h>

/* Of what kernels have written into them, constants of few bytes are; larger ones they read. */
#define MOST_LITERAL_BYTES 64u

typedef struct
{
  const GantryModule *module;
  GChecksum *checksum;
  GHashTable *types; /* type id -> its text */
} Content;

static void
add_number (Content *content, guint64 number)
{
  number = GUINT64_TO_LE (number);
  g_checksum_update (content->checksum, (const guchar *) &number, sizeof number);
}

static void
add_text (Content *content, const char *text)
{
  g_checksum_update (content->checksum, (const guchar *) text, (gssize) strlen (text) + 1);
}

static void
add_type (Content *content, guint32 type)
{
  const char *text = g_hash_table_lookup (content->types, GUINT_TO_POINTER (type));

  if (text == NULL)
    {
      char *made = gantry_context_type_text (content->module->context, type);

      g_hash_table_insert (content->types, GUINT_TO_POINTER (type), made);
      text = made;
    }
  add_text (content, text);
}

static void
add_literal (Content *content, guint32 id)
{
  const GantryLiteral *literal = gantry_context_literal (content->module->context, id);

  if (literal == NULL)
    return;
  add_number (content, literal->size);
  if (literal->size <= MOST_LITERAL_BYTES)
    g_checksum_update (content->checksum, literal->data, (gssize) literal->size);
}

/* Functions are told by their order: their ids are new in each compilation. */
static guint32
index_of_function (const GantryModule *module, guint32 id)
{
  for (guint32 f = 0; f < module->n_functions; f++)
    if (module->functions[f].id == id)
      return f;
  return G_MAXUINT32;
}

static void
add_attr (Content *content, const GantryAttr *attr)
{
  GantryContext *context = content->module->context;

  add_text (content, gantry_context_string (context, attr->key));
  add_number (content, (guint64) attr->kind << 32 | attr->n);
  switch ((GantryAttrKind) attr->kind)
    {
    case GANTRY_ATTR_INT:
    case GANTRY_ATTR_FLOAT: add_number (content, (guint64) attr->i); break;
    case GANTRY_ATTR_STRING: add_text (content, gantry_context_string (context, attr->id)); break;
    case GANTRY_ATTR_TYPE: add_type (content, attr->id); break;
    case GANTRY_ATTR_LITERAL: add_literal (content, attr->id); break;
    case GANTRY_ATTR_FUNCTION: add_number (content, index_of_function (content->module, attr->id)); break;
    case GANTRY_ATTR_INTS:
    case GANTRY_ATTR_FLOATS:
      for (guint64 i = 0; i < attr->n; i++)
        add_number (content, (guint64) attr->ints[i]); /* floats bit by bit */
      break;
    case GANTRY_ATTR_STRINGS:
      for (guint64 i = 0; i < attr->n; i++)
        add_text (content, gantry_context_string (context, attr->ids[i]));
      break;
    }
}

static void
add_node (Content *content, const GantryNode *node)
{
  const GantryModule *module = content->module;
  const GantryAttrs *attrs = gantry_context_attrs (module->context, node->attrs);

  add_text (content, gantry_node_op_name (module, node));
  add_type (content, node->type);
  add_number (content, (guint64) node->phase << 32 | node->n_operands);
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (module, node, i);

      add_number (content, operand != NULL ? gantry_module_position (module, operand) : G_MAXUINT64);
    }
  add_number (content, attrs->n);
  for (guint32 i = 0; i < attrs->n; i++)
    add_attr (content, &attrs->items[i]);
}

char *
gantry_module_content (const GantryModule *module)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (GHashTable) types = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  Content content = { module, checksum, types };

  for (guint32 f = 0; f < module->n_functions; f++)
    {
      const GantryFunction *function = &module->functions[f];

      add_number (&content, (guint64) function->n_params << 32 | function->n_nodes);
      for (guint32 i = 0; i < function->n_nodes; i++)
        add_node (&content, &module->nodes[function->first_node + i]);
      add_number (&content, function->n_results);
      for (guint i = 0; i < function->n_results; i++)
        {
          const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, function, i));

          add_number (&content, node != NULL ? gantry_module_position (module, node) : G_MAXUINT64);
        }
    }
  return g_strdup (g_checksum_get_string (checksum));
}
