/* SPDX-License-Identifier: Apache-2.0 */
/* The machinery of the kernel tests: guarded memory, running, comparing. With GANTRY_TEST_ARCH=sm_90a in the
 * environment the schedules for that GPU are what runs, lowered for the processor, in 20 random interleavings. */
#include "tests/core/kernels/kernel-test.h"
#include "core/eval/eval.h"
#include "core/kernels/cpu/grid-run.h"
#include "tests/core/graph/graph-test.h"
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Guarded memory */

typedef struct
{
  guint8 *map;
  gsize mapped;
  guint8 *data;
  gsize size;
} Guarded;

static Guarded *
guarded_new (gsize size, GRand *rand)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE), inside = (size + 64 + page - 1) / page * page;
  Guarded *g = g_new0 (Guarded, 1);

  g->size = size;
  g->mapped = inside + 2 * page;
  g->map = mmap (NULL, g->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_assert_true (g->map != MAP_FAILED);
  g_assert_cmpint (mprotect (g->map, page, PROT_NONE), ==, 0);
  g_assert_cmpint (mprotect (g->map + page + inside, page, PROT_NONE), ==, 0);
  /* Ends at the guard, or begins right after it, or a few bytes later. */
  switch (g_rand_int_range (rand, 0, 3))
    {
    case 0: g->data = g->map + page + inside - size; break;
    case 1: g->data = g->map + page; break;
    default: g->data = g->map + page + g_rand_int_range (rand, 1, 64); break;
    }
  memset (g->data, 0xa5, size);
  return g;
}

static void
guarded_free (gpointer data)
{
  Guarded *g = data;

  munmap (g->map, g->mapped);
  g_free (g);
}

/* Literals */

static double
special_number (GRand *rand)
{
  static const double list[] = { 0.0, -0.0, 1.0,  -1.0,  INFINITY, -INFINITY, NAN,  1e-40, -3e-42,   3.4e38, -3.4e38, 0.5,         -0.5,
                                 1.5, 2.5,  88.8, -88.8, 104.5,    -104.5,    1e-7, 1e7,   123456.0, 7.0e20, 65504,   2147483648.0 };

  return list[g_rand_int_range (rand, 0, G_N_ELEMENTS (list))];
}

GantryLiteral *
kernel_test_literal (GRand *rand, const GantryType *type, gboolean special)
{
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);
  gint64 n = gantry_type_elements (type);
  gsize size = gantry_element_size (type->element);

  for (gint64 i = 0; i < n; i++)
    if (type->element == GANTRY_BOOL)
      data[i] = g_rand_boolean (rand);
    else if (gantry_element_is_float (type->element))
      gantry_element_write_double (type->element, data + i * size,
                                   special && g_rand_int_range (rand, 0, 4) == 0 ? special_number (rand) : g_rand_double_range (rand, -3, 3));
    else
      {
        guint64 bits = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
        guint shift = g_rand_int_range (rand, 0, 64);

        gantry_element_write_int (type->element, data + i * size, g_rand_int_range (rand, 0, 8) == 0 ? g_rand_int_range (rand, -1, 2) : (gint64) bits >> shift);
      }
  return literal;
}

/* Running */

typedef struct
{
  GantryModule *module;
  const GantryKernelSet *set;
  const KernelTolerance *tolerance;
  GRand *rand;
  gboolean whole;       /* compare at the end only */
  gboolean for_gpu;     /* code for a GPU's unit for special functions, which has no subnormal results */
  guint interleavings;  /* how often each kernel runs, its threads in another order each time */
  GPtrArray *arguments; /* what the parameters were given */
  GHashTable *values;   /* node id << 8 | member -> Guarded */
} Run;

static gpointer
value_key (guint32 node, guint member)
{
  return GSIZE_TO_POINTER ((gsize) node << 8 | member);
}

static const GantryType *
member_type (const GantryModule *module, const GantryNode *node, guint i)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? gantry_context_type (module->context, gantry_context_tuple_member (module->context, node->type, i)) : type;
}

