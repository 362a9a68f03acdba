/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and results where the caller has them. On a device that is the host, an input that nothing writes over is read where it
 * lies, a donated one is written over there, and a result is written where the caller wants it: their places in the arena are not
 * touched then. What cannot be so (an address that is not aligned, a place that other values use too) is copied. */
#include "core/runtime/executor-private.h"

/** Where an address of a place is written down: an operand of a launch, an end of a copy. */
struct _PlaceSlot
{
  void **address;
  guint64 offset; /* in the place */
  guint32 place;
};

/* Which inputs and results can be bound. */

static guint64
offset_in_place (const GantryExecutor *executor, guint32 buffer)
{
  const GantryPlanBuffer *buffers = executor->executable->plan->buffers;

  return buffers[buffer].offset - buffers[executor->places[executor->place_of[buffer]].owner].offset;
}

/* Does the value at @buffer take all of its place? */
static gboolean
is_whole (const GantryExecutor *executor, guint32 buffer)
{
  return executor->places[executor->place_of[buffer]].used <= executor->executable->plan->buffers[buffer].size && offset_in_place (executor, buffer) == 0
         && executor->executable->plan->buffers[buffer].size > 0;
}

static void
find_inputs (GantryExecutor *executor, guint32 *input_of)
{
  const GantryExecutable *executable = executor->executable;

  for (guint32 i = 0; i < executable->n_inputs; i++)
    {
      guint32 buffer = executable->inputs[i];

      input_of[executor->place_of[buffer]] = i + 1;
      /* What is carried over to it between two runs is written there too. */
      executor->readable[i] = is_whole (executor, buffer) && executor->alias[i] < 0;
      executor->donatable[i] = is_whole (executor, buffer);
    }
  /* The memory of an argument that is also a result may be given for another result, which is then written before this is read. */
  for (guint32 o = 0; o < executable->n_outputs; o++)
    {
      guint32 place = executor->place_of[executable->outputs[o]], input = place != G_MAXUINT32 ? input_of[place] : 0;

      if (input != 0 && executor->alias[input - 1] >= 0 && !_gantry_executor_is_donated (executor, input - 1, executable->outputs[o]))
        executor->readable[input - 1] = executor->donatable[input - 1] = FALSE;
    }
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];

      for (guint32 k = 0; k < instruction->n_buffers; k++)
        {
          guint32 buffer = executable->buffer_refs[instruction->buffers + k], place = executor->place_of[buffer];
          guint32 input = place != G_MAXUINT32 ? input_of[place] : 0;

          if (input == 0 || !_gantry_executor_writes (executor, instruction, k))
            continue;
          executor->readable[input - 1] = FALSE;
          if (!_gantry_executor_is_donated (executor, input - 1, buffer))
            executor->donatable[input - 1] = FALSE;
        }
    }
}

static void
find_outputs (GantryExecutor *executor, const guint32 *input_of)
{
  const GantryExecutable *executable = executor->executable;
  g_autofree guint8 *taken = g_new0 (guint8, executor->n_places + 1);

  for (guint32 i = 0; i < executable->n_inputs; i++)
    {
      /* What is carried over to an input stays where the next run finds it. */
      guint32 place = executor->alias[i] >= 0 ? executor->place_of[executable->outputs[executor->alias[i]]] : G_MAXUINT32;

      if (place != G_MAXUINT32)
        taken[place] = TRUE;
    }
  for (guint32 o = 0; o < executable->n_outputs; o++)
    {
      guint32 place = executor->place_of[executable->outputs[o]];

      if (place == G_MAXUINT32 || taken[place] || input_of[place] != 0 || !is_whole (executor, executable->outputs[o]))
        continue;
      executor->returnable[o] = taken[place] = TRUE;
    }
}

/* Where their addresses are written down. */

static void
add_slot (GantryExecutor *executor, GArray *slots, const guint8 *bindable, guint32 buffer, void **address)
{
  PlaceSlot slot = { .address = address, .place = executor->place_of[buffer] };

  if (slot.place == G_MAXUINT32 || !bindable[slot.place])
    return;
  slot.offset = offset_in_place (executor, buffer);
  g_array_append_val (slots, slot);
}

