/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of placements: for each value that may live elsewhere or be computed again, what is to
 * become of it and who said so. Clicks, names, rules, policies and the solver write to it; the planner
 * reads it. Nothing here rewrites the graph: a placement changes the plan, never a kernel, so a result
 * does not depend on it, but for those that store a value in fewer bits. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

/** The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_PLACEMENT_KEEP,      /* in device memory from its first to its last use */
  GANTRY_PLACEMENT_RECOMPUTE, /* dropped after its last forward use, computed again before its first backward use */
  GANTRY_PLACEMENT_OFFLOAD,   /* copied to (or living in) another memory kind, fetched before it is used */
  GANTRY_PLACEMENT_BF16,      /* converted for its last forward use, converted back before later ones: approximate (compression.h) */
  GANTRY_PLACEMENT_INT8,      /* the same in 8 bits with a scale for each block */
  GANTRY_N_PLACEMENTS
} GantryPlacementKind;

/** Bits 1 << kind: those that no result depends on, and the others. */
#define GANTRY_EXACT_PLACEMENTS (1u << GANTRY_PLACEMENT_KEEP | 1u << GANTRY_PLACEMENT_RECOMPUTE | 1u << GANTRY_PLACEMENT_OFFLOAD)
#define GANTRY_APPROXIMATE_PLACEMENTS (1u << GANTRY_PLACEMENT_BF16 | 1u << GANTRY_PLACEMENT_INT8)

/** What the value is. The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_SUBJECT_RESIDUAL,  /* made in the forward phase, read in the backward (or update) phase */
  GANTRY_SUBJECT_PARAMETER, /* entry parameter with role "parameter" */
  GANTRY_SUBJECT_STATE,     /* entry parameter with role "state": of the optimizer */
  GANTRY_SUBJECT_INPUT,     /* any other entry parameter */
  GANTRY_SUBJECT_OUTPUT,    /* result of the entry function that no parameter is donated to */
  GANTRY_SUBJECT_NONE,      /* no placement is taken for it: a value that lives and dies in one phase */
} GantryPlacementSubject;

/** Who decided. The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_DECIDED_BY_DEFAULT,
  GANTRY_DECIDED_BY_PROGRAM, /* the memory kind in the parameter's type */
  GANTRY_DECIDED_BY_POLICY,
  GANTRY_DECIDED_BY_RULE,
  GANTRY_DECIDED_BY_CLICK,
  GANTRY_DECIDED_BY_SOLVER,
} GantryDecider;

/** Entries of nodes; plain data, read freely. */
typedef struct
{
  guint32 node;   /* id in the planned module */
  guint8 kind;    /* GantryPlacementKind */
  guint8 decider; /* GantryDecider */
  guint8 memory;  /* GantryMemoryKind to offload to */
  guint8 subject; /* GantryPlacementSubject */
} GantryPlacement;

/** What an entry of a schedule does with the node that it names. */
typedef enum
{
  GANTRY_SCHEDULE_RUN,      /* its work runs */
  GANTRY_SCHEDULE_SPILL,    /* a copy of its value to the host begins */
  GANTRY_SCHEDULE_RELEASE,  /* the place of its value, which was spilled, is free once that copy has ended */
  GANTRY_SCHEDULE_PREFETCH, /* a copy of its value back to the device begins, into a place of its own */
  GANTRY_N_SCHEDULE_ACTIONS,
} GantryScheduleAction;

typedef struct
{
  guint32 node;   /* id in the planned module */
  guint32 action; /* GantryScheduleAction */
} GantryScheduleEntry;

/**
 * GantryPlacements: reference counted; changed only by who made it and before anyone else has it.
 *
 * @schedule, where there is one, is the order in which the works of a run follow each other, each at least once; one
 * that stands there again is computed again there. What an entry keeps or offloads is not computed again whatever it says, and
 * what an entry recomputes that stands there once is computed again before its first use of a later phase. It may say as well when
 * what an entry offloads is copied: spilled once, released, and prefetched as often as it is read after it was not there; what it says
 * nothing of is copied as the planner does.
 *
 * @fetch_limit belongs to an answer of a search that was found within it: copies are made as late, and values given up as early, as
 * under a limit of so many bytes. It refuses nothing.
 */