static guint
n_members (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
}

static Guarded *
value_of (const Run *run, guint32 node, guint member)
{
  Guarded *g = g_hash_table_lookup (run->values, value_key (node, member));

  g_assert_nonnull (g);
  return g;
}

static Guarded *
add_value (Run *run, const GantryNode *node, guint member)
{
  Guarded *g = guarded_new ((gsize) gantry_type_bytes (member_type (run->module, node, member)), run->rand);

  g_hash_table_insert (run->values, value_key (node->id, member), g);
  return g;
}

/* Where threads are those of a GPU: in a random order. */
static void
run_tasks (Run *run, const GantryKernel *kernel, void *const *buffers, guint interleaving)
{
  g_autofree char *race = NULL;

  if (run->interleavings > 0)
    gantry_grid_races_begin (interleaving == 0 ? 0 : (guint64) g_rand_int (run->rand) + 1);
  for (gint64 at = 0, end; at < kernel->n_tasks; at = end)
    {
      end = at + 1 + g_rand_int_range (run->rand, 0, 5) * kernel->n_tasks / 4;
      end = MIN (end, kernel->n_tasks);
      kernel->func (kernel->state, buffers, at, end);
    }
  if (run->interleavings > 0 && gantry_grid_races_end (&race) > 0)
    g_error ("%s: %s", kernel->name, race);
}

static void
launch (Run *run, const GantryNode *node, const GantryKernel *kernel)
{
  g_autoptr (GPtrArray) buffers = g_ptr_array_new ();
  Guarded *workspace = NULL, *packed = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    g_ptr_array_add (buffers, value_of (run, gantry_node_operand_id (run->module, node, i), 0)->data);
  for (guint i = 0; i < n_members (run->module, node); i++)
    g_ptr_array_add (buffers, add_value (run, node, i)->data);
  if (kernel->workspace_bytes > 0)
    {
      workspace = guarded_new ((kernel->workspace_bytes + 63) / 64 * 64, run->rand);
      workspace->data = workspace->map + sysconf (_SC_PAGESIZE); /* the runtime aligns it */
      g_ptr_array_add (buffers, workspace->data);
    }
  if (kernel->packed_bytes > 0)
    {
      packed = guarded_new ((kernel->packed_bytes + 63) / 64 * 64, run->rand);
      packed->data = packed->map + sysconf (_SC_PAGESIZE);
      kernel->pack (kernel->state, buffers->pdata, packed->data);
      g_ptr_array_add (buffers, packed->data);
    }
  for (guint i = 0; i < (run->interleavings > 0 ? run->interleavings : 1); i++)
    run_tasks (run, kernel, buffers->pdata, i);
  g_clear_pointer (&workspace, guarded_free);
  g_clear_pointer (&packed, guarded_free);
}

/* Comparing */

static GantryLiteral *
literal_of (const GantryType *type, const Guarded *g)
{
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  if (g->size > 0)
    memcpy (data, g->data, g->size);
  return literal;
}

static gboolean
close_enough (const Run *run, GantryElementType element, double got, double want)
{
  double relative = run->tolerance != NULL && run->tolerance->relative > 0 ? run->tolerance->relative : 1e-6;
  double absolute = run->tolerance != NULL && run->tolerance->absolute > 0 ? run->tolerance->absolute : 1e-37;

  if (isnan (want) || isnan (got))
    return isnan (want) && isnan (got);
  if (got == want)
    return TRUE;
  if (element == GANTRY_F64)
    relative = MIN (relative, 1e-12);
  if (element == GANTRY_F16)
    relative += 1.0 / 1024, absolute = MAX (absolute, 1e-7);
  if (element == GANTRY_BF16)
    relative += 1.0 / 128, absolute = run->for_gpu ? MAX (absolute, 0x1p-126) : absolute;
  if (isinf (want) || isinf (got)) /* rounded up to infinity by one and not by the other */
    return fabs (isinf (want) ? got : want) >= (element == GANTRY_F16 ? 65000 : 3.38e38) && signbit (want) == signbit (got);
  return fabs (got - want) <= absolute + relative * fabs (want);
}

