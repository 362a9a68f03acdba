/* SPDX-License-Identifier: Apache-2.0 */
/* Sort and random bits on a GPU. */
#include "core/kernels/builtin/grid-private.h"

/* Sort: a key of 64 bits for each element of a line, which compares as the elements do; NaN is larger than all
 * else, and zeros of both signs are equal. */

static guint32
bit (GantryGrid *grid, GantryElementType type, guint width, guint32 of, guint32 *flipped)
{
  GantryKx *kx = grid->kx;
  gint64 sign = width == 32 ? (gint64) 0x80000000u : G_MININT64;
  guint32 sign_bit = gantry_kx_const_int (kx, type, sign), zero = gantry_kx_const_int (kx, type, 0);

  *flipped = gantry_builtin_op (grid, GANTRY_OP_XOR, of, sign_bit);
  return gantry_builtin_compare (grid, GANTRY_NE, gantry_builtin_op (grid, GANTRY_OP_AND, of, sign_bit), zero);
}

/* Of a number whose bits are those of a float: negative ones run the other way. */
static guint32
float_key (GantryGrid *grid, guint32 x)
{
  GantryKx *kx = grid->kx;
  gboolean is_double = gantry_kx_node (kx, x)->type == GANTRY_F64;
  GantryElementType real = is_double ? GANTRY_F64 : GANTRY_F32, bits = is_double ? GANTRY_U64 : GANTRY_U32;
  guint32 zero = gantry_kx_const_float (kx, real, 0), pattern, flipped, negative;

  x = gantry_kx_cast (kx, real, x);
  x = gantry_kx_select (kx, gantry_builtin_compare (grid, GANTRY_EQ, x, zero), zero, x);
  pattern = gantry_kx_bitcast (kx, bits, x);
  negative = bit (grid, bits, is_double ? 64 : 32, pattern, &flipped);
  pattern = gantry_kx_select (kx, negative, gantry_kx_unary (kx, bits, GANTRY_OP_NOT, pattern), flipped);
  return gantry_kx_cast (kx, GANTRY_U64, pattern);
}

static guint32
integer_key (GantryGrid *grid, guint32 x)
{
  GantryKx *kx = grid->kx;
  GantryElementType type = gantry_kx_node (kx, x)->type;

  if (type == GANTRY_BOOL || !gantry_element_is_signed (type))
    return gantry_kx_cast (kx, GANTRY_U64, x);
  x = gantry_kx_bitcast (kx, GANTRY_U64, gantry_kx_cast (kx, GANTRY_I64, x));
  return gantry_builtin_op (grid, GANTRY_OP_XOR, x, gantry_builtin_u64 (grid, G_GUINT64_CONSTANT (1) << 63));
}

static guint32
key_of (GantryGrid *grid, guint32 x, gboolean descending)
{
  GantryKx *kx = grid->kx;
  gboolean is_float = gantry_element_is_float (gantry_kx_node (kx, x)->type);
  guint32 key = is_float ? float_key (grid, x) : integer_key (grid, x);

  if (descending)
    key = gantry_kx_unary (kx, GANTRY_U64, GANTRY_OP_NOT, key);
  if (!is_float)
    return key;
  if (gantry_kx_node (kx, x)->type != GANTRY_F64)
    x = gantry_kx_cast (kx, GANTRY_F32, x);
  return gantry_kx_select (kx, gantry_builtin_compare (grid, GANTRY_NE, x, x), gantry_builtin_u64 (grid, descending ? 0 : G_MAXUINT64), key);
}

/* The place of element @position of line @line. */
static guint32
place_in (GantryGrid *grid, const GantrySort *sort, guint32 line, guint32 position)
{
  guint32 outer = gantry_index_divide (grid->kx, line, sort->stride), inner = gantry_index_remainder (grid->kx, line, sort->stride);

  return gantry_index_sum (grid->kx, gantry_index_sum (grid->kx, outer, sort->stride * sort->length, inner, 1), 1, position, sort->stride);
}

