/* SPDX-License-Identifier: Apache-2.0 */
/* Enlarging and reducing by interpolation, an axis at a time, and reading at positions that are computed: affine grids and grid samples. */
#include "core/frontends/torch/lower-words-private.h"

#define MOST_SIZE ((gint64) 1 << 24)
#define MOST_TAPS 128

typedef enum
{
  NEAREST,
  NEAREST_EXACT,
  LINEAR,
  CUBIC,
  SMOOTH_LINEAR, /* with antialiasing */
  SMOOTH_CUBIC
} Method;

/* The scale of an axis that torch computes positions with. */
static double
axis_scale (AtenLower *l, guint i, guint n, gint64 in, gint64 out, gboolean corners)
{
  static const char *const names[3][3] = { { "scales", NULL, NULL }, { "scales_h", "scales_w", NULL }, { "scales_d", "scales_h", "scales_w" } };
  gsize n_factors = 0;
  const double *factors = gantry_attrs_floats (l->context, l->node->attrs, "scale_factors", &n_factors);
  double given = n_factors == n ? factors[i] : n <= 3 ? gantry_aten_number (l, names[n - 1][i], 0) : 0;

  if (corners)
    return out > 1 ? (double) (in - 1) / (double) (out - 1) : 0;
  return given > 0 ? 1 / given : (double) in / (double) out;
}

/* Keys's kernel: of torch's bicubic a is -0.75, with antialiasing -0.5. */
static double
cubic (double x, double a)
{
  x = fabs (x);
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* What an output reads: elements of the axis with their weights. */
typedef struct
{
  guint n;
  gint64 at[MOST_TAPS];
  double weight[MOST_TAPS];
} Taps;

static void
taps_between (Taps *taps, Method method, double at, gint64 n)
{
  gint64 first = (gint64) floor (at);
  double part = at - (double) first;

  taps->n = method == CUBIC ? 4 : 2;
  for (guint k = 0; k < taps->n; k++)
    {
      gint64 where = first + k - (method == CUBIC);

      taps->at[k] = CLAMP (where, 0, n - 1);
      taps->weight[k] = method == CUBIC ? cubic ((double) k - 1 - part, -0.75) : k == 0 ? 1 - part : part;
    }
}

/* All that the kernel, as wide as an output is, covers. */
static gboolean
taps_covered (Taps *taps, Method method, double centre, double scale, gint64 n)
{
  double reach = (method == SMOOTH_CUBIC ? 2 : 1) * MAX (scale, 1), sum = 0;
  gint64 from = MAX ((gint64) (centre - reach + 0.5), 0), to = MIN ((gint64) (centre + reach + 0.5), n);

  if (to - from > MOST_TAPS || to <= from)
    return FALSE;
  taps->n = (guint) (to - from);
  for (guint k = 0; k < taps->n; k++)
    {
      double x = ((double) (from + k) - centre + 0.5) / MAX (scale, 1);

      taps->at[k] = from + k;
      taps->weight[k] = method == SMOOTH_CUBIC ? cubic (x, -0.5) : MAX (1 - fabs (x), 0);
      sum += taps->weight[k];
    }
  for (guint k = 0; k < taps->n; k++)
    taps->weight[k] /= sum;
  return TRUE;
}

static gboolean
taps_of (Taps *taps, Method method, gint64 o, double scale, gint64 n, gboolean corners)
{
  double centre = scale * ((double) o + 0.5), at = corners ? scale * (double) o : centre - 0.5;

  *taps = (Taps){ .n = 1, .weight = { 1 } };
  switch (method)
    {
    case NEAREST: taps->at[0] = CLAMP ((gint64) (scale * (double) o), 0, n - 1); return TRUE;
    case NEAREST_EXACT: taps->at[0] = CLAMP ((gint64) centre, 0, n - 1); return TRUE;
    case LINEAR: taps_between (taps, method, MAX (at, 0), n); return TRUE;
    case CUBIC: taps_between (taps, method, at, n); return TRUE;
    default: return taps_covered (taps, method, centre, scale, n);
    }
}

static gint64
most_taps (Method method)
{
  return method > CUBIC ? MOST_TAPS : 4;
}

/* The sum over taps of what is taken along the axis, times its weight. */
static guint32
resize_axis (AtenLower *l, guint32 x, gint64 axis, gint64 out, double scale, Method method, gboolean corners)
{
  gint64 n = gantry_aten_dim (l, x, axis), *at = gantry_arena_new0 (l->arena, gint64, out * most_taps (method) + 1);
  double *weights = gantry_arena_new0 (l->arena, double, out *most_taps (method) + 1);
  guint most = 0;
  guint32 sum = 0;

  for (gint64 o = 0; o < out; o++)
    {
      Taps taps;

      if (!taps_of (&taps, method, o, scale, n, corners))
        {
          gantry_aten_refuse (l, "an output reads more than %d elements of an axis", MOST_TAPS);
          return 0;
        }
      for (guint k = 0; k < taps.n; k++)
        {
          at[k * out + o] = taps.at[k];
          weights[k * out + o] = taps.weight[k];
        }
      most = MAX (most, taps.n);
    }
  for (guint k = 0; k < most; k++)
    {
      guint32 part = gantry_builder_take (l->b, x, axis, gantry_builder_ints (l->b, at + k * out, (gsize) out));

      if (method > NEAREST_EXACT)
        part = BINARY (MULTIPLY, part, gantry_aten_floats_along (l, gantry_aten_element (l, x), weights + k * out, out, gantry_aten_rank (l, x), axis));
      sum = k == 0 ? part : BINARY (ADD, sum, part);
    }
  return sum;
}

/* text: as many letters as there are spatial dimensions */
static void
resize (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, gantry_aten_in (l, "self") != 0 ? "self" : "input");
  const GantryType *type = gantry_aten_declared (l, 0);
  guint rank = gantry_aten_rank (l, x), n = (guint) strlen (l->rule->text);
  gboolean corners = gantry_aten_int (l, "align_corners", 0) != 0;

  if (rank != type->rank || rank != n + 2)
    {
      gantry_aten_refuse (l, "an input of %u dimensions", rank);
      return;
    }
  x = l->rule->arg > NEAREST_EXACT ? gantry_builder_widen (l->b, x) : x;
  for (guint i = 0; i < n && !l->failed; i++)
    {
      gint64 in = gantry_aten_dim (l, x, i + 2), out = type->dims[i + 2];

      if (in < 1 || out < 1 || out > MOST_SIZE / most_taps ((Method) l->rule->arg))
        gantry_aten_refuse (l, "an axis of %" G_GINT64_FORMAT " made %" G_GINT64_FORMAT, in, out);
      else if (in != out)
        x = resize_axis (l, x, i + 2, out, axis_scale (l, i, n, in, out, corners), (Method) l->rule->arg, corners);
    }
  l->out[0] = x;
}

