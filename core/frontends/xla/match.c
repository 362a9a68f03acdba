/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of one module found again in the next that a compiler wrote, which keeps names mostly and identities never. */
#include "core/frontends/xla/dump.h"
#include "core/graph/builder.h"
#include <string.h>

#define MOST_ROUNDS 6
#define MOST_ORIGINS 8
#define MOST_TRIED 64 /* nodes of one key */

typedef struct
{
  const GantryModule *a, *b;
  guint32 *to_b, *to_a; /* positions + 1; 0: no match yet */
  guint32 *through;     /* by position in @a: position + 1 of the node that it is where calls are inlined that @b has no function for;
                         * of equal constants the first */
  guint n;
} Match;

static gboolean
pair (Match *m, guint32 ia, guint32 ib)
{
  if (m->to_b[ia] != 0 || m->to_a[ib] != 0)
    return FALSE;
  m->to_b[ia] = ib + 1;
  m->to_a[ib] = ia + 1;
  m->n++;
  return TRUE;
}

/* Calls that are inlined: what a call gives is what its function returns, and a parameter of it what it is called with. */

#define MOST_CALLS 64 /* in each other */

static const GantryFunction *
callee_of (const GantryModule *module, const GantryNode *node)
{
  const GantryAttr *body = node->op == GANTRY_OP_CALL ? gantry_attrs_find (module->context, node->attrs, "body") : NULL;

  return body != NULL && body->kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (module, body->id) : NULL;
}

/* @caller: by function of @a: position + 1 of the one call of it, G_MAXUINT32 for several */
static void
find_callers (const GantryModule *a, guint32 *caller)
{
  for (guint32 i = 0; i < a->n_nodes; i++)
    {
      const GantryFunction *callee = callee_of (a, &a->nodes[i]);

      if (callee != NULL)
        caller[callee - a->functions] = caller[callee - a->functions] == 0 ? i + 1 : G_MAXUINT32;
    }
}

/* The position + 1 in @a that stands for the node at @at once its call is inlined, 0 where there is none. */
static guint32
inlined (const Match *m, const guint32 *callers, guint32 at)
{
  const GantryModule *a = m->a;
  const GantryNode *node = &a->nodes[at];
  const GantryNode *call = node->op == GANTRY_OP_RESULT ? gantry_node_operand (a, node, 0) : node;
  const GantryFunction *callee = callee_of (a, call);
  gint64 index = call == node ? 0 : gantry_attrs_int (a->context, node->attrs, "index", -1);

  if (callee != NULL && gantry_module_function (m->b, callee->id) == NULL)
    {
      guint32 id = index >= 0 && index < callee->n_results ? gantry_function_result_id (a, callee, (guint) index) : 0;

      return id != 0 && id < a->n_index ? a->index[id] : 0;
    }
  for (guint f = 0; node->op == GANTRY_OP_PARAMETER && f < a->n_functions; f++)
    {
      const GantryFunction *function = &a->functions[f];
      guint32 caller = callers[f], id;

      if (at < function->first_node || at >= function->first_node + function->n_params)
        continue;
      if (gantry_module_function (m->b, function->id) != NULL)
        return 0;
      if (caller == 0 || caller == G_MAXUINT32 || at - function->first_node >= a->nodes[caller - 1].n_operands)
        return 0;
      id = gantry_node_operand_id (a, &a->nodes[caller - 1], at - function->first_node);
      return id < a->n_index ? a->index[id] : 0;
    }
  return 0;
}

/* The first constant of the value of node @at: which of equal ones is read tells nothing. */
static guint32
same_constant (const Match *m, GHashTable *constants, guint32 at)
{
  const GantryNode *node = &m->a->nodes[at];
  gpointer key = GUINT_TO_POINTER (node->attrs);
  guint32 first = node->op == GANTRY_OP_CONSTANT ? GPOINTER_TO_UINT (g_hash_table_lookup (constants, key)) : 0;

  if (first != 0 && m->a->nodes[first - 1].type == node->type)
    return first;
  if (node->op == GANTRY_OP_CONSTANT)
    g_hash_table_insert (constants, key, GUINT_TO_POINTER (at + 1));
  return at + 1;
}

