/* SPDX-License-Identifier: Apache-2.0 */
/* Building bound programs. A builder that is used wrongly asserts; what depends on the expression that is bound is
 * judged by gantry_grid_check(). */
#include "core/kernels/program/grid.h"
#include "core/base/error.h"
#include "core/base/integers.h"
#include <string.h>

/* Launches */

static void
grid_free (gpointer data)
{
  GantryGrid *grid = data;

  g_array_unref (grid->arrays);
  g_array_unref (grid->statements);
  g_array_unref (grid->open);
  g_free (grid);
}

GantryBound *
gantry_bound_new (void)
{
  GantryBound *bound = g_new0 (GantryBound, 1);

  bound->expressions = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_kx_free);
  bound->grids = g_ptr_array_new_with_free_func (grid_free);
  return bound;
}

void
gantry_bound_free (GantryBound *bound)
{
  g_ptr_array_unref (bound->grids);
  g_ptr_array_unref (bound->expressions);
  g_free (bound);
}

GantryGrid *
gantry_bound_add (GantryBound *bound, GantryKx *kx, const guint32 grid[3], const guint32 block[3])
{
  GantryGrid *launch = g_new0 (GantryGrid, 1);

  if (!g_ptr_array_find (bound->expressions, kx, NULL))
    g_ptr_array_add (bound->expressions, kx);
  launch->kx = kx;
  for (guint i = 0; i < 3; i++)
    {
      launch->grid[i] = MAX (grid[i], 1);
      launch->block[i] = MAX (block[i], 1);
    }
  launch->arrays = g_array_new (FALSE, TRUE, sizeof (GantryGridArray));
  launch->statements = g_array_new (FALSE, TRUE, sizeof (GantryGridStatement));
  launch->open = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_ptr_array_add (bound->grids, launch);
  return launch;
}

guint64
gantry_bound_reserve (GantryBound *bound, guint64 bytes)
{
  guint64 at = bound->workspace_bytes;

  bound->workspace_bytes = (at + bytes + 255) / 256 * 256;
  return at;
}

/* Variables and arrays */

guint
gantry_grid_variable (GantryGrid *grid, GantryGridAxis axis, gint64 extent)
{
  guint v = gantry_kx_add_variable (grid->kx, extent);

  grid->axis[v] = axis;
  /* What is asked of an address is where its first lane lies. */
  grid->multiple[v] = axis == GANTRY_AXIS_LANE ? 1 << 20 : 1;
  return v;
}

guint32
gantry_grid_index (GantryGrid *grid, GantryGridAxis axis, gint64 extent)
{
  return gantry_kx_index (grid->kx, gantry_grid_variable (grid, axis, extent));
}

guint32
gantry_grid_array (GantryGrid *grid, GantryGridSpace space, GantryElementType element, guint64 count, guint64 slot, const char *name)
{
  GantryGridArray array = { .space = space, .element = element, .count = count, .slot = slot, .name = name };

  g_array_append_val (grid->arrays, array);
  return grid->arrays->len - 1;
}

/* Statements */

static GantryGridStatement *
add (GantryGrid *grid, GantryGridKind kind)
{
  GantryGridStatement statement = { .kind = kind,
                                    .lanes = 1,
                                    .a = GANTRY_GRID_NONE,
                                    .b = GANTRY_GRID_NONE,
                                    .c = GANTRY_GRID_NONE,
                                    .d = GANTRY_GRID_NONE,
                                    .array = GANTRY_GRID_NONE,
                                    .value = GANTRY_GRID_NONE,
                                    .offset_a = GANTRY_GRID_NONE,
                                    .offset_b = GANTRY_GRID_NONE,
                                    .end = GANTRY_GRID_NONE };

  g_array_append_val (grid->statements, statement);
  return &g_array_index (grid->statements, GantryGridStatement, grid->statements->len - 1);
}

static GantryElementType
type_of (const GantryGrid *grid, guint32 node)
{
  return gantry_kx_node (grid->kx, node)->type;
}

static GantryElementType
element_of (const GantryGrid *grid, guint32 array)
{
  g_assert (array < grid->arrays->len);
  return g_array_index (grid->arrays, GantryGridArray, array).element;
}

/* Makes the values that @statement defines, numbered one after the other. */
static void
define (GantryGrid *grid, GantryGridStatement *statement, GantryElementType type, guint32 *values)
{
  statement->element = type;
  for (guint i = 0; i < statement->lanes; i++)
    {
      values[i] = gantry_kx_value (grid->kx, type);
      if (i == 0)
        statement->value = gantry_kx_node (grid->kx, values[0])->a;
    }
}

