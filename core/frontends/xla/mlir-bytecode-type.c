/* SPDX-License-Identifier: Apache-2.0 */
/* Types in MLIR bytecode, of MLIR itself and of StableHLO's portable form (VHLO), and constants. */
#include "core/frontends/xla/mlir-bytecode-private.h"

typedef enum
{
  OTHER,
  SCALAR,
  INTEGER, /* a width and whether it has a sign */
  COMPLEX,
  TENSOR,
  ENCODED, /* a tensor behind what encodes it */
  TUPLE,
  TOKEN,
} Form;

typedef struct
{
  Form form;
  const char *name; /* of SCALAR */
} Code;

static const Code builtin_codes[] = {
  [0] = { INTEGER, NULL }, [1] = { SCALAR, "index" }, [3] = { SCALAR, "bf16" }, [4] = { SCALAR, "f16" },  [5] = { SCALAR, "f32" },
  [6] = { SCALAR, "f64" }, [9] = { COMPLEX, NULL },   [13] = { TENSOR, NULL },  [14] = { ENCODED, NULL }, [15] = { TUPLE, NULL },
};

static const Code vhlo_codes[] = {
  [0] = { SCALAR, "i1" },   [1] = { COMPLEX, NULL },      [2] = { SCALAR, "bf16" },   [3] = { SCALAR, "f16" },   [4] = { SCALAR, "f32" },
  [5] = { SCALAR, "f64" },  [6] = { SCALAR, "f8E4M3FN" }, [7] = { SCALAR, "f8E5M2" }, [9] = { SCALAR, "index" }, [10] = { SCALAR, "i4" },
  [11] = { SCALAR, "i8" },  [12] = { SCALAR, "i16" },     [13] = { SCALAR, "i32" },   [14] = { SCALAR, "i64" },  [15] = { SCALAR, "ui4" },
  [16] = { SCALAR, "ui8" }, [17] = { SCALAR, "ui16" },    [18] = { SCALAR, "ui32" },  [19] = { SCALAR, "ui64" }, [20] = { TENSOR, NULL },
  [21] = { ENCODED, NULL }, [22] = { TOKEN, NULL },       [23] = { TUPLE, NULL },
};

static Code
code_of (Mlir *m, const MlirEntry *entry, guint64 code)
{
  if (gantry_mlir_entry_is (m, entry, "vhlo") && code < G_N_ELEMENTS (vhlo_codes))
    return vhlo_codes[code];
  if (gantry_mlir_entry_is (m, entry, "builtin") && code < G_N_ELEMENTS (builtin_codes))
    return builtin_codes[code];
  return (Code){ OTHER, NULL };
}

static guint32
scalar (Mlir *m, const char *name)
{
  GantryElementType element = gantry_mlir_element ((GantryXlaSpan){ name, strlen (name) });

  return gantry_context_scalar (m->context, element != GANTRY_ELEMENT_NONE ? element : GANTRY_ELEMENT_OTHER);
}

static guint32
integer (Mlir *m, MlirCursor *c)
{
  guint64 value = gantry_mlir_varint (m, c);
  g_autofree char *name = g_strdup_printf ("%si%" G_GUINT64_FORMAT, (value & 3) == 2 ? "u" : "", value >> 2);

  return scalar (m, name);
}

static GantryElementType
element_of (Mlir *m, guint32 type)
{
  const GantryType *t = gantry_context_type (m->context, type);

  return type != 0 && t->kind == GANTRY_TYPE_TENSOR ? (GantryElementType) t->element : GANTRY_ELEMENT_OTHER;
}

static guint32
tensor (Mlir *m, MlirCursor *c)
{
  const guint8 *at = c->at;
  guint64 rank = gantry_mlir_count (m, c);
  GantryDim dims[GANTRY_MAX_RANK];
  GantryElementType element;
  guint which;

  if (rank > GANTRY_MAX_RANK)
    {
      gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_TOO_LARGE, "a tensor has more than %d dimensions", GANTRY_MAX_RANK);
      return 0;
    }
  for (guint64 i = 0; i < rank; i++)
    {
      dims[i] = gantry_mlir_signed_varint (m, c);
      if (dims[i] < 0)
        dims[i] = GANTRY_DIM_UNKNOWN;
    }
  element = element_of (m, gantry_mlir_bytecode_type (m, at, gantry_mlir_varint (m, c)));
  if (m->s.error != NULL)
    return 0;
  if (!gantry_dims_fit ((guint) rank, dims, &which))
    {
      gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_TOO_LARGE, "dimension %u of a tensor is too large", which);
      return 0;
    }
  return gantry_context_tensor (m->context, element, (guint) rank, dims);
}

