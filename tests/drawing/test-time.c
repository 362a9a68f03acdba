/* SPDX-License-Identifier: Apache-2.0 */
/* What an edit of placements changes over time: the curve before it stays behind the new one, what is computed again has
 * an ink of its own in the lanes, and the limit is a line with its size. */
#include "core/graph/graph.h"
#include "core/plan/plan.h"
#include "drawing/painters.h"
#include <string.h>

#define MIB (G_GUINT64_CONSTANT (1) << 20)

static GantryModule *
make_module (GantryContext *context, guint32 *node)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "time");
  const GantryDim dims[] = { 8 };
  g_autoptr (GError) error = NULL;
  GantryModule *module;
  guint32 x;

  gantry_builder_begin (builder, "main", 0);
  x = gantry_builder_parameter (builder, gantry_context_tensor (context, GANTRY_F32, 1, dims), "x");
  *node = gantry_builder_unary (builder, GANTRY_OP_TANH, x);
  gantry_builder_end (builder, node, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

/* Four steps of 100 us; the third is done again where @again says so. */
static GantryPlan *
make_plan (guint32 node, gboolean again, guint64 most)
{
  GantryPlan *plan = gantry_plan_new (4, 0);

  for (guint i = 0; i < 4; i++)
    {
      plan->steps[i].node = node;
      plan->steps[i].kind = again && i == 2 ? GANTRY_STEP_RECOMPUTE : GANTRY_STEP_RUN;
      plan->steps[i].start_us = 100 * i;
      plan->steps[i].duration_us = 100;
      plan->live_bytes[i] = i == 1 ? most : MIB;
    }
  plan->arena_bytes[GANTRY_MEMORY_DEVICE] = plan->lower_bound = MAX (most, MIB);
  plan->peak_step = 1;
  plan->total_us = 400;
  return plan;
}

static guint
count (const GantryScene *scene, GantryInk ink, GantryMarkKind kind, int alpha)
{
  guint n = 0;

  for (guint i = 0; i < scene->marks->len; i++)
    {
      const GantryMark *mark = &g_array_index (scene->marks, GantryMark, i);

      n += mark->ink == ink && mark->kind == kind && (alpha < 0 || mark->alpha == alpha);
    }
  return n;
}

static void
test_edit (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  guint32 node;
  g_autoptr (GantryModule) module = make_module (context, &node);
  g_autoptr (GantryPlan) old = make_plan (node, FALSE, 4 * MIB), new = make_plan (node, TRUE, 2 * MIB);
  g_autoptr (GantryTimeModel) plain = gantry_time_model_new (module, old, NULL, 0);
  g_autoptr (GantryTimeModel) edited = gantry_time_model_new (module, new, NULL, 0);
  g_autoptr (GantryScene) scene = gantry_scene_new (800, 200);
  const GantryTimeView view = { 0, 400000 };
  const GantryTimeState state = { NULL, -1, 3 * MIB + 1 };
  const GantryTheme *theme = gantry_theme_get (FALSE);
  gboolean told = FALSE;

  gantry_time_model_set_before (edited, old);
  gantry_paint_memory (scene, plain, &view, &state, theme);
  g_assert_cmpuint (count (scene, GANTRY_INK_TEXT_DIM, GANTRY_MARK_FILL, 110), ==, 0);
  gantry_scene_clear (scene, 800, 200);
  gantry_paint_memory (scene, edited, &view, &state, theme);
  g_assert_cmpuint (count (scene, GANTRY_INK_TEXT_DIM, GANTRY_MARK_FILL, 110), >=, 3); /* up, along, down */
  for (guint i = 0; i < scene->marks->len; i++)
    {
      const GantryMark *mark = &g_array_index (scene->marks, GantryMark, i);

      told |= mark->kind == GANTRY_MARK_TEXT && strcmp (gantry_scene_mark_text (scene, mark), "limit 3.00000 MiB") == 0;
    }
  g_assert_true (told);
  gantry_scene_clear (scene, 800, 200);
  gantry_paint_timeline (scene, edited, &view, &state, theme);
  g_assert_cmpuint (count (scene, GANTRY_INK_RECOMPUTE, GANTRY_MARK_FILL, -1), ==, 1);
  gantry_scene_clear (scene, 800, 200);
  gantry_paint_timeline (scene, plain, &view, &state, theme);
  g_assert_cmpuint (count (scene, GANTRY_INK_RECOMPUTE, GANTRY_MARK_FILL, -1), ==, 0);
}

/* @n runs one after the other, each with an event that is as long as it. */
static GantryRunResult *
make_runs (GantryModule *module, GantryPlan *plan, guint n)
{
  GantryRunResult *run = gantry_run_result_new ();
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();

  for (guint i = 0; i < n; i++)
    {
      gint64 begin = 1000000 + 500000 * (gint64) i, end = begin + (i + 1 < n ? 100000 : 50000);
      GantryEvent event = { .begin = begin, .end = end, .node = plan->steps[0].node, .lane = GANTRY_QUEUE_COMPUTE, .kind = GANTRY_EVENT_KERNEL };

      const GantryRecordedRun recorded = { begin, end, 0 };

      gantry_recording_builder_add_run (builder, &recorded);
      gantry_recording_builder_add (builder, &event);
    }
  run->plan = gantry_plan_ref (plan);
  run->recording = gantry_recording_builder_end (builder);
  return run;
}

/* A picture of one run has nothing of those before and after it, however long the plan is that it lies under. */
static void
test_one_of_several (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  guint32 node;
  g_autoptr (GantryModule) module = make_module (context, &node);
  g_autoptr (GantryPlan) plan = make_plan (node, FALSE, 4 * MIB);
  g_autoptr (GantryRunResult) run = make_runs (module, plan, 3);
  g_autoptr (GantryScene) scene = gantry_scene_new (800, 200);
  const GantryTimeView view = { -700000, 700000 };

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GantryTimeModel) model = gantry_time_model_new (module, plan, run, i);

      gantry_scene_clear (scene, 800, 200);
      gantry_paint_timeline (scene, model, &view, NULL, gantry_theme_get (FALSE));
      g_assert_cmpuint (count (scene, GANTRY_INK_MEASURED, GANTRY_MARK_FILL, -1), ==, 1);
    }
}

