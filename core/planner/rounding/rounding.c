/* SPDX-License-Identifier: Apache-2.0 */
/* The walk: from what later phases read back to what is asked of it, through fusions, branches and loops. */
#include "core/planner/rounding/rounding.h"
#include "core/graph/region.h"
#include "core/plan/compression.h"
#include "core/planner/rounding/rounding-private.h"
#include <string.h>

/* What a trip asks of a carry the trip before is asked; more often than this it is asked of all that the loop is given. */
#define MOST_WALKS 8u

static guint
members_of (const GantryType *type)
{
  return type->kind == GANTRY_TYPE_TUPLE ? type->rank : type->kind == GANTRY_TYPE_TENSOR;
}

/* The slot that member @m of the view at @at shows. */
static guint32
shown_by_view (const GantryRounding *rounding, const GantryNode *node, guint32 slot, guint m)
{
  const GantryModule *module = rounding->module;
  const GantryNode *operand = gantry_node_operand (module, node, node->op == GANTRY_OP_TUPLE ? m : 0);
  guint32 position = operand != NULL ? gantry_module_position (module, operand) : 0, n;

  if (operand == NULL)
    return slot;
  n = rounding->first[position + 1] - rounding->first[position];
  m = node->op == GANTRY_OP_RESULT ? (guint) gantry_attrs_int (module->context, node->attrs, "index", 0) : node->op == GANTRY_OP_TUPLE ? 0 : m;
  return m < n ? rounding_slot (rounding, position, m) : slot;
}

GantryRounding *
gantry_rounding_new (GantryModule *module)
{
  GantryRounding *rounding = g_new0 (GantryRounding, 1);
  guint32 n = 0;

  rounding->module = gantry_module_ref (module);
  rounding->first = g_new (guint32, module->n_nodes + (gsize) 1);
  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      rounding->first[i] = n;
      n += members_of (gantry_node_type (module, &module->nodes[i]));
    }
  rounding->first[module->n_nodes] = n;
  rounding->shown = g_new (guint32, n + (gsize) 1);
  rounding->asked = g_new0 (guint8, n + (gsize) 1);
  rounding->sign = g_new0 (guint8, n + (gsize) 1);
  for (guint32 i = 0; i < module->n_nodes; i++)
    for (guint32 s = rounding->first[i]; s < rounding->first[i + 1]; s++)
      rounding->shown[s] = gantry_node_is_view (module, &module->nodes[i]) ? shown_by_view (rounding, &module->nodes[i], s, s - rounding->first[i]) : s;
  _gantry_rounding_find_signs (rounding, gantry_module_entry (module), NULL, 0, 0);
  return rounding;
}

void
gantry_rounding_free (GantryRounding *rounding)
{
  if (rounding == NULL)
    return;
  g_free (rounding->first);
  g_free (rounding->shown);
  g_free (rounding->asked);
  g_free (rounding->sign);
  gantry_module_unref (rounding->module);
  g_free (rounding);
}

/* Of all members of @node, what is asked of what they are made of too. */
static guint8
asked_of (const GantryRounding *rounding, const GantryNode *node)
{
  guint32 at = gantry_module_position (rounding->module, node);
  guint8 asked = 0;

  for (guint32 s = rounding->first[at]; s < rounding->first[at + 1]; s++)
    asked |= rounding->asked[rounding->shown[s]];
  return asked & ~ASKED_SLICES;
}

/* Returns: whether that is new */
static gboolean
ask_node (GantryRounding *rounding, const GantryNode *node, guint8 bits)
{
  guint32 at = node != NULL ? gantry_module_position (rounding->module, node) : 0;
  gboolean changed = FALSE;

  for (guint32 s = rounding->first[at]; node != NULL && s < rounding->first[at + 1]; s++)
    {
      guint8 *asked = &rounding->asked[rounding->shown[s]];

      changed |= (bits & ~*asked) != 0;
      *asked |= bits;
    }
  return changed;
}

