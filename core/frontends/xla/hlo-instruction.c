/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions and computations. A computation becomes a function, or, where a fusion names it, nodes in place. */
#include "core/frontends/xla/hlo-private.h"
#include "core/ir/operation.h"

#define MOST_NODES 4000000

/* The computation being written. */
typedef struct
{
  Hlo *h;
  GantryArena *arena;
  GHashTable *values;    /* string id -> HloValue */
  const HloValue *given; /* (nullable): what a fusion gives for its parameters */
  guint n_given;
  const char *scope; /* (nullable): of a fusion */
  gboolean entry;
} Body;

static HloComputation *
computation (Hlo *h, gint index)
{
  return &g_array_index (h->computations, HloComputation, index);
}

/* Reading */

static gboolean
begins_shape (Hlo *h)
{
  GantryXlaScan copy = h->s;
  GantryXlaSpan word;

  if (gantry_xla_scan_peek (&copy) == '(')
    return TRUE;
  word = gantry_xla_scan_word (&copy, FALSE);
  return word.length > 0
         && (gantry_xla_scan_ahead (&copy, 0) == '['
             || (gantry_xla_span_is (word, "b") && gantry_xla_scan_ahead (&copy, 0) == '('));
}

static void
skip_attributes (GantryXlaScan *s)
{
  while (s->error == NULL && gantry_xla_scan_accept (s, ","))
    {
      GantryXlaSpan key = gantry_xla_scan_word (s, TRUE);

      if (key.length == 0 || !gantry_xla_scan_accept (s, "="))
        {
          gantry_xla_scan_expect (s, "an attribute");
          return;
        }
      gantry_xla_scan_value (s, TRUE);
    }
}

static void
read_instruction (Hlo *h, HloInstruction *inst)
{
  GantryXlaScan *s = &h->s;
  GantryXlaSpan name;

  *inst = (HloInstruction){ 0 };
  inst->begin = gantry_xla_scan_place (s);
  inst->root = gantry_xla_scan_accept (s, "ROOT");
  gantry_xla_scan_accept (s, "%");
  name = gantry_xla_scan_word (s, TRUE);
  if (name.length == 0)
    gantry_xla_scan_expect (s, "the name of an instruction");
  inst->name = gantry_context_intern_len (h->context, name.at, name.length);
  gantry_xla_scan_expect (s, "=");
  if (s->error == NULL && begins_shape (h))
    inst->type = gantry_hlo_shape (h, &inst->layout);
  inst->opcode = gantry_xla_scan_word (s, TRUE);
  if (inst->opcode.length == 0 || !gantry_xla_scan_sees (s, "("))
    {
      gantry_xla_scan_expect (s, "an operation and '('");
      return;
    }
  inst->operands_place = gantry_xla_scan_place (s);
  inst->operands_place.at++;
  inst->operands = gantry_xla_scan_bracket (s);
  inst->attributes = gantry_xla_scan_place (s);
  skip_attributes (s);
}

static GArray *
read_body (Hlo *h, HloComputation *c)
{
  GArray *instructions = g_array_new (FALSE, FALSE, sizeof (HloInstruction));
  GantryXlaScan *s = &h->s;

  s->at = c->at;
  s->line = c->line;
  s->line_start = c->line_start;
  h->module = c->module;
  while (s->error == NULL && !gantry_xla_scan_sees (s, "}"))
    {
      HloInstruction inst;

      if (gantry_xla_scan_peek (s) == 0)
        gantry_xla_scan_expect (s, "}");
      else
        {
          read_instruction (h, &inst);
          if (s->error == NULL)
            g_array_append_val (instructions, inst);
        }
    }
  if (!c->counted)
    h->info->n_operations += instructions->len;
  c->counted = TRUE;
  return instructions;
}

/* Values */

static HloValue *
value_new (Body *body, guint32 type)
{
  HloValue *value = gantry_arena_new0 (body->arena, HloValue, 1);

  value->type = type;
  value->n = gantry_hlo_leaves (body->h, type);
  value->ids = gantry_arena_new0 (body->arena, guint32, value->n + 1);
  return value;
}

