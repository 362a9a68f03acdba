/* SPDX-License-Identifier: Apache-2.0 */
/* A node: what it is, where it comes from, what it reads and who reads it. */
#include "core/graph/operation.h"
#include "views/format.h"
#include "views/inspector/assignment-curve.h"
#include "views/inspector/inspector-private.h"
#include "views/shown-plan.h"
#include "views/source/source-index.h"
#include <math.h>

#define MOST_LINKS 16u
#define MOST_ELEMENTS 12u

/* Attributes */

static void
append_literal (GString *text, GantryContext *context, guint32 id)
{
  const GantryLiteral *literal = gantry_context_literal (context, id);
  g_autofree char *type = NULL, *bytes = NULL;
  gint64 n;

  if (literal == NULL)
    return;
  type = gantry_context_type_text (context, gantry_context_type_id (context, literal->type));
  bytes = gantry_format_type_bytes (literal->type);
  n = gantry_type_elements (literal->type);
  g_string_append_printf (text, "%s, %s%s", type, bytes != NULL ? bytes : "?", literal->splat ? ", all equal to " : ":");
  if (!gantry_element_is_compiled (literal->type->element))
    return;
  for (gint64 i = 0; i < MIN (literal->splat ? 1 : n, MOST_ELEMENTS); i++)
    g_string_append_printf (text, " %.6g", gantry_literal_get_double (literal, i));
  if (!literal->splat && n > MOST_ELEMENTS)
    g_string_append (text, " …");
}

static void
append_list (GString *text, GantryContext *context, const GantryAttr *attr)
{
  g_string_append_c (text, '[');
  for (guint64 i = 0; i < MIN (attr->n, MOST_ELEMENTS); i++)
    {
      g_string_append (text, i > 0 ? ", " : "");
      if (attr->kind == GANTRY_ATTR_INTS)
        g_string_append_printf (text, "%" G_GINT64_FORMAT, attr->ints[i]);
      else if (attr->kind == GANTRY_ATTR_FLOATS)
        g_string_append_printf (text, "%.6g", attr->floats[i]);
      else
        g_string_append (text, gantry_context_string (context, attr->ids[i]));
    }
  if (attr->n > MOST_ELEMENTS)
    g_string_append_printf (text, ", … (%" G_GUINT64_FORMAT ")", attr->n);
  g_string_append_c (text, ']');
}

static char *
attr_text (const GantryModule *module, const GantryAttr *attr)
{
  GantryContext *context = module->context;
  GString *text = g_string_new (NULL);
  const GantryFunction *function;

  switch ((GantryAttrKind) attr->kind)
    {
    case GANTRY_ATTR_INT: g_string_append_printf (text, "%" G_GINT64_FORMAT, attr->i); break;
    case GANTRY_ATTR_FLOAT: g_string_append_printf (text, "%.9g", attr->f); break;
    case GANTRY_ATTR_STRING: g_string_append (text, gantry_context_string (context, attr->id)); break;
    case GANTRY_ATTR_INTS:
    case GANTRY_ATTR_FLOATS:
    case GANTRY_ATTR_STRINGS: append_list (text, context, attr); break;
    case GANTRY_ATTR_TYPE:
      {
        g_autofree char *type = gantry_context_type_text (context, attr->id);

        g_string_append (text, type);
        break;
      }
    case GANTRY_ATTR_LITERAL: append_literal (text, context, attr->id); break;
    case GANTRY_ATTR_FUNCTION:
      function = gantry_module_function (module, attr->id);
      if (function != NULL)
        g_string_append_printf (text, "function %s of %u nodes", gantry_context_string (context, function->name), function->n_nodes - function->n_params);
      break;
    }
  return g_string_free (text, FALSE);
}

static void
show_attributes (GantryRows *rows, const GantryModule *module, const GantryNode *node)
{
  const GantryAttrs *attrs = gantry_context_attrs (module->context, node->attrs);

  if (attrs->n == 0)
    return;
  gantry_rows_section (rows, "Attributes");
  for (guint32 i = 0; i < attrs->n; i++)
    gantry_rows_take (rows, gantry_context_string (module->context, attrs->items[i].key), attr_text (module, &attrs->items[i]));
}

