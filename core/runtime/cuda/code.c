/* SPDX-License-Identifier: Apache-2.0 */
/* Code on the GPU: the images of an executable become modules, and each launch is made ready once, with its addresses
 * and its tensor maps, so that nothing is looked up while it runs. */
#include "core/runtime/cuda/cuda-private.h"
#include "core/base/error.h"
#include <string.h>

#define LOG_BYTES 8192
/* Without asking for more (cuFuncSetAttribute). */
#define PLAIN_SHARED_BYTES (48u << 10)
/* Blocks of a cluster that every GPU which has clusters runs. */
#define PORTABLE_CLUSTER 8u

static void
prepared_free (gpointer data)
{
  CudaPrepared *prepared = data;

  for (guint32 i = 0; prepared->launches != NULL && i < prepared->n_launches; i++)
    {
      g_free (prepared->launches[i].parameters);
      g_free (prepared->launches[i].values);
      g_aligned_free (prepared->launches[i].maps);
    }
  g_free (prepared->launches);
  _gantry_cuda_product_free (prepared->product);
  g_free (prepared);
}

/* Images. */

/* The driver is told an address without a length: what is no code at all must not come to it. */
static gboolean
check_image (const GantryGpuImage *image, guint32 i, GError **error)
{
  gsize size = 0;
  const char *data = image->code != NULL ? g_bytes_get_data (image->code, &size) : NULL;

  if (image->is_text ? size > 1 && data[size - 1] == '\0' : size >= 64 && memcmp (data, "\177ELF", 4) == 0)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "executable: image %u is no %s", i,
               image->is_text ? "PTX text with its final zero" : "GPU code (cubin)");
  return FALSE;
}

static void
set_image_error (CudaDevice *cuda, const GantryGpuImage *image, CudaResult result, const char *log, GError **error)
{
  g_autofree char *why = _gantry_cuda_explain (cuda->driver, result);
  const char *arch = image->arch != NULL ? image->arch : "unknown architecture";

  if (result == CUDA_NO_BINARY_FOR_GPU || result == CUDA_INVALID_IMAGE || result == CUDA_UNSUPPORTED_PTX_VERSION || result == CUDA_NO_JIT_COMPILER)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "%s (sm_%d%d, driver for CUDA %d.%d) does not take the code, which is %s for %s: %s; compile for this GPU, or update "
                 "the driver (580 or newer for code that a toolkit 13 assembled)",
                 cuda->parent.name, cuda->major, cuda->minor, cuda->driver->version / 1000, cuda->driver->version % 1000 / 10,
                 image->is_text ? "PTX" : "a cubin", arch, why);
  else
    g_set_error (error, GANTRY_ERROR, result == CUDA_OUT_OF_MEMORY ? GANTRY_ERROR_NO_MEMORY : GANTRY_ERROR_FAILED,
                 "%s does not load the code (%s for %s): %s%s%s", cuda->parent.name, image->is_text ? "PTX" : "a cubin", arch, why, *log != '\0' ? ":\n" : "",
                 log);
}

static gboolean
load_image (CudaDevice *cuda, const GantryGpuImage *image, CudaModule *module, GError **error)
{
  g_autofree char *log = g_malloc0 (LOG_BYTES);
  int options[] = { CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES };
  void *values[] = { log, GSIZE_TO_POINTER (LOG_BYTES - 1) };
  CudaResult result = cuda->driver->module_load (module, g_bytes_get_data (image->code, NULL), image->is_text ? 2 : 0, options, values);

  if (result == 0)
    return TRUE;
  *module = NULL;
  if (_gantry_cuda_is_sticky (result))
    return _gantry_cuda_check (cuda, result, error, "loading code");
  set_image_error (cuda, image, result, log, error);
  return FALSE;
}

gpointer
_gantry_cuda_load (GantryDevice *device, const GantryExecutable *executable, GError **error)
{
  CudaDevice *cuda = (CudaDevice *) device;
  CudaCode *code;
  gboolean done = TRUE;

  for (guint32 i = 0; i < executable->n_images; i++)
    if (!check_image (&executable->images[i], i, error))
      return NULL;
  if (!_gantry_cuda_enter (cuda, error))
    return NULL;
  code = g_new0 (CudaCode, 1);
  code->n_modules = executable->n_images;
  code->modules = g_new0 (CudaModule, executable->n_images + (gsize) 1);
  code->prepared = g_ptr_array_new_with_free_func (prepared_free);
  for (guint32 i = 0; i < executable->n_images && done; i++)
    done = load_image (cuda, &executable->images[i], &code->modules[i], error);
  _gantry_cuda_leave (cuda);
  if (done)
    return code;
  _gantry_cuda_unload (device, code);
  return NULL;
}

