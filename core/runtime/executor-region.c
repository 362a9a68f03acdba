/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, loops, scans and calls. A region is loaded as an executor of its own, whose memory is that of its control: parameters and
 * results lie where the control's operands and results do, the rest in the control's workspace. The host decides what runs, when all
 * queues have come to the control: the commands before it are done, those behind it have not begun. */
#include "core/base/error.h"
#include "core/runtime/executor-private.h"
#include <string.h>

/* Of one run: four MiB, and a picture of more is none. */
#define MOST_SPANS (1u << 17)
#define MOST_EVENTS (1u << 16) /* of a run; the newest runs of some 60 MiB are kept */

/* What one instruction of control works on. */
typedef struct
{
  GantryExecutor *executor, *root;
  const GantryInstruction *instruction;
  const GantryControlCode *code;
  const GantryControl *control;
  ControlRun *run;
  gboolean timed; /* somebody wants to know when the instructions of regions ran */
  GCancellable *cancellable;
} Context;

/* Slices of one stack: where they lie if they may be used there, else copied to the region's own place and back. */
typedef struct
{
  guint whole;     /* operand of the control, or n_operands + result */
  guint64 bytes;   /* of a slice */
  guint8 *first;   /* where the first of them lies in the whole, the others behind it; NULL: each has a buffer of its own */
  guint8 *own;     /* the region's place for it, or the first of several */
  guint32 place;   /* of the region */
  gboolean direct; /* used where it lies in the whole */
  gboolean host;   /* which is in the host: commands of the region copy it */
  gboolean result;
  guint n_stages; /* more than one: trips take turns, and slices come and go while others run */
  guint over;     /* of those: the result that is made over it, as @whole; 0: none */
} Slices;

static GantryExecutor *
root_of (GantryExecutor *executor)
{
  while (executor->parent != NULL)
    executor = executor->parent;
  return executor;
}

static void
context_init (Context *c, GantryExecutor *executor, guint32 i)
{
  *c = (Context){ .executor = executor, .root = root_of (executor), .instruction = &executor->executable->instructions[i] };
  c->code = &executor->executable->controls[c->instruction->control];
  c->control = &c->code->control;
  c->run = &executor->controls[c->instruction->control];
}

static guint8 *
address_of (const Context *c, guint32 k)
{
  return c->executor->addresses[c->executor->executable->buffer_refs[c->instruction->buffers + k]];
}

static guint8 *
operand_address (const Context *c, guint i)
{
  return address_of (c, i);
}

static guint8 *
result_address (const Context *c, guint o)
{
  return address_of (c, c->code->first_result + o);
}

static guint8 *
workspace_address (const Context *c)
{
  static _Alignas(GANTRY_TENSOR_ALIGNMENT) guint8 none[GANTRY_TENSOR_ALIGNMENT]; /* where slices begin that are used where they lie */

  return c->instruction->n_buffers > c->code->workspace ? address_of (c, c->code->workspace) : none;
}

static gboolean
is_loop (const GantryControl *control)
{
  return control->kind == GANTRY_CONTROL_WHILE || control->kind == GANTRY_CONTROL_SCAN;
}

/* Slice @i, of @bytes, of operand @k; of result @k - n_operands. */
static guint8 *
slice_address (const Context *c, guint k, gint64 i, guint64 bytes)
{
  if (c->code->pieces[k] != 0)
    return address_of (c, c->code->pieces[k] + (guint32) i);
  return (k < c->control->n_operands ? operand_address (c, k) : result_address (c, k - c->control->n_operands)) + (guint64) i * bytes;
}

/* Where parameter @i of a region lies: a carry of a loop in the control's result. */
static guint8 *
input_address (const Context *c, guint i)
{
  return is_loop (c->control) && i < c->control->n_carries ? result_address (c, i) : operand_address (c, c->control->first + i);
}

/* Loading */

static guint32
owner_of (const GantryPlan *plan, guint32 buffer)
{
  while (plan->buffers[buffer].shares != GANTRY_NO_BUFFER)
    buffer = plan->buffers[buffer].shares;
  return buffer;
}

static guint8 *
place_address (const Context *c, const GantryExecutor *region, const GantryRegionPlace *place)
{
  switch ((GantryRegionPlaceKind) place->kind)
    {
    case GANTRY_REGION_PLACE_INPUT:
      return gantry_control_input_is_slice (c->control, place->index) ? region->workspace + place->offset : input_address (c, place->index);
    case GANTRY_REGION_PLACE_RESULT:
      return gantry_control_result_is_slice (c->control, place->index) ? region->workspace + place->offset : result_address (c, place->index);
    default: return region->workspace + place->offset;
    }
}

