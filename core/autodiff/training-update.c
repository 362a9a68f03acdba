/* SPDX-License-Identifier: Apache-2.0 */
/* The last part of a training step: the differentiated program is copied, and each parameter's update is written
 * behind the node from which on it can run.
 *
 * That is where its gradient is known and its old value is read no more. In reverse mode the last layer's comes
 * first, so without clipping a gradient dies before the next one is made. Clipping by the global norm needs all
 * gradients first: then only the sum of squares of each is taken where it is made, and the updates follow at the
 * end in the same order.
 *
 * The copy keeps node ids. Origins are rewritten to name nodes of the module that the training step was asked for,
 * through the two snapshots that lie between and that nobody else sees. */
#include "core/autodiff/training-private.h"
#include <string.h>

typedef struct
{
  GantryTraining *training;
  GantryModule *source; /* differentiated */
  const GantryFunction *entry;
  GantryBuilder *builder;
  GArray *origins;                  /* scratch */
  guint32 *by_available, *by_ready; /* indices of trained parameters, in that order */
  guint next_available, next_ready;
  guint32 loss_at; /* position of the loss */
  guint32 penalty; /* scalar: the L2 term of the loss, 0: none */
  guint32 loss;
  GantryUpdateScalars scalars;
} UpdateBuilder;

/* Origins */

static void
add_origin (GArray *origins, guint32 id)
{
  for (guint i = 0; i < origins->len; i++)
    if (g_array_index (origins, guint32, i) == id)
      return;
  g_array_append_val (origins, id);
}

/* What node @id of the module with the loss comes from in the module as given. */
static void
add_origins_through_loss (UpdateBuilder *u, guint32 id)
{
  const GantryModule *with_loss = u->training->with_loss;
  const GantryNode *node = gantry_module_node (with_loss, id);

  if (gantry_module_node (u->training->module, id) != NULL)
    add_origin (u->origins, id);
  else
    for (guint i = 0; node != NULL && i < node->n_origins; i++)
      add_origin (u->origins, with_loss->origins[node->origins + i]);
}

static void
find_origins (UpdateBuilder *u, const GantryNode *node)
{
  g_array_set_size (u->origins, 0);
  if (gantry_module_node (u->training->module, node->id) != NULL)
    return; /* it is the same node */
  if (node->n_origins == 0)
    add_origins_through_loss (u, node->id);
  for (guint i = 0; i < node->n_origins; i++)
    add_origins_through_loss (u, u->source->origins[node->origins + i]);
  if (u->origins->len == 0)
    add_origin (u->origins, u->training->output);
}

/* Copying */

static guint32
copy_node (UpdateBuilder *u, const GantryNode *node)
{
  GantryNode copy = *node;

  find_origins (u, node);
  copy.n_origins = (guint16) MIN (u->origins->len, G_MAXUINT16);
  return gantry_builder_add_node (u->builder, &copy, &u->source->operands[node->operands], (const guint32 *) (gpointer) u->origins->data);
}

static gboolean
copy_function (UpdateBuilder *u, const GantryFunction *function, const GantryProgress *progress, GError **error)
{
  gantry_builder_begin (u->builder, gantry_context_string (u->source->context, function->name), function->id);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      if ((i & 1023) == 0 && gantry_progress_cancelled (progress, error))
        return FALSE;
      copy_node (u, &u->source->nodes[function->first_node + i]);
    }
  gantry_builder_end (u->builder, &u->source->operands[function->results], function->n_results);
  return TRUE;
}

/* Where updates may stand */

/* Position of a value among the nodes of the entry; what is written behind a parameter stands behind the last. */
static guint32
position_of (UpdateBuilder *u, guint32 id)
{
  const GantryNode *node = gantry_module_node (u->source, id);

  return MAX (gantry_module_position (u->source, node) - u->entry->first_node, u->entry->n_params - 1);
}

