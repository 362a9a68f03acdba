/* SPDX-License-Identifier: Apache-2.0 */
/* PTX: every operation of every element type, and random fusions, go through LLVM and, where it is
 * installed, through the assembler for each architecture. Without ptxas the PTX is made all the same and the rest
 * is skipped. GANTRY_TEST_GROUPS sets how many fusions (`-m slow`: 2000). */
#include "core/kernels/emit/emit.h"
#include "core/kernels/gpu/ptxas.h"
#include "core/kernels/kernels.h"
#include "tests/core/kernels/random-fusion.h"
#include "tests/random-seed.h"
#include <glib/gstdio.h>
#include <string.h>

static const char *const architectures[] = { "sm_80", "sm_90a", "sm_100" };

typedef struct
{
  guint n_modules, n_kernels;
  guint registers, spills, stack;
  double compile_ms, assemble_ms;
} Tally;

/* Of kernels whose private arrays are registers nothing lies in local memory. */
static void
check_text (const GantryKernel *kernel)
{
  g_assert_nonnull (kernel->assembly);
  g_assert_nonnull (strstr (kernel->assembly, ".visible .entry"));
  if (strstr (kernel->assembly, "mma.sync") != NULL && strstr (kernel->assembly, ".local") != NULL)
    g_error ("%s: a product uses local memory:\n%s", kernel->name, kernel->assembly);
}

static GantryKernelSet *
compile_for (GantryModule *module, const char *arch, guint n_threads, GError **error)
{
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

  options.target = GANTRY_CODE_CUDA;
  options.arch = arch;
  options.n_threads = n_threads;
  options.keep_texts = TRUE;
  return gantry_kernels_compile (module, &options, NULL, error);
}

static void
compile_and_tally (GantryModule *module, const char *arch, guint n_threads, Tally *tally)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSet) set = compile_for (module, arch, n_threads, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (set->n_images, ==, set->n_distinct);
  tally->n_modules++;
  for (guint32 i = 0; i < set->n_kernels; i++)
    {
      const GantryKernel *kernel = &set->kernels[i];

      g_assert_nonnull (kernel->gpu);
      g_assert_null (kernel->func);
      for (guint32 k = 0; k < kernel->gpu->n_launches; k++)
        {
          g_assert_cmpuint (kernel->gpu->launches[k].image, <, set->n_images);
          g_assert_nonnull (strstr (kernel->assembly, kernel->gpu->launches[k].entry));
        }
      if (kernel->gpu->n_launches > 0)
        check_text (kernel);
      tally->n_kernels++;
      tally->compile_ms += kernel->compile_ms;
    }
  for (guint32 i = 0; i < set->n_images; i++)
    {
      tally->registers = MAX (tally->registers, set->images[i].registers);
      tally->spills += set->images[i].spill_store_bytes > 0;
      tally->stack += set->images[i].stack_bytes > 0;
      tally->assemble_ms += set->images[i].assemble_ms;
    }
}

static void
tell (const Tally *tally, const char *what, const char *arch)
{
  g_test_message ("%s, %s: %u kernels; %.2f ms each in all, %.2f ms of that by ptxas; at most %u registers, %u with spills, "
                  "%u with a stack",
                  what, arch, tally->n_kernels, tally->compile_ms / MAX (tally->n_kernels, 1), tally->assemble_ms / MAX (tally->n_kernels, 1), tally->registers,
                  tally->spills, tally->stack);
}

/* Without an assembler text is all that is made: the modules are made once, for one architecture. */
static guint
n_architectures (void)
{
  g_autoptr (GantryPtxas) ptxas = gantry_ptxas_find ();

  return ptxas != NULL ? G_N_ELEMENTS (architectures) : 1;
}

static void
skip_without_assembler (void)
{
  if (n_architectures () == 1)
    g_test_skip ("ptxas is not installed: the PTX was made but not assembled");
}

/* Random fusions */

static void
test_random (void)
{
  const char *asked = g_getenv ("GANTRY_TEST_GROUPS");
  guint n = asked != NULL ? (guint) g_ascii_strtoull (asked, NULL, 10) : g_test_slow () ? 2000 : 60;
  guint32 seed = test_seed (1);

  for (guint a = 0; a < n_architectures (); a++)
    {
      Tally tally = { 0 };

      for (guint i = 0; i < n; i++)
        {
          g_autoptr (GantryContext) context = gantry_context_new ();
          g_autoptr (GRand) rand = g_rand_new_with_seed (seed + i);
          g_autoptr (GantryModule) module = random_fusion_module (context, rand);

          compile_and_tally (module, architectures[a], 1, &tally);
        }
      tell (&tally, "random fusions", architectures[a]);
    }
  skip_without_assembler ();
}

