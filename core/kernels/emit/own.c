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
  gboolean is_float; /* it takes float, and `of_` double */
} Own;

/* Of the unary operations that are calls of the C library, those of float and of double. */
#define NO_CODE
#define CODE(name)
#define INTRINSIC(name)
#define EXPANDED_BOTH(name)
#define LIBRARY(name) { #name, gantry_emit_double_##name, NULL, FALSE }, { #name "f", gantry_emit_double_##name, NULL, TRUE },
#define EXPANDED(name) LIBRARY (name)
#define ROW(with, NAME, name, short_name, elements, result, cost, float_value, integer_value, float_code, ...) float_code

static const Own list[] = {
  GANTRY_UNARY_OPERATIONS (ROW, ){ "pow", NULL, gantry_emit_double_pow, FALSE },
  { "atan2", NULL, gantry_emit_double_atan2, FALSE },
  { "atan2f", NULL, gantry_emit_double_atan2, TRUE },
  { "fmod", NULL, gantry_emit_loop_remainder, FALSE },
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
