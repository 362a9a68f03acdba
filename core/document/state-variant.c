/* SPDX-License-Identifier: Apache-2.0 */
/* States of a document as bytes: what the user has set, kept with the edits that led there. Lists that grow with the program
 * are fixed arrays, so that making one is a copy. */
#include "core/document/recovery-private.h"
#include <math.h>
#include <string.h>

/* target, training; finite_math, fuse_rows, program order, train; most_unrolled; fuse_products; order, allocator; policy; disabled passes; choices; measured;
 * dims; inputs; variants */
#define UNROLLED "u"          /* not in older ones */
#define PRODUCTS UNROLLED "b" /* likewise */
#define ORDERS PRODUCTS "yy"  /* likewise: whether the order is the program's stands for both there */
#define STATE(later, measured, variants) "(ssbbbb" later "msasatm" measured "a(sx)a(ss)" variants ")"
#define MEASURED "(ssmsdatad)"
#define OLD_MEASURED "(ssdatad)" /* which does not say what was measured was made under */
/* Figures: peak, temporaries, host, copied; step, done again, waiting; sizes known, fits; parts. */
#define FIGURES "(ttttdddbbat)"
#define VARIANT(limit) "(smst" limit "ib" FIGURES "dat)"
#define VARIANTS "a" VARIANT ("d")
#define BYTES_VARIANTS "a" VARIANT ("")    /* which cannot say that a limit was given as a part */
#define OLD_VARIANTS "a(smstibttttddddat)" /* which does not say whether sizes are known: what comes back reads "at least" */

#define SCHEDULED G_MAXUINT64
#define FETCH_LIMIT (G_MAXUINT64 - 1)

/* A choice is two numbers: its key, and the rest of it. Those of the schedule follow, in its order: a key, and SCHEDULED; then the limit
 * that copies are fetched late for, where there is one, and FETCH_LIMIT. */
static GVariant *
pack_choices (const GantryChoices *choices)
{
  guint n = choices != NULL ? choices->entries->len : 0;
  guint n_scheduled = choices != NULL && choices->schedule != NULL ? choices->schedule->len : 0;
  gsize n_pairs = (gsize) n + n_scheduled;
  g_autofree guint64 *numbers = g_new (guint64, 2 * (n_pairs + 1));

  for (guint i = 0; i < n; i++)
    {
      const GantryChoice *choice = &g_array_index (choices->entries, GantryChoice, i);

      numbers[2 * i] = choice->key;
      numbers[2 * i + 1] = (guint64) choice->node << 32 | (guint64) choice->kind << 16 | (guint64) choice->memory << 8 | choice->decider;
    }
  for (guint i = 0; i < n_scheduled; i++)
    {
      numbers[2 * (n + (gsize) i)] = g_array_index (choices->schedule, guint64, i);
      numbers[2 * (n + (gsize) i) + 1] = SCHEDULED;
    }
  if (choices != NULL && choices->fetch_limit != 0)
    {
      numbers[2 * n_pairs] = choices->fetch_limit;
      numbers[2 * n_pairs++ + 1] = FETCH_LIMIT;
    }
  return g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, numbers, 2 * n_pairs, sizeof *numbers);
}

static GantryChoices *
unpack_choices (GVariant *array)
{
  gsize n;
  const guint64 *numbers = g_variant_get_fixed_array (array, &n, sizeof *numbers);
  g_autofree GantryChoice *list = g_new0 (GantryChoice, n / 2 + 1);
  g_autofree guint64 *schedule = g_new (guint64, n / 2 + 1);
  GantryChoices *choices = gantry_choices_new ();
  guint n_choices = 0, n_scheduled = 0;

  for (gsize i = 0; i < n / 2; i++)
    {
      guint64 rest = numbers[2 * i + 1];
      GantryChoice *choice = &list[n_choices];

      if (rest == SCHEDULED)
        {
          schedule[n_scheduled++] = numbers[2 * i];
          continue;
        }
      if (rest == FETCH_LIMIT)
        {
          choices->fetch_limit = numbers[2 * i];
          continue;
        }
      choice->key = numbers[2 * i];
      choice->node = (guint32) (rest >> 32);
      choice->kind = (guint8) gantry_placement_kind_of_number (rest >> 16 & 0xff);
      choice->memory = (guint8) MIN (rest >> 8 & 0xff, GANTRY_N_MEMORY_KINDS - 1);
      choice->decider = (guint8) MIN (rest & 0xff, GANTRY_DECIDED_BY_SOLVER);
      n_choices++;
    }
  gantry_choices_set_many (choices, list, n_choices);
  gantry_choices_set_schedule (choices, schedule, n_scheduled);
  return choices;
}

