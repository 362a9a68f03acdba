/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs to try the layout on: reads the small part of DOT that generated sample graphs use.
 */
#pragma once

#include "drawing/layout/layout.h"

G_BEGIN_DECLS

/**
 * LayoutSample:
 * @input: the graph as the layout takes it; points into the arrays
 *
 * One graph, and the arrays that hold it.
 */
typedef struct
{
  GantryLayoutInput input;
  GArray *width;  /* float, points */
  GArray *height; /* float, points */
  GArray *group;  /* guint32 */
  GArray *parent; /* guint32 */
  GArray *tail;   /* guint32 */
  GArray *head;   /* guint32 */
} LayoutSample;

LayoutSample *layout_sample_parse (const char *text, gsize length, GError **error);
LayoutSample *layout_sample_load (const char *path, GError **error);
void layout_sample_free (LayoutSample *sample);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LayoutSample, layout_sample_free)

G_END_DECLS