/* Fills @through. */
static void
find_inlined (Match *m)
{
  g_autofree guint32 *callers = g_new0 (guint32, m->a->n_functions + 1);
  g_autoptr (GHashTable) constants = g_hash_table_new (NULL, NULL);

  find_callers (m->a, callers);
  for (guint32 i = 0; i < m->a->n_nodes; i++)
    {
      guint32 at = i + 1, next = at;

      for (guint n = 0; n < MOST_CALLS && next != 0; n++)
        {
          at = next;
          next = inlined (m, callers, at - 1);
        }
      m->through[i] = same_constant (m, constants, at - 1);
    }
}

/* Keys: nodes of @a by what they have in common with nodes of @b */

enum
{
  BY_NAME = 1,
  BY_OP = 2,
  BY_TYPE = 4,
  BY_ATTRS = 8,
  BY_SCOPE = 16,
  BY_LOCATION = 32,
  BY_OPERANDS = 64
};

static guint32
mix (guint32 hash, guint32 value)
{
  return (hash ^ value) * 16777619u; /* FNV-1a over words */
}

/* The position in @a of an operand, of a node of @a or as matched. 0: none; else + 1 */
static guint32
operand_in_a (const Match *m, const GantryModule *module, const GantryNode *node, guint i)
{
  guint32 id = gantry_node_operand_id (module, node, i), at = id < module->n_index ? module->index[id] : 0;

  if (at == 0)
    return 0;
  if (module != m->a)
    at = m->to_a[at - 1];
  return at != 0 ? m->through[at - 1] : 0;
}

static guint32
key_of (const Match *m, const GantryModule *module, const GantryNode *node, guint by)
{
  guint32 hash = 2166136261u;

  if ((by & BY_NAME) != 0)
    hash = mix (hash, node->name);
  if ((by & BY_OP) != 0)
    hash = mix (hash, node->op);
  if ((by & BY_TYPE) != 0)
    hash = mix (hash, node->type);
  if ((by & BY_ATTRS) != 0)
    hash = mix (hash, node->attrs);
  if ((by & BY_SCOPE) != 0)
    hash = mix (hash, node->scope);
  if ((by & BY_LOCATION) != 0)
    hash = mix (hash, node->location);
  for (guint i = 0; (by & BY_OPERANDS) != 0 && i < node->n_operands; i++)
    hash = mix (hash, operand_in_a (m, module, node, i));
  return hash;
}

static gboolean
agree (const Match *m, const GantryNode *x, const GantryNode *y, guint by)
{
  if (((by & BY_NAME) != 0 && x->name != y->name) || ((by & BY_OP) != 0 && x->op != y->op) || ((by & BY_TYPE) != 0 && x->type != y->type)
      || ((by & BY_ATTRS) != 0 && x->attrs != y->attrs) || ((by & BY_SCOPE) != 0 && x->scope != y->scope)
      || ((by & BY_LOCATION) != 0 && x->location != y->location))
    return FALSE;
  if ((by & BY_OPERANDS) == 0)
    return TRUE;
  if (x->n_operands != y->n_operands)
    return FALSE;
  for (guint i = 0; i < x->n_operands; i++)
    {
      guint32 at = operand_in_a (m, m->b, y, i);

      if (at == 0 || at != operand_in_a (m, m->a, x, i))
        return FALSE;
    }
  return TRUE;
}

/* Has the key anything that tells the node apart? */
static gboolean
says_something (const GantryNode *node, guint by)
{
  return ((by & BY_NAME) == 0 || node->name != 0) && ((by & BY_SCOPE) == 0 || node->scope != 0) && ((by & BY_LOCATION) == 0 || node->location != 0)
         && ((by & BY_OPERANDS) == 0 || node->n_operands > 0);
}

