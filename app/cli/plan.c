/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli plan and solve: where everything lies and when, under a policy, a limit, or placements that the solver finds
 * for a goal. Nothing is run. */
#include "app/cli/allocation-report.h"
#include "app/cli/changes-report.h"
#include "app/cli/kernel-table.h"
#include "app/cli/plan-report.h"
#include "core/base/names.h"
#include <string.h>

typedef struct
{
  GantryCliOptions common;
  char *output;
  char *fit;
  double at_most_ms;
  double host_price;
  gboolean fastest;
  gboolean no_recompute, no_offload;
  char **allow;
  char *method;
  char *times;
  double seconds;
  gint effort;
  gint holders;
  gboolean kernels, no_kernels;
  gboolean allocations;
  GArray *rows;           /* (nullable) (element-type GantryAllocation) */
  GantryDivided *divided; /* (nullable) */
} Options;

/* Those of a run without options. */
static const GantryProgramOptions default_kernels = { 0 };

#define MOST_EFFORT 1000000
#define OPTIONS_INIT \
  { \
    .common = GANTRY_CLI_OPTIONS_INIT, .seconds = 60, .effort = 1, .holders = 10 \
  }

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->output);
  g_free (options->fit);
  g_free (options->method);
  g_free (options->times);
  g_strfreev (options->allow);
  g_clear_pointer (&options->rows, g_array_unref);
  gantry_divided_free (options->divided);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
parse_method (const char *name, GantrySolveMethod *method, GError **error)
{
  static const char *const names[] = {
    [GANTRY_SOLVE_AUTO] = "auto", [GANTRY_SOLVE_EXACT] = "exact", [GANTRY_SOLVE_SEARCH] = "search", [GANTRY_SOLVE_AUTOTM] = "autotm"
  };

  guint found = name != NULL ? gantry_find_name (names, G_N_ELEMENTS (names), name) : GANTRY_SOLVE_AUTO;

  if (found < G_N_ELEMENTS (names))
    {
      *method = (GantrySolveMethod) found;
      return TRUE;
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--method %s: there are auto, exact, search and autotm", name);
  return FALSE;
}

/* What to search for, from the options. */
static gboolean
read_goal (const Options *options, GantryDocument *document, GantrySolveGoal *goal, gboolean *microbatches, GError **error)
{
  const guint64 limit = gantry_document_get_settings (document)->target.memory_limit;
  GantrySize size;

  *goal = (GantrySolveGoal){ .seconds = options->seconds, .effort = (guint) options->effort, .host_price = options->host_price * 1000 };
  if (!parse_method (options->method, &goal->method, error))
    return FALSE;
  goal->allowed = 1u << GANTRY_PLACEMENT_KEEP | (options->no_recompute ? 0 : 1u << GANTRY_PLACEMENT_RECOMPUTE)
                  | (options->no_offload ? 0 : 1u << GANTRY_PLACEMENT_OFFLOAD);
  if (!gantry_cli_parse_allow (options->allow, &goal->allowed, microbatches, error))
    return FALSE;
  if (options->fit == NULL)
    {
      goal->step_us = options->at_most_ms * 1000;
      return TRUE;
    }
  if (!gantry_cli_parse_size ("--fit", options->fit, &size, error) || !gantry_size_resolve (document, &size, &goal->memory_bytes, error))
    return FALSE;
  /* What is beyond the limit would be refused as a plan. */
  if (limit > 0)
    goal->memory_bytes = MIN (goal->memory_bytes, limit);
  return TRUE;
}

/* "model", or a run of the session by its number from 1 on, or "last". */
static gboolean
use_times (GantryDocument *document, const char *times, GError **error)
{
  GPtrArray *runs = gantry_document_get_runs (document);
  guint64 number = runs->len;

  if (strcmp (times, "model") == 0)
    return gantry_document_set_measured (document, NULL, error);
  if ((strcmp (times, "last") != 0 && !g_ascii_string_to_unsigned (times, 10, 1, G_MAXUINT32, &number, NULL)) || number < 1 || number > runs->len)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--times %s: takes the number of a run, last, or model; this file has %u run%s", times, runs->len,
                   runs->len == 1 ? "" : "s");
      return FALSE;
    }
  return gantry_document_set_measured (document, g_ptr_array_index (runs, number - 1), error);
}

