/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the process that runs generated code: of its life, its files, its system calls and its memory. */
#include "app/cli/confine.h"
#include "core/base/base.h"
#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_OPEN_FILES 4096
#define SPARE_BYTES ((guint64) 1 << 30)
#define MICROSECONDS_BETWEEN_LOOKS (50 * 1000)

/* Life and files */

gboolean
gantry_confine_child (pid_t parent, guint64 most_file_bytes, GError **error)
{
  if (!gantry_process_end_with (parent, SIGKILL, error))
    return FALSE;
  gantry_process_limit (RLIMIT_CORE, 0);
  gantry_process_limit (RLIMIT_NOFILE, MOST_OPEN_FILES);
  gantry_process_limit (RLIMIT_FSIZE, most_file_bytes);
  prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return TRUE;
}

/* System calls */

#ifdef __x86_64__

#define LOAD(field) BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, field))
#define ANSWER(what) BPF_STMT (BPF_RET | BPF_K, (what))
#define REFUSE(code) ANSWER (SECCOMP_RET_ERRNO | (code))
#define IF_EQUAL(value, then, otherwise) BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, (value), (then), (otherwise))
#define REFUSE_CALL(number, code) IF_EQUAL ((number), 0, 1), REFUSE (code)
#define OTHER_ABI 0x40000000 /* numbers of x32 calls begin here */

/* The call is answered by whether its first argument names this process. */
#define REFUSE_OTHERS(number) IF_EQUAL ((number), 0, 4), LOAD (args[0]), IF_EQUAL ((guint32) getpid (), 0, 1), ANSWER (SECCOMP_RET_ALLOW), REFUSE (EPERM)

/* A ring that makes system calls by itself would pass by the filter. Numbers of calls mean something for one architecture alone. */
static void
add_common (GArray *all)
{
  const struct sock_filter part[] = {
    LOAD (arch),     IF_EQUAL (AUDIT_ARCH_X86_64, 1, 0),       REFUSE (ENOSYS), LOAD (nr), BPF_JUMP (BPF_JMP | BPF_JGE | BPF_K, OTHER_ABI, 0, 1),
    REFUSE (ENOSYS), REFUSE_CALL (SYS_io_uring_setup, ENOSYS),
  };

  g_array_append_vals (all, part, G_N_ELEMENTS (part));
}

/* Other processes are neither started, nor signalled, nor looked into, nor talked to: a socket of this machine reaches the session
 * bus, which starts programs. Threads are made by clone as well; clone3 keeps its flags in memory, where a filter cannot look: libc
 * falls back to clone. Libraries signal by kill and tgkill with their own number (abort, raise). */
static void
add_processes (GArray *all)
{
  const struct sock_filter part[] = {
    REFUSE_CALL (SYS_ptrace, EPERM),
    REFUSE_CALL (SYS_process_vm_readv, EPERM),
    REFUSE_CALL (SYS_process_vm_writev, EPERM),
    REFUSE_CALL (SYS_pidfd_open, EPERM),
    REFUSE_CALL (SYS_pidfd_getfd, EPERM),
    REFUSE_CALL (SYS_pidfd_send_signal, EPERM),
    REFUSE_CALL (SYS_tkill, EPERM),
    REFUSE_OTHERS (SYS_kill),
    REFUSE_OTHERS (SYS_tgkill),
    REFUSE_OTHERS (SYS_rt_sigqueueinfo),
    REFUSE_OTHERS (SYS_rt_tgsigqueueinfo),
    REFUSE_CALL (SYS_socket, EACCES),
    REFUSE_CALL (SYS_fork, EPERM),
    REFUSE_CALL (SYS_vfork, EPERM),
    REFUSE_CALL (SYS_execve, EPERM),
    REFUSE_CALL (SYS_execveat, EPERM),
    REFUSE_CALL (SYS_clone3, ENOSYS),
    IF_EQUAL (SYS_clone, 0, 4),
    LOAD (args[0]),
    BPF_JUMP (BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
    ANSWER (SECCOMP_RET_ALLOW),
    REFUSE (EPERM),
  };

  g_array_append_vals (all, part, G_N_ELEMENTS (part));
}

/* Of the arguments only the lower half counts: all that are looked at are 32 bits wide. The accumulator has the number again where
 * the call is another one. */
static void
refuse_where (GArray *all, guint32 number, guint argument, const guint32 *values, guint n)
{
  const struct sock_filter load[] = {
    IF_EQUAL (number, 0, (guint8) (n + 3)),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, (guint32) (offsetof (struct seccomp_data, args) + argument * sizeof (guint64))),
  };
  const struct sock_filter end[] = { ANSWER (SECCOMP_RET_ALLOW), REFUSE (EPERM) };

  g_array_append_vals (all, load, G_N_ELEMENTS (load));
  for (guint i = 0; i < n; i++)
    {
      const struct sock_filter test = IF_EQUAL (values[i], (guint8) (n - i), 0);

      g_array_append_val (all, test);
    }
  g_array_append_vals (all, end, G_N_ELEMENTS (end));
}

