/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler as a child process, and the folder in which its work is kept. A file there is named after all that it
 * depends on (text, architecture, assembler) and holds a sum of its content, so that half of one is never
 * taken for a whole; files come into being by renaming, so that processes may share the folder. */
#include "core/kernels/gpu/ptxas.h"
#include "core/base/cache.h"
#include "core/base/error.h"
#include "core/base/output.h"
#include "core/base/scratch.h"
#include <string.h>

#define MAGIC "gantry-cubin-2"
#define SUM_BYTES 32

/* Finding it */

static char *
version_of (const char *path)
{
  const char *arguments[] = { path, "--version", NULL };
  g_autoptr (GSubprocess) child = g_subprocess_newv (arguments, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL);
  g_autofree char *text = NULL;
  const char *at;

  if (child == NULL || !g_subprocess_communicate_utf8 (child, NULL, NULL, &text, NULL, NULL) || !g_subprocess_get_successful (child))
    return NULL;
  at = strstr (text, ", V"); /* "Cuda compilation tools, release 13.0, V13.0.88" */
  return at != NULL ? g_strndup (at + 3, strspn (at + 3, "0123456789.")) : g_strdup ("?");
}

static GantryPtxas *
try_path (char *take_path)
{
  g_autofree char *path = take_path;
  g_autofree char *version = NULL;
  GantryPtxas *ptxas;

  if (path == NULL || !g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
    return NULL;
  version = version_of (path);
  if (version == NULL)
    return NULL;
  ptxas = g_new0 (GantryPtxas, 1);
  ptxas->path = g_steal_pointer (&path);
  ptxas->version = g_steal_pointer (&version);
  return ptxas;
}

GantryPtxas *
gantry_ptxas_find (void)
{
  const char *asked = g_getenv ("GANTRY_PTXAS"), *home = g_getenv ("CUDA_HOME");
  GantryPtxas *ptxas = NULL;

  if (asked != NULL)
    return try_path (g_strdup (asked));
  if (home != NULL)
    ptxas = try_path (g_build_filename (home, "bin", "ptxas", NULL));
  if (ptxas == NULL)
    ptxas = try_path (g_find_program_in_path ("ptxas"));
  if (ptxas == NULL)
    ptxas = try_path (g_strdup ("/usr/local/cuda/bin/ptxas"));
  return ptxas;
}

void
gantry_ptxas_free (GantryPtxas *ptxas)
{
  if (ptxas == NULL)
    return;
  g_free (ptxas->path);
  g_free (ptxas->version);
  g_free (ptxas);
}

/* What it reports */

/* The number that stands before @words, after @from; 0 when there is none in the line. */
static guint32
number_before (const char *line, const char *words)
{
  const char *at = strstr (line, words);

  if (at == NULL || at == line)
    return 0;
  while (at > line && g_ascii_isdigit (at[-1]))
    at--;
  return (guint32) g_ascii_strtoull (at, NULL, 10);
}

void
gantry_ptxas_read_report (const char *report, GantryGpuImage *image)
{
  g_auto (GStrv) lines = g_strsplit (report, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      image->registers = MAX (image->registers, number_before (lines[i], " registers"));
      image->stack_bytes = MAX (image->stack_bytes, number_before (lines[i], " bytes stack frame"));
      image->spill_store_bytes = MAX (image->spill_store_bytes, number_before (lines[i], " bytes spill stores"));
      image->spill_load_bytes = MAX (image->spill_load_bytes, number_before (lines[i], " bytes spill loads"));
      image->static_shared_bytes = MAX (image->static_shared_bytes, number_before (lines[i], " bytes smem"));
    }
  image->is_measured = TRUE;
}

/* The folder */

typedef struct
{
  char magic[16];
  guint8 sum[SUM_BYTES]; /* of all that follows */
  guint32 registers, spill_store_bytes, spill_load_bytes, stack_bytes, static_shared_bytes;
} Header;

static char *
cache_path (const GantryPtxas *ptxas, const char *ptx, const char *arch, const char *folder)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *name = NULL;

  /* With their final zeros, which part them. */
  g_checksum_update (sum, (const guchar *) ptx, (gssize) strlen (ptx) + 1);
  g_checksum_update (sum, (const guchar *) arch, (gssize) strlen (arch) + 1);
  g_checksum_update (sum, (const guchar *) ptxas->version, (gssize) strlen (ptxas->version) + 1);
  name = g_strconcat (g_checksum_get_string (sum), ".cubin", NULL);
  return g_build_filename (folder, name, NULL);
}

static void
sum_of (const char *data, gsize size, guint8 *sum)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize n = SUM_BYTES;

  g_checksum_update (checksum, (const guchar *) data, (gssize) size);
  g_checksum_get_digest (checksum, sum, &n);
}

