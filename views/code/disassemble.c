/* SPDX-License-Identifier: Apache-2.0 */
/* Runs nvdisasm or cuobjdump on a private file. */
#include "views/code/disassemble.h"
#include "core/base/base.h"
#include <string.h>

char *
gantry_disassembler_find (void)
{
  static const char *const names[] = { "nvdisasm", "cuobjdump" };
  const char *home = g_getenv ("CUDA_HOME");
  const char *const folders[] = { home != NULL ? home : "", "/usr/local/cuda" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      char *found = g_find_program_in_path (names[i]);

      for (guint j = 0; found == NULL && j < G_N_ELEMENTS (folders); j++)
        {
          g_autofree char *path = g_build_filename (folders[j], "bin", names[i], NULL);

          if (*folders[j] != '\0' && g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
            found = g_steal_pointer (&path);
        }
      if (found != NULL)
        return found;
    }
  return NULL;
}

static void
said (GObject *source, GAsyncResult *result, gpointer data)
{
  GSubprocess *process = G_SUBPROCESS (source);
  g_autoptr (GTask) task = data;
  g_autofree char *out = NULL, *err = NULL;
  GError *error = NULL;

  if (!g_subprocess_communicate_utf8_finish (process, result, &out, &err, &error))
    {
      g_subprocess_force_exit (process);
      g_task_return_error (task, error);
    }
  else if (!g_subprocess_get_successful (process) || out == NULL || *out == '\0')
    g_task_return_new_error (task, GANTRY_ERROR, GANTRY_ERROR_FAILED, "the disassembler failed: %s",
                             err != NULL && *err != '\0' ? g_strstrip (err) : "it said nothing");
  else
    g_task_return_pointer (task, g_steal_pointer (&out), g_free);
}

void
gantry_disassemble_async (const char *program, GBytes *cubin, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  g_autoptr (GSubprocess) process = NULL;
  GError *error = NULL;
  GantryScratch *scratch = gantry_scratch_new (&error);
  g_autofree char *path = scratch != NULL ? gantry_scratch_file (scratch, "kernel.cubin") : NULL;

  if (scratch != NULL)
    g_task_set_task_data (task, scratch, (GDestroyNotify) gantry_scratch_free);
  if (path != NULL && gantry_output_write (path, NULL, g_bytes_get_data (cubin, NULL), g_bytes_get_size (cubin), &error))
    {
      gboolean dump = g_str_has_suffix (program, "cuobjdump");

      process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error, program, dump ? "-sass" : "-c", path, NULL);
    }
  if (process == NULL)
    g_task_return_error (task, error);
  else
    g_subprocess_communicate_utf8_async (process, NULL, cancellable, said, g_steal_pointer (&task));
}

char *
gantry_disassemble_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
