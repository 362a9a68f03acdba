/* SPDX-License-Identifier: Apache-2.0 */
/* Signal processing: window functions, and Fourier transforms as products with matrices of cosines
 * and sines (quadratic in the length, so the length is limited). Transforms are computed in f64:
 * their sums cancel, and what should be 0 would else be noise. */
#include "core/frontends/onnx/lower-words-private.h"

#define LONGEST_WINDOW (1 << 20)
#define LONGEST_TRANSFORM 2048

/* a0 + a1 cos (angle) + a2 cos (2 angle) */
static const double window_coefficients[][3] = {
  { 0.5, -0.5, 0 },                   /* Hann */
  { 25.0 / 46, -(1 - 25.0 / 46), 0 }, /* Hamming */
  { 0.42, -0.5, 0.08 },               /* Blackman */
};

static void
window (GantryLower *l)
{
  const double *a = window_coefficients[l->rule->arg];
  GantryElementType element = gantry_lower_data_type (gantry_lower_int (l, "output_datatype", 1));
  const GantryType *declared = gantry_lower_declared (l, 0);
  gsize n_known = 0;
  gint64 *known = gantry_lower_known_ints (l, gantry_lower_operand (l, 0), &n_known);
  gint64 n = known != NULL && n_known == 1 ? known[0] : declared != NULL && declared->rank == 1 ? declared->dims[0] : -1;
  double period;
  double *values;

  if (n < 0 && known == NULL)
    gantry_lower_needs_constant (l, gantry_lower_operand (l, 0), "size");
  else if (n < 0 || n > LONGEST_WINDOW)
    gantry_lower_invalid (l, "size %" G_GINT64_FORMAT " is out of range", n);
  else if (element == GANTRY_ELEMENT_NONE)
    gantry_lower_fail (l, "element type of the result is not compiled");
  if (l->failed)
    return;
  period = gantry_lower_int (l, "periodic", 1) != 0 ? (double) n : (double) n - 1;
  values = gantry_arena_new0 (l->arena, double, n + 1);
  for (gint64 i = 0; i < n; i++)
    {
      double angle = period > 0 ? 2 * G_PI * (double) i / period : 0;

      values[i] = a[0] + a[1] * cos (angle) + a[2] * cos (2 * angle);
    }
  l->out[0] = gantry_builder_floats (l->b, element, values, n);
}

/* The matrix [n, m] of cos or sin (2 pi i j / n). */
static guint32
wave_matrix (GantryLower *l, GantryElementType element, gint64 n, gint64 m, gboolean sine)
{
  double *values = gantry_arena_new0 (l->arena, double, n *m + 1);

  for (gint64 i = 0; i < n; i++)
    for (gint64 j = 0; j < m; j++)
      {
        double angle = 2 * G_PI * (double) (i * j % n) / (double) n;

        values[i * m + j] = sine ? sin (angle) : cos (angle);
      }
  return gantry_builder_reshape (l->b, gantry_builder_floats (l->b, element, values, n * m), 2, (GantryDim[]){ n, m });
}

static guint32
times_matrix (GantryLower *l, guint32 x, gint64 axis, guint32 matrix)
{
  static const gint64 zero = 0;
  gint64 order[GANTRY_MAX_RANK];
  guint rank = gantry_lower_rank (l, x);

  x = gantry_lower_dot (l, x, matrix, NULL, NULL, 0, &axis, &zero, 1, GANTRY_ELEMENT_NONE);
  for (guint i = 0; i < rank; i++)
    order[i] = i < axis ? i : i == axis ? rank - 1 : i - 1;
  return x != 0 ? gantry_builder_transpose (l->b, x, order) : 0;
}

/* Real and imaginary part of the last dimension; imaginary 0 where the data is real. */
static gboolean
split_complex (GantryLower *l, guint32 x, guint32 *real, guint32 *imaginary)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);

  if (rank < 2 || dims[rank - 1] < 1 || dims[rank - 1] > 2)
    {
      gantry_lower_invalid (l, "the last dimension is neither 1 (real) nor 2 (complex)");
      return FALSE;
    }
  *real = gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, x, rank - 1, 0, 1, 1), rank - 1, dims);
  *imaginary = dims[rank - 1] == 2 ? gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, x, rank - 1, 1, 2, 1), rank - 1, dims) : 0;
  return TRUE;
}

/* Makes @axis @n long by cutting or by zeros at the end. */
static guint32
fit_length (GantryLower *l, guint32 x, gint64 axis, gint64 n)
{
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 };

  if (x == 0)
    return 0;
  high[axis] = n - gantry_lower_dim (l, x, axis);
  return gantry_builder_pad_if_any (l->b, x, gantry_builder_like (l->b, x, 0), low, high, NULL);
}

/* The first @m values of the transform of length @n along @axis, real and imaginary part as a last
 * dimension of 2. */
