/* SPDX-License-Identifier: Apache-2.0 */
/* A small curve of what another compiler planned to be alive at each instruction. */
#pragma once
#include "core/document/document.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_ASSIGNMENT_CURVE (gantry_assignment_curve_get_type ())
G_DECLARE_FINAL_TYPE (GantryAssignmentCurve, gantry_assignment_curve, GANTRY, ASSIGNMENT_CURVE, GtkWidget)

/** @assignment: with a curve; it is not needed afterwards */
GtkWidget *gantry_assignment_curve_new (const GantryXlaAssignment *assignment);

G_END_DECLS
