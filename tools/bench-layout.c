/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the layout on graphs of DOT files, and draws it.
 *
 *   bench-layout [--runs=N] [--patience=S] [FILE...]   a line for each figure: name, median, unit, least..most, peer
 *   bench-layout --svg=OUT [--area=X,Y,W,H] FILE       a picture, or a part of it
 *
 * Without a FILE, the sample graphs in data/layout of the folder that GANTRY_SHARED names, or of ../shared. The peer of a time is
 * Graphviz's dot on the same file in the same run, reading and writing included, where it is installed.
 */
#include "tools/bench-figure.h"
#include "tools/bench-main.h"
#include "tools/layout-sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *const samples[] = { "train_1000",  "train_10000",  "train_50000",   "chain_1000",     "chain_10000",
                                       "chain_50000", "layered_1000", "layered_10000", "clustered_1000", "clustered_10000" };

static int n_runs = 7, patience = 10;
static char *svg_path;
static char *svg_area;
static gboolean no_fold;
static char **files;

static const GOptionEntry options[] = {
  { "runs", 0, 0, G_OPTION_ARG_INT, &n_runs, "How often to lay out each graph", "N" },
  { "patience", 0, 0, G_OPTION_ARG_INT, &patience, "How long dot may take", "SECONDS" },
  { "svg", 0, 0, G_OPTION_ARG_FILENAME, &svg_path, "Draw the graph instead", "OUT" },
  { "area", 0, 0, G_OPTION_ARG_STRING, &svg_area, "Draw only this part", "X,Y,W,H" },
  { "no-fold", 0, 0, G_OPTION_ARG_NONE, &no_fold, "Never fold the drawing", NULL },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, NULL, "FILE..." },
  { NULL },
};

static void
take_params (GantryLayoutParams *params)
{
  gantry_layout_params_init (params);
  if (no_fold)
    params->fold = GANTRY_LAYOUT_FOLD_NEVER;
}

/* --- picture --------------------------------------------------------------------------------- */

static void
draw_box (GString *svg, const GantryLayoutBox *box, const char *style)
{
  g_string_append_printf (svg, "<rect x='%g' y='%g' width='%g' height='%g' %s/>\n", (double) box->x, (double) box->y, (double) box->width, (double) box->height,
                          style);
}

static void
draw_edge (GString *svg, const GantryLayout *layout, guint32 e)
{
  g_string_append (svg, "<polyline class='e' points='");
  for (guint32 i = layout->edge_first[e]; i < layout->edge_first[e + 1]; i++)
    g_string_append_printf (svg, "%g,%g ", (double) layout->points[i].x, (double) layout->points[i].y);
  g_string_append (svg, "'/>\n");
}

typedef struct
{
  GString *svg;
  const GantryLayout *layout;
  GantryLayoutItemKind only;
} Painter;

static gboolean
paint (GantryLayoutItemKind kind, guint32 index, gpointer user_data)
{
  Painter *painter = user_data;

  if (kind != painter->only)
    return TRUE;
  if (kind == GANTRY_LAYOUT_ITEM_EDGE)
    draw_edge (painter->svg, painter->layout, index);
  else
    {
      const GantryLayoutBox *box = &painter->layout->node[index];

      draw_box (painter->svg, box, "rx='4' fill='#cfe3d4' stroke='#567'");
      g_string_append_printf (painter->svg, "<text x='%g' y='%g'>n%u</text>\n", (double) (box->x + box->width / 2), (double) (box->y + box->height / 2 + 4),
                              index);
    }
  return TRUE;
}

