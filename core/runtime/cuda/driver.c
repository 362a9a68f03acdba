/* SPDX-License-Identifier: Apache-2.0 */
/* Finds libcuda, fills the table of its functions and says in full sentences what is wrong with a machine where that
 * does not work. */
#include "core/runtime/cuda/driver-private.h"
#include "core/base/asks.h"
#include "core/base/error.h"
#include "core/base/vendor-library.h"
#include <dlfcn.h>
#include <string.h>

/* Loading. */

static gboolean
has_kernel_driver (void)
{
  return g_file_test ("/proc/driver/nvidia/version", G_FILE_TEST_EXISTS) || g_file_test ("/dev/nvidiactl", G_FILE_TEST_EXISTS);
}

static void *
open_library (GError **error)
{
  static const char *const names[] = { "libcuda.so.1", NULL };
  const char *own = g_getenv ("GANTRY_LIBCUDA");
  g_auto (GStrv) places = NULL;
  g_autofree char *why = NULL;

  if (own != NULL && *own == '\0')
    own = NULL;
  places = own != NULL ? g_strdupv ((char *[]){ (char *) own, NULL }) : gantry_vendor_library_paths (NULL, names);
  for (guint i = 0; places[i] != NULL; i++)
    {
      /* It is never unloaded: its threads and exit handlers would go on in nothing. */
      void *library = dlopen (places[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

      if (library != NULL)
        return library;
      if (why == NULL)
        why = g_strdup (dlerror ());
    }
  if (own != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "no NVIDIA driver: %s, which GANTRY_LIBCUDA names, cannot be loaded (%s); correct or unset it, or " GANTRY_ASKS_PROCESSOR, own, why);
  else if (has_kernel_driver ())
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "no NVIDIA driver library: the driver's kernel module is loaded, but libcuda.so.1 is neither in the loader's paths "
                 "nor in /usr/local/nvidia/lib64 or /usr/lib/wsl/lib (%s); install the driver's user part of the same version (in a "
                 "container: start it with the GPUs passed in), or name the file in GANTRY_LIBCUDA",
                 why);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "no NVIDIA driver: libcuda.so.1 is neither in the loader's paths nor in /usr/local/nvidia/lib64 or /usr/lib/wsl/lib "
                 "(%s); it comes with NVIDIA's driver, 525 or newer, not with the CUDA toolkit; install that, or " GANTRY_ASKS_PROCESSOR,
                 why);
  return NULL;
}

static gboolean
fill_table (CudaDriver *driver, GError **error)
{
#define CUDA_ENTRY(name, symbol, parameters) { symbol, G_STRUCT_OFFSET (CudaDriver, name) },
  static const struct
  {
    const char *symbol;
    gsize offset;
  } entries[] = { CUDA_FUNCTIONS (CUDA_ENTRY) };
#undef CUDA_ENTRY

  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    {
      void *address = dlsym (driver->library, entries[i].symbol);

      if (address == NULL)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                       "the NVIDIA driver has no %s, which every driver since 525 (CUDA 12.0) has: its library is damaged or is no "
                       "driver; install the driver anew",
                       entries[i].symbol);
          return FALSE;
        }
      memcpy ((guint8 *) driver + entries[i].offset, &address, sizeof address);
    }
  return TRUE;
}

/* Asked first: an old driver should be told as such, and not by the functions that it lacks. */
static gboolean
check_version (CudaDriver *driver, GError **error)
{
  CudaResult (*version) (int *);
  void *address = dlsym (driver->library, "cuDriverGetVersion");
  CudaResult result;

  memcpy (&version, &address, sizeof address);
  result = version != NULL ? version (&driver->version) : 0;
  if (result == 0 && driver->version >= CUDA_LEAST_VERSION)
    return TRUE;
  if (result != 0)
    _gantry_cuda_set_system_error (driver, result, "asking for its version", error);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "the NVIDIA driver is too old: it knows CUDA %d.%d, and CUDA 12.0 is needed; install driver 525 or newer (580 or "
                 "newer for code that a toolkit 13 assembled), or " GANTRY_ASKS_PROCESSOR,
                 driver->version / 1000, driver->version % 1000 / 10);
  return FALSE;
}

CudaDriver *
_gantry_cuda_driver_new (GError **error)
{
  CudaDriver *driver = g_new0 (CudaDriver, 1);
  CudaResult result;

  driver->library = open_library (error);
  if (driver->library == NULL || !check_version (driver, error) || !fill_table (driver, error))
    {
      _gantry_cuda_driver_free (driver);
      return NULL;
    }
  result = driver->init (0);
  if (result == 0)
    return driver;
  _gantry_cuda_set_system_error (driver, result, "starting it", error);
  _gantry_cuda_driver_free (driver);
  return NULL;
}

void
_gantry_cuda_driver_free (CudaDriver *driver)
{
  if (driver == NULL)
    return;
  if (driver->library != NULL)
    dlclose (driver->library);
  g_free (driver);
}

/* Words. */

