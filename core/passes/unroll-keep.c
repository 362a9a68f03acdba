/* SPDX-License-Identifier: Apache-2.0 */
/* Control that stays control: what the run decides. The bodies are copied once, each as a function of its own, with control inside
 * them treated alike. What a loop never changes and what is constant is handed to the bodies as such, and so is a slice that is the same in every trip. */
#include "core/graph/operation.h"
#include "core/graph/region.h"
#include "core/passes/unroll-private.h"
#include <string.h>

/* Written out, both arms of a branch are computed: that is as fast as deciding on the host where they are this small. */
#define MOST_SELECTED_NODES 64
#define MOST_SELECTED_BYTES (64 << 10)
#define MOST_DEPTH 64

/* What there is to know of a function before one decides; counts saturate. */
typedef struct
{
  gint64 nodes, bytes; /* @nodes: those of a scan's body for each of its trips */
  gboolean may_fail;   /* it does not give a value for all operands, or has an effect */
  gboolean control;
  gboolean host; /* something lies in memory of the host */
} Survey;

#define MANY (G_MAXINT64 >> 8)

static void survey (GantryExpander *e, guint32 function, guint depth, Survey *s);

static void
add_survey (Survey *s, const Survey *other, gint64 times)
{
  s->nodes = other->nodes > (MANY - s->nodes) / times ? MANY : s->nodes + other->nodes * times;
  s->bytes = MIN (s->bytes + other->bytes, MANY);
  s->may_fail |= other->may_fail;
  s->control |= other->control;
  s->host |= other->host;
}

static gint64
trips_of (const GantryControl *control)
{
  return control->kind == GANTRY_CONTROL_SCAN ? CLAMP (control->trips, 1, G_MAXINT32) : 1;
}

static void
survey_node (GantryExpander *e, const GantryNode *node, guint depth, Survey *s)
{
  const GantryModule *module = e->source;
  const GantryType *type = gantry_node_type (module, node);
  const GantryOpInfo *info = gantry_op_info (node->op);
  GantryControl control;

  s->nodes = MIN (s->nodes + 1, MANY);
  s->host = s->host || type->memory != GANTRY_MEMORY_DEVICE;
  if (info == NULL || (info->flags & GANTRY_OP_EFFECT) != 0)
    s->may_fail = TRUE;
  if ((node->op == GANTRY_OP_DIVIDE || node->op == GANTRY_OP_REMAINDER) && !gantry_element_is_float ((GantryElementType) type->element))
    s->may_fail = TRUE;
  if (info != NULL && (info->flags & (GANTRY_OP_STRUCTURE | GANTRY_OP_VIEW)) == 0)
    s->bytes = MIN (s->bytes + CLAMP (gantry_type_bytes (type), 0, G_MAXINT32), MANY);
  if (!gantry_node_is_control (node) || !gantry_control_of (module, node, &control))
    return;
  s->control = TRUE;
  for (guint r = 0; r < control.n_regions; r++)
    {
      Survey region;

      survey (e, control.functions[r], depth + 1, &region);
      add_survey (s, &region, trips_of (&control));
    }
}

/* Functions that many nodes name are looked at once: arms that name each other's would take exponential time else. */
static void
survey (GantryExpander *e, guint32 function, guint depth, Survey *s)
{
  const GantryFunction *of = gantry_module_function (e->source, function);
  const Survey *known;

  if (e->surveys == NULL)
    e->surveys = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  known = g_hash_table_lookup (e->surveys, GUINT_TO_POINTER (function));
  *s = known != NULL ? *known : (Survey){ 0 };
  if (known != NULL)
    return;
  if (depth >= MOST_DEPTH)
    {
      /* Nothing is known of it: as control that may do anything. */
      s->nodes = MANY;
      s->may_fail = s->control = TRUE;
      return;
    }
  for (guint32 i = of->n_params; i < of->n_nodes; i++)
    survey_node (e, &e->source->nodes[of->first_node + i], depth, s);
  g_hash_table_insert (e->surveys, GUINT_TO_POINTER (function), g_memdup2 (s, sizeof *s));
}

