/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a plan: what its parts share. */
#pragma once
#include "core/planner/planner-private.h"
#include <string.h>

typedef struct
{
  GantryPlanner *planner;
  const Constants *constants;
  GantryPlan *plan;
  GArray *buffers;      /* GantryPlanBuffer: of values under their index, then of other ranges, parts of those, workspaces */
  guint64 *relative;    /* by buffer: where it begins in what it shares */
  GArray *refs;         /* guint32 */
  GHashTable *parts;    /* of ranges: "range offset bytes" -> buffer */
  guint32 *step_of;     /* by index of line */
  guint32 *begin, *end; /* by range: steps */
  guint32 *buffer;      /* by range */
  guint32 *eviction_step, *fetch_step;
  guint32 n_init, n_steps;
  guint32 last; /* last step; the first one that is no init step where there is none */
} Writer;

#define BUFFER(writer, i) (&g_array_index ((writer)->buffers, GantryPlanBuffer, (i)))

guint32 _gantry_writer_add_buffer (Writer *w, GantryPlanBuffer buffer, guint64 relative);
/** Offsets and the curve. */
void _gantry_writer_pack (Writer *w, const GantryProgress *progress);
