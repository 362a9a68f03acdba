/* SPDX-License-Identifier: Apache-2.0 */
/* The pretty form: clauses in any order, told apart by how they begin: an operand, an attribute, a word, a symbol, a
 * group in brackets, a dictionary, a value, the types. The names that the pretty form has for attributes become
 * those of the specification. What an unknown dialect puts in between is skipped to the end of its line. */
#include "core/frontends/xla/mlir-private.h"

static const struct
{
  const char *operation, *pretty, *attribute;
} names[] = {
  { "broadcast_in_dim", "dims", "broadcast_dimensions" },
  { "dynamic_broadcast_in_dim", "dims", "broadcast_dimensions" },
  { "transpose", "dims", "permutation" },
  { "reverse", "dims", "dimensions" },
  { "iota", "dim", "iota_dimension" },
  { "dynamic_iota", "dim", "iota_dimension" },
  { "concatenate", "dim", "dimension" },
  { "get_dimension_size", "dim", "dimension" },
  { "set_dimension_size", "dim", "dimension" },
  { "dynamic_slice", "sizes", "slice_sizes" },
  { "pad", "low", "edge_padding_low" },
  { "pad", "high", "edge_padding_high" },
  { "pad", "interior", "interior_padding" },
  { "fft", "type", "fft_type" },
  { "fft", "length", "fft_length" },
};

static const char *
operation_of (const MlirOp *op)
{
  const char *dot = strrchr (op->name, '.');

  return dot != NULL ? dot + 1 : op->name;
}

/* Whether the rules of the dialect's pretty form are known, so that what does not fit them is an error. */
static gboolean
is_strict (const MlirOp *op)
{
  return g_str_has_prefix (op->name, "stablehlo.") || g_str_has_prefix (op->name, "mhlo.") || g_str_has_prefix (op->name, "chlo.")
         || g_str_has_prefix (op->name, "func.") || strchr (op->name, '.') == NULL;
}

static const char *
attribute_name (const MlirOp *op, const char *pretty)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i].operation, operation_of (op)) == 0 && strcmp (names[i].pretty, pretty) == 0)
      return names[i].attribute;
  return pretty;
}

static void
add_operand (Mlir *m, MlirFrame *frame, MlirOp *op)
{
  guint32 id = gantry_mlir_operand (m, frame, !is_strict (op));

  g_array_append_val (op->operands, id);
}

/* "[0:1, 2:8:2]" */
static void
slice_ranges (Mlir *m, MlirOp *op)
{
  GArray *parts[3];
  const char *const keys[3] = { "start_indices", "limit_indices", "strides" };
  GantryXlaScan *s = &m->s;

  for (guint i = 0; i < 3; i++)
    parts[i] = g_array_new (FALSE, FALSE, sizeof (gint64));
  gantry_xla_scan_expect (s, "[");
  while (s->error == NULL && !gantry_xla_scan_sees (s, "]"))
    {
      gint64 range[3] = { gantry_xla_scan_int (s), 0, 1 };

      gantry_xla_scan_expect (s, ":");
      range[1] = gantry_xla_scan_int (s);
      if (gantry_xla_scan_accept (s, ":"))
        range[2] = gantry_xla_scan_int (s);
      for (guint i = 0; i < 3; i++)
        g_array_append_val (parts[i], range[i]);
      if (!gantry_xla_scan_accept (s, ","))
        break;
    }
  gantry_xla_scan_expect (s, "]");
  for (guint i = 0; i < 3; i++)
    {
      gantry_attr_list_set_ints (op->attrs, keys[i], (const gint64 *) parts[i]->data, parts[i]->len);
      g_array_unref (parts[i]);
    }
}

/* "[0] x [0]" of dot_general: two lists. */
static void
pair_of_lists (Mlir *m, MlirOp *op, const char *key)
{
  const char *const sides[2] = { "lhs_", "rhs_" };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
      g_autofree char *name = g_strdup_printf ("%s%.*s_dimensions", sides[i], (int) (strlen (key) - 5), key);

      if (!gantry_mlir_ints (m, ints))
        gantry_xla_scan_expect (&m->s, "[");
      gantry_attr_list_set_ints (op->attrs, name, (const gint64 *) ints->data, ints->len);
      if (i == 0)
        gantry_xla_scan_expect (&m->s, "x");
    }
}

