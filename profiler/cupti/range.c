/* SPDX-License-Identifier: Apache-2.0 */
/* Range profiling of one kernel: the range is replayed by us, once for each pass, since a kernel of Gantry may be
 * several launches and its inputs do not change. */
#include "core/base/error.h"
#include "profiler/cupti/cupti.h"
#include "profiler/cupti/host.h"
#include "profiler/cupti/metrics.h"
#include <math.h>

#define MOST_PASSES 256u

typedef struct
{
  GantryCuptiLibrary *library;
  GantryCuptiHost *host;
  CUpti_RangeProfiler_Object *object;
  guint8 *image;
  gsize image_size;
} Ranging;

static gboolean
has_functions (const GantryCuptiLibrary *library, GError **error)
{
  if (library->range_enable != NULL && library->range_disable != NULL && library->range_set_config != NULL && library->range_start != NULL
      && library->range_stop != NULL && library->range_push != NULL && library->range_pop != NULL && library->range_decode != NULL
      && library->range_get_data_size != NULL && library->range_initialize_data != NULL && library->range_get_data_info != NULL
      && library->get_chip_name != NULL)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s cannot profile ranges: CUDA 12.6 or later can", library->path);
  return FALSE;
}

static gboolean
check (const Ranging *ranging, CUptiResult result, const char *doing, GError **error)
{
  g_autofree char *remedy = NULL;

  if (result != CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    return _gantry_cupti_check (ranging->library, result, doing, error);
  remedy = gantry_cupti_privileges_text ();
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "no privilege to read the GPU's counters (CUPTI error 35 in %s). %s", doing, remedy);
  return FALSE;
}

static gboolean
configure (Ranging *ranging, guint device, GError **error)
{
  CUpti_Profiler_Initialize_Params initialize = { CUpti_Profiler_Initialize_Params_STRUCT_SIZE };
  CUpti_Device_GetChipName_Params chip = { CUpti_Device_GetChipName_Params_STRUCT_SIZE };
  g_autoptr (GArray) metrics = NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) refused = NULL;

  if (ranging->library->profiler_initialize != NULL && !check (ranging, ranging->library->profiler_initialize (&initialize), "opening the counters", error))
    return FALSE;
  chip.deviceIndex = device;
  if (!check (ranging, ranging->library->get_chip_name (&chip), "asking for the chip's name", error))
    return FALSE;
  ranging->host = _gantry_cupti_host_new (ranging->library, chip.pChipName, CUPTI_PROFILER_TYPE_RANGE_PROFILER, NULL, error);
  if (ranging->host == NULL)
    return FALSE;
  metrics = _gantry_cupti_ranged (chip.pChipName);
  for (guint i = 0; i < metrics->len; i++)
    g_ptr_array_add (names, (gpointer) g_array_index (metrics, GantryCuptiRanged, i).metric);
  return _gantry_cupti_host_configure (ranging->host, (const char *const *) names->pdata, names->len, &refused, error);
}

static gboolean
open_image (Ranging *ranging, GError **error)
{
  const GantryCuptiLibrary *library = ranging->library;
  CUpti_RangeProfiler_GetCounterDataSize_Params size = { CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE };
  CUpti_RangeProfiler_CounterDataImage_Initialize_Params image = { CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE };

  size.pRangeProfilerObject = ranging->object;
  size.pMetricNames = (const char **) ranging->host->names->pdata;
  size.numMetrics = ranging->host->names->len;
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  if (!check (ranging, library->range_get_data_size (&size), "asking for the counters' size", error))
    return FALSE;
  ranging->image_size = size.counterDataSize;
  ranging->image = g_malloc0 (ranging->image_size);
  image.pRangeProfilerObject = ranging->object;
  image.counterDataSize = ranging->image_size;
  image.pCounterData = ranging->image;
  return check (ranging, library->range_initialize_data (&image), "preparing the counters", error);
}

static gboolean
open_range (Ranging *ranging, gpointer context, GError **error)
{
  const GantryCuptiLibrary *library = ranging->library;
  CUpti_RangeProfiler_Enable_Params enable = { CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE };
  CUpti_RangeProfiler_SetConfig_Params config = { CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE };

  enable.ctx = context;
  if (!check (ranging, library->range_enable (&enable), "reserving the counters", error))
    return FALSE;
  ranging->object = enable.pRangeProfilerObject;
  if (!open_image (ranging, error))
    return FALSE;
  config.pRangeProfilerObject = ranging->object;
  config.configSize = ranging->host->config_size;
  config.pConfig = ranging->host->config;
  config.counterDataImageSize = ranging->image_size;
  config.pCounterDataImage = ranging->image;
  config.range = CUPTI_UserRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = 1;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.targetNestingLevel = 1;
  return check (ranging, library->range_set_config (&config), "setting the counters up", error);
}

