/* SPDX-License-Identifier: Apache-2.0 */
/* Two short lists in order of their names. */
#include "core/compiler/bindings.h"
#include "core/compiler/tensor-file.h"
#include "core/graph/text.h"
#include <string.h>

/* A value is kept as text in settings and in the session file: what is larger is data to run on. */
#define MOST_FILE_BYTES (16 << 20)
#define LABEL_BYTES 40 /* of characters of one byte: values have no others */

GantryBindings *
gantry_bindings_new (void)
{
  GantryBindings *bindings = g_new0 (GantryBindings, 1);

  g_atomic_ref_count_init (&bindings->ref_count);
  bindings->read = gantry_read_files_new ();
  return bindings;
}

GantryBindings *
gantry_bindings_copy (const GantryBindings *bindings)
{
  GantryBindings *copy = gantry_bindings_new ();

  gantry_bindings_merge (copy, bindings);
  return copy;
}

GantryBindings *
gantry_bindings_ref (GantryBindings *bindings)
{
  g_atomic_ref_count_inc (&bindings->ref_count);
  return bindings;
}

void
gantry_bindings_unref (GantryBindings *bindings)
{
  if (bindings == NULL || !g_atomic_ref_count_dec (&bindings->ref_count))
    return;
  for (guint i = 0; i < bindings->n_dims; i++)
    g_free ((char *) bindings->dims[i].name);
  for (guint i = 0; i < bindings->n_inputs; i++)
    {
      g_free ((char *) bindings->inputs[i].name);
      g_free ((char *) bindings->inputs[i].value);
    }
  gantry_read_files_unref (bindings->read);
  g_free (bindings->entry);
  g_free (bindings->program);
  g_free (bindings->dims);
  g_free (bindings->inputs);
  g_free (bindings);
}

gboolean
gantry_bindings_equal (const GantryBindings *a, const GantryBindings *b)
{
  static const GantryBindings none = { 0 };

  a = a != NULL ? a : &none;
  b = b != NULL ? b : &none;
  if (a->n_dims != b->n_dims || a->n_inputs != b->n_inputs || g_strcmp0 (a->entry, b->entry) != 0)
    return FALSE;
  for (guint i = 0; i < a->n_dims; i++)
    if (strcmp (a->dims[i].name, b->dims[i].name) != 0 || a->dims[i].size != b->dims[i].size)
      return FALSE;
  for (guint i = 0; i < a->n_inputs; i++)
    if (strcmp (a->inputs[i].name, b->inputs[i].name) != 0 || strcmp (a->inputs[i].value, b->inputs[i].value) != 0)
      return FALSE;
  return TRUE;
}

void
gantry_bindings_set_entry (GantryBindings *bindings, const char *name)
{
  g_free (bindings->entry);
  bindings->entry = g_strdup (name);
}

void
gantry_bindings_set_program (GantryBindings *bindings, const char *hash)
{
  g_free (bindings->program);
  bindings->program = g_strdup (hash);
}

void
gantry_bindings_clear_dims (GantryBindings *bindings)
{
  for (guint i = 0; i < bindings->n_dims; i++)
    g_free ((char *) bindings->dims[i].name);
  g_clear_pointer (&bindings->dims, g_free);
  bindings->n_dims = 0;
}

void
gantry_bindings_set_dim (GantryBindings *bindings, const char *name, gint64 size)
{
  guint at = 0, end = bindings->n_dims;

  while (at < end)
    {
      guint middle = at + (end - at) / 2;

      if (strcmp (bindings->dims[middle].name, name) < 0)
        at = middle + 1;
      else
        end = middle;
    }
  if (at < bindings->n_dims && strcmp (bindings->dims[at].name, name) == 0)
    {
      bindings->dims[at].size = size;
      return;
    }
  bindings->dims = g_renew (GantryDimBinding, bindings->dims, bindings->n_dims + 1);
  memmove (bindings->dims + at + 1, bindings->dims + at, (bindings->n_dims - at) * sizeof *bindings->dims);
  bindings->dims[at] = (GantryDimBinding){ g_strdup (name), size };
  bindings->n_dims++;
}

static void
drop_input (GantryBindings *bindings, guint at)
{
  g_free ((char *) bindings->inputs[at].name);
  g_free ((char *) bindings->inputs[at].value);
  bindings->n_inputs--;
  memmove (bindings->inputs + at, bindings->inputs + at + 1, (bindings->n_inputs - at) * sizeof *bindings->inputs);
}

void
gantry_bindings_set_input (GantryBindings *bindings, const char *name, const char *value)
{
  g_autofree char *own_name = g_strdup (name), *own_value = g_strdup (value); /* they may be those that are dropped */
  guint at = 0;

  while (at < bindings->n_inputs && strcmp (bindings->inputs[at].name, own_name) < 0)
    at++;
  if (at < bindings->n_inputs && strcmp (bindings->inputs[at].name, own_name) == 0)
    drop_input (bindings, at);
  if (own_value == NULL)
    return;
  bindings->inputs = g_renew (GantryInputValue, bindings->inputs, bindings->n_inputs + 1);
  memmove (bindings->inputs + at + 1, bindings->inputs + at, (bindings->n_inputs - at) * sizeof *bindings->inputs);
  bindings->inputs[at] = (GantryInputValue){ g_steal_pointer (&own_name), g_steal_pointer (&own_value) };
  bindings->n_inputs++;
}

const char *
gantry_bindings_get_input (const GantryBindings *bindings, const char *name)
{
  for (guint i = 0; bindings != NULL && i < bindings->n_inputs; i++)
    if (strcmp (bindings->inputs[i].name, name) == 0)
      return bindings->inputs[i].value;
  return NULL;
}

void
gantry_bindings_merge (GantryBindings *bindings, const GantryBindings *other)
{
  if (other == NULL)
    return;
  if (other->entry != NULL)
    gantry_bindings_set_entry (bindings, other->entry);
  if (other->program != NULL)
    gantry_bindings_set_program (bindings, other->program);
  bindings->outside = bindings->outside || other->outside;
  gantry_read_files_add_all (bindings->read, other->read);
  for (guint i = 0; i < other->n_dims; i++)
    gantry_bindings_set_dim (bindings, other->dims[i].name, other->dims[i].size);
  for (guint i = 0; i < other->n_inputs; i++)
    gantry_bindings_set_input (bindings, other->inputs[i].name, other->inputs[i].value);
}

char *
gantry_input_value_read (const char *text, GantryReadFiles *read, GError **error)
{
  g_autoptr (GantryContext) context = NULL;
  g_autoptr (GantryLiteral) literal = NULL;

  if (*text != '@')
    return g_strdup (text);
  gantry_read_files_add (read, text + 1);
  context = gantry_context_new ();
  literal = gantry_tensor_file_read (context, text + 1, NULL, error);
  if (literal == NULL)
    return NULL;
  if (gantry_type_bytes (literal->type) > MOST_FILE_BYTES)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE,
                   "%s: holds %" G_GINT64_FORMAT " bytes; a value that is set has at most 16 MiB, give it when the program runs", text + 1,
                   gantry_type_bytes (literal->type));
      return NULL;
    }
  return gantry_literal_to_text (context, literal);
}

char *
gantry_input_value_label (const char *value)
{
  return strlen (value) <= LABEL_BYTES ? g_strdup (value) : g_strdup_printf ("%.*s\342\200\246", LABEL_BYTES, value);
}
