/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a failing program small: by delta debugging (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing
 * Input, IEEE TSE 28(2), 2002) over a program's results, nodes, sizes and attributes. Each candidate runs in a process
 * of its own, for it may end it. */
#include "tests/differential/shrink.h"
#include "core/graph/operation.h"
#include "tests/differential/edit.h"
#include <string.h>

/* A program whose attempts take long stays larger. */
#define MOST_MINUTES 1

typedef struct
{
  DiffFinding *finding;
  DiffOutcome outcome;
  guint n_attempts;
  gint64 until; /* monotonic time */
} Shrinker;

static DiffOutcome
attempt (Shrinker *s, GantryModule *module, const DiffConfig *config)
{
  if (g_get_monotonic_time () > s->until)
    return DIFF_SAME;
  s->n_attempts++;
  return diff_attempt (module, s->finding->seed, config, NULL);
}

/* Takes @candidate where it fails as the program does. */
static gboolean
try_module (Shrinker *s, GantryModule *candidate)
{
  g_autoptr (GantryModule) module = candidate;

  if (module == NULL || attempt (s, module, &s->finding->config) != s->outcome)
    return FALSE;
  gantry_module_unref (s->finding->module);
  s->finding->module = g_steal_pointer (&module);
  return TRUE;
}

/* Edits of the program at hand */

static const GantryFunction *
entry_of (const Shrinker *s)
{
  return gantry_module_entry (s->finding->module);
}

static const GantryNode *
node_at (const Shrinker *s, guint32 i)
{
  return &s->finding->module->nodes[entry_of (s)->first_node + i];
}

static DiffEdit *
no_edits (const Shrinker *s)
{
  return g_new0 (DiffEdit, entry_of (s)->n_nodes + 1);
}

static gboolean
try_edits (Shrinker *s, const DiffEdit *edits)
{
  GantryModule *module = s->finding->module;

  return try_module (s, diff_edit (module, edits, module->operands + entry_of (s)->results, entry_of (s)->n_results));
}

static gboolean
try_results (Shrinker *s, const guint32 *results, guint n)
{
  g_autofree DiffEdit *edits = no_edits (s);

  return try_module (s, diff_edit (s->finding->module, edits, results, n));
}

/* One result, or one less. */
static gboolean
shrink_results (Shrinker *s)
{
  GantryModule *module = s->finding->module;
  guint n = entry_of (s)->n_results;
  g_autofree guint32 *results = g_memdup2 (module->operands + entry_of (s)->results, n * sizeof *results);

  for (guint i = 0; n > 1 && i < n; i++)
    if (try_results (s, &results[i], 1))
      return TRUE;
  for (guint i = 0; n > 2 && i < n; i++)
    {
      g_autofree guint32 *less = g_memdup2 (results, n * sizeof *results);

      memmove (less + i, less + i + 1, (n - i - 1) * sizeof *less);
      if (try_results (s, less, n - 1))
        return TRUE;
    }
  return FALSE;
}

/* The first value that is wrong by itself in the results' stead: what is behind the fault goes. */
static gboolean
shrink_tail (Shrinker *s)
{
  const GantryModule *module = s->finding->module;

  for (guint32 i = entry_of (s)->n_params; i < entry_of (s)->n_nodes; i++)
    {
      guint32 id = node_at (s, i)->id;

      if (gantry_node_type (module, node_at (s, i))->kind == GANTRY_TYPE_TENSOR
          && (entry_of (s)->n_results > 1 || gantry_function_result_id (module, entry_of (s), 0) != id) && try_results (s, &id, 1))
        return TRUE;
    }
  return FALSE;
}

static gboolean
may_be_parameter (const Shrinker *s, guint32 i)
{
  const GantryNode *node = node_at (s, i);

  return node->op != GANTRY_OP_PARAMETER && gantry_type_is_tensor (gantry_node_type (s->finding->module, node));
}

/* All of the first nodes become parameters. */
static gboolean
shrink_front (Shrinker *s)
{
  for (guint32 n = entry_of (s)->n_nodes * 7 / 8; n > entry_of (s)->n_params; n = n * 3 / 4)
    {
      g_autofree DiffEdit *edits = no_edits (s);

      for (guint32 i = 0; i < n; i++)
        if (may_be_parameter (s, i) && node_at (s, i)->op != GANTRY_OP_CONSTANT)
          edits[i].kind = DIFF_EDIT_PARAMETER;
      if (try_edits (s, edits))
        return TRUE;
    }
  return FALSE;
}

