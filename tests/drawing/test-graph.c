/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of graphs and what is painted of them: budgets hold however large the graph, every point and key finds
 * what it should, the same graph gives the same picture, and text can be read in both themes. */
#include "core/graph/builder.h"
#include "core/graph/graph.h"
#include "drawing/graph-picture-private.h"
#include "drawing/painters.h"
#include <glib/gstdio.h>
#include <graphviz/cgraph.h>
#include <math.h>
#include <string.h>

/* A chain of @n operations with a branch at every tenth, in scopes of a hundred. @name: (nullable): of the first one */
static GantryModule *
make_graph (GantryContext *context, guint n, const char *name)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "graph");
  const GantryDim dims[] = { 8, 16 };
  const GantryLocation place = { .file = gantry_context_intern (context, "graph"), .line = 1 };
  guint32 location = gantry_context_location (context, &place), x, side = 0;
  g_autoptr (GError) error = NULL;
  GantryModule *module;

  gantry_builder_set_place (builder, 0, location);
  gantry_builder_begin (builder, "main", 0);
  x = side = gantry_builder_parameter (builder, gantry_context_tensor (context, GANTRY_F32, 2, dims), "input");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *scope = g_strdup_printf ("stage%u/block%u", i / 1000, i / 100);

      gantry_builder_set_place (builder, gantry_context_scope (context, scope), location);
      if (i == 0 && name != NULL)
        gantry_builder_set_name (builder, gantry_context_intern (context, name));
      x = i % 10 == 9 ? gantry_builder_binary (builder, GANTRY_OP_ADD, x, side)
                      : gantry_builder_unary (builder, i % 3 == 0 ? GANTRY_OP_TANH : GANTRY_OP_NEGATE, x);
      side = i % 10 == 9 ? x : side;
    }
  gantry_builder_end (builder, &x, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

static GantryGraphPicture *
make_picture (GantryModule *module, gboolean unfold)
{
  g_autoptr (GHashTable) none = g_hash_table_new (NULL, NULL);
  const GantryGraphOptions options = { .folded = unfold ? none : NULL };
  g_autoptr (GError) error = NULL;
  GantryGraphPicture *picture = gantry_graph_picture_new (module, &options, NULL, &error);

  g_assert_no_error (error);
  return picture;
}

static void
check_frame (const GantryGraphPicture *picture, float scale)
{
  g_autoptr (GantryScene) scene = gantry_scene_new (1600, 1000);
  const GantryGraphState state = { .labels = TRUE };
  const GantryGraphView view = { 0, 0, scale };
  guint texts = 0;

  scene->budget = GANTRY_SCENE_BUDGET;
  gantry_paint_graph (scene, picture, &view, &state, gantry_theme_get (FALSE));
  for (guint i = 0; i < scene->marks->len; i++)
    texts += g_array_index (scene->marks, GantryMark, i).kind == GANTRY_MARK_TEXT;
  g_assert_cmpuint (scene->n_clipped, ==, 0);
  g_assert_cmpuint (scene->marks->len, >, 0);
  g_assert_cmpuint (scene->marks->len, <=, GANTRY_SCENE_BUDGET);
  g_assert_cmpuint (texts, <=, GANTRY_SCENE_TEXT_BUDGET);
}

static void
test_budget (gconstpointer data)
{
  static const float scales[] = { 2, 1, 0.5f, 0.2f, 0.05f, 0.01f, 0.001f };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_graph (context, GPOINTER_TO_UINT (data), NULL);

  for (guint unfold = 0; unfold < 2; unfold++)
    {
      g_autoptr (GantryGraphPicture) picture = make_picture (module, unfold);

      if (unfold)
        g_assert_cmpuint (gantry_graph_picture_n_boxes (picture), >=, GPOINTER_TO_UINT (data));
      else
        g_assert_cmpuint (gantry_graph_picture_n_boxes (picture), <, 2000);
      for (guint i = 0; i < G_N_ELEMENTS (scales); i++)
        check_frame (picture, scales[i]);
    }
}

/* The middle of a box picks that box; down and up lead along the chain; a search finds what it names. */
static void
test_find (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_graph (context, 50, "needle in a haystack");
  g_autoptr (GantryGraphPicture) picture = make_picture (module, TRUE);
  g_autoptr (GArray) found = gantry_graph_search (module, "NEEDLE");
  g_autoptr (GArray) nothing = gantry_graph_search (module, "no such thing");
  guint32 first = gantry_graph_picture_box_of (picture, module->nodes[0].id), steps = 0;

  for (guint32 box = 0; box < gantry_graph_picture_n_boxes (picture); box++)
    {
      GantryLayoutBox rect;
      guint32 index;

      gantry_graph_picture_box_rect (picture, box, &rect);
      g_assert_cmpint (gantry_graph_picture_pick (picture, rect.x + rect.width / 2, rect.y + rect.height / 2, 1, &index), ==, GANTRY_LAYOUT_ITEM_NODE);
      g_assert_cmpuint (index, ==, box);
    }
  for (guint32 box = first; box != GANTRY_NO_BOX && steps < 100; steps++)
    {
      guint32 next = gantry_graph_picture_walk (picture, box, GANTRY_WALK_DOWN);

      if (next != GANTRY_NO_BOX)
        g_assert_cmpuint (gantry_graph_picture_walk (picture, next, GANTRY_WALK_UP), !=, GANTRY_NO_BOX);
      box = next;
    }
  g_assert_cmpuint (steps, >, 5);
  g_assert_cmpuint (steps, <, 100);
  g_assert_cmpuint (found->len, ==, 1);
  g_assert_cmpuint (g_array_index (found, guint32, 0), ==, module->nodes[1].id);
  g_assert_cmpuint (nothing->len, ==, 0);
}

static void
test_same_picture (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_graph (context, 3000, NULL);
  const GantryGraphState state = { .labels = TRUE };
  const GantryGraphView view = { 0, 0, 1 };
  GantryScene *scenes[2];

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryGraphPicture) picture = make_picture (module, FALSE);

      scenes[i] = gantry_scene_new (1600, 1000);
      gantry_paint_graph (scenes[i], picture, &view, &state, gantry_theme_get (TRUE));
    }
  g_assert_cmpuint (scenes[0]->marks->len, ==, scenes[1]->marks->len);
  g_assert_cmpstr (scenes[0]->texts->str, ==, scenes[1]->texts->str);
  for (guint i = 0; i < scenes[0]->marks->len; i++)
    {
      const GantryMark *a = &g_array_index (scenes[0]->marks, GantryMark, i);
      const GantryMark *b = &g_array_index (scenes[1]->marks, GantryMark, i);

      g_assert_true (a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height);
      g_assert_true (a->kind == b->kind && a->ink == b->ink && a->text == b->text);
    }
  gantry_scene_free (scenes[0]);
  gantry_scene_free (scenes[1]);
}

