/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled kernels under plans written by hand: everything kept, residuals computed again, residuals moved to the host
 * and fetched through two places that are used in turn. Results are equal bit for bit; a plan without its waits is
 * found out; steps in a row keep their state on the device; a limit is never exceeded. */
#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/plan/executable.h"
#include "core/plan/plan.h"
#include "core/runtime/runtime.h"
#include "profiler/profiler.h"
#include "tests/random-seed.h"
#include <string.h>

#define LAYERS 6
#define N 96
#define BYTES ((guint64) N * N * 4)
#define VERIFY_ALL (GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES)

/* x[i] = tanh (p[i]), p[i] = x[i - 1] w; then g[LAYERS] = x[LAYERS], and for i = LAYERS - 1 .. 1: d[i] = g[i + 1] x[i],
 * g[i] = d[i] w. The results are w - g[1], which is donated over w, and x[LAYERS]. */
enum
{
  X0 = 1,
  W = 2,
  NEW_W = 3
};
#define P(i) (10u * (i) + 1)
#define X(i) ((i) > 0 ? 10u * (i) + 2 : X0)
#define D(i) (10u * (i) + 3)
#define G(i) ((i) < LAYERS ? 10u * (i) + 4 : X (LAYERS))

static void
write_product (GString *text, guint id, guint a, guint b)
{
  g_string_append_printf (text,
                          "    %%%u = dot_general(%%%u, %%%u) {lhs_contracting_dimensions = [1], "
                          "rhs_contracting_dimensions = [0]}: f32[%d,%d]\n",
                          id, a, b, N, N);
}

static GantryModule *
chain (GantryContext *context)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  GantryModule *module;

  g_string_printf (text,
                   "module \"m\" {\n  func @main #1 (%%1 \"x\": f32[%d,%d], %%2 \"w\": f32[%d,%d] "
                   "{role = \"parameter\", alias = 0}) -> (%%3, %%%u) {\n",
                   N, N, N, N, X (LAYERS));
  for (guint i = 1; i <= LAYERS; i++)
    {
      write_product (text, P (i), X (i - 1), W);
      g_string_append_printf (text, "    %%%u \"x%u\" = tanh(%%%u): f32[%d,%d]\n", X (i), i, P (i), N, N);
    }
  for (guint i = LAYERS - 1; i >= 1; i--)
    {
      g_string_append_printf (text, "    %%%u = multiply(%%%u, %%%u): f32[%d,%d]\n", D (i), G (i + 1), X (i), N, N);
      write_product (text, G (i), D (i), W);
    }
  g_string_append_printf (text, "    %%3 = subtract(%%2, %%%u): f32[%d,%d]\n  }\n}\n", G (1), N, N);
  module = gantry_module_from_text (context, text->str, -1, "chain", &error);
  g_assert_no_error (error);
  return module;
}

/* Plans. */

typedef struct
{
  const GantryKernelSet *kernels;
  GArray *steps, *buffers, *refs, *waits;
  guint64 top[GANTRY_N_MEMORY_KINDS];
  guint64 p, d, g;          /* offsets of the places of those that live for a moment */
  guint32 last_g;           /* buffer of the last of them */
  guint32 x[LAYERS + 1];    /* where each residual is now */
  guint32 made[LAYERS + 1]; /* step that made it */
} Sketch;

static guint32
buffer_at (Sketch *s, guint32 node, GantryBufferCategory category, GantryMemoryKind memory, guint instance, guint64 offset)
{
  GantryPlanBuffer buffer = { .node = node,
                              .category = category,
                              .memory = memory,
                              .instance = (guint8) instance,
                              .shares = GANTRY_NO_BUFFER,
                              .offset = offset,
                              .size = BYTES,
                              .begin = G_MAXUINT32 };

  s->top[memory] = MAX (s->top[memory], offset + BYTES);
  g_array_append_val (s->buffers, buffer);
  return s->buffers->len - 1;
}

static guint32
fresh (Sketch *s, guint32 node, GantryBufferCategory category, GantryMemoryKind memory, guint instance)
{
  return buffer_at (s, node, category, memory, instance, s->top[memory]);
}

