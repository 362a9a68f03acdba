/* SPDX-License-Identifier: Apache-2.0 */
/* The host object of CUPTI's profiler. */
#include "profiler/cupti/host.h"
#include "core/base/error.h"

static gboolean
open_object (GantryCuptiHost *host, GError **error)
{
  CUpti_Profiler_Host_Initialize_Params params = { CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE };

  params.profilerType = host->type;
  params.pChipName = host->chip;
  params.pCounterAvailabilityImage = host->availability;
  if (!_gantry_cupti_check (host->library, host->library->host_initialize (&params), "opening the list of metrics", error))
    {
      gantry_error_prefix (error, "%s: ", host->chip);
      return FALSE;
    }
  host->object = params.pHostObject;
  return TRUE;
}

static void
close_object (GantryCuptiHost *host)
{
  CUpti_Profiler_Host_Deinitialize_Params params = { CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE };

  if (host->object == NULL)
    return;
  params.pHostObject = g_steal_pointer (&host->object);
  host->library->host_deinitialize (&params);
}

GantryCuptiHost *
_gantry_cupti_host_new (const GantryCuptiLibrary *library, const char *chip, CUpti_ProfilerType type, const guint8 *availability, GError **error)
{
  g_autoptr (GantryCuptiHost) host = g_new0 (GantryCuptiHost, 1);
  CUpti_Profiler_Initialize_Params params = { CUpti_Profiler_Initialize_Params_STRUCT_SIZE };

  host->library = library;
  host->chip = g_strdup (chip);
  host->type = type;
  host->availability = availability;
  host->names = g_ptr_array_new_with_free_func (g_free);
  if (library->profiler_initialize == NULL || library->host_initialize == NULL || library->host_deinitialize == NULL || library->host_add_metrics == NULL
      || library->host_get_config_size == NULL || library->host_get_config == NULL || library->host_get_passes == NULL || library->host_evaluate == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s has no counters of this kind: CUDA 12.6 or later has them", library->path);
      return NULL;
    }
  /* Without a GPU this fails, and the list of metrics is there all the same. */
  library->profiler_initialize (&params);
  return open_object (host, error) ? g_steal_pointer (&host) : NULL;
}

void
_gantry_cupti_host_free (GantryCuptiHost *host)
{
  if (host == NULL)
    return;
  close_object (host);
  g_ptr_array_unref (host->names);
  g_free (host->config);
  g_free (host->chip);
  g_free (host);
}

static CUptiResult
add_metrics (GantryCuptiHost *host, const char *const *names, gsize n)
{
  CUpti_Profiler_Host_ConfigAddMetrics_Params params = { CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE };

  params.pHostObject = host->object;
  params.ppMetricNames = (const char **) names;
  params.numMetrics = n;
  return host->library->host_add_metrics (&params);
}

/* Keeps in host->names those that the chip has. */
static gboolean
try_each (GantryCuptiHost *host, const char *const *names, guint n, GPtrArray *refused, GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      close_object (host);
      if (!open_object (host, error))
        return FALSE;
      if (add_metrics (host, names + i, 1) == CUPTI_SUCCESS)
        g_ptr_array_add (host->names, g_strdup (names[i]));
      else
        g_ptr_array_add (refused, g_strdup (names[i]));
    }
  close_object (host);
  if (!open_object (host, error))
    return FALSE;
  if (host->names->len == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s has none of the %u metrics that were asked for", host->chip, n);
      return FALSE;
    }
  return _gantry_cupti_check (host->library, add_metrics (host, (const char *const *) host->names->pdata, host->names->len), "configuring metrics", error);
}

static gboolean
get_config (GantryCuptiHost *host, GError **error)
{
  const GantryCuptiLibrary *library = host->library;
  CUpti_Profiler_Host_GetConfigImageSize_Params size = { CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE };
  CUpti_Profiler_Host_GetConfigImage_Params image = { CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE };
  CUpti_Profiler_Host_GetNumOfPasses_Params passes = { CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE };

  size.pHostObject = host->object;
  if (!_gantry_cupti_check (library, library->host_get_config_size (&size), "asking for the configuration's size", error))
    return FALSE;
  g_free (host->config);
  host->config_size = size.configImageSize;
  host->config = g_malloc0 (host->config_size);
  image.pHostObject = host->object;
  image.configImageSize = host->config_size;
  image.pConfigImage = host->config;
  if (!_gantry_cupti_check (library, library->host_get_config (&image), "making the configuration", error))
    return FALSE;
  passes.configImageSize = host->config_size;
  passes.pConfigImage = host->config;
  if (!_gantry_cupti_check (library, library->host_get_passes (&passes), "counting passes", error))
    return FALSE;
  host->n_passes = passes.numOfPasses;
  return TRUE;
}

gboolean
_gantry_cupti_host_configure (GantryCuptiHost *host, const char *const *names, guint n, GPtrArray **refused, GError **error)
{
  *refused = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_set_size (host->names, 0);
  close_object (host);
  if (!open_object (host, error))
    return FALSE;
  if (add_metrics (host, names, n) == CUPTI_SUCCESS)
    for (guint i = 0; i < n; i++)
      g_ptr_array_add (host->names, g_strdup (names[i]));
  else if (!try_each (host, names, n, *refused, error))
    return FALSE;
  return get_config (host, error);
}

gboolean
_gantry_cupti_host_evaluate (GantryCuptiHost *host, const guint8 *image, gsize size, gsize index, double *values, GError **error)
{
  CUpti_Profiler_Host_EvaluateToGpuValues_Params params = { CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE };

  params.pHostObject = host->object;
  params.pCounterDataImage = image;
  params.counterDataImageSize = size;
  params.rangeIndex = index;
  params.ppMetricNames = (const char **) host->names->pdata;
  params.numMetrics = host->names->len;
  params.pMetricValues = values;
  return _gantry_cupti_check (host->library, host->library->host_evaluate (&params), "evaluating counters", error);
}