/* Operations: a module with a node for each that there is code for */

static const GantryElementType elements[] = { GANTRY_BOOL, GANTRY_I8,  GANTRY_I16, GANTRY_I32,  GANTRY_I64, GANTRY_U8, GANTRY_U16,
                                              GANTRY_U32,  GANTRY_U64, GANTRY_F16, GANTRY_BF16, GANTRY_F32, GANTRY_F64 };

typedef struct
{
  GantryContext *context;
  GantryBuilder *builder;
  GArray *results; /* guint32 */
} Operations;

static guint32
operand (Operations *o, GantryElementType element)
{
  const GantryDim dims[] = { 3, 67 };

  return gantry_builder_parameter (o->builder, gantry_context_tensor (o->context, element, 2, dims), NULL);
}

static void
keep (Operations *o, guint32 id)
{
  g_array_append_val (o->results, id);
}

/* Is there such an operation? The table says so by refusing it. */
static gboolean
is_allowed (guint op, GantryElementType element, gboolean binary)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "try");
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GantryModule) module = NULL;
  Operations o = { context, builder, results };
  guint32 x, id;

  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation){ .line = 1 }));
  x = operand (&o, element);
  id = binary ? gantry_builder_binary (builder, op, x, x) : gantry_builder_unary (builder, op, x);
  gantry_builder_end (builder, &id, 1);
  module = gantry_builder_finish (builder, NULL);
  return module != NULL;
}

static void
add_operations (Operations *o, GantryElementType element, guint32 x, guint32 y)
{
  static const char *const directions[] = { "EQ", "NE", "LT", "LE", "GT", "GE" };

  for (guint op = 1; op < GANTRY_N_OPS; op++)
    {
      const GantryOpInfo *info = gantry_op_info (op);

      if (info == NULL || (info->flags & GANTRY_OP_STRUCTURE))
        continue;
      if (gantry_emit_has_unary (op, element) && op != GANTRY_OP_COPY && op != GANTRY_OP_OPTIMIZATION_BARRIER && op != GANTRY_OP_CHECKPOINT_NAME
          && is_allowed (op, element, FALSE))
        keep (o, gantry_builder_unary (o->builder, op, x));
      if (gantry_emit_has_binary (op, element) && op != GANTRY_OP_COMPARE && is_allowed (op, element, TRUE))
        keep (o, gantry_builder_binary (o->builder, op, x, y));
    }
  for (guint d = 0; d < G_N_ELEMENTS (directions); d++)
    keep (o, gantry_builder_compare (o->builder, directions[d], x, y));
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (elements[i] != element)
      keep (o, gantry_builder_convert (o->builder, x, elements[i]));
}

static GantryModule *
operations_of (GantryContext *context, GantryElementType element)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "operations");
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  Operations o = { context, builder, results };
  GantryModule *module;
  guint32 x, y;

  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation){ .line = 1 }));
  x = operand (&o, element);
  y = operand (&o, element);
  add_operations (&o, element, x, y);
  gantry_builder_end (builder, (guint32 *) (gpointer) results->data, results->len);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

static void
test_operations (gconstpointer data)
{
  GantryElementType element = (GantryElementType) GPOINTER_TO_INT (data);

  /* sm_80 differs in the conversions of the short floats. */
  for (guint a = element == GANTRY_F16 || element == GANTRY_BF16 ? 0 : 1; a < 2; a++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = operations_of (context, element);
      Tally tally = { 0 };

      compile_and_tally (module, architectures[a], 0, &tally);
      tell (&tally, gantry_element_name (element), architectures[a]);
    }
  skip_without_assembler ();
}

/* Products */

static const char products[] = "module \"m\" {\n"
                               "  func @main #1 (%1: f16[4,33,64], %2: f16[4,48,64], %3: f32[20,30], %4: f32[30,10], %5: bf16[16,8], %6: bf16[16,24])"
                               " -> (%10, %11, %12) {\n"
                               "    %10 = dot_general(%1, %2) {lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],"
                               " lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]}: f16[4,33,48]\n"
                               "    %11 = dot_general(%3, %4) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[20,10]\n"
                               "    %12 = fusion(%6, %5) {body = @body #2}: f32[8,24]\n"
                               "  }\n"
                               "  func @body #2 (%20: bf16[16,24], %21: bf16[16,8]) -> (%23) {\n"
                               "    %22 = dot_general(%21, %20) {lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]}: bf16[8,24]\n"
                               "    %23 = convert(%22) {to = type f32[8,24]}: f32[8,24]\n"
                               "  }\n"
                               "}\n";

