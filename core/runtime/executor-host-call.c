/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the program that runs this one. Tensors are handed over where they lie; on a device whose memory the host cannot read they are
 * brought to it, and results are brought back. */
#include "core/base/allocate.h"
#include "core/base/error.h"
#include "core/graph/operation.h"
#include "core/runtime/executor-private.h"

typedef struct
{
  GantryExecutor *executor;
  const GantryInstruction *instruction;
  const GantryNode *node;
  GArray *operands, *results; /* GantryHostTensor */
  GPtrArray *copies;          /* (nullable): what the device cannot hand over */
} Call;

static guint32
buffer_of (const Call *call, guint k)
{
  return call->executor->executable->buffer_refs[call->instruction->buffers + k];
}

static gboolean
add_tensor (Call *call, const GantryType *type, guint k, gboolean result, GError **error)
{
  const GantryExecutable *executable = call->executor->executable;
  GantryHostTensor tensor = { .type = type, .size = (gsize) gantry_type_bytes (type) };

  if (k >= call->instruction->n_buffers || executable->plan->buffers[buffer_of (call, k)].size < tensor.size)
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "it has not the buffers that it needs");
      return FALSE;
    }
  tensor.data = call->executor->addresses[buffer_of (call, k)];
  if (call->copies != NULL)
    {
      void *copy = gantry_try_allocate (MAX (tensor.size, 1), 1, "a tensor of a host call", error);

      if (copy == NULL)
        return FALSE;
      g_ptr_array_add (call->copies, copy);
      if (!result && !gantry_device_download (call->executor->device, copy, tensor.data, tensor.size, error))
        return FALSE;
      tensor.data = copy;
    }
  g_array_append_val (result ? call->results : call->operands, tensor);
  return TRUE;
}

static gboolean
add_tensors (Call *call, GError **error)
{
  const GantryModule *module = call->executor->executable->module;
  const GantryType *type = gantry_node_type (module, call->node);
  guint n = type->kind == GANTRY_TYPE_TUPLE ? type->rank : type->kind == GANTRY_TYPE_TENSOR ? 1 : 0, k = 0;

  for (guint i = 0; i < call->node->n_operands; i++)
    {
      const GantryType *operand = gantry_node_operand_type (module, call->node, i);

      if (operand->kind == GANTRY_TYPE_TENSOR && !add_tensor (call, operand, k++, FALSE, error))
        return FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (!add_tensor (call, type->kind == GANTRY_TYPE_TUPLE ? gantry_context_type (module->context, (guint32) type->dims[i]) : type, k++, TRUE, error))
      return FALSE;
  return TRUE;
}

static gboolean
bring_back (Call *call, GError **error)
{
  for (guint i = 0; call->copies != NULL && i < call->results->len; i++)
    {
      const GantryHostTensor *tensor = &g_array_index (call->results, GantryHostTensor, i);

      if (!gantry_device_upload (call->executor->device, call->executor->addresses[buffer_of (call, call->operands->len + i)], tensor->data, tensor->size,
                                 error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
ask (Call *call, const char *target, GError **error)
{
  const GantryExecutor *root = call->executor;

  while (root->parent != NULL)
    root = root->parent;
  if (root->host_call != NULL)
    return root->host_call (root->host_call_self, call->executor->executable->module, call->node, target,
                            (const GantryHostTensor *) (gpointer) call->operands->data, call->operands->len,
                            (const GantryHostTensor *) (gpointer) call->results->data, call->results->len, error);
  g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "nobody answers it");
  return FALSE;
}

gboolean
_gantry_executor_call_host (GantryExecutor *executor, guint32 instruction, GError **error)
{
  const GantryModule *module = executor->executable->module;
  Call call = { .executor = executor, .instruction = &executor->executable->instructions[instruction] };
  const char *target;
  gboolean done;

  call.node = gantry_module_node (module, call.instruction->node);
  target = gantry_attrs_string (module->context, call.node->attrs, "target", "");
  call.operands = g_array_new (FALSE, FALSE, sizeof (GantryHostTensor));
  call.results = g_array_new (FALSE, FALSE, sizeof (GantryHostTensor));
  call.copies = gantry_device_is_host (executor->device) ? NULL : g_ptr_array_new_with_free_func (g_free);
  done = add_tensors (&call, error) && ask (&call, target, error) && bring_back (&call, error);
  if (!done)
    {
      g_autofree char *label = gantry_node_label (module, call.node);
      g_autofree char *where = gantry_context_location_text (module->context, call.node->location);

      gantry_error_prefix (error, "%s: host call '%s' (%s): ", where, label, target);
    }
  g_array_unref (call.operands);
  g_array_unref (call.results);
  g_clear_pointer (&call.copies, g_ptr_array_unref);
  return done;
}
