/* SPDX-License-Identifier: Apache-2.0 */
/* Types of MLIR: tensor<2x?xf32>, tuple<...>, tokens, scalars. One that Gantry has no form for is the unknown type. */
#include "core/frontends/xla/mlir-private.h"

GantryElementType
gantry_mlir_element (GantryXlaSpan word)
{
  static const struct
  {
    const char *name;
    GantryElementType element;
  } names[] = {
    { "i1", GANTRY_BOOL },           { "i8", GANTRY_I8 },         { "si8", GANTRY_I8 },   { "ui8", GANTRY_U8 },    { "i16", GANTRY_I16 },
    { "si16", GANTRY_I16 },          { "ui16", GANTRY_U16 },      { "i32", GANTRY_I32 },  { "si32", GANTRY_I32 },  { "ui32", GANTRY_U32 },
    { "i64", GANTRY_I64 },           { "si64", GANTRY_I64 },      { "ui64", GANTRY_U64 }, { "index", GANTRY_I64 }, { "f16", GANTRY_F16 },
    { "bf16", GANTRY_BF16 },         { "f32", GANTRY_F32 },       { "f64", GANTRY_F64 },  { "i4", GANTRY_I4 },     { "ui4", GANTRY_U4 },
    { "f8E4M3FN", GANTRY_F8E4M3FN }, { "f8E5M2", GANTRY_F8E5M2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (gantry_xla_span_is (word, names[i].name))
      return names[i].element;
  return word.length > 1 && strchr ("fisu", word.at[0]) != NULL && g_ascii_isdigit (word.at[word.length - 1]) ? GANTRY_ELEMENT_OTHER : GANTRY_ELEMENT_NONE;
}

/* complex<f32>, !quant.uniform<...>, f32. */
static GantryElementType
element (Mlir *m)
{
  GantryXlaSpan word;

  if (gantry_xla_scan_accept (&m->s, "complex"))
    {
      GantryXlaSpan part = gantry_xla_scan_bracket (&m->s);

      return gantry_xla_span_is (part, "f32") ? GANTRY_C64 : GANTRY_C128;
    }
  if (gantry_xla_scan_accept (&m->s, "!"))
    {
      gantry_xla_scan_suffix (&m->s);
      if (gantry_xla_scan_ahead (&m->s, 0) == '<')
        gantry_xla_scan_bracket (&m->s);
      return GANTRY_ELEMENT_OTHER;
    }
  word = gantry_xla_scan_word (&m->s, FALSE);
  return gantry_mlir_element (word);
}

/* "2x?x" before the element; every x is a separator, as no element begins with one. */
static gboolean
dimensions (Mlir *m, GantryDim *dims, guint *rank)
{
  GantryXlaScan *s = &m->s;

  for (*rank = 0; g_ascii_isdigit (gantry_xla_scan_peek (s)) || gantry_xla_scan_ahead (s, 0) == '?'; (*rank)++)
    {
      if (*rank == GANTRY_MAX_RANK)
        {
          gantry_xla_scan_fail (s, GANTRY_ERROR_TOO_LARGE, "a tensor has more than %d dimensions", GANTRY_MAX_RANK);
          return FALSE;
        }
      dims[*rank] = gantry_xla_scan_accept (s, "?") ? GANTRY_DIM_UNKNOWN : gantry_xla_scan_int (s);
      if (gantry_xla_scan_ahead (s, 0) != 'x')
        {
          gantry_xla_scan_fail (s, GANTRY_ERROR_INVALID, "'x' is expected behind a dimension");
          return FALSE;
        }
      s->at++;
    }
  return s->error == NULL;
}

static guint32
tensor (Mlir *m)
{
  GantryDim dims[GANTRY_MAX_RANK];
  GantryElementType of;
  guint rank, which;

  if (!gantry_xla_scan_expect (&m->s, "<"))
    return 0;
  if (gantry_xla_scan_sees (&m->s, "*"))
    {
      gantry_xla_scan_value (&m->s, FALSE);
      gantry_xla_scan_expect (&m->s, ">");
      return 0;
    }
  if (!dimensions (m, dims, &rank))
    return 0;
  of = element (m);
  if (gantry_xla_scan_accept (&m->s, ","))
    gantry_xla_scan_value (&m->s, FALSE); /* an encoding: bounds, sparsity */
  while (gantry_xla_scan_accept (&m->s, ","))
    gantry_xla_scan_value (&m->s, FALSE);
  if (!gantry_xla_scan_expect (&m->s, ">"))
    return 0;
  if (!gantry_dims_fit (rank, dims, &which))
    {
      gantry_xla_scan_fail (&m->s, GANTRY_ERROR_TOO_LARGE, "dimension %u of a tensor is too large", which);
      return 0;
    }
  return gantry_context_tensor (m->context, of != GANTRY_ELEMENT_NONE ? of : GANTRY_ELEMENT_OTHER, rank, dims);
}

static guint32
tuple (Mlir *m)
{
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint32));

  gantry_xla_scan_expect (&m->s, "<");
  while (m->s.error == NULL && !gantry_xla_scan_sees (&m->s, ">"))
    {
      guint32 member = gantry_mlir_type (m);

      g_array_append_val (members, member);
      if (!gantry_xla_scan_accept (&m->s, ","))
        break;
    }
  gantry_xla_scan_expect (&m->s, ">");
  return gantry_context_tuple (m->context, members->len, (const guint32 *) members->data);
}

static guint32
type_inside (Mlir *m)
{
  GantryXlaScan *s = &m->s;
  GantryXlaSpan word;
  GantryElementType of;

  if (gantry_xla_scan_accept (s, "!"))
    {
      word = gantry_xla_scan_suffix (s);
      if (gantry_xla_scan_ahead (s, 0) == '<')
        gantry_xla_scan_bracket (s);
      return gantry_xla_span_is (word, "stablehlo.token") || gantry_xla_span_is (word, "mhlo.token") ? gantry_context_token (m->context) : 0;
    }
  word = gantry_xla_scan_word (s, FALSE);
  if (gantry_xla_span_is (word, "tensor"))
    return tensor (m);
  if (gantry_xla_span_is (word, "tuple"))
    return tuple (m);
  if (word.length == 0)
    {
      gantry_xla_scan_fail (s, s->at < s->end ? GANTRY_ERROR_INVALID : GANTRY_ERROR_TRUNCATED, "a type is expected");
      return 0;
    }
  if (gantry_xla_scan_ahead (s, 0) == '<')
    {
      gantry_xla_scan_bracket (s);
      return 0;
    }
  of = gantry_mlir_element (word);
  return of != GANTRY_ELEMENT_NONE ? gantry_context_scalar (m->context, of) : 0;
}

guint32
gantry_mlir_type (Mlir *m)
{
  guint32 type;

  if (!gantry_xla_scan_enter (&m->s))
    return 0;
  type = type_inside (m);
  m->s.depth--;
  return type;
}

void
gantry_mlir_types (Mlir *m, GArray *types)
{
  GantryXlaScan *s = &m->s;
  guint32 type;

  if (!gantry_xla_scan_accept (s, "("))
    {
      type = gantry_mlir_type (m);
      g_array_append_val (types, type);
      return;
    }
  while (s->error == NULL && !gantry_xla_scan_sees (s, ")"))
    {
      type = gantry_mlir_type (m);
      g_array_append_val (types, type);
      if (!gantry_xla_scan_accept (s, ","))
        break;
    }
  gantry_xla_scan_expect (s, ")");
}
