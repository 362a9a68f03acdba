/* SPDX-License-Identifier: Apache-2.0 */
/* Interning: equal byte strings get one small id and one address that never moves. Safe to read
 * from any thread while another thread interns. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _GantryInterner GantryInterner;

/**
 * GantryInterner: ids are given from 1 on; 0 means none. Blobs are compared by bytes.
 */
GantryInterner *gantry_interner_new (void);
void gantry_interner_free (GantryInterner *interner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryInterner, gantry_interner_free)

/** Returns: the id of these @size bytes, which are copied where they are new; @data may be %NULL where @size is 0 */
guint32 gantry_interner_add (GantryInterner *interner, gconstpointer data, gsize size);
/** Returns the id of @data or 0 when it was never added. */
guint32 gantry_interner_find (GantryInterner *interner, gconstpointer data, gsize size);
/** Returns: (nullable): the stored bytes (16-byte aligned, followed by a NUL), NULL for id 0. */
gconstpointer gantry_interner_get (GantryInterner *interner, guint32 id, gsize *size);
/** Returns: how many ids were given, which is the last one */
guint32 gantry_interner_count (GantryInterner *interner);

/** Strings: NULL interns to 0 and 0 reads back as "". */
guint32 gantry_interner_add_string (GantryInterner *interner, const char *text);
/** Returns: (transfer none): the stored text, which lives as long as @interner */
const char *gantry_interner_string (GantryInterner *interner, guint32 id);

G_END_DECLS
