/* SPDX-License-Identifier: Apache-2.0 */
/* Branches on data: a call of one of two functions, each the body of an arm. In the body of a loop one arm may go on with the next
 * trip while the other leaves the loop: then both give whether the loop is left, the arguments of the trip, and what is given then. */
#include "core/frontends/mindspore/mindir-private.h"

/** An arm that was written, and what it gives. */
typedef struct
{
  MindRegion *region;
  MindValue *value;
} Arm;

guint32
gantry_mind_predicate (MindImport *import, MindValue *value)
{
  guint32 id = gantry_mind_use (import, value);
  const GantryType *type = gantry_builder_get_type (import->b, id);

  if (id == 0)
    return 0;
  if (type->kind != GANTRY_TYPE_TENSOR || gantry_type_elements (type) != 1)
    {
      gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "a condition is not one value");
      return 0;
    }
  if (type->rank > 0)
    id = gantry_builder_reshape (import->b, id, 0, NULL);
  return gantry_builder_convert (import->b, id, GANTRY_BOOL);
}

/* Arms that go different ways */

/** What an arm gives, in three parts. @trip, @given: (nullable) */
typedef struct
{
  MindValue *leaves;
  MindValue *trip;
  MindValue *given;
} Parts;

static Parts
parts_of (MindImport *import, MindValue *value)
{
  Parts parts = { NULL, NULL, NULL };

  if (value->kind == MIND_MIXED)
    return (Parts){ value->members[0], value->members[1], value->members[2] };
  parts.leaves = gantry_mind_value_new (import, MIND_BOOL);
  parts.leaves->element = GANTRY_BOOL;
  parts.leaves->i = value->kind != MIND_TAIL;
  if (value->kind == MIND_TAIL)
    parts.trip = value;
  else
    parts.given = value;
  return parts;
}

static const GantryType *
type_of (MindImport *import, const MindValue *leaf)
{
  if (leaf->kind == MIND_NODE)
    return gantry_builder_get_type (import->b, leaf->node);
  return leaf->kind == MIND_LITERAL ? leaf->literal->type
                                    : gantry_context_type (import->context, gantry_context_scalar (import->context, (GantryElementType) leaf->element));
}

/* Whether a leaf is of outside of the arms, so that no arm has to give it. */
static gboolean
is_outside (MindImport *import, const MindValue *leaf)
{
  return leaf->kind == MIND_NODE && gantry_mind_region_level (import, leaf->region) >= 0;
}

/* Something of the structure and types of @like, that nobody reads: what is known outside, else zeros. */
static MindValue *
filler (MindImport *import, MindValue *like)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  guint at = 0;

  gantry_mind_flatten (like, leaves);
  for (guint i = 0; i < leaves->len && import->error == NULL; i++)
    {
      const MindValue *leaf = g_ptr_array_index (leaves, i);
      const GantryType *type = gantry_mind_is_data (leaf) ? type_of (import, leaf) : NULL;

      if (type == NULL || is_outside (import, leaf))
        continue;
      if (!gantry_type_is_static (type))
        gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "a loop is left with a value whose size is not known");
      else
        g_ptr_array_index (leaves, i) = gantry_mind_node_value (import,
                                                                gantry_builder_splat (import->b, (GantryElementType) type->element, 0, type->rank, type->dims));
    }
  return import->error == NULL ? gantry_mind_rebuild (import, like, (MindValue *const *) leaves->pdata, &at) : NULL;
}

/* Goes on writing an arm that was ended, so that it can give something. */
static void
open_arm (MindImport *import, Arm *arm)
{
  g_ptr_array_add (import->regions, arm->region);
  gantry_builder_reopen (import->b, arm->region->function);
}

static gboolean
fits (const MindValue *a, const MindValue *b)
{
  return a == NULL || b == NULL || gantry_mind_same_structure (a, b);
}

/* Makes both arms give all three parts. FALSE where they have none in common. */
static gboolean
mix (MindImport *import, Arm *arms)
{
  Parts parts[2] = { parts_of (import, arms[0].value), parts_of (import, arms[1].value) };

  if ((parts[0].trip == NULL && parts[1].trip == NULL) || (parts[0].given == NULL && parts[1].given == NULL) || !fits (parts[0].trip, parts[1].trip)
      || !fits (parts[0].given, parts[1].given))
    return FALSE;
  for (guint i = 0; i < 2 && import->error == NULL; i++)
    {
      MindValue *mixed = gantry_mind_value_new (import, MIND_MIXED);

      open_arm (import, &arms[i]);
      mixed->n = 3;
      mixed->members = gantry_arena_new0 (import->arena, MindValue *, 4);
      mixed->members[0] = parts[i].leaves;
      mixed->members[1] = parts[i].trip != NULL ? parts[i].trip : filler (import, parts[1 - i].trip);
      mixed->members[2] = parts[i].given != NULL ? parts[i].given : filler (import, parts[1 - i].given);
      arms[i].value = mixed;
      gantry_mind_region_end (import, NULL, 0);
    }
  return import->error == NULL;
}

/* Joining */

/** What both arms give: leaves of either, and of those that are results their ids. */
typedef struct
{
  GPtrArray *leaves[2];
  GArray *ids[2];
} Given;

/* A leaf that both arms have from outside is no result. */
static gboolean
is_result (MindImport *import, const Given *given, guint i)
{
  const MindValue *a = g_ptr_array_index (given->leaves[0], i), *b = g_ptr_array_index (given->leaves[1], i);

  return gantry_mind_is_data (a) && !(a == b && is_outside (import, a));
}