gboolean
gantry_builtin_sort (GantryBuiltin *builtin, const GantryModule *module, const GantryNode *node, GString *why)
{
  GantrySort sort;
  GantryNetwork network;
  GantryGrid *grid;
  guint32 line, number, index, from, to, chosen;

  if (!gantry_sort_read (&sort, module, node, why))
    return FALSE;
  if (sort.lines == 0)
    return TRUE;
  if (sort.length > G_MAXINT32 / 2 || sort.lines > G_MAXINT32 / sort.length)
    {
      g_string_append (why, "more than 2^31 elements are not sorted on a GPU");
      return FALSE;
    }
  gantry_network_init (&network, builtin, sort.lines, sort.length);
  grid = gantry_network_begin (&network, builtin, &line, &number);
  from = gantry_index_minimum (grid->kx, number, sort.length - 1);
  gantry_network_set (&network, grid, line, number, key_of (grid, gantry_kx_load (grid->kx, 0, place_in (grid, &sort, line, from)), sort.descending));
  gantry_builtin_end (grid);
  gantry_network_sort (&network, builtin);
  grid = gantry_builtin_begin (builtin, sort.lines * sort.length, &index);
  line = gantry_index_divide (grid->kx, index, sort.length);
  number = gantry_index_remainder (grid->kx, index, sort.length);
  chosen = gantry_grid_get (grid, gantry_network_numbers (&network, grid), gantry_index_sum (grid->kx, line, network.padded, number, 1));
  chosen = gantry_grid_let (grid, gantry_kx_cast (grid->kx, GANTRY_I64, chosen));
  gantry_grid_assume (grid, chosen, 0, sort.length - 1);
  to = place_in (grid, &sort, line, number);
  from = place_in (grid, &sort, line, chosen);
  for (guint i = 0; i < sort.n; i++)
    {
      GantryElementType element = gantry_node_operand_type (module, node, i)->element;

      gantry_grid_set (grid, gantry_grid_array (grid, GANTRY_SPACE_RESULT, element, (guint64) (sort.lines * sort.length), i, "result"), to,
                       gantry_kx_load (grid->kx, i, from));
    }
  gantry_builtin_end (grid);
  return TRUE;
}

/* Random bits: Philox 4x32-10, a thread for each block of four words (J. K. Salmon and others, "Parallel random
 * numbers: as easy as 1, 2, 3", 2011). */

static guint32
u32 (GantryGrid *grid, guint32 value)
{
  return gantry_kx_const_int (grid->kx, GANTRY_U32, value);
}

/* The two halves of a product of 32-bit numbers. */
static void
multiply_wide (GantryGrid *grid, guint32 x, guint32 by, guint32 *high, guint32 *low)
{
  GantryKx *kx = grid->kx;
  guint32 product = gantry_builtin_op (grid, GANTRY_OP_MULTIPLY, gantry_kx_cast (kx, GANTRY_U64, x), gantry_builtin_u64 (grid, by));

  *low = gantry_kx_cast (kx, GANTRY_U32, product);
  *high = gantry_kx_cast (kx, GANTRY_U32, gantry_builtin_op (grid, GANTRY_OP_SHIFT_RIGHT_LOGICAL, product, gantry_builtin_u64 (grid, 32)));
}

static guint32
xor_of (GantryGrid *grid, guint32 a, guint32 b, guint32 c)
{
  return gantry_builtin_op (grid, GANTRY_OP_XOR, gantry_builtin_op (grid, GANTRY_OP_XOR, a, b), c);
}

static void
philox (GantryGrid *grid, guint32 key, guint32 counter, guint32 c[4])
{
  GantryKx *kx = grid->kx;
  guint32 half = gantry_builtin_u64 (grid, 32);
  guint32 k0 = gantry_kx_cast (kx, GANTRY_U32, key);
  guint32 k1 = gantry_kx_cast (kx, GANTRY_U32, gantry_builtin_op (grid, GANTRY_OP_SHIFT_RIGHT_LOGICAL, key, half));

  c[0] = gantry_kx_cast (kx, GANTRY_U32, counter);
  c[1] = gantry_kx_cast (kx, GANTRY_U32, gantry_builtin_op (grid, GANTRY_OP_SHIFT_RIGHT_LOGICAL, counter, half));
  c[2] = c[3] = u32 (grid, 0);
  for (guint round = 0; round < 10; round++)
    {
      guint32 p_high, p_low, q_high, q_low;

      multiply_wide (grid, c[0], 0xD2511F53u, &p_high, &p_low);
      multiply_wide (grid, c[2], 0xCD9E8D57u, &q_high, &q_low);
      c[0] = gantry_grid_let (grid, xor_of (grid, q_high, c[1], k0));
      c[2] = gantry_grid_let (grid, xor_of (grid, p_high, c[3], k1));
      c[1] = gantry_grid_let (grid, q_low);
      c[3] = gantry_grid_let (grid, p_low);
      k0 = gantry_builtin_op (grid, GANTRY_OP_ADD, k0, u32 (grid, 0x9E3779B9u));
      k1 = gantry_builtin_op (grid, GANTRY_OP_ADD, k1, u32 (grid, 0xBB67AE85u));
    }
}

