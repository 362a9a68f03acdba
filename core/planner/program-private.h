/* SPDX-License-Identifier: Apache-2.0 */
/* The entry function as the planner sees it: values (what a buffer holds) and work (what becomes a
 * step). Views, tuples and their members are values that stand on another value. */
#pragma once
#include "core/base/error.h"
#include "core/expr/storage.h"
#include "core/graph/operation.h"
#include "core/planner/memory-plan.h"

#define NONE G_MAXUINT32

typedef enum
{
  VALUE_INPUT,
  VALUE_LITERAL,  /* used where the model file is mapped */
  VALUE_FILLED,   /* literal written into the constant region at load */
  VALUE_CONSTANT, /* computed at load */
  VALUE_COMPUTED,
  VALUE_GROUP,  /* a concatenation whose operands are made inside its place: nothing to do for it */
  VALUE_PIECES, /* a stack that loops read or make, and that has no place: its slices lie each in a place of their own */
} ValueKind;

typedef struct
{
  guint32 node; /* id */
  guint32 member;
  guint64 bytes;
  guint8 kind;     /* ValueKind; a view has that of its root */
  guint8 memory;   /* GantryMemoryKind where it is at home; a view has that of its root */
  guint8 typed;    /* GantryMemoryKind that its type says: a fetched view of host memory is at home in the host */
  guint8 result;   /* of a root: it or one of its views is a result of the function */
  guint8 returned; /* this very value is one */
  guint8 phase;    /* GantryPhase of its node */
  guint32 base;    /* value that this one is a view of, or NONE */
  guint32 root;    /* end of that chain: itself when it is no view */
  guint32 unit;    /* what a user of it is said to use: the root, or of a part of an input the first value of that part */
  guint64 offset;  /* bytes from the beginning of the root */
  guint32 maker;   /* work that writes the root, or NONE */
  guint32 literal; /* id or 0 */
  guint32 group;   /* VALUE_GROUP inside whose place it is made, or NONE */
  guint64 group_offset;
  guint32 first_part, n_parts; /* of a group, and of pieces: in parts */
  guint32 donated;             /* of an input: the root that is written over it, or NONE; of that root: the input */
} Value;

typedef struct
{
  guint32 position;  /* of its node in module->nodes */
  guint32 first_use; /* in uses: units it reads, each once; of a group the group and its parts */
  guint32 n_uses;
  guint32 first_value; /* its own values stand together */
  guint32 n_values;
  guint32 n_results;  /* of those: what the node gives, before pieces of it */
  guint32 first_slot; /* in alias: one for each operand */
  guint8 init;
  guint8 effect;
  guint8 phase;   /* GantryPhase */
  guint8 to_host; /* an explicit copy out of device memory: no step of the compute queue */
  guint64 workspace;
  double control_us; /* of control: predicted from the plans of its regions */
} Work;

/* How a scan is run where some of the stacks that it reads or makes are not there, or are made over others. */
typedef struct
{
  guint32 work;
  guint32 function;         /* its body */
  guint n;                  /* of slices */
  guint8 *slices;           /* by operand, then by result: GANTRY_SLICE_ABSENT */
  guint8 *host;             /* by operand: its slices are in the host, and the body fetches them */
  gint32 *over;             /* (nullable): by operand: the result that is made over its slices, -1: none */
  guint8 *unmet;            /* by operand: the body has no plan in which that is so */
  guint8 *unread;           /* by use of the work: the body does not read it */
  guint8 *root_unread;      /* by use of the work: the body reads nothing of its root */
  guint8 *root_fetched;     /* by use of the work: the body fetches all that it has of its root */
  guint8 *operand_unread;   /* by operand: the body reads nothing of what it shows */
  guint n_operands, n_over; /* of host; of over */
  guint64 asked;            /* for which question it was last asked for */
  GantryPlan *plan;         /* of its body; NULL: it cannot be planned so */
  guint64 workspace;
  double us;
} Loop;

