/* SPDX-License-Identifier: Apache-2.0 */
/* Puts lanes, curve and list together, and makes what they draw on a worker thread. */
#include "views/timeline/time-panel.h"
#include "views/format.h"
#include "views/notice.h"
#include "views/page-switch.h"
#include "views/shown-plan.h"
#include <math.h>
#include <string.h>

#define MOST_LANES_HEIGHT 190 /* points: more is scrolled */

struct _GantryTimePanel
{
  GtkBox parent_instance;
  GantryDocument *document;
  GantrySelection *selection;
  GantryTimeAxis *axis;
  GantryTimeCanvas *lanes, *memory;
  GantryMemorySide *side;
  GtkStack *stack;
  GtkLabel *words, *summary;
  GtkDropDown *runs;
  GtkWidget *fit, *scroller; /* of the lanes */
  GtkWidget *fold;           /* shows what is no queue */
  GtkWidget *banner;
  GantryTimeModel *model;
  GantryCompilation *compilation; /* that the model was made for */
  GantryPlan *plan;               /* likewise */
  GantryPlan *before;             /* (nullable): what was drawn before the last edit, of the same program */
  guint generation;
  gboolean busy;
  gboolean filling;
  gboolean forecast;    /* the plan is behind the prediction: that is drawn until it comes */
  GantryRunResult *run; /* (nullable): that the list of runs was filled from */
  guint64 limit;        /* that its memory was held against */
  char *difference;     /* (nullable): as gantry_shown_run_difference() last said of it */
};

G_DEFINE_FINAL_TYPE (GantryTimePanel, gantry_time_panel, GTK_TYPE_BOX)

/* The model */

typedef struct
{
  GantryCompilation *compilation;
  GantryPlan *plan;
  GantryPlan *before;   /* (nullable) */
  GantryRunResult *run; /* (nullable) */
  guint index;
  gboolean folded;
  guint generation;
} Request;

static void
request_free (gpointer data)
{
  Request *request = data;

  gantry_compilation_unref (request->compilation);
  gantry_run_result_unref (request->run);
  gantry_plan_unref (request->plan);
  gantry_plan_unref (request->before);
  g_free (request);
}

static void
make_model (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  GantryTimeModel *model = gantry_time_model_new (gantry_compilation_module (request->compilation), request->plan, request->run, request->index);

  if (request->before != NULL && request->before != request->plan)
    gantry_time_model_set_before (model, request->before);
  if (request->folded && gantry_time_model_can_fold (model))
    gantry_time_model_set_folded (model, TRUE);
  g_task_return_pointer (task, model, (GDestroyNotify) gantry_time_model_unref);
}

/* Of device memory, 0: none. */
static guint64
limit_of (GantryTimePanel *self)
{
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);

  return settings != NULL ? settings->target.memory_limit : 0;
}

/* A forecast knows how much is alive, not where: without places there is no list. */
static void
show_alive (GantryTimePanel *self, guint32 step)
{
  if (self->plan->n_buffers > 0 || self->plan->live_bytes[step] == 0)
    gantry_alive_list_set (gantry_memory_side_get_alive (self->side), self->compilation, self->plan, step, limit_of (self),
                           gantry_shown_touched (self->document));
  else
    gantry_alive_list_clear (gantry_memory_side_get_alive (self->side),
                             gantry_document_get_plan_error (self->document) != NULL
                               ? "The plan does not fit, so nothing has a place yet. The bar above the graph says what holds the peak."
                               : "Places are being found.");
}

static void
show_moment (GantryTimePanel *self)
{
  gint64 moment = gantry_time_axis_get_moment (self->axis);
  const GantryPlan *plan = self->plan;
  guint32 low, high;

  if (plan == NULL || plan->n_steps == plan->n_init_steps)
    return;
  if (moment < 0)
    {
      gantry_alive_list_clear (gantry_memory_side_get_alive (self->side), "Click in the lanes or in the memory curve to see who is alive at that moment.");
      return;
    }
  /* The last step that has begun by then. */
  low = plan->n_init_steps;
  for (high = plan->n_steps; high - low > 1;)
    {
      guint32 middle = (low + high) / 2;

      if ((gint64) (plan->steps[middle].start_us * 1000) <= moment)
        low = middle;
      else
        high = middle;
    }
  show_alive (self, low);
}

