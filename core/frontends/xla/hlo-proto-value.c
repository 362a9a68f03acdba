/* SPDX-License-Identifier: Apache-2.0 */
/* Values of attributes in a protocol buffer of HLO, written as a text of HLO has them. */
#include "core/frontends/xla/hlo-private.h"

#define MOST_TEXT 4096

void
gantry_hlo_append_ints (GString *text, const GArray *ints, const char *between)
{
  for (guint i = 0; i < ints->len; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? between : "", g_array_index (ints, gint64, i));
}

/* Escaped as in a text. */
void
gantry_hlo_append_escaped (GString *text, GantryWireSpan span)
{
  for (gsize i = 0; i < span.length && i < MOST_TEXT; i++)
    {
      guint8 c = span.data[i];

      if (c == '"' || c == '\\' || c == '\'')
        g_string_append_printf (text, "\\%c", c);
      else if (c == '\n')
        g_string_append (text, "\\n");
      else if (c == '\t')
        g_string_append (text, "\\t");
      else if (c == '\r')
        g_string_append (text, "\\r");
      else if (c < ' ' || c >= 0x7f)
        g_string_append_printf (text, "\\%03o", c);
      else
        g_string_append_c (text, (char) c);
    }
}

/* A JSON object stands as it is. */
void
gantry_hlo_append_quoted (GString *text, GantryWireSpan span)
{
  if (span.length >= 2 && span.data[0] == '{' && span.data[span.length - 1] == '}')
    {
      g_string_append_len (text, (const char *) span.data, (gssize) MIN (span.length, MOST_TEXT));
      return;
    }
  g_string_append_c (text, '"');
  gantry_hlo_append_escaped (text, span);
  g_string_append_c (text, '"');
}

/* The shortest number that is this float. */
void
gantry_hlo_append_float (GString *text, guint64 bits)
{
  guint32 low = (guint32) bits;
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  float value;

  memcpy (&value, &low, sizeof value);
  for (guint digits = 6; digits <= 9; digits++)
    {
      g_autofree char *format = g_strdup_printf ("%%.%ug", digits);

      g_ascii_formatd (number, sizeof number, format, (double) value);
      if ((float) g_ascii_strtod (number, NULL) == value)
        break;
    }
  g_string_append (text, number);
}

/* Numbers of a message by field, 0 where not said. */
static void
read_numbers (Hlo *h, GantryWireSpan message, gint64 *values, guint n)
{
  GantryWire wire;

  memset (values, 0, sizeof *values * n);
  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field < n)
      values[wire.field] = (gint64) wire.value;
}

void
gantry_hlo_write_slice (Hlo *h, GantryWireSpan message, GString *text)
{
  gint64 values[4];

  read_numbers (h, message, values, 4);
  g_string_append_printf (text, "[%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, values[1], values[2]);
  if (values[3] != 1)
    g_string_append_printf (text, ":%" G_GINT64_FORMAT, values[3]);
  g_string_append_c (text, ']');
}

void
gantry_hlo_write_pair (Hlo *h, GantryWireSpan message, GString *text)
{
  gint64 values[3];

  read_numbers (h, message, values, 3);
  g_string_append_printf (text, "{%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "}", values[1], values[2]);
}

void
gantry_hlo_write_group (Hlo *h, GantryWireSpan message, GString *text)
{
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1)
      gantry_hlo_proto_ints (h, &wire, ints);
  g_string_append_c (text, '{');
  gantry_hlo_append_ints (text, ints, ",");
  g_string_append_c (text, '}');
}

void
gantry_hlo_write_groups (Hlo *h, GantryWireSpan message, GString *text)
{
  GantryWire wire;
  gboolean first = TRUE;

  g_string_append_c (text, '{');
  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1 && wire.kind == GANTRY_WIRE_LENGTH)
      {
        g_string_append (text, first ? "" : ",");
        gantry_hlo_write_group (h, wire.span, text);
        first = FALSE;
      }
  g_string_append_c (text, '}');
}

