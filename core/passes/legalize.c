/* SPDX-License-Identifier: Apache-2.0 */
/* legalize: every foreign operation is written in core operations by its dialect. All operations that
 * cannot be are named in one error, without those that only fail because of an earlier one. */
#include "core/eval/fold.h"
#include "core/graph/dialect.h"
#include "core/graph/rewriter.h"
#include "core/passes/passes.h"
#include <string.h>

/* Shape arithmetic (Shape, Gather, Concat, ...) has to become constants for Reshape and its like to be
 * lowered; that needs a few elements only, the rest is the business of the pass `fold`. */
#define SHAPE_FOLD_ELEMENTS 1024
#define MAX_REFUSALS_SHOWN 20
#define MAX_REASONS 1000 /* in a list */

typedef struct
{
  GHashTable *members; /* old id of a node with several results -> GArray of new ids */
  GHashTable *refused; /* old ids whose value could not be made */
  GString *refusals;
  guint n_refusals;
  GPtrArray *list; /* (nullable): GantryRefusal: each reason once */
  GantryUses *uses;
  GArray *bodies;    /* guint32: ids of functions that core nodes name, to be written; each once */
  GHashTable *named; /* their ids */
} State;

static guint
result_count (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? MAX (type->rank, 1) : 1;
}

static gboolean
has_refused_operand (State *state, const GantryModule *module, const GantryNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (g_hash_table_contains (state->refused, GUINT_TO_POINTER (gantry_node_operand_id (module, node, i))))
      return TRUE;
  return FALSE;
}

void
gantry_refusal_free (GantryRefusal *refusal)
{
  if (refusal == NULL)
    return;
  g_free (refusal->why);
  g_free (refusal->where);
  g_free (refusal);
}

static void
list_refusal (GPtrArray *list, const char *why, const char *where)
{
  GantryRefusal *refusal = NULL;

  for (guint i = 0; i < list->len && refusal == NULL; i++)
    if (strcmp (((GantryRefusal *) g_ptr_array_index (list, i))->why, why) == 0)
      refusal = g_ptr_array_index (list, i);
  if (refusal == NULL && list->len < MAX_REASONS)
    {
      refusal = g_new0 (GantryRefusal, 1);
      refusal->why = g_strdup (why);
      refusal->where = g_strdup (where);
      g_ptr_array_add (list, refusal);
    }
  if (refusal != NULL)
    refusal->count++;
}

/* Notes the refusal and leaves the foreign node in place, so that the walk can go on and find the others. */
static void
refuse (State *state, GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, const char *why)
{
  g_autofree char *where = gantry_context_location_text (module->context, node->location);

  if (why != NULL && state->n_refusals++ < MAX_REFUSALS_SHOWN)
    g_string_append_printf (state->refusals, "%s%s (%s)", state->refusals->len > 0 ? "\n" : "", why, where);
  if (why != NULL && state->list != NULL)
    list_refusal (state->list, why, where);
  g_hash_table_add (state->refused, GUINT_TO_POINTER (node->id));
  gantry_rewriter_keep (rewriter, node);
}

static void
take_results (State *state, GantryRewriter *rewriter, const GantryNode *node, const guint32 *results, guint n)
{
  GArray *members;

  if (n == 1)
    gantry_builder_name_node (gantry_rewriter_builder (rewriter), results[0], node->name);
  gantry_rewriter_replace (rewriter, node, results[0]);
  members = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_vals (members, results, n);
  g_hash_table_insert (state->members, GUINT_TO_POINTER (node->id), members);
}

/* That a value has no type yet is refused where it is made, which is said there, and not again by each node that reads it; but a node
 * that nobody could compute in any case is named. */
static gboolean
is_consequence (State *state, const GantryModule *module, const GantryNode *node, const char *why)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (gantry_node_operand_type (module, node, i)->kind == GANTRY_TYPE_UNKNOWN
        && g_hash_table_contains (state->refused, GUINT_TO_POINTER (gantry_node_operand_id (module, node, i))))
      return strstr (why, GANTRY_DIALECT_NO_LOWERING) == NULL;
  return FALSE;
}

