/* SPDX-License-Identifier: Apache-2.0 */
/* Inlining of expressions. Each piece is an expression whose loads read other pieces or inputs of the whole; an instance
 * of it, a piece at a tuple of indices, is a copy of its nodes with the indices in place of its variables, made once and kept
 * in a table. The stack of instances is our own, so depth is no limit; the builder's limit on nodes bounds the work. */
#include "core/base/arena.h"
#include "core/expr/texpr-private.h"
#include <string.h>

typedef struct _Piece Piece;
struct _Piece
{
  GantryTexpr *texpr; /* NULL: an input of the whole, or not made yet */
  gboolean owned;
  gint64 input;           /* of the whole; -1: an expression */
  const guint32 *sources; /* for each input of @texpr the piece that it reads */
  const GantryNode *node; /* of a fused body: what @texpr is made of when first asked for */
};

typedef struct
{
  guint32 piece;
  guint32 n;
  const guint32 *indices;
} Instance;

typedef struct
{
  Instance instance;
  guint32 *map; /* nodes of the piece -> nodes of the whole */
  guint32 next; /* node of the piece to copy */
  guint first_axis;
} Frame;

/* Makes the expression of a piece that has none yet. */
typedef gboolean (*MakePiece) (gpointer data, Piece *piece, GError **error);

typedef struct
{
  GantryTexprBuilder *b;
  GArray *pieces;
  GantryArena *arena;
  GHashTable *inlined; /* Instance* -> GUINT node of the whole */
  GArray *stack;
  MakePiece make;
  gpointer data;
} Inliner;

static guint
instance_hash (gconstpointer key)
{
  const Instance *q = key;
  guint h = q->piece * 2654435761u;

  for (guint32 i = 0; i < q->n; i++)
    h = (h ^ q->indices[i]) * 2654435761u + (h >> 15);
  return h;
}

static gboolean
instance_equal (gconstpointer a, gconstpointer b)
{
  const Instance *x = a, *y = b;

  return x->piece == y->piece && x->n == y->n && (x->n == 0 || memcmp (x->indices, y->indices, x->n * sizeof *x->indices) == 0);
}

static void
inliner_init (Inliner *c, GantryTexprBuilder *b, MakePiece make, gpointer data)
{
  c->b = b;
  c->pieces = g_array_new (FALSE, TRUE, sizeof (Piece));
  c->arena = gantry_arena_new ();
  c->inlined = g_hash_table_new (instance_hash, instance_equal);
  c->stack = g_array_new (FALSE, TRUE, sizeof (Frame));
  c->make = make;
  c->data = data;
}

/* Instances belong to one builder, pieces to all results of a fusion. */
static void
inliner_restart (Inliner *c, GantryTexprBuilder *b)
{
  c->b = b;
  g_hash_table_remove_all (c->inlined);
  g_array_set_size (c->stack, 0);
}

static void
inliner_clear (Inliner *c)
{
  for (guint i = 0; i < c->pieces->len; i++)
    if (g_array_index (c->pieces, Piece, i).owned)
      gantry_texpr_free (g_array_index (c->pieces, Piece, i).texpr);
  g_array_unref (c->pieces);
  g_array_unref (c->stack);
  g_hash_table_unref (c->inlined);
  gantry_arena_free (c->arena);
}

static gboolean
push (Inliner *c, Instance instance, GError **error)
{
  Piece *piece = &g_array_index (c->pieces, Piece, instance.piece);
  Frame frame = { .instance = instance };

  if (piece->texpr == NULL && !c->make (c->data, piece, error))
    return FALSE;
  frame.map = gantry_arena_new0 (c->arena, guint32, piece->texpr->n_nodes);
  frame.instance.indices = gantry_arena_copy (c->arena, instance.indices, instance.n * sizeof *instance.indices);
  frame.first_axis = c->b->rank + c->b->n_axes;
  for (guint i = 0; i < piece->texpr->n_axes; i++)
    gantry_tx_axis (c->b, piece->texpr->axes[i]);
  g_array_append_val (c->stack, frame);
  return TRUE;
}

/* A load of the piece on top: of an input of the whole, or an instance of another piece.
 * Returns: FALSE when that instance has to be made first (or cannot: @error). */
static gboolean
copy_load (Inliner *c, Frame *frame, const Piece *piece, const GantryTx *node, guint32 *x, GError **error)
{
  guint32 at[GANTRY_MAX_RANK];
  guint32 source = piece->sources[node->a];
  const Piece *from = &g_array_index (c->pieces, Piece, source);
  Instance instance = { source, node->c, at };
  gpointer made;

  for (guint i = 0; i < node->c; i++)
    at[i] = frame->map[piece->texpr->pool[node->b + i]];
  if (from->input >= 0)
    {
      *x = gantry_tx_load (c->b, (guint) from->input, at);
      return TRUE;
    }
  if (g_hash_table_lookup_extended (c->inlined, &instance, NULL, &made))
    {
      *x = GPOINTER_TO_UINT (made);
      return TRUE;
    }
  push (c, instance, error);
  return FALSE;
}

