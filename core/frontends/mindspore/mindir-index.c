/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a model: its graphs, the names that their nodes take and give, its primitives, and which graph may call which. */
#include "core/frontends/mindspore/mindir-private.h"
#include <string.h>

enum
{
  MODEL_PRODUCER = 2,
  MODEL_PRODUCER_VERSION = 3,
  MODEL_VERSION = 5,
  MODEL_GRAPH = 7,
  MODEL_FUNCTION = 8,
  MODEL_LITTLE_ENDIAN = 10,
  MODEL_PRIMITIVE = 12,
  MODEL_FORMAT = 13,
  GRAPH_NODE = 1,
  GRAPH_NAME = 2,
  GRAPH_PARAMETER = 3,
  GRAPH_INPUT = 5,
  GRAPH_OUTPUT = 6,
  NODE_INPUT = 1,
  NODE_OUTPUT = 2,
  NODE_OPERATION = 4,
  NODE_ATTRIBUTE = 5,
  NODE_PLACE = 6,
  NODE_DOMAIN = 7,
  VALUE_NAME = 1,
  VALUE_TENSOR = 2,
  VALUE_INFO = 5,
  PRIMITIVE_NAME = 1,
};

static void
read_node (MindImport *import, GantryWireSpan message, MindGraph *graph)
{
  MindNode node = { .message = message, .first_input = import->inputs->len };
  GantryWire wire;
  guint32 name;

  gantry_wire_init (&wire, message);
  while (gantry_mind_next (import, &wire))
    if (wire.kind != GANTRY_WIRE_LENGTH)
      continue;
    else if (wire.field == NODE_INPUT)
      {
        name = gantry_mind_intern (import, wire.span);
        g_array_append_val (import->inputs, name);
      }
    else if (wire.field == NODE_OUTPUT && node.output == 0)
      node.output = gantry_mind_intern (import, wire.span);
    else if (wire.field == NODE_OPERATION)
      node.operation = gantry_mind_intern (import, wire.span);
    else if (wire.field == NODE_PLACE)
      node.place = wire.span;
    else if (wire.field == NODE_DOMAIN)
      node.domain = wire.span;
  node.n_inputs = import->inputs->len - node.first_input;
  if (import->error == NULL && (node.output == 0 || node.operation == 0))
    gantry_mind_fail (import, GANTRY_ERROR_INVALID, "byte %" G_GSIZE_FORMAT ": a node has no %s; the file is damaged", (gsize) (message.data - import->begin),
                      node.output == 0 ? "output" : "operation");
  if (node.n_inputs > MIND_MOST_OPERANDS)
    gantry_mind_fail (import, GANTRY_ERROR_TOO_LARGE, "node '%s' has more than %u inputs", gantry_interner_string (import->names, node.output),
                      MIND_MOST_OPERANDS);
  g_array_append_val (graph->nodes, node);
}

static MindInput
read_input (MindImport *import, GantryWireSpan message)
{
  MindInput input = { 0 };
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_mind_next (import, &wire))
    if (wire.kind != GANTRY_WIRE_LENGTH)
      continue;
    else if (wire.field == VALUE_NAME)
      input.name = gantry_mind_intern (import, wire.span);
    else if (wire.field == VALUE_TENSOR && input.tensor.data == NULL)
      input.tensor = wire.span;
    else if (wire.field == VALUE_INFO)
      input.info = wire.span;
  return input;
}

static void
graph_free (gpointer data)
{
  MindGraph *graph = data;

  g_array_unref (graph->nodes);
  g_array_unref (graph->inputs);
  g_array_unref (graph->parameters);
  g_array_unref (graph->outputs);
  g_array_unref (graph->calls);
  g_free (graph);
}

static MindGraph *
add_graph (MindImport *import, GantryWireSpan message)
{
  MindGraph *graph = g_new0 (MindGraph, 1);

  graph->message = message;
  graph->nodes = g_array_new (FALSE, FALSE, sizeof (MindNode));
  graph->inputs = g_array_new (FALSE, FALSE, sizeof (MindInput));
  graph->parameters = g_array_new (FALSE, FALSE, sizeof (GantryWireSpan));
  graph->outputs = g_array_new (FALSE, FALSE, sizeof (guint32));
  graph->calls = g_array_new (FALSE, FALSE, sizeof (guint));
  g_ptr_array_add (import->graphs, graph);
  return graph;
}

static void
read_graph (MindImport *import, MindGraph *graph)
{
  GantryWire wire;
  MindInput input;

  gantry_wire_init (&wire, graph->message);
  while (gantry_mind_next (import, &wire))
    if (wire.kind != GANTRY_WIRE_LENGTH)
      continue;
    else if (wire.field == GRAPH_NODE)
      read_node (import, wire.span, graph);
    else if (wire.field == GRAPH_NAME)
      graph->name = gantry_mind_intern (import, wire.span);
    else if (wire.field == GRAPH_PARAMETER)
      g_array_append_val (graph->parameters, wire.span);
    else if (wire.field == GRAPH_INPUT || wire.field == GRAPH_OUTPUT)
      {
        input = read_input (import, wire.span);
        if (wire.field == GRAPH_INPUT)
          g_array_append_val (graph->inputs, input);
        else
          g_array_append_val (graph->outputs, input.name);
      }
}

