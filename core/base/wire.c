/* SPDX-License-Identifier: Apache-2.0 */
/* Walking over the fields of a message. */
#include "core/base/wire.h"

void
gantry_wire_init (GantryWire *wire, GantryWireSpan message)
{
  *wire = (GantryWire){ .at = message.data,
                        .end = message.length > 0 ? message.data + message.length : message.data };
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