/* "[[0, 1], [2, 3]]", flat. */
static void
nested_ints (Mlir *m, GantryAttrList *list, const char *key)
{
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  GantryXlaSpan span = gantry_xla_scan_bracket (&m->s);
  GantryXlaScan inside = m->s;

  inside.error = NULL; /* each scan has an error of its own */
  inside.at = span.at;
  inside.end = span.at + span.length;
  while (inside.error == NULL && gantry_xla_scan_peek (&inside) != 0)
    {
      gint64 value;

      if (gantry_xla_scan_accept (&inside, "[") || gantry_xla_scan_accept (&inside, "]") || gantry_xla_scan_accept (&inside, ","))
        continue;
      if (gantry_xla_scan_accept (&inside, "true"))
        value = 1;
      else if (gantry_xla_scan_accept (&inside, "false"))
        value = 0;
      else
        value = gantry_xla_scan_int (&inside);
      g_array_append_val (ints, value);
    }
  if (inside.error != NULL && m->s.error == NULL)
    {
      m->s.error = g_steal_pointer (&inside.error);
      m->s.at = m->s.end;
    }
  g_clear_error (&inside.error);
  gantry_attr_list_set_ints (list, key, (const gint64 *) ints->data, ints->len);
}

/* "window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [0, 0]}" */
static void
window (Mlir *m, MlirOp *op)
{
  static const struct
  {
    const char *pretty, *attribute;
  } keys[] = {
    { "stride", "window_strides" }, { "pad", "padding" }, { "lhs_dilate", "lhs_dilation" }, { "rhs_dilate", "rhs_dilation" }, { "reverse", "window_reversal" },
  };

  gantry_xla_scan_expect (&m->s, "{");
  while (m->s.error == NULL && !gantry_xla_scan_sees (&m->s, "}"))
    {
      GantryXlaSpan word = gantry_xla_scan_word (&m->s, FALSE);
      const char *key = NULL;

      gantry_xla_scan_expect (&m->s, "=");
      for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
        if (gantry_xla_span_is (word, keys[i].pretty))
          key = keys[i].attribute;
      if (key != NULL && gantry_xla_scan_sees (&m->s, "["))
        nested_ints (m, op->attrs, key);
      else if (gantry_xla_scan_value (&m->s, FALSE).length == 0)
        gantry_xla_scan_expect (&m->s, "[");
      if (!gantry_xla_scan_accept (&m->s, ","))
        break;
    }
  gantry_xla_scan_expect (&m->s, "}");
}

static void
dim_numbers (Mlir *m, MlirOp *op)
{
  GantryXlaSpan span;
  g_autofree char *text = NULL;

  gantry_xla_scan_peek (&m->s);
  span.at = m->s.at;
  for (guint i = 0; i < 3; i++)
    {
      if (!gantry_xla_scan_sees (&m->s, "["))
        {
          gantry_xla_scan_expect (&m->s, "[");
          return;
        }
      gantry_xla_scan_bracket (&m->s);
      if (i == 0)
        gantry_xla_scan_expect (&m->s, "x");
      else if (i == 1)
        gantry_xla_scan_expect (&m->s, "->");
    }
  span.length = (gsize) (m->s.at - span.at);
  text = gantry_xla_span_dup (span);
  gantry_attr_list_set_string (op->attrs, "dim_numbers", text);
}

/* Groups: operands of calls, "(%x init: %c)" of reduce, "(%a = %b)" of while. */

typedef struct
{
  GArray *inits; /* of reduce */
  GArray *while_names;
} Groups;

static void
group (Mlir *m, MlirFrame *frame, MlirOp *op, Groups *groups)
{
  GantryXlaScan *s = &m->s;
  gboolean loop = strcmp (operation_of (op), "while") == 0;

  gantry_xla_scan_expect (s, "(");
  while (s->error == NULL && !gantry_xla_scan_sees (s, ")"))
    {
      if (loop)
        {
          guint32 name = gantry_mlir_value_name (m);

          g_array_append_val (groups->while_names, name);
          gantry_xla_scan_expect (s, "=");
          add_operand (m, frame, op);
        }
      else if (gantry_xla_scan_peek (s) == '%')
        {
          add_operand (m, frame, op);
          if (gantry_xla_scan_accept (s, "init"))
            {
              guint32 init;

              gantry_xla_scan_expect (s, ":");
              init = gantry_mlir_operand (m, frame, FALSE);
              g_array_append_val (groups->inits, init);
            }
        }
      else
        {
          GantryXlaSpan word = gantry_xla_scan_word (s, FALSE);
          g_autofree char *key = gantry_xla_span_dup (word);

          if (word.length == 0 || !gantry_xla_scan_accept (s, "="))
            {
              gantry_xla_scan_expect (s, ")");
              return;
            }
          gantry_mlir_attribute (m, op->attrs, key, NULL);
        }
      if (!gantry_xla_scan_accept (s, ","))
        break;
    }
  gantry_xla_scan_expect (s, ")");
}

