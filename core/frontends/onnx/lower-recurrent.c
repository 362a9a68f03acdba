/* SPDX-License-Identifier: Apache-2.0 */
/* RNN, GRU and LSTM, unrolled over time. The input's share of all gates is one matrix product over
 * all steps; each step then adds the state's share. Steps beyond a sequence's length keep the state
 * and give zeros. */
#include "core/frontends/onnx/lower-words-private.h"

#define MOST_STEPS 512
#define MOST_ACTIVATIONS 3

typedef enum
{
  RNN,
  GRU,
  LSTM
} Cell;

typedef struct
{
  const char *name;
  double alpha, beta;
} Activation;

/* What both directions share. */
typedef struct
{
  Cell cell;
  guint n_gates, n_activations, n_directions;
  gint64 steps, batch, hidden;
  gboolean batch_first;
  double clip;     /* 0: none */
  guint32 x;       /* [steps, batch, input] */
  guint32 lengths; /* i64[batch], 0 when all sequences are full */
} Layer;

typedef struct
{
  gboolean reverse;
  Activation activations[MOST_ACTIVATIONS];
  guint32 inputs;     /* [steps, batch, gates * hidden]: the input's share with its bias */
  guint32 recurrence; /* [gates * hidden, hidden] */
  guint32 reset_bias; /* GRU with linear_before_reset: [hidden] */
  guint32 peepholes;  /* LSTM: [3 * hidden] or 0 */
  guint32 h, c;       /* the state, [batch, hidden] */
} Direction;

/* Which activations take alpha and beta, and what they are by default; those without default must
 * be given. */
/* clang-format off */
static const struct
{
  const char *name;
  gboolean has_alpha, has_beta;
  double alpha, beta;
} known_activations[] = {
  { "Relu", FALSE, FALSE, 0, 0 },        { "Tanh", FALSE, FALSE, 0, 0 },          { "Sigmoid", FALSE, FALSE, 0, 0 },
  { "Affine", TRUE, TRUE, 1, 0 },        { "LeakyRelu", TRUE, FALSE, 0.01, 0 },   { "ThresholdedRelu", TRUE, FALSE, 1, 0 },
  { "ScaledTanh", TRUE, TRUE, 1, 1 },    { "HardSigmoid", TRUE, TRUE, 0.2, 0.5 }, { "Elu", TRUE, FALSE, 1, 0 },
  { "Softsign", FALSE, FALSE, 0, 0 },    { "Softplus", FALSE, FALSE, 0, 0 },
};
/* clang-format on */

static guint32
activate (GantryLower *l, const Layer *layer, const Activation *f, guint32 x)
{
  guint32 zero = gantry_builder_like (l->b, x, 0);

  if (layer->clip > 0)
    x = MINIMUM (MAXIMUM (x, gantry_builder_like (l->b, x, -layer->clip)), gantry_builder_like (l->b, x, layer->clip));
  if (x == 0)
    return 0;
  if (strcmp (f->name, "Sigmoid") == 0)
    return UNARY (LOGISTIC, x);
  if (strcmp (f->name, "Tanh") == 0)
    return UNARY (TANH, x);
  if (strcmp (f->name, "Relu") == 0)
    return MAXIMUM (x, zero);
  if (strcmp (f->name, "Affine") == 0)
    return gantry_builder_offset (l->b, gantry_builder_scale (l->b, x, f->alpha), f->beta);
  if (strcmp (f->name, "LeakyRelu") == 0)
    return gantry_builder_select (l->b, gantry_builder_compare (l->b, "LT", x, zero), gantry_builder_scale (l->b, x, f->alpha), x);
  if (strcmp (f->name, "ThresholdedRelu") == 0)
    return gantry_builder_select (l->b, gantry_builder_compare (l->b, "GE", x, gantry_builder_like (l->b, x, f->alpha)), x, zero);
  if (strcmp (f->name, "ScaledTanh") == 0)
    return gantry_builder_scale (l->b, UNARY (TANH, gantry_builder_scale (l->b, x, f->beta)), f->alpha);
  if (strcmp (f->name, "HardSigmoid") == 0)
    {
      x = gantry_builder_offset (l->b, gantry_builder_scale (l->b, x, f->alpha), f->beta);
      return MINIMUM (MAXIMUM (x, zero), gantry_builder_like (l->b, x, 1));
    }
  if (strcmp (f->name, "Elu") == 0)
    return gantry_builder_select (l->b, gantry_builder_compare (l->b, "GT", x, zero), x,
                                  gantry_builder_scale (l->b, UNARY (EXPONENTIAL_MINUS_ONE, gantry_builder_at_most_zero (l->b, x)), f->alpha));
  if (strcmp (f->name, "Softsign") == 0)
    return DIVIDE (x, gantry_builder_offset (l->b, UNARY (ABS, x), 1));
  /* Softplus: the table above knows no other name. */
  return gantry_builder_softplus (l->b, x);
}

