/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the scan that a run of blocks becomes: its body, the stacks that it cuts, and what is read of it later. */
#include "core/passes/block-table-private.h"
#include "core/passes/roll-private.h"
#include <string.h>

static guint32
common_scope (const GantryRoll *state, const GantryRollPlan *plan)
{
  GantryContext *context = state->module->context;
  const char *first = gantry_context_scope_path (context, _gantry_roll_node (state, &plan->run, 0, 0)->scope);
  gsize n = strlen (first);
  g_autofree char *path = NULL;

  for (guint32 i = 0; i < plan->run.period * plan->run.n_blocks && n > 0; i++)
    {
      const char *other = gantry_context_scope_path (context, _gantry_sequence_node (&state->sequence, plan->run.base + i)->scope);

      while (n > 0 && (strncmp (first, other, n) != 0 || (other[n] != '\0' && other[n] != '/')))
        while (n > 0 && first[--n] != '/')
          ;
    }
  path = g_strndup (first, n);
  return gantry_context_scope (context, path);
}

/* Where nodes stand that belong to the whole run. */
static void
set_run_place (const GantryRoll *state, const GantryRollPlan *plan, GantryBuilder *b)
{
  gantry_builder_set_place (b, plan->scope, _gantry_roll_node (state, &plan->run, 0, 0)->location);
  gantry_builder_set_phase (b, plan->phase);
}

/* The last nodes of the blocks as origins; of few nodes only, for there may be many blocks. */
static void
set_run_origins (const GantryRoll *state, const GantryRollPlan *plan, GantryBuilder *b)
{
  g_autofree guint32 *lasts = g_new (guint32, plan->run.n_blocks);

  for (guint32 block = 0; block < plan->run.n_blocks; block++)
    lasts[block] = _gantry_roll_node (state, &plan->run, block, plan->run.period - 1)->id;
  gantry_builder_set_origins (b, lasts, plan->run.n_blocks);
}

static guint32
body_parameter (const GantryRoll *state, GantryBuilder *b, const guint32 *ids, guint n)
{
  gantry_builder_set_origins (b, ids, n);
  return gantry_builder_parameter (b, gantry_module_node (state->module, ids[0])->type, NULL);
}

static const guint32 *
x_ids (const GantryRollPlan *plan, guint x)
{
  return g_bytes_get_data (g_ptr_array_index (plan->xs, x), NULL);
}

/* The parameters of the body and its constants: new ids in the order carries, xs, captures, constants. */
static guint32 *
write_body_inputs (const GantryRoll *state, const GantryRollPlan *plan, GantryRewriter *rewriter)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  guint n_carries = plan->carries->len, n_xs = plan->xs->len, n_captures = plan->captures->len;
  guint32 *inputs = g_new (guint32, n_carries + n_xs + n_captures + plan->constants->len + 1), *next = inputs;

  for (guint c = 0; c < n_carries; c++)
    *next++ = body_parameter (state, b, &g_array_index (plan->carries, GantryRollCarry, c).first, 1);
  for (guint x = 0; x < n_xs; x++)
    *next++ = body_parameter (state, b, x_ids (plan, x), plan->run.n_blocks);
  for (guint c = 0; c < n_captures; c++)
    *next++ = body_parameter (state, b, &g_array_index (plan->captures, guint32, c), 1);
  for (guint c = 0; c < plan->constants->len; c++)
    {
      const GantryNode *constant = gantry_module_node (state->module, g_array_index (plan->constants, guint32, c));

      gantry_builder_set_place_of (b, constant);
      gantry_builder_set_origins (b, &constant->id, 1);
      gantry_builder_set_name (b, constant->name);
      *next++ = gantry_builder_add_typed (b, GANTRY_OP_CONSTANT, NULL, 0, constant->attrs, constant->type);
    }
  return inputs;
}

