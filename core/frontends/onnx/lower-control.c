/* SPDX-License-Identifier: Apache-2.0 */
/* If and Loop. A condition or trip count that is constant leaves no control flow: the branch
 * is written in place, the loop is unrolled. Otherwise they become the core `if` and `while`, whose
 * bodies are functions of everything they use that is not constant. */
#include "core/frontends/onnx/onnx-lower.h"

/* 1, 0, or -1 when it is computed at run time. */
static gint
known_truth (GantryLower *l, guint32 id)
{
  gsize n;
  gint64 *value = gantry_lower_known_ints (l, id, &n);

  return value != NULL && n == 1 ? value[0] != 0 : -1;
}

/* Begins a function with a parameter for each of @values; in @inside the parameters, or a copy of
 * what is constant. Constants are not passed: @passed gets what is, @n_passed how many. */
static guint32
begin_body (GantryLower *l, const char *name, const guint32 *values, guint n, guint32 *inside)
{
  guint32 function = gantry_builder_begin (l->b, name, 0);

  for (guint i = 0; i < n; i++)
    if (values[i] != 0 && gantry_lower_literal (l, values[i]) == NULL)
      inside[i] = gantry_builder_parameter (l->b, gantry_builder_type (l->b, values[i]), NULL);
  for (guint i = 0; i < n; i++)
    if (values[i] != 0 && inside[i] == 0)
      {
        GantryLiteral *literal = gantry_lower_literal (l, values[i]);

        inside[i] = literal != NULL ? gantry_builder_literal (l->b, literal) : 0;
      }
  return function;
}

static guint
drop_constants (GantryLower *l, const guint32 *values, guint n, guint32 *passed)
{
  guint n_passed = 0;

  for (guint i = 0; i < n; i++)
    if (values[i] != 0 && gantry_lower_literal (l, values[i]) == NULL)
      passed[n_passed++] = values[i];
  return n_passed;
}

/* One branch as a function of the captures that are not constant. @results gets its values. */
static guint32
write_branch (GantryLower *l, const char *key, const guint32 *captures, guint32 *results)
{
  guint32 *inside = gantry_arena_new0 (l->arena, guint32, l->n_captures + 1);
  guint32 source = gantry_lower_function (l, key);
  guint32 function;
  gboolean done;

  if (source == 0)
    return 0;
  function = begin_body (l, key, captures, l->n_captures, inside);
  done = gantry_lower_inline (l, source, inside, l->n_captures, results, l->n_out);
  gantry_builder_end (l->b, results, done ? l->n_out : 0);
  return function;
}

/* What fails in a branch that may never be taken does not make the model wrong: with a known condition it may be a
 * program. */
static void
fail_branch (GantryLower *l, guint32 condition)
{
  g_autofree char *inputs = gantry_lower_inputs_of (l, condition);
  g_autoptr (GError) error = NULL;

  if (!gantry_builder_check (l->b, &error))
    gantry_builder_fail (l->b, GANTRY_ERROR_UNSUPPORTED, "%s, in a branch whose condition is computed at run time%s", error->message, inputs);
}

static void
set_results (GantryLower *l, guint32 value, guint first, guint n)
{
  for (guint i = 0; i < n; i++)
    l->out[i] = first + n > 1 || first > 0 ? gantry_builder_result (l->b, value, first + i) : value;
}

/* ONNX lets the shapes of the branches differ, the core `if` does not. */
static gboolean
same_shapes (GantryLower *l, guint32 condition, const guint32 *then_results, const guint32 *else_results)
{
  for (guint i = 0; i < l->n_out; i++)
    {
      const GantryType *a = gantry_builder_get_type (l->b, then_results[i]);
      const GantryType *b = gantry_builder_get_type (l->b, else_results[i]);

      if (gantry_type_is_static (a) && gantry_type_is_static (b) && a->element == b->element && !gantry_type_same_shape (a, b))
        {
          g_autofree char *text = gantry_context_type_text (gantry_builder_context (l->b), gantry_builder_type (l->b, then_results[i]));
          g_autofree char *other = gantry_context_type_text (gantry_builder_context (l->b), gantry_builder_type (l->b, else_results[i]));

          g_autofree char *inputs = gantry_lower_inputs_of (l, condition);

          gantry_lower_fail (l, "output %u is %s in one branch and %s in the other, and the condition is not constant%s", i, text, other, inputs);
          return FALSE;
        }
    }
  return TRUE;
}

