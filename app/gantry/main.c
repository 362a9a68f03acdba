/* SPDX-License-Identifier: Apache-2.0 */
/* gantry [FILE...]: the window. */
#include "app/gantry/application.h"
#include "core/base/scratch.h"
#include <signal.h>

int
main (int argc, char **argv)
{
  g_autoptr (GantryApplication) application = NULL;

  signal (SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails, and is told */
  g_set_application_name ("Gantry");
  gantry_scratch_sweep ();
  application = gantry_application_new (G_APPLICATION_DEFAULT_FLAGS);
  return gantry_application_status (application, g_application_run (G_APPLICATION (application), argc, argv));
}
