/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of reverse mode share: which values carry a derivative (activity), one function
 * being differentiated (GantryDiff), and the table of rules, one per operation. */
#pragma once
#include "core/autodiff/autodiff.h"
#include "core/graph/builder.h"

G_BEGIN_DECLS

/** So many are named in one error. */
#define GANTRY_MOST_REFUSALS 20u

/** One call of gantry_differentiate(). */
typedef struct
{
  GantryModule *source; /* the snapshot before: what origins name */
  /* What is differentiated: calls inlined, bounded loops as scans; often @source itself. */
  GantryModule *module;
  const GantryProgress *progress;
  gboolean integers;   /* GantryGradientOptions */
  GString *refusals;   /* "<op>: <why> (<where>)", one a line */
  GHashTable *refused; /* ids of nodes that stand in @refusals */
  GHashTable *needed;  /* ids of functions of @module that the result calls */
  GArray *to_copy;     /* guint32: those of them not yet written */
  guint64 work;        /* nodes looked at by the activity analysis */
  guint depth;         /* of bodies within bodies */
  GantryUses *uses;    /* of @module */
  GHashTable *shifts;  /* ids of nodes x - m of @module of which only x gets a cotangent */
  GError *error;       /* (nullable): the first one from within a body */
} GantryDiffJob;

/* Activity (gradient-activity.c). A slot is a tensor: a node has one, or one for each member of
 * its tuple. */
typedef struct
{
  const GantryModule *module;
  const GantryFunction *function;
  guint32 *first; /* by position in the function: its first slot; n_nodes + 1 */
  guint8 *varied; /* by slot: depends on what is differentiated by */
  guint8 *useful; /* by slot: varied, and what is differentiated depends on it */
} GantryActivity;

/**
 * _gantry_activity_new:
 * @varied: by slot of the function's parameters
 * @useful: (nullable): by slot of its results, in order
 */
GantryActivity *_gantry_activity_new (GantryDiffJob *job, const GantryFunction *function, const guint8 *varied, const guint8 *useful);
void _gantry_activity_free (GantryActivity *activity);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryActivity, _gantry_activity_free)
guint _gantry_slot_count (const GantryModule *module, const GantryNode *node);
/** Slots of all results of a function. */
guint _gantry_result_slots (const GantryModule *module, const GantryFunction *function);
/** TRUE when a cotangent of that type exists: a tensor of floating point, or of integers where those are differentiated. */
gboolean _gantry_type_has_cotangent (const GantryDiffJob *job, const GantryType *type);
const GantryFunction *_gantry_body_of (const GantryModule *module, const GantryNode *node, const char *key);
/** What the carries of a scan are once its iterations have been gone through: @varied by slot of the
 *  body's parameters, @useful by slot of its results; both are grown in place. */
void _gantry_scan_settle (GantryDiffJob *job, const GantryFunction *body, guint n_carries, guint8 *varied, guint8 *useful);

/** One function being written: its forward nodes, then the backward nodes. */
typedef struct
{
  GantryDiffJob *job;
  GantryBuilder *builder;
  GantryContext *context;
  const GantryModule *module; /* job->module */
  const GantryFunction *function;
  GantryActivity *activity;
  guint32 *map;        /* by position in the function: its value in @builder */
  guint32 *cotangents; /* by slot; 0 is zero */
  GHashTable *pieces;  /* (nullable): slot -> gradients of slices of it that are not put together yet */
  GHashTable *plans;   /* node id of a scan -> GantryScanPlan */
  gboolean keep_ids;   /* forward nodes keep their ids */
  gboolean again;      /* forward nodes are computed again in the backward phase */
} GantryDiff;

GantryDiff *_gantry_diff_new (GantryDiffJob *job, GantryBuilder *builder, const GantryFunction *function, GantryActivity *activity);
void _gantry_diff_free (GantryDiff *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryDiff, _gantry_diff_free)
/** Writes the parameters of the function into the open function of the builder. */
void _gantry_diff_parameters (GantryDiff *d);
/** The other forward nodes. */
gboolean _gantry_diff_forward (GantryDiff *d, GError **error);
/** Adds to the cotangent of a result slot; once all are given come the backward nodes. */
void _gantry_diff_seed (GantryDiff *d, guint result_slot, guint32 cotangent);
gboolean _gantry_diff_backward (GantryDiff *d, GError **error);
/** New nodes are of the backward phase and derive from @node. */
void _gantry_diff_stand_at (GantryDiff *d, const GantryNode *node);
/** Copies a node of the module with mapped operands; id and phase as @d says. Returns: its id */
guint32 _gantry_diff_copy_node (GantryDiff *d, const GantryNode *node);
void _gantry_diff_refuse (GantryDiff *d, const GantryNode *node, const char *why);
/** Origins of what is made from @node, a node of job->module. */
const guint32 *_gantry_job_origins (const GantryDiffJob *job, const GantryNode *node, guint *n);
/** Functions that @attrs name are called by the result. */
void _gantry_job_need (GantryDiffJob *job, guint32 attrs);
/** The type of slot @slot of @node. */
guint32 _gantry_slot_type (const GantryModule *module, const GantryNode *node, guint slot);

