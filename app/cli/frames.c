/* SPDX-License-Identifier: Apache-2.0 */
/* Frames between two gantry-cli: reading, writing, and what their payloads are. */
#include "app/cli/frames.h"
#include "core/base/allocate.h"
#include "core/base/output.h"
#include <string.h>

static const char magic[4] = { 'G', 'n', 'F', 'r' };

void
gantry_frame_clear (GantryFrame *frame)
{
  g_clear_pointer (&frame->payload, g_bytes_unref);
}

static void
put (guint8 *to, guint64 value, guint n)
{
  for (guint i = 0; i < n; i++)
    to[i] = (guint8) (value >> (8 * i));
}

static guint64
get (const guint8 *from, guint n)
{
  guint64 value = 0;

  for (guint i = 0; i < n; i++)
    value |= (guint64) from[i] << (8 * i);
  return value;
}

/* The printable part of what is no frame, for people. (transfer full) */
static char *
as_text (const guint8 *bytes, gsize n)
{
  GString *text = g_string_new (NULL);

  for (gsize i = 0; i < n; i++)
    g_string_append_c (text, g_ascii_isprint (bytes[i]) ? (char) bytes[i] : '.');
  return g_string_free (text, FALSE);
}

/* Says what came in place of a frame, with a little of what follows. */
static void
set_garbage (GInputStream *stream, const guint8 *head, gsize n, GError **error)
{
  guint8 more[200];
  gsize got = 0;
  g_autofree char *text = NULL;

  memcpy (more, head, n);
  /* Only what is there already: the other side may wait for us. */
  if (G_IS_POLLABLE_INPUT_STREAM (stream) && g_pollable_input_stream_can_poll (G_POLLABLE_INPUT_STREAM (stream)))
    {
      gssize read = g_pollable_input_stream_read_nonblocking (G_POLLABLE_INPUT_STREAM (stream), more + n, sizeof more - n, NULL, NULL);

      got = read > 0 ? (gsize) read : 0;
    }
  text = as_text (more, n + got);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "not what gantry-cli says, but '%s'", text);
}

gboolean
gantry_frame_read (GInputStream *stream, GantryFrame *frame, GError **error)
{
  guint8 head[GANTRY_FRAME_HEAD];
  g_autofree guint8 *payload = NULL;
  guint64 kind, length;
  gsize n;

  *frame = (GantryFrame){ 0 };
  if (!g_input_stream_read_all (stream, head, sizeof head, &n, NULL, error))
    return FALSE;
  if (n > 0 && memcmp (head, magic, MIN (n, sizeof magic)) != 0)
    {
      set_garbage (stream, head, n, error);
      return FALSE;
    }
  if (n < sizeof head)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED, n == 0 ? "it ended" : "it ended in the middle of a frame");
      return FALSE;
    }
  kind = get (head + 4, 4);
  length = get (head + 8, 8);
  if (kind < GANTRY_FRAME_HELLO || kind > GANTRY_FRAME_DONE)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a frame of kind %u, which there is not", (guint) kind);
      return FALSE;
    }
  if (length > GANTRY_FRAME_MOST_BYTES)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "a frame of %" G_GUINT64_FORMAT " bytes where %u are allowed", length, GANTRY_FRAME_MOST_BYTES);
      return FALSE;
    }
  payload = gantry_try_allocate (length + 1, 1, "a frame", error);
  if (payload == NULL)
    return FALSE;
  if (!g_input_stream_read_all (stream, payload, length, &n, NULL, error))
    return FALSE;
  if (n < length)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED, "it ended in the middle of a frame");
      return FALSE;
    }
  frame->kind = (GantryFrameKind) kind;
  frame->payload = g_bytes_new_take (g_steal_pointer (&payload), length);
  return TRUE;
}

