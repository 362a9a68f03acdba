/* SPDX-License-Identifier: Apache-2.0 */
/* Recognising contractions by their expression, whatever operation it came from: a sum of products whose factors
 * share the variables that are summed over. dot_general with any dimension numbers and convolutions (rows: images
 * and places, columns: channels, depth: window and channels; padding is a selection within the factor) are the same
 * here, with whatever was fused before and after. */
#include "core/kernels/schedule/loop-schedule.h"
#include "core/kernels/schedule/bind-contraction-private.h"
#include <math.h>
#include <string.h>

#define MIN_OWN 4 /* rows and columns: fewer are a product of matrix and vector */
#define MIN_DEPTH 8
#define LONG_DEPTH 512 /* beside it, that results are stored one by one is little */

/* Factors in the type in which they lie in memory */

static guint
mantissa_bits (GantryElementType element)
{
  switch (element)
    {
    case GANTRY_F64: return 53;
    case GANTRY_F32: return 24;
    case GANTRY_F16: return 11;
    case GANTRY_BF16: return 8;
    default: return 0;
    }
}

/* Every value of @from is a value of @to. */
static gboolean
loses_nothing (GantryElementType from, GantryElementType to)
{
  guint bits = 8 * gantry_element_size (from);

  if (from == GANTRY_BOOL)
    return TRUE;
  if (gantry_element_is_float (from))
    return gantry_element_is_float (to) && mantissa_bits (to) >= mantissa_bits (from) && (to != GANTRY_F16 || from == GANTRY_F16);
  if (gantry_element_is_float (to))
    return bits <= mantissa_bits (to) && to != GANTRY_F16;
  return bits < 8 * gantry_element_size (to) && (!gantry_element_is_signed (from) || gantry_element_is_signed (to));
}

/* The type that @id came from. */
static GantryElementType
origin (const GantryKx *kx, guint32 id)
{
  const GantryKxNode *node = gantry_kx_node (kx, id);
  GantryElementType of;

  if (node->kind == GANTRY_KX_CAST)
    {
      of = gantry_kx_node (kx, node->a)->type;
      return of != GANTRY_BOOL && loses_nothing (of, node->type) ? of : node->type;
    }
  if (node->kind == GANTRY_KX_SELECT)
    return origin (kx, gantry_kx_node (kx, node->b)->kind == GANTRY_KX_CONST ? node->c : node->b);
  return node->type;
}

static gboolean
fits (const GantryKxNode *node, GantryElementType element)
{
  guint8 memory[8];

  if (gantry_element_is_float (node->type) != gantry_element_is_float (element))
    return node->type != GANTRY_BOOL && (gantry_element_is_float (node->type) ? node->f == 0 && !signbit (node->f) : node->i == 0);
  if (gantry_element_is_float (element))
    {
      gantry_element_write_double (element, memory, node->f);
      return gantry_element_read_double (element, memory) == node->f;
    }
  gantry_element_write_int (element, memory, node->i);
  return gantry_element_read_int (element, memory) == node->i;
}

/* @id as a value of @element that casts to what it was: FALSE where that cannot be said. */
static gboolean
narrow (GantryKx *kx, guint32 id, GantryElementType element, guint32 *result)
{
  GantryKxNode node = *gantry_kx_node (kx, id);
  guint32 x, y;

  if (node.type == element)
    {
      *result = id;
      return TRUE;
    }
  switch (node.kind)
    {
    case GANTRY_KX_CAST: *result = node.a; return gantry_kx_node (kx, node.a)->type == element && loses_nothing (element, node.type);
    case GANTRY_KX_SELECT:
      if (!narrow (kx, node.b, element, &x) || !narrow (kx, node.c, element, &y))
        return FALSE;
      *result = gantry_kx_select (kx, node.a, x, y);
      return TRUE;
    case GANTRY_KX_CONST:
      if (!fits (&node, element))
        return FALSE;
      *result = gantry_element_is_float (element) ? gantry_kx_const_float (kx, element, gantry_element_is_float (node.type) ? node.f : 0)
                                                  : gantry_kx_const_int (kx, element, gantry_element_is_float (node.type) ? 0 : node.i);
      return TRUE;
    default: return FALSE;
    }
}

static gboolean
is_zero (const GantryKxNode *node)
{
  return node->kind == GANTRY_KX_CONST && (gantry_element_is_float (node->type) ? node->f == 0 && !signbit (node->f) : node->i == 0);
}

guint32
gantry_factor_load (GantryKx *kx, guint32 value, guint32 *predicate)
{
  GantryKxNode node = *gantry_kx_node (kx, value);

  *predicate = GANTRY_GRID_NONE;
  if (node.kind == GANTRY_KX_SELECT && is_zero (gantry_kx_node (kx, node.c)))
    {
      *predicate = node.a;
      value = node.b;
      node = *gantry_kx_node (kx, value);
    }
  return node.kind == GANTRY_KX_LOAD && !kx->inputs[node.a].splat ? value : GANTRY_GRID_NONE;
}

