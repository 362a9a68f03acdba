/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of protocol buffers: a message is a row of fields, each a number that says which and how it is
 * written, and a value. When it is read nothing is copied, and no field is believed to fit before it was looked at. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

enum
{
  GANTRY_WIRE_VARINT = 0,
  GANTRY_WIRE_FIXED64 = 1,
  GANTRY_WIRE_LENGTH = 2,
  GANTRY_WIRE_FIXED32 = 5,
};

/** A piece of a message: a string, bytes, a message or packed numbers. */
typedef struct
{
  const guint8 *data;
  gsize length;
} GantryWireSpan;

/**
 * GantryWire: a walk over the fields of one message.
 *
 * @at: behind the field that was read; after a failure where that field begins
 * @field: its number
 * @kind: how it is written, of the GANTRY_WIRE_ ones
 * @value: of a number; the bits of a fixed one
 * @span: of what has a length
 * @problem: (nullable): why the walk ended before the message did
 */
typedef struct
{
  const guint8 *at, *end;
  guint32 field;
  guint kind;
  guint64 value;
  GantryWireSpan span;
  const char *problem;
} GantryWire;

/** Begins a walk before the first field of @message, whose bytes have to outlive the walk; an empty message may have no data. */
void gantry_wire_init (GantryWire *wire, GantryWireSpan message);
/** Reads the next field. Returns: FALSE at the end, and where @problem says why none is there */
gboolean gantry_wire_next (GantryWire *wire);

/**
 * gantry_wire_varint:
 * @position: (inout): moved behind the number
 *
 * Returns: FALSE when no number of at most ten bytes ends before @end
 */
gboolean gantry_wire_varint (const guint8 *data, guint64 end, guint64 *position, guint64 *value);

/** Appends the numbers of the field just read, one or packed, to an array of gint64. Returns: FALSE where it holds
 * something else */
gboolean gantry_wire_append_ints (const GantryWire *wire, GArray *ints);

/* Writing: each appends a field to @message. */
/** As a varint: negative numbers are their 64 bits. */
void gantry_wire_put_int (GByteArray *message, guint32 field, guint64 value);
/** As a fixed number of 32 bits, little endian. */
void gantry_wire_put_float (GByteArray *message, guint32 field, float value);
/** @length: bytes, fewer than 2^32, which are copied; @data may be %NULL where it is 0. */
void gantry_wire_put_bytes (GByteArray *message, guint32 field, gconstpointer data, gsize length);
/** The bytes of @text without its NUL. */
void gantry_wire_put_string (GByteArray *message, guint32 field, const char *text);
/** @part: (transfer full): a message that becomes a field of @message */
void gantry_wire_put_message (GByteArray *message, guint32 field, GByteArray *part);

G_END_DECLS
