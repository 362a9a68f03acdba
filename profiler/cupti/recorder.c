/* SPDX-License-Identifier: Apache-2.0 */
/* The CUPTI recorder: starting and stopping in the order that CUPTI needs, marks, and what is said when something is
 * missing. */
#include "profiler/cupti/cupti.h"
#include "core/base/error.h"
#include "core/base/output.h"
#include "profiler/cupti/buffers.h"
#include "profiler/cupti/decode.h"
#include "profiler/cupti/sampler.h"
#include <time.h>

struct _GantryCuptiRecorder
{
  GantryCuptiLibrary *library;
  GantryCuptiOptions options;
  char *raw_path;
  GantryCuptiBuffers buffers;
  CUpti_SubscriberHandle subscriber;
  GantryCuptiSampler *sampler;
  GHashTable *graph_nodes; /* guint64* -> external id; under the buffers' lock */
  GArray *kinds;           /* CUpti_ActivityKind that were enabled */
};

/* CUPTI calls back for buffers without saying for whom, and records for the whole process: so there is one recorder,
 * and these calls find it here. */
static GantryCuptiRecorder *active;
/* Calls that are in it: it is not freed before they have left. */
static int n_inside;

/* What the thread marked last: graph nodes are made by calls that CUPTI tells of within them. */
static _Thread_local guint32 marked;

static gint64
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (gint64) time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Called by CUPTI. */

static uint64_t CUPTIAPI
read_timestamp (void)
{
  return (uint64_t) now ();
}

static void CUPTIAPI
request_buffer (uint8_t **buffer, size_t *size, size_t *most_records)
{
  GantryCuptiRecorder *recorder;
  gsize bytes = 0;

  g_atomic_int_inc (&n_inside);
  recorder = g_atomic_pointer_get (&active);
  *buffer = recorder != NULL ? _gantry_cupti_buffers_request (&recorder->buffers, &bytes) : NULL;
  *size = bytes;
  *most_records = 0;
  g_atomic_int_add (&n_inside, -1);
}

static void CUPTIAPI
complete_buffer (CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
  GantryCuptiRecorder *recorder;

  g_atomic_int_inc (&n_inside);
  recorder = g_atomic_pointer_get (&active);
  if (recorder != NULL)
    _gantry_cupti_buffers_complete (&recorder->buffers, context, stream, buffer, MIN (valid, size));
  else
    g_free (buffer);
  g_atomic_int_add (&n_inside, -1);
}

/* A graph's node is made while the mark of its instruction is set; the graph that is launched is a copy of that one. */
static void
note_graph_node (GantryCuptiRecorder *recorder, const CUpti_GraphData *graph, gboolean cloned)
{
  uint64_t node = 0, original = 0;
  guint32 external = marked;

  if (recorder->library->get_graph_node_id == NULL || recorder->library->get_graph_node_id (graph->node, &node) != CUPTI_SUCCESS
      || (cloned && recorder->library->get_graph_node_id (graph->originalNode, &original) != CUPTI_SUCCESS))
    return;
  g_mutex_lock (&recorder->buffers.lock);
  if (cloned)
    external = GPOINTER_TO_UINT (g_hash_table_lookup (recorder->graph_nodes, &original));
  if (external != 0)
    g_hash_table_insert (recorder->graph_nodes, g_memdup2 (&node, sizeof node), GUINT_TO_POINTER (external));
  g_mutex_unlock (&recorder->buffers.lock);
}

