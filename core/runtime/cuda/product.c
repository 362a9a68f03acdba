/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by cuBLASLt, where that is asked for, installed and faster than the own kernel: both are measured when a
 * program is loaded, once for each shape. What was chosen is kept in a folder, so that all processes choose alike on one GPU, by
 * one version of the library; reductions whose order is left open are not taken, so that a result does not change either. */
#include "core/runtime/cuda/blas-private.h"
#include "core/runtime/cuda/cuda-private.h"
#include "core/base/cache.h"
#include "core/base/error.h"
#include "core/base/output.h"
#include "core/base/vendor-library.h"
#include <dlfcn.h>
#include <string.h>

#define MOST_ALGORITHMS 8
#define ROUNDS 5
#define WORTH_IT 0.9f
/* What places of a plan guarantee; the library takes 256 for granted where it is not told. */
#define ALIGNMENT 64u

#define BLAS_FUNCTIONS(F) \
  F (create, "cublasLtCreate", (BlasHandle * handle)) \
  F (destroy, "cublasLtDestroy", (BlasHandle handle)) \
  F (desc_new, "cublasLtMatmulDescCreate", (BlasDesc * desc, int compute, int scale)) \
  F (desc_free, "cublasLtMatmulDescDestroy", (BlasDesc desc)) \
  F (desc_set, "cublasLtMatmulDescSetAttribute", (BlasDesc desc, int attribute, const void *value, gsize size)) \
  F (layout_new, "cublasLtMatrixLayoutCreate", (BlasLayout * layout, int type, guint64 rows, guint64 columns, gint64 ld)) \
  F (layout_free, "cublasLtMatrixLayoutDestroy", (BlasLayout layout)) \
  F (layout_set, "cublasLtMatrixLayoutSetAttribute", (BlasLayout layout, int attribute, const void *value, gsize size)) \
  F (wish_new, "cublasLtMatmulPreferenceCreate", (BlasWish * wish)) \
  F (wish_free, "cublasLtMatmulPreferenceDestroy", (BlasWish wish)) \
  F (wish_set, "cublasLtMatmulPreferenceSetAttribute", (BlasWish wish, int attribute, const void *value, gsize size)) \
  F (find, "cublasLtMatmulAlgoGetHeuristic", \
     (BlasHandle handle, BlasDesc desc, BlasLayout a, BlasLayout b, BlasLayout c, BlasLayout d, BlasWish wish, int most, BlasFound *found, int *n)) \
  F (multiply, "cublasLtMatmul", \
     (BlasHandle handle, BlasDesc desc, const void *alpha, const void *a, BlasLayout of_a, const void *b, BlasLayout of_b, const void *beta, const void *c, \
      BlasLayout of_c, void *d, BlasLayout of_d, const BlasAlgorithm *algorithm, void *workspace, gsize workspace_bytes, CudaStream stream))

#define BLAS_POINTER(name, symbol, parameters) int (*name) parameters;
struct _CudaBlas
{
  void *library;
  gsize version;
  BlasHandle handle;
  GHashTable *choices; /* text of a shape -> Choice */
  BLAS_FUNCTIONS (BLAS_POINTER)
};
#undef BLAS_POINTER

typedef struct
{
  gboolean library; /* is faster */
  BlasFound found;
} Choice;

static void
choice_free (Choice *choice)
{
  g_free (choice);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Choice, choice_free)

struct _CudaProduct
{
  CudaBlas *blas;
  BlasDesc desc;
  BlasLayout first, second, result;
  BlasFound found;
  const void *a, *b;
  void *c, *workspace;
};

/* The library. */

static gboolean
fill_table (CudaBlas *blas)
{
#define BLAS_ENTRY(name, symbol, parameters) { symbol, G_STRUCT_OFFSET (CudaBlas, name) },
  static const struct
  {
    const char *symbol;
    gsize offset;
  } entries[] = { BLAS_FUNCTIONS (BLAS_ENTRY) };
#undef BLAS_ENTRY

  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    {
      void *address = dlsym (blas->library, entries[i].symbol);

      if (address == NULL)
        return FALSE;
      memcpy ((guint8 *) blas + entries[i].offset, &address, sizeof address);
    }
  return TRUE;
}

