/* SPDX-License-Identifier: Apache-2.0 */
/* Reading texts of XLA's forms in tests. */
#include "tests/core/frontends/xla/read-case.h"
#include "core/base/error.h"
#include "tests/test-files.h"
#include <string.h>

GantryModule *
read_case (GantryContext *context, const char *text, const char *name, GantryXlaInfo **info, GError **error)
{
  g_autofree char *copy = g_memdup2 (text, strlen (text) + 1);

  copy[strlen (text)] = 'X'; /* the reader gets a length, no NUL */
  return gantry_xla_import_text (context, copy, strlen (text), name, NULL, info, NULL, error);
}

void
read_case_errors (const char *name, const ReadError *cases, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_case (context, cases[i].text, name, NULL, &error);

      g_assert_null (module);
      g_assert_error (error, GANTRY_ERROR, (int) cases[i].code);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("%s: \"%s\" is not in it", error->message, cases[i].message);
    }
}

void
read_case_samples (const char *folder, const ReadSample *samples, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = test_shared_file (folder, samples[i].name);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryXlaInfo) info = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = NULL;

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        {
          g_test_skip ("the samples are not here; GANTRY_SHARED names the folder that holds them in data/");
          return;
        }
      module = gantry_xla_import (context, path, NULL, &info, NULL, &error);
      g_assert_no_error (error);
      g_test_message ("%s: %u operations, %u modules", samples[i].name, info->n_operations, info->n_modules);
      g_assert_cmpuint (info->n_modules, ==, samples[i].modules);
      if (samples[i].operations > 0)
        g_assert_cmpuint (info->n_operations, ==, samples[i].operations);
      for (guint32 k = 0; k < module->n_nodes; k++)
        g_assert_cmpuint (module->nodes[k].location, !=, 0);
      g_assert_true (gantry_verify (module, NULL, &error));
    }
}
