/* SPDX-License-Identifier: Apache-2.0 */
/* The table of placements, sorted by node; who owns the bytes that a node shows, and what kind of value that is. */
#include "core/plan/placement.h"
#include "core/plan/pieces.h"
#include "core/graph/operation.h"
#include <string.h>

GantryPlacements *
gantry_placements_new (void)
{
  GantryPlacements *placements = g_new0 (GantryPlacements, 1);

  g_atomic_ref_count_init (&placements->ref_count);
  placements->entries = g_array_new (FALSE, TRUE, sizeof (GantryPlacement));
  return placements;
}

GantryPlacements *
gantry_placements_copy (const GantryPlacements *placements)
{
  GantryPlacements *copy = gantry_placements_new ();

  g_array_append_vals (copy->entries, placements->entries->data, placements->entries->len);
  if (placements->schedule != NULL)
    copy->schedule = g_array_copy (placements->schedule);
  copy->fetch_limit = placements->fetch_limit;
  return copy;
}

GantryPlacements *
gantry_placements_ref (GantryPlacements *placements)
{
  g_atomic_ref_count_inc (&placements->ref_count);
  return placements;
}

void
gantry_placements_unref (GantryPlacements *placements)
{
  if (placements == NULL || !g_atomic_ref_count_dec (&placements->ref_count))
    return;
  g_array_unref (placements->entries);
  g_clear_pointer (&placements->schedule, g_array_unref);
  g_free (placements);
}

/* Index of the first entry whose node is not below @node. */
static guint
lower_bound (const GantryPlacements *placements, guint32 node)
{
  guint low = 0, high = placements->entries->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (placements->entries, GantryPlacement, middle).node < node)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

const GantryPlacement *
gantry_placements_find (const GantryPlacements *placements, guint32 node)
{
  guint at = lower_bound (placements, node);
  const GantryPlacement *entry = at < placements->entries->len ? &g_array_index (placements->entries, GantryPlacement, at) : NULL;

  return entry != NULL && entry->node == node ? entry : NULL;
}

GantryPlacementKind
gantry_placements_kind (const GantryPlacements *placements, guint32 node)
{
  const GantryPlacement *entry = gantry_placements_find (placements, node);

  return entry != NULL ? (GantryPlacementKind) entry->kind : GANTRY_PLACEMENT_KEEP;
}

void
gantry_placements_set (GantryPlacements *placements, const GantryPlacement *placement)
{
  GArray *entries = placements->entries;
  guint at = entries->len;

  if (at > 0 && g_array_index (entries, GantryPlacement, at - 1).node >= placement->node)
    at = lower_bound (placements, placement->node);
  if (at < entries->len && g_array_index (entries, GantryPlacement, at).node == placement->node)
    g_array_index (entries, GantryPlacement, at) = *placement;
  else
    g_array_insert_val (entries, at, *placement);
}

void
gantry_placements_set_schedule (GantryPlacements *placements, const GantryScheduleEntry *entries, guint n)
{
  g_clear_pointer (&placements->schedule, g_array_unref);
  if (entries == NULL || n == 0)
    return;
  placements->schedule = g_array_sized_new (FALSE, FALSE, sizeof *entries, n);
  g_array_append_vals (placements->schedule, entries, n);
}

static gboolean
equal_bytes (const GArray *a, const GArray *b)
{
  guint n = a != NULL ? a->len : 0;

  return n == (b != NULL ? b->len : 0) && (n == 0 || memcmp (a->data, b->data, (gsize) n * g_array_get_element_size ((GArray *) a)) == 0);
}

gboolean
gantry_placements_equal (const GantryPlacements *a, const GantryPlacements *b)
{
  return equal_bytes (a->entries, b->entries) && equal_bytes (a->schedule, b->schedule) && a->fetch_limit == b->fetch_limit;
}

/* Subjects */

GantryPlacementSubject
gantry_parameter_role (const GantryModule *module, const GantryNode *parameter)
{
  const char *role = gantry_attrs_string (module->context, parameter->attrs, "role", "input");

  return strcmp (role, "parameter") == 0 ? GANTRY_SUBJECT_PARAMETER : strcmp (role, "state") == 0 ? GANTRY_SUBJECT_STATE : GANTRY_SUBJECT_INPUT;
}

gint
gantry_parameter_alias (const GantryModule *module, const GantryNode *parameter)
{
  gint64 alias = gantry_attrs_int (module->context, parameter->attrs, "alias", -1);

  return alias >= 0 && alias < gantry_module_entry (module)->n_results ? (gint) alias : -1;
}

