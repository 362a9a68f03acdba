/* SPDX-License-Identifier: Apache-2.0 */
/* The machinery of the contraction tests. */
#include "tests/core/kernels/test-contraction-run.h"
#include "core/eval/eval.h"
#include "core/expr/expr.h"
#include "core/kernels/cpu/grid-cpu.h"
#include "core/kernels/cpu/jit.h"
#include "core/kernels/gpu/grid-ptx.h"
#include "core/kernels/gpu/nvptx.h"
#include "core/kernels/gpu/ptxas.h"
#include "tests/core/graph/graph-test.h"
#include "core/kernels/builtin/builtin.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* Cases */

/* Hand-written kernels have no expression. */
static gboolean
is_by_hand (GantryOp op)
{
  return op == GANTRY_OP_SORT || op == GANTRY_OP_SCATTER || op == GANTRY_OP_RNG_BIT_GENERATOR;
}

static void
make_source (ContractionCase *c)
{
  g_autoptr (GError) error = NULL;
  GantryTexpr *texpr;

  if (c->node->op == GANTRY_OP_FUSION)
    c->texprs = gantry_texpr_of_fusion (c->module, c->node, &error);
  else if (is_by_hand (c->node->op))
    c->texprs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_texpr_free);
  else
    {
      c->texprs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_texpr_free);
      texpr = gantry_texpr_of_node (c->module, c->node, &error);
      g_ptr_array_add (c->texprs, texpr);
    }
  g_assert_no_error (error);
  c->n_results = gantry_node_n_results (c->module, c->node);
  c->source.n_inputs = c->node->n_operands;
  c->source.inputs = g_new0 (GantryKxInput, c->source.n_inputs);
  for (guint i = 0; i < c->source.n_inputs; i++)
    {
      c->source.inputs[i].type = gantry_node_operand_type (c->module, c->node, i);
      gantry_kx_layout_plain (&c->source.inputs[i].layout, c->source.inputs[i].type);
    }
  c->source.results = c->texprs;
  c->source.layouts = g_new0 (GantryKxLayout, c->texprs->len);
}

void
contraction_case_block (ContractionCase *c, guint block)
{
  c->block = block;
  if (block != 0)
    gantry_kx_layout_blocked (&c->source.inputs[0].layout, c->source.inputs[0].type, 1, block);
}

ContractionCase *
contraction_case_op (GantryOp op, const char *operands, const char *attributes)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "case");
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) parts = g_strsplit (operands, " ", -1);
  TestSet set = { context, g_array_new (FALSE, FALSE, sizeof (guint32)) };
  ContractionCase *c = g_new0 (ContractionCase, 1);
  guint32 ids[8], n = 0, node;

  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation){ .file = gantry_context_intern (context, "test"), .line = 1 }));
  for (; parts[n] != NULL && parts[n][0] != '\0'; n++)
    ids[n] = gantry_builder_parameter (builder, test_type (&set, parts[n]), NULL);
  node = gantry_builder_add (builder, op, ids, n, test_attrs (&set, attributes));
  gantry_builder_check (builder, &error);
  g_assert_no_error (error);
  gantry_builder_end (builder, &node, 1);
  c->module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  c->node = gantry_module_node (c->module, node);
  g_array_unref (set.functions);
  make_source (c);
  return c;
}

ContractionCase *
contraction_case_text (const char *text)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  ContractionCase *c = g_new0 (ContractionCase, 1);

  c->module = gantry_module_from_text (context, text, -1, "case", &error);
  g_assert_no_error (error);
  gantry_verify (c->module, NULL, &error);
  g_assert_no_error (error);
  for (guint32 i = 0; i < c->module->n_nodes && c->node == NULL; i++)
    if (c->module->nodes[i].op == GANTRY_OP_FUSION)
      c->node = &c->module->nodes[i];
  g_assert_nonnull (c->node);
  make_source (c);
  return c;
}

void
contraction_case_free (ContractionCase *c)
{
  g_ptr_array_unref (c->texprs);
  g_free (c->source.inputs);
  g_free (c->source.layouts);
  gantry_module_unref (c->module);
  g_free (c);
}

/* Binding */

void
contraction_gpu (GantryGpu *gpu, guint capability)
{
  g_autofree char *arch = g_strdup_printf (capability == 90 ? "sm_90a" : "sm_%u", capability);

  g_assert_true (gantry_gpu_init (gpu, arch, NULL));
}

