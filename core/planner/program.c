/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the entry function: which nodes are needed, which of them are work, which values stand on
 * others, and what depends on constants alone. */
#include "core/planner/program-private.h"
#include "core/base/error.h"
#include "core/expr/storage.h"
#include "core/graph/region.h"
#include <string.h>

/* The sum of all buffers stays far from overflow. */
#define MOST_BYTES (G_GUINT64_CONSTANT (1) << 60)

void
_gantry_program_free (Program *program)
{
  if (program == NULL)
    return;
  g_array_unref (program->values);
  g_array_unref (program->works);
  g_array_unref (program->uses);
  g_array_unref (program->parts);
  g_free (program->returned);
  g_free (program->walked);
  g_clear_pointer (&program->cut, g_hash_table_unref);
  g_free (program->first_after);
  g_free (program->after);
  g_free (program->first_before);
  g_free (program->before);
  g_free (program->first_unit);
  g_free (program->units);
  for (guint i = 0; i < program->regions->len; i++)
    gantry_plan_unref (g_array_index (program->regions, GantryPlanRegion, i).plan);
  g_array_unref (program->regions);
  g_hash_table_unref (program->loops);
  g_free (program->first_value);
  g_free (program->alias);
  g_free (program->first_user);
  g_free (program->users);
  g_free (program->user_use);
  g_clear_pointer (&program->shown, g_array_unref);
  g_free (program->first_shown);
  g_free (program->first_of_root);
  g_free (program->next_of_root);
  gantry_module_unref (program->module);
  g_free (program);
}

gboolean
_gantry_program_fail (const Program *program, const GantryNode *node, GantryError code, const char *what, GError **error)
{
  g_autofree char *label = gantry_node_label (program->module, node);
  g_autofree char *place = gantry_context_location_text (program->module->context, node->location);

  g_set_error (error, GANTRY_ERROR, code, "%s: cannot plan '%s' (%s): %s", place, label, gantry_node_op_name (program->module, node), what);
  return FALSE;
}

/* What nobody uses and what has no effect is not run. Parameters are the interface. */
static guint8 *
mark_needed (const Program *program)
{
  const GantryModule *module = program->module;
  const GantryFunction *function = program->function;
  guint8 *needed = gantry_function_find_needed (module, function, program->absent);

  for (guint i = 0; i < function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, function, i));

      if (node != NULL)
        program->returned[gantry_module_position (module, node) - function->first_node] = TRUE;
    }
  memset (needed, TRUE, function->n_params);
  return needed;
}

static guint32
first_value_of (const Program *program, const GantryNode *node)
{
  return program->first_value[gantry_module_position (program->module, node) - program->function->first_node];
}

guint32
_gantry_program_operand (const Program *program, const GantryNode *node, guint i)
{
  const GantryNode *operand = gantry_node_operand (program->module, node, i);

  if (operand == NULL || gantry_node_type (program->module, operand)->kind != GANTRY_TYPE_TENSOR)
    return NONE;
  return first_value_of (program, operand);
}

gboolean
_gantry_program_may_alias (Program *program, guint32 work, guint i)
{
  const Work *w = WORK (program, work);
  guint8 *known = &program->alias[w->first_slot + i];

  if (*known == ALIAS_UNKNOWN)
    *known = gantry_node_may_alias (program->module, work_node (program, w), i) ? ALIAS_YES : ALIAS_NO;
  return *known == ALIAS_YES;
}

/* Appends a value of the tensor type @type. */
Value *
_gantry_program_add_value (Program *program, const GantryNode *node, guint32 member, const GantryType *type, GError **error)
{
  gint64 bytes = type->kind == GANTRY_TYPE_TENSOR ? gantry_type_bytes (type) : -1;
  Value value = { node->id, member };

  if (type->kind == GANTRY_TYPE_TENSOR && !gantry_element_is_compiled (type->element))
    {
      _gantry_program_fail (program, node, GANTRY_ERROR_UNSUPPORTED, "its element type is not compiled", error);
      return NULL;
    }
  if (bytes < 0)
    {
      _gantry_program_fail (program, node, GANTRY_ERROR_UNSUPPORTED,
                            "the size of its value is not known; bind the symbolic dimensions of the inputs to numbers", error);
      return NULL;
    }
  if ((guint64) bytes > MOST_BYTES / (program->values->len + 1))
    {
      _gantry_program_fail (program, node, GANTRY_ERROR_TOO_LARGE, "its value is larger than any memory", error);
      return NULL;
    }
  value.bytes = (guint64) bytes;
  value.memory = value.typed = type->memory;
  value.phase = node->phase;
  value.base = value.maker = value.group = value.donated = NONE;
  value.root = value.unit = program->values->len;
  g_array_append_val (program->values, value);
  return VALUE (program, program->values->len - 1);
}

