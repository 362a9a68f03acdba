/* SPDX-License-Identifier: Apache-2.0 */
/* Resize and Upsample. Interpolation is separable, so each axis is resized by itself: every output
 * position has a few taps (input index, weight), known at compile time; a tap is one gather with a
 * literal times one vector of weights. Many taps (antialiasing) are gathered at once and summed.
 * Coordinates are those of the specification and its reference implementation: a fractional scale
 * stays fractional where it maps coordinates, also where the extent was rounded. */
#include "core/frontends/onnx/onnx-lower.h"

#define MOST_TAPS 8 /* more of them than this are gathered at once */
#define MOST_EXTENT (1 << 20)
#define MOST_WEIGHTS (1 << 24)

typedef enum
{
  HALF_PIXEL,
  HALF_PIXEL_SYMMETRIC,
  PYTORCH_HALF_PIXEL,
  ALIGN_CORNERS,
  ASYMMETRIC,
  CROP_AND_RESIZE
} Coordinates;
typedef enum
{
  NEAREST,
  LINEAR,
  CUBIC
} Mode;
typedef enum
{
  PREFER_FLOOR,
  PREFER_CEIL,
  FLOOR,
  CEIL,
  SIMPLE
} Nearest;

typedef struct
{
  Coordinates coordinates;
  Mode mode;
  Nearest nearest;
  double cubic_a;
  gboolean exclude_outside, antialias;
} Options;

/* One axis: @taps indices and weights for each of @out positions, position by position. */
typedef struct
{
  gint64 in, out, taps;
  double scale;
  gboolean whole; /* scale is out / in exactly: coordinates are computed without rounding that */
  double roi_start, roi_end;
  gint64 *indices;
  double *weights;
  gboolean *outside; /* crop_and_resize: the extrapolation value stands here */
  gboolean any_outside;
} Axis;

/* @x / scale. A scale is a number of f32, and rounded as that is 8 / 1.6 the position 5 and not the one before it. */
static double
unscaled (const Axis *a, double x)
{
  return a->whole ? x * (double) a->in / (double) a->out : (double) ((float) x / (float) a->scale);
}

static double
original_coordinate (const Options *options, const Axis *a, gint64 i)
{
  double width = a->whole ? (double) a->out : a->scale * (double) a->in;
  double x = (double) i;
  double span = a->roi_end - a->roi_start;

  switch (options->coordinates)
    {
    case HALF_PIXEL: return unscaled (a, x + 0.5) - 0.5;
    case HALF_PIXEL_SYMMETRIC: /* rounded to f32 as a whole: the borders between pixels lie there */
      return (double) (float) ((double) a->in / 2 * (1 - (double) a->out / width) + (x + 0.5) * (double) a->in / width - 0.5);
    case PYTORCH_HALF_PIXEL: return a->out > 1 ? unscaled (a, x + 0.5) - 0.5 : 0;
    case ALIGN_CORNERS: return width == 1 || a->out == 1 ? 0 : x * (double) (a->in - 1) / (width - 1);
    case ASYMMETRIC: return unscaled (a, x);
    case CROP_AND_RESIZE:
      if (a->out <= 1 || width == 1)
        return 0.5 * (a->roi_start + a->roi_end) * (double) (a->in - 1);
      return a->roi_start * (double) (a->in - 1) + x * span * (double) (a->in - 1) / (width - 1);
    }
  return 0;
}

static gint64
nearest_index (Nearest nearest, double x, double scale)
{
  switch (nearest)
    {
    case PREFER_FLOOR: return (gint64) ceil (x - 0.5);
    case PREFER_CEIL: return (gint64) floor (x + 0.5);
    case FLOOR: return (gint64) floor (x);
    case CEIL: return (gint64) ceil (x);
    case SIMPLE: /* versions before 11 */ return (gint64) (scale < 1 ? ceil (x) : floor (x));
    }
  return 0;
}

