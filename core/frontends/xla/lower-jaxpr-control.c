/* SPDX-License-Identifier: Apache-2.0 */
/* scan and while of JAX. Their operands are constants of the bodies, what is carried and, of a scan, what is walked along; of the
 * core operations the constants stand last. */
#include "core/frontends/xla/lower-jaxpr-private.h"

static guint32
body_of (XlaLower *l, const char *key)
{
  const GantryAttr *attr = gantry_attrs_find (l->context, l->node->attrs, key);

  if (attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION)
    return attr->id;
  gantry_xla_refuse (l, "its %s is missing", key);
  return 0;
}

/* A type without its first dimension. */
static guint32
slice_type (XlaLower *l, guint32 x)
{
  const GantryType *type = gantry_xla_type (l, x);

  if (type->rank == 0)
    {
      gantry_xla_refuse (l, "a scan along a scalar");
      return 0;
    }
  return gantry_context_tensor (l->context, (GantryElementType) type->element, type->rank - 1, type->dims + 1);
}

/* The body with its constants behind everything else. @rest: operands but the constants, of which the first @n_carry are
 * carried. Returns: its id */
static guint32
scan_body (XlaLower *l, guint32 source, guint n_consts, guint n_carry, guint n_ys)
{
  guint n = l->n_in;
  guint32 *inside = XLA_NEW (l, guint32, n), *results = XLA_NEW (l, guint32, n_carry + n_ys);
  guint32 function = gantry_builder_begin (l->b, "body", 0);
  gboolean done;

  for (guint i = n_consts; i < n && !l->failed; i++)
    inside[i] = gantry_builder_parameter (l->b, i < n_consts + n_carry ? gantry_builder_type (l->b, l->in[i]) : slice_type (l, l->in[i]), NULL);
  for (guint i = 0; i < n_consts; i++)
    inside[i] = gantry_builder_parameter (l->b, gantry_builder_type (l->b, l->in[i]), NULL);
  done = !l->failed && gantry_xla_inline (l, source, inside, n, results, n_carry + n_ys, FALSE);
  gantry_builder_end (l->b, results, done ? n_carry + n_ys : 0);
  return done ? function : 0;
}

void
gantry_jaxpr_scan (XlaLower *l)
{
  gint64 n_consts = gantry_xla_int (l, "num_consts", 0), n_carry = gantry_xla_int (l, "num_carry", 0);
  guint32 source = body_of (l, "jaxpr"), *operands = XLA_NEW (l, guint32, l->n_in), value;
  gint64 *axes = XLA_NEW (l, gint64, l->n_in + l->n_out);
  GantryScan scan = { .length = gantry_xla_int (l, "length", -1), .reverse = gantry_xla_int (l, "reverse", 0) != 0 };

  if (l->failed || n_consts < 0 || n_carry < 0 || n_consts > l->n_in || n_carry > l->n_in - n_consts || n_carry > l->n_out || scan.length < 0)
    {
      gantry_xla_refuse (l, "%" G_GINT64_FORMAT " constants and %" G_GINT64_FORMAT " carries of %u operands", n_consts, n_carry, l->n_in);
      return;
    }
  scan.n_carries = (guint) n_carry;
  scan.n_captures = (guint) n_consts;
  scan.n_xs = l->n_in - scan.n_carries - scan.n_captures;
  scan.n_ys = l->n_out - scan.n_carries;
  memset (axes, 0, sizeof *axes * (l->n_in + l->n_out));
  scan.axes = scan.y_axes = axes;
  scan.body = scan_body (l, source, scan.n_captures, scan.n_carries, scan.n_ys);
  if (scan.body == 0)
    return;
  memcpy (operands, l->in + n_consts, sizeof *operands * (l->n_in - (guint) n_consts));
  memcpy (operands + l->n_in - n_consts, l->in, sizeof *operands * (guint) n_consts);
  value = gantry_builder_scan (l->b, &scan, operands);
  for (guint i = 0; i < l->n_out && value != 0; i++)
    l->out[i] = l->n_out > 1 ? gantry_builder_result (l->b, value, i) : value;
}

typedef struct
{
  guint cond, body, carry; /* how many constants of each, and how many are carried */
  gboolean batched;        /* the condition has a bool for each example */
} Counts;

/* What the source of cond or body gives of @inside: what is carried, then all constants. Constants that are known are written in it,
 * so that a count can be found. */
