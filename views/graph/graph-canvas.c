/* SPDX-License-Identifier: Apache-2.0 */
/* The canvas as an object: which picture it has, how it asks for another, and what is selected in it. */
#include "views/graph/graph-canvas-private.h"
#include "views/theme-of.h"

G_DEFINE_FINAL_TYPE (GantryGraphCanvas, gantry_graph_canvas, GTK_TYPE_WIDGET)

enum
{
  FOLDS_CHANGED,
  PICTURE_CHANGED,
  PLACE,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

/* Pictures */

typedef struct
{
  GantryModule *module;
  GHashTable *folded;
  GantryGraphPicture *previous;
  guint generation;
} Request;

static void
request_free (gpointer data)
{
  Request *request = data;

  gantry_module_unref (request->module);
  g_clear_pointer (&request->folded, g_hash_table_unref);
  gantry_graph_picture_unref (request->previous);
  g_free (request);
}

static void
make_picture (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  GantryProgress progress = { .cancellable = cancellable };
  GantryGraphOptions options = { .folded = request->folded, .previous = request->previous };
  GError *error = NULL;
  GantryGraphPicture *picture = gantry_graph_picture_new (request->module, &options, &progress, &error);

  if (picture != NULL)
    g_task_return_pointer (task, picture, (GDestroyNotify) gantry_graph_picture_unref);
  else
    g_task_return_error (task, error);
}

static void
picture_made (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GantryGraphCanvas *self = GANTRY_GRAPH_CANVAS (source);
  const Request *request = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryGraphPicture) picture = g_task_propagate_pointer (G_TASK (result), &error);
  gboolean other_kind;

  if (request->generation != self->generation)
    return; /* an answer to an old question */
  self->busy = FALSE;
  g_clear_error (&self->error);
  if (picture == NULL)
    self->error = g_steal_pointer (&error);
  /* Nothing of a picture in one column has its place in a mirror. */
  other_kind = self->picture != NULL && picture != NULL && gantry_graph_picture_is_mirrored (self->picture) != gantry_graph_picture_is_mirrored (picture);
  g_clear_pointer (&self->picture, gantry_graph_picture_unref);
  self->picture = g_steal_pointer (&picture);
  self->hover = GANTRY_NO_BOX;
  if (self->picture != NULL && (!self->view_chosen || other_kind))
    _gantry_graph_canvas_choose_view (self);
  else if (self->picture != NULL)
    _gantry_graph_canvas_restore_anchor (self);
  if (self->picture != NULL && self->fit_when_ready)
    gantry_graph_canvas_fit (self);
  self->fit_when_ready = FALSE;
  _gantry_graph_canvas_invalidate (self);
  if (self->show_when_ready != 0 && self->picture != NULL)
    gantry_graph_canvas_show_node (self, self->show_when_ready, FALSE);
  self->show_when_ready = 0;
  g_signal_emit (self, signals[PICTURE_CHANGED], 0);
}

static void
stop_request (GantryGraphCanvas *self)
{
  self->generation++;
  self->busy = FALSE;
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
}

void
_gantry_graph_canvas_request (GantryGraphCanvas *self)
{
  g_autoptr (GTask) task = NULL;
  Request *request;

  stop_request (self);
  if (self->compilation == NULL)
    return;
  self->cancellable = g_cancellable_new ();
  request = g_new0 (Request, 1);
  request->module = gantry_module_ref (self->compilation->snapshots[self->index].module);
  request->folded = self->folded != NULL ? g_hash_table_ref (self->folded) : NULL;
  request->previous = self->picture != NULL ? gantry_graph_picture_ref (self->picture) : NULL;
  request->generation = self->generation;
  /* The picture of another model says nothing about this one, and its node ids mean other nodes. */
  if (request->previous != NULL && gantry_graph_picture_module (request->previous)->context != request->module->context)
    g_clear_pointer (&request->previous, gantry_graph_picture_unref);
  self->busy = TRUE;
  task = g_task_new (self, self->cancellable, picture_made, NULL);
  g_task_set_source_tag (task, _gantry_graph_canvas_request);
  g_task_set_task_data (task, request, request_free);
  g_task_run_in_thread (task, make_picture);
}

