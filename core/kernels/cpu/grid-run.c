/* SPDX-License-Identifier: Apache-2.0 */
/* A block of threads on the CPU. Matrix instructions follow the fragment layouts of the PTX ISA (ldmatrix and mma.sync,
 * sections "Matrix fragments for mma.m16n8k16" and "mma.m16n8k8"). */
#include "core/kernels/cpu/grid-run.h"
#include "core/graph/literal.h"
#include <string.h>

#define WARP 32
#define GUARD GANTRY_GRID_GUARD
#define ALIGNMENT 1024 /* of a block's shared memory: what tiles of WGMMA want */

GantryGridBlock *
gantry_grid_block_of (guint8 *block)
{
  GantryGridBlock *self;

  memcpy (&self, block - sizeof self, sizeof self);
  return self;
}

guint8 *
gantry_grid_block_new (guint64 shared_bytes, guint64 thread_bytes, guint32 n_threads, guint32 races)
{
  GantryGridBlock *self = g_new0 (GantryGridBlock, 1);
  guint8 *memory = g_aligned_alloc (1, ALIGNMENT + shared_bytes + GUARD + thread_bytes * n_threads, ALIGNMENT);

  self->memory = memory + ALIGNMENT;
  self->shared_bytes = shared_bytes;
  self->thread_bytes = thread_bytes;
  self->n_threads = n_threads;
  self->fetches = g_new0 (GArray *, n_threads);
  self->group = g_new0 (guint32, n_threads);
  self->products = g_array_new (FALSE, FALSE, sizeof (GantryGridProduct));
  if (races)
    self->races = gantry_grid_races_new (self);
  memcpy (memory + ALIGNMENT - sizeof self, &self, sizeof self);
  return self->memory;
}

void
gantry_grid_block_free (guint8 *block)
{
  GantryGridBlock *self = gantry_grid_block_of (block);

  for (guint32 i = 0; i < self->n_threads; i++)
    g_clear_pointer (&self->fetches[i], g_array_unref);
  g_free (self->fetches);
  g_free (self->group);
  g_array_unref (self->products);
  g_clear_pointer (&self->races, gantry_grid_races_free);
  g_free (self);
  g_aligned_free (block - ALIGNMENT);
}

void
gantry_grid_block_begin (guint8 *block, gint64 task)
{
  GantryGridBlock *self = gantry_grid_block_of (block);

  memset (block, 0xff, self->shared_bytes + GUARD + self->thread_bytes * self->n_threads);
  for (guint32 i = 0; i < self->n_threads; i++)
    if (self->fetches[i] != NULL)
      g_array_set_size (self->fetches[i], 0);
  memset (self->group, 0, self->n_threads * sizeof *self->group);
  g_array_set_size (self->products, 0);
  if (self->races != NULL)
    gantry_grid_races_new_block (self->races, task);
}

void
gantry_grid_block_end (guint8 *block)
{
  GantryGridBlock *self = gantry_grid_block_of (block);

  for (guint i = 0; i < GUARD; i++)
    if (block[self->shared_bytes + i] != 0xff)
      g_error ("a bound program has written %u bytes behind the %" G_GUINT64_FORMAT " bytes of shared memory", i, self->shared_bytes);
}

/* Fetches */

void
gantry_grid_block_fetch (guint8 *block, guint32 thread, void *to, const void *from, guint32 bytes, guint32 statement)
{
  GantryGridBlock *self = gantry_grid_block_of (block);
  GantryGridFetch fetch = { .group = self->group[thread], .bytes = bytes, .to = to, .from = from };

  if ((guintptr) to % bytes != 0)
    g_error ("a bound program fetches %u bytes to an address that is no multiple of it", bytes);
  memset (to, 0xff, bytes);
  if (self->fetches[thread] == NULL)
    self->fetches[thread] = g_array_new (FALSE, FALSE, sizeof (GantryGridFetch));
  if (self->races != NULL)
    gantry_grid_races_fetch (self->races, thread, &fetch, statement);
  g_array_append_val (self->fetches[thread], fetch);
}

