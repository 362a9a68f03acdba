/* SPDX-License-Identifier: Apache-2.0 */
/* How long each work takes: as measured, else as the target says. Where that has a curve of bytes, what a kernel reads takes as long as the
 * bytes say that went through the caches since it was last used (its reuse distance; Mattson, Gecsei, Slutz and Traiger, 1970), and no more
 * than the program has places: weights of a large program come from memory each run, what the kernel before has written is still in a cache. Uses are counted in the order of the
 * program, whatever order is planned, so that costs depend on no placement. */
#include "core/graph/region.h"
#include "core/planner/planner-private.h"

typedef struct
{
  const GantryPlanner *planner;
  double *last;   /* by root: what had been used when it was last */
  double touched; /* bytes that were used so far */
  double footprint; /* of all places: no more than that comes between */
} Uses;

static double
us_per_byte (const Uses *uses, double working_set)
{
  return working_set > 0 ? gantry_curve_us (&uses->planner->target.curves[GANTRY_WORK_BYTES], working_set) / working_set : 0;
}

/* What a byte that @work reads takes, on average; then all that it uses was used last. */
static double
use_all (Uses *uses, const Work *work)
{
  const Program *program = uses->planner->program;
  double bytes = 0, us = 0;

  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 root = VALUE (program, USE (program, work, k))->root;
      double own = (double) VALUE (program, root)->bytes;

      bytes += own;
      us += own * us_per_byte (uses, MIN (uses->touched - uses->last[root] + own, MAX (uses->footprint, own)));
    }
  for (guint32 k = 0; k < work->n_values; k++)
    uses->touched += (double) VALUE (program, work->first_value + k)->bytes;
  uses->touched += bytes;
  for (guint32 k = 0; k < work->n_uses; k++)
    uses->last[VALUE (program, USE (program, work, k))->root] = uses->touched;
  for (guint32 k = 0; k < work->n_values; k++)
    uses->last[VALUE (program, work->first_value + k)->root] = uses->touched;
  return bytes > 0 ? us / bytes : 0;
}

static double
memory_us (const Uses *uses, const Work *work, double us_each)
{
  const GantryPlanner *planner = uses->planner;
  double bytes = (double) MAX (gantry_node_bytes (planner->program->module, work_node (planner->program, work)), 0), written = 0;

  for (guint32 k = 0; k < work->n_values; k++)
    written += (double) VALUE (planner->program, work->first_value + k)->bytes;
  written = MIN (written, bytes);
  return written * us_per_byte (uses, bytes) + (bytes - written) * MAX (us_each, us_per_byte (uses, bytes));
}

static double
predict (Uses *uses, const Work *work)
{
  const GantryPlanner *planner = uses->planner;
  double us_each = use_all (uses, work);

  return gantry_target_predict_kernel_us (&planner->target, planner->program->module, work_node (planner->program, work),
                                          memory_us (uses, work, us_each));
}

/* All that a run uses and that has a place at once, when works run in the order of the program: what the places of one run take, where those of values that
 * nobody needs any more are others' again. */
static double
footprint_of (const Program *program)
{
  g_autofree guint32 *end = g_new0 (guint32, program->values->len + 1);
  g_autofree guint8 *used = g_new0 (guint8, program->values->len + 1);
  double live = 0, held = 0, most = 0;

  for (guint32 w = 0; w < program->works->len; w++)
    for (guint32 k = 0; !WORK (program, w)->init && k < WORK (program, w)->n_uses; k++)
      {
        end[VALUE (program, USE (program, WORK (program, w), k))->root] = w;
        used[VALUE (program, USE (program, WORK (program, w), k))->root] = 1;
      }
  for (guint32 v = 0; v < program->values->len; v++)
    if (used[v] && VALUE (program, v)->kind != VALUE_COMPUTED)
      held += (double) VALUE (program, v)->bytes;
  for (guint32 w = 0; w < program->works->len; w++)
    {
      const Work *work = WORK (program, w);

      for (guint32 k = 0; k < work->n_values; k++)
        if (VALUE (program, work->first_value + k)->kind == VALUE_COMPUTED && VALUE (program, work->first_value + k)->root == work->first_value + k)
          live += (double) VALUE (program, work->first_value + k)->bytes;
      most = MAX (most, live);
      for (guint32 k = 0; k < work->n_uses; k++)
        {
          guint32 root = VALUE (program, USE (program, work, k))->root;

          if (VALUE (program, root)->kind != VALUE_COMPUTED || end[root] != w)
            continue;
          live -= (double) VALUE (program, root)->bytes;
          end[root] = NONE; /* once */
        }
    }
  return held + most;
}

/* Of a run that follows another one. */
static void
begin_uses (Uses *uses)
{
  const Program *program = uses->planner->program;

  uses->footprint = footprint_of (program);
  for (guint32 w = 0; w < program->works->len; w++)
    if (!WORK (program, w)->init)
      use_all (uses, WORK (program, w));
  for (guint32 v = 0; v < program->values->len; v++)
    uses->last[v] -= uses->touched;
  uses->touched = 0;
}

void
_gantry_planner_find_costs (GantryPlanner *planner)
{
  const Program *program = planner->program;
  const gboolean by_curves = planner->target.curves[GANTRY_WORK_BYTES].n > 0;
  g_autofree double *last = g_new0 (double, program->values->len + 1);
  Uses uses = { .planner = planner, .last = last };

  if (by_curves)
    begin_uses (&uses);
  for (guint32 w = 0; w < program->works->len; w++)
    {
      const Work *work = WORK (program, w);
      const GantryNode *node = work_node (program, work);
      const double *us = planner->options.measured_us != NULL
                           ? g_hash_table_lookup (planner->options.measured_us, GUINT_TO_POINTER (node->id)) : NULL;
      double predicted = gantry_node_is_control (node) ? work->control_us
                         : by_curves && !work->init   ? predict (&uses, work) /* what is done at load comes before all runs */
                                                      : gantry_target_predict_node_us (&planner->target, program->module, node);

      planner->cost_us[w] = us != NULL ? *us : predicted;
    }
}
