/* SPDX-License-Identifier: Apache-2.0 */
/* Placements that were given to single values, by click or by the solver, in a form that outlives the compilation:
 * node ids are new in each one, so a value is named by what it is (operation, name, scope, phase, and which of those
 * that are equal in this). */
#pragma once
#include "core/plan/placement.h"

G_BEGIN_DECLS

/** @key: gantry_module_keys(); @node: where it was last seen, for people who read the session file. */
typedef struct
{
  guint64 key;
  guint32 node;
  guint8 kind;    /* GantryPlacementKind */
  guint8 memory;  /* GantryMemoryKind to offload to */
  guint8 decider; /* GantryDecider: click or solver */
} GantryChoice;

/** GantryChoices: reference counted; changed only by who made it and before anyone else has it. */
typedef struct
{
  gatomicrefcount ref_count;
  GArray *entries;     /* GantryChoice, by ascending key */
  GArray *schedule;    /* (nullable): guint64: keys, as GantryPlacements.schedule: one for each action of a node */
  guint64 fetch_limit; /* bytes, 0: none; as GantryPlacements.fetch_limit */
} GantryChoices;

/** Returns: (transfer full): none, to be filled before anyone else has it */
GantryChoices *gantry_choices_new (void);
GantryChoices *gantry_choices_copy (const GantryChoices *choices); /* (nullable) gives an empty one */
GantryChoices *gantry_choices_ref (GantryChoices *choices);
void gantry_choices_unref (GantryChoices *choices);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryChoices, gantry_choices_unref)
/** Returns: (nullable) (transfer none): valid until the next set */
const GantryChoice *gantry_choices_find (const GantryChoices *choices, guint64 key);
/** Copied; none: no schedule. */
void gantry_choices_set_schedule (GantryChoices *choices, const guint64 *keys, guint n);
/** Many at once: O((n + m) log n). Later ones win. */
void gantry_choices_set_many (GantryChoices *choices, const GantryChoice *list, guint n);
/** Those of the @n @keys that are there are gone; the schedule stays. Linear. */
void gantry_choices_remove (GantryChoices *choices, const guint64 *keys, guint n);
gboolean gantry_choices_equal (const GantryChoices *a, const GantryChoices *b); /* NULL equals an empty one */

/** One key for each node of @module's entry function, by position in module->nodes. Linear. Returns: (transfer full) */
guint64 *gantry_module_keys (const GantryModule *module);
/** The choices of those values that @module has, and the schedule where @module has all that it names. @keys: gantry_module_keys().
 *  Returns: (transfer full) */
GantryPlacements *gantry_choices_place (const GantryChoices *choices, const GantryModule *module, const guint64 *keys);
/** What the text @policy (nullable) decides for @module, and over it the choices as gantry_choices_place(). @reports: as
 *  gantry_policy_apply(). Linear. Returns: (transfer full) (nullable): %GANTRY_ERROR_INVALID where the policy has a mistake */
GantryPlacements *
gantry_choices_place_over (const GantryChoices *choices, const char *policy, GantryModule *module, const guint64 *keys, GPtrArray **reports, GError **error);
/** Those that gantry_choices_place() passes over. Returns: (transfer full) (element-type GantryChoice): by ascending key */
GArray *gantry_choices_missing (const GantryChoices *choices, const GantryModule *module, const guint64 *keys);
/** The other way: every entry becomes a choice. Returns: (transfer full) */
GantryChoices *gantry_choices_of (const GantryPlacements *placements, const GantryModule *module, const guint64 *keys);

G_END_DECLS