/* "%a, f32[2] %b": what they are, in order. */
static HloValue **
read_operands (Body *body, const HloInstruction *inst, guint *n)
{
  Hlo *h = body->h;
  GantryXlaScan before = h->s;
  GantryXlaScan *s = &h->s;
  g_autoptr (GPtrArray) found = g_ptr_array_new ();
  GantryXlaSpan layout;

  gantry_xla_scan_go (s, &inst->operands_place);
  s->end = inst->operands.at + inst->operands.length;
  while (s->error == NULL && gantry_xla_scan_peek (s) != 0)
    {
      GantryXlaSpan name;
      GantryXlaPlace place;
      HloValue *value;

      if (begins_shape (h))
        gantry_hlo_shape (h, &layout);
      place = gantry_xla_scan_place (s);
      gantry_xla_scan_accept (s, "%");
      name = gantry_xla_scan_word (s, TRUE);
      value = g_hash_table_lookup (body->values,
                                   GUINT_TO_POINTER (gantry_context_intern_len (h->context, name.at, name.length)));
      if (value == NULL)
        {
          g_autofree char *text = gantry_xla_span_dup (name);
          g_autofree char *shown = g_utf8_make_valid (text, -1);

          gantry_xla_scan_go (s, &place);
          gantry_xla_scan_fail (s, GANTRY_ERROR_INVALID, "instruction '%s' is not defined before", shown);
          break;
        }
      g_ptr_array_add (found, value);
      if (!gantry_xla_scan_accept (s, ","))
        break;
    }
  before.error = s->error;
  if (before.error != NULL)
    before.at = before.end;
  h->s = before;
  *n = found->len;
  return found->len > 0 ? (HloValue **) gantry_arena_copy (body->arena, found->pdata, sizeof (gpointer) * found->len)
                        : gantry_arena_new0 (body->arena, HloValue *, 1);
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
  return types->len == 1 ? g_array_index (types, guint32, 0)
                         : gantry_context_tuple (h->context, types->len, (const guint32 *) types->data);
}

static void
take_leaves (Body *body, HloValue *value, guint32 id)
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

/* An error of @inst as a whole, which stands where the instruction begins. */
static void
fail_at (Hlo *h, const HloInstruction *inst, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
fail_at (Hlo *h, const HloInstruction *inst, const char *format, ...)
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
set_place (Body *body, const HloInstruction *inst, const HloAttributes *a)
{
  Hlo *h = body->h;
  GantryLocation location = a->location;
  guint32 scope = a->scope;

  if (location.file == 0)
    location = (GantryLocation){ .file = h->file, .line = inst->begin.line, .column = column_of (&inst->begin) };
  if (body->scope != NULL)
    scope = gantry_context_scope (h->context, body->scope);
  gantry_builder_set_place (h->b, scope, gantry_context_location (h->context, &location));
  gantry_builder_set_name (h->b, inst->name);
}

static void
want (Hlo *h, gint index)
{
  HloComputation *c = computation (h, index);

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

      gantry_attr_list_set_function (a->attrs, key, computation (h, index)->function);
      want (h, index);
    }
}

/* A layout that is more than the row-major order is kept for the reader. */
static void
set_layout (Hlo *h, const HloInstruction *inst, HloAttributes *a)
{
  const GantryType *type = gantry_context_type (h->context, inst->type);
  gboolean plain = type->kind == GANTRY_TYPE_TENSOR && memchr (inst->layout.at, ':', inst->layout.length) == NULL;
  g_autofree char *text = NULL;
  guint expected = type->rank;

  if (inst->layout.length == 0)
    return;
  text = gantry_xla_span_dup (inst->layout);
  for (char *c = text; plain && *c != 0;)
    {
      plain = expected > 0 && g_ascii_strtoull (c, &c, 10) == --expected;
      c += *c == ',';
      plain = plain && (*c == 0 || g_ascii_isdigit (*c));
    }
  if (!plain)
    gantry_attr_list_set_string (a->attrs, "layout", text);
}

static HloValue *
generic (Body *body, const HloInstruction *inst, HloAttributes *a, HloValue *const *operands, guint n)
{
  Hlo *h = body->h;
  HloValue *value = value_new (body, inst->type);
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
  set_layout (h, inst, a);
  if (!gantry_xla_knows_operation (name))
    g_hash_table_add (h->unknown, GUINT_TO_POINTER (gantry_context_intern (h->context, name)));
  take_leaves (
    body, value,
    gantry_builder_add_typed (h->b, gantry_context_foreign_op (h->context, name), (const guint32 *) ids->data, ids->len,
                              gantry_attr_list_end (g_steal_pointer (&a->attrs)), flat_type (h, inst->type)));
  return value;
}

