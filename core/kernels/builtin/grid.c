/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-written kernels for a GPU: launches, and the sorting network that sort and scatter have in common. */
#include "core/kernels/builtin/grid-private.h"

#define THREADS 256
/* Pairs that a block sorts in shared memory: 12 bytes each. */
#define CHUNK 2048

/* Launches */

GantryGrid *
gantry_builtin_begin_blocks (GantryBuiltin *builtin, gint64 n_blocks, guint threads, guint32 *block, guint32 *thread)
{
  guint32 size[3] = { (guint32) n_blocks, 1, 1 }, shape[3] = { threads, 1, 1 };
  GantryGrid *grid = gantry_bound_add (builtin->bound, gantry_kx_new (builtin->inputs, builtin->n_inputs), size, shape);

  *block = gantry_grid_index (grid, GANTRY_AXIS_BLOCK_X, n_blocks);
  *thread = gantry_grid_index (grid, GANTRY_AXIS_THREAD_X, threads);
  return grid;
}

GantryGrid *
gantry_builtin_begin (GantryBuiltin *builtin, gint64 n, guint32 *index)
{
  guint32 block, thread;
  GantryGrid *grid = gantry_builtin_begin_blocks (builtin, (n + THREADS - 1) / THREADS, THREADS, &block, &thread);

  *index = gantry_index_sum (grid->kx, block, THREADS, thread, 1);
  if (n % THREADS == 0)
    return grid;
  gantry_grid_begin_if (grid, gantry_index_below (grid->kx, *index, n));
  *index = gantry_index_minimum (grid->kx, *index, n - 1);
  return grid;
}

void
gantry_builtin_end (GantryGrid *grid)
{
  while (grid->open->len > 0)
    gantry_grid_end (grid);
}

/* Nodes */

guint32
gantry_builtin_u64 (GantryGrid *grid, guint64 value)
{
  return gantry_kx_const_int (grid->kx, GANTRY_U64, (gint64) value);
}

guint32
gantry_builtin_op (GantryGrid *grid, GantryOp op, guint32 a, guint32 b)
{
  return gantry_kx_binary (grid->kx, gantry_kx_node (grid->kx, a)->type, op, 0, a, b);
}

guint32
gantry_builtin_compare (GantryGrid *grid, GantryDirection direction, guint32 a, guint32 b)
{
  return gantry_kx_binary (grid->kx, GANTRY_BOOL, GANTRY_OP_COMPARE, direction, a, b);
}

guint32
gantry_builtin_and (GantryGrid *grid, guint32 a, guint32 b)
{
  return gantry_kx_binary (grid->kx, GANTRY_BOOL, GANTRY_OP_AND, 0, a, b);
}

/* The network */

void
gantry_network_init (GantryNetwork *network, GantryBuiltin *builtin, gint64 lines, gint64 length)
{
  *network = (GantryNetwork){ .lines = lines, .length = length, .padded = 2 };
  while (network->padded < length)
    network->padded *= 2;
  network->keys = gantry_bound_reserve (builtin->bound, (guint64) (lines * network->padded) * 8);
  network->numbers = gantry_bound_reserve (builtin->bound, (guint64) (lines * network->padded) * 4);
}

guint32
gantry_network_keys (const GantryNetwork *network, GantryGrid *grid)
{
  return gantry_grid_array (grid, GANTRY_SPACE_WORKSPACE, GANTRY_U64, (guint64) (network->lines * network->padded), network->keys, "keys");
}

guint32
gantry_network_numbers (const GantryNetwork *network, GantryGrid *grid)
{
  return gantry_grid_array (grid, GANTRY_SPACE_WORKSPACE, GANTRY_U32, (guint64) (network->lines * network->padded), network->numbers, "numbers");
}

GantryGrid *
gantry_network_begin (const GantryNetwork *network, GantryBuiltin *builtin, guint32 *line, guint32 *number)
{
  guint32 index;
  GantryGrid *grid = gantry_builtin_begin (builtin, network->lines * network->padded, &index);

  *line = gantry_index_divide (grid->kx, index, network->padded);
  *number = gantry_index_remainder (grid->kx, index, network->padded);
  return grid;
}

