/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot of a program: functions whose nodes sit in flat arrays in program order. Frozen once
 * built: a pass reads one module and writes the next. Every node is one value (an operation with
 * several results has a tuple type, and `result` nodes take them out), named by an id that is
 * never used twice in a context. */
#pragma once
#include "core/graph/context.h"

G_BEGIN_DECLS

typedef struct _GantryModule GantryModule;

/** Which part of a training step a node belongs to; of a program that does not train all is forward. */
typedef enum
{
  GANTRY_PHASE_FORWARD,
  GANTRY_PHASE_BACKWARD, /* made by reverse differentiation; its origins name the forward nodes it derives from */
  GANTRY_PHASE_UPDATE,   /* of the optimizer */
  GANTRY_N_PHASES
} GantryPhase;

const char *gantry_phase_name (GantryPhase phase); /* "forward", "backward", "update" */

#define GANTRY_MOST_OPERANDS ((1u << 24) - 1)

/** 40 bytes; operands and origins lie in pools of the module. */
typedef struct
{
  guint32 id;
  guint16 op;        /* GantryOp, or >= GANTRY_OP_FOREIGN */
  guint16 n_origins; /* nodes of the snapshot before that this one was made of; 0: itself */
  guint32 operands;  /* first index in the operand pool */
  guint32 n_operands : 24;
  guint32 phase : 8; /* GantryPhase */
  guint32 origins;   /* first index in the origin pool */
  guint32 type;
  guint32 attrs;
  guint32 scope;
  guint32 location;
  guint32 name; /* string id: the name that the source gave this value */
} GantryNode;

typedef struct
{
  guint32 id;         /* what GANTRY_ATTR_FUNCTION names; kept through passes */
  guint32 name;       /* string id */
  guint32 first_node; /* index in module->nodes */
  guint32 n_nodes;    /* the first n_params of them are `parameter` nodes, in order */
  guint32 n_params;
  guint32 n_results;
  guint32 results; /* first index in the operand pool: node ids */
} GantryFunction;

/** Read freely; never write. */
struct _GantryModule
{
  gatomicrefcount ref_count;
  GantryContext *context;
  guint32 name; /* string id */
  guint32 n_functions;
  guint32 n_nodes;
  guint32 n_operands;
  guint32 n_origins;
  guint32 n_index;
  GantryFunction *functions; /* functions[0] is the entry */
  guint32 *by_id;            /* (nullable): indices of functions, by ascending function id */
  GantryNode *nodes;
  guint32 *operands; /* node ids; 0 = an absent optional operand of a foreign operation */
  guint32 *origins;  /* node ids of the snapshot before */
  guint32 *index;    /* node id -> 1 + position in nodes, 0 = not in this snapshot; n_index entries */
  guint32 n_replaced;
  guint32 *replaced;   /* pairs (node id of the snapshot before, node id here that took its uses over), sorted */
  GantryModule *whole; /* (nullable): of a region (gantry_module_region()): the module that it shares all other arrays with */
};

GantryModule *gantry_module_ref (GantryModule *module);
void gantry_module_unref (GantryModule *module);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryModule, gantry_module_unref)
gsize gantry_module_size (const GantryModule *module); /* bytes of this snapshot */

