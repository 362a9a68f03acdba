/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler. Calls that concern one sampling object are made by one thread at a time: the starter, then the
 * decoder, and after it was joined the stopper. */
#include "profiler/cupti/sampler.h"
#include "core/base/error.h"
#include "core/base/thread.h"
#include "profiler/cupti/host.h"
#include "profiler/cupti/metrics.h"
#include <time.h>

#define DECODE_EVERY_US 20000
#define IMAGE_SAMPLES 1024u
#define MOST_SAMPLES 4000000u

struct _GantryCuptiSampler
{
  const GantryCuptiLibrary *library;
  guint8 *availability;
  GantryCuptiHost *host;
  CUpti_PmSampling_Object *object;
  guint8 *image;
  gsize image_size;
  const GantryCuptiSampled **metrics; /* of the configured names, by index */
  GPtrArray *refused;
  GThread *thread;
  GMutex lock;
  GCond wake;
  int ending;                        /* atomic */
  GArray *samples, *values, *newest; /* as in the capture */
  gint64 from, to, realtime_ahead;
  guint64 interval_ns;
  gboolean seen_first, by_cycles;
  guint n_overflows, n_failures, n_lost;
  CUptiResult failure;
};

static gint64
read_clock (clockid_t clock)
{
  struct timespec time;

  clock_gettime (clock, &time);
  return (gint64) time.tv_sec * 1000000000 + time.tv_nsec;
}

static gboolean
has_functions (const GantryCuptiLibrary *library, GError **error)
{
  if (library->pm_enable != NULL && library->pm_disable != NULL && library->pm_set_config != NULL && library->pm_start != NULL && library->pm_stop != NULL
      && library->pm_decode != NULL && library->pm_get_availability != NULL && library->pm_get_data_size != NULL && library->pm_initialize_data != NULL
      && library->pm_get_data_info != NULL && library->pm_get_sample_info != NULL && library->get_chip_name != NULL)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s cannot sample counters: CUDA 12.6 or later can", library->path);
  return FALSE;
}

/* As _gantry_cupti_check(), and says whether it is a matter of privileges. */
static gboolean
check (const GantryCuptiLibrary *library, CUptiResult result, const char *doing, gboolean *insufficient, GError **error)
{
  *insufficient = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES || result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
  return _gantry_cupti_check (library, result, doing, error);
}

static gboolean
open_host (GantryCuptiSampler *sampler, guint device, gboolean *insufficient, GError **error)
{
  const GantryCuptiLibrary *library = sampler->library;
  CUpti_Profiler_Initialize_Params initialize = { CUpti_Profiler_Initialize_Params_STRUCT_SIZE };
  CUpti_Device_GetChipName_Params chip = { CUpti_Device_GetChipName_Params_STRUCT_SIZE };
  CUpti_PmSampling_GetCounterAvailability_Params available = { CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE };

  if (library->profiler_initialize != NULL && !check (library, library->profiler_initialize (&initialize), "opening the counters", insufficient, error))
    return FALSE;
  chip.deviceIndex = device;
  if (!check (library, library->get_chip_name (&chip), "asking for the chip's name", insufficient, error))
    return FALSE;
  available.deviceIndex = device;
  if (!check (library, library->pm_get_availability (&available), "asking which counters there are", insufficient, error))
    return FALSE;
  sampler->availability = g_malloc0 (available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = sampler->availability;
  if (!check (library, library->pm_get_availability (&available), "asking which counters there are", insufficient, error))
    return FALSE;
  sampler->host = _gantry_cupti_host_new (library, chip.pChipName, CUPTI_PROFILER_TYPE_PM_SAMPLING, sampler->availability, error);
  return sampler->host != NULL;
}

/* All must be counted in one pass: of an unknown chip the last ones are left out until they are. */
static gboolean
configure (GantryCuptiSampler *sampler, GError **error)
{
  const char *names[GANTRY_CUPTI_MOST_COUNTERS];
  guint n_all, n;
  const GantryCuptiSampled *all = _gantry_cupti_sampled (sampler->host->chip, &n_all);

  for (guint i = 0; i < n_all; i++)
    names[i] = all[i].metric;
  for (n = n_all; n > 0; n--)
    {
      g_autoptr (GPtrArray) refused = NULL;

      if (!_gantry_cupti_host_configure (sampler->host, names, n, &refused, error))
        return FALSE;
      if (sampler->host->n_passes == 1)
        break;
    }
  if (n == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "no counter of %s can be sampled in one pass", sampler->host->chip);
      return FALSE;
    }
  sampler->metrics = g_new (const GantryCuptiSampled *, sampler->host->names->len);
  for (guint i = 0; i < n_all; i++)
    {
      guint at;

      if (g_ptr_array_find_with_equal_func (sampler->host->names, all[i].metric, g_str_equal, &at))
        sampler->metrics[at] = &all[i];
      else
        g_ptr_array_add (sampler->refused, (gpointer) all[i].label);
    }
  return TRUE;
}

