/* SPDX-License-Identifier: Apache-2.0 */
/* The types where kernels and runtime meet: kernels (code ready to call), the executable (a list of
 * instructions on queues over planned arenas) and the observer through which a run is measured.
 * core/kernels makes them, core/runtime runs them, profiler observes. */
#pragma once
#include "core/graph/module.h"
#include "core/plan/plan.h"
#include "core/plan/region-layout.h"

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
} GantryKernelKind;

typedef struct _GantryExecutable GantryExecutable;

/** A box of a tensor that the copy engine of sm_90 fetches; the runtime encodes it once addresses are known. */
typedef struct
{
  guint32 buffer;     /* index among the kernel's buffers */
  guint8 element;     /* GantryElementType */
  guint8 rank;        /* 2 to 5 */
  guint8 swizzle;     /* bytes: 0, 32, 64 or 128 */
  guint64 dims[5];    /* elements, innermost first */
  guint64 strides[5]; /* bytes from one element to the next; [0] is the element's size */
  guint32 box[5];     /* elements */
} GantryTensorMap;

/** One launch. Parameters: the addresses of the kernel's buffers in their order (operands, results, workspace when there is
 *  one, packed region when there is one), then the tensor maps (128 bytes each, by value). */
typedef struct
{
  guint32 image; /* index in the executable's images */
  char *entry;
  guint32 grid[3], block[3];
  guint32 cluster[3];                     /* 0, 0, 0: none */
  guint32 shared_bytes;                   /* dynamic */
  guint8 read_conflicts, write_conflicts; /* of banks of shared memory: 1: none; 0: not looked for, or nothing there */
  guint32 n_maps;
  GantryTensorMap *maps; /* (nullable) */
} GantryGpuLaunch;

/** A matrix product that cuBLASLt can do instead: C[b] = A[b] * B[b], row-major, f32 accumulation. */
typedef struct
{
  guint32 a, b, c;                   /* indices among the kernel's buffers */
  guint8 element, result;            /* GantryElementType of A and B; of C */
  guint8 a_transposed, b_transposed; /* A lies as [k, m], B as [n, k] */
  gint64 m, n, k, batch;
  gint64 a_stride, b_stride, c_stride; /* elements from one product of the batch to the next; 0: the same */
} GantryGpuProduct;

/** What a kernel is on a GPU: launches that follow each other. */
typedef struct
{
  guint32 n_launches;
  GantryGpuLaunch *launches;
  GantryGpuProduct *product; /* (nullable): the runtime may measure which is faster */
} GantryGpuKernel;
void gantry_gpu_kernel_free (GantryGpuKernel *gpu);

/** Machine code for a GPU, or PTX text when no assembler was there. */
typedef struct
{
  GBytes *code; /* a cubin, or text with its final zero */
  gboolean is_text;
  char *arch;           /* "sm_90a" */
  gboolean is_measured; /* the assembler said what follows, the largest of all entries */
  guint32 registers, spill_store_bytes, spill_load_bytes, stack_bytes, static_shared_bytes;
  double assemble_ms;
} GantryGpuImage;
void gantry_gpu_image_clear (GantryGpuImage *image);

typedef struct
{
  char *name;     /* unique in the executable: "fusion_12_add_relu" */
  guint8 kind;    /* GantryKernelKind */
  guint8 whole;   /* the callee uses the worker threads itself (oneDNN): n_tasks is 1 */
  guint32 node;   /* node id; G_MAXUINT32: a conversion to fewer bits or back, which is of no node */
  gint64 n_tasks; /* how many independent parts */
  GantryKernelFunc func;
  gpointer state;
  GDestroyNotify free_state;
  guint64 workspace_bytes;
  guint64 packed_bytes; /* constant region that `pack` fills once from constant operands (weights in the library's layout) */
  /** (nullable) @buffers as for func (only the constants are valid); @packed: packed_bytes, kept until the end and
   *  passed to func as the last buffer. */
  void (*pack) (gpointer state, void *const *buffers, void *packed);
  GantryGpuKernel *gpu; /* (nullable): owned; where it is set and func is NULL the kernel runs on a GPU alone */
  gint64 flops, bytes;  /* of one execution; -1 unknown */
  char *texpr;          /* (nullable) texts for the code view; those that follow are shared by kernels of the same code */
  GRefString *llvm_ir;
  GRefString *assembly; /* x86-64, or PTX */
  GRefString *schedule; /* (nullable) the bound program */
  double compile_ms;
} GantryKernel;
/** Frees what the kernel owns. */
void gantry_kernel_clear (GantryKernel *kernel);

typedef enum
{
  GANTRY_INSTRUCTION_LAUNCH,    /* kernel over buffers */
  GANTRY_INSTRUCTION_COPY,      /* buffers[0] -> buffers[1], `bytes` */
  GANTRY_INSTRUCTION_FILL,      /* a splat literal written out into buffers[0] */
  GANTRY_INSTRUCTION_WAIT,      /* this queue waits until `event` instruction is done */
  GANTRY_INSTRUCTION_HOST_CALL, /* a custom_call that who runs the program answers: buffers of operands, then of results */
  GANTRY_INSTRUCTION_CONTROL,   /* a branch, loop, scan or call (`control`), decided on the host once all queues have come to it */
} GantryInstructionKind;

