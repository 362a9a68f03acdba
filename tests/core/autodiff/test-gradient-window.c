/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of a maximum or minimum over windows against loops that say what it is: of each window the first place
 * that equals the result takes its cotangent, the last one where none does (NaN); what padding wins is lost. Values are few
 * whole numbers, so that most windows have ties, and infinities and NaN among them. */
#include "tests/core/autodiff/gradient-test.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

#define RANK 3
#define MOST 4096

typedef struct
{
  gint64 x[RANK], y[RANK], padded[RANK];
  gint64 size[RANK], stride[RANK], base[RANK], dilation[RANK], low[RANK], high[RANK];
  gboolean max;
} Pool;

static gint64
count (const gint64 *dims)
{
  return dims[0] * dims[1] * dims[2];
}

/* FALSE: no window fits, or there is too much of them. */
static gboolean
draw (GRand *random, Pool *p, gboolean large)
{
  for (guint i = 0; i < RANK; i++)
    {
      gint64 span;

      p->x[i] = g_rand_int_range (random, 1, 9);
      p->size[i] = i == 0 && g_rand_boolean (random) ? 1 : g_rand_int_range (random, 1, large ? 8 : 4);
      p->stride[i] = g_rand_int_range (random, 1, 5);
      p->base[i] = g_rand_int_range (random, 0, 3) == 0 ? 2 : 1;
      p->dilation[i] = g_rand_int_range (random, 1, 4);
      p->low[i] = g_rand_int_range (random, -1, 4);
      p->high[i] = g_rand_int_range (random, -1, 4);
      span = (p->size[i] - 1) * p->dilation[i] + 1;
      p->padded[i] = (p->x[i] - 1) * p->base[i] + 1 + p->low[i] + p->high[i];
      if (p->padded[i] < span)
        return FALSE;
      p->y[i] = (p->padded[i] - span) / p->stride[i] + 1;
    }
  p->max = g_rand_boolean (random);
  return count (p->y) * count (p->size) < MOST;
}

static void
add_list (GString *text, const char *key, const gint64 *values)
{
  g_string_append_printf (text, ", %s = [%d, %d, %d]", key, (int) values[0], (int) values[1], (int) values[2]);
}

static char *
text_of (const Pool *p, const char *element)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "module \"m\" { func @main #1 (%%1: %s[%d,%d,%d]) -> (%%2) { %%2 = reduce_window(%%1) {kind = \"%s\"", element, (int) p->x[0],
                          (int) p->x[1], (int) p->x[2], p->max ? "max" : "min");
  add_list (text, "window_dimensions", p->size);
  add_list (text, "window_strides", p->stride);
  add_list (text, "base_dilations", p->base);
  add_list (text, "window_dilations", p->dilation);
  g_string_append (text, ", padding = [");
  for (guint i = 0; i < RANK; i++)
    g_string_append_printf (text, "%s%d, %d", i > 0 ? ", " : "", (int) p->low[i], (int) p->high[i]);
  g_string_append_printf (text, "]}: %s[%d,%d,%d] } }", element, (int) p->y[0], (int) p->y[1], (int) p->y[2]);
  return g_string_free (text, FALSE);
}

static void
next (gint64 *at, const gint64 *dims)
{
  for (guint i = RANK; i-- > 0 && ++at[i] == dims[i];)
    at[i] = 0;
}

/* Where place @k of window @o lies in the operand; -1: in the padding. */
static gint64
place_of (const Pool *p, const gint64 *o, const gint64 *k)
{
  gint64 flat = 0;

  for (guint i = 0; i < RANK; i++)
    {
      gint64 at = o[i] * p->stride[i] + k[i] * p->dilation[i] - p->low[i];

      if (at < 0 || at % p->base[i] != 0 || at / p->base[i] >= p->x[i])
        return -1;
      flat = flat * p->x[i] + at / p->base[i];
    }
  return flat;
}