/* The activations of all directions in order; each takes its alpha and beta from the lists as it
 * needs them. */
static gboolean
read_activations (GantryLower *l, const Layer *layer, Activation *all)
{
  static const char *const defaults[][MOST_ACTIVATIONS] = { { "Tanh" }, { "Sigmoid", "Tanh" }, { "Sigmoid", "Tanh", "Tanh" } };
  const GantryAttr *names = gantry_attrs_find (l->context, l->node->attrs, "activations");
  gsize n_alpha, n_beta, next_alpha = 0, next_beta = 0;
  const double *alpha = gantry_attrs_floats (l->context, l->node->attrs, "activation_alpha", &n_alpha);
  const double *beta = gantry_attrs_floats (l->context, l->node->attrs, "activation_beta", &n_beta);
  guint n = layer->n_activations * layer->n_directions;

  if (names != NULL && (names->kind != GANTRY_ATTR_STRINGS || names->n != n))
    {
      gantry_lower_invalid (l, "there are not %u activations", n);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      const char *name = names != NULL ? gantry_context_string (l->context, names->ids[i]) : defaults[layer->cell][i % layer->n_activations];
      guint k = 0;

      while (k < G_N_ELEMENTS (known_activations) && g_ascii_strcasecmp (known_activations[k].name, name) != 0)
        k++;
      if (k == G_N_ELEMENTS (known_activations))
        {
          gantry_lower_fail (l, "activation '%s' is not known", name);
          return FALSE;
        }
      all[i] = (Activation){ known_activations[k].name, known_activations[k].alpha, known_activations[k].beta };
      if (known_activations[k].has_alpha && alpha != NULL && next_alpha < n_alpha)
        all[i].alpha = alpha[next_alpha++];
      if (known_activations[k].has_beta && beta != NULL && next_beta < n_beta)
        all[i].beta = beta[next_beta++];
    }
  return TRUE;
}

/* Member @d of a value whose first dimension is the direction. */
static guint32
of_direction (GantryLower *l, guint32 x, guint d)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);

  return x != 0 && rank > 0 ? gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, x, 0, d, d + 1, 1), rank - 1, dims + 1) : 0;
}

/* Gate @i of a value whose last dimension is gates * hidden. */
static guint32
gate (GantryLower *l, const Layer *layer, guint32 x, guint i)
{
  return gantry_builder_slice_axis (l->b, x, (gint64) gantry_lower_rank (l, x) - 1, i * layer->hidden, (i + 1) * layer->hidden, 1);
}

/* An initial state as [batch, hidden]; zeros where none is given. */
static guint32
initial_state (GantryLower *l, const Layer *layer, guint operand, guint d)
{
  static const gint64 swap[] = { 1, 0, 2 };
  GantryDim dims[] = { layer->batch, layer->hidden };
  guint32 state = gantry_lower_operand (l, operand);

  if (state == 0)
    return gantry_builder_splat (l->b, gantry_lower_element (l, layer->x), 0, 2, dims);
  if (!gantry_lower_check_rank (l, operand, 3, 3))
    return 0;
  return of_direction (l, layer->batch_first ? gantry_builder_transpose (l->b, state, swap) : state, d);
}