static GVariant *
pack_measured (const GantryMeasuredTimes *times)
{
  guint n;
  g_autofree guint64 *keys = NULL;
  g_autofree double *us = NULL;

  if (times == NULL)
    return g_variant_new_maybe (G_VARIANT_TYPE (MEASURED), NULL);
  n = times->entries->len;
  keys = g_new (guint64, (gsize) n + 1);
  us = g_new (double, (gsize) n + 1);
  for (guint i = 0; i < n; i++)
    {
      keys[i] = g_array_index (times->entries, GantryMeasuredTime, i).key;
      us[i] = g_array_index (times->entries, GantryMeasuredTime, i).us;
    }
  return g_variant_new_maybe (NULL, g_variant_new ("(ssmsd@at@ad)", times->run, times->name, times->conditions, times->link_bandwidth,
                                                   g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, keys, n, sizeof *keys),
                                                   g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, us, n, sizeof *us)));
}

static GantryMeasuredTimes *
unpack_measured (GVariant *maybe)
{
  g_autoptr (GVariant) value = g_variant_get_maybe (maybe), keys = NULL, us = NULL;
  GantryMeasuredTimes *times;
  const char *run, *name, *conditions = NULL;
  double link;
  gsize n_keys, n_us;
  const guint64 *key;
  const double *time;

  if (value == NULL)
    return NULL;
  if (g_variant_is_of_type (value, G_VARIANT_TYPE (OLD_MEASURED)))
    g_variant_get (value, "(&s&sd@at@ad)", &run, &name, &link, &keys, &us);
  else
    g_variant_get (value, "(&s&sm&sd@at@ad)", &run, &name, &conditions, &link, &keys, &us);
  times = gantry_measured_times_new (run, name);
  times->conditions = g_strdup (conditions);
  times->link_bandwidth = isfinite (link) && link > 0 ? link : 0;
  key = g_variant_get_fixed_array (keys, &n_keys, sizeof *key);
  time = g_variant_get_fixed_array (us, &n_us, sizeof *time);
  for (gsize i = 0; i < MIN (n_keys, n_us); i++)
    gantry_measured_times_add (times, key[i], time[i]);
  gantry_measured_times_sort (times);
  return times;
}

static GVariant *
pack_bindings (const GantryBindings *bindings, gboolean dims)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE (dims ? "a(sx)" : "a(ss)"));
  for (guint i = 0; dims && i < bindings->n_dims; i++)
    g_variant_builder_add (&builder, "(sx)", bindings->dims[i].name, bindings->dims[i].size);
  for (guint i = 0; !dims && i < bindings->n_inputs; i++)
    g_variant_builder_add (&builder, "(ss)", bindings->inputs[i].name, bindings->inputs[i].value);
  return g_variant_builder_end (&builder);
}

static GantryBindings *
unpack_bindings (GVariant *dims, GVariant *inputs)
{
  GantryBindings *bindings = gantry_bindings_new ();
  GVariantIter iter;
  const char *name, *value;
  gint64 size;

  g_variant_iter_init (&iter, dims);
  while (g_variant_iter_next (&iter, "(&sx)", &name, &size))
    if (size >= 0)
      gantry_bindings_set_dim (bindings, name, size);
  g_variant_iter_init (&iter, inputs);
  while (g_variant_iter_next (&iter, "(&s&s)", &name, &value))
    gantry_bindings_set_input (bindings, name, value);
  return bindings;
}

static GVariant *
pack_figures (const GantryPlanFigures *f)
{
  return g_variant_new ("(ttttdddbb@at)", f->peak_bytes, f->temp_bytes, f->host_bytes, f->copied_bytes, f->step_us, f->recompute_us, f->stall_us,
                        f->sizes_known, f->fits,
                        g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, f->parts.bytes, GANTRY_N_MEMORY_PARTS, sizeof f->parts.bytes[0]));
}

