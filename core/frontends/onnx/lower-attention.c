/* SPDX-License-Identifier: Apache-2.0 */
/* Attention and RotaryEmbedding (versions 23 to 25). Heads of grouped queries are not repeated: the
 * queries that share a key head are more rows of one matrix product. */
#include "core/frontends/onnx/lower-words-private.h"

/* @bias is added to the scores and broadcasts to [batch, q_heads, q_length, kv_length]; 0: none. */
typedef struct
{
  guint32 q, k, v; /* [batch, heads, length, size] */
  gint64 batch, q_heads, kv_heads, q_length, kv_length, size, v_size;
  guint32 bias;
  gboolean flat; /* operands had 3 dimensions */
} Attention;

/* [batch, length, heads * size] as [batch, heads, length, size] */
static guint32
split_heads (GantryLower *l, guint32 x, gint64 heads)
{
  static const gint64 order[] = { 0, 2, 1, 3 };
  GantryDim d[GANTRY_MAX_RANK];

  gantry_lower_dims (l, x, d);
  if (heads < 1 || d[2] % heads != 0)
    {
      gantry_lower_invalid (l, "%" G_GINT64_FORMAT " heads do not divide %" G_GINT64_FORMAT, heads, d[2]);
      return 0;
    }
  return gantry_builder_transpose (l->b, gantry_builder_reshape (l->b, x, 4, (GantryDim[]){ d[0], d[1], heads, d[2] / heads }), order);
}

static gboolean
read_operands (GantryLower *l, Attention *a)
{
  guint rank = gantry_lower_rank (l, gantry_lower_operand (l, 0));

  if (!gantry_lower_check_rank (l, 0, 3, 4) || !gantry_lower_check_rank (l, 1, rank, rank) || !gantry_lower_check_rank (l, 2, rank, rank))
    return FALSE;
  a->flat = rank == 3;
  a->q = a->flat ? split_heads (l, l->in[0], gantry_lower_int (l, "q_num_heads", 0)) : l->in[0];
  a->k = a->flat ? split_heads (l, l->in[1], gantry_lower_int (l, "kv_num_heads", 0)) : l->in[1];
  a->v = a->flat ? split_heads (l, l->in[2], gantry_lower_int (l, "kv_num_heads", 0)) : l->in[2];
  if (gantry_lower_has (l, 4) != gantry_lower_has (l, 5))
    gantry_lower_invalid (l, "past_key and past_value must be given together");
  if (l->failed)
    return FALSE;
  if (gantry_lower_has (l, 4))
    {
      a->k = gantry_builder_concatenate (l->b, (guint32[]){ l->in[4], a->k }, 2, 2);
      a->v = gantry_builder_concatenate (l->b, (guint32[]){ l->in[5], a->v }, 2, 2);
    }
  a->batch = gantry_lower_dim (l, a->q, 0);
  a->q_heads = gantry_lower_dim (l, a->q, 1);
  a->q_length = gantry_lower_dim (l, a->q, 2);
  a->size = gantry_lower_dim (l, a->q, 3);
  a->kv_heads = gantry_lower_dim (l, a->k, 1);
  a->kv_length = gantry_lower_dim (l, a->k, 2);
  a->v_size = gantry_lower_dim (l, a->v, 3);
  if (a->kv_heads < 1 || a->q_heads % a->kv_heads != 0 || gantry_lower_dim (l, a->v, 1) != a->kv_heads || gantry_lower_dim (l, a->v, 2) != a->kv_length)
    gantry_lower_invalid (l, "the heads of query, key and value do not fit");
  return !l->failed;
}

static guint32
bias_where (GantryLower *l, const Attention *a, guint32 allowed)
{
  guint32 zero = gantry_builder_like (l->b, a->q, 0);

  return allowed != 0 ? gantry_builder_select (l->b, allowed, zero, gantry_builder_like (l->b, a->q, -INFINITY)) : 0;
}

static void
add_bias (GantryLower *l, Attention *a, guint32 bias)
{
  a->bias = a->bias != 0 ? ADD (a->bias, bias) : bias;
}

