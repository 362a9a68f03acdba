/* SPDX-License-Identifier: Apache-2.0 */
/* One node of a graph: what only arranges values is done at once, a primitive becomes a foreign node. Tensors are its operands,
 * whatever else it is given is an attribute by the name of the argument; where it stands, and in which Cell. */
#include "core/frontends/mindspore/mindir-private.h"
#include <string.h>

enum
{
  NODE_ATTRIBUTE = 5,
  PRIMITIVE_TYPE = 2,
  PRIMITIVE_ATTRIBUTE = 3,
};

/* Places */

/* "42_Net_construct_16:CNode_25:10": what stands between the graph and the number. Names that MindSpore made up say nothing. */
static char *
short_name (MindImport *import, const MindNode *node, gboolean given)
{
  g_autofree char *full = g_utf8_make_valid (gantry_interner_string (import->names, node->output), -1);
  g_auto (GStrv) parts = g_strsplit (full, ":", 3);
  guint n = g_strv_length (parts);
  const char *name = n >= 2 ? parts[1] : full;

  if (given && (g_str_has_prefix (name, "CNode_") || g_str_has_prefix (name, "ValueNode_") || g_str_has_prefix (name, "partial_trans_")))
    return NULL;
  return g_strdup (name);
}

/* "Default/conv1-Conv2d/Conv2D-op3": the names of the Cells, without their classes; numbers stay with the name before. */
static guint32
scope_of (MindImport *import, GantryWireSpan domain)
{
  g_auto (GStrv) parts = g_strsplit (gantry_mind_text (import, domain), "/", -1);
  g_autoptr (GString) path = g_string_new (NULL);
  guint n = g_strv_length (parts);

  for (guint i = 0; i + 1 < n; i++)
    {
      char *class_name = strrchr (parts[i], '-');

      if (i == 0 && strcmp (parts[i], "Default") == 0)
        continue;
      if (class_name != NULL)
        *class_name = '\0';
      if (*parts[i] == '\0')
        continue;
      if (path->len > 0)
        g_string_append_c (path, g_ascii_isdigit (*parts[i]) ? '.' : '/');
      g_string_append (path, parts[i]);
    }
  return gantry_context_scope (import->context, path->str);
}

static void
set_place (MindImport *import, const MindGraph *graph, const MindNode *node, guint index)
{
  g_autofree char *name = short_name (import, node, FALSE), *text = g_strdup_printf ("node %u '%s'", index + 1, name);
  g_autofree char *function = g_utf8_make_valid (gantry_interner_string (import->names, graph->name), -1);
  GantryLocation location = { .file = import->file,
                              .line = index + 1,
                              .text = gantry_context_intern (import->context, text),
                              .function = gantry_context_intern (import->context, function) };

  if (node->place.length > 0)
    {
      const char *place = gantry_mind_text (import, node->place), *colon = strrchr (place, ':');

      if (colon != NULL && colon > place)
        location = (GantryLocation){ .file = gantry_context_intern_len (import->context, place, (gsize) (colon - place)),
                                     .line = (guint32) MIN (g_ascii_strtoull (colon + 1, NULL, 10), G_MAXINT32) };
    }
  import->scope = scope_of (import, node->domain);
  import->location = gantry_context_location_called (import->context, gantry_context_location (import->context, &location), import->call);
  gantry_builder_set_place (import->b, import->scope, import->location);
  gantry_builder_set_phase (import->b, node->domain.length >= strlen ("Gradients/") && memcmp (node->domain.data, "Gradients/", strlen ("Gradients/")) == 0
                                         ? GANTRY_PHASE_BACKWARD
                                         : GANTRY_PHASE_FORWARD);
}

/* Attributes */

