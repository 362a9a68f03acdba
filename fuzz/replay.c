/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the seeds it is given, one case a file, without a fuzzer: so every build, with every
 * compiler and sanitizer, reads each input that once failed. Linked with one target; writes TAP.
 * Usage: replay-NAME FILE-OR-FOLDER...
 *        replay-NAME --soak [--seed N] [--minutes M] [--count N] [--findings FOLDER] FILE-OR-FOLDER...
 *
 * With --soak the seeds are changed at random, as a fuzzer without a measure of what is new would: what ends the process is first
 * written to the folder for findings. */

#include "tests/soak.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#define MOST_BYTES (64 * 1024)
#define MOST_SECONDS 25 /* of one input */

/* As libFuzzer does it, an empty input has an address too. */
static void
run_target (const guint8 *data, gsize size)
{
  LLVMFuzzerTestOneInput (size > 0 ? data : (const guint8 *) "", size);
}

static void
replay_file (gconstpointer user_data)
{
  const char *path = user_data;
  g_autofree char *bytes = NULL;
  g_autoptr (GError) error = NULL;
  gsize size = 0;

  g_file_get_contents (path, &bytes, &size, &error);
  g_assert_no_error (error);
  /* A copy of the exact size: reading one byte further is a finding of AddressSanitizer. */
  g_autofree guint8 *exact = g_memdup2 (bytes, size);
  run_target (exact, size);
  /* Cut in half it is broken at another place. */
  g_autofree guint8 *half = g_memdup2 (bytes, size / 2);
  run_target (half, size / 2);
}

static void
add_test (const char *path, gpointer user_data)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *test = g_strconcat ("/replay/", name, NULL);

  g_test_add_data_func_full (test, g_strdup (path), replay_file, g_free);
}

static void
each_file (const char *path, void (*take) (const char *path, gpointer user_data), gpointer user_data)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  if (folder == NULL)
    {
      take (path, user_data);
      return;
    }
  while ((name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);
      take (child, user_data);
    }
}

/* Inputs made of the seeds. */

static void
read_seed (const char *path, gpointer user_data)
{
  g_autofree char *bytes = NULL;
  gsize size = 0;

  if (g_file_get_contents (path, &bytes, &size, NULL) && size > 0 && size <= MOST_BYTES)
    g_ptr_array_add (user_data, g_bytes_new (bytes, size));
}

static int
by_content (gconstpointer a, gconstpointer b)
{
  return g_bytes_compare (*(GBytes *const *) a, *(GBytes *const *) b);
}

static guint
below (GRand *rand, guint n)
{
  return n > 0 ? (guint) g_rand_int_range (rand, 0, (gint32) n) : 0;
}

static void
insert (GByteArray *input, guint at, const guint8 *bytes, guint n)
{
  guint before = input->len;

  if (before + n > MOST_BYTES)
    return;
  g_byte_array_set_size (input, before + n);
  memmove (input->data + at + n, input->data + at, before - at);
  memcpy (input->data + at, bytes, n);
}

/* Where numbers change what they mean. */
static void
put_number (GByteArray *input, guint at, GRand *rand)
{
  static const gint64 numbers[] = { 0, 1, -1, 127, 128, 255, 256, 32767, 65535, 65536, G_MAXINT32, G_MININT32, G_MAXUINT32, G_MAXINT64, G_MININT64 };
  gint64 number = numbers[below (rand, G_N_ELEMENTS (numbers))];
  guint width = 1u << below (rand, 4);
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, number);

  if (g_rand_boolean (rand))
    insert (input, at, (const guint8 *) text, (guint) strlen (text));
  else if (at + width <= input->len)
    memcpy (input->data + at, &number, width);
}

