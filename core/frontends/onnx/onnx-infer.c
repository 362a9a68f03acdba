/* SPDX-License-Identifier: Apache-2.0 */
/* Types by lowering: each node is written in core operations into a scratch module that nobody
 * keeps, and what comes out has the types. Where dimensions are not bound this is done twice with
 * two sizes put in for each of them: an extent that is the same both times does not depend on them,
 * one that is the size put in both times is that dimension, any other is unknown. So a free batch
 * size is seen through the whole graph, although the rules compute with numbers only. */
#include "core/frontends/onnx/onnx-infer-private.h"
#include "core/eval/fold.h"
#include "core/graph/operation.h"
#include <string.h>

/* Values up to this many elements are folded: shapes, indices, axes; never a weight. */
#define FOLD_LIMIT 1024
#define REPORT_EVERY 1024u

static gboolean infer_function (GantryOnnxInfer *infer, const GantryFunction *function, const guint32 *types, GError **error);

static const char *
operation_of (GantryOnnxInfer *infer, const GantryNode *node)
{
  return gantry_onnx_node_operation (infer->import->context, node);
}

/* Free dimensions */

static gint64
size_put_in (GantryOnnxInfer *infer, GantryDim dim)
{
  gpointer known = dim != GANTRY_DIM_UNKNOWN ? g_hash_table_lookup (infer->sizes, GSIZE_TO_POINTER ((gsize) dim)) : NULL;
  gsize k = GPOINTER_TO_SIZE (known);

  if (k == 0)
    {
      g_array_append_val (infer->free_dims, dim);
      k = infer->free_dims->len;
      if (dim != GANTRY_DIM_UNKNOWN)
        g_hash_table_insert (infer->sizes, GSIZE_TO_POINTER ((gsize) dim), GSIZE_TO_POINTER (k));
    }
  return gantry_onnx_guess (infer->run, k - 1);
}

static guint32
with_sizes (GantryOnnxInfer *infer, guint32 id)
{
  const GantryType *type = gantry_context_type (infer->import->context, id);
  GantryDim dims[GANTRY_MAX_RANK];

  if (!infer->guessing || !gantry_type_is_tensor (type) || gantry_type_is_static (type))
    return id;
  for (guint i = 0; i < type->rank; i++)
    dims[i] = GANTRY_DIM_IS_STATIC (type->dims[i]) ? type->dims[i] : size_put_in (infer, type->dims[i]);
  return gantry_context_tensor (infer->import->context, type->element, type->rank, dims);
}

/* What is refused */

static void
note_problem (GantryOnnxInfer *infer, const GantryNode *node, const char *why)
{
  const char *operation = operation_of (infer, node);
  g_autofree char *key = NULL;
  GantryOnnxUnsupported *problem;
  gsize index;

  if (infer->dead > 0 || infer->run > 0 || (infer->guessing && gantry_onnx_knows_operation (operation)))
    return;
  if (g_str_has_prefix (why, operation) && g_str_has_prefix (why + strlen (operation), ": "))
    why += strlen (operation) + 2;
  key = g_strconcat (operation, "\n", why, NULL);
  index = GPOINTER_TO_SIZE (g_hash_table_lookup (infer->problem_index, key));
  if (index == 0)
    {
      const GantryLocation *location = gantry_context_get_location (infer->import->context, node->location);
      GantryOnnxUnsupported added = { .operation = g_strdup (operation), .why = g_strdup (why) };

      added.first = g_strdup (location != NULL ? gantry_context_string (infer->import->context, location->text) : "");
      g_array_append_val (infer->problems, added);
      index = infer->problems->len;
      g_hash_table_insert (infer->problem_index, g_steal_pointer (&key), GSIZE_TO_POINTER (index));
    }
  problem = &g_array_index (infer->problems, GantryOnnxUnsupported, index - 1);
  problem->count++;
}

/* Values */

static guint32
value_of (GantryOnnxInfer *infer, guint32 id)
{
  const GantryNode *node = gantry_module_node (infer->module, id);

  return node != NULL ? infer->values[gantry_module_position (infer->module, node)] : 0;
}

