/* SPDX-License-Identifier: Apache-2.0 */
/* Simplification of i64 arithmetic, which is what indices are made of. A sum is taken apart into a linear form
 * (constant + factor * atom + ...), so that equal terms meet; division and remainder by a constant take from it what
 * the constant divides and what is known to be smaller than it; and c * (x / c) + x % c is x again. So the index of a
 * reshape undone by another one becomes the index that it was. All rules hold for 64-bit arithmetic that wraps: those
 * that would not are used only where the ranges of the terms say that nothing wraps. */
#include "core/expr/texpr-private.h"
#include "core/base/integers.h"

/* A longer sum is left as it is. */
#define MAX_TERMS 24
/* Simplifications that start others: how deep. */
#define MAX_DEPTH 6

typedef struct
{
  guint32 atom;
  gint64 factor;
} Term;

typedef struct
{
  Term terms[MAX_TERMS];
  guint n;
  gint64 constant;
} Linear;

static gint64
wrap_add (gint64 a, gint64 b)
{
  return (gint64) ((guint64) a + (guint64) b);
}

static gint64
wrap_mul (gint64 a, gint64 b)
{
  return (gint64) ((guint64) a * (guint64) b);
}

/* Ranges */

GantryIndexRange
_gantry_tx_range_of (const GantryTexprBuilder *b, const GantryTx *node)
{
  if (node->type != GANTRY_I64)
    return GANTRY_INDEX_ANY;
  switch (node->kind)
    {
    case GANTRY_TX_CONST: return (GantryIndexRange){ node->i, node->i };
    case GANTRY_TX_INDEX: return (GantryIndexRange){ 0, MAX (_gantry_tx_extent (b, node->a) - 1, 0) };
    case GANTRY_TX_CAST: return gantry_index_range_of_type (_gantry_tx_node (b, node->a)->type);
    case GANTRY_TX_SELECT: return gantry_index_range_union (_gantry_tx_range (b, node->b), _gantry_tx_range (b, node->c));
    case GANTRY_TX_BINARY: return gantry_index_range_binary (node->op, _gantry_tx_range (b, node->a), _gantry_tx_range (b, node->b));
    default: return GANTRY_INDEX_ANY;
    }
}

/* Linear forms */

static gboolean
add_term (Linear *sum, guint32 atom, gint64 factor)
{
  for (guint i = 0; i < sum->n; i++)
    if (sum->terms[i].atom == atom)
      {
        sum->terms[i].factor = wrap_add (sum->terms[i].factor, factor);
        if (sum->terms[i].factor == 0)
          sum->terms[i] = sum->terms[--sum->n];
        return TRUE;
      }
  if (sum->n == MAX_TERMS)
    return FALSE;
  if (factor != 0)
    sum->terms[sum->n++] = (Term){ atom, factor };
  return TRUE;
}

/* Adds @factor * @x to @sum. Returns: FALSE when there would be too many terms. */
static gboolean
add_node (const GantryTexprBuilder *b, Linear *sum, guint32 x, gint64 factor)
{
  Term stack[2 * MAX_TERMS];
  guint n = 0;

  stack[n++] = (Term){ x, factor };
  while (n > 0)
    {
      Term top = stack[--n];
      const GantryTx *node = _gantry_tx_node (b, top.atom);
      gboolean sums = node->kind == GANTRY_TX_BINARY && (node->op == GANTRY_OP_ADD || node->op == GANTRY_OP_SUBTRACT);

      if (node->kind == GANTRY_TX_CONST)
        sum->constant = wrap_add (sum->constant, wrap_mul (node->i, top.factor));
      else if (sums)
        {
          if (n + 2 > G_N_ELEMENTS (stack))
            return FALSE;
          stack[n++] = (Term){ node->a, top.factor };
          stack[n++] = (Term){ node->b, node->op == GANTRY_OP_ADD ? top.factor : wrap_mul (top.factor, -1) };
        }
      else if (node->kind == GANTRY_TX_BINARY && node->op == GANTRY_OP_MULTIPLY && _gantry_tx_is_const (b, node->b))
        stack[n++] = (Term){ node->a, wrap_mul (top.factor, _gantry_tx_node (b, node->b)->i) };
      else if (!add_term (sum, top.atom, top.factor))
        return FALSE;
    }
  return TRUE;
}

static GantryIndexRange
range_of_linear (const GantryTexprBuilder *b, const Linear *sum)
{
  GantryIndexRange range = { sum->constant, sum->constant };

  for (guint i = 0; i < sum->n; i++)
    range = gantry_index_range_add (range, _gantry_tx_range (b, sum->terms[i].atom), sum->terms[i].factor);
  return range;
}

static guint32 divide (GantryTexprBuilder *b, guint32 x, gint64 c);