/* What is inside a fusion, in program order. */
static void
show_body (GantryRows *rows, const GantryModule *module, const GantryNode *node, guint snapshot)
{
  const GantryFunction *function = gantry_node_fusion_body (module, node);
  guint shown = 0;

  if (function == NULL)
    return;
  gantry_rows_section (rows, "Fused");
  for (guint32 i = function->n_params; i < function->n_nodes && shown < MOST_LINKS; i++, shown++)
    gantry_rows_link (rows, shown == 0 ? "operations" : NULL, module, snapshot, module->nodes[function->first_node + i].id);
}

/* Neighbours */

static void
note_more (GantryRows *rows, guint n)
{
  g_autofree char *text = NULL;

  if (n <= MOST_LINKS)
    return;
  text = g_strdup_printf ("and %u more", n - MOST_LINKS);
  gantry_rows_text (rows, "", text);
}

static void
show_neighbours (GantryRows *rows, const GantryModule *module, const GantryNode *node, guint snapshot)
{
  const GantryFunction *function = gantry_module_function_of (module, node);
  guint32 n_users = 0;

  gantry_rows_section (rows, "Operands and users");
  for (guint i = 0; i < MIN (node->n_operands, MOST_LINKS); i++)
    gantry_rows_link (rows, i == 0 ? "reads" : NULL, module, snapshot, gantry_node_operand_id (module, node, i));
  note_more (rows, node->n_operands);
  if (node->n_operands == 0)
    gantry_rows_text (rows, "reads", "nothing");
  for (guint32 i = function != NULL ? function->first_node : 0; i < module->n_nodes; i++)
    {
      const GantryNode *user = &module->nodes[i];
      gboolean uses = FALSE;

      for (guint j = 0; j < user->n_operands && !uses; j++)
        uses = gantry_node_operand_id (module, user, j) == node->id;
      if (!uses)
        continue;
      if (n_users < MOST_LINKS)
        gantry_rows_link (rows, n_users == 0 ? "read by" : NULL, module, snapshot, user->id);
      n_users++;
    }
  note_more (rows, n_users);
  for (guint i = 0; function != NULL && i < function->n_results; i++)
    if (gantry_function_result_id (module, function, i) == node->id)
      {
        g_autofree char *text = g_strdup_printf ("result %u of the program", i);

        gantry_rows_text (rows, n_users++ == 0 ? "read by" : "", text);
      }
  if (n_users == 0)
    gantry_rows_text (rows, "read by", "nothing");
}

/* Through the passes */

static gboolean
same_ids (const GArray *a, const GArray *b)
{
  return a->len == b->len && (a->len == 0 || memcmp (a->data, b->data, a->len * sizeof (guint32)) == 0);
}

static void
show_step (GantryRows *rows, const GantryCompilation *compilation, const char *title, const GArray *ids, guint snapshot)
{
  if (ids->len == 0)
    gantry_rows_text (rows, title, "nothing: removed");
  for (guint i = 0; i < MIN (ids->len, MOST_LINKS); i++)
    gantry_rows_link (rows, i == 0 ? title : NULL, compilation->snapshots[snapshot].module, snapshot, g_array_index (ids, guint32, i));
  note_more (rows, ids->len);
}

/* Back to the import, then on to the last pass; only the passes that changed something of it. */
static void
show_passes (GantryRows *rows, const GantryInspected *what, guint32 id)
{
  const GantryCompilation *compilation = what->compilation;
  GArray *before = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n = 0;

  g_array_append_val (before, id);
  gantry_rows_section (rows, "Through the passes");
  for (guint k = what->snapshot; k-- > 0;)
    {
      GArray *ids = gantry_compilation_follow (compilation, what->snapshot, id, k);

      if (!same_ids (ids, before))
        {
          g_autofree char *key = g_strdup_printf ("before %s", compilation->snapshots[k + 1].title);

          if (ids->len > 0)
            show_step (rows, compilation, key, ids, k);
          else
            gantry_rows_take (rows, "made by", g_strdup (compilation->snapshots[k + 1].title));
          n++;
        }
      g_array_unref (before);
      before = ids;
      if (ids->len == 0)
        break;
    }
  g_array_set_size (before, 0);
  g_array_append_val (before, id);
  for (guint k = what->snapshot + 1; k < compilation->n_snapshots; k++)
    {
      GArray *ids = gantry_compilation_follow (compilation, what->snapshot, id, k);

      if (!same_ids (ids, before))
        {
          g_autofree char *key = g_strdup_printf ("after %s", compilation->snapshots[k].title);

          show_step (rows, compilation, key, ids, k);
          n++;
        }
      g_array_unref (before);
      before = ids;
      if (ids->len == 0)
        break;
    }
  g_array_unref (before);
  if (n == 0)
    gantry_rows_note (rows, "No pass changes it.");
}

