/* SPDX-License-Identifier: Apache-2.0 */
/* The bar as a widget: it puts its buttons beside the text or below, by its width. */
#include "views/notice.h"
#include "views/scroll-fit.h"
#include "views/wrapped-label.h"

#define LEAST_HEIGHT 36  /* of the text: two lines */
#define MOST_HEIGHT 120  /* seven lines */
#define LEAST_BESIDE 340 /* points of text beside buttons */
#define LEAST_WIDTH 160
#define SPACING 8

struct _GantryNotice
{
  GtkWidget parent_instance;
  GtkWidget *text, *label, *buttons; /* @label within @text */
};

G_DEFINE_FINAL_TYPE (GantryNotice, gantry_notice, GTK_TYPE_WIDGET)

/* Where text and buttons are in a bar of some width. */
typedef struct
{
  gboolean beside;
  int text_width, least_text, text_height, all_text, buttons_width, buttons_height;
} Arrangement;

/* As many whole lines of the text at @width as @height has room for: one that is cut in two reads as the last. */
static int
whole_lines (GantryNotice *self, int width, int height)
{
  g_autoptr (PangoLayout) layout = pango_layout_copy (gtk_label_get_layout (GTK_LABEL (self->label)));
  g_autoptr (PangoLayoutIter) iter = NULL;
  int whole = 0;

  pango_layout_set_width (layout, width * PANGO_SCALE);
  iter = pango_layout_get_iter (layout);
  do
    {
      int end;

      pango_layout_iter_get_line_yrange (iter, NULL, &end);
      if (PANGO_PIXELS_CEIL (end) > height)
        break;
      whole = PANGO_PIXELS_CEIL (end);
    }
  while (pango_layout_iter_next_line (iter));
  return whole > 0 ? whole : height;
}

static Arrangement
arrange (GantryNotice *self, int width)
{
  gboolean any = gtk_widget_get_visible (self->buttons);
  Arrangement a = { 0 };

  if (any)
    {
      gtk_widget_measure (self->buttons, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &a.buttons_width, NULL, NULL);
      gtk_widget_measure (self->buttons, GTK_ORIENTATION_VERTICAL, -1, NULL, &a.buttons_height, NULL, NULL);
    }
  a.beside = !any || width - a.buttons_width - SPACING >= LEAST_BESIDE;
  a.text_width = MAX (a.beside && any ? width - a.buttons_width - SPACING : width, 1);
  gtk_widget_measure (self->text, GTK_ORIENTATION_VERTICAL, a.text_width, &a.least_text, &a.text_height, NULL, NULL);
  gtk_widget_measure (self->label, GTK_ORIENTATION_VERTICAL, a.text_width, NULL, &a.all_text, NULL, NULL);
  if (a.all_text > a.text_height)
    a.text_height = whole_lines (self, a.text_width, a.text_height);
  return a;
}

static GtkSizeRequestMode
request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline, int *natural_baseline)
{
  GantryNotice *self = GANTRY_NOTICE (widget);
  int buttons = 0, text = 0, least = 0;
  Arrangement a;

  gtk_widget_measure (self->buttons, GTK_ORIENTATION_HORIZONTAL, -1, &buttons, NULL, NULL, NULL);
  gtk_widget_measure (self->text, GTK_ORIENTATION_HORIZONTAL, -1, &least, &text, NULL, NULL);
  least = MAX (MAX (buttons, least), LEAST_WIDTH);
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum = least;
      *natural = MAX (least, text + SPACING + buttons);
      return;
    }
  a = arrange (self, for_size >= 0 ? for_size : MAX (least, text + SPACING + buttons));
  *minimum = a.beside ? MAX (a.least_text, a.buttons_height) : a.least_text + SPACING + a.buttons_height;
  *natural = a.beside ? MAX (a.text_height, a.buttons_height) : a.text_height + SPACING + a.buttons_height;
  if (for_size < 0) /* the least height for any width is not less than that for one */
    {
      *minimum = LEAST_HEIGHT + SPACING + a.buttons_height;
      *natural = MAX (*natural, *minimum);
    }
}

static void
size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  GantryNotice *self = GANTRY_NOTICE (widget);
  Arrangement a = arrange (self, width);
  int room = MIN (a.text_height, a.beside ? height : MAX (height - SPACING - a.buttons_height, 1));
  int text_height = room < a.all_text ? whole_lines (self, a.text_width, room) : room;
  gboolean rtl = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  /* A text of one line stands in the middle beside its buttons; they stand at the end of the line, or below at its beginning. */
  GtkAllocation text = { rtl ? width - a.text_width : 0, a.beside ? (height - text_height) / 2 : 0, a.text_width, text_height };
  GtkAllocation buttons = { rtl == a.beside ? 0 : width - a.buttons_width, a.beside ? (height - a.buttons_height) / 2 : height - a.buttons_height,
                            a.buttons_width, a.buttons_height };

  gtk_widget_size_allocate (self->text, &text, -1);
  if (gtk_widget_get_visible (self->buttons))
    gtk_widget_size_allocate (self->buttons, &buttons, -1);
}

static void
gantry_notice_dispose (GObject *object)
{
  GantryNotice *self = GANTRY_NOTICE (object);

  g_clear_pointer (&self->text, gtk_widget_unparent);
  g_clear_pointer (&self->buttons, gtk_widget_unparent);
  G_OBJECT_CLASS (gantry_notice_parent_class)->dispose (object);
}

static void
gantry_notice_class_init (GantryNoticeClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = gantry_notice_dispose;
  widget_class->get_request_mode = request_mode;
  widget_class->measure = measure;
  widget_class->size_allocate = size_allocate;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
gantry_notice_init (GantryNotice *self)
{
  self->label = gantry_wrapped_label_new ("");
  self->text = gantry_scroll_fit_new (self->label, LEAST_HEIGHT, MOST_HEIGHT);
  self->buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, SPACING);
  gtk_label_set_yalign (GTK_LABEL (self->label), 0);
  gtk_widget_set_visible (self->buttons, FALSE); /* until there are some */
  gtk_widget_set_parent (self->text, GTK_WIDGET (self));
  gtk_widget_set_parent (self->buttons, GTK_WIDGET (self));
}

GtkWidget *
gantry_notice_new (const char *text)
{
  GantryNotice *self = g_object_new (GANTRY_TYPE_NOTICE, NULL);

  gantry_notice_set_text (self, text);
  return GTK_WIDGET (self);
}

void
gantry_notice_set_text (GantryNotice *self, const char *text)
{
  gtk_label_set_text (GTK_LABEL (self->label), text);
}

const char *
gantry_notice_get_text (GantryNotice *self)
{
  return gtk_label_get_text (GTK_LABEL (self->label));
}

void
gantry_notice_set_most_height (GantryNotice *self, int height)
{
  gantry_scroll_fit_set_most (GANTRY_SCROLL_FIT (self->text), height);
}

void
gantry_notice_add (GantryNotice *self, GtkWidget *button)
{
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (self->buttons), button);
  gtk_widget_set_visible (self->buttons, TRUE);
}