gboolean
gantry_module_is_training (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    if (module->nodes[entry->first_node + i].phase != GANTRY_PHASE_FORWARD)
      return TRUE;
  return FALSE;
}

/* Members of all tuples, flat: a slot is one tensor that a node shows, its root the slot whose bytes these are. */
typedef struct
{
  const GantryModule *module;
  const GantryFunction *entry;
  guint32 *first; /* by index in the entry function: its first slot; n_nodes + 1 */
  guint32 *root;  /* by slot: a slot */
  guint32 *owner; /* by slot that is a root: index in the entry function of who stands for it: who made it, and of what a scan gives the
                   * first `result` that shows it, for its stacks hold different values of its body */
  guint8 *walked; /* by index: a stack that is no value of its own, but what loops walk along */
} Slots;

static guint32
n_members (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
}

/* Index within the entry function, or G_MAXUINT32 where the operand is absent or stands elsewhere. */
static guint32
operand_index (const Slots *slots, const GantryNode *node, guint i)
{
  const GantryNode *operand = gantry_node_operand (slots->module, node, i);
  guint32 index = operand != NULL ? gantry_module_position (slots->module, operand) - slots->entry->first_node : G_MAXUINT32;

  return index < slots->entry->n_nodes ? index : G_MAXUINT32;
}

/* TRUE when the elements of a slice stand together in its operand, at a place where a value may begin. */
static gboolean
slice_is_view (const GantryModule *module, const GantryNode *node)
{
  const GantryType *from = gantry_node_operand_type (module, node, 0), *to = gantry_node_type (module, node);
  gsize n_start, n_strides;
  const gint64 *start = gantry_attrs_ints (module->context, node->attrs, "start_indices", &n_start);
  const gint64 *strides = gantry_attrs_ints (module->context, node->attrs, "strides", &n_strides);
  guint64 row = gantry_element_size (from->element), offset = 0;
  guint d;

  if (!gantry_type_is_static (from) || !gantry_type_is_static (to) || from->rank != to->rank || n_start != from->rank)
    return FALSE;
  /* From the innermost dimension out: whole ones, then a part of one, then single indices. */
  for (d = from->rank; d > 0 && to->dims[d - 1] == from->dims[d - 1]; d--)
    row *= (guint64) from->dims[d - 1];
  for (guint outer = 0; d > 0 && outer + 1 < d; outer++)
    if (to->dims[outer] != 1)
      return FALSE;
  for (guint i = 0; i < d; i++)
    if (to->dims[i] > 1 && n_strides == from->rank && strides[i] != 1)
      return FALSE;
  for (guint i = d; i-- > 0;)
    {
      offset += (guint64) start[i] * row;
      row *= (guint64) from->dims[i];
    }
  return offset % GANTRY_PLACE_ALIGNMENT == 0;
}

gboolean
gantry_node_is_view (const GantryModule *module, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryType *to = gantry_node_type (module, node), *from = gantry_node_operand_type (module, node, 0);

  if (node->op == GANTRY_OP_RESULT || node->op == GANTRY_OP_TUPLE)
    return TRUE;
  if (info == NULL || node->n_operands != 1)
    return FALSE;
  if (node->op == GANTRY_OP_SLICE)
    return slice_is_view (module, node);
  /* Fetching what lives in the host is what a placement does. */
  if (node->op == GANTRY_OP_COPY)
    return from->kind == GANTRY_TYPE_TENSOR && to->kind == GANTRY_TYPE_TENSOR && from->memory != GANTRY_MEMORY_DEVICE && to->memory == GANTRY_MEMORY_DEVICE;
  /* One that changes the memory kind is a copy. */
  return (info->flags & GANTRY_OP_VIEW) != 0 && to->kind == from->kind && (to->kind != GANTRY_TYPE_TENSOR || to->memory == from->memory);
}

/* The roots of node @i, whose operands have theirs: a member of a tuple that someone put together leads to what was put
 * in. */
