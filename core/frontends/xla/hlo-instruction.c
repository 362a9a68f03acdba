/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one instruction: what takes a tuple apart or makes one, moves and constants by themselves, all others as what
 * they are called. Parameters and fusions stand in hlo-computation.c. */
#include "core/frontends/xla/hlo-body-private.h"
#include "core/graph/operation.h"

/* Values */

HloValue *
gantry_hlo_value_new (HloBody *body, guint32 type)
{
  HloValue *value = gantry_arena_new0 (body->arena, HloValue, 1);

  value->type = type;
  value->n = gantry_hlo_leaves (body->h, type);
  value->ids = gantry_arena_new0 (body->arena, guint32, value->n + 1);
  return value;
}

/* All leaves of @values. */
static GArray *
leaves_of (HloValue *const *values, guint n)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < n; i++)
    g_array_append_vals (ids, values[i]->ids, values[i]->n);
  return ids;
}

static guint32
flat_type (Hlo *h, guint32 type)
{
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (guint32));

  gantry_hlo_leaf_types (h, type, types);
  return types->len == 1 ? g_array_index (types, guint32, 0) : gantry_context_tuple (h->context, types->len, (const guint32 *) types->data);
}

static void
take_leaves (HloBody *body, HloValue *value, guint32 id)
{
  if (value->n == 1)
    value->ids[0] = id;
  for (guint i = 0; value->n > 1 && i < value->n; i++)
    value->ids[i] = gantry_builder_result (body->h->b, id, i);
}

/* Writing */

static guint
column_of (const GantryXlaPlace *place)
{
  return (guint) (place->at - place->line_start) + 1;
}

void
gantry_hlo_fail_at (Hlo *h, const HloInstruction *inst, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  gantry_xla_scan_go (&h->s, &inst->begin);
  gantry_xla_scan_fail (&h->s, GANTRY_ERROR_INVALID, "%s", what);
}

static void
set_place (HloBody *body, const HloInstruction *inst, const HloAttributes *a)
{
  Hlo *h = body->h;
  GantryLocation location = a->location;
  guint32 scope = a->scope;

  if (location.file == 0 && h->proto != NULL)
    location.file = h->file;
  else if (location.file == 0)
    location = (GantryLocation){ .file = h->file, .line = inst->begin.line, .column = column_of (&inst->begin) };
  if (body->scope != NULL)
    scope = gantry_context_scope (h->context, body->scope);
  gantry_builder_set_place (h->b, scope, gantry_context_location (h->context, &location));
  gantry_builder_set_name (h->b, inst->name);
}

static void
want (Hlo *h, gint index)
{
  HloComputation *c = gantry_hlo_computation (h, index);

  if (!c->wanted)
    g_queue_push_tail (h->wanted, GINT_TO_POINTER (index));
  c->wanted = TRUE;
}

static void
set_regions (Hlo *h, HloAttributes *a)
{
  for (guint i = 0; i < a->regions->len; i++)
    {
      gint index = g_array_index (a->regions, gint, i);
      g_autofree char *key = g_strdup_printf ("region_%u", i);

      gantry_attr_list_set_function (a->attrs, key, gantry_hlo_computation (h, index)->function);
      want (h, index);
    }
}

/* A layout that is more than the row-major order is kept for the reader, and for bitcasts. Returns: (transfer full) (nullable) */
static char *
unusual_layout (Hlo *h, const HloInstruction *inst)
{
  const GantryType *type = gantry_context_type (h->context, inst->type);
  gboolean plain = type->kind == GANTRY_TYPE_TENSOR && memchr (inst->layout.at, ':', inst->layout.length) == NULL;
  g_autofree char *text = NULL;
  guint expected = type->rank;

  if (inst->layout.length == 0)
    return NULL;
  text = gantry_xla_span_dup (inst->layout);
  for (char *c = text; plain && *c != 0;)
    {
      plain = expected > 0 && g_ascii_strtoull (c, &c, 10) == --expected;
      c += *c == ',';
      plain = plain && (*c == 0 || g_ascii_isdigit (*c));
    }
  return plain ? NULL : g_steal_pointer (&text);
}

