/* SPDX-License-Identifier: Apache-2.0 */
/* Loops. What cannot be written out in a few trips stays a loop (unroll-keep.c), but for those that hold values in host memory. Else
 * trip by trip: the scalars of the condition are computed as they are copied, so a loop that counts to a constant
 * ends by itself. Where the condition depends on data, `most_trips` bounds the loop: each trip is computed and
 * taken where the loop still runs, else the state stays as it is. */
#include "core/graph/operation.h"
#include "core/graph/region.h"
#include "core/passes/unroll-private.h"
#include <string.h>

/* A loop that counts without end gives no nodes that the limit on nodes would see soon. */
#define MOST_TRIPS 200000
/* Of a loop that counts to a constant in a way that the pass count did not see. */
#define MOST_COUNTED 64

typedef struct
{
  GantryExpander *e;
  const GantryNode *node;
  const GantryExpandFrame *frame;
  const GantryFunction *cond, *body;
  guint n; /* carries, in front of the captures */
  GantryExpandValue *state;
  GantryExpandValue *next;
  guint32 running; /* bool[]: whether the trip is taken */
  gint64 made;     /* trips that are written */
} Loop;

static gboolean
ask_condition (Loop *loop, GantryExpandFrame *place, guint32 *more, GError **error)
{
  GantryExpandValue value;

  if (loop->cond->n_results != 1)
    return _gantry_unroll_refuse (loop->e, loop->node, error, GANTRY_ERROR_INVALID, "its condition gives no single value");
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
    return _gantry_unroll_refuse (loop->e, loop->node, error, GANTRY_ERROR_UNSUPPORTED, "its body returns a tuple as one value");
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
  if (loop->running == 0 || _gantry_unroll_truth (e, loop->running) == 1 || _gantry_unroll_truth (e, more) == 0)
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
  loop->made++;
  return good;
}

/* What a loop collects has the rows that the file declares: other trips than those would give other rows, or none. @decided: the run
 * decides how many there are, of a loop that cannot stay one. */
