/* SPDX-License-Identifier: Apache-2.0 */
/* LSTM as the processor's primitive has it: one vector of weights, input and hidden of each layer and direction, then their biases;
 * gates in the order input, forget, cell, output. */
#include "core/frontends/mindspore/lower-private.h"

typedef struct
{
  gint64 length, batch, hidden;
  gboolean has_bias;
  guint32 weights;
  gint64 at; /* in the vector of weights */
} Lstm;

static guint32
take (MindLower *l, Lstm *m, guint rank, const GantryDim *dims)
{
  gint64 n = 1;
  guint32 part;

  for (guint i = 0; i < rank; i++)
    n = gantry_dim_multiply (n, dims[i]);
  if (n > gantry_mind_dim (l, m->weights, 0) - m->at)
    gantry_mind_refuse (l, "its vector of weights is too short");
  if (l->failed)
    return 0;
  part = gantry_builder_slice_axis (l->b, m->weights, 0, m->at, m->at + n, 1);
  m->at += n;
  return gantry_builder_reshape (l->b, part, rank, dims);
}

/* x @ w^T */
static guint32
project (MindLower *l, guint32 x, guint32 weight)
{
  return gantry_mind_matmul (l, x, weight, FALSE, TRUE);
}

/* The body of a scan: (h, c, gates of the input, hidden weights) -> (h, c, h). */
static guint32
write_step (MindLower *l, const Lstm *m, guint32 element)
{
  GantryDim state[2] = { m->batch, m->hidden }, wide[2] = { m->batch, 4 * m->hidden }, weights[2] = { 4 * m->hidden, m->hidden };
  guint32 id = gantry_builder_begin (l->b, "lstm", 0);
  guint32 h = gantry_builder_parameter (l->b, gantry_context_tensor (l->context, element, 2, state), "h"),
          c = gantry_builder_parameter (l->b, gantry_context_tensor (l->context, element, 2, state), "c"),
          x = gantry_builder_parameter (l->b, gantry_context_tensor (l->context, element, 2, wide), "x"),
          w = gantry_builder_parameter (l->b, gantry_context_tensor (l->context, element, 2, weights), "w");
  guint32 all = BINARY (ADD, x, project (l, h, w)), gates[4], results[3];

  for (guint i = 0; i < 4; i++)
    {
      gates[i] = gantry_builder_slice_axis (l->b, all, 1, i * m->hidden, (i + 1) * m->hidden, 1);
      gates[i] = i == 2 ? UNARY (TANH, gates[i]) : UNARY (LOGISTIC, gates[i]);
    }
  c = BINARY (ADD, BINARY (MULTIPLY, gates[1], c), BINARY (MULTIPLY, gates[0], gates[2]));
  h = BINARY (MULTIPLY, gates[3], UNARY (TANH, c));
  results[0] = results[2] = h;
  results[1] = c;
  gantry_builder_end (l->b, results, 3);
  return id;
}

/* Layer @i of the states h and c, which have a row for each. */
static guint32
state_of (MindLower *l, const Lstm *m, guint32 x, gint64 i)
{
  return gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, x, 0, i, i + 1, 1), 2, (GantryDim[]){ m->batch, m->hidden });
}

static void
lstm (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), h = gantry_mind_need (l, "h"), c = gantry_mind_need (l, "c"), gates, w_in, w_hidden, operands[4], scan;
  GantryElementType element = gantry_mind_element_of (l, x);
  gint64 axis = 0, n_in = gantry_mind_dim (l, x, 2);
  Lstm m = { gantry_mind_dim (l, x, 0),
             gantry_mind_dim (l, x, 1),
             gantry_mind_int (l, "hidden_size", 0),
             gantry_mind_int (l, "has_bias", 1) != 0,
             gantry_mind_need (l, "weights"),
             0 };
  GantryDim n = gantry_type_elements (gantry_mind_type (l, m.weights));
  GantryScan how = { .n_carries = 2, .n_xs = 1, .n_captures = 1, .n_ys = 1, .axes = &axis, .y_axes = &axis };

  if (gantry_mind_int (l, "num_layers", 1) != 1 || gantry_mind_int (l, "bidirectional", 0) != 0 || gantry_mind_int (l, "proj_size", 0) != 0
      || gantry_mind_rank (l, x) != 3 || gantry_mind_rank (l, h) != 3 || m.hidden < 1 || m.hidden > (1 << 24))
    {
      gantry_mind_refuse (l, "more than one layer or direction, or a projection, in one primitive");
      return;
    }
  m.weights = gantry_builder_reshape (l->b, m.weights, 1, &n);
  w_in = take (l, &m, 2, (GantryDim[]){ 4 * m.hidden, n_in });
  w_hidden = take (l, &m, 2, (GantryDim[]){ 4 * m.hidden, m.hidden });
  gates = l->failed ? 0 : project (l, x, w_in);
  if (m.has_bias)
    gates = BINARY (ADD, gates, take (l, &m, 1, (GantryDim[]){ 4 * m.hidden }));
  if (l->failed)
    return;
  operands[0] = state_of (l, &m, h, 0);
  operands[1] = state_of (l, &m, c, 0);
  operands[2] = gates;
  operands[3] = w_hidden;
  how.length = m.length;
  how.body = write_step (l, &m, element);
  scan = gantry_builder_scan (l->b, &how, operands);
  l->out[0] = gantry_builder_result (l->b, scan, 2);
  for (guint i = 1; i < MIN (l->n_out, 3); i++)
    l->out[i] = gantry_builder_reshape (l->b, gantry_builder_result (l->b, scan, i - 1), 3, (GantryDim[]){ 1, m.batch, m.hidden });
}

const MindRule gantry_mind_recurrent_rules[] = {
  { "LSTM", "x h c weights", lstm, GANTRY_CLASS_CONTRACTION, 0, NULL },
  { NULL },
};
