/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes in MLIR bytecode, of MLIR itself and of StableHLO's portable form. Each is written as the text that it
 * has, which the reader of texts understands; constants are not. Locations are read directly. */
#include "core/frontends/xla/mlir-bytecode-private.h"

#define MOST_TEXT (1 << 16)
#define MOST_SHOWN 64 /* numbers of a constant within another attribute */

/* Numbers of attributes. */
enum
{
  BUILTIN_ARRAY = 0,
  BUILTIN_DICTIONARY = 1,
  BUILTIN_STRING = 2,
  BUILTIN_TYPED_STRING = 3,
  BUILTIN_SYMBOL = 4,
  BUILTIN_TYPE = 6,
  BUILTIN_UNIT = 7,
  BUILTIN_INTEGER = 8,
  BUILTIN_FLOAT = 9,
  BUILTIN_CALL_SITE = 10,
  BUILTIN_FILE_LINE = 11,
  BUILTIN_FUSED = 12,
  BUILTIN_FUSED_WITH = 13,
  BUILTIN_NAME = 14,
  BUILTIN_NUMBERS = 17,
  BUILTIN_DENSE = 18,
  BUILTIN_FILE_RANGE = 22,
  VHLO_ARRAY = 1,
  VHLO_BOOLEAN = 2,
  VHLO_DICTIONARY = 6,
  VHLO_FLOAT = 8,
  VHLO_INTEGER = 9,
  VHLO_STRING = 14,
  VHLO_TENSOR = 15,
  VHLO_TYPE = 17,
  VHLO_ACCURACY = 20,
  VHLO_FROM = 100, /* added here, to tell the two apart */
};

static void render (Mlir *m, const guint8 *at, guint64 index, GString *out);

/* Returns: the number of what @entry is, G_MAXUINT where it is written as text or of another dialect */
static guint64
code_of (Mlir *m, const MlirEntry *entry, MlirCursor *c)
{
  guint64 code;

  *c = gantry_mlir_cursor (entry->bytes);
  if (!entry->custom)
    return G_MAXUINT;
  code = gantry_mlir_varint (m, c);
  if (gantry_mlir_entry_is (m, entry, "vhlo"))
    return MIN (code, VHLO_FROM) + VHLO_FROM;
  return gantry_mlir_entry_is (m, entry, "builtin") ? MIN (code, VHLO_FROM - 1) : G_MAXUINT;
}

static void
append_string (Mlir *m, MlirCursor *c, GString *out)
{
  const guint8 *at = c->at;
  g_autofree char *text = gantry_mlir_bytecode_string (m, at, gantry_mlir_varint (m, c));

  g_string_append_c (out, '"');
  for (const char *p = text; *p != 0; p++)
    if (*p == '"' || *p == '\\')
      g_string_append_printf (out, "\\%c", *p);
    else if ((guint8) *p < ' ' || *p == 0x7f)
      g_string_append_printf (out, "\\%02X", (guint8) *p);
    else
      g_string_append_c (out, *p);
  g_string_append_c (out, '"');
}

static void
append_array (Mlir *m, MlirCursor *c, GString *out)
{
  guint64 n = gantry_mlir_count (m, c);

  g_string_append_c (out, '[');
  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      const guint8 *at = c->at;

      g_string_append (out, i > 0 ? ", " : "");
      render (m, at, gantry_mlir_varint (m, c), out);
    }
  g_string_append_c (out, ']');
}

/* One that is a word stands without quotes. */
static void
append_key (Mlir *m, guint64 index, GString *out)
{
  g_autofree char *key = gantry_mlir_bytecode_text (m, index), *escaped = NULL;
  gboolean word = g_ascii_isalpha (*key) || *key == '_';

  for (const char *p = key; *p != 0; p++)
    word = word && (g_ascii_isalnum (*p) || strchr ("_.$", *p) != NULL);
  escaped = word ? g_strdup (key) : g_strescape (key, NULL);
  g_string_append_printf (out, word ? "%s" : "\"%s\"", escaped);
}

/* " : f32" */
static void
append_suffix (const GantryType *type, GString *out)
{
  const char *name = type->kind == GANTRY_TYPE_TENSOR ? gantry_element_name ((GantryElementType) type->element) : "";

  if (g_ascii_isalpha (*name))
    g_string_append_printf (out, " : %s%s", *name == 'u' ? "ui" : "", *name == 'u' ? name + 1 : name);
}

