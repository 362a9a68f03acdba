/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: the frame (what a program is about, how many pieces it has, what it returns) and what the pieces
 * share. */
#include "core/autodiff/autodiff.h"
#include "tests/differential/edit.h"
#include "tests/differential/generate.h"
#include <math.h>
#include <string.h>

/* Chance and choice */

gint
_diff_upto (DiffMaker *m, gint n)
{
  return g_rand_int_range (m->rand, 0, n);
}

gboolean
_diff_chance (DiffMaker *m, gint percent)
{
  return g_rand_int_range (m->rand, 0, 100) < percent;
}

gint64
_diff_channels (DiffMaker *m)
{
  static const gint64 counts[] = { 3, 4, 7, 8, 8, 9, 12, 15, 16, 16, 17, 24, 32, 64 };

  return counts[_diff_upto (m, G_N_ELEMENTS (counts))];
}

const GantryType *
_diff_type_of (DiffMaker *m, guint32 id)
{
  return gantry_builder_get_type (m->b, id);
}

gint64
_diff_elements (DiffMaker *m, guint32 id)
{
  return gantry_type_elements (_diff_type_of (m, id));
}

guint32
_diff_put (DiffMaker *m, guint32 id)
{
  g_autoptr (GError) error = NULL;

  if (!gantry_builder_check (m->b, &error))
    g_error ("%s", error->message);
  if (_diff_elements (m, id) <= DIFF_MOST_ELEMENTS && _diff_elements (m, id) > 0)
    g_array_append_val (m->pool, id);
  return id;
}

gboolean
_diff_is_float (const GantryType *type)
{
  return gantry_element_is_float (type->element);
}

gboolean
_diff_is_image (const GantryType *type)
{
  return gantry_element_is_float (type->element) && type->rank >= 3 && type->rank <= 5 && type->dims[1] > 1;
}

/* The later of two, so that programs are deep and not only wide. */
guint32
_diff_pick (DiffMaker *m, gboolean (*test) (const GantryType *type))
{
  g_autoptr (GArray) fit = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint a, b;

  for (guint i = 0; i < m->pool->len; i++)
    {
      guint32 id = g_array_index (m->pool, guint32, i);

      if (test == NULL || test (_diff_type_of (m, id)))
        g_array_append_val (fit, id);
    }
  if (fit->len == 0)
    return 0;
  a = (guint) _diff_upto (m, (gint) fit->len);
  b = (guint) _diff_upto (m, (gint) fit->len);
  return g_array_index (fit, guint32, MAX (a, b));
}

guint32
_diff_pick_like (DiffMaker *m, guint32 like)
{
  guint32 found = like;
  guint n = 1;

  for (guint i = 0; i < m->pool->len; i++)
    {
      guint32 id = g_array_index (m->pool, guint32, i);

      if (id != like && gantry_builder_type (m->b, id) == gantry_builder_type (m->b, like) && _diff_upto (m, (gint) n++) == 0)
        found = id;
    }
  return found;
}

static guint32
new_image (DiffMaker *m)
{
  GantryDim dims[5] = { m->batch, _diff_channels (m), 3 + _diff_upto (m, 6), 3 + _diff_upto (m, 6), 2 + _diff_upto (m, 2) };
  gint kind = _diff_upto (m, 100);

  if (kind < 15)
    return _diff_put (m, _diff_leaf (m, DIFF_LEAF_INPUT, m->element, 3, dims));
  if (kind < 23 && dims[1] <= 17)
    {
      dims[2] = dims[3] = dims[4] + 1;
      return _diff_put (m, _diff_leaf (m, DIFF_LEAF_INPUT, m->element, 5, dims));
    }
  return _diff_put (m, _diff_leaf (m, DIFF_LEAF_INPUT, m->element, 4, dims));
}

guint32
_diff_pick_image (DiffMaker *m)
{
  guint32 found = _diff_pick (m, _diff_is_image);

  return found != 0 ? found : new_image (m);
}

guint32
_diff_pick_float (DiffMaker *m)
{
  guint32 found = _diff_pick (m, _diff_is_float);

  return found != 0 ? found : new_image (m);
}

/* Leaves */

static double
leaf_value (DiffMaker *m, DiffLeaf kind)
{
  return kind == DIFF_LEAF_SCALE ? g_rand_double_range (m->rand, 0.5, 1.5) : g_rand_double_range (m->rand, -1, 1);
}