/* The kernels: a triangle, and Keys' cubic (IEEE ASSP 29, 1981, equation 4 with coefficient a). */
static double
kernel_weight (const Options *options, double distance)
{
  double d = fabs (distance);
  double a = options->cubic_a;

  if (options->mode == LINEAR)
    return d < 1 ? 1 - d : 0;
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Fills the taps of output position @i, whose first tap is at index @first and of weight
 * @weights[0]. */
static void
fill_position (const Options *options, Axis *a, gint64 i, gint64 reach, double shrink)
{
  gint64 *indices = a->indices + i * a->taps;
  double *weights = a->weights + i * a->taps;
  double x = original_coordinate (options, a, i);
  double sum = 0;

  /* Far outside is all the edge; keeps the conversions below defined. */
  x = CLAMP (x, -2.0 * (double) a->in - 4, 3.0 * (double) a->in + 4);
  a->outside[i] = options->coordinates == CROP_AND_RESIZE && (x < 0 || x > (double) (a->in - 1));
  a->any_outside |= a->outside[i];
  if (options->mode == NEAREST)
    {
      indices[0] = CLAMP (nearest_index (options->nearest, x, a->scale), 0, a->in - 1);
      weights[0] = 1;
      return;
    }
  for (gint64 k = 0; k < a->taps; k++)
    {
      gint64 index = (gint64) floor (x) - reach + 1 + k;

      weights[k] = kernel_weight (options, ((double) index - x) * shrink);
      if (options->exclude_outside && (index < 0 || index >= a->in))
        weights[k] = 0;
      indices[k] = CLAMP (index, 0, a->in - 1);
      sum += weights[k];
    }
  for (gint64 k = 0; k < a->taps && sum != 0 && (options->exclude_outside || options->antialias); k++)
    weights[k] /= sum;
}

static gboolean
fill_axis (GantryLower *l, const Options *options, Axis *a)
{
  double shrink = options->antialias ? MIN (a->scale, 1.0) : 1.0;
  gint64 reach = options->mode == NEAREST ? 0 : (gint64) ceil ((options->mode == CUBIC ? 2 : 1) / shrink);

  a->taps = options->mode == NEAREST ? 1 : 2 * reach;
  if (a->in < 1 || a->out > MOST_EXTENT || a->taps > MOST_EXTENT || a->out * a->taps > MOST_WEIGHTS)
    {
      gantry_lower_fail (l, "from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " positions is too much", a->in, a->out);
      return FALSE;
    }
  a->indices = gantry_arena_new0 (l->arena, gint64, a->out * a->taps + 1);
  a->weights = gantry_arena_new0 (l->arena, double, a->out * a->taps + 1);
  a->outside = gantry_arena_new0 (l->arena, gboolean, a->out + 1);
  for (gint64 i = 0; i < a->out; i++)
    fill_position (options, a, i, reach, shrink);
  return TRUE;
}

/* Whether each input position is repeated the same number of times: a broadcast, not a gather. */
static gboolean
is_repetition (const Axis *a)
{
  if (a->taps != 1 || a->out % a->in != 0)
    return FALSE;
  for (gint64 i = 0; i < a->out; i++)
    if (a->indices[i] != i / (a->out / a->in))
      return FALSE;
  return TRUE;
}

static guint32
repeat_axis (GantryLower *l, guint32 x, guint axis, gint64 times)
{
  GantryDim wide[GANTRY_MAX_RANK + 1], dims[GANTRY_MAX_RANK];
  gint64 from[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);

  if (rank >= GANTRY_MAX_RANK || x == 0)
    return 0;
  for (guint i = 0; i < rank; i++)
    {
      from[i] = i <= axis ? i : i + 1;
      wide[from[i]] = dims[i];
    }
  wide[axis + 1] = times;
  dims[axis] *= times;
  return gantry_builder_reshape (l->b, gantry_builder_broadcast (l->b, x, rank + 1, wide, from), rank, dims);
}

/* The taps of all positions, [out, taps] in place of the axis, times their weights, summed over the taps. A matrix with
 * zeros for all other positions would make NaN of one infinite value everywhere. */
static guint32
sum_many_taps (GantryLower *l, guint32 x, guint axis, const Axis *a)
{
  gint64 n = a->out * a->taps, along = axis + 1;
  guint rank = gantry_lower_rank (l, x);
  GantryDim weights[GANTRY_MAX_RANK], at[] = { a->out, a->taps };
  guint32 indices = gantry_builder_reshape (l->b, gantry_builder_ints (l->b, a->indices, (gsize) n), 2, at);
  guint32 w = gantry_builder_floats (l->b, gantry_lower_element (l, x), a->weights, n);

  if (rank >= GANTRY_MAX_RANK)
    {
      gantry_lower_fail (l, "too many dimensions");
      return 0;
    }
  for (guint i = 0; i <= rank; i++)
    weights[i] = i == axis ? a->out : i == axis + 1 ? a->taps : 1;
  x = gantry_builder_take (l->b, x, axis, indices);
  w = gantry_builder_reshape (l->b, w, rank + 1, weights);
  x = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MULTIPLY, x, w);
  /* A tap of weight 0 stands for no position at all. */
  x = w != 0 && x != 0
        ? gantry_builder_select (l->b, gantry_builder_compare (l->b, "NE", w, gantry_builder_like (l->b, w, 0)), x, gantry_builder_like (l->b, x, 0))
        : 0;
  return gantry_builder_reduce_axes (l->b, "add", x, &along, 1, FALSE);
}

static guint32
sum_taps (GantryLower *l, guint32 x, guint axis, const Axis *a)
{
  gint64 *indices = gantry_arena_new0 (l->arena, gint64, a->out + 1);
  double *weights = gantry_arena_new0 (l->arena, double, a->out + 1);
  GantryElementType element = gantry_lower_element (l, x);
  guint rank = gantry_lower_rank (l, x);
  guint32 sum = 0;

  for (gint64 k = 0; k < a->taps; k++)
    {
      gboolean all_one = TRUE, all_zero = TRUE;
      guint32 part;

      for (gint64 i = 0; i < a->out; i++)
        {
          indices[i] = a->indices[i * a->taps + k];
          weights[i] = a->weights[i * a->taps + k];
          all_one = all_one && weights[i] == 1;
          all_zero = all_zero && weights[i] == 0;
        }
      if (all_zero)
        continue;
      part = gantry_lower_take (l, x, axis, indices, a->out);
      if (!all_one)
        part = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MULTIPLY, part,
                                                gantry_builder_along (l->b, gantry_builder_floats (l->b, element, weights, a->out), rank, axis));
      sum = sum == 0 ? part : gantry_builder_binary_broadcast (l->b, GANTRY_OP_ADD, sum, part);
    }
  return sum;
}