/* Memory for CUPTI's counter data image of up to IMAGE_SAMPLES samples; it is none before initialize_counter_data(). */
static gboolean
allocate_counter_data (GantryCuptiSampler *sampler, GError **error)
{
  CUpti_PmSampling_GetCounterDataSize_Params size = { CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE };

  size.pPmSamplingObject = sampler->object;
  size.pMetricNames = (const char **) sampler->host->names->pdata;
  size.numMetrics = sampler->host->names->len;
  size.maxSamples = IMAGE_SAMPLES;
  if (!_gantry_cupti_check (sampler->library, sampler->library->pm_get_data_size (&size), "asking for the samples' size", error))
    return FALSE;
  sampler->image_size = size.counterDataSize;
  sampler->image = g_malloc0 (sampler->image_size);
  return TRUE;
}

static CUptiResult
initialize_counter_data (GantryCuptiSampler *sampler)
{
  CUpti_PmSampling_CounterDataImage_Initialize_Params params = { CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE };

  params.pPmSamplingObject = sampler->object;
  params.counterDataSize = sampler->image_size;
  params.pCounterData = sampler->image;
  return sampler->library->pm_initialize_data (&params);
}

static CUptiResult
start (GantryCuptiSampler *sampler)
{
  CUpti_PmSampling_Start_Params params = { CUpti_PmSampling_Start_Params_STRUCT_SIZE };

  params.pPmSamplingObject = sampler->object;
  return sampler->library->pm_start (&params);
}

static CUptiResult
stop (GantryCuptiSampler *sampler)
{
  CUpti_PmSampling_Stop_Params params = { CUpti_PmSampling_Stop_Params_STRUCT_SIZE };

  params.pPmSamplingObject = sampler->object;
  return sampler->library->pm_stop (&params);
}

static void
take_sample (GantryCuptiSampler *sampler, gsize index, gint64 *newest)
{
  CUpti_PmSampling_CounterData_GetSampleInfo_Params info = { CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE };
  guint n = sampler->host->names->len;
  double values[GANTRY_CUPTI_MOST_COUNTERS];
  GantryCuptiSample sample;

  info.pPmSamplingObject = sampler->object;
  info.pCounterDataImage = sampler->image;
  info.counterDataImageSize = sampler->image_size;
  info.sampleIndex = index;
  if (sampler->library->pm_get_sample_info (&info) != CUPTI_SUCCESS
      || !_gantry_cupti_host_evaluate (sampler->host, sampler->image, sampler->image_size, index, values, NULL))
    {
      sampler->n_lost++;
      return;
    }
  *newest = MAX (*newest, (gint64) info.endTimestamp);
  /* The first one counts from when the counters were reset, not from when sampling began. */
  if (!sampler->seen_first)
    {
      sampler->seen_first = TRUE;
      return;
    }
  if (sampler->samples->len >= MOST_SAMPLES)
    {
      sampler->n_lost++;
      return;
    }
  sample = (GantryCuptiSample){ (gint64) info.startTimestamp, (gint64) info.endTimestamp };
  for (guint i = 0; i < n; i++)
    values[i] *= sampler->metrics[i]->scale;
  g_array_append_val (sampler->samples, sample);
  g_array_append_vals (sampler->values, values, n);
}

