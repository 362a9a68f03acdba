/* SPDX-License-Identifier: Apache-2.0 */
/* A bump allocator: many small objects that die together. Pointers stay valid until the arena is
 * freed. Not thread safe. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _GantryArena GantryArena;

/** Returns: (transfer full): an empty arena; the first allocation takes memory from the system */
GantryArena *gantry_arena_new (void);
void gantry_arena_free (GantryArena *arena);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryArena, gantry_arena_free)

/**
 * gantry_arena_alloc:
 * @arena: an arena
 * @size: bytes, may be 0
 *
 * Returns: (transfer none): @size zeroed bytes, aligned to 16
 */
gpointer gantry_arena_alloc (GantryArena *arena, gsize size);
/** Returns: (transfer none): a copy of @size bytes, aligned to 16; @data may be %NULL where @size is 0 */
gpointer gantry_arena_copy (GantryArena *arena, gconstpointer data, gsize size);
/** Returns: (transfer none) (nullable): a copy of @text, NUL included; %NULL of %NULL */
char *gantry_arena_strdup (GantryArena *arena, const char *text);

/** Bytes that the arena holds from the system. */
gsize gantry_arena_size (const GantryArena *arena);

#define gantry_arena_new0(arena, Type, n) ((Type *) gantry_arena_alloc ((arena), sizeof (Type) * (gsize) (n)))

G_END_DECLS
