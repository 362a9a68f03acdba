/* SPDX-License-Identifier: Apache-2.0 */
/* A training step is drawn as a mirror: the backward part of each layer stands beside its forward part, saved values
 * cross between the two as short edges, and their placements are seen as patterns, letters and ghosts. */
#include "core/graph/graph.h"
#include "core/plan/placement.h"
#include "drawing/painters.h"
#include <math.h>
#include <string.h>

enum
{
  N_LAYERS = 24
};

typedef struct
{
  GantryModule *module;
  guint32 saved[N_LAYERS];   /* the value that each layer saves */
  guint32 derived[N_LAYERS]; /* first backward node of each layer */
} Step;

/* Layers of tanh (x) with the derivative's product, each in a scope of its own. */
static void
make_step (GantryContext *context, Step *step)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "step");
  const GantryDim dims[] = { 8, 16 };
  const GantryLocation place = { .file = gantry_context_intern (context, "step"), .line = 1 };
  guint32 location = gantry_context_location (context, &place), x, results[2];
  g_autoptr (GError) error = NULL;

  gantry_builder_set_place (builder, 0, location);
  gantry_builder_begin (builder, "main", 0);
  x = gantry_builder_parameter (builder, gantry_context_tensor (context, GANTRY_F32, 2, dims), "input");
  for (guint i = 0; i < N_LAYERS; i++)
    {
      g_autofree char *scope = g_strdup_printf ("encoder/layer.%u", i);

      gantry_builder_set_place (builder, gantry_context_scope (context, scope), location);
      x = gantry_builder_unary (builder, GANTRY_OP_NEGATE, x);
      step->saved[i] = x = gantry_builder_unary (builder, GANTRY_OP_TANH, x);
    }
  results[0] = x;
  gantry_builder_set_phase (builder, GANTRY_PHASE_BACKWARD);
  for (guint i = N_LAYERS; i-- > 0;)
    {
      g_autofree char *scope = g_strdup_printf ("encoder/layer.%u", i);

      gantry_builder_set_place (builder, gantry_context_scope (context, scope), location);
      step->derived[i] = x = gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, x, step->saved[i]);
      x = gantry_builder_unary (builder, GANTRY_OP_NEGATE, x);
    }
  results[1] = x;
  gantry_builder_end (builder, results, 2);
  step->module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
}

static GantryGraphPicture *
make_picture (GantryModule *module, GHashTable *folded)
{
  const GantryGraphOptions options = { .folded = folded };
  g_autoptr (GError) error = NULL;
  GantryGraphPicture *picture = gantry_graph_picture_new (module, &options, NULL, &error);

  g_assert_no_error (error);
  return picture;
}

static void
test_beside (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GHashTable) none = g_hash_table_new (NULL, NULL);
  g_autoptr (GantryGraphPicture) picture = NULL;
  Step step = { 0 };
  guint n_saved = 0, n_beside = 0;

  make_step (context, &step);
  picture = make_picture (step.module, none);
  g_assert_true (gantry_graph_picture_is_mirrored (picture));
  for (guint32 e = 0; e < gantry_graph_picture_layout (picture)->n_edges; e++)
    n_saved += gantry_graph_picture_edge_saved (picture, e, NULL);
  g_assert_cmpuint (n_saved, ==, N_LAYERS);
  for (guint i = 0; i < N_LAYERS; i++)
    {
      GantryLayoutBox forward, backward;

      gantry_graph_picture_box_rect (picture, gantry_graph_picture_box_of (picture, step.saved[i]), &forward);
      gantry_graph_picture_box_rect (picture, gantry_graph_picture_box_of (picture, step.derived[i]), &backward);
      g_assert_cmpfloat (backward.x, >, forward.x);
      n_beside += fabsf (backward.y - forward.y) < 3 * 74; /* three ranks */
    }
  g_assert_cmpuint (n_beside, >=, N_LAYERS - 2); /* at the turn there is no beside */
  gantry_module_unref (step.module);
}

static void
test_folded (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GHashTable) folded = g_hash_table_new (NULL, NULL);
  g_autoptr (GantryGraphPicture) picture = NULL;
  Step step = { 0 };
  guint32 forward, backward;

  make_step (context, &step);
  for (guint i = 0; i < N_LAYERS; i++)
    {
      g_autofree char *scope = g_strdup_printf ("encoder/layer.%u", i);

      g_hash_table_add (folded, GUINT_TO_POINTER (gantry_context_scope (context, scope)));
    }
  picture = make_picture (step.module, folded);
  forward = gantry_graph_picture_box_of (picture, step.saved[3]);
  backward = gantry_graph_picture_box_of (picture, step.derived[3]);
  g_assert_cmpuint (forward, !=, backward);
  g_assert_cmpuint (gantry_graph_picture_box_scope (picture, forward), ==, gantry_graph_picture_box_scope (picture, backward));
  g_assert_cmpint (gantry_graph_picture_box_phase (picture, forward), ==, GANTRY_PHASE_FORWARD);
  g_assert_cmpint (gantry_graph_picture_box_phase (picture, backward), ==, GANTRY_PHASE_BACKWARD);
  g_assert_nonnull (strstr (gantry_graph_picture_box_subtitle (picture, backward), "backward"));
  gantry_module_unref (step.module);
}

