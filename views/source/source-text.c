/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a file to lines that a text view can show. */
#include "views/source/source-text.h"
#include "core/base/error.h"
#include "core/base/format.h"
#include <string.h>

#define MOST_BYTES ((gsize) 16 << 20)
#define MOST_LINES 200000u
/* A view lays out a line as a whole: constants of a megabyte in one line would stop it. */
#define MOST_LINE_BYTES 4000u

static const char mark_of_utf8[] = "\357\273\277";
static const char paragraph_separator[] = "\342\200\251"; /* U+2029, at which a text view begins a line and no compiler does */
static const char replacement[] = "\357\277\275";         /* U+FFFD, as long */

void
gantry_source_text_free (GantrySourceText *text)
{
  if (text == NULL)
    return;
  g_free (text->path);
  g_free (text->text);
  g_free (text);
}

/* Appends one line. Returns: whether it was cut */
static gboolean
append_line (GString *text, const char *line, gsize length)
{
  gsize begin = text->len, kept = MIN (length, MOST_LINE_BYTES);
  char *separator;

  while (kept < length && kept > 0 && (line[kept] & 0xc0) == 0x80)
    kept--;
  g_string_append_len (text, line, (gssize) kept);
  while ((separator = g_strstr_len (text->str + begin, (gssize) (text->len - begin), paragraph_separator)) != NULL)
    memcpy (separator, replacement, strlen (replacement));
  g_string_append (text, kept < length ? "…\n" : "\n");
  return kept < length;
}

/* Lines end with a line feed, a carriage return or both, as Python has it. */
static char *
read_lines (const char *bytes, gsize length, GantrySourceText *source, GError **error)
{
  g_autoptr (GString) text = g_string_sized_new (length + 2);
  const char *at = bytes, *end = bytes + length;

  while (at < end)
    {
      gsize n = 0;

      while (at + n < end && at[n] != '\n' && at[n] != '\r')
        n++;
      if (++source->n_lines > MOST_LINES)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: has more than %u lines, the most that are shown", source->path, MOST_LINES);
          return NULL;
        }
      source->n_cut += append_line (text, at, n);
      at += n;
      at += end - at >= 2 && at[0] == '\r' && at[1] == '\n' ? 2 : at < end;
    }
  source->is_utf8 = g_utf8_validate (text->str, (gssize) text->len, NULL);
  return source->is_utf8 ? g_string_free (g_steal_pointer (&text), FALSE) : g_utf8_make_valid (text->str, (gssize) text->len);
}

static gboolean
check_bytes (const char *path, const char *bytes, gsize length, GError **error)
{
  g_autofree char *size = gantry_format_bytes (length), *most = gantry_format_bytes (MOST_BYTES);

  if (length > MOST_BYTES)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: has %s; files of up to %s are shown", path, size, most);
  else if (length > 0 && memchr (bytes, 0, length) != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: is not a text", path);
  else
    return TRUE;
  return FALSE;
}

static GantrySourceAge
age_of (const GantrySourceRequest *request, const GantryFileIdentity *now)
{
  if (request->identity.inode != 0)
    return gantry_file_identity_equal (&request->identity, now) ? GANTRY_SOURCE_AS_OPENED : GANTRY_SOURCE_CHANGED;
  return request->model_modified_ns != 0 && now->modified_ns > request->model_modified_ns ? GANTRY_SOURCE_NEWER : GANTRY_SOURCE_AS_OPENED;
}

GantrySourceText *
gantry_source_text_read (const GantrySourceRequest *request, GError **error)
{
  g_autoptr (GantrySourceText) source = g_new0 (GantrySourceText, 1);
  g_autoptr (GMappedFile) file = NULL;
  GantryFileIdentity now;
  const char *bytes;
  gsize length;

  source->path = g_strdup (request->path);
  /* Looked at before it is opened: opening some devices does something. */
  if (!gantry_file_check (request->path, error))
    return NULL;
  gantry_file_identify (request->path, &now);
  file = request->anywhere || request->owner == NULL ? gantry_file_map (request->path, error)
                                                     : gantry_file_map_beside (request->path, request->owner, FALSE, error);
  if (file == NULL)
    return NULL;
  bytes = g_mapped_file_get_contents (file);
  length = g_mapped_file_get_length (file);
  if (!check_bytes (request->path, bytes, length, error))
    return NULL;
  if (length >= strlen (mark_of_utf8) && memcmp (bytes, mark_of_utf8, strlen (mark_of_utf8)) == 0)
    {
      bytes += strlen (mark_of_utf8);
      length -= strlen (mark_of_utf8);
    }
  source->age = age_of (request, &now);
  source->text = read_lines (bytes, length, source, error);
  return source->text != NULL ? g_steal_pointer (&source) : NULL;
}

static void
request_free (gpointer data)
{
  GantrySourceRequest *request = data;

  g_free (request->path);
  g_free (request->owner);
  g_free (request);
}

static void
read_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  GantrySourceText *text = gantry_source_text_read (data, &error);

  if (text != NULL)
    g_task_return_pointer (task, text, (GDestroyNotify) gantry_source_text_free);
  else
    g_task_return_error (task, error);
}

void
gantry_source_text_read_async (const GantrySourceRequest *request, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  GantrySourceRequest *copy = g_memdup2 (request, sizeof *request);

  copy->path = g_strdup (request->path);
  copy->owner = g_strdup (request->owner);
  g_task_set_task_data (task, copy, request_free);
  g_task_run_in_thread (task, read_in_thread);
}

GantrySourceText *
gantry_source_text_read_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
