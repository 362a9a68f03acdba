/* SPDX-License-Identifier: Apache-2.0 */
/* Progress that may be absent: the callers need not ask. */
#include "core/base/progress.h"

void
gantry_progress_report (const GantryProgress *progress, double fraction, const char *what)
{
  if (progress != NULL && progress->report != NULL)
    progress->report (fraction, what, progress->user_data);
}

gboolean
gantry_progress_cancelled (const GantryProgress *progress, GError **error)
{
  return progress != NULL && g_cancellable_set_error_if_cancelled (progress->cancellable, error);
}
