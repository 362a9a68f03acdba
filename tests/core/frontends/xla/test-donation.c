/* SPDX-License-Identifier: Apache-2.0 */
/* What a text says of donation is what the memory plan does: the result lies in its argument's bytes. */
#include "core/frontends/xla/xla.h"
#include "core/graph/graph.h"
#include "core/planner/memory-plan.h"
#include "core/passes/passes.h"
#include "core/plan/placement.h"
#include "core/plan/plan.h"
#include <string.h>

#define VECTOR "tensor<1024xf32>"
#define STEP \
  "    %0 = stablehlo.multiply %g, %g : " VECTOR "\n    %1 = stablehlo.subtract %p, %0 : " VECTOR "\n" \
  "    return %0, %1 : " VECTOR ", " VECTOR "\n  }\n}\n"
#define STABLEHLO(of_p, of_g) "module {\n  func.func public @main(%p: " VECTOR of_p ", %g: " VECTOR of_g ") -> (" VECTOR ", " VECTOR ") {\n" STEP
#define HLO(head) \
  "HloModule m" head "\n\nENTRY main {\n" \
  "  p = f32[1024]{0} parameter(0)\n  g = f32[1024]{0} parameter(1)\n  m = f32[1024]{0} multiply(g, g)\n" \
  "  s = f32[1024]{0} subtract(p, m)\n  ROOT t = (f32[1024]{0}, f32[1024]{0}) tuple(m, s)\n}\n"
#define NESTED(head) \
  "HloModule m" head "\n\nENTRY main {\n" \
  "  p = (f32[4]{0}, (f32[2]{0}, f32[1024]{0})) parameter(0)\n  in = (f32[2]{0}, f32[1024]{0}) get-tuple-element(p), index=1\n" \
  "  x = f32[1024]{0} get-tuple-element(in), index=1\n  n = f32[1024]{0} negate(x)\n  y = f32[4]{0} get-tuple-element(p), index=0\n" \
  "  z = f32[4]{0} negate(y)\n  i = (f32[1024]{0}) tuple(n)\n  ROOT t = (f32[4]{0}, (f32[1024]{0})) tuple(z, i)\n}\n"

static GantryModule *
read_text (GantryContext *context, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;
  GantryModule *core;

  module = gantry_xla_import_text (context, text, strlen (text), *text == 'H' ? "d.hlo" : "d.mlir", NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  core = gantry_pass_legalize.run (module, NULL, NULL, &error);
  g_assert_no_error (error);
  return core;
}

/* Parameter @i is donated to @expected[i]; -1 for none. */
static void
test_aliases (void)
{
  static const struct
  {
    const char *text;
    gint expected[3];
  } cases[] = {
    { STABLEHLO ("", ""), { -1, -1 } },
    { STABLEHLO (" {tf.aliasing_output = 1 : i32}", ""), { 1, -1 } },
    { STABLEHLO (" {tf.aliasing_output = 1 : i32}", " {tf.aliasing_output = 1 : i32}"), { 1, -1 } },
    { STABLEHLO (" {tf.aliasing_output = 9 : i32}", ""), { -1, -1 } },
    { STABLEHLO (" {jax.buffer_donor = true}", ""), { 0, -1 } },
    { STABLEHLO (" {jax.buffer_donor = true}", " {tf.aliasing_output = 0 : i32}"), { 1, 0 } },
    { STABLEHLO (" {mhlo.memory_kind = \"pinned_host\", jax.buffer_donor = true}", ""), { -1, -1 } },
    { STABLEHLO (" {mhlo.memory_kind = \"pinned_host\", tf.aliasing_output = 1 : i32}", ""), { -1, -1 } },
    /* What takes any result takes one of its very type. */
    { "module {\n  func.func public @main(%p: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<2x2xf32> {\n"
      "    %r = stablehlo.reshape %p : (tensor<4xf32>) -> tensor<2x2xf32>\n    return %r : tensor<2x2xf32>\n  }\n}\n",
      { -1 } },
    { HLO (", input_output_alias={ {1}: (0, {}, may-alias), {0}: (1, {}, must-alias) }"), { 1, 0 } },
    { HLO (", input_output_alias={ {1}: (7, {}, may-alias) }"), { -1, -1 } },
    { HLO (", buffer_donor={ (1, {}) }"), { -1, 0 } },
    { HLO (", input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (0, {}), (1, {}) }"), { 0, 1 } },
    { HLO (", input_output_alias={ {0}: (), {1} }"), { -1, -1 } },
    { NESTED (", input_output_alias={ {1,0}: (0, {1,1}, may-alias) }"), { -1, -1, 1 } },
    { NESTED (", input_output_alias={ {1}: (0, {1}, may-alias) }, buffer_donor={ (0, {0}) }"), { 0, -1, -1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = read_text (context, cases[i].text);
      const GantryFunction *entry = gantry_module_entry (module);

      g_test_message ("case %u", i);
      for (guint p = 0; p < entry->n_params; p++)
        g_assert_cmpint (gantry_parameter_alias (module, &module->nodes[entry->first_node + p]), ==, cases[i].expected[p]);
    }
}

static guint64
planned (const char *text, guint64 *alias)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = read_text (context, text);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlan) plan = gantry_memory_plan (module, &(GantryPlanOptions){ .flags = GANTRY_PLAN_RESIDENT }, NULL, &error);

  g_assert_no_error (error);
  *alias = plan->alias_bytes[GANTRY_MEMORY_DEVICE];
  return plan->arena_bytes[GANTRY_MEMORY_DEVICE];
}

static void
test_plan (void)
{
  static const char *const kept[] = { STABLEHLO ("", ""), HLO ("") };
  static const char *const donated[] = { STABLEHLO (" {tf.aliasing_output = 1 : i32}", ""), HLO (", input_output_alias={ {1}: (0, {}, may-alias) }") };

  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    {
      guint64 none, all, before = planned (kept[i], &none), after = planned (donated[i], &all);

      g_assert_cmpuint (none, ==, 0);
      g_assert_cmpuint (all, ==, 4096);
      g_assert_cmpuint (before, ==, 4 * 4096);
      g_assert_cmpuint (after, ==, 3 * 4096);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/xla/donation/aliases", test_aliases);
  g_test_add_func ("/xla/donation/plan", test_plan);
  return g_test_run ();
}
