/* SPDX-License-Identifier: Apache-2.0 */
/* What a subgraph takes from outside, and the order of nodes. A file should have its nodes in
 * order, but not every exporter sorts them: a depth-first walk in the order of the file gives an
 * order that is the file's own where that is one, and finds a cycle where there is none. All
 * linear. */
#include "core/frontends/onnx/onnx-import-private.h"
#include <string.h>

/* Captures */

static gboolean
has_text (const char *text)
{
  return text != NULL && *text != '\0';
}

static GHashTable *
defined_names (const Onnx__GraphProto *graph)
{
  GHashTable *names = g_hash_table_new (g_str_hash, g_str_equal);

  for (gsize i = 0; i < graph->n_input; i++)
    if (has_text (graph->input[i]->name))
      g_hash_table_add (names, graph->input[i]->name);
  for (gsize i = 0; i < graph->n_initializer; i++)
    if (has_text (graph->initializer[i]->name))
      g_hash_table_add (names, graph->initializer[i]->name);
  for (gsize i = 0; i < graph->n_sparse_initializer; i++)
    {
      const Onnx__TensorProto *values = graph->sparse_initializer[i]->values;

      if (values != NULL && has_text (values->name))
        g_hash_table_add (names, values->name);
    }
  for (gsize i = 0; i < graph->n_node; i++)
    for (gsize j = 0; j < graph->node[i]->n_output; j++)
      if (has_text (graph->node[i]->output[j]))
        g_hash_table_add (names, graph->node[i]->output[j]);
  return names;
}

/* @known gets each name once: those the graph defines and those already listed. */
static void
add_free (GPtrArray *free_names, GHashTable *known, const char *name)
{
  if (has_text (name) && g_hash_table_add (known, (gpointer) name))
    g_ptr_array_add (free_names, (gpointer) name);
}

static void
add_free_of_node (GantryOnnxImport *import, const Onnx__NodeProto *node, GPtrArray *free_names, GHashTable *known)
{
  for (gsize i = 0; i < node->n_input; i++)
    add_free (free_names, known, node->input[i]);
  for (gsize i = 0; i < node->n_attribute; i++)
    {
      const Onnx__AttributeProto *attribute = node->attribute[i];

      for (gsize j = 0; j < attribute->n_graphs + (attribute->g != NULL); j++)
        {
          GPtrArray *inner = gantry_onnx_free_names (import, j < attribute->n_graphs ? attribute->graphs[j] : attribute->g);

          for (guint k = 0; k < inner->len; k++)
            add_free (free_names, known, g_ptr_array_index (inner, k));
        }
    }
}

GPtrArray *
gantry_onnx_free_names (GantryOnnxImport *import, const Onnx__GraphProto *graph)
{
  GPtrArray *free_names = g_hash_table_lookup (import->captures, graph);
  g_autoptr (GHashTable) known = NULL;

  if (free_names != NULL)
    return free_names;
  free_names = g_ptr_array_new ();
  known = defined_names (graph);
  for (gsize i = 0; i < graph->n_node; i++)
    add_free_of_node (import, graph->node[i], free_names, known);
  for (gsize i = 0; i < graph->n_output; i++)
    add_free (free_names, known, graph->output[i]->name);
  g_hash_table_insert (import->captures, (gpointer) graph, free_names);
  return free_names;
}

/* Order */

/* The nodes that node i uses are of[first[i]] .. of[first[i + 1] - 1]. */
typedef struct
{
  guint32 *first;
  GArray *of; /* guint32 */
} Uses;

static void
fail_twice (GantryOnnxBody *body, const char *name, gsize first, gsize again, GError **error)
{
  g_autofree char *here = gantry_onnx_node_where (body, again);
  g_autofree char *there = first != 0 ? gantry_onnx_node_where (body, first - 1) : g_strdup ("an input or initializer");

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "value '%s' is produced by %s and by %s; each value needs a name of its own", name, there, here);
}

/* name -> index of the node that produces it, plus 1 */
static GHashTable *
find_producers (GantryOnnxBody *body, GError **error)
{
  g_autoptr (GHashTable) producers = g_hash_table_new (g_str_hash, g_str_equal);

  for (gsize i = 0; i < body->n_nodes; i++)
    for (gsize j = 0; j < body->nodes[i]->n_output; j++)
      {
        const char *name = body->nodes[i]->output[j];
        gsize first;

        if (!has_text (name))
          continue;
        first = GPOINTER_TO_SIZE (g_hash_table_lookup (producers, name));
        if (first != 0 || g_hash_table_contains (body->values, name))
          {
            fail_twice (body, name, first, i, error);
            return NULL;
          }
        g_hash_table_insert (producers, (gpointer) name, GSIZE_TO_POINTER (i + 1));
      }
  return g_steal_pointer (&producers);
}

