/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of kernels: a sorted table by position. */
#include "core/plan/kernel-sizes.h"
#include "core/base/keyed-array.h"
#include "core/base/processor.h"
#include "core/plan/plan.h"
#include <string.h>

char *
gantry_kernel_conditions_text (const GantryKernelConditions *conditions)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *processor = gantry_processor_identity ();

  if (conditions->device == NULL || strcmp (conditions->device, "cuda") != 0)
    {
      guint n = conditions->n_threads > 0 ? conditions->n_threads : g_get_num_processors ();

      g_string_append_printf (text, "%s, %u thread%s, %s, ", processor, n, n == 1 ? "" : "s", conditions->no_library ? "no library" : "library");
      g_string_append_printf (text, "instructions %s, ", conditions->instructions != NULL ? conditions->instructions : "native");
      if (conditions->layout_block > 0)
        g_string_append_printf (text, "blocks of %u, ", conditions->layout_block);
    }
  g_string_append_printf (text, "%s%s%s%s", conditions->quick_compile ? "quick" : "optimized", conditions->allow_tf32 ? ", tf32" : "",
                          conditions->device != NULL ? ", " : "", conditions->device != NULL ? conditions->device : "");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Whether the first of @fields is a processor, which has threads. */
static gboolean
has_processor (char **fields)
{
  return g_strv_length (fields) > 1 && (g_str_has_suffix (fields[1], " threads") || g_str_has_suffix (fields[1], " thread"));
}

/* The fields of @a that are none of @b, as people call them. (transfer full) */
static char *
more_text (char **a, char **b)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; a[i] != NULL; i++)
    if (!g_strv_contains ((const char *const *) b, a[i]))
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", i == 0 && has_processor (a) ? "another processor" : a[i]);
  return g_string_free (text, FALSE);
}

char *
gantry_kernel_conditions_difference (const char *conditions, const char *from)
{
  g_auto (GStrv) a = NULL, b = NULL;
  g_autofree char *more = NULL, *less = NULL;

  if (conditions == NULL || from == NULL || strcmp (conditions, from) == 0)
    return NULL;
  a = g_strsplit (conditions, ", ", -1);
  b = g_strsplit (from, ", ", -1);
  more = more_text (a, b);
  if (*more != '\0')
    return g_steal_pointer (&more);
  less = more_text (b, a);
  /* The same fields in another order, or one of them twice: the line says it as a whole. */
  return *less != '\0' ? g_strconcat ("without ", less, NULL) : g_strdup (conditions);
}

GantryKernelSizes *
gantry_kernel_sizes_new (const char *program, const char *target)
{
  GantryKernelSizes *sizes = g_new0 (GantryKernelSizes, 1);

  g_atomic_ref_count_init (&sizes->ref_count);
  sizes->program = g_strdup (program);
  sizes->target = g_strdup (target);
  sizes->entries = g_array_new (FALSE, FALSE, sizeof (GantryKernelSize));
  return sizes;
}

GantryKernelSizes *
gantry_kernel_sizes_ref (GantryKernelSizes *sizes)
{
  g_atomic_ref_count_inc (&sizes->ref_count);
  return sizes;
}

void
gantry_kernel_sizes_unref (GantryKernelSizes *sizes)
{
  if (sizes == NULL || !g_atomic_ref_count_dec (&sizes->ref_count))
    return;
  g_free (sizes->program);
  g_free (sizes->target);
  g_free (sizes->conditions);
  g_free (sizes->arch);
  g_array_unref (sizes->entries);
  g_free (sizes);
}

void
gantry_kernel_sizes_add (GantryKernelSizes *sizes, guint32 position, guint64 workspace_bytes, guint64 packed_bytes)
{
  const GantryKernelSize entry = { position, workspace_bytes, packed_bytes };
  const GArray *entries = sizes->entries;

  g_return_if_fail (entries->len == 0 || g_array_index (entries, GantryKernelSize, entries->len - 1).position < position);
  if (workspace_bytes > 0 || packed_bytes > 0)
    g_array_append_val (sizes->entries, entry);
}

guint64
gantry_kernel_sizes_workspace (const GantryKernelSizes *sizes, guint32 position)
{
  const GantryKernelSize *size = gantry_keyed_array_find (sizes->entries, position);

  return size != NULL ? size->workspace_bytes : 0;
}

guint64
gantry_kernel_sizes_packed (const GantryKernelSizes *sizes)
{
  guint64 bytes = 0;

  for (guint i = 0; i < sizes->entries->len; i++)
    bytes += gantry_place_bytes (g_array_index (sizes->entries, GantryKernelSize, i).packed_bytes);
  return bytes;
}

gboolean
gantry_kernel_sizes_equal (const GantryKernelSizes *a, const GantryKernelSizes *b)
{
  if (a == b)
    return TRUE;
  return a != NULL && b != NULL && g_strcmp0 (a->program, b->program) == 0 && g_strcmp0 (a->target, b->target) == 0 && g_strcmp0 (a->arch, b->arch) == 0
         && g_strcmp0 (a->conditions, b->conditions) == 0 && a->code_bytes == b->code_bytes && !a->at_least == !b->at_least
         && gantry_keyed_array_equal (a->entries, b->entries);
}
