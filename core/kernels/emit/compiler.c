/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers. Own vector code leaves little for LLVM's middle end to do: accumulators
 * become registers and equal addresses one, everything else costs time and gives nothing. */
#include "core/kernels/emit/compiler.h"
#include "core/base/error.h"
#include <string.h>

#define PASSES "function(mem2reg,early-cse)"

/* Targets */

void
gantry_compiler_initialize_x86 (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      LLVMInitializeX86TargetInfo ();
      LLVMInitializeX86Target ();
      LLVMInitializeX86TargetMC ();
      LLVMInitializeX86AsmPrinter ();
      LLVMInitializeX86AsmParser ();
      g_once_init_leave (&once, 1);
    }
}

static char *
take_message (char *message)
{
  char *copy = g_strdup (message);

  LLVMDisposeMessage (message);
  return copy;
}

char *
gantry_compiler_host_cpu (void)
{
  return take_message (LLVMGetHostCPUName ());
}

gboolean
gantry_compiler_host_has (const char *feature)
{
  g_autofree char *features = take_message (LLVMGetHostCPUFeatures ()), *with = g_strconcat ("+", feature, NULL);
  g_auto (GStrv) list = g_strsplit (features, ",", -1);

  return g_strv_contains ((const char *const *) list, with);
}

static LLVMTargetMachineRef
new_machine (const char *cpu, const char *features, guint level, GError **error)
{
  static const LLVMCodeGenOptLevel levels[] = { LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault, LLVMCodeGenLevelAggressive };
  g_autofree char *triple = take_message (LLVMGetDefaultTargetTriple ());
  LLVMTargetMachineRef machine = NULL;
  LLVMTargetRef target;
  char *message = NULL;

  gantry_compiler_initialize_x86 ();
  if (LLVMGetTargetFromTriple (triple, &target, &message))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "LLVM has no target %s: %s", triple, message);
      LLVMDisposeMessage (message);
      return NULL;
    }
  machine = LLVMCreateTargetMachine (target, triple, cpu, features, levels[MIN (level, 3)], LLVMRelocPIC, LLVMCodeModelSmall);
  if (machine == NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "LLVM cannot generate code for the processor %s", cpu);
  return machine;
}

/* What the processor has, asked of LLVM itself: does this feature change anything? There is no other question in its
 * C interface, and the names of features are the host's or, for another processor, implied by its name. */
static gboolean
has_feature (const char *cpu, const char *features, const char *name)
{
  g_auto (GStrv) list = g_strsplit (features, ",", -1);
  g_autofree char *with = g_strconcat ("+", name, NULL);

  if (features[0] != '\0')
    return g_strv_contains ((const char *const *) list, with);
  /* x86-64-v3 and the processors that contain it. */
  if (g_str_equal (cpu, "x86-64-v3") || g_str_equal (cpu, "haswell") || g_str_equal (cpu, "broadwell") || g_str_has_prefix (cpu, "znver")
      || g_str_equal (cpu, "alderlake"))
    return !g_str_has_prefix (name, "avx512") || g_str_equal (cpu, "znver4") || g_str_equal (cpu, "znver5");
  if (g_str_equal (cpu, "x86-64-v4") || g_str_has_prefix (cpu, "skylake-avx512") || g_str_equal (cpu, "sapphirerapids") || g_str_has_prefix (cpu, "icelake")
      || g_str_equal (cpu, "cascadelake"))
    return TRUE;
  return FALSE;
}

GantryCompiler *
gantry_compiler_new (const char *cpu, guint level, GError **error)
{
  GantryCompiler *compiler;

  if (!gantry_llvm_load (error))
    return NULL;
  compiler = g_new0 (GantryCompiler, 1);
  compiler->cpu = cpu != NULL ? g_strdup (cpu) : gantry_compiler_host_cpu ();
  compiler->features = cpu != NULL ? g_strdup ("") : take_message (LLVMGetHostCPUFeatures ());
  compiler->has_fma = has_feature (compiler->cpu, compiler->features, "fma");
  compiler->has_f16c = has_feature (compiler->cpu, compiler->features, "f16c");
  compiler->vector_bytes = has_feature (compiler->cpu, compiler->features, "avx512f") ? 64 : has_feature (compiler->cpu, compiler->features, "avx2") ? 32 : 16;
  compiler->machine = new_machine (compiler->cpu, compiler->features, level, error);
  compiler->context = LLVMContextCreate ();
  if (compiler->machine == NULL)
    g_clear_pointer (&compiler, gantry_compiler_free);
  return compiler;
}

void
gantry_compiler_free (GantryCompiler *compiler)
{
  if (compiler->machine != NULL)
    LLVMDisposeTargetMachine (compiler->machine);
  LLVMContextDispose (compiler->context);
  g_free (compiler->cpu);
  g_free (compiler->features);
  g_free (compiler->gpu);
  g_free (compiler);
}

