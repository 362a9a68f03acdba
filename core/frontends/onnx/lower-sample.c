/* SPDX-License-Identifier: Apache-2.0 */
/* GridSample and AffineGrid: reading a picture (or volume) at computed coordinates. Every output
 * position mixes a few taps along each spatial dimension; each combination of taps is one batched
 * gather from the flattened positions. Padding modes follow the reference implementation: once on
 * the coordinate, once on each tap's index. */
#include "core/frontends/onnx/lower-words-private.h"

#define MOST_SPATIAL 3
#define CUBIC_A (-0.75)

typedef enum
{
  ZEROS,
  BORDER,
  REFLECTION
} Padding;

/* One spatial dimension. */
typedef struct
{
  gint64 extent;
  double low, high;   /* where reflection turns around */
  guint32 base;       /* floor of the coordinate, [batch, positions], float */
  guint32 weights[4]; /* of the taps, 0: 1 */
} Axis;

typedef struct
{
  guint n;
  guint taps;
  Padding padding;
  gboolean align;
  Axis axes[MOST_SPATIAL];
} Sampling;

/* Reflects until inside [low, high]: a triangle wave. */
static guint32
reflect (GantryLower *l, guint32 x, double low, double high)
{
  double range = high - low;
  guint32 distance, turns, rest, odd;

  if (range <= 0)
    return MULTIPLY (x, LIKE (x, 0));
  distance = UNARY (ABS, gantry_builder_offset (l->b, x, -low));
  turns = UNARY (FLOOR, gantry_builder_scale (l->b, distance, 1 / range));
  rest = SUBTRACT (distance, gantry_builder_scale (l->b, turns, range));
  odd = gantry_builder_binary_broadcast (l->b, GANTRY_OP_REMAINDER, turns, LIKE (turns, 2));
  if (odd == 0)
    return 0;
  return gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", odd, LIKE (odd, 0)), gantry_builder_offset (l->b, rest, low),
                                SUBTRACT (LIKE (rest, high), rest));
}

static guint32
clamp (GantryLower *l, guint32 x, double low, double high)
{
  x = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MAXIMUM, x, LIKE (x, low));
  return gantry_builder_binary_broadcast (l->b, GANTRY_OP_MINIMUM, x, LIKE (x, high));
}

/* From [-1, 1] to positions, then padding of the coordinate itself. */
static guint32
coordinate (GantryLower *l, const Sampling *s, const Axis *a, guint32 x)
{
  double extent = (double) a->extent;

  if (s->align)
    x = gantry_builder_scale (l->b, gantry_builder_offset (l->b, x, 1), (extent - 1) / 2);
  else
    x = gantry_builder_scale (l->b, gantry_builder_offset (l->b, gantry_builder_scale (l->b, gantry_builder_offset (l->b, x, 1), extent), -1), 0.5);
  if (s->taps == 1)
    x = UNARY (ROUND_NEAREST_EVEN, x);
  if (s->padding == BORDER)
    x = clamp (l, x, 0, extent - 1);
  else if (s->padding == REFLECTION)
    x = reflect (l, x, a->low, a->high);
  return x;
}

/* Keys' cubic at distances 1 + t, t, 1 - t, 2 - t (IEEE ASSP 29, 1981). */
static guint32
cubic_weight (GantryLower *l, guint32 t, guint tap)
{
  guint32 d = tap == 0 ? gantry_builder_offset (l->b, t, 1) : tap == 1 ? t : SUBTRACT (LIKE (t, tap == 2 ? 1 : 2), t);
  guint32 w;

  if (tap == 1 || tap == 2)
    {
      w = gantry_builder_offset (l->b, gantry_builder_scale (l->b, d, CUBIC_A + 2), -(CUBIC_A + 3));
      return gantry_builder_offset (l->b, MULTIPLY (MULTIPLY (w, d), d), 1);
    }
  w = gantry_builder_offset (l->b, gantry_builder_scale (l->b, d, CUBIC_A), -5 * CUBIC_A);
  w = gantry_builder_offset (l->b, MULTIPLY (w, d), 8 * CUBIC_A);
  return gantry_builder_offset (l->b, MULTIPLY (w, d), -4 * CUBIC_A);
}

static void
prepare_axis (GantryLower *l, const Sampling *s, Axis *a, guint32 x)
{
  guint32 t;

  x = coordinate (l, s, a, x);
  if (s->taps == 1)
    {
      a->base = x;
      return;
    }
  a->base = UNARY (FLOOR, x);
  t = SUBTRACT (x, a->base);
  if (s->taps == 2)
    {
      a->weights[0] = SUBTRACT (LIKE (t, 1), t);
      a->weights[1] = t;
      return;
    }
  for (guint tap = 0; tap < 4; tap++)
    a->weights[tap] = cubic_weight (l, t, tap);
}