/* k * (y % c) where k * c * (y / c) stands in the sum too: both become k * y. */
static gboolean
join_one (GantryTexprBuilder *b, Linear *sum, guint i)
{
  const GantryTx node = *_gantry_tx_node (b, sum->terms[i].atom);
  gint64 k = sum->terms[i].factor, c, kc;
  Linear quotient = { .n = 0 }, joined = *sum;

  if (node.kind != GANTRY_TX_BINARY || node.op != GANTRY_OP_REMAINDER || !_gantry_tx_is_const (b, node.b))
    return FALSE;
  c = _gantry_tx_node (b, node.b)->i;
  if (c <= 0 || __builtin_mul_overflow (k, c, &kc) || !add_node (b, &quotient, divide (b, node.a, c), kc) || quotient.n == 0)
    return FALSE;
  for (guint j = 0; j < quotient.n; j++)
    {
      guint at = 0;

      while (at < sum->n && sum->terms[at].atom != quotient.terms[j].atom)
        at++;
      if (at == sum->n || sum->terms[at].factor != quotient.terms[j].factor
          || !add_term (&joined, quotient.terms[j].atom, wrap_mul (quotient.terms[j].factor, -1)))
        return FALSE;
    }
  joined.constant = wrap_add (joined.constant, wrap_mul (quotient.constant, -1));
  if (!add_term (&joined, sum->terms[i].atom, wrap_mul (k, -1)) || !add_node (b, &joined, node.a, k))
    return FALSE;
  *sum = joined;
  return TRUE;
}

static void
join_remainders (GantryTexprBuilder *b, Linear *sum)
{
  if (b->depth >= MAX_DEPTH)
    return;
  b->depth++;
  for (guint i = 0; i < sum->n;)
    if (join_one (b, sum, i))
      i = 0;
    else
      i++;
  b->depth--;
}

/* Order in which terms are written: by the index variable that stands first in them, then as they were made. */
static guint64
term_key (const GantryTexprBuilder *b, const Term *term)
{
  const GantryTx *node = _gantry_tx_node (b, term->atom);
  guint64 variable = 2 * GANTRY_MAX_RANK + GANTRY_TEXPR_BUILD_AXES;

  for (guint i = 0; i < 8 && node->kind == GANTRY_TX_BINARY; i++)
    node = _gantry_tx_node (b, node->a);
  if (node->kind == GANTRY_TX_INDEX)
    variable = node->a;
  return variable << 32 | term->atom;
}

static void
sort_terms (const GantryTexprBuilder *b, Linear *sum)
{
  for (guint i = 1; i < sum->n; i++)
    for (guint j = i; j > 0 && term_key (b, &sum->terms[j]) < term_key (b, &sum->terms[j - 1]); j--)
      {
        Term swapped = sum->terms[j];

        sum->terms[j] = sum->terms[j - 1];
        sum->terms[j - 1] = swapped;
      }
}

static guint32
scaled (GantryTexprBuilder *b, guint32 atom, gint64 factor)
{
  if (factor == 1)
    return atom;
  return _gantry_tx_make_binary (b, GANTRY_OP_MULTIPLY, GANTRY_I64, atom, gantry_tx_int (b, factor));
}

/* Writes a linear form: terms added, then terms subtracted, then the constant. */
static guint32
write_linear (GantryTexprBuilder *b, Linear *sum)
{
  guint32 x = 0;
  gboolean begun = FALSE;

  join_remainders (b, sum);
  sort_terms (b, sum);
  for (guint i = 0; i < sum->n; i++)
    if (sum->terms[i].factor > 0)
      {
        guint32 term = scaled (b, sum->terms[i].atom, sum->terms[i].factor);

        x = begun ? _gantry_tx_make_binary (b, GANTRY_OP_ADD, GANTRY_I64, x, term) : term;
        begun = TRUE;
      }
  if (!begun)
    {
      x = gantry_tx_int (b, sum->constant);
      sum->constant = 0;
    }
  for (guint i = 0; i < sum->n; i++)
    if (sum->terms[i].factor < 0)
      x = _gantry_tx_make_binary (b, GANTRY_OP_SUBTRACT, GANTRY_I64, x, scaled (b, sum->terms[i].atom, wrap_mul (sum->terms[i].factor, -1)));
  if (sum->constant > 0 || sum->constant == G_MININT64)
    x = _gantry_tx_make_binary (b, GANTRY_OP_ADD, GANTRY_I64, x, gantry_tx_int (b, sum->constant));
  else if (sum->constant < 0)
    x = _gantry_tx_make_binary (b, GANTRY_OP_SUBTRACT, GANTRY_I64, x, gantry_tx_int (b, -sum->constant));
  return x;
}

