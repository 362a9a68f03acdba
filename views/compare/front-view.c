/* SPDX-License-Identifier: Apache-2.0 */
/* Points of the front over a line that says what they are. */
#include "views/compare/front-view.h"
#include "views/compare/scatter-view.h"
#include <math.h>

#define LEAST_HEIGHT 170

struct _GantryFrontView
{
  GtkBox parent_instance;
  GantryDocument *document;
  GantryScatterView *scatter;
  GtkLabel *words;
  GtkWidget *stop;
  GPtrArray *points; /* GantryVariant: those of the front that are drawn */
};

enum
{
  CHOSEN,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (GantryFrontView, gantry_front_view, GTK_TYPE_BOX)

char *
gantry_front_progress_text (GantryDocument *document)
{
  double fraction;

  g_object_get (document, "front-progress", &fraction, NULL);
  return fraction < 0 ? NULL : g_strdup_printf ("Finding the front in the background: %.0f %%", floor (100 * fraction));
}

static void
show_points (GantryFrontView *self)
{
  GPtrArray *front = gantry_document_get_front (self->document);
  const GantryForecast *now = gantry_document_get_prediction (self->document);
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);
  g_autofree GantryScatterPoint *points = g_new0 (GantryScatterPoint, (front != NULL ? front->len : 0) + 1);

  g_ptr_array_set_size (self->points, 0);
  for (guint i = 0; front != NULL && i < front->len; i++)
    {
      GantryVariant *variant = gantry_document_get_figures (self->document, g_ptr_array_index (front, i));

      if (!gantry_document_is_current (self->document, variant))
        continue;
      points[self->points->len] = (GantryScatterPoint){ variant->figures.peak_bytes, variant->figures.step_us, GANTRY_POINT_FRONT, variant->name };
      g_ptr_array_add (self->points, gantry_variant_ref (variant));
    }
  if (now != NULL && self->points->len > 0)
    points[self->points->len] = (GantryScatterPoint){ now->prediction->peak_bytes, now->prediction->step_us, GANTRY_POINT_NOW, "now" };
  gantry_scatter_view_set (self->scatter, points, self->points->len + (now != NULL && self->points->len > 0),
                           settings != NULL ? settings->target.memory_limit : 0);
}

static void
refill (GantryFrontView *self)
{
  g_autofree char *progress = gantry_front_progress_text (self->document);

  show_points (self);
  gtk_widget_set_visible (GTK_WIDGET (self->scatter), self->points->len > 0);
  gtk_widget_set_visible (GTK_WIDGET (self), self->points->len > 0 || progress != NULL);
  gtk_widget_set_visible (self->stop, progress != NULL);
  gtk_label_set_text (self->words, progress != NULL ? progress : "A point of the front that is chosen is the size to fit into.");
}

static void
point_selected (GantryScatterView *view, guint index, gpointer data)
{
  GantryFrontView *self = data;

  if (index < self->points->len)
    g_signal_emit (self, signals[CHOSEN], 0, g_ptr_array_index (self->points, index));
}

guint
gantry_front_view_n_points (GantryFrontView *self)
{
  return self->points->len;
}

static void
gantry_front_view_dispose (GObject *object)
{
  GantryFrontView *self = GANTRY_FRONT_VIEW (object);

  g_clear_object (&self->document);
  G_OBJECT_CLASS (gantry_front_view_parent_class)->dispose (object);
}

static void
gantry_front_view_finalize (GObject *object)
{
  g_ptr_array_unref (GANTRY_FRONT_VIEW (object)->points);
  G_OBJECT_CLASS (gantry_front_view_parent_class)->finalize (object);
}

static void
gantry_front_view_class_init (GantryFrontViewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_front_view_dispose;
  G_OBJECT_CLASS (klass)->finalize = gantry_front_view_finalize;
  signals[CHOSEN] = g_signal_new ("chosen", GANTRY_TYPE_FRONT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
}

static void
gantry_front_view_init (GantryFrontView *self)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *words = gtk_label_new ("");

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  self->points = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_variant_unref);
  self->scatter = GANTRY_SCATTER_VIEW (gantry_scatter_view_new ());
  self->words = GTK_LABEL (words);
  self->stop = gtk_button_new_with_label ("Stop");
  gtk_widget_set_size_request (GTK_WIDGET (self->scatter), -1, LEAST_HEIGHT);
  gtk_widget_add_css_class (words, "dim-label");
  gtk_label_set_wrap (self->words, TRUE);
  gtk_label_set_xalign (self->words, 0);
  gtk_widget_set_hexpand (words, TRUE);
  gtk_widget_add_css_class (self->stop, "flat");
  gtk_widget_set_tooltip_text (self->stop, "Do not search for the front, until something is edited");
  gtk_box_append (GTK_BOX (line), words);
  gtk_box_append (GTK_BOX (line), self->stop);
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->scatter));
  gtk_box_append (GTK_BOX (self), line);
}

GtkWidget *
gantry_front_view_new (GantryDocument *document)
{
  static const char *const changes[] = { "notify::front", "notify::front-progress", "notify::prediction", "notify::compilation", "notify::variants" };
  GantryFrontView *self = g_object_new (GANTRY_TYPE_FRONT_VIEW, NULL);

  self->document = g_object_ref (document);
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    g_signal_connect_object (document, changes[i], G_CALLBACK (refill), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->scatter, "selected", G_CALLBACK (point_selected), self, 0);
  g_signal_connect_object (self->stop, "clicked", G_CALLBACK (gantry_document_stop_front), document, G_CONNECT_SWAPPED);
  refill (self);
  return GTK_WIDGET (self);
}