static guint64
workspace_of (const Sketch *s, guint32 node)
{
  const GantryKernel *kernel = gantry_kernel_set_find (s->kernels, node);

  return kernel != NULL ? kernel->workspace_bytes : 0;
}

static guint32
step (Sketch *s, GantryStepKind kind, GantryQueue queue, guint32 node, guint n_operands, guint n, const guint32 *refs)
{
  guint32 index = s->steps->len;
  GantryPlanStep one = { .node = node,
                         .queue = queue,
                         .kind = kind,
                         .instance = kind == GANTRY_STEP_RECOMPUTE,
                         .first_ref = s->refs->len,
                         .n_operands = n_operands,
                         .n_refs = n,
                         .first_wait = s->waits->len };

  g_array_append_vals (s->refs, refs, n);
  if (kind != GANTRY_STEP_COPY && workspace_of (s, node) > 0)
    {
      guint32 workspace = fresh (s, node, GANTRY_BUFFER_WORKSPACE, GANTRY_MEMORY_DEVICE, 0);
      GantryPlanBuffer *of = &g_array_index (s->buffers, GantryPlanBuffer, workspace);

      of->size = workspace_of (s, node);
      s->top[GANTRY_MEMORY_DEVICE] = (of->offset + of->size + 63) / 64 * 64;
      g_array_append_val (s->refs, workspace);
      one.n_refs++;
    }
  for (guint i = 0; i < one.n_refs; i++)
    {
      GantryPlanBuffer *buffer = &g_array_index (s->buffers, GantryPlanBuffer, g_array_index (s->refs, guint32, one.first_ref + i));

      buffer->begin = MIN (buffer->begin, index);
      buffer->end = index;
    }
  g_array_append_val (s->steps, one);
  return index;
}
#define REFS(...) G_N_ELEMENTS (((guint32[]){ __VA_ARGS__ })), ((guint32[]){ __VA_ARGS__ })

static void
wait_for (Sketch *s, guint32 other)
{
  g_array_append_val (s->waits, other);
  g_array_index (s->steps, GantryPlanStep, s->steps->len - 1).n_waits++;
}

static guint32
moment (Sketch *s, guint32 node, guint64 offset, guint instance)
{
  return buffer_at (s, node, GANTRY_BUFFER_TEMPORARY, GANTRY_MEMORY_DEVICE, instance, offset);
}

static void
forward (Sketch *s, guint i, guint32 w, GantryStepKind kind)
{
  guint32 p = moment (s, P (i), s->p, kind == GANTRY_STEP_RECOMPUTE);

  step (s, kind, GANTRY_QUEUE_COMPUTE, P (i), 2, REFS (s->x[i - 1], w, p));
  s->made[i] = step (s, kind, GANTRY_QUEUE_COMPUTE, X (i), 1, REFS (p, s->x[i]));
}

/* Returns: the step that reads the residual */
static guint32
read_residual (Sketch *s, guint i, guint32 *d)
{
  *d = moment (s, D (i), s->d, 0);
  return step (s, GANTRY_STEP_RUN, GANTRY_QUEUE_COMPUTE, D (i), 2, REFS (s->last_g, s->x[i], *d));
}

static void
backward (Sketch *s, guint i, guint32 w, guint32 d)
{
  s->last_g = moment (s, G (i), s->g, 0);
  step (s, GANTRY_STEP_RUN, GANTRY_QUEUE_COMPUTE, G (i), 2, REFS (d, w, s->last_g));
}

/* The ends have places of their own; so have those that live for a moment. Returns: the buffer of w */
static guint32
begin (Sketch *s, const GantryKernelSet *kernels)
{
  guint32 w;

  *s = (Sketch){ kernels };
  s->steps = g_array_new (FALSE, TRUE, sizeof (GantryPlanStep));
  s->buffers = g_array_new (FALSE, TRUE, sizeof (GantryPlanBuffer));
  s->refs = g_array_new (FALSE, TRUE, sizeof (guint32));
  s->waits = g_array_new (FALSE, TRUE, sizeof (guint32));
  s->x[0] = fresh (s, X0, GANTRY_BUFFER_INPUT, GANTRY_MEMORY_DEVICE, 0);
  w = fresh (s, W, GANTRY_BUFFER_INPUT, GANTRY_MEMORY_DEVICE, 0);
  s->x[LAYERS] = fresh (s, X (LAYERS), GANTRY_BUFFER_OUTPUT, GANTRY_MEMORY_DEVICE, 0);
  s->last_g = s->x[LAYERS];
  s->p = s->top[GANTRY_MEMORY_DEVICE];
  s->d = s->p + BYTES;
  s->g = s->d + BYTES;
  s->top[GANTRY_MEMORY_DEVICE] = s->g + BYTES;
  return w;
}

