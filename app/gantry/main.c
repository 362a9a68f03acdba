/* SPDX-License-Identifier: Apache-2.0 */
/* gantry [FILE...]: the window. */
#include "app/gantry/application.h"

int
main (int argc, char **argv)
{
  g_autoptr (GantryApplication) application = NULL;

  g_set_application_name ("Gantry");
  application = gantry_application_new (G_APPLICATION_DEFAULT_FLAGS);
  return g_application_run (G_APPLICATION (application), argc, argv);
}