/* Returns TRUE when the image was full, so that there is more to decode. */
static gboolean
decode_once (GantryCuptiSampler *sampler)
{
  CUpti_PmSampling_DecodeData_Params decode = { CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE };
  CUpti_PmSampling_GetCounterDataInfo_Params info = { CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE };
  GantryCuptiMoment moment = { G_MININT64, 0 };
  CUptiResult result;

  decode.pPmSamplingObject = sampler->object;
  decode.pCounterDataImage = sampler->image;
  decode.counterDataImageSize = sampler->image_size;
  result = sampler->library->pm_decode (&decode);
  moment.monotonic = read_clock (CLOCK_MONOTONIC);
  /* The GPU's buffer was full before it was read: sampling begins anew, and what was in it is lost. */
  if (result == CUPTI_ERROR_OUT_OF_MEMORY || (result == CUPTI_SUCCESS && decode.overflow != 0))
    sampler->n_overflows++;
  if (result == CUPTI_ERROR_OUT_OF_MEMORY)
    {
      stop (sampler);
      result = initialize_counter_data (sampler);
      if (result == CUPTI_SUCCESS && !g_atomic_int_get (&sampler->ending))
        result = start (sampler);
      sampler->seen_first = FALSE;
    }
  info.pCounterDataImage = sampler->image;
  info.counterDataImageSize = sampler->image_size;
  if (result == CUPTI_SUCCESS)
    result = sampler->library->pm_get_data_info (&info);
  if (result != CUPTI_SUCCESS)
    {
      sampler->failure = result;
      sampler->n_failures++;
      return FALSE;
    }
  for (gsize i = 0; i < info.numCompletedSamples; i++)
    take_sample (sampler, i, &moment.theirs);
  if (moment.theirs != G_MININT64)
    g_array_append_val (sampler->newest, moment);
  if (initialize_counter_data (sampler) != CUPTI_SUCCESS)
    sampler->n_failures++;
  return decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL && info.numCompletedSamples > 0;
}

static gpointer
decode_loop (gpointer user_data)
{
  GantryCuptiSampler *sampler = user_data;

  g_mutex_lock (&sampler->lock);
  while (!g_atomic_int_get (&sampler->ending) && sampler->n_failures < 16)
    {
      gint64 until = g_get_monotonic_time () + DECODE_EVERY_US;

      while (!g_atomic_int_get (&sampler->ending) && g_cond_wait_until (&sampler->wake, &sampler->lock, until))
        ;
      g_mutex_unlock (&sampler->lock);
      while (decode_once (sampler))
        ;
      g_mutex_lock (&sampler->lock);
    }
  g_mutex_unlock (&sampler->lock);
  return NULL;
}

