/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the layout on graphs of DOT files, and draws it.
 *
 *   bench-layout [--json] [--runs=N] FILE...      a line for each figure: name, median, unit, least..most, peer
 *   bench-layout --svg=OUT [--area=X,Y,W,H] FILE  a picture, or a part of it
 *
 * What other programs take for the same files was measured once, by hand, and is quoted; see the table below.
 */
#include "tools/layout-sample.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Wall seconds on a machine with two cores: Graphviz dot 2.43.0, and Netron 9.2.1's layout alone, 120 s at most.
 * Quoted from measurements made before this program existed; not measured in this run. */
typedef struct
{
  const char *file;
  const char *dot;
  const char *netron;
} Peer;

static const Peer peers[] = {
  { "chain_1000", "0.40-0.43 s", "0.6-1.3 s" },
  { "chain_10000", "86-90 s", "3.0-3.5 s" },
  { "chain_50000", "over 120 s", "20-23 s" },
  { "layered_1000", "0.32-0.34 s", "1.4-1.6 s" },
  { "layered_10000", "39-40 s", NULL },
  { "clustered_1000", "0.25-0.39 s", "1.6-3.2 s" },
  { "clustered_10000", "39-52 s", NULL },
  { "train_1000", "over 120 s", "21-22 s" },
};

static gboolean as_json;
static int n_runs = 7;
static char *svg_path;
static char *svg_area;
static gboolean no_fold;
static char **files;

static const GOptionEntry options[] = {
  { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print one JSON object", NULL },
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

/* --- picture ---------------------------------------------------------------------------------------------- */

static void
draw_box (GString *svg, const GantryLayoutBox *box, const char *style)
{
  g_string_append_printf (svg, "<rect x='%g' y='%g' width='%g' height='%g' %s/>\n", (double) box->x, (double) box->y,
                          (double) box->width, (double) box->height, style);
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
      g_string_append_printf (painter->svg, "<text x='%g' y='%g'>n%u</text>\n", (double) (box->x + box->width / 2),
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
                          (double) area.x, (double) area.y, (double) area.width, (double) area.height,
                          (double) area.width, (double) area.height);
  g_string_append_printf (svg, "<rect x='%g' y='%g' width='%g' height='%g' fill='white'/>\n", (double) area.x,
                          (double) area.y, (double) area.width, (double) area.height);
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

/* --- figures ---------------------------------------------------------------------------------------------- */

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a;
  double y = *(const double *) b;

  return x < y ? -1 : x > y;
}

/* One figure: what was measured, sorted, or a single value. */
static void
print_figure (const char *graph, const char *name, const double *values, int n, const char *unit, const char *peer)
{
  static gboolean first = TRUE;

  if (as_json)
    {
      g_print ("%s\n  { \"name\": \"layout.%s.%s\", \"value\": %.6g, \"unit\": \"%s\", \"least\": %.6g, \"most\": %.6g, "
               "\"runs\": %d", first ? "" : ",", graph, name, values[n / 2], unit, values[0], values[n - 1], n);
      if (peer != NULL)
        g_print (", \"peer\": \"%s\", \"peer_measured_here\": false", peer);
      g_print (" }");
    }
  else
    {
      g_autofree char *full = g_strdup_printf ("layout.%s.%s", graph, name);

      g_print ("%-40s %10.4g %-8s %.4g..%.4g%s%s\n", full, values[n / 2], unit, values[0], values[n - 1],
               peer != NULL ? "   quoted: " : "", peer != NULL ? peer : "");
    }
  first = FALSE;
}

static char *
quote_peers (const char *graph)
{
  for (guint i = 0; i < G_N_ELEMENTS (peers); i++)
    if (strcmp (peers[i].file, graph) == 0)
      return peers[i].netron != NULL ? g_strdup_printf ("dot %s, Netron %s", peers[i].dot, peers[i].netron)
                                     : g_strdup_printf ("dot %s", peers[i].dot);
  return NULL;
}

static gboolean
bench_file (const char *path, GError **error)
{
  g_autoptr (LayoutSample) sample = layout_sample_load (path, error);
  g_autofree char *graph = g_path_get_basename (path);
  g_autofree double *ms = g_new (double, n_runs);
  g_autoptr (GantryLayout) layout = NULL;
  GantryLayoutParams params;

  if (sample == NULL)
    return FALSE;
  if (strchr (graph, '.') != NULL)
    *strchr (graph, '.') = '\0';
  take_params (&params);
  for (int i = 0; i < n_runs; i++)
    {
      g_clear_pointer (&layout, gantry_layout_unref);
      gint64 begin = g_get_monotonic_time ();
      layout = gantry_layout_compute (&sample->input, &params, NULL, error);
      ms[i] = (double) (g_get_monotonic_time () - begin) / 1000;
      if (layout == NULL)
        return FALSE;
    }
  if (svg_path != NULL)
    return write_svg (layout, error);

  g_autofree char *peer = quote_peers (graph);
  double peak = (double) layout->peak_bytes / layout->n_nodes;
  double kept = (double) layout->bytes / layout->n_nodes;

  qsort (ms, (size_t) n_runs, sizeof *ms, compare_doubles);
  print_figure (graph, "time", ms, n_runs, "ms", peer);
  print_figure (graph, "peak_memory", &peak, 1, "B/node", NULL);
  print_figure (graph, "result_memory", &kept, 1, "B/node", NULL);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  gboolean ok;

  setlocale (LC_ALL, "C");
  g_option_context_add_main_entries (context, options, NULL);
  ok = g_option_context_parse (context, &argc, &argv, &error);
  if (ok && (files == NULL || n_runs < 1 || n_runs > 1000))
    {
      ok = FALSE;
      g_set_error (&error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "give a FILE and 1 to 1000 runs; see --help");
    }
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