gboolean
gantry_frame_write (GOutputStream *stream, GantryFrameKind kind, gconstpointer data, gsize n, GError **error)
{
  guint8 head[GANTRY_FRAME_HEAD];

  g_return_val_if_fail (n <= GANTRY_FRAME_MOST_BYTES, FALSE);
  memcpy (head, magic, sizeof magic);
  put (head + 4, kind, 4);
  put (head + 8, n, 8);
  return g_output_stream_write_all (stream, head, sizeof head, NULL, NULL, error) && (n == 0 || g_output_stream_write_all (stream, data, n, NULL, NULL, error))
         && g_output_stream_flush (stream, NULL, error);
}

/* A number and a text behind it: what several frames are. */
static gboolean
write_number (GOutputStream *stream, GantryFrameKind kind, guint64 number, guint width, const char *text, GError **error)
{
  gsize n = MIN (strlen (text), 64 * 1024);
  g_autofree guint8 *payload = g_malloc (width + n);

  put (payload, number, width);
  memcpy (payload + width, text, n);
  return gantry_frame_write (stream, kind, payload, width + n, error);
}

static gboolean
parse_number (const GantryFrame *frame, GantryFrameKind kind, guint width, guint64 *number, char **text, GError **error)
{
  gsize n;
  const guint8 *data = g_bytes_get_data (frame->payload, &n);

  if (frame->kind != kind || n < width)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a frame of kind %u with %" G_GSIZE_FORMAT " bytes where one of kind %u belongs", frame->kind, n,
                   kind);
      return FALSE;
    }
  *number = get (data, width);
  *text = g_utf8_make_valid ((const char *) data + width, (gssize) (n - width));
  return TRUE;
}

gboolean
gantry_frame_write_hello (GOutputStream *stream, const char *version, GError **error)
{
  return write_number (stream, GANTRY_FRAME_HELLO, GANTRY_FRAMES_VERSION, 4, version, error);
}

gboolean
gantry_frame_parse_hello (const GantryFrame *frame, char **version, GError **error)
{
  guint64 number;

  if (!parse_number (frame, GANTRY_FRAME_HELLO, 4, &number, version, error))
    return FALSE;
  if (number == GANTRY_FRAMES_VERSION)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "gantry-cli %s there speaks version %u of the frames, this one %u", *version, (guint) number,
               GANTRY_FRAMES_VERSION);
  g_clear_pointer (version, g_free);
  return FALSE;
}

gboolean
gantry_frame_write_failed (GOutputStream *stream, int status, const char *message, GError **error)
{
  return write_number (stream, GANTRY_FRAME_FAILED, (guint64) (status & 0xff), 4, message, error);
}

gboolean
gantry_frame_parse_failed (const GantryFrame *frame, int *status, char **message, GError **error)
{
  guint64 number;

  if (!parse_number (frame, GANTRY_FRAME_FAILED, 4, &number, message, error))
    return FALSE;
  *status = (int) (number & 0xff);
  return TRUE;
}

gboolean
gantry_frame_write_arguments (GOutputStream *stream, char *const *arguments, GError **error)
{
  g_autoptr (GByteArray) payload = g_byte_array_new ();
  guint n = 0;

  for (; arguments[n] != NULL; n++)
    g_byte_array_append (payload, (const guint8 *) arguments[n], (guint) strlen (arguments[n]) + 1);
  if (n > GANTRY_FRAME_MOST_ARGUMENTS || payload->len > GANTRY_FRAME_MOST_BYTES)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%u arguments of %u bytes are too many for another machine", n, payload->len);
      return FALSE;
    }
  return gantry_frame_write (stream, GANTRY_FRAME_ARGUMENTS, payload->data, payload->len, error);
}

char **
gantry_frame_parse_arguments (const GantryFrame *frame, GError **error)
{
  gsize n;
  const char *data = g_bytes_get_data (frame->payload, &n);
  g_autoptr (GPtrArray) arguments = g_ptr_array_new_with_free_func (g_free);

  if (frame->kind != GANTRY_FRAME_ARGUMENTS || (n > 0 && data[n - 1] != '\0'))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "arguments that do not end");
      return NULL;
    }
  for (gsize i = 0; i < n; i += strlen (data + i) + 1)
    {
      if (arguments->len == GANTRY_FRAME_MOST_ARGUMENTS)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "more than %u arguments", GANTRY_FRAME_MOST_ARGUMENTS);
          return NULL;
        }
      g_ptr_array_add (arguments, g_strdup (data + i));
    }
  g_ptr_array_add (arguments, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&arguments), FALSE);
}