static void
unpack_figures (GVariant *figures, GantryPlanFigures *f)
{
  g_autoptr (GVariant) parts = NULL;
  const guint64 *bytes;
  gsize n;

  g_variant_get (figures, "(ttttdddbb@at)", &f->peak_bytes, &f->temp_bytes, &f->host_bytes, &f->copied_bytes, &f->step_us, &f->recompute_us, &f->stall_us,
                 &f->sizes_known, &f->fits, &parts);
  bytes = g_variant_get_fixed_array (parts, &n, sizeof *bytes);
  for (gsize i = 0; i < MIN (n, GANTRY_N_MEMORY_PARTS); i++)
    f->parts.bytes[i] = bytes[i];
}

static GVariant *
pack_variants (GPtrArray *variants)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE (VARIANTS));
  for (guint i = 0; i < variants->len; i++)
    {
      const GantryVariant *v = g_ptr_array_index (variants, i);

      g_variant_builder_add (&builder, "(smstdib@" FIGURES "d@at)", v->name, v->policy, v->limit, v->limit_part, (gint32) v->by, v->predicted,
                             pack_figures (&v->figures), v->gap, pack_choices (v->choices));
    }
  return g_variant_builder_end (&builder);
}

/* (transfer full) */
static GantryVariant *
unpack_variant (GVariant *child)
{
  g_autoptr (GVariant) choices = NULL, figures = NULL;
  const char *name, *policy;
  GantryVariant *v;
  GantryPlanFigures *f;
  gint32 by;

  g_variant_get_child (child, 0, "&s", &name);
  v = _gantry_variant_new (name);
  f = &v->figures;
  if (g_variant_is_of_type (child, G_VARIANT_TYPE (VARIANT ("d"))))
    {
      g_variant_get (child, "(&sm&stdib@" FIGURES "d@at)", &name, &policy, &v->limit, &v->limit_part, &by, &v->predicted, &figures, &v->gap, &choices);
      v->limit_part = isfinite (v->limit_part) ? MAX (v->limit_part, 0) : 0;
      unpack_figures (figures, f);
    }
  else if (g_variant_is_of_type (child, G_VARIANT_TYPE (VARIANT (""))))
    {
      g_variant_get (child, "(&sm&stib@" FIGURES "d@at)", &name, &policy, &v->limit, &by, &v->predicted, &figures, &v->gap, &choices);
      unpack_figures (figures, f);
    }
  else
    {
      f->fits = TRUE;
      g_variant_get (child, "(&sm&stibttttdddd@at)", &name, &policy, &v->limit, &by, &v->predicted, &f->peak_bytes, &f->temp_bytes, &f->host_bytes,
                     &f->copied_bytes, &f->step_us, &f->recompute_us, &f->stall_us, &v->gap, &choices);
    }
  v->policy = g_strdup (policy);
  v->by = (GantryDecider) CLAMP (by, 0, GANTRY_DECIDED_BY_SOLVER);
  v->choices = unpack_choices (choices);
  return v;
}

static GPtrArray *
unpack_variants (GVariant *list)
{
  GPtrArray *variants = _gantry_variants_new ();
  gsize n = g_variant_n_children (list);

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (list, i);

      g_ptr_array_add (variants, unpack_variant (child));
    }
  return variants;
}

GVariant *
_gantry_state_to_variant (const GantryState *state)
{
  const GantryCompileSettings *s = &state->settings;
  g_autofree char *target = gantry_target_given_text (&s->target), *training = gantry_training_options_to_text (&s->training);
  const char *none[] = { NULL };
  GVariant *disabled = g_variant_new_strv (s->disabled_passes != NULL ? (const char *const *) s->disabled_passes : none, -1);

  return g_variant_ref_sink (g_variant_new ("(ssbbbb" ORDERS "ms@as@at@m" MEASURED "@a(sx)@a(ss)@" VARIANTS ")", target, training, s->finite_math, s->fuse_rows,
                                            s->order == GANTRY_ORDER_PROGRAM, s->train, s->most_unrolled, s->fuse_products, s->order, s->allocator, s->policy,
                                            disabled, pack_choices (s->choices), pack_measured (s->measured), pack_bindings (state->bindings, TRUE),
                                            pack_bindings (state->bindings, FALSE), pack_variants (state->variants)));
}

