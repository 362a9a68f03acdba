/* SPDX-License-Identifier: Apache-2.0 */
/* Counts bank conflicts of a bound program from its index expressions: shared memory has 32 banks of 4 bytes, and a warp
 * is served in phases of at most 128 bytes (4 bytes of each thread: all 32 threads; 8: 16 threads; 16: 8 threads). */
#include "core/kernels/program/grid.h"

typedef struct
{
  const GantryGrid *grid;
  guint32 thread;
  gboolean last;     /* loops stand at their last value, not at the first */
  gboolean *unknown; /* set where an index depends on what is loaded */
} Place;

static gint64 value_at (const Place *place, guint32 id);

static gint64
axis_at (const Place *place, guint32 variable)
{
  const guint32 *block = place->grid->block;
  const GantryKx *kx = place->grid->kx;

  switch (place->grid->axis[variable])
    {
    case GANTRY_AXIS_THREAD_X: return place->thread % block[0];
    case GANTRY_AXIS_THREAD_Y: return place->thread / block[0] % block[1];
    case GANTRY_AXIS_THREAD_Z: return place->thread / block[0] / block[1];
    case GANTRY_AXIS_LANE: return 0;
    default: return place->last ? kx->ranges[variable].hi : kx->ranges[variable].lo;
    }
}

static gint64
binary_at (const Place *place, const GantryKxNode *node)
{
  gint64 x = value_at (place, node->a), y = value_at (place, node->b);

  switch (node->op)
    {
    case GANTRY_OP_MULTIPLY: return (gint64) ((guint64) x * (guint64) y);
    case GANTRY_OP_DIVIDE: return y > 0 ? x / y : 0;
    case GANTRY_OP_REMAINDER: return y > 0 ? x % y : 0;
    case GANTRY_OP_MAXIMUM: return MAX (x, y);
    case GANTRY_OP_MINIMUM: return MIN (x, y);
    case GANTRY_OP_XOR: return x ^ y;
    case GANTRY_OP_AND: return x & y;
    case GANTRY_OP_OR: return x | y;
    default: *place->unknown = TRUE; return 0;
    }
}

static gint64
value_at (const Place *place, guint32 id)
{
  GantryKx *kx = place->grid->kx;
  GantryKxNode node = *gantry_kx_node (kx, id);
  gint64 sum = node.i;

  switch (node.kind)
    {
    case GANTRY_KX_CONST: return node.i;
    case GANTRY_KX_VALUE: return place->last ? MAX (gantry_kx_range (kx, id).hi, 0) : MAX (gantry_kx_range (kx, id).lo, 0);
    case GANTRY_KX_INDEX: return axis_at (place, node.a);
    case GANTRY_KX_LINEAR:
      for (guint i = 0; i < node.c; i++)
        {
          GantryKxTerm term = gantry_kx_terms (kx, &node)[i];

          sum = (gint64) ((guint64) sum + (guint64) term.factor * (guint64) value_at (place, term.node));
        }
      return sum;
    case GANTRY_KX_BINARY: return binary_at (place, &node);
    default: *place->unknown = TRUE; return 0;
    }
}

/* How often the busiest bank is asked for different words in the worst phase of a warp. */
static guint
worst_phase (const GantryGrid *grid, guint32 index, guint size, guint bytes, guint32 warp, gboolean last, gboolean *unknown)
{
  guint threads = bytes >= 16 ? 8 : bytes == 8 ? 16 : 32, worst = 0;

  for (guint first = 0; first < 32; first += threads)
    {
      gint64 words[32][32];
      guint n[32] = { 0 };

      for (guint i = 0; i < threads; i++)
        {
          Place place = { grid, warp * 32 + first + i, last, unknown };
          gint64 at = value_at (&place, index) * size;

          for (gint64 word = at / 4; word <= (at + bytes - 1) / 4 && !*unknown; word++)
            {
              guint bank = (guint) (word & 31), k = 0;

              while (k < n[bank] && words[bank][k] != word)
                k++;
              if (k == n[bank])
                words[bank][n[bank]++] = word;
              worst = MAX (worst, n[bank]);
            }
        }
    }
  return worst;
}

guint
gantry_grid_bank_conflicts (const GantryGrid *grid, GantryGridKind kind)
{
  guint worst = 0, n_warps = grid->block[0] * grid->block[1] * grid->block[2] / 32;

  for (guint i = 0; i < grid->statements->len; i++)
    {
      const GantryGridStatement *s = &g_array_index (grid->statements, GantryGridStatement, i);
      const GantryGridArray *array;
      guint size;

      if (s->kind != kind)
        continue;
      array = &g_array_index (grid->arrays, GantryGridArray, s->array);
      if (array->space != GANTRY_SPACE_SHARED)
        continue;
      size = (guint) gantry_element_size (array->element);
      for (guint warp = 0; warp < n_warps; warp++)
        for (guint last = 0; last < 2; last++)
          {
            guint bytes = kind == GANTRY_GRID_MATRIX_LOAD ? 16 : size * s->lanes;
            gboolean unknown = FALSE;
            guint words = worst_phase (grid, s->b, size, bytes, warp, last, &unknown);

            worst = unknown ? worst : MAX (worst, words);
          }
    }
  return worst;
}
