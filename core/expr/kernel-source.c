/* SPDX-License-Identifier: Apache-2.0 */
/* What one kernel computes, before any schedule: its key, and its results in groups of one shape. */
#include "core/expr/kernel-source.h"
#include <string.h>

/* Key */

static void
append (GByteArray *key, gconstpointer data, gsize size)
{
  g_byte_array_append (key, data, (guint) size);
}

static void
append_layout (GByteArray *key, const GantryKxLayout *layout)
{
  append (key, &layout->n, sizeof layout->n);
  for (guint i = 0; i < layout->n; i++)
    {
      gint64 piece[] = { layout->pieces[i].dim, layout->pieces[i].divisor, layout->pieces[i].modulus, layout->pieces[i].stride };

      append (key, piece, sizeof piece);
    }
}

static void
append_type (GByteArray *key, const GantryType *type)
{
  append (key, &type->element, sizeof type->element);
  append (key, &type->rank, sizeof type->rank);
  append (key, type->dims, type->rank * sizeof *type->dims);
}

static void
append_texpr (GByteArray *key, const GantryTexpr *texpr)
{
  guint32 head[] = { texpr->element, texpr->rank, texpr->n_axes, texpr->n_nodes, texpr->n_pool, texpr->root };

  append (key, head, sizeof head);
  append (key, texpr->shape, texpr->rank * sizeof *texpr->shape);
  append (key, texpr->axes, texpr->n_axes * sizeof *texpr->axes);
  append (key, texpr->nodes, texpr->n_nodes * sizeof *texpr->nodes);
  append (key, texpr->pool, texpr->n_pool * sizeof *texpr->pool);
}

GBytes *
gantry_kernel_source_key (const GantryKernelSource *source)
{
  GByteArray *key = g_byte_array_new ();

  append (key, &source->n_inputs, sizeof source->n_inputs);
  for (guint i = 0; i < source->n_inputs; i++)
    {
      const GantryKxInput *input = &source->inputs[i];

      append_type (key, input->type);
      append (key, &input->splat, sizeof input->splat);
      if (input->splat)
        {
          append (key, &input->value_f, sizeof input->value_f);
          append (key, &input->value_i, sizeof input->value_i);
        }
      else
        append_layout (key, &input->layout);
    }
  for (guint i = 0; i < source->results->len; i++)
    {
      append_layout (key, &source->layouts[i]);
      append_texpr (key, g_ptr_array_index (source->results, i));
    }
  return g_byte_array_free_to_bytes (key);
}

/* Groups */

static gboolean
same_shape (const GantryTexpr *a, const GantryTexpr *b)
{
  return a->rank == b->rank && memcmp (a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

gboolean
gantry_kernel_source_leads (const GantryKernelSource *source, guint i)
{
  const GantryTexpr *texpr = g_ptr_array_index (source->results, i);

  for (guint d = 0; d < texpr->rank; d++)
    if (texpr->shape[d] == 0)
      return FALSE;
  for (guint j = 0; j < i; j++)
    if (same_shape (texpr, g_ptr_array_index (source->results, j)))
      return FALSE;
  return TRUE;
}

GantryKx *
gantry_kernel_source_group (const GantryKernelSource *source, guint first, GError **error)
{
  g_autoptr (GantryKx) kx = gantry_kx_new (source->inputs, source->n_inputs);
  const GantryTexpr *leader = g_ptr_array_index (source->results, first);

  for (guint i = first; i < source->results->len; i++)
    if (same_shape (leader, g_ptr_array_index (source->results, i))
        && !gantry_kx_add (kx, g_ptr_array_index (source->results, i), i, &source->layouts[i], error))
      return NULL;
  gantry_kx_canonicalize (kx);
  return g_steal_pointer (&kx);
}
