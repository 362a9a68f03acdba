/* SPDX-License-Identifier: Apache-2.0 */
/* StableHLO's portable form (VHLO), which bytecode is written in: every operation has a version behind its name, every
 * attribute is said, and numbers of dimensions stand alone. What each is in StableHLO. */
#include "core/frontends/xla/mlir-bytecode-private.h"

/* The attributes of each operation, in the order that they are written in, which is that of their names. An operation
 * that is not here has none. A name without a version is that of all of them. */
static const struct
{
  const char *operation, *attributes;
} operations[] = {
  { "all_gather", "all_gather_dim channel_id replica_groups use_global_device_ids" },
  { "all_reduce", "channel_id replica_groups use_global_device_ids" },
  { "all_to_all", "channel_id concat_dimension replica_groups split_count split_dimension" },
  { "batch_norm_grad", "epsilon feature_index" },
  { "batch_norm_inference", "epsilon feature_index" },
  { "batch_norm_training", "epsilon feature_index" },
  { "broadcast", "broadcast_sizes" },
  { "broadcast_in_dim", "broadcast_dimensions" },
  { "call", "callee" },
  { "cbrt_v2", "result_accuracy" },
  { "cholesky", "lower" },
  { "collective_broadcast", "channel_id replica_groups" },
  { "collective_permute", "channel_id source_target_pairs" },
  { "compare", "compare_type comparison_direction" },
  { "composite", "composite_attributes decomposition name version" },
  { "concatenate", "dimension" },
  { "constant", "value" },
  { "convolution", "batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions "
                   "kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation "
                   "output_batch_dimension output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation "
                   "window_reversal window_strides" },
  { "cosine_v2", "result_accuracy" },
  { "cross_replica_sum", "replica_groups" },
  { "custom_call", "api_version backend_config call_target_name called_computations has_side_effect operand_layouts "
                   "output_operand_aliases result_layouts" },
  { "dot", "precision_config" },
  { "dot_general_v1", "lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions "
                      "rhs_contracting_dimensions" },
  { "dot_general", "accumulation_type allow_imprecise_accumulation lhs_batching_dimensions lhs_component_count "
                   "lhs_contracting_dimensions lhs_precision_type num_primitive_operations precision_config rhs_batching_dimensions "
                   "rhs_component_count rhs_contracting_dimensions rhs_precision_type" },
  { "dynamic_broadcast_in_dim", "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions" },
  { "dynamic_conv", "batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions "
                    "kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation "
                    "output_batch_dimension output_feature_dimension output_spatial_dimensions precision_config rhs_dilation "
                    "window_reversal window_strides" },
  { "dynamic_gather_v1", "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map" },
  { "dynamic_gather", "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims start_index_map "
                      "start_indices_batching_dims" },
  { "dynamic_iota", "iota_dimension" },
  { "dynamic_slice", "slice_sizes" },
  { "einsum", "einsum_config" },
  { "exponential_minus_one_v2", "result_accuracy" },
  { "exponential_v2", "result_accuracy" },
  { "fft", "fft_length fft_type" },
  { "func", "arg_attrs function_type res_attrs sym_name sym_visibility" },
  { "gather_v1", "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes start_index_map" },
  { "gather", "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims slice_sizes "
              "start_index_map start_indices_batching_dims" },
  { "get_dimension_size", "dimension" },
  { "get_tuple_element", "index" },
  { "infeed", "infeed_config layout" },
  { "iota", "iota_dimension" },
  { "log_plus_one_v2", "result_accuracy" },
  { "log_v2", "result_accuracy" },
  { "logistic_v2", "result_accuracy" },
  { "map", "dimensions" },
  { "outfeed", "outfeed_config" },
  { "pad", "edge_padding_high edge_padding_low interior_padding" },
  { "recv_v1", "channel_id channel_type is_host_transfer" },
  { "reduce", "dimensions" },
  { "reduce_precision", "exponent_bits mantissa_bits" },
  { "reduce_scatter", "channel_id replica_groups scatter_dimension use_global_device_ids" },
  { "reduce_window", "base_dilations padding window_dilations window_dimensions window_strides" },
  { "reverse", "dimensions" },
  { "rng", "rng_distribution" },
  { "rng_bit_generator", "rng_algorithm" },
  { "rsqrt_v2", "result_accuracy" },
  { "scatter_v1", "index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims unique_indices "
                  "update_window_dims" },
  { "scatter", "index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims scatter_dims_to_operand_dims "
               "scatter_indices_batching_dims unique_indices update_window_dims" },
  { "select_and_scatter", "padding window_dimensions window_strides" },
  { "send_v1", "channel_id channel_type is_host_transfer" },
  { "set_dimension_size", "dimension" },
  { "sine_v2", "result_accuracy" },
  { "slice", "limit_indices start_indices strides" },
  { "sort", "dimension is_stable" },
  { "sqrt_v2", "result_accuracy" },
  { "tan_v2", "result_accuracy" },
  { "tanh_v2", "result_accuracy" },
  { "torch_index_select", "batch_dims dim" },
  { "trace", "tag" },
  { "transpose", "permutation" },
  { "triangular_solve", "left_side lower transpose_a unit_diagonal" },
  { "unary_einsum", "einsum_config" },
};

/* "add_v1": the length of "add"; all of a name without a version. */
static gsize
length_without_version (const char *name)
{
  const char *mark = g_strrstr (name, "_v");
  const char *digit = mark != NULL ? mark + 2 : "";

  for (; g_ascii_isdigit (*digit); digit++)
    ;
  return mark != NULL && mark[2] != 0 && *digit == 0 ? (gsize) (mark - name) : strlen (name);
}

