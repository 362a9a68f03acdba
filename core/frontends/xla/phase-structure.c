/* SPDX-License-Identifier: Apache-2.0 */
/* Phases of a training step that has no names, by what is computed from what. A product of an activation and a weight has as its
 * transpose a product of that activation and a gradient, which has the weight's size: where most products have one, the program is
 * a step. What its loss is computed from is the forward phase, or, where it returns no loss, what all of its results are computed
 * from, for every gradient depends on the output of the last layer. What is behind the last product or reduction is the update.
 * Only the entry is looked at: products in loops and called functions are none of its own, and a step whose layers stand in
 * these alone stays of one phase. */
#include "core/frontends/xla/xla-private.h"
#include "core/graph/builder-walk.h"
#include <string.h>

typedef enum
{
  IN_LOSS = 1 << 0, /* what the results that are looked at are computed from */
  IN_FORWARD = 1 << 1,
  TO_PRODUCT = 1 << 2, /* a product or reduction, or one is computed from it */
} Mark;

typedef struct
{
  GantryBuilder *b;
  guint32 entry;
  guint n;            /* nodes of the entry */
  GHashTable *places; /* node id -> position + 1 */
  guint8 *marks;      /* Mark, by position */
  gint *roots;        /* by position: that of what it is another view of, or its own; -1: of what is not of the entry */
  guint64 n_edges;    /* nodes and their operands */
} Phases;

static const GantryNode *
node_at (const Phases *p, guint i)
{
  return gantry_builder_node_at (p->b, p->entry, i);
}

/* Returns: -1 for what is not of the entry */
static gint
place_of (const Phases *p, guint32 id)
{
  return (gint) GPOINTER_TO_UINT (g_hash_table_lookup (p->places, GUINT_TO_POINTER (id))) - 1;
}

static const char *
name_of (const Phases *p, const GantryNode *node)
{
  const char *name = gantry_context_op_name (gantry_builder_context (p->b), node->op), *dot = strrchr (name, '.');

  return dot != NULL ? dot + 1 : name;
}

