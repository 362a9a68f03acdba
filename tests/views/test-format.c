/* SPDX-License-Identifier: Apache-2.0 */
/* How places are written for people. */
#include "views/format.h"

static void
check_location (const char *location, const char *beside, const char *expected)
{
  g_autofree char *text = gantry_format_location (location, beside);

  g_assert_cmpstr (text, ==, expected);
}

static void
test_location (void)
{
  g_autofree char *home = g_build_filename (g_get_home_dir (), "nets", "a.gir:12:3", NULL);
  g_autofree char *besides_home = g_strdup_printf ("%s-of-another/a.gir", g_get_home_dir ());

  check_location ("/srv/nets/a.gir:12:3", "/srv/nets/a.gir", "a.gir:12:3");
  check_location ("/srv/nets/parts/b.gir: layer", "/srv/nets/a.gir", "parts/b.gir: layer");
  check_location ("/srv/nets-of-another/b.gir:1", "/srv/nets/a.gir", "/srv/nets-of-another/b.gir:1");
  check_location ("/srv/nets/a.gir:1", NULL, "/srv/nets/a.gir:1");
  check_location ("/srv/nets/a.gir:1", "a.gir", "/srv/nets/a.gir:1");
  check_location ("/a.gir:1", "/b.gir", "a.gir:1");
  check_location ("a.gir:1", "/srv/nets/a.gir", "a.gir:1");
  check_location ("unknown location", "/srv/nets/a.gir", "unknown location");
  check_location (home, "/srv/nets/a.gir", "~/nets/a.gir:12:3");
  check_location (besides_home, "/srv/nets/a.gir", besides_home);
}

static void
test_when (void)
{
  g_autofree char *of_file = gantry_format_when ("file of 2026-05-01T10:15:30Z");
  g_autofree char *time = gantry_format_when ("2026-05-01T10:15:30Z"), *other = gantry_format_when ("yesterday"), *none = gantry_format_when (NULL);

  g_assert_cmpstr (time, ==, "1 May 2026 12:15:30");
  g_assert_cmpstr (of_file, ==, "file of 1 May 2026 12:15:30");
  g_assert_cmpstr (other, ==, "yesterday");
  g_assert_null (none);
}

static void
check_short (const char *text, guint most, const char *expected)
{
  g_autofree char *brief = gantry_format_short (text, most);

  g_assert_cmpstr (brief, ==, expected);
  g_assert_cmpint (g_utf8_strlen (brief, -1), <=, most);
}

/* By signs, and never within one. */
static void
test_short (void)
{
  check_short ("encoder", 7, "encoder");
  check_short ("encoder/layer", 7, "enc\342\200\246yer");
  check_short ("\303\244\303\244\303\244\303\244\303\244", 4, "\303\244\303\244\342\200\246\303\244");
}

int
main (int argc, char **argv)
{
  g_setenv ("TZ", "UTC-2", TRUE);
  g_setenv ("HOME", "/srv/people/somebody", TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/views/format/location", test_location);
  g_test_add_func ("/views/format/when", test_when);
  g_test_add_func ("/views/format/short", test_short);
  return g_test_run ();
}