static void
find_factor (GantryKx *kx, guint32 id, GantryFactor *factor)
{
  GantryElementType element = origin (kx, id);
  guint32 predicate;

  *factor = (GantryFactor){ .value = id, .element = gantry_kx_node (kx, id)->type, .lanes = 1 };
  if (element != factor->element && narrow (kx, id, element, &factor->value))
    factor->element = (guint8) element;
  factor->is_load = gantry_factor_load (kx, factor->value, &predicate) != GANTRY_GRID_NONE;
}

/* Groups of variables */

/* Variables of the results, those with the longest steps first. */
static void
set_axes (const GantryKx *kx, guint64 vars, GantryAxes *axes)
{
  axes->n = gantry_vars_in_memory_order (kx, vars, kx->roots[0].address, axes->vars);
  axes->count = gantry_vars_count (kx, vars);
}

/* @first: those of the depth that come first, in whatever order they lie */
static void
set_depth (GantryContraction *c, guint64 first)
{
  GantryKx *kx = c->kx;
  guint vars[GANTRY_KX_MAX_VARS], n = gantry_schedule_axes (kx, c->reduce, vars);

  c->depth = (GantryAxes){ .count = 1 };
  for (guint i = 0; i < n; i++)
    c->depth.count *= kx->extents[vars[i]];
  for (guint i = 0; i < n; i++)
    if (first >> vars[i] & 1)
      c->depth.vars[c->depth.n++] = vars[i];
  for (guint i = 0; i < n; i++)
    if (!(first >> vars[i] & 1))
      c->depth.vars[c->depth.n++] = vars[i];
}

/* Of the depth, those that the predicates of the factors depend on come first: the places of a window stand outside its channels, and
 * where these fill the steps all of a step is padding or none of it. */
static guint64
vars_of_predicates (GantryContraction *c)
{
  guint32 predicates[2];
  guint64 vars = 0;

  gantry_factor_load (c->kx, c->a.value, &predicates[0]);
  gantry_factor_load (c->kx, c->b.value, &predicates[1]);
  for (guint i = 0; i < G_N_ELEMENTS (predicates); i++)
    vars |= predicates[i] != GANTRY_GRID_NONE ? gantry_kx_node (c->kx, predicates[i])->vars : 0;
  return vars;
}

/* Contiguity */

/* By how much @id grows, about, when @v grows by one. */
static gint64
slope (const GantryKx *kx, guint32 id, guint v)
{
  const GantryKxNode *node = gantry_kx_node (kx, id);
  gint64 sum = 0;

  if (!(node->vars >> v & 1))
    return 0;
  switch (node->kind)
    {
    case GANTRY_KX_INDEX: return 1;
    case GANTRY_KX_LINEAR:
    case GANTRY_KX_LOAD:
      for (guint i = 0; i < node->c; i++)
        sum += gantry_kx_terms (kx, node)[i].factor * slope (kx, gantry_kx_terms (kx, node)[i].node, v);
      return sum;
    case GANTRY_KX_BINARY:
      if (node->op == GANTRY_OP_MAXIMUM || node->op == GANTRY_OP_MINIMUM)
        return slope (kx, node->a, v) + slope (kx, node->b, v);
      return node->op == GANTRY_OP_REMAINDER ? slope (kx, node->a, v) : 0;
    default: return 0;
    }
}

/* The smallest step that loads of @value make with the innermost of @axes; G_MAXINT64: none depends on it. */
static gint64
smallest_step (const GantryKx *kx, guint32 value, const GantryAxes *axes)
{
  GantryKxRoot root = { .value = value, .address = value };
  g_autofree guint8 *needed = gantry_kx_needed (kx, &root, 1);
  gint64 smallest = G_MAXINT64;

  for (guint32 id = 0; id < kx->nodes->len && axes->n > 0; id++)
    if (needed[id] && gantry_kx_node (kx, id)->kind == GANTRY_KX_LOAD)
      {
        gint64 step = ABS (slope (kx, id, axes->vars[axes->n - 1]));

        if (step != 0)
          smallest = MIN (smallest, step);
      }
  return smallest;
}

