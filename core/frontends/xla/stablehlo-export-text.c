/* SPDX-License-Identifier: Apache-2.0 */
/* Writing StableHLO: the pieces of the text. */
#include "core/frontends/xla/stablehlo-export-private.h"
#include <math.h>
#include <string.h>

#define FLUSH_BYTES (1 << 20)
#define LISTED_ELEMENTS 16

/* Types and strings */

static const char *
element_name (GantryElementType element)
{
  static const char *const names[GANTRY_N_ELEMENT_TYPES] = {
    [GANTRY_BOOL] = "i1",   [GANTRY_I8] = "i8",    [GANTRY_I16] = "i16",  [GANTRY_I32] = "i32",  [GANTRY_I64] = "i64",
    [GANTRY_U8] = "ui8",    [GANTRY_U16] = "ui16", [GANTRY_U32] = "ui32", [GANTRY_U64] = "ui64", [GANTRY_F16] = "f16",
    [GANTRY_BF16] = "bf16", [GANTRY_F32] = "f32",  [GANTRY_F64] = "f64",
  };

  return names[element] != NULL ? names[element] : "none";
}

void
gantry_stablehlo_print_type (GString *out, const GantryType *type)
{
  g_string_append (out, "tensor<");
  for (guint i = 0; i < type->rank; i++)
    g_string_append_printf (out, "%" G_GINT64_FORMAT "x", type->dims[i]);
  g_string_append_printf (out, "%s>", element_name ((GantryElementType) type->element));
}

void
gantry_stablehlo_print_string (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (; *text != '\0'; text++)
    if (*text == '"' || *text == '\\' || !g_ascii_isprint (*text))
      g_string_append_printf (out, "\\%02X", (guint) (guint8) *text);
    else
      g_string_append_c (out, *text);
  g_string_append_c (out, '"');
}

const GantryType *
gantry_stablehlo_tensor (MlirExport *m, GantryElementType element, guint rank, const gint64 *dims)
{
  return gantry_context_type (m->context, gantry_context_tensor (m->context, element, rank, dims));
}

/* Lines */

void
gantry_stablehlo_flush (MlirExport *m)
{
  if (m->error == NULL)
    g_output_stream_write_all (m->stream, m->out->str, m->out->len, NULL, NULL, &m->error);
  g_string_truncate (m->out, 0);
}

void
gantry_stablehlo_print_indent (MlirExport *m)
{
  if (m->out->len > FLUSH_BYTES)
    gantry_stablehlo_flush (m);
  g_string_append_printf (m->out, "%*s", (int) (2 * m->indent), "");
}

/* A name around the place in a file, as JAX writes it: scopes, then what the value is called. */
void
gantry_stablehlo_print_end (MlirExport *m)
{
  const GantryLocation *location = m->node != NULL ? gantry_context_get_location (m->context, m->node->location) : NULL;
  const char *scope = m->node != NULL ? gantry_context_scope_path (m->context, m->node->scope) : "";
  g_autofree char *name = NULL;

  if (m->node != NULL)
    {
      const char *own = gantry_context_string (m->context, m->node->name);

      name = g_strdup_printf ("%s%s%s", scope, *scope != '\0' ? "/" : "", *own != '\0' ? own : gantry_node_op_name (m->module, m->node));
      g_string_append (m->out, " loc(");
      gantry_stablehlo_print_string (m->out, name);
      if (location != NULL && location->line > 0)
        {
          g_string_append_c (m->out, '(');
          gantry_stablehlo_print_string (m->out, gantry_context_string (m->context, location->file));
          g_string_append_printf (m->out, ":%u:%u)", location->line, location->column);
        }
      g_string_append_c (m->out, ')');
    }
  g_string_append_c (m->out, '\n');
}

/* Literals */

static void
print_number (GString *out, GantryElementType element, const guint8 *p)
{
  double value = gantry_element_read_double (element, p);
  gsize size = gantry_element_size (element);
  char text[40];

  if (element == GANTRY_BOOL)
    g_string_append (out, *p != 0 ? "true" : "false");
  else if (element == GANTRY_U64)
    g_string_append_printf (out, "%" G_GUINT64_FORMAT, (guint64) gantry_element_read_int (element, p));
  else if (!gantry_element_is_float (element))
    g_string_append_printf (out, "%" G_GINT64_FORMAT, gantry_element_read_int (element, p));
  else if (!isfinite (value))
    {
      g_string_append (out, "0x");
      for (gsize i = size; i-- > 0;)
        g_string_append_printf (out, "%02X", p[i]);
    }
  else
    {
      g_ascii_formatd (text, sizeof text, element == GANTRY_F64 ? "%.17g" : "%.9g", value);
      g_string_append_len (out, text, (gssize) strcspn (text, "e"));
      if (strchr (text, '.') == NULL)
        g_string_append (out, ".0");
      g_string_append (out, text + strcspn (text, "e"));
    }
}

