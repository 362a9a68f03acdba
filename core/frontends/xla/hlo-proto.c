/* SPDX-License-Identifier: Apache-2.0 */
/* HLO as a protocol buffer: HloProto, HloModuleProto and HloSnapshot of XLA, as --xla_dump_hlo_as_proto writes them. An
 * index of computations is made first; an instruction is read from its message when its computation is written.
 * Nothing is unpacked as a whole. */
#include "core/frontends/xla/hlo-private.h"

/* Numbers of fields. */
enum
{
  MODULE_NAME = 1,
  MODULE_ENTRY_NAME = 2,
  MODULE_COMPUTATION = 3,
  MODULE_ENTRY = 6,
  MODULE_SCHEDULE = 7,
  MODULE_ALIASES = 8,
  MODULE_DONORS = 18,
  MODULE_FRAMES = 17,
  COMPUTATION_NAME = 1,
  COMPUTATION_INSTRUCTION = 2,
  COMPUTATION_ID = 5,
  COMPUTATION_ROOT = 6,
  INSTRUCTION_NAME = 1,
  INSTRUCTION_OPCODE = 2,
  INSTRUCTION_SHAPE = 3,
  INSTRUCTION_PARAMETER = 9,
  INSTRUCTION_ID = 35,
};

struct _HloProto
{
  GHashTable *by_id;     /* id of a computation -> index + 1 */
  GHashTable *names;     /* id of an instruction -> string id */
  GHashTable *sequences; /* id of a computation -> GantryWireSpan, its part of the schedule */
};

void
gantry_hlo_proto_free (HloProto *proto)
{
  g_hash_table_unref (proto->by_id);
  g_hash_table_unref (proto->names);
  g_hash_table_unref (proto->sequences);
  g_free (proto);
}

/* Recognizing */

/* A string of printable ASCII in field @field. Returns: the place behind it, 0 where none is there */
static gsize
skip_name (const guint8 *data, gsize length, gsize at, guint field)
{
  guint64 position = at + 1, size;

  if (at >= length || data[at] != (field << 3 | GANTRY_WIRE_LENGTH) || !gantry_wire_varint (data, length, &position, &size) || size == 0
      || size > length - position)
    return 0;
  for (guint64 i = position; i < position + size; i++)
    if (!g_ascii_isprint ((char) data[i]))
      return 0;
  return (gsize) (position + size);
}

/* Fields are written in the order of their numbers: a module begins with two names, and then come computations. */
static gboolean
begins_module (const guint8 *data, gsize length)
{
  gsize at = skip_name (data, length, 0, MODULE_NAME);

  at = at != 0 ? skip_name (data, length, at, MODULE_ENTRY_NAME) : 0;
  return at != 0 && (at == length || data[at] == (MODULE_COMPUTATION << 3 | GANTRY_WIRE_LENGTH));
}

/* The module is field 1 of an HloProto, and that is field 1 of an HloSnapshot. */
#define MOST_WRAPPERS 2

static gboolean
unwrap (GantryWireSpan *message)
{
  guint64 position = 1, size;

  if (message->length < 2 || message->data[0] != (1 << 3 | GANTRY_WIRE_LENGTH) || !gantry_wire_varint (message->data, message->length, &position, &size))
    return FALSE;
  message->data += position;
  message->length = (gsize) MIN (size, message->length - position);
  return TRUE;
}

gboolean
gantry_hlo_is_proto (const char *data, gsize length)
{
  GantryWireSpan message = { (const guint8 *) data, length };

  for (guint i = 0; i <= MOST_WRAPPERS; i++)
    if (begins_module (message.data, message.length))
      return TRUE;
    else if (!unwrap (&message))
      return FALSE;
  return FALSE;
}

gboolean
gantry_hlo_is_binary (const char *data, gsize length, const char *name)
{
  return g_str_has_suffix (name, ".hlo.pb") || gantry_hlo_is_proto (data, length);
}

/* Errors */

void
gantry_hlo_proto_fail (Hlo *h, const guint8 *at, GantryError code, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (h->s.error == NULL)
    h->s.at = (const char *) at;
  gantry_xla_scan_fail (&h->s, code, "%s", what);
}

gboolean
gantry_hlo_proto_next (Hlo *h, GantryWire *wire)
{
  if (h->s.error != NULL)
    return FALSE;
  if (gantry_wire_next (wire))
    return TRUE;
  if (wire->problem != NULL)
    gantry_hlo_proto_fail (h, wire->at, (const char *) wire->end == h->s.end ? GANTRY_ERROR_TRUNCATED : GANTRY_ERROR_INVALID,
                           "%s; the file is damaged or cut short", wire->problem);
  return FALSE;
}

