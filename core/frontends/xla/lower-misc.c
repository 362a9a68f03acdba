/* SPDX-License-Identifier: Apache-2.0 */
/* Placements, barriers, tuples, calls of other programs, and what only several devices can do: for one, or refused. */
#include "core/frontends/xla/lower-private.h"

static void
optimization_barrier (XlaLower *l)
{
  for (guint i = 0; i < MIN (l->n_in, l->n_out); i++)
    l->out[i] = gantry_xla_unary (l, GANTRY_OP_OPTIMIZATION_BARRIER, l->in[i]);
}

static void
as_it_is (XlaLower *l)
{
  for (guint i = 0; i < MIN (l->n_in, l->n_out); i++)
    l->out[i] = l->in[i];
}

/* A call of a dialect's operation by name: "mhlo.erf". */
static gboolean
by_name (XlaLower *l, const char *target)
{
  const char *dot = strchr (target, '.');
  const XlaRule *rule = dot != NULL ? gantry_xla_find_rule (dot + 1) : NULL;

  if (rule == NULL || !(g_str_has_prefix (target, "mhlo.") || g_str_has_prefix (target, "chlo.")) || rule == l->rule)
    return FALSE;
  l->rule = rule;
  gantry_xla_run_rule (l);
  return TRUE;
}

static void
custom_call (XlaLower *l)
{
  const char *target = gantry_xla_string (l, "call_target_name", "");

  if (strcmp (target, "Sharding") == 0 || g_str_has_prefix (target, "xla.sdy.") || strcmp (target, "LayoutConstraint") == 0)
    as_it_is (l); /* on one device every sharding is the whole */
  else if (strcmp (target, "TopK") == 0 && l->n_out == 2)
    by_name (l, "chlo.top_k");
  else if (!by_name (l, target) && !gantry_xla_lapack (l, target))
    gantry_xla_refuse (l, "a call of '%s', which is code of another program", target);
}

static void
one_device (XlaLower *l)
{
  l->out[0] = gantry_builder_int_scalar (l->b, GANTRY_U32, 0);
}

static void
collective (XlaLower *l)
{
  gantry_xla_refuse (l, "it is about several devices, and this is compiled for one");
}

/* An operation on what a network or a host program sends. */
static void
outside (XlaLower *l)
{
  gantry_xla_refuse (l, "it speaks with the program that runs it");
}

static void
complex_numbers (XlaLower *l)
{
  gantry_xla_refuse (l, "complex numbers are not compiled");
}

static void
quantized (XlaLower *l)
{
  gantry_xla_refuse (l, "quantized element types are not compiled");
}

static void
constant (XlaLower *l)
{
  const GantryType *type = gantry_xla_declared (l, 0);

  if (type->kind == GANTRY_TYPE_TENSOR && gantry_element_is_compiled ((GantryElementType) type->element))
    gantry_xla_refuse (l, "its value is not in the text");
  else if (type->kind == GANTRY_TYPE_TENSOR)
    gantry_xla_refuse (l, "element type %s of result 0 is not compiled", gantry_element_name ((GantryElementType) type->element));
  else
    gantry_xla_refuse (l, "an element type that is not compiled");
}

static void
not_by_data (XlaLower *l)
{
  gantry_xla_refuse (l, "a size that depends on data");
}

/* Threefry-2x32 with twenty rounds (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3"): two words of 32 bits
 * from two of a counter and two of a key. */
static void
threefry (XlaLower *l, guint32 words[2], const guint32 key[2])
{
  static const guint rotations[2][4] = { { 13, 15, 26, 6 }, { 17, 29, 16, 24 } };
  guint32 parity = gantry_builder_int_scalar (l->b, GANTRY_U32, 0x1bd11bda), keys[3];

  keys[0] = key[0];
  keys[1] = key[1];
  keys[2] = gantry_xla_binary (l, GANTRY_OP_XOR, gantry_xla_binary (l, GANTRY_OP_XOR, key[0], key[1]), parity);
  for (guint i = 0; i < 2; i++)
    words[i] = gantry_xla_binary (l, GANTRY_OP_ADD, words[i], keys[i]);
  for (guint group = 0; group < 5; group++)
    {
      for (guint r = 0; r < 4; r++)
        {
          guint by = rotations[group % 2][r];
          guint32 left, right;

          words[0] = gantry_xla_binary (l, GANTRY_OP_ADD, words[0], words[1]);
          left = gantry_xla_binary (l, GANTRY_OP_SHIFT_LEFT, words[1], gantry_builder_int_scalar (l->b, GANTRY_U32, by));
          right = gantry_xla_binary (l, GANTRY_OP_SHIFT_RIGHT_LOGICAL, words[1], gantry_builder_int_scalar (l->b, GANTRY_U32, 32 - by));
          words[1] = gantry_xla_binary (l, GANTRY_OP_XOR, gantry_xla_binary (l, GANTRY_OP_OR, left, right), words[0]);
        }
      words[0] = gantry_xla_binary (l, GANTRY_OP_ADD, words[0], keys[(group + 1) % 3]);
      words[1] = gantry_xla_binary (l, GANTRY_OP_ADD, words[1], keys[(group + 2) % 3]);
      words[1] = gantry_xla_binary (l, GANTRY_OP_ADD, words[1], gantry_builder_int_scalar (l->b, GANTRY_U32, group + 1));
    }
}

static void
halves (XlaLower *l, guint32 x, guint32 words[2])
{
  guint32 high = gantry_xla_binary (l, GANTRY_OP_SHIFT_RIGHT_LOGICAL, x, gantry_builder_int_scalar (l->b, GANTRY_U64, 32));
  guint32 low = gantry_xla_binary (l, GANTRY_OP_AND, x, gantry_builder_int_scalar (l->b, GANTRY_U64, 0xffffffff));

  words[0] = gantry_xla_convert (l, low, GANTRY_U32);
  words[1] = gantry_xla_convert (l, high, GANTRY_U32);
}

