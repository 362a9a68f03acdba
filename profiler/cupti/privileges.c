/* SPDX-License-Identifier: Apache-2.0 */
/* What to say where CUPTI answers INSUFFICIENT_PRIVILEGES. */
#include "profiler/cupti/privileges.h"
#include "profiler/cupti/cupti.h"
#include <string.h>

#define PARAMETER "RmProfilingAdminOnly:"

char *
_gantry_cupti_privileges_text (const char *params)
{
  g_autofree char *text = NULL;
  const char *at = g_file_get_contents (params, &text, NULL, NULL) ? strstr (text, PARAMETER) : NULL;

  if (at != NULL && g_ascii_strtoll (at + strlen (PARAMETER), NULL, 10) == 0)
    return g_strdup ("The driver lets every user profile (RmProfilingAdminOnly is 0), so the container or the virtual machine "
                     "forbids it: start the container with --cap-add=SYS_ADMIN, or ask who runs the machine.");
  return g_strdup_printf ("%sRun as root, give the program the capability SYS_ADMIN (in a container: --cap-add=SYS_ADMIN), or let "
                          "every user profile: put \"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" into a file in "
                          "/etc/modprobe.d, rebuild the initial ramdisk and restart.",
                          at != NULL ? "The driver lets only root profile (RmProfilingAdminOnly is 1). " : "");
}

char *
gantry_cupti_privileges_text (void)
{
  return _gantry_cupti_privileges_text ("/proc/driver/nvidia/params");
}
