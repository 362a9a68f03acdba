/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in's driver interface: configuration, injected failures, devices, contexts, memory, code. Its streams, events and
 * graphs are in fake-streams.c. */
#include "tests/core/runtime/fake-state.h"
#include <string.h>

FakeState fake_state;

/* Configuration. */

static void
fault_set (FakeFault *fault, const char *value, gboolean lasts)
{
  g_auto (GStrv) parts = g_strsplit (value, ":", 3);

  if (g_strv_length (parts) != 3)
    return;
  g_strlcpy (fault->name, parts[0], sizeof fault->name);
  fault->at = (guint) g_ascii_strtoull (parts[1], NULL, 10);
  fault->code = (CudaResult) g_ascii_strtoll (parts[2], NULL, 10);
  fault->lasts = lasts;
}

static void
configure (const char *text)
{
  FakeConfig *c = &fake_state.config;
  g_auto (GStrv) pairs = g_strsplit (text != NULL ? text : "", ",", -1);
  const struct
  {
    const char *key;
    gint64 *value;
  } numbers[] = { { "init", &c->init },     { "retain", &c->retain }, { "version", &c->version }, { "devices", &c->devices }, { "major", &c->major },
                  { "minor", &c->minor },   { "mode", &c->mode },     { "memory", &c->memory },   { "pinned", &c->pinned },   { "jitter", &c->jitter },
                  { "accept", &c->accept }, { "blas", &c->blas },     { "code", &c->code },       { "context", &c->context } };

  *c = (FakeConfig){ .version = 13000, .devices = 1, .major = 9, .memory = (gint64) 1 << 32, .pinned = (gint64) 1 << 32 };
  for (guint i = 0; pairs[i] != NULL; i++)
    {
      g_auto (GStrv) pair = g_strsplit (pairs[i], "=", 2);

      if (g_strv_length (pair) != 2)
        continue;
      for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
        if (strcmp (pair[0], numbers[k].key) == 0)
          *numbers[k].value = g_ascii_strtoll (pair[1], NULL, 10);
      if (strcmp (pair[0], "fail") == 0 || strcmp (pair[0], "lose") == 0)
        fault_set (&c->fault, pair[1], strcmp (pair[0], "lose") == 0);
    }
}

FAKE_EXPORT void fake_cuda_configure (const char *text);
FAKE_EXPORT guint fake_cuda_calls (const char *name);
FAKE_EXPORT guint fake_cuda_alive (void);
FAKE_EXPORT void fake_cuda_lose (int code);

void
fake_cuda_configure (const char *text)
{
  g_mutex_lock (&fake_state.lock);
  configure (text);
  fake_state.configured = TRUE;
  fake_state.lost = 0;
  if (fake_state.calls != NULL)
    g_hash_table_remove_all (fake_state.calls);
  fake_state.n_calls = 0;
  g_mutex_unlock (&fake_state.lock);
}

guint
fake_cuda_calls (const char *name)
{
  guint n;

  g_mutex_lock (&fake_state.lock);
  n = name == NULL ? fake_state.n_calls : fake_state.calls != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (fake_state.calls, name)) : 0;
  g_mutex_unlock (&fake_state.lock);
  return n;
}

guint
fake_cuda_alive (void)
{
  return (guint) g_atomic_int_get (&fake_state.alive);
}

void
fake_cuda_lose (int code)
{
  fake_lose (code);
}

/* Every call comes by here. */

static CudaResult
count_call (const char *name)
{
  FakeFault *fault = &fake_state.config.fault;
  guint n;

  if (!fake_state.configured)
    {
      configure (g_getenv ("GANTRY_FAKE_CUDA"));
      fake_state.configured = TRUE;
    }
  if (fake_state.calls == NULL)
    fake_state.calls = g_hash_table_new (g_str_hash, g_str_equal);
  n = GPOINTER_TO_UINT (g_hash_table_lookup (fake_state.calls, name)) + 1;
  g_hash_table_insert (fake_state.calls, (gpointer) name, GUINT_TO_POINTER (n));
  fake_state.n_calls++;
  if (fault->at > 0 && (strcmp (fault->name, "*") == 0 ? fake_state.n_calls == fault->at : strcmp (fault->name, name) == 0 && n == fault->at))
    {
      if (fault->lasts)
        fake_state.lost = fault->code;
      return fault->code;
    }
  return fake_state.lost;
}