static void
find_roots (Slots *slots, guint32 i)
{
  const GantryNode *node = &slots->module->nodes[slots->entry->first_node + i];
  guint32 first = slots->first[i], n = slots->first[i + 1] - first;
  gint64 member = node->op == GANTRY_OP_RESULT ? gantry_attrs_int (slots->module->context, node->attrs, "index", 0) : 0;
  gboolean view = gantry_node_is_view (slots->module, node);

  for (guint32 m = 0; m < n; m++)
    {
      guint32 from = view ? operand_index (slots, node, node->op == GANTRY_OP_TUPLE ? m : 0) : G_MAXUINT32;
      guint32 at = node->op == GANTRY_OP_RESULT ? (guint32) member : node->op == GANTRY_OP_TUPLE ? 0 : m;

      slots->root[first + m] = first + m;
      slots->owner[first + m] = i;
      if (from < i && at < slots->first[from + 1] - slots->first[from])
        slots->root[first + m] = slots->root[slots->first[from] + at];
    }
  if (node->op == GANTRY_OP_RESULT && n == 1 && slots->root[first] != first)
    {
      guint32 maker = slots->owner[slots->root[first]];

      if (slots->module->nodes[slots->entry->first_node + maker].op == GANTRY_OP_SCAN)
        slots->owner[slots->root[first]] = i;
    }
}

static void
slots_init (Slots *slots, const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);

  *slots = (Slots){ module, entry, g_new (guint32, entry->n_nodes + 1), NULL, NULL, gantry_function_find_walked (module, entry, NULL) };
  slots->first[0] = 0;
  for (guint32 i = 0; i < entry->n_nodes; i++)
    slots->first[i + 1] = slots->first[i] + n_members (module, &module->nodes[entry->first_node + i]);
  slots->root = g_new (guint32, slots->first[entry->n_nodes] + 1);
  slots->owner = g_new (guint32, slots->first[entry->n_nodes] + 1);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    find_roots (slots, i);
}

static void
slots_clear (Slots *slots)
{
  g_free (slots->first);
  g_free (slots->root);
  g_free (slots->owner);
  g_free (slots->walked);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Slots, slots_clear)

guint32 *
gantry_placement_owners (const GantryModule *module)
{
  g_auto (Slots) slots = { NULL };
  guint32 *owners = g_new (guint32, module->n_nodes + 1);

  slots_init (&slots, module);
  for (guint32 i = 0; i < module->n_nodes; i++)
    owners[i] = i;
  for (guint32 i = 0; i < slots.entry->n_nodes; i++)
    {
      guint32 first = slots.first[i], end = slots.first[i + 1], owner = first < end ? slots.owner[slots.root[first]] : i;

      /* A tuple of values of different makers is nobody's. */
      for (guint32 s = first; s < end; s++)
        owner = slots.owner[slots.root[s]] == owner ? owner : i;
      owners[slots.entry->first_node + i] = slots.entry->first_node + owner;
    }
  return owners;
}

enum
{
  USED_LATER = 1 << 0, /* by the backward or update phase */
  RETURNED = 1 << 1,   /* as a result that no parameter is donated to */
  CONSTANT = 1 << 2,   /* made of constants alone: computed when the program is loaded, and there ever after */
};

/* @flags: by slot that is a root. What stands in a stack that is no value of its own is read by who reads the stack. */
static void
mark_used_later (const Slots *slots, guint32 operand, guint32 s, guint8 *flags)
{
  const GantryNode *stack = &slots->module->nodes[slots->entry->first_node + operand];

  flags[slots->root[s]] |= USED_LATER;
  for (guint k = 0; slots->walked[operand] && k < stack->n_operands; k++)
    {
      guint32 piece = operand_index (slots, stack, k);

      if (piece != G_MAXUINT32)
        flags[slots->root[slots->first[piece]]] |= USED_LATER;
    }
}

/* @flags: by slot that is a root */
static void
mark_operands (const Slots *slots, guint32 i, guint8 *flags)
{
  const GantryModule *module = slots->module;
  const GantryNode *node = &module->nodes[slots->entry->first_node + i];
  const GantryOpInfo *info = gantry_op_info (node->op);
  gboolean constant = node->op != GANTRY_OP_PARAMETER && info != NULL && (info->flags & (GANTRY_OP_EFFECT | GANTRY_OP_RANDOM)) == 0;

  for (guint k = 0; k < node->n_operands; k++)
    {
      guint32 operand = operand_index (slots, node, k);

      if (operand == G_MAXUINT32)
        continue;
      for (guint32 s = slots->first[operand]; s < slots->first[operand + 1]; s++)
        {
          constant = constant && (flags[slots->root[s]] & CONSTANT) != 0;
          if (node->phase != GANTRY_PHASE_FORWARD && !gantry_node_is_view (module, node))
            mark_used_later (slots, operand, s, flags);
        }
    }
  for (guint32 s = slots->first[i]; constant && s < slots->first[i + 1]; s++)
    flags[slots->root[s]] |= CONSTANT;
}

