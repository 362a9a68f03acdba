/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives of JAX, as a jaxpr names them. Most are an operation of StableHLO with other names of its attributes: these
 * are written anew, and the rule of that operation does the rest. A literal without dimensions meets any shape. */
#include "core/frontends/xla/lower-jaxpr-private.h"

/* The whole numbers of a nested tuple, "((0, 1), (0, np.int64(1)))", in order: a digit in a word is none. */
static gint64 *
flat_ints (XlaLower *l, const char *text, gsize *n)
{
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 *values;

  while (*text != 0)
    {
      char *end;
      gint64 value = g_ascii_strtoll (text, &end, 10);

      if (g_ascii_isalpha (*text) || *text == '_')
        for (; g_ascii_isalnum (*text) || *text == '_' || *text == '.'; text++)
          ;
      else if (end == text)
        text++;
      else
        {
          g_array_append_val (ints, value);
          text = end;
        }
    }
  *n = ints->len;
  values = XLA_NEW (l, gint64, ints->len);
  if (ints->len > 0)
    memcpy (values, ints->data, sizeof *values * ints->len);
  return values;
}

/* A parameter that is a tuple of numbers, or of tuples of them, or one number. */
const gint64 *
gantry_jaxpr_ints (XlaLower *l, const char *key, gsize *n)
{
  const GantryAttr *attr = gantry_attrs_find (l->context, l->node->attrs, key);

  *n = 0;
  if (attr == NULL)
    return NULL;
  if (attr->kind == GANTRY_ATTR_STRING)
    return flat_ints (l, gantry_context_string (l->context, attr->id), n);
  return gantry_xla_ints (l, key, n);
}

/* The numbers of "offset_dims=(1,)" in the text of dimension numbers; NULL where it is not there. */
static const gint64 *
named_ints (XlaLower *l, const char *text, const char *name, gsize *n)
{
  g_autofree char *key = g_strconcat (name, "=(", NULL), *part = NULL;
  const char *begin = strstr (text, key), *at;
  guint depth = 0;

  *n = 0;
  if (begin == NULL)
    return NULL;
  begin += strlen (key) - 1;
  for (at = begin; *at != 0; at++)
    {
      depth += *at == '(' ? 1 : *at == ')' ? -1u : 0;
      if (depth == 0)
        break;
    }
  part = g_strndup (begin, (gsize) (at - begin));
  return flat_ints (l, part, n);
}

static void
set_named (XlaLower *l, GantryAttrList *attrs, const char *text, const char *name, const char *as)
{
  gsize n;
  const gint64 *values = named_ints (l, text, name, &n);

  if (values != NULL)
    gantry_attr_list_set_ints (attrs, as, values, n);
}

static void
copy_ints (XlaLower *l, GantryAttrList *attrs, const char *key, const char *as)
{
  gsize n;
  const gint64 *values = gantry_jaxpr_ints (l, key, &n);

  if (values != NULL && n > 0)
    gantry_attr_list_set_ints (attrs, as, values, n);
}

/* Attributes */

static void
slice_attrs (XlaLower *l, GantryAttrList *attrs)
{
  copy_ints (l, attrs, "start_indices", "start_indices");
  copy_ints (l, attrs, "limit_indices", "limit_indices");
  copy_ints (l, attrs, "strides", "strides");
}

static void
pad_attrs (XlaLower *l, GantryAttrList *attrs)
{
  static const char *const names[] = { "edge_padding_low", "edge_padding_high", "interior_padding" };
  gsize n;
  const gint64 *values = gantry_jaxpr_ints (l, "padding_config", &n);
  gint64 *part = XLA_NEW (l, gint64, n);

  for (guint k = 0; k < 3 && values != NULL; k++)
    {
      for (gsize i = 0; i < n / 3; i++)
        part[i] = values[3 * i + k];
      gantry_attr_list_set_ints (attrs, names[k], part, n / 3);
    }
}

