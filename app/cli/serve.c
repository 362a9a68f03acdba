/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli serve: the side of a remote run that has the GPU. Started by another gantry-cli through ssh or a batch system; what
 * they say is in app/cli/frames.h. The run itself is a child, so that however it ends is told. */
#include "app/cli/cli.h"
#include "app/cli/frames.h"
#include "core/base/error.h"
#include "core/base/scratch.h"
#include "core/base/thread.h"
#include "gantry-config.h"
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define MOST_FILES 64

typedef struct
{
  GInputStream *from;
  GOutputStream *to;
  GantryScratch *scratch;
  const char *folder;
  char *session; /* the first file that came */
  char **arguments;
  GSubprocess *child;
  GCancellable *done; /* the run is over */
} Serve;

static void
serve_clear (Serve *serve)
{
  gantry_scratch_free (serve->scratch);
  g_clear_object (&serve->child);
  g_clear_object (&serve->done);
  g_clear_object (&serve->from);
  g_clear_object (&serve->to);
  g_strfreev (serve->arguments);
  g_free (serve->session);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Serve, serve_clear)

static gboolean
receive (Serve *serve, GError **error)
{
  for (guint n = 0; n <= MOST_FILES; n++)
    {
      g_auto (GantryFrame) frame = { 0 };
      g_autofree char *path = NULL;

      if (!gantry_frame_read (serve->from, &frame, error))
        return FALSE;
      if (frame.kind == GANTRY_FRAME_ARGUMENTS)
        {
          serve->arguments = gantry_frame_parse_arguments (&frame, error);
          if (serve->arguments != NULL && serve->session == NULL)
            g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "no session came before the arguments");
          return serve->arguments != NULL && serve->session != NULL;
        }
      path = gantry_frame_receive_file (serve->from, &frame, serve->folder, error);
      if (path == NULL)
        return FALSE;
      if (serve->session == NULL)
        serve->session = g_steal_pointer (&path);
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "more than %u files", MOST_FILES);
  return FALSE;
}

/* Nothing more is sent: when the other side goes, so does the run. */
static gpointer
watch (gpointer data)
{
  Serve *serve = data;
  char byte;

  g_input_stream_read (serve->from, &byte, 1, serve->done, NULL);
  if (!g_cancellable_is_cancelled (serve->done))
    g_subprocess_force_exit (serve->child);
  return NULL;
}

static gboolean
start (Serve *serve, const char *said, GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autofree char *parent = g_strdup_printf ("--parent=%ld", (long) getpid ());
  const char *const first[] = { self, "profile", "--session", "--progress", parent };

  for (guint i = 0; i < G_N_ELEMENTS (first); i++)
    g_ptr_array_add (argv, (gpointer) first[i]);
  for (guint i = 0; serve->arguments[i] != NULL; i++)
    g_ptr_array_add (argv, serve->arguments[i]);
  g_ptr_array_add (argv, (gpointer) "--");
  g_ptr_array_add (argv, serve->session);
  g_ptr_array_add (argv, NULL);
  g_subprocess_launcher_set_cwd (launcher, serve->folder);
  g_subprocess_launcher_set_stderr_file_path (launcher, said);
  serve->child = g_subprocess_launcher_spawnv (launcher, (const char *const *) argv->pdata, error);
  return serve->child != NULL;
}

/* Its lines of progress go on to the other side. */
static gboolean
follow (Serve *serve, GError **error)
{
  g_autoptr (GDataInputStream) lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (serve->child));

  for (;;)
    {
      g_autofree char *line = g_data_input_stream_read_line (lines, NULL, NULL, NULL);

      if (line == NULL)
        return g_subprocess_wait (serve->child, NULL, error);
      if (g_str_has_prefix (line, "progress ") && !gantry_frame_write (serve->to, GANTRY_FRAME_PROGRESS, line, MIN (strlen (line), 4096), error))
        {
          g_subprocess_force_exit (serve->child);
          return FALSE;
        }
    }
}

/* How the run ended when it did not end well. Returns: its exit status */
static int
say_how_it_ended (Serve *serve, const char *said)
{
  g_autofree char *text = NULL, *message = NULL;
  const char *own = "gantry-cli profile: ";
  int status = GANTRY_EXIT_ERROR;

  g_file_get_contents (said, &text, NULL, NULL);
  if (text != NULL)
    g_strchomp (text);
  if (g_subprocess_get_if_signaled (serve->child))
    message = g_strdup_printf ("the run was ended by signal %d%s%s", g_subprocess_get_term_sig (serve->child), text != NULL && *text != '\0' ? ": " : "",
                               text != NULL ? text : "");
  else
    {
      status = g_subprocess_get_exit_status (serve->child);
      message = text != NULL && *text != '\0' ? g_strdup (text + (g_str_has_prefix (text, own) ? strlen (own) : 0))
                                              : g_strdup_printf ("the run ended with status %d", status);
    }
  gantry_frame_write_failed (serve->to, status, message, NULL);
  return status;
}

static int
answer (Serve *serve)
{
  g_autofree char *said = g_build_filename (serve->folder, "said.txt", NULL);
  g_autoptr (GError) error = NULL;
  GThread *watcher;
  gboolean followed;

  if (!receive (serve, &error) || !gantry_thread_check (1, &error) || !start (serve, said, &error))
    {
      gantry_frame_write_failed (serve->to, GANTRY_EXIT_ERROR, error->message, NULL);
      return gantry_cli_fail (error);
    }
  watcher = g_thread_new ("watch", watch, serve);
  followed = follow (serve, &error);
  g_cancellable_cancel (serve->done);
  g_thread_join (watcher);
  if (!followed)
    return gantry_cli_fail (error);
  if (!g_subprocess_get_if_exited (serve->child) || g_subprocess_get_exit_status (serve->child) != GANTRY_EXIT_DONE)
    return say_how_it_ended (serve, said);
  if (!gantry_frame_send_file (serve->to, serve->session, "session.gantry", &error) || !gantry_frame_write (serve->to, GANTRY_FRAME_DONE, NULL, 0, &error))
    return gantry_cli_fail (error);
  return GANTRY_EXIT_DONE;
}

int
gantry_cli_serve (int argc, char **argv)
{
  g_auto (Serve) serve = { .done = g_cancellable_new () };
  g_autoptr (GError) error = NULL;
  int out;

  g_set_prgname ("gantry-cli serve");
  if (argc != 1)
    {
      gantry_cli_tell ("gantry-cli serve: takes no arguments; gantry-cli profile --host starts it on another machine\n");
      return GANTRY_EXIT_ERROR;
    }
  signal (SIGPIPE, SIG_IGN);
  /* Frames alone go out: what anything here prints goes to standard error. */
  out = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (out < 0 || dup2 (STDERR_FILENO, STDOUT_FILENO) < 0)
    return GANTRY_EXIT_ERROR;
  serve.from = g_unix_input_stream_new (STDIN_FILENO, FALSE);
  serve.to = g_unix_output_stream_new (out, TRUE);
  if (!gantry_frame_write_hello (serve.to, GANTRY_VERSION, &error))
    return gantry_cli_fail (error);
  serve.scratch = gantry_scratch_new (&error);
  if (serve.scratch == NULL)
    {
      gantry_frame_write_failed (serve.to, GANTRY_EXIT_ERROR, error->message, NULL);
      return gantry_cli_fail (error);
    }
  serve.folder = gantry_scratch_folder (serve.scratch);
  return answer (&serve);
}