/* The mask as a bias; keys that it does not reach are masked. */
static void
add_mask (GantryLower *l, Attention *a)
{
  guint32 mask = l->in[3];
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 };
  guint rank = gantry_lower_rank (l, mask);

  if (!gantry_lower_check_rank (l, 3, 1, 4))
    return;
  if (gantry_lower_element (l, mask) == GANTRY_BOOL)
    mask = bias_where (l, a, mask);
  high[rank - 1] = a->kv_length - gantry_lower_dim (l, mask, rank - 1);
  if (high[rank - 1] < 0)
    {
      gantry_lower_invalid (l, "the mask has more keys than there are");
      return;
    }
  if (gantry_lower_dim (l, mask, rank - 1) != 1 || a->kv_length == 1)
    mask = gantry_builder_pad_if_any (l->b, mask, gantry_builder_like (l->b, mask, -INFINITY), low, high, NULL);
  else if (high[rank - 1] > 0)
    gantry_lower_fail (l, "a mask of one key for several is ambiguous");
  add_bias (l, a, gantry_builder_convert (l->b, mask, gantry_lower_element (l, a->q)));
}

/* How far key j lies behind query i at offset + i: [q, kv], or [batch, 1, q, kv] with an offset for
 * each sample. */
static guint32
key_distances (GantryLower *l, const Attention *a)
{
  GantryDim dims[] = { a->q_length, a->kv_length };
  guint32 distance = gantry_builder_binary_broadcast (l->b, GANTRY_OP_SUBTRACT, gantry_builder_iota (l->b, GANTRY_I64, 2, dims, 0),
                                                      gantry_builder_iota (l->b, GANTRY_I64, 2, dims, 1));
  gint64 past = gantry_lower_has (l, 4) ? gantry_lower_dim (l, l->in[4], 2) : 0;

  if (past == 0 && gantry_lower_has (l, 6) && !gantry_lower_has (l, 4))
    return ADD (distance,
                gantry_builder_offset (l->b, gantry_builder_along (l->b, gantry_builder_convert (l->b, l->in[6], GANTRY_I64), 4, 0), -(double) a->q_length));
  return gantry_builder_offset (l->b, distance, (double) past);
}

static void
add_positions (GantryLower *l, Attention *a)
{
  gint64 left = gantry_lower_int (l, "left_window_size", -1);
  gint64 right = gantry_lower_int (l, "right_window_size", -1);
  guint32 distance = 0;

  if (gantry_lower_int (l, "is_causal", 0) != 0 && (right < 0 || right > 0))
    right = 0;
  if (left >= 0 || right >= 0)
    distance = key_distances (l, a);
  if (left >= 0)
    add_bias (l, a, bias_where (l, a, gantry_builder_compare (l->b, "LE", distance, gantry_builder_int_scalar (l->b, GANTRY_I64, left))));
  if (right >= 0)
    add_bias (l, a, bias_where (l, a, gantry_builder_compare (l->b, "GE", distance, gantry_builder_int_scalar (l->b, GANTRY_I64, -right))));
}

/* Keys from nonpad_kv_seqlen on are padding. */
static void
add_padding (GantryLower *l, Attention *a)
{
  GantryDim dims[] = { 1, 1, 1, a->kv_length };
  guint32 lengths = gantry_builder_along (l->b, gantry_builder_convert (l->b, l->in[6], GANTRY_I64), 4, 0);

  add_bias (l, a, bias_where (l, a, gantry_builder_compare (l->b, "LT", gantry_builder_iota (l->b, GANTRY_I64, 4, dims, 3), lengths)));
}

/* q k' scaled, [batch, q_heads, q_length, kv_length] */
static guint32
scores (GantryLower *l, const Attention *a)
{
  static const gint64 batching[] = { 0, 1 };
  static const gint64 last = 3;
  gint64 rows = a->q_heads / a->kv_heads * a->q_length;
  double scale = gantry_lower_float (l, "scale", 0);
  guint32 q, k;

  scale = sqrt (scale != 0 ? scale : 1 / sqrt ((double) a->size));
  q = gantry_builder_reshape (l->b, gantry_builder_scale (l->b, a->q, scale), 4, (GantryDim[]){ a->batch, a->kv_heads, rows, a->size });
  k = gantry_builder_scale (l->b, a->k, scale);
  q = gantry_lower_dot (l, q, k, batching, batching, 2, &last, &last, 1, GANTRY_ELEMENT_NONE);
  return gantry_builder_reshape (l->b, q, 4, (GantryDim[]){ a->batch, a->q_heads, a->q_length, a->kv_length });
}

