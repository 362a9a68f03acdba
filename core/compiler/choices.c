/* SPDX-License-Identifier: Apache-2.0 */
/* Choices: a sorted table by key, the keys themselves, and the placements that choices and a policy make. */
#include "core/compiler/choices.h"
#include "core/planner/policy/policy.h"
#include <string.h>

GantryChoices *
gantry_choices_new (void)
{
  GantryChoices *choices = g_new0 (GantryChoices, 1);

  g_atomic_ref_count_init (&choices->ref_count);
  choices->entries = g_array_new (FALSE, FALSE, sizeof (GantryChoice));
  return choices;
}

GantryChoices *
gantry_choices_copy (const GantryChoices *choices)
{
  GantryChoices *copy = gantry_choices_new ();

  if (choices != NULL && choices->entries->len > 0)
    g_array_append_vals (copy->entries, choices->entries->data, choices->entries->len);
  if (choices != NULL && choices->schedule != NULL)
    copy->schedule = g_array_copy (choices->schedule);
  copy->fetch_limit = choices != NULL ? choices->fetch_limit : 0;
  return copy;
}

void
gantry_choices_set_schedule (GantryChoices *choices, const guint64 *keys, guint n)
{
  g_clear_pointer (&choices->schedule, g_array_unref);
  if (n == 0)
    return;
  choices->schedule = g_array_sized_new (FALSE, FALSE, sizeof *keys, n);
  g_array_append_vals (choices->schedule, keys, n);
}

GantryChoices *
gantry_choices_ref (GantryChoices *choices)
{
  g_atomic_ref_count_inc (&choices->ref_count);
  return choices;
}

void
gantry_choices_unref (GantryChoices *choices)
{
  if (choices == NULL || !g_atomic_ref_count_dec (&choices->ref_count))
    return;
  g_array_unref (choices->entries);
  g_clear_pointer (&choices->schedule, g_array_unref);
  g_free (choices);
}

static GantryChoice *
entry (const GantryChoices *choices, guint i)
{
  return &g_array_index (choices->entries, GantryChoice, i);
}

