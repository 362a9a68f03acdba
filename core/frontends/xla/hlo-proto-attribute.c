/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of an instruction in a protocol buffer of HLO: a table says which field is which attribute of the text and
 * how its value is written there. What the attributes mean is read from these, as it is from a text. */
#include "core/frontends/xla/hlo-private.h"

typedef enum
{
  NUMBER,
  FACTOR, /* a number that is 1 where it is not said */
  FLAG,
  FLOAT,
  QUOTED,
  WORD,
  LIST,  /* {1,2} */
  SAID,  /* {true,false} */
  PLAIN, /* numbers without braces */
  CHOICE,
  EACH,  /* a message of a list: @write appends it, within braces */
  WHOLE, /* a message: @write writes the value */
  PARTS, /* a message whose fields are attributes of the instruction */
} Kind;

typedef struct _Row Row;
struct _Row
{
  guint field;
  const char *key;
  Kind kind;
  const char *only;           /* (nullable): the operations that have it, each between spaces */
  const char *always;         /* (nullable): those whose text has it even where the field has its default; "" for all */
  const char *const *choices; /* of CHOICE, by number; NULL: is not written */
  void (*write) (Hlo *h, GantryWireSpan message, GString *text);
  const Row *parts;
};

/* The tables */

static const Row dot_parts[] = {
  { 3, "lhs_batch_dims", LIST },
  { 1, "lhs_contracting_dims", LIST, .always = "" },
  { 4, "rhs_batch_dims", LIST },
  { 2, "rhs_contracting_dims", LIST, .always = "" },
  { 0 },
};
static const Row gather_parts[] = {
  { 1, "offset_dims", LIST, .always = "" },
  { 2, "collapsed_slice_dims", LIST, .always = "" },
  { 3, "start_index_map", LIST, .always = "" },
  { 4, "index_vector_dim", NUMBER, .always = "" },
  { 5, "operand_batching_dims", LIST },
  { 6, "start_indices_batching_dims", LIST },
  { 0 },
};
static const Row scatter_parts[] = {
  { 1, "update_window_dims", LIST, .always = "" },
  { 2, "inserted_window_dims", LIST, .always = "" },
  { 3, "scatter_dims_to_operand_dims", LIST, .always = "" },
  { 4, "index_vector_dim", NUMBER, .always = "" },
  { 5, "input_batching_dims", LIST },
  { 6, "scatter_indices_batching_dims", LIST },
  { 0 },
};
static const char *const transposes[] = { NULL, "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT", NULL };
static const Row triangular_parts[] = {
  { 1, "left_side", FLAG }, { 2, "lower", FLAG }, { 3, "unit_diagonal", FLAG }, { 4, "transpose_a", CHOICE, .choices = transposes }, { 0 },
};
static const Row replication_parts[] = {
  { 1, "parameter_replication", SAID },
  { 0 },
};
static const Row cholesky_parts[] = {
  { 1, "lower", FLAG },
  { 0 },
};

static const char *const transforms[] = { "FFT", "IFFT", "RFFT", "IRFFT", "" };
static const char *const distributions[] = { NULL, "rng_uniform", "rng_normal", "" };
static const char *const algorithms[] = { "rng_default", "rng_three_fry", "rng_philox", "" };
static const char *const versions[] = { NULL, NULL, "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI", "" };
static const char *const schedules[] = { NULL, "SCHEDULE_LATEST", "SCHEDULE_EARLIEST", "" };

