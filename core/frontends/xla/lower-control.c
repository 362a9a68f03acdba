/* SPDX-License-Identifier: Apache-2.0 */
/* if, case and while. A branch whose condition is constant is written in place. Otherwise they become the core `if` and
 * `while`, whose bodies are functions of everything that they use and that is not constant. */
#include "core/frontends/xla/lower-private.h"

#define MOST_BRANCHES 4096

/* Begins a function of @values; what is constant is copied into it instead. @passed gets what is passed. */
static guint32
begin_body (XlaLower *l, const char *name, const guint32 *values, guint n, guint32 *inside, guint32 *passed, guint *n_passed)
{
  guint32 function = gantry_builder_begin (l->b, name, 0);

  *n_passed = 0;
  for (guint i = 0; i < n; i++)
    if (values[i] != 0 && gantry_builder_constant_of (l->b, values[i]) == NULL)
      {
        passed[(*n_passed)++] = values[i];
        inside[i] = gantry_builder_parameter (l->b, gantry_builder_type (l->b, values[i]), NULL);
      }
  for (guint i = 0; i < n; i++)
    {
      GantryLiteral *literal = values[i] != 0 ? gantry_builder_constant_of (l->b, values[i]) : NULL;
      const GantryType *type;

      if (literal == NULL) /* a parameter, which is 0 where the builder has failed before */
        continue;
      type = gantry_xla_type (l, values[i]);
      inside[i] = gantry_builder_literal (l->b, literal);
      if (gantry_xla_type (l, inside[i])->rank == 0 && type->rank > 0)
        inside[i] = gantry_builder_broadcast (l->b, inside[i], type->rank, type->dims, NULL);
    }
  return function;
}

static void
set_results (XlaLower *l, guint32 value)
{
  for (guint i = 0; i < l->n_out; i++)
    l->out[i] = value == 0 ? 0 : l->n_out > 1 ? gantry_builder_result (l->b, value, i) : value;
}

static guint32
write_branch (XlaLower *l, guint region, guint32 *operands, guint *n)
{
  guint32 source = gantry_xla_region (l, region), function;
  guint32 *inside = XLA_NEW (l, guint32, l->n_captures), *results = XLA_NEW (l, guint32, l->n_out);
  gboolean done;

  if (source == 0)
    return 0;
  function = begin_body (l, "branch", l->in + l->n_in, l->n_captures, inside, operands, n);
  done = gantry_xla_inline (l, source, inside, l->n_captures, results, l->n_out, FALSE);
  gantry_builder_end (l->b, results, done ? l->n_out : 0);
  return done ? function : 0;
}

static guint32
core_if (XlaLower *l, guint32 predicate, guint32 then_body, guint32 else_body, const guint32 *passed, guint n)
{
  guint32 *operands = XLA_NEW (l, guint32, n + 1);
  GantryAttrList *attrs;

  if (l->failed || then_body == 0 || else_body == 0)
    return 0;
  operands[0] = predicate;
  memcpy (operands + 1, passed, sizeof *passed * n);
  attrs = gantry_xla_attrs (l);
  gantry_attr_list_set_function (attrs, "then", then_body);
  gantry_attr_list_set_function (attrs, "else", else_body);
  return gantry_builder_add (l->b, GANTRY_OP_IF, operands, n + 1, gantry_attr_list_end (attrs));
}

static void
in_place (XlaLower *l, guint region)
{
  guint32 source = gantry_xla_region (l, region);

  if (source != 0)
    gantry_xla_inline (l, source, l->in + l->n_in, l->n_captures, l->out, l->n_out, FALSE);
}

static void
if_ (XlaLower *l)
{
  guint32 *passed = XLA_NEW (l, guint32, l->n_captures), then_body, else_body;
  gsize n_known;
  gint64 *known = gantry_xla_known_ints (l, gantry_xla_in (l, 0), &n_known);
  guint n;

  if (known != NULL && n_known == 1)
    {
      in_place (l, known[0] != 0 ? 0 : 1);
      return;
    }
  then_body = write_branch (l, 0, passed, &n);
  else_body = l->failed ? 0 : write_branch (l, 1, passed, &n);
  set_results (l, core_if (l, gantry_builder_reshape (l->b, gantry_xla_in (l, 0), 0, NULL), then_body, else_body, passed, n));
}