/* Element @k of a block's words, as the type says. */
static guint32
element_of (GantryGrid *grid, const GantryRandomBits *random, GantryElementType type, const guint32 words[4], guint k)
{
  GantryKx *kx = grid->kx;
  guint32 wide;

  if (random->size < 8)
    return gantry_kx_cast (kx, type, words[k]);
  wide = gantry_builtin_op (grid, GANTRY_OP_OR, gantry_kx_cast (kx, GANTRY_U64, words[2 * k]),
                            gantry_builtin_op (grid, GANTRY_OP_SHIFT_LEFT, gantry_kx_cast (kx, GANTRY_U64, words[2 * k + 1]), gantry_builtin_u64 (grid, 32)));
  return type == GANTRY_U64 ? wide : gantry_kx_bitcast (kx, type, wide);
}

/* The state moves on by the blocks that were drawn. */
static void
advance (GantryBuiltin *builtin, const GantryRandomBits *random)
{
  guint32 index;
  GantryGrid *grid = gantry_builtin_begin (builtin, 1, &index);
  guint32 state = gantry_grid_array (grid, GANTRY_SPACE_RESULT, GANTRY_U64, 2, 0, "state");
  guint32 key = gantry_kx_load (grid->kx, 0, gantry_index_const (grid->kx, 0));
  guint32 counter = gantry_kx_load (grid->kx, 0, gantry_index_const (grid->kx, 1));

  counter = gantry_grid_let (grid, gantry_builtin_op (grid, GANTRY_OP_ADD, counter, gantry_builtin_u64 (grid, (guint64) random->n_blocks)));
  gantry_grid_set (grid, state, gantry_index_const (grid->kx, 0), key);
  gantry_grid_set (grid, state, gantry_index_const (grid->kx, 1), counter);
  gantry_builtin_end (grid);
}

gboolean
gantry_builtin_random (GantryBuiltin *builtin, const GantryModule *module, const GantryNode *node, GString *why)
{
  GantryRandomBits random;
  GantryElementType type;
  GantryGrid *grid;
  guint32 index, words[4], bits, counter;
  guint per_block;

  if (!gantry_random_bits_read (&random, module, node, why))
    return FALSE;
  if (random.n_blocks > G_MAXINT32)
    {
      g_string_append (why, "more than 2^33 words are not drawn at once on a GPU");
      return FALSE;
    }
  type = gantry_node_result_type (module, node, 1)->element;
  per_block = random.size == 8 ? 2 : 4;
  if (random.n_blocks > 0)
    {
      grid = gantry_builtin_begin (builtin, random.n_blocks, &index);
      bits = gantry_grid_array (grid, GANTRY_SPACE_RESULT, type, (guint64) random.elements, 1, "bits");
      counter = gantry_builtin_op (grid, GANTRY_OP_ADD, gantry_kx_load (grid->kx, 0, gantry_index_const (grid->kx, 1)),
                                   gantry_kx_cast (grid->kx, GANTRY_U64, index));
      philox (grid, gantry_kx_load (grid->kx, 0, gantry_index_const (grid->kx, 0)), counter, words);
      for (guint k = 0; k < per_block; k++)
        {
          guint32 at = gantry_kx_linear (grid->kx, k, (GantryKxTerm[]){ { index, per_block } }, 1);

          gantry_grid_begin_if (grid, gantry_index_below (grid->kx, at, random.elements));
          gantry_grid_set (grid, bits, at, element_of (grid, &random, type, words, k));
          gantry_grid_end (grid);
        }
      gantry_builtin_end (grid);
    }
  advance (builtin, &random);
  return TRUE;
}