gboolean
gantry_address_is_contiguous (const GantryKx *kx, guint32 address, guint lane, guint lanes)
{
  const GantryKxNode *node = gantry_kx_node (kx, address);
  gboolean other;

  if (node->kind == GANTRY_KX_INDEX)
    return node->a == lane;
  if ((node->kind != GANTRY_KX_LOAD && node->kind != GANTRY_KX_LINEAR) || node->i % lanes != 0 || gantry_kx_factor_of (kx, node, lane, &other) != 1 || other)
    return FALSE;
  for (guint i = 0; i < node->c; i++)
    {
      const GantryKxTerm *term = &gantry_kx_terms (kx, node)[i];
      const GantryKxNode *of = gantry_kx_node (kx, term->node);

      if (term->factor % lanes != 0 && !(of->kind == GANTRY_KX_INDEX && of->a == lane))
        return FALSE;
    }
  return TRUE;
}

/* All loads of @value that depend on @lane, and there are some. What is fetched is read or is zero as a whole. */
static gboolean
is_contiguous (GantryKx *kx, guint32 value, guint lane, guint lanes)
{
  guint32 predicate, load = gantry_factor_load (kx, value, &predicate);
  GantryKxRoot root = { .value = value, .address = value };
  g_autofree guint8 *needed = gantry_kx_needed (kx, &root, 1);
  guint n = 0;

  if (load != GANTRY_GRID_NONE && predicate != GANTRY_GRID_NONE && gantry_kx_node (kx, predicate)->vars >> lane & 1)
    return FALSE;
  for (guint32 id = 0; id < kx->nodes->len; id++)
    {
      const GantryKxNode *node = gantry_kx_node (kx, id);

      if (!needed[id] || node->kind != GANTRY_KX_LOAD || !(node->vars >> lane & 1))
        continue;
      if (!gantry_address_is_contiguous (kx, id, lane, lanes))
        return FALSE;
      n++;
    }
  return n > 0;
}

static void
set_scratch (GantryContraction *c, guint i, gint64 count)
{
  c->kx->extents[c->scratch[i]] = count;
  gantry_kx_set_range (c->kx, c->scratch[i], 0, count - 1);
}

static gboolean
has_lanes (GantryContraction *c, const GantryFactor *factor, const GantryAxes *own, guint lanes)
{
  const GantryAxes *along = factor->along_depth ? &c->depth : own, *across = factor->along_depth ? own : &c->depth;
  guint32 substitution[GANTRY_KX_MAX_VARS];
  GantryKx *kx = c->kx;

  if (along->count % lanes != 0)
    return FALSE;
  set_scratch (c, 0, across->count);
  set_scratch (c, 1, along->count / lanes);
  set_scratch (c, 2, lanes);
  gantry_substitution_clear (substitution);
  gantry_axes_decode (across, kx, gantry_kx_index (kx, c->scratch[0]), substitution);
  gantry_axes_decode (along, kx, gantry_index_sum (kx, gantry_kx_index (kx, c->scratch[1]), lanes, gantry_kx_index (kx, c->scratch[2]), 1), substitution);
  return is_contiguous (kx, gantry_substitute (kx, substitution, factor->value), c->scratch[2], lanes);
}

/* Blocks of channels of a convolution's input lie along the rows or columns of its weights' gradient, in which the window stands
 * inside the channels: a block is brought at once where its variable is counted fastest. The results are then stored one by one,
 * which is little where each is a long sum. */
static void
reorder_for_lanes (GantryContraction *c, GantryFactor *factor, GantryAxes *own)
{
  const GantryFactor saved_factor = *factor;
  const GantryAxes saved = *own;

  if (!factor->is_load || c->depth.count < LONG_DEPTH)
    return;
  factor->along_depth = FALSE;
  factor->lanes = 16 / gantry_element_size (factor->element);
  for (guint i = 0; i + 1 < saved.n; i++)
    {
      *own = saved;
      memmove (own->vars + i, own->vars + i + 1, (saved.n - i - 1) * sizeof *own->vars);
      own->vars[saved.n - 1] = saved.vars[i];
      if (has_lanes (c, factor, own, factor->lanes))
        return;
    }
  *factor = saved_factor;
  *own = saved;
}

static void
find_lanes (GantryContraction *c, GantryFactor *factor, GantryAxes *own)
{
  gint64 with_own = smallest_step (c->kx, factor->value, own), with_depth = smallest_step (c->kx, factor->value, &c->depth);
  guint most = 16 / gantry_element_size (factor->element);

  factor->along_depth = with_depth < with_own;
  factor->lanes = most;
  while (factor->lanes > 1 && !has_lanes (c, factor, own, factor->lanes))
    factor->lanes /= 2;
  if (factor->lanes < most)
    reorder_for_lanes (c, factor, own);
}

/* The whole */

/* The next reduction from @from on that the results need; GANTRY_GRID_NONE: there is none. */
static guint32
next_reduce (const GantryKx *kx, guint32 from)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);

  for (guint32 id = from; id < kx->nodes->len; id++)
    if (needed[id] && gantry_kx_node (kx, id)->kind == GANTRY_KX_REDUCE)
      return id;
  return GANTRY_GRID_NONE;
}

