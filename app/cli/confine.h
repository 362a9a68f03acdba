/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that runs generated code may do. The code is made from a file that a stranger may have written: an error in
 * making it must cost this process and nothing else. */
#pragma once
#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/** More than any session or output has. */
#define GANTRY_MOST_FILE_BYTES ((guint64) 64 << 30)

/**
 * gantry_confine_child:
 * @parent: who started this process and waits for it
 * @most_file_bytes: of one file that it writes
 *
 * From now on this process is killed when @parent ends; it leaves no core file, opens 4096 files at most, and a file that grows
 * beyond @most_file_bytes ends it (SIGXFSZ; where that is ignored, as in gantry-cli, the write fails). It gets no rights by starting programs.
 *
 * Returns: FALSE where @parent has ended already
 */
gboolean gantry_confine_child (pid_t parent, guint64 most_file_bytes, GError **error);

/**
 * gantry_confine_code:
 * @processes: may other programs be started? An assembler of GPU code is one.
 *
 * From now on no thread of this process reaches a network: sockets are of this machine (AF_UNIX, AF_NETLINK). Rings of system calls
 * (io_uring_setup(2)) and calls of another architecture are refused. Without @processes these are refused too:
 *
 * - every socket;
 * - to start a process (fork(2), vfork(2), execve(2), clone(2) but for threads);
 * - to signal one by kill(2) and its kin, by pidfd_send_signal(2), or as the owner of a descriptor (F_SETOWN, F_SETOWN_EX, F_SETSIG
 *   of fcntl(2), FIOSETOWN and SIOCSPGRP of ioctl(2));
 * - to look into one (ptrace(2), process_vm_readv(2), process_vm_writev(2), pidfd_open(2), pidfd_getfd(2), kcmp(2));
 * - to change how one runs: prlimit(2), sched_setaffinity(2), sched_setscheduler(2), sched_setparam(2), sched_setattr(2) (which does
 *   nothing and says it did), setpriority(2), ioprio_set(2), migrate_pages(2), move_pages(2) of another number than 0 or this
 *   process', which is also to say of another thread, process_madvise(2), process_mrelease(2);
 * - of a terminal: TIOCSTI, TIOCLINUX, TIOCSIG, TIOCSPGRP, TIOCSCTTY, TIOCNOTTY, and vhangup(2);
 * - keyctl(2), add_key(2), request_key(2), bpf(2), userfaultfd(2), perf_event_open(2), mounts, namespaces, modules, swapping,
 *   kexec_load(2), reboot(2), open_by_handle_at(2).
 *
 * Under AddressSanitizer sockets of this machine, starting processes, signalling them otherwise than as the owner of a descriptor, and
 * looking into them otherwise than by kcmp(2) stay allowed, for its search for leaks.
 * What is open stays open: what is written to a pipe, a socket or a terminal arrives. Memory, semaphores and queues that
 * processes share are reached as before. To be called once, before generated code runs. It is Linux' filter of system calls
 * (seccomp(2)), which needs no rights and no namespaces. It sees numbers and no names: files are the user's as before, those
 * of other processes in /proc too, as far as the system lets its user trace them (Documentation/admin-guide/LSM/Yama.rst).
 *
 * Returns: FALSE where the system has no such filter: nothing is confined then
 */
gboolean gantry_confine_code (gboolean processes, GError **error);

typedef struct _GantryMemoryWatch GantryMemoryWatch;

/**
 * gantry_memory_watch_new:
 * @planned: bytes that the plan has for the run, on the device and the host, where both are of this process
 *
 * Ends the process with status 1 and words on standard error when it has in memory, files apart, a GiB more than now and twice
 * @planned. What counts is what is in memory, looked at twenty times a second, not address space: arenas are reserved whole and
 * touched in part.
 *
 * Returns: (transfer full): until it is freed
 */
GantryMemoryWatch *gantry_memory_watch_new (guint64 planned);
void gantry_memory_watch_free (GantryMemoryWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryMemoryWatch, gantry_memory_watch_free)

G_END_DECLS
