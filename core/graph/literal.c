/* SPDX-License-Identifier: Apache-2.0 */
/* Literals and the reading and writing of single elements of any compiled type. */
#include "core/graph/literal.h"
#include "core/base/allocate.h"
#include "core/base/pages.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

float
gantry_f16_to_f32 (guint16 bits)
{
  guint32 sign = (guint32) (bits & 0x8000u) << 16;
  guint32 exponent = (bits >> 10) & 31u;
  guint32 fraction = bits & 0x3ffu;
  guint32 word;
  float value;

  if (exponent == 0)
    {
      value = ldexpf ((float) fraction, -24);
      return sign != 0 ? -value : value;
    }
  if (exponent == 31)
    word = sign | 0x7f800000u | fraction << 13;
  else
    word = sign | (exponent + 112) << 23 | fraction << 13;
  memcpy (&value, &word, 4);
  return value;
}

guint16
gantry_f32_to_f16 (float value)
{
  guint32 word, rest, half;
  guint16 sign;
  gint exponent;

  memcpy (&word, &value, 4);
  sign = (word >> 16) & 0x8000u;
  word &= 0x7fffffffu;
  if (word > 0x7f800000u)
    return sign | 0x7e00u | (word >> 13 & 0x1ffu);
  if (word >= 0x477ff000u) /* rounds to 65520 or more */
    return sign | 0x7c00u;
  exponent = (gint) (word >> 23) - 112;
  if (exponent <= 0)
    {
      guint shift = 14 - exponent; /* a subnormal: shift the full significand */

      if (shift > 24)
        return sign;
      word = (word & 0x7fffffu) | 0x800000u;
      half = word >> shift;
      rest = word & ((1u << shift) - 1);
      if (rest > 1u << (shift - 1) || (rest == 1u << (shift - 1) && (half & 1)))
        half++;
      return sign | half;
    }
  half = (guint32) exponent << 10 | (word >> 13 & 0x3ffu);
  rest = word & 0x1fffu;
  if (rest > 0x1000u || (rest == 0x1000u && (half & 1)))
    half++;
  return sign | half;
}

float
gantry_bf16_to_f32 (guint16 bits)
{
  guint32 word = (guint32) bits << 16;
  float value;

  memcpy (&value, &word, 4);
  return value;
}

guint16
gantry_f32_to_bf16 (float value)
{
  guint32 word;

  memcpy (&word, &value, 4);
  if ((word & 0x7fffffffu) > 0x7f800000u)
    return (word >> 16) | 0x40u;
  word += 0x7fffu + (word >> 16 & 1);
  return word >> 16;
}

/* Rounds a double to f16 or bf16 once: through f32 with round-to-odd, so that the second rounding decides right. */
static float
to_odd_f32 (double value)
{
  float near = (float) value;
  guint32 word;

  if (!isfinite (value) || (double) near == value || isinf (near))
    return near;
  memcpy (&word, &near, 4);
  if ((word & 1) == 0)
    {
      if (fabs ((double) near) > fabs (value))
        word--;
      else
        word++;
      memcpy (&near, &word, 4);
    }
  return near;
}

#define READ(ctype, p) \
  ({ \
    ctype value_; \
    memcpy (&value_, (p), sizeof value_); \
    value_; \
  })
#define WRITE(ctype, p, v) \
  G_STMT_START \
  { \
    ctype value_ = (ctype) (v); \
    memcpy ((p), &value_, sizeof value_); \
  } \
  G_STMT_END

double
gantry_element_read_double (GantryElementType element, gconstpointer p)
{
  switch (element)
    {
    case GANTRY_F64: return READ (double, p);
    case GANTRY_F32: return READ (float, p);
    case GANTRY_F16: return gantry_f16_to_f32 (READ (guint16, p));
    case GANTRY_BF16: return gantry_bf16_to_f32 (READ (guint16, p));
    case GANTRY_U64: return (double) READ (guint64, p);
    default: return (double) gantry_element_read_int (element, p);
    }
}

/* Saturates; NaN gives 0: the rule of `convert`. */
static gint64
double_to_int (double value)
{
  if (isnan (value))
    return 0;
  if (value >= 0x1p63)
    return G_MAXINT64;
  if (value <= -0x1p63)
    return G_MININT64;
  return (gint64) value;
}

