/* SPDX-License-Identifier: Apache-2.0 */
/* Times that a run measured, in a form that outlives the compilation that was run: like choices they are kept by what a
 * node is (gantry_module_keys()), since node ids are new in each compilation. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 key; /* gantry_module_keys() */
  double us;   /* of one execution */
} GantryMeasuredTime;

/**
 * GantryMeasuredTimes: reference counted; changed only by who made it and before anyone else has it.
 *
 * @run: uid of the run that measured them; @name: that run for people
 * @conditions: (nullable): what the kernels that were measured were made under (gantry_kernel_conditions_text()); NULL: not known
 * @link_bandwidth: bytes per second between device and host while copies ran, 0: nothing was copied
 * @entries: GantryMeasuredTime, by ascending key
 */
typedef struct
{
  gatomicrefcount ref_count;
  char *run, *name, *conditions;
  double link_bandwidth;
  GArray *entries;
} GantryMeasuredTimes;

/** @run: uid of the run that measures; @name: of it, for people. Both are copied. Returns: (transfer full): without times */
GantryMeasuredTimes *gantry_measured_times_new (const char *run, const char *name);
/**
 * gantry_measured_times_of:
 * @us: (element-type guint double*): microseconds by node id (GUINT_TO_POINTER), as GantryPlanOptions.measured_us
 * @keys: gantry_module_keys() of @module
 *
 * Nodes that @module does not have are left out. Returns: (transfer full)
 */
GantryMeasuredTimes *gantry_measured_times_of (const char *run, const char *name, GHashTable *us, const GantryModule *module, const guint64 *keys);
GantryMeasuredTimes *gantry_measured_times_ref (GantryMeasuredTimes *times);
void gantry_measured_times_unref (GantryMeasuredTimes *times);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryMeasuredTimes, gantry_measured_times_unref)
/** Times that are no number, or not positive, are left out. Call gantry_measured_times_sort() after the last. */
void gantry_measured_times_add (GantryMeasuredTimes *times, guint64 key, double us);
/** By ascending key: once, after the last gantry_measured_times_add() and before anyone reads them. */
void gantry_measured_times_sort (GantryMeasuredTimes *times);
gboolean gantry_measured_times_equal (const GantryMeasuredTimes *a, const GantryMeasuredTimes *b); /* (nullable) both */
/** What GantryPlanOptions.measured_us takes, for another compilation of the program. Linear, times a logarithm.
 *  Returns: (transfer full) (element-type guint double*) */
GHashTable *gantry_measured_times_by_node (const GantryMeasuredTimes *times, const GantryModule *module, const guint64 *keys);

G_END_DECLS
