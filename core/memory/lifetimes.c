/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness under an order: from when to when each value is needed, which result is written over
 * which operand, and how many bytes are alive at each step. */
#include "core/memory/program-private.h"

void
_gantry_lifetimes_free (Lifetimes *lifetimes)
{
  if (lifetimes == NULL)
    return;
  g_free (lifetimes->step_work);
  g_free (lifetimes->begin);
  g_free (lifetimes->end);
  g_free (lifetimes->over);
  g_free (lifetimes->place);
  g_free (lifetimes->place_size);
  g_free (lifetimes->place_end);
  g_free (lifetimes->live);
  g_free (lifetimes);
}

static void
number_steps (Program *program, const guint32 *order, Lifetimes *lifetimes)
{
  guint32 n_works = program->works->len, n = 0;

  lifetimes->n_steps = n_works;
  lifetimes->n_init = program->n_init;
  lifetimes->step_work = g_new (guint32, n_works + 1);
  for (guint32 w = 0; w < n_works; w++)
    if (WORK (program, w)->init)
      lifetimes->step_work[n++] = w;
  for (guint32 k = 0; k < n_works - program->n_init; k++)
    lifetimes->step_work[n++] = order[k];
}

/* A constant that the program proper uses stays: it ends at n_init. */
static void
extend (Program *program, Lifetimes *lifetimes, guint32 value, guint32 step)
{
  if (value_is_constant (VALUE (program, value)))
    step = MIN (step, lifetimes->n_init);
  lifetimes->end[value] = MAX (lifetimes->end[value], step);
}

static void
find_ends (Program *program, Lifetimes *lifetimes)
{
  guint32 last = MAX (lifetimes->n_steps, lifetimes->n_init + 1) - 1;

  for (guint32 v = 0; v < program->values->len; v++)
    if (VALUE (program, v)->kind == VALUE_INPUT)
      lifetimes->begin[v] = lifetimes->end[v] = lifetimes->n_init;
  for (guint32 s = 0; s < lifetimes->n_steps; s++)
    {
      const Work *work = WORK (program, lifetimes->step_work[s]);

      for (guint32 k = 0; k < work->n_values; k++)
        lifetimes->begin[work->first_value + k] = lifetimes->end[work->first_value + k] = s;
      for (guint32 k = 0; k < work->n_uses; k++)
        extend (program, lifetimes, USE (program, work, k), s);
    }
  for (guint32 v = 0; v < program->values->len; v++)
    if (VALUE (program, v)->result)
      extend (program, lifetimes, v, last);
}

/* May operand @i of the work, whose root is @root, be overwritten at step @s? */
static gboolean
may_take_over (Program *program, const Lifetimes *lifetimes, guint32 s, guint i, guint32 root)
{
  guint32 w = lifetimes->step_work[s];
  const Work *work = WORK (program, w);
  const GantryNode *node = work_node (program, work);
  const Value *from = VALUE (program, root), *to = VALUE (program, work->first_value);

  if (from->result || from->kind == VALUE_LITERAL || lifetimes->end[root] != s || from->memory != to->memory
      || from->bytes != to->bytes || (value_is_constant (from) && !work->init)
      || !_gantry_program_may_alias (program, w, i))
    return FALSE;
  /* The same bytes may be read through another operand, and not element by element. */
  for (guint k = 0; k < node->n_operands; k++)
    {
      guint32 other = k == i ? NONE : _gantry_program_operand (program, node, k);

      if (other != NONE && VALUE (program, other)->root == root && !_gantry_program_may_alias (program, w, k))
        return FALSE;
    }
  return TRUE;
}

static void
take_over (Program *program, Lifetimes *lifetimes, guint32 s)
{
  const Work *work = WORK (program, lifetimes->step_work[s]);
  const GantryNode *node = work_node (program, work);

  if (work->n_values != 1 || gantry_node_type (program->module, node)->kind != GANTRY_TYPE_TENSOR
      || VALUE (program, work->first_value)->bytes == 0)
    return;
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 operand = _gantry_program_operand (program, node, i);
      guint32 root = operand != NONE ? VALUE (program, operand)->root : NONE;

      if (root == NONE || !may_take_over (program, lifetimes, s, i, root))
        continue;
      lifetimes->over[work->first_value] = root;
      return;
    }
}

static void
find_places (Program *program, Lifetimes *lifetimes)
{
  for (guint32 v = 0; v < program->values->len; v++)
    {
      const Value *value = VALUE (program, v);
      guint32 owner = v;

      if (value->root != v)
        continue;
      /* Operands come before their users, so the chain is settled up to here. */
      if (lifetimes->over[v] != NONE)
        owner = lifetimes->place[lifetimes->over[v]];
      lifetimes->place[v] = owner;
      lifetimes->place_size[owner] = MAX (lifetimes->place_size[owner], place_bytes (value->bytes));
      lifetimes->place_end[owner] = MAX (lifetimes->place_end[owner], lifetimes->end[v]);
    }
}

static void
sum_live (Program *program, Lifetimes *lifetimes)
{
  guint32 n = lifetimes->n_steps;
  guint64 live = 0;

  /* Differences first (modulo 2^64), one more for inputs of a program without steps. */
  lifetimes->live = g_new0 (guint64, n + 2);
  for (guint32 v = 0; v < program->values->len; v++)
    {
      const Value *value = VALUE (program, v);

      if (value->root != v || lifetimes->place[v] != v || value_is_constant (value)
          || value->memory != GANTRY_MEMORY_DEVICE)
        continue;
      lifetimes->live[lifetimes->begin[v]] += lifetimes->place_size[v];
      lifetimes->live[lifetimes->place_end[v] + 1] -= lifetimes->place_size[v];
    }
  for (guint32 s = 0; s <= n; s++)
    {
      guint64 workspace = 0;

      live += lifetimes->live[s];
      if (s >= lifetimes->n_init && s < n)
        workspace = place_bytes (WORK (program, lifetimes->step_work[s])->workspace);
      lifetimes->live[s] = live + workspace;
      lifetimes->peak = MAX (lifetimes->peak, lifetimes->live[s]);
    }
}

Lifetimes *
_gantry_lifetimes_new (Program *program, const guint32 *order, GantryPlanFlags flags)
{
  Lifetimes *lifetimes = g_new0 (Lifetimes, 1);
  guint32 n = program->values->len;

  lifetimes->begin = g_new0 (guint32, n);
  lifetimes->end = g_new0 (guint32, n);
  lifetimes->over = g_new (guint32, n);
  lifetimes->place = g_new (guint32, n);
  lifetimes->place_size = g_new0 (guint64, n);
  lifetimes->place_end = g_new0 (guint32, n);
  for (guint32 v = 0; v < n; v++)
    lifetimes->over[v] = lifetimes->place[v] = NONE;
  number_steps (program, order, lifetimes);
  find_ends (program, lifetimes);
  for (guint32 s = 0; s < lifetimes->n_steps && (flags & GANTRY_PLAN_NO_IN_PLACE) == 0; s++)
    take_over (program, lifetimes, s);
  find_places (program, lifetimes);
  sum_live (program, lifetimes);
  return lifetimes;
}
