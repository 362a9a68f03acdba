/* SPDX-License-Identifier: Apache-2.0 */
/* Curves of time by work, as straight lines between measured points. */
#include "core/planner/curve.h"
#include <string.h>

void
gantry_curve_add (GantryCurve *curve, double work, double us)
{
  if (curve->n == GANTRY_CURVE_POINTS || !(work > 0) || !(us > 0) || (curve->n > 0 && !(work > curve->work[curve->n - 1])))
    return;
  curve->work[curve->n] = work;
  curve->us[curve->n] = curve->n > 0 ? MAX (us, curve->us[curve->n - 1]) : us;
  curve->n++;
}

double
gantry_curve_us (const GantryCurve *curve, double work)
{
  guint i = 1;
  double slope, us;

  if (curve->n == 0 || !(work > 0))
    return 0;
  us = curve->us[0] * work / curve->work[0];
  if (curve->n == 1)
    return MIN (us, GANTRY_CURVE_MOST_US);
  while (i + 1 < curve->n && curve->work[i] < work)
    i++;
  slope = (curve->us[i] - curve->us[i - 1]) / (curve->work[i] - curve->work[i - 1]);
  if (work >= curve->work[0])
    return MIN (curve->us[i - 1] + slope * (work - curve->work[i - 1]), GANTRY_CURVE_MOST_US);
  return MIN (MAX (us, curve->us[0] - slope * (curve->work[0] - work)), GANTRY_CURVE_MOST_US);
}

char *
gantry_curve_to_text (const GantryCurve *curve)
{
  GString *text = g_string_new (NULL);
  char number[2][G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < curve->n; i++)
    g_string_append_printf (text, "%s:%s;", g_ascii_formatd (number[0], sizeof number[0], "%.12g", curve->work[i]),
                            g_ascii_formatd (number[1], sizeof number[1], "%.6g", curve->us[i]));
  return g_string_free (text, FALSE);
}

static gboolean
read_number (const char **at, char end, double *value)
{
  char *after;

  *value = g_ascii_strtod (*at, &after);
  if (after == *at || *after != end || !(*value > 0) || !(*value <= GANTRY_CURVE_MOST))
    return FALSE;
  *at = after + 1;
  return TRUE;
}

gboolean
gantry_curve_parse (GantryCurve *curve, const char *text)
{
  GantryCurve read = { 0 };

  for (const char *at = text; *at != '\0'; read.n++)
    if (read.n == GANTRY_CURVE_POINTS || !read_number (&at, ':', &read.work[read.n]) || !read_number (&at, ';', &read.us[read.n]) || !(read.work[read.n] >= 1)
        || (read.n > 0 && (read.work[read.n] <= read.work[read.n - 1] || read.us[read.n] < read.us[read.n - 1])))
      return FALSE;
  *curve = read;
  return TRUE;
}