static guint32
copy_reduce (Inliner *c, const Frame *frame, const GantryTexpr *texpr, const GantryTx *node)
{
  guint axes[GANTRY_MAX_RANK];

  for (guint i = 0; i < node->c; i++)
    axes[i] = frame->first_axis + texpr->pool[node->b + i] - texpr->rank;
  return gantry_tx_reduce (c->b, node->op, frame->map[node->a], axes, node->c);
}

static guint32
copy_node (Inliner *c, const Frame *frame, const GantryTexpr *texpr, const GantryTx *node)
{
  const guint32 *map = frame->map;

  switch (node->kind)
    {
    case GANTRY_TX_INDEX:
      if (node->a < texpr->rank)
        return frame->instance.indices[node->a];
      return gantry_tx_index (c->b, frame->first_axis + node->a - texpr->rank);
    case GANTRY_TX_UNARY: return gantry_tx_unary (c->b, node->op, map[node->a]);
    case GANTRY_TX_BINARY:
      if (node->op == GANTRY_OP_COMPARE)
        return gantry_tx_compare (c->b, node->direction, map[node->a], map[node->b]);
      if (node->op == GANTRY_OP_MULTIPLY && node->direction == GANTRY_TX_UNROUNDED)
        return gantry_tx_addend (c->b, map[node->a], map[node->b]);
      return gantry_tx_binary (c->b, node->op, map[node->a], map[node->b]);
    case GANTRY_TX_SELECT: return gantry_tx_select (c->b, map[node->a], map[node->b], map[node->c]);
    case GANTRY_TX_CAST: return gantry_tx_cast (c->b, map[node->a], node->type);
    case GANTRY_TX_BITCAST: return gantry_tx_bitcast (c->b, map[node->a], node->type);
    case GANTRY_TX_REDUCE: return copy_reduce (c, frame, texpr, node);
    default: return _gantry_tx_make (c->b, node); /* a constant */
    }
}

/* Goes on with the piece on top until it is done or needs another instance. */
static gboolean
step (Inliner *c, GError **error)
{
  guint top = c->stack->len - 1;
  Frame *frame = &g_array_index (c->stack, Frame, top);
  Piece piece = g_array_index (c->pieces, Piece, frame->instance.piece);
  Instance *key;

  for (; frame->next < piece.texpr->n_nodes; frame->next++)
    {
      const GantryTx *node = &piece.texpr->nodes[frame->next];
      guint32 x;

      if (node->kind != GANTRY_TX_LOAD)
        x = copy_node (c, frame, piece.texpr, node);
      else if (!copy_load (c, frame, &piece, node, &x, error))
        return c->stack->len > top + 1;
      frame->map[frame->next] = x;
    }
  key = gantry_arena_copy (c->arena, &frame->instance, sizeof frame->instance);
  g_hash_table_insert (c->inlined, key, GUINT_TO_POINTER (frame->map[piece.texpr->root]));
  g_array_set_size (c->stack, top);
  return TRUE;
}

/* The value of @piece at the result's own coordinates, as the finished expression. */
static GantryTexpr *
inline_piece (Inliner *c, guint32 piece, GError **error)
{
  guint32 at[GANTRY_MAX_RANK];
  Instance instance = { piece, c->b->rank, at };
  const Piece *root = &g_array_index (c->pieces, Piece, piece);
  gboolean ok = TRUE;
  guint32 x = 0;
  GantryTexpr *texpr;

  for (guint i = 0; i < c->b->rank; i++)
    at[i] = gantry_tx_index (c->b, i);
  if (root->input >= 0)
    x = gantry_tx_load (c->b, (guint) root->input, at);
  else
    {
      ok = push (c, instance, error);
      while (ok && c->stack->len > 0 && !c->b->too_large)
        ok = step (c, error);
      if (ok && !c->b->too_large)
        x = GPOINTER_TO_UINT (g_hash_table_lookup (c->inlined, &instance));
    }
  if (!ok)
    c->b->too_large = TRUE; /* lets the end only free */
  texpr = gantry_texpr_builder_end (c->b, x);
  c->b = NULL;
  if (texpr == NULL && ok)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "the expression is too large: more than %u nodes or %d reduction axes", GANTRY_TEXPR_MAX_NODES,
                 GANTRY_MAX_RANK);
  return texpr;
}

/* Fused bodies */

typedef struct
{
  const GantryModule *module;
  const GantryFunction *body;
  guint depth;
  GantryArena *arena;
} Fusion;