/* Where nothing is known of memory the lanes have all the room. */
static void
show_memory (GantryTimePanel *self, gboolean known)
{
  gtk_widget_set_visible (GTK_WIDGET (self->memory), known);
  gtk_widget_set_visible (GTK_WIDGET (self->side), known);
  gtk_widget_set_vexpand (self->scroller, !known);
}

static void
model_made (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GantryTimePanel *self = GANTRY_TIME_PANEL (source);
  const Request *request = g_task_get_task_data (G_TASK (result));
  GantryTimeModel *model = g_task_propagate_pointer (G_TASK (result), NULL);
  guint last = request->compilation->n_snapshots - 1;
  gboolean same_plan = self->plan == request->plan;

  if (request->generation != self->generation)
    {
      gantry_time_model_unref (model);
      return;
    }
  self->busy = FALSE;
  g_clear_pointer (&self->model, gantry_time_model_unref);
  self->model = model;
  gantry_compilation_ref (request->compilation);
  g_clear_pointer (&self->compilation, gantry_compilation_unref);
  self->compilation = request->compilation;
  gantry_plan_ref (request->plan);
  g_clear_pointer (&self->plan, gantry_plan_unref);
  self->plan = request->plan;
  gtk_scrolled_window_set_min_content_height (GTK_SCROLLED_WINDOW (self->scroller), MIN ((int) gantry_timeline_height (model), MOST_LANES_HEIGHT));
  gantry_time_axis_set_length (self->axis, gantry_time_model_length (model));
  gantry_time_canvas_set_model (self->lanes, model, request->plan, last, limit_of (self));
  gantry_time_canvas_set_model (self->memory, model, request->plan, last, limit_of (self));
  if (!same_plan)
    gantry_time_panel_go_to_peak (self); /* the first question of all */
  gtk_widget_set_visible (self->fold, gantry_time_model_can_fold (model));
  show_memory (self, gantry_time_model_has_memory (model));
  gtk_stack_set_visible_child_name (self->stack, "pictures");
  gtk_widget_set_sensitive (self->fit, TRUE);
}

static void
show_words (GantryTimePanel *self, const char *words)
{
  self->generation++;
  self->busy = FALSE;
  g_clear_pointer (&self->model, gantry_time_model_unref);
  g_clear_pointer (&self->compilation, gantry_compilation_unref);
  g_clear_pointer (&self->plan, gantry_plan_unref);
  gantry_time_canvas_set_model (self->lanes, NULL, NULL, 0, 0);
  gantry_time_canvas_set_model (self->memory, NULL, NULL, 0, 0);
  gtk_label_set_text (self->words, words);
  gtk_stack_set_visible_child_name (self->stack, "words");
  gtk_widget_set_sensitive (self->fit, FALSE);
  gtk_label_set_text (self->summary, "");
}

/* Of what does not fit there is a plan to be looked at, which knows who is alive. (transfer full) */
static GantryPlan *
plan_of_forecast (GantryTimePanel *self)
{
  const GantryForecast *forecast = gantry_document_get_prediction (self->document);
  GantryPlan *refused = gantry_document_get_refused_plan (self->document);

  return gantry_plan_is_of_forecast (refused, forecast) ? gantry_plan_ref (refused) : gantry_prediction_to_plan (forecast->prediction);
}

/* Without a step there is no axis of time to draw lanes and a curve on. (transfer full) */
static char *
words_without_steps (const GantryPlan *plan)
{
  g_autofree char *parts = NULL, *peak = NULL;
  GantryMemoryParts bytes;

  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &bytes);
  parts = gantry_memory_parts_text (&bytes);
  peak = gantry_memory_peak_text (gantry_memory_parts_total (&bytes), 0, plan->sizes_known);
  return g_strdup_printf ("A run of this program has no step: nothing is computed, its results are arguments or constants. It needs "
                          "%s of device memory all the time%s%s.",
                          peak, *parts != '\0' ? ": " : "", parts);
}

