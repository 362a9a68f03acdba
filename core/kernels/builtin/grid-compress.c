/* SPDX-License-Identifier: Apache-2.0 */
/* Residuals to fewer bits and back, on a GPU: what is stored is told in core/plan/compression.h. A thread for each element of bf16; for
 * each block of 64 on the way to 8 bits; for each word of four on the way back. Records are written as words of 32 bits: the scale,
 * then four elements each. */
#include "core/kernels/builtin/grid-private.h"
#include <math.h>

#define BLOCK GANTRY_COMPRESSED_BLOCK
#define WORDS (BLOCK / 4)
#define RECORD_WORDS (GANTRY_COMPRESSED_RECORD / 4)

static guint32
number (GantryGrid *grid, double value)
{
  return gantry_kx_const_float (grid->kx, GANTRY_F32, value);
}

static guint32
word_of (GantryGrid *grid, guint32 value)
{
  return gantry_kx_const_int (grid->kx, GANTRY_U32, value);
}

static gint64
blocks_of (const GantryCompression *c)
{
  return (c->elements + BLOCK - 1) / BLOCK;
}

static guint32
load_float (GantryGrid *grid, guint32 address)
{
  return gantry_grid_let (grid, gantry_kx_cast (grid->kx, GANTRY_F32, gantry_kx_load (grid->kx, 0, address)));
}

static void
bind_bf16 (GantryBuiltin *builtin, const GantryCompression *c, gboolean back)
{
  guint32 index;
  GantryGrid *grid = gantry_builtin_begin (builtin, c->elements, &index);
  GantryElementType to = back ? c->element : GANTRY_BF16;
  guint32 result = gantry_grid_array (grid, GANTRY_SPACE_RESULT, to, (guint64) c->elements, 0, "converted");

  gantry_grid_set (grid, result, index, gantry_kx_cast (grid->kx, to, gantry_kx_load (grid->kx, 0, index)));
  gantry_builtin_end (grid);
}

/* The last block may have fewer elements: what is beyond them is the last one again, which changes no maximum. */
static guint32
element_at (GantryGrid *grid, const GantryCompression *c, guint32 first, guint32 k)
{
  guint32 at = gantry_index_sum (grid->kx, first, 1, k, 1);

  return c->elements % BLOCK == 0 ? at : gantry_index_minimum (grid->kx, at, c->elements - 1);
}

/* Four elements, rounded, in the bytes of a word. */
static guint32
pack (GantryGrid *grid, const GantryCompression *c, guint32 first, guint32 w, guint32 factor, guint32 usable)
{
  GantryKx *kx = grid->kx;
  guint32 word = word_of (grid, 0);

  for (guint j = 0; j < 4; j++)
    {
      guint32 k = gantry_kx_linear (kx, j, (GantryKxTerm[]){ { w, 4 } }, 1);
      guint32 x = gantry_builtin_op (grid, GANTRY_OP_MULTIPLY, load_float (grid, element_at (grid, c, first, k)), factor);
      guint32 q = gantry_kx_unary (kx, GANTRY_F32, GANTRY_OP_ROUND_NEAREST_EVEN, gantry_kx_select (kx, usable, x, number (grid, 0)));

      q = gantry_builtin_op (grid, GANTRY_OP_AND, gantry_kx_bitcast (kx, GANTRY_U32, gantry_kx_cast (kx, GANTRY_I32, q)), word_of (grid, 255));
      word = gantry_builtin_op (grid, GANTRY_OP_OR, word, gantry_builtin_op (grid, GANTRY_OP_SHIFT_LEFT, q, word_of (grid, 8 * j)));
    }
  return word;
}

/* The launch that quantizes: a thread for each block of 64 finds its largest magnitude and stores a record: the scale, that over 127 (f32), and 64
 * signed bytes, symmetric, without a zero point. Below 1e-30 the bytes are 0; an infinity or NaN makes the scale, and so the block, NaN. */
