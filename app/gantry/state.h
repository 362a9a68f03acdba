/* SPDX-License-Identifier: Apache-2.0 */
/* What the window remembers from one start to the next: a key file in the user's configuration folder. Main thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** Returns: (transfer full) (nullable) */
char *gantry_state_get_string (const char *key);
void gantry_state_set_string (const char *key, const char *value);
int gantry_state_get_int (const char *key, int fallback);
void gantry_state_set_int (const char *key, int value);
/** Marks of the programs that the user has let run. (transfer full) */
char **gantry_state_get_trusted (void);
void gantry_state_add_trusted (const char *mark);
/** Newest first. (transfer full) */
char **gantry_state_get_recent (void);
/** Puts @path first; the oldest fall out. */
void gantry_state_add_recent (const char *path);

G_END_DECLS
