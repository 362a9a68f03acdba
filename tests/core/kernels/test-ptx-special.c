/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions in PTX: which of them are instructions of the unit for special functions, and how long what is around them is. */
#include "core/graph/text.h"
#include "core/kernels/kernels.h"
#include <string.h>

/* GELU after a product, softmax, the same functions of f32, and a sum and a difference of bf16 */
static const char text[] = "module \"m\" {\n"
                           "  func @main #1 (%1: bf16[256,64], %2: bf16[64,256], %3: bf16[64,128], %4: f32[64,256], %5: bf16[4096,1024],"
                           " %6: bf16[4096,1024], %7: bf16[256,256]) -> (%10, %11, %12, %13, %14) {\n"
                           "    %10 = fusion(%1, %2) {body = @gelu #2}: bf16[256,256]\n"
                           "    %11 = fusion(%3) {body = @softmax #3}: bf16[64,128]\n"
                           "    %12 = fusion(%4) {body = @chain #4}: f32[64,256]\n"
                           "    %13 = subtract(%5, %6): bf16[4096,1024]\n"
                           "    %14 = fusion(%1, %2, %7) {body = @residual #5}: bf16[256,256]\n"
                           "  }\n"
                           "  func @gelu #2 (%20: bf16[256,64], %21: bf16[64,256]) -> (%27) {\n"
                           "    %22 = dot_general(%20, %21) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: bf16[256,256]\n"
                           "    %23 = multiply(%22, %22): bf16[256,256]\n"
                           "    %24 = multiply(%23, %22): bf16[256,256]\n"
                           "    %25 = add(%22, %24): bf16[256,256]\n"
                           "    %26 = tanh(%25): bf16[256,256]\n"
                           "    %27 = multiply(%22, %26): bf16[256,256]\n"
                           "  }\n"
                           "  func @softmax #3 (%30: bf16[64,128]) -> (%37) {\n"
                           "    %31 = reduce(%30) {dimensions = [1], kind = \"max\"}: bf16[64]\n"
                           "    %32 = broadcast_in_dim(%31) {shape = [64,128], broadcast_dimensions = [0]}: bf16[64,128]\n"
                           "    %33 = subtract(%30, %32): bf16[64,128]\n"
                           "    %34 = exponential(%33): bf16[64,128]\n"
                           "    %35 = reduce(%34) {dimensions = [1], kind = \"add\"}: bf16[64]\n"
                           "    %36 = broadcast_in_dim(%35) {shape = [64,128], broadcast_dimensions = [0]}: bf16[64,128]\n"
                           "    %37 = divide(%34, %36): bf16[64,128]\n"
                           "  }\n"
                           "  func @chain #4 (%40: f32[64,256]) -> (%44) {\n"
                           "    %41 = exponential(%40): f32[64,256]\n"
                           "    %42 = rsqrt(%41): f32[64,256]\n"
                           "    %43 = tanh(%42): f32[64,256]\n"
                           "    %44 = logistic(%43): f32[64,256]\n"
                           "  }\n"
                           "  func @residual #5 (%50: bf16[256,64], %51: bf16[64,256], %52: bf16[256,256]) -> (%54) {\n"
                           "    %53 = dot_general(%50, %51) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: bf16[256,256]\n"
                           "    %54 = add(%53, %52): bf16[256,256]\n"
                           "  }\n"
                           "}\n";

static guint
times_of (const char *assembly, const char *what)
{
  guint n = 0;

  for (const char *at = strstr (assembly, what); at != NULL; at = strstr (at + 1, what))
    n++;
  return n;
}

/* Instructions: the lines that a tab begins, but for directives. */
static guint
instructions_of (const char *assembly)
{
  return times_of (assembly, "\n\t") - times_of (assembly, "\n\t.") - times_of (assembly, "\n\t//");
}

static GantryKernelSet *
compile (GantryModule *module, const char *arch)
{
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  GantryKernelSet *set;

  options.target = GANTRY_CODE_CUDA;
  options.arch = arch;
  options.keep_texts = TRUE;
  set = gantry_kernels_compile (module, &options, NULL, &error);
  g_assert_no_error (error);
  return set;
}

static void
check (const GantryKernelSet *set, guint32 node, const char *const *has, const char *const *has_not)
{
  const char *assembly = gantry_kernel_set_find (set, node)->assembly;

  for (guint i = 0; has[i] != NULL; i++)
    if (strstr (assembly, has[i]) == NULL)
      g_error ("%u has no %s:\n%s", node, has[i], assembly);
  for (guint i = 0; has_not[i] != NULL; i++)
    if (strstr (assembly, has_not[i]) != NULL)
      g_error ("%u has %s:\n%s", node, has_not[i], assembly);
}

/* @most instructions for each @what, of which an element has one */
static void
check_length (const GantryKernelSet *set, guint32 node, const char *what, guint most)
{
  const char *assembly = gantry_kernel_set_find (set, node)->assembly;
  guint n = times_of (assembly, what), total = instructions_of (assembly);

  g_test_message ("%u: %u instructions, %u elements", node, total, n);
  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (total, <=, n * most);
}

