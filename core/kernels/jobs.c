/* SPDX-License-Identifier: Apache-2.0 */
/* Functions to generate: the source of a node, found again where an equal one is there, and the
 * generation of what is distinct on several threads, each with an LLVM of its own. */
#include "core/kernels/builtin/builtin.h"
#include "core/kernels/compile-private.h"
#include "core/kernels/cpu/generate.h"
#include "core/kernels/gpu/nvptx.h"
#include "core/kernels/instructions-private.h"
#include "core/kernels/layout-private.h"
#include "core/kernels/program/node-kernel.h"
#include <string.h>

void
gantry_compile_add_diagnostic (GantryCompile *c, const GantryNode *node, const char *why)
{
  const char *op = gantry_node_op_name (c->module, node);
  g_autofree char *prefix = g_strdup_printf ("node %u: %s: ", node->id, op), *line = NULL;

  /* The makers of expressions name the node too. */
  if (g_str_has_prefix (why, prefix))
    why += strlen (prefix);
  line = g_strdup_printf ("%s: %s", op, why);
  g_strchomp (line);
  if (g_hash_table_contains (c->diagnostics, line))
    return;
  g_ptr_array_add (c->lines, g_strdup (line));
  g_hash_table_add (c->diagnostics, g_ptr_array_index (c->lines, c->lines->len - 1));
}

/* Sources */

void
gantry_job_free (gpointer data)
{
  GantryJob *job = data;

  g_free (job->source.inputs);
  g_free (job->source.layouts);
  g_clear_pointer (&job->source.results, g_ptr_array_unref);
  g_free (job->symbol);
  g_clear_pointer (&job->ir, g_ref_string_release);
  g_clear_pointer (&job->assembly, g_ref_string_release);
  g_clear_error (&job->error);
  if (job->object != NULL)
    LLVMDisposeMemoryBuffer (job->object);
  g_clear_pointer (&job->bound, gantry_bound_free);
  for (guint32 i = 0; i < job->n_launches; i++)
    g_free (job->launches[i].entry);
  g_free (job->launches);
  g_clear_pointer (&job->schedule, g_ref_string_release);
  gantry_gpu_image_clear (&job->image);
  g_free (job);
}

static void
describe_layout (const GantryCompile *c, guint32 id, const GantryType *type, GantryKxLayout *layout)
{
  if (c->blocked[id])
    gantry_kx_layout_blocked (layout, type, 1, c->block);
  else
    gantry_kx_layout_plain (layout, type);
}

/* Constants that are one number are part of the code. */
static void
describe_input (const GantryCompile *c, const GantryNode *node, guint i, GantryKxInput *input)
{
  GantryLiteral *literal = gantry_node_operand_literal (c->module, node, i);

  input->type = gantry_node_operand_type (c->module, node, i);
  describe_layout (c, gantry_node_operand_id (c->module, node, i), input->type, &input->layout);
  if (literal == NULL || (!literal->splat && gantry_type_elements (literal->type) != 1))
    return;
  input->splat = TRUE;
  if (gantry_element_is_float (input->type->element))
    input->value_f = gantry_literal_get_double (literal, 0);
  else
    input->value_i = gantry_literal_get_int (literal, 0);
}

static GPtrArray *
expressions_of (const GantryModule *module, const GantryNode *node, GError **error)
{
  GPtrArray *list;
  GantryTexpr *texpr;

  if (node->op == GANTRY_OP_FUSION)
    return gantry_texpr_of_fusion (module, node, error);
  texpr = gantry_texpr_of_node (module, node, error);
  if (texpr == NULL)
    return NULL;
  list = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_texpr_free);
  g_ptr_array_add (list, texpr);
  return list;
}

char *
gantry_compile_expression (GantryCompile *c, const GantryNode *node)
{
  g_autoptr (GPtrArray) results = expressions_of (c->module, node, NULL);
  GString *text;
  g_auto (GStrv) names = g_new0 (char *, node->n_operands + 1);

  if (results == NULL)
    return NULL;
  text = g_string_new (NULL);
  for (guint i = 0; i < node->n_operands; i++)
    names[i] = gantry_node_label (c->module, gantry_node_operand (c->module, node, i));
  for (guint i = 0; i < results->len; i++)
    {
      g_autofree char *one = gantry_texpr_to_text (g_ptr_array_index (results, i), (const char *const *) names);

      g_string_append_printf (text, "%s\n", one);
    }
  return g_string_free (text, FALSE);
}

