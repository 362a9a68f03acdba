/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for what goes into a program and comes out of it. A value that already lies in memory as a run wants it (a file that is
 * mapped, a constant that nothing writes over) is not copied; the pages of files that are copied are given back. */
#include "app/cli/values.h"
#include "app/cli/inputs.h"
#include "core/base/error.h"
#include "core/base/format.h"
#include "core/base/process-memory.h"
#include "core/graph/operation.h"
#include "core/plan/placement.h"

typedef struct
{
  guint8 *own; /* (nullable): of gantry_pages_new() */
  gint result; /* what is donated to it, or -1 */
} Argument;

struct _GantryValues
{
  GantryModule *module;
  guint n_inputs, n_outputs;
  GArray *sources;     /* GantryInputSource, by input */
  Argument *arguments; /* by input */
  guint8 **own;        /* by output (nullable): of gantry_pages_new() */
  GantryRunInput *inputs;
  GantryRunOutput *outputs; /* all, and with those that are donated left out */
  GantryRunOutput *plain;
  GantryLiteral **results; /* what reads them */
  gboolean written;
  guint64 copied; /* bytes of given values that lie otherwise than a run wants them */
};

void
gantry_values_free (GantryValues *values)
{
  if (values == NULL)
    return;
  for (guint i = 0; values->arguments != NULL && i < values->n_inputs; i++)
    gantry_pages_free (values->arguments[i].own);
  for (guint i = 0; i < values->n_outputs; i++)
    {
      g_clear_pointer (&values->results[i], gantry_literal_unref);
      gantry_pages_free (values->own[i]);
    }
  g_clear_pointer (&values->sources, g_array_unref);
  g_free (values->arguments);
  g_free (values->own);
  g_free (values->inputs);
  g_free (values->outputs);
  g_free (values->plain);
  g_free (values->results);
  gantry_module_unref (values->module);
  g_free (values);
}

static const GantryType *
type_of_result (const GantryValues *values, guint i)
{
  const GantryFunction *entry = gantry_module_entry (values->module);

  return gantry_node_type (values->module, gantry_module_node (values->module, gantry_function_result_id (values->module, entry, i)));
}

/* The result whose bytes take the place of the input's, or -1. */
static gint
donated_to (const GantryValues *values, guint i)
{
  const GantryFunction *entry = gantry_module_entry (values->module);
  const GantryNode *parameter = &values->module->nodes[entry->first_node + i];
  gint result = gantry_parameter_alias (values->module, parameter);

  if (result < 0 || gantry_type_bytes (type_of_result (values, (guint) result)) != (gint64) values->inputs[i].size || values->outputs[result].data != NULL)
    return -1;
  return result;
}

/* Read as it lies: nothing is donated to it, and it is one element after the other, aligned. */
static gboolean
is_ready (const GantryLiteral *literal)
{
  return literal != NULL && (!literal->splat || literal->size == (gsize) gantry_type_bytes (literal->type))
         && GPOINTER_TO_SIZE (literal->data) % GANTRY_TENSOR_ALIGNMENT == 0;
}

static void
place_input (GantryValues *values, guint i)
{
  const GantryInputSource *source = &g_array_index (values->sources, GantryInputSource, i);
  Argument *argument = &values->arguments[i];
  GantryRunInput *input = &values->inputs[i];

  input->size = (gsize) gantry_type_bytes (source->type);
  argument->result = donated_to (values, i);
  if (argument->result < 0 && is_ready (source->literal))
    {
      input->data = source->literal->data;
      return;
    }
  argument->own = gantry_pages_new (input->size);
  input->data = argument->own;
  values->copied += source->literal != NULL ? input->size : 0;
  if (argument->result < 0)
    return;
  input->donated = TRUE;
  values->outputs[argument->result] = (GantryRunOutput){ argument->own, input->size };
}

static gboolean
place_output (GantryValues *values, guint i, GError **error)
{
  const GantryType *type = type_of_result (values, i);
  gint64 size = gantry_type_bytes (type);
  g_autoptr (GBytes) bytes = NULL;

  if (size < 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "result %u of the program has no static type", i);
      return FALSE;
    }
  if (values->outputs[i].data == NULL)
    {
      values->own[i] = gantry_pages_new ((gsize) size);
      values->outputs[i] = values->plain[i] = (GantryRunOutput){ values->own[i], (gsize) size };
    }
  else
    values->plain[i] = (GantryRunOutput){ NULL, (gsize) size };
  bytes = g_bytes_new_static (values->outputs[i].data, (gsize) size);
  values->results[i] = gantry_literal_new (type, bytes, FALSE, error);
  return values->results[i] != NULL;
}