static void
find_addresses (const Context *c, GantryExecutor *region)
{
  const GantryPlan *plan = region->executable->plan;

  region->addresses = g_new0 (void *, plan->n_buffers + (gsize) 1);
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      guint32 owner = owner_of (plan, b);

      if (plan->buffers[b].region != GANTRY_REGION_ARENA)
        region->addresses[b] = _gantry_executor_constant_address (region, b);
      else
        region->addresses[b] = place_address (c, region, &region->layout->places[owner]) + (plan->buffers[b].offset - plan->buffers[owner].offset);
    }
}

/* On the host the caller's memory may come and go, and slices are used where they lie. */
static void
find_slots (GantryExecutor *region)
{
  g_autofree guint8 *bindable = g_new0 (guint8, region->n_places + 1);

  region->base = g_new (guint8 *, region->n_places + 1);
  region->lent = g_new0 (guint8, region->n_places + 1);
  for (guint32 p = 0; p < region->n_places; p++)
    {
      guint8 kind = region->layout->places[region->places[p].owner].kind;

      region->base[p] = region->addresses[region->places[p].owner];
      bindable[p] = kind == GANTRY_REGION_PLACE_INPUT || kind == GANTRY_REGION_PLACE_RESULT;
    }
  if (gantry_device_is_host (region->device))
    _gantry_executor_find_slots (region, bindable);
}

/* Commands of other devices than the host have the addresses that they were made with. */
static gboolean
check_slices (const Context *c, GError **error)
{
  if (c->control->kind != GANTRY_CONTROL_SCAN || gantry_device_is_host (c->executor->device) || c->executor->executable->plan->slices_staged)
    return TRUE;
  g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                       "the loops of this program use slices where they lie, which only the processor can: compile it for the device");
  return FALSE;
}

static GantryExecutor *
load_region (const Context *c, guint r, GCancellable *cancellable, GError **error)
{
  GantryExecutor *parent = c->executor;
  GantryExecutable *executable = c->code->regions[r];
  g_autoptr (GantryExecutor) region = g_new0 (GantryExecutor, 1);

  region->device = gantry_device_ref (parent->device);
  region->executable = gantry_executable_ref (executable);
  region->parent = parent;
  region->loaded = parent->loaded;
  region->layout = c->code->layouts[r];
  region->workspace = workspace_address (c);
  _gantry_executor_index_places (region);
  if (!_gantry_executor_allocate_constants (region, error))
    return NULL;
  find_addresses (c, region);
  if (!_gantry_executor_upload_literals (region, error) || !_gantry_executor_make_commands (region, error)
      || !_gantry_executor_load_regions (region, cancellable, error) || !_gantry_executor_initialise (region, cancellable, error))
    return NULL;
  find_slots (region);
  return g_steal_pointer (&region);
}

gboolean
_gantry_executor_load_regions (GantryExecutor *executor, GCancellable *cancellable, GError **error)
{
  const GantryExecutable *executable = executor->executable;

  executor->controls = g_new0 (ControlRun, executable->n_controls + (gsize) 1);
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      Context c;

      if (executable->instructions[i].kind != GANTRY_INSTRUCTION_CONTROL)
        continue;
      context_init (&c, executor, i);
      if (!check_slices (&c, error))
        return FALSE;
      c.run->slices = g_array_new (FALSE, FALSE, sizeof (Slices));
      for (guint q = 0; q < GANTRY_N_QUEUES; q++)
        c.run->copies[q] = g_array_new (FALSE, FALSE, sizeof (GantryCommand));
      for (guint r = 0; r < c.control->n_regions; r++)
        if ((c.run->regions[r] = load_region (&c, r, cancellable, error)) == NULL)
          return FALSE;
    }
  return TRUE;
}

void
_gantry_executor_free_regions (GantryExecutor *executor)
{
  for (guint32 i = 0; executor->controls != NULL && i < executor->executable->n_controls; i++)
    {
      ControlRun *run = &executor->controls[i];

      for (guint r = 0; r < 2; r++)
        gantry_executor_free (run->regions[r]);
      g_clear_pointer (&run->slices, g_array_unref);
      for (guint q = 0; q < GANTRY_N_QUEUES; q++)
        g_clear_pointer (&run->copies[q], g_array_unref);
    }
  g_clear_pointer (&executor->controls, g_free);
}