static guint32
tuple (Mlir *m, MlirCursor *c)
{
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint64 n = gantry_mlir_count (m, c);

  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      guint32 member = gantry_mlir_bytecode_type (m, c->at, gantry_mlir_varint (m, c));

      g_array_append_val (members, member);
    }
  return gantry_context_tuple (m->context, members->len, (const guint32 *) members->data);
}

/* A type that its dialect does not write as bytes stands as text. */
static guint32
type_in_text (Mlir *m, const MlirEntry *entry)
{
  GantryXlaScan before = m->s;
  gsize length = entry->bytes.length > 0 ? entry->bytes.length - 1 : 0; /* a NUL is its end */
  guint32 type;
  g_autoptr (GError) error = NULL;

  gantry_xla_scan_init (&m->s, before.name, (const char *) entry->bytes.data, length);
  m->s.depth = before.depth;
  type = gantry_mlir_type (m);
  error = g_steal_pointer (&m->s.error);
  m->s = before;
  return error == NULL ? type : 0;
}

static guint32
read_type (Mlir *m, const MlirEntry *entry)
{
  MlirCursor c = gantry_mlir_cursor (entry->bytes);
  guint32 part;
  Code code;

  if (!entry->custom)
    return type_in_text (m, entry);
  code = code_of (m, entry, gantry_mlir_varint (m, &c));
  switch (code.form)
    {
    case SCALAR: return scalar (m, code.name);
    case INTEGER: return integer (m, &c);
    case COMPLEX:
      part = gantry_mlir_bytecode_type (m, c.at, gantry_mlir_varint (m, &c));
      return gantry_context_scalar (m->context, element_of (m, part) == GANTRY_F32 ? GANTRY_C64 : GANTRY_C128);
    case ENCODED: gantry_mlir_varint (m, &c); return tensor (m, &c);
    case TENSOR: return tensor (m, &c);
    case TUPLE: return tuple (m, &c);
    case TOKEN: return gantry_context_token (m->context);
    case OTHER: break;
    }
  return 0;
}

guint32
gantry_mlir_bytecode_type (Mlir *m, const guint8 *at, guint64 index)
{
  MlirEntry *entry = gantry_mlir_entry (m, at, m->bytecode->types, index);

  if (entry == NULL || entry->known)
    return entry != NULL ? entry->type : 0;
  if (entry->busy)
    {
      gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "type %" G_GUINT64_FORMAT " is a part of itself", index);
      return 0;
    }
  if (!gantry_xla_scan_enter (&m->s))
    return 0;
  entry->busy = TRUE;
  entry->type = read_type (m, entry);
  entry->busy = FALSE;
  entry->known = TRUE;
  m->s.depth--;
  return entry->type;
}

/* A function type: arguments and results. */
void
gantry_mlir_bytecode_results (Mlir *m, const guint8 *at, guint64 index, GArray *types)
{
  MlirEntry *entry = gantry_mlir_entry (m, at, m->bytecode->types, index);
  MlirCursor c;
  guint64 code;

  if (entry == NULL)
    return;
  c = gantry_mlir_cursor (entry->bytes);
  code = gantry_mlir_varint (m, &c);
  if (!entry->custom || code != (gantry_mlir_entry_is (m, entry, "vhlo") ? 8 : 2))
    {
      gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "type %" G_GUINT64_FORMAT " is no function's", index);
      return;
    }
  for (guint side = 0; side < 2; side++)
    {
      guint64 n = gantry_mlir_count (m, &c);

      for (guint64 i = 0; i < n && m->s.error == NULL; i++)
        {
          guint64 number = gantry_mlir_varint (m, &c);
          guint32 type = side == 1 ? gantry_mlir_bytecode_type (m, c.at, number) : 0;

          if (side == 1)
            g_array_append_val (types, type);
        }
    }
}

/* Constants: a type, and the bytes of the elements or of one that stands for all. */
guint32
gantry_mlir_bytecode_literal (Mlir *m, guint64 index)
{
  MlirEntry *entry = gantry_mlir_entry (m, (const guint8 *) m->s.at, m->bytecode->attributes, index);
  MlirCursor c;
  guint64 code;
  guint32 type;
  GantryWireSpan blob;

  if (entry == NULL || !entry->custom)
    return 0;
  c = gantry_mlir_cursor (entry->bytes);
  code = gantry_mlir_varint (m, &c);
  if (code != (gantry_mlir_entry_is (m, entry, "vhlo") ? 15 : 18) || m->s.error != NULL)
    return 0;
  type = gantry_mlir_bytecode_type (m, c.at, gantry_mlir_varint (m, &c));
  blob = gantry_mlir_blob (m, &c);
  if (m->s.error != NULL || type == 0)
    return 0;
  m->s.at = (const char *) entry->bytes.data;
  return gantry_xla_literal_bytes (&m->s, m->context, blob.data, blob.length, type);
}