static guint32
resize_axis (GantryLower *l, guint32 x, guint axis, const Axis *a)
{
  if (is_repetition (a))
    return a->out == a->in ? x : repeat_axis (l, x, axis, a->out / a->in);
  if (a->taps > MOST_TAPS)
    return sum_many_taps (l, x, axis, a);
  return sum_taps (l, x, axis, a);
}

static gint
find_name (const char *const *names, gint n, const char *name)
{
  for (gint i = 0; i < n; i++)
    if (strcmp (names[i], name) == 0)
      return i;
  return -1;
}

static gboolean
read_options (GantryLower *l, Options *options)
{
  static const char *const coordinates[] = { "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize" };
  static const char *const modes[] = { "nearest", "linear", "cubic" };
  static const char *const nearest[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil" };
  gboolean old = l->rule->arg || l->opset < 11;
  const char *mode = gantry_lower_string (l, "mode", "nearest");
  gint c = old ? ASYMMETRIC : find_name (coordinates, 6, gantry_lower_string (l, "coordinate_transformation_mode", "half_pixel"));
  gint m = strcmp (mode, "bilinear") == 0 ? LINEAR : find_name (modes, 3, mode);
  gint n = old ? SIMPLE : find_name (nearest, 4, gantry_lower_string (l, "nearest_mode", "round_prefer_floor"));

  if (c < 0 || m < 0 || n < 0)
    {
      gantry_lower_fail (l, "mode '%s' with these coordinates is not known", mode);
      return FALSE;
    }
  *options = (Options){ .coordinates = (Coordinates) c, .mode = (Mode) m, .nearest = (Nearest) n };
  options->cubic_a = gantry_lower_float (l, "cubic_coeff_a", -0.75);
  options->exclude_outside = gantry_lower_int (l, "exclude_outside", 0) != 0;
  options->antialias = gantry_lower_int (l, "antialias", 0) != 0 && m != NEAREST;
  return TRUE;
}

static gboolean
is_given (GantryLower *l, guint i)
{
  return gantry_lower_has (l, i) && gantry_type_elements (gantry_lower_type (l, l->in[i])) > 0;
}

/* Extents and scales from `sizes`, under the policy that keeps the aspect ratio. */
static gboolean
extents_from_sizes (GantryLower *l, guint i, const gint64 *axes, gsize n, Axis *all)
{
  const char *policy = gantry_lower_string (l, "keep_aspect_ratio_policy", "stretch");
  gboolean larger = strcmp (policy, "not_smaller") == 0;
  const GantryType *declared = gantry_lower_declared (l, 0);
  gboolean stretch = strcmp (policy, "stretch") == 0;
  gsize n_sizes;
  const gint64 *sizes = gantry_lower_known_ints (l, l->in[i], &n_sizes);
  double scale = 0;

  if (sizes == NULL && (declared == NULL || !stretch || declared->rank != gantry_lower_rank (l, l->in[0])))
    {
      gantry_lower_needs_constant (l, l->in[i], "list of sizes");
      return FALSE;
    }
  if (sizes != NULL && n_sizes != n)
    {
      gantry_lower_invalid (l, "%" G_GSIZE_FORMAT " sizes for %" G_GSIZE_FORMAT " axes", n_sizes, n);
      return FALSE;
    }
  for (gsize k = 0; k < n; k++)
    {
      Axis *a = &all[axes[k]];
      double ratio;

      a->out = sizes != NULL ? sizes[k] : declared->dims[axes[k]];
      ratio = a->in > 0 ? (double) a->out / (double) a->in : 0;
      a->scale = ratio;
      a->whole = stretch;
      scale = k == 0 ? ratio : larger ? MAX (scale, ratio) : MIN (scale, ratio);
      if (a->out < 1 || a->out > MOST_EXTENT)
        {
          gantry_lower_invalid (l, "size %" G_GINT64_FORMAT " is out of range", a->out);
          return FALSE;
        }
    }
  for (gsize k = 0; k < n && !stretch; k++)
    {
      all[axes[k]].scale = scale;
      all[axes[k]].out = (gint64) floor (scale * (double) all[axes[k]].in + 0.5);
    }
  return TRUE;
}

static gboolean
extents_from_scales (GantryLower *l, const double *scales, gsize n_scales, const gint64 *axes, gsize n, Axis *all)
{
  if (scales == NULL)
    gantry_lower_needs_constant (l, gantry_lower_operand (l, l->rule->arg || l->opset < 11 ? 1 : 2), "list of scales");
  else if (n_scales != n)
    gantry_lower_invalid (l, "%" G_GSIZE_FORMAT " scales for %" G_GSIZE_FORMAT " axes", n_scales, n);
  for (gsize k = 0; k < n && !l->failed; k++)
    {
      Axis *a = &all[axes[k]];

      a->scale = scales[k];
      if (!(scales[k] > 0) || scales[k] * (double) a->in > MOST_EXTENT)
        gantry_lower_invalid (l, "scale %g is out of range", scales[k]);
      else
        a->out = (gint64) floor (scales[k] * (double) a->in);
    }
  return !l->failed;
}

static gboolean
read_region (GantryLower *l, const gint64 *axes, gsize n, Axis *all)
{
  gsize n_roi;
  double *roi = gantry_lower_known_doubles (l, gantry_lower_operand (l, 1), &n_roi);

  if (roi == NULL)
    gantry_lower_needs_constant (l, gantry_lower_operand (l, 1), "region of interest");
  else if (n_roi != 2 * n)
    gantry_lower_invalid (l, "the region of interest does not have %" G_GSIZE_FORMAT " values", 2 * n);
  for (gsize k = 0; k < n && !l->failed; k++)
    {
      all[axes[k]].roi_start = roi[k];
      all[axes[k]].roi_end = roi[n + k];
    }
  return !l->failed;
}

/* Which operand or attribute says the extents differs by version. */
static gboolean
read_extents (GantryLower *l, const Options *options, const gint64 *axes, gsize n, Axis *all)
{
  guint scales_at = l->rule->arg || l->opset < 11 ? 1 : 2;
  gsize n_scales = 0;
  const double *scales = gantry_attrs_floats (l->context, l->node->attrs, "scales", &n_scales);

  if (options->coordinates == CROP_AND_RESIZE && !read_region (l, axes, n, all))
    return FALSE;
  if (scales_at == 2 && is_given (l, 3))
    return extents_from_sizes (l, 3, axes, n, all);
  if (scales == NULL && is_given (l, scales_at))
    scales = gantry_lower_known_doubles (l, l->in[scales_at], &n_scales);
  return extents_from_scales (l, scales, n_scales, axes, n, all);
}

/* The extrapolation value where any axis lies outside. */
static guint32
extrapolate (GantryLower *l, guint32 x, guint rank, const Axis *all)
{
  guint32 anywhere = 0;

  for (guint i = 0; i < rank; i++)
    if (all[i].any_outside)
      {
        double *flags = gantry_arena_new0 (l->arena, double, all[i].out + 1);
        guint32 outside;

        for (gint64 k = 0; k < all[i].out; k++)
          flags[k] = all[i].outside[k];
        outside = gantry_builder_along (l->b, gantry_builder_floats (l->b, GANTRY_BOOL, flags, all[i].out), rank, i);
        anywhere = anywhere == 0 ? outside : gantry_builder_binary_broadcast (l->b, GANTRY_OP_OR, anywhere, outside);
      }
  if (anywhere == 0)
    return x;
  return gantry_builder_select (l->b, anywhere, gantry_builder_like (l->b, x, gantry_lower_float (l, "extrapolation_value", 0)), x);
}

static void
resize (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, x);
  guint rank = gantry_lower_rank (l, x);
  Axis *all = gantry_arena_new0 (l->arena, Axis, GANTRY_MAX_RANK);
  Options options;
  gsize n = 0;
  gint64 *axes = gantry_lower_axes (l, G_MAXUINT, rank, &n);

  if (!gantry_lower_check_rank (l, 0, 1, GANTRY_MAX_RANK) || l->failed || !read_options (l, &options))
    return;
  if (axes == NULL)
    {
      axes = gantry_arena_new0 (l->arena, gint64, rank + 1);
      for (n = 0; n < rank; n++)
        axes[n] = (gint64) n;
    }
  for (guint i = 0; i < rank; i++)
    all[i] = (Axis){ .in = gantry_lower_dim (l, x, i), .out = gantry_lower_dim (l, x, i), .scale = 1, .roi_end = 1 };
  if (!read_extents (l, &options, axes, n, all))
    return;
  if (options.mode != NEAREST && !gantry_element_is_float (element))
    {
      gantry_lower_fail (l, "interpolation of whole numbers is not supported");
      return;
    }
  if (options.mode != NEAREST)
    x = gantry_builder_widen (l->b, x);
  for (guint i = 0; i < rank && !l->failed; i++)
    {
      gboolean whole = all[i].roi_start == 0 && all[i].roi_end == 1;

      if ((all[i].out == all[i].in && all[i].scale == 1 && whole) || !fill_axis (l, &options, &all[i]))
        continue;
      x = resize_axis (l, x, i, &all[i]);
    }
  if (!l->failed)
    l->out[0] = gantry_builder_convert (l->b, extrapolate (l, x, rank, all), element);
}

/* clang-format off */
const GantryLowerRule gantry_lower_resize_rules[] = {
  { "Resize", resize, GANTRY_CLASS_MOVEMENT, 0, FALSE, NULL },
  { "Upsample", resize, GANTRY_CLASS_MOVEMENT, 0, TRUE, NULL },
  { NULL },
};
/* clang-format on */
