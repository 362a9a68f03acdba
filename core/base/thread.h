/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that may be refused: GLib ends the program where a thread cannot be made, and work for its own pool waits for ever then. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * gantry_thread_try:
 * @name: (nullable): for debuggers
 *
 * Returns: (transfer full) (nullable): to be joined; %NULL with %GANTRY_ERROR_FAILED, which says what limits threads, where none can be made
 */
GThread *gantry_thread_try (const char *name, GThreadFunc func, gpointer data, GError **error);

/**
 * gantry_thread_check:
 *
 * Returns: whether @n threads beside this one can be made at the same time; errors as of gantry_thread_try()
 */
gboolean gantry_thread_check (guint n, GError **error);

/**
 * gantry_task_run_in_thread:
 *
 * As g_task_run_in_thread(), on a thread of its own; where that cannot be made the task returns the error of gantry_thread_try().
 */
void gantry_task_run_in_thread (GTask *task, GTaskThreadFunc func);

/** The calling thread, which has to be one of its own, gives way to all others of the machine from now on. */
void gantry_thread_step_back (void);

G_END_DECLS
