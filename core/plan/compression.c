/* SPDX-License-Identifier: Apache-2.0 */
/* What is stored of residuals in fewer bits. */
#include "core/plan/compression.h"
#include "core/base/format.h"

gboolean
gantry_placement_is_approximate (GantryPlacementKind kind)
{
  return kind == GANTRY_PLACEMENT_BF16 || kind == GANTRY_PLACEMENT_INT8;
}

const char *
gantry_compression_why_not (GantryPlacementKind kind, const GantryType *type)
{
  gboolean fits;

  if (!gantry_placement_is_approximate (kind))
    return NULL;
  if (type->kind != GANTRY_TYPE_TENSOR || !gantry_type_is_static (type) || gantry_type_elements (type) == 0)
    return "it is not a tensor with elements";
  fits = type->element == GANTRY_F32 || (kind == GANTRY_PLACEMENT_INT8 && (type->element == GANTRY_F16 || type->element == GANTRY_BF16));
  /* A block of 8 bits is whole also where few elements are in it. */
  if (fits && gantry_compressed_bytes (kind, gantry_type_elements (type)) >= gantry_type_bytes (type))
    return "it would take no fewer bytes so";
  if (fits)
    return NULL;
  return kind == GANTRY_PLACEMENT_BF16 ? "only f32 can be stored as bf16" : "only f32, f16 and bf16 can be stored in 8 bits";
}

guint64
gantry_compressed_bytes (GantryPlacementKind kind, gint64 elements)
{
  guint64 n = (guint64) MAX (elements, 0);

  return kind == GANTRY_PLACEMENT_BF16 ? 2 * n : (n + GANTRY_COMPRESSED_BLOCK - 1) / GANTRY_COMPRESSED_BLOCK * GANTRY_COMPRESSED_RECORD;
}

gint64
gantry_compression_flops (GantryPlacementKind kind, gint64 elements)
{
  return kind == GANTRY_PLACEMENT_BF16 ? elements : 4 * elements;
}

/* Of placements */

static void
add_type (GArray *list, GHashTable *known, GantryPlacementKind kind, const GantryType *type)
{
  GantryCompression compression = { .kind = (guint8) kind, .element = (guint8) type->element };
  g_autofree char *key = NULL;

  if (gantry_compression_why_not (kind, type) != NULL)
    return;
  compression.elements = gantry_type_elements (type);
  key = g_strdup_printf ("%u %u %" G_GINT64_FORMAT, kind, compression.element, compression.elements);
  if (g_hash_table_add (known, g_steal_pointer (&key)))
    g_array_append_val (list, compression);
}

GArray *
gantry_placements_compressions (const GantryPlacements *placements, const GantryModule *module)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (GantryCompression));
  g_autoptr (GHashTable) known = NULL;
  g_autofree guint32 *owners = NULL;

  if (!gantry_placements_are_approximate (placements))
    return list;
  known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  owners = gantry_placement_owners (module);
  for (guint i = 0; i < placements->entries->len; i++)
    {
      const GantryPlacement *entry = &g_array_index (placements->entries, GantryPlacement, i);
      const GantryNode *node = gantry_module_node (module, entry->node);
      const GantryType *type;

      if (node == NULL || !gantry_placement_is_approximate (entry->kind))
        continue;
      type = gantry_node_type (module, &module->nodes[owners[gantry_module_position (module, node)]]);
      if (type->kind != GANTRY_TYPE_TUPLE)
        add_type (list, known, entry->kind, type);
      for (guint m = 0; type->kind == GANTRY_TYPE_TUPLE && m < type->rank; m++)
        add_type (list, known, entry->kind, gantry_context_type (module->context, (guint32) type->dims[m]));
    }
  return list;
}

gboolean
gantry_placements_are_approximate (const GantryPlacements *placements)
{
  for (guint i = 0; placements != NULL && i < placements->entries->len; i++)
    if (gantry_placement_is_approximate (g_array_index (placements->entries, GantryPlacement, i).kind))
      return TRUE;
  return FALSE;
}

/* Of plans */

gboolean
gantry_plan_step_compression (const GantryPlan *plan, const GantryPlanStep *step, const GantryModule *module, GantryCompression *compression, gboolean *back)
{
  const GantryNode *node = gantry_module_node (module, step->node);
  const GantryPlanBuffer *from, *to;
  const GantryType *type;

  if (step->kind != GANTRY_STEP_CONVERT || step->n_refs != 2 || node == NULL)
    return FALSE;
  from = &plan->buffers[plan->refs[step->first_ref]];
  to = &plan->buffers[plan->refs[step->first_ref + 1]];
  type = gantry_node_type (module, node);
  if (type->kind == GANTRY_TYPE_TUPLE)
    type = from->member < type->rank ? gantry_context_type (module->context, (guint32) type->dims[from->member]) : NULL;
  *back = from->stored != GANTRY_PLACEMENT_KEEP;
  if (type == NULL || (*back ? to->stored != GANTRY_PLACEMENT_KEEP : to->stored == GANTRY_PLACEMENT_KEEP)
      || gantry_compression_why_not (MAX (from->stored, to->stored), type) != NULL)
    return FALSE;
  *compression = (GantryCompression){ MAX (from->stored, to->stored), (guint8) type->element, gantry_type_elements (type) };
  return TRUE;
}

void
gantry_plan_sum_compression (const GantryPlan *plan, GantryCompressionSums *sums)
{
  *sums = (GantryCompressionSums){ 0 };
  for (guint32 i = 0; i < plan->n_steps; i++)
    {
      const GantryPlanStep *step = &plan->steps[i];
      const GantryPlanBuffer *to;

      if (step->kind != GANTRY_STEP_CONVERT)
        continue;
      sums->convert_us += step->duration_us;
      if (step->n_refs != 2 || plan->refs == NULL)
        continue;
      to = &plan->buffers[plan->refs[step->first_ref + 1]];
      if (to->stored == GANTRY_PLACEMENT_KEEP)
        continue;
      sums->values++;
      sums->stored_bytes += to->size;
      sums->exact_bytes += plan->buffers[plan->refs[step->first_ref]].size;
    }
}

char *
gantry_plan_approximate_text (const GantryPlan *plan)
{
  GantryCompressionSums sums;
  g_autofree char *stored = NULL, *exact = NULL;

  gantry_plan_sum_compression (plan, &sums);
  if (sums.values == 0)
    return NULL;
  stored = gantry_format_bytes (sums.stored_bytes);
  exact = gantry_format_bytes (sums.exact_bytes);
  return g_strdup_printf ("approximate: %u residual%s stored in fewer bits (%s instead of %s)", sums.values, sums.values == 1 ? " is" : "s are", stored, exact);
}