static void
find_ready (UpdateBuilder *u)
{
  g_autofree guint32 *last = g_new0 (guint32, u->source->n_index); /* by node id: position of the last use */

  u->loss_at = position_of (u, gantry_function_result_id (u->source, u->entry, 0));
  for (guint32 i = 0; i < u->entry->n_nodes; i++)
    {
      const GantryNode *node = &u->source->nodes[u->entry->first_node + i];

      for (guint j = 0; j < node->n_operands; j++)
        last[gantry_node_operand_id (u->source, node, j)] = i;
    }
  for (guint i = 0; i < u->training->trained->len; i++)
    {
      GantryTrained *t = gantry_training_at (u->training, i);

      t->gradient = gantry_function_result_id (u->source, u->entry, 1 + i);
      t->available = position_of (u, t->gradient);
      t->ready = MAX (t->available, last[t->node]);
      if (u->training->options->l2 != 0)
        t->ready = MAX (t->ready, u->loss_at); /* the penalty reads the old value there */
    }
}

static int
compare_places (guint32 a, guint32 b, guint32 i, guint32 j)
{
  return a != b ? (a < b ? -1 : 1) : (i < j ? -1 : i > j);
}

static int
compare_available (gconstpointer a, gconstpointer b, gpointer training)
{
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;

  return compare_places (gantry_training_at (training, i)->available, gantry_training_at (training, j)->available, i, j);
}

static int
compare_ready (gconstpointer a, gconstpointer b, gpointer training)
{
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;

  return compare_places (gantry_training_at (training, i)->ready, gantry_training_at (training, j)->ready, i, j);
}

static void
sort_trained (UpdateBuilder *u)
{
  guint n = u->training->trained->len;

  u->by_available = g_new (guint32, n);
  u->by_ready = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    u->by_available[i] = u->by_ready[i] = i;
  g_qsort_with_data (u->by_available, (gint) n, sizeof (guint32), compare_available, u->training);
  g_qsort_with_data (u->by_ready, (gint) n, sizeof (guint32), compare_ready, u->training);
}

/* Places */

/* Nodes added from now on belong to the update of @t, or (NULL) to what all updates share. */
static void
set_place (UpdateBuilder *u, const GantryTrained *t, GantryPhase phase, const char *scope)
{
  GantryContext *context = u->source->context;
  guint32 origin = t != NULL ? t->node : u->training->output;
  const GantryNode *node = gantry_module_node (u->source, origin);
  g_autofree char *path = t != NULL ? g_strconcat (scope, "/", t->name, NULL) : g_strdup (scope);

  /* Where differentiating made the output anew (it came from a scan) the node itself is gone. */
  if (node == NULL)
    node = gantry_module_node (u->source, gantry_function_result_id (u->source, u->entry, 0));
  gantry_builder_set_place (u->builder, gantry_context_scope (context, path), node != NULL ? node->location : 0);
  gantry_builder_set_phase (u->builder, phase);
  gantry_builder_set_origins (u->builder, &origin, 1);
}

static void
name_it (UpdateBuilder *u, guint32 id, const char *name, const char *suffix)
{
  g_autofree char *full = g_strconcat (name, suffix, NULL);

  gantry_builder_name_node (u->builder, id, gantry_context_intern (u->source->context, full));
}

/* Parameters */

/* Result that trained parameter @i, or (@state >= 0) one of its states, is written to; -1: none. */
static gint64
result_index (const UpdateBuilder *u, guint i, gint state)
{
  const GantryTrainingOptions *options = u->training->options;
  gint64 first = options->no_loss ? 0 : 1;

  if (options->optimizer == GANTRY_OPTIMIZER_NONE)
    return -1;
  return state < 0 ? first + i : first + u->training->trained->len + (gint64) _gantry_optimizer_states (options->optimizer) * i + state;
}

static void
copy_parameter (UpdateBuilder *u, guint32 i, guint *next_trained)
{
  const GantryNode *node = &u->source->nodes[u->entry->first_node + i];
  GantryAttrList *attrs = gantry_attr_list_new (u->source->context);
  GantryNode copy = *node;
  gint64 alias = -1;

  if (*next_trained < u->training->trained->len && gantry_training_at (u->training, *next_trained)->node == node->id)
    alias = result_index (u, (*next_trained)++, -1);
  gantry_attr_list_set_all (attrs, node->attrs);
  /* Another result now stands where a parameter donated before was written. */
  if (alias >= 0 || gantry_attrs_find (u->source->context, node->attrs, "alias") != NULL)
    gantry_attr_list_set_int (attrs, "alias", alias);
  copy.attrs = gantry_attr_list_end (attrs);
  find_origins (u, node);
  copy.n_origins = (guint16) u->origins->len;
  gantry_builder_add_node (u->builder, &copy, NULL, (const guint32 *) (gpointer) u->origins->data);
}

