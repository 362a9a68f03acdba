/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the entry function of a module: each node that does work goes to the library, to a
 * hand-written kernel or to code generation. Equal expressions are generated once; what is distinct is
 * compiled on several threads, each with an LLVM of its own. */
#include "core/kernels/kernels.h"
#include "core/graph/region.h"
#include "core/kernels/compile-private.h"
#include "core/kernels/builtin/builtin.h"
#include "core/kernels/cpu/jit.h"
#include "core/kernels/instructions-private.h"
#include "core/kernels/layout-private.h"
#include "core/kernels/library/library.h"
#include "core/kernels/program/node-kernel.h"
#include <string.h>

/* Going through the nodes */

static gboolean
has_static_types (GantryCompile *c, const GantryNode *node)
{
  for (guint i = 0; i < gantry_node_n_results (c->module, node); i++)
    if (!gantry_type_is_static (gantry_node_result_type (c->module, node, i)))
      return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (!gantry_type_is_static (gantry_node_operand_type (c->module, node, i)))
      return FALSE;
  return TRUE;
}

/* All that a library kernel depends on but the values: types and attributes are interned. (transfer full) */
static GBytes *
call_key (const GantryCompile *c, const GantryNode *node, const GantryLibraryLayouts *layouts)
{
  g_autoptr (GArray) key = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 head[] = { node->op, node->attrs, node->type, layouts->blocked_input, layouts->blocked_result, layouts->constant_weights };

  g_array_append_vals (key, head, G_N_ELEMENTS (head));
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (c->module, node, i);

      g_array_append_val (key, operand->type);
    }
  return g_bytes_new (key->data, key->len * sizeof (guint32));
}

/* Making a primitive takes milliseconds; the layers of a network make the same ones. */
static GantryMade
make_by_library (GantryCompile *c, const GantryNode *node, GantryKernel *kernel)
{
  GantryLibraryLayouts layouts = { .block = c->block,
                                   .blocked_input = c->blocked[gantry_node_operand_id (c->module, node, 0)],
                                   .blocked_result = c->blocked[node->id],
                                   .constant_weights = c->constant[gantry_node_operand_id (c->module, node, 1)] };
  g_autoptr (GBytes) key = NULL;
  GantryMade made;
  guint found;

  if (!c->options.use_library)
    return GANTRY_NOT_MINE;
  key = call_key (c, node, &layouts);
  found = GPOINTER_TO_UINT (g_hash_table_lookup (c->by_call, key));
  if (found == 1)
    return GANTRY_NOT_MINE;
  if (found != 0)
    {
      gantry_library_share (&g_array_index (c->kernels, GantryKernel, found - 2), kernel);
      return GANTRY_MADE;
    }
  made = gantry_library_make (c->module, node, &layouts, c->options.n_threads, kernel);
  g_hash_table_insert (c->by_call, g_steal_pointer (&key), GUINT_TO_POINTER (made == GANTRY_MADE ? c->kernels->len + 2 : 1));
  return made;
}

static GantryMade
make_by_hand (GantryCompile *c, const GantryNode *node, GantryKernel *kernel, GString *why)
{
  switch (node->op)
    {
    case GANTRY_OP_CUSTOM_CALL:
      g_string_append_printf (why, "there is no code for the target \"%s\"", gantry_attrs_string (c->module->context, node->attrs, "target", ""));
      return GANTRY_CANNOT;
    case GANTRY_OP_SORT:
    case GANTRY_OP_SCATTER:
    case GANTRY_OP_RNG_BIT_GENERATOR: return c->options.target == GANTRY_CODE_CPU ? gantry_builtin_make (c->module, node, kernel, why) : GANTRY_NOT_MINE;
    case GANTRY_OP_DOT_GENERAL:
    case GANTRY_OP_CONVOLUTION: return make_by_library (c, node, kernel);
    default: return GANTRY_NOT_MINE;
    }
}

/* What no expression says; for a GPU it is a bound program written by hand. */
static gboolean
is_builtin (const GantryNode *node)
{
  return node->op == GANTRY_OP_SORT || node->op == GANTRY_OP_SCATTER || node->op == GANTRY_OP_RNG_BIT_GENERATOR;
}