static GantryPlan *
end (Sketch *s, guint32 w)
{
  guint32 last = s->steps->len,
          result = buffer_at (s, NEW_W, GANTRY_BUFFER_OUTPUT, GANTRY_MEMORY_DEVICE, 0, g_array_index (s->buffers, GantryPlanBuffer, w).offset);
  GantryPlan *plan;

  g_array_index (s->buffers, GantryPlanBuffer, result).shares = w;
  g_array_index (s->buffers, GantryPlanBuffer, result).in_place = TRUE;
  step (s, GANTRY_STEP_RUN, GANTRY_QUEUE_COMPUTE, NEW_W, 2, REFS (w, s->last_g, result));
  for (guint32 b = 0; b < 3; b++)
    {
      g_array_index (s->buffers, GantryPlanBuffer, b).begin = 0;
      g_array_index (s->buffers, GantryPlanBuffer, b).end = last;
    }
  plan = gantry_plan_new (s->steps->len, s->buffers->len);
  gantry_plan_set_pools (plan, s->refs->len, s->waits->len);
  memcpy (plan->steps, s->steps->data, s->steps->len * sizeof (GantryPlanStep));
  memcpy (plan->buffers, s->buffers->data, s->buffers->len * sizeof (GantryPlanBuffer));
  memcpy (plan->refs, s->refs->data, s->refs->len * sizeof (guint32));
  if (s->waits->len > 0)
    memcpy (plan->waits, s->waits->data, s->waits->len * sizeof (guint32));
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    plan->arena_bytes[kind] = s->top[kind];
  plan->resident = TRUE;
  g_array_unref (s->steps);
  g_array_unref (s->buffers);
  g_array_unref (s->refs);
  g_array_unref (s->waits);
  return plan;
}

static GantryPlan *
plan_kept (const GantryKernelSet *kernels)
{
  Sketch s;
  guint32 w = begin (&s, kernels), d;

  for (guint i = 1; i <= LAYERS; i++)
    {
      if (i < LAYERS)
        s.x[i] = fresh (&s, X (i), GANTRY_BUFFER_TEMPORARY, GANTRY_MEMORY_DEVICE, 0);
      forward (&s, i, w, GANTRY_STEP_RUN);
    }
  for (guint i = LAYERS - 1; i >= 1; i--)
    {
      read_residual (&s, i, &d);
      backward (&s, i, w, d);
    }
  return end (&s, w);
}

/* Residuals of odd layers share one place; each is made again from the one before it. */
static GantryPlan *
plan_recomputed (const GantryKernelSet *kernels)
{
  Sketch s;
  guint32 w = begin (&s, kernels), d;
  guint64 odd = s.top[GANTRY_MEMORY_DEVICE];

  for (guint i = 1; i <= LAYERS; i++)
    {
      if (i < LAYERS)
        s.x[i] = i % 2 == 1 ? moment (&s, X (i), odd, 0) : fresh (&s, X (i), GANTRY_BUFFER_TEMPORARY, GANTRY_MEMORY_DEVICE, 0);
      forward (&s, i, w, GANTRY_STEP_RUN);
    }
  for (guint i = LAYERS - 1; i >= 1; i--)
    {
      if (i % 2 == 1)
        {
          s.x[i] = moment (&s, X (i), odd, 1);
          forward (&s, i, w, GANTRY_STEP_RECOMPUTE);
        }
      read_residual (&s, i, &d);
      backward (&s, i, w, d);
    }
  return end (&s, w);
}

typedef struct
{
  guint64 slots[2];        /* offsets of the two places */
  guint32 out[LAYERS + 1]; /* step that copied it out */
  guint32 host[LAYERS + 1];
  guint32 last_read[2]; /* by slot: last step of the compute queue that read it */
} Moves;

