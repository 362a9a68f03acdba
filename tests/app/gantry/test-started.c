/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/run starts, and what is installed: Run measures there, without anything that a test would set up. */
#include "tests/app/gantry/outside.h"
#include <gdk/gdkkeysyms.h>

static char *
root_file (const char *variable, const char *path)
{
  const char *root = g_getenv (variable);

  return g_build_filename (root != NULL ? root : ".", path, NULL);
}

/* Lanes and curve are painted, and where a picture cannot be seen they are told. */
static void
assert_measured (Outside *outside)
{
  OutsideArea lanes, memory;
  g_autofree char *status = outside_wait (outside, NULL, "measured (median of 10)", NULL);
  g_autofree char *lanes_name = outside_wait (outside, NULL, "Timeline, planned and measured", &lanes);
  g_autofree char *memory_name = outside_wait (outside, NULL, "Memory over time, planned and measured", &memory);
  gint64 end = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;

  /* What is told may be painted a frame later. */
  while (outside_count (outside, &memory, GANTRY_INK_MEASURED) < 100 && g_get_monotonic_time () < end)
    g_usleep (50000);
  g_assert_cmpuint (outside_count (outside, &memory, GANTRY_INK_MEASURED), >=, 100);
  g_assert_cmpuint (outside_count (outside, &lanes, GANTRY_INK_MEASURED), >=, 1000);
}

static void
assert_planned (Outside *outside)
{
  OutsideArea lanes, memory;
  g_autofree char *status = outside_wait (outside, NULL, "not measured yet", NULL);
  g_autofree char *lanes_name = outside_wait (outside, NULL, "Timeline, planned", &lanes);
  g_autofree char *memory_name = outside_wait (outside, NULL, "Memory over time, planned", &memory);

  g_assert_cmpstr (lanes_name, ==, "Timeline, planned");
  g_assert_cmpstr (memory_name, ==, "Memory over time, planned");
  g_assert_cmpuint (outside_count (outside, &memory, GANTRY_INK_MEASURED), ==, 0);
  g_assert_cmpuint (outside_count (outside, &lanes, GANTRY_INK_MEASURED), ==, 0);
}

/* The sample model, opened as the README says, and F5. */
static void
test_key (void)
{
  g_autofree char *run = root_file ("GANTRY_SOURCE_ROOT", "tools/run");
  const char *const arguments[] = { run, NULL };
  g_autoptr (Outside) outside = NULL;
  OutsideArea button;
  g_autofree char *name = NULL;

  g_setenv ("GANTRY_BUILD", g_getenv ("GANTRY_BUILD_ROOT") != NULL ? g_getenv ("GANTRY_BUILD_ROOT") : "build", TRUE);
  outside = outside_start (arguments);
  if (outside == NULL)
    return;
  assert_planned (outside);
  name = outside_wait (outside, "button", "Run", &button);
  outside_key (outside, GDK_KEY_F5);
  assert_measured (outside);
}

/* The button of what is installed, under any prefix. */
static void
test_installed (void)
{
  g_autofree char *build = root_file ("GANTRY_BUILD_ROOT", ""), *model = root_file ("GANTRY_SOURCE_ROOT", "data/models/sample.onnx");
  g_autofree char *prefix = g_dir_make_tmp ("gantry-prefix-XXXXXX", NULL), *program = NULL, *said = NULL;
  const char *const install[] = { "meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", prefix, NULL };
  const char *const clean[] = { "rm", "-rf", prefix, NULL };
  const char *arguments[] = { NULL, model, NULL };
  g_autoptr (Outside) outside = NULL;
  g_autoptr (GError) error = NULL;
  OutsideArea button;
  int status;

  g_spawn_sync (NULL, (char **) install, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &said, &status, &error);
  g_assert_no_error (error);
  g_test_message ("%s", said);
  g_assert_true (g_spawn_check_wait_status (status, &error));
  arguments[0] = program = g_build_filename (prefix, "usr/local/bin/gantry", NULL);
  outside = outside_start (arguments);
  if (outside != NULL)
    {
      assert_planned (outside);
      g_free (outside_wait (outside, "button", "Run", &button));
      outside_click (outside, &button);
      assert_measured (outside);
    }
  g_clear_pointer (&outside, outside_free);
  g_spawn_sync (NULL, (char **) clean, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/started/key", test_key);
  g_test_add_func ("/started/installed", test_installed);
  return g_test_run ();
}