static void
test_unit (void)
{
  static const char *const slow[] = { "div.rn", "sqrt.rn", "cvt.rn.bf16.f32", "call", NULL };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "special", &error);
  g_autoptr (GantryKernelSet) set = NULL;

  g_assert_no_error (error);
  set = compile (module, "sm_90a");
  check (set, 10, (const char *[]){ "tanh.approx.f32", "cvt.rn.bf16x2.f32", NULL }, slow);
  check (set, 11, (const char *[]){ "ex2.approx.ftz.f32", "rcp.approx.ftz.f32", "max.NaN.f32", "cvt.rn.bf16x2.f32", NULL }, slow);
  check (set, 12, (const char *[]){ "ex2.approx.ftz.f32", "rcp.approx.ftz.f32", "rsqrt.approx.f32", NULL },
         (const char *[]){ "div.rn", "sqrt.rn", "tanh.approx", "call", NULL });
  check_length (set, 10, "tanh.approx.f32", 40);
  check_length (set, 11, "ex2.approx.ftz.f32", 25);
  check_length (set, 12, "rsqrt.approx.f32", 90); /* of four functions */
}

/* What is stored as bf16 and made of two bf16 is made in pairs. */
static void
test_pairs (void)
{
  static const char *const single[] = { "add.rn.f32", "sub.rn.f32", "cvt.f32.bf16", "cvt.rn.bf16.f32", NULL };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "special", &error);

  g_assert_no_error (error);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryKernelSet) set = compile (module, i == 0 ? "sm_80" : "sm_90a");

      check (set, 13, (const char *[]){ "fma.rn.bf16x2", NULL }, single);
      g_assert_null (strstr (gantry_kernel_set_find (set, 13)->assembly, "cvt.rn"));
      check (set, 14, (const char *[]){ "fma.rn.bf16x2", "cvt.rn.bf16x2.f32", NULL }, single);
    }
}

/* Pairs by one instruction of a product and a sum: with which numbers, and where 3 and 0.1 are factors, of which the second is no bf16, or
 * 3 is what is subtracted. */
static const char pairs[] = "module \"m\" {\n"
                            "  func @main #1 (%1: bf16[4096,1024], %2: bf16[4096,1024]) -> (%3, %4, %5, %6, %7, %8) {\n"
                            "    %3 = add(%1, %2): bf16[4096,1024]\n"
                            "    %4 = subtract(%1, %2): bf16[4096,1024]\n"
                            "    %5 = multiply(%1, %2): bf16[4096,1024]\n"
                            "    %6 = fusion(%1) {body = @three #2}: bf16[4096,1024]\n"
                            "    %7 = fusion(%1) {body = @tenth #3}: bf16[4096,1024]\n"
                            "    %8 = fusion(%1) {body = @less #4}: bf16[4096,1024]\n"
                            "  }\n"
#define OF_FLOAT(name, op, number, x) \
  "  func @" name " (%" x "1: bf16[4096,1024]) -> (%" x "5) {\n" \
  "    %" x "2 = convert(%" x "1) {to = type f32[]}: f32[4096,1024]\n" \
  "    %" x "3 = constant() {value = splat<f32[4096,1024]: " number ">}: f32[4096,1024]\n" \
  "    %" x "4 = " op "(%" x "2, %" x "3): f32[4096,1024]\n" \
  "    %" x "5 = convert(%" x "4) {to = type bf16[]}: bf16[4096,1024]\n" \
  "  }\n"
  OF_FLOAT ("three #2", "multiply", "3", "2") OF_FLOAT ("tenth #3", "multiply", "0.1", "3") OF_FLOAT ("less #4", "subtract", "3", "4") "}\n";

static void
test_numbers (void)
{
#define FMA "fma\\.rn\\.bf16x2 %r\\d+, "
#define SET(number) "mov\\.b32\\s+(%r\\d+), " number ";[\\s\\S]*"
  static const struct
  {
    guint32 node;
    const char *pattern;
  } wanted[] = {
    { 3, SET ("1065369472") FMA "%r\\d+, \\1, %r" },       /* a 1 + b */
    { 4, SET ("-1082081408") FMA "%r\\d+, \\1, %r" },      /* b -1 + a */
    { 5, SET ("-2147450880") FMA "%r\\d+, %r\\d+, \\1;" }, /* a b + -0 */
    { 6, SET ("1077952576") FMA "%r\\d+, \\1, %r" },       { 8, SET ("1077952576") FMA "\\1, %r\\d+, %r" },
  };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, pairs, -1, "pairs", &error);
  g_autoptr (GantryKernelSet) set = NULL;

  g_assert_no_error (error);
  set = compile (module, "sm_80");
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      const char *assembly = gantry_kernel_set_find (set, wanted[i].node)->assembly;

      if (!g_regex_match_simple (wanted[i].pattern, assembly, 0, 0))
        g_error ("%u has no %s:\n%s", wanted[i].node, wanted[i].pattern, assembly);
    }
  check (set, 7, (const char *[]){ "mul.rn.f32", "cvt.rn.bf16x2.f32", NULL }, (const char *[]){ "fma.rn.bf16x2", NULL });
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("GANTRY_PTXAS", "", TRUE);
  g_test_add_func ("/ptx/special", test_unit);
  g_test_add_func ("/ptx/pairs", test_pairs);
  g_test_add_func ("/ptx/pairs/numbers", test_numbers);
  return g_test_run ();
}
