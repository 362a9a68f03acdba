/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of a program take beside operands and results: scratch, constants packed into another layout, and their code.
 * core/kernels knows it once they are made; the planner counts it. A table outlives the kernels, so that a program can be
 * planned with them before they are made again: nodes are told by their place in the module, not by their ids. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

/** One kernel that needs anything. */
typedef struct
{
  guint64 position;        /* of its node in the module */
  guint64 workspace_bytes; /* while it runs */
  guint64 packed_bytes;    /* from load to the end */
} GantryKernelSize;

/**
 * GantryKernelConditions: how kernels are made, beside program and GPU: all else that their sizes depend on. All 0: as for a run
 * without options.
 *
 * @n_threads: 0: all processors
 * @instructions: (nullable): the set that they keep to; NULL: what the processor has
 * @layout_block: channels of a blocked layout, 0: as the processor likes
 * @device: (nullable): "cuda", or "grid" for the schedules of a GPU on the processor; NULL: the processor's own code
 */
typedef struct
{
  guint n_threads;
  gboolean no_library, quick_compile, allow_tf32;
  guint layout_block;
  const char *instructions;
  const char *device;
} GantryKernelConditions;

/** One line, the same only for the same conditions on the same processor; what is for a GPU depends on no processor. (transfer full) */
char *gantry_kernel_conditions_text (const GantryKernelConditions *conditions);
/**
 * gantry_kernel_conditions_difference:
 * @conditions, @from: (nullable): such lines
 *
 * What was made under @conditions was made with that what was made under @from was not, for people: "1 thread, no library".
 *
 * Returns: (transfer full) (nullable): %NULL where both are the same, or one is not known
 */
char *gantry_kernel_conditions_difference (const char *conditions, const char *from);

/**
 * GantryKernelSizes: reference counted; changed only by who made it and before anyone else has it.
 *
 * @program: (nullable): what tells the program apart (gantry_module_content()), NULL: made for one module in hand
 * @target: (nullable): what the kernels are made for and with, for people: processor and libraries
 * @conditions: (nullable): gantry_kernel_conditions_text(); NULL: not known, so that they are those of no other kernels
 * @arch: (nullable): the GPU that they are for ("sm_90a"); NULL: the processor
 * @code_bytes: of all generated code, as loaded, with what a library generates for itself
 * @at_least: @code_bytes is not all: what a library generates is not known
 * @entries: GantryKernelSize, by ascending position
 */
typedef struct
{
  gatomicrefcount ref_count;
  char *program, *target, *conditions, *arch;
  guint64 code_bytes;
  gboolean at_least;
  GArray *entries;
} GantryKernelSizes;

/** An empty table; both texts are copied. (transfer full) */
GantryKernelSizes *gantry_kernel_sizes_new (const char *program, const char *target);
GantryKernelSizes *gantry_kernel_sizes_ref (GantryKernelSizes *sizes);
void gantry_kernel_sizes_unref (GantryKernelSizes *sizes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryKernelSizes, gantry_kernel_sizes_unref)
/** @position: above that of all entries before. What needs nothing is left out. */
void gantry_kernel_sizes_add (GantryKernelSizes *sizes, guint32 position, guint64 workspace_bytes, guint64 packed_bytes);
/** Scratch of the kernel of the node at @position of the module, in bytes. O(log entries). */
guint64 gantry_kernel_sizes_workspace (const GantryKernelSizes *sizes, guint32 position);
/** Bytes of all packed constants, each a whole place. */
guint64 gantry_kernel_sizes_packed (const GantryKernelSizes *sizes);
/** As text, and back: for files of the user's cache and sessions. (transfer full) */
char *gantry_kernel_sizes_to_text (const GantryKernelSizes *sizes);
/** (transfer full) (nullable): %GANTRY_ERROR_INVALID with the line where it is no such table */
GantryKernelSizes *gantry_kernel_sizes_parse (const char *text, GError **error);
/** Adds the last line, a checksum of those that @text has: what a table needs to be read. */
void gantry_kernel_sizes_append_checksum (GString *text);
gboolean gantry_kernel_sizes_equal (const GantryKernelSizes *a, const GantryKernelSizes *b); /* (nullable) both */

G_END_DECLS
