/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in for the CUDA driver: a library of the driver's interface over the processor's memory and threads. Its "device
 * memory" has addresses that the processor faults on, its streams are threads, its images carry C functions; it refuses what
 * the driver refuses (no current context, events without times, streams that a capture never joins), and fails where it is told to. */
#pragma once
#include "core/plan/executable.h"

/** An entry of an image: called with the kernel's parameters, addresses of device memory made readable, then its tensor maps. */
typedef struct
{
  char entry[64];
  GantryKernelFunc func;
  gconstpointer state;
  gint64 n_tasks;
  guint32 n_params, n_maps;
} FakeCudaEntry;

#define FAKE_CUDA_MAGIC "\177ELF stand-in"

typedef struct
{
  char magic[16];
  guint64 n;
  guint64 pad[5];
  FakeCudaEntry entries[];
} FakeCudaImage;

/** What the stand-in puts into a tensor map. */
typedef struct
{
  guint64 magic, address;
  gint32 element;
  guint32 rank, swizzle, pad;
  guint64 dims[5];
  guint32 box[5];
} FakeCudaMap;
#define FAKE_CUDA_MAP G_GUINT64_CONSTANT (0x70616d7279616e74)

/*
 * fake_cuda_configure: "key=value,key=value", also read from the environment's GANTRY_FAKE_CUDA; NULL: all as at first.
 *  init=CODE retain=CODE: what cuInit and cuDevicePrimaryCtxRetain answer
 *  version=N devices=N major=N minor=N mode=N
 *  memory=BYTES pinned=BYTES: that there are
 *  fail=NAME:N:CODE: the Nth call of that function from now on fails (NAME *: of any)
 *  lose=NAME:N:CODE: as fail, and so does all that comes after it
 *  jitter=1: streams take their time
 *  blas=CODE: what cublasLtMatmul answers
 *  accept=1: code of a real GPU loads, and its kernels do nothing
 */
typedef void (*FakeCudaConfigure) (const char *text);
/* fake_cuda_calls: how often a function was called (NULL: any) since the last configure */
typedef guint (*FakeCudaCalls) (const char *name);
/* fake_cuda_alive: memory, streams, events, modules, graphs and contexts that were made and not freed */
typedef guint (*FakeCudaAlive) (void);
/* fake_cuda_lose: from a kernel: the device is gone with this code */
typedef void (*FakeCudaLose) (int code);
