/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as loops and written out are one program: whatever is placed where, and whatever the solver finds for either, the bits are the
 * same. Which values one kernel computes together differs between them, and no operation may tell. */
#include "core/planner/solver/solve.h"
#include "tests/core/build/loop-build.h"
#include "tests/core/build/loop-policies.h"
#include "tests/core/build/loop-programs.h"
#include "tests/test-files.h"

/* x = x + tanh (x w + b), whose weights are parameters of their own. */
static char *
separate_layers (guint n)
{
  GString *parameters = g_string_new (NULL), *nodes = g_string_new (NULL);
  g_autofree char *head = NULL;

  for (guint i = 0; i < n; i++)
    {
      guint w = 100 + 2 * i, id = 1000 + 10 * i, x = i == 0 ? 1 : id - 10;

      g_string_append_printf (parameters, ", %%%u \"w%u\": f32[64,64] {role = \"parameter\"}, %%%u \"b%u\": f32[64] {role = \"parameter\"}", w, i, w + 1, i);
      g_string_append_printf (nodes,
                              "    %%%u = dot_general(%%%u, %%%u) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[32,64]\n"
                              "    %%%u = broadcast_in_dim(%%%u) {broadcast_dimensions = [1], shape = [32, 64]}: f32[32,64]\n"
                              "    %%%u = add(%%%u, %%%u): f32[32,64]\n"
                              "    %%%u = checkpoint_name(%%%u) {name = \"p\"}: f32[32,64]\n"
                              "    %%%u = tanh(%%%u): f32[32,64]\n"
                              "    %%%u = add(%%%u, %%%u): f32[32,64]\n",
                              id + 1, x, w, id + 2, w + 1, id + 3, id + 1, id + 2, id + 4, id + 3, id + 5, id + 4, id, x, id + 5);
    }
  head = g_strdup_printf ("module \"separate\" {\n  func @main #1 (%%1 \"x\": f32[32,64]%s) -> (%%4) {\n%s"
                          "    %%4 = reduce(%%%u) {dimensions = [0, 1], kind = \"add\"}: f32[]\n  }\n}\n",
                          parameters->str, nodes->str, 1000 + 10 * (n - 1));
  g_string_free (parameters, TRUE);
  g_string_free (nodes, TRUE);
  return g_steal_pointer (&head);
}

static void
check_separate (guint n, const char *rules)
{
  LoopBuilt rolled, unrolled;
  guint64 a, b;

  loop_build_both (&rolled, &unrolled, separate_layers (n), TRUE, rules);
  a = gantry_plan_memory_bytes (rolled.program->executable->plan, GANTRY_MEMORY_DEVICE);
  b = gantry_plan_memory_bytes (unrolled.program->executable->plan, GANTRY_MEMORY_DEVICE);
  g_test_message ("%u layers, %s: %" G_GUINT64_FORMAT " bytes as a loop, %" G_GUINT64_FORMAT " written out", n, rules, a, b);
  /* Beside what both have: what the body needs while it runs, and slices on their way. */
  g_assert_cmpuint (a, <=, b + b / 4);
  g_assert_cmpuint (rolled.program->executable->n_controls, ==, 2);
  loop_check_equal (&unrolled, &rolled, 3);
  loop_clear (&rolled);
  loop_clear (&unrolled);
}

/* Layers whose weights are parameters of their own become loops: weights, states and what they become lie where they are given, not in stacks
 * beside; parameters are written over by the trip that makes their gradient. What is in the host comes and goes beside other trips, or, of
 * few trips, is fetched by each where it reads it. The bits are those of the program written out. */
static void
test_separate (void)
{
  static const char *const more[] = { "role:residual keep", "role:state offload; role:parameter offload",
                                      "role:residual offload; role:state offload; role:parameter offload" };

  for (guint p = 0; p < G_N_ELEMENTS (loop_policies) + G_N_ELEMENTS (more); p++)
    {
      g_autofree char *policy = p < G_N_ELEMENTS (loop_policies) ? loop_policy (p, "p") : g_strdup (more[p - G_N_ELEMENTS (loop_policies)]);

      if (strstr (policy, "offload") != NULL)
        check_separate (5, policy);
      if (p % 2 == 1 || strstr (policy, "offload") != NULL)
        check_separate (12, policy);
    }
}

/* Of what is in the host a loop has slices of several trips on the device, so that they come and go beside others; where that does not fit,
 * bodies fetch what they read: the same bits in less memory and more time. */
