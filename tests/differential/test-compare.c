/* SPDX-License-Identifier: Apache-2.0 */
/* That a difference is found. Results made by hand against bounds made by hand; then back ends that give a wrong value, refuse, break
 * or end the process, which stand here in place of run.c: what one program's process and what many programs say of each. */
#include "core/base/error.h"
#include "core/graph/context.h"
#include "core/graph/text.h"
#include "tests/differential/differential.h"
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define ELEMENTS 4
#define BOUND 0.001

/* What run.c has elsewhere. A configuration's level says what becomes of the program. */

typedef enum
{
  STAND_IN_RIGHT,
  STAND_IN_WRONG,
  STAND_IN_REFUSED,    /* as a program may be */
  STAND_IN_REFUSED_SO, /* for no reason that is known */
  STAND_IN_BROKEN,
  STAND_IN_KILLED,
  STAND_IN_EXITS,
} StandIn;

DiffMachine *
diff_machine_new (void)
{
  return g_new0 (DiffMachine, 1);
}

void
diff_machine_free (DiffMachine *machine)
{
  g_free (machine);
}

/* The oracle's own values, in the program's types; @wrong: other ones. */
static GPtrArray *
right_results (const GantryModule *module, const GPtrArray *inputs, gboolean wrong)
{
  g_autoptr (GPtrArray) expected = diff_oracle (module, inputs, NULL);
  GPtrArray *results = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  for (guint i = 0; i < expected->len; i++)
    {
      const DiffValue *value = g_ptr_array_index (expected, i);
      gint64 n = gantry_type_elements (value->type);
      gsize size = gantry_element_size (value->type->element);
      guint8 *data;
      GantryLiteral *literal = gantry_literal_new_zeroed (value->type, &data);

      for (gint64 k = 0; k < n; k++)
        gantry_element_write_double (value->type->element, data + (gsize) k * size, wrong ? 77 : gantry_literal_get_double (value->value, k));
      g_ptr_array_add (results, literal);
    }
  return results;
}

GPtrArray *
diff_run (DiffMachine *machine G_GNUC_UNUSED, GantryModule *module, const GPtrArray *inputs, const DiffConfig *config, GError **error)
{
  switch ((StandIn) config->optimization)
    {
    case STAND_IN_REFUSED: g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "f16 needs a processor with F16C"); return NULL;
    case STAND_IN_REFUSED_SO: g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "no code for it"); return NULL;
    case STAND_IN_BROKEN: g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "no plan for it"); return NULL;
    case STAND_IN_KILLED: kill (getpid (), SIGKILL); return NULL;
    case STAND_IN_EXITS: _exit (77);
    case STAND_IN_RIGHT:
    case STAND_IN_WRONG:
    default: return right_results (module, inputs, config->optimization == STAND_IN_WRONG);
    }
}

/* Values */

typedef struct
{
  const char *name;
  GantryElementType element;
  double error; /* of each element; 0: nothing may differ */
  double want[ELEMENTS], got[ELEMENTS];
  const char *difference; /* NULL: none; else what it begins with */
} Case;

