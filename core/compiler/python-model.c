/* SPDX-License-Identifier: Apache-2.0 */
/* Running a Python program in a child, and reading the graphs that it leaves. */
#include "core/compiler/python-model.h"
#include "core/base/child-program.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 600
#define MOST_OUTPUT (G_GUINT64_CONSTANT (64) << 20)
#define KEPT_OUTPUT 4096
#define POLL_MS 50
#define SECONDS_TO_END 5
#define MOST_ERRORS 20u /* in one message */

void
gantry_program_graph_free (gpointer data)
{
  GantryProgramGraph *graph = data;

  g_free (graph->name);
  g_free (graph->arguments);
  g_free (graph->host_lines);
  g_free (graph->policy);
  g_free (graph->file);
  g_free (graph);
}

static void
error_free (gpointer data)
{
  GantryProgramError *error = data;

  g_free (error->file);
  g_free (error->type);
  g_free (error->message);
  g_free (error->calls);
  g_free (error);
}

void
gantry_program_graphs_free (GantryProgramGraphs *graphs)
{
  if (graphs == NULL)
    return;
  gantry_scratch_free (graphs->scratch);
  g_ptr_array_unref (graphs->graphs);
  g_ptr_array_unref (graphs->errors);
  g_ptr_array_unref (graphs->sources);
  g_free (graphs->said);
  g_free (graphs->failure);
  g_free (graphs);
}

/* The child */

typedef struct
{
  const char *path, *sha256;
  GPid pid;
  int output;
  int status;
  guint64 n_bytes;
  GString *said;  /* the end of the output */
  gsize reported; /* in @said: what progress has heard of */
  const GantryProgress *progress;
} Child;

/* It is not waited for yet: until child_stop() has done that its number is nobody else's. */
static gboolean
child_has_ended (const Child *child)
{
  siginfo_t info = { 0 };

  return waitid (P_PID, (id_t) child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child->pid;
}

/* It leads a group of its own, and when asked to end it ends all that the program started, in other groups too. A program that keeps
 * it from that is killed with its group. */
static void
child_stop (Child *child)
{
  gint64 end = g_get_monotonic_time () + SECONDS_TO_END * G_USEC_PER_SEC;

  kill (child->pid, SIGTERM);
  while (!child_has_ended (child) && g_get_monotonic_time () < end)
    g_usleep (1000);
  kill (-child->pid, SIGKILL);
  kill (child->pid, SIGKILL);
  while (waitpid (child->pid, &child->status, 0) < 0 && errno == EINTR)
    ;
}

static void
report_lines (Child *child)
{
  const char *end;

  while ((end = memchr (child->said->str + child->reported, '\n', child->said->len - child->reported)) != NULL)
    {
      g_autofree char *line = g_strndup (child->said->str + child->reported, (gsize) (end - child->said->str) - child->reported);
      g_autofree char *valid = g_utf8_make_valid (line, -1);

      gantry_progress_report (child->progress, -1, valid);
      child->reported = (gsize) (end - child->said->str) + 1;
    }
}

/* Returns: FALSE at the end of the output */
static gboolean
child_read (Child *child)
{
  char buffer[65536];
  gssize n = read (child->output, buffer, sizeof buffer);

  if (n < 0)
    return errno == EAGAIN || errno == EINTR;
  if (n == 0)
    return FALSE;
  child->n_bytes += (guint64) n;
  g_string_append_len (child->said, buffer, n);
  report_lines (child);
  if (child->said->len > 2 * KEPT_OUTPUT)
    {
      gsize drop = child->said->len - KEPT_OUTPUT;

      g_string_erase (child->said, 0, (gssize) drop);
      child->reported = child->reported > drop ? child->reported - drop : 0;
    }
  return TRUE;
}

static gint64
time_limit (void)
{
  const char *given = g_getenv ("GANTRY_PYTHON_SECONDS");
  gint64 seconds = given != NULL ? g_ascii_strtoll (given, NULL, 10) : 0;

  return seconds > 0 ? seconds : SECONDS;
}

static gboolean
child_start (Child *child, const char *folder, GError **error)
{
  g_autofree char *cli = gantry_child_program ();
  g_autofree char *parent = g_strdup_printf ("%ld", (long) getpid ());
  const char *plain[] = { cli, "python", "--parent", parent, "--graphs", folder, child->path, NULL };
  const char *checked[] = { cli, "python", "--parent", parent, "--graphs", folder, "--sha256", child->sha256, child->path, NULL };
  const char **argv = child->sha256 != NULL ? checked : plain;
  int ends[2];
  gboolean started;

  if (cli == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
                   "%s: gantry-cli, which runs Python programs, is not found: install it beside this program or name it in $GANTRY_CLI", child->path);
      return FALSE;
    }
  if (!g_unix_open_pipe (ends, FD_CLOEXEC, error))
    return FALSE;
  started = g_spawn_async_with_fds (NULL, (char **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &child->pid, -1, ends[1], ends[1], error);
  close (ends[1]);
  child->output = ends[0];
  fcntl (child->output, F_SETFL, O_NONBLOCK);
  if (!started)
    close (child->output);
  return started;
}

static gboolean
child_wait (Child *child, GError **error)
{
  gint64 seconds = time_limit (), end = g_get_monotonic_time () + seconds * G_USEC_PER_SEC;
  gboolean open = TRUE, ended = FALSE;

  while (!ended)
    {
      struct pollfd poll_fd = { .fd = open ? child->output : -1, .events = POLLIN };

      poll (&poll_fd, 1, POLL_MS);
      while (open && child->n_bytes <= MOST_OUTPUT && (poll_fd.revents & (POLLIN | POLLHUP)) != 0)
        {
          guint64 before = child->n_bytes;

          open = child_read (child);
          if (child->n_bytes == before)
            break;
        }
      ended = child_has_ended (child);
      if (gantry_progress_cancelled (child->progress, error))
        return FALSE;
      if (child->n_bytes > MOST_OUTPUT)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: the program was stopped: it printed more than 64 MiB", child->path);
          return FALSE;
        }
      if (!ended && g_get_monotonic_time () > end)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
                       "%s: the program was stopped after %" G_GINT64_FORMAT " seconds ($GANTRY_PYTHON_SECONDS sets another limit)", child->path, seconds);
          return FALSE;
        }
    }
  while (open && child_read (child) && child->n_bytes <= MOST_OUTPUT)
    {
      struct pollfd poll_fd = { .fd = child->output, .events = POLLIN };

      if (poll (&poll_fd, 1, 0) <= 0)
        break;
    }
  return TRUE;
}