static void
test_limited (void)
{
  static const char rules[] = "role:state offload; role:parameter offload";
  LoopBuilt unlimited, limited;
  const GantryPlan *a, *b;
  guint64 limit;

  loop_build_placed (&unlimited, separate_layers (12), TRUE, rules);
  a = unlimited.program->executable->plan;
  limit = gantry_plan_memory_bytes (a, GANTRY_MEMORY_DEVICE) * 7 / 8; /* code is counted as well */
  loop_build_limited (&limited, separate_layers (12), rules, limit);
  b = limited.program->executable->plan;
  g_test_message ("%" G_GUINT64_FORMAT " bytes in %.1f us, %" G_GUINT64_FORMAT " in %.1f", gantry_plan_memory_bytes (a, GANTRY_MEMORY_DEVICE), a->total_us,
                  gantry_plan_memory_bytes (b, GANTRY_MEMORY_DEVICE), b->total_us);
  g_assert_cmpuint (gantry_plan_memory_bytes (b, GANTRY_MEMORY_DEVICE), <=, limit);
  g_assert_cmpuint (limited.program->executable->n_controls, ==, 2);
  g_assert_cmpfloat (b->total_us, >, a->total_us);
  loop_check_equal (&unlimited, &limited, 2);
  loop_clear (&limited);
  loop_clear (&unlimited);
}

/* Programs that train */