/* What rules are written with. Values are ids in d->builder; those of forward values need no care
 * for what they cost: one that a rule reads becomes a residual. */

/** Operand @i, a tensor. */
guint32 _gantry_diff_operand (const GantryDiff *d, const GantryNode *node, guint i);
guint32 _gantry_diff_result (const GantryDiff *d, const GantryNode *node);
gboolean _gantry_diff_wants (const GantryDiff *d, const GantryNode *node, guint i);
/** Adds @cotangent (0: nothing) to that of operand @i. */
void _gantry_diff_give (GantryDiff *d, const GantryNode *node, guint i, guint32 cotangent);
/** Adds to the cotangent of a slot. */
void _gantry_diff_accumulate (GantryDiff *d, guint32 slot, guint32 cotangent);
/** Notes the cotangent of the slice @node, to be put together with the others of what it was cut from, @slot. Returns: FALSE
 *  where that is not contiguous: it is given padded then */
gboolean _gantry_diff_give_piece (GantryDiff *d, const GantryNode *node, guint32 slot, guint32 cotangent, const gint64 *start, const gint64 *stride);
/** Adds what was noted of @slot, a value of @owner, to its cotangent. */
void _gantry_diff_join_pieces (GantryDiff *d, const GantryNode *owner, guint32 slot);
/** The slot of operand @i. */
guint32 _gantry_diff_operand_slot (const GantryDiff *d, const GantryNode *node, guint i);
/** Cotangent of member @slot of @node; 0 is zero. */
guint32 _gantry_diff_cotangent (const GantryDiff *d, const GantryNode *node, guint slot);
static inline const GantryType *
_gantry_diff_operand_type (const GantryDiff *d, const GantryNode *node, guint i)
{
  return gantry_node_operand_type (d->module, node, i);
}
/** A tensor of the element and the dimensions of @type, all @value. */
guint32 _gantry_diff_splat (GantryDiff *d, const GantryType *type, double value);
/** @value of the type of the value @like. */
guint32 _gantry_diff_splat_like (GantryDiff *d, guint32 like, double value);
static inline guint32
_gantry_diff_multiply (GantryDiff *d, guint32 x, guint32 y)
{
  return gantry_builder_binary (d->builder, GANTRY_OP_MULTIPLY, x, y);
}
/** @x times a number. */
guint32 _gantry_diff_scale (GantryDiff *d, guint32 x, double by);
/** @x plus a number. */
guint32 _gantry_diff_shift (GantryDiff *d, guint32 x, double by);
/** @x where @predicate holds, else 0. */
guint32 _gantry_diff_where (GantryDiff *d, guint32 predicate, guint32 x);
/** As gantry_builder_reshape(), to the dimensions of @type. */
guint32 _gantry_diff_reshape (GantryDiff *d, guint32 x, const GantryType *type);

/** @g: cotangent of the node's only slot; 0 where the rule reads the members' cotangents itself. */
typedef void (*GantryGradientRule) (GantryDiff *d, const GantryNode *node, guint32 g);

/** One of the three is set. */
typedef struct
{
  GantryGradientRule rule; /* (nullable) */
  const char *why;         /* (nullable): why there is no derivative */
  gboolean is_zero;        /* the derivative is zero, or the result has none: integers, comparisons, roundings */
} GantryGradient;

const GantryGradient *_gantry_gradient_of (guint op);

#define GANTRY_RULE(name) void _gantry_gradient_##name (GantryDiff *d, const GantryNode *node, guint32 g)
GANTRY_RULE (unary);
GANTRY_RULE (abs);
GANTRY_RULE (convert);
GANTRY_RULE (copy);
GANTRY_RULE (pass);
GANTRY_RULE (add);
GANTRY_RULE (subtract);
GANTRY_RULE (multiply);
GANTRY_RULE (divide);
GANTRY_RULE (remainder);
GANTRY_RULE (power);
GANTRY_RULE (extremum);
GANTRY_RULE (atan2);
GANTRY_RULE (select);
GANTRY_RULE (clamp);
GANTRY_RULE (broadcast);
GANTRY_RULE (reshape);
GANTRY_RULE (transpose);
GANTRY_RULE (reverse);
GANTRY_RULE (slice);
GANTRY_RULE (pad);
GANTRY_RULE (concatenate);
GANTRY_RULE (gather);
GANTRY_RULE (dynamic_slice);
GANTRY_RULE (dynamic_update_slice);
GANTRY_RULE (scatter);
GANTRY_RULE (reduce);
GANTRY_RULE (reduce_window);
GANTRY_RULE (dot_general);
GANTRY_RULE (convolution);
GANTRY_RULE (sort);
GANTRY_RULE (tuple);
GANTRY_RULE (result);
GANTRY_RULE (if);
GANTRY_RULE (scan);
#undef GANTRY_RULE