static gboolean
inline_part (XlaLower *l, const char *key, const Counts *n, gboolean condition, const guint32 *inside, guint32 *results)
{
  guint32 source = body_of (l, key), *arguments = XLA_NEW (l, guint32, l->n_in);
  guint own = condition ? n->cond : n->body, first = condition ? 0 : n->cond;

  if (source == 0)
    return FALSE;
  for (guint i = 0; i < own; i++)
    {
      guint32 known = l->in[first + i];
      GantryLiteral *literal = gantry_builder_constant_of (l->b, known);

      arguments[i] = literal != NULL && gantry_xla_type (l, known)->rank == 0 ? gantry_builder_literal (l->b, literal) : inside[n->carry + first + i];
    }
  memcpy (arguments + own, inside, sizeof *inside * n->carry);
  return gantry_xla_inline (l, source, arguments, own + n->carry, results, condition ? 1 : n->carry, FALSE);
}

/* The bool of each example of a batch, which stands first, for all that @like has of that example. */
static guint32
bool_of_example (XlaLower *l, guint32 goes, guint32 like)
{
  const GantryType *type = gantry_xla_type (l, goes), *wide = gantry_xla_type (l, like);
  gint64 dims[GANTRY_MAX_RANK];

  if (wide->rank < type->rank)
    {
      gantry_xla_refuse (l, "what is carried is of fewer batches than its condition");
      return 0;
    }
  for (guint i = 0; i < type->rank; i++)
    dims[i] = i;
  return gantry_builder_broadcast (l->b, goes, wide->rank, wide->dims, dims);
}

/* A batch of loops goes on while one example does; those that have ended keep what they have. */
static void
keep_ended (XlaLower *l, const Counts *n, const guint32 *inside, guint32 *results)
{
  guint32 goes;

  if (!n->batched || !inline_part (l, "cond_jaxpr", n, TRUE, inside, &goes))
    return;
  for (guint i = 0; i < n->carry && !l->failed; i++)
    results[i] = gantry_xla_select (l, bool_of_example (l, goes, results[i]), results[i], inside[i]);
}

/* A function of what is carried and of all constants, which it gives on; a condition gives its bool. */
static guint32
loop_function (XlaLower *l, const char *key, Counts *n, gboolean condition)
{
  guint32 function = gantry_builder_begin (l->b, condition ? "cond" : "body", 0);
  guint consts = n->cond + n->body, n_results = condition ? 1 : l->n_in;
  guint32 *inside = XLA_NEW (l, guint32, l->n_in), *results = XLA_NEW (l, guint32, l->n_in);
  gboolean done;

  for (guint i = 0; i < l->n_in; i++)
    inside[i] = gantry_builder_parameter (l->b, gantry_builder_type (l->b, l->in[(i + consts) % l->n_in]), NULL);
  done = inline_part (l, key, n, condition, inside, results);
  if (done && condition)
    {
      gint64 axes[GANTRY_MAX_RANK];
      guint rank = gantry_xla_type (l, results[0])->rank;

      for (guint i = 0; i < rank; i++)
        axes[i] = i;
      n->batched = rank > 0;
      results[0] = rank > 0 ? gantry_builder_reduce (l->b, "or", results[0], axes, rank) : results[0];
    }
  else if (done)
    {
      keep_ended (l, n, inside, results);
      memcpy (results + n->carry, inside + n->carry, sizeof *inside * consts);
    }
  done = done && !l->failed;
  gantry_builder_end (l->b, results, done ? n_results : 0);
  return done ? function : 0;
}

void
gantry_jaxpr_while (XlaLower *l)
{
  gint64 cond = gantry_xla_int (l, "cond_nconsts", 0), body = gantry_xla_int (l, "body_nconsts", 0);
  guint32 *operands = XLA_NEW (l, guint32, l->n_in), value, functions[2];
  GantryAttrList *attrs;
  Counts n;

  if (cond < 0 || body < 0 || cond > l->n_in || body > l->n_in - cond || l->n_in - cond - body != l->n_out || l->n_out == 0)
    {
      gantry_xla_refuse (l, "%" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " constants of %u operands", cond, body, l->n_in);
      return;
    }
  n = (Counts){ (guint) cond, (guint) body, l->n_out, FALSE };
  functions[0] = loop_function (l, "cond_jaxpr", &n, TRUE);
  functions[1] = functions[0] != 0 ? loop_function (l, "body_jaxpr", &n, FALSE) : 0;
  if (functions[1] == 0)
    return;
  for (guint i = 0; i < l->n_in; i++)
    operands[i] = l->in[(i + n.cond + n.body) % l->n_in];
  attrs = gantry_xla_attrs (l);
  gantry_attr_list_set_function (attrs, "cond", functions[0]);
  gantry_attr_list_set_function (attrs, "body", functions[1]);
  value = gantry_builder_add (l->b, GANTRY_OP_WHILE, operands, l->n_in, gantry_attr_list_end (attrs));
  for (guint i = 0; i < l->n_out && value != 0; i++)
    l->out[i] = l->n_in > 1 ? gantry_builder_result (l->b, value, i) : value;
}
