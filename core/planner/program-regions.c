/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that control names, planned by themselves: what their control needs beside operands and results, and how long it takes. */
#include "core/plan/plan-alive.h"
#include "core/plan/region-layout.h"
#include "core/planner/program-private.h"
#include <string.h>

#define MOST_NESTED 32

/* Limits are for the whole program: the regions come as small as they can. */
static GantryPlan *
make_plan (GantryModule *region, const GantryPlanOptions *options, const guint8 *absent, const guint8 *host, const gint32 *over, const GantryProgress *progress,
           GError **error)
{
  GantryPlanOptions inner = options != NULL ? *options : (GantryPlanOptions){ 0 };
  GantryTarget target;

  if (inner.target != NULL)
    {
      target = *inner.target;
      target.memory_limit = target.host_limit = 0;
      gantry_target_enter_loop (&target);
      inner.target = &target;
    }
  inner.absent = absent;
  inner.host = host;
  inner.over = over;
  inner.flags |= GANTRY_PLAN_RESIDENT;
  inner.nesting++;
  return gantry_memory_plan (region, &inner, progress, error);
}

GantryPlan *
_gantry_program_region_plan (const Program *program, guint32 function)
{
  for (guint i = 0; i < program->regions->len; i++)
    if (g_array_index (program->regions, GantryPlanRegion, i).function == function)
      return g_array_index (program->regions, GantryPlanRegion, i).plan;
  return NULL;
}

/* Returns: (transfer none) (nullable) */
static GantryPlan *
plan_of (Program *program, GantryModule *module, guint32 function, const GantryPlanOptions *options, const GantryProgress *progress, GError **error)
{
  GantryPlanRegion region = { .function = function, .plan = _gantry_program_region_plan (program, function) };

  if (region.plan != NULL)
    return region.plan;
  region.plan = make_plan (module, options, NULL, NULL, NULL, progress, error);
  if (region.plan == NULL)
    return NULL;
  g_array_append_val (program->regions, region);
  return region.plan;
}

static double
time_of (const GantryControl *control, const double *us)
{
  double trips = (double) MAX (control->trips, control->kind == GANTRY_CONTROL_SCAN ? 0 : 1);

  switch ((GantryControlKind) control->kind)
    {
    case GANTRY_CONTROL_BRANCH: return MAX (us[GANTRY_CONTROL_THEN], us[GANTRY_CONTROL_ELSE]);
    case GANTRY_CONTROL_WHILE: return trips * us[GANTRY_CONTROL_BODY] + (trips + 1) * us[GANTRY_CONTROL_CONDITION];
    case GANTRY_CONTROL_SCAN: return trips * us[GANTRY_CONTROL_BODY];
    default: return us[0];
    }
}

/* Whether what stands outside of a scan keeps slices of it from being used where they lie; what is offloaded is no slice's business
 * here: see _gantry_planner_workspace(). What is at home in the host and of a type of the device is fetched as a whole, so that slices
 * lie on the device. By parameter of the body, then by result. (transfer full) */
static guint8 *
find_staged (const Program *program, const GantryNode *node, const GantryControl *control)
{
  guint n = control->n_operands - control->first + control->n_results;
  guint8 *staged = g_new0 (guint8, n + 1);

  memset (staged, program->slices_staged ? GANTRY_SLICE_STAGED : 0, n);
  for (guint i = control->first; i < control->n_operands; i++)
    {
      guint32 operand = _gantry_program_operand (program, node, i);
      const Value *value = operand != NONE ? VALUE (program, operand) : NULL;

      if (value == NULL || value->kind == VALUE_LITERAL || value->typed != GANTRY_MEMORY_DEVICE)
        staged[i - control->first] = GANTRY_SLICE_STAGED;
      if (value != NULL && value->typed != GANTRY_MEMORY_DEVICE && !program->slices_staged)
        staged[i - control->first] |= GANTRY_SLICE_STREAMED;
    }
  return staged;
}

