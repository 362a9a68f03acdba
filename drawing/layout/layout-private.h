/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the layout share: working memory, one level of the drawing, and the stages it
 * goes through.
 *
 * A group is laid out by itself, innermost first, and is one box in the level around it; so a level
 * is a plain layered drawing, and no stage but the first and the last knows of groups. An edge that
 * crosses borders is cut there: each part is a segment of one level and ends at a port on the
 * border.
 *
 * A level in vocabulary: a *row* is a rank; the *channel* c is the space above row c (channel 0
 * above the first row, channel n_rows under the last); every turn of every edge lies in a channel.
 * A *net* is one value of one vertex with all segments that carry it. A net's part in one channel
 * is a *wire*: it comes from one vertex and has a *link* for each vertex that it reaches there.
 * Where a net passes a row, it has a vertex of its own in that row (a *bend*), or, if it is long,
 * it runs in a *lane* beside everything in the rows that it passes.
 */
#pragma once

#include "drawing/layout/layout.h"

#define LAY_NONE G_MAXUINT32
/* A pin that may lie anywhere on its side of the box. */
#define LAY_FREE (-1)

/* --- working memory -------------------------------------------------------------------------- */

/* Memory that is handed out in order and taken back all at once, with the most ever held counted.
 */
typedef struct _LayChunk LayChunk;

typedef struct
{
  gsize held;
  gsize peak;
} LayCount;

typedef struct
{
  LayChunk *last;
  LayCount *count;
} LayScratch;

typedef struct
{
  LayChunk *chunk;
  gsize used;
} LayMark;

void lay_scratch_init (LayScratch *scratch, LayCount *count);
void lay_scratch_clear (LayScratch *scratch);
LayMark lay_scratch_mark (const LayScratch *scratch);
void lay_scratch_release (LayScratch *scratch, LayMark mark);
gpointer lay_scratch_alloc (LayScratch *scratch, gsize n, gsize size);

#define LAY_NEW(scratch, Type, n) ((Type *) lay_scratch_alloc ((scratch), (n), sizeof (Type)))

/* --- skyline --------------------------------------------------------------------------------- */

/* Heights over 0 .. n-1; "how high is it between a and b" and "build up to h between a and b", both
 * O(log n). */
typedef struct
{
  guint32 size;
  gint32 *top;
  gint32 *laid;
} LaySky;

void lay_sky_init (LaySky *sky, LayScratch *scratch, guint32 n, gint32 floor);
gint32 lay_sky_max (const LaySky *sky, guint32 first, guint32 last);
void lay_sky_raise (LaySky *sky, guint32 first, guint32 last, gint32 height);

/* --- a level --------------------------------------------------------------------------------- */

typedef enum
{
  LAY_NODE,
  LAY_GROUP,
  LAY_IN,   /* where values enter this level through the top border */
  LAY_OUT,  /* where a value leaves through the bottom border */
  LAY_BEND, /* where a net passes a row */
  LAY_LANE, /* the vertical run of a long net; lies in no row */
  LAY_AXIS, /* keeps the middle between parallel branches free; never drawn */
} LayKind;

/* Which column of a folded drawing: the left runs down, the right runs up, nets between them pass
 * in the middle. An unfolded drawing is all left. */
enum
{
  LAY_LEFT,
  LAY_MIDDLE,
  LAY_RIGHT,
};

/* Which side of a box, seen from the box. */
enum
{
  LAY_TOP,
  LAY_BOTTOM,
};

typedef struct
{
  guint8 kind;
  guint8 side;
  guint8 split; /* parts into equal halves that never meet: stands in the middle over them */
  guint32 ref;  /* node, group, or the segment that owns the port */
  gint32 w;
  gint32 h;
  guint32 hint;
  double previous; /* NaN where not known */
  gint32 row;
  guint32 pos;  /* index within the row */
  gint32 x;     /* left side */
  gint32 y;     /* top side */
  gint32 depth; /* longest path from a source */
  gint32 tail;  /* longest path to a sink */
  guint32 block;
  gint32 shift; /* from the block's origin to this vertex's centre */
} LayVertex;

typedef struct
{
  guint32 from;
  guint32 to;
  guint32 net;
  gint32 from_pin; /* x from the left side of the vertex, or LAY_FREE */
  gint32 to_pin;
  guint8 klass;
  guint8 back; /* closes a cycle: has no say in the ranks */
  /* The route: first wire, then one more after each passed row (rest_first .. + n_rest), then the
   * link. */
  guint32 wire;
  guint32 rest_first;
  guint32 n_rest;
  guint32 link;
} LaySegment;

typedef struct
{
  guint32 from;
  guint32 first_link;
  guint32 n_links;
  gint32 channel;
  guint8 face; /* side of the vertex that it leaves */
  gint32 pin;  /* x from the left side of the vertex, or LAY_FREE until the ports are set */
  gint32 at;   /* x of the pin */
  gint32 lo;   /* horizontal extent */
  gint32 hi;
  gint32 track; /* -1: straight */
} LayWire;

typedef struct
{
  guint32 wire;
  guint32 to;
  guint8 face;
  guint8 klass;
  gint32 pin;
  gint32 at;
} LayLink;

/* A neighbour across a channel. */
typedef struct
{
  guint32 vertex;
  guint32 link;
} LayNeighbour;

/* The middle line of an even number of branches, from where they part to where they meet. */
typedef struct
{
  guint32 fork;
  guint32 join;
  guint32 first; /* of its vertices, one for each row between */
  guint32 n_rows;
} LayAxis;