const GantryType *
contraction_result_type (const ContractionCase *c, guint i)
{
  const GantryType *type = gantry_node_type (c->module, c->node);

  return type->kind == GANTRY_TYPE_TUPLE ? gantry_context_type (c->module->context, gantry_context_tuple_member (c->module->context, c->node->type, i)) : type;
}

static GantryBound *
by_hand (const ContractionCase *c, const GantryGpu *gpu)
{
  g_autoptr (GString) why = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  GantryBound *bound = gantry_builtin_bind (c->module, c->node, c->source.inputs, c->source.n_inputs, gpu, why);

  g_assert_cmpstr (why->str, ==, "");
  for (guint i = 0; i < bound->grids->len; i++)
    {
      gantry_grid_check (g_ptr_array_index (bound->grids, i), gpu, &error);
      g_assert_no_error (error);
    }
  return bound;
}

GantryBound *
contraction_bind (const ContractionCase *c, GantryScheduler scheduler, const GantryGpu *gpu)
{
  g_autoptr (GantryBound) bound = gantry_bound_new ();
  g_autoptr (GantryKx) kx = NULL, compact = NULL;
  g_autoptr (GError) error = NULL;

  if (scheduler == NULL)
    return by_hand (c, gpu);
  kx = gantry_kx_new (c->source.inputs, c->source.n_inputs);
  for (guint i = 0; i < c->texprs->len; i++)
    {
      if (c->block != 0)
        gantry_kx_layout_blocked (&c->source.layouts[i], contraction_result_type (c, i), 1, c->block);
      else
        gantry_kx_layout_plain (&c->source.layouts[i], contraction_result_type (c, i));
      gantry_kx_add (kx, g_ptr_array_index (c->texprs, i), i, &c->source.layouts[i], &error);
      g_assert_no_error (error);
    }
  gantry_kx_canonicalize (kx);
  compact = gantry_kx_compact (kx);
  if (!scheduler (bound, compact, gpu))
    {
      g_assert_cmpuint (bound->grids->len, ==, 0);
      g_assert_cmpuint (bound->workspace_bytes, ==, 0);
      return NULL;
    }
  g_assert_false (compact->overflow);
  g_steal_pointer (&compact); /* the bound program's now */
  for (guint i = 0; i < bound->grids->len; i++)
    {
      gantry_grid_check (g_ptr_array_index (bound->grids, i), gpu, &error);
      g_assert_no_error (error);
    }
  return g_steal_pointer (&bound);
}

/* Assembling */

/* What the assembler says beside its figures: that it had to wait after each wgmma would be note C7510. */
static void
check_notes (const GantryPtxas *ptxas, const char *ptx, const char *arch)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("gantry-contraction-XXXXXX", &error), *file = NULL, *notes = NULL;
  const char *arguments[] = { ptxas->path, "-v", "-arch", arch, "-o", "/dev/null", NULL, NULL };

  g_assert_no_error (error);
  file = g_build_filename (folder, "product.ptx", NULL);
  g_file_set_contents (file, ptx, -1, &error);
  g_assert_no_error (error);
  arguments[6] = file;
  g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, &notes, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (notes, "registers"));
  g_assert_null (strstr (notes, "C7510"));
  g_assert_null (strstr (notes, "serializ"));
  g_remove (file);
  g_rmdir (folder);
}

gboolean
contraction_assemble (const ContractionCase *c, const GantryBound *bound, const GantryGpu *gpu, GantryGpuImage *image)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPtxas) ptxas = gantry_ptxas_find ();
  g_autoptr (GantryCompiler) compiler = NULL;
  g_autofree char *ptx = NULL;

  if (ptxas == NULL)
    return FALSE;
  compiler = gantry_compiler_new_nvptx (gpu, 2, &error);
  g_assert_no_error (error);
  ptx = gantry_grid_to_ptx (compiler, bound, "product", c->source.n_inputs, c->texprs->len, NULL, &error);
  g_assert_no_error (error);
  if (g_getenv ("GANTRY_SHOW_PTX") != NULL)
    g_print ("%s\n", ptx);
  if (strstr (ptx, "wgmma") != NULL)
    check_notes (ptxas, ptx, gpu->arch);
  gantry_ptxas_assemble (ptxas, ptx, gpu->arch, NULL, NULL, image, &error);
  g_assert_no_error (error);
  return TRUE;
}

static char *
find_disassembler (void)
{
  const char *asked = g_getenv ("GANTRY_NVDISASM"), *usual = "/usr/local/cuda/bin/nvdisasm";

  if (asked != NULL)
    return g_strdup (asked);
  return g_file_test (usual, G_FILE_TEST_IS_EXECUTABLE) ? g_strdup (usual) : g_find_program_in_path ("nvdisasm");
}