/* Pairs beyond the length have the largest key and larger numbers than all others of that key. */
void
gantry_network_set (const GantryNetwork *network, GantryGrid *grid, guint32 line, guint32 number, guint32 key)
{
  guint32 at = gantry_index_sum (grid->kx, line, network->padded, number, 1);
  guint32 used = gantry_index_below (grid->kx, number, network->length);

  gantry_grid_set (grid, gantry_network_keys (network, grid), at, gantry_kx_select (grid->kx, used, key, gantry_builtin_u64 (grid, G_MAXUINT64)));
  gantry_grid_set (grid, gantry_network_numbers (network, grid), at, gantry_kx_cast (grid->kx, GANTRY_U32, number));
}

/* Puts two pairs in order. */
static void
exchange (GantryGrid *grid, guint32 keys, guint32 numbers, guint32 low, guint32 high, guint32 ascending)
{
  GantryKx *kx = grid->kx;
  guint32 a = gantry_grid_get (grid, keys, low), b = gantry_grid_get (grid, keys, high);
  guint32 m = gantry_grid_get (grid, numbers, low), n = gantry_grid_get (grid, numbers, high);
  guint32 later = gantry_builtin_and (grid, gantry_builtin_compare (grid, GANTRY_EQ, a, b), gantry_builtin_compare (grid, GANTRY_GT, m, n));
  guint32 greater = gantry_kx_binary (kx, GANTRY_BOOL, GANTRY_OP_OR, 0, gantry_builtin_compare (grid, GANTRY_GT, a, b), later);

  gantry_grid_begin_if (grid, gantry_kx_select (kx, ascending, greater, gantry_kx_unary (kx, GANTRY_BOOL, GANTRY_OP_NOT, greater)));
  gantry_grid_set (grid, keys, low, b);
  gantry_grid_set (grid, keys, high, a);
  gantry_grid_set (grid, numbers, low, n);
  gantry_grid_set (grid, numbers, high, m);
  gantry_grid_end (grid);
}

/* A step between pairs that are far apart: in global memory. */
static void
far_step (const GantryNetwork *network, GantryBuiltin *builtin, gint64 run, gint64 distance)
{
  guint32 index, line, rest, low;
  GantryGrid *grid = gantry_builtin_begin (builtin, network->lines * network->padded / 2, &index);
  guint32 ascending;

  line = gantry_index_divide (grid->kx, index, network->padded / 2);
  rest = gantry_index_remainder (grid->kx, index, network->padded / 2);
  low = gantry_index_sum (grid->kx, gantry_index_divide (grid->kx, rest, distance), 2 * distance, gantry_index_remainder (grid->kx, rest, distance), 1);
  ascending = gantry_builtin_compare (grid, GANTRY_EQ, gantry_index_remainder (grid->kx, gantry_index_divide (grid->kx, low, run), 2),
                                      gantry_index_const (grid->kx, 0));
  low = gantry_index_sum (grid->kx, line, network->padded, low, 1);
  exchange (grid, gantry_network_keys (network, grid), gantry_network_numbers (network, grid), low, gantry_index_shift (grid->kx, low, distance), ascending);
  gantry_builtin_end (grid);
}

typedef struct
{
  GantryGrid *grid;
  guint32 thread, first; /* nodes: of the block; place in its line of the block's first pair */
  guint32 keys, numbers; /* shared */
} Near;

/* A step within the block. @distance and @run are nodes, powers of two. */
static void
near_step (const Near *near, guint32 distance, guint32 run)
{
  GantryGrid *grid = near->grid;
  guint32 one = gantry_index_const (grid->kx, 1), mask = gantry_builtin_op (grid, GANTRY_OP_SUBTRACT, distance, one);
  guint32 below = gantry_builtin_op (grid, GANTRY_OP_AND, near->thread, mask);
  guint32 low = gantry_grid_let (grid, gantry_index_sum (grid->kx, near->thread, 2, below, -1));
  guint32 bit = gantry_builtin_op (grid, GANTRY_OP_AND, gantry_index_sum (grid->kx, near->first, 1, low, 1), run);

  exchange (grid, near->keys, near->numbers, low, gantry_index_sum (grid->kx, low, 1, distance, 1),
            gantry_builtin_compare (grid, GANTRY_EQ, bit, gantry_index_const (grid->kx, 0)));
  gantry_grid_barrier (grid);
}

static guint
log2_of (gint64 n)
{
  return (guint) g_bit_storage ((gulong) n) - 1;
}

static guint32
power (GantryGrid *grid, guint32 exponent)
{
  return gantry_grid_let (grid, gantry_builtin_op (grid, GANTRY_OP_SHIFT_LEFT, gantry_index_const (grid->kx, 1), exponent));
}

