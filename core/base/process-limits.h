/* SPDX-License-Identifier: Apache-2.0 */
/* What a process takes from itself before it does what others wrote: rights that never come back. */
#pragma once
#include <glib.h>
#include <sys/types.h>

/* Whether this is built with AddressSanitizer or ThreadSanitizer, which reserve terabytes of address space and watch their
 * own process. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define GANTRY_SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GANTRY_SANITIZED 1
#endif
#endif
#ifndef GANTRY_SANITIZED
#define GANTRY_SANITIZED 0
#endif

G_BEGIN_DECLS

/**
 * gantry_process_limit:
 * @resource: one of setrlimit(2)
 *
 * Lowers the limit of this process and of those that it starts, for good. A limit that is lower already stays.
 */
void gantry_process_limit (int resource, guint64 most);

/**
 * gantry_process_end_with:
 * @parent: who started this process
 * @signal: what this process gets when @parent's thread that started it ends
 * @error: (nullable)
 *
 * Returns: FALSE where @parent has ended already: nobody waits for this process
 */
gboolean gantry_process_end_with (pid_t parent, int signal, GError **error);

/**
 * gantry_process_supervise:
 * @status: (out): how the new process ended, as waitpid(2) tells it
 *
 * Forks. It returns TRUE in the new process, which goes on and is killed when this one ends. In this one it waits for the new one or
 * for SIGTERM, SIGINT or SIGHUP, which count as its end; then it kills everything that came of the new process, what has left its
 * group and its session too: orphans become children of this process (PR_SET_CHILD_SUBREAPER, prctl(2)), and a child that has
 * not been waited for keeps its number, so that no other process is ever meant. Then it returns FALSE. Each of both
 * leads a group of its own, which is not the one that its terminal reads for: standard input that was a terminal is empty in the new
 * process. SIGCHLD has its default action afterwards. Where there can be no new process, standard error says why, and @status is that
 * of one that ended with 1. The caller may have one thread only.
 */
gboolean gantry_process_supervise (int *status);

/** Ends this process as @status says another one has ended: with its exit status or by its signal. */
void gantry_process_end_as (int status) G_GNUC_NORETURN;

G_END_DECLS
