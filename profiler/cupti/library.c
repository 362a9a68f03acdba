/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and loading libcupti and libcuda. */
#include "profiler/cupti/library.h"
#include "core/base/error.h"
#include "core/base/vendor-library.h"
#include <dlfcn.h>
#include <string.h>

/* A system's own comes first: it is the one that the program's other libraries would load. */
static gpointer
open_cupti (GError **error)
{
  static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", NULL };
  const char *own = g_getenv ("GANTRY_LIBCUPTI");
  g_auto (GStrv) places = NULL;
  gpointer handle = NULL;

  if (own != NULL && own[0] != '\0')
    {
      handle = dlopen (own, RTLD_NOW | RTLD_LOCAL);
      if (handle == NULL)
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "no CUPTI: %s, which GANTRY_LIBCUPTI names, cannot be loaded (%s); correct or unset it",
                     own, dlerror ());
      return handle;
    }
  places = gantry_vendor_library_paths (NULL, names);
  for (guint i = 0; places[i] != NULL && handle == NULL; i++)
    handle = dlopen (places[i], RTLD_NOW | RTLD_LOCAL);
  if (handle != NULL)
    return handle;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
               "no CUPTI: libcupti.so.13 or .12 is neither where the system looks for libraries nor under CUDA_HOME (%s), in "
               "/usr/local/cuda or in the site-packages of a Python; install the CUDA toolkit's CUPTI (pip install nvidia-cuda-cupti does), or "
               "name the file in GANTRY_LIBCUPTI",
               g_getenv ("CUDA_HOME") != NULL ? g_getenv ("CUDA_HOME") : "not set");
  return NULL;
}

/* Those that are not required stay NULL where the library lacks them. */
static gboolean
find_functions (GantryCuptiLibrary *library, GError **error)
{
  const struct
  {
    gpointer *field;
    const char *name;
    gboolean required;
  } functions[] = {
#define CUPTI_ENTRY(field, name, required) { (gpointer *) &library->field, #name, required },
    CUPTI_FUNCTIONS (CUPTI_ENTRY)
#undef CUPTI_ENTRY
#if CUPTI_API_VERSION >= 130000
      { (gpointer *) &library->subscribe_v2, "cuptiSubscribe_v2", FALSE },
#endif
  };

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      *functions[i].field = dlsym (library->handle, functions[i].name);
      if (*functions[i].field == NULL && functions[i].required)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s has no %s: it is too old, or no CUPTI", library->path, functions[i].name);
          return FALSE;
        }
    }
  return TRUE;
}

GantryCuptiLibrary *
_gantry_cupti_library_new (GError **error)
{
  g_autoptr (GantryCuptiLibrary) library = g_new0 (GantryCuptiLibrary, 1);
  Dl_info info = { 0 };
  gpointer symbol;

  library->handle = open_cupti (error);
  if (library->handle == NULL)
    return NULL;
  symbol = dlsym (library->handle, "cuptiGetVersion");
  library->path = g_strdup (symbol != NULL && dladdr (symbol, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "libcupti");
  if (!find_functions (library, error) || !_gantry_cupti_check (library, library->get_version (&library->version), "asking for its version", error))
    return NULL;
  return g_steal_pointer (&library);
}

/* The libraries stay loaded: CUPTI has threads of its own that may still run in it. */
void
_gantry_cupti_library_free (GantryCuptiLibrary *library)
{
  if (library == NULL)
    return;
  g_free (library->path);
  g_free (library);
}

gboolean
_gantry_cupti_library_init_driver (GantryCuptiLibrary *library, GError **error)
{
  static const char *const names[] = { "libcuda.so.1", NULL };
  const char *own = g_getenv ("GANTRY_LIBCUDA"), *text = NULL;
  g_auto (GStrv) places = own != NULL && own[0] != '\0' ? g_strdupv ((char *[]){ (char *) own, NULL }) : gantry_vendor_library_paths (NULL, names);
  const char *name = places[0];
  __typeof__ (cuInit) *init;
  __typeof__ (cuGetErrorString) *get_error_string;
  CUresult result;

  for (guint i = 0; places[i] != NULL && library->driver == NULL; i++)
    library->driver = dlopen (name = places[i], RTLD_NOW | RTLD_LOCAL);
  init = library->driver != NULL ? (__typeof__ (cuInit) *) dlsym (library->driver, "cuInit") : NULL;
  if (init == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                   "no NVIDIA driver: %s cannot be loaded (%s); nothing of a GPU can be recorded on this machine", name, dlerror ());
      return FALSE;
    }
  result = init (0);
  if (result == CUDA_SUCCESS)
    return TRUE;
  get_error_string = (__typeof__ (cuGetErrorString) *) dlsym (library->driver, "cuGetErrorString");
  if (get_error_string != NULL)
    get_error_string (result, &text);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
               "the NVIDIA driver does not start: %s (error %d of cuInit in %s); nvidia-smi should list the GPU first", text != NULL ? text : "no description",
               (int) result, name);
  return FALSE;
}

const char *
_gantry_cupti_result (const GantryCuptiLibrary *library, CUptiResult result)
{
  const char *text = NULL;

  if (library->get_result_string != NULL && library->get_result_string (result, &text) == CUPTI_SUCCESS && text != NULL)
    return text;
  return "an error without a name";
}

gboolean
_gantry_cupti_check (const GantryCuptiLibrary *library, CUptiResult result, const char *doing, GError **error)
{
  if (result == CUPTI_SUCCESS)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "CUPTI failed in %s: %s (%d)", doing, _gantry_cupti_result (library, result), (int) result);
  return FALSE;
}
