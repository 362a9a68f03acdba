/* SPDX-License-Identifier: Apache-2.0 */
/* Random chains and trees as training steps, and the exact search over all their schedules: states are what has run and what is there,
 * by the time of what ran again. */
#include "tests/core/planner/solver/schedule-oracle.h"
#include <math.h>
#include <string.h>

/* Steps */

static guint
add (OracleStep *step, GRand *random, gboolean backward)
{
  OracleWork *work = &step->works[step->n];

  g_assert_cmpuint (step->n, <, ORACLE_MOST);
  *work = (OracleWork){ .bytes = 64 * (guint64) g_rand_int_range (random, 1, 17), .us = g_rand_int_range (random, 1, 21), .backward = backward };
  return step->n++;
}

static void
add_read (OracleStep *step, guint work, guint value)
{
  step->works[work].operands[step->works[work].n_operands++] = value;
}

/* What nothing reads is a result. */
static void
find_results (OracleStep *step)
{
  gboolean used[ORACLE_MOST] = { FALSE };

  for (guint w = 0; w < step->n; w++)
    for (guint k = 0; k < step->works[w].n_operands; k++)
      used[step->works[w].operands[k]] = TRUE;
  for (guint w = 0; w < step->n; w++)
    step->works[w].result = !used[w];
}

/* A gradient of a weight: it reads what comes in and the gradient of what goes out. */
static void
add_weight (OracleStep *step, GRand *random, guint gradient, guint in)
{
  guint w;

  if (step->n + 1 >= ORACLE_MOST || g_rand_boolean (random))
    return;
  w = add (step, random, TRUE);
  add_read (step, w, gradient);
  add_read (step, w, in);
}

static void
make_chain (OracleStep *step, guint n, GRand *random)
{
  guint gradient = 0;

  for (guint i = 0; i < n; i++)
    {
      add (step, random, FALSE);
      if (i > 0)
        add_read (step, i, i - 1);
    }
  for (guint i = n; i-- > 0;)
    {
      guint g = add (step, random, TRUE);

      if (i + 1 < n)
        add_read (step, g, gradient);
      add_read (step, g, i);
      if (i > 0 && g_rand_boolean (random))
        add_read (step, g, i - 1);
      gradient = g;
      if (i > 0)
        add_weight (step, random, g, i - 1);
    }
}

/* Every value but the first is made of one that came before. */
static void
make_out_tree (OracleStep *step, guint n, GRand *random)
{
  guint parent[ORACLE_MOST], gradient[ORACLE_MOST];

  for (guint i = 0; i < n; i++)
    {
      add (step, random, FALSE);
      parent[i] = i > 0 ? (guint) g_rand_int_range (random, (gint) (i > 2 ? i - 3 : 0), (gint) i) : 0;
      if (i > 0)
        add_read (step, i, parent[i]);
    }
  for (guint i = n; i-- > 0;)
    {
      gradient[i] = add (step, random, TRUE);
      add_read (step, gradient[i], i);
      for (guint c = i + 1; c < n; c++)
        if (parent[c] == i)
          add_read (step, gradient[i], gradient[c]);
    }
}

/* Every value is read by one that comes later: sums of branches. */
static void
make_in_tree (OracleStep *step, guint n, GRand *random)
{
  guint open[ORACLE_MOST], n_open = 0, gradient[ORACLE_MOST], user[ORACLE_MOST];

  for (guint i = 0; i < n; i++)
    {
      guint asked = (guint) g_rand_int_range (random, 0, 3), takes = i + 1 == n ? n_open : MIN (n_open, asked);

      add (step, random, FALSE);
      for (guint k = 0; k < takes; k++)
        {
          user[open[--n_open]] = i;
          add_read (step, i, open[n_open]);
        }
      open[n_open++] = i;
    }
  for (guint i = n; i-- > 0;)
    {
      gradient[i] = add (step, random, TRUE);
      add_read (step, gradient[i], i);
      if (i + 1 < n)
        add_read (step, gradient[i], gradient[user[i]]);
      for (guint k = 0; k < step->works[i].n_operands && g_rand_boolean (random); k++)
        add_read (step, gradient[i], step->works[i].operands[k]);
    }
}

