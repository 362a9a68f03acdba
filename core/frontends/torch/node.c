/* SPDX-License-Identifier: Apache-2.0 */
/* One node of the file as one foreign node: tensors are operands, whatever else it was given are attributes by the names
 * of the arguments; where it was written, and in which module of the program it stands. */
#include "core/frontends/torch/torch-private.h"
#include <string.h>

#define CANCEL_EVERY 1024u

/* Places */

/* The innermost frame outside of torch itself: 'File "model.py", line 12, in forward'. */
static guint32
location_of (TorchImport *import, const char *trace, guint index, const char *name)
{
  GantryLocation location = { .file = import->file, .line = index + 1 };
  g_autofree char *text = g_strdup_printf ("node %u '%s'", index + 1, name);
  const char *at = trace;

  location.text = gantry_context_intern (import->context, text);
  while (at != NULL && (at = strstr (at, "File \"")) != NULL)
    {
      const char *begin = at + strlen ("File \""), *end = strstr (begin, "\", line ");
      const char *line_end = strchr (begin, '\n');

      at = begin;
      if (end == NULL || (line_end != NULL && line_end < end) || g_strstr_len (begin, end - begin, "/torch/nn/") != NULL)
        continue;
      location = (GantryLocation){ .file = gantry_context_intern_len (import->context, begin, (gsize) (end - begin)) };
      location.line = (guint32) MIN (g_ascii_strtoull (end + strlen ("\", line "), NULL, 10), G_MAXINT32);
    }
  return gantry_context_location (import->context, &location);
}

/* "L__self__,,ResNet;L__self__layer1.0,layer1.0,BasicBlock": the path of the last module; numbers stay with the name before. */
static guint32
scope_of (TorchImport *import, const char *stack)
{
  const char *last = stack != NULL ? strrchr (stack, ';') : NULL, *begin, *end;
  g_autoptr (GString) path = g_string_new (NULL);

  begin = stack != NULL ? strchr (last != NULL ? last : stack, ',') : NULL;
  end = begin != NULL ? strchr (begin + 1, ',') : NULL;
  for (const char *c = begin != NULL ? begin + 1 : NULL; end != NULL && c < end; c++)
    g_string_append_c (path, *c == '.' && !g_ascii_isdigit (c[1]) ? '/' : *c);
  return gantry_context_scope (import->context, path->str);
}

static void
set_place (TorchFrame *frame, const TorchJson *node, guint index, const char *name)
{
  const TorchJson *metadata = gantry_torch_json_object (node, "metadata");

  gantry_builder_set_place (frame->import->b, scope_of (frame->import, gantry_torch_json_string (metadata, "nn_module_stack")),
                            location_of (frame->import, gantry_torch_json_string (metadata, "stack_trace"), index, name));
}

void
gantry_torch_set_plain_place (TorchImport *import, const char *what, const char *name)
{
  g_autofree char *text = g_strdup_printf ("%s '%s'", what, name);
  GantryLocation location = { .file = import->file, .text = gantry_context_intern (import->context, text) };

  gantry_builder_set_place (import->b, 0, gantry_context_location (import->context, &location));
}

/* Results */

/** The tensors that a node gives; a name may be missing where nothing uses it. */
static gboolean
find_results (const TorchJson *node, GPtrArray *names, GError **error)
{
  const TorchJson *outputs = gantry_torch_json_array (node, "outputs");

  for (guint i = 0; outputs != NULL && i < outputs->n; i++)
    {
      const TorchJson *output = gantry_torch_json_element (outputs, i);
      const TorchJson *tensor = gantry_torch_json_object (output, "as_tensor");
      const TorchJson *tensors = gantry_torch_json_array (output, "as_tensors");

      if (tensor == NULL && tensors == NULL && output != NULL && gantry_torch_json_member (output, "as_none") != NULL)
        g_ptr_array_add (names, NULL);
      if (tensor != NULL)
        g_ptr_array_add (names, (gpointer) gantry_torch_json_string (tensor, "name"));
      for (guint k = 0; tensors != NULL && k < tensors->n; k++)
        g_ptr_array_add (names, (gpointer) gantry_torch_json_string (gantry_torch_json_element (tensors, k), "name"));
    }
  if (names->len > TORCH_MOST_OPERANDS)
    return gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "it has more than %u results", TORCH_MOST_OPERANDS);
  return TRUE;
}