/* Of an instruction; the first that fits a field and the operation holds. */
static const Row rows[] = {
  { 11, "kind", WORD },
  { 13, "index", NUMBER, .only = " get-tuple-element ", .always = " get-tuple-element " },
  { 14, "iota_dimension", PLAIN, .only = " iota " },
  { 14, "dimensions", LIST, .always = " broadcast reduce transpose reverse map " },
  { 15, "window", WHOLE, .write = gantry_hlo_write_window },
  { 16, "dim_labels", WHOLE, .write = gantry_hlo_write_labels },
  { 50, "feature_group_count", FACTOR },
  { 58, "batch_group_count", FACTOR },
  { 17, "slice", EACH, .write = gantry_hlo_write_slice },
  { 18, "exponent_bits", NUMBER, .always = " reduce-precision " },
  { 19, "mantissa_bits", NUMBER, .always = " reduce-precision " },
  { 20, "dynamic_slice_sizes", LIST },
  { 21, "padding", WHOLE, .write = gantry_hlo_write_padding },
  { 22, "outfeed_config", QUOTED },
  { 23, "distribution", CHOICE, .choices = distributions },
  { 24, "epsilon", FLOAT, .always = " batch-norm-training batch-norm-inference batch-norm-grad " },
  { 25, "feature_index", NUMBER, .always = " batch-norm-training batch-norm-inference batch-norm-grad " },
  { 26, "channel_id", NUMBER },
  { 27, "infeed_config", QUOTED },
  { 28, "custom_call_target", QUOTED },
  { 30, NULL, PARTS, .parts = dot_parts },
  { 29, "outfeed_shape", WHOLE, .only = " outfeed ", .write = gantry_hlo_proto_shape_text },
  { 31, "fft_type", CHOICE, .always = " fft ", .choices = transforms },
  { 32, "fft_length", LIST },
  { 33, NULL, PARTS, .parts = gather_parts },
  { 34, "slice_sizes", LIST, .always = " gather " },
  { 40, "sharding", WHOLE, .write = gantry_hlo_write_sharding },
  { 43, "backend_config", QUOTED },
  { 47, "is_host_transfer", FLAG },
  { 48, NULL, PARTS, .parts = scatter_parts },
  { 49, "replica_groups", EACH, .write = gantry_hlo_write_group },
  { 51, "operand_precision", WHOLE, .write = gantry_hlo_write_precision },
  { 52, "source_target_pairs", EACH, .write = gantry_hlo_write_pair },
  { 56, "constrain_layout", FLAG, .only = " all-reduce all-gather all-to-all reduce-scatter " },
  { 57, "operand_layout_constraints", EACH, .only = " custom-call ", .write = gantry_hlo_write_shape },
  { 59, NULL, PARTS, .parts = triangular_parts },
  { 60, "is_stable", FLAG },
  { 61, NULL, PARTS, .parts = replication_parts },
  { 62, NULL, PARTS, .parts = cholesky_parts },
  { 63, "direction", WORD },
  { 65, "custom_call_has_side_effect", FLAG },
  { 66, "delta", NUMBER },
  { 67, "indices_are_sorted", FLAG },
  { 68, "frontend_attributes", WHOLE, .write = gantry_hlo_write_map },
  { 69, "unique_indices", FLAG },
  { 70, "algorithm", CHOICE, .always = " rng-bit-generator ", .choices = algorithms },
  { 71, "use_global_device_ids", FLAG },
  { 72, "type", WORD, .only = " compare " },
  { 74, "output_to_operand_aliasing", EACH, .write = gantry_hlo_write_aliasing },
  { 76, "schedule", CHOICE, .choices = schedules },
  { 77, "api_version", CHOICE, .choices = versions },
  { 79, "async_execution_thread", QUOTED },
  { 80, "cross_program_prefetch_index", NUMBER },
  { 81, "k", NUMBER, .only = " topk " },
  { 85, "largest", FLAG },
  { 87, "replica_groups", WHOLE, .write = gantry_hlo_write_groups },
  { 89, "is_composite", FLAG },
  { 92, "replica_groups", WHOLE, .write = gantry_hlo_write_iota_groups },
  { 94, "is_reverse", FLAG },
  { 0 },
};

/* Reading */

static gboolean
is_one_of (GantryXlaSpan opcode, const char *list)
{
  for (const char *at = list; at != NULL && (at = g_strstr_len (at, -1, " ")) != NULL; at++)
    if (strncmp (at + 1, opcode.at, opcode.length) == 0 && at[1 + opcode.length] == ' ')
      return TRUE;
  return FALSE;
}

static const Row *
find_row (const Row *table, GantryXlaSpan opcode, guint field)
{
  for (const Row *row = table; row->field != 0; row++)
    if (row->field == field && (row->only == NULL || is_one_of (opcode, row->only)))
      return row;
  return NULL;
}

static gboolean
takes_bytes (Kind kind)
{
  return kind == QUOTED || kind == WORD || kind == EACH || kind == WHOLE || kind == PARTS;
}

static const char *
chosen (const Row *row, guint64 number)
{
  for (guint i = 0; row->choices[i] == NULL || row->choices[i][0] != 0; i++)
    if (i == number)
      return row->choices[i];
  return NULL;
}

