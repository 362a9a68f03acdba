/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the analysis share: values are slots, one for each member of a tuple; views have the slot of what they show. */
#pragma once
#include "core/graph/operation.h"
#include "core/planner/rounding/rounding.h"

/* What is asked of a value. */
enum
{
  ASKED_READ = 1 << 0,    /* somebody reads it */
  ASKED_EXACT = 1 << 1,   /* it is compared, sorted by or made a whole number */
  ASKED_CANCELS = 1 << 2, /* it is part of a sum or difference that must not become zero, or negative */
  ASKED_SIGN = 1 << 3,    /* whether it is positive, negative or zero */
  ASKED_DIVISOR = 1 << 4, /* that it does not become zero */
  ASKED_DOMAIN = 1 << 5,  /* that it does not become negative; rounding alone never makes it so */
  ASKED_SOME = 1 << 6,    /* that not all of it becomes zero: it is summed up into a divisor */
  ASKED_SLICES = 1 << 7,  /* a loop reads it slice by slice. Of this value alone: it is asked of nothing that the value is made of */
};
/* What a product passes on, but a sum does not. */
#define ASKED_OF_FACTORS (ASKED_SIGN | ASKED_DIVISOR | ASKED_DOMAIN | ASKED_SOME)

/* What is known of all elements of a value, the weakest first. */
typedef enum
{
  SIGN_ANY,
  SIGN_NOT_NEGATIVE,
  SIGN_ZERO,
  SIGN_POSITIVE, /* and not near zero, whatever is rounded before */
} Sign;

struct _GantryRounding
{
  GantryModule *module;
  guint32 *first; /* by position: its first slot; n_nodes + 1 */
  guint32 *shown; /* by slot: that of what it shows, or itself */
  guint8 *asked;  /* by slot that shows itself */
  guint8 *sign;   /* likewise: Sign; of bodies that of the last walk */
};

static inline guint32
rounding_slot (const GantryRounding *rounding, guint32 position, guint member)
{
  return rounding->shown[rounding->first[position] + member];
}

/** Of a tensor. */
static inline Sign
rounding_sign (const GantryRounding *rounding, const GantryNode *node)
{
  guint32 at = node != NULL ? gantry_module_position (rounding->module, node) : 0;

  return node != NULL && rounding->first[at] < rounding->first[at + 1] ? (Sign) rounding->sign[rounding_slot (rounding, at, 0)] : SIGN_ANY;
}

/** Fills the signs of @function: the body of @node (nullable), whose operand @first is parameter 0, and of whose parameters the first
 *  @n_unknown may have any. Parameters that are slices have the sign of the whole. */
void _gantry_rounding_find_signs (GantryRounding *rounding, const GantryFunction *function, const GantryNode *node, guint first, guint n_unknown);
/** The number that a constant has in all elements, seen through moves. Returns: FALSE where it is none */
gboolean _gantry_rounding_constant (const GantryModule *module, const GantryNode *node, double *value);
/** @bits are asked of operand @i of @node. */
void _gantry_rounding_ask (GantryRounding *rounding, const GantryNode *node, guint i, guint8 bits);
/** What @node, of which @asked is asked and which is neither control nor a fusion, asks of its operands. */
void _gantry_rounding_pass (GantryRounding *rounding, const GantryNode *node, guint8 asked);
