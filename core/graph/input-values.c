/* SPDX-License-Identifier: Apache-2.0 */
/* Values as people write them where the type is known (a number, a list of numbers, a literal of the text form), and
 * the program in which inputs have them. */
#include "core/graph/input-values.h"
#include "core/base/error.h"
#include "core/graph/builder.h"
#include "core/graph/operation.h"
#include "core/graph/text-private.h"
#include <string.h>

/* What was read so far. The rank is that of the first number or of the first empty list. */
typedef struct
{
  GantryElementType element;
  GByteArray *bytes;
  gint rank;                       /* -1: not known yet */
  GantryDim dims[GANTRY_MAX_RANK]; /* -1: not known yet */
} List;

static gboolean
read_number (GantryTextReader *reader, List *list)
{
  guint8 bytes[8];
  gboolean one = list->element == GANTRY_BOOL && _gantry_text_accept (reader, '1');

  if (one || (list->element == GANTRY_BOOL && _gantry_text_accept (reader, '0')))
    bytes[0] = one;
  else if (!_gantry_text_element (reader, list->element, bytes))
    return FALSE;
  g_byte_array_append (list->bytes, bytes, (guint) gantry_element_size (list->element));
  return TRUE;
}

/* A number or a list, inside @depth lists. */
static gboolean
read_item (GantryTextReader *reader, List *list, gint depth)
{
  gint64 n = 0;

  if (!_gantry_text_accept (reader, '['))
    {
      if (list->rank >= 0 && list->rank != depth)
        return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "a number stands inside %d lists, another inside %d", depth, list->rank);
      list->rank = depth;
      return read_number (reader, list);
    }
  if (depth == GANTRY_MAX_RANK || depth == list->rank)
    return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "a list stands inside %d lists, too many", depth);
  if (!_gantry_text_accept (reader, ']'))
    {
      do
        if (!read_item (reader, list, depth + 1))
          return FALSE;
        else
          n++;
      while (_gantry_text_accept (reader, ','));
      if (!_gantry_text_expect (reader, ']', "',' or ']' after a value"))
        return FALSE;
    }
  else if (list->rank < 0)
    list->rank = depth + 1;
  if (list->dims[depth] >= 0 && list->dims[depth] != n)
    return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "one list has %" G_GINT64_FORMAT " values, another at its level %" G_GINT64_FORMAT,
                              list->dims[depth], n);
  list->dims[depth] = n;
  return TRUE;
}

static gboolean
at_end (GantryTextReader *reader)
{
  return _gantry_text_peek (reader) == '\0' || _gantry_text_expected (reader, "the end of the value");
}

static gboolean
fits (const GantryType *has, const GantryType *wanted)
{
  if (wanted->kind == GANTRY_TYPE_UNKNOWN)
    return TRUE;
  if (has->element != wanted->element || has->rank != wanted->rank)
    return FALSE;
  for (guint i = 0; i < has->rank; i++)
    if (GANTRY_DIM_IS_STATIC (wanted->dims[i]) && has->dims[i] != wanted->dims[i])
      return FALSE;
  return TRUE;
}

static GantryLiteral *
check_type (GantryTextReader *reader, GantryLiteral *literal, const GantryType *type)
{
  g_autofree char *has = NULL, *wants = NULL;

  if (fits (literal->type, type))
    return literal;
  has = gantry_context_type_text (reader->context, gantry_context_type_id (reader->context, literal->type));
  wants = gantry_context_type_text (reader->context, gantry_context_type_id (reader->context, type));
  _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "the value is %s where %s is wanted", has, wants);
  gantry_literal_unref (literal);
  return NULL;
}

/* A literal names its type itself. */
static GantryLiteral *
read_literal (GantryTextReader *reader, const GantryType *type)
{
  guint32 id;

  if (!_gantry_text_literal (reader, &id) || !at_end (reader))
    return NULL;
  return check_type (reader, gantry_literal_ref (gantry_context_literal (reader->context, id)), type);
}

static GantryLiteral *
make_literal (GantryTextReader *reader, List *list, const GantryType *type)
{
  const GantryType *own = gantry_context_type (reader->context, gantry_context_tensor (reader->context, list->element, (guint) list->rank, list->dims));
  gboolean repeats = list->rank == 0 && type->rank > 0;
  g_autoptr (GBytes) bytes = NULL;
  GantryLiteral *literal;

  if (repeats && !gantry_type_is_static (type))
    {
      _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "one number for dimensions that are not known: write a list of them");
      return NULL;
    }
  bytes = g_bytes_new (list->bytes->data, list->bytes->len);
  literal = gantry_literal_new (repeats ? type : own, bytes, repeats, &reader->error);
  return literal != NULL ? check_type (reader, literal, type) : NULL;
}

static GantryLiteral *
read_list (GantryTextReader *reader, const GantryType *type)
{
  List list = { .element = (GantryElementType) type->element, .rank = -1 };
  GantryLiteral *literal = NULL;

  if (type->kind != GANTRY_TYPE_TENSOR || !gantry_element_is_compiled (list.element))
    {
      _gantry_text_fail (reader, GANTRY_ERROR_INVALID,
                         "its type is not known: write a whole literal, for example "
                         "dense<i64[2]: 1, 2>, or name a file");
      return NULL;
    }
  for (guint i = 0; i < GANTRY_MAX_RANK; i++)
    list.dims[i] = -1;
  list.bytes = g_byte_array_new ();
  if (read_item (reader, &list, 0) && at_end (reader))
    literal = make_literal (reader, &list, type);
  g_byte_array_unref (list.bytes);
  return literal;
}

