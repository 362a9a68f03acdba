/* SPDX-License-Identifier: Apache-2.0 */
/* What the executor knows of a device: a small table of functions. Memory comes in arenas of a kind,
 * under a limit; work is put as command lists on queues, which run in order each and beside each
 * other, and meet through events. core/runtime/cpu implements it. */
#pragma once
#include "core/ir/executable.h"

G_BEGIN_DECLS

typedef struct _GantryDevice GantryDevice;
typedef struct _GantryBatch GantryBatch;

#define GANTRY_NO_STAMP G_MAXUINT32

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
  guint8 kind;     /* GantryCommandKind */
  guint32 instruction; /* of the executable that this does the work of: what a recorder is told; G_MAXUINT32: none */
  guint32 stamp;   /* index of the stamp that takes its begin and end, or GANTRY_NO_STAMP */
  union
  {
    struct
    {
      const GantryKernel *kernel;
      void *const *buffers;
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

/** The table. Every member is set. */
typedef struct
{
  const char *kind; /* "cpu" */
  void (*free) (GantryDevice *device);
  void *(*allocate) (GantryDevice *device, GantryMemoryKind kind, gsize bytes); /* 64-byte aligned; NULL: exhausted */
  void (*deallocate) (GantryDevice *device, GantryMemoryKind kind, void *memory, gsize bytes);
  void (*upload) (GantryDevice *device, void *to, const void *from, gsize bytes);   /* from the caller's memory, at once */
  void (*download) (GantryDevice *device, void *to, const void *from, gsize bytes); /* to the caller's memory, at once */
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
void gantry_device_deallocate (GantryDevice *device, GantryMemoryKind kind, void *memory, gsize bytes);

/**
 * gantry_device_begin:
 * @n_events: events 0 .. @n_events - 1 exist, none has happened; each is recorded at most once
 * @stamps: (nullable): as many as the commands name
 * @cancellable: (nullable): commands that have not begun when it is cancelled are left out
 *
 * Opens a batch: command lists that run beside each other. Submit to each queue once; submit the compute queue last
 * (a device may run it on the calling thread, before submit returns). Every event that a queue waits for must be
 * recorded by another one, without a circle. One batch at a time runs on a device: a second one waits here.
 */
GantryBatch *gantry_device_begin (GantryDevice *device, guint32 n_events, GantryStamp *stamps, GCancellable *cancellable);
void gantry_batch_submit (GantryDevice *device, GantryBatch *batch, GantryQueue queue, const GantryCommand *commands,
                          guint32 n);
/** Waits for all queues and frees @batch. Returns: FALSE when it was cancelled or a command failed. */
gboolean gantry_device_finish (GantryDevice *device, GantryBatch *batch, GError **error);

/** @marks: (nullable): NULL: none from now on. Not while a batch is open. */
void gantry_device_set_marks (GantryDevice *device, const GantryDeviceMarks *marks);

/** CLOCK_MONOTONIC in nanoseconds. */
gint64 gantry_time_ns (void);

/* For implementations. */
void gantry_device_init (GantryDevice *device, const GantryDeviceClass *klass, char *take_name);
void gantry_device_clear (GantryDevice *device);

G_END_DECLS
