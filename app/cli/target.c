/* SPDX-License-Identifier: Apache-2.0 */
/* The argument of --target, understood once. */
#include "app/cli/target.h"
#include "app/cli/text-file.h"
#include "core/base/error.h"
#include <string.h>

static gboolean
is_architecture (const char *name)
{
  return g_str_has_prefix (name, "sm_");
}

static gboolean
resolve_gpu (const char *name, GantryCliTarget *target, GError **error)
{
  target->gpu = gantry_gpu_model (name);
  if (target->gpu == NULL && !is_architecture (name))
    return gantry_cli_target_refuse (name, error);
  target->arch = g_strdup (is_architecture (name) ? name : target->gpu->arch);
  if (target->gpu == NULL)
    return TRUE; /* who makes code for it says what there is */
  target->machine = g_new0 (GantryTarget, 1);
  gantry_target_init_gpu (target->machine, target->gpu);
  target->machine->memory_limit = target->gpu->memory_bytes;
  g_strlcpy (target->machine->arch, target->arch, sizeof target->machine->arch);
  return TRUE;
}

static gboolean
resolve_file (const char *path, GantryReadFiles *read, GantryCliTarget *target, GError **error)
{
  g_autofree char *text = gantry_cli_read_text (read, "--target", path, error);

  if (text == NULL)
    return FALSE;
  target->is_file = TRUE;
  target->machine = g_new0 (GantryTarget, 1);
  gantry_target_init_cpu (target->machine, 0);
  if (!gantry_target_parse (target->machine, text, -1, error))
    {
      gantry_error_prefix (error, "%s: ", path);
      return FALSE;
    }
  if (*target->machine->arch == '\0')
    return TRUE;
  target->arch = g_strdup (target->machine->arch);
  target->gpu = gantry_gpu_model (target->arch);
  return TRUE;
}

gboolean
gantry_cli_target_refuse (const char *name, GError **error)
{
  g_autofree char *names = gantry_gpu_model_names ();

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "--target %s: there is neither such a file nor a GPU of that name; "
               "there are %s, and architectures such as sm_90a",
               name, names);
  return FALSE;
}

gboolean
gantry_cli_target_resolve (const char *name, GantryReadFiles *read, GantryCliTarget *target, GError **error)
{
  gboolean looks_like_file;

  if (name == NULL)
    return TRUE;
  looks_like_file = g_file_test (name, G_FILE_TEST_EXISTS) || (strpbrk (name, "/.") != NULL && gantry_gpu_model (name) == NULL);
  return looks_like_file ? resolve_file (name, read, target, error) : resolve_gpu (name, target, error);
}

void
gantry_cli_target_clear (GantryCliTarget *target)
{
  g_clear_pointer (&target->machine, g_free);
  g_clear_pointer (&target->arch, g_free);
  *target = (GantryCliTarget){ NULL };
}
