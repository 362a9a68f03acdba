/* SPDX-License-Identifier: Apache-2.0 */
/* The faults that a lowering would turn into wrong code: found before, and named. The program is gone through once in
 * its order, with what is defined and what differs between the threads of a block at each place. */
#include "core/kernels/program/grid.h"
#include "core/base/error.h"

#define MAX_THREADS 1024
#define MAX_LANES 16
#define MAX_UNROLLED 65536

typedef struct
{
  guint32 statement;
  guint first_defined; /* of `defined` */
  gboolean varies;     /* threads of a block may take it differently */
} Scope;

typedef struct
{
  const GantryGrid *grid;
  const GantryGpu *gpu;
  GError **error;
  guint32 at;           /* the statement that is looked at */
  guint8 *is_defined;   /* per value */
  guint8 *value_varies; /* per value */
  GArray *defined;      /* guint32: values, in order */
  GArray *scopes;       /* Scope */
  guint64 loops;        /* variables of open loops */
  guint64 unrolled;     /* those of them that are known numbers */
  guint64 varying;      /* variables that differ between threads */
  guint ifs;
  guint64 copies;      /* of the statement, by unrolling */
  guint32 *seen;       /* per node: the round in which it was looked at */
  guint8 *node_varies; /* per node, in that round */
  guint32 round;
} Check;

static const char *const kind_names[GANTRY_GRID_N_KINDS] = {
  "let", "set", "get", "for", "if", "else", "end", "barrier", "shuffle", "fetch", "commit", "await", "matrix_load", "mma",
};

static gboolean G_GNUC_PRINTF (2, 3) fault (Check *check, const char *format, ...)
{
  g_autofree char *message = NULL;
  const GantryGridStatement *s;
  va_list arguments;

  if (check->error != NULL && *check->error != NULL)
    return FALSE;
  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (check->at >= check->grid->statements->len)
    {
      g_set_error (check->error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "bound program: %s (please report this)", message);
      return FALSE;
    }
  s = &g_array_index (check->grid->statements, GantryGridStatement, check->at);
  g_set_error (check->error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "bound program, statement %u (%s): %s (please report this)", check->at, kind_names[s->kind],
               message);
  return FALSE;
}

/* Expressions */

static gboolean look_at (Check *check, guint32 id, guint32 lane);

static gboolean
look_at_variable (Check *check, guint v, guint32 lane)
{
  switch ((GantryGridAxis) check->grid->axis[v])
    {
    case GANTRY_AXIS_NONE: return fault (check, "variable i%u is bound to nothing", v);
    case GANTRY_AXIS_LOOP: return check->loops >> v & 1 ? TRUE : fault (check, "variable i%u is used outside its loop", v);
    case GANTRY_AXIS_LANE: return v == lane ? TRUE : fault (check, "variable i%u is the lane of another statement", v);
    default: return TRUE;
    }
}

/* Goes through what the node is made of: everything must be there. Whether it differs between threads is kept. */
static gboolean
look_inside (Check *check, guint32 id, guint32 lane)
{
  const GantryKx *kx = check->grid->kx;
  const GantryKxNode *node = gantry_kx_node (kx, id);
  guint32 parts[3] = { node->a, node->b, node->c };
  guint n = node->kind == GANTRY_KX_SELECT ? 3 : node->kind == GANTRY_KX_BINARY ? 2 : 1;

  switch ((GantryKxKind) node->kind)
    {
    case GANTRY_KX_CONST: return TRUE;
    case GANTRY_KX_INDEX: check->node_varies[id] = check->varying >> node->a & 1; return look_at_variable (check, node->a, lane);
    case GANTRY_KX_VALUE:
      check->node_varies[id] = check->value_varies[node->a];
      return check->is_defined[node->a] ? TRUE : fault (check, "value v%u is not defined here", node->a);
    case GANTRY_KX_REDUCE: return fault (check, "a reduction is left in an expression");
    case GANTRY_KX_LINEAR:
    case GANTRY_KX_LOAD:
      for (guint i = 0; i < node->c; i++)
        {
          guint32 term = gantry_kx_terms (kx, node)[i].node;

          if (!look_at (check, term, lane))
            return FALSE;
          check->node_varies[id] |= check->node_varies[term];
        }
      return TRUE;
    default:
      for (guint i = 0; i < n; i++)
        {
          if (!look_at (check, parts[i], lane))
            return FALSE;
          check->node_varies[id] |= check->node_varies[parts[i]];
        }
      return TRUE;
    }
}

