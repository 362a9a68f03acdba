/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the folder in which assembled code is kept: the file that stands for one text holds the input. It is taken
 * whole or not at all; what is not taken asks for the assembler, which is not there. With an odd first byte the sum of the rest is put
 * right, so that what stands behind it is read. The second half is what an assembler prints. */

#include "core/kernels/gpu/ptxas.h"
#include "fuzz/fuzz-file.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#define TEXT "text"
#define ARCH "sm_90a"
#define VERSION "13.0"
#define MAGIC_BYTES 16u
#define SUM_BYTES 32u

/* As ptxas.c names it. (transfer full) */
static char *
entry_name (void)
{
  g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) TEXT "\0" ARCH "\0" VERSION, sizeof TEXT "\0" ARCH "\0" VERSION);

  return g_strconcat (sum, ".cubin", NULL);
}

static void
put_right (guint8 *entry, gsize size)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize n = SUM_BYTES;

  if (size < MAGIC_BYTES + SUM_BYTES)
    return;
  memcpy (entry, "gantry-cubin-2\0", MAGIC_BYTES);
  g_checksum_update (sum, entry + MAGIC_BYTES + SUM_BYTES, (gssize) (size - MAGIC_BYTES - SUM_BYTES));
  g_checksum_get_digest (sum, entry + MAGIC_BYTES, &n);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  GantryPtxas ptxas = { (char *) "/nowhere/ptxas", (char *) VERSION };
  g_autofree guint8 *entry = g_memdup2 (data, size);
  g_autofree char *name = entry_name (), *path = NULL, *folder = NULL;
  g_autofree char *report = g_strndup ((const char *) data, size);
  g_autoptr (GError) error = NULL;
  GantryGpuImage image = { 0 }, printed = { 0 };

  gantry_ptxas_read_report (report, &printed);
  if (size == 0)
    return 0;
  if ((data[0] & 1) != 0)
    put_right (entry, size);
  path = fuzz_file_write (name, entry, size);
  folder = g_path_get_dirname (path);
  if (gantry_ptxas_assemble (&ptxas, TEXT, ARCH, folder, NULL, &image, &error))
    {
      g_assert (g_bytes_get_size (image.code) > 0 && g_bytes_get_size (image.code) < size);
      g_bytes_unref (image.code);
      g_free (image.arch);
    }
  else
    g_assert (error != NULL && error->message[0] != '\0');
  return 0;
}