static gboolean
find_kernels (GantryDocument *document, gpointer data, const GantryProgress *progress, GError **error)
{
  const Options *options = data;

  if (options->no_kernels)
    return TRUE;
  gantry_kernel_table_use_for_search (document, progress);
  gantry_document_wait (document);
  return TRUE;
}

/* The same with the batch in as many microbatches as are fastest: another program. */
static GantryVariant *
divide (Options *options, GantryDocument *document, const GantrySolveGoal *goal, GError **error)
{
  options->divided = gantry_document_divide (document, goal, find_kernels, options, gantry_cli_progress (&options->common), error);
  if (options->divided == NULL)
    return NULL;
  if (!gantry_document_load_divided (document, options->divided))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the model has changed while its batch was divided: start again");
      return NULL;
    }
  gantry_document_wait (document);
  find_kernels (document, options, gantry_cli_progress (&options->common), NULL);
  return gantry_variant_ref (options->divided->variant);
}

/* The answer becomes what the document has, plan and all. (transfer full) (nullable) */
static GantryVariant *
solve (Options *options, GantryDocument *document, GantrySolveGoal *goal, GError **error)
{
  g_autoptr (GantryVariant) variant = NULL;
  gboolean microbatches;

  if (!read_goal (options, document, goal, &microbatches, error))
    return NULL;
  if (microbatches)
    return divide (options, document, goal, error);
  variant = gantry_document_solve (document, goal, gantry_cli_progress (&options->common), error);
  if (variant == NULL)
    return NULL;
  gantry_document_load_variant (document, variant);
  gantry_document_wait (document);
  return g_steal_pointer (&variant);
}

static void
add_solution (JsonBuilder *json, const GantryVariant *variant, const GantryDivided *divided, const GantrySolveGoal *goal)
{
  json_builder_set_member_name (json, "solution");
  json_builder_begin_object (json);
  if (goal->memory_bytes > 0)
    gantry_cli_add_int (json, "fit_bytes", (gint64) goal->memory_bytes);
  if (goal->step_us > 0)
    gantry_cli_add_double (json, "at_most_ms", goal->step_us / 1000);
  gantry_cli_add_double (json, "host_price_ms", goal->host_price / 1000);
  gantry_cli_add_figures (json, &variant->figures);
  gantry_cli_add_gap (json, variant->gap);
  gantry_cli_add_boolean (json, "proven", variant->proof != GANTRY_PROOF_NONE);
  if (variant->proof != GANTRY_PROOF_NONE)
    gantry_cli_add_string (json, "proven_of", variant->proof == GANTRY_PROOF_SCHEDULES ? "schedules" : "placements");
  gantry_cli_add_string (json, "method", variant->method);
  gantry_cli_add_boolean (json, "cut", variant->cut);
  gantry_cli_add_double (json, "milliseconds", variant->milliseconds);
  if (divided != NULL)
    {
      gantry_cli_add_int (json, "microbatches", divided->microbatches);
      gantry_cli_add_int (json, "batch", divided->batch);
      gantry_cli_add_string (json, "batch_dimension", divided->dim);
      gantry_cli_add_int (json, "numbers_tried", divided->n_tried);
      gantry_cli_add_boolean (json, "numbers_ended", divided->ended);
    }
  json_builder_end_object (json);
}

