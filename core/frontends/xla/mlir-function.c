/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: arguments and results with their attributes (memory kinds, donation), the body, and what a test
 * compares. */
#include "core/frontends/xla/mlir-private.h"
#include "core/graph/operation.h"

const MlirFunction *
gantry_mlir_find_function (Mlir *m, guint module, const char *name)
{
  g_autofree char *key = g_strdup_printf ("%u:%s", module, name);
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (m->by_name, GUINT_TO_POINTER (gantry_context_intern (m->context, key))));
  const MlirFunction *found = index != 0 ? &g_array_index (m->functions, MlirFunction, index - 1) : NULL;

  return found != NULL && found->has_body ? found : NULL;
}

static GantryMemoryKind
memory_of (Mlir *m, guint32 attrs)
{
  const char *kind = gantry_attrs_string (m->context, attrs, "mhlo.memory_kind", "");

  for (guint i = 0; i < GANTRY_N_MEMORY_KINDS; i++)
    if (strcmp (kind, gantry_memory_kind_name (i)) == 0)
      return (GantryMemoryKind) i;
  return GANTRY_MEMORY_DEVICE;
}

static guint32
in_memory (Mlir *m, guint32 type, GantryMemoryKind memory)
{
  const GantryType *t = gantry_context_type (m->context, type);

  return t->kind == GANTRY_TYPE_TENSOR ? gantry_context_tensor_in (m->context, (GantryElementType) t->element, t->rank, t->dims, memory) : type;
}

guint32
gantry_mlir_braces (Mlir *m)
{
  g_autoptr (GantryAttrList) list = gantry_attr_list_new (m->context);

  if (gantry_xla_scan_accept (&m->s, "{"))
    gantry_mlir_dictionary (m, list, NULL, '}', NULL);
  return gantry_attr_list_end (g_steal_pointer (&list));
}

static void
note_donation (Mlir *m, guint32 parameter, guint32 attrs)
{
  XlaDonation donation = { parameter, gantry_attrs_int (m->context, attrs, "tf.aliasing_output", -1) };

  if (donation.result >= 0 || gantry_attrs_int (m->context, attrs, "jax.buffer_donor", 0) != 0)
    g_array_append_val (m->donations, donation);
}

void
gantry_mlir_add_argument (Mlir *m, MlirFrame *frame, guint32 name, const char *shown, guint32 type, guint32 attrs, const MlirPlace *place, guint32 fallback)
{
  g_autofree char *whole = NULL;
  guint32 id;

  type = in_memory (m, type, memory_of (m, attrs));
  /* The name of an argument is all of it, though it has a scope: "layer.1/weights". */
  if (place->name != 0 && m->in_entry)
    shown = whole = g_strconcat (gantry_context_scope_path (m->context, place->scope), place->scope != 0 ? "/" : "",
                                 gantry_context_string (m->context, place->name), NULL);
  gantry_builder_set_place (m->b, place->scope, place->location != 0 ? place->location : fallback);
  gantry_builder_set_name (m->b, gantry_context_intern (m->context, shown));
  id = gantry_builder_add_typed (m->b, GANTRY_OP_PARAMETER, NULL, 0, attrs, type);
  gantry_mlir_define (m, frame, name, &id, 1);
  if (m->in_entry)
    note_donation (m, id, attrs);
}

/* "%a: type {attributes} loc(...)". Donation to a result is the attribute `alias`, as for a training step. */
void
gantry_mlir_argument (Mlir *m, MlirFrame *frame, guint32 given)
{
  guint line = m->s.line, column = gantry_xla_scan_column (&m->s);
  guint32 name = gantry_mlir_value_name (m), type, attrs;
  MlirPlace place = { 0 };

  gantry_xla_scan_expect (&m->s, ":");
  type = gantry_mlir_type (m);
  attrs = gantry_mlir_braces (m);
  attrs = given != 0 ? given : attrs;
  gantry_mlir_location (m, &place);
  if (m->s.error != NULL)
    return;
  gantry_mlir_add_argument (m, frame, name, gantry_context_string (m->context, name), type, attrs, &place, gantry_mlir_here (m, line, column));
}

static void
arguments (Mlir *m, MlirFrame *frame)
{
  gantry_xla_scan_expect (&m->s, "(");
  while (m->s.error == NULL && !gantry_xla_scan_sees (&m->s, ")"))
    {
      gantry_mlir_argument (m, frame, 0);
      if (!gantry_xla_scan_accept (&m->s, ","))
        break;
    }
  gantry_xla_scan_expect (&m->s, ")");
}

/* "-> type", "-> (type {attributes}, ...)" */
static void
result_types (Mlir *m, GArray *results)
{
  gboolean list;

  if (!gantry_xla_scan_accept (&m->s, "->"))
    return;
  list = gantry_xla_scan_accept (&m->s, "(");
  while (m->s.error == NULL && !gantry_xla_scan_sees (&m->s, ")"))
    {
      MlirResult result = { gantry_mlir_type (m), 0 };

      if (list)
        result.attrs = gantry_mlir_braces (m);
      g_array_append_val (results, result);
      if (!list || !gantry_xla_scan_accept (&m->s, ","))
        break;
    }
  if (list)
    gantry_xla_scan_expect (&m->s, ")");
}