/* @n blocks, each fed by the one before it and by some far above. */
static GantryModule *
make_blocks (GantryContext *context, guint n)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "blocks");
  const GantryDim dims[] = { 8, 16 };
  g_autofree guint32 *values = g_new0 (guint32, n + 1);
  g_autoptr (GError) error = NULL;
  GantryModule *module;

  gantry_builder_begin (builder, "main", 0);
  values[0] = gantry_builder_parameter (builder, gantry_context_tensor (context, GANTRY_F32, 2, dims), "input");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *scope = g_strdup_printf ("block%u", i);

      gantry_builder_set_place (builder, gantry_context_scope (context, scope), 0);
      values[i + 1] = values[i];
      for (guint part = 2; part < 8; part++)
        values[i + 1] = gantry_builder_binary (builder, GANTRY_OP_ADD, values[i + 1], values[i / part]);
    }
  gantry_builder_end (builder, &values[n], 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

/* Where not all edges have room, those between neighbours are drawn, and that others are not is said. */
static void
test_many_edges (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_blocks (context, 1000);
  g_autoptr (GantryGraphPicture) picture = make_picture (module, FALSE);
  g_autoptr (GantryScene) scene = NULL;
  const GantryGraphView view = { 0, 0, 1 };
  guint n_edges = 0;
  gboolean told = FALSE;
  float width, height;

  gantry_graph_picture_size (picture, &width, &height);
  scene = gantry_scene_new (width, height);
  gantry_paint_graph (scene, picture, &view, NULL, gantry_theme_get (FALSE));
  for (guint i = 0; i < scene->marks->len; i++)
    {
      const GantryMark *mark = &g_array_index (scene->marks, GantryMark, i);

      n_edges += mark->kind == GANTRY_MARK_FILL && mark->ink == GANTRY_INK_EDGE;
      told = told || (mark->kind == GANTRY_MARK_TEXT && strstr (gantry_scene_mark_text (scene, mark), "edges are drawn") != NULL);
    }
  g_assert_cmpuint (n_edges, >=, 1000);
  g_assert_true (told);
}

/* Those of what is selected are drawn first, however long they are and wherever they stand among the others. */
static void
test_selected_edges (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_blocks (context, 1000);
  g_autoptr (GantryGraphPicture) picture = make_picture (module, FALSE);
  g_autoptr (GHashTable) selected = g_hash_table_new (NULL, NULL);
  g_autoptr (GantryScene) scene = NULL;
  const GantryGraphState state = { .selected = selected };
  const GantryGraphView view = { 0, 0, 1 };
  const guint32 first = picture->boxes->len - 200; /* boxes from here on are selected */
  guint n_segments = 0, n_fills = 0, n_expected = 0;
  float width, height;

  for (guint32 node = 1; node < module->n_nodes; node++)
    if (gantry_graph_picture_box_of (picture, node) != GANTRY_NO_BOX && gantry_graph_picture_box_of (picture, node) >= first)
      g_hash_table_add (selected, GUINT_TO_POINTER (node));
  for (guint32 i = 0; i < picture->edges->len; i++)
    {
      const GantryGraphEdge *edge = GANTRY_EDGE (picture, i);
      guint n = picture->layout->edge_first[i + 1] - picture->layout->edge_first[i] - 1;

      if (MAX (edge->tail, edge->head) < first)
        continue;
      n_segments += n;
      n_expected += n + 4; /* fills of an arrow */
    }
  g_assert_cmpuint (n_segments, >, 1000);
  g_assert_cmpuint (n_segments, <, 7000); /* which all have room */
  gantry_graph_picture_size (picture, &width, &height);
  scene = gantry_scene_new (width, height);
  gantry_paint_graph (scene, picture, &view, &state, gantry_theme_get (FALSE));
  for (guint i = 0; i < scene->marks->len; i++)
    n_fills += g_array_index (scene->marks, GantryMark, i).ink == GANTRY_INK_EDGE_SELECTED;
  g_assert_cmpuint (n_fills, ==, n_expected);
}

static double
luminance (GantryColor color)
{
  const double parts[] = { color.red, color.green, color.blue }, weights[] = { 0.2126, 0.7152, 0.0722 };
  double sum = 0;

  for (guint i = 0; i < 3; i++)
    sum += weights[i] * (parts[i] <= 0.04045 ? parts[i] / 12.92 : pow ((parts[i] + 0.055) / 1.055, 2.4));
  return sum;
}

/* WCAG 2.1, 1.4.3: at least 4.5 to 1. */
static void
assert_readable (const GantryTheme *theme, guint text, guint ground)
{
  double a = luminance (theme->ink[text]), b = luminance (theme->ink[ground]);
  double contrast = (MAX (a, b) + 0.05) / (MIN (a, b) + 0.05);

  if (contrast < 4.5)
    g_test_message ("%s: ink %u on ink %u has %.2f to 1", theme->dark ? "dark" : "light", text, ground, contrast);
  g_assert_cmpfloat (contrast, >=, 4.5);
}

static void
test_contrast (void)
{
  for (guint dark = 0; dark < 2; dark++)
    {
      const GantryTheme *theme = gantry_theme_get (dark);

      for (guint i = 0; i < GANTRY_N_CLASSES; i++)
        assert_readable (theme, GANTRY_INK_TEXT_ON_CLASS, GANTRY_INK_CLASS + i);
      assert_readable (theme, GANTRY_INK_TEXT, GANTRY_INK_BACKGROUND);
      assert_readable (theme, GANTRY_INK_TEXT, GANTRY_INK_SURFACE);
      assert_readable (theme, GANTRY_INK_TEXT_DIM, GANTRY_INK_BACKGROUND);
    }
}

static void
test_dot (gconstpointer data)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_graph (context, 60, data);
  g_autoptr (GantryGraphPicture) picture = make_picture (module, TRUE);
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  FILE *file;
  Agraph_t *graph;

  g_close (g_file_open_tmp ("gantry-XXXXXX.dot", &path, &error), NULL);
  g_assert_no_error (error);
  gantry_graph_picture_write_dot (picture, path, NULL, &error);
  g_assert_no_error (error);
  file = g_fopen (path, "r");
  graph = agread (file, NULL);
  fclose (file);
  g_unlink (path);
  g_assert_nonnull (graph);
  g_assert_cmpint (agnnodes (graph), ==, (int) gantry_graph_picture_n_boxes (picture));
  /* Each operation reads its operands: 54 one, 6 two; and one edge leads to the output. */
  g_assert_cmpint (agnedges (graph), ==, 60 + 6 + 1);
  agclose (graph);
}