static void
add_slots_of_queues (GantryExecutor *executor, GArray *slots, const guint8 *bindable)
{
  const GantryExecutable *executable = executor->executable;

  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    for (guint32 k = 0; k < executor->n_commands[queue]; k++)
      {
        GantryCommand *command = &executor->commands[queue][k];
        const guint32 *refs = executable->buffer_refs + executable->instructions[command->instruction].buffers;

        if (command->kind == GANTRY_COMMAND_COPY)
          {
            add_slot (executor, slots, bindable, refs[0], (void **) &command->copy.from);
            add_slot (executor, slots, bindable, refs[1], &command->copy.to);
          }
        else if (command->kind == GANTRY_COMMAND_FILL)
          add_slot (executor, slots, bindable, refs[0], &command->fill.to);
      }
}

static int
compare_slots (gconstpointer a, gconstpointer b)
{
  guint32 x = ((const PlaceSlot *) a)->place, y = ((const PlaceSlot *) b)->place;

  return (x > y) - (x < y);
}

void
_gantry_executor_find_slots (GantryExecutor *executor, const guint8 *bindable)
{
  const GantryExecutable *executable = executor->executable;
  GArray *slots = g_array_new (FALSE, FALSE, sizeof (PlaceSlot));

  for (guint32 b = 0; b < executable->plan->n_buffers; b++)
    add_slot (executor, slots, bindable, b, &executor->addresses[b]);
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];

      for (guint32 k = 0; instruction->kind == GANTRY_INSTRUCTION_LAUNCH && k < instruction->n_buffers; k++)
        add_slot (executor, slots, bindable, executable->buffer_refs[instruction->buffers + k], &executor->arguments[executor->first_argument[i] + k]);
    }
  add_slots_of_queues (executor, slots, bindable);
  g_array_sort (slots, compare_slots);
  executor->first_slot = g_new0 (guint32, executor->n_places + 2);
  for (guint s = 0; s < slots->len; s++)
    executor->first_slot[g_array_index (slots, PlaceSlot, s).place + 1]++;
  for (guint32 p = 0; p < executor->n_places; p++)
    executor->first_slot[p + 1] += executor->first_slot[p];
  executor->slots = (PlaceSlot *) (gpointer) g_array_free (slots, FALSE);
}

void
_gantry_executor_find_bindings (GantryExecutor *executor)
{
  const GantryExecutable *executable = executor->executable;
  g_autofree guint32 *input_of = g_new0 (guint32, executor->n_places + 1); /* by place: 1 + input */
  g_autofree guint8 *bindable = g_new0 (guint8, executor->n_places + 1);

  executor->readable = g_new0 (guint8, executable->n_inputs + 1);
  executor->donatable = g_new0 (guint8, executable->n_inputs + 1);
  executor->returnable = g_new0 (guint8, executable->n_outputs + 1);
  executor->base = g_new (guint8 *, executor->n_places + 1);
  executor->lent = g_new0 (guint8, executor->n_places + 1);
  for (guint32 p = 0; p < executor->n_places; p++)
    executor->base[p] = executor->addresses[executor->places[p].owner];
  if (!gantry_device_is_host (executor->device))
    return;
  find_inputs (executor, input_of);
  find_outputs (executor, input_of);
  for (guint32 i = 0; i < executable->n_inputs; i++)
    if (executor->readable[i] || executor->donatable[i])
      bindable[executor->place_of[executable->inputs[i]]] = TRUE;
  for (guint32 o = 0; o < executable->n_outputs; o++)
    if (executor->returnable[o])
      bindable[executor->place_of[executable->outputs[o]]] = TRUE;
  _gantry_executor_find_slots (executor, bindable);
}

/* Binding, before each run. */

/** What the caller has for a place. */
typedef struct
{
  guint8 *data; /* NULL: the place in the arena */
  gsize size;
  guint32 place;
  guint8 written, keep; /* keep: whatever it is bound to now */
} Wish;

static guint8 *
arena_address (const GantryExecutor *executor, guint32 place)
{
  const GantryPlanBuffer *owner = &executor->executable->plan->buffers[executor->places[place].owner];

  return executor->arenas[owner->memory] + owner->offset;
}

static gboolean
is_aligned (gconstpointer data)
{
  return GPOINTER_TO_SIZE (data) % GANTRY_TENSOR_ALIGNMENT == 0;
}

