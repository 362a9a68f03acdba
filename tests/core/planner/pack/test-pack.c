/* SPDX-License-Identifier: Apache-2.0 */
/* Packing against brute force: no overlap, never under the lower bound, optimal where the optimum can be searched
 * for, near the lower bound on the shapes of real programs. */
#include "core/base/error.h"
#include "core/planner/pack/pack-csv.h"
#include "tests/random-seed.h"
#include "tests/test-files.h"
#include <string.h>

static guint64
aligned (guint64 size, guint64 alignment)
{
  return (size + alignment - 1) / alignment * alignment;
}

static gboolean
alive_together (const GantryPackItem *a, const GantryPackItem *b)
{
  return a->size > 0 && b->size > 0 && a->begin <= b->end && b->begin <= a->end;
}

/* Every pair, by definition. Returns: the height */
static guint64
check_by_definition (const GantryPackItem *items, guint32 n, guint64 alignment)
{
  guint64 height = 0;

  for (guint32 i = 0; i < n; i++)
    {
      guint64 top = items[i].offset + aligned (items[i].size, alignment);

      g_assert_cmpuint (items[i].offset % alignment, ==, 0);
      height = MAX (height, top);
      for (guint32 j = 0; j < i; j++)
        if (alive_together (&items[i], &items[j]))
          g_assert_true (top <= items[j].offset || items[j].offset + aligned (items[j].size, alignment) <= items[i].offset);
    }
  return height;
}

static guint64
bound_by_definition (const GantryPackItem *items, guint32 n, guint64 alignment, guint32 *step)
{
  guint64 bound = 0;

  *step = 0;
  for (guint32 i = 0; i < n; i++)
    {
      guint64 live = 0;

      if (items[i].size == 0)
        continue;
      for (guint32 j = 0; j < n; j++)
        if (items[j].begin <= items[i].begin && items[i].begin <= items[j].end)
          live += aligned (items[j].size, alignment);
      if (live > bound || (live == bound && items[i].begin < *step))
        {
          bound = live;
          *step = items[i].begin;
        }
    }
  return bound;
}

static void
fill_random (GantryPackItem *items, guint32 n, GRand *random)
{
  guint32 times = (guint32) g_rand_int_range (random, 1, 60), longest = (guint32) g_rand_int_range (random, 1, 30);
  gint32 largest = g_rand_int_range (random, 1, 5000);

  for (guint32 i = 0; i < n; i++)
    {
      items[i].begin = (guint32) g_rand_int_range (random, 0, (gint32) times);
      items[i].end = items[i].begin + (guint32) g_rand_int_range (random, 0, (gint32) longest);
      items[i].size = (guint64) g_rand_int_range (random, g_rand_boolean (random) ? 0 : 1, largest + 1);
      items[i].offset = 77;
    }
}

static void
test_random (void)
{
  g_autoptr (GRand) random = test_rand (1);
  const guint64 alignments[] = { 1, 16, 64, 100 };
  GantryPackItem items[120];
  double worst = 1, sum = 0;
  guint counted = 0;

  for (guint round = 0; round < 1000; round++)
    {
      guint32 n = (guint32) g_rand_int_range (random, 0, 120), step = 0, said = 0;
      GantryPackOptions options = { alignments[round % 4], 0, 40 };
      guint64 bound, height;

      fill_random (items, n, random);
      bound = bound_by_definition (items, n, options.alignment, &step);
      g_assert_cmpuint (gantry_pack_lower_bound (items, n, options.alignment, &said), ==, bound);
      g_assert_cmpuint (said, ==, step);
      height = gantry_pack (items, n, &options, NULL);
      g_assert_cmpuint (check_by_definition (items, n, options.alignment), ==, height);
      g_assert_true (gantry_pack_check (items, n, options.alignment, NULL, NULL));
      g_assert_cmpuint (height, >=, bound);
      if (bound > 0)
        {
          worst = MAX (worst, (double) height / (double) bound);
          sum += (double) height / (double) bound;
          counted++;
        }
    }
  g_test_message ("height over lower bound: mean %.4f, worst %.4f", sum / counted, worst);
}

