/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of programs with loops: stacks that a loop makes over those that it reads, and bodies that several loops run, each in its own way. */
#include "core/graph/region.h"
#include "core/planner/planner-private.h"
#include "tests/core/planner/plan-machine.h"
#include "tests/random-seed.h"

/* What goes forward saves tanh (h w) and h, what goes back makes a stack of what w must change by. */
#define BODIES \
  "  func @forward #2 (%10: f32[64], %11: f32[64]) -> (%13, %13, %10) {\n" \
  "    %12 = multiply(%10, %11): f32[64]\n" \
  "    %13 = tanh(%12): f32[64]\n" \
  "  }\n" \
  "  func @back #3 (%20: f32[64] phase(backward), %21: f32[64] phase(backward), %22: f32[64] phase(backward)," \
  " %23: f32[64] phase(backward)) -> (%28, %29) {\n" \
  "    %24 = multiply(%22, %23): f32[64] phase(backward)\n" \
  "    %25 = tanh(%24): f32[64] phase(backward)\n" \
  "    %26 = rematerialize(%21, %25): f32[64] phase(backward)\n" \
  "    %27 = multiply(%20, %26): f32[64] phase(backward)\n" \
  "    %28 = multiply(%27, %23): f32[64] phase(backward)\n" \
  "    %29 = multiply(%27, %26): f32[64] phase(backward)\n" \
  "  }\n"
#define FORWARD(id, x, w) \
  "    %" id " = scan(%" x ", %" w ") {axes = [0], body = #2, length = 8, n_carries = 1, n_xs = 1, y_axes = [0, 0]}:" \
  " (f32[64], f32[8,64], f32[8,64])\n" \
  "    %" id "0 = result(%" id ") {index = 0}: f32[64]\n" \
  "    %" id "1 = result(%" id ") {index = 1}: f32[8,64]\n" \
  "    %" id "2 = result(%" id ") {index = 2}: f32[8,64]\n"
#define BACK(id, g, from, w) \
  "    %" id " = scan(%" g ", %" from "1, %" from "2, %" w ") {axes = [0, 0, 0], body = #3, length = 8, n_carries = 1, n_xs = 3," \
  " reverse = 1, y_axes = [0]}: (f32[64], f32[8,64]) phase(backward)\n" \
  "    %" id "0 = result(%" id ") {index = 0}: f32[64] phase(backward)\n" \
  "    %" id "1 = result(%" id ") {index = 1}: f32[8,64] phase(backward)\n"

typedef struct
{
  GantryContext *context;
  GantryModule *module;
  GantryPlanner *planner;
} Planned;

static void
planned_init (Planned *p, const char *text)
{
  g_autoptr (GError) error = NULL;
  GantryTarget target;
  GantryPlanOptions options = { .target = &target };

  p->context = gantry_context_new ();
  p->module = gantry_module_from_text (p->context, text, -1, "loops.gir", &error);
  g_assert_no_error (error);
  gantry_target_init_cpu (&target, 8);
  p->planner = gantry_planner_new (p->module, &options, NULL, &error);
  g_assert_no_error (error);
}

static void
planned_clear (Planned *p)
{
  gantry_planner_free (p->planner);
  gantry_module_unref (p->module);
  gantry_context_unref (p->context);
}

static GantryPlan *
plan_of (const Planned *p, const GantryPlacements *placements)
{
  g_autoptr (GError) error = NULL;
  GantryPlan *plan = gantry_planner_plan (p->planner, placements, NULL, &error);

  g_assert_no_error (error);
  plan_check (p->module, plan);
  return plan;
}

static void
run (const Planned *p, const GantryPlan *plan)
{
  g_autoptr (GRand) random = test_rand (0);
  GantryLiteral **arguments = plan_arguments (p->module, random), **expected = plan_expected (p->module, arguments);

  plan_run (p->module, plan, arguments, expected, random, 0.5);
  plan_free_literals (arguments);
  plan_free_literals (expected);
}

static gboolean
share (const GantryPlan *plan, guint32 a, guint32 b)
{
  const GantryPlanBuffer *x = &plan->buffers[gantry_plan_buffer_of (plan, a, 0)], *y = &plan->buffers[gantry_plan_buffer_of (plan, b, 0)];

  return x->offset < y->offset + y->size && y->offset < x->offset + x->size;
}

