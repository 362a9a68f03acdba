/* SPDX-License-Identifier: Apache-2.0 */
/* A hash from bytes to id beside a table of blocks of entries. Blocks are never moved, so a reader
 * needs no lock for an id it was given: the id reached it through some other synchronisation. */
#include "core/base/interner.h"
#include "core/base/arena.h"
#include <string.h>

#define BLOCK_BITS 12
#define BLOCK_SIZE (1u << BLOCK_BITS)
#define MAX_BLOCKS (1u << 14) /* 67 million entries */

typedef struct
{
  const guint8 *data;
  gsize size;
  guint32 id;
  guint32 hash;
} Entry;

struct _GantryInterner
{
  GMutex lock;
  GantryArena *arena;
  GHashTable *table; /* Entry* -> itself */
  Entry **blocks;    /* MAX_BLOCKS pointers, filled in order */
  guint32 count;
};

static guint32
hash_bytes (gconstpointer data, gsize size)
{
  const guint8 *p = data;
  guint64 h = 0xcbf29ce484222325u ^ size;

  for (; size >= 8; p += 8, size -= 8)
    {
      guint64 word;

      memcpy (&word, p, 8);
      h = (h ^ word) * 0x9e3779b97f4a7c15u;
      h ^= h >> 32;
    }
  for (; size > 0; p++, size--)
    h = (h ^ *p) * 0x100000001b3u;
  return (guint32) (h ^ (h >> 29));
}

static guint
entry_hash (gconstpointer key)
{
  return ((const Entry *) key)->hash;
}

static gboolean
entry_equal (gconstpointer a, gconstpointer b)
{
  const Entry *x = a, *y = b;

  return x->size == y->size && (x->size == 0 || memcmp (x->data, y->data, x->size) == 0);
}

GantryInterner *
gantry_interner_new (void)
{
  GantryInterner *interner = g_new0 (GantryInterner, 1);

  g_mutex_init (&interner->lock);
  interner->arena = gantry_arena_new ();
  interner->table = g_hash_table_new (entry_hash, entry_equal);
  interner->blocks = g_new0 (Entry *, MAX_BLOCKS);
  return interner;
}

void
gantry_interner_free (GantryInterner *interner)
{
  if (interner == NULL)
    return;
  g_hash_table_unref (interner->table);
  for (guint i = 0; i < MAX_BLOCKS && interner->blocks[i] != NULL; i++)
    g_free (interner->blocks[i]);
  g_free (interner->blocks);
  gantry_arena_free (interner->arena);
  g_mutex_clear (&interner->lock);
  g_free (interner);
}

static Entry *
new_entry (GantryInterner *interner)
{
  guint32 index = interner->count++;
  guint32 block = index >> BLOCK_BITS;

  g_assert (block < MAX_BLOCKS);
  if (interner->blocks[block] == NULL)
    interner->blocks[block] = g_new0 (Entry, BLOCK_SIZE);
  return &interner->blocks[block][index & (BLOCK_SIZE - 1)];
}

guint32
gantry_interner_add (GantryInterner *interner, gconstpointer data, gsize size)
{
  Entry key = { .data = data, .size = size, .hash = hash_bytes (data, size) };
  Entry *entry;
  guint32 id;

  g_mutex_lock (&interner->lock);
  entry = g_hash_table_lookup (interner->table, &key);
  if (entry == NULL)
    {
      guint8 *copy = gantry_arena_alloc (interner->arena, size + 1);

      if (size > 0)
        memcpy (copy, data, size);
      entry = new_entry (interner);
      *entry = (Entry){ .data = copy, .size = size, .id = interner->count, .hash = key.hash };
      g_hash_table_add (interner->table, entry);
    }
  id = entry->id;
  g_mutex_unlock (&interner->lock);
  return id;
}

guint32
gantry_interner_find (GantryInterner *interner, gconstpointer data, gsize size)
{
  Entry key = { .data = data, .size = size, .hash = hash_bytes (data, size) };
  Entry *entry;
  guint32 id;

  g_mutex_lock (&interner->lock);
  entry = g_hash_table_lookup (interner->table, &key);
  id = entry != NULL ? entry->id : 0;
  g_mutex_unlock (&interner->lock);
  return id;
}

gconstpointer
gantry_interner_get (GantryInterner *interner, guint32 id, gsize *size)
{
  const Entry *entry;

  if (id == 0)
    {
      if (size != NULL)
        *size = 0;
      return NULL;
    }
  entry = &interner->blocks[(id - 1) >> BLOCK_BITS][(id - 1) & (BLOCK_SIZE - 1)];
  if (size != NULL)
    *size = entry->size;
  return entry->data;
}

guint32
gantry_interner_count (GantryInterner *interner)
{
  guint32 count;

  g_mutex_lock (&interner->lock);
  count = interner->count;
  g_mutex_unlock (&interner->lock);
  return count;
}

guint32
gantry_interner_add_string (GantryInterner *interner, const char *text)
{
  return text != NULL ? gantry_interner_add (interner, text, strlen (text)) : 0;
}

const char *
gantry_interner_string (GantryInterner *interner, guint32 id)
{
  return id != 0 ? gantry_interner_get (interner, id, NULL) : "";
}