static void
add_node (GantryCompile *c, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  GantryKernel kernel = { .node = node->id, .n_tasks = 1 };
  g_autoptr (GString) why = g_string_new (NULL);
  gint job = -1;

  if (info == NULL)
    {
      gantry_compile_add_diagnostic (c, node, "not an operation that can be compiled");
      return;
    }
  if (info->flags & (GANTRY_OP_STRUCTURE | GANTRY_OP_VIEW) || node->op == GANTRY_OP_COPY || gantry_node_is_control (node)
      || (node->op == GANTRY_OP_CUSTOM_CALL && c->options.host_calls))
    return;
  if (!has_static_types (c, node))
    {
      gantry_compile_add_diagnostic (c, node, "its shape is not known before it runs");
      return;
    }
  switch (make_by_hand (c, node, &kernel, why))
    {
    case GANTRY_MADE:
      if (c->options.keep_texts)
        kernel.texpr = gantry_compile_expression (c, node);
      break;
    case GANTRY_CANNOT: gantry_compile_add_diagnostic (c, node, why->str); return;
    default:
      kernel.kind = GANTRY_KERNEL_GENERATED;
      job = is_builtin (node) ? gantry_compile_add_builtin_job (c, node, &kernel) : gantry_compile_add_job (c, node, &kernel);
      if (job < 0)
        return;
    }
  kernel.name = gantry_node_kernel_name (c->module, node, TRUE);
  kernel.flops = gantry_node_flops (c->module, node);
  kernel.bytes = gantry_node_bytes (c->module, node);
  g_array_append_val (c->kernels, kernel);
  g_array_append_val (c->job_of, job);
}

/* As the planner sees it: what depends on constants alone is computed at load. */
static void
find_constants (GantryCompile *c, const GantryFunction *function)
{
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &c->module->nodes[function->first_node + i];
      gboolean constant = node->op != GANTRY_OP_PARAMETER && gantry_op_is_load_time (node->op);

      for (guint j = 0; j < node->n_operands && constant; j++)
        constant = c->constant[gantry_node_operand_id (c->module, node, j)];
      c->constant[node->id] = constant;
    }
}

static gboolean
add_nodes (GantryCompile *c, const GantryFunction *function, GError **error)
{
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      if (i % 64 == 0 && gantry_progress_cancelled (c->progress, error))
        return FALSE;
      add_node (c, &c->module->nodes[function->first_node + i]);
    }
  return TRUE;
}

static void
add_conversion (GantryCompile *c, const GantryCompression *compression, gboolean back)
{
  const char *stored = gantry_placement_kind_name (compression->kind), *exact = gantry_element_name (compression->element);
  GantryKernel kernel = { .node = GANTRY_NO_NODE, .kind = GANTRY_KERNEL_BUILTIN, .n_tasks = 1 };
  gint job = -1;

  kernel.name = g_strdup_printf ("%s_to_%s_%" G_GINT64_FORMAT, back ? stored : exact, back ? exact : stored, compression->elements);
  kernel.flops = gantry_compression_flops (compression->kind, compression->elements);
  kernel.bytes = (gint64) gantry_compressed_bytes (compression->kind, compression->elements)
                 + compression->elements * (gint64) gantry_element_size (compression->element);
  if (c->options.target == GANTRY_CODE_CPU)
    gantry_compression_make (compression, back, &kernel);
  else
    job = gantry_compile_add_compression_job (c, compression, back, kernel.name);
  g_array_append_val (c->kernels, kernel);
  g_array_append_val (c->job_of, job);
}

/* The entry and what control in it runs. */
static gboolean
add_functions (GantryCompile *c, GError **error)
{
  g_autoptr (GArray) regions = gantry_module_list_regions (c->module);
  g_autofree char *text = NULL;

  for (guint i = 0; i <= regions->len; i++)
    {
      const GantryFunction *function = i == 0 ? gantry_module_entry (c->module) : gantry_module_function (c->module, g_array_index (regions, guint32, i - 1));

      find_constants (c, function);
      if (!add_nodes (c, function, error))
        return FALSE;
    }
  if (c->lines->len == 0)
    return TRUE;
  g_ptr_array_add (c->lines, NULL);
  text = g_strjoinv ("\n", (char **) c->lines->pdata);
  g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, text);
  return FALSE;
}

