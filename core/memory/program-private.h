/* SPDX-License-Identifier: Apache-2.0 */
/* The entry function as the planner sees it: values (what a buffer holds) and work (what becomes a
 * step). Views, tuples and their members are values that stand on another value. */
#pragma once
#include "core/memory/memory.h"
#include "core/ir/operation.h"

#define NONE G_MAXUINT32

typedef enum
{
  VALUE_INPUT,
  VALUE_LITERAL,  /* used where the model file is mapped */
  VALUE_FILLED,   /* literal written into the constant region at load */
  VALUE_CONSTANT, /* computed at load */
  VALUE_COMPUTED,
} ValueKind;

typedef struct
{
  guint32 node;    /* id */
  guint32 member;
  guint64 bytes;
  guint8 kind;     /* ValueKind; a view has that of its root */
  guint8 memory;   /* GantryMemoryKind */
  guint8 result;   /* of a root: it or one of its views is a result of the function */
  guint8 returned; /* this very value is one */
  guint32 base;    /* value that this one is a view of, or NONE */
  guint32 root;    /* end of that chain: itself when it is no view */
  guint32 maker;   /* work that writes the root, or NONE */
  guint32 literal; /* id or 0 */
} Value;

typedef struct
{
  guint32 position;     /* of its node in module->nodes */
  guint32 first_use;    /* in uses: roots it reads, each once */
  guint32 n_uses;
  guint32 first_value;  /* its own values stand together */
  guint32 n_values;
  guint32 first_slot;   /* in alias: one for each operand */
  guint8 init;
  guint8 effect;
  guint64 workspace;
} Work;

enum { ALIAS_UNKNOWN, ALIAS_NO, ALIAS_YES };

typedef struct
{
  GantryModule *module;
  const GantryFunction *function;
  guint32 *first_value;  /* by position within the function; n_nodes + 1 */
  GArray *values;        /* Value */
  GArray *works;         /* Work, in program order, init and others mixed */
  GArray *uses;          /* guint32: values (roots) */
  guint8 *alias;         /* what gantry_node_may_alias() said; asked once */
  guint32 n_init;        /* works that are init */
  guint32 *first_user;   /* by value: index in users; n_values + 1 */
  guint32 *users;        /* works that read each root, in program order */
} Program;

#define VALUE(program, i) (&g_array_index ((program)->values, Value, (i)))
#define WORK(program, i) (&g_array_index ((program)->works, Work, (i)))
#define USE(program, work, k) (g_array_index ((program)->uses, guint32, (work)->first_use + (k)))

Program *_gantry_program_new (GantryModule *module, const GantryPlanOptions *options, const GantryProgress *progress,
                              GError **error);
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

static inline gboolean
value_is_constant (const Value *value)
{
  return value->kind == VALUE_LITERAL || value->kind == VALUE_FILLED || value->kind == VALUE_CONSTANT;
}

static inline guint64
place_bytes (guint64 bytes)
{
  return (bytes + GANTRY_PLACE_ALIGNMENT - 1) / GANTRY_PLACE_ALIGNMENT * GANTRY_PLACE_ALIGNMENT;
}

/** What becomes of the values under an order. */
typedef struct
{
  guint32 n_steps, n_init;
  guint32 *step_work;   /* work of each step: init ones first */
  guint32 *begin, *end; /* by value (roots): steps; a constant that is used after load ends at n_init */
  guint32 *over;        /* by value (roots): root whose place it takes over in place, or NONE */
  guint32 *place;       /* by value (roots): root that owns the place */
  guint64 *place_size;  /* by owner of a place: whole place */
  guint32 *place_end;   /* by owner of a place */
  guint64 *live;        /* by step: bytes alive in the device arena */
  guint64 peak;
} Lifetimes;

/** @order: the works that are not init, in the order in which they run. */
Lifetimes *_gantry_lifetimes_new (Program *program, const guint32 *order, GantryPlanFlags flags);
void _gantry_lifetimes_free (Lifetimes *lifetimes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Lifetimes, _gantry_lifetimes_free)

/* Orders: arrays of the works that are not init. (transfer full) */
guint32 *_gantry_order_program (const Program *program);
guint32 *_gantry_order_greedy (const Program *program); /* whatever frees most, first */
guint32 *_gantry_order_depth (const Program *program);  /* from the results down, the hungriest operand first */
