/* SPDX-License-Identifier: Apache-2.0 */
/* Memory against time: a point is picked where it is painted, the front is stairs, labels stay inside. */
#include "drawing/painters.h"
#include <math.h>
#include <string.h>

#define MIB (G_GUINT64_CONSTANT (1) << 20)

static const GantryScatterPoint points[] = {
  { 1000 * MIB, 1600000, GANTRY_POINT_NOW, "now" },        { 700 * MIB, 1900000, GANTRY_POINT_VARIANT, "a name that is long enough to reach over the edge" },
  { 1000 * MIB, 1600000, GANTRY_POINT_FRONT, "1000 MiB" }, { 800 * MIB, 1650000, GANTRY_POINT_FRONT, "800 MiB" },
  { 600 * MIB, 1800000, GANTRY_POINT_FRONT, "600 MiB" },   { 520 * MIB, 2100000, GANTRY_POINT_FRONT, "520 MiB" },
};

static GantryScene *
paint (float width, float height, guint selected, guint64 limit)
{
  GantryScene *scene = gantry_scene_new (width, height);

  gantry_paint_scatter (scene, points, G_N_ELEMENTS (points), selected, limit, gantry_theme_get (FALSE));
  return scene;
}

static const GantryMark *
mark_at (const GantryScene *scene, guint i)
{
  return &g_array_index (scene->marks, GantryMark, i);
}

static void
test_pick (void)
{
  g_autoptr (GantryScene) scene = paint (640, 300, G_MAXUINT, 0);
  guint n_seen = 0;

  /* The squares of variants and of the point of now are in inks of their own. */
  for (guint i = 0; i < scene->marks->len; i++)
    {
      const GantryMark *mark = mark_at (scene, i);
      guint picked;

      if (mark->kind != GANTRY_MARK_FILL || (mark->ink != GANTRY_INK_OFFLOAD && mark->ink != GANTRY_INK_MEASURED))
        continue;
      picked = gantry_scatter_pick (points, G_N_ELEMENTS (points), 0, 640, 300, mark->x + mark->width / 2, mark->y + mark->height / 2);
      g_assert_cmpuint (picked, <, G_N_ELEMENTS (points));
      if (mark->ink == GANTRY_INK_OFFLOAD)
        g_assert_cmpuint (picked, ==, 1);
      else if (picked != 0 && picked != 2) /* that of now lies on one of the front */
        g_assert_cmpint (points[picked].kind, ==, GANTRY_POINT_FRONT);
      n_seen++;
    }
  g_assert_cmpuint (n_seen, >=, 5);
  g_assert_cmpuint (gantry_scatter_pick (points, G_N_ELEMENTS (points), 0, 640, 300, 100, 280), ==, G_MAXUINT);
  g_assert_cmpuint (gantry_scatter_pick (points, 0, 0, 640, 300, 100, 100), ==, G_MAXUINT);
}

/* Without a point there are words, inside of what there is. */
static void
test_none (void)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryScene) scene = gantry_scene_new (i == 0 ? 480 : 90, 160);

      gantry_paint_scatter (scene, NULL, 0, G_MAXUINT, MIB, gantry_theme_get (FALSE));
      g_assert_cmpuint (scene->marks->len, ==, 1);
      g_assert_cmpint (mark_at (scene, 0)->kind, ==, GANTRY_MARK_TEXT);
      g_assert_cmpfloat (mark_at (scene, 0)->x, >=, 0);
      g_assert_cmpfloat (mark_at (scene, 0)->x + mark_at (scene, 0)->width, <=, scene->width);
    }
}

