/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes, layouts and values of constants in a protocol buffer of HLO. */
#include "core/base/allocate.h"
#include "core/frontends/xla/hlo-private.h"

#define TYPE_TUPLE 13
#define TYPE_TOKEN 17
#define TYPE_BUFFER 34
#define HOST_SPACE 5

/* The names that the text has, by number; @values: the field of a literal that holds such values. */
static const struct
{
  guint number;
  const char *name;
  guint values;
} elements[] = {
  { 1, "pred", 2 },   { 2, "s8", 15 },  { 3, "s16", 17 },  { 4, "s32", 4 },        { 5, "s64", 5 },      { 6, "u8", 3 },    { 7, "u16", 16 },
  { 8, "u32", 6 },    { 9, "u64", 7 },  { 10, "f16", 11 }, { 11, "f32", 8 },       { 12, "f64", 9 },     { 15, "c64", 12 }, { 16, "bf16", 13 },
  { 18, "c128", 18 }, { 21, "s4", 21 }, { 22, "u4", 22 },  { 20, "f8e4m3fn", 20 }, { 19, "f8e5m2", 19 },
};

static guint
values_of (guint64 number, const char **name)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (elements[i].number == number)
      {
        *name = elements[i].name;
        return elements[i].values;
      }
  *name = "";
  return 0;
}

/* What a shape's message says. */
typedef struct
{
  guint64 element;
  GArray *dims, *dynamic;
  GantryWireSpan layout;
} Shape;

/* Layouts */

typedef struct
{
  GArray *order; /* minor to major */
  GString *tiles;
  gint64 tail, bits, space, index, pointer;
} Layout;

static void
append_tile (Hlo *h, GantryWireSpan message, GString *text)
{
  g_autoptr (GArray) dims = g_array_new (FALSE, FALSE, sizeof (gint64));
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1)
      gantry_hlo_proto_ints (h, &wire, dims);
  g_string_append_c (text, '(');
  for (guint i = 0; i < dims->len; i++)
    {
      gint64 dim = g_array_index (dims, gint64, i);

      if (dim == G_MININT64) /* takes in what is left */
        g_string_append (text, i > 0 ? ",*" : "*");
      else
        g_string_append_printf (text, i > 0 ? ",%" G_GINT64_FORMAT : "%" G_GINT64_FORMAT, dim);
    }
  g_string_append_c (text, ')');
}

static void
read_layout (Hlo *h, GantryWireSpan message, Layout *layout)
{
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    switch (wire.field)
      {
      case 1: gantry_hlo_proto_ints (h, &wire, layout->order); break;
      case 6:
        if (wire.kind == GANTRY_WIRE_LENGTH)
          append_tile (h, wire.span, layout->tiles);
        break;
      case 7: layout->bits = (gint64) wire.value; break;
      case 8: layout->space = (gint64) wire.value; break;
      case 11: layout->index = (gint64) wire.value; break;
      case 12: layout->pointer = (gint64) wire.value; break;
      case 16: layout->tail = (gint64) wire.value; break;
      default: break;
      }
}

static void
append_kind (GString *text, char mark, gint64 number)
{
  const char *name;

  if (number > 0 && values_of ((guint64) number, &name) != 0)
    g_string_append_printf (text, "%c(%s)", mark, name);
}

/* "1,0:T(8,128)S(5)" */
static GantryXlaSpan
layout_text (Hlo *h, const Layout *layout)
{
  g_autoptr (GString) text = g_string_new (NULL), more = g_string_new (NULL);
  const char *kept;

  for (guint i = 0; i < layout->order->len; i++)
    g_string_append_printf (text, i > 0 ? ",%" G_GINT64_FORMAT : "%" G_GINT64_FORMAT, g_array_index (layout->order, gint64, i));
  if (layout->tiles->len > 0)
    g_string_append_printf (more, "T%s", layout->tiles->str);
  if (layout->tail > 1)
    g_string_append_printf (more, "L(%" G_GINT64_FORMAT ")", layout->tail);
  append_kind (more, '#', layout->index);
  append_kind (more, '*', layout->pointer);
  if (layout->bits > 0)
    g_string_append_printf (more, "E(%" G_GINT64_FORMAT ")", layout->bits);
  if (layout->space > 0)
    g_string_append_printf (more, "S(%" G_GINT64_FORMAT ")", layout->space);
  if (more->len > 0)
    g_string_append_printf (text, ":%s", more->str);
  kept = gantry_context_string (h->context, gantry_context_intern (h->context, text->str));
  return (GantryXlaSpan){ kept, strlen (kept) };
}

