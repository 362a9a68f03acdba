/* SPDX-License-Identifier: Apache-2.0 */
/* The child that measures, and what it says where it could not. */
#include "core/document/calibration.h"
#include "core/base/error.h"
#include "core/planner/machine.h"
#include <string.h>
#include <unistd.h>

void
gantry_calibration_enable (void)
{
  gantry_machine_enable ();
}

static void
ended (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) task = user_data;
  GSubprocess *process = G_SUBPROCESS (source);
  g_autofree char *said = NULL;
  GError *error = NULL;

  if (!g_subprocess_communicate_utf8_finish (process, result, NULL, &said, &error))
    {
      g_subprocess_force_exit (process);
      g_task_return_error (task, error);
    }
  else if (!g_subprocess_get_successful (process))
    g_task_return_new_error (task, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s", said != NULL ? g_strchomp (said) : "gantry-cli calibrate failed");
  else
    g_task_return_boolean (task, TRUE);
}

void
gantry_calibration_start_async (const char *cli, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, user_data);
  g_autofree char *parent = g_strdup_printf ("--parent=%ld", (long) getpid ());
  g_autoptr (GSubprocess) process = NULL;
  GError *error = NULL;

  if (!gantry_machine_is_due (0))
    {
      g_task_return_boolean (task, FALSE);
      g_object_unref (task);
      return;
    }
  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error, cli, "calibrate", "--keep", "--seconds=8", parent,
                              NULL);
  if (process != NULL)
    {
      g_subprocess_communicate_utf8_async (process, NULL, cancellable, ended, task);
      return;
    }
  g_task_return_error (task, error);
  g_object_unref (task);
}

gboolean
gantry_calibration_start_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