/* Unmatched nodes that agree, in the order of both programs. Returns: whether there were any */
static gboolean
match_by (Match *m, guint by)
{
  g_autoptr (GHashTable) first = g_hash_table_new (NULL, NULL);
  g_autofree guint32 *next = g_new0 (guint32, m->a->n_nodes + 1);
  guint before = m->n;

  for (guint32 i = m->a->n_nodes; i > 0; i--)
    {
      const GantryNode *node = &m->a->nodes[i - 1];
      gpointer key;

      if (m->to_b[i - 1] != 0 || !says_something (node, by))
        continue;
      key = GUINT_TO_POINTER (key_of (m, m->a, node, by));
      next[i] = GPOINTER_TO_UINT (g_hash_table_lookup (first, key));
      g_hash_table_insert (first, key, GUINT_TO_POINTER (i));
    }
  for (guint32 i = 0; i < m->b->n_nodes; i++)
    {
      const GantryNode *node = &m->b->nodes[i];
      gpointer key;
      guint32 at;
      guint tried = 0;

      if (m->to_a[i] != 0 || !says_something (node, by))
        continue;
      key = GUINT_TO_POINTER (key_of (m, m->b, node, by));
      at = GPOINTER_TO_UINT (g_hash_table_lookup (first, key));
      while (at != 0 && m->to_b[at - 1] != 0)
        at = next[at];
      g_hash_table_insert (first, key, GUINT_TO_POINTER (at)); /* those before are taken */
      for (; at != 0 && tried++ < MOST_TRIED; at = next[at])
        if (agree (m, &m->a->nodes[at - 1], node, by) && pair (m, at - 1, i))
          break;
    }
  return m->n > before;
}

/* Parameters of the functions that are the same, which they are by their ids. */
static void
match_parameters (Match *m)
{
  for (guint f = 0; f < m->b->n_functions; f++)
    {
      const GantryFunction *y = &m->b->functions[f], *x = f == 0 ? &m->a->functions[0] : gantry_module_function (m->a, y->id);

      for (guint i = 0; x != NULL && i < MIN (x->n_params, y->n_params); i++)
        if (m->a->nodes[x->first_node + i].type == m->b->nodes[y->first_node + i].type)
          pair (m, x->first_node + i, y->first_node + i);
    }
}

/* From matched nodes to what they read. Returns: whether there were any */
static gboolean
match_operands (Match *m, guint by)
{
  guint before = m->n;

  for (guint32 ib = m->b->n_nodes; ib > 0; ib--)
    {
      const GantryNode *y = &m->b->nodes[ib - 1], *x = m->to_a[ib - 1] != 0 ? &m->a->nodes[m->to_a[ib - 1] - 1] : NULL;

      if (x == NULL || x->op != y->op || x->n_operands != y->n_operands)
        continue;
      for (guint i = 0; i < x->n_operands; i++)
        {
          guint32 oa = operand_in_a (m, m->a, x, i), id = gantry_node_operand_id (m->b, y, i);
          guint32 ob = id < m->b->n_index ? m->b->index[id] : 0;

          if (oa != 0 && ob != 0 && agree (m, &m->a->nodes[oa - 1], &m->b->nodes[ob - 1], by))
            pair (m, oa - 1, ob - 1);
        }
    }
  return m->n > before;
}

static void
spread (Match *m)
{
  for (guint i = 0; i < MOST_ROUNDS; i++)
    {
      gboolean forward = match_by (m, BY_OP | BY_TYPE | BY_OPERANDS), back = match_operands (m, BY_OP | BY_TYPE);

      if (!forward && !back)
        return;
    }
}

/* The surest first: what is matched is not looked at again. */
static void
match_all (Match *m)
{
  static const guint sure[] = { BY_NAME | BY_OP | BY_TYPE | BY_SCOPE, BY_NAME | BY_OP | BY_TYPE };
  static const guint likely[] = { BY_OP | BY_TYPE | BY_ATTRS | BY_SCOPE | BY_LOCATION, BY_OP | BY_TYPE | BY_SCOPE | BY_LOCATION, BY_OP | BY_TYPE | BY_SCOPE,
                                  BY_OP | BY_TYPE | BY_ATTRS, BY_NAME | BY_TYPE };

  for (guint i = 0; i < G_N_ELEMENTS (sure); i++)
    match_by (m, sure[i]);
  match_parameters (m);
  spread (m);
  for (guint i = 0; i < G_N_ELEMENTS (likely); i++)
    if (match_by (m, likely[i]))
      spread (m);
  /* What took the place of something else: another operation, read where that was. */
  if (match_operands (m, BY_TYPE))
    spread (m);
}

static int
compare_pairs (gconstpointer x, gconstpointer y)
{
  guint32 a = *(const guint32 *) x, b = *(const guint32 *) y;

  return a < b ? -1 : a > b;
}

