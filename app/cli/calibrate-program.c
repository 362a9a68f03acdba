/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of which one unit of a processor is the bottleneck, written with the graph builder. */
#include "app/cli/calibrate-program.h"
#include "core/base/pages.h"
#include "core/base/random.h"
#include "core/graph/builder.h"
#include "core/graph/literal.h"
#include <string.h>

/* Chains that do not depend on each other, so that no instruction waits for the one before it. They are as long as one kernel may be: a
 * second one would read what the first has written. Nothing of their arrays lies in memory: each element is the sum of a number of its
 * row and one of its column, and rows are summed. */
#define CHAINS 2u
#define STEPS 16u        /* of a chain: a multiplication and an addition each */
#define SPECIAL_STEPS 2u /* of a chain: three functions each */
#define COLUMNS 512
#define LAUNCH_ROWS 32   /* of the matrices of a small product */
#define DIFFERENT 65536u /* numbers until they repeat */

guint
gantry_probe_operations (GantryProbeKind kind)
{
  return kind == GANTRY_PROBE_VECTOR ? CHAINS * STEPS * 2 : kind == GANTRY_PROBE_SPECIAL ? CHAINS * SPECIAL_STEPS * 3 : 0;
}

static void
dims_of (const GantryProbe *probe, GantryDim *dims)
{
  dims[0] = MAX (probe->size / COLUMNS, 1);
  dims[1] = COLUMNS;
}

static guint32
multiply_add (GantryBuilder *builder, const GantryProbe *probe, guint32 x, double factor, double term)
{
  GantryDim dims[2];
  guint32 f, t;

  dims_of (probe, dims);
  f = gantry_builder_splat (builder, probe->element, factor, 2, dims);
  t = gantry_builder_splat (builder, probe->element, term, 2, dims);
  return gantry_builder_binary (builder, GANTRY_OP_ADD, gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, x, f), t);
}

/* Values stay between 0 and 2. */
static guint32
add_vector_chain (GantryBuilder *builder, const GantryProbe *probe, guint32 x, guint chain)
{
  for (guint i = 0; i < STEPS; i++)
    x = multiply_add (builder, probe, x, 0.75 + chain / 32.0, 0.125 + chain / 64.0);
  return x;
}

static guint32
add_special_chain (GantryBuilder *builder, const GantryProbe *probe, guint32 x, guint chain)
{
  x = multiply_add (builder, probe, x, 0.75 + chain / 32.0, 0.125);
  for (guint i = 0; i < SPECIAL_STEPS; i++)
    {
      x = gantry_builder_unary (builder, GANTRY_OP_TANH, x);
      x = gantry_builder_unary (builder, GANTRY_OP_EXPONENTIAL, x);
      x = gantry_builder_unary (builder, GANTRY_OP_LOGISTIC, x);
    }
  return x;
}

static guint32
add_chains (GantryBuilder *builder, const GantryProbe *probe, guint32 rows, guint32 columns)
{
  const gint64 first = 0, last = 1;
  GantryDim dims[2];
  guint32 x, sum = 0;

  dims_of (probe, dims);
  x = gantry_builder_binary (builder, GANTRY_OP_ADD, gantry_builder_broadcast (builder, rows, 2, dims, &first),
                             gantry_builder_broadcast (builder, columns, 2, dims, &last));
  for (guint c = 0; c < CHAINS; c++)
    {
      guint32 end = probe->kind == GANTRY_PROBE_VECTOR ? add_vector_chain (builder, probe, x, c) : add_special_chain (builder, probe, x, c);

      sum = c == 0 ? end : gantry_builder_binary (builder, GANTRY_OP_ADD, sum, end);
    }
  return gantry_builder_reduce (builder, "add", sum, &last, 1);
}

static guint32
add_product (GantryBuilder *builder, guint32 a, guint32 b)
{
  const gint64 last = 1, first = 0;
  const guint32 operands[] = { a, b };
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (builder));

  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &last, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &first, 1);
  return gantry_builder_add (builder, GANTRY_OP_DOT_GENERAL, operands, 2, gantry_attr_list_end (attrs));
}

static guint32
add_parameter (GantryBuilder *builder, GantryElementType element, guint rank, gint64 size, const char *name)
{
  const GantryDim dims[] = { size, size };

  return gantry_builder_parameter (builder, gantry_context_tensor (gantry_builder_context (builder), element, rank, dims), name);
}

static guint32
add_products (GantryBuilder *builder, const GantryProbe *probe)
{
  gboolean one = probe->kind == GANTRY_PROBE_PRODUCT;
  gint64 rows = one ? probe->size : LAUNCH_ROWS;
  guint32 a = add_parameter (builder, probe->element, 2, rows, "a"), b = add_parameter (builder, probe->element, 2, rows, "b");

  for (gint64 i = 0; i < (one ? 1 : probe->size); i++)
    a = add_product (builder, a, b);
  return a;
}

