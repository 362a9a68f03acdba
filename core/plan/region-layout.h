/* SPDX-License-Identifier: Apache-2.0 */
/* Where the plan of a region lies while its control runs: parameters and results where the control has them, the rest in the
 * control's workspace. The planner sizes the workspace by it, the runtime computes addresses from it. */
#pragma once
#include "core/plan/plan.h"
#include "core/graph/region.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_REGION_PLACE_NONE,   /* of a buffer that owns no place of the device's arena */
  GANTRY_REGION_PLACE_INPUT,  /* where parameter `index` is given */
  GANTRY_REGION_PLACE_RESULT, /* where result `index` is wanted */
  GANTRY_REGION_PLACE_OWN,    /* in the workspace */
} GantryRegionPlaceKind;

/** What becomes of a slice of a scan: bits. */
enum
{
  GANTRY_SLICE_STAGED = 1 << 0,   /* it cannot be used where it lies in the whole */
  GANTRY_SLICE_ABSENT = 1 << 1,   /* the whole is not there: it is not read, or is not kept */
  GANTRY_SLICE_STREAMED = 1 << 2, /* of those staged: it is brought while the trip before runs, and taken away while the next one runs */
};

/** Loops of fewer trips than this bring and take slices between their trips: room for several slices would be much of the whole. */
#define GANTRY_LEAST_STREAMED 8

/** For how many slices of a streamed stack there is room in a loop of @trips. @both: it is walked along and made over */
static inline guint
gantry_stream_stages (gint64 trips, gboolean both)
{
  return trips < GANTRY_LEAST_STREAMED ? 1 : both ? 3 : 2;
}

typedef struct
{
  guint8 kind; /* GantryRegionPlaceKind */
  guint32 index;
  guint8 staged;   /* a slice of a scan that cannot be used where it lies: it goes through the workspace. Not one that the plan has in the
                   * host, whose own copies read and write it where it lies */
  guint8 absent;   /* a slice of what is not there: nothing is brought or taken away */
  guint8 n_stages; /* of a staged slice: so many have room, one behind the other, and trips take turns */
  guint32 over;    /* where those are more than one: the result that is made over parameter `index`, else %GANTRY_NO_BUFFER */
  guint64 offset;  /* in the workspace; of a slice only where it is staged */
} GantryRegionPlace;

/** A result that is not made where it is wanted: it is copied there after each run. */
typedef struct
{
  guint32 result;
  guint32 from;    /* buffer */
  gboolean staged; /* its source may be overwritten by another of these copies: all such are set aside first */
  guint64 stage;   /* offset in the workspace */
  guint64 bytes;
} GantryRegionCopy;

/** Freed with gantry_region_layout_free(). */
typedef struct
{
  guint64 bytes; /* of the workspace */
  guint32 n_inputs, n_outputs;
  guint32 *inputs, *outputs; /* buffers */
  GantryRegionPlace *places; /* by buffer */
  GArray *copies;            /* (element-type GantryRegionCopy) */
} GantryRegionLayout;

/**
 * gantry_region_layout_new:
 * @region: index of the region in @control
 * @module: the region as a module (gantry_module_region())
 * @plan: of @module, resident
 * @slices: (nullable): of a scan, by parameter of the region, then by result: bits %GANTRY_SLICE_STAGED, ...; %NULL: all are staged. Those that are no
 * multiple of %GANTRY_PLACE_ALIGNMENT never can.
 *
 * Parameters are read where they are given and never written, but for carries of a loop: those lie in the results of the control,
 * the body writes the next value over them where the plan lets it, else it is copied over them. What an arm gives is made where the
 * control's results lie.
 *
 * Returns: (transfer full) (nullable): %GANTRY_ERROR_UNSUPPORTED where the region needs memory of the host beside slices
 */
GantryRegionLayout *
gantry_region_layout_new (const GantryControl *control, guint region, const GantryModule *module, const GantryPlan *plan, const guint8 *slices, GError **error);
void gantry_region_layout_free (GantryRegionLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryRegionLayout, gantry_region_layout_free)

/** Whether parameter, or result, @i of a scan's body is a slice. */
gboolean gantry_control_input_is_slice (const GantryControl *control, guint i);
/** As gantry_control_input_is_slice(): a slice of a stack that the scan gives, so not a carry. FALSE of branches. */
gboolean gantry_control_result_is_slice (const GantryControl *control, guint i);

G_END_DECLS