static void
append_dictionary (Mlir *m, MlirCursor *c, GString *out)
{
  guint64 n = gantry_mlir_count (m, c);

  g_string_append_c (out, '{');
  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      const guint8 *at = c->at;

      g_string_append (out, i > 0 ? ", " : "");
      append_key (m, gantry_mlir_varint (m, c), out);
      g_string_append (out, " = ");
      render (m, at, gantry_mlir_varint (m, c), out);
    }
  g_string_append_c (out, '}');
}

/* Up to 8 bits are a byte, up to 64 a number with sign. A bool is true or false. */
static void
append_integer (Mlir *m, MlirCursor *c, GString *out)
{
  const guint8 *at = c->at;
  guint32 type = gantry_mlir_bytecode_type (m, at, gantry_mlir_varint (m, c));
  const GantryType *t = gantry_context_type (m->context, type);
  gboolean small = t->kind == GANTRY_TYPE_TENSOR
                   && (t->element == GANTRY_BOOL || t->element == GANTRY_I8 || t->element == GANTRY_U8 || t->element == GANTRY_I4 || t->element == GANTRY_U4);
  gint64 value = small ? (gint8) gantry_mlir_byte (m, c) : gantry_mlir_signed_varint (m, c);

  if (t->kind == GANTRY_TYPE_TENSOR && t->element == GANTRY_BOOL)
    g_string_append (out, value != 0 ? "true" : "false");
  else if (t->kind == GANTRY_TYPE_TENSOR && t->element == GANTRY_U8)
    g_string_append_printf (out, "%u", (guint8) value);
  else
    g_string_append_printf (out, "%" G_GINT64_FORMAT, value);
  if (t->kind == GANTRY_TYPE_TENSOR && t->element != GANTRY_BOOL)
    append_suffix (t, out);
}

/* The bits of a float are a number of its width. */
static void
append_float (Mlir *m, MlirCursor *c, GString *out)
{
  const guint8 *at = c->at;
  guint32 type = gantry_mlir_bytecode_type (m, at, gantry_mlir_varint (m, c));
  const GantryType *t = gantry_context_type (m->context, type);
  guint64 bits = (guint64) gantry_mlir_signed_varint (m, c);
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  guint8 bytes[8];
  double value = 0;

  memcpy (bytes, &bits, sizeof bytes); /* little endian */
  if (t->kind == GANTRY_TYPE_TENSOR && gantry_element_is_float ((GantryElementType) t->element) && gantry_element_is_compiled ((GantryElementType) t->element))
    value = gantry_element_read_double ((GantryElementType) t->element, bytes);
  g_ascii_dtostr (text, sizeof text, value);
  g_string_append (out, text);
  if (strpbrk (text, ".en") == NULL)
    g_string_append (out, ".0");
  append_suffix (t, out);
}

/* "dense<[1, 0]>", as much as is small. */
static void
append_constant (Mlir *m, guint64 index, GString *out)
{
  guint32 id = gantry_mlir_bytecode_literal (m, index);
  const GantryLiteral *literal = id != 0 ? gantry_context_literal (m->context, id) : NULL;
  gint64 n = literal != NULL ? gantry_type_elements (literal->type) : 0;

  g_string_append (out, "\"dense<[");
  for (gint64 i = 0; i < MIN (n, MOST_SHOWN); i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", gantry_literal_get_int (literal, i));
  g_string_append_printf (out, "%s]>\"", n > MOST_SHOWN ? ", ..." : "");
}

/* array<i64: 1, 2>: bytes of as many numbers. */
static void
append_numbers (Mlir *m, MlirCursor *c, GString *out)
{
  const guint8 *at = c->at;
  guint32 type = gantry_mlir_bytecode_type (m, at, gantry_mlir_varint (m, c));
  const GantryType *t = gantry_context_type (m->context, type);
  guint64 n = gantry_mlir_varint (m, c);
  GantryWireSpan blob = gantry_mlir_blob (m, c);
  gsize size = t->kind == GANTRY_TYPE_TENSOR ? gantry_element_size ((GantryElementType) t->element) : 0;

  g_string_append (out, "array<i64");
  for (guint64 i = 0; m->s.error == NULL && size > 0 && i < n && (i + 1) * size <= blob.length; i++)
    {
      if (gantry_element_is_float ((GantryElementType) t->element))
        g_string_append_printf (out, "%s%g", i > 0 ? ", " : ": ", gantry_element_read_double ((GantryElementType) t->element, blob.data + i * size));
      else
        g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : ": ",
                                gantry_element_read_int ((GantryElementType) t->element, blob.data + i * size));
      if (out->len > MOST_TEXT)
        break;
    }
  g_string_append_c (out, '>');
}