/* The first entry whose key is not below @key. */
static guint
position_of (const GantryChoices *choices, guint64 key)
{
  guint low = 0, high = choices->entries->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (entry (choices, middle)->key < key)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

const GantryChoice *
gantry_choices_find (const GantryChoices *choices, guint64 key)
{
  guint i = position_of (choices, key);

  return i < choices->entries->len && entry (choices, i)->key == key ? entry (choices, i) : NULL;
}

typedef struct
{
  GantryChoice choice;
  guint order; /* later ones win */
} Ranked;

static int
compare_ranked (gconstpointer a, gconstpointer b)
{
  const Ranked *x = a, *y = b;

  if (x->choice.key != y->choice.key)
    return x->choice.key < y->choice.key ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

void
gantry_choices_set_many (GantryChoices *choices, const GantryChoice *list, guint n)
{
  guint before = choices->entries->len;
  g_autofree Ranked *all = g_new (Ranked, (gsize) before + n + 1);

  for (guint i = 0; i < before; i++)
    all[i] = (Ranked){ *entry (choices, i), i };
  for (guint i = 0; i < n; i++)
    all[before + i] = (Ranked){ list[i], before + i };
  qsort (all, (gsize) before + n, sizeof *all, compare_ranked);
  g_array_set_size (choices->entries, 0);
  for (guint i = 0; i < before + n; i++)
    if (i + 1 == before + n || all[i].choice.key != all[i + 1].choice.key)
      g_array_append_val (choices->entries, all[i].choice);
}

void
gantry_choices_remove (GantryChoices *choices, const guint64 *keys, guint n)
{
  g_autoptr (GHashTable) gone = g_hash_table_new (g_int64_hash, g_int64_equal);
  guint kept = 0;

  for (guint i = 0; i < n; i++)
    g_hash_table_add (gone, (gpointer) &keys[i]);
  for (guint i = 0; i < choices->entries->len; i++)
    if (!g_hash_table_contains (gone, &entry (choices, i)->key))
      *entry (choices, kept++) = *entry (choices, i);
  g_array_set_size (choices->entries, kept);
}

static gboolean
equal_schedules (const GantryChoices *a, const GantryChoices *b)
{
  guint n = a != NULL && a->schedule != NULL ? a->schedule->len : 0, m = b != NULL && b->schedule != NULL ? b->schedule->len : 0;

  return n == m && (n == 0 || memcmp (a->schedule->data, b->schedule->data, n * sizeof (guint64)) == 0);
}

gboolean
gantry_choices_equal (const GantryChoices *a, const GantryChoices *b)
{
  guint n = a != NULL ? a->entries->len : 0;

  if (n != (b != NULL ? b->entries->len : 0) || !equal_schedules (a, b) || (a != NULL ? a->fetch_limit : 0) != (b != NULL ? b->fetch_limit : 0))
    return FALSE;
  for (guint i = 0; a != b && i < n; i++)
    {
      const GantryChoice *x = entry (a, i), *y = entry (b, i);

      if (x->key != y->key || x->kind != y->kind || x->memory != y->memory || x->decider != y->decider)
        return FALSE;
    }
  return TRUE;
}

/* FNV-1a over the bytes of a text and the zero that ends it, so that "ab","c" is not "a","bc". */
static guint64
hash_text (guint64 hash, const char *text)
{
  do
    hash = (hash ^ (guint8) *text) * G_GUINT64_CONSTANT (0x100000001b3);
  while (*text++ != '\0');
  return hash;
}

static guint64
hash_number (guint64 hash, guint32 number)
{
  for (guint i = 0; i < 4; i++)
    hash = (hash ^ (number >> (8 * i) & 0xff)) * G_GUINT64_CONSTANT (0x100000001b3);
  return hash;
}

guint64 *
gantry_module_keys (const GantryModule *module)
{
  const GantryFunction *function = gantry_module_entry (module);
  guint64 *keys = g_new0 (guint64, (gsize) module->n_nodes + 1);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_int64_hash, g_int64_equal); /* key of the first -> how many */
  g_autofree guint64 *bases = g_new0 (guint64, (gsize) function->n_nodes + 1);

  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      guint32 position = function->first_node + i, ordinal;
      const GantryNode *node = &module->nodes[position];
      guint64 hash = G_GUINT64_CONSTANT (0xcbf29ce484222325);

      hash = hash_text (hash, gantry_node_op_name (module, node));
      hash = hash_text (hash, gantry_context_scope_path (module->context, node->scope));
      hash = hash_text (hash, gantry_context_string (module->context, node->name));
      bases[i] = hash_number (hash, node->phase);
      ordinal = GPOINTER_TO_UINT (g_hash_table_lookup (seen, &bases[i]));
      g_hash_table_insert (seen, &bases[i], GUINT_TO_POINTER (ordinal + 1));
      keys[position] = hash_number (bases[i], ordinal);
    }
  return keys;
}

/* The key of an entry of a schedule: that of its node where the work runs, another one for each other action. */
static guint64
key_of_entry (guint64 key, guint32 action)
{
  return action == GANTRY_SCHEDULE_RUN ? key : hash_number (key, action);
}

/* A schedule of another program is none. */
static void
place_schedule (const GantryChoices *choices, const GantryModule *module, const guint64 *keys, GantryPlacements *placements)
{
  const GantryFunction *function = gantry_module_entry (module);
  const gsize n_keys = (gsize) function->n_nodes * GANTRY_N_SCHEDULE_ACTIONS;
  g_autoptr (GHashTable) numbers = g_hash_table_new (g_int64_hash, g_int64_equal); /* key -> index in own + 1 */
  g_autofree guint64 *own = g_new (guint64, n_keys + 1);
  guint n = choices->schedule->len;
  g_autofree GantryScheduleEntry *entries = g_new (GantryScheduleEntry, n + 1);

  for (gsize k = 0; k < n_keys; k++)
    {
      own[k] = key_of_entry (keys[function->first_node + k / GANTRY_N_SCHEDULE_ACTIONS], k % GANTRY_N_SCHEDULE_ACTIONS);
      g_hash_table_insert (numbers, &own[k], GSIZE_TO_POINTER (k + 1));
    }
  for (guint i = 0; i < n; i++)
    {
      gsize k = GPOINTER_TO_SIZE (g_hash_table_lookup (numbers, &g_array_index (choices->schedule, guint64, i)));

      if (k == 0)
        return;
      entries[i].node = module->nodes[function->first_node + (k - 1) / GANTRY_N_SCHEDULE_ACTIONS].id;
      entries[i].action = (k - 1) % GANTRY_N_SCHEDULE_ACTIONS;
    }
  gantry_placements_set_schedule (placements, entries, n);
}

