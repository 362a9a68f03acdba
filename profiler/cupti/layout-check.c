/* SPDX-License-Identifier: Apache-2.0 */
/* Compares profiler/cupti/layout.h with CUPTI's own headers at compile time: nothing here runs. The sizes hold for 13.0
 * alone; the places of fields for every version. */
#include "profiler/cupti/layout.h"
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_version.h>

#define AT(type, field, place) G_STATIC_ASSERT (offsetof (CUpti_Activity##type, field) == (place))

#define KERNEL(type) \
  AT (type, registersPerThread, KERNEL_REGISTERS); \
  AT (type, start, KERNEL_START); \
  AT (type, end, KERNEL_END); \
  AT (type, deviceId, KERNEL_DEVICE); \
  AT (type, contextId, KERNEL_CONTEXT); \
  AT (type, streamId, KERNEL_STREAM); \
  AT (type, gridX, KERNEL_GRID); \
  AT (type, blockX, KERNEL_BLOCK); \
  AT (type, staticSharedMemory, KERNEL_STATIC_SHARED); \
  AT (type, dynamicSharedMemory, KERNEL_DYNAMIC_SHARED); \
  AT (type, localMemoryPerThread, KERNEL_LOCAL_PER_THREAD); \
  AT (type, correlationId, KERNEL_CORRELATION); \
  AT (type, name, KERNEL_NAME); \
  AT (type, queued, KERNEL_QUEUED); \
  AT (type, submitted, KERNEL_SUBMITTED); \
  AT (type, graphNodeId, KERNEL_GRAPH_NODE)

KERNEL (Kernel5);
KERNEL (Kernel8);
KERNEL (Kernel9);
AT (Kernel8, clusterX, KERNEL_CLUSTER);
AT (Kernel9, clusterX, KERNEL_CLUSTER);
G_STATIC_ASSERT (sizeof (CUpti_ActivityKernel4) == KERNEL_LEAST);

#define MEMCPY(type) \
  AT (type, copyKind, MEMCPY_COPY_KIND); \
  AT (type, srcKind, MEMCPY_FROM); \
  AT (type, dstKind, MEMCPY_TO); \
  AT (type, flags, MEMCPY_FLAGS); \
  AT (type, bytes, MEMCPY_BYTES); \
  AT (type, start, MEMCPY_START); \
  AT (type, end, MEMCPY_END); \
  AT (type, deviceId, MEMCPY_DEVICE); \
  AT (type, contextId, MEMCPY_CONTEXT); \
  AT (type, streamId, MEMCPY_STREAM)

MEMCPY (Memcpy);
MEMCPY (Memcpy5);
AT (Memcpy5, correlationId, MEMCPY_CORRELATION);
AT (Memcpy5, graphNodeId, MEMCPY_GRAPH_NODE);
G_STATIC_ASSERT (sizeof (CUpti_ActivityMemcpy) == MEMCPY_LEAST);
MEMCPY (MemcpyPtoP);
MEMCPY (MemcpyPtoP4);
AT (MemcpyPtoP4, srcDeviceId, MEMCPY2_FROM_DEVICE);
AT (MemcpyPtoP4, dstDeviceId, MEMCPY2_TO_DEVICE);
AT (MemcpyPtoP4, correlationId, MEMCPY2_CORRELATION);
AT (MemcpyPtoP4, graphNodeId, MEMCPY2_GRAPH_NODE);
G_STATIC_ASSERT (sizeof (CUpti_ActivityMemcpyPtoP) == MEMCPY2_LEAST);

AT (Memset4, value, MEMSET_VALUE);
AT (Memset4, bytes, MEMSET_BYTES);
AT (Memset4, start, MEMSET_START);
AT (Memset4, end, MEMSET_END);
AT (Memset4, deviceId, MEMSET_DEVICE);
AT (Memset4, contextId, MEMSET_CONTEXT);
AT (Memset4, streamId, MEMSET_STREAM);
AT (Memset4, correlationId, MEMSET_CORRELATION);
AT (Memset4, flags, MEMSET_FLAGS);
AT (Memset4, memoryKind, MEMSET_MEMORY);
AT (Memset4, graphNodeId, MEMSET_GRAPH_NODE);
G_STATIC_ASSERT (sizeof (CUpti_ActivityMemset) == MEMSET_LEAST);