void
_gantry_graph_canvas_invalidate (GantryGraphCanvas *self)
{
  g_clear_pointer (&self->cached, gsk_render_node_unref);
  g_clear_pointer (&self->minimap, gsk_render_node_unref);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
compute_marked (GantryGraphCanvas *self)
{
  g_clear_pointer (&self->marked, g_hash_table_unref);
  if (self->compilation == NULL || self->side == GANTRY_CANVAS_PLAIN)
    return;
  if (self->side == GANTRY_CANVAS_AFTER)
    self->marked = gantry_compilation_changes (self->compilation, self->index, FALSE);
  else if (self->index + 1 < self->compilation->n_snapshots)
    self->marked = gantry_compilation_changes (self->compilation, self->index + 1, TRUE);
}

#define CANDIDATES 12

typedef struct
{
  float distance;
  guint32 node;
} Candidate;

/* The nodes nearest to the middle of the view, nearest first; the selected one before all if it is seen. */
static guint
find_candidates (GantryGraphCanvas *self, Candidate *best)
{
  const GantryLayout *layout = gantry_graph_picture_layout (self->picture);
  guint32 primary = _gantry_graph_canvas_primary_box (self);
  float width = (float) gtk_widget_get_width (GTK_WIDGET (self)) / self->view.scale;
  float height = (float) gtk_widget_get_height (GTK_WIDGET (self)) / self->view.scale;
  guint n = 0;

  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      float dx = layout->node[i].x + layout->node[i].width / 2 - self->view.x - width / 2;
      float dy = layout->node[i].y + layout->node[i].height / 2 - self->view.y - height / 2;
      Candidate candidate = { dx * dx + dy * dy, gantry_graph_picture_box_node (self->picture, i) };
      guint at;

      if (i == primary && ABS (dx) < width / 2 && ABS (dy) < height / 2)
        candidate.distance = -1;
      if (candidate.node == 0 || (n == CANDIDATES && candidate.distance >= best[n - 1].distance))
        continue;
      if (n < CANDIDATES)
        n++;
      for (at = n - 1; at > 0 && best[at - 1].distance > candidate.distance; at--)
        best[at] = best[at - 1];
      best[at] = candidate;
    }
  return n;
}

/* The node of the snapshot to come that @node of the one shown becomes, or 0. */
static guint32
successor (GantryGraphCanvas *self, guint32 node, GantryCompilation *compilation, guint index)
{
  g_autoptr (GArray) ids = NULL;

  if (compilation != self->compilation || index == self->index)
    return gantry_module_node (compilation->snapshots[index].module, node) != NULL ? node : 0;
  ids = gantry_compilation_follow (compilation, self->index, node, index);
  for (guint i = ids->len; i-- > 0;)
    {
      const GantryModule *module = compilation->snapshots[index].module;
      const GantryNode *found = gantry_module_node (module, g_array_index (ids, guint32, i));

      /* What a fusion holds has no box here. */
      if (found != NULL && gantry_module_function_of (module, found) == gantry_module_entry (module))
        return found->id;
    }
  return 0;
}

/* Something in the middle of the view, to stay there while the picture of @index takes the place of the one shown. */
void
_gantry_graph_canvas_keep_middle (GantryGraphCanvas *self, GantryCompilation *compilation, guint index)
{
  Candidate best[CANDIDATES];
  guint n;

  self->anchor = (GantryCanvasAnchor){ 0 };
  if (self->picture == NULL || gtk_widget_get_width (GTK_WIDGET (self)) <= 0)
    return;
  n = find_candidates (self, best);
  for (guint i = 0; i < n; i++)
    {
      guint32 node = successor (self, best[i].node, compilation, index);

      if (node == 0)
        continue;
      _gantry_graph_canvas_keep_anchor (self, best[i].node, 0);
      self->anchor.node = node;
      return;
    }
}

