/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of tensor expressions share: a tiny interpreter, the invariants of a finished expression, and modules
 * of one operation. The interpreter computes in double and knows only what index arithmetic and sums need. */
#pragma once
#include "core/expr/expr.h"
#include "tests/core/graph/graph-test.h"
#include <math.h>

/* A tiny interpreter: @values of index variables, inputs whose element n is a number that says which one it is. */

typedef struct
{
  const GantryTexpr *texpr;
  gint64 index[2 * GANTRY_MAX_RANK];
  double *const *inputs; /* (nullable): NULL: element n of input a is 1000 * (a + 1) + n */
} Machine;

static inline double run (Machine *m, guint32 x);

static inline double
run_load (Machine *m, const GantryTx *node)
{
  const GantryType *type = m->texpr->inputs[node->a];
  gint64 n = 0;

  for (guint d = 0; d < node->c; d++)
    {
      gint64 at = (gint64) run (m, m->texpr->pool[node->b + d]);

      g_assert_cmpint (at, >=, 0);
      g_assert_cmpint (at, <, type->dims[d]);
      n = n * type->dims[d] + at;
    }
  return m->inputs != NULL ? m->inputs[node->a][n] : 1000.0 * (node->a + 1) + (double) n;
}

static inline double
run_reduce (Machine *m, const GantryTx *node, guint axis)
{
  double sum = node->op == GANTRY_OP_ADD ? 0 : node->op == GANTRY_OP_MAXIMUM ? -INFINITY : NAN;
  guint variable;

  if (axis == node->c)
    return run (m, node->a);
  variable = m->texpr->pool[node->b + axis];
  for (gint64 i = 0; i < m->texpr->axes[variable - m->texpr->rank]; i++)
    {
      double x;

      m->index[variable] = i;
      x = run_reduce (m, node, axis + 1);
      sum = node->op == GANTRY_OP_ADD ? sum + x : MAX (sum, x);
    }
  return sum;
}

static inline double
run_binary (Machine *m, const GantryTx *node)
{
  double x = run (m, node->a), y = run (m, node->b);
  gboolean integer = m->texpr->nodes[node->a].type == GANTRY_I64;

  switch (node->op)
    {
    case GANTRY_OP_ADD: return x + y;
    case GANTRY_OP_SUBTRACT: return x - y;
    case GANTRY_OP_MULTIPLY: return x * y;
    case GANTRY_OP_DIVIDE: return integer ? (double) ((gint64) x / (gint64) y) : x / y;
    case GANTRY_OP_REMAINDER: return fmod (x, y);
    case GANTRY_OP_MAXIMUM: return MAX (x, y);
    case GANTRY_OP_MINIMUM: return MIN (x, y);
    case GANTRY_OP_AND: return x != 0 && y != 0;
    case GANTRY_OP_OR: return x != 0 || y != 0;
    case GANTRY_OP_COMPARE:
      switch (node->direction)
        {
        case GANTRY_EQ: return x == y;
        case GANTRY_NE: return x != y;
        case GANTRY_LT: return x < y;
        case GANTRY_LE: return x <= y;
        case GANTRY_GT: return x > y;
        default: return x >= y;
        }
    default: g_assert_not_reached ();
    }
}

static inline double
run (Machine *m, guint32 x)
{
  const GantryTx *node = &m->texpr->nodes[x];

  switch (node->kind)
    {
    case GANTRY_TX_CONST: return gantry_element_is_float (node->type) ? node->f : (double) node->i;
    case GANTRY_TX_INDEX: return (double) m->index[node->a];
    case GANTRY_TX_LOAD: return run_load (m, node);
    case GANTRY_TX_BINARY: return run_binary (m, node);
    case GANTRY_TX_SELECT: return run (m, run (m, node->a) != 0 ? node->b : node->c);
    case GANTRY_TX_CAST: return run (m, node->a);
    case GANTRY_TX_REDUCE: return run_reduce (m, node, 0);
    default: g_assert_cmpint (node->op, ==, GANTRY_OP_NEGATE); return -run (m, node->a);
    }
}

/* Sets the result coordinates of element @n. */
static inline void
place (Machine *m, gint64 n)
{
  for (guint d = m->texpr->rank; d-- > 0; n /= m->texpr->shape[d])
    m->index[d] = n % m->texpr->shape[d];
}

static inline gint64
count (const GantryTexpr *texpr)
{
  gint64 n = 1;

  for (guint d = 0; d < texpr->rank; d++)
    n *= texpr->shape[d];
  return n;
}