/** The function that a run of the program calls. */
static inline const GantryFunction *
gantry_module_entry (const GantryModule *module)
{
  return &module->functions[0];
}
/** Returns: (nullable): the function with that id */
const GantryFunction *gantry_module_function (const GantryModule *module, guint32 function_id);
/** Returns: (nullable): the node with that id */
static inline const GantryNode *
gantry_module_node (const GantryModule *module, guint32 id)
{
  return id < module->n_index && module->index[id] != 0 ? &module->nodes[module->index[id] - 1] : NULL;
}
/** Index of @node in @module->nodes: what arrays over all nodes are indexed by. */
static inline guint32
gantry_module_position (const GantryModule *module, const GantryNode *node)
{
  return (guint32) (node - module->nodes);
}
/** The function that a node stands in. */
const GantryFunction *gantry_module_function_of (const GantryModule *module, const GantryNode *node);
/** Returns: (nullable) (transfer none): what fusion @node consists of; NULL where @node is none */
const GantryFunction *gantry_node_fusion_body (const GantryModule *module, const GantryNode *node);
/** Returns: the node id of operand @i; 0 where it has no such operand, and for an optional one that is absent */
static inline guint32
gantry_node_operand_id (const GantryModule *module, const GantryNode *node, guint i)
{
  return i < node->n_operands ? module->operands[node->operands + i] : 0;
}
/** Returns: (nullable): operand @i as node; %NULL where gantry_node_operand_id() is 0 */
static inline const GantryNode *
gantry_node_operand (const GantryModule *module, const GantryNode *node, guint i)
{
  return gantry_module_node (module, gantry_node_operand_id (module, node, i));
}
/** Never %NULL: of a node whose type was not inferred it is the unknown type. */
static inline const GantryType *
gantry_node_type (const GantryModule *module, const GantryNode *node)
{
  return gantry_context_type (module->context, node->type);
}
/** Never %NULL: where there is no operand @i it is the unknown type. */
static inline const GantryType *
gantry_node_operand_type (const GantryModule *module, const GantryNode *node, guint i)
{
  const GantryNode *operand = gantry_node_operand (module, node, i);

  return gantry_context_type (module->context, operand != NULL ? operand->type : 0);
}
/** What the attribute `value` of a constant holds. Returns: (nullable) (transfer none): %NULL of other nodes */
GantryLiteral *gantry_node_literal (const GantryModule *module, const GantryNode *node);
/** Where the value of node @id of the snapshot before went: @id itself when it is still here, the node that
 *  replaced it, or 0 when it is gone. */
guint32 gantry_module_successor (const GantryModule *module, guint32 id);
/** Returns: (transfer none): as gantry_context_op_name() */
const char *gantry_node_op_name (const GantryModule *module, const GantryNode *node);
/** The name to show: the source's, as gantry_format_text() writes it, or "%id". Returns: (transfer full) */
char *gantry_node_label (const GantryModule *module, const GantryNode *node);
/** "file.py:7: add 'y'": where a node comes from, what it does, and its label. Returns: (transfer full) */
char *gantry_node_where (const GantryModule *module, const GantryNode *node);
/** A line for each custom call of the module, "\n  file.py:7: custom_call 'y': the text that it stands for". Returns: (transfer full)
 *  (nullable): NULL where there is none */
char *gantry_module_host_calls (const GantryModule *module);
/** @i: below @function->n_results. Returns: the node id of that result */
static inline guint32
gantry_function_result_id (const GantryModule *module, const GantryFunction *function, guint i)
{
  return module->operands[function->results + i];
}

/**
 * GantryUses: for each node position the positions of the nodes that use it, in program order, each
 * once per operand slot. Function results count as a use by G_MAXUINT32.
 */
typedef struct
{
  guint32 *first; /* n_nodes + 1 */
  guint32 *users;
} GantryUses;
/** Returns: (transfer full): linear in nodes and operands */
GantryUses *gantry_uses_new (const GantryModule *module);
void gantry_uses_free (GantryUses *uses);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryUses, gantry_uses_free)

/**
 * gantry_module_content:
 *
 * A hash (SHA-256) of what a module computes, whatever its nodes and functions are called and numbered and wherever they come from:
 * the same in each compilation of a program and in each process. Large literals count by their size. Linear.
 *
 * Returns: (transfer full): hexadecimal
 */
char *gantry_module_content (const GantryModule *module);

/** Equal graphs: same functions, ids, operations, operands, types, attributes, scopes, names and locations
 *  (contexts may differ). @why (out) (optional) (transfer full): the first difference in words. */
gboolean gantry_module_equal (const GantryModule *a, const GantryModule *b, char **why);

G_END_DECLS