/* Stack 41 of gradients has the place of one that is read for the last time, or of neither where one is still read and the other one
 * is offloaded. */
static void
test_over (void)
{
  static const char head[] = "module \"over\" {\n"
                             "  func @main #1 (%1: f32[64], %2: f32[8,64] {role = \"parameter\"}, %3: f32[64]) -> (%5, %40) {\n";
  g_autofree char *text = g_strconcat (head, FORWARD ("9", "1", "2") BACK ("4", "3", "9", "2"),
                                       "    %5 = reduce(%41) {dimensions = [0], kind = \"add\"}: f32[64] phase(backward)\n  }\n" BODIES "}\n", NULL);
  g_autofree char *late = g_strconcat (head, FORWARD ("9", "1", "2") BACK ("4", "3", "9", "2"),
                                       "    %6 = add(%41, %91): f32[8,64] phase(backward)\n    %7 = add(%6, %92): f32[8,64] phase(backward)\n"
                                       "    %5 = reduce(%7) {dimensions = [0], kind = \"add\"}: f32[64] phase(backward)\n  }\n" BODIES "}\n",
                                       NULL);
  Planned p;
  g_autoptr (GantryPlan) over = NULL, kept = NULL;

  planned_init (&p, text);
  over = plan_of (&p, NULL);
  g_assert_true (share (over, 41, 91) || share (over, 41, 92));
  run (&p, over);
  planned_clear (&p);
  planned_init (&p, late);
  kept = plan_of (&p, NULL);
  g_assert_false (share (kept, 41, 91) || share (kept, 41, 92));
  run (&p, kept);
  planned_clear (&p);
}

/* What a loop has as operand only for making again what is there is not read: however it is placed, the plan is that of keeping all. */
static void
test_unread (void)
{
  static const guint8 kinds[] = { GANTRY_PLACEMENT_OFFLOAD, GANTRY_PLACEMENT_RECOMPUTE, GANTRY_PLACEMENT_BF16 };
  static const char text[] = "module \"unread\" {\n"
                             "  func @main #1 (%1: f32[64], %2: f32[8,64] {role = \"parameter\"}, %3: f32[64]) -> (%40, %41) {\n" FORWARD ("7", "1", "2")
                               BACK ("4", "3", "7", "2") "  }\n" BODIES "}\n";
  g_autoptr (GantryPlan) keep = NULL;
  Planned p;

  planned_init (&p, text);
  keep = plan_of (&p, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      const GantryPlacement placement = { 72, kinds[i], GANTRY_DECIDED_BY_RULE, GANTRY_MEMORY_PINNED_HOST, GANTRY_SUBJECT_NONE };
      g_autoptr (GantryPlacements) placements = gantry_placements_new ();
      g_autoptr (GantryPlan) plan = NULL;

      gantry_placements_set (placements, &placement);
      plan = plan_of (&p, placements);
      g_assert_cmpuint (plan->n_steps, ==, keep->n_steps);
      g_assert_cmpuint (plan->copied_bytes, ==, 0);
      g_assert_cmpuint (gantry_plan_host_bytes (plan), ==, 0);
      g_assert_cmpuint (plan->arena_bytes[GANTRY_MEMORY_DEVICE], ==, keep->arena_bytes[GANTRY_MEMORY_DEVICE]);
      g_assert_cmpfloat (plan->total_us, ==, keep->total_us);
    }
  planned_clear (&p);
}

