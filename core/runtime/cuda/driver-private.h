/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the CUDA driver's interface that is used, declared by ourselves: no toolkit is needed to build, and
 * libcuda is looked for when a device is made. Sizes and values are checked against the toolkit's header by a test. */
#pragma once
#include <glib.h>

/* Handles are opaque; names follow the driver's, values are those of its binary interface. */
typedef int CudaResult;
typedef int CudaOrdinal;     /* CUdevice */
typedef guint64 CudaAddress; /* CUdeviceptr */
typedef struct CudaContext_ *CudaContext;
typedef struct CudaModule_ *CudaModule;
typedef struct CudaFunction_ *CudaFunction;
typedef struct CudaStream_ *CudaStream;
typedef struct CudaEvent_ *CudaEvent;
typedef struct CudaGraph_ *CudaGraph;
typedef struct CudaGraphExec_ *CudaGraphExec;

enum
{
  CUDA_INVALID_VALUE = 1,
  CUDA_OUT_OF_MEMORY = 2,
  CUDA_NOT_INITIALIZED = 3,
  CUDA_DEINITIALIZED = 4,
  CUDA_STUB_LIBRARY = 34,
  CUDA_REQUIRES_NEWER_DRIVER = 36,
  CUDA_DEVICE_UNAVAILABLE = 46,
  CUDA_NO_DEVICE = 100,
  CUDA_INVALID_DEVICE = 101,
  CUDA_INVALID_IMAGE = 200,
  CUDA_INVALID_CONTEXT = 201,
  CUDA_NO_BINARY_FOR_GPU = 209,
  CUDA_ECC_UNCORRECTABLE = 214,
  CUDA_INVALID_PTX = 218,
  CUDA_NVLINK_UNCORRECTABLE = 220,
  CUDA_NO_JIT_COMPILER = 221,
  CUDA_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_CONTAINED = 226,
  CUDA_OPERATING_SYSTEM = 304,
  CUDA_INVALID_HANDLE = 400,
  CUDA_NOT_FOUND = 500,
  CUDA_NOT_READY = 600,
  CUDA_ILLEGAL_ADDRESS = 700,
  CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_LAUNCH_TIMEOUT = 702,
  CUDA_CONTEXT_DESTROYED = 709,
  CUDA_ASSERT = 710,
  CUDA_HARDWARE_STACK = 714,
  CUDA_ILLEGAL_INSTRUCTION = 715,
  CUDA_MISALIGNED_ADDRESS = 716,
  CUDA_INVALID_ADDRESS_SPACE = 717,
  CUDA_INVALID_PC = 718,
  CUDA_LAUNCH_FAILED = 719,
  CUDA_TENSOR_MEMORY_LEAK = 721,
  CUDA_NOT_PERMITTED = 800,
  CUDA_SYSTEM_NOT_READY = 802,
  CUDA_DRIVER_MISMATCH = 803,
  CUDA_COMPAT_NOT_SUPPORTED = 804,
  CUDA_MPS_FIRST = 805,
  CUDA_MPS_LAST = 810,
  CUDA_CAPTURE_UNSUPPORTED = 900,
  CUDA_EXTERNAL_DEVICE = 911,
  CUDA_UNKNOWN = 999,
};

enum /* CUdevice_attribute */
{
  CUDA_ATTRIBUTE_THREADS_PER_BLOCK = 1,
  CUDA_ATTRIBUTE_CLOCK_KHZ = 13,
  CUDA_ATTRIBUTE_PROCESSORS = 16,
  CUDA_ATTRIBUTE_COMPUTE_MODE = 20,
  CUDA_ATTRIBUTE_MEMORY_CLOCK_KHZ = 36,
  CUDA_ATTRIBUTE_MEMORY_BUS_BITS = 37,
  CUDA_ATTRIBUTE_L2_BYTES = 38,
  CUDA_ATTRIBUTE_COPY_ENGINES = 40,
  CUDA_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
  CUDA_ATTRIBUTE_MAJOR = 75,
  CUDA_ATTRIBUTE_MINOR = 76,
  CUDA_ATTRIBUTE_SHARED_OPTIN = 97,
};

