/* SPDX-License-Identifier: Apache-2.0 */
/* Functions within the module: code that would stand in a kernel many times stands there once and is called. LLVM's
 * time grows with what it is given, and each expansion of a sine is some thirty instructions, with the calls of the C
 * library for large arguments some eighty more. A call gives the same bits: no product outside of an expansion is fused
 * with a sum inside, since only those that a program states may be. */
#include "core/kernels/emit/emit.h"
#include <string.h>

typedef LLVMValueRef V;

/* The processor that the function around it is for. */
static void
copy_attributes (GantryEmit *e, V from, V to)
{
  guint n = LLVMGetAttributeCountAtIndex (from, (LLVMAttributeIndex) LLVMAttributeFunctionIndex);
  g_autofree LLVMAttributeRef *attributes = g_new (LLVMAttributeRef, n + 1);

  LLVMGetAttributesAtIndex (from, (LLVMAttributeIndex) LLVMAttributeFunctionIndex, attributes);
  for (guint i = 0; i < n; i++)
    LLVMAddAttributeAtIndex (to, (LLVMAttributeIndex) LLVMAttributeFunctionIndex, attributes[i]);
}

V
gantry_emit_function (GantryEmit *e, const char *name, LLVMTypeRef signature, GantryEmitBody body, gconstpointer data)
{
  V function = LLVMGetNamedFunction (e->module, name), arguments[2] = { NULL, NULL }, r;
  guint n = LLVMCountParamTypes (signature);
  GantryEmit inner = *e;

  if (function != NULL)
    return function;
  g_assert (n <= G_N_ELEMENTS (arguments));
  function = LLVMAddFunction (e->module, name, signature);
  LLVMSetLinkage (function, LLVMInternalLinkage);
  copy_attributes (e, e->function, function);
  inner.function = function;
  inner.shares = FALSE;
  inner.builder = LLVMCreateBuilderInContext (e->context);
  LLVMPositionBuilderAtEnd (inner.builder, LLVMAppendBasicBlockInContext (e->context, function, "entry"));
  for (guint i = 0; i < n; i++)
    arguments[i] = LLVMGetParam (function, i);
  r = body (&inner, data, arguments[0], arguments[1]);
  LLVMBuildRet (inner.builder, r);
  LLVMDisposeBuilder (inner.builder);
  return function;
}

V
gantry_emit_shared (GantryEmit *e, const char *what, GantryEmitBody body, gconstpointer data, V x, V y)
{
  LLVMTypeRef type = LLVMTypeOf (x), parameters[] = { type, type };
  guint n = y != NULL ? 2 : 1;
  LLVMTypeRef signature = LLVMFunctionType (type, parameters, n, FALSE);
  g_autofree char *name = g_strdup_printf ("gantry_shared_%s_%u", what, gantry_emit_lanes (type));

  return LLVMBuildCall2 (e->builder, signature, gantry_emit_function (e, name, signature, body, data), (V[]){ x, y }, n, "");
}
