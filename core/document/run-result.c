/* SPDX-License-Identifier: Apache-2.0 */
/* A measured run with its plan, its recording and the texts of its kernels. */
#include "core/document/document-private.h"
#include "profiler/device-times.h"
#include <math.h>
#include <string.h>

static void
code_free (gpointer data)
{
  GantryCode *code = data;

  g_clear_pointer (&code->kernel, g_ref_string_release);
  g_clear_pointer (&code->kind, g_ref_string_release);
  g_clear_pointer (&code->texpr, g_ref_string_release);
  g_clear_pointer (&code->llvm_ir, g_ref_string_release);
  g_clear_pointer (&code->assembly, g_ref_string_release);
  g_clear_pointer (&code->schedule, g_ref_string_release);
  g_clear_pointer (&code->arch, g_ref_string_release);
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

gboolean
gantry_run_result_exceeds (const GantryRunResult *run, guint64 limit)
{
  return run->memory != NULL ? gantry_memory_measure_exceeds (run->memory, limit) : limit > 0 && run->peak_bytes > limit;
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
  g_free (result->arch);
  g_free (result->when);
  g_free (result->program);
  g_free (result->other_model);
  gantry_plan_unref (result->plan);
  gantry_memory_measure_unref (result->memory);
  g_free (result->unmeasured);
  gantry_recording_unref (result->recording);
  g_ptr_array_unref (result->codes);
  g_free (result);
}

GantryRunResult *
_gantry_run_result_of_model (GantryRunResult *run, const char *other_model)
{
  GantryRunResult *copy = g_new0 (GantryRunResult, 1);

  *copy = *run;
  g_atomic_ref_count_init (&copy->ref_count);
  copy->uid = g_strdup (run->uid);
  copy->name = g_strdup (run->name);
  copy->device = g_strdup (run->device);
  copy->arch = g_strdup (run->arch);
  copy->when = g_strdup (run->when);
  copy->program = g_strdup (run->program);
  copy->other_model = g_strdup (other_model);
  copy->plan = run->plan != NULL ? gantry_plan_ref (run->plan) : NULL;
  copy->unmeasured = g_strdup (run->unmeasured);
  copy->memory = run->memory != NULL ? gantry_memory_measure_ref (run->memory) : NULL;
  copy->recording = run->recording != NULL ? gantry_recording_ref (run->recording) : NULL;
  copy->codes = g_ptr_array_ref (run->codes);
  return copy;
}

/* A model repeats its layers, and so its kernels: a hundred thousand kernels have the code of a few dozen. */
static GRefString *
keep (const char *text)
{
  return text != NULL ? g_ref_string_new (text) : NULL;
}

static GRefString *
share (GRefString *text)
{
  return text != NULL ? g_ref_string_acquire (text) : NULL;
}

const GantryCode *
gantry_run_result_add_code (GantryRunResult *result, const GantryCode *code, const GantryCode *same)
{
  GantryCode *copy = g_new0 (GantryCode, 1);

  *copy = *code;
  copy->kernel = keep (code->kernel != NULL ? code->kernel : "");
  copy->kind = keep (code->kind != NULL ? code->kind : "");
  copy->texpr = keep (code->texpr);
  copy->arch = keep (code->arch);
  copy->llvm_ir = same != NULL ? share (same->llvm_ir) : keep (code->llvm_ir);
  copy->assembly = same != NULL ? share (same->assembly) : keep (code->assembly);
  copy->schedule = same != NULL ? share (same->schedule) : keep (code->schedule);
  copy->cubin = same != NULL ? same->cubin : code->cubin;
  if (copy->cubin != NULL)
    g_bytes_ref (copy->cubin);
  g_ptr_array_add (result->codes, copy);
  return copy;
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

/* Whose program a run was */

/* By position in @module the nodes whose kernels run for the first time, in each run. @n: how many. (transfer full) (nullable): %NULL where
 * one is none of @module */
static gboolean *
work_of (const GantryPlan *plan, const GantryModule *module, guint *n)
{
  g_autofree gboolean *work = g_new0 (gboolean, module->n_nodes + 1);

  *n = 0;
  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    {
      const GantryNode *node = gantry_module_node (module, plan->steps[i].node);

      if (plan->steps[i].kind != GANTRY_STEP_RUN || plan->steps[i].instance != 0)
        continue;
      if (node == NULL)
        return NULL;
      *n += !work[gantry_module_position (module, node)];
      work[gantry_module_position (module, node)] = TRUE;
    }
  return g_steal_pointer (&work);
}

/* The values of @plan are as large as those of the program; of constants, which kernels pack, and of workspaces that says nothing. */
static gboolean
same_sizes (const GantryPlan *plan, const GantryModule *module)
{
  for (guint32 i = 0; i < plan->n_buffers; i++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[i];
      const GantryNode *node = gantry_module_node (module, buffer->node);
      const GantryType *type = node != NULL ? gantry_node_type (module, node) : NULL;

      if (buffer->category == GANTRY_BUFFER_WORKSPACE || buffer->category == GANTRY_BUFFER_CONSTANT)
        continue;
      if (type == NULL || (gantry_type_is_tensor (type) && gantry_type_bytes (type) != (gint64) buffer->size))
        return FALSE;
    }
  return TRUE;
}

gboolean
gantry_run_result_is_of (const GantryRunResult *run, const GantryCompilation *compilation)
{
  /* A plan that does not fit has the same work: what fits may be found later, with other placements or a higher limit. */
  const GantryPlan *plan = compilation->plan != NULL ? compilation->plan : compilation->refused_plan;
  const GantryModule *module = gantry_compilation_module (compilation);
  g_autofree gboolean *ran = NULL, *now = NULL;
  guint n_ran, n_now;

  if (run->other_model != NULL || run->plan == NULL || plan == NULL || !same_sizes (run->plan, module))
    return FALSE;
  ran = work_of (run->plan, module, &n_ran);
  now = work_of (plan, module, &n_now);
  return ran != NULL && now != NULL && n_ran == n_now && memcmp (ran, now, sizeof *ran * module->n_nodes) == 0;
}

gboolean
gantry_run_result_is_of_another (const GantryRunResult *run, const GantryCompilation *compilation)
{
  return run->other_model == NULL && run->plan != NULL && !gantry_run_result_is_of (run, compilation);
}

/* Which plan was run */

static gboolean
same_step (const GantryPlanStep *a, const GantryPlanStep *b)
{
  return a->node == b->node && a->kind == b->kind && a->instance == b->instance;
}

/* The same for the same steps in any order. */
static guint64
mix_of (const GantryPlanStep *steps, guint32 n)
{
  guint64 sum = 0;

  for (guint32 i = 0; i < n; i++)
    {
      guint64 x = (guint64) steps[i].node << 32 | (guint64) steps[i].instance << 8 | steps[i].kind;

      x = (x ^ x >> 31) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
      sum += x ^ x >> 29;
    }
  return sum;
}

const char *
gantry_run_result_difference (const GantryRunResult *run, const GantryPlanStep *steps, guint32 n_steps)
{
  const GantryPlan *plan = run->plan;

  if (run->other_model != NULL)
    return "with the model as it was";
  if (plan == NULL)
    return NULL;
  if (plan->n_steps != n_steps || mix_of (plan->steps, n_steps) != mix_of (steps, n_steps))
    return "with other placements";
  for (guint32 i = 0; i < n_steps; i++)
    if (!same_step (&plan->steps[i], &steps[i]))
      return "in another order";
  return NULL;
}

/* Which plan a run is shown on */

/* Ids are never used twice: a step of another program names a node that this one does not have. */
static gboolean
is_plan_of (const GantryPlan *plan, const GantryModule *module)
{
  for (guint32 i = 0; i < plan->n_steps; i++)
    if (gantry_module_node (module, plan->steps[i].node) == NULL)
      return FALSE;
  for (guint32 i = 0; i < plan->n_buffers; i++)
    if (gantry_module_node (module, plan->buffers[i].node) == NULL)
      return FALSE;
  return TRUE;
}

/* Predicted alike: planned with the same times. */
static gboolean
same_duration (const GantryPlanStep *a, const GantryPlanStep *b)
{
  return fabs (a->duration_us - b->duration_us) <= 1e-6 * MAX (a->duration_us, b->duration_us);
}

/* The same is done in the same order, which with times alike has the same placements. */
static gboolean
same_steps (const GantryPlan *plan, const GantryRunResult *run)
{
  const GantryPlan *ran = run->plan;

  if (plan->n_init_steps != ran->n_init_steps || gantry_run_result_difference (run, plan->steps, plan->n_steps) != NULL)
    return FALSE;
  for (guint32 i = 0; i < plan->n_steps; i++)
    if (!same_duration (&plan->steps[i], &ran->steps[i]))
      return FALSE;
  return TRUE;
}

GantryPlan *
gantry_document_get_plan_of_run (GantryDocument *document, const GantryRunResult *run)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (document);
  GantryPlan *own = gantry_document_get_plan (document);

  if (own == NULL && compilation != NULL)
    own = compilation->plan;
  if (own == NULL || run == NULL || run->plan == NULL || !same_steps (own, run))
    return own;
  /* Kernels that were made otherwise need otherwise. */
  if (run->plan->sizes_known ? !gantry_compile_settings_made_under (gantry_document_get_settings (document), run->plan->kernels) : own->sizes_known)
    return own;
  return is_plan_of (run->plan, gantry_compilation_module (compilation)) ? run->plan : own;
}

gboolean
gantry_run_result_is_of_gpu (const GantryRunResult *run)
{
  return run->arch != NULL && *run->arch != '\0' && strcmp (run->arch, "grid") != 0;
}

GArray *
gantry_run_result_get_times (const GantryRunResult *run, GArray *launch)
{
  GArray *times = g_array_new (FALSE, FALSE, sizeof (double));

  if (gantry_run_result_is_of_gpu (run) && gantry_recording_device_times (run->recording, times, launch))
    return times;
  for (guint i = 0; i < gantry_recording_n_runs (run->recording); i++)
    {
      const GantryRecordedRun *recorded = gantry_recording_run (run->recording, i);
      double ms = (double) (recorded->end - recorded->begin) / 1e6;

      g_array_append_val (times, ms);
    }
  return times;
}
