/* SPDX-License-Identifier: Apache-2.0 */
/* Element types, dimensions, memory kinds and the types of values. A GantryType is interned in a
 * GantryContext: equal types have one address and one id, and live as long as the context. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_ELEMENT_NONE,
  GANTRY_BOOL, /* one byte, 0 or 1 */
  GANTRY_I8,
  GANTRY_I16,
  GANTRY_I32,
  GANTRY_I64,
  GANTRY_U8,
  GANTRY_U16,
  GANTRY_U32,
  GANTRY_U64,
  GANTRY_F16,
  GANTRY_BF16,
  GANTRY_F32,
  GANTRY_F64,
  /* From here on: opened and drawn, not compiled. */
  GANTRY_I4,
  GANTRY_U4,
  GANTRY_F8E4M3FN,
  GANTRY_F8E5M2,
  GANTRY_C64,
  GANTRY_C128,
  GANTRY_STRING,
  GANTRY_ELEMENT_OTHER,
  GANTRY_N_ELEMENT_TYPES
} GantryElementType;

typedef enum
{
  GANTRY_MEMORY_DEVICE,
  GANTRY_MEMORY_PINNED_HOST,
  GANTRY_MEMORY_UNPINNED_HOST,
  GANTRY_N_MEMORY_KINDS
} GantryMemoryKind;

typedef enum
{
  GANTRY_TYPE_UNKNOWN, /* not inferred: an unknown operation, or a shape that depends on data */
  GANTRY_TYPE_TENSOR,
  GANTRY_TYPE_TUPLE, /* what an operation with several results has; `result` takes one out */
  GANTRY_TYPE_TOKEN,
} GantryTypeKind;

/**
 * GantryDim: a size >= 0, %GANTRY_DIM_UNKNOWN, or a symbol: -2 - (string id of its name).
 */
typedef gint64 GantryDim;
#define GANTRY_DIM_UNKNOWN ((GantryDim) -1)
#define GANTRY_DIM_SYMBOL(string_id) ((GantryDim) -2 - (GantryDim) (string_id))
#define GANTRY_DIM_IS_STATIC(dim) ((dim) >= 0)
#define GANTRY_DIM_IS_SYMBOL(dim) ((dim) <= -2)
#define GANTRY_DIM_SYMBOL_ID(dim) ((guint32) (-2 - (dim)))

/** A larger dimension is refused by name, so that sums and products of a few of them do not overflow. */
#define GANTRY_MAX_DIM (G_GINT64_CONSTANT (1) << 48)

#define GANTRY_MAX_RANK 16

typedef struct _GantryType GantryType;
struct _GantryType
{
  guint8 kind;    /* GantryTypeKind */
  guint8 element; /* GantryElementType, of a tensor */
  guint8 memory;  /* GantryMemoryKind */
  guint8 unused;
  guint32 rank;     /* dimensions of a tensor, members of a tuple */
  GantryDim dims[]; /* of a tuple: type ids */
};

gsize gantry_element_size (GantryElementType element);         /* bytes; 0 when not compiled (i4, string, ...) */
const char *gantry_element_name (GantryElementType element);   /* "f32", "bf16", "i64", "bool" */
GantryElementType gantry_element_from_name (const char *name); /* NONE when unknown */
/** f16, bf16, f32, f64 and the 8-bit ones, which are not compiled */
gboolean gantry_element_is_float (GantryElementType element);
gboolean gantry_element_is_integer (GantryElementType element); /* bool is neither */
/** Whether it has numbers below 0: floats and signed integers. */
gboolean gantry_element_is_signed (GantryElementType element);
/** Whether kernels can be made of it; others are opened and drawn only. */
gboolean gantry_element_is_compiled (GantryElementType element);

/* Sizes that are computed from sizes or from values of a model. A result that does not fit 64 bits is G_MAXINT64, which
 * gantry_dims_fit() and with it every type rule refuses: whoever computes a size does it by these and checks nothing. */
GantryDim gantry_dim_add (GantryDim a, GantryDim b);      /* a < 0 or b < 0: a difference */
GantryDim gantry_dim_multiply (GantryDim a, GantryDim b); /* both 0 or more */
/** @size: a whole number; G_MAXINT64 for infinity and NaN, 0 for what is below 0. */
GantryDim gantry_dim_from_double (double size);
/** Whether a tensor of these dimensions can be: each at most %GANTRY_MAX_DIM, and the bytes of the widest elements, with
 * dimensions of 0 left out, below 2^63 (so the product of any of the dimensions is exact). @which: (out) (optional): the
 * first dimension that is too large. Dimensions that are no numbers fit. */
gboolean gantry_dims_fit (guint rank, const GantryDim *dims, guint *which);

const char *gantry_memory_kind_name (GantryMemoryKind kind); /* "device", "pinned_host", ... */

/** FALSE of the unknown type, tuples and tokens. */
gboolean gantry_type_is_tensor (const GantryType *type);
/** TRUE when @type is a tensor whose every dimension is a number. */
gboolean gantry_type_is_static (const GantryType *type);
/** Number of elements of a static tensor (1 for a scalar); -1 otherwise or on overflow. */
gint64 gantry_type_elements (const GantryType *type);
/** Bytes of a static tensor in dense row-major order; -1 otherwise or on overflow. */
gint64 gantry_type_bytes (const GantryType *type);
/** Same kind, element and dimensions (memory kinds may differ). */
gboolean gantry_type_same_shape (const GantryType *a, const GantryType *b);

G_END_DECLS
