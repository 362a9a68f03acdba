/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the packing of buffers: how long it takes and how far above the lower bound it ends, on the problems that
 * are given (tables as gantry-cli pack reads them, with the capacity as the last number in the file name) and on 100,000
 * buffers of four made-up kinds.
 *
 *   bench-pack [--runs=N] [--buffers=N] [--effort=N] [FILE...]    a line for each figure: name, median, unit,
 *                                                                 least..most, peer
 *
 * Times are those of the processor: packing is done on one core, whatever the others do.
 *
 * The peer of a ratio is best fit, largest buffer first, which is what XLA's heap simulator does: the same problem in
 * the same run, by a plain program of our own at the end of this file.
 */
#include "core/planner/pack/pack-csv.h"
#include "tools/bench-figure.h"
#include "tools/bench-main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALIGNMENT 64
/* Best fit takes time with the square of the number. */
#define MOST_FOR_PEER 5000

static int n_runs = 5;
static int n_buffers = 100000;
static int effort;
static char **files;

static const GOptionEntry options[] = {
  { "runs", 0, 0, G_OPTION_ARG_INT, &n_runs, "How often to pack each", "N" },
  { "buffers", 0, 0, G_OPTION_ARG_INT, &n_buffers, "Size of the problems that are made up", "N" },
  { "effort", 0, 0, G_OPTION_ARG_INT, &effort, "Decisions of the exact search, as of gantry-cli pack; 0: for every day", "N" },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, NULL, "[FILE...]" },
  { NULL },
};

/* --- problems -------------------------------------------------------------------------------- */

/* Sizes as layers have them: a few that come again and again. */
static guint64
layer_size (GRand *random)
{
  static const guint64 sizes[] = { 4096, 65536, 200704, 401408, 802816, 3072, 50176, 1048576 };

  return sizes[g_rand_int_range (random, 0, G_N_ELEMENTS (sizes))];
}

/* A few bytes to gigabytes, each power of two about as often. */
static guint64
heavy_size (GRand *random)
{
  return (guint64) (64 * exp2 (g_rand_double_range (random, 0, 24)));
}

static guint32
random_step (GRand *random, guint32 below)
{
  return (guint32) g_rand_int_range (random, 0, (gint32) below);
}

/* A training step: what the forward pass leaves is used in the opposite order, and between is short-lived work. */
static void
fill_training (GantryPackItem *items, guint32 n, GRand *random)
{
  guint32 layers = n / 4, last = 6 * layers;

  for (guint32 k = 0; k < n; k++)
    {
      guint32 i = k / 4;

      switch (k % 4)
        {
        case 0: items[k] = (GantryPackItem){ 3 * i, last + 2 - 3 * i, layer_size (random) }; break;
        case 1: items[k] = (GantryPackItem){ 3 * i + 1, 3 * i + 2 + i % 3, layer_size (random) }; break;
        case 2: items[k] = (GantryPackItem){ last - 3 * i, last + 3 - 3 * i, layer_size (random) }; break;
        default: items[k] = (GantryPackItem){ last + 1 - 3 * i, last + 2 - 3 * i, layer_size (random) };
        }
    }
}

/* Lifetimes inside lifetimes: each begins and ends within one that is drawn from those before. */
static void
fill_nested (GantryPackItem *items, guint32 n, GRand *random)
{
  for (guint32 k = 0; k < n; k++)
    {
      const GantryPackItem *outer = k > 0 ? &items[random_step (random, k)] : NULL;
      guint32 begin = 0, end = 4 * n, a, b;

      if (outer != NULL && outer->end - outer->begin > 2)
        begin = outer->begin, end = outer->end;
      a = begin + random_step (random, end - begin);
      b = begin + random_step (random, end - begin);
      items[k] = (GantryPackItem){ MIN (a, b), MAX (a, b), heavy_size (random) };
    }
}

/* Any two steps. */
static void
fill_uniform (GantryPackItem *items, guint32 n, GRand *random)
{
  for (guint32 k = 0; k < n; k++)
    {
      guint32 a = random_step (random, n), b = random_step (random, n);

      items[k] = (GantryPackItem){ MIN (a, b), MAX (a, b), (guint64) random_step (random, 1000000) + 1 };
    }
}

/* Mostly short, some long; mostly small, some large. */
static void
fill_heavy (GantryPackItem *items, guint32 n, GRand *random)
{
  for (guint32 k = 0; k < n; k++)
    {
      guint32 begin = random_step (random, n);
      guint32 length = (guint32) exp2 (g_rand_double_range (random, 0, log2 (n) - 2));

      items[k] = (GantryPackItem){ begin, begin + length, heavy_size (random) };
    }
}

static const struct
{
  const char *name;
  void (*fill) (GantryPackItem *items, guint32 n, GRand *random);
} kinds[] = { { "training", fill_training }, { "nested", fill_nested }, { "uniform", fill_uniform }, { "heavy", fill_heavy } };

/* --- the peer -------------------------------------------------------------------------------- */

static int
compare_sizes (const void *a, const void *b, gpointer user_data)
{
  const GantryPackItem *items = user_data, *x = &items[*(const guint32 *) a], *y = &items[*(const guint32 *) b];
  guint32 long_x = x->end - x->begin, long_y = y->end - y->begin;

  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return long_x != long_y ? (long_x > long_y ? -1 : 1) : 0;
}