void
oracle_step_random (OracleStep *step, OracleShape shape, guint most, GRand *random)
{
  guint n = (guint) g_rand_int_range (random, 2, (gint) most / 2 + 1);

  *step = (OracleStep){ .n = 0 };
  if (shape == ORACLE_CHAIN)
    make_chain (step, n, random);
  else if (shape == ORACLE_IN_TREE)
    make_in_tree (step, n, random);
  else
    make_out_tree (step, n, random);
  find_results (step);
}

void
oracle_step_uniform (OracleStep *step, guint n)
{
  *step = (OracleStep){ .n = 2 * n };
  for (guint i = 0; i < 2 * n; i++)
    step->works[i] = (OracleWork){ .bytes = 1024, .us = 1, .backward = i >= n };
  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        add_read (step, i, i - 1);
      if (i > 0)
        add_read (step, n + i, n + i - 1);
      add_read (step, n + i, n - 1 - i);
    }
  find_results (step);
}

/* Programs */

/* A fusion that reads all of what it reads for each element: nothing can be written over its operands. */
static guint
build_work (GantryBuilder *builder, GantryContext *context, guint64 bytes, const guint32 *operands, guint n)
{
  static const gint64 axis = 0;
  const GantryDim dim = (GantryDim) (bytes / sizeof (float));
  GantryAttrList *attrs = gantry_attr_list_new (context);
  guint32 function = gantry_builder_begin (builder, "work", 0), inner[ORACLE_MOST], types[ORACLE_MOST], sum = 0;

  for (guint i = 0; i < n; i++)
    types[i] = gantry_builder_type (builder, operands[i]);
  for (guint i = 0; i < n; i++)
    inner[i] = gantry_builder_parameter (builder, types[i], NULL);
  for (guint i = 0; i < n; i++)
    {
      guint32 one = gantry_builder_reduce (builder, "add", inner[i], &axis, 1);

      sum = i == 0 ? one : gantry_builder_binary (builder, GANTRY_OP_ADD, sum, one);
    }
  sum = gantry_builder_broadcast_to (builder, sum, 1, &dim);
  gantry_builder_end (builder, &sum, 1);
  gantry_attr_list_set_function (attrs, "body", function);
  gantry_attr_list_set_string (attrs, "kind", "reduction");
  return gantry_builder_add (builder, GANTRY_OP_FUSION, operands, n, gantry_attr_list_end (attrs));
}

GantryModule *
oracle_step_build (const OracleStep *step, GantryContext *context, GHashTable *us)
{
  GantryBuilder *builder = gantry_builder_new (context, "oracle");
  const GantryLocation place = { .file = gantry_context_intern (context, "oracle"), .line = 1 };
  g_autoptr (GError) error = NULL;
  const GantryDim sixteen = 16;
  guint32 made[ORACLE_MOST], results[ORACLE_MOST], input, n_results = 0;
  GantryModule *module;

  gantry_builder_set_place (builder, 0, gantry_context_location (context, &place));
  gantry_builder_begin (builder, "main", 0);
  input = gantry_builder_parameter (builder, gantry_context_tensor (context, GANTRY_F32, 1, &sixteen), "x");
  for (guint w = 0; w < step->n; w++)
    {
      const OracleWork *work = &step->works[w];
      guint32 operands[ORACLE_MOST];

      gantry_builder_set_phase (builder, work->backward ? GANTRY_PHASE_BACKWARD : GANTRY_PHASE_FORWARD);
      for (guint k = 0; k < work->n_operands; k++)
        operands[k] = made[work->operands[k]];
      made[w] = build_work (builder, context, work->bytes, work->n_operands > 0 ? operands : &input, MAX (work->n_operands, 1));
      g_hash_table_insert (us, GUINT_TO_POINTER (made[w]), g_memdup2 (&work->us, sizeof work->us));
      if (work->result)
        results[n_results++] = made[w];
    }
  gantry_builder_end (builder, results, n_results);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  gantry_builder_free (builder);
  return module;
}

/* The search: states by their price, each what has run and what is there. */

typedef struct
{
  guint64 key;  /* ran << 32 | there */
  double again; /* time of what ran a second time, or more often */
} Node;

typedef struct
{
  const OracleStep *step;
  guint64 limit;
  guint32 reads[32], ancestors[32];
  GHashTable *best; /* key -> Node *, owned */
  GArray *heap;     /* Node */
} Oracle;

static void
heap_push (GArray *heap, Node node)
{
  guint i = heap->len;
  Node *nodes;

  g_array_append_val (heap, node);
  nodes = (Node *) (gpointer) heap->data;
  for (; i > 0 && node.again < nodes[(i - 1) / 2].again; i = (i - 1) / 2)
    nodes[i] = nodes[(i - 1) / 2];
  nodes[i] = node;
}

