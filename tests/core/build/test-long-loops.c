/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are too long to be written out: a recurrent network of 10,000 steps trains, as a program whose size does not depend on the
 * steps; greedy decoding stops where its data says so, with its caches written where they lie. */
#include "core/graph/graph.h"
#include "tests/core/build/loop-build.h"
#include "tests/core/build/loop-policies.h"
#include "tests/core/build/loop-programs.h"

static void
test_recurrent (void)
{
  LoopBuilt built, shorter;
  g_autoptr (GPtrArray) arguments = NULL;
  const GantryModule *module;
  double before = 1;

  loop_build (&built, gru_program (10000, 2, 8), TRUE);
  loop_build (&shorter, gru_program (9000, 2, 8), TRUE);
  module = built.program->executable->module;
  g_assert_cmpuint (module->n_nodes, <, 1000);
  g_assert_cmpuint (module->n_nodes, ==, shorter.program->executable->module->n_nodes);
  g_assert_cmpuint (built.program->executable->n_kernels, ==, shorter.program->executable->n_kernels);
  loop_clear (&shorter);
  arguments = loop_arguments (module);
  for (guint step = 0; step < 4; step++)
    {
      g_autoptr (GPtrArray) results = loop_run (&built, arguments);
      double loss = gantry_literal_get_double (results->pdata[0], 0);

      g_test_message ("loss %g", loss);
      g_assert_cmpfloat (loss, <, before);
      before = loss;
      loop_feed_back (module, arguments, results);
    }
  loop_clear (&built);
}

/* What the forward loop saves for the backward one is in the host alone, and comes and goes by slices: the same bits, and on the device
 * less by all of it. (Of so large a batch no product is made behind the loop, which would read stacks as a whole.) */
static void
test_offloaded (void)
{
  static const int steps = 300, batch = 8, width = 16;
  LoopBuilt kept, placed;
  const GantryPlan *a, *b;
  guint64 host;

  loop_build (&kept, gru_program (steps, batch, width), TRUE);
  loop_build_placed (&placed, gru_program (steps, batch, width), TRUE, "role:residual offload");
  a = kept.program->executable->plan;
  b = placed.program->executable->plan;
  host = b->arena_bytes[GANTRY_MEMORY_PINNED_HOST];
  g_assert_cmpuint (host, >=, (guint64) steps * (guint64) batch * (guint64) width * sizeof (float));
  g_assert_cmpuint (a->arena_bytes[GANTRY_MEMORY_PINNED_HOST], ==, 0);
  g_assert_cmpuint (b->arena_bytes[GANTRY_MEMORY_DEVICE] + host, <=, a->arena_bytes[GANTRY_MEMORY_DEVICE] + 8192);
  /* Out, and back again. */
  g_assert_cmpuint (b->copied_bytes, >=, 2 * (host - 4096));
  g_assert_cmpuint (b->copied_bytes, <=, 2 * host);
  g_assert_cmpfloat (b->total_us, >, a->total_us);
  loop_check_equal (&kept, &placed, 2);
  loop_clear (&kept);
  loop_clear (&placed);
}

/* A loop of no trips hands on what it is given. */
static void
test_empty (void)
{
  static const char text[] = "module \"empty\" {\n"
                             "  func @main #1 (%1: f32[8,8], %2: f32[0,8,8] {role = \"parameter\"}, %3: f32[8,8] {role = \"parameter\"}) -> (%11) {\n"
                             "    %12 = multiply(%1, %3): f32[8,8]\n"
                             "    %10 = scan(%12, %2) {axes = [0], body = #2, length = 0, n_carries = 1, n_xs = 1, y_axes = ints[]}: f32[8,8]\n"
                             "    %11 = reduce(%10) {dimensions = [0, 1], kind = \"add\"}: f32[]\n"
                             "  }\n"
                             "  func @layer #2 (%4: f32[8,8], %5: f32[8,8]) -> (%9) {\n"
                             "    %8 = add(%4, %5): f32[8,8]\n"
                             "    %9 = tanh(%8): f32[8,8]\n"
                             "  }\n"
                             "}\n";
  LoopBuilt rolled, unrolled;

  loop_build_both (&rolled, &unrolled, g_strdup (text), TRUE, NULL);
  loop_check_equal (&unrolled, &rolled, 1);
  loop_clear (&rolled);
  loop_clear (&unrolled);
}

/* As a loop a program saves no more than written out (of a layer x and the product; all else is computed again of those), slices are used
 * where they lie in their stacks, and the numbers are the same. */