/* The input's share of all gates over all steps, and what belongs to the state's share. */
static void
prepare (GantryLower *l, const Layer *layer, Direction *direction, guint d)
{
  static const gint64 input_axis = 2, weight_axis = 1;
  guint32 w = of_direction (l, l->in[1], d);
  guint32 b = of_direction (l, gantry_lower_operand (l, 3), d);
  gint64 size = layer->n_gates * layer->hidden;
  gboolean before_reset = layer->cell == GRU && gantry_lower_int (l, "linear_before_reset", 0) != 0;

  direction->recurrence = of_direction (l, l->in[2], d);
  direction->inputs = gantry_lower_dot (l, layer->x, w, NULL, NULL, 0, &input_axis, &weight_axis, 1, GANTRY_ELEMENT_NONE);
  if (b != 0)
    {
      guint32 of_input = gantry_builder_slice_axis (l->b, b, 0, 0, size, 1);
      guint32 of_state = gantry_builder_slice_axis (l->b, b, 0, size, 2 * size, 1);

      if (before_reset)
        {
          gint64 low = 0, high = layer->hidden;

          direction->reset_bias = gate (l, layer, of_state, 2);
          of_state = gantry_builder_slice_axis (l->b, of_state, 0, 0, 2 * layer->hidden, 1);
          of_state = gantry_builder_pad_if_any (l->b, of_state, gantry_builder_like (l->b, of_state, 0), &low, &high, NULL);
        }
      direction->inputs = ADD (direction->inputs, ADD (of_input, of_state));
    }
  direction->h = initial_state (l, layer, 5, d);
  if (layer->cell == LSTM)
    {
      direction->c = initial_state (l, layer, 6, d);
      direction->peepholes = of_direction (l, gantry_lower_operand (l, 7), d);
    }
}

static guint32
times_recurrence (GantryLower *l, guint32 h, guint32 recurrence)
{
  static const gint64 one = 1;

  return gantry_lower_dot (l, h, recurrence, NULL, NULL, 0, &one, &one, 1, GANTRY_ELEMENT_NONE);
}

static guint32
gru_step (GantryLower *l, const Layer *layer, const Direction *d, guint32 x)
{
  gboolean before_reset = gantry_lower_int (l, "linear_before_reset", 0) != 0;
  guint32 r_zr = gantry_builder_slice_axis (l->b, d->recurrence, 0, 0, 2 * layer->hidden, 1);
  guint32 r_h = gantry_builder_slice_axis (l->b, d->recurrence, 0, 2 * layer->hidden, 3 * layer->hidden, 1);
  guint32 zr = ADD (gantry_builder_slice_axis (l->b, x, 1, 0, 2 * layer->hidden, 1), times_recurrence (l, d->h, r_zr));
  guint32 z = activate (l, layer, &d->activations[0], gate (l, layer, zr, 0));
  guint32 r = activate (l, layer, &d->activations[0], gate (l, layer, zr, 1));
  guint32 candidate;

  if (before_reset)
    {
      candidate = times_recurrence (l, d->h, r_h);
      if (d->reset_bias != 0)
        candidate = ADD (candidate, d->reset_bias);
      candidate = MULTIPLY (r, candidate);
    }
  else
    candidate = times_recurrence (l, MULTIPLY (r, d->h), r_h);
  candidate = activate (l, layer, &d->activations[1], ADD (gate (l, layer, x, 2), candidate));
  return ADD (MULTIPLY (SUBTRACT (gantry_builder_like (l->b, z, 1), z), candidate), MULTIPLY (z, d->h));
}

/* @gate_input plus the peephole of gate @i from the cell. */
static guint32
with_peephole (GantryLower *l, const Layer *layer, const Direction *d, guint i, guint32 cell, guint32 gate_input)
{
  return d->peepholes != 0 ? ADD (gate_input, MULTIPLY (gate (l, layer, d->peepholes, i), cell)) : gate_input;
}

/* Gates lie in the order i, o, f, c; peepholes i, o, f. */
static guint32
lstm_step (GantryLower *l, const Layer *layer, const Direction *d, guint32 x, guint32 *cell)
{
  guint32 all = ADD (x, times_recurrence (l, d->h, d->recurrence));
  guint32 i = with_peephole (l, layer, d, 0, d->c, gate (l, layer, all, 0));
  guint32 f = with_peephole (l, layer, d, 2, d->c, gate (l, layer, all, 2));
  guint32 c = activate (l, layer, &d->activations[1], gate (l, layer, all, 3));
  guint32 o;

  i = activate (l, layer, &d->activations[0], i);
  f = gantry_lower_int (l, "input_forget", 0) != 0 ? SUBTRACT (gantry_builder_like (l->b, i, 1), i) : activate (l, layer, &d->activations[0], f);
  *cell = ADD (MULTIPLY (f, d->c), MULTIPLY (i, c));
  o = activate (l, layer, &d->activations[0], with_peephole (l, layer, d, 1, *cell, gate (l, layer, all, 1)));
  /* The clip of activations does not apply to the finished cell. */
  return MULTIPLY (o, activate (l, &(Layer){ .clip = 0 }, &d->activations[2], *cell));
}

