/* SPDX-License-Identifier: Apache-2.0 */
/* Races in the shared memory of a block, by what the PTX ISA promises and no more ("Memory consistency model",
 * "Asynchronous operations"). Time is the number of barriers that the block has passed. For each byte is known who wrote
 * it last and who has read it since when:
 *
 * - threads see each other's writes, and may write what others have read, after a barrier; in the same warp too, for
 *   neither shuffles nor matrix instructions order memory;
 * - what is fetched (cp.async) belongs to nobody from the fetch until the thread that fetches has waited for its group;
 *   from then on it is a write of that thread;
 * - wgmma reads its tiles by another way: a write is there for it where its thread has put a fence behind it and a
 *   barrier has come after that; until the product is awaited its tiles may not be written and its sums not be touched.
 *
 * That holds for every interleaving. Beside it the order in which threads run between two points where they meet, and
 * the moments at which fetches and products get done, are drawn from a seed, so that a fault shows in the results too. */
#include "core/kernels/cpu/grid-run.h"
#include <string.h>

#define WARP 32
#define MANY (G_MAXUINT16 - 1) /* several threads */
#define NOBODY G_MAXUINT16

/* Times are never 0 where something happened. */
typedef struct
{
  guint32 written, read;  /* times */
  guint32 write_number;   /* of the writer's writes and fences, counted */
  guint16 writer, reader; /* threads */
  guint16 fetching;       /* the thread whose fetch is under way, NOBODY: none is */
  guint16 products;       /* that read it and are not awaited */
} Byte;

typedef struct
{
  guint32 number;       /* of writes and fences, counted */
  guint32 fence;        /* number of the last fence */
  guint32 fence_before; /* the same, of those that a barrier came after */
} Thread;

struct _GantryGridRaces
{
  GantryGridBlock *block;
  Byte *bytes; /* of shared memory */
  Thread *threads;
  guint32 time, first_time; /* of this block */
  guint32 *warps;           /* order, of this piece */
  guint32 lanes;            /* lane i comes in place i xor this */
  guint64 random;           /* 0: no choice is made */
};

/* Of the process */
static GMutex lock;
static gboolean counting; /* rather than ending the process */
static guint n_found;
static char *first_found;
static guint64 seed; /* atomic use is not needed: it changes between runs only */

void
gantry_grid_races_begin (guint64 of_seed)
{
  g_mutex_lock (&lock);
  counting = TRUE;
  n_found = 0;
  g_clear_pointer (&first_found, g_free);
  seed = of_seed;
  g_mutex_unlock (&lock);
}

guint
gantry_grid_races_end (char **first)
{
  guint n;

  g_mutex_lock (&lock);
  n = n_found;
  if (first != NULL)
    *first = g_steal_pointer (&first_found);
  g_clear_pointer (&first_found, g_free);
  counting = FALSE;
  seed = 0;
  g_mutex_unlock (&lock);
  return n;
}

static void G_GNUC_PRINTF (1, 2) found (const char *format, ...)
{
  va_list list;

  g_mutex_lock (&lock);
  if (n_found++ == 0 || !counting)
    {
      va_start (list, format);
      first_found = g_strdup_vprintf (format, list);
      va_end (list);
    }
  if (!counting)
    g_error ("a bound program has a race: %s", first_found);
  g_mutex_unlock (&lock);
}

GantryGridRaces *
gantry_grid_races_new (GantryGridBlock *block)
{
  GantryGridRaces *races = g_new0 (GantryGridRaces, 1);

  races->block = block;
  races->bytes = g_new0 (Byte, block->shared_bytes + 1);
  races->threads = g_new0 (Thread, block->n_threads);
  races->warps = g_new0 (guint32, block->n_threads / WARP + 1);
  return races;
}

void
gantry_grid_races_free (GantryGridRaces *races)
{
  g_free (races->bytes);
  g_free (races->threads);
  g_free (races->warps);
  g_free (races);
}

/* Chance */

/* xorshift64* */
static guint32
draw (GantryGridRaces *races, guint32 below)
{
  races->random ^= races->random >> 12;
  races->random ^= races->random << 25;
  races->random ^= races->random >> 27;
  return (guint32) ((races->random * G_GUINT64_CONSTANT (0x2545f4914f6cdd1d)) >> 33) % below;
}

static gboolean
chance (GantryGridRaces *races, guint32 n)
{
  return races->random != 0 && draw (races, n) == 0;
}

void
gantry_grid_races_new_block (GantryGridRaces *races, gint64 task)
{
  guint32 n_warps = races->block->n_threads / WARP;

  races->random = seed;
  if (seed != 0)
    {
      races->random = (seed + (guint64) task) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) | 1;
      for (guint i = 0; i < 8; i++)
        draw (races, 2);
    }
  /* Times of the block before are past. */
  races->first_time = ++races->time;
  for (guint64 i = 0; i < races->block->shared_bytes; i++)
    {
      races->bytes[i].fetching = NOBODY;
      races->bytes[i].products = 0;
    }
  memset (races->threads, 0, races->block->n_threads * sizeof *races->threads);
  for (guint32 i = 0; i < n_warps; i++)
    races->warps[i] = i;
  races->lanes = 0;
}