char *
gantry_vhlo_operation (const char *name)
{
  g_autofree char *plain = g_strndup (name, length_without_version (name));

  return strcmp (plain, "func") == 0 ? g_strdup ("func.func") : strcmp (plain, "call") == 0 ? g_strdup ("func.call") : g_strconcat ("stablehlo.", plain, NULL);
}

const char *
gantry_vhlo_attributes (const char *name)
{
  gsize length = length_without_version (name);

  for (guint i = 0; i < G_N_ELEMENTS (operations); i++)
    if (strcmp (operations[i].operation, name) == 0 || (strlen (operations[i].operation) == length && strncmp (operations[i].operation, name, length) == 0))
      return operations[i].attributes;
  return NULL;
}

const char *
gantry_vhlo_choice (guint64 code, guint64 value, const char **enumeration)
{
  static const char *const directions[] = { "EQ", "NE", "GE", "GT", "LE", "LT", NULL };
  static const char *const types[] = { "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", NULL };
  static const char *const transforms[] = { "FFT", "IFFT", "RFFT", "IRFFT", NULL };
  static const char *const precisions[] = { "DEFAULT", "HIGH", "HIGHEST", NULL };
  static const char *const algorithms[] = { "DEFAULT", "THREE_FRY", "PHILOX", NULL };
  static const char *const distributions[] = { "UNIFORM", "NORMAL", NULL };
  static const char *const transposes[] = { "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT", NULL };
  static const char *const modes[] = { "DEFAULT", "HIGHEST", "TOLERANCE", NULL };
  static const struct
  {
    const char *name;
    const char *const *values;
  } choices[] = {
    [3] = { "comparison_direction", directions }, [4] = { "comparison_type", types },       [7] = { "fft_type", transforms },
    [11] = { "precision", precisions },           [12] = { "rng_algorithm", algorithms },   [13] = { "rng_distribution", distributions },
    [16] = { "transpose", transposes },           [19] = { "result_accuracy_mode", modes },
  };

  *enumeration = "";
  if (code >= G_N_ELEMENTS (choices) || choices[code].name == NULL || value >= g_strv_length ((char **) choices[code].values))
    return NULL;
  *enumeration = choices[code].name;
  return choices[code].values[value];
}

/* Attributes */

/* "[b, 0, 1, f]" of the dimensions that @letters name and the spatial ones. Returns: FALSE where they do not fit */
static gboolean
append_labels (Mlir *m, guint32 attrs, const char *side, const char *first, const char *second, const char *letters, GString *text)
{
  char keys[3][64];
  char labels[GANTRY_MAX_RANK][4] = { { 0 } };
  gsize n;
  const gint64 *spatial;

  g_snprintf (keys[0], sizeof keys[0], "%s_%s_dimension", side, first);
  g_snprintf (keys[1], sizeof keys[1], "%s_%s_dimension", side, second);
  g_snprintf (keys[2], sizeof keys[2], "%s_spatial_dimensions", side);
  spatial = gantry_attrs_ints (m->context, attrs, keys[2], &n);
  for (gsize i = 0; i < n + 2; i++)
    {
      gint64 dim = i < 2 ? gantry_attrs_int (m->context, attrs, keys[i], -1) : spatial[i - 2];

      if (n + 2 > GANTRY_MAX_RANK || dim < 0 || dim >= (gint64) n + 2 || labels[dim][0] != 0)
        return FALSE;
      if (i < 2)
        labels[dim][0] = letters[i];
      else
        g_snprintf (labels[dim], sizeof labels[dim], "%u", (guint) i - 2);
    }
  g_string_append_c (text, '[');
  for (gsize i = 0; i < n + 2; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", labels[i]);
  g_string_append_c (text, ']');
  return TRUE;
}

static void
convolution (Mlir *m, MlirOp *op, guint32 attrs)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (append_labels (m, attrs, "input", "batch", "feature", "bf", text)
      && append_labels (m, attrs, "kernel", "input_feature", "output_feature", "io", g_string_append (text, "x"))
      && append_labels (m, attrs, "output", "batch", "feature", "bf", g_string_append (text, "->")))
    gantry_attr_list_set_string (op->attrs, "dim_numbers", text->str);
  else
    gantry_xla_scan_fail (&m->s, GANTRY_ERROR_INVALID, "dimensions of a convolution are numbered twice or out of range");
}

void
gantry_vhlo_finish (Mlir *m, MlirOp *op)
{
  guint32 id;
  const GantryAttrs *attrs;
  gboolean conv = strcmp (op->name, "stablehlo.convolution") == 0 || strcmp (op->name, "stablehlo.dynamic_conv") == 0;

  if (m->s.error != NULL || !g_str_has_prefix (op->name, "stablehlo."))
    return;
  id = gantry_attr_list_end (g_steal_pointer (&op->attrs));
  op->attrs = gantry_attr_list_new (m->context);
  attrs = gantry_context_attrs (m->context, id);
  for (guint i = 0; i < attrs->n; i++)
    {
      const char *key = gantry_context_string (m->context, attrs->items[i].key);

      if (!conv || !(g_str_has_suffix (key, "_dimension") || g_str_has_suffix (key, "_spatial_dimensions")))
        gantry_attr_list_set_item (op->attrs, &attrs->items[i]);
    }
  if (conv && gantry_attrs_int (m->context, id, "input_batch_dimension", -1) >= 0)
    convolution (m, op, id);
}