static gboolean
run_pass (const Ranging *ranging, GantryCuptiLaunchFunc launch, gpointer user_data, gboolean *done, GError **error)
{
  const GantryCuptiLibrary *library = ranging->library;
  CUpti_RangeProfiler_Start_Params start = { CUpti_RangeProfiler_Start_Params_STRUCT_SIZE };
  CUpti_RangeProfiler_Stop_Params stop = { CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE };
  CUpti_RangeProfiler_PushRange_Params push = { CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE };
  CUpti_RangeProfiler_PopRange_Params pop = { CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE };
  gboolean ok;

  start.pRangeProfilerObject = stop.pRangeProfilerObject = push.pRangeProfilerObject = pop.pRangeProfilerObject = ranging->object;
  push.pRangeName = "kernel";
  if (!check (ranging, library->range_start (&start), "starting a pass", error))
    return FALSE;
  ok = check (ranging, library->range_push (&push), "opening the range", error);
  if (ok)
    {
      ok = launch (user_data, error);
      ok = check (ranging, library->range_pop (&pop), "closing the range", ok ? error : NULL) && ok;
    }
  if (!check (ranging, library->range_stop (&stop), "ending a pass", ok ? error : NULL))
    return FALSE;
  *done = stop.isAllPassSubmitted != 0;
  return ok;
}

static gboolean
run_passes (const Ranging *ranging, GantryCuptiLaunchFunc launch, gpointer user_data, guint *n_passes, GError **error)
{
  CUpti_RangeProfiler_DecodeData_Params decode = { CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE };
  CUpti_RangeProfiler_GetCounterDataInfo_Params info = { CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE };
  gboolean done = FALSE;

  for (*n_passes = 0; !done; (*n_passes)++)
    {
      if (*n_passes == MOST_PASSES)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "after %u passes CUPTI still wants more", MOST_PASSES);
          return FALSE;
        }
      if (!run_pass (ranging, launch, user_data, &done, error))
        return FALSE;
    }
  decode.pRangeProfilerObject = ranging->object;
  if (!check (ranging, ranging->library->range_decode (&decode), "decoding the counters", error))
    return FALSE;
  info.pCounterDataImage = ranging->image;
  info.counterDataImageSize = ranging->image_size;
  if (!check (ranging, ranging->library->range_get_data_info (&info), "looking at the counters", error))
    return FALSE;
  if (info.numTotalRanges != 1)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
                   "CUPTI counted %" G_GSIZE_FORMAT " ranges instead of one: the kernel "
                   "did not run within it",
                   info.numTotalRanges);
      return FALSE;
    }
  return TRUE;
}

static gboolean
evaluate (const Ranging *ranging, GantryCuptiKernelProfile *profile, GError **error)
{
  g_autofree double *values = g_new (double, ranging->host->names->len);
  g_autoptr (GArray) metrics = _gantry_cupti_ranged (ranging->host->chip);
  double *const roles[GANTRY_CUPTI_N_ROLES] = { &profile->duration_ns, &profile->flops,       &profile->tensor_flops, &profile->dram_bytes,
                                                &profile->l2_bytes,    &profile->occupancy,   &profile->sm_busy,      &profile->dram_busy,
                                                &profile->l2_busy,     &profile->tensor_busy, &profile->clock_hz };

  if (!_gantry_cupti_host_evaluate (ranging->host, ranging->image, ranging->image_size, 0, values, error))
    return FALSE;
  for (guint role = 0; role < GANTRY_CUPTI_N_ROLES; role++)
    *roles[role] = NAN;
  for (guint i = 0; i < metrics->len; i++)
    {
      const GantryCuptiRanged *metric = &g_array_index (metrics, GantryCuptiRanged, i);
      double *sum = roles[metric->role];
      guint at;

      if (g_ptr_array_find_with_equal_func (ranging->host->names, metric->metric, g_str_equal, &at))
        *sum = (isnan (*sum) ? 0 : *sum) + values[at] * metric->weight;
    }
  return TRUE;
}

gboolean
gantry_cupti_profile_kernel (gpointer context, guint device, GantryCuptiLaunchFunc launch, gpointer user_data, GantryCuptiKernelProfile *profile,
                             GError **error)
{
  g_autoptr (GantryCuptiLibrary) library = _gantry_cupti_library_new (error);
  Ranging ranging = { library };
  CUpti_RangeProfiler_Disable_Params disable = { CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE };
  gboolean ok;

  if (library == NULL || !has_functions (library, error) || !_gantry_cupti_library_init_driver (library, error))
    return FALSE;
  ok = configure (&ranging, device, error) && open_range (&ranging, context, error) && run_passes (&ranging, launch, user_data, &profile->n_passes, error)
       && evaluate (&ranging, profile, error);
  disable.pRangeProfilerObject = ranging.object;
  if (ranging.object != NULL)
    library->range_disable (&disable);
  g_clear_pointer (&ranging.host, _gantry_cupti_host_free);
  g_free (ranging.image);
  return ok;
}