/* By time; GA100 can only count cycles of the system clock, which is taken as 1 GHz. */
static CUptiResult
set_config (GantryCuptiSampler *sampler, gsize hardware_bytes)
{
  CUpti_PmSampling_SetConfig_Params config = { CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE };
  CUptiResult result;

  config.pPmSamplingObject = sampler->object;
  config.configSize = sampler->host->config_size;
  config.pConfig = sampler->host->config;
  config.hardwareBufferSize = hardware_bytes;
  config.samplingInterval = sampler->interval_ns;
  config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST;
  result = sampler->library->pm_set_config (&config);
  if (result == CUPTI_SUCCESS || result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    return result;
  config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
  sampler->by_cycles = sampler->library->pm_set_config (&config) == CUPTI_SUCCESS;
  return sampler->by_cycles ? CUPTI_SUCCESS : result;
}

static gboolean
open_sampling (GantryCuptiSampler *sampler, guint device, gsize hardware_bytes, gboolean *insufficient, GError **error)
{
  const GantryCuptiLibrary *library = sampler->library;
  CUpti_PmSampling_Enable_Params enable = { CUpti_PmSampling_Enable_Params_STRUCT_SIZE };

  enable.deviceIndex = device;
  if (!check (library, library->pm_enable (&enable), "reserving the counters", insufficient, error))
    return FALSE;
  sampler->object = enable.pPmSamplingObject;
  if (!check (library, set_config (sampler, hardware_bytes), "setting the counters up", insufficient, error) || !allocate_counter_data (sampler, error)
      || !check (library, initialize_counter_data (sampler), "preparing the samples", insufficient, error))
    return FALSE;
  sampler->from = read_clock (CLOCK_MONOTONIC);
  sampler->realtime_ahead = read_clock (CLOCK_REALTIME) - read_clock (CLOCK_MONOTONIC);
  return check (library, start (sampler), "starting the sampling", insufficient, error);
}

GantryCuptiSampler *
_gantry_cupti_sampler_start (const GantryCuptiLibrary *library, guint device, guint64 interval_ns, gsize hardware_bytes, gboolean *insufficient, GError **error)
{
  GantryCuptiSampler *sampler;

  *insufficient = FALSE;
  if (!has_functions (library, error))
    return NULL;
  sampler = g_new0 (GantryCuptiSampler, 1);
  sampler->library = library;
  sampler->interval_ns = interval_ns;
  sampler->refused = g_ptr_array_new ();
  sampler->samples = g_array_new (FALSE, FALSE, sizeof (GantryCuptiSample));
  sampler->values = g_array_new (FALSE, FALSE, sizeof (double));
  sampler->newest = g_array_new (FALSE, FALSE, sizeof (GantryCuptiMoment));
  g_mutex_init (&sampler->lock);
  g_cond_init (&sampler->wake);
  if (!open_host (sampler, device, insufficient, error) || !configure (sampler, error) || !open_sampling (sampler, device, hardware_bytes, insufficient, error))
    {
      _gantry_cupti_sampler_free (sampler);
      return NULL;
    }
  sampler->thread = gantry_thread_try ("cupti-sampler", decode_loop, sampler, error);
  if (sampler->thread == NULL)
    g_clear_pointer (&sampler, _gantry_cupti_sampler_free);
  return sampler;
}

static void
end_thread (GantryCuptiSampler *sampler)
{
  if (sampler->thread == NULL)
    return;
  g_mutex_lock (&sampler->lock);
  g_atomic_int_set (&sampler->ending, TRUE);
  g_cond_signal (&sampler->wake);
  g_mutex_unlock (&sampler->lock);
  g_thread_join (g_steal_pointer (&sampler->thread));
}

static void
add_notes (const GantryCuptiSampler *sampler, GantryCuptiCapture *capture)
{
  for (guint i = 0; i < sampler->refused->len; i++)
    gantry_cupti_capture_note (capture, "%s has no counter \"%s\" that could be sampled with the others.", sampler->host->chip,
                               (const char *) g_ptr_array_index (sampler->refused, i));
  if (sampler->by_cycles)
    gantry_cupti_capture_note (capture, "This GPU cannot sample counters by time: they were sampled every %" G_GUINT64_FORMAT " cycles of its system clock.",
                               sampler->interval_ns);
  if (sampler->n_overflows > 0)
    gantry_cupti_capture_note (capture,
                               "The counters' buffer on the GPU overflowed %u times: their curves have gaps. A longer "
                               "sampling interval helps.",
                               sampler->n_overflows);
  if (sampler->n_lost > 0)
    gantry_cupti_capture_note (capture, "%u samples of counters could not be evaluated or kept.", sampler->n_lost);
  if (sampler->n_failures > 0)
    gantry_cupti_capture_note (capture, "Reading the counters failed %u times (%s): their curves are not complete.", sampler->n_failures,
                               _gantry_cupti_result (sampler->library, sampler->failure));
}

void
_gantry_cupti_sampler_stop (GantryCuptiSampler *sampler)
{
  end_thread (sampler);
  if (stop (sampler) != CUPTI_SUCCESS)
    sampler->n_failures++;
  sampler->to = read_clock (CLOCK_MONOTONIC);
  while (decode_once (sampler))
    ;
}

void
_gantry_cupti_sampler_take (const GantryCuptiSampler *sampler, GantryCuptiCapture *capture)
{
  capture->sampled_from = sampler->from;
  capture->sampled_to = sampler->to;
  capture->realtime_ahead = sampler->realtime_ahead;
  for (guint i = 0; i < sampler->host->names->len; i++)
    g_ptr_array_add (capture->counters, g_strdup (sampler->metrics[i]->label));
  g_array_append_vals (capture->samples, sampler->samples->data, sampler->samples->len);
  g_array_append_vals (capture->values, sampler->values->data, sampler->values->len);
  g_array_append_vals (capture->newest, sampler->newest->data, sampler->newest->len);
  add_notes (sampler, capture);
}

void
_gantry_cupti_sampler_free (GantryCuptiSampler *sampler)
{
  CUpti_PmSampling_Disable_Params disable = { CUpti_PmSampling_Disable_Params_STRUCT_SIZE };

  if (sampler == NULL)
    return;
  end_thread (sampler);
  disable.pPmSamplingObject = sampler->object;
  if (sampler->object != NULL)
    sampler->library->pm_disable (&disable);
  _gantry_cupti_host_free (sampler->host);
  g_free (sampler->metrics);
  g_free (sampler->availability);
  g_free (sampler->image);
  g_ptr_array_unref (sampler->refused);
  g_array_unref (sampler->samples);
  g_array_unref (sampler->values);
  g_array_unref (sampler->newest);
  g_mutex_clear (&sampler->lock);
  g_cond_clear (&sampler->wake);
  g_free (sampler);
}

const char *
_gantry_cupti_sampler_chip (const GantryCuptiSampler *sampler)
{
  return sampler->host->chip;
}
