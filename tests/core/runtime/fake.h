/* SPDX-License-Identifier: Apache-2.0 */
/* Executables written by hand, with plain C functions as kernels: the runtime is tested without the rooms
 * that plan and generate code. */
#pragma once
#include "core/graph/builder.h"
#include "core/runtime/runtime.h"

typedef struct
{
  GantryContext *context;
  GantryBuilder *builder;
  guint32 op;
  GArray *values;  /* node ids of parameters and others, in order */
  GArray *buffers; /* GantryPlanBuffer */
  GArray *kernels;
  GArray *instructions;
  GArray *refs;
  guint32 n_steps, n_init;
} Fake;

static inline Fake
fake_begin (void)
{
  Fake f = { gantry_context_new () };

  f.builder = gantry_builder_new (f.context, "fake");
  f.op = gantry_context_foreign_op (f.context, "test.op");
  f.values = g_array_new (FALSE, TRUE, sizeof (guint32));
  f.buffers = g_array_new (FALSE, TRUE, sizeof (GantryPlanBuffer));
  f.kernels = g_array_new (FALSE, TRUE, sizeof (GantryKernel));
  f.instructions = g_array_new (FALSE, TRUE, sizeof (GantryInstruction));
  f.refs = g_array_new (FALSE, TRUE, sizeof (guint32));
  gantry_builder_begin (f.builder, "main", 0);
  return f;
}

/** A value of @n floats: a parameter, or made by something. Returns: its node id */
static inline guint32
fake_value (Fake *f, gboolean parameter, gint64 n, const char *name)
{
  guint32 type = gantry_context_tensor (f->context, GANTRY_F32, 1, &n), id;

  if (parameter)
    id = gantry_builder_parameter (f->builder, type, name);
  else
    {
      gantry_builder_set_name (f->builder, gantry_context_intern (f->context, name));
      id = gantry_builder_add_typed (f->builder, f->op, NULL, 0, 0, type);
    }
  g_array_append_val (f->values, id);
  return id;
}

/** The place of @node: @n floats at @offset from step @begin to @end. Returns: a buffer index */
static inline guint32
fake_buffer (Fake *f, guint32 node, GantryBufferCategory category, guint64 offset, gint64 n, guint32 begin, guint32 end)
{
  GantryPlanBuffer buffer = { node };

  buffer.category = category;
  buffer.region = category == GANTRY_BUFFER_CONSTANT ? GANTRY_REGION_CONSTANT : GANTRY_REGION_ARENA;
  buffer.shares = GANTRY_NO_BUFFER;
  buffer.offset = offset;
  buffer.size = (guint64) n * 4;
  buffer.begin = begin;
  buffer.end = end;
  g_array_append_val (f->buffers, buffer);
  return f->buffers->len - 1;
}
#define FAKE_BUFFER(f, i) (&g_array_index ((f)->buffers, GantryPlanBuffer, (i)))

static inline guint32
fake_instruction (Fake *f, GantryInstructionKind kind, GantryQueue queue, guint32 node, guint32 step, guint n, const guint32 *buffers)
{
  GantryInstruction instruction = { kind, queue };

  instruction.init = step < f->n_init;
  instruction.node = node;
  instruction.step = step;
  instruction.buffers = f->refs->len;
  instruction.n_buffers = n;
  f->n_steps = MAX (f->n_steps, step + 1);
  g_array_append_vals (f->refs, buffers, n);
  g_array_append_val (f->instructions, instruction);
  return f->instructions->len - 1;
}
#define FAKE_INSTRUCTION(f, i) (&g_array_index ((f)->instructions, GantryInstruction, (i)))
#define FAKE_BUFFERS(...) G_N_ELEMENTS (((guint32[]){ __VA_ARGS__ })), ((guint32[]){ __VA_ARGS__ })

