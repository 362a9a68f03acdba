/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of nested control as StableHLO text: case, if and while, whose regions read what stands around them; a scan is a while that
 * takes its rows by dynamic_slice and keeps what it collects by dynamic_update_slice. */
#include "tests/differential/nested.h"
#include <string.h>

#define V "tensor<4xf64>"
#define M "tensor<3x4xf64>"

typedef struct
{
  GString *text;
  GPtrArray *vectors, *integers; /* their names */
  guint n;                       /* names that were made */
} Writer;

static char *write_block (Writer *w, const NestedBlock *block);

static char *
fresh (Writer *w)
{
  return g_strdup_printf ("%%v%u", w->n++);
}

/* "%v7 = " and what @format says. Returns: (transfer full): the name */
static char *G_GNUC_PRINTF (2, 3) put (Writer *w, const char *format, ...)
{
  char *name = fresh (w);
  va_list args;

  g_string_append_printf (w->text, "%s = ", name);
  va_start (args, format);
  g_string_append_vprintf (w->text, format, args);
  va_end (args);
  g_string_append_c (w->text, '\n');
  return name;
}

static char *
put_number (Writer *w, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  return put (w, "stablehlo.constant dense<%s> : tensor<f64>", g_ascii_formatd (digits, sizeof digits, "%.17e", value));
}

static char *
put_integer (Writer *w, gint64 value)
{
  return put (w, "stablehlo.constant dense<%" G_GINT64_FORMAT "> : tensor<i64>", value);
}

static char *
put_binary (Writer *w, const char *op, const char *a, const char *b, const char *type)
{
  return put (w, "stablehlo.%s %s, %s : %s", op, a, b, type);
}

/* @value: a scalar, taken */
static char *
put_scaled (Writer *w, const char *a, char *value)
{
  g_autofree char *scalar = value;
  g_autofree char *wide = put (w, "stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f64>) -> " V, scalar);

  return put_binary (w, "multiply", a, wide, V);
}

static char *
put_less_integer (Writer *w, const char *a, gint64 c, const char *how)
{
  g_autofree char *b = put_integer (w, c);

  return put (w, "stablehlo.compare %s, %s, %s, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>", how, a, b);
}

static char *
put_sum_is_less (Writer *w, const char *a, double bound)
{
  g_autofree char *zero = put_number (w, 0), *limit = put_number (w, bound), *sum = NULL;

  sum = put (w, "stablehlo.reduce(%s init: %s) applies stablehlo.add across dimensions = [0] : (" V ", tensor<f64>) -> tensor<f64>", a, zero);
  return put (w, "stablehlo.compare LT, %s, %s, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>", sum, limit);
}

static void
put_return (Writer *w, const char *value)
{
  g_string_append_printf (w->text, "stablehlo.return %s : " V "\n", value);
}

static char *
write_quotient (Writer *w, const NestedStep *step)
{
  const char *a = w->vectors->pdata[step->a], *i = w->integers->pdata[step->i];
  g_autofree char *same = put_less_integer (w, i, step->c, "EQ"), *c = NULL, *apart = NULL, *six = NULL, *quotient = NULL, *number = NULL, *quarter = NULL,
                  *scaled = NULL;
  char *name = fresh (w), *factor;

  g_string_append_printf (w->text, "%s = \"stablehlo.if\"(%s) ({\n", name, same);
  put_return (w, a);
  g_string_append (w->text, "}, {\n");
  c = put_integer (w, step->c);
  apart = put_binary (w, "subtract", i, c, "tensor<i64>");
  six = put_integer (w, 6);
  quotient = put_binary (w, "divide", six, apart, "tensor<i64>");
  number = put (w, "stablehlo.convert %s : (tensor<i64>) -> tensor<f64>", quotient);
  quarter = put_number (w, 0.25);
  factor = put_binary (w, "multiply", number, quarter, "tensor<f64>");
  scaled = put_scaled (w, a, factor);
  put_return (w, scaled);
  g_string_append (w->text, "}) : (tensor<i1>) -> " V "\n");
  return name;
}

