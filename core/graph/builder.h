/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a module: nodes in program order, types inferred by the operation table. The first error
 * sticks: later calls return 0 and do nothing, so that a lowering rule is written without a check
 * at each step and asks once, in gantry_builder_check() or finish. */
#pragma once
#include "core/graph/module.h"
#include "core/graph/operation.h"

G_BEGIN_DECLS

typedef struct _GantryBuilder GantryBuilder;

/**
 * gantry_builder_new:
 * @context: kept by reference; all ids that the builder takes and gives are its
 * @name: of the module, interned
 *
 * Returns: (transfer full): a builder without functions
 */
GantryBuilder *gantry_builder_new (GantryContext *context, const char *name);
void gantry_builder_free (GantryBuilder *builder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryBuilder, gantry_builder_free)
/** Returns: (transfer none): what gantry_builder_new() got */
GantryContext *gantry_builder_context (GantryBuilder *builder);

/**
 * gantry_builder_begin:
 * @function_id: 0 for a new id
 *
 * Starts a function; the first one finished last is still functions[0] if begun first. Functions may
 * nest (a loop body is begun and ended while its parent is open). Returns: the function id.
 */
guint32 gantry_builder_begin (GantryBuilder *builder, const char *name, guint32 function_id);

/**
 * gantry_builder_parameter:
 * @type: type id
 * @name: (nullable): what the source calls it
 *
 * Adds the next parameter of the innermost open function. All parameters come before the other nodes (but captures:
 * gantry_builder_capture()). Returns: its node id, 0 after an error
 */
guint32 gantry_builder_parameter (GantryBuilder *builder, guint32 type, const char *name);

/**
 * gantry_builder_end:
 * @results: node ids of the function's results, copied
 *
 * Ends the innermost open function; the one around it is written on. gantry_builder_finish() looks at the results.
 */
void gantry_builder_end (GantryBuilder *builder, const guint32 *results, guint n_results);

/* Bodies of branches and loops whose captures are found while they are written. */

/**
 * gantry_builder_capture:
 * @function_id: a function begun and not dropped, ended or not
 *
 * Adds a parameter of @type behind those that the function has, though it may have nodes already. Returns: its node id
 */
guint32 gantry_builder_capture (GantryBuilder *builder, guint32 function_id, guint32 type);
/** Brings the captures of a function into the order of @ids, which are all of them: functions that get the same operands. */
void gantry_builder_order_captures (GantryBuilder *builder, guint32 function_id, const guint32 *ids, guint n);
/** Goes on writing a function that was ended; it has to be ended again, with the results that then count. */
void gantry_builder_reopen (GantryBuilder *builder, guint32 function_id);
/** Leaves an ended function, and every function begun after it, out of the module. Nothing that stays may name their nodes. */
void gantry_builder_drop (GantryBuilder *builder, guint32 function_id);

/** What nodes added from now on carry. Each may be 0. @origins is copied. */
void gantry_builder_set_place (GantryBuilder *builder, guint32 scope, guint32 location);
/** The phase of the nodes added from now on; it is forward at first. */
void gantry_builder_set_phase (GantryBuilder *builder, GantryPhase phase);
/** Scope, location and phase of a node. */
void gantry_builder_set_place_of (GantryBuilder *builder, const GantryNode *node);
void gantry_builder_set_name (GantryBuilder *builder, guint32 name); /* next node only */
/** Ids of nodes of the snapshot before, which nodes added from now on are made of; copied, none where @n is 0. */
void gantry_builder_set_origins (GantryBuilder *builder, const guint32 *origins, guint n);

/**
 * GantryFoldFunc:
 * @type: of the result
 * @elements: the limit that was given with it
 *
 * Returns: a constant that equals the node about to be added, 0 where it is not to be folded
 */