/* Unasked, layers are boxes: each saved value is one line between the two boxes of its layer. */
static void
test_default (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GHashTable) all = NULL;
  g_autoptr (GantryGraphPicture) picture = NULL;
  const GantryLayout *layout;
  Step step = { 0 };
  guint n_saved = 0;

  make_step (context, &step);
  picture = make_picture (step.module, NULL);
  g_assert_cmpuint (gantry_graph_picture_n_boxes (picture), <=, 2 * N_LAYERS + 3);
  layout = gantry_graph_picture_layout (picture);
  for (guint32 e = 0; e < layout->n_edges; e++)
    {
      guint32 value;

      if (!gantry_graph_picture_edge_saved (picture, e, &value))
        continue;
      n_saved++;
      g_assert_cmpuint (gantry_graph_picture_box_scope (picture, gantry_graph_picture_box_of (picture, value)), !=, 0);
      g_assert_cmpuint (gantry_graph_picture_edge_n_values (picture, e), ==, 1);
    }
  g_assert_cmpuint (n_saved, ==, N_LAYERS);
  all = gantry_graph_all_folds (step.module, 0);
  g_assert_cmpuint (g_hash_table_size (all), ==, N_LAYERS + 1); /* and "encoder" */
  g_assert_cmpuint (gantry_graph_scope_to_fold (step.module, 0, gantry_context_scope (context, "encoder/layer.3"), NULL), ==,
                    gantry_context_scope (context, "encoder/layer.3"));
  g_assert_cmpuint (gantry_graph_scope_to_fold (step.module, 0, gantry_context_scope (context, "encoder/layer.3"), gantry_graph_picture_folded (picture)), ==,
                    gantry_context_scope (context, "encoder"));
  gantry_module_unref (step.module);
}

static guint
count_marks (const GantryScene *scene, guint ink, const char *text)
{
  guint n = 0;

  for (guint i = 0; i < scene->marks->len; i++)
    {
      const GantryMark *mark = &g_array_index (scene->marks, GantryMark, i);

      n += mark->ink == ink
           && (text == NULL ? mark->kind == GANTRY_MARK_FILL : mark->kind == GANTRY_MARK_TEXT && strcmp (gantry_scene_mark_text (scene, mark), text) == 0);
    }
  return n;
}

static void
test_placements (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GHashTable) none = g_hash_table_new (NULL, NULL);
  g_autoptr (GantryGraphPicture) picture = NULL;
  g_autoptr (GantryPlacements) placements = gantry_placements_new ();
  g_autoptr (GantryScene) scene = gantry_scene_new (2000, 8000);
  const GantryGraphView view = { 0, 0, 1 };
  g_autoptr (GArray) ghosts = NULL;
  Step step = { 0 };

  make_step (context, &step);
  picture = make_picture (step.module, none);
  gantry_placements_set (placements, &(GantryPlacement){ .node = step.saved[1], .kind = GANTRY_PLACEMENT_RECOMPUTE });
  gantry_placements_set (placements, &(GantryPlacement){ .node = step.saved[2], .kind = GANTRY_PLACEMENT_OFFLOAD });
  {
    const GantryPlanStep steps[] = { { .node = step.saved[1] }, { .node = step.saved[1], .kind = GANTRY_STEP_RECOMPUTE }, { .node = step.derived[1] } };

    ghosts = gantry_graph_ghosts_new (steps, G_N_ELEMENTS (steps));
  }
  g_assert_cmpuint (ghosts->len, ==, 1);
  g_assert_cmpuint (g_array_index (ghosts, GantryGraphGhost, 0).user, ==, step.derived[1]);
  gantry_paint_graph (scene, picture, &view, &(GantryGraphState){ .labels = TRUE, .placements = placements, .ghosts = ghosts }, gantry_theme_get (FALSE));
  g_assert_cmpuint (count_marks (scene, GANTRY_INK_BACKGROUND, "K"), ==, N_LAYERS - 2);
  g_assert_cmpuint (count_marks (scene, GANTRY_INK_BACKGROUND, "R"), ==, 1);
  g_assert_cmpuint (count_marks (scene, GANTRY_INK_BACKGROUND, "O"), ==, 1);
  g_assert_cmpuint (count_marks (scene, GANTRY_INK_RECOMPUTE, "↻ tanh"), ==, 1);
  /* Dashes are many, the double line is at least two more than the letter's own fill. */
  g_assert_cmpuint (count_marks (scene, GANTRY_INK_RECOMPUTE, NULL), >, 8);
  g_assert_cmpuint (count_marks (scene, GANTRY_INK_OFFLOAD, NULL), >=, 3);
  g_assert_cmpuint (scene->n_clipped, ==, 0);
  gantry_module_unref (step.module);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/drawing/mirror/beside", test_beside);
  g_test_add_func ("/drawing/mirror/folded", test_folded);
  g_test_add_func ("/drawing/mirror/default", test_default);
  g_test_add_func ("/drawing/mirror/placements", test_placements);
  return g_test_run ();
}