static void
request_model (GantryTimePanel *self)
{
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  GantryRunResult *run = gantry_shown_run (self->document);
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GTask) task = NULL;
  g_autofree char *words = NULL;
  Request *request;

  if (compilation == NULL || (gantry_shown_plan (self->document) == NULL && !self->forecast))
    {
      show_words (self, compilation == NULL ? "Open a model to see its plan."
                                            : "There is no plan of time and memory, because this program cannot be "
                                              "compiled. The bar above the graph says why.");
      return;
    }
  plan = self->forecast ? plan_of_forecast (self) : gantry_plan_ref (gantry_shown_plan (self->document));
  if (plan->n_steps <= plan->n_init_steps && !gantry_document_is_recording (self->document)) /* which has a time of its own */
    {
      words = words_without_steps (plan);
      show_words (self, words);
      return;
    }
  request = g_new0 (Request, 1);
  request->compilation = gantry_compilation_ref (compilation);
  request->plan = g_steal_pointer (&plan);
  /* What kernels need is no difference of placements. */
  if (compilation != self->compilation || (self->before != NULL && !self->before->sizes_known != !request->plan->sizes_known))
    g_clear_pointer (&self->before, gantry_plan_unref);
  request->before = self->before != NULL ? gantry_plan_ref (self->before) : NULL;
  request->run = run != NULL && run->recording != NULL ? gantry_run_result_ref (run) : NULL;
  request->index = gtk_drop_down_get_selected (self->runs);
  if (request->index == GTK_INVALID_LIST_POSITION)
    request->index = 0;
  request->folded = !gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->fold));
  request->generation = ++self->generation;
  self->busy = TRUE;
  task = g_task_new (self, NULL, model_made, NULL);
  g_task_set_source_tag (task, request_model);
  g_task_set_task_data (task, request, request_free);
  g_task_run_in_thread (task, make_model);
}

/* Runs: a measurement holds several; one is drawn. */

/* What the run took. (transfer full) (nullable): nothing was measured of it */
static GantryMemorySummary *
summary_of (GantryTimePanel *self)
{
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  const GantryRunResult *run = self->run;

  return run != NULL && run->memory != NULL && run->plan != NULL ? gantry_memory_summary_new (
           run->plan, run->memory, compilation != NULL ? gantry_compilation_module (compilation) : NULL, gantry_shown_run_limit (self->document))
                                                                 : NULL;
}

/* What who reads the recording must know: first what is not as it should be. */
static void
show_notes (GantryTimePanel *self, const GantryMemorySummary *summary)
{
  const GantryRecording *recording = self->run != NULL ? self->run->recording : NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; summary != NULL && i < summary->warnings->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "\n" : "", (const char *) g_ptr_array_index (summary->warnings, i));
  for (guint i = 0; recording != NULL && i < gantry_recording_n_notes (recording); i++)
    g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", gantry_recording_note (recording, i));
  if (strcmp (gantry_notice_get_text (GANTRY_NOTICE (self->banner)), text->str) == 0)
    return; /* told before, and perhaps hidden since */
  gantry_notice_set_text (GANTRY_NOTICE (self->banner), text->str);
  gtk_widget_set_visible (self->banner, text->len > 0);
}

/* Where nothing that was measured is shown. */
static const char *
unmeasured_words (GantryTimePanel *self)
{
  if (gantry_document_get_prediction (self->document) == NULL && gantry_shown_plan (self->document) == NULL)
    return "";
  if (gantry_document_get_run (self->document) != NULL)
    return "planned; the run chosen is of another program";
  if (!gantry_document_fits (self->document))
    return "planned, and " GANTRY_DOES_NOT_FIT "; not measured yet";
  return gantry_document_get_runs (self->document)->len == 0 ? "planned; not measured yet"
                                                             : "planned; not measured yet, the runs so far were of another program";
}

/* What the run took, held against the limit that it is held against now: its own, once the plan is another one. */
static void
show_measured_memory (GantryTimePanel *self)
{
  g_autoptr (GantryMemorySummary) memory = summary_of (self);

  show_notes (self, memory);
  gantry_memory_side_set (self->side, memory, self->difference);
}

/* What ran, and when; and whether it is of the plan above which it lies. */
static void
show_summary (GantryTimePanel *self)
{
  g_autofree char *difference = gantry_shown_run_difference (self->document);
  const gboolean named = self->run != NULL && self->run->device != NULL && *self->run->device != '\0'; /* traces need not say it */
  g_autofree char *when = self->run != NULL ? gantry_format_when (self->run->when) : NULL, *text = NULL;

  text = self->run != NULL ? g_strdup_printf ("%s%s%s%s%s%s", named ? self->run->device : "", named ? ", " : "",
                                              g_str_has_prefix (when, GANTRY_WHEN_OF_FILE) ? "" : "measured ", when, difference != NULL ? ", " : "",
                                              difference != NULL ? difference : "")
                           : g_strdup (unmeasured_words (self));
  gtk_label_set_text (self->summary, text);
  if (g_strcmp0 (difference, self->difference) != 0) /* an edit has made another plan */
    {
      g_free (self->difference);
      self->difference = g_steal_pointer (&difference);
      gantry_time_canvas_set_difference (self->memory, self->difference);
      show_measured_memory (self);
    }
}