/* Of two loops with one body the first makes again what the second is given. */
static void
test_shared_body (void)
{
  static const char text[] = "module \"two\" {\n"
                             "  func @main #1 (%1: f32[64], %2: f32[8,64] {role = \"parameter\"}, %3: f32[64]) -> (%50, %51) {\n" FORWARD ("7", "1", "2")
                               FORWARD ("8", "70", "2") BACK ("4", "3", "8", "2") BACK ("5", "40", "7", "2") "  }\n" BODIES "}\n";
  const GantryPlacement again = { 71, GANTRY_PLACEMENT_RECOMPUTE, GANTRY_DECIDED_BY_RULE, GANTRY_MEMORY_PINNED_HOST, GANTRY_SUBJECT_NONE };
  g_autoptr (GantryPlacements) placements = gantry_placements_new ();
  g_autoptr (GantryPlan) keep = NULL, placed = NULL;
  const GantryPlan *first, *second;
  Planned p;

  planned_init (&p, text);
  keep = plan_of (&p, NULL);
  gantry_placements_set (placements, &again);
  placed = plan_of (&p, placements);
  first = gantry_plan_region (placed, 5, 3);
  second = gantry_plan_region (placed, 4, 3);
  g_assert_nonnull (first);
  g_assert_nonnull (second);
  g_assert_cmpuint (placed->buffers[gantry_plan_buffer_of (placed, 71, 0)].size, ==, 0);
  g_assert_cmpuint (placed->buffers[gantry_plan_buffer_of (placed, 81, 0)].size, >, 0);
  g_assert_cmpuint (first->n_steps, >, second->n_steps);
  g_assert_cmpuint (second->n_steps, ==, gantry_plan_region (keep, 4, 3)->n_steps);
  run (&p, keep);
  run (&p, placed);
  planned_clear (&p);
}

/* Eight weights that are parameters of their own, put together for both loops; what they must change by is written over them. @twice: the
 * first stands in the stack a second time; @late: one is read behind the loops. (transfer full) */
static char *
separate (gboolean twice, gboolean late)
{
  GString *text = g_string_new ("module \"separate\" {\n  func @main #1 (%1: f32[64], %3: f32[64]");

  for (guint i = 0; i < 8; i++)
    g_string_append_printf (text, ", %%%u: f32[64] {alias = %u, role = \"parameter\"}", 100 + i, 1 + i);
  g_string_append (text, ") -> (%5");
  for (guint i = 0; i < 8; i++)
    g_string_append_printf (text, ", %%%u", 310 + i);
  g_string_append (text, ") {\n");
  for (guint i = 0; i < 8; i++)
    g_string_append_printf (text, "    %%%u = reshape(%%%u) {shape = [1, 64]}: f32[1,64]\n", 200 + i, i == 7 && twice ? 100 : 100 + i);
  g_string_append (text, "    %2 = concatenate(%200, %201, %202, %203, %204, %205, %206, %207) {dimension = 0}: f32[8,64]\n" FORWARD ("9", "1", "2")
                           BACK ("4", "3", "9", "2"));
  for (guint i = 0; i < 8; i++)
    g_string_append_printf (text,
                            "    %%%u = slice(%%41) {limit_indices = [%u, 64], start_indices = [%u, 0], strides = [1, 1]}: f32[1,64] phase(backward)\n"
                            "    %%%u = reshape(%%%u) {shape = [64]}: f32[64] phase(backward)\n",
                            300 + i, i + 1, i, 310 + i, 300 + i);
  g_string_append (text, late ? "    %5 = add(%40, %103): f32[64] phase(backward)\n" : "    %5 = negate(%40): f32[64] phase(backward)\n");
  g_string_append (text, "  }\n" BODIES "}\n");
  return g_string_free (text, FALSE);
}

static guint
count_copies (const GantryPlan *plan)
{
  guint n = 0;

  for (guint32 s = 0; s < plan->n_steps; s++)
    n += plan->steps[s].kind == GANTRY_STEP_COPY;
  return n;
}

/* Neither the weights nor what they change by are put together anywhere: each lies in the place of its parameter, whose last reader is
 * the trip that writes it; else beside, and is copied over it at the end. One that no loop reads is written over in any case. */
static void
test_pieces (void)
{
  guint64 least = G_MAXUINT64;

  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *text = separate (i & 1, i >> 1);
      g_autoptr (GantryPlan) plan = NULL;
      Planned p;

      planned_init (&p, text);
      plan = plan_of (&p, NULL);
      g_assert_cmpuint (plan->buffers[gantry_plan_buffer_of (plan, 2, 0)].size, ==, 0);
      g_assert_cmpuint (count_copies (plan), ==, i == 0 ? 0 : 8 - (i & 1));
      g_assert_true ((gantry_plan_temp_bytes (plan, GANTRY_MEMORY_DEVICE) < least) == (i == 0));
      least = i == 0 ? gantry_plan_temp_bytes (plan, GANTRY_MEMORY_DEVICE) + 7 * 64 * sizeof (float) : least;
      run (&p, plan);
      planned_clear (&p);
    }
}

