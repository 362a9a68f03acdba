/* SPDX-License-Identifier: Apache-2.0 */
/* Code of our own where elsewhere the C library is called: functions within the module, made when they are
 * first needed and inlined by LLVM. Seldom used functions of float go through double. */
#include "core/kernels/emit/double-private.h"
#include <string.h>

#define B (e->builder)

typedef LLVMValueRef V;

typedef struct
{
  const char *symbol; /* in the C library */
  V (*of_one) (GantryEmit *e, V x);
  V (*of_two) (GantryEmit *e, V x, V y);
  gboolean is_float;  /* it takes float, and `of_` double */
} Own;

static const Own list[] = {
  { "exp", gantry_emit_double_exp, NULL, FALSE },       { "expm1", gantry_emit_double_expm1, NULL, FALSE },
  { "log", gantry_emit_double_log, NULL, FALSE },       { "log1p", gantry_emit_double_log1p, NULL, FALSE },
  { "tanh", gantry_emit_double_tanh, NULL, FALSE },     { "erf", gantry_emit_double_erf, NULL, FALSE },
  { "sin", gantry_emit_double_sin, NULL, FALSE },       { "cos", gantry_emit_double_cos, NULL, FALSE },
  { "tan", gantry_emit_double_tan, NULL, FALSE },       { "cbrt", gantry_emit_double_cbrt, NULL, FALSE },
  { "asin", gantry_emit_double_asin, NULL, FALSE },     { "acos", gantry_emit_double_acos, NULL, FALSE },
  { "atan", gantry_emit_double_atan, NULL, FALSE },     { "sinh", gantry_emit_double_sinh, NULL, FALSE },
  { "cosh", gantry_emit_double_cosh, NULL, FALSE },     { "asinh", gantry_emit_double_asinh, NULL, FALSE },
  { "acosh", gantry_emit_double_acosh, NULL, FALSE },   { "atanh", gantry_emit_double_atanh, NULL, FALSE },
  { "sinf", gantry_emit_double_sin, NULL, TRUE },       { "cosf", gantry_emit_double_cos, NULL, TRUE },
  { "tanf", gantry_emit_double_tan, NULL, TRUE },       { "cbrtf", gantry_emit_double_cbrt, NULL, TRUE },
  { "asinf", gantry_emit_double_asin, NULL, TRUE },     { "acosf", gantry_emit_double_acos, NULL, TRUE },
  { "atanf", gantry_emit_double_atan, NULL, TRUE },     { "sinhf", gantry_emit_double_sinh, NULL, TRUE },
  { "coshf", gantry_emit_double_cosh, NULL, TRUE },     { "asinhf", gantry_emit_double_asinh, NULL, TRUE },
  { "acoshf", gantry_emit_double_acosh, NULL, TRUE },   { "atanhf", gantry_emit_double_atanh, NULL, TRUE },
  { "pow", NULL, gantry_emit_double_pow, FALSE },       { "atan2", NULL, gantry_emit_double_atan2, FALSE },
  { "atan2f", NULL, gantry_emit_double_atan2, TRUE },   { "fmod", NULL, gantry_emit_loop_remainder, FALSE },
  { "fmodf", NULL, gantry_emit_loop_remainder, FALSE }, /* knows both */
  { "gantry_power_i64", NULL, gantry_emit_loop_power_signed, FALSE },
  { "gantry_power_u64", NULL, gantry_emit_loop_power_unsigned, FALSE },
};

static const Own *
find (const char *symbol)
{
  for (guint i = 0; i < G_N_ELEMENTS (list); i++)
    if (strcmp (list[i].symbol, symbol) == 0)
      return &list[i];
  g_assert_not_reached ();
}

static V
build (GantryEmit *e, gconstpointer data, V x, V y)
{
  const Own *own = data;
  LLVMTypeRef type = LLVMTypeOf (x), wide = LLVMDoubleTypeInContext (e->context);
  V r;

  if (own->is_float)
    {
      x = LLVMBuildFPExt (B, x, wide, "");
      y = y != NULL ? LLVMBuildFPExt (B, y, wide, "") : NULL;
    }
  r = own->of_two != NULL ? own->of_two (e, x, y) : own->of_one (e, x);
  return own->is_float ? LLVMBuildFPTrunc (B, r, type, "") : r;
}

V
gantry_emit_own (GantryEmit *e, const char *symbol, LLVMTypeRef signature)
{
  static const char how[] = "alwaysinline";
  g_autofree char *name = g_strdup_printf ("gantry_own_%s", symbol);
  V function = gantry_emit_function (e, name, signature, build, find (symbol));

  LLVMAddAttributeAtIndex (function, (LLVMAttributeIndex) LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute (e->context, LLVMGetEnumAttributeKindForName (how, strlen (how)), 0));
  return function;
}