typedef struct
{
  guint32 n_base; /* without bends and lanes */
  guint32 n_vertices;
  LayVertex *vertex;
  guint32 n_segments;
  LaySegment *segment;
  guint32 n_nets;

  gint32 n_rows;
  gboolean folded;

  guint32 n_wires;
  LayWire *wire;
  guint32 n_links;
  LayLink *link;

  /* Rows: the vertices of row r are order[row_first[r] .. row_first[r + 1] - 1]. */
  guint32 *row_first;
  guint32 *order;

  /* Neighbours in the row above and below: up[up_first[v]] and so on. */
  guint32 *up_first;
  LayNeighbour *up;
  guint32 *down_first;
  LayNeighbour *down;

  guint32 n_axes;
  LayAxis *axis;

  /* What each vertex stands exactly below: a vertex of the row above or LAY_NONE; the link, and how
   * good it is. */
  guint32 *above;
  guint32 *through;
  guint8 *grade;
  guint32 n_blocks;

  gint32 left; /* extent, lanes included */
  gint32 right;
  gint32 height;
} LayLevel;

typedef struct
{
  gint32 node_gap;
  gint32 rank_gap;
  gint32 lane_gap;
  gint32 bend_gap; /* between an edge and a box */
  gint32 port_gap;
  gint32 group_padding;
  gint32 group_title;
  gboolean fold;
  LayScratch scratch; /* of the level at hand */
  GCancellable *cancellable;
} LayJob;

static inline gboolean
lay_job_cancelled (const LayJob *job)
{
  return job->cancellable != NULL && g_cancellable_is_cancelled (job->cancellable);
}

static inline gboolean
lay_vertex_is_base (const LayVertex *vertex)
{
  return vertex->kind < LAY_BEND;
}

/* Where a pin is, from the middle of its vertex; free pins are in the middle. */
static inline gint32
lay_pin_from_middle (const LayVertex *vertex, gint32 pin)
{
  return pin == LAY_FREE ? 0 : pin - vertex->w / 2;
}

/* The channel that values leave a vertex into, and the one they enter it from. */
static inline gint32
lay_vertex_out_channel (const LayVertex *vertex)
{
  return vertex->side == LAY_RIGHT ? vertex->row : vertex->row + 1;
}

static inline gint32
lay_vertex_in_channel (const LayVertex *vertex)
{
  return vertex->side == LAY_RIGHT ? vertex->row + 1 : vertex->row;
}

/* The segments that have a say in the ranks, by vertex. */
typedef struct
{
  guint32 *out_first;
  guint32 *out; /* segments */
  guint32 *in_first;
  guint32 *in;
  guint32 *by_hint;     /* all vertices in program order */
  guint32 *topological; /* all vertices, tails before heads */
} LayFlow;

/* Two branches whose longest paths differ by no more than this count as equal. */
enum
{
  LAY_EQUAL_PATHS = 2,
};

/* Orders LayNeighbours by their places in their row; data are the vertices. */
gint lay_compare_positions (gconstpointer a, gconstpointer b, gpointer data);

/* Whether a link goes from box to box in one column; the length of the longest path through it. */
gboolean lay_link_is_plain (const LayLevel *level, guint32 link);
gint32 lay_link_path (const LayLevel *level, guint32 link);

/* What an alignment is good for, best first. */
typedef enum
{
  LAY_GRADE_AXIS,  /* between the parts of an axis */
  LAY_GRADE_TRUNK, /* between bends of one net */
  LAY_GRADE_MAIN,  /* to the main continuation of the upper vertex */
  LAY_GRADE_PLAIN, /* between boxes */
  LAY_GRADE_STUB,  /* between a box and a bend */
  LAY_N_GRADES,
  LAY_GRADE_NONE,
} LayGrade;

/* A distance that neighbours in a row must keep: right - left >= gap, between the origins of their
 * blocks. */
typedef struct
{
  guint32 other;
  gint32 gap;
  gint32 row;
} LayDistance;

/* The blocks of a level with all distances between them. */
typedef struct
{
  guint32 n;
  guint32 *sorted; /* left before right */
  guint32 *left_first;
  LayDistance *left; /* of each block, to its left neighbours */
  guint32 *right_first;
  LayDistance *right;
} LayBlocks;

gint32 lay_distance_between (const LayJob *job, const LayVertex *a, const LayVertex *b);
void lay_blocks_init (LayBlocks *blocks, LayLevel *level, LayJob *job);

/* The stages, in order. Each returns FALSE only if cancelled; the level is of no use then. */
gboolean lay_level_rank (LayLevel *level, LayJob *job);
gboolean lay_level_fold (LayLevel *level, LayJob *job, const LayFlow *flow);
gboolean lay_level_route (LayLevel *level, LayJob *job);
gboolean lay_level_order (LayLevel *level, LayJob *job);
gboolean lay_level_axes (LayLevel *level, LayJob *job);
gboolean lay_level_align (LayLevel *level, LayJob *job);
gboolean lay_level_loosen (LayLevel *level, LayJob *job);
gboolean lay_level_place (LayLevel *level, LayJob *job);
gboolean lay_level_lanes (LayLevel *level, LayJob *job);
gboolean lay_level_ports (LayLevel *level, LayJob *job);
gboolean lay_level_tracks (LayLevel *level, LayJob *job);