static HloValue *
generic (HloBody *body, const HloInstruction *inst, HloAttributes *a, HloValue *const *operands, guint n)
{
  Hlo *h = body->h;
  g_autofree char *layout = unusual_layout (h, inst);
  HloValue *value = gantry_hlo_value_new (body, inst->type);
  g_autoptr (GArray) ids = leaves_of (operands, n);
  g_autofree char *name = g_strdup_printf ("hlo.%.*s", (int) inst->opcode.length, inst->opcode.at);

  if (gantry_xla_span_is (inst->opcode, "conditional"))
    {
      g_autofree gint64 *counts = g_new (gint64, n + 1);

      for (guint i = 0; i < n; i++)
        counts[i] = operands[i]->n;
      gantry_attr_list_set_ints (a->attrs, "operand_leaves", counts, n);
    }
  set_regions (h, a);
  if (layout != NULL)
    gantry_attr_list_set_string (a->attrs, "layout", layout);
  if (gantry_xla_span_is (inst->opcode, "bitcast") && n == 1 && operands[0]->layout != 0)
    gantry_attr_list_set_string (a->attrs, "operand_layout", gantry_context_string (h->context, operands[0]->layout));
  if (!gantry_xla_knows_operation (name))
    g_hash_table_add (h->unknown, GUINT_TO_POINTER (gantry_context_intern (h->context, name)));
  take_leaves (body, value,
               gantry_builder_add_typed (h->b, gantry_context_foreign_op (h->context, name), (const guint32 *) ids->data, ids->len,
                                         gantry_attr_list_end (g_steal_pointer (&a->attrs)), flat_type (h, inst->type)));
  return value;
}

HloValue *
gantry_hlo_write_call (HloBody *body, const HloInstruction *inst, HloAttributes *a, gint callee, HloValue *const *operands, guint n)
{
  Hlo *h = body->h;
  HloValue *value = gantry_hlo_value_new (body, inst->type);
  g_autoptr (GArray) ids = leaves_of (operands, n);

  want (h, callee);
  gantry_attr_list_set_function (a->attrs, "body", gantry_hlo_computation (h, callee)->function);
  take_leaves (body, value,
               gantry_builder_add_typed (h->b, GANTRY_OP_CALL, (const guint32 *) ids->data, ids->len, gantry_attr_list_end (g_steal_pointer (&a->attrs)),
                                         flat_type (h, inst->type)));
  return value;
}

static HloValue *
constant (HloBody *body, const HloInstruction *inst, HloAttributes *a)
{
  Hlo *h = body->h;
  HloValue *value = gantry_hlo_value_new (body, inst->type);
  GantryXlaSpan content = inst->operands;
  gboolean elided = g_strstr_len (content.at, (gssize) content.length, "...") != NULL;
  const GantryType *type = gantry_context_type (h->context, inst->type);
  guint32 literal = 0;
  GantryAttrList *attrs;

  if (h->proto != NULL)
    literal = gantry_hlo_proto_literal (h, inst->message, inst->type);
  else if (!elided && type->kind == GANTRY_TYPE_TENSOR)
    literal = gantry_xla_literal (&h->s, h->context, content, inst->type);
  if (literal == 0)
    {
      g_autofree char *text = g_strndup (content.at, MIN (content.length, 256));
      g_autofree char *valid = g_utf8_make_valid (text, -1);

      gantry_attr_list_set_string (a->attrs, "value", valid);
      return generic (body, inst, a, NULL, 0);
    }
  attrs = gantry_attr_list_new (h->context);
  gantry_attr_list_set_literal (attrs, "value", literal);
  value->ids[0] = gantry_builder_add_typed (h->b, GANTRY_OP_CONSTANT, NULL, 0, gantry_attr_list_end (attrs), inst->type);
  return value;
}