void
gantry_graph_canvas_open_beside (GantryGraphCanvas *self, GantryGraphCanvas *other, int width)
{
  float before = (float) gtk_widget_get_width (GTK_WIDGET (other));

  g_return_if_fail (GANTRY_IS_GRAPH_CANVAS (self) && GANTRY_IS_GRAPH_CANVAS (other));
  self->view = other->view;
  self->view.x += (before - (float) width) / 2 / self->view.scale;
  self->view_chosen = TRUE;
  _gantry_graph_canvas_keep_middle (other, self->compilation, self->index);
  self->anchor = other->anchor;
  self->anchor.x -= (before - (float) width) / 2;
  other->anchor = (GantryCanvasAnchor){ 0 };
}

void
gantry_graph_canvas_set_snapshot (GantryGraphCanvas *self, GantryCompilation *compilation, guint index, GantryCanvasSide side)
{
  GantryModule *before = gantry_graph_canvas_get_module (self);
  GantryModule *module = compilation != NULL ? compilation->snapshots[index].module : NULL;
  gboolean same_model = before != NULL && module != NULL && before->context == module->context;

  g_return_if_fail (GANTRY_IS_GRAPH_CANVAS (self));
  g_return_if_fail (compilation == NULL || index < compilation->n_snapshots);
  if (self->compilation == compilation && self->index == index && self->side == side)
    return;
  if (same_model && before != module)
    _gantry_graph_canvas_keep_middle (self, compilation, index);
  if (compilation != NULL)
    gantry_compilation_ref (compilation);
  g_clear_pointer (&self->compilation, gantry_compilation_unref);
  self->compilation = compilation;
  self->index = index;
  self->side = side;
  compute_marked (self);
  if (!same_model)
    {
      stop_request (self);
      g_clear_pointer (&self->picture, gantry_graph_picture_unref);
      g_clear_error (&self->error);
      g_clear_pointer (&self->folded, g_hash_table_unref);
      self->view_chosen = FALSE;
      self->hover = GANTRY_NO_BOX;
      self->anchor = (GantryCanvasAnchor){ 0 };
    }
  /* Several passes may hand on one module: then the picture is the one that is there. */
  if (module != before || self->picture == NULL)
    _gantry_graph_canvas_request (self);
  _gantry_graph_canvas_invalidate (self);
}

/* Selection */

guint32
_gantry_graph_canvas_primary_box (GantryGraphCanvas *self)
{
  guint32 primary = gantry_selection_primary (self->selection);
  GHashTable *here;
  GHashTableIter iter;
  gpointer key;

  if (self->picture == NULL || self->compilation == NULL)
    return GANTRY_NO_BOX;
  here = gantry_selection_in (self->selection, self->index);
  if (primary != 0 && g_hash_table_contains (here, GUINT_TO_POINTER (primary)))
    {
      guint32 box = gantry_graph_picture_box_of (self->picture, primary);

      if (box != GANTRY_NO_BOX)
        return box;
    }
  g_hash_table_iter_init (&iter, here);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      guint32 box = gantry_graph_picture_box_of (self->picture, GPOINTER_TO_UINT (key));

      if (box != GANTRY_NO_BOX)
        return box;
    }
  return GANTRY_NO_BOX;
}

void
_gantry_graph_canvas_select_box (GantryGraphCanvas *self, guint32 box, gboolean toggle)
{
  g_autoptr (GArray) nodes = gantry_graph_picture_box_nodes (self->picture, box);
  const guint32 *ids = (const guint32 *) (gpointer) nodes->data;

  self->focused_selection = FALSE;
  self->selecting = TRUE;
  if (toggle)
    gantry_selection_toggle (self->selection, self->index, ids, nodes->len);
  else
    gantry_selection_set (self->selection, self->index, ids, nodes->len);
  self->selecting = FALSE;
}

