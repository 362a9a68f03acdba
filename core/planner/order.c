/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of execution to choose from. Both schedules look at values alone; whether a result can be
 * written over an operand is found out afterwards, when the orders are compared. */
#include "core/base/names.h"
#include "core/planner/program-private.h"

guint32 *
_gantry_order_program (const Program *program)
{
  guint32 *order = g_new (guint32, program->works->len + 1);
  guint32 n = 0;

  for (guint32 w = 0; w < program->works->len; w++)
    if (!WORK (program, w)->init)
      order[n++] = w;
  return order;
}

/* What has a place of its own for the whole run takes nothing more; a group is counted by its parts. */
static gboolean
takes_arena (const Program *program, const Value *value)
{
  if (program->resident
      && (value->kind == VALUE_INPUT || value->kind == VALUE_GROUP || value->result || (value->group != NONE && VALUE (program, value->group)->result)))
    return FALSE;
  return !value_is_constant (value) && value->memory == GANTRY_MEMORY_DEVICE;
}

/* Greedy list scheduling: of what is ready, the work after which the least more (or the most less) is alive; ties in
 * program order. */

typedef struct
{
  gint64 cost;
  guint32 work;
} Ready;

typedef enum
{
  FREES_MOST,
  HOISTED, /* as written, but updates that need no more memory as soon as they can run */
  BREADTH, /* in the order in which they become ready */
} Rule;

typedef struct
{
  const Program *program;
  guint32 *waiting;  /* by work: makers that have not run */
  guint32 *left;     /* by value: users that have not run */
  guint32 *left_xor; /* of those users: when one is left, it is this */
  guint8 *state;     /* by work: 0 waiting, 1 ready, 2 done */
  gint64 *cost;      /* by work, when ready: of its valid heap entry */
  GArray *heap;      /* Ready */
  Rule rule;
  gint64 n_ready; /* works that have become ready */
} Greedy;

static gboolean
before (const Ready *a, const Ready *b)
{
  return a->cost != b->cost ? a->cost < b->cost : a->work < b->work;
}

static void
push (GArray *array, Ready entry)
{
  Ready *heap;
  guint i = array->len;

  g_array_append_val (array, entry);
  heap = (Ready *) (void *) array->data;
  for (; i > 0 && before (&entry, &heap[(i - 1) / 2]); i = (i - 1) / 2)
    heap[i] = heap[(i - 1) / 2];
  heap[i] = entry;
}

static Ready
pop (GArray *array)
{
  Ready *heap = (Ready *) (void *) array->data;
  Ready top = heap[0], last = heap[array->len - 1];
  guint n = array->len - 1, i = 0;

  while (2 * i + 1 < n)
    {
      guint child = 2 * i + 1;

      if (child + 1 < n && before (&heap[child + 1], &heap[child]))
        child++;
      if (!before (&heap[child], &last))
        break;
      heap[i] = heap[child];
      i = child;
    }
  heap[i] = last;
  g_array_set_size (array, n);
  return top;
}

static gint64
cost_of (const Greedy *greedy, guint32 w)
{
  const Program *program = greedy->program;
  const Work *work = WORK (program, w);
  gint64 cost = 0;

  for (guint32 k = 0; k < work->n_values; k++)
    if (takes_arena (program, VALUE (program, work->first_value + k)))
      cost += (gint64) VALUE (program, work->first_value + k)->bytes;
  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 v = USE (program, work, k);

      if (takes_arena (program, VALUE (program, v)) && !VALUE (program, v)->result && greedy->left[v] == 1)
        cost -= (gint64) VALUE (program, v)->bytes;
    }
  if (greedy->rule == HOISTED)
    return work->phase == GANTRY_PHASE_UPDATE && cost <= 0 ? 0 : 1;
  return cost;
}

static void
make_ready (Greedy *greedy, guint32 w)
{
  Ready entry = { greedy->rule == BREADTH ? greedy->n_ready++ : cost_of (greedy, w), w };

  greedy->state[w] = 1;
  greedy->cost[w] = entry.cost;
  push (greedy->heap, entry);
}

static void
run (Greedy *greedy, guint32 w)
{
  const Program *program = greedy->program;
  const Work *work = WORK (program, w);

  greedy->state[w] = 2;
  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 v = USE (program, work, k), other;

      greedy->left[v]--;
      greedy->left_xor[v] ^= w;
      other = greedy->left_xor[v];
      /* It now frees a value, which it did not when it was put in the heap. */
      if (greedy->rule != BREADTH && greedy->left[v] == 1 && greedy->state[other] == 1)
        make_ready (greedy, other);
    }
  for (guint32 k = 0; k < work->n_values; k++)
    {
      const guint32 *first = &program->first_user[work->first_value + k];

      for (guint32 u = first[0]; u < first[1]; u++)
        if (--greedy->waiting[program->users[u]] == 0)
          make_ready (greedy, program->users[u]);
    }
  for (guint32 k = program->first_before[w]; k < program->first_before[w + 1]; k++)
    if (--greedy->waiting[program->before[k]] == 0)
      make_ready (greedy, program->before[k]);
}