char *
contraction_disassemble (const GantryGpuImage *image)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *program = find_disassembler (), *folder = NULL, *file = NULL;
  char *text = NULL;
  gsize size;
  const char *code = g_bytes_get_data (image->code, &size);

  if (program == NULL)
    return NULL;
  folder = g_dir_make_tmp ("gantry-contraction-XXXXXX", &error);
  g_assert_no_error (error);
  file = g_build_filename (folder, "product.cubin", NULL);
  g_file_set_contents (file, code, (gssize) size, &error);
  g_assert_no_error (error);
  g_spawn_sync (NULL, (char *[]){ program, (char *) "-c", file, NULL }, NULL, G_SPAWN_DEFAULT, NULL, NULL, &text, NULL, NULL, &error);
  g_assert_no_error (error);
  g_remove (file);
  g_rmdir (folder);
  return text;
}

/* Running */

GantryLiteral *
contraction_random_operand (GRand *rand, const GantryType *type)
{
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);
  gint64 n = gantry_type_elements (type);
  gsize size = gantry_element_size (type->element);

  for (gint64 i = 0; i < n; i++)
    if (gantry_element_is_float (type->element))
      gantry_element_write_double (type->element, data + i * size, g_rand_double_range (rand, -1, 1));
    else
      gantry_element_write_int (type->element, data + i * size, g_rand_int_range (rand, -100, 100));
  return literal;
}

static void
evaluate (const ContractionCase *c, GantryLiteral **operands, GantryLiteral **results)
{
  g_autoptr (GError) error = NULL;

  if (c->node->op == GANTRY_OP_FUSION)
    {
      const GantryAttr *body = gantry_attrs_find (c->module->context, c->node->attrs, "body");

      gantry_evaluate (c->module, gantry_module_function (c->module, body->id), operands, results, NULL, &error);
    }
  else
    gantry_evaluate_node (c->module, c->node, operands, results, c->texprs->len, &error);
  g_assert_no_error (error);
}

/* @operand with every number moved by at most 2^-18 of itself. (transfer full) */
static GantryLiteral *
moved (GRand *rand, GantryLiteral *operand)
{
  gsize size = gantry_element_size (operand->type->element);
  GantryLiteral *literal;
  guint8 *data;

  if (!gantry_element_is_float (operand->type->element))
    return gantry_literal_ref (operand);
  literal = gantry_literal_new_zeroed (operand->type, &data);
  for (gint64 i = 0; i < gantry_type_elements (operand->type); i++)
    gantry_element_write_double (operand->type->element, data + i * size,
                                 gantry_literal_get_double (operand, i) * (1 + g_rand_double_range (rand, -0x1p-18, 0x1p-18)));
  return literal;
}

/* Rounding decides element @i: a floor or a comparison stands at its edge, and the evaluator's own result goes at least half as
 * far as @distance when its operands move by a little. */
static gboolean
is_undecided (const ContractionCase *c, GantryLiteral **operands, guint number, gint64 i, double distance)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  double least = INFINITY, most = -INFINITY;

  for (guint k = 0; k < 16; k++)
    {
      g_autofree GantryLiteral **near = g_new0 (GantryLiteral *, c->source.n_inputs);
      g_autofree GantryLiteral **results = g_new0 (GantryLiteral *, c->texprs->len);

      for (guint j = 0; j < c->source.n_inputs; j++)
        near[j] = moved (rand, operands[j]);
      evaluate (c, near, results);
      least = MIN (least, gantry_literal_get_double (results[number], i));
      most = MAX (most, gantry_literal_get_double (results[number], i));
      for (guint j = 0; j < c->source.n_inputs; j++)
        gantry_literal_unref (near[j]);
      for (guint j = 0; j < c->texprs->len; j++)
        gantry_literal_unref (results[j]);
    }
  return most - least >= distance / 2;
}