static void
selection_changed (GantryGraphCanvas *self)
{
  guint32 box = _gantry_graph_canvas_primary_box (self);
  g_autofree char *text = NULL;

  self->focused_selection = FALSE;
  _gantry_graph_canvas_invalidate (self);
  if (self->picture == NULL)
    return;
  /* What is selected elsewhere comes into view; what is selected here is in view. */
  if (!self->selecting)
    gantry_graph_canvas_reveal_selection (self);
  text = box != GANTRY_NO_BOX ? _gantry_graph_canvas_describe (self, box) : g_strdup ("Graph, nothing selected");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

gboolean
gantry_graph_canvas_walk (GantryGraphCanvas *self, GantryWalk direction)
{
  guint32 box = _gantry_graph_canvas_primary_box (self), next;
  GantryLayoutBox rect;

  if (self->picture == NULL || gantry_graph_picture_n_boxes (self->picture) == 0)
    return FALSE;
  next = box == GANTRY_NO_BOX ? 0 : gantry_graph_picture_walk (self->picture, box, direction);
  if (next == GANTRY_NO_BOX)
    return FALSE;
  _gantry_graph_canvas_select_box (self, next, FALSE);
  gantry_graph_picture_box_rect (self->picture, next, &rect);
  _gantry_graph_canvas_show_rect (self, &rect);
  return TRUE;
}

void
gantry_graph_canvas_show_node (GantryGraphCanvas *self, guint32 node, gboolean select)
{
  GantryLayoutBox rect;
  guint32 box;

  if (select)
    gantry_selection_set (self->selection, self->index, &node, 1);
  if (self->picture == NULL || self->busy)
    {
      self->show_when_ready = node;
      return;
    }
  box = gantry_graph_picture_box_of (self->picture, node);
  if (box == GANTRY_NO_BOX)
    return;
  gantry_graph_picture_box_rect (self->picture, box, &rect);
  _gantry_graph_canvas_show_rect (self, &rect);
}

void
gantry_graph_canvas_reveal_selection (GantryGraphCanvas *self)
{
  guint32 box = _gantry_graph_canvas_primary_box (self);
  GantryLayoutBox rect;

  if (box == GANTRY_NO_BOX)
    return;
  gantry_graph_picture_box_rect (self->picture, box, &rect);
  _gantry_graph_canvas_show_rect (self, &rect);
}

void
gantry_graph_canvas_set_placements (GantryGraphCanvas *self, GantryPlacements *placements, GArray *ghosts)
{
  if (placements != NULL)
    gantry_placements_ref (placements);
  if (ghosts != NULL)
    g_array_ref (ghosts);
  g_clear_pointer (&self->placements, gantry_placements_unref);
  g_clear_pointer (&self->ghosts, g_array_unref);
  self->placements = placements;
  self->ghosts = ghosts;
  _gantry_graph_canvas_invalidate (self);
}

void
_gantry_graph_canvas_ask_place (GantryGraphCanvas *self, int kind, GantryReach reach)
{
  g_signal_emit (self, signals[PLACE], 0, kind, (int) reach);
}

void
gantry_graph_canvas_set_matches (GantryGraphCanvas *self, GHashTable *matches)
{
  if (matches != NULL)
    g_hash_table_ref (matches);
  g_clear_pointer (&self->matches, g_hash_table_unref);
  self->matches = matches;
  _gantry_graph_canvas_invalidate (self);
}

/* Reading */

guint
gantry_graph_canvas_get_snapshot (GantryGraphCanvas *self)
{
  return self->index;
}

GantryModule *
gantry_graph_canvas_get_module (GantryGraphCanvas *self)
{
  return self->compilation != NULL ? self->compilation->snapshots[self->index].module : NULL;
}

GantryGraphPicture *
gantry_graph_canvas_get_picture (GantryGraphCanvas *self)
{
  return self->picture;
}

const GError *
gantry_graph_canvas_get_error (GantryGraphCanvas *self)
{
  return self->error;
}

gboolean
gantry_graph_canvas_is_busy (GantryGraphCanvas *self)
{
  return self->busy;
}

guint
gantry_graph_canvas_n_clipped (GantryGraphCanvas *self)
{
  return self->n_clipped;
}

guint
gantry_graph_canvas_n_marks (GantryGraphCanvas *self)
{
  return self->n_marks;
}

/* The object */

static void
gantry_graph_canvas_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline,
                             int *natural_baseline)
{
  *minimum = 120;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 480 : 360;
}