/* What holds of every finished expression: arguments before users, nothing dead, nothing twice, each axis bound by one
 * reduction, indices of type i64, root last. */
static inline void
check_invariants (const GantryTexpr *texpr)
{
  g_autofree guint8 *used = g_new0 (guint8, texpr->n_nodes);
  guint8 bound[GANTRY_MAX_RANK] = { 0 };

  g_assert_cmpuint (texpr->root, ==, texpr->n_nodes - 1);
  g_assert_cmpint (texpr->nodes[texpr->root].type, ==, texpr->element);
  used[texpr->root] = 1;
  for (guint32 i = texpr->n_nodes; i-- > 0;)
    {
      const GantryTx *node = &texpr->nodes[i];
      guint32 arguments[3] = { node->a, node->b, node->c };
      guint n = node->kind == GANTRY_TX_SELECT                                                                   ? 3
                : node->kind == GANTRY_TX_BINARY                                                                 ? 2
                : node->kind == GANTRY_TX_CONST || node->kind == GANTRY_TX_INDEX || node->kind == GANTRY_TX_LOAD ? 0
                                                                                                                 : 1;

      g_assert_true (used[i]);
      for (guint j = 0; j < n; j++)
        {
          g_assert_cmpuint (arguments[j], <, i);
          used[arguments[j]] = 1;
        }
      if (node->kind == GANTRY_TX_LOAD)
        {
          g_assert_cmpuint (node->a, <, texpr->n_inputs);
          g_assert_cmpuint (node->c, ==, texpr->inputs[node->a]->rank);
          g_assert_cmpuint (node->b + node->c, <=, texpr->n_pool);
          for (guint j = 0; j < node->c; j++)
            {
              g_assert_cmpuint (texpr->pool[node->b + j], <, i);
              g_assert_cmpint (texpr->nodes[texpr->pool[node->b + j]].type, ==, GANTRY_I64);
              used[texpr->pool[node->b + j]] = 1;
            }
        }
      if (node->kind == GANTRY_TX_INDEX)
        g_assert_cmpuint (node->a, <, (guint) texpr->rank + texpr->n_axes);
      if (node->kind == GANTRY_TX_REDUCE)
        for (guint j = 0; j < node->c; j++)
          g_assert_cmpuint (bound[texpr->pool[node->b + j] - texpr->rank]++, ==, 0);
    }
  for (guint i = 0; i < texpr->n_axes; i++)
    g_assert_cmpuint (bound[i], ==, 1);
}

/* Modules of one operation */

static inline void
set_init (TestSet *set)
{
  set->context = gantry_context_new ();
  set->functions = g_array_new (FALSE, FALSE, sizeof (guint32));
}

static inline void
set_clear (TestSet *set)
{
  g_array_unref (set->functions);
  gantry_context_unref (set->context);
}

static inline guint
add_parameters (TestSet *set, GantryBuilder *builder, const char *operands, guint32 *ids)
{
  g_auto (GStrv) words = g_strsplit (operands, " ", -1);
  guint n = 0;

  for (; words[n] != NULL && words[n][0] != '\0'; n++)
    ids[n] = gantry_builder_parameter (builder, test_type (set, words[n]), NULL);
  return n;
}

static inline GantryTexpr *
texpr_of (TestSet *set, GantryOp op, const char *operands, const char *attrs)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (set->context, "m");
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  GantryTexpr *texpr;
  guint32 ids[16], result;
  guint n;

  gantry_builder_begin (builder, "main", 0);
  n = add_parameters (set, builder, operands, ids);
  result = gantry_builder_add (builder, op, ids, n, test_attrs (set, attrs));
  gantry_builder_end (builder, &result, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  texpr = gantry_texpr_of_node (module, gantry_module_node (module, result), &error);
  g_assert_no_error (error);
  check_invariants (texpr);
  return texpr;
}

/* Element @n of a tensor of this shape, where @at holds coordinates. */
static inline gint64
number_of (guint rank, const gint64 *dims, const gint64 *at)
{
  gint64 n = 0;

  for (guint d = 0; d < rank; d++)
    n = n * dims[d] + at[d];
  return n;
}

static inline double *
counting (gint64 n, double first)
{
  double *values = g_new (double, n);

  for (gint64 i = 0; i < n; i++)
    values[i] = first + (double) ((i * 7) % 31);
  return values;
}
