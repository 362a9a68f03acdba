/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and layouts made by hand that do not fit together: each is refused for what is wrong with it. Those beside them that fit pass. */
#include "core/graph/text.h"
#include "core/kernels/assemble-private.h"
#include <string.h>

/* A block of 8 channels of 2 * 2 places is 128 bytes. */
static const char program[] = "module \"parts\" {\n"
                              "  func @main #1 (%1 \"x\": f32[1,16,2,2]) -> (%4) {\n"
                              "    %2 = negate(%1): f32[1,16,2,2]\n"
                              "    %3 = slice(%2) {start_indices = [0, 4, 0, 0], limit_indices = [1, 12, 2, 2], strides = [1, 1, 1, 1]}: "
                              "f32[1,8,2,2]\n"
                              "    %4 = negate(%3): f32[1,8,2,2]\n"
                              "  }\n}\n";

enum
{
  INPUT, /* %1 */
  WHOLE, /* %2 */
  PART,  /* %3, within WHOLE */
  LAST,  /* %4 */
  OVER,  /* %4, written over PART */
  AWAY,  /* %3, in host memory */
  N_BUFFERS
};

#define N_NODES 5
#define MOST_STEPS 3

typedef struct
{
  const char *name;
  guint8 blocks[N_NODES]; /* by node id */
  guint64 offset;         /* of PART in WHOLE */
  struct
  {
    guint32 node; /* 0: no more steps */
    guint32 from, to;
    gboolean copy;
  } steps[MOST_STEPS];
  const char *refusal; /* NULL: it fits */
} Case;

static const Case cases[] = {
  { "row-major, from anywhere", { 0 }, 64, { { 2, INPUT, WHOLE, FALSE }, { 4, PART, LAST, FALSE } }, NULL },
  { "a part from a block's begin", { 0, 0, 8, 8 }, 128, { { 2, INPUT, WHOLE, FALSE }, { 4, PART, LAST, FALSE } }, NULL },
  { "a part from within a block", { 0, 0, 8, 8 }, 64, { { 2, INPUT, WHOLE, FALSE }, { 4, PART, LAST, FALSE } }, "operand 0 begins within a block" },
  { "blocks read as rows", { 0, 0, 8, 0 }, 128, { { 2, INPUT, WHOLE, FALSE }, { 4, PART, LAST, FALSE } }, "operand 0 would be read in another layout" },
  { "rows read as blocks", { 0, 0, 0, 8 }, 128, { { 2, INPUT, WHOLE, FALSE }, { 4, PART, LAST, FALSE } }, "operand 0 would be read in another layout" },
  { "blocks of another size", { 0, 0, 16, 8 }, 0, { { 2, INPUT, WHOLE, FALSE }, { 4, PART, LAST, FALSE } }, "operand 0 would be read in another layout" },
  { "an argument read as blocks", { 0, 8, 8 }, 0, { { 2, INPUT, WHOLE, FALSE } }, "operand 0 would be read in another layout" },

  { "a part written", { 0, 0, 8, 8 }, 128, { { 2, INPUT, WHOLE, FALSE }, { 3, WHOLE, PART, FALSE } }, NULL },
  { "rows written into blocks", { 0, 0, 8, 0 }, 128, { { 2, INPUT, WHOLE, FALSE }, { 3, WHOLE, PART, FALSE } }, "result 0 would be written in another layout" },
  { "a part written from within a block", { 0, 0, 8, 8 }, 64, { { 2, INPUT, WHOLE, FALSE }, { 3, WHOLE, PART, FALSE } }, "result 0 begins within a block" },

  { "blocks over blocks", { 0, 0, 8, 8, 8 }, 128, { { 2, INPUT, WHOLE, FALSE }, { 4, PART, OVER, FALSE } }, NULL },
  { "rows over blocks",
    { 0, 0, 8, 8, 0 },
    128,
    { { 2, INPUT, WHOLE, FALSE }, { 4, PART, OVER, FALSE } },
    "result 0 would be written over an operand in another layout" },

  { "a copy", { 0, 0, 8, 8 }, 128, { { 2, INPUT, WHOLE, FALSE }, { 3, PART, AWAY, TRUE }, { 4, AWAY, LAST, FALSE } }, NULL },
  { "a copy from within a block", { 0, 0, 8, 8 }, 64, { { 2, INPUT, WHOLE, FALSE }, { 3, PART, AWAY, TRUE } }, "operand 0 begins within a block" },
  { "a copy of blocks read as rows",
    { 0, 0, 8, 0 },
    128,
    { { 2, INPUT, WHOLE, FALSE }, { 3, PART, AWAY, TRUE }, { 4, AWAY, LAST, FALSE } },
    "operand 0 would be read in another layout" },
  { "a copy of rows into blocks",
    { 0, 0, 8, 8 },
    128,
    { { 2, INPUT, WHOLE, FALSE }, { 3, INPUT, PART, TRUE } },
    "result 0 would be written in another layout" },
  { "a copy to within a block", { 0, 0, 8, 8 }, 64, { { 2, INPUT, WHOLE, FALSE }, { 3, WHOLE, PART, TRUE } }, "result 0 begins within a block" },

  { "blocks given out", { 0, 0, 0, 0, 8 }, 0, { { 2, INPUT, WHOLE, FALSE }, { 4, PART, LAST, FALSE } }, "is not row-major" },
  { "blocks given to an argument", { 0, 0, 8 }, 0, { { 2, INPUT, WHOLE, FALSE }, { 1, WHOLE, INPUT, TRUE } }, "is not row-major" },
};

