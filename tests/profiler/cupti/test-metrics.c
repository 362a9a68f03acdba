/* SPDX-License-Identifier: Apache-2.0 */
/* The sets of metrics against each chip's own list, by the real library: it needs no GPU for that. */
#include "profiler/cupti/host.h"
#include "profiler/cupti/metrics.h"

static GantryCuptiLibrary *library; /* NULL: not there; `why` says so */
static GError *why;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER
#endif

static gboolean
is_there (void)
{
#ifdef HAS_ADDRESS_SANITIZER
  g_test_skip ("CUPTI loads a library of its own by RTLD_DEEPBIND, at which AddressSanitizer ends the program");
  return FALSE;
#endif
  if (library != NULL)
    return TRUE;
  g_test_skip (why->message);
  return FALSE;
}

/* The number of passes that all of @names take; none may be refused. */
static gsize
passes_of (const char *chip, CUpti_ProfilerType type, const char *const *names, guint n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) refused = NULL;
  g_autoptr (GantryCuptiHost) host = _gantry_cupti_host_new (library, chip, type, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (_gantry_cupti_host_configure (host, names, n, &refused, &error));
  for (guint i = 0; i < refused->len; i++)
    g_test_message ("%s does not have %s", chip, (const char *) g_ptr_array_index (refused, i));
  g_assert_cmpuint (refused->len, ==, 0);
  return host->n_passes;
}

static void
test_sampled (void)
{
  static const char *const chips[] = { "GA100", "GA102", "AD102", "GH100", "GB100", "GB202" };

  if (!is_there ())
    return;
  for (guint c = 0; c < G_N_ELEMENTS (chips); c++)
    {
      const char *names[64];
      guint n;
      const GantryCuptiSampled *sampled = _gantry_cupti_sampled (chips[c], &n);
      gsize passes;

      for (guint i = 0; i < n; i++)
        names[i] = sampled[i].metric;
      passes = passes_of (chips[c], CUPTI_PROFILER_TYPE_PM_SAMPLING, names, n);
      g_test_message ("%s: %u counters in %" G_GSIZE_FORMAT " pass", chips[c], n, passes);
      g_assert_cmpuint (passes, ==, 1);
    }
}

static void
test_ranged (void)
{
  static const char *const chips[] = { "GA100", "AD102", "GH100", "GB100" };

  if (!is_there ())
    return;
  for (guint c = 0; c < G_N_ELEMENTS (chips); c++)
    {
      g_autoptr (GArray) ranged = _gantry_cupti_ranged (chips[c]);
      g_autofree const char **names = g_new (const char *, ranged->len);
      gsize passes;

      for (guint i = 0; i < ranged->len; i++)
        names[i] = g_array_index (ranged, GantryCuptiRanged, i).metric;
      passes = passes_of (chips[c], CUPTI_PROFILER_TYPE_RANGE_PROFILER, names, ranged->len);
      g_test_message ("%s: %u metrics in %" G_GSIZE_FORMAT " passes", chips[c], ranged->len, passes);
      g_assert_cmpuint (passes, <=, 24);
    }
}

/* One bad name spoils the object: the others are found all the same, and counted together. */
static void
test_refused (void)
{
  const char *names[] = { "sm__cycles_active.avg", "no__such_metric.sum", "dram__bytes.sum" };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) refused = NULL;
  g_autoptr (GPtrArray) all_refused = NULL;
  g_autoptr (GantryCuptiHost) host = NULL;

  if (!is_there ())
    return;
  host = _gantry_cupti_host_new (library, "GH100", CUPTI_PROFILER_TYPE_PM_SAMPLING, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (_gantry_cupti_host_configure (host, names, 3, &refused, &error));
  g_assert_cmpuint (refused->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (refused, 0), ==, "no__such_metric.sum");
  g_assert_cmpuint (host->names->len, ==, 2);
  g_assert_cmpuint (host->n_passes, ==, 1);
  g_assert_false (_gantry_cupti_host_configure (host, names + 1, 1, &all_refused, &error));
  g_assert_nonnull (error);
}

/* A chip that CUPTI does not know. */
static void
test_unknown_chip (void)
{
  g_autoptr (GError) error = NULL;

  if (!is_there ())
    return;
  g_assert_null (_gantry_cupti_host_new (library, "XX999", CUPTI_PROFILER_TYPE_PM_SAMPLING, NULL, &error));
  g_assert_nonnull (error);
  g_assert_true (g_str_has_prefix (error->message, "XX999: "));
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  library = _gantry_cupti_library_new (&why);
  g_test_add_func ("/profiler/cupti/metrics/sampled", test_sampled);
  g_test_add_func ("/profiler/cupti/metrics/ranged", test_ranged);
  g_test_add_func ("/profiler/cupti/metrics/refused", test_refused);
  g_test_add_func ("/profiler/cupti/metrics/unknown-chip", test_unknown_chip);
  status = g_test_run ();
  g_clear_pointer (&library, _gantry_cupti_library_free);
  g_clear_error (&why);
  return status;
}
