/* SPDX-License-Identifier: Apache-2.0 */
/* drawing: what is seen, as display lists; no GTK. Layout (layout/), pictures made on worker threads, painters that
 * are pure functions (scene, view, model, theme), and the writers of SVG, PNG and DOT. Views and gantry-cli
 * both draw through it. */
#pragma once
#include "core/document/document.h"
#include "drawing/graph-picture.h"
#include "drawing/scene.h"

G_BEGIN_DECLS

/* Graph */

/** The part of the picture that is seen: picture point = (scene point) / scale + (x, y). */
typedef struct
{
  float x, y;
  float scale;
} GantryGraphView;

/** A value that is computed again: shown as a ghost at the node before which that happens. */
typedef struct
{
  guint32 node; /* computed again */
  guint32 user; /* node that runs next */
} GantryGraphGhost;

/** From the steps of a plan or of a prediction. Returns: (transfer full) (element-type GantryGraphGhost): in the order of @steps */
GArray *gantry_graph_ghosts_new (const GantryPlanStep *steps, guint n_steps);

/** Each set holds node ids (GUINT_TO_POINTER) and may be NULL. */
typedef struct
{
  GHashTable *selected;
  GHashTable *matches;
  GHashTable *made;    /* by the pass: marked */
  GHashTable *removed; /* by the pass */
  gboolean labels;     /* types on edges */
  /** (nullable): saved values are drawn as they are placed: kept solid, recomputed dashed, offloaded doubled; and a letter
   *  on the node that makes them */
  const GantryPlacements *placements;
  const GArray *ghosts; /* (nullable) (element-type GantryGraphGhost) */
} GantryGraphState;

/**
 * gantry_paint_graph:
 * @scene: cleared to the size of what is seen; what does not fit into its budget is left out and said
 * @state: (nullable): NULL: nothing is selected or marked, edges have labels
 *
 * Paints what of the picture lies in sight. The cost follows what is seen, not the picture.
 */
void gantry_paint_graph (GantryScene *scene, const GantryGraphPicture *picture, const GantryGraphView *view, const GantryGraphState *state,
                         const GantryTheme *theme);
/** Hover, painted over a cached scene. */
void gantry_paint_graph_hover (GantryScene *scene, const GantryGraphPicture *picture, const GantryGraphView *view, guint32 box, const GantryTheme *theme);
/** The whole picture small, with the frame of what @view shows in a window of the given size. */
void gantry_paint_minimap (GantryScene *scene, const GantryGraphPicture *picture, const GantryGraphView *view, float view_width, float view_height,
                           const GantryTheme *theme);

/* Time: one axis for lanes and memory curve */

/** What both are painted from; planned is made from a plan, measured may be NULL. Immutable. */
typedef struct _GantryTimeModel GantryTimeModel;
/** @run: (nullable): index of the measured run shown is @index. Worker thread. */
GantryTimeModel *gantry_time_model_new (GantryModule *module, GantryPlan *plan, GantryRunResult *run, guint index);
/** Which of the measured runs to show: the one whose time is the median, because that is the time that is reported. @run: with a recording */
guint gantry_time_typical_run (const GantryRunResult *run);
/** Before the model is shared: the curve of the plan before the last edit, to be painted pale behind the new one. */
void gantry_time_model_set_before (GantryTimeModel *model, GantryPlan *before);
/** Before the model is shared: lanes that are no queues (calls, ranges, streams of another program), and counters, are left out. */
void gantry_time_model_set_folded (GantryTimeModel *model, gboolean folded);
/** Whether there is anything that folding leaves out, beside queues that have something. */
gboolean gantry_time_model_can_fold (const GantryTimeModel *model);
GantryTimeModel *gantry_time_model_ref (GantryTimeModel *model);
void gantry_time_model_unref (GantryTimeModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryTimeModel, gantry_time_model_unref)
/** Nanoseconds from 0 that hold all of plan and measurement. */
gint64 gantry_time_model_length (const GantryTimeModel *model);

/** From the first begin to the last end of what is done for @nodes, planned and, of what there is no plan of, measured. Returns:
 *  FALSE when it is nothing */
gboolean gantry_time_model_extent (const GantryTimeModel *model, GHashTable *nodes, gint64 *begin, gint64 *end);

typedef struct
{
  gint64 t0, t1; /* ns shown */
} GantryTimeView;

