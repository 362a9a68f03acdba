/* SPDX-License-Identifier: Apache-2.0 */
/* reduce and map. A body that is a known kind becomes the core reduction; any other is applied to halves: pairs of
 * neighbours along the reduced axis, which keeps their order, until one is left. The specification leaves the order
 * of application free. */
#include "core/frontends/xla/lower-private.h"

/* Every result of its own kind, from its own input. */
static gboolean
by_kinds (XlaLower *l, guint32 body, guint n, const gint64 *axes, gsize n_axes)
{
  const char **kinds = XLA_NEW (l, const char *, n);

  for (guint i = 0; i < n; i++)
    {
      kinds[i] = gantry_xla_body_kind (l, body, i, n);
      if (kinds[i] == NULL || strcmp (kinds[i], "set") == 0)
        return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      guint32 init = gantry_xla_in (l, n + i);
      guint32 x = gantry_builder_reduce_axes (l->b, kinds[i], gantry_xla_in (l, i), axes, n_axes, FALSE);

      l->out[i] = gantry_xla_is_identity (l, kinds[i], init) ? x : gantry_xla_combine (l, kinds[i], x, init);
    }
  return TRUE;
}

/* The reduced dimensions last, as one. */
static guint32
reduced_last (XlaLower *l, guint32 x, const gint64 *axes, gsize n_axes, guint *rank)
{
  const GantryType *type = gantry_xla_type (l, x);
  gint64 permutation[GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK + 1];
  GantryDim product = 1;
  guint n = 0;

  for (guint d = 0; d < type->rank; d++)
    {
      gboolean reduced = FALSE;

      for (gsize i = 0; i < n_axes; i++)
        reduced = reduced || axes[i] == d;
      if (!reduced)
        permutation[n++] = d;
    }
  *rank = n;
  for (guint i = 0; i < n; i++)
    dims[i] = type->dims[permutation[i]];
  for (gsize i = 0; i < n_axes && n < type->rank; i++)
    {
      permutation[n++] = axes[i];
      product = gantry_dim_multiply (product, type->dims[axes[i]]);
    }
  dims[*rank] = product;
  if (n != type->rank || *rank + 1 > GANTRY_MAX_RANK)
    {
      gantry_xla_refuse (l, "dimensions of a rank of %u", type->rank);
      return 0;
    }
  return gantry_builder_reshape (l->b, gantry_builder_transpose (l->b, x, permutation), *rank + 1, dims);
}

static gboolean
one_step (XlaLower *l, guint32 body, guint32 *values, guint n, guint axis, gint64 size)
{
  guint32 *arguments = XLA_NEW (l, guint32, 2 * n), *results = XLA_NEW (l, guint32, n);
  gint64 half = size / 2;

  for (guint i = 0; i < n; i++)
    {
      arguments[i] = gantry_builder_slice_axis (l->b, values[i], axis, 0, 2 * half, 2);
      arguments[n + i] = gantry_builder_slice_axis (l->b, values[i], axis, 1, 2 * half, 2);
    }
  if (!gantry_xla_apply (l, body, arguments, 2 * n, results, n, arguments[0]))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (size % 2 != 0)
      {
        guint32 parts[2] = { results[i], gantry_builder_slice_axis (l->b, values[i], axis, size - 1, size, 1) };

        values[i] = gantry_builder_concatenate (l->b, parts, 2, axis);
      }
    else
      values[i] = results[i];
  return !l->failed;
}

static void
by_halves (XlaLower *l, guint32 body, guint n, const gint64 *axes, gsize n_axes)
{
  guint32 *values = XLA_NEW (l, guint32, n), *arguments = XLA_NEW (l, guint32, 2 * n);
  guint rank = 0;
  gint64 size;

  for (guint i = 0; i < n; i++)
    values[i] = reduced_last (l, gantry_xla_in (l, i), axes, n_axes, &rank);
  if (l->failed)
    return;
  size = gantry_xla_type (l, values[0])->dims[rank];
  for (gint64 left = size; left > 1; left = left / 2 + left % 2)
    if (!one_step (l, body, values, n, rank, left))
      return;
  for (guint i = 0; i < n; i++)
    {
      guint32 init = gantry_xla_in (l, n + i);
      const GantryType *type = gantry_xla_type (l, values[i]);

      if (size > 0)
        values[i] = gantry_builder_reshape (l->b, values[i], rank, type->dims);
      arguments[i] = rank > 0 ? gantry_builder_broadcast (l->b, init, rank, type->dims, NULL) : init;
      arguments[n + i] = values[i];
    }
  if (size == 0)
    memcpy (l->out, arguments, sizeof *arguments * n);
  else
    gantry_xla_apply (l, body, arguments, 2 * n, l->out, n, values[0]);
}

static void
reduce (XlaLower *l)
{
  guint32 body = gantry_xla_region (l, 0);
  guint n = l->n_in / 2;
  gsize n_axes;
  const gint64 *axes = gantry_xla_ints (l, "dimensions", &n_axes);
  guint rank = gantry_xla_type (l, gantry_xla_in (l, 0))->rank;

  for (gsize i = 0; i < n_axes; i++)
    if (axes[i] < 0 || axes[i] >= rank)
      gantry_xla_refuse (l, "dimension %" G_GINT64_FORMAT " of a rank of %u", axes[i], rank);
  if (!l->failed && n > 0 && n == l->n_out && gantry_xla_same_dims (l, n) && !by_kinds (l, body, n, axes, n_axes))
    by_halves (l, body, n, axes, n_axes);
}

static void
map (XlaLower *l)
{
  guint32 body = gantry_xla_region (l, 0);

  if (!l->failed)
    gantry_xla_apply (l, body, l->in, l->n_in, l->out, 1, gantry_xla_in (l, 0));
}

const XlaRule gantry_xla_reduce_rules[] = {
  { "reduce", reduce, GANTRY_CLASS_REDUCTION, XLA_TAKES (2, 0) | XLA_OR_MORE, 0 },
  { "map", map, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1) | XLA_OR_MORE, 0 },
  { NULL, NULL, 0, 0, 0 },
};