void
_gantry_rounding_ask (GantryRounding *rounding, const GantryNode *node, guint i, guint8 bits)
{
  ask_node (rounding, gantry_node_operand (rounding->module, node, i), bits | ASKED_READ);
}

static const GantryNode *
result_of (const GantryRounding *rounding, const GantryFunction *function, guint r)
{
  return gantry_module_node (rounding->module, gantry_function_result_id (rounding->module, function, r));
}

static void visit (GantryRounding *rounding, const GantryNode *node);

/* @function as @node runs it. @is_result: what is asked of a result of the node is asked of that of the function */
static void
visit_function (GantryRounding *rounding, const GantryNode *node, const GantryFunction *function, guint first, guint n_unknown, gboolean is_result)
{
  const GantryModule *module = rounding->module;
  const guint32 at = gantry_module_position (module, node), n = rounding->first[at + 1] - rounding->first[at];

  _gantry_rounding_find_signs (rounding, function, node, first, n_unknown);
  for (guint32 r = 0; r < function->n_results; r++)
    ask_node (rounding, result_of (rounding, function, r),
              ASKED_READ | (is_result && r < n ? rounding->asked[rounding_slot (rounding, at, r)] & ~ASKED_SLICES : 0));
  for (guint32 i = function->n_nodes; i-- > function->n_params;)
    {
      const GantryNode *inner = &module->nodes[function->first_node + i];

      if (asked_of (rounding, inner) != 0 || gantry_node_is_control (inner))
        visit (rounding, inner);
    }
  for (guint32 i = 0; i < function->n_params && first + i < node->n_operands; i++)
    {
      guint8 asked = asked_of (rounding, &module->nodes[function->first_node + i]);

      if (asked != 0)
        _gantry_rounding_ask (rounding, node, first + i, asked);
    }
}

/* What is asked of the carries of the loop is asked of those that the trip before returns. Returns: whether that is new */
static gboolean
ask_trip_before (GantryRounding *rounding, const GantryControl *control, const GantryFunction *body, guint8 *all)
{
  const GantryModule *module = rounding->module;
  gboolean changed = FALSE;

  for (guint i = 0; i < control->n_regions; i++)
    {
      const GantryFunction *region = gantry_module_function (module, control->functions[i]);

      for (guint k = 0; k < region->n_params; k++)
        {
          guint8 asked = asked_of (rounding, &module->nodes[region->first_node + k]);

          *all |= asked;
          if (k < control->n_carries && k < body->n_results)
            changed |= ask_node (rounding, result_of (rounding, body, k), asked);
        }
    }
  return changed;
}

static void
visit_control (GantryRounding *rounding, const GantryNode *node, const GantryControl *control)
{
  const gboolean loops = control->kind == GANTRY_CONTROL_WHILE || control->kind == GANTRY_CONTROL_SCAN;
  const GantryFunction *body = gantry_module_function (rounding->module, control->functions[GANTRY_CONTROL_BODY]);
  guint8 all = 0;
  guint walks = 0;
  gboolean again;

  for (guint i = 0; i < control->first; i++)
    _gantry_rounding_ask (rounding, node, i, 0);
  for (guint i = 0; control->kind == GANTRY_CONTROL_SCAN && i < control->n_xs; i++)
    _gantry_rounding_ask (rounding, node, control->first + control->n_carries + i, ASKED_SLICES);
  do
    {
      for (guint i = 0; i < control->n_regions; i++)
        visit_function (rounding, node, gantry_module_function (rounding->module, control->functions[i]), control->first, loops ? control->n_carries : 0,
                        control->kind != GANTRY_CONTROL_WHILE || i == GANTRY_CONTROL_BODY);
      again = loops && ask_trip_before (rounding, control, body, &all);
    }
  while (again && ++walks < MOST_WALKS);
  for (guint i = 0; again && i < node->n_operands; i++)
    _gantry_rounding_ask (rounding, node, i, all);
}