/* Of an older version where only that makes sense of the bytes. (transfer full) */
static GVariant *
read_state (GBytes *bytes)
{
  static const char *const types[] = { STATE (ORDERS, MEASURED, VARIANTS),         STATE (PRODUCTS, MEASURED, VARIANTS),
                                       STATE (PRODUCTS, MEASURED, BYTES_VARIANTS), STATE (UNROLLED, MEASURED, BYTES_VARIANTS),
                                       STATE ("", MEASURED, BYTES_VARIANTS),       STATE ("", OLD_MEASURED, BYTES_VARIANTS),
                                       STATE ("", OLD_MEASURED, OLD_VARIANTS) };
  g_autoptr (GVariant) now = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (types[i]), bytes, FALSE));

      if (g_variant_is_normal_form (value))
        return g_steal_pointer (&value);
      if (now == NULL)
        now = g_steal_pointer (&value);
    }
  return g_variant_get_normal_form (now);
}

GantryState *
_gantry_state_from_bytes (GBytes *bytes, GError **error)
{
  g_autoptr (GVariant) value = read_state (bytes), choices = NULL, measured = NULL, dims = NULL, inputs = NULL, variants = NULL;
  g_autoptr (GantryState) state = _gantry_state_copy (NULL);
  GantryCompileSettings *s = &state->settings;
  const char *target, *training, *policy;
  gboolean program_order = FALSE;
  guint8 order = G_MAXUINT8, allocator = GANTRY_ALLOCATOR_EXACT;

  if (g_variant_is_of_type (value, G_VARIANT_TYPE (STATE (ORDERS, MEASURED, VARIANTS))))
    g_variant_get (value, "(&s&sbbbb" ORDERS "m&s^as@at@m*@a(sx)@a(ss)@*)", &target, &training, &s->finite_math, &s->fuse_rows, &program_order, &s->train,
                   &s->most_unrolled, &s->fuse_products, &order, &allocator, &policy, &s->disabled_passes, &choices, &measured, &dims, &inputs, &variants);
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE (STATE (PRODUCTS, MEASURED, VARIANTS)))
           || g_variant_is_of_type (value, G_VARIANT_TYPE (STATE (PRODUCTS, MEASURED, BYTES_VARIANTS))))
    g_variant_get (value, "(&s&sbbbb" PRODUCTS "m&s^as@at@m*@a(sx)@a(ss)@*)", &target, &training, &s->finite_math, &s->fuse_rows, &program_order, &s->train,
                   &s->most_unrolled, &s->fuse_products, &policy, &s->disabled_passes, &choices, &measured, &dims, &inputs, &variants);
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE (STATE (UNROLLED, MEASURED, BYTES_VARIANTS))))
    g_variant_get (value, "(&s&sbbbb" UNROLLED "m&s^as@at@m*@a(sx)@a(ss)@*)", &target, &training, &s->finite_math, &s->fuse_rows, &program_order, &s->train,
                   &s->most_unrolled, &policy, &s->disabled_passes, &choices, &measured, &dims, &inputs, &variants);
  else
    g_variant_get (value, "(&s&sbbbbm&s^as@at@m*@a(sx)@a(ss)@*)", &target, &training, &s->finite_math, &s->fuse_rows, &program_order, &s->train, &policy,
                   &s->disabled_passes, &choices, &measured, &dims, &inputs, &variants);
  s->order = order < GANTRY_N_ORDERS ? order : program_order ? GANTRY_ORDER_PROGRAM : GANTRY_ORDER_BEST;
  s->allocator = MIN (allocator, GANTRY_N_ALLOCATORS - 1);
  s->policy = g_strdup (policy);
  s->choices = unpack_choices (choices);
  s->measured = unpack_measured (measured);
  _gantry_state_set_bindings (state, unpack_bindings (dims, inputs));
  g_ptr_array_unref (state->variants);
  state->variants = unpack_variants (variants);
  gantry_compile_settings_take_machine (s, 0);
  return gantry_target_parse (&s->target, target, -1, error) && gantry_training_options_parse (&s->training, training, -1, error) ? g_steal_pointer (&state)
                                                                                                                                  : NULL;
}
