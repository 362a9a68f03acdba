/* SPDX-License-Identifier: Apache-2.0 */
/* Loops, trip by trip. The scalars of the condition are computed as they are copied, so a loop that counts to a constant
 * ends by itself. Where the condition depends on data, `most_trips` bounds the loop: each trip is computed and
 * taken where the loop still runs, else the state stays as it is. */
#include "core/ir/operation.h"
#include "core/passes/unroll-private.h"
#include <string.h>

/* A loop that counts without end gives no nodes that the limit on nodes would see soon. */
#define MOST_TRIPS 200000

typedef struct
{
  GantryExpander *e;
  const GantryNode *node;
  const GantryExpandFrame *frame;
  const GantryFunction *cond, *body;
  guint n;
  GantryExpandValue *state;
  GantryExpandValue *next;
  guint32 running; /* bool[]: whether the trip is taken */
} Loop;

static gboolean
ask_condition (Loop *loop, GantryExpandFrame *place, guint32 *more, GError **error)
{
  GantryExpandValue value;

  if (loop->cond->n_results != 1)
    return _gantry_unroll_refuse (loop->e, loop->node, error, GANTRY_ERROR_INVALID,
                                  "its condition gives no single value");
  if (!_gantry_expand_body (loop->e, loop->cond, loop->state, place, &value, error))
    return FALSE;
  *more = _gantry_expand_id (loop->e, value);
  return TRUE;
}

static gboolean
run_body (Loop *loop, GantryExpandFrame *place, GError **error)
{
  GantryExpandValue *results = loop->next;

  if (loop->body->n_results != loop->n)
    return _gantry_unroll_refuse (loop->e, loop->node, error, GANTRY_ERROR_UNSUPPORTED,
                                  "its body returns a tuple as one value");
  if (!_gantry_expand_body (loop->e, loop->body, loop->state, place, results, error))
    return FALSE;
  for (guint i = 0; i < loop->n; i++)
    if (_gantry_unroll_truth (loop->e, loop->running) == 1)
      loop->state[i] = results[i];
    else
      {
        _gantry_expand_set_place (loop->e, place);
        loop->state[i] = _gantry_unroll_select (loop->e, loop->running, results[i], loop->state[i]);
      }
  return TRUE;
}

/* The question whether there is a trip after those taken so far. */
static gboolean
ask (Loop *loop, GantryExpandFrame *place, GError **error)
{
  GantryExpander *e = loop->e;
  guint32 more = 0;

  if (!ask_condition (loop, place, &more, error))
    return FALSE;
  if (loop->running == 0 || _gantry_unroll_truth (e, loop->running) == 1
      || _gantry_unroll_truth (e, more) == 0)
    loop->running = more;
  else if (_gantry_unroll_truth (e, more) < 0)
    {
      _gantry_expand_set_place (e, place);
      loop->running = gantry_builder_binary (e->b, GANTRY_OP_AND, loop->running, more);
    }
  return gantry_builder_check (e->b, error);
}

/* Trip @i, in which the condition is asked before the first trip, and after each but the last one of a bound. */
static gboolean
trip (Loop *loop, gint64 i, gboolean last, GError **error)
{
  g_autofree char *part = g_strdup_printf ("iteration.%" G_GINT64_FORMAT, i);
  GantryExpandFrame place;
  gboolean good;

  _gantry_expand_frame_init (&place, loop->frame, loop->node, part);
  good = run_body (loop, &place, error) && (last || ask (loop, &place, error));
  _gantry_expand_frame_clear (&place);
  return good;
}

static gboolean
ask_first (Loop *loop, GError **error)
{
  GantryExpandFrame place;
  gboolean good;

  _gantry_expand_frame_init (&place, loop->frame, loop->node, NULL);
  good = ask (loop, &place, error);
  _gantry_expand_frame_clear (&place);
  return good;
}

/* Why no further trip can be written, NULL when one can. */
static const char *
obstacle (const Loop *loop, gint truth, gboolean bounded)
{
  if (truth < 0 && !bounded)
    return "how often it runs depends on data; a bound in its attribute most_trips lets it be written out";
  if (truth < 0 && (_gantry_effects_of (loop->e->effects, loop->node) & GANTRY_OP_EFFECT) != 0)
    return "how often it runs depends on data and it has an effect, so that trips cannot be computed in vain";
  return NULL;
}

