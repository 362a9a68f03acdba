/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads `nK [width=W height=H];`, `nK -> nL;` and `subgraph cluster_X { ... }`, sizes in inches,
 * gzipped or not. That is what generated samples consist of; it is no DOT parser, and says so where
 * a line is anything else.
 */
#include "tools/layout-sample.h"

#include <string.h>

enum
{
  POINTS_PER_INCH = 72,
  MOST_NODES = 10 * 1000 * 1000,
};

static LayoutSample *
layout_sample_new (void)
{
  LayoutSample *sample = g_new0 (LayoutSample, 1);

  sample->width = g_array_new (FALSE, TRUE, sizeof (float));
  sample->height = g_array_new (FALSE, TRUE, sizeof (float));
  sample->group = g_array_new (FALSE, FALSE, sizeof (guint32));
  sample->parent = g_array_new (FALSE, FALSE, sizeof (guint32));
  sample->tail = g_array_new (FALSE, FALSE, sizeof (guint32));
  sample->head = g_array_new (FALSE, FALSE, sizeof (guint32));
  return sample;
}

void
layout_sample_free (LayoutSample *sample)
{
  g_array_unref (sample->width);
  g_array_unref (sample->height);
  g_array_unref (sample->group);
  g_array_unref (sample->parent);
  g_array_unref (sample->tail);
  g_array_unref (sample->head);
  g_free (sample);
}

static void
need_node (LayoutSample *sample, guint32 v)
{
  float size = POINTS_PER_INCH * 0.5f;
  guint32 none = GANTRY_LAYOUT_NO_GROUP;

  while (sample->width->len <= v)
    {
      g_array_append_val (sample->width, size);
      g_array_append_val (sample->height, size);
      g_array_append_val (sample->group, none);
    }
}

/* "n12" to 12; moves on behind it. */
static gboolean
read_node (const char **at, guint32 *v)
{
  char *end;

  if (**at != 'n' || !g_ascii_isdigit ((*at)[1]))
    return FALSE;
  guint64 number = g_ascii_strtoull (*at + 1, &end, 10);
  if (number >= MOST_NODES)
    return FALSE;
  *v = (guint32) number;
  *at = end;
  return TRUE;
}

static gboolean
read_size (const char *line, const char *name, float *points)
{
  const char *at = strstr (line, name);

  if (at == NULL)
    return FALSE;
  *points = (float) (g_ascii_strtod (at + strlen (name), NULL) * POINTS_PER_INCH);
  return TRUE;
}

static gboolean
parse_node_line (LayoutSample *sample, const char *line, guint32 group)
{
  guint32 v;
  guint32 w;

  if (!read_node (&line, &v))
    return FALSE;
  need_node (sample, v);
  if (g_str_has_prefix (line, " -> "))
    {
      line += 4;
      if (!read_node (&line, &w))
        return FALSE;
      need_node (sample, w);
      g_array_append_val (sample->tail, v);
      g_array_append_val (sample->head, w);
      return TRUE;
    }
  g_array_index (sample->group, guint32, v) = group;
  return read_size (line, "width=", &g_array_index (sample->width, float, v)) && read_size (line, "height=", &g_array_index (sample->height, float, v));
}

static gboolean
parse_line (LayoutSample *sample, const char *line, guint32 *group)
{
  if (*line == '\0' || g_str_has_prefix (line, "digraph ") || g_str_has_prefix (line, "node ["))
    return TRUE;
  if (g_str_has_prefix (line, "subgraph "))
    {
      g_array_append_val (sample->parent, *group);
      *group = sample->parent->len - 1;
      return TRUE;
    }
  if (*line == '}')
    {
      if (*group != GANTRY_LAYOUT_NO_GROUP)
        *group = g_array_index (sample->parent, guint32, *group);
      return TRUE;
    }
  return parse_node_line (sample, line, *group);
}

static void
fill_input (LayoutSample *sample)
{
  sample->input = (GantryLayoutInput){
    .n_nodes = sample->width->len,
    .width = (const float *) sample->width->data,
    .height = (const float *) sample->height->data,
    .n_edges = sample->tail->len,
    .tail = (const guint32 *) sample->tail->data,
    .head = (const guint32 *) sample->head->data,
    .n_groups = sample->parent->len,
    .group = (const guint32 *) sample->group->data,
    .group_parent = (const guint32 *) sample->parent->data,
  };
}

LayoutSample *
layout_sample_parse (const char *text, gsize length, GError **error)
{
  g_autoptr (LayoutSample) sample = layout_sample_new ();
  g_autoptr (GString) line = g_string_new (NULL);
  const char *end = text + length;
  guint32 group = GANTRY_LAYOUT_NO_GROUP;

  for (guint n = 1; text < end; n++)
    {
      const char *newline = memchr (text, '\n', (size_t) (end - text));

      newline = newline != NULL ? newline : end;
      g_string_truncate (line, 0);
      g_string_append_len (line, text, newline - text);
      text = newline + 1;
      if (parse_line (sample, g_strstrip (line->str), &group))
        continue;
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "line %u: \"%.40s\" is not a node with width and height, an edge or a subgraph", n, line->str);
      return NULL;
    }
  fill_input (sample);
  return g_steal_pointer (&sample);
}

static GBytes *
read_all (GInputStream *stream, GError **error)
{
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();

  if (g_output_stream_splice (memory, stream, G_OUTPUT_STREAM_SPLICE_CLOSE_SOURCE | G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL, error) < 0)
    return NULL;
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (memory));
}

LayoutSample *
layout_sample_load (const char *path, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) raw = g_file_read (file, NULL, error);
  g_autoptr (GInputStream) stream = NULL;

  if (raw == NULL)
    return NULL;
  if (g_str_has_suffix (path, ".gz"))
    {
      g_autoptr (GZlibDecompressor) decompressor = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP);

      stream = g_converter_input_stream_new (G_INPUT_STREAM (raw), G_CONVERTER (decompressor));
    }
  else
    stream = g_object_ref (G_INPUT_STREAM (raw));

  g_autoptr (GBytes) bytes = read_all (stream, error);
  LayoutSample *sample = NULL;

  if (bytes != NULL)
    sample = layout_sample_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
  if (sample == NULL)
    g_prefix_error (error, "%s: ", path);
  return sample;
}