static gsize
version_of (void *library)
{
  gsize (*version) (void);

  *(void **) &version = dlsym (library, "cublasLtGetVersion");
  return version != NULL ? version () : 0;
}

CudaBlas *
_gantry_cuda_blas_new (void)
{
  static const char *const names[] = { "libcublasLt.so.13", "libcublasLt.so.12", NULL };
  const char *own = g_getenv ("GANTRY_LIBCUBLASLT");
  g_auto (GStrv) places = own != NULL && *own != '\0' ? g_strdupv ((char *[]){ (char *) own, NULL }) : gantry_vendor_library_paths (NULL, names);
  CudaBlas *blas = g_new0 (CudaBlas, 1);

  for (guint i = 0; places[i] != NULL && blas->library == NULL; i++)
    blas->library = dlopen (places[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (blas->library != NULL && fill_table (blas) && blas->create (&blas->handle) == 0)
    {
      blas->version = version_of (blas->library);
      blas->choices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      return blas;
    }
  if (blas->library != NULL)
    dlclose (blas->library);
  g_free (blas);
  return NULL;
}

void
_gantry_cuda_blas_free (CudaBlas *blas)
{
  if (blas == NULL)
    return;
  blas->destroy (blas->handle);
  g_hash_table_unref (blas->choices);
  dlclose (blas->library);
  g_free (blas);
}

/* A product. The library's matrices lie column by column: C = A B row by row is C' = B' A' of the same bytes. */

static int
type_of (guint8 element)
{
  return element == GANTRY_F32 ? BLAS_R_32F : element == GANTRY_F16 ? BLAS_R_16F : element == GANTRY_BF16 ? BLAS_R_16BF : -1;
}

static gboolean
make_layout (CudaBlas *blas, BlasLayout *layout, int type, gint64 rows, gint64 columns, const GantryGpuProduct *of, gint64 stride)
{
  gint32 batch = (gint32) of->batch;

  if (blas->layout_new (layout, type, (guint64) rows, (guint64) columns, rows) != 0)
    return FALSE;
  return batch <= 1
         || (blas->layout_set (*layout, BLAS_LAYOUT_BATCH, &batch, sizeof batch) == 0
             && blas->layout_set (*layout, BLAS_LAYOUT_STRIDE, &stride, sizeof stride) == 0);
}

static gboolean
describe (CudaProduct *product, const GantryGpuProduct *of)
{
  CudaBlas *blas = product->blas;
  gint32 first = of->b_transposed, second = of->a_transposed;

  return blas->desc_new (&product->desc, BLAS_COMPUTE_32F, BLAS_R_32F) == 0 && blas->desc_set (product->desc, BLAS_DESC_TRANSPOSE_A, &first, sizeof first) == 0
         && blas->desc_set (product->desc, BLAS_DESC_TRANSPOSE_B, &second, sizeof second) == 0
         && make_layout (blas, &product->first, type_of (of->element), first ? of->k : of->n, first ? of->n : of->k, of, of->b_stride)
         && make_layout (blas, &product->second, type_of (of->element), second ? of->m : of->k, second ? of->k : of->m, of, of->a_stride)
         && make_layout (blas, &product->result, type_of (of->result), of->n, of->m, of, of->c_stride);
}

static int
ask_for_algorithms (CudaProduct *product, gsize workspace, BlasFound *found)
{
  CudaBlas *blas = product->blas;
  guint64 bytes = workspace;
  guint32 reductions = BLAS_REDUCTIONS_IN_ORDER, alignment = ALIGNMENT;
  BlasWish wish = NULL;
  gboolean wished = TRUE;
  int n = 0;

  if (blas->wish_new (&wish) != 0)
    return 0;
  for (int i = 0; i < 4; i++)
    wished = wished && blas->wish_set (wish, BLAS_WISH_ALIGNMENT_A + i, &alignment, sizeof alignment) == 0;
  if (!wished || blas->wish_set (wish, BLAS_WISH_WORKSPACE, &bytes, sizeof bytes) != 0
      || blas->wish_set (wish, BLAS_WISH_REDUCTIONS, &reductions, sizeof reductions) != 0
      || blas->find (blas->handle, product->desc, product->first, product->second, product->result, product->result, wish, MOST_ALGORITHMS, found, &n) != 0)
    n = 0;
  blas->wish_free (wish);
  return n;
}

int
_gantry_cuda_product_run (const CudaProduct *product, CudaStream stream)
{
  const float one = 1, zero = 0;

  return product->blas->multiply (product->blas->handle, product->desc, &one, product->b, product->first, product->a, product->second, &zero, product->c,
                                  product->result, product->c, product->result, &product->found.algorithm, product->workspace, product->found.workspace,
                                  stream);
}

void
_gantry_cuda_product_free (CudaProduct *product)
{
  if (product == NULL)
    return;
  if (product->desc != NULL)
    product->blas->desc_free (product->desc);
  for (guint i = 0; i < 3; i++)
    {
      BlasLayout layout = i == 0 ? product->first : i == 1 ? product->second : product->result;

      if (layout != NULL)
        product->blas->layout_free (layout);
    }
  g_free (product);
}

/* Measuring: what is in the buffers does not matter yet, since constants are filled and inputs given later. */

static gboolean
run_own (CudaDevice *cuda, const CudaPrepared *prepared, CudaStream stream)
{
  for (guint32 i = 0; i < prepared->n_launches; i++)
    {
      CudaLaunchConfig config = prepared->launches[i].config;

      config.stream = stream;
      if (cuda->driver->launch (&config, prepared->launches[i].function, prepared->launches[i].parameters, NULL) != 0)
        return FALSE;
    }
  return TRUE;
}

/* The shortest of some rounds, in milliseconds; @product NULL: the own kernel. Returns: FALSE when it does not run */
static gboolean
measure (CudaDevice *cuda, const CudaPrepared *prepared, const CudaProduct *product, float *best)
{
  CudaStream stream = cuda->streams[GANTRY_QUEUE_COMPUTE];
  CudaEvent begin = _gantry_cuda_take_event (cuda, TRUE, NULL), end = _gantry_cuda_take_event (cuda, TRUE, NULL);
  gboolean done = begin != NULL && end != NULL;

  *best = G_MAXFLOAT;
  for (guint round = 0; done && round <= ROUNDS; round++)
    {
      float ms = 0;

      done = cuda->driver->event_record (begin, stream) == 0
             && (product != NULL ? _gantry_cuda_product_run (product, stream) == 0 : run_own (cuda, prepared, stream))
             && cuda->driver->event_record (end, stream) == 0 && cuda->driver->event_synchronize (end) == 0
             && cuda->driver->event_elapsed (&ms, begin, end) == 0;
      if (round > 0) /* the first one warms up */
        *best = MIN (*best, ms);
    }
  _gantry_cuda_give_event (cuda, TRUE, begin);
  _gantry_cuda_give_event (cuda, TRUE, end);
  return done;
}

static Choice *
choose (CudaDevice *cuda, const CudaPrepared *prepared, CudaProduct *product, gsize workspace)
{
  Choice *choice = g_new0 (Choice, 1);
  BlasFound found[MOST_ALGORITHMS];
  int n = ask_for_algorithms (product, workspace, found);
  float best, ms;

  if (n <= 0 || !measure (cuda, prepared, NULL, &best))
    return choice;
  best *= WORTH_IT;
  for (int i = 0; i < MIN (n, MOST_ALGORITHMS); i++)
    {
      product->found = found[i];
      if (found[i].state != 0 || found[i].workspace > workspace || !measure (cuda, prepared, product, &ms) || ms >= best)
        continue;
      best = ms;
      choice->library = TRUE;
      choice->found = found[i];
    }
  return choice;
}

/* Choices that are kept: a file each, named by a hash of all that a choice depends on. */

static char *
file_of (const CudaDevice *cuda, const char *key)
{
  g_autofree char *all = NULL, *name = NULL;

  if (cuda->choices_folder == NULL)
    return NULL;
  all = g_strdup_printf ("%s\ncuBLASLt %" G_GSIZE_FORMAT "\n%s", cuda->parent.name, cuda->blas->version, key);
  name = g_compute_checksum_for_string (G_CHECKSUM_SHA256, all, -1);
  return g_build_filename (cuda->choices_folder, name, NULL);
}

/* "own", or "library WORKSPACE" and the algorithm, which the library's documentation says may be kept for the same version. */
static Choice *
read_choice (const CudaDevice *cuda, const char *key)
{
  g_autofree char *path = file_of (cuda, key), *text = NULL;
  g_auto (GStrv) words = NULL;
  g_autoptr (Choice) choice = NULL;

  text = path != NULL ? gantry_cache_read (path, NULL) : NULL;
  if (text == NULL)
    return NULL;
  words = g_strsplit (g_strstrip (text), " ", -1);
  choice = g_new0 (Choice, 1);
  if (g_strv_length (words) == 1 && strcmp (words[0], "own") == 0)
    return g_steal_pointer (&choice);
  if (g_strv_length (words) != 2 + G_N_ELEMENTS (choice->found.algorithm.data) || strcmp (words[0], "library") != 0)
    return NULL;
  choice->library = TRUE;
  choice->found.workspace = (gsize) g_ascii_strtoull (words[1], NULL, 10);
  for (guint i = 0; i < G_N_ELEMENTS (choice->found.algorithm.data); i++)
    choice->found.algorithm.data[i] = g_ascii_strtoull (words[2 + i], NULL, 16);
  return g_steal_pointer (&choice);
}

/* A folder that cannot be written keeps nothing: then it is measured again. */
static void
write_choice (const CudaDevice *cuda, const char *key, const Choice *choice)
{
  g_autofree char *path = file_of (cuda, key);
  g_autoptr (GString) text = g_string_new (choice->library ? "library" : "own");

  if (path == NULL || g_mkdir_with_parents (cuda->choices_folder, 0700) != 0)
    return;
  if (choice->library)
    g_string_append_printf (text, " %" G_GSIZE_FORMAT, choice->found.workspace);
  for (guint i = 0; choice->library && i < G_N_ELEMENTS (choice->found.algorithm.data); i++)
    g_string_append_printf (text, " %" G_GINT64_MODIFIER "x", choice->found.algorithm.data[i]);
  g_string_append_c (text, '\n');
  gantry_output_write (path, NULL, text->str, text->len, NULL);
}

static char *
key_of (const GantryGpuProduct *of, gsize workspace)
{
  return g_strdup_printf ("align %u, %u %u %u%u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                          " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GSIZE_FORMAT,
                          ALIGNMENT, of->element, of->result, of->a_transposed, of->b_transposed, of->m, of->n, of->k, of->batch, of->a_stride, of->b_stride,
                          of->c_stride, workspace);
}

static gboolean
is_aligned (const void *address)
{
  return GPOINTER_TO_SIZE (address) % ALIGNMENT == 0;
}

CudaProduct *
_gantry_cuda_product_new (CudaDevice *cuda, const GantryKernel *kernel, const CudaPrepared *prepared, void *const *buffers, guint32 n)
{
  const GantryGpuProduct *of = kernel->gpu->product;
  guint32 scratch = n - 1 - (kernel->packed_bytes > 0);
  gsize workspace = kernel->workspace_bytes > 0 && scratch < n ? kernel->workspace_bytes : 0;
  g_autofree char *key = key_of (of, workspace);
  CudaProduct *product;
  Choice *choice;

  if (of->a >= n || of->b >= n || of->c >= n || !is_aligned (buffers[of->a]) || !is_aligned (buffers[of->b]) || !is_aligned (buffers[of->c])
      || type_of (of->element) < 0 || type_of (of->result) < 0 || of->batch > G_MAXINT32)
    return NULL;
  product = g_new0 (CudaProduct, 1);
  product->blas = cuda->blas;
  product->a = buffers[of->a];
  product->b = buffers[of->b];
  product->c = buffers[of->c];
  product->workspace = workspace > 0 ? buffers[scratch] : NULL;
  if (!describe (product, of))
    {
      _gantry_cuda_product_free (product);
      return NULL;
    }
  choice = g_hash_table_lookup (cuda->blas->choices, key);
  if (choice == NULL)
    {
      choice = read_choice (cuda, key);
      if (choice == NULL || choice->found.workspace > workspace)
        {
          g_free (choice);
          choice = choose (cuda, prepared, product, workspace);
          write_choice (cuda, key, choice);
        }
      g_hash_table_insert (cuda->blas->choices, g_steal_pointer (&key), choice);
    }
  product->found = choice->found;
  if (choice->library)
    return product;
  _gantry_cuda_product_free (product);
  return NULL;
}