static gboolean
write_svg (const GantryLayout *layout, GError **error)
{
  GantryLayoutBox area = { -20, -20, layout->width + 40, layout->height + 40 };
  g_autoptr (GString) svg = g_string_new (NULL);
  Painter painter = { .svg = svg, .layout = layout };

  if (svg_area != NULL)
    {
      g_auto (GStrv) parts = g_strsplit (svg_area, ",", 4);

      if (g_strv_length (parts) != 4)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "--area=%s: must be X,Y,W,H", svg_area);
          return FALSE;
        }
      area.x = (float) g_ascii_strtod (parts[0], NULL);
      area.y = (float) g_ascii_strtod (parts[1], NULL);
      area.width = (float) g_ascii_strtod (parts[2], NULL);
      area.height = (float) g_ascii_strtod (parts[3], NULL);
    }
  g_string_append_printf (svg,
                          "<svg xmlns='http://www.w3.org/2000/svg' viewBox='%g %g %g %g' width='%g' height='%g'>\n"
                          "<defs><marker id='a' markerWidth='8' markerHeight='8' refX='7' refY='4' orient='auto'>"
                          "<path d='M0,1 L8,4 L0,7 z' fill='#345'/></marker></defs>\n"
                          "<style>.e{fill:none;stroke:#345;marker-end:url(#a)}"
                          "text{font:11px sans-serif;text-anchor:middle}</style>\n",
                          (double) area.x, (double) area.y, (double) area.width, (double) area.height, (double) area.width, (double) area.height);
  g_string_append_printf (svg, "<rect x='%g' y='%g' width='%g' height='%g' fill='white'/>\n", (double) area.x, (double) area.y, (double) area.width,
                          (double) area.height);
  /* Groups are listed from the outside in by the reader, which is how they have to be painted. */
  for (guint32 g = 0; g < layout->n_groups; g++)
    draw_box (svg, &layout->group[g], "fill='#88aacc' fill-opacity='0.13' stroke='#9ab'");
  painter.only = GANTRY_LAYOUT_ITEM_EDGE;
  gantry_layout_query (layout, &area, paint, &painter);
  painter.only = GANTRY_LAYOUT_ITEM_NODE;
  gantry_layout_query (layout, &area, paint, &painter);
  g_string_append (svg, "</svg>\n");
  return g_file_set_contents (svg_path, svg->str, (gssize) svg->len, error);
}

/* --- figures --------------------------------------------------------------------------------- */

static void
print_figure (const char *graph, const char *name, double *values, int n, const char *unit, const char *peer)
{
  g_autofree char *full = g_strdup_printf ("layout.%s.%s", graph, name);

  bench_print_figure (full, values, (guint) n, unit, peer);
}

static void
print_count (const char *graph, const char *name, double count, const char *unit)
{
  print_figure (graph, name, &count, 1, unit, "not measured");
}

/* A node, and how many others lie on it. */
typedef struct
{
  const GantryLayout *layout;
  guint32 node;
  guint32 n_overlaps;
} Overlap;

static gboolean
count_overlap (GantryLayoutItemKind kind, guint32 index, gpointer user_data)
{
  Overlap *overlap = user_data;
  const GantryLayoutBox *a = &overlap->layout->node[overlap->node];
  const GantryLayoutBox *b = &overlap->layout->node[index];

  if (kind == GANTRY_LAYOUT_ITEM_NODE && index > overlap->node && a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height
      && b->y < a->y + a->height)
    overlap->n_overlaps++;
  return TRUE;
}

static guint32
count_overlaps (const GantryLayout *layout)
{
  Overlap overlap = { .layout = layout };

  for (overlap.node = 0; overlap.node < layout->n_nodes; overlap.node++)
    gantry_layout_query (layout, &layout->node[overlap.node], count_overlap, &overlap);
  return overlap.n_overlaps;
}

static gboolean
is_attached (const GantryLayoutBox *box, const GantryLayoutPoint *point)
{
  return point->x >= box->x && point->x <= box->x + box->width && (point->y == box->y || point->y == box->y + box->height);
}

/* Edges that have no route, or one that does not lead from tail to head. */
static guint32
count_missing (const GantryLayoutInput *input, const GantryLayout *layout)
{
  guint32 n = 0;

  for (guint32 e = 0; e < input->n_edges; e++)
    {
      guint32 first = layout->edge_first[e];
      guint32 past = layout->edge_first[e + 1];

      n += past < first + 2 || !is_attached (&layout->node[input->tail[e]], &layout->points[first])
           || !is_attached (&layout->node[input->head[e]], &layout->points[past - 1]);
    }
  return n;
}

static gboolean
is_same (const GantryLayout *a, const GantryLayout *b)
{
  return a->n_points == b->n_points && memcmp (a->node, b->node, a->n_nodes * sizeof *a->node) == 0
         && memcmp (a->group, b->group, a->n_groups * sizeof *a->group) == 0 && memcmp (a->points, b->points, a->n_points * sizeof *a->points) == 0;
}

/* The version that dot says of itself: "dot - graphviz version 2.43.0 (0)". (transfer full) (nullable) */
static char *
dot_version (void)
{
  g_autofree char *words = NULL;
  const char *version;

  if (!g_spawn_command_line_sync ("dot -V", NULL, &words, NULL, NULL))
    return NULL;
  version = strstr (words, "version ");
  return version != NULL ? g_strndup (version + 8, strcspn (version + 8, " \n")) : NULL;
}