guint32
_gantry_inspect_last (const GantryCompilation *compilation, guint snapshot, guint32 id)
{
  guint last = compilation->n_snapshots - 1;
  g_autoptr (GArray) ids = NULL;

  if (snapshot == last)
    return id;
  ids = gantry_compilation_follow (compilation, snapshot, id, last);
  /* Of several the one that does the work, which comes after what it reads; not what is inside a fusion. */
  for (guint i = ids->len; i-- > 0;)
    {
      const GantryModule *module = compilation->snapshots[last].module;
      const GantryNode *node = gantry_module_node (module, g_array_index (ids, guint32, i));

      if (node != NULL && gantry_module_function_of (module, node) == gantry_module_entry (module))
        return node->id;
    }
  return 0;
}

#define MOST_STEPS 8

/* What led to where it was written: calls, trips, gradients. */
static void
show_chain (GantryRows *rows, const GantryModel *model, const GantryModule *module, const GantryNode *node)
{
  g_autofree char *chain = gantry_context_location_chain (module->context, node->location, MOST_STEPS);
  g_auto (GStrv) steps = chain != NULL ? g_strsplit (chain, "\n", -1) : NULL;

  for (guint i = 0; steps != NULL && steps[i] != NULL; i++)
    {
      g_autofree char *shown = gantry_format_location (steps[i], model->path);

      gantry_rows_text (rows, i == 0 ? "led there" : "", shown);
    }
}

static void
show_facts (GantryRows *rows, const GantryModel *model, const GantryModule *module, const GantryNode *node)
{
  g_autofree char *type = gantry_context_type_text (module->context, node->type);
  g_autofree char *location = gantry_context_location_text (module->context, node->location), *source = NULL;
  gint64 flops = gantry_node_flops (module, node), traffic = gantry_node_bytes (module, node);

  gantry_rows_section (rows, NULL);
  gantry_rows_mono (rows, "type", type);
  gantry_rows_take (rows, "bytes", gantry_format_type_bytes (gantry_node_type (module, node)));
  if (flops > 0)
    {
      g_autofree char *count = gantry_format_count ((double) flops);

      gantry_rows_take (rows, "work", g_strdup_printf ("%s%sFLOP", count, flops < 1000 ? " " : ""));
    }
  if (traffic > 0)
    {
      g_autofree char *bytes = gantry_format_bytes ((guint64) traffic);

      gantry_rows_take (rows, "traffic", g_strdup_printf ("%s read and written", bytes));
      if (flops > 0)
        gantry_rows_take (rows, "intensity", g_strdup_printf ("%.2f FLOP a byte", (double) flops / (double) traffic));
    }
  gantry_rows_text (rows, "scope", gantry_context_scope_path (module->context, node->scope));
  source = gantry_format_location (location, model->path);
  if (gantry_source_place (module, node) != NULL)
    gantry_rows_action (rows, "source", source, "Show it on the source page (Ctrl+U)", "win.go-to-source");
  else
    gantry_rows_text (rows, "source", source);
  show_chain (rows, model, module, node);
}