/* Whoever gives the places, they are valid; the exact one is never above the others. */
static void
test_allocators (void)
{
  g_autoptr (GRand) random = test_rand (12);
  GantryPackItem items[120];

  for (guint round = 0; round < 300; round++)
    {
      guint32 n = (guint32) g_rand_int_range (random, 0, 120);
      GantryPackOptions options = { .alignment = 16 };
      guint64 exact;

      fill_random (items, n, random);
      exact = gantry_pack (items, n, &options, NULL);
      for (options.allocator = GANTRY_ALLOCATOR_BEST_FIT; options.allocator < GANTRY_N_ALLOCATORS; options.allocator++)
        {
          guint64 height = gantry_pack (items, n, &options, NULL);

          g_assert_true (gantry_pack_check (items, n, options.alignment, NULL, NULL));
          g_assert_cmpuint (height, >=, check_by_definition (items, n, options.alignment));
          if (exact == gantry_pack_lower_bound (items, n, options.alignment, NULL))
            g_assert_cmpuint (height, >=, exact);
        }
    }
}

/* A pool gives the smallest free chunk that suffices, splits it where half is left, and joins what is free side by side. */
static void
test_bfc (void)
{
  GantryPackItem items[] = { { 0, 0, 100, 0 }, { 0, 9, 10, 0 }, { 0, 1, 40, 0 }, { 2, 3, 40, 0 }, { 3, 9, 60, 0 } };
  const GantryPackOptions options = { .allocator = GANTRY_ALLOCATOR_BFC };
  guint64 height = gantry_pack (items, G_N_ELEMENTS (items), &options, NULL);

  /* At one time that which lives longest is given its place first. */
  g_assert_cmpuint (items[1].offset, ==, 0);
  g_assert_cmpuint (items[2].offset, ==, 10);
  g_assert_cmpuint (items[0].offset, ==, 50);
  /* Free from 10 to 150: the chunks of 40 and 100 are one again, of which 40 are split off. */
  g_assert_cmpuint (items[3].offset, ==, 10);
  g_assert_cmpuint (items[4].offset, ==, 50);
  g_assert_cmpuint (height, ==, 150);
}

/* Under @best, or @best when there is none. In a packing in which nothing can sink, each item lies where first fit
 * puts it in the order of offset: those orders are all that need be tried. */
static guint64
optimum (GantryPackItem *items, guint32 n, guint32 done, guint64 height, guint64 best)
{
  if (height >= best || done == n)
    return MIN (height, best);
  for (guint32 i = done; i < n; i++)
    {
      GantryPackItem chosen = items[i];
      guint64 offset = 0;
      gboolean moved = TRUE;

      items[i] = items[done];
      while (moved)
        {
          moved = FALSE;
          for (guint32 j = 0; j < done; j++)
            if (alive_together (&chosen, &items[j]) && offset < items[j].offset + items[j].size && items[j].offset < offset + chosen.size)
              {
                offset = items[j].offset + items[j].size;
                moved = TRUE;
              }
        }
      chosen.offset = offset;
      items[done] = chosen;
      if (done == 0 || offset >= items[done - 1].offset)
        best = optimum (items, n, done + 1, MAX (height, offset + chosen.size), best);
      items[done] = items[i];
      items[i] = chosen;
    }
  return best;
}

