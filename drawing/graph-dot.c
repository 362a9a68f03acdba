/* SPDX-License-Identifier: Apache-2.0 */
/* The picture as DOT, through cgraph, with the positions of our layout for `neato -n`. */
#include "core/base/error.h"
#include "core/base/output.h"
#include "drawing/graph-picture-private.h"
#include "drawing/painters.h"
#include <errno.h>
#include <graphviz/cgraph.h>
#include <stdio.h>

static void
set_text (void *object, const char *key, const char *value)
{
  agsafeset (object, (char *) key, (char *) value, (char *) "");
}

static void
set_box (Agnode_t *node, const GantryGraphPicture *picture, guint32 index)
{
  const GantryGraphBox *box = GANTRY_BOX (picture, index);
  const GantryLayoutBox *rect = &picture->layout->node[index];
  g_autofree char *label = g_strdup_printf ("%s\n%s", picture->texts->str + box->title, picture->texts->str + box->subtitle);
  char text[64];

  set_text (node, "label", label);
  set_text (node, "shape", "box");
  /* DOT counts from the bottom, in points; sizes are in inches. */
  g_snprintf (text, sizeof text, "%.1f,%.1f!", rect->x + rect->width / 2, picture->layout->height - rect->y - rect->height / 2);
  set_text (node, "pos", text);
  g_snprintf (text, sizeof text, "%.4f", rect->width / 72);
  set_text (node, "width", text);
  g_snprintf (text, sizeof text, "%.4f", rect->height / 72);
  set_text (node, "height", text);
}

static Agraph_t *
build (const GantryGraphPicture *picture)
{
  Agraph_t *graph = agopen ((char *) "gantry", Agdirected, NULL);
  g_autofree Agnode_t **nodes = g_new0 (Agnode_t *, picture->boxes->len + 1);

  for (guint32 i = 0; i < picture->boxes->len; i++)
    {
      char name[24];

      g_snprintf (name, sizeof name, "n%u", i);
      nodes[i] = agnode (graph, name, 1);
      set_box (nodes[i], picture, i);
    }
  for (guint i = 0; i < picture->edges->len; i++)
    {
      const GantryGraphEdge *edge = GANTRY_EDGE (picture, i);

      set_text (agedge (graph, nodes[edge->tail], nodes[edge->head], NULL, 1), "label", picture->texts->str + edge->label);
    }
  return graph;
}

gboolean
gantry_graph_picture_write_dot (const GantryGraphPicture *picture, const char *path, GantryReadFiles *read, GError **error)
{
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream (&text, &size);
  Agraph_t *graph = build (picture);
  gboolean ok = memory != NULL && agwrite (graph, memory) == 0;

  ok = memory != NULL && fclose (memory) == 0 && ok;
  agclose (graph);
  if (!ok)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: there is no memory for the graph's text", path);
  ok = ok && gantry_output_write (path, read, text, size, error);
  free (text);
  return ok;
}