static const TorchJson *
meta_of (TorchFrame *frame, const char *name)
{
  return name != NULL ? gantry_torch_json_object (gantry_torch_json_object (frame->graph, "tensor_values"), name) : NULL;
}

static gboolean
result_type (TorchFrame *frame, const char *name, guint32 *type, GError **error)
{
  const TorchJson *meta = meta_of (frame, name);

  *type = meta != NULL ? gantry_torch_type (frame->import, meta, error) : 0;
  return meta == NULL || *type != 0;
}

static gboolean
results_type (TorchFrame *frame, const GPtrArray *names, guint32 *type, GError **error)
{
  g_autofree guint32 *types = g_new0 (guint32, names->len + 1);

  for (guint i = 0; i < names->len; i++)
    if (!result_type (frame, g_ptr_array_index (names, i), &types[i], error))
      return FALSE;
  *type = names->len == 1   ? types[0]
          : names->len == 0 ? gantry_context_token (frame->import->context)
                            : gantry_context_tuple (frame->import->context, names->len, types);
  return TRUE;
}

static gboolean
count (TorchImport *import, guint n, GError **error)
{
  if (n > import->max_nodes - import->n_written)
    return gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "the program has more than %u nodes, which is the limit", import->max_nodes);
  if (import->n_written / CANCEL_EVERY != (import->n_written + n) / CANCEL_EVERY && gantry_progress_cancelled (import->progress, error))
    return FALSE;
  import->n_written += n;
  return TRUE;
}

guint32
gantry_torch_write_foreign (TorchFrame *frame, const TorchJson *node, guint index, const char *name, const guint32 *operands, guint n, guint32 attrs,
                            guint32 type, GError **error)
{
  TorchImport *import = frame->import;
  const char *label = gantry_torch_json_string (node, "name");
  guint op;

  if (!count (import, 1, error))
    return 0;
  op = gantry_context_foreign_op (import->context, name);
  g_hash_table_add (import->operations, GUINT_TO_POINTER (op));
  if (op == G_MAXUINT16 || g_hash_table_size (import->operations) > TORCH_MOST_OPERATIONS)
    {
      gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "the program has more than %u different operations", TORCH_MOST_OPERATIONS);
      return 0;
    }
  set_place (frame, node, index, label != NULL ? label : name);
  return gantry_builder_add_typed (import->b, op, operands, n, attrs, type);
}

static gboolean
define (TorchFrame *frame, const char *name, TorchValue *value, GError **error)
{
  if (name == NULL || *name == '\0')
    return TRUE;
  if (g_hash_table_insert (frame->values, (gpointer) name, value))
    return TRUE;
  return gantry_fail (error, GANTRY_ERROR_INVALID, "'%s' is given by two nodes; the archive is damaged", name);
}

/* The value that the node's first operand stands for. */
static TorchValue *
first_value (TorchFrame *frame, const TorchJson *node)
{
  const TorchJson *inputs = gantry_torch_json_array (node, "inputs");
  const TorchJson *input = inputs != NULL && inputs->n > 0 ? gantry_torch_json_element (inputs, 0) : NULL;
  const char *name = gantry_torch_json_string (gantry_torch_json_object (gantry_torch_json_object (input, "arg"), "as_tensor"), "name");

  return name != NULL ? g_hash_table_lookup (frame->values, name) : NULL;
}

/* A result of one tensor: a value of its own, a view, or the operand written to. */
static gboolean
define_single (TorchFrame *frame, const TorchJson *node, guint index, const char *operation, const char *name, guint32 id, GError **error)
{
  g_autofree char *base_name = gantry_torch_base_name (operation);
  TorchValue *value = gantry_torch_value_new (frame->import, id, meta_of (frame, name)), *first = first_value (frame, node);

  value->index = index;
  if (first != NULL && gantry_torch_is_in_place (base_name))
    {
      if (!gantry_torch_value_set (frame, first, id, error))
        return FALSE;
      /* Another name of what was written: of the first of them, so that a chain of writes has no depth. */
      while (first->base != NULL && first->view == NULL)
        first = first->base;
      value->base = first;
    }
  else if (first != NULL && gantry_torch_is_view (frame, base_name, node, first->meta, value->meta))
    {
      value->base = first;
      value->view = node;
    }
  if (value->base != NULL)
    value->seen = value->base->version;
  return define (frame, name, value, error);
}