/* A text says what a node gives, and nobody but its operation knows whether that is so. */
static gboolean
check_types (GantryBuilder *builder, const GantryModule *module, const GantryNode *node, const guint32 *results, guint n, GError **error)
{
  const GantryType *type = gantry_node_type (module, node);

  for (guint i = 0; i < n; i++)
    {
      guint32 have = type->kind != GANTRY_TYPE_TUPLE ? node->type
                     : i < type->rank                ? (guint32) type->dims[i]
                                                     : 0,
              want = results[i] != 0 ? gantry_builder_type (builder, results[i]) : have;

      if (!gantry_type_fits (module->context, want, have))
        {
          g_autofree char *made = gantry_context_type_text (module->context, want), *said = gantry_context_type_text (module->context, have);

          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: it gives %s, but %s is written as its type", gantry_node_op_name (module, node),
                       made, said);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
lower (State *state, GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, GError **error)
{
  const GantryDialect *dialect = gantry_context_dialect_of (module->context, node->op);
  guint n = result_count (module, node);
  g_autofree guint32 *operands = g_new0 (guint32, node->n_operands + 1);
  g_autofree guint32 *results = g_new0 (guint32, n);
  g_autoptr (GError) refusal = NULL;
  GantryBuilder *builder = gantry_rewriter_builder (rewriter);

  /* A list names each operation for itself: what is refused before it has a type all the same. */
  if (state->list == NULL && has_refused_operand (state, module, node))
    {
      refuse (state, rewriter, module, node, NULL);
      return TRUE;
    }
  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i));
  if (dialect == NULL)
    g_set_error (&refusal, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: unknown operation", gantry_node_op_name (module, node));
  else if (dialect->lower (builder, module, node, operands, results, n, &refusal) && gantry_builder_check (builder, &refusal))
    check_types (builder, module, node, results, n, &refusal);
  else
    gantry_builder_check (builder, NULL);
  if (refusal != NULL)
    {
      if (!g_error_matches (refusal, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED))
        {
          g_propagate_error (error, g_steal_pointer (&refusal));
          return FALSE;
        }
      refuse (state, rewriter, module, node, is_consequence (state, module, node, refusal->message) ? NULL : refusal->message);
      return TRUE;
    }
  take_results (state, rewriter, node, results, n);
  return TRUE;
}

/* A `result` of a foreign node becomes the value that the lowering gave for that member. */
static gboolean
take_member (State *state, GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, GError **error)
{
  guint32 tuple = gantry_node_operand_id (module, node, 0);
  const GArray *members = g_hash_table_lookup (state->members, GUINT_TO_POINTER (tuple));
  gint64 index = gantry_attrs_int (module->context, node->attrs, "index", 0);
  guint32 id;

  if (members == NULL || index < 0 || index >= members->len || g_array_index (members, guint32, index) == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: its result %" G_GINT64_FORMAT " is not computed",
                   gantry_node_op_name (module, gantry_node_operand (module, node, 0)), index);
      return FALSE;
    }
  id = g_array_index (members, guint32, index);
  gantry_builder_name_node (gantry_rewriter_builder (rewriter), id, node->name);
  gantry_rewriter_replace (rewriter, node, id);
  return TRUE;
}