/* A call of (kind, id) is let through for the process itself. */
#define REFUSE_BUT_SELF(number, kind, answer) \
  IF_EQUAL ((number), 0, 7), LOAD (args[0]), IF_EQUAL ((kind), 0, 4), LOAD (args[1]), IF_EQUAL (0, 1, 0), IF_EQUAL ((guint32) getpid (), 0, 1), \
    ANSWER (SECCOMP_RET_ALLOW), answer
#define REFUSE_PID(number, answer) \
  IF_EQUAL ((number), 0, 5), LOAD (args[0]), IF_EQUAL (0, 1, 0), IF_EQUAL ((guint32) getpid (), 0, 1), ANSWER (SECCOMP_RET_ALLOW), answer

#define PROCESS_OF_IOPRIO 1 /* IOPRIO_WHO_PROCESS, ioprio_set(2): in no header of the C library */

/* How others are run: their limits, processors, priorities and pages. GLib gives the threads of a pool the scheduling that they have
 * already, each by its own number, and complains where that fails: there it is answered that it was done. */
static void
add_scheduling (GArray *all)
{
  const struct sock_filter part[] = {
    REFUSE_PID (SYS_prlimit64, REFUSE (EPERM)),
    REFUSE_PID (SYS_sched_setaffinity, REFUSE (EPERM)),
    REFUSE_PID (SYS_sched_setscheduler, REFUSE (EPERM)),
    REFUSE_PID (SYS_sched_setparam, REFUSE (EPERM)),
    REFUSE_PID (SYS_sched_setattr, REFUSE (0)),
    REFUSE_PID (SYS_migrate_pages, REFUSE (EPERM)),
    REFUSE_PID (SYS_move_pages, REFUSE (EPERM)),
    REFUSE_BUT_SELF (SYS_setpriority, PRIO_PROCESS, REFUSE (EPERM)),
    REFUSE_BUT_SELF (SYS_ioprio_set, PROCESS_OF_IOPRIO, REFUSE (EPERM)),
    REFUSE_CALL (SYS_kcmp, EPERM),
    REFUSE_CALL (SYS_process_madvise, EPERM),
    REFUSE_CALL (SYS_process_mrelease, EPERM),
  };

  g_array_append_vals (all, part, G_N_ELEMENTS (part));
}

/* Signals by way of a descriptor (its owner gets SIGIO or another), and a terminal: what is typed into it goes to the shell, and
 * its groups are signalled. */
static void
add_descriptors (GArray *all)
{
  static const guint32 of_fcntl[] = { F_SETOWN, F_SETOWN_EX, F_SETSIG };
  static const guint32 of_ioctl[] = { FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX, TIOCSIG, TIOCSPGRP, TIOCSCTTY, TIOCNOTTY };

  refuse_where (all, SYS_fcntl, 1, of_fcntl, G_N_ELEMENTS (of_fcntl));
  refuse_where (all, SYS_ioctl, 1, of_ioctl, G_N_ELEMENTS (of_ioctl));
}

/* Parts of the kernel that no computation needs, as if there were none: mostly for those with rights, root in a container among them. */
static void
add_kernel (GArray *all)
{
  static const guint32 numbers[] = {
    SYS_keyctl,      SYS_add_key,      SYS_request_key,   SYS_bpf,        SYS_userfaultfd,       SYS_perf_event_open,
    SYS_mount,       SYS_umount2,      SYS_pivot_root,    SYS_chroot,     SYS_unshare,           SYS_setns,
    SYS_fsopen,      SYS_fsconfig,     SYS_fsmount,       SYS_fspick,     SYS_open_tree,         SYS_move_mount,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load,   SYS_reboot,
    SYS_swapon,      SYS_swapoff,      SYS_mount_setattr, SYS_vhangup,    SYS_open_by_handle_at,
  };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      const struct sock_filter one[] = { REFUSE_CALL (numbers[i], ENOSYS) };

      g_array_append_vals (all, one, G_N_ELEMENTS (one));
    }
}

