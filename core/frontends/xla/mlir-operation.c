/* SPDX-License-Identifier: Apache-2.0 */
/* One operation: its results, the generic form in quotes (the pretty form is mlir-pretty.c's), its regions and its
 * node. */
#include "core/frontends/xla/mlir-private.h"
#include "core/graph/operation.h"

#define MOST_NODES 4000000

void
gantry_mlir_op_init (Mlir *m, MlirOp *op)
{
  *op = (MlirOp){ 0 };
  op->operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  op->types = g_array_new (FALSE, FALSE, sizeof (guint32));
  op->regions = g_array_new (FALSE, FALSE, sizeof (guint32));
  op->frames = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_mlir_frame_free);
  op->attrs = gantry_attr_list_new (m->context);
}

void
gantry_mlir_op_clear (MlirOp *op)
{
  g_free (op->name);
  g_array_unref (op->operands);
  g_array_unref (op->types);
  g_array_unref (op->regions);
  g_ptr_array_unref (op->frames);
  g_clear_pointer (&op->attrs, gantry_attr_list_free);
}

static gboolean
ends_with (const MlirOp *op, const char *name)
{
  const char *dot = strrchr (op->name, '.');

  return strcmp (dot != NULL ? dot + 1 : op->name, name) == 0;
}

/* Regions */

void
gantry_mlir_block (Mlir *m, MlirFrame *frame)
{
  if (!gantry_xla_scan_enter (&m->s))
    return;
  while (m->s.error == NULL && !gantry_xla_scan_sees (&m->s, "}"))
    {
      if (gantry_xla_scan_peek (&m->s) == 0)
        {
          gantry_xla_scan_fail (&m->s, GANTRY_ERROR_TRUNCATED, "'}' is expected, and the text ends");
          return;
        }
      if (gantry_xla_scan_peek (&m->s) == '^')
        gantry_xla_scan_fail (&m->s, GANTRY_ERROR_UNSUPPORTED, "a region of several blocks (dialect cf) is not read");
      else
        gantry_mlir_operation (m, frame);
    }
  m->s.depth--;
  gantry_xla_scan_expect (&m->s, "}");
}

void
gantry_mlir_arguments (Mlir *m, MlirFrame *frame)
{
  gantry_xla_scan_expect (&m->s, "(");
  while (m->s.error == NULL && !gantry_xla_scan_sees (&m->s, ")"))
    {
      guint line = m->s.line, column = gantry_xla_scan_column (&m->s);
      guint32 name = gantry_mlir_value_name (m), type, id;
      MlirPlace place = { 0 };

      gantry_xla_scan_expect (&m->s, ":");
      type = gantry_mlir_type (m);
      gantry_mlir_location (m, &place);
      if (m->s.error != NULL)
        return;
      gantry_builder_set_place (m->b, place.scope, place.location != 0 ? place.location : gantry_mlir_here (m, line, column));
      id = gantry_builder_parameter (m->b, type, gantry_context_string (m->context, name));
      gantry_mlir_define (m, frame, name, &id, 1);
      if (!gantry_xla_scan_accept (&m->s, ","))
        break;
    }
  gantry_xla_scan_expect (&m->s, ")");
}

/* "(%a0: type, %b0: type) (%a1: type, %b1: type)" are the parameters a0, a1, b0, b1. */
static void
reducer_arguments (Mlir *m, MlirFrame *frame)
{
  g_autoptr (GArray) names = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (guint32));

  while (m->s.error == NULL && gantry_xla_scan_accept (&m->s, "("))
    for (guint i = 0; i < 2; i++)
      {
        MlirPlace place;
        guint32 name = gantry_mlir_value_name (m), type;

        gantry_xla_scan_expect (&m->s, ":");
        type = gantry_mlir_type (m);
        gantry_mlir_location (m, &place);
        g_array_append_val (names, name);
        g_array_append_val (types, type);
        gantry_xla_scan_expect (&m->s, i == 0 ? "," : ")");
      }
  for (guint side = 0; side < 2 && m->s.error == NULL; side++)
    for (guint i = side; i < names->len; i += 2)
      {
        guint32 name = g_array_index (names, guint32, i);
        guint32 id = gantry_builder_parameter (m->b, g_array_index (types, guint32, i), gantry_context_string (m->context, name));

        gantry_mlir_define (m, frame, name, &id, 1);
      }
}