static void
write_body_nodes (const GantryRoll *state, const GantryRollPlan *plan, GantryRewriter *rewriter, const guint32 *inputs)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  const guint first[] = { [GANTRY_ROLL_FROM_CARRY] = 0,
                          [GANTRY_ROLL_FROM_X] = plan->carries->len,
                          [GANTRY_ROLL_FROM_CAPTURE] = plan->carries->len + plan->xs->len,
                          [GANTRY_ROLL_FROM_CONSTANT] = plan->carries->len + plan->xs->len + plan->captures->len };
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *origins = g_new (guint32, plan->run.n_blocks);
  guint slot = 0;

  for (guint32 j = 0; j < plan->run.period; j++)
    {
      const GantryNode *node = _gantry_roll_node (state, &plan->run, 0, j);

      g_array_set_size (operands, 0);
      for (guint i = 0; i < node->n_operands; i++)
        {
          GantryRollSource source = g_array_index (plan->sources, GantryRollSource, slot++);
          guint32 id = source.kind == GANTRY_ROLL_FROM_NODE ? plan->body[source.index] : inputs[first[source.kind] + source.index];

          g_array_append_val (operands, id);
        }
      for (guint32 block = 0; block < plan->run.n_blocks; block++)
        origins[block] = _gantry_roll_node (state, &plan->run, block, j)->id;
      gantry_builder_set_place_of (b, node);
      gantry_builder_set_origins (b, origins, plan->run.n_blocks);
      gantry_builder_set_name (b, node->name);
      plan->body[j] = gantry_builder_add_typed (b, node->op, (const guint32 *) (gpointer) operands->data, operands->len, node->attrs, node->type);
      for (guint32 block = 0; block < plan->run.n_blocks; block++)
        gantry_rewriter_replace (rewriter, _gantry_roll_node (state, &plan->run, block, j), plan->body[j]);
    }
}

static guint32
write_body (const GantryRoll *state, const GantryRollPlan *plan, GantryRewriter *rewriter)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  guint32 id = gantry_builder_begin (b, "block", 0);
  g_autofree guint32 *inputs = write_body_inputs (state, plan, rewriter);
  g_autofree guint32 *results = g_new (guint32, plan->carries->len + plan->y_nodes->len + 1);
  guint n = 0;

  write_body_nodes (state, plan, rewriter, inputs);
  for (guint c = 0; c < plan->carries->len; c++)
    results[n++] = plan->body[g_array_index (plan->carries, GantryRollCarry, c).at];
  for (guint y = 0; y < plan->y_nodes->len; y++)
    results[n++] = plan->body[g_array_index (plan->y_nodes, guint32, y)];
  gantry_builder_end (b, results, n);
  return id;
}

/* Notes what the blocks are called: @of gives the text of a node. */
static void
note_texts (const GantryRoll *state, const GantryRollPlan *plan, GantryAttrList *attrs, const char *key,
            const char *(*of) (GantryContext *context, const GantryNode *node))
{
  GantryContext *context = state->module->context;
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) which = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree const char **texts = NULL;
  gsize n = 0;

  for (guint32 j = 0; j < plan->run.period; j++)
    {
      const char *text = of (context, _gantry_roll_node (state, &plan->run, 0, j));

      if (text != NULL && g_hash_table_add (seen, GUINT_TO_POINTER (gantry_context_intern (context, text) + 1)))
        g_array_append_val (which, j);
    }
  texts = g_new (const char *, (gsize) which->len * plan->run.n_blocks + 1);
  for (guint32 block = 0; block < plan->run.n_blocks; block++)
    for (guint i = 0; i < which->len; i++)
      {
        const char *text = of (context, _gantry_roll_node (state, &plan->run, block, g_array_index (which, guint32, i)));

        texts[n++] = text != NULL ? text : "";
      }
  gantry_attr_list_set_strings (attrs, key, texts, n);
}

static const char *
scope_text (GantryContext *context, const GantryNode *node)
{
  return gantry_context_scope_path (context, node->scope);
}

static const char *
name_text (GantryContext *context, const GantryNode *node)
{
  return node->name != 0 ? gantry_context_string (context, node->name) : NULL;
}

static const char *
location_text (GantryContext *context, const GantryNode *node)
{
  return _gantry_block_location_text (context, node->location);
}

static guint32
scan_attrs (const GantryRoll *state, const GantryRollPlan *plan, guint32 body)
{
  GantryAttrList *attrs = gantry_attr_list_new (state->module->context);
  g_autofree gint64 *zeros = g_new0 (gint64, plan->xs->len + plan->y_nodes->len + 1);

  gantry_attr_list_set_function (attrs, "body", body);
  gantry_attr_list_set_int (attrs, "length", plan->run.n_blocks);
  gantry_attr_list_set_int (attrs, "n_carries", plan->carries->len);
  gantry_attr_list_set_int (attrs, "n_xs", plan->xs->len);
  gantry_attr_list_set_ints (attrs, "axes", zeros, plan->xs->len);
  gantry_attr_list_set_ints (attrs, "y_axes", zeros, plan->y_nodes->len);
  note_texts (state, plan, attrs, GANTRY_BLOCK_SCOPES, scope_text);
  note_texts (state, plan, attrs, GANTRY_BLOCK_NAMES, name_text);
  note_texts (state, plan, attrs, GANTRY_BLOCK_LOCATIONS, location_text);
  return gantry_attr_list_end (attrs);
}

