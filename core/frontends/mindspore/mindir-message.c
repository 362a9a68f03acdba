/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of mind_ir.proto, field by field: nothing is unpacked as a whole, and bytes of tensors stay where they are. */
#include "core/frontends/mindspore/mindir-private.h"
#include <string.h>

/* Errors */

void
gantry_mind_fail (MindImport *import, GantryError code, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  if (import->error != NULL)
    return;
  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (&import->error, GANTRY_ERROR, code, what);
}

gboolean
gantry_mind_next (MindImport *import, GantryWire *wire)
{
  if (import->error != NULL)
    return FALSE;
  if (gantry_wire_next (wire))
    return TRUE;
  if (wire->problem != NULL)
    gantry_mind_fail (import, wire->end == import->begin + g_bytes_get_size (import->bytes) ? GANTRY_ERROR_TRUNCATED : GANTRY_ERROR_INVALID,
                      "byte %" G_GSIZE_FORMAT ": %s; the file is damaged or cut short, or is no MindIR", (gsize) (wire->at - import->begin), wire->problem);
  return FALSE;
}

/* Names and texts */

guint32
gantry_mind_intern (MindImport *import, GantryWireSpan span)
{
  return gantry_interner_add (import->names, span.length > 0 ? (const void *) span.data : "", span.length);
}

const char *
gantry_mind_text (MindImport *import, GantryWireSpan span)
{
  g_autofree char *text = g_strndup (span.length > 0 ? (const char *) span.data : "", span.length);
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  return gantry_arena_strdup (import->arena, valid);
}

gboolean
gantry_mind_span_is (GantryWireSpan span, const char *text)
{
  return span.length == strlen (text) && (span.length == 0 || memcmp (span.data, text, span.length) == 0);
}

/* Numbers, one or packed */

static double
real_of (guint64 bits, gsize size)
{
  guint32 narrow = (guint32) bits;
  float f;
  double d;

  memcpy (&f, &narrow, sizeof f);
  memcpy (&d, &bits, sizeof d);
  return size == sizeof f ? (double) f : d;
}

static void
append_reals (MindImport *import, const GantryWire *wire, gsize size, GArray *reals)
{
  if (wire->kind != GANTRY_WIRE_LENGTH)
    {
      double one = real_of (wire->value, size);

      g_array_append_val (reals, one);
      return;
    }
  if (wire->span.length % size != 0)
    gantry_mind_fail (import, GANTRY_ERROR_INVALID, "byte %" G_GSIZE_FORMAT ": a list of numbers ends in the middle of one",
                      (gsize) (wire->span.data - import->begin));
  for (gsize i = 0; i + size <= wire->span.length; i += size)
    {
      guint64 bits = 0;
      double one;

      memcpy (&bits, wire->span.data + i, size);
      one = real_of (bits, size);
      g_array_append_val (reals, one);
    }
}

static void
append_ints (MindImport *import, const GantryWire *wire, GArray *ints)
{
  if (!gantry_wire_append_ints (wire, ints))
    gantry_mind_fail (import, GANTRY_ERROR_INVALID, "byte %" G_GSIZE_FORMAT ": a list of numbers ends in the middle of one",
                      (gsize) (wire->span.data - import->begin));
}

/* AttributeProto */

enum
{
  ATTR_NAME = 1,
  ATTR_F = 2,
  ATTR_I = 3,
  ATTR_D = 4,
  ATTR_S = 5,
  ATTR_T = 6,
  ATTR_FLOATS = 8,
  ATTR_DOUBLES = 9,
  ATTR_INTS = 10,
  ATTR_STRINGS = 11,
  ATTR_TENSORS = 12,
  ATTR_FORM = 15,
  ATTR_TYPE = 16,
  ATTR_VALUES = 17,
};

/** The lists of an attribute while they are read. */
typedef struct
{
  GArray *ints, *floats, *strings, *tensors, *values;
} Lists;

static void
read_attr_field (MindImport *import, const GantryWire *wire, guint depth, MindAttr *attr, Lists *lists)
{
  MindAttr member;

  switch (wire->field)
    {
    case ATTR_F: attr->f = real_of (wire->value, sizeof (float)); break;
    case ATTR_I: attr->i = (gint64) wire->value; break;
    case ATTR_D: attr->f = real_of (wire->value, sizeof (double)); break;
    case ATTR_TYPE: attr->type = wire->value; break;
    case ATTR_FLOATS: append_reals (import, wire, sizeof (float), lists->floats); break;
    case ATTR_DOUBLES: append_reals (import, wire, sizeof (double), lists->floats); break;
    case ATTR_INTS: append_ints (import, wire, lists->ints); break;
    default: break;
    }
  if (wire->kind != GANTRY_WIRE_LENGTH)
    return;
  switch (wire->field)
    {
    case ATTR_NAME: attr->name = wire->span; break;
    case ATTR_S: attr->string = wire->span; break;
    case ATTR_FORM: attr->form = wire->span; break;
    case ATTR_STRINGS: g_array_append_val (lists->strings, wire->span); break;
    case ATTR_T:
    case ATTR_TENSORS: g_array_append_val (lists->tensors, wire->span); break;
    case ATTR_VALUES:
      gantry_mind_read_attr (import, wire->span, depth + 1, &member);
      g_array_append_val (lists->values, member);
      break;
    default: break;
    }
}

