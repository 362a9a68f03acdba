/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions as loops of one thread, for what no schedule shares among threads. Long sums of f32 are added as by Kahan
 * ("Further remarks on reducing truncation errors", 1965): what was rounded off goes into the next addend. */
#include "core/kernels/schedule/loop-schedule.h"
#include "core/kernels/schedule/bind.h"

/* From this many addends on what is rounded off is carried along. */
#define LONG_SUM 512
#define WRITTEN_OUT 8 /* terms */

typedef struct
{
  GantryGrid *grid;
  GantryKx *kx;
  guint64 bound; /* variables */
} Serial;

/* The first reduction, those within others first, whose value depends on nothing that is still to be bound. */
static guint32
find (const Serial *s, const GantryKxRoot *roots, guint n)
{
  g_autofree guint8 *needed = gantry_kx_needed (s->kx, roots, n);

  for (guint32 id = 0; id < s->kx->nodes->len; id++)
    {
      const GantryKxNode *node = gantry_kx_node (s->kx, id);

      if (needed[id] && node->kind == GANTRY_KX_REDUCE && (node->vars & ~(s->bound | GANTRY_KX_HAS_VALUE)) == 0)
        return id;
    }
  return GANTRY_NO_NODE;
}

static void
accumulate (Serial *s, const GantryKxNode *node, GantryElementType type, guint32 array, guint32 body, gboolean is_long)
{
  guint32 zero = gantry_index_const (s->kx, 0), so_far = gantry_grid_get (s->grid, array, zero), lost, sum, finite;

  body = gantry_kx_cast (s->kx, type, body);
  if (!is_long)
    {
      gantry_grid_set (s->grid, array, zero, gantry_kx_binary (s->kx, type, node->op, 0, so_far, body));
      return;
    }
  lost = gantry_grid_get (s->grid, array, gantry_index_const (s->kx, 1));
  body = gantry_kx_binary (s->kx, type, GANTRY_OP_SUBTRACT, 0, body, lost);
  sum = gantry_grid_let (s->grid, gantry_kx_binary (s->kx, type, GANTRY_OP_ADD, 0, so_far, body));
  lost = gantry_kx_binary (s->kx, type, GANTRY_OP_SUBTRACT, 0, sum, so_far);
  lost = gantry_kx_binary (s->kx, type, GANTRY_OP_SUBTRACT, 0, lost, body);
  /* Infinity minus itself would spoil a sum that is infinite. */
  finite = gantry_kx_unary (s->kx, GANTRY_BOOL, GANTRY_OP_IS_FINITE, lost);
  gantry_grid_set (s->grid, array, gantry_index_const (s->kx, 1), gantry_kx_select (s->kx, finite, lost, gantry_kx_const_float (s->kx, type, 0)));
  gantry_grid_set (s->grid, array, zero, sum);
}

GantryElementType
gantry_element_at_least_f32 (GantryElementType element)
{
  return element == GANTRY_F16 || element == GANTRY_BF16 ? GANTRY_F32 : element;
}

static void reduce_all (Serial *s, GantryKxRoot *roots, guint n);

/* Returns: the value */
static guint32
reduce_one (Serial *s, guint32 id)
{
  GantryKxNode node = *gantry_kx_node (s->kx, id);
  guint axes[GANTRY_KX_MAX_VARS], n = gantry_schedule_axes (s->kx, id, axes);
  GantryElementType type = gantry_element_at_least_f32 (node.type);
  GantryKxRoot body = { .value = node.a, .address = gantry_index_const (s->kx, 0) };
  guint64 bound = s->bound;
  gint64 terms = 1;
  gboolean is_long;
  guint32 array;

  for (guint i = 0; i < n && terms < LONG_SUM; i++)
    terms *= s->kx->extents[axes[i]];
  is_long = terms >= LONG_SUM && type == GANTRY_F32 && node.op == GANTRY_OP_ADD;
  array = gantry_grid_array (s->grid, GANTRY_SPACE_PRIVATE, type, is_long ? 2 : 1, 0, "sum");
  gantry_grid_set (s->grid, array, gantry_index_const (s->kx, 0), gantry_kx_identity (s->kx, node.op, type));
  if (is_long)
    gantry_grid_set (s->grid, array, gantry_index_const (s->kx, 1), gantry_kx_const_float (s->kx, type, 0));
  for (guint i = 0; i < n; i++)
    {
      gantry_grid_begin_for_axis (s->grid, axes[i], terms <= WRITTEN_OUT);
      s->bound |= G_GUINT64_CONSTANT (1) << axes[i];
    }
  reduce_all (s, &body, 1);
  accumulate (s, &node, type, array, body.value, is_long);
  for (guint i = 0; i < n; i++)
    gantry_grid_end (s->grid);
  s->bound = bound;
  return gantry_grid_get_as (s->grid, array, gantry_index_const (s->kx, 0), node.type);
}

static void
reduce_all (Serial *s, GantryKxRoot *roots, guint n)
{
  guint32 id;

  while ((id = find (s, roots, n)) != GANTRY_NO_NODE && !s->kx->overflow)
    gantry_kx_replace_in (s->kx, id, reduce_one (s, id), roots, n);
}

void
gantry_grid_reduce_serial (GantryGrid *grid, guint32 *expressions, guint n)
{
  Serial s = { .grid = grid, .kx = grid->kx };
  g_autofree GantryKxRoot *roots = g_new0 (GantryKxRoot, MAX (n, 1));

  for (guint v = 0; v < grid->kx->n_vars; v++)
    if (grid->axis[v] != GANTRY_AXIS_NONE && grid->axis[v] != GANTRY_AXIS_LOOP)
      s.bound |= G_GUINT64_CONSTANT (1) << v;
  for (guint i = 0; i < grid->open->len; i++)
    {
      const GantryGridStatement *open = &g_array_index (grid->statements, GantryGridStatement, g_array_index (grid->open, guint32, i));

      if (open->kind == GANTRY_GRID_FOR)
        s.bound |= G_GUINT64_CONSTANT (1) << open->c;
    }
  for (guint i = 0; i < n; i++)
    roots[i] = (GantryKxRoot){ .value = expressions[i], .address = expressions[i] };
  reduce_all (&s, roots, n);
  for (guint i = 0; i < n; i++)
    expressions[i] = roots[i].value;
}

guint32
gantry_grid_result_array (GantryGrid *grid, const GantryKxRoot *root)
{
  GantryIndexRange range = gantry_kx_range (grid->kx, root->address);

  return gantry_grid_array (grid, GANTRY_SPACE_RESULT, root->element, (guint64) MAX (range.hi, 0) + 1, root->output, "result");
}