/* A program without work has a plan without steps: nothing is drawn of it, and nothing read beyond it. */
static void
test_nothing (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  guint32 node;
  g_autoptr (GantryModule) module = make_module (context, &node);
  g_autoptr (GantryPlan) plan = gantry_plan_new (0, 0);
  g_autoptr (GantryTimeModel) model = gantry_time_model_new (module, plan, NULL, 0);
  g_autoptr (GantryScene) scene = gantry_scene_new (800, 200);
  const GantryTimeView view = { 0, gantry_time_model_length (model) };
  const GantryTimeState state = { NULL, -1, 0 };
  const GantryTheme *theme = gantry_theme_get (FALSE);

  gantry_time_model_set_before (model, plan);
  gantry_paint_memory (scene, model, &view, &state, theme);
  g_assert_cmpuint (count (scene, GANTRY_INK_PEAK, GANTRY_MARK_FILL, -1), ==, 0);
  gantry_scene_clear (scene, 800, 200);
  gantry_paint_timeline (scene, model, &view, &state, theme);
  g_assert_cmpuint (count (scene, GANTRY_INK_RECOMPUTE, GANTRY_MARK_FILL, -1), ==, 0);
}

static gboolean
says (GantryScene *scene, const char *text)
{
  for (guint i = 0; i < scene->marks->len; i++)
    {
      const GantryMark *mark = &g_array_index (scene->marks, GantryMark, i);

      if (mark->kind == GANTRY_MARK_TEXT && strcmp (gantry_scene_mark_text (scene, mark), text) == 0)
        return TRUE;
    }
  return FALSE;
}

/* While nobody knows what the kernels need, the peak is no more than a lower bound. */
static void
test_peak (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  guint32 node;
  g_autoptr (GantryModule) module = make_module (context, &node);

  for (guint known = 0; known < 2; known++)
    {
      g_autoptr (GantryPlan) plan = make_plan (node, FALSE, 3 * MIB);
      g_autoptr (GantryTimeModel) model = NULL;
      g_autoptr (GantryScene) scene = gantry_scene_new (800, 200);
      const GantryTimeView view = { 0, 400000 };
      const GantryTimeState state = { NULL, -1, 0 };

      plan->sizes_known = known != 0;
      model = gantry_time_model_new (module, plan, NULL, 0);
      gantry_paint_memory (scene, model, &view, &state, gantry_theme_get (FALSE));
      g_assert_true (says (scene, "planned peak at least 3.00 MiB") == (known == 0));
      g_assert_true (says (scene, "planned peak 3.00 MiB") == (known != 0));
    }
}

