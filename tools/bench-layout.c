/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the layout on graphs of DOT files, and draws it.
 *
 *   bench-layout [--runs=N] [FILE...]             a line for each figure: name, median, unit,
 * least..most, peer bench-layout --json [--runs=N] [FILE...]      the same as a list of objects
 *   bench-layout --svg=OUT [--area=X,Y,W,H] FILE  a picture, or a part of it
 *
 * Without a FILE, the sample graphs in data/layout of the folder that GANTRY_SHARED names, or of
 * ../shared.
 */
#include "tools/layout-sample.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What other programs took for the same files, in wall seconds on a machine with two cores:
 * Graphviz dot 2.43.0, and the layout alone of Netron 9.2.1, 120 s at most. Quoted; not measured by
 * this program. */
typedef struct
{
  const char *graph;
  const char *peers;
} Peer;

static const Peer peers[] = {
  { "train_1000", "dot over 120 s, Netron 21-22 s" },
  { "train_10000", NULL },
  { "train_50000", NULL },
  { "chain_1000", "dot 0.40-0.43 s, Netron 0.6-1.3 s" },
  { "chain_10000", "dot 86-90 s, Netron 3.0-3.5 s" },
  { "chain_50000", "dot over 120 s, Netron 20-23 s" },
  { "layered_1000", "dot 0.32-0.34 s, Netron 1.4-1.6 s" },
  { "layered_10000", "dot 39-40 s" },
  { "clustered_1000", "dot 0.25-0.39 s, Netron 1.6-3.2 s" },
  { "clustered_10000", "dot 39-52 s" },
};

static gboolean as_json;
static int n_runs = 7;
static char *svg_path;
static char *svg_area;
static gboolean no_fold;
static char **files;
static int n_figures;

static const GOptionEntry options[] = {
  { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print a JSON list", NULL },
  { "runs", 0, 0, G_OPTION_ARG_INT, &n_runs, "How often to lay out each graph", "N" },
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
  g_string_append_printf (svg, "<rect x='%g' y='%g' width='%g' height='%g' %s/>\n", (double) box->x,
                          (double) box->y, (double) box->width, (double) box->height, style);
}

static void
draw_edge (GString *svg, const GantryLayout *layout, guint32 e)
{
  g_string_append (svg, "<polyline class='e' points='");
  for (guint32 i = layout->edge_first[e]; i < layout->edge_first[e + 1]; i++)
    g_string_append_printf (svg, "%g,%g ", (double) layout->points[i].x,
                            (double) layout->points[i].y);
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
      g_string_append_printf (painter->svg, "<text x='%g' y='%g'>n%u</text>\n",
                              (double) (box->x + box->width / 2),
                              (double) (box->y + box->height / 2 + 4), index);
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
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "--area=%s: must be X,Y,W,H",
                       svg_area);
          return FALSE;
        }
      area.x = (float) g_ascii_strtod (parts[0], NULL);
      area.y = (float) g_ascii_strtod (parts[1], NULL);
      area.width = (float) g_ascii_strtod (parts[2], NULL);
      area.height = (float) g_ascii_strtod (parts[3], NULL);
    }
  g_string_append_printf (
    svg,
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='%g %g %g %g' width='%g' height='%g'>\n"
    "<defs><marker id='a' markerWidth='8' markerHeight='8' refX='7' refY='4' orient='auto'>"
    "<path d='M0,1 L8,4 L0,7 z' fill='#345'/></marker></defs>\n"
    "<style>.e{fill:none;stroke:#345;marker-end:url(#a)}"
    "text{font:11px sans-serif;text-anchor:middle}</style>\n",
    (double) area.x, (double) area.y, (double) area.width, (double) area.height,
    (double) area.width, (double) area.height);
  g_string_append_printf (svg, "<rect x='%g' y='%g' width='%g' height='%g' fill='white'/>\n",
                          (double) area.x, (double) area.y, (double) area.width,
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

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a;
  double y = *(const double *) b;

  return x < y ? -1 : x > y;
}