static void
change (GByteArray *input, GPtrArray *seeds, GRand *rand)
{
  guint at = below (rand, input->len), n = 1 + below (rand, MIN (input->len - at, 32));
  GBytes *other = g_ptr_array_index (seeds, below (rand, seeds->len));
  gsize other_size;
  const guint8 *other_data = g_bytes_get_data (other, &other_size);
  guint from = below (rand, (guint) other_size), length = 1 + below (rand, 64);

  switch (below (rand, 8))
    {
    case 0: input->data[at] ^= (guint8) (1u << below (rand, 8)); break;
    case 1: input->data[at] = (guint8) below (rand, 256); break;
    case 2: put_number (input, at, rand); break;
    case 3: g_byte_array_remove_range (input, at, MIN (n, input->len - at)); break;
    case 4: insert (input, at, other_data + from, (guint) MIN (other_size - from, length)); break;
    case 5: memcpy (input->data + at, other_data + from, MIN (MIN (n, input->len - at), other_size - from)); break;
    case 6:
      g_byte_array_set_size (input, MIN (input->len, at + 1));
      insert (input, at, other_data + from, (guint) (other_size - from));
      break;
    default:
      if (g_ascii_isdigit (input->data[at]))
        input->data[at] = (guint8) ('0' + below (rand, 10));
      else
        insert (input, at, (const guint8 *) "\"(),:;[]{}=-.\n" + below (rand, 14), 1);
    }
}

/* The input at hand, for whoever ends the process. */
static struct
{
  char path[4096];
  const guint8 *data;
  gsize size;
} current;

static void
keep_input (int number)
{
  int file = current.path[0] != '\0' ? open (current.path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666) : -1;

  if (file >= 0)
    {
      ssize_t written = write (file, current.data, current.size);

      if (written == (ssize_t) current.size)
        close (file);
    }
  signal (number, SIG_DFL);
  raise (number == SIGALRM ? SIGABRT : number);
}

static void
catch_ends (const SoakOptions *options)
{
  static const int ends[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM };

  if (options->findings != NULL)
    g_mkdir_with_parents (options->findings, 0777);
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    signal (ends[i], keep_input);
}

static void
run_changed (const SoakOptions *options, guint64 number, GPtrArray *seeds)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (soak_case_seed (options, number));
  GBytes *seed = g_ptr_array_index (seeds, below (rand, seeds->len));
  g_autoptr (GByteArray) input = g_byte_array_new ();
  g_autofree guint8 *exact = NULL;

  g_byte_array_append (input, g_bytes_get_data (seed, NULL), (guint) g_bytes_get_size (seed));
  for (guint i = 1 + below (rand, 8); i > 0 && input->len > 0; i--)
    change (input, seeds, rand);
  exact = g_memdup2 (input->data, input->len);
  current.data = exact;
  current.size = input->len;
  if (options->findings != NULL)
    g_snprintf (current.path, sizeof current.path, "%s/%s-%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, options->findings, g_get_prgname (), options->seed,
                number);
  alarm (MOST_SECONDS);
  run_target (exact, input->len);
  alarm (0);
}

static int
soak (int argc, char **argv)
{
  g_autoptr (GPtrArray) seeds = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  SoakOptions options;
  guint64 n = 0;

  if (!soak_options_read (&options, &argc, &argv, "- a fuzz target on changed seeds"))
    return 2;
  for (int i = 1; i < argc; i++)
    each_file (argv[i], read_seed, seeds);
  g_ptr_array_sort (seeds, by_content); /* folders are in no order */
  catch_ends (&options);
  for (; seeds->len > 0 && soak_goes_on (&options, n); n++)
    run_changed (&options, n, seeds);
  soak_options_clear (&options);
  return soak_end (n, 0, 0);
}

int
main (int argc, char **argv)
{
  if (argc > 1 && strcmp (argv[1], "--soak") == 0)
    {
      argv[1] = argv[0];
      return soak (argc - 1, argv + 1);
    }
  g_test_init (&argc, &argv, NULL);
  for (int i = 1; i < argc; i++)
    each_file (argv[i], add_test, NULL);
  return g_test_run ();
}