static gboolean
look_at (Check *check, guint32 id, guint32 lane)
{
  if (id >= check->grid->kx->nodes->len)
    return fault (check, "an expression is missing");
  if (check->seen[id] == check->round)
    return TRUE;
  check->seen[id] = check->round;
  check->node_varies[id] = FALSE;
  return look_inside (check, id, lane);
}

/* Looks at an expression of the statement. @varies: (out) (nullable) */
static gboolean
expression (Check *check, guint32 id, guint32 lane, gboolean *varies)
{
  if (!look_at (check, id, lane))
    return FALSE;
  if (varies != NULL)
    *varies = check->node_varies[id];
  return TRUE;
}

static gboolean
divides_by (const Check *check, guint32 id, gint64 by)
{
  return gantry_grid_multiple (check->grid, id) % by == 0;
}

/* Arrays */

static const GantryGridArray *
array_at (Check *check, guint32 array, GantryGridSpace space)
{
  const GantryGridArray *found;

  if (array >= check->grid->arrays->len)
    {
      fault (check, "there is no array %u", array);
      return NULL;
    }
  found = &g_array_index (check->grid->arrays, GantryGridArray, array);
  if (space != (GantryGridSpace) -1 && found->space != space)
    {
      fault (check, "array %s lies in another memory", found->name);
      return NULL;
    }
  return found;
}

/* Where no condition stands around it, the index is within the array for whatever value it may have. */
static gboolean
index_in (Check *check, const GantryGridArray *array, guint32 index, guint64 lanes, gboolean *varies)
{
  GantryIndexRange range;

  if (!expression (check, index, GANTRY_GRID_NONE, varies))
    return FALSE;
  if (gantry_kx_node (check->grid->kx, index)->type != GANTRY_I64)
    return fault (check, "the index in %s is no i64", array->name);
  range = gantry_kx_range (check->grid->kx, index);
  if (check->ifs == 0 && range.lo != G_MININT64 && range.lo < 0)
    return fault (check, "the index in %s may be negative", array->name);
  if (check->ifs == 0 && range.hi != G_MAXINT64 && (guint64) range.hi + lanes > array->count)
    return fault (check, "the index in %s may be %" G_GINT64_FORMAT ", of %" G_GUINT64_FORMAT " elements", array->name, range.hi + (gint64) lanes - 1,
                  array->count);
  return TRUE;
}

static void
define (Check *check, const GantryGridStatement *s, gboolean varies)
{
  for (guint i = 0; i < s->lanes; i++)
    {
      guint32 value = s->value + i;

      check->is_defined[value] = TRUE;
      check->value_varies[value] = varies;
      g_array_append_val (check->defined, value);
    }
}

/* Statements */

static gboolean
memory_access (Check *check, const GantryGridStatement *s)
{
  const GantryGridArray *array = array_at (check, s->array, (GantryGridSpace) -1);
  gboolean varies;

  if (array == NULL)
    return FALSE;
  if (s->lanes == 0 || s->lanes > MAX_LANES || (s->lanes & (s->lanes - 1)) != 0)
    return fault (check, "%u lanes", s->lanes);
  if (!index_in (check, array, s->b, s->lanes, &varies))
    return FALSE;
  if (s->kind == GANTRY_GRID_GET)
    {
      define (check, s, varies || array->space == GANTRY_SPACE_PRIVATE);
      return TRUE;
    }
  if (gantry_kx_node (check->grid->kx, s->a)->type != array->element)
    return fault (check, "a value of type %s for %s", gantry_element_name (gantry_kx_node (check->grid->kx, s->a)->type), array->name);
  check->round++; /* the lane variable counts from here on */
  return expression (check, s->a, s->c, NULL);
}