/* From @keys and @numbers of the workspace into shared memory, or back. */
static void
move (const Near *near, guint32 keys, guint32 numbers, guint32 base, gint64 half, gboolean back)
{
  GantryGrid *grid = near->grid;

  for (guint i = 0; i < 2; i++)
    {
      guint32 at = gantry_index_shift (grid->kx, near->thread, i * half);
      guint32 far = gantry_index_sum (grid->kx, base, 1, at, 1);

      gantry_grid_set (grid, back ? keys : near->keys, back ? far : at, gantry_grid_get (grid, back ? near->keys : keys, back ? at : far));
      gantry_grid_set (grid, back ? numbers : near->numbers, back ? far : at, gantry_grid_get (grid, back ? near->numbers : numbers, back ? at : far));
    }
  if (!back)
    gantry_grid_barrier (grid);
}

/* Runs of 2, 4 ... @chunk, when @run is 0; else the steps below a chunk's length for runs of @run. */
static void
near_steps (const GantryNetwork *network, GantryBuiltin *builtin, gint64 chunk, gint64 run)
{
  Near near;
  guint32 block, base, keys, numbers, i, j;

  near.grid = gantry_builtin_begin_blocks (builtin, network->lines * network->padded / chunk, (guint) chunk / 2, &block, &near.thread);
  base = gantry_index_scale (near.grid->kx, block, chunk);
  near.first = gantry_index_remainder (near.grid->kx, base, network->padded);
  near.keys = gantry_grid_array (near.grid, GANTRY_SPACE_SHARED, GANTRY_U64, (guint64) chunk, 0, "block_keys");
  near.numbers = gantry_grid_array (near.grid, GANTRY_SPACE_SHARED, GANTRY_U32, (guint64) chunk, 0, "block_numbers");
  keys = gantry_network_keys (network, near.grid);
  numbers = gantry_network_numbers (network, near.grid);
  move (&near, keys, numbers, base, chunk / 2, FALSE);
  if (run == 0)
    {
      i = gantry_grid_begin_for (near.grid, gantry_index_const (near.grid->kx, 1), gantry_index_const (near.grid->kx, log2_of (chunk) + 1), 1, FALSE);
      j = gantry_grid_begin_for (near.grid, gantry_index_const (near.grid->kx, 0), i, 1, FALSE);
      near_step (&near, power (near.grid, gantry_kx_linear (near.grid->kx, -1, (GantryKxTerm[]){ { i, 1 }, { j, -1 } }, 2)), power (near.grid, i));
      gantry_grid_end (near.grid);
      gantry_grid_end (near.grid);
    }
  else
    {
      j = gantry_grid_begin_for_to (near.grid, log2_of (chunk), FALSE);
      near_step (&near, power (near.grid, gantry_kx_linear (near.grid->kx, log2_of (chunk) - 1, (GantryKxTerm[]){ { j, -1 } }, 1)),
                 gantry_index_const (near.grid->kx, run));
      gantry_grid_end (near.grid);
    }
  move (&near, keys, numbers, base, chunk / 2, TRUE);
}

void
gantry_network_sort (const GantryNetwork *network, GantryBuiltin *builtin)
{
  gint64 chunk = MIN (network->padded, CHUNK);

  near_steps (network, builtin, chunk, 0);
  for (gint64 run = 2 * chunk; run <= network->padded; run *= 2)
    {
      for (gint64 distance = run / 2; distance >= chunk; distance /= 2)
        far_step (network, builtin, run, distance);
      near_steps (network, builtin, chunk, run);
    }
}

/* All of them */

GantryBound *
gantry_builtin_bind (const GantryModule *module, const GantryNode *node, const GantryKxInput *inputs, guint n_inputs, const GantryGpu *gpu, GString *why)
{
  g_autoptr (GantryBound) bound = gantry_bound_new ();
  GantryBuiltin builtin = { bound, inputs, n_inputs, gpu };
  gboolean made = FALSE;

  switch (node->op)
    {
    case GANTRY_OP_SORT: made = gantry_builtin_sort (&builtin, module, node, why); break;
    case GANTRY_OP_SCATTER: made = gantry_builtin_scatter (&builtin, module, node, why); break;
    case GANTRY_OP_RNG_BIT_GENERATOR: made = gantry_builtin_random (&builtin, module, node, why); break;
    default: g_string_append (why, "there is no kernel of it for a GPU");
    }
  return made ? g_steal_pointer (&bound) : NULL;
}