/* Branches whose results are all computed, taken by index; the last one for every index outside. */
static void
case_ (XlaLower *l)
{
  guint32 index = gantry_builder_reshape (l->b, gantry_xla_in (l, 0), 0, NULL);
  guint32 *passed = XLA_NEW (l, guint32, l->n_captures), *chosen = XLA_NEW (l, guint32, l->n_out);
  guint n_regions = 0, n;
  gsize n_known;
  gint64 *known = gantry_xla_known_ints (l, index, &n_known);

  for (;; n_regions++)
    {
      g_autofree char *key = g_strdup_printf ("region_%u", n_regions);

      if (gantry_attrs_find (l->context, l->node->attrs, key) == NULL)
        break;
      if (n_regions == MOST_BRANCHES)
        {
          gantry_xla_refuse (l, "more than %d branches", MOST_BRANCHES);
          return;
        }
    }
  if (n_regions == 0 || known != NULL)
    {
      in_place (l, known == NULL || known[0] < 0 || known[0] >= n_regions ? MAX (n_regions, 1) - 1 : (guint) known[0]);
      return;
    }
  for (guint i = n_regions; i-- > 0 && !l->failed;)
    {
      guint32 *results = XLA_NEW (l, guint32, l->n_out), *out = l->out, value;
      guint32 same = write_branch (l, i, passed, &n);
      guint32 is = gantry_xla_compare (l, "EQ", index, gantry_builder_int_scalar (l->b, gantry_xla_element (l, index), i));

      /* The same branch on both sides computes it once each way: only the choice between branches is by data. */
      value = core_if (l, is, same, same, passed, n);
      l->out = results;
      set_results (l, value);
      l->out = out;
      for (guint r = 0; r < l->n_out && !l->failed; r++)
        chosen[r] = i + 1 == n_regions ? results[r] : gantry_xla_select (l, is, results[r], chosen[r]);
    }
  memcpy (l->out, chosen, sizeof *chosen * l->n_out);
}

static guint32
loop_function (XlaLower *l, guint region, guint32 *operands, guint *n_operands, gboolean condition)
{
  guint32 source = gantry_xla_region (l, region), function;
  guint n = l->n_in + l->n_captures, n_passed;
  guint32 *inside = XLA_NEW (l, guint32, n), *results = XLA_NEW (l, guint32, n);
  gboolean done;

  if (source == 0)
    return 0;
  function = gantry_builder_begin (l->b, condition ? "cond" : "body", 0);
  for (guint i = 0; i < l->n_in; i++)
    inside[i] = gantry_builder_parameter (l->b, gantry_builder_type (l->b, l->in[i]), NULL);
  n_passed = l->n_in;
  memcpy (operands, l->in, sizeof *operands * l->n_in);
  for (guint i = l->n_in; i < n; i++)
    if (gantry_builder_constant_of (l->b, l->in[i]) == NULL)
      {
        inside[i] = gantry_builder_parameter (l->b, gantry_builder_type (l->b, l->in[i]), NULL);
        operands[n_passed++] = l->in[i];
      }
  *n_operands = n_passed;
  n_passed = l->n_in;
  for (guint i = l->n_in; i < n; i++)
    if (inside[i] == 0)
      {
        const GantryType *type = gantry_xla_type (l, l->in[i]);

        inside[i] = gantry_builder_literal (l->b, gantry_builder_constant_of (l->b, l->in[i]));
        if (gantry_xla_type (l, inside[i])->rank == 0 && type->rank > 0)
          inside[i] = gantry_builder_broadcast (l->b, inside[i], type->rank, type->dims, NULL);
      }
    else
      results[n_passed++] = inside[i];
  done = gantry_xla_inline (l, source, inside, n, results, condition ? 1 : l->n_in, FALSE);
  gantry_builder_end (l->b, results, !done ? 0 : condition ? 1 : *n_operands);
  return done ? function : 0;
}