static void
count_uses (Greedy *greedy)
{
  const Program *program = greedy->program;

  for (guint32 w = 0; w < program->works->len; w++)
    {
      const Work *work = WORK (program, w);

      for (guint32 k = 0; !work->init && k < work->n_uses; k++)
        {
          guint32 v = USE (program, work, k), maker = VALUE (program, v)->maker;

          greedy->left[v]++;
          greedy->left_xor[v] ^= w;
          if (maker != NONE && !WORK (program, maker)->init)
            greedy->waiting[w]++;
        }
      greedy->waiting[w] += program->first_after[w + 1] - program->first_after[w];
    }
}

static guint32 *
schedule (const Program *program, Rule rule)
{
  guint32 n_works = program->works->len, n_values = program->values->len, n = 0, next_effect = 0;
  g_autofree guint32 *waiting = g_new0 (guint32, n_works + 1), *left = g_new0 (guint32, n_values + 1);
  g_autofree guint32 *left_xor = g_new0 (guint32, n_values + 1), *effects = g_new (guint32, n_works + 1);
  g_autofree guint8 *state = g_new0 (guint8, n_works + 1);
  g_autofree gint64 *cost = g_new0 (gint64, n_works + 1);
  g_autoptr (GArray) heap = g_array_new (FALSE, FALSE, sizeof (Ready));
  Greedy greedy = { program, waiting, left, left_xor, state, cost, heap, rule, 0 };
  guint32 *order = g_new (guint32, n_works + 1), n_effects = 0;

  count_uses (&greedy);
  /* Effects keep their order: each but the first waits for the one before. */
  for (guint32 w = 0; w < n_works; w++)
    if (WORK (program, w)->effect && !WORK (program, w)->init)
      {
        if (n_effects > 0)
          waiting[w]++;
        effects[n_effects++] = w;
      }
  for (guint32 w = 0; w < n_works; w++)
    if (!WORK (program, w)->init && waiting[w] == 0)
      make_ready (&greedy, w);
  while (heap->len > 0)
    {
      Ready entry = pop (heap);

      if (state[entry.work] != 1 || entry.cost != cost[entry.work])
        continue;
      run (&greedy, entry.work);
      order[n++] = entry.work;
      if (WORK (program, entry.work)->effect && ++next_effect < n_effects && --waiting[effects[next_effect]] == 0)
        make_ready (&greedy, effects[next_effect]);
    }
  g_assert (n == n_works - program->n_init);
  return order;
}

guint32 *
_gantry_order_greedy (const Program *program)
{
  return schedule (program, FREES_MOST);
}

guint32 *
_gantry_order_hoisted (const Program *program)
{
  return schedule (program, HOISTED);
}

guint32 *
_gantry_order_breadth (const Program *program)
{
  return schedule (program, BREADTH);
}

/* Depth first from the results down. Of the operands the one that needs the most while it is made, beyond what it
 * leaves behind, comes first: the rule of Sethi and Ullman for trees (J. ACM 17(4), 1970), taken as a guide. */

typedef struct
{
  guint32 work; /* maker */
  double need, size;
} Child;

static int
compare_children (const void *a, const void *b)
{
  const Child *x = a, *y = b;
  double p = x->need - x->size, q = y->need - y->size;

  if (p != q)
    return p > q ? -1 : 1;
  return (x->work > y->work) - (x->work < y->work);
}

static double
made_bytes (const Program *program, const Work *work)
{
  double bytes = 0;

  for (guint32 k = 0; k < work->n_values; k++)
    if (takes_arena (program, VALUE (program, work->first_value + k)))
      bytes += (double) VALUE (program, work->first_value + k)->bytes;
  return bytes;
}

/* The makers of what @w reads, in the order to visit them. @need: (nullable): NULL: as they are read */
static guint32
list_children (const Program *program, guint32 w, const double *need, Child *children)
{
  const Work *work = WORK (program, w);
  guint32 n = 0;

  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 maker = VALUE (program, USE (program, work, k))->maker;

      if (maker == NONE || WORK (program, maker)->init)
        continue;
      children[n].work = maker;
      children[n].need = need != NULL ? need[maker] : 0;
      children[n].size = made_bytes (program, WORK (program, maker));
      n++;
    }
  for (guint32 k = program->first_after[w]; k < program->first_after[w + 1]; k++)
    children[n++] = (Child){ program->after[k], need != NULL ? need[program->after[k]] : 0, 0 };
  if (need != NULL)
    qsort (children, n, sizeof *children, compare_children);
  return n;
}

