/* SPDX-License-Identifier: Apache-2.0 */
/* Loops on data. A loop is a function that decides last which of two it calls, one of which calls it again:
 * `head (x) = (c (x) ? body : after) ()`. Its arguments are what the loop carries, but for those that the body hands on as they
 * are. A body that may leave the loop carries besides whether it has, and what it gave. What follows the loop is written after it. */
#include "core/frontends/mindspore/mindir-private.h"

/** A body that was written. @left: (optional) parameter: whether the loop was left */
typedef struct
{
  MindRegion *region;
  guint32 left;
} Body;

static void
body_clear (Body *body)
{
  gantry_mind_region_free (body->region);
  body->region = NULL;
}

/** A loop while it is read. @leaves: of the arguments; @kept: those that the body hands on; @initial: node ids of the others */
typedef struct
{
  guint graph;
  MindValue *arguments; /* a tuple */
  GPtrArray *leaves;
  gboolean *kept;
  GArray *initial;
  GArray *exits;    /* types of what is carried besides: whether the loop was left, and the leaves of what was given then */
  MindValue *given; /* (nullable): structure of that, and after the loop itself */
  guint32 left;     /* after the loop: whether it was left */
  guint goes_on;    /* the function of the choice that goes on: 1 or 2 */
  MindValue *last;  /* after the loop: its arguments */
  Body body, condition;
} Loop;

static gboolean
is_carried (const Loop *loop, guint i)
{
  return gantry_mind_is_data (g_ptr_array_index (loop->leaves, i)) && !loop->kept[i];
}

/* The arguments in a region that was begun: parameters for what is carried. */
static MindValue *
begin_region (MindImport *import, Loop *loop, const char *name, Body *body, GPtrArray *leaves)
{
  guint at = 0, k = 0;

  body->region = gantry_mind_region_begin (import, name);
  for (guint i = 0; i < loop->leaves->len; i++)
    {
      MindValue *leaf = g_ptr_array_index (loop->leaves, i);

      if (is_carried (loop, i))
        leaf = gantry_mind_node_value (
          import, gantry_builder_parameter (import->b, gantry_builder_type (import->b, g_array_index (loop->initial, guint32, k++)), NULL));
      g_ptr_array_add (leaves, leaf);
    }
  body->left = 0;
  for (guint i = 0; i < loop->exits->len; i++)
    {
      guint32 id = gantry_builder_parameter (import->b, g_array_index (loop->exits, guint32, i), NULL);

      body->left = i == 0 ? id : body->left;
    }
  return gantry_mind_rebuild (import, loop->arguments, (MindValue *const *) leaves->pdata, &at);
}

/* Writes the head of the loop. Returns: (nullable): the call that it ends in */
static MindValue *
write_head (MindImport *import, const Loop *loop, MindValue *arguments)
{
  const MindGraph *head = import->head;
  MindValue *last;

  import->head = g_ptr_array_index (import->graphs, loop->graph);
  last = gantry_mind_write_graph (import, loop->graph, arguments->members, arguments->n);
  import->head = head;
  if (last != NULL && last->kind == MIND_DEFERRED)
    return last;
  gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "a function that calls itself does not end in a choice of what is called");
  return NULL;
}

/* Which of the functions goes on: 1 or 2. 0 where it cannot be told */
static guint
arm_that_goes_on (MindImport *import, const Loop *loop, const MindValue *choice)
{
  gboolean goes[3] = { FALSE };

  for (guint i = 1; i < 3; i++)
    goes[i] = choice->members[i]->graph == loop->graph || gantry_mind_reaches (import, choice->members[i]->graph, loop->graph);
  return goes[1] == goes[2] ? 0 : goes[1] ? 1 : 2;
}

static MindValue *
call_arm (MindImport *import, const MindValue *last, guint arm)
{
  const MindValue *function = last->members[0]->members[arm];
  g_autoptr (GPtrArray) all = g_ptr_array_new ();

  for (guint i = 0; i < function->n; i++)
    g_ptr_array_add (all, function->members[i]);
  for (guint i = 1; i < last->n; i++)
    g_ptr_array_add (all, last->members[i]);
  return gantry_mind_call_graph (import, function->graph, (MindValue *const *) all->pdata, all->len);
}

/* What else is carried where the body may leave the loop. Types are noted the first time. */
static void
take_exit (MindImport *import, Loop *loop, MindValue *mixed, GArray *results)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  gboolean first = loop->exits->len == 0;
  guint n = 0;

  loop->given = mixed->members[2];
  g_ptr_array_add (leaves, mixed->members[0]);
  gantry_mind_flatten (mixed->members[2], leaves);
  for (guint i = 0; i < leaves->len && import->error == NULL; i++)
    if (gantry_mind_is_data (g_ptr_array_index (leaves, i)))
      {
        guint32 id = gantry_mind_use (import, g_ptr_array_index (leaves, i)), type = gantry_builder_type (import->b, id);

        if (first)
          g_array_append_val (loop->exits, type);
        else if (n >= loop->exits->len || type != g_array_index (loop->exits, guint32, n))
          gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "a loop gives values of several types when it is left");
        n++;
        g_array_append_val (results, id);
      }
}

