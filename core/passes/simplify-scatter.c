/* SPDX-License-Identifier: Apache-2.0 */
/* simplify: a scatter of one place in each row of what is the same everywhere. */
#include "core/passes/simplify-private.h"
#include <string.h>

/* Where the dimensions of a value go in the operand of the scatter; those of size one go nowhere. */
typedef struct
{
  guint rank;
  GantryDim sizes[GANTRY_MAX_RANK];
  gint64 dims[GANTRY_MAX_RANK];
} Rows;

typedef struct
{
  GantryBuilder *b;
  const GantryType *operand, *indices, *updates;
  const gint64 *window, *inserted, *batching, *indices_batching, *places;
  gsize n_window, n_inserted, n_batching, n_indices_batching, n_places;
  gint64 index_vector_dim;
  Rows of_indices, of_updates;
} Scatter;

static gsize
find (const gint64 *list, gsize n, gint64 dim)
{
  gsize i = 0;

  while (i < n && list[i] != dim)
    i++;
  return i;
}

/* Rows stand in the order of the operand, so that a broadcast puts them there. */
static gboolean
add_row (Rows *rows, GantryDim size, gint64 dim)
{
  if (rows->rank > 0 && rows->dims[rows->rank - 1] >= dim)
    return FALSE;
  rows->sizes[rows->rank] = size;
  rows->dims[rows->rank++] = dim;
  return TRUE;
}

/* One place for each row: each dimension of the indices is one of the operand, or of size one. */
static gboolean
read_indices (Scatter *s)
{
  if (s->index_vector_dim < s->indices->rank && s->indices->dims[s->index_vector_dim] != 1)
    return FALSE;
  for (guint d = 0; d < s->indices->rank; d++)
    {
      gsize k = find (s->indices_batching, s->n_indices_batching, d);

      if (d == s->index_vector_dim || (k == s->n_indices_batching && s->indices->dims[d] == 1))
        continue;
      if (k >= s->n_batching || !add_row (&s->of_indices, s->indices->dims[d], s->batching[k]))
        return FALSE;
    }
  return TRUE;
}

/* Whole windows: what is written has the sizes of the operand but in the dimension of the place. */
static gboolean
read_updates (Scatter *s)
{
  guint scattered = 0, whole = 0;

  for (guint d = 0; d < s->updates->rank; d++)
    {
      gboolean in_window = find (s->window, s->n_window, d) < s->n_window;
      gint64 dim;

      if (in_window)
        {
          while (whole < s->operand->rank && (whole == s->places[0] || find (s->batching, s->n_batching, whole) < s->n_batching))
            whole++;
          dim = whole++;
        }
      else
        {
          gsize k;

          scattered += scattered == s->index_vector_dim;
          k = find (s->indices_batching, s->n_indices_batching, scattered++);
          if (k >= s->n_batching)
            {
              if (s->updates->dims[d] != 1)
                return FALSE;
              continue;
            }
          dim = s->batching[k];
        }
      if (dim >= s->operand->rank || s->updates->dims[d] != s->operand->dims[dim] || !add_row (&s->of_updates, s->updates->dims[d], dim))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_scatter (Scatter *s, const GantryNode *node)
{
  GantryContext *context = gantry_builder_context (s->b);

  s->window = gantry_attrs_ints (context, node->attrs, "update_window_dims", &s->n_window);
  s->inserted = gantry_attrs_ints (context, node->attrs, "inserted_window_dims", &s->n_inserted);
  s->batching = gantry_attrs_ints (context, node->attrs, "input_batching_dims", &s->n_batching);
  s->indices_batching = gantry_attrs_ints (context, node->attrs, "scatter_indices_batching_dims", &s->n_indices_batching);
  s->places = gantry_attrs_ints (context, node->attrs, "scatter_dims_to_operand_dims", &s->n_places);
  s->index_vector_dim = gantry_attrs_int (context, node->attrs, "index_vector_dim", 0);
  if (!gantry_type_is_static (s->operand) || !gantry_type_is_static (s->indices) || !gantry_type_is_static (s->updates) || s->n_places != 1
      || s->n_inserted != 1 || s->inserted[0] != s->places[0] || s->n_batching != s->n_indices_batching || gantry_element_size (s->indices->element) < 4
      || s->operand->dims[s->places[0]] > G_MAXINT32)
    return FALSE;
  return read_indices (s) && read_updates (s);
}

static guint32
spread (const Scatter *s, guint32 value, const Rows *rows)
{
  guint32 narrow = gantry_builder_reshape (s->b, value, rows->rank, rows->sizes);

  return gantry_builder_broadcast (s->b, narrow, s->operand->rank, s->operand->dims, rows->dims);
}

static guint32
combine (GantryBuilder *b, const char *kind, guint32 x, guint32 update)
{
  static const struct
  {
    const char *kind;
    guint16 op;
  } ops[] = {
    { "add", GANTRY_OP_ADD },
    { "mul", GANTRY_OP_MULTIPLY },
    { "max", GANTRY_OP_MAXIMUM },
    { "min", GANTRY_OP_MINIMUM },
  };

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (strcmp (kind, ops[i].kind) == 0)
      return gantry_builder_binary (b, ops[i].op, x, update);
  return update;
}

guint32
_gantry_simplify_scatter (GantryBuilder *b, const GantryNode *node, const guint32 *x)
{
  Scatter s = {
    .b = b, .operand = gantry_builder_get_type (b, x[0]), .indices = gantry_builder_get_type (b, x[1]), .updates = gantry_builder_get_type (b, x[2])
  };
  const char *kind = gantry_attrs_string (gantry_builder_context (b), node->attrs, "kind", "set");
  guint32 here, made;
  double value;

  if (!_gantry_simplify_is_uniform (b, x[0], &value) || !read_scatter (&s, node) || (s.operand->element == GANTRY_BOOL && strcmp (kind, "set") != 0))
    return 0;
  here = gantry_builder_compare (b, "EQ", spread (&s, x[1], &s.of_indices),
                                 gantry_builder_iota (b, (GantryElementType) s.indices->element, s.operand->rank, s.operand->dims, s.places[0]));
  made = combine (b, kind, x[0], spread (&s, x[2], &s.of_updates));
  return gantry_builder_select (b, here, made, x[0]);
}