/** Returns: the instruction; its kernel is the last one */
static inline guint32
fake_launch_on (Fake *f, GantryQueue queue, guint32 node, guint32 step, GantryKernelFunc func, gpointer state, gint64 n_tasks, guint n, const guint32 *buffers)
{
  guint32 i = fake_instruction (f, GANTRY_INSTRUCTION_LAUNCH, queue, node, step, n, buffers);
  GantryKernel kernel = { g_strdup_printf ("kernel_%u", f->kernels->len) };

  kernel.node = node;
  kernel.func = func;
  kernel.state = state;
  kernel.n_tasks = n_tasks;
  kernel.flops = kernel.bytes = -1;
  FAKE_INSTRUCTION (f, i)->kernel = f->kernels->len;
  g_array_append_val (f->kernels, kernel);
  return i;
}

static inline guint32
fake_launch (Fake *f, guint32 node, guint32 step, GantryKernelFunc func, gpointer state, gint64 n_tasks, guint n, const guint32 *buffers)
{
  return fake_launch_on (f, GANTRY_QUEUE_COMPUTE, node, step, func, state, n_tasks, n, buffers);
}

static inline guint32
fake_copy (Fake *f, GantryQueue queue, guint32 node, guint32 step, guint32 from, guint32 to)
{
  guint32 i = fake_instruction (f, GANTRY_INSTRUCTION_COPY, queue, node, step, FAKE_BUFFERS (from, to));

  FAKE_INSTRUCTION (f, i)->bytes = FAKE_BUFFER (f, from)->size;
  return i;
}

static inline guint32
fake_wait (Fake *f, GantryQueue queue, guint32 event)
{
  guint32 step = FAKE_INSTRUCTION (f, event)->step;
  guint32 i = fake_instruction (f, GANTRY_INSTRUCTION_WAIT, queue, 0, step, 0, NULL);

  FAKE_INSTRUCTION (f, i)->event = event;
  return i;
}

static inline GantryPlan *
fake_plan (Fake *f)
{
  GantryPlan *plan = gantry_plan_new (f->n_steps, f->buffers->len);

  plan->n_init_steps = f->n_init;
  memcpy (plan->buffers, f->buffers->data, f->buffers->len * sizeof (GantryPlanBuffer));
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];
      guint64 end = (buffer->offset + buffer->size + 63) / 64 * 64;
      guint64 *region = buffer->region == GANTRY_REGION_CONSTANT ? &plan->constant_bytes : &plan->arena_bytes[buffer->memory];

      if (buffer->region != GANTRY_REGION_LITERAL)
        *region = MAX (*region, end);
    }
  for (guint i = 0; i < f->instructions->len; i++)
    if (FAKE_INSTRUCTION (f, i)->kind != GANTRY_INSTRUCTION_WAIT)
      plan->steps[FAKE_INSTRUCTION (f, i)->step].node = FAKE_INSTRUCTION (f, i)->node;
  return plan;
}

/** Inputs are the parameters' buffers in order; @outputs: buffers. The result types are those of the buffers' nodes. */
static inline GantryExecutable *
fake_end (Fake *f, guint n_outputs, const guint32 *outputs)
{
  GantryExecutable *executable = g_new0 (GantryExecutable, 1);
  g_autofree guint32 *results = g_new (guint32, n_outputs + 1);
  g_autoptr (GArray) inputs = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GError) error = NULL;

  g_atomic_ref_count_init (&executable->ref_count);
  for (guint i = 0; i < n_outputs; i++)
    results[i] = FAKE_BUFFER (f, outputs[i])->node;
  for (guint32 b = 0; b < f->buffers->len; b++)
    if (FAKE_BUFFER (f, b)->category == GANTRY_BUFFER_INPUT)
      g_array_append_val (inputs, b);
  gantry_builder_end (f->builder, results, n_outputs);
  executable->module = gantry_builder_finish (f->builder, &error);
  g_assert_no_error (error);
  executable->plan = fake_plan (f);
  executable->n_kernels = f->kernels->len;
  executable->packed_offsets = g_new0 (guint64, f->kernels->len + 1);
  for (guint i = 0; i < f->kernels->len; i++)
    {
      executable->packed_offsets[i] = executable->packed_bytes;
      executable->packed_bytes += (g_array_index (f->kernels, GantryKernel, i).packed_bytes + 63) / 64 * 64;
    }
  executable->kernels = (GantryKernel *) (void *) g_array_free (f->kernels, FALSE);
  executable->n_instructions = f->instructions->len;
  executable->instructions = (GantryInstruction *) (void *) g_array_free (f->instructions, FALSE);
  executable->n_buffer_refs = f->refs->len;
  executable->buffer_refs = (guint32 *) (void *) g_array_free (f->refs, FALSE);
  executable->n_inputs = inputs->len;
  executable->inputs = g_memdup2 (inputs->data, inputs->len * sizeof (guint32));
  executable->n_outputs = n_outputs;
  executable->outputs = g_memdup2 (outputs, n_outputs * sizeof (guint32));
  g_array_unref (f->values);
  g_array_unref (f->buffers);
  gantry_builder_free (f->builder);
  gantry_context_unref (f->context);
  return executable;
}