/* What lies between two runs is in the picture of the nearer one: the arguments that are brought for the next are not in that of this. */
static void
test_between_runs (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  guint32 node;
  g_autoptr (GantryModule) module = make_module (context, &node);
  g_autoptr (GantryPlan) plan = make_plan (node, FALSE, 4 * MIB);
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  const GantryRecordedRun runs[] = { { 1000000, 1100000, 0 }, { 1200000, 1300000, 0 } };
  const gint64 events[][2] = { { 1010000, 1090000 }, { 1101000, 1110000 }, { 1190000, 1199000 }, { 1210000, 1290000 } };
  const GantryTimeView view = { -500000, 700000 };
  g_autoptr (GantryScene) scene = gantry_scene_new (800, 200);

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    gantry_recording_builder_add_run (builder, &runs[i]);
  for (guint i = 0; i < G_N_ELEMENTS (events); i++)
    gantry_recording_builder_add (
      builder, &(GantryEvent){ .begin = events[i][0], .end = events[i][1], .node = node, .lane = GANTRY_QUEUE_COMPUTE, .kind = GANTRY_EVENT_KERNEL });
  run->plan = gantry_plan_ref (plan);
  run->recording = gantry_recording_builder_end (builder);
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      g_autoptr (GantryTimeModel) model = gantry_time_model_new (module, plan, run, i);

      gantry_scene_clear (scene, 800, 200);
      gantry_paint_timeline (scene, model, &view, NULL, gantry_theme_get (FALSE));
      g_assert_cmpuint (count (scene, GANTRY_INK_MEASURED, GANTRY_MARK_FILL, -1), ==, 2);
    }
}

/* A dense run, whose bars are folded by pixel, ends within the pixel in which the next one begins: nothing is drawn of that. */
static void
test_dense_ends (void)
{
  enum
  {
    N = 2000,
    SPACE = 1000,
    BEGIN = 1000000,
    LENGTH = N * SPACE + 100000,
    NEXT = BEGIN + LENGTH + 100
  };
  g_autoptr (GantryContext) context = gantry_context_new ();
  guint32 node;
  g_autoptr (GantryModule) module = make_module (context, &node);
  g_autoptr (GantryPlan) plan = make_plan (node, FALSE, 4 * MIB);
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  const GantryRecordedRun runs[] = { { BEGIN, BEGIN + LENGTH, 0 }, { NEXT, NEXT + LENGTH, 0 } };
  const GantryTimeView view = { 0, 2 * LENGTH };
  g_autoptr (GantryScene) scene = gantry_scene_new (800, 200);
  g_autoptr (GantryTimeModel) model = NULL;
  float last = 0;

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      gantry_recording_builder_add_run (builder, &runs[i]);
      for (guint k = 0; k < N; k++)
        {
          GantryEvent event = { .begin = runs[i].begin + SPACE * (gint64) k, .node = node, .lane = GANTRY_QUEUE_COMPUTE, .kind = GANTRY_EVENT_KERNEL };

          event.end = event.begin + SPACE - 100;
          gantry_recording_builder_add (builder, &event);
        }
    }
  run->plan = gantry_plan_ref (plan);
  run->recording = gantry_recording_builder_end (builder);
  model = gantry_time_model_new (module, plan, run, 0);
  gantry_paint_timeline (scene, model, &view, NULL, gantry_theme_get (FALSE));
  for (guint i = 0; i < scene->marks->len; i++)
    {
      const GantryMark *mark = &g_array_index (scene->marks, GantryMark, i);

      if (mark->kind == GANTRY_MARK_FILL && mark->ink == GANTRY_INK_MEASURED)
        last = MAX (last, mark->x + mark->width);
    }
  g_assert_cmpuint (count (scene, GANTRY_INK_MEASURED, GANTRY_MARK_FILL, -1), >, 100); /* folded */
  g_assert_cmpint (gantry_time_at (&view, 800, last - 1.5f), <=, N * SPACE);
}

static gboolean
is_label (const GantryScene *scene, const GantryMark *mark)
{
  const char *text = mark->kind == GANTRY_MARK_TEXT ? gantry_scene_mark_text (scene, mark) : "";

  return strstr (text, " peak ") != NULL || g_str_has_prefix (text, "limit ");
}

/* No label lies over another one or leaves the picture. Returns: how many there are */
static guint
assert_labels_apart (const GantryScene *scene)
{
  guint n = 0;

  for (guint i = 0; i < scene->marks->len; i++)
    {
      const GantryMark *a = &g_array_index (scene->marks, GantryMark, i);

      if (!is_label (scene, a))
        continue;
      n++;
      g_assert_true (a->x >= 0 && a->y >= 0 && a->x + a->width <= 800 && a->y + a->height <= 200);
      for (guint k = i + 1; k < scene->marks->len; k++)
        {
          const GantryMark *b = &g_array_index (scene->marks, GantryMark, k);

          g_assert_false (is_label (scene, b) && a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height);
        }
    }
  return n;
}