/* A list, or a list of lists, whose members go one behind the other. */
static void
set_numbers (GantryAttrList *list, const char *key, MindValue *tuple)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  g_autofree gint64 *ints = g_new0 (gint64, tuple->leaves + 1);
  g_autofree double *floats = g_new0 (double, tuple->leaves + 1);
  g_autofree const char **strings = g_new0 (const char *, tuple->leaves + 1);
  guint n_ints = 0, n_floats = 0, n_strings = 0;

  gantry_mind_flatten (tuple, leaves);
  for (guint i = 0; i < leaves->len; i++)
    {
      const MindValue *leaf = g_ptr_array_index (leaves, i);

      ints[i] = leaf->kind == MIND_INT || leaf->kind == MIND_BOOL ? leaf->i : 0;
      floats[i] = leaf->kind == MIND_FLOAT ? leaf->f : (double) ints[i];
      strings[i] = leaf->kind == MIND_STRING ? leaf->text : "?";
      n_ints += leaf->kind == MIND_INT || leaf->kind == MIND_BOOL;
      n_floats += leaf->kind == MIND_FLOAT;
      n_strings += leaf->kind == MIND_STRING;
    }
  if (n_ints == leaves->len)
    gantry_attr_list_set_ints (list, key, ints, leaves->len);
  else if (n_ints + n_floats == leaves->len)
    gantry_attr_list_set_floats (list, key, floats, leaves->len);
  else if (n_strings > 0)
    gantry_attr_list_set_strings (list, key, strings, leaves->len);
}

static void
set_attribute (MindImport *import, GantryAttrList *list, const char *key, MindValue *value)
{
  switch (value->kind)
    {
    case MIND_INT:
    case MIND_BOOL: gantry_attr_list_set_int (list, key, value->i); break;
    case MIND_FLOAT: gantry_attr_list_set_float (list, key, value->f); break;
    case MIND_OTHER:
    case MIND_STRING:
      if (value->text != NULL)
        gantry_attr_list_set_string (list, key, value->text);
      break;
    case MIND_TYPE: gantry_attr_list_set_string (list, key, gantry_element_name ((GantryElementType) value->element)); break;
    case MIND_TUPLE: set_numbers (list, key, value); break;
    case MIND_GRAPH:
      {
        const MindGraph *graph = g_ptr_array_index (import->graphs, value->graph);
        g_autofree char *name = g_utf8_make_valid (gantry_interner_string (import->names, graph->name), -1);

        gantry_attr_list_set_string (list, key, name);
        break;
      }
    default: break;
    }
}

/* What the import says of a node; a file that has attributes of these names means something else by them. */
static gboolean
is_of_import (GantryWireSpan name)
{
  return gantry_mind_span_is (name, MIND_OPERAND_NAMES) || gantry_mind_span_is (name, MIND_UPDATES);
}

/* What a primitive or a node says beside its arguments. Names of arguments are kept where no rule has better ones. */
static void
read_attributes (MindImport *import, GantryWireSpan message, guint field, GantryAttrList *list, const MindValue **input_names, MindAttr *declared)
{
  GantryWire wire;
  MindAttr attr;

  gantry_wire_init (&wire, message);
  while (gantry_mind_next (import, &wire))
    {
      MindValue *value;

      if (wire.field != field || wire.kind != GANTRY_WIRE_LENGTH)
        continue;
      gantry_mind_read_attr (import, wire.span, 0, &attr);
      if (gantry_mind_span_is (attr.name, "shape") && declared != NULL)
        {
          *declared = attr;
          continue;
        }
      value = import->error == NULL ? gantry_mind_attr_value (import, &attr) : NULL;
      if (value == NULL || attr.name.length == 0 || gantry_mind_span_is (attr.name, "output_names") || is_of_import (attr.name))
        continue;
      if (gantry_mind_span_is (attr.name, "input_names"))
        *input_names = value;
      else
        set_attribute (import, list, gantry_mind_text (import, attr.name), value);
    }
}

/* Results */

static gboolean
count (MindImport *import)
{
  if (++import->n_written > import->max_nodes)
    gantry_mind_fail (import, GANTRY_ERROR_TOO_LARGE, "the model has more than %u nodes, which is the limit", import->max_nodes);
  else if (import->n_written % 1024 == 0 && import->error == NULL)
    gantry_progress_cancelled (import->progress, &import->error);
  return import->error == NULL;
}