/* Of nodes that are gone because their call was inlined: which node of @module, written of @b, they are now. */
static void
note_inlined (const Match *m, GantryModule *module, const guint32 *ids)
{
  GArray *pairs = g_array_new (FALSE, FALSE, 2 * sizeof (guint32));

  for (guint32 i = 0; i < m->a->n_nodes; i++)
    {
      guint32 at = m->through[i];

      if (at != i + 1 && m->to_b[i] == 0 && m->to_b[at - 1] != 0)
        {
          guint32 one[2] = { m->a->nodes[i].id, ids[m->to_b[at - 1] - 1] };

          g_array_append_val (pairs, one);
        }
    }
  g_array_sort (pairs, compare_pairs);
  module->n_replaced = pairs->len;
  module->replaced = (guint32 *) (gpointer) g_array_free (pairs, FALSE);
}

/* The module under its new ids */

/* Where a node without a match may come from. @gone: the nodes that left, by their place in the source, as first position + 1, @next the
 * ones behind; @alike: for each node of @b what does the same in @a, position + 1: its match, or what it is computed a second time of, as
 * fusions do. */
typedef struct
{
  GHashTable *gone;
  guint32 *next, *alike;
} Origins;

static void
index_gone (const Match *m, Origins *origins)
{
  for (guint32 i = m->a->n_nodes; i > 0; i--)
    {
      const GantryNode *node = &m->a->nodes[i - 1];
      gpointer key = GUINT_TO_POINTER (mix (node->scope, node->location));

      if (m->to_b[i - 1] != 0 || node->scope == 0 || node->op == GANTRY_OP_PARAMETER)
        continue;
      origins->next[i] = GPOINTER_TO_UINT (g_hash_table_lookup (origins->gone, key));
      g_hash_table_insert (origins->gone, key, GUINT_TO_POINTER (i));
    }
}

/* The same operation with the same attributes, among them the name that JAX gave it, over what is alike. */
static void
find_alike (const Match *m, Origins *origins)
{
  const guint by = BY_OP | BY_TYPE | BY_ATTRS | BY_OPERANDS;
  g_autoptr (GHashTable) first = g_hash_table_new (NULL, NULL);
  Match alike = { m->a, m->b, NULL, origins->alike, m->through, 0 };

  for (guint32 i = m->a->n_nodes; i > 0; i--)
    if (m->a->nodes[i - 1].op != GANTRY_OP_PARAMETER)
      g_hash_table_insert (first, GUINT_TO_POINTER (key_of (&alike, m->a, &m->a->nodes[i - 1], by)), GUINT_TO_POINTER (i));
  for (guint32 i = 0; i < m->b->n_nodes; i++)
    {
      const GantryNode *node = &m->b->nodes[i];
      guint32 at = 0;

      origins->alike[i] = m->to_a[i];
      if (m->to_a[i] == 0 && node->op != GANTRY_OP_PARAMETER)
        at = GPOINTER_TO_UINT (g_hash_table_lookup (first, GUINT_TO_POINTER (key_of (&alike, m->b, node, by))));
      if (at != 0 && agree (&alike, &m->a->nodes[at - 1], node, by))
        origins->alike[i] = at;
    }
}

static void
origins_begin (const Match *m, Origins *origins)
{
  origins->gone = g_hash_table_new (NULL, NULL);
  origins->next = g_new0 (guint32, m->a->n_nodes + 1);
  origins->alike = g_new0 (guint32, m->b->n_nodes + 1);
  index_gone (m, origins);
  find_alike (m, origins);
}

static void
origins_end (Origins *origins)
{
  g_hash_table_unref (origins->gone);
  g_free (origins->next);
  g_free (origins->alike);
}

static guint
origins_of (const Match *m, guint32 position, const Origins *from, guint32 origins[MOST_ORIGINS])
{
  const GantryNode *node = &m->b->nodes[position];
  guint n = 0;

  if (from->alike[position] != 0)
    {
      origins[0] = m->a->nodes[from->alike[position] - 1].id;
      return 1;
    }
  if (node->op == GANTRY_OP_PARAMETER || node->scope == 0)
    return 0;
  for (guint32 at = GPOINTER_TO_UINT (g_hash_table_lookup (from->gone, GUINT_TO_POINTER (mix (node->scope, node->location)))); at != 0 && n < MOST_ORIGINS;
       at = from->next[at])
    {
      const GantryNode *old = &m->a->nodes[at - 1];

      if (old->scope == node->scope && old->location == node->location)
        origins[n++] = old->id;
    }
  return n;
}

