/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the CUDA device share: memory and life are in cuda.c, code in code.c, command lists in batch.c,
 * their time stamps in clock.c, graphs in graph.c. */
#pragma once
#include "core/runtime/cuda/cuda.h"
#include "core/runtime/cuda/driver-private.h"

#define CUDA_MOST_GRAPHS 4
#define CUDA_MOST_SEEN 16

typedef struct _CudaGraphEntry CudaGraphEntry;
typedef struct _CudaBlas CudaBlas;       /* cuBLASLt */
typedef struct _CudaProduct CudaProduct; /* a matrix product by it */

typedef struct
{
  GantryDevice parent;
  CudaDriver *driver;
  CudaOrdinal ordinal;
  CudaContext context;
  CudaStream streams[GANTRY_N_QUEUES];
  CudaStream transfer; /* for what the caller copies at once: beside a batch of another thread */
  int major, minor, most_threads, most_shared;
  GMutex running;      /* held from begin to finish */
  GMutex transferring; /* held while the stream for that is used */
  gboolean checking, use_graphs, use_library, looked_for_library;
  char *choices_folder; /* (nullable): where it is kept which products the library does */
  guint run_ahead;

  /* With the lock of the parent. */
  const char *checked_kernel; /* (nullable): handed over and not yet known to be over, while checking */
  GError *lost;               /* why nothing works any more */
  GHashTable *allocations;    /* address -> guint64: by how much free memory fell */
  guint64 taken_before;       /* of the GPU, when the context had been made: by it and by other programs */
  guint64 fallen, most_fallen;
  gint64 clock_error;
  gint64 replay_ns; /* of the batches since somebody took it; -1: one of them was no graph */
  GPtrArray *notes; /* char *: what is done otherwise than asked for, and why */

  /* While running is held. */
  GPtrArray *events, *timed_events; /* not in use */
  CudaBlas *blas;                   /* (nullable) */
  gpointer stamped_for;             /* (nullable): the recorder whose first batch was stamped command by command */
  CudaGraphEntry *graphs[CUDA_MOST_GRAPHS];
  guint next_graph, n_made, n_replayed;
  guint64 seen[CUDA_MOST_SEEN]; /* hashes of batches that came by */
  guint next_seen;
} CudaDevice;

/** One launch with everything that the driver wants. */
typedef struct
{
  CudaFunction function;
  CudaLaunchConfig config;
  CudaLaunchAttribute cluster;
  void **parameters; /* into values and maps */
  CudaAddress *values;
  CudaTensorMap *maps;
} CudaPreparedLaunch;

typedef struct
{
  const GantryKernel *kernel;
  guint32 n_launches;
  CudaPreparedLaunch *launches;
  CudaProduct *product;    /* (nullable): instead of the launches */
  gboolean product_failed; /* the launches after all */
} CudaPrepared;

/** The code of one executable. */
typedef struct
{
  guint32 n_modules;
  CudaModule *modules;
  GPtrArray *prepared; /* CudaPrepared */
} CudaCode;

/** A list of a batch. */
typedef struct
{
  const GantryCommand *commands;
  guint32 n, next;
  guint32 n_handed;   /* that the run-ahead counts */
  CudaEvent paces[2]; /* recorded after so many of them, in turn; NULL: not yet */
} CudaList;

/** A command between two events. */
typedef struct
{
  guint32 stamp;
  guint8 queue;
  CudaEvent begin, end;
} CudaTiming;

/** Where the clocks met. */
typedef struct
{
  CudaEvent event;
  gint64 time, error; /* CLOCK_MONOTONIC */
} CudaMeeting;

struct _GantryBatch
{
  CudaDevice *cuda;
  GantryStamp *stamps; /* (nullable) */
  GCancellable *cancellable;
  guint32 n_events;
  CudaEvent *events; /* by event: NULL: not recorded yet */
  CudaList lists[GANTRY_N_QUEUES];
  GPtrArray *staging; /* host memory that copies read */
  guint8 *pinned;     /* (nullable): what copies read that become part of a graph */
  gsize n_pinned;     /* of that in use */
  GArray *timings;    /* CudaTiming */
  CudaMeeting first, last;
  gint64 begin;
  gboolean capturing, stopped;
  gboolean stamps_all; /* else only what waits: a recorder tells of all that the device does */
};