/* A constant of random numbers, sometimes all equal. */
static guint32
constant (DiffMaker *m, DiffLeaf kind, GantryElementType element, guint rank, const GantryDim *dims)
{
  const GantryType *type = gantry_context_type (m->context, gantry_context_tensor (m->context, element, rank, dims));
  g_autoptr (GantryLiteral) literal = NULL;
  gboolean equal = _diff_chance (m, 15);
  double value = leaf_value (m, kind);
  guint8 *data;

  literal = gantry_literal_new_zeroed (type, &data);
  for (gint64 i = 0; i < gantry_type_elements (type); i++)
    {
      guint8 *p = data + i * gantry_element_size (element);

      if (!equal)
        value = leaf_value (m, kind);
      if (gantry_element_is_float (element))
        gantry_element_write_double (element, p, kind == DIFF_LEAF_WEIGHT ? value / 4 : value);
      else if (element == GANTRY_BOOL)
        *p = value > 0;
      else
        gantry_element_write_int (element, p, (gint64) (value * 6));
    }
  return gantry_builder_literal (m->b, literal);
}

guint32
_diff_leaf (DiffMaker *m, DiffLeaf kind, GantryElementType element, guint rank, const GantryDim *dims)
{
  static const char letters[] = "xwg";
  g_autofree char *name = g_strdup_printf ("%c%u", letters[kind], m->n_leaves++);
  const GantryType *type = gantry_context_type (m->context, gantry_context_tensor (m->context, element, rank, dims));
  g_autofree guint8 *zero = g_new0 (guint8, 16);
  g_autoptr (GBytes) bytes = g_bytes_new (zero, gantry_element_size (element));
  g_autoptr (GantryLiteral) literal = NULL;
  GantryAttrList *attrs;

  if (m->depth > 0 || (kind != DIFF_LEAF_INPUT && _diff_chance (m, 25)))
    return constant (m, kind, element, rank, dims);
  literal = gantry_literal_new (type, bytes, TRUE, NULL);
  attrs = gantry_attr_list_new (m->context);
  gantry_attr_list_set_literal (attrs, "value", gantry_context_add_literal (m->context, literal));
  gantry_attr_list_set_string (attrs, "leaf", kind == DIFF_LEAF_INPUT ? "input" : "parameter");
  gantry_builder_set_name (m->b, gantry_context_intern (m->context, name));
  return gantry_builder_add (m->b, GANTRY_OP_CONSTANT, NULL, 0, gantry_attr_list_end (attrs));
}

guint32
_diff_splat_like (DiffMaker *m, guint32 like, double value)
{
  const GantryType *type = _diff_type_of (m, like);

  return gantry_builder_splat (m->b, (GantryElementType) type->element, value, type->rank, type->dims);
}

guint32
_diff_along (DiffMaker *m, guint32 vector, gint64 dimension, guint32 like)
{
  const GantryType *type = _diff_type_of (m, like);

  return gantry_builder_broadcast (m->b, vector, type->rank, type->dims, &dimension);
}

guint32
_diff_unary (DiffMaker *m, guint op, guint32 x)
{
  return gantry_builder_unary (m->b, op, x);
}

guint32
_diff_binary (DiffMaker *m, guint op, guint32 x, guint32 y)
{
  return gantry_builder_binary (m->b, op, x, y);
}

guint32
_diff_reduce_keep (DiffMaker *m, const char *kind, guint32 x, gint64 axis)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 map[GANTRY_MAX_RANK];
  guint n = 0;

  for (guint i = 0; i < type->rank; i++)
    if (i != axis)
      map[n++] = i;
  return gantry_builder_broadcast (m->b, gantry_builder_reduce (m->b, kind, x, &axis, 1), type->rank, type->dims, map);
}

/* The frame */

static void
write_pieces (DiffMaker *m)
{
  gint n = 1 + _diff_upto (m, 6);

  for (gint i = 0; i < n; i++)
    switch (_diff_upto (m, 17))
      {
      case 0:
      case 1:
      case 2:
      case 12:
      case 13: _diff_write_topology (m); break;
      case 3:
      case 4: _diff_write_convolution (m); break;
      case 5:
      case 6:
      case 7: _diff_write_elementwise (m); break;
      case 8:
      case 9: _diff_write_movement (m); break;
      case 10: _diff_write_sum (m); break;
      case 14:
      case 15: _diff_write_index (m); break;
      case 16: _diff_write_control (m); break;
      default: _diff_write_product (m); break;
      }
  /* Pieces that found nothing to work on have written nothing. */
  while (m->pool->len == 0)
    _diff_write_elementwise (m);
}