void
gantry_mlir_region (Mlir *m, MlirFrame *parent, MlirOp *op, const guint32 *names, const guint32 *types, guint n)
{
  guint32 function = gantry_builder_begin (m->b, op->name, 0);
  MlirFrame *frame = gantry_mlir_frame_new (parent, function);

  g_ptr_array_add (op->frames, frame);
  g_array_append_val (op->regions, function);
  gantry_builder_set_place (m->b, 0, gantry_mlir_here (m, op->line, op->column));
  for (guint i = 0; i < n; i++)
    {
      guint32 id = gantry_builder_parameter (m->b, types[i], gantry_context_string (m->context, names[i]));

      gantry_mlir_define (m, frame, names[i], &id, 1);
    }
  if (gantry_xla_scan_sees (&m->s, "("))
    reducer_arguments (m, frame);
  gantry_xla_scan_expect (&m->s, "{");
  if (gantry_xla_scan_peek (&m->s) == '^')
    {
      m->s.at++;
      gantry_xla_scan_suffix (&m->s);
      if (gantry_xla_scan_sees (&m->s, "("))
        gantry_mlir_arguments (m, frame);
      gantry_xla_scan_expect (&m->s, ":");
    }
  gantry_mlir_block (m, frame);
  gantry_builder_end (m->b, frame->results, frame->n_results);
}

/* Writing the node */

static void
count (Mlir *m, const MlirOp *op)
{
  guint most = m->options->max_nodes != 0 ? m->options->max_nodes : MOST_NODES;

  if (!ends_with (op, "return"))
    m->info->n_operations++;
  if (++m->n_nodes > most)
    gantry_xla_scan_fail (&m->s, GANTRY_ERROR_TOO_LARGE, "the module has more than %u operations", most);
}

/* A placement is a move: drawn as one, planned as one. Returns: 0 where the operation is none, or to a kind that
 * Gantry has not */
static guint32
add_move (Mlir *m, MlirOp *op)
{
  guint32 attrs, operand = op->operands->len == 1 ? g_array_index (op->operands, guint32, 0) : 0;
  const char *kind;

  if (op->n_results != 1 || operand == 0 || op->symbol == 0 || gantry_builder_get_type (m->b, operand)->kind != GANTRY_TYPE_TENSOR
      || strcmp (gantry_context_string (m->context, op->symbol), "annotate_device_placement") != 0)
    return 0;
  attrs = gantry_attr_list_end (g_steal_pointer (&op->attrs));
  op->attrs = gantry_attr_list_new (m->context);
  gantry_attr_list_set_all (op->attrs, attrs);
  kind = gantry_attrs_string (m->context, attrs, "mhlo.frontend_attributes._xla_buffer_placement", "");
  for (guint i = 0; i < GANTRY_N_MEMORY_KINDS; i++)
    if (strcmp (kind, gantry_memory_kind_name (i)) == 0)
      {
        gantry_attr_list_set_string (op->attrs, "memory", kind);
        return gantry_builder_add (m->b, GANTRY_OP_COPY, &operand, 1, gantry_attr_list_end (g_steal_pointer (&op->attrs)));
      }
  return 0;
}

static guint32
add_call (Mlir *m, MlirOp *op, guint32 type)
{
  const MlirFunction *callee = op->symbol != 0 ? gantry_mlir_find_function (m, m->module, gantry_context_string (m->context, op->symbol)) : NULL;

  if (callee == NULL)
    return 0;
  gantry_attr_list_set_function (op->attrs, "body", callee->function);
  return gantry_builder_add_typed (m->b, GANTRY_OP_CALL, (const guint32 *) op->operands->data, op->operands->len,
                                   gantry_attr_list_end (g_steal_pointer (&op->attrs)), type);
}

/* A member of a tuple, as everywhere. Returns: 0 where the operand is no tuple or has not so many members */
static guint32
add_member (Mlir *m, MlirOp *op)
{
  guint32 operand = op->operands->len == 1 ? g_array_index (op->operands, guint32, 0) : 0, attrs;
  const GantryType *type = gantry_builder_get_type (m->b, operand);
  const gint64 *indices;
  gint64 index;
  gsize n;

  if (operand == 0 || type->kind != GANTRY_TYPE_TUPLE)
    return 0;
  attrs = gantry_attr_list_end (g_steal_pointer (&op->attrs));
  op->attrs = gantry_attr_list_new (m->context);
  gantry_attr_list_set_all (op->attrs, attrs);
  indices = gantry_attrs_ints (m->context, attrs, "index", &n);
  index = n == 1 ? indices[0] : gantry_attrs_int (m->context, attrs, "index", -1);
  return index >= 0 && index < type->rank ? gantry_builder_result (m->b, operand, (guint) index) : 0;
}