/* What is planned, what is measured and the limit may all be within a few bytes, at the same moment. */
static void
test_labels_apart (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  guint32 node;
  g_autoptr (GantryModule) module = make_module (context, &node);
  g_autoptr (GantryPlan) plan = make_plan (node, FALSE, 64 * MIB);
  g_autoptr (GantryScene) scene = gantry_scene_new (800, 200);

  for (guint64 bytes = 32 * MIB; bytes <= 96 * MIB; bytes += 2 * MIB)
    for (guint64 limit = 0; limit <= 96 * MIB; limit += 4 * MIB)
      for (gint64 end = 200000; end <= 400000; end += 50000)
        {
          g_autoptr (GantryRunResult) run = gantry_run_result_new ();
          GantryRecordingBuilder *builder = gantry_recording_builder_new ();
          const GantryRecordedRun recorded = { 0, end, bytes };
          const GantryTimeState state = { NULL, -1, limit };
          const GantryTimeView view = { 0, 400000 };
          g_autoptr (GantryTimeModel) model = NULL;

          gantry_recording_builder_add_run (builder, &recorded);
          gantry_recording_builder_add_memory (builder, &(GantryMemoryEvent){ .time = end - 100000, .bytes = bytes, .buffer = GANTRY_NO_BUFFER, .node = node });
          run->plan = gantry_plan_ref (plan);
          run->peak_bytes = bytes;
          run->recording = gantry_recording_builder_end (builder);
          model = gantry_time_model_new (module, plan, run, 0);
          gantry_scene_clear (scene, 800, 200);
          gantry_paint_memory (scene, model, &view, &state, gantry_theme_get (FALSE));
          g_assert_cmpuint (assert_labels_apart (scene), >=, 2);
        }
}

/* Two runs that the host was slow to launch: 3 ms of which the GPU worked 1.5, and 1.6 ms of which it worked 0.5. */
static GantryRunResult *
make_launched (GantryPlan *plan, guint32 node, const char *arch)
{
  static const gint64 ends[] = { 3000000, 1600000 }, works[] = { 1500000, 500000 };
  GantryRunResult *run = gantry_run_result_new ();
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      gint64 begin = 5000000 * (gint64) i, end = begin + ends[i];

      gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ begin, end, 0 });
      gantry_recording_builder_add (
        builder, &(GantryEvent){ .begin = end - works[i], .end = end, .node = node, .lane = GANTRY_QUEUE_COMPUTE, .kind = GANTRY_EVENT_KERNEL });
    }
  run->plan = gantry_plan_ref (plan);
  run->recording = gantry_recording_builder_end (builder);
  run->arch = g_strdup (arch);
  run->milliseconds = 1.5;
  run->peak_bytes = MIB;
  return run;
}

/* Times of a GPU are told by its clock, others by the host's; and no curve of what nobody saw changing. */
static void
test_launched (void)
{
  static const struct
  {
    const char *arch;
    guint typical;
    double first;
    guint n_launch;
  } cases[] = {
    { "sm_90a", 0, 1.5, 2 },
    { "grid", 1, 3, 0 },
    { "", 1, 3, 0 },
    { NULL, 1, 3, 0 },
  };
  g_autoptr (GantryContext) context = gantry_context_new ();
  guint32 node;
  g_autoptr (GantryModule) module = make_module (context, &node);
  g_autoptr (GantryPlan) plan = make_plan (node, FALSE, 4 * MIB);
  const GantryTimeView view = { 0, 400000 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryRunResult) run = make_launched (plan, node, cases[i].arch);
      g_autoptr (GArray) launch = g_array_new (FALSE, FALSE, sizeof (double)), times = gantry_run_result_get_times (run, launch);
      g_autoptr (GantryTimeModel) model = gantry_time_model_new (module, plan, run, 0);
      g_autoptr (GantryScene) scene = gantry_scene_new (800, 200);

      g_assert_cmpuint (gantry_time_typical_run (run), ==, cases[i].typical);
      g_assert_cmpuint (times->len, ==, 2);
      g_assert_cmpfloat_with_epsilon (g_array_index (times, double, 0), cases[i].first, 1e-9);
      g_assert_cmpuint (launch->len, ==, cases[i].n_launch);
      gantry_paint_memory (scene, model, &view, NULL, gantry_theme_get (FALSE));
      for (guint k = 0; k < scene->marks->len; k++)
        {
          const GantryMark *mark = &g_array_index (scene->marks, GantryMark, k);

          g_assert_false (mark->kind == GANTRY_MARK_TEXT && g_str_has_prefix (gantry_scene_mark_text (scene, mark), "touched peak"));
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/drawing/time/edit", test_edit);
  g_test_add_func ("/drawing/time/nothing", test_nothing);
  g_test_add_func ("/drawing/time/peak", test_peak);
  g_test_add_func ("/drawing/time/one-of-several", test_one_of_several);
  g_test_add_func ("/drawing/time/between-runs", test_between_runs);
  g_test_add_func ("/drawing/time/dense-ends", test_dense_ends);
  g_test_add_func ("/drawing/time/labels-apart", test_labels_apart);
  g_test_add_func ("/drawing/time/launched", test_launched);
  return g_test_run ();
}
