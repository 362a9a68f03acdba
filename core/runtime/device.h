/* SPDX-License-Identifier: Apache-2.0 */
/* What the executor knows of a device: a small table of functions. Memory comes in arenas of a kind,
 * under a limit; work is put as command lists on queues, which run in order each and beside each
 * other, and meet through events. core/runtime/cpu and core/runtime/cuda implement it. */
#pragma once
#include "core/plan/executable.h"

G_BEGIN_DECLS

typedef struct _GantryDevice GantryDevice;
typedef struct _GantryBatch GantryBatch;

#define GANTRY_NO_STAMP G_MAXUINT32

/** What is allocated of a device that is the host has so many bytes of address space in front of it and behind its last page that
 *  nobody may touch: pages that are there have been written by somebody who should not have. */
#define GANTRY_ARENA_GUARD ((gsize) 64 << 10)

typedef enum
{
  GANTRY_COMMAND_LAUNCH,
  GANTRY_COMMAND_COPY,
  GANTRY_COMMAND_FILL,   /* a literal written out */
  GANTRY_COMMAND_RECORD, /* the event has happened once all before it on this queue is done */
  GANTRY_COMMAND_WAIT,   /* this queue goes on once the event has happened */
} GantryCommandKind;

/** Addresses are of the device's memory. What a command points to must live until the batch is finished. */
typedef struct
{
  guint8 kind;         /* GantryCommandKind */
  guint32 instruction; /* of the executable that this does the work of: what a recorder is told; G_MAXUINT32: none */
  guint32 stamp;       /* index of the stamp that takes its begin and end, or GANTRY_NO_STAMP */
  union
  {
    struct
    {
      const GantryKernel *kernel;
      void *const *buffers;
      gpointer prepared; /* of gantry_device_prepare(): what a device that is not the host launches */
    } launch;
    struct
    {
      void *to;
      const void *from;
      gsize bytes;
    } copy;
    struct
    {
      void *to;
      const GantryLiteral *literal;
    } fill;
    guint32 event;
  };
} GantryCommand;

/** CLOCK_MONOTONIC nanoseconds; 0, 0 when it has not run. */
typedef struct
{
  gint64 begin, end;
} GantryStamp;

/**
 * GantryDeviceMarks: called on the thread that puts a command on a queue, before and after: a recorder ties what the
 * device then does to the instruction (an external correlation id).
 */
typedef struct
{
  void (*push) (gpointer self, guint32 instruction);
  void (*pop) (gpointer self);
  gpointer self;
} GantryDeviceMarks;

/** The table. Every member is set, but where it says so. */
typedef struct
{
  const char *kind; /* "cpu" */
  /** The caller reads and writes the device's memory as its own, kernels are called by their `func` and stamps cost
   *  next to nothing. Else kernels run by their `gpu`, and literals are uploaded. */
  gboolean is_host;
  void (*free) (GantryDevice *device);
  /** 64-byte aligned, where is_host between guards, not NULL for no bytes either; NULL: exhausted, or @error is set to what else is wrong. */
  void *(*allocate) (GantryDevice *device, GantryMemoryKind kind, gsize bytes, GError **error);
  void (*deallocate) (GantryDevice *device, GantryMemoryKind kind, void *memory, gsize bytes);
  /** What the driver has free now of the device's memory, and by how much that fell when @memory was allocated. Both are NULL where
   *  is_host: there pages are looked at. FALSE: the driver does not say */
  gboolean (*count_free) (GantryDevice *device, guint64 *bytes);
  gboolean (*count_taken) (GantryDevice *device, const void *memory, guint64 *bytes);
  /** From the caller's memory and to it, at once. */
  gboolean (*upload) (GantryDevice *device, void *to, const void *from, gsize bytes, GError **error);
  gboolean (*download) (GantryDevice *device, void *to, const void *from, gsize bytes, GError **error);
  /* What a run of it needs: code, or threads. Not NULL but where it fails */
  gpointer (*load) (GantryDevice *device, const GantryExecutable *executable, GError **error);
  void (*unload) (GantryDevice *device, gpointer loaded);
  /* Code: NULL where is_host. */
  gpointer (*prepare) (GantryDevice *device, gpointer loaded, const GantryKernel *kernel, void *const *buffers, guint32 n, GError **error);
  GantryBatch *(*begin) (GantryDevice *device, guint32 n_events, GantryStamp *stamps, GCancellable *cancellable);
  void (*submit) (GantryBatch *batch, GantryQueue queue, const GantryCommand *commands, guint32 n);
  gboolean (*finish) (GantryBatch *batch, GError **error);
} GantryDeviceClass;

/** The part that all devices have; an implementation's struct begins with it. */
struct _GantryDevice
{
  const GantryDeviceClass *klass;
  gatomicrefcount ref_count;
  char *name; /* for people: "cpu, 2 threads" */
  GMutex lock;
  GantryDeviceMarks marks; /* push is NULL: none */
  struct
  {
    guint64 limit; /* bytes; 0: none */
    guint64 used, peak;
  } memory[GANTRY_N_MEMORY_KINDS];
};

GantryDevice *gantry_device_ref (GantryDevice *device);
void gantry_device_unref (GantryDevice *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryDevice, gantry_device_unref)
/** For people: "cpu, 2 threads". Returns: (transfer none): lives as long as @device */
const char *gantry_device_name (const GantryDevice *device);

