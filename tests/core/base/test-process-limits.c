/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of core/base/process-limits: nothing that a supervised process started outlives it, however it left. */
#include "core/base/process-limits.h"
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts a process that has left its parent, group and session, and would live for long. */
static void
start_orphan (gboolean twice)
{
  pid_t child = fork ();

  if (child == 0)
    {
      setsid ();
      signal (SIGTERM, SIG_IGN);
      signal (SIGHUP, SIG_IGN);
      if (twice && fork () != 0)
        _exit (0);
      sleep (1000);
      _exit (0);
    }
}

typedef void (*Body) (void);

/* A supervisor of @body in a process of its own. @end: of a pipe, which all that comes of it holds open */
static pid_t
start_supervisor (Body body, int *end)
{
  int ends[2], status;
  pid_t child;

  g_assert_cmpint (pipe (ends), ==, 0);
  child = fork ();
  if (child == 0)
    {
      close (ends[0]);
      if (!gantry_process_supervise (&status))
        gantry_process_end_as (status);
      body ();
      _exit (3);
    }
  close (ends[1]);
  *end = ends[0];
  return child;
}

/* Nobody holds the pipe once they are gone. */
static int
wait_for (pid_t supervisor, int end)
{
  char byte;
  int status;

  g_assert_cmpint (waitpid (supervisor, &status, 0), ==, supervisor);
  /* All have ended by now: this neither blocks nor finds a byte. */
  alarm (60);
  g_assert_cmpint (read (end, &byte, 1), ==, 0);
  alarm (0);
  close (end);
  return status;
}

static void
leave_orphans (void)
{
  for (guint i = 0; i < 5; i++)
    start_orphan (i % 2 == 1);
}

static void
leave_orphans_and_abort (void)
{
  leave_orphans ();
  abort ();
}

static void
leave_orphans_and_stay (void)
{
  leave_orphans ();
  sleep (1000);
}

static void
end_group_and_stay (void)
{
  leave_orphans ();
  kill (0, SIGKILL);
}

static void
test_ends (void)
{
  int end, status;
  pid_t pid = start_supervisor (leave_orphans, &end);

  status = wait_for (pid, end);
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 3);
  pid = start_supervisor (leave_orphans_and_abort, &end);
  status = wait_for (pid, end);
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGABRT);
  pid = start_supervisor (end_group_and_stay, &end);
  status = wait_for (pid, end);
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
}

static void
test_stopped (void)
{
  int end;
  pid_t pid = start_supervisor (leave_orphans_and_stay, &end);

  g_usleep (G_USEC_PER_SEC / 10); /* whether the orphans exist yet makes no difference to what is expected */
  g_assert_cmpint (kill (pid, SIGTERM), ==, 0);
  g_assert_true (WIFSIGNALED (wait_for (pid, end)));
}

/* The process that started the supervisor is killed: all of them follow. */
static void
test_parent_killed (void)
{
  int ends[2], status;
  char byte;
  pid_t parent;

  g_assert_cmpint (pipe (ends), ==, 0);
  parent = fork ();
  if (parent == 0)
    {
      pid_t self = getpid ();

      close (ends[0]);
      if (fork () == 0)
        {
          if (!gantry_process_end_with (self, SIGTERM, NULL))
            _exit (1);
          if (!gantry_process_supervise (&status))
            gantry_process_end_as (status);
          leave_orphans ();
          if (write (ends[1], "", 1) != 1)
            _exit (1);
        }
      sleep (1000);
      _exit (0);
    }
  close (ends[1]);
  g_assert_cmpint (read (ends[0], &byte, 1), ==, 1);
  kill (parent, SIGKILL);
  g_assert_cmpint (waitpid (parent, NULL, 0), ==, parent);
  alarm (60);
  g_assert_cmpint (read (ends[0], &byte, 1), ==, 0);
  alarm (0);
  close (ends[0]);
}

static void
test_parent_gone (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (gantry_process_end_with (getpid (), 0, &error));
  g_assert_nonnull (strstr (error->message, "has ended"));
}

static void
test_limit (void)
{
  struct rlimit limit;
  int status;
  pid_t child = fork ();

  if (child == 0)
    {
      gantry_process_limit (RLIMIT_NOFILE, 100);
      gantry_process_limit (RLIMIT_NOFILE, 200);
      _exit (getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 100 && limit.rlim_max == 100 ? 0 : 1);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/process-limits/ends", test_ends);
  g_test_add_func ("/base/process-limits/stopped", test_stopped);
  g_test_add_func ("/base/process-limits/parent-killed", test_parent_killed);
  g_test_add_func ("/base/process-limits/parent-gone", test_parent_gone);
  g_test_add_func ("/base/process-limits/limit", test_limit);
  return g_test_run ();
}
