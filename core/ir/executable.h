/* SPDX-License-Identifier: Apache-2.0 */
/* The types where kernels and runtime meet: kernels (code ready to call), the executable (a list of
 * instructions on queues over planned arenas) and the observer through which a run is measured.
 * core/kernels makes them, core/runtime runs them, profiler observes. */
#pragma once
#include "core/ir/module.h"
#include "core/ir/plan.h"

G_BEGIN_DECLS

/**
 * GantryKernelFunc:
 * @state: the kernel's own, immutable while running
 * @buffers: addresses of the operands, then the results, then the workspace when there is one
 * @begin: @end: tasks to do: a part of [0, n_tasks); called from several threads with disjoint parts
 */
typedef void (*GantryKernelFunc) (gconstpointer state, void *const *buffers, gint64 begin, gint64 end);

typedef enum
{
  GANTRY_KERNEL_GENERATED, /* LLVM code from a tensor expression */
  GANTRY_KERNEL_LIBRARY,   /* oneDNN */
  GANTRY_KERNEL_BUILTIN,   /* hand written: sort, scatter, random bits */
  GANTRY_KERNEL_CONTROL,   /* if, while, call: runs an executable of its own */
} GantryKernelKind;

typedef struct _GantryExecutable GantryExecutable;

typedef struct
{
  char *name;             /* unique in the executable: "fusion_12_add_relu" */
  guint8 kind;            /* GantryKernelKind */
  guint8 whole;           /* the callee uses the worker threads itself (oneDNN): n_tasks is 1 */
  guint32 node;           /* node id */
  gint64 n_tasks;         /* how many independent parts */
  GantryKernelFunc func;
  gpointer state;
  GDestroyNotify free_state;
  guint64 workspace_bytes;
  guint64 packed_bytes;   /* constant region that `pack` fills once from constant operands (weights in the library's layout) */
  /** (nullable) @buffers as for func (only the constants are valid); @packed: packed_bytes, kept until the end and
   *  passed to func as the last buffer. */
  void (*pack) (gpointer state, void *const *buffers, void *packed);
  gint64 flops, bytes;    /* of one execution; -1 unknown */
  char *texpr;            /* (nullable) texts for the code view */
  char *llvm_ir;
  char *assembly;
  double compile_ms;
} GantryKernel;

typedef enum
{
  GANTRY_INSTRUCTION_LAUNCH,    /* kernel over buffers */
  GANTRY_INSTRUCTION_COPY,      /* buffers[0] -> buffers[1], `bytes` */
  GANTRY_INSTRUCTION_FILL,      /* a splat literal written out into buffers[0] */
  GANTRY_INSTRUCTION_WAIT,      /* this queue waits until `event` instruction is done */
  GANTRY_INSTRUCTION_HOST_CALL,
  GANTRY_INSTRUCTION_BRANCH,
  GANTRY_INSTRUCTION_LOOP,
} GantryInstructionKind;

typedef struct
{
  guint8 kind;     /* GantryInstructionKind */
  guint8 queue;    /* GantryQueue */
  guint8 init;     /* once, at load */
  guint32 kernel;  /* index in kernels */
  guint32 node;    /* node id that this does the work of */
  guint32 step;    /* of the plan */
  guint32 buffers; /* first index in buffer_refs */
  guint32 n_buffers;
  guint32 event;   /* WAIT: index of the instruction waited for */
  guint64 bytes;
} GantryInstruction;

/** Buffers of the plan by index, with alive ranges: the executor reports allocation at `begin`, release after `end`. */
struct _GantryExecutable
{
  gatomicrefcount ref_count;
  GantryModule *module;
  GantryPlan *plan;
  guint32 n_kernels;
  GantryKernel *kernels;
  guint32 n_instructions;
  GantryInstruction *instructions;
  guint32 n_buffer_refs;
  guint32 *buffer_refs;      /* plan buffer indices */
  guint64 *packed_offsets;   /* per kernel: offset in the constant region after plan->constant_bytes */
  guint64 packed_bytes;      /* of all kernels */
  guint32 n_inputs, n_outputs;
  guint32 *inputs, *outputs; /* plan buffer indices, in the order of parameters and results */
  gpointer code;             /* what the kernels' code lives in (the JIT); freed last */
  GDestroyNotify free_code;
};
GantryExecutable *gantry_executable_ref (GantryExecutable *executable);
void gantry_executable_unref (GantryExecutable *executable);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryExecutable, gantry_executable_unref)

/**
 * GantryObserver: what a measured run tells. Times are CLOCK_MONOTONIC nanoseconds. Calls for one queue come in
 * order; calls of different queues may come from different threads. Any member may be NULL.
 */
typedef struct
{
  void (*begin_run) (gpointer self, const GantryExecutable *executable, gint64 time);
  void (*instruction) (gpointer self, guint32 instruction, gint64 begin, gint64 end);
  void (*wait) (gpointer self, guint32 instruction, gint64 begin, gint64 end);
  void (*allocate) (gpointer self, guint32 buffer, gint64 time, guint64 offset, guint64 bytes);
  void (*release) (gpointer self, guint32 buffer, gint64 time);
  void (*end_run) (gpointer self, gint64 time, guint64 peak_bytes);
  gpointer self;
} GantryObserver;

G_END_DECLS
