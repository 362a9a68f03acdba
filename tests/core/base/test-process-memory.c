/* SPDX-License-Identifier: Apache-2.0 */
/* What the system says of this process: what is written is there, what is trimmed is gone, and nothing else is lost by it. */
#include "core/base/process-memory.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#endif

#define MIB ((gsize) 1 << 20)

/* Reads a byte of each page of the program and its libraries. */
static guint
touch_programs (void)
{
  const gsize page = (gsize) sysconf (_SC_PAGESIZE);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint sum = 0;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      gsize begin, end;
      char permissions[8];

      if (sscanf (lines[i], "%zx-%zx %7s", &begin, &end, permissions) != 3 || permissions[0] != 'r' || permissions[2] != 'x' || strchr (lines[i], '/') == NULL)
        continue;
      for (; begin < end; begin += page)
        sum += *(const volatile guint8 *) GSIZE_TO_POINTER (begin);
    }
  return sum;
}

/* Code of libraries that nobody runs any more is not kept; it is there again for whoever does. */
static void
test_trim_programs (void)
{
  GantryProcessMappings before, after, again;
  guint sum = touch_programs ();

  if (!gantry_process_memory_map (&before))
    {
      g_test_skip ("the system does not say what is mapped");
      return;
    }
  gantry_process_memory_trim ();
  gantry_process_memory_map (&after);
  g_assert_cmpuint (after.programs + MIB, <, before.programs);
  g_assert_cmpuint (touch_programs (), ==, sum);
  gantry_process_memory_map (&again);
  g_assert_cmpuint (again.programs, >, after.programs);
}

/* Memory that can be run and is of no file is counted by itself as among all mappings. */
static void
test_code (void)
{
  const gsize size = 64 << 10;
  GantryProcessMappings all;
  guint64 before, after;
  void *code;

  if (!gantry_process_memory_code (&before))
    {
      g_test_skip ("the system does not say what is mapped");
      return;
    }
  code = mmap (NULL, 2 * size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED)
    {
      g_test_skip ("memory cannot be written and run here");
      return;
    }
  memset (code, 0xc3, size);
  g_assert_true (gantry_process_memory_code (&after));
  g_assert_cmpuint (after - before, ==, size);
  if (gantry_process_memory_map (&all))
    g_assert_cmpuint (after, ==, all.code);
  munmap (code, 2 * size);
}

#ifndef SANITIZED
/* What was freed goes back to the system; the sanitizer's heap keeps it. */
static void
test_trim_heap (void)
{
  enum
  {
    N = 64 * 1024,
    SIZE = 512
  };
  g_autofree gpointer *blocks = g_new (gpointer, N);
  GantryProcessMemory full, empty;

  for (guint i = 0; i < N; i++)
    blocks[i] = memset (g_malloc (SIZE), 1, SIZE);
  if (!gantry_process_memory_read (&full))
    {
      g_test_skip ("the system does not say how much memory is used");
      return;
    }
  for (guint i = 0; i < N; i++)
    g_free (blocks[i]);
  gantry_process_memory_trim ();
  gantry_process_memory_read (&empty);
  g_assert_cmpuint (empty.anonymous + N * SIZE / 2, <, full.anonymous);
}
#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/process-memory/code", test_code);
  g_test_add_func ("/base/process-memory/trim-programs", test_trim_programs);
#ifndef SANITIZED
  g_test_add_func ("/base/process-memory/trim-heap", test_trim_heap);
#endif
  return g_test_run ();
}
