/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli train: makes a training step of a forward program. */
#include "app/cli/plan-report.h"
#include <string.h>

typedef struct
{
  GantryCliOptions common;
  GantryTrainingOptions training;
  char *output;
  char *loss, *optimizer;
  gint index;
  gboolean gradients_only;
  gint holders, microbatches;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  gantry_training_options_clear (&options->training);
  g_free (options->output);
  g_free (options->loss);
  g_free (options->optimizer);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

typedef struct
{
  guint nodes[GANTRY_N_PHASES];
  guint n_parameters, n_states;
  guint64 parameter_bytes, state_bytes;
} Counts;

static void
count (const GantryModule *module, Counts *counts)
{
  const GantryFunction *entry = gantry_module_entry (module);

  *counts = (Counts){ 0 };
  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      guint64 bytes = (guint64) MAX (gantry_type_bytes (gantry_node_type (module, node)), 0);

      if (i >= entry->n_params)
        {
          counts->nodes[node->phase]++;
          continue;
        }
      switch (gantry_parameter_role (module, node))
        {
        case GANTRY_SUBJECT_PARAMETER:
          counts->n_parameters++;
          counts->parameter_bytes += bytes;
          break;
        case GANTRY_SUBJECT_STATE:
          counts->n_states++;
          counts->state_bytes += bytes;
          break;
        default: break;
        }
    }
}

static void
print_json (const Options *options, GantryDocument *document, const Counts *counts)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  gantry_cli_add_string (json, "optimizer", gantry_optimizer_name (options->training.optimizer));
  gantry_cli_add_string (json, "loss", gantry_loss_name (options->training.loss));
  gantry_cli_add_int (json, "microbatches", options->training.microbatches);
  gantry_cli_add_boolean (json, "no_loss", options->training.no_loss);
  gantry_cli_add_int (json, "parameters", counts->n_parameters);
  gantry_cli_add_int (json, "parameter_bytes", (gint64) counts->parameter_bytes);
  gantry_cli_add_int (json, "states", counts->n_states);
  gantry_cli_add_int (json, "state_bytes", (gint64) counts->state_bytes);
  json_builder_set_member_name (json, "nodes");
  json_builder_begin_object (json);
  for (guint i = 0; i < GANTRY_N_PHASES; i++)
    gantry_cli_add_int (json, gantry_phase_name (i), counts->nodes[i]);
  json_builder_end_object (json);
  gantry_plan_report_json (json, document, (guint) options->holders);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

/* "none of the loss" would say the opposite of what happens. */
static const char *
what_of (GantryOptimizer optimizer)
{
  return optimizer == GANTRY_OPTIMIZER_NONE ? "gradients" : gantry_optimizer_name (optimizer);
}

/* Names of the inputs that have the examples of all microbatches (@divided), or that each of them has whole. (transfer full) */
static char *
inputs_of (GantryDocument *document, gboolean divided)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (document);
  const GantryModule *module = gantry_compilation_module (compilation), *imported = gantry_compilation_imported (compilation);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i], *before = gantry_module_node (imported, node->id);
      g_autofree char *label = gantry_node_label (module, node);

      if (gantry_parameter_role (module, node) == GANTRY_SUBJECT_INPUT
          && (before == NULL || gantry_node_type (imported, before) != gantry_node_type (module, node)) == divided)
        g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", label);
    }
  return g_string_free (g_steal_pointer (&names), FALSE);
}

static void
print_text (const Options *options, GantryDocument *document, const Counts *counts)
{
  g_autofree char *parameters = gantry_cli_bytes (counts->parameter_bytes);
  g_autofree char *states = gantry_cli_bytes (counts->state_bytes);

  gantry_cli_print ("%-10s %s of the loss %s%s\n", "training", what_of (options->training.optimizer), gantry_loss_name (options->training.loss),
                    options->training.no_loss ? ", which is no result" : "");
  if (options->training.microbatches > 1)
    {
      g_autofree char *divided = inputs_of (document, TRUE), *whole = inputs_of (document, FALSE);

      gantry_cli_print ("%-10s %u microbatches, whose gradients are accumulated; they divide %s%s%s\n", "batch", options->training.microbatches, divided,
                        *whole != '\0' ? "; each has all of " : "", whole);
    }
  gantry_cli_print ("%-10s %u, %s; %u states, %s\n", "parameters", counts->n_parameters, parameters, counts->n_states, states);
  gantry_cli_print ("%-10s %u forward, %u backward, %u update\n", "nodes", counts->nodes[GANTRY_PHASE_FORWARD], counts->nodes[GANTRY_PHASE_BACKWARD],
                    counts->nodes[GANTRY_PHASE_UPDATE]);
  gantry_plan_report_text (document, 0, (guint) options->holders);
}

