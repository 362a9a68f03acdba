/* SPDX-License-Identifier: Apache-2.0 */
/* RNN, GRU and LSTM, unrolled over time, and single cells. The input's share of all gates is one product over all steps; each step
 * adds the state's share. Gates lie in torch's order: i f g o of an LSTM, r z n of a GRU. */
#include "core/frontends/torch/lower-words-private.h"

#define MOST_STEPS 1024

typedef enum
{
  RNN_TANH,
  RNN_RELU,
  GRU,
  LSTM
} Cell;

/* The weights of one direction of one layer; biases and projection 0 where there are none. */
typedef struct
{
  guint32 of_input, of_state, input_bias, state_bias, projection;
} Weights;

typedef struct
{
  guint32 h, c;
} State;

/* x w^T, plus a bias where there is one; @x: [..., n], @w: [m, n] */
static guint32
times (AtenLower *l, guint32 x, guint32 w, guint32 bias)
{
  guint32 y = gantry_aten_matmul (l, x, gantry_builder_swap_axes (l->b, w, 0, 1));

  return bias != 0 ? BINARY (ADD, y, bias) : y;
}

/* Gate @i of @n side by side along the last dimension. */
static guint32
gate (AtenLower *l, guint32 x, guint i, guint n)
{
  gint64 axis = (gint64) gantry_aten_rank (l, x) - 1, size = gantry_aten_dim (l, x, axis) / n;

  return gantry_builder_slice_axis (l->b, x, axis, i * size, (i + 1) * size, 1);
}

static guint32
sigmoid (AtenLower *l, guint32 x)
{
  return UNARY (LOGISTIC, x);
}

/* @x: the input's share with its bias, [batch, gates * hidden] */
static State
step (AtenLower *l, Cell cell, const Weights *w, guint32 x, State s)
{
  guint32 y = times (l, s.h, w->of_state, w->state_bias), update, candidate;
  State next = { 0 };

  if (cell == GRU)
    {
      update = sigmoid (l, BINARY (ADD, gate (l, x, 1, 3), gate (l, y, 1, 3)));
      candidate = BINARY (MULTIPLY, sigmoid (l, BINARY (ADD, gate (l, x, 0, 3), gate (l, y, 0, 3))), gate (l, y, 2, 3));
      candidate = UNARY (TANH, BINARY (ADD, gate (l, x, 2, 3), candidate));
      next.h = BINARY (ADD, candidate, BINARY (MULTIPLY, update, BINARY (SUBTRACT, s.h, candidate)));
      return next;
    }
  y = BINARY (ADD, x, y);
  if (cell != LSTM)
    {
      next.h = cell == RNN_TANH ? UNARY (TANH, y) : BINARY (MAXIMUM, y, LIKE (y, 0));
      return next;
    }
  next.c = BINARY (ADD, BINARY (MULTIPLY, sigmoid (l, gate (l, y, 1, 4)), s.c),
                   BINARY (MULTIPLY, sigmoid (l, gate (l, y, 0, 4)), UNARY (TANH, gate (l, y, 2, 4))));
  next.h = BINARY (MULTIPLY, sigmoid (l, gate (l, y, 3, 4)), UNARY (TANH, next.c));
  if (w->projection != 0)
    next.h = times (l, next.h, w->projection, 0);
  return next;
}

/* Member @i along the first dimension, without it. */
static guint32
member (AtenLower *l, guint32 x, gint64 i)
{
  const GantryType *type;

  x = gantry_builder_slice_axis (l->b, x, 0, i, i + 1, 1);
  type = x != 0 ? gantry_aten_type (l, x) : NULL;
  return type != NULL ? gantry_builder_reshape (l->b, x, type->rank - 1, type->dims + 1) : 0;
}

