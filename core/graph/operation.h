/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of core operations: for each its name, class, operands, attributes, type rule, cost,
 * algebraic properties and meaning as a tensor expression; the scalar ones stand in core/graph/scalar-ops.h. Names and semantics follow the StableHLO
 * specification; what differs is said at the operation in docs/operations.md.
 *
 * Attributes use the names of StableHLO: broadcast_dimensions, dimensions, permutation,
 * start_indices, limit_indices, strides, edge_padding_low/high, interior_padding, iota_dimension,
 * comparison_direction, lhs_batching_dimensions, rhs_contracting_dimensions, window_strides, padding
 * (a flat list low, high per dimension), lhs_dilation, rhs_dilation, feature_group_count, ... */
#pragma once
#include "core/graph/module.h"
#include "core/graph/scalar-ops.h"

G_BEGIN_DECLS

/** What colour and what kind of work: used by views, cost model and passes. */
typedef enum
{
  GANTRY_CLASS_INPUT, /* parameter */
  GANTRY_CLASS_CONSTANT,
  GANTRY_CLASS_ELEMENTWISE,
  GANTRY_CLASS_MOVEMENT,    /* reshape, transpose, slice, concatenate, gather */
  GANTRY_CLASS_REDUCTION,   /* reduce, reduce_window, pooling, normalisation */
  GANTRY_CLASS_CONTRACTION, /* dot_general, convolution */
  GANTRY_CLASS_FUSION,
  GANTRY_CLASS_CONTROL, /* if, while, call, result, tuple */
  GANTRY_CLASS_MEMORY,  /* moves between memory kinds */
  GANTRY_CLASS_OTHER,   /* sort, random bits, unknown */
  GANTRY_N_CLASSES
} GantryOpClass;

typedef enum
{
  GANTRY_OP_COMMUTATIVE = 1 << 0,
  GANTRY_OP_ASSOCIATIVE = 1 << 1,    /* in exact arithmetic */
  GANTRY_OP_ELEMENTWISE = 1 << 2,    /* result element i depends on operand elements i only, shapes equal */
  GANTRY_OP_RANDOM = 1 << 3,         /* a function of its state, an operand: neither merged nor folded; made again, its bits are the same */
  GANTRY_OP_EFFECT = 1 << 4,         /* has an effect: never removed */
  GANTRY_OP_VIEW = 1 << 5,           /* row-major bytes of the operand unchanged (reshape): may share its buffer */
  GANTRY_OP_EXTERN = 1 << 6,         /* no tensor expression: one hand-written kernel per device (sort, random, control) */
  GANTRY_OP_STRUCTURE = 1 << 7,      /* no work of its own: parameter, constant, tuple, result */
  GANTRY_OP_TRANSCENDENTAL = 1 << 8, /* done by the unit for special functions, or by many operations: exponentials, roots, sines */
  /* Which elements an elementwise operation takes: each says one. */
  GANTRY_TAKES_ANY = 1 << 9,      /* its type rule says */
  GANTRY_TAKES_NUMBERS = 1 << 10, /* integers and floats */
  GANTRY_TAKES_FLOATS = 1 << 11,
  GANTRY_TAKES_INTEGERS = 1 << 12,
  GANTRY_TAKES_BITS = 1 << 13, /* integers and bool */
  GANTRY_TAKES_MASK = 31 << 9,
  GANTRY_GIVES_BOOL = 1 << 14, /* whatever it takes */
  GANTRY_OP_LONG = 1 << 15,    /* some twenty operations of a processor for each element */
} GantryOpFlags;

