/* SPDX-License-Identifier: Apache-2.0 */
/* The dialect "aten": finds the rule of an operation, checks what no rule could do, runs it, and holds what it gives against
 * the types that the archive has. */
#include "core/frontends/torch/lower-private.h"
#include "core/base/asks.h"

static const AtenRule *const families[] = {
  gantry_aten_elementwise_rules, gantry_aten_activation_rules, gantry_aten_movement_rules, gantry_aten_create_rules,  gantry_aten_index_rules,
  gantry_aten_contraction_rules, gantry_aten_loss_rules,       gantry_aten_reduce_rules,   gantry_aten_norm_rules,    gantry_aten_pool_rules,
  gantry_aten_resize_rules,      gantry_aten_recurrent_rules,  gantry_aten_arrange_rules,  gantry_aten_special_rules, gantry_aten_pairs_rules,
  gantry_aten_einsum_rules,      gantry_aten_scatter_rules,    gantry_aten_order_rules,
};

static const AtenRule *
find_rule (const char *op_name)
{
  g_autofree char *name = gantry_torch_base_name (op_name);
  const char *overload = strrchr (op_name, '.');
  gsize n = strlen (name);

  /* Overloads that write to an argument `out` say so at the end. */
  if (!g_str_has_prefix (op_name, TORCH_DIALECT ".") || strcmp (overload, ".out") == 0 || g_str_has_suffix (overload, "_out"))
    return NULL;
  if (gantry_torch_is_in_place (name) && name[n - 2] != '_')
    name[n - 1] = '\0';
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    for (const AtenRule *rule = families[i]; rule->name != NULL; rule++)
      if (strcmp (rule->name, name) == 0)
        return rule;
  return NULL;
}

/* What asserts or names a thing has no result, and so no meaning that is needed. */
gboolean
gantry_torch_knows_operation (const char *op_name)
{
  return find_rule (op_name) != NULL || g_str_has_prefix (op_name, TORCH_DIALECT "._assert_") || g_str_has_prefix (op_name, TORCH_DIALECT ".sym_")
         || strcmp (op_name, "higher_order.with_effects") == 0;
}

void
gantry_aten_refuse (AtenLower *l, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  gantry_builder_refuse (l->b, &l->failed, format, arguments);
  va_end (arguments);
}

static gboolean
check_type (AtenLower *l, const GantryType *type, const char *what, guint i)
{
  if (type->kind != GANTRY_TYPE_TENSOR)
    gantry_aten_refuse (l, "the type of %s %u is not known", what, i);
  else if (!gantry_element_is_compiled ((GantryElementType) type->element))
    gantry_aten_refuse (l, "element type %s of %s %u is not compiled", gantry_element_name ((GantryElementType) type->element), what, i);
  for (guint k = 0; !l->failed && k < type->rank; k++)
    if (GANTRY_DIM_IS_SYMBOL (type->dims[k]))
      {
        const char *name = gantry_context_string (l->context, GANTRY_DIM_SYMBOL_ID (type->dims[k]));

        gantry_aten_refuse (l, "dimension '%s' is not bound: " GANTRY_ASKS_SIZE " it", name);
      }
    else if (!GANTRY_DIM_IS_STATIC (type->dims[k]))
      gantry_aten_refuse (l, "a size of %s %u is not known: it follows from one that is not bound, or from data", what, i);
  return !l->failed;
}

static guint32
declared_id (AtenLower *l, guint i)
{
  if (gantry_context_type (l->context, l->node->type)->kind == GANTRY_TYPE_TUPLE)
    return gantry_context_tuple_member (l->context, l->node->type, i);
  return i == 0 ? l->node->type : 0;
}

static gboolean
check_arguments (AtenLower *l)
{
  const char *open = gantry_aten_string (l, TORCH_UNRESOLVED, NULL);

  if (open != NULL)
    gantry_aten_refuse (l, "argument '%s' is computed when it runs: from data, or from a size that is not bound", open);
  return !l->failed;
}