guint32
gantry_grid_let (GantryGrid *grid, guint32 expression)
{
  GantryKxNode node = *gantry_kx_node (grid->kx, expression);
  GantryGridStatement *statement;
  guint32 value;

  if (node.kind == GANTRY_KX_CONST || node.kind == GANTRY_KX_INDEX || node.kind == GANTRY_KX_VALUE)
    return expression;
  statement = add (grid, GANTRY_GRID_LET);
  statement->a = expression;
  define (grid, statement, node.type, &value);
  if (node.type == GANTRY_I64)
    {
      GantryIndexRange range = gantry_kx_range (grid->kx, expression);

      gantry_kx_assume (grid->kx, value, range.lo, range.hi);
    }
  return value;
}

void
gantry_grid_assume (GantryGrid *grid, guint32 value, gint64 lo, gint64 hi)
{
  gantry_kx_assume (grid->kx, value, lo, hi);
}

void
gantry_grid_set (GantryGrid *grid, guint32 array, guint32 index, guint32 expression)
{
  gantry_grid_set_lanes (grid, array, index, expression, GANTRY_GRID_NONE, 1);
}

void
gantry_grid_set_lanes (GantryGrid *grid, guint32 array, guint32 index, guint32 expression, guint lane, guint lanes)
{
  GantryElementType element = element_of (grid, array);
  GantryGridStatement *statement;

  expression = gantry_kx_cast (grid->kx, element, expression);
  statement = add (grid, GANTRY_GRID_SET);
  statement->array = array;
  statement->b = index;
  statement->a = expression;
  statement->c = lane;
  statement->lanes = lanes;
}

guint32
gantry_grid_get_as (GantryGrid *grid, guint32 array, guint32 index, GantryElementType type)
{
  GantryGridStatement *statement = add (grid, GANTRY_GRID_GET);
  guint32 value;

  statement->array = array;
  statement->b = index;
  define (grid, statement, type, &value);
  return value;
}

guint32
gantry_grid_get (GantryGrid *grid, guint32 array, guint32 index)
{
  return gantry_grid_get_as (grid, array, index, element_of (grid, array));
}

void
gantry_grid_get_lanes (GantryGrid *grid, guint32 array, guint32 index, guint lanes, guint32 *values)
{
  GantryElementType element = element_of (grid, array);
  GantryGridStatement *statement = add (grid, GANTRY_GRID_GET);

  statement->array = array;
  statement->b = index;
  statement->lanes = lanes;
  define (grid, statement, element, values);
}

/* What is known of addresses */

static gint64
multiple (const GantryGrid *grid, guint32 id, guint depth)
{
  const GantryKxNode *node = gantry_kx_node (grid->kx, id);
  gint64 result;

  if (depth == 0)
    return 1;
  switch (node->kind)
    {
    case GANTRY_KX_CONST: return node->i;
    case GANTRY_KX_INDEX: return MAX (grid->multiple[node->a], 1);
    case GANTRY_KX_LINEAR:
    case GANTRY_KX_LOAD: /* asked for by its address */
      result = node->i;
      for (guint i = 0; i < node->c; i++)
        {
          GantryKxTerm term = gantry_kx_terms (grid->kx, node)[i];

          /* A power of two is what is asked for, and large ones alike. */
          result = gantry_greatest_divisor (result, gantry_greatest_divisor (multiple (grid, term.node, depth - 1), 1 << 20)
                                                      * (gantry_greatest_divisor (term.factor, 1 << 20)));
        }
      return result;
    case GANTRY_KX_BINARY:
      if (node->op == GANTRY_OP_MAXIMUM || node->op == GANTRY_OP_MINIMUM)
        return gantry_greatest_divisor (multiple (grid, node->a, depth - 1), multiple (grid, node->b, depth - 1));
      if (node->op == GANTRY_OP_MULTIPLY)
        return gantry_greatest_divisor (multiple (grid, node->a, depth - 1), 1 << 20) * gantry_greatest_divisor (multiple (grid, node->b, depth - 1), 1 << 20);
      return 1;
    case GANTRY_KX_SELECT: return gantry_greatest_divisor (multiple (grid, node->b, depth - 1), multiple (grid, node->c, depth - 1));
    default: return 1;
    }
}