/* The axis that a node splits along, of @rank dimensions. */
static gint64
split_axis (const TorchJson *node, guint rank)
{
  const TorchJson *inputs = gantry_torch_json_array (node, "inputs");
  gint64 axis = 0;

  for (guint i = 0; inputs != NULL && i < inputs->n; i++)
    {
      const TorchJson *input = gantry_torch_json_element (inputs, i);

      if (g_strcmp0 (gantry_torch_json_string (input, "name"), "dim") == 0)
        gantry_torch_json_int (gantry_torch_json_object (input, "arg"), "as_int", &axis);
    }
  return axis < 0 ? axis + rank : axis;
}

static guint
rank_of (const TorchJson *meta)
{
  const TorchJson *sizes = gantry_torch_json_array (meta, "sizes");

  return sizes != NULL ? sizes->n : 0;
}

/* Result of a node that splits its first operand: a view of its part from @at on. Moves @at behind it. */
static void
set_piece (TorchFrame *frame, const TorchJson *node, guint index, TorchValue *first, TorchValue *value, gint64 *at)
{
  guint rank = rank_of (first->meta);
  gint64 axis = split_axis (node, rank), size = 1;

  value->piece = rank_of (value->meta) == rank ? TORCH_SLICE : TORCH_ELEMENT;
  if (value->piece == TORCH_SLICE && axis >= 0 && axis < rank)
    size = gantry_torch_size (frame->import, gantry_torch_json_element (gantry_torch_json_array (value->meta, "sizes"), (guint) axis));
  value->index = index;
  value->base = first;
  value->view = node;
  value->seen = first->version;
  value->axis = axis;
  value->start = *at;
  value->end = *at += MAX (size, 0);
}

/* @id, of which no gradient is taken where none are recorded. Returns: 0 after an error */
static guint32
detached (TorchFrame *frame, const TorchJson *node, guint index, const char *name, guint32 id, guint32 type, GError **error)
{
  static const char *const names[] = { "self" };
  TorchImport *import = frame->import;
  GantryAttrList *list;

  if (!frame->no_gradient || !gantry_type_is_tensor (gantry_context_type (import->context, type)))
    return id;
  list = gantry_attr_list_new (import->context);
  gantry_attr_list_set_strings (list, TORCH_OPERAND_NAMES, names, 1);
  if (name != NULL)
    gantry_builder_set_name (import->b, gantry_context_intern (import->context, name));
  return gantry_torch_write_foreign (frame, node, index, "aten.detach.default", &id, 1, gantry_attr_list_end (list), type, error);
}

static gboolean
define_results (TorchFrame *frame, const TorchJson *node, guint index, const char *operation, const GPtrArray *names, guint32 id, GError **error)
{
  TorchImport *import = frame->import;
  g_autofree char *base_name = gantry_torch_base_name (operation);
  TorchValue *first = first_value (frame, node), *value;
  gboolean is_view = first != NULL && first->meta != NULL && gantry_torch_is_view (frame, base_name, node, first->meta, NULL);
  gint64 at = 0;

  if (names->len == 1)
    return define_single (frame, node, index, operation, g_ptr_array_index (names, 0), id, error);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      GantryAttrList *list;
      guint32 type, result;

      if (name == NULL || *name == '\0')
        continue;
      if (!count (import, 1, error) || !result_type (frame, name, &type, error))
        return FALSE;
      list = gantry_attr_list_new (import->context);
      gantry_attr_list_set_int (list, "index", i);
      gantry_builder_set_name (import->b, gantry_context_intern (import->context, name));
      result = gantry_builder_add_typed (import->b, GANTRY_OP_RESULT, &id, 1, gantry_attr_list_end (list), type);
      result = detached (frame, node, index, name, result, type, error);
      if (result == 0)
        return FALSE;
      value = gantry_torch_value_new (import, result, meta_of (frame, name));
      if (is_view && value->meta != NULL)
        set_piece (frame, node, index, first, value, &at);
      if (!define (frame, name, value, error))
        return FALSE;
    }
  return TRUE;
}