/* What the body hands to the next trip: of each carried leaf a node of the same type. */
static void
take_next (MindImport *import, Loop *loop, GPtrArray *parameters, MindValue *next, gboolean *kept, GArray *results)
{
  MindValue *trip = next != NULL && next->kind == MIND_MIXED ? next->members[1] : next, *tuple;
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();

  if (trip == NULL || trip->kind != MIND_TAIL || trip->graph != loop->graph)
    {
      gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "the body of a loop does not end in its next trip");
      return;
    }
  tuple = gantry_mind_tuple_new (import, trip->n);
  tuple->members = trip->members;
  gantry_mind_flatten (tuple, leaves);
  if (!gantry_mind_same_structure (tuple, loop->arguments))
    gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "a loop carries values of another structure than it begins with");
  for (guint i = 0, k = 0; i < leaves->len && import->error == NULL; i++)
    {
      guint32 id;

      kept[i] = g_ptr_array_index (leaves, i) == g_ptr_array_index (parameters, i);
      if (!is_carried (loop, i))
        continue;
      id = gantry_mind_use (import, g_ptr_array_index (leaves, i));
      if (id != 0 && gantry_builder_type (import->b, id) != gantry_builder_type (import->b, g_array_index (loop->initial, guint32, k++)))
        gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "a loop carries a value of another type than it begins with");
      g_array_append_val (results, id);
    }
  if (import->error == NULL && next->kind == MIND_MIXED)
    take_exit (import, loop, next, results);
}

static void
write_body (MindImport *import, Loop *loop, guint *arm, gboolean *kept)
{
  g_autoptr (GPtrArray) parameters = g_ptr_array_new ();
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  MindValue *arguments = begin_region (import, loop, "body", &loop->body, parameters), *last, *next = NULL;

  g_array_append_val (import->loops, loop->graph);
  last = write_head (import, loop, arguments);
  *arm = last != NULL ? arm_that_goes_on (import, loop, last->members[0]) : 0;
  if (*arm != 0)
    next = call_arm (import, last, *arm);
  else
    gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "a function calls itself in both of its arms, or in none");
  if (import->error == NULL)
    take_next (import, loop, parameters, next, kept, results);
  g_array_set_size (import->loops, import->loops->len - 1);
  gantry_mind_region_end (import, (const guint32 *) (gpointer) results->data, import->error == NULL ? results->len : 0);
}

static void
write_condition (MindImport *import, Loop *loop, guint arm)
{
  g_autoptr (GPtrArray) parameters = g_ptr_array_new ();
  MindValue *arguments = begin_region (import, loop, "condition", &loop->condition, parameters), *last;
  guint32 id = 0;

  g_array_append_val (import->loops, loop->graph);
  last = write_head (import, loop, arguments);
  if (last != NULL)
    id = gantry_mind_predicate (import, last->members[0]->members[0]);
  if (id != 0 && arm == 2)
    id = gantry_builder_unary (import->b, GANTRY_OP_NOT, id);
  if (id != 0 && loop->condition.left != 0)
    id = gantry_builder_binary (import->b, GANTRY_OP_AND, id, gantry_builder_unary (import->b, GANTRY_OP_NOT, loop->condition.left));
  g_array_set_size (import->loops, import->loops->len - 1);
  gantry_mind_region_end (import, &id, import->error == NULL);
}

/* Node ids of what is carried, as it is at first. */
static void
take_initial (MindImport *import, Loop *loop)
{
  g_array_set_size (loop->initial, 0);
  for (guint i = 0; i < loop->leaves->len; i++)
    if (is_carried (loop, i))
      {
        guint32 id = gantry_mind_use (import, g_ptr_array_index (loop->leaves, i));

        g_array_append_val (loop->initial, id);
      }
  for (guint i = 0; i < loop->exits->len; i++)
    {
      const GantryType *type = gantry_context_type (import->context, g_array_index (loop->exits, guint32, i));
      guint32 id = gantry_builder_splat (import->b, (GantryElementType) type->element, 0, type->rank, type->dims);

      g_array_append_val (loop->initial, id);
    }
}

static void
drop_body (MindImport *import, Body *body)
{
  if (body->region != NULL)
    gantry_builder_drop (import->b, body->region->function);
  body_clear (body);
}