gint64
gantry_grid_multiple (const GantryGrid *grid, guint32 node)
{
  return multiple (grid, node, 6);
}

/* Control flow */

static void
open_here (GantryGrid *grid)
{
  guint32 at = grid->statements->len - 1;

  g_array_append_val (grid->open, at);
}

guint32
gantry_grid_begin_for (GantryGrid *grid, guint32 lo, guint32 hi, gint64 step, gboolean unroll)
{
  GantryIndexRange from = gantry_kx_range (grid->kx, lo), to = gantry_kx_range (grid->kx, hi);
  guint v = gantry_grid_variable (grid, GANTRY_AXIS_LOOP, 1);
  GantryGridStatement *statement;

  g_assert (step > 0);
  grid->kx->extents[v] = MAX (to.hi, 1);
  grid->multiple[v] = gantry_greatest_divisor (gantry_grid_multiple (grid, lo), step);
  if (from.lo == from.hi && to.hi > from.lo && gantry_index_range_is_known (to) && gantry_index_range_is_known (from))
    to.hi = (gint64) (from.lo + ((__int128) to.hi - 1 - from.lo) / step * step + 1);
  gantry_kx_set_range (grid->kx, v, from.lo, MAX (to.hi - 1, from.lo));
  statement = add (grid, GANTRY_GRID_FOR);
  statement->a = lo;
  statement->b = hi;
  statement->c = v;
  statement->step = step;
  statement->unroll = unroll;
  open_here (grid);
  return gantry_kx_index (grid->kx, v);
}

void
gantry_grid_begin_for_axis (GantryGrid *grid, guint variable, gboolean unroll)
{
  GantryGridStatement *statement;

  g_assert (grid->axis[variable] == GANTRY_AXIS_NONE || grid->axis[variable] == GANTRY_AXIS_LOOP);
  grid->axis[variable] = GANTRY_AXIS_LOOP;
  grid->multiple[variable] = 1;
  statement = add (grid, GANTRY_GRID_FOR);
  statement->a = gantry_kx_const_int (grid->kx, GANTRY_I64, 0);
  statement->b = gantry_kx_const_int (grid->kx, GANTRY_I64, grid->kx->extents[variable]);
  statement->c = variable;
  statement->step = 1;
  statement->unroll = unroll;
  open_here (grid);
}

guint32
gantry_grid_begin_for_to (GantryGrid *grid, gint64 n, gboolean unroll)
{
  return gantry_grid_begin_for (grid, gantry_kx_const_int (grid->kx, GANTRY_I64, 0), gantry_kx_const_int (grid->kx, GANTRY_I64, n), 1, unroll);
}

void
gantry_grid_begin_if (GantryGrid *grid, guint32 condition)
{
  add (grid, GANTRY_GRID_IF)->a = condition;
  open_here (grid);
}

static GantryGridStatement *
close_last (GantryGrid *grid)
{
  guint32 at;

  g_assert (grid->open->len > 0);
  at = g_array_index (grid->open, guint32, grid->open->len - 1);
  g_array_set_size (grid->open, grid->open->len - 1);
  return &g_array_index (grid->statements, GantryGridStatement, at);
}

void
gantry_grid_begin_else (GantryGrid *grid)
{
  GantryGridStatement *opened;

  add (grid, GANTRY_GRID_ELSE);
  opened = close_last (grid);
  g_assert (opened->kind == GANTRY_GRID_IF);
  opened->end = grid->statements->len - 1;
  open_here (grid);
}

void
gantry_grid_end (GantryGrid *grid)
{
  add (grid, GANTRY_GRID_END);
  close_last (grid)->end = grid->statements->len - 1;
}

/* What threads do together */

void
gantry_grid_barrier (GantryGrid *grid)
{
  add (grid, GANTRY_GRID_BARRIER);
}

guint32
gantry_grid_shuffle (GantryGrid *grid, guint32 expression, guint32 mask)
{
  GantryGridStatement *statement = add (grid, GANTRY_GRID_SHUFFLE);
  guint32 value;

  statement->a = expression;
  statement->mask = mask;
  define (grid, statement, type_of (grid, expression), &value);
  return value;
}

void
gantry_grid_fetch (GantryGrid *grid, guint32 array, guint32 index, guint input, guint32 address, guint32 predicate, guint lanes)
{
  GantryGridStatement *statement = add (grid, GANTRY_GRID_FETCH);

  statement->array = array;
  statement->b = index;
  statement->d = input;
  statement->a = address;
  statement->c = predicate;
  statement->lanes = lanes;
}

