/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests with the mouse share: a training step in a window, and a pointer over it. Not reentrant: there is one pointer. */
#pragma once
#include "tests/app/gantry/window-test.h"
#include "tests/views/pointer.h"

typedef struct
{
  GantryWindow *window;
  GantryDocument *document;
  GantryComparePanel *panel;
  ViewsPointer *pointer;
} Fixture;

/* Until all work is done and everything stands where it belongs. */
static inline void
settle (Fixture *f)
{
  window_test_wait (f->window);
  views_wait_frame (GTK_WIDGET (f->window));
}

static inline gboolean
open_step (Fixture *f)
{
  f->window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  if (f->window == NULL)
    return FALSE;
  f->pointer = views_pointer_new (GTK_WIDGET (f->window));
  if (f->pointer == NULL)
    {
      window_test_free (f->window);
      return FALSE;
    }
  f->document = gantry_window_get_document (f->window);
  f->panel = gantry_window_get_compare_panel (f->window);
  settle (f);
  return TRUE;
}

static inline void
close_step (Fixture *f)
{
  views_pointer_free (f->pointer);
  window_test_free (f->window);
}

static inline void
show_page (Fixture *f, const char *page)
{
  g_action_group_activate_action (G_ACTION_GROUP (f->window), "bottom-page", g_variant_new_string (page));
  settle (f);
}

static inline void
click_middle (Fixture *f, GtkWidget *widget, guint n_press)
{
  g_assert_nonnull (widget);
  g_assert_true (gtk_widget_get_mapped (widget));
  views_pointer_click (f->pointer, widget, MIN (gtk_widget_get_width (widget) / 2.0, 20), gtk_widget_get_height (widget) / 2.0, n_press);
  settle (f);
}