static void
bind_to_int8 (GantryBuiltin *builtin, const GantryCompression *c)
{
  guint32 block, first, k, w, most, factor, usable, record;
  GantryGrid *grid = gantry_builtin_begin (builtin, blocks_of (c), &block);
  GantryKx *kx = grid->kx;
  guint32 zero = gantry_index_const (kx, 0);
  guint32 result = gantry_grid_array (grid, GANTRY_SPACE_RESULT, GANTRY_U32, (guint64) (blocks_of (c) * RECORD_WORDS), 0, "records");
  guint32 sofar = gantry_grid_array (grid, GANTRY_SPACE_PRIVATE, GANTRY_F32, 1, 0, "most");

  first = gantry_index_scale (kx, block, BLOCK);
  record = gantry_index_scale (kx, block, RECORD_WORDS);
  gantry_grid_set (grid, sofar, zero, number (grid, 0));
  k = gantry_grid_begin_for_to (grid, BLOCK, FALSE);
  most = gantry_kx_unary (kx, GANTRY_F32, GANTRY_OP_ABS, load_float (grid, element_at (grid, c, first, k)));
  gantry_grid_set (grid, sofar, zero, gantry_builtin_op (grid, GANTRY_OP_MAXIMUM, gantry_grid_get (grid, sofar, zero), most));
  gantry_grid_end (grid);
  most = gantry_grid_get (grid, sofar, zero);
  gantry_grid_set (grid, result, record, gantry_kx_bitcast (kx, GANTRY_U32, gantry_builtin_op (grid, GANTRY_OP_DIVIDE, most, number (grid, 127))));
  usable = gantry_grid_let (grid, gantry_builtin_and (grid, gantry_builtin_compare (grid, GANTRY_GE, most, number (grid, (double) GANTRY_COMPRESSED_LEAST)),
                                                      gantry_builtin_compare (grid, GANTRY_LT, most, number (grid, INFINITY))));
  factor = gantry_grid_let (grid, gantry_builtin_op (grid, GANTRY_OP_DIVIDE, number (grid, 127), most));
  w = gantry_grid_begin_for_to (grid, WORDS, FALSE);
  gantry_grid_set (grid, result, gantry_kx_linear (kx, 1, (GantryKxTerm[]){ { record, 1 }, { w, 1 } }, 2), pack (grid, c, first, w, factor, usable));
  gantry_grid_end (grid);
  gantry_builtin_end (grid);
}

static void
bind_from_int8 (GantryBuiltin *builtin, const GantryCompression *c)
{
  guint32 index, block, w, record, scale, word;
  GantryGrid *grid = gantry_builtin_begin (builtin, blocks_of (c) * WORDS, &index);
  GantryKx *kx = grid->kx;
  guint32 result = gantry_grid_array (grid, GANTRY_SPACE_RESULT, c->element, (guint64) c->elements, 0, "restored");

  block = gantry_index_divide (kx, index, WORDS);
  w = gantry_index_remainder (kx, index, WORDS);
  record = gantry_index_scale (kx, block, RECORD_WORDS);
  scale = gantry_grid_let (grid, gantry_kx_bitcast (kx, GANTRY_F32, gantry_kx_load (kx, 0, record)));
  word = gantry_grid_let (grid, gantry_kx_load (kx, 0, gantry_kx_linear (kx, 1, (GantryKxTerm[]){ { record, 1 }, { w, 1 } }, 2)));
  for (guint j = 0; j < 4; j++)
    {
      guint32 at = gantry_kx_linear (kx, j, (GantryKxTerm[]){ { index, 4 } }, 1);
      guint32 q = gantry_builtin_op (grid, GANTRY_OP_AND, gantry_builtin_op (grid, GANTRY_OP_SHIFT_RIGHT_LOGICAL, word, word_of (grid, 8 * j)),
                                     word_of (grid, 255));
      /* The sign of the byte: (q xor 128) - 128 */
      guint32 byte = gantry_builtin_op (grid, GANTRY_OP_SUBTRACT,
                                        gantry_kx_bitcast (kx, GANTRY_I32, gantry_builtin_op (grid, GANTRY_OP_XOR, q, word_of (grid, 128))),
                                        gantry_kx_const_int (kx, GANTRY_I32, 128));
      guint32 x = gantry_builtin_op (grid, GANTRY_OP_MULTIPLY, gantry_kx_cast (kx, GANTRY_F32, byte), scale);

      if (c->elements % BLOCK != 0)
        gantry_grid_begin_if (grid, gantry_index_below (kx, at, c->elements));
      gantry_grid_set (grid, result, c->elements % BLOCK != 0 ? gantry_index_minimum (kx, at, c->elements - 1) : at, gantry_kx_cast (kx, c->element, x));
      if (c->elements % BLOCK != 0)
        gantry_grid_end (grid);
    }
  gantry_builtin_end (grid);
}

const GantryType *
gantry_compression_input (GantryContext *context, const GantryCompression *c, gboolean back)
{
  GantryDim n = c->elements;
  GantryElementType element = c->element;

  if (back && c->kind == GANTRY_PLACEMENT_INT8)
    {
      n = blocks_of (c) * RECORD_WORDS;
      element = GANTRY_U32;
    }
  else if (back)
    element = GANTRY_BF16;
  return gantry_context_type (context, gantry_context_tensor (context, element, 1, &n));
}

GantryBound *
gantry_compression_bind (const GantryCompression *c, gboolean back, const GantryKxInput *input, const GantryGpu *gpu)
{
  g_autoptr (GantryBound) bound = gantry_bound_new ();
  GantryBuiltin builtin = { bound, input, 1, gpu };

  if (c->kind == GANTRY_PLACEMENT_BF16)
    bind_bf16 (&builtin, c, back);
  else if (back)
    bind_from_int8 (&builtin, c);
  else
    bind_to_int8 (&builtin, c);
  return g_steal_pointer (&bound);
}