/* Shapes */

static guint32
array (Hlo *h, const guint8 *at, const Shape *shape, GantryXlaSpan *layout)
{
  GantryDim dims[GANTRY_MAX_RANK];
  Layout l = { .order = g_array_new (FALSE, FALSE, sizeof (gint64)), .tiles = g_string_new (NULL) };
  const char *name;
  guint rank = shape->dims->len, which;
  GantryMemoryKind memory;

  read_layout (h, shape->layout, &l);
  memory = l.space == HOST_SPACE ? GANTRY_MEMORY_PINNED_HOST : GANTRY_MEMORY_DEVICE;
  *layout = layout_text (h, &l);
  g_array_unref (l.order);
  g_string_free (l.tiles, TRUE);
  if (shape->element == TYPE_TOKEN)
    return gantry_context_token (h->context);
  if (rank > GANTRY_MAX_RANK)
    {
      gantry_hlo_proto_fail (h, at, GANTRY_ERROR_TOO_LARGE, "a shape has more than %d dimensions", GANTRY_MAX_RANK);
      return 0;
    }
  for (guint i = 0; i < rank; i++)
    {
      dims[i] = g_array_index (shape->dims, gint64, i);
      if (dims[i] < 0 || (i < shape->dynamic->len && g_array_index (shape->dynamic, gint64, i) != 0))
        dims[i] = GANTRY_DIM_UNKNOWN;
    }
  if (!gantry_dims_fit (rank, dims, &which))
    {
      gantry_hlo_proto_fail (h, at, GANTRY_ERROR_TOO_LARGE, "dimension %u of a shape is too large", which);
      return 0;
    }
  values_of (shape->element, &name);
  return gantry_context_tensor_in (h->context, gantry_hlo_element ((GantryXlaSpan){ name, strlen (name) }), rank, dims, memory);
}

/* A field of a shape but for those that are members of a tuple. Returns: FALSE where it is none */
static gboolean
read_field (Hlo *h, const GantryWire *wire, Shape *shape)
{
  if (wire->field == 2)
    shape->element = wire->value;
  else if (wire->field == 3)
    gantry_hlo_proto_ints (h, wire, shape->dims);
  else if (wire->field == 6)
    gantry_hlo_proto_ints (h, wire, shape->dynamic);
  else if (wire->field == 5 && wire->kind == GANTRY_WIRE_LENGTH)
    shape->layout = wire->span;
  else
    return FALSE;
  return TRUE;
}

static guint32
shape_inside (Hlo *h, GantryWireSpan message, GantryXlaSpan *layout)
{
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) dims = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) dynamic = g_array_new (FALSE, FALSE, sizeof (gint64));
  Shape shape = { .dims = dims, .dynamic = dynamic };
  GantryXlaSpan inner = { "", 0 };
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (!read_field (h, &wire, &shape) && wire.field == 4 && wire.kind == GANTRY_WIRE_LENGTH)
      {
        guint32 member = gantry_hlo_proto_shape (h, wire.span, &inner);

        g_array_append_val (members, member);
      }
  if (h->s.error != NULL)
    return 0;
  if (shape.element == TYPE_TUPLE)
    return gantry_context_tuple (h->context, members->len, (const guint32 *) members->data);
  if (shape.element == TYPE_BUFFER && members->len == 1)
    {
      *layout = inner;
      return g_array_index (members, guint32, 0);
    }
  return array (h, message.data, &shape, layout);
}

guint32
gantry_hlo_proto_shape (Hlo *h, GantryWireSpan message, GantryXlaSpan *layout)
{
  guint32 type;

  *layout = (GantryXlaSpan){ "", 0 };
  if (message.data == NULL)
    return 0;
  if (h->s.error == NULL)
    h->s.at = (const char *) message.data;
  if (!gantry_xla_scan_enter (&h->s))
    return 0;
  type = shape_inside (h, message, layout);
  h->s.depth--;
  return type;
}

