/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter on a GPU, bit for bit as one thread after the other would do it: what goes to one place comes in the order of
 * the updates, without atomic operations.
 *
 * Some window dimensions of the updates are *free*: the input dimension that they run along has no other index, so
 * updates that differ there never meet. The others are *items*. Where the items are few, a thread for each free
 * coordinate goes through them. Else the items are sorted by the place that they go to, and a thread for each run of
 * equal places (and free coordinate) goes through the run. */
#include "core/kernels/builtin/grid-private.h"

#define FEW_ITEMS 64
#define NOWHERE G_MAXUINT64

typedef struct
{
  GantryBuiltin *builtin;
  GantryScatter s;
  gint64 update_strides[GANTRY_MAX_RANK];
  gboolean is_free[GANTRY_MAX_RANK]; /* per update dimension */
  gint64 n_free, n_items;
} Work;

static void
split_dimensions (Work *w)
{
  const GantryScatter *s = &w->s;
  gint64 stride = 1;

  for (guint u = s->update_rank; u-- > 0; stride *= s->update_dims[u])
    w->update_strides[u] = stride;
  for (guint d = 0; d < s->rank; d++)
    {
      gint64 u = s->window_of[d];

      if (u >= 0 && s->component_of[d] < 0 && s->update_dims[u] <= s->dims[d])
        w->is_free[u] = TRUE;
    }
  w->n_free = w->n_items = 1;
  for (guint u = 0; u < s->update_rank; u++)
    *(w->is_free[u] ? &w->n_free : &w->n_items) *= s->update_dims[u];
}

/* The coordinates that number @flat has among the free dimensions, or among the items'. */
static void
coordinates (const Work *w, GantryGrid *grid, guint32 flat, gboolean of_free, guint32 *at)
{
  for (guint u = w->s.update_rank; u-- > 0;)
    {
      gint64 size = w->s.update_dims[u];

      if (w->is_free[u] != of_free)
        continue;
      at[u] = gantry_index_remainder (grid->kx, flat, size);
      flat = gantry_index_divide (grid->kx, flat, size);
    }
}

/* Where the item at @at goes, the free dimensions left out, as a node of type u64: NOWHERE when it is out of bounds. */
static guint32
place_of_item (const Work *w, GantryGrid *grid, const guint32 *at)
{
  const GantryScatter *s = &w->s;
  GantryKx *kx = grid->kx;
  guint32 row = gantry_index_const (grid->kx, 0), place = row, inside = gantry_kx_const_int (kx, GANTRY_BOOL, TRUE);

  for (guint u = 0; u < s->update_rank; u++)
    if (!w->is_free[u] && s->index_strides[u] != 0)
      row = gantry_index_sum (grid->kx, row, 1, at[u], s->index_strides[u]);
  for (guint d = 0; d < s->rank; d++)
    {
      gint64 u = s->window_of[d] >= 0 ? s->window_of[d] : s->batch_of[d];
      guint32 start = u >= 0 && !w->is_free[u] ? at[u] : gantry_index_const (grid->kx, 0);

      if (u >= 0 && w->is_free[u])
        continue;
      if (s->component_of[d] >= 0)
        {
          guint32 index = gantry_kx_load (kx, 1, gantry_index_shift (grid->kx, row, s->component_of[d] * s->component_stride));

          /* An index that only an unsigned number can say is none. */
          index = gantry_grid_let (grid, gantry_kx_cast (kx, GANTRY_I64, index));
          if (s->index_element == GANTRY_U64)
            inside = gantry_builtin_and (grid, inside, gantry_builtin_compare (grid, GANTRY_GE, index, gantry_index_const (grid->kx, 0)));
          start = s->window_of[d] >= 0 ? gantry_index_sum (grid->kx, index, 1, start, 1) : index;
        }
      inside = gantry_builtin_and (grid, inside, gantry_builtin_compare (grid, GANTRY_GE, start, gantry_index_const (grid->kx, 0)));
      inside = gantry_builtin_and (grid, inside, gantry_index_below (grid->kx, start, s->dims[d]));
      place = gantry_index_sum (grid->kx, place, 1, start, s->strides[d]);
    }
  return gantry_kx_select (kx, inside, gantry_kx_cast (kx, GANTRY_U64, place), gantry_builtin_u64 (grid, NOWHERE));
}