typedef struct
{
  guint8 kind;  /* GantryInstructionKind */
  guint8 queue; /* GantryQueue */
  guint8 init;  /* once, at load */
  union
  {
    guint32 kernel;  /* index in kernels */
    guint32 control; /* index in controls */
  };
  guint32 node;    /* node id that this does the work of */
  guint32 step;    /* of the plan */
  guint32 buffers; /* first index in buffer_refs */
  guint32 n_buffers;
  guint32 event; /* WAIT: index of the instruction waited for */
  guint64 bytes;
} GantryInstruction;

/** One branch, loop, scan or call. Its buffers: operands, and slices of stacks among them that have no place; results, and slices of such;
 *  and the workspace that its regions lie in. */
typedef struct
{
  guint32 node;
  GantryControl control;
  GantryExecutable *regions[2]; /* as many as `control` has: they launch kernels of the executable that they are part of */
  GantryRegionLayout *layouts[2];
  guint32 first_result; /* of its buffers */
  guint32 workspace;    /* of its buffers, where it has one: how many stand before it */
  guint32 *pieces;      /* by operand, then by result: which of its buffers has the first slice, 0: the stack has a place */
} GantryControlCode;

/** Buffers of the plan by index, with alive ranges: the executor reports allocation at `begin`, release after `end`. */
struct _GantryExecutable
{
  gatomicrefcount ref_count;
  GantryModule *module;
  GantryPlan *plan;
  guint32 n_kernels;
  GantryKernel *kernels;
  GantryExecutable *whole; /* (nullable) (unowned): of a region: what owns kernels, images and code */
  guint32 n_controls;
  GantryControlCode *controls;
  guint32 n_instructions;
  GantryInstruction *instructions;
  guint32 n_buffer_refs;
  guint32 *buffer_refs;    /* plan buffer indices */
  guint64 *packed_offsets; /* per kernel: offset in the constant region after plan->constant_bytes; G_MAXUINT64: of a kernel that
                              * this executable does not launch itself */
  guint64 packed_bytes;    /* of all kernels that it launches itself */
  guint32 n_inputs, n_outputs;
  guint32 *inputs, *outputs; /* plan buffer indices, in the order of parameters and results */
  guint32 n_images;
  GantryGpuImage *images; /* what launches on a GPU name */
  gpointer code;          /* what the kernels' code lives in (the JIT); freed last */
  GDestroyNotify free_code;
};
GantryExecutable *gantry_executable_ref (GantryExecutable *executable);
void gantry_executable_unref (GantryExecutable *executable);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryExecutable, gantry_executable_unref)

/** One run of a region of control: a trip of a loop, an arm, a call. Those of regions within it lie within its times. */
typedef struct
{
  gint64 begin, end; /* CLOCK_MONOTONIC nanoseconds; @end 0: it did not come to its end */
  guint32 node;      /* the control */
  guint8 control;    /* GantryControlKind */
  guint8 region;     /* index in GantryControl.functions */
  guint64 trip;      /* from 0 */
} GantryRegionSpan;

/** An instruction of a region, in one of its runs: it lies within the region's span. */
typedef struct
{
  gint64 begin, end;                  /* CLOCK_MONOTONIC nanoseconds */
  const GantryExecutable *executable; /* (unowned): the region's: it lives as long as the one around it */
  guint32 instruction;
} GantryRegionEvent;

/**
 * GantryObserver: what a measured run tells. Times are CLOCK_MONOTONIC nanoseconds. Calls for one queue come in
 * order; calls of different queues may come from different threads. Any member may be NULL.
 */
typedef struct
{
  void (*begin_run) (gpointer self, const GantryExecutable *executable, gint64 time);
  void (*instruction) (gpointer self, guint32 instruction, gint64 begin, gint64 end);
  void (*wait) (gpointer self, guint32 instruction, gint64 begin, gint64 end);
  /** From @time on the device's memory holds @bytes, as measured; @node: whose work began then. */
  void (*memory) (gpointer self, gint64 time, guint32 node, guint64 bytes);
  void (*end_run) (gpointer self, gint64 time);
  gpointer self;
  /** Before instruction() of control: how often each of its regions ran, in the order of GantryControl. */
  void (*control) (gpointer self, guint32 instruction, const guint64 *taken, guint n_regions);
  /** Once a run that has control: what it ran of it, in the order of their begin; @left_out: further ones that were too many to keep. */
  void (*spans) (gpointer self, const GantryRegionSpan *spans, guint n, guint64 left_out);
  /** Beside spans(): the kernels, copies and fills of regions, in the order of the regions' runs; @left_out: as there. */
  void (*region_events) (gpointer self, const GantryRegionEvent *events, guint n, guint64 left_out);
} GantryObserver;

/** A tensor of a host call, where it lies: row-major, of a static type. */
typedef struct
{
  const GantryType *type;
  void *data;
  gsize size; /* bytes */
} GantryHostTensor;

/**
 * GantryHostCall: answers a custom call while a program runs
 * @node: the call: its attributes are the caller's
 * @target: its attribute `target`
 * @operands: by reference: not to be written
 * @results: by reference: to be written, all of them
 *
 * Calls come one at a time in the order of the program, on the thread that runs it, while the device is idle.
 *
 * Returns: FALSE with @error: the run ends with it
 */
typedef gboolean (*GantryHostCall) (gpointer self, const GantryModule *module, const GantryNode *node, const char *target, const GantryHostTensor *operands,
                                    guint n_operands, const GantryHostTensor *results, guint n_results, GError **error);

G_END_DECLS