/* The state is a key and a counter of 64 bits; each value of 64 bits takes one count. */
static void
three_fry_64 (XlaLower *l, guint32 state, const GantryType *bits)
{
  gint64 n = gantry_type_elements (bits);
  guint32 parts[2], key[2], words[2], counts, low, high;

  for (guint i = 0; i < 2; i++)
    parts[i] = gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, state, 0, i, i + 1, 1), 0, NULL);
  halves (l, parts[0], key);
  counts = gantry_builder_iota (l->b, GANTRY_U64, 1, (GantryDim[]){ n }, 0);
  halves (l, gantry_xla_binary (l, GANTRY_OP_ADD, counts, parts[1]), words);
  threefry (l, words, key);
  low = gantry_xla_convert (l, words[0], GANTRY_U64);
  high = gantry_xla_binary (l, GANTRY_OP_SHIFT_LEFT, gantry_xla_convert (l, words[1], GANTRY_U64), gantry_builder_int_scalar (l->b, GANTRY_U64, 32));
  l->out[1] = gantry_builder_reshape (l->b, gantry_xla_binary (l, GANTRY_OP_OR, low, high), bits->rank, bits->dims);
  parts[1] = gantry_xla_binary (l, GANTRY_OP_ADD, parts[1], gantry_builder_int_scalar (l->b, GANTRY_U64, n));
  for (guint i = 0; i < 2; i++)
    parts[i] = gantry_builder_reshape (l->b, parts[i], 1, (GantryDim[]){ 1 });
  l->out[0] = gantry_builder_concatenate (l->b, parts, 2, 0);
}

/* The state of the generator that the implementation may choose is a vector of two u64. */
static void
rng_bit_generator (XlaLower *l)
{
  const char *algorithm = gantry_xla_string (l, "rng_algorithm", gantry_xla_string (l, "algorithm", "DEFAULT"));
  guint32 state = gantry_xla_in (l, 0), value;
  const GantryType *type = gantry_xla_type (l, state), *bits = l->n_out == 2 ? gantry_xla_declared (l, 1) : type;
  gboolean fits = l->n_out == 2 && type->rank == 1 && type->dims[0] == 2 && type->element == GANTRY_U64;
  GantryAttrList *attrs;

  if (fits && strcmp (algorithm, "THREE_FRY") == 0 && bits->element == GANTRY_U64 && gantry_type_elements (bits) > 0)
    {
      three_fry_64 (l, state, bits);
      return;
    }
  if (!fits || g_ascii_strcasecmp (algorithm + (g_str_has_prefix (algorithm, "rng_") ? 4 : 0), "DEFAULT") != 0
      || (bits->element != GANTRY_U32 && bits->element != GANTRY_U64))
    {
      gantry_xla_refuse (l, "algorithm %s", algorithm);
      return;
    }
  attrs = gantry_xla_attrs (l);
  gantry_attr_list_set_ints (attrs, "shape", bits->dims, bits->rank);
  gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (l->context, (GantryElementType) bits->element));
  value = gantry_xla_add (l, GANTRY_OP_RNG_BIT_GENERATOR, attrs, 1, state);
  for (guint i = 0; i < 2 && value != 0; i++)
    l->out[i] = gantry_builder_result (l->b, value, i);
}

static void
rng (XlaLower *l)
{
  gantry_xla_refuse (l, "random numbers without a state; rng_bit_generator has one");
}

#define OTHER(name, function) \
  { \
    name, function, GANTRY_CLASS_OTHER, XLA_ANY_TYPE, 0 \
  }

const XlaRule gantry_xla_misc_rules[] = {
  { "optimization_barrier", optimization_barrier, GANTRY_CLASS_CONTROL, XLA_ANY_TYPE, 0 },
  { "opt_barrier", optimization_barrier, GANTRY_CLASS_CONTROL, XLA_ANY_TYPE, 0 },
  { "copy", as_it_is, GANTRY_CLASS_MEMORY, 0, 0 },
  { "custom_call", custom_call, GANTRY_CLASS_OTHER, XLA_ANY_TYPE, 0 },
  { "tuple", as_it_is, GANTRY_CLASS_CONTROL, XLA_ANY_TYPE, 0 },
  { "partition_id", one_device, GANTRY_CLASS_OTHER, XLA_TAKES (0, 1), 0 },
  { "replica_id", one_device, GANTRY_CLASS_OTHER, XLA_TAKES (0, 1), 0 },
  { "rng_bit_generator", rng_bit_generator, GANTRY_CLASS_OTHER, XLA_TAKES (1, 2), 0 },
  OTHER ("constant", constant),
  OTHER ("rng", rng),
  OTHER ("all_gather", collective),
  OTHER ("all_reduce", collective),
  OTHER ("all_to_all", collective),
  OTHER ("collective_broadcast", collective),
  OTHER ("collective_permute", collective),
  OTHER ("cross-replica-sum", collective),
  OTHER ("reduce_scatter", collective),
  OTHER ("send", outside),
  OTHER ("recv", outside),
  OTHER ("infeed", outside),
  OTHER ("outfeed", outside),
  OTHER ("complex", complex_numbers),
  OTHER ("fft", complex_numbers),
  OTHER ("uniform_quantize", quantized),
  OTHER ("uniform_dequantize", quantized),
  OTHER ("set_dimension_size", not_by_data),
  { NULL, NULL, 0, 0, 0 },
};