/* Names that no font has ever seen do no harm. */
static void
test_names (void)
{
  static const char *const odd[] = { "",
                                     " ",
                                     "\xc3\xa4\xe6\x96\x87\xf0\x9f\x9a\x80",
                                     "e\xcc\x81",
                                     ("\xe2\x80\xae"
                                      "abc"),
                                     "<b>&amp;\"'\\",
                                     "a\nb\tc" };
  g_autofree char *longest = g_strnfill (10000, 'w');

  for (guint i = 0; i <= G_N_ELEMENTS (odd); i++)
    {
      const char *name = i < G_N_ELEMENTS (odd) ? odd[i] : longest;
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = make_graph (context, 3, name);
      g_autoptr (GantryGraphPicture) picture = make_picture (module, TRUE);
      g_autoptr (GantryScene) scene = gantry_scene_new (800, 600);
      const GantryGraphState state = { .labels = TRUE };
      const GantryGraphView view = { 0, 0, 1 };
      g_autoptr (GError) error = NULL;
      g_autofree char *path = NULL;
      GantryLayoutBox rect;

      gantry_paint_graph (scene, picture, &view, &state, gantry_theme_get (FALSE));
      gantry_graph_picture_box_rect (picture, gantry_graph_picture_box_of (picture, module->nodes[1].id), &rect);
      g_assert_cmpfloat (rect.width, <, 1000);
      g_close (g_file_open_tmp ("gantry-XXXXXX.svg", &path, &error), NULL);
      gantry_scene_write (scene, gantry_theme_get (FALSE), path, 1, NULL, &error);
      g_assert_no_error (error);
      g_unlink (path);
    }
}