static void
test_optimal (void)
{
  g_autoptr (GRand) random = test_rand (2);
  GantryPackItem items[11];
  GantryPackResult result;
  guint proved = 0;
  /* Hardly any order reaches its lower bound. */
  GantryPackItem hard[] = { { 1, 4, 1, 0 }, { 0, 2, 1, 0 }, { 0, 5, 1, 0 }, { 1, 4, 1, 0 }, { 1, 2, 1, 0 }, { 0, 4, 3, 0 }, { 4, 5, 2, 0 },
                            { 0, 5, 2, 0 }, { 2, 4, 1, 0 }, { 0, 5, 1, 0 }, { 0, 1, 3, 0 }, { 0, 0, 3, 0 }, { 2, 2, 1, 0 }, { 3, 3, 3, 0 } };

  for (guint round = 0; round < 20000; round++)
    {
      guint32 n = (guint32) g_rand_int_range (random, 5, 12);
      guint64 height;

      for (guint32 i = 0; i < n; i++)
        {
          items[i].begin = (guint32) g_rand_int_range (random, 0, 8);
          items[i].end = items[i].begin + (guint32) g_rand_int_range (random, 0, 5);
          items[i].size = (guint64) g_rand_int_range (random, 1, 6);
        }
      height = gantry_pack_solve (items, n, NULL, NULL, &result);
      g_assert_cmpuint (result.height, ==, height);
      g_assert_cmpuint (result.load, ==, gantry_pack_lower_bound (items, n, 1, NULL));
      /* What is above the load is proved to be the lowest. */
      g_assert_cmpuint (result.lower_bound, ==, height);
      if (height == result.load)
        continue;
      g_assert_cmpuint (optimum (items, n, 0, 0, height), ==, height);
      proved++;
    }
  g_test_message ("%u are above their load", proved);
  g_assert_cmpuint (gantry_pack_lower_bound (hard, 14, 1, NULL), ==, 14);
  g_assert_cmpuint (gantry_pack (hard, 14, NULL, NULL), ==, 14);
}

/* On a hard problem the effort ends the search, however much a single decision costs; the same effort gives the same packing. */
static void
test_bounded (void)
{
  const guint32 n = 450;
  g_autofree GantryPackItem *items = g_new0 (GantryPackItem, n);
  guint64 heights[2];

  for (guint round = 0; round < 2; round++)
    {
      g_autoptr (GRand) random = g_rand_new_with_seed (1);
      const GantryPackOptions options = { .nodes = 5000, .alignment = 1 };
      GantryPackResult result;

      for (guint32 i = 0; i < n; i++)
        {
          items[i].begin = (guint32) g_rand_int_range (random, 0, 60);
          items[i].end = items[i].begin + (guint32) g_rand_int_range (random, 2, 30);
          items[i].size = (guint64) g_rand_int_range (random, 100, 9999);
        }
      heights[round] = gantry_pack_solve (items, n, &options, NULL, &result);
      g_assert_true (gantry_pack_check (items, n, 1, NULL, NULL));
      g_assert_cmpuint (result.height, >, result.lower_bound); /* it is hard */
      g_assert_cmpuint (result.nodes, <=, options.nodes);
      g_assert_cmpuint (result.work, <=, 256 * options.nodes);
    }
  g_assert_cmpuint (heights[0], ==, heights[1]);
}

/* A full rectangle cut again and again: its own height is the lower bound and can be reached, but hardly by chance. */
static guint32
cut_rectangle (GantryPackItem *items, guint32 n, GRand *random)
{
  guint32 count = 1;

  items[0] = (GantryPackItem){ 0, 999, 100000, 0 };
  while (count < n)
    {
      GantryPackItem *whole = &items[g_rand_int_range (random, 0, (gint32) count)], *rest = &items[count];
      double part = g_rand_double_range (random, 0.3, 0.7);

      *rest = *whole;
      if (g_rand_boolean (random) && whole->end - whole->begin >= 4)
        {
          whole->end = whole->begin + (guint32) ((whole->end - whole->begin) * part);
          rest->begin = whole->end + 1;
        }
      else if (whole->size >= 4)
        {
          whole->size = (guint64) ((double) whole->size * part);
          rest->size -= whole->size;
        }
      else
        continue;
      count++;
    }
  return count;
}

static void
test_full_rectangle (void)
{
  g_autoptr (GRand) random = test_rand (6);
  GantryPackItem items[200];
  double sum = 0, worst = 1;

  for (guint round = 0; round < 10; round++)
    {
      guint32 n = cut_rectangle (items, 20 + 20 * round, random);
      GantryPackOptions options = { 1, 0, 3000 };
      double ratio;

      g_assert_cmpuint (gantry_pack_lower_bound (items, n, 1, NULL), ==, 100000);
      ratio = (double) gantry_pack (items, n, &options, NULL) / 100000;
      g_assert_true (gantry_pack_check (items, n, 1, NULL, NULL));
      sum += ratio;
      worst = MAX (worst, ratio);
    }
  g_test_message ("height over the optimum: mean %.4f, worst %.4f", sum / 10, worst);
  g_assert_cmpfloat (sum / 10, <, 1.15);
}

