/* SPDX-License-Identifier: Apache-2.0 */
/* Reads "8GiB" and "30%". */
#include "core/document/size.h"
#include "core/base/bytes-text.h"
#include "core/document/document-private.h"
#include <string.h>

gboolean
gantry_size_parse (const char *text, GantrySize *size, GError **error)
{
  char *end;
  double percent = g_ascii_strtod (text, &end);
  gboolean part, nothing;

  *size = (GantrySize){ 0 };
  while (*end == ' ' && end != text)
    end++;
  part = end != text && strcmp (end, "%") == 0;
  if (part && percent > 0 && percent <= 1000)
    {
      size->part = percent / 100;
      return TRUE;
    }
  nothing = part && percent == 0;
  if (!part && gantry_bytes_parse (text, &size->bytes))
    {
      if (size->bytes > 0)
        return TRUE;
      nothing = TRUE;
    }
  size->bytes = 0;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "'%s' is no size%s: write for example 8GiB, 512MiB, 1000000 or 30%%", text,
               nothing ? " that anything fits into" : "");
  return FALSE;
}

gboolean
gantry_size_resolve (GantryDocument *document, const GantrySize *size, guint64 *bytes, GError **error)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (document);
  GantryPlanner *planner = gantry_document_get_planner (document);

  if (size->part == 0)
    {
      *bytes = size->bytes;
      return TRUE;
    }
  if (planner == NULL)
    {
      if (compilation != NULL && compilation->refusal != NULL)
        g_propagate_error (error, g_error_copy (compilation->refusal));
      else
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a part of the peak has a meaning once a program is planned");
      return FALSE;
    }
  *bytes = _gantry_limit_of_part (planner, size->part);
  return TRUE;
}

char *
gantry_size_note (GantryDocument *document, const char *text)
{
  GantryPlanner *planner = gantry_document_get_planner (document);
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();
  g_autofree char *peak = NULL;
  GantrySize size;

  if (planner == NULL || !gantry_size_parse (text, &size, NULL) || size.part == 0)
    return NULL;
  gantry_planner_predict_within (planner, NULL, 0, prediction);
  if (prediction->sizes_known)
    return NULL;
  peak = gantry_memory_peak_text (prediction->peak_bytes, 0, FALSE);
  return g_strdup_printf ("%s is of %s, the peak of keeping everything as far as it is known: what its kernels need is not", text, peak);
}

char *
gantry_size_text (guint64 bytes)
{
  return bytes > 0 ? gantry_format_limit (bytes) : g_strdup ("");
}

char *
gantry_size_limit_text (const GantryTarget *target)
{
  return target->memory_part > 0 ? g_strdup_printf ("%.6g%%", target->memory_part * 100) : gantry_size_text (target->memory_limit);
}

gboolean
gantry_size_read (GantryDocument *document, const char *text, guint64 shown, guint64 *bytes, GError **error)
{
  g_autofree char *now = g_strstrip (g_strdup (text)), *before = gantry_size_text (shown);
  GantrySize size;

  *bytes = *now == '\0' ? 0 : shown;
  return *now == '\0' || strcmp (now, before) == 0 || (gantry_size_parse (now, &size, error) && gantry_size_resolve (document, &size, bytes, error));
}