static int
compare_offsets (const void *a, const void *b, gpointer user_data)
{
  const GantryPackItem *items = user_data, *x = &items[*(const guint32 *) a], *y = &items[*(const guint32 *) b];

  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The smallest gap that holds it, between those that are alive with it; else on top of them. */
static guint64
best_fit (GantryPackItem *items, guint32 n)
{
  g_autofree guint32 *order = g_new (guint32, n + 1), *alive = g_new (guint32, n + 1);
  guint64 height = 0;

  for (guint32 i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data (order, (gint) n, sizeof *order, compare_sizes, items);
  for (guint32 k = 0; k < n; k++)
    {
      GantryPackItem *item = &items[order[k]];
      guint64 top = 0, gap = G_MAXUINT64;
      guint32 n_alive = 0;

      for (guint32 j = 0; j < k; j++)
        if (items[order[j]].begin <= item->end && item->begin <= items[order[j]].end)
          alive[n_alive++] = order[j];
      g_qsort_with_data (alive, (gint) n_alive, sizeof *alive, compare_offsets, items);
      item->offset = G_MAXUINT64;
      for (guint32 j = 0; j < n_alive; j++)
        {
          const GantryPackItem *other = &items[alive[j]];

          if (other->offset > top && other->offset - top >= item->size && other->offset - top < gap)
            {
              gap = other->offset - top;
              item->offset = top;
            }
          top = MAX (top, other->offset + other->size);
        }
      if (item->offset == G_MAXUINT64)
        item->offset = top;
      height = MAX (height, item->offset + item->size);
    }
  return height;
}

/* --- figures --------------------------------------------------------------------------------- */

static void
print_figure (const char *problem, const char *name, double *values, int n, const char *unit, const char *peer)
{
  g_autofree char *full = g_strdup_printf ("pack.%s.%s", problem, name);

  bench_print_figure (full, values, (guint) n, unit, peer);
}

/* @capacity: 0 for none. */
static void
bench_problem (const char *name, GantryPackItem *items, guint32 n, guint64 capacity, guint64 alignment)
{
  const GantryPackOptions how = { .alignment = alignment, .target = capacity, .nodes = (guint64) effort };
  g_autofree double *times = g_new (double, n_runs);
  g_autofree char *peer = g_strdup ("not measured");
  GantryPackResult result;
  double ratio, nodes;

  for (int i = 0; i < n_runs; i++)
    {
      clock_t start = clock ();

      gantry_pack_solve (items, n, &how, NULL, &result);
      times[i] = 1000 * (double) (clock () - start) / CLOCKS_PER_SEC;
    }
  g_assert (gantry_pack_check (items, n, alignment, NULL, NULL));
  ratio = (double) result.height / (double) MAX (result.lower_bound, 1);
  nodes = (double) result.nodes;
  if (n <= MOST_FOR_PEER)
    {
      g_free (peer);
      peer = g_strdup_printf ("best fit by size %.4f", (double) best_fit (items, n) / (double) MAX (result.lower_bound, 1));
    }
  print_figure (name, "time", times, n_runs, "ms", "not measured");
  print_figure (name, "height_over_bound", &ratio, 1, "x", peer);
  print_figure (name, "nodes", &nodes, 1, "nodes", "not measured");
}

/* "A.1048576.csv": the name and the capacity. */
static gboolean
bench_file (const char *path, GError **error)
{
  g_autofree char *base = g_path_get_basename (path), *text = NULL;
  g_auto (GStrv) parts = g_strsplit (base, ".", -1);
  g_autoptr (GantryPackTable) table = NULL;
  guint64 capacity = 0;
  gsize length;

  if (!g_file_get_contents (path, &text, &length, error))
    return FALSE;
  table = gantry_pack_table_from_csv (text, length, path, error);
  if (table == NULL)
    return FALSE;
  if (g_strv_length (parts) == 3)
    capacity = g_ascii_strtoull (parts[1], NULL, 10);
  bench_problem (parts[0], table->items, table->n, capacity, 1);
  return TRUE;
}

static gboolean
bench (GError **error)
{
  for (char **file = files; file != NULL && *file != NULL; file++)
    if (!bench_file (*file, error))
      return FALSE;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      g_autoptr (GRand) random = g_rand_new_with_seed (1);
      g_autofree GantryPackItem *items = g_new0 (GantryPackItem, n_buffers);
      g_autofree char *name = g_strdup_printf ("%s_%d", kinds[k].name, n_buffers);

      kinds[k].fill (items, (guint32) n_buffers, random);
      bench_problem (name, items, (guint32) n_buffers, 0, ALIGNMENT);
    }
  return TRUE;
}

int
main (int argc, char **argv)
{
  static const BenchLimit limits[] = {
    { "runs", &n_runs, 1, 1000 },
    { "buffers", &n_buffers, 8, 1000000 },
    { "effort", &effort, 0, G_MAXINT },
    { NULL },
  };
  int status = bench_main (argc, argv, "bench-pack", options, limits, bench);

  g_strfreev (files);
  return status;
}