static void
test_check_finds (void)
{
  GantryPackItem items[3] = { { 0, 4, 10, 0 }, { 5, 6, 10, 0 }, { 4, 5, 10, 10 } };
  guint32 a, b;

  g_assert_true (gantry_pack_check (items, 3, 1, &a, &b));
  items[2].offset = 9;
  g_assert_false (gantry_pack_check (items, 3, 1, &a, &b));
  g_assert_cmpuint (MIN (a, b), ==, 0);
  g_assert_cmpuint (MAX (a, b), ==, 2);
  /* Rounded up, the first reaches into the third. */
  items[2].offset = 10;
  g_assert_false (gantry_pack_check (items, 3, 16, NULL, NULL));
  /* Nothing overlaps what takes no room. */
  items[2].size = 0;
  items[2].offset = 0;
  g_assert_true (gantry_pack_check (items, 3, 1, NULL, NULL));
}

static void
test_deterministic (void)
{
  g_autoptr (GRand) random = test_rand (3);
  GantryPackItem a[100], b[100];
  GantryPackOptions options = { 64, 0, 100 };

  fill_random (a, 100, random);
  memcpy (b, a, sizeof a);
  for (guint i = 0; i < 100; i++)
    b[i].offset = 12345 * i;
  g_assert_cmpuint (gantry_pack (a, 100, &options, NULL), ==, gantry_pack (b, 100, &options, NULL));
  for (guint i = 0; i < 100; i++)
    g_assert_cmpuint (a[i].offset, ==, b[i].offset);
}

/* Sizes as layers have them: a few that come again and again. */
static guint64
layer_size (GRand *random)
{
  const guint64 sizes[] = { 4096, 65536, 200704, 401408, 802816, 3072, 50176, 1048576 };

  return sizes[g_rand_int_range (random, 0, G_N_ELEMENTS (sizes))];
}

/* A training step: what the forward pass leaves behind is used by the backward pass in the opposite order. */
static guint32
fill_training (GantryPackItem *items, guint32 layers, GRand *random)
{
  guint32 n = 0, last = 6 * layers;

  for (guint32 i = 0; i < layers; i++)
    {
      items[n++] = (GantryPackItem){ 3 * i, last - 3 * i, layer_size (random), 0 };
      items[n++] = (GantryPackItem){ 3 * i + 1, 3 * i + 2 + (i % 3), layer_size (random), 0 };
      items[n++] = (GantryPackItem){ last - 3 * i - 2, last - 3 * i + 1, layer_size (random), 0 };
      items[n++] = (GantryPackItem){ last - 3 * i - 1, last - 3 * i, layer_size (random), 0 };
    }
  return n;
}

static guint32
fill_chain (GantryPackItem *items, guint32 n, GRand *random)
{
  for (guint32 i = 0; i < n; i++)
    items[i] = (GantryPackItem){ i, i + 1 + (i % 5 == 0 ? 7 : 0) + (i % 50 == 0 ? 400 : 0), layer_size (random), 0 };
  return n;
}

static void
test_large (void)
{
  /* How good a packing is, no rule says: it is a figure of these buffers, which are therefore always the same. */
  g_autoptr (GRand) random = g_rand_new_with_seed (4);
  g_autofree GantryPackItem *items = g_new (GantryPackItem, 100000);
  GantryPackOptions options = { 64, 0, 0 };

  for (guint shape = 0; shape < 2; shape++)
    {
      guint32 n = shape == 0 ? fill_training (items, 25000, random) : fill_chain (items, 100000, random);
      gint64 start = g_get_monotonic_time ();
      guint64 bound, height = gantry_pack (items, n, &options, NULL);

      g_test_message ("%s of %u buffers: %.0f ms", shape == 0 ? "training step" : "chain", n, (double) (g_get_monotonic_time () - start) / 1e3);
      bound = gantry_pack_lower_bound (items, n, 64, NULL);
      g_test_message ("height over lower bound: %.5f", (double) height / (double) bound);
      g_assert_true (gantry_pack_check (items, n, 64, NULL, NULL));
      g_assert_cmpfloat ((double) height, <=, 1.01 * (double) bound);
    }
}