/* Softmax over the keys; a query that may see no key at all gets zeros. */
static guint32
probabilities (GantryLower *l, const Attention *a, guint32 logits)
{
  gint64 precision = gantry_lower_int (l, "softmax_precision", 0);
  GantryElementType element = gantry_lower_element (l, a->q);
  static const gint64 keys = 3;
  guint32 p = logits;

  if (precision != 0)
    {
      if (gantry_lower_data_type (precision) == GANTRY_ELEMENT_NONE)
        {
          gantry_lower_fail (l, "softmax_precision is not compiled");
          return 0;
        }
      p = gantry_builder_convert (l->b, p, gantry_lower_data_type (precision));
    }
  p = gantry_builder_convert (l->b, gantry_lower_softmax (l, p, &keys, 1, FALSE), element);
  if (a->bias != 0)
    {
      gint64 last = (gint64) gantry_lower_rank (l, a->bias) - 1;
      guint32 top = gantry_builder_reduce_axes (l->b, "max", a->bias, &last, 1, TRUE);
      guint32 masked = gantry_builder_compare (l->b, "EQ", top, gantry_builder_like (l->b, top, -INFINITY));

      p = gantry_builder_select (l->b, masked, gantry_builder_like (l->b, p, 0), p);
    }
  return p;
}

static guint32
weigh_values (GantryLower *l, const Attention *a, guint32 p)
{
  static const gint64 batching[] = { 0, 1 };
  static const gint64 order[] = { 0, 2, 1, 3 };
  static const gint64 p_sum = 3, v_sum = 2;
  gint64 rows = a->q_heads / a->kv_heads * a->q_length;
  guint32 y;

  p = gantry_builder_reshape (l->b, p, 4, (GantryDim[]){ a->batch, a->kv_heads, rows, a->kv_length });
  y = gantry_lower_dot (l, p, a->v, batching, batching, 2, &p_sum, &v_sum, 1, GANTRY_ELEMENT_NONE);
  y = gantry_builder_reshape (l->b, y, 4, (GantryDim[]){ a->batch, a->q_heads, a->q_length, a->v_size });
  if (!a->flat)
    return y;
  return gantry_builder_reshape (l->b, gantry_builder_transpose (l->b, y, order), 3, (GantryDim[]){ a->batch, a->q_length, a->q_heads * a->v_size });
}

static void
attention (GantryLower *l)
{
  Attention a = { 0 };
  gint64 mode = gantry_lower_int (l, "qk_matmul_output_mode", 0);
  double softcap = gantry_lower_float (l, "softcap", 0);
  guint32 logits, shown, p;

  if (!read_operands (l, &a))
    return;
  if (gantry_lower_has (l, 3))
    add_mask (l, &a);
  add_positions (l, &a);
  if (gantry_lower_has (l, 6) && !l->failed)
    add_padding (l, &a);
  logits = shown = scores (l, &a);
  if (softcap > 0)
    logits = gantry_builder_scale (l->b, gantry_lower_unary (l, GANTRY_OP_TANH, gantry_builder_scale (l->b, logits, 1 / softcap)), softcap);
  if (mode == 1)
    shown = logits;
  if (a.bias != 0)
    logits = ADD (logits, a.bias);
  p = probabilities (l, &a, logits);
  if (mode == 2 || mode == 3)
    shown = mode == 2 ? logits : p;
  l->out[0] = weigh_values (l, &a, p);
  if (gantry_lower_wants (l, 1))
    l->out[1] = a.k;
  if (gantry_lower_wants (l, 2))
    l->out[2] = a.v;
  if (gantry_lower_wants (l, 3))
    l->out[3] = shown;
}

