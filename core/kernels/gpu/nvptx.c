/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of GPU kernels and their way to PTX. Bound programs are explicit already; what is left to LLVM's middle end
 * is to put private arrays into registers, to share equal addresses and to move what is the same out of loops. A
 * selection failure ends the process: what may be emitted is listed in emit-ops.c. */
#include "core/kernels/gpu/nvptx.h"
#include "core/base/error.h"
#include <string.h>

#define TRIPLE "nvptx64-nvidia-cuda"
/* PTX ISA 8.0, of CUDA 12.0, has all that is used here. */
#define FEATURES "+ptx80"
#define PASSES \
  "always-inline,globaldce,function(sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>," \
  "simplifycfg,loop-mssa(licm),early-cse<memssa>,separate-const-offset-from-gep,early-cse,slsr,dce)"

static void
initialize_llvm (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      LLVMInitializeNVPTXTargetInfo ();
      LLVMInitializeNVPTXTarget ();
      LLVMInitializeNVPTXTargetMC ();
      LLVMInitializeNVPTXAsmPrinter ();
      g_once_init_leave (&once, 1);
    }
}

static LLVMTargetMachineRef
new_machine (const char *cpu, guint level, GError **error)
{
  static const LLVMCodeGenOptLevel levels[] = { LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault, LLVMCodeGenLevelAggressive };
  LLVMTargetMachineRef machine;
  LLVMTargetRef target;
  char *message = NULL;

  initialize_llvm ();
  if (LLVMGetTargetFromTriple (TRIPLE, &target, &message))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "LLVM has no target " TRIPLE ": %s", message);
      LLVMDisposeMessage (message);
      return NULL;
    }
  machine = LLVMCreateTargetMachine (target, TRIPLE, cpu, FEATURES, levels[MIN (level, 3)], LLVMRelocDefault, LLVMCodeModelDefault);
  if (machine == NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "LLVM cannot generate code for the GPU %s", cpu);
  return machine;
}

GantryCompiler *
gantry_compiler_new_nvptx (const GantryGpu *gpu, guint level, GError **error)
{
  GantryCompiler *compiler;

  if (!gantry_llvm_load (error))
    return NULL;
  compiler = g_new0 (GantryCompiler, 1);
  compiler->gpu = g_memdup2 (gpu, sizeof *gpu);
  compiler->cpu = g_strdup (gpu->capability > 90 ? "sm_90" : gpu->arch);
  compiler->features = g_strdup (FEATURES);
  compiler->has_fma = TRUE;
  compiler->has_f16c = TRUE;
  compiler->vector_bytes = 16;
  compiler->no_calls = TRUE;
  compiler->context = LLVMContextCreate ();
  compiler->machine = new_machine (compiler->cpu, level, error);
  if (compiler->machine == NULL)
    g_clear_pointer (&compiler, gantry_compiler_free);
  return compiler;
}

/* Modules */

void
gantry_nvptx_begin (GantryCompiler *compiler, const char *name, GantryEmit *emit)
{
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout (compiler->machine);

  *emit = (GantryEmit){ .context = compiler->context,
                        .vector_bytes = compiler->vector_bytes,
                        .has_fma = TRUE,
                        .has_f16c = TRUE,
                        .no_calls = TRUE,
                        .has_bf16 = TRUE,
                        .constant_space = 4,
                        .special = GANTRY_SPECIAL_BY_UNIT };
  emit->module = LLVMModuleCreateWithNameInContext (name, compiler->context);
  LLVMSetTarget (emit->module, TRIPLE);
  LLVMSetModuleDataLayout (emit->module, layout);
  LLVMDisposeTargetData (layout);
  emit->builder = LLVMCreateBuilderInContext (compiler->context);
}