/* The bodies of core control flow come along. Those that foreign nodes name are written by the lowering of these. */
static void
name_bodies (State *state, const GantryModule *module, const GantryNode *node)
{
  const GantryAttrs *attrs = gantry_context_attrs (module->context, node->attrs);

  for (guint i = 0; i < attrs->n; i++)
    if (attrs->items[i].kind == GANTRY_ATTR_FUNCTION && g_hash_table_add (state->named, GUINT_TO_POINTER (attrs->items[i].id)))
      g_array_append_val (state->bodies, attrs->items[i].id);
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  State *state = user_data;
  guint32 position = gantry_module_position (module, node);

  if (node->op >= GANTRY_OP_FOREIGN)
    {
      /* What nobody reads needs no meaning: weights made only for an unused branch, for example. */
      if (state->uses->first[position + 1] == state->uses->first[position])
        {
          gantry_rewriter_erase (rewriter, node);
          return TRUE;
        }
      return lower (state, rewriter, module, node, error);
    }
  if (node->op == GANTRY_OP_RESULT && gantry_node_operand (module, node, 0)->op >= GANTRY_OP_FOREIGN && !has_refused_operand (state, module, node))
    {
      if (state->uses->first[position + 1] == state->uses->first[position])
        {
          gantry_rewriter_erase (rewriter, node);
          return TRUE;
        }
      return take_member (state, rewriter, module, node, error);
    }
  if (has_refused_operand (state, module, node))
    g_hash_table_add (state->refused, GUINT_TO_POINTER (node->id));
  name_bodies (state, module, node);
  gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

/* The entry, and the bodies that it needs. */
static gboolean
write_functions (State *state, GantryRewriter *rewriter, const GantryModule *module, const GantryProgress *progress, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);

  g_hash_table_add (state->named, GUINT_TO_POINTER (entry->id));
  if (!gantry_rewriter_run_function (rewriter, entry, visit, state, progress, error))
    return FALSE;
  for (guint i = 0; i < state->bodies->len; i++)
    {
      const GantryFunction *body = gantry_module_function (module, g_array_index (state->bodies, guint32, i));

      if (body != NULL && !gantry_rewriter_run_function (rewriter, body, visit, state, progress, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
has_foreign (const GantryModule *module)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op >= GANTRY_OP_FOREIGN)
      return TRUE;
  return FALSE;
}

/* @list: (nullable): gets the refusals; then what is refused stays in the module that is written, and is no error */
static GantryModule *
legalize (GantryModule *module, GPtrArray *list, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = NULL;
  State state = { .list = list };
  GantryModule *next = NULL;

  if (!has_foreign (module))
    return gantry_module_ref (module);
  rewriter = gantry_rewriter_new (module);
  gantry_fold_set_limit (gantry_rewriter_builder (rewriter), SHAPE_FOLD_ELEMENTS);
  state.members = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  state.refused = g_hash_table_new (NULL, NULL);
  state.refusals = g_string_new (NULL);
  state.uses = gantry_uses_new (module);
  state.bodies = g_array_new (FALSE, FALSE, sizeof (guint32));
  state.named = g_hash_table_new (NULL, NULL);
  if (write_functions (&state, rewriter, module, progress, error))
    {
      if (state.n_refusals > MAX_REFUSALS_SHOWN)
        g_string_append_printf (state.refusals, "\nand %u more", state.n_refusals - MAX_REFUSALS_SHOWN);
      if (state.n_refusals > 0 && list == NULL)
        g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, state.refusals->str);
      else
        next = gantry_rewriter_finish (rewriter, error);
    }
  gantry_uses_free (state.uses);
  g_array_unref (state.bodies);
  g_hash_table_unref (state.named);
  g_string_free (state.refusals, TRUE);
  g_hash_table_unref (state.refused);
  g_hash_table_unref (state.members);
  return next;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  return legalize (module, NULL, progress, error);
}

GPtrArray *
gantry_legalize_refusals (GantryModule *module, const GantryProgress *progress, GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_refusal_free);
  g_autoptr (GantryModule) core = legalize (module, list, progress, error);

  return core != NULL ? g_steal_pointer (&list) : NULL;
}

const GantryPass gantry_pass_legalize = {
  .name = "legalize",
  .title = "Legalize",
  .description = "Writes every imported operation in core operations.",
  .required = TRUE,
  .gives = GANTRY_PROPERTY_CORE,
  .run = run,
};
