/* SPDX-License-Identifier: Apache-2.0 */
/* Exports and the folder of assembled code when a disk is full, fails or writes short, and when the process is killed, at every
 * call that changes a file: what Gantry opens then is what was there before or all of the new, and it is what the writer said. */
#include "core/base/output.h"
#include "core/compiler/tensor-file.h"
#include "core/graph/literal.h"
#include "core/kernels/gpu/ptxas.h"
#include "profiler/import.h"
#include "profiler/profiler.h"
#include "tests/core/document/faulty-writes.h"
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

typedef enum
{
  HOLDS_NOTHING,
  HOLDS_OLD,
  HOLDS_NEW
} State;

/* One thing that is written. Each version is told apart by the reader; @path is its file, or its folder. */
typedef struct
{
  gboolean (*write) (const char *path, guint version, GError **error);
  State (*read) (const char *path);
  gboolean silent; /* what cannot be kept costs time, not the result */
} Writer;

#define N_VALUES 40000 /* more than a buffer of the writer */

static GantryLiteral *
literal_of (GantryContext *context, guint version)
{
  const GantryDim n = N_VALUES;
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (gantry_context_type (context, gantry_context_tensor (context, GANTRY_U8, 1, &n)), &data);

  memset (data, (int) version + 1, N_VALUES);
  return literal;
}

static gboolean
write_tensor (const char *path, guint version, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryLiteral) literal = literal_of (context, version);

  return gantry_tensor_file_write_npy (literal, path, error);
}

static State
read_tensor (const char *path)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryLiteral) literal = gantry_tensor_file_read (context, path, NULL, &error);

  g_assert_no_error (error);
  for (gsize i = 0; i < literal->size; i++)
    g_assert_cmpuint (literal->data[i], ==, literal->data[0]);
  g_assert_cmpuint (literal->size, ==, N_VALUES);
  return literal->data[0] == 1 ? HOLDS_OLD : HOLDS_NEW;
}

/* A trace of 1 or 2 thousand events. */
static gboolean
write_trace (const char *path, guint version, GError **error)
{
  g_autoptr (GString) text = g_string_new ("{\"traceEvents\":[");
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GantryOutput) output = NULL;

  for (guint i = 0; i < 1000 * (version + 1); i++)
    g_string_append_printf (text, "%s{\"ph\":\"X\",\"name\":\"k\",\"ts\":%u,\"dur\":1,\"pid\":0,\"tid\":0}", i > 0 ? "," : "", 2 * i);
  g_string_append (text, "]}");
  stream = g_memory_input_stream_new_from_data (text->str, (gssize) text->len, NULL);
  recording = gantry_trace_import_chrome (stream, "made", NULL, error);
  g_assert_nonnull (recording);
  output = gantry_output_new (path, NULL, error);
  return output != NULL && gantry_output_finish (output, gantry_recording_write_chrome (recording, gantry_output_stream (output), NULL, error), error);
}

static State
read_trace (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryRecording) recording = gantry_trace_import (path, NULL, &error);
  guint64 n = 0;

  g_assert_no_error (error);
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    n += gantry_recording_n_events (recording, lane);
  g_assert_true (n == 1000 || n == 2000);
  return n == 1000 ? HOLDS_OLD : HOLDS_NEW;
}

/* Code is kept by what it is made of: there is no old one. The assembler copies the text. */
static gboolean
write_code (const char *folder, guint version, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "ptxas", NULL), *cache = g_build_filename (folder, "cache", NULL);
  GantryPtxas ptxas = { path, (char *) "1.0" };
  GantryGpuImage image = { 0 };
  gboolean made = TRUE;

  if (version == 0)
    {
      g_mkdir (folder, 0700);
      made = g_file_set_contents (path, "#!/bin/sh\ncat \"$3\" > \"$5\"\n", -1, error) && g_chmod (path, 0700) == 0;
    }
  else
    made = gantry_ptxas_assemble (&ptxas, "the text", "sm_90a", cache, NULL, &image, error);
  gantry_gpu_image_clear (&image);
  return made;
}