static void
copy_out (Sketch *s, Moves *moves, guint i)
{
  moves->host[i] = fresh (s, X (i), GANTRY_BUFFER_TEMPORARY, GANTRY_MEMORY_PINNED_HOST, 0);
  moves->out[i] = step (s, GANTRY_STEP_COPY, GANTRY_QUEUE_TO_HOST, X (i), 1, REFS (s->x[i], moves->host[i]));
  wait_for (s, s->made[i]);
}

static void
fetch (Sketch *s, Moves *moves, guint i)
{
  s->x[i] = moment (s, X (i), moves->slots[i % 2], 1);
  s->made[i] = step (s, GANTRY_STEP_COPY, GANTRY_QUEUE_TO_DEVICE, X (i), 1, REFS (moves->host[i], s->x[i]));
  wait_for (s, moves->out[i]);
  wait_for (s, moves->last_read[i % 2]);
}

static GantryPlan *
plan_offloaded (const GantryKernelSet *kernels)
{
  Sketch s;
  guint32 w = begin (&s, kernels), d;
  Moves moves = { .slots = { s.top[GANTRY_MEMORY_DEVICE], s.top[GANTRY_MEMORY_DEVICE] + BYTES } };

  s.top[GANTRY_MEMORY_DEVICE] += 2 * BYTES;
  for (guint i = 1; i <= LAYERS; i++)
    {
      if (i < LAYERS)
        s.x[i] = moment (&s, X (i), moves.slots[i % 2], 0);
      forward (&s, i, w, GANTRY_STEP_RUN);
      moves.last_read[(i + 1) % 2] = s.made[i] - 1;
      if (i > 2 && i < LAYERS)
        wait_for (&s, moves.out[i - 2]); /* its place is written over */
      if (i < LAYERS)
        copy_out (&s, &moves, i);
    }
  fetch (&s, &moves, LAYERS - 1);
  fetch (&s, &moves, LAYERS - 2);
  for (guint i = LAYERS - 1; i >= 1; i--)
    {
      moves.last_read[i % 2] = read_residual (&s, i, &d);
      wait_for (&s, s.made[i]);
      if (i > 2)
        fetch (&s, &moves, i - 2);
      backward (&s, i, w, d);
    }
  return end (&s, w);
}

/* Running. */

typedef GantryPlan *(*Planner) (const GantryKernelSet *kernels);
static const Planner planners[] = { plan_kept, plan_recomputed, plan_offloaded };

typedef struct
{
  float *x, *w, *new_w, *last;
} Data;

static Data
new_data (guint32 seed)
{
  g_autoptr (GRand) rand = test_rand (seed);
  Data data = { g_malloc (BYTES), g_malloc (BYTES), g_malloc0 (BYTES), g_malloc0 (BYTES) };

  for (guint i = 0; i < N * N; i++)
    {
      data.x[i] = (float) g_rand_double_range (rand, -1, 1);
      data.w[i] = (float) g_rand_double_range (rand, -0.2, 0.2);
    }
  return data;
}

static void
free_data (Data *data)
{
  g_free (data->x);
  g_free (data->w);
  g_free (data->new_w);
  g_free (data->last);
}

static GantryExecutable *
build (Planner planner, guint n_threads)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = chain (context);
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  GantryKernelSet *kernels;
  GantryExecutable *executable;

  options.n_threads = n_threads;
  kernels = gantry_kernels_compile (module, &options, NULL, &error);
  g_assert_no_error (error);
  plan = planner (kernels);
  executable = gantry_executable_new (module, plan, kernels, &error);
  g_assert_no_error (error);
  return executable;
}

static GantryExecutor *
load (GantryDevice *device, GantryExecutable *executable)
{
  g_autoptr (GError) error = NULL;
  GantryExecutor *executor = gantry_executor_new (device, executable, NULL, &error);

  g_assert_no_error (error);
  return executor;
}

static void
run (GantryExecutor *executor, Data *data, const GantryObserver *observer)
{
  GantryRunInput inputs[] = { { data->x, BYTES }, { data->w, BYTES } };
  GantryRunOutput outputs[] = { { data->new_w, BYTES }, { data->last, BYTES } };
  g_autoptr (GError) error = NULL;

  gantry_executor_run (executor, inputs, 2, outputs, 2, observer, NULL, &error);
  g_assert_no_error (error);
}