static gboolean
open_scope (Check *check, gboolean varies)
{
  Scope scope = { .statement = check->at, .first_defined = check->defined->len, .varies = varies };

  g_array_append_val (check->scopes, scope);
  return TRUE;
}

/* Iterations of a FOR, 1 at least. */
static guint64
most_trips (const Check *check, const GantryGridStatement *s)
{
  GantryIndexRange lo = gantry_kx_range (check->grid->kx, s->a), hi = gantry_kx_range (check->grid->kx, s->b);
  __int128 trips = ((__int128) hi.hi - lo.lo + s->step - 1) / s->step;

  return (guint64) CLAMP (trips, 1, G_MAXINT64);
}

static gboolean
begin_for (Check *check, const GantryGridStatement *s)
{
  gboolean lo_varies, hi_varies;
  guint64 vars;

  if (!expression (check, s->a, GANTRY_GRID_NONE, &lo_varies) || !expression (check, s->b, GANTRY_GRID_NONE, &hi_varies))
    return FALSE;
  if (s->step < 1 || s->c >= check->grid->kx->n_vars || check->grid->axis[s->c] != GANTRY_AXIS_LOOP || check->loops >> s->c & 1)
    return fault (check, "its variable or step is not one");
  vars = gantry_kx_node (check->grid->kx, s->a)->vars | gantry_kx_node (check->grid->kx, s->b)->vars;
  if (s->unroll && (vars & ~check->unrolled) != 0)
    return fault (check, "it is to be written out, but its bounds are no numbers");
  if (s->unroll)
    {
      check->copies *= most_trips (check, s);
      if (check->copies > MAX_UNROLLED)
        return fault (check, "it would be written out %" G_GUINT64_FORMAT " times", check->copies);
      check->unrolled |= G_GUINT64_CONSTANT (1) << s->c;
    }
  check->loops |= G_GUINT64_CONSTANT (1) << s->c;
  if (lo_varies || hi_varies)
    check->varying |= G_GUINT64_CONSTANT (1) << s->c;
  return open_scope (check, lo_varies || hi_varies);
}

static gboolean
begin_if (Check *check, const GantryGridStatement *s)
{
  gboolean varies;

  if (!expression (check, s->a, GANTRY_GRID_NONE, &varies))
    return FALSE;
  if (gantry_kx_node (check->grid->kx, s->a)->type != GANTRY_BOOL)
    return fault (check, "its condition is no truth value");
  check->ifs++;
  return open_scope (check, varies);
}

static void
close_scope (Check *check, Scope *closed)
{
  const GantryGridStatement *s;

  *closed = g_array_index (check->scopes, Scope, check->scopes->len - 1);
  s = &g_array_index (check->grid->statements, GantryGridStatement, closed->statement);
  g_array_set_size (check->scopes, check->scopes->len - 1);
  while (check->defined->len > closed->first_defined)
    {
      check->is_defined[g_array_index (check->defined, guint32, check->defined->len - 1)] = FALSE;
      g_array_set_size (check->defined, check->defined->len - 1);
    }
  if (s->kind == GANTRY_GRID_FOR)
    {
      guint64 bit = G_GUINT64_CONSTANT (1) << s->c;

      if (s->unroll)
        check->copies /= most_trips (check, s);
      check->loops &= ~bit;
      check->unrolled &= ~bit;
      check->varying &= ~bit;
    }
  else
    check->ifs--;
}

static gboolean
end_scope (Check *check, const GantryGridStatement *s)
{
  Scope closed;

  if (check->scopes->len == 0)
    return fault (check, "there is nothing to end");
  close_scope (check, &closed);
  if (s->kind == GANTRY_GRID_END)
    return TRUE;
  check->ifs++;
  return open_scope (check, closed.varies);
}

