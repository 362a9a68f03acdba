/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and allocators compared on a worker thread, and one of them chosen. */
#include "core/document/document-private.h"
#include "core/base/thread.h"

typedef struct
{
  GantryCompilation *compilation;
  GantryCompileSettings settings;
} Request;

static void
request_free (gpointer data)
{
  Request *request = data;

  gantry_compilation_unref (request->compilation);
  gantry_compile_settings_clear (&request->settings);
  g_free (request);
}

static void
compare_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *request = data;
  const GantryProgress progress = { .cancellable = cancellable };
  GError *error = NULL;
  GArray *rows = gantry_compilation_compare_allocations (request->compilation, &request->settings, &progress, &error);

  if (rows != NULL)
    g_task_return_pointer (task, rows, (GDestroyNotify) g_array_unref);
  else
    g_task_return_error (task, error);
}

void
gantry_document_compare_allocations_async (GantryDocument *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);
  Request *request = g_new0 (Request, 1);

  request->compilation = gantry_compilation_ref (gantry_document_get_compilation (self));
  gantry_compile_settings_copy (&request->settings, &self->state->settings);
  g_task_set_task_data (task, request, request_free);
  gantry_task_run_in_thread (task, compare_thread);
}

GArray *
gantry_document_compare_allocations_finish (GantryDocument *self, GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

void
gantry_document_set_allocation (GantryDocument *self, GantryOrderPolicy order, GantryAllocator allocator)
{
  GantryCompileSettings settings = *gantry_document_get_settings (self); /* borrowed: copied by who takes it */

  settings.order = order;
  settings.allocator = allocator;
  gantry_document_set_settings (self, &settings, "order and allocator");
}
