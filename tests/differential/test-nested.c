/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs of control within control, half of them as ONNX files and half as StableHLO text: what the evaluator, the processor's
 * code and the schedules for a GPU give is what a walk over the tree gives, rolled and written out; gradients agree with central
 * differences of that walk. Arms divide integers by zero where they are not taken. */
#include "core/autodiff/autodiff.h"
#include "core/base/error.h"
#include "core/frontends/onnx/onnx.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/graph.h"
#include "core/passes/passes.h"
#include "tests/differential/differential.h"
#include "tests/differential/nested.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

#define PROGRAMS 200u
#define GROUP 20u
/* All carries are tanhs, and no vector is beyond a few units: a rounding grows by no more than the slopes that it meets. */
#define APART 1e-11
/* Nearer than this to its bound, rounding and the step of a difference may decide a comparison. */
#define NEAR 1e-3
#define STEP 1e-5

typedef struct
{
  guint32 seed;
  NestedBlock *block;
  NestedInputs inputs;
  double value[NESTED_WIDTH];
  GantryContext *context;
  GantryModule *module;
  GPtrArray *arguments;
} Program;

static double
draw (GRand *rand)
{
  return g_rand_double_range (rand, -1, 1);
}

static GantryLiteral *
make_literal (GantryContext *context, GantryElementType element, guint rank, const gint64 *dims, const void *from)
{
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, element, rank, dims));
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  memcpy (data, from, (gsize) gantry_type_bytes (type));
  return literal;
}

static GPtrArray *
make_arguments (GantryContext *context, const NestedInputs *inputs)
{
  static const gint64 x[] = { NESTED_WIDTH }, m[] = { NESTED_ROWS, NESTED_WIDTH };
  GPtrArray *arguments = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  g_ptr_array_add (arguments, make_literal (context, GANTRY_F64, 1, x, inputs->x));
  g_ptr_array_add (arguments, make_literal (context, GANTRY_I64, 0, NULL, &inputs->k));
  g_ptr_array_add (arguments, make_literal (context, GANTRY_F64, 2, m, inputs->m));
  return arguments;
}

static GantryModule *
import (GantryContext *context, const NestedBlock *block, gboolean onnx, const gint64 *k)
{
  g_autoptr (GError) error = NULL;
  GantryModule *module;

  if (onnx)
    {
      g_autoptr (GBytes) file = nested_to_onnx (block, k);

      module = gantry_onnx_import_bytes (context, file, "nested.onnx", NULL, NULL, NULL, &error);
    }
  else
    {
      g_autofree char *text = nested_to_stablehlo (block, k);

      module = gantry_xla_import_text (context, text, strlen (text), "nested.mlir", NULL, NULL, NULL, &error);
      if (module == NULL)
        g_printerr ("%s", text);
    }
  g_assert_no_error (error);
  return module;
}

/* Program @number, whose comparisons are not near: of many seeds the first such. */
static Program *
program_new (guint number)
{
  Program *p = g_new0 (Program, 1);

  for (guint round = 0;; round++)
    {
      GRand *rand;

      p->seed = test_seed (1000 * number + round);
      p->block = nested_generate (p->seed);
      rand = g_rand_new_with_seed (p->seed + 1);
      for (guint e = 0; e < NESTED_WIDTH; e++)
        p->inputs.x[e] = draw (rand);
      for (guint e = 0; e < NESTED_ROWS * NESTED_WIDTH; e++)
        p->inputs.m[e] = draw (rand);
      p->inputs.k = g_rand_int_range (rand, 0, 4);
      g_rand_free (rand);
      if (nested_interpret (p->block, &p->inputs, p->value) > NEAR)
        break;
      nested_free (p->block);
    }
  p->context = gantry_context_new ();
  p->module = import (p->context, p->block, number % 2 == 0, NULL);
  p->arguments = make_arguments (p->context, &p->inputs);
  return p;
}