typedef struct
{
  gatomicrefcount ref_count;
  GArray *entries;     /* GantryPlacement, by ascending node; nodes without an entry are kept by default */
  GArray *schedule;    /* (nullable): GantryScheduleEntry; NULL: the order of the planner, each once */
  guint64 fetch_limit; /* bytes of device memory, 0: none */
} GantryPlacements;

/** Without entries and schedule. (transfer full) */
GantryPlacements *gantry_placements_new (void);
/** All of it. (transfer full) */
GantryPlacements *gantry_placements_copy (const GantryPlacements *placements);
GantryPlacements *gantry_placements_ref (GantryPlacements *placements);
void gantry_placements_unref (GantryPlacements *placements);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPlacements, gantry_placements_unref)
/** O(log n). Returns: (nullable) (transfer none): valid until the next set */
const GantryPlacement *gantry_placements_find (const GantryPlacements *placements, guint32 node);
/** Kind of a node without an entry: KEEP. */
GantryPlacementKind gantry_placements_kind (const GantryPlacements *placements, guint32 node);
/** Replaces the entry of @placement->node. Amortized O(1) in ascending order of nodes, else O(n). */
void gantry_placements_set (GantryPlacements *placements, const GantryPlacement *placement);
/** @entries: (nullable): see #GantryPlacements.schedule; copied. NULL or none: no schedule */
void gantry_placements_set_schedule (GantryPlacements *placements, const GantryScheduleEntry *entries, guint n);
/** Entries, schedule and limit of both are the same */
gboolean gantry_placements_equal (const GantryPlacements *a, const GantryPlacements *b);

/** Places in memory begin at multiples of this many bytes, and their sizes are. */
#define GANTRY_PLACE_ALIGNMENT 64u

/** TRUE when the node has no bytes of its own in a training step: `tuple`, `result`, operations with %GANTRY_OP_VIEW that stay
 *  in their memory, a contiguous `slice` that begins at a multiple of %GANTRY_PLACE_ALIGNMENT, a `copy` to the device of what lives in
 *  the host. */
gboolean gantry_node_is_view (const GantryModule *module, const GantryNode *node);
/**
 * gantry_placement_owners:
 *
 * Whose bytes each node shows: itself, or what it is a view of in the end (through `reshape`, `checkpoint_name`, `result`,
 * ...). The owner decides for its views: their placement is its own. What a node makes has one placement, but of a scan each
 * result has one: it belongs to the first `result` that shows it. A tuple put together of several values is its own
 * owner, and no one else's. Linear in nodes and operands.
 *
 * Returns: (transfer full): positions in module->nodes, by position
 */
guint32 *gantry_placement_owners (const GantryModule *module);
/**
 * gantry_placement_subjects:
 *
 * What each value of the entry function is. A forward value is a residual when it or a view of it is read by the
 * backward or update phase. Views are %GANTRY_SUBJECT_NONE (ask their owner), and so is what is made of constants alone:
 * that is computed when the program is loaded; and a stack that loops alone walk along, which is what its operands are. Linear in nodes and operands.
 *
 * Returns: (transfer full): #GantryPlacementSubject by position in module->nodes
 */
guint8 *gantry_placement_subjects (const GantryModule *module);

/** The kind that a file calls @number: KEEP where that is none of this version's, never another one, which results might depend on. */
GantryPlacementKind gantry_placement_kind_of_number (gint64 number);
const char *gantry_placement_kind_name (GantryPlacementKind kind);          /* "keep", "recompute", "offload", "bf16", "int8" */
const char *gantry_placement_subject_name (GantryPlacementSubject subject); /* "residual", "parameter", ... */
const char *gantry_decider_name (GantryDecider decider);                    /* "default", "policy", ... */

/* Entry parameters and what they are: attributes `role` ("parameter" or "state", absent: input), `alias` (index of the
 * result that is written over it: donated) and `initial` (literal: its value at the start). */
/** Returns: GANTRY_SUBJECT_PARAMETER, GANTRY_SUBJECT_STATE or GANTRY_SUBJECT_INPUT; any other word of the attribute is an input */
GantryPlacementSubject gantry_parameter_role (const GantryModule *module, const GantryNode *parameter);
/** Returns: index of the result that the parameter is donated to, or -1 */
gint gantry_parameter_alias (const GantryModule *module, const GantryNode *parameter);
/** TRUE when any node belongs to the backward or update phase. */
gboolean gantry_module_is_training (const GantryModule *module);

G_END_DECLS
