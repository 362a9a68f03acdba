/* SPDX-License-Identifier: Apache-2.0 */
/* How an ONNX node looks once imported: the agreement between the importer, which writes such nodes,
 * and the lowering rules, which read them. Private to this room.
 *
 * Operation. "onnx.Conv" for the domains "" and "ai.onnx", "onnx.com.microsoft.FusedConv" for any
 * other, so that the part before the first dot is always the dialect.
 *
 * Operands. The declared inputs in the order of the file; an absent optional input ("") is operand
 * id 0; trailing absent ones are dropped. After them the captures (see Subgraphs).
 *
 * Results. n = index of the last output with a name, plus 1; a node with subgraphs keeps all declared
 * outputs. n = 1: the node itself is the value, and its name is the output's name. n > 1: the node has
 * a tuple type of n members, one for each output position, also for an unused one in the middle
 * (unknown type if nobody knows better), and a core `result` node (attribute "index") follows for
 * each output that has a name. A rule fills results[0 .. n_results - 1]; results[i] may stay 0 only
 * where nothing uses member i.
 *
 * Attributes. Each attribute of the node under its own name:
 *   FLOAT, INT, STRING, FLOATS, INTS, STRINGS  as the same kind (bytes that are no UTF-8 are mended)
 *   TENSOR         a literal; of an element type that is not compiled (string, int4, float8, complex)
 *                  a string list (string tensors; with "<name>.shape" ints) or else only the type
 *   SPARSE_TENSOR  literals "<name>.values" and "<name>.indices", ints "<name>.dims"
 *   TYPE_PROTO     a type (unknown type for sequences, maps, optionals)
 *   GRAPH          a function, see below
 *   lists of TENSOR, GRAPH, SPARSE_TENSOR, TYPE_PROTO   "<name>" is the int length, "<name>.0", ... each
 * and besides:
 *   "opset" int       version of the operator set of the node's domain (0 when the model imports none)
 *   "captures" int    only of a node with subgraphs: how many operands at the end are captures
 *   "doc_string" string   where the exporter wrote one (often a Python stack trace)
 * An attribute that the file itself calls "opset" or "captures" is kept as "opset_", "captures_".
 *
 * Subgraphs. Each is a function of the module that is closed: what it uses from outside comes in by
 * parameters. All subgraphs of one node share one list of captures: the operands after the declared
 * inputs. The parameters of each body are the graph's own inputs, then all captures of the node (of
 * which a body may use none); its results are the graph's outputs. So `If` has operands (cond,
 * captures...) and its branches have parameters (captures...), which is what the core `if` wants;
 * `Loop` has operands (M, cond, carried..., captures...) and its body parameters (iteration, cond,
 * carried..., captures...). Initializers of a subgraph are constants in its function.
 *
 * Other nodes. Initializers are core `constant` nodes. One whose element type is not compiled is a
 * node "onnx.Initializer" without operands, so that it opens and is drawn; no rule knows it.
 *
 * Inference. To find types the importer lowers each node into a scratch module, in program order,
 * with constant folding on for small values (so shape arithmetic is constant there); `source` is the
 * complete imported module, but its nodes have only the types that the file declares (value_info and
 * graph outputs; often none). So a rule takes types and constants from the builder and @operands, not
 * from the nodes of @source; attributes and the number of operands it takes from @node. The bodies
 * of subgraphs are in the scratch module under their own function ids before their node is lowered,
 * so that `if` and `call` infer there. A node with an operand of unknown type is not lowered at
 * import.
 */
#pragma once
#include "core/frontends/onnx/onnx.h"
#include "core/graph/dialect.h"

G_BEGIN_DECLS

#define GANTRY_ONNX_DIALECT "onnx"
#define GANTRY_ONNX_PREFIX "onnx."

/* Versions of the default operator set that the rules are written for; README.md says them too, which a test compares. */
#define GANTRY_ONNX_OLDEST_OPSET 7
#define GANTRY_ONNX_NEWEST_OPSET 25

/** How many operands of @node are captures of its subgraphs; they are the last ones. A text may claim any number. */
static inline guint
gantry_onnx_node_captures (GantryContext *context, const GantryNode *node)
{
  gint64 captures = gantry_attrs_int (context, node->attrs, "captures", 0);

  return (guint) CLAMP (captures, 0, (gint64) node->n_operands);
}

/** How many declared inputs @node has, absent ones in the middle counted. */
static inline guint
gantry_onnx_node_inputs (GantryContext *context, const GantryNode *node)
{
  return node->n_operands - gantry_onnx_node_captures (context, node);
}

/** Version of the operator set of its domain that the model declares; 0 where it declares none. */
static inline gint64
gantry_onnx_node_opset (GantryContext *context, const GantryNode *node)
{
  return gantry_attrs_int (context, node->attrs, "opset", 0);
}

/** "Conv" of "onnx.Conv", "com.microsoft.FusedConv" of that one. */
static inline const char *
gantry_onnx_node_operation (GantryContext *context, const GantryNode *node)
{
  return gantry_context_op_name (context, node->op) + sizeof GANTRY_ONNX_PREFIX - 1;
}

/* What the lowering rules give the importer, besides gantry_onnx_dialect() of onnx.h. */

/** Whether there is a rule for @operation ("Conv", "com.microsoft.FusedConv"), whatever its
 * attributes. */
gboolean gantry_onnx_knows_operation (const char *operation);

G_END_DECLS