static void
if_ (GantryLower *l)
{
  const guint32 *captures = l->in + l->n_in;
  guint32 condition = gantry_lower_operand (l, 0);
  gint truth = known_truth (l, condition);
  guint32 *operands = gantry_arena_new0 (l->arena, guint32, l->n_captures + 2);
  guint32 *then_results = gantry_arena_new0 (l->arena, guint32, l->n_out + 1);
  guint32 *else_results = gantry_arena_new0 (l->arena, guint32, l->n_out + 1);
  GantryAttrList *attrs;
  guint32 then_body, else_body, value;
  guint n;

  if (truth >= 0)
    {
      guint32 branch = gantry_lower_function (l, truth ? "then_branch" : "else_branch");

      if (branch != 0)
        gantry_lower_inline (l, branch, captures, l->n_captures, l->out, l->n_out);
      return;
    }
  operands[0] = gantry_builder_reshape (l->b, condition, 0, NULL);
  n = 1 + drop_constants (l, captures, l->n_captures, operands + 1);
  then_body = write_branch (l, "then_branch", captures, then_results);
  else_body = l->failed ? 0 : write_branch (l, "else_branch", captures, else_results);
  if (l->failed)
    fail_branch (l, condition);
  if (l->failed || !same_shapes (l, condition, then_results, else_results))
    return;
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_function (attrs, "then", then_body);
  gantry_attr_list_set_function (attrs, "else", else_body);
  value = gantry_builder_add (l->b, GANTRY_OP_IF, operands, n, gantry_attr_list_end (attrs));
  if (value != 0)
    set_results (l, value, 0, l->n_out);
}

/* What a loop carries and collects: carried values, then for each scan output the values of all
 * trips. */
typedef struct
{
  guint32 body;
  guint n_carried, n_scans;
  guint32 *carried;
  guint32 **scans;
  gint64 n_trips;
} Loop;

/* One trip of Loop's body with everything given. Returns: the condition for the next */
static guint32
loop_trip (GantryLower *l, Loop *loop, guint32 iteration, guint32 condition, const guint32 *captures, guint32 *scans)
{
  guint n = loop->n_carried + 2 + l->n_captures;
  guint32 *arguments = gantry_arena_new0 (l->arena, guint32, n + 1);
  guint32 *results = gantry_arena_new0 (l->arena, guint32, 1 + l->n_out + 1);

  arguments[0] = iteration;
  arguments[1] = condition;
  memcpy (arguments + 2, loop->carried, sizeof *arguments * loop->n_carried);
  for (guint i = 0; i < l->n_captures; i++)
    arguments[2 + loop->n_carried + i] = captures[i];
  if (!gantry_lower_inline (l, loop->body, arguments, n, results, 1 + l->n_out))
    return 0;
  memcpy (loop->carried, results + 1, sizeof *results * loop->n_carried);
  memcpy (scans, results + 1 + loop->n_carried, sizeof *results * loop->n_scans);
  return results[0];
}

/* Writes the body for each trip until the condition is known to be false or @most trips are made. Returns: FALSE where it failed: the condition of
 * a further trip is not known, there are more than GANTRY_LOWER_MOST_TRIPS, or the body cannot be written */
static gboolean
unroll_loop (GantryLower *l, Loop *loop, gint64 most)
{
  guint32 condition = gantry_builder_int_scalar (l->b, GANTRY_BOOL, 1);
  guint32 *scans = gantry_arena_new0 (l->arena, guint32, loop->n_scans + 1);
  gint truth = 1;

  for (gint64 i = 0; i < most && truth == 1 && !l->failed; i++)
    {
      if (i == GANTRY_LOWER_MOST_TRIPS)
        {
          gantry_lower_fail (l, "more than %d trips are not unrolled", GANTRY_LOWER_MOST_TRIPS);
          return FALSE;
        }
      condition = loop_trip (l, loop, gantry_builder_int_scalar (l->b, GANTRY_I64, i), condition, l->in + l->n_in, scans);
      for (guint s = 0; s < loop->n_scans; s++)
        loop->scans[s][i] = scans[s];
      loop->n_trips = i + 1;
      truth = known_truth (l, condition);
    }
  if (!l->failed && truth < 0 && loop->n_trips < most)
    gantry_lower_needs_constant (l, condition, "condition");
  return !l->failed;
}