/* What the free coordinates add to the place in the input. */
static guint32
place_of_free (const Work *w, GantryGrid *grid, const guint32 *at)
{
  const GantryScatter *s = &w->s;
  guint32 place = gantry_index_const (grid->kx, 0);

  for (guint d = 0; d < s->rank; d++)
    {
      gint64 u = s->window_of[d] >= 0 ? s->window_of[d] : s->batch_of[d];

      if (u >= 0 && w->is_free[u])
        place = gantry_index_sum (grid->kx, place, 1, at[u], s->strides[d]);
    }
  return place;
}

static guint32
update_at (const Work *w, GantryGrid *grid, const guint32 *at)
{
  guint32 place = gantry_index_const (grid->kx, 0);

  for (guint u = 0; u < w->s.update_rank; u++)
    place = gantry_index_sum (grid->kx, place, 1, at[u], w->update_strides[u]);
  return gantry_kx_load (grid->kx, 2, place);
}

static guint32
combined (const Work *w, GantryGrid *grid, guint32 old, guint32 update)
{
  switch (w->s.op)
    {
    case GANTRY_OP_NONE: return update;
    case GANTRY_OP_ADD:
    case GANTRY_OP_MULTIPLY:
      if (w->s.element == GANTRY_BOOL)
        return gantry_builtin_op (grid, w->s.op == GANTRY_OP_ADD ? GANTRY_OP_OR : GANTRY_OP_AND, old, update);
      return gantry_builtin_op (grid, w->s.op, old, update);
    default:
      if (w->s.element == GANTRY_BOOL)
        return gantry_builtin_op (grid, w->s.op == GANTRY_OP_MAXIMUM ? GANTRY_OP_OR : GANTRY_OP_AND, old, update);
      return gantry_builtin_op (grid, w->s.op, old, update);
    }
}

static guint32
result_array (const Work *w, GantryGrid *grid)
{
  return gantry_grid_array (grid, GANTRY_SPACE_RESULT, w->s.element, (guint64) w->s.n_elements, 0, "result");
}

/* The value is rounded to its type after each update, as it is in memory. */
static void
apply (const Work *w, GantryGrid *grid, guint32 result, guint32 to, guint32 update)
{
  guint32 old = w->s.op == GANTRY_OP_NONE ? update : gantry_grid_get (grid, result, to);

  gantry_grid_set (grid, result, to, combined (w, grid, old, update));
}

static void
copy_input (Work *w)
{
  guint32 index;
  GantryGrid *grid = gantry_builtin_begin (w->builtin, w->s.n_elements, &index);

  gantry_grid_set (grid, result_array (w, grid), index, gantry_kx_load (grid->kx, 0, index));
  gantry_builtin_end (grid);
}

/* A thread for each free coordinate goes through all items. */
static void
few_items (Work *w)
{
  guint32 index, item, key, place, at[GANTRY_MAX_RANK] = { 0 };
  GantryGrid *grid = gantry_builtin_begin (w->builtin, w->n_free, &index);
  guint32 result = result_array (w, grid);

  coordinates (w, grid, index, TRUE, at);
  item = gantry_grid_begin_for_to (grid, w->n_items, FALSE);
  coordinates (w, grid, item, FALSE, at);
  key = gantry_grid_let (grid, place_of_item (w, grid, at));
  gantry_grid_begin_if (grid, gantry_builtin_compare (grid, GANTRY_NE, key, gantry_builtin_u64 (grid, NOWHERE)));
  place = gantry_grid_let (grid, gantry_kx_cast (grid->kx, GANTRY_I64, key));
  gantry_grid_assume (grid, place, 0, w->s.n_elements - 1);
  apply (w, grid, result, gantry_index_sum (grid->kx, place, 1, place_of_free (w, grid, at), 1), update_at (w, grid, at));
  gantry_builtin_end (grid);
}

static void
sort_items (Work *w, GantryNetwork *network)
{
  guint32 line, number, item, at[GANTRY_MAX_RANK] = { 0 };
  GantryGrid *grid;

  gantry_network_init (network, w->builtin, 1, w->n_items);
  grid = gantry_network_begin (network, w->builtin, &line, &number);
  item = gantry_index_minimum (grid->kx, number, w->n_items - 1);
  coordinates (w, grid, item, FALSE, at);
  gantry_network_set (network, grid, line, number, place_of_item (w, grid, at));
  gantry_builtin_end (grid);
  gantry_network_sort (network, w->builtin);
}

