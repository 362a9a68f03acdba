/* SPDX-License-Identifier: Apache-2.0 */
/* Element types and what can be said of a type without its context. */
#include "core/graph/type.h"
#include <string.h>

typedef struct
{
  const char *name;
  guint8 size; /* bytes; 0: not compiled */
  gboolean is_float, is_integer, is_signed;
} ElementInfo;

static const ElementInfo elements[GANTRY_N_ELEMENT_TYPES] = {
  [GANTRY_ELEMENT_NONE] = { "none", 0, FALSE, FALSE, FALSE },
  [GANTRY_BOOL] = { "bool", 1, FALSE, FALSE, FALSE },
  [GANTRY_I8] = { "i8", 1, FALSE, TRUE, TRUE },
  [GANTRY_I16] = { "i16", 2, FALSE, TRUE, TRUE },
  [GANTRY_I32] = { "i32", 4, FALSE, TRUE, TRUE },
  [GANTRY_I64] = { "i64", 8, FALSE, TRUE, TRUE },
  [GANTRY_U8] = { "u8", 1, FALSE, TRUE, FALSE },
  [GANTRY_U16] = { "u16", 2, FALSE, TRUE, FALSE },
  [GANTRY_U32] = { "u32", 4, FALSE, TRUE, FALSE },
  [GANTRY_U64] = { "u64", 8, FALSE, TRUE, FALSE },
  [GANTRY_F16] = { "f16", 2, TRUE, FALSE, TRUE },
  [GANTRY_BF16] = { "bf16", 2, TRUE, FALSE, TRUE },
  [GANTRY_F32] = { "f32", 4, TRUE, FALSE, TRUE },
  [GANTRY_F64] = { "f64", 8, TRUE, FALSE, TRUE },
  [GANTRY_I4] = { "i4", 0, FALSE, TRUE, TRUE },
  [GANTRY_U4] = { "u4", 0, FALSE, TRUE, FALSE },
  [GANTRY_F8E4M3FN] = { "f8e4m3fn", 0, TRUE, FALSE, TRUE },
  [GANTRY_F8E5M2] = { "f8e5m2", 0, TRUE, FALSE, TRUE },
  [GANTRY_C64] = { "c64", 0, FALSE, FALSE, TRUE },
  [GANTRY_C128] = { "c128", 0, FALSE, FALSE, TRUE },
  [GANTRY_STRING] = { "string", 0, FALSE, FALSE, FALSE },
  [GANTRY_ELEMENT_OTHER] = { "other", 0, FALSE, FALSE, FALSE },
};

static const ElementInfo *
info_of (GantryElementType element)
{
  return &elements[(guint) element < GANTRY_N_ELEMENT_TYPES ? element : GANTRY_ELEMENT_NONE];
}

gsize
gantry_element_size (GantryElementType element)
{
  return info_of (element)->size;
}

const char *
gantry_element_name (GantryElementType element)
{
  return info_of (element)->name;
}

GantryElementType
gantry_element_from_name (const char *name)
{
  for (guint i = 1; i < GANTRY_N_ELEMENT_TYPES; i++)
    if (strcmp (elements[i].name, name) == 0)
      return i;
  return GANTRY_ELEMENT_NONE;
}

gboolean
gantry_element_is_float (GantryElementType element)
{
  return info_of (element)->is_float;
}

gboolean
gantry_element_is_integer (GantryElementType element)
{
  return info_of (element)->is_integer;
}

gboolean
gantry_element_is_signed (GantryElementType element)
{
  return info_of (element)->is_signed;
}

gboolean
gantry_element_is_compiled (GantryElementType element)
{
  return info_of (element)->size != 0;
}

const char *
gantry_memory_kind_name (GantryMemoryKind kind)
{
  static const char *const names[GANTRY_N_MEMORY_KINDS] = { "device", "pinned_host", "unpinned_host" };

  return (guint) kind < GANTRY_N_MEMORY_KINDS ? names[kind] : "?";
}

/* Sizes */

#define WIDEST_ELEMENT 16 /* bytes: c128 */

GantryDim
gantry_dim_add (GantryDim a, GantryDim b)
{
  GantryDim sum;

  return __builtin_add_overflow (a, b, &sum) ? (a < 0 ? G_MININT64 : G_MAXINT64) : sum;
}

GantryDim
gantry_dim_multiply (GantryDim a, GantryDim b)
{
  GantryDim product;

  return __builtin_mul_overflow (a, b, &product) ? G_MAXINT64 : product;
}

GantryDim
gantry_dim_from_double (double size)
{
  /* 2^63 is the least double that does not fit; NaN compares with nothing. */
  if (!(size < 9223372036854775808.0))
    return G_MAXINT64;
  return size > 0 ? (GantryDim) size : 0;
}

gboolean
gantry_dims_fit (guint rank, const GantryDim *dims, guint *which)
{
  GantryDim bytes = WIDEST_ELEMENT;

  for (guint i = 0; i < rank; i++)
    {
      if (dims[i] > 0)
        bytes = gantry_dim_multiply (bytes, dims[i]);
      if (dims[i] <= GANTRY_MAX_DIM && bytes < G_MAXINT64)
        continue;
      if (which != NULL)
        *which = i;
      return FALSE;
    }
  return TRUE;
}

gboolean
gantry_type_is_tensor (const GantryType *type)
{
  return type->kind == GANTRY_TYPE_TENSOR;
}

gboolean
gantry_type_is_static (const GantryType *type)
{
  if (type->kind != GANTRY_TYPE_TENSOR)
    return FALSE;
  for (guint i = 0; i < type->rank; i++)
    if (!GANTRY_DIM_IS_STATIC (type->dims[i]))
      return FALSE;
  return TRUE;
}

gint64
gantry_type_elements (const GantryType *type)
{
  gint64 n = 1;

  if (!gantry_type_is_static (type))
    return -1;
  for (guint i = 0; i < type->rank; i++)
    if (type->dims[i] == 0)
      return 0;
  for (guint i = 0; i < type->rank; i++)
    if (__builtin_mul_overflow (n, type->dims[i], &n))
      return -1;
  return n;
}

gint64
gantry_type_bytes (const GantryType *type)
{
  gint64 n = gantry_type_elements (type);
  gint64 size = (gint64) gantry_element_size (type->element);

  if (n < 0 || size == 0 || __builtin_mul_overflow (n, size, &n))
    return -1;
  return n;
}

gboolean
gantry_type_same_shape (const GantryType *a, const GantryType *b)
{
  return a->kind == b->kind && a->element == b->element && a->rank == b->rank && memcmp (a->dims, b->dims, sizeof (GantryDim) * a->rank) == 0;
}