/* "applies stablehlo.add": the region that it stands for. */
static void
short_region (Mlir *m, MlirFrame *frame, MlirOp *op, guint32 operand)
{
  GantryXlaSpan word = gantry_xla_scan_word (&m->s, FALSE);
  g_autofree char *name = gantry_xla_span_dup (word);
  const GantryType *type = gantry_builder_get_type (m->b, operand);
  guint32 scalar = type->kind == GANTRY_TYPE_TENSOR ? gantry_context_scalar (m->context, (GantryElementType) type->element) : 0;
  guint32 function = gantry_builder_begin (m->b, op->name, 0);
  MlirFrame *region = gantry_mlir_frame_new (frame, function);
  guint32 arguments[2], result;

  gantry_builder_set_place (m->b, 0, gantry_mlir_here (m, op->line, op->column));
  for (guint i = 0; i < 2; i++)
    arguments[i] = gantry_builder_parameter (m->b, scalar, i == 0 ? "a" : "b");
  result = gantry_builder_add_typed (m->b, gantry_context_foreign_op (m->context, name), arguments, 2, 0, scalar);
  gantry_builder_end (m->b, &result, 1);
  g_ptr_array_add (op->frames, region);
  g_array_append_val (op->regions, function);
}

static void
word_clause (Mlir *m, MlirFrame *frame, MlirOp *op, guint *n_words)
{
  GantryXlaScan *s = &m->s;
  GantryXlaSpan word = gantry_xla_scan_word (s, FALSE);
  g_autofree char *text = gantry_xla_span_dup (word);

  if (strcmp (text, "applies") == 0)
    short_region (m, frame, op, op->operands->len > 0 ? g_array_index (op->operands, guint32, 0) : 0);
  else if (strcmp (text, "across") == 0 || strcmp (text, "attributes") == 0)
    ;
  else if (gantry_xla_scan_accept (s, "="))
    {
      if ((strcmp (text, "batching_dims") == 0 || strcmp (text, "contracting_dims") == 0))
        pair_of_lists (m, op, text);
      else if (strcmp (text, "window") == 0)
        window (m, op);
      else if (strcmp (text, "dim_numbers") == 0)
        dim_numbers (m, op);
      else
        gantry_mlir_attribute (m, op->attrs, attribute_name (op, text), NULL);
    }
  else if (strcmp (operation_of (op), "compare") == 0)
    gantry_attr_list_set_string (op->attrs, (*n_words)++ == 0 ? "comparison_direction" : "compare_type", text);
  else
    {
      g_autofree char *key = g_strdup_printf ("word_%u", (*n_words)++);

      gantry_attr_list_set_string (op->attrs, key, text);
    }
}

static gboolean
is_value (const GantryXlaScan *s)
{
  GantryXlaScan copy = *s;

  return gantry_xla_scan_sees (&copy, "dense<") || (copy.end - copy.at > 6 && memcmp (copy.at, "dense<", 6) == 0);
}

static gboolean
is_region (const GantryXlaScan *s)
{
  GantryXlaScan copy = *s;

  copy.at++;
  return gantry_xla_scan_peek (&copy) == '^';
}

/* One clause. Returns: FALSE where none comes */
static gboolean
clause (Mlir *m, MlirFrame *frame, MlirOp *op, Groups *groups, guint *n_words)
{
  GantryXlaScan *s = &m->s;
  char c = gantry_xla_scan_peek (s);
  const char *operation = operation_of (op);

  if (c == '%')
    add_operand (m, frame, op);
  else if (is_value (s))
    gantry_mlir_attribute (m, op->attrs, "value", &op->literal);
  else if (g_ascii_isalpha (c))
    word_clause (m, frame, op, n_words);
  else if (c == '@')
    {
      GantryXlaSpan name;

      s->at++;
      name = gantry_xla_scan_suffix (s);
      op->symbol = gantry_context_intern_len (m->context, name.at, name.length);
      gantry_attr_list_set_string (op->attrs, "call_target_name", gantry_context_string (m->context, op->symbol));
    }
  else if (c == '(')
    group (m, frame, op, groups);
  else if (c == '[' && strcmp (operation, "slice") == 0)
    slice_ranges (m, op);
  else if (c == '[')
    gantry_mlir_attribute (m, op->attrs, "index", NULL);
  else if (c == '{' && is_region (s))
    gantry_mlir_region (m, frame, op, NULL, NULL, 0);
  else if (c == '{')
    {
      s->at++;
      gantry_mlir_dictionary (m, op->attrs, NULL, '}', &op->literal);
    }
  else if (c == '"')
    gantry_mlir_attribute (m, op->attrs, "name", NULL);
  else if (g_ascii_isdigit (c))
    gantry_mlir_attribute (m, op->attrs, "value", NULL);
  else
    return FALSE;
  return s->error == NULL;
}