static void CUPTIAPI
hear (void *user_data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
  GantryCuptiRecorder *recorder = user_data;

  if (domain == CUPTI_CB_DOMAIN_RESOURCE && (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED || id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED))
    {
      const CUpti_ResourceData *resource = data;

      note_graph_node (recorder, resource->resourceDescriptor, id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
    }
  else if (domain == CUPTI_CB_DOMAIN_STATE && id == CUPTI_CBID_STATE_FATAL_ERROR)
    {
      const CUpti_StateData *state = data;

      g_mutex_lock (&recorder->buffers.lock);
      gantry_cupti_capture_note (recorder->buffers.capture, "CUPTI stopped recording: %s.",
                                 state->notification.message != NULL ? state->notification.message : "it did not say why");
      g_mutex_unlock (&recorder->buffers.lock);
    }
}

/* Starting. */

static void note (GantryCuptiRecorder *recorder, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
note (GantryCuptiRecorder *recorder, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_mutex_lock (&recorder->buffers.lock);
  gantry_cupti_capture_note (recorder->buffers.capture, "%s", text);
  g_mutex_unlock (&recorder->buffers.lock);
}

static void
note_privileges (GantryCuptiRecorder *recorder, const char *what)
{
  g_autofree char *remedy = gantry_cupti_privileges_text ();

  note (recorder, "No privilege to record %s (CUPTI error 35, INSUFFICIENT_PRIVILEGES). %s", what, remedy);
}

static gboolean
is_held_by_other (CUptiResult result)
{
  return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_MAX_LIMIT_REACHED;
}

/* One tool at a time subscribes in a process: Nsight, cuda-gdb, compute-sanitizer, or a framework's profiler. */
static gboolean
subscribe (GantryCuptiRecorder *recorder, GError **error)
{
  char other[128] = "";
  CUptiResult result;

#if CUPTI_API_VERSION >= 130000
  CUpti_SubscriberParams params = { CUpti_SubscriberParams_STRUCT_SIZE };

  params.subscriberName = "gantry";
  params.oldSubscriberName = other;
  params.oldSubscriberSize = sizeof other;
  if (recorder->library->subscribe_v2 != NULL)
    result = recorder->library->subscribe_v2 (&recorder->subscriber, hear, recorder, &params);
  else
#endif
    result = recorder->library->subscribe (&recorder->subscriber, hear, recorder);
  other[sizeof other - 1] = '\0';
  if (result == CUPTI_SUCCESS)
    return TRUE;
  recorder->subscriber = NULL;
  if (is_held_by_other (result))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
                   "%s%s%s records this process already, and CUPTI serves one at a time: end it, or run without nsys, ncu, "
                   "cuda-gdb or compute-sanitizer",
                   other[0] != '\0' ? "\"" : "", other[0] != '\0' ? other : "another tool", other[0] != '\0' ? "\"" : "");
      return FALSE;
    }
  /* Without it kernels of graphs are not tied to instructions; the rest goes on. */
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    note_privileges (recorder, "which graphs are made");
  else
    note (recorder, "Kernels of CUDA graphs are not tied to instructions: CUPTI would not tell of graphs (%s).",
          _gantry_cupti_result (recorder->library, result));
  return TRUE;
}

gboolean
gantry_cupti_ties_graphs (const GantryCuptiRecorder *recorder)
{
  return recorder->subscriber != NULL && recorder->library->get_graph_node_id != NULL;
}

static void
listen (GantryCuptiRecorder *recorder)
{
  static const struct
  {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId id;
  } wanted[] = { { CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED },
                 { CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED },
                 { CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR } };

  for (guint i = 0; recorder->subscriber != NULL && i < G_N_ELEMENTS (wanted); i++)
    recorder->library->enable_callback (1, recorder->subscriber, wanted[i].domain, wanted[i].id);
}

/* The clock must be ours before any kind is enabled. */
static void
choose_clock (GantryCuptiRecorder *recorder)
{
  GantryCuptiCapture *capture = recorder->buffers.capture;

  capture->is_monotonic = recorder->library->activity_register_timestamp != NULL
                          && recorder->library->activity_register_timestamp (read_timestamp) == CUPTI_SUCCESS;
}