void
gantry_hlo_proto_ints (Hlo *h, const GantryWire *wire, GArray *ints)
{
  if (!gantry_wire_append_ints (wire, ints))
    gantry_hlo_proto_fail (h, wire->span.data, GANTRY_ERROR_INVALID, "a list of numbers ends in the middle of one");
}

/* The index */

/* Text for people: names of a damaged file may hold anything. */
static guint32
intern (Hlo *h, GantryWireSpan span)
{
  g_autofree char *text = g_strndup ((const char *) span.data, span.length);
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  return gantry_context_intern (h->context, valid);
}

static void
index_computation (Hlo *h, GantryWireSpan message)
{
  HloComputation c = { .message = message };
  const char *name;
  guint32 interned = 0;
  GantryWire wire;
  guint index;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == COMPUTATION_NAME && wire.kind == GANTRY_WIRE_LENGTH)
      interned = intern (h, wire.span);
    else if (wire.field == COMPUTATION_ID)
      c.id = (gint64) wire.value;
  if (h->s.error != NULL)
    return;
  name = gantry_context_string (h->context, interned);
  index = gantry_hlo_add_computation (h, (GantryXlaSpan){ name, strlen (name) }, &c);
  if (!g_hash_table_insert (h->proto->by_id, GSIZE_TO_POINTER ((gsize) c.id), GUINT_TO_POINTER (index + 1)))
    gantry_hlo_proto_fail (h, message.data, GANTRY_ERROR_INVALID, "two computations have the number %" G_GINT64_FORMAT, c.id);
}

static void
index_sequence (Hlo *h, GantryWireSpan entry)
{
  GantryWireSpan *sequence = g_new0 (GantryWireSpan, 1);
  gint64 id = 0;
  GantryWire wire;

  sequence->data = entry.data;
  gantry_wire_init (&wire, entry);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1)
      id = (gint64) wire.value;
    else if (wire.field == 2 && wire.kind == GANTRY_WIRE_LENGTH)
      *sequence = wire.span;
  g_hash_table_replace (h->proto->sequences, GSIZE_TO_POINTER ((gsize) id), sequence);
}

/* Returns: FALSE where the buffer lies deeper than a shape is looked into */
static gboolean
take_index (Hlo *h, const GantryWire *wire, HloIndex *index)
{
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (gint64));

  gantry_hlo_proto_ints (h, wire, members);
  for (guint i = 0; i < members->len; i++)
    {
      if (index->n == G_N_ELEMENTS (index->at))
        return FALSE;
      index->at[index->n++] = g_array_index (members, gint64, i);
    }
  return TRUE;
}

/* A parameter, the buffer in it, and of an alias the one of the result, whose fields stand one further. */
static void
read_donation (Hlo *h, GantryWireSpan entry, gboolean any)
{
  HloAlias alias = { .module = h->module, .any = any };
  guint field = any ? 1 : 2;
  gboolean whole = TRUE;
  GantryWire wire;

  gantry_wire_init (&wire, entry);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == field)
      alias.parameter = (gint64) wire.value;
    else if (wire.field == 1)
      whole = take_index (h, &wire, &alias.output) && whole;
    else if (wire.field == field + 1)
      whole = take_index (h, &wire, &alias.leaf) && whole;
  if (whole && h->s.error == NULL)
    g_array_append_val (h->aliases, alias);
}

static void
read_alias (Hlo *h, GantryWireSpan entry)
{
  read_donation (h, entry, FALSE);
}

static void
read_donor (Hlo *h, GantryWireSpan entry)
{
  read_donation (h, entry, TRUE);
}

/* Each of @message's messages of field @field. */
static void
each (Hlo *h, GantryWireSpan message, guint field, void (*read) (Hlo *h, GantryWireSpan part))
{
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == field && wire.kind == GANTRY_WIRE_LENGTH)
      read (h, wire.span);
}

static HloTables *
tables_of (Hlo *h)
{
  return g_ptr_array_index (h->tables, h->module);
}

static void
read_file_name (Hlo *h, GantryWireSpan name)
{
  guint32 interned = intern (h, name);

  g_array_append_val (tables_of (h)->files, interned);
}

