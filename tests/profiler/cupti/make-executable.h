/* SPDX-License-Identifier: Apache-2.0 */
/* An executable whose instructions are those of tools/cupti-sample.c: n kernels, a copy to the host, a copy back. */
#pragma once
#include "core/graph/text.h"
#include "core/plan/executable.h"

static inline GantryExecutable *
make_executable (guint n_kernels)
{
  static const char text[] = "module \"m\" { func @main #1 (%1 \"in\": f32[16]) -> (%3) { "
                             "%2 \"act\" = exponential(%1): f32[16] %3 \"out\" = copy(%2): f32[16] } }";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  GantryExecutable *e = g_new0 (GantryExecutable, 1);

  g_atomic_ref_count_init (&e->ref_count);
  e->module = gantry_module_from_text (context, text, -1, "test", &error);
  g_assert_no_error (error);
  e->plan = gantry_plan_new (2, 3);
  for (guint32 i = 0; i < 3; i++)
    e->plan->buffers[i] = (GantryPlanBuffer){ .node = i + 1, .shares = GANTRY_NO_BUFFER, .size = 60, .end = 1 };
  e->n_kernels = 1;
  e->kernels = g_new0 (GantryKernel, 1);
  e->kernels[0].name = g_strdup ("kernel_act");
  e->kernels[0].bytes = 128;
  e->n_instructions = n_kernels + 2;
  e->instructions = g_new0 (GantryInstruction, e->n_instructions);
  for (guint i = 0; i < n_kernels; i++)
    e->instructions[i] = (GantryInstruction){ .kind = GANTRY_INSTRUCTION_LAUNCH, .node = 2 };
  e->instructions[n_kernels] = (GantryInstruction){ .kind = GANTRY_INSTRUCTION_COPY, .queue = GANTRY_QUEUE_TO_HOST, .node = 3, .bytes = 64 };
  e->instructions[n_kernels + 1] = (GantryInstruction){ .kind = GANTRY_INSTRUCTION_COPY, .queue = GANTRY_QUEUE_TO_DEVICE, .node = 3, .bytes = 64 };
  return e;
}
