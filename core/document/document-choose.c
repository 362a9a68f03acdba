/* SPDX-License-Identifier: Apache-2.0 */
/* Which values a click, a scope, a search or a set of equal blocks stands for, and the edit that places them. */
#include "core/document/document-private.h"
#include <string.h>

static const GantryCandidate *
candidates (GantryDocument *self, guint *n)
{
  *n = 0;
  return self->planner != NULL ? gantry_planner_candidates (self->planner, n) : NULL;
}

static GantryModule *
module_of (GantryDocument *self)
{
  return gantry_compilation_module (self->planning);
}

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return x < y ? -1 : x > y;
}

/* The candidates that decide for @ids of the last snapshot, each once, by ascending node. */
static GArray *
deciding (GantryDocument *self, const guint32 *ids, guint n)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint n_candidates;
  const GantryCandidate *list = candidates (self, &n_candidates);

  for (guint i = 0; list != NULL && i < n; i++)
    {
      gint index = gantry_planner_candidate_of (self->planner, ids[i]);

      if (index >= 0 && g_hash_table_add (seen, GUINT_TO_POINTER (list[index].node)))
        g_array_append_val (found, list[index].node);
    }
  g_array_sort (found, compare_ids);
  return found;
}

/* A forward node is followed to what it became, not to the gradients that were derived from it. */
static void
prefer_forward (const GantryModule *module, GArray *ids)
{
  guint kept = 0;

  for (guint i = 0; i < ids->len; i++)
    {
      guint32 id = g_array_index (ids, guint32, i);

      if (gantry_module_node (module, id)->phase == GANTRY_PHASE_FORWARD)
        g_array_index (ids, guint32, kept++) = id;
    }
  if (kept > 0)
    g_array_set_size (ids, kept);
}

GArray *
gantry_document_placeable (GantryDocument *self, guint snapshot, const guint32 *nodes, guint n)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (self);
  g_autoptr (GArray) ids = NULL;
  guint last;

  if (compilation == NULL || self->planner == NULL || snapshot >= compilation->n_snapshots)
    return g_array_new (FALSE, FALSE, sizeof (guint32));
  last = compilation->n_snapshots - 1;
  if (snapshot == last)
    return deciding (self, nodes, n);
  ids = gantry_compilation_follow_all (compilation, snapshot, nodes, n, last);
  prefer_forward (compilation->snapshots[last].module, ids);
  return deciding (self, (const guint32 *) (gpointer) ids->data, ids->len);
}

static gboolean
is_inside (const char *scope, const char *path)
{
  gsize length = strlen (path);

  return length == 0 || (strncmp (scope, path, length) == 0 && (scope[length] == '\0' || scope[length] == '/'));
}

GArray *
gantry_document_placeable_in_scope (GantryDocument *self, const char *path)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n;
  const GantryCandidate *list = candidates (self, &n);

  for (guint i = 0; i < n; i++)
    {
      const GantryModule *module = module_of (self);
      const GantryNode *node = gantry_module_node (module, list[i].node);

      if (node != NULL && is_inside (gantry_context_scope_path (module->context, node->scope), path))
        g_array_append_val (found, list[i].node);
    }
  g_array_sort (found, compare_ids);
  return found;
}

/* "layer.12/attention" as "layer.#/attention". */
static void
append_pattern (GString *text, const char *scope)
{
  for (const char *p = scope; *p != '\0'; p++)
    if (!g_ascii_isdigit (*p))
      g_string_append_c (text, *p);
    else if (p == scope || !g_ascii_isdigit (p[-1]))
      g_string_append_c (text, '#');
}

/* What a value is within its block: operation, phase, which of those of its kind in its very scope, and the scope without
 * its numbers. Values with the same text in scopes that hold the same are alike. One for each candidate. (transfer full) */
static char **
block_places (GantryDocument *self)
{
  const GantryModule *module = module_of (self);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) ordinals = g_hash_table_new (NULL, NULL); /* node -> 1 + which of its kind */
  guint n;
  const GantryCandidate *list = candidates (self, &n);
  char **places = g_new0 (char *, n + 1);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      char *kind = g_strdup_printf ("%u %u %u %u", node->scope, node->op, node->phase, node->type);
      guint count = GPOINTER_TO_UINT (g_hash_table_lookup (counts, kind)) + 1;

      g_hash_table_insert (ordinals, GUINT_TO_POINTER (node->id), GUINT_TO_POINTER (count));
      g_hash_table_replace (counts, kind, GUINT_TO_POINTER (count));
    }
  for (guint i = 0; i < n; i++)
    {
      const GantryNode *node = gantry_module_node (module, list[i].node);
      g_autofree char *kind = g_strdup_printf ("%u %u %u %u", node->scope, node->op, node->phase, node->type);
      GString *text = g_string_new (NULL);

      g_string_printf (text, "%u %u %u %u of %u ", node->op, node->phase, node->type,
                       GPOINTER_TO_UINT (g_hash_table_lookup (ordinals, GUINT_TO_POINTER (node->id))), GPOINTER_TO_UINT (g_hash_table_lookup (counts, kind)));
      append_pattern (text, gantry_context_scope_path (module->context, node->scope));
      places[i] = g_string_free (text, FALSE);
    }
  return places;
}