static void
read_file_location (Hlo *h, GantryWireSpan message)
{
  gint64 values[5] = { 0 }; /* by field: file, function, line, column */
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field < G_N_ELEMENTS (values))
      values[wire.field] = (gint64) wire.value;
  gantry_hlo_add_location (tables_of (h), values[1], values[3], values[4]);
}

static void
read_frame (Hlo *h, GantryWireSpan message)
{
  guint32 location = 0;
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1)
      location = (guint32) MIN (wire.value, G_MAXINT32);
  g_array_append_val (tables_of (h)->frames, location);
}

/* Entries are numbered from 1, as those of a text are. */
static void
read_frames (Hlo *h, GantryWireSpan message)
{
  HloTables *tables = tables_of (h);

  g_array_set_size (tables->files, 1);
  g_array_set_size (tables->locations, 1);
  g_array_set_size (tables->frames, 1);
  each (h, message, 1, read_file_name);
  each (h, message, 3, read_file_location);
  each (h, message, 4, read_frame);
}

static GantryWireSpan
find_module (Hlo *h)
{
  GantryWireSpan message = { (const guint8 *) h->s.text, (gsize) (h->s.end - h->s.text) };

  for (guint i = 0; i < MOST_WRAPPERS && !begins_module (message.data, message.length); i++)
    {
      GantryWireSpan inside = { 0 };
      GantryWire wire;

      gantry_wire_init (&wire, message);
      while (inside.data == NULL && gantry_hlo_proto_next (h, &wire))
        if (wire.field == 1 && wire.kind == GANTRY_WIRE_LENGTH)
          inside = wire.span;
      if (h->s.error == NULL && inside.data == NULL)
        gantry_hlo_proto_fail (h, message.data, GANTRY_ERROR_INVALID, "no HLO module is here: its name and that of its entry come first");
      if (h->s.error != NULL)
        return (GantryWireSpan){ 0 };
      message = inside;
    }
  return message;
}

void
gantry_hlo_proto_index (Hlo *h)
{
  GantryWireSpan module = find_module (h);
  gint64 entry = 0;
  guint32 entry_name = 0;
  GantryWire wire;

  h->proto = g_new0 (HloProto, 1);
  h->proto->by_id = g_hash_table_new (NULL, NULL);
  h->proto->names = g_hash_table_new (NULL, NULL);
  h->proto->sequences = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_ptr_array_add (h->tables, gantry_hlo_tables_new ());
  gantry_wire_init (&wire, module);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == MODULE_ENTRY)
      entry = (gint64) wire.value;
    else if (wire.kind != GANTRY_WIRE_LENGTH)
      continue;
    else if (wire.field == MODULE_ENTRY_NAME)
      entry_name = intern (h, wire.span);
    else if (wire.field == MODULE_COMPUTATION)
      index_computation (h, wire.span);
    else if (wire.field == MODULE_SCHEDULE)
      each (h, wire.span, 1, index_sequence);
    else if (wire.field == MODULE_ALIASES)
      each (h, wire.span, 1, read_alias);
    else if (wire.field == MODULE_DONORS)
      each (h, wire.span, 1, read_donor);
    else if (wire.field == MODULE_FRAMES)
      read_frames (h, wire.span);
  for (guint i = 0; i < h->computations->len; i++)
    {
      HloComputation *c = &g_array_index (h->computations, HloComputation, i);

      c->entry = entry != 0 ? c->id == entry : c->name == entry_name;
    }
  h->info->n_modules = 1;
}

gint
gantry_hlo_proto_find (Hlo *h, gint64 id)
{
  return GPOINTER_TO_INT (g_hash_table_lookup (h->proto->by_id, GSIZE_TO_POINTER ((gsize) id))) - 1;
}

guint32
gantry_hlo_proto_name (Hlo *h, gint64 id)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (h->proto->names, GSIZE_TO_POINTER ((gsize) id)));
}

/* Instructions */

static gboolean
is_opcode (GantryXlaSpan span)
{
  for (gsize i = 0; i < span.length; i++)
    if (!g_ascii_isalnum (span.at[i]) && span.at[i] != '-' && span.at[i] != '_')
      return FALSE;
  return span.length > 0;
}

