/* SPDX-License-Identifier: Apache-2.0 */
/* Walking over the fields of a message, and appending fields to one. */
#include "core/base/wire.h"
#include <string.h>

void
gantry_wire_init (GantryWire *wire, GantryWireSpan message)
{
  *wire = (GantryWire){ .at = message.data, .end = message.length > 0 ? message.data + message.length : message.data };
}

gboolean
gantry_wire_varint (const guint8 *data, guint64 end, guint64 *position, guint64 *value)
{
  guint64 result = 0;

  for (guint shift = 0; shift < 70 && *position < end; shift += 7)
    {
      guint8 byte = data[(*position)++];

      if (shift < 63 || (byte & 0x7f) <= 1)
        result |= (guint64) (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0)
        {
          *value = result;
          return TRUE;
        }
    }
  return FALSE;
}

static gboolean
fail (GantryWire *wire, const char *problem)
{
  wire->problem = problem;
  return FALSE;
}

static gboolean
read_fixed (GantryWire *wire, const guint8 **at, guint size)
{
  wire->value = 0;
  if ((gsize) (wire->end - *at) < size)
    return fail (wire, "a number is cut off by the end of its message");
  for (guint i = 0; i < size; i++)
    wire->value |= (guint64) (*at)[i] << (8 * i);
  *at += size;
  return TRUE;
}

gboolean
gantry_wire_next (GantryWire *wire)
{
  const guint8 *at = wire->at;
  guint64 left = (guint64) (wire->end - at), position = 0, tag = 0;

  if (left == 0 || wire->problem != NULL)
    return FALSE;
  if (!gantry_wire_varint (at, left, &position, &tag) || tag >> 3 == 0 || tag >> 3 > G_MAXUINT32)
    return fail (wire, "no field begins here");
  wire->field = (guint32) (tag >> 3);
  wire->kind = tag & 7;
  if (wire->kind == GANTRY_WIRE_FIXED64 || wire->kind == GANTRY_WIRE_FIXED32)
    {
      at += position;
      if (!read_fixed (wire, &at, wire->kind == GANTRY_WIRE_FIXED64 ? 8 : 4))
        return FALSE;
      wire->at = at;
      return TRUE;
    }
  if (wire->kind != GANTRY_WIRE_VARINT && wire->kind != GANTRY_WIRE_LENGTH)
    return fail (wire, "no field is written in this way");
  if (!gantry_wire_varint (at, left, &position, &wire->value))
    return fail (wire, "a number does not end in its message");
  if (wire->kind == GANTRY_WIRE_LENGTH)
    {
      if (wire->value > left - position)
        return fail (wire, "a field is longer than its message");
      wire->span = (GantryWireSpan){ at + position, (gsize) wire->value };
      position += wire->value;
    }
  wire->at = at + position;
  return TRUE;
}

gboolean
gantry_wire_append_ints (const GantryWire *wire, GArray *ints)
{
  guint64 position = 0, value;

  if (wire->kind != GANTRY_WIRE_LENGTH)
    {
      g_array_append_val (ints, wire->value);
      return TRUE;
    }
  while (position < wire->span.length)
    {
      if (!gantry_wire_varint (wire->span.data, wire->span.length, &position, &value))
        return FALSE;
      g_array_append_val (ints, value);
    }
  return TRUE;
}

/* Writing */

static void
put_varint (GByteArray *message, guint64 value)
{
  guint8 bytes[10];
  guint n = 0;

  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (guint8) (value | 0x80);
  bytes[n++] = (guint8) value;
  g_byte_array_append (message, bytes, n);
}

void
gantry_wire_put_int (GByteArray *message, guint32 field, guint64 value)
{
  put_varint (message, (guint64) field << 3 | GANTRY_WIRE_VARINT);
  put_varint (message, value);
}

void
gantry_wire_put_float (GByteArray *message, guint32 field, float value)
{
  guint32 bits;
  guint8 bytes[4];

  memcpy (&bits, &value, sizeof bits);
  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8) (bits >> (8 * i));
  put_varint (message, (guint64) field << 3 | GANTRY_WIRE_FIXED32);
  g_byte_array_append (message, bytes, sizeof bytes);
}

void
gantry_wire_put_bytes (GByteArray *message, guint32 field, gconstpointer data, gsize length)
{
  put_varint (message, (guint64) field << 3 | GANTRY_WIRE_LENGTH);
  put_varint (message, length);
  if (length > 0)
    g_byte_array_append (message, data, (guint) length);
}

void
gantry_wire_put_string (GByteArray *message, guint32 field, const char *text)
{
  gantry_wire_put_bytes (message, field, text, strlen (text));
}

void
gantry_wire_put_message (GByteArray *message, guint32 field, GByteArray *part)
{
  gantry_wire_put_bytes (message, field, part->data, part->len);
  g_byte_array_unref (part);
}
