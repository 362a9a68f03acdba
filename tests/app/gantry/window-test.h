/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the window share: a window on the display of the test, and how its parts are found. */
#pragma once
#include "app/gantry/window.h"
#include "tests/views/views-test.h"

G_BEGIN_DECLS

/** Nothing of the user's is read or written: call it first in main(). */
void window_test_init (int *argc, char ***argv);
/** Returns: (transfer none) (nullable): NULL and the test skipped, where there is no display */
GantryWindow *window_test_new (void);
void window_test_free (GantryWindow *window);
/** g_test_run(), and the end of the application. */
int window_test_run (void);

gboolean window_test_is_idle (GantryWindow *window);
/** Turns the main loop until all work and all pictures are done. */
void window_test_wait (GantryWindow *window);
void window_test_open (GantryWindow *window, const char *path);
/** A window with @program of the source tree open; with @train its step with Adam, the last pass shown.
 *  Returns: (transfer none) (nullable): as window_test_new() */
GantryWindow *window_test_with (const char *program, gboolean train);
/** A window with the sample model of the source tree open. Returns: (transfer none) (nullable): as window_test_new() */
GantryWindow *window_test_sample (void);
/** The command line that the window starts. (transfer full) */
char *window_test_cli (void);
/** Returns: FALSE and the test skipped, where it is not built */
gboolean window_test_has_cli (void);
/** @name: an action that must be enabled */
void window_test_act (GantryWindow *window, const char *name);

/** (transfer none) (nullable): by name of the widget, label of a button, or name of the toplevel */
GtkWidget *window_test_find (GtkWidget *widget, const char *name);
GtkWidget *window_test_button (GtkWidget *widget, const char *label);
GtkWidget *window_test_dialog (const char *name);
/** (transfer none) (nullable): by name of the type */
GtkWidget *window_test_find_type (GtkWidget *widget, const char *name);
/** Whether a label with @text in it is shown. */
gboolean window_test_has_text (GtkWidget *widget, const char *text);
/** As if the key was pressed while @widget has the focus. Returns: whether it was taken */
gboolean window_test_key (GtkWidget *widget, guint key, GdkModifierType state);

/** The least contrast (WCAG 2.1) of all texts that @widget draws on @ground. @n: (out): how many there are */
double window_test_contrast (GtkWidget *widget, const GdkRGBA *ground, guint *n);

G_END_DECLS