static void
append_type (Mlir *m, MlirCursor *c, GString *out)
{
  const guint8 *at = c->at;
  guint32 type = gantry_mlir_bytecode_type (m, at, gantry_mlir_varint (m, c));
  g_autofree char *text = type != 0 ? gantry_context_type_text (m->context, type) : g_strdup ("none");

  g_string_append_printf (out, "\"%s\"", text);
}

static void
append_accuracy (Mlir *m, MlirCursor *c, GString *out)
{
  double values[2];
  gint64 ulps;

  for (guint i = 0; i < 2; i++)
    {
      guint64 bits = (guint64) gantry_mlir_signed_varint (m, c);

      memcpy (&values[i], &bits, sizeof bits);
    }
  ulps = gantry_mlir_signed_varint (m, c);
  g_string_append_printf (out, "\"atol = %g, rtol = %g, ulps = %" G_GINT64_FORMAT ", mode = ", values[0], values[1], ulps);
  {
    const guint8 *at = c->at;
    g_autoptr (GString) mode = g_string_new (NULL);

    render (m, at, gantry_mlir_varint (m, c), mode);
    g_string_append_printf (out, "%s\"", strstr (mode->str, "HIGHEST") != NULL ? "HIGHEST" : strstr (mode->str, "DEFAULT") != NULL ? "DEFAULT" : "TOLERANCE");
  }
}

static void
append_choice (Mlir *m, guint64 code, MlirCursor *c, GString *out)
{
  guint64 value = gantry_mlir_varint (m, c);
  const char *enumeration, *name = gantry_vhlo_choice (code - VHLO_FROM, value, &enumeration);

  if (name != NULL)
    g_string_append_printf (out, "#stablehlo<%s %s>", enumeration, name);
  else
    g_string_append_printf (out, "%" G_GUINT64_FORMAT, value);
}

static void
render_inside (Mlir *m, const MlirEntry *entry, guint64 index, GString *out)
{
  MlirCursor c;
  guint64 code = code_of (m, entry, &c), part;

  switch (code)
    {
    case G_MAXUINT:
      if (entry->custom)
        g_string_append_printf (out, "\"#%s\"", (const char *) g_ptr_array_index (m->bytecode->dialects, entry->dialect));
      else
        g_string_append_len (out, (const char *) entry->bytes.data, (gssize) strnlen ((const char *) entry->bytes.data, entry->bytes.length));
      break;
    case BUILTIN_ARRAY:
    case VHLO_FROM + VHLO_ARRAY: append_array (m, &c, out); break;
    case BUILTIN_DICTIONARY:
    case VHLO_FROM + VHLO_DICTIONARY: append_dictionary (m, &c, out); break;
    case BUILTIN_STRING:
    case BUILTIN_TYPED_STRING:
    case VHLO_FROM + VHLO_STRING: append_string (m, &c, out); break;
    case BUILTIN_SYMBOL:
      part = gantry_mlir_varint (m, &c);
      render (m, entry->bytes.data, part, out);
      break;
    case BUILTIN_TYPE:
    case VHLO_FROM + VHLO_TYPE: append_type (m, &c, out); break;
    case BUILTIN_UNIT: g_string_append (out, "unit"); break;
    case VHLO_FROM + VHLO_BOOLEAN: g_string_append (out, gantry_mlir_varint (m, &c) != 0 ? "true" : "false"); break;
    case BUILTIN_INTEGER:
    case VHLO_FROM + VHLO_INTEGER: append_integer (m, &c, out); break;
    case BUILTIN_FLOAT:
    case VHLO_FROM + VHLO_FLOAT: append_float (m, &c, out); break;
    case BUILTIN_NUMBERS: append_numbers (m, &c, out); break;
    case BUILTIN_DENSE:
    case VHLO_FROM + VHLO_TENSOR: append_constant (m, index, out); break;
    case VHLO_FROM + VHLO_ACCURACY: append_accuracy (m, &c, out); break;
    default:
      if (code >= VHLO_FROM)
        append_choice (m, code, &c, out);
      else
        g_string_append_printf (out, "\"attribute %" G_GUINT64_FORMAT "\"", code);
      break;
    }
}

