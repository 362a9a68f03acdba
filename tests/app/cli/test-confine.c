/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of app/cli/confine: each case is a process of its own, for nothing that is taken from one comes back. */
#include "app/cli/confine.h"
#include "tests/app/cli/cli-test.h"
#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/* Runs @body in a child. Returns: how it ended, as waitpid() tells; @said gets its standard error */
static int
run_child (void (*body) (void), char **said)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char buffer[1024];
  int ends[2], status;
  gssize n;
  pid_t child;

  g_assert_cmpint (pipe (ends), ==, 0);
  child = fork ();
  if (child == 0)
    {
      dup2 (ends[1], STDERR_FILENO);
      close (ends[0]);
      close (ends[1]);
      body ();
      _exit (0);
    }
  close (ends[1]);
  while ((n = read (ends[0], buffer, sizeof buffer)) > 0)
    g_string_append_len (text, buffer, n);
  close (ends[0]);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_test_message ("status %d, it said: %s", status, text->str);
  if (said != NULL)
    *said = g_string_free (g_steal_pointer (&text), FALSE);
  return status;
}

/* In a child a failed expectation is an exit status: the line. */
#define EXPECT(condition) \
  do \
    if (!(condition)) \
      { \
        g_printerr ("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
        _exit (1); \
      } \
  while (0)

static gboolean
refuses (int domain, int type)
{
  return socket (domain, type, 0) < 0 && errno == EACCES;
}

static gpointer
try_network (gpointer data)
{
  return GINT_TO_POINTER (refuses (AF_INET, SOCK_STREAM));
}

static gpointer
wait_and_try (gpointer data)
{
  g_mutex_lock (data);
  g_mutex_unlock (data);
  return try_network (NULL);
}

/* No socket but this machine's, in threads from before and after too. */
static void
without_network (void)
{
  GMutex lock;
  GThread *before, *after;

  g_mutex_init (&lock);
  g_mutex_lock (&lock);
  before = g_thread_new ("before", wait_and_try, &lock);
  EXPECT (socket (AF_INET, SOCK_DGRAM, 0) >= 0);
  EXPECT (gantry_confine_code (TRUE, NULL));
  EXPECT (refuses (AF_INET, SOCK_STREAM) && refuses (AF_INET, SOCK_DGRAM) && refuses (AF_INET6, SOCK_STREAM));
  EXPECT (refuses (AF_PACKET, SOCK_RAW) && refuses (AF_VSOCK, SOCK_STREAM));
  EXPECT (socket (AF_UNIX, SOCK_STREAM, 0) >= 0);
  g_mutex_unlock (&lock);
  EXPECT (g_thread_join (before) != NULL);
  after = g_thread_new ("after", try_network, NULL);
  EXPECT (g_thread_join (after) != NULL);
}

static void
with_processes (void)
{
  int status;
  pid_t child;

  EXPECT (gantry_confine_code (TRUE, NULL));
  child = fork ();
  if (child == 0)
    {
      execl ("/bin/true", "true", NULL);
      _exit (1);
    }
  EXPECT (waitpid (child, &status, 0) == child && status == 0);
}

#ifndef SANITIZED
static void
ignore (int signal)
{
}

/* Another process of this user is neither signalled nor looked into, by whatever number or descriptor; this one still signals itself. */
static void
without_processes (void)
{
  char *const arguments[] = { (char *) "true", NULL };
  pid_t parent = getpid (), other = fork ();
  int of_other = (int) syscall (SYS_pidfd_open, other, 0), byte = 0;
  struct iovec own = { &byte, 1 };
  siginfo_t info = { .si_code = SI_QUEUE };

  if (other == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      if (getppid () != parent) /* it ended before */
        _exit (1);
      sleep (1000);
    }
  EXPECT (kill (other, 0) == 0 && of_other >= 0);
  EXPECT (gantry_confine_code (FALSE, NULL));
  EXPECT (kill (other, 0) < 0 && errno == EPERM);
  EXPECT (kill (-1, 0) < 0 && errno == EPERM);
  EXPECT (kill (0, 0) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_tkill, other, 0) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_tgkill, other, other, 0) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_rt_sigqueueinfo, other, SIGUSR1, &info) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_rt_tgsigqueueinfo, other, other, SIGUSR1, &info) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_pidfd_send_signal, of_other, 0, NULL, 0) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_pidfd_getfd, of_other, 0, 0) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_pidfd_open, getpid (), 0) < 0 && errno == EPERM);
  EXPECT (process_vm_readv (other, &own, 1, &own, 1, 0) < 0 && errno == EPERM);
  EXPECT (process_vm_writev (other, &own, 1, &own, 1, 0) < 0 && errno == EPERM);
  EXPECT (refuses (AF_UNIX, SOCK_STREAM) && refuses (AF_NETLINK, SOCK_RAW) && refuses (AF_INET, SOCK_STREAM));
  signal (SIGUSR1, ignore);
  EXPECT (raise (SIGUSR1) == 0 && kill (getpid (), SIGUSR1) == 0);
  EXPECT (fork () < 0 && errno == EPERM);
  EXPECT (vfork () < 0 && errno == EPERM);
  EXPECT (execv ("/bin/true", arguments) < 0 && errno == EPERM);
  EXPECT (ptrace (PTRACE_TRACEME, 0, NULL, NULL) < 0 && errno == EPERM);
  EXPECT (system ("true") != 0);
  EXPECT (g_thread_join (g_thread_new ("thread", try_network, NULL)) != NULL);
}
#endif