/* Some of what is under way gets done. */
static void
let_arrive (GantryGridRaces *races)
{
  GantryGridBlock *block = races->block;
  guint64 blocked = 0; /* groups of which an older product is not done */

  for (guint32 t = 0; t < block->n_threads; t++)
    for (guint i = 0; block->fetches[t] != NULL && i < block->fetches[t]->len; i++)
      {
        GantryGridFetch *fetch = &g_array_index (block->fetches[t], GantryGridFetch, i);

        if (fetch->landed || !chance (races, 4))
          continue;
        gantry_grid_fetch_land (fetch);
      }
  for (guint i = 0; i < block->products->len; i++)
    {
      GantryGridProduct *product = &g_array_index (block->products, GantryGridProduct, i);
      guint64 bit = G_GUINT64_CONSTANT (1) << product->first_thread / GANTRY_GRID_GROUP;

      if ((blocked & bit) == 0 && (product->done || chance (races, 4)))
        gantry_grid_product_do (product);
      else
        blocked |= bit;
    }
}

static void
draw_order (GantryGridRaces *races)
{
  guint32 n_warps = races->block->n_threads / WARP;

  for (guint32 i = n_warps; i > 1; i--)
    {
      guint32 j = draw (races, i), other = races->warps[j];

      races->warps[j] = races->warps[i - 1];
      races->warps[i - 1] = other;
    }
  races->lanes = draw (races, WARP);
}

guint32
gantry_grid_block_thread (guint8 *block, guint32 number)
{
  GantryGridRaces *races = gantry_grid_block_of (block)->races;
  guint32 n = races->block->n_threads;

  if (races->random == 0)
    return number;
  if (number == 0)
    {
      let_arrive (races);
      draw_order (races);
    }
  /* Threads that make no whole warp go forward or backward. */
  if (n % WARP != 0)
    return races->lanes % 2 == 0 ? number : n - 1 - number;
  return races->warps[number / WARP] * WARP + (number % WARP ^ races->lanes);
}

/* Bytes */

static Byte *
byte_at (const GantryGridRaces *races, const void *at, guint32 bytes, guint32 statement)
{
  gsize offset = (gsize) at - (gsize) races->block->memory; /* of what lies before it too large */

  if (bytes > races->block->shared_bytes || offset > races->block->shared_bytes - bytes)
    g_error ("statement %u of a bound program is outside the %" G_GUINT64_FORMAT " bytes of shared memory", statement, races->block->shared_bytes);
  return &races->bytes[offset];
}

#define OFFSET(races, byte) ((guint64) ((byte) - (races)->bytes))

/* Whether one that is @thread may see what was written there last. */
static void
may_see (GantryGridRaces *races, const Byte *byte, guint32 thread, const char *does, guint32 statement)
{
  if (byte->fetching != NOBODY)
    found ("statement %u: thread %u %s byte %" G_GUINT64_FORMAT " of shared memory, which thread %u fetches and has not "
           "waited for",
           statement, thread, does, OFFSET (races, byte), byte->fetching);
  else if (byte->written == races->time && byte->writer != thread)
    found ("statement %u: thread %u %s byte %" G_GUINT64_FORMAT " of shared memory, which thread %u has written, without "
           "a barrier in between",
           statement, thread, does, OFFSET (races, byte), byte->writer);
}

static void
read_byte (GantryGridRaces *races, Byte *byte, guint32 thread, guint32 statement)
{
  may_see (races, byte, thread, "reads", statement);
  if (byte->fetching == NOBODY && byte->written < races->first_time)
    found ("statement %u: thread %u reads byte %" G_GUINT64_FORMAT " of shared memory, which nobody has written", statement, thread, OFFSET (races, byte));
  byte->reader = byte->read != races->time || byte->reader == thread ? (guint16) thread : MANY;
  byte->read = races->time;
}

/* Whether @thread may overwrite it. */
static void
may_write (GantryGridRaces *races, const Byte *byte, guint32 thread, const char *does, guint32 statement)
{
  may_see (races, byte, thread, does, statement);
  if (byte->products > 0)
    found ("statement %u: thread %u %s byte %" G_GUINT64_FORMAT " of shared memory, which a wgmma reads that was not "
           "waited for",
           statement, thread, does, OFFSET (races, byte));
  else if (byte->read == races->time && byte->reader != thread)
    found ("statement %u: thread %u %s byte %" G_GUINT64_FORMAT " of shared memory, which another one has read, without a "
           "barrier in between",
           statement, thread, does, OFFSET (races, byte));
}

static void
write_byte (GantryGridRaces *races, Byte *byte, guint32 thread)
{
  byte->written = races->time;
  byte->writer = (guint16) thread;
  byte->write_number = races->threads[thread].number;
}

void
gantry_grid_races_read (GantryGridRaces *races, guint32 thread, const void *at, guint32 bytes, guint32 statement)
{
  Byte *byte = byte_at (races, at, bytes, statement);

  for (guint32 i = 0; i < bytes; i++)
    read_byte (races, byte + i, thread, statement);
}