static void
render (Mlir *m, const guint8 *at, guint64 index, GString *out)
{
  MlirEntry *entry = gantry_mlir_entry (m, at, m->bytecode->attributes, index);

  if (entry == NULL || !gantry_xla_scan_enter (&m->s))
    return;
  render_inside (m, entry, index, out);
  m->s.depth--;
  if (out->len > MOST_TEXT)
    gantry_mlir_bytecode_fail (m, entry->bytes.data, GANTRY_ERROR_TOO_LARGE, "the text of an attribute has more than 64 KiB");
}

/* Reads @text as the value of an attribute that stands at @at. */
static void
set_from_text (Mlir *m, const guint8 *at, GantryAttrList *list, const char *key, const GString *text, guint32 *literal)
{
  GantryXlaScan before = m->s;
  g_autoptr (GError) error = NULL;

  gantry_xla_scan_init (&m->s, before.name, text->str, text->len);
  m->s.depth = before.depth;
  gantry_mlir_attribute (m, list, key, literal);
  error = g_steal_pointer (&m->s.error);
  m->s = before;
  if (error != NULL)
    gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "the value of attribute '%s' is not read: %s", key, error->message);
}

/* One may be longer than what is shown of anything else. */
static gboolean
is_string (Mlir *m, const MlirEntry *entry)
{
  MlirCursor c;
  guint64 code = code_of (m, entry, &c);

  return code == BUILTIN_STRING || code == BUILTIN_TYPED_STRING || code == VHLO_FROM + VHLO_STRING;
}

void
gantry_mlir_bytecode_set (Mlir *m, GantryAttrList *list, const char *key, guint64 index, guint32 *literal)
{
  MlirEntry *entry = gantry_mlir_entry (m, (const guint8 *) m->s.at, m->bytecode->attributes, index);
  g_autoptr (GString) text = g_string_new (NULL);
  guint32 id;

  if (entry == NULL)
    return;
  if (is_string (m, entry) && strcmp (key, "n_captures") != 0)
    {
      g_autofree char *string = gantry_mlir_bytecode_text (m, index);

      gantry_attr_list_set_string (list, key, string);
      return;
    }
  id = strcmp (key, "n_captures") != 0 ? gantry_mlir_bytecode_literal (m, index) : 0;
  if (id != 0)
    {
      if (literal != NULL)
        *literal = id;
      gantry_mlir_set_dense (m, list, key, id);
      return;
    }
  render (m, entry->bytes.data, index, text);
  if (m->s.error == NULL)
    set_from_text (m, entry->bytes.data, list, key, text, literal);
}

void
gantry_mlir_bytecode_elements (Mlir *m, guint64 index, GArray *elements)
{
  MlirEntry *entry = gantry_mlir_entry (m, (const guint8 *) m->s.at, m->bytecode->attributes, index);
  MlirCursor c;
  guint64 code = entry != NULL ? code_of (m, entry, &c) : G_MAXUINT, n;

  if (code != BUILTIN_ARRAY && code != VHLO_FROM + VHLO_ARRAY)
    return;
  n = gantry_mlir_count (m, &c);
  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      guint64 element = gantry_mlir_varint (m, &c);

      g_array_append_val (elements, element);
    }
}

char *
gantry_mlir_bytecode_text (Mlir *m, guint64 index)
{
  MlirEntry *entry = gantry_mlir_entry (m, (const guint8 *) m->s.at, m->bytecode->attributes, index);
  MlirCursor c;
  guint64 code = entry != NULL ? code_of (m, entry, &c) : G_MAXUINT;

  if (code == BUILTIN_SYMBOL)
    {
      entry = gantry_mlir_entry (m, c.at, m->bytecode->attributes, gantry_mlir_varint (m, &c));
      code = entry != NULL ? code_of (m, entry, &c) : G_MAXUINT;
    }
  if (code != BUILTIN_STRING && code != BUILTIN_TYPED_STRING && code != VHLO_FROM + VHLO_STRING)
    return g_strdup ("");
  return gantry_mlir_bytecode_string (m, c.at, gantry_mlir_varint (m, &c));
}

guint32
gantry_mlir_bytecode_type_of (Mlir *m, guint64 index)
{
  MlirEntry *entry = gantry_mlir_entry (m, (const guint8 *) m->s.at, m->bytecode->attributes, index);
  MlirCursor c;
  guint64 code = entry != NULL ? code_of (m, entry, &c) : G_MAXUINT;

  guint64 type;

  if (code != BUILTIN_TYPE && code != VHLO_FROM + VHLO_TYPE)
    return 0;
  type = gantry_mlir_varint (m, &c);
  return type < m->bytecode->types->len ? (guint32) type + 1 : 0;
}