static void
test_empty (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, "module \"empty\" { func @main #1 () -> () { } }", -1, "e.gir", &error);
  g_autoptr (GantryGraphPicture) picture = NULL;
  g_autoptr (GantryScene) scene = gantry_scene_new (800, 600);
  const GantryGraphState state = { 0 };
  const GantryGraphView view = { 0, 0, 1 };
  guint32 index;

  g_assert_no_error (error);
  picture = make_picture (module, FALSE);
  g_assert_cmpuint (gantry_graph_picture_n_boxes (picture), ==, 0);
  gantry_paint_graph (scene, picture, &view, &state, gantry_theme_get (FALSE));
  g_assert_cmpint (gantry_graph_picture_pick (picture, 10, 10, 3, &index), ==, GANTRY_LAYOUT_ITEM_NONE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/drawing/graph/budget/20000", GUINT_TO_POINTER (20000), test_budget);
  g_test_add_data_func ("/drawing/graph/budget/100000", GUINT_TO_POINTER (100000), test_budget);
  g_test_add_func ("/drawing/graph/find", test_find);
  g_test_add_func ("/drawing/graph/same-picture", test_same_picture);
  g_test_add_func ("/drawing/graph/many-edges", test_many_edges);
  g_test_add_func ("/drawing/graph/selected-edges", test_selected_edges);
  g_test_add_func ("/drawing/graph/contrast", test_contrast);
  g_test_add_data_func ("/drawing/graph/dot", "plain", test_dot);
  g_test_add_data_func ("/drawing/graph/dot/odd-name", "\"<&>\\ \xc3\xa4", test_dot);
  g_test_add_func ("/drawing/graph/names", test_names);
  g_test_add_func ("/drawing/graph/empty", test_empty);
  return g_test_run ();
}
