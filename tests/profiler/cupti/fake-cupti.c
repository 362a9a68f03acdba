/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that Gantry asks of CUPTI, played. Buffers come back on a thread of its own while the caller waits in a
 * flush, as CUPTI's may: a recorder that held a lock then would hang here. */
#include "tests/profiler/cupti/fake-cupti.h"
#include <string.h>
#include <time.h>

static FakeCupti fake;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_TimestampCallbackFunc timestamp;
static CUpti_CallbackFunc callback;
static void *callback_data;
static uint8_t *buffer;
static size_t buffer_size, buffer_valid, n_dropped;
static uint32_t correlation;
static uint64_t external;
static guint n_decodes, n_stops;
static uint64_t sampled;
static gboolean kernels_on;
static GMutex lock; /* of the log: the sampler's thread writes to it too */

static void told (const char *format, ...) G_GNUC_PRINTF (1, 2);

static void
told (const char *format, ...)
{
  va_list args;

  g_mutex_lock (&lock);
  va_start (args, format);
  g_string_append_vprintf (fake.log, format, args);
  va_end (args);
  g_string_append_c (fake.log, ' ');
  g_mutex_unlock (&lock);
}

/* Another clock than the recording's, unless a callback was registered. */
static uint64_t
clock_now (void)
{
  struct timespec time;

  if (timestamp != NULL)
    return timestamp ();
  clock_gettime (CLOCK_REALTIME, &time);
  return (uint64_t) time.tv_sec * 1000000000u + (uint64_t) time.tv_nsec;
}

static gpointer
give_back (gpointer data)
{
  complete (NULL, 0, buffer, buffer_size, buffer_valid);
  return NULL;
}

static void
flush (void)
{
  if (buffer == NULL)
    return;
  g_thread_join (g_thread_new ("fake-cupti", give_back, NULL));
  buffer = NULL;
}

static void
put (gconstpointer record, size_t size)
{
  size_t most;

  if (!kernels_on)
    return;
  if (buffer != NULL && buffer_valid + size > buffer_size)
    flush ();
  if (buffer == NULL)
    {
      buffer_valid = 0;
      request (&buffer, &buffer_size, &most);
    }
  if (buffer == NULL || buffer_size < size)
    {
      n_dropped++;
      return;
    }
  memcpy (buffer + buffer_valid, record, size);
  buffer_valid += size;
}

/* The call that asks for something, and the mark that was set then. */
static void
put_call (CUpti_CallbackId cbid)
{
  CUpti_ActivityAPI api = { .kind = CUPTI_ACTIVITY_KIND_DRIVER, .cbid = cbid, .processId = 1, .threadId = 99 };
  CUpti_ActivityExternalCorrelation mark = { .kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION };

  correlation++;
  if (external != 0)
    {
      mark.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
      mark.externalId = external;
      mark.correlationId = correlation;
      put (&mark, sizeof mark);
    }
  api.correlationId = correlation;
  api.start = clock_now ();
  api.end = clock_now () + 10;
  put (&api, sizeof api);
}

static void
launch (guint32 stream, const char *name, guint64 graph_node)
{
  struct
  {
    CUpti_ActivityKernel10 kernel;
    char more[64];
  } record = { { .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL } };

  put_call (307);
  record.kernel.start = clock_now ();
  record.kernel.end = record.kernel.start + 1000;
  record.kernel.contextId = 1;
  record.kernel.streamId = stream;
  record.kernel.gridX = 10;
  record.kernel.blockX = 128;
  record.kernel.registersPerThread = 40;
  record.kernel.correlationId = correlation;
  record.kernel.name = name;
  record.kernel.graphNodeId = graph_node;
  put (&record, fake.record_bytes != 0 ? fake.record_bytes : sizeof record.kernel);
}