/* "[2,4]<=[4,2]T(1,0)": groups by devices, of devices counted through. Field numbers differ with the message. */
static void
append_iota (Hlo *h, GantryWireSpan message, guint tiles, guint reshape, guint transpose, GString *text)
{
  GArray *lists[3];
  GantryWire wire;

  for (guint i = 0; i < 3; i++)
    lists[i] = g_array_new (FALSE, FALSE, sizeof (gint64));
  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == tiles || (tiles == 1 && wire.field == 2))
      gantry_hlo_proto_ints (h, &wire, lists[0]);
    else if (wire.field == reshape)
      gantry_hlo_proto_ints (h, &wire, lists[1]);
    else if (wire.field == transpose)
      gantry_hlo_proto_ints (h, &wire, lists[2]);
  g_string_append_c (text, '[');
  gantry_hlo_append_ints (text, lists[0], ",");
  g_string_append (text, "]<=[");
  gantry_hlo_append_ints (text, lists[1], ",");
  g_string_append_c (text, ']');
  if (lists[1]->len > 1)
    {
      g_string_append (text, "T(");
      gantry_hlo_append_ints (text, lists[2], ",");
      g_string_append_c (text, ')');
    }
  for (guint i = 0; i < 3; i++)
    g_array_unref (lists[i]);
}

void
gantry_hlo_write_iota_groups (Hlo *h, GantryWireSpan message, GString *text)
{
  append_iota (h, message, 1, 3, 4, text);
}

static void
write_dimension_pad (Hlo *h, GantryWireSpan message, gboolean interior, GString *text)
{
  gint64 values[4];

  read_numbers (h, message, values, 4);
  g_string_append_printf (text, "%" G_GINT64_FORMAT "_%" G_GINT64_FORMAT, values[1], values[2]);
  if (interior)
    g_string_append_printf (text, "_%" G_GINT64_FORMAT, values[3]);
}

void
gantry_hlo_write_padding (Hlo *h, GantryWireSpan message, GString *text)
{
  gboolean interior = FALSE;
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1 && wire.kind == GANTRY_WIRE_LENGTH)
      {
        gint64 values[4];

        read_numbers (h, wire.span, values, 4);
        interior = interior || values[3] != 0;
      }
  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1 && wire.kind == GANTRY_WIRE_LENGTH)
      {
        g_string_append (text, text->len > 0 ? "x" : "");
        write_dimension_pad (h, wire.span, interior, text);
      }
}

/* "{size=3x3 stride=2x2 pad=0_1x0_1}": what is everywhere the default is left out. */
void
gantry_hlo_write_window (Hlo *h, GantryWireSpan message, GString *text)
{
  static const struct
  {
    const char *key;
    guint field;
    gint64 usual;
  } keys[] = { { "size", 1, G_MININT64 }, { "stride", 2, 1 }, { "pad", 3, 0 }, { "lhs_dilate", 6, 1 }, { "rhs_dilate", 5, 1 }, { "rhs_reversal", 7, 0 } };
  GString *values[G_N_ELEMENTS (keys)];
  gboolean said[G_N_ELEMENTS (keys)] = { FALSE };
  GantryWire wire;

  for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
    values[k] = g_string_new (NULL);
  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1 && wire.kind == GANTRY_WIRE_LENGTH)
      {
        gint64 dim[8];

        read_numbers (h, wire.span, dim, 8);
        for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
          {
            gint64 value = dim[keys[k].field];

            said[k] = said[k] || value != keys[k].usual || (keys[k].field == 3 && dim[4] != 0);
            g_string_append_printf (values[k], "%s%" G_GINT64_FORMAT, values[k]->len > 0 ? "x" : "", value);
            if (keys[k].field == 3)
              g_string_append_printf (values[k], "_%" G_GINT64_FORMAT, dim[4]);
          }
      }
  g_string_append_c (text, '{');
  for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
    {
      if (said[k])
        g_string_append_printf (text, "%s%s=%s", k > 0 ? " " : "", keys[k].key, values[k]->str);
      g_string_free (values[k], TRUE);
    }
  g_string_append_c (text, '}');
}