/* The set */

void
gantry_kernel_set_free (GantryKernelSet *set)
{
  if (set == NULL)
    return;
  for (guint32 i = 0; i < set->n_kernels; i++)
    gantry_kernel_clear (&set->kernels[i]);
  for (guint32 i = 0; i < set->n_images; i++)
    gantry_gpu_image_clear (&set->images[i]);
  g_free (set->images);
  g_free (set->kernels);
  g_free (set->kernel_of);
  g_free (set->layout_blocks);
  g_free (set->compressions);
  g_free (set->target);
  if (set->free_code != NULL)
    set->free_code (set->code);
  g_free (set);
}

const GantryKernel *
gantry_kernel_set_find (const GantryKernelSet *set, guint32 node)
{
  return node < set->n_kernel_of && set->kernel_of[node] != 0 ? &set->kernels[set->kernel_of[node] - 1] : NULL;
}

const GantryKernel *
gantry_kernel_set_find_compression (const GantryKernelSet *set, const GantryCompression *compression, gboolean back)
{
  for (guint32 i = 0; i < set->n_compressions; i++)
    {
      const GantryCompression *c = &set->compressions[i];

      if (c->kind == compression->kind && c->element == compression->element && c->elements == compression->elements)
        return &set->kernels[set->n_kernels - 2 * (set->n_compressions - i) + (back ? 1 : 0)];
    }
  return NULL;
}

GantryKernelSizes *
gantry_kernel_set_sizes (const GantryKernelSet *set, const GantryModule *module)
{
  GantryKernelSizes *sizes = gantry_kernel_sizes_new (NULL, set->target);

  sizes->code_bytes = set->code_bytes;
  sizes->at_least = set->code_at_least;
  for (guint32 i = 0; i < set->n_kernels - 2 * set->n_compressions; i++)
    gantry_kernel_sizes_add (sizes, gantry_module_position (module, gantry_module_node (module, set->kernels[i].node)), set->kernels[i].workspace_bytes,
                             set->kernels[i].packed_bytes);
  return sizes;
}

static void
finish_kernel (GantryCompile *c, guint i)
{
  GantryKernel *kernel = &g_array_index (c->kernels, GantryKernel, i);
  gint index = g_array_index (c->job_of, gint, i);
  const GantryJob *job = index >= 0 ? g_ptr_array_index (c->jobs, index) : NULL;

  if (job == NULL)
    return;
  kernel->func = job->func;
  kernel->n_tasks = job->n_tasks;
  kernel->compile_ms = job->compile_ms;
  kernel->llvm_ir = job->ir != NULL ? g_ref_string_acquire (job->ir) : NULL;
  kernel->assembly = job->assembly != NULL ? g_ref_string_acquire (job->assembly) : NULL;
  if (c->options.target != GANTRY_CODE_CPU)
    gantry_compile_finish_bound (c, kernel, job, (guint32) index);
}

static void
free_jit (gpointer jit)
{
  gantry_jit_free (jit);
}

/* One image for each job, in their order. */
static void
take_images (GantryCompile *c, GantryKernelSet *set)
{
  set->n_images = c->jobs->len;
  set->images = g_new0 (GantryGpuImage, c->jobs->len + 1);
  for (guint i = 0; i < c->jobs->len; i++)
    {
      GantryJob *job = g_ptr_array_index (c->jobs, i);

      set->images[i] = job->image;
      job->image = (GantryGpuImage){ 0 };
      /* What the driver will make of text is not known. */
      set->code_bytes += set->images[i].code != NULL && !set->images[i].is_text ? g_bytes_get_size (set->images[i].code) : 0;
    }
}