static void
test_rolled (void)
{
  LoopBuilt rolled, unrolled;
  guint64 a, b;

  loop_build_both (&rolled, &unrolled, g_strdup (loop_layers), TRUE, NULL);
  a = gantry_plan_temp_bytes (rolled.program->executable->plan, GANTRY_MEMORY_DEVICE);
  b = gantry_plan_temp_bytes (unrolled.program->executable->plan, GANTRY_MEMORY_DEVICE);
  g_assert_cmpuint (rolled.program->executable->n_controls, ==, 2);
  g_test_message ("temporaries: %" G_GUINT64_FORMAT " bytes as a loop, %" G_GUINT64_FORMAT " written out", a, b);
  /* The body's own values, one of them the layer's, lie beside all stacks. */
  g_assert_cmpuint (a, <=, b + 5 * 32 * 64 * sizeof (float) + 4096);
  loop_check_equal (&unrolled, &rolled, 1);
  loop_clear (&rolled);
  loop_clear (&unrolled);
}

/* Whatever is placed how, within loops as well: the same bits; and nobody reads what is not there. */
static void
check_policies (const char *text)
{
  LoopBuilt kept;
  g_autoptr (GPtrArray) arguments = NULL, want = NULL;
  guint64 all, least = G_MAXUINT64;

  loop_build (&kept, g_strdup (text), TRUE);
  g_assert_cmpuint (kept.program->executable->n_controls, ==, 2);
  all = gantry_plan_temp_bytes (kept.program->executable->plan, GANTRY_MEMORY_DEVICE);
  arguments = loop_arguments (kept.program->executable->module);
  want = loop_run (&kept, arguments);
  for (guint p = 0; p < G_N_ELEMENTS (loop_policies); p++)
    {
      LoopBuilt placed;
      g_autoptr (GPtrArray) got = NULL, verified = NULL;
      g_autofree char *policy = loop_policy (p, "p");
      const GantryPlan *plan;

      g_test_message ("%s", policy);
      loop_build_placed (&placed, g_strdup (text), TRUE, policy);
      plan = placed.program->executable->plan;
      got = loop_run (&placed, arguments);
      loop_assert_equal (want, got);
      gantry_executor_set_verify (placed.executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON);
      verified = loop_run (&placed, arguments);
      loop_assert_equal (want, verified);
      if (plan->copied_bytes == 0)
        least = MIN (least, gantry_plan_temp_bytes (plan, GANTRY_MEMORY_DEVICE));
      loop_clear (&placed);
    }
  g_test_message ("temporaries: %" G_GUINT64_FORMAT " bytes, at least %" G_GUINT64_FORMAT " by recomputing alone", all, least);
  g_assert_cmpuint (least, <, all);
  loop_clear (&kept);
}

/* An argument that is in the host, and that the program copies to the device. */
static const char hosted[] = "module \"hosted\" {\n"
                             "  func @main #1 (%1 \"x\": f32[1024] {alias = 0}, %2 \"p\": f32[4,1024]@pinned_host) -> (%31, %33) {\n"
                             "    %3 = copy(%2) {memory = \"device\"}: f32[4,1024] phase(backward)\n"
                             "    %20 = scan(%1, %3) {body = #2, length = 4, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0], reverse = 1}:"
                             " (f32[1024], f32[4,1024]) phase(backward)\n"
                             "    %31 = result(%20) {index = 0}: f32[1024] phase(backward)\n"
                             "    %32 = result(%20) {index = 1}: f32[4,1024] phase(backward)\n"
                             "    %33 = reduce(%32) {dimensions = [0], kind = \"add\"}: f32[1024] phase(backward)\n"
                             "  }\n"
                             "  func @trip #2 (%21: f32[1024] {alias = 0} phase(backward), %22: f32[1024] phase(backward)) -> (%24, %25) {\n"
                             "    %23 = add(%21, %22): f32[1024] phase(backward)\n"
                             "    %24 = tanh(%23): f32[1024] phase(backward)\n"
                             "    %25 = multiply(%24, %22): f32[1024] phase(backward)\n"
                             "  }\n"
                             "}\n";