static void
test_edges (void)
{
  GantryPackItem zero[2] = { { 0, 9, 0, 5 }, { 3, 4, 0, 5 } };
  GantryPackItem one = { G_MAXUINT32 - 1, G_MAXUINT32, 65, 9 };
  GantryPackOptions options = { 64 };

  g_assert_cmpuint (gantry_pack (NULL, 0, NULL, NULL), ==, 0);
  g_assert_cmpuint (gantry_pack (zero, 2, &options, NULL), ==, 0);
  g_assert_cmpuint (zero[0].offset, ==, 0);
  g_assert_cmpuint (gantry_pack (&one, 1, &options, NULL), ==, 128);
  g_assert_cmpuint (one.offset, ==, 0);
}

static void
test_cancelled (void)
{
  g_autoptr (GRand) random = test_rand (5);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GantryProgress progress = { NULL, NULL, cancellable };
  GantryPackItem items[100];
  guint64 height;

  fill_random (items, 100, random);
  g_cancellable_cancel (cancellable);
  height = gantry_pack (items, 100, NULL, &progress);
  g_assert_cmpuint (check_by_definition (items, 100, 1), ==, height);
}

/* The problems of github.com/google/minimalloc, each within the capacity that its name says, with little effort and no
 * setting for any of them. */
static void
test_minimalloc (void)
{
  static const char *const names[] = { "A.1048576.csv", "C.1048576.csv", "E.1048576.csv", "G.1048576.csv", "I.1048576.csv", "K.1048576.csv", "input.12.csv" };
  g_autofree char *folder = test_shared_file ("data/minimalloc", NULL);

  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("the minimalloc problems are not here; GANTRY_SHARED names the folder that holds data/minimalloc");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *file = test_shared_file ("data/minimalloc", names[i]), *text = NULL;
      g_autoptr (GantryPackTable) table = NULL;
      g_autoptr (GError) error = NULL;
      GantryPackOptions options = { 0 };
      GantryPackResult result;
      guint64 capacity = g_ascii_strtoull (strchr (names[i], '.') + 1, NULL, 10);
      gsize length;

      g_file_get_contents (file, &text, &length, &error);
      g_assert_no_error (error);
      table = gantry_pack_table_from_csv (text, length, names[i], &error);
      g_assert_no_error (error);
      for (int bound = 0; bound < 2; bound++)
        {
          options.target = bound ? 0 : capacity;
          gantry_pack_solve (table->items, table->n, &options, NULL, &result);
          g_test_message ("%s: %u buffers, height %" G_GUINT64_FORMAT ", bound %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT " nodes", names[i], table->n,
                          result.height, result.lower_bound, result.nodes);
          g_assert_true (gantry_pack_check (table->items, table->n, 1, NULL, NULL));
          g_assert_cmpuint (result.height, <=, capacity);
          g_assert_cmpuint (result.nodes, <=, 20000);
        }
    }
}

/* The limits are kept, and more effort is not worse. */
static void
test_effort (void)
{
  g_autoptr (GRand) random = test_rand (8);
  GantryPackItem items[300];
  guint32 n = cut_rectangle (items, 300, random);
  GantryPackOptions little = { .rounds = 1, .nodes = 40 }, more = { .rounds = 1, .nodes = 100000 };
  GantryPackResult first, second;

  gantry_pack_solve (items, n, &little, NULL, &first);
  gantry_pack_solve (items, n, &more, NULL, &second);
  g_assert_cmpuint (first.nodes, <=, 40);
  g_assert_cmpuint (second.nodes, <=, 100000);
  g_assert_cmpuint (second.height, >=, 100000); /* of the rectangle that was cut */
  g_assert_cmpuint (first.height, >=, second.height);
}

