/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: what reading and writing the instructions of a computation share. */
#pragma once
#include "core/frontends/xla/hlo-private.h"

G_BEGIN_DECLS

/** The computation being written. */
typedef struct
{
  Hlo *h;
  GantryArena *arena;
  GHashTable *values;    /* key -> HloValue */
  const HloValue *given; /* (nullable): what a fusion gives for its parameters */
  guint n_given;
  const char *scope;     /* (nullable): of a fusion */
  GPtrArray *parameters; /* (nullable): HloValue by number: of the entry */
} HloBody;

static inline HloComputation *
gantry_hlo_computation (Hlo *h, gint index)
{
  return &g_array_index (h->computations, HloComputation, index);
}

/* hlo-read.c */
/** Returns: (transfer full): HloInstruction in the order of the file */
GArray *gantry_hlo_read_body (Hlo *h, HloComputation *c);
/** The values that @inst names, all of which are written already. Returns: (transfer none): @n of them, in the arena */
HloValue **gantry_hlo_read_operands (HloBody *body, const HloInstruction *inst, guint *n);

/* hlo-instruction.c */
/** Returns: (transfer none): a value in the arena with room for the leaves of @type */
HloValue *gantry_hlo_value_new (HloBody *body, guint32 type);
/** An error of @inst as a whole, which stands where the instruction begins. */
void gantry_hlo_fail_at (Hlo *h, const HloInstruction *inst, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** Writes @inst, and enters its value under its key. */
void gantry_hlo_write_instruction (HloBody *body, const HloInstruction *inst);
/** A call of the function that computation @callee is. */
HloValue *gantry_hlo_write_call (HloBody *body, const HloInstruction *inst, HloAttributes *a, gint callee, HloValue *const *operands, guint n);

/* hlo-computation.c */
void gantry_hlo_write_parameter (HloBody *body, const HloInstruction *inst, HloAttributes *a);
/** The instructions of the computation that @a names, in place, in a scope of the name of the fusion. */
HloValue *gantry_hlo_write_fusion (HloBody *outer, const HloInstruction *inst, HloAttributes *a, HloValue *const *operands, guint n);

G_END_DECLS
