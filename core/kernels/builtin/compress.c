/* SPDX-License-Identifier: Apache-2.0 */
/* Residuals to fewer bits and back, on the processor: what is stored is told in core/plan/compression.h. Plain loops over blocks of a
 * known length, which the compiler makes vector code of: once for any x86-64 and once for AVX2. */
#include "core/graph/literal.h"
#include "core/kernels/builtin/builtin.h"
#include <math.h>
#include <string.h>

#define BLOCK GANTRY_COMPRESSED_BLOCK
#define BLOCKS_PER_TASK 512
/* Added to a float below 2^22, the sum has the integer nearest to it in its lowest bits, ties to even. */
#define ROUNDING 12582912.0f
#define ROUNDING_BITS 0x4b400000u
#define ALWAYS_INLINE static inline __attribute__ ((always_inline))

typedef struct
{
  GantryCompression compression;
  gboolean back;
} State;

ALWAYS_INLINE void
read_block (GantryElementType element, const void *from, guint n, float x[BLOCK])
{
  const guint16 *bits = from;

  if (n < BLOCK)
    memset (x, 0, BLOCK * sizeof (float));
  if (element == GANTRY_F32)
    memcpy (x, from, n * sizeof (float));
  else
    for (guint i = 0; i < n; i++)
      x[i] = element == GANTRY_F16 ? gantry_f16_to_f32 (bits[i]) : gantry_bf16_to_f32 (bits[i]);
}

ALWAYS_INLINE void
write_block (GantryElementType element, void *to, guint n, const float x[BLOCK])
{
  guint16 *bits = to;

  if (element == GANTRY_F32)
    memcpy (to, x, n * sizeof (float));
  else
    for (guint i = 0; i < n; i++)
      bits[i] = element == GANTRY_F16 ? gantry_f32_to_f16 (x[i]) : gantry_f32_to_bf16 (x[i]);
}

/* The largest absolute value by its bits, among which those of a NaN are the largest. */
ALWAYS_INLINE float
largest (const float x[BLOCK])
{
  guint32 bits[BLOCK], most = 0;
  float value;

  memcpy (bits, x, sizeof bits);
  for (guint i = 0; i < BLOCK; i++)
    most = MAX (most, bits[i] & 0x7fffffffu);
  memcpy (&value, &most, sizeof value);
  return value;
}

ALWAYS_INLINE void
to_record (const float x[BLOCK], guint8 *record)
{
  float most = largest (x), scale = most / 127.0f;
  float factor = most >= GANTRY_COMPRESSED_LEAST && most < INFINITY ? 127.0f / most : 0.0f;
  float shifted[BLOCK];
  guint32 bits[BLOCK];
  gint8 q[BLOCK];

  memcpy (record, &scale, sizeof scale);
  if (factor == 0.0f) /* 0 * scale is NaN where that is none or infinite */
    {
      memset (record + sizeof scale, 0, BLOCK);
      return;
    }
  for (guint i = 0; i < BLOCK; i++)
    shifted[i] = x[i] * factor + ROUNDING;
  memcpy (bits, shifted, sizeof bits);
  for (guint i = 0; i < BLOCK; i++)
    q[i] = (gint8) (gint32) (bits[i] - ROUNDING_BITS);
  memcpy (record + sizeof scale, q, BLOCK);
}

ALWAYS_INLINE void
from_record (const guint8 *record, float x[BLOCK])
{
  float scale;
  gint8 q[BLOCK];

  memcpy (&scale, record, sizeof scale);
  memcpy (q, record + sizeof scale, BLOCK);
  for (guint i = 0; i < BLOCK; i++)
    x[i] = (float) q[i] * scale;
}

ALWAYS_INLINE void
to_bf16 (const float x[BLOCK], guint16 y[BLOCK])
{
  guint32 bits[BLOCK];

  memcpy (bits, x, sizeof bits);
  for (guint i = 0; i < BLOCK; i++)
    {
      guint32 rounded = bits[i] + 0x7fffu + (bits[i] >> 16 & 1), nan = bits[i] | 0x400000u;

      y[i] = (guint16) (((bits[i] & 0x7fffffffu) > 0x7f800000u ? nan : rounded) >> 16);
    }
}

ALWAYS_INLINE void
from_bf16 (const guint16 y[BLOCK], float x[BLOCK])
{
  guint32 bits[BLOCK];

  for (guint i = 0; i < BLOCK; i++)
    bits[i] = (guint32) y[i] << 16;
  memcpy (x, bits, sizeof bits);
}

ALWAYS_INLINE void
convert_block (const State *state, const guint8 *exact_from, guint8 *exact_to, guint8 *stored, guint n)
{
  const GantryElementType element = state->compression.element;
  float x[BLOCK];
  guint16 y[BLOCK] = { 0 };

  if (!state->back)
    read_block (element, exact_from, n, x);
  if (state->compression.kind == GANTRY_PLACEMENT_INT8 && !state->back)
    to_record (x, stored);
  else if (state->compression.kind == GANTRY_PLACEMENT_INT8)
    from_record (stored, x);
  else if (!state->back)
    {
      to_bf16 (x, y);
      memcpy (stored, y, n * sizeof (guint16));
    }
  else
    {
      memcpy (y, stored, n * sizeof (guint16));
      from_bf16 (y, x);
    }
  if (state->back)
    write_block (element, exact_to, n, x);
}

ALWAYS_INLINE void
convert (const State *state, void *const *buffers, gint64 begin, gint64 end)
{
  const gint64 n = state->compression.elements, n_blocks = (n + BLOCK - 1) / BLOCK;
  const gsize size = gantry_element_size (state->compression.element);
  const gsize stored = state->compression.kind == GANTRY_PLACEMENT_INT8 ? GANTRY_COMPRESSED_RECORD : BLOCK * sizeof (guint16);
  guint8 *from = buffers[0], *to = buffers[1];

  for (gint64 b = begin * BLOCKS_PER_TASK; b < MIN (end * BLOCKS_PER_TASK, n_blocks); b++)
    {
      guint8 *exact = (state->back ? to : from) + (gsize) b * BLOCK * size;
      guint8 *fewer = (state->back ? from : to) + (gsize) b * stored;

      if ((b + 1) * BLOCK <= n)
        convert_block (state, exact, exact, fewer, BLOCK);
      else
        convert_block (state, exact, exact, fewer, (guint) (n - b * BLOCK));
    }
}

static void
run_plain (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  convert (state, buffers, begin, end);
}

__attribute__ ((target ("avx2"))) static void
run_avx2 (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  convert (state, buffers, begin, end);
}

void
gantry_compression_make (const GantryCompression *compression, gboolean back, GantryKernel *kernel)
{
  State *state = g_new0 (State, 1);

  state->compression = *compression;
  state->back = back;
  kernel->kind = GANTRY_KERNEL_BUILTIN;
  kernel->n_tasks = MAX ((compression->elements + (gint64) BLOCK * BLOCKS_PER_TASK - 1) / ((gint64) BLOCK * BLOCKS_PER_TASK), 1);
  kernel->state = state;
  kernel->free_state = g_free;
  kernel->func = __builtin_cpu_supports ("avx2") ? run_avx2 : run_plain;
}