/* Whether each trip returns what it got for parameter @k. */
static gboolean
stays (const Loop *loop, guint k)
{
  const GantryModule *source = loop->e->source;

  return k < loop->body->n_results && k < loop->body->n_params
         && gantry_function_result_id (source, loop->body, k) == source->nodes[loop->body->first_node + k].id;
}

/* Whether the condition reads nothing that a trip changes, so that its first answer is that of all trips. */
static gboolean
condition_is_fixed (const Loop *loop)
{
  const GantryModule *source = loop->e->source;
  const GantryFunction *cond = loop->cond;
  g_autofree guint8 *changes = g_new0 (guint8, (gsize) cond->n_nodes + 1);

  for (guint32 i = 0; i < cond->n_nodes; i++)
    {
      const GantryNode *node = &source->nodes[cond->first_node + i];

      changes[i] = i < cond->n_params ? !stays (loop, i) : (gantry_op_info (node->op)->flags & GANTRY_OP_EFFECT) != 0;
      for (guint k = 0; k < node->n_operands && changes[i] == 0; k++)
        {
          const GantryNode *operand = gantry_node_operand (source, node, k);

          changes[i] = operand != NULL && changes[gantry_module_position (source, operand) - cond->first_node] != 0;
        }
    }
  for (guint i = 0; i < cond->n_results; i++)
    {
      const GantryNode *result = gantry_module_node (source, gantry_function_result_id (source, cond, i));

      if (changes[gantry_module_position (source, result) - cond->first_node] != 0)
        return FALSE;
    }
  return TRUE;
}

static gboolean
run_trips (Loop *loop, GError **error)
{
  GantryExpander *e = loop->e;
  gint64 most = gantry_attrs_int (e->source->context, loop->node->attrs, "most_trips", -1);

  if (most != 0 && !ask_first (loop, error))
    return FALSE;
  if (most < 0 && _gantry_unroll_truth (e, loop->running) == 1 && condition_is_fixed (loop))
    return _gantry_unroll_refuse (e, loop->node, error, GANTRY_ERROR_UNSUPPORTED,
                                  "it never ends: its condition is true and reads nothing that the loop changes");
  for (gint64 i = 0; most < 0 || i < most; i++)
    {
      gint truth = _gantry_unroll_truth (e, loop->running);
      const char *why = obstacle (loop, truth, most >= 0);

      if (truth == 0)
        return TRUE;
      if (why != NULL)
        return _gantry_unroll_refuse (e, loop->node, error, GANTRY_ERROR_UNSUPPORTED, why);
      if (i >= MOST_TRIPS)
        return _gantry_unroll_refuse (e, loop->node, error, GANTRY_ERROR_TOO_LARGE,
                                      "it makes more than " G_STRINGIFY (MOST_TRIPS) " trips");
      if (gantry_progress_cancelled (e->progress, error) || !trip (loop, i, i + 1 == most, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
_gantry_unroll_while (GantryExpander *e, const GantryNode *node, const GantryExpandValue *operands,
                      const GantryExpandFrame *frame, GantryExpandValue *value, GError **error)
{
  Loop loop = { .e = e, .node = node, .frame = frame, .n = node->n_operands };
  g_autofree GantryExpandValue *state = g_new0 (GantryExpandValue, node->n_operands + 1);
  g_autofree GantryExpandValue *next = g_new0 (GantryExpandValue, node->n_operands + 1);
  gboolean folding = e->fold, good;

  loop.cond = _gantry_expand_function_of (e, node, "cond", error);
  loop.body = loop.cond != NULL ? _gantry_expand_function_of (e, node, "body", error) : NULL;
  if (loop.body == NULL)
    return FALSE;
  loop.state = state;
  loop.next = next;
  memcpy (state, operands, node->n_operands * sizeof *state);
  _gantry_expand_set_fold (e, TRUE);
  good = run_trips (&loop, error);
  _gantry_expand_set_fold (e, folding);
  if (good)
    *value = _gantry_expand_together (e, state, loop.n);
  return good;
}
