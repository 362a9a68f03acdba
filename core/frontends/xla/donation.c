/* SPDX-License-Identifier: Apache-2.0 */
/* Donation: a text names the result that is written over a parameter (`tf.aliasing_output`, `input_output_alias`), or only
 * says that a parameter may be written over (`jax.buffer_donor`, `buffer_donor`). Either becomes the parameter's attribute
 * `alias`, which is what the memory plan reads. */
#include "core/frontends/xla/xla-private.h"

/* A result can lie in the parameter's place. What is only a donor takes a result of its very type, as XLA does. */
static gboolean
fits (GantryBuilder *b, guint32 parameter, guint32 result, gboolean any)
{
  const GantryType *from = gantry_builder_get_type (b, parameter), *to = gantry_builder_get_type (b, result);

  if (from->kind != GANTRY_TYPE_TENSOR || to->kind != GANTRY_TYPE_TENSOR || from->memory != to->memory)
    return FALSE;
  return any ? gantry_builder_type (b, parameter) == gantry_builder_type (b, result)
             : gantry_type_bytes (from) > 0 && gantry_type_bytes (from) == gantry_type_bytes (to);
}

static void
set_alias (GantryBuilder *b, guint32 parameter, guint result)
{
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (b));

  gantry_attr_list_set_all (attrs, gantry_builder_node (b, parameter)->attrs);
  gantry_attr_list_set_int (attrs, "alias", result);
  gantry_builder_set_parameter_attrs (b, parameter, gantry_attr_list_end (attrs));
}

static gboolean
is_donated (GantryBuilder *b, guint32 parameter)
{
  return gantry_attrs_find (gantry_builder_context (b), gantry_builder_node (b, parameter)->attrs, "alias") != NULL;
}

/* Named results first: what is left is for those that take any. */
void
gantry_xla_donate (GantryBuilder *b, const GArray *donations, const guint32 *results, guint n_results)
{
  g_autofree guint8 *taken = g_new0 (guint8, (gsize) n_results + 1);

  for (guint any = 0; any < 2; any++)
    for (guint i = 0; i < donations->len; i++)
      {
        const XlaDonation *donation = &g_array_index (donations, XlaDonation, i);
        gint64 from = any ? 0 : donation->result, to = any ? (gint64) n_results - 1 : donation->result;

        if ((donation->result < 0) != (any != 0) || is_donated (b, donation->parameter))
          continue;
        for (gint64 r = from; r <= to && r < n_results; r++)
          if (!taken[r] && results[r] != 0 && fits (b, donation->parameter, results[r], any != 0))
            {
              taken[r] = TRUE;
              set_alias (b, donation->parameter, (guint) r);
              break;
            }
      }
}
