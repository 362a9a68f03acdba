/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/stat: its first line counts all processors together, those after it one each. */
#include "core/base/processor-load.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double
seconds_of (const struct timeval *time)
{
  return (double) time->tv_sec + (double) time->tv_usec / 1e6;
}

void
gantry_processor_load_read (GantryProcessorLoad *load)
{
  g_autofree char *text = NULL;
  unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
  struct rusage own;

  *load = (GantryProcessorLoad){ .time = (double) g_get_monotonic_time () / 1e6 };
  if (getrusage (RUSAGE_SELF, &own) == 0)
    load->own_seconds = seconds_of (&own.ru_utime) + seconds_of (&own.ru_stime);
  if (!g_file_get_contents ("/proc/stat", &text, NULL, NULL)
      || sscanf (text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) != 8)
    return;
  load->busy = (double) (user + nice + system + irq + softirq + steal);
  for (const char *line = text; (line = strstr (line, "\ncpu")) != NULL; line++)
    load->n_processors++;
}

double
gantry_processor_load_of_others (const GantryProcessorLoad *before, const GantryProcessorLoad *after)
{
  double seconds = after->time - before->time, ticks = (double) sysconf (_SC_CLK_TCK);

  if (before->n_processors == 0 || before->n_processors != g_get_num_processors () || !(seconds > 0))
    return -1;
  return MAX ((after->busy - before->busy) / ticks - (after->own_seconds - before->own_seconds), 0) / seconds;
}
