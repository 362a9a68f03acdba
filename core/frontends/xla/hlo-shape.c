/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of HLO: f32[2,3]{1,0:T(8,128)S(5)}, tuples of shapes. Memory space 5 is the host's. */
#include "core/frontends/xla/hlo-private.h"

#define HOST_SPACE "S(5)"

GantryElementType
gantry_hlo_element (GantryXlaSpan word)
{
  static const struct
  {
    const char *name;
    GantryElementType element;
  } names[] = {
    { "f32", GANTRY_F32 }, { "bf16", GANTRY_BF16 }, { "s32", GANTRY_I32 },           { "pred", GANTRY_BOOL },     { "f16", GANTRY_F16 },
    { "f64", GANTRY_F64 }, { "s8", GANTRY_I8 },     { "s16", GANTRY_I16 },           { "s64", GANTRY_I64 },       { "u8", GANTRY_U8 },
    { "u16", GANTRY_U16 }, { "u32", GANTRY_U32 },   { "u64", GANTRY_U64 },           { "s4", GANTRY_I4 },         { "u4", GANTRY_U4 },
    { "c64", GANTRY_C64 }, { "c128", GANTRY_C128 }, { "f8e4m3fn", GANTRY_F8E4M3FN }, { "f8e5m2", GANTRY_F8E5M2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (gantry_xla_span_is (word, names[i].name))
      return names[i].element;
  return GANTRY_ELEMENT_OTHER;
}

static gboolean
dimensions (Hlo *h, GantryDim *dims, guint *rank)
{
  GantryXlaScan *s = &h->s;

  gantry_xla_scan_expect (s, "[");
  for (*rank = 0; s->error == NULL && !gantry_xla_scan_sees (s, "]"); (*rank)++)
    {
      if (*rank == GANTRY_MAX_RANK)
        {
          gantry_xla_scan_fail (s, GANTRY_ERROR_TOO_LARGE, "a shape has more than %d dimensions", GANTRY_MAX_RANK);
          return FALSE;
        }
      if (gantry_xla_scan_accept (s, "?"))
        dims[*rank] = GANTRY_DIM_UNKNOWN;
      else if (gantry_xla_scan_accept (s, "<="))
        {
          gantry_xla_scan_int (s);
          dims[*rank] = GANTRY_DIM_UNKNOWN;
        }
      else
        dims[*rank] = gantry_xla_scan_int (s);
      if (!gantry_xla_scan_accept (s, ","))
        {
          (*rank)++;
          break;
        }
    }
  return gantry_xla_scan_expect (s, "]");
}

static guint32
array (Hlo *h, GantryXlaSpan word, GantryXlaSpan *layout)
{
  GantryXlaScan *s = &h->s;
  GantryDim dims[GANTRY_MAX_RANK];
  GantryMemoryKind memory = GANTRY_MEMORY_DEVICE;
  guint rank, which;

  if (!dimensions (h, dims, &rank))
    return 0;
  *layout = (GantryXlaSpan){ s->at, 0 };
  /* A layout begins with a number or a colon; else the brace is of what follows. */
  if (gantry_xla_scan_ahead (s, 0) == '{'
      && (g_ascii_isdigit (gantry_xla_scan_ahead (s, 1)) || gantry_xla_scan_ahead (s, 1) == ':' || gantry_xla_scan_ahead (s, 1) == '}'))
    {
      *layout = gantry_xla_scan_bracket (s);
      if (g_strstr_len (layout->at, (gssize) layout->length, HOST_SPACE) != NULL)
        memory = GANTRY_MEMORY_PINNED_HOST;
    }
  if (!gantry_dims_fit (rank, dims, &which))
    {
      gantry_xla_scan_fail (s, GANTRY_ERROR_TOO_LARGE, "dimension %u of a shape is too large", which);
      return 0;
    }
  if (gantry_xla_span_is (word, "token"))
    return gantry_context_token (h->context);
  return gantry_context_tensor_in (h->context, gantry_hlo_element (word), rank, dims, memory);
}

static guint32
tuple (Hlo *h)
{
  GantryXlaScan *s = &h->s;
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryXlaSpan layout;

  while (s->error == NULL && !gantry_xla_scan_sees (s, ")"))
    {
      guint32 member = gantry_hlo_shape (h, &layout);

      g_array_append_val (members, member);
      if (!gantry_xla_scan_accept (s, ","))
        break;
    }
  gantry_xla_scan_expect (s, ")");
  return gantry_context_tuple (h->context, members->len, (const guint32 *) members->data);
}

guint32
gantry_hlo_shape (Hlo *h, GantryXlaSpan *layout)
{
  GantryXlaScan *s = &h->s;
  GantryXlaSpan word;
  guint32 type;

  if (!gantry_xla_scan_enter (s))
    return 0;
  *layout = (GantryXlaSpan){ s->at, 0 };
  if (gantry_xla_scan_accept (s, "("))
    type = tuple (h);
  else
    {
      word = gantry_xla_scan_word (s, FALSE);
      if (gantry_xla_span_is (word, "b") && gantry_xla_scan_accept (s, "("))
        {
          type = gantry_hlo_shape (h, layout); /* a buffer */
          gantry_xla_scan_expect (s, ")");
        }
      else
        type = array (h, word, layout);
    }
  s->depth--;
  return type;
}

/* Tuples are at most as deep as the text nests them. */
guint
gantry_hlo_leaves (Hlo *h, guint32 type)
{
  const GantryType *t = gantry_context_type (h->context, type);
  guint n = 0;

  if (t->kind != GANTRY_TYPE_TUPLE)
    return 1;
  for (guint i = 0; i < t->rank; i++)
    n += gantry_hlo_leaves (h, (guint32) t->dims[i]);
  return n;
}

void
gantry_hlo_leaf_types (Hlo *h, guint32 type, GArray *types)
{
  const GantryType *t = gantry_context_type (h->context, type);

  if (t->kind != GANTRY_TYPE_TUPLE)
    g_array_append_val (types, type);
  for (guint i = 0; t->kind == GANTRY_TYPE_TUPLE && i < t->rank; i++)
    gantry_hlo_leaf_types (h, (guint32) t->dims[i], types);
}

gint64
gantry_hlo_leaf_at (Hlo *h, guint32 type, const HloIndex *index)
{
  gint64 leaf = 0;

  for (guint i = 0; i < index->n; i++)
    {
      const GantryType *t = gantry_context_type (h->context, type);

      if (t->kind != GANTRY_TYPE_TUPLE || index->at[i] < 0 || index->at[i] >= t->rank)
        return -1;
      for (gint64 before = 0; before < index->at[i]; before++)
        leaf += gantry_hlo_leaves (h, (guint32) t->dims[before]);
      type = (guint32) t->dims[index->at[i]];
    }
  return gantry_hlo_leaves (h, type) == 1 ? leaf : -1;
}