/* A constant as an expression: all its elements must be equal. */
static GantryTexpr *
texpr_of_constant (const GantryModule *module, const GantryNode *node, GError **error)
{
  const GantryLiteral *literal = gantry_node_literal (module, node);
  GantryTexprBuilder *b;
  GantryElementType element;
  gsize size;

  if (literal == NULL || !gantry_type_is_static (literal->type) || literal->type->rank > GANTRY_MAX_RANK)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "node %u: a constant without a value", node->id);
      return NULL;
    }
  element = literal->type->element;
  size = gantry_element_size (element);
  if (size == 0 || (!literal->splat && literal->size > size && memcmp (literal->data, literal->data + size, literal->size - size) != 0))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "node %u: a constant inside a fusion must have equal elements; pass this one as an operand",
                   node->id);
      return NULL;
    }
  b = gantry_texpr_builder_new (element, literal->type->rank, literal->type->dims, 0, NULL);
  if (literal->size < size)
    return gantry_texpr_builder_end (b, gantry_tx_const_int (b, element, 0)); /* no elements at all */
  if (gantry_element_is_float (element))
    return gantry_texpr_builder_end (b, gantry_tx_const (b, element, gantry_literal_get_double (literal, 0)));
  return gantry_texpr_builder_end (b, gantry_tx_const_int (b, element, gantry_literal_get_int (literal, 0)));
}

static gboolean
make_body_piece (gpointer data, Piece *piece, GError **error)
{
  Fusion *fusion = data;
  const GantryNode *node = piece->node;
  guint32 *sources;

  if (node->op == GANTRY_OP_CONSTANT)
    {
      piece->texpr = texpr_of_constant (fusion->module, node, error);
      piece->owned = TRUE;
      return piece->texpr != NULL;
    }
  sources = gantry_arena_new0 (fusion->arena, guint32, node->n_operands);
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (fusion->module, node, i);
      guint32 position = operand != NULL ? gantry_module_position (fusion->module, operand) - fusion->body->first_node : G_MAXUINT32;

      if (position >= gantry_module_position (fusion->module, node) - fusion->body->first_node)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "node %u: operand %u does not come before it in the same function", node->id, i);
          return FALSE;
        }
      sources[i] = position;
    }
  piece->texpr = _gantry_texpr_of_node (fusion->module, node, fusion->depth, error);
  piece->sources = sources;
  piece->owned = TRUE;
  return piece->texpr != NULL;
}

static gboolean
check_fusion (const GantryModule *module, const GantryNode *node, const GantryFunction *body, GError **error)
{
  gboolean fits = body != NULL && body->n_params == node->n_operands;

  for (guint i = 0; fits && i < node->n_operands; i++)
    {
      const GantryType *type = gantry_node_operand_type (module, node, i);

      fits = gantry_type_is_static (type) && type->rank <= GANTRY_MAX_RANK
             && gantry_type_same_shape (type, gantry_node_type (module, &module->nodes[body->first_node + i]));
    }
  for (guint i = 0; fits && i < body->n_results; i++)
    {
      const GantryNode *result = gantry_module_node (module, gantry_function_result_id (module, body, i));

      fits = result != NULL && gantry_module_function_of (module, result) == body && gantry_type_is_static (gantry_node_type (module, result))
             && gantry_element_is_compiled (gantry_node_type (module, result)->element) && gantry_node_type (module, result)->rank <= GANTRY_MAX_RANK;
    }
  if (!fits)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "node %u: fusion: its body is missing, does not fit its operands or has results of unknown shape",
                 node->id);
  return fits;
}

/* One piece for each node of the body, numbered as they stand in it. */
static void
add_body_pieces (Inliner *c, const Fusion *fusion)
{
  for (guint i = 0; i < fusion->body->n_nodes; i++)
    {
      Piece piece = { .input = i < fusion->body->n_params ? (gint64) i : -1, .node = &fusion->module->nodes[fusion->body->first_node + i] };

      g_array_append_val (c->pieces, piece);
    }
}