/* Literals that a device cannot read where they lie, each once. */
static guint64
literal_bytes (const GantryExecutable *executable)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint64 bytes = 0;

  for (guint32 b = 0; b < executable->plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &executable->plan->buffers[b];

      if (buffer->region == GANTRY_REGION_LITERAL && g_hash_table_add (seen, GUINT_TO_POINTER (buffer->literal + 1)))
        bytes += whole_place (gantry_context_literal (executable->module->context, buffer->literal)->size);
    }
  return bytes;
}

guint64
_gantry_executor_region_bytes (const GantryExecutor *executor, const GantryExecutable *executable)
{
  guint64 bytes = 0;

  for (guint32 i = 0; i < executable->n_controls; i++)
    for (guint r = 0; r < executable->controls[i].control.n_regions; r++)
      {
        const GantryExecutable *region = executable->controls[i].regions[r];

        bytes += whole_place (region->plan->constant_bytes) + region->packed_bytes + _gantry_executor_region_bytes (executor, region);
        if (!gantry_device_is_host (executor->device))
          bytes += literal_bytes (region);
      }
  return bytes;
}

/* Running */

static void
add_copy (GArray *copies, void *to, const void *from, gsize bytes)
{
  GantryCommand copy = { .kind = GANTRY_COMMAND_COPY, .instruction = G_MAXUINT32, .stamp = GANTRY_NO_STAMP };

  copy.copy.to = to;
  copy.copy.from = from;
  copy.copy.bytes = bytes;
  if (bytes > 0 && to != from)
    g_array_append_val (copies, copy);
}

/* While the queues are idle: by the host at once, on another device with those that follow it, by end_copies(). */
static void
copy (const Context *c, void *to, const void *from, gsize bytes)
{
  if (!gantry_device_is_host (c->executor->device))
    add_copy (c->run->copies[GANTRY_QUEUE_COMPUTE], to, from, bytes);
  else if (bytes > 0 && to != from)
    memmove (to, from, bytes);
}

static gboolean
end_copies (const Context *c, GError **error)
{
  GArray *copies = c->run->copies[GANTRY_QUEUE_COMPUTE];
  GantryBatch *batch;
  gboolean done;

  if (copies->len == 0)
    return TRUE;
  batch = gantry_device_begin (c->executor->device, 0, NULL, c->cancellable);
  gantry_batch_submit (c->executor->device, batch, GANTRY_QUEUE_COMPUTE, (const GantryCommand *) (gpointer) copies->data, copies->len);
  done = gantry_device_finish (c->executor->device, batch, error);
  g_array_set_size (copies, 0);
  return done;
}

/* What the control's operands and results have moved to since. */
static void
follow (const Context *c, GantryExecutor *region)
{
  for (guint32 p = 0; region->slots != NULL && p < region->n_places; p++)
    {
      const GantryRegionPlace *place = &region->layout->places[region->places[p].owner];
      gboolean input = place->kind == GANTRY_REGION_PLACE_INPUT;

      if ((!input && place->kind != GANTRY_REGION_PLACE_RESULT)
          || (input ? gantry_control_input_is_slice (c->control, place->index) : gantry_control_result_is_slice (c->control, place->index)))
        continue;
      _gantry_executor_move_place (region, p, place_address (c, region, place), FALSE);
    }
}

/* @slice: of a scan, which one its results are put to; 0: whole results */
static guint8 *
target_of (const Context *c, const GantryRegionLayout *layout, const GantryExecutor *region, guint o, gint64 slice)
{
  return gantry_control_result_is_slice (c->control, o)
           ? slice_address (c, c->control->n_operands + o, slice, region->executable->plan->buffers[layout->outputs[o]].size)
           : result_address (c, o);
}

/* Noted when it begins, so that where all are too many those around others are kept. Conditions of loops are none. Returns: index,
 * G_MAXUINT32: none */
static guint32
begin_span (const Context *c, guint r)
{
  GantryExecutor *root = c->root;
  GantryRegionSpan span = { .node = c->instruction->node, .control = c->control->kind, .region = (guint8) r };

  if (root->spans == NULL || (c->control->kind == GANTRY_CONTROL_WHILE && r == GANTRY_CONTROL_CONDITION))
    return G_MAXUINT32;
  if (root->spans->len >= MOST_SPANS)
    {
      root->spans_left_out++;
      return G_MAXUINT32;
    }
  span.trip = c->run->taken[r] - 1;
  span.begin = gantry_time_ns ();
  g_array_append_val (root->spans, span);
  return root->spans->len - 1;
}

