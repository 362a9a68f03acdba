/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that write random programs share. Values are picked from a pool of what was made so far in the open
 * function; what a piece makes goes back into the pool. */
#pragma once
#include "core/graph/builder.h"
#include "tests/differential/differential.h"

G_BEGIN_DECLS

/* Larger tensors are made, but nothing grows out of them. */
#define DIFF_MOST_ELEMENTS 4096
/* Multiplications of one convolution or product. */
#define DIFF_MOST_PRODUCTS 200000

typedef struct
{
  GantryBuilder *b;
  GantryContext *context;
  GRand *rand;
  GArray *pool;              /* guint32: values of the open function */
  GantryElementType element; /* of most values */
  gint64 batch;
  guint n_leaves;
  guint depth; /* of bodies: there leaves are constants */
} DiffMaker;

/* Chance and choice (generate.c) */
gint _diff_upto (DiffMaker *m, gint n); /* 0 to n - 1 */
gboolean _diff_chance (DiffMaker *m, gint percent);
gint64 _diff_channels (DiffMaker *m); /* around the block sizes of layouts */

const GantryType *_diff_type_of (DiffMaker *m, guint32 id);
gint64 _diff_elements (DiffMaker *m, guint32 id);
/** Makes @id a value to go on with. Returns: @id */
guint32 _diff_put (DiffMaker *m, guint32 id);
/** Any value, later ones more often; 0 where none passes @test. */
guint32 _diff_pick (DiffMaker *m, gboolean (*test) (const GantryType *type));
guint32 _diff_pick_float (DiffMaker *m);
guint32 _diff_pick_image (DiffMaker *m); /* N C and one or more spatial dimensions; made where there is none */
/** Another value of the type of @like, or @like itself. */
guint32 _diff_pick_like (DiffMaker *m, guint32 like);
gboolean _diff_is_float (const GantryType *type);
gboolean _diff_is_image (const GantryType *type);

/* Leaves: parameters of the entry function, and constants */

typedef enum
{
  DIFF_LEAF_INPUT,  /* x: numbers between -2 and 2 */
  DIFF_LEAF_WEIGHT, /* w: a parameter of training, smaller the more are summed */
  DIFF_LEAF_SCALE,  /* g: numbers between 0.5 and 1.5 */
} DiffLeaf;

guint32 _diff_leaf (DiffMaker *m, DiffLeaf kind, GantryElementType element, guint rank, const GantryDim *dims);
guint32 _diff_splat_like (DiffMaker *m, guint32 like, double value);
/** @vector: one element for each channel, or another dimension; given the shape of @like. */
guint32 _diff_along (DiffMaker *m, guint32 vector, gint64 dimension, guint32 like);
guint32 _diff_unary (DiffMaker *m, guint op, guint32 x);
guint32 _diff_binary (DiffMaker *m, guint op, guint32 x, guint32 y);
guint32 _diff_reduce_keep (DiffMaker *m, const char *kind, guint32 x, gint64 axis); /* broadcast back */

/* Pieces: each takes values from the pool and puts what it makes there */
void _diff_write_elementwise (DiffMaker *m);
void _diff_write_movement (DiffMaker *m);
void _diff_write_sum (DiffMaker *m);
void _diff_write_product (DiffMaker *m);
void _diff_write_convolution (DiffMaker *m);
void _diff_write_topology (DiffMaker *m);
void _diff_write_index (DiffMaker *m);
void _diff_write_control (DiffMaker *m);
guint32 _diff_convolve (DiffMaker *m, guint32 x, gint64 channels, gboolean same_size);

G_END_DECLS