typedef struct
{
  GHashTable *selected;   /* node ids */
  gint64 cursor;          /* ns, -1: none */
  guint64 limit;          /* bytes of device memory, 0: none */
  const char *difference; /* (nullable): in what way the run is not of the plan; of one that only did something else it is known without */
} GantryTimeState;

/**
 * gantry_paint_timeline:
 * @scene: cleared to the size of what is seen
 * @state: (nullable): nothing is selected, no cursor
 *
 * Paints the lanes. The cost follows the pixels: what is too short for one is shown as the share of it that was busy.
 */
void
gantry_paint_timeline (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, const GantryTimeState *state, const GantryTheme *theme);

/**
 * gantry_paint_memory:
 * @scene: cleared to the size of what is seen
 * @state: (nullable): no cursor and no limit
 *
 * Paints bytes of device memory over time, planned and, where they are known, measured, with limit and peaks.
 */
void gantry_paint_memory (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, const GantryTimeState *state, const GantryTheme *theme);
/** What gantry_paint_memory() writes beside limit and peaks, on ground of its own: once more over what is drawn on that picture. */
void gantry_paint_memory_labels (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, const GantryTimeState *state);
/** Height in points that the lanes want. */
float gantry_timeline_height (const GantryTimeModel *model);
/** Points from the left that lane names take; the axis begins there in both. */
float gantry_time_axis_left (void);
/** Points from the top of the lanes that the times of the axis take. */
float gantry_time_axis_top (void);
/** The time, in ns, at @x points from the left of a picture of @width points. */
gint64 gantry_time_at (const GantryTimeView *view, float width, float x);

typedef struct
{
  guint32 node;
  gboolean measured;
  gint64 begin, end;
  guint64 bytes;
  char *text; /* (transfer full): some lines that tell it */
} GantryTimeHit;
void gantry_time_hit_clear (GantryTimeHit *hit);
/** Returns: FALSE when nothing is there. */
gboolean gantry_timeline_pick (const GantryTimeModel *model, const GantryTimeView *view, float width, float height, float x, float y, GantryTimeHit *hit);
/** Name in full of the lane at @y. (transfer none) (nullable) */
const char *gantry_timeline_lane_name (const GantryTimeModel *model, float y);
/** FALSE where neither plan nor run has used memory. */
gboolean gantry_time_model_has_memory (const GantryTimeModel *model);
/** Whether the lanes show a run, and whether its memory was recorded. */
gboolean gantry_time_model_has_run (const GantryTimeModel *model);
/** FALSE where no run is shown, and for a run whose memory was not recorded. */
gboolean gantry_time_model_has_measured_memory (const GantryTimeModel *model);
/** What is alive at a time: plan step and bytes, planned and measured; one line. @limit: bytes, 0: none. (transfer full) */
char *gantry_memory_pick (const GantryTimeModel *model, const GantryTimeView *view, float width, float x, guint64 limit, guint32 *step);

/* Memory against time: ways to place a program compared */

typedef enum
{
  GANTRY_POINT_VARIANT, /* named by the user */
  GANTRY_POINT_FRONT,   /* found by the solver: joined by a line */
  GANTRY_POINT_NOW,     /* as things are placed now */
} GantryPointKind;

typedef struct
{
  guint64 bytes;
  double us;
  GantryPointKind kind;
  const char *label; /* (nullable) */
} GantryScatterPoint;

/** @n: 0: that is said. @selected: index of a point, or G_MAXUINT. @limit: bytes, 0: none */
void gantry_paint_scatter (GantryScene *scene, const GantryScatterPoint *points, guint n, guint selected, guint64 limit, const GantryTheme *theme);
/** Returns: index of the point at a place of a picture of that size, or G_MAXUINT */
guint gantry_scatter_pick (const GantryScatterPoint *points, guint n, guint64 limit, float width, float height, float x, float y);

/* Files */

/** @scale: pixels a point. The format follows the ending of @path: .svg or .png. @read: (nullable): as gantry_output_new() */
gboolean gantry_scene_write (const GantryScene *scene, const GantryTheme *theme, const char *path, double scale, GantryReadFiles *read, GError **error);
/** The picture as DOT through cgraph, with positions, for other tools. @read: (nullable): as gantry_output_new() */
gboolean gantry_graph_picture_write_dot (const GantryGraphPicture *picture, const char *path, GantryReadFiles *read, GError **error);

G_END_DECLS
