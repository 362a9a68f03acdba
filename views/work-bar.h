/* SPDX-License-Identifier: Apache-2.0 */
/* A bar for work under way: how far it is while it says so, else that it goes on. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * gantry_work_bar_set:
 * @bar: shown while @busy
 * @fraction: 0..1, negative: not known
 *
 * Work that has said how far it is and then nothing for a second is at something that it cannot measure: the bar then moves to and fro, as
 * it does where the fraction is not known, until a larger or smaller one comes. Call it whenever something of it may have changed.
 */
void gantry_work_bar_set (GtkProgressBar *bar, gboolean busy, double fraction);

G_END_DECLS