static HloValue *
call (Body *body, const HloInstruction *inst, HloAttributes *a, gint callee, HloValue *const *operands, guint n)
{
  Hlo *h = body->h;
  HloValue *value = value_new (body, inst->type);
  g_autoptr (GArray) ids = leaves_of (operands, n);

  want (h, callee);
  gantry_attr_list_set_function (a->attrs, "body", computation (h, callee)->function);
  take_leaves (body, value,
               gantry_builder_add_typed (h->b, GANTRY_OP_CALL, (const guint32 *) ids->data, ids->len,
                                         gantry_attr_list_end (g_steal_pointer (&a->attrs)),
                                         flat_type (h, inst->type)));
  return value;
}

static HloValue *
constant (Body *body, const HloInstruction *inst, HloAttributes *a)
{
  Hlo *h = body->h;
  HloValue *value = value_new (body, inst->type);
  GantryXlaSpan content = inst->operands;
  gboolean elided = g_strstr_len (content.at, (gssize) content.length, "...") != NULL;
  const GantryType *type = gantry_context_type (h->context, inst->type);
  guint32 literal = 0;
  GantryAttrList *attrs;

  if (!elided && type->kind == GANTRY_TYPE_TENSOR)
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
  value->ids[0] = gantry_builder_add_typed (h->b, GANTRY_OP_CONSTANT, NULL, 0, gantry_attr_list_end (attrs),
                                            inst->type);
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
get_member (Body *body, const HloInstruction *inst, const HloAttributes *a, HloValue *const *operands, guint n)
{
  const GantryType *type = n == 1 ? gantry_context_type (body->h->context, operands[0]->type) : NULL;
  HloValue *value = value_new (body, inst->type);
  guint first;

  if (type == NULL || type->kind != GANTRY_TYPE_TUPLE || a->index < 0 || a->index >= type->rank)
    {
      fail_at (body->h, inst, "get-tuple-element of no member");
      return value;
    }
  first = first_leaf (body->h, operands[0]->type, a->index);
  if (first + value->n > operands[0]->n)
    fail_at (body->h, inst, "member %" G_GINT64_FORMAT " is of another shape", a->index);
  else
    memcpy (value->ids, operands[0]->ids + first, sizeof (guint32) * value->n);
  return value;
}

static HloValue *
tuple (Body *body, const HloInstruction *inst, HloValue *const *operands, guint n)
{
  g_autofree guint32 *types = g_new (guint32, n + 1);
  g_autoptr (GArray) ids = leaves_of (operands, n);
  HloValue *value;

  for (guint i = 0; i < n; i++)
    types[i] = operands[i]->type;
  value = value_new (body, gantry_context_tuple (body->h->context, n, types));
  if (ids->len > 0)
    memcpy (value->ids, ids->data, sizeof (guint32) * ids->len);
  return value;
}

static HloValue *
move (Body *body, const HloInstruction *inst, HloAttributes *a, const HloValue *from, guint32 type, const char *memory)
{
  HloValue *value = value_new (body, inst->type);
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
    return strcmp (target, "MoveToHost") == 0     ? "pinned_host"
           : strcmp (target, "MoveToDevice") == 0 ? "device"
           : strcmp (target, "annotate_device_placement") == 0
             ? memory_kind (gantry_context_string (h->context, a->placement))
             : NULL;
  else if (!gantry_xla_span_is (inst->opcode, "copy") || to->kind != GANTRY_TYPE_TENSOR || to->memory == from->memory)
    return NULL;
  return gantry_memory_kind_name ((GantryMemoryKind) to->memory);
}

static HloValue *write_nodes (Body *body, const GArray *instructions);

/* The name of a fusion is a scope in that of the fusion. */
static HloValue *
fusion (Body *outer, const HloInstruction *inst, HloAttributes *a, HloValue *const *operands, guint n)
{
  Hlo *h = outer->h;
  HloComputation *c = computation (h, a->fusion);
  g_autofree HloValue *given = g_new0 (HloValue, n + 1);
  const char *scope = outer->scope != NULL ? outer->scope : gantry_context_scope_path (h->context, a->scope);
  g_autofree char *path = g_strdup_printf ("%s%s%s", scope, *scope != 0 ? "/" : "",
                                           gantry_context_string (h->context, inst->name));
  GantryXlaScan before = h->s;
  Body body = { .h = h, .arena = outer->arena, .given = given, .n_given = n, .scope = path };
  g_autoptr (GArray) instructions = NULL;
  HloValue *value;

  if (c->fused || !gantry_xla_scan_enter (&h->s))
    return call (outer, inst, a, a->fusion, operands, n);
  c->fused = TRUE;
  for (guint i = 0; i < n; i++)
    given[i] = *operands[i];
  body.values = g_hash_table_new (NULL, NULL);
  instructions = read_body (h, c);
  value = write_nodes (&body, instructions);
  g_hash_table_unref (body.values);
  before.error = h->s.error;
  if (before.error != NULL)
    before.at = before.end;
  h->s = before;
  return value;
}

static gint64
parameter_number (const HloInstruction *inst)
{
  g_autofree char *text = g_strndup (inst->operands.at, MIN (inst->operands.length, 20));
  char *end;
  gint64 number = g_ascii_strtoll (text, &end, 10);

  return end == text ? -1 : number;
}

static gboolean
is_copy (GantryBuilder *b, guint32 id)
{
  const GantryNode *node = id != 0 ? gantry_builder_node (b, id) : NULL;

  return node != NULL && node->op == GANTRY_OP_COPY;
}

static HloValue *
write_instruction (Body *body, const HloInstruction *inst, HloAttributes *a)
{
  HloValue **operands;
  const char *memory;
  guint n;

  if (gantry_xla_span_is (inst->opcode, "constant"))
    return constant (body, inst, a);
  operands = read_operands (body, inst, &n);
  if (body->h->s.error != NULL)
    return value_new (body, inst->type);
  if (gantry_xla_span_is (inst->opcode, "tuple"))
    return tuple (body, inst, operands, n);
  if (gantry_xla_span_is (inst->opcode, "get-tuple-element"))
    return get_member (body, inst, a, operands, n);
  if (gantry_xla_span_is (inst->opcode, "fusion") && a->fusion >= 0)
    return fusion (body, inst, a, operands, n);
  if (gantry_xla_span_is (inst->opcode, "call") && a->regions->len == 1)
    return call (body, inst, a, g_array_index (a->regions, gint, 0), operands, n);
  if (gantry_xla_span_is (inst->opcode, "copy-done") && n == 1 && operands[0]->n >= 2
      && is_copy (body->h->b, operands[0]->ids[0]))
    {
      HloValue *value = value_new (body, inst->type);

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
parameter (Body *body, const HloInstruction *inst, HloAttributes *a)
{
  Hlo *h = body->h;
  HloValue *value = value_new (body, inst->type);
  gint64 number = parameter_number (inst);
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (body->given != NULL && number >= 0 && number < body->n_given && body->given[number].n == value->n)
    *value = body->given[number];
  else if (body->given != NULL || number < 0)
    fail_at (h, inst, "parameter %" G_GINT64_FORMAT " is not given", number);
  else
    {
      guint32 attrs;

      for (guint i = 0; body->entry && i < h->aliases->len; i++)
        if (g_array_index (h->aliases, HloAlias, i).parameter == number
            && g_array_index (h->aliases, HloAlias, i).module == h->module)
          gantry_attr_list_set_int (a->attrs, "input_output_alias", g_array_index (h->aliases, HloAlias, i).output);
      attrs = gantry_attr_list_end (g_steal_pointer (&a->attrs));
      gantry_hlo_leaf_types (h, inst->type, types);
      for (guint i = 0; i < types->len; i++)
        {
          g_autofree char *name = value->n == 1
                                    ? g_strdup (gantry_context_string (h->context, inst->name))
                                    : g_strdup_printf ("%s.%u", gantry_context_string (h->context, inst->name), i);

          gantry_builder_set_name (h->b, gantry_context_intern (h->context, name));
          value->ids[i] = gantry_builder_add_typed (h->b, GANTRY_OP_PARAMETER, NULL, 0, attrs,
                                                    g_array_index (types, guint32, i));
        }
    }
  g_hash_table_insert (body->values, GUINT_TO_POINTER (inst->name), value);
}

static void
with_attributes (Body *body, const HloInstruction *inst)
{
  Hlo *h = body->h;
  HloAttributes a = { .attrs = gantry_attr_list_new (h->context),
                      .regions = g_array_new (FALSE, FALSE, sizeof (gint)),
                      .fusion = -1 };
  guint most = h->options->max_nodes != 0 ? h->options->max_nodes : MOST_NODES;

  if (++h->n_nodes > most)
    gantry_xla_scan_fail (&h->s, GANTRY_ERROR_TOO_LARGE, "the module has more than %u instructions", most);
  gantry_hlo_attributes (h, inst, &a);
  set_place (body, inst, &a);
  if (h->s.error != NULL)
    ;
  else if (gantry_xla_span_is (inst->opcode, "parameter"))
    parameter (body, inst, &a);
  else
    g_hash_table_insert (body->values, GUINT_TO_POINTER (inst->name), write_instruction (body, inst, &a));
  g_clear_pointer (&a.attrs, gantry_attr_list_free);
  g_array_unref (a.regions);
}

static int
by_number (gconstpointer a, gconstpointer b)
{
  gint64 x = parameter_number (*(HloInstruction *const *) a), y = parameter_number (*(HloInstruction *const *) b);

  return x < y ? -1 : x > y;
}

/* A computation with n parameters numbers them from 0 to n - 1. What a fusion gives is looked up by number instead. */
static void
check_numbers (Body *body, const GPtrArray *parameters)
{
  for (guint i = 0; body->given == NULL && i < parameters->len; i++)
    {
      const HloInstruction *inst = g_ptr_array_index (parameters, i);

      if (parameter_number (inst) == (gint64) i)
        continue;
      fail_at (body->h, inst, "parameter(%.*s) of a computation with %u parameters, which are numbered from 0 to %u",
               (int) MIN (inst->operands.length, 20), inst->operands.at, parameters->len, parameters->len - 1);
      return;
    }
}

/* Parameters first, by number. Returns: what the computation returns */
static HloValue *
write_nodes (Body *body, const GArray *instructions)
{
  g_autoptr (GPtrArray) parameters = g_ptr_array_new ();
  const HloInstruction *root = NULL;
  HloValue *value = NULL;

  for (guint i = 0; i < instructions->len; i++)
    {
      HloInstruction *inst = &g_array_index (instructions, HloInstruction, i);

      if (gantry_xla_span_is (inst->opcode, "parameter"))
        g_ptr_array_add (parameters, inst);
      if (inst->root || (i + 1 == instructions->len && root == NULL))
        root = inst;
    }
  g_ptr_array_sort (parameters, by_number);
  check_numbers (body, parameters);
  for (guint i = 0; i < parameters->len && body->h->s.error == NULL; i++)
    with_attributes (body, g_ptr_array_index (parameters, i));
  for (guint i = 0; i < instructions->len && body->h->s.error == NULL; i++)
    if (!gantry_xla_span_is (g_array_index (instructions, HloInstruction, i).opcode, "parameter"))
      with_attributes (body, &g_array_index (instructions, HloInstruction, i));
  if (root != NULL)
    value = g_hash_table_lookup (body->values, GUINT_TO_POINTER (root->name));
  return value != NULL ? value : value_new (body, 0);
}

static void
write_function (Hlo *h, HloComputation *c, gboolean entry)
{
  g_autoptr (GantryArena) arena = gantry_arena_new ();
  Body body = { .h = h, .arena = arena, .entry = entry, .values = g_hash_table_new (NULL, NULL) };
  g_autoptr (GArray) instructions = NULL;
  HloValue *value;

  c->written = TRUE;
  gantry_builder_begin (h->b, gantry_context_string (h->context, c->name), c->function);
  instructions = read_body (h, c);
  value = write_nodes (&body, instructions);
  gantry_builder_end (h->b, value->ids, h->s.error == NULL && instructions->len > 0 ? value->n : 0);
  g_hash_table_unref (body.values);
}

void
gantry_hlo_write (Hlo *h, HloComputation *entry)
{
  guint left = h->computations->len;

  entry->wanted = TRUE;
  write_function (h, entry, TRUE);
  while (h->s.error == NULL)
    {
      HloComputation *c = NULL;

      if (!g_queue_is_empty (h->wanted))
        c = computation (h, GPOINTER_TO_INT (g_queue_pop_head (h->wanted)));
      else if (left > 0)
        c = computation (h, (gint) --left); /* callers stand behind what they call */
      else
        return;
      if (!c->written && (c->wanted || !c->fused))
        write_function (h, c, FALSE);
    }
}