/* Whether the body's condition does not depend on what it computes: its result is its own parameter
 * or a constant. */
static gboolean
condition_is_static (GantryLower *l, guint32 body)
{
  const GantryFunction *f = gantry_module_function (l->source, body);
  const GantryNode *node = f != NULL ? gantry_module_node (l->source, gantry_function_result_id (l->source, f, 0)) : NULL;

  for (guint steps = 0; node != NULL && steps < 64; steps++)
    {
      const char *name = gantry_node_op_name (l->source, node);

      if (gantry_module_position (l->source, node) == f->first_node + 1 || node->op == GANTRY_OP_CONSTANT || strcmp (name, "onnx.Constant") == 0)
        return TRUE;
      if (strcmp (name, "onnx.Identity") != 0 && strcmp (name, "onnx.Cast") != 0)
        return FALSE;
      node = gantry_node_operand (l->source, node, 0);
    }
  return FALSE;
}

/* Buffers of the scan outputs, whose types the model must declare; filled with zeros. */
static gboolean
scan_buffers (GantryLower *l, const Loop *loop, guint32 *buffers)
{
  for (guint s = 0; s < loop->n_scans; s++)
    {
      const GantryType *declared = gantry_lower_declared (l, loop->n_carried + s);

      if (declared == NULL || declared->rank < 1 || !gantry_element_is_compiled ((GantryElementType) declared->element))
        {
          g_autofree char *inputs = gantry_lower_inputs_of (l, gantry_lower_operand (l, 0));

          gantry_lower_fail (l, "the number of trips is computed at run time and scan output %u declares no shape%s", s, inputs);
          return FALSE;
        }
      buffers[s] = gantry_builder_splat (l->b, (GantryElementType) declared->element, 0, declared->rank, declared->dims);
    }
  return TRUE;
}

/* @buffer with @value written at @iteration of its first dimension. */
static guint32
write_scan (GantryLower *l, guint32 buffer, guint32 value, guint32 iteration)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, buffer, dims);
  guint32 operands[GANTRY_MAX_RANK + 2];

  if (value == 0 || gantry_lower_rank (l, value) + 1 != rank)
    {
      gantry_lower_invalid (l, "a scan output does not fit its declared type");
      return 0;
    }
  dims[0] = 1;
  operands[0] = buffer;
  operands[1] = gantry_builder_reshape (l->b, value, rank, dims);
  operands[2] = iteration;
  for (guint i = 1; i < rank; i++)
    operands[2 + i] = gantry_builder_int_scalar (l->b, GANTRY_I64, 0);
  return gantry_builder_add (l->b, GANTRY_OP_DYNAMIC_UPDATE_SLICE, operands, 2 + rank, 0);
}

/* The state of the core loop: iteration, condition, trips, carried values, scan buffers, captures.
 * */
typedef struct
{
  guint n, first_scan, first_capture;
  guint32 *values;
} State;

static guint32
write_loop_condition (GantryLower *l, const State *state, gboolean bounded)
{
  guint32 *inside = gantry_arena_new0 (l->arena, guint32, state->n + 1);
  guint32 function = gantry_builder_begin (l->b, "cond", 0);
  guint32 more;

  for (guint i = 0; i < state->n; i++)
    inside[i] = gantry_builder_parameter (l->b, gantry_builder_type (l->b, state->values[i]), NULL);
  more = inside[1];
  if (bounded)
    more = gantry_builder_binary_broadcast (l->b, GANTRY_OP_AND, more, gantry_builder_compare (l->b, "LT", inside[0], inside[2]));
  gantry_builder_end (l->b, &more, 1);
  return function;
}

/* ONNX lets a trip give another type than it is given, as where it appends to what it carries; the core `while` does not, for the size
 * of such a value would be known only once its trips are. */
