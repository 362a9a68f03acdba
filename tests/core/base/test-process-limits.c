/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of core/base/process-limits: nothing that a supervised process started outlives it, however it left. */
#include "core/base/process-limits.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

  alarm (60);
  g_assert_cmpint (waitpid (supervisor, &status, 0), ==, supervisor);
  /* All have ended by now: this neither blocks nor finds a byte. */
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
return_at_once (void)
{
}

/* The number of processes is limited for users other than root: as root the test becomes one of whom there are no others. */
static void
supervise_without_processes (void)
{
  struct rlimit none = { 0, 0 };
  int status = -1;

  if (geteuid () == 0 && setuid (64321) != 0)
    _exit (77);
  setrlimit (RLIMIT_NPROC, &none);
  if (gantry_process_supervise (&status))
    _exit (78);
  _exit (WIFEXITED (status) ? WEXITSTATUS (status) : 79);
}

static void
test_no_process (void)
{
  int ends[2], status;
  char said[200] = "";
  pid_t child;

  g_assert_cmpint (pipe (ends), ==, 0);
  child = fork ();
  if (child == 0)
    {
      dup2 (ends[1], STDERR_FILENO);
      supervise_without_processes ();
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  close (ends[1]);
  g_assert_true (WIFEXITED (status));
  if (WEXITSTATUS (status) == 77)
    g_test_skip ("root cannot become another user");
  else
    {
      g_assert_cmpint (WEXITSTATUS (status), ==, 1);
      g_assert_cmpint (read (ends[0], said, sizeof said - 1), >, 0);
      g_assert_nonnull (strstr (said, "no process could be started: "));
    }
  close (ends[0]);
}

/* Who started this program may have ignored SIGCHLD. */
static void
test_ignored (void)
{
  int end, status;
  pid_t pid;

  signal (SIGCHLD, SIG_IGN);
  pid = start_supervisor (return_at_once, &end);
  signal (SIGCHLD, SIG_DFL);
  status = wait_for (pid, end);
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 3);
}

/* Reads as a program does that asks its user: standard input is at its end. */
static void
read_input (void)
{
  char byte;

  _exit (read (STDIN_FILENO, &byte, 1) == 0 ? 3 : 4);
}

/* In a session of its own whose terminal is @master's. */
static void
supervise_at_terminal (int master)
{
  int terminal, status;

  setsid ();
  terminal = open (ptsname (master), O_RDWR);
  if (terminal < 0 || ioctl (terminal, TIOCSCTTY, 0) < 0 || dup2 (terminal, STDIN_FILENO) < 0)
    _exit (77);
  /* The leader of a session cannot lead another group, as a program that a shell starts can. */
  if (fork () != 0)
    {
      alarm (60); /* those that wait for ever would have been stopped */
      wait (&status);
      _exit (WEXITSTATUS (status));
    }
  if (!gantry_process_supervise (&status))
    gantry_process_end_as (status);
  read_input ();
}

static void
test_terminal (void)
{
  int master = posix_openpt (O_RDWR | O_NOCTTY), status;
  pid_t child;

  g_assert_true (master >= 0 && grantpt (master) == 0 && unlockpt (master) == 0);
  child = fork ();
  if (child == 0)
    supervise_at_terminal (master);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  close (master);
  if (WIFEXITED (status) && WEXITSTATUS (status) == 77)
    {
      g_test_skip ("no terminal can be had");
      return;
    }
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 3);
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
  g_test_add_func ("/base/process-limits/no-process", test_no_process);
  g_test_add_func ("/base/process-limits/ignored", test_ignored);
  g_test_add_func ("/base/process-limits/terminal", test_terminal);
  g_test_add_func ("/base/process-limits/stopped", test_stopped);
  g_test_add_func ("/base/process-limits/parent-killed", test_parent_killed);
  g_test_add_func ("/base/process-limits/parent-gone", test_parent_gone);
  g_test_add_func ("/base/process-limits/limit", test_limit);
  return g_test_run ();
}