/* One of "b01f", "01io", "b01f": @first and @second are the dimensions that letters name. */
static void
append_labels (Hlo *h, const guint8 *at, GString *text, const char *letters, gint64 first, gint64 second, const GArray *spatial)
{
  char labels[GANTRY_MAX_RANK + 1] = { 0 };
  guint rank = spatial->len + 2;
  gboolean fits = rank <= GANTRY_MAX_RANK;

  for (guint i = 0; fits && i < rank; i++)
    {
      gint64 dim = i == 0 ? first : i == 1 ? second : g_array_index (spatial, gint64, i - 2);

      fits = dim >= 0 && dim < rank && labels[dim] == 0;
      if (fits)
        labels[dim] = i < 2 ? letters[i] : "0123456789ABCDEF"[i - 2];
    }
  if (!fits)
    gantry_hlo_proto_fail (h, at, GANTRY_ERROR_INVALID, "dimensions of a convolution are numbered twice or out of range");
  g_string_append (text, labels);
}

void
gantry_hlo_write_labels (Hlo *h, GantryWireSpan message, GString *text)
{
  static const struct
  {
    const char *letters;
    guint first, second, spatial;
  } sides[] = { { "bf", 7, 8, 11 }, { "io", 3, 4, 6 }, { "bf", 9, 10, 12 } };
  gint64 values[13];

  read_numbers (h, message, values, 13);
  for (guint i = 0; i < G_N_ELEMENTS (sides) && h->s.error == NULL; i++)
    {
      g_autoptr (GArray) spatial = g_array_new (FALSE, FALSE, sizeof (gint64));
      GantryWire wire;

      gantry_wire_init (&wire, message);
      while (gantry_hlo_proto_next (h, &wire))
        if (wire.field == sides[i].spatial)
          gantry_hlo_proto_ints (h, &wire, spatial);
      g_string_append (text, i == 0 ? "" : i == 1 ? "_" : "->");
      append_labels (h, message.data, text, sides[i].letters, values[sides[i].first], values[sides[i].second], spatial);
    }
}

typedef struct
{
  GantryWireSpan key, value;
} Entry;

static int
by_key (gconstpointer a, gconstpointer b)
{
  const Entry *x = a, *y = b;
  gsize n = MIN (x->key.length, y->key.length);
  int order = n > 0 ? memcmp (x->key.data, y->key.data, n) : 0;

  return order != 0 ? order : (x->key.length > y->key.length) - (x->key.length < y->key.length);
}

/* {key="value",other={"json":1}}: a map has no order, a text that of the keys. */
void
gantry_hlo_write_map (Hlo *h, GantryWireSpan message, GString *text)
{
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  GantryWire wire, field;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1 && wire.kind == GANTRY_WIRE_LENGTH)
      {
        Entry entry = { .key = { wire.span.data, 0 }, .value = { wire.span.data, 0 } };

        for (gantry_wire_init (&field, wire.span); gantry_hlo_proto_next (h, &field);)
          if (field.kind == GANTRY_WIRE_LENGTH && field.field <= 2)
            *(field.field == 1 ? &entry.key : &entry.value) = field.span;
        g_array_append_val (entries, entry);
      }
  if (entries->len == 0)
    return;
  g_array_sort (entries, by_key);
  g_string_append_c (text, '{');
  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *entry = &g_array_index (entries, Entry, i);

      g_string_append (text, i > 0 ? "," : "");
      gantry_hlo_append_escaped (text, entry->key);
      g_string_append_c (text, '=');
      gantry_hlo_append_quoted (text, entry->value);
    }
  g_string_append_c (text, '}');
}