/* Writes the bodies: once to see what is handed on, and once without that. */
static gboolean
write_bodies (MindImport *import, Loop *loop, guint *arm)
{
  g_autofree gboolean *kept = g_new0 (gboolean, loop->leaves->len + 1);
  gboolean again = FALSE;

  take_initial (import, loop);
  if (import->error == NULL)
    write_body (import, loop, arm, kept);
  for (guint i = 0; i < loop->leaves->len && import->error == NULL; i++)
    {
      again = again || (kept[i] && is_carried (loop, i));
      loop->kept[i] = kept[i];
    }
  again = again || loop->exits->len > 0;
  if (again && import->error == NULL)
    {
      drop_body (import, &loop->body);
      take_initial (import, loop);
      write_body (import, loop, arm, kept);
    }
  if (import->error == NULL)
    write_condition (import, loop, *arm);
  if (import->error != NULL)
    drop_body (import, &loop->body); /* and what was begun after it */
  return import->error == NULL;
}

/* Whether the loop was left, and what it gave, of the results of node @id from @k on. */
static void
take_results (MindImport *import, Loop *loop, guint32 id, guint k, guint n)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  guint at = 0;

  loop->left = n > 1 ? gantry_builder_result (import->b, id, k++) : id;
  gantry_mind_flatten (loop->given, leaves);
  for (guint i = 0; i < leaves->len; i++)
    if (gantry_mind_is_data (g_ptr_array_index (leaves, i)))
      g_ptr_array_index (leaves, i) = gantry_mind_node_value (import, gantry_builder_result (import->b, id, k++));
  loop->given = gantry_mind_rebuild (import, loop->given, (MindValue *const *) leaves->pdata, &at);
}

/* The node of the loop. Returns: (nullable): the arguments as they are when it has ended */
static MindValue *
write_while (MindImport *import, Loop *loop)
{
  MindRegion *regions[] = { loop->condition.region, loop->body.region };
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  GantryAttrList *attrs = gantry_attr_list_new (import->context);
  guint32 id;
  guint k = 0, at = 0, n_carries = loop->initial->len;

  g_array_append_vals (operands, loop->initial->data, n_carries);
  gantry_mind_regions_align (import, regions, 2, operands);
  gantry_attr_list_set_function (attrs, "cond", loop->condition.region->function);
  gantry_attr_list_set_function (attrs, "body", loop->body.region->function);
  gantry_attr_list_set_int (attrs, "n_carries", n_carries);
  id = gantry_builder_add (import->b, GANTRY_OP_WHILE, (const guint32 *) (gpointer) operands->data, operands->len, gantry_attr_list_end (attrs));
  for (guint i = 0; i < loop->leaves->len; i++)
    {
      MindValue *leaf = g_ptr_array_index (loop->leaves, i);

      if (is_carried (loop, i))
        leaf = gantry_mind_node_value (import, n_carries > 1 ? gantry_builder_result (import->b, id, k++) : id);
      g_ptr_array_add (leaves, leaf);
    }
  if (loop->exits->len > 0)
    take_results (import, loop, id, k, n_carries);
  if (!gantry_builder_check (import->b, import->error == NULL ? &import->error : NULL))
    return NULL;
  return gantry_mind_rebuild (import, loop->arguments, (MindValue *const *) leaves->pdata, &at);
}

/* What follows a loop that ended by its condition. */
static MindValue *
write_after (MindImport *import, const Loop *loop)
{
  MindValue *last = write_head (import, loop, loop->last);

  return last != NULL ? call_arm (import, last, 3 - loop->goes_on) : NULL;
}

/* Where the loop was left, what it gave; else what follows it. */
static MindValue *
write_end (MindImport *import, guint arm, gconstpointer data)
{
  const Loop *loop = data;

  return arm == 0 ? loop->given : write_after (import, loop);
}

MindValue *
gantry_mind_loop (MindImport *import, guint graph, MindValue *const *arguments, guint n)
{
  Loop loop = { .graph = graph, .arguments = gantry_mind_tuple_new (import, n) };
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  g_autoptr (GArray) initial = g_array_new (FALSE, FALSE, sizeof (guint32)), exits = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree gboolean *kept = NULL;
  guint32 scope = import->scope, location = import->location;
  MindValue *value = NULL;

  for (guint i = 0; i < n; i++)
    loop.arguments->members[i] = arguments[i];
  gantry_mind_flatten (loop.arguments, leaves);
  kept = g_new0 (gboolean, leaves->len + 1);
  loop.leaves = leaves;
  loop.initial = initial;
  loop.exits = exits;
  loop.kept = kept;
  if (write_bodies (import, &loop, &loop.goes_on))
    {
      gantry_builder_set_place (import->b, scope, location);
      loop.last = write_while (import, &loop);
      if (loop.last != NULL)
        value = loop.exits->len > 0 ? gantry_mind_join (import, loop.left, write_end, &loop) : write_after (import, &loop);
    }
  body_clear (&loop.body);
  body_clear (&loop.condition);
  return value;
}