/* The index of a tap, padded; where it lies outside a picture of zeros @inside says so. */
static guint32
tap_index (GantryLower *l, const Sampling *s, const Axis *a, guint tap, guint32 *inside)
{
  gint64 step = s->taps == 4 ? (gint64) tap - 1 : tap;
  double last = (double) a->extent - 1;
  guint32 index = gantry_builder_offset (l->b, a->base, (double) step);

  if (index == 0)
    return 0;
  if (s->padding == REFLECTION)
    index = reflect (l, index, a->low, a->high);
  if (s->padding == ZEROS)
    {
      guint32 within = gantry_builder_binary_broadcast (l->b, GANTRY_OP_AND, gantry_builder_compare (l->b, "GE", index, LIKE (index, 0)),
                                                        gantry_builder_compare (l->b, "LE", index, LIKE (index, last)));

      *inside = *inside == 0 ? within : gantry_builder_binary_broadcast (l->b, GANTRY_OP_AND, *inside, within);
    }
  return gantry_builder_convert (l->b, clamp (l, index, 0, last), GANTRY_I64);
}

/* The share of one combination of taps; @x is [batch, pixels, channels], the result [batch,
 * positions, channels]. */
static guint32
sample_taps (GantryLower *l, const Sampling *s, guint32 x, guint combination, gint64 batch, gint64 positions)
{
  guint32 flat = 0, weight = 0, inside = 0, value;

  for (guint i = 0; i < s->n; i++)
    {
      guint tap = combination % s->taps;
      guint32 index = tap_index (l, s, &s->axes[i], tap, &inside);
      guint32 w = s->axes[i].weights[tap];

      combination /= s->taps;
      flat = flat == 0 ? index : ADD (MULTIPLY (flat, gantry_builder_int_scalar (l->b, GANTRY_I64, s->axes[i].extent)), index);
      weight = weight == 0 ? w : MULTIPLY (weight, w);
    }
  value = gantry_lower_gather_nd (l, x, gantry_builder_reshape (l->b, flat, 3, (GantryDim[]){ batch, positions, 1 }), 1);
  if (inside != 0 && value != 0)
    value = gantry_builder_select (l->b, gantry_builder_reshape (l->b, inside, 3, (GantryDim[]){ batch, positions, 1 }), value, LIKE (value, 0));
  if (weight != 0)
    value = MULTIPLY (value, gantry_builder_reshape (l->b, weight, 3, (GantryDim[]){ batch, positions, 1 }));
  return value;
}

static gboolean
read_sampling (GantryLower *l, Sampling *s)
{
  const char *mode = gantry_lower_string (l, "mode", "linear");
  const char *padding = gantry_lower_string (l, "padding_mode", "zeros");
  guint rank = gantry_lower_rank (l, gantry_lower_operand (l, 0));

  if (!gantry_lower_check_rank (l, 0, 3, 2 + MOST_SPATIAL) || !gantry_lower_check_rank (l, 1, rank, rank))
    return FALSE;
  s->n = rank - 2;
  s->align = gantry_lower_int (l, "align_corners", 0) != 0;
  s->taps = strcmp (mode, "nearest") == 0 ? 1 : g_str_has_suffix (mode, "linear") ? 2 : g_str_has_suffix (mode, "cubic") ? 4 : 0;
  s->padding = strcmp (padding, "border") == 0 ? BORDER : strcmp (padding, "reflection") == 0 ? REFLECTION : ZEROS;
  if (s->taps == 0)
    gantry_lower_invalid (l, "mode '%s' is not known", mode);
  /* Whether the border holds for the coordinate or for each tap differs between implementations. */
  if (s->taps == 4 && s->padding == BORDER)
    gantry_lower_fail (l, "cubic interpolation with border padding is ambiguous");
  if (gantry_lower_dim (l, l->in[1], rank - 1) != s->n)
    gantry_lower_invalid (l, "the grid does not have %u coordinates", s->n);
  for (guint i = 0; i < s->n; i++)
    {
      s->axes[i].extent = gantry_lower_dim (l, l->in[0], i + 2);
      s->axes[i].low = s->align ? 0 : -0.5;
      s->axes[i].high = (double) s->axes[i].extent - (s->align ? 1 : 0.5);
    }
  return !l->failed;
}