static void
print_list (GString *out, const GantryLiteral *literal, guint axis, gint64 *index)
{
  gsize size = gantry_element_size ((GantryElementType) literal->type->element);

  if (axis == literal->type->rank)
    {
      print_number (out, (GantryElementType) literal->type->element, literal->data + (literal->splat ? 0 : (gsize) *index * size));
      ++*index;
      return;
    }
  g_string_append_c (out, '[');
  for (gint64 i = 0; i < literal->type->dims[axis]; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      print_list (out, literal, axis + 1, index);
    }
  g_string_append_c (out, ']');
}

static void
print_hex (MlirExport *m, const GantryLiteral *literal)
{
  static const char digits[] = "0123456789ABCDEF";

  g_string_append (m->out, "\"0x");
  for (gsize i = 0; i < literal->size; i++)
    {
      g_string_append_c (m->out, digits[literal->data[i] >> 4]);
      g_string_append_c (m->out, digits[literal->data[i] & 15]);
      if (m->out->len > FLUSH_BYTES)
        gantry_stablehlo_flush (m);
    }
  g_string_append_c (m->out, '"');
}

/* Bits have two forms in hexadecimal, of one byte and of one bit each, so they are listed. */
void
gantry_stablehlo_print_literal (MlirExport *m, const GantryLiteral *literal)
{
  gint64 n = gantry_type_elements (literal->type), index = 0;
  GantryElementType element = (GantryElementType) literal->type->element;

  g_string_append (m->out, "dense<");
  if (n > 0 && literal->splat)
    print_number (m->out, element, literal->data);
  else if (n > 0 && (n <= LISTED_ELEMENTS || element == GANTRY_BOOL))
    print_list (m->out, literal, 0, &index);
  else if (n > 0)
    print_hex (m, literal);
  g_string_append (m->out, "> : ");
  gantry_stablehlo_print_type (m->out, literal->type);
}

/* Values */

MlirName *
gantry_stablehlo_new_name (MlirExport *m, const GantryType *type)
{
  MlirName *name = gantry_arena_new0 (m->arena, MlirName, 1);
  g_autofree char *text = g_strdup_printf ("%%%u", m->counter++);

  name->text = gantry_arena_strdup (m->arena, text);
  name->type = type;
  return name;
}

MlirName *
gantry_stablehlo_new_names (MlirExport *m, const GantryType *const *types, guint n)
{
  MlirName *all = gantry_stablehlo_new_name (m, n > 0 ? types[0] : NULL);

  if (n == 1)
    return all;
  all->members = gantry_arena_new0 (m->arena, MlirName *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = g_strdup_printf ("%s#%u", all->text, i);

      all->members[i] = gantry_arena_new0 (m->arena, MlirName, 1);
      all->members[i]->text = gantry_arena_strdup (m->arena, text);
      all->members[i]->type = types[i];
    }
  return all;
}

/* Operations */

MlirName *
gantry_stablehlo_begin (MlirExport *m, const char *name, MlirName **in, guint n, const GantryType *const *types, guint n_types)
{
  MlirName *value = gantry_stablehlo_new_names (m, types, n_types);

  gantry_stablehlo_print_indent (m);
  if (n_types > 1)
    g_string_append_printf (m->out, "%s:%u = \"%s\"(", value->text, n_types, name);
  else
    g_string_append_printf (m->out, "%s = \"%s\"(", value->text, name);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (m->out, "%s%s", i > 0 ? ", " : "", in[i]->text);
  g_string_append_c (m->out, ')');
  return value;
}

void
gantry_stablehlo_attributes (MlirExport *m, const char *format, ...)
{
  va_list arguments;

  g_string_append (m->out, " <{");
  va_start (arguments, format);
  g_string_append_vprintf (m->out, format, arguments);
  va_end (arguments);
  g_string_append (m->out, "}>");
}

void
gantry_stablehlo_end (MlirExport *m, MlirName **in, guint n, const GantryType *const *types, guint n_types)
{
  g_string_append (m->out, " : (");
  for (guint i = 0; i < n; i++)
    {
      g_string_append (m->out, i > 0 ? ", " : "");
      gantry_stablehlo_print_type (m->out, in[i]->type);
    }
  g_string_append (m->out, n_types == 1 ? ") -> " : ") -> (");
  for (guint i = 0; i < n_types; i++)
    {
      g_string_append (m->out, i > 0 ? ", " : "");
      gantry_stablehlo_print_type (m->out, types[i]);
    }
  g_string_append (m->out, n_types == 1 ? "" : ")");
  gantry_stablehlo_print_end (m);
}