static void
gantry_graph_canvas_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  GantryGraphCanvas *self = GANTRY_GRAPH_CANVAS (widget);

  if (self->picture != NULL && !self->view_chosen && width > 1)
    _gantry_graph_canvas_choose_view (self);
  else if (self->width > 0 && width != self->width)
    self->view.x += (float) (self->width - width) / 2 / self->view.scale; /* the middle stays in the middle */
  self->width = width;
  g_clear_pointer (&self->cached, gsk_render_node_unref);
  g_clear_pointer (&self->minimap, gsk_render_node_unref);
}

static void
gantry_graph_canvas_dispose (GObject *object)
{
  GantryGraphCanvas *self = GANTRY_GRAPH_CANVAS (object);

  stop_request (self);
  if (self->selection != NULL)
    g_signal_handlers_disconnect_by_data (self->selection, self);
  g_clear_object (&self->selection);
  g_clear_pointer (&self->cached, gsk_render_node_unref);
  g_clear_pointer (&self->minimap, gsk_render_node_unref);
  g_clear_pointer (&self->pen, gantry_pen_free);
  G_OBJECT_CLASS (gantry_graph_canvas_parent_class)->dispose (object);
}

static void
gantry_graph_canvas_finalize (GObject *object)
{
  GantryGraphCanvas *self = GANTRY_GRAPH_CANVAS (object);

  g_clear_pointer (&self->compilation, gantry_compilation_unref);
  g_clear_pointer (&self->picture, gantry_graph_picture_unref);
  g_clear_pointer (&self->marked, g_hash_table_unref);
  g_clear_pointer (&self->folded, g_hash_table_unref);
  g_clear_pointer (&self->matches, g_hash_table_unref);
  g_clear_pointer (&self->placements, gantry_placements_unref);
  g_clear_pointer (&self->ghosts, g_array_unref);
  g_clear_pointer (&self->scene, gantry_scene_free);
  g_clear_error (&self->error);
  G_OBJECT_CLASS (gantry_graph_canvas_parent_class)->finalize (object);
}

static void
gantry_graph_canvas_class_init (GantryGraphCanvasClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = gantry_graph_canvas_dispose;
  object_class->finalize = gantry_graph_canvas_finalize;
  widget_class->snapshot = _gantry_graph_canvas_snapshot;
  widget_class->measure = gantry_graph_canvas_measure;
  widget_class->size_allocate = gantry_graph_canvas_size_allocate;
  gtk_widget_class_set_css_name (widget_class, "graphcanvas");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  signals[FOLDS_CHANGED] = g_signal_new ("folds-changed", GANTRY_TYPE_GRAPH_CANVAS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[PICTURE_CHANGED] = g_signal_new ("picture-changed", GANTRY_TYPE_GRAPH_CANVAS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[PLACE] = g_signal_new ("place", GANTRY_TYPE_GRAPH_CANVAS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_INT, G_TYPE_INT);
}

static void
theme_changed (gpointer object)
{
  _gantry_graph_canvas_invalidate (object);
}

static void
gantry_graph_canvas_init (GantryGraphCanvas *self)
{
  self->hover = GANTRY_NO_BOX;
  self->view.scale = 1;
  self->pen = gantry_pen_new (GTK_WIDGET (self));
  self->scene = gantry_scene_new (1, 1);
  self->scene->budget = GANTRY_SCENE_BUDGET;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Graph", -1);
  _gantry_graph_canvas_add_input (self);
  gantry_theme_watch (self, theme_changed);
}

GtkWidget *
gantry_graph_canvas_new (GantrySelection *selection)
{
  GantryGraphCanvas *self = g_object_new (GANTRY_TYPE_GRAPH_CANVAS, NULL);

  self->selection = g_object_ref (selection);
  g_signal_connect_object (selection, "changed", G_CALLBACK (selection_changed), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}