gboolean
gantry_frame_is_name (const char *name)
{
  gsize n = strlen (name);

  if (n == 0 || n > 200 || name[0] == '.' || name[0] == '-')
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (!g_ascii_isalnum (name[i]) && strchr ("._-+=,@ ", name[i]) == NULL)
      return FALSE;
  return TRUE;
}

gboolean
gantry_frame_parse_file (const GantryFrame *frame, char **name, guint64 *bytes, GError **error)
{
  if (!parse_number (frame, GANTRY_FRAME_FILE, 8, bytes, name, error))
    return FALSE;
  if (!gantry_frame_is_name (*name))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a file may not be called '%s' on the way", *name);
  else if (*bytes > GANTRY_FRAME_MOST_FILE)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "a file of %" G_GUINT64_FORMAT " bytes", *bytes);
  else
    return TRUE;
  g_clear_pointer (name, g_free);
  return FALSE;
}

gboolean
gantry_frame_send_file (GOutputStream *stream, const char *path, const char *name, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) from = g_file_read (file, NULL, error);
  g_autoptr (GFileInfo) info = from != NULL ? g_file_input_stream_query_info (from, G_FILE_ATTRIBUTE_STANDARD_SIZE, NULL, error) : NULL;
  g_autofree guint8 *buffer = g_malloc (GANTRY_FRAME_MOST_BYTES);
  guint64 left;

  if (info == NULL)
    return FALSE;
  if (!gantry_frame_is_name (name))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "%s: a file that goes to another machine is called by letters, digits, and . _ - + = , @; rename it", path);
      return FALSE;
    }
  left = (guint64) g_file_info_get_size (info);
  if (!write_number (stream, GANTRY_FRAME_FILE, left, 8, name, error))
    return FALSE;
  while (left > 0)
    {
      gsize n, wanted = (gsize) MIN (left, GANTRY_FRAME_MOST_BYTES);

      if (!g_input_stream_read_all (G_INPUT_STREAM (from), buffer, wanted, &n, NULL, error))
        return FALSE;
      if (n < wanted)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED, "%s: became shorter while it was sent", path);
          return FALSE;
        }
      if (!gantry_frame_write (stream, GANTRY_FRAME_DATA, buffer, n, error))
        return FALSE;
      left -= n;
    }
  return TRUE;
}

/* What comes until @bytes are there. */
static gboolean
receive_data (GInputStream *stream, GOutputStream *to, const char *name, guint64 bytes, GError **error)
{
  while (bytes > 0)
    {
      g_auto (GantryFrame) frame = { 0 };
      gsize n;
      gconstpointer data;

      if (!gantry_frame_read (stream, &frame, error))
        return FALSE;
      data = g_bytes_get_data (frame.payload, &n);
      if (frame.kind != GANTRY_FRAME_DATA || n == 0 || n > bytes)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the file %s breaks off %" G_GUINT64_FORMAT " bytes before its end", name, bytes);
          return FALSE;
        }
      if (!g_output_stream_write_all (to, data, n, NULL, NULL, error))
        return FALSE;
      bytes -= n;
    }
  return TRUE;
}

char *
gantry_frame_receive_file (GInputStream *stream, const GantryFrame *frame, const char *folder, GError **error)
{
  g_autofree char *name = NULL, *path = NULL;
  g_autoptr (GantryOutput) to = NULL;
  guint64 bytes;

  if (!gantry_frame_parse_file (frame, &name, &bytes, error))
    return NULL;
  path = g_build_filename (folder, name, NULL);
  to = gantry_output_new (path, NULL, error);
  if (to == NULL || !gantry_output_finish (to, receive_data (stream, gantry_output_stream (to), name, bytes, error), error))
    return NULL;
  return g_steal_pointer (&path);
}
