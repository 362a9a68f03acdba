/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: primitives of JAX in core operations. */
#pragma once
#include "core/frontends/xla/lower-private.h"

G_BEGIN_DECLS

/** A primitive: @attrs writes those of @stablehlo, and the rule of @stablehlo follows, or @own. */
typedef struct
{
  const char *jax, *stablehlo;
  void (*attrs) (XlaLower *l, GantryAttrList *attrs);
  void (*own) (XlaLower *l);
  GantryOpClass op_class;
} JaxprRule;

/* lower-jaxpr.c */
const JaxprRule *gantry_jaxpr_find_rule (const char *name);
GantryOpClass gantry_jaxpr_class (const JaxprRule *rule);
/** Lowers "jax.NAME". */
void gantry_jaxpr_lower (XlaLower *l);
const gint64 *gantry_jaxpr_ints (XlaLower *l, const char *key, gsize *n);

/* lower-jaxpr-op.c, lower-jaxpr-control.c */
void gantry_jaxpr_compare (XlaLower *l);
void gantry_jaxpr_exp2 (XlaLower *l);
void gantry_jaxpr_pow (XlaLower *l);
void gantry_jaxpr_split (XlaLower *l);
void gantry_jaxpr_stack (XlaLower *l);
void gantry_jaxpr_cholesky (XlaLower *l);
void gantry_jaxpr_triangular_solve (XlaLower *l);
void gantry_jaxpr_integer_pow (XlaLower *l);
void gantry_jaxpr_select_n (XlaLower *l);
void gantry_jaxpr_checkpoint_name (XlaLower *l);
void gantry_jaxpr_reduce (XlaLower *l);
void gantry_jaxpr_arg (XlaLower *l);
void gantry_jaxpr_cumulate (XlaLower *l);
void gantry_jaxpr_window (XlaLower *l);
void gantry_jaxpr_scatter (XlaLower *l);
void gantry_jaxpr_sort (XlaLower *l);
void gantry_jaxpr_scan (XlaLower *l);
void gantry_jaxpr_while (XlaLower *l);
void gantry_jaxpr_closed_over (XlaLower *l);

G_END_DECLS
