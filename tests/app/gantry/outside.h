/* SPDX-License-Identifier: Apache-2.0 */
/* A program of its own process as its user meets it: what its window says is read as a screen reader reads it (AT-SPI), what it
 * paints is read from the screen, and its keys and buttons are pressed through the X server. */
#pragma once
#include "drawing/theme.h"
#include <gio/gio.h>
#include <glib.h>

G_BEGIN_DECLS

typedef struct _Outside Outside;

/** Points of the screen. */
typedef struct
{
  int x, y, width, height;
} OutsideArea;

/**
 * outside_start:
 * @arguments: (array zero-terminated=1): program and arguments
 *
 * Starts it, with nothing of the user's, on the display and on a bus of its own. Returns when its window is there.
 *
 * Returns: (transfer full) (nullable): NULL and the test skipped, where there is no display or no AT-SPI
 */
Outside *outside_start (const char *const *arguments);
/** Ends the program. */
void outside_free (Outside *outside);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Outside, outside_free)

/**
 * outside_find:
 * @role: (nullable): as AT-SPI calls it: "button", "label"
 * @text: what its name holds
 * @area: (out) (optional): where it is
 *
 * Returns: (transfer full) (nullable): the whole name of the first that is shown
 */
char *outside_find (Outside *outside, const char *role, const char *text, OutsideArea *area);
/** Until outside_find() finds it; a program that ends or never shows it fails the test with all that it does show. */
char *outside_wait (Outside *outside, const char *role, const char *text, OutsideArea *area);
/** The first mouse button, in the middle of @area. */
void outside_click (Outside *outside, const OutsideArea *area);
/** To the window, over which the pointer is moved. */
void outside_key (Outside *outside, guint keyval);
/** How many points of @area are painted in just this ink of the light theme. */
guint outside_count (Outside *outside, const OutsideArea *area, GantryInk ink);

G_END_DECLS