static guint64
bytes_of (GantryModule *module, const GantryNode *node)
{
  return (guint64) MAX (gantry_type_bytes (gantry_node_type (module, node)), 0);
}

/* Before anything is made up, read or allocated. */
static gboolean
check_sizes (GantryModule *module, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  guint64 there = gantry_process_memory_of_machine (), inputs = 0, outputs = 0;
  g_autofree char *there_text = gantry_format_bytes_down (there), *inputs_text = NULL, *outputs_text = NULL;

  for (guint i = 0; i < entry->n_params && inputs <= there; i++)
    inputs += bytes_of (module, &module->nodes[entry->first_node + i]);
  for (guint i = 0; i < entry->n_results && outputs <= there; i++)
    outputs += bytes_of (module, gantry_module_node (module, gantry_function_result_id (module, entry, i)));
  if (inputs <= there && outputs <= there - inputs)
    return TRUE;
  inputs_text = gantry_format_bytes (inputs);
  outputs_text = gantry_format_bytes (outputs);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY,
               "the program's inputs take %s and its outputs %s, this machine has %s; export it with smaller sizes, or give them with --dim "
               "where the model leaves them open",
               inputs_text, outputs_text, there_text);
  return FALSE;
}

GantryValues *
gantry_values_new (GantryModule *module, char **given, GantryReadFiles *read, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GantryValues) values = NULL;

  if (!check_sizes (module, error))
    return NULL;
  values = g_new0 (GantryValues, 1);
  values->module = gantry_module_ref (module);
  values->n_inputs = entry->n_params;
  values->n_outputs = entry->n_results;
  values->arguments = g_new0 (Argument, values->n_inputs + 1);
  values->inputs = g_new0 (GantryRunInput, values->n_inputs + 1);
  values->own = g_new0 (guint8 *, values->n_outputs + 1);
  values->outputs = g_new0 (GantryRunOutput, values->n_outputs + 1);
  values->plain = g_new0 (GantryRunOutput, values->n_outputs + 1);
  values->results = g_new0 (GantryLiteral *, values->n_outputs + 1);
  values->sources = gantry_inputs_find (module, given, read, error);
  if (values->sources == NULL)
    return NULL;
  for (guint i = 0; i < values->n_inputs; i++)
    place_input (values, i);
  for (guint i = 0; i < values->n_outputs; i++)
    if (!place_output (values, i, error))
      return NULL;
  return g_steal_pointer (&values);
}

void
gantry_values_write (GantryValues *values)
{
  for (guint i = 0; i < values->n_inputs; i++)
    {
      const GantryInputSource *source = &g_array_index (values->sources, GantryInputSource, i);

      if (values->arguments[i].own == NULL || (values->written && values->arguments[i].result < 0))
        continue;
      gantry_input_source_write (source, values->arguments[i].own);
      if (source->literal != NULL)
        gantry_literal_give_back (source->literal);
    }
  values->written = TRUE;
}

const GantryRunInput *
gantry_values_inputs (const GantryValues *values)
{
  return values->inputs;
}

const GantryRunOutput *
gantry_values_outputs (const GantryValues *values, gboolean donated)
{
  return donated ? values->outputs : values->plain;
}

guint64
gantry_values_copied_bytes (const GantryValues *values)
{
  return values->copied;
}

guint64
gantry_values_bytes_beside (const GantryValues *values, const GantryExecutor *executor)
{
  guint64 bytes = 0;

  for (guint i = 0; i < values->n_inputs; i++)
    if (values->arguments[i].own != NULL && !gantry_executor_binds_input (executor, i, values->inputs[i].donated))
      bytes += values->inputs[i].size;
  for (guint i = 0; i < values->n_outputs; i++)
    if (values->own[i] != NULL && !gantry_executor_binds_output (executor, i))
      bytes += values->plain[i].size;
  return bytes;
}

const GantryLiteral *
gantry_values_result (const GantryValues *values, guint i)
{
  g_return_val_if_fail (i < values->n_outputs, NULL);
  return values->results[i];
}