static void
move_results (Mlir *m, MlirFrame *frame, const GArray *results)
{
  for (guint i = 0; i < MIN (frame->n_results, results->len); i++)
    {
      GantryMemoryKind memory = memory_of (m, g_array_index (results, MlirResult, i).attrs);
      const GantryType *type = gantry_builder_get_type (m->b, frame->results[i]);
      GantryAttrList *attrs;

      if (frame->results[i] == 0 || type->kind != GANTRY_TYPE_TENSOR || type->memory == memory)
        continue;
      attrs = gantry_attr_list_new (m->context);
      gantry_attr_list_set_string (attrs, "memory", gantry_memory_kind_name (memory));
      frame->results[i] = gantry_builder_add (m->b, GANTRY_OP_COPY, &frame->results[i], 1, gantry_attr_list_end (attrs));
    }
}

/* Arguments, results and operations. */
static void
body (Mlir *m, MlirFrame *frame, const MlirFunction *function, GArray *results)
{
  if (m->bytecode != NULL)
    {
      gantry_mlir_bytecode_body (m, frame, function, results);
      return;
    }
  m->s.at = function->at;
  m->s.line = function->line;
  m->s.line_start = function->line_start;
  m->module = function->module;
  if (function->generic)
    {
      gantry_mlir_generic_body (m, frame, results);
      return;
    }
  arguments (m, frame);
  result_types (m, results);
  if (gantry_xla_scan_accept (&m->s, "attributes"))
    gantry_mlir_braces (m);
  gantry_xla_scan_expect (&m->s, "{");
  gantry_mlir_block (m, frame);
}

void
gantry_mlir_function (Mlir *m, const MlirFunction *function, gboolean entry)
{
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (MlirResult));
  MlirFrame *frame;

  if (!function->has_body)
    return;
  gantry_builder_begin (m->b, gantry_context_string (m->context, function->name), function->function);
  frame = gantry_mlir_frame_new (NULL, function->function);
  m->in_entry = entry;
  if (entry)
    m->entry = function->function;
  body (m, frame, function, results);
  if (frame->n_results != results->len)
    gantry_xla_scan_fail (&m->s, GANTRY_ERROR_INVALID, "function @%s returns %u values, and declares %u", gantry_context_string (m->context, function->name),
                          frame->n_results, results->len);
  if (entry && m->options->checks)
    gantry_builder_end (m->b, (const guint32 *) m->checked->data, m->checked->len);
  else
    {
      move_results (m, frame, results);
      if (entry)
        gantry_xla_donate (m->b, m->donations, frame->results, frame->n_results);
      gantry_builder_end (m->b, frame->results, frame->n_results);
    }
  m->in_entry = FALSE;
  gantry_mlir_frame_free (frame);
}

void
gantry_mlir_write_inputs (Mlir *m, MlirFrame *frame, const MlirFunction *function, guint32 *ids, guint n)
{
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (MlirResult));
  MlirFrame *inputs = gantry_mlir_frame_new (NULL, m->entry);
  GantryXlaScan here = m->s;
  guint module = m->module;

  if (!m->in_inputs)
    {
      m->in_inputs = TRUE;
      body (m, inputs, function, results);
      for (guint i = 0; i < n; i++)
        ids[i] = i < inputs->n_results ? inputs->results[i] : 0;
      m->in_inputs = FALSE;
    }
  here.error = m->s.error;
  if (here.error != NULL)
    here.at = here.end;
  m->s = here;
  m->module = module;
  gantry_mlir_frame_free (inputs);
}

guint32
gantry_mlir_feed (Mlir *m, guint32 literal)
{
  GantryLiteral *value = gantry_context_literal (m->context, literal);
  gboolean whole = !gantry_element_is_float ((GantryElementType) value->type->element);

  if (!m->in_entry || m->options->feed == 0 || (m->options->feed == 2 && whole) || (value->type->rank == 0 && !m->in_inputs))
    return 0;
  g_ptr_array_add (m->info->feeds, gantry_literal_ref (value));
  return gantry_builder_capture (m->b, m->entry, gantry_context_type_id (m->context, value->type));
}

/* check.expect_eq, check.expect_almost_eq, check.expect_close, their forms with a constant, and as custom calls. */
void
gantry_mlir_check (Mlir *m, MlirFrame *frame, MlirOp *op)
{
  const char *name = op->symbol != 0 ? gantry_context_string (m->context, op->symbol) : op->name;
  GantryXlaCheck check = { .actual = m->checked->len, .expected = m->checked->len + 1, .tolerance = 1e-4 };
  guint32 attrs, pair[2];

  if (!g_str_has_prefix (name, "check.") || op->operands->len < 1)
    return;
  check.operation = g_strdup (name);
  check.exact = strstr (name, "almost") == NULL && strstr (name, "close") == NULL;
  attrs = gantry_attr_list_end (g_steal_pointer (&op->attrs));
  op->attrs = gantry_attr_list_new (m->context);
  check.tolerance = gantry_attrs_float (m->context, attrs, "tolerance", 1e-4);
  pair[0] = g_array_index (op->operands, guint32, 0);
  if (op->operands->len > 1)
    pair[1] = g_array_index (op->operands, guint32, 1);
  else if (op->literal != 0)
    pair[1] = gantry_builder_literal (m->b, gantry_context_literal (m->context, op->literal));
  else
    {
      gantry_xla_scan_fail (&m->s, GANTRY_ERROR_UNSUPPORTED, "%s compares with a value of an element type that is not compiled", name);
      g_free (check.operation);
      return;
    }
  g_array_append_val (m->info->checks, check);
  g_array_append_vals (m->checked, pair, 2);
}