static void
read_types (Mlir *m, MlirOp *op)
{
  do
    gantry_mlir_types (m, op->types);
  while (m->s.error == NULL && gantry_xla_scan_accept (&m->s, ","));
  if (gantry_xla_scan_accept (&m->s, "->"))
    {
      g_array_set_size (op->types, 0);
      gantry_mlir_types (m, op->types);
    }
}

static void
while_regions (Mlir *m, MlirFrame *frame, MlirOp *op, const Groups *groups)
{
  guint n = groups->while_names->len;
  g_autofree guint32 *types = g_new0 (guint32, n + 1);

  for (guint i = 0; i < n; i++)
    types[i] = gantry_builder_type (m->b, g_array_index (op->operands, guint32, i));
  if (gantry_xla_scan_accept (&m->s, "attributes") && gantry_xla_scan_expect (&m->s, "{"))
    gantry_mlir_dictionary (m, op->attrs, NULL, '}', NULL);
  gantry_xla_scan_expect (&m->s, "cond");
  gantry_mlir_region (m, frame, op, (const guint32 *) groups->while_names->data, types, n);
  gantry_xla_scan_expect (&m->s, "do");
  gantry_mlir_region (m, frame, op, (const guint32 *) groups->while_names->data, types, n);
}

/* What an operation of an unknown dialect has beyond its clauses. */
static void
skip_rest (Mlir *m, MlirFrame *frame, MlirOp *op)
{
  GantryXlaScan *s = &m->s;

  while (s->at < s->end && gantry_xla_scan_peek (s) != 0 && !gantry_xla_scan_first (s) && *s->at != '}' && !gantry_xla_scan_sees (s, "loc("))
    {
      if (*s->at == '%')
        {
          add_operand (m, frame, op);
          continue;
        }
      if (gantry_xla_scan_value (s, TRUE).length == 0)
        s->at++;
    }
}

/* On a line of its own only "word = ..." goes on an operation: no operation begins like that. */
static gboolean
goes_on (const GantryXlaScan *s, char c)
{
  GantryXlaScan copy = *s;

  if (c == '{' || c == '(')
    return TRUE;
  return gantry_xla_scan_word (&copy, FALSE).length > 0 && gantry_xla_scan_sees (&copy, "=");
}

static void
clauses (Mlir *m, MlirFrame *frame, MlirOp *op, Groups *groups)
{
  GantryXlaScan *s = &m->s;
  guint n_words = 0;
  gboolean comma = FALSE;

  while (s->error == NULL)
    {
      char c = gantry_xla_scan_peek (s);

      if (c == 0 || c == '}' || c == ':' || gantry_xla_scan_sees (s, "loc"))
        break;
      if (gantry_xla_scan_first (s) && !comma && !goes_on (s, c))
        break;
      if (!clause (m, frame, op, groups, &n_words))
        break;
      comma = gantry_xla_scan_accept (s, ",");
    }
}

static void
known_form (Mlir *m, MlirFrame *frame, MlirOp *op, Groups *groups)
{
  GantryXlaScan *s = &m->s;

  m->dense_type = 0;
  clauses (m, frame, op, groups);
  g_array_append_vals (op->operands, groups->inits->data, groups->inits->len);
  if (m->dense_type != 0 && s->error == NULL && op->types->len == 0)
    g_array_append_val (op->types, m->dense_type);
  if (gantry_xla_scan_accept (s, ":"))
    read_types (m, op);
  if (gantry_xla_scan_sees (s, "{") && !gantry_xla_scan_first (s))
    {
      s->at++;
      gantry_mlir_dictionary (m, op->attrs, NULL, '}', NULL);
    }
  if (strcmp (operation_of (op), "while") == 0)
    while_regions (m, frame, op, groups);
  else if (gantry_xla_scan_accept (s, "reducer"))
    gantry_mlir_region (m, frame, op, NULL, NULL, 0);
}

void
gantry_mlir_pretty (Mlir *m, MlirFrame *frame, MlirOp *op)
{
  Groups groups = { g_array_new (FALSE, FALSE, sizeof (guint32)), g_array_new (FALSE, FALSE, sizeof (guint32)) };
  GantryXlaScan before = m->s;

  known_form (m, frame, op, &groups);
  if (m->s.error == NULL && !is_strict (op))
    skip_rest (m, frame, op);
  else if (m->s.error != NULL && !is_strict (op) && op->frames->len == 0)
    {
      g_clear_error (&m->s.error);
      m->s = before;
      g_array_set_size (op->operands, 0);
      g_array_set_size (op->types, 0);
      skip_rest (m, frame, op);
    }
  g_array_unref (groups.inits);
  g_array_unref (groups.while_names);
}