/* Nodes */

/* Numbers that are computed of sizes are known where the sizes are: sym_size, _operator.add and the like. */
static gboolean
gives_numbers (const TorchJson *node)
{
  const TorchJson *outputs = gantry_torch_json_array (node, "outputs");
  guint n = outputs != NULL ? outputs->n : 0;

  for (guint i = 0; i < n; i++)
    {
      const TorchJson *output = gantry_torch_json_element (outputs, i);

      if (gantry_torch_json_object (output, "as_sym_int") == NULL && gantry_torch_json_object (output, "as_sym_bool") == NULL)
        return FALSE;
    }
  return n > 0;
}

/* Whether the node does what the graph in it says, no more: torch.no_grad and its like. */
static const TorchJson *
wrapped_graph (const TorchJson *node, const char *operation)
{
  static const char *const wrappers[] = { "wrap_with_set_grad_enabled", "wrap_with_autocast", "hints_wrapper", "wrap" };
  const TorchJson *inputs = gantry_torch_json_array (node, "inputs");
  gboolean known = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (wrappers); i++)
    known = known || (g_str_has_prefix (operation, "higher_order.") && strcmp (operation + strlen ("higher_order."), wrappers[i]) == 0);
  for (guint i = 0; known && inputs != NULL && i < inputs->n; i++)
    {
      const TorchJson *argument = gantry_torch_json_object (gantry_torch_json_element (inputs, i), "arg");
      const TorchJson *graph = gantry_torch_json_object (gantry_torch_json_object (argument, "as_graph"), "graph");

      if (graph != NULL)
        return graph;
    }
  return NULL;
}

/* Names of the tensors among arguments, in their order; also in lists. */
static void
tensor_names (const TorchJson *argument, GPtrArray *names)
{
  const TorchJson *list = gantry_torch_json_array (argument, "as_tensors");
  const char *name = gantry_torch_json_string (gantry_torch_json_object (argument, "as_tensor"), "name");

  if (name != NULL)
    g_ptr_array_add (names, (gpointer) name);
  for (guint i = 0; list != NULL && i < list->n; i++)
    if ((name = gantry_torch_json_string (gantry_torch_json_element (list, i), "name")) != NULL)
      g_ptr_array_add (names, (gpointer) name);
}

static void
all_tensor_names (const TorchJson *array, const char *key, GPtrArray *names)
{
  for (guint i = 0; array != NULL && i < array->n; i++)
    {
      const TorchJson *element = gantry_torch_json_element (array, i);

      tensor_names (key != NULL ? gantry_torch_json_object (element, key) : element, names);
    }
}

/* Gives the names @to of one graph what the names @from of another stand for. */
static gboolean
pass_values (GHashTable *from_values, const GPtrArray *from, TorchFrame *to_frame, const GPtrArray *to, GError **error)
{
  if (from->len != to->len)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "%u values are given to %u names of the graph inside; the archive is damaged", from->len, to->len);
  for (guint i = 0; i < from->len; i++)
    {
      TorchValue *value = g_hash_table_lookup (from_values, g_ptr_array_index (from, i));

      if (value == NULL)
        return gantry_fail (error, GANTRY_ERROR_INVALID, "'%s' is given by no node before; the archive is damaged", (const char *) g_ptr_array_index (from, i));
      if (!define (to_frame, g_ptr_array_index (to, i), value, error))
        return FALSE;
    }
  return TRUE;
}

