/* SPDX-License-Identifier: Apache-2.0 */
/* One form of attributes for pretty text, generic text and bytecode: bytecode and the generic form say all of them, the pretty form leaves
 * out what is usual and has names of its own. What is usual is left out of all. */
#include "core/frontends/xla/mlir-private.h"
#include <stdio.h>

static gboolean
is_one_of (const char *names, const char *key)
{
  gsize n = strlen (key);

  for (const char *at = n > 0 ? strstr (names, key) : NULL; at != NULL; at = strstr (at + 1, key))
    if ((at == names || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
      return TRUE;
  return FALSE;
}

static gboolean
are_all (const GantryAttr *item, gint64 value)
{
  for (gsize i = 0; i < item->n; i++)
    if (item->ints[i] != value)
      return FALSE;
  return TRUE;
}

static gboolean
is_usual_list (const GantryAttr *item, const char *key)
{
  if (is_one_of ("lhs_batching_dimensions rhs_batching_dimensions operand_batching_dims start_indices_batching_dims "
                 "input_batching_dims scatter_indices_batching_dims update_window_dims inserted_window_dims "
                 "scatter_dims_to_operand_dims offset_dims collapsed_slice_dims start_index_map called_computations output_operand_aliases "
                 "operand_layouts result_layouts",
                 key))
    return item->n == 0;
  if (is_one_of ("window_strides lhs_dilation rhs_dilation base_dilations window_dilations", key))
    return are_all (item, 1);
  return is_one_of ("window_reversal padding", key) && are_all (item, 0);
}

static gboolean
is_usual_number (const GantryAttr *item, const char *key)
{
  if (is_one_of ("batch_group_count feature_group_count api_version", key))
    return item->i == 1;
  return is_one_of ("indices_are_sorted unique_indices has_side_effect is_stable use_global_device_ids index_vector_dim "
                    "version",
                    key)
         && item->i == 0;
}

static gboolean
is_usual_text (const char *text, const char *key)
{
  if (is_one_of ("accumulation_type allow_imprecise_accumulation lhs_component_count lhs_precision_type "
                 "num_primitive_operations rhs_component_count rhs_precision_type",
                 key))
    return strcmp (text, "none") == 0;
  return strcmp (key, "compare_type") == 0      ? strcmp (text, "NOTYPE") == 0
         : strcmp (key, "backend_config") == 0  ? *text == 0
         : strcmp (key, "result_accuracy") == 0 ? strstr (text, "atol = 0") != NULL && strstr (text, "mode = DEFAULT") != NULL
                                                    && strstr (text, "rtol = 0") != NULL && strstr (text, "ulps = 0") != NULL
                                                : FALSE;
}

/* "[DEFAULT, HIGHEST]", whichever way it is written. Returns: (transfer full) (nullable): %NULL where nothing is asked for */
static char *
precision_of (const char *text)
{
  g_autoptr (GString) list = g_string_new ("[");
  g_auto (GStrv) words = g_strsplit_set (text, "[], <>#", -1);
  gboolean asked = FALSE;

  for (guint i = 0; words[i] != NULL; i++)
    if (is_one_of ("DEFAULT HIGH HIGHEST", words[i]) && *words[i] != 0)
      {
        asked = asked || strcmp (words[i], "DEFAULT") != 0;
        g_string_append_printf (list, "%s%s", list->len > 1 ? ", " : "", words[i]);
      }
  return asked ? g_strdup_printf ("%s]", list->str) : NULL;
}

static void
take_item (Mlir *m, MlirOp *op, const GantryAttr *item, gboolean is_call)
{
  const char *key = gantry_context_string (m->context, item->key);
  const char *text = item->kind == GANTRY_ATTR_STRING ? gantry_context_string (m->context, item->id) : NULL;
  guint exponent, mantissa;

  if (is_call && strcmp (key, "call_target_name") == 0 && text != NULL)
    gantry_attr_list_set_string (op->attrs, "callee", text);
  else if (text != NULL && strcmp (key, "algorithm") == 0 && strcmp (op->name, "stablehlo.rng_bit_generator") == 0)
    gantry_attr_list_set_string (op->attrs, "rng_algorithm", text);
  else if (text != NULL && strcmp (key, "format") == 0 && sscanf (text, "e%um%u", &exponent, &mantissa) == 2)
    {
      gantry_attr_list_set_int (op->attrs, "exponent_bits", exponent);
      gantry_attr_list_set_int (op->attrs, "mantissa_bits", mantissa);
    }
  else if (text != NULL && (strcmp (key, "precision") == 0 || strcmp (key, "precision_config") == 0))
    {
      g_autofree char *precision = precision_of (text);

      if (precision != NULL)
        gantry_attr_list_set_string (op->attrs, "precision_config", precision);
    }
  else if ((item->kind == GANTRY_ATTR_INTS && is_usual_list (item, key)) || (item->kind == GANTRY_ATTR_INT && is_usual_number (item, key))
           || (text != NULL && is_usual_text (text, key)))
    ;
  else
    gantry_attr_list_set_item (op->attrs, item);
}

void
gantry_mlir_leave_usual (Mlir *m, MlirOp *op)
{
  gboolean is_call = strcmp (op->name, "func.call") == 0 || strcmp (op->name, "call") == 0;
  const GantryAttrs *attrs;
  guint32 id;

  if (m->s.error != NULL || !(is_call || g_str_has_prefix (op->name, "stablehlo.")))
    return;
  id = gantry_attr_list_end (g_steal_pointer (&op->attrs));
  op->attrs = gantry_attr_list_new (m->context);
  attrs = gantry_context_attrs (m->context, id);
  for (guint i = 0; i < attrs->n; i++)
    take_item (m, op, &attrs->items[i], is_call);
}