/* By work: bytes alive while it and all below it are made, were the program a tree. */
static double *
estimate_needs (const Program *program, Child *children)
{
  double *need = g_new0 (double, program->works->len + 1);

  for (guint32 w = 0; w < program->works->len; w++)
    {
      double held = 0;
      guint32 n;

      if (WORK (program, w)->init)
        continue;
      n = list_children (program, w, need, children);
      for (guint32 k = 0; k < n; k++)
        {
          need[w] = MAX (need[w], held + children[k].need);
          held += children[k].size;
        }
      need[w] = MAX (need[w], held + made_bytes (program, WORK (program, w)));
    }
  return need;
}

typedef struct
{
  guint32 work;
  guint32 next; /* index of its next child in the pool */
  guint32 end;
} Frame;

typedef struct
{
  const Program *program;
  const double *need;
  Child *children;
  guint8 *seen;
  GArray *stack; /* Frame */
  GArray *pool;  /* guint32: children of the frames on the stack */
  guint32 *order;
  guint32 n;
} Depth;

static void
enter (Depth *depth, guint32 w)
{
  Frame frame = { w, depth->pool->len };
  guint32 n;

  if (depth->seen[w])
    return;
  depth->seen[w] = TRUE;
  n = list_children (depth->program, w, depth->need, depth->children);
  for (guint32 k = 0; k < n; k++)
    g_array_append_val (depth->pool, depth->children[k].work);
  frame.end = depth->pool->len;
  g_array_append_val (depth->stack, frame);
}

static void
visit (Depth *depth, guint32 w)
{
  enter (depth, w);
  while (depth->stack->len > 0)
    {
      Frame *frame = &g_array_index (depth->stack, Frame, depth->stack->len - 1);

      if (frame->next < frame->end)
        enter (depth, g_array_index (depth->pool, guint32, frame->next++));
      else
        {
          depth->order[depth->n++] = frame->work;
          g_array_set_size (depth->stack, depth->stack->len - 1);
          /* Children of the frame that is left are the last of the pool. */
          if (depth->stack->len > 0)
            g_array_set_size (depth->pool, g_array_index (depth->stack, Frame, depth->stack->len - 1).end);
        }
    }
  g_array_set_size (depth->pool, 0);
}

static guint32 *
depth_first (const Program *program, gboolean hungriest_first)
{
  guint32 most = 1;
  g_autofree Child *children = NULL;
  g_autofree double *need = NULL;
  g_autofree guint8 *seen = g_new0 (guint8, program->works->len + 1);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Frame));
  g_autoptr (GArray) pool = g_array_new (FALSE, FALSE, sizeof (guint32));
  Depth depth = { program, NULL, NULL, seen, stack, pool, g_new (guint32, program->works->len + 1), 0 };

  for (guint32 w = 0; w < program->works->len; w++)
    most = MAX (most, WORK (program, w)->n_uses + program->first_after[w + 1] - program->first_after[w]);
  depth.children = children = g_new (Child, most);
  depth.need = need = hungriest_first ? estimate_needs (program, children) : NULL;
  /* Effects first, in program order among themselves; then what the results need. */
  for (guint32 w = 0; w < program->works->len; w++)
    if (!WORK (program, w)->init && WORK (program, w)->effect)
      visit (&depth, w);
  for (guint32 w = 0; w < program->works->len; w++)
    {
      const Work *work = WORK (program, w);
      gboolean result = FALSE;

      for (guint32 k = 0; k < work->n_values; k++)
        result = result || VALUE (program, work->first_value + k)->result;
      if (!work->init && result)
        visit (&depth, w);
    }
  /* Members of a tuple that nobody takes out are made all the same. */
  for (guint32 w = 0; w < program->works->len; w++)
    if (!WORK (program, w)->init)
      visit (&depth, w);
  g_assert (depth.n == program->works->len - program->n_init);
  return depth.order;
}

guint32 *
_gantry_order_depth (const Program *program)
{
  return depth_first (program, TRUE);
}

guint32 *
_gantry_order_reverse_depth (const Program *program)
{
  return depth_first (program, FALSE);
}

static const char *const order_names[GANTRY_N_ORDERS] = {
  [GANTRY_ORDER_BEST] = "memory",
  [GANTRY_ORDER_PROGRAM] = "program",
  [GANTRY_ORDER_BREADTH] = "breadth",
  [GANTRY_ORDER_DEPTH] = "depth",
};

const char *
gantry_order_name (GantryOrderPolicy order)
{
  return order_names[MIN (order, GANTRY_N_ORDERS - 1)];
}

gboolean
gantry_order_parse (const char *name, GantryOrderPolicy *order)
{
  guint found = gantry_find_name (order_names, GANTRY_N_ORDERS, name);

  if (found == GANTRY_N_ORDERS)
    return FALSE;
  *order = (GantryOrderPolicy) found;
  return TRUE;
}
