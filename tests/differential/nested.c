/* SPDX-License-Identifier: Apache-2.0 */
/* Makes programs of nested control, and walks them. */
#include "tests/differential/nested.h"
#include <math.h>
#include <string.h>

#define MOST_DEPTH 3

/* Making */

static NestedBlock *
generate (GRand *rand, guint n_vectors, guint n_integers, guint depth)
{
  static const guint8 extra_vectors[NESTED_N_KINDS] = { [NESTED_LOOP] = 1, [NESTED_UNTIL] = 1, [NESTED_SCAN] = 2 };
  static const guint8 extra_integers[NESTED_N_KINDS] = { [NESTED_LOOP] = 1, [NESTED_UNTIL] = 1 };
  NestedBlock *block = g_new0 (NestedBlock, 1);
  gint n = g_rand_int_range (rand, depth == 0 ? 2 : 1, depth == 0 ? 5 : 4);

  block->steps = g_array_new (FALSE, TRUE, sizeof (NestedStep));
  for (gint k = 0; k < n; k++, n_vectors++)
    {
      gboolean control = depth < MOST_DEPTH && g_rand_int_range (rand, 0, 100) < (k == 0 ? 85 : 35) - 20 * (gint) depth;
      NestedStep step = { .kind = (NestedKind) (control ? g_rand_int_range (rand, NESTED_IF_COUNT, NESTED_N_KINDS)
                                                        : g_rand_int_range (rand, 0, NESTED_IF_COUNT)) };

      /* Later values more often. */
      step.a = n_vectors - 1 - (guint) (n_vectors * pow (g_rand_double (rand), 2));
      step.b = (guint) g_rand_int_range (rand, 0, (gint) n_vectors);
      step.i = (guint) g_rand_int_range (rand, 0, (gint) n_integers);
      step.c = g_rand_int_range (rand, 0, 3);
      step.bound = g_rand_double_range (rand, -2, 2);
      step.reverse = g_rand_boolean (rand);
      if (control)
        step.bodies[0] = generate (rand, n_vectors + extra_vectors[step.kind], n_integers + extra_integers[step.kind], depth + 1);
      if (step.kind == NESTED_IF_COUNT || step.kind == NESTED_IF_SUM)
        step.bodies[1] = generate (rand, n_vectors, n_integers, depth + 1);
      g_array_append_val (block->steps, step);
    }
  return block;
}

NestedBlock *
nested_generate (guint32 seed)
{
  GRand *rand = g_rand_new_with_seed (seed);
  NestedBlock *block = generate (rand, 1, 1, 0);

  g_rand_free (rand);
  return block;
}

void
nested_free (NestedBlock *block)
{
  for (guint i = 0; block != NULL && i < block->steps->len; i++)
    for (guint k = 0; k < 2; k++)
      nested_free (g_array_index (block->steps, NestedStep, i).bodies[k]);
  if (block != NULL)
    g_array_unref (block->steps);
  g_free (block);
}

guint
nested_count (const NestedBlock *block, NestedKind kind)
{
  guint n = 0;

  for (guint i = 0; block != NULL && i < block->steps->len; i++)
    {
      const NestedStep *step = &g_array_index (block->steps, NestedStep, i);

      n += (step->kind == kind) + nested_count (step->bodies[0], kind) + nested_count (step->bodies[1], kind);
    }
  return n;
}

/* Walking */

typedef struct
{
  const NestedInputs *inputs;
  GArray *vectors;  /* double[NESTED_WIDTH] */
  GArray *integers; /* gint64 */
  double nearest;
} Walk;

static void walk_block (Walk *w, const NestedBlock *block, double *result);

static const double *
vector (const Walk *w, guint i)
{
  return (const double *) (gpointer) w->vectors->data + (gsize) i * NESTED_WIDTH;
}

static gint64
integer (const Walk *w, guint i)
{
  return g_array_index (w->integers, gint64, i);
}

static gboolean
is_less (Walk *w, const double *v, double bound)
{
  double sum = 0;

  for (guint e = 0; e < NESTED_WIDTH; e++)
    sum += v[e];
  w->nearest = fmin (w->nearest, fabs (sum - bound));
  return sum < bound;
}