/* Whether no gradients are recorded in the graph that @node wraps: as in that around it, unless it says so itself. */
static gboolean
records_none (const TorchFrame *frame, const TorchJson *node)
{
  const char *target = gantry_torch_json_string (node, "target");
  const TorchJson *inputs = gantry_torch_json_array (node, "inputs"), *enabled;

  if (target == NULL || !g_str_has_suffix (target, "wrap_with_set_grad_enabled") || inputs == NULL || inputs->n == 0)
    return frame->no_gradient;
  enabled = gantry_torch_json_member (gantry_torch_json_object (gantry_torch_json_element (inputs, 0), "arg"), "as_bool");
  return enabled != NULL && enabled->kind == TORCH_JSON_BOOLEAN ? enabled->integer == 0 : frame->no_gradient;
}

static gboolean
write_wrapped (TorchFrame *frame, const TorchJson *node, const TorchJson *graph, GError **error)
{
  g_autoptr (GHashTable) values = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) arguments = g_ptr_array_new (), parameters = g_ptr_array_new ();
  g_autoptr (GPtrArray) results = g_ptr_array_new (), outputs = g_ptr_array_new ();
  TorchFrame inner = { frame->import, graph, values, frame->depth + 1, records_none (frame, node) };

  if (inner.depth > TORCH_MOST_GRAPH_DEPTH)
    return gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "graphs are nested more than %u deep", TORCH_MOST_GRAPH_DEPTH);
  all_tensor_names (gantry_torch_json_array (node, "inputs"), "arg", arguments);
  all_tensor_names (gantry_torch_json_array (graph, "inputs"), NULL, parameters);
  all_tensor_names (gantry_torch_json_array (graph, "outputs"), NULL, results);
  all_tensor_names (gantry_torch_json_array (node, "outputs"), NULL, outputs);
  return pass_values (frame->values, arguments, &inner, parameters, error) && gantry_torch_write_graph (&inner, error)
         && pass_values (values, results, frame, outputs, error);
}

static gboolean
write_plain (TorchFrame *frame, const TorchJson *node, guint index, const char *operation, GError **error)
{
  TorchImport *import = frame->import;
  g_autoptr (GantryAttrList) list = gantry_attr_list_new (import->context);
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const char *label;
  guint32 type, id;

  if (!find_results (node, names, error) || !results_type (frame, names, &type, error) || !gantry_torch_attributes (frame, node, list, operands, error))
    return FALSE;
  label = names->len == 1 && g_ptr_array_index (names, 0) != NULL ? g_ptr_array_index (names, 0) : gantry_torch_json_string (node, "name");
  if (label != NULL)
    gantry_builder_set_name (import->b, gantry_context_intern (import->context, label));
  id = gantry_torch_write_foreign (frame, node, index, operation, (const guint32 *) (gpointer) operands->data, operands->len,
                                   gantry_attr_list_end (g_steal_pointer (&list)), type, error);
  if (id != 0 && names->len == 1)
    id = detached (frame, node, index, label, id, type, error);
  return id != 0 && define_results (frame, node, index, operation, names, id, error);
}

static gboolean
write_node (TorchFrame *frame, const TorchJson *node, guint index, GError **error)
{
  const char *target = gantry_torch_json_string (node, "target");
  const TorchJson *graph;

  frame->import->info->n_nodes++;
  if (target == NULL || *target == '\0')
    return gantry_fail (error, GANTRY_ERROR_INVALID, "it names no operation; the archive is damaged");
  if (g_str_has_prefix (target, "torch.ops."))
    target += strlen ("torch.ops.");
  if (gives_numbers (node))
    return TRUE;
  graph = wrapped_graph (node, target);
  return graph != NULL ? write_wrapped (frame, node, graph, error) : write_plain (frame, node, index, target, error);
}

gboolean
gantry_torch_write_graph (TorchFrame *frame, GError **error)
{
  const TorchJson *nodes = gantry_torch_json_array (frame->graph, "nodes");

  if (nodes == NULL)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "a graph has no nodes; the archive is damaged");
  for (guint i = 0; i < nodes->n; i++)
    {
      const TorchJson *node = gantry_torch_json_element (nodes, i);

      if (!write_node (frame, node, i, error))
        {
          const char *target = gantry_torch_json_string (node, "target");

          gantry_error_prefix (error, "node %u (%s): ", i + 1, target != NULL ? target : "?");
          return FALSE;
        }
    }
  return TRUE;
}
