/* SPDX-License-Identifier: Apache-2.0 */
/* Code that oneDNN generates for itself: most of it when a primitive is made; that of its own matrix product (gemm) when a product is first
 * computed, all variants at once, for the whole process (oneDNN 2.6, src/cpu/x64/gemm/gemm_info.cpp, jit_init()). How much it is, the
 * system says: pages of executable memory that are of no file. */
#include "core/kernels/library/library.h"
#include "core/base/process-memory.h"

/* FALSE: the system does not say */
static gboolean
executable_bytes (guint64 *bytes)
{
  GantryProcessMappings mappings;
  gboolean known = gantry_process_memory_map (&mappings);

  *bytes = known ? mappings.code : 0;
  return known;
}

/* Of the matrix product, made here once. */
static const GantryLibraryCode *
product_code (void)
{
  enum
  {
    SIDE = 8
  };
  static gsize ready;
  static GantryLibraryCode code;

  if (g_once_init_enter (&ready))
    {
      const float one[SIDE * SIDE] = { 1 };
      float result[SIDE * SIDE] = { 0 };
      guint64 before, after;

      code.known = executable_bytes (&before);
      gantry_dnnl ()->sgemm ('N', 'N', SIDE, SIDE, SIDE, 1, one, SIDE, one, SIDE, 0, result, SIDE);
      code.known = executable_bytes (&after) && code.known;
      code.bytes = after > before ? after - before : 0;
      g_once_init_leave (&ready, 1);
    }
  return &code;
}

void
gantry_library_code_begin (GantryLibraryCode *code)
{
  int capacity;

  /* What the library keeps of programs before would be of this one, and in no count. */
  if (gantry_dnnl ()->get_primitive_cache_capacity (&capacity) == dnnl_success)
    {
      gantry_dnnl ()->set_primitive_cache_capacity (0);
      gantry_dnnl ()->set_primitive_cache_capacity (capacity);
    }
  code->known = executable_bytes (&code->bytes);
}

void
gantry_library_code_end (GantryLibraryCode *code, const GantryKernel *kernels, guint n_kernels)
{
  guint64 after;
  gboolean known = executable_bytes (&after) && code->known, multiplies = FALSE;

  code->bytes = known && after > code->bytes ? after - code->bytes : 0;
  for (guint i = 0; i < n_kernels && !multiplies; i++)
    multiplies = kernels[i].kind == GANTRY_KERNEL_LIBRARY && gantry_library_multiplies (kernels[i].state);
  if (multiplies)
    {
      code->bytes += product_code ()->bytes;
      known = known && product_code ()->known;
    }
  code->known = known;
}