static GantryJob *
job_for (GantryCompile *c, const GantryNode *node, GError **error)
{
  GantryJob *job = g_new0 (GantryJob, 1);

  job->source.n_inputs = node->n_operands;
  job->source.inputs = g_new0 (GantryKxInput, node->n_operands);
  for (guint i = 0; i < node->n_operands; i++)
    describe_input (c, node, i, &job->source.inputs[i]);
  job->source.results = expressions_of (c->module, node, error);
  if (job->source.results == NULL)
    {
      gantry_job_free (job);
      return NULL;
    }
  job->n_results = job->source.results->len;
  job->source.layouts = g_new0 (GantryKxLayout, job->source.results->len);
  for (guint i = 0; i < job->source.results->len; i++)
    describe_layout (c, node->id, gantry_node_result_type (c->module, node, i), &job->source.layouts[i]);
  return job;
}

static gboolean
check_job (GantryCompile *c, const GantryNode *node, const GantryJob *job)
{
  g_autoptr (GString) why = g_string_new (NULL);

  for (guint i = 0; i < job->source.results->len; i++)
    if (!gantry_generate_check (g_ptr_array_index (job->source.results, i), c->compiler, why))
      {
        gantry_compile_add_diagnostic (c, node, why->str);
        return FALSE;
      }
  return TRUE;
}

/* Takes @name, @job and @key. Returns: the index of the job, or of the one with that key that is there already */
static gint
keep_job (GantryCompile *c, char *name, GantryJob *job, GBytes *key)
{
  g_autofree char *own = name;
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (c->by_key, key));

  if (found != 0)
    {
      g_bytes_unref (key);
      gantry_job_free (job);
      return (gint) found - 1;
    }
  g_ptr_array_add (c->jobs, job);
  g_hash_table_insert (c->by_key, key, GUINT_TO_POINTER (c->jobs->len));
  /* Each image is a module of its own: where the name does not say which of them it is, equal kernels of two models are
   * assembled once, and a profiler shows what it is. */
  job->symbol = c->options.target == GANTRY_CODE_CUDA ? g_steal_pointer (&own) : g_strdup_printf ("gantry_kernel_%u", c->jobs->len - 1);
  return (gint) c->jobs->len - 1;
}

/* The job of @node: a new one, or one that is there already. Returns: its index, -1 when it cannot be generated. */
gint
gantry_compile_add_job (GantryCompile *c, const GantryNode *node, GantryKernel *kernel)
{
  g_autoptr (GError) error = NULL;
  GantryJob *job = job_for (c, node, &error);

  if (job == NULL)
    {
      gantry_compile_add_diagnostic (c, node, error->message);
      return -1;
    }
  if (!check_job (c, node, job))
    {
      gantry_job_free (job);
      return -1;
    }
  if (c->options.keep_texts)
    kernel->texpr = gantry_compile_expression (c, node);
  return keep_job (c, gantry_node_kernel_name (c->module, node, FALSE), job, gantry_kernel_source_key (&job->source));
}

/* Types and attributes are interned: their numbers say all. */
static GBytes *
builtin_key (const GantryCompile *c, const GantryNode *node)
{
  g_autoptr (GString) key = g_string_new (NULL);

  g_string_printf (key, "%u %u %u", node->op, node->attrs, node->type);
  for (guint i = 0; i < node->n_operands; i++)
    g_string_append_printf (key, " %u", gantry_node_operand (c->module, node, i)->type);
  return g_bytes_new (key->str, key->len);
}

gint
gantry_compile_add_builtin_job (GantryCompile *c, const GantryNode *node, GantryKernel *kernel)
{
  GantryJob *job = g_new0 (GantryJob, 1);
  g_autoptr (GString) why = g_string_new (NULL);

  kernel->kind = GANTRY_KERNEL_BUILTIN;
  job->source.n_inputs = node->n_operands;
  job->source.inputs = g_new0 (GantryKxInput, node->n_operands);
  for (guint i = 0; i < node->n_operands; i++)
    {
      job->source.inputs[i].type = gantry_node_operand_type (c->module, node, i);
      gantry_kx_layout_plain (&job->source.inputs[i].layout, job->source.inputs[i].type);
    }
  job->n_results = gantry_node_n_results (c->module, node);
  job->bound = gantry_builtin_bind (c->module, node, job->source.inputs, job->source.n_inputs, &c->gpu, why);
  if (job->bound != NULL)
    return keep_job (c, gantry_node_kernel_name (c->module, node, FALSE), job, builtin_key (c, node));
  gantry_job_free (job);
  gantry_compile_add_diagnostic (c, node, why->str);
  return -1;
}

gint
gantry_compile_add_compression_job (GantryCompile *c, const GantryCompression *compression, gboolean back, const char *name)
{
  GantryJob *job = g_new0 (GantryJob, 1);

  job->source.n_inputs = 1;
  job->source.inputs = g_new0 (GantryKxInput, 1);
  job->source.inputs[0].type = gantry_compression_input (c->module->context, compression, back);
  gantry_kx_layout_plain (&job->source.inputs[0].layout, job->source.inputs[0].type);
  job->n_results = 1;
  job->bound = gantry_compression_bind (compression, back, job->source.inputs, &c->gpu);
  return keep_job (c, g_strdup (name), job, g_bytes_new (name, strlen (name)));
}

