/* SPDX-License-Identifier: Apache-2.0 */
/* Who reads a value, and as what: the works that do, and of scans the operands that show it. A scan whose operands are in pieces has as many
 * uses as all of its trips have slices, and what is asked of one of them is asked of all of them at each prediction: nothing here looks
 * through the operands for one use. */
#include "core/graph/operation.h"
#include "core/planner/program-private.h"
#include <string.h>

/* By counting: the lists come out in program order. */
static void
list_users (Program *program)
{
  guint32 n = program->values->len, *next;

  program->first_user = g_new0 (guint32, n + 1);
  program->users = g_new (guint32, program->uses->len + 1);
  program->user_use = g_new (guint32, program->uses->len + 1);
  for (guint32 i = 0; i < program->uses->len; i++)
    program->first_user[g_array_index (program->uses, guint32, i) + 1]++;
  for (guint32 i = 0; i < n; i++)
    program->first_user[i + 1] += program->first_user[i];
  next = g_memdup2 (program->first_user, n * sizeof (guint32));
  for (guint32 w = 0; w < program->works->len; w++)
    for (guint32 k = 0; k < WORK (program, w)->n_uses; k++)
      {
        guint32 u = next[USE (program, WORK (program, w), k)]++;

        program->users[u] = w;
        program->user_use[u] = k;
      }
  g_free (next);
}

guint32
_gantry_program_use_of (const Program *program, guint32 w, guint32 unit)
{
  guint32 first = program->first_user[unit], end = program->first_user[unit + 1], last = end;

  while (first < end)
    {
      guint32 middle = first + (end - first) / 2;

      if (program->users[middle] < w)
        first = middle + 1;
      else
        end = middle;
    }
  return first < last && program->users[first] == w ? program->user_use[first] : NONE;
}

/* @last: by value: the last use of the work that has it as root; of those that are no root of such a one it is not read */
static void
link_roots (Program *program, const Work *work, guint32 *last)
{
  for (guint32 k = 0; k < work->n_uses; k++)
    last[VALUE (program, USE (program, work, k))->root] = NONE;
  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 root = VALUE (program, USE (program, work, k))->root, before = last[root];

      program->first_of_root[work->first_use + k] = before != NONE ? program->first_of_root[work->first_use + before] : k;
      program->next_of_root[work->first_use + k] = NONE;
      if (before != NONE)
        program->next_of_root[work->first_use + before] = k;
      last[root] = k;
    }
}

static void
add_shown (Program *program, guint32 w, guint32 operand, guint32 v)
{
  guint32 k = _gantry_program_use_of (program, w, VALUE (program, v)->unit);
  Shown shown = { operand, NONE };

  if (k == NONE)
    return;
  k += WORK (program, w)->first_use;
  shown.next = program->first_shown[k];
  program->first_shown[k] = program->shown->len;
  g_array_append_val (program->shown, shown);
}

static void
list_shown (Program *program)
{
  g_autofree guint32 *last = g_new (guint32, program->values->len + (gsize) 1);
  gsize n = program->uses->len + (gsize) 1;

  program->shown = g_array_new (FALSE, FALSE, sizeof (Shown));
  program->first_shown = g_new (guint32, n);
  program->first_of_root = g_new (guint32, n);
  program->next_of_root = g_new (guint32, n);
  memset (program->first_shown, 0xff, n * sizeof (guint32));
  memset (program->first_of_root, 0xff, n * sizeof (guint32));
  memset (program->next_of_root, 0xff, n * sizeof (guint32));
  for (guint32 w = 0; w < program->works->len; w++)
    {
      const Work *work = WORK (program, w);
      const GantryNode *node = work_node (program, work);

      if (node->op != GANTRY_OP_SCAN)
        continue;
      link_roots (program, work, last);
      for (guint i = 0; i < node->n_operands; i++)
        {
          guint32 v = _gantry_program_operand (program, node, i);

          if (v != NONE && VALUE (program, v)->kind != VALUE_PIECES)
            add_shown (program, w, i, v);
          for (guint32 k = 0; v != NONE && VALUE (program, v)->kind == VALUE_PIECES && k < VALUE (program, v)->n_parts; k++)
            add_shown (program, w, i, value_part (program, VALUE (program, v), k));
        }
    }
}

void
_gantry_program_list_uses (Program *program)
{
  list_users (program);
  list_shown (program);
}
