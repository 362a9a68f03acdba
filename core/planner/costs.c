/* SPDX-License-Identifier: Apache-2.0 */
/* How long each work takes: as measured, else as the target says. Where that has a curve of bytes, what a kernel reads takes as long as the
 * bytes say that went through the caches since it was last used (its reuse distance; Mattson, Gecsei, Slutz and Traiger, 1970), and no more
 * than the program has places: weights of a large program come from memory each run, what the kernel before has written is still in a cache.
 * What it writes lies in the place that was left last, as an allocator would give it, or over an operand; lines of another place are fetched before
 * they are written. Uses are counted in the order of the program, whatever order is planned, so that costs depend on no placement. */
#include "core/graph/region.h"
#include "core/planner/planner-private.h"

/* A place that nobody needs any more, and what had been used when it was used last. */
typedef struct
{
  double bytes, since;
} Idle;

typedef struct
{
  const GantryPlanner *planner;
  double *last;     /* by root: what had been used when it was last */
  guint32 *end;     /* by root: the work that reads it last */
  GArray *idle;     /* Idle: the place that was left last at the end */
  double touched;   /* bytes that were used so far */
  double footprint; /* of all places: no more than that comes between */
} Uses;

/* What @bytes of traffic take that were used so long @ago. */
static double
traffic_us (const Uses *uses, double bytes, double ago)
{
  double working_set = MIN (ago + bytes, MAX (uses->footprint, bytes));

  return working_set > 0 ? bytes * gantry_curve_us (&uses->planner->target.curves[GANTRY_WORK_BYTES], working_set) / working_set : 0;
}

/* What was used when a unit was: of an input that very part, else the place that it lies in; NONE: a concatenation that is made by its parts. */
static guint32
place_of (const Program *program, guint32 unit)
{
  const Value *root = VALUE (program, VALUE (program, unit)->root);

  return root->kind == VALUE_GROUP ? NONE : root->kind == VALUE_INPUT ? unit : VALUE (program, unit)->root;
}

/* What a byte that @work reads takes, on average. */
static double
read_us_each (const Uses *uses, const Work *work)
{
  const Program *program = uses->planner->program;
  double bytes = 0, us = 0;

  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 place = place_of (program, USE (program, work, k));
      double own = place != NONE ? (double) VALUE (program, place)->bytes : 0;

      bytes += own;
      us += own > 0 ? traffic_us (uses, own, uses->touched - uses->last[place]) : 0;
    }
  return bytes > 0 ? us / bytes : 0;
}

static double
written_by (const Uses *uses, const Work *work)
{
  double bytes = 0;

  for (guint32 k = 0; k < work->n_values; k++)
    bytes += (double) VALUE (uses->planner->program, work->first_value + k)->bytes;
  return bytes;
}

/* What @work writes over donated inputs. */
static double
written_over_inputs (const Uses *uses, const Work *work)
{
  double bytes = 0;

  for (guint32 k = 0; k < work->n_values; k++)
    if (VALUE (uses->planner->program, work->first_value + k)->donated != NONE)
      bytes += (double) VALUE (uses->planner->program, work->first_value + k)->bytes;
  return bytes;
}

/* What writing @bytes takes, into the places that were left last: they are fetched before they are written. */
static double
write_us (Uses *uses, double bytes)
{
  double us = 0;

  while (bytes > 0 && uses->idle->len > 0)
    {
      Idle *idle = &g_array_index (uses->idle, Idle, uses->idle->len - 1);
      double part = MIN (bytes, idle->bytes);

      us += traffic_us (uses, part, uses->touched - idle->since);
      bytes -= part;
      idle->bytes -= part;
      if (idle->bytes <= 0)
        g_array_set_size (uses->idle, uses->idle->len - 1);
    }
  return GANTRY_WRITE_TRAFFIC * (us + traffic_us (uses, bytes, uses->footprint));
}

/* Whether work @w is the last to read the place @root, which nobody has left yet. */
static gboolean
is_last_use (const Uses *uses, guint32 w, guint32 root)
{
  const Value *value = VALUE (uses->planner->program, root);

  return value->kind == VALUE_COMPUTED && !value->result && uses->end[root] == w;
}

/* Bytes of operands that work @w may write over: it is the last to read them. */
static double
over_operands (const Uses *uses, guint32 w)
{
  Program *program = uses->planner->program;
  const GantryNode *node = work_node (program, WORK (program, w));
  double bytes = 0;

  for (guint32 i = 0; i < node->n_operands; i++)
    {
      guint32 operand = _gantry_program_operand (program, node, i), root = operand != NONE ? VALUE (program, operand)->root : NONE;

      if (root != NONE && is_last_use (uses, w, root) && _gantry_program_may_alias (program, w, i))
        bytes = MAX (bytes, (double) VALUE (program, root)->bytes);
    }
  return bytes;
}