/* How it ended, where that was not well. (transfer full) (nullable) */
static char *
failure_of (const Child *child)
{
  if (WIFSIGNALED (child->status))
    return g_strdup_printf ("the program was ended by signal %d (%s)", WTERMSIG (child->status), g_strsignal (WTERMSIG (child->status)));
  if (WIFEXITED (child->status) && WEXITSTATUS (child->status) != 0)
    return g_strdup_printf ("the program ended with status %d", WEXITSTATUS (child->status));
  return NULL;
}

/* What it left */

static char **
read_list (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL), *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) ? g_strsplit (text, "\n", -1) : g_new0 (char *, 1);
}

static guint
count_named (GPtrArray *graphs, const char *name)
{
  guint n = 0;

  for (guint i = 0; i < graphs->len; i++)
    {
      const char *other = ((GantryProgramGraph *) g_ptr_array_index (graphs, i))->name;

      n += g_str_has_prefix (other, name) && (other[strlen (name)] == '\0' || other[strlen (name)] == '#');
    }
  return n;
}

static void
read_graphs (GantryProgramGraphs *graphs)
{
  g_auto (GStrv) lines = read_list (gantry_scratch_folder (graphs->scratch), "graphs.tsv");

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], "\t", -1);
      g_autofree char *name = NULL;
      GantryProgramGraph *graph;
      guint n;

      if (g_strv_length (fields) != 5)
        continue;
      name = g_strcompress (fields[1]);
      n = count_named (graphs->graphs, name);
      graph = g_new0 (GantryProgramGraph, 1);
      graph->file = gantry_scratch_file (graphs->scratch, fields[0]);
      graph->name = n == 0 ? g_strdup (name) : g_strdup_printf ("%s#%u", name, n + 1);
      graph->arguments = g_strcompress (fields[2]);
      graph->host_lines = g_strcompress (fields[3]);
      graph->policy = g_strcompress (fields[4]);
      g_ptr_array_add (graphs->graphs, graph);
    }
}

static void
read_errors (GantryProgramGraphs *graphs)
{
  g_auto (GStrv) lines = read_list (gantry_scratch_folder (graphs->scratch), "errors.tsv");

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], "\t", -1);
      GantryProgramError *error;

      if (g_strv_length (fields) != 6)
        continue;
      error = g_new0 (GantryProgramError, 1);
      error->file = g_strcompress (fields[0]);
      error->line = (guint) g_ascii_strtoull (fields[1], NULL, 10);
      error->column = (guint) g_ascii_strtoull (fields[2], NULL, 10);
      error->type = g_strcompress (fields[3]);
      error->message = g_strcompress (fields[4]);
      error->calls = g_strcompress (fields[5]);
      g_ptr_array_add (graphs->errors, error);
    }
}

static void
read_sources (GantryProgramGraphs *graphs)
{
  g_auto (GStrv) lines = read_list (gantry_scratch_folder (graphs->scratch), "sources.tsv");

  for (guint i = 0; lines[i] != NULL; i++)
    if (*lines[i] != '\0')
      g_ptr_array_add (graphs->sources, g_strcompress (lines[i]));
}

