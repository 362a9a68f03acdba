/* SPDX-License-Identifier: Apache-2.0 */
/* Counts bank conflicts of a bound program from its index expressions: shared memory has 32 banks of 4 bytes, and a warp
 * is served in phases of at most 128 bytes (4 bytes of each thread: all 32 threads; 8: 16 threads; 16: 8 threads). */
#include "tests/core/kernels/test-contraction-run.h"

typedef struct
{
  const GantryGrid *grid;
  guint32 thread;
  gboolean last; /* loops stand at their last value, not at the first */
} Place;

static gint64
value_at (const Place *place, guint32 id)
{
  GantryKx *kx = place->grid->kx;
  GantryKxNode node = *gantry_kx_node (kx, id);
  gint64 sum = node.i, x, y;

  switch (node.kind)
    {
    case GANTRY_KX_CONST:
      return node.i;
    case GANTRY_KX_VALUE:
      return place->last ? MAX (gantry_kx_range (kx, id).hi, 0) : MAX (gantry_kx_range (kx, id).lo, 0);
    case GANTRY_KX_INDEX:
      if (place->grid->axis[node.a] == GANTRY_AXIS_THREAD_X)
        return place->thread;
      if (place->grid->axis[node.a] == GANTRY_AXIS_LANE)
        return 0;
      return place->last ? kx->ranges[node.a].hi : kx->ranges[node.a].lo;
    case GANTRY_KX_LINEAR:
      for (guint i = 0; i < node.c; i++)
        {
          GantryKxTerm term = gantry_kx_terms (kx, &node)[i];

          sum += term.factor * value_at (place, term.node);
        }
      return sum;
    case GANTRY_KX_BINARY:
      x = value_at (place, node.a);
      y = value_at (place, node.b);
      switch (node.op)
        {
        case GANTRY_OP_DIVIDE: return x / y;
        case GANTRY_OP_REMAINDER: return x % y;
        case GANTRY_OP_MAXIMUM: return MAX (x, y);
        case GANTRY_OP_MINIMUM: return MIN (x, y);
        case GANTRY_OP_XOR: return x ^ y;
        default: break;
        }
      break;
    default:
      break;
    }
  g_error ("an index is made of a node of kind %u", node.kind);
}

/* How often the busiest bank is asked for different words in the worst phase of a warp. */
static guint
worst_phase (const GantryGrid *grid, guint32 index, guint size, guint bytes, guint32 warp, gboolean last)
{
  guint threads = bytes >= 16 ? 8 : bytes == 8 ? 16 : 32, worst = 0;

  for (guint first = 0; first < 32; first += threads)
    {
      gint64 words[32][32];
      guint n[32] = { 0 };

      for (guint i = 0; i < threads; i++)
        {
          Place place = { grid, warp * 32 + first + i, last };
          gint64 at = value_at (&place, index) * size;

          for (gint64 word = at / 4; word <= (at + bytes - 1) / 4; word++)
            {
              guint bank = (guint) (word % 32), k = 0;

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
contraction_bank_conflicts (const GantryGrid *grid, GantryGridKind kind)
{
  guint worst = 0, n_warps = grid->block[0] / 32;

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
          worst = MAX (worst, worst_phase (grid, s->b, size, kind == GANTRY_GRID_MATRIX_LOAD ? 16 : size * s->lanes, warp, last));
    }
  return worst;
}
