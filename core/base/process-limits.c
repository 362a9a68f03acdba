/* SPDX-License-Identifier: Apache-2.0 */
/* Linux: prctl(2), setrlimit(2) and proc(5). */
#include "core/base/process-limits.h"
#include "core/base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void
gantry_process_limit (int resource, guint64 most)
{
  struct rlimit now;

  if (getrlimit ((__rlimit_resource_t) resource, &now) != 0)
    return;
  now.rlim_max = MIN (now.rlim_max, (rlim_t) most);
  now.rlim_cur = MIN (now.rlim_cur, now.rlim_max);
  setrlimit ((__rlimit_resource_t) resource, &now);
}

gboolean
gantry_process_end_with (pid_t parent, int signal, GError **error)
{
  prctl (PR_SET_PDEATHSIG, signal);
  /* It may have ended before that was said: then this process has another parent. */
  if (getppid () == parent)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "process %ld, which started this run, has ended", (long) parent);
  return FALSE;
}

/* Supervising */

/* "123 (name, which may hold anything) S 100 ...": the name ends at the last parenthesis. */
static pid_t
parent_of (const char *pid)
{
  g_autofree char *path = g_build_filename ("/proc", pid, "stat", NULL), *text = NULL;
  const char *end;
  long parent;

  if (!g_file_get_contents (path, &text, NULL, NULL) || (end = strrchr (text, ')')) == NULL || sscanf (end + 1, " %*c %ld", &parent) != 1)
    return -1;
  return (pid_t) parent;
}

static void
kill_children (void)
{
  g_autoptr (GDir) all = g_dir_open ("/proc", 0, NULL);
  const char *name;

  while (all != NULL && (name = g_dir_read_name (all)) != NULL)
    if (g_ascii_isdigit (name[0]) && parent_of (name) == getpid ())
      kill ((pid_t) atol (name), SIGKILL);
}

/* Of each that dies the children become ours, so this goes on until there are none. Only children are killed, and none has been
 * waited for: their numbers are theirs. */
static void
end_children (pid_t first, int *status)
{
  int one;
  pid_t ended;

  do
    {
      kill_children ();
      ended = waitpid (-1, &one, 0);
      if (ended == first)
        *status = one;
    }
  while (ended > 0 || errno == EINTR);
}

/* Orphans that end on the way are waited for too. */
static gboolean
has_ended (pid_t first, int *status)
{
  gboolean found = FALSE;
  pid_t ended;
  int one;

  while ((ended = waitpid (-1, &one, WNOHANG)) > 0)
    if (ended == first)
      {
        *status = one;
        found = TRUE;
      }
  return found;
}

/* A group in the background that reads from its terminal is stopped, and nobody would let it go on. */
static void
leave_terminal_input (void)
{
  int null;

  if (!isatty (STDIN_FILENO) || (null = open ("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
    return;
  dup2 (null, STDIN_FILENO);
  close (null);
}

/* Who ignored SIGCHLD gets none, and statuses of children are lost (sigaction(2)). */
static void
block_awaited (sigset_t *awaited, sigset_t *before)
{
  signal (SIGCHLD, SIG_DFL);
  sigemptyset (awaited);
  sigaddset (awaited, SIGCHLD);
  sigaddset (awaited, SIGTERM);
  sigaddset (awaited, SIGINT);
  sigaddset (awaited, SIGHUP);
  sigprocmask (SIG_BLOCK, awaited, before);
}

gboolean
gantry_process_supervise (int *status)
{
  pid_t self = getpid (), first;
  sigset_t awaited, before;
  int signal = SIGCHLD;

  setpgid (0, 0);
  prctl (PR_SET_CHILD_SUBREAPER, 1);
  block_awaited (&awaited, &before);
  first = fork ();
  if (first == 0)
    {
      setpgid (0, 0); /* whoever ends its group does not end this process */
      leave_terminal_input ();
      sigprocmask (SIG_SETMASK, &before, NULL);
      if (!gantry_process_end_with (self, SIGKILL, NULL))
        _exit (1);
      return TRUE;
    }
  *status = W_EXITCODE (1, 0);
  if (first < 0)
    {
      g_printerr ("no process could be started: %s\n", g_strerror (errno));
      return FALSE;
    }
  while (!has_ended (first, status) && (signal == SIGCHLD || signal < 0))
    signal = sigwaitinfo (&awaited, NULL); /* -1: interrupted */
  end_children (first, status);
  return FALSE;
}

void
gantry_process_end_as (int status)
{
  if (WIFSIGNALED (status))
    {
      sigset_t one;

      gantry_process_limit (RLIMIT_CORE, 0);
      sigemptyset (&one);
      sigaddset (&one, WTERMSIG (status));
      signal (WTERMSIG (status), SIG_DFL);
      sigprocmask (SIG_UNBLOCK, &one, NULL);
      raise (WTERMSIG (status));
    }
  _exit (WIFEXITED (status) ? WEXITSTATUS (status) : 1);
}
