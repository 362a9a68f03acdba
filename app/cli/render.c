/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli render: what the window shows, as a file. */
#include "app/cli/cli.h"
#include "app/cli/plan-report.h"
#include "app/cli/run-choice.h"
#include "drawing/painters.h"
#include <math.h>
#include <string.h>

#define MARGIN 24.0f
#define HEADER 40.0f
#define TIME_WIDTH 1400.0f
#define MEMORY_HEIGHT 320.0f

typedef struct
{
  GantryCliOptions common;
  char *view;
  char *pass;
  char *output;
  char *run;
  gboolean before_after, dark, constants, unfold_all;
  double scale, width, height;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->view);
  g_free (options->pass);
  g_free (options->output);
  g_free (options->run);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static int
find_snapshot (const GantryCompilation *compilation, const char *pass, GError **error)
{
  if (pass == NULL)
    return (int) compilation->n_snapshots - 1;
  for (guint i = 0; i < compilation->n_snapshots; i++)
    if (strcmp (compilation->snapshots[i].pass, pass) == 0)
      return (int) i;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--pass %s: no such pass has run on this model", pass);
  return -1;
}

static GantryGraphPicture *
make_picture (const Options *options, GantryModule *module, GError **error)
{
  g_autoptr (GHashTable) none = g_hash_table_new (NULL, NULL);
  GantryGraphOptions graph = { .folded = options->unfold_all ? none : NULL, .show_constants = options->constants };

  return gantry_graph_picture_new (module, &graph, NULL, error);
}

/* One pane at @left of a scene that the caller has made large enough: a second scene, moved. */
static void
paint_pane (GantryScene *scene, const GantryGraphPicture *picture, const char *title, GHashTable *made, GHashTable *removed, float left,
            const GantryTheme *theme)
{
  GantryGraphState state = { .made = made, .removed = removed, .labels = TRUE };
  GantryGraphView view = { -left - MARGIN, -HEADER - MARGIN, 1 };
  float width, height;

  gantry_graph_picture_size (picture, &width, &height);
  gantry_scene_text (scene, left + MARGIN, 12, MAX (width, 200), 26, title, GANTRY_TEXT_LARGE | GANTRY_TEXT_BOLD, 1, GANTRY_INK_TEXT);
  gantry_paint_graph (scene, picture, &view, &state, theme);
}

static GantryScene *
paint_graph (const Options *options, const GantryCompilation *compilation, int index, GError **error)
{
  const GantryTheme *theme = gantry_theme_get (options->dark);
  const GantrySnapshot *snapshot = &compilation->snapshots[index];
  gboolean two = options->before_after && index > 0;
  g_autoptr (GantryGraphPicture) after = make_picture (options, snapshot->module, error);
  g_autoptr (GantryGraphPicture) before = NULL;
  g_autoptr (GHashTable) made = gantry_compilation_changes (compilation, (guint) index, FALSE);
  g_autoptr (GHashTable) removed = gantry_compilation_changes (compilation, (guint) index, TRUE);
  g_autofree char *title = g_strdup_printf (two ? "after %s" : "%s", snapshot->title);
  float width, height, before_width = 0, before_height = 0;
  GantryScene *scene;

  if (after == NULL)
    return NULL;
  gantry_graph_picture_size (after, &width, &height);
  if (two)
    {
      before = make_picture (options, compilation->snapshots[index - 1].module, error);
      if (before == NULL)
        return NULL;
      gantry_graph_picture_size (before, &before_width, &before_height);
      before_width = MAX (before_width, 220) + 2 * MARGIN;
    }
  scene = gantry_scene_new (before_width + MAX (width, 220) + 2 * MARGIN, MAX (height, before_height) + HEADER + 2 * MARGIN);
  if (two)
    {
      paint_pane (scene, before, "before", NULL, removed, 0, theme);
      gantry_scene_fill (scene, before_width, 0, 1, scene->height, GANTRY_INK_BORDER, 255);
    }
  paint_pane (scene, after, title, two ? made : NULL, NULL, before_width, theme);
  return scene;
}

static gboolean
write_dot (const Options *options, const GantryCompilation *compilation, int index, GError **error)
{
  g_autoptr (GantryGraphPicture) picture = make_picture (options, compilation->snapshots[index].module, error);

  return picture != NULL && gantry_graph_picture_write_dot (picture, options->output, options->common.read, error);
}

/* Of all runs of the session; but none of another program, whose lanes have nothing to do with this plan. */
static GantryRunResult *
run_of (const Options *options, GantryDocument *document, GError **error)
{
  GPtrArray *runs = gantry_document_get_runs (document);
  GantryRunResult *run = gantry_cli_choose_run (runs, gantry_document_get_left_out (document), gantry_document_get_path (document), options->run, error);

  if (run == NULL || gantry_run_result_is_of (run, gantry_document_get_compilation (document)))
    return run;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--run %s: is a run of another program than the session is set to", options->run);
  return NULL;
}

/* A run that is asked for has a plan of its own, where the program as it is set now has none that fits. */
static GantryPlan *
plan_of (const Options *options, GantryDocument *document, const GantryRunResult *run, GError **error)
{
  GantryPlan *plan = gantry_document_get_plan_of_run (document, run);

  if (plan == NULL && options->run != NULL)
    plan = run->plan;
  if (plan == NULL && gantry_plan_report_check (document, error))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: there is no plan to draw", gantry_document_get_path (document));
  return plan;
}

