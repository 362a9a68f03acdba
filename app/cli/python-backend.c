/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of Python programs go the way of all models: passes, kernels, plan, executor. */
#include "app/cli/python-backend.h"
#include "app/cli/program.h"
#include "core/autodiff/autodiff.h"
#include "core/compiler/compiler.h"
#include "core/compiler/export.h"
#include "core/graph/text.h"

/* Arenas that are larger stay with the graph that ran last alone, so that a program of many graphs holds one of them. Two graphs that run by
 * turns take them anew each time: 26 ms a call in place of 22.5 where 128 MiB of temporaries lie between two products. */
#define MOST_KEPT (G_GUINT64_CONSTANT (64) << 20)

typedef struct
{
  GantryCompilation *compilation;
  GantryProgram *program;
  GantryExecutor *executor;
} Compiled;

typedef struct
{
  GantryDevice *device;
  guint threads;
  Compiled *large; /* (nullable): whose executor has such arenas */
} Own;

static void
compiled_free (Compiled *compiled)
{
  g_clear_pointer (&compiled->executor, gantry_executor_free);
  g_clear_pointer (&compiled->program, gantry_program_free);
  g_clear_pointer (&compiled->compilation, gantry_compilation_unref);
  g_free (compiled);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Compiled, compiled_free)

static gpointer
compile (gpointer self, GantryModule *module, const char *policy, GError **error)
{
  Own *own = self;
  g_autoptr (GantryModel) model = gantry_model_new (module, "python");
  g_auto (GantryCompileSettings) settings = { 0 };
  GantryProgramOptions options = { .threads = (gint) own->threads, .code = GANTRY_CODE_CPU, .device = own->device };
  g_autoptr (Compiled) compiled = g_new0 (Compiled, 1);

  gantry_compile_settings_init (&settings);
  settings.policy = g_strdup (policy);
  compiled->compilation = gantry_compile (model, &settings, NULL, error);
  if (compiled->compilation == NULL)
    return NULL;
  compiled->program = gantry_program_new (compiled->compilation, &settings, &options, NULL, error);
  return compiled->program != NULL ? g_steal_pointer (&compiled) : NULL;
}

static gboolean
take_arenas (Own *own, Compiled *compiled, GError **error)
{
  const GantryPlan *plan = compiled->program->executable->plan;
  guint64 bytes = 0;

  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    bytes += plan->arena_bytes[kind];
  if (bytes > MOST_KEPT)
    {
      if (own->large != NULL)
        g_clear_pointer (&own->large->executor, gantry_executor_free);
      own->large = compiled;
    }
  compiled->executor = gantry_executor_new (own->device, compiled->program->executable, NULL, error);
  return compiled->executor != NULL;
}

static gboolean
run (gpointer self, gpointer data, GantryLiteral *const *arguments, GantryLiteral **results, GCancellable *cancellable, GError **error)
{
  Own *own = self;
  Compiled *compiled = data;
  GantryExecutable *executable = compiled->program->executable;

  /* The arenas are taken by the first run: a graph may be compiled to be looked at alone. */
  if (compiled->executor == NULL && !take_arenas (own, compiled, error))
    return FALSE;
  return gantry_executor_run_literals (compiled->executor, arguments, executable->n_inputs, results, executable->n_outputs, NULL, cancellable, error);
}

static void
release (gpointer self, gpointer compiled)
{
  Own *own = self;

  if (own->large == compiled)
    own->large = NULL;
  compiled_free (compiled);
}

static void
memory (gpointer self, gpointer data, GantryPythonMemory *memory)
{
  Compiled *compiled = data;
  const GantryPlan *plan = compiled->program->executable->plan;

  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      guint host = kind != GANTRY_MEMORY_DEVICE;
      GantryMemoryParts parts;

      gantry_plan_memory_parts (plan, (GantryMemoryKind) kind, &parts);
      memory->arguments[host] += plan->argument_bytes[kind];
      memory->outputs[host] += plan->output_bytes[kind];
      memory->aliases[host] += plan->alias_bytes[kind];
      memory->temporaries[host] += parts.bytes[GANTRY_PART_TEMPORARIES];
      memory->workspaces[host] += parts.bytes[GANTRY_PART_WORKSPACES];
    }
  memory->code[0] = plan->code_bytes;
}

static char *
text (gpointer self, gpointer data)
{
  return gantry_module_to_text (gantry_compilation_module (((Compiled *) data)->compilation), NULL);
}

static char *
problems (gpointer self, gpointer data)
{
  const GPtrArray *reports = ((Compiled *) data)->compilation->reports;
  g_autoptr (GString) lines = g_string_new (NULL);

  for (guint i = 0; reports != NULL && i < reports->len; i++)
    {
      const GantryPolicyReport *report = g_ptr_array_index (reports, i);

      if (report->problem != NULL)
        g_string_append_printf (lines, "%s%s: %s", lines->len > 0 ? "\n" : "", report->text, report->problem);
    }
  return lines->len > 0 ? g_string_free (g_steal_pointer (&lines), FALSE) : NULL;
}

static GantryModule *
gradient (gpointer self, GantryModule *module, const guint *outputs, guint n_outputs, const guint *inputs, guint n_inputs, gboolean integers, GError **error)
{
  const GantryGradientOptions options = { .outputs = outputs,
                                          .n_outputs = n_outputs,
                                          .with_respect_to = inputs,
                                          .n_with_respect_to = n_inputs,
                                          .seeds = TRUE,
                                          .keep_results = TRUE,
                                          .integers = integers };

  return gantry_differentiate (module, &options, NULL, error);
}

static gboolean
export_model (gpointer self, GantryModule *module, const char *path, const char *const *names, GantryLiteral *const *values, GError **error)
{
  return gantry_module_export (module, path, names, values, error);
}

static GantryModule *
load (gpointer self, GantryContext *context, const char *path, GPtrArray **weights, gboolean *draws, guint *n_assigned, GError **error)
{
  return gantry_module_load (context, path, weights, draws, n_assigned, error);
}

GantryPythonBackend *
gantry_python_backend_new (guint threads)
{
  GantryPythonBackend *backend = g_new0 (GantryPythonBackend, 1);
  Own *own = g_new0 (Own, 1);

  own->threads = threads > 0 ? threads : g_get_num_processors ();
  own->device = gantry_cpu_device_new (own->threads);
  backend->compile = compile;
  backend->run = run;
  backend->release = release;
  backend->memory = memory;
  backend->text = text;
  backend->problems = problems;
  backend->gradient = gradient;
  backend->export = export_model;
  backend->load = load;
  backend->self = own;
  return backend;
}

void
gantry_python_backend_free (GantryPythonBackend *backend)
{
  Own *own = backend->self;

  gantry_device_unref (own->device);
  g_free (own);
  g_free (backend);
}
