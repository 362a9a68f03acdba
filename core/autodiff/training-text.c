/* SPDX-License-Identifier: Apache-2.0 */
/* Training options as text: names for the command line, a key file for the session. */
#include "core/autodiff/autodiff.h"
#include <string.h>

#define GROUP "training"

static const char *const losses[] = {
  [GANTRY_LOSS_OUTPUT] = "output", [GANTRY_LOSS_MEAN_SQUARED_ERROR] = "mse", [GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY] = "softmax-cross-entropy"
};
static const char *const optimizers[] = { [GANTRY_OPTIMIZER_NONE] = "none",
                                          [GANTRY_OPTIMIZER_SGD] = "sgd",
                                          [GANTRY_OPTIMIZER_MOMENTUM] = "momentum",
                                          [GANTRY_OPTIMIZER_ADAM] = "adam",
                                          [GANTRY_OPTIMIZER_ADAMW] = "adamw" };

const char *
gantry_loss_name (GantryLoss loss)
{
  return (guint) loss < G_N_ELEMENTS (losses) ? losses[loss] : "?";
}

const char *
gantry_optimizer_name (GantryOptimizer optimizer)
{
  return (guint) optimizer < G_N_ELEMENTS (optimizers) ? optimizers[optimizer] : "?";
}

static int
find (const char *const *names, guint n, const char *name, const char *what, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      if (strcmp (names[i], name) == 0)
        return (int) i;
      g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", names[i]);
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "there is no %s '%s'; there are %s", what, name, known->str);
  return -1;
}

gboolean
gantry_loss_parse (const char *name, GantryLoss *loss, GError **error)
{
  int found = find (losses, G_N_ELEMENTS (losses), name, "loss", error);

  if (found >= 0)
    *loss = (GantryLoss) found;
  return found >= 0;
}

gboolean
gantry_optimizer_parse (const char *name, GantryOptimizer *optimizer, GError **error)
{
  int found = find (optimizers, G_N_ELEMENTS (optimizers), name, "optimizer", error);

  if (found >= 0)
    *optimizer = (GantryOptimizer) found;
  return found >= 0;
}

/* The numbers and what they are called; each must be finite and at least 0. */
typedef struct
{
  const char *key;
  gsize offset;
} Number;

static const Number numbers[] = {
  { "learning_rate", G_STRUCT_OFFSET (GantryTrainingOptions, learning_rate) },
  { "momentum", G_STRUCT_OFFSET (GantryTrainingOptions, momentum) },
  { "beta1", G_STRUCT_OFFSET (GantryTrainingOptions, beta1) },
  { "beta2", G_STRUCT_OFFSET (GantryTrainingOptions, beta2) },
  { "epsilon", G_STRUCT_OFFSET (GantryTrainingOptions, epsilon) },
  { "weight_decay", G_STRUCT_OFFSET (GantryTrainingOptions, weight_decay) },
  { "clip_norm", G_STRUCT_OFFSET (GantryTrainingOptions, clip_norm) },
  { "l2", G_STRUCT_OFFSET (GantryTrainingOptions, l2) },
};

char *
gantry_training_options_to_text (const GantryTrainingOptions *options)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();

  g_key_file_set_string (file, GROUP, "loss", gantry_loss_name (options->loss));
  g_key_file_set_uint64 (file, GROUP, "output", options->output);
  g_key_file_set_string (file, GROUP, "optimizer", gantry_optimizer_name (options->optimizer));
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    g_key_file_set_double (file, GROUP, numbers[i].key, G_STRUCT_MEMBER (double, options, numbers[i].offset));
  if (options->microbatches > 1)
    g_key_file_set_uint64 (file, GROUP, "microbatches", options->microbatches);
  g_key_file_set_boolean (file, GROUP, "no_loss", options->no_loss);
  if (options->with_respect_to != NULL)
    g_key_file_set_string_list (file, GROUP, "with_respect_to", (const char *const *) options->with_respect_to, g_strv_length (options->with_respect_to));
  return g_key_file_to_data (file, NULL, NULL);
}

static gboolean
parse_number (GKeyFile *file, GantryTrainingOptions *options, const Number *number, GError **error)
{
  GError *own = NULL;
  double value;

  if (!g_key_file_has_key (file, GROUP, number->key, NULL))
    return TRUE;
  value = g_key_file_get_double (file, GROUP, number->key, &own);
  if (own == NULL && !(value >= 0 && value < 1e300))
    own = g_error_new (GANTRY_ERROR, GANTRY_ERROR_INVALID, "must be a number from 0 on");
  if (own != NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "training options: %s: %s", number->key, own->message);
      g_error_free (own);
      return FALSE;
    }
  G_STRUCT_MEMBER (double, options, number->offset) = value;
  return TRUE;
}

static gboolean
parse_count (GKeyFile *file, const char *key, guint most, guint *count, GError **error)
{
  g_autofree char *text = g_key_file_get_value (file, GROUP, key, NULL);
  guint64 value;

  if (text == NULL)
    return TRUE;
  if (!g_ascii_string_to_unsigned (text, 10, 0, most, &value, NULL))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "training options: %s: must be a whole number from 0 to %u, not '%s'", key, most, text);
      return FALSE;
    }
  *count = (guint) value;
  return TRUE;
}

static gboolean
parse_flag (GKeyFile *file, const char *key, gboolean *flag, GError **error)
{
  GError *own = NULL;
  gboolean value;

  if (!g_key_file_has_key (file, GROUP, key, NULL))
    return TRUE;
  value = g_key_file_get_boolean (file, GROUP, key, &own);
  if (own != NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "training options: %s: %s", key, own->message);
      g_error_free (own);
      return FALSE;
    }
  *flag = value;
  return TRUE;
}

static gboolean
parse_all (GKeyFile *file, GantryTrainingOptions *options, GError **error)
{
  g_autofree char *loss = g_key_file_get_string (file, GROUP, "loss", NULL);
  g_autofree char *optimizer = g_key_file_get_string (file, GROUP, "optimizer", NULL);

  if ((loss != NULL && !gantry_loss_parse (loss, &options->loss, error))
      || (optimizer != NULL && !gantry_optimizer_parse (optimizer, &options->optimizer, error))
      || !parse_count (file, "output", G_MAXINT, &options->output, error)
      || !parse_count (file, "microbatches", GANTRY_TRAINING_MOST_MICROBATCHES, &options->microbatches, error)
      || !parse_flag (file, "no_loss", &options->no_loss, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!parse_number (file, options, &numbers[i], error))
      return FALSE;
  if (g_key_file_has_key (file, GROUP, "with_respect_to", NULL))
    {
      g_strfreev (options->with_respect_to);
      options->with_respect_to = g_key_file_get_string_list (file, GROUP, "with_respect_to", NULL, NULL);
    }
  return TRUE;
}

gboolean
gantry_training_options_parse (GantryTrainingOptions *options, const char *text, gssize length, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();

  if (!g_key_file_load_from_data (file, text, length < 0 ? strlen (text) : (gsize) length, G_KEY_FILE_NONE, error))
    {
      gantry_error_prefix (error, "training options: ");
      return FALSE;
    }
  return parse_all (file, options, error);
}