static guint
first_leaf (Hlo *h, guint32 tuple, gint64 member)
{
  const GantryType *type = gantry_context_type (h->context, tuple);
  guint first = 0;

  for (gint64 i = 0; i < member && i < type->rank; i++)
    first += gantry_hlo_leaves (h, (guint32) type->dims[i]);
  return first;
}

static HloValue *
get_member (HloBody *body, const HloInstruction *inst, const HloAttributes *a, HloValue *const *operands, guint n)
{
  const GantryType *type = n == 1 ? gantry_context_type (body->h->context, operands[0]->type) : NULL;
  HloValue *value = gantry_hlo_value_new (body, inst->type);
  guint first;

  if (type == NULL || type->kind != GANTRY_TYPE_TUPLE || a->index < 0 || a->index >= type->rank)
    {
      gantry_hlo_fail_at (body->h, inst, "get-tuple-element of no member");
      return value;
    }
  first = first_leaf (body->h, operands[0]->type, a->index);
  if (first + value->n > operands[0]->n)
    gantry_hlo_fail_at (body->h, inst, "member %" G_GINT64_FORMAT " is of another shape", a->index);
  else
    memcpy (value->ids, operands[0]->ids + first, sizeof (guint32) * value->n);
  return value;
}

static HloValue *
tuple (HloBody *body, const HloInstruction *inst, HloValue *const *operands, guint n)
{
  g_autofree guint32 *types = g_new (guint32, n + 1);
  g_autoptr (GArray) ids = leaves_of (operands, n);
  HloValue *value;

  for (guint i = 0; i < n; i++)
    types[i] = operands[i]->type;
  value = gantry_hlo_value_new (body, gantry_context_tuple (body->h->context, n, types));
  if (ids->len > 0)
    memcpy (value->ids, ids->data, sizeof (guint32) * ids->len);
  return value;
}

static HloValue *
move (HloBody *body, const HloInstruction *inst, HloAttributes *a, const HloValue *from, guint32 type, const char *memory)
{
  HloValue *value = gantry_hlo_value_new (body, inst->type);
  GantryAttrList *attrs = gantry_attr_list_new (body->h->context);

  gantry_attr_list_set_string (attrs, "memory", memory);
  value->ids[0] = gantry_builder_add (body->h->b, GANTRY_OP_COPY, from->ids, 1, gantry_attr_list_end (attrs));
  for (guint i = 1; i < value->n; i++)
    value->ids[i] = i == 1 ? from->ids[0] : 0;
  return value;
}

static const char *
memory_kind (const char *name)
{
  for (guint i = 0; i < GANTRY_N_MEMORY_KINDS; i++)
    if (strcmp (name, gantry_memory_kind_name (i)) == 0)
      return gantry_memory_kind_name (i);
  return NULL;
}

/* Where a value is to lie, by custom call or by the shape of a copy; NULL where the instruction is no move. */
static const char *
moves_to (Hlo *h, const HloInstruction *inst, const HloAttributes *a, HloValue *const *operands, guint n)
{
  const char *target = gantry_context_string (h->context, a->target);
  const GantryType *from = n == 1 ? gantry_context_type (h->context, operands[0]->type) : NULL;
  const GantryType *to = gantry_context_type (h->context, inst->type);

  if (from == NULL || from->kind != GANTRY_TYPE_TENSOR || operands[0]->ids[0] == 0)
    return NULL;
  if (gantry_xla_span_is (inst->opcode, "copy-start") && to->kind == GANTRY_TYPE_TUPLE && to->rank >= 2)
    to = gantry_context_type (h->context, (guint32) to->dims[0]);
  else if (gantry_xla_span_is (inst->opcode, "custom-call"))
    return strcmp (target, "MoveToHost") == 0                  ? "pinned_host"
           : strcmp (target, "MoveToDevice") == 0              ? "device"
           : strcmp (target, "annotate_device_placement") == 0 ? memory_kind (gantry_context_string (h->context, a->placement))
                                                               : NULL;
  else if (!gantry_xla_span_is (inst->opcode, "copy") || to->kind != GANTRY_TYPE_TENSOR || to->memory == from->memory)
    return NULL;
  return gantry_memory_kind_name ((GantryMemoryKind) to->memory);
}