/* Returns: (transfer full): each recorded run with its time */
static GtkStringList *
name_runs (GantryTimePanel *self, const GantryRunResult *run)
{
  g_autoptr (GArray) launch = g_array_new (FALSE, FALSE, sizeof (double)), times = gantry_run_result_get_times (run, launch);
  GtkStringList *names = gtk_string_list_new (NULL);

  for (guint i = 0; i < times->len; i++)
    {
      g_autofree char *time = gantry_format_ns ((gint64) round (g_array_index (times, double, i) * 1e6));
      g_autofree char *name = g_strdup_printf ("run %u of %u: %s", i + 1, times->len, time);

      gtk_string_list_append (names, name);
    }
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->runs),
                               launch->len > 0 ? "Which of the measured runs is drawn. Its time is the GPU's, from its first work to its last; 0 is where "
                                                 "the host began to launch that"
                                               : "Which of the measured runs is drawn");
  return names;
}

static void
fill_runs (GantryTimePanel *self)
{
  GantryRunResult *run = gantry_shown_run (self->document);
  gboolean recorded = run != NULL && run->recording != NULL && gantry_recording_n_runs (run->recording) > 0;
  g_autoptr (GtkStringList) names = recorded ? name_runs (self, run) : gtk_string_list_new (NULL);

  if (run != NULL)
    gantry_run_result_ref (run);
  g_clear_pointer (&self->run, gantry_run_result_unref);
  self->run = run;
  self->filling = TRUE;
  gantry_notice_set_text (GANTRY_NOTICE (self->banner), ""); /* what is said of another run is news, though it be the same */
  gtk_drop_down_set_model (self->runs, G_LIST_MODEL (names));
  if (recorded)
    gtk_drop_down_set_selected (self->runs, gantry_time_typical_run (run));
  gtk_widget_set_visible (GTK_WIDGET (self->runs), recorded);
  show_summary (self);
  show_measured_memory (self);
  self->filling = FALSE;
}

static void
run_chosen (GantryTimePanel *self)
{
  if (!self->filling)
    request_model (self);
}

/* An edit: lanes and curve follow at once, places when they are packed. */
static void
prediction_changed (GantryTimePanel *self)
{
  /* The plan may have been told of first. */
  self->forecast = gantry_shows_forecast (self->document);
  if (self->forecast && self->plan != NULL && self->plan != self->before)
    {
      g_clear_pointer (&self->before, gantry_plan_unref);
      self->before = gantry_plan_ref (self->plan);
    }
  show_summary (self);
  if (self->forecast)
    request_model (self);
}

static void
plan_changed (GantryTimePanel *self)
{
  gboolean unfit = gantry_document_get_plan (self->document) == NULL && gantry_document_get_prediction (self->document) != NULL;

  show_summary (self);
  if (unfit && gantry_document_get_refused_plan (self->document) == NULL)
    return; /* the forecast says by how much */
  self->forecast = unfit;
  request_model (self);
}

static void
settings_changed (GantryTimePanel *self)
{
  guint64 limit = limit_of (self);

  gantry_time_canvas_set_limit (self->lanes, limit);
  gantry_time_canvas_set_limit (self->memory, limit);
  if (limit != self->limit)
    {
      self->limit = limit;
      show_measured_memory (self); /* which is held against it */
    }
}

static void
document_changed (GantryTimePanel *self)
{
  if (gantry_shown_run (self->document) != self->run)
    fill_runs (self);
  else
    show_summary (self);
  request_model (self);
}

/* Another program comes with its plan. */
static void
compilation_changed (GantryTimePanel *self)
{
  self->forecast = gantry_document_get_plan (self->document) == NULL && gantry_document_get_prediction (self->document) != NULL;
  document_changed (self);
}

/* Outside */

