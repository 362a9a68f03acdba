/* SPDX-License-Identifier: Apache-2.0 */
/* The values and types of cuBLASLt's interface that are used, declared by ourselves and checked against its header by a
 * test. */
#pragma once
#include <glib.h>

/* Values of the library's interface. */
enum
{
  BLAS_R_32F = 0,
  BLAS_R_16F = 2,
  BLAS_R_16BF = 14,
  BLAS_COMPUTE_32F = 68,
  BLAS_LAYOUT_BATCH = 5,
  BLAS_LAYOUT_STRIDE = 6,
  BLAS_DESC_TRANSPOSE_A = 3,
  BLAS_DESC_TRANSPOSE_B = 4,
  BLAS_WISH_WORKSPACE = 1,
  BLAS_WISH_REDUCTIONS = 3,
  BLAS_WISH_ALIGNMENT_A = 5,    /* B, C and D follow */
  BLAS_REDUCTIONS_IN_ORDER = 6, /* of the compute type or of the result's, never in place */
};

typedef struct BlasHandle_ *BlasHandle;
typedef struct BlasDesc_ *BlasDesc;
typedef struct BlasLayout_ *BlasLayout;
typedef struct BlasWish_ *BlasWish;

typedef struct
{
  guint64 data[8];
} BlasAlgorithm;

typedef struct
{
  BlasAlgorithm algorithm;
  gsize workspace;
  int state;
  float waves;
  int reserved[4];
} BlasFound;
