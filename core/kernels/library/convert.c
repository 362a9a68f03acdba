/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of arrays: with the processor's instructions for f16 where it has them. */
#include "core/kernels/library/convert-private.h"
#include "core/graph/literal.h"
#include <immintrin.h>
#include <string.h>

/* Every processor with AVX2 has the conversions, and compilers know its name. */
static gboolean
has_f16c (void)
{
  return __builtin_cpu_supports ("avx2");
}

__attribute__ ((target ("avx,f16c"))) static gsize
halves_to_float (const guint8 *from, float *to, gsize n)
{
  gsize i = 0;

  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps (to + i, _mm256_cvtph_ps (_mm_loadu_si128 ((const __m128i *) (gconstpointer) (from + 2 * i))));
  return i;
}

__attribute__ ((target ("avx,f16c"))) static gsize
halves_from_float (const float *from, guint8 *to, gsize n)
{
  gsize i = 0;

  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128 ((__m128i *) (gpointer) (to + 2 * i), _mm256_cvtps_ph (_mm256_loadu_ps (from + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}

void
gantry_convert_to_float (GantryElementType element, const void *from, float *to, gsize n)
{
  const guint8 *bytes = from;
  gsize i = 0;

  if (element == GANTRY_F16 && has_f16c ())
    i = halves_to_float (bytes, to, n);
  for (; i < n; i++)
    {
      guint16 bits;

      memcpy (&bits, bytes + 2 * i, sizeof bits);
      to[i] = element == GANTRY_F16 ? gantry_f16_to_f32 (bits) : gantry_bf16_to_f32 (bits);
    }
}

void
gantry_convert_from_float (GantryElementType element, const float *from, void *to, gsize n)
{
  guint8 *bytes = to;
  gsize i = 0;

  if (element == GANTRY_F16 && has_f16c ())
    i = halves_from_float (from, bytes, n);
  for (; i < n; i++)
    {
      guint16 bits = element == GANTRY_F16 ? gantry_f32_to_f16 (from[i]) : gantry_f32_to_bf16 (from[i]);

      memcpy (bytes + 2 * i, &bits, sizeof bits);
    }
}