/* An operand of its type in a node's stead. */
static gboolean
try_operand (Shrinker *s, guint32 i)
{
  const GantryNode *node = node_at (s, i);

  for (guint k = 0; k < node->n_operands; k++)
    {
      g_autofree DiffEdit *edits = no_edits (s);

      edits[i] = (DiffEdit){ .kind = DIFF_EDIT_REPLACE, .with = gantry_node_operand_id (s->finding->module, node, k) };
      if (gantry_node_operand (s->finding->module, node, k)->type == node->type && try_edits (s, edits))
        return TRUE;
    }
  return FALSE;
}

static gboolean
shrink_nodes (Shrinker *s)
{
  gboolean changed = FALSE;

  for (guint32 i = entry_of (s)->n_nodes; i-- > 0;)
    {
      g_autofree DiffEdit *edits = NULL;

      if (i >= entry_of (s)->n_nodes)
        i = entry_of (s)->n_nodes - 1;
      if (try_operand (s, i))
        {
          changed = TRUE;
          continue;
        }
      edits = no_edits (s);
      edits[i].kind = DIFF_EDIT_PARAMETER;
      if (may_be_parameter (s, i) && try_edits (s, edits))
        changed = TRUE;
    }
  return changed;
}

/* Sizes: one number in place of another, in all shapes at once */

static const char *const size_keys[] = { "shape", "limit_indices", "slice_sizes" };

static guint32
resized_attrs (const Shrinker *s, const GantryNode *node, gint64 from, gint64 to)
{
  GantryContext *context = s->finding->module->context;
  GantryAttrList *list = gantry_attr_list_new (context);
  gint64 groups = gantry_attrs_int (context, node->attrs, "feature_group_count", 0);

  gantry_attr_list_set_all (list, node->attrs);
  for (guint k = 0; k < G_N_ELEMENTS (size_keys); k++)
    {
      gsize n;
      const gint64 *values = gantry_attrs_ints (context, node->attrs, size_keys[k], &n);
      g_autofree gint64 *copy = g_memdup2 (values, n * sizeof *values);

      for (gsize i = 0; i < n; i++)
        copy[i] = copy[i] == from ? to : copy[i];
      if (n > 0)
        gantry_attr_list_set_ints (list, size_keys[k], copy, n);
    }
  if (groups == from && groups > 1)
    gantry_attr_list_set_int (list, "feature_group_count", to);
  return gantry_attr_list_end (list);
}

static guint32
resized_type (const Shrinker *s, const GantryType *type, gint64 from, gint64 to)
{
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < type->rank; i++)
    dims[i] = type->dims[i] == from ? to : type->dims[i];
  return gantry_context_tensor (s->finding->module->context, (GantryElementType) type->element, type->rank, dims);
}

static gboolean
try_size (Shrinker *s, gint64 from, gint64 to)
{
  g_autofree DiffEdit *edits = no_edits (s);

  for (guint32 i = 0; i < entry_of (s)->n_nodes; i++)
    {
      const GantryNode *node = node_at (s, i);
      const GantryType *type = gantry_node_type (s->finding->module, node);

      if (node->op == GANTRY_OP_PARAMETER || (node->op == GANTRY_OP_CONSTANT && type->rank > 0))
        edits[i] = (DiffEdit){ .kind = DIFF_EDIT_PARAMETER, .type = resized_type (s, type, from, to) };
      else if (node->op != GANTRY_OP_CONSTANT)
        edits[i].attrs = resized_attrs (s, node, from, to);
    }
  return try_edits (s, edits);
}

static int
compare_sizes (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x > y ? -1 : x < y;
}

static GArray *
sizes_of (const Shrinker *s)
{
  GArray *sizes = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (guint32 i = 0; i < entry_of (s)->n_nodes; i++)
    {
      const GantryType *type = gantry_node_type (s->finding->module, node_at (s, i));

      for (guint d = 0; type->kind == GANTRY_TYPE_TENSOR && d < type->rank; d++)
        {
          gboolean known = type->dims[d] <= 1;

          for (guint k = 0; k < sizes->len; k++)
            known = known || g_array_index (sizes, gint64, k) == type->dims[d];
          if (!known)
            g_array_append_val (sizes, type->dims[d]);
        }
    }
  g_array_sort (sizes, compare_sizes);
  return sizes;
}