static void
print (const Options *options, GantryDocument *document, const GantryVariant *variant, const GantrySolveGoal *goal)
{
  const GantryPlanChanges *changes = gantry_document_get_changes (document);
  const GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));

  if (options->common.json)
    {
      g_autoptr (JsonBuilder) json = json_builder_new ();

      json_builder_begin_object (json);
      gantry_plan_report_json (json, document, (guint) options->holders);
      if (variant != NULL)
        add_solution (json, variant, options->divided, goal);
      if (changes != NULL)
        gantry_changes_report_json (json, changes, module);
      if (options->rows != NULL)
        gantry_allocation_report_json (json, options->rows);
      json_builder_end_object (json);
      gantry_cli_print_json (json);
      return;
    }
  if (variant != NULL)
    {
      g_autofree char *quality = gantry_proof_quality_text (variant->proof, variant->gap);

      gantry_cli_print ("%-10s %s; %s, %s, in %.0f ms%s\n", "solution", variant->name, variant->method, quality, variant->milliseconds,
                        variant->cut && !g_str_has_prefix (quality, "proven") ? "; cut by --seconds, more of them may find something better" : "");
      if (options->divided != NULL)
        {
          g_autofree char *text = gantry_divided_text (options->divided);

          gantry_cli_print ("%-10s %s\n", "batch", text);
        }
    }
  if (changes != NULL)
    gantry_changes_report_text (changes, module);
  gantry_plan_report_text (document, goal->memory_bytes, (guint) options->holders);
  if (options->rows != NULL)
    gantry_allocation_report_text (options->rows);
}

/* What kernels need, where that can be known before a run. */
static gboolean
count_kernels (const Options *options, GantryDocument *document, GError **error)
{
  const char *arch = gantry_document_get_settings (document)->target.arch;

  if (arch[0] == '\0')
    return gantry_kernel_table_use (document, &default_kernels, gantry_cli_progress (&options->common), error);
  g_printerr ("%s: what kernels for %s need is not counted: their driver says it when they are loaded, so that a session knows it "
              "after a run on such a GPU\n",
              g_get_prgname (), arch);
  return TRUE;
}

static gboolean
searches (const Options *options)
{
  return options->fit != NULL || options->at_most_ms > 0;
}

/* What kernels need is known under the conditions that are planned for: with times of a run with options those of that run, whose
 * session has it. */
static gboolean
prepare (const Options *options, GantryDocument *document, GError **error)
{
  g_autofree char *unusual = NULL;

  if (options->kernels && !count_kernels (options, document, error))
    return FALSE;
  if (options->times != NULL && !use_times (document, options->times, error))
    return FALSE;
  gantry_document_wait (document);
  unusual = gantry_compile_settings_unusual (gantry_document_get_settings (document));
  if (!options->kernels && !options->no_kernels && searches (options) && unusual == NULL)
    gantry_kernel_table_use_for_search (document, gantry_cli_progress (&options->common));
  return TRUE;
}

static int
plan (Options *options, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryDocument) document = gantry_cli_open (&options->common, path, &error);
  g_autoptr (GantryVariant) variant = NULL;
  GantrySolveGoal goal = { 0 };

  if (document != NULL && !prepare (options, document, &error))
    return gantry_cli_fail (error);
  if (document != NULL && searches (options))
    variant = solve (options, document, &goal, &error);
  if (error == NULL && gantry_plan_report_check (document, &error) && options->output != NULL)
    gantry_document_save (document, options->output, &error);
  if (error == NULL && options->allocations)
    options->rows = gantry_allocation_report_new (document, gantry_cli_progress (&options->common), &error);
  if (error != NULL)
    return gantry_cli_fail (error);
  print (options, document, variant, &goal);
  return GANTRY_EXIT_DONE;
}