static gboolean
check_types (AtenLower *l)
{
  for (guint i = 0; i < l->n_in; i++)
    if (l->in[i] == 0 || !check_type (l, gantry_aten_type (l, l->in[i]), "operand", i))
      return FALSE;
  /* Of several results, those that nothing uses have no type. */
  for (guint i = 0; i < l->n_out; i++)
    if ((l->n_out == 1 || declared_id (l, i) != 0) && !check_type (l, gantry_context_type (l->context, declared_id (l, i)), "result", i))
      return FALSE;
  return TRUE;
}

/* Arguments that a rule need not ask for: of @op, or of all. */
typedef struct
{
  const char *op; /* (nullable): without dialect and overload */
  const char *name;
} AtenUnasked;

/* clang-format off */
static const AtenUnasked unasked[] = {
  /* Where a result lies, by which code it is made, and its type, which the archive says. */
  { NULL, "dtype" }, { NULL, "out_dtype" }, { NULL, "out_int32" }, { NULL, "device" }, { NULL, "layout" }, { NULL, "pin_memory" },
  { NULL, "memory_format" }, { NULL, "physical_layout" }, { NULL, "non_blocking" }, { NULL, "copy" }, { NULL, "requires_grad" },
  { NULL, "half_to_float" }, { NULL, "cudnn_enable" }, { NULL, "cudnn_enabled" }, { NULL, "benchmark" }, { NULL, "deterministic" },
  { NULL, "allow_tf32" }, { NULL, "compute_mode" }, { NULL, "assume_unique" }, { NULL, "unroll_dim" }, { NULL, "path" },
  { NULL, "implicit" }, { "_reshape_alias", "stride" }, { "empty_strided", "stride" }, { "new_empty_strided", "stride" },
  { NULL, TORCH_OPERAND_NAMES },
  /* What the shape of the result says, which is compared. */
  { NULL, "size" }, { NULL, "shape" }, { NULL, "output_size" }, { NULL, "keepdim" }, { NULL, "ceil_mode" }, { NULL, "scale_factors" },
  { NULL, "include_last_offset" }, { NULL, "split_sizes" }, { "split", "split_size" }, { "split_copy", "split_size" },
  { "tensor_split", "sections" }, { "tensor_split", "indices" }, { "tensor_split", "tensor_indices_or_sections" }, { "chunk", "chunks" },
  { "repeat", "repeats" }, { "tile", "dims" }, { "view_as", "other" }, { "expand_as", "other" }, { "reshape_as", "other" },
  { "type_as", "other" }, { "to", "other" }, { "one_hot", "num_classes" }, { "arange", "end" }, { "linspace", "steps" }, { "eye", "n" },
  { "eye", "m" }, { "squeeze", "dim" }, { "unsqueeze", "dim" }, { "squeeze_copy", "dim" }, { "unsqueeze_copy", "dim" },
  { "flatten", "start_dim" }, { "flatten", "end_dim" }, { "unflatten", "dim" }, { "unflatten", "sizes" }, { "native_group_norm", "N" },
  { "native_group_norm", "C" }, { "native_group_norm", "HxW" },
  /* What nothing is done with: of training alone, an order that is not asked for, and what is written over. */
  { NULL, "momentum" }, { NULL, "noise" }, { "dropout", "p" }, { "feature_dropout", "p" }, { "alpha_dropout", "p" }, { "lstm", "dropout" },
  { "gru", "dropout" }, { "rnn_tanh", "dropout" }, { "rnn_relu", "dropout" }, { "topk", "sorted" }, { "sort", "stable" },
  { "fill", "self" }, { "zero", "self" },
  { "copy", "self" }, { "full_like", "self" }, { "ones_like", "self" }, { "zeros_like", "self" }, { "empty_like", "self" },
  { "new_zeros", "self" }, { "new_ones", "self" }, { "new_full", "self" }, { "new_empty", "self" }, { "new_empty_strided", "self" },
  { "transpose_scatter", "self" }, { "movedim_scatter", "self" },
  /* Of the derivative alone: how it is kept. */
  { "embedding_bag", "scale_grad_by_freq" }, { "_embedding_bag", "scale_grad_by_freq" },
  { "_embedding_bag_forward_only", "scale_grad_by_freq" }, { NULL, "sparse" }, { NULL, "sparse_grad" },
};
/* clang-format on */