/* "(([1], [0]), ([], []))": what is contracted, then what is batched. */
static void
dot_attrs (XlaLower *l, GantryAttrList *attrs)
{
  static const char *const names[] = { "lhs_contracting_dimensions", "rhs_contracting_dimensions", "lhs_batching_dimensions", "rhs_batching_dimensions" };
  g_autofree char *text = g_strdup (gantry_xla_string (l, "dimension_numbers", ""));
  char *at = text;
  guint k = 0;

  g_strdelimit (text, "[", '(');
  g_strdelimit (text, "]", ')');
  for (; k < G_N_ELEMENTS (names) && (at = strpbrk (at, "(")) != NULL; at++)
    {
      char *end = at[1] != '(' ? strchr (at, ')') : NULL;
      gsize n;
      const gint64 *values;

      if (end == NULL)
        continue;
      *end = 0;
      values = flat_ints (l, at, &n);
      gantry_attr_list_set_ints (attrs, names[k++], values, n);
      at = end;
    }
  if (k < G_N_ELEMENTS (names))
    gantry_xla_refuse (l, "dimension numbers '%s'", gantry_xla_string (l, "dimension_numbers", ""));
}

/* A specification says where the two letters stand, then where the places do. */
static gboolean
append_side (XlaLower *l, GString *into, const char *text, const char *spec, char first, char second)
{
  char letters[GANTRY_MAX_RANK] = { 0 };
  gsize n;
  const gint64 *where = named_ints (l, text, spec, &n);

  if (n < 2 || n > MIN (GANTRY_MAX_RANK, 12))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (where[i] < 0 || where[i] >= (gint64) n)
      return FALSE;
    else
      letters[where[i]] = i == 0 ? first : i == 1 ? second : (char) ('0' + i - 2);
  g_string_append_c (into, '[');
  for (gsize i = 0; i < n; i++)
    g_string_append_printf (into, "%s%c", i > 0 ? ", " : "", letters[i] != 0 ? letters[i] : '?');
  g_string_append_c (into, ']');
  return TRUE;
}

static void
conv_attrs (XlaLower *l, GantryAttrList *attrs)
{
  const char *text = gantry_xla_string (l, "dimension_numbers", "");
  g_autoptr (GString) numbers = g_string_new (NULL);

  if (!append_side (l, numbers, text, "lhs_spec", 'b', 'f') || !append_side (l, numbers, text, "rhs_spec", 'o', 'i')
      || !append_side (l, numbers, text, "out_spec", 'b', 'f'))
    gantry_xla_refuse (l, "dimension numbers '%s'", text);
  gantry_attr_list_set_string (attrs, "dim_numbers", numbers->str);
  copy_ints (l, attrs, "window_strides", "window_strides");
  copy_ints (l, attrs, "padding", "padding");
  copy_ints (l, attrs, "lhs_dilation", "lhs_dilation");
  copy_ints (l, attrs, "rhs_dilation", "rhs_dilation");
  gantry_attr_list_set_int (attrs, "feature_group_count", gantry_xla_int (l, "feature_group_count", 1));
  gantry_attr_list_set_int (attrs, "batch_group_count", gantry_xla_int (l, "batch_group_count", 1));
}

/* What lies outside: StableHLO's gather takes the nearest, its scatter leaves out. */
static gboolean
has_mode (XlaLower *l, const char *other)
{
  const char *mode = gantry_xla_string (l, "mode", "");

  if (strstr (mode, "PROMISE_IN_BOUNDS") != NULL || strstr (mode, other) != NULL || mode[0] == 0 || strcmp (mode, "0") == 0)
    return TRUE;
  gantry_xla_refuse (l, "indices out of range by %s", mode);
  return FALSE;
}