static void
copy (guint32 stream, gsize bytes)
{
  CUpti_ActivityMemcpy6 record = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY, .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH };

  put_call (295);
  record.bytes = bytes;
  record.start = clock_now ();
  record.end = record.start + 500;
  record.contextId = 1;
  record.streamId = stream;
  record.correlationId = correlation;
  put (&record, sizeof record);
}

static void
range (const char *name, gboolean begin, guint32 id)
{
  CUpti_ActivityMarker2 record = { .kind = CUPTI_ACTIVITY_KIND_MARKER };

  record.flags = begin ? CUPTI_ACTIVITY_FLAG_MARKER_START : CUPTI_ACTIVITY_FLAG_MARKER_END;
  record.timestamp = clock_now ();
  record.id = id;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.threadId = 99;
  record.name = begin ? name : NULL;
  put (&record, sizeof record);
}

static void
make_node (guint64 node, guint64 clone)
{
  CUpti_GraphData graph = { .node = GSIZE_TO_POINTER ((gsize) node) };
  CUpti_ResourceData resource = { .resourceDescriptor = &graph };

  callback (callback_data, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &resource);
  graph.originalNode = graph.node;
  graph.node = GSIZE_TO_POINTER ((gsize) clone);
  callback (callback_data, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &resource);
}

static void
fail (const char *message)
{
  CUpti_StateData state = { .notification = { CUPTI_ERROR_UNKNOWN, message } };

  callback (callback_data, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &state);
}

FakeCupti *
fake_cupti (void)
{
  return &fake;
}

void
fake_cupti_reset (void)
{
  if (fake.log != NULL)
    g_string_free (fake.log, TRUE);
  memset (&fake, 0, sizeof fake);
  fake.version = CUPTI_API_VERSION;
  fake.log = g_string_new (NULL);
  fake.samples_per_decode = 3;
  fake.n_passes = 1;
  fake.range_passes = 3;
  fake.launch = launch;
  fake.copy = copy;
  fake.range = range;
  fake.make_node = make_node;
  fake.fail = fail;
  request = NULL;
  complete = NULL;
  timestamp = NULL;
  callback = NULL;
  buffer = NULL;
  n_dropped = 0;
  correlation = 0;
  external = 0;
  n_decodes = n_stops = 0;
  sampled = 0;
  kernels_on = FALSE;
}

/* CUPTI's functions. */