void
gantry_time_panel_go_to_peak (GantryTimePanel *self)
{
  const GantryPlan *plan = self->plan;
  gint64 t0, t1, time;

  if (plan == NULL || plan->peak_step >= plan->n_steps)
    return;
  time = (gint64) (plan->steps[plan->peak_step].start_us * 1000);
  gantry_time_axis_get (self->axis, &t0, &t1);
  if (time < t0 || time > t1)
    gantry_time_axis_set (self->axis, time - (t1 - t0) / 2, time + (t1 - t0) / 2);
  gantry_time_axis_set_moment (self->axis, time);
  /* Times are rounded to nanoseconds: the step itself is meant. */
  show_alive (self, plan->peak_step);
}

gboolean
gantry_time_panel_show_selection (GantryTimePanel *self)
{
  if (!gantry_time_canvas_show_selection (self->lanes))
    return FALSE;
  gtk_widget_grab_focus (GTK_WIDGET (self->lanes));
  return TRUE;
}

GantryTimeAxis *
gantry_time_panel_get_axis (GantryTimePanel *self)
{
  return self->axis;
}

GantryMemorySide *
gantry_time_panel_get_side (GantryTimePanel *self)
{
  return self->side;
}

GantryTimeCanvas *
gantry_time_panel_get_canvas (GantryTimePanel *self, GantryTimeKind kind)
{
  return kind == GANTRY_TIME_LANES ? self->lanes : self->memory;
}

gboolean
gantry_time_panel_is_ready (GantryTimePanel *self)
{
  return !self->busy;
}

static void
gantry_time_panel_dispose (GObject *object)
{
  GantryTimePanel *self = GANTRY_TIME_PANEL (object);

  self->generation++;
  g_clear_pointer (&self->model, gantry_time_model_unref);
  g_clear_pointer (&self->compilation, gantry_compilation_unref);
  g_clear_pointer (&self->plan, gantry_plan_unref);
  g_clear_pointer (&self->before, gantry_plan_unref);
  g_clear_pointer (&self->run, gantry_run_result_unref);
  g_clear_pointer (&self->difference, g_free);
  g_clear_object (&self->document);
  g_clear_object (&self->selection);
  g_clear_object (&self->axis);
  G_OBJECT_CLASS (gantry_time_panel_parent_class)->dispose (object);
}

static void
gantry_time_panel_class_init (GantryTimePanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_time_panel_dispose;
}

static void
gantry_time_panel_init (GantryTimePanel *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  self->axis = gantry_time_axis_new ();
}

static GtkWidget *
tool_button (const char *label, const char *tooltip, const char *action)
{
  GtkWidget *button = gtk_button_new_with_label (label);

  gtk_widget_set_tooltip_text (button, tooltip);
  gtk_widget_add_css_class (button, "flat");
  if (action != NULL)
    gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  return button;
}

static GtkWidget *
make_title (GantryTimePanel *self)
{
  GtkWidget *bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *pages = gantry_page_switch_new ();

  gtk_widget_add_css_class (bar, "pane-title");
  self->summary = GTK_LABEL (gtk_label_new (""));
  gtk_label_set_ellipsize (self->summary, PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (self->summary, 0);
  gtk_widget_set_hexpand (GTK_WIDGET (self->summary), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->summary), "dim-label");
  self->runs = GTK_DROP_DOWN (gtk_drop_down_new (NULL, NULL));
  gtk_widget_set_visible (GTK_WIDGET (self->runs), FALSE); /* until something is measured */
  self->fit = tool_button ("Fit", "Show the whole run", NULL);
  g_signal_connect_swapped (self->fit, "clicked", G_CALLBACK (gantry_time_axis_fit), self->axis);
  self->fold = gtk_toggle_button_new_with_label ("Host");
  gtk_widget_add_css_class (self->fold, "flat");
  gtk_widget_set_visible (self->fold, FALSE); /* until there is something to fold */
  gtk_widget_set_tooltip_text (self->fold, "Show calls, ranges and counters below the queues");
  g_signal_connect_swapped (self->fold, "toggled", G_CALLBACK (request_model), self);
  gtk_box_append (GTK_BOX (bar), pages);
  gtk_box_append (GTK_BOX (bar), GTK_WIDGET (self->summary));
  gtk_box_append (GTK_BOX (bar), self->fold);
  gtk_box_append (GTK_BOX (bar), GTK_WIDGET (self->runs));
  gtk_box_append (GTK_BOX (bar), tool_button ("Replan", "Plan again with the times that this run measured (Ctrl+M)", "win.replan"));
  gtk_box_append (GTK_BOX (bar), tool_button ("Peak", "Go to the peak of memory and list who is alive", "win.peak"));
  gtk_box_append (GTK_BOX (bar), self->fit);
  gtk_box_append (GTK_BOX (bar), gantry_maximize_button_new ());
  g_signal_connect_swapped (self->runs, "notify::selected", G_CALLBACK (run_chosen), self);
  return bar;
}

