/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations as one line of text. */
#include "core/base/error.h"
#include "core/compiler/compiler.h"
#include "tests/differential/differential.h"
#include <string.h>

static const char *const back_ends[DIFF_N_BACK_ENDS] = { "evaluator", "own", "library", "grid" };

const char *
diff_back_end_name (DiffBackEnd back_end)
{
  return back_ends[back_end];
}

char *
diff_config_text (const DiffConfig *config)
{
  GString *text = g_string_new (diff_back_end_name (config->back_end));

  if (config->instructions != GANTRY_INSTRUCTIONS_NATIVE)
    g_string_append_printf (text, " instructions=%s", gantry_instruction_set_name (config->instructions));
  if (config->block != 0)
    g_string_append_printf (text, " block=%u", config->block);
  if (config->left_out != NULL)
    g_string_append_printf (text, " without=%s", config->left_out);
  if (config->optimization != 0)
    g_string_append_printf (text, " optimization=%u", config->optimization);
  if (config->placements != 0)
    g_string_append_printf (text, " placements=%u", config->placements);
  if (config->threads > 1)
    g_string_append_printf (text, " threads=%u", config->threads);
  if (config->rolled)
    g_string_append (text, " rolled");
  if (config->whole)
    g_string_append (text, " whole");
  return g_string_free (text, FALSE);
}

static gboolean
unknown (const char *word, const char *what, GError **error)
{
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: no such %s", word, what);
  return FALSE;
}

static gboolean
take_back_end (DiffConfig *config, const char *word)
{
  for (guint i = 0; i < DIFF_N_BACK_ENDS; i++)
    if (strcmp (back_ends[i], word) == 0)
      {
        config->back_end = (DiffBackEnd) i;
        return TRUE;
      }
  return FALSE;
}

static gboolean
take_pass (DiffConfig *config, const char *word, GError **error)
{
  guint n;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (guint i = 0; i < n; i++)
    if (strcmp (passes[i].name, word) == 0)
      {
        config->left_out = passes[i].name;
        return TRUE;
      }
  return unknown (word, "pass", error);
}

gboolean
diff_config_parse (const char *text, DiffConfig *config, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  *config = (DiffConfig){ 0 };
  for (guint i = 0; words[i] != NULL; i++)
    {
      char *value = strchr (words[i], '=');

      if (*words[i] == '\0' || take_back_end (config, words[i]))
        continue;
      if (strcmp (words[i], "whole") == 0)
        config->whole = TRUE;
      else if (strcmp (words[i], "rolled") == 0)
        config->rolled = TRUE;
      else if (g_str_has_prefix (words[i], "without="))
        {
          if (!take_pass (config, value + 1, error))
            return FALSE;
        }
      else if (g_str_has_prefix (words[i], "instructions="))
        {
          if (!gantry_instruction_set_parse (value + 1, &config->instructions, error))
            return FALSE;
        }
      else if (g_str_has_prefix (words[i], "block="))
        config->block = (guint) g_ascii_strtoull (value + 1, NULL, 10);
      else if (g_str_has_prefix (words[i], "optimization="))
        config->optimization = (guint) g_ascii_strtoull (value + 1, NULL, 10);
      else if (g_str_has_prefix (words[i], "placements="))
        config->placements = (guint32) g_ascii_strtoull (value + 1, NULL, 10);
      else if (g_str_has_prefix (words[i], "threads="))
        config->threads = (guint) CLAMP (g_ascii_strtoull (value + 1, NULL, 10), 1, DIFF_MOST_THREADS);
      else
        return unknown (words[i], "word of a configuration", error);
    }
  return TRUE;
}