static const Case cases[] = {
  { "equal", GANTRY_F32, BOUND, { 1, 2, 3, 4 }, { 1, 2, 3, 4 }, NULL },
  { "off by 1.5 bounds", GANTRY_F32, BOUND, { 1, 2, 3, 4 }, { 1, 2, 3, 4 + 1.5 * BOUND }, NULL },
  { "off by 3 bounds", GANTRY_F32, BOUND, { 1, 2, 3, 4 }, { 1, 2, 3, 4 + 3 * BOUND }, "element 3" },
  { "off by 3 bounds downwards", GANTRY_F32, BOUND, { 1, 2, 3, 4 }, { 1 - 3 * BOUND, 2, 3, 4 }, "element 0" },
  { "off by 3 bounds that say little", GANTRY_F32, 1, { 1, 2, 3, 4 }, { 1, 5, 3, 4 }, "element 1" },
  { "no number", GANTRY_F32, BOUND, { 1, 2, 3, 4 }, { 1, NAN, 3, 4 }, "element 1" },
  { "no number where nothing may differ", GANTRY_F32, 0, { 1, 2, 3, 4 }, { 1, NAN, 3, 4 }, "element 1" },
  { "a number for none", GANTRY_F32, BOUND, { 1, NAN, 3, 4 }, { 1, 2, 3, 4 }, "element 1" },
  { "a number for none where nothing may differ", GANTRY_F32, 0, { 1, NAN, 3, 4 }, { 1, 2, 3, 4 }, "element 1" },
  { "neither is a number", GANTRY_F32, BOUND, { 1, NAN, 3, 4 }, { 1, NAN, 3, 4 }, NULL },
  { "infinite", GANTRY_F32, BOUND, { 1, 2, INFINITY, 4 }, { 1, 2, INFINITY, 4 }, NULL },
  { "infinite of the other sign", GANTRY_F32, BOUND, { 1, 2, INFINITY, 4 }, { 1, 2, -INFINITY, 4 }, "element 2" },
  { "infinite for a number", GANTRY_F32, BOUND, { 1, 2, 3, 4 }, { 1, 2, INFINITY, 4 }, "element 2" },
  { "off where nothing may differ", GANTRY_F64, 0, { 1, 2, 3, 4 }, { 1, 2, 3 + 0x1p-50, 4 }, "element 2" },
  { "off where anything may come out", GANTRY_F32, INFINITY, { 1, 2, 3, 4 }, { 9, NAN, INFINITY, -4 }, NULL },
  { "integers", GANTRY_I64, 0, { 1, -2, 3, 4 }, { 1, -2, 3, 4 }, NULL },
  { "an integer", GANTRY_I64, 0, { 1, -2, 3, 4 }, { 1, -2, 3, 5 }, "element 3: 5, expected 4" },
  { "a boolean", GANTRY_BOOL, 0, { 1, 0, 0, 1 }, { 1, 0, 1, 1 }, "element 2" },
};

static GantryLiteral *
make_literal (GantryContext *context, GantryElementType element, gint64 n, const double *from)
{
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, element, 1, &n));
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  for (gint64 i = 0; i < n; i++)
    if (gantry_element_is_float (element))
      gantry_element_write_double (element, data + (gsize) i * gantry_element_size (element), from[i]);
    else
      gantry_element_write_int (element, data + (gsize) i * gantry_element_size (element), (gint64) from[i]);
  return literal;
}

static DiffValue *
make_value (GantryContext *context, const Case *c)
{
  DiffValue *value = g_new0 (DiffValue, 1);

  /* As the oracle has it: floats as f64. */
  value->value = make_literal (context, gantry_element_is_float (c->element) ? GANTRY_F64 : c->element, ELEMENTS, c->want);
  value->type = gantry_context_type (context, gantry_context_tensor (context, c->element, 1, (gint64[]){ ELEMENTS }));
  if (c->error > 0)
    {
      value->error = g_new (double, ELEMENTS);
      for (guint i = 0; i < ELEMENTS; i++)
        value->error[i] = c->error;
    }
  return value;
}

/* The case alone, then behind one that is equal. */
static void
check_case (GantryContext *context, const Case *c)
{
  for (guint before = 0; before < 2; before++)
    {
      g_autoptr (GPtrArray) expected = g_ptr_array_new_with_free_func (diff_value_free);
      g_autoptr (GPtrArray) got = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
      g_autofree char *difference = NULL, *begin = g_strdup_printf ("result %u, %s", before, c->difference);
      DiffCount count = { 0 };

      if (before == 1)
        {
          g_ptr_array_add (expected, make_value (context, &cases[0]));
          g_ptr_array_add (got, make_literal (context, cases[0].element, ELEMENTS, cases[0].got));
        }
      g_ptr_array_add (expected, make_value (context, c));
      g_ptr_array_add (got, make_literal (context, c->element, ELEMENTS, c->got));
      difference = diff_compare (expected, got, &count);
      if (c->difference == NULL ? difference != NULL : difference == NULL || !g_str_has_prefix (difference, begin))
        g_error ("%s: %s", c->name, difference != NULL ? difference : "no difference");
      if (difference == NULL)
        g_assert_cmpuint (count.exact + count.near + count.loose + count.open, ==, ELEMENTS * (before + 1));
    }
}

