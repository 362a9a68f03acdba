/* SPDX-License-Identifier: Apache-2.0 */
/* A build without CUPTI says so. */
#include "core/base/error.h"
#include "profiler/cupti/cupti.h"
#include <string.h>

static void
test_absent (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) profile_error = NULL;
  GantryCuptiKernelProfile profile;

  g_assert_false (gantry_cupti_is_built ());
  gantry_cupti_prepare_environment ();
  g_assert_null (gantry_cupti_start (NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "built without CUPTI"));
  g_assert_false (gantry_cupti_profile_kernel (NULL, 0, NULL, NULL, &profile, &profile_error));
  g_assert_error (profile_error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/cupti/absent", test_absent);
  return g_test_run ();
}