static guint32
transform (GantryLower *l, guint32 real, guint32 imaginary, gint64 axis, gint64 n, gint64 m)
{
  GantryElementType element = gantry_lower_element (l, real);
  guint32 cosine, sine, parts[2];
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank;

  if (n < 1 || n > LONGEST_TRANSFORM)
    {
      gantry_lower_fail (l, "length %" G_GINT64_FORMAT "; from 1 to %d are supported", n, LONGEST_TRANSFORM);
      return 0;
    }
  real = fit_length (l, gantry_builder_convert (l->b, real, GANTRY_F64), axis, n);
  imaginary = fit_length (l, gantry_builder_convert (l->b, imaginary, GANTRY_F64), axis, n);
  cosine = wave_matrix (l, GANTRY_F64, n, m, FALSE);
  sine = wave_matrix (l, GANTRY_F64, n, m, TRUE);
  parts[0] = times_matrix (l, real, axis, cosine);
  parts[1] = gantry_lower_unary (l, GANTRY_OP_NEGATE, times_matrix (l, real, axis, sine));
  if (imaginary != 0)
    {
      parts[0] = ADD (parts[0], times_matrix (l, imaginary, axis, sine));
      parts[1] = ADD (parts[1], times_matrix (l, imaginary, axis, cosine));
    }
  rank = gantry_lower_dims (l, parts[0], dims);
  if (rank >= GANTRY_MAX_RANK || parts[0] == 0 || parts[1] == 0)
    return 0;
  dims[rank] = 1;
  for (guint i = 0; i < 2; i++)
    {
      parts[i] = gantry_builder_convert (l->b, parts[i], element);
      parts[i] = gantry_builder_reshape (l->b, parts[i], rank + 1, dims);
    }
  return gantry_builder_concatenate (l->b, parts, 2, rank);
}

/* A length or axis that is an optional scalar operand. FALSE when it is computed at run time. */
static gboolean
scalar_operand (GantryLower *l, guint i, gint64 fallback, const char *what, gint64 *value)
{
  gsize n = 0;
  gint64 *known;

  *value = fallback;
  if (!gantry_lower_has (l, i))
    return TRUE;
  known = gantry_lower_constant_ints (l, i, &n, what);
  if (known != NULL && n == 1)
    *value = known[0];
  return known != NULL;
}

static void
dft (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gboolean one_sided = gantry_lower_int (l, "onesided", 0) != 0;
  guint32 real, imaginary;
  gint64 axis, n;

  if (l->opset >= 20)
    {
      if (!scalar_operand (l, 2, -2, "axis", &axis))
        return;
    }
  else
    axis = gantry_lower_int (l, "axis", 1);
  axis = gantry_lower_axis (l, axis, gantry_lower_rank (l, x));
  if (axis < 0 || axis == gantry_lower_rank (l, x) - 1 || !split_complex (l, x, &real, &imaginary))
    {
      gantry_lower_invalid (l, "axis is the complex one");
      return;
    }
  if (!scalar_operand (l, 1, gantry_lower_dim (l, x, axis), "length", &n))
    return;
  /* The backend test of the inverse expects the rounding noise of one library where the result is
   * 0. */
  if (gantry_lower_int (l, "inverse", 0) != 0)
    gantry_lower_fail (l, "the inverse transform is not supported");
  else if (one_sided && imaginary != 0)
    gantry_lower_fail (l, "onesided is only for real data");
  else
    l->out[0] = transform (l, real, imaginary, axis, n, one_sided ? n / 2 + 1 : n);
}

static void
stft (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gboolean one_sided = gantry_lower_int (l, "onesided", 1) != 0;
  gint64 length = gantry_lower_has (l, 2) ? gantry_lower_dim (l, l->in[2], 0) : 0;
  gint64 step, frames, frame;
  gint64 *indices;
  guint32 real, imaginary, at, parts[2];

  if (!gantry_lower_check_rank (l, 0, 3, 3) || !scalar_operand (l, 1, 0, "step", &step) || !scalar_operand (l, 3, length, "frame length", &frame)
      || !split_complex (l, x, &real, &imaginary))
    return;
  if (step < 1 || frame < 1 || frame > gantry_lower_dim (l, x, 1) || (length != 0 && length != frame) || (one_sided && imaginary != 0))
    {
      gantry_lower_invalid (l, "step, window and frame length do not fit the signal");
      return;
    }
  frames = (gantry_lower_dim (l, x, 1) - frame) / step + 1;
  if (frames * frame > LONGEST_WINDOW)
    {
      gantry_lower_fail (l, "too many frames");
      return;
    }
  indices = gantry_arena_new0 (l->arena, gint64, frames * frame + 1);
  for (gint64 i = 0; i < frames * frame; i++)
    indices[i] = i / frame * step + i % frame;
  at = gantry_builder_reshape (l->b, gantry_builder_ints (l->b, indices, frames * frame), 2, (GantryDim[]){ frames, frame });
  parts[0] = gantry_builder_take (l->b, real, 1, at);
  parts[1] = imaginary != 0 ? gantry_builder_take (l->b, imaginary, 1, at) : 0;
  for (guint i = 0; i < 2 && gantry_lower_has (l, 2); i++)
    if (parts[i] != 0)
      parts[i] = MULTIPLY (parts[i], l->in[2]);
  l->out[0] = transform (l, parts[0], parts[1], 2, frame, one_sided ? frame / 2 + 1 : frame);
}

/* clang-format off */
const GantryLowerRule gantry_lower_signal_rules[] = {
  { "HannWindow", window, GANTRY_CLASS_CONSTANT, 0, 0, NULL },
  { "HammingWindow", window, GANTRY_CLASS_CONSTANT, 0, 1, NULL },
  { "BlackmanWindow", window, GANTRY_CLASS_CONSTANT, 0, 2, NULL },
  { "DFT", dft, GANTRY_CLASS_CONTRACTION, 0, 0, NULL },
  { "STFT", stft, GANTRY_CLASS_CONTRACTION, 0, 0, NULL },
  { NULL },
};
/* clang-format on */