CudaResult
fake_enter (const char *name, gboolean needs_context)
{
  CudaResult result;

  g_mutex_lock (&fake_state.lock);
  result = count_call (name);
  g_mutex_unlock (&fake_state.lock);
  if (result != 0)
    return result;
  return needs_context && fake_context_depth () == 0 ? CUDA_INVALID_CONTEXT : 0;
}

void
fake_lose (CudaResult code)
{
  g_mutex_lock (&fake_state.lock);
  if (fake_state.lost == 0)
    fake_state.lost = code;
  g_mutex_unlock (&fake_state.lock);
}

gboolean
fake_is_lost (void)
{
  gboolean lost;

  g_mutex_lock (&fake_state.lock);
  lost = fake_state.lost != 0;
  g_mutex_unlock (&fake_state.lock);
  return lost;
}

void
fake_count (int by)
{
  g_atomic_int_add (&fake_state.alive, by);
}

/* Devices and contexts. */

FAKE_API (cuInit, (unsigned flags))
{
  ENTER (FALSE);
  fake_state.started = fake_state.config.init == 0;
  return (CudaResult) fake_state.config.init;
}

/* As of the driver: answers also before it is started and when a device is lost. */
FAKE_API (cuDriverGetVersion, (int *version))
{
  fake_enter (__func__, FALSE);
  *version = (int) fake_state.config.version;
  return 0;
}

FAKE_API (cuGetErrorName, (CudaResult result, const char **name))
{
  static const struct
  {
    CudaResult code;
    const char *name;
  } names[] = { { 1, "CUDA_ERROR_INVALID_VALUE" },       { 2, "CUDA_ERROR_OUT_OF_MEMORY" },   { 34, "CUDA_ERROR_STUB_LIBRARY" },
                { 46, "CUDA_ERROR_DEVICE_UNAVAILABLE" }, { 100, "CUDA_ERROR_NO_DEVICE" },     { 201, "CUDA_ERROR_INVALID_CONTEXT" },
                { 214, "CUDA_ERROR_ECC_UNCORRECTABLE" }, { 218, "CUDA_ERROR_INVALID_PTX" },   { 700, "CUDA_ERROR_ILLEGAL_ADDRESS" },
                { 719, "CUDA_ERROR_LAUNCH_FAILED" },     { 800, "CUDA_ERROR_NOT_PERMITTED" }, { 999, "CUDA_ERROR_UNKNOWN" } };

  *name = "CUDA_ERROR_OTHER";
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (names[i].code == result)
      *name = names[i].name;
  return 0;
}

FAKE_API (cuGetErrorString, (CudaResult result, const char **text))
{
  *text = "stand-in error";
  return 0;
}

FAKE_API (cuDeviceGetCount, (int *n))
{
  ENTER (FALSE);
  *n = (int) fake_state.config.devices;
  return *n > 0 ? 0 : CUDA_NO_DEVICE;
}

FAKE_API (cuDeviceGet, (CudaOrdinal * device, int ordinal))
{
  ENTER (FALSE);
  *device = ordinal;
  return ordinal < fake_state.config.devices ? 0 : CUDA_INVALID_DEVICE;
}

FAKE_API (cuDeviceGetName, (char *name, int size, CudaOrdinal device))
{
  ENTER (FALSE);
  g_snprintf (name, (gulong) size, "Stand-in GPU %d", device);
  return 0;
}

FAKE_API (cuDeviceGetAttribute, (int *value, int attribute, CudaOrdinal device))
{
  ENTER (FALSE);
  switch (attribute)
    {
    case CUDA_ATTRIBUTE_THREADS_PER_BLOCK: *value = 1024; break;
    case CUDA_ATTRIBUTE_PROCESSORS: *value = 132; break;
    case CUDA_ATTRIBUTE_COMPUTE_MODE: *value = (int) fake_state.config.mode; break;
    case CUDA_ATTRIBUTE_COPY_ENGINES: *value = 3; break;
    case CUDA_ATTRIBUTE_UNIFIED_ADDRESSING: *value = 1; break;
    case CUDA_ATTRIBUTE_MAJOR: *value = (int) fake_state.config.major; break;
    case CUDA_ATTRIBUTE_MINOR: *value = (int) fake_state.config.minor; break;
    case CUDA_ATTRIBUTE_SHARED_OPTIN: *value = 227 << 10; break;
    default: *value = 0;
    }
  return 0;
}

FAKE_API (cuDeviceTotalMem_v2, (gsize * bytes, CudaOrdinal device))
{
  ENTER (FALSE);
  *bytes = (gsize) fake_state.config.memory;
  return 0;
}

