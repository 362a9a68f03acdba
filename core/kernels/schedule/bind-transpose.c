/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule for transpositions: results that lie along one variable while some operand lies along another. A block
 * takes a square tile of both; what would be read across is read along the operand into shared memory and taken
 * from there, so that both sides of the memory are touched in whole lines. */
#include "core/kernels/schedule/bind.h"
#include <string.h>

#define TILE 32
#define THREAD_ROWS 8
#define MIN_EXTENT 8 /* a thinner tile is not worth the way through shared memory */
#define MAX_STAGED 4 /* operands that are staged in shared memory at once */

typedef struct
{
  GantryKx *kx;
  GantryGrid *grid;
  guint along, across; /* the results' innermost variable; the staged operands' */
  guint n_staged;
  guint32 staged[MAX_STAGED];            /* loads */
  guint32 tiles[MAX_STAGED];             /* shared arrays */
  guint32 rest[GANTRY_KX_MAX_VARS];      /* substitution of the other variables */
  guint32 tile_along, tile_across, x, y; /* nodes */
} Transpose;

/* The variable that the results' address steps along by one, else -1. */
static gint
innermost (const GantryKx *kx)
{
  const GantryKxNode *address = gantry_kx_node (kx, kx->roots[0].address);

  if (address->kind != GANTRY_KX_LINEAR)
    return -1;
  for (guint v = 0; v < kx->n_vars; v++)
    {
      gboolean other;

      if (kx->result_vars >> v & 1 && kx->extents[v] >= MIN_EXTENT && gantry_kx_factor_of (kx, address, v, &other) == 1 && !other)
        return (gint) v;
    }
  return -1;
}

static gboolean
is_across (const GantryKx *kx, const GantryKxNode *load, guint along, guint across)
{
  gboolean other_along, other_across;

  return gantry_kx_factor_of (kx, load, across, &other_across) == 1 && ABS (gantry_kx_factor_of (kx, load, along, &other_along)) > 1 && !other_along
         && !other_across;
}

/* Loads that lie along @across. */
static guint
find_staged (const GantryKx *kx, guint along, guint across, guint32 *staged)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);
  guint n = 0;

  for (guint32 id = 0; id < kx->nodes->len; id++)
    {
      const GantryKxNode *node = gantry_kx_node (kx, id);

      if (!needed[id])
        continue;
      if (node->kind == GANTRY_KX_REDUCE)
        return 0;
      if (node->kind == GANTRY_KX_LOAD && n < MAX_STAGED && is_across (kx, node, along, across))
        staged[n++] = id;
    }
  return n;
}

static gboolean
find_transpose (Transpose *transpose)
{
  const GantryKx *kx = transpose->kx;
  gint along = innermost (kx);

  for (guint v = 0; along >= 0 && v < kx->n_vars; v++)
    {
      guint32 staged[MAX_STAGED];
      guint n;

      if (!(kx->result_vars >> v & 1) || v == (guint) along || kx->extents[v] < MIN_EXTENT)
        continue;
      n = find_staged (kx, (guint) along, v, staged);
      if (n <= transpose->n_staged)
        continue;
      transpose->n_staged = n;
      memcpy (transpose->staged, staged, sizeof staged);
      transpose->across = v;
    }
  transpose->along = (guint) MAX (along, 0);
  return transpose->n_staged > 0;
}

static gint64
tiles_of (const GantryKx *kx, guint v)
{
  return (kx->extents[v] + TILE - 1) / TILE;
}

static gboolean
begin_launch (Transpose *transpose, GantryBound *bound)
{
  GantryKx *kx = transpose->kx;
  gint64 n = tiles_of (kx, transpose->along) * tiles_of (kx, transpose->across);
  guint32 grid[3] = { 1, 1, 1 }, block[3] = { TILE, THREAD_ROWS, 1 }, at;
  guint others[GANTRY_KX_MAX_VARS], n_others = 0;

  for (guint v = 0; v < kx->n_vars; v++)
    if (kx->result_vars >> v & 1 && v != transpose->along && v != transpose->across)
      {
        others[n_others++] = v;
        n *= kx->extents[v];
      }
  if (n >= G_MAXINT32)
    return FALSE;
  grid[0] = (guint32) n;
  transpose->grid = gantry_bound_add (bound, kx, grid, block);
  at = gantry_grid_index (transpose->grid, GANTRY_AXIS_BLOCK_X, n);
  transpose->x = gantry_grid_index (transpose->grid, GANTRY_AXIS_THREAD_X, TILE);
  transpose->y = gantry_grid_index (transpose->grid, GANTRY_AXIS_THREAD_Y, THREAD_ROWS);
  transpose->tile_along = gantry_index_remainder (kx, at, tiles_of (kx, transpose->along));
  at = gantry_index_divide (kx, at, tiles_of (kx, transpose->along));
  transpose->tile_across = gantry_index_remainder (kx, at, tiles_of (kx, transpose->across));
  at = gantry_index_divide (kx, at, tiles_of (kx, transpose->across));
  gantry_substitution_clear (transpose->rest);
  gantry_substitution_decode (transpose->rest, kx, at, others, n_others);
  return TRUE;
}