static void
compare_value (const Run *run, const GantryNode *node, guint member, const GantryLiteral *want)
{
  const GantryType *type = member_type (run->module, node, member);
  g_autoptr (GantryLiteral) got = literal_of (type, value_of (run, node->id, member));
  g_autofree char *text = gantry_node_to_text (run->module, node);
  gint64 n = gantry_type_elements (type);

  for (gint64 i = 0; i < n; i++)
    if (gantry_element_is_float (type->element))
      {
        double x = gantry_literal_get_double (got, i), y = gantry_literal_get_double (want, i);

        if (!close_enough (run, type->element, x, y)
            && (run->tolerance == NULL || run->tolerance->undecided == NULL
                || !run->tolerance->undecided ((GantryLiteral *const *) run->arguments->pdata, member, i, run->tolerance->data)))
          g_error ("%s\nresult %u, element %" G_GINT64_FORMAT ": %.9g, expected %.9g", text, member, i, x, y);
      }
    else if (gantry_literal_get_int (got, i) != gantry_literal_get_int (want, i))
      g_error ("%s\nresult %u, element %" G_GINT64_FORMAT ": %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, text, member, i,
               gantry_literal_get_int (got, i), gantry_literal_get_int (want, i));
}

static GantryLiteral **
operand_literals (const Run *run, const GantryNode *node)
{
  GantryLiteral **operands = g_new0 (GantryLiteral *, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = literal_of (gantry_node_operand_type (run->module, node, i), value_of (run, gantry_node_operand_id (run->module, node, i), 0));
  return operands;
}

static void
compare_node (const Run *run, const GantryNode *node)
{
  guint n = n_members (run->module, node);
  g_autofree GantryLiteral **operands = operand_literals (run, node);
  g_autofree GantryLiteral **results = g_new0 (GantryLiteral *, n);
  g_autoptr (GError) error = NULL;
  gboolean done;

  if (node->op == GANTRY_OP_FUSION)
    {
      const GantryAttr *body = gantry_attrs_find (run->module->context, node->attrs, "body");

      done = gantry_evaluate (run->module, gantry_module_function (run->module, body->id), operands, results, NULL, &error);
    }
  else
    done = gantry_evaluate_node (run->module, node, operands, results, n, &error);
  g_assert_no_error (error);
  g_assert_true (done);
  for (guint i = 0; i < n; i++)
    {
      compare_value (run, node, i, results[i]);
      gantry_literal_unref (results[i]);
    }
  for (guint i = 0; i < node->n_operands; i++)
    gantry_literal_unref (operands[i]);
}

static void
run_node (Run *run, const GantryNode *node, GantryLiteral *const *arguments, guint *next_argument)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryKernel *kernel = gantry_kernel_set_find (run->set, node->id);
  const GantryAttr *value;

  if (node->op == GANTRY_OP_PARAMETER)
    {
      GantryLiteral *literal = arguments != NULL
                                 ? gantry_literal_ref (arguments[*next_argument])
                                 : kernel_test_literal (run->rand, gantry_node_type (run->module, node), run->tolerance != NULL && run->tolerance->special);

      ++*next_argument;
      gantry_literal_copy_to (literal, add_value (run, node, 0)->data);
      g_ptr_array_add (run->arguments, literal);
    }
  else if (node->op == GANTRY_OP_CONSTANT)
    {
      value = gantry_attrs_find (run->module->context, node->attrs, "value");
      gantry_literal_copy_to (gantry_context_literal (run->module->context, value->id), add_value (run, node, 0)->data);
    }
  else if (node->op == GANTRY_OP_RESULT)
    {
      gint64 index = gantry_attrs_int (run->module->context, node->attrs, "index", 0);
      Guarded *from = value_of (run, gantry_node_operand_id (run->module, node, 0), (guint) index);

      memcpy (add_value (run, node, 0)->data, from->data, from->size);
    }
  else if (info->flags & GANTRY_OP_VIEW || node->op == GANTRY_OP_COPY)
    {
      Guarded *from = value_of (run, gantry_node_operand_id (run->module, node, 0), 0);

      memcpy (add_value (run, node, 0)->data, from->data, from->size);
    }
  else
    {
      g_assert_nonnull (kernel);
      launch (run, node, kernel);
      if (!run->whole)
        compare_node (run, node);
    }
}