/* A loop whose body has another one, which walks along what the body fetches. */
static const char nested[] = "module \"nested\" {\n"
                             "  func @main #1 (%1 \"x\": f32[4096], %2 \"p\": f32[2,4096] {alias = 1, role = \"parameter\"}) -> (%31, %32) {\n"
                             "    %20 = scan(%1, %2) {body = #2, length = 2, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0], reverse = 0}:"
                             " (f32[4096], f32[2,4096]) phase(backward)\n"
                             "    %31 = result(%20) {index = 0}: f32[4096] phase(backward)\n"
                             "    %32 = result(%20) {index = 1}: f32[2,4096] phase(backward)\n"
                             "  }\n"
                             "  func @trip #2 (%21: f32[4096] {alias = 0} phase(backward), %22: f32[4096] phase(backward)) -> (%24, %25) {\n"
                             "    %60 = reshape(%22) {shape = [4, 1024]}: f32[4,1024] phase(backward)\n"
                             "    %61 = reduce(%60) {dimensions = [0], kind = \"add\"}: f32[1024] phase(backward)\n"
                             "    %62 = scan(%61, %60) {body = #9, length = 4, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0], reverse = 1}:"
                             " (f32[1024], f32[4,1024]) phase(backward)\n"
                             "    %63 = result(%62) {index = 1}: f32[4,1024] phase(backward)\n"
                             "    %64 = reshape(%63) {shape = [4096]}: f32[4096] phase(backward)\n"
                             "    %23 = add(%21, %64): f32[4096] phase(backward)\n"
                             "    %24 = tanh(%23): f32[4096] phase(backward)\n"
                             "    %25 = multiply(%24, %22): f32[4096] phase(backward)\n"
                             "  }\n"
                             "  func @inner #9 (%81: f32[1024] {alias = 0} phase(backward), %82: f32[1024] phase(backward)) -> (%83, %84) {\n"
                             "    %83 = add(%81, %82): f32[1024] phase(backward)\n"
                             "    %84 = tanh(%83): f32[1024] phase(backward)\n"
                             "  }\n"
                             "}\n";

/* @policy: (nullable) */
static void
check_fetched (const char *text, const char *policy)
{
  LoopBuilt rolled, unrolled;

  loop_build_both (&rolled, &unrolled, g_strdup (text), FALSE, policy);
  g_assert_cmpuint (rolled.program->executable->plan->arena_bytes[GANTRY_MEMORY_PINNED_HOST] + rolled.program->executable->plan->copied_bytes, >, 0);
  loop_check_equal (&unrolled, &rolled, 1);
  loop_clear (&rolled);
  loop_clear (&unrolled);
}

/* What a loop walks along is in the host and is fetched as a whole: its slices lie on the device, and need no stages. */
static void
test_fetched (void)
{
  check_fetched (hosted, NULL);
  check_fetched (nested, "role:parameter offload");
}

static void
test_policies (void)
{
  g_autofree char *gru = gru_program (40, 4, 16);

  check_policies (loop_layers);
  check_policies (loop_given);
  check_policies (loop_counted);
  check_policies (gru);
}

/* Nothing is copied from where the body makes a cache to where the next trip reads it. */
static void
assert_in_place (const GantryExecutable *executable)
{
  const GantryControlCode *code = &executable->controls[0];
  const GantryRegionLayout *layout = code->layouts[GANTRY_CONTROL_BODY];

  g_assert_cmpuint (executable->n_controls, ==, 1);
  g_assert_cmpint (code->control.kind, ==, GANTRY_CONTROL_WHILE);
  for (guint i = 0; i < layout->copies->len; i++)
    g_assert_cmpuint (g_array_index (layout->copies, GantryRegionCopy, i).bytes, <=, DECODE_TOKENS * sizeof (gint32));
}

/* The likeliest of two tokens may lie within a rounding of each other: the same are expected of the same code. */
static void
test_decoding (void)
{
  static const int width = 16, vocabulary = 32;
  LoopBuilt all, some;
  g_autoptr (GPtrArray) arguments = NULL, written = NULL, stopped = NULL;
  gint64 end, first = 0;

  loop_build (&all, decode_program (width, vocabulary, -1, TRUE), FALSE);
  assert_in_place (all.program->executable);
  arguments = loop_arguments (all.program->executable->module);
  written = loop_run (&all, arguments);
  g_assert_cmpint (gantry_literal_get_int (written->pdata[1], 0), ==, DECODE_TOKENS);
  /* The third token ends it, where it comes first. */
  end = gantry_literal_get_int (written->pdata[0], 2);
  while (gantry_literal_get_int (written->pdata[0], first) != end)
    first++;
  loop_build (&some, decode_program (width, vocabulary, (int) end, TRUE), FALSE);
  stopped = loop_run (&some, arguments);
  g_assert_cmpint (gantry_literal_get_int (stopped->pdata[1], 0), ==, first + 1);
  for (gint64 i = 0; i < DECODE_TOKENS; i++)
    g_assert_cmpint (gantry_literal_get_int (stopped->pdata[0], i), ==, i <= first ? gantry_literal_get_int (written->pdata[0], i) : 0);
  loop_clear (&all);
  loop_clear (&some);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/loops/recurrent", test_recurrent);
  g_test_add_func ("/loops/offloaded", test_offloaded);
  g_test_add_func ("/loops/decoding", test_decoding);
  g_test_add_func ("/loops/empty", test_empty);
  g_test_add_func ("/loops/rolled", test_rolled);
  g_test_add_func ("/loops/fetched", test_fetched);
  g_test_add_func ("/loops/policies", test_policies);
  return g_test_run ();
}
