/* SPDX-License-Identifier: Apache-2.0 */
/* Where NumPy's arrays lie: at the alignment of tensors, so that a graph reads them in place. NumPy gives every program the choice of
 * its allocator (NEP 49: PyDataMem_SetHandler, since 1.22); its table of functions and these two structures are its stable binary
 * interface, so that Gantry needs none of its headers. */
#include "core/frontends/python/module-private.h"
#include "core/base/pages.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of NumPy's `ndarraytypes.h`: version 1. */
typedef struct
{
  void *context;
  void *(*allocate) (void *context, size_t size);
  void *(*allocate_zeros) (void *context, size_t n, size_t size);
  void *(*resize) (void *context, void *data, size_t size);
  void (*release) (void *context, void *data, size_t size);
} ArrayAllocator;

typedef struct
{
  char name[127];
  guint8 version;
  ArrayAllocator allocator;
} ArrayHandler;

/* Indices of NumPy's table of functions. */
enum
{
  FEATURE_VERSION = 211,
  SET_HANDLER = 304,
};
#define FEATURE_OF_HANDLERS 0xfu /* NumPy 1.22 */

/* What malloc gave stands in front of the data. */
#define ROOM (GANTRY_TENSOR_ALIGNMENT + sizeof (void *))

static guint8 *
aligned_in (guint8 *raw)
{
  uintptr_t at = (uintptr_t) raw + sizeof (void *);

  return raw + (((at + GANTRY_TENSOR_ALIGNMENT - 1) & ~(uintptr_t) (GANTRY_TENSOR_ALIGNMENT - 1)) - (uintptr_t) raw);
}

static guint8 *
raw_of (void *data)
{
  guint8 *raw;

  memcpy (&raw, (guint8 *) data - sizeof raw, sizeof raw);
  return raw;
}

static void *
place_in (guint8 *raw)
{
  guint8 *data;

  if (raw == NULL)
    return NULL;
  data = aligned_in (raw);
  memcpy (data - sizeof raw, &raw, sizeof raw);
  return data;
}

static void *
allocate (void *context, size_t size)
{
  return size <= SIZE_MAX - ROOM ? place_in (malloc (size + ROOM)) : NULL;
}

/* Pages of a large array stay untouched, as those of calloc do. */
static void *
allocate_zeros (void *context, size_t n, size_t size)
{
  size_t bytes;

  return !__builtin_mul_overflow (n, size, &bytes) && bytes <= SIZE_MAX - ROOM ? place_in (calloc (1, bytes + ROOM)) : NULL;
}

static void *
resize (void *context, void *data, size_t size)
{
  guint8 *before, *raw;
  gsize offset;

  if (data == NULL)
    return allocate (context, size);
  if (size > SIZE_MAX - ROOM)
    return NULL;
  before = raw_of (data);
  offset = (gsize) ((guint8 *) data - before);
  raw = realloc (before, size + ROOM);
  if (raw == NULL)
    return NULL;
  /* Another distance to the next aligned address: the room was enough for each. */
  data = aligned_in (raw);
  memmove (data, raw + offset, size);
  return place_in (raw);
}

static void
release (void *context, void *data, size_t size)
{
  if (data != NULL)
    free (raw_of (data));
}

static ArrayHandler handler = {
  .name = "gantry",
  .version = 1,
  .allocator = { NULL, allocate, allocate_zeros, resize, release },
};

/** align_arrays (table): @table is NumPy's capsule of functions. From here on its arrays lie at multiples of %GANTRY_TENSOR_ALIGNMENT;
 *  an older NumPy, which knows no handlers, stays as it is. Returns: whether that is so */
PyObject *
gantry_py_align_arrays (PyObject *module, PyObject *table)
{
  void *const *functions = PyCapsule_GetPointer (table, NULL);
  unsigned int (*feature_version) (void);
  PyObject *(*set_handler) (PyObject *);
  PyObject *capsule, *before;

  if (functions == NULL)
    return NULL;
  memcpy (&feature_version, &functions[FEATURE_VERSION], sizeof feature_version);
  if (feature_version () < FEATURE_OF_HANDLERS)
    Py_RETURN_FALSE;
  memcpy (&set_handler, &functions[SET_HANDLER], sizeof set_handler);
  capsule = PyCapsule_New (&handler, "mem_handler", NULL);
  before = capsule != NULL ? set_handler (capsule) : NULL;
  Py_XDECREF (capsule);
  if (before == NULL)
    return NULL;
  Py_DECREF (before);
  Py_RETURN_TRUE;
}