/* What dot takes for the file, once: "dot 2.43.0: 86 s", or that it takes longer than one waits. (transfer full) */
static char *
measure_dot (const char *path)
{
  g_autofree char *version = dot_version (), *quoted = g_shell_quote (path);
  g_autofree char *words = g_strdup_printf ("%s %s | timeout -k 1 %d dot -Tplain > /dev/null 2>&1", g_str_has_suffix (path, ".gz") ? "zcat" : "cat", quoted,
                                            patience);
  const char *const arguments[] = { "sh", "-c", words, NULL };
  gint64 begin = g_get_monotonic_time ();
  int status;

  if (version == NULL || !g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, NULL))
    return g_strdup ("not measured");
  if (WIFEXITED (status) && WEXITSTATUS (status) == 124)
    return g_strdup_printf ("dot %s: over %d s", version, patience);
  if (status != 0)
    return g_strdup ("not measured");
  return g_strdup_printf ("dot %s: %.4g ms", version, (double) (g_get_monotonic_time () - begin) / 1000);
}

static void
print_figures (const char *graph, const char *path, const LayoutSample *sample, const GantryLayout *layout, double *ms, int n_different)
{
  g_autofree char *dot = measure_dot (path);

  print_figure (graph, "time", ms, n_runs, "ms", dot);
  print_count (graph, "peak_memory", (double) layout->peak_bytes / MAX (layout->n_nodes, 1), "B/node");
  print_count (graph, "result_memory", (double) layout->bytes / MAX (layout->n_nodes, 1), "B/node");
  print_count (graph, "overlaps", count_overlaps (layout), "boxes");
  print_count (graph, "missing", count_missing (&sample->input, layout), "edges");
  print_count (graph, "differing_runs", n_different, "runs");
}

static gboolean
bench_file (const char *path, GError **error)
{
  g_autoptr (LayoutSample) sample = layout_sample_load (path, error);
  g_autofree char *graph = g_path_get_basename (path);
  g_autofree double *ms = g_new (double, n_runs);
  g_autoptr (GantryLayout) layout = NULL;
  GantryLayoutParams params;
  int n_different = 0;

  if (sample == NULL)
    return FALSE;
  if (strchr (graph, '.') != NULL)
    *strchr (graph, '.') = '\0';
  take_params (&params);
  for (int i = 0; i < n_runs; i++)
    {
      gint64 begin = g_get_monotonic_time ();
      g_autoptr (GantryLayout) other = gantry_layout_compute (&sample->input, &params, NULL, error);

      ms[i] = (double) (g_get_monotonic_time () - begin) / 1000;
      if (other == NULL)
        return FALSE;
      if (layout == NULL)
        layout = g_steal_pointer (&other);
      else
        n_different += !is_same (layout, other);
    }
  if (svg_path != NULL)
    return write_svg (layout, error);
  print_figures (graph, path, sample, layout, ms, n_different);
  return TRUE;
}

/* The samples, where they are. */
static char **
list_samples (void)
{
  const char *shared = g_getenv ("GANTRY_SHARED");
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *folder = shared != NULL ? g_build_filename (shared, "data", "layout", NULL)
                                           : g_build_filename (root != NULL ? root : ".", "..", "shared", "data", "layout", NULL);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autofree char *file = g_strconcat (samples[i], ".dot.gz", NULL);
      g_autofree char *path = g_build_filename (folder, file, NULL);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        g_strv_builder_add (builder, path);
    }
  return g_strv_builder_end (builder);
}

static gboolean
bench (GError **error)
{
  gboolean ok = TRUE;

  if (files == NULL)
    files = list_samples ();
  if (files[0] == NULL)
    g_print ("# bench-layout: no sample graphs here; GANTRY_SHARED names the folder that holds data/layout\n");
  for (int i = 0; ok && files[i] != NULL; i++)
    ok = bench_file (files[i], error);
  return ok;
}

int
main (int argc, char **argv)
{
  static const BenchLimit limits[] = { { "runs", &n_runs, 1, 1000 }, { "patience", &patience, 1, 3600 }, { NULL } };
  int status = bench_main (argc, argv, "bench-layout", options, limits, bench);

  g_strfreev (files);
  g_free (svg_path);
  g_free (svg_area);
  return status;
}
