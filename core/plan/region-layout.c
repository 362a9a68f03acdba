/* SPDX-License-Identifier: Apache-2.0 */
/* Binds the places of a region's plan. A resident plan has arguments and results at the bottom of its arena, each in a place of its own,
 * so that what lies above is all that the region needs for itself. */
#include "core/base/error.h"
#include "core/plan/region-layout.h"

typedef struct
{
  const GantryControl *control;
  guint region;
  const GantryPlan *plan;
  const guint8 *slices; /* (nullable) */
  GantryRegionLayout *layout;
  guint64 held[GANTRY_N_MEMORY_KINDS]; /* bytes at the bottom of each arena that are arguments and results */
} Layout;

void
gantry_region_layout_free (GantryRegionLayout *layout)
{
  if (layout == NULL)
    return;
  g_free (layout->inputs);
  g_free (layout->outputs);
  g_free (layout->places);
  g_array_unref (layout->copies);
  g_free (layout);
}

gboolean
gantry_control_input_is_slice (const GantryControl *control, guint i)
{
  return control->kind == GANTRY_CONTROL_SCAN && i >= control->n_carries && i < control->n_carries + control->n_xs;
}

gboolean
gantry_control_result_is_slice (const GantryControl *control, guint i)
{
  return control->kind == GANTRY_CONTROL_SCAN && i >= control->n_carries;
}

static gboolean
is_loop (const Layout *l)
{
  return l->control->kind == GANTRY_CONTROL_WHILE || l->control->kind == GANTRY_CONTROL_SCAN;
}

static gboolean
is_condition (const Layout *l)
{
  return l->control->kind == GANTRY_CONTROL_WHILE && l->region == GANTRY_CONTROL_CONDITION;
}

static guint32
owner_of (const GantryPlan *plan, guint32 buffer)
{
  while (plan->buffers[buffer].shares != GANTRY_NO_BUFFER)
    buffer = plan->buffers[buffer].shares;
  return buffer;
}

static guint64
take (Layout *l, guint64 bytes)
{
  guint64 at = l->layout->bytes;

  l->layout->bytes += gantry_place_bytes (bytes);
  return at;
}

static gboolean
is_streamed (const Layout *l, guint slot)
{
  return l->slices != NULL && (l->slices[slot] & GANTRY_SLICE_STREAMED) != 0;
}

/* The result that is made over the streamed slice at @owner and is streamed as well. */
static guint32
streamed_over (const Layout *l, guint32 owner)
{
  for (guint32 o = 0; o < l->layout->n_outputs; o++)
    if (gantry_control_result_is_slice (l->control, o) && is_streamed (l, l->layout->n_inputs + o) && owner_of (l->plan, l->layout->outputs[o]) == owner)
      return o;
  return GANTRY_NO_BUFFER;
}

/* @slot: of the region's parameters, then its results */
static void
bind_slice (Layout *l, guint32 owner, guint slot)
{
  guint64 bytes = l->plan->buffers[owner].size;
  GantryRegionPlace *place = &l->layout->places[owner];

  place->absent = l->slices != NULL && (l->slices[slot] & GANTRY_SLICE_ABSENT) != 0;
  place->n_stages = 1;
  place->over = GANTRY_NO_BUFFER;
  if (l->plan->buffers[owner].memory != GANTRY_MEMORY_DEVICE) /* copied by the region from and to where it lies */
    return;
  place->staged = l->slices == NULL || l->slices[slot] != 0 || bytes % GANTRY_PLACE_ALIGNMENT != 0;
  place->over = place->kind == GANTRY_REGION_PLACE_INPUT && is_streamed (l, slot) ? streamed_over (l, owner) : GANTRY_NO_BUFFER;
  place->n_stages = is_streamed (l, slot) ? (guint8) gantry_stream_stages (l->control->trips, place->over != GANTRY_NO_BUFFER) : 1;
  if (place->n_stages == 1)
    place->over = GANTRY_NO_BUFFER;
  if (place->staged && !(place->absent && place->kind == GANTRY_REGION_PLACE_INPUT))
    place->offset = take (l, place->n_stages * gantry_place_bytes (bytes));
}

static void
bind_inputs (Layout *l)
{
  for (guint32 i = 0; i < l->layout->n_inputs; i++)
    {
      guint32 owner = owner_of (l->plan, l->layout->inputs[i]);
      GantryRegionPlace *place = &l->layout->places[owner];

      *place = (GantryRegionPlace){ .kind = GANTRY_REGION_PLACE_INPUT, .index = i };
      if (gantry_control_input_is_slice (l->control, i))
        bind_slice (l, owner, i);
    }
}

/* Whether the result takes all of a place, which is nobody else's. */
static gboolean
has_place (const Layout *l, guint32 buffer)
{
  guint32 owner = owner_of (l->plan, buffer);
  const GantryPlanBuffer *own = &l->plan->buffers[owner], *result = &l->plan->buffers[buffer];

  return own->region == GANTRY_REGION_ARENA && own->offset < l->held[own->memory] && l->layout->places[owner].kind == GANTRY_REGION_PLACE_NONE
         && result->offset == own->offset && result->size == own->size;
}