static guint32
add_scaled (GantryTexprBuilder *b, guint32 x, guint32 y, gint64 factor_x, gint64 factor_y, GantryOp op)
{
  Linear sum = { .n = 0 };

  if (!add_node (b, &sum, x, factor_x) || !add_node (b, &sum, y, factor_y))
    return _gantry_tx_make_binary (b, op, GANTRY_I64, x, y);
  return write_linear (b, &sum);
}

/* Division and remainder by a constant */

/* @sum = c * @quotient + @rest, every term of @rest not divisible by @c and its constant in [0, c). */
static void
split (const Linear *sum, gint64 c, Linear *quotient, Linear *rest)
{
  *quotient = (Linear){ .n = 0 };
  *rest = (Linear){ .n = 0 };
  for (guint i = 0; i < sum->n; i++)
    if (sum->terms[i].factor % c == 0)
      quotient->terms[quotient->n++] = (Term){ sum->terms[i].atom, sum->terms[i].factor / c };
    else
      rest->terms[rest->n++] = sum->terms[i];
  rest->constant = sum->constant % c;
  quotient->constant = sum->constant / c;
  if (rest->constant < 0)
    {
      rest->constant += c;
      quotient->constant--;
    }
}

/* Parts @sum into g * (what stays in it) + @dropped, the latter in [0, g), for the greatest such g that divides @c, and
 * divides both by it. Then @sum / c loses just @dropped, and @sum % c is g * (sum / g % (c / g)) + dropped. */
static gint64
reduce_divisor (const GantryTexprBuilder *b, Linear *sum, gint64 *c, Linear *dropped)
{
  Linear best = *sum, best_rest = { .n = 0 };
  gint64 best_g = 1;

  for (guint i = 0; i < sum->n; i++)
    {
      gint64 g = gantry_greatest_divisor (sum->terms[i].factor, *c);
      Linear kept, rest;
      GantryIndexRange range;

      if (g <= best_g)
        continue;
      split (sum, g, &kept, &rest);
      range = range_of_linear (b, &rest);
      if (!gantry_index_range_is_known (range) || range.lo < 0 || range.hi >= g)
        continue;
      best = kept;
      best_rest = rest;
      best_g = g;
    }
  *sum = best;
  *dropped = best_rest;
  *c /= best_g;
  return best_g;
}

/* Takes @x, known not to be negative, apart for a division by @c. Returns: FALSE when nothing is known. */
static gboolean
prepare (GantryTexprBuilder *b, guint32 x, gint64 c, Linear *quotient, Linear *rest)
{
  Linear sum = { .n = 0 };
  GantryIndexRange range;

  if (!add_node (b, &sum, x, 1))
    return FALSE;
  range = range_of_linear (b, &sum);
  if (!gantry_index_range_is_known (range) || range.lo < 0 || sum.constant == G_MININT64)
    return FALSE;
  split (&sum, c, quotient, rest);
  range = range_of_linear (b, rest);
  return gantry_index_range_is_known (range) && range.lo >= 0;
}

/* A lone x / a or x % a by @c, with x not negative: one operation of another divisor. */
static gboolean
lone_atom (const GantryTexprBuilder *b, const Linear *sum, GantryOp op, GantryTx *atom, gint64 *divisor)
{
  if (sum->n != 1 || sum->terms[0].factor != 1 || sum->constant != 0)
    return FALSE;
  *atom = *_gantry_tx_node (b, sum->terms[0].atom);
  if (atom->kind != GANTRY_TX_BINARY || atom->op != op || !_gantry_tx_is_const (b, atom->b) || _gantry_tx_range (b, atom->a).lo < 0)
    return FALSE;
  *divisor = _gantry_tx_node (b, atom->b)->i;
  return *divisor > 0;
}

static guint32 remainder_by (GantryTexprBuilder *b, guint32 x, gint64 c);

/* @rest / @c, @rest not negative. */
static guint32
divide_rest (GantryTexprBuilder *b, Linear *rest, gint64 c)
{
  gint64 divisor, product;
  Linear dropped;
  GantryTx atom;

  if (range_of_linear (b, rest).hi < c)
    return gantry_tx_int (b, 0);
  reduce_divisor (b, rest, &c, &dropped);
  if (c == 1)
    return write_linear (b, rest);
  if (lone_atom (b, rest, GANTRY_OP_DIVIDE, &atom, &divisor) && !__builtin_mul_overflow (divisor, c, &product))
    return divide (b, atom.a, product);
  if (lone_atom (b, rest, GANTRY_OP_REMAINDER, &atom, &divisor) && divisor % c == 0)
    return remainder_by (b, divide (b, atom.a, c), divisor / c);
  return _gantry_tx_make_binary (b, GANTRY_OP_DIVIDE, GANTRY_I64, write_linear (b, rest), gantry_tx_int (b, c));
}

