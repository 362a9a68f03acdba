/* SPDX-License-Identifier: Apache-2.0 */
/* What the runs of type inference found, together and with what the file declares, becomes the
 * types of the module's nodes; what was refused becomes the list of unsupported operations. */
#include "core/frontends/onnx/onnx-infer-private.h"
#include <string.h>

/* Sizes that few models have and that are large enough for windows and strides to pass over. No two
 * are equal in both runs at once, which is what tells them apart. */
gint64
gantry_onnx_guess (guint run, gsize k)
{
  return run == 0 ? 211 + 6 * (gint64) k : 307 + 10 * (gint64) k;
}

const GantryFunction *
gantry_onnx_infer_function (GantryOnnxInfer *infer, guint32 function_id)
{
  return g_hash_table_lookup (infer->functions, GUINT_TO_POINTER (function_id));
}

/* Two runs */

static GantryDim
merge_dim (GantryOnnxInfer *infer, GantryDim a, GantryDim b)
{
  gint64 k = (a - gantry_onnx_guess (0, 0)) / 6;

  if (a == b)
    return a;
  if (k >= 0 && k < infer->free_dims->len && a == gantry_onnx_guess (0, (gsize) k) && b == gantry_onnx_guess (1, (gsize) k))
    return g_array_index (infer->free_dims, GantryDim, k);
  return GANTRY_DIM_UNKNOWN;
}

static guint32
merge_tensor (GantryOnnxInfer *infer, const GantryType *a, const GantryType *b)
{
  GantryDim dims[GANTRY_MAX_RANK];

  if (a->element != b->element || a->rank != b->rank)
    return 0;
  for (guint i = 0; i < a->rank; i++)
    dims[i] = merge_dim (infer, a->dims[i], b->dims[i]);
  return gantry_context_tensor (infer->import->context, a->element, a->rank, dims);
}

static guint32
merge_runs (GantryOnnxInfer *infer, guint32 a_id, guint32 b_id)
{
  GantryContext *context = infer->import->context;
  const GantryType *a = gantry_context_type (context, a_id), *b = gantry_context_type (context, b_id);

  if (a_id == b_id)
    return a_id;
  if (a->kind == GANTRY_TYPE_TENSOR && b->kind == GANTRY_TYPE_TENSOR)
    return merge_tensor (infer, a, b);
  if (a->kind == GANTRY_TYPE_TUPLE && b->kind == GANTRY_TYPE_TUPLE && a->rank == b->rank)
    {
      g_autofree guint32 *members = g_new (guint32, a->rank + 1);

      for (guint i = 0; i < a->rank; i++)
        members[i] = merge_runs (infer, (guint32) a->dims[i], (guint32) b->dims[i]);
      return gantry_context_tuple (context, a->rank, members);
    }
  return 0;
}

/* What the file declares */

static gboolean
contradicts (const GantryType *found, const GantryType *declared)
{
  if (found->element != declared->element || found->rank != declared->rank)
    return TRUE;
  for (guint i = 0; i < found->rank; i++)
    if (GANTRY_DIM_IS_STATIC (found->dims[i]) && GANTRY_DIM_IS_STATIC (declared->dims[i]) && found->dims[i] != declared->dims[i])
      return TRUE;
  return FALSE;
}

static void
warn_contradiction (GantryOnnxInfer *infer, const GantryNode *node, guint32 found, guint32 declared)
{
  GantryContext *context = infer->import->context;
  g_autofree char *place = gantry_context_location_text (context, node->location);
  g_autofree char *is = gantry_context_type_text (context, found);
  g_autofree char *said = gantry_context_type_text (context, declared);

  gantry_onnx_warn (infer->import, "%s: '%s' is declared %s but computes %s.", place, gantry_context_string (context, node->name), said, is);
}

static guint32
merge_declared (GantryOnnxInfer *infer, const GantryNode *node, guint32 found_id, guint32 declared_id)
{
  GantryContext *context = infer->import->context;
  const GantryType *found = gantry_context_type (context, found_id);
  const GantryType *declared = gantry_context_type (context, declared_id);
  GantryDim dims[GANTRY_MAX_RANK];

  if (found_id == 0)
    return declared_id;
  if (found_id == declared_id || !gantry_type_is_tensor (found) || !gantry_type_is_tensor (declared))
    return found_id;
  if (contradicts (found, declared))
    {
      /* Of a tuple its `result` nodes say it. */
      if (gantry_node_type (infer->module, node)->kind != GANTRY_TYPE_TUPLE)
        warn_contradiction (infer, node, found_id, declared_id);
      return found_id;
    }
  for (guint i = 0; i < found->rank; i++)
    dims[i] = found->dims[i] == GANTRY_DIM_UNKNOWN ? declared->dims[i] : found->dims[i];
  return gantry_context_tensor (context, found->element, found->rank, dims);
}