/* All threads of the block get here, or none. */
static gboolean
together (Check *check, gboolean whole_warps)
{
  const guint32 *block = check->grid->block;

  for (guint i = 0; i < check->scopes->len; i++)
    {
      guint32 statement = g_array_index (check->scopes, Scope, i).statement;

      if (g_array_index (check->scopes, Scope, i).varies)
        return fault (check, "all threads of a block have to get here, but statement %u differs between them", statement);
    }
  if (whole_warps && block[0] * block[1] * block[2] % 32 != 0)
    return fault (check, "a block of %u threads is not made of whole warps", block[0] * block[1] * block[2]);
  return TRUE;
}

static gboolean
check_shuffle (Check *check, const GantryGridStatement *s)
{
  if (!together (check, TRUE) || !expression (check, s->a, GANTRY_GRID_NONE, NULL))
    return FALSE;
  if (s->mask == 0 || s->mask > 31)
    return fault (check, "its mask is %u, of 1 to 31", s->mask);
  define (check, s, TRUE);
  return TRUE;
}

static gboolean
check_fetch (Check *check, const GantryGridStatement *s)
{
  const GantryGridArray *array = array_at (check, s->array, GANTRY_SPACE_SHARED);
  const GantryKx *kx = check->grid->kx;
  guint bytes;

  if (array == NULL || !index_in (check, array, s->b, s->lanes, NULL) || !expression (check, s->a, GANTRY_GRID_NONE, NULL))
    return FALSE;
  if (s->c != GANTRY_GRID_NONE && (!expression (check, s->c, GANTRY_GRID_NONE, NULL) || gantry_kx_node (kx, s->c)->type != GANTRY_BOOL))
    return fault (check, "its predicate is no bool");
  if ((s->shape & 1) != 0)
    {
      const GantryGridArray *from = array_at (check, s->d, GANTRY_SPACE_WORKSPACE);

      if (from == NULL || !index_in (check, from, s->a, s->lanes, NULL))
        return FALSE;
      if (from->element != array->element)
        return fault (check, "%s cannot be fetched into %s", from->name, array->name);
    }
  else if (s->d >= kx->n_inputs || kx->inputs[s->d].splat || kx->inputs[s->d].type->element != array->element)
    return fault (check, "input %u cannot be fetched into %s", s->d, array->name);
  bytes = s->lanes * (guint) gantry_element_size (array->element);
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return fault (check, "%u bytes are fetched, of 4, 8 or 16", bytes);
  if (!divides_by (check, s->a, s->lanes) || !divides_by (check, s->b, s->lanes))
    return fault (check, "an address may be no multiple of %u elements", s->lanes);
  return TRUE;
}

static gboolean
check_matrix_load (Check *check, const GantryGridStatement *s)
{
  const GantryGridArray *shared = array_at (check, s->array, GANTRY_SPACE_SHARED);
  const GantryGridArray *to = array_at (check, s->c, GANTRY_SPACE_PRIVATE);
  guint matrices = s->shape & 0x7f, size;
  gboolean varies;

  if (!together (check, TRUE) || shared == NULL || to == NULL)
    return FALSE;
  size = (guint) gantry_element_size (shared->element);
  if (matrices != 1 && matrices != 2 && matrices != 4)
    return fault (check, "%u matrices", matrices);
  if ((size != 2 && size != 4) || to->element != shared->element || (size == 4 && s->shape & 0x80))
    return fault (check, "matrices of %s", gantry_element_name (shared->element));
  if (!index_in (check, shared, s->b, 16 / size, NULL) || !index_in (check, to, s->offset_a, matrices * 4 / size, &varies))
    return FALSE;
  if (varies)
    return fault (check, "the place in %s differs between threads", to->name);
  if (!divides_by (check, s->b, 16 / size) || !divides_by (check, s->offset_a, 4 / size))
    return fault (check, "a row may lie at no multiple of 16 bytes");
  return TRUE;
}

