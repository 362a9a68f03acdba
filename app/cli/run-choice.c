/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the run that an option means, by number or id. */
#include "app/cli/run-choice.h"
#include "core/base/error.h"
#include <string.h>

#define LEAST_DIGITS 4 /* of an id */

/* 0: it is none */
static guint64
number_of (const char *name)
{
  guint64 number = 0;

  if (name[0] == '0' || !g_ascii_string_to_unsigned (name, 10, 1, G_MAXUINT32, &number, NULL))
    return 0;
  return number;
}

const GantryRunEntry *
gantry_cli_find_run (GPtrArray *entries, const char *path, const char *option, const char *name, GError **error)
{
  guint64 number = number_of (name);
  const GantryRunEntry *found = number > 0 && number <= entries->len ? g_ptr_array_index (entries, number - 1) : NULL;
  const GantryRunEntry *numbered = found;
  guint n = found != NULL;

  for (guint i = 0; strlen (name) >= LEAST_DIGITS && i < entries->len; i++)
    if (g_str_has_prefix (((const GantryRunEntry *) g_ptr_array_index (entries, i))->uid, name) && g_ptr_array_index (entries, i) != numbered)
      {
        found = g_ptr_array_index (entries, i);
        n++;
      }
  if (n == 1)
    return found;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               numbered != NULL ? "%s %s: %s has a run of this number and another whose id begins so; give more of an id"
               : n > 1          ? "%s %s: %s has several such runs; give more of the id"
                                : "%s %s: %s has no such run; gantry-cli runs lists numbers and ids",
               option, name, path);
  return NULL;
}

/* A trace has no list. */
static GantryRunResult *
only_run (GPtrArray *runs, const char *path, const char *name, GError **error)
{
  if (number_of (name) == 1 && runs->len > 0)
    return g_ptr_array_index (runs, 0);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--run %s: %s is a trace, which is run 1", name, path);
  return NULL;
}

GantryRunResult *
gantry_cli_choose_run (GPtrArray *runs, const GError *left_out, const char *path, const char *name, GError **error)
{
  g_autoptr (GPtrArray) entries = NULL;
  const GantryRunEntry *entry;

  if (gantry_outside_is_trace (path))
    return only_run (runs, path, name, error);
  entries = gantry_runs_list (path, error);
  if (entries == NULL)
    {
      gantry_error_prefix (error, "--run %s: ", name);
      return NULL;
    }
  entry = gantry_cli_find_run (entries, path, "--run", name, error);
  if (entry == NULL)
    return NULL;
  for (guint i = 0; i < runs->len; i++)
    if (g_strcmp0 (((const GantryRunResult *) g_ptr_array_index (runs, i))->uid, entry->uid) == 0)
      return g_ptr_array_index (runs, i);
  if (left_out != NULL)
    g_set_error (error, left_out->domain, left_out->code, "--run %s: this run of %s is left out; %s", name, path, left_out->message);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "--run %s: this run was added to %s while it was read; try again", name, path);
  return NULL;
}