static Node
heap_pop (GArray *heap)
{
  Node *nodes = (Node *) (gpointer) heap->data, top = nodes[0], last = nodes[heap->len - 1];
  guint n = heap->len - 1, i = 0;

  while (2 * i + 1 < n)
    {
      guint child = 2 * i + 1;

      child += child + 1 < n && nodes[child + 1].again < nodes[child].again;
      if (nodes[child].again >= last.again)
        break;
      nodes[i] = nodes[child];
      i = child;
    }
  nodes[i] = last;
  g_array_set_size (heap, n);
  return top;
}

static guint64
bytes_of (const Oracle *oracle, guint32 there)
{
  guint64 bytes = 0;

  for (guint v = 0; v < oracle->step->n; v++)
    if (there >> v & 1)
      bytes += oracle->step->works[v].result ? 0 : oracle->step->works[v].bytes;
  return bytes;
}

static void
reach (Oracle *oracle, guint32 ran, guint32 there, double again)
{
  guint32 wanted = 0;
  Node node = { 0, again }, *known;

  /* What nothing can need any more is no longer there. */
  for (guint w = 0; w < oracle->step->n; w++)
    if (!(ran >> w & 1))
      wanted |= oracle->reads[w] | oracle->ancestors[w];
  node.key = (guint64) ran << 32 | (there & wanted);
  known = g_hash_table_lookup (oracle->best, &node.key);
  if (known != NULL && known->again <= again)
    return;
  known = g_memdup2 (&node, sizeof node);
  g_hash_table_replace (oracle->best, &known->key, known);
  heap_push (oracle->heap, node);
}

static void
expand (Oracle *oracle, const Node *node)
{
  guint32 ran = (guint32) (node->key >> 32), there = (guint32) node->key;
  gboolean short_of_room = FALSE;

  for (guint w = 0; w < oracle->step->n; w++)
    {
      guint32 bit = 1u << w;

      if ((oracle->reads[w] & ~there) != 0 || (there & bit) != 0 || ((ran & bit) != 0 && oracle->step->works[w].result))
        continue;
      if (bytes_of (oracle, there | bit) <= oracle->limit)
        reach (oracle, ran | bit, there | bit, node->again + (ran & bit ? oracle->step->works[w].us : 0));
      else
        short_of_room = TRUE;
    }
  for (guint v = 0; short_of_room && v < oracle->step->n; v++)
    if (there >> v & 1)
      reach (oracle, ran, there & ~(1u << v), node->again);
}

double
oracle_fastest (const OracleStep *step, guint64 bytes)
{
  Oracle oracle = {
    .step = step, .limit = bytes, .best = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free), .heap = g_array_new (FALSE, FALSE, sizeof (Node))
  };
  guint32 all = step->n == 32 ? G_MAXUINT32 : (1u << step->n) - 1;
  double us = 0, least = INFINITY;

  g_assert_cmpuint (step->n, <=, 32);
  for (guint w = 0; w < step->n; w++)
    {
      us += step->works[w].us;
      for (guint k = 0; k < step->works[w].n_operands; k++)
        {
          oracle.reads[w] |= 1u << step->works[w].operands[k];
          oracle.ancestors[w] |= oracle.reads[w] | oracle.ancestors[step->works[w].operands[k]];
        }
    }
  reach (&oracle, 0, 0, 0);
  while (oracle.heap->len > 0 && isinf (least))
    {
      Node node = heap_pop (oracle.heap);

      if (node.key >> 32 == all)
        least = us + node.again;
      else if (((Node *) g_hash_table_lookup (oracle.best, &node.key))->again >= node.again)
        expand (&oracle, &node);
    }
  g_hash_table_unref (oracle.best);
  g_array_unref (oracle.heap);
  return least;
}

guint64
oracle_least_bytes (const OracleStep *step)
{
  guint64 low = 0, high = 0;

  for (guint w = 0; w < step->n; w++)
    high += step->works[w].result ? 0 : step->works[w].bytes;
  while (high - low > 64)
    {
      guint64 middle = low + (high - low) / 128 * 64;

      if (middle == low)
        middle += 64;
      if (isinf (oracle_fastest (step, middle)))
        low = middle;
      else
        high = middle;
    }
  return high;
}