/** The results of a node while they are taken out of its tuple. */
typedef struct
{
  guint32 node;
  guint index; /* of the next leaf */
  guint64 used;
} Results;

static MindValue *
take_results (MindImport *import, const MindValue *declared, Results *results, gboolean used)
{
  MindValue *value;
  GantryAttrList *list;

  if (declared->kind == MIND_TUPLE)
    {
      value = gantry_mind_tuple_new (import, declared->n);
      for (guint i = 0; i < declared->n; i++)
        value->members[i] = take_results (import, declared->members[i], results, used);
      gantry_mind_tuple_close (import, value);
      return value;
    }
  if (declared->kind != MIND_NODE)
    return gantry_mind_value_new (import, (MindKind) declared->kind);
  if (!used || !count (import))
    {
      results->index++;
      value = gantry_mind_value_new (import, MIND_OTHER);
      value->text = "";
      return value;
    }
  list = gantry_attr_list_new (import->context);
  gantry_attr_list_set_int (list, "index", results->index++);
  return gantry_mind_node_value (import,
                                 gantry_builder_add_typed (import->b, GANTRY_OP_RESULT, &results->node, 1, gantry_attr_list_end (list), declared->node));
}

static void
collect_types (const MindValue *declared, GArray *types)
{
  if (declared->kind == MIND_NODE)
    g_array_append_val (types, declared->node);
  for (guint i = 0; declared->kind == MIND_TUPLE && i < declared->n; i++)
    collect_types (declared->members[i], types);
}

static MindValue *
results_of (MindImport *import, const MindNode *node, const MindValue *declared, guint32 id)
{
  Results results = { id, 0, node->used };
  MindValue *value;

  if (id == 0)
    return NULL;
  if (declared->kind == MIND_NODE)
    return gantry_mind_node_value (import, id);
  if (declared->kind != MIND_TUPLE)
    return gantry_mind_value_new (import, (MindKind) declared->kind);
  value = gantry_mind_tuple_new (import, declared->n);
  for (guint i = 0; i < declared->n && import->error == NULL; i++)
    value->members[i] = take_results (import, declared->members[i], &results, node->used == G_MAXUINT64 || (i < 64 && (node->used >> i & 1) != 0));
  return import->error == NULL && gantry_mind_tuple_close (import, value) ? value : NULL;
}

/* Foreign nodes */

/** Operands and their names, being put together. */
typedef struct
{
  GArray *operands;
  GPtrArray *names;
} Operands;

static void
add_argument (MindImport *import, Operands *operands, GantryAttrList *list, const char *name, MindValue *value)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  gboolean has_data = FALSE;

  if (value->kind == MIND_NODE || value->kind == MIND_LITERAL)
    {
      guint32 id = gantry_mind_use (import, value);

      g_array_append_val (operands->operands, id);
      g_ptr_array_add (operands->names, g_strdup (name));
      return;
    }
  if (value->kind == MIND_TUPLE)
    gantry_mind_flatten (value, leaves);
  for (guint i = 0; i < leaves->len; i++)
    has_data = has_data || ((const MindValue *) g_ptr_array_index (leaves, i))->kind <= MIND_LITERAL;
  if (!has_data)
    set_attribute (import, list, name, value);
  for (guint i = 0; has_data && i < value->n && import->error == NULL; i++)
    {
      g_autofree char *inner = g_strdup_printf ("%s[%u]", name, i);

      add_argument (import, operands, list, inner, value->members[i]);
    }
}