void
gantry_grid_fetch_land (GantryGridFetch *fetch)
{
  if (fetch->from != NULL)
    memcpy (fetch->to, fetch->from, fetch->bytes);
  else
    memset (fetch->to, 0, fetch->bytes);
  fetch->landed = TRUE;
}

void
gantry_grid_block_commit (guint8 *block, guint32 thread)
{
  gantry_grid_block_of (block)->group[thread]++;
}

void
gantry_grid_block_await (guint8 *block, guint32 thread, guint32 groups)
{
  GantryGridBlock *self = gantry_grid_block_of (block);
  GArray *fetches = self->fetches[thread];
  guint left = 0;

  if (fetches == NULL)
    return;
  for (guint i = 0; i < fetches->len; i++)
    {
      GantryGridFetch *fetch = &g_array_index (fetches, GantryGridFetch, i);

      if (fetch->group + groups < self->group[thread])
        {
          if (!fetch->landed)
            gantry_grid_fetch_land (fetch);
          if (self->races != NULL)
            gantry_grid_races_fetched (self->races, thread, fetch);
        }
      else
        g_array_index (fetches, GantryGridFetch, left++) = *fetch;
    }
  g_array_set_size (fetches, left);
}

/* Matrices */

/* Thread t of the warp gets, of each matrix, the four bytes at row t / 4, or of its transpose. @row: of 8. */
static void
note_reads (GantryGridRaces *races, guint32 first_thread, const guint8 *const row[8], gboolean transposed, guint32 statement)
{
  for (guint t = 0; t < WARP; t++)
    if (transposed)
      for (guint k = 0; k < 2; k++)
        gantry_grid_races_read (races, first_thread + t, row[2 * (t % 4) + k] + 2 * (t / 4), 2, statement);
    else
      gantry_grid_races_read (races, first_thread + t, row[t / 4] + 4 * (t % 4), 4, statement);
}

static void
warp_load (GantryGridRaces *races, guint32 first_thread, const guint8 *rows, guint8 *to, guint64 stride, guint32 shape, guint32 statement)
{
  guint matrices = shape & 0x7f;
  gboolean transposed = (shape & 0x80) != 0;

  for (guint j = 0; j < matrices; j++)
    {
      guint16 matrix[8][8];
      const guint8 *row[8];

      for (guint r = 0; r < 8; r++)
        {
          memcpy (&row[r], rows + (8 * j + r) * stride, sizeof *row);
          if ((guintptr) row[r] % 16 != 0)
            g_error ("a bound program loads a row of a matrix from an address that is no multiple of 16");
          memcpy (matrix[r], row[r], 16);
        }
      if (races != NULL)
        note_reads (races, first_thread, row, transposed, statement);
      for (guint t = 0; t < WARP; t++)
        for (guint k = 0; k < 2; k++)
          {
            guint r = t / 4, c = 2 * (t % 4) + k;

            memcpy (to + t * stride + 4 * j + 2 * k, transposed ? &matrix[c][r] : &matrix[r][c], 2);
          }
    }
}

void
gantry_grid_warps_load (guint8 *block, const void *rows, void *to, guint64 stride, guint32 n_threads, guint32 shape, guint32 statement)
{
  GantryGridRaces *races = gantry_grid_block_of (block)->races;

  for (guint32 first = 0; first < n_threads; first += WARP)
    warp_load (races, first, (const guint8 *) rows + first * stride, (guint8 *) to + first * stride, stride, shape, statement);
}

/* f32 to tf32: 10 bits of fraction, nearest, ties away from zero. */
static float
to_tf32 (float x)
{
  guint32 bits;

  memcpy (&bits, &x, sizeof bits);
  if ((bits & 0x7f800000) != 0x7f800000)
    bits += 0x1000;
  bits &= 0xffffe000;
  memcpy (&x, &bits, sizeof bits);
  return x;
}