/* @alias: of the result that it is written to */
static guint32
add_state (UpdateBuilder *u, const char *name, guint32 type, gint64 alias, const GantryNode *of)
{
  GantryContext *context = u->source->context;
  const GantryType *tensor = gantry_context_type (context, type);
  gsize size = gantry_element_size ((GantryElementType) tensor->element);
  g_autoptr (GBytes) zero = g_bytes_new_take (g_malloc0 (size), size);
  g_autoptr (GantryLiteral) initial = gantry_literal_new (tensor, zero, gantry_type_elements (tensor) != 1, NULL);
  GantryAttrList *attrs = gantry_attr_list_new (context);
  GantryNode node = {
    .op = GANTRY_OP_PARAMETER, .type = type, .scope = of->scope, .location = of->location, .n_origins = 1, .name = gantry_context_intern (context, name)
  };

  gantry_attr_list_set_string (attrs, "role", "state");
  gantry_attr_list_set_int (attrs, "alias", alias);
  gantry_attr_list_set_literal (attrs, "initial", gantry_context_add_literal (context, initial));
  node.attrs = gantry_attr_list_end (attrs);
  return gantry_builder_add_node (u->builder, &node, NULL, &of->id);
}

static void
add_states (UpdateBuilder *u)
{
  guint n_states = _gantry_optimizer_states (u->training->options->optimizer);
  GantryContext *context = u->source->context;

  for (guint i = 0; i < u->training->trained->len && n_states > 0; i++)
    {
      GantryTrained *t = gantry_training_at (u->training, i);
      const GantryNode *node = gantry_module_node (u->source, t->node);
      const GantryType *shape = gantry_node_type (u->source, node);
      guint32 type = gantry_context_tensor (context, t->element, shape->rank, shape->dims);
      g_autofree char *m = g_strconcat (t->name, "/m", NULL);
      g_autofree char *v = g_strconcat (t->name, "/v", NULL);

      t->m = add_state (u, m, type, result_index (u, i, 0), node);
      if (n_states > 1)
        t->v = add_state (u, v, type, result_index (u, i, 1), node);
    }
  if (n_states > 1)
    u->training->step = add_state (u, "step", gantry_context_scalar (context, GANTRY_I32), result_index (u, u->training->trained->len, 0),
                                   gantry_module_node (u->training->module, u->training->output));
}

/* What is written behind the nodes of the copy */

static guint32
sum_of_squares (UpdateBuilder *u, guint32 x)
{
  const GantryType *type = gantry_builder_get_type (u->builder, x);
  guint32 square = gantry_builder_binary (u->builder, GANTRY_OP_MULTIPLY, x, x);
  gint64 axes[GANTRY_MAX_RANK];

  for (guint d = 0; d < type->rank; d++)
    axes[d] = d;
  return type->rank == 0 ? square : gantry_builder_reduce (u->builder, "add", square, axes, type->rank);
}

/* The loss and, from the parameters alone, its L2 term. */
static void
finish_loss (UpdateBuilder *u, guint32 loss)
{
  const GantryTrainingOptions *options = u->training->options;
  GantryElementType element = (GantryElementType) gantry_builder_get_type (u->builder, loss)->element;

  u->loss = loss;
  if (options->no_loss || options->l2 == 0)
    return;
  for (guint i = 0; i < u->training->trained->len; i++)
    {
      GantryTrained *t = gantry_training_at (u->training, i);
      guint32 square;

      set_place (u, t, GANTRY_PHASE_FORWARD, "loss/l2");
      square = sum_of_squares (u, gantry_builder_convert (u->builder, t->node, t->element));
      square = gantry_builder_convert (u->builder, square, element);
      u->penalty = u->penalty == 0 ? square : gantry_builder_binary (u->builder, GANTRY_OP_ADD, u->penalty, square);
    }
  set_place (u, NULL, GANTRY_PHASE_FORWARD, "loss/l2");
  u->penalty = gantry_builder_binary (u->builder, GANTRY_OP_MULTIPLY, u->penalty, gantry_builder_scalar (u->builder, element, options->l2));
  u->loss = gantry_builder_binary (u->builder, GANTRY_OP_ADD, loss, u->penalty);
  name_it (u, u->loss, "loss", "");
}