gboolean
_gantry_program_plan_regions (Program *program, const GantryNode *node, Work *work, const GantryPlanOptions *options, const GantryProgress *progress,
                              GError **error)
{
  g_autofree guint8 *staged = NULL;
  GantryControl control;
  double us[2] = { 0, 0 };

  if (!gantry_control_of (program->module, node, &control))
    return _gantry_program_fail (program, node, GANTRY_ERROR_INVALID, "it names a function that is not in the module", error);
  if (options != NULL && options->nesting >= MOST_NESTED)
    return _gantry_program_fail (program, node, GANTRY_ERROR_UNSUPPORTED, "branches and loops nest deeper than " G_STRINGIFY (MOST_NESTED), error);
  staged = find_staged (program, node, &control);
  for (guint r = 0; r < control.n_regions; r++)
    {
      g_autoptr (GantryModule) module = gantry_module_region (program->module, control.functions[r]);
      GantryPlan *plan = plan_of (program, module, control.functions[r], options, progress, error);
      g_autoptr (GantryRegionLayout) layout = plan != NULL ? gantry_region_layout_new (&control, r, module, plan, staged, error) : NULL;

      if (layout == NULL)
        return FALSE;
      program->region_bytes += plan->constant_bytes + plan->literal_bytes; /* each control loads its regions for itself */
      work->workspace = MAX (work->workspace, layout->bytes);
      us[r] = plan->total_us;
    }
  work->control_us = time_of (&control, us);
  return TRUE;
}

/* Scans without some of their stacks, or with some over others */

void
_gantry_loop_free (Loop *loop)
{
  g_free (loop->slices);
  g_free (loop->host);
  g_free (loop->over);
  g_free (loop->unmet);
  g_free (loop->unread);
  g_free (loop->root_unread);
  g_free (loop->root_fetched);
  g_free (loop->operand_unread);
  g_clear_pointer (&loop->plan, gantry_plan_unref);
  g_free (loop);
}

/* What the body reads and fetches: by use of the work, then by operand. */
static void
find_read (const Program *program, const Work *work, const GantryModule *region, const GantryControl *control, Loop *loop)
{
  g_autofree guint8 *needed = gantry_function_find_needed (region, gantry_module_entry (region), loop->slices);

  loop->unread = g_new0 (guint8, work->n_uses + (gsize) 1);
  loop->root_unread = g_new0 (guint8, work->n_uses + (gsize) 1);
  loop->root_fetched = g_new0 (guint8, work->n_uses + (gsize) 1);
  loop->operand_unread = g_new (guint8, loop->n_operands + (gsize) 1);
  memset (loop->operand_unread, TRUE, loop->n_operands);
  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 s = program->first_shown[work->first_use + k];
      guint8 fetched = TRUE, first = program->first_of_root[work->first_use + k] == k;
      guint32 root = program->first_of_root[work->first_use + k];

      loop->unread[k] = s != NONE;
      for (; s != NONE; s = SHOWN (program, s)->next)
        {
          guint32 i = SHOWN (program, s)->operand;

          loop->unread[k] = loop->unread[k] && i >= control->n_carries && !needed[i];
          fetched = fetched && loop->host[i];
        }
      loop->root_unread[root] = (first || loop->root_unread[root]) && loop->unread[k];
      loop->root_fetched[root] = (first || loop->root_fetched[root]) && fetched;
    }
  for (guint32 k = 0; k < work->n_uses; k++)
    {
      loop->root_unread[k] = loop->root_unread[program->first_of_root[work->first_use + k]];
      loop->root_fetched[k] = loop->root_fetched[program->first_of_root[work->first_use + k]];
      for (guint32 s = program->first_shown[work->first_use + k]; s != NONE; s = SHOWN (program, s)->next)
        loop->operand_unread[SHOWN (program, s)->operand] &= loop->root_unread[k];
    }
}