/* Appends a value for each member of the node's type. @kind: of all of them */
static gboolean
add_values (Program *program, const GantryNode *node, ValueKind kind, guint32 maker, GError **error)
{
  GantryContext *context = program->module->context;
  const GantryType *type = gantry_node_type (program->module, node);
  gboolean tuple = type->kind == GANTRY_TYPE_TUPLE;
  guint n = type->kind == GANTRY_TYPE_TOKEN ? 0 : tuple ? type->rank : 1;

  for (guint i = 0; i < n; i++)
    {
      const GantryType *member = tuple ? gantry_context_type (context, (guint32) type->dims[i]) : type;
      Value *value;

      if (member->kind == GANTRY_TYPE_TUPLE)
        return _gantry_program_fail (program, node, GANTRY_ERROR_UNSUPPORTED, "a tuple within a tuple", error);
      value = _gantry_program_add_value (program, node, i, member, error);
      if (value == NULL)
        return FALSE;
      value->kind = kind;
      value->maker = maker;
    }
  return TRUE;
}

gboolean
_gantry_program_add_view (Program *program, const GantryNode *node, guint32 member, guint32 base, guint64 offset, const GantryType *type, GError **error)
{
  Value *value = _gantry_program_add_value (program, node, member, type, error);
  const Value *from;

  if (value == NULL)
    return FALSE;
  from = VALUE (program, base);
  value->base = base;
  value->root = from->root;
  value->offset = from->offset + offset;
  value->kind = from->kind;
  value->memory = from->memory;
  value->maker = from->maker;
  value->literal = from->literal;
  value->unit = from->root;
  /* Parts of an argument are known one by one: each may be fetched by itself. */
  if (program->resident && from->kind == VALUE_INPUT && value->bytes != VALUE (program, from->root)->bytes)
    value->unit = value->bytes == from->bytes && offset == 0 ? from->unit : program->values->len - 1;
  return TRUE;
}