GPtrArray *
_gantry_texpr_of_fusion (const GantryModule *module, const GantryNode *node, guint depth, GError **error)
{
  Fusion fusion = { .module = module, .body = gantry_node_fusion_body (module, node), .depth = depth };
  g_autofree const GantryType **inputs = g_new (const GantryType *, node->n_operands + 1);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_texpr_free);
  Inliner c;

  if (!check_fusion (module, node, fusion.body, error))
    return NULL;
  for (guint i = 0; i < node->n_operands; i++)
    inputs[i] = gantry_node_operand_type (module, node, i);
  inliner_init (&c, NULL, make_body_piece, &fusion);
  fusion.arena = c.arena;
  add_body_pieces (&c, &fusion);
  for (guint i = 0; i < fusion.body->n_results; i++)
    {
      const GantryNode *result = gantry_module_node (module, gantry_function_result_id (module, fusion.body, i));
      const GantryType *type = gantry_node_type (module, result);
      GantryTexpr *texpr;

      inliner_restart (&c, gantry_texpr_builder_new (type->element, type->rank, type->dims, node->n_operands, inputs));
      texpr = inline_piece (&c, gantry_module_position (module, result) - fusion.body->first_node, error);
      if (texpr == NULL)
        break;
      g_ptr_array_add (all, texpr);
    }
  inliner_clear (&c);
  if (all->len == fusion.body->n_results)
    return g_steal_pointer (&all);
  gantry_error_prefix (error, "fusion %u: ", node->id);
  return NULL;
}

GPtrArray *
gantry_texpr_of_fusion (const GantryModule *module, const GantryNode *fusion, GError **error)
{
  return _gantry_texpr_of_fusion (module, fusion, 0, error);
}

/* One expression into another */

/* For each node whether its value depends on a reduction axis. */
static guint8 *
depends_on_axes (const GantryTexpr *texpr)
{
  guint8 *depends = g_new0 (guint8, texpr->n_nodes);

  for (guint32 i = 0; i < texpr->n_nodes; i++)
    {
      const GantryTx *node = &texpr->nodes[i];

      switch (node->kind)
        {
        case GANTRY_TX_INDEX: depends[i] = node->a >= texpr->rank; break;
        case GANTRY_TX_LOAD:
          for (guint j = 0; j < node->c; j++)
            depends[i] |= depends[texpr->pool[node->b + j]];
          break;
        case GANTRY_TX_CONST: break;
        default:
          depends[i] = depends[node->a];
          if (node->kind == GANTRY_TX_BINARY || node->kind == GANTRY_TX_SELECT)
            depends[i] |= depends[node->b];
          if (node->kind == GANTRY_TX_SELECT)
            depends[i] |= depends[node->c];
          break;
        }
    }
  return depends;
}

/* Whether @outer reads @input at more than one coordinate for one element of its result. Loads are hash-consed: two
 * load nodes of one input are two coordinates. */
static gboolean
reads_many (const GantryTexpr *outer, guint input)
{
  g_autofree guint8 *depends = depends_on_axes (outer);
  guint n = 0;

  for (guint32 i = 0; i < outer->n_nodes; i++)
    {
      const GantryTx *node = &outer->nodes[i];

      if (node->kind != GANTRY_TX_LOAD || node->a != input)
        continue;
      if (n++ > 0 || depends[i])
        return TRUE;
    }
  return FALSE;
}

static gboolean
reduces (const GantryTexpr *texpr)
{
  for (guint32 i = 0; i < texpr->n_nodes; i++)
    if (texpr->nodes[i].kind == GANTRY_TX_REDUCE)
      return TRUE;
  return FALSE;
}

GantryTexpr *
gantry_texpr_inline (const GantryTexpr *outer, guint input, const GantryTexpr *inner)
{
  guint n_outer = outer->n_inputs, n_inputs, n = 0;
  g_autofree const GantryType **inputs = NULL;
  g_autofree guint32 *outer_sources = NULL, *inner_sources = NULL;
  GantryTexpr *result;
  Piece pieces[2] = { { .texpr = (GantryTexpr *) outer, .input = -1 }, { .texpr = (GantryTexpr *) inner, .input = -1 } };
  Inliner c;

  g_return_val_if_fail (input < n_outer, NULL);
  if (reduces (inner) && reads_many (outer, input))
    return NULL;
  n_inputs = n_outer - 1 + inner->n_inputs;
  inputs = g_new (const GantryType *, n_inputs + 1);
  outer_sources = g_new (guint32, n_outer);
  inner_sources = g_new (guint32, inner->n_inputs + 1);
  pieces[0].sources = outer_sources;
  pieces[1].sources = inner_sources;
  for (guint i = 0; i < n_outer; i++)
    {
      outer_sources[i] = i == input ? 1 : 2 + n;
      if (i != input)
        inputs[n++] = outer->inputs[i];
    }
  for (guint i = 0; i < inner->n_inputs; i++)
    {
      inner_sources[i] = 2 + n;
      inputs[n++] = inner->inputs[i];
    }
  inliner_init (&c, gantry_texpr_builder_new (outer->element, outer->rank, outer->shape, n_inputs, inputs), NULL, NULL);
  g_array_append_vals (c.pieces, pieces, 2);
  for (guint i = 0; i < n_inputs; i++)
    {
      Piece piece = { .input = i };

      g_array_append_val (c.pieces, piece);
    }
  result = inline_piece (&c, 0, NULL);
  inliner_clear (&c);
  return result;
}