/* Grids */

/* Positions from -1 to 1 along an axis of @n: of corners, or of the middles of elements. */
static guint32
positions (AtenLower *l, GantryElementType element, gint64 n, gboolean corners, guint rank, gint64 axis)
{
  double *values = gantry_arena_new0 (l->arena, double, n + 1);

  for (gint64 i = 0; i < n; i++)
    values[i] = corners ? (n > 1 ? 2.0 * (double) i / (double) (n - 1) - 1 : 0) : (2.0 * (double) i + 1) / (double) n - 1;
  return gantry_aten_floats_along (l, element, values, n, rank, axis);
}

/* grid[n, h, w, k] = theta[n, k, 0] x[w] + theta[n, k, 1] y[h] + theta[n, k, 2]; likewise in space. */
static void
affine_grid (AtenLower *l)
{
  guint32 theta = gantry_aten_need (l, "theta"), sum = 0;
  const GantryType *type = gantry_aten_declared (l, 0);
  guint n = type->rank >= 2 ? type->rank - 2 : 0;
  gboolean corners = gantry_aten_int (l, "align_corners", 0) != 0;
  GantryDim dims[GANTRY_MAX_RANK];

  if (n < 2 || n > 3 || gantry_aten_rank (l, theta) != 3 || gantry_aten_dim (l, theta, 1) != n || gantry_aten_dim (l, theta, 2) != n + 1
      || gantry_type_elements (type) > MOST_SIZE)
    {
      gantry_aten_refuse (l, "a grid of these sizes");
      return;
    }
  for (guint i = 0; i < type->rank; i++)
    dims[i] = i == 0 ? gantry_aten_dim (l, theta, 0) : i == n + 1 ? n : 1;
  for (guint k = 0; k <= n; k++)
    {
      guint32 part = gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, theta, 2, k, k + 1, 1), type->rank, dims);

      if (k < n)
        part = BINARY (MULTIPLY, part, positions (l, gantry_aten_element (l, theta), type->dims[n - k], corners, type->rank, n - k));
      sum = k == 0 ? part : BINARY (ADD, sum, part);
    }
  l->out[0] = gantry_builder_broadcast_to (l->b, sum, type->rank, type->dims);
}