static guint32
add_node (MindImport *import, const char *name, Operands *operands, GantryAttrList *list, const MindValue *declared)
{
  guint op = gantry_context_foreign_op (import->context, name);
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 type;

  g_hash_table_add (import->operations, GUINT_TO_POINTER (op));
  if (op == G_MAXUINT16 || g_hash_table_size (import->operations) > MIND_MOST_OPERATIONS)
    gantry_mind_fail (import, GANTRY_ERROR_TOO_LARGE, "the model has more than %u different operations", MIND_MOST_OPERATIONS);
  if (operands->names->len > 0)
    gantry_attr_list_set_strings (list, MIND_OPERAND_NAMES, (const char *const *) operands->names->pdata, operands->names->len);
  collect_types (declared, types);
  type = declared->kind == MIND_TUPLE ? gantry_context_tuple (import->context, types->len, (const guint32 *) (gpointer) types->data)
         : types->len > 0             ? g_array_index (types, guint32, 0)
                                      : gantry_context_token (import->context);
  if (!count (import))
    {
      gantry_attr_list_free (list);
      return 0;
    }
  return gantry_builder_add_typed (import->b, op, (const guint32 *) (gpointer) operands->operands->data, operands->operands->len, gantry_attr_list_end (list),
                                   type);
}

static const char *
argument_name (MindImport *import, char **known, const MindValue *input_names, guint i)
{
  g_autofree char *number = g_strdup_printf ("input%u", i);

  if (known != NULL && i < g_strv_length (known))
    return known[i][0] == '*' ? known[i] + 1 : known[i];
  if (input_names != NULL && input_names->kind == MIND_TUPLE && i < input_names->n && input_names->members[i]->kind == MIND_STRING)
    return input_names->members[i]->text;
  return gantry_arena_strdup (import->arena, number);
}

/* A tuple of @first and what @rest has. */
static const MindValue *
with_members (MindImport *import, const MindValue *first, const MindValue *rest)
{
  MindValue *tuple = gantry_mind_tuple_new (import, 1 + rest->n);

  tuple->members[0] = gantry_arena_copy (import->arena, first, sizeof *first);
  memcpy (tuple->members + 1, rest->members, sizeof *rest->members * rest->n);
  return tuple;
}

MindValue *
gantry_mind_write_foreign (MindImport *import, const MindNode *node, const char *name, GantryAttrList *attrs, MindValue *const *values, guint n,
                           const char *const *names, MindValue *also)
{
  g_autoptr (GantryAttrList) list = attrs != NULL ? attrs : gantry_attr_list_new (import->context);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  const MindValue *unused = NULL, *declared;
  g_autofree char *label = NULL;
  Operands operands = { ids, texts };
  MindNode whole = *node;
  MindAttr shape = { 0 };

  read_attributes (import, node->message, NODE_ATTRIBUTE, list, &unused, &shape);
  for (guint i = 0; i < n && import->error == NULL; i++)
    add_argument (import, &operands, list, names[i], values[i]);
  declared = import->error == NULL ? gantry_mind_declared (import, &shape, NULL) : NULL;
  if (import->error != NULL)
    return NULL;
  if (also != NULL)
    {
      gantry_attr_list_set_int (list, MIND_UPDATES, also->n);
      declared = with_members (import, declared, also);
      whole.used = G_MAXUINT64;
    }
  label = short_name (import, node, TRUE);
  if (label != NULL)
    gantry_builder_set_name (import->b, gantry_context_intern (import->context, label));
  return results_of (import, &whole, declared, add_node (import, name, &operands, g_steal_pointer (&list), declared));
}

MindValue *
gantry_mind_write_primitive (MindImport *import, const MindNode *node, const char *primitive, GantryWireSpan message, MindValue *const *values, guint n,
                             const char *const *given, MindValue *also)
{
  GantryAttrList *list = gantry_attr_list_new (import->context);
  g_autofree char *full = g_strconcat (MIND_DIALECT ".", primitive, NULL), *valid = g_utf8_make_valid (full, -1);
  const char *arguments = gantry_mindspore_arguments (primitive);
  g_auto (GStrv) known = arguments != NULL ? g_strsplit (arguments, " ", -1) : NULL;
  g_autofree const char **names = g_new0 (const char *, n + 1);
  const MindValue *input_names = NULL;

  if (message.data != NULL)
    read_attributes (import, message, PRIMITIVE_ATTRIBUTE, list, &input_names, NULL);
  for (guint i = 0; i < n; i++)
    names[i] = given != NULL ? given[i] : argument_name (import, known, input_names, i);
  return gantry_mind_write_foreign (import, node, valid, list, values, n, names, also);
}