/* Slices of what is not there while the loop runs: not given, not kept, or not read. By operand, then by result. */
static void
add_absent (const Program *program, const Loop *loop, guint8 *slices)
{
  const Work *work = WORK (program, loop->work);
  const GantryNode *node = work_node (program, work);

  for (guint i = 0; i < loop->n; i++)
    slices[i] |= loop->slices[i];
  for (guint32 k = 0; k < work->n_uses; k++)
    for (guint32 s = loop->unread[k] ? program->first_shown[work->first_use + k] : NONE; s != NONE; s = SHOWN (program, s)->next)
      {
        guint32 i = SHOWN (program, s)->operand;

        /* Constants lie where they lie, whoever reads them. */
        if (!value_is_constant (VALUE (program, _gantry_program_operand (program, node, i))))
          slices[i] |= GANTRY_SLICE_ABSENT;
      }
}

/* Whether @output is all of the place of @input, a slice that may be written over. */
static gboolean
lies_over (const GantryPlan *plan, guint32 output, guint32 input)
{
  const GantryPlanBuffer *a = &plan->buffers[output], *b = &plan->buffers[input];

  return gantry_plan_place_of (plan, output) == gantry_plan_place_of (plan, input) && a->offset == b->offset && a->size == b->size;
}

static guint8 *
find_unmet (const Loop *loop, const GantryRegionLayout *layout)
{
  guint8 *unmet = g_new0 (guint8, loop->n + (gsize) 1);

  for (guint32 i = 0; loop->over != NULL && i < layout->n_inputs; i++)
    unmet[i] = loop->over[i] >= 0 && !lies_over (loop->plan, layout->outputs[loop->over[i]], layout->inputs[i]);
  return unmet;
}

/* @loop: has what it is asked for by */
static void
make_loop (Program *program, Loop *loop, const GantryControl *control, const GantryPlanOptions *options)
{
  const Work *work = WORK (program, loop->work);
  g_autoptr (GantryModule) region = gantry_module_region (program->module, control->functions[GANTRY_CONTROL_BODY]);
  g_autofree guint8 *all = find_staged (program, work_node (program, work), control);
  g_autoptr (GantryRegionLayout) layout = NULL;
  gboolean whole = loop->over == NULL;

  loop->function = control->functions[GANTRY_CONTROL_BODY];
  find_read (program, work, region, control, loop);
  for (guint i = 0; i < control->n_operands; i++)
    whole = whole && loop->slices[i] == 0 && loop->host[i] == 0;
  add_absent (program, loop, all);
  loop->plan = whole ? gantry_plan_ref (plan_of (program, region, loop->function, options, NULL, NULL))
                     : make_plan (region, options, loop->slices, loop->host, loop->over, NULL, NULL);
  layout = loop->plan != NULL ? gantry_region_layout_new (control, GANTRY_CONTROL_BODY, region, loop->plan, all, NULL) : NULL;
  if (layout == NULL)
    {
      g_clear_pointer (&loop->plan, gantry_plan_unref);
      return;
    }
  loop->unmet = find_unmet (loop, layout);
  loop->workspace = layout->bytes;
  loop->us = time_of (control, &loop->plan->total_us);
}

/* Bodies that were planned are kept as long as they may be asked for again: a search asks for one now and for another one then. */
#define MOST_LOOPS 256

static guint
loop_hash (gconstpointer key)
{
  const Loop *loop = key;
  guint64 hash = loop->work + G_GUINT64_CONSTANT (0xcbf29ce484222325);

  for (guint i = 0; i < loop->n; i++)
    hash = (hash ^ loop->slices[i] ^ (i < loop->n_operands && loop->host[i] ? 1u << 7 : 0)) * G_GUINT64_CONSTANT (0x100000001b3);
  for (guint i = 0; i < loop->n_over; i++)
    hash = (hash ^ (guint32) loop->over[i]) * G_GUINT64_CONSTANT (0x100000001b3);
  return (guint) (hash ^ hash >> 32);
}

static gboolean
loop_equal (gconstpointer a, gconstpointer b)
{
  const Loop *x = a, *y = b;

  return x->work == y->work && memcmp (x->slices, y->slices, x->n) == 0 && memcmp (x->host, y->host, x->n_operands) == 0 && x->n_over == y->n_over
         && (x->n_over == 0 || memcmp (x->over, y->over, x->n_over * sizeof *x->over) == 0);
}

