/* SPDX-License-Identifier: Apache-2.0 */
/* What a model writes over: parameters that are assigned or that an optimizer updates, and the state of its random numbers. Written in
 * the main course, and not by a branch or loop, a parameter has its new value as its own; what reads it behind that reads that. */
#include "core/frontends/mindspore/mindir-private.h"
#include <string.h>

#define RANDOM_STATE "random_state"

/* 1 + its place; 0: there is none */
static guint
last_assignment (MindImport *import, const MindValue *parameter)
{
  return parameter->kind == MIND_NODE ? GPOINTER_TO_UINT (g_hash_table_lookup (import->assigned, GUINT_TO_POINTER (parameter->node))) : 0;
}

MindValue *
gantry_mind_assigned (MindImport *import, MindValue *parameter, guint n)
{
  guint at = last_assignment (import, parameter);

  while (at > n)
    at = g_array_index (import->assignments, MindAssignment, at - 1).before;
  return at > 0 ? g_array_index (import->assignments, MindAssignment, at - 1).value : parameter;
}

static gboolean
is_parameter (MindImport *import, const MindValue *value)
{
  return value->kind == MIND_NODE && import->regions->len == 1 && g_hash_table_contains (import->weights, GUINT_TO_POINTER (value->node));
}

static MindValue *
now (MindImport *import, MindValue *parameter)
{
  return gantry_mind_assigned (import, parameter, import->assignments->len);
}

static void
assign (MindImport *import, MindValue *parameter, MindValue *value)
{
  MindAssignment assignment = { parameter, value, last_assignment (import, parameter) };

  g_array_append_val (import->assignments, assignment);
  g_hash_table_insert (import->assigned, GUINT_TO_POINTER (parameter->node), GUINT_TO_POINTER (import->assignments->len));
}

/* Random numbers */

/* Whether a node of the model draws some. */
static gboolean
draws (MindImport *import)
{
  for (guint g = 0; g < import->graphs->len; g++)
    {
      const MindGraph *graph = g_ptr_array_index (import->graphs, g);

      for (guint i = 0; i < graph->nodes->len; i++)
        {
          GantryWireSpan message;
          const char *primitive = gantry_mind_primitive (import, g_array_index (graph->nodes, MindNode, i).operation, &message);
          const char *arguments = primitive != NULL ? gantry_mindspore_arguments (primitive) : NULL;

          if (arguments != NULL && g_str_has_suffix (arguments, " *" RANDOM_STATE))
            return TRUE;
        }
    }
  return FALSE;
}

void
gantry_mind_write_random_state (MindImport *import)
{
  static const GantryDim two = 2;
  guint32 id, type;

  if (import->error != NULL || !draws (import))
    return;
  import->info->draws = TRUE;
  type = gantry_context_tensor (import->context, GANTRY_U64, 1, &two);
  if (import->options->open_weights)
    {
      g_autoptr (GBytes) zeros = g_bytes_new_take (g_malloc0 (16), 16);

      g_ptr_array_add (import->info->weights, gantry_literal_new (gantry_context_type (import->context, type), zeros, FALSE, NULL));
    }
  id = gantry_builder_parameter (import->b, type, RANDOM_STATE);
  g_hash_table_add (import->weights, GUINT_TO_POINTER (id));
  import->random_state = gantry_mind_node_value (import, id);
}

/* Primitives whose rule names arguments that they write over, "*var" */

/** The arguments of one: values and names, and the parameters among them that are written over. */
typedef struct
{
  MindValue **values;
  const char **names;
  GPtrArray *written; /* MindValue: the parameters */
  guint n;
} Update;

/* Returns: FALSE where something that is written over is no parameter */
static gboolean
take_arguments (MindImport *import, guint n_inputs, char **known, MindValue *const *values, Update *update)
{
  for (guint i = 0; known[i] != NULL; i++)
    {
      gboolean is_written = known[i][0] == '*', is_state = strcmp (known[i], "*" RANDOM_STATE) == 0;
      MindValue *value = is_state ? import->random_state : i < n_inputs ? values[i] : NULL;

      if (value == NULL || (is_written && !is_parameter (import, value)))
        {
          if (is_written)
            return FALSE;
          continue;
        }
      if (is_written)
        g_ptr_array_add (update->written, value);
      update->names[update->n] = known[i] + (is_written ? 1 : 0);
      update->values[update->n++] = now (import, value);
    }
  return TRUE;
}

static MindValue *
write_update (MindImport *import, const MindNode *node, const char *primitive, GantryWireSpan message, const Update *update)
{
  MindValue *also = gantry_mind_tuple_new (import, update->written->len), *value;

  for (guint i = 0; i < update->written->len; i++)
    {
      also->members[i] = gantry_mind_value_new (import, MIND_NODE);
      also->members[i]->node = gantry_builder_type (import->b, ((const MindValue *) g_ptr_array_index (update->written, i))->node);
    }
  value = gantry_mind_write_primitive (import, node, primitive, message, update->values, update->n, update->names, also);
  if (value == NULL)
    return NULL;
  for (guint i = 0; i < update->written->len; i++)
    assign (import, g_ptr_array_index (update->written, i), value->members[1 + i]);
  return value->members[0];
}

static MindValue *
update (MindImport *import, const MindNode *node, const char *primitive, GantryWireSpan message, MindValue *const *values)
{
  const char *arguments = gantry_mindspore_arguments (primitive);
  g_auto (GStrv) known = arguments != NULL && strchr (arguments, '*') != NULL ? g_strsplit (arguments, " ", -1) : NULL;
  g_autoptr (GPtrArray) written = g_ptr_array_new ();
  g_autofree MindValue **taken = known != NULL ? g_new0 (MindValue *, g_strv_length (known) + 1) : NULL;
  g_autofree const char **names = known != NULL ? g_new0 (const char *, g_strv_length (known) + 1) : NULL;
  Update update = { taken, names, written, 0 };

  if (known == NULL || !take_arguments (import, node->n_inputs, known, values, &update))
    return NULL;
  return write_update (import, node, primitive, message, &update);
}

MindValue *
gantry_mind_update (MindImport *import, const MindNode *node, const char *primitive, GantryWireSpan message, MindValue *const *values)
{
  static const char *const changes[][2] = { { "Assign", NULL }, { "AssignAdd", "Add" }, { "AssignSub", "Sub" } };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      MindNode change = *node;
      MindValue *operands[2], *value;

      if (strcmp (primitive, changes[i][0]) != 0 || node->n_inputs < 2 || !is_parameter (import, values[0]) || !gantry_mind_is_data (values[1]))
        continue;
      operands[0] = now (import, values[0]);
      operands[1] = values[1];
      change.n_inputs = 2;
      value = changes[i][1] == NULL ? values[1] : gantry_mind_write_primitive (import, &change, changes[i][1], (GantryWireSpan){ 0 }, operands, 2, NULL, NULL);
      if (value != NULL)
        assign (import, values[0], value);
      return value;
    }
  return update (import, node, primitive, message, values);
}
