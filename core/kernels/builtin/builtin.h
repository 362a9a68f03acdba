/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels written by hand, for what no expression says: sort, scatter, random bits; and what those of CPU and GPU read from a node. */
#pragma once
#include "core/kernels/program/grid.h"
#include "core/kernels/program/node-kernel.h"
#include "core/plan/compression.h"

G_BEGIN_DECLS

typedef struct
{
  guint n; /* operands; the first one is ordered by */
  GantryElementType key;
  gsize sizes[GANTRY_MAX_RANK];
  gint64 length, stride, lines; /* of a line; elements between its neighbours; how many */
  gboolean descending;
} GantrySort;

typedef struct
{
  gint64 elements, n_blocks; /* n_blocks: of Philox, 16 bytes each */
  gsize size;                /* of an element */
} GantryRandomBits;

typedef struct
{
  GantryElementType element, index_element;
  gsize size, index_size;
  GantryOp op; /* NONE: set */
  guint rank, update_rank;
  gint64 dims[GANTRY_MAX_RANK]; /* of the input */
  gint64 strides[GANTRY_MAX_RANK];
  gint64 update_dims[GANTRY_MAX_RANK];
  gint64 n_updates, n_elements;
  gint64 window_of[GANTRY_MAX_RANK];     /* per input dimension: update dimension that runs along it, -1: none */
  gint64 batch_of[GANTRY_MAX_RANK];      /* per input dimension: update dimension that is its index, -1: none */
  gint64 component_of[GANTRY_MAX_RANK];  /* per input dimension: component of the index vector, -1: none */
  gint64 index_strides[GANTRY_MAX_RANK]; /* per update dimension: step in the indices */
  gint64 component_stride;
} GantryScatter;

/* Each returns FALSE and adds to @why what does not fit. */
/** @sort: (out caller-allocates): of a node `sort`, whose operands have one shape and are at most 16 */
gboolean gantry_sort_read (GantrySort *sort, const GantryModule *module, const GantryNode *node, GString *why);
/** @random: (out caller-allocates): of a node `rng_bit_generator`, whose state is u64[2] and whose bits are integers */
gboolean gantry_random_bits_read (GantryRandomBits *random, const GantryModule *module, const GantryNode *node, GString *why);
/** @s: (out caller-allocates): of a node `scatter`; what its dimension numbers say, as a number for each dimension */
gboolean gantry_scatter_read (GantryScatter *s, const GantryModule *module, const GantryNode *node, GString *why);

/**
 * gantry_builtin_bind:
 * @inputs: (array length=n_inputs): the operands, laid out plainly
 *
 * The launches of a sort, a scatter or random bits. Results are those of the kernels for the CPU, bit for bit.
 * Returns: (transfer full) (nullable): NULL with a reason in @why
 */
GantryBound *
gantry_builtin_bind (const GantryModule *module, const GantryNode *node, const GantryKxInput *inputs, guint n_inputs, const GantryGpu *gpu, GString *why);

/** Conversions of residuals to fewer bits (core/plan/compression.h), and @back. */
void gantry_compression_make (const GantryCompression *compression, gboolean back, GantryKernel *kernel);
/** What such a conversion reads, as a GPU's kernel sees it: the elements in a row; of records their words. */
const GantryType *gantry_compression_input (GantryContext *context, const GantryCompression *compression, gboolean back);
/** @input: that type, laid out plainly; its results are those of the CPU's kernel but for rounding. Returns: (transfer full) */
GantryBound *gantry_compression_bind (const GantryCompression *compression, gboolean back, const GantryKxInput *input, const GantryGpu *gpu);

/** sort, scatter, random bits */
GantryMade gantry_builtin_make (const GantryModule *module, const GantryNode *node, GantryKernel *kernel, GString *why);

/** gantry_builtin_make() of a scatter: one task, so that updates of one element come in their order. */
GantryMade gantry_builtin_make_scatter (const GantryModule *module, const GantryNode *node, GantryKernel *kernel, GString *why);

G_END_DECLS