void
_gantry_inspect_node (GantryRows *rows, const GantryInspected *what, guint32 id)
{
  const GantryModule *module = what->compilation->snapshots[what->snapshot].module;
  const GantryNode *node = gantry_module_node (module, id);
  g_autofree char *label = NULL;
  guint32 last;

  if (node == NULL)
    return;
  label = gantry_node_label (module, node);
  gantry_rows_title (rows, gantry_node_op_name (module, node), label);
  _gantry_inspect_placement (rows, what, &id, 1);
  show_facts (rows, what->compilation->model, module, node);
  show_attributes (rows, module, node);
  show_body (rows, module, node, what->snapshot);
  show_neighbours (rows, module, node, what->snapshot);
  show_passes (rows, what, id);
  last = _gantry_inspect_last (what->compilation, what->snapshot, id);
  if (last != 0)
    _gantry_inspect_plan (rows, what, last);
}

/* Several */

typedef struct
{
  const char *name;
  guint n;
} Count;

static int
compare_counts (gconstpointer a, gconstpointer b)
{
  const Count *x = a, *y = b;

  return x->n != y->n ? (x->n > y->n ? -1 : 1) : g_strcmp0 (x->name, y->name);
}

static void
show_counts (GantryRows *rows, GHashTable *names)
{
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (Count));
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, names);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      Count count = { key, GPOINTER_TO_UINT (value) };

      g_array_append_val (counts, count);
    }
  g_array_sort (counts, compare_counts);
  gantry_rows_section (rows, "Operations");
  for (guint i = 0; i < MIN (counts->len, MOST_LINKS); i++)
    {
      const Count *count = &g_array_index (counts, Count, i);

      gantry_rows_take (rows, count->name, gantry_format_integer (count->n));
    }
  note_more (rows, counts->len);
}

void
_gantry_inspect_many (GantryRows *rows, const GantryInspected *what, GHashTable *ids)
{
  const GantryModule *module = what->compilation->snapshots[what->snapshot].module;
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree char *title = gantry_format_plural (g_hash_table_size (ids), "node", "nodes");
  guint64 bytes = 0;
  double flops = 0;
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, ids);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      const GantryNode *node = gantry_module_node (module, GPOINTER_TO_UINT (key));
      const char *name;
      gint64 own;

      if (node == NULL)
        continue;
      name = gantry_node_op_name (module, node);
      g_hash_table_insert (names, (gpointer) name, GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (names, name)) + 1));
      own = gantry_type_is_tensor (gantry_node_type (module, node)) ? gantry_type_bytes (gantry_node_type (module, node)) : 0;
      bytes += (guint64) MAX (own, 0);
      flops += (double) MAX (gantry_node_flops (module, node), 0);
    }
  gantry_rows_title (rows, title, "selected together");
  gantry_rows_section (rows, NULL);
  gantry_rows_take (rows, "values", gantry_format_bytes (bytes));
  if (flops > 0)
    {
      g_autofree char *count = gantry_format_count (flops);

      gantry_rows_take (rows, "work", g_strdup_printf ("%sFLOP", count));
    }
  {
    g_autofree guint32 *nodes = g_new (guint32, g_hash_table_size (ids) + 1);
    guint n = 0;

    g_hash_table_iter_init (&iter, ids);
    while (g_hash_table_iter_next (&iter, &key, NULL))
      nodes[n++] = GPOINTER_TO_UINT (key);
    _gantry_inspect_placement (rows, what, nodes, n);
  }
  show_counts (rows, names);
}

/* The parts of memory at the peak, which sum to it. */
static void
add_memory (GantryRows *rows, const GantryInspected *what, const GantryPlan *plan)
{
  GantryMemoryParts parts;
  gboolean sizes_known;

  if (!gantry_shown_parts (what->document, &parts, &sizes_known))
    return;
  gantry_rows_take (rows, "peak", gantry_shown_peak_text (what->document));
  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    if (parts.bytes[i] > 0)
      gantry_rows_take (rows, gantry_memory_part_name ((GantryMemoryPart) i), gantry_format_bytes (parts.bytes[i]));
  if (!sizes_known)
    gantry_rows_take (rows, "not known yet", g_strdup (GANTRY_MEMORY_PARTS_OF_KERNELS));
  gantry_rows_take (rows, "lower bound", gantry_format_bytes (gantry_plan_least_bytes (plan)));
}