/* What a row of core/graph/scalar-ops.h says of its operation as one of the core's. */
#define GANTRY_COST_SIMPLE 0
#define GANTRY_COST_SPECIAL GANTRY_OP_TRANSCENDENTAL
#define GANTRY_COST_ELEMENTARY (GANTRY_OP_TRANSCENDENTAL | GANTRY_OP_LONG)
#define GANTRY_COST_ROUTINE GANTRY_OP_LONG
#define GANTRY_GIVES_SAME 0
#define GANTRY_UNARY_AS_OP(OP, NAME, name, short_name, elements, result, cost, ...) \
  OP (NAME, name, ELEMENTWISE, 1, 1, GANTRY_OP_ELEMENTWISE | GANTRY_TAKES_##elements | GANTRY_GIVES_##result | GANTRY_COST_##cost)
#define GANTRY_BINARY_AS_OP(OP, NAME, name, short_name, elements, flags, cost, ...) \
  OP (NAME, name, ELEMENTWISE, 2, 2, GANTRY_OP_ELEMENTWISE | GANTRY_TAKES_##elements | GANTRY_COST_##cost | (flags))

/* GANTRY_OP (NAME, "name", class, min operands, max operands (-1: any), flags) in the order of codes. */
/* clang-format off */
#define GANTRY_OPERATIONS(OP)                                                                          \
  OP (PARAMETER, "parameter", INPUT, 0, 0, GANTRY_OP_STRUCTURE)                                         \
  OP (CONSTANT, "constant", CONSTANT, 0, 0, GANTRY_OP_STRUCTURE) /* value: literal */                   \
  OP (TUPLE, "tuple", CONTROL, 0, -1, GANTRY_OP_STRUCTURE)                                              \
  OP (RESULT, "result", CONTROL, 1, 1, GANTRY_OP_STRUCTURE) /* index: member of the operand's tuple */  \
  OP (FUSION, "fusion", FUSION, 0, -1, 0) /* body: function of the operands, kind: why they were fused */ \
  OP (CALL, "call", CONTROL, 0, -1, GANTRY_OP_EXTERN) /* body */                                        \
  OP (IF, "if", CONTROL, 1, -1, GANTRY_OP_EXTERN) /* predicate, captures...; then, else: functions of the captures */ \
  OP (WHILE, "while", CONTROL, 1, -1, GANTRY_OP_EXTERN) /* initial values..., captures...; cond, body: functions of them all; n_carries (optional): how \
     many are no captures, which the body does not return; most_trips (optional): a bound that lets it be differentiated; trip_count (optional): how \
     often it is expected to run; exact_trips (optional): how often it has to run, for what it collects has so many rows */ \
  OP (SCAN, "scan", CONTROL, 0, -1, GANTRY_OP_EXTERN) /* carries..., xs..., captures...; body: function of (carries..., one slice of each x..., \
     captures...) -> (carries..., ys...); length, n_carries, n_xs; axes: of each x; y_axes: of each y; reverse. Result: the last carries, then the ys \
     stacked */ \
  OP (OPTIMIZATION_BARRIER, "optimization_barrier", CONTROL, 1, 1, GANTRY_OP_VIEW | GANTRY_OP_ELEMENTWISE) \
  OP (CHECKPOINT_NAME, "checkpoint_name", MEMORY, 1, 1, GANTRY_OP_VIEW | GANTRY_OP_ELEMENTWISE) /* name */ \
  OP (REMATERIALIZE, "rematerialize", MEMORY, 2, 2, GANTRY_OP_STRUCTURE) /* a parameter of a loop's body, and the same value made again: the plan says \
     which of them it is */ \
  OP (COPY, "copy", MEMORY, 1, 1, GANTRY_OP_ELEMENTWISE) /* memory (optional): kind of the result */                                               \
  GANTRY_UNARY_OPERATIONS (GANTRY_UNARY_AS_OP, OP) \
  OP (CONVERT, "convert", ELEMENTWISE, 1, 1, GANTRY_OP_ELEMENTWISE | GANTRY_TAKES_ANY) /* to: type of a scalar */ \
  OP (BITCAST_CONVERT, "bitcast_convert", ELEMENTWISE, 1, 1, GANTRY_OP_ELEMENTWISE | GANTRY_TAKES_ANY) /* to; same width only */ \
  GANTRY_BINARY_OPERATIONS (GANTRY_BINARY_AS_OP, OP) \
  OP (COMPARE, "compare", ELEMENTWISE, 2, 2, GANTRY_OP_ELEMENTWISE | GANTRY_TAKES_ANY) /* comparison_direction: "EQ" NE LT LE GT GE; -> bool */ \
  OP (SELECT, "select", ELEMENTWISE, 3, 3, GANTRY_OP_ELEMENTWISE | GANTRY_TAKES_ANY) /* bool predicate of the same shape */ \
  OP (CLAMP, "clamp", ELEMENTWISE, 3, 3, GANTRY_OP_ELEMENTWISE | GANTRY_TAKES_NUMBERS) /* min, x, max of one shape */ \
  /* movement */                                                                                        \
  OP (IOTA, "iota", MOVEMENT, 0, 0, 0) /* to: type; iota_dimension */                                   \
  OP (BROADCAST_IN_DIM, "broadcast_in_dim", MOVEMENT, 1, 1, 0) /* shape: ints, or a type where a dimension is a symbol; broadcast_dimensions */  \
  OP (RESHAPE, "reshape", MOVEMENT, 1, 1, GANTRY_OP_VIEW) /* shape, as above */                             \
  OP (TRANSPOSE, "transpose", MOVEMENT, 1, 1, 0) /* permutation */                                      \
  OP (REVERSE, "reverse", MOVEMENT, 1, 1, 0) /* dimensions */                                           \
  OP (SLICE, "slice", MOVEMENT, 1, 1, 0) /* start_indices, limit_indices, strides (>= 1) */             \
  OP (PAD, "pad", MOVEMENT, 2, 2, 0) /* x, scalar; edge_padding_low, edge_padding_high (may be < 0), interior_padding */ \
  OP (CONCATENATE, "concatenate", MOVEMENT, 1, -1, 0) /* dimension */                                   \
  OP (GATHER, "gather", MOVEMENT, 2, 2, 0) /* StableHLO gather, all attributes; index out of bounds is clamped; outside (optional): "drop": such a read \
     takes no gradient */ \
  OP (DYNAMIC_SLICE, "dynamic_slice", MOVEMENT, 1, -1, 0) /* x, one scalar start per dimension; slice_sizes */ \
  OP (DYNAMIC_UPDATE_SLICE, "dynamic_update_slice", MOVEMENT, 2, -1, 0) /* x, update, starts... */      \
  OP (SCATTER, "scatter", MOVEMENT, 3, 3, GANTRY_OP_EXTERN) /* StableHLO scatter, one input; kind: "set" add mul max min */ \
  /* reductions; kind: "add" "mul" "max" "min" "and" "or" */                                            \
  OP (REDUCE, "reduce", REDUCTION, 1, 1, 0) /* kind, dimensions: sorted, removed; starts from the identity of kind */ \
  OP (REDUCE_WINDOW, "reduce_window", REDUCTION, 1, 1, 0) /* kind, window_dimensions, window_strides, base_dilations, window_dilations, padding */ \
  /* contractions */                                                                                    \
  OP (DOT_GENERAL, "dot_general", CONTRACTION, 2, 2, 0) /* lhs_/rhs_batching_dimensions, lhs_/rhs_contracting_dimensions; to (optional): result element */ \
  OP (CONVOLUTION, "convolution", CONTRACTION, 2, 3, 0) /* NC[spatial] x OI[spatial] (+ bias[O], Gantry's own) -> NC[spatial]; window_strides, padding, \
     lhs_dilation, rhs_dilation, feature_group_count, to (optional); skip_padding (optional, 0 or 1); post (optional): "relu" */ \
  /* what no expression says */                                                                         \
  OP (SORT, "sort", OTHER, 1, -1, GANTRY_OP_EXTERN) /* first operand is the key, the rest follow it; dimension, descending, stable */ \
  OP (RNG_BIT_GENERATOR, "rng_bit_generator", OTHER, 1, 1, GANTRY_OP_EXTERN | GANTRY_OP_RANDOM) /* state u64[2] -> (state, bits); shape: ints; to \
     (optional): u32 or u64 */ \
  OP (CUSTOM_CALL, "custom_call", OTHER, 0, -1, GANTRY_OP_EXTERN | GANTRY_OP_EFFECT) /* target: named in the runtime's table; to: type of the result */
/* clang-format on */

typedef enum
{
  GANTRY_OP_NONE,
#define GANTRY_OP_ENUM(NAME, name, class_, min, max, flags) GANTRY_OP_##NAME,
  GANTRY_OPERATIONS (GANTRY_OP_ENUM)
#undef GANTRY_OP_ENUM
    GANTRY_N_OPS
} GantryOp;

/** What a type rule sees: operand types and attributes, nothing of a module. */
typedef struct
{
  GantryContext *context;
  guint32 op;
  guint32 n_operands;
  const guint32 *operand_types; /* type ids */
  guint32 attrs;
  const GantryModule *module;                                      /* (nullable): to look into functions that attributes name */
  guint32 (*function_result) (gpointer data, guint32 function_id); /* (nullable): result type of a body */
  gpointer data;
} GantryTypeQuery;

typedef struct
{
  const char *name;
  GantryOpClass op_class;
  gint8 min_operands, max_operands;
  guint16 flags;
} GantryOpInfo;

/**
 * GantryScan: the attributes of a scan
 * @body: function id
 * @axes: of each x the dimension that is walked along
 * @y_axes: of each y the dimension of the result that holds the iterations
 * @reverse: iterations run from length - 1 down to 0; iteration i reads slice i and writes slot i
 */
typedef struct
{
  guint32 body;
  gint64 length;
  gboolean reverse;
  guint n_carries, n_xs, n_captures, n_ys;
  const gint64 *axes;   /* n_xs of them; of the context */
  const gint64 *y_axes; /* n_ys */
} GantryScan;

/** Reads the attributes of a scan whose type rule has passed. */
void gantry_scan_of (const GantryModule *module, const GantryNode *node, GantryScan *scan);

const GantryOpInfo *gantry_op_info (guint op); /* core operations only, else NULL */
/** Whether what @op makes of constants alone is computed once, at load, by planner and kernels alike. A copy is not: it has no kernel. */
gboolean gantry_op_is_load_time (guint op);
GantryOp gantry_op_from_name (const char *name, gssize length);                       /* NONE when it is not one */
GantryOpClass gantry_node_class (const GantryModule *module, const GantryNode *node); /* foreign ones ask their dialect */

/** Infers the type of a core operation's value. Returns: a type id, 0 and @error when operands or attributes do not fit. */
guint32 gantry_op_infer (const GantryTypeQuery *query, GError **error);
/** @want, @have: type ids. TRUE when nothing is surely wrong with a value of type @have where @want is declared: a pass may have learned more of one
 * than is written at the other. */
gboolean gantry_type_fits (GantryContext *context, guint32 want, guint32 have);

/** What of a processor does an operation, for its rates: products and convolutions go by the element type of what is multiplied. */
typedef enum
{
  GANTRY_UNIT_VECTOR_F32, /* and all that has no other */
  GANTRY_UNIT_VECTOR_F64,
  GANTRY_UNIT_VECTOR_F16, /* f16, bf16 */
  GANTRY_UNIT_PRODUCT_F32,
  GANTRY_UNIT_PRODUCT_F64,
  GANTRY_UNIT_PRODUCT_F16, /* f16, bf16 */
  GANTRY_UNIT_PRODUCT_F8,
  GANTRY_UNIT_PRODUCT_I8,
  GANTRY_UNIT_SPECIAL, /* exponentials, logarithms, roots, sines: one for each element */
  GANTRY_N_UNITS,
} GantryUnit;

/** "product_f16": as in a target's text */
const char *gantry_unit_name (GantryUnit unit);
/**
 * gantry_node_seconds:
 * @flops: operations per second of what has no rate of its own
 * @rates: (nullable): operations per second of each unit; 0: as @flops
 *
 * Returns: how long the operations of @node take one after the other; 0 where they are not known, or nothing is known of the rates
 */
double gantry_node_seconds (const GantryModule *module, const GantryNode *node, double flops, const double *rates);
/** gantry_node_flops() by what does them: @flops has GANTRY_N_UNITS elements. Returns: FALSE where they are not known */
gboolean gantry_node_flops_by_unit (const GantryModule *module, const GantryNode *node, gint64 *flops);
/** Floating point (or integer) operations of one execution; a multiply-add counts 2; -1 when shapes are not known. */
gint64 gantry_node_flops (const GantryModule *module, const GantryNode *node);
/** Bytes read from operands plus bytes written, each once; -1 when shapes are not known. */
gint64 gantry_node_bytes (const GantryModule *module, const GantryNode *node);
/** Those of them that are written: of an update in place the part that is updated. */
gint64 gantry_node_written_bytes (const GantryModule *module, const GantryNode *node);
/** Whether only a part of the first operand is read or written: as much as the result has, or the updates. */
gboolean gantry_op_reads_part (guint op);
/** Whether @node is a convolution whose window is several times as large as what it gives: in a training step these are the gradients of weights,
 *  where images are what is summed over. FALSE where shapes are not known */
gboolean gantry_node_has_large_window (const GantryModule *module, const GantryNode *node);
G_END_DECLS
