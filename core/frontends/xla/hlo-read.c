/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the instructions of a computation, and what their operands name. */
#include "core/frontends/xla/hlo-body-private.h"

static gboolean
begins_shape (Hlo *h)
{
  GantryXlaScan copy = h->s;
  GantryXlaSpan word;

  if (gantry_xla_scan_peek (&copy) == '(')
    return TRUE;
  word = gantry_xla_scan_word (&copy, FALSE);
  return word.length > 0 && (gantry_xla_scan_ahead (&copy, 0) == '[' || (gantry_xla_span_is (word, "b") && gantry_xla_scan_ahead (&copy, 0) == '('));
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
  inst->key = inst->name;
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

GArray *
gantry_hlo_read_body (Hlo *h, HloComputation *c)
{
  GArray *instructions = g_array_new (FALSE, FALSE, sizeof (HloInstruction));
  GantryXlaScan *s = &h->s;

  h->module = c->module;
  if (h->proto != NULL)
    gantry_hlo_proto_body (h, c, instructions);
  else
    gantry_xla_scan_go (s, &(GantryXlaPlace){ c->at, c->line, c->line_start });
  while (h->proto == NULL && s->error == NULL && !gantry_xla_scan_sees (s, "}"))
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

static void
operands_by_id (HloBody *body, const HloInstruction *inst, GPtrArray *found)
{
  Hlo *h = body->h;
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint64));
  GantryWire wire;

  gantry_wire_init (&wire, inst->message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == GANTRY_HLO_OPERANDS)
      gantry_hlo_proto_ints (h, &wire, ids);
  for (guint i = 0; h->s.error == NULL && i < ids->len; i++)
    {
      gint64 id = g_array_index (ids, gint64, i);
      HloValue *value = g_hash_table_lookup (body->values, GSIZE_TO_POINTER ((gsize) id));

      if (value == NULL)
        gantry_hlo_proto_fail (h, inst->message.data, GANTRY_ERROR_INVALID,
                               "operand %u of instruction '%s' is %" G_GINT64_FORMAT ", which is not defined before", i,
                               gantry_context_string (h->context, inst->name), id);
      else
        g_ptr_array_add (found, value);
    }
}

/* "%a, f32[2] %b": what they are, in order. */
static void
operands_in_text (HloBody *body, const HloInstruction *inst, GPtrArray *found)
{
  Hlo *h = body->h;
  GantryXlaScan before = h->s;
  GantryXlaScan *s = &h->s;
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
      value = g_hash_table_lookup (body->values, GUINT_TO_POINTER (gantry_context_intern_len (h->context, name.at, name.length)));
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
}

HloValue **
gantry_hlo_read_operands (HloBody *body, const HloInstruction *inst, guint *n)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new ();

  if (body->h->proto != NULL)
    operands_by_id (body, inst, found);
  else
    operands_in_text (body, inst, found);
  *n = found->len;
  return found->len > 0 ? (HloValue **) gantry_arena_copy (body->arena, found->pdata, sizeof (gpointer) * found->len)
                        : gantry_arena_new0 (body->arena, HloValue *, 1);
}
