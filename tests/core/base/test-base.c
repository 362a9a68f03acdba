/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of core/base: the arena, interning, errors, progress and the numbers by name. */
#include "core/base/base.h"
#include "core/base/bytes-text.h"
#include "core/base/keyed-array.h"
#include "core/base/processor-load.h"
#include "core/base/random.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static void
test_arena_alignment (void)
{
  g_autoptr (GantryArena) arena = gantry_arena_new ();
  static const guint8 zeros[4096];

  for (gsize size = 0; size < sizeof zeros; size = size * 2 + 1)
    {
      guint8 *bytes = gantry_arena_alloc (arena, size);

      g_assert_nonnull (bytes);
      g_assert_cmpuint ((guintptr) bytes % 16, ==, 0);
      g_assert_cmpmem (bytes, size, zeros, size);
      memset (bytes, 0xff, size);
    }
}

/* What was handed out stays where it is and as it is, however much comes after it, one object larger than any block. */
static void
test_arena_stays (void)
{
  g_autoptr (GantryArena) arena = gantry_arena_new ();
  char *text = gantry_arena_strdup (arena, "first");
  guint32 *numbers = gantry_arena_copy (arena, &(guint32){ 0x01020304 }, sizeof (guint32));

  for (int i = 0; i < 10000; i++)
    memset (gantry_arena_alloc (arena, 100), 0xaa, 100);
  memset (gantry_arena_alloc (arena, 5 << 20), 0xbb, 5 << 20);
  memset (gantry_arena_alloc (arena, 100), 0xcc, 100);
  g_assert_cmpstr (text, ==, "first");
  g_assert_cmpuint (*numbers, ==, 0x01020304);
  g_assert_cmpuint (gantry_arena_size (arena), >=, 10000 * 100 + (5 << 20));
  g_assert_cmpuint (gantry_arena_size (arena), <=, 2 * (10000 * 112 + (5 << 20)) + (1 << 20));
}

static void
test_interner_equal (void)
{
  g_autoptr (GantryInterner) interner = gantry_interner_new ();
  guint32 one = gantry_interner_add_string (interner, "one");
  guint32 two = gantry_interner_add_string (interner, "two");

  g_assert_cmpuint (one, !=, 0);
  g_assert_cmpuint (one, !=, two);
  g_assert_cmpuint (gantry_interner_add (interner, "one", 3), ==, one);
  g_assert_cmpuint (gantry_interner_find (interner, "one", 3), ==, one);
  g_assert_cmpuint (gantry_interner_find (interner, "on", 2), ==, 0);
  g_assert_cmpuint (gantry_interner_count (interner), ==, 2);
  g_assert_cmpstr (gantry_interner_string (interner, two), ==, "two");
  g_assert_cmpuint (gantry_interner_add_string (interner, NULL), ==, 0);
  g_assert_cmpstr (gantry_interner_string (interner, 0), ==, "");
  g_assert_null (gantry_interner_get (interner, 0, NULL));
}

/* Bytes, not strings: a NUL inside counts. */
static void
test_interner_bytes (void)
{
  g_autoptr (GantryInterner) interner = gantry_interner_new ();
  guint32 a = gantry_interner_add (interner, "x\0a", 3);
  guint32 b = gantry_interner_add (interner, "x\0b", 3);
  gsize size = 0;
  const char *bytes = gantry_interner_get (interner, b, &size);

  g_assert_cmpuint (a, !=, b);
  g_assert_cmpmem (bytes, size, "x\0b", 3);
  g_assert_cmpuint ((guintptr) bytes % 16, ==, 0);
  g_assert_cmpint (bytes[size], ==, '\0');
}

#define N_NAMES 20000

static gpointer
intern_all (gpointer data)
{
  GantryInterner *interner = data;

  for (guint i = 0; i < N_NAMES; i++)
    {
      char name[32];
      guint32 id;

      g_snprintf (name, sizeof name, "name %u", i);
      id = gantry_interner_add_string (interner, name);
      /* Read at once, while the others make it grow. */
      g_assert_cmpstr (gantry_interner_string (interner, id), ==, name);
    }
  return NULL;
}

