/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in's cuBLASLt: column by column, f32, on the stand-in's streams. It offers two ways; the configuration says how
 * long a product takes and which of the calls fail. */
#include "tests/core/runtime/fake-state.h"
#include <string.h>

typedef struct
{
  gint32 transpose[2];
} Desc;

typedef struct
{
  int type;
  guint64 rows, columns;
  gint64 ld, stride;
  gint32 batch;
} Layout;

#define BLAS_API(symbol, parameters) \
  FAKE_EXPORT int symbol parameters; \
  int symbol parameters

/* A handle keeps the products that were asked for: a graph may run them again. */
BLAS_API (cublasLtCreate, (GPtrArray * *handle))
{
  if (fake_context_depth () == 0)
    return 1;
  fake_count (1);
  *handle = g_ptr_array_new_with_free_func (g_free);
  return 0;
}

BLAS_API (cublasLtDestroy, (GPtrArray * handle))
{
  fake_count (-1);
  g_ptr_array_unref (handle);
  return 0;
}

static int
make (void **out, gsize size)
{
  fake_count (1);
  *out = g_malloc0 (size);
  return 0;
}

static int
unmake (void *what)
{
  fake_count (-1);
  g_free (what);
  return 0;
}

BLAS_API (cublasLtMatmulDescCreate, (void **desc, int compute, int scale))
{
  return compute == 68 && scale == 0 ? make (desc, sizeof (Desc)) : 15;
}

BLAS_API (cublasLtMatmulDescDestroy, (void *desc))
{
  return unmake (desc);
}

BLAS_API (cublasLtMatmulDescSetAttribute, (void *desc, int attribute, const void *value, gsize size))
{
  if (attribute < 3 || attribute > 4 || size != 4)
    return 7;
  memcpy (&((Desc *) desc)->transpose[attribute - 3], value, size);
  return 0;
}

BLAS_API (cublasLtMatrixLayoutCreate, (void **layout, int type, guint64 rows, guint64 columns, gint64 ld))
{
  Layout *made;

  if (ld < (gint64) rows)
    return 7;
  make (layout, sizeof (Layout));
  made = *layout;
  *made = (Layout){ type, rows, columns, ld, 0, 1 };
  return 0;
}

BLAS_API (cublasLtMatrixLayoutDestroy, (void *layout))
{
  return unmake (layout);
}

BLAS_API (cublasLtMatrixLayoutSetAttribute, (void *layout, int attribute, const void *value, gsize size))
{
  Layout *to = layout;

  if (attribute == 5 && size == 4)
    memcpy (&to->batch, value, 4);
  else if (attribute == 6 && size == 8)
    memcpy (&to->stride, value, 8);
  else
    return 7;
  return 0;
}

/* Which alignments were told: bits 0 to 3. */
BLAS_API (cublasLtMatmulPreferenceCreate, (void **wish))
{
  return make (wish, 8);
}

BLAS_API (cublasLtMatmulPreferenceDestroy, (void *wish))
{
  return unmake (wish);
}

BLAS_API (cublasLtMatmulPreferenceSetAttribute, (void *wish, int attribute, const void *value, gsize size))
{
  if (attribute >= 5 && attribute <= 8 && size == 4 && *(const guint32 *) value == 64)
    *(guint32 *) wish |= 1u << (attribute - 5);
  return (attribute == 1 && size == 8) || (attribute == 3 && size == 4) || (attribute >= 5 && attribute <= 8 && size == 4) ? 0 : 7;
}

typedef struct
{
  guint64 algorithm[8];
  gsize workspace;
  int state;
  float waves;
  int reserved[4];
} Found;

G_STATIC_ASSERT (sizeof (Found) == 96);

/* The first one wants more scratch than it was told is there, the second none. */
BLAS_API (cublasLtMatmulAlgoGetHeuristic, (void *handle, void *desc, void *a, void *b, void *c, void *d, void *wish, int most, Found *found, int *n))
{
  *n = 0;
  fake_enter ("cublasLtMatmulAlgoGetHeuristic", FALSE);
  /* What it finds for addresses of 256 does not run on those of 64. */
  if (most < 2 || *(const guint32 *) wish != 15)
    return 0;
  memset (found, 0, 2 * sizeof *found);
  found[0].workspace = (gsize) 1 << 40;
  found[1].algorithm[0] = 77;
  *n = 2;
  return 0;
}

/* Travels through the stream as the state of a kernel. */
typedef struct
{
  gint32 transpose[2];
  Layout a, b, d;
} Product;

static float
element (const float *data, const Layout *layout, gint32 transposed, gint32 batch, guint64 row, guint64 column)
{
  guint64 r = transposed ? column : row, c = transposed ? row : column;

  return data[(guint64) (layout->stride * batch) + c * (guint64) layout->ld + r];
}

static void
run_product (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const Product *p = state;
  guint64 depth = p->transpose[0] ? p->a.rows : p->a.columns;
  float *d = buffers[2];

  for (gint32 batch = 0; batch < p->d.batch; batch++)
    for (guint64 column = 0; column < p->d.columns; column++)
      for (guint64 row = 0; row < p->d.rows; row++)
        {
          float sum = 0;

          for (guint64 k = 0; k < depth; k++)
            sum += element (buffers[0], &p->a, p->transpose[0], batch, row, k) * element (buffers[1], &p->b, p->transpose[1], batch, k, column);
          d[(guint64) (p->d.stride * batch) + column * (guint64) p->d.ld + row] = sum;
        }
}

BLAS_API (cublasLtMatmul, (GPtrArray * handle, const Desc *desc, const float *alpha, CudaAddress a, const Layout *of_a, CudaAddress b, const Layout *of_b,
                           const float *beta, CudaAddress c, const Layout *of_c, CudaAddress d, const Layout *of_d, const guint64 *algorithm, void *workspace,
                           gsize workspace_bytes, CudaStream stream))
{
  Product *product;
  FakeCudaEntry entry = { "product", run_product, NULL, 1, 3, 0 };
  CudaLaunchConfig config = { { 1, 1, 1 }, { 32, 1, 1 }, 0, stream, NULL, 0 };
  void *parameters[3] = { &a, &b, &d };

  if (fake_state.config.blas != 0)
    return (int) fake_state.config.blas;
  if (*alpha != 1 || *beta != 0 || algorithm[0] != 77 || of_a->type != 0)
    return 15;
  product = g_new0 (Product, 1);
  g_ptr_array_add (handle, product);
  *product = (Product){ { desc->transpose[0], desc->transpose[1] }, *of_a, *of_b, *of_d };
  entry.state = product;
  return fake_launch_entry (&config, &entry, parameters);
}