static void
check_carried (GantryLower *l, const Loop *loop, const State *state, const guint32 *next)
{
  const GantryFunction *body = gantry_module_function (l->source, loop->body);

  for (guint i = 0; i < loop->n_carried && !l->failed; i++)
    {
      const GantryNode *parameter = &l->source->nodes[body->first_node + 2 + i];
      const GantryType *before = gantry_lower_type (l, state->values[3 + i]), *after = gantry_lower_type (l, next[3 + i]);
      g_autofree char *label = NULL, *was = NULL, *is = NULL, *inputs = NULL;

      if (!gantry_type_is_tensor (before) || !gantry_type_is_tensor (after) || (before->element == after->element && gantry_type_same_shape (before, after)))
        continue;
      label = gantry_node_label (l->source, parameter);
      was = gantry_context_type_text (l->context, gantry_builder_type (l->b, state->values[3 + i]));
      is = gantry_context_type_text (l->context, gantry_builder_type (l->b, next[3 + i]));
      inputs = gantry_lower_inputs_of (l, gantry_lower_has (l, 1) ? l->in[1] : gantry_lower_operand (l, 0));
      gantry_lower_fail (l,
                         "carried value %u ('%s') is %s before a trip and %s after it, and the number of trips is computed at run time: "
                         "carry a value of its final size and write into it%s",
                         i, label, was, is, inputs);
    }
}

static guint32
write_loop_body (GantryLower *l, const Loop *loop, const State *state)
{
  guint32 *inside = gantry_arena_new0 (l->arena, guint32, state->n + 1);
  guint32 *captures = gantry_arena_new0 (l->arena, guint32, l->n_captures + 1);
  guint32 *scans = gantry_arena_new0 (l->arena, guint32, loop->n_scans + 1);
  guint32 function = gantry_builder_begin (l->b, "body", 0);
  Loop inner = *loop;
  guint next = state->first_capture;

  for (guint i = 0; i < state->n; i++)
    inside[i] = gantry_builder_parameter (l->b, gantry_builder_type (l->b, state->values[i]), NULL);
  for (guint i = 0; i < l->n_captures; i++)
    {
      GantryLiteral *literal = gantry_lower_literal (l, l->in[l->n_in + i]);

      if (l->in[l->n_in + i] != 0)
        captures[i] = literal != NULL ? gantry_builder_literal (l->b, literal) : inside[next++];
    }
  inner.carried = inside + 3;
  inside[1] = loop_trip (l, &inner, inside[0], inside[1], captures, scans);
  if (!l->failed)
    {
      inside[1] = gantry_builder_reshape (l->b, inside[1], 0, NULL);
      check_carried (l, loop, state, inside);
    }
  for (guint s = 0; s < loop->n_scans && !l->failed; s++)
    inside[state->first_scan + s] = write_scan (l, inside[state->first_scan + s], scans[s], inside[0]);
  inside[0] = gantry_builder_binary_broadcast (l->b, GANTRY_OP_ADD, inside[0], gantry_builder_int_scalar (l->b, GANTRY_I64, 1));
  gantry_builder_end (l->b, inside, l->failed ? 0 : state->n);
  return function;
}

/* A loop whose end is known only at run time: the core `while`. @most: trips, where that is known; else -1 */
static void
write_while (GantryLower *l, Loop *loop, gint64 most)
{
  State state = { .first_scan = 3 + loop->n_carried, .first_capture = 3 + loop->n_carried + loop->n_scans };
  gboolean bounded = gantry_lower_has (l, 0);
  guint32 *v = gantry_arena_new0 (l->arena, guint32, state.first_capture + l->n_captures + 1);
  guint32 cond, body, value;
  GantryAttrList *attrs;

  v[0] = gantry_builder_int_scalar (l->b, GANTRY_I64, 0);
  v[1] = gantry_lower_has (l, 1) ? gantry_builder_reshape (l->b, l->in[1], 0, NULL) : gantry_builder_int_scalar (l->b, GANTRY_BOOL, 1);
  v[2] = bounded ? gantry_builder_reshape (l->b, gantry_builder_convert (l->b, l->in[0], GANTRY_I64), 0, NULL) : v[0];
  memcpy (v + 3, loop->carried, sizeof *v * loop->n_carried);
  if (!scan_buffers (l, loop, v + state.first_scan))
    return;
  state.values = v;
  state.n = state.first_capture + drop_constants (l, l->in + l->n_in, l->n_captures, v + state.first_capture);
  cond = write_loop_condition (l, &state, bounded);
  body = write_loop_body (l, loop, &state);
  if (l->failed)
    return;
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_function (attrs, "cond", cond);
  gantry_attr_list_set_function (attrs, "body", body);
  if (loop->n_scans > 0) /* the file says how many rows they have, and so how many trips are made */
    gantry_attr_list_set_int (attrs, "exact_trips", gantry_lower_declared (l, loop->n_carried)->dims[0]);
  if (most >= 0) /* no trip is more: each is computed, and taken while the condition holds */
    gantry_attr_list_set_int (attrs, "most_trips", most);
  value = gantry_builder_add (l->b, GANTRY_OP_WHILE, state.values, state.n, gantry_attr_list_end (attrs));
  if (value != 0)
    set_results (l, value, 3, l->n_out);
}