/* Compiling the jobs */

GantryCompiler *
gantry_compile_new_compiler (const GantryCompile *c, GError **error)
{
  const char *cpu = c->options.cpu != NULL ? c->options.cpu : gantry_instructions_cpu (c->options.instructions);
  GantryCompiler *compiler;

  if (c->options.target == GANTRY_CODE_CUDA)
    return gantry_compiler_new_nvptx (&c->gpu, c->options.optimization, error);
  compiler = gantry_compiler_new (cpu, c->options.optimization, error);
  if (compiler != NULL)
    compiler->find_races = c->options.find_races;
  return compiler;
}

typedef struct
{
  GantryCompile *c;
  gint next; /* atomic */
  gint done; /* atomic */
  gint stop; /* atomic */
} Work;

static void
run_job (GantryCompile *c, GantryCompiler *compiler, GantryJob *job)
{
  gint64 begin = g_get_monotonic_time ();
  g_autofree char *ir = NULL, *assembly = NULL;
  char **want_ir = c->options.keep_texts ? &ir : NULL, **want_assembly = c->options.keep_texts ? &assembly : NULL;

  if (c->options.target != GANTRY_CODE_CPU)
    gantry_compile_run_bound_job (c, compiler, job, want_ir, want_assembly);
  else
    job->object = gantry_generate (compiler, &job->source, job->symbol, &job->n_tasks, want_ir, want_assembly, &job->error);
  job->ir = ir != NULL ? g_ref_string_new (ir) : NULL;
  job->assembly = assembly != NULL ? g_ref_string_new (assembly) : NULL;
  job->compile_ms = (double) (g_get_monotonic_time () - begin) / 1000;
}

static void
work_on (Work *work, GantryCompiler *compiler)
{
  GantryCompile *c = work->c;

  while (!g_atomic_int_get (&work->stop))
    {
      gint i = g_atomic_int_add (&work->next, 1);

      if (i >= (gint) c->jobs->len)
        return;
      run_job (c, compiler, g_ptr_array_index (c->jobs, i));
      g_atomic_int_inc (&work->done);
      if (g_cancellable_is_cancelled (c->progress != NULL ? c->progress->cancellable : NULL))
        g_atomic_int_set (&work->stop, 1);
      if (compiler == c->compiler) /* reports come from the calling thread */
        gantry_progress_report (c->progress, (double) g_atomic_int_get (&work->done) / (double) c->jobs->len, "generating code");
    }
}

static gpointer
work_thread (gpointer data)
{
  Work *work = data;
  g_autoptr (GantryCompiler) compiler = gantry_compile_new_compiler (work->c, NULL);

  if (compiler != NULL)
    work_on (work, compiler);
  return NULL;
}

gboolean
gantry_compile_run_jobs (GantryCompile *c, GError **error)
{
  Work work = { .c = c };
  guint n_threads = MIN (c->options.n_threads, c->jobs->len);
  g_autofree GThread **threads = g_new0 (GThread *, n_threads + 1);

  /* With fewer than asked for the same code is made, later. */
  for (guint i = 1; i < n_threads; i++)
    threads[i] = g_thread_try_new ("compile", work_thread, &work, NULL);
  work_on (&work, c->compiler);
  for (guint i = 1; i < n_threads; i++)
    if (threads[i] != NULL)
      g_thread_join (threads[i]);
  if (gantry_progress_cancelled (c->progress, error))
    return FALSE;
  for (guint i = 0; i < c->jobs->len; i++)
    {
      GantryJob *job = g_ptr_array_index (c->jobs, i);

      if (job->error == NULL)
        continue;
      g_propagate_error (error, g_steal_pointer (&job->error));
      return FALSE;
    }
  return TRUE;
}

gboolean
gantry_compile_link_jobs (GantryCompile *c, GantryJit *jit, GError **error)
{
  for (guint i = 0; i < c->jobs->len; i++)
    {
      GantryJob *job = g_ptr_array_index (c->jobs, i);

      c->code_bytes += gantry_jit_object_bytes (job->object);
      if (!gantry_jit_add (jit, g_steal_pointer (&job->object), error))
        return FALSE;
    }
  for (guint i = 0; i < c->jobs->len; i++)
    {
      GantryJob *job = g_ptr_array_index (c->jobs, i);

      job->func = (GantryKernelFunc) gantry_jit_find (jit, job->symbol, error);
      if (job->func == NULL)
        return FALSE;
    }
  return TRUE;
}