static void
while_ (XlaLower *l)
{
  guint32 *operands = XLA_NEW (l, guint32, l->n_in + l->n_captures), cond, body, value;
  GantryAttrList *attrs;
  guint n;

  cond = loop_function (l, 0, operands, &n, TRUE);
  body = l->failed ? 0 : loop_function (l, 1, operands, &n, FALSE);
  if (l->failed || body == 0)
    return;
  attrs = gantry_xla_attrs (l);
  gantry_attr_list_set_function (attrs, "cond", cond);
  gantry_attr_list_set_function (attrs, "body", body);
  value = gantry_builder_add (l->b, GANTRY_OP_WHILE, operands, n, gantry_attr_list_end (attrs));
  for (guint i = 0; i < l->n_out && value != 0; i++)
    l->out[i] = n > 1 ? gantry_builder_result (l->b, value, i) : value;
}

/* HLO: each branch has operands of its own, which stand behind the index one after the other. */
static guint32
own_branch (XlaLower *l, guint region, guint first, guint n_own, guint32 *passed, guint *n)
{
  guint32 source = gantry_xla_region (l, region), function;
  guint32 *inside = XLA_NEW (l, guint32, l->n_in), *results = XLA_NEW (l, guint32, l->n_out);
  gboolean done;

  if (source == 0)
    return 0;
  function = begin_body (l, "branch", l->in + 1, l->n_in - 1, inside, passed, n);
  done = gantry_xla_inline (l, source, inside + first - 1, n_own, results, l->n_out, FALSE);
  gantry_builder_end (l->b, results, done ? l->n_out : 0);
  return done ? function : 0;
}

static void
conditional (XlaLower *l)
{
  gsize n_operands, n_known;
  const gint64 *leaves = gantry_xla_ints (l, "operand_leaves", &n_operands);
  guint32 index = gantry_builder_reshape (l->b, gantry_xla_in (l, 0), 0, NULL);
  gint64 *known = gantry_xla_known_ints (l, index, &n_known);
  gboolean two = gantry_xla_element (l, index) == GANTRY_BOOL;
  guint32 *passed = XLA_NEW (l, guint32, l->n_in), *chosen = XLA_NEW (l, guint32, l->n_out);
  guint first = l->n_in, n;

  if (n_operands < 2 || leaves[0] != 1)
    {
      gantry_xla_refuse (l, "a condition without branches");
      return;
    }
  for (guint i = (guint) n_operands - 1; i-- > 0 && !l->failed;)
    {
      guint32 *out = l->out, *results = XLA_NEW (l, guint32, l->n_out), same, is;

      first -= (guint) leaves[i + 1];
      /* The first branch of two is that of a true predicate. */
      if (known != NULL && (two ? (known[0] != 0) == (i == 0) : CLAMP (known[0], 0, (gint64) n_operands - 2) == i))
        {
          guint32 source = gantry_xla_region (l, i);

          if (source != 0)
            gantry_xla_inline (l, source, l->in + first, (guint) leaves[i + 1], l->out, l->n_out, FALSE);
          return;
        }
      if (known != NULL)
        continue;
      same = own_branch (l, i, first, (guint) leaves[i + 1], passed, &n);
      is = two ? index : gantry_xla_compare (l, "EQ", index, gantry_builder_int_scalar (l->b, gantry_xla_element (l, index), i));
      l->out = results;
      set_results (l, core_if (l, is, same, same, passed, n));
      l->out = out;
      for (guint r = 0; r < l->n_out && !l->failed; r++)
        chosen[r] = i + 2 == n_operands ? results[r] : gantry_xla_select (l, is, results[r], chosen[r]);
    }
  memcpy (l->out, chosen, sizeof *chosen * l->n_out);
}

/* How many operands are walked along: each of them loses a dimension on its way into the body, what is carried does not. */
static guint
count_walked (XlaLower *l, guint32 body)
{
  const GantryFunction *f = gantry_module_function (l->source, body);
  guint n = 0;

  while (f != NULL && f->n_params == l->n_in + l->n_captures && n < l->n_in
         && gantry_node_type (l->source, &l->source->nodes[f->first_node + n])->rank < gantry_xla_type (l, l->in[n])->rank)
    n++;
  return n;
}

