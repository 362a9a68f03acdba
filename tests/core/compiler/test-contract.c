/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of passes: what is said to hold after each pass does hold, of programs and their training steps, and what does not is
 * found. */
#include "core/compiler/compiler.h"
#include "core/graph/text.h"
#include "core/passes/passes.h"
#include "core/passes/properties.h"

static const char *const programs[] = { "convnet", "layers-tiny", "layers-unrolled-tiny", "lstm", "mlp", "optimizer-8", "transformer-tiny" };

static void
check (const char *program, gboolean train)
{
  g_autofree char *name = g_strconcat (program, ".gir", NULL);
  g_autofree char *path = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "data", "programs", name, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, 1, NULL, &error);
  g_auto (GantryCompileSettings) settings = { 0 };
  g_autoptr (GantryCompilation) compilation = NULL;

  g_assert_no_error (error);
  gantry_compile_settings_init (&settings);
  settings.train = train;
  compilation = gantry_compile (model, &settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (compilation->snapshots[0].properties, ==, 0);
  for (guint i = 1; i < compilation->n_snapshots; i++)
    {
      const GantrySnapshot *snapshot = &compilation->snapshots[i];

      if (!gantry_properties_hold (snapshot->module, (GantryProperties) snapshot->properties, &error))
        g_error ("%s%s after '%s': %s", program, train ? " (step)" : "", snapshot->pass, error->message);
    }
  if (compilation->refusal == NULL)
    g_assert_cmpuint (compilation->snapshots[compilation->n_snapshots - 1].properties & (GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_LIVE), ==,
                      GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_LIVE);
}

static void
test_programs (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      check (programs[i], FALSE);
      check (programs[i], TRUE);
    }
}

static GantryModule *
parse (GantryContext *context, const char *body)
{
  g_autofree char *text = g_strdup_printf ("module \"t\" { func @main #1 (%%1 \"x\": f32[2]) -> (%%9) { %s } }", body);
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "t", &error);

  g_assert_no_error (error);
  return module;
}

static void
test_found (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) twice = parse (context, "%2 = negate(%1): f32[2] %3 = negate(%1): f32[2] %9 = add(%2, %3): f32[2]");
  g_autoptr (GantryModule) dead = parse (context, "%2 = tanh(%1): f32[2] %9 = negate(%1): f32[2]");
  g_autoptr (GantryModule) foreign = parse (context, "%9 = \"onnx.Neg\"(%1): f32[2]");
  g_autoptr (GError) error = NULL;

  g_assert_true (gantry_properties_hold (twice, GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_LIVE, &error));
  g_assert_false (gantry_properties_hold (twice, GANTRY_PROPERTY_UNIQUE, NULL));
  g_assert_true (gantry_properties_hold (dead, GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_UNIQUE, &error));
  g_assert_false (gantry_properties_hold (dead, GANTRY_PROPERTY_LIVE, NULL));
  g_assert_no_error (error);
  g_assert_false (gantry_properties_hold (foreign, GANTRY_PROPERTY_CORE, &error));
  g_assert_nonnull (strstr (error->message, "onnx.Neg"));
}

static void
test_after (void)
{
  const GantryPass pass = { .gives = GANTRY_PROPERTY_LIVE, .keeps = GANTRY_PROPERTY_CORE };
  const GantryProperties held = GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_UNIQUE;
  g_autofree char *text = gantry_properties_to_text (held), *none = gantry_properties_to_text (0);

  g_assert_cmpuint (gantry_properties_after (held, &pass, TRUE), ==, GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_LIVE);
  g_assert_cmpuint (gantry_properties_after (held, &pass, FALSE), ==, held | GANTRY_PROPERTY_LIVE);
  g_assert_cmpstr (text, ==, "core operations only, no common subexpressions");
  g_assert_cmpstr (none, ==, "nothing");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/contract/programs", test_programs);
  g_test_add_func ("/contract/found", test_found);
  g_test_add_func ("/contract/after", test_after);
  return g_test_run ();
}
