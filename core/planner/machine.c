/* SPDX-License-Identifier: Apache-2.0 */
/* Targets of this machine in the user's cache: a file each, by a hash of all that its times depend on. */
#include "core/planner/machine.h"
#include "core/base/cache.h"
#include "core/base/output.h"
#include "core/base/processor.h"
#include "gantry-config.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Of what is measured, and how: counted up where kernels or probes become others, so that all machines are measured anew. */
#define EDITION 4

static gboolean enabled;

void
gantry_machine_enable (void)
{
  enabled = g_strcmp0 (g_getenv (GANTRY_MACHINE_ENVIRONMENT), "off") != 0;
}

static guint
threads_of (guint n_threads)
{
  return n_threads > 0 ? n_threads : g_get_num_processors ();
}

/* (transfer full) */
static char *
path_of (guint n_threads, const char *suffix)
{
  g_autofree char *processor = gantry_processor_identity ();
  g_autofree char *all = g_strdup_printf ("%s\n%s\n%u of %u threads\n%d", processor, GANTRY_VERSION, threads_of (n_threads), g_get_num_processors (), EDITION);
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, all, -1), *name = g_strconcat (hash, suffix, NULL);

  return g_build_filename (g_get_user_cache_dir (), "gantry", "machine", name, NULL);
}

/* A damaged file is none. */
static gboolean
read_kept (guint n_threads, GantryTarget *kept)
{
  g_autofree char *path = path_of (n_threads, ""), *text = gantry_cache_read (path, NULL);

  gantry_target_init_cpu (kept, threads_of (n_threads));
  return text != NULL && gantry_target_parse (kept, text, -1, NULL) && *kept->measured != '\0' && *kept->arch == '\0';
}

gboolean
gantry_machine_take (GantryTarget *target, guint n_threads)
{
  GantryTarget kept;

  if (!enabled || !target->here || !read_kept (n_threads, &kept))
    return FALSE;
  kept.here = TRUE;
  kept.memory_limit = target->memory_limit;
  kept.memory_part = target->memory_part;
  kept.host_limit = target->host_limit;
  *target = kept;
  return TRUE;
}

gboolean
gantry_machine_keep (const GantryTarget *measured, guint n_threads, GError **error)
{
  g_autofree char *path = path_of (n_threads, ""), *folder = g_path_get_dirname (path), *text = NULL;
  GantryTarget kept = *measured;

  gantry_target_name_cpu (&kept, n_threads);
  kept.memory_limit = kept.host_limit = 0;
  kept.memory_part = 0;
  text = gantry_target_to_text (&kept);
  if (g_mkdir_with_parents (folder, 0700) != 0)
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: the folder cannot be made", folder);
      return FALSE;
    }
  return gantry_output_write (path, NULL, text, strlen (text), error);
}

void
gantry_machine_put_off (guint n_threads)
{
  g_autofree char *path = path_of (n_threads, ".busy"), *folder = g_path_get_dirname (path);

  if (g_mkdir_with_parents (folder, 0700) == 0)
    gantry_output_write (path, NULL, "busy\n", 5, NULL);
}

static gboolean
is_put_off (guint n_threads)
{
  g_autofree char *path = path_of (n_threads, ".busy");
  GStatBuf status;
  gint64 age;

  if (g_stat (path, &status) != 0)
    return FALSE;
  age = g_get_real_time () / G_USEC_PER_SEC - (gint64) status.st_mtime;
  return age >= 0 && age < GANTRY_MACHINE_PAUSE_SECONDS;
}

gboolean
gantry_machine_is_due (guint n_threads)
{
  g_autofree char *path = path_of (n_threads, ""), *folder = g_path_get_dirname (path);
  GantryTarget kept;

  return enabled && !read_kept (n_threads, &kept) && !is_put_off (n_threads) && g_mkdir_with_parents (folder, 0700) == 0 && access (folder, W_OK) == 0;
}