static void
sharding_of_devices (Hlo *h, GantryWireSpan message, GString *text)
{
  g_autoptr (GArray) dims = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) devices = g_array_new (FALSE, FALSE, sizeof (gint64));
  gboolean iota = FALSE, last = FALSE;
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 3)
      gantry_hlo_proto_ints (h, &wire, dims);
    else if (wire.field == 4)
      gantry_hlo_proto_ints (h, &wire, devices);
    else if (wire.field == 6)
      last = wire.value != 0;
    else if (wire.field == 9)
      iota = TRUE;
  g_string_append (text, "devices=");
  if (iota)
    append_iota (h, message, 3, 9, 10, text);
  else
    {
      g_string_append_c (text, '[');
      gantry_hlo_append_ints (text, dims, ",");
      g_string_append_c (text, ']');
      gantry_hlo_append_ints (text, devices, ",");
    }
  g_string_append (text, last ? " last_tile_dim_replicate" : "");
}

static void
sharding_of_tuple (Hlo *h, GantryWireSpan message, GString *text)
{
  GantryWire wire;
  guint n = 0;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 5 && wire.kind == GANTRY_WIRE_LENGTH)
      {
        if (n > 0)
          g_string_append (text, ", ");
        if (n > 0 && n % 5 == 0)
          g_string_append_printf (text, "/*index=%u*/", n);
        n++;
        gantry_hlo_write_sharding (h, wire.span, text);
      }
}

void
gantry_hlo_write_sharding (Hlo *h, GantryWireSpan message, GString *text)
{
  static const char *const kinds[] = { "replicated", "maximal device=", NULL, NULL, "manual", "unknown", "unreduced" };
  gint64 values[5];

  if (!gantry_xla_scan_enter (&h->s))
    return;
  read_numbers (h, message, values, 5);
  g_string_append_c (text, '{');
  if (values[1] == 2)
    sharding_of_tuple (h, message, text);
  else if (values[1] == 3)
    sharding_of_devices (h, message, text);
  else if (values[1] >= 0 && values[1] < (gint64) G_N_ELEMENTS (kinds))
    g_string_append (text, kinds[values[1]]);
  if (values[1] == 1)
    {
      g_autoptr (GArray) devices = g_array_new (FALSE, FALSE, sizeof (gint64));
      GantryWire wire;

      gantry_wire_init (&wire, message);
      while (gantry_hlo_proto_next (h, &wire))
        if (wire.field == 4)
          gantry_hlo_proto_ints (h, &wire, devices);
      gantry_hlo_append_ints (text, devices, ",");
    }
  g_string_append_c (text, '}');
  h->s.depth--;
}

void
gantry_hlo_write_precision (Hlo *h, GantryWireSpan message, GString *text)
{
  static const char *const names[] = { "default", "high", "highest" };
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  gboolean usual = TRUE;
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1)
      gantry_hlo_proto_ints (h, &wire, ints);
  for (guint i = 0; i < ints->len; i++)
    usual = usual && g_array_index (ints, gint64, i) == 0;
  if (usual)
    return;
  g_string_append_c (text, '{');
  for (guint i = 0; i < ints->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "," : "", names[CLAMP (g_array_index (ints, gint64, i), 0, 2)]);
  g_string_append_c (text, '}');
}

static void
append_index (GString *text, const GArray *index)
{
  g_string_append_c (text, '{');
  gantry_hlo_append_ints (text, index, ",");
  g_string_append_c (text, '}');
}

/* "{0}: (1, {})": a member of the result, an operand and a member of it */
void
gantry_hlo_write_aliasing (Hlo *h, GantryWireSpan message, GString *text)
{
  g_autoptr (GArray) output = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) operand = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 number = 0;
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 2)
      number = (gint64) wire.value;
    else if (wire.field == 1 || wire.field == 3)
      gantry_hlo_proto_ints (h, &wire, wire.field == 1 ? output : operand);
  g_string_append (text, text->len > 1 ? " " : "");
  append_index (text, output);
  g_string_append_printf (text, ": (%" G_GINT64_FORMAT ", ", number);
  append_index (text, operand);
  g_string_append_c (text, ')');
}

void
gantry_hlo_write_shape (Hlo *h, GantryWireSpan message, GString *text)
{
  g_string_append (text, text->len > 1 ? " " : "");
  gantry_hlo_proto_shape_text (h, message, text);
}