static void
read_primitive (MindImport *import, GantryWireSpan message)
{
  GantryWireSpan *copy = gantry_arena_copy (import->arena, &message, sizeof message);
  guint32 name = 0;
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_mind_next (import, &wire))
    if (wire.field == PRIMITIVE_NAME && wire.kind == GANTRY_WIRE_LENGTH)
      name = gantry_mind_intern (import, wire.span);
  if (name != 0)
    g_hash_table_insert (import->primitives, GUINT_TO_POINTER (name), copy);
}

/* The number that a constant holds, -1 where it holds something else. */
static gint64
constant_number (MindImport *import, const MindNode *node)
{
  gint64 number = -1;
  MindAttr attr;
  GantryWire wire;

  gantry_wire_init (&wire, node->message);
  while (gantry_mind_next (import, &wire))
    if (wire.field == NODE_ATTRIBUTE && wire.kind == GANTRY_WIRE_LENGTH)
      {
        gantry_mind_read_attr (import, wire.span, 0, &attr);
        number = attr.type == MIND_TYPE_INT64 || attr.type == MIND_TYPE_INT32 ? attr.i : -1;
      }
  return number;
}

/* Which members of the tuples that nodes give are taken, so that the others need no node. */
static void
note_member (MindImport *import, const MindNode *node, GHashTable *by_output)
{
  MindNode *makers[2] = { NULL }; /* of the tuple, and of the position in it */
  gint64 index;

  for (guint i = 0; i < MIN (node->n_inputs, G_N_ELEMENTS (makers)); i++)
    makers[i] = g_hash_table_lookup (by_output, GUINT_TO_POINTER (g_array_index (import->inputs, guint32, node->first_input + i)));
  index = makers[1] != NULL ? constant_number (import, makers[1]) : -1;
  if (makers[0] != NULL)
    makers[0]->used |= index >= 0 && index < 64 ? (guint64) 1 << index : G_MAXUINT64;
}

static void
note_uses (MindImport *import, MindGraph *graph, GHashTable *by_output)
{
  const char *const takes[] = { "TupleGetItem", "ListGetItem" };

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const MindNode *node = &g_array_index (graph->nodes, MindNode, i);
      const char *operation = gantry_interner_string (import->names, node->operation);
      gboolean takes_one = FALSE;

      for (guint k = 0; k < G_N_ELEMENTS (takes); k++)
        takes_one = takes_one || strstr (operation, takes[k]) != NULL;
      if (takes_one)
        note_member (import, node, by_output);
      if (takes_one || strstr (operation, "UpdateState") != NULL)
        continue;
      for (guint k = 0; k < node->n_inputs; k++)
        {
          guint32 name = g_array_index (import->inputs, guint32, node->first_input + k);
          MindNode *maker = g_hash_table_lookup (by_output, GUINT_TO_POINTER (name));

          if (maker != NULL)
            maker->used = G_MAXUINT64;
        }
    }
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      MindNode *maker = g_hash_table_lookup (by_output, GUINT_TO_POINTER (g_array_index (graph->outputs, guint32, i)));

      if (maker != NULL)
        maker->used = G_MAXUINT64;
    }
}

static void
note_all_uses (MindImport *import)
{
  g_autoptr (GHashTable) by_output = g_hash_table_new (NULL, NULL);

  for (guint g = 0; g < import->graphs->len; g++)
    {
      MindGraph *graph = g_ptr_array_index (import->graphs, g);

      for (guint i = 0; i < graph->nodes->len; i++)
        {
          MindNode *node = &g_array_index (graph->nodes, MindNode, i);

          g_hash_table_insert (by_output, GUINT_TO_POINTER (node->output), node);
        }
    }
  for (guint g = 0; g < import->graphs->len; g++)
    note_uses (import, g_ptr_array_index (import->graphs, g), by_output);
}

/* Calls */

static guint
graph_named (MindImport *import, guint32 name)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (import->by_name, GUINT_TO_POINTER (name)));
}

static void
note_call (MindImport *import, MindGraph *graph, guint32 name)
{
  guint index = graph_named (import, name);

  if (index == 0)
    return;
  index--;
  g_array_append_val (graph->calls, index);
}

static void
note_calls (MindImport *import, MindGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const MindNode *node = &g_array_index (graph->nodes, MindNode, i);
      const char *operation = gantry_interner_string (import->names, node->operation);

      if (g_str_has_prefix (operation, "REF::"))
        note_call (import, graph, gantry_interner_add_string (import->names, operation + strlen ("REF::")));
      for (guint k = 0; k < node->n_inputs; k++)
        note_call (import, graph, g_array_index (import->inputs, guint32, node->first_input + k));
    }
}