static guint32
slice_without (XlaLower *l, guint32 x, guint dimension)
{
  const GantryType *type = gantry_xla_type (l, x);
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i + 1 < type->rank; i++)
    dims[i] = type->dims[i < dimension ? i : i + 1];
  return gantry_context_tensor (l->context, (GantryElementType) type->element, type->rank - 1, dims);
}

/* chlo.scan: a body of (slices..., carries...) that gives (slices..., carries...), as the operation does. */
static void
scan_ (XlaLower *l)
{
  guint32 source = gantry_xla_region (l, 0), *inside, *results, *operands, value;
  guint n_xs = source != 0 ? count_walked (l, source) : 0, n_carries = l->n_in - n_xs, n_all = l->n_in + l->n_captures;
  gint64 dimension = gantry_xla_int (l, "dimension", 0), *axes = XLA_NEW (l, gint64, n_all + l->n_out);
  GantryScan scan = { .n_carries = n_carries, .n_xs = n_xs, .n_captures = l->n_captures, .axes = axes, .y_axes = axes };

  for (guint i = 0; i < n_xs; i++)
    if (dimension < 0 || dimension >= gantry_xla_type (l, l->in[i])->rank)
      n_xs = 0;
  if (l->failed || n_xs == 0 || n_carries > l->n_out)
    {
      gantry_xla_refuse (l, "%u operands along dimension %" G_GINT64_FORMAT " and %u results", l->n_in, dimension, l->n_out);
      return;
    }
  for (guint i = 0; i < n_all + l->n_out; i++)
    axes[i] = dimension;
  scan.n_ys = l->n_out - n_carries;
  scan.length = gantry_xla_type (l, l->in[0])->dims[dimension];
  scan.reverse = gantry_xla_int (l, "is_reverse", 0) != 0;
  inside = XLA_NEW (l, guint32, n_all);
  results = XLA_NEW (l, guint32, l->n_out + n_carries);
  operands = XLA_NEW (l, guint32, n_all);
  scan.body = gantry_builder_begin (l->b, "body", 0);
  for (guint i = 0; i < n_carries; i++)
    inside[n_xs + i] = gantry_builder_parameter (l->b, gantry_builder_type (l->b, l->in[n_xs + i]), NULL);
  for (guint i = 0; i < n_xs; i++)
    inside[i] = gantry_builder_parameter (l->b, slice_without (l, l->in[i], (guint) dimension), NULL);
  for (guint i = l->n_in; i < n_all; i++)
    inside[i] = gantry_builder_parameter (l->b, gantry_builder_type (l->b, l->in[i]), NULL);
  /* Of the body the slices come first, of the core operation what is carried. */
  if (!gantry_xla_inline (l, source, inside, n_all, results + n_carries, l->n_out, FALSE))
    {
      gantry_builder_end (l->b, NULL, 0);
      return;
    }
  memcpy (results, results + n_carries + scan.n_ys, sizeof *results * n_carries);
  gantry_builder_end (l->b, results, l->n_out);
  memcpy (operands, l->in + n_xs, sizeof *operands * n_carries);
  memcpy (operands + n_carries, l->in, sizeof *operands * n_xs);
  memcpy (operands + l->n_in, l->in + l->n_in, sizeof *operands * l->n_captures);
  value = gantry_builder_scan (l->b, &scan, operands);
  for (guint i = 0; i < l->n_out && value != 0; i++)
    l->out[i] = l->n_out > 1 ? gantry_builder_result (l->b, value, i < scan.n_ys ? n_carries + i : i - scan.n_ys) : value;
}

const XlaRule gantry_xla_control_rules[] = {
  { "if", if_, GANTRY_CLASS_CONTROL, XLA_TAKES (1, 0), 0 },
  { "case", case_, GANTRY_CLASS_CONTROL, XLA_TAKES (1, 0), 0 },
  { "conditional", conditional, GANTRY_CLASS_CONTROL, XLA_TAKES (1, 0) | XLA_OR_MORE, 0 },
  { "while", while_, GANTRY_CLASS_CONTROL, 0, 0 },
  { "scan", scan_, GANTRY_CLASS_CONTROL, XLA_TAKES (2, 0) | XLA_OR_MORE, 0 },
  { NULL, NULL, 0, 0, 0 },
};