/* Weights in the host come slice by slice, those alone that are there. */
static void
test_pieces_offloaded (void)
{
  for (guint n = 1; n <= 8; n += 7)
    {
      g_autofree char *text = separate (FALSE, FALSE);
      g_autoptr (GantryPlacements) placements = gantry_placements_new ();
      g_autoptr (GantryPlan) keep = NULL, plan = NULL;
      Planned p;

      planned_init (&p, text);
      keep = plan_of (&p, NULL);
      for (guint i = 0; i < n; i++)
        {
          const GantryPlacement placement = { 100 + i, GANTRY_PLACEMENT_OFFLOAD, GANTRY_DECIDED_BY_RULE, GANTRY_MEMORY_PINNED_HOST, GANTRY_SUBJECT_NONE };

          gantry_placements_set (placements, &placement);
        }
      plan = plan_of (&p, placements);
      g_assert_cmpuint (gantry_plan_host_bytes (plan), ==, n * 64 * sizeof (float));
      g_assert_cmpuint (plan->argument_bytes[GANTRY_MEMORY_DEVICE], ==, keep->argument_bytes[GANTRY_MEMORY_DEVICE] - n * 64 * sizeof (float));
      run (&p, plan);
      planned_clear (&p);
    }
}

/* How often operand @i of scan @w shows @unit, or, with @root, a unit of the same root. */
static guint
count_shown (const Program *program, const Work *work, guint i, guint32 unit, gboolean root)
{
  const Value *value = VALUE (program, _gantry_program_operand (program, work_node (program, work), i));
  gboolean pieces = value->kind == VALUE_PIECES;
  guint n = 0;

  for (guint32 t = 0; t < (pieces ? value->n_parts : 1); t++)
    {
      const Value *shown = pieces ? VALUE (program, value_part (program, value, t)) : value;

      n += root ? shown->root == VALUE (program, unit)->root : shown->unit == unit;
    }
  return n;
}

static void
check_shown (const Program *program, guint32 w)
{
  const Work *work = WORK (program, w);
  guint n_operands = work_node (program, work)->n_operands;

  for (guint32 k = 0; k < work->n_uses; k++)
    {
      g_autofree guint *own = g_new0 (guint, n_operands), *all = g_new0 (guint, n_operands);

      g_assert_cmpuint (_gantry_program_use_of (program, w, USE (program, work, k)), ==, k);
      for (guint32 j = program->first_of_root[work->first_use + k]; j != NONE; j = program->next_of_root[work->first_use + j])
        for (guint32 s = program->first_shown[work->first_use + j]; s != NONE; s = SHOWN (program, s)->next)
          {
            own[SHOWN (program, s)->operand] += j == k;
            all[SHOWN (program, s)->operand]++;
          }
      for (guint i = 0; i < n_operands; i++)
        {
          g_assert_cmpuint (own[i], ==, count_shown (program, work, i, USE (program, work, k), FALSE));
          g_assert_cmpuint (all[i], ==, count_shown (program, work, i, USE (program, work, k), TRUE));
        }
    }
}

/* What is asked of each slice of a loop in pieces, at each prediction, is read from lists, which are what its operands show: of weights that
 * are arguments of their own, one of them twice, and of slices of one argument. */
