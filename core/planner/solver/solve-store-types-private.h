/* SPDX-License-Identifier: Apache-2.0 */
/* What the store is made of, for its own files. */
#pragma once
#include "core/planner/solver/solve-problem-private.h"

typedef struct
{
  GantryPlacements *placements;
  guint64 limit; /* it was planned within this, 0: none */
} StoreTold;

typedef struct
{
  GantryPlacements *placements;
  guint64 limit;
  guint64 bytes, host; /* as planned, else as predicted */
  double us;
  gboolean planned;
  GantryPlanFigures figures; /* then: of its plan */
  const char *method;        /* static */
} StoreAnswer;

/** Within @limit bytes nothing of what @of names costs less than @us, with @price a byte of the host. */
typedef struct
{
  guint64 limit;
  double us, price;
  GantryProof of;
} StoreBound;

typedef struct
{
  GantryPlacements *base; /* (nullable): what clicks decided */
  guint allowed;          /* bits 1 << GantryPlacementKind, that of keeping among them */
  GPtrArray *answers;     /* (element-type StoreAnswer): of those that are not planned none beats another one in both memory and time */
  GArray *bounds;         /* StoreBound: none follows from another one */
  SolveLeast *least;      /* (nullable): it was not searched for yet */
} StoreQuestion;

struct _SolveStore
{
  GPtrArray *told;      /* (element-type StoreTold) */
  GPtrArray *questions; /* (element-type StoreQuestion) */
};

/** That of @problem, made where it is not known yet. */
StoreQuestion *_gantry_store_question (SolveProblem *problem);
/** Has @question no more freedom than that of @problem? Its answers are answers of that, too. */
gboolean _gantry_store_is_within (const StoreQuestion *question, const SolveProblem *problem);