static void
survey_control (GantryExpander *e, const GantryNode *node, Survey *s)
{
  GantryControl control;

  *s = (Survey){ 0 };
  for (guint i = 0; i < node->n_operands; i++)
    s->host = s->host || gantry_node_operand_type (e->source, node, i)->memory != GANTRY_MEMORY_DEVICE;
  if (!gantry_control_of (e->source, node, &control))
    return;
  for (guint r = 0; r < control.n_regions; r++)
    {
      Survey region;

      survey (e, control.functions[r], 0, &region);
      add_survey (s, &region, CLAMP (control.trips, 1, G_MAXINT32));
    }
}

gboolean
_gantry_unroll_keeps_branch (GantryExpander *e, const GantryNode *node, gint64 times)
{
  gint64 most = MIN (MOST_SELECTED_NODES, e->most_unrolled);
  Survey s;

  survey_control (e, node, &s);
  return !s.host && (s.may_fail || s.control || s.nodes > most / times || s.bytes > MOST_SELECTED_BYTES / times);
}

gboolean
_gantry_unroll_keeps_scan (GantryExpander *e, const GantryNode *node)
{
  Survey s;

  survey_control (e, node, &s);
  return !s.host && s.nodes > (gint64) e->most_unrolled;
}

gboolean
_gantry_unroll_keeps_loop (GantryExpander *e, const GantryNode *node)
{
  Survey s;

  survey_control (e, node, &s);
  return !s.host;
}

/* Copying */

typedef struct
{
  GantryExpander *e;
  const GantryNode *node;
  const GantryExpandFrame *frame;
  GantryControl control;
  guint n_carries;   /* that change */
  guint n_xs;        /* whose slices differ */
  guint n_operands;  /* of the new node */
  guint32 *operands; /* theirs */
  guint32 *given;    /* by operand of the old node: its value here */
  guint *slot;       /* by operand of the old node: which of the new one it is, G_MAXUINT: it is a constant in each body */
  guint8 *alike;     /* by operand of the old node: of what is walked along: all slices are the same, and one of them is given */
} Keep;

static gboolean
is_constant (const Keep *k, guint i)
{
  const GantryNode *node = gantry_builder_node (k->e->b, k->given[i]);

  return node != NULL && node->op == GANTRY_OP_CONSTANT;
}

/* Carries that change, then what is walked along, then what stays, or is the same in every trip. */
static void
order_operands (Keep *k)
{
  guint first = k->control.first, fixed = first + k->control.n_carries + k->control.n_xs, n = 0;
  gboolean loop = k->control.kind == GANTRY_CONTROL_WHILE;

  for (guint i = 0; i < fixed; i++)
    if (loop ? !_gantry_unroll_stays (k->e, k->node, i) : !k->alike[i])
      {
        k->slot[i] = n;
        k->operands[n++] = k->given[i];
      }
  if (loop && n == 0) /* it has at least one */
    {
      k->slot[0] = n;
      k->operands[n++] = k->given[0];
    }
  k->n_carries = loop ? n : k->control.n_carries;
  k->n_xs = loop ? 0 : n - first - k->n_carries;
  for (guint i = 0; i < k->control.n_operands; i++)
    if (k->slot[i] == G_MAXUINT && !is_constant (k, i))
      {
        k->slot[i] = n;
        k->operands[n++] = k->given[i];
      }
  k->n_operands = n;
}

/* The type of what the parameter for operand @i of the new node gets. */
static guint32
parameter_type (Keep *k, guint i)
{
  const GantryType *type = gantry_builder_get_type (k->e->b, k->operands[i]);
  guint at = i - k->control.first;

  if (k->control.kind != GANTRY_CONTROL_SCAN || at < k->n_carries || at >= k->n_carries + k->n_xs)
    return gantry_builder_type (k->e->b, k->operands[i]);
  return gantry_context_tensor (k->e->source->context, (GantryElementType) type->element, type->rank - 1, type->dims + 1);
}