void
gantry_mlir_bytecode_each (Mlir *m, guint64 index, void (*take) (Mlir *m, const char *key, guint64 value, gpointer user_data), gpointer user_data)
{
  MlirEntry *entry = gantry_mlir_entry (m, (const guint8 *) m->s.at, m->bytecode->attributes, index);
  MlirCursor c;
  guint64 code = entry != NULL ? code_of (m, entry, &c) : G_MAXUINT, n;

  if (code != BUILTIN_DICTIONARY && code != VHLO_FROM + VHLO_DICTIONARY)
    return;
  n = gantry_mlir_count (m, &c);
  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      g_autofree char *key = gantry_mlir_bytecode_text (m, gantry_mlir_varint (m, &c));

      take (m, key, gantry_mlir_varint (m, &c), user_data);
    }
}

typedef struct
{
  GantryAttrList *list;
  guint32 *literal;
} Into;

static void
set_entry (Mlir *m, const char *key, guint64 value, gpointer user_data)
{
  const Into *into = user_data;

  gantry_mlir_bytecode_set (m, into->list, key, value, strcmp (key, "value") == 0 ? into->literal : NULL);
}

void
gantry_mlir_bytecode_dictionary (Mlir *m, GantryAttrList *list, guint64 index, guint32 *literal)
{
  Into into = { list, literal };

  gantry_mlir_bytecode_each (m, index, set_entry, &into);
}

/* Locations */

static guint32
small_number (Mlir *m, MlirCursor *c)
{
  guint64 value = gantry_mlir_varint (m, c);

  return (guint32) MIN (value, G_MAXINT32);
}

static MlirPlace
file_place (Mlir *m, MlirCursor *c, gboolean range)
{
  g_autofree char *file = gantry_mlir_bytecode_text (m, gantry_mlir_varint (m, c));
  guint64 n = range ? gantry_mlir_count (m, c) : 2;
  GantryLocation location = { .file = gantry_context_intern (m->context, file) };
  MlirPlace place = { 0 };

  if (n > 0)
    location.line = small_number (m, c);
  if (n > 1)
    location.column = small_number (m, c);
  place.location = gantry_context_location (m->context, &location);
  return place;
}

/* The first part that says anything. */
static MlirPlace
fused_place (Mlir *m, MlirCursor *c)
{
  guint64 n = gantry_mlir_count (m, c);
  MlirPlace place = { 0 };

  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      MlirPlace part = gantry_mlir_bytecode_place (m, c->at, gantry_mlir_varint (m, c));

      if (place.location == 0)
        place.location = part.location;
      if (place.name == 0)
        {
          place.name = part.name;
          place.scope = part.scope;
        }
    }
  return place;
}

static MlirPlace
named_place (Mlir *m, MlirCursor *c)
{
  g_autofree char *name = gantry_mlir_bytecode_text (m, gantry_mlir_varint (m, c));
  MlirPlace place = { 0 };

  place.location = gantry_mlir_bytecode_place (m, c->at, gantry_mlir_varint (m, c)).location;
  gantry_mlir_take_name (m, name, &place);
  return place;
}

static MlirPlace
read_place (Mlir *m, const MlirEntry *entry)
{
  MlirPlace place = { 0 }, caller;
  MlirCursor c;

  switch (code_of (m, entry, &c))
    {
    case BUILTIN_FILE_LINE: return file_place (m, &c, FALSE);
    case BUILTIN_FILE_RANGE: return file_place (m, &c, TRUE);
    case BUILTIN_FUSED:
    case BUILTIN_FUSED_WITH: return fused_place (m, &c);
    case BUILTIN_NAME: return named_place (m, &c);
    case BUILTIN_CALL_SITE:
      place = gantry_mlir_bytecode_place (m, c.at, gantry_mlir_varint (m, &c));
      caller = gantry_mlir_bytecode_place (m, c.at, gantry_mlir_varint (m, &c));
      if (place.location == 0)
        place.location = caller.location;
      return place;
    default: return place;
    }
}

MlirPlace
gantry_mlir_bytecode_place (Mlir *m, const guint8 *at, guint64 index)
{
  MlirEntry *entry = gantry_mlir_entry (m, at, m->bytecode->attributes, index);

  if (entry == NULL || entry->busy || !gantry_xla_scan_enter (&m->s))
    return (MlirPlace){ 0 };
  if (!entry->known)
    {
      entry->busy = TRUE;
      entry->place = read_place (m, entry);
      entry->busy = FALSE;
      entry->known = TRUE;
    }
  m->s.depth--;
  return entry->place;
}
