/* SPDX-License-Identifier: Apache-2.0 */
/* Code of kernels: written into files or to standard output, and the table of what the assembler said of it. */
#include "app/cli/code-report.h"
#include "core/base/error.h"
#include "core/base/output.h"
#include <errno.h>
#include <string.h>

typedef struct
{
  const char *name, *suffix;
  gboolean of_gpu;
  gsize member; /* offset of the text in GantryKernel */
} Emit;

static const Emit emits[] = {
  { "texpr", "te", FALSE, offsetof (GantryKernel, texpr) },  { "schedule", "schedule", FALSE, offsetof (GantryKernel, schedule) },
  { "llvm", "ll", FALSE, offsetof (GantryKernel, llvm_ir) }, { "asm", "s", FALSE, offsetof (GantryKernel, assembly) },
  { "ptx", "ptx", TRUE, offsetof (GantryKernel, assembly) }, { "cubin", "cubin", TRUE, 0 },
};

static const Emit *
find_emit (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (emits); i++)
    if (strcmp (emits[i].name, name) == 0)
      return &emits[i];
  return NULL;
}

gboolean
gantry_code_emit_is_known (const char *emit, gboolean *of_gpu)
{
  const Emit *found = find_emit (emit);

  *of_gpu = found != NULL && found->of_gpu;
  return found != NULL;
}

static const GantryGpuImage *
image_of (const GantryExecutable *executable, const GantryKernel *kernel)
{
  return kernel->gpu != NULL && kernel->gpu->n_launches > 0 ? &executable->images[kernel->gpu->launches[0].image] : NULL;
}

/* (transfer full) (nullable): what there is of the kernel */
static GBytes *
code_of (const GantryExecutable *executable, const GantryKernel *kernel, const Emit *emit, GError **error)
{
  const GantryGpuImage *image = image_of (executable, kernel);
  const char *text;

  if (strcmp (emit->name, "cubin") != 0)
    {
      text = *(char *const *) ((const char *) kernel + emit->member);
      return text != NULL ? g_bytes_new_static (text, strlen (text)) : NULL;
    }
  if (image == NULL)
    return NULL;
  if (!image->is_text)
    return g_bytes_ref (image->code);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
               "--emit cubin: the assembler ptxas is not installed (it is looked for in $CUDA_HOME/bin, in PATH and in "
               "/usr/local/cuda/bin)");
  return NULL;
}

static gboolean
write_code (GBytes *code, const GantryKernel *kernel, const Emit *emit, const char *folder, GantryReadFiles *read, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%s.%s", kernel->name, emit->suffix), *path = NULL;
  gsize size;
  const char *data = g_bytes_get_data (code, &size);

  if (folder != NULL)
    {
      path = g_build_filename (folder, name, NULL);
      return gantry_output_write (path, read, data, size, error);
    }
  if (strcmp (emit->name, "cubin") == 0)
    fwrite (data, 1, size, stdout);
  else
    {
      g_autofree char *text = g_strndup (data, size);

      gantry_cli_print ("%s %s\n", emit->of_gpu ? "//" : ";", kernel->name);
      gantry_cli_write_lines (stdout, text);
      gantry_cli_print ("\n");
    }
  return TRUE;
}

gboolean
gantry_code_emit (const GantryExecutable *executable, const char *emit, const char *folder, GantryReadFiles *read, GError **error)
{
  const Emit *what = find_emit (emit);

  g_return_val_if_fail (what != NULL, FALSE);
  if (folder != NULL && g_mkdir_with_parents (folder, 0777) != 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: the folder cannot be made: %s", folder, g_strerror (errno));
      return FALSE;
    }
  for (guint32 i = 0; i < executable->n_kernels; i++)
    {
      GError *failure = NULL;
      g_autoptr (GBytes) code = code_of (executable, &executable->kernels[i], what, &failure);

      if (failure != NULL)
        {
          g_propagate_error (error, failure);
          return FALSE;
        }
      if (code != NULL && !write_code (code, &executable->kernels[i], what, folder, read, error))
        return FALSE;
    }
  return TRUE;
}

/* The table */

static char *
extent_text (const guint32 *extent)
{
  if (extent[2] > 1)
    return g_strdup_printf ("%ux%ux%u", extent[0], extent[1], extent[2]);
  return extent[1] > 1 ? g_strdup_printf ("%ux%u", extent[0], extent[1]) : g_strdup_printf ("%u", extent[0]);
}

static guint32
most_shared (const GantryGpuKernel *gpu)
{
  guint32 bytes = 0;

  for (guint32 i = 0; i < gpu->n_launches; i++)
    bytes = MAX (bytes, gpu->launches[i].shared_bytes);
  return bytes;
}

static void
print_measured (const GantryGpuImage *image)
{
  if (image == NULL || !image->is_measured)
    gantry_cli_print (" %5s %7s %6s", "-", "-", "-");
  else
    gantry_cli_print (" %5u %7u %6u", image->registers, image->spill_store_bytes + image->spill_load_bytes, image->stack_bytes);
}

