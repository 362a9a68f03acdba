/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli pareto: the front of peak memory against step time, as a table or JSON; with --output a session too, with a variant for each
 * point. */
#include "app/cli/kernel-table.h"
#include "app/cli/plan-report.h"

typedef struct
{
  GantryCliOptions common;
  char *output;
  gint points;
  double seconds;
  gboolean no_kernels;
  char **allow;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->output);
  g_strfreev (options->allow);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
add_point (JsonBuilder *json, const GantryVariant *variant)
{
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "name", variant->name);
  gantry_cli_add_figures (json, &variant->figures);
  gantry_cli_add_gap (json, variant->gap);
  gantry_cli_add_boolean (json, "approximate", gantry_variant_is_approximate (variant));
  json_builder_end_object (json);
}

static void
print_json (GPtrArray *points)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "points");
  json_builder_begin_array (json);
  for (guint i = 0; i < points->len; i++)
    add_point (json, g_ptr_array_index (points, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_text (GPtrArray *points)
{
  gantry_cli_print ("%20s %12s %12s %12s %12s %12s %8s\n", "peak", "step ms", "again ms", "waits ms", "copied", "host", "gap");
  for (guint i = 0; i < points->len; i++)
    {
      const GantryVariant *variant = g_ptr_array_index (points, i);
      g_autofree char *peak = gantry_memory_peak_text (variant->figures.peak_bytes, variant->limit, variant->figures.sizes_known);
      g_autofree char *copied = gantry_cli_bytes (variant->figures.copied_bytes), *host = gantry_cli_bytes (variant->figures.host_bytes);

      gantry_cli_print ("%20s %12.3f %12.3f %12.3f %12s %12s %7.2f%%%s\n", peak, variant->figures.step_us / 1000, variant->figures.recompute_us / 1000,
                        variant->figures.stall_us / 1000, copied, host, 100 * variant->gap, gantry_variant_is_approximate (variant) ? " approximate" : "");
    }
}

static int
pareto (const Options *options, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryDocument) document = gantry_cli_open (&options->common, path, &error);
  g_autoptr (GPtrArray) points = NULL;
  guint allowed = GANTRY_EXACT_PLACEMENTS;

  if (document != NULL && !gantry_cli_parse_allow (options->allow, &allowed, NULL, &error))
    return gantry_cli_fail (error);
  if (document != NULL && !options->no_kernels)
    gantry_kernel_table_use_for_search (document, gantry_cli_progress (&options->common));
  if (document != NULL)
    points = gantry_document_front (document, (guint) options->points, allowed, options->seconds, gantry_cli_progress (&options->common), &error);
  for (guint i = 0; points != NULL && options->output != NULL && i < points->len; i++)
    gantry_document_add_variant (document, g_ptr_array_index (points, i));
  if (points != NULL && options->output != NULL)
    gantry_document_save (document, options->output, &error);
  if (error != NULL)
    return gantry_cli_fail (error);
  if (options->common.json)
    print_json (points);
  else
    print_text (points);
  return GANTRY_EXIT_DONE;
}

int
gantry_cli_pareto (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT, .points = 8, .seconds = 300 };
  const GOptionEntry own[] = {
    { "points", 0, 0, G_OPTION_ARG_INT, &options.points, "At most so many points (8)", "N" },
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds, "End the search after so long (300), 0: never; what is cut so may be better with more time",
      "S" },
    { "no-kernels", 0, 0, G_OPTION_ARG_NONE, &options.no_kernels, "As for solve", NULL },
    { "allow", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.allow, "As for solve", "KIND" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write a session file with a variant for each point", "FILE.gantry" },
    { NULL },
  };

  options.common.places = TRUE;
  if (!gantry_cli_parse ("pareto", "MODEL", "Finds the points where less memory costs more time.", &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2 || options.points < 2 || options.points > 1000 || !(options.seconds >= 0))
    {
      gantry_cli_tell ("gantry-cli pareto: give one model or session, and from 2 to 1000 points\n");
      return GANTRY_EXIT_ERROR;
    }
  return pareto (&options, argv[1]);
}