FAKE_API (cuDeviceGetPCIBusId, (char *id, int size, CudaOrdinal device))
{
  ENTER (FALSE);
  g_snprintf (id, (gulong) size, "0000:%02x:00.0", device + 1);
  return 0;
}

FAKE_API (cuDevicePrimaryCtxRetain, (CudaContext * context, CudaOrdinal device))
{
  ENTER (FALSE);
  if (!fake_state.started)
    return CUDA_NOT_INITIALIZED;
  if (fake_state.config.retain != 0)
    return (CudaResult) fake_state.config.retain;
  fake_count (1);
  *context = GSIZE_TO_POINTER (0x1000 + device);
  return 0;
}

FAKE_API (cuDevicePrimaryCtxRelease_v2, (CudaOrdinal device))
{
  fake_count (-1);
  ENTER (FALSE);
  return 0;
}

/* Of this thread: the contexts that were pushed, the current one last. */
static GPrivate contexts = G_PRIVATE_INIT ((GDestroyNotify) g_ptr_array_unref);

static GPtrArray *
stack (void)
{
  GPtrArray *pushed = g_private_get (&contexts);

  if (pushed == NULL)
    {
      pushed = g_ptr_array_new ();
      g_private_set (&contexts, pushed);
    }
  return pushed;
}

int
fake_context_depth (void)
{
  return (int) stack ()->len;
}

/* Also of a lost device: as of the driver, whose contexts stay current. */
FAKE_API (cuCtxPushCurrent_v2, (CudaContext context))
{
  CudaResult result = fake_enter (__func__, FALSE);

  if (result != 0 && !fake_is_lost ())
    return result;
  g_ptr_array_add (stack (), context);
  return 0;
}

FAKE_API (cuCtxPopCurrent_v2, (CudaContext * context))
{
  GPtrArray *pushed = stack ();

  fake_enter (__func__, FALSE);
  if (pushed->len == 0)
    return CUDA_INVALID_CONTEXT;
  *context = g_ptr_array_steal_index (pushed, pushed->len - 1);
  return 0;
}

FAKE_API (cuCtxGetCurrent, (CudaContext * context))
{
  GPtrArray *pushed = stack ();

  ENTER (FALSE);
  *context = pushed->len > 0 ? g_ptr_array_index (pushed, pushed->len - 1) : NULL;
  return 0;
}

/* Memory. */

#define PAGE ((gsize) 2 << 20)

typedef struct
{
  guint8 *memory;
  gsize bytes;
} Block;

