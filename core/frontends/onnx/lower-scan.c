/* SPDX-License-Identifier: Apache-2.0 */
/* Scan: its trip count is the extent of the scanned axes, so it is always unrolled. */
#include "core/frontends/onnx/onnx-lower.h"

static gint64
entry_or (const gint64 *values, gsize n, gsize i, gint64 fallback)
{
  return values != NULL && i < n ? values[i] : fallback;
}

/* The attributes of Scan: entry k of a list is for scan input (or output) k, absent means 0. */
typedef struct
{
  const gint64 *axes, *directions, *out_axes, *out_directions;
  gsize n_axes, n_directions, n_out_axes, n_out_directions;
  guint32 body;
  guint n_states, n_inputs, n_scans;
} ScanShape;

static void
read_scan_shape (GantryLower *l, ScanShape *s)
{
  const char *directions = l->opset < 9 ? "directions" : "scan_input_directions";

  s->axes = gantry_lower_ints (l, "scan_input_axes", &s->n_axes);
  s->directions = gantry_lower_ints (l, directions, &s->n_directions);
  s->out_axes = gantry_lower_ints (l, "scan_output_axes", &s->n_out_axes);
  s->out_directions = gantry_lower_ints (l, "scan_output_directions", &s->n_out_directions);
  s->n_scans = l->n_out - s->n_states;
}

static gint64
scan_axis (GantryLower *l, const ScanShape *s, const guint32 *inputs, guint i)
{
  return gantry_lower_axis (l, entry_or (s->axes, s->n_axes, i, 0), gantry_lower_rank (l, inputs[i]));
}

/* How often the body runs: the one extent of all scanned axes; -1 after a failure. */
static gint64
count_trips (GantryLower *l, const ScanShape *s, const guint32 *inputs)
{
  gint64 trips = -1;

  for (guint i = 0; i < s->n_inputs; i++)
    {
      gint64 axis = scan_axis (l, s, inputs, i);
      gint64 extent = axis >= 0 ? gantry_lower_dim (l, inputs[i], axis) : -1;

      if (extent < 0 || extent > GANTRY_LOWER_MOST_TRIPS || (trips >= 0 && extent != trips))
        {
          gantry_lower_fail (l, "%" G_GINT64_FORMAT " trips; up to %d are unrolled", extent, GANTRY_LOWER_MOST_TRIPS);
          return -1;
        }
      trips = extent;
    }
  return trips;
}

/* What scan input @i gives the body in trip @t of @trips. */
static guint32
scanned (GantryLower *l, const ScanShape *s, const guint32 *inputs, guint i, gint64 t, gint64 trips)
{
  gint64 axis = scan_axis (l, s, inputs, i);
  gint64 at = entry_or (s->directions, s->n_directions, i, 0) != 0 ? trips - 1 - t : t;
  GantryDim dims[GANTRY_MAX_RANK];
  guint n = 0;

  for (guint k = 0; k < gantry_lower_rank (l, inputs[i]); k++)
    if (k != axis)
      dims[n++] = gantry_lower_dim (l, inputs[i], k);
  return gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, inputs[i], axis, at, at + 1, 1), n, dims);
}