/* @id with the variables of the reduction @like in the place of its own, in their order. */
static guint32
with_axes_of (GantryKx *kx, guint32 id, guint32 like)
{
  guint64 from = gantry_kx_node (kx, id)->u, to = gantry_kx_node (kx, like)->u;
  guint32 substitution[GANTRY_KX_MAX_VARS];

  gantry_substitution_clear (substitution);
  for (; from != 0 && to != 0; from &= from - 1, to &= to - 1)
    {
      guint v = (guint) __builtin_ctzll (from), w = (guint) __builtin_ctzll (to);

      if (kx->extents[v] != kx->extents[w])
        return id;
      substitution[v] = gantry_kx_index (kx, w);
    }
  return from == to ? gantry_substitute (kx, substitution, id) : id;
}

/* The one reduction of the results. Each result came with variables of its own to reduce over: sums that are otherwise
 * equal become one. Returns: FALSE when there are none or several */
static gboolean
find_reduce (GantryKx *kx, guint32 *reduce)
{
  guint32 other;

  *reduce = next_reduce (kx, 0);
  if (*reduce == GANTRY_GRID_NONE)
    return FALSE;
  while ((other = next_reduce (kx, *reduce + 1)) != GANTRY_GRID_NONE)
    {
      if (with_axes_of (kx, other, *reduce) != *reduce)
        return FALSE;
      gantry_kx_replace (kx, other, *reduce);
    }
  return TRUE;
}

static void
exchange (GantryContraction *c)
{
  GantryFactor factor = c->a;
  GantryAxes axes = c->rows;

  c->a = c->b;
  c->b = factor;
  c->rows = c->columns;
  c->columns = axes;
}

static gboolean
find_groups (GantryContraction *c, guint64 of_a, guint64 of_b)
{
  const GantryKx *kx = c->kx;
  guint64 results = 0;

  for (guint v = 0; v < kx->n_vars; v++)
    if (kx->result_vars >> v & 1 && kx->extents[v] > 1)
      results |= G_GUINT64_CONSTANT (1) << v;
  if (results & ~(of_a | of_b))
    return FALSE; /* the same sum for several results: not computed more than once here */
  set_axes (kx, results & of_a & ~of_b, &c->rows);
  set_axes (kx, results & of_b & ~of_a, &c->columns);
  set_axes (kx, results & of_a & of_b, &c->batch);
  set_depth (c, vars_of_predicates (c));
  return c->rows.count >= MIN_OWN && c->columns.count >= MIN_OWN && c->depth.count >= MIN_DEPTH;
}

gboolean
gantry_contraction_find (GantryContraction *c, GantryKx *kx)
{
  GantryKxNode node;
  guint64 of_a, of_b;

  *c = (GantryContraction){ .kx = kx };
  if (kx->n_roots == 0 || kx->n_vars + 3 > GANTRY_KX_MAX_VARS || !find_reduce (kx, &c->reduce))
    return FALSE;
  node = *gantry_kx_node (kx, c->reduce);
  if (node.op != GANTRY_OP_ADD || node.type == GANTRY_BOOL)
    return FALSE;
  c->term = (guint8) gantry_element_at_least_f32 (node.type);
  c->sum = c->term;
  node = *gantry_kx_node (kx, node.a);
  if (node.kind == GANTRY_KX_CAST)
    node = *gantry_kx_node (kx, node.a);
  if (node.kind != GANTRY_KX_BINARY || node.op != GANTRY_OP_MULTIPLY || node.type == GANTRY_BOOL)
    return FALSE;
  c->product = (guint8) gantry_element_at_least_f32 (node.type);
  c->direction = node.direction;
  of_a = gantry_kx_node (kx, node.a)->vars;
  of_b = gantry_kx_node (kx, node.b)->vars;
  find_factor (kx, node.a, &c->a);
  find_factor (kx, node.b, &c->b);
  if (!find_groups (c, of_a, of_b))
    return FALSE;
  /* Columns are what lies side by side in the results. */
  if (gantry_address_steps_by_one (kx, kx->roots[0].address, c->rows.vars[c->rows.n - 1]))
    exchange (c);
  for (guint i = 0; i < G_N_ELEMENTS (c->scratch); i++)
    c->scratch[i] = gantry_kx_add_variable (kx, 1);
  find_lanes (c, &c->a, &c->rows);
  find_lanes (c, &c->b, &c->columns);
  /* Where neither lies along the depth, it is gone through as both lie in memory. */
  if (!c->a.along_depth && !c->b.along_depth)
    set_depth (c, 0);
  return TRUE;
}