enum
{
  CUDA_COMPUTE_DEFAULT = 0,
  CUDA_COMPUTE_PROHIBITED = 2,
  CUDA_COMPUTE_EXCLUSIVE = 3,
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_EVENT_DEFAULT = 0,
  CUDA_EVENT_DISABLE_TIMING = 2,
  CUDA_HOST_PORTABLE = 1,
  CUDA_HOST_DEVICE_MAP = 2,
  CUDA_FUNCTION_THREADS_PER_BLOCK = 0,
  CUDA_FUNCTION_DYNAMIC_SHARED = 8,
  CUDA_FUNCTION_NON_PORTABLE_CLUSTER = 14,
  CUDA_CAPTURE_THREAD_LOCAL = 1,
  CUDA_LAUNCH_CLUSTER = 4,
  CUDA_JIT_ERROR_LOG = 5,
  CUDA_JIT_ERROR_LOG_BYTES = 6,
};

enum /* CUtensorMapDataType */
{
  CUDA_MAP_U8 = 0,
  CUDA_MAP_U16 = 1,
  CUDA_MAP_U32 = 2,
  CUDA_MAP_I32 = 3,
  CUDA_MAP_U64 = 4,
  CUDA_MAP_I64 = 5,
  CUDA_MAP_F16 = 6,
  CUDA_MAP_F32 = 7,
  CUDA_MAP_F64 = 8,
  CUDA_MAP_BF16 = 9,
};

/** CUtensorMap: opaque, by value in a kernel's parameters. CUDA 12 asks for an alignment of 64, 13 for one of 128. */
typedef struct
{
  _Alignas(128) guint64 opaque[16];
} CudaTensorMap;

/** CUlaunchAttribute. */
typedef struct
{
  gint32 id;
  char pad[4];
  union
  {
    char pad[64];
    guint32 cluster[3];
  } value;
} CudaLaunchAttribute;

/** CUlaunchConfig. */
typedef struct
{
  guint32 grid[3], block[3], shared_bytes;
  CudaStream stream;
  CudaLaunchAttribute *attributes;
  guint32 n_attributes;
} CudaLaunchConfig;