/* A carry that is not written over its parameter would be over it if it were made where it is wanted. */
static void
bind_outputs (Layout *l)
{
  for (guint32 o = 0; o < l->layout->n_outputs; o++)
    {
      guint32 owner = owner_of (l->plan, l->layout->outputs[o]);
      gboolean slice = gantry_control_result_is_slice (l->control, o);

      if (is_condition (l) || (is_loop (l) && !slice) || !has_place (l, l->layout->outputs[o]))
        continue;
      l->layout->places[owner] = (GantryRegionPlace){ .kind = GANTRY_REGION_PLACE_RESULT, .index = o };
      if (slice)
        bind_slice (l, owner, l->layout->n_inputs + o);
    }
}

/* What is held and stands for nothing of the control's takes room of its own. */
static void
place_rest (Layout *l)
{
  guint64 temporaries, held = l->held[GANTRY_MEMORY_DEVICE];

  for (guint32 b = 0; b < l->plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &l->plan->buffers[b];

      if (buffer->region == GANTRY_REGION_ARENA && buffer->memory == GANTRY_MEMORY_DEVICE && buffer->shares == GANTRY_NO_BUFFER && buffer->offset < held
          && l->layout->places[b].kind == GANTRY_REGION_PLACE_NONE)
        l->layout->places[b] = (GantryRegionPlace){ .kind = GANTRY_REGION_PLACE_OWN, .offset = take (l, buffer->size) };
    }
  temporaries = l->layout->bytes;
  for (guint32 b = 0; b < l->plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &l->plan->buffers[b];

      if (buffer->region == GANTRY_REGION_ARENA && buffer->memory == GANTRY_MEMORY_DEVICE && buffer->shares == GANTRY_NO_BUFFER
          && l->layout->places[b].kind == GANTRY_REGION_PLACE_NONE)
        l->layout->places[b] = (GantryRegionPlace){ .kind = GANTRY_REGION_PLACE_OWN, .offset = temporaries + (MAX (buffer->offset, held) - held) };
    }
  l->layout->bytes += l->plan->arena_bytes[GANTRY_MEMORY_DEVICE] > held ? l->plan->arena_bytes[GANTRY_MEMORY_DEVICE] - held : 0;
}

static void
find_copies (Layout *l)
{
  for (guint32 o = 0; o < l->layout->n_outputs && !is_condition (l); o++)
    {
      guint32 from = l->layout->outputs[o], owner = owner_of (l->plan, from);
      const GantryRegionPlace *place = &l->layout->places[owner];
      GantryRegionCopy copy = { .result = o, .from = from, .bytes = l->plan->buffers[from].size };
      gboolean input = l->plan->buffers[owner].region == GANTRY_REGION_ARENA && place->kind == GANTRY_REGION_PLACE_INPUT;
      gboolean carry = input && is_loop (l) && place->index < l->control->n_carries;

      if (copy.bytes == 0 || (l->slices != NULL && (l->slices[l->layout->n_inputs + o] & GANTRY_SLICE_ABSENT) != 0)
          || (carry && place->index == o && !gantry_control_result_is_slice (l->control, o))
          || (l->plan->buffers[owner].region == GANTRY_REGION_ARENA && place->kind == GANTRY_REGION_PLACE_RESULT && place->index == o)
          || (input && place->n_stages > 1 && place->over == o))
        continue;
      copy.staged = carry;
      copy.stage = carry ? take (l, copy.bytes) : 0;
      g_array_append_val (l->layout->copies, copy);
    }
}

/* Of the host a region has what slices lie in, and nothing of its own. */
static gboolean
check_host (const Layout *l, const GantryModule *module, GError **error)
{
  for (guint32 b = 0; b < l->plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &l->plan->buffers[b];
      const GantryRegionPlace *place = &l->layout->places[b];
      gboolean input = place->kind == GANTRY_REGION_PLACE_INPUT && gantry_control_input_is_slice (l->control, place->index);
      gboolean result = place->kind == GANTRY_REGION_PLACE_RESULT && gantry_control_result_is_slice (l->control, place->index);

      if (buffer->region != GANTRY_REGION_ARENA || buffer->memory == GANTRY_MEMORY_DEVICE || buffer->shares != GANTRY_NO_BUFFER || buffer->size == 0 || input
          || result)
        continue;
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                   "function @%s holds values in host memory and is the body of a loop or branch that is decided while it runs: "
                   "that is not supported",
                   gantry_context_string (module->context, gantry_module_entry (module)->name));
      return FALSE;
    }
  return TRUE;
}

GantryRegionLayout *
gantry_region_layout_new (const GantryControl *control, guint region, const GantryModule *module, const GantryPlan *plan, const guint8 *slices, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GantryRegionLayout) layout = g_new0 (GantryRegionLayout, 1);
  Layout l = { .control = control, .region = region, .plan = plan, .slices = slices, .layout = layout };

  layout->copies = g_array_new (FALSE, FALSE, sizeof (GantryRegionCopy));
  layout->n_inputs = entry->n_params;
  layout->n_outputs = entry->n_results;
  layout->inputs = g_new0 (guint32, entry->n_params + 1);
  layout->outputs = g_new0 (guint32, entry->n_results + 1);
  layout->places = g_new0 (GantryRegionPlace, plan->n_buffers + 1);
  if (!gantry_plan_find_ends (plan, module, layout->inputs, layout->outputs, error))
    return NULL;
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    l.held[kind] = plan->argument_bytes[kind] + plan->output_bytes[kind] - plan->alias_bytes[kind];
  bind_inputs (&l);
  bind_outputs (&l);
  if (!check_host (&l, module, error))
    return NULL;
  place_rest (&l);
  find_copies (&l);
  return g_steal_pointer (&layout);
}