static guint32
divide (GantryTexprBuilder *b, guint32 x, gint64 c)
{
  Linear quotient, rest;

  if (c == 1)
    return x;
  if (_gantry_tx_is_const (b, x))
    return gantry_tx_int (b, _gantry_tx_node (b, x)->i / c);
  if (b->depth >= MAX_DEPTH || !prepare (b, x, c, &quotient, &rest))
    return _gantry_tx_make_binary (b, GANTRY_OP_DIVIDE, GANTRY_I64, x, gantry_tx_int (b, c));
  b->depth++;
  if (!add_node (b, &quotient, divide_rest (b, &rest, c), 1))
    x = _gantry_tx_make_binary (b, GANTRY_OP_DIVIDE, GANTRY_I64, x, gantry_tx_int (b, c));
  else
    x = write_linear (b, &quotient);
  b->depth--;
  return x;
}

/* @rest % @c, @rest not negative. */
static guint32
remainder_rest (GantryTexprBuilder *b, Linear *rest, gint64 c)
{
  gint64 divisor, g;
  Linear dropped, sum;
  GantryTx atom;
  guint32 x;

  if (range_of_linear (b, rest).hi < c)
    return write_linear (b, rest);
  g = reduce_divisor (b, rest, &c, &dropped);
  if (lone_atom (b, rest, GANTRY_OP_REMAINDER, &atom, &divisor) && divisor % c == 0)
    x = remainder_by (b, atom.a, c);
  else
    x = _gantry_tx_make_binary (b, GANTRY_OP_REMAINDER, GANTRY_I64, write_linear (b, rest), gantry_tx_int (b, c));
  sum = dropped;
  if (add_node (b, &sum, x, g))
    return write_linear (b, &sum);
  return _gantry_tx_make_binary (b, GANTRY_OP_ADD, GANTRY_I64, scaled (b, x, g), write_linear (b, &dropped));
}

static guint32
remainder_by (GantryTexprBuilder *b, guint32 x, gint64 c)
{
  Linear quotient, rest;

  if (c == 1)
    return gantry_tx_int (b, 0);
  if (_gantry_tx_is_const (b, x))
    return gantry_tx_int (b, _gantry_tx_node (b, x)->i % c);
  if (b->depth >= MAX_DEPTH || !prepare (b, x, c, &quotient, &rest))
    return _gantry_tx_make_binary (b, GANTRY_OP_REMAINDER, GANTRY_I64, x, gantry_tx_int (b, c));
  b->depth++;
  x = remainder_rest (b, &rest, c);
  b->depth--;
  return x;
}

/* Doors */

guint32
_gantry_tx_index_binary (GantryTexprBuilder *b, GantryOp op, guint32 x, guint32 y)
{
  GantryIndexRange rx = _gantry_tx_range (b, x), ry = _gantry_tx_range (b, y);
  const GantryTx *constant = _gantry_tx_is_const (b, y) ? _gantry_tx_node (b, y) : NULL;

  switch (op)
    {
    case GANTRY_OP_ADD: return add_scaled (b, x, y, 1, 1, op);
    case GANTRY_OP_SUBTRACT: return add_scaled (b, x, y, 1, -1, op);
    case GANTRY_OP_MULTIPLY:
      if (constant != NULL)
        return add_scaled (b, x, x, constant->i, 0, op);
      if (_gantry_tx_is_const (b, x))
        return add_scaled (b, y, y, _gantry_tx_node (b, x)->i, 0, op);
      break;
    case GANTRY_OP_DIVIDE:
      if (constant != NULL && constant->i > 0)
        return divide (b, x, constant->i);
      break;
    case GANTRY_OP_REMAINDER:
      if (constant != NULL && constant->i > 0)
        return remainder_by (b, x, constant->i);
      break;
    case GANTRY_OP_MAXIMUM:
    case GANTRY_OP_MINIMUM:
      if (x == y || (op == GANTRY_OP_MAXIMUM ? rx.lo >= ry.hi : rx.hi <= ry.lo))
        return x;
      if (op == GANTRY_OP_MAXIMUM ? ry.lo >= rx.hi : ry.hi <= rx.lo)
        return y;
      break;
    default: break;
    }
  return _gantry_tx_make_binary (b, op, GANTRY_I64, x, y);
}

int
_gantry_tx_index_compare (GantryTexprBuilder *b, GantryDirection direction, guint32 x, guint32 y)
{
  Linear sum = { .n = 0 };
  GantryIndexRange d = GANTRY_INDEX_ANY, rx = _gantry_tx_range (b, x), ry = _gantry_tx_range (b, y);

  if (x == y)
    d = (GantryIndexRange){ 0, 0 };
  else if (gantry_index_range_is_known (rx) && gantry_index_range_is_known (ry) && add_node (b, &sum, x, 1) && add_node (b, &sum, y, -1))
    d = range_of_linear (b, &sum);
  return gantry_index_range_compare (direction, d);
}