CUptiResult CUPTIAPI
cuptiGetVersion (uint32_t *version)
{
  *version = fake.version;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiGetTimestamp (uint64_t *time)
{
  *time = clock_now ();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiGetResultString (CUptiResult result, const char **text)
{
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_MADE_UP";
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiGetCallbackName (CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
  *name = cbid == 307 ? "cuLaunchKernel" : "cuSomethingElse";
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiSubscribe (CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc function, void *user_data)
{
  told ("subscribe");
  callback = function;
  callback_data = user_data;
  *subscriber = (CUpti_SubscriberHandle) &fake;
  return fake.subscribe;
}

CUptiResult CUPTIAPI
cuptiSubscribe_v2 (CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc function, void *user_data, CUpti_SubscriberParams *params)
{
  if (fake.old_subscriber != NULL)
    g_strlcpy (params->oldSubscriberName, fake.old_subscriber, params->oldSubscriberSize);
  return cuptiSubscribe (subscriber, function, user_data);
}

CUptiResult CUPTIAPI
cuptiUnsubscribe (CUpti_SubscriberHandle subscriber)
{
  told ("unsubscribe");
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiEnableCallback (uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiActivityEnable (CUpti_ActivityKind kind)
{
  CUptiResult result = CUPTI_SUCCESS;

  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
    result = fake.enable_kernels;
  else if (kind == CUPTI_ACTIVITY_KIND_MEMORY2 || kind == CUPTI_ACTIVITY_KIND_MEMORY_POOL)
    result = fake.enable_memory;
  told ("enable:%d", (int) kind);
  kernels_on = kernels_on || (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && result == CUPTI_SUCCESS);
  return result;
}

CUptiResult CUPTIAPI
cuptiActivityDisable (CUpti_ActivityKind kind)
{
  told ("disable:%d", (int) kind);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiActivityRegisterCallbacks (CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed)
{
  told ("register-callbacks");
  request = requested;
  complete = completed;
  return fake.register_callbacks;
}

CUptiResult CUPTIAPI
cuptiActivityRegisterTimestampCallback (CUpti_TimestampCallbackFunc function)
{
  told ("register-timestamp");
  if (fake.register_timestamp == CUPTI_SUCCESS)
    timestamp = function;
  return fake.register_timestamp;
}

/* Records lie side by side here; a kernel's may be longer than its struct, as those of a later version are. */
static size_t
size_of (const CUpti_Activity *record)
{
  switch (record->kind)
    {
    case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof (CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return sizeof (CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof (CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MARKER: return sizeof (CUpti_ActivityMarker2);
    default: return fake.record_bytes != 0 ? fake.record_bytes : sizeof (CUpti_ActivityKernel10);
    }
}

CUptiResult CUPTIAPI
cuptiActivityGetNextRecord (uint8_t *data, size_t valid, CUpti_Activity **record)
{
  uint8_t *next = *record == NULL ? data : (uint8_t *) *record + size_of (*record);

  if (next >= data + valid)
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = (CUpti_Activity *) next;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiActivityGetNumDroppedRecords (CUcontext context, uint32_t stream, size_t *dropped)
{
  *dropped = n_dropped;
  n_dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiActivityFlushAll (uint32_t flag)
{
  told ("flush:%u", flag);
  flush ();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiActivityPushExternalCorrelationId (CUpti_ExternalCorrelationKind kind, uint64_t id)
{
  external = id;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiActivityPopExternalCorrelationId (CUpti_ExternalCorrelationKind kind, uint64_t *last)
{
  *last = external;
  external = 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiGetGraphNodeId (CUgraphNode node, uint64_t *id)
{
  *id = GPOINTER_TO_SIZE (node);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerInitialize (CUpti_Profiler_Initialize_Params *params)
{
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiDeviceGetChipName (CUpti_Device_GetChipName_Params *params)
{
  params->pChipName = "GH100";
  return CUPTI_SUCCESS;
}

/* The host's side: an object answers nothing more after it refused a name, as the real one does. */

static gboolean host_broken;
static size_t host_metrics;

CUptiResult CUPTIAPI
cuptiProfilerHostInitialize (CUpti_Profiler_Host_Initialize_Params *params)
{
  host_broken = FALSE;
  params->pHostObject = (CUpti_Profiler_Host_Object *) &fake;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostDeinitialize (CUpti_Profiler_Host_Deinitialize_Params *params)
{
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostConfigAddMetrics (CUpti_Profiler_Host_ConfigAddMetrics_Params *params)
{
  for (size_t i = 0; i < params->numMetrics; i++)
    host_broken = host_broken || g_strcmp0 (params->ppMetricNames[i], fake.refused) == 0;
  host_metrics = params->numMetrics;
  return host_broken ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImageSize (CUpti_Profiler_Host_GetConfigImageSize_Params *params)
{
  params->configImageSize = 16;
  return host_broken ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImage (CUpti_Profiler_Host_GetConfigImage_Params *params)
{
  return host_broken ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetNumOfPasses (CUpti_Profiler_Host_GetNumOfPasses_Params *params)
{
  params->numOfPasses = fake.most_metrics != 0 && host_metrics > fake.most_metrics ? 2 : fake.n_passes;
  return CUPTI_SUCCESS;
}

/* The value of metric i is i + 1. */
CUptiResult CUPTIAPI
cuptiProfilerHostEvaluateToGpuValues (CUpti_Profiler_Host_EvaluateToGpuValues_Params *params)
{
  for (size_t i = 0; i < params->numMetrics; i++)
    params->pMetricValues[i] = (double) i + 1;
  return CUPTI_SUCCESS;
}

/* Sampling. */

CUptiResult CUPTIAPI
cuptiPmSamplingGetCounterAvailability (CUpti_PmSampling_GetCounterAvailability_Params *params)
{
  params->counterAvailabilityImageSize = 8;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingEnable (CUpti_PmSampling_Enable_Params *params)
{
  told ("pm-enable");
  params->pPmSamplingObject = (CUpti_PmSampling_Object *) &fake;
  return fake.pm_enable;
}

CUptiResult CUPTIAPI
cuptiPmSamplingDisable (CUpti_PmSampling_Disable_Params *params)
{
  told ("pm-disable");
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingSetConfig (CUpti_PmSampling_SetConfig_Params *params)
{
  if (fake.no_time_trigger && params->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL)
    return CUPTI_ERROR_NOT_SUPPORTED;
  return params->configSize == 16 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI
cuptiPmSamplingStart (CUpti_PmSampling_Start_Params *params)
{
  told ("pm-start");
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingStop (CUpti_PmSampling_Stop_Params *params)
{
  told ("pm-stop");
  n_stops++;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingGetCounterDataSize (CUpti_PmSampling_GetCounterDataSize_Params *params)
{
  params->counterDataSize = 64;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingCounterDataImageInitialize (CUpti_PmSampling_CounterDataImage_Initialize_Params *params)
{
  memset (params->pCounterData, 0, params->counterDataSize);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingDecodeData (CUpti_PmSampling_DecodeData_Params *params)
{
  params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  if (++n_decodes == fake.overflow_at)
    return CUPTI_ERROR_OUT_OF_MEMORY;
  params->pCounterDataImage[0] = (uint8_t) fake.samples_per_decode;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingGetCounterDataInfo (CUpti_PmSampling_GetCounterDataInfo_Params *params)
{
  params->numCompletedSamples = params->numPopulatedSamples = params->pCounterDataImage[0];
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingCounterDataGetSampleInfo (CUpti_PmSampling_CounterData_GetSampleInfo_Params *params)
{
  struct timespec time;

  clock_gettime (CLOCK_REALTIME, &time);
  params->startTimestamp = (uint64_t) time.tv_sec * 1000000000u + (uint64_t) time.tv_nsec + sampled++;
  params->endTimestamp = params->startTimestamp + 1;
  return CUPTI_SUCCESS;
}

/* Ranges. */

CUptiResult CUPTIAPI
cuptiRangeProfilerEnable (CUpti_RangeProfiler_Enable_Params *params)
{
  params->pRangeProfilerObject = (CUpti_RangeProfiler_Object *) &fake;
  return fake.range_enable;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerDisable (CUpti_RangeProfiler_Disable_Params *params)
{
  told ("range-disable");
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerSetConfig (CUpti_RangeProfiler_SetConfig_Params *params)
{
  return params->range == CUPTI_UserRange && params->replayMode == CUPTI_UserReplay ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerStart (CUpti_RangeProfiler_Start_Params *params)
{
  told ("range-start");
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerStop (CUpti_RangeProfiler_Stop_Params *params)
{
  told ("range-stop");
  params->isAllPassSubmitted = ++n_stops >= fake.range_passes;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerPushRange (CUpti_RangeProfiler_PushRange_Params *params)
{
  told ("range-push");
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerPopRange (CUpti_RangeProfiler_PopRange_Params *params)
{
  told ("range-pop");
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerDecodeData (CUpti_RangeProfiler_DecodeData_Params *params)
{
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataSize (CUpti_RangeProfiler_GetCounterDataSize_Params *params)
{
  params->counterDataSize = 64;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerCounterDataImageInitialize (CUpti_RangeProfiler_CounterDataImage_Initialize_Params *params)
{
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataInfo (CUpti_RangeProfiler_GetCounterDataInfo_Params *params)
{
  params->numTotalRanges = 1;
  return CUPTI_SUCCESS;
}