static void
compare_whole (const Run *run)
{
  const GantryFunction *entry = gantry_module_entry (run->module);
  g_autofree GantryLiteral **results = g_new0 (GantryLiteral *, entry->n_results);
  g_autoptr (GError) error = NULL;

  gantry_evaluate (run->module, entry, (GantryLiteral *const *) run->arguments->pdata, results, NULL, &error);
  g_assert_no_error (error);
  for (guint32 i = 0; i < entry->n_results; i++)
    {
      compare_value (run, gantry_module_node (run->module, gantry_function_result_id (run->module, entry, i)), 0, results[i]);
      gantry_literal_unref (results[i]);
    }
}

static void
run_module (GantryModule *module, GantryLiteral *const *arguments, const GantryKernelOptions *options, const KernelTolerance *tolerance, GRand *rand,
            gboolean whole)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSet) set = NULL;
  Run run = { .module = module, .tolerance = tolerance, .rand = rand, .whole = whole };
  GantryKernelOptions chosen = GANTRY_KERNEL_OPTIONS_INIT;
  guint next = 0;

  gantry_verify (module, NULL, &error);
  g_assert_no_error (error);
  if (options != NULL)
    chosen = *options;
  chosen.arch = g_getenv ("GANTRY_TEST_ARCH");
  if (chosen.arch != NULL)
    {
      chosen.target = GANTRY_CODE_GRID_ON_CPU;
      chosen.find_races = TRUE;
      run.interleavings = 20;
      run.for_gpu = TRUE;
    }
  set = gantry_kernels_compile (module, &chosen, NULL, &error);
  g_assert_no_error (error);
  run.set = set;
  run.arguments = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  run.values = g_hash_table_new_full (NULL, NULL, NULL, guarded_free);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    run_node (&run, &module->nodes[entry->first_node + i], arguments, &next);
  if (whole)
    compare_whole (&run);
  g_hash_table_unref (run.values);
  g_ptr_array_unref (run.arguments);
}

void
kernel_test_module (GantryModule *module, GantryLiteral *const *arguments, const GantryKernelOptions *options, const KernelTolerance *tolerance, GRand *rand)
{
  run_module (module, arguments, options, tolerance, rand, FALSE);
}

void
kernel_test_whole (GantryModule *module, const GantryKernelOptions *options, const KernelTolerance *tolerance, GRand *rand)
{
  run_module (module, NULL, options, tolerance, rand, TRUE);
}

void
kernel_test_op (GantryOp op, const char *operands, const char *attributes, const KernelTolerance *tolerance, GRand *rand)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "case");
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) parts = g_strsplit (operands, " ", -1);
  TestSet set = { context, g_array_new (FALSE, FALSE, sizeof (guint32)) };
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  guint32 ids[32], n = 0, node;

  options.n_threads = 1;
  options.free_layouts = FALSE;
  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation){ .file = gantry_context_intern (context, "test"), .line = 1 }));
  for (; parts[n] != NULL && parts[n][0] != '\0'; n++)
    ids[n] = gantry_builder_parameter (builder, test_type (&set, parts[n]), NULL);
  node = gantry_builder_add (builder, op, ids, n, test_attrs (&set, attributes));
  gantry_builder_check (builder, &error);
  g_assert_no_error (error);
  gantry_builder_end (builder, &node, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  kernel_test_module (module, NULL, &options, tolerance, rand);
  options.use_library = FALSE;
  if (op == GANTRY_OP_DOT_GENERAL || op == GANTRY_OP_CONVOLUTION)
    kernel_test_module (module, NULL, &options, tolerance, rand);
  g_array_unref (set.functions);
}