/* Numbers of a process stand in different arguments: 0 and the own one are let through. */
static void
without_scheduling (pid_t other)
{
  const pid_t own[] = { 0, getpid () };
  struct rlimit limit;
  guint64 processors[128], attributes[16] = { 48 };
  struct
  {
    int priority;
  } parameter = { 0 };
  long bytes = syscall (SYS_sched_getaffinity, 0, sizeof processors, processors), priority = syscall (SYS_ioprio_get, 1, 0);

  EXPECT (syscall (SYS_prlimit64, other, RLIMIT_CORE, NULL, &limit) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_sched_setaffinity, other, bytes, processors) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_sched_setscheduler, other, 0, &parameter) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_sched_setparam, other, &parameter) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_sched_setattr, other, NULL, 1) == 0);
  EXPECT (syscall (SYS_setpriority, PRIO_PROCESS, other, 19) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_setpriority, PRIO_USER, 0, 0) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_setpriority, PRIO_PGRP, 0, 0) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_ioprio_set, 1, other, priority) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_ioprio_set, 3, 0, priority) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_migrate_pages, other, 0, NULL, NULL) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_move_pages, other, 0, NULL, NULL, NULL, 0) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_kcmp, other, other, 0, 0, 0) < 0 && errno == EPERM);
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    {
      EXPECT (syscall (SYS_prlimit64, own[i], RLIMIT_CORE, NULL, &limit) == 0);
      EXPECT (syscall (SYS_sched_setaffinity, own[i], bytes, processors) == 0);
      EXPECT (syscall (SYS_sched_setattr, own[i], attributes, 1) < 0 && errno == EINVAL); /* the kernel has looked at it */
      EXPECT (syscall (SYS_setpriority, PRIO_PROCESS, own[i], getpriority (PRIO_PROCESS, 0)) == 0);
      EXPECT (syscall (SYS_ioprio_set, 1, own[i], priority) == 0 || errno != EPERM);
    }
}

static void
without_descriptors (pid_t other)
{
  static const unsigned long requests[] = { FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX, TIOCSIG, TIOCSPGRP, TIOCSCTTY, TIOCNOTTY };
  struct
  {
    int type;
    pid_t pid;
  } owner = { 1, other };
  int ends[2], waiting = -1;

  EXPECT (pipe (ends) == 0);
  EXPECT (syscall (SYS_fcntl, ends[0], F_SETOWN, other) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_fcntl, ends[0], F_SETOWN_EX, &owner) < 0 && errno == EPERM);
  EXPECT (syscall (SYS_fcntl, ends[0], F_SETSIG, SIGKILL) < 0 && errno == EPERM);
  EXPECT (fcntl (ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl (ends[0], F_GETFD) == FD_CLOEXEC);
  for (guint i = 0; i < G_N_ELEMENTS (requests); i++)
    EXPECT (syscall (SYS_ioctl, ends[0], requests[i], &other) < 0 && errno == EPERM);
  EXPECT (ioctl (ends[0], FIONREAD, &waiting) == 0 && waiting == 0);
}

/* A pool of threads starts without complaint. */
static void
count (gpointer data, gpointer user_data)
{
  g_atomic_int_inc ((gint *) user_data);
}

static void
without_others (void)
{
  static const long refused[] = { SYS_keyctl,       SYS_add_key,       SYS_request_key, SYS_bpf,       SYS_userfaultfd, SYS_perf_event_open, SYS_mount,
                                  SYS_umount2,      SYS_fsopen,        SYS_move_mount,  SYS_open_tree, SYS_unshare,     SYS_setns,           SYS_init_module,
                                  SYS_finit_module, SYS_delete_module, SYS_kexec_load,  SYS_swapon,    SYS_chroot };
  pid_t parent = getpid (), other = fork ();
  GThreadPool *pool;
  gint n = 0;

  if (other == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      if (getppid () != parent) /* it ended before */
        _exit (1);
      sleep (1000);
    }
  EXPECT (gantry_confine_code (FALSE, NULL));
  without_scheduling (other);
  without_descriptors (other);
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    EXPECT (syscall (refused[i], -1L, -1L, -1L, -1L, -1L) < 0 && errno == ENOSYS);
  g_log_set_always_fatal ((GLogLevelFlags) (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING));
  pool = g_thread_pool_new (count, &n, 2, FALSE, NULL);
  g_thread_pool_push (pool, &n, NULL);
  g_thread_pool_free (pool, FALSE, TRUE);
  EXPECT (n == 1);
}