/* The cosines or sines of each position, [batch, length, 1, half]. */
static guint32
position_table (GantryLower *l, guint i)
{
  guint32 table = gantry_lower_operand (l, i);
  GantryDim d[GANTRY_MAX_RANK];

  if (gantry_lower_has (l, 3))
    {
      if (!gantry_lower_check_rank (l, i, 2, 2) || !gantry_lower_check_rank (l, 3, 2, 2))
        return 0;
      table = gantry_builder_take (l->b, table, 0, gantry_builder_convert (l->b, l->in[3], GANTRY_I64));
    }
  else if (!gantry_lower_check_rank (l, i, 3, 3))
    return 0;
  gantry_lower_dims (l, table, d);
  return gantry_builder_reshape (l->b, table, 4, (GantryDim[]){ d[0], d[1], 1, d[2] });
}

/* Turns each pair of features (halves, or neighbours when interleaved) by the angle of its
 * position. */
static guint32
rotate_pairs (GantryLower *l, guint32 x, guint32 cosine, guint32 sine)
{
  gboolean interleaved = gantry_lower_int (l, "interleaved", 0) != 0;
  GantryDim d[GANTRY_MAX_RANK];
  guint32 first, second, parts[2];
  gint64 n;

  gantry_lower_dims (l, x, d);
  n = d[3];
  first = gantry_builder_slice_axis (l->b, x, 3, 0, interleaved ? n : n / 2, interleaved ? 2 : 1);
  second = gantry_builder_slice_axis (l->b, x, 3, interleaved ? 1 : n / 2, n, interleaved ? 2 : 1);
  parts[0] = SUBTRACT (MULTIPLY (cosine, first), MULTIPLY (sine, second));
  parts[1] = ADD (MULTIPLY (sine, first), MULTIPLY (cosine, second));
  if (parts[0] == 0 || parts[1] == 0)
    return 0;
  if (!interleaved)
    return gantry_builder_concatenate (l->b, parts, 2, 3);
  for (guint i = 0; i < 2; i++)
    parts[i] = gantry_builder_reshape (l->b, parts[i], 5, (GantryDim[]){ d[0], d[1], d[2], n / 2, 1 });
  return gantry_builder_reshape (l->b, gantry_builder_concatenate (l->b, parts, 2, 4), 4, d);
}

static void
rotary_embedding (GantryLower *l)
{
  static const gint64 order[] = { 0, 2, 1, 3 };
  guint32 x = gantry_lower_operand (l, 0);
  gint64 heads = gantry_lower_int (l, "num_heads", 0);
  gint64 turned = gantry_lower_int (l, "rotary_embedding_dim", 0);
  GantryDim original[GANTRY_MAX_RANK], d[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, original);
  guint32 cosine, sine, y, parts[2];

  if (!gantry_lower_check_rank (l, 0, 3, 4))
    return;
  if (rank == 3 && (heads < 1 || original[2] % heads != 0))
    {
      gantry_lower_invalid (l, "num_heads does not divide the hidden size");
      return;
    }
  x = rank == 4 ? gantry_builder_transpose (l->b, x, order)
                : gantry_builder_reshape (l->b, x, 4, (GantryDim[]){ original[0], original[1], heads, original[2] / heads });
  gantry_lower_dims (l, x, d);
  turned = turned == 0 ? d[3] : turned;
  cosine = position_table (l, 1);
  sine = l->failed ? 0 : position_table (l, 2);
  if (l->failed || turned < 2 || turned > d[3] || turned % 2 != 0 || gantry_lower_dim (l, cosine, 3) != turned / 2)
    {
      gantry_lower_invalid (l, "the tables do not fit rotary_embedding_dim");
      return;
    }
  y = parts[0] = rotate_pairs (l, gantry_builder_slice_axis (l->b, x, 3, 0, turned, 1), cosine, sine);
  parts[1] = gantry_builder_slice_axis (l->b, x, 3, turned, d[3], 1);
  if (turned < d[3] && y != 0)
    y = gantry_builder_concatenate (l->b, parts, 2, 3);
  l->out[0] = rank == 4 ? gantry_builder_transpose (l->b, y, order) : gantry_builder_reshape (l->b, y, 3, original);
}

/* clang-format off */
const GantryLowerRule gantry_lower_attention_rules[] = {
  { "Attention", attention, GANTRY_CLASS_CONTRACTION, 0, 0, NULL },
  { "RotaryEmbedding", rotary_embedding, GANTRY_CLASS_ELEMENTWISE, 0, 0, NULL },
  { NULL },
};
/* clang-format on */
