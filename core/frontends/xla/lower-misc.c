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
  rule->lower (l);
  return TRUE;
}

static void
custom_call (XlaLower *l)
{
  const char *target = gantry_xla_string (l, "call_target_name", "");

  if (strcmp (target, "Sharding") == 0 || g_str_has_prefix (target, "xla.sdy.")
      || strcmp (target, "LayoutConstraint") == 0)
    as_it_is (l); /* on one device every sharding is the whole */
  else if (strcmp (target, "TopK") == 0 && l->n_out == 2)
    by_name (l, "chlo.top_k");
  else if (!by_name (l, target))
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
  else
    gantry_xla_refuse (l, "an element type that is not compiled");
}

static void
not_by_data (XlaLower *l)
{
  gantry_xla_refuse (l, "a size that depends on data");
}

/* The state of any algorithm is a vector of u64; the one of the core generator has two. */
static void
rng_bit_generator (XlaLower *l)
{
  const GantryType *bits = gantry_xla_declared (l, 1);
  const char *algorithm = gantry_xla_string (l, "rng_algorithm", gantry_xla_string (l, "algorithm", "DEFAULT"));
  guint32 state = gantry_xla_in (l, 0), value;
  const GantryType *type = gantry_xla_type (l, state);
  GantryAttrList *attrs;

  if (strcmp (algorithm, "DEFAULT") != 0 || l->n_out != 2 || type->rank != 1 || type->dims[0] != 2
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

#define OTHER(name, function)                           \
  {                                                     \
    name, function, GANTRY_CLASS_OTHER, XLA_ANY_TYPE, 0 \
  }

const XlaRule gantry_xla_misc_rules[] = {
  { "optimization_barrier", optimization_barrier, GANTRY_CLASS_CONTROL, XLA_ANY_TYPE, 0 },
  { "opt_barrier", optimization_barrier, GANTRY_CLASS_CONTROL, XLA_ANY_TYPE, 0 },
  { "copy", as_it_is, GANTRY_CLASS_MEMORY, 0, 0 },
  { "custom_call", custom_call, GANTRY_CLASS_OTHER, XLA_ANY_TYPE, 0 },
  { "partition_id", one_device, GANTRY_CLASS_OTHER, 0, 0 },
  { "replica_id", one_device, GANTRY_CLASS_OTHER, 0, 0 },
  { "rng_bit_generator", rng_bit_generator, GANTRY_CLASS_OTHER, 0, 0 },
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
