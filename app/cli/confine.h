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
 * beyond @most_file_bytes ends it (SIGXFSZ). It gets no rights by starting programs.
 *
 * Returns: FALSE where @parent has ended already
 */
gboolean gantry_confine_child (pid_t parent, guint64 most_file_bytes, GError **error);

/**
 * gantry_confine_code:
 * @processes: may other programs be started? An assembler of GPU code is one.
 *
 * From now on no thread of this process reaches a network or, without @processes, starts other processes or looks into them. What
 * is open stays open. To be called once, before generated code runs. It is Linux' filter of system calls (seccomp(2)), which needs no
 * rights and no namespaces, and costs some ten nanoseconds a call.
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
