/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of records by a key: structs of which the first member is a guint64 and which have no padding. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** Sorts @array of keyed records by ascending key. */
void gantry_keyed_array_sort (GArray *array);
/** @array: by ascending key. Returns: (transfer none) (nullable): a record with @key; %NULL where there is none. O(log length) */
gconstpointer gantry_keyed_array_find (const GArray *array, guint64 key);
/** Whether two arrays of one kind of record have the same bytes in the same order. */
gboolean gantry_keyed_array_equal (const GArray *a, const GArray *b);

G_END_DECLS