/* Sums of a wgmma that was not awaited. */
static void
touch_sums (GantryGridRaces *races, guint32 thread, const guint8 *at, guint32 bytes, guint32 statement)
{
  const GArray *products = races->block->products;

  for (guint i = 0; i < products->len; i++)
    {
      const GantryGridProduct *p = &g_array_index (products, GantryGridProduct, i);
      const guint8 *sums;

      if (thread < p->first_thread || thread >= p->first_thread + GANTRY_GRID_GROUP)
        continue;
      sums = p->d + (thread - p->first_thread) * p->stride;
      if (at + bytes > sums && at < sums + p->columns / 2 * 4)
        {
          found ("statement %u: thread %u touches sums of the wgmma of statement %u, which was not waited for", statement, thread, p->statement);
          return;
        }
    }
}

void
gantry_grid_block_access (guint8 *block, guint32 thread, const void *at, guint32 bytes, guint32 access, guint32 statement)
{
  GantryGridRaces *races = gantry_grid_block_of (block)->races;
  Byte *byte;

  if ((const guint8 *) at >= block + races->block->shared_bytes + GANTRY_GRID_GUARD)
    {
      touch_sums (races, thread, at, bytes, statement);
      return;
    }
  if (access == 0)
    {
      gantry_grid_races_read (races, thread, at, bytes, statement);
      return;
    }
  byte = byte_at (races, at, bytes, statement);
  races->threads[thread].number++;
  for (guint32 i = 0; i < bytes; i++)
    {
      may_write (races, byte + i, thread, "writes", statement);
      write_byte (races, byte + i, thread);
    }
}

/* Fetches */

void
gantry_grid_races_fetch (GantryGridRaces *races, guint32 thread, const GantryGridFetch *fetch, guint32 statement)
{
  Byte *byte = byte_at (races, fetch->to, fetch->bytes, statement);

  for (guint32 i = 0; i < fetch->bytes; i++)
    {
      may_write (races, byte + i, thread, "fetches into", statement);
      byte[i].fetching = (guint16) thread;
    }
}

void
gantry_grid_races_fetched (GantryGridRaces *races, guint32 thread, const GantryGridFetch *fetch)
{
  Byte *byte = byte_at (races, fetch->to, fetch->bytes, 0);

  races->threads[thread].number++;
  for (guint32 i = 0; i < fetch->bytes; i++)
    {
      byte[i].fetching = NOBODY;
      write_byte (races, byte + i, thread);
    }
}

/* Products */

static void
read_for_product (GantryGridRaces *races, Byte *byte, const GantryGridProduct *product)
{
  const char *why = NULL;

  if (byte->fetching != NOBODY)
    why = "which is being fetched";
  else if (byte->written < races->first_time)
    why = "which nobody has written";
  else if (byte->written == races->time)
    why = "which was written without a barrier behind it";
  else if (byte->write_number >= races->threads[byte->writer].fence_before)
    why = "whose writer has put no fence behind it before the barrier";
  if (why != NULL)
    found ("statement %u: a wgmma reads byte %" G_GUINT64_FORMAT " of shared memory, %s", product->statement, OFFSET (races, byte), why);
  byte->products++;
}

static void
known_byte (GantryGridRaces *races, Byte *byte, const GantryGridProduct *product)
{
  (void) product;
  byte->products--;
  byte->reader = MANY;
  byte->read = races->time;
}

static void
each_byte (GantryGridRaces *races, const GantryGridProduct *product, void (*work) (GantryGridRaces *races, Byte *byte, const GantryGridProduct *product))
{
  for (guint tile = 0; tile < 2; tile++)
    for (guint own = 0; own < (tile == 0 ? GANTRY_WGMMA_ROWS : product->columns); own++)
      for (guint depth = 0; depth < GANTRY_WGMMA_DEPTH; depth++)
        {
          gboolean transposed = (product->shape >> tile & 1) != 0;
          const guint8 *at = gantry_grid_tile_element (tile == 0 ? product->a : product->b, own, depth, transposed);
          Byte *byte = byte_at (races, at, 2, product->statement);

          work (races, byte, product);
          work (races, byte + 1, product);
        }
}

void
gantry_grid_races_product (GantryGridRaces *races, const GantryGridProduct *product)
{
  each_byte (races, product, read_for_product);
}

void
gantry_grid_races_product_known (GantryGridRaces *races, const GantryGridProduct *product)
{
  each_byte (races, product, known_byte);
}

/* Order */

void
gantry_grid_block_fence (guint8 *block, guint32 thread)
{
  Thread *self = &gantry_grid_block_of (block)->races->threads[thread];

  self->fence = ++self->number;
}

void
gantry_grid_block_barrier (guint8 *block)
{
  GantryGridRaces *races = gantry_grid_block_of (block)->races;

  races->time++;
  for (guint32 t = 0; t < races->block->n_threads; t++)
    races->threads[t].fence_before = races->threads[t].fence;
}
