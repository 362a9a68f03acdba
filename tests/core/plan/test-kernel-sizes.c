/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what kernels need: read back as they were written, mistakes told by line; and the hash that tells programs apart. */
#include "core/graph/graph.h"
#include "core/plan/kernel-sizes.h"
#include <string.h>

static void
test_round_trip (void)
{
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_new ("abc", "x86-64 znver3 (LLVM 19, oneDNN 2.6)");
  g_autoptr (GantryKernelSizes) again = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  sizes->code_bytes = 12288;
  sizes->conditions = g_strdup ("AuthenticAMD, 2 threads, no library");
  gantry_kernel_sizes_add (sizes, 3, 100, 0);
  gantry_kernel_sizes_add (sizes, 4, 0, 0); /* needs nothing */
  gantry_kernel_sizes_add (sizes, 9, 0, 65);
  gantry_kernel_sizes_add (sizes, 4000000000u, 1, G_GUINT64_CONSTANT (1) << 40);
  text = gantry_kernel_sizes_to_text (sizes);
  again = gantry_kernel_sizes_parse (text, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_kernel_sizes_equal (sizes, again));
  g_assert_cmpuint (again->entries->len, ==, 3);
  g_assert_cmpuint (gantry_kernel_sizes_workspace (again, 3), ==, 100);
  g_assert_cmpuint (gantry_kernel_sizes_workspace (again, 4), ==, 0);
  g_assert_cmpuint (gantry_kernel_sizes_packed (again), ==, 128 + (G_GUINT64_CONSTANT (1) << 40));
  gantry_kernel_sizes_unref (g_steal_pointer (&again));
  sizes->code_bytes++;
  again = gantry_kernel_sizes_parse (text, &error);
  g_assert_false (gantry_kernel_sizes_equal (sizes, again));
  /* That there is more than was counted stays known. */
  gantry_kernel_sizes_unref (g_steal_pointer (&again));
  g_free (g_steal_pointer (&text));
  sizes->at_least = TRUE;
  text = gantry_kernel_sizes_to_text (sizes);
  again = gantry_kernel_sizes_parse (text, &error);
  g_assert_no_error (error);
  g_assert_true (again->at_least && gantry_kernel_sizes_equal (sizes, again));
}

/* Whatever changes the kernels changes the text, but nothing of the processor changes those for a GPU. */
static void
test_conditions (void)
{
  /* clang-format off */
  const GantryKernelConditions all[] = {
    { 0 }, { .n_threads = g_get_num_processors () + 1 }, { .no_library = TRUE }, { .quick_compile = TRUE }, { .layout_block = 8 },
    { .instructions = "sse4" }, { .device = "grid" }, { .device = "cuda" }, { .device = "cuda", .allow_tf32 = TRUE },
  };
  /* clang-format on */
  const GantryKernelConditions alike[][2] = { { { 0 }, { .n_threads = g_get_num_processors () } },
                                              { { .device = "cuda" }, { .device = "cuda", .n_threads = 3, .no_library = TRUE } } };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    for (guint j = 0; j < i; j++)
      {
        g_autofree char *a = gantry_kernel_conditions_text (&all[i]), *b = gantry_kernel_conditions_text (&all[j]);

        g_assert_cmpstr (a, !=, b);
        g_assert_null (strchr (a, '\n'));
      }
  for (guint i = 0; i < G_N_ELEMENTS (alike); i++)
    {
      g_autofree char *a = gantry_kernel_conditions_text (&alike[i][0]), *b = gantry_kernel_conditions_text (&alike[i][1]);

      g_assert_cmpstr (a, ==, b);
    }
}

static void
test_mistakes (void)
{
  /* clang-format off */
  static const struct { const char *text, *said; } wrong[] = {
    { "", "first line" }, { "something else\n", "first line" }, { "gantry kernel sizes 4\nwhat\n", "line 2" },
    { "gantry kernel sizes 4\n1 2\n", "line 2" }, { "gantry kernel sizes 4\n1 2 3 4\n", "line 2" },
    { "gantry kernel sizes 4\n-1 2 3\n", "line 2" }, { "gantry kernel sizes 4\n2 1 1\n2 1 1\n", "line 3" },
    { "gantry kernel sizes 4\n1 99999999999999999999 3\n", "line 2" }, { "gantry kernel sizes 4\ncode much\n", "line 2" },
    { "gantry kernel sizes 4\n4294967295 1 1\n", "line 2" },
  };
  /* clang-format on */

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GString) text = g_string_new (wrong[i].text);
      g_autoptr (GError) error = NULL;

      gantry_kernel_sizes_append_checksum (text);
      g_assert_null (gantry_kernel_sizes_parse (text->str, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, wrong[i].said));
    }
}

