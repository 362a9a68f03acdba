/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction sets: what this processor has of them, and the limit that the library is given. LLVM takes the set anew
 * for each compilation; the library once for a process. */
#include "core/kernels/instructions-private.h"
#include "core/kernels/cpu/jit.h"
#include "core/kernels/library/library.h"
#include <string.h>

/* The levels of the x86-64 psABI, without what no compiler makes of arithmetic. */
static const struct
{
  const char *name;
  const char *text;
  const char *cpu;
  const char *features[8]; /* beyond the level before */
  dnnl_cpu_isa_t limit;
} sets[GANTRY_N_INSTRUCTION_SETS] = {
  { "native", "what it has", NULL, { NULL }, dnnl_cpu_isa_all },
  { "sse4", "SSE4", "x86-64-v2", { "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16" }, dnnl_cpu_isa_sse41 },
  { "avx2", "AVX2", "x86-64-v3", { "avx", "avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt" }, dnnl_cpu_isa_avx2 },
  { "avx512", "AVX-512", "x86-64-v4", { "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl" }, dnnl_cpu_isa_avx512_core },
};

const char *
gantry_instruction_set_name (GantryInstructionSet set)
{
  g_return_val_if_fail ((guint) set < GANTRY_N_INSTRUCTION_SETS, NULL);
  return sets[set].name;
}

gboolean
gantry_instruction_set_parse (const char *name, GantryInstructionSet *set, GError **error)
{
  for (guint i = 0; i < GANTRY_N_INSTRUCTION_SETS; i++)
    if (strcmp (name, sets[i].name) == 0)
      {
        *set = (GantryInstructionSet) i;
        return TRUE;
      }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "there is no instruction set '%s': there are native, sse4, avx2 and avx512", name);
  return FALSE;
}

gboolean
gantry_instruction_set_available (GantryInstructionSet set)
{
  g_return_val_if_fail ((guint) set < GANTRY_N_INSTRUCTION_SETS, FALSE);
  for (guint level = 1; level <= (guint) set; level++)
    for (guint i = 0; i < G_N_ELEMENTS (sets[level].features) && sets[level].features[i] != NULL; i++)
      if (!gantry_compiler_host_has (sets[level].features[i]))
        return FALSE;
  return TRUE;
}

const char *
gantry_instructions_cpu (GantryInstructionSet set)
{
  return sets[set].cpu;
}

/* The library's sets are sets of bits, of which a smaller one has fewer. Asking settles them. */
static gboolean
library_keeps_within (GantryInstructionSet set)
{
  return set == GANTRY_INSTRUCTIONS_NATIVE || (gantry_dnnl ()->get_effective_cpu_isa () & ~sets[set].limit) == 0;
}

static gboolean
check_available (GantryInstructionSet set, GError **error)
{
  if (gantry_instruction_set_available (set))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "this processor does not have %s", sets[set].text);
  return FALSE;
}

gboolean
gantry_kernels_limit_library (GantryInstructionSet set, GError **error)
{
  g_return_val_if_fail ((guint) set < GANTRY_N_INSTRUCTION_SETS, FALSE);
  if (!check_available (set, error))
    return FALSE;
  if (set == GANTRY_INSTRUCTIONS_NATIVE)
    return TRUE;
  if (!gantry_library_load (error))
    return FALSE;
  if (gantry_dnnl ()->set_max_cpu_isa (sets[set].limit) == dnnl_success || library_keeps_within (set))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "oneDNN cannot be limited to %s any more: it takes a limit once in a process, before it is used",
               sets[set].text);
  return FALSE;
}

gboolean
gantry_instructions_check (GantryInstructionSet set, gboolean use_library, GError **error)
{
  g_return_val_if_fail ((guint) set < GANTRY_N_INSTRUCTION_SETS, FALSE);
  if (!check_available (set, error))
    return FALSE;
  if (!use_library || library_keeps_within (set))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
               "in this process oneDNN may use more than %s: call gantry_kernels_limit_library() before anything is compiled, "
               "or compile without the library",
               sets[set].text);
  return FALSE;
}