/* All steps of one direction; @x: [steps, batch, n]; @s: (inout). Returns: [steps, batch, hidden] */
static guint32
run (AtenLower *l, Cell cell, const Weights *w, guint32 x, gboolean reverse, State *s)
{
  gint64 steps = gantry_aten_dim (l, x, 0);
  guint32 shares = times (l, x, w->of_input, w->input_bias), *outputs = gantry_arena_new0 (l->arena, guint32, steps + 1);

  for (gint64 k = 0; k < steps && !l->failed; k++)
    {
      gint64 t = reverse ? steps - 1 - k : k;
      const GantryType *type;

      *s = step (l, cell, w, member (l, shares, t), *s);
      if (s->h == 0)
        return 0;
      type = gantry_aten_type (l, s->h);
      outputs[t] = gantry_builder_reshape (l->b, s->h, 3, (GantryDim[]){ 1, type->dims[0], type->dims[type->rank - 1] });
    }
  return l->failed || outputs[0] == 0 ? 0 : gantry_builder_concatenate (l->b, outputs, (guint) steps, 0);
}

/* How many weights a direction of a layer has, so that all of them are read. */
static gboolean
read_weights (AtenLower *l, guint n, guint each, guint which, Weights *w)
{
  guint at = which * each;
  gboolean biases = gantry_aten_int (l, "has_biases", 1) != 0;

  *w = (Weights){ .of_input = gantry_aten_in_list (l, "params", at), .of_state = gantry_aten_in_list (l, "params", at + 1) };
  if (biases)
    {
      w->input_bias = gantry_aten_in_list (l, "params", at + 2);
      w->state_bias = gantry_aten_in_list (l, "params", at + 3);
    }
  if (each == (biases ? 5u : 3u))
    w->projection = gantry_aten_in_list (l, "params", at + each - 1);
  if (at + each <= n && w->of_input != 0 && w->of_state != 0 && gantry_aten_rank (l, w->of_input) == 2 && gantry_aten_rank (l, w->of_state) == 2
      && (!biases || (w->input_bias != 0 && w->state_bias != 0)))
    return TRUE;
  gantry_aten_refuse (l, "the weights of layer and direction %u are not there", which);
  return FALSE;
}

static guint32
stacked (AtenLower *l, const guint32 *states, guint n)
{
  guint32 *parts = gantry_arena_new0 (l->arena, guint32, n);

  for (guint i = 0; i < n; i++)
    {
      const GantryType *type = states[i] != 0 ? gantry_aten_type (l, states[i]) : NULL;

      if (type == NULL || type->rank != 2)
        return 0;
      parts[i] = gantry_builder_reshape (l->b, states[i], 3, (GantryDim[]){ 1, type->dims[0], type->dims[1] });
    }
  return gantry_builder_concatenate (l->b, parts, n, 0);
}

/* Layers over each other, the second direction beside the first; @states: those at the beginning, then at the end. */
static guint32
run_layers (AtenLower *l, guint32 x, guint n_layers, guint n_directions, guint32 h0, guint32 c0, guint32 *h, guint32 *c)
{
  guint n = gantry_aten_list_length (l, "params"), each = n / (n_layers * n_directions);

  for (guint i = 0; i < n_layers && !l->failed; i++)
    {
      guint32 sides[2] = { 0 };

      for (guint d = 0; d < n_directions; d++)
        {
          guint which = i * n_directions + d;
          State s = { member (l, h0, which), c0 != 0 ? member (l, c0, which) : 0 };
          Weights w;

          if (!read_weights (l, n, each, which, &w))
            return 0;
          sides[d] = run (l, (Cell) l->rule->arg, &w, x, d == 1, &s);
          h[which] = s.h;
          c[which] = s.c;
        }
      x = n_directions == 2 && sides[0] != 0 && sides[1] != 0 ? gantry_builder_concatenate (l->b, sides, 2, 2) : sides[0];
    }
  return x;
}