GArray *
gantry_document_placeable_alike (GantryDocument *self, guint snapshot, const guint32 *nodes, guint n)
{
  g_autoptr (GArray) given = gantry_document_placeable (self, snapshot, nodes, n);
  g_autoptr (GHashTable) wanted = g_hash_table_new (g_str_hash, g_str_equal);
  g_auto (GStrv) places = NULL;
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n_candidates;
  const GantryCandidate *list = candidates (self, &n_candidates);

  if (given->len == 0)
    return found;
  places = block_places (self);
  for (guint i = 0; i < given->len; i++)
    g_hash_table_add (wanted, places[gantry_planner_candidate_of (self->planner, g_array_index (given, guint32, i))]);
  for (guint i = 0; i < n_candidates; i++)
    if (g_hash_table_contains (wanted, places[i]))
      g_array_append_val (found, list[i].node);
  g_array_sort (found, compare_ids);
  return found;
}

/* The edit */

/* Of the values of @nodes those that may have @kind; of the others how many, and the first reason. */
static GArray *
allowed (GantryDocument *self, const GArray *nodes, int kind, char **why)
{
  GArray *choices = g_array_new (FALSE, TRUE, sizeof (GantryChoice));
  const GantryModule *module = module_of (self);
  guint n, refused = 0;
  const GantryCandidate *list = candidates (self, &n);
  const char *reason = NULL;

  for (guint i = 0; i < nodes->len; i++)
    {
      guint32 id = g_array_index (nodes, guint32, i);
      const GantryCandidate *candidate = &list[gantry_planner_candidate_of (self->planner, id)];
      GantryChoice choice = { .node = id, .kind = (guint8) MAX (kind, 0), .decider = GANTRY_DECIDED_BY_CLICK };

      if (kind >= 0 && (candidate->allowed & 1u << kind) == 0)
        {
          refused++;
          reason = reason != NULL ? reason : gantry_candidate_why_not (candidate, (GantryPlacementKind) kind);
          continue;
        }
      choice.key = self->planning->keys[gantry_module_position (module, gantry_module_node (module, id))];
      choice.memory = kind == GANTRY_PLACEMENT_OFFLOAD ? GANTRY_MEMORY_PINNED_HOST : GANTRY_MEMORY_DEVICE;
      g_array_append_val (choices, choice);
    }
  if (why != NULL && refused > 0)
    *why = g_strdup_printf ("%u of %u %s cannot take \"%s\"%s%s", refused, nodes->len, nodes->len == 1 ? "value" : "values",
                            gantry_placement_kind_name ((GantryPlacementKind) kind), reason != NULL ? ": " : "", reason != NULL ? reason : "");
  return choices;
}

static guint64
hash_of (const GArray *choices)
{
  guint64 hash = G_GUINT64_CONSTANT (0xcbf29ce484222325);

  for (guint i = 0; i < choices->len; i++)
    hash = (hash ^ g_array_index (choices, GantryChoice, i).key) * G_GUINT64_CONSTANT (0x100000001b3);
  return hash | G_GUINT64_CONSTANT (1) << 63; /* no number of another kind of edit */
}

static char *
edit_name (GantryDocument *self, const GArray *choices, int kind)
{
  const GantryModule *module = module_of (self);
  const char *verb = kind < 0 ? "no placement" : gantry_placement_kind_name ((GantryPlacementKind) kind);
  g_autofree char *label = NULL;

  if (choices->len != 1)
    return g_strdup_printf ("%s of %u values", verb, choices->len);
  label = gantry_node_label (module, gantry_module_node (module, g_array_index (choices, GantryChoice, 0).node));
  return g_strdup_printf ("%s of %s", verb, label);
}

static void
edit_choices (GantryDocument *self, GantryChoices *choices, const char *name, guint64 merge)
{
  GantryState *state;

  if (gantry_choices_equal (choices, self->state->settings.choices))
    {
      gantry_choices_unref (choices);
      return;
    }
  state = _gantry_state_copy (self->state);
  g_clear_pointer (&state->settings.choices, gantry_choices_unref);
  state->settings.choices = choices;
  _gantry_document_edit (self, state, name, merge);
}

static void
remove_all (GantryChoices *choices, const GArray *list)
{
  g_autofree guint64 *keys = g_new (guint64, list->len + 1);

  for (guint i = 0; i < list->len; i++)
    keys[i] = g_array_index (list, GantryChoice, i).key;
  gantry_choices_remove (choices, keys, list->len);
}

guint
gantry_document_set_placement (GantryDocument *self, guint snapshot, const guint32 *nodes, guint n, int kind, char **why)
{
  g_autoptr (GArray) values = NULL, list = NULL;
  g_autofree char *name = NULL;
  GantryChoices *choices;

  g_return_val_if_fail (kind >= GANTRY_PLACEMENT_UNSET && kind < GANTRY_N_PLACEMENTS, 0);
  if (why != NULL)
    *why = NULL;
  values = gantry_document_placeable (self, snapshot, nodes, n);
  if (values->len == 0)
    {
      if (why != NULL && n > 0)
        *why = g_strdup ("nothing here takes a placement: no value that the backward pass needs, no parameter, "
                         "input or result");
      return 0;
    }
  list = allowed (self, values, kind, why);
  if (list->len == 0)
    return 0;
  name = edit_name (self, list, kind);
  choices = gantry_choices_copy (self->state->settings.choices);
  if (kind >= 0)
    gantry_choices_set_many (choices, (const GantryChoice *) (gpointer) list->data, list->len);
  else
    remove_all (choices, list);
  edit_choices (self, choices, name, hash_of (list));
  return list->len;
}

void
gantry_document_clear_placements (GantryDocument *self)
{
  g_return_if_fail (self->state != NULL);
  edit_choices (self, gantry_choices_new (), "no clicks", 0);
}