static char *
describe_target (const GantryCompile *c)
{
  g_autofree char *versions = gantry_kernels_describe ();

  switch (c->options.target)
    {
    case GANTRY_CODE_CUDA:
      versions[strcspn (versions, ",")] = '\0'; /* without the library for the CPU */
      return c->ptxas != NULL ? g_strdup_printf ("%s (%s, ptxas %s)", c->gpu.arch, versions, c->ptxas->version)
                              : g_strdup_printf ("%s (%s, no ptxas)", c->gpu.arch, versions);
    case GANTRY_CODE_GRID_ON_CPU:
      versions[strcspn (versions, ",")] = '\0';
      return g_strdup_printf ("schedules of %s on x86-64 %s (%s)", c->gpu.arch, c->compiler->cpu, versions);
    default: return g_strdup_printf ("x86-64 %s (%s)", c->compiler->cpu, versions);
    }
}

/* @jit: (nullable): for a GPU there is none */
static GantryKernelSet *
make_set (GantryCompile *c, GantryJit *jit)
{
  GantryKernelSet *set = g_new0 (GantryKernelSet, 1);

  for (guint i = 0; i < c->kernels->len; i++)
    finish_kernel (c, i);
  set->n_kernels = c->kernels->len;
  set->n_distinct = c->jobs->len;
  set->code_bytes = c->code_bytes;
  set->code_at_least = c->code_at_least;
  set->kernels = (GantryKernel *) g_array_free (g_steal_pointer (&c->kernels), FALSE);
  set->n_kernel_of = c->module->n_index;
  set->kernel_of = g_new0 (guint32, set->n_kernel_of);
  for (guint32 i = 0; i < set->n_kernels; i++)
    if (set->kernels[i].node < set->n_kernel_of)
      set->kernel_of[set->kernels[i].node] = i + 1;
  set->n_compressions = c->options.compressions != NULL ? c->options.compressions->len : 0;
  set->compressions = set->n_compressions > 0 ? g_memdup2 (c->options.compressions->data, set->n_compressions * sizeof (GantryCompression)) : NULL;
  set->layout_blocks = g_new0 (guint8, set->n_kernel_of + 1);
  for (guint32 i = 0; i < set->n_kernel_of; i++)
    set->layout_blocks[i] = c->blocked[i] ? (guint8) c->block : 0;
  set->target = describe_target (c);
  if (c->options.target == GANTRY_CODE_CUDA)
    take_images (c, set);
  set->code = jit;
  set->free_code = jit != NULL ? free_jit : NULL;
  return set;
}

char *
gantry_kernels_describe (void)
{
  g_autofree char *library = gantry_library_describe ();
  unsigned major, minor, patch;

  LLVMGetVersion (&major, &minor, &patch);
  return g_strdup_printf ("LLVM %u.%u.%u, %s", major, minor, patch, library);
}

/* The whole */

static void
compilation_clear (GantryCompile *c)
{
  if (c->kernels != NULL)
    {
      for (guint i = 0; i < c->kernels->len; i++)
        gantry_kernel_clear (&g_array_index (c->kernels, GantryKernel, i));
      g_array_unref (c->kernels);
    }
  g_array_unref (c->job_of);
  g_ptr_array_unref (c->jobs);
  g_hash_table_unref (c->by_key);
  g_hash_table_unref (c->by_call);
  g_free (c->blocked);
  g_free (c->constant);
  g_hash_table_unref (c->diagnostics);
  g_ptr_array_unref (c->lines);
  g_clear_pointer (&c->ptxas, gantry_ptxas_free);
  g_clear_pointer (&c->compiler, gantry_compiler_free);
}

static gboolean
check_options (const GantryKernelOptions *options, GError **error)
{
  gboolean uses_library = options->use_library && options->target == GANTRY_CODE_CPU;

  if (options->layout_block != 0 && options->layout_block != 8 && options->layout_block != 16)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "blocks of %u channels: a blocked layout has 8 or 16", options->layout_block);
      return FALSE;
    }
  if (uses_library && !gantry_library_load (error))
    return FALSE;
  return options->cpu != NULL || options->target == GANTRY_CODE_CUDA || gantry_instructions_check (options->instructions, uses_library, error);
}