AT (API, cbid, API_CBID);
AT (API, start, API_START);
AT (API, end, API_END);
AT (API, processId, API_PROCESS);
AT (API, threadId, API_THREAD);
AT (API, correlationId, API_CORRELATION);
AT (API, returnValue, API_RESULT);

AT (Device4, globalMemoryBandwidth, DEVICE_BANDWIDTH);
AT (Device4, globalMemorySize, DEVICE_MEMORY);
AT (Device4, coreClockRate, DEVICE_CLOCK);
AT (Device4, numMultiprocessors, DEVICE_PROCESSORS);
AT (Device4, computeCapabilityMajor, DEVICE_MAJOR);
AT (Device4, computeCapabilityMinor, DEVICE_MINOR);
AT (Device4, id, DEVICE_ID);
AT (Device4, name, DEVICE_NAME);

AT (Context2, contextId, CONTEXT_ID);
AT (Context2, deviceId, CONTEXT_DEVICE);
AT (Context2, nullStreamId, CONTEXT_NULL_STREAM);

AT (Name, objectKind, NAME_OBJECT);
AT (Name, objectId, NAME_OBJECT_ID);
AT (Name, name, NAME_NAME);

AT (Marker2, flags, MARKER_FLAGS);
AT (Marker2, timestamp, MARKER_TIME);
AT (Marker2, id, MARKER_ID);
AT (Marker2, objectKind, MARKER_OBJECT);
AT (Marker2, objectId, MARKER_OBJECT_ID);
AT (Marker2, name, MARKER_NAME);
AT (Marker2, domain, MARKER_DOMAIN);

AT (Overhead2, overheadKind, OVERHEAD_KIND);
AT (Overhead2, objectKind, OVERHEAD_OBJECT);
AT (Overhead2, objectId, OVERHEAD_OBJECT_ID);
AT (Overhead2, start, OVERHEAD_START);
AT (Overhead2, end, OVERHEAD_END);
AT (Overhead2, correlationId, OVERHEAD_CORRELATION);
G_STATIC_ASSERT (sizeof (CUpti_ActivityOverhead) == OVERHEAD_LEAST);

AT (Stream, contextId, STREAM_CONTEXT);
AT (Stream, streamId, STREAM_ID);
AT (Stream, priority, STREAM_PRIORITY);
AT (Stream, flag, STREAM_FLAG);
AT (Stream, correlationId, STREAM_CORRELATION);

AT (Synchronization, type, SYNC_TYPE);
AT (Synchronization, start, SYNC_START);
AT (Synchronization, end, SYNC_END);
AT (Synchronization, correlationId, SYNC_CORRELATION);
AT (Synchronization, contextId, SYNC_CONTEXT);
AT (Synchronization, streamId, SYNC_STREAM);
AT (Synchronization, cudaEventId, SYNC_EVENT);
G_STATIC_ASSERT (sizeof (CUpti_ActivitySynchronization) == SYNC_LEAST);

AT (ExternalCorrelation, externalKind, EXTERNAL_KIND);
AT (ExternalCorrelation, externalId, EXTERNAL_ID);
AT (ExternalCorrelation, correlationId, EXTERNAL_CORRELATION);

AT (Memory3, memoryOperationType, MEMORY2_OPERATION);
AT (Memory3, memoryKind, MEMORY2_KIND);
AT (Memory3, correlationId, MEMORY2_CORRELATION);
AT (Memory3, address, MEMORY2_ADDRESS);
AT (Memory3, bytes, MEMORY2_BYTES);
AT (Memory3, timestamp, MEMORY2_TIME);
AT (Memory3, processId, MEMORY2_PROCESS);
AT (Memory3, deviceId, MEMORY2_DEVICE);
AT (Memory3, contextId, MEMORY2_CONTEXT);
AT (Memory3, streamId, MEMORY2_STREAM);
AT (Memory3, name, MEMORY2_NAME);
AT (Memory3, isAsync, MEMORY2_ASYNC);

AT (MemoryPool2, memoryPoolOperationType, POOL_OPERATION);
AT (MemoryPool2, memoryPoolType, POOL_TYPE);
AT (MemoryPool2, correlationId, POOL_CORRELATION);
AT (MemoryPool2, processId, POOL_PROCESS);
AT (MemoryPool2, deviceId, POOL_DEVICE);
AT (MemoryPool2, address, POOL_ADDRESS);
AT (MemoryPool2, size, POOL_SIZE);
AT (MemoryPool2, releaseThreshold, POOL_THRESHOLD);
AT (MemoryPool2, timestamp, POOL_TIME);
AT (MemoryPool2, utilizedSize, POOL_USED);

