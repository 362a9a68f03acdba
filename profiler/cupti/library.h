/* SPDX-License-Identifier: Apache-2.0 */
/* libcupti as a table of functions: the library is loaded when a recorder starts, so that one program runs with and
 * without it, and tests put another library in its place. The only header here that needs CUPTI's own. */
#pragma once
#include <glib.h>
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <cupti_version.h>

G_BEGIN_DECLS

/* name in the table, name in the library, 1: nothing goes without it */
#define CUPTI_FUNCTIONS(X) \
  X (get_version, cuptiGetVersion, 1) \
  X (get_timestamp, cuptiGetTimestamp, 1) \
  X (get_result_string, cuptiGetResultString, 1) \
  X (get_callback_name, cuptiGetCallbackName, 0) \
  X (subscribe, cuptiSubscribe, 1) \
  X (unsubscribe, cuptiUnsubscribe, 1) \
  X (enable_callback, cuptiEnableCallback, 1) \
  X (activity_enable, cuptiActivityEnable, 1) \
  X (activity_disable, cuptiActivityDisable, 1) \
  X (activity_register_callbacks, cuptiActivityRegisterCallbacks, 1) \
  X (activity_register_timestamp, cuptiActivityRegisterTimestampCallback, 0) \
  X (activity_get_next_record, cuptiActivityGetNextRecord, 1) \
  X (activity_get_dropped, cuptiActivityGetNumDroppedRecords, 1) \
  X (activity_flush_all, cuptiActivityFlushAll, 1) \
  X (activity_set_attribute, cuptiActivitySetAttribute, 0) \
  X (activity_enable_driver_api, cuptiActivityEnableDriverApi, 0) \
  X (set_thread_id_type, cuptiSetThreadIdType, 0) \
  X (push_external, cuptiActivityPushExternalCorrelationId, 1) \
  X (pop_external, cuptiActivityPopExternalCorrelationId, 1) \
  X (get_graph_node_id, cuptiGetGraphNodeId, 0) \
  X (get_chip_name, cuptiDeviceGetChipName, 0) \
  X (profiler_initialize, cuptiProfilerInitialize, 0) \
  X (profiler_deinitialize, cuptiProfilerDeInitialize, 0) \
  X (host_initialize, cuptiProfilerHostInitialize, 0) \
  X (host_deinitialize, cuptiProfilerHostDeinitialize, 0) \
  X (host_get_chips, cuptiProfilerHostGetSupportedChips, 0) \
  X (host_add_metrics, cuptiProfilerHostConfigAddMetrics, 0) \
  X (host_get_config_size, cuptiProfilerHostGetConfigImageSize, 0) \
  X (host_get_config, cuptiProfilerHostGetConfigImage, 0) \
  X (host_get_passes, cuptiProfilerHostGetNumOfPasses, 0) \
  X (host_evaluate, cuptiProfilerHostEvaluateToGpuValues, 0) \
  X (pm_enable, cuptiPmSamplingEnable, 0) \
  X (pm_disable, cuptiPmSamplingDisable, 0) \
  X (pm_set_config, cuptiPmSamplingSetConfig, 0) \
  X (pm_start, cuptiPmSamplingStart, 0) \
  X (pm_stop, cuptiPmSamplingStop, 0) \
  X (pm_decode, cuptiPmSamplingDecodeData, 0) \
  X (pm_get_availability, cuptiPmSamplingGetCounterAvailability, 0) \
  X (pm_get_data_size, cuptiPmSamplingGetCounterDataSize, 0) \
  X (pm_initialize_data, cuptiPmSamplingCounterDataImageInitialize, 0) \
  X (pm_get_data_info, cuptiPmSamplingGetCounterDataInfo, 0) \
  X (pm_get_sample_info, cuptiPmSamplingCounterDataGetSampleInfo, 0) \
  X (range_enable, cuptiRangeProfilerEnable, 0) \
  X (range_disable, cuptiRangeProfilerDisable, 0) \
  X (range_set_config, cuptiRangeProfilerSetConfig, 0) \
  X (range_start, cuptiRangeProfilerStart, 0) \
  X (range_stop, cuptiRangeProfilerStop, 0) \
  X (range_push, cuptiRangeProfilerPushRange, 0) \
  X (range_pop, cuptiRangeProfilerPopRange, 0) \
  X (range_decode, cuptiRangeProfilerDecodeData, 0) \
  X (range_get_data_size, cuptiRangeProfilerGetCounterDataSize, 0) \
  X (range_initialize_data, cuptiRangeProfilerCounterDataImageInitialize, 0) \
  X (range_get_data_info, cuptiRangeProfilerGetCounterDataInfo, 0)

typedef struct
{
  gpointer handle, driver; /* of dlopen */
  guint32 version;
  char *path; /* of libcupti */
#define CUPTI_FIELD(field, name, required) __typeof__ (name) *field;
  CUPTI_FUNCTIONS (CUPTI_FIELD)
#undef CUPTI_FIELD
#if CUPTI_API_VERSION >= 130000
  __typeof__ (cuptiSubscribe_v2) *subscribe_v2;
#endif
} GantryCuptiLibrary;

/**
 * _gantry_cupti_library_new:
 *
 * Loads libcupti: the file that the environment variable GANTRY_LIBCUPTI names, or libcupti.so.13 or .12 where
 * gantry_vendor_library_paths() finds it.
 *
 * Returns: (nullable): NULL with %GANTRY_ERROR_UNSUPPORTED, which says where it was looked for
 */
GantryCuptiLibrary *_gantry_cupti_library_new (GError **error);
void _gantry_cupti_library_free (GantryCuptiLibrary *library);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryCuptiLibrary, _gantry_cupti_library_free)
/**
 * _gantry_cupti_library_init_driver:
 *
 * Loads libcuda (GANTRY_LIBCUDA names another file) and calls cuInit: CUPTI's own errors do not tell that there is no
 * driver or no GPU.
 */
gboolean _gantry_cupti_library_init_driver (GantryCuptiLibrary *library, GError **error);
/** What CUPTI calls a result: "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES". */
const char *_gantry_cupti_result (const GantryCuptiLibrary *library, CUptiResult result);
/** Returns: @ok; sets @error when it is FALSE */
gboolean _gantry_cupti_check (const GantryCuptiLibrary *library, CUptiResult result, const char *doing, GError **error);

G_END_DECLS