static gboolean
is_one_of (const char *name, const char *const *names, guint n)
{
  for (guint i = 0; i < n; i++)
    if (strcmp (name, names[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_product (const Phases *p, const GantryNode *node)
{
  static const char *const names[] = { "dot_general", "dot", "convolution", "conv_general_dilated" };

  return node->n_operands >= 2 && is_one_of (name_of (p, node), names, G_N_ELEMENTS (names));
}

static gboolean
gathers (const Phases *p, const GantryNode *node)
{
  static const char *const names[] = {
    "reduce", "scatter", "select_and_scatter", "reduce_sum", "scatter-add", "scatter_add", "while", "scan", "reduce_window"
  };

  return is_product (p, node) || is_one_of (name_of (p, node), names, G_N_ELEMENTS (names));
}

/* Whether a value is another view of its operand, or the same in another type or size. */
static gboolean
is_alias (const Phases *p, const GantryNode *node)
{
  static const char *const names[] = {
    "transpose", "reshape", "convert", "copy", "broadcast_in_dim", "broadcast", "bitcast", "optimization_barrier", "convert_element_type", "squeeze"
  };

  return node->n_operands == 1 && is_one_of (name_of (p, node), names, G_N_ELEMENTS (names));
}

/* Operands stand before their users. */
static void
find_roots (Phases *p)
{
  for (guint i = 0; i < p->n; i++)
    {
      const GantryNode *node = node_at (p, i);
      gint from = is_alias (p, node) ? place_of (p, gantry_builder_operand_of (p->b, node->id, 0)) : (gint) i;

      p->roots[i] = from >= 0 && from < (gint) i ? p->roots[from] : from;
    }
}

/* What operand @k of the node at @i is a view of. Returns: -1 for what is not of the entry */
static gint
root_of (const Phases *p, guint i, guint k)
{
  gint at = place_of (p, gantry_builder_operand_of (p->b, node_at (p, i)->id, k));

  return at >= 0 ? p->roots[at] : -1;
}

/* Marks what @id is computed from; operands stand before their users. */
static void
mark_sources (Phases *p, guint32 id, Mark mark)
{
  gint last = place_of (p, id);

  if (last < 0)
    return;
  p->marks[last] |= (guint8) mark;
  for (gint i = last; i >= 0; i--)
    if (p->marks[i] & mark)
      {
        const GantryNode *node = node_at (p, (guint) i);

        for (guint k = 0; k < node->n_operands; k++)
          {
            gint at = place_of (p, gantry_builder_operand_of (p->b, node->id, k));

            if (at >= 0)
              p->marks[at] |= (guint8) mark;
          }
      }
}

static guint
count_products (const Phases *p, Mark mark)
{
  guint n = 0;

  for (guint i = 0; i < p->n; i++)
    n += (p->marks[i] & mark) != 0 && is_product (p, node_at (p, i));
  return n;
}

static void
clear (Phases *p, Mark mark)
{
  for (guint i = 0; i < p->n; i++)
    p->marks[i] &= (guint8) ~mark;
}

/* Numbers that are results, of which at most so many may be losses: metrics, norms, counts. */
#define MOST_LOSSES 16

/* The loss is the number among the results that the fewest products go into, but one. Returns: 0 where there is none */
static guint32
find_loss (Phases *p, const guint32 *results, guint n)
{
  guint fewest = G_MAXUINT, tried = 0;
  guint32 loss = 0;

  for (guint i = 0; i < n && tried < MOST_LOSSES; i++)
    {
      const GantryType *type = gantry_builder_get_type (p->b, results[i]);
      guint products;

      if (type->kind != GANTRY_TYPE_TENSOR || type->rank != 0 || !gantry_element_is_float ((GantryElementType) type->element) || place_of (p, results[i]) < 0)
        continue;
      tried++;
      clear (p, IN_LOSS);
      mark_sources (p, results[i], IN_LOSS);
      products = count_products (p, IN_LOSS);
      if (products > 0 && products < fewest)
        {
          fewest = products;
          loss = results[i];
        }
    }
  return loss;
}

/* How many nodes and operands are walked where no result is a loss: a step of 2,000 results and 100,000 nodes with two operands each
 * walks 10 million. Beyond, the entry stays of one phase. */
#define MOST_WALKED (G_GUINT64_CONSTANT (1) << 28)

/* Results that products go into are gradients, or made of them: the forward phase is what goes into all of them. How many of them
 * each node goes into is counted by sets of 64 at a time. */
static void
mark_common (Phases *p, const guint32 *results, guint n)
{
  g_autofree guint64 *sets = g_new (guint64, p->n + 1);

  for (guint i = 0; i < p->n; i++)
    p->marks[i] |= IN_FORWARD;
  for (guint first = 0; first < n; first += 64)
    {
      guint64 all = 0;

      memset (sets, 0, sizeof *sets * p->n);
      for (guint r = first; r < MIN (n, first + 64); r++)
        {
          gint at = place_of (p, results[r]);
          const GantryType *type = gantry_builder_get_type (p->b, results[r]);

          if (at < 0 || node_at (p, (guint) at)->op == GANTRY_OP_PARAMETER || type->kind != GANTRY_TYPE_TENSOR || type->rank == 0)
            continue;
          sets[at] |= G_GUINT64_CONSTANT (1) << (r - first);
          all |= G_GUINT64_CONSTANT (1) << (r - first);
        }
      for (guint i = p->n; i-- > 0;)
        for (guint k = 0; sets[i] != 0 && k < node_at (p, i)->n_operands; k++)
          {
            gint at = place_of (p, gantry_builder_operand_of (p->b, node_at (p, i)->id, k));

            if (at >= 0)
              sets[at] |= sets[i];
          }
      for (guint i = 0; i < p->n; i++)
        if (sets[i] != all)
          p->marks[i] &= (guint8) ~IN_FORWARD;
    }
}

static gint64
elements_of (const Phases *p, gint i)
{
  return gantry_type_elements (gantry_builder_get_type (p->b, node_at (p, (guint) i)->id));
}

/* A product that is not of the forward phase: what an operand of it is a view of, and its size. */
typedef struct
{
  gint64 elements, root;
} Transposed;

static guint
hash_transposed (gconstpointer key)
{
  const Transposed *t = key;

  return g_int64_hash (&t->elements) * 31 + g_int64_hash (&t->root);
}

static gboolean
equal_transposed (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (Transposed)) == 0;
}

static GHashTable *
index_transposed (const Phases *p)
{
  GHashTable *index = g_hash_table_new_full (hash_transposed, equal_transposed, g_free, NULL);

  for (guint i = 0; i < p->n; i++)
    for (guint k = 0; k < 2 && !(p->marks[i] & IN_FORWARD) && is_product (p, node_at (p, i)); k++)
      {
        const Transposed key = { elements_of (p, (gint) i), root_of (p, i, k) };

        g_hash_table_add (index, g_memdup2 (&key, sizeof key));
      }
  return index;
}

/* Whether some product there has the size of @weight. */
static gboolean
has_gradient (const Phases *p, GHashTable *index, gint activation, gint weight)
{
  return g_hash_table_contains (index, &(Transposed){ elements_of (p, weight), activation });
}

/* Of the forward products of a parameter and something that is none, most have a transpose. */
static gboolean
is_step (const Phases *p)
{
  g_autoptr (GHashTable) index = index_transposed (p);
  guint n = 0, n_transposed = 0;

  for (guint i = 0; i < p->n; i++)
    {
      gint root[2];

      if (!(p->marks[i] & IN_FORWARD) || !is_product (p, node_at (p, i)))
        continue;
      for (guint k = 0; k < 2; k++)
        root[k] = root_of (p, i, k);
      for (guint k = 0; k < 2 && root[0] >= 0 && root[1] >= 0; k++)
        if (node_at (p, (guint) root[k])->op == GANTRY_OP_PARAMETER)
          {
            n++;
            n_transposed += has_gradient (p, index, root[1 - k], root[k]);
            break;
          }
    }
  return n_transposed > 0 && 2 * n_transposed >= n;
}

/* Of what is neither forward nor part of a product of the backward phase: what reads such, or nothing, is of the update. */
static GantryPhase
phase_of (GantryBuilder *b, const GantryNode *node, gpointer user_data)
{
  const Phases *p = user_data;
  gint at = place_of (p, node->id);
  gboolean reads = FALSE;

  if (at < 0 || (p->marks[at] & IN_FORWARD) != 0)
    return GANTRY_PHASE_FORWARD;
  if (p->marks[at] & TO_PRODUCT)
    return GANTRY_PHASE_BACKWARD;
  for (guint k = 0; k < node->n_operands && !reads; k++)
    {
      const GantryNode *operand = gantry_builder_node (b, gantry_builder_operand_of (b, node->id, k));

      reads = operand != NULL && operand->phase != GANTRY_PHASE_FORWARD;
    }
  /* What a gradient is, only in another form, is of its phase. */
  return reads || node->n_operands == 0 ? GANTRY_PHASE_UPDATE : GANTRY_PHASE_FORWARD;
}

static void
mark_products (Phases *p)
{
  for (guint i = 0; i < p->n; i++)
    if (!(p->marks[i] & IN_FORWARD) && gathers (p, node_at (p, i)))
      p->marks[i] |= TO_PRODUCT;
  for (guint i = p->n; i-- > 0;)
    for (guint k = 0; (p->marks[i] & TO_PRODUCT) && k < node_at (p, i)->n_operands; k++)
      {
        gint at = place_of (p, gantry_builder_operand_of (p->b, node_at (p, i)->id, k));

        if (at >= 0)
          p->marks[at] |= TO_PRODUCT;
      }
}

void
gantry_xla_mark_phases_by_structure (GantryBuilder *b, guint32 entry)
{
  guint n_results;
  const guint32 *results = gantry_builder_results (b, entry, &n_results);
  g_autoptr (GHashTable) places = g_hash_table_new (NULL, NULL);
  g_autofree guint8 *marks = NULL;
  g_autofree gint *roots = NULL;
  Phases p = { .b = b, .entry = entry, .places = places };
  guint32 loss;

  if (results == NULL || n_results < 2)
    return;
  for (; node_at (&p, p.n) != NULL; p.n++)
    {
      g_hash_table_insert (places, GUINT_TO_POINTER (node_at (&p, p.n)->id), GUINT_TO_POINTER (p.n + 1));
      p.n_edges += 1 + node_at (&p, p.n)->n_operands;
    }
  p.marks = marks = g_new0 (guint8, p.n + 1);
  loss = find_loss (&p, results, n_results);
  if (loss != 0)
    mark_sources (&p, loss, IN_FORWARD);
  else if (p.n_edges * (n_results / 64 + 1) > MOST_WALKED)
    return;
  else
    mark_common (&p, results, n_results);
  p.roots = roots = g_new (gint, p.n + 1);
  find_roots (&p);
  if (!is_step (&p))
    return;
  mark_products (&p);
  gantry_builder_choose_phases (b, phase_of, &p);
}
