/* SPDX-License-Identifier: Apache-2.0 */
/* A failing program as a text module behind a few lines of comment: configuration, seed, what came out. */
#include "core/base/error.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "tests/differential/differential.h"
#include <string.h>

void
diff_finding_clear (DiffFinding *finding)
{
  g_clear_pointer (&finding->module, gantry_module_unref);
}

gboolean
diff_finding_write (const DiffFinding *finding, const char *difference, const char *path, GError **error)
{
  g_autofree char *config = diff_config_text (&finding->config);
  g_autofree char *module = gantry_module_to_text (finding->module, NULL);
  g_autofree char *line = g_strdelimit (g_strdup (difference), "\n", ' ');
  g_autofree char *text = g_strdup_printf ("// config: %s\n// seed: %" G_GUINT64_FORMAT "\n// was: %s\n%s", config, finding->seed, line, module);

  return g_file_set_contents (path, text, -1, error);
}

/* The rest of the line that begins so. Returns: (transfer full) (nullable) */
static char *
line_of (const char *text, const char *begin)
{
  const char *at = strstr (text, begin);
  const char *end = at != NULL ? strchr (at, '\n') : NULL;

  return end != NULL ? g_strndup (at + strlen (begin), (gsize) (end - at) - strlen (begin)) : NULL;
}

gboolean
diff_finding_read (DiffFinding *finding, const char *path, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *text = NULL, *config = NULL, *seed = NULL;

  *finding = (DiffFinding){ 0 };
  if (!g_file_get_contents (path, &text, NULL, error))
    return FALSE;
  config = line_of (text, "// config: ");
  seed = line_of (text, "// seed: ");
  if (config != NULL && !diff_config_parse (config, &finding->config, error))
    {
      gantry_error_prefix (error, "%s: ", path);
      return FALSE;
    }
  finding->seed = seed != NULL ? g_ascii_strtoull (seed, NULL, 10) : 1;
  finding->module = gantry_module_from_text (context, text, -1, path, error);
  return finding->module != NULL && gantry_verify (finding->module, NULL, error);
}
