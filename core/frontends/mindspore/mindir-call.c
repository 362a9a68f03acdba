/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: the function is written out in its place. One that calls itself is a loop where it is written as MindSpore writes
 * loops; a call that is neither becomes an opaque node. */
#include "core/frontends/mindspore/mindir-private.h"

static MindValue *
outputs_of (MindImport *import, const MindGraph *graph)
{
  MindValue *tuple = gantry_mind_tuple_new (import, graph->outputs->len);

  for (guint i = 0; i < graph->outputs->len; i++)
    {
      guint32 name = g_array_index (graph->outputs, guint32, i);

      tuple->members[i] = name < import->values->len ? g_ptr_array_index (import->values, name) : NULL;
      if (tuple->members[i] != NULL)
        continue;
      gantry_mind_fail (import, GANTRY_ERROR_INVALID, "output '%s' is given by no node; the file is damaged", gantry_interner_string (import->names, name));
      return NULL;
    }
  if (graph->outputs->len == 0)
    gantry_mind_fail (import, GANTRY_ERROR_INVALID, "function '%s' gives nothing; the file is damaged", gantry_interner_string (import->names, graph->name));
  if (import->error != NULL)
    return NULL;
  return tuple->n == 1 ? tuple->members[0] : gantry_mind_tuple_close (import, tuple) ? tuple : NULL;
}

MindValue *
gantry_mind_write_graph (MindImport *import, guint index, MindValue *const *arguments, guint n)
{
  const MindGraph *graph = g_ptr_array_index (import->graphs, index);

  if (n < graph->inputs->len)
    {
      gantry_mind_fail (import, GANTRY_ERROR_INVALID, "function '%s' takes %u arguments and is given %u; the file is damaged",
                        gantry_interner_string (import->names, graph->name), graph->inputs->len, n);
      return NULL;
    }
  if (import->depth >= MIND_MOST_DEPTH)
    {
      gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "calls are nested more than %u deep", MIND_MOST_DEPTH);
      return NULL;
    }
  import->depth++;
  for (guint i = 0; i < graph->inputs->len; i++)
    gantry_mind_bind (import, g_array_index (graph->inputs, MindInput, i).name, arguments[i]);
  for (guint i = 0; i < graph->nodes->len && import->error == NULL; i++)
    {
      const MindNode *node = &g_array_index (graph->nodes, MindNode, i);
      MindValue *value = gantry_mind_is_constant (import, node) ? NULL : gantry_mind_write_node (import, graph, i);

      if (value != NULL)
        gantry_mind_bind (import, node->output, value);
    }
  import->depth--;
  return import->error == NULL ? outputs_of (import, graph) : NULL;
}

static MindValue *
tail (MindImport *import, guint graph, MindValue *const *arguments, guint n)
{
  MindValue *value = gantry_mind_value_new (import, MIND_TAIL);

  value->graph = graph;
  value->n = n;
  value->members = n > 0 ? gantry_arena_copy (import->arena, arguments, sizeof (MindValue *) * n) : NULL;
  return value;
}

MindValue *
gantry_mind_call_graph (MindImport *import, guint index, MindValue *const *arguments, guint n)
{
  const MindGraph *graph = g_ptr_array_index (import->graphs, index), *head = import->head;
  MindValue *value;

  for (guint i = 0; i < import->loops->len; i++)
    if (g_array_index (import->loops, guint, i) == index)
      return tail (import, index, arguments, n);
  import->head = NULL;
  value = graph->may_recur && gantry_mind_reaches (import, index, index) ? gantry_mind_loop (import, index, arguments, n)
                                                                         : gantry_mind_write_graph (import, index, arguments, n);
  import->head = head;
  return value;
}

static MindValue *
call_value (MindImport *import, const MindGraph *graph, MindValue *function, MindValue *const *arguments, guint n)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  MindValue *deferred;

  if (function->kind == MIND_GRAPH)
    {
      for (guint i = 0; i < function->n; i++)
        g_ptr_array_add (all, function->members[i]);
      for (guint i = 0; i < n; i++)
        g_ptr_array_add (all, arguments[i]);
      return gantry_mind_call_graph (import, function->graph, (MindValue *const *) all->pdata, all->len);
    }
  if (function->kind != MIND_CHOICE)
    {
      gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "which function is called is not known");
      return NULL;
    }
  if (import->head != graph || graph == NULL)
    return gantry_mind_branch (import, function, arguments, n);
  deferred = gantry_mind_value_new (import, MIND_DEFERRED);
  deferred->n = n + 1;
  deferred->members = gantry_arena_new0 (import->arena, MindValue *, n + 1);
  deferred->members[0] = function;
  for (guint i = 0; i < n; i++)
    deferred->members[i + 1] = arguments[i];
  return deferred;
}

/* What it is given, taken apart; functions go by their names. */
static MindValue *
write_opaque (MindImport *import, const MindNode *node, MindValue *function, MindValue *const *arguments, guint n)
{
  g_autofree MindValue **values = g_new0 (MindValue *, n + 4);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  guint n_values = 0;
  static const char *const words[] = { "condition", "then", "else" };

  for (guint i = 0; function->kind == MIND_CHOICE && i < 3; i++)
    {
      values[n_values++] = function->members[i];
      g_ptr_array_add (names, g_strdup (words[i]));
    }
  if (function->kind != MIND_CHOICE)
    {
      values[n_values++] = function;
      g_ptr_array_add (names, g_strdup ("function"));
    }
  for (guint i = 0; i < n; i++)
    {
      values[n_values++] = arguments[i];
      g_ptr_array_add (names, g_strdup_printf ("input%u", i));
    }
  return gantry_mind_write_foreign (import, node, function->kind == MIND_CHOICE ? MIND_DIALECT ".switch" : MIND_DIALECT ".call", NULL, values, n_values,
                                    (const char *const *) names->pdata, NULL);
}

MindValue *
gantry_mind_call (MindImport *import, const MindGraph *graph, const MindNode *node, MindValue *function, MindValue *const *arguments, guint n)
{
  guint32 outer = import->call, scope = import->scope, location = import->location;
  guint n_regions = import->regions->len, n_loops = import->loops->len, depth = import->depth;
  const MindGraph *head = import->head;
  MindValue *value;

  import->call = location;
  value = call_value (import, graph, function, arguments, n);
  import->call = outer;
  if (value != NULL || !g_error_matches (import->error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED))
    return value;
  /* Of what was begun nothing is left: branches and loops have closed their regions. */
  g_assert (import->regions->len == n_regions);
  g_array_set_size (import->loops, n_loops);
  import->depth = depth;
  import->head = head;
  import->scope = scope;
  import->location = location;
  gantry_builder_set_place (import->b, scope, location);
  g_clear_error (&import->error);
  return write_opaque (import, node, function, arguments, n);
}