static void
test_interner_threads (void)
{
  g_autoptr (GantryInterner) interner = gantry_interner_new ();
  GThread *threads[4];
  g_autofree guint8 *seen = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("intern", intern_all, interner);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);

  g_assert_cmpuint (gantry_interner_count (interner), ==, N_NAMES);
  seen = g_new0 (guint8, N_NAMES + 1);
  for (guint i = 0; i < N_NAMES; i++)
    {
      g_autofree char *name = g_strdup_printf ("name %u", i);
      guint32 id = gantry_interner_find (interner, name, strlen (name));

      g_assert_cmpuint (id, >, 0);
      g_assert_cmpuint (id, <=, N_NAMES);
      g_assert_cmpuint (seen[id]++, ==, 0);
    }
}

static void
test_error_prefix (void)
{
  g_autoptr (GError) error = NULL;
  GError *none = NULL;

  gantry_error_prefix (NULL, "nobody asked %d: ", 1);
  gantry_error_prefix (&none, "nothing happened %d: ", 2);
  g_assert_no_error (none);

  /* What comes from a file may hold a percent sign. */
  g_set_error_literal (&error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED, "ends at 90% of it");
  gantry_error_prefix (&error, "%s: node %d: ", "100%s.onnx", 7);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED);
  g_assert_cmpstr (error->message, ==, "100%s.onnx: node 7: ends at 90% of it");
}

typedef struct
{
  guint calls;
  double fraction;
  char what[32];
} Heard;

static void
hear (double fraction, const char *what, gpointer user_data)
{
  Heard *heard = user_data;

  heard->calls++;
  heard->fraction = fraction;
  g_strlcpy (heard->what, what, sizeof heard->what);
}

