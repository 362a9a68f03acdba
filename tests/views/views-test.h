/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of widgets share: programs made in memory, and a main loop that turns until something is so. */
#pragma once
#include "core/document/document.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/** Turns the main loop until @done says so. A hang fails the test after minutes, whatever the machine's speed. */
#define views_wait_until(done) \
  G_STMT_START \
  { \
    gint64 _give_up = g_get_monotonic_time () + G_GINT64_CONSTANT (240) * G_USEC_PER_SEC; \
    while (!(done)) \
      { \
        if (g_get_monotonic_time () > _give_up) \
          g_error ("%s:%d: waited in vain for: %s", __FILE__, __LINE__, #done); \
        views_turn (); \
      } \
  } \
  G_STMT_END

/** One turn of the main loop, at most some milliseconds long. */
void views_turn (void);
/** Turns it until nothing is left to do at once. */
void views_settle (void);

/** Turns it until @widget, which must be mapped, stands where it belongs after what has changed. */
void views_wait_frame (GtkWidget *widget);

/** FALSE, and the test is skipped with the reason, where there is no display. Starts GTK and libadwaita. */
gboolean views_have_display (void);

/** A file of the source tree. (transfer full) */
char *views_source_file (const char *path);
/** A sample model: data/models/@name. (transfer full) */
char *views_sample (const char *name);
/** One of the models that lie beside the tree, NULL (and the test skipped) where they are not. (transfer full) */
char *views_shared_model (const char *name);

/** Opens @text, a program in the text form. (transfer full) */
GantryDocument *views_open_text (const char *text);
/** @n elementwise nodes in forty columns and in scopes of scopes; every tenth reads its neighbour too. (transfer full) */
char *views_large_program (guint n);

G_END_DECLS