static void
visit (GantryRounding *rounding, const GantryNode *node)
{
  const GantryFunction *body = gantry_node_fusion_body (rounding->module, node);
  GantryControl control;

  if (gantry_node_is_view (rounding->module, node))
    return;
  if (body != NULL)
    visit_function (rounding, node, body, 0, 0, TRUE);
  else if (gantry_control_of (rounding->module, node, &control))
    visit_control (rounding, node, &control);
  else
    _gantry_rounding_pass (rounding, node, asked_of (rounding, node));
}

void
gantry_rounding_find (GantryRounding *rounding, GantryMadeAgainFunc again, gpointer data)
{
  const GantryFunction *entry = gantry_module_entry (rounding->module);

  memset (rounding->asked, 0, rounding->first[rounding->module->n_nodes]);
  for (guint32 i = entry->n_nodes; i-- > entry->n_params;)
    {
      const GantryNode *node = &rounding->module->nodes[entry->first_node + i];

      if (node->phase != GANTRY_PHASE_FORWARD
          || (again != NULL && asked_of (rounding, node) != 0 && !gantry_node_is_view (rounding->module, node) && again (node, data)))
        visit (rounding, node);
    }
}

guint8
gantry_rounding_asked (const GantryRounding *rounding, guint32 position, guint member)
{
  return rounding->first[position] + member < rounding->first[position + 1] ? rounding->asked[rounding_slot (rounding, position, member)] : 0;
}

const char *
gantry_rounding_why_not (guint8 asked, GantryPlacementKind kind, gboolean again)
{
  static const char *const reasons[4][2] = {
    { "later phases compare it, sort by it or make it a whole number, which may come out otherwise once it is rounded: keep, offload or recompute it",
      "what is made again from it is compared, sorted by or made a whole number, which may come out otherwise once it is rounded" },
    { "later phases divide by a sum or difference with it, or take a root or logarithm of one, which may cancel once it is rounded: keep, offload or "
      "recompute it",
      "what is made again from it is part of a divisor, or of what a root or logarithm is taken of, which may cancel once it is rounded" },
    { "later phases branch on its sign, and 8 bits make zeros of small elements: keep it, or store f32 as bf16",
      "what is made again from it is asked for its sign, and 8 bits make zeros of small elements" },
    { "later phases divide by it, and 8 bits make zeros of small elements: keep it, or store f32 as bf16",
      "what is made again from it is divided by, and 8 bits make zeros of small elements" },
  };

  if (!gantry_placement_is_approximate (kind))
    return NULL;
  if (!again && (asked & ASKED_SLICES))
    return "a loop reads it slice by slice, and all of it would be restored before that loop, which takes more memory than keeping it: keep, offload or "
           "recompute it, or have the loop written out (--unroll)";
  if (asked & ASKED_EXACT)
    return reasons[0][again];
  if (asked & ASKED_CANCELS)
    return reasons[1][again];
  if (kind == GANTRY_PLACEMENT_INT8 && (asked & ASKED_SIGN))
    return reasons[2][again];
  return kind == GANTRY_PLACEMENT_INT8 && (asked & (ASKED_DIVISOR | ASKED_SOME)) ? reasons[3][again] : NULL;
}

const char *
gantry_rounding_why_not_stored (GantryPlacementKind kind, GantryPlacementSubject subject, gboolean returned, const GantryType *type, guint8 asked)
{
  const char *why;

  if (!gantry_placement_is_approximate (kind))
    return NULL;
  if (subject != GANTRY_SUBJECT_RESIDUAL && subject != GANTRY_SUBJECT_NONE)
    return "only residuals, which the forward phase makes and the backward phase reads, are stored in fewer bits";
  if (type->memory != GANTRY_MEMORY_DEVICE)
    return "the program puts it into host memory";
  if (returned)
    return "it is also a result of the program and has its place anyway";
  why = gantry_compression_why_not (kind, type);
  return why != NULL ? why : gantry_rounding_why_not (asked, kind, FALSE);
}
