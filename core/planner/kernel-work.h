/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel of a processor does, by kinds of work that take times of their own: what calibrated curves are asked with. */
#pragma once
#include "core/graph/operation.h"

G_BEGIN_DECLS

/** Kinds of work, and in what they are counted. */
typedef enum
{
  GANTRY_WORK_BYTES,            /* read, and %GANTRY_WRITE_TRAFFIC times those written */
  GANTRY_WORK_SIMPLE,           /* results of additions, comparisons, selections and their like */
  GANTRY_WORK_DIVISION,         /* results of divisions and roots */
  GANTRY_WORK_EXPONENTIAL,      /* results of exponentials, logarithms and powers */
  GANTRY_WORK_FUNCTION,         /* results of hyperbolic and other functions, which take several of those */
  GANTRY_WORK_NARROW,           /* elements of 16 bits that are read or written: they are widened and narrowed */
  GANTRY_WORK_REDUCTION,        /* elements that are reduced along the last dimension */
  GANTRY_WORK_REDUCTION_ACROSS, /* along others */
  GANTRY_WORK_WINDOW,           /* elements that windows are reduced of */
  GANTRY_WORK_WINDOW_PADDED,    /* likewise, of windows that reach over the border */
  GANTRY_WORK_ROWS,             /* rows of elements that lie beside each other before and after: what is cut, padded, joined, gathered by rows */
  GANTRY_WORK_TRANSPOSITION,    /* elements whose neighbours become others, or that are gathered one by one */
  GANTRY_WORK_STRIDED,          /* elements that are taken in steps, or set apart */
  GANTRY_WORK_ORDER,            /* steps of sorts; elements that are scattered */
  GANTRY_WORK_PRODUCT_F32,      /* operations of products, as gantry_node_flops() */
  GANTRY_WORK_PRODUCT_THIN,     /* of f32, of a matrix with next to a vector */
  GANTRY_WORK_PRODUCT_F64,
  GANTRY_WORK_PRODUCT_F16, /* f16, bf16 */
  GANTRY_WORK_PRODUCT_INT,
  /* Operations of convolutions, by whether their windows are of one element (POINT), their weights no constants (FREE: of training steps), and whether their
   * channels fill no registers, are in groups, or of other elements than f32 (PLAIN). In this order. */
  GANTRY_WORK_CONVOLUTION,
  GANTRY_WORK_CONVOLUTION_PLAIN,
  GANTRY_WORK_CONVOLUTION_FREE,
  GANTRY_WORK_CONVOLUTION_FREE_PLAIN,
  GANTRY_WORK_CONVOLUTION_POINT,
  GANTRY_WORK_CONVOLUTION_POINT_PLAIN,
  GANTRY_WORK_CONVOLUTION_POINT_FREE,
  GANTRY_WORK_CONVOLUTION_POINT_FREE_PLAIN,
  GANTRY_WORK_CONVOLUTION_WEIGHTS,     /* gradients of weights */
  GANTRY_WORK_CONVOLUTION_DEPTH,       /* likewise, of those with a group for each channel */
  GANTRY_WORK_CONVOLUTION_DEPTH_PLAIN, /* likewise, of channels that fill no registers, or whose weights are no constants */
  GANTRY_N_WORKS,
} GantryWorkKind;

/** Traffic between a processor and its caches for each byte that is written where it was not: its line is fetched before. */
#define GANTRY_WRITE_TRAFFIC 2.0

/** "product_f32": as in a target's text */
const char *gantry_work_name (GantryWorkKind work);
/** What one execution of @node does, bodies of fusions and calls included, those of loops and branches not; @work: GANTRY_N_WORKS elements, of what is not
 * known 0. */
void gantry_node_work (const GantryModule *module, const GantryNode *node, double *work);

G_END_DECLS
