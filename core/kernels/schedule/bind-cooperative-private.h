/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions whose value many results share, by groups of threads: what the schedules (bind-cooperative.c) and the work
 * of a group (bind-cooperative-reduce.c) have in common. */
#pragma once
#include "core/kernels/schedule/bind.h"

G_BEGIN_DECLS

#define GANTRY_WARP 32

typedef struct
{
  GantryKx *kx;
  GantryGrid *grid;
  gboolean across;    /* columns: the members of a group stand in different warps */
  guint group;        /* threads of a group, a power of two */
  guint rows_at_once; /* groups of a block */
  guint lanes;
  guint lane;     /* variable */
  guint64 bound;  /* what is known to a thread: variables of the grid, and values */
  guint64 inner;  /* variables of the results within a row */
  guint32 member; /* node: number within the group */
  guint32 place;  /* node: which group of the block */
  guint32 row;    /* node */
  guint32 live;   /* node: the row exists; GANTRY_GRID_NONE: it always does */
  gint64 n_rows;
  gint64 slices;    /* blocks that share a row */
  guint32 slice;    /* node: which of them */
  gint64 hands;     /* threads that the positions of a row are dealt to: those of all slices */
  guint32 hand;     /* node: number of this one */
  GArray *partials; /* guint64: where in the workspace the slices' parts of each reduction lie */
} GantryCooperation;

/** Statements for a reduction; its value stands in its place in the results afterwards. */
void gantry_cooperation_reduce (GantryCooperation *c, guint32 reduction);
/** Statements for what this slice finds of it, left in the workspace. */
void gantry_cooperation_leave (GantryCooperation *c, GantryBound *bound, guint32 reduction);
/** What the slices found in an earlier launch, added up in their order; @which: it was left as. */
void gantry_cooperation_take (GantryCooperation *c, guint32 reduction, guint which);
/** The results of the row; no statements come after. */
void gantry_cooperation_store (GantryCooperation *c);

G_END_DECLS