static guint32
alias_attrs (Keep *k, guint carry)
{
  GantryAttrList *list = gantry_attr_list_new (k->e->source->context);

  gantry_attr_list_set_int (list, "alias", carry);
  return gantry_attr_list_end (list);
}

/* Parameters of the new function; @arguments: what those of the old one are in it. */
static void
add_parameters (Keep *k, const GantryFunction *function, gboolean carries, GantryExpandValue *arguments)
{
  GantryBuilder *b = k->e->b;
  g_autofree guint32 *ids = g_new0 (guint32, k->n_operands + 1);

  for (guint i = k->control.first; i < k->n_operands; i++)
    {
      ids[i] = gantry_builder_parameter (b, parameter_type (k, i), NULL);
      if (carries && i < k->n_carries)
        gantry_builder_set_parameter_attrs (b, ids[i], alias_attrs (k, i));
    }
  for (guint p = 0; p < function->n_params; p++)
    {
      guint i = k->control.first + p;
      const GantryNode *constant = k->slot[i] == G_MAXUINT ? gantry_builder_node (b, k->given[i]) : NULL;

      arguments[p] = constant == NULL ? ids[k->slot[i]] : gantry_builder_add_typed (b, GANTRY_OP_CONSTANT, NULL, 0, constant->attrs, constant->type);
    }
}

/* What a body returns, member by member. */
static GArray *
flatten (GantryExpander *e, const GantryExpandValue *results, guint n)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < n; i++)
    {
      guint members = _gantry_expand_n_members (e, results[i]);

      if (members == 0 && gantry_builder_get_type (e->b, _gantry_expand_id (e, results[i]))->kind == GANTRY_TYPE_TUPLE)
        members = gantry_builder_get_type (e->b, _gantry_expand_id (e, results[i]))->rank;
      for (guint m = 0; m < MAX (members, 1); m++)
        {
          guint32 id = _gantry_expand_id (e, members > 0 ? _gantry_expand_member (e, results[i], m) : results[i]);

          g_array_append_val (ids, id);
        }
    }
  return ids;
}

/* Of a loop's body the carries that change. */
static void
drop_fixed (Keep *k, GArray *ids)
{
  guint n = 0;

  for (guint i = 0; i < ids->len; i++)
    if (i < k->control.n_carries && k->slot[i] < k->n_carries)
      g_array_index (ids, guint32, n++) = g_array_index (ids, guint32, i);
  g_array_set_size (ids, n);
}

/* Region @r of the old node, written anew. Returns: the function's id, 0 with @error */
static guint32
copy_region (Keep *k, guint r, const char *part, GError **error)
{
  GantryExpander *e = k->e;
  const GantryFunction *function = gantry_module_function (e->source, k->control.functions[r]);
  g_autofree GantryExpandValue *arguments = g_new0 (GantryExpandValue, function->n_params + 1);
  g_autofree GantryExpandValue *results = g_new0 (GantryExpandValue, function->n_results + 1);
  gboolean condition = k->control.kind == GANTRY_CONTROL_WHILE && r == GANTRY_CONTROL_CONDITION;
  g_autoptr (GArray) ids = NULL;
  GantryExpandFrame place;
  guint32 id;

  if (function->n_params != k->control.n_operands - k->control.first)
    return (guint32) _gantry_unroll_refuse (e, k->node, error, GANTRY_ERROR_INVALID, "a body has not as many parameters as it gets");
  _gantry_expand_set_place_of (e, k->frame, k->node);
  id = gantry_builder_begin (e->b, gantry_context_string (e->source->context, function->name), 0);
  add_parameters (k, function, !condition, arguments);
  _gantry_expand_frame_init (&place, k->frame, k->node, part);
  place.phase = GANTRY_PHASE_FORWARD; /* a backward body says itself which of its nodes are forward ones, computed again */
  if (!_gantry_expand_body (e, function, arguments, &place, results, error))
    {
      _gantry_expand_frame_clear (&place);
      return 0;
    }
  _gantry_expand_set_place (e, &place);
  ids = flatten (e, results, function->n_results);
  _gantry_expand_frame_clear (&place);
  if (k->control.kind == GANTRY_CONTROL_WHILE && !condition)
    drop_fixed (k, ids);
  gantry_builder_end (e->b, (const guint32 *) (gpointer) ids->data, ids->len);
  return gantry_builder_check (e->b, error) ? id : 0;
}

