/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of a model goes: one inference, kernel by kernel, the slowest first.
 * Usage: kernel-times MODEL [THREADS [RUNS [no-library]]] */
#include "core/build/build.h"
#include "core/compiler/compiler.h"
#include "core/graph/graph.h"
#include "core/plan/executable.h"
#include "core/plan/kernel-sizes.h"
#include "core/plan/plan.h"
#include "core/runtime/cpu/cpu.h"
#include "core/runtime/runtime.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct
{
  const GantryExecutable *executable;
  gint64 *best; /* per instruction: shortest time in ns */
  gint64 begin, run_best;
} Times;

static void
begin_run (gpointer self, const GantryExecutable *executable, gint64 time)
{
  ((Times *) self)->begin = time;
}

static void
end_run (gpointer self, gint64 time)
{
  Times *times = self;

  times->run_best = MIN (times->run_best, time - times->begin);
}

static void
instruction (gpointer self, guint32 i, gint64 begin, gint64 end)
{
  Times *times = self;

  times->best[i] = MIN (times->best[i], end - begin);
}

static GantryLiteral **
make_inputs (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GantryLiteral **inputs = g_new0 (GantryLiteral *, entry->n_params + 1);

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryType *type = gantry_node_type (module, &module->nodes[entry->first_node + i]);
      gint64 n = gantry_type_elements (type);
      guint8 *data;

      inputs[i] = gantry_literal_new_zeroed (type, &data);
      for (gint64 k = 0; k < n; k++)
        if (gantry_element_is_float (type->element))
          gantry_element_write_double (type->element, data + (gsize) k * gantry_element_size (type->element), (double) k / (double) n);
    }
  return inputs;
}

static const Times *sorting; /* qsort has no data argument */

static int
compare_instructions (const void *a, const void *b)
{
  gint64 x = sorting->best[*(const guint32 *) a], y = sorting->best[*(const guint32 *) b];

  return x < y ? 1 : x > y ? -1 : 0;
}

static void
print (const Times *times)
{
  const GantryExecutable *executable = times->executable;
  g_autofree guint32 *order = g_new (guint32, executable->n_instructions + 1);
  gint64 total = 0;
  guint32 n = 0;

  for (guint32 i = 0; i < executable->n_instructions; i++)
    if (!executable->instructions[i].init && times->best[i] != G_MAXINT64)
      {
        order[n++] = i;
        total += times->best[i];
      }
  sorting = times;
  qsort (order, n, sizeof *order, compare_instructions);
  printf ("run %.3f ms, sum of kernels %.3f ms, %u instructions\n", (double) times->run_best / 1e6, (double) total / 1e6, n);
  for (guint32 k = 0; k < n; k++)
    {
      const GantryInstruction *one = &executable->instructions[order[k]];
      const GantryKernel *kernel = &executable->kernels[one->kernel];
      const GantryNode *node = gantry_module_node (executable->module, one->node);
      g_autofree char *text = gantry_context_type_text (executable->module->context, node->type);
      double us = (double) times->best[order[k]] / 1e3;

      if (one->kind == GANTRY_INSTRUCTION_LAUNCH)
        printf ("%10.1f us  %5.1f GF/s %5.1f GB/s  %6" G_GINT64_FORMAT " tasks  %s %s\n", us, (double) kernel->flops / us / 1e3,
                (double) kernel->bytes / us / 1e3, kernel->n_tasks, kernel->name, text);
    }
}

static gboolean
bench (const char *path, guint n_threads, guint n_runs, gboolean library, GError **error)
{
  GantryBuildOptions options = { .threads = n_threads, .no_library = !library };
  GantryCompileSettings settings = { 0 };
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, 1, NULL, error);
  g_autoptr (GantryCompilation) compilation = NULL;
  g_autoptr (GantryProgram) program = NULL;
  GantryExecutable *executable;
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (n_threads);
  g_autoptr (GantryExecutor) executor = NULL;
  g_autofree GantryLiteral **inputs = NULL, **outputs = NULL;
  Times times = { .run_best = G_MAXINT64 };
  GantryObserver observer = { .begin_run = begin_run, .end_run = end_run, .instruction = instruction, .self = &times };

  if (model == NULL)
    return FALSE;
  gantry_compile_settings_init (&settings);
  compilation = gantry_compile (model, &settings, NULL, error);
  program = compilation != NULL ? gantry_build (compilation, &settings, &options, NULL, error) : NULL;
  if (program == NULL)
    return FALSE;
  executable = program->executable;
  printf ("%s: %u kernels, made in %.1f ms\n", program->target, executable->n_kernels, program->compile_ms);
  executor = gantry_executor_new (device, executable, NULL, error);
  if (executor == NULL)
    return FALSE;
  times.executable = executable;
  times.best = g_new (gint64, executable->n_instructions + 1);
  for (guint32 i = 0; i < executable->n_instructions; i++)
    times.best[i] = G_MAXINT64;
  inputs = make_inputs (executable->module);
  outputs = g_new0 (GantryLiteral *, executable->n_outputs + 1);
  for (guint i = 0; i < n_runs; i++)
    {
      if (!gantry_executor_run_literals (executor, inputs, executable->n_inputs, outputs, executable->n_outputs, &observer, NULL, error))
        return FALSE;
      for (guint32 k = 0; k < executable->n_outputs; k++)
        gantry_literal_unref (outputs[k]);
    }
  print (&times);
  for (guint32 i = 0; i < executable->n_inputs; i++)
    gantry_literal_unref (inputs[i]);
  g_free (times.best);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  if (argc < 2)
    {
      fprintf (stderr, "usage: kernel-times MODEL [THREADS [RUNS [no-library]]]\n");
      return 1;
    }
  if (bench (argv[1], argc > 2 ? (guint) atoi (argv[2]) : 1, argc > 3 ? (guint) atoi (argv[3]) : 20, argc <= 4, &error))
    return 0;
  fprintf (stderr, "%s\n", error->message);
  return 1;
}