char *
_gantry_cuda_driver_describe (const CudaDriver *driver)
{
  g_autofree char *own = NULL;

  if (g_file_get_contents ("/sys/module/nvidia/version", &own, NULL, NULL))
    return g_strdup_printf ("CUDA %d.%d, driver %s", driver->version / 1000, driver->version % 1000 / 10, g_strstrip (own));
  return g_strdup_printf ("CUDA %d.%d", driver->version / 1000, driver->version % 1000 / 10);
}

char *
_gantry_cuda_explain (const CudaDriver *driver, CudaResult result)
{
  const char *name = NULL, *text = NULL;

  if (driver->error_name == NULL || driver->error_string == NULL || driver->error_name (result, &name) != 0 || name == NULL)
    return g_strdup_printf ("error %d", result);
  if (driver->error_string (result, &text) != 0 || text == NULL)
    return g_strdup (name);
  return g_strdup_printf ("%s (%s)", text, name);
}

gboolean
_gantry_cuda_is_sticky (CudaResult result)
{
  switch (result)
    {
    case CUDA_DEINITIALIZED:
    case CUDA_INVALID_CONTEXT:
    case CUDA_ECC_UNCORRECTABLE:
    case CUDA_NVLINK_UNCORRECTABLE:
    case CUDA_CONTAINED:
    case CUDA_ILLEGAL_ADDRESS:
    case CUDA_LAUNCH_TIMEOUT:
    case CUDA_CONTEXT_DESTROYED:
    case CUDA_ASSERT:
    case CUDA_HARDWARE_STACK:
    case CUDA_ILLEGAL_INSTRUCTION:
    case CUDA_MISALIGNED_ADDRESS:
    case CUDA_INVALID_ADDRESS_SPACE:
    case CUDA_INVALID_PC:
    case CUDA_LAUNCH_FAILED:
    case CUDA_TENSOR_MEMORY_LEAK:
    case CUDA_EXTERNAL_DEVICE:
    case CUDA_UNKNOWN: return TRUE;
    default: return result >= CUDA_MPS_FIRST && result <= CUDA_MPS_LAST;
    }
}

/* What to do about a machine on which the driver does not start. @supported: (out) */
static const char *
remedy (CudaResult result, gboolean *supported)
{
  *supported = TRUE;
  switch (result)
    {
    case CUDA_NOT_PERMITTED:
      return "this user may not use the GPU: ask the administrator for access to /dev/nvidia* (often the group video or render), or "
             "in a container for the GPU to be passed in";
    case CUDA_OPERATING_SYSTEM:
    case CUDA_UNKNOWN:
      return "look whether this user may open /dev/nvidiactl, /dev/nvidia0 and /dev/nvidia-uvm, and whether the kernel module "
             "nvidia_uvm is loaded; after a suspend or an update of the driver restart the machine";
    case CUDA_DRIVER_MISMATCH:
      return "the driver's library and its kernel module are of different versions, as after an update: restart the machine (in a "
             "container: use the host's library)";
    case CUDA_SYSTEM_NOT_READY: return "the machine is not ready: start nvidia-fabricmanager, or wait until it is up";
    case CUDA_COMPAT_NOT_SUPPORTED:
      return "the compatibility library of the toolkit does not work with this GPU: take it out of LD_LIBRARY_PATH, or update the "
             "driver";
    case CUDA_DEVICE_UNAVAILABLE:
      return "another process holds it (exclusive mode) or its administrator has closed it: end that process (nvidia-smi lists them), "
             "or " GANTRY_ASKS_OTHER_GPU;
    default: break;
    }
  *supported = FALSE;
  switch (result)
    {
    case CUDA_STUB_LIBRARY:
      return "what was loaded is the toolkit's stub, which is for linking alone: take its folder \"stubs\" out of LD_LIBRARY_PATH and "
             "GANTRY_LIBCUDA, and install NVIDIA's driver";
    case CUDA_NO_DEVICE:
      return g_getenv ("CUDA_VISIBLE_DEVICES") != NULL ? "no GPU is there, or CUDA_VISIBLE_DEVICES hides it: unset that, or " GANTRY_ASKS_PROCESSOR
                                                       : "no GPU is there: look at nvidia-smi, or " GANTRY_ASKS_PROCESSOR;
    case CUDA_REQUIRES_NEWER_DRIVER: return "the driver is too old: install driver 525 or newer";
    default: *supported = TRUE; return "look at nvidia-smi and the system's log (dmesg, lines with NVRM)";
    }
}

void
_gantry_cuda_set_system_error (const CudaDriver *driver, CudaResult result, const char *what, GError **error)
{
  g_autofree char *why = _gantry_cuda_explain (driver, result);
  gboolean supported;
  const char *advice = remedy (result, &supported);

  g_set_error (error, GANTRY_ERROR, supported ? GANTRY_ERROR_FAILED : GANTRY_ERROR_UNSUPPORTED, "%s: %s failed: %s; %s",
               result == CUDA_NO_DEVICE            ? "no NVIDIA GPU"
               : result == CUDA_DEVICE_UNAVAILABLE ? "the GPU is busy"
                                                   : "the NVIDIA driver does not work",
               what, why, advice);
}

int
_gantry_cuda_attribute (const CudaDriver *driver, CudaOrdinal device, int attribute)
{
  int value = 0;

  return driver->device_attribute (&value, attribute, device) == 0 ? value : 0;
}