/* Results of two bytes leave the tensor cores 16 bytes at a time, with an epilogue and without. */
static void
test_wide_stores (void)
{
  static const char text[] = "module \"m\" {\n"
                             "  func @main #1 (%1: bf16[256,64], %2: bf16[64,256], %3: bf16[256,256]) -> (%10, %11) {\n"
                             "    %10 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: bf16[256,256]\n"
                             "    %11 = fusion(%1, %2, %3) {body = @body #2}: bf16[256,256]\n"
                             "  }\n"
                             "  func @body #2 (%20: bf16[256,64], %21: bf16[64,256], %22: bf16[256,256]) -> (%24) {\n"
                             "    %23 = dot_general(%20, %21) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: bf16[256,256]\n"
                             "    %24 = add(%23, %22): bf16[256,256]\n"
                             "  }\n"
                             "}\n";

  for (guint a = 0; a < 2; a++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "stores", &error);
      g_autoptr (GantryKernelSet) set = NULL;

      g_assert_no_error (error);
      set = compile_for (module, architectures[a], 1, &error);
      g_assert_no_error (error);
      for (guint32 node = 10; node <= 11; node++)
        {
          const char *assembly = gantry_kernel_set_find (set, node)->assembly;

          g_assert_nonnull (strstr (assembly, a == 0 ? "mma.sync" : "wgmma.mma_async"));
          g_assert_nonnull (strstr (assembly, "st.global.v4"));
          g_assert_null (strstr (assembly, "st.global.b"));
          g_assert_null (strstr (assembly, "st.global.v2"));
        }
    }
}

static void
test_products (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, products, -1, "products", &error);
  g_autoptr (GantryKernelSet) set = NULL;
  const GantryGpuProduct *p;

  g_assert_no_error (error);
  set = compile_for (module, "sm_90a", 1, &error);
  g_assert_no_error (error);
  p = gantry_kernel_set_find (set, 10)->gpu->product;
  g_assert_nonnull (p);
  g_assert_cmpint (p->m, ==, 33);
  g_assert_cmpint (p->n, ==, 48);
  g_assert_cmpint (p->k, ==, 64);
  g_assert_cmpint (p->batch, ==, 4);
  g_assert_false (p->a_transposed);
  g_assert_true (p->b_transposed);
  g_assert_cmpint (p->a_stride, ==, 33 * 64);
  g_assert_cmpint (p->b_stride, ==, 48 * 64);
  g_assert_cmpint (p->c_stride, ==, 33 * 48);
  p = gantry_kernel_set_find (set, 11)->gpu->product;
  g_assert_nonnull (p);
  g_assert_cmpint (p->batch, ==, 1);
  g_assert_false (p->b_transposed);
  p = gantry_kernel_set_find (set, 12)->gpu->product;
  g_assert_nonnull (p);
  g_assert_cmpuint (p->a, ==, 1);
  g_assert_cmpuint (p->b, ==, 0);
  g_assert_cmpuint (p->c, ==, 2);
  g_assert_true (p->a_transposed);
  g_assert_false (p->b_transposed);
  g_assert_cmpuint (p->result, ==, GANTRY_F32);
}

/* What the assembler says */

static void
test_report (void)
{
  GantryGpuImage image = { 0 };

  gantry_ptxas_read_report ("ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
                            "ptxas info    : Function properties for a\n"
                            "    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
                            "ptxas info    : Used 40 registers, used 1 barriers, 1024 bytes smem, 544 bytes cmem[0]\n"
                            "ptxas info    : Used 12 registers, used 0 barriers\n",
                            &image);
  g_assert_cmpuint (image.registers, ==, 40);
  g_assert_cmpuint (image.stack_bytes, ==, 16);
  g_assert_cmpuint (image.spill_store_bytes, ==, 8);
  g_assert_cmpuint (image.spill_load_bytes, ==, 4);
  g_assert_cmpuint (image.static_shared_bytes, ==, 1024);
}