/* Bound programs do all by themselves. */
static gboolean
begin_target (GantryCompile *c, GError **error)
{
  if (!check_options (&c->options, error))
    return FALSE;
  if (c->options.target != GANTRY_CODE_CPU)
    {
      if (!gantry_gpu_init (&c->gpu, c->options.arch != NULL ? c->options.arch : "sm_90a", error))
        return FALSE;
      c->gpu.allow_tf32 = c->options.allow_tf32;
      c->options.use_library = FALSE;
    }
  if (c->options.target == GANTRY_CODE_CUDA)
    c->ptxas = gantry_ptxas_find ();
  c->compiler = gantry_compile_new_compiler (c, error);
  return c->compiler != NULL;
}

static void
choose_layouts (GantryCompile *c)
{
  gboolean gpu = c->options.target != GANTRY_CODE_CPU;

  /* 8 elements of 2 bytes are what a GPU fetches at once. */
  c->block = gpu ? 8 : c->options.layout_block != 0 ? c->options.layout_block : c->compiler->vector_bytes == 64 ? 16 : 8;
  c->blocked = c->options.free_layouts && (gpu || c->options.use_library)
                 ? gantry_layouts_choose (c->module, c->block, gpu ? GANTRY_CONVOLVES_GPU : GANTRY_CONVOLVES_LIBRARY)
                 : g_new0 (guint8, c->module->n_index + 1);
}

/* With the code that the library makes for it. */
static gboolean
add_program (GantryCompile *c, GError **error)
{
  GantryLibraryCode code = { .known = TRUE };

  if (c->options.use_library)
    gantry_library_code_begin (&code);
  if (!add_functions (c, error))
    return FALSE;
  for (guint i = 0; c->options.compressions != NULL && i < 2 * c->options.compressions->len; i++)
    add_conversion (c, &g_array_index (c->options.compressions, GantryCompression, i / 2), i % 2 == 1);
  if (c->options.use_library)
    gantry_library_code_end (&code, (const GantryKernel *) (gpointer) c->kernels->data, c->kernels->len);
  c->code_bytes += code.bytes;
  c->code_at_least = !code.known;
  return TRUE;
}

static GantryKernelSet *
compile (GantryCompile *c, GError **error)
{
  g_autoptr (GantryJit) jit = NULL;

  if (!begin_target (c, error))
    return NULL;
  choose_layouts (c);
  c->constant = g_new0 (guint8, c->module->n_index + 1);
  if (!add_program (c, error) || !gantry_compile_run_jobs (c, error))
    return NULL;
  if (c->options.target == GANTRY_CODE_CUDA)
    return make_set (c, NULL);
  jit = gantry_jit_new (error);
  if (jit == NULL || !gantry_compile_link_jobs (c, jit, error))
    return NULL;
  return make_set (c, g_steal_pointer (&jit));
}

GantryKernelSet *
gantry_kernels_compile (GantryModule *module, const GantryKernelOptions *options, const GantryProgress *progress, GError **error)
{
  GantryCompile c = { .module = module, .progress = progress, .options = GANTRY_KERNEL_OPTIONS_INIT };
  gint64 begin = g_get_monotonic_time ();
  GantryKernelSet *set;

  g_return_val_if_fail (module != NULL, NULL);
  if (options != NULL)
    c.options = *options;
  if (c.options.n_threads == 0)
    c.options.n_threads = g_get_num_processors ();
  c.kernels = g_array_new (FALSE, FALSE, sizeof (GantryKernel));
  c.job_of = g_array_new (FALSE, FALSE, sizeof (gint));
  c.jobs = g_ptr_array_new_with_free_func (gantry_job_free);
  c.by_key = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  c.by_call = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  c.diagnostics = g_hash_table_new (g_str_hash, g_str_equal);
  c.lines = g_ptr_array_new_with_free_func (g_free);
  set = compile (&c, error);
  compilation_clear (&c);
  if (set != NULL)
    set->compile_ms = (double) (g_get_monotonic_time () - begin) / 1000;
  return set;
}