static GArray *
make_wishes (const GantryExecutor *executor, const GantryRunInput *inputs, const GantryRunOutput *outputs)
{
  const GantryExecutable *executable = executor->executable;
  GArray *wishes = g_array_sized_new (FALSE, FALSE, sizeof (Wish), executable->n_inputs + executable->n_outputs);

  for (guint32 i = 0; i < executable->n_inputs; i++)
    {
      Wish wish = { .place = executor->place_of[executable->inputs[i]] };

      wish.size = executor->places[wish.place].used;
      wish.keep = inputs[i].data == NULL;
      wish.data = wish.keep && executor->lent[wish.place] ? executor->base[wish.place] : NULL;
      wish.written = (wish.keep || inputs[i].donated) && executor->donatable[i] && !executor->readable[i];
      /* Kernels take untyped addresses and never write through that of an operand. */
      if (!wish.keep && executor->verify == 0 && (executor->readable[i] || wish.written) && is_aligned (inputs[i].data))
        wish.data = (guint8 *) inputs[i].data;
      if (executor->readable[i] || executor->donatable[i])
        g_array_append_val (wishes, wish);
    }
  for (guint32 o = 0; o < executable->n_outputs; o++)
    {
      Wish wish = { NULL, outputs[o].size, executor->place_of[executable->outputs[o]], TRUE, FALSE };

      if (executor->verify == 0 && is_aligned (outputs[o].data))
        wish.data = outputs[o].data;
      if (executor->returnable[o])
        g_array_append_val (wishes, wish);
    }
  return wishes;
}

static int
compare_wishes (gconstpointer a, gconstpointer b)
{
  const guint8 *x = (*(Wish *const *) a)->data, *y = (*(Wish *const *) b)->data;

  return (x > y) - (x < y);
}

/* Memory that is given twice, once to be written: each of those that write gets its place in the arena. */
static void
part_overlaps (GArray *wishes)
{
  g_autoptr (GPtrArray) order = g_ptr_array_new ();

  for (guint i = 0; i < wishes->len; i++)
    if (g_array_index (wishes, Wish, i).data != NULL)
      g_ptr_array_add (order, &g_array_index (wishes, Wish, i));
  g_ptr_array_sort (order, compare_wishes);
  for (guint i = 0, next; i < order->len; i = next)
    {
      const Wish *first = g_ptr_array_index (order, i);
      const guint8 *end = first->data + first->size;

      for (next = i + 1; next < order->len; next++)
        {
          const Wish *wish = g_ptr_array_index (order, next);

          if (wish->data >= end)
            break;
          end = MAX (end, wish->data + wish->size);
        }
      for (guint k = i; next > i + 1 && k < next; k++)
        if (((const Wish *) g_ptr_array_index (order, k))->written)
          ((Wish *) g_ptr_array_index (order, k))->data = NULL;
    }
}

void
_gantry_executor_move_place (GantryExecutor *executor, guint32 place, guint8 *address, gboolean lent)
{
  executor->lent[place] = (guint8) lent;
  if (executor->base[place] == address)
    return;
  executor->base[place] = address;
  for (guint32 s = executor->first_slot[place]; s < executor->first_slot[place + 1]; s++)
    *executor->slots[s].address = address + executor->slots[s].offset;
}

void
_gantry_executor_bind (GantryExecutor *executor, const GantryRunInput *inputs, const GantryRunOutput *outputs)
{
  g_autoptr (GArray) wishes = NULL;
  gboolean changed = FALSE;

  executor->copied_bytes = 0;
  if (executor->slots == NULL)
    return;
  wishes = make_wishes (executor, inputs, outputs);
  for (guint i = 0; i < wishes->len && !changed; i++)
    {
      const Wish *wish = &g_array_index (wishes, Wish, i);

      changed = !wish->keep && executor->base[wish->place] != (wish->data != NULL ? wish->data : arena_address (executor, wish->place));
    }
  if (!changed)
    return;
  part_overlaps (wishes);
  for (guint i = 0; i < wishes->len; i++)
    {
      const Wish *wish = &g_array_index (wishes, Wish, i);

      if (!wish->keep)
        _gantry_executor_move_place (executor, wish->place, wish->data != NULL ? wish->data : arena_address (executor, wish->place), wish->data != NULL);
    }
}

gboolean
gantry_executor_binds_input (const GantryExecutor *executor, guint input, gboolean donated)
{
  g_return_val_if_fail (input < executor->executable->n_inputs, FALSE);
  return executor->readable[input] || (donated && executor->donatable[input]);
}

gboolean
gantry_executor_binds_output (const GantryExecutor *executor, guint output)
{
  g_return_val_if_fail (output < executor->executable->n_outputs, FALSE);
  return executor->returnable[output];
}

guint64
gantry_executor_copied_bytes (const GantryExecutor *executor)
{
  return executor->copied_bytes;
}