/* Modules */

static void
add_attribute (GantryEmit *emit, const char *key, const char *value)
{
  LLVMAddAttributeAtIndex (emit->function, LLVMAttributeFunctionIndex, LLVMCreateStringAttribute (emit->context, key, strlen (key), value, strlen (value)));
}

void
gantry_compiler_begin (GantryCompiler *compiler, const char *name, GantryEmit *emit)
{
  LLVMContextRef context = compiler->context;
  LLVMTypeRef pointer = LLVMPointerTypeInContext (context, 0), i64 = LLVMInt64TypeInContext (context);
  LLVMTypeRef parameters[] = { pointer, pointer, i64, i64 };
  LLVMTypeRef type = LLVMFunctionType (LLVMVoidTypeInContext (context), parameters, G_N_ELEMENTS (parameters), FALSE);
  g_autofree char *triple = take_message (LLVMGetTargetMachineTriple (compiler->machine));
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout (compiler->machine);
  unsigned nounwind = LLVMGetEnumAttributeKindForName ("nounwind", strlen ("nounwind"));

  *emit = (GantryEmit){ .context = context,
                        .vector_bytes = compiler->vector_bytes,
                        .has_fma = compiler->has_fma,
                        .has_f16c = compiler->has_f16c,
                        .no_calls = compiler->no_calls,
                        .special = compiler->special };
  emit->module = LLVMModuleCreateWithNameInContext (name, context);
  LLVMSetTarget (emit->module, triple);
  LLVMSetModuleDataLayout (emit->module, layout);
  LLVMDisposeTargetData (layout);
  emit->function = LLVMAddFunction (emit->module, name, type);
  LLVMAddAttributeAtIndex (emit->function, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute (context, nounwind, 0));
  add_attribute (emit, "target-cpu", compiler->cpu);
  if (compiler->features[0] != '\0')
    add_attribute (emit, "target-features", compiler->features);
  if (compiler->vector_bytes == 64)
    add_attribute (emit, "min-legal-vector-width", "512");
  emit->builder = LLVMCreateBuilderInContext (context);
  LLVMPositionBuilderAtEnd (emit->builder, LLVMAppendBasicBlockInContext (context, emit->function, "entry"));
}

static gboolean
run_passes (GantryCompiler *compiler, GantryEmit *emit, GError **error)
{
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions ();
  LLVMErrorRef failure = LLVMRunPasses (emit->module, PASSES, compiler->machine, options);

  LLVMDisposePassBuilderOptions (options);
  if (failure != NULL)
    {
      char *message = LLVMGetErrorMessage (failure);

      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "LLVM's passes failed: %s", message);
      LLVMDisposeErrorMessage (message);
      return FALSE;
    }
  return TRUE;
}

static gboolean
verify (GantryEmit *emit, GError **error)
{
  char *message = NULL;
  gboolean broken = LLVMVerifyModule (emit->module, LLVMReturnStatusAction, &message);

  if (broken)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "the generated code is not valid (please report this): %s", message);
  LLVMDisposeMessage (message);
  return !broken;
}

static LLVMMemoryBufferRef
generate (GantryCompiler *compiler, LLVMModuleRef module, LLVMCodeGenFileType kind, GError **error)
{
  LLVMMemoryBufferRef buffer = NULL;
  char *message = NULL;

  if (LLVMTargetMachineEmitToMemoryBuffer (compiler->machine, module, kind, &message, &buffer))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "LLVM could not generate code: %s", message);
      LLVMDisposeMessage (message);
      return NULL;
    }
  return buffer;
}

/* Code generation changes the module, hence the copy. */
static char *
assembly_of (GantryCompiler *compiler, LLVMModuleRef module)
{
  LLVMModuleRef copy = LLVMCloneModule (module);
  LLVMMemoryBufferRef buffer = generate (compiler, copy, LLVMAssemblyFile, NULL);
  char *text = buffer != NULL ? g_strndup (LLVMGetBufferStart (buffer), LLVMGetBufferSize (buffer)) : NULL;

  if (buffer != NULL)
    LLVMDisposeMemoryBuffer (buffer);
  LLVMDisposeModule (copy);
  return text;
}

LLVMMemoryBufferRef
gantry_compiler_end (GantryCompiler *compiler, GantryEmit *emit, char **ir, char **assembly, GError **error)
{
  LLVMMemoryBufferRef object = NULL;

  LLVMDisposeBuilder (emit->builder);
  if (verify (emit, error) && run_passes (compiler, emit, error))
    {
      if (ir != NULL)
        *ir = take_message (LLVMPrintModuleToString (emit->module));
      if (assembly != NULL)
        *assembly = assembly_of (compiler, emit->module);
      object = generate (compiler, emit->module, LLVMObjectFile, error);
    }
  LLVMDisposeModule (emit->module);
  return object;
}