static void
gather_attrs (XlaLower *l, GantryAttrList *attrs)
{
  static const char *const names[] = { "offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims", "start_indices_batching_dims" };
  const char *text = gantry_xla_string (l, "dimension_numbers", "");

  if (!has_mode (l, "CLIP"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    set_named (l, attrs, text, names[i], names[i]);
  copy_ints (l, attrs, "slice_sizes", "slice_sizes");
  gantry_attr_list_set_int (attrs, "index_vector_dim", (gint64) gantry_xla_type (l, gantry_xla_in (l, 1))->rank - 1);
}

static void
scatter_attrs (XlaLower *l, GantryAttrList *attrs)
{
  static const char *const names[][2] = {
    { "update_window_dims", "update_window_dims" },
    { "inserted_window_dims", "inserted_window_dims" },
    { "scatter_dims_to_operand_dims", "scatter_dims_to_operand_dims" },
    { "operand_batching_dims", "input_batching_dims" },
    { "scatter_indices_batching_dims", "scatter_indices_batching_dims" },
  };
  const char *text = gantry_xla_string (l, "dimension_numbers", "");

  if (!has_mode (l, "FILL_OR_DROP"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    set_named (l, attrs, text, names[i][0], names[i][1]);
  gantry_attr_list_set_int (attrs, "index_vector_dim", (gint64) gantry_xla_type (l, gantry_xla_in (l, 1))->rank - 1);
}

static void
iota_attrs (XlaLower *l, GantryAttrList *attrs)
{
  gantry_attr_list_set_int (attrs, "iota_dimension", gantry_xla_int (l, "dimension", 0));
}

/* Which operand of a branch is which: all behind the index are those of every branch. */
static void
cond_attrs (XlaLower *l, GantryAttrList *attrs)
{
  for (guint i = 0;; i++)
    {
      g_autofree char *from = g_strdup_printf ("branches_%u", i), *to = g_strdup_printf ("region_%u", i);
      const GantryAttr *branch = gantry_attrs_find (l->context, l->node->attrs, from);

      if (branch == NULL || branch->kind != GANTRY_ATTR_FUNCTION)
        break;
      gantry_attr_list_set_function (attrs, to, branch->id);
    }
  l->n_captures = l->n_in > 0 ? l->n_in - 1 : 0;
  l->n_in -= l->n_captures;
}

static void
round_attrs (XlaLower *l, GantryAttrList *attrs)
{
  const char *how = gantry_xla_string (l, "rounding_method", "");
  gboolean even = strstr (how, "EVEN") != NULL || gantry_xla_int (l, "rounding_method", 0) == 1;

  (void) attrs;
  l->rule = gantry_xla_find_rule (even ? "round_nearest_even" : "round_nearest_afz");
}

#define ALIAS(jax, stablehlo) \
  { \
    jax, stablehlo, NULL, NULL, 0 \
  }
#define WITH(jax, stablehlo, attrs) \
  { \
    jax, stablehlo, attrs, NULL, 0 \
  }
#define SCATTER(jax) \
  { \
    jax, NULL, scatter_attrs, gantry_jaxpr_scatter, GANTRY_CLASS_MOVEMENT \
  }
#define OWN(jax, function, class_) \
  { \
    jax, NULL, NULL, function, class_ \
  }

/* clang-format off */
static const JaxprRule rules[] = {
  ALIAS ("abs", "abs"), ALIAS ("neg", "negate"), ALIAS ("sign", "sign"), ALIAS ("exp", "exponential"),
  ALIAS ("expm1", "exponential_minus_one"), ALIAS ("log", "log"), ALIAS ("log1p", "log_plus_one"),
  ALIAS ("logistic", "logistic"), ALIAS ("tanh", "tanh"), ALIAS ("sqrt", "sqrt"), ALIAS ("rsqrt", "rsqrt"),
  ALIAS ("cbrt", "cbrt"), ALIAS ("sin", "sine"), ALIAS ("cos", "cosine"), ALIAS ("tan", "tan"), ALIAS ("asin", "asin"),
  ALIAS ("acos", "acos"), ALIAS ("atan", "atan"), ALIAS ("sinh", "sinh"), ALIAS ("cosh", "cosh"),
  ALIAS ("asinh", "asinh"), ALIAS ("acosh", "acosh"), ALIAS ("atanh", "atanh"), ALIAS ("erf", "erf"),
  ALIAS ("erfc", "erfc"), ALIAS ("erf_inv", "erf_inv"), ALIAS ("lgamma", "lgamma"), ALIAS ("digamma", "digamma"),
  ALIAS ("bessel_i1e", "bessel_i1e"), ALIAS ("floor", "floor"), ALIAS ("ceil", "ceil"), ALIAS ("is_finite", "is_finite"),
  ALIAS ("not", "not"), ALIAS ("population_count", "popcnt"), ALIAS ("clz", "count_leading_zeros"),
  ALIAS ("square", "square"), ALIAS ("real", "real"), ALIAS ("imag", "imag"), ALIAS ("conj", "conj"),
  ALIAS ("add", "add"), ALIAS ("add_any", "add"), ALIAS ("sub", "subtract"), ALIAS ("mul", "multiply"),
  ALIAS ("div", "divide"), ALIAS ("rem", "remainder"), OWN ("pow", gantry_jaxpr_pow, GANTRY_CLASS_ELEMENTWISE), ALIAS ("max", "maximum"),
  ALIAS ("min", "minimum"), ALIAS ("atan2", "atan2"), ALIAS ("nextafter", "next_after"), ALIAS ("and", "and"),
  ALIAS ("or", "or"), ALIAS ("xor", "xor"), ALIAS ("shift_left", "shift_left"), ALIAS ("polygamma", "polygamma"),
  ALIAS ("shift_right_logical", "shift_right_logical"), ALIAS ("shift_right_arithmetic", "shift_right_arithmetic"),
  ALIAS ("zeta", "zeta"), ALIAS ("clamp", "clamp"), ALIAS ("convert_element_type", "convert"),
  ALIAS ("bitcast_convert_type", "bitcast_convert"), ALIAS ("reduce_precision", "reduce_precision"),
  ALIAS ("reshape", "reshape"), ALIAS ("squeeze", "reshape"), ALIAS ("expand_dims", "reshape"),
  ALIAS ("broadcast_in_dim", "broadcast_in_dim"), ALIAS ("transpose", "transpose"), ALIAS ("rev", "reverse"),
  ALIAS ("concatenate", "concatenate"), ALIAS ("dynamic_slice", "dynamic_slice"), ALIAS ("top_k", "top_k"),
  ALIAS ("dynamic_update_slice", "dynamic_update_slice"), ALIAS ("copy", "copy"), ALIAS ("copy_p", "copy"),
  ALIAS ("optimization_barrier", "optimization_barrier"), ALIAS ("sharding_constraint", "copy"), ALIAS ("pvary", "copy"),
  ALIAS ("stop_gradient", "stop_gradient"), ALIAS ("mesh_cast", "copy"), ALIAS ("reshard", "copy"),
  WITH ("slice", "slice", slice_attrs), WITH ("pad", "pad", pad_attrs), WITH ("dot_general", "dot_general", dot_attrs),
  WITH ("conv_general_dilated", "convolution", conv_attrs), WITH ("gather", "gather", gather_attrs),
  SCATTER ("scatter"), SCATTER ("scatter-add"),
  SCATTER ("scatter_add"), SCATTER ("scatter-mul"),
  SCATTER ("scatter_mul"), SCATTER ("scatter-min"),
  SCATTER ("scatter_min"), SCATTER ("scatter-max"),
  SCATTER ("scatter_max"), WITH ("iota", "iota", iota_attrs), WITH ("cond", "case", cond_attrs),
  WITH ("round", "round_nearest_even", round_attrs),
  OWN ("eq", gantry_jaxpr_compare, GANTRY_CLASS_ELEMENTWISE), OWN ("ne", gantry_jaxpr_compare, GANTRY_CLASS_ELEMENTWISE),
  OWN ("lt", gantry_jaxpr_compare, GANTRY_CLASS_ELEMENTWISE), OWN ("le", gantry_jaxpr_compare, GANTRY_CLASS_ELEMENTWISE),
  OWN ("gt", gantry_jaxpr_compare, GANTRY_CLASS_ELEMENTWISE), OWN ("ge", gantry_jaxpr_compare, GANTRY_CLASS_ELEMENTWISE),
  OWN ("lt_to", gantry_jaxpr_compare, GANTRY_CLASS_ELEMENTWISE), OWN ("le_to", gantry_jaxpr_compare, GANTRY_CLASS_ELEMENTWISE),
  OWN ("exp2", gantry_jaxpr_exp2, GANTRY_CLASS_ELEMENTWISE), OWN ("integer_pow", gantry_jaxpr_integer_pow, GANTRY_CLASS_ELEMENTWISE),
  OWN ("select_n", gantry_jaxpr_select_n, GANTRY_CLASS_ELEMENTWISE), OWN ("name", gantry_jaxpr_checkpoint_name, GANTRY_CLASS_MEMORY),
  OWN ("reduce_sum", gantry_jaxpr_reduce, GANTRY_CLASS_REDUCTION), OWN ("reduce_prod", gantry_jaxpr_reduce, GANTRY_CLASS_REDUCTION),
  OWN ("reduce_max", gantry_jaxpr_reduce, GANTRY_CLASS_REDUCTION), OWN ("reduce_min", gantry_jaxpr_reduce, GANTRY_CLASS_REDUCTION),
  OWN ("reduce_and", gantry_jaxpr_reduce, GANTRY_CLASS_REDUCTION), OWN ("reduce_or", gantry_jaxpr_reduce, GANTRY_CLASS_REDUCTION),
  OWN ("argmax", gantry_jaxpr_arg, GANTRY_CLASS_REDUCTION), OWN ("argmin", gantry_jaxpr_arg, GANTRY_CLASS_REDUCTION),
  OWN ("cumsum", gantry_jaxpr_cumulate, GANTRY_CLASS_REDUCTION), OWN ("cumprod", gantry_jaxpr_cumulate, GANTRY_CLASS_REDUCTION),
  OWN ("cummax", gantry_jaxpr_cumulate, GANTRY_CLASS_REDUCTION), OWN ("cummin", gantry_jaxpr_cumulate, GANTRY_CLASS_REDUCTION),
  OWN ("reduce_window_sum", gantry_jaxpr_window, GANTRY_CLASS_REDUCTION),
  OWN ("reduce_window_max", gantry_jaxpr_window, GANTRY_CLASS_REDUCTION),
  OWN ("reduce_window_min", gantry_jaxpr_window, GANTRY_CLASS_REDUCTION), OWN ("sort", gantry_jaxpr_sort, GANTRY_CLASS_OTHER),
  OWN ("cholesky", gantry_jaxpr_cholesky, GANTRY_CLASS_OTHER), OWN ("triangular_solve", gantry_jaxpr_triangular_solve, GANTRY_CLASS_OTHER),
  OWN ("split", gantry_jaxpr_split, GANTRY_CLASS_MOVEMENT), OWN ("stack", gantry_jaxpr_stack, GANTRY_CLASS_MOVEMENT),
  OWN ("scan", gantry_jaxpr_scan, GANTRY_CLASS_CONTROL), OWN ("while", gantry_jaxpr_while, GANTRY_CLASS_CONTROL),
  OWN ("closed_over", gantry_jaxpr_closed_over, GANTRY_CLASS_CONSTANT),
};
/* clang-format on */

const JaxprRule *
gantry_jaxpr_find_rule (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (strcmp (rules[i].jax, name) == 0)
      return &rules[i];
  return NULL;
}

GantryOpClass
gantry_jaxpr_class (const JaxprRule *rule)
{
  return rule->own != NULL ? rule->op_class : gantry_xla_find_rule (rule->stablehlo)->op_class;
}

/* Operands of elementwise operations are written in the shape of the result: a literal has none, and a size of 1 stands for any. */
static void
spread (XlaLower *l)
{
  const GantryType *type = gantry_xla_declared (l, 0);
  guint32 *in = XLA_NEW (l, guint32, l->n_in + l->n_captures);

  if (l->n_in < 2 || l->n_out != 1 || type->kind != GANTRY_TYPE_TENSOR)
    return;
  memcpy (in, l->in, sizeof *in * (l->n_in + l->n_captures));
  for (guint i = 0; i < l->n_in; i++)
    if (in[i] != 0 && gantry_xla_type (l, in[i])->kind == GANTRY_TYPE_TENSOR)
      in[i] = gantry_builder_broadcast_to (l->b, in[i], type->rank, type->dims);
  l->in = in;
}

void
gantry_jaxpr_lower (XlaLower *l)
{
  const JaxprRule *rule = gantry_jaxpr_find_rule (l->op);
  GantryNode translated = *l->node;
  const GantryNode *node = l->node;
  GantryAttrList *attrs;
  XlaRule own;

  if (rule == NULL)
    {
      gantry_xla_refuse (l, GANTRY_DIALECT_NO_LOWERING ": what it computes is not known here");
      return;
    }
  if (gantry_jaxpr_class (rule) == GANTRY_CLASS_ELEMENTWISE)
    spread (l);
  if (rule->attrs != NULL)
    {
      attrs = gantry_xla_attrs (l);
      l->rule = rule->stablehlo != NULL ? gantry_xla_find_rule (rule->stablehlo) : NULL;
      rule->attrs (l, attrs);
      translated.attrs = gantry_attr_list_end (attrs);
      l->node = &translated;
    }
  else if (rule->stablehlo != NULL)
    l->rule = gantry_xla_find_rule (rule->stablehlo);
  own = (XlaRule){ l->op, rule->own, rule->op_class, 0, 0 };
  if (rule->own != NULL)
    l->rule = &own;
  if (!l->failed)
    gantry_xla_run_rule (l);
  l->node = node;
}