static void
program_free (Program *p)
{
  nested_free (p->block);
  g_ptr_array_unref (p->arguments);
  gantry_module_unref (p->module);
  gantry_context_unref (p->context);
  g_free (p);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Program, program_free)

/* Core operations, loops that can be counted as scans. */
static GantryModule *
lower (const Program *p, GantryModule *imported)
{
  static const GantryPass *const passes[] = { &gantry_pass_legalize, &gantry_pass_inline, &gantry_pass_count };
  const GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  GantryModule *module = gantry_module_ref (imported);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      g_autoptr (GantryModule) before = module;

      module = passes[i]->run (before, &options, NULL, &error);
      if (error != NULL)
        g_error ("program of seed %u: %s", p->seed, error->message);
    }
  return module;
}

static void
check_value (const Program *p, DiffMachine *machine, GantryModule *module, const DiffConfig *config)
{
  g_autofree char *name = diff_config_text (config);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) results = diff_run (machine, module, p->arguments, config, &error);

  if (error != NULL)
    g_error ("program of seed %u, %s: %s", p->seed, name, error->message);
  for (guint e = 0; e < NESTED_WIDTH; e++)
    {
      double value = gantry_literal_get_double (results->pdata[0], e);

      if (!(fabs (value - p->value[e]) <= APART * (1 + fabs (p->value[e]))))
        g_error ("program of seed %u, %s: element %u is %.17g, not %.17g", p->seed, name, e, value, p->value[e]);
    }
}

/* sum (weights * program) at @by steps in @direction. */
static double
moved (const Program *p, const NestedInputs *direction, double by, const double *weights)
{
  NestedInputs at = p->inputs;
  double value[NESTED_WIDTH], sum = 0;

  for (guint e = 0; e < NESTED_WIDTH; e++)
    at.x[e] += by * direction->x[e];
  for (guint e = 0; e < NESTED_ROWS * NESTED_WIDTH; e++)
    at.m[e] += by * direction->m[e];
  nested_interpret (p->block, &at, value);
  for (guint e = 0; e < NESTED_WIDTH; e++)
    sum += weights[e] * value[e];
  return sum;
}

/* The largest slope that the error of a difference is measured by is unknown: an element's own and 1. */
static void
check_gradient (const Program *p, DiffMachine *machine, GantryModule *derived, const DiffConfig *config, GRand *rand)
{
  static const gint64 x[] = { NESTED_WIDTH };
  g_autofree char *name = diff_config_text (config);
  g_autoptr (GPtrArray) arguments = make_arguments (p->context, &p->inputs), results = NULL;
  g_autoptr (GError) error = NULL;
  double weights[NESTED_WIDTH], want, got = 0;
  NestedInputs direction = { 0 };

  for (guint e = 0; e < NESTED_WIDTH; e++)
    weights[e] = draw (rand);
  for (guint e = 0; e < NESTED_WIDTH; e++)
    direction.x[e] = draw (rand);
  for (guint e = 0; e < NESTED_ROWS * NESTED_WIDTH; e++)
    direction.m[e] = draw (rand);
  g_ptr_array_add (arguments, make_literal (p->context, GANTRY_F64, 1, x, weights));
  results = diff_run (machine, derived, arguments, config, &error);
  if (error != NULL)
    g_error ("gradient of program of seed %u, %s: %s", p->seed, name, error->message);
  for (guint e = 0; e < NESTED_WIDTH; e++)
    got += gantry_literal_get_double (results->pdata[0], e) * direction.x[e];
  for (guint e = 0; e < NESTED_ROWS * NESTED_WIDTH; e++)
    got += gantry_literal_get_double (results->pdata[1], e) * direction.m[e];
  want = (moved (p, &direction, STEP, weights) - moved (p, &direction, -STEP, weights)) / (2 * STEP);
  if (!(fabs (got - want) <= 1e-6 * (1 + fabs (want))))
    g_error ("program of seed %u, %s: slope %.12g, central difference %.12g", p->seed, name, got, want);
}