/* An operand of a scan that shows a unit, or has a piece that does: as often as it does. */
typedef struct
{
  guint32 operand;
  guint32 next; /* that shows the same unit, or NONE */
} Shown;

enum
{
  ALIAS_UNKNOWN,
  ALIAS_NO,
  ALIAS_YES
};

typedef struct
{
  GantryModule *module;
  const GantryFunction *function;
  guint32 *first_value;   /* by position within the function; n_nodes + 1 */
  GArray *values;         /* Value */
  GArray *works;          /* Work, in program order, init and others mixed */
  GArray *uses;           /* guint32: values (units) */
  GArray *parts;          /* guint32: values inside groups, and that pieces are */
  gboolean slices_staged; /* as in GantryPlan */
  gboolean resident;      /* a training step: arguments and results have places of their own */
  guint8 *returned;       /* by position within the function: it is a result */
  guint8 *walked;         /* by position within the function: a concatenation that loops alone read, an operand a trip */
  GHashTable *cut;        /* set of position << 32 | member: what a scan stacks, of which only single slices are read */
  guint8 *alias;          /* what gantry_node_may_alias() said; asked once */
  guint32 n_init;         /* works that are init */
  guint32 *first_user;    /* by value: index in users; n_values + 1 */
  guint32 *users;         /* works that read each unit, in program order */
  guint32 *user_use;      /* which of its uses that is, of each of users */
  GArray *shown;          /* Shown: of scans */
  guint32 *first_shown;   /* by use: the first in shown of the operands that show this very unit, or NONE */
  guint32 *first_of_root; /* by use, of scans: the first use of the work that has the same root */
  guint32 *next_of_root;  /* by use, of scans: the next use of the work that has the same root, or NONE */
  guint32 *first_after;   /* by work: index in after; n_works + 1: works that must run before it though it reads nothing of */
  guint32 *after;         /* theirs, since it writes over what they read */
  guint32 *first_before;  /* the same the other way round */
  guint32 *before;
  guint32 *first_unit;  /* by value (inputs): index in units; n_values + 1 */
  guint32 *units;       /* units of each input */
  GArray *regions;      /* GantryPlanRegion: of the functions that control names, each once */
  guint64 region_bytes; /* of all constants of those */
  GHashTable *loops;    /* Loop: what was asked for last, by work, slices and over */
  guint64 n_questions;  /* begun so far */
  const guint8 *absent; /* (nullable): as in GantryPlanOptions */
  const guint8 *host;   /* (nullable): as in GantryPlanOptions */
  const gint32 *over;   /* (nullable): as in GantryPlanOptions */
} Program;

#define VALUE(program, i) (&g_array_index ((program)->values, Value, (i)))
#define WORK(program, i) (&g_array_index ((program)->works, Work, (i)))
#define USE(program, work, k) (g_array_index ((program)->uses, guint32, (work)->first_use + (k)))
#define SHOWN(program, i) (&g_array_index ((program)->shown, Shown, (i)))

Program *_gantry_program_new (GantryModule *module, const GantryPlanOptions *options, const GantryProgress *progress, GError **error);
void _gantry_program_free (Program *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Program, _gantry_program_free)

static inline const GantryNode *
work_node (const Program *program, const Work *work)
{
  return &program->module->nodes[work->position];
}

/** Value of operand @i of @node, or NONE for a token. */
guint32 _gantry_program_operand (const Program *program, const GantryNode *node, guint i);
gboolean _gantry_program_may_alias (Program *program, guint32 work, guint i);
/** Whether value @v, an operand, is a view of @root or has a piece that is one. */
gboolean _gantry_program_shows (const Program *program, guint32 v, guint32 root);
/** Fills users and what stands by them, first_user, shown and what stands by it. Linear. */
void _gantry_program_list_uses (Program *program);
/** Which use of work @w @unit is, or NONE. Logarithmic. */
guint32 _gantry_program_use_of (const Program *program, guint32 w, guint32 unit);