/* Whatever is cut off or changed, the table is not believed. */
static void
test_damaged (void)
{
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_new ("abc", "x86-64");
  g_autofree char *text = NULL;

  sizes->code_bytes = 8192;
  gantry_kernel_sizes_add (sizes, 3, 100, 0);
  text = gantry_kernel_sizes_to_text (sizes);
  for (gsize i = 0; text[i] != '\0'; i++)
    {
      g_autofree char *cut = g_strndup (text, i), *changed = g_strdup (text);

      changed[i] = changed[i] == '1' ? '2' : '1';
      g_assert_null (gantry_kernel_sizes_parse (cut, NULL));
      g_assert_null (gantry_kernel_sizes_parse (changed, NULL));
    }
}

static char *
content_of (const char *text)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "test", &error);

  g_assert_no_error (error);
  return gantry_module_content (module);
}

/* What a program computes tells it apart; how its values are called and numbered does not. */
static void
test_content (void)
{
  static const char one[] = "module \"a\" { func @main #1 (%1: f32[4,8]) -> (%3) { %2 = negate(%1): f32[4,8] "
                            "%3 = reduce(%2) {kind = \"add\", dimensions = [1]}: f32[4] } }";
  static const char named[] = "module \"b\" { func @other #7 (%11 \"x\": f32[4,8]) -> (%30) { %20 \"y\" = negate(%11): f32[4,8] "
                              "scope(\"s\") %30 = reduce(%20) {kind = \"add\", dimensions = [1]}: f32[4] } }";
  static const char *const others[] = {
    "module \"a\" { func @main #1 (%1: f32[4,8]) -> (%3) { %2 = tanh(%1): f32[4,8] "
    "%3 = reduce(%2) {kind = \"add\", dimensions = [1]}: f32[4] } }",
    "module \"a\" { func @main #1 (%1: f32[4,8]) -> (%3) { %2 = negate(%1): f32[4,8] "
    "%3 = reduce(%2) {kind = \"max\", dimensions = [1]}: f32[4] } }",
    "module \"a\" { func @main #1 (%1: f32[4,8]) -> (%3) { %2 = negate(%1): f32[4,8] "
    "%3 = reduce(%1) {kind = \"add\", dimensions = [1]}: f32[4] } }",
    "module \"a\" { func @main #1 (%1: f32[4,8]) -> (%2) { %2 = negate(%1): f32[4,8] "
    "%3 = reduce(%2) {kind = \"add\", dimensions = [1]}: f32[4] } }",
    "module \"a\" { func @main #1 (%1: f32[4,9]) -> (%3) { %2 = negate(%1): f32[4,9] "
    "%3 = reduce(%2) {kind = \"add\", dimensions = [1]}: f32[4] } }",
  };
  g_autofree char *content = content_of (one), *same = content_of (named);

  g_assert_cmpstr (content, ==, same);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autofree char *other = content_of (others[i]);

      g_assert_cmpstr (content, !=, other);
    }
}

/* As people read it: what the first were made with and the others not. */
static void
test_difference (void)
{
  static const char *const usual = "AuthenticAMD 1, 2 threads, library, instructions native, optimized";
  static const struct
  {
    const char *conditions, *difference;
  } cases[] = {
    { "AuthenticAMD 1, 2 threads, library, instructions native, optimized", NULL },
    { "AuthenticAMD 1, 1 thread, no library, instructions native, optimized", "1 thread, no library" },
    { "AuthenticAMD 2, 2 threads, library, instructions native, optimized", "another processor" },
    { "AuthenticAMD 1, 2 threads, library, instructions sse4, quick", "instructions sse4, quick" },
    { "AuthenticAMD 1, 2 threads, library, instructions native, optimized, grid", "grid" },
    { "AuthenticAMD 1, 2 threads, library, optimized", "without instructions native" },
    { "AuthenticAMD 1, 2 threads, library, optimized, instructions native", "AuthenticAMD 1, 2 threads, library, optimized, instructions native" },
    { "AuthenticAMD 1, 2 threads, library, library, instructions native, optimized",
      "AuthenticAMD 1, 2 threads, library, library, instructions native, optimized" },
    { NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *difference = gantry_kernel_conditions_difference (cases[i].conditions, usual);

      g_assert_cmpstr (difference, ==, cases[i].difference);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/kernel-sizes/round-trip", test_round_trip);
  g_test_add_func ("/ir/kernel-sizes/conditions", test_conditions);
  g_test_add_func ("/ir/kernel-sizes/mistakes", test_mistakes);
  g_test_add_func ("/ir/kernel-sizes/damaged", test_damaged);
  g_test_add_func ("/ir/kernel-sizes/content", test_content);
  g_test_add_func ("/ir/kernel-sizes/difference", test_difference);
  return g_test_run ();
}