/* Sockets of this machine alone: what a driver talks to its service with. */
static void
add_network (GArray *all)
{
  const struct sock_filter part[] = {
    IF_EQUAL (SYS_socket, 0, 4), LOAD (args[0]), IF_EQUAL (AF_UNIX, 2, 0), IF_EQUAL (AF_NETLINK, 1, 0), REFUSE (EACCES), ANSWER (SECCOMP_RET_ALLOW),
  };

  g_array_append_vals (all, part, G_N_ELEMENTS (part));
}

static gboolean
set_filter (gboolean processes)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (struct sock_filter));
  struct sock_fprog program;

  add_common (all);
  /* The sanitizer's search for leaks stops the process and looks into it from another one. */
  if (!processes && !GANTRY_SANITIZED)
    add_processes (all);
  if (!processes)
    {
      add_scheduling (all);
      add_descriptors (all);
      add_kernel (all);
    }
  add_network (all);
  program = (struct sock_fprog){ (unsigned short) all->len, (struct sock_filter *) (gpointer) all->data };
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return FALSE;
  /* Threads that are there already, too. */
  return syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

#else

static gboolean
set_filter (gboolean processes)
{
  errno = ENOSYS;
  return FALSE;
}

#endif

gboolean
gantry_confine_code (gboolean processes, GError **error)
{
  if (set_filter (processes))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "this system has no filter of system calls (%s): generated code could reach the network",
               g_strerror (errno));
  return FALSE;
}

/* Memory */

struct _GantryMemoryWatch
{
  guint64 planned, before, most;
  GMutex lock;
  GCond stopped;
  gboolean stop;
  GThread *thread;
};

static guint64
held_now (void)
{
  GantryProcessMemory memory;

  return gantry_process_memory_read (&memory) ? memory.anonymous + memory.shared : 0;
}

static void
end_process (const GantryMemoryWatch *watch, guint64 held)
{
  g_autofree char *now = gantry_format_bytes_within (held, watch->most), *most = gantry_format_limit (watch->most);
  g_autofree char *planned = gantry_format_bytes (watch->planned);

  g_printerr ("%s: the run was ended: it has %s in memory, its limit is %s, of which it planned %s; please report this\n",
              g_get_prgname () != NULL ? g_get_prgname () : "gantry-cli", now, most, planned);
  _exit (1);
}

static gpointer
watch_memory (gpointer data)
{
  GantryMemoryWatch *watch = data;

  g_mutex_lock (&watch->lock);
  while (!watch->stop)
    {
      guint64 held = held_now ();

      if (held > watch->most)
        end_process (watch, held);
      g_cond_wait_until (&watch->stopped, &watch->lock, g_get_monotonic_time () + MICROSECONDS_BETWEEN_LOOKS);
    }
  g_mutex_unlock (&watch->lock);
  return NULL;
}

GantryMemoryWatch *
gantry_memory_watch_new (guint64 planned)
{
  GantryMemoryWatch *watch = g_new0 (GantryMemoryWatch, 1);

  g_mutex_init (&watch->lock);
  g_cond_init (&watch->stopped);
  watch->planned = planned;
  watch->before = held_now ();
  watch->most = watch->before + SPARE_BYTES + (planned < G_MAXUINT64 / 4 ? 2 * planned : G_MAXUINT64 / 2);
  watch->thread = g_thread_try_new ("memory-watch", watch_memory, watch, NULL);
  return watch;
}

void
gantry_memory_watch_free (GantryMemoryWatch *watch)
{
  if (watch == NULL)
    return;
  g_mutex_lock (&watch->lock);
  watch->stop = TRUE;
  g_cond_signal (&watch->stopped);
  g_mutex_unlock (&watch->lock);
  if (watch->thread != NULL)
    g_thread_join (watch->thread);
  g_mutex_clear (&watch->lock);
  g_cond_clear (&watch->stopped);
  g_free (watch);
}