static void
test_shown (void)
{
  static const char parts[] = "module \"parts\" {\n"
                              "  func @main #1 (%1: f32[64], %2: f32[8,64] {role = \"parameter\"}, %3: f32[64]) -> (%40, %41) {\n"
                              "    %60 = slice(%2) {limit_indices = [4, 64], start_indices = [0, 0], strides = [1, 1]}: f32[4,64]\n"
                              "    %61 = slice(%2) {limit_indices = [8, 64], start_indices = [4, 0], strides = [1, 1]}: f32[4,64]\n"
                              "    %62 = negate(%61): f32[4,64]\n"
                              "    %63 = concatenate(%60, %62) {dimension = 0}: f32[8,64]\n" FORWARD ("9", "1", "63") BACK ("4", "3", "9", "2") "  }\n" BODIES
                                                                                                                                                "}\n";

  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *text = i < 2 ? separate (i & 1, FALSE) : g_strdup (parts);
      g_autoptr (Program) program = NULL;
      g_autoptr (GError) error = NULL;
      GantryTarget target;
      const GantryPlanOptions options = { .target = &target };
      guint n_scans = 0;
      Planned p;

      gantry_target_init_cpu (&target, 8);
      planned_init (&p, text);
      program = _gantry_program_new (p.module, &options, NULL, &error);
      g_assert_no_error (error);
      for (guint32 w = 0; w < program->works->len; w++)
        if (work_node (program, WORK (program, w))->op == GANTRY_OP_SCAN)
          {
            check_shown (program, w);
            n_scans++;
          }
      g_assert_cmpuint (n_scans, ==, 2);
      planned_clear (&p);
    }
}

/* A carry that a loop begins with cannot be written over by the last one while the loop also stacks: why is told, and it is another reason
 * than that something behind the loop reads it. */
static void
test_donated_carry (void)
{
  static const char *const later[] = { "negate(%90)", "add(%90, %1)" }, *const why[] = { "reads it beside writing", "still read after" };

  for (guint i = 0; i < G_N_ELEMENTS (later); i++)
    {
      g_autofree char *text = g_strdup_printf (
        "module \"carry\" {\n"
        "  func @main #1 (%%1: f32[64] {alias = 0, role = \"parameter\"}, %%2: f32[8,64]) -> (%%90, %%91, %%92, %%5) {\n%s"
        "    %%5 = %s: f32[64] phase(update)\n  }\n%s}\n",
        FORWARD ("9", "1", "2"), later[i], BODIES);
      g_autoptr (GantryPlan) plan = NULL;
      Planned p;

      planned_init (&p, text);
      plan = plan_of (&p, NULL);
      g_assert_cmpuint (plan->n_problems, ==, 1);
      g_assert_cmpuint (plan->problems[0].node, ==, 1);
      g_assert_nonnull (strstr (plan->problems[0].reason, why[i]));
      run (&p, plan);
      planned_clear (&p);
    }
}

/* Placements that change how loops are run have their bodies planned, once: what was
 * asked for before is still known. */
static void
test_unplanned (void)
{
  static const char text[] = "module \"known\" {\n"
                             "  func @main #1 (%1: f32[64], %2: f32[8,64] {role = \"parameter\"}, %3: f32[64]) -> (%40, %41) {\n" FORWARD ("9", "1", "2")
                               BACK ("4", "3", "9", "2") "  }\n" BODIES "}\n";
  const GantryPlacement again = { 91, GANTRY_PLACEMENT_RECOMPUTE, GANTRY_DECIDED_BY_RULE, GANTRY_MEMORY_PINNED_HOST, GANTRY_SUBJECT_NONE };
  g_autoptr (GantryPlacements) placements = gantry_placements_new ();
  g_autoptr (GantryPrediction) keep = gantry_prediction_new (), placed = gantry_prediction_new (), once_more = gantry_prediction_new ();
  Planned p;

  planned_init (&p, text);
  gantry_placements_set (placements, &again);
  gantry_planner_predict (p.planner, NULL, keep);
  g_assert_cmpuint (gantry_planner_count_unplanned (p.planner, NULL), ==, 0);
  g_assert_cmpuint (gantry_planner_count_unplanned (p.planner, placements), >=, 10);
  g_assert_cmpuint (gantry_planner_count_unplanned (p.planner, placements), >=, 10);
  gantry_planner_predict (p.planner, placements, placed);
  g_assert_cmpuint (gantry_planner_count_unplanned (p.planner, placements), ==, 0);
  gantry_planner_predict (p.planner, NULL, once_more);
  g_assert_cmpuint (once_more->peak_bytes, ==, keep->peak_bytes);
  g_assert_cmpfloat (once_more->step_us, ==, keep->step_us);
  g_assert_cmpfloat (placed->step_us, >, keep->step_us);
  planned_clear (&p);
}

