/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs of control within control, as the front ends get them: one tree, written as an ONNX file and as StableHLO text, and
 * what it computes in double precision, walked step by step without any of the compiler's code.
 *
 * The entry has x: f64[4], k: i64[], m: f64[3,4], and gives an f64[4]. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define NESTED_WIDTH 4
#define NESTED_ROWS 3
#define NESTED_MOST_TRIPS 3
#define NESTED_MOST_UNTIL 4

typedef enum
{
  NESTED_TANH,
  NESTED_SINE,
  NESTED_ADD,
  NESTED_SUBTRACT,
  NESTED_MULTIPLY, /* half the product */
  NESTED_QUOTIENT, /* a where integer i is c, else a times 6 / (i - c), divided as integers, over 4: an arm that must not run */
  NESTED_IF_COUNT, /* integer i < c */
  NESTED_IF_SUM,   /* sum (a) < bound */
  NESTED_LOOP,     /* i + c trips, between 0 and NESTED_MOST_TRIPS; what is carried begins with a and is the tanh of what a trip gives */
  NESTED_UNTIL,    /* likewise, while sum (carry) < bound, at most NESTED_MOST_UNTIL trips */
  NESTED_SCAN,     /* likewise, over the rows of m, forwards or backwards; with a quarter of the sum of what was carried */
  NESTED_N_KINDS
} NestedKind;

typedef struct _NestedBlock NestedBlock;

/** Gives the vector that has the next number. Vectors and integers are numbered from the outermost block inwards: x, then each step's;
 *  k, then each counter. A body of a loop begins with the carry as its vector and, but for a scan, with the counter; of a scan the row
 *  follows. */
typedef struct
{
  NestedKind kind;
  guint a, b; /* vectors */
  guint i;    /* integer */
  gint64 c;
  double bound;
  gboolean reverse;
  NestedBlock *bodies[2]; /* of a branch: taken where the condition holds, and where not */
} NestedStep;

/** Its value is the last step's. */
struct _NestedBlock
{
  GArray *steps; /* NestedStep */
};

/** Returns: (transfer full): the same for the same @seed */
NestedBlock *nested_generate (guint32 seed);
void nested_free (NestedBlock *block);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NestedBlock, nested_free)
/** How many steps of @kind there are at any depth. */
guint nested_count (const NestedBlock *block, NestedKind kind);

typedef struct
{
  double x[NESTED_WIDTH], m[NESTED_ROWS * NESTED_WIDTH];
  gint64 k;
} NestedInputs;

/** Returns: how near the nearest comparison of a sum came to its bound */
double nested_interpret (const NestedBlock *block, const NestedInputs *inputs, double *result);

/** An ONNX file. @k: (nullable): the program has this value in place of its input. Returns: (transfer full) */
GBytes *nested_to_onnx (const NestedBlock *block, const gint64 *k);
/** As nested_to_onnx(). Returns: (transfer full) */
char *nested_to_stablehlo (const NestedBlock *block, const gint64 *k);

G_END_DECLS