static void
walk_elementwise (const Walk *w, const NestedStep *step, double *result)
{
  const double *a = vector (w, step->a), *b = vector (w, step->b);
  gint64 apart = integer (w, step->i) - step->c;

  for (guint e = 0; e < NESTED_WIDTH; e++)
    switch ((guint) step->kind)
      {
      case NESTED_TANH: result[e] = tanh (a[e]); break;
      case NESTED_SINE: result[e] = sin (a[e]); break;
      case NESTED_ADD: result[e] = a[e] + b[e]; break;
      case NESTED_SUBTRACT: result[e] = a[e] - b[e]; break;
      case NESTED_MULTIPLY: result[e] = 0.5 * (a[e] * b[e]); break;
      default: result[e] = apart == 0 ? a[e] : a[e] * ((double) (6 / apart) * 0.25);
      }
}

/* One trip of a loop: @carry becomes the next. @row: (nullable) */
static void
walk_trip (Walk *w, const NestedStep *step, double *carry, gint64 trip, const double *row)
{
  double next[NESTED_WIDTH];
  guint n_vectors = w->vectors->len, n_integers = w->integers->len;

  g_array_append_vals (w->vectors, carry, 1);
  if (row != NULL)
    g_array_append_vals (w->vectors, row, 1);
  else
    g_array_append_val (w->integers, trip);
  walk_block (w, step->bodies[0], next);
  g_array_set_size (w->vectors, n_vectors);
  g_array_set_size (w->integers, n_integers);
  for (guint e = 0; e < NESTED_WIDTH; e++)
    carry[e] = tanh (next[e]);
}

static void
walk_loop (Walk *w, const NestedStep *step, double *result)
{
  double carry[NESTED_WIDTH], sum[NESTED_WIDTH] = { 0 };
  gint64 trips = CLAMP (integer (w, step->i) + step->c, 0, NESTED_MOST_TRIPS);

  memcpy (carry, vector (w, step->a), sizeof carry);
  if (step->kind == NESTED_LOOP)
    for (gint64 t = 0; t < trips; t++)
      walk_trip (w, step, carry, t, NULL);
  else if (step->kind == NESTED_UNTIL)
    for (gint64 t = 0; t < NESTED_MOST_UNTIL && is_less (w, carry, step->bound); t++)
      walk_trip (w, step, carry, t, NULL);
  else
    for (guint t = 0; t < NESTED_ROWS; t++)
      {
        walk_trip (w, step, carry, 0, w->inputs->m + NESTED_WIDTH * (step->reverse ? NESTED_ROWS - 1 - t : t));
        for (guint e = 0; e < NESTED_WIDTH; e++)
          sum[e] += carry[e];
      }
  for (guint e = 0; e < NESTED_WIDTH; e++)
    result[e] = carry[e] + 0.25 * sum[e];
}

static void
walk_block (Walk *w, const NestedBlock *block, double *result)
{
  guint n_vectors = w->vectors->len;

  for (guint i = 0; i < block->steps->len; i++)
    {
      const NestedStep *step = &g_array_index (block->steps, NestedStep, i);

      if (step->kind == NESTED_IF_COUNT)
        walk_block (w, step->bodies[integer (w, step->i) < step->c ? 0 : 1], result);
      else if (step->kind == NESTED_IF_SUM)
        walk_block (w, step->bodies[is_less (w, vector (w, step->a), step->bound) ? 0 : 1], result);
      else if (step->bodies[0] != NULL)
        walk_loop (w, step, result);
      else
        walk_elementwise (w, step, result);
      g_array_append_vals (w->vectors, result, 1);
    }
  g_array_set_size (w->vectors, n_vectors);
}

double
nested_interpret (const NestedBlock *block, const NestedInputs *inputs, double *result)
{
  Walk w = { inputs, g_array_new (FALSE, FALSE, NESTED_WIDTH * sizeof (double)), g_array_new (FALSE, FALSE, sizeof (gint64)), INFINITY };

  g_array_append_vals (w.vectors, inputs->x, 1);
  g_array_append_val (w.integers, inputs->k);
  walk_block (&w, block, result);
  g_array_unref (w.vectors);
  g_array_unref (w.integers);
  return w.nearest;
}