static gboolean
shrink_sizes (Shrinker *s)
{
  g_autoptr (GArray) sizes = sizes_of (s);
  gboolean changed = FALSE;

  for (guint k = 0; k < sizes->len; k++)
    {
      gint64 from = g_array_index (sizes, gint64, k), tries[] = { 1, 2, from / 4, from / 2, from - 1 };

      for (guint t = 0; t < G_N_ELEMENTS (tries); t++)
        if (tries[t] > 0 && tries[t] < from && try_size (s, from, tries[t]))
          {
            changed = TRUE;
            break;
          }
    }
  return changed;
}

/* Attributes: lists of numbers become what they are without */

static gboolean
shrink_attrs (Shrinker *s)
{
  static const struct
  {
    const char *key;
    gint64 plain;
  } plains[] = { { "padding", 0 },          { "window_strides", 1 },   { "strides", 1 },          { "rhs_dilation", 1 },      { "lhs_dilation", 1 },
                 { "window_dilations", 1 }, { "interior_padding", 0 }, { "edge_padding_low", 0 }, { "edge_padding_high", 0 }, { "start_indices", 0 } };
  GantryContext *context = s->finding->module->context;
  gboolean changed = FALSE;

  for (guint32 i = 0; i < entry_of (s)->n_nodes; i++)
    for (guint k = 0; k < G_N_ELEMENTS (plains) && i < entry_of (s)->n_nodes; k++)
      {
        g_autofree DiffEdit *edits = no_edits (s);
        GantryAttrList *list;
        gboolean plain = TRUE;
        gsize n;
        const gint64 *values = gantry_attrs_ints (context, node_at (s, i)->attrs, plains[k].key, &n);
        g_autofree gint64 *copy = g_new0 (gint64, n + 1);

        for (gsize j = 0; j < n; j++)
          {
            copy[j] = plains[k].plain;
            plain = plain && values[j] == copy[j];
          }
        if (plain)
          continue;
        list = gantry_attr_list_new (context);
        gantry_attr_list_set_all (list, node_at (s, i)->attrs);
        gantry_attr_list_set_ints (list, plains[k].key, copy, n);
        edits[i].attrs = gantry_attr_list_end (list);
        changed = try_edits (s, edits) || changed;
      }
  return changed;
}

/* The configuration */

static gboolean
try_config (Shrinker *s, DiffConfig config)
{
  if (attempt (s, s->finding->module, &config) != s->outcome)
    return FALSE;
  s->finding->config = config;
  return TRUE;
}

static void
shrink_config (Shrinker *s)
{
  DiffConfig config = s->finding->config;

  config.placements = 0;
  if (s->finding->config.placements != 0)
    try_config (s, config);
  config = s->finding->config;
  config.left_out = NULL;
  if (s->finding->config.left_out != NULL)
    try_config (s, config);
  config = s->finding->config;
  config.optimization = 0;
  if (s->finding->config.optimization != 0)
    try_config (s, config);
  config = s->finding->config;
  config.threads = 0;
  if (s->finding->config.threads > 1)
    try_config (s, config);
  config = s->finding->config;
  config.whole = FALSE;
  if (s->finding->config.whole)
    try_config (s, config);
  config = s->finding->config;
  config.block = 0;
  if (s->finding->config.block != 0)
    try_config (s, config);
  config = s->finding->config;
  config.instructions = GANTRY_INSTRUCTIONS_NATIVE;
  if (s->finding->config.instructions != GANTRY_INSTRUCTIONS_NATIVE)
    try_config (s, config);
}

static void
shrink (Shrinker *s)
{
  gboolean changed = TRUE;

  shrink_config (s);
  shrink_results (s);
  for (guint round = 0; changed && round < 20; round++)
    {
      changed = shrink_front (s);
      changed = shrink_tail (s) || changed;
      changed = shrink_results (s) || changed;
      changed = shrink_nodes (s) || changed;
      changed = shrink_attrs (s) || changed;
      changed = shrink_sizes (s) || changed;
    }
  shrink_config (s);
}

char *
diff_shrink (DiffFinding *finding, guint *n_attempts)
{
  Shrinker s = { .finding = finding, .until = g_get_monotonic_time () + MOST_MINUTES * 60 * G_USEC_PER_SEC };
  char *text = NULL;

  s.outcome = attempt (&s, finding->module, &finding->config);
  if (s.outcome != DIFF_SAME && s.outcome != DIFF_REFUSED)
    {
      shrink (&s);
      diff_attempt (finding->module, finding->seed, &finding->config, &text);
    }
  *n_attempts = s.n_attempts;
  return text;
}