enum
{
  PAD_ZEROS,
  PAD_BORDER,
  PAD_REFLECTION
};

/* @x folded back into [@low, @low + @span]. */
static guint32
reflected (AtenLower *l, guint32 x, double low, double span)
{
  guint32 rest, turns, odd;

  if (span <= 0)
    return LIKE (x, 0);
  x = UNARY (ABS, gantry_builder_offset (l->b, x, -low));
  rest = BINARY (REMAINDER, x, LIKE (x, span));
  turns = UNARY (FLOOR, gantry_builder_scale (l->b, x, 1 / span));
  odd = gantry_builder_compare (l->b, "NE", BINARY (REMAINDER, turns, LIKE (turns, 2)), LIKE (turns, 0));
  return gantry_builder_offset (l->b, gantry_builder_select (l->b, odd, BINARY (SUBTRACT, LIKE (rest, span), rest), rest), low);
}

/* Coordinate @k of the grid as a place along an axis of @n elements; [batch, 1, places] */
static guint32
place_of (AtenLower *l, guint32 grid, gint64 k, gint64 n, gboolean corners, gint64 padding)
{
  const GantryType *type = gantry_aten_type (l, grid);
  guint32 x = gantry_builder_slice_axis (l->b, grid, 3, k, k + 1, 1);
  double size = (double) n;

  x = gantry_builder_reshape (l->b, x, 3, (GantryDim[]){ type->dims[0], 1, type->dims[1] * type->dims[2] });
  x = corners ? gantry_builder_scale (l->b, gantry_builder_offset (l->b, x, 1), (size - 1) / 2)
              : gantry_builder_scale (l->b, gantry_builder_offset (l->b, gantry_builder_scale (l->b, gantry_builder_offset (l->b, x, 1), size), -1), 0.5);
  if (padding == PAD_REFLECTION)
    x = reflected (l, x, corners ? 0 : -0.5, corners ? size - 1 : size);
  if (padding != PAD_ZEROS)
    x = BINARY (MINIMUM, BINARY (MAXIMUM, x, LIKE (x, 0)), LIKE (x, size - 1));
  return x;
}

/* @x at whole places, 0 outside of it; @x: [batch, channels, height * width] */
static guint32
element_at (AtenLower *l, guint32 x, guint32 row, guint32 column, gint64 height, gint64 width)
{
  guint32 inside = BINARY (
    AND, BINARY (AND, gantry_builder_compare (l->b, "GE", row, LIKE (row, 0)), gantry_builder_compare (l->b, "LE", row, LIKE (row, (double) height - 1))),
    BINARY (AND, gantry_builder_compare (l->b, "GE", column, LIKE (column, 0)),
            gantry_builder_compare (l->b, "LE", column, LIKE (column, (double) width - 1))));
  guint32 at = BINARY (ADD, BINARY (MULTIPLY, gantry_builder_convert (l->b, row, GANTRY_I64), gantry_builder_int_scalar (l->b, GANTRY_I64, width)),
                       gantry_builder_convert (l->b, column, GANTRY_I64)),
          value;
  const GantryType *type;

  at = gantry_builder_select (l->b, inside, at, gantry_builder_int_scalar (l->b, GANTRY_I64, 0));
  if (at == 0)
    return 0;
  type = gantry_aten_type (l, at);
  at = gantry_builder_broadcast_to (l->b, at, 3, (GantryDim[]){ type->dims[0], gantry_aten_dim (l, x, 1), type->dims[2] });
  value = gantry_aten_gather (l, x, at, 2);
  return gantry_builder_select (l->b, inside, value, LIKE (value, 0));
}