static void
append_array (Hlo *h, const Shape *shape, GString *text)
{
  Layout l = { .order = g_array_new (FALSE, FALSE, sizeof (gint64)), .tiles = g_string_new (NULL) };
  GantryXlaSpan layout;
  const char *name;

  read_layout (h, shape->layout, &l);
  layout = layout_text (h, &l);
  g_array_unref (l.order);
  g_string_free (l.tiles, TRUE);
  values_of (shape->element, &name);
  g_string_append_printf (text, "%s[", shape->element == TYPE_TOKEN ? "token" : *name != 0 ? name : "opaque");
  for (guint i = 0; i < shape->dims->len; i++)
    {
      gboolean dynamic = i < shape->dynamic->len && g_array_index (shape->dynamic, gint64, i) != 0;

      g_string_append_printf (text, "%s%s%" G_GINT64_FORMAT, i > 0 ? "," : "", dynamic ? "<=" : "", g_array_index (shape->dims, gint64, i));
    }
  g_string_append_c (text, ']');
  if (layout.length > 0)
    g_string_append_printf (text, "{%s}", layout.at);
}

void
gantry_hlo_proto_shape_text (Hlo *h, GantryWireSpan message, GString *text)
{
  g_autoptr (GArray) dims = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) dynamic = g_array_new (FALSE, FALSE, sizeof (gint64));
  Shape shape = { .dims = dims, .dynamic = dynamic };
  gsize before = text->len;
  guint n = 0;
  GantryWire wire;

  if (!gantry_xla_scan_enter (&h->s))
    return;
  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (!read_field (h, &wire, &shape) && wire.field == 4 && wire.kind == GANTRY_WIRE_LENGTH)
      {
        g_string_append (text, n++ > 0 ? ", " : "(");
        gantry_hlo_proto_shape_text (h, wire.span, text);
      }
  if (shape.element == TYPE_TUPLE)
    g_string_append (text, text->len == before ? "()" : ")");
  else
    append_array (h, &shape, text);
  h->s.depth--;
}

/* Literals: in the order of their layout, in little-endian bytes or as numbers. */

static gboolean
holds_numbers (guint values)
{
  return values == 2 || (values >= 4 && values <= 7);
}

/* Where element @index of the row-major order lies in that of @order, minor to major. */
static void
to_row_major (const GantryType *type, const GArray *order, gsize size, const guint8 *from, guint8 *to)
{
  gint64 strides[GANTRY_MAX_RANK] = { 0 }, index[GANTRY_MAX_RANK] = { 0 }, stride = 1, at = 0;
  gint64 n = gantry_type_elements (type);

  for (guint i = 0; i < type->rank; i++)
    {
      gint64 dim = g_array_index (order, gint64, i);

      strides[dim] = stride;
      stride *= type->dims[dim];
    }
  for (gint64 i = 0; i < n; i++)
    {
      memcpy (to + (gsize) i * size, from + (gsize) at * size, size);
      for (guint d = type->rank; d-- > 0;)
        {
          at += strides[d];
          if (++index[d] < type->dims[d])
            break;
          at -= strides[d] * type->dims[d];
          index[d] = 0;
        }
    }
}

/* Whether @order has each dimension once. */
static gboolean
is_order (const GArray *order, guint rank)
{
  guint64 seen = 0;

  for (guint i = 0; i < order->len; i++)
    {
      gint64 dim = g_array_index (order, gint64, i);

      if (dim < 0 || dim >= rank || (seen >> dim & 1) != 0)
        return FALSE;
      seen |= G_GUINT64_CONSTANT (1) << dim;
    }
  return order->len == rank;
}

static gboolean
is_row_major (const GArray *order)
{
  for (guint i = 0; i < order->len; i++)
    if (g_array_index (order, gint64, i) != order->len - 1 - i)
      return FALSE;
  return TRUE;
}

