/* SPDX-License-Identifier: Apache-2.0 */
/* Bump allocation in chunks that double up to 1 MiB; a large object gets a chunk of its own. */
#include "core/base/arena.h"
#include <string.h>

#define FIRST_CHUNK 4096u
#define LARGEST_CHUNK (1u << 20)
#define ALIGNMENT 16u

typedef struct _Chunk Chunk;
struct _Chunk
{
  Chunk *next;
  gsize size; /* usable bytes after the header */
};
#define CHUNK_HEADER ((sizeof (Chunk) + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1))

struct _GantryArena
{
  Chunk *chunks; /* the newest first */
  gsize used;    /* in the newest chunk */
  gsize next_size;
  gsize total;
};

GantryArena *
gantry_arena_new (void)
{
  GantryArena *arena = g_new0 (GantryArena, 1);

  arena->next_size = FIRST_CHUNK;
  return arena;
}

void
gantry_arena_free (GantryArena *arena)
{
  if (arena == NULL)
    return;
  for (Chunk *chunk = arena->chunks; chunk != NULL;)
    {
      Chunk *next = chunk->next;

      g_free (chunk);
      chunk = next;
    }
  g_free (arena);
}

static void
add_chunk (GantryArena *arena, gsize at_least)
{
  gsize size = MAX (arena->next_size, at_least);
  Chunk *chunk = g_malloc0 (CHUNK_HEADER + size);

  chunk->size = size;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  arena->used = 0;
  arena->total += CHUNK_HEADER + size;
  arena->next_size = MIN (arena->next_size * 2, LARGEST_CHUNK);
}

gpointer
gantry_arena_alloc (GantryArena *arena, gsize size)
{
  gsize rounded = (size + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1);
  guint8 *start;

  g_assert (rounded >= size);
  if (arena->chunks == NULL || arena->chunks->size - arena->used < rounded)
    add_chunk (arena, rounded);
  start = (guint8 *) arena->chunks + CHUNK_HEADER + arena->used;
  arena->used += rounded;
  return start;
}

gpointer
gantry_arena_copy (GantryArena *arena, gconstpointer data, gsize size)
{
  gpointer copy = gantry_arena_alloc (arena, size);

  if (size > 0)
    memcpy (copy, data, size);
  return copy;
}

char *
gantry_arena_strdup (GantryArena *arena, const char *text)
{
  return text != NULL ? gantry_arena_copy (arena, text, strlen (text) + 1) : NULL;
}

gsize
gantry_arena_size (const GantryArena *arena)
{
  return arena->total;
}
