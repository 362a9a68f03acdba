/* SPDX-License-Identifier: Apache-2.0 */
/* The table of orders and allocators that plan --allocations prints. */
#pragma once
#include "core/document/document.h"
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/** Plans with every order and allocator. Returns: (transfer full) (nullable) (element-type GantryAllocation) */
GArray *gantry_allocation_report_new (GantryDocument *document, const GantryProgress *progress, GError **error);
/** As the member `allocations` of the object that is being built: for each order and allocator what is planned with it (bytes), the lower
 *  bound of its order, the time of a step, and whether it is the one that is chosen. */
void gantry_allocation_report_json (JsonBuilder *json, const GArray *rows);
/** As lines. */
void gantry_allocation_report_text (const GArray *rows);

G_END_DECLS