/* Appends what field @wire says to @text. */
static void
append_value (Hlo *h, const Row *row, const GantryWire *wire, GString *text)
{
  const char *choice;

  switch (row->kind)
    {
    case NUMBER: g_string_printf (text, "%" G_GINT64_FORMAT, (gint64) wire->value); break;
    case FACTOR:
      if (wire->value != 1)
        g_string_printf (text, "%" G_GINT64_FORMAT, (gint64) wire->value);
      break;
    case FLAG: g_string_assign (text, wire->value != 0 ? "true" : ""); break;
    case FLOAT: gantry_hlo_append_float (text, wire->value); break;
    case QUOTED:
      g_string_truncate (text, 0);
      gantry_hlo_append_quoted (text, wire->span);
      break;
    case WORD:
      g_string_truncate (text, 0);
      gantry_hlo_append_escaped (text, wire->span);
      break;
    case LIST:
    case PLAIN:
      {
        g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));

        gantry_hlo_proto_ints (h, wire, ints);
        g_string_append (text, text->len > 0 ? "," : row->kind == LIST ? "{" : "");
        gantry_hlo_append_ints (text, ints, ",");
        break;
      }
    case SAID:
      {
        g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));

        gantry_hlo_proto_ints (h, wire, ints);
        for (guint i = 0; i < ints->len; i++)
          g_string_append_printf (text, "%s%s", text->len > 0 ? "," : "{", g_array_index (ints, gint64, i) != 0 ? "true" : "false");
        break;
      }
    case CHOICE:
      choice = chosen (row, wire->value);
      g_string_assign (text, choice != NULL ? choice : "");
      break;
    case EACH:
      g_string_append (text, text->len > 0 ? "," : "{");
      row->write (h, wire->span, text);
      break;
    case WHOLE:
      g_string_truncate (text, 0);
      row->write (h, wire->span, text);
      break;
    case PARTS: break;
    }
}

static void
end_value (const Row *row, GantryXlaSpan opcode, GString **text)
{
  gboolean always = row->always != NULL && (*row->always == 0 || is_one_of (opcode, row->always));

  if (*text == NULL && always)
    *text = g_string_new (row->kind == LIST ? "{" : row->kind == CHOICE ? row->choices[0] : "0");
  if (*text != NULL && (*text)->len > 0 && (row->kind == LIST || row->kind == SAID || row->kind == EACH))
    g_string_append_c (*text, '}');
}

/* A comparison says its type where that is not the one of its operands. */
static gboolean
is_usual (const Row *row, const GString *text)
{
  return (row->field == 72 && strcmp (text->str, "TOTALORDER") != 0) || (row->field == 79 && strcmp (text->str, "\"main\"") == 0);
}

static void
read_table (Hlo *h, const HloInstruction *inst, HloAttributes *a, const Row *table, GantryWireSpan message)
{
  GString *texts[G_N_ELEMENTS (rows)] = { NULL };
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    {
      const Row *row = find_row (table, inst->opcode, wire.field);

      if (row == NULL || (takes_bytes (row->kind) && wire.kind != GANTRY_WIRE_LENGTH))
        continue;
      if (row->kind == PARTS)
        {
          read_table (h, inst, a, row->parts, wire.span);
          continue;
        }
      if (texts[row - table] == NULL)
        texts[row - table] = g_string_new (NULL);
      append_value (h, row, &wire, texts[row - table]);
    }
  for (const Row *row = table; row->field != 0; row++)
    {
      GString *text;

      if (row->kind != PARTS && (row->only == NULL || is_one_of (inst->opcode, row->only)))
        end_value (row, inst->opcode, &texts[row - table]);
      text = texts[row - table];
      if (text != NULL && text->len > 0 && h->s.error == NULL && !is_usual (row, text))
        gantry_hlo_attribute (h, inst, a, row->key, (GantryXlaSpan){ text->str, text->len });
      if (text != NULL)
        g_string_free (text, TRUE);
    }
}

/* Metadata */

static char *
text_of (GantryWireSpan span)
{
  g_autofree char *text = g_strndup ((const char *) span.data, span.length);

  return g_utf8_make_valid (text, -1);
}