static gsize
pages (gsize bytes)
{
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

gboolean
fake_is_device (CudaAddress address)
{
  return address >= FAKE_TAG;
}

guint8 *
fake_translate (CudaAddress address)
{
  return GSIZE_TO_POINTER (address >= FAKE_TAG ? address - FAKE_TAG : address);
}

/* Of the processor's memory nothing is known. */
gboolean
fake_is_valid (CudaAddress address, gsize bytes)
{
  const guint8 *at = fake_translate (address);
  gboolean valid = address < FAKE_TAG;

  g_mutex_lock (&fake_state.lock);
  for (guint i = 0; !valid && fake_state.blocks != NULL && i < fake_state.blocks->len; i++)
    {
      const Block *block = &g_array_index (fake_state.blocks, Block, i);

      valid = at >= block->memory && at + bytes <= block->memory + block->bytes;
    }
  g_mutex_unlock (&fake_state.lock);
  return valid;
}

FAKE_API (cuMemGetInfo_v2, (gsize * left, gsize *total))
{
  ENTER (TRUE);
  g_mutex_lock (&fake_state.lock);
  *total = (gsize) fake_state.config.memory;
  *left = *total - MIN (*total, fake_state.used + (gsize) fake_state.config.context);
  g_mutex_unlock (&fake_state.lock);
  return 0;
}

FAKE_API (cuMemAlloc_v2, (CudaAddress * address, gsize bytes))
{
  Block block = { NULL, bytes };
  gboolean fits;

  ENTER (TRUE);
  if (bytes == 0)
    return CUDA_INVALID_VALUE;
  if (g_atomic_int_get (&fake_state.capturing) > 0)
    return CUDA_CAPTURE_UNSUPPORTED;
  g_mutex_lock (&fake_state.lock);
  fits = fake_state.used + pages (bytes) <= (gsize) fake_state.config.memory;
  if (fits)
    {
      fake_state.used += pages (bytes);
      block.memory = g_aligned_alloc (1, bytes, 256);
      if (fake_state.blocks == NULL)
        fake_state.blocks = g_array_new (FALSE, FALSE, sizeof (Block));
      g_array_append_val (fake_state.blocks, block);
      *address = GPOINTER_TO_SIZE (block.memory) + FAKE_TAG;
    }
  g_mutex_unlock (&fake_state.lock);
  if (!fits)
    return CUDA_OUT_OF_MEMORY;
  /* The GPU's memory is not cleared, and what it held shows. */
  memset (block.memory, 0x5a, bytes);
  fake_count (1);
  return 0;
}

/* Freed in any case: a process that ends has no leak on the GPU either. */
FAKE_API (cuMemFree_v2, (CudaAddress address))
{
  CudaResult result = fake_enter (__func__, TRUE);
  gboolean found = FALSE;

  fake_wait_for_streams ();
  g_mutex_lock (&fake_state.lock);
  for (guint i = 0; !found && fake_state.blocks != NULL && i < fake_state.blocks->len; i++)
    {
      Block *block = &g_array_index (fake_state.blocks, Block, i);

      found = block->memory == fake_translate (address) && fake_is_device (address);
      if (!found)
        continue;
      fake_state.used -= pages (block->bytes);
      g_aligned_free (block->memory);
      g_array_remove_index_fast (fake_state.blocks, i);
    }
  if (fake_state.blocks != NULL && fake_state.blocks->len == 0)
    g_clear_pointer (&fake_state.blocks, g_array_unref);
  g_mutex_unlock (&fake_state.lock);
  if (!found)
    return CUDA_INVALID_VALUE;
  fake_count (-1);
  return result;
}

FAKE_API (cuMemHostAlloc, (void **memory, gsize bytes, unsigned flags))
{
  Block block = { NULL, bytes };

  ENTER (TRUE);
  if (bytes == 0)
    return CUDA_INVALID_VALUE;
  if (g_atomic_int_get (&fake_state.capturing) > 0)
    return CUDA_CAPTURE_UNSUPPORTED;
  if (bytes > (gsize) fake_state.config.pinned)
    return CUDA_OUT_OF_MEMORY;
  *memory = block.memory = g_aligned_alloc (1, bytes, 4096);
  g_mutex_lock (&fake_state.lock);
  if (fake_state.pinned == NULL)
    fake_state.pinned = g_array_new (FALSE, FALSE, sizeof (Block));
  g_array_append_val (fake_state.pinned, block);
  g_mutex_unlock (&fake_state.lock);
  fake_count (1);
  return 0;
}

gboolean
fake_is_pageable (CudaAddress address, gsize bytes)
{
  const guint8 *at = fake_translate (address);
  gboolean pinned = fake_is_device (address);

  g_mutex_lock (&fake_state.lock);
  for (guint i = 0; !pinned && fake_state.pinned != NULL && i < fake_state.pinned->len; i++)
    {
      const Block *block = &g_array_index (fake_state.pinned, Block, i);

      pinned = at >= block->memory && at + bytes <= block->memory + block->bytes;
    }
  g_mutex_unlock (&fake_state.lock);
  return !pinned;
}

FAKE_API (cuMemFreeHost, (void *memory))
{
  CudaResult result = fake_enter (__func__, TRUE);

  fake_wait_for_streams ();
  g_mutex_lock (&fake_state.lock);
  for (guint i = 0; fake_state.pinned != NULL && i < fake_state.pinned->len; i++)
    if (g_array_index (fake_state.pinned, Block, i).memory == memory)
      {
        g_array_remove_index_fast (fake_state.pinned, i);
        break;
      }
  if (fake_state.pinned != NULL && fake_state.pinned->len == 0)
    g_clear_pointer (&fake_state.pinned, g_array_unref);
  g_mutex_unlock (&fake_state.lock);
  g_aligned_free (memory);
  fake_count (-1);
  return result;
}

/* Code. */

typedef struct
{
  FakeCudaEntry *entries;
  guint64 n;
} Module;

static void
do_nothing (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
}

/* Each ".entry NAME" of a text is a kernel that does nothing; what has the word "wrong" in it is no PTX. */
static CudaResult
read_text (Module *module, const char *text, unsigned n_options, int *options, void **values)
{
  GArray *entries = g_array_new (FALSE, TRUE, sizeof (FakeCudaEntry));

  if (strstr (text, "wrong") != NULL)
    {
      for (unsigned i = 0; i < n_options; i++)
        if (options[i] == CUDA_JIT_ERROR_LOG)
          strcpy (values[i], "ptxas : error on line 7");
      g_array_unref (entries);
      return CUDA_INVALID_PTX;
    }
  for (const char *at = text; (at = strstr (at, ".entry ")) != NULL; at++)
    {
      FakeCudaEntry entry = { .func = do_nothing };

      g_strlcpy (entry.entry, at + 7, MIN (sizeof entry.entry, strcspn (at + 7, "( \n") + 1));
      g_array_append_val (entries, entry);
    }
  module->n = entries->len;
  module->entries = (FakeCudaEntry *) (void *) g_array_free (entries, FALSE);
  return 0;
}

/* So many bytes of the device's memory that no allocation has asked for. */
static void
take_for_code (int modules)
{
  g_mutex_lock (&fake_state.lock);
  fake_state.used += (gsize) modules * (gsize) fake_state.config.code;
  g_mutex_unlock (&fake_state.lock);
}

FAKE_API (cuModuleLoadDataEx, (CudaModule * out, const void *image, unsigned n_options, int *options, void **values))
{
  const FakeCudaImage *own = image;
  Module *module;
  CudaResult result = 0;

  ENTER (TRUE);
  module = g_new0 (Module, 1);
  if (strncmp (own->magic, FAKE_CUDA_MAGIC, sizeof own->magic) == 0)
    {
      module->n = own->n;
      module->entries = g_memdup2 (own->entries, own->n * sizeof (FakeCudaEntry));
    }
  else if (strncmp (image, "\177ELF", 4) == 0)
    result = fake_state.config.accept != 0 ? 0 : CUDA_NO_BINARY_FOR_GPU;
  else
    result = read_text (module, image, n_options, options, values);
  if (result != 0)
    {
      g_free (module);
      return result;
    }
  take_for_code (1);
  fake_count (1);
  *out = (CudaModule) (void *) module;
  return 0;
}

FAKE_API (cuModuleUnload, (CudaModule module))
{
  CudaResult result = fake_enter (__func__, TRUE);

  g_free (((Module *) (void *) module)->entries);
  g_free (module);
  take_for_code (-1);
  fake_count (-1);
  return result;
}

static const FakeCudaEntry nothing = { .func = do_nothing };

FAKE_API (cuModuleGetFunction, (CudaFunction * function, CudaModule from, const char *name))
{
  Module *module = (Module *) (void *) from;

  ENTER (TRUE);
  for (guint64 i = 0; i < module->n; i++)
    if (strcmp (module->entries[i].entry, name) == 0)
      {
        *function = (CudaFunction) (void *) &module->entries[i];
        return 0;
      }
  if (fake_state.config.accept == 0)
    return CUDA_NOT_FOUND;
  *function = (CudaFunction) (void *) &nothing;
  return 0;
}

FAKE_API (cuFuncSetAttribute, (CudaFunction function, int attribute, int value))
{
  ENTER (TRUE);
  return attribute == CUDA_FUNCTION_DYNAMIC_SHARED && value > 227 << 10 ? CUDA_INVALID_VALUE : 0;
}

FAKE_API (cuFuncGetAttribute, (int *value, int attribute, CudaFunction function))
{
  ENTER (TRUE);
  *value = 512;
  return attribute == CUDA_FUNCTION_THREADS_PER_BLOCK ? 0 : CUDA_INVALID_VALUE;
}

/* What the driver's documentation asks of a map. */
FAKE_API (cuTensorMapEncodeTiled, (CudaTensorMap * out, int element, guint32 rank, void *address, const guint64 *dims, const guint64 *strides,
                                   const guint32 *box, const guint32 *element_strides, int interleave, int swizzle, int promotion, int fill))
{
  FakeCudaMap map = { FAKE_CUDA_MAP, GPOINTER_TO_SIZE (address), element, rank, (guint32) swizzle };

  ENTER (TRUE);
  if (GPOINTER_TO_SIZE (out) % 128 != 0 || GPOINTER_TO_SIZE (address) % 16 != 0 || rank < 1 || rank > 5)
    return CUDA_INVALID_VALUE;
  for (guint32 d = 0; d < rank; d++)
    {
      if (dims[d] == 0 || box[d] == 0 || box[d] > 256 || element_strides[d] != 1 || (d + 1 < rank && strides[d] % 16 != 0))
        return CUDA_INVALID_VALUE;
      map.dims[d] = dims[d];
      map.box[d] = box[d];
    }
  memcpy (out, &map, sizeof map);
  return 0;
}
