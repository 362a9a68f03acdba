/* SPDX-License-Identifier: Apache-2.0 */
/* The hand-written kernels as bound programs: what their files share. Each launch has an expression graph of its own,
 * since a sort has many launches and a graph has few variables. */
#pragma once
#include "core/expr/index-arithmetic.h"
#include "core/kernels/builtin/builtin.h"
#include "core/kernels/program/grid.h"

G_BEGIN_DECLS

typedef struct
{
  GantryBound *bound;
  const GantryKxInput *inputs; /* the node's operands */
  guint n_inputs;
  const GantryGpu *gpu;
} GantryBuiltin;

/**
 * gantry_builtin_begin:
 * @n: threads that have work; at least 1
 * @index: (out): node: number of the thread, below @n
 *
 * Adds a launch of one dimension; what follows up to gantry_builtin_end() is done by those threads.
 * Returns: (transfer none): the launch
 */
GantryGrid *gantry_builtin_begin (GantryBuiltin *builtin, gint64 n, guint32 *index);
void gantry_builtin_end (GantryGrid *grid);
/** A launch of blocks x threads; there is no condition to end. */
GantryGrid *gantry_builtin_begin_blocks (GantryBuiltin *builtin, gint64 n_blocks, guint threads, guint32 *block, guint32 *thread);

/* Nodes. */
guint32 gantry_builtin_u64 (GantryGrid *grid, guint64 value);
/** @op of two nodes of one type, which is the type of the result. */
guint32 gantry_builtin_op (GantryGrid *grid, GantryOp op, guint32 a, guint32 b);
guint32 gantry_builtin_compare (GantryGrid *grid, GantryDirection direction, guint32 a, guint32 b);
guint32 gantry_builtin_and (GantryGrid *grid, guint32 a, guint32 b);

/**
 * GantryNetwork: pairs of a key (u64) and a number (u32) in the workspace: @lines of them, each @padded long, a power
 * of two, of which @length are used. Keys are different or their numbers are: so the order of the pairs is one, and
 * what is equal stays in the order of its numbers.
 */
typedef struct
{
  gint64 lines, length, padded;
  guint64 keys, numbers; /* offsets in the workspace */
} GantryNetwork;

/** Reserves room. */
void gantry_network_init (GantryNetwork *network, GantryBuiltin *builtin, gint64 lines, gint64 length);
/** The arrays of keys and of numbers, of a launch. */
guint32 gantry_network_keys (const GantryNetwork *network, GantryGrid *grid);
guint32 gantry_network_numbers (const GantryNetwork *network, GantryGrid *grid);
/** Begins the launch in which each thread sets the pair @index; @valid: what is not, comes after all others.
 *  Returns: the launch; to be ended after gantry_network_set() */
GantryGrid *gantry_network_begin (const GantryNetwork *network, GantryBuiltin *builtin, guint32 *line, guint32 *number);
void gantry_network_set (const GantryNetwork *network, GantryGrid *grid, guint32 line, guint32 number, guint32 key);
/** Adds the launches that sort every line: Batcher's bitonic network (K. E. Batcher, "Sorting networks and their
 *  applications", 1968), its steps within a block in shared memory. */
void gantry_network_sort (const GantryNetwork *network, GantryBuiltin *builtin);

gboolean gantry_builtin_sort (GantryBuiltin *builtin, const GantryModule *module, const GantryNode *node, GString *why);
gboolean gantry_builtin_scatter (GantryBuiltin *builtin, const GantryModule *module, const GantryNode *node, GString *why);
gboolean gantry_builtin_random (GantryBuiltin *builtin, const GantryModule *module, const GantryNode *node, GString *why);

G_END_DECLS