gint64
gantry_element_read_int (GantryElementType element, gconstpointer p)
{
  switch (element)
    {
    case GANTRY_BOOL: return READ (guint8, p) != 0;
    case GANTRY_I8: return READ (gint8, p);
    case GANTRY_U8: return READ (guint8, p);
    case GANTRY_I16: return READ (gint16, p);
    case GANTRY_U16: return READ (guint16, p);
    case GANTRY_I32: return READ (gint32, p);
    case GANTRY_U32: return READ (guint32, p);
    case GANTRY_I64:
    case GANTRY_U64: return READ (gint64, p);
    case GANTRY_F64:
    case GANTRY_F32:
    case GANTRY_F16:
    case GANTRY_BF16: return double_to_int (gantry_element_read_double (element, p));
    default: g_return_val_if_reached (0);
    }
}

static guint64
double_to_unsigned (double value, guint64 max)
{
  if (!(value > 0))
    return 0;
  return value >= (double) max ? max : (guint64) value;
}

static gint64
clamp_int (double value, gint64 low, gint64 high)
{
  gint64 i = double_to_int (value);

  return CLAMP (i, low, high);
}

void
gantry_element_write_double (GantryElementType element, gpointer p, double value)
{
  switch (element)
    {
    case GANTRY_F64: WRITE (double, p, value); break;
    case GANTRY_F32: WRITE (float, p, value); break;
    case GANTRY_F16: WRITE (guint16, p, gantry_f32_to_f16 (to_odd_f32 (value))); break;
    case GANTRY_BF16: WRITE (guint16, p, gantry_f32_to_bf16 (to_odd_f32 (value))); break;
    case GANTRY_BOOL: WRITE (guint8, p, value != 0); break;
    case GANTRY_I8: WRITE (gint8, p, clamp_int (value, G_MININT8, G_MAXINT8)); break;
    case GANTRY_I16: WRITE (gint16, p, clamp_int (value, G_MININT16, G_MAXINT16)); break;
    case GANTRY_I32: WRITE (gint32, p, clamp_int (value, G_MININT32, G_MAXINT32)); break;
    case GANTRY_I64: WRITE (gint64, p, double_to_int (value)); break;
    case GANTRY_U8: WRITE (guint8, p, double_to_unsigned (value, G_MAXUINT8)); break;
    case GANTRY_U16: WRITE (guint16, p, double_to_unsigned (value, G_MAXUINT16)); break;
    case GANTRY_U32: WRITE (guint32, p, double_to_unsigned (value, G_MAXUINT32)); break;
    case GANTRY_U64: WRITE (guint64, p, double_to_unsigned (value, G_MAXUINT64)); break;
    default: g_return_if_reached ();
    }
}

void
gantry_element_write_int (GantryElementType element, gpointer p, gint64 value)
{
  switch (element)
    {
    case GANTRY_BOOL: WRITE (guint8, p, value != 0); break;
    case GANTRY_I8:
    case GANTRY_U8: WRITE (guint8, p, (guint64) value); break;
    case GANTRY_I16:
    case GANTRY_U16: WRITE (guint16, p, (guint64) value); break;
    case GANTRY_I32:
    case GANTRY_U32: WRITE (guint32, p, (guint64) value); break;
    case GANTRY_I64:
    case GANTRY_U64: WRITE (guint64, p, (guint64) value); break;
    default: gantry_element_write_double (element, p, (double) value); break;
    }
}

GantryLiteral *
gantry_literal_new (const GantryType *type, GBytes *bytes, gboolean splat, GError **error)
{
  gint64 expected = gantry_type_bytes (type);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  GantryLiteral *literal;

  if (expected < 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "a literal needs a static shape and a compiled element type, not %s of rank %u",
                   gantry_element_name (type->element), type->rank);
      return NULL;
    }
  if (splat)
    expected = (gint64) gantry_element_size (type->element);
  if ((guint64) expected != size)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a literal of this type has %" G_GINT64_FORMAT " bytes, but %" G_GSIZE_FORMAT " are given",
                   expected, size);
      return NULL;
    }
  literal = g_new0 (GantryLiteral, 1);
  g_atomic_ref_count_init (&literal->ref_count);
  literal->splat = splat;
  literal->type = type;
  literal->data = data;
  literal->size = size;
  literal->owner = g_bytes_ref (bytes);
  return literal;
}

/* @memory, with what frees it, becomes the literal's; its values begin at @bytes. */
static GantryLiteral *
literal_over (const GantryType *type, guint8 *bytes, gpointer memory, GDestroyNotify free_memory)
{
  GantryLiteral *literal = g_new0 (GantryLiteral, 1);

  g_atomic_ref_count_init (&literal->ref_count);
  literal->type = type;
  literal->data = bytes;
  literal->size = (gsize) gantry_type_bytes (type);
  literal->owner = g_bytes_new_with_free_func (bytes, literal->size, free_memory, memory);
  return literal;
}