static gboolean
may_be_unasked (AtenLower *l, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (unasked); i++)
    if (strcmp (unasked[i].name, name) == 0 && (unasked[i].op == NULL || strcmp (unasked[i].op, l->rule->name) == 0))
      return TRUE;
  return FALSE;
}

/* An argument that the rule has not asked for could say that another thing is to be computed. */
static void
check_asked (AtenLower *l)
{
  const GantryAttrs *attrs = gantry_context_attrs (l->context, l->node->attrs);
  const GantryAttr *operands = gantry_attrs_find (l->context, l->node->attrs, TORCH_OPERAND_NAMES);
  const char *name;

  for (guint i = 0; i < attrs->n && !l->failed; i++)
    {
      name = gantry_context_string (l->context, attrs->items[i].key);
      if (!g_hash_table_contains (l->asked, name) && !may_be_unasked (l, name))
        gantry_aten_refuse (l, "argument '%s' is not supported", name);
    }
  for (guint i = 0; operands != NULL && operands->kind == GANTRY_ATTR_STRINGS && i < operands->n && !l->failed; i++)
    {
      name = gantry_context_string (l->context, operands->ids[i]);
      if (!g_hash_table_contains (l->asked, name) && !may_be_unasked (l, name))
        gantry_aten_refuse (l, "argument '%s' is not supported", name);
    }
}

/* The results in the element types that the archive has; a rule that gives another shape has misread the arguments. */
static void
finish_results (AtenLower *l)
{
  for (guint i = 0; i < l->n_out && !l->failed; i++)
    if (l->out[i] != 0 && declared_id (l, i) != 0)
      {
        const GantryType *declared = gantry_aten_declared (l, i);

        l->out[i] = gantry_builder_convert (l->b, l->out[i], (GantryElementType) declared->element);
        if (l->out[i] != 0 && !gantry_type_same_shape (gantry_aten_type (l, l->out[i]), declared))
          {
            g_autofree char *given = gantry_context_type_text (l->context, gantry_builder_type (l->b, l->out[i]));
            g_autofree char *wanted = gantry_context_type_text (l->context, declared_id (l, i));

            gantry_aten_refuse (l, "these arguments give %s, and the archive says %s", given, wanted);
          }
      }
}

static gboolean
lower (GantryBuilder *b, const GantryModule *source, const GantryNode *node, const guint32 *operands, guint32 *results, guint n_results, GError **error)
{
  g_autoptr (GantryArena) arena = gantry_arena_new ();
  g_autoptr (GHashTable) asked = g_hash_table_new (g_str_hash, g_str_equal);
  AtenLower l = { .b = b,
                  .context = gantry_builder_context (b),
                  .node = node,
                  .op = gantry_node_op_name (source, node),
                  .in = operands,
                  .n_in = node->n_operands,
                  .out = results,
                  .n_out = n_results,
                  .arena = arena,
                  .asked = asked };
  GError *failure = NULL;

  memset (results, 0, sizeof *results * n_results);
  l.rule = find_rule (l.op);
  if (l.rule == NULL)
    {
      gantry_dialect_refuse_unknown (error, l.op);
      return FALSE;
    }
  if (check_types (&l) && check_arguments (&l))
    {
      l.rule->lower (&l);
      check_asked (&l);
      finish_results (&l);
    }
  if (!gantry_builder_check (b, &failure))
    {
      /* Arguments that do not fit are the archive's, but only this operation is out. */
      failure->code = failure->code == GANTRY_ERROR_INVALID ? GANTRY_ERROR_UNSUPPORTED : failure->code;
      gantry_error_say_whose (&failure, l.op);
      g_propagate_error (error, failure);
      return FALSE;
    }
  if (n_results == 1 && results[0] == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: an argument is missing or of a kind that is not known", l.op);
      return FALSE;
    }
  return TRUE;
}

static GantryOpClass
classify (const char *op_name)
{
  const AtenRule *rule = find_rule (op_name);

  return rule != NULL ? rule->op_class : GANTRY_CLASS_OTHER;
}

const GantryDialect *
gantry_torch_dialect (void)
{
  static const GantryDialect dialect = { TORCH_DIALECT, lower, classify };

  return &dialect;
}
