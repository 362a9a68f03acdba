/* SPDX-License-Identifier: Apache-2.0 */
/* The linker: objects become callable code, with what that may call. */
#include "core/kernels/cpu/jit.h"
#include "core/kernels/cpu/grid-run.h"
#include "core/kernels/cpu/special-model.h"
#include <math.h>
#include <string.h>

/* What generated code may call besides the C library */

static gint64
power_i64 (gint64 base, gint64 exponent)
{
  guint64 result = 1, b = (guint64) base;

  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  for (guint64 e = (guint64) exponent; e != 0; e >>= 1, b *= b)
    if (e & 1)
      result *= b;
  return (gint64) result;
}

static guint64
power_u64 (guint64 base, guint64 exponent)
{
  guint64 result = 1;

  for (; exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

#define ADDRESS(function) ((LLVMOrcExecutorAddress) (guintptr) (function))

/* Of the unary operations that are calls of the C library. */
#define NO_CODE
#define CODE(name)
#define INTRINSIC(name)
#define EXPANDED_BOTH(name)
#define LIBRARY(name) { #name, name, #name "f", name##f },
#define EXPANDED(name) LIBRARY (name)
#define ROW(with, NAME, name, short_name, elements, result, cost, float_value, integer_value, float_code, ...) float_code

static const struct
{
  const char *double_name;
  double (*of_double) (double);
  const char *float_name;
  float (*of_float) (float);
} functions[] = { GANTRY_UNARY_OPERATIONS (ROW, ) };

/* The linker */

struct _GantryJit
{
  LLVMOrcLLJITRef lljit;
};

static gboolean
take_error (LLVMErrorRef failure, const char *what, GError **error)
{
  char *message;

  if (failure == NULL)
    return TRUE;
  message = LLVMGetErrorMessage (failure);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: %s", what, message);
  LLVMDisposeErrorMessage (message);
  return FALSE;
}

static void
add_symbol (GantryJit *jit, GArray *pairs, const char *name, LLVMOrcExecutorAddress address)
{
  LLVMOrcCSymbolMapPair pair = { LLVMOrcLLJITMangleAndIntern (jit->lljit, name),
                                 { address, { LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0 } } };

  g_array_append_val (pairs, pair);
}

static gboolean
define_symbols (GantryJit *jit, GError **error)
{
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (LLVMOrcCSymbolMapPair));
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib (jit->lljit);
  guint n_grid, n_special;
  const GantryGridSymbol *grid = gantry_grid_symbols (&n_grid), *special = gantry_special_symbols (&n_special);

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      add_symbol (jit, pairs, functions[i].double_name, ADDRESS (functions[i].of_double));
      add_symbol (jit, pairs, functions[i].float_name, ADDRESS (functions[i].of_float));
    }
  add_symbol (jit, pairs, "fmod", ADDRESS (fmod));
  add_symbol (jit, pairs, "fmodf", ADDRESS (fmodf));
  add_symbol (jit, pairs, "pow", ADDRESS (pow));
  add_symbol (jit, pairs, "atan2", ADDRESS (atan2));
  add_symbol (jit, pairs, "atan2f", ADDRESS (atan2f));
  add_symbol (jit, pairs, "memcpy", ADDRESS (memcpy));
  add_symbol (jit, pairs, "memset", ADDRESS (memset));
  add_symbol (jit, pairs, "gantry_power_i64", ADDRESS (power_i64));
  add_symbol (jit, pairs, "gantry_power_u64", ADDRESS (power_u64));
  for (guint i = 0; i < n_grid; i++)
    add_symbol (jit, pairs, grid[i].name, ADDRESS (grid[i].function));
  for (guint i = 0; i < n_special; i++)
    add_symbol (jit, pairs, special[i].name, ADDRESS (special[i].function));
  return take_error (LLVMOrcJITDylibDefine (library, LLVMOrcAbsoluteSymbols ((LLVMOrcCSymbolMapPairs) pairs->data, pairs->len)), "LLVM's linker did not start",
                     error);
}

GantryJit *
gantry_jit_new (GError **error)
{
  g_autoptr (GantryJit) jit = g_new0 (GantryJit, 1);

  if (!gantry_llvm_load (error))
    return NULL;
  gantry_compiler_initialize_x86 ();
  if (!take_error (LLVMOrcCreateLLJIT (&jit->lljit, NULL), "LLVM's linker did not start", error) || !define_symbols (jit, error))
    return NULL;
  return g_steal_pointer (&jit);
}

void
gantry_jit_free (GantryJit *jit)
{
  if (jit->lljit != NULL)
    LLVMConsumeError (LLVMOrcDisposeLLJIT (jit->lljit));
  g_free (jit);
}

guint64
gantry_jit_object_bytes (LLVMMemoryBufferRef object)
{
  enum
  {
    CODE,
    READ_ONLY,
    DATA,
    N_SEGMENTS
  };
  static const struct
  {
    const char *prefix;
    guint segment;
  } kinds[] = { { ".text", CODE },          { ".ltext", CODE }, { ".rodata", READ_ONLY }, { ".lrodata", READ_ONLY },
                { ".eh_frame", READ_ONLY }, { ".data", DATA },  { ".bss", DATA } };
  const guint64 page = 4096;
  guint64 segments[N_SEGMENTS] = { 0 }, bytes = 0;
  char *message = NULL;
  LLVMBinaryRef binary = LLVMCreateBinary (object, NULL, &message);
  LLVMSectionIteratorRef section;

  if (binary == NULL)
    {
      LLVMDisposeMessage (message);
      return 0;
    }
  section = LLVMObjectFileCopySectionIterator (binary);
  for (; !LLVMObjectFileIsSectionIteratorAtEnd (binary, section); LLVMMoveToNextSection (section))
    for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
      if (LLVMGetSectionName (section) != NULL && g_str_has_prefix (LLVMGetSectionName (section), kinds[i].prefix))
        segments[kinds[i].segment] += LLVMGetSectionSize (section);
  LLVMDisposeSectionIterator (section);
  LLVMDisposeBinary (binary);
  for (guint i = 0; i < N_SEGMENTS; i++)
    bytes += (segments[i] + page - 1) / page * page;
  return bytes;
}

gboolean
gantry_jit_add (GantryJit *jit, LLVMMemoryBufferRef object, GError **error)
{
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib (jit->lljit);

  return take_error (LLVMOrcLLJITAddObjectFile (jit->lljit, library, object), "LLVM's linker refused an object", error);
}

gpointer
gantry_jit_find (GantryJit *jit, const char *name, GError **error)
{
  LLVMOrcExecutorAddress address = 0;

  if (!take_error (LLVMOrcLLJITLookup (jit->lljit, &address, name), "LLVM could not link a kernel", error))
    return NULL;
  return (gpointer) (guintptr) address;
}