void
gantry_code_report_text (const GantryExecutable *executable)
{
  gantry_cli_print ("\n%-40s %8s %12s %10s %5s %7s %6s %7s %9s\n", "kernel", "launches", "grid", "block", "regs", "spilled", "stack", "shared", "bytes");
  for (guint32 i = 0; i < executable->n_kernels; i++)
    {
      const GantryKernel *kernel = &executable->kernels[i];
      const GantryGpuImage *image = image_of (executable, kernel);
      g_autofree char *grid = NULL, *block = NULL;

      if (kernel->gpu == NULL || kernel->gpu->n_launches == 0)
        continue;
      grid = extent_text (kernel->gpu->launches[0].grid);
      block = extent_text (kernel->gpu->launches[0].block);
      gantry_cli_print ("%-40s %8u %12s %10s", kernel->name, kernel->gpu->n_launches, grid, block);
      print_measured (image);
      gantry_cli_print (" %7u %9" G_GSIZE_FORMAT "\n", most_shared (kernel->gpu), image != NULL ? g_bytes_get_size (image->code) : 0);
    }
}

static void
add_extent (JsonBuilder *json, const char *key, const guint32 *extent)
{
  json_builder_set_member_name (json, key);
  json_builder_begin_array (json);
  for (guint i = 0; i < 3; i++)
    json_builder_add_int_value (json, extent[i]);
  json_builder_end_array (json);
}

static void
add_launches (JsonBuilder *json, const GantryGpuKernel *gpu)
{
  json_builder_set_member_name (json, "launches");
  json_builder_begin_array (json);
  for (guint32 i = 0; i < gpu->n_launches; i++)
    {
      json_builder_begin_object (json);
      gantry_cli_add_string (json, "entry", gpu->launches[i].entry);
      add_extent (json, "grid", gpu->launches[i].grid);
      add_extent (json, "block", gpu->launches[i].block);
      gantry_cli_add_int (json, "shared_bytes", gpu->launches[i].shared_bytes);
      if (gpu->launches[i].read_conflicts > 0)
        gantry_cli_add_int (json, "read_conflicts", gpu->launches[i].read_conflicts);
      if (gpu->launches[i].write_conflicts > 0)
        gantry_cli_add_int (json, "write_conflicts", gpu->launches[i].write_conflicts);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/* Of the results of a node, all together. */
static gint64
elements_of (const GantryModule *module, guint32 id)
{
  const GantryType *type = gantry_node_type (module, gantry_module_node (module, id));
  gint64 n = 0;

  if (type->kind != GANTRY_TYPE_TUPLE)
    return gantry_type_elements (type);
  for (guint i = 0; i < type->rank; i++)
    n += gantry_type_elements (gantry_context_type (module->context, gantry_context_tuple_member (module->context, gantry_module_node (module, id)->type, i)));
  return n;
}

/* The element type of the factors where the node is a product or a convolution, or a group with one; NULL: it is none. */
static const char *
contraction_of (const GantryModule *module, const GantryNode *node)
{
  const GantryFunction *function = gantry_node_fusion_body (module, node);

  if (node->op == GANTRY_OP_DOT_GENERAL || node->op == GANTRY_OP_CONVOLUTION)
    return gantry_element_name (gantry_node_operand_type (module, node, 0)->element);
  for (guint32 i = 0; function != NULL && i < function->n_nodes; i++)
    {
      const char *found = contraction_of (module, &module->nodes[function->first_node + i]);

      if (found != NULL)
        return found;
    }
  return NULL;
}

void
gantry_code_report_json (const GantryExecutable *executable, JsonBuilder *json)
{
  json_builder_set_member_name (json, "code");
  json_builder_begin_array (json);
  for (guint32 i = 0; i < executable->n_kernels; i++)
    {
      const GantryKernel *kernel = &executable->kernels[i];
      const GantryGpuImage *image = image_of (executable, kernel);
      const char *contraction;

      if (kernel->gpu == NULL || kernel->node == G_MAXUINT32)
        continue;
      contraction = contraction_of (executable->module, gantry_module_node (executable->module, kernel->node));
      json_builder_begin_object (json);
      gantry_cli_add_string (json, "kernel", kernel->name);
      gantry_cli_add_int (json, "flops", kernel->flops);
      gantry_cli_add_int (json, "bytes", kernel->bytes);
      gantry_cli_add_int (json, "elements", elements_of (executable->module, kernel->node));
      if (contraction != NULL)
        gantry_cli_add_string (json, "contraction", contraction);
      add_launches (json, kernel->gpu);
      gantry_cli_add_int (json, "image", image != NULL ? (gint64) (image - executable->images) : -1);
      gantry_cli_add_int (json, "image_bytes", image != NULL ? (gint64) g_bytes_get_size (image->code) : 0);
      gantry_cli_add_boolean (json, "assembled", image != NULL && !image->is_text);
      gantry_cli_add_double (json, "compile_milliseconds", kernel->compile_ms);
      if (image != NULL && image->is_measured)
        {
          gantry_cli_add_int (json, "registers", image->registers);
          gantry_cli_add_int (json, "spill_store_bytes", image->spill_store_bytes);
          gantry_cli_add_int (json, "spill_load_bytes", image->spill_load_bytes);
          gantry_cli_add_int (json, "stack_bytes", image->stack_bytes);
          gantry_cli_add_int (json, "static_shared_bytes", image->static_shared_bytes);
          gantry_cli_add_double (json, "assemble_milliseconds", image->assemble_ms);
        }
      gantry_cli_add_boolean (json, "is_product", kernel->gpu->product != NULL);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}
