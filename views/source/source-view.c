/* SPDX-License-Identifier: Apache-2.0 */
/* A source view of GtkSourceView with a margin, tags and a caret to walk by. */
#include "views/source/source-view.h"
#include "views/code-scheme.h"
#include "views/source/source-gutter.h"
#include "views/theme-of.h"
#include <string.h>

enum
{
  LINE_CHOSEN,
  DESCRIBE_LINE,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

struct _GantrySourceView
{
  GtkBox parent_instance;
  GtkTextView *view;
  GtkTextBuffer *buffer;
  GantrySourceGutter *gutter;
  GtkWidget *headings, *heading[GANTRY_N_SOURCE_FIGURES];
  GtkTextTag *line_tag, *at_tag, *error_line_tag, *error_tag;
  char *path;        /* (nullable) */
  gboolean setting;  /* the caret is moved by the program */
  guint choose_idle; /* the caret has moved */
  guint32 wanted;    /* line that is to be in sight until the user looks elsewhere, 0: none */
  double align;      /* where in sight */
};

G_DEFINE_FINAL_TYPE (GantrySourceView, gantry_source_view, GTK_TYPE_BOX)

/* Places */

static gboolean
find_line (GantrySourceView *self, guint32 line, GtkTextIter *start, GtkTextIter *end)
{
  if (line == 0 || line > (guint32) gtk_text_buffer_get_line_count (self->buffer))
    return FALSE;
  gtk_text_buffer_get_iter_at_line (self->buffer, start, (int) line - 1);
  *end = *start;
  if (!gtk_text_iter_ends_line (end))
    gtk_text_iter_forward_to_line_end (end);
  return TRUE;
}

static gboolean
is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '.' || (c & 0x80) != 0;
}

/* From byte @column of the line to the end of the name there, at least one sign of it. */
static gboolean
find_word (GantrySourceView *self, guint32 line, guint32 column, GtkTextIter *start, GtkTextIter *end)
{
  g_autofree char *text = NULL;
  gsize length, from, to;

  if (column == 0 || !find_line (self, line, start, end))
    return FALSE;
  text = gtk_text_buffer_get_text (self->buffer, start, end, TRUE);
  length = strlen (text);
  from = column - 1;
  if (from >= length)
    return FALSE;
  while (from > 0 && (text[from] & 0xc0) == 0x80)
    from--;
  to = from;
  while (to < length && is_word (text[to]))
    to++;
  if (to == from)
    to++;
  gtk_text_iter_set_line_index (start, (int) from);
  gtk_text_iter_set_line_index (end, (int) to);
  return TRUE;
}

static void
remove_tag (GantrySourceView *self, GtkTextTag *tag)
{
  GtkTextIter start, end;

  gtk_text_buffer_get_bounds (self->buffer, &start, &end);
  gtk_text_buffer_remove_tag (self->buffer, tag, &start, &end);
}

/* By lines: how high those are that were never in sight the view does not know. */
static gboolean
is_in_sight (GantrySourceView *self, int line)
{
  GdkRectangle seen;
  GtkTextIter first, last;
  int top, bottom, y, height;

  gtk_text_view_get_visible_rect (self->view, &seen);
  gtk_text_view_get_line_at_y (self->view, &first, seen.y, &y);
  top = gtk_text_iter_get_line (&first) + (y < seen.y);
  gtk_text_view_get_line_at_y (self->view, &last, seen.y + seen.height, NULL);
  gtk_text_view_get_line_yrange (self->view, &last, &y, &height);
  bottom = gtk_text_iter_get_line (&last) - (y + height > seen.y + seen.height);
  return seen.height > 0 && line >= top && line <= bottom;
}

/* The view finds out how high its lines are little by little, and what was scrolled to moves away meanwhile: each time it knows more this
 * is done again. */
static void
keep_in_sight (GantrySourceView *self)
{
  if (self->wanted != 0 && !is_in_sight (self, (int) self->wanted - 1))
    gtk_text_view_scroll_to_mark (self->view, gtk_text_buffer_get_insert (self->buffer), 0, TRUE, 0, self->align);
}

static gboolean
look_elsewhere (GantrySourceView *self)
{
  self->wanted = 0;
  return GDK_EVENT_PROPAGATE;
}

/* The caret goes there too, so that the keyboard goes on from it. */
static void
bring_into_sight (GantrySourceView *self, guint32 line, double align)
{
  GtkTextIter start, end;

  if (!find_line (self, line, &start, &end))
    return;
  self->setting = TRUE;
  gtk_text_buffer_place_cursor (self->buffer, &start);
  self->setting = FALSE;
  self->wanted = line;
  self->align = align;
  keep_in_sight (self);
}