void
gantry_grid_fetch_cached (GantryGrid *grid)
{
  GantryGridStatement *last = &g_array_index (grid->statements, GantryGridStatement, grid->statements->len - 1);

  g_return_if_fail (last->kind == GANTRY_GRID_FETCH);
  last->shape |= 2;
}

void
gantry_grid_fetch_workspace (GantryGrid *grid, guint32 array, guint32 index, guint32 from, guint32 at, guint lanes)
{
  gantry_grid_fetch (grid, array, index, from, at, GANTRY_GRID_NONE, lanes);
  g_array_index (grid->statements, GantryGridStatement, grid->statements->len - 1).shape = 1;
}

void
gantry_grid_commit (GantryGrid *grid)
{
  add (grid, GANTRY_GRID_COMMIT);
}

void
gantry_grid_await (GantryGrid *grid, guint32 groups)
{
  add (grid, GANTRY_GRID_AWAIT)->mask = groups;
}

void
gantry_grid_matrix_load (GantryGrid *grid, guint32 to, guint32 offset, guint32 shared, guint32 index, guint matrices, gboolean transposed)
{
  GantryGridStatement *statement = add (grid, GANTRY_GRID_MATRIX_LOAD);

  statement->c = to;
  statement->offset_a = offset;
  statement->array = shared;
  statement->b = index;
  statement->shape = matrices | (transposed ? 0x80 : 0);
}

void
gantry_grid_mma (GantryGrid *grid, GantryMmaShape shape, guint32 d, guint32 d_offset, guint32 a, guint32 a_offset, guint32 b, guint32 b_offset)
{
  GantryGridStatement *statement = add (grid, GANTRY_GRID_MMA);

  statement->shape = shape;
  statement->array = d;
  statement->b = d_offset;
  statement->c = a;
  statement->offset_a = a_offset;
  statement->d = b;
  statement->offset_b = b_offset;
}

void
gantry_grid_fence (GantryGrid *grid)
{
  add (grid, GANTRY_GRID_FENCE);
}

void
gantry_grid_wgmma (GantryGrid *grid, guint32 d, guint columns, guint32 a, guint32 a_index, gboolean a_transposed, guint32 b, guint32 b_index,
                   gboolean b_transposed, guint left)
{
  GantryGridStatement *statement = add (grid, GANTRY_GRID_WGMMA);

  statement->array = d;
  statement->step = columns;
  statement->c = a;
  statement->offset_a = a_index;
  statement->d = b;
  statement->offset_b = b_index;
  statement->shape = (a_transposed ? 1 : 0) | (b_transposed ? 2 : 0);
  statement->mask = left;
}

void
gantry_grid_wgmma_await (GantryGrid *grid, guint32 d, guint columns)
{
  GantryGridStatement *statement = add (grid, GANTRY_GRID_WGMMA_AWAIT);

  statement->array = d;
  statement->step = columns;
}

guint64
gantry_grid_shared_bytes (const GantryGrid *grid)
{
  guint64 bytes = 0;

  for (guint i = 0; i < grid->arrays->len; i++)
    {
      const GantryGridArray *array = &g_array_index (grid->arrays, GantryGridArray, i);

      if (array->space == GANTRY_SPACE_SHARED)
        bytes += (array->count * gantry_element_size (array->element) + 127) / 128 * 128;
    }
  return bytes;
}

/* GPUs */

gboolean
gantry_gpu_init (GantryGpu *gpu, const char *arch, GError **error)
{
  /* The most shared memory of a block. */
  static const GantryGpu known[] = {
    { .arch = "sm_80", .capability = 80, .shared_bytes = 163 * 1024 },
    { .arch = "sm_90", .capability = 90, .shared_bytes = 227 * 1024 },
    { .arch = "sm_90a", .capability = 90, .has_wgmma = TRUE, .shared_bytes = 227 * 1024 },
    { .arch = "sm_100", .capability = 100, .shared_bytes = 227 * 1024 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_str_equal (arch, known[i].arch))
      {
        *gpu = known[i];
        gpu->model = gantry_gpu_model (arch);
        gpu->n_multiprocessors = gpu->model->n_multiprocessors;
        gpu->launch_us = GANTRY_GPU_LAUNCH_US;
        return TRUE;
      }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "no code can be made for the GPU architecture %s: known are sm_80, sm_90, sm_90a and sm_100",
               arch);
  return FALSE;
}
