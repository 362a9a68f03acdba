/* SPDX-License-Identifier: Apache-2.0 */
/* channels: an image of few channels gets as many as lie in a block, zeros among them, where a convolution reads it. Tensor
 * cores are then fed 16 bytes at a time, where three channels would be computed element by element, each with an address
 * of its own: that takes several times as long as the products with zeros. The weights get zeros for them, so that
 * each sum is the same; of the weights' gradient, to which channels are what images are to a convolution, the
 * first ones are kept. */
#include "core/graph/op-attributes.h"
#include "core/graph/rewriter.h"
#include "core/passes/passes.h"

#define BLOCK 8         /* channels of f16 or bf16 in 16 bytes */
#define MOST_PLACES 256 /* of a window; a gradient of weights has one as large as an image */
#define LEAST_DEPTH 512 /* products that a weight's gradient is the sum of */
#define LEAST_IMAGE 16  /* elements of the image for each of the weights */

typedef struct
{
  GantryRewriter *rewriter;
  GantryBuilder *b;
  const GantryModule *module;
  const GantryNode *node; /* the convolution */
} Match;

/* @dim made BLOCK long, by zeros behind its end. */
static guint32
widened (const Match *m, guint32 x, guint dim)
{
  const GantryType *type = gantry_builder_get_type (m->b, x);
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 };

  high[dim] = BLOCK - type->dims[dim];
  return gantry_builder_pad (m->b, x, gantry_builder_scalar (m->b, (GantryElementType) type->element, 0), low, high, NULL);
}

static gboolean
is_few (gint64 channels)
{
  return channels > 1 && channels < BLOCK;
}

static gint64
places_of (const GantryType *weights)
{
  gint64 places = 1;

  for (guint i = 2; i < weights->rank; i++)
    places = gantry_dim_multiply (places, weights->dims[i]);
  return places;
}

static guint32
convolve (const Match *m, guint32 x, guint32 weights)
{
  guint32 operands[3] = { x, weights };

  if (m->node->n_operands > 2)
    operands[2] = gantry_rewriter_map (m->rewriter, gantry_node_operand_id (m->module, m->node, 2));
  return gantry_builder_add (m->b, GANTRY_OP_CONVOLUTION, operands, m->node->n_operands, m->node->attrs);
}

/* Returns: 0 where the convolution is none of an image of few channels */
static guint32
of_image (const Match *m)
{
  const GantryType *x = gantry_node_operand_type (m->module, m->node, 0);
  const GantryType *weights = gantry_node_operand_type (m->module, m->node, 1);
  gint64 places = places_of (weights);

  if (!is_few (x->dims[1]) || weights->dims[0] < BLOCK || places == 1 || places > MOST_PLACES
      || gantry_type_elements (x) / LEAST_IMAGE < gantry_type_elements (weights))
    return 0;
  return convolve (m, widened (m, gantry_rewriter_map (m->rewriter, gantry_node_operand_id (m->module, m->node, 0)), 1),
                   widened (m, gantry_rewriter_map (m->rewriter, gantry_node_operand_id (m->module, m->node, 1)), 1));
}

/* The image whose transpose the convolution reads as so many images of one channel each: in a weights' gradient. */
static const GantryNode *
exchanged_image (const Match *m)
{
  const GantryNode *node = gantry_node_operand (m->module, m->node, 0);
  const gint64 *permutation;
  gsize n;

  if (node->op != GANTRY_OP_TRANSPOSE)
    return NULL;
  permutation = gantry_attrs_ints (m->module->context, node->attrs, "permutation", &n);
  for (gsize i = 0; i < n; i++)
    if (permutation[i] != (gint64) (i < 2 ? 1 - i : i))
      return NULL;
  return gantry_node_operand (m->module, node, 0);
}

/* Returns: 0 where the convolution is no gradient of weights for few channels */
static guint32
of_weights (const Match *m)
{
  const GantryNode *image = exchanged_image (m);
  const GantryType *x = gantry_node_operand_type (m->module, m->node, 0), *to = gantry_node_type (m->module, m->node);
  const GantryType *cotangent = gantry_node_operand_type (m->module, m->node, 1);
  gint64 permutation[GANTRY_MAX_RANK], start[GANTRY_MAX_RANK] = { 0 };
  guint32 exchanged;

  if (image == NULL || m->node->n_operands > 2 || !is_few (x->dims[0]) || cotangent->dims[0] < BLOCK || places_of (cotangent) * x->dims[1] < LEAST_DEPTH
      || gantry_type_elements (x) / LEAST_IMAGE < gantry_type_elements (to))
    return 0;
  for (guint i = 0; i < x->rank; i++)
    permutation[i] = i < 2 ? 1 - i : i;
  exchanged = gantry_builder_transpose (m->b, widened (m, gantry_rewriter_map (m->rewriter, image->id), 1), permutation);
  return gantry_builder_slice (m->b, convolve (m, exchanged, gantry_rewriter_map (m->rewriter, gantry_node_operand_id (m->module, m->node, 1))), start,
                               to->dims, NULL);
}

static gboolean
is_candidate (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return node->op == GANTRY_OP_CONVOLUTION && (type->element == GANTRY_F16 || type->element == GANTRY_BF16)
         && gantry_node_operand_type (module, node, 0)->element == type->element && gantry_node_operand_type (module, node, 1)->element == type->element
         && type->rank > 2 && gantry_type_is_static (type) && gantry_type_is_static (gantry_node_operand_type (module, node, 0))
         && gantry_type_is_static (gantry_node_operand_type (module, node, 1))
         && gantry_attrs_int (module->context, node->attrs, "feature_group_count", 1) == 1;
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  const Match m = { rewriter, gantry_rewriter_builder (rewriter), module, node };
  guint *n_changed = user_data;
  guint32 made = 0;

  if (is_candidate (module, node))
    made = of_weights (&m);
  if (made == 0 && is_candidate (module, node))
    made = of_image (&m);
  if (made == 0)
    {
      gantry_rewriter_keep (rewriter, node);
      return TRUE;
    }
  gantry_builder_name_node (m.b, made, node->name);
  gantry_rewriter_replace (rewriter, node, made);
  (*n_changed)++;
  return TRUE;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  guint n_changed = 0;

  if (!gantry_rewriter_run (rewriter, visit, &n_changed, progress, error))
    return NULL;
  return n_changed > 0 ? gantry_rewriter_finish (rewriter, error) : gantry_module_ref (module);
}

const GantryPass gantry_pass_channels = {
  .name = "channels",
  .title = "Whole blocks of channels",
  .description = "Gives an image of few channels as many as a GPU fetches at once, zeros among them.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