/* cuda.c */
/** Makes the context current on this thread. Returns: FALSE when the device is lost; then there is nothing to leave */
gboolean _gantry_cuda_enter (CudaDevice *cuda, GError **error);
void _gantry_cuda_leave (CudaDevice *cuda);
/** As _gantry_cuda_enter(), also of a device that is lost: for what is given back. Returns: whether there is something to leave;
 *  where there is not, the context below is another program's and must stay current */
gboolean _gantry_cuda_enter_anyway (CudaDevice *cuda);
/** @name: (nullable): of the kernel that errors are put down to from now on */
void _gantry_cuda_set_checked (CudaDevice *cuda, const char *name);
/** Is @result none? Else sets @error, and remembers it where nothing will work any more. @what: "launching kernel 'x'"
 */
gboolean _gantry_cuda_check (CudaDevice *cuda, CudaResult result, GError **error, const char *what, ...) G_GNUC_PRINTF (4, 5);
gboolean _gantry_cuda_is_lost (CudaDevice *cuda, GError **error);
/** Until all that @stream was handed is done, also where waiting fails. Returns: what the driver said of it first */
CudaResult _gantry_cuda_wait_for_stream (CudaDevice *cuda, CudaStream stream);
/** Keeps a sentence for gantry_cuda_device_get_notes(), once. */
void _gantry_cuda_note (CudaDevice *cuda, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* code.c */
gpointer _gantry_cuda_load (GantryDevice *device, const GantryExecutable *executable, GError **error);
void _gantry_cuda_unload (GantryDevice *device, gpointer loaded);
gpointer _gantry_cuda_prepare (GantryDevice *device, gpointer loaded, const GantryKernel *kernel, void *const *buffers, guint32 n, GError **error);

/* product.c */
/** Returns: (nullable): NULL where it is not installed, of which nothing is said */
CudaBlas *_gantry_cuda_blas_new (void);
void _gantry_cuda_blas_free (CudaBlas *blas);
/** While running is held. Returns: (nullable): NULL where the launches of @prepared are to be used */
CudaProduct *_gantry_cuda_product_new (CudaDevice *cuda, const GantryKernel *kernel, const CudaPrepared *prepared, void *const *buffers, guint32 n);
void _gantry_cuda_product_free (CudaProduct *product);
/** Returns: the library's status */
int _gantry_cuda_product_run (const CudaProduct *product, CudaStream stream);

/* batch.c */
GantryBatch *_gantry_cuda_begin (GantryDevice *device, guint32 n_events, GantryStamp *stamps, GCancellable *cancellable);
void _gantry_cuda_submit (GantryBatch *batch, GantryQueue queue, const GantryCommand *commands, guint32 n);
gboolean _gantry_cuda_finish (GantryBatch *batch, GError **error);
/** Hands all commands over to the streams, each after those that it waits for. */
gboolean _gantry_cuda_enqueue_all (GantryBatch *batch, GError **error);
/** The bytes of @literal that are to be copied where a graph will find them: 0 where the GPU writes it by itself. */
gsize _gantry_cuda_staged_bytes (const GantryLiteral *literal);
/** From the pool, or new. Returns: (nullable): NULL with @error */
CudaEvent _gantry_cuda_take_event (CudaDevice *cuda, gboolean timed, GError **error);
void _gantry_cuda_give_event (CudaDevice *cuda, gboolean timed, CudaEvent event);

/* clock.c */
/** Compares the clocks on an idle device. */
gboolean _gantry_cuda_meet (CudaDevice *cuda, CudaMeeting *meeting, GError **error);
/** Writes the stamps of a finished batch, and gives its events back. */
gboolean _gantry_cuda_read_clock (GantryBatch *batch, GError **error);

/* graph.c */
/** Of a batch that is over: @ns: -1: it was no graph */
void _gantry_cuda_add_replay (CudaDevice *cuda, gint64 ns);
/** Runs the batch as a graph where that is possible. @ran: (out): it was. Returns: FALSE with @error */
gboolean _gantry_cuda_run_graph (GantryBatch *batch, gboolean *ran, GError **error);
/** Of code that is unloaded: addresses may come again. */
void _gantry_cuda_drop_graphs (CudaDevice *cuda);