/* By index where it counts: then the arm for false comes first. */
static char *
write_branch (Writer *w, const NestedStep *step)
{
  gboolean counts = step->kind == NESTED_IF_COUNT;
  g_autofree char *condition = counts ? put_less_integer (w, w->integers->pdata[step->i], step->c, "LT")
                                      : put_sum_is_less (w, w->vectors->pdata[step->a], step->bound);
  g_autofree char *index = counts ? put (w, "stablehlo.convert %s : (tensor<i1>) -> tensor<i32>", condition) : NULL;
  char *name = fresh (w);

  g_string_append_printf (w->text, "%s = \"stablehlo.%s\"(%s) ({\n", name, counts ? "case" : "if", counts ? index : condition);
  for (guint k = 0; k < 2; k++)
    {
      g_autofree char *value = write_block (w, step->bodies[counts ? 1 - k : k]);

      put_return (w, value);
      g_string_append (w->text, k == 0 ? "}, {\n" : "})");
    }
  g_string_append_printf (w->text, " : (tensor<%s>) -> " V "\n", counts ? "i32" : "i1");
  return name;
}

/* The body of a loop with what it gives for its carry. */
static char *
write_trip (Writer *w, const NestedStep *step, const char *carry, const char *counter, const char *row)
{
  g_autofree char *value = NULL;

  g_ptr_array_add (w->vectors, (gpointer) carry);
  g_ptr_array_add (row != NULL ? w->vectors : w->integers, (gpointer) (row != NULL ? row : counter));
  value = write_block (w, step->bodies[0]);
  g_ptr_array_set_size (w->vectors, (gint) w->vectors->len - (row != NULL ? 2 : 1));
  if (row == NULL)
    g_ptr_array_set_size (w->integers, (gint) w->integers->len - 1);
  return put (w, "stablehlo.tanh %s : " V, value);
}

/* Of a scan: the row of m that trip @t takes. */
static char *
put_index (Writer *w, const NestedStep *step, const char *t)
{
  g_autofree char *last = put_integer (w, NESTED_ROWS - 1);

  return step->reverse ? put_binary (w, "subtract", last, t, "tensor<i64>") : put (w, "stablehlo.add %s, %s : tensor<i64>", t, "%zero");
}

static char *
put_more (Writer *w, const NestedStep *step, const char *trips, const char *t, const char *carry)
{
  char *more = put (w, "stablehlo.compare LT, %s, %s, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>", t, trips);
  g_autofree char *counted = NULL, *less = NULL;

  if (step->kind != NESTED_UNTIL)
    return more;
  counted = more;
  less = put_sum_is_less (w, carry, step->bound);
  return put_binary (w, "and", counted, less, "tensor<i1>");
}

static char *
put_trips (Writer *w, const NestedStep *step)
{
  g_autofree char *c = NULL, *sum = NULL, *most = NULL;

  if (step->kind != NESTED_LOOP)
    return put_integer (w, step->kind == NESTED_UNTIL ? NESTED_MOST_UNTIL : NESTED_ROWS);
  c = put_integer (w, step->c);
  sum = put_binary (w, "add", w->integers->pdata[step->i], c, "tensor<i64>");
  most = put_integer (w, NESTED_MOST_TRIPS);
  return put (w, "stablehlo.clamp %%zero, %s, %s : tensor<i64>", sum, most);
}

/* What a scan collects, with a quarter of its sum added to what it carried. */
static char *
put_collected (Writer *w, const char *loop)
{
  g_autofree char *zero = put_number (w, 0), *quarter = put_number (w, 0.25), *sum = NULL, *scaled = NULL;

  sum = put (w, "stablehlo.reduce(%s#2 init: %s) applies stablehlo.add across dimensions = [0] : (" M ", tensor<f64>) -> " V, loop, zero);
  scaled = put_scaled (w, sum, g_steal_pointer (&quarter));
  return put (w, "stablehlo.add %s#1, %s : " V, loop, scaled);
}