static gboolean
take_from_cache (const char *path, const char *arch, GantryGpuImage *image)
{
  const gsize summed = offsetof (Header, registers);
  gsize size = 0;
  g_autofree char *data = gantry_cache_read (path, &size);
  guint8 sum[SUM_BYTES];
  Header header;

  if (data == NULL || size <= sizeof header)
    return FALSE;
  memcpy (&header, data, sizeof header);
  sum_of (data + summed, size - summed, sum);
  if (strncmp (header.magic, MAGIC, sizeof header.magic) != 0 || memcmp (sum, header.sum, SUM_BYTES) != 0)
    return FALSE;
  *image = (GantryGpuImage){ .code = g_bytes_new (data + sizeof header, size - sizeof header),
                             .arch = g_strdup (arch),
                             .is_measured = TRUE,
                             .registers = header.registers,
                             .spill_store_bytes = header.spill_store_bytes,
                             .spill_load_bytes = header.spill_load_bytes,
                             .stack_bytes = header.stack_bytes,
                             .static_shared_bytes = header.static_shared_bytes };
  return TRUE;
}

/* A folder that cannot be written to costs time, not the result. */
static void
put_into_cache (const char *folder, const char *path, const GantryGpuImage *image)
{
  const gsize summed = offsetof (Header, registers);
  gsize size;
  const char *code = g_bytes_get_data (image->code, &size);
  Header header = { .registers = image->registers,
                    .spill_store_bytes = image->spill_store_bytes,
                    .spill_load_bytes = image->spill_load_bytes,
                    .stack_bytes = image->stack_bytes,
                    .static_shared_bytes = image->static_shared_bytes };
  g_autofree char *data = g_malloc (sizeof header + size);

  if (g_mkdir_with_parents (folder, 0700) != 0)
    return;
  memcpy (header.magic, MAGIC, sizeof MAGIC);
  memcpy (data, &header, sizeof header);
  memcpy (data + sizeof header, code, size);
  sum_of (data + summed, sizeof header + size - summed, header.sum);
  memcpy (data, &header, sizeof header);
  gantry_output_write (path, NULL, data, sizeof header + size, NULL);
}

/* Assembling */

static gboolean
run_assembler (const GantryPtxas *ptxas, const char *arch, const char *from, const char *to, GCancellable *cancellable, char **report, GError **error)
{
  g_autofree char *option = g_strconcat ("-arch=", arch, NULL);
  const char *arguments[] = { ptxas->path, option, "-v", from, "-o", to, NULL };
  g_autoptr (GSubprocess) child = g_subprocess_newv (arguments, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE, error);

  if (child == NULL)
    {
      gantry_error_prefix (error, "%s: ", ptxas->path);
      return FALSE;
    }
  if (!g_subprocess_communicate_utf8 (child, NULL, cancellable, report, NULL, error))
    {
      g_subprocess_force_exit (child);
      return FALSE;
    }
  if (g_subprocess_get_successful (child))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "ptxas %s does not assemble the code for %s (please report this): %.400s", ptxas->version, arch,
               *report != NULL ? *report : "");
  return FALSE;
}

static gboolean
assemble_in (const char *folder, const GantryPtxas *ptxas, const char *ptx, const char *arch, GCancellable *cancellable, GantryGpuImage *image, GError **error)
{
  g_autofree char *from = g_build_filename (folder, "kernel.ptx", NULL), *to = g_build_filename (folder, "kernel.cubin", NULL);
  g_autofree char *report = NULL, *data = NULL;
  gint64 begin = g_get_monotonic_time ();
  gsize size;
  gboolean done = gantry_output_write (from, NULL, ptx, strlen (ptx), error) && run_assembler (ptxas, arch, from, to, cancellable, &report, error)
                  && g_file_get_contents (to, &data, &size, error);

  if (!done)
    return FALSE;
  *image = (GantryGpuImage){ .code = g_bytes_new_take (g_steal_pointer (&data), size), .arch = g_strdup (arch) };
  gantry_ptxas_read_report (report, image);
  image->assemble_ms = (double) (g_get_monotonic_time () - begin) / 1000;
  return TRUE;
}

gboolean
gantry_ptxas_assemble (const GantryPtxas *ptxas, const char *ptx, const char *arch, const char *cache_folder, GCancellable *cancellable, GantryGpuImage *image,
                       GError **error)
{
  g_autofree char *cached = cache_folder != NULL ? cache_path (ptxas, ptx, arch, cache_folder) : NULL;
  g_autoptr (GantryScratch) scratch = NULL;
  gboolean done;

  if (cached != NULL && take_from_cache (cached, arch, image))
    return TRUE;
  scratch = gantry_scratch_new (error);
  if (scratch == NULL)
    return FALSE;
  done = assemble_in (gantry_scratch_folder (scratch), ptxas, ptx, arch, cancellable, image, error);
  if (done && cached != NULL)
    put_into_cache (cache_folder, cached, image);
  return done;
}

void
gantry_gpu_image_init_text (GantryGpuImage *image, const char *ptx, const char *arch)
{
  *image = (GantryGpuImage){ .code = g_bytes_new (ptx, strlen (ptx) + 1), .is_text = TRUE, .arch = g_strdup (arch) };
}