static GantryPlacements *
offloaded (const guint32 *ids, guint n)
{
  GantryPlacements *placements = gantry_placements_new ();

  for (guint i = 0; i < n; i++)
    {
      const GantryPlacement placement = { ids[i], GANTRY_PLACEMENT_OFFLOAD, GANTRY_DECIDED_BY_RULE, GANTRY_MEMORY_PINNED_HOST, GANTRY_SUBJECT_NONE };

      gantry_placements_set (placements, &placement);
    }
  return placements;
}

/* Bodies fetch slices where a limit is not met, and only where that is another way to run them: 91 is walked along backward alone, 2 in both
 * directions. */
static void
test_fetching (void)
{
  static const char text[] = "module \"fetching\" {\n"
                             "  func @main #1 (%1: f32[64], %2: f32[8,64] {role = \"parameter\"}, %3: f32[64]) -> (%40, %41) {\n" FORWARD ("9", "1", "2")
                               BACK ("4", "3", "9", "2") "  }\n" BODIES "}\n";
  static const guint32 ids[] = { 91, 2 };
  static const guint64 MUCH = 1 << 30;
  Planned p;

  planned_init (&p, text);
  for (guint n = 0; n <= G_N_ELEMENTS (ids); n++)
    {
      g_autoptr (GantryPlacements) placements = offloaded (ids, n);
      g_autoptr (GantryPrediction) free_ = gantry_prediction_new (), within = gantry_prediction_new ();

      gantry_planner_predict_within (p.planner, placements, MUCH, free_);
      g_assert_true (free_->fits);
      g_assert_cmpuint (p.planner->fetching, ==, FETCHING_NONE);
      gantry_planner_predict_within (p.planner, placements, 1, within);
      g_assert_false (within->fits);
      g_test_message ("%u: %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %u", n, free_->peak_bytes, within->peak_bytes, p.planner->fetching);
      g_assert_cmpuint (within->peak_bytes, <=, free_->peak_bytes);
      g_assert_cmpuint (p.planner->fetching, ==, n);
      g_assert_true (_gantry_planner_fetches_from (p.planner, FETCHING_BACKWARD) == (n > 0));
      g_assert_true (_gantry_planner_fetches_from (p.planner, FETCHING_ALL) == (n > 1));
    }
  planned_clear (&p);
}

/* What is unplanned is what a prediction begins with, whatever the last one ended with. */
static void
test_unplanned_after_limit (void)
{
  static const char text[] = "module \"known\" {\n"
                             "  func @main #1 (%1: f32[64], %2: f32[8,64] {role = \"parameter\"}, %3: f32[64]) -> (%40, %41) {\n" FORWARD ("9", "1", "2")
                               BACK ("4", "3", "9", "2") "  }\n" BODIES "}\n";
  static const guint32 one = 2, other = 91;
  g_autoptr (GantryPlacements) first = offloaded (&one, 1), second = offloaded (&other, 1);
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();
  Planned p;

  planned_init (&p, text);
  gantry_planner_predict (p.planner, second, prediction);
  gantry_planner_predict_within (p.planner, first, 1, prediction);
  g_assert_cmpuint (gantry_planner_count_unplanned (p.planner, second), ==, 0);
  planned_clear (&p);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner-loops/donated-carry", test_donated_carry);
  g_test_add_func ("/planner-loops/fetching", test_fetching);
  g_test_add_func ("/planner-loops/over", test_over);
  g_test_add_func ("/planner-loops/pieces", test_pieces);
  g_test_add_func ("/planner-loops/pieces-offloaded", test_pieces_offloaded);
  g_test_add_func ("/planner-loops/shared-body", test_shared_body);
  g_test_add_func ("/planner-loops/shown", test_shown);
  g_test_add_func ("/planner-loops/unplanned", test_unplanned);
  g_test_add_func ("/planner-loops/unplanned-after-limit", test_unplanned_after_limit);
  g_test_add_func ("/planner-loops/unread", test_unread);
  return g_test_run ();
}