static float
element (guint32 shape, const guint8 *fragment, guint i)
{
  guint16 half;
  float x;

  if (shape == GANTRY_MMA_M16N8K8_TF32)
    {
      memcpy (&x, fragment + 4 * i, 4);
      return to_tf32 (x);
    }
  memcpy (&half, fragment + 2 * i, 2);
  return shape == GANTRY_MMA_M16N8K16_F16 ? gantry_f16_to_f32 (half) : gantry_bf16_to_f32 (half);
}

typedef struct
{
  float a[16][16];
  float b[16][8];
  guint depth;
} Operands;

static void
gather (guint32 shape, const guint8 *a, const guint8 *b, guint64 stride, Operands *m)
{
  m->depth = shape == GANTRY_MMA_M16N8K8_TF32 ? 8 : 16;
  for (guint t = 0; t < WARP; t++)
    {
      guint group = t / 4, within = t % 4;

      if (m->depth == 8)
        {
          for (guint i = 0; i < 4; i++)
            m->a[group + 8 * (i & 1)][within + 4 * (i / 2)] = element (shape, a + t * stride, i);
          for (guint i = 0; i < 2; i++)
            m->b[within + 4 * i][group] = element (shape, b + t * stride, i);
          continue;
        }
      for (guint i = 0; i < 8; i++)
        m->a[group + 8 * (i / 2 & 1)][2 * within + (i & 1) + 8 * (i / 4)] = element (shape, a + t * stride, i);
      for (guint i = 0; i < 4; i++)
        m->b[2 * within + (i & 1) + 8 * (i / 2)][group] = element (shape, b + t * stride, i);
    }
}

static void
warp_mma (guint32 shape, guint8 *d, const guint8 *a, const guint8 *b, guint64 stride)
{
  Operands m;

  gather (shape, a, b, stride, &m);
  for (guint t = 0; t < WARP; t++)
    for (guint i = 0; i < 4; i++)
      {
        guint row = t / 4 + 8 * (i / 2), column = 2 * (t % 4) + (i & 1);
        float sum;

        memcpy (&sum, d + t * stride + 4 * i, 4);
        for (guint k = 0; k < m.depth; k++)
          sum += m.a[row][k] * m.b[k][column];
        memcpy (d + t * stride + 4 * i, &sum, 4);
      }
}

void
gantry_grid_warps_mma (guint32 shape, void *d, const void *a, const void *b, guint64 stride, guint32 n_threads)
{
  for (guint32 first = 0; first < n_threads; first += WARP)
    warp_mma (shape, (guint8 *) d + first * stride, (const guint8 *) a + first * stride, (const guint8 *) b + first * stride, stride);
}

const GantryGridSymbol *
gantry_grid_symbols (guint *n)
{
  static const GantryGridSymbol symbols[] = {
    { "gantry_grid_block_new", gantry_grid_block_new },
    { "gantry_grid_block_free", gantry_grid_block_free },
    { "gantry_grid_block_begin", gantry_grid_block_begin },
    { "gantry_grid_block_end", gantry_grid_block_end },
    { "gantry_grid_block_fetch", gantry_grid_block_fetch },
    { "gantry_grid_block_commit", gantry_grid_block_commit },
    { "gantry_grid_block_await", gantry_grid_block_await },
    { "gantry_grid_warps_load", gantry_grid_warps_load },
    { "gantry_grid_warps_mma", gantry_grid_warps_mma },
    { "gantry_grid_block_wgmma", gantry_grid_block_wgmma },
    { "gantry_grid_block_wgmma_await", gantry_grid_block_wgmma_await },
    { "gantry_grid_block_thread", gantry_grid_block_thread },
    { "gantry_grid_block_access", gantry_grid_block_access },
    { "gantry_grid_block_fence", gantry_grid_block_fence },
    { "gantry_grid_block_barrier", gantry_grid_block_barrier },
  };

  *n = G_N_ELEMENTS (symbols);
  return symbols;
}