/* One step; the new state is kept only where the sequence is that long. Returns what goes into Y.
 * */
static guint32
step (GantryLower *l, const Layer *layer, Direction *d, gint64 t)
{
  GantryDim dims[] = { layer->batch, layer->n_gates * layer->hidden };
  guint32 x = gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, d->inputs, 0, t, t + 1, 1), 2, dims);
  guint32 cell = 0, h, inside;

  if (layer->cell == LSTM)
    h = lstm_step (l, layer, d, x, &cell);
  else if (layer->cell == GRU)
    h = gru_step (l, layer, d, x);
  else
    h = activate (l, layer, &d->activations[0], ADD (x, times_recurrence (l, d->h, d->recurrence)));
  if (layer->lengths == 0 || h == 0)
    {
      d->h = h;
      d->c = cell;
      return h;
    }
  inside = gantry_builder_compare (l->b, "GT", layer->lengths, gantry_builder_int_scalar (l->b, GANTRY_I64, t));
  inside = gantry_builder_along (l->b, inside, 2, 0);
  d->h = gantry_builder_select (l->b, inside, h, d->h);
  if (cell != 0)
    d->c = gantry_builder_select (l->b, inside, cell, d->c);
  return gantry_builder_select (l->b, inside, h, gantry_builder_like (l->b, h, 0));
}

/* All steps of one direction. Returns: its part of Y, [steps, 1, batch, hidden] */
static guint32
run_direction (GantryLower *l, const Layer *layer, Direction *d)
{
  guint32 *outputs = gantry_arena_new0 (l->arena, guint32, layer->steps);
  GantryDim one[] = { 1, 1, layer->batch, layer->hidden };

  for (gint64 k = 0; k < layer->steps; k++)
    {
      gint64 t = d->reverse ? layer->steps - 1 - k : k;

      outputs[t] = gantry_builder_reshape (l->b, step (l, layer, d, t), 4, one);
      if (outputs[t] == 0)
        return 0;
    }
  return gantry_builder_concatenate (l->b, outputs, (guint) layer->steps, 0);
}

/* Lengths that are constant and all equal to the number of steps say nothing. */
static guint32
sequence_lengths (GantryLower *l, const Layer *layer)
{
  guint32 lengths = gantry_lower_operand (l, 4);
  gsize n;
  gint64 *known = gantry_lower_known_ints (l, lengths, &n);
  gboolean full = known != NULL;

  for (gsize i = 0; i < n && full; i++)
    full = known[i] >= layer->steps;
  return lengths == 0 || full ? 0 : gantry_builder_convert (l->b, lengths, GANTRY_I64);
}

