/* SPDX-License-Identifier: Apache-2.0 */
/* The colours of code in all views: those of Adwaita's scheme, each moved away from the ground until it can be read. */
#pragma once
#include "drawing/theme.h"
#include <gtksourceview/gtksource.h>

G_BEGIN_DECLS

/** Part of the selection's ink in the ground of a marked line, and in that of what begins at a marked column. */
#define GANTRY_CODE_MARKED 0.14f
#define GANTRY_CODE_MARKED_AT 0.24f

/** Gives @buffer the colours of @theme, from now on; words that a language marks keep 4.5 : 1 on marked grounds too. */
void gantry_code_scheme_apply (GtkSourceBuffer *buffer, const GantryTheme *theme);

G_END_DECLS