static void
read_instruction (Hlo *h, GantryWireSpan message, HloInstruction *inst)
{
  GantryWireSpan shape = { 0 };
  gint64 parameter = 0;
  GantryWire wire;

  *inst = (HloInstruction){ .message = message, .layout = { "", 0 }, .opcode = { "", 0 }, .operands = { "{...}", 5 } };
  inst->begin.at = (const char *) message.data;
  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == INSTRUCTION_PARAMETER)
      parameter = (gint64) wire.value;
    else if (wire.field == INSTRUCTION_ID)
      inst->key = (gsize) wire.value;
    else if (wire.kind != GANTRY_WIRE_LENGTH)
      continue;
    else if (wire.field == INSTRUCTION_NAME)
      inst->name = intern (h, wire.span);
    else if (wire.field == INSTRUCTION_OPCODE)
      inst->opcode = (GantryXlaSpan){ (const char *) wire.span.data, wire.span.length };
    else if (wire.field == INSTRUCTION_SHAPE)
      shape = wire.span;
  if (h->s.error == NULL && !is_opcode (inst->opcode))
    gantry_hlo_proto_fail (h, message.data, GANTRY_ERROR_INVALID, "an instruction has no operation");
  if (h->s.error == NULL)
    inst->type = gantry_hlo_proto_shape (h, shape, &inst->layout);
  if (gantry_xla_span_is (inst->opcode, "parameter"))
    {
      g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, parameter);
      const char *kept = gantry_context_string (h->context, gantry_context_intern (h->context, text));

      inst->operands = (GantryXlaSpan){ kept, strlen (kept) };
    }
}

/* Puts @instructions into the order of the schedule, which has each of them once. */
static void
schedule (Hlo *h, const HloComputation *c, GantryWireSpan sequence, GArray *instructions)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) ordered = g_array_new (FALSE, FALSE, sizeof (HloInstruction));
  g_autoptr (GHashTable) left = g_hash_table_new (NULL, NULL); /* key -> index + 1 */
  GantryWire wire;

  gantry_wire_init (&wire, sequence);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1)
      gantry_hlo_proto_ints (h, &wire, ids);
  for (guint i = 0; i < instructions->len; i++)
    g_hash_table_insert (left, GSIZE_TO_POINTER (g_array_index (instructions, HloInstruction, i).key), GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < ids->len && h->s.error == NULL; i++)
    {
      gpointer id = GSIZE_TO_POINTER ((gsize) g_array_index (ids, gint64, i));
      guint index = GPOINTER_TO_UINT (g_hash_table_lookup (left, id));

      if (index == 0)
        gantry_hlo_proto_fail (h, sequence.data, GANTRY_ERROR_INVALID,
                               "the schedule of computation '%s' names %" G_GINT64_FORMAT ", which is none of its instructions or was named before",
                               gantry_context_string (h->context, c->name), g_array_index (ids, gint64, i));
      else
        g_array_append_val (ordered, g_array_index (instructions, HloInstruction, index - 1));
      g_hash_table_remove (left, id);
    }
  if (h->s.error == NULL && ordered->len != instructions->len)
    gantry_hlo_proto_fail (h, sequence.data, GANTRY_ERROR_INVALID, "the schedule of computation '%s' has %u of its %u instructions",
                           gantry_context_string (h->context, c->name), ordered->len, instructions->len);
  if (h->s.error == NULL && ordered->len > 0)
    memcpy (instructions->data, ordered->data, sizeof (HloInstruction) * ordered->len);
}

void
gantry_hlo_proto_body (Hlo *h, const HloComputation *c, GArray *instructions)
{
  const GantryWireSpan *sequence = g_hash_table_lookup (h->proto->sequences, GSIZE_TO_POINTER ((gsize) c->id));
  gsize root = 0;
  GantryWire wire;

  gantry_wire_init (&wire, c->message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == COMPUTATION_ROOT)
      root = (gsize) wire.value;
    else if (wire.field == COMPUTATION_INSTRUCTION && wire.kind == GANTRY_WIRE_LENGTH)
      {
        HloInstruction inst;

        read_instruction (h, wire.span, &inst);
        g_array_append_val (instructions, inst);
        g_hash_table_insert (h->proto->names, GSIZE_TO_POINTER (inst.key), GUINT_TO_POINTER (inst.name));
        if (instructions->len > GANTRY_HLO_MOST_INSTRUCTIONS)
          gantry_hlo_proto_fail (h, wire.span.data, GANTRY_ERROR_TOO_LARGE, "a computation has more than %d instructions", GANTRY_HLO_MOST_INSTRUCTIONS);
      }
  for (guint i = 0; i < instructions->len; i++)
    g_array_index (instructions, HloInstruction, i).root = g_array_index (instructions, HloInstruction, i).key == root;
  if (sequence != NULL && h->s.error == NULL)
    schedule (h, c, *sequence, instructions);
}
