/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder of a build that found no headers of CUPTI. */
#include "profiler/cupti/cupti.h"
#include "core/base/error.h"

static void
set_absent (GError **error)
{
  g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                       "this program was built without CUPTI: install the CUDA toolkit with its CUPTI headers (12.6 or later) and "
                       "build again; meson setup -Dcuda=FOLDER names where it is");
}

gboolean
gantry_cupti_is_built (void)
{
  return FALSE;
}

void
gantry_cupti_prepare_environment (void)
{
}

GantryCuptiRecorder *
gantry_cupti_start (const GantryCuptiOptions *options, GError **error)
{
  set_absent (error);
  return NULL;
}

gboolean
gantry_cupti_ties_graphs (const GantryCuptiRecorder *recorder)
{
  return FALSE;
}

void
gantry_cupti_push (gpointer recorder, guint32 instruction)
{
}

void
gantry_cupti_pop (gpointer recorder)
{
}

GantryRecording *
gantry_cupti_stop (GantryCuptiRecorder *recorder, const GantryCuptiRun *runs, guint n_runs, GantryExecutable *executable, const GantryRecording *observed)
{
  g_return_val_if_reached (NULL);
}

void
gantry_cupti_cancel (GantryCuptiRecorder *recorder)
{
}

gboolean
gantry_cupti_profile_kernel (gpointer context, guint device, GantryCuptiLaunchFunc launch, gpointer user_data, GantryCuptiKernelProfile *profile,
                             GError **error)
{
  set_absent (error);
  return FALSE;
}