static void
write_loop_body (Writer *w, const NestedStep *step, const char *t, const char *carry, const char *rows)
{
  g_autofree char *one = put_integer (w, 1), *next = put_binary (w, "add", t, one, "tensor<i64>"), *value = NULL, *index = NULL, *slice = NULL, *row = NULL,
                  *flat = NULL, *updated = NULL;

  if (step->kind != NESTED_SCAN)
    {
      value = write_trip (w, step, carry, t, NULL);
      g_string_append_printf (w->text, "stablehlo.return %s, %s : tensor<i64>, " V "\n", next, value);
      return;
    }
  index = put_index (w, step, t);
  slice = put (w, "stablehlo.dynamic_slice %%m, %s, %%zero, sizes = [1, 4] : (" M ", tensor<i64>, tensor<i64>) -> tensor<1x4xf64>", index);
  row = put (w, "stablehlo.reshape %s : (tensor<1x4xf64>) -> " V, slice);
  value = write_trip (w, step, carry, NULL, row);
  flat = put (w, "stablehlo.reshape %s : (" V ") -> tensor<1x4xf64>", value);
  updated = put (w, "stablehlo.dynamic_update_slice %s, %s, %s, %%zero : (" M ", tensor<1x4xf64>, tensor<i64>, tensor<i64>) -> " M, rows, flat, index);
  g_string_append_printf (w->text, "stablehlo.return %s, %s, %s : tensor<i64>, " V ", " M "\n", next, value, updated);
}

static char *
write_loop (Writer *w, const NestedStep *step)
{
  gboolean scan = step->kind == NESTED_SCAN;
  g_autofree char *trips = put_trips (w, step), *loop = fresh (w), *t = fresh (w), *carry = fresh (w), *rows = fresh (w), *more = NULL,
                  *rows_given = g_strdup_printf (", %s = %%empty", rows);

  g_string_append_printf (w->text, "%s:%u = stablehlo.while(%s = %%zero, %s = %s%s) : tensor<i64>, " V "%s\ncond {\n", loop, scan ? 3 : 2, t, carry,
                          (const char *) w->vectors->pdata[step->a], scan ? rows_given : "", scan ? ", " M : "");
  more = put_more (w, step, trips, t, carry);
  g_string_append_printf (w->text, "stablehlo.return %s : tensor<i1>\n} do {\n", more);
  write_loop_body (w, step, t, carry, rows);
  g_string_append (w->text, "}\n");
  if (scan)
    return put_collected (w, loop);
  return g_strconcat (loop, "#1", NULL);
}

static char *
write_plain (Writer *w, const NestedStep *step)
{
  static const char *const ops[] = { "tanh", "sine", "add", "subtract", "multiply" };
  const char *a = w->vectors->pdata[step->a], *b = w->vectors->pdata[step->b];
  g_autofree char *product = NULL;

  if (step->kind == NESTED_TANH || step->kind == NESTED_SINE)
    return put (w, "stablehlo.%s %s : " V, ops[step->kind], a);
  if (step->kind != NESTED_MULTIPLY)
    return put_binary (w, ops[step->kind], a, b, V);
  product = put_binary (w, "multiply", a, b, V);
  return put_scaled (w, product, put_number (w, 0.5));
}

/* Returns: (transfer full): the name of its value */
static char *
write_block (Writer *w, const NestedBlock *block)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  guint n = w->vectors->len;

  for (guint i = 0; i < block->steps->len; i++)
    {
      const NestedStep *step = &g_array_index (block->steps, NestedStep, i);
      char *name = step->kind == NESTED_QUOTIENT                                  ? write_quotient (w, step)
                   : step->kind == NESTED_IF_COUNT || step->kind == NESTED_IF_SUM ? write_branch (w, step)
                   : step->bodies[0] != NULL                                      ? write_loop (w, step)
                                                                                  : write_plain (w, step);

      g_ptr_array_add (names, name);
      g_ptr_array_add (w->vectors, name);
    }
  g_ptr_array_set_size (w->vectors, (gint) n);
  return g_strdup (names->pdata[names->len - 1]);
}

char *
nested_to_stablehlo (const NestedBlock *block, const gint64 *k)
{
  Writer w = { g_string_new ("func.func @main(%x: " V ", %k: tensor<i64>, %m: " M ") -> " V " {\n"), g_ptr_array_new (), g_ptr_array_new () };
  g_autofree char *value = NULL, *known = k != NULL ? put_integer (&w, *k) : g_strdup ("%k");

  g_string_append (w.text, "%zero = stablehlo.constant dense<0> : tensor<i64>\n%empty = stablehlo.constant dense<0.0> : " M "\n");
  g_ptr_array_add (w.vectors, (gpointer) "%x");
  g_ptr_array_add (w.integers, known);
  value = write_block (&w, block);
  g_string_append_printf (w.text, "return %s : " V "\n}\n", value);
  g_ptr_array_unref (w.vectors);
  g_ptr_array_unref (w.integers);
  return g_string_free (w.text, FALSE);
}
