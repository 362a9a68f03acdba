/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of nested control as ONNX files: If, Loop and Scan, whose bodies read values of the graphs around them. */
#include "tests/core/frontends/onnx/model-writer.h"
#include "tests/differential/nested.h"

typedef struct
{
  Message *graph;                /* the one that nodes are put into */
  Message *outermost;            /* has the constants */
  GPtrArray *vectors, *integers; /* their names */
  guint n;
} Writer;

static char *write_block (Writer *w, const NestedBlock *block);

static char *
fresh (Writer *w)
{
  return g_strdup_printf ("v%u", w->n++);
}

static Message *
node_of (const char *operation, const char *inputs, const char *output)
{
  return write_node (operation, output, inputs, output);
}

/* Returns: (transfer full): the name of what it gives */
static char *
put (Writer *w, const char *operation, const char *a, const char *b)
{
  g_autofree char *inputs = b != NULL ? g_strconcat (a, ",", b, NULL) : g_strdup (a);
  char *name = fresh (w);

  put_node (w->graph, node_of (operation, inputs, name));
  return name;
}

static char *
put_number (Writer *w, double value)
{
  char *name = fresh (w);

  put_initializer (w->outermost, write_tensor (name, ELEMENT_DOUBLE, "", &value, sizeof value));
  return name;
}

static char *
put_integer (Writer *w, gint64 value)
{
  char *name = fresh (w);

  put_initializer (w->outermost, write_tensor (name, ELEMENT_INT64, "", &value, sizeof value));
  return name;
}

static char *
put_sum_is_less (Writer *w, const char *a, double bound)
{
  g_autofree char *limit = put_number (w, bound), *sum = fresh (w);
  Message *node = node_of ("ReduceSum", a, sum);

  put_attribute (node, write_attribute_int ("keepdims", 0));
  put_node (w->graph, node);
  return put (w, "Less", sum, limit);
}

/* A body without inputs. Returns: (transfer full): the graph that @w wrote to before */
static Message *
begin_graph (Writer *w)
{
  Message *outer = w->graph;

  w->graph = message_new ();
  return outer;
}

static void
end_branch (Writer *w, Message *outer, Message *node, const char *key, const char *value)
{
  put_output (w->graph, write_value (value, ELEMENT_DOUBLE, "4"));
  put_attribute (node, write_attribute_graph (key, w->graph));
  w->graph = outer;
}

static char *
write_quotient (Writer *w, const NestedStep *step)
{
  const char *a = w->vectors->pdata[step->a], *i = w->integers->pdata[step->i];
  g_autofree char *c = put_integer (w, step->c), *same = put (w, "Equal", i, c), *kept = NULL, *apart = NULL, *six = put_integer (w, 6), *quotient = NULL,
                  *number = NULL, *quarter = put_number (w, 0.25), *factor = NULL, *scaled = NULL;
  char *name = fresh (w);
  Message *node = node_of ("If", same, name), *outer = begin_graph (w), *cast;

  kept = put (w, "Identity", a, NULL);
  end_branch (w, outer, node, "then_branch", kept);
  outer = begin_graph (w);
  apart = put (w, "Sub", i, c);
  quotient = put (w, "Div", six, apart);
  number = fresh (w);
  cast = node_of ("Cast", quotient, number);
  put_attribute (cast, write_attribute_int ("to", ELEMENT_DOUBLE));
  put_node (w->graph, cast);
  factor = put (w, "Mul", number, quarter);
  scaled = put (w, "Mul", a, factor);
  end_branch (w, outer, node, "else_branch", scaled);
  put_node (w->graph, node);
  return name;
}

static char *
write_branch (Writer *w, const NestedStep *step)
{
  g_autofree char *c = put_integer (w, step->c);
  g_autofree char *condition = step->kind == NESTED_IF_COUNT ? put (w, "Less", w->integers->pdata[step->i], c)
                                                             : put_sum_is_less (w, w->vectors->pdata[step->a], step->bound);
  char *name = fresh (w);
  Message *node = node_of ("If", condition, name);

  for (guint k = 0; k < 2; k++)
    {
      Message *outer = begin_graph (w);
      g_autofree char *value = write_block (w, step->bodies[k]), *own = put (w, "Identity", value, NULL);

      end_branch (w, outer, node, k == 0 ? "then_branch" : "else_branch", own);
    }
  put_node (w->graph, node);
  return name;
}

static char *
put_trips (Writer *w, const NestedStep *step)
{
  g_autofree char *c = NULL, *sum = NULL, *low = NULL, *zero = NULL, *most = NULL;

  if (step->kind == NESTED_UNTIL)
    return put_integer (w, NESTED_MOST_UNTIL);
  c = put_integer (w, step->c);
  zero = put_integer (w, 0);
  most = put_integer (w, NESTED_MOST_TRIPS);
  sum = put (w, "Add", w->integers->pdata[step->i], c);
  low = put (w, "Max", sum, zero);
  return put (w, "Min", low, most);
}

/* The steps of a body within what it is given. Returns: (transfer full): the name of what it carries on */
static char *
write_trip (Writer *w, const NestedStep *step, const char *carry, const char *counter, const char *row)
{
  guint n_vectors = w->vectors->len, n_integers = w->integers->len;
  g_autofree char *value = NULL;

  g_ptr_array_add (w->vectors, (gpointer) carry);
  if (row != NULL)
    g_ptr_array_add (w->vectors, (gpointer) row);
  else
    g_ptr_array_add (w->integers, (gpointer) counter);
  value = write_block (w, step->bodies[0]);
  g_ptr_array_set_size (w->vectors, (gint) n_vectors);
  g_ptr_array_set_size (w->integers, (gint) n_integers);
  return put (w, "Tanh", value, NULL);
}

