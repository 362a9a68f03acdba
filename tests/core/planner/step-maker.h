/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps built by hand for the tests of the planner: what differentiation and unrolling make of well-known
 * programs. */
#pragma once
#include "core/graph/graph.h"

typedef struct
{
  GantryContext *context;
  GantryBuilder *builder;
} StepMaker;

void step_maker_begin (StepMaker *maker, const char *name);
/** @role: (nullable): "parameter" or "state". @alias: result that is written over it, or -1 */
guint32 step_maker_parameter (StepMaker *maker, const char *role, gint alias, guint rank, const GantryDim *dims, GantryMemoryKind memory);
guint32 step_maker_dot (StepMaker *maker, guint32 x, guint32 y, gint64 left, gint64 right);
/** Layer @i of a stacked parameter, without the first dimension. */
guint32 step_maker_layer (StepMaker *maker, guint32 stack, gint64 i);
/** Values of one shape stacked along a new first dimension. */
guint32 step_maker_stack (StepMaker *maker, const guint32 *values, guint n);
/** A fusion of element by element operations: @kind "gelu" (x), "gelu'" (dy, x), "m" (m, g, scale), "v" (v, g, scale),
 *  "p" (p, m, v), "l2" (g, p). */
guint32 step_maker_fuse (StepMaker *maker, const char *kind, const guint32 *operands, guint n);
GantryModule *step_maker_end (StepMaker *maker, const guint32 *results, guint n);

/** Ten linear layers y = x w1[l], x = y w2[l] of the host offload tutorial; gradients of the sum with respect to w1 and w2.
 *  @ys, @xs: (out) (nullable): the values of the layers */
GantryModule *step_layers (guint n_layers, gint64 width, gint64 hidden, guint32 *ys, guint32 *xs);
/** @n_layers layers x = gelu (x w) with Adam, clipping by the global norm and decay. @zs: (out) (nullable): x w,
 *  @gelus: (out) (nullable): x */
GantryModule *step_adam (guint n_layers, gint64 width, guint32 *zs, guint32 *gelus);