/* Kernels: a task is one element. buffers: x, result. */
static inline void
kernel_scale (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const float *x = buffers[0];
  float *y = buffers[1];

  for (gint64 i = begin; i < end; i++)
    y[i] = *(const float *) state * x[i];
}

static inline void
kernel_add (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const float *a = buffers[0], *b = buffers[1];
  float *y = buffers[2];

  for (gint64 i = begin; i < end; i++)
    y[i] = a[i] + b[i];
}

/* Of @n floats: x -> a = 2x -> host -> (a's place is overwritten by c = 3x) -> back as b -> r = b + c. Wrong without the waits. */
static inline GantryExecutable *
fake_pipeline (gint64 n)
{
  static const float two = 2, three = 3;
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, n, "x"), a = fake_value (&f, FALSE, n, "a"), h = fake_value (&f, FALSE, n, "h");
  guint32 c = fake_value (&f, FALSE, n, "c"), b = fake_value (&f, FALSE, n, "b"), r = fake_value (&f, FALSE, n, "r");
  guint32 size = (guint32) ((n * 4 + 63) / 64 * 64), i, j, k;
  guint32 bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, n, 0, 2);
  guint32 ba = fake_buffer (&f, a, GANTRY_BUFFER_TEMPORARY, size, n, 0, 1);
  guint32 bh = fake_buffer (&f, h, GANTRY_BUFFER_TEMPORARY, 0, n, 1, 3);
  guint32 bc = fake_buffer (&f, c, GANTRY_BUFFER_TEMPORARY, size, n, 2, 4);
  guint32 bb = fake_buffer (&f, b, GANTRY_BUFFER_TEMPORARY, 2 * size, n, 3, 4);
  guint32 br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, 0, n, 4, 4);

  FAKE_BUFFER (&f, bh)->memory = GANTRY_MEMORY_PINNED_HOST;
  i = fake_launch (&f, a, 0, kernel_scale, (gpointer) &two, n, FAKE_BUFFERS (bx, ba));
  fake_wait (&f, GANTRY_QUEUE_TO_HOST, i);
  j = fake_copy (&f, GANTRY_QUEUE_TO_HOST, h, 1, ba, bh);
  fake_wait (&f, GANTRY_QUEUE_COMPUTE, j);
  fake_launch (&f, c, 2, kernel_scale, (gpointer) &three, n, FAKE_BUFFERS (bx, bc));
  fake_wait (&f, GANTRY_QUEUE_TO_DEVICE, j);
  k = fake_copy (&f, GANTRY_QUEUE_TO_DEVICE, b, 3, bh, bb);
  fake_wait (&f, GANTRY_QUEUE_COMPUTE, k);
  fake_launch (&f, r, 4, kernel_add, NULL, n, FAKE_BUFFERS (bb, bc, br));
  return fake_end (&f, 1, &br);
}