static void
annotate (GantryEmit *emit, const char *key, guint32 value)
{
  LLVMMetadataRef list[3] = {
    LLVMValueAsMetadata (emit->function),
    LLVMMDStringInContext2 (emit->context, key, strlen (key)),
    LLVMValueAsMetadata (LLVMConstInt (LLVMInt32TypeInContext (emit->context), value, FALSE)),
  };
  LLVMMetadataRef node = LLVMMDNodeInContext2 (emit->context, list, G_N_ELEMENTS (list));

  LLVMAddNamedMetadataOperand (emit->module, "nvvm.annotations", LLVMMetadataAsValue (emit->context, node));
}

/* No parameter is called noalias or readonly: the plan may lay a result over an operand that is not needed any more. */
void
gantry_nvptx_begin_kernel (GantryEmit *emit, const char *name, guint n_parameters, const GantryGrid *grid)
{
  static const char *const dimensions[] = { "reqntidx", "reqntidy", "reqntidz" };
  g_autofree LLVMTypeRef *parameters = g_new (LLVMTypeRef, n_parameters + 1);
  unsigned nounwind = LLVMGetEnumAttributeKindForName ("nounwind", strlen ("nounwind"));
  LLVMTypeRef type;

  for (guint i = 0; i < n_parameters; i++)
    parameters[i] = LLVMPointerTypeInContext (emit->context, 1);
  type = LLVMFunctionType (LLVMVoidTypeInContext (emit->context), parameters, n_parameters, FALSE);
  emit->function = LLVMAddFunction (emit->module, name, type);
  LLVMSetFunctionCallConv (emit->function, 71); /* a kernel of PTX */
  LLVMAddAttributeAtIndex (emit->function, (LLVMAttributeIndex) LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute (emit->context, nounwind, 0));
  for (guint i = 0; i < 3; i++)
    annotate (emit, dimensions[i], grid->block[i]);
  if (grid->min_blocks > 0)
    annotate (emit, "minctasm", grid->min_blocks);
  if (grid->max_registers > 0)
    annotate (emit, "maxnreg", grid->max_registers);
  LLVMPositionBuilderAtEnd (emit->builder, LLVMAppendBasicBlockInContext (emit->context, emit->function, "entry"));
}

void
gantry_nvptx_end_kernel (GantryEmit *emit)
{
  LLVMBuildRetVoid (emit->builder);
}

static gboolean
verify_and_run_passes (GantryCompiler *compiler, GantryEmit *emit, GError **error)
{
  LLVMPassBuilderOptionsRef options;
  LLVMErrorRef failure;
  char *message = NULL;

  if (LLVMVerifyModule (emit->module, LLVMReturnStatusAction, &message))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "the generated code is not valid (please report this): %s", message);
      LLVMDisposeMessage (message);
      return FALSE;
    }
  LLVMDisposeMessage (message);
  options = LLVMCreatePassBuilderOptions ();
  failure = LLVMRunPasses (emit->module, PASSES, compiler->machine, options);
  LLVMDisposePassBuilderOptions (options);
  if (failure == NULL)
    return TRUE;
  message = LLVMGetErrorMessage (failure);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "LLVM's passes failed: %s", message);
  LLVMDisposeErrorMessage (message);
  return FALSE;
}

char *
gantry_nvptx_end (GantryCompiler *compiler, GantryEmit *emit, char **ir, GError **error)
{
  LLVMMemoryBufferRef buffer = NULL;
  char *message = NULL, *text = NULL;

  LLVMDisposeBuilder (emit->builder);
  if (verify_and_run_passes (compiler, emit, error))
    {
      if (ir != NULL)
        {
          message = LLVMPrintModuleToString (emit->module);
          *ir = g_strdup (message);
          LLVMDisposeMessage (message);
        }
      if (LLVMTargetMachineEmitToMemoryBuffer (compiler->machine, emit->module, LLVMAssemblyFile, &message, &buffer))
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "LLVM could not generate code: %s", message);
          LLVMDisposeMessage (message);
        }
      else
        {
          text = g_strndup (LLVMGetBufferStart (buffer), LLVMGetBufferSize (buffer));
          LLVMDisposeMemoryBuffer (buffer);
        }
    }
  LLVMDisposeModule (emit->module);
  return text;
}