static void
end_span (const Context *c, guint32 index)
{
  if (index != G_MAXUINT32)
    g_array_index (c->root->spans, GantryRegionSpan, index).end = gantry_time_ns ();
}

/* What the run of @region that is over did, where somebody wants it: control within it has told that by itself. */
static void
note_events (const Context *c, const GantryExecutor *region)
{
  const GantryExecutable *executable = region->executable;
  GantryExecutor *root = c->root;

  for (guint32 i = 0; c->timed && i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];
      GantryRegionEvent event = { region->stamps[i].begin, region->stamps[i].end, executable, i };

      if (instruction->init || event.end == 0 || instruction->kind == GANTRY_INSTRUCTION_WAIT || instruction->kind == GANTRY_INSTRUCTION_CONTROL)
        continue;
      if (root->region_events->len < MOST_EVENTS)
        g_array_append_val (root->region_events, event);
      else
        root->region_events_left_out++;
    }
}

static gboolean
run_once (const Context *c, guint r, gint64 slice, GError **error)
{
  GantryExecutor *region = c->run->regions[r];
  const GArray *copies = region->layout->copies;

  if (!_gantry_executor_run_queues (region, c->timed, c->cancellable, error))
    return FALSE;
  for (guint i = 0; i < copies->len; i++)
    {
      const GantryRegionCopy *one = &g_array_index (copies, GantryRegionCopy, i);

      if (one->staged)
        copy (c, region->workspace + one->stage, region->addresses[one->from], one->bytes);
    }
  for (guint i = 0; i < copies->len; i++)
    {
      const GantryRegionCopy *one = &g_array_index (copies, GantryRegionCopy, i);

      copy (c, target_of (c, region->layout, region, one->result, slice), one->staged ? region->workspace + one->stage : region->addresses[one->from],
            one->bytes);
    }
  return end_copies (c, error);
}

static gboolean
run_region (const Context *c, guint r, gint64 slice, GError **error)
{
  guint32 span;
  gboolean done;

  c->run->taken[r]++;
  span = begin_span (c, r);
  done = run_once (c, r, slice, error);
  end_span (c, span);
  if (done)
    note_events (c, c->run->regions[r]);
  return done;
}

static gboolean
read_verdict (const Context *c, const void *address, gboolean *verdict, GError **error)
{
  guint8 byte = 0;

  if (!gantry_device_download (c->executor->device, &byte, address, 1, error))
    return FALSE;
  *verdict = byte != 0;
  return TRUE;
}

static gboolean
run_branch (const Context *c, GError **error)
{
  gboolean verdict;
  guint r;

  if (!read_verdict (c, operand_address (c, 0), &verdict, error))
    return FALSE;
  r = verdict ? GANTRY_CONTROL_THEN : GANTRY_CONTROL_ELSE;
  follow (c, c->run->regions[r]);
  return run_region (c, r, 0, error);
}

/* Carries begin with what is given for them. */
static gboolean
begin_loop (const Context *c, GError **error)
{
  const GantryExecutable *executable = c->executor->executable;

  for (guint r = 0; r < c->control->n_regions; r++)
    follow (c, c->run->regions[r]);
  for (guint i = 0; i < c->control->n_carries; i++)
    copy (c, result_address (c, i), operand_address (c, i),
          executable->plan->buffers[executable->buffer_refs[c->instruction->buffers + c->code->first_result + i]].size);
  return end_copies (c, error);
}

static gboolean
check_trips (const Context *c, gint64 made, gboolean more, GError **error)
{
  const GantryModule *module = c->executor->executable->module;
  const GantryNode *node = gantry_module_node (module, c->instruction->node);
  g_autofree char *label = NULL, *where = NULL;

  if (gantry_loop_check_trips (c->control->exact_trips, made, more, error))
    return TRUE;
  label = gantry_node_label (module, node);
  where = gantry_context_location_text (module->context, node->location);
  gantry_error_prefix (error, "%s: loop '%s': ", where, label);
  return FALSE;
}

