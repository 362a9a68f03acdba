/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a constant or an argument: a static tensor type and bytes, row major, little
 * endian. The bytes may lie unaligned in a mapped model file: read them with memcpy. */
#pragma once
#include "core/graph/type.h"

G_BEGIN_DECLS

typedef struct _GantryLiteral GantryLiteral;

/**
 * GantryLiteral: immutable and reference counted; kept in a context it lives as long as that.
 *
 * @type: a static tensor type of the context that made it (or any context that outlives it)
 * @data: `size` bytes; of a splat just one element, which stands for all
 */
struct _GantryLiteral
{
  gatomicrefcount ref_count;
  gboolean splat;
  gboolean mapped; /* @data are pages of a file that is mapped: see gantry_literal_give_back() */
  const GantryType *type;
  const guint8 *data;
  gsize size;
  GBytes *owner;     /* what keeps @data alive */
  char *source_path; /* (nullable): file that @data is mapped from */
  guint64 source_offset;
};

/**
 * gantry_literal_new:
 * @type: a static tensor type of a compiled element type
 * @bytes: exactly gantry_type_bytes (@type) bytes, or one element for a splat
 *
 * Returns: (nullable) (transfer full): NULL and @error when sizes do not fit
 */
GantryLiteral *gantry_literal_new (const GantryType *type, GBytes *bytes, gboolean splat, GError **error);
/** Dense literal of zeros at a multiple of %GANTRY_TENSOR_ALIGNMENT, whose bytes may be written through the returned @data until it
 *  is shared. */
GantryLiteral *gantry_literal_new_zeroed (const GantryType *type, guint8 **data);
/** The same of a type that a file says. Returns: (transfer full) (nullable): %NULL with %GANTRY_ERROR_NO_MEMORY */
GantryLiteral *gantry_literal_try_new_zeroed (const GantryType *type, guint8 **data, GError **error);
/** The same with the pages of gantry_pages_try_new(); @what is for the message. */
GantryLiteral *gantry_literal_try_new_pages (const GantryType *type, const char *what, guint8 **data, GError **error);
GantryLiteral *gantry_literal_ref (GantryLiteral *literal);
void gantry_literal_unref (GantryLiteral *literal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryLiteral, gantry_literal_unref)

/** Element @index (row major; of a splat any index) as double / as integer, converted. */
double gantry_literal_get_double (const GantryLiteral *literal, gint64 index);
/** As gantry_element_read_int(): floats towards zero, with the ends of the range for what lies beyond it. */
gint64 gantry_literal_get_int (const GantryLiteral *literal, gint64 index);
/** Writes all elements densely into @destination of gantry_type_bytes (type) bytes. */
void gantry_literal_copy_to (const GantryLiteral *literal, guint8 *destination);
/** The same for who will hardly read @literal again: of a file that is mapped no more than a piece is in memory beside the copy. */
void gantry_literal_copy_once_to (const GantryLiteral *literal, guint8 *destination);
/**
 * gantry_literal_give_back:
 *
 * For who has read @literal and will hardly do so again: the pages that it alone lies on leave the process's memory, if they are
 * those of a file. Who reads them later reads the file again.
 */
void gantry_literal_give_back (const GantryLiteral *literal);
/** Returns: TRUE where element type, dimensions and all bytes are equal, whether as a splat or not: 0.0 is not -0.0, NaN may be NaN */
gboolean gantry_literal_equal (const GantryLiteral *a, const GantryLiteral *b);

/* One element at @p, any alignment. Reads of f16/bf16 are exact; writes round to nearest even. */
/** Integers are rounded to the nearest double; a bool is 0 or 1. */
double gantry_element_read_double (GantryElementType element, gconstpointer p);
/** Floats are rounded towards zero, to the ends of the range beyond it, NaN to 0; u64 gives its bits. */
gint64 gantry_element_read_int (GantryElementType element, gconstpointer p);
/** To an integer: towards zero, the ends of its range beyond them, NaN to 0; to a bool: whether it is not 0. */
void gantry_element_write_double (GantryElementType element, gpointer p, double value);
/** To a narrower integer: the low bits (u64 takes all); to a bool: whether it is not 0; to a float: by way of double. */
void gantry_element_write_int (GantryElementType element, gpointer p, gint64 value);
/** IEEE binary16, to nearest even: 65520 and more become infinity, NaN stays NaN, quiet. */
guint16 gantry_f32_to_f16 (float value);
/** Exact, subnormals, infinities and NaN too. */
float gantry_f16_to_f32 (guint16 bits);
/** The upper half of the float, to nearest even; NaN stays NaN, quiet. */
guint16 gantry_f32_to_bf16 (float value);
/** Exact: the lower half is zeros. */
float gantry_bf16_to_f32 (guint16 bits);

G_END_DECLS
