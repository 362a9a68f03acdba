/* SPDX-License-Identifier: Apache-2.0 */
/* Settings are a plain value; this file copies, compares and clears them. */
#include "core/compiler/settings.h"
#include "core/planner/machine.h"
#include <string.h>

void
gantry_compile_settings_init (GantryCompileSettings *settings)
{
  memset (settings, 0, sizeof *settings);
  gantry_training_options_init (&settings->training);
  gantry_target_init_cpu (&settings->target, 0);
}

gboolean
gantry_compile_settings_take_machine (GantryCompileSettings *settings, guint n_threads)
{
  return gantry_machine_take (&settings->target, n_threads);
}

void
gantry_compile_settings_copy (GantryCompileSettings *to, const GantryCompileSettings *from)
{
  *to = *from;
  to->disabled_passes = g_strdupv (from->disabled_passes);
  gantry_training_options_copy (&to->training, &from->training);
  to->policy = g_strdup (from->policy);
  to->choices = from->choices != NULL ? gantry_choices_ref (from->choices) : NULL;
  to->sizes = from->sizes != NULL ? gantry_kernel_sizes_ref (from->sizes) : NULL;
  to->conditions = g_strdup (from->conditions);
  to->measured = from->measured != NULL ? gantry_measured_times_ref (from->measured) : NULL;
}

void
gantry_compile_settings_clear (GantryCompileSettings *settings)
{
  g_clear_pointer (&settings->disabled_passes, g_strfreev);
  gantry_training_options_clear (&settings->training);
  g_clear_pointer (&settings->policy, g_free);
  g_clear_pointer (&settings->choices, gantry_choices_unref);
  g_clear_pointer (&settings->measured, gantry_measured_times_unref);
  g_clear_pointer (&settings->sizes, gantry_kernel_sizes_unref);
  g_clear_pointer (&settings->conditions, g_free);
}

gboolean
gantry_compile_settings_enabled (const GantryCompileSettings *settings, const char *pass)
{
  return settings->disabled_passes == NULL || !g_strv_contains ((const char *const *) settings->disabled_passes, pass);
}

gboolean
gantry_compile_settings_set_enabled (GantryCompileSettings *settings, const char *pass, gboolean enabled)
{
  GPtrArray *names;

  if (gantry_compile_settings_enabled (settings, pass) == enabled)
    return FALSE;
  names = g_ptr_array_new ();
  for (guint i = 0; settings->disabled_passes != NULL && settings->disabled_passes[i] != NULL; i++)
    if (strcmp (settings->disabled_passes[i], pass) != 0)
      g_ptr_array_add (names, g_strdup (settings->disabled_passes[i]));
  if (!enabled)
    g_ptr_array_add (names, g_strdup (pass));
  g_ptr_array_add (names, NULL);
  g_strfreev (settings->disabled_passes);
  settings->disabled_passes = (char **) g_ptr_array_free (names, FALSE);
  return TRUE;
}

void
gantry_compile_settings_keep_loops (GantryCompileSettings *settings)
{
  settings->most_unrolled = 1;
  gantry_compile_settings_set_enabled (settings, "unroll-small", FALSE);
}

static gboolean
same_names (char **a, char **b)
{
  static char *none[] = { NULL };

  if (a == NULL)
    a = none;
  if (b == NULL)
    b = none;
  if (g_strv_length (a) != g_strv_length (b))
    return FALSE;
  for (guint i = 0; a[i] != NULL; i++)
    if (!g_strv_contains ((const char *const *) b, a[i]))
      return FALSE;
  return TRUE;
}

static gboolean
same_training (const GantryTrainingOptions *a, const GantryTrainingOptions *b)
{
  return a->loss == b->loss && a->output == b->output && a->optimizer == b->optimizer && a->learning_rate == b->learning_rate && a->momentum == b->momentum
         && a->beta1 == b->beta1 && a->beta2 == b->beta2 && a->epsilon == b->epsilon && a->weight_decay == b->weight_decay && a->clip_norm == b->clip_norm
         && a->l2 == b->l2 && MAX (a->microbatches, 1) == MAX (b->microbatches, 1) && a->no_loss == b->no_loss
         && same_names (a->with_respect_to, b->with_respect_to);
}

static char *
usual_conditions (const GantryCompileSettings *settings)
{
  const GantryKernelConditions usual = { .device = settings->target.arch[0] != '\0' ? "cuda" : NULL };

  return gantry_kernel_conditions_text (&usual);
}

char *
gantry_compile_settings_conditions (const GantryCompileSettings *settings)
{
  if (settings->conditions != NULL)
    return g_strdup (settings->conditions);
  if (settings->measured != NULL && settings->measured->conditions != NULL)
    return g_strdup (settings->measured->conditions);
  return usual_conditions (settings);
}

char *
gantry_compile_settings_unusual (const GantryCompileSettings *settings)
{
  g_autofree char *planned = gantry_compile_settings_conditions (settings), *usual = usual_conditions (settings);

  return gantry_kernel_conditions_difference (planned, usual);
}

gboolean
gantry_compile_settings_made_under (const GantryCompileSettings *settings, const char *conditions)
{
  g_autofree char *planned = gantry_compile_settings_conditions (settings);

  return g_strcmp0 (conditions, planned) == 0;
}

gboolean
gantry_compile_settings_same_program (const GantryCompileSettings *a, const GantryCompileSettings *b)
{
  return a->finite_math == b->finite_math && a->fuse_rows == b->fuse_rows && a->fuse_products == b->fuse_products && a->train == b->train
         && a->max_nodes == b->max_nodes && a->fold_flops == b->fold_flops && a->most_unrolled == b->most_unrolled
         && same_names (a->disabled_passes, b->disabled_passes) && (!a->train || same_training (&a->training, &b->training));
}

static gboolean
same_target (const GantryTarget *a, const GantryTarget *b)
{
  g_autofree char *x = NULL, *y = NULL;

  /* Mostly they are; what differs may still be what follows the end of a name. */
  if (memcmp (a, b, sizeof *a) == 0)
    return TRUE;
  if (a->here != b->here)
    return FALSE;
  x = gantry_target_to_text (a);
  y = gantry_target_to_text (b);
  return strcmp (x, y) == 0;
}

gboolean
gantry_compile_settings_same_plan (const GantryCompileSettings *a, const GantryCompileSettings *b)
{
  return a->order == b->order && a->allocator == b->allocator && g_strcmp0 (a->policy, b->policy) == 0 && gantry_choices_equal (a->choices, b->choices)
         && same_target (&a->target, &b->target) && gantry_measured_times_equal (a->measured, b->measured) && gantry_kernel_sizes_equal (a->sizes, b->sizes)
         && g_strcmp0 (a->conditions, b->conditions) == 0;
}
