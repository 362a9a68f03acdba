/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a graph picture, for the files that build, paint and export it. */
#pragma once
#include "drawing/graph-picture.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_BOX_NODE,
  GANTRY_BOX_SCOPE,  /* folded */
  GANTRY_BOX_OUTPUT, /* a result of the function */
} GantryBoxKind;

typedef struct
{
  guint8 kind;     /* GantryBoxKind */
  guint8 op_class; /* GantryOpClass; of a folded scope the one with the most nodes */
  guint8 phase;    /* GantryPhase of the nodes that it stands for */
  guint8 unused;
  guint16 n_constants;     /* hidden ones that it reads */
  guint32 node;            /* node id, 0 for a scope */
  guint32 scope;           /* scope id of a folded one */
  guint32 group;           /* of the layout, or GANTRY_LAYOUT_NO_GROUP */
  guint32 n_nodes;         /* that it stands for */
  guint32 title, subtitle; /* offsets in texts */
} GantryGraphBox;

typedef struct
{
  guint32 tail, head; /* boxes */
  guint32 value;      /* node id whose value goes along it */
  guint32 label;      /* offset in texts: its type */
  guint32 n_values;   /* that it stands for: more than one in a bundle between folded scopes */
  guint32 more;       /* of a bundle: index in the list of the other values, or GANTRY_NO_MORE */
  guint8 saved;       /* from the forward phase to a later one: a residual, a placement to decide */
} GantryGraphEdge;

#define GANTRY_NO_MORE G_MAXUINT32
typedef struct
{
  guint32 value;
  guint32 next; /* or GANTRY_NO_MORE */
} GantryGraphMore;

struct _GantryGraphPicture
{
  gatomicrefcount ref_count;
  GantryModule *module;
  guint32 function;  /* id */
  gboolean mirrored; /* a training step: one box for each phase of a folded scope, and no frames around scopes */
  GHashTable *folded;
  GArray *boxes;                 /* GantryGraphBox */
  GArray *edges;                 /* GantryGraphEdge, as in the layout */
  GArray *more;                  /* GantryGraphMore: further values of bundles */
  GArray *group_scopes;          /* guint32 scope id by group of the layout */
  GArray *group_titles;          /* guint32 offsets */
  GArray *group_depths;          /* guint32 */
  guint32 *box_of;               /* by position of a node in the module: box + 1, 0: none */
  guint32 *edges_in, *edges_out; /* by box: first index in the lists, n_boxes + 1 */
  guint32 *in_list, *out_list;   /* edges */
  GString *texts;
  GantryLayout *layout;
};

#define GANTRY_BOX(picture, i) (&g_array_index ((picture)->boxes, GantryGraphBox, i))
#define GANTRY_EDGE(picture, i) (&g_array_index ((picture)->edges, GantryGraphEdge, i))

/** Adds @text to the picture's texts. Returns: its offset */
guint32 _gantry_graph_picture_text (GantryGraphPicture *picture, const char *text);
/** By position in the function: nodes that are boxes, or inside one. (transfer full) */
guint8 *_gantry_graph_find_visible (const GantryModule *module, const GantryFunction *function, gboolean show_constants);
/** Fills title and subtitle of a node's box. */
void _gantry_graph_label_box (GantryGraphPicture *picture, GantryGraphBox *box);
/** @text cut in the middle to at most @length characters. (transfer full) */
char *_gantry_shorten (const char *text, glong length);

G_END_DECLS