static GantryScene *
paint_time (const Options *options, GantryDocument *document, gboolean memory, GError **error)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (document);
  GantryRunResult *run = options->run != NULL ? run_of (options, document, error) : gantry_document_get_run (document);
  GantryPlan *plan = options->run != NULL && run == NULL ? NULL : plan_of (options, document, run, error);
  const GantryTheme *theme = gantry_theme_get (options->dark);
  g_autoptr (GantryTimeModel) model = NULL;
  g_autofree char *difference = NULL;
  GantryTimeState state = { .cursor = -1, .limit = gantry_document_get_settings (document)->target.memory_limit };
  GantryTimeView view = { 0 };
  GantryScene *scene;

  if (plan == NULL)
    return NULL;
  model = gantry_time_model_new (gantry_compilation_module (compilation), plan, run, run != NULL && run->recording != NULL ? gantry_time_typical_run (run) : 0);
  if (run != NULL && !gantry_document_is_run_of_another (document, run))
    state.difference = difference = gantry_document_run_difference (document, run, plan->steps, plan->n_steps);
  view.t1 = gantry_time_model_length (model);
  scene = gantry_scene_new (options->width > 0 ? (float) options->width : TIME_WIDTH, options->height > 0 ? (float) options->height
                                                                                      : memory            ? MEMORY_HEIGHT
                                                                                                          : gantry_timeline_height (model));
  if (memory)
    gantry_paint_memory (scene, model, &view, &state, theme);
  else
    gantry_paint_timeline (scene, model, &view, &state, theme);
  return scene;
}

/* The scale at which a picture is as wide and high as asked for at most. */
static double
scale_for (const Options *options, const GantryScene *scene)
{
  double scale = options->scale > 0 ? options->scale : 1;

  if (options->width > 0 && strcmp (options->view, "graph") == 0)
    scale = MIN (scale, options->width / scene->width);
  if (options->height > 0 && strcmp (options->view, "graph") == 0)
    scale = MIN (scale, options->height / scene->height);
  return scale;
}

static gboolean
render (const Options *options, GantryDocument *document, GError **error)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (document);
  g_autoptr (GantryScene) scene = NULL;
  int index = find_snapshot (compilation, options->pass, error);

  if (index < 0)
    return FALSE;
  if (strcmp (options->view, "graph") != 0)
    scene = paint_time (options, document, strcmp (options->view, "memory") == 0, error);
  else if (g_str_has_suffix (options->output, ".dot"))
    return write_dot (options, compilation, index, error);
  else
    scene = paint_graph (options, compilation, index, error);
  return scene != NULL
         && gantry_scene_write (scene, gantry_theme_get (options->dark), options->output, scale_for (options, scene), options->common.read, error);
}

static void
print_result (const Options *options)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  if (!options->common.json)
    {
      gantry_cli_print ("%s\n", options->output);
      return;
    }
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "output");
  json_builder_add_string_value (json, options->output);
  json_builder_set_member_name (json, "view");
  json_builder_add_string_value (json, options->view);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

int
gantry_cli_render (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT };
  const GOptionEntry own[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "File to write: .svg, .png or .dot", "FILE" },
    { "view", 'v', 0, G_OPTION_ARG_STRING, &options.view, "graph (the default), timeline or memory", "VIEW" },
    { "pass", 'p', 0, G_OPTION_ARG_STRING, &options.pass, "The graph after this pass (the last one)", "PASS" },
    { "before-after", 0, 0, G_OPTION_ARG_NONE, &options.before_after, "Two panes: before and after the pass", NULL },
    { "constants", 0, 0, G_OPTION_ARG_NONE, &options.constants, "Show constants as boxes", NULL },
    { "unfold-all", 0, 0, G_OPTION_ARG_NONE, &options.unfold_all, "Fold no scope, however large the graph", NULL },
    { "dark", 0, 0, G_OPTION_ARG_NONE, &options.dark, "Dark colours", NULL },
    { "scale", 0, 0, G_OPTION_ARG_DOUBLE, &options.scale, "Pixels a point (1)", "X" },
    { "run", 'r', 0, G_OPTION_ARG_STRING, &options.run,
      "Of timeline and memory: which run of the session, by number or first digits of its id (the last of the program)", "RUN" },
    { "width", 0, 0, G_OPTION_ARG_DOUBLE, &options.width, "Largest width, in pixels", "W" },
    { "height", 0, 0, G_OPTION_ARG_DOUBLE, &options.height, "Largest height, in pixels", "H" },
    { NULL },
  };
  g_autoptr (GantryDocument) document = NULL;
  g_autoptr (GError) error = NULL;

  if (!gantry_cli_parse ("render", "MODEL", "Draws a model or a session into a file.", &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (options.view == NULL)
    options.view = g_strdup ("graph");
  if (argc != 2 || options.output == NULL
      || (strcmp (options.view, "graph") != 0 && strcmp (options.view, "timeline") != 0 && strcmp (options.view, "memory") != 0))
    {
      gantry_cli_tell ("gantry-cli render: give one model, --output FILE, and --view graph, timeline or memory\n");
      return GANTRY_EXIT_ERROR;
    }
  document = gantry_cli_open (&options.common, argv[1], &error);
  if (document == NULL || !render (&options, document, &error))
    return gantry_cli_fail (error);
  print_result (&options);
  return GANTRY_EXIT_DONE;
}