/* One figure: the median of what was measured, sorted, and its spread. */
static void
print_figure (const char *graph, const char *name, const double *values, int n, const char *unit,
              const char *peer)
{
  g_autofree char *full = g_strdup_printf ("layout.%s.%s", graph, name);
  g_autofree char *quoted = peer != NULL ? g_strdup_printf ("quoted: %s", peer) : NULL;

  if (as_json)
    g_print (
      "%s\n  { \"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"min\": %.6g, \"max\": %.6g, "
      "\"runs\": %d, \"peer\": %s%s%s }",
      n_figures > 0 ? "," : "", full, values[n / 2], unit, values[0], values[n - 1], n,
      quoted != NULL ? "\"" : "", quoted != NULL ? quoted : "null", quoted != NULL ? "\"" : "");
  else
    g_print ("%-40s %10.4g %-8s %.4g..%.4g  %s\n", full, values[n / 2], unit, values[0],
             values[n - 1], quoted != NULL ? quoted : "not measured");
  n_figures++;
}

static void
print_count (const char *graph, const char *name, double count, const char *unit)
{
  print_figure (graph, name, &count, 1, unit, NULL);
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

  if (kind == GANTRY_LAYOUT_ITEM_NODE && index > overlap->node && a->x < b->x + b->width
      && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height)
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
  return point->x >= box->x && point->x <= box->x + box->width
         && (point->y == box->y || point->y == box->y + box->height);
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
         && memcmp (a->group, b->group, a->n_groups * sizeof *a->group) == 0
         && memcmp (a->points, b->points, a->n_points * sizeof *a->points) == 0;
}

static const char *
find_peers (const char *graph)
{
  for (guint i = 0; i < G_N_ELEMENTS (peers); i++)
    if (strcmp (peers[i].graph, graph) == 0)
      return peers[i].peers;
  return NULL;
}

static void
print_figures (const char *graph, const LayoutSample *sample, const GantryLayout *layout,
               double *ms, int n_different)
{
  qsort (ms, (size_t) n_runs, sizeof *ms, compare_doubles);
  print_figure (graph, "time", ms, n_runs, "ms", find_peers (graph));
  print_count (graph, "peak_memory", (double) layout->peak_bytes / MAX (layout->n_nodes, 1),
               "B/node");
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
  print_figures (graph, sample, layout, ms, n_different);
  return TRUE;
}

/* The samples, where they are. */
static char **
list_samples (void)
{
  const char *shared = g_getenv ("GANTRY_SHARED");
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *folder = shared != NULL ? g_build_filename (shared, "data", "layout", NULL)
                                           : g_build_filename (root != NULL ? root : ".", "..",
                                                               "shared", "data", "layout", NULL);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (peers); i++)
    {
      g_autofree char *file = g_strconcat (peers[i].graph, ".dot.gz", NULL);
      g_autofree char *path = g_build_filename (folder, file, NULL);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        g_strv_builder_add (builder, path);
    }
  return g_strv_builder_end (builder);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("- measure or draw layouts");
  g_autoptr (GError) error = NULL;
  gboolean ok;

  setlocale (LC_ALL, "C");
  g_option_context_add_main_entries (context, options, NULL);
  ok = g_option_context_parse (context, &argc, &argv, &error);
  if (ok && (n_runs < 1 || n_runs > 1000))
    {
      ok = FALSE;
      g_set_error (&error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "--runs=%d: must be 1 to 1000",
                   n_runs);
    }
  if (files == NULL)
    files = list_samples ();
  if (ok && files[0] == NULL && !as_json)
    g_print (
      "# bench-layout: no sample graphs here; GANTRY_SHARED names the folder that holds data/layout\n");
  if (ok && as_json)
    g_print ("[");
  for (int i = 0; ok && files[i] != NULL; i++)
    ok = bench_file (files[i], &error);
  if (as_json)
    g_print ("\n]\n");
  if (!ok)
    g_printerr ("bench-layout: %s\n", error->message);
  g_strfreev (files);
  g_free (svg_path);
  g_free (svg_area);
  return ok ? 0 : 1;
}