GantryLiteral *
gantry_literal_new_zeroed (const GantryType *type, guint8 **data)
{
  guint8 *bytes;

  g_return_val_if_fail (gantry_type_bytes (type) >= 0, NULL);
  bytes = gantry_pages_new ((gsize) gantry_type_bytes (type));
  if (data != NULL)
    *data = bytes;
  return literal_over (type, bytes, bytes, gantry_pages_free);
}

GantryLiteral *
gantry_literal_try_new_pages (const GantryType *type, const char *what, guint8 **data, GError **error)
{
  guint8 *bytes;

  g_return_val_if_fail (gantry_type_bytes (type) >= 0, NULL);
  bytes = gantry_pages_try_new ((gsize) gantry_type_bytes (type), what, error);
  if (bytes == NULL)
    return NULL;
  *data = bytes;
  return literal_over (type, bytes, bytes, gantry_pages_free);
}

GantryLiteral *
gantry_literal_try_new_zeroed (const GantryType *type, guint8 **data, GError **error)
{
  guint8 *memory;

  g_return_val_if_fail (gantry_type_bytes (type) >= 0, NULL);
  memory = gantry_try_allocate ((gsize) gantry_type_bytes (type) + GANTRY_TENSOR_ALIGNMENT, 1, "the values of a tensor", error);
  if (memory == NULL)
    return NULL;
  *data = memory + (GANTRY_TENSOR_ALIGNMENT - GPOINTER_TO_SIZE (memory) % GANTRY_TENSOR_ALIGNMENT) % GANTRY_TENSOR_ALIGNMENT;
  return literal_over (type, *data, memory, g_free);
}

GantryLiteral *
gantry_literal_ref (GantryLiteral *literal)
{
  g_atomic_ref_count_inc (&literal->ref_count);
  return literal;
}

void
gantry_literal_unref (GantryLiteral *literal)
{
  if (literal == NULL || !g_atomic_ref_count_dec (&literal->ref_count))
    return;
  g_bytes_unref (literal->owner);
  g_free (literal->source_path);
  g_free (literal);
}

static gconstpointer
element_at (const GantryLiteral *literal, gint64 index)
{
  return literal->data + (literal->splat ? 0 : (gsize) index * gantry_element_size (literal->type->element));
}

double
gantry_literal_get_double (const GantryLiteral *literal, gint64 index)
{
  return gantry_element_read_double (literal->type->element, element_at (literal, index));
}

gint64
gantry_literal_get_int (const GantryLiteral *literal, gint64 index)
{
  return gantry_element_read_int (literal->type->element, element_at (literal, index));
}

void
gantry_literal_copy_to (const GantryLiteral *literal, guint8 *destination)
{
  gsize total = (gsize) gantry_type_bytes (literal->type);
  gsize done;

  if (total == 0)
    return;
  memcpy (destination, literal->data, MIN (literal->size, total));
  if (!literal->splat)
    return;
  for (done = literal->size; done < total; done += MIN (done, total - done))
    memcpy (destination + done, destination, MIN (done, total - done));
}

void
gantry_literal_copy_once_to (const GantryLiteral *literal, guint8 *destination)
{
  const gsize piece = 4 << 20;

  if (!literal->mapped || literal->splat)
    {
      gantry_literal_copy_to (literal, destination);
      return;
    }
  for (gsize done = 0; done < literal->size; done += piece)
    {
      gsize size = MIN (piece, literal->size - done);

      memcpy (destination + done, literal->data + done, size);
      gantry_pages_drop (literal->data + done, size);
    }
}

void
gantry_literal_give_back (const GantryLiteral *literal)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE), before = GPOINTER_TO_SIZE (literal->data) % page;

  /* Whole pages of the file: whoever reads what else is on them gets it from there. */
  if (literal->mapped && literal->size > 0)
    gantry_pages_drop ((const guint8 *) literal->data - before, (before + literal->size + page - 1) / page * page);
}

gboolean
gantry_literal_equal (const GantryLiteral *a, const GantryLiteral *b)
{
  gsize size = gantry_element_size (a->type->element);
  gint64 n = gantry_type_elements (a->type);

  if (a == b)
    return TRUE;
  if (!gantry_type_same_shape (a->type, b->type))
    return FALSE;
  if (a->splat == b->splat)
    return a->size == b->size && (a->size == 0 || memcmp (a->data, b->data, a->size) == 0);
  for (gint64 i = 0; i < n; i++)
    if (memcmp (element_at (a, i), element_at (b, i), size) != 0)
      return FALSE;
  return TRUE;
}