static gboolean
run_while (const Context *c, GError **error)
{
  const GantryExecutor *condition = c->run->regions[GANTRY_CONTROL_CONDITION];

  if (!begin_loop (c, error))
    return FALSE;
  for (gint64 made = 0;; made++)
    {
      gboolean more;

      if (g_cancellable_set_error_if_cancelled (c->cancellable, error) || !run_region (c, GANTRY_CONTROL_CONDITION, 0, error)
          || !read_verdict (c, condition->addresses[condition->layout->outputs[0]], &more, error) || !check_trips (c, made, more, error))
        return FALSE;
      if (!more)
        return TRUE;
      if (!run_region (c, GANTRY_CONTROL_BODY, 0, error))
        return FALSE;
    }
}

static Slices
slices_at (const Context *c, const GantryExecutor *region, guint32 p)
{
  guint32 owner = region->places[p].owner;
  const GantryRegionPlace *place = &region->layout->places[owner];
  const GantryPlanBuffer *buffer = &region->executable->plan->buffers[owner];
  Slices slices = { .place = p, .bytes = buffer->size, .result = place->kind == GANTRY_REGION_PLACE_RESULT };

  slices.whole = place->index + (slices.result ? c->control->n_operands : 0);
  slices.first = c->code->pieces[slices.whole] == 0 ? slice_address (c, slices.whole, 0, slices.bytes) : NULL;
  slices.own = region->workspace + place->offset;
  slices.direct = !place->staged;
  slices.host = buffer->memory != GANTRY_MEMORY_DEVICE;
  slices.n_stages = place->staged ? place->n_stages : 1;
  slices.over = slices.n_stages > 1 && place->over != GANTRY_NO_BUFFER ? c->control->n_operands + place->over : 0;
  return slices;
}

/* Once a run: what the control is given and gives may lie elsewhere than in the run before. */
static void
find_slices (const Context *c, GantryExecutor *region)
{
  g_array_set_size (c->run->slices, 0);
  for (guint32 p = 0; p < region->n_places; p++)
    {
      const GantryRegionPlace *place = &region->layout->places[region->places[p].owner];
      Slices slices;

      if (place->absent
          || (!(place->kind == GANTRY_REGION_PLACE_RESULT && gantry_control_result_is_slice (c->control, place->index))
              && !(place->kind == GANTRY_REGION_PLACE_INPUT && gantry_control_input_is_slice (c->control, place->index))))
        continue;
      slices = slices_at (c, region, p);
      if (region->slots != NULL && !slices.direct)
        _gantry_executor_move_place (region, p, slices.own, FALSE);
      g_array_append_val (c->run->slices, slices);
    }
}

static guint8 *
slice_of (const Context *c, const Slices *slices, gint64 i)
{
  return slices->first != NULL ? slices->first + (guint64) i * slices->bytes : slice_address (c, slices->whole, i, slices->bytes);
}

/* Before a trip: those that do not take turns are used where they lie, or copied from there. */
static gboolean
bring_slices (const Context *c, GantryExecutor *region, gint64 i, GError **error)
{
  for (guint k = 0; k < c->run->slices->len; k++)
    {
      const Slices *slices = &g_array_index (c->run->slices, Slices, k);
      guint8 *slice = slice_of (c, slices, i);

      g_assert (!slices->direct || slices->host || GPOINTER_TO_SIZE (slice) % GANTRY_TENSOR_ALIGNMENT == 0);
      if (slices->direct)
        _gantry_executor_move_place (region, slices->place, slice, FALSE);
      else if (slices->n_stages == 1 && !slices->result)
        copy (c, slices->own, slice, slices->bytes);
    }
  return end_copies (c, error);
}

static gboolean
take_slices (const Context *c, gint64 i, GError **error)
{
  for (guint k = 0; k < c->run->slices->len; k++)
    {
      const Slices *slices = &g_array_index (c->run->slices, Slices, k);

      if (!slices->direct && slices->n_stages == 1 && slices->result)
        copy (c, slice_of (c, slices, i), slices->own, slices->bytes);
    }
  return end_copies (c, error);
}

/* Slices that trips take turns with. */

/* Where trip @t has its slice. */
static guint8 *
stage_of (const Slices *slices, gint64 t)
{
  return slices->own + (guint64) (t % slices->n_stages) * gantry_place_bytes (slices->bytes);
}

static gint64
slice_of_trip (const Context *c, gint64 t)
{
  return c->control->reverse ? c->control->trips - 1 - t : t;
}