static guint32
add_node (Mlir *m, MlirOp *op, guint32 type)
{
  guint32 id = 0;

  if (op->literal != 0 && op->n_results == 1 && (ends_with (op, "constant") || ends_with (op, "unfoldable_constant")))
    {
      GantryAttrList *attrs;

      id = gantry_mlir_feed (m, op->literal);
      if (id != 0)
        return id;
      attrs = gantry_attr_list_new (m->context);
      gantry_attr_list_set_literal (attrs, "value", op->literal);
      return gantry_builder_add_typed (m->b, GANTRY_OP_CONSTANT, NULL, 0, gantry_attr_list_end (attrs), type);
    }
  if (ends_with (op, "call") || ends_with (op, "composite"))
    id = add_call (m, op, type);
  else if (ends_with (op, "custom_call"))
    id = add_move (m, op);
  else if (ends_with (op, "get_tuple_element"))
    id = add_member (m, op);
  if (id != 0)
    return id;
  if (!gantry_xla_knows_operation (op->name) && !g_str_has_prefix (op->name, "check."))
    g_hash_table_add (m->unknown, GUINT_TO_POINTER (gantry_context_intern (m->context, op->name)));
  return gantry_builder_add_typed (m->b, gantry_context_foreign_op (m->context, op->name), (const guint32 *) op->operands->data, op->operands->len,
                                   gantry_attr_list_end (g_steal_pointer (&op->attrs)), type);
}

static void
add_operation (Mlir *m, MlirFrame *frame, MlirOp *op, guint32 *ids)
{
  guint32 type, id;
  guint n_captures = op->frames->len > 0 ? gantry_mlir_share_captures (m, frame, op->frames, op->operands) : 0;

  gantry_mlir_leave_usual (m, op);
  if (n_captures > 0)
    gantry_attr_list_set_int (op->attrs, "n_captures", n_captures);
  for (guint i = 0; i < op->regions->len; i++)
    {
      g_autofree char *key = g_strdup_printf ("region_%u", i);

      gantry_attr_list_set_function (op->attrs, key, g_array_index (op->regions, guint32, i));
    }
  if (op->n_results == 1)
    type = g_array_index (op->types, guint32, 0);
  else
    type = gantry_context_tuple (m->context, op->n_results, (const guint32 *) op->types->data);
  gantry_builder_set_place (m->b, gantry_mlir_operation_scope (m, &op->place),
                            op->place.location != 0 ? op->place.location : gantry_mlir_here (m, op->line, op->column));
  if (op->n_results <= 1)
    gantry_builder_set_name (m->b, op->value_name);
  id = add_node (m, op, type);
  if (op->n_results == 1)
    ids[0] = id;
  for (guint i = 0; op->n_results > 1 && i < op->n_results; i++)
    ids[i] = gantry_builder_result (m->b, id, i);
}

/* Reading */

typedef struct
{
  guint32 name;
  guint n;
} Result;

/* "%a, %b:2 =" */
static guint
read_results (Mlir *m, GArray *results)
{
  guint n = 0;

  while (m->s.error == NULL && gantry_xla_scan_peek (&m->s) == '%')
    {
      Result result = { gantry_mlir_value_name (m), 1 };

      if (gantry_xla_scan_accept (&m->s, ":"))
        {
          gint64 given = gantry_xla_scan_int (&m->s);

          result.n = (guint) CLAMP (given, 0, 1 << 20);
        }
      n += result.n;
      if (n > 1 << 20)
        gantry_xla_scan_fail (&m->s, GANTRY_ERROR_TOO_LARGE, "an operation has more than a million results");
      g_array_append_val (results, result);
      if (!gantry_xla_scan_accept (&m->s, ","))
        break;
    }
  if (results->len > 0)
    gantry_xla_scan_expect (&m->s, "=");
  return n;
}

static void
generic (Mlir *m, MlirFrame *frame, MlirOp *op)
{
  GantryXlaScan *s = &m->s;

  gantry_xla_scan_expect (s, "(");
  while (s->error == NULL && !gantry_xla_scan_sees (s, ")"))
    {
      guint32 id = gantry_mlir_operand (m, frame, FALSE);

      g_array_append_val (op->operands, id);
      if (!gantry_xla_scan_accept (s, ","))
        break;
    }
  gantry_xla_scan_expect (s, ")");
  if (gantry_xla_scan_sees (s, "["))
    gantry_xla_scan_bracket (s); /* successors */
  if (gantry_xla_scan_accept (s, "<{"))
    {
      gantry_mlir_dictionary (m, op->attrs, NULL, '}', &op->literal);
      gantry_xla_scan_expect (s, ">");
    }
  if (gantry_xla_scan_accept (s, "("))
    {
      do
        gantry_mlir_region (m, frame, op, NULL, NULL, 0);
      while (s->error == NULL && gantry_xla_scan_accept (s, ","));
      gantry_xla_scan_expect (s, ")");
    }
  if (gantry_xla_scan_accept (s, "{"))
    gantry_mlir_dictionary (m, op->attrs, NULL, '}', &op->literal);
  gantry_xla_scan_expect (s, ":");
  gantry_mlir_types (m, op->types);
  gantry_xla_scan_expect (s, "->");
  g_array_set_size (op->types, 0);
  gantry_mlir_types (m, op->types);
}