/** @x, a value of the shape that the reduction @node gives, along the dimensions that it reduces. */
guint32 _gantry_diff_spread (GantryDiff *d, const GantryNode *node, guint32 x);
/** @x, of the shape that the reduction @node takes, reduced along the same dimensions. */
guint32 _gantry_diff_reduce (GantryDiff *d, const GantryNode *node, const char *kind, guint32 x);
/** Softmax or its logarithm, written out, that ends at @node, or what it subtracts from rows at its beginning: gives the cotangent
 *  @g on past all of it. Returns: FALSE where @node is neither */
gboolean _gantry_gradient_softmax (GantryDiff *d, const GantryNode *node, guint32 g);

/** Undoes a padding: what pad's operand gets of the cotangent of its result. */
guint32 _gantry_diff_unpad (GantryDiff *d, guint32 g, const gint64 *low, const gint64 *high, const gint64 *interior, const GantryType *type);

/** Calls and fusions inlined, loops of at most `most_trips` trips as scans. Returns: (transfer full):
 *  the module itself where there are none */
GantryModule *_gantry_prepare (GantryModule *module, gboolean integers, const GantryProgress *progress, GError **error);

/* A function written aside, to be taken apart (gradient-joint.c). */

typedef struct
{
  GantryModule *module; /* functions[0]: parameters, seeds -> results, cotangents of parameters */
  guint32 last_forward; /* greatest id of a forward node */
  guint n_params;       /* of the function that was differentiated */
  guint n_seeds;
  guint32 *seeds;      /* by result slot: id of the parameter, 0: none */
  guint32 *results;    /* by result slot: id */
  guint32 *cotangents; /* by parameter: id, 0: zero */
} GantryJoint;

/** @varied, @useful: as for the activity. Forward nodes get new ids. */
GantryJoint *_gantry_joint_new (GantryDiffJob *job, const GantryFunction *function, const guint8 *varied, const guint8 *useful, gboolean again, GError **error);
void _gantry_joint_free (GantryJoint *joint);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryJoint, _gantry_joint_free)
/** Copies all functions but the first into @builder, ids kept. */
void _gantry_joint_copy_functions (const GantryJoint *joint, GantryBuilder *builder);
/** Copies a node of the joint function; @map: by position; @id: 0 for a new one. */
guint32 _gantry_joint_copy_node (const GantryJoint *joint, GantryBuilder *builder, const GantryNode *node, guint32 *map, guint32 id);

/* Scans (gradient-scan.c, gradient-scan-plan.c) */

typedef struct
{
  guint32 node; /* forward node of the joint function */
  guint member; /* of the forward scan's result: the stack */
  gint64 axis;  /* of the stack */
} GantryResidual;

/** What becomes of one scan. */
typedef struct
{
  GantryScan scan; /* of the source */
  GantryJoint *joint;
  guint n_params; /* of the body */
  /* By parameter of the body: has a cotangent; of a carry: goes round the backward scan. */
  guint8 *active;
  guint8 *read; /* by parameter: the backward body reads an x or a capture again */
  /* By position in the joint function: a forward node that the backward body computes again. */
  guint8 *again;
  guint8 *live;      /* by position: a backward node that is needed */
  GArray *residuals; /* GantryResidual */
  guint n_saved;     /* residuals for which a y had to be added */
  guint32 forward;   /* the scan in the builder, with those ys */
} GantryScanPlan;

/** Differentiates the body and finds what its backward part reads. */
GantryScanPlan *_gantry_scan_plan_new (GantryDiff *d, const GantryNode *node, GError **error);
gboolean _gantry_scan_is_forward (const GantryScanPlan *plan, const GantryNode *node);
/**
 * _gantry_scan_choose_saved: (gradient-scan-cut.c)
 * @plan: with @live set of what the backward body reads
 *
 * Returns: (transfer full) (array): by position, 1: this forward value is saved; what else is read can be computed again of those
 */
guint8 *_gantry_scan_choose_saved (const GantryScanPlan *plan);
/** Writes the scan so that it also gives what its backward scan needs. Returns: what takes its place */
guint32 _gantry_scan_forward (GantryDiff *d, const GantryNode *node, GError **error);
void _gantry_scan_plan_free (GantryScanPlan *plan);

/** A list of integers of a node, as long as @n; what is not given is @fallback. */
static inline void
_gantry_diff_read_list (const GantryDiff *d, const GantryNode *node, const char *key, guint n, gint64 fallback, gint64 *values)
{
  gsize have;
  const gint64 *list = gantry_attrs_ints (d->context, node->attrs, key, &have);

  for (guint i = 0; i < n; i++)
    values[i] = i < have ? list[i] : fallback;
}

G_END_DECLS