static gboolean
add_tuple (Program *program, const GantryNode *node, GError **error)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 operand = _gantry_program_operand (program, node, i);

      if (operand == NONE)
        return _gantry_program_fail (program, node, GANTRY_ERROR_UNSUPPORTED, "a tuple of something that is no tensor", error);
      if (!_gantry_program_add_view (program, node, i, operand, 0, gantry_node_operand_type (program->module, node, i), error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_result (Program *program, const GantryNode *node, GError **error)
{
  const GantryNode *operand = gantry_node_operand (program->module, node, 0);
  const GantryType *tuple = gantry_node_operand_type (program->module, node, 0);
  gint64 index = gantry_attrs_int (program->module->context, node->attrs, "index", 0);

  if (operand == NULL || tuple->kind != GANTRY_TYPE_TUPLE || index < 0 || index >= tuple->rank)
    return _gantry_program_fail (program, node, GANTRY_ERROR_INVALID, "it takes a member that its operand does not have", error);
  return _gantry_program_add_view (program, node, 0, first_value_of (program, operand) + (guint32) index, 0, gantry_node_type (program->module, node), error);
}

/* A view of what was saved, or of what is made again. */
static gboolean
add_choice (Program *program, const GantryNode *node, GError **error)
{
  guint k = gantry_rematerialize_choice (program->module, program->function, node, program->absent);
  guint32 operand = _gantry_program_operand (program, node, k);

  if (operand == NONE)
    return _gantry_program_fail (program, node, GANTRY_ERROR_INVALID, "it stands for something that is no tensor", error);
  return _gantry_program_add_view (program, node, 0, operand, 0, gantry_node_type (program->module, node), error);
}

/* A view has all members of its operand. FALSE in @is_view: it changes the kind of memory, and is work. */
static gboolean
add_views (Program *program, const GantryNode *node, gboolean *is_view, GError **error)
{
  const GantryModule *module = program->module;
  const GantryNode *operand = gantry_node_operand (module, node, 0);
  const GantryType *type = gantry_node_type (module, node);
  guint n = type->kind == GANTRY_TYPE_TUPLE ? type->rank : type->kind == GANTRY_TYPE_TOKEN ? 0 : 1;
  guint32 first = operand != NULL ? first_value_of (program, operand) : NONE;

  *is_view = TRUE;
  if (operand == NULL || (type->kind == GANTRY_TYPE_TUPLE && type->rank != gantry_node_type (module, operand)->rank))
    return _gantry_program_fail (program, node, GANTRY_ERROR_INVALID, "it and its operand do not have the same members", error);
  if (n == 1 && type->kind == GANTRY_TYPE_TENSOR
      && (VALUE (program, first)->typed != type->memory || VALUE (program, first)->bytes != (guint64) gantry_type_bytes (type)))
    {
      *is_view = FALSE;
      return TRUE;
    }
  for (guint i = 0; i < n; i++)
    {
      const GantryType *member = type;

      if (type->kind == GANTRY_TYPE_TUPLE)
        member = gantry_context_type (module->context, (guint32) type->dims[i]);
      if (!_gantry_program_add_view (program, node, i, first + i, 0, member, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_constant (Program *program, const GantryNode *node, GError **error)
{
  GantryContext *context = program->module->context;
  const GantryAttr *attr = gantry_attrs_find (context, node->attrs, "value");
  GantryLiteral *literal = NULL;
  const GantryType *type = gantry_node_type (program->module, node);
  Value *value;
  gsize element;

  if (attr != NULL && attr->kind == GANTRY_ATTR_LITERAL)
    literal = gantry_context_literal (context, attr->id);
  if (literal == NULL)
    return _gantry_program_fail (program, node, GANTRY_ERROR_INVALID, "a constant without a value", error);
  value = _gantry_program_add_value (program, node, 0, type, error);
  if (value == NULL)
    return FALSE;
  element = gantry_element_size (type->element);
  value->literal = attr->id;
  /* A splat of one element is as good as a dense literal. Data may lie anywhere in a model file. */
  value->kind = literal->size == value->bytes && (element == 0 || GPOINTER_TO_SIZE (literal->data) % element == 0) ? VALUE_LITERAL : VALUE_FILLED;
  return TRUE;
}

/* Each unit once. */
static void
add_use (Program *program, const Work *work, guint32 unit)
{
  guint32 k = work->first_use;

  while (k < program->uses->len && g_array_index (program->uses, guint32, k) != unit)
    k++;
  if (k == program->uses->len)
    g_array_append_val (program->uses, unit);
}

static void
add_value_uses (Program *program, const Work *work, guint32 v)
{
  const Value *root = VALUE (program, VALUE (program, v)->root);

  add_use (program, work, VALUE (program, v)->unit);
  for (guint32 k = 0; root->kind == VALUE_GROUP && k < root->n_parts; k++)
    add_use (program, work, value_part (program, root, k));
}

/* The units that the node reads; also members of a tuple operand. Returns: TRUE when all are constant */
static gboolean
add_uses (Program *program, const GantryNode *node, Work *work)
{
  gboolean constant = TRUE;

  work->first_use = program->uses->len;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (program->module, node, i);
      guint32 first, position;

      if (operand == NULL)
        continue;
      position = gantry_module_position (program->module, operand) - program->function->first_node;
      first = program->first_value[position];
      for (guint32 v = first; v < program->first_value[position + 1]; v++)
        {
          const Value *value = VALUE (program, v);

          constant = constant && value_is_constant (value);
          if (value->kind != VALUE_PIECES)
            add_value_uses (program, work, v);
          for (guint32 k = 0; value->kind == VALUE_PIECES && k < value->n_parts; k++)
            add_value_uses (program, work, value_part (program, value, k));
        }
    }
  work->n_uses = program->uses->len - work->first_use;
  return constant;
}

static gboolean
add_work (Program *program, const GantryNode *node, const GantryPlanOptions *options, guint32 *n_slots, const GantryProgress *progress, GError **error)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  Work work = { gantry_module_position (program->module, node) };
  gboolean constant = add_uses (program, node, &work);

  work.phase = node->phase;
  work.effect = (info->flags & GANTRY_OP_EFFECT) != 0;
  /* What is constant is never evicted, so that a copy of it is no queue's. */
  work.init = constant && gantry_op_is_load_time (node->op);
  work.first_value = program->values->len;
  work.first_slot = *n_slots;
  *n_slots += node->n_operands;
  if (!add_values (program, node, work.init ? VALUE_CONSTANT : VALUE_COMPUTED, program->works->len, error))
    return FALSE;
  work.n_results = program->values->len - work.first_value;
  if (node->op == GANTRY_OP_SCAN && !_gantry_program_cut_results (program, node, work.first_value, error))
    return FALSE;
  work.n_values = program->values->len - work.first_value;
  if (node->op == GANTRY_OP_COPY && !constant && work.n_values == 1)
    work.to_host = VALUE (program, work.first_value)->memory != GANTRY_MEMORY_DEVICE
                   && gantry_node_operand_type (program->module, node, 0)->memory == GANTRY_MEMORY_DEVICE;
  if (options != NULL && options->sizes != NULL)
    work.workspace = gantry_kernel_sizes_workspace (options->sizes, work.position);
  if (gantry_node_is_control (node))
    {
      work.effect = gantry_control_has_effect (program->module, node);
      if (!_gantry_program_plan_regions (program, node, &work, options, progress, error))
        return FALSE;
    }
  if (work.workspace > MOST_BYTES / (program->works->len + 1))
    return _gantry_program_fail (program, node, GANTRY_ERROR_TOO_LARGE, "its workspace is larger than any memory", error);
  program->n_init += work.init;
  g_array_append_val (program->works, work);
  return TRUE;
}

static gboolean
add_parameter (Program *program, const GantryNode *node, GError **error)
{
  guint32 v = program->values->len, i = gantry_module_position (program->module, node) - program->function->first_node;

  if (!add_values (program, node, VALUE_INPUT, NONE, error))
    return FALSE;
  if (program->host != NULL && program->host[i])
    VALUE (program, v)->memory = GANTRY_MEMORY_PINNED_HOST;
  return TRUE;
}

static gboolean
add_node (Program *program, const GantryNode *node, const GantryPlanOptions *options, guint32 *n_slots, const GantryProgress *progress, GError **error)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  gboolean is_view = FALSE;
  guint32 n_values = program->values->len;
  g_autoptr (GError) local = NULL;

  if (info == NULL)
    return _gantry_program_fail (program, node, GANTRY_ERROR_UNSUPPORTED, "it is no core operation", error);
  switch (node->op)
    {
    case GANTRY_OP_PARAMETER:
      if (gantry_node_type (program->module, node)->kind == GANTRY_TYPE_TUPLE)
        return _gantry_program_fail (program, node, GANTRY_ERROR_UNSUPPORTED, "a tuple as parameter", error);
      return add_parameter (program, node, error);
    case GANTRY_OP_CONSTANT: return add_constant (program, node, error);
    case GANTRY_OP_TUPLE: return add_tuple (program, node, error);
    case GANTRY_OP_RESULT: return add_result (program, node, error);
    case GANTRY_OP_REMATERIALIZE: return add_choice (program, node, error);
    default: break;
    }
  if ((info->flags & GANTRY_OP_VIEW) && !add_views (program, node, &is_view, error))
    return FALSE;
  if (is_view || (_gantry_program_add_placed (program, node, &local) && program->values->len > n_values))
    return TRUE;
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  return add_work (program, node, options, n_slots, progress, error);
}

static gboolean
mark_results (Program *program, GError **error)
{
  const GantryModule *module = program->module;

  for (guint i = 0; i < program->function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, program->function, i));
      guint32 value;

      if (node == NULL || gantry_node_type (module, node)->kind == GANTRY_TYPE_TOKEN)
        continue;
      if (gantry_node_type (module, node)->kind == GANTRY_TYPE_TUPLE)
        return _gantry_program_fail (program, node, GANTRY_ERROR_UNSUPPORTED, "a tuple as a result of the program", error);
      value = first_value_of (program, node);
      VALUE (program, value)->returned = TRUE;
      VALUE (program, VALUE (program, value)->root)->result = TRUE;
    }
  return TRUE;
}

Program *
_gantry_program_new (GantryModule *module, const GantryPlanOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (Program) program = g_new0 (Program, 1);
  g_autofree guint8 *needed = NULL;
  guint32 n_slots = 0;

  program->module = gantry_module_ref (module);
  program->function = gantry_module_entry (module);
  program->values = g_array_new (FALSE, TRUE, sizeof (Value));
  program->works = g_array_new (FALSE, TRUE, sizeof (Work));
  program->uses = g_array_new (FALSE, FALSE, sizeof (guint32));
  program->parts = g_array_new (FALSE, FALSE, sizeof (guint32));
  program->slices_staged = options == NULL || options->target == NULL || options->target->arch[0] != 0;
  program->regions = g_array_new (FALSE, FALSE, sizeof (GantryPlanRegion));
  program->loops = _gantry_program_loops_new ();
  program->absent = options != NULL ? options->absent : NULL;
  program->host = options != NULL ? options->host : NULL;
  program->over = options != NULL ? options->over : NULL;
  program->resident = gantry_module_is_training (module) || (options != NULL && (options->flags & GANTRY_PLAN_RESIDENT));
  program->returned = g_new0 (guint8, program->function->n_nodes + 1);
  program->first_value = g_new0 (guint32, program->function->n_nodes + 1);
  needed = mark_needed (program);
  _gantry_program_find_pieces (program, needed);
  for (guint32 i = 0; i < program->function->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[program->function->first_node + i];

      program->first_value[i] = program->values->len;
      if (i % 1024 == 0 && gantry_progress_cancelled (progress, error))
        return NULL;
      if (needed[i] && !add_node (program, node, options, &n_slots, progress, error))
        return NULL;
      program->first_value[i + 1] = program->values->len;
    }
  if (!mark_results (program, error))
    return NULL;
  program->alias = g_new0 (guint8, n_slots + 1);
  _gantry_program_list_uses (program);
  _gantry_program_find_donations (program);
  return g_steal_pointer (&program);
}
