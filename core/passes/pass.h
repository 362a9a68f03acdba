/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass is: a function from one frozen module to the next, with what it needs to hold before
 * and what still holds after. */
#pragma once
#include "core/base/base.h"
#include "core/graph/module.h"

G_BEGIN_DECLS

/** What can hold for a module. */
typedef enum
{
  GANTRY_PROPERTY_CORE = 1 << 0,   /* no foreign operation is left */
  GANTRY_PROPERTY_LIVE = 1 << 1,   /* no node without a use */
  GANTRY_PROPERTY_UNIQUE = 1 << 2, /* no two nodes compute the same */
  GANTRY_PROPERTY_FUSED = 1 << 3,  /* elementwise groups are fusion nodes */
} GantryProperties;

/**
 * GantryPassOptions:
 * @finite_math: values are never NaN or infinite and the sign of zero does not matter: allows x * 0 = 0 and
 *  log (exp (x) / y) = x - log (y)
 * @fuse_rows: softmaxes and normalizations become one kernel each. Right for a GPU, where what a row holds is read once; a
 *  processor computes elementwise work again for each reduction of a row and gains nothing.
 * @fuse_products: what follows a product or convolution element by element becomes its epilogue, and movements before it part of its
 *  loads. Right for a GPU, whose products are generated; a processor's are the library's, which takes no other work in.
 * @gradients_follow: gradients of the module are taken after this pass: what stops them stays
 * @fold_bytes: largest constant that folding may make, bytes
 * @fold_flops: most work that folding one node may be; 0: as much as takes most of a second
 * @most_unrolled: nodes beyond which a scan or a loop is not written out but stays one, run trip by trip; 0: %GANTRY_PASS_MOST_UNROLLED
 * @max_nodes: the size beyond which loops and calls are not written out; 0: %GANTRY_PASS_MOST_NODES
 */
typedef struct
{
  gboolean finite_math;
  gboolean fuse_rows;
  gboolean fuse_products;
  gboolean gradients_follow;
  gint64 fold_bytes;
  gint64 fold_flops;
  guint32 max_nodes;
  guint32 most_unrolled;
} GantryPassOptions;

#define GANTRY_PASS_MOST_NODES 2000000u
#define GANTRY_PASS_MOST_UNROLLED 100000u
#define GANTRY_PASS_OPTIONS_INIT \
  { \
    .finite_math = FALSE, .fold_bytes = 16 << 20 \
  }

typedef struct
{
  const char *name;        /* "cse": command line and session file */
  const char *title;       /* "Common subexpressions": window */
  const char *description; /* one sentence */
  gboolean required;       /* cannot be switched off */
  gboolean takes_memory;   /* it saves time by memory: who has too little of that may leave it out */
  GantryProperties needs;
  GantryProperties gives;
  GantryProperties keeps; /* of those that held before */
  /** Returns: (transfer full) (nullable): the next snapshot; @module itself when nothing changed */
  GantryModule *(*run) (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error);
} GantryPass;

G_END_DECLS