static void
grid_sample (GantryLower *l)
{
  Sampling s = { 0 };
  GantryDim d[GANTRY_MAX_RANK], g[GANTRY_MAX_RANK];
  gint64 pixels = 1, positions = 1;
  static const gint64 channels_last[] = { 0, 2, 1 };
  guint32 x, grid, sum = 0;
  guint combinations = 1;

  if (!read_sampling (l, &s))
    return;
  gantry_lower_dims (l, l->in[0], d);
  gantry_lower_dims (l, l->in[1], g);
  for (guint i = 0; i < s.n; i++)
    {
      pixels *= d[i + 2];
      positions *= g[i + 1];
      combinations *= s.taps;
    }
  x = gantry_builder_reshape (l->b, gantry_builder_widen (l->b, l->in[0]), 3, (GantryDim[]){ d[0], d[1], pixels });
  x = gantry_builder_transpose (l->b, x, channels_last);
  grid = gantry_builder_reshape (l->b, gantry_builder_widen (l->b, l->in[1]), 3, (GantryDim[]){ g[0], positions, s.n });
  grid = gantry_builder_convert (l->b, grid, gantry_lower_element (l, x));
  for (guint i = 0; i < s.n; i++)
    {
      /* The grid counts its coordinates from the innermost dimension. */
      guint32 of_axis = gantry_builder_slice_axis (l->b, grid, 2, s.n - 1 - i, s.n - i, 1);

      prepare_axis (l, &s, &s.axes[i], gantry_builder_reshape (l->b, of_axis, 2, (GantryDim[]){ g[0], positions }));
    }
  for (guint c = 0; c < combinations && !l->failed; c++)
    {
      guint32 part = sample_taps (l, &s, x, c, g[0], positions);

      sum = sum == 0 ? part : ADD (sum, part);
    }
  sum = sum != 0 ? gantry_builder_transpose (l->b, sum, channels_last) : 0;
  for (guint i = 0; i < s.n; i++)
    d[i + 2] = g[i + 1];
  l->out[0] = gantry_builder_convert (l->b, gantry_builder_reshape (l->b, sum, s.n + 2, d), gantry_lower_element (l, l->in[0]));
}

/* The coordinates in [-1, 1] of the pixels' centres along one dimension. */
static guint32
base_coordinates (GantryLower *l, guint32 theta, gint64 extent, gboolean align, guint rank, guint axis)
{
  double *values = gantry_arena_new0 (l->arena, double, extent + 1);

  for (gint64 i = 0; i < extent; i++)
    values[i] = align ? -1 + 2.0 * (double) i / (double) (extent - 1) : (2.0 * (double) i + 1) / (double) extent - 1;
  return gantry_builder_along (l->b, gantry_builder_floats (l->b, gantry_lower_element (l, theta), values, extent), rank, axis);
}

/* grid[n, ..., k] = sum over j of theta[n, k, j] times coordinate j, the last of which is 1. */
static void
affine_grid (GantryLower *l)
{
  guint32 theta = gantry_lower_operand (l, 0);
  gboolean align = gantry_lower_int (l, "align_corners", 0) != 0;
  const GantryType *declared = gantry_lower_declared (l, 0);
  gint64 batch = gantry_lower_dim (l, theta, 0);
  guint n = (guint) gantry_lower_dim (l, theta, 1);
  gint64 extents[MOST_SPATIAL];
  gsize n_size = 0;
  const gint64 *size = gantry_lower_known_ints (l, gantry_lower_operand (l, 1), &n_size);
  GantryDim one[GANTRY_MAX_RANK] = { batch, 1, 1, 1, 1 };
  guint32 sum = 0;

  if (!gantry_lower_check_rank (l, 0, 3, 3))
    return;
  if (n < 2 || n > 3 || gantry_lower_dim (l, theta, 2) != n + 1 || (size != NULL && n_size != n + 2))
    gantry_lower_invalid (l, "theta or size is not of 2 or 3 dimensions");
  else if (size == NULL && (declared == NULL || declared->rank != n + 2))
    gantry_lower_needs_constant (l, gantry_lower_operand (l, 1), "size");
  for (guint i = 0; i < n && !l->failed; i++)
    {
      extents[i] = size != NULL ? size[i + 2] : declared->dims[i + 1];
      if (extents[i] < 1 || extents[i] > (1 << 20) || (align && extents[i] == 1))
        gantry_lower_fail (l, "extent %" G_GINT64_FORMAT, extents[i]);
    }
  one[n + 1] = n;
  for (guint j = 0; j <= n && !l->failed; j++)
    {
      guint32 column = gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, theta, 2, j, j + 1, 1), n + 2, one);

      /* Coordinate 0 runs along the innermost dimension. */
      if (j < n)
        column = MULTIPLY (column, base_coordinates (l, theta, extents[n - 1 - j], align, n + 2, n - j));
      sum = sum == 0 ? column : ADD (sum, column);
    }
  l->out[0] = sum;
}

/* clang-format off */
const GantryLowerRule gantry_lower_sample_rules[] = {
  { "GridSample", grid_sample, GANTRY_CLASS_MOVEMENT, 0, 0, NULL },
  { "AffineGrid", affine_grid, GANTRY_CLASS_ELEMENTWISE, 0, 0, NULL },
  { NULL },
};
/* clang-format on */