/* The shortest of a few readings bounds the moment best. */
static void
note_moment (GantryCuptiRecorder *recorder)
{
  GantryCuptiMoment best = { 0 };
  gint64 shortest = G_MAXINT64;

  for (guint i = 0; i < 16 && !recorder->buffers.capture->is_monotonic; i++)
    {
      gint64 before = now (), after;
      uint64_t theirs = 0;

      if (recorder->library->get_timestamp (&theirs) != CUPTI_SUCCESS)
        return;
      after = now ();
      if (after - before >= shortest)
        continue;
      shortest = after - before;
      best = (GantryCuptiMoment){ (gint64) theirs, before + (after - before) / 2 };
    }
  if (shortest < G_MAXINT64)
    {
      g_mutex_lock (&recorder->buffers.lock);
      g_array_append_val (recorder->buffers.capture->moments, best);
      g_mutex_unlock (&recorder->buffers.lock);
    }
}

static void
set_sizes (GantryCuptiRecorder *recorder)
{
  gsize bytes = recorder->options.device_buffer_bytes, size = sizeof bytes;

  if (recorder->library->set_thread_id_type != NULL)
    recorder->library->set_thread_id_type (CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (bytes == 0)
    return;
  if (recorder->library->activity_set_attribute == NULL
      || recorder->library->activity_set_attribute (CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &bytes) != CUPTI_SUCCESS)
    note (recorder, "CUPTI did not take the size of its buffers on the GPU: it has to be set before the driver starts.");
}

/* Kinds that CUPTI refused for the same reason: one note says so. */
typedef struct
{
  GString *kinds;
  CUptiResult reason;
} Refused;

static void
note_refused (GantryCuptiRecorder *recorder, Refused *refused)
{
  if (refused->kinds->len > 0)
    note (recorder, "CUPTI does not record %s here (%s).", refused->kinds->str, _gantry_cupti_result (recorder->library, refused->reason));
  g_string_truncate (refused->kinds, 0);
}

/* Returns FALSE when nothing more need be tried. */
static gboolean
enable (GantryCuptiRecorder *recorder, CUpti_ActivityKind kind, const char *what, Refused *refused)
{
  CUptiResult result = recorder->library->activity_enable (kind);

  if (result == CUPTI_SUCCESS)
    {
      g_array_append_val (recorder->kinds, kind);
      return TRUE;
    }
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES || result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
    {
      note_privileges (recorder, "what the GPU does");
      return FALSE;
    }
  if (result != refused->reason)
    note_refused (recorder, refused);
  refused->reason = result;
  g_string_append_printf (refused->kinds, "%s%s", refused->kinds->len > 0 ? ", " : "", what);
  return TRUE;
}

static void
enable_kinds (GantryCuptiRecorder *recorder)
{
  /* Marks are tied to work by the driver's calls, so these are told with either. Contexts and names are for labels. */
  const struct
  {
    guint trace;
    CUpti_ActivityKind kind;
    const char *what;
  } kinds[] = {
    { GANTRY_CUPTI_TRACE_WORK, CUPTI_ACTIVITY_KIND_DEVICE, "devices" },
    { GANTRY_CUPTI_TRACE_WORK, CUPTI_ACTIVITY_KIND_CONTEXT, "contexts" },
    { GANTRY_CUPTI_TRACE_WORK, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "marks" },
    { GANTRY_CUPTI_TRACE_WORK | GANTRY_CUPTI_TRACE_CALLS, CUPTI_ACTIVITY_KIND_DRIVER, "calls of the driver" },
    { GANTRY_CUPTI_TRACE_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME, "calls of the runtime" },
    { GANTRY_CUPTI_TRACE_WORK, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels" },
    { GANTRY_CUPTI_TRACE_WORK, CUPTI_ACTIVITY_KIND_MEMCPY, "copies" },
    { GANTRY_CUPTI_TRACE_WORK, CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices" },
    { GANTRY_CUPTI_TRACE_WORK, CUPTI_ACTIVITY_KIND_MEMSET, "memory that is set" },
    { GANTRY_CUPTI_TRACE_SYNC, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronization" },
    { GANTRY_CUPTI_TRACE_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2, "allocations" },
    { GANTRY_CUPTI_TRACE_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY_POOL, "memory pools" },
    { GANTRY_CUPTI_TRACE_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead" },
    { GANTRY_CUPTI_TRACE_RANGES, CUPTI_ACTIVITY_KIND_NAME, "names" },
    { GANTRY_CUPTI_TRACE_RANGES, CUPTI_ACTIVITY_KIND_MARKER, "NVTX ranges" },
    { GANTRY_CUPTI_TRACE_GRAPHS, CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "graph launches" },
  };

  Refused refused = { g_string_new (NULL) };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if ((recorder->options.trace & kinds[i].trace) != 0 && !enable (recorder, kinds[i].kind, kinds[i].what, &refused))
      break;
  note_refused (recorder, &refused);
  g_string_free (refused.kinds, TRUE);
}

/* Calls that only ask, and are made all the time. */
static void
leave_out_noise (GantryCuptiRecorder *recorder)
{
  static const CUpti_CallbackId noise[] = { CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,      CUPTI_DRIVER_TRACE_CBID_cuCtxSetCurrent,
                                            CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,       CUPTI_DRIVER_TRACE_CBID_cuCtxPushCurrent_v2,
                                            CUPTI_DRIVER_TRACE_CBID_cuCtxPopCurrent_v2,   CUPTI_DRIVER_TRACE_CBID_cuEventQuery,
                                            CUPTI_DRIVER_TRACE_CBID_cuStreamQuery,        CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttribute,
                                            CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute, CUPTI_DRIVER_TRACE_CBID_cuFuncGetAttribute };

  for (guint i = 0; recorder->library->activity_enable_driver_api != NULL && i < G_N_ELEMENTS (noise); i++)
    recorder->library->activity_enable_driver_api (noise[i], 0);
}

static void
start_activities (GantryCuptiRecorder *recorder)
{
  CUptiResult result;

  choose_clock (recorder);
  result = recorder->library->activity_register_callbacks (request_buffer, complete_buffer);
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    note_privileges (recorder, "what the GPU does");
  else if (result != CUPTI_SUCCESS)
    note (recorder, "CUPTI takes no buffers, so that nothing of the GPU is recorded (%s).", _gantry_cupti_result (recorder->library, result));
  if (result != CUPTI_SUCCESS)
    return;
  set_sizes (recorder);
  enable_kinds (recorder);
  leave_out_noise (recorder);
  note_moment (recorder);
}

static void
start_counters (GantryCuptiRecorder *recorder)
{
  g_autoptr (GError) error = NULL;
  gboolean insufficient;

  recorder->sampler = _gantry_cupti_sampler_start (recorder->library, recorder->options.device, recorder->options.sampling_ns, recorder->options.hardware_bytes,
                                                   &insufficient, &error);
  if (recorder->sampler == NULL && insufficient)
    note_privileges (recorder, "hardware counters");
  else if (recorder->sampler == NULL)
    note (recorder, "Hardware counters are not sampled: %s.", error->message);
  if (recorder->sampler != NULL)
    recorder->buffers.capture->chip = g_strdup (_gantry_cupti_sampler_chip (recorder->sampler));
}

static void
set_defaults (GantryCuptiOptions *options)
{
  options->trace = options->trace != 0 ? options->trace : GANTRY_CUPTI_TRACE_DEFAULT;
  options->sampling_ns = options->sampling_ns != 0 ? options->sampling_ns : 500000;
  options->hardware_bytes = options->hardware_bytes != 0 ? options->hardware_bytes : 64u << 20;
  options->buffer_bytes = MAX (options->buffer_bytes != 0 ? options->buffer_bytes : 4u << 20, 4096);
  options->most_bytes = options->most_bytes != 0 ? options->most_bytes : 1ull << 30;
}

static void
recorder_free (GantryCuptiRecorder *recorder)
{
  _gantry_cupti_buffers_clear (&recorder->buffers);
  g_hash_table_unref (recorder->graph_nodes);
  g_array_unref (recorder->kinds);
  _gantry_cupti_library_free (recorder->library);
  g_free (recorder->raw_path);
  gantry_read_files_unref (recorder->options.read);
  g_free (recorder);
}

gboolean
gantry_cupti_is_built (void)
{
  return TRUE;
}

void
gantry_cupti_prepare_environment (void)
{
  g_autoptr (GantryCuptiLibrary) library = NULL;

  if (g_getenv ("NVTX_INJECTION64_PATH") != NULL)
    return;
  library = _gantry_cupti_library_new (NULL);
  if (library != NULL)
    g_setenv ("NVTX_INJECTION64_PATH", library->path, FALSE);
}

GantryCuptiRecorder *
gantry_cupti_start (const GantryCuptiOptions *options, GError **error)
{
  g_autoptr (GantryCuptiLibrary) library = _gantry_cupti_library_new (error);
  GantryCuptiRecorder *recorder;

  if (library == NULL || !_gantry_cupti_library_init_driver (library, error))
    return NULL;
  recorder = g_new0 (GantryCuptiRecorder, 1);
  recorder->options = options != NULL ? *options : (GantryCuptiOptions){ 0 };
  recorder->raw_path = g_strdup (recorder->options.raw_path);
  if (recorder->options.read != NULL)
    gantry_read_files_ref (recorder->options.read);
  set_defaults (&recorder->options);
  recorder->library = g_steal_pointer (&library);
  recorder->graph_nodes = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  recorder->kinds = g_array_new (FALSE, FALSE, sizeof (CUpti_ActivityKind));
  _gantry_cupti_buffers_init (&recorder->buffers, recorder->library, recorder->options.buffer_bytes, recorder->options.most_bytes);
  if (!g_atomic_pointer_compare_and_exchange (&active, NULL, recorder))
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "a recording is under way in this process: end it before the next one begins");
      recorder_free (recorder);
      return NULL;
    }
  if (!subscribe (recorder, error))
    {
      g_atomic_pointer_set (&active, NULL);
      recorder_free (recorder);
      return NULL;
    }
  listen (recorder);
  start_activities (recorder);
  if (recorder->options.counters)
    start_counters (recorder);
  return recorder;
}

void
gantry_cupti_push (gpointer user_data, guint32 instruction)
{
  GantryCuptiRecorder *recorder = user_data;

  marked = instruction + 1;
  recorder->library->push_external (CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, (uint64_t) instruction + 1);
}

void
gantry_cupti_pop (gpointer user_data)
{
  GantryCuptiRecorder *recorder = user_data;
  uint64_t last;

  marked = 0;
  recorder->library->pop_external (CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
}

/* Ending. Buffers come back within flushing, on this thread or another one, so no lock is held here. */

static void
end_activities (GantryCuptiRecorder *recorder)
{
  const GantryCuptiLibrary *library = recorder->library;
  size_t dropped = 0;

  note_moment (recorder);
  if (recorder->kinds->len == 0)
    return;
  if (library->activity_flush_all (0) != CUPTI_SUCCESS)
    note (recorder, "CUPTI could not give back all buffers: events at the end may be missing.");
  for (guint i = 0; i < recorder->kinds->len; i++)
    {
      CUpti_ActivityKind kind = g_array_index (recorder->kinds, CUpti_ActivityKind, i);

      /* CUPTI before CUDA 13 may hang when this kind is disabled while others are at work. */
      if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || library->version >= CUPTI_VERSION_13_0)
        library->activity_disable (kind);
    }
  library->activity_flush_all (CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (library->activity_get_dropped (NULL, 0, &dropped) == CUPTI_SUCCESS && dropped > 0)
    {
      g_mutex_lock (&recorder->buffers.lock);
      recorder->buffers.dropped += dropped;
      g_mutex_unlock (&recorder->buffers.lock);
    }
}

static void
end (GantryCuptiRecorder *recorder)
{
  if (recorder->sampler != NULL)
    _gantry_cupti_sampler_stop (recorder->sampler);
  end_activities (recorder);
  if (recorder->subscriber != NULL)
    recorder->library->unsubscribe (recorder->subscriber);
  g_atomic_pointer_set (&active, NULL);
  while (g_atomic_int_get (&n_inside) != 0)
    g_usleep (100);
  if (recorder->sampler != NULL)
    _gantry_cupti_sampler_take (recorder->sampler, recorder->buffers.capture);
  /* It ends all of CUPTI: after everything else. */
  g_clear_pointer (&recorder->sampler, _gantry_cupti_sampler_free);
}

/* Names of the calls that were made: only the library knows them. */
static void
name_call (const GantryCuptiRecord *record, gpointer user_data)
{
  GHashTable *seen = user_data;

  if (record->kind == GANTRY_CUPTI_CALL)
    g_hash_table_add (seen, GUINT_TO_POINTER (record->call.cbid * 2 + record->call.is_driver));
}

static void
name_calls (GantryCuptiRecorder *recorder, GantryCuptiCapture *capture)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GHashTableIter iter;
  gpointer key;

  for (guint i = 0; i < capture->buffers->len; i++)
    {
      const GantryCuptiBuffer *buffer = g_ptr_array_index (capture->buffers, i);
      GantryCuptiWalk walk = { 0 };
      gsize size;
      const guint8 *data = g_bytes_get_data (buffer->data, &size);

      gantry_cupti_walk (capture->version, data, size, buffer->index, buffer->n_index, name_call, seen, &walk);
    }
  g_hash_table_iter_init (&iter, seen);
  while (recorder->library->get_callback_name != NULL && g_hash_table_iter_next (&iter, &key, NULL))
    {
      GantryCuptiCallName name = { GPOINTER_TO_UINT (key) & 1, GPOINTER_TO_UINT (key) / 2, 0 };
      const char *text = NULL;

      if (recorder->library->get_callback_name (name.is_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, name.cbid, &text) != CUPTI_SUCCESS
          || text == NULL)
        continue;
      name.string = gantry_cupti_capture_intern (capture, text);
      g_array_append_val (capture->calls, name);
    }
}

static void
take_graph_nodes (GantryCuptiRecorder *recorder, GantryCuptiCapture *capture)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, recorder->graph_nodes);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      GantryCuptiGraphNode node = { *(guint64 *) key, GPOINTER_TO_UINT (value) };

      g_array_append_val (capture->graph_nodes, node);
    }
}