GantryLiteral *
gantry_literal_from_text (GantryContext *context, const char *text, const GantryType *type, GError **error)
{
  GantryTextReader reader = { .context = context, .file_name = "value", .begin = text, .at = text, .end = text + strlen (text), .line_begin = text, .line = 1 };
  GantryLiteral *literal;

  reader.files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_mapped_file_unref);
  literal = _gantry_text_at_literal (&reader) ? read_literal (&reader, type) : read_list (&reader, type);
  g_hash_table_unref (reader.files);
  if (reader.error != NULL)
    g_propagate_error (error, reader.error);
  return literal;
}

/* Inputs */

static const GantryNode *
find_input (const GantryModule *module, const char *name)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      if (strcmp (gantry_context_string (module->context, node->name), name) == 0)
        return node;
    }
  return NULL;
}

static gboolean
fail_unknown (const GantryModule *module, const char *name, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GString) known = g_string_new (NULL);

  for (guint i = 0; i < entry->n_params; i++)
    {
      g_autofree char *label = gantry_node_label (module, &module->nodes[entry->first_node + i]);

      g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", label);
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "there is no input '%s' to set; the inputs are: %s", name, known->len > 0 ? known->str : "none");
  return FALSE;
}

/* Fills @literals by position in the entry. */
static gboolean
read_values (const GantryModule *module, const GantryInputValue *values, guint n, GantryLiteral **literals, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint i = 0; i < n; i++)
    {
      const GantryNode *node = find_input (module, values[i].name);
      GantryLiteral **literal;

      if (node == NULL)
        return fail_unknown (module, values[i].name, error);
      literal = &literals[gantry_module_position (module, node) - entry->first_node];
      g_clear_pointer (literal, gantry_literal_unref);
      *literal = gantry_literal_from_text (module->context, values[i].value, gantry_node_type (module, node), error);
      if (*literal == NULL)
        {
          gantry_error_prefix (error, "input '%s': ", values[i].name);
          return FALSE;
        }
    }
  return TRUE;
}

static void
add_constant (GantryBuilder *builder, const GantryNode *parameter, GantryLiteral *literal)
{
  GantryContext *context = gantry_builder_context (builder);
  GantryAttrList *attrs = gantry_attr_list_new (context);
  GantryNode node = *parameter;

  gantry_attr_list_set_literal (attrs, "value", gantry_context_add_literal (context, literal));
  gantry_attr_list_set_int (attrs, "input", 1);
  node.op = GANTRY_OP_CONSTANT;
  node.attrs = gantry_attr_list_end (attrs);
  node.type = gantry_context_type_id (context, literal->type);
  gantry_builder_add_node (builder, &node, NULL, NULL);
}

static void
copy_node (GantryBuilder *builder, const GantryModule *module, const GantryNode *node)
{
  gantry_builder_add_node (builder, node, module->operands + node->operands, module->origins + node->origins);
}

/* Parameters come first, then those that are constants now. @literals: (nullable): of the entry */
static void
copy_function (GantryBuilder *builder, const GantryModule *module, const GantryFunction *function, GantryLiteral **literals)
{
  const GantryNode *nodes = &module->nodes[function->first_node];

  gantry_builder_begin (builder, gantry_context_string (module->context, function->name), function->id);
  for (guint i = 0; i < function->n_params; i++)
    if (literals == NULL || literals[i] == NULL)
      copy_node (builder, module, &nodes[i]);
  for (guint i = 0; i < function->n_params && literals != NULL; i++)
    if (literals[i] != NULL)
      add_constant (builder, &nodes[i], literals[i]);
  for (guint32 i = function->n_params; i < function->n_nodes; i++)
    copy_node (builder, module, &nodes[i]);
  gantry_builder_end (builder, module->operands + function->results, function->n_results);
}

GantryModule *
gantry_module_set_inputs (GantryModule *module, const GantryInputValue *values, guint n, GError **error)
{
  guint n_params = gantry_module_entry (module)->n_params;
  g_autofree GantryLiteral **literals = g_new0 (GantryLiteral *, n_params + 1);
  GantryModule *next = NULL;

  if (n == 0)
    return gantry_module_ref (module);
  if (read_values (module, values, n, literals, error))
    {
      g_autoptr (GantryBuilder) builder = gantry_builder_new (module->context, gantry_context_string (module->context, module->name));

      for (guint i = 0; i < module->n_functions; i++)
        copy_function (builder, module, &module->functions[i], i == 0 ? literals : NULL);
      next = gantry_builder_finish (builder, error);
    }
  for (guint i = 0; i < n_params; i++)
    g_clear_pointer (&literals[i], gantry_literal_unref);
  return next;
}

gboolean
gantry_node_is_set_input (const GantryModule *module, const GantryNode *node)
{
  return node->op == GANTRY_OP_CONSTANT && gantry_attrs_int (module->context, node->attrs, "input", 0) != 0;
}
