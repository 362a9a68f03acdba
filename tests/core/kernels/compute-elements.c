/* SPDX-License-Identifier: Apache-2.0 */
/* Generates, links and runs one operation. */
#include "tests/core/kernels/compute-elements.h"
#include "core/kernels/cpu/generate.h"
#include "core/kernels/cpu/jit.h"
#include "core/plan/executable.h"
#include <string.h>

/* A compiler without C calls, the linker, and one element-wise function in it. */
typedef struct
{
  GantryCompiler *compiler;
  GantryJit *jit;
} Fixture;

static Fixture *
fixture_new (GantrySpecialBy special)
{
  g_autoptr (GError) error = NULL;
  Fixture *fixture = g_new0 (Fixture, 1);

  fixture->compiler = gantry_compiler_new (NULL, 2, &error);
  g_assert_no_error (error);
  fixture->compiler->no_calls = TRUE;
  fixture->compiler->special = special;
  fixture->jit = gantry_jit_new (&error);
  g_assert_no_error (error);
  return fixture;
}

static void
fixture_free (Fixture *fixture)
{
  gantry_jit_free (fixture->jit);
  gantry_compiler_free (fixture->compiler);
  g_free (fixture);
}

static void
check_calls (const char *ir, GantrySpecialBy special)
{
  for (const char *at = strstr (ir, "\ndeclare "); at != NULL; at = strstr (at + 1, "\ndeclare "))
    {
      gssize length = (gssize) strcspn (at + 1, "\n") + 1;

      g_assert_true (g_strstr_len (at, length, "@llvm.") != NULL
                     || (special == GANTRY_SPECIAL_BY_MODEL && g_strstr_len (at, length, "@gantry_special_") != NULL));
    }
}

void
compute_elements (GantrySpecialBy special, GantryOp op, GantryElementType element, guint n_operands, gsize n, void *x, void *y, void *result)
{
  Fixture *fixture = fixture_new (special);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryContext) context = gantry_context_new ();
  const GantryDim extent = (GantryDim) n;
  const gint64 shape = (gint64) n;
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, element, 1, &extent));
  const GantryType *types[] = { type, type };
  GantryTexprBuilder *b = gantry_texpr_builder_new (element, 1, &shape, n_operands, types);
  GantryKxInput inputs[2] = { { .type = type }, { .type = type } };
  GantryKxLayout layout;
  GantryKernelSource source = { .n_inputs = n_operands, .inputs = inputs, .layouts = &layout };
  guint32 index = gantry_tx_index (b, 0), left = gantry_tx_load (b, 0, &index), root;
  void *buffers[3] = { x, y, result };
  g_autofree char *ir = NULL;
  GantryKernelFunc function;
  LLVMMemoryBufferRef object;
  gint64 n_tasks;

  root = n_operands == 2 ? gantry_tx_binary (b, op, left, gantry_tx_load (b, 1, &index)) : gantry_tx_unary (b, op, left);
  source.results = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_texpr_free);
  g_ptr_array_add (source.results, gantry_texpr_builder_end (b, root));
  gantry_kx_layout_plain (&layout, type);
  for (guint i = 0; i < n_operands; i++)
    inputs[i].layout = layout;
  buffers[n_operands] = result;
  object = gantry_generate (fixture->compiler, &source, "own", &n_tasks, &ir, NULL, &error);
  g_assert_no_error (error);
  check_calls (ir, special);
  g_assert_true (gantry_jit_add (fixture->jit, object, &error));
  function = (GantryKernelFunc) gantry_jit_find (fixture->jit, "own", &error);
  g_assert_no_error (error);
  function (NULL, buffers, 0, n_tasks);
  g_ptr_array_unref (source.results);
  fixture_free (fixture);
}

gboolean
compute_has_fused (void)
{
  g_autoptr (GantryCompiler) compiler = gantry_compiler_new (NULL, 2, NULL);

  return compiler != NULL && compiler->has_fma;
}