static int
train (const Options *options, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryDocument) document = gantry_cli_open (&options->common, path, &error);
  Counts counts;

  if (document != NULL && gantry_module_is_training (gantry_document_get_model (document)->module))
    g_set_error (&error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: is a training step already; plan, solve, pareto and run take it as it is", path);
  else if (document != NULL && gantry_plan_report_check (document, &error) && options->output != NULL)
    gantry_document_save (document, options->output, &error);
  if (error != NULL)
    return gantry_cli_fail (error);
  count (gantry_compilation_module (gantry_document_get_compilation (document)), &counts);
  if (options->common.json)
    print_json (options, document, &counts);
  else
    print_text (options, document, &counts);
  return GANTRY_EXIT_DONE;
}

static gboolean
read_training (Options *options, GError **error)
{
  GantryTrainingOptions *training = &options->training;
  const double numbers[] = { training->learning_rate, training->momentum,     training->beta1,     training->beta2,
                             training->epsilon,       training->weight_decay, training->clip_norm, training->l2 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!(numbers[i] >= 0 && numbers[i] < 1e300))
      {
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                     "--lr, --momentum, --beta1, --beta2, --epsilon, --weight-decay, --clip and --l2 take numbers from 0 on");
        return FALSE;
      }
  if (options->index < 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--loss-output %d: outputs count from 0", options->index);
      return FALSE;
    }
  if (options->gradients_only && options->optimizer != NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--gradients-only and --optimizer do not go together");
      return FALSE;
    }
  if (options->microbatches < 1 || options->microbatches > GANTRY_TRAINING_MOST_MICROBATCHES)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--microbatches takes a number from 1 to %u", GANTRY_TRAINING_MOST_MICROBATCHES);
      return FALSE;
    }
  training->microbatches = (guint) options->microbatches;
  training->output = (guint) options->index;
  if (options->gradients_only)
    training->optimizer = GANTRY_OPTIMIZER_NONE;
  return (options->loss == NULL || gantry_loss_parse (options->loss, &training->loss, error))
         && (options->optimizer == NULL || gantry_optimizer_parse (options->optimizer, &training->optimizer, error));
}

int
gantry_cli_train (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT, .holders = 10, .microbatches = 1 };
  GantryTrainingOptions *training = &options.training;
  g_autoptr (GError) error = NULL;
  const GOptionEntry own[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write a session file", "FILE.gantry" },
    { "optimizer", 0, 0, G_OPTION_ARG_STRING, &options.optimizer, "none, sgd (without it), momentum, adam or adamw", "NAME" },
    { "gradients-only", 0, 0, G_OPTION_ARG_NONE, &options.gradients_only, "Loss and gradients, no optimizer", NULL },
    { "no-loss", 0, 0, G_OPTION_ARG_NONE, &training->no_loss, "The loss is no result: what only it needs is left out", NULL },
    { "loss", 0, 0, G_OPTION_ARG_STRING, &options.loss, "output (without it), mse or softmax-cross-entropy", "NAME" },
    { "loss-output", 0, 0, G_OPTION_ARG_INT, &options.index, "Which output the loss is made of (0)", "INDEX" },
    { "lr", 0, 0, G_OPTION_ARG_DOUBLE, &training->learning_rate, "Learning rate (0.01)", "X" },
    { "momentum", 0, 0, G_OPTION_ARG_DOUBLE, &training->momentum, "Of momentum (0.9)", "X" },
    { "beta1", 0, 0, G_OPTION_ARG_DOUBLE, &training->beta1, "Of Adam (0.9)", "X" },
    { "beta2", 0, 0, G_OPTION_ARG_DOUBLE, &training->beta2, "Of Adam (0.999)", "X" },
    { "epsilon", 0, 0, G_OPTION_ARG_DOUBLE, &training->epsilon, "Of Adam (1e-8)", "X" },
    { "weight-decay", 0, 0, G_OPTION_ARG_DOUBLE, &training->weight_decay, "Of AdamW (0)", "X" },
    { "clip", 0, 0, G_OPTION_ARG_DOUBLE, &training->clip_norm, "Clip the gradients to this global norm (0: no)", "X" },
    { "l2", 0, 0, G_OPTION_ARG_DOUBLE, &training->l2, "Add this times the sum of squared parameters to the loss (0)", "X" },
    { "microbatches", 0, 0, G_OPTION_ARG_INT, &options.microbatches,
      "Accumulate the gradients of as many batches of the model's size: the step takes N times its examples (1)", "N" },
    { "train", 0, 0, G_OPTION_ARG_STRING_ARRAY, &training->with_respect_to, "Train only parameters of this name, '*' allowed", "GLOB" },
    { "holders", 0, 0, G_OPTION_ARG_INT, &options.holders, "How many of the values at the peak to list (10)", "N" },
    { NULL },
  };

  gantry_training_options_init (training);
  options.common.places = TRUE;
  if (!gantry_cli_parse ("train", "MODEL", "Makes a training step of a program and plans it.", &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2 || options.holders < 0)
    {
      gantry_cli_tell ("gantry-cli train: give one model\n");
      return GANTRY_EXIT_ERROR;
    }
  if (!read_training (&options, &error))
    return gantry_cli_fail (error);
  options.common.training = training;
  return train (&options, argv[1]);
}
