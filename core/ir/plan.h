/* SPDX-License-Identifier: Apache-2.0 */
/* The type of a plan: in which order the nodes of the entry function run, where every value lies in
 * the arenas and when, and what is predicted. core/memory makes it; it is kept in the session file. */
#pragma once
#include "core/ir/module.h"

G_BEGIN_DECLS

typedef enum { GANTRY_QUEUE_COMPUTE, GANTRY_QUEUE_TO_HOST, GANTRY_QUEUE_TO_DEVICE, GANTRY_N_QUEUES } GantryQueue;

/** The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_BUFFER_INPUT,
  GANTRY_BUFFER_OUTPUT,
  GANTRY_BUFFER_CONSTANT,  /* literal or value computed once at load: in the constant region */
  GANTRY_BUFFER_TEMPORARY,
  GANTRY_BUFFER_WORKSPACE, /* scratch of one step */
} GantryBufferCategory;

typedef enum
{
  GANTRY_REGION_ARENA,    /* planned arena of the buffer's memory kind */
  GANTRY_REGION_CONSTANT, /* filled once when the executable is loaded */
  GANTRY_REGION_LITERAL,  /* the bytes of a dense literal, mapped from the model: never copied */
} GantryRegion;

#define GANTRY_NO_BUFFER G_MAXUINT32
/** Places begin at multiples of this many bytes, and their sizes are. */
#define GANTRY_PLACE_ALIGNMENT 64u

typedef struct
{
  guint32 node;     /* value that lives here; of a workspace the node that needs it */
  guint32 member;   /* of a tuple-typed node: which member, else 0 */
  guint8 category;  /* GantryBufferCategory */
  guint8 region;    /* GantryRegion */
  guint8 memory;    /* GantryMemoryKind */
  guint8 in_place;  /* written over the buffer @shares */
  guint32 shares;   /* buffer whose place this one takes over (in place or as a view), or GANTRY_NO_BUFFER */
  guint64 offset;   /* bytes in its region; of a literal 0 */
  guint64 size;     /* bytes of the value; places are aligned to 64 */
  guint32 begin;    /* first step at which it is alive (arena region) */
  guint32 end;      /* last step, inclusive */
  guint32 literal;  /* literal id of a LITERAL or splat CONSTANT buffer, else 0 */
} GantryPlanBuffer;

typedef struct
{
  guint32 node;     /* node id of the entry function */
  guint8 queue;     /* GantryQueue */
  guint8 init;      /* runs once at load: all it reads is constant */
  double start_us;  /* predicted, from the start of the step's phase */
  double duration_us;
} GantryPlanStep;

typedef struct _GantryPlan GantryPlan;
/** Immutable once made; buffers and steps in plain arrays. Init steps come first and are not on the time axis. */
struct _GantryPlan
{
  gatomicrefcount ref_count;
  guint32 n_steps;
  guint32 n_init_steps;  /* steps[0 .. n_init_steps) */
  GantryPlanStep *steps;
  guint32 n_buffers;
  GantryPlanBuffer *buffers;
  guint64 arena_bytes[GANTRY_N_MEMORY_KINDS]; /* height of the packing */
  guint64 constant_bytes;
  guint64 literal_bytes;
  guint64 lower_bound;   /* largest sum of live bytes (device arena): no packing can be lower */
  guint32 peak_step;     /* where that is */
  guint64 *live_bytes;   /* per step, device arena: bytes alive while it runs */
  double total_us;       /* predicted */
};
GantryPlan *gantry_plan_new (guint32 n_steps, guint32 n_buffers); /* zeroed */
GantryPlan *gantry_plan_ref (GantryPlan *plan);
void gantry_plan_unref (GantryPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPlan, gantry_plan_unref)
/** The buffer of a value, GANTRY_NO_BUFFER when it has none. Linear on the first call, then O(1). */
guint32 gantry_plan_buffer_of (const GantryPlan *plan, guint32 node, guint32 member);

G_END_DECLS