/* Makes the arms end in their results, whose types have to be the same: the builder would refuse others for good. */
static void
end_arms (MindImport *import, Arm *arms, const Given *given)
{
  for (guint arm = 0; arm < 2; arm++)
    {
      gboolean *wanted = g_new0 (gboolean, given->leaves[0]->len + 1);

      for (guint i = 0; i < given->leaves[0]->len; i++)
        wanted[i] = is_result (import, given, i);
      open_arm (import, &arms[arm]);
      for (guint i = 0; i < given->leaves[0]->len && import->error == NULL; i++)
        if (wanted[i])
          {
            guint32 id = gantry_mind_use (import, g_ptr_array_index (given->leaves[arm], i));

            g_array_append_val (given->ids[arm], id);
          }
      g_free (wanted);
      gantry_mind_region_end (import, (const guint32 *) (gpointer) given->ids[arm]->data, import->error == NULL ? given->ids[arm]->len : 0);
    }
  for (guint i = 0; i < given->ids[0]->len && import->error == NULL; i++)
    if (gantry_builder_type (import->b, g_array_index (given->ids[0], guint32, i))
        != gantry_builder_type (import->b, g_array_index (given->ids[1], guint32, i)))
      gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "the arms of a branch give values of different types");
}

/* The node of the branch. Returns: what it gives */
static MindValue *
write_if (MindImport *import, guint32 condition, Arm *arms, const Given *given)
{
  MindRegion *regions[] = { arms[0].region, arms[1].region };
  GantryAttrList *attrs = gantry_attr_list_new (import->context);
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint index = 0, at = 0, n = given->ids[0]->len;
  guint32 id;

  g_array_append_val (operands, condition);
  gantry_mind_regions_align (import, regions, 2, operands);
  gantry_attr_list_set_function (attrs, "then", arms[0].region->function);
  gantry_attr_list_set_function (attrs, "else", arms[1].region->function);
  id = gantry_builder_add (import->b, GANTRY_OP_IF, (const guint32 *) (gpointer) operands->data, operands->len, gantry_attr_list_end (attrs));
  for (guint i = 0; i < given->leaves[0]->len && id != 0; i++)
    if (is_result (import, given, i))
      g_ptr_array_index (given->leaves[0], i) = gantry_mind_node_value (import, n > 1 ? gantry_builder_result (import->b, id, index++) : id);
  if (!gantry_builder_check (import->b, import->error == NULL ? &import->error : NULL) || id == 0)
    return NULL;
  return gantry_mind_rebuild (import, arms[0].value, (MindValue *const *) given->leaves[0]->pdata, &at);
}

/* What two arms that were written give together. */
static MindValue *
join (MindImport *import, guint32 condition, Arm *arms)
{
  g_autoptr (GPtrArray) first = g_ptr_array_new (), second = g_ptr_array_new ();
  g_autoptr (GArray) first_ids = g_array_new (FALSE, FALSE, sizeof (guint32)), second_ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  const Given given = { { first, second }, { first_ids, second_ids } };

  if (!gantry_mind_same_structure (arms[0].value, arms[1].value) && !mix (import, arms))
    gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "the arms of a branch give different things");
  if (import->error != NULL)
    return NULL;
  gantry_mind_flatten (arms[0].value, first);
  gantry_mind_flatten (arms[1].value, second);
  end_arms (import, arms, &given);
  if (import->error == NULL && first_ids->len == 0) /* nothing depends on the condition */
    {
      gantry_builder_drop (import->b, arms[0].region->function);
      return arms[0].value;
    }
  return import->error == NULL ? write_if (import, condition, arms, &given) : NULL;
}

MindValue *
gantry_mind_join (MindImport *import, guint32 condition, MindArmFunc write, gconstpointer data)
{
  static const char *const names[] = { "then", "else" };
  guint32 scope = import->scope, location = import->location;
  Arm arms[2] = { { 0 } };
  MindValue *value = NULL;

  for (guint i = 0; i < 2 && import->error == NULL; i++)
    {
      arms[i].region = gantry_mind_region_begin (import, names[i]);
      arms[i].value = write (import, i, data);
      if (arms[i].value != NULL && (arms[i].value->kind == MIND_DEFERRED || arms[i].value->kind == MIND_CHOICE))
        gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "an arm gives a function");
      gantry_mind_region_end (import, NULL, 0);
    }
  gantry_builder_set_place (import->b, scope, location);
  if (import->error == NULL)
    value = join (import, condition, arms);
  if (import->error != NULL)
    gantry_builder_drop (import->b, arms[0].region->function); /* and what was begun after it */
  gantry_mind_region_free (arms[0].region);
  gantry_mind_region_free (arms[1].region);
  return value;
}

/** A call of a choice. */
typedef struct
{
  MindValue *choice;
  MindValue *const *arguments;
  guint n;
} Call;

static MindValue *
call_arm (MindImport *import, guint arm, gconstpointer data)
{
  const Call *call = data;
  const MindValue *function = call->choice->members[arm + 1];
  g_autoptr (GPtrArray) all = g_ptr_array_new ();

  for (guint i = 0; i < function->n; i++)
    g_ptr_array_add (all, function->members[i]);
  for (guint i = 0; i < call->n; i++)
    g_ptr_array_add (all, call->arguments[i]);
  return gantry_mind_call_graph (import, function->graph, (MindValue *const *) all->pdata, all->len);
}

MindValue *
gantry_mind_branch (MindImport *import, MindValue *choice, MindValue *const *arguments, guint n)
{
  Call call = { choice, arguments, n };
  guint32 condition = gantry_mind_predicate (import, choice->members[0]);

  return condition != 0 ? gantry_mind_join (import, condition, call_arm, &call) : NULL;
}