/* What only arranges values */

static MindValue *
make_tuple (MindImport *import, MindValue *const *values, guint n, gboolean is_list)
{
  MindValue *tuple = gantry_mind_tuple_new (import, n);

  tuple->is_list = is_list;
  if (n > 0)
    memcpy (tuple->members, values, sizeof (MindValue *) * n);
  return gantry_mind_tuple_close (import, tuple) ? tuple : NULL;
}

static MindValue *
make_partial (MindImport *import, MindValue *const *values, guint n)
{
  MindValue *partial = gantry_mind_value_new (import, MIND_GRAPH);

  partial->graph = values[0]->graph;
  partial->n = values[0]->n + n - 1;
  partial->members = gantry_arena_new0 (import->arena, MindValue *, partial->n + 1);
  for (guint i = 0; i < partial->n; i++)
    partial->members[i] = i < values[0]->n ? values[0]->members[i] : values[i - values[0]->n + 1];
  return gantry_mind_tuple_close (import, partial) ? partial : NULL;
}

static MindValue *
make_choice (MindImport *import, MindValue *const *values)
{
  MindValue *choice;

  if (values[0]->kind == MIND_BOOL)
    return values[values[0]->i != 0 ? 1 : 2];
  choice = gantry_mind_value_new (import, MIND_CHOICE);
  choice->n = 3;
  choice->members = gantry_arena_copy (import->arena, values, sizeof (MindValue *) * 3);
  return choice;
}

/* Returns: (nullable): NULL without an error where the primitive does work */
static MindValue *
arrange (MindImport *import, const char *name, MindValue *const *values, guint n)
{
  if (strcmp (name, "MakeTuple") == 0 || strcmp (name, "make_tuple") == 0)
    return make_tuple (import, values, n, FALSE);
  if (strcmp (name, "MakeList") == 0 || strcmp (name, "make_list") == 0)
    return make_tuple (import, values, n, TRUE);
  if (strcmp (name, "UpdateState") == 0)
    {
      MindValue *monad = gantry_mind_value_new (import, MIND_MONAD);

      monad->i = import->assignments->len;
      return monad;
    }
  if (n == 0)
    return NULL;
  if (strcmp (name, "Load") == 0 && n == 2 && values[1]->kind == MIND_MONAD)
    return gantry_mind_assigned (import, values[0], (guint) values[1]->i);
  if (strcmp (name, "Depend") == 0 || strcmp (name, "Load") == 0 || strcmp (name, "Return") == 0)
    return values[0];
  if ((strcmp (name, "Partial") == 0 || strcmp (name, "partial") == 0) && values[0]->kind == MIND_GRAPH)
    return make_partial (import, values, n);
  if ((strcmp (name, "Switch") == 0 || strcmp (name, "switch") == 0) && n == 3 && values[1]->kind == MIND_GRAPH && values[2]->kind == MIND_GRAPH
      && gantry_mind_is_data (values[0]))
    return make_choice (import, values);
  if ((strcmp (name, "TupleGetItem") == 0 || strcmp (name, "ListGetItem") == 0) && n == 2 && values[0]->kind == MIND_TUPLE && values[1]->kind == MIND_INT)
    {
      gint64 i = values[1]->i < 0 ? values[1]->i + values[0]->n : values[1]->i;

      if (i >= 0 && i < values[0]->n)
        return values[0]->members[i];
      gantry_mind_fail (import, GANTRY_ERROR_INVALID, "member %" G_GINT64_FORMAT " of %u is taken; the file is damaged", values[1]->i, values[0]->n);
    }
  return NULL;
}

/* Nodes */

static MindValue *
value_named (MindImport *import, guint32 name)
{
  guint graph = GPOINTER_TO_UINT (g_hash_table_lookup (import->by_name, GUINT_TO_POINTER (name)));
  MindValue *value = name < import->values->len ? g_ptr_array_index (import->values, name) : NULL;

  if (value != NULL)
    return value;
  if (graph == 0)
    {
      g_autofree char *valid = g_utf8_make_valid (gantry_interner_string (import->names, name), -1);

      gantry_mind_fail (import, GANTRY_ERROR_INVALID, "'%s' is given by no node before; the file is damaged", valid);
      return NULL;
    }
  value = gantry_mind_value_new (import, MIND_GRAPH);
  value->graph = graph - 1;
  return value;
}