GHashTable *
_gantry_program_loops_new (void)
{
  return g_hash_table_new_full (loop_hash, loop_equal, (GDestroyNotify) _gantry_loop_free, NULL);
}

static int
compare_asked (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return x < y ? -1 : x > y;
}

/* Those that were not asked for in the last questions go, half of all. */
void
_gantry_program_begin_loops (Program *program)
{
  g_autoptr (GArray) asked = NULL;
  GHashTableIter iter;
  gpointer key;
  guint64 oldest;

  program->n_questions++;
  if (g_hash_table_size (program->loops) <= MOST_LOOPS)
    return;
  asked = g_array_new (FALSE, FALSE, sizeof (guint64));
  for (g_hash_table_iter_init (&iter, program->loops); g_hash_table_iter_next (&iter, &key, NULL);)
    g_array_append_val (asked, ((const Loop *) key)->asked);
  g_array_sort (asked, compare_asked);
  oldest = g_array_index (asked, guint64, asked->len / 2);
  for (g_hash_table_iter_init (&iter, program->loops); g_hash_table_iter_next (&iter, &key, NULL);)
    if (((const Loop *) key)->asked < oldest)
      g_hash_table_iter_remove (&iter);
}

/* What @loop is asked for by. */
static Loop
asked_for (const Program *program, guint32 w, const guint8 *slices, const guint8 *host, const gint32 *over)
{
  const Work *work = WORK (program, w);

  return (Loop){ .work = w,
                 .n = work_node (program, work)->n_operands + work->n_results,
                 .n_operands = work_node (program, work)->n_operands,
                 .slices = (guint8 *) slices,
                 .host = (guint8 *) host,
                 .over = (gint32 *) over,
                 .n_over = over != NULL ? work_node (program, work)->n_operands : 0 };
}

gboolean
_gantry_program_loop_is_known (Program *program, guint32 w, const guint8 *slices, const guint8 *host, const gint32 *over, const Loop **loop)
{
  const Loop key = asked_for (program, w, slices, host, over);
  Loop *known = g_hash_table_lookup (program->loops, &key);

  if (known != NULL)
    known->asked = program->n_questions;
  *loop = known != NULL && known->plan != NULL ? known : NULL;
  return known != NULL;
}

const Loop *
_gantry_program_loop (Program *program, guint32 w, const guint8 *slices, const guint8 *host, const gint32 *over, const GantryPlanOptions *options)
{
  const Loop *known;
  GantryControl control;
  Loop *loop;

  if (_gantry_program_loop_is_known (program, w, slices, host, over, &known)
      || !gantry_control_of (program->module, work_node (program, WORK (program, w)), &control))
    return known;
  loop = g_new (Loop, 1);
  *loop = asked_for (program, w, slices, host, over);
  loop->host = g_memdup2 (host, loop->n_operands + (gsize) 1);
  loop->slices = g_memdup2 (slices, loop->n + (gsize) 1);
  loop->over = over != NULL ? g_memdup2 (over, loop->n_over * sizeof *over) : NULL;
  loop->asked = program->n_questions;
  make_loop (program, loop, &control, options);
  g_hash_table_add (program->loops, loop);
  return loop->plan != NULL ? loop : NULL;
}

static guint32
count_body (const Program *program, guint32 function, guint depth)
{
  const GantryFunction *body = gantry_module_function (program->module, function);
  guint64 n = body != NULL ? body->n_nodes : 0;

  for (guint32 i = 0; depth < MOST_NESTED && body != NULL && i < body->n_nodes; i++)
    {
      const GantryNode *node = &program->module->nodes[body->first_node + i];
      GantryControl control;

      if (!gantry_node_is_control (node) || !gantry_control_of (program->module, node, &control))
        continue;
      for (guint r = 0; r < control.n_regions; r++)
        n += count_body (program, control.functions[r], depth + 1);
    }
  return (guint32) MIN (n, G_MAXUINT32 / 4);
}

guint32
_gantry_program_count_body (const Program *program, guint32 function)
{
  return count_body (program, function, 0);
}
