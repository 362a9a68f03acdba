/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma on the CPU: products of tiles in the layouts that its descriptors name, with swizzles by the bits of the
 * address as the hardware does them (PTX ISA, "Asynchronous warpgroup level matrix instructions", shared memory
 * layout). */
#include "core/kernels/cpu/grid-run.h"
#include "core/graph/literal.h"
#include <string.h>

#define GROUP GANTRY_GRID_GROUP
#define ATOM 1024                        /* bytes of 8 rows of 128 bytes */
#define BLOCK (GANTRY_WGMMA_DEPTH * 128) /* from 64 elements of a transposed tile to the next 64 */

/* 16 bytes are exchanged by bits 7 to 9 of the address. */
const guint8 *
gantry_grid_tile_element (const guint8 *tile, guint own, guint depth, gboolean transposed)
{
  guintptr at = (guintptr) tile;

  if (transposed)
    at += own / 64 * BLOCK + depth / 8 * ATOM + depth % 8 * 128 + own % 64 * 2;
  else
    at += own / 8 * ATOM + own % 8 * 128 + depth * 2;
  at ^= (at >> 7 & 7) << 4;
  return (const guint8 *) at;
}

static float
element_of (const guint8 *tile, guint own, guint depth, gboolean transposed, gboolean bf16)
{
  guint16 bits;

  memcpy (&bits, gantry_grid_tile_element (tile, own, depth, transposed), sizeof bits);
  return bf16 ? gantry_bf16_to_f32 (bits) : gantry_f16_to_f32 (bits);
}

static void
do_product (const GantryGridProduct *p)
{
  gboolean bf16 = (p->shape & 4) != 0;
  g_autofree float *a = g_new (float, GANTRY_WGMMA_ROWS *GANTRY_WGMMA_DEPTH), *b = g_new (float, p->columns *GANTRY_WGMMA_DEPTH);

  for (guint k = 0; k < GANTRY_WGMMA_DEPTH; k++)
    {
      for (guint i = 0; i < GANTRY_WGMMA_ROWS; i++)
        a[i * GANTRY_WGMMA_DEPTH + k] = element_of (p->a, i, k, (p->shape & 1) != 0, bf16);
      for (guint j = 0; j < p->columns; j++)
        b[j * GANTRY_WGMMA_DEPTH + k] = element_of (p->b, j, k, (p->shape & 2) != 0, bf16);
    }
  for (guint t = 0; t < GROUP; t++)
    for (guint i = 0; i < p->columns / 2; i++)
      {
        guint row = 16 * (t / 32) + 8 * (i / 2 % 2) + t % 32 / 4, column = 8 * (i / 4) + 2 * (t % 4) + i % 2;
        float sum;

        memcpy (&sum, p->d + t * p->stride + 4 * i, sizeof sum);
        for (guint k = 0; k < GANTRY_WGMMA_DEPTH; k++)
          sum += a[row * GANTRY_WGMMA_DEPTH + k] * b[column * GANTRY_WGMMA_DEPTH + k];
        memcpy (p->d + t * p->stride + 4 * i, &sum, sizeof sum);
      }
}

void
gantry_grid_product_do (GantryGridProduct *product)
{
  if (!product->done)
    do_product (product);
  product->done = TRUE;
}

void
gantry_grid_block_wgmma_await (guint8 *block, guint32 n_threads, guint32 left)
{
  GantryGridBlock *self = gantry_grid_block_of (block);
  guint keep = left * (n_threads / GROUP);

  while (self->products->len > keep)
    {
      GantryGridProduct *product = &g_array_index (self->products, GantryGridProduct, 0);

      gantry_grid_product_do (product);
      if (self->races != NULL)
        gantry_grid_races_product_known (self->races, product);
      g_array_remove_index (self->products, 0);
    }
}

void
gantry_grid_block_wgmma (guint8 *block, const void *tiles, void *d, guint64 stride, guint32 n_threads, guint32 columns, guint32 shape, guint32 left,
                         guint32 statement)
{
  GantryGridBlock *self = gantry_grid_block_of (block);

  for (guint32 first = 0; first < n_threads; first += GROUP)
    {
      const guint8 *of_first = (const guint8 *) tiles + first * stride;
      GantryGridProduct product = {
        .d = (guint8 *) d + first * stride, .stride = stride, .first_thread = first, .columns = columns, .shape = shape, .statement = statement
      };

      memcpy (&product.a, of_first, sizeof product.a);
      memcpy (&product.b, of_first + sizeof product.a, sizeof product.b);
      for (guint32 t = 1; t < GROUP; t++)
        if (memcmp (of_first, of_first + t * stride, 2 * sizeof (gpointer)) != 0)
          g_error ("a bound program has threads of one group name different tiles for wgmma");
      if ((guintptr) product.a % ATOM != 0 || (guintptr) product.b % ATOM != 0)
        g_error ("a bound program has a tile for wgmma at an address that is no multiple of %u", ATOM);
      if (self->races != NULL)
        gantry_grid_races_product (self->races, &product);
      g_array_append_val (self->products, product);
    }
  gantry_grid_block_wgmma_await (block, n_threads, left);
}