gboolean
gantry_mind_is_constant (MindImport *import, const MindNode *node)
{
  return strcmp (gantry_interner_string (import->names, node->operation), "Constant") == 0;
}

MindValue *
gantry_mind_constant (MindImport *import, const MindNode *node)
{
  GantryWire wire;
  MindAttr attr;
  gboolean found = FALSE;

  gantry_wire_init (&wire, node->message);
  while (!found && gantry_mind_next (import, &wire))
    if (wire.field == NODE_ATTRIBUTE && wire.kind == GANTRY_WIRE_LENGTH)
      {
        gantry_mind_read_attr (import, wire.span, 0, &attr);
        found = TRUE;
      }
  if (!found)
    gantry_mind_fail (import, GANTRY_ERROR_INVALID, "a constant has no value; the file is damaged");
  return import->error == NULL ? gantry_mind_attr_value (import, &attr) : NULL;
}

const char *
gantry_mind_primitive (MindImport *import, guint32 operation, GantryWireSpan *message)
{
  const char *text = gantry_interner_string (import->names, operation), *name = text;
  const GantryWireSpan *known;
  GantryWire wire;

  if (!g_str_has_prefix (text, "REF::"))
    return g_str_has_prefix (text, "S-Prim-") ? text + strlen ("S-Prim-") : text;
  known = g_hash_table_lookup (import->primitives, GUINT_TO_POINTER (gantry_interner_add_string (import->names, text + strlen ("REF::"))));
  if (known == NULL)
    return NULL;
  *message = *known;
  gantry_wire_init (&wire, *known);
  while (gantry_mind_next (import, &wire))
    if (wire.field == PRIMITIVE_TYPE && wire.kind == GANTRY_WIRE_LENGTH)
      name = gantry_mind_text (import, wire.span);
  return g_str_has_prefix (name, "S-Prim-") ? name + strlen ("S-Prim-") : name;
}

static MindValue *
write_operation (MindImport *import, const MindGraph *graph, const MindNode *node, MindValue *const *values)
{
  const char *reference = gantry_interner_string (import->names, node->operation), *primitive;
  GantryWireSpan message = { 0 };
  MindValue *value;

  primitive = gantry_mind_primitive (import, node->operation, &message);
  if (primitive == NULL)
    {
      value = value_named (import, gantry_interner_add_string (import->names, reference + strlen ("REF::")));
      return value != NULL ? gantry_mind_call (import, graph, node, value, values, node->n_inputs) : NULL;
    }
  value = arrange (import, primitive, values, node->n_inputs);
  if (value == NULL && import->error == NULL)
    value = gantry_mind_update (import, node, primitive, message, values);
  if (value != NULL || import->error != NULL)
    return value;
  return gantry_mind_write_primitive (import, node, primitive, message, values, node->n_inputs, NULL, NULL);
}

MindValue *
gantry_mind_write_node (MindImport *import, const MindGraph *graph, guint index)
{
  const MindNode *node = &g_array_index (graph->nodes, MindNode, index);
  g_autofree MindValue **values = g_new0 (MindValue *, node->n_inputs + 1);
  MindValue *value = NULL;

  for (guint i = 0; i < node->n_inputs && import->error == NULL; i++)
    values[i] = value_named (import, g_array_index (import->inputs, guint32, node->first_input + i));
  set_place (import, graph, node, index);
  if (import->error == NULL)
    value = write_operation (import, graph, node, values);
  if (import->error != NULL)
    {
      g_autofree char *name = short_name (import, node, FALSE);

      if (!g_error_matches (import->error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED))
        gantry_error_prefix (&import->error, "node %u '%s': ", index + 1, name);
    }
  return import->error == NULL ? value : NULL;
}