static gboolean
check_fragment (Check *check, guint32 array, guint32 offset, GantryElementType element, guint count)
{
  const GantryGridArray *fragment = array_at (check, array, GANTRY_SPACE_PRIVATE);
  gboolean varies;

  if (fragment == NULL || !index_in (check, fragment, offset, count, &varies))
    return FALSE;
  if (fragment->element != element)
    return fault (check, "%s has elements of type %s", fragment->name, gantry_element_name (fragment->element));
  if (varies || !divides_by (check, offset, MAX (4 / (gint64) gantry_element_size (element), 1)))
    return fault (check, "the place in %s differs between threads or is not aligned", fragment->name);
  return TRUE;
}

static gboolean
check_mma (Check *check, const GantryGridStatement *s)
{
  static const GantryElementType elements[] = { GANTRY_F16, GANTRY_BF16, GANTRY_F32 };
  gboolean tf32 = s->shape == GANTRY_MMA_M16N8K8_TF32;

  if (s->shape > GANTRY_MMA_M16N8K8_TF32)
    return fault (check, "shape %u", s->shape);
  return together (check, TRUE) && check_fragment (check, s->array, s->b, GANTRY_F32, 4)
         && check_fragment (check, s->c, s->offset_a, elements[s->shape], tf32 ? 4 : 8)
         && check_fragment (check, s->d, s->offset_b, elements[s->shape], tf32 ? 2 : 4);
}

/* A tile of WGMMA: that it begins at the same multiple of 1024 bytes for four warps is judged when it runs on the CPU.
 */
static gboolean
check_tile (Check *check, guint32 array, guint32 index, guint own)
{
  const GantryGridArray *tile = array_at (check, array, GANTRY_SPACE_SHARED);

  if (tile == NULL || !index_in (check, tile, index, own * GANTRY_WGMMA_DEPTH, NULL))
    return FALSE;
  if (tile->element != GANTRY_F16 && tile->element != GANTRY_BF16)
    return fault (check, "a tile of %s", gantry_element_name (tile->element));
  return divides_by (check, index, 512) || fault (check, "a tile in %s may begin at no multiple of 1024 bytes", tile->name);
}

static gboolean
check_wgmma (Check *check, const GantryGridStatement *s)
{
  const GantryGridArray *sums = array_at (check, s->array, GANTRY_SPACE_PRIVATE);
  const guint32 *block = check->grid->block;

  if (!together (check, TRUE) || sums == NULL)
    return FALSE;
  if (check->gpu != NULL && !check->gpu->has_wgmma)
    return fault (check, "%s has no wgmma", check->gpu->arch);
  if (block[0] % 128 != 0 || s->step < 8 || s->step > 256 || s->step % 8 != 0 || sums->element != GANTRY_F32 || sums->count < (guint64) s->step / 2)
    return fault (check, "%" G_GINT64_FORMAT " columns by %u threads", s->step, block[0]);
  if (s->kind == GANTRY_GRID_WGMMA_AWAIT)
    return TRUE;
  return check_tile (check, s->c, s->offset_a, GANTRY_WGMMA_ROWS) && check_tile (check, s->d, s->offset_b, (guint) s->step)
         && (g_array_index (check->grid->arrays, GantryGridArray, s->c).element == g_array_index (check->grid->arrays, GantryGridArray, s->d).element
             || fault (check, "tiles of two types"));
}

static gboolean
check_let (Check *check, const GantryGridStatement *s)
{
  gboolean varies;

  if (!expression (check, s->a, GANTRY_GRID_NONE, &varies))
    return FALSE;
  define (check, s, varies);
  return TRUE;
}

