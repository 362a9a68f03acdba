/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for the parameters of a program, by its names. */
#include "tests/differential/differential.h"
#include <math.h>
#include <string.h>

/* What a sum over all but the first dimension leaves about 1. */
static double
weight_scale (const GantryType *type)
{
  gint64 n = gantry_type_elements (type);

  return type->rank < 2 || n == 0 ? 0.5 : 1 / sqrt ((double) n / (double) type->dims[0] + 1);
}

/* Floats have 8 bits or fewer, so that all float types hold them, and keep away from 0, where many operations have a
 * jump or a kink. */
static double
float_value (GRand *rand, char kind, double scale)
{
  double magnitude = g_rand_int_range (rand, 16, 256) / 128.0;

  if (kind == 'g')
    return 0.5 + magnitude / 2;
  return (g_rand_boolean (rand) ? magnitude : -magnitude) * (kind == 'w' ? exp2 (round (log2 (scale))) : 1);
}

/* Of every eighth program about one element in thirty is no number: it has to reach whatever is computed of it, and nothing else. */
static gboolean
has_nans (guint64 seed)
{
  return g_int64_hash (&seed) % 8 == 0;
}

static gint64
integer_value (GRand *rand, const GantryType *type, gboolean is_count)
{
  return g_rand_int_range (rand, is_count || !gantry_element_is_signed (type->element) ? 0 : -2, 11);
}

static GantryLiteral *
make_literal (const GantryType *type, const char *name, guint64 seed)
{
  guint32 words[3] = { (guint32) seed, (guint32) (seed >> 32), g_str_hash (name) };
  g_autoptr (GRand) rand = g_rand_new_with_seed_array (words, 3);
  gsize size = gantry_element_size (type->element);
  double scale = weight_scale (type);
  gboolean is_square = g_str_has_suffix (name, "/v"); /* Adam's second moment */
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  for (gint64 i = 0; i < gantry_type_elements (type); i++)
    if (type->element == GANTRY_BOOL)
      data[i] = g_rand_boolean (rand);
    else if (gantry_element_is_float (type->element))
      {
        double value = float_value (rand, is_square ? 'g' : *name, scale);

        gantry_element_write_double (type->element, data + i * size, has_nans (seed) && g_rand_int_range (rand, 0, 30) == 0 ? (double) NAN : value);
      }
    else
      gantry_element_write_int (type->element, data + i * size, integer_value (rand, type, strcmp (name, "step") == 0));
  return literal;
}

GPtrArray *
diff_inputs (const GantryModule *module, guint64 seed)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      g_ptr_array_add (inputs, make_literal (gantry_node_type (module, node), gantry_context_string (module->context, node->name), seed));
    }
  return inputs;
}
