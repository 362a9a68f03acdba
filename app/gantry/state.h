/* SPDX-License-Identifier: Apache-2.0 */
/* What the window remembers from one start to the next: a key file in the user's configuration folder. Main thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** Returns: (transfer full) (nullable) */
char *gantry_state_get_string (const char *key);
/** @value: UTF-8. Written at once; where that fails it is forgotten at the end, which is no error */
void gantry_state_set_string (const char *key, const char *value);
/** Returns: @fallback where there is no such key, or it is no number */
int gantry_state_get_int (const char *key, int fallback);
/** As gantry_state_set_string(). */
void gantry_state_set_int (const char *key, int value);
/** Marks of the programs that the user has let run. (transfer full) */
char **gantry_state_get_trusted (void);
/** @mark: of a program (gantry_model_program_mark()); one that is there already is not added again. */
void gantry_state_add_trusted (const char *mark);
/** Newest first. (transfer full) */
char **gantry_state_get_recent (void);
/** Puts @path first; the oldest fall out. */
void gantry_state_add_recent (const char *path);

G_END_DECLS
