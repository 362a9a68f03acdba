/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of the stand-in share. It is a library by itself and the one place where state is global: so is a driver's. */
#pragma once
#include "core/runtime/cuda/driver-private.h"
#include "tests/core/runtime/fake-libcuda.h"

/* Between an address of the "device" and the processor's: no such address can be used by the processor. */
#define FAKE_TAG (G_GUINT64_CONSTANT (1) << 56)

typedef struct
{
  char name[64];
  guint at;
  CudaResult code;
  gboolean lasts;
} FakeFault;

typedef struct
{
  gint64 init, retain, version, devices, major, minor, mode, memory, pinned, jitter, accept, blas, code, context;
  FakeFault fault;
} FakeConfig;

typedef struct
{
  GMutex lock;
  FakeConfig config;
  gboolean configured, started;
  CudaResult lost;   /* what every call answers; 0: none */
  GHashTable *calls; /* name -> count */
  guint n_calls;
  gint alive;
  GArray *blocks; /* of device memory */
  gsize used;
  GArray *pinned;     /* of the host's memory */
  gint capturing;     /* graphs that are being made */
  GPtrArray *streams; /* made and freed with a device, by one thread */
} FakeState;

extern FakeState fake_state;

#define FAKE_EXPORT __attribute__ ((visibility ("default")))
#define FAKE_API(symbol, parameters) \
  FAKE_EXPORT CudaResult symbol parameters; \
  CudaResult symbol parameters
/* Leaves with what the call shall answer instead of doing its work. */
#define ENTER(needs_context) \
  do \
    { \
      CudaResult entered = fake_enter (__func__, needs_context); \
\
      if (entered != 0) \
        return entered; \
    } \
  while (0)

CudaResult fake_enter (const char *name, gboolean needs_context);
int fake_context_depth (void);
void fake_lose (CudaResult code);
gboolean fake_is_lost (void);
void fake_count (int by);
void fake_wait_for_streams (void);
gboolean fake_is_device (CudaAddress address);
guint8 *fake_translate (CudaAddress address);
CudaResult fake_launch_entry (const CudaLaunchConfig *config, const FakeCudaEntry *entry, void **parameters);
/** Is it pageable memory of the host? */
gboolean fake_is_pageable (CudaAddress address, gsize bytes);
gboolean fake_is_valid (CudaAddress address, gsize bytes);