/* Scan over @states and @inputs (of one sample); results into @out. */
static gboolean
run_scan (GantryLower *l, const ScanShape *s, guint32 *states, const guint32 *inputs, guint32 *out)
{
  guint n = s->n_states + s->n_inputs + l->n_captures;
  guint32 *arguments = gantry_arena_new0 (l->arena, guint32, n + 1);
  guint32 *results = gantry_arena_new0 (l->arena, guint32, l->n_out + 1);
  gint64 trips = count_trips (l, s, inputs);
  guint32 *collected = gantry_arena_new0 (l->arena, guint32, s->n_scans * (MAX (trips, 0) + 1) + 1);

  for (gint64 t = 0; t < trips; t++)
    {
      memcpy (arguments, states, sizeof *states * s->n_states);
      for (guint i = 0; i < s->n_inputs; i++)
        arguments[s->n_states + i] = scanned (l, s, inputs, i, t, trips);
      memcpy (arguments + s->n_states + s->n_inputs, l->in + l->n_in, sizeof *arguments * l->n_captures);
      if (!gantry_lower_inline (l, s->body, arguments, n, results, l->n_out))
        return FALSE;
      memcpy (states, results, sizeof *states * s->n_states);
      for (guint k = 0; k < s->n_scans; k++)
        {
          gboolean backwards = entry_or (s->out_directions, s->n_out_directions, k, 0) != 0;

          collected[k * trips + (backwards ? trips - 1 - t : t)] = results[s->n_states + k];
        }
    }
  memcpy (out, states, sizeof *out * s->n_states);
  for (guint k = 0; k < s->n_scans && !l->failed; k++)
    {
      guint32 *values = collected + k * MAX (trips, 0);
      gint64 axis = entry_or (s->out_axes, s->n_out_axes, k, 0);

      axis = axis < 0 ? axis + gantry_lower_rank (l, values[0]) + 1 : axis;
      out[s->n_states + k] = gantry_lower_stack (l, values, MAX (trips, 0), axis);
    }
  return !l->failed;
}

static guint32
sample (GantryLower *l, guint32 x, gint64 i)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);

  return rank > 0 ? gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, x, 0, i, i + 1, 1), rank - 1, dims + 1) : 0;
}

/* Version 8 ran the body for each sample of a batch, which it kept in the first dimension of
 * everything. */
static void
scan_batched (GantryLower *l, const ScanShape *s)
{
  gint64 batch = gantry_lower_dim (l, gantry_lower_operand (l, 1), 0);
  guint n = s->n_states + s->n_inputs;
  guint32 *values = gantry_arena_new0 (l->arena, guint32, n + 1);
  guint32 *out;

  if (gantry_lower_has (l, 0) || batch < 1 || batch > GANTRY_LOWER_MOST_TRIPS)
    {
      gantry_lower_fail (l, "sequence lengths are not supported");
      return;
    }
  out = gantry_arena_new0 (l->arena, guint32, (gsize) l->n_out * (batch + 1) + 1);
  for (gint64 i = 0; i < batch; i++)
    {
      for (guint k = 0; k < n; k++)
        values[k] = sample (l, l->in[1 + k], i);
      if (!run_scan (l, s, values, values + s->n_states, out + i * l->n_out))
        return;
    }
  for (guint r = 0; r < l->n_out && !l->failed; r++)
    {
      guint32 *parts = gantry_arena_new0 (l->arena, guint32, batch + 1);

      for (gint64 i = 0; i < batch; i++)
        parts[i] = out[i * l->n_out + r];
      l->out[r] = gantry_lower_stack (l, parts, batch, 0);
    }
}

static void
scan (GantryLower *l)
{
  gint64 n_inputs = gantry_lower_int (l, "num_scan_inputs", 0);
  guint first = l->opset < 9 ? 1 : 0;
  ScanShape s = { .body = gantry_lower_function (l, "body") };
  guint32 *states;

  if (l->failed || n_inputs < 1 || n_inputs > l->n_in || n_inputs + first > l->n_in || l->n_in - first - n_inputs > l->n_out)
    {
      gantry_lower_invalid (l, "operands and results do not fit num_scan_inputs");
      return;
    }
  for (guint i = first; i < l->n_in; i++)
    if (l->in[i] == 0)
      {
        gantry_lower_invalid (l, "operand %u is missing", i);
        return;
      }
  s.n_inputs = (guint) n_inputs;
  s.n_states = l->n_in - first - s.n_inputs;
  read_scan_shape (l, &s);
  if (first == 1)
    {
      scan_batched (l, &s);
      return;
    }
  states = gantry_arena_new0 (l->arena, guint32, s.n_states + 1);
  memcpy (states, l->in, sizeof *states * s.n_states);
  run_scan (l, &s, states, l->in + s.n_states, l->out);
}

/* clang-format off */
const GantryLowerRule gantry_lower_scan_rules[] = {
  { "Scan", scan, GANTRY_CLASS_CONTROL, 0, 0, NULL },
  { NULL },
};
/* clang-format on */