/* The first place after @from whose key is not @key, by halving: the keys rise. */
static guint32
end_of_run (const Work *w, const GantryNetwork *network, GantryGrid *grid, guint32 keys, guint32 from, guint32 key)
{
  guint32 place = gantry_grid_array (grid, GANTRY_SPACE_PRIVATE, GANTRY_I64, 1, 0, "end"), zero = gantry_index_const (grid->kx, 0);
  guint32 end;

  gantry_grid_set (grid, place, zero, from);
  for (gint64 step = network->padded; step > 0; step /= 2)
    {
      guint32 next = gantry_grid_let (grid, gantry_index_shift (grid->kx, gantry_grid_get (grid, place, zero), step));
      guint32 there = gantry_index_minimum (grid->kx, next, w->n_items - 1);
      guint32 same = gantry_builtin_compare (grid, GANTRY_EQ, gantry_grid_get (grid, keys, there), key);

      same = gantry_builtin_and (grid, same, gantry_index_below (grid->kx, next, w->n_items));
      gantry_grid_begin_if (grid, same);
      gantry_grid_set (grid, place, zero, next);
      gantry_grid_end (grid);
    }
  end = gantry_grid_let (grid, gantry_index_shift (grid->kx, gantry_grid_get (grid, place, zero), 1));
  gantry_grid_assume (grid, end, 1, w->n_items);
  return end;
}

/* A thread for each item and free coordinate; those whose item begins a run go through it. */
static void
apply_runs (Work *w, const GantryNetwork *network)
{
  guint32 index, first, key, before, is_first, place, item, q, at[GANTRY_MAX_RANK] = { 0 };
  GantryGrid *grid = gantry_builtin_begin (w->builtin, w->n_items * w->n_free, &index);
  guint32 result = result_array (w, grid), keys = gantry_network_keys (network, grid);
  guint32 numbers = gantry_network_numbers (network, grid), one = gantry_index_const (grid->kx, 1), zero = gantry_index_const (grid->kx, 0);

  coordinates (w, grid, gantry_index_remainder (grid->kx, index, w->n_free), TRUE, at);
  first = gantry_index_divide (grid->kx, index, w->n_free);
  key = gantry_grid_get (grid, keys, first);
  before = gantry_grid_get (grid, keys, gantry_builtin_op (grid, GANTRY_OP_MAXIMUM, gantry_builtin_op (grid, GANTRY_OP_SUBTRACT, first, one), zero));
  is_first = gantry_kx_binary (grid->kx, GANTRY_BOOL, GANTRY_OP_OR, 0, gantry_builtin_compare (grid, GANTRY_LT, first, one),
                               gantry_builtin_compare (grid, GANTRY_NE, before, key));
  gantry_grid_begin_if (grid, gantry_builtin_and (grid, is_first, gantry_builtin_compare (grid, GANTRY_NE, key, gantry_builtin_u64 (grid, NOWHERE))));
  place = gantry_grid_let (grid, gantry_kx_cast (grid->kx, GANTRY_I64, key));
  gantry_grid_assume (grid, place, 0, w->s.n_elements - 1);
  place = gantry_grid_let (grid, gantry_index_sum (grid->kx, place, 1, place_of_free (w, grid, at), 1));
  q = gantry_grid_begin_for (grid, first, end_of_run (w, network, grid, keys, first, key), 1, FALSE);
  item = gantry_grid_let (grid, gantry_kx_cast (grid->kx, GANTRY_I64, gantry_grid_get (grid, numbers, q)));
  gantry_grid_assume (grid, item, 0, w->n_items - 1);
  coordinates (w, grid, item, FALSE, at);
  apply (w, grid, result, place, update_at (w, grid, at));
  gantry_builtin_end (grid);
}

gboolean
gantry_builtin_scatter (GantryBuiltin *builtin, const GantryModule *module, const GantryNode *node, GString *why)
{
  g_autofree Work *w = g_new0 (Work, 1);
  GantryNetwork network;

  w->builtin = builtin;
  if (!gantry_scatter_read (&w->s, module, node, why))
    return FALSE;
  split_dimensions (w);
  if (w->s.n_elements > (gint64) G_MAXINT32 * 128 || w->s.n_updates > G_MAXINT32 / 2)
    {
      g_string_append (why, "more than 2^30 updates are not scattered on a GPU");
      return FALSE;
    }
  if (w->s.n_elements == 0)
    return TRUE;
  copy_input (w);
  if (w->s.n_updates == 0)
    return TRUE;
  if (w->n_items <= FEW_ITEMS)
    {
      few_items (w);
      return TRUE;
    }
  sort_items (w, &network);
  apply_runs (w, &network);
  return TRUE;
}