/* Moves a list to the arena. Returns: how many */
static guint
keep (MindImport *import, GArray *list, gconstpointer place)
{
  guint n = list->len;

  *(gpointer *) place = n > 0 ? gantry_arena_copy (import->arena, list->data, (gsize) n * g_array_get_element_size (list)) : NULL;
  g_array_unref (list);
  return n;
}

void
gantry_mind_read_attr (MindImport *import, GantryWireSpan message, guint depth, MindAttr *attr)
{
  Lists lists;
  GantryWire wire;

  *attr = (MindAttr){ 0 };
  if (depth > MIND_MOST_NESTING)
    {
      gantry_mind_fail (import, GANTRY_ERROR_TOO_LARGE, "byte %" G_GSIZE_FORMAT ": values are nested more than %u deep", (gsize) (message.data - import->begin),
                        MIND_MOST_NESTING);
      return;
    }
  lists = (Lists){ g_array_new (FALSE, FALSE, sizeof (gint64)), g_array_new (FALSE, FALSE, sizeof (double)),
                   g_array_new (FALSE, FALSE, sizeof (GantryWireSpan)), g_array_new (FALSE, FALSE, sizeof (GantryWireSpan)),
                   g_array_new (FALSE, FALSE, sizeof (MindAttr)) };
  gantry_wire_init (&wire, message);
  while (gantry_mind_next (import, &wire))
    read_attr_field (import, &wire, depth, attr, &lists);
  attr->n_ints = keep (import, lists.ints, &attr->ints);
  attr->n_floats = keep (import, lists.floats, &attr->floats);
  attr->n_strings = keep (import, lists.strings, &attr->strings);
  attr->n_tensors = keep (import, lists.tensors, &attr->tensors);
  attr->n_values = keep (import, lists.values, &attr->values);
}

/* TensorProto */

enum
{
  TENSOR_DIMS = 1,
  TENSOR_TYPE = 2,
  TENSOR_NAME = 7,
  TENSOR_DATA = 9,
  TENSOR_EXTERNAL = 12,
  TENSOR_REFERENCE = 13,
  TENSOR_COMPRESSION = 16,
  EXTERNAL_LOCATION = 1,
  EXTERNAL_OFFSET = 2,
  EXTERNAL_LENGTH = 3,
};

static void
read_external (MindImport *import, GantryWireSpan message, MindTensor *tensor)
{
  GantryWire wire;

  tensor->has_external = TRUE;
  gantry_wire_init (&wire, message);
  while (gantry_mind_next (import, &wire))
    if (wire.field == EXTERNAL_LOCATION && wire.kind == GANTRY_WIRE_LENGTH)
      tensor->location = wire.span;
    else if (wire.field == EXTERNAL_OFFSET)
      tensor->offset = (gint64) wire.value;
    else if (wire.field == EXTERNAL_LENGTH)
      tensor->length = (gint64) wire.value;
}

static void
read_dims (MindImport *import, const GantryWire *wire, MindTensor *tensor)
{
  g_autoptr (GArray) dims = g_array_new (FALSE, FALSE, sizeof (gint64));

  append_ints (import, wire, dims);
  if (dims->len > GANTRY_MAX_RANK - tensor->rank)
    gantry_mind_fail (import, GANTRY_ERROR_TOO_LARGE, "tensor '%s' has more than %d dimensions", gantry_mind_text (import, tensor->name), GANTRY_MAX_RANK);
  for (guint i = 0; i < dims->len && import->error == NULL; i++)
    tensor->dims[tensor->rank++] = g_array_index (dims, gint64, i);
}

void
gantry_mind_read_tensor (MindImport *import, GantryWireSpan message, MindTensor *tensor)
{
  GantryWire wire;

  *tensor = (MindTensor){ 0 };
  gantry_wire_init (&wire, message);
  while (gantry_mind_next (import, &wire))
    if (wire.field == TENSOR_DIMS)
      read_dims (import, &wire, tensor);
    else if (wire.field == TENSOR_TYPE)
      tensor->data_type = wire.value;
    else if (wire.field == TENSOR_COMPRESSION)
      tensor->compression = wire.value;
    else if (wire.kind != GANTRY_WIRE_LENGTH)
      continue;
    else if (wire.field == TENSOR_NAME)
      tensor->name = wire.span;
    else if (wire.field == TENSOR_DATA)
      tensor->data = wire.span;
    else if (wire.field == TENSOR_REFERENCE)
      tensor->reference = wire.span;
    else if (wire.field == TENSOR_EXTERNAL)
      read_external (import, wire.span, tensor);
}