/* The last value, and one or two others. */
static guint
choose_results (DiffMaker *m, guint32 *results)
{
  guint n = 0;

  results[n++] = g_array_index (m->pool, guint32, m->pool->len - 1);
  for (gint i = _diff_upto (m, 3); i > 0; i--)
    results[n++] = _diff_pick (m, NULL);
  return n;
}

static GantryElementType
main_element (GRand *rand)
{
  static const GantryElementType elements[] = { GANTRY_F32, GANTRY_F32, GANTRY_F32, GANTRY_F32, GANTRY_F32,
                                                GANTRY_F32, GANTRY_F32, GANTRY_F64, GANTRY_F16, GANTRY_BF16 };

  return elements[g_rand_int_range (rand, 0, G_N_ELEMENTS (elements))];
}

static GantryModule *
write_forward (DiffMaker *m)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;
  GantryLocation place = { .text = gantry_context_intern (m->context, "made at random") };
  guint32 results[4];

  gantry_builder_set_place (m->b, 0, gantry_context_location (m->context, &place));
  gantry_builder_begin (m->b, "main", 0);
  new_image (m);
  write_pieces (m);
  gantry_builder_end (m->b, results, choose_results (m, results));
  module = gantry_builder_finish (m->b, &error);
  if (module == NULL)
    g_error ("%s", error->message);
  return diff_edit_leaves (module);
}

/* Training */

static gboolean
has_parameters (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint i = 0; i < entry->n_params; i++)
    if (strcmp (gantry_attrs_string (module->context, module->nodes[entry->first_node + i].attrs, "role", ""), "parameter") == 0)
      return TRUE;
  return FALSE;
}

static gboolean
has_float_result (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, entry, 0));

  return gantry_element_is_float (gantry_node_type (module, node)->element);
}

/* A training step of @module; what has no derivative stays a forward program. */
static GantryModule *
make_step (DiffMaker *m, GantryModule *module)
{
  static const GantryOptimizer optimizers[] = { GANTRY_OPTIMIZER_NONE,     GANTRY_OPTIMIZER_NONE, GANTRY_OPTIMIZER_SGD,
                                                GANTRY_OPTIMIZER_MOMENTUM, GANTRY_OPTIMIZER_ADAM, GANTRY_OPTIMIZER_ADAMW };
  g_autoptr (GError) error = NULL;
  GantryTrainingOptions options;
  GantryModule *step;

  if (!has_parameters (module) || !has_float_result (module))
    return gantry_module_ref (module);
  gantry_training_options_init (&options);
  options.optimizer = optimizers[_diff_upto (m, G_N_ELEMENTS (optimizers))];
  options.loss = _diff_chance (m, 50) ? GANTRY_LOSS_OUTPUT : GANTRY_LOSS_MEAN_SQUARED_ERROR;
  if (_diff_chance (m, 20))
    options.clip_norm = 1;
  step = gantry_training_step (module, &options, NULL, &error);
  gantry_training_options_clear (&options);
  if (step == NULL && !g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED))
    g_error ("%s", error->message);
  return step != NULL ? step : gantry_module_ref (module);
}

GantryModule *
diff_generate (guint64 seed)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "random");
  g_autoptr (GantryModule) forward = NULL;
  guint32 words[2] = { (guint32) seed, (guint32) (seed >> 32) };
  DiffMaker m = { .b = builder, .context = context };
  GantryModule *module;

  m.rand = g_rand_new_with_seed_array (words, 2);
  m.pool = g_array_new (FALSE, FALSE, sizeof (guint32));
  m.element = main_element (m.rand);
  m.batch = _diff_chance (&m, 50) ? 1 : 2 + _diff_upto (&m, 2);
  forward = write_forward (&m);
  module = _diff_chance (&m, 40) ? make_step (&m, forward) : gantry_module_ref (forward);
  g_array_unref (m.pool);
  g_rand_free (m.rand);
  return module;
}
