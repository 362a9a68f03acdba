/* SPDX-License-Identifier: Apache-2.0 */
/* oneDNN: matrix products and convolutions. A library kernel is one primitive that uses the library's
 * own threads, or, where the work can be cut, several that each are a task for our threads. Where a
 * primitive wants an operand or the result in another layout than the program has them, the kernel
 * reorders: constants once, into the packed region, others each time, through the workspace. */
#pragma once
#include "core/kernels/program/node-kernel.h"
#include <oneapi/dnnl/dnnl.h>

G_BEGIN_DECLS

/** Layouts of the operands and the result of a convolution, chosen for the whole program. */
typedef struct
{
  guint block;            /* channels: 8 or 16 */
  gboolean blocked_input; /* nChw8c and its like */
  gboolean blocked_result;
  gboolean constant_weights;
} GantryLibraryLayouts;

/** Makes the kernel of a dot_general or convolution where the library has it, else says GANTRY_NOT_MINE. */
GantryMade gantry_library_make (const GantryModule *module, const GantryNode *node, const GantryLibraryLayouts *layouts, guint n_threads, GantryKernel *kernel);
/** The kernel of another node with equal types, attributes and layouts: it uses the same primitives. */
void gantry_library_share (const GantryKernel *kernel, GantryKernel *other);
/** A convolution of one place with groups is a small matrix product for each: generated code does it in half the time. */
gboolean gantry_library_is_small_products (const GantryModule *module, const GantryNode *node);
/** Whether @kernel, which is the library's, is made by its code for gradients of weights. */
gboolean gantry_library_is_weights_gradient (const GantryKernel *kernel);
/** "oneDNN 2.6.3", or "no oneDNN" where it cannot be used. (transfer full) */
char *gantry_library_describe (void);

/**
 * GantryLibraryCode: what the library generates for a program.
 *
 * @bytes: in pages, as they are there
 * @known: FALSE: it is at least so much: the system does not say
 */
typedef struct
{
  guint64 bytes;
  gboolean known;
} GantryLibraryCode;

/** Before the kernels of a program are made, on the one thread that uses the library then. */
void gantry_library_code_begin (GantryLibraryCode *code);
/** Once they are made: @code of gantry_library_code_begin() becomes what @kernels have, with what it only generates when they first run. */
void gantry_library_code_end (GantryLibraryCode *code, const GantryKernel *kernels, guint n_kernels);

/* Its functions, without the "dnnl_" of their names: all that are called. */
/* clang-format off */
#define GANTRY_LIBRARY_FUNCTIONS(X) \
  X (dilated_convolution_backward_weights_desc_init) X (dilated_convolution_forward_desc_init) X (dilated_deconvolution_forward_desc_init) \
  X (engine_create) X (engine_destroy) \
  X (get_effective_cpu_isa) X (get_primitive_cache_capacity) X (set_primitive_cache_capacity) X (sgemm) X (matmul_desc_init) \
  X (memory_create) X (memory_desc_equal) X (memory_desc_get_size) X (memory_desc_init_by_strides) X (memory_desc_init_by_tag) \
  X (memory_destroy) X (post_ops_append_eltwise) X (post_ops_create) X (post_ops_destroy) X (primitive_attr_create) \
  X (primitive_attr_destroy) X (primitive_attr_set_post_ops) X (primitive_attr_set_scratchpad_mode) X (primitive_create) \
  X (primitive_desc_create) X (primitive_desc_destroy) X (primitive_desc_query) X (primitive_desc_query_md) X (primitive_destroy) \
  X (primitive_execute) X (reorder_primitive_desc_create) X (set_max_cpu_isa) X (stream_create) X (stream_destroy) X (version)
/* clang-format on */

typedef struct
{
#define GANTRY_LIBRARY_MEMBER(name) __typeof__ (&dnnl_##name) name;
  GANTRY_LIBRARY_FUNCTIONS (GANTRY_LIBRARY_MEMBER)
#undef GANTRY_LIBRARY_MEMBER
  void (*set_num_threads) (int n); /* of the OpenMP that it runs on (GNU's) */
  void (*parallel) (void (*work) (gpointer data), gpointer data, unsigned n_threads, unsigned flags);
} GantryLibraryFunctions;

/** Loads it. Returns: FALSE with %GANTRY_ERROR_FAILED where it is not installed, or not as expected; any thread, as often as wanted */
gboolean gantry_library_load (GError **error);
/** Once gantry_library_load() gave TRUE. (transfer none) */
const GantryLibraryFunctions *gantry_dnnl (void);