static void
keep_schedule (GantryChoices *choices, const GantryPlacements *placements, const GantryModule *module, const guint64 *keys)
{
  guint n = placements->schedule != NULL ? placements->schedule->len : 0, found = 0;
  g_autofree guint64 *list = g_new (guint64, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const GantryScheduleEntry *scheduled = &g_array_index (placements->schedule, GantryScheduleEntry, i);
      const GantryNode *node = gantry_module_node (module, scheduled->node);

      if (node != NULL)
        list[found++] = key_of_entry (keys[gantry_module_position (module, node)], scheduled->action);
    }
  gantry_choices_set_schedule (choices, list, found == n ? n : 0);
}

GantryPlacements *
gantry_choices_place (const GantryChoices *choices, const GantryModule *module, const guint64 *keys)
{
  const GantryFunction *function = gantry_module_entry (module);
  GantryPlacements *placements = gantry_placements_new ();
  g_autofree guint8 *subjects = NULL;
  guint32 end = function->first_node + function->n_nodes;

  if (choices != NULL && choices->schedule != NULL)
    place_schedule (choices, module, keys, placements);
  placements->fetch_limit = choices != NULL ? choices->fetch_limit : 0;
  if (choices == NULL || choices->entries->len == 0)
    return placements;
  subjects = gantry_placement_subjects (module);
  for (guint32 i = function->first_node; i < end; i++)
    {
      const GantryChoice *choice = gantry_choices_find (choices, keys[i]);
      GantryPlacement placement = { .node = module->nodes[i].id, .subject = subjects[i] };

      if (choice == NULL || subjects[i] == GANTRY_SUBJECT_NONE)
        continue;
      placement.kind = choice->kind;
      placement.memory = choice->memory;
      placement.decider = choice->decider;
      gantry_placements_set (placements, &placement);
    }
  return placements;
}

GantryPlacements *
gantry_choices_place_over (const GantryChoices *choices, const char *policy, GantryModule *module, const guint64 *keys, GPtrArray **reports, GError **error)
{
  g_autoptr (GantryPolicy) statements = gantry_policy_parse (policy != NULL ? policy : "", -1, error);
  g_autoptr (GantryPlacements) chosen = NULL;

  if (statements == NULL)
    return NULL;
  chosen = gantry_choices_place (choices, module, keys);
  return gantry_policy_apply (statements, module, chosen, reports);
}

GArray *
gantry_choices_missing (const GantryChoices *choices, const GantryModule *module, const guint64 *keys)
{
  const GantryFunction *function = gantry_module_entry (module);
  GArray *missing = g_array_new (FALSE, FALSE, sizeof (GantryChoice));
  g_autofree guint8 *subjects = gantry_placement_subjects (module);
  g_autoptr (GHashTable) placed = g_hash_table_new (g_int64_hash, g_int64_equal);

  for (guint32 i = function->first_node; i < function->first_node + function->n_nodes; i++)
    if (subjects[i] != GANTRY_SUBJECT_NONE)
      g_hash_table_add (placed, (gpointer) &keys[i]);
  for (guint i = 0; i < choices->entries->len; i++)
    if (!g_hash_table_contains (placed, &entry (choices, i)->key))
      g_array_append_val (missing, *entry (choices, i));
  return missing;
}

GantryChoices *
gantry_choices_of (const GantryPlacements *placements, const GantryModule *module, const guint64 *keys)
{
  GantryChoices *choices = gantry_choices_new ();
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (GantryChoice));

  for (guint i = 0; i < placements->entries->len; i++)
    {
      const GantryPlacement *placement = &g_array_index (placements->entries, GantryPlacement, i);
      const GantryNode *node = gantry_module_node (module, placement->node);
      GantryChoice choice = { .node = placement->node, .kind = placement->kind, .memory = placement->memory, .decider = placement->decider };

      if (node == NULL)
        continue;
      choice.key = keys[gantry_module_position (module, node)];
      g_array_append_val (list, choice);
    }
  gantry_choices_set_many (choices, (const GantryChoice *) (gpointer) list->data, list->len);
  keep_schedule (choices, placements, module, keys);
  choices->fetch_limit = placements->fetch_limit;
  return choices;
}