GantryProgramGraphs *
gantry_program_graphs_run (const char *path, const char *sha256, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryProgramGraphs) graphs = g_new0 (GantryProgramGraphs, 1);
  Child child = { .path = path, .sha256 = sha256, .output = -1, .progress = progress };
  gboolean fine;

  graphs->graphs = g_ptr_array_new_with_free_func (gantry_program_graph_free);
  graphs->errors = g_ptr_array_new_with_free_func (error_free);
  graphs->sources = g_ptr_array_new_with_free_func (g_free);
  if (!gantry_file_check (path, error))
    return NULL;
  graphs->scratch = gantry_scratch_new (error);
  if (graphs->scratch == NULL || !child_start (&child, gantry_scratch_folder (graphs->scratch), error))
    return NULL;
  child.said = g_string_new (NULL);
  fine = child_wait (&child, error);
  child_stop (&child);
  close (child.output);
  graphs->failure = failure_of (&child);
  graphs->said = g_utf8_make_valid (child.said->str, (gssize) child.said->len);
  g_string_free (child.said, TRUE);
  if (!fine)
    return NULL;
  read_graphs (graphs);
  read_errors (graphs);
  read_sources (graphs);
  return g_steal_pointer (&graphs);
}

/* Which graph: the error carries the names along, for who asks. */

typedef struct
{
  GPtrArray *graphs;
} GantryProgramChoicePrivate;

static void
gantry_program_choice_private_init (GantryProgramChoicePrivate *priv)
{
  priv->graphs = g_ptr_array_new_with_free_func (gantry_program_graph_free);
}

static void
gantry_program_choice_private_copy (const GantryProgramChoicePrivate *from, GantryProgramChoicePrivate *to)
{
  g_ptr_array_unref (to->graphs);
  to->graphs = g_ptr_array_ref (from->graphs);
}

static void
gantry_program_choice_private_clear (GantryProgramChoicePrivate *priv)
{
  g_ptr_array_unref (priv->graphs);
}

G_DEFINE_EXTENDED_ERROR (GantryProgramChoice, gantry_program_choice)

GPtrArray *
gantry_program_choice_graphs (const GError *error)
{
  return error != NULL && error->domain == GANTRY_PROGRAM_CHOICE ? gantry_program_choice_get_private (error)->graphs : NULL;
}

void
gantry_program_choice_set (GError **error, GPtrArray *graphs, const char *message)
{
  g_autoptr (GString) list = g_string_new (message);

  if (error == NULL)
    return;
  for (guint i = 0; i < graphs->len; i++)
    {
      const GantryProgramGraph *graph = g_ptr_array_index (graphs, i);

      g_string_append_printf (list, "\n  %s (%s)", graph->name, graph->arguments);
    }
  g_set_error_literal (error, GANTRY_PROGRAM_CHOICE, GANTRY_ERROR_INVALID, list->str);
  for (guint i = 0; i < graphs->len; i++)
    {
      const GantryProgramGraph *graph = g_ptr_array_index (graphs, i);
      GantryProgramGraph *copy = g_new0 (GantryProgramGraph, 1);

      copy->name = g_strdup (graph->name);
      copy->arguments = g_strdup (graph->arguments);
      g_ptr_array_add (gantry_program_choice_graphs (*error), copy);
    }
}

static void
no_such_graph (const GantryProgramGraphs *graphs, const char *path, const char *entry, GError **error)
{
  g_autofree char *message = entry != NULL ? g_strdup_printf ("%s: the program makes no graph '%s'; it makes", path, entry)
                                           : g_strdup_printf ("%s: the program makes %u graphs, name one as the entry:", path, graphs->graphs->len);

  gantry_program_choice_set (error, graphs->graphs, message);
}

/* All of them, as compilers say it: a line each. */
static void
no_graph_can_be_made (const GantryProgramGraphs *graphs, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < MIN (graphs->errors->len, MOST_ERRORS); i++)
    {
      const GantryProgramError *one = g_ptr_array_index (graphs->errors, i);

      g_string_append_printf (text, "%s%s:%u:%u: %s: %s", i > 0 ? "\n" : "", one->file, one->line, one->column, one->type, one->message);
      if (*one->calls != '\0')
        g_string_append_printf (text, "\n%s", one->calls);
    }
  if (graphs->errors->len > MOST_ERRORS)
    g_string_append_printf (text, "\nand %u more", graphs->errors->len - MOST_ERRORS);
  g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, text->str);
}

const GantryProgramGraph *
gantry_program_graphs_find (const GantryProgramGraphs *graphs, const char *path, const char *entry, GError **error)
{
  if (graphs->failure != NULL)
    {
      g_autofree char *said = g_strchomp (g_strdup (graphs->said));

      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: %s%s%s", path, graphs->failure, *said != '\0' ? "\n" : "", said);
      return NULL;
    }
  for (guint i = 0; entry != NULL && i < graphs->graphs->len; i++)
    if (strcmp (((GantryProgramGraph *) g_ptr_array_index (graphs->graphs, i))->name, entry) == 0)
      return g_ptr_array_index (graphs->graphs, i);
  if (entry == NULL && graphs->graphs->len == 1)
    return g_ptr_array_index (graphs->graphs, 0);
  if (graphs->graphs->len > 0)
    {
      no_such_graph (graphs, path, entry, error);
      return NULL;
    }
  if (graphs->errors->len > 0)
    no_graph_can_be_made (graphs, error);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: the program makes no graph: it has to call a function under jit, or a Cell in graph mode",
                 path);
  return NULL;
}
