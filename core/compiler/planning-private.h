/* SPDX-License-Identifier: Apache-2.0 */
/* Planning as a part of compiling. */
#pragma once
#include "core/compiler/planning.h"

/** Places, makes the first planner and plans; what does not work is kept in @compilation. FALSE: cancelled, or a mistake in
 *  the policy. */
gboolean _gantry_compilation_make_plan (GantryCompilation *compilation, const GantryProgress *progress, GError **error);