static gboolean
check (const Options *options, const char *command, int argc, gboolean needs_goal, GError **error)
{
  const char *wrong = NULL;

  if (argc != 2)
    wrong = "give one model or session";
  else if (options->fit != NULL && options->at_most_ms > 0)
    wrong = "give --fit or --at-most, not both";
  else if (!(options->at_most_ms >= 0) || !(options->seconds >= 0) || options->holders < 0)
    wrong = "--at-most, --seconds and --holders are from 0 on";
  else if (options->effort < 1 || options->effort > MOST_EFFORT)
    wrong = "--effort is from 1 to 1000000";
  else if (needs_goal && options->fit == NULL && options->at_most_ms == 0)
    wrong = "say what for: --fit SIZE (fastest within that), or --at-most MS (smallest within that)";
  else if (!needs_goal && options->fastest && options->fit == NULL)
    wrong = "--fastest goes with --fit SIZE";
  else if (options->host_price > 0 && options->fit == NULL)
    wrong = "--host-price goes with --fit SIZE";
  else if (options->kernels && options->no_kernels)
    wrong = "give --kernels or --no-kernels, not both";
  if (wrong != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s", wrong);
  return wrong == NULL;
}

static int
run (const char *command, const char *description, gboolean needs_goal, int argc, char **argv)
{
  g_auto (Options) options = OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  const GOptionEntry own[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write a session file", "FILE.gantry" },
    { "kernels", 0, 0, G_OPTION_ARG_NONE, &options.kernels,
      "Make the kernels first, where the cache does not know them: workspaces, packed weights and code are then counted; a search does so", NULL },
    { "no-kernels", 0, 0, G_OPTION_ARG_NONE, &options.no_kernels, "Search without that: what is found is then at least so large, and a run may need more",
      NULL },
    { "times", 0, 0, G_OPTION_ARG_STRING, &options.times, "Plan with the times that a run of the session measured, and tell what that changes",
      "RUN|last|model" },
    { "fit", 0, 0, G_OPTION_ARG_STRING, &options.fit, "Search for the fastest placements with at most this peak", "SIZE" },
    { "fastest", 0, 0, G_OPTION_ARG_NONE, &options.fastest, "With --fit: which is what it does", NULL },
    { "at-most", 0, 0, G_OPTION_ARG_DOUBLE, &options.at_most_ms, "Search for the least memory with at most this time", "MS" },
    { "no-recompute", 0, 0, G_OPTION_ARG_NONE, &options.no_recompute, "Search without recomputation", NULL },
    { "no-offload", 0, 0, G_OPTION_ARG_NONE, &options.no_offload, "Search without offloading", NULL },
    { "host-price", 0, 0, G_OPTION_ARG_DOUBLE, &options.host_price,
      "With --fit: how much longer a step may take for each GiB of host memory that it then does without (0)", "MS" },
    { "allow", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.allow,
      "Search with what changes results as well: bf16, int8, or approximate for both; or with the batch in microbatches: microbatches", "KIND" },
    { "method", 0, 0, G_OPTION_ARG_STRING, &options.method, "Search: auto, exact, search or autotm", "METHOD" },
    { "effort", 0, 0, G_OPTION_ARG_INT, &options.effort,
      "Search with so many times the usual number of predictions and nodes (1); the same effort finds the same everywhere", "N" },
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds,
      "End a search after so long (60), 0: never; what is cut so is said, and may be better with more time", "S" },
    { "allocations", 0, 0, G_OPTION_ARG_NONE, &options.allocations, "Compare every order with every allocator, without a limit", NULL },
    { "holders", 0, 0, G_OPTION_ARG_INT, &options.holders, "How many of the values at the peak to list (10)", "N" },
    { NULL },
  };

  options.common.places = TRUE;
  if (!gantry_cli_parse (command, "MODEL", description, &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (options.kernels)
    gantry_kernel_table_count_in (&options.common, &default_kernels);
  if (!check (&options, command, argc, needs_goal, &error))
    return gantry_cli_fail (error);
  return plan (&options, argv[1]);
}

int
gantry_cli_plan (int argc, char **argv)
{
  return run ("plan", "Plans the memory of a program and says where its bytes go.", FALSE, argc, argv);
}

int
gantry_cli_solve (int argc, char **argv)
{
  return run ("solve", "Searches for placements that reach a goal.", TRUE, argc, argv);
}