static const char small[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                            ".reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], 7;\nret;\n}\n";

static char *
only_file (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  g_assert_nonnull (dir);
  name = g_dir_read_name (dir);
  g_assert_nonnull (name);
  return g_build_filename (folder, name, NULL);
}

/* What was made is found again; what is damaged is made anew. */
static void
test_cache (void)
{
  g_autoptr (GantryPtxas) ptxas = gantry_ptxas_find ();
  g_autofree char *folder = g_dir_make_tmp ("gantry-cache-XXXXXX", NULL), *inner = g_build_filename (folder, "a", NULL);
  g_autofree char *path = NULL, *data = NULL;
  g_autoptr (GError) error = NULL;
  GantryGpuImage images[4] = { 0 };
  GStatBuf status;
  gsize size;

  if (ptxas == NULL)
    {
      g_test_skip ("ptxas is not installed");
      return;
    }
  g_assert_true (gantry_ptxas_assemble (ptxas, small, "sm_90a", inner, NULL, &images[0], &error));
  g_assert_no_error (error);
  g_assert_cmpuint (images[0].registers, >, 0);
  g_assert_true (gantry_ptxas_assemble (ptxas, small, "sm_90a", inner, NULL, &images[1], &error));
  g_assert_cmpfloat (images[0].assemble_ms, >, 0);
  g_assert_cmpfloat (images[1].assemble_ms, ==, 0); /* nothing was assembled */
  g_assert_true (g_bytes_equal (images[0].code, images[1].code));
  g_assert_cmpuint (images[0].registers, ==, images[1].registers);
  g_assert_cmpint (g_stat (inner, &status), ==, 0);
  g_assert_cmpuint (status.st_mode & 0777, ==, 0700); /* others' code is not run */
  path = only_file (inner);
  g_assert_true (g_file_get_contents (path, &data, &size, &error));
  data[size / 2] ^= 1;
  g_assert_true (g_file_set_contents (path, data, (gssize) size, &error));
  g_assert_true (gantry_ptxas_assemble (ptxas, small, "sm_90a", inner, NULL, &images[2], &error));
  g_assert_true (g_bytes_equal (images[0].code, images[2].code));
  g_assert_cmpfloat (images[2].assemble_ms, >, 0);
  g_assert_true (g_file_set_contents (path, data, 20, &error));
  g_assert_true (gantry_ptxas_assemble (ptxas, small, "sm_90a", inner, NULL, &images[3], &error));
  g_assert_true (g_bytes_equal (images[0].code, images[3].code));
  g_assert_false (gantry_ptxas_assemble (ptxas, "nonsense", "sm_90a", inner, NULL, &images[3], &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED);
  for (guint i = 0; i < G_N_ELEMENTS (images); i++)
    gantry_gpu_image_clear (&images[i]);
  g_unlink (path);
  g_rmdir (inner);
  g_rmdir (folder);
}

static void
test_without (void)
{
  if (g_test_subprocess ())
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = operations_of (context, GANTRY_BOOL);
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryKernelSet) set = NULL;

      g_setenv ("GANTRY_PTXAS", "", TRUE);
      set = compile_for (module, "sm_100", 1, &error);
      g_assert_no_error (error);
      g_assert_nonnull (strstr (set->target, "no ptxas"));
      g_assert_cmpuint (set->n_images, >, 0);
      g_assert_true (set->images[0].is_text);
      g_assert_false (set->images[0].is_measured);
      g_assert_cmpstr (set->images[0].arch, ==, "sm_100");
      /* What LLVM does not know yet is that of the one before. */
      g_assert_nonnull (strstr (g_bytes_get_data (set->images[0].code, NULL), ".target sm_90\n"));
      return;
    }
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
}

static void
test_unknown (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = operations_of (context, GANTRY_BOOL);
  g_autoptr (GError) error = NULL;

  g_assert_null (compile_for (module, "sm_75", 1, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ptx/report", test_report);
  g_test_add_func ("/ptx/cache", test_cache);
  g_test_add_func ("/ptx/without-ptxas", test_without);
  g_test_add_func ("/ptx/unknown-gpu", test_unknown);
  g_test_add_func ("/ptx/products", test_products);
  g_test_add_func ("/ptx/wide-stores", test_wide_stores);
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    {
      g_autofree char *path = g_strdup_printf ("/ptx/operations/%s", gantry_element_name (elements[i]));

      g_test_add_data_func (path, GINT_TO_POINTER (elements[i]), test_operations);
    }
  g_test_add_func ("/ptx/random", test_random);
  return g_test_run ();
}