static guint32
add_program (GantryBuilder *builder, const GantryProbe *probe)
{
  GantryDim dims[2];
  guint32 x;

  if (probe->kind == GANTRY_PROBE_PRODUCT || probe->kind == GANTRY_PROBE_LAUNCHES)
    return add_products (builder, probe);
  dims_of (probe, dims);
  x = add_parameter (builder, probe->element, 1, probe->kind == GANTRY_PROBE_COPY ? probe->size : dims[0], "x");
  return probe->kind == GANTRY_PROBE_COPY ? gantry_builder_unary (builder, GANTRY_OP_NEGATE, x)
                                          : add_chains (builder, probe, x, add_parameter (builder, probe->element, 1, dims[1], "c"));
}

GantryModule *
gantry_probe_module (const GantryProbe *probe, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "calibrate");
  const GantryLocation here = { .file = gantry_context_intern (context, "calibrate") };
  guint32 result;

  if (!gantry_element_is_compiled (probe->element))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s is not compiled", gantry_element_name (probe->element));
      return NULL;
    }
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &here));
  gantry_builder_begin (builder, "main", 0);
  result = add_program (builder, probe);
  gantry_builder_end (builder, &result, 1);
  return gantry_builder_finish (builder, error);
}

GantryProgram *
gantry_probe_build (GantryModule *module, const GantryProgramOptions *how, const GantryTarget *target, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryModel) model = gantry_model_new (module, "calibrate");
  g_autoptr (GantryCompilation) compilation = NULL;
  g_auto (GantryCompileSettings) settings = { 0 };

  gantry_compile_settings_init (&settings);
  settings.fuse_rows = settings.fuse_products = how->code != GANTRY_CODE_CPU;
  gantry_compile_settings_keep_loops (&settings);
  if (how->code == GANTRY_CODE_CPU)
    settings.order = GANTRY_ORDER_PROGRAM; /* what stands between two kernels, to empty caches, stays there */
  settings.target = *target;
  settings.target.memory_limit = 0;
  compilation = gantry_compile (model, &settings, progress, error);
  return compilation != NULL ? gantry_program_new (compilation, &settings, how, progress, error) : NULL;
}

char *
gantry_probe_text (const GantryProbe *probe)
{
  const char *element = gantry_element_name (probe->element);
  gint64 n = probe->size;

  switch (probe->kind)
    {
    case GANTRY_PROBE_COPY: return g_strdup_printf ("%" G_GINT64_FORMAT " elements of %s negated", n, element);
    case GANTRY_PROBE_PRODUCT: return g_strdup_printf ("a product of two %s matrices %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, element, n, n);
    case GANTRY_PROBE_VECTOR:
      return g_strdup_printf ("%u multiplications and additions on each of %" G_GINT64_FORMAT " elements of %s", CHAINS * STEPS * 2, n, element);
    case GANTRY_PROBE_SPECIAL:
      return g_strdup_printf ("%u exponentials, logistics and tanhs on each of %" G_GINT64_FORMAT " elements of %s", CHAINS * SPECIAL_STEPS * 3, n, element);
    default: return g_strdup_printf ("%" G_GINT64_FORMAT " products of %s matrices %d x %d in a row", n, element, LAUNCH_ROWS, LAUNCH_ROWS);
    }
}

/* Doubles what is there until all of it is. */
static void
repeat (guint8 *data, gsize there, gsize bytes)
{
  while (there < bytes)
    {
      gsize n = MIN (there, bytes - there);

      memcpy (data + there, data, n);
      there += n;
    }
}

void
gantry_probe_inputs_init (GantryProbeInputs *inputs, const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);

  inputs->n = entry->n_params;
  inputs->inputs = g_new0 (GantryRunInput, inputs->n + 1);
  for (guint i = 0; i < inputs->n; i++)
    {
      const GantryType *type = gantry_node_type (module, &module->nodes[entry->first_node + i]);
      GantryElementType element = (GantryElementType) type->element;
      gsize size = gantry_element_size (element), bytes = (gsize) gantry_type_bytes (type);
      gsize different = MIN (bytes / size, DIFFERENT);
      guint64 start = gantry_random_start ("calibrate", i);
      guint8 *data = gantry_pages_new (bytes);

      for (gsize j = 0; j < different; j++)
        gantry_element_write_double (element, data + j * size, gantry_random_at (start, j) * (gantry_element_is_float (element) ? 1 : 8));
      repeat (data, different * size, bytes);
      inputs->inputs[i] = (GantryRunInput){ .data = data, .size = bytes };
    }
}

void
gantry_probe_inputs_clear (GantryProbeInputs *inputs)
{
  for (guint i = 0; i < inputs->n; i++)
    gantry_pages_free ((gpointer) inputs->inputs[i].data);
  g_clear_pointer (&inputs->inputs, g_free);
  inputs->n = 0;
}