AT (GraphTrace, correlationId, GRAPH_CORRELATION);
AT (GraphTrace, start, GRAPH_START);
AT (GraphTrace, end, GRAPH_END);
AT (GraphTrace, deviceId, GRAPH_DEVICE);
AT (GraphTrace, graphId, GRAPH_ID);
AT (GraphTrace, contextId, GRAPH_CONTEXT);
AT (GraphTrace, streamId, GRAPH_STREAM);

G_STATIC_ASSERT ((int) CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == (int) CUPTI_KIND_CONCURRENT_KERNEL
                 && (int) CUPTI_ACTIVITY_KIND_MEMCPY2 == (int) CUPTI_KIND_MEMCPY2
                 && (int) CUPTI_ACTIVITY_KIND_SYNCHRONIZATION == (int) CUPTI_KIND_SYNCHRONIZATION
                 && (int) CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION == (int) CUPTI_KIND_EXTERNAL_CORRELATION
                 && (int) CUPTI_ACTIVITY_KIND_MEMORY2 == (int) CUPTI_KIND_MEMORY2 && (int) CUPTI_ACTIVITY_KIND_MEMORY_POOL == (int) CUPTI_KIND_MEMORY_POOL
                 && (int) CUPTI_ACTIVITY_KIND_GRAPH_TRACE == (int) CUPTI_KIND_GRAPH_TRACE && (int) CUPTI_ACTIVITY_KIND_OVERHEAD == (int) CUPTI_KIND_OVERHEAD
                 && (int) CUPTI_ACTIVITY_KIND_MARKER == (int) CUPTI_KIND_MARKER && (int) CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 == (int) CUPTI_EXTERNAL_CUSTOM0
                 && (int) CUPTI_ACTIVITY_FLAG_MARKER_START == (int) CUPTI_MARKER_START && (int) CUPTI_ACTIVITY_FLAG_MARKER_END == (int) CUPTI_MARKER_END);

#if CUPTI_API_VERSION >= 130000 && CUPTI_API_VERSION < 130100
KERNEL (Kernel10);
G_STATIC_ASSERT (sizeof (CUpti_ActivityMemcpy6) == 96 && sizeof (CUpti_ActivityMemset4) == 88 && sizeof (CUpti_ActivityKernel10) == 216
                 && sizeof (CUpti_ActivityAPI) == 40 && sizeof (CUpti_ActivityDevice5) == 184 && sizeof (CUpti_ActivityContext3) == 32
                 && sizeof (CUpti_ActivityName) == 32 && sizeof (CUpti_ActivityMarker2) == 56 && sizeof (CUpti_ActivityOverhead3) == 56
                 && sizeof (CUpti_ActivityEnvironment) == 40 && sizeof (CUpti_ActivityMemcpyPtoP4) == 96 && sizeof (CUpti_ActivityUnifiedMemoryCounter3) == 104
                 && sizeof (CUpti_ActivityFunction) == 32 && sizeof (CUpti_ActivityModule) == 24 && sizeof (CUpti_ActivityDeviceAttribute) == 24
                 && sizeof (CUpti_ActivityPCSampling3) == 40 && sizeof (CUpti_ActivityPCSamplingRecordInfo) == 32 && sizeof (CUpti_ActivityCudaEvent2) == 56
                 && sizeof (CUpti_ActivityStream) == 24 && sizeof (CUpti_ActivitySynchronization2) == 56 && sizeof (CUpti_ActivityExternalCorrelation) == 24
                 && sizeof (CUpti_ActivityNvLink4) == 136 && sizeof (CUpti_ActivityMemory) == 80 && sizeof (CUpti_ActivityPcie) == 168
                 && sizeof (CUpti_ActivityMemory4) == 128 && sizeof (CUpti_ActivityMemoryPool3) == 80 && sizeof (CUpti_ActivityGraphTrace2) == 56
                 && sizeof (CUpti_ActivityJit2) == 72 && sizeof (CUpti_ActivityDeviceGraphTrace) == 56 && sizeof (CUpti_ActivityMemDecompress) == 64);
#endif