static char *
program_file (const char *name)
{
  g_autofree char *path = test_source_file ("data/programs", name);
  g_autoptr (GError) error = NULL;
  char *text = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

static const struct
{
  const char *name;       /* a file of data/programs where it ends so */
  const char *text;       /* (nullable) */
  const char *checkpoint; /* the name of one, where it has one */
  char *(*recurrent) (int steps, int batch, int width);
  int steps, batch, width;
} programs[] = {
  { "layers-tiny.gir", NULL, "x" },
  { "layers-unrolled-tiny.gir", NULL, "x" },
  { "transformer-tiny.gir", NULL, "attention_out" },
  { "lstm.gir", NULL, "x" },
  { "gru", NULL, "x", gru_program, 12, 4, 16 },
  { "wide gru", NULL, "x", gru_program, 6, 16, 64 },
  { "wide lstm", NULL, "x", lstm_program, 6, 16, 64 },
  { "layers", loop_layers, "p" },
  { "given", loop_given, "x" },
  { "counted", loop_counted, "x" },
};

static guint
find_program (const char *name)
{
  guint i = 0;

  while (!g_str_equal (programs[i].name, name))
    i++;
  return i;
}

static char *
program_text (guint i)
{
  if (programs[i].recurrent != NULL)
    return programs[i].recurrent (programs[i].steps, programs[i].batch, programs[i].width);
  return programs[i].text != NULL ? g_strdup (programs[i].text) : program_file (programs[i].name);
}

/* A program written out, with all kept, and what a step of it gives. */
typedef struct
{
  LoopBuilt built;
  GPtrArray *arguments, *results;
} Reference;

static void
reference_init (Reference *reference, guint i)
{
  loop_build_with (&reference->built, program_text (i), TRUE, NULL, LOOP_WRITTEN_OUT);
  g_assert_cmpuint (reference->built.program->executable->n_controls, ==, 0);
  reference->arguments = loop_arguments (reference->built.program->executable->module);
  reference->results = loop_run (&reference->built, reference->arguments);
}

static void
reference_clear (Reference *reference)
{
  g_ptr_array_unref (reference->arguments);
  g_ptr_array_unref (reference->results);
  loop_clear (&reference->built);
}

static void
check_bits (const Reference *reference, const LoopBuilt *built)
{
  g_autoptr (GPtrArray) got = loop_run (built, reference->arguments);

  loop_assert_equal (reference->results, got);
}

/* @all: every rule, else every fifth */
static void
check_rules (guint i, gboolean all)
{
  static const guint32 unrolled[] = { LOOP_WRITTEN_OUT, LOOP_ROLLED };
  Reference reference;

  reference_init (&reference, i);
  for (guint p = 0; p < G_N_ELEMENTS (loop_policies); p += all ? 1 : 5)
    for (guint u = 0; u < G_N_ELEMENTS (unrolled); u++)
      {
        g_autofree char *policy = loop_policy (p, programs[i].checkpoint);
        LoopBuilt built;

        g_test_message ("%s, %s: %s", programs[i].name, policy, u == 0 ? "written out" : "as a loop");
        loop_build_with (&built, program_text (i), TRUE, policy, unrolled[u]);
        check_bits (&reference, &built);
        loop_clear (&built);
      }
  reference_clear (&reference);
}

static void
test_rules (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    check_rules (i, FALSE);
}

static void
test_all_rules (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    check_rules (i, TRUE);
}

/* An operation rounds alike whatever it is fused with. Of programs without sums beside their products: the order of a sum's addends is
 * that of its kernel. */
static void
test_unfused (void)
{
  static const char *const unfused[] = { "gru", "wide gru", "layers", "given", "counted" };

  for (guint k = 0; k < G_N_ELEMENTS (unfused); k++)
    {
      guint i = find_program (unfused[k]);
      Reference reference;
      LoopBuilt built;

      reference_init (&reference, i);
      loop_build_without (&built, program_text (i), "fuse", LOOP_WRITTEN_OUT);
      g_assert_cmpuint (built.program->executable->n_instructions, >, reference.built.program->executable->n_instructions);
      check_bits (&reference, &built);
      loop_clear (&built);
      reference_clear (&reference);
    }
}

/* The solver */

/* What the solver finds for @kept within @percent of the temporaries of keeping all, as choices (transfer full). @allowed: kinds of
 * placements; @bytes: (out): what is allowed on the device */
static GantryChoices *
solve (const LoopBuilt *kept, guint percent, guint allowed, guint64 *bytes)
{
  const GantrySolveGoal none = { .memory_bytes = 1 };
  GantrySolveGoal goal = { .allowed = (guint8) allowed };
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  g_autoptr (GantrySolution) solution = NULL, impossible = NULL;
  g_autoptr (GError) error = NULL;
  GantryPlanner *planner = gantry_compilation_take_planner (kept->compilation, NULL, &error);
  GantryChoices *choices;

  g_assert_no_error (error);
  gantry_planner_predict (planner, NULL, all);
  *bytes = goal.memory_bytes = all->peak_bytes - all->temp_bytes + all->temp_bytes * percent / 100;
  solution = gantry_solve (planner, &goal, NULL, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("%s: %.1f us where keeping all takes %.1f", solution->method, solution->figures.step_us, all->step_us);
  g_assert_cmpfloat (solution->bound, <=, solution->figures.step_us * (1 + 1e-9));
  g_assert_cmpuint (solution->figures.peak_bytes, <=, goal.memory_bytes);
  impossible = gantry_solve (planner, &none, NULL, NULL, &error);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  gantry_compilation_give_planner (kept->compilation, planner);
  choices = gantry_choices_of (solution->placements, gantry_compilation_module (kept->compilation), kept->compilation->keys);
  choices->fetch_limit = solution->limit_bytes;
  return choices;
}

/* What the solver finds holds when it is run: the memory, and the bits of keeping all, written out. */
static void
check_solved (guint i, guint32 most_unrolled, guint percent, guint allowed, const Reference *reference)
{
  LoopBuilt kept, placed;
  g_autoptr (GantryChoices) choices = NULL;
  guint64 bytes;

  g_test_message ("%s, %s", programs[i].name, most_unrolled == LOOP_ROLLED ? "as a loop" : "written out");
  loop_build_with (&kept, program_text (i), TRUE, NULL, most_unrolled);
  check_bits (reference, &kept);
  choices = solve (&kept, percent, allowed, &bytes);
  g_assert_cmpuint (gantry_plan_memory_bytes (kept.compilation->plan, GANTRY_MEMORY_DEVICE), >, bytes);
  loop_build_chosen (&placed, program_text (i), choices, most_unrolled);
  g_assert_cmpuint (gantry_plan_memory_bytes (placed.compilation->plan, GANTRY_MEMORY_DEVICE), <=, bytes);
  if ((allowed & 1u << GANTRY_PLACEMENT_OFFLOAD) == 0)
    g_assert_cmpuint (placed.compilation->plan->copied_bytes, ==, 0);
  check_bits (reference, &placed);
  loop_clear (&placed);
  loop_clear (&kept);
}

static void
test_solved (void)
{
  static const guint recompute = 1u << GANTRY_PLACEMENT_KEEP | 1u << GANTRY_PLACEMENT_RECOMPUTE, any = recompute | 1u << GANTRY_PLACEMENT_OFFLOAD;
  static const struct
  {
    const char *name;
    guint percent, allowed;
  } solved[] = { { "gru", 80, recompute }, { "wide gru", 60, any }, { "wide lstm", 80, any }, { "layers", 80, any }, { "lstm.gir", 90, any } };

  for (guint s = 0; s < G_N_ELEMENTS (solved); s++)
    {
      Reference reference;
      guint i = find_program (solved[s].name);

      reference_init (&reference, i);
      check_solved (i, LOOP_WRITTEN_OUT, solved[s].percent, solved[s].allowed, &reference);
      check_solved (i, LOOP_ROLLED, solved[s].percent, solved[s].allowed, &reference);
      reference_clear (&reference);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/written-out/separate", test_separate);
  g_test_add_func ("/written-out/limited", test_limited);
  g_test_add_func ("/written-out/rules", test_rules);
  g_test_add_func ("/written-out/all-rules", test_all_rules);
  g_test_add_func ("/written-out/unfused", test_unfused);
  g_test_add_func ("/written-out/solved", test_solved);
  return g_test_run ();
}