/* A value about which only its type is known, and that perhaps not. */
static guint32
placeholder (GantryOnnxInfer *infer, const GantryNode *node, guint32 declared)
{
  return gantry_builder_add_typed (infer->scratch, node->op, NULL, 0, 0, with_sizes (infer, declared));
}

static guint
count_results (GantryOnnxInfer *infer, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (infer->module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
}

static guint32
declared_result (GantryOnnxInfer *infer, const GantryNode *node, guint i)
{
  const GantryType *type = gantry_node_type (infer->module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? (guint32) type->dims[i] : node->type;
}

static void
keep_results (GantryOnnxInfer *infer, guint32 position, const guint32 *results, guint n)
{
  const GantryNode *node = &infer->module->nodes[position];
  g_autofree guint32 *types = g_new (guint32, n + 1);
  gboolean is_tuple = gantry_node_type (infer->module, node)->kind == GANTRY_TYPE_TUPLE;

  infer->values[position] = is_tuple ? infer->members->len : 0;
  for (guint i = 0; i < n; i++)
    {
      guint32 value = results[i];

      if (value == 0 || gantry_builder_type (infer->scratch, value) == 0)
        value = placeholder (infer, node, declared_result (infer, node, i));
      types[i] = gantry_builder_type (infer->scratch, value);
      if (is_tuple)
        g_array_append_val (infer->members, value);
      else
        infer->values[position] = value;
    }
  infer->types[position] = is_tuple ? gantry_context_tuple (infer->import->context, n, types) : types[0];
}

/* Subgraphs */

/* What a declared type leaves open is known from the operand; where both are complete the file
 * decides. */
static guint32
parameter_type (GantryOnnxInfer *infer, guint32 declared, guint32 given)
{
  const GantryType *of = gantry_context_type (infer->import->context, declared);
  const GantryType *other = gantry_context_type (infer->import->context, given);

  if (gantry_type_is_static (of))
    return declared;
  if (gantry_type_is_tensor (other) && (!gantry_type_is_tensor (of) || of->rank == other->rank))
    return given;
  return with_sizes (infer, declared);
}

static guint32
without_axis (GantryOnnxInfer *infer, guint32 id, gint64 axis)
{
  const GantryType *type = gantry_context_type (infer->import->context, id);
  GantryDim dims[GANTRY_MAX_RANK];
  guint n = 0;

  if (axis < 0)
    axis += type->rank;
  if (!gantry_type_is_tensor (type) || axis < 0 || axis >= type->rank)
    return 0;
  for (guint i = 0; i < type->rank; i++)
    if (i != axis)
      dims[n++] = type->dims[i];
  return gantry_context_tensor (infer->import->context, type->element, n, dims);
}

/* The type that the node's operands give to its body's own input @i of @n. */
static guint32
given_type (GantryOnnxInfer *infer, const GantryNode *node, guint i, guint n)
{
  GantryContext *context = infer->import->context;
  const char *operation = operation_of (infer, node);
  guint inputs = gantry_onnx_node_inputs (context, node);
  guint32 type = 0;

  if (i < inputs)
    type = gantry_builder_type (infer->scratch, value_of (infer, gantry_node_operand_id (infer->module, node, i)));
  if (strcmp (operation, "Loop") == 0)
    return i < 2 ? gantry_context_scalar (context, i == 0 ? GANTRY_I64 : GANTRY_BOOL) : type;
  if (strcmp (operation, "Scan") == 0 && gantry_onnx_node_opset (context, node) >= 9)
    {
      gint64 scanned = gantry_attrs_int (context, node->attrs, "num_scan_inputs", 0);
      gsize n_axes;
      const gint64 *axes = gantry_attrs_ints (context, node->attrs, "scan_input_axes", &n_axes);
      gint64 k = (gint64) i - ((gint64) n - scanned);

      if (k < 0)
        return type;
      return without_axis (infer, type, (gsize) k < n_axes ? axes[k] : 0);
    }
  return 0;
}

static gboolean
infer_body (GantryOnnxInfer *infer, const GantryNode *node, guint32 function_id, GError **error)
{
  const GantryFunction *body = gantry_onnx_infer_function (infer, function_id);
  guint captures = gantry_onnx_node_captures (infer->import->context, node);
  guint own = body->n_params - captures;
  g_autofree guint32 *types = g_new0 (guint32, body->n_params + 1);

  for (guint i = 0; i < body->n_params; i++)
    {
      const GantryNode *parameter = &infer->module->nodes[body->first_node + i];
      guint32 given;

      if (i < own)
        given = given_type (infer, node, i, own);
      else
        given = gantry_builder_type (infer->scratch, value_of (infer, gantry_node_operand_id (infer->module, node, node->n_operands - captures + i - own)));
      types[i] = parameter_type (infer, i < own ? parameter->type : 0, given);
    }
  return infer_function (infer, body, types, error);
}

/* The branch of an `If` that its condition never takes may be wrong in itself: `squeeze` it if its
 * extent is 1. */
static gboolean
is_dead (GantryOnnxInfer *infer, const GantryNode *node, const char *key)
{
  GantryLiteral *condition;

  if (strcmp (operation_of (infer, node), "If") != 0)
    return FALSE;
  condition = gantry_builder_constant_of (infer->scratch, value_of (infer, gantry_node_operand_id (infer->module, node, 0)));
  if (condition == NULL || condition->size == 0)
    return FALSE;
  return strcmp (key, gantry_literal_get_int (condition, 0) != 0 ? "else_branch" : "then_branch") == 0;
}

static gboolean
infer_bodies (GantryOnnxInfer *infer, const GantryNode *node, GError **error)
{
  const GantryAttrs *attrs = gantry_context_attrs (infer->import->context, node->attrs);
  gboolean ok = TRUE;

  for (guint i = 0; i < attrs->n && ok; i++)
    if (attrs->items[i].kind == GANTRY_ATTR_FUNCTION)
      {
        gboolean dead = is_dead (infer, node, gantry_context_string (infer->import->context, attrs->items[i].key));

        infer->dead += dead;
        ok = infer_body (infer, node, attrs->items[i].id, error);
        infer->dead -= dead;
      }
  return ok;
}

/* Nodes */

static gboolean
operands_known (GantryOnnxInfer *infer, const GantryNode *node, guint32 *operands)
{
  gboolean known = TRUE;

  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 id = gantry_node_operand_id (infer->module, node, i);

      operands[i] = value_of (infer, id);
      known = known && (id == 0 || gantry_builder_type (infer->scratch, operands[i]) != 0);
    }
  return known;
}

/* Initializers whose element type is not compiled have a type all the same. */
static gboolean
is_initializer (const GantryNode *node, const char *operation)
{
  return node->n_operands == 0 && (strcmp (operation, "Initializer") == 0 || strcmp (operation, "SparseInitializer") == 0);
}

static void
infer_foreign (GantryOnnxInfer *infer, const GantryNode *node, guint32 position)
{
  const char *operation = operation_of (infer, node);
  guint n = count_results (infer, node);
  g_autofree guint32 *operands = g_new0 (guint32, node->n_operands + 1);
  g_autofree guint32 *results = g_new0 (guint32, n + 1);
  g_autoptr (GError) local = NULL;
  gboolean known = operands_known (infer, node, operands), ok;

  if (is_initializer (node, operation))
    {
      g_autofree char *why = g_strdup_printf ("element type %s is not compiled", gantry_element_name (gantry_node_type (infer->module, node)->element));

      note_problem (infer, node, strcmp (operation, "Initializer") == 0 ? why : "sparse tensors are not compiled");
    }
  else if (known || !gantry_onnx_knows_operation (operation))
    {
      gantry_builder_set_place (infer->scratch, node->scope, node->location);
      ok = gantry_onnx_dialect ()->lower (infer->scratch, infer->module, node, operands, results, n, &local);
      if (ok)
        ok = gantry_builder_check (infer->scratch, &local);
      else
        gantry_builder_check (infer->scratch, NULL);
      if (!ok)
        {
          note_problem (infer, node, local != NULL ? local->message : "it cannot be expressed");
          memset (results, 0, sizeof *results * n);
        }
    }
  keep_results (infer, position, results, n);
}

static void
infer_result (GantryOnnxInfer *infer, const GantryNode *node, guint32 position)
{
  const GantryNode *tuple = gantry_node_operand (infer->module, node, 0);
  guint index = (guint) gantry_attrs_int (infer->import->context, node->attrs, "index", 0);
  guint first = infer->values[gantry_module_position (infer->module, tuple)];

  infer->values[position] = g_array_index (infer->members, guint32, first + index);
  infer->types[position] = gantry_builder_type (infer->scratch, infer->values[position]);
}

/* The graph is written by then; finding types is the longer part. */
static gboolean
report (GantryOnnxInfer *infer, GError **error)
{
  double runs = infer->guessing ? 2 : 1;
  double done = (infer->run + (double) infer->n_done / infer->module->n_nodes) / runs;

  if (infer->n_done++ % REPORT_EVERY != 0)
    return TRUE;
  gantry_progress_report (infer->import->progress, GANTRY_ONNX_WRITTEN + (1 - GANTRY_ONNX_WRITTEN) * done, "finding types");
  return !gantry_progress_cancelled (infer->import->progress, error);
}

static gboolean
infer_node (GantryOnnxInfer *infer, const GantryNode *node, GError **error)
{
  guint32 position = gantry_module_position (infer->module, node);

  if (!report (infer, error))
    return FALSE;
  switch (node->op)
    {
    case GANTRY_OP_CONSTANT:
      infer->values[position] = gantry_builder_add_typed (infer->scratch, GANTRY_OP_CONSTANT, NULL, 0, node->attrs, node->type);
      infer->types[position] = node->type;
      return TRUE;
    case GANTRY_OP_RESULT: infer_result (infer, node, position); return TRUE;
    default:
      if (!infer_bodies (infer, node, error))
        return FALSE;
      infer_foreign (infer, node, position);
      return TRUE;
    }
}

/* @types: of the parameters */
static gboolean
infer_function (GantryOnnxInfer *infer, const GantryFunction *function, const guint32 *types, GError **error)
{
  g_autofree guint32 *results = g_new (guint32, function->n_results + 1);

  gantry_builder_begin (infer->scratch, NULL, function->id);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &infer->module->nodes[function->first_node + i];
      guint32 position = function->first_node + i;

      if (i >= function->n_params)
        {
          if (!infer_node (infer, node, error))
            return FALSE;
          continue;
        }
      /* Refusals name the inputs of the model; the parameters of bodies are none. */
      gantry_builder_set_name (infer->scratch, function == gantry_module_entry (infer->module) ? node->name : 0);
      infer->values[position] = gantry_builder_parameter (infer->scratch, types[i], NULL);
      infer->types[position] = types[i];
    }
  for (guint i = 0; i < function->n_results; i++)
    results[i] = value_of (infer, gantry_function_result_id (infer->module, function, i));
  gantry_builder_end (infer->scratch, results, function->n_results);
  return TRUE;
}

gboolean
gantry_onnx_infer_run (GantryOnnxInfer *infer, GError **error)
{
  GantryContext *context = infer->import->context;
  const GantryFunction *entry = gantry_module_entry (infer->module);
  guint32 last_id = gantry_context_last_node_id (context);
  g_autofree guint32 *types = g_new (guint32, entry->n_params + 1);
  gboolean ok;

  for (guint i = 0; i < entry->n_params; i++)
    types[i] = with_sizes (infer, infer->module->nodes[entry->first_node + i].type);
  infer->scratch = gantry_builder_new (context, "types");
  gantry_fold_set_limit (infer->scratch, FOLD_LIMIT);
  infer->members = g_array_new (FALSE, FALSE, sizeof (guint32));
  ok = infer_function (infer, entry, types, error);
  g_clear_pointer (&infer->members, g_array_unref);
  g_clear_pointer (&infer->scratch, gantry_builder_free);
  gantry_context_return_node_ids (context, last_id);
  return ok;
}