static void
test_equal (void)
{
  Data want = new_data (1);

  for (guint i = 0; i < G_N_ELEMENTS (planners); i++)
    {
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
      g_autoptr (GantryExecutable) executable = build (planners[i], 2);
      g_autoptr (GantryExecutor) executor = load (device, executable);
      Data data = new_data (1);

      for (guint round = 0; round < 60; round++)
        {
          if (round == 59)
            gantry_executor_set_verify (executor, VERIFY_ALL);
          memset (data.new_w, 0, BYTES);
          memset (data.last, 0, BYTES);
          run (executor, i == 0 && round == 0 ? &want : &data, NULL);
          if (i == 0 && round == 0)
            continue;
          g_assert_cmpmem (data.new_w, BYTES, want.new_w, BYTES);
          g_assert_cmpmem (data.last, BYTES, want.last, BYTES);
        }
      free_data (&data);
    }
  /* Something was computed. */
  g_assert_cmpint (memcmp (want.new_w, want.w, BYTES), !=, 0);
  free_data (&want);
}

/* Without any one of the waits that are needed, the checked run says so. */
static void
test_races (void)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
  g_autoptr (GantryExecutable) whole = build (plan_offloaded, 2);
  guint n_waits = 0, found = 0;

  for (guint32 i = 0; i < whole->n_instructions; i++)
    n_waits += whole->instructions[i].kind == GANTRY_INSTRUCTION_WAIT;
  for (guint missing = 0; missing < n_waits; missing++)
    {
      g_autoptr (GantryExecutable) executable = build (plan_offloaded, 2);
      g_autoptr (GantryExecutor) executor = NULL;
      Data data = new_data (1);
      GantryRunInput inputs[] = { { data.x, BYTES }, { data.w, BYTES } };
      GantryRunOutput outputs[] = { { data.new_w, BYTES }, { data.last, BYTES } };
      guint seen = 0;
      g_autoptr (GError) error = NULL;

      for (guint32 i = 0; i < executable->n_instructions; i++)
        if (executable->instructions[i].kind == GANTRY_INSTRUCTION_WAIT && seen++ == missing)
          executable->instructions[i].event = 0; /* the first product: done long before */
      executor = load (device, executable);
      gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES);
      if (!gantry_executor_run (executor, inputs, 2, outputs, 2, NULL, NULL, &error))
        {
          g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED);
          g_assert_nonnull (strstr (error->message, "do not wait for each other"));
          found++;
        }
      free_data (&data);
    }
  g_test_message ("%u of %u waits are needed", found, n_waits);
  /* All but those that another one implies: that a residual was copied out when it is fetched back much later. */
  g_assert_cmpuint (found, >=, n_waits / 2);
}

/* Ten steps in a row, each from what the one before left, equal ten single runs that are given it. */

static gboolean
count_step (gpointer self, guint index, const GantryRunOutput *outputs)
{
  /* What is donated is read once, at the end. */
  g_assert_true ((outputs[0].data != NULL) == (index == 9));
  g_assert_nonnull (outputs[1].data);
  ++*(guint *) self;
  return TRUE;
}

