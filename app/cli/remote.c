/* SPDX-License-Identifier: Apache-2.0 */
/* The side that asks: starts `gantry-cli serve` elsewhere and talks frames with it. */
#include "app/cli/remote.h"
#include "app/cli/frames.h"
#include "core/base/error.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  const GantryRemote *remote;
  char *where; /* for messages: "user@machine", or the launcher */
  GPtrArray *argv;
  char *said; /* file of its standard error */
  GSubprocess *process;
  GOutputStream *to;
  GInputStream *from;
} Link;

static void
link_clear (Link *link)
{
  if (link->process != NULL)
    g_subprocess_force_exit (link->process);
  g_clear_object (&link->process);
  g_clear_pointer (&link->argv, g_ptr_array_unref);
  g_free (link->where);
  g_free (link->said);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Link, link_clear)

static gboolean
add_launcher (GPtrArray *words, const char *launcher, GError **error)
{
  g_auto (GStrv) split = NULL;

  if (launcher == NULL)
    return TRUE;
  if (!g_shell_parse_argv (launcher, NULL, &split, error))
    {
      gantry_error_prefix (error, "--launcher: ");
      return FALSE;
    }
  for (guint i = 0; split[i] != NULL; i++)
    g_ptr_array_add (words, g_strdup (split[i]));
  return TRUE;
}

/* ssh hands one text to a shell there: every word is quoted for it. */
static void
add_ssh (GPtrArray *argv, const char *host, const GPtrArray *words)
{
  const char *const first[] = { "ssh", "-T", "-o", "ConnectTimeout=20", "--" };
  g_autoptr (GString) command = g_string_new ("exec");

  for (guint i = 0; i < G_N_ELEMENTS (first); i++)
    g_ptr_array_add (argv, g_strdup (first[i]));
  g_ptr_array_add (argv, g_strdup (host));
  for (guint i = 0; i < words->len; i++)
    {
      g_autofree char *quoted = g_shell_quote (g_ptr_array_index (words, i));

      g_string_append_printf (command, " %s", quoted);
    }
  g_ptr_array_add (argv, g_strdup (command->str));
}

static gboolean
make_command (Link *link, GError **error)
{
  const GantryRemote *remote = link->remote;
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);

  link->where = g_strdup (remote->host != NULL ? remote->host : remote->launcher);
  if (remote->host != NULL && (remote->host[0] == '-' || remote->host[0] == '\0'))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--host %s: takes machine or user@machine", remote->host);
      return FALSE;
    }
  if (!add_launcher (words, remote->launcher, error))
    return FALSE;
  g_ptr_array_add (words, g_strdup (remote->cli != NULL ? remote->cli : remote->host != NULL || self == NULL ? "gantry-cli" : self));
  g_ptr_array_add (words, g_strdup ("serve"));
  link->argv = g_ptr_array_new_with_free_func (g_free);
  if (remote->host != NULL)
    add_ssh (link->argv, remote->host, words);
  else
    for (guint i = 0; i < words->len; i++)
      g_ptr_array_add (link->argv, g_strdup (g_ptr_array_index (words, i)));
  g_ptr_array_add (link->argv, NULL);
  return TRUE;
}

static gboolean
start (Link *link, const char *folder, GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autoptr (GError) why = NULL;
  const char *program = g_ptr_array_index (link->argv, 0);

  link->said = g_build_filename (folder, "said.txt", NULL);
  g_subprocess_launcher_set_stderr_file_path (launcher, link->said);
  link->process = g_subprocess_launcher_spawnv (launcher, (const char *const *) link->argv->pdata, &why);
  if (link->process == NULL && g_error_matches (why, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "here: there is no program %s%s", program,
                 link->remote->host != NULL ? ": install an OpenSSH client, or give --launcher alone" : "; --launcher names the program to start");
  else if (link->process == NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "here: %s could not be started: %s", program, why->message);
  if (link->process == NULL)
    return FALSE;
  link->to = g_subprocess_get_stdin_pipe (link->process);
  link->from = g_subprocess_get_stdout_pipe (link->process);
  return TRUE;
}

/* The last lines of its standard error. (transfer full) */
static char *
last_said (const Link *link)
{
  g_autofree char *text = NULL, *valid = NULL;
  const char *tail;
  gsize n;

  if (!g_file_get_contents (link->said, &text, &n, NULL))
    return g_strdup ("");
  valid = g_utf8_make_valid (text, (gssize) n);
  g_strchomp (valid);
  n = strlen (valid);
  tail = n > 1000 ? g_utf8_find_next_char (valid + n - 1000, NULL) : valid;
  return g_strdup (tail);
}

/* It ended, or talks nonsense: @why is what our end saw. */
static void
set_ended (Link *link, const GError *why, GError **error)
{
  g_autofree char *said = NULL, *how = NULL;
  const char *program = g_ptr_array_index (link->argv, 0);
  int status = -1;

  if (!g_error_matches (why, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED) && !g_error_matches (why, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE))
    {
      g_subprocess_force_exit (link->process);
      said = last_said (link);
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s answers, but %s%s%s%s", link->where, why->message,
                   g_error_matches (why, GANTRY_ERROR, GANTRY_ERROR_INVALID)
                     ? ": what a login prints must not go to standard output there, and --remote-cli must name gantry-cli"
                     : "",
                   *said != '\0' ? "\n" : "", said);
      return;
    }
  g_subprocess_wait (link->process, NULL, NULL);
  said = last_said (link);
  if (g_subprocess_get_if_exited (link->process))
    status = g_subprocess_get_exit_status (link->process);
  if (link->remote->host != NULL && status == 255)
    how = g_strdup_printf ("%s could not be reached by ssh", link->where);
  else if (status == 127 || status == 126)
    how = g_strdup_printf ("there is no gantry-cli on %s, or it cannot be started: --remote-cli PATH says where it is", link->where);
  else if (status >= 0)
    how = g_strdup_printf ("%s: %s ended with status %d before the run was over", link->where, program, status);
  else
    how = g_strdup_printf ("%s: %s was ended by signal %d before the run was over", link->where, program, g_subprocess_get_term_sig (link->process));
  g_set_error (error, GANTRY_ERROR, status == 126 || status == 127 ? GANTRY_ERROR_UNSUPPORTED : GANTRY_ERROR_FAILED, "%s%s%s", how, *said != '\0' ? "\n" : "",
               said);
}