typedef guint32 (*GantryFoldFunc) (GantryBuilder *builder, guint op, const guint32 *operands, guint n_operands, guint32 attrs, guint32 type, gint64 elements);
/** @fold is asked about each node with operands that is added from now on; core/eval has one. @fold: (nullable): none, the start value */
void gantry_builder_set_fold (GantryBuilder *builder, GantryFoldFunc fold, gint64 elements);

/**
 * gantry_builder_add:
 * @attrs: an attrs id
 *
 * Adds a core operation; its type is inferred. Returns: the node id, 0 on error.
 */
guint32 gantry_builder_add (GantryBuilder *builder, guint op, const guint32 *operands, guint n_operands, guint32 attrs);
/** Adds a node with a given type: foreign operations and the text form. */
guint32 gantry_builder_add_typed (GantryBuilder *builder, guint op, const guint32 *operands, guint n_operands, guint32 attrs, guint32 type);
/** Adds a node with everything given, id included (0: new): rewriter, text form, session file. */
guint32 gantry_builder_add_node (GantryBuilder *builder, const GantryNode *like, const guint32 *operands, const guint32 *origins);

/* Looking at what was added. */
guint32 gantry_builder_type (GantryBuilder *builder, guint32 id);               /* type id */
const GantryType *gantry_builder_get_type (GantryBuilder *builder, guint32 id); /* never NULL */
/** Returns: (nullable) (transfer none): the literal, when the node is a constant (or broadcast of a scalar constant: splat) */
GantryLiteral *gantry_builder_constant_of (GantryBuilder *builder, guint32 id);
const GantryNode *gantry_builder_node (GantryBuilder *builder, guint32 id); /* (nullable), valid until the next add */
/** Gives node @id the string id @name, unless it has a name already. */
void gantry_builder_name_node (GantryBuilder *builder, guint32 id, guint32 name);
/** Gives a parameter other attributes: what is known of it (`alias`, `role`) once its function has been written. */
void gantry_builder_set_parameter_attrs (GantryBuilder *builder, guint32 id, guint32 attrs);
/** Returns: the node id of operand @i of node @id, 0 where there is no such node or operand */
guint32 gantry_builder_operand_of (GantryBuilder *builder, guint32 id, guint i);
/** Returns: the phase of @node, whose operands have theirs */
typedef GantryPhase (*GantryPhaseOf) (GantryBuilder *builder, const GantryNode *node, gpointer user_data);
/** Gives all nodes but parameters the phases that @phase_of says, each function in program order. */
void gantry_builder_choose_phases (GantryBuilder *builder, GantryPhaseOf phase_of, gpointer user_data);

/* The sugar of lowering rules. All return 0 after an error, and without one where an operand is 0 (a scan refuses it). */
guint32 gantry_builder_literal (GantryBuilder *builder, GantryLiteral *literal); /* (transfer none) */
/** A constant without dimensions: @value rounded as gantry_element_write_double() does. An @element that is not compiled is an error. */
guint32 gantry_builder_scalar (GantryBuilder *builder, GantryElementType element, double value);
/** As gantry_builder_scalar(), of an integer that a double might not hold. */
guint32 gantry_builder_int_scalar (GantryBuilder *builder, GantryElementType element, gint64 value);
guint32 gantry_builder_ints (GantryBuilder *builder, const gint64 *values, gsize n); /* i64[n] */
/** The result has the type that the table of operations says, for most of them that of @x. */
guint32 gantry_builder_unary (GantryBuilder *builder, guint op, guint32 x);
guint32 gantry_builder_binary (GantryBuilder *builder, guint op, guint32 x, guint32 y); /* equal shapes */
/** Like binary, after numpy broadcasting of both operands. */
guint32 gantry_builder_binary_broadcast (GantryBuilder *builder, guint op, guint32 x, guint32 y);
guint32 gantry_builder_compare (GantryBuilder *builder, const char *direction, guint32 x, guint32 y); /* "EQ NE LT LE GT GE", broadcasting */
guint32 gantry_builder_select (GantryBuilder *builder, guint32 predicate, guint32 x, guint32 y);      /* broadcasting */
guint32 gantry_builder_convert (GantryBuilder *builder, guint32 x, GantryElementType element);        /* no node when it is that already */