/* The gradient as the update takes it: with the L2 term, 2 l2 w, in the element type that the update computes in. */
static void
finish_gradient (UpdateBuilder *u, GantryTrained *t)
{
  const GantryTrainingOptions *options = u->training->options;
  const GantryType *type = gantry_builder_get_type (u->builder, t->node);
  guint32 w;

  set_place (u, t, options->l2 != 0 ? GANTRY_PHASE_BACKWARD : GANTRY_PHASE_UPDATE, options->l2 != 0 ? "loss/l2" : "update");
  t->value = t->gradient;
  if (options->l2 != 0)
    {
      t->value = gantry_builder_convert (u->builder, t->value, t->element);
      w = gantry_builder_convert (u->builder, t->node, t->element);
      w = gantry_builder_binary (u->builder, GANTRY_OP_MULTIPLY, w, gantry_builder_splat (u->builder, t->element, 2 * options->l2, type->rank, type->dims));
      t->value = gantry_builder_binary (u->builder, GANTRY_OP_ADD, t->value, w);
    }
  if (options->optimizer == GANTRY_OPTIMIZER_NONE && options->clip_norm == 0)
    {
      t->new_value = gantry_builder_convert (u->builder, t->value, (GantryElementType) type->element);
      name_it (u, t->new_value, t->name, "/gradient");
      return;
    }
  set_place (u, t, GANTRY_PHASE_UPDATE, "update");
  t->value = gantry_builder_convert (u->builder, t->value, t->element);
  if (options->clip_norm != 0)
    t->square = sum_of_squares (u, t->value);
}

static void
begin_updates (UpdateBuilder *u)
{
  gboolean wanted[2] = { FALSE, FALSE };

  for (guint i = 0; i < u->training->trained->len; i++)
    wanted[gantry_training_at (u->training, i)->element == GANTRY_F64] = TRUE;
  set_place (u, NULL, GANTRY_PHASE_UPDATE, "update");
  _gantry_optimizer_begin (u->builder, u->training->options, u->training->step, wanted[0], wanted[1], &u->scalars);
}

/* clip_norm / max (global norm, clip_norm): exactly 1 where nothing is to be clipped. */
static void
find_clip (UpdateBuilder *u)
{
  double norm = u->training->options->clip_norm;
  GantryElementType element = GANTRY_F32;
  guint32 total = 0, limit;

  for (guint i = 0; i < u->training->trained->len; i++)
    if (gantry_training_at (u->training, i)->element == GANTRY_F64)
      element = GANTRY_F64;
  set_place (u, NULL, GANTRY_PHASE_UPDATE, "update");
  for (guint i = 0; i < u->training->trained->len; i++)
    {
      guint32 square = gantry_builder_convert (u->builder, gantry_training_at (u->training, i)->square, element);

      total = total == 0 ? square : gantry_builder_binary (u->builder, GANTRY_OP_ADD, total, square);
    }
  total = gantry_builder_unary (u->builder, GANTRY_OP_SQRT, total);
  name_it (u, total, "global_norm", "");
  limit = gantry_builder_scalar (u->builder, element, norm);
  total = gantry_builder_binary (u->builder, GANTRY_OP_MAXIMUM, total, limit);
  total = gantry_builder_binary (u->builder, GANTRY_OP_DIVIDE, limit, total);
  u->scalars.clip[0] = gantry_builder_convert (u->builder, total, GANTRY_F32);
  u->scalars.clip[1] = element == GANTRY_F64 ? total : 0;
}

static void
update (UpdateBuilder *u, GantryTrained *t)
{
  const GantryTrainingOptions *options = u->training->options;

  set_place (u, t, GANTRY_PHASE_UPDATE, "update");
  _gantry_optimizer_update (u->builder, options, &u->scalars, t);
  if (options->optimizer == GANTRY_OPTIMIZER_NONE)
    return;
  name_it (u, t->new_value, t->name, "/new");
  name_it (u, t->new_m, t->name, "/m/new");
  name_it (u, t->new_v, t->name, "/v/new");
}