static void
expect (const Pool *p, GantryLiteral *x, GantryLiteral *g, double *wanted)
{
  gint64 o[RANK] = { 0 };

  memset (wanted, 0, count (p->x) * sizeof *wanted);
  for (gint64 n = 0; n < count (p->y); n++, next (o, p->y))
    {
      double best = p->max ? -INFINITY : INFINITY;
      gint64 k[RANK] = { 0 }, winner = -1, last = -1;

      for (gint64 m = 0; m < count (p->size); m++, next (k, p->size))
        {
          gint64 at = place_of (p, o, k);
          double value = at >= 0 ? gantry_literal_get_double (x, at) : p->max ? -INFINITY : INFINITY;

          best = isnan (best) || isnan (value) ? NAN : p->max ? fmax (best, value) : fmin (best, value);
          last = at;
        }
      for (gint64 m = count (p->size); m-- > 0;)
        {
          gint64 rest = m, at;
          double value;

          for (guint i = RANK; i-- > 0; rest /= p->size[i])
            k[i] = rest % p->size[i];
          at = place_of (p, o, k);
          value = at >= 0 ? gantry_literal_get_double (x, at) : p->max ? -INFINITY : INFINITY;
          if (value == best)
            winner = at;
          else if (m == count (p->size) - 1)
            winner = last;
        }
      if (winner >= 0)
        wanted[winner] += gantry_literal_get_double (g, n);
    }
}

static GantryLiteral *
few_values (GRand *random, const GantryType *type, gboolean special)
{
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  for (gint64 i = 0; i < gantry_type_elements (type); i++, data += gantry_element_size (type->element))
    {
      gint32 drawn = g_rand_int_range (random, -4, 5);
      double value = special && drawn == 4 ? NAN : special && drawn >= 2 ? -INFINITY : drawn;

      gantry_element_write_double (type->element, data, value);
    }
  return literal;
}

static void
check (GRand *random, const Pool *p, const char *element)
{
  g_autofree char *text = text_of (p, element);
  g_autofree double *wanted = g_new (double, count (p->x));
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gradient_parse (context, text);
  g_autoptr (GantryModule) derived = gradient_of (module, &(GantryGradientOptions){ .seeds = TRUE });
  GantryLiteral *arguments[2] = { few_values (random, gantry_node_type (derived, &derived->nodes[0]), g_rand_boolean (random)),
                                  few_values (random, gantry_node_type (derived, &derived->nodes[1]), FALSE) };
  GantryLiteral **results = gradient_evaluate (derived, arguments);

  expect (p, arguments[0], arguments[1], wanted);
  for (gint64 i = 0; i < count (p->x); i++)
    if (gantry_literal_get_double (results[0], i) != wanted[i])
      g_error ("element %d is %g and should be %g: %s", (int) i, gantry_literal_get_double (results[0], i), wanted[i], text);
  gradient_free_literals (results, 1);
  gantry_literal_unref (arguments[0]);
  gantry_literal_unref (arguments[1]);
}

static void
test_random (gconstpointer large)
{
  static const char *const elements[] = { "f64", "f32", "bf16", "f16" };
  g_autoptr (GRand) random = test_rand (large != NULL ? 77 : 42);

  for (guint n = 0; n < 400;)
    {
      Pool p;

      if (draw (random, &p, large != NULL))
        check (random, &p, elements[n++ % G_N_ELEMENTS (elements)]);
    }
}

/* As networks have them: no scatter is left, which a GPU would need a sort for. */
static void
test_no_scatter (void)
{
  static const Pool pools[] = {
    { { 2, 12, 12 }, { 2, 6, 6 }, { 2, 14, 14 }, { 1, 3, 3 }, { 1, 2, 2 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0, 1, 1 }, { 0, 1, 1 }, TRUE },
    { { 2, 12, 12 }, { 2, 6, 6 }, { 2, 12, 12 }, { 1, 2, 2 }, { 1, 2, 2 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0 }, { 0 }, TRUE },
    { { 2, 9, 9 }, { 2, 9, 9 }, { 2, 13, 13 }, { 1, 5, 5 }, { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 }, { 0, 2, 2 }, { 0, 2, 2 }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (pools); i++)
    {
      g_autofree char *text = text_of (&pools[i], "bf16");
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = gradient_parse (context, text);
      g_autoptr (GantryModule) derived = gradient_of (module, &(GantryGradientOptions){ .seeds = TRUE });

      g_assert_cmpuint (gradient_count (derived, GANTRY_OP_SCATTER), ==, 0);
      g_assert_cmpuint (gradient_count (derived, GANTRY_OP_GATHER), ==, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/autodiff/window/few-places", NULL, test_random);
  g_test_add_data_func ("/autodiff/window/many-places", "large", test_random);
  g_test_add_func ("/autodiff/window/no-scatter", test_no_scatter);
  return g_test_run ();
}