static gboolean
read_layer (GantryLower *l, Layer *layer)
{
  static const gint64 swap[] = { 1, 0, 2 };
  static const guint8 gates[] = { 1, 3, 4 };
  static const guint8 activations[] = { 1, 2, 3 };
  const char *direction = gantry_lower_string (l, "direction", "forward");

  if (!gantry_lower_check_rank (l, 0, 3, 3) || !gantry_lower_check_rank (l, 1, 3, 3) || !gantry_lower_check_rank (l, 2, 3, 3))
    return FALSE;
  layer->cell = (Cell) l->rule->arg;
  layer->n_gates = gates[layer->cell];
  layer->n_activations = activations[layer->cell];
  layer->n_directions = strcmp (direction, "bidirectional") == 0 ? 2 : 1;
  layer->batch_first = gantry_lower_int (l, "layout", 0) != 0;
  layer->clip = gantry_lower_float (l, "clip", 0);
  layer->x = layer->batch_first ? gantry_builder_transpose (l->b, l->in[0], swap) : l->in[0];
  layer->steps = gantry_lower_dim (l, layer->x, 0);
  layer->batch = gantry_lower_dim (l, layer->x, 1);
  layer->hidden = gantry_lower_dim (l, l->in[2], 2);
  if (layer->steps < 1 || layer->steps > MOST_STEPS)
    gantry_lower_fail (l, "%" G_GINT64_FORMAT " steps; from 1 to %d are unrolled", layer->steps, MOST_STEPS);
  else if (gantry_lower_dim (l, l->in[1], 0) != layer->n_directions || gantry_lower_dim (l, l->in[2], 0) != layer->n_directions
           || gantry_lower_dim (l, l->in[1], 1) != layer->n_gates * layer->hidden || gantry_lower_dim (l, l->in[2], 1) != layer->n_gates * layer->hidden)
    gantry_lower_invalid (l, "the weights do not fit %u directions of %" G_GINT64_FORMAT " neurons", layer->n_directions, layer->hidden);
  else if (gantry_lower_has (l, 3) && (gantry_lower_rank (l, l->in[3]) != 2 || gantry_lower_dim (l, l->in[3], 1) != 2 * layer->n_gates * layer->hidden))
    gantry_lower_invalid (l, "the biases do not fit");
  else if (strcmp (direction, "forward") != 0 && strcmp (direction, "reverse") != 0 && layer->n_directions == 1)
    gantry_lower_invalid (l, "direction '%s' is not known", direction);
  layer->lengths = sequence_lengths (l, layer);
  return !l->failed;
}

/* The last state of all directions, [directions, batch, hidden] or with the batch first. */
static guint32
last_state (GantryLower *l, const Layer *layer, const guint32 *states)
{
  static const gint64 swap[] = { 1, 0, 2 };
  GantryDim one[] = { 1, layer->batch, layer->hidden };
  guint32 parts[2] = { 0 };

  for (guint i = 0; i < layer->n_directions; i++)
    {
      parts[i] = gantry_builder_reshape (l->b, states[i], 3, one);
      if (parts[i] == 0)
        return 0;
    }
  if (layer->n_directions == 2)
    parts[0] = gantry_builder_concatenate (l->b, parts, 2, 0);
  return layer->batch_first ? gantry_builder_transpose (l->b, parts[0], swap) : parts[0];
}

static void
recurrent (GantryLower *l)
{
  static const gint64 batch_first[] = { 2, 0, 1, 3 };
  Layer layer = { 0 };
  Activation activations[2 * MOST_ACTIVATIONS];
  guint32 y[2] = { 0 }, h[2] = { 0 }, c[2] = { 0 };

  if (!read_layer (l, &layer) || !read_activations (l, &layer, activations))
    return;
  for (guint i = 0; i < layer.n_directions && !l->failed; i++)
    {
      Direction direction = { 0 };

      memcpy (direction.activations, activations + i * layer.n_activations, sizeof *activations * layer.n_activations);
      direction.reverse = i == 1 || strcmp (gantry_lower_string (l, "direction", "forward"), "reverse") == 0;
      prepare (l, &layer, &direction, i);
      y[i] = run_direction (l, &layer, &direction);
      h[i] = direction.h;
      c[i] = direction.c;
      if (y[i] == 0)
        return;
    }
  if (layer.n_directions == 2)
    y[0] = gantry_builder_concatenate (l->b, y, 2, 1);
  l->out[0] = layer.batch_first ? gantry_builder_transpose (l->b, y[0], batch_first) : y[0];
  if (gantry_lower_wants (l, 1))
    l->out[1] = last_state (l, &layer, h);
  if (gantry_lower_wants (l, 2) && layer.cell == LSTM)
    l->out[2] = last_state (l, &layer, c);
}

/* clang-format off */
const GantryLowerRule gantry_lower_recurrent_rules[] = {
  { "RNN", recurrent, GANTRY_CLASS_CONTRACTION, 0, RNN, NULL },
  { "GRU", recurrent, GANTRY_CLASS_CONTRACTION, 0, GRU, NULL },
  { "LSTM", recurrent, GANTRY_CLASS_CONTRACTION, 0, LSTM, NULL },
  { NULL },
};
/* clang-format on */