static gboolean
is_copy (GantryBuilder *b, guint32 id)
{
  const GantryNode *node = id != 0 ? gantry_builder_node (b, id) : NULL;

  return node != NULL && node->op == GANTRY_OP_COPY;
}

static HloValue *
write_value (HloBody *body, const HloInstruction *inst, HloAttributes *a)
{
  HloValue **operands;
  const char *memory;
  guint n;

  if (gantry_xla_span_is (inst->opcode, "constant"))
    return constant (body, inst, a);
  operands = gantry_hlo_read_operands (body, inst, &n);
  if (body->h->s.error != NULL)
    return gantry_hlo_value_new (body, inst->type);
  if (gantry_xla_span_is (inst->opcode, "tuple"))
    return tuple (body, inst, operands, n);
  if (gantry_xla_span_is (inst->opcode, "get-tuple-element"))
    return get_member (body, inst, a, operands, n);
  if (gantry_xla_span_is (inst->opcode, "fusion") && a->fusion >= 0)
    return gantry_hlo_write_fusion (body, inst, a, operands, n);
  if (gantry_xla_span_is (inst->opcode, "call") && a->regions->len == 1)
    return gantry_hlo_write_call (body, inst, a, g_array_index (a->regions, gint, 0), operands, n);
  if (gantry_xla_span_is (inst->opcode, "copy-done") && n == 1 && operands[0]->n >= 2 && is_copy (body->h->b, operands[0]->ids[0]))
    {
      HloValue *value = gantry_hlo_value_new (body, inst->type);

      value->ids[0] = operands[0]->ids[0];
      return value;
    }
  memory = moves_to (body->h, inst, a, operands, n);
  if (memory != NULL)
    return move (body, inst, a, operands[0], inst->type, memory);
  if (a->fusion >= 0)
    g_array_append_val (a->regions, a->fusion);
  return generic (body, inst, a, operands, n);
}

static void
set_value_layout (HloBody *body, const HloInstruction *inst)
{
  HloValue *value = g_hash_table_lookup (body->values, GSIZE_TO_POINTER (inst->key));
  g_autofree char *layout = value != NULL ? unusual_layout (body->h, inst) : NULL;

  if (value != NULL)
    value->layout = layout != NULL ? gantry_context_intern (body->h->context, layout) : 0;
}

void
gantry_hlo_write_instruction (HloBody *body, const HloInstruction *inst)
{
  Hlo *h = body->h;
  HloAttributes a = { .attrs = gantry_attr_list_new (h->context), .regions = g_array_new (FALSE, FALSE, sizeof (gint)), .fusion = -1 };
  guint most = h->options->max_nodes != 0 ? h->options->max_nodes : GANTRY_HLO_MOST_INSTRUCTIONS;

  if (++h->n_nodes > most)
    gantry_xla_scan_fail (&h->s, GANTRY_ERROR_TOO_LARGE, "the module has more than %u instructions", most);
  gantry_hlo_attributes (h, inst, &a);
  set_place (body, inst, &a);
  if (h->s.error != NULL)
    ;
  else if (gantry_xla_span_is (inst->opcode, "parameter"))
    gantry_hlo_write_parameter (body, inst, &a);
  else
    g_hash_table_insert (body->values, GSIZE_TO_POINTER (inst->key), write_value (body, inst, &a));
  set_value_layout (body, inst);
  g_clear_pointer (&a.attrs, gantry_attr_list_free);
  g_array_unref (a.regions);
}