/* aten.lstm.input, aten.gru.input, aten.rnn_tanh.input, aten.rnn_relu.input */
static void
recurrent (AtenLower *l)
{
  gboolean is_lstm = l->rule->arg == LSTM, batch_first = gantry_aten_int (l, "batch_first", 0) != 0;
  guint32 x = gantry_aten_need (l, "input"), h0 = is_lstm ? gantry_aten_in_list (l, "hx", 0) : gantry_aten_need (l, "hx"),
          c0 = is_lstm ? gantry_aten_in_list (l, "hx", 1) : 0, *h, *c;
  gint64 n_layers = gantry_aten_int (l, "num_layers", 1), n_directions = gantry_aten_int (l, "bidirectional", 0) != 0 ? 2 : 1;
  gint64 steps = gantry_aten_dim (l, x, batch_first ? 1 : 0);

  if (gantry_aten_rank (l, x) != 3 || h0 == 0 || (is_lstm && c0 == 0) || gantry_aten_rank (l, h0) != 3)
    gantry_aten_refuse (l, "only sequences of one length are supported: no packed ones");
  else if (gantry_aten_int (l, "train", 0) != 0 && gantry_aten_number (l, "dropout", 0) != 0)
    gantry_aten_refuse (l, "dropout draws random numbers; export the model after model.eval ()");
  else if (steps < 1 || steps > MOST_STEPS)
    gantry_aten_refuse (l, "%" G_GINT64_FORMAT " steps; from 1 to %d are unrolled", steps, MOST_STEPS);
  else if (n_layers < 1 || n_layers * n_directions != gantry_aten_dim (l, h0, 0)
           || (c0 != 0 && (gantry_aten_rank (l, c0) != 3 || gantry_aten_dim (l, c0, 0) != n_layers * n_directions)))
    gantry_aten_refuse (l, "the states are not those of %" G_GINT64_FORMAT " layers", n_layers);
  if (l->failed)
    return;
  h = gantry_arena_new0 (l->arena, guint32, (gsize) (n_layers * n_directions));
  c = gantry_arena_new0 (l->arena, guint32, (gsize) (n_layers * n_directions));
  x = run_layers (l, batch_first ? gantry_builder_swap_axes (l->b, x, 0, 1) : x, (guint) n_layers, (guint) n_directions, h0, c0, h, c);
  l->out[0] = batch_first && x != 0 ? gantry_builder_swap_axes (l->b, x, 0, 1) : x;
  if (l->n_out > 1)
    l->out[1] = stacked (l, h, (guint) (n_layers * n_directions));
  if (is_lstm && l->n_out > 2)
    l->out[2] = stacked (l, c, (guint) (n_layers * n_directions));
}

/* One step: aten.lstm_cell, aten.gru_cell, aten.rnn_tanh_cell, aten.rnn_relu_cell */
static void
single (AtenLower *l)
{
  gboolean is_lstm = l->rule->arg == LSTM;
  Weights w = { .of_input = gantry_aten_need (l, "w_ih"),
                .of_state = gantry_aten_need (l, "w_hh"),
                .input_bias = gantry_aten_in (l, "b_ih"),
                .state_bias = gantry_aten_in (l, "b_hh") };
  guint32 x = gantry_aten_need (l, "input");
  State s = { is_lstm ? gantry_aten_in_list (l, "hx", 0) : gantry_aten_need (l, "hx"), is_lstm ? gantry_aten_in_list (l, "hx", 1) : 0 };

  if (gantry_aten_rank (l, x) != 2 || s.h == 0 || (is_lstm && s.c == 0) || gantry_aten_rank (l, w.of_input) != 2 || gantry_aten_rank (l, w.of_state) != 2)
    {
      gantry_aten_refuse (l, "only [batch, features] are supported");
      return;
    }
  s = step (l, (Cell) l->rule->arg, &w, times (l, x, w.of_input, w.input_bias), s);
  l->out[0] = s.h;
  if (is_lstm && l->n_out > 1)
    l->out[1] = s.c;
}

/* clang-format off */
#define RULE(name, function, arg) { name, function, GANTRY_CLASS_CONTRACTION, arg, NULL }

const AtenRule gantry_aten_recurrent_rules[] = {
  RULE ("lstm", recurrent, LSTM), RULE ("gru", recurrent, GRU), RULE ("rnn_tanh", recurrent, RNN_TANH), RULE ("rnn_relu", recurrent, RNN_RELU),
  RULE ("lstm_cell", single, LSTM), RULE ("gru_cell", single, GRU), RULE ("rnn_tanh_cell", single, RNN_TANH),
  RULE ("rnn_relu_cell", single, RNN_RELU),
  { NULL },
};
/* clang-format on */