/* With the given number where it decides the trips of a loop: that it cannot be walked back else is said by name. None where StableHLO
 * ends a loop by a sum, without a bound, and where the counter of a loop decides the trips of one within it.
 * Returns: (transfer full) (nullable) */
static GantryModule *
differentiate (const Program *p, gboolean onnx)
{
  static const guint wanted[] = { 0, 2 };
  const GantryGradientOptions options = { .with_respect_to = wanted, .n_with_respect_to = G_N_ELEMENTS (wanted), .seeds = TRUE };

  for (guint known = 0; known < 2; known++)
    {
      g_autoptr (GantryModule) imported = known ? import (p->context, p->block, onnx, &p->inputs.k) : gantry_module_ref (p->module);
      g_autoptr (GantryModule) module = lower (p, imported);
      g_autoptr (GError) error = NULL;
      GantryModule *derived = gantry_differentiate (module, &options, NULL, &error);
      guint n = nested_count (p->block, NESTED_UNTIL) + nested_count (p->block, NESTED_LOOP);

      if (derived != NULL)
        return derived;
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
      if (strstr (error->message, "while: a loop of any number of trips") == NULL || n == 0)
        g_error ("program of seed %u: %s", p->seed, error->message);
    }
  return NULL;
}

/* Returns: whether there is a gradient */
static gboolean
check_gradients (const Program *p, DiffMachine *machine, gboolean onnx, gboolean rolled)
{
  g_autoptr (GantryModule) derived = differentiate (p, onnx);
  GRand *rand;

  if (derived == NULL)
    return FALSE;
  rand = g_rand_new_with_seed (p->seed + 2);
  check_gradient (p, machine, derived, &(DiffConfig){ .back_end = DIFF_EVALUATOR }, rand);
  check_gradient (p, machine, derived, &(DiffConfig){ .back_end = DIFF_OWN, .rolled = rolled }, rand);
  g_rand_free (rand);
  return TRUE;
}

static void
test_group (gconstpointer data)
{
  guint first = GPOINTER_TO_UINT (data), differentiated = 0;
  g_autoptr (DiffMachine) machine = diff_machine_new ();

  for (guint number = first; number < first + GROUP; number++)
    {
      g_autoptr (Program) p = program_new (number);
      g_autoptr (GantryModule) core = lower (p, p->module);
      gboolean rolled = number / 2 % 2 != 0;

      check_value (p, machine, core, &(DiffConfig){ .back_end = DIFF_EVALUATOR });
      check_value (p, machine, p->module, &(DiffConfig){ .back_end = DIFF_OWN, .rolled = rolled });
      check_value (p, machine, p->module, &(DiffConfig){ .back_end = DIFF_GRID, .rolled = !rolled });
      differentiated += check_gradients (p, machine, number % 2 == 0, rolled);
    }
  g_test_message ("%u of %u have a gradient", differentiated, GROUP);
  g_assert_cmpuint (differentiated, >=, GROUP / 4);
}

/* The programs do hold what they are there for. */
static void
test_variety (void)
{
  guint n[NESTED_N_KINDS] = { 0 };

  for (guint number = 0; number < PROGRAMS; number++)
    {
      g_autoptr (NestedBlock) block = nested_generate (test_seed (1000 * number));

      for (guint kind = 0; kind < NESTED_N_KINDS; kind++)
        n[kind] += nested_count (block, (NestedKind) kind) > 0;
    }
  for (guint kind = 0; kind < NESTED_N_KINDS; kind++)
    g_assert_cmpuint (n[kind], >, PROGRAMS / 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nested/variety", test_variety);
  for (guint first = 0; first < PROGRAMS; first += GROUP)
    {
      g_autofree char *path = g_strdup_printf ("/nested/from-%u", first);

      g_test_add_data_func (path, GUINT_TO_POINTER (first), test_group);
    }
  return g_test_run ();
}