static void
take_symbol (Mlir *m, MlirOp *op)
{
  guint32 attrs;
  const char *name;

  if (op->symbol != 0)
    return;
  attrs = gantry_attr_list_end (g_steal_pointer (&op->attrs));
  op->attrs = gantry_attr_list_new (m->context);
  gantry_attr_list_set_all (op->attrs, attrs);
  name = gantry_attrs_string (m->context, attrs, "call_target_name", NULL);
  if (name == NULL)
    name = gantry_attrs_string (m->context, attrs, "callee", NULL);
  if (name == NULL)
    name = gantry_attrs_string (m->context, attrs, "decomposition", NULL);
  if (name != NULL)
    op->symbol = gantry_context_intern (m->context, name);
}

static void
read_name_and_rest (Mlir *m, MlirFrame *frame, MlirOp *op)
{
  if (gantry_xla_scan_peek (&m->s) == '"')
    {
      op->name = gantry_xla_scan_string (&m->s);
      if (op->name != NULL)
        generic (m, frame, op);
    }
  else
    {
      GantryXlaSpan name = gantry_xla_scan_word (&m->s, FALSE);

      if (name.length == 0)
        {
          gantry_xla_scan_expect (&m->s, "an operation");
          return;
        }
      op->name = gantry_xla_span_dup (name);
      gantry_mlir_pretty (m, frame, op);
    }
  if (m->s.error != NULL)
    return;
  gantry_mlir_location (m, &op->place);
  /* A pretty form may say one type for operands and all results, or list what is no result before. */
  while (op->types->len < op->n_results)
    {
      guint32 type = op->types->len > 0 ? g_array_index (op->types, guint32, op->types->len - 1) : 0;

      g_array_append_val (op->types, type);
    }
  if (op->types->len > op->n_results)
    g_array_remove_range (op->types, 0, op->types->len - op->n_results);
}

static void
define_results (Mlir *m, MlirFrame *frame, const GArray *results, const guint32 *ids)
{
  guint at = 0;

  for (guint i = 0; i < results->len; i++)
    {
      const Result *result = &g_array_index (results, Result, i);

      gantry_mlir_define (m, frame, result->name, ids + at, result->n);
      at += result->n;
    }
}

static void
end_operation (Mlir *m, MlirFrame *frame, MlirOp *op, guint32 *ids)
{
  const MlirFunction *callee = op->symbol != 0 && ends_with (op, "call")
                                 ? gantry_mlir_find_function (m, m->module, gantry_context_string (m->context, op->symbol))
                                 : NULL;

  if (callee != NULL && m->options->feed != 0 && m->in_entry && frame->parent == NULL && strcmp (gantry_context_string (m->context, op->symbol), "inputs") == 0
      && op->operands->len == 0)
    {
      gantry_mlir_write_inputs (m, frame, callee, ids, op->n_results);
      return;
    }
  if (m->options->checks && m->in_entry && frame->parent == NULL)
    gantry_mlir_check (m, frame, op);
  add_operation (m, frame, op, ids);
}

gboolean
gantry_mlir_finish (Mlir *m, MlirFrame *frame, MlirOp *op, guint32 *ids)
{
  if (ends_with (op, "custom_call") || ends_with (op, "call") || ends_with (op, "composite"))
    take_symbol (m, op);
  count (m, op);
  if (!ends_with (op, "return"))
    {
      end_operation (m, frame, op, ids);
      return FALSE;
    }
  g_free (frame->results);
  frame->n_results = op->operands->len;
  frame->results = g_memdup2 (op->operands->data, sizeof (guint32) * MAX (op->operands->len, 1));
  return TRUE;
}

/* A number is no name. */
static guint32
value_name (Mlir *m, const GArray *results)
{
  guint32 name = results->len == 1 ? g_array_index (results, Result, 0).name : 0;
  const char *text = gantry_context_string (m->context, name);

  return g_ascii_isdigit (text[0]) ? 0 : gantry_context_intern (m->context, text);
}

gboolean
gantry_mlir_operation (Mlir *m, MlirFrame *frame)
{
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (Result));
  MlirOp op;
  gboolean terminator = FALSE;

  gantry_mlir_op_init (m, &op);
  gantry_xla_scan_peek (&m->s);
  op.line = m->s.line;
  op.column = gantry_xla_scan_column (&m->s);
  op.n_results = read_results (m, results);
  if (m->s.error == NULL)
    read_name_and_rest (m, frame, &op);
  if (m->s.error == NULL)
    {
      g_autofree guint32 *ids = g_new0 (guint32, op.n_results + 1);

      op.value_name = value_name (m, results);
      terminator = gantry_mlir_finish (m, frame, &op, ids);
      if (!terminator)
        define_results (m, frame, results, ids);
    }
  gantry_mlir_op_clear (&op);
  return terminator;
}