static GantryPlan *
make_plan (const Case *c)
{
  const GantryPlanBuffer buffers[N_BUFFERS] = {
    [INPUT] = { .node = 1, .category = GANTRY_BUFFER_INPUT, .shares = GANTRY_NO_BUFFER, .offset = 1024, .size = 256 },
    [WHOLE] = { .node = 2, .category = GANTRY_BUFFER_TEMPORARY, .shares = GANTRY_NO_BUFFER, .offset = 512, .size = 256 },
    [PART] = { .node = 3, .category = GANTRY_BUFFER_TEMPORARY, .shares = WHOLE, .offset = 512 + c->offset, .size = 128 },
    [LAST] = { .node = 4, .category = GANTRY_BUFFER_OUTPUT, .shares = GANTRY_NO_BUFFER, .size = 128 },
    [OVER] = { .node = 4, .category = GANTRY_BUFFER_TEMPORARY, .in_place = TRUE, .shares = PART, .offset = 512 + c->offset, .size = 128 },
    [AWAY] = { .node = 3, .category = GANTRY_BUFFER_TEMPORARY, .memory = GANTRY_MEMORY_PINNED_HOST, .shares = GANTRY_NO_BUFFER, .size = 128 },
  };
  GantryPlan *plan;
  guint32 n = 0;

  while (n < MOST_STEPS && c->steps[n].node != 0)
    n++;
  plan = gantry_plan_new (n, N_BUFFERS);
  gantry_plan_set_pools (plan, 2 * n, 0);
  memcpy (plan->buffers, buffers, sizeof buffers);
  for (guint32 i = 0; i < n; i++)
    {
      plan->steps[i] = (GantryPlanStep){
        .node = c->steps[i].node, .kind = c->steps[i].copy ? GANTRY_STEP_COPY : GANTRY_STEP_RUN, .first_ref = 2 * i, .n_operands = 1, .n_refs = 2
      };
      plan->refs[2 * i] = c->steps[i].from;
      plan->refs[2 * i + 1] = c->steps[i].to;
    }
  return plan;
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, program, -1, "parts", &error);
  g_autoptr (GantryPlan) plan = make_plan (c);
  guint8 blocks[N_NODES];
  GantryKernelSet kernels = { .n_kernel_of = N_NODES, .layout_blocks = blocks };

  g_assert_no_error (error);
  memcpy (blocks, c->blocks, sizeof blocks);
  g_assert_cmpint (gantry_assembly_check_layouts (module, plan, &kernels, &error), ==, c->refusal == NULL);
  if (c->refusal == NULL)
    {
      g_assert_no_error (error);
      return;
    }
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  if (strstr (error->message, c->refusal) == NULL)
    g_error ("refused with: %s", error->message);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/kernels/assemble-layouts/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  return g_test_run ();
}
