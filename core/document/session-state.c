/* SPDX-License-Identifier: Apache-2.0 */
/* What the user has set, as one number: equal for two documents in which the same is set, whoever set it and in which order. */
#include "core/document/session-private.h"
#include <string.h>

static int
compare_lines (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Adds the lines in an order of their own: in which one they were set or read means nothing. */
static void
add_lines (GString *text, GPtrArray *lines)
{
  g_ptr_array_sort (lines, compare_lines);
  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf (text, "%s\n", (const char *) g_ptr_array_index (lines, i));
}

static void
add_choices (GString *text, const GantryChoices *choices)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; choices != NULL && i < choices->entries->len; i++)
    {
      const GantryChoice *choice = &g_array_index (choices->entries, GantryChoice, i);

      g_ptr_array_add (lines, g_strdup_printf ("%016" G_GINT64_MODIFIER "x %u %u %u", choice->key, choice->kind, choice->memory, choice->decider));
    }
  add_lines (text, lines);
  if (choices != NULL && choices->fetch_limit != 0)
    g_string_append_printf (text, "fetch limit %" G_GUINT64_FORMAT "\n", choices->fetch_limit);
  for (guint i = 0; choices != NULL && choices->schedule != NULL && i < choices->schedule->len; i++)
    g_string_append_printf (text, "schedule %016" G_GINT64_MODIFIER "x\n", g_array_index (choices->schedule, guint64, i));
}

static void
add_variants (GString *text, const GPtrArray *variants)
{
  for (guint i = 0; i < variants->len; i++)
    {
      const GantryVariant *variant = g_ptr_array_index (variants, i);

      g_string_append_printf (text, "variant %s\n%s\n%" G_GUINT64_FORMAT "\n", variant->name, variant->policy != NULL ? variant->policy : "",
                              variant->limit_part > 0 ? 0 : variant->limit);
      if (variant->limit_part > 0)
        g_string_append_printf (text, "part %.17g\n", variant->limit_part);
      add_choices (text, variant->choices);
    }
}

static void
add_measured (GString *text, const GantryMeasuredTimes *measured)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (measured == NULL)
    return;
  g_string_append_printf (text, "measured %s\n", g_ascii_dtostr (number, sizeof number, measured->link_bandwidth));
  for (guint i = 0; i < measured->entries->len; i++)
    {
      const GantryMeasuredTime *time = &g_array_index (measured->entries, GantryMeasuredTime, i);

      g_ptr_array_add (lines, g_strdup_printf ("%016" G_GINT64_MODIFIER "x %s", time->key, g_ascii_dtostr (number, sizeof number, time->us)));
    }
  add_lines (text, lines);
}

static void
add_bindings (GString *text, const GantrySessionParts *parts)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  const GantryBindings *bindings = parts->bindings;

  for (guint i = 0; i < bindings->n_dims; i++)
    g_ptr_array_add (lines, g_strdup_printf ("dimension %s %" G_GINT64_FORMAT, bindings->dims[i].name, bindings->dims[i].size));
  for (guint i = 0; i < bindings->n_inputs; i++)
    g_ptr_array_add (lines, g_strdup_printf ("input %s %s", bindings->inputs[i].name, bindings->inputs[i].value));
  add_lines (text, lines);
}

static void
add_passes (GString *text, const GantryCompileSettings *settings)
{
  guint n;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (guint i = 0; i < n; i++)
    if (!gantry_compile_settings_enabled (settings, passes[i].name))
      g_string_append_printf (text, "without %s\n", passes[i].name);
}

char *
_gantry_session_state (const GantrySessionParts *parts)
{
  const GantryCompileSettings *settings = parts->settings;
  g_autoptr (GString) text = g_string_new (NULL);
  GantryTarget given = settings->target;
  g_autofree char *target = NULL;
  g_autofree char *training = gantry_training_options_to_text (&settings->training);

  given.memory_limit = given.memory_part > 0 ? 0 : given.memory_limit; /* what a part comes to nobody has set */
  target = gantry_target_given_text (&given);
  g_string_append_printf (text, "%s\n%s\n%d %d %d %d\n%s\n", target, training, settings->finite_math, settings->fuse_rows,
                          settings->order == GANTRY_ORDER_PROGRAM, settings->train, settings->policy != NULL ? settings->policy : "");
  /* Left out where it is the usual one, as in sessions that do not know it. */
  if (settings->most_unrolled != 0)
    g_string_append_printf (text, "unrolled %u\n", settings->most_unrolled);
  if (settings->order != GANTRY_ORDER_BEST && settings->order != GANTRY_ORDER_PROGRAM)
    g_string_append_printf (text, "order %s\n", gantry_order_name (settings->order));
  if (settings->allocator != GANTRY_ALLOCATOR_EXACT)
    g_string_append_printf (text, "allocator %s\n", gantry_allocator_name (settings->allocator));
  if (settings->fuse_products)
    g_string_append (text, "products\n");
  g_string_append_printf (text, "notes %s\n", parts->notes != NULL ? parts->notes : "");
  add_bindings (text, parts);
  add_passes (text, settings);
  add_choices (text, settings->choices);
  add_variants (text, parts->variants);
  add_measured (text, settings->measured);
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, text->str, (gssize) text->len);
}