/**
 * gantry_builder_broadcast:
 * @rank: of the result, whose dimensions are @dims
 * @broadcast_dims: (nullable): for each dimension of @x another one of the result, which it becomes; %NULL of a scalar
 *
 * `broadcast_in_dim`. Returns: node id
 */
guint32 gantry_builder_broadcast (GantryBuilder *builder, guint32 x, guint rank, const GantryDim *dims, const gint64 *broadcast_dims);
guint32 gantry_builder_broadcast_to (GantryBuilder *builder, guint32 x, guint rank, const GantryDim *dims); /* numpy rule, right aligned */
/** A tensor of @rank dimensions with @value everywhere: gantry_builder_scalar(), broadcast where @rank is not 0. */
guint32 gantry_builder_splat (GantryBuilder *builder, GantryElementType element, double value, guint rank, const GantryDim *dims);
/** The elements of @x in row-major order under other dimensions, as many in all. Returns: @x itself where @dims are its own */
guint32 gantry_builder_reshape (GantryBuilder *builder, guint32 x, guint rank, const GantryDim *dims);
/** @permutation: dimension d of the result is dimension @permutation[d] of @x. Returns: @x itself where nothing moves */
guint32 gantry_builder_transpose (GantryBuilder *builder, guint32 x, const gint64 *permutation);

/**
 * gantry_builder_slice:
 * @start: first index, one for each dimension of @x
 * @limit: behind the last index, likewise
 * @stride: (nullable): elements from one to the next that is taken, at least 1; %NULL for 1 everywhere
 */
guint32 gantry_builder_slice (GantryBuilder *builder, guint32 x, const gint64 *start, const gint64 *limit, const gint64 *stride);

/**
 * gantry_builder_concatenate:
 * @n: at least 1; of one operand the result is the operand itself
 * @axis: from 0; all other dimensions are equal
 */
guint32 gantry_builder_concatenate (GantryBuilder *builder, const guint32 *xs, guint n, gint64 axis);

/**
 * gantry_builder_pad:
 * @value: a scalar of the element type of @x, which fills
 * @low: elements before the first, one for each dimension; negative ones take away
 * @high: elements behind the last, likewise
 * @interior: (nullable): elements between two neighbours, 0 or more; %NULL for none
 */
guint32 gantry_builder_pad (GantryBuilder *builder, guint32 x, guint32 value, const gint64 *low, const gint64 *high, const gint64 *interior);
/** @kind: "add" "mul" "max" "min" "and" "or"; axes are removed from the result. */
guint32 gantry_builder_reduce (GantryBuilder *builder, const char *kind, guint32 x, const gint64 *axes, gsize n_axes);
/** A tensor whose elements are their own index along @axis (from 0), converted to @element. */
guint32 gantry_builder_iota (GantryBuilder *builder, GantryElementType element, guint rank, const GantryDim *dims, gint64 axis);
/**
 * gantry_builder_scan:
 * @scan: body ended already; n_captures of what operands holds after carries and xs
 * @operands: carries, xs, captures
 */
guint32 gantry_builder_scan (GantryBuilder *builder, const GantryScan *scan, const guint32 *operands);
/** Member @index of a tuple value. */
guint32 gantry_builder_result (GantryBuilder *builder, guint32 tuple, guint index);

/** Records an error by hand (the first one wins). */
void gantry_builder_fail (GantryBuilder *builder, GantryError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** Returns: FALSE and the sticky error, if any; the builder can go on afterwards (the error is taken). */
gboolean gantry_builder_check (GantryBuilder *builder, GError **error);
/** Returns: (transfer full) (nullable): the frozen module; the builder is empty afterwards. */
GantryModule *gantry_builder_finish (GantryBuilder *builder, GError **error);

G_END_DECLS