static gboolean
check_exact (const Loop *loop, gboolean decided, GError **error)
{
  gint64 exact = gantry_attrs_int (loop->e->source->context, loop->node->attrs, "exact_trips", -1);
  g_autoptr (GError) why = NULL;

  if (exact < 0 || (!decided && gantry_loop_check_trips (exact, loop->made, FALSE, &why)))
    return TRUE;
  return _gantry_unroll_refuse (loop->e, loop->node, error, GANTRY_ERROR_UNSUPPORTED,
                                decided ? "the run decides how many trips it makes, and with that the size of its scan outputs; the value "
                                          "of what decides it, given for an input, settles both"
                                        : why->message);
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

gboolean
_gantry_unroll_stays (GantryExpander *e, const GantryNode *node, guint k)
{
  const GantryModule *source = e->source;
  const GantryFunction *body = _gantry_expand_function_of (e, node, "body", NULL);

  if (body == NULL || k >= body->n_params)
    return FALSE;
  return k >= body->n_results || gantry_function_result_id (source, body, k) == source->nodes[body->first_node + k].id;
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

      changes[i] = i < cond->n_params ? !_gantry_unroll_stays (loop->e, loop->node, i) : (gantry_op_info (node->op)->flags & GANTRY_OP_EFFECT) != 0;
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

/* Written out, all trips of a bound are computed: as fast as deciding on the host where they are few and small. How many are taken is
 * known then to nobody, where it has to be a certain number. */
static gboolean
is_kept (const Loop *loop)
{
  gint64 most = gantry_attrs_int (loop->e->source->context, loop->node->attrs, "most_trips", -1);
  gint64 exact = gantry_attrs_int (loop->e->source->context, loop->node->attrs, "exact_trips", -1);

  return _gantry_unroll_keeps_loop (loop->e, loop->node) && (most < 0 || exact >= 0 || _gantry_unroll_keeps_branch (loop->e, loop->node, MAX (most, 1)));
}

/* Writes out the trips of a loop that counts to a constant, if they are few. Returns: FALSE without @error where it does not come to an
 * end so: nobody uses what was written then */
static gboolean
count_out (Loop *loop, GError **error)
{
  gboolean effect = (_gantry_effects_of (loop->e->effects, loop->node) & GANTRY_OP_EFFECT) != 0;
  gint64 nodes = loop->cond->n_nodes + loop->body->n_nodes, most = MIN (MOST_COUNTED, loop->e->most_unrolled / MAX (nodes, 1));

  for (gint64 i = 0; i <= (effect ? 0 : most); i++)
    {
      gint truth = _gantry_unroll_truth (loop->e, loop->running);

      if (truth <= 0)
        return truth == 0;
      if (i == 0 && condition_is_fixed (loop))
        return _gantry_unroll_refuse (loop->e, loop->node, error, GANTRY_ERROR_UNSUPPORTED,
                                      "it never ends: its condition is true and reads nothing that the loop changes");
      if (i < (effect ? 0 : most) && !trip (loop, i, FALSE, error))
        return FALSE;
    }
  return FALSE;
}

/* Asking it before it is known whether the loop stays one would make its effects happen once too often. */
static gboolean
condition_has_effect (const Loop *loop)
{
  for (guint32 i = 0; i < loop->cond->n_nodes; i++)
    if (_gantry_effects_of (loop->e->effects, &loop->e->source->nodes[loop->cond->first_node + i]) & GANTRY_OP_EFFECT)
      return TRUE;
  return FALSE;
}

/* As a loop, unless its end is near. */
static gboolean
keep (Loop *loop, const GantryExpandValue *operands, GantryExpandValue *value, GError **error)
{
  GError *failure = NULL;
  gboolean ended;

  if (condition_has_effect (loop))
    return _gantry_unroll_keep (loop->e, loop->node, operands, loop->frame, value, error);
  _gantry_expand_set_fold (loop->e, TRUE);
  if (!ask_first (loop, error))
    return FALSE;
  ended = count_out (loop, &failure);
  _gantry_expand_set_fold (loop->e, FALSE);
  if (failure != NULL)
    g_propagate_error (error, failure);
  else if (ended && !check_exact (loop, FALSE, &failure))
    g_propagate_error (error, failure);
  else if (ended)
    *value = _gantry_expand_together (loop->e, loop->state, loop->n);
  else
    return _gantry_unroll_keep (loop->e, loop->node, operands, loop->frame, value, error);
  return failure == NULL;
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
        return check_exact (loop, FALSE, error);
      if (truth < 0 && !check_exact (loop, TRUE, error))
        return FALSE;
      if (why != NULL)
        return _gantry_unroll_refuse (e, loop->node, error, GANTRY_ERROR_UNSUPPORTED, why);
      if (i >= MOST_TRIPS)
        return _gantry_unroll_refuse (e, loop->node, error, GANTRY_ERROR_TOO_LARGE, "it makes more than " G_STRINGIFY (MOST_TRIPS) " trips");
      if (gantry_progress_cancelled (e->progress, error) || !trip (loop, i, i + 1 == most, error))
        return FALSE;
    }
  return check_exact (loop, FALSE, error);
}

gboolean
_gantry_unroll_while (GantryExpander *e, const GantryNode *node, const GantryExpandValue *operands, const GantryExpandFrame *frame, GantryExpandValue *value,
                      GError **error)
{
  Loop loop = { .e = e, .node = node, .frame = frame };
  g_autofree GantryExpandValue *state = g_new0 (GantryExpandValue, node->n_operands + 1);
  g_autofree GantryExpandValue *next = g_new0 (GantryExpandValue, node->n_operands + 1);
  gboolean folding = e->fold, good;

  loop.cond = _gantry_expand_function_of (e, node, "cond", error);
  loop.body = loop.cond != NULL ? _gantry_expand_function_of (e, node, "body", error) : NULL;
  if (loop.body == NULL)
    return FALSE;
  loop.n = (guint) gantry_attrs_int (e->source->context, node->attrs, "n_carries", node->n_operands);
  loop.state = state;
  loop.next = next;
  memcpy (state, operands, node->n_operands * sizeof *state);
  if (is_kept (&loop))
    {
      good = keep (&loop, operands, value, error);
      _gantry_expand_set_fold (e, folding);
      return good;
    }
  _gantry_expand_set_fold (e, TRUE);
  good = run_trips (&loop, error);
  _gantry_expand_set_fold (e, folding);
  if (good)
    *value = _gantry_expand_together (e, state, loop.n);
  return good;
}