static void
test_progress (void)
{
  Heard heard = { 0 };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  const GantryProgress progress = { hear, &heard, cancellable };
  const GantryProgress deaf = { 0 };

  gantry_progress_report (NULL, 0.5, "nobody");
  gantry_progress_report (&deaf, 0.5, "nobody");
  g_assert_false (gantry_progress_cancelled (NULL, &error));
  g_assert_false (gantry_progress_cancelled (&deaf, &error));

  gantry_progress_report (&progress, 0.25, "Reading");
  g_assert_cmpuint (heard.calls, ==, 1);
  g_assert_cmpfloat (heard.fraction, ==, 0.25);
  g_assert_cmpstr (heard.what, ==, "Reading");

  g_assert_false (gantry_progress_cancelled (&progress, &error));
  g_assert_no_error (error);
  g_cancellable_cancel (cancellable);
  g_assert_true (gantry_progress_cancelled (&progress, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* The published values: FNV-1a of "" and "a", and the first output of splitmix64 from state 1234567. */
static void
test_random (void)
{
  g_assert_cmphex (gantry_random_start ("", 0), ==, 0xcbf29ce484222325u);
  g_assert_cmphex (gantry_random_start ("a", 0), ==, 0xaf63dc4c8601ec8cu);
  g_assert_cmphex (gantry_random_start ("a", 1), ==, 0xaf63dc4c8601ec8cu + 0x9e3779b97f4a7c15u);
  g_assert_cmpfloat (gantry_random_at (1234567, 0), ==, (double) (G_GUINT64_CONSTANT (6457827717110365317) >> 40) / 16777216);
  g_assert_cmpfloat (gantry_random_at (1234560, 7), ==, gantry_random_at (1234567, 0));
}

static void
test_random_spread (void)
{
  guint64 start = gantry_random_start ("weights", 3);
  guint buckets[16] = { 0 };

  for (guint64 i = 0; i < 16000; i++)
    {
      double u = gantry_random_at (start, i);

      g_assert_cmpfloat (u, >=, 0);
      g_assert_cmpfloat (u, <, 1);
      buckets[(guint) (u * 16)]++;
    }
  for (guint i = 0; i < G_N_ELEMENTS (buckets); i++)
    {
      g_assert_cmpuint (buckets[i], >, 850);
      g_assert_cmpuint (buckets[i], <, 1150);
    }
}

/* What looks as if it fits does: the one up, the other down, and never the same text for two sizes. */
static void
test_rounding (void)
{
  /* clang-format off */
  static const struct { guint64 bytes; const char *down, *up; } sizes[] = {
    { 0, "0 B", "0 B" }, { 1023, "1023 B", "1023 B" }, { 1024, "1.00 KiB", "1.00 KiB" }, { 1025, "1.00 KiB", "1.01 KiB" },
    { 3460301, "3.30 MiB", "3.31 MiB" }, { 553799680, "528.1 MiB", "528.2 MiB" }, { 104857600, "100.0 MiB", "100.0 MiB" },
    { 1048575, "1023.9 KiB", "1.00 MiB" }, { 460365824, "439.0 MiB", "439.1 MiB" }, { 10238976, "9.76 MiB", "9.77 MiB" }, { 10485759, "9.99 MiB", "10.0 MiB" },
    { G_MAXUINT64, "15.9 EiB", "16.0 EiB" },
  };
  /* clang-format on */

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *down = gantry_format_bytes_down (sizes[i].bytes), *up = gantry_format_bytes (sizes[i].bytes);

      g_assert_cmpstr (down, ==, sizes[i].down);
      g_assert_cmpstr (up, ==, sizes[i].up);
    }
}

/* What a text of a size says, in bytes. */
static double
said (const char *text)
{
  static const char units[] = " KMGTPE";
  char *unit;
  double value = g_ascii_strtod (text, &unit);

  g_assert_cmpint (*unit++, ==, ' ');
  return *unit == 'B' ? value : value * pow (1024, (double) (strchr (units, *unit) - units));
}

/* Two columns keep the order of what they show: whichever of the two is the larger never reads as the smaller, and where they are
 * equal they read alike. With limits on the safe side. */
static void
test_order (void)
{
  g_autoptr (GRand) random = test_rand (20261123);

  for (guint i = 0; i < 200000; i++)
    {
      guint64 a = ((guint64) g_rand_int (random) << 32 | g_rand_int (random)) >> g_rand_int_range (random, 1, 63);
      guint64 b = a + (((guint64) g_rand_int (random) << 31) >> g_rand_int_range (random, 0, 63));
      g_autofree char *first = gantry_format_bytes (a), *second = gantry_format_bytes (b);
      g_autofree char *below = gantry_format_bytes_down (a), *third = NULL, *fourth = NULL;

      g_assert_cmpfloat (said (first), <=, said (second));
      g_assert_cmpfloat (said (below), <=, (double) a);
      g_assert_cmpfloat (said (first), >=, (double) a);
      gantry_format_bytes_apart (a, b, 0, &third, &fourth);
      g_assert_cmpfloat (said (third), <=, said (fourth));
      if (a == b)
        g_assert_cmpstr (third, ==, fourth);
      else if ((double) (b - a) > 2e-5 * (double) b)
        g_assert_cmpfloat (said (third), <, said (fourth));
    }
}

/* A limit has one text, whatever stands beside it: what keeps to it reads as no more, what does not as more, and what is the same the
 * same. Of what differs by more than six figures show, no two texts are equal. */
static void
test_limit (void)
{
  /* clang-format off */
  static const struct { guint64 bytes; const char *text; } limits[] = {
    { 8 * G_GUINT64_CONSTANT (1073741824), "8.00 GiB" }, { 551970406, "526.4 MiB" }, { 552012345, "526.439 MiB" },
    { 1000, "1000 B" }, { 551550976, "526.0 MiB" }, { 551550977, "526.000 MiB" },
  };
  /* clang-format on */
  g_autoptr (GRand) random = test_rand (20261124);
  const guint64 peak = 59304960, aside = peak - 4096;
  g_autofree char *peak_text = gantry_format_bytes_within (peak, peak), *same = gantry_format_bytes_bound (peak, peak, peak),
                  *below = gantry_format_bytes_bound (aside, peak, 0), *beside = gantry_format_bytes_within (peak, 0);

  g_assert_cmpstr (same, ==, peak_text);
  g_assert_cmpstr (below, ==, "56.5 MiB");
  g_assert_cmpstr (beside, ==, "56.6 MiB");
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      g_autofree char *text = gantry_format_limit (limits[i].bytes);

      g_assert_cmpstr (text, ==, limits[i].text);
    }
  for (guint i = 0; i < 200000; i++)
    {
      guint64 limit = (((guint64) g_rand_int (random) << 32 | g_rand_int (random)) >> g_rand_int_range (random, 5, 60)) + 1;
      guint64 off = ((guint64) g_rand_int (random) << 31) >> g_rand_int_range (random, 0, 63);
      guint64 bytes = g_rand_boolean (random) ? limit + off : limit - MIN (off, limit);
      g_autofree char *limit_text = gantry_format_limit (limit), *text = gantry_format_bytes_within (bytes, limit);

      g_assert_cmpfloat (said (limit_text), <, (double) limit + 1);
      if (bytes == limit)
        g_assert_cmpstr (text, ==, limit_text);
      else if (bytes > limit)
        g_assert_cmpfloat (said (text), >, said (limit_text));
      else if ((double) off > 2e-5 * (double) limit)
        g_assert_cmpfloat (said (text), <, said (limit_text));
      else
        g_assert_cmpfloat (said (text), <=, said (limit_text));
    }
}

/* What a terminal obeys is shown and not sent; all else stays as it is, so that a path can be copied. */
static void
test_format_text (void)
{
  static const struct
  {
    const char *text, *shown, *lines;
  } cases[] = {
    { "a b\\c/\"\xc3\xa4\xe6\xb7\xb1.onnx", "a b\\c/\"\xc3\xa4\xe6\xb7\xb1.onnx", NULL },
    { "\033[2J\a\177", "\\x1b[2J\\x07\\x7f", NULL },
    { "one\ntwo\t\r", "one\\x0atwo\\x09\\x0d", "one\ntwo\t\\x0d" },
    { "\xc2\x9b"
      "31m",
      "\\x9b31m", NULL },
    { "\xe2\x80\xae"
      "gpj.",
      "\\u202egpj.", NULL },
    { "\xff\xc3", "\\xff\\xc3", NULL },
    { "", "", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shown = gantry_format_text (cases[i].text, FALSE), *lines = gantry_format_text (cases[i].text, TRUE);

      g_assert_cmpstr (shown, ==, cases[i].shown);
      g_assert_cmpstr (lines, ==, cases[i].lines != NULL ? cases[i].lines : cases[i].shown);
    }
}

/* Keys above 32 bits are told apart, and what is not there is not found. */
static void
test_keyed_array (void)
{
  typedef struct
  {
    guint64 key, value;
  } Record;
  const Record records[] = { { G_GUINT64_CONSTANT (1) << 40, 1 }, { 7, 2 }, { (G_GUINT64_CONSTANT (1) << 40) + 7, 3 }, { 0, 4 } };
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (Record)), other = g_array_new (FALSE, FALSE, sizeof (Record));

  g_assert_null (gantry_keyed_array_find (array, 0));
  g_assert_true (gantry_keyed_array_equal (array, other));
  g_array_append_vals (array, records, G_N_ELEMENTS (records));
  g_array_append_vals (other, records, G_N_ELEMENTS (records));
  gantry_keyed_array_sort (array);
  g_assert_false (gantry_keyed_array_equal (array, other));
  gantry_keyed_array_sort (other);
  g_assert_true (gantry_keyed_array_equal (array, other));
  for (guint i = 0; i < G_N_ELEMENTS (records); i++)
    g_assert_cmpuint (((const Record *) gantry_keyed_array_find (array, records[i].key))->value, ==, records[i].value);
  g_assert_null (gantry_keyed_array_find (array, 8));
  g_array_index (other, Record, 0).value++;
  g_assert_false (gantry_keyed_array_equal (array, other));
}

/* One meaning of a unit, and no byte lost between a decimal fraction and its bytes. */
static void
test_bytes_text (void)
{
  /* clang-format off */
  static const struct { const char *text; guint64 bytes; } sizes[] = {
    { "0", 0 }, { "1000000", 1000000 }, { "1.5e6", 1500000 }, { "64B", 64 }, { " 8 GiB ", G_GUINT64_CONSTANT (8589934592) },
    { "1GB", 1000000000 }, { "1gb", 1000000000 }, { "1G", 1073741824 }, { "1g", 1073741824 }, { "1GiB", 1073741824 },
    { "1.1KB", 1100 }, { "0.29GB", 290000000 }, { "526.4 MiB", 551970406 }, { ".5K", 512 }, { "2T", G_GUINT64_CONSTANT (2199023255552) },
    { "1TB", G_GUINT64_CONSTANT (1000000000000) }, { "0.9B", 0 }, { "10.000000000000000000000000 KB", 10000 },
    { "0000000000000000000000012", 12 }, { "1e-300", 0 }, { "5e-1KiB", 512 },
  };
  /* clang-format on */
  static const char *const wrong[] = { "",
                                       " ",
                                       "GB",
                                       "-1",
                                       "nan",
                                       "inf",
                                       "0x10",
                                       "1XB",
                                       "1KBB",
                                       "1 K B",
                                       "1.2.3",
                                       "1e",
                                       "1e300",
                                       "1iB",
                                       "1152921504606846976",
                                       "9999999999999999999999999999",
                                       "1e99999999999999999999" };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      guint64 bytes = 1;

      if (!gantry_bytes_parse (sizes[i].text, &bytes) || bytes != sizes[i].bytes)
        g_error ("'%s' reads as %" G_GUINT64_FORMAT, sizes[i].text, bytes);
    }
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      guint64 bytes;

      if (gantry_bytes_parse (wrong[i], &bytes))
        g_error ("'%s' reads as %" G_GUINT64_FORMAT, wrong[i], bytes);
    }
}