/* What trip @t reads, into @copies. */
static void
add_arriving (const Context *c, gint64 t, GArray *copies)
{
  for (guint k = 0; t < c->control->trips && k < c->run->slices->len; k++)
    {
      const Slices *slices = &g_array_index (c->run->slices, Slices, k);

      if (slices->n_stages > 1 && !slices->result)
        add_copy (copies, stage_of (slices, t), slice_of (c, slices, slice_of_trip (c, t)), slices->bytes);
    }
}

/* What trip @t has made, into @copies. */
static void
add_leaving (const Context *c, gint64 t, GArray *copies)
{
  for (guint k = 0; t >= 0 && k < c->run->slices->len; k++)
    {
      const Slices *slices = &g_array_index (c->run->slices, Slices, k);
      guint whole = slices->result ? slices->whole : slices->over;

      if (slices->n_stages > 1 && whole != 0)
        add_copy (copies, slice_address (c, whole, slice_of_trip (c, t), slices->bytes), stage_of (slices, t), slices->bytes);
    }
}

static void
take_turn (const Context *c, GantryExecutor *region, gint64 t)
{
  for (guint k = 0; k < c->run->slices->len; k++)
    {
      const Slices *slices = &g_array_index (c->run->slices, Slices, k);

      if (slices->n_stages > 1)
        _gantry_executor_move_place (region, slices->place, stage_of (slices, t), FALSE);
    }
}

/* A trip, while what the next one reads arrives and what the one before made leaves. */
static gboolean
run_trip (const Context *c, GantryExecutor *region, gint64 t, GError **error)
{
  GArray *arriving = c->run->copies[GANTRY_QUEUE_TO_DEVICE], *leaving = c->run->copies[GANTRY_QUEUE_TO_HOST];
  gint64 i = slice_of_trip (c, t);
  gboolean done;

  g_array_set_size (arriving, 0);
  g_array_set_size (leaving, 0);
  take_turn (c, region, t);
  add_arriving (c, t + 1, arriving);
  add_leaving (c, t - 1, leaving);
  if (!bring_slices (c, region, i, error))
    return FALSE;
  region->riders[GANTRY_QUEUE_TO_DEVICE] = arriving;
  region->riders[GANTRY_QUEUE_TO_HOST] = leaving;
  done = run_region (c, 0, i, error);
  memset (region->riders, 0, sizeof region->riders);
  return done && take_slices (c, i, error);
}

static gboolean
run_scan (const Context *c, GError **error)
{
  GantryExecutor *region = c->run->regions[0];
  GArray *between = c->run->copies[GANTRY_QUEUE_COMPUTE];

  if (!begin_loop (c, error))
    return FALSE;
  find_slices (c, region);
  add_arriving (c, 0, between);
  if (!end_copies (c, error))
    return FALSE;
  for (gint64 t = 0; t < c->control->trips; t++)
    if (g_cancellable_set_error_if_cancelled (c->cancellable, error) || !run_trip (c, region, t, error))
      return FALSE;
  add_leaving (c, c->control->trips - 1, between);
  return end_copies (c, error);
}

static gboolean
run (const Context *c, GError **error)
{
  switch ((GantryControlKind) c->control->kind)
    {
    case GANTRY_CONTROL_BRANCH: return run_branch (c, error);
    case GANTRY_CONTROL_WHILE: return run_while (c, error);
    case GANTRY_CONTROL_SCAN: return run_scan (c, error);
    default: follow (c, c->run->regions[0]); return run_region (c, 0, 0, error);
    }
}

gboolean
_gantry_executor_run_control (GantryExecutor *executor, guint32 instruction, gboolean timed, GCancellable *cancellable, GError **error)
{
  /* Those of a region are for who is told its instructions. */
  gboolean stamped = timed || executor->parent == NULL;
  gint64 begin = stamped ? gantry_time_ns () : 0;
  gboolean done;
  Context c;

  if (executor->executable->instructions[instruction].kind == GANTRY_INSTRUCTION_HOST_CALL)
    done = _gantry_executor_call_host (executor, instruction, error);
  else
    {
      context_init (&c, executor, instruction);
      c.timed = timed && c.root->region_events != NULL;
      c.cancellable = cancellable;
      memset (c.run->taken, 0, sizeof c.run->taken);
      done = run (&c, error);
    }
  if (stamped)
    executor->stamps[instruction] = (GantryStamp){ begin, gantry_time_ns () };
  return done;
}