static void
grid_sample (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "input"), grid = gantry_aten_need (l, "grid"), row, column, top, left, sum = 0;
  const GantryType *type = gantry_aten_declared (l, 0);
  gint64 mode = gantry_aten_int (l, "interpolation_mode", 0), padding = gantry_aten_int (l, "padding_mode", 0), height, width;
  gboolean corners = gantry_aten_int (l, "align_corners", 0) != 0;

  if (gantry_aten_rank (l, x) != 4 || gantry_aten_rank (l, grid) != 4 || mode < 0 || mode > 1 || gantry_aten_dim (l, x, 2) < 1 || gantry_aten_dim (l, x, 3) < 1)
    {
      gantry_aten_refuse (l, mode == 2 ? "bicubic interpolation" : "only images are supported");
      return;
    }
  height = gantry_aten_dim (l, x, 2), width = gantry_aten_dim (l, x, 3);
  x = gantry_builder_reshape (l->b, x, 3, (GantryDim[]){ gantry_aten_dim (l, x, 0), gantry_aten_dim (l, x, 1), height * width });
  column = place_of (l, grid, 0, width, corners, padding);
  row = place_of (l, grid, 1, height, corners, padding);
  if (mode == 1)
    {
      sum = element_at (l, x, UNARY (ROUND_NEAREST_EVEN, row), UNARY (ROUND_NEAREST_EVEN, column), height, width);
      l->out[0] = gantry_builder_reshape (l->b, sum, type->rank, type->dims);
      return;
    }
  top = UNARY (FLOOR, row), left = UNARY (FLOOR, column);
  for (guint k = 0; k < 4; k++)
    {
      guint32 down = BINARY (SUBTRACT, row, top), right = BINARY (SUBTRACT, column, left), part;

      part = element_at (l, x, gantry_builder_offset (l->b, top, k / 2), gantry_builder_offset (l->b, left, k % 2), height, width);
      part = BINARY (MULTIPLY, part, k / 2 != 0 ? down : BINARY (SUBTRACT, LIKE (down, 1), down));
      part = BINARY (MULTIPLY, part, k % 2 != 0 ? right : BINARY (SUBTRACT, LIKE (right, 1), right));
      sum = k == 0 ? part : BINARY (ADD, sum, part);
    }
  l->out[0] = gantry_builder_reshape (l->b, sum, type->rank, type->dims);
}

/* clang-format off */
#define RULE(name, method, axes) { name, resize, GANTRY_CLASS_MOVEMENT, method, axes }

const AtenRule gantry_aten_resize_rules[] = {
  RULE ("upsample_nearest1d", NEAREST, "w"), RULE ("upsample_nearest2d", NEAREST, "hw"), RULE ("upsample_nearest3d", NEAREST, "dhw"),
  RULE ("_upsample_nearest_exact1d", NEAREST_EXACT, "w"), RULE ("_upsample_nearest_exact2d", NEAREST_EXACT, "hw"),
  RULE ("_upsample_nearest_exact3d", NEAREST_EXACT, "dhw"), RULE ("upsample_linear1d", LINEAR, "w"), RULE ("upsample_bilinear2d", LINEAR, "hw"),
  RULE ("upsample_trilinear3d", LINEAR, "dhw"), RULE ("upsample_bicubic2d", CUBIC, "hw"), RULE ("_upsample_bilinear2d_aa", SMOOTH_LINEAR, "hw"),
  RULE ("_upsample_bicubic2d_aa", SMOOTH_CUBIC, "hw"),
  { "affine_grid_generator", affine_grid, GANTRY_CLASS_ELEMENTWISE, 0, NULL }, { "grid_sampler", grid_sample, GANTRY_CLASS_MOVEMENT, 0, NULL },
  { "grid_sampler_2d", grid_sample, GANTRY_CLASS_MOVEMENT, 0, NULL },
  { NULL },
};
/* clang-format on */