/* Along the first dimension slices lie one after the other. Returns: @id with @axis moved there, or back */
static guint32
move_axis (Keep *k, guint32 id, gint64 axis, gboolean back)
{
  const GantryType *type = gantry_builder_get_type (k->e->b, id);
  gint64 permutation[GANTRY_MAX_RANK];

  if (axis == 0)
    return id;
  for (guint d = 0; d < type->rank; d++)
    permutation[d] = back ? (d < axis ? d + 1 : d == axis ? 0 : d) : (d == 0 ? axis : d <= axis ? d - 1 : d);
  return gantry_builder_transpose (k->e->b, id, permutation);
}

/* What a broadcast repeats along @axis. Returns: 0 where node @id is no such broadcast */
static guint32
find_repeated (Keep *k, guint32 id, gint64 axis)
{
  const GantryNode *node = gantry_builder_node (k->e->b, id);
  const GantryType *type = gantry_builder_get_type (k->e->b, id);
  GantryDim shape[GANTRY_MAX_RANK];
  gint64 moved[GANTRY_MAX_RANK];
  const gint64 *dims;
  gsize n;

  if (node == NULL || node->op != GANTRY_OP_BROADCAST_IN_DIM)
    return 0;
  dims = gantry_attrs_ints (k->e->source->context, node->attrs, "broadcast_dimensions", &n);
  for (gsize i = 0; i < n; i++)
    {
      if (dims[i] == axis)
        return 0;
      moved[i] = dims[i] - (dims[i] > axis);
    }
  for (guint d = 0; d + 1 < type->rank; d++)
    shape[d] = type->dims[d + (d >= axis)];
  return gantry_builder_broadcast (k->e->b, gantry_builder_operand_of (k->e->b, id, 0), type->rank - 1, shape, moved);
}

static void
move_axes (Keep *k, const GantryScan *scan)
{
  _gantry_expand_set_place_of (k->e, k->frame, k->node);
  for (guint x = 0; x < scan->n_xs; x++)
    {
      guint i = scan->n_carries + x;
      guint32 repeated = find_repeated (k, k->given[i], scan->axes[x]);

      k->alike[i] = repeated != 0;
      k->given[i] = repeated != 0 ? repeated : move_axis (k, k->given[i], scan->axes[x], FALSE);
    }
}

static guint32
attrs_of (Keep *k, const guint32 *functions)
{
  static const char *const keys[][2] = { [GANTRY_CONTROL_CALL] = { "body" },
                                         [GANTRY_CONTROL_BRANCH] = { "then", "else" },
                                         [GANTRY_CONTROL_WHILE] = { "body", "cond" },
                                         [GANTRY_CONTROL_SCAN] = { "body" } };
  GantryAttrList *list = gantry_attr_list_new (k->e->source->context);
  g_autofree gint64 *zeros = g_new0 (gint64, MAX (k->n_xs, k->control.n_ys) + 1);

  gantry_attr_list_set_all (list, k->node->attrs);
  for (guint r = 0; r < k->control.n_regions; r++)
    gantry_attr_list_set_function (list, keys[k->control.kind][r], functions[r]);
  if (k->control.kind == GANTRY_CONTROL_WHILE)
    gantry_attr_list_set_int (list, "n_carries", k->n_carries);
  if (k->control.kind == GANTRY_CONTROL_SCAN)
    {
      gantry_attr_list_set_int (list, "n_xs", k->n_xs);
      gantry_attr_list_set_ints (list, "axes", zeros, k->n_xs);
      gantry_attr_list_set_ints (list, "y_axes", zeros, k->control.n_ys);
    }
  return gantry_attr_list_end (list);
}