void
_gantry_cuda_unload (GantryDevice *device, gpointer loaded)
{
  CudaDevice *cuda = (CudaDevice *) device;
  CudaCode *code = loaded;
  gboolean entered;

  g_mutex_lock (&cuda->running);
  entered = _gantry_cuda_enter_anyway (cuda);
  _gantry_cuda_drop_graphs (cuda);
  for (guint32 i = 0; i < code->n_modules; i++)
    if (code->modules[i] != NULL)
      cuda->driver->module_unload (code->modules[i]);
  if (entered)
    _gantry_cuda_leave (cuda);
  g_mutex_unlock (&cuda->running);
  g_ptr_array_unref (code->prepared);
  g_free (code->modules);
  g_free (code);
}

/* Tensor maps. */

/* The element type of a map: what is only copied goes by its size. -1: none */
static int
element_of (GantryElementType element)
{
  switch (element)
    {
    case GANTRY_F16: return CUDA_MAP_F16;
    case GANTRY_BF16: return CUDA_MAP_BF16;
    case GANTRY_F32: return CUDA_MAP_F32;
    case GANTRY_F64: return CUDA_MAP_F64;
    default: break;
    }
  switch (gantry_element_size (element))
    {
    case 1: return CUDA_MAP_U8;
    case 2: return CUDA_MAP_U16;
    case 4: return CUDA_MAP_U32;
    case 8: return CUDA_MAP_U64;
    default: return -1;
    }
}

static gboolean
encode_map (CudaDevice *cuda, const GantryKernel *kernel, const GantryTensorMap *from, void *address, CudaTensorMap *map, GError **error)
{
  static const guint32 ones[5] = { 1, 1, 1, 1, 1 };
  const int promotion = 2; /* the second-level cache fetches 128 bytes at once */
  int element = element_of (from->element), swizzle = from->swizzle == 128 ? 3 : from->swizzle / 32;

  if (element >= 0 && from->strides[0] == gantry_element_size (from->element))
    return _gantry_cuda_check (
      cuda, cuda->driver->map_encode (map, element, from->rank, address, from->dims, from->strides + 1, from->box, ones, 0, swizzle, promotion, 0), error,
      "encoding a tensor map of kernel '%s'", kernel->name);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "kernel '%s' has a tensor map whose elements do not lie side by side", kernel->name);
  return FALSE;
}

/* Launches. */

/* Whether the GPU can run the launch at all is found out here, where the message can say what it lacks. */
static gboolean
check_launch (CudaDevice *cuda, const GantryKernel *kernel, const GantryGpuLaunch *launch, CudaFunction function, GError **error)
{
  guint64 threads = (guint64) launch->block[0] * launch->block[1] * launch->block[2];
  int most = cuda->most_threads;

  if (cuda->driver->function_get (&most, CUDA_FUNCTION_THREADS_PER_BLOCK, function) != 0 || most <= 0)
    most = cuda->most_threads;
  if (most > 0 && threads > (guint64) most)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "kernel '%s' wants blocks of %" G_GUINT64_FORMAT " threads where %s allows %d (its registers are shared among them)", kernel->name, threads,
                 cuda->parent.name, most);
  else if (cuda->most_shared > 0 && launch->shared_bytes > (guint32) cuda->most_shared)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "kernel '%s' wants %u bytes of shared memory where %s has %d for a block; compile for this GPU",
                 kernel->name, launch->shared_bytes, cuda->parent.name, cuda->most_shared);
  else if (launch->cluster[0] > 0 && cuda->major < 9)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "kernel '%s' wants clusters of blocks, which GPUs have from sm_90 on, and %s is sm_%d%d; compile for this GPU", kernel->name,
                 cuda->parent.name, cuda->major, cuda->minor);
  else
    return TRUE;
  return FALSE;
}

