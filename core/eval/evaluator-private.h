/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the evaluator share. A value of up to GANTRY_LANES output elements is an array of
 * GantryLane: floats of every width as double, integers and bool as 64 bits, sign or zero extended
 * from their type. */
#pragma once
#include "core/base/progress.h"
#include "core/expr/texpr.h"
#include "core/graph/context.h"
#include "core/graph/module.h"
#include "core/graph/operation.h"

G_BEGIN_DECLS

#define GANTRY_LANES 256
#define GANTRY_MAX_VARIABLES (2 * GANTRY_MAX_RANK)

typedef union
{
  double f;
  gint64 i;
  guint64 u;
} GantryLane;

/* evaluator-lanes.c: arithmetic on arrays of lanes */

/** Canonical form of integers of @type after arithmetic modulo 2^64. */
void _gantry_lanes_wrap (GantryElementType type, GantryLane *r, guint n);
/** Floats to the nearest value of @type. */
void _gantry_lanes_round (GantryElementType type, GantryLane *r, guint n);
/** @type is the type of the operand. Returns: FALSE when @op is not elementwise unary for that type. */
gboolean _gantry_lanes_unary (GantryOp op, GantryElementType type, GantryLane *r, const GantryLane *x, guint n);
gboolean _gantry_lanes_binary (GantryOp op, GantryElementType type, GantryLane *r, const GantryLane *x, const GantryLane *y, guint n);
void _gantry_lanes_compare (GantryDirection direction, GantryElementType type, GantryLane *r, const GantryLane *x, const GantryLane *y, guint n);
void _gantry_lanes_cast (GantryElementType to, GantryElementType from, GantryLane *r, const GantryLane *x, guint n);
void _gantry_lanes_bitcast (GantryElementType to, GantryElementType from, GantryLane *r, const GantryLane *x, guint n);
/** The identity of the reduction @op. Returns: FALSE when it is not a reduction. */
gboolean _gantry_lane_identity (GantryOp op, GantryElementType type, GantryLane *r);
void _gantry_lanes_write (GantryElementType type, guint8 *destination, const GantryLane *x, guint n);
GantryLane _gantry_lane_read (GantryElementType type, const guint8 *p);
/** r[l] = element of @data at offsets[l] + delta. */
void _gantry_lanes_gather (GantryElementType type, GantryLane *r, const guint8 *data, const gint64 *offsets, gint64 delta, guint n);
/** r[l] = element of @data at first + l. */
void _gantry_lanes_copy (GantryElementType type, GantryLane *r, const guint8 *data, gint64 first, guint n);

static inline gboolean
_gantry_lanes_are_float (GantryElementType type)
{
  return type == GANTRY_F32 || type == GANTRY_F16 || type == GANTRY_BF16 || type == GANTRY_F64;
}

/* evaluator-load.c: LOAD nodes */

/** An index or an offset as base + sum of coefficients times index variables. */
typedef struct
{
  gint64 base;
  gint64 coefficients[GANTRY_MAX_VARIABLES];
  guint32 mask; /* variables whose coefficient is not 0 */
} GantryAffine;

/** One dimension whose bounds the expression's own ranges do not prove. */
typedef struct
{
  GantryAffine index;
  gint64 extent;
  gint64 lanes[GANTRY_LANES]; /* the part that the output coordinates give */
  gint64 low, high;           /* of lanes */
} GantryGuard;

typedef enum
{
  GANTRY_LANES_SAME, /* every lane reads one element */
  GANTRY_LANES_STEP, /* consecutive elements */
  GANTRY_LANES_ANYHOW,
} GantryLanePattern;

typedef struct
{
  gboolean affine; /* else the index nodes are evaluated */
  gboolean splat;
  guint8 type;
  guint rank;
  const guint8 *data;
  gint64 dims[GANTRY_MAX_RANK];
  gint64 strides[GANTRY_MAX_RANK]; /* elements; 0 for a splat */
  GantryAffine offset;
  guint n_guards;
  GantryGuard *guards;
  GantryLanePattern pattern;
  gint64 lanes[GANTRY_LANES];
} GantryLoad;

/* evaluator-schedule.c: the expression and the order of its nodes */

/** What runs each time that an axis of a reduction advances; one list for each of its axes, outermost first. */
typedef struct
{
  guint n_axes;
  guint axes[GANTRY_MAX_RANK];    /* variables */
  GArray *lists[GANTRY_MAX_RANK]; /* of guint32 */
} GantryLoop;