static gboolean
is_left_alone (const GantryNode *x, const GantryNode *y)
{
  return x->op == y->op && x->type == y->type && x->attrs == y->attrs && x->n_operands == y->n_operands;
}

static guint32
write_node (const Match *m, GantryBuilder *b, guint32 position, const guint32 *ids, const Origins *from)
{
  const GantryNode *node = &m->b->nodes[position], *old = m->to_a[position] != 0 ? &m->a->nodes[m->to_a[position] - 1] : NULL;
  g_autofree guint32 *operands = g_new (guint32, node->n_operands + 1);
  guint32 origins[MOST_ORIGINS];
  GantryNode like = *node;

  like.id = old != NULL && is_left_alone (old, node) ? old->id : 0;
  like.n_origins = like.id != 0 ? 0 : (guint16) origins_of (m, position, from, origins);
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 id = gantry_node_operand_id (m->b, node, i);

      operands[i] = id < m->b->n_index && m->b->index[id] != 0 ? ids[m->b->index[id] - 1] : 0;
    }
  return gantry_builder_add_node (b, &like, operands, origins);
}

static GantryModule *
write_module (const Match *m, GError **error)
{
  g_autoptr (GantryBuilder) b = gantry_builder_new (m->b->context, gantry_context_string (m->a->context, m->a->name));
  g_autofree guint32 *ids = g_new0 (guint32, m->b->n_nodes + 1);
  GantryModule *module;
  Origins from;

  origins_begin (m, &from);
  for (guint f = 0; f < m->b->n_functions; f++)
    {
      const GantryFunction *function = &m->b->functions[f];
      g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));

      gantry_builder_begin (b, gantry_context_string (m->b->context, function->name), function->id);
      for (guint32 i = 0; i < function->n_nodes; i++)
        ids[function->first_node + i] = write_node (m, b, function->first_node + i, ids, &from);
      for (guint i = 0; i < function->n_results; i++)
        {
          guint32 id = gantry_function_result_id (m->b, function, i);

          g_array_append_val (results, ids[m->b->index[id] - 1]);
        }
      gantry_builder_end (b, (const guint32 *) (gpointer) results->data, results->len);
    }
  origins_end (&from);
  module = gantry_builder_finish (b, error);
  if (module != NULL)
    note_inlined (m, module, ids);
  return module;
}

/* Whether nothing happened: the same nodes in the same order over the same values. */
static gboolean
is_unchanged (const GantryModule *a, const GantryModule *b)
{
  if (a->n_nodes != b->n_nodes || a->n_functions != b->n_functions)
    return FALSE;
  for (guint32 i = 0; i < a->n_nodes; i++)
    {
      const GantryNode *x = &a->nodes[i], *y = &b->nodes[i];

      if (x->id != y->id || x->name != y->name || x->scope != y->scope
          || memcmp (a->operands + x->operands, b->operands + y->operands, x->n_operands * sizeof *a->operands) != 0)
        return FALSE;
    }
  for (guint f = 0; f < a->n_functions; f++)
    {
      const GantryFunction *x = &a->functions[f], *y = &b->functions[f];

      if (x->id != y->id || x->n_nodes != y->n_nodes || x->n_results != y->n_results
          || memcmp (a->operands + x->results, b->operands + y->results, x->n_results * sizeof *a->operands) != 0)
        return FALSE;
    }
  return TRUE;
}

GantryModule *
gantry_xla_match (GantryModule *before, GantryModule *after, guint32 last_id, GantryXlaMatch *match, GError **error)
{
  Match m = { .a = before, .b = after };
  g_autofree guint32 *to_b = g_new0 (guint32, before->n_nodes + 1), *to_a = g_new0 (guint32, after->n_nodes + 1);
  g_autofree guint32 *through = g_new0 (guint32, before->n_nodes + 1);
  GantryModule *module;

  m.to_b = to_b;
  m.to_a = to_a;
  m.through = through;
  find_inlined (&m);
  match_all (&m);
  *match = (GantryXlaMatch){ before->n_nodes, after->n_nodes, m.n };
  gantry_context_return_node_ids (after->context, last_id);
  module = write_module (&m, error);
  gantry_module_unref (after);
  if (module == NULL || !is_unchanged (before, module))
    return module;
  gantry_module_unref (module);
  gantry_context_return_node_ids (before->context, last_id);
  return gantry_module_ref (before);
}