/* What its files share. */

/** Of a buffer, which may lie anywhere. */
typedef float GantryUnalignedFloat __attribute__ ((aligned (1)));

/** 0 of what is not above it, but NaN stays. */
static inline float
gantry_library_relu_of (float x)
{
  return !(x > 0) && x == x ? 0 : x;
}

typedef struct _GantryLibrary GantryLibrary;

/**
 * gantry_library_new:
 * @n_threads: of the library's own, that each primitive may use; at least 1
 *
 * Only once gantry_library_load() gave TRUE, on the thread that makes kernels. Returns: (transfer full) (nullable): NULL where
 * the library refuses an engine
 */
GantryLibrary *gantry_library_new (guint n_threads);
void gantry_library_free (gpointer library);
/** Returns: (transfer none): where its primitives are made */
dnnl_engine_t gantry_library_engine (GantryLibrary *library);
/** Whether one of its primitives calls the library's matrix product. */
gboolean gantry_library_multiplies (const GantryLibrary *library);
/** Begins a piece with its primitive; takes @description. Returns: FALSE when the library refuses. */
gboolean gantry_library_begin (GantryLibrary *library, dnnl_primitive_desc_t description);
/**
 * gantry_library_add:
 * @argument: DNNL_ARG_... of the piece begun last
 * @buffer: index among the kernel's buffers
 * @begin: element of the buffer at which the piece's part begins
 * @element: of the buffer; f16 and bf16 are converted
 * @outer: as it lies in the buffer, once it is float
 * @inner: as the primitive wants it
 * @reversed: each run of so many elements of the buffer is taken from its end to its beginning: weights whose taps the primitive
 *  counts the other way; 1: none
 * @constant: its bytes are known at load
 */
gboolean gantry_library_add (GantryLibrary *library, int argument, guint buffer, gint64 begin, GantryElementType element, const dnnl_memory_desc_t *outer,
                             const dnnl_memory_desc_t *inner, gsize reversed, gboolean constant);
/**
 * gantry_library_set_epilogue:
 * @bias: an f32 for each channel, from element @begin of @buffer
 *
 * What the primitive of the piece begun last does not do itself follows it, in place of its result: bias, then relu, of which NaN stays NaN.
 */
void gantry_library_set_epilogue (GantryLibrary *library, gboolean bias, guint buffer, gint64 begin, gboolean relu);
/**
 * gantry_library_keep_nan:
 * @operation: what the piece begun last does, in its layouts and without the relu that its primitive ends with
 *
 * Where a NaN has come to that relu the piece is run again without it, and the relu after it: see library-relu.c.
 */
void gantry_library_keep_nan (GantryLibrary *library, const dnnl_convolution_desc_t *operation);
/** Before a primitive is run: whatever this thread has computed so far is forgotten. */
void gantry_library_begin_watch (void);
/** After it, on the same thread. @n_threads: that the library used. Returns: whether a NaN may have come to its relu */
gboolean gantry_library_end_watch (guint n_threads);
/** In place; NaN stays. */
void gantry_library_relu (GantryUnalignedFloat *values, gsize n);
/**
 * gantry_library_run_epilogue:
 * @result: layout of @values: N C spatial, plain or in blocks of channels
 * @bias: (nullable): an f32 for each channel
 * @n_threads: of the library's, at least 1
 */
void
gantry_library_run_epilogue (const dnnl_memory_desc_t *result, GantryUnalignedFloat *values, const GantryUnalignedFloat *bias, gboolean relu, guint n_threads);
/** The kernel runs it from now on. @n_buffers: operands and results */
void gantry_library_finish (GantryLibrary *library, guint n_buffers, GantryKernel *kernel);

/** gantry_library_make() of a dot_general: GANTRY_NOT_MINE also where generated code is faster, as for small products. */
GantryMade
gantry_library_make_dot (const GantryModule *module, const GantryNode *node, guint n_threads, const GantryLibraryLayouts *layouts, GantryKernel *kernel);
/** gantry_library_make() of a convolution: GANTRY_NOT_MINE also where generated code is faster. */
GantryMade gantry_library_make_convolution (const GantryModule *module, const GantryNode *node, const GantryLibraryLayouts *layouts, guint n_threads,
                                            GantryKernel *kernel);

G_END_DECLS