static void
test_code (void)
{
  g_assert_cmpint (run_child (without_network, NULL), ==, 0);
  g_assert_cmpint (run_child (with_processes, NULL), ==, 0);
  g_assert_cmpint (run_child (without_others, NULL), ==, 0);
#ifdef SANITIZED
  g_test_message ("processes are left to the sanitizer");
#else
  g_assert_cmpint (run_child (without_processes, NULL), ==, 0);
#endif
}

static void
with_limits (void)
{
  g_autofree char *name = NULL;
  struct rlimit limit;
  int file = g_file_open_tmp ("confine-XXXXXX", &name, NULL);
  char bytes[2000] = "";

  EXPECT (gantry_confine_child (getppid (), 1500, NULL));
  EXPECT (getrlimit (RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0);
  EXPECT (getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max <= 4096);
  unlink (name);
  EXPECT (write (file, bytes, 1000) == 1000);
  EXPECT (write (file, bytes, 1000) == 500);
  EXPECT (write (file, bytes, 1000) < 0);
}

static void
with_another_parent (void)
{
  g_autoptr (GError) error = NULL;

  EXPECT (!gantry_confine_child (getpid (), 1 << 20, &error));
  EXPECT (strstr (error->message, "has ended") != NULL);
}

static void
test_child (void)
{
  int status = run_child (with_limits, NULL);

  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGXFSZ);
  g_assert_cmpint (run_child (with_another_parent, NULL), ==, 0);
}

/* Touches @bytes of memory. */
static guint8 *
touch (gsize bytes)
{
  guint8 *memory = mmap (NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  EXPECT (memory != MAP_FAILED);
  for (gsize i = 0; i < bytes; i += 4096)
    memory[i] = 1;
  return memory;
}

static void
take_too_much (void)
{
  gantry_memory_watch_new ((guint64) 32 << 20);
  touch (((gsize) 1 << 30) + ((gsize) 96 << 20));
  g_usleep (60 * G_USEC_PER_SEC);
}

/* Address space and pages of files are no memory that is taken. */
static void
reserve (void)
{
  GantryMemoryWatch *watch = gantry_memory_watch_new (0);
  gsize size = (gsize) 256 << 30;

  EXPECT (mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED);
  touch ((gsize) 256 << 20);
  g_usleep (G_USEC_PER_SEC / 5);
  gantry_memory_watch_free (watch);
  g_usleep (G_USEC_PER_SEC / 5);
}

static void
test_memory (void)
{
  g_autofree char *said = NULL;

  g_assert_cmpint (WEXITSTATUS (run_child (take_too_much, &said)), ==, 1);
  g_assert_nonnull (strstr (said, "the run was ended"));
  g_assert_nonnull (strstr (said, "planned 32"));
  g_assert_cmpint (run_child (reserve, NULL), ==, 0);
}

/* The end of what the run prints is its end: without the tie to the shell it would go on for a million runs. */
static void
test_parent_killed (void)
{
  g_autofree char *program = cli_program (), *model = cli_own_file ("sample.onnx");
  g_autoptr (GSubprocess) shell = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, NULL, "/bin/sh", "-c",
                                                    "\"$0\" run --parent=$$ --progress --runs=1000000 \"$1\"; true", program, model, NULL);
  g_autoptr (GDataInputStream) lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (shell));
  char *line = NULL;

  do
    {
      g_free (line);
      line = g_data_input_stream_read_line (lines, NULL, NULL, NULL);
    }
  while (line != NULL && strstr (line, "Running") == NULL);
  g_assert_nonnull (line);
  g_free (line);
  g_subprocess_force_exit (shell);
  while ((line = g_data_input_stream_read_line (lines, NULL, NULL, NULL)) != NULL)
    g_free (line);
  g_subprocess_wait (shell, NULL, NULL);
}

static void
test_parent_gone (void)
{
  g_autofree char *model = cli_own_file ("sample.onnx");
  g_autoptr (CliResult) result = cli_run ("run", "--parent=1", "--runs=1", model, NULL);

  cli_assert_status (result, 1);
  cli_assert_one_error (result, "has ended");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/confine/code", test_code);
  g_test_add_func ("/cli/confine/child", test_child);
  g_test_add_func ("/cli/confine/memory", test_memory);
  g_test_add_func ("/cli/confine/parent-killed", test_parent_killed);
  g_test_add_func ("/cli/confine/parent-gone", test_parent_gone);
  return g_test_run ();
}
