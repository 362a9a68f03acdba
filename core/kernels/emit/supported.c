/* SPDX-License-Identifier: Apache-2.0 */
/* What there is code for. Before anything is emitted every operation is looked up here, since LLVM ends the process on what it
 * cannot select. */
#include "core/kernels/emit/compiler.h"
#include "core/expr/scalar.h"

#define MAX_TEXPR_NODES 16384
/* The emission calls itself for each node on the longest path; a thread's stack has room for that. */
#define MAX_DEPTH 12000

static gboolean
can_generate (const GantryTexpr *texpr, const GantryTx *tx)
{
  GantryElementType of = tx->kind >= GANTRY_TX_UNARY ? texpr->nodes[tx->a].type : 0;
  GantryScalar identity;

  switch ((GantryTxKind) tx->kind)
    {
    case GANTRY_TX_UNARY: return gantry_emit_has_unary (tx->op, of);
    case GANTRY_TX_BINARY: return gantry_emit_has_binary (tx->op, of);
    case GANTRY_TX_BITCAST: return gantry_element_size (of) == gantry_element_size (tx->type);
    case GANTRY_TX_REDUCE: return gantry_scalar_identity (tx->op, tx->type, &identity);
    case GANTRY_TX_CAST: return gantry_element_is_compiled (of);
    default: return TRUE;
    }
}

/* Nodes on the longest path to the root. */
static guint
depth_of (const GantryTexpr *texpr)
{
  g_autofree guint *depth = g_new0 (guint, texpr->n_nodes);
  guint deepest = 0;

  for (guint32 i = 0; i < texpr->n_nodes; i++)
    {
      const GantryTx *tx = &texpr->nodes[i];

      if (tx->kind == GANTRY_TX_LOAD)
        for (guint k = 0; k < tx->c; k++)
          depth[i] = MAX (depth[i], depth[texpr->pool[tx->b + k]]);
      if (tx->kind >= GANTRY_TX_UNARY)
        depth[i] = depth[tx->a];
      if (tx->kind == GANTRY_TX_BINARY || tx->kind == GANTRY_TX_SELECT)
        depth[i] = MAX (depth[i], depth[tx->b]);
      if (tx->kind == GANTRY_TX_SELECT)
        depth[i] = MAX (depth[i], depth[tx->c]);
      deepest = MAX (deepest, ++depth[i]);
    }
  return deepest;
}

gboolean
gantry_generate_check (const GantryTexpr *texpr, const GantryCompiler *compiler, GString *why)
{
  gsize before = why->len;

  if (texpr->n_nodes > MAX_TEXPR_NODES)
    g_string_append_printf (why, "its expression has %u nodes, at most %d can be compiled\n", texpr->n_nodes, MAX_TEXPR_NODES);
  else if (depth_of (texpr) > MAX_DEPTH)
    g_string_append_printf (why, "its expression is nested %u deep, at most %d can be compiled\n", depth_of (texpr), MAX_DEPTH);
  for (guint32 i = 0; i < texpr->n_nodes && why->len == before; i++)
    {
      const GantryTx *tx = &texpr->nodes[i];

      if (!gantry_element_is_compiled (tx->type))
        g_string_append_printf (why, "there is no code for values of type %s\n", gantry_element_name (tx->type));
      else if ((tx->type == GANTRY_F16 || texpr->element == GANTRY_F16) && !compiler->has_f16c)
        g_string_append (why, "f16 needs a processor with F16C\n");
      else if (!can_generate (texpr, tx))
        g_string_append_printf (why, "there is no code for %s of %s\n",
                                tx->op != GANTRY_OP_NONE && gantry_op_info (tx->op) != NULL ? gantry_op_info (tx->op)->name : "a conversion",
                                gantry_element_name (texpr->nodes[tx->a].type));
    }
  return why->len == before;
}