static void
add_use (GArray *of, GHashTable *producers, const char *name)
{
  gsize found = has_text (name) ? GPOINTER_TO_SIZE (g_hash_table_lookup (producers, name)) : 0;
  guint32 node = (guint32) (found - 1);

  if (found != 0)
    g_array_append_val (of, node);
}

static void
add_uses_of_attribute (GantryOnnxImport *import, const Onnx__AttributeProto *attribute, GArray *of, GHashTable *producers)
{
  for (gsize j = 0; j < attribute->n_graphs + (attribute->g != NULL); j++)
    {
      GPtrArray *captures = gantry_onnx_free_names (import, j < attribute->n_graphs ? attribute->graphs[j] : attribute->g);

      for (guint k = 0; k < captures->len; k++)
        add_use (of, producers, g_ptr_array_index (captures, k));
    }
}

static void
find_uses (GantryOnnxBody *body, GHashTable *producers, Uses *uses)
{
  uses->first = g_new0 (guint32, body->n_nodes + 1);
  uses->of = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (gsize i = 0; i < body->n_nodes; i++)
    {
      const Onnx__NodeProto *node = body->nodes[i];

      for (gsize j = 0; j < node->n_input; j++)
        add_use (uses->of, producers, node->input[j]);
      for (gsize j = 0; j < node->n_attribute; j++)
        add_uses_of_attribute (body->import, node->attribute[j], uses->of, producers);
      uses->first[i + 1] = uses->of->len;
    }
}

static gboolean
is_in_order (const Uses *uses, gsize n)
{
  for (gsize i = 0; i < n; i++)
    for (guint32 j = uses->first[i]; j < uses->first[i + 1]; j++)
      if (g_array_index (uses->of, guint32, j) >= i)
        return FALSE;
  return TRUE;
}

#define CYCLE_SHOWN 6

/* @stack is the path from a node that was asked for to the one that uses @back, which is on the
 * path. */
static void
fail_cycle (GantryOnnxBody *body, GArray *stack, guint32 back, GError **error)
{
  GString *text = g_string_new (NULL);
  guint start = stack->len;
  guint length;

  while (start > 0 && g_array_index (stack, guint32, start - 1) != back)
    start--;
  start--;
  length = stack->len - start;
  for (guint i = 0; i < MIN (length, CYCLE_SHOWN); i++)
    {
      g_autofree char *where = gantry_onnx_node_where (body, g_array_index (stack, guint32, start + i));

      g_string_append_printf (text, "%s%s", i > 0 ? " needs " : "", where);
    }
  if (length > CYCLE_SHOWN)
    g_string_append_printf (text, " needs %u more", length - CYCLE_SHOWN);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the graph is cyclic: %s needs the first again; loops have to be written as Loop or Scan", text->str);
  g_string_free (text, TRUE);
}

enum
{
  NOT_SEEN,
  ON_PATH,
  DONE,
};

static guint32 *
sort (GantryOnnxBody *body, const Uses *uses, GError **error)
{
  g_autofree guint32 *order = g_new (guint32, body->n_nodes + 1);
  g_autofree guint8 *state = g_new0 (guint8, body->n_nodes + 1);
  g_autofree guint32 *next = g_memdup2 (uses->first, sizeof (guint32) * (body->n_nodes + 1));
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint32));
  gsize n = 0;

  for (guint32 root = 0; root < body->n_nodes; root++)
    {
      if (state[root] == NOT_SEEN)
        {
          g_array_append_val (stack, root);
          state[root] = ON_PATH;
        }
      while (stack->len > 0)
        {
          guint32 node = g_array_index (stack, guint32, stack->len - 1), used;

          if (next[node] == uses->first[node + 1])
            {
              state[node] = DONE;
              order[n++] = node;
              g_array_set_size (stack, stack->len - 1);
              continue;
            }
          used = g_array_index (uses->of, guint32, next[node]++);
          if (state[used] == ON_PATH)
            {
              fail_cycle (body, stack, used, error);
              return NULL;
            }
          if (state[used] == NOT_SEEN)
            {
              state[used] = ON_PATH;
              g_array_append_val (stack, used);
            }
        }
    }
  return g_steal_pointer (&order);
}

guint32 *
gantry_onnx_order (GantryOnnxBody *body, GError **error)
{
  g_autoptr (GHashTable) producers = find_producers (body, error);
  guint32 *order = NULL;
  Uses uses;

  if (producers == NULL)
    return NULL;
  find_uses (body, producers, &uses);
  if (is_in_order (&uses, body->n_nodes))
    {
      order = g_new (guint32, body->n_nodes + 1);
      for (guint32 i = 0; i < body->n_nodes; i++)
        order[i] = i;
    }
  else
    order = sort (body, &uses, error);
  g_free (uses.first);
  g_array_unref (uses.of);
  return order;
}