/* Each step of the stairs is as long as its neighbours are apart: level lines from point to point, upright ones between. */
static void
test_stairs (void)
{
  g_autoptr (GantryScene) scene = paint (640, 300, G_MAXUINT, 0);
  float level = 0, upright = 0, left = 640, right = 0, top = 300, bottom = 0;

  for (guint i = 0; i < scene->marks->len; i++)
    {
      const GantryMark *mark = mark_at (scene, i);

      if (mark->kind != GANTRY_MARK_FILL || mark->ink != GANTRY_INK_PLANNED)
        continue;
      if (mark->width > mark->height)
        level += mark->width;
      else
        upright += mark->height;
      left = MIN (left, mark->x);
      right = MAX (right, mark->x + mark->width);
      top = MIN (top, mark->y);
      bottom = MAX (bottom, mark->y + mark->height);
    }
  g_assert_cmpfloat (level, >, 200);
  g_assert_cmpfloat (fabsf (level - (right - left)), <, 3);
  g_assert_cmpfloat (fabsf (upright - (bottom - top)), <, 3);
}

static void
test_inside (void)
{
  for (guint selected = 0; selected < G_N_ELEMENTS (points); selected++)
    {
      g_autoptr (GantryScene) scene = paint (520, 220, selected, 560 * MIB);
      guint n_limit = 0;

      for (guint i = 0; i < scene->marks->len; i++)
        {
          const GantryMark *mark = mark_at (scene, i);

          n_limit += mark->ink == GANTRY_INK_LIMIT;
          if (mark->kind != GANTRY_MARK_TEXT)
            continue;
          g_assert_cmpfloat (mark->x, >=, 0);
          g_assert_cmpfloat (mark->x + mark->width, <=, 520);
          g_assert_cmpfloat (mark->y, >=, 0);
          g_assert_cmpfloat (mark->y + mark->height, <=, 220);
        }
      g_assert_cmpuint (n_limit, >=, 1);
    }
}

/* Variants lie close together where they do much the same: names do not lie over each other, nor over points. */
static void
test_names_apart (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  GantryScatterPoint many[24] = { 0 };
  guint n_names = 0;

  for (guint round = 0; round < 60; round++)
    {
      g_autoptr (GantryScene) scene = gantry_scene_new (520, 240);
      guint selected = round % 2 == 0 ? G_MAXUINT : 0;

      for (guint i = 0; i < G_N_ELEMENTS (many); i++)
        many[i] = (GantryScatterPoint){ (guint64) g_rand_int_range (rand, 500, 540) * MIB, g_rand_double_range (rand, 1e6, 1.05e6),
                                        i < 10   ? GANTRY_POINT_VARIANT
                                        : i < 23 ? GANTRY_POINT_FRONT
                                                 : GANTRY_POINT_NOW,
                                        i % 3 == 0 ? "a name that says much and has no end that fits" : "dots saved" };
      gantry_paint_scatter (scene, many, round / 3 + 4, selected, 0, gantry_theme_get (FALSE));
      for (guint i = 0; i < scene->marks->len; i++)
        {
          const GantryMark *name = mark_at (scene, i);

          if (name->kind != GANTRY_MARK_TEXT || name->style != (GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD))
            continue;
          n_names++;
          g_assert_cmpfloat (name->width, <, 200);
          for (guint k = 0; k < scene->marks->len; k++)
            {
              const GantryMark *other = mark_at (scene, k);
              gboolean point = other->kind == GANTRY_MARK_FILL && other->ink == GANTRY_INK_MEASURED;
              gboolean text = other->kind == GANTRY_MARK_TEXT && k != i;

              if ((point || text) && selected == G_MAXUINT)
                g_assert_false (name->x < other->x + other->width && other->x < name->x + name->width && name->y < other->y + other->height
                                && other->y < name->y + name->height);
            }
        }
    }
  g_assert_cmpuint (n_names, >, 120);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/drawing/scatter/pick", test_pick);
  g_test_add_func ("/drawing/scatter/none", test_none);
  g_test_add_func ("/drawing/scatter/stairs", test_stairs);
  g_test_add_func ("/drawing/scatter/inside", test_inside);
  g_test_add_func ("/drawing/scatter/names-apart", test_names_apart);
  return g_test_run ();
}