/* Everything that has to wait for node @i of the entry and for nothing after it. */
static void
write_behind (UpdateBuilder *u, guint32 i)
{
  GantryTraining *training = u->training;
  guint n = training->trained->len;

  if (i == u->loss_at)
    finish_loss (u, gantry_function_result_id (u->source, u->entry, 0));
  for (; u->next_available < n; u->next_available++)
    {
      GantryTrained *t = gantry_training_at (training, u->by_available[u->next_available]);

      if (t->available > i)
        break;
      finish_gradient (u, t);
    }
  if (training->options->clip_norm != 0 || training->options->optimizer == GANTRY_OPTIMIZER_NONE)
    return;
  for (; u->next_ready < n; u->next_ready++)
    {
      GantryTrained *t = gantry_training_at (training, u->by_ready[u->next_ready]);

      if (t->ready > i)
        break;
      if (u->next_ready == 0)
        begin_updates (u);
      update (u, t);
    }
}

/* With clipping the updates wait for all gradients. */
static void
write_rest (UpdateBuilder *u)
{
  if (u->training->options->clip_norm == 0)
    return;
  find_clip (u);
  begin_updates (u);
  for (guint i = 0; i < u->training->trained->len; i++)
    update (u, gantry_training_at (u->training, u->by_ready[i]));
}

/* The entry */

static void
write_results (UpdateBuilder *u)
{
  const GantryTraining *training = u->training;
  guint n_states = _gantry_optimizer_states (training->options->optimizer);
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (!training->options->no_loss)
    g_array_append_val (results, u->loss);
  for (guint i = 0; i < training->trained->len; i++)
    g_array_append_val (results, gantry_training_at (training, i)->new_value);
  for (guint i = 0; i < training->trained->len; i++)
    {
      if (n_states > 0)
        g_array_append_val (results, gantry_training_at (training, i)->new_m);
      if (n_states > 1)
        g_array_append_val (results, gantry_training_at (training, i)->new_v);
    }
  if (training->step != 0)
    {
      name_it (u, u->scalars.new_step, "step/new", "");
      g_array_append_val (results, u->scalars.new_step);
    }
  gantry_builder_end (u->builder, (const guint32 *) (gpointer) results->data, results->len);
}

static gboolean
write_entry (UpdateBuilder *u, const GantryProgress *progress, GError **error)
{
  guint next_trained = 0;

  gantry_builder_begin (u->builder, gantry_context_string (u->source->context, u->entry->name), u->entry->id);
  for (guint32 i = 0; i < u->entry->n_params; i++)
    copy_parameter (u, i, &next_trained);
  add_states (u);
  for (guint32 i = u->entry->n_params - 1; i < u->entry->n_nodes; i++)
    {
      if ((i & 1023) == 0 && gantry_progress_cancelled (progress, error))
        return FALSE;
      if (i >= u->entry->n_params)
        copy_node (u, &u->source->nodes[u->entry->first_node + i]);
      write_behind (u, i);
    }
  write_rest (u);
  write_results (u);
  return gantry_builder_check (u->builder, error);
}

GantryModule *
_gantry_training_add_update (GantryTraining *training, GantryModule *differentiated, const GantryProgress *progress, GError **error)
{
  GantryContext *context = differentiated->context;
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, gantry_context_string (context, differentiated->name));
  UpdateBuilder u = { .training = training, .source = differentiated, .builder = builder, .entry = gantry_module_entry (differentiated) };
  GantryModule *module = NULL;
  gboolean ok;

  u.origins = g_array_new (FALSE, FALSE, sizeof (guint32));
  find_ready (&u);
  sort_trained (&u);
  ok = write_entry (&u, progress, error);
  for (guint i = 1; i < differentiated->n_functions && ok; i++)
    ok = copy_function (&u, &differentiated->functions[i], progress, error);
  if (ok)
    module = gantry_builder_finish (builder, error);
  if (module != NULL && differentiated->n_replaced > 0)
    {
      module->n_replaced = differentiated->n_replaced;
      module->replaced = g_memdup2 (differentiated->replaced, 2 * sizeof (guint32) * differentiated->n_replaced);
    }
  g_array_unref (u.origins);
  g_free (u.by_available);
  g_free (u.by_ready);
  return module;
}