void
gantry_source_view_mark (GantrySourceView *self, const guint32 *lines, guint n, guint32 line, guint32 column)
{
  GtkTextIter start, end;

  remove_tag (self, self->line_tag);
  remove_tag (self, self->at_tag);
  for (guint i = 0; i < n; i++)
    if (find_line (self, lines[i], &start, &end))
      {
        gtk_text_iter_forward_char (&end); /* an empty line has its colour too */
        gtk_text_buffer_apply_tag (self->buffer, self->line_tag, &start, &end);
      }
  if (find_word (self, line, column, &start, &end))
    gtk_text_buffer_apply_tag (self->buffer, self->at_tag, &start, &end);
  bring_into_sight (self, line, 0.4);
}

void
gantry_source_view_mark_errors (GantrySourceView *self, const GantrySourceSpot *spots, guint n)
{
  GtkTextIter start, end;

  remove_tag (self, self->error_line_tag);
  remove_tag (self, self->error_tag);
  for (guint i = 0; i < n; i++)
    {
      if (!find_line (self, spots[i].line, &start, &end))
        continue;
      gtk_text_buffer_apply_tag (self->buffer, self->error_line_tag, &start, &end);
      while (!gtk_text_iter_ends_line (&start) && g_unichar_isspace (gtk_text_iter_get_char (&start)))
        gtk_text_iter_forward_char (&start);
      find_word (self, spots[i].line, spots[i].column, &start, &end);
      gtk_text_buffer_apply_tag (self->buffer, self->error_tag, &start, &end);
    }
  if (n > 0)
    bring_into_sight (self, spots[0].line, 0.4);
}

/* Text */

void
gantry_source_view_set_text (GantrySourceView *self, const GantrySourceText *text)
{
  gboolean again = text != NULL && g_strcmp0 (text->path, self->path) == 0;
  GtkSourceLanguage *language = NULL;
  GdkRectangle seen;
  GtkTextIter top;
  int line;

  gtk_text_view_get_visible_rect (self->view, &seen);
  gtk_text_view_get_line_at_y (self->view, &top, seen.y, NULL);
  line = gtk_text_iter_get_line (&top);
  if (text != NULL)
    language = gtk_source_language_manager_guess_language (gtk_source_language_manager_get_default (), text->path, NULL);
  self->setting = TRUE;
  gtk_source_buffer_set_language (GTK_SOURCE_BUFFER (self->buffer), NULL); /* of the text before */
  /* The last line feed ends a line, and begins none. */
  gtk_text_buffer_set_text (self->buffer, text != NULL ? text->text : "", text != NULL && *text->text != '\0' ? (int) strlen (text->text) - 1 : 0);
  gtk_source_buffer_set_language (GTK_SOURCE_BUFFER (self->buffer), language);
  self->setting = FALSE;
  bring_into_sight (self, again ? (guint32) line + 1 : 1, 0);
  gantry_source_gutter_set_lines (self->gutter, text != NULL ? text->n_lines : 0);
  g_free (self->path);
  self->path = text != NULL ? g_strdup (text->path) : NULL;
}

void
gantry_source_view_set_heat (GantrySourceView *self, GantrySourceHeat *heat, guint32 file)
{
  gboolean any = FALSE;

  gantry_source_gutter_set (self->gutter, heat, file);
  for (guint f = 0; f < GANTRY_N_SOURCE_FIGURES; f++)
    {
      int width = gantry_source_gutter_column (self->gutter, f);

      gtk_widget_set_visible (self->heading[f], width > 0);
      gtk_widget_set_size_request (self->heading[f], width, -1);
      any = any || width > 0;
    }
  gtk_widget_set_visible (self->headings, any);
}

/* Choosing a line */

static guint32
caret_line (GantrySourceView *self)
{
  GtkTextIter at;

  gtk_text_buffer_get_iter_at_mark (self->buffer, &at, gtk_text_buffer_get_insert (self->buffer));
  return (guint32) gtk_text_iter_get_line (&at) + 1;
}

static gboolean
choose (gpointer data)
{
  GantrySourceView *self = data;

  self->choose_idle = 0;
  if (self->path != NULL && !gtk_text_buffer_get_has_selection (self->buffer))
    g_signal_emit (self, signals[LINE_CHOSEN], 0, caret_line (self));
  return G_SOURCE_REMOVE;
}