static void
test_steps (void)
{
  Data want = new_data (2);

  for (guint i = 0; i < G_N_ELEMENTS (planners); i++)
    {
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
      g_autoptr (GantryExecutable) executable = build (planners[i], 2);
      g_autoptr (GantryExecutor) executor = load (device, executable);
      Data data = new_data (2);
      GantryRunInput inputs[] = { { data.x, BYTES }, { data.w, BYTES } };
      GantryRunOutput outputs[] = { { data.new_w, BYTES }, { data.last, BYTES } };
      guint steps = 0;
      GantryRunHooks hooks = { .done = count_step, .self = &steps };
      g_autoptr (GError) error = NULL;

      for (guint k = 0; k < 10 && i == 0; k++)
        {
          run (executor, &want, NULL);
          memcpy (want.w, want.new_w, BYTES);
        }
      gantry_executor_set_verify (executor, i == 2 ? VERIFY_ALL : 0);
      g_assert_cmpint (gantry_executor_alias (executor, 0), ==, -1);
      g_assert_cmpint (gantry_executor_alias (executor, 1), ==, 0);
      g_assert_true (gantry_executor_run_steps (executor, 10, inputs, 2, outputs, 2, &hooks, NULL, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (steps, ==, 10);
      g_assert_cmpmem (data.new_w, BYTES, want.new_w, BYTES);
      g_assert_cmpmem (data.last, BYTES, want.last, BYTES);
      free_data (&data);
    }
  free_data (&want);
}

/* The device holds what is planned and no byte more; one byte less than that is told before anything runs. */
static void
test_limit (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (planners); i++)
    {
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
      g_autoptr (GantryExecutable) executable = build (planners[i], 1);
      g_autoptr (GError) error = NULL;
      guint64 planned = executable->plan->arena_bytes[GANTRY_MEMORY_DEVICE] + executable->plan->constant_bytes + executable->packed_bytes, most, host;
      Data data = new_data (3);

      gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, planned - 1);
      g_assert_null (gantry_executor_new (device, executable, NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
      g_assert_nonnull (strstr (error->message, "1 B too much"));
      gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, planned);
      {
        g_autoptr (GantryExecutor) executor = load (device, executable);

        run (executor, &data, NULL);
      }
      gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, NULL, &most, NULL);
      g_assert_cmpuint (most, ==, planned);
      gantry_device_get_memory (device, GANTRY_MEMORY_PINNED_HOST, NULL, &host, NULL);
      g_assert_cmpuint (host, ==, i == 2 ? (LAYERS - 1) * BYTES : 0);
      if (i == 2)
        {
          g_clear_error (&error);
          gantry_device_set_limit (device, GANTRY_MEMORY_PINNED_HOST, host - 1);
          g_assert_null (gantry_executor_new (device, executable, NULL, &error));
          g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
          g_assert_nonnull (strstr (error->message, "pinned_host"));
        }
      free_data (&data);
    }
}

/* What is recorded: copies on their queues, recomputation by its name. */
static void
test_recording (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (planners); i++)
    {
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
      g_autoptr (GantryExecutable) executable = build (planners[i], 2);
      g_autoptr (GantryExecutor) executor = load (device, executable);
      g_autoptr (GantryCpuRecorder) recorder = gantry_cpu_recorder_new ("cpu");
      g_autoptr (GantryRecording) recording = NULL;
      guint again = 0;
      GantryOverlap overlap;
      Data data = new_data (4);

      run (executor, &data, gantry_cpu_recorder_observer (recorder));
      recording = gantry_cpu_recorder_take (recorder);
      /* Nobody measured memory, so none is told. */
      g_assert_cmpuint (gantry_recording_n_memory_events (recording), ==, 0);
      g_assert_cmpuint (gantry_recording_peak_bytes (recording), ==, 0);
      for (guint64 k = 0; k < gantry_recording_n_events (recording, GANTRY_QUEUE_COMPUTE); k++)
        {
          GantryEvent event;

          gantry_recording_get (recording, GANTRY_QUEUE_COMPUTE, k, &event);
          again += g_str_has_prefix (gantry_recording_string (recording, event.name), "recompute ");
        }
      g_assert_cmpuint (again, ==, i == 1 ? 6 : 0);
      gantry_recording_overlap (recording, 0, &overlap);
      g_assert_cmpuint (overlap.queues[GANTRY_QUEUE_TO_HOST].n_events, ==, i == 2 ? LAYERS - 1 : 0);
      g_assert_cmpuint (overlap.queues[GANTRY_QUEUE_TO_DEVICE].bytes, ==, i == 2 ? (LAYERS - 1) * BYTES : 0);
      g_assert_cmpint (overlap.hidden_ns + overlap.exposed_ns, ==, overlap.copy_ns);
      free_data (&data);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/plans/equal", test_equal);
  g_test_add_func ("/kernels/plans/races", test_races);
  g_test_add_func ("/kernels/plans/steps", test_steps);
  g_test_add_func ("/kernels/plans/limit", test_limit);
  g_test_add_func ("/kernels/plans/recording", test_recording);
  return g_test_run ();
}