static guint32
write_stack (const GantryRoll *state, const GantryRollPlan *plan, GantryRewriter *rewriter, guint x)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  const guint32 *ids = x_ids (plan, x);
  const GantryType *type = gantry_node_type (state->module, gantry_module_node (state->module, ids[0]));
  g_autofree guint32 *pieces = g_new (guint32, plan->run.n_blocks);
  GantryDim dims[GANTRY_MAX_RANK] = { 1 };

  memcpy (dims + 1, type->dims, type->rank * sizeof *dims);
  for (guint32 block = 0; block < plan->run.n_blocks; block++)
    {
      gantry_builder_set_origins (b, &ids[block], 1);
      pieces[block] = gantry_builder_reshape (b, gantry_rewriter_map (rewriter, ids[block]), type->rank + 1, dims);
    }
  gantry_builder_set_origins (b, ids, plan->run.n_blocks);
  return gantry_builder_concatenate (b, pieces, plan->run.n_blocks, 0);
}

static guint32
write_scan (const GantryRoll *state, const GantryRollPlan *plan, GantryRewriter *rewriter)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 body, id;

  set_run_place (state, plan, b);
  body = write_body (state, plan, rewriter);
  set_run_place (state, plan, b);
  for (guint c = 0; c < plan->carries->len; c++)
    {
      id = gantry_rewriter_map (rewriter, g_array_index (plan->carries, GantryRollCarry, c).first);
      g_array_append_val (operands, id);
    }
  for (guint x = 0; x < plan->xs->len; x++)
    {
      id = write_stack (state, plan, rewriter, x);
      g_array_append_val (operands, id);
    }
  for (guint c = 0; c < plan->captures->len; c++)
    {
      id = gantry_rewriter_map (rewriter, g_array_index (plan->captures, guint32, c));
      g_array_append_val (operands, id);
    }
  set_run_origins (state, plan, b);
  return gantry_builder_add (b, GANTRY_OP_SCAN, (const guint32 *) (gpointer) operands->data, operands->len, scan_attrs (state, plan, body));
}

/* Slice @block of a stacked y, as the value of @node. */
static guint32
write_slice (const GantryRoll *state, GantryBuilder *b, const GantryNode *node, guint32 stack, guint32 block)
{
  const GantryType *type = gantry_node_type (state->module, node);
  gint64 start[GANTRY_MAX_RANK] = { block }, limit[GANTRY_MAX_RANK] = { (gint64) block + 1 }, stride[GANTRY_MAX_RANK];

  for (guint d = 0; d < type->rank; d++)
    limit[d + 1] = type->dims[d];
  for (guint d = 0; d <= type->rank; d++)
    stride[d] = 1;
  gantry_builder_set_place_of (b, node);
  gantry_builder_set_origins (b, &node->id, 1);
  return gantry_builder_reshape (b, gantry_builder_slice (b, stack, start, limit, stride), type->rank, type->dims);
}

/* What is read after the run takes its value from the scan. */
static void
write_results (const GantryRoll *state, const GantryRollPlan *plan, GantryRewriter *rewriter, guint32 scan)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  guint n_carries = plan->carries->len, n = n_carries + plan->y_nodes->len;
  guint32 last = plan->run.n_blocks - 1;

  for (guint32 j = 0; j < plan->run.period; j++)
    {
      guint32 stack = 0;

      for (guint32 block = 0; block <= last; block++)
        {
          const GantryNode *node = _gantry_roll_node (state, &plan->run, block, j);
          guint32 carry = block == last ? plan->carried[j] : 0, value;

          if ((plan->ys[j] == 0 && carry == 0) || !_gantry_roll_is_read_later (state, &plan->run, block, j))
            continue;
          set_run_place (state, plan, b);
          gantry_builder_set_origins (b, &node->id, 1);
          if (carry != 0)
            value = n == 1 ? scan : gantry_builder_result (b, scan, carry - 1);
          else
            {
              if (stack == 0)
                stack = gantry_builder_result (b, scan, n_carries + plan->ys[j] - 1);
              value = write_slice (state, b, node, stack, block);
            }
          gantry_builder_name_node (b, value, node->name);
          gantry_rewriter_replace (rewriter, node, value);
        }
    }
}

void
_gantry_roll_write (const GantryRoll *state, GantryRollPlan *plan, GantryRewriter *rewriter)
{
  plan->scope = common_scope (state, plan);
  plan->phase = (GantryPhase) _gantry_roll_node (state, &plan->run, 0, 0)->phase;
  for (guint32 j = 0; j < plan->run.period; j++)
    plan->phase = MIN (plan->phase, (GantryPhase) _gantry_roll_node (state, &plan->run, 0, j)->phase);
  write_results (state, plan, rewriter, write_scan (state, plan, rewriter));
}