/* The value of the old node, of which the new one may give a part. */
static GantryExpandValue
value_of (Keep *k, guint32 id, const GantryScan *scan)
{
  gboolean loop = k->control.kind == GANTRY_CONTROL_WHILE;
  guint n = loop ? k->control.n_carries : k->control.n_results;
  const GantryType *type = gantry_builder_get_type (k->e->b, id);
  g_autofree GantryExpandValue *members = g_new0 (GantryExpandValue, n + 1);
  gboolean tuple = type->kind == GANTRY_TYPE_TUPLE;

  for (guint i = 0; i < n; i++)
    if (loop && (k->slot[i] == G_MAXUINT || k->slot[i] >= k->n_carries))
      members[i] = k->given[i];
    else
      members[i] = tuple ? gantry_builder_result (k->e->b, id, loop ? k->slot[i] : i) : id;
  for (guint y = 0; scan != NULL && y < scan->n_ys; y++)
    members[scan->n_carries + y] = move_axis (k, members[scan->n_carries + y], scan->y_axes[y], TRUE);
  return _gantry_expand_together (k->e, members, n);
}

static gboolean
write_control (Keep *k, const GantryScan *scan, GantryExpandValue *value, GError **error)
{
  static const char *const arms[] = { "then", "else" };
  GantryExpander *e = k->e;
  guint32 functions[2] = { 0, 0 }, id;

  order_operands (k);
  for (guint r = 0; r < k->control.n_regions; r++)
    {
      functions[r] = copy_region (k, r, k->control.kind == GANTRY_CONTROL_BRANCH ? arms[r] : NULL, error);
      if (functions[r] == 0)
        return FALSE;
    }
  _gantry_expand_set_place_of (e, k->frame, k->node);
  gantry_builder_set_name (e->b, k->node->name);
  id = gantry_builder_add (e->b, k->node->op, k->operands, k->n_operands, attrs_of (k, functions));
  gantry_builder_set_name (e->b, 0);
  *value = value_of (k, id, scan);
  return gantry_builder_check (e->b, error);
}

gboolean
_gantry_unroll_keep (GantryExpander *e, const GantryNode *node, const GantryExpandValue *operands, const GantryExpandFrame *frame, GantryExpandValue *value,
                     GError **error)
{
  guint n = node->n_operands + 1;
  g_autofree guint32 *ids = g_new0 (guint32, 2 * (gsize) n);
  g_autofree guint *slots = g_new (guint, n);
  g_autofree guint8 *alike = g_new0 (guint8, n);
  Keep k = { .e = e, .node = node, .frame = frame, .operands = ids, .given = ids + n, .slot = slots, .alike = alike };
  gboolean folding = e->fold, scans, good;
  GantryScan scan;

  if (!gantry_control_of (e->source, node, &k.control))
    return _gantry_unroll_refuse (e, node, error, GANTRY_ERROR_INVALID, "it names a function that is not in the module");
  memset (slots, 0xff, n * sizeof *slots);
  /* Before a function begins: what is made of them stands outside. */
  for (guint i = 0; i < node->n_operands; i++)
    k.given[i] = _gantry_expand_id (e, operands[i]);
  scans = k.control.kind == GANTRY_CONTROL_SCAN;
  if (scans)
    {
      gantry_scan_of (e->source, node, &scan);
      move_axes (&k, &scan);
    }
  _gantry_expand_set_fold (e, FALSE);
  good = write_control (&k, scans ? &scan : NULL, value, error);
  _gantry_expand_set_fold (e, folding);
  return good;
}