/* The other gantry-cli says itself what went wrong. */
static void
set_failed (const Link *link, const GantryFrame *frame, GError **error)
{
  g_autofree char *message = NULL;
  int status;
  GantryError code;

  if (!gantry_frame_parse_failed (frame, &status, &message, error))
    return;
  code = status == 3 ? GANTRY_ERROR_UNSUPPORTED : status == 2 ? GANTRY_ERROR_MISMATCH : GANTRY_ERROR_FAILED;
  g_set_error (error, GANTRY_ERROR, code, "on %s: %s", link->where, message);
}

static gboolean
greet (Link *link, GError **error)
{
  g_auto (GantryFrame) frame = { 0 };
  g_autofree char *version = NULL;

  if (!gantry_frame_read (link->from, &frame, error))
    return FALSE;
  return gantry_frame_parse_hello (&frame, &version, error);
}

static gboolean
send_all (Link *link, const GantryProgress *progress, GError **error)
{
  gantry_progress_report (progress, -1, "Sending");
  for (guint i = 0; link->remote->files[i] != NULL; i++)
    {
      g_autofree char *name = g_path_get_basename (link->remote->files[i]);

      if (!gantry_frame_send_file (link->to, link->remote->files[i], name, error))
        return FALSE;
    }
  return gantry_frame_write_arguments (link->to, link->remote->arguments, error);
}

/* "progress 0.250 Running": as gantry-cli prints it */
static void
report (const GantryFrame *frame, const GantryProgress *progress)
{
  gsize n;
  const char *data = g_bytes_get_data (frame->payload, &n);
  g_autofree char *line = g_utf8_make_valid (data, (gssize) n);
  char *rest = line + strlen ("progress ");
  double fraction;

  if (!g_str_has_prefix (line, "progress "))
    return;
  fraction = g_ascii_strtod (rest, &rest);
  gantry_progress_report (progress, fraction, g_strstrip (rest));
}

static char *
follow (Link *link, const char *folder, const GantryProgress *progress, GError **error)
{
  g_autofree char *session = NULL;

  for (;;)
    {
      g_auto (GantryFrame) frame = { 0 };

      if (!gantry_frame_read (link->from, &frame, error))
        return NULL;
      switch (frame.kind)
        {
        case GANTRY_FRAME_PROGRESS: report (&frame, progress); break;
        case GANTRY_FRAME_FAILED: set_failed (link, &frame, error); return NULL;
        case GANTRY_FRAME_FILE:
          g_free (session);
          session = gantry_frame_receive_file (link->from, &frame, folder, error);
          if (session == NULL)
            return NULL;
          break;
        case GANTRY_FRAME_DONE:
          if (session == NULL)
            g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "no session came with the end");
          return g_steal_pointer (&session);
        default: g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a frame of kind %u in the middle of a run", frame.kind); return NULL;
        }
    }
}

/* Where sending broke off the other side may have said why before it went. */
static char *
hear_why (Link *link, const char *folder, GError **error)
{
  g_autoptr (GError) broken = g_steal_pointer (error);
  g_autoptr (GError) said = NULL;

  if (g_error_matches (broken, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE))
    g_free (follow (link, folder, NULL, &said));
  g_propagate_error (error,
                     said != NULL && !g_error_matches (said, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED) ? g_steal_pointer (&said) : g_steal_pointer (&broken));
  return NULL;
}

char *
gantry_remote_run (const GantryRemote *remote, const char *folder, const GantryProgress *progress, GError **error)
{
  g_auto (Link) link = { .remote = remote };
  g_autoptr (GError) why = NULL;
  g_autofree char *back = g_build_filename (folder, "back", NULL), *session = NULL;

  signal (SIGPIPE, SIG_IGN); /* a side that went away is an error of writing */
  g_mkdir_with_parents (back, 0700);
  if (!make_command (&link, error) || !start (&link, folder, error))
    return NULL;
  gantry_progress_report (progress, -1, "Connecting");
  if (greet (&link, &why))
    session = send_all (&link, progress, &why) ? follow (&link, back, progress, &why) : hear_why (&link, back, &why);
  if (session != NULL)
    {
      g_output_stream_close (link.to, NULL, NULL);
      g_subprocess_wait (link.process, NULL, NULL);
      return g_steal_pointer (&session);
    }
  /* What the other gantry-cli or our own files said is told as it is; of a broken link more is known. */
  if (g_str_has_prefix (why->message, "on ") || g_error_matches (why, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED)
      || (why->domain != GANTRY_ERROR && !g_error_matches (why, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE)))
    g_propagate_error (error, g_steal_pointer (&why));
  else
    set_ended (&link, why, error);
  return NULL;
}