static inline gboolean
value_is_constant (const Value *value)
{
  return value->kind == VALUE_LITERAL || value->kind == VALUE_FILLED || value->kind == VALUE_CONSTANT;
}

/* program-regions.c */
/** Plans what control @node names: its workspace and time. */
gboolean _gantry_program_plan_regions (Program *program, const GantryNode *node, Work *work, const GantryPlanOptions *options, const GantryProgress *progress,
                                       GError **error);

/** The plan of @function where nothing is left out of it. (transfer none) */
GantryPlan *_gantry_program_region_plan (const Program *program, guint32 function);
/** Scan @w without some stacks. @slices: by operand, then by result; @host: as in Loop; @over: (nullable): as in Loop. It stays until another question is
 *  begun. Returns: (transfer none) (nullable): NULL where it cannot be planned */
const Loop *_gantry_program_loop (Program *program, guint32 w, const guint8 *slices, const guint8 *host, const gint32 *over, const GantryPlanOptions *options);
/** The same where it was asked for before. @loop: (out): as _gantry_program_loop() gives it. Returns: FALSE: its body would have to be planned */
gboolean _gantry_program_loop_is_known (Program *program, guint32 w, const guint8 *slices, const guint8 *host, const gint32 *over, const Loop **loop);
/** Another question: of what was asked for before, the latest is kept. */
void _gantry_program_begin_loops (Program *program);
GHashTable *_gantry_program_loops_new (void);
/** Nodes of a body, with those of what it runs. */
guint32 _gantry_program_count_body (const Program *program, guint32 function);
void _gantry_loop_free (Loop *loop);

/* program-pieces.c */
/** Fills walked and cut. @needed: by position within the function */
void _gantry_program_find_pieces (Program *program, const guint8 *needed);
/** A stack that has no place. FALSE and no error: it needs one. */
gboolean _gantry_program_add_pieces (Program *program, const GantryNode *node, GError **error);
/** Gives what scan @node stacks, and what is read of only slice by slice, a value for each slice, behind its results, which are there. */
gboolean _gantry_program_cut_results (Program *program, const GantryNode *node, guint32 first_value, GError **error);
/** The slice that @node takes of such a stack. FALSE and no error: it is of none. */
gboolean _gantry_program_add_slice (Program *program, const GantryNode *node, GError **error);
/** Part @k of a group, or piece. */
static inline guint32
value_part (const Program *program, const Value *value, guint32 k)
{
  return g_array_index (program->parts, guint32, value->first_part + k);
}

/* program-views.c */
Value *_gantry_program_add_value (Program *program, const GantryNode *node, guint32 member, const GantryType *type, GError **error);
gboolean
_gantry_program_add_view (Program *program, const GantryNode *node, guint32 member, guint32 base, guint64 offset, const GantryType *type, GError **error);
/** Slices, copies to the device and concatenations that need no work. FALSE and no error: it is work. */
gboolean _gantry_program_add_placed (Program *program, const GantryNode *node, GError **error);
/** The result that is donated parameter @i of the entry function, -1: none. */
gint _gantry_program_alias (const Program *program, guint32 i);
/** The first value of @node. */
guint32 _gantry_program_value_of (const Program *program, const GantryNode *node);
/** Results that are written over arguments, and what must therefore run before what. */
void _gantry_program_find_donations (Program *program);
gboolean _gantry_program_fail (const Program *program, const GantryNode *node, GantryError code, const char *what, GError **error);

/* Orders: arrays of the works that are not init. (transfer full) */
guint32 *_gantry_order_program (const Program *program);
guint32 *_gantry_order_greedy (const Program *program);        /* whatever frees most, first */
guint32 *_gantry_order_breadth (const Program *program);       /* what is ready first, first */
guint32 *_gantry_order_reverse_depth (const Program *program); /* from the results down, operands in their order */
guint32 *_gantry_order_depth (const Program *program);         /* from the results down, the hungriest operand first */
guint32 *_gantry_order_hoisted (const Program *program);       /* as written, but updates as soon as they can run */