/* A key that is held down moves the caret more often than there are frames. */
static void
queue_choose (GantrySourceView *self)
{
  if (self->setting)
    return;
  self->wanted = 0;
  if (self->choose_idle == 0)
    self->choose_idle = g_idle_add_full (GTK_PRIORITY_RESIZE - 1, choose, self, NULL); /* before a long text is laid out to its end */
}

/* Where the caret was already it does not move. */
static void
released (GtkGestureClick *gesture, int n_press, double x, double y, gpointer data)
{
  queue_choose (data);
}

void
gantry_source_view_choose_line (GantrySourceView *self, guint32 line)
{
  GtkTextIter start, end;

  if (!find_line (self, line, &start, &end))
    return;
  gtk_text_buffer_place_cursor (self->buffer, &start);
  queue_choose (self);
}

/* Tips */

char *
gantry_source_view_describe (GantrySourceView *self, guint32 line)
{
  char *text = NULL;

  g_signal_emit (self, signals[DESCRIBE_LINE], 0, line, &text);
  return text;
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  GantrySourceView *self = data;
  g_autofree char *text = NULL;
  GtkTextIter at;
  int buffer_y, top;

  if (self->path == NULL)
    return FALSE;
  gtk_text_view_window_to_buffer_coords (self->view, GTK_TEXT_WINDOW_WIDGET, x, y, NULL, &buffer_y);
  gtk_text_view_get_line_at_y (self->view, &at, buffer_y, &top);
  text = gantry_source_view_describe (self, keyboard ? caret_line (self) : (guint32) gtk_text_iter_get_line (&at) + 1);
  if (text == NULL || *text == '\0')
    return FALSE;
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* Reading */

char *
gantry_source_view_get_text (GantrySourceView *self)
{
  GtkTextIter start, end;

  gtk_text_buffer_get_bounds (self->buffer, &start, &end);
  return gtk_text_buffer_get_text (self->buffer, &start, &end, TRUE);
}

gboolean
gantry_source_view_is_in_sight (GantrySourceView *self, guint32 line)
{
  return is_in_sight (self, (int) line - 1);
}

gboolean
gantry_source_view_is_marked (GantrySourceView *self, guint32 line)
{
  GtkTextIter start, end;

  return find_line (self, line, &start, &end) && gtk_text_iter_has_tag (&start, self->line_tag);
}

char *
gantry_source_view_get_marked (GantrySourceView *self, gboolean error)
{
  GtkTextTag *tag = error ? self->error_tag : self->at_tag;
  GtkTextIter start, end;

  gtk_text_buffer_get_start_iter (self->buffer, &start);
  if (!gtk_text_iter_starts_tag (&start, tag) && !gtk_text_iter_forward_to_tag_toggle (&start, tag))
    return g_strdup ("");
  end = start;
  gtk_text_iter_forward_to_tag_toggle (&end, tag);
  return gtk_text_buffer_get_text (self->buffer, &start, &end, TRUE);
}

/* The object */

static void
set_ground (GtkTextTag *tag, const char *property, const GantryColor *ink, float alpha)
{
  GdkRGBA color = { ink->red, ink->green, ink->blue, alpha };

  g_object_set (tag, property, &color, NULL);
}

static void
apply_theme (gpointer object)
{
  GantrySourceView *self = object;
  const GantryTheme *theme = gantry_theme_of (GTK_WIDGET (self));

  gantry_code_scheme_apply (GTK_SOURCE_BUFFER (self->buffer), theme);
  set_ground (self->line_tag, "paragraph-background-rgba", &theme->ink[GANTRY_INK_SELECTION], GANTRY_CODE_MARKED);
  set_ground (self->at_tag, "background-rgba", &theme->ink[GANTRY_INK_SELECTION], GANTRY_CODE_MARKED_AT - GANTRY_CODE_MARKED);
  set_ground (self->error_line_tag, "paragraph-background-rgba", &theme->ink[GANTRY_INK_ERROR], 0.14f);
  set_ground (self->error_tag, "underline-rgba", &theme->ink[GANTRY_INK_ERROR], 1);
}

static void
gantry_source_view_dispose (GObject *object)
{
  GantrySourceView *self = GANTRY_SOURCE_VIEW (object);

  g_clear_handle_id (&self->choose_idle, g_source_remove);
  g_clear_pointer (&self->path, g_free);
  G_OBJECT_CLASS (gantry_source_view_parent_class)->dispose (object);
}

static void
gantry_source_view_class_init (GantrySourceViewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_source_view_dispose;
  signals[LINE_CHOSEN] = g_signal_new ("line-chosen", GANTRY_TYPE_SOURCE_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[DESCRIBE_LINE] = g_signal_new ("describe-line", GANTRY_TYPE_SOURCE_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_STRING, 1, G_TYPE_UINT);
}

static void
add_headings (GantrySourceView *self)
{
  static const char *const titles[] = { "planned", "measured", "at peak" };
  static const char *const tips[] = {
    "Planned time of the kernels that this line asks for. A kernel of several lines is divided over them by their work.",
    "Measured time of the same kernels, in the run shown. That of a kernel of several lines is divided as the planned one is.",
    "Planned: bytes that values of this line hold at the peak of device memory",
  };

  self->headings = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  for (guint f = 0; f < GANTRY_N_SOURCE_FIGURES; f++)
    {
      self->heading[f] = gtk_label_new (titles[f]);
      gtk_label_set_xalign (GTK_LABEL (self->heading[f]), 1);
      gtk_widget_set_tooltip_text (self->heading[f], tips[f]);
      gtk_widget_add_css_class (self->heading[f], "caption");
      gtk_widget_add_css_class (self->heading[f], "secondary");
      gtk_box_append (GTK_BOX (self->headings), self->heading[f]);
    }
  gtk_widget_set_visible (self->headings, FALSE);
  gtk_box_append (GTK_BOX (self), self->headings);
}

static void
add_view (GantrySourceView *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new (), *view = gtk_source_view_new ();
  GtkGesture *click = gtk_gesture_click_new (), *press = gtk_gesture_click_new ();
  GtkEventController *scroll = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);

  self->view = GTK_TEXT_VIEW (view);
  self->buffer = gtk_text_view_get_buffer (self->view);
  gtk_text_buffer_set_enable_undo (self->buffer, FALSE); /* it is read only: no copy is kept */
  gtk_source_buffer_set_highlight_matching_brackets (GTK_SOURCE_BUFFER (self->buffer), FALSE);
  self->line_tag = gtk_text_buffer_create_tag (self->buffer, NULL, NULL);
  self->at_tag = gtk_text_buffer_create_tag (self->buffer, NULL, "underline", PANGO_UNDERLINE_SINGLE, NULL);
  self->error_line_tag = gtk_text_buffer_create_tag (self->buffer, NULL, NULL);
  self->error_tag = gtk_text_buffer_create_tag (self->buffer, NULL, "underline", PANGO_UNDERLINE_ERROR, NULL);
  gtk_text_view_set_editable (self->view, FALSE);
  gtk_text_view_set_monospace (self->view, TRUE);
  gtk_text_view_set_left_margin (self->view, 6);
  gtk_source_view_set_tab_width (GTK_SOURCE_VIEW (view), 8);
  gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL, "Source", -1);
  gtk_widget_set_has_tooltip (view, TRUE);
  g_signal_connect (view, "query-tooltip", G_CALLBACK (query_tooltip), self);
  g_signal_connect_swapped (self->buffer, "notify::cursor-position", G_CALLBACK (queue_choose), self);
  g_signal_connect (click, "released", G_CALLBACK (released), self);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), GDK_BUTTON_PRIMARY);
  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (click), GTK_PHASE_CAPTURE);
  gtk_widget_add_controller (view, GTK_EVENT_CONTROLLER (click));
  self->gutter = GANTRY_SOURCE_GUTTER (gantry_source_gutter_new ());
  gtk_source_gutter_insert (gtk_source_view_get_gutter (GTK_SOURCE_VIEW (view), GTK_TEXT_WINDOW_LEFT), GTK_SOURCE_GUTTER_RENDERER (self->gutter), -100);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), view);
  gtk_event_controller_set_propagation_phase (scroll, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (scroll, "scroll", G_CALLBACK (look_elsewhere), self);
  gtk_widget_add_controller (scroller, scroll);
  g_signal_connect_swapped (press, "pressed", G_CALLBACK (look_elsewhere), self);
  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (press), GTK_PHASE_CAPTURE);
  gtk_widget_add_controller (scroller, GTK_EVENT_CONTROLLER (press)); /* the bar too */
  g_signal_connect_object (gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scroller)), "changed", G_CALLBACK (keep_in_sight), self,
                           G_CONNECT_SWAPPED);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_box_append (GTK_BOX (self), scroller);
}

static void
gantry_source_view_init (GantrySourceView *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  add_headings (self);
  add_view (self);
  gantry_theme_watch (self, apply_theme);
  apply_theme (self);
}

GtkWidget *
gantry_source_view_new (void)
{
  return g_object_new (GANTRY_TYPE_SOURCE_VIEW, NULL);
}