/* What others had is what all had without this process, in processors; of a system that counts others than there are nothing is known. */
static void
test_processor_load (void)
{
  double ticks = (double) sysconf (_SC_CLK_TCK);
  GantryProcessorLoad before = { .busy = 100 * ticks, .own_seconds = 3, .time = 10, .n_processors = g_get_num_processors () };
  GantryProcessorLoad after = { .busy = 104 * ticks, .own_seconds = 4, .time = 12, .n_processors = g_get_num_processors () }, now;

  g_assert_cmpfloat_with_epsilon (gantry_processor_load_of_others (&before, &after), 1.5, 1e-9);
  after.own_seconds = 9; /* of what was not counted yet */
  g_assert_cmpfloat (gantry_processor_load_of_others (&before, &after), ==, 0);
  before.n_processors = after.n_processors = g_get_num_processors () + 1;
  g_assert_cmpfloat (gantry_processor_load_of_others (&before, &after), <, 0);
  gantry_processor_load_read (&now);
  g_assert_cmpfloat (now.own_seconds, >=, 0);
  g_assert_cmpfloat (now.time, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/arena/alignment", test_arena_alignment);
  g_test_add_func ("/base/arena/stays", test_arena_stays);
  g_test_add_func ("/base/interner/equal", test_interner_equal);
  g_test_add_func ("/base/interner/bytes", test_interner_bytes);
  g_test_add_func ("/base/interner/threads", test_interner_threads);
  g_test_add_func ("/base/error/prefix", test_error_prefix);
  g_test_add_func ("/base/progress", test_progress);
  g_test_add_func ("/base/random/published", test_random);
  g_test_add_func ("/base/random/spread", test_random_spread);
  g_test_add_func ("/base/format/rounding", test_rounding);
  g_test_add_func ("/base/format/order", test_order);
  g_test_add_func ("/base/format/limit", test_limit);
  g_test_add_func ("/base/bytes-text", test_bytes_text);
  g_test_add_func ("/base/format/text", test_format_text);
  g_test_add_func ("/base/keyed-array", test_keyed_array);
  g_test_add_func ("/base/processor-load", test_processor_load);
  return g_test_run ();
}