static void
write_raw (const GantryCuptiCapture *capture, const char *path, GantryReadFiles *read, GError **error)
{
  g_autoptr (GantryOutput) output = gantry_output_new (path, read, error);

  if (output != NULL)
    gantry_output_finish (output, gantry_cupti_capture_write (capture, gantry_output_stream (output), NULL, error), error);
}

GantryRecording *
gantry_cupti_stop (GantryCuptiRecorder *recorder, const GantryCuptiRun *runs, guint n_runs, GantryExecutable *executable, const GantryRecording *observed)
{
  GantryCuptiCapture *capture = recorder->buffers.capture;
  GantryRecording *recording;
  g_autoptr (GError) error = NULL;

  end (recorder);
  capture->dropped = recorder->buffers.dropped;
  if (capture->realtime_ahead == 0) /* counters were not sampled: when it was recorded is told by it */
    capture->realtime_ahead = (g_get_real_time () - g_get_monotonic_time ()) * 1000;
  name_calls (recorder, capture);
  take_graph_nodes (recorder, capture);
  if (recorder->raw_path != NULL)
    write_raw (capture, recorder->raw_path, recorder->options.read, &error);
  if (error != NULL)
    gantry_cupti_capture_note (capture, "%s could not be written: %s.", recorder->raw_path, error->message);
  recording = gantry_cupti_convert (capture, runs, n_runs, executable, observed);
  recorder_free (recorder);
  return recording;
}

void
gantry_cupti_cancel (GantryCuptiRecorder *recorder)
{
  if (recorder == NULL)
    return;
  end (recorder);
  recorder_free (recorder);
}
