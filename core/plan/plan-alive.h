/* SPDX-License-Identifier: Apache-2.0 */
/* What people ask of a plan: who holds the memory at a step, and until whose use. Reads a plan and nothing else, so
 * that a view can ask without the room that makes plans. */
#pragma once
#include "core/plan/plan.h"

G_BEGIN_DECLS

/** Moments at which a plan has values: its steps. Without a step there is still one, with arguments and results in their places. */
static inline guint32
gantry_plan_n_moments (const GantryPlan *plan)
{
  return MAX (plan->n_steps, 1);
}

/** What holds memory at a step: one entry for each place of the device arena. */
typedef struct
{
  guint32 buffer;     /* the value in that place: of several views the one that the others share */
  guint64 bytes;      /* whole place */
  guint32 until_step; /* last step that needs this value */
  guint32 until_node; /* node of that step, or 0: needed until the end, as a result or as an argument that the next run reads again */
  guint32 next;       /* buffer that is then written over it in place, or GANTRY_NO_BUFFER */
} GantryPlanAlive;

/**
 * gantry_plan_until_node:
 * @buffer: index in plan->buffers
 *
 * Returns: until whose use the value of @buffer is needed, as `until_node` of GantryPlanAlive; of a view its own last use
 */
guint32 gantry_plan_until_node (const GantryPlan *plan, guint32 buffer);

/**
 * gantry_plan_alive_at:
 * @step: below gantry_plan_n_moments()
 *
 * Returns: (transfer full) (element-type GantryPlanAlive): largest first; the bytes sum to plan->live_bytes[step] where there is a step
 */
GArray *gantry_plan_alive_at (const GantryPlan *plan, guint32 step);

/** From step @begin to before step @end the place of @place holds the value of @buffer. */
typedef struct
{
  guint32 place;  /* buffer that owns it */
  guint32 buffer; /* of several views the one that the others share */
  guint32 begin, end;
} GantryPlanSpan;

/**
 * gantry_plan_spans:
 * @memory: of the arena of this kind of memory
 *
 * What each place holds when: one value at a time, from the step at which it is written to the one at which the next is
 * written over it, or the place is given up. A place whose newest value is gone holds the one that stays longest (a donated
 * argument, say). Linear, but for sorting.
 *
 * Returns: (transfer full) (element-type GantryPlanSpan): those of one place together, by step
 */
GArray *gantry_plan_spans (const GantryPlan *plan, GantryMemoryKind memory);

/** What is alive is an argument where its value is a parameter of the entry function at home, or (a view of it is) a result.
 *  Returns: (transfer full) (array): by buffer: whether it is one */
guint8 *gantry_plan_find_arguments (const GantryPlan *plan);

/** The buffer that owns the place of @buffer: the end of its chain of `shares`. */
guint32 gantry_plan_place_of (const GantryPlan *plan, guint32 buffer);
/** That of each buffer: linear, however long the chains are. Returns: (transfer full) (array): by buffer */
guint32 *gantry_plan_places (const GantryPlan *plan);
/** The buffer that @buffer is a view of in the end: where its value was written. */
guint32 gantry_plan_value_of (const GantryPlan *plan, guint32 buffer);

/**
 * gantry_plan_place_before:
 *
 * Whose space @buffer was given: of the values that lay in any part of its place before it the one that was needed longest. Linear.
 *
 * Returns: its buffer; %GANTRY_NO_BUFFER: nothing lay there before, or @buffer has no place of an arena
 */
guint32 gantry_plan_place_before (const GantryPlan *plan, guint32 buffer);

G_END_DECLS