static gboolean
check_statement (Check *check, const GantryGridStatement *s)
{
  check->round++;
  switch ((GantryGridKind) s->kind)
    {
    case GANTRY_GRID_LET: return check_let (check, s);
    case GANTRY_GRID_SET:
    case GANTRY_GRID_GET: return memory_access (check, s);
    case GANTRY_GRID_FOR: return begin_for (check, s);
    case GANTRY_GRID_IF: return begin_if (check, s);
    case GANTRY_GRID_ELSE:
    case GANTRY_GRID_END: return end_scope (check, s);
    case GANTRY_GRID_BARRIER: return together (check, FALSE);
    case GANTRY_GRID_SHUFFLE: return check_shuffle (check, s);
    case GANTRY_GRID_FETCH: return check_fetch (check, s);
    case GANTRY_GRID_MATRIX_LOAD: return check_matrix_load (check, s);
    case GANTRY_GRID_MMA: return check_mma (check, s);
    case GANTRY_GRID_WGMMA:
    case GANTRY_GRID_WGMMA_AWAIT: return check_wgmma (check, s);
    default: return TRUE;
    }
}

/* The whole */

static gboolean
check_size (Check *check)
{
  const GantryGrid *grid = check->grid;
  guint64 threads = (guint64) grid->block[0] * grid->block[1] * grid->block[2];

  check->at = G_MAXUINT32;
  if (threads > MAX_THREADS || grid->block[2] > 64)
    return fault (check, "a block of %u x %u x %u threads", grid->block[0], grid->block[1], grid->block[2]);
  if (grid->grid[0] > G_MAXINT32 || grid->grid[1] > 65535 || grid->grid[2] > 65535)
    return fault (check, "a grid of %u x %u x %u blocks", grid->grid[0], grid->grid[1], grid->grid[2]);
  if (check->gpu != NULL && gantry_grid_shared_bytes (grid) > check->gpu->shared_bytes)
    return fault (check, "%" G_GUINT64_FORMAT " bytes of shared memory, of %" G_GUINT64_FORMAT " that %s has", gantry_grid_shared_bytes (grid),
                  check->gpu->shared_bytes, check->gpu->arch);
  for (guint v = 0; v < grid->kx->n_vars; v++)
    {
      guint8 axis = grid->axis[v];
      gint64 size;

      if (axis < GANTRY_AXIS_BLOCK_X || axis > GANTRY_AXIS_THREAD_Z)
        continue;
      size = axis < GANTRY_AXIS_THREAD_X ? grid->grid[axis - GANTRY_AXIS_BLOCK_X] : grid->block[axis - GANTRY_AXIS_THREAD_X];
      if (grid->kx->extents[v] != size)
        return fault (check, "variable i%u has %" G_GINT64_FORMAT " values, its axis %" G_GINT64_FORMAT, v, grid->kx->extents[v], size);
      if (axis >= GANTRY_AXIS_THREAD_X)
        check->varying |= G_GUINT64_CONSTANT (1) << v;
    }
  if (grid->open->len > 0)
    return fault (check, "%u statements are not ended", grid->open->len);
  if (grid->kx->overflow)
    {
      g_set_error (check->error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "the expression is too large to be compiled");
      return FALSE;
    }
  return TRUE;
}

gboolean
gantry_grid_check (const GantryGrid *grid, const GantryGpu *gpu, GError **error)
{
  guint n_nodes = grid->kx->nodes->len, n_values = grid->kx->values->len;
  Check check = { .grid = grid, .gpu = gpu, .error = error, .copies = 1 };
  gboolean good;

  check.is_defined = g_new0 (guint8, n_values + 1);
  check.value_varies = g_new0 (guint8, n_values + 1);
  check.seen = g_new0 (guint32, n_nodes + 1);
  check.node_varies = g_new0 (guint8, n_nodes + 1);
  check.defined = g_array_new (FALSE, FALSE, sizeof (guint32));
  check.scopes = g_array_new (FALSE, FALSE, sizeof (Scope));
  good = check_size (&check);
  for (check.at = 0; good && check.at < grid->statements->len; check.at++)
    good = check_statement (&check, &g_array_index (grid->statements, GantryGridStatement, check.at));
  g_free (check.is_defined);
  g_free (check.value_varies);
  g_free (check.seen);
  g_free (check.node_varies);
  g_array_unref (check.defined);
  g_array_unref (check.scopes);
  return good;
}