static void
set_type (GantryOnnxInfer *infer, GantryNode *node, guint32 found)
{
  GantryContext *context = infer->import->context;
  const GantryType *a = gantry_context_type (context, found), *b = gantry_context_type (context, node->type);

  if (a->kind == GANTRY_TYPE_TUPLE && b->kind == GANTRY_TYPE_TUPLE && a->rank == b->rank)
    {
      g_autofree guint32 *members = g_new (guint32, a->rank + 1);

      for (guint i = 0; i < a->rank; i++)
        members[i] = merge_declared (infer, node, (guint32) a->dims[i], (guint32) b->dims[i]);
      node->type = gantry_context_tuple (context, a->rank, members);
    }
  else
    node->type = merge_declared (infer, node, found, node->type);
}

/* The whole */

static gboolean
has_free_dims (const GantryModule *module)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryType *type = gantry_node_type (module, &module->nodes[i]);

      if (module->nodes[i].op == GANTRY_OP_PARAMETER && gantry_type_is_tensor (type) && !gantry_type_is_static (type))
        return TRUE;
    }
  return FALSE;
}

static void
infer_init (GantryOnnxInfer *infer, GantryOnnxImport *import, const GantryModule *module)
{
  *infer = (GantryOnnxInfer){ .import = import, .module = module };
  infer->values = g_new0 (guint32, (gsize) module->n_nodes + 1);
  infer->guessing = has_free_dims (module);
  infer->free_dims = g_array_new (FALSE, FALSE, sizeof (GantryDim));
  infer->sizes = g_hash_table_new (NULL, NULL);
  infer->functions = g_hash_table_new (NULL, NULL);
  infer->problems = g_array_new (FALSE, TRUE, sizeof (GantryOnnxUnsupported));
  infer->problem_index = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < module->n_functions; i++)
    g_hash_table_insert (infer->functions, GUINT_TO_POINTER (module->functions[i].id), &module->functions[i]);
}

static void
infer_clear (GantryOnnxInfer *infer)
{
  GantryOnnxInfo *info = infer->import->info;

  info->n_unsupported = infer->problems->len;
  info->unsupported = (GantryOnnxUnsupported *) (gpointer) g_array_free (infer->problems, FALSE);
  g_free (infer->values);
  g_array_unref (infer->free_dims);
  g_hash_table_unref (infer->sizes);
  g_hash_table_unref (infer->functions);
  g_hash_table_unref (infer->problem_index);
}

/* Unknown dimensions have no name to be found again by: each run meets them anew, in the same
 * order. */
static void
next_run (GantryOnnxInfer *infer)
{
  g_array_set_size (infer->free_dims, 0);
  g_hash_table_remove_all (infer->sizes);
  infer->n_done = 0;
  infer->run = 1;
}

gboolean
gantry_onnx_infer (GantryOnnxImport *import, GantryModule *module, GError **error)
{
  g_autofree guint32 *first = g_new0 (guint32, (gsize) module->n_nodes + 1);
  g_autofree guint32 *second = NULL;
  GantryOnnxInfer infer;
  gboolean ok;

  infer_init (&infer, import, module);
  infer.types = first;
  ok = gantry_onnx_infer_run (&infer, error);
  if (ok && infer.guessing)
    {
      second = g_new0 (guint32, (gsize) module->n_nodes + 1);
      next_run (&infer);
      infer.types = second;
      ok = gantry_onnx_infer_run (&infer, error);
    }
  /* The module is ours until it is returned: this is the one place that writes to it. */
  for (guint32 i = 0; ok && i < module->n_nodes; i++)
    {
      guint32 found = first[i];

      if (second != NULL)
        found = merge_runs (&infer, found, second[i]);
      set_type (&infer, &module->nodes[i], found);
      import->info->n_untyped += module->nodes[i].type == 0;
    }
  infer_clear (&infer);
  return ok;
}
