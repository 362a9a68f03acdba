/* SPDX-License-Identifier: Apache-2.0 */
/* A measured run with its plan, its recording and the texts of its kernels. */
#include "core/document/document.h"

static void
code_free (gpointer data)
{
  GantryCode *code = data;

  g_free (code->kernel);
  g_free (code->kind);
  g_free (code->texpr);
  g_free (code->llvm_ir);
  g_free (code->assembly);
  g_free (code->schedule);
  g_free (code->arch);
  g_clear_pointer (&code->cubin, g_bytes_unref);
  g_free (code);
}

GantryRunResult *
gantry_run_result_new (void)
{
  GantryRunResult *result = g_new0 (GantryRunResult, 1);

  g_atomic_ref_count_init (&result->ref_count);
  result->uid = g_uuid_string_random ();
  result->codes = g_ptr_array_new_with_free_func (code_free);
  return result;
}

GantryRunResult *
gantry_run_result_ref (GantryRunResult *result)
{
  g_atomic_ref_count_inc (&result->ref_count);
  return result;
}

void
gantry_run_result_unref (GantryRunResult *result)
{
  if (result == NULL || !g_atomic_ref_count_dec (&result->ref_count))
    return;
  g_free (result->uid);
  g_free (result->name);
  g_free (result->device);
  g_free (result->when);
  gantry_plan_unref (result->plan);
  gantry_recording_unref (result->recording);
  g_ptr_array_unref (result->codes);
  g_free (result);
}

void
gantry_run_result_add_code (GantryRunResult *result, const GantryCode *code)
{
  GantryCode *copy = g_new0 (GantryCode, 1);

  *copy = *code;
  copy->kernel = g_strdup (code->kernel);
  copy->kind = g_strdup (code->kind);
  copy->texpr = g_strdup (code->texpr);
  copy->llvm_ir = g_strdup (code->llvm_ir);
  copy->assembly = g_strdup (code->assembly);
  copy->schedule = g_strdup (code->schedule);
  copy->arch = g_strdup (code->arch);
  copy->cubin = code->cubin != NULL ? g_bytes_ref (code->cubin) : NULL;
  g_ptr_array_add (result->codes, copy);
}

const GantryCode *
gantry_run_result_code (const GantryRunResult *result, guint32 node)
{
  for (guint i = 0; i < result->codes->len; i++)
    {
      const GantryCode *code = g_ptr_array_index (result->codes, i);

      if (code->node == node)
        return code;
    }
  return NULL;
}