/* Of a dump: what XLA planned. */
static void
add_assignment (GantryRows *rows, const GantryXlaAssignment *assignment)
{
  if (assignment == NULL)
    return;
  gantry_rows_section (rows, "XLA's plan, not measured");
  if (assignment->live_bytes != NULL)
    {
      gantry_rows_take (rows, "alive at most", gantry_format_bytes (assignment->live_bytes[assignment->peak_step]));
      gantry_rows_mono (rows, "at", g_ptr_array_index (assignment->steps, assignment->peak_step));
      gantry_rows_widget (rows, gantry_assignment_curve_new (assignment));
    }
  gantry_rows_take (rows, "allocations", gantry_format_bytes (assignment->total_bytes));
  for (guint i = 0; i < GANTRY_XLA_N_ALLOCATIONS; i++)
    if (assignment->bytes[i] > 0)
      gantry_rows_take (rows, gantry_xla_allocation_kind_name (i), gantry_format_bytes (assignment->bytes[i]));
}

/* Nothing selected: the model */

void
_gantry_inspect_model (GantryRows *rows, const GantryInspected *what)
{
  const GantryModel *model = what->compilation->model;
  const GantryModule *module = gantry_compilation_imported (what->compilation);
  const GantryFunction *entry = gantry_module_entry (module);
  const GantryPlan *plan = gantry_shown_plan (what->document);
  g_autofree char *name = g_path_get_basename (model->path), *steps = NULL, *loaded = NULL;

  gantry_rows_title (rows, name, "Select a node to see all that is known of it.");
  gantry_rows_section (rows, "Model");
  gantry_rows_text (rows, "format", model->format);
  gantry_rows_text (rows, "graph", model->bindings->entry);
  gantry_rows_text (rows, "producer", model->producer);
  gantry_rows_text (rows, "opset", model->opset);
  gantry_rows_take (rows, "file", gantry_format_bytes (model->file_bytes));
  gantry_rows_take (rows, "nodes", gantry_format_integer (model->n_nodes));
  gantry_rows_take (rows, "initializers", gantry_format_integer (model->n_initializers));
  gantry_rows_take (rows, "weights", gantry_format_bytes (model->initializer_bytes));
  for (guint i = 0; i < model->bindings->n_dims; i++)
    gantry_rows_take (rows, model->bindings->dims[i].name, g_strdup_printf ("%" G_GINT64_FORMAT, model->bindings->dims[i].size));
  for (guint i = 0; i < model->bindings->n_inputs; i++)
    {
      g_autofree char *value = gantry_input_value_label (model->bindings->inputs[i].value);

      gantry_rows_mono (rows, model->bindings->inputs[i].name, value);
    }
  gantry_rows_section (rows, "Inputs");
  for (guint i = 0; i < MIN (model->n_inputs, MOST_LINKS); i++)
    gantry_rows_mono (rows, model->inputs[i].name, model->inputs[i].type);
  note_more (rows, model->n_inputs);
  gantry_rows_section (rows, "Outputs");
  for (guint i = 0; i < MIN (model->n_outputs, MOST_LINKS); i++)
    gantry_rows_mono (rows, model->outputs[i].name, model->outputs[i].type);
  note_more (rows, model->n_outputs);
  gantry_rows_section (rows, "Go to");
  for (guint i = 0; i < MIN (entry->n_params, 4); i++)
    gantry_rows_link (rows, i == 0 ? "inputs" : NULL, module, 0, module->nodes[entry->first_node + i].id);
  for (guint i = 0; i < MIN (entry->n_results, 4); i++)
    gantry_rows_link (rows, i == 0 ? "results" : NULL, module, 0, gantry_function_result_id (module, entry, i));
  add_assignment (rows, model->assignment);
  if (plan == NULL)
    return;
  steps = gantry_format_integer (plan->n_steps - plan->n_init_steps);
  loaded = gantry_format_integer (plan->n_init_steps);
  gantry_rows_section (rows, "Plan");
  add_memory (rows, what, plan);
  gantry_rows_take (rows, "steps", g_strdup_printf ("%s, and %s at load", steps, loaded));
}