MlirName *
gantry_stablehlo_op (MlirExport *m, const char *name, const GantryType *type, guint n, ...)
{
  MlirName *in[8], *value;
  va_list values;

  va_start (values, n);
  for (guint i = 0; i < n; i++)
    in[i] = va_arg (values, MlirName *);
  va_end (values);
  value = gantry_stablehlo_begin (m, name, in, n, &type, 1);
  gantry_stablehlo_end (m, in, n, &type, 1);
  return value;
}

MlirName *
gantry_stablehlo_literal (MlirExport *m, const GantryLiteral *literal)
{
  MlirName *value = gantry_stablehlo_new_name (m, literal->type);

  gantry_stablehlo_print_indent (m);
  g_string_append_printf (m->out, "%s = stablehlo.constant ", value->text);
  gantry_stablehlo_print_literal (m, literal);
  gantry_stablehlo_print_end (m);
  return value;
}

static MlirName *
splat_bytes (MlirExport *m, const GantryType *type, const guint8 *bytes)
{
  g_autoptr (GBytes) owned = g_bytes_new (bytes, gantry_element_size ((GantryElementType) type->element));
  g_autoptr (GantryLiteral) literal = gantry_literal_new (type, owned, TRUE, &m->error);

  return literal != NULL ? gantry_stablehlo_literal (m, literal) : gantry_stablehlo_new_name (m, type);
}

MlirName *
gantry_stablehlo_splat (MlirExport *m, const GantryType *type, double value)
{
  guint8 bytes[16];

  gantry_element_write_double ((GantryElementType) type->element, bytes, value);
  return splat_bytes (m, type, bytes);
}

MlirName *
gantry_stablehlo_integer (MlirExport *m, GantryElementType element, gint64 value)
{
  guint8 bytes[16];

  gantry_element_write_int (element, bytes, value);
  return splat_bytes (m, gantry_stablehlo_tensor (m, element, 0, NULL), bytes);
}

/* Regions */

void
gantry_stablehlo_open (MlirExport *m)
{
  g_string_append (m->out, " ({\n");
  m->indent++;
}

void
gantry_stablehlo_next (MlirExport *m)
{
  m->indent--;
  gantry_stablehlo_print_indent (m);
  g_string_append (m->out, "}, {\n");
  m->indent++;
}

void
gantry_stablehlo_close (MlirExport *m)
{
  m->indent--;
  gantry_stablehlo_print_indent (m);
  g_string_append (m->out, "})");
}

void
gantry_stablehlo_block (MlirExport *m, const GantryType *const *types, guint n, MlirName **arguments)
{
  for (guint i = 0; i < n; i++)
    arguments[i] = gantry_stablehlo_new_name (m, types[i]);
  if (n == 0)
    return;
  g_string_append_printf (m->out, "%*s^bb0(", (int) (2 * m->indent - 1), "");
  for (guint i = 0; i < n; i++)
    {
      g_string_append_printf (m->out, "%s%s: ", i > 0 ? ", " : "", arguments[i]->text);
      gantry_stablehlo_print_type (m->out, types[i]);
    }
  g_string_append (m->out, "):\n");
}

void
gantry_stablehlo_return (MlirExport *m, MlirName **values, guint n)
{
  gantry_stablehlo_print_indent (m);
  g_string_append (m->out, "\"stablehlo.return\"(");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (m->out, "%s%s", i > 0 ? ", " : "", values[i]->text);
  g_string_append (m->out, ") : (");
  for (guint i = 0; i < n; i++)
    {
      g_string_append (m->out, i > 0 ? ", " : "");
      gantry_stablehlo_print_type (m->out, values[i]->type);
    }
  g_string_append (m->out, ") -> ()\n");
}

/* Attributes of the node */

static char *
print_ints (MlirExport *m, const char *begin, const char *key, guint n, gint64 fallback, const char *end)
{
  gsize found;
  const gint64 *list = gantry_attrs_ints (m->context, m->node->attrs, key, &found);
  g_autoptr (GString) text = g_string_new (begin);
  gsize all = MAX (n, found);

  for (gsize i = 0; i < all; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : begin[0] == 'a' ? ": " : "", i < found ? list[i] : fallback);
  g_string_append (text, end);
  return gantry_arena_strdup (m->arena, text->str);
}

char *
gantry_stablehlo_array (MlirExport *m, const char *key, guint n, gint64 fallback)
{
  return print_ints (m, "array<i64", key, n, fallback, ">");
}

char *
gantry_stablehlo_list (MlirExport *m, const char *key)
{
  return print_ints (m, "[", key, 0, 0, "]");
}