/* The bytes of @type's elements. Returns: (transfer full) (nullable): NULL after a failure */
static guint8 *
read_values (Hlo *h, GantryWireSpan message, guint field, const GantryType *type)
{
  gsize size = gantry_element_size ((GantryElementType) type->element), have = 0;
  gsize need = (gsize) gantry_type_bytes (type);
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gint64));
  guint8 *data = NULL;
  GantryWire wire;

  if (need / 10 > message.length)
    {
      gantry_hlo_proto_fail (h, message.data, GANTRY_ERROR_INVALID, "a constant has fewer values than its shape");
      return NULL;
    }
  data = gantry_try_allocate (MAX (need, 1), 1, "the values of a constant", h->s.error == NULL ? &h->s.error : NULL);
  if (data == NULL)
    {
      h->s.at = h->s.end;
      return NULL;
    }
  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    {
      GantryWireSpan from = wire.span;

      if (wire.field != field)
        continue;
      g_array_set_size (numbers, 0);
      if (holds_numbers (field))
        gantry_hlo_proto_ints (h, &wire, numbers);
      else if (wire.kind != GANTRY_WIRE_LENGTH)
        from = (GantryWireSpan){ (const guint8 *) &wire.value, size };
      if (holds_numbers (field))
        for (guint i = 0; i < numbers->len && have + size <= need; i++, have += size)
          {
            gint64 number = g_array_index (numbers, gint64, i);

            number = type->element == GANTRY_BOOL ? number != 0 : number;
            memcpy (data + have, &number, size); /* little endian */
          }
      else if (from.length <= need - have)
        {
          memcpy (data + have, from.data, from.length);
          have += from.length;
        }
    }
  if (have == need && h->s.error == NULL)
    return data;
  gantry_hlo_proto_fail (h, message.data, GANTRY_ERROR_INVALID, "a constant has %" G_GSIZE_FORMAT " bytes of values, and its shape %" G_GSIZE_FORMAT, have,
                         need);
  g_free (data);
  return NULL;
}

static void
order_of (Hlo *h, GantryWireSpan literal, GArray *order)
{
  GantryWire wire, shape, layout;

  gantry_wire_init (&wire, literal);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 1 && wire.kind == GANTRY_WIRE_LENGTH)
      for (gantry_wire_init (&shape, wire.span); gantry_hlo_proto_next (h, &shape);)
        if (shape.field == 5 && shape.kind == GANTRY_WIRE_LENGTH)
          for (gantry_wire_init (&layout, shape.span); gantry_hlo_proto_next (h, &layout);)
            if (layout.field == 1)
              gantry_hlo_proto_ints (h, &layout, order);
}

static GantryWireSpan
find_literal (Hlo *h, GantryWireSpan message)
{
  GantryWireSpan literal = { 0 };
  GantryWire wire;

  gantry_wire_init (&wire, message);
  while (gantry_hlo_proto_next (h, &wire))
    if (wire.field == 8 && wire.kind == GANTRY_WIRE_LENGTH)
      literal = wire.span;
  return literal;
}

static guint
field_of (GantryElementType element)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (gantry_hlo_element ((GantryXlaSpan){ elements[i].name, strlen (elements[i].name) }) == element)
      return elements[i].values;
  return 0;
}

guint32
gantry_hlo_proto_literal (Hlo *h, GantryWireSpan message, guint32 type)
{
  const GantryType *t = gantry_context_type (h->context, type);
  GantryWireSpan literal = find_literal (h, message);
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GantryLiteral) made = NULL;
  g_autoptr (GBytes) bytes = NULL;
  guint8 *data;
  gsize size = (gsize) MAX (gantry_type_bytes (t), 0);

  if (h->s.error != NULL || literal.data == NULL || t->kind != GANTRY_TYPE_TENSOR || !gantry_type_is_static (t)
      || !gantry_element_is_compiled ((GantryElementType) t->element))
    return 0;
  data = read_values (h, literal, field_of ((GantryElementType) t->element), t);
  if (data == NULL)
    return 0;
  bytes = g_bytes_new_take (data, size);
  order_of (h, literal, order);
  if (h->s.error == NULL && t->rank > 1 && is_order (order, t->rank) && !is_row_major (order))
    {
      guint8 *turned = gantry_try_allocate (size, 1, "the values of a constant", &h->s.error);

      if (turned != NULL)
        to_row_major (t, order, gantry_element_size ((GantryElementType) t->element), data, turned);
      g_bytes_unref (bytes);
      bytes = g_bytes_new_take (turned, turned != NULL ? size : 0);
    }
  if (h->s.error == NULL)
    made = gantry_literal_new (t, bytes, FALSE, &h->s.error);
  if (h->s.error != NULL)
    h->s.at = h->s.end;
  return made != NULL ? gantry_context_add_literal (h->context, made) : 0;
}