static void
mark_results (const Slots *slots, guint8 *flags)
{
  const GantryModule *module = slots->module;
  g_autofree guint8 *donated = g_new0 (guint8, slots->entry->n_results + 1);

  for (guint32 i = 0; i < slots->entry->n_params; i++)
    {
      gint alias = gantry_parameter_alias (module, &module->nodes[slots->entry->first_node + i]);

      if (alias >= 0)
        donated[alias] = TRUE;
    }
  for (guint32 r = 0; r < slots->entry->n_results; r++)
    {
      const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, slots->entry, r));
      guint32 i = node != NULL ? gantry_module_position (module, node) - slots->entry->first_node : G_MAXUINT32;

      if (donated[r] || i >= slots->entry->n_nodes)
        continue;
      for (guint32 s = slots->first[i]; s < slots->first[i + 1]; s++)
        flags[slots->root[s]] |= RETURNED;
    }
}

/* The phase in which member @k of what @node gives is made: a scan of the forward phase may go through others, as one over microbatches. */
static GantryPhase
phase_of_member (const GantryModule *module, const GantryNode *node, guint32 k)
{
  const GantryFunction *body = NULL;
  const GantryNode *result = NULL;
  GantryScan scan;

  if (node->op == GANTRY_OP_SCAN && node->phase == GANTRY_PHASE_FORWARD)
    {
      gantry_scan_of (module, node, &scan);
      body = gantry_module_function (module, scan.body);
    }
  if (body != NULL && k < body->n_results)
    result = gantry_module_node (module, gantry_function_result_id (module, body, k));
  return (GantryPhase) (result != NULL && result->op != GANTRY_OP_PARAMETER ? result->phase : node->phase);
}

/* Of what node @i made, of which @k is a member. */
static guint8
subject_of (const Slots *slots, guint32 i, guint32 k, guint8 flags)
{
  const GantryNode *node = &slots->module->nodes[slots->entry->first_node + i];

  if (node->op == GANTRY_OP_PARAMETER)
    return gantry_parameter_role (slots->module, node);
  if ((flags & CONSTANT) || gantry_node_is_view (slots->module, node) || slots->walked[i])
    return GANTRY_SUBJECT_NONE;
  if ((flags & USED_LATER) && phase_of_member (slots->module, node, k) == GANTRY_PHASE_FORWARD)
    return GANTRY_SUBJECT_RESIDUAL;
  return flags & RETURNED ? GANTRY_SUBJECT_OUTPUT : GANTRY_SUBJECT_NONE;
}

guint8 *
gantry_placement_subjects (const GantryModule *module)
{
  g_auto (Slots) slots = { NULL };
  guint8 *subjects = g_malloc (module->n_nodes + 1);
  g_autofree guint8 *flags = NULL;

  memset (subjects, GANTRY_SUBJECT_NONE, module->n_nodes + 1);
  slots_init (&slots, module);
  flags = g_new0 (guint8, slots.first[slots.entry->n_nodes] + 1);
  for (guint32 i = 0; i < slots.entry->n_nodes; i++)
    mark_operands (&slots, i, flags);
  mark_results (&slots, flags);
  for (guint32 i = 0; i < slots.entry->n_nodes; i++)
    for (guint32 k = slots.first[i]; k < slots.first[i + 1]; k++)
      if (slots.root[k] == k)
        {
          guint8 *subject = &subjects[slots.entry->first_node + slots.owner[k]];

          *subject = MIN (*subject, subject_of (&slots, i, k - slots.first[i], flags[k]));
        }
  return subjects;
}

/* Names */

GantryPlacementKind
gantry_placement_kind_of_number (gint64 number)
{
  return number >= 0 && number < GANTRY_N_PLACEMENTS ? (GantryPlacementKind) number : GANTRY_PLACEMENT_KEEP;
}

const char *
gantry_placement_kind_name (GantryPlacementKind kind)
{
  static const char *const names[GANTRY_N_PLACEMENTS] = { "keep", "recompute", "offload", "bf16", "int8" };

  g_return_val_if_fail ((guint) kind < G_N_ELEMENTS (names), "keep");
  return names[kind];
}

const char *
gantry_placement_subject_name (GantryPlacementSubject subject)
{
  static const char *const names[] = { "residual", "parameter", "state", "input", "output", "none" };

  g_return_val_if_fail ((guint) subject < G_N_ELEMENTS (names), "none");
  return names[subject];
}

const char *
gantry_decider_name (GantryDecider decider)
{
  static const char *const names[] = { "default", "program", "policy", "rule", "click", "solver" };

  g_return_val_if_fail ((guint) decider < G_N_ELEMENTS (names), "default");
  return names[decider];
}