typedef struct
{
  const GantryTexpr *texpr;
  GantryLiteral *const *inputs;
  gint64 n_elements;
  guint32 *depends;                       /* per node: variables that its value depends on */
  guint8 *needed;                         /* per node */
  guint8 *exact;                          /* per node: argument of a sum, not rounded on its own */
  GantryAffine **affines;                 /* per node, of index arithmetic */
  GantryLoad **loads;                     /* per LOAD node */
  GantryLoop **loops;                     /* per REDUCE node */
  GArray *top;                            /* nodes outside of all loops */
  GantryLane *values;                     /* GANTRY_LANES per node */
  guint8 *poison;                         /* GANTRY_LANES per node: the lane read out of range */
  guint8 *poisoned;                       /* per node: any lane */
  gint64 *coordinates;                    /* GANTRY_LANES per output dimension */
  gint64 variables[GANTRY_MAX_VARIABLES]; /* of the axes: where the loops are */
  guint32 used_coordinates;
  guint n_lanes;
} GantryEvaluation;

/** The index variables of the result. */
static inline guint32
_gantry_evaluation_output_mask (const GantryEvaluation *e)
{
  return (1u << e->texpr->rank) - 1;
}
static inline GantryLane *
_gantry_evaluation_lanes (const GantryEvaluation *e, guint32 node)
{
  return e->values + (gsize) node * GANTRY_LANES;
}

/** Affine forms of all index nodes; NULL where a node is not affine. */
void _gantry_evaluation_find_affines (GantryEvaluation *e);
/** How the LOAD @node reads its input: strides, and an affine index where it is one. (transfer full) */
GantryLoad *_gantry_load_new (GantryEvaluation *e, guint32 node);
void _gantry_load_free (GantryLoad *load);
/** To be called for each block, after the coordinates are known. */
void _gantry_load_begin_block (GantryEvaluation *e, GantryLoad *load);
void _gantry_load_evaluate (GantryEvaluation *e, guint32 node, guint n);

/** Nodes that @tx reads. Returns: how many */
guint _gantry_tx_arguments (const GantryTexpr *texpr, const GantryTx *tx, const guint32 **list);
/** To be cleared also after an error. @texpr and @inputs have to outlive it. */
gboolean _gantry_evaluation_init (GantryEvaluation *e, const GantryTexpr *texpr, GantryLiteral *const *inputs, GError **error);
void _gantry_evaluation_clear (GantryEvaluation *e);

/* evaluator-texpr.c */

/** Returns: (transfer full) (nullable): the value of @texpr, of type @type */
GantryLiteral *
_gantry_texpr_evaluate (const GantryTexpr *texpr, GantryLiteral *const *inputs, const GantryType *type, const GantryProgress *progress, GError **error);

/* evaluator-extern.c: sort, scatter, random bits */

gboolean _gantry_evaluate_sort (const GantryModule *module, const GantryNode *node, GantryLiteral *const *operands, GantryLiteral **results, GError **error);
gboolean _gantry_evaluate_scatter (const GantryModule *module, const GantryNode *node, GantryLiteral *const *operands, GantryLiteral **results, GError **error);
gboolean _gantry_evaluate_random (const GantryModule *module, const GantryNode *node, GantryLiteral *const *operands, GantryLiteral **results, GError **error);

/* evaluator.c and evaluator-control.c: whole functions */

/** An array of literals: one for a tensor, one per member for a tuple. */
typedef GPtrArray GantryValue;

typedef struct
{
  const GantryModule *module;
  const GantryProgress *progress;
  guint depth;
} GantryMachine;

GantryValue *_gantry_value_new (void);
/** An array of values; NULL is one that is not known. */
GPtrArray *_gantry_values_new (void);
static inline GantryValue *
_gantry_values_get (GPtrArray *values, guint i)
{
  return g_ptr_array_index (values, i);
}
/** Returns: (transfer full) (nullable): one value per result of @function */
GPtrArray *_gantry_evaluate_function (const GantryMachine *machine, const GantryFunction *function, GPtrArray *arguments, GError **error);
/** A node that names functions. */
GantryValue *_gantry_evaluate_control (const GantryMachine *machine, const GantryNode *node, GPtrArray *operands, GError **error);

G_END_DECLS