static char *
write_loop (Writer *w, const NestedStep *step)
{
  const char *a = w->vectors->pdata[step->a];
  gboolean until = step->kind == NESTED_UNTIL;
  g_autofree char *trips = put_trips (w, step), *first = until ? put_sum_is_less (w, a, step->bound) : g_strdup (""), *counter = fresh (w), *go = fresh (w),
                  *carry = fresh (w), *next = NULL, *more = NULL, *inputs = g_strconcat (trips, ",", first, ",", a, NULL);
  char *name = fresh (w);
  Message *node = node_of ("Loop", inputs, name), *outer = begin_graph (w);

  put_input (w->graph, write_value (counter, ELEMENT_INT64, ""));
  put_input (w->graph, write_value (go, ELEMENT_BOOL, ""));
  put_input (w->graph, write_value (carry, ELEMENT_DOUBLE, "4"));
  next = write_trip (w, step, carry, counter, NULL);
  more = until ? put_sum_is_less (w, next, step->bound) : put (w, "Identity", go, NULL);
  put_output (w->graph, write_value (more, ELEMENT_BOOL, ""));
  end_branch (w, outer, node, "body", next);
  put_node (w->graph, node);
  return name;
}

static char *
write_scan (Writer *w, const NestedStep *step)
{
  g_autofree char *last = fresh (w), *rows = fresh (w), *both = g_strconcat (last, ",", rows, NULL), *carry = fresh (w), *row = fresh (w), *next = NULL,
                  *own = NULL, *sum = fresh (w), *quarter = put_number (w, 0.25), *scaled = NULL, *axis = fresh (w),
                  *inputs = g_strconcat (w->vectors->pdata[step->a], ",m", NULL), *summed = g_strconcat (rows, ",", axis, NULL);
  static const gint64 zero = 0;
  Message *node = write_node ("Scan", last, inputs, both), *outer = begin_graph (w), *reduce;

  put_attribute (node, write_attribute_int ("num_scan_inputs", 1));
  put_attribute (node, write_attribute_ints ("scan_input_directions", step->reverse ? "1" : "0"));
  put_input (w->graph, write_value (carry, ELEMENT_DOUBLE, "4"));
  put_input (w->graph, write_value (row, ELEMENT_DOUBLE, "4"));
  next = write_trip (w, step, carry, NULL, row);
  own = put (w, "Identity", next, NULL);
  put_output (w->graph, write_value (next, ELEMENT_DOUBLE, "4"));
  end_branch (w, outer, node, "body", own);
  put_node (w->graph, node);
  put_initializer (w->outermost, write_tensor (axis, ELEMENT_INT64, "1", &zero, sizeof zero));
  reduce = node_of ("ReduceSum", summed, sum);
  put_attribute (reduce, write_attribute_int ("keepdims", 0));
  put_node (w->graph, reduce);
  scaled = put (w, "Mul", sum, quarter);
  return put (w, "Add", last, scaled);
}

static char *
write_plain (Writer *w, const NestedStep *step)
{
  static const char *const ops[] = { "Tanh", "Sin", "Add", "Sub", "Mul" };
  gboolean unary = step->kind == NESTED_TANH || step->kind == NESTED_SINE;
  g_autofree char *value = put (w, ops[step->kind], w->vectors->pdata[step->a], unary ? NULL : w->vectors->pdata[step->b]), *half = NULL;

  if (step->kind != NESTED_MULTIPLY)
    return g_steal_pointer (&value);
  half = put_number (w, 0.5);
  return put (w, "Mul", value, half);
}

static char *
write_step (Writer *w, const NestedStep *step)
{
  switch (step->kind)
    {
    case NESTED_QUOTIENT: return write_quotient (w, step);
    case NESTED_IF_COUNT:
    case NESTED_IF_SUM: return write_branch (w, step);
    case NESTED_LOOP:
    case NESTED_UNTIL: return write_loop (w, step);
    case NESTED_SCAN: return write_scan (w, step);
    default: return write_plain (w, step);
    }
}

/* Returns: (transfer full): the name of its value */
static char *
write_block (Writer *w, const NestedBlock *block)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  guint n = w->vectors->len;

  for (guint i = 0; i < block->steps->len; i++)
    {
      g_ptr_array_add (names, write_step (w, &g_array_index (block->steps, NestedStep, i)));
      g_ptr_array_add (w->vectors, names->pdata[names->len - 1]);
    }
  g_ptr_array_set_size (w->vectors, (gint) n);
  return g_strdup (names->pdata[names->len - 1]);
}

GBytes *
nested_to_onnx (const NestedBlock *block, const gint64 *k)
{
  Message *graph = message_new ();
  Writer w = { graph, graph, g_ptr_array_new (), g_ptr_array_new () };
  g_autofree char *value = NULL, *last = NULL, *known = k != NULL ? put_integer (&w, *k) : g_strdup ("k");

  put_input (graph, write_value ("x", ELEMENT_DOUBLE, "4"));
  put_input (graph, write_value ("k", ELEMENT_INT64, ""));
  put_input (graph, write_value ("m", ELEMENT_DOUBLE, "3,4"));
  g_ptr_array_add (w.vectors, (gpointer) "x");
  g_ptr_array_add (w.integers, known);
  value = write_block (&w, block);
  last = put (&w, "Identity", value, NULL);
  put_output (graph, write_value (last, ELEMENT_DOUBLE, "4"));
  g_ptr_array_unref (w.vectors);
  g_ptr_array_unref (w.integers);
  return finish_model (write_model (graph));
}