static void
test_values (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (context, &cases[i]);
}

static void
test_shapes (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GPtrArray) expected = g_ptr_array_new_with_free_func (diff_value_free);
  g_autoptr (GPtrArray) got = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autofree char *difference = NULL;
  DiffCount count = { 0 };

  g_ptr_array_add (expected, make_value (context, &cases[0]));
  g_ptr_array_add (got, make_literal (context, cases[0].element, ELEMENTS - 1, cases[0].got));
  difference = diff_compare (expected, got, &count);
  g_assert_cmpstr (difference, ==, "result 0 is of another type");
}

/* Processes */

static void
test_attempt (void)
{
  static const struct
  {
    StandIn stand_in;
    DiffOutcome outcome;
    const char *text;
  } ends[] = {
    { STAND_IN_RIGHT, DIFF_SAME, "" },
    { STAND_IN_WRONG, DIFF_DIFFERS, "result 0, element 0: 77, expected" },
    { STAND_IN_REFUSED, DIFF_REFUSED, "f16 needs a processor" },
    { STAND_IN_REFUSED_SO, DIFF_REFUSED, "no code for it" },
    { STAND_IN_BROKEN, DIFF_BROKEN, "no plan for it" },
    { STAND_IN_KILLED, DIFF_FELL, "the process ended by signal 9" },
    { STAND_IN_EXITS, DIFF_FELL, "the process ended" },
  };
  static const char program[] = "module \"two\" {\n"
                                "  func @main #1 (%1 \"x\": f32[4], %2 \"y\": f32[4]) -> (%3, %4) {\n"
                                "    %3 = add(%1, %2): f32[4]\n"
                                "    %4 = multiply(%1, %2): f32[4]\n"
                                "  }\n}\n";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, program, -1, "two", &error);

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      DiffConfig config = { .back_end = DIFF_OWN, .optimization = ends[i].stand_in };
      g_autofree char *text = NULL;

      g_assert_cmpint (diff_attempt (module, 1, &config, &text), ==, ends[i].outcome);
      if (!g_str_has_prefix (text, ends[i].text))
        g_error ("%s is said of what is %s", text, ends[i].text);
    }
}

/* Whatever becomes of one program, the next ones run. */
static void
test_session (void)
{
  static const struct
  {
    StandIn stand_in;
    guint64 passed, failed, skipped;
  } ends[] = {
    { STAND_IN_RIGHT, 3, 0, 0 },  { STAND_IN_WRONG, 0, 3, 0 },  { STAND_IN_REFUSED, 0, 0, 3 }, { STAND_IN_REFUSED_SO, 0, 3, 0 },
    { STAND_IN_BROKEN, 0, 3, 0 }, { STAND_IN_KILLED, 0, 3, 0 }, { STAND_IN_EXITS, 0, 3, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      DiffConfig config = { .back_end = DIFF_GRID, .optimization = ends[i].stand_in };
      DiffSession session = { .seed = 1, .count = 3, .config = &config };
      const DiffTally *tally;
      DiffTotal total;

      diff_session_run (&session, &total);
      tally = &total.back_ends[DIFF_GRID];
      g_assert_cmpuint (tally->passed, ==, ends[i].passed);
      g_assert_cmpuint (tally->failed, ==, ends[i].failed);
      g_assert_cmpuint (tally->skipped, ==, ends[i].skipped);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/differential/compare/values", test_values);
  g_test_add_func ("/differential/compare/shapes", test_shapes);
  g_test_add_func ("/differential/compare/attempt", test_attempt);
  g_test_add_func ("/differential/compare/session", test_session);
  return g_test_run ();
}