static void
compare (const ContractionCase *c, GantryLiteral **operands, guint number, gconstpointer got, const GantryLiteral *want, gint64 depth, double rounding)
{
  const GantryType *type = contraction_result_type (c, number);
  gint64 n = gantry_type_elements (type);
  gsize size = gantry_element_size (type->element);
  g_autofree char *text = gantry_node_to_text (c->module, c->node);
  /* Each addition is off by half a step of the sum so far. That grows with the root of their number, terms being random and
   * below 1, and so do the errors: together with the number. The evaluator's own f64 is no better than what is
   * tested. The result is rounded once more. */
  double step = type->element == GANTRY_F64 ? 0x1p-53 : 0x1p-24;
  double absolute = step * (16 + (double) depth) + rounding * sqrt ((double) depth), relative = 4 * step;

  if (type->element == GANTRY_F16 || type->element == GANTRY_BF16)
    {
      relative = type->element == GANTRY_F16 ? 0x1p-10 : 0x1p-7;
      /* The evaluator rounds what lies between the parts of a fusion, numbers up to about 8. */
      absolute += c->node->op == GANTRY_OP_FUSION ? 8 * relative : 0;
    }
  /* The evaluator rounds every value of a group; a kernel rounds its results alone. */
  if (c->node->op == GANTRY_OP_FUSION && gantry_element_size (type->element) == 2)
    relative *= 4;
  for (gint64 i = 0; i < n; i++)
    if (gantry_element_is_float (type->element))
      {
        double x = gantry_element_read_double (type->element, (const guint8 *) got + i * size);
        double y = gantry_literal_get_double (want, i);

        if (!(fabs (x - y) <= absolute + relative * fabs (y)) && (c->node->op != GANTRY_OP_FUSION || !is_undecided (c, operands, number, i, fabs (x - y))))
          g_error ("%s\nresult %u, element %" G_GINT64_FORMAT ": %.9g, expected %.9g", text, number, i, x, y);
      }
    else if (gantry_element_read_int (type->element, (const guint8 *) got + i * size) != gantry_literal_get_int (want, i))
      g_error ("%s\nresult %u, element %" G_GINT64_FORMAT ": %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, text, number, i,
               gantry_element_read_int (type->element, (const guint8 *) got + i * size), gantry_literal_get_int (want, i));
}

gpointer
contraction_aligned (gsize size)
{
  gpointer memory = g_aligned_alloc (1, (size + 255) / 256 * 256 + 256, 256);

  memset (memory, 0xff, size + 255); /* no numbers */
  return memory;
}

static void
call (const ContractionCase *c, const GantryBound *bound, GPtrArray *buffers)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryCompiler) compiler = gantry_compiler_new (NULL, 0, &error);
  g_autoptr (GantryJit) jit = gantry_jit_new (&error);
  LLVMMemoryBufferRef object;
  GantryKernelFunc func;
  gint64 n_tasks;

  g_assert_no_error (error);
  object = gantry_grid_to_cpu (compiler, bound, "product", c->source.n_inputs, c->texprs->len, &n_tasks, NULL, NULL, &error);
  g_assert_no_error (error);
  gantry_jit_add (jit, object, &error);
  g_assert_no_error (error);
  func = (GantryKernelFunc) gantry_jit_find (jit, "product", &error);
  g_assert_no_error (error);
  func (NULL, buffers->pdata, 0, n_tasks / 2);
  func (NULL, buffers->pdata, n_tasks / 2, n_tasks);
}

void
contraction_check (const ContractionCase *c, const GantryBound *bound, GRand *rand, gint64 depth)
{
  contraction_check_rounded (c, bound, rand, depth, 0);
}

void
contraction_check_rounded (const ContractionCase *c, const GantryBound *bound, GRand *rand, gint64 depth, double rounding)
{
  g_autoptr (GPtrArray) buffers = g_ptr_array_new_with_free_func (g_aligned_free);
  g_autofree GantryLiteral **operands = g_new0 (GantryLiteral *, c->source.n_inputs);
  g_autofree GantryLiteral **results = g_new0 (GantryLiteral *, c->texprs->len);

  for (guint i = 0; i < c->source.n_inputs; i++)
    {
      const GantryType *type = c->source.inputs[i].type;

      operands[i] = contraction_random_operand (rand, type);
      g_ptr_array_add (buffers, contraction_aligned ((gsize) gantry_type_bytes (type)));
      gantry_literal_copy_to (operands[i], g_ptr_array_index (buffers, i));
    }
  for (guint i = 0; i < c->texprs->len; i++)
    g_ptr_array_add (buffers, contraction_aligned ((gsize) gantry_type_bytes (contraction_result_type (c, i))));
  if (bound->workspace_bytes > 0)
    g_ptr_array_add (buffers, contraction_aligned (bound->workspace_bytes));
  call (c, bound, buffers);
  evaluate (c, operands, results);
  for (guint i = 0; i < c->texprs->len; i++)
    {
      compare (c, operands, i, g_ptr_array_index (buffers, c->source.n_inputs + i), results[i], depth, rounding);
      gantry_literal_unref (results[i]);
    }
  for (guint i = 0; i < c->source.n_inputs; i++)
    gantry_literal_unref (operands[i]);
}