/* Too many for the exact search: repair brings the skyline's packing down. */
static void
test_repair (void)
{
  g_autoptr (GRand) random = test_rand (9);
  g_autofree GantryPackItem *items = g_new0 (GantryPackItem, 4000);
  GantryPackOptions options = { 64, 0, 1, 0 }, any = { 64, G_MAXUINT64, 1, 0 }; /* any height will do: skylines alone */
  GantryPackResult result, skyline;

  for (guint i = 0; i < 4000; i++)
    {
      guint32 begin = (guint32) g_rand_int_range (random, 0, 4000);

      items[i] = (GantryPackItem){ begin, begin + (1u << g_rand_int_range (random, 0, 10)), (guint64) 64 << g_rand_int_range (random, 0, 16), 0 };
    }
  gantry_pack_solve (items, 4000, &any, NULL, &skyline);
  gantry_pack_solve (items, 4000, &options, NULL, &result);
  g_test_message ("height over lower bound: %.4f, skylines alone: %.4f", (double) result.height / (double) result.lower_bound,
                  (double) skyline.height / (double) skyline.lower_bound);
  g_assert_true (gantry_pack_check (items, 4000, 64, NULL, NULL));
  g_assert_cmpuint (result.height % 64, ==, 0);
  g_assert_cmpuint (result.height, >=, result.lower_bound);
  if (skyline.height > skyline.lower_bound) /* how far it comes down depends on the items */
    g_assert_cmpuint (result.height, <, skyline.height);
}

static void
test_csv (void)
{
  static const char good[] = "size,end,id,other,lower\r\n# no line\r\n\r\n10,3,a,,0\r\n 7 , 4,b,x,4";
  static const char *const bad[] = { "",
                                     "id,lower,size\n",
                                     "lower,upper,end,size\n",
                                     "lower,upper,size\n1,1,1\n",
                                     "lower,upper,size\n1,2\n",
                                     "lower,upper,size\n1,2,3,4\n",
                                     "lower,upper,size\n-1,2,3\n",
                                     "lower,upper,size\n1,4294967295,3\n",
                                     "lower,upper,size\n1,2,4611686018427387905\n",
                                     "lower,upper,size\n1,2,\n",
                                     "lower,lower,upper,size\n1,1,2,3\n",
                                     "lower,upper,size\n0,1,4611686018427387904\n0,1,1\n" };
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPackTable) table = gantry_pack_table_from_csv (good, strlen (good), "good.csv", &error);

  g_assert_no_error (error);
  g_assert_cmpuint (table->n, ==, 2);
  g_assert_cmpstr (table->ids[1], ==, "b");
  g_assert_cmpuint (table->items[0].end, ==, 3);
  g_assert_cmpuint (table->items[1].begin, ==, 4);
  g_assert_cmpuint (table->items[1].size, ==, 7);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) why = NULL;

      g_assert_null (gantry_pack_table_from_csv (bad[i], strlen (bad[i]), "bad.csv", &why));
      g_assert_error (why, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_nonnull (strstr (why->message, "bad.csv, line "));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/pack/allocators", test_allocators);
  g_test_add_func ("/planner/pack/bfc", test_bfc);
  g_test_add_func ("/planner/pack/random", test_random);
  g_test_add_func ("/planner/pack/optimal", test_optimal);
  g_test_add_func ("/planner/pack/full-rectangle", test_full_rectangle);
  g_test_add_func ("/planner/pack/check-finds", test_check_finds);
  g_test_add_func ("/planner/pack/deterministic", test_deterministic);
  g_test_add_func ("/planner/pack/large", test_large);
  g_test_add_func ("/planner/pack/edges", test_edges);
  g_test_add_func ("/planner/pack/cancelled", test_cancelled);
  g_test_add_func ("/planner/pack/minimalloc", test_minimalloc);
  g_test_add_func ("/planner/pack/effort", test_effort);
  g_test_add_func ("/planner/pack/bounded", test_bounded);
  g_test_add_func ("/planner/pack/repair", test_repair);
  g_test_add_func ("/planner/pack/csv", test_csv);
  return g_test_run ();
}