/* Places of what work @w is the last to read, less @taken bytes, which it has written over. */
static void
leave_places (Uses *uses, guint32 w, double taken)
{
  const Program *program = uses->planner->program;
  const Work *work = WORK (program, w);

  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 root = VALUE (program, USE (program, work, k))->root;
      Idle idle = { (double) VALUE (program, root)->bytes, uses->touched };
      double part = MIN (idle.bytes, taken);

      if (!is_last_use (uses, w, root))
        continue;
      uses->end[root] = NONE; /* once */
      taken -= part;
      idle.bytes -= part;
      if (idle.bytes > 0)
        g_array_append_val (uses->idle, idle);
    }
}

static void
touch (Uses *uses, const Work *work)
{
  const Program *program = uses->planner->program;

  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 place = place_of (program, USE (program, work, k));

      uses->touched += place != NONE ? (double) VALUE (program, place)->bytes : 0;
    }
  uses->touched += written_by (uses, work);
  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 place = place_of (program, USE (program, work, k));

      if (place != NONE)
        uses->last[place] = uses->touched;
    }
  for (guint32 k = 0; k < work->n_values; k++)
    uses->last[VALUE (program, work->first_value + k)->root] = uses->touched;
}

/* What the bytes of work @w take; then all that it uses was used last. */
static double
memory_us (Uses *uses, guint32 w)
{
  const Program *program = uses->planner->program;
  const Work *work = WORK (program, w);
  double bytes = (double) MAX (gantry_node_bytes (program->module, work_node (program, work)), 0);
  double written = MIN (written_by (uses, work), bytes), us = (bytes - written) * read_us_each (uses, work);
  double over_inputs = MIN (written_over_inputs (uses, work), written), over = MIN (over_operands (uses, w), written - over_inputs);

  us += traffic_us (uses, over_inputs + over, 0) + write_us (uses, written - over_inputs - over);
  touch (uses, work);
  leave_places (uses, w, over);
  return us;
}

/* Whether a place becomes used when value @v is made: it is no view, and not written over an input. */
static gboolean
has_new_place (const Program *program, guint32 v)
{
  return VALUE (program, v)->kind == VALUE_COMPUTED && VALUE (program, v)->root == v && VALUE (program, v)->donated == NONE;
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
    if (used[v] && VALUE (program, v)->kind != VALUE_COMPUTED && VALUE (program, v)->kind != VALUE_GROUP)
      held += (double) VALUE (program, v)->bytes;
  for (guint32 w = 0; w < program->works->len; w++)
    {
      const Work *work = WORK (program, w);

      for (guint32 k = 0; k < work->n_values; k++)
        if (has_new_place (program, work->first_value + k))
          live += (double) VALUE (program, work->first_value + k)->bytes;
      most = MAX (most, live);
      for (guint32 k = 0; k < work->n_uses; k++)
        {
          guint32 root = VALUE (program, USE (program, work, k))->root;

          if (!has_new_place (program, root) || VALUE (program, root)->result || end[root] != w)
            continue;
          live -= (double) VALUE (program, root)->bytes;
          end[root] = NONE; /* once */
        }
    }
  return held + most;
}

static void
find_ends (Uses *uses)
{
  const Program *program = uses->planner->program;

  for (guint32 w = 0; w < program->works->len; w++)
    for (guint32 k = 0; !WORK (program, w)->init && k < WORK (program, w)->n_uses; k++)
      uses->end[VALUE (program, USE (program, WORK (program, w), k))->root] = w;
}

/* Of a run that follows another one. */
static void
begin_uses (Uses *uses)
{
  const Program *program = uses->planner->program;

  uses->footprint = footprint_of (program);
  find_ends (uses);
  for (guint32 w = 0; w < program->works->len; w++)
    if (!WORK (program, w)->init)
      memory_us (uses, w);
  find_ends (uses);
}

void
_gantry_planner_find_costs (GantryPlanner *planner)
{
  const Program *program = planner->program;
  const gboolean by_curves = planner->target.curves[GANTRY_WORK_BYTES].n > 0;
  g_autofree double *last = g_new0 (double, program->values->len + 1);
  g_autofree guint32 *end = g_new0 (guint32, program->values->len + 1);
  g_autoptr (GArray) idle = g_array_new (FALSE, FALSE, sizeof (Idle));
  Uses uses = { .planner = planner, .last = last, .end = end, .idle = idle };

  if (by_curves)
    begin_uses (&uses);
  for (guint32 w = 0; w < program->works->len; w++)
    {
      const Work *work = WORK (program, w);
      const GantryNode *node = work_node (program, work);
      const double *us = planner->options.measured_us != NULL ? g_hash_table_lookup (planner->options.measured_us, GUINT_TO_POINTER (node->id)) : NULL;
      double bytes_us = by_curves && !work->init ? memory_us (&uses, w) : 0; /* what is done at load comes before all runs */
      double predicted = gantry_node_is_control (node) ? work->control_us
                         : by_curves && !work->init    ? gantry_target_predict_kernel_us (&planner->target, program->module, node, bytes_us)
                                                       : gantry_target_predict_node_us (&planner->target, program->module, node);

      planner->cost_us[w] = us != NULL ? *us : predicted;
    }
}
