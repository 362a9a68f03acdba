/* SPDX-License-Identifier: Apache-2.0 */
/* What of a model cannot be compiled, without compiling it. */
#include "core/compiler/model.h"
#include "core/passes/passes.h"
#include <string.h>

static void
free_refusal (gpointer data)
{
  GantryModelRefusal *refusal = data;

  g_free (refusal->operation);
  g_free (refusal->why);
  g_free (refusal->where);
  g_free (refusal);
}

static gboolean
is_listed (const GPtrArray *list, guint n, const char *operation)
{
  for (guint i = 0; i < n; i++)
    if (strcmp (((const GantryModelRefusal *) g_ptr_array_index (list, i))->operation, operation) == 0)
      return TRUE;
  return FALSE;
}

static void
add (GPtrArray *list, const char *operation, gsize length, const char *why, const char *where, guint count)
{
  GantryModelRefusal *refusal = g_new0 (GantryModelRefusal, 1);

  *refusal = (GantryModelRefusal){ g_strndup (operation, length), g_strdup (why), g_strdup (where), count };
  g_ptr_array_add (list, refusal);
}

GPtrArray *
gantry_model_find_unsupported (const GantryModel *model, const GantryProgress *progress, GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (free_refusal);
  g_autoptr (GPtrArray) asked = NULL;
  g_autoptr (GError) failure = NULL;
  guint n_opened;

  for (guint i = 0; i < model->n_unsupported; i++)
    add (list, model->unsupported[i].operation, strlen (model->unsupported[i].operation), model->unsupported[i].why, model->unsupported[i].where,
         model->unsupported[i].count);
  /* Sizes that are not known yet are refused as such. */
  if (model->module == NULL || (model->unbound != NULL && *model->unbound != NULL))
    return g_steal_pointer (&list);
  asked = gantry_legalize_refusals (model->module, progress, &failure);
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return NULL;
    }
  if (asked == NULL)
    add (list, "model", 5, failure->message, model->path, 1);
  n_opened = list->len;
  for (guint i = 0; asked != NULL && i < asked->len; i++)
    {
      const GantryRefusal *refusal = g_ptr_array_index (asked, i);
      const char *colon = strstr (refusal->why, ": ");
      gsize length = colon != NULL ? (gsize) (colon - refusal->why) : 0;
      g_autofree char *operation = g_strndup (refusal->why, length);

      /* An operation that nobody knows was found when the model was opened. */
      if (!is_listed (list, n_opened, operation))
        add (list, operation, length, colon != NULL ? colon + 2 : refusal->why, refusal->where, refusal->count);
    }
  return g_steal_pointer (&list);
}