/* Elements from one line of a tile to the next: an odd number of 4-byte words (or of 8-byte ones), so that 32 threads
 * that read a column meet 32 different banks. */
static guint
line_of (GantryElementType element)
{
  switch (gantry_element_size (element))
    {
    case 1: return TILE + 4;
    case 2: return TILE + 2;
    default: return TILE + 1;
    }
}

/* TILE * tile + local, kept below the extent. */
static guint32
place (Transpose *transpose, guint v, guint32 tile, guint32 local, guint32 add)
{
  GantryKx *kx = transpose->kx;
  guint32 at = gantry_kx_linear (kx, add, (GantryKxTerm[]){ { tile, TILE }, { local, 1 } }, 2);

  return kx->extents[v] % TILE == 0 ? at : gantry_index_minimum (kx, at, kx->extents[v] - 1);
}

static void
read_tiles (Transpose *transpose)
{
  GantryKx *kx = transpose->kx;

  for (guint i = 0; i < transpose->n_staged; i++)
    {
      GantryElementType element = gantry_kx_node (kx, transpose->staged[i])->type;

      transpose->tiles[i] = gantry_grid_array (transpose->grid, GANTRY_SPACE_SHARED, element, (guint64) TILE * line_of (element), 0, "tile");
      for (guint k = 0; k < TILE; k += THREAD_ROWS)
        {
          GantryKxRoot load = { .value = transpose->staged[i], .address = transpose->staged[i] };
          guint32 line = gantry_kx_linear (kx, (gint64) k * line_of (element), (GantryKxTerm[]){ { transpose->y, line_of (element) }, { transpose->x, 1 } }, 2);

          transpose->rest[transpose->across] = place (transpose, transpose->across, transpose->tile_across, transpose->x, 0);
          transpose->rest[transpose->along] = place (transpose, transpose->along, transpose->tile_along, transpose->y, k);
          gantry_kx_rebuild (kx, transpose->rest, &load, 1);
          gantry_grid_set (transpose->grid, transpose->tiles[i], line, load.value);
        }
    }
  gantry_grid_barrier (transpose->grid);
}

static guint32
inside (Transpose *transpose, guint32 k)
{
  GantryKx *kx = transpose->kx;
  guint32 along = gantry_index_sum (kx, transpose->tile_along, TILE, transpose->x, 1);
  guint32 across = gantry_kx_linear (kx, k, (GantryKxTerm[]){ { transpose->tile_across, TILE }, { transpose->y, 1 } }, 2);

  return gantry_kx_binary (kx, GANTRY_BOOL, GANTRY_OP_AND, 0, gantry_index_below (kx, along, kx->extents[transpose->along]),
                           gantry_index_below (kx, across, kx->extents[transpose->across]));
}

/* The results of one line of threads: staged loads are taken from their tiles. */
static void
write_line (Transpose *transpose, guint k, const guint32 *results)
{
  GantryKx *kx = transpose->kx;
  GantryKxRoot *kept = kx->roots, load;
  guint32 condition = inside (transpose, k);
  const GantryKxNode *known = gantry_kx_node (kx, condition);
  gboolean whole = known->kind == GANTRY_KX_CONST;

  /* Where all lines of threads from @k on lie outside there is nothing to write. */
  if (whole && known->i == 0)
    return;
  if (!whole)
    gantry_grid_begin_if (transpose->grid, condition);
  transpose->rest[transpose->along] = place (transpose, transpose->along, transpose->tile_along, transpose->x, 0);
  transpose->rest[transpose->across] = place (transpose, transpose->across, transpose->tile_across, transpose->y, k);
  kx->roots = g_memdup2 (kept, kx->n_roots * sizeof *kept);
  gantry_kx_rebuild (kx, transpose->rest, kx->roots, kx->n_roots);
  for (guint i = 0; i < transpose->n_staged; i++)
    {
      GantryElementType element = gantry_kx_node (kx, transpose->staged[i])->type;

      load = (GantryKxRoot){ .value = transpose->staged[i], .address = transpose->staged[i] };
      gantry_kx_rebuild (kx, transpose->rest, &load, 1);
      gantry_kx_replace (kx, load.value,
                         gantry_grid_get (transpose->grid, transpose->tiles[i],
                                          gantry_kx_linear (kx, k, (GantryKxTerm[]){ { transpose->x, line_of (element) }, { transpose->y, 1 } }, 2)));
    }
  for (guint i = 0; i < kx->n_roots; i++)
    gantry_grid_set (transpose->grid, results[i], kx->roots[i].address, kx->roots[i].value);
  g_free (kx->roots);
  kx->roots = kept;
  if (!whole)
    gantry_grid_end (transpose->grid);
}

gboolean
gantry_bind_transpose (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu)
{
  Transpose transpose = { .kx = kx };
  g_autofree guint32 *results = NULL;

  if (!find_transpose (&transpose) || !begin_launch (&transpose, bound))
    return FALSE;
  results = g_new (guint32, kx->n_roots);
  for (guint i = 0; i < kx->n_roots; i++)
    results[i] = gantry_grid_result_array (transpose.grid, &kx->roots[i]);
  read_tiles (&transpose);
  for (guint k = 0; k < TILE; k += THREAD_ROWS)
    write_line (&transpose, k, results);
  return TRUE;
}
