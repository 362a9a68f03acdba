/* SPDX-License-Identifier: Apache-2.0 */
/* Placements of values that the program does not have: after its model was loaded again, or a pass was switched, they have no
 * effect until the values come back. They are told by the names that their values had when they were last there. */
#include "core/document/document-private.h"

#define MOST_NAMED 5u

static GHashTable *
names_new (void)
{
  return g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
}

void
_gantry_names_add (GHashTable **names, guint64 key, const char *name)
{
  if (*names == NULL)
    *names = names_new ();
  g_hash_table_replace (*names, g_memdup2 (&key, sizeof key), g_strdup (name));
}

const char *
_gantry_names_find (GHashTable *names, guint64 key)
{
  const char *name = names != NULL ? g_hash_table_lookup (names, &key) : NULL;

  return name != NULL && *name != '\0' ? name : NULL;
}

/* Saves read the table on other threads: it is never changed, but replaced. (transfer full) */
static GHashTable *
copy_names (GHashTable *names)
{
  GHashTable *copy = names_new ();
  GHashTableIter iter;
  gpointer key, name;

  if (names == NULL)
    return copy;
  g_hash_table_iter_init (&iter, names);
  while (g_hash_table_iter_next (&iter, &key, &name))
    g_hash_table_insert (copy, g_memdup2 (key, sizeof (guint64)), g_strdup (name));
  return copy;
}

static void
add_unnamed (GHashTable *wanted, GHashTable *names, const GantryChoices *choices, gboolean again)
{
  for (guint i = 0; choices != NULL && i < choices->entries->len; i++)
    {
      guint64 *key = &g_array_index (choices->entries, GantryChoice, i).key;
      const char *name = names != NULL ? g_hash_table_lookup (names, key) : NULL;

      if (name == NULL || (again && *name == '\0'))
        g_hash_table_add (wanted, key);
    }
}

/* What has no name of its own is told by where it is. (transfer full) */
static char *
name_of (const GantryModule *module, const GantryNode *node)
{
  const char *scope = gantry_context_scope_path (module->context, node->scope);
  g_autofree char *label = gantry_node_label (module, node);
  gboolean nameless = *gantry_context_string (module->context, node->name) == '\0' && *scope != '\0';

  return g_strdup_printf ("%s %s%s%s", gantry_node_op_name (module, node), label, nameless ? " in " : "", nameless ? scope : "");
}

void
_gantry_document_name_placed (GantryDocument *self)
{
  g_autoptr (GHashTable) wanted = g_hash_table_new (g_int64_hash, g_int64_equal), names = NULL;
  const GantryFunction *entry;
  const GantryModule *module;
  gboolean again = !self->names_asked; /* of a program that was not seen yet */
  GHashTableIter iter;
  gpointer key;

  add_unnamed (wanted, self->names, self->state->settings.choices, again);
  for (guint i = 0; i < self->state->variants->len; i++)
    {
      const GantryVariant *variant = g_ptr_array_index (self->state->variants, i);

      add_unnamed (wanted, self->names, variant->choices, again);
    }
  if (g_hash_table_size (wanted) == 0 || self->planning == NULL || self->planning->keys == NULL)
    return;
  module = gantry_compilation_module (self->planning);
  entry = gantry_module_entry (module);
  names = copy_names (self->names);
  self->names_asked = TRUE;
  g_hash_table_iter_init (&iter, wanted);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    _gantry_names_add (&names, *(guint64 *) key, "");
  for (guint32 i = entry->first_node; i < entry->first_node + entry->n_nodes; i++)
    if (g_hash_table_contains (wanted, &self->planning->keys[i]))
      {
        g_autofree char *name = name_of (module, &module->nodes[i]);

        _gantry_names_add (&names, self->planning->keys[i], name);
      }
  g_clear_pointer (&self->names, g_hash_table_unref);
  self->names = g_steal_pointer (&names);
}

/* What was decided by click or solver and has a value. */
static guint
n_placed (const GantryPlacements *placements)
{
  guint n = 0;

  for (guint i = 0; placements != NULL && i < placements->entries->len; i++)
    n += g_array_index (placements->entries, GantryPlacement, i).decider >= GANTRY_DECIDED_BY_CLICK;
  return n;
}

static char *
describe (GantryDocument *self, const GantryChoice *choice)
{
  const char *name = _gantry_names_find (self->names, choice->key);

  const char *kind = gantry_placement_kind_name (choice->kind);

  return name != NULL ? g_strdup_printf ("%s of %s", kind, name) : g_strdup_printf ("%s of a value that was node %u", kind, choice->node);
}

void
_gantry_document_find_missing (GantryDocument *self)
{
  const GantryChoices *choices = self->state != NULL ? self->state->settings.choices : NULL;
  g_autoptr (GArray) missing = NULL;

  g_ptr_array_set_size (self->missing, 0);
  /* Where all have a value, as after most clicks, nothing is looked for. */
  if (choices == NULL || self->planning == NULL || self->planning->keys == NULL || n_placed (self->placements) == choices->entries->len)
    return;
  missing = gantry_choices_missing (choices, gantry_compilation_module (self->planning), self->planning->keys);
  for (guint i = 0; i < missing->len; i++)
    g_ptr_array_add (self->missing, describe (self, &g_array_index (missing, GantryChoice, i)));
}

GPtrArray *
gantry_document_get_missing (GantryDocument *self)
{
  return self->missing;
}

char *
gantry_document_missing_text (GantryDocument *self)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = self->missing->len;

  if (n == 0)
    return NULL;
  for (guint i = 0; i < MIN (n, MOST_NAMED); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", (const char *) g_ptr_array_index (self->missing, i));
  if (n > MOST_NAMED)
    g_string_append_printf (text, " and %u more", n - MOST_NAMED);
  return n == 1 ? g_strdup_printf ("1 placement has no effect, because the program as it is now has no such value: %s. It is "
                                   "kept, and holds again when the value is back.",
                                   text->str)
                : g_strdup_printf ("%u placements have no effect, because the program as it is now has no such values: %s. They "
                                   "are kept, and hold again when the values are back.",
                                   n, text->str);
}

void
gantry_document_forget_missing (GantryDocument *self)
{
  g_autoptr (GArray) missing = NULL, keys = g_array_new (FALSE, FALSE, sizeof (guint64));
  const GantryModule *module;
  GantryState *state;

  if (self->missing->len == 0 || self->planning == NULL)
    return;
  module = gantry_compilation_module (self->planning);
  state = _gantry_state_copy (self->state);
  missing = gantry_choices_missing (state->settings.choices, module, self->planning->keys);
  for (guint i = 0; i < missing->len; i++)
    g_array_append_val (keys, g_array_index (missing, GantryChoice, i).key);
  g_clear_pointer (&state->settings.choices, gantry_choices_unref);
  state->settings.choices = gantry_choices_copy (self->state->settings.choices);
  gantry_choices_remove (state->settings.choices, (const guint64 *) (gpointer) keys->data, keys->len);
  _gantry_document_edit (self, state, "no placements of values that are gone", 0);
}
