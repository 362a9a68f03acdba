/* SPDX-License-Identifier: Apache-2.0 */
/* A relu that the library does at the end of a primitive makes 0 of NaN: it is a maximum instruction of the processor, whose other
 * operand is what it gives then. NaN is to stay NaN, or a model that has diverged looks well. To compute the relu apart is
 * another pass over every result, so it is done only where there was a NaN: that instruction raises the invalid flag for one
 * (Intel SDM, MAXPS), and so does what makes one of numbers. Flags are each thread's own: those of the library's team are asked for
 * in a parallel region of the same team. */
#include "core/kernels/library/library.h"
#include <xmmintrin.h>

#define INVALID _MM_EXCEPT_INVALID

static void
take_flag (gpointer seen)
{
  guint flags = _mm_getcsr ();

  if ((flags & INVALID) == 0)
    return;
  _mm_setcsr (flags & ~(guint) INVALID);
  g_atomic_int_set ((gint *) seen, TRUE);
}

void
gantry_library_begin_watch (void)
{
  _mm_setcsr (_mm_getcsr () & ~(guint) INVALID);
}

gboolean
gantry_library_end_watch (guint n_threads)
{
  gint seen = FALSE;

  if (n_threads > 1)
    gantry_dnnl ()->parallel (take_flag, &seen, n_threads, 0);
  else
    take_flag (&seen);
  return g_atomic_int_get (&seen);
}

void
gantry_library_relu (GantryUnalignedFloat *values, gsize n)
{
  for (gsize i = 0; i < n; i++)
    values[i] = gantry_library_relu_of (values[i]);
}