static void
hide_banner (GantryTimePanel *self)
{
  gtk_widget_set_visible (self->banner, FALSE);
}

static GtkWidget *
make_banner (GantryTimePanel *self)
{
  GtkWidget *close = gtk_button_new_from_icon_name ("window-close-symbolic");

  self->banner = gantry_notice_new ("");
  gantry_notice_set_most_height (GANTRY_NOTICE (self->banner), 60);
  gtk_widget_add_css_class (self->banner, "notice");
  gtk_widget_add_css_class (close, "flat");
  gtk_widget_set_tooltip_text (close, "Hide these notes");
  g_signal_connect_swapped (close, "clicked", G_CALLBACK (hide_banner), self);
  gantry_notice_add (GANTRY_NOTICE (self->banner), close);
  gtk_widget_set_visible (self->banner, FALSE);
  return self->banner;
}

static GtkWidget *
make_pictures (GantryTimePanel *self)
{
  GtkWidget *across = gtk_paned_new (GTK_ORIENTATION_HORIZONTAL), *down = gtk_paned_new (GTK_ORIENTATION_VERTICAL);
  GtkWidget *scroller = self->scroller = gtk_scrolled_window_new ();

  self->lanes = GANTRY_TIME_CANVAS (gantry_time_canvas_new (GANTRY_TIME_LANES, self->axis, self->selection));
  self->memory = GANTRY_TIME_CANVAS (gantry_time_canvas_new (GANTRY_TIME_MEMORY, self->axis, self->selection));
  self->side = GANTRY_MEMORY_SIDE (gantry_memory_side_new (self->selection));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->lanes));
  gtk_widget_set_size_request (scroller, -1, 74);
  gtk_widget_set_vexpand (GTK_WIDGET (self->memory), TRUE);
  gtk_paned_set_start_child (GTK_PANED (down), scroller);
  gtk_paned_set_end_child (GTK_PANED (down), GTK_WIDGET (self->memory));
  gtk_paned_set_resize_start_child (GTK_PANED (down), FALSE);
  gtk_paned_set_shrink_start_child (GTK_PANED (down), FALSE);
  gtk_paned_set_shrink_end_child (GTK_PANED (down), FALSE);
  gtk_paned_set_start_child (GTK_PANED (across), down);
  gtk_paned_set_end_child (GTK_PANED (across), GTK_WIDGET (self->side));
  gtk_paned_set_resize_end_child (GTK_PANED (across), FALSE);
  gtk_paned_set_shrink_start_child (GTK_PANED (across), FALSE);
  gtk_paned_set_shrink_end_child (GTK_PANED (across), FALSE);
  gtk_widget_set_vexpand (across, TRUE);
  return across;
}

GtkWidget *
gantry_time_panel_new (GantryDocument *document, GantrySelection *selection)
{
  GantryTimePanel *self = g_object_new (GANTRY_TYPE_TIME_PANEL, NULL);

  self->document = g_object_ref (document);
  self->selection = g_object_ref (selection);
  self->stack = GTK_STACK (gtk_stack_new ());
  self->words = GTK_LABEL (gtk_label_new (""));
  gtk_label_set_wrap (self->words, TRUE);
  gtk_label_set_max_width_chars (self->words, 60);
  gtk_widget_add_css_class (GTK_WIDGET (self->words), "dim-label");
  gtk_box_append (GTK_BOX (self), make_title (self));
  gtk_box_append (GTK_BOX (self), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_box_append (GTK_BOX (self), make_banner (self));
  gtk_stack_add_named (self->stack, make_pictures (self), "pictures");
  gtk_stack_add_named (self->stack, GTK_WIDGET (self->words), "words");
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->stack));
  g_signal_connect_object (self->axis, "moment-changed", G_CALLBACK (show_moment), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::compilation", G_CALLBACK (compilation_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::run", G_CALLBACK (document_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::settings", G_CALLBACK (settings_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::prediction", G_CALLBACK (prediction_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::plan", G_CALLBACK (plan_changed), self, G_CONNECT_SWAPPED);
  document_changed (self);
  return GTK_WIDGET (self);
}