/* Name in the table, symbol of the library with its version, parameters. */
#define CUDA_FUNCTIONS(F) \
  F (init, "cuInit", (unsigned flags)) \
  F (driver_version, "cuDriverGetVersion", (int *version)) \
  F (error_name, "cuGetErrorName", (CudaResult result, const char **name)) \
  F (error_string, "cuGetErrorString", (CudaResult result, const char **text)) \
  F (device_count, "cuDeviceGetCount", (int *n)) \
  F (device_get, "cuDeviceGet", (CudaOrdinal * device, int ordinal)) \
  F (device_name, "cuDeviceGetName", (char *name, int size, CudaOrdinal device)) \
  F (device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, CudaOrdinal device)) \
  F (device_memory, "cuDeviceTotalMem_v2", (gsize * bytes, CudaOrdinal device)) \
  F (device_pci, "cuDeviceGetPCIBusId", (char *id, int size, CudaOrdinal device)) \
  F (context_retain, "cuDevicePrimaryCtxRetain", (CudaContext * context, CudaOrdinal device)) \
  F (context_release, "cuDevicePrimaryCtxRelease_v2", (CudaOrdinal device)) \
  F (context_push, "cuCtxPushCurrent_v2", (CudaContext context)) \
  F (context_pop, "cuCtxPopCurrent_v2", (CudaContext * context)) \
  F (memory_info, "cuMemGetInfo_v2", (gsize * free, gsize * total)) \
  F (memory_alloc, "cuMemAlloc_v2", (CudaAddress * address, gsize bytes)) \
  F (memory_free, "cuMemFree_v2", (CudaAddress address)) \
  F (host_alloc, "cuMemHostAlloc", (void **memory, gsize bytes, unsigned flags)) \
  F (host_free, "cuMemFreeHost", (void *memory)) \
  F (copy, "cuMemcpyAsync", (CudaAddress to, CudaAddress from, gsize bytes, CudaStream stream)) \
  F (set8, "cuMemsetD8Async", (CudaAddress to, unsigned char value, gsize n, CudaStream stream)) \
  F (set16, "cuMemsetD16Async", (CudaAddress to, unsigned short value, gsize n, CudaStream stream)) \
  F (set32, "cuMemsetD32Async", (CudaAddress to, unsigned value, gsize n, CudaStream stream)) \
  F (stream_new, "cuStreamCreate", (CudaStream * stream, unsigned flags)) \
  F (stream_free, "cuStreamDestroy_v2", (CudaStream stream)) \
  F (stream_wait, "cuStreamWaitEvent", (CudaStream stream, CudaEvent event, unsigned flags)) \
  F (stream_synchronize, "cuStreamSynchronize", (CudaStream stream)) \
  F (event_new, "cuEventCreate", (CudaEvent * event, unsigned flags)) \
  F (event_free, "cuEventDestroy_v2", (CudaEvent event)) \
  F (event_record, "cuEventRecord", (CudaEvent event, CudaStream stream)) \
  F (event_synchronize, "cuEventSynchronize", (CudaEvent event)) \
  F (event_elapsed, "cuEventElapsedTime", (float *milliseconds, CudaEvent begin, CudaEvent end)) \
  F (module_load, "cuModuleLoadDataEx", (CudaModule * module, const void *image, unsigned n_options, int *options, void **values)) \
  F (module_unload, "cuModuleUnload", (CudaModule module)) \
  F (module_function, "cuModuleGetFunction", (CudaFunction * function, CudaModule module, const char *name)) \
  F (function_set, "cuFuncSetAttribute", (CudaFunction function, int attribute, int value)) \
  F (function_get, "cuFuncGetAttribute", (int *value, int attribute, CudaFunction function)) \
  F (launch, "cuLaunchKernelEx", (const CudaLaunchConfig *config, CudaFunction function, void **parameters, void **extra)) \
  F (map_encode, "cuTensorMapEncodeTiled", \
     (CudaTensorMap * map, int element, guint32 rank, void *address, const guint64 *dims, const guint64 *strides, const guint32 *box, \
      const guint32 *element_strides, int interleave, int swizzle, int promotion, int fill)) \
  F (capture_begin, "cuStreamBeginCapture_v2", (CudaStream stream, int mode)) \
  F (capture_end, "cuStreamEndCapture", (CudaStream stream, CudaGraph * graph)) \
  F (graph_free, "cuGraphDestroy", (CudaGraph graph)) \
  F (graph_instantiate, "cuGraphInstantiateWithFlags", (CudaGraphExec * exec, CudaGraph graph, guint64 flags)) \
  F (graph_launch, "cuGraphLaunch", (CudaGraphExec exec, CudaStream stream)) \
  F (graph_exec_free, "cuGraphExecDestroy", (CudaGraphExec exec))

#define CUDA_POINTER(name, symbol, parameters) CudaResult (*name) parameters;
typedef struct
{
  void *library;
  int version; /* 12040: CUDA 12.4 is what the driver knows */
  CUDA_FUNCTIONS (CUDA_POINTER)
} CudaDriver;
#undef CUDA_POINTER

/** The oldest driver that has all of the table. */
#define CUDA_LEAST_VERSION 12000

/**
 * _gantry_cuda_driver_new:
 *
 * Loads libcuda (GANTRY_LIBCUDA names another file) and initialises it.
 *
 * Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_UNSUPPORTED (no driver, too old, no device) or
 *  %GANTRY_ERROR_FAILED (a driver that does not work); the message says what to do
 */
CudaDriver *_gantry_cuda_driver_new (GError **error);
void _gantry_cuda_driver_free (CudaDriver *driver);
/** "CUDA 12.4", with the kernel driver's own version where it tells it (transfer full) */
char *_gantry_cuda_driver_describe (const CudaDriver *driver);
/** "illegal memory access (CUDA_ERROR_ILLEGAL_ADDRESS)" (transfer full) */
char *_gantry_cuda_explain (const CudaDriver *driver, CudaResult result);
/** Of a context: does no later call succeed? */
gboolean _gantry_cuda_is_sticky (CudaResult result);
/** Sets @error for a result that has to do with the machine's state, not with a device: no device, no permission,
 *  libraries that do not fit. @what: that was done */
void _gantry_cuda_set_system_error (const CudaDriver *driver, CudaResult result, const char *what, GError **error);
/** 0 where the driver does not know it. */
int _gantry_cuda_attribute (const CudaDriver *driver, CudaOrdinal device, int attribute);