/* No trip: what is carried stays, and of what is collected there is nothing. Its type is that of
 * a trip whose values nobody needs. */
static void
skip_loop (GantryLower *l, Loop *loop)
{
  guint32 *scans = gantry_arena_new0 (l->arena, guint32, loop->n_scans + 1);
  Loop unused = *loop;

  for (guint i = 0; i < loop->n_carried; i++)
    l->out[i] = loop->carried[i];
  if (loop->n_scans == 0)
    return;
  unused.carried = gantry_arena_new0 (l->arena, guint32, loop->n_carried + 1);
  memcpy (unused.carried, loop->carried, sizeof *unused.carried * loop->n_carried);
  loop_trip (l, &unused, gantry_builder_int_scalar (l->b, GANTRY_I64, 0), gantry_builder_int_scalar (l->b, GANTRY_BOOL, 1), l->in + l->n_in, scans);
  for (guint s = 0; s < loop->n_scans && !l->failed; s++)
    {
      const GantryType *type = gantry_lower_type (l, scans[s]);
      GantryDim dims[GANTRY_MAX_RANK + 1] = { 0 };

      if (type->rank >= GANTRY_MAX_RANK)
        {
          gantry_lower_invalid (l, "values of this rank cannot be stacked");
          return;
        }
      memcpy (dims + 1, type->dims, sizeof *dims * type->rank);
      l->out[loop->n_carried + s] = gantry_builder_splat (l->b, (GantryElementType) type->element, 0, type->rank + 1u, dims);
    }
}

static void
loop (GantryLower *l)
{
  guint n_carried = l->n_in > 2 ? l->n_in - 2 : 0;
  gint truth = gantry_lower_has (l, 1) ? known_truth (l, l->in[1]) : 1;
  gsize n = 0;
  gint64 *trips = gantry_lower_known_ints (l, gantry_lower_operand (l, 0), &n);
  gint64 most = gantry_lower_has (l, 0) ? (trips != NULL && n == 1 ? trips[0] : -1) : G_MAXINT64;
  Loop loop = { .body = gantry_lower_function (l, "body"), .n_carried = n_carried };

  if (l->failed || l->n_out < n_carried)
    {
      gantry_lower_invalid (l, "results and carried values do not fit");
      return;
    }
  loop.n_scans = l->n_out - n_carried;
  loop.carried = gantry_arena_new0 (l->arena, guint32, n_carried + 1);
  for (guint i = 0; i < n_carried; i++)
    loop.carried[i] = l->in[2 + i];
  for (guint i = 0; i < n_carried; i++)
    if (loop.carried[i] == 0)
      {
        gantry_lower_invalid (l, "a carried value is missing");
        return;
      }
  if (trips != NULL && (truth == 0 || most <= 0))
    {
      skip_loop (l, &loop);
      return;
    }
  if (truth < 0 || (most < 0 && trips == NULL) || !condition_is_static (l, loop.body))
    {
      write_while (l, &loop, trips != NULL ? most : -1);
      return;
    }
  loop.scans = gantry_arena_new0 (l->arena, guint32 *, loop.n_scans + 1);
  for (guint s = 0; s < loop.n_scans; s++)
    loop.scans[s] = gantry_arena_new0 (l->arena, guint32, GANTRY_LOWER_MOST_TRIPS + 1);
  if (!unroll_loop (l, &loop, truth ? MAX (most, 0) : 0))
    return;
  for (guint i = 0; i < n_carried; i++)
    l->out[i] = loop.carried[i];
  for (guint s = 0; s < loop.n_scans && !l->failed; s++)
    l->out[n_carried + s] = gantry_lower_stack (l, loop.scans[s], loop.n_trips, 0);
}

/* clang-format off */
const GantryLowerRule gantry_lower_control_rules[] = {
  { "If", if_, GANTRY_CLASS_CONTROL, 0, 0, NULL },
  { "Loop", loop, GANTRY_CLASS_CONTROL, 0, 0, NULL },
  { NULL },
};
/* clang-format on */
