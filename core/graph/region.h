/* SPDX-License-Identifier: Apache-2.0 */
/* Control that is left in a program for its run: branches, loops, scans and calls. Their bodies (regions) are planned, compiled
 * and run by the same code as the entry function: as a module of their own that shares all of its arrays with the whole one. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_CONTROL_CALL,
  GANTRY_CONTROL_BRANCH, /* by the predicate, operand 0 */
  GANTRY_CONTROL_WHILE,
  GANTRY_CONTROL_SCAN,
} GantryControlKind;

/** What a node of control names and passes on. */
typedef struct
{
  guint8 kind; /* GantryControlKind */
  guint8 n_regions;
  guint8 reverse;       /* of a scan: from the last slice to the first */
  guint32 functions[2]; /* ids: the arm for true and the one for false; body and condition of a loop; else the body */
  guint n_operands, n_results;
  guint first;        /* operand that is parameter 0 of each region */
  guint n_carries;    /* of a loop: operands that its results are the last values of */
  guint n_xs, n_ys;   /* of a scan: operands that are taken slice by slice behind the carries, results that are put together so */
  gint64 trips;       /* of a scan its length; of a loop what its attribute trip_count, else exact_trips says, -1: not known */
  gint64 exact_trips; /* of a loop: with other trips than these it gives nothing; -1: any */
} GantryControl;

/** Indices in `functions`. */
enum
{
  GANTRY_CONTROL_THEN = 0,
  GANTRY_CONTROL_ELSE = 1,
  GANTRY_CONTROL_BODY = 0,
  GANTRY_CONTROL_CONDITION = 1
};

/**
 * gantry_control_of:
 * @control: (out caller-allocates)
 *
 * Returns: FALSE where @node is no control, or names functions that @module has not
 */
gboolean gantry_control_of (const GantryModule *module, const GantryNode *node, GantryControl *control);
/** Whether @node stands for a function or several that are planned and run by themselves. */
gboolean gantry_node_is_control (const GantryNode *node);

/**
 * gantry_module_region:
 * @function: id of a function of @module
 *
 * Returns: (transfer full): @module with that function as its entry, and all others
 */
GantryModule *gantry_module_region (GantryModule *module, guint32 function);

/**
 * gantry_module_list_regions:
 *
 * Returns: (transfer full) (element-type guint32): ids of the functions that control of the entry function names, and control
 *  in those, each once, in the order of their nodes
 */
GArray *gantry_module_list_regions (const GantryModule *module);

/**
 * gantry_function_find_needed:
 * @absent: (nullable): by parameter: it is not given, so that a `rematerialize` of it is what is made again; else that is what is saved
 *
 * Returns: (transfer full): by index in @function, whether its results or its effects need the value of the node
 */
guint8 *gantry_function_find_needed (const GantryModule *module, const GantryFunction *function, const guint8 *absent);
/** The operand that `rematerialize` @node of @function stands for. @absent: as in gantry_function_find_needed() */
guint gantry_rematerialize_choice (const GantryModule *module, const GantryFunction *function, const GantryNode *node, const guint8 *absent);

/** Whether the body of @scan does without its slices of operands that it walks along, whichever of them are not there: it can make them
 * again, and makes none of the others from them. Returns: (transfer full): by operand */
guint8 *gantry_scan_find_does_without (const GantryModule *module, const GantryNode *scan);
/** The node of the body of @scan that result @result, a stack, has the values of. Returns: (nullable) (transfer none) */
const GantryNode *gantry_scan_stack_source (const GantryModule *module, const GantryNode *scan, guint result);

/**
 * gantry_loop_check_trips:
 * @made: trips that a loop of @exact has made
 * @more: whether its condition asks for another one
 *
 * What a loop collects has as many rows as trips are expected.
 *
 * Returns: FALSE with %GANTRY_ERROR_UNSUPPORTED where it makes other trips than @exact, unless that is -1
 */
gboolean gantry_loop_check_trips (gint64 exact, gint64 made, gboolean more, GError **error);

/** Whether @node is a loop whose condition, from some trip on, depends on nothing that changes: it ends soon or never, which is an effect,
 * whoever uses its value. */
gboolean gantry_loop_may_be_endless (const GantryModule *module, const GantryNode *node);
/** Whether control @node does anything beyond giving its value (GANTRY_OP_EFFECT), in functions that it names; a loop without an end does. */
gboolean gantry_control_has_effect (const GantryModule *module, const GantryNode *node);

G_END_DECLS