/* Takes away graphs that lead to no cycle: those whose calls are all of such, from the last ones on. */
static void
find_cycles (MindImport *import)
{
  guint n = import->graphs->len;
  g_autofree guint *left = g_new0 (guint, n + 1), *ready = g_new0 (guint, n + 1);
  g_autoptr (GPtrArray) callers = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  guint n_ready = 0;

  for (guint g = 0; g < n; g++)
    g_ptr_array_add (callers, g_array_new (FALSE, FALSE, sizeof (guint)));
  for (guint g = 0; g < n; g++)
    {
      MindGraph *graph = g_ptr_array_index (import->graphs, g);

      graph->may_recur = TRUE;
      left[g] = graph->calls->len;
      for (guint i = 0; i < graph->calls->len; i++)
        g_array_append_val ((GArray *) g_ptr_array_index (callers, g_array_index (graph->calls, guint, i)), g);
      if (left[g] == 0)
        ready[n_ready++] = g;
    }
  for (guint i = 0; i < n_ready; i++)
    {
      GArray *list = g_ptr_array_index (callers, ready[i]);

      ((MindGraph *) g_ptr_array_index (import->graphs, ready[i]))->may_recur = FALSE;
      for (guint k = 0; k < list->len; k++)
        if (--left[g_array_index (list, guint, k)] == 0)
          ready[n_ready++] = g_array_index (list, guint, k);
    }
}

static gboolean
is_being_read (MindImport *import, guint graph)
{
  for (guint i = 0; i < import->loops->len; i++)
    if (g_array_index (import->loops, guint, i) == graph)
      return TRUE;
  return FALSE;
}

gboolean
gantry_mind_reaches (MindImport *import, guint from, guint to)
{
  g_autofree guint8 *seen = g_new0 (guint8, import->graphs->len + 1);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint));

  g_array_append_val (stack, from);
  while (stack->len > 0)
    {
      guint index = g_array_index (stack, guint, stack->len - 1);
      const MindGraph *graph = g_ptr_array_index (import->graphs, index);

      g_array_set_size (stack, stack->len - 1);
      for (guint i = 0; i < graph->calls->len; i++)
        {
          guint next = g_array_index (graph->calls, guint, i);

          if (next == to)
            return TRUE;
          if (seen[next] || is_being_read (import, next))
            continue;
          seen[next] = TRUE;
          g_array_append_val (stack, next);
        }
    }
  return FALSE;
}

/* Model */

static void
set_producer (MindImport *import, GantryWireSpan name, GantryWireSpan version)
{
  g_free (import->info->producer);
  import->info->producer = g_strstrip (g_strdup_printf ("%s %s", gantry_mind_text (import, name), gantry_mind_text (import, version)));
}

/* Big-endian models are of other machines: none is known to have been seen. */
static void
read_model (MindImport *import, GantryWireSpan model)
{
  GantryWireSpan producer = { 0 }, version = { 0 };
  GantryWire wire;
  MindGraph *main_graph = add_graph (import, (GantryWireSpan){ 0 });

  gantry_wire_init (&wire, model);
  while (gantry_mind_next (import, &wire))
    if (wire.field == MODEL_FORMAT)
      import->info->version = (gint64) wire.value;
    else if (wire.field == MODEL_LITTLE_ENDIAN && wire.kind == GANTRY_WIRE_VARINT && wire.value == 0)
      gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "its numbers are big-endian, which is not read");
    else if (wire.kind != GANTRY_WIRE_LENGTH)
      continue;
    else if (wire.field == MODEL_PRODUCER)
      producer = wire.span;
    else if (wire.field == MODEL_VERSION || (wire.field == MODEL_PRODUCER_VERSION && version.data == NULL))
      version = wire.span;
    else if (wire.field == MODEL_GRAPH)
      main_graph->message = wire.span;
    else if (wire.field == MODEL_FUNCTION)
      add_graph (import, wire.span);
    else if (wire.field == MODEL_PRIMITIVE)
      read_primitive (import, wire.span);
  set_producer (import, producer, version);
  if (import->error == NULL && main_graph->message.data == NULL)
    gantry_mind_fail (import, GANTRY_ERROR_INVALID, "no graph is in it; the file is damaged, encrypted, or no MindIR");
}

void
gantry_mind_index (MindImport *import, GantryWireSpan model)
{
  g_ptr_array_set_free_func (import->graphs, graph_free);
  read_model (import, model);
  for (guint g = 0; g < import->graphs->len && import->error == NULL; g++)
    {
      MindGraph *graph = g_ptr_array_index (import->graphs, g);

      read_graph (import, graph);
      import->info->n_nodes += graph->nodes->len;
      if (graph->name != 0 && g_hash_table_contains (import->by_name, GUINT_TO_POINTER (graph->name)))
        gantry_mind_fail (import, GANTRY_ERROR_INVALID, "two functions have the name '%s'; the file is damaged",
                          gantry_interner_string (import->names, graph->name));
      if (graph->name != 0)
        g_hash_table_insert (import->by_name, GUINT_TO_POINTER (graph->name), GUINT_TO_POINTER (g + 1));
    }
  if (import->error != NULL)
    return;
  for (guint g = 0; g < import->graphs->len; g++)
    note_calls (import, g_ptr_array_index (import->graphs, g));
  note_all_uses (import);
  find_cycles (import);
}