static State
read_code (const char *folder)
{
  g_autofree char *cache = g_build_filename (folder, "cache", NULL);
  GantryPtxas absent = { (char *) "/nowhere/ptxas", (char *) "1.0" };
  GantryGpuImage image = { 0 };

  if (!gantry_ptxas_assemble (&absent, "the text", "sm_90a", cache, NULL, &image, NULL))
    return HOLDS_OLD;
  g_assert_cmpmem (g_bytes_get_data (image.code, NULL), g_bytes_get_size (image.code), "the text", strlen ("the text"));
  gantry_gpu_image_clear (&image);
  return HOLDS_NEW;
}

static const Writer writers[] = { { write_tensor, read_tensor, FALSE }, { write_trace, read_trace, FALSE }, { write_code, read_code, TRUE } };

static void
remove_all (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_all (child);
    }
  g_remove (path);
}

/* What the process of its own does: it is this program, started anew, since threads of GLib do not outlive a fork. Returns: its
 * exit status: 0: it said that it wrote; 1: that it did not; + 100: the fault did not come: there are fewer calls */
static int
write_as_child (const Writer *writer, const char *path, WriteFault fault, guint call)
{
  gboolean written;

  faulty_writes_arm (fault, call);
  written = writer->write (path, 1, NULL);
  return (faulty_writes_calls () < call ? 100 : 0) + !written;
}

/* Returns: as above, or 99: it was killed */
static int
write_with_fault (const Writer *writer, const char *path, WriteFault fault, guint call)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL), *name = g_strdup_printf ("%u", (guint) (writer - writers));
  g_autofree char *kind = g_strdup_printf ("%u", fault), *number = g_strdup_printf ("%u", call);
  char *command[] = { self, (char *) "--child", name, (char *) path, kind, number, NULL };
  g_autoptr (GError) error = NULL;
  int status;

  g_spawn_sync (NULL, command, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, &error);
  g_assert_no_error (error);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

static void
test_writer (gconstpointer data)
{
  const Writer *writer = data;
  guint n_calls = 0;

  for (WriteFault fault = WRITE_FULL; fault < N_WRITE_FAULTS; fault++)
    for (guint call = 1, status = 0; status < 100 || status == 199; call++)
      {
        g_autofree char *folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL), *path = g_build_filename (folder, "it", NULL);
        g_autoptr (GError) error = NULL;
        State state;

        g_assert_true (writer->write (path, 0, &error));
        g_assert_no_error (error);
        status = (guint) write_with_fault (writer, path, fault, call);
        state = writer->read (path);
        if (status % 100 == 0 && !(writer->silent && status == 0))
          g_assert_cmpint (state, ==, HOLDS_NEW);
        if (status % 100 == 1 && !writer->silent)
          g_assert_cmpint (state, ==, HOLDS_OLD);
        n_calls += status < 100;
        /* Once more, nothing fails, and the new one is there. */
        g_assert_true (writer->write (path, 1, &error));
        g_assert_cmpint (writer->read (path), ==, HOLDS_NEW);
        remove_all (folder);
        g_assert_cmpuint (call, <, 1000);
      }
  g_test_message ("%u faults", n_calls);
  g_assert_cmpuint (n_calls, >, 4 * 2);
}

int
main (int argc, char **argv)
{
  if (argc == 6 && strcmp (argv[1], "--child") == 0)
    return write_as_child (&writers[atoi (argv[2])], argv[3], (WriteFault) atoi (argv[4]), (guint) atoi (argv[5]));
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/writes/tensor", &writers[0], test_writer);
  g_test_add_data_func ("/writes/trace", &writers[1], test_writer);
  g_test_add_data_func ("/writes/code", &writers[2], test_writer);
  return g_test_run ();
}
