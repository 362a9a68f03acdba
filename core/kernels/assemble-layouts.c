/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels choose layouts, the plan chooses places, neither knows the other: here they are held against each other. A blocked
 * value is an array of blocks (some channels of all the places of an image). A part of it is a value of the same layout
 * exactly where its blocks are as large and it begins with one. */
#include "core/kernels/assemble-private.h"
#include "core/kernels/program/node-kernel.h"

typedef struct
{
  guint block;   /* channels in a block; 0: row-major */
  guint64 bytes; /* of a block of channels of one image */
} Layout;

/* What lies in the storage that a buffer stands for, where it is no part of another's. */
typedef struct
{
  Layout layout;
  gboolean known;
} Storage;

typedef struct
{
  const GantryModule *module;
  const GantryPlan *plan;
  const GantryKernelSet *kernels;
  guint32 *root;     /* by buffer: the one whose storage it is a part of */
  Storage *storages; /* by root */
} Check;

static gboolean
fail (const Check *c, const GantryNode *node, const char *what, guint i, const char *why, GError **error)
{
  g_autofree char *label = gantry_node_label (c->module, node);

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "plan and kernels do not fit together at '%s' (%s): %s %u %s (please report this)", label,
               gantry_node_op_name (c->module, node), what, i, why);
  return FALSE;
}

/* Written in place it is another value, which has a storage of its own though no other bytes. */
static void
find_roots (Check *c)
{
  c->root = g_new (guint32, c->plan->n_buffers + 1);
  for (guint32 b = 0; b < c->plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffers = c->plan->buffers;
      guint32 root = b;

      for (guint32 n = 0; n < c->plan->n_buffers && buffers[root].shares < c->plan->n_buffers && !buffers[root].in_place; n++)
        root = buffers[root].shares;
      c->root[b] = root;
    }
}

/* As the kernels that write and read the value of @id have it. */
static Layout
layout_of (const Check *c, guint32 id, const GantryType *type)
{
  Layout layout = { .block = id < c->kernels->n_kernel_of ? c->kernels->layout_blocks[id] : 0 };

  if (layout.block == 0 || type->kind != GANTRY_TYPE_TENSOR || type->rank < 2)
    return (Layout){ 0 };
  layout.bytes = layout.block * gantry_element_size (type->element);
  for (guint d = 2; d < type->rank; d++)
    layout.bytes *= (guint64) type->dims[d];
  return layout;
}

static gboolean
begins_with_a_block (const Check *c, guint32 buffer, const Layout *layout)
{
  guint64 offset = c->plan->buffers[buffer].offset - c->plan->buffers[c->root[buffer]].offset;

  return layout->block == 0 || offset % layout->bytes == 0;
}

static gboolean
layouts_equal (const Layout *a, const Layout *b)
{
  return a->block == b->block && a->bytes == b->bytes;
}

static gboolean
check_read (const Check *c, const GantryNode *node, guint i, guint32 buffer, const Layout *layout, GError **error)
{
  const Storage *storage = &c->storages[c->root[buffer]];

  /* What no kernel has written came in, or was filled: row-major. */
  if (!layouts_equal (&storage->layout, layout))
    return fail (c, node, "operand", i, "would be read in another layout than its place was written in", error);
  return begins_with_a_block (c, buffer, layout) || fail (c, node, "operand", i, "begins within a block", error);
}

static gboolean
check_write (Check *c, const GantryNode *node, guint i, guint32 buffer, const Layout *layout, GError **error)
{
  Storage *storage = &c->storages[c->root[buffer]];

  if (storage->known && !layouts_equal (&storage->layout, layout))
    return fail (c, node, "result", i, "would be written in another layout than the rest of its place", error);
  *storage = (Storage){ *layout, TRUE };
  return begins_with_a_block (c, buffer, layout) || fail (c, node, "result", i, "begins within a block", error);
}

static gboolean
overlap (const GantryPlanBuffer *a, const GantryPlanBuffer *b)
{
  return a->region == b->region && a->memory == b->memory && a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

/* A result over an operand: element by element, so both have it at the same place. */
static gboolean
check_in_place (const Check *c, const GantryPlanStep *step, const GantryNode *node, guint i, guint32 buffer, GError **error)
{
  const Layout *layout = &c->storages[c->root[buffer]].layout;

  for (guint k = 0; k < step->n_operands; k++)
    {
      guint32 other = c->plan->refs[step->first_ref + k];

      if (overlap (&c->plan->buffers[buffer], &c->plan->buffers[other]) && !layouts_equal (layout, &c->storages[c->root[other]].layout))
        return fail (c, node, "result", i, "would be written over an operand in another layout", error);
    }
  return TRUE;
}

static gboolean
check_launch (Check *c, const GantryPlanStep *step, const GantryNode *node, GError **error)
{
  const guint32 *refs = c->plan->refs + step->first_ref;

  for (guint i = 0; i < node->n_operands; i++)
    {
      Layout layout = layout_of (c, gantry_node_operand_id (c->module, node, i), gantry_node_operand_type (c->module, node, i));

      if (!check_read (c, node, i, refs[i], &layout, error))
        return FALSE;
    }
  for (guint i = 0; i < gantry_node_n_results (c->module, node); i++)
    {
      Layout layout = layout_of (c, node->id, gantry_node_result_type (c->module, node, i));

      if (!check_write (c, node, i, refs[node->n_operands + i], &layout, error) || !check_in_place (c, step, node, i, refs[node->n_operands + i], error))
        return FALSE;
    }
  return TRUE;
}

/* A copy takes the bytes as they lie; so does a conversion the elements, and what it stores is read in that order. */
static gboolean
check_copy (Check *c, const GantryPlanStep *step, const GantryNode *node, GError **error)
{
  const guint32 *refs = c->plan->refs + step->first_ref;
  const Layout *layout = &c->storages[c->root[refs[0]]].layout;

  return begins_with_a_block (c, refs[0], layout) ? check_write (c, node, 0, refs[1], layout, error)
                                                  : fail (c, node, "operand", 0, "begins within a block", error);
}

/* What goes out is read by somebody who knows of no layouts. */
static gboolean
check_outputs (const Check *c, GError **error)
{
  for (guint32 b = 0; b < c->plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &c->plan->buffers[b];
      const GantryNode *node = gantry_module_node (c->module, buffer->node);

      if (node != NULL && (buffer->category == GANTRY_BUFFER_OUTPUT || buffer->category == GANTRY_BUFFER_INPUT) && c->storages[c->root[b]].layout.block != 0)
        return fail (c, node, "result", 0, "is given to or taken from the program and is not row-major", error);
    }
  return TRUE;
}

gboolean
gantry_assembly_check_layouts (const GantryModule *module, const GantryPlan *plan, const GantryKernelSet *kernels, GError **error)
{
  Check c = { .module = module, .plan = plan, .kernels = kernels };
  gboolean fits = TRUE;

  find_roots (&c);
  c.storages = g_new0 (Storage, plan->n_buffers + 1);
  for (guint32 i = 0; i < plan->n_steps && fits; i++)
    {
      const GantryPlanStep *step = &plan->steps[i];
      const GantryNode *node = gantry_module_node (module, step->node);

      fits = step->kind == GANTRY_STEP_COPY || step->kind == GANTRY_STEP_CONVERT ? check_copy (&c, step, node, error) : check_launch (&c, step, node, error);
    }
  fits = fits && check_outputs (&c, error);
  g_free (c.root);
  g_free (c.storages);
  return fits;
}