static gboolean
set_attributes (CudaDevice *cuda, const GantryKernel *kernel, const GantryGpuLaunch *launch, CudaPreparedLaunch *prepared, GError **error)
{
  CudaLaunchConfig *config = &prepared->config;

  memcpy (config->grid, launch->grid, sizeof config->grid);
  memcpy (config->block, launch->block, sizeof config->block);
  config->shared_bytes = launch->shared_bytes;
  if (launch->shared_bytes > PLAIN_SHARED_BYTES
      && !_gantry_cuda_check (cuda, cuda->driver->function_set (prepared->function, CUDA_FUNCTION_DYNAMIC_SHARED, (int) launch->shared_bytes), error,
                              "asking for %u bytes of shared memory for kernel '%s'", launch->shared_bytes, kernel->name))
    return FALSE;
  if (launch->cluster[0] == 0)
    return TRUE;
  prepared->cluster.id = CUDA_LAUNCH_CLUSTER;
  memcpy (prepared->cluster.value.cluster, launch->cluster, sizeof launch->cluster);
  config->attributes = &prepared->cluster;
  config->n_attributes = 1;
  return launch->cluster[0] * launch->cluster[1] * launch->cluster[2] <= PORTABLE_CLUSTER
         || _gantry_cuda_check (cuda, cuda->driver->function_set (prepared->function, CUDA_FUNCTION_NON_PORTABLE_CLUSTER, 1), error,
                                "asking for large clusters for kernel '%s'", kernel->name);
}

static gboolean
set_parameters (CudaDevice *cuda, const GantryKernel *kernel, const GantryGpuLaunch *launch, void *const *buffers, guint32 n, CudaPreparedLaunch *prepared,
                GError **error)
{
  prepared->values = g_new0 (CudaAddress, n + (gsize) 1);
  prepared->parameters = g_new0 (void *, n + (gsize) launch->n_maps + 1);
  for (guint32 i = 0; i < n; i++)
    {
      prepared->values[i] = GPOINTER_TO_SIZE (buffers[i]);
      prepared->parameters[i] = &prepared->values[i];
    }
  if (launch->n_maps == 0)
    return TRUE;
  prepared->maps = g_aligned_alloc0 (launch->n_maps, sizeof (CudaTensorMap), _Alignof(CudaTensorMap));
  for (guint32 m = 0; m < launch->n_maps; m++)
    {
      prepared->parameters[n + m] = &prepared->maps[m];
      if (!encode_map (cuda, kernel, &launch->maps[m], buffers[launch->maps[m].buffer], &prepared->maps[m], error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
prepare_launch (CudaDevice *cuda, const CudaCode *code, const GantryKernel *kernel, const GantryGpuLaunch *launch, void *const *buffers, guint32 n,
                CudaPreparedLaunch *prepared, GError **error)
{
  CudaResult result = launch->image < code->n_modules ? cuda->driver->module_function (&prepared->function, code->modules[launch->image], launch->entry)
                                                      : CUDA_NOT_FOUND;

  if (result == CUDA_NOT_FOUND)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "kernel '%s' is not in its code: there is no entry '%s'", kernel->name, launch->entry);
      return FALSE;
    }
  return _gantry_cuda_check (cuda, result, error, "looking up kernel '%s'", kernel->name) && check_launch (cuda, kernel, launch, prepared->function, error)
         && set_attributes (cuda, kernel, launch, prepared, error) && set_parameters (cuda, kernel, launch, buffers, n, prepared, error);
}

/* The library is looked for when the first product comes: it is large. */
static void
prepare_product (CudaDevice *cuda, const GantryKernel *kernel, void *const *buffers, guint32 n, CudaPrepared *prepared)
{
  if (!cuda->use_library || kernel->gpu->product == NULL)
    return;
  g_mutex_lock (&cuda->running);
  if (!cuda->looked_for_library)
    {
      cuda->looked_for_library = TRUE;
      cuda->blas = _gantry_cuda_blas_new ();
    }
  if (cuda->blas != NULL)
    prepared->product = _gantry_cuda_product_new (cuda, kernel, prepared, buffers, n);
  g_mutex_unlock (&cuda->running);
}

gpointer
_gantry_cuda_prepare (GantryDevice *device, gpointer loaded, const GantryKernel *kernel, void *const *buffers, guint32 n, GError **error)
{
  CudaDevice *cuda = (CudaDevice *) device;
  CudaCode *code = loaded;
  CudaPrepared *prepared;
  gboolean done = TRUE;

  g_return_val_if_fail (kernel->gpu != NULL, NULL);
  if (!_gantry_cuda_enter (cuda, error))
    return NULL;
  prepared = g_new0 (CudaPrepared, 1);
  prepared->kernel = kernel;
  prepared->n_launches = kernel->gpu->n_launches;
  prepared->launches = g_new0 (CudaPreparedLaunch, prepared->n_launches + (gsize) 1);
  g_ptr_array_add (code->prepared, prepared);
  for (guint32 i = 0; i < prepared->n_launches && done; i++)
    done = prepare_launch (cuda, code, kernel, &kernel->gpu->launches[i], buffers, n, &prepared->launches[i], error);
  if (done)
    prepare_product (cuda, kernel, buffers, n, prepared);
  _gantry_cuda_leave (cuda);
  return done ? prepared : NULL;
}
