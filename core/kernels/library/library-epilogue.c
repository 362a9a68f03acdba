/* SPDX-License-Identifier: Apache-2.0 */
/* Bias and relu after a primitive that has them by slow code only, in place, on the threads of the library. */
#include "core/kernels/library/library.h"

/* Beside each other in memory: the places of a channel, or for each place a block of channels. */
typedef struct
{
  GantryUnalignedFloat *values;
  const GantryUnalignedFloat *bias; /* (nullable) */
  gboolean relu;
  gint64 images, channels, places, block;
  gint64 image_stride, block_stride, place_stride; /* elements */
  gint next;
} Epilogue;

static inline float
finish (float x, gboolean relu)
{
  return relu ? gantry_library_relu_of (x) : x;
}

static void
run_row (const Epilogue *e, gint64 row)
{
  const gint64 n_blocks = (e->channels + e->block - 1) / e->block, first = row % n_blocks * e->block, width = MIN (e->block, e->channels - first);
  GantryUnalignedFloat *values = e->values + row / n_blocks * e->image_stride + row % n_blocks * e->block_stride;

  if (width == 1)
    {
      const float bias = e->bias != NULL ? e->bias[first] : 0;

      for (gint64 p = 0; p < e->places; p++)
        values[p * e->place_stride] = finish (values[p * e->place_stride] + bias, e->relu);
      return;
    }
  for (gint64 p = 0; p < e->places; p++)
    for (gint64 k = 0; k < width; k++)
      values[p * e->place_stride + k] = finish (values[p * e->place_stride + k] + (e->bias != NULL ? e->bias[first + k] : 0), e->relu);
}

static void
run_rows (gpointer data)
{
  Epilogue *e = data;
  const gint64 n = e->images * ((e->channels + e->block - 1) / e->block);

  for (gint64 row; (row = g_atomic_int_add (&e->next, 1)) < n;)
    run_row (e, row);
}

void
gantry_library_run_epilogue (const dnnl_memory_desc_t *result, GantryUnalignedFloat *values, const GantryUnalignedFloat *bias, gboolean relu, guint n_threads)
{
  const dnnl_blocking_desc_t *layout = &result->format_desc.blocking;
  const gint64 block = layout->inner_nblks > 0 ? layout->inner_blks[0] : 1;
  Epilogue e = { .values = values + result->offset0,
                 .bias = bias,
                 .relu = relu,
                 .images = result->dims[0],
                 .channels = result->dims[1],
                 .places = 1,
                 .block = block,
                 .image_stride = layout->strides[0],
                 .block_stride = layout->strides[1],
                 .place_stride = layout->strides[result->ndims - 1] };

  for (int d = 2; d < result->ndims; d++)
    e.places *= result->dims[d];
  if (n_threads > 1)
    gantry_dnnl ()->parallel (run_rows, &e, n_threads, 0);
  else
    run_rows (&e);
}