/** What may be allocated of @kind from now on; 0 for no limit. What is allocated stays. */
void gantry_device_set_limit (GantryDevice *device, GantryMemoryKind kind, guint64 bytes);
/** Bytes allocated now, the most that ever were at once, and the limit: each (out) (optional). */
void gantry_device_get_memory (GantryDevice *device, GantryMemoryKind kind, guint64 *used, guint64 *peak, guint64 *limit);

/**
 * gantry_device_allocate:
 *
 * Returns: (nullable): @bytes of memory aligned to 64, not cleared; NULL with %GANTRY_ERROR_NO_MEMORY, which says by
 *  how much the limit would be exceeded
 */
void *gantry_device_allocate (GantryDevice *device, GantryMemoryKind kind, gsize bytes, GError **error);
/** @memory: (nullable): of gantry_device_allocate(), with the same @kind and @bytes, which count no more then */
void gantry_device_deallocate (GantryDevice *device, GantryMemoryKind kind, void *memory, gsize bytes);

/** Bytes of the device's memory that its driver has free now, whoever has taken the rest. Returns: FALSE where nobody says, as on the host */
gboolean gantry_device_count_free (GantryDevice *device, guint64 *bytes);
/** By how many bytes that fell when @memory, of gantry_device_allocate() with %GANTRY_MEMORY_DEVICE, was allocated: whole pages of the
 *  driver, none where it had some left. Returns: FALSE where nobody says, as on the host */
gboolean gantry_device_count_taken (GantryDevice *device, const void *memory, guint64 *bytes);

/** Does the caller read and write its memory as its own, and do kernels run by their `func`? */
gboolean gantry_device_is_host (const GantryDevice *device);
/** Copies from the caller's memory, and to it, at once. Not while a batch of this thread is open. */
gboolean gantry_device_upload (GantryDevice *device, void *to, const void *from, gsize bytes, GError **error);
/** @to: memory of the caller, of @bytes bytes; it has them when this returns. FALSE with @error where the device is lost */
gboolean gantry_device_download (GantryDevice *device, void *to, const void *from, gsize bytes, GError **error);

/**
 * gantry_device_load:
 *
 * Brings the images of @executable, which must live until they are unloaded, onto a device that is not the host.
 *
 * Returns: FALSE with %GANTRY_ERROR_UNSUPPORTED for code that is not for this device; @loaded: (out) (nullable): NULL
 *  where there is nothing to load
 */
gboolean gantry_device_load (GantryDevice *device, const GantryExecutable *executable, gpointer *loaded, GError **error);
/** @loaded: (nullable) (transfer full): of gantry_device_load(); no batch that launches its code may be open */
void gantry_device_unload (GantryDevice *device, gpointer loaded);
/**
 * gantry_device_prepare:
 * @buffers: the @n addresses that the launch gets
 * @prepared: (out) (nullable): for the launch command; lives until @loaded is unloaded
 */
gboolean
gantry_device_prepare (GantryDevice *device, gpointer loaded, const GantryKernel *kernel, void *const *buffers, guint32 n, gpointer *prepared, GError **error);

/**
 * gantry_device_begin:
 * @n_events: events 0 .. @n_events - 1 exist, none has happened; each is recorded at most once
 * @stamps: (nullable): as many as the commands name
 * @cancellable: (nullable): commands that have not begun when it is cancelled are left out
 *
 * Opens a batch: command lists that run beside each other. Stamps may cost time: pass %NULL where they are not needed.
 * Submit to each queue once; submit the compute queue last (a device may run it on the calling thread, before submit
 * returns, or begin all queues when the batch is finished; the lists must live until then). A device that runs behind the
 * caller may still carry out commands that it was handed before @cancellable was cancelled. Every event that a queue waits
 * for must be recorded by another one, without a circle. One batch at a time runs on a device: a second one waits here.
 */
GantryBatch *gantry_device_begin (GantryDevice *device, guint32 n_events, GantryStamp *stamps, GCancellable *cancellable);

/**
 * gantry_batch_submit:
 * @batch: open, of @device
 * @commands: (array length=n): in order; they and what they point to must live until the batch is finished
 *
 * Puts commands on @queue, once for each queue. What goes wrong is told by gantry_device_finish().
 */
void gantry_batch_submit (GantryDevice *device, GantryBatch *batch, GantryQueue queue, const GantryCommand *commands, guint32 n);
/** Waits for all queues and frees @batch. Returns: FALSE when it was cancelled, a command failed or the device is lost. */
gboolean gantry_device_finish (GantryDevice *device, GantryBatch *batch, GError **error);

/** @marks: (nullable): NULL: none from now on. Not while a batch is open. */
void gantry_device_set_marks (GantryDevice *device, const GantryDeviceMarks *marks);

/** CLOCK_MONOTONIC in nanoseconds. */
gint64 gantry_time_ns (void);

/* For implementations. */
/** @take_name: (transfer full): for people. Sets what all devices have, with one reference and without limits */
void gantry_device_init (GantryDevice *device, const GantryDeviceClass *klass, char *take_name);
void gantry_device_clear (GantryDevice *device);

G_END_DECLS
