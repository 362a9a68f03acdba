/* SPDX-License-Identifier: Apache-2.0 */
/* What the painters of lanes and memory share: the model and the axis. */
#pragma once
#include "drawing/painters.h"

G_BEGIN_DECLS

#define GANTRY_AXIS_LEFT 92.0f
#define GANTRY_AXIS_RIGHT 14.0f
#define GANTRY_AXIS_TOP 22.0f /* height of the tick labels */

/** How often and how long a node took a queue in a run. */
typedef struct
{
  guint n;
  gint64 ns;
} GantryTimeTotal;

typedef struct _GantryTimeFacts GantryTimeFacts;

struct _GantryTimeModel
{
  gatomicrefcount ref_count;
  GantryModule *module;
  GantryPlan *plan;
  GantryRecording *planned;    /* from time 0 */
  GantryRunResult *run;        /* (nullable) */
  gint64 run_begin, run_end;   /* of the run shown, in the recording's time */
  gint64 shown_from, shown_to; /* likewise: what begins from then on and before then is of this run */
  gint64 length;
  gint64 *step_begin; /* planned ns of each step that is no init step, and the end: n + 1 */
  guint32 n_steps;    /* of those */
  gint64 *again;      /* when steps that compute something again begin, ascending */
  guint32 n_again;
  GantryPlan *before; /* (nullable): before the last edit */
  gint64 *before_begin;
  guint32 n_before;
  guint64 most_bytes;                /* of planned and measured curve */
  GantryTimeFacts *of_plan, *of_run; /* the latter (nullable) */
  gboolean folded;                   /* what is not a queue is not shown */
  guint n_lanes;                     /* that are shown: those with something in them */
  guint8 lanes[GANTRY_MAX_LANES];    /* of each the lane of the recording: queues, then what else was measured */
};

/** Of events that begin from @begin on and before @end. */
GantryTimeFacts *_gantry_time_facts_new (const GantryRecording *recording, gint64 begin, gint64 end);
void _gantry_time_facts_free (GantryTimeFacts *facts);
const GantryTimeTotal *_gantry_time_facts_total (const GantryTimeFacts *facts, guint32 node, guint lane); /* (nullable) */
/** Who waited for @event to be done, and how long: a node, 0: nobody. */
guint32 _gantry_time_facts_waiter (const GantryTimeFacts *facts, const GantryRecording *recording, const GantryEvent *event, gint64 *ns);
/** Curves of counters below the lanes. */
float _gantry_time_counters_height (const GantryTimeModel *model);
void _gantry_paint_time_counters (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, float top);
const char *_gantry_time_counter_name (const GantryTimeModel *model, float y); /* (nullable) */
/** One line for the curve at @y points below the first. (transfer full) (nullable) */
char *_gantry_time_counter_at (const GantryTimeModel *model, gint64 time, float y);
/** Points from the left of the picture for a time from 0. */
float _gantry_time_to_x (const GantryTimeView *view, float width, gint64 time);
gint64 _gantry_x_to_time (const GantryTimeView *view, float width, float x);
/** Vertical lines and labels of round times. */
void _gantry_paint_time_grid (GantryScene *scene, const GantryTimeView *view, gboolean labels);
/** "1.25 ms" (transfer full) */
char *_gantry_time_text (gint64 ns);
/** The step that the plan is in at a time. */
guint32 _gantry_time_step_at (const GantryTimeModel *model, gint64 time);
/** TRUE for the planned event of a step that computes something again. */
gboolean _gantry_time_is_again (const GantryTimeModel *model, const GantryEvent *event);
/** The last of @n ascending times that is not after @time. */
guint32 _gantry_time_search (const gint64 *begin, guint32 n, gint64 time);
/** A step that is as round as can be and of which at most @most fit into @range. */
double _gantry_round_step (double range, guint most, double base);

G_END_DECLS