static void
metadata (Hlo *h, HloAttributes *a, GantryWireSpan message)
{
  g_autofree char *name = NULL, *file = NULL;
  HloPlace place = { 0 };
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 2 && wire.kind == GANTRY_WIRE_LENGTH && name == NULL)
      place.name = name = text_of (wire.span);
    else if (wire.field == 3 && wire.kind == GANTRY_WIRE_LENGTH && file == NULL)
      place.file = file = text_of (wire.span);
    else if (wire.field == 4)
      place.line = (gint64) wire.value;
    else if (wire.field == 18)
      place.column = (gint64) wire.value;
    else if (wire.field == 15)
      place.frame = (gint64) wire.value;
  if (h->s.error == NULL)
    gantry_hlo_set_place (h, a, &place);
}

/* Computations */

static const char *
computation_name (Hlo *h, gint index)
{
  return gantry_context_string (h->context, g_array_index (h->computations, HloComputation, index).name);
}

/* A while has its body first, and a text its condition. */
static void
order_regions (GantryXlaSpan opcode, GArray *regions)
{
  if (gantry_xla_span_is (opcode, "while") && regions->len == 2)
    {
      gint body = g_array_index (regions, gint, 0);

      g_array_index (regions, gint, 0) = g_array_index (regions, gint, 1);
      g_array_index (regions, gint, 1) = body;
    }
}

static void
take_computations (Hlo *h, const HloInstruction *inst, HloAttributes *a, const GArray *ids)
{
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (gint));
  gboolean custom = gantry_xla_span_is (inst->opcode, "custom-call");

  for (guint i = 0; i < ids->len; i++)
    {
      gint index = gantry_hlo_proto_find (h, g_array_index (ids, gint64, i));

      if (index < 0)
        {
          gantry_hlo_proto_fail (h, inst->message.data, GANTRY_ERROR_INVALID, "instruction '%s' calls computation %" G_GINT64_FORMAT ", which is not there",
                                 gantry_context_string (h->context, inst->name), g_array_index (ids, gint64, i));
          return;
        }
      g_array_append_val (found, index);
    }
  order_regions (inst->opcode, found);
  if (found->len > 0 && (is_one_of (inst->opcode, " fusion async-start async-update async-done ") || custom))
    {
      g_autoptr (GString) text = g_string_new (custom ? "{" : NULL);

      for (guint i = 0; i < found->len; i++)
        g_string_append_printf (text, "%s%%%s", i > 0 ? ", " : "", computation_name (h, g_array_index (found, gint, i)));
      g_string_append (text, custom ? "}" : "");
      gantry_hlo_attribute (h, inst, a, custom ? "called_computations" : "calls", (GantryXlaSpan){ text->str, text->len });
      a->fusion = custom ? a->fusion : g_array_index (found, gint, 0);
    }
  else
    g_array_append_vals (a->regions, found->data, found->len);
}

static void
set_predecessors (Hlo *h, const HloInstruction *inst, HloAttributes *a, const GArray *ids)
{
  g_autoptr (GString) text = g_string_new ("{");

  for (guint i = 0; i < ids->len; i++)
    g_string_append_printf (text, "%s%%%s", i > 0 ? ", " : "", gantry_context_string (h->context, gantry_hlo_proto_name (h, g_array_index (ids, gint64, i))));
  g_string_append_c (text, '}');
  gantry_hlo_attribute (h, inst, a, "control-predecessors", (GantryXlaSpan){ text->str, text->len });
}

void
gantry_hlo_proto_attributes (Hlo *h, const HloInstruction *inst, HloAttributes *a)
{
  g_autoptr (GArray) computations = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) before = g_array_new (FALSE, FALSE, sizeof (gint64));
  GantryWire wire;

  gantry_wire_init (&wire, inst->message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 7 && wire.kind == GANTRY_WIRE_LENGTH)
      metadata (h, a, wire.span);
    else if (wire.field == 38)
      gantry_hlo_proto_ints (h, &wire, computations);
    else if (wire.field == 37)
      gantry_hlo_proto_ints (h, &wire, before);
  read_table (h, inst, a, rows, inst->message);
  if (h->s.error == NULL && computations->len > 0)
    take_computations (h, inst, a, computations);
  if (h->s.error == NULL && before->len > 0)
    set_predecessors (h, inst, a, before);
}
