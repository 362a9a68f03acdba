/* SPDX-License-Identifier: Apache-2.0 */
/* A primitive of oneDNN as a kernel: its arguments, the reorders around it, and its scratch memory. */
#include "core/kernels/library/library.h"
#include "core/graph/operation.h"
#include "core/kernels/library/convert-private.h"
#include <string.h>

#define PLACE 64u
#define MAX_ARGUMENTS 5

typedef enum
{
  DIRECT,    /* the buffer itself */
  WORKSPACE, /* made each time */
  PACKED,    /* made once */
} Place;

typedef struct
{
  int argument;
  guint buffer;
  guint64 begin;             /* bytes into the buffer */
  GantryElementType element; /* in the buffer: f32, or f16 or bf16 that is converted */
  gsize n;                   /* elements */
  gsize reversed;            /* of the buffer, each run of so many; 1: none */
  Place place;
  guint64 offset;    /* in the workspace or packed region: as the primitive wants it */
  guint64 converted; /* in the workspace: float in the outer layout, in order, when it is both converted or reversed and reordered */
  dnnl_memory_desc_t outer, inner;
  dnnl_primitive_t reorder; /* outer to inner; of the result inner to outer; NULL: equal */
} Argument;

/* One primitive: all of the kernel, or one task of it. */
typedef struct
{
  dnnl_primitive_t primitive;
  dnnl_memory_desc_t scratchpad;
  guint64 scratchpad_offset;
  guint n_arguments;
  Argument arguments[MAX_ARGUMENTS];
  dnnl_convolution_desc_t *without_relu; /* (nullable): see gantry_library_keep_nan() */
  gboolean has_epilogue, has_bias, relu; /* see gantry_library_set_epilogue() */
  guint bias;                            /* buffer */
  guint64 bias_begin;                    /* bytes into that */
} Piece;

struct _GantryLibrary
{
  gatomicrefcount ref_count; /* kernels that share it: running changes nothing in it */
  guint n_threads;
  guint n_buffers;
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  guint64 workspace_bytes, packed_bytes;
  gboolean multiplies; /* by the library's matrix product */
  GArray *pieces;      /* Piece */
};

char *
gantry_library_describe (void)
{
  const dnnl_version_t *version = gantry_library_load (NULL) ? gantry_dnnl ()->version () : NULL;

  if (version == NULL)
    return g_strdup ("no oneDNN");
  return g_strdup_printf ("oneDNN %d.%d.%d", version->major, version->minor, version->patch);
}

GantryLibrary *
gantry_library_new (guint n_threads)
{
  GantryLibrary *library = g_new0 (GantryLibrary, 1);

  g_atomic_ref_count_init (&library->ref_count);
  library->n_threads = n_threads;
  library->pieces = g_array_new (FALSE, FALSE, sizeof (Piece));
  /* The library decides how to divide the work when a primitive is made. */
  gantry_dnnl ()->set_num_threads ((int) n_threads);
  if (gantry_dnnl ()->engine_create (&library->engine, dnnl_cpu, 0) != dnnl_success
      || gantry_dnnl ()->stream_create (&library->stream, library->engine, dnnl_stream_default_flags) != dnnl_success)
    g_clear_pointer (&library, gantry_library_free);
  return library;
}

static void
piece_clear (Piece *piece)
{
  for (guint i = 0; i < piece->n_arguments; i++)
    if (piece->arguments[i].reorder != NULL)
      gantry_dnnl ()->primitive_destroy (piece->arguments[i].reorder);
  if (piece->primitive != NULL)
    gantry_dnnl ()->primitive_destroy (piece->primitive);
  g_free (piece->without_relu);
}

void
gantry_library_free (gpointer data)
{
  GantryLibrary *library = data;

  if (!g_atomic_ref_count_dec (&library->ref_count))
    return;
  for (guint i = 0; i < library->pieces->len; i++)
    piece_clear (&g_array_index (library->pieces, Piece, i));
  g_array_unref (library->pieces);
  if (library->stream != NULL)
    gantry_dnnl ()->stream_destroy (library->stream);
  if (library->engine != NULL)
    gantry_dnnl ()->engine_destroy (library->engine);
  g_free (library);
}

dnnl_engine_t
gantry_library_engine (GantryLibrary *library)
{
  return library->engine;
}

gboolean
gantry_library_multiplies (const GantryLibrary *library)
{
  return library->multiplies;
}

gboolean
gantry_library_is_weights_gradient (const GantryKernel *kernel)
{
  const GantryLibrary *library = kernel->state;
  const Piece *piece = &g_array_index (library->pieces, Piece, 0);

  for (guint i = 0; i < piece->n_arguments; i++)
    if (piece->arguments[i].argument == DNNL_ARG_DIFF_WEIGHTS)
      return TRUE;
  return FALSE;
}

/* "gemm:jit" and the like; "brgemm:..." has kernels of its own. */
static gboolean
calls_product (dnnl_primitive_desc_t description)
{
  const char *name = "";

  gantry_dnnl ()->primitive_desc_query (description, dnnl_query_impl_info_str, 0, &name);
  return strstr (name, "gemm") != NULL && strstr (name, "brgemm") == NULL;
}

static guint64
reserve (guint64 *bytes, guint64 more)
{
  guint64 offset = *bytes;

  *bytes += (more + PLACE - 1) / PLACE * PLACE;
  return offset;
}

static Piece *
last_piece (GantryLibrary *library)
{
  return &g_array_index (library->pieces, Piece, library->pieces->len - 1);
}

gboolean
gantry_library_begin (GantryLibrary *library, dnnl_primitive_desc_t description)
{
  const dnnl_memory_desc_t *scratchpad = gantry_dnnl ()->primitive_desc_query_md (description, dnnl_query_scratchpad_md, 0);
  Piece piece = { 0 };
  gboolean made;

  if (scratchpad != NULL)
    piece.scratchpad = *scratchpad;
  piece.scratchpad_offset = reserve (&library->workspace_bytes, gantry_dnnl ()->memory_desc_get_size (&piece.scratchpad));
  library->multiplies = library->multiplies || calls_product (description);
  made = gantry_dnnl ()->primitive_create (&piece.primitive, description) == dnnl_success;
  gantry_dnnl ()->primitive_desc_destroy (description);
  if (made)
    g_array_append_val (library->pieces, piece);
  return made;
}

static dnnl_primitive_t
make_reorder (GantryLibrary *library, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to)
{
  dnnl_primitive_desc_t description;
  dnnl_primitive_t primitive = NULL;

  if (gantry_dnnl ()->reorder_primitive_desc_create (&description, from, library->engine, to, library->engine, NULL) != dnnl_success)
    return NULL;
  if (gantry_dnnl ()->primitive_create (&primitive, description) != dnnl_success)
    primitive = NULL;
  gantry_dnnl ()->primitive_desc_destroy (description);
  return primitive;
}

static gsize
count_elements (const dnnl_memory_desc_t *md)
{
  gsize n = 1;

  for (int d = 0; d < md->ndims; d++)
    n *= (gsize) md->dims[d];
  return n;
}

static gboolean
is_result (int argument)
{
  return argument == DNNL_ARG_DST || argument == DNNL_ARG_DIFF_WEIGHTS;
}

gboolean
gantry_library_add (GantryLibrary *library, int argument, guint buffer, gint64 begin, GantryElementType element, const dnnl_memory_desc_t *outer,
                    const dnnl_memory_desc_t *inner, gsize reversed, gboolean constant)
{
  Piece *piece = last_piece (library);
  Argument *a = &piece->arguments[piece->n_arguments++];
  gboolean result = is_result (argument), equal = gantry_dnnl ()->memory_desc_equal (outer, inner);
  gboolean convert = element != GANTRY_F32 || reversed > 1;

  g_assert (piece->n_arguments <= MAX_ARGUMENTS);
  *a = (Argument){ .argument = argument, .buffer = buffer, .element = element, .place = DIRECT, .outer = *outer, .inner = *inner, .reversed = reversed };
  a->begin = (guint64) begin * gantry_element_size (element);
  a->n = count_elements (outer);
  if (equal && !convert)
    return TRUE;
  a->place = constant ? PACKED : WORKSPACE;
  a->offset = reserve (constant ? &library->packed_bytes : &library->workspace_bytes, gantry_dnnl ()->memory_desc_get_size (inner));
  if (convert && !equal && !constant)
    a->converted = reserve (&library->workspace_bytes, a->n * sizeof (float));
  if (!equal)
    a->reorder = result ? make_reorder (library, inner, outer) : make_reorder (library, outer, inner);
  return equal || a->reorder != NULL;
}

void
gantry_library_keep_nan (GantryLibrary *library, const dnnl_convolution_desc_t *operation)
{
  last_piece (library)->without_relu = g_memdup2 (operation, sizeof *operation);
}

void
gantry_library_set_epilogue (GantryLibrary *library, gboolean bias, guint buffer, gint64 begin, gboolean relu)
{
  Piece *piece = last_piece (library);

  piece->has_epilogue = bias || relu;
  piece->has_bias = bias;
  piece->relu = relu;
  piece->bias = buffer;
  piece->bias_begin = (guint64) begin * sizeof (float);
}

/* Running */

/* Memory objects are made for each run: a kernel has no state that changes, and they are cheap. */
static dnnl_memory_t
memory_at (const GantryLibrary *library, const dnnl_memory_desc_t *description, void *address)
{
  dnnl_memory_t memory = NULL;

  if (gantry_dnnl ()->memory_create (&memory, description, library->engine, address) != dnnl_success)
    g_error ("oneDNN: no memory object"); /* its arguments were checked when the primitive was made */
  return memory;
}

static void
execute (const GantryLibrary *library, dnnl_primitive_t primitive, const dnnl_exec_arg_t *arguments, int n)
{
  if (gantry_dnnl ()->primitive_execute (primitive, library->stream, n, arguments) != dnnl_success)
    g_error ("oneDNN: a primitive failed");
}

static void
reorder (const GantryLibrary *library, const Argument *a, gboolean result, void *buffer, void *inside)
{
  if (a->reorder == NULL)
    return;

  dnnl_memory_t outer = memory_at (library, &a->outer, buffer), inner = memory_at (library, &a->inner, inside);
  dnnl_exec_arg_t arguments[] = { { DNNL_ARG_FROM, result ? inner : outer }, { DNNL_ARG_TO, result ? outer : inner } };

  execute (library, a->reorder, arguments, G_N_ELEMENTS (arguments));
  gantry_dnnl ()->memory_destroy (outer);
  gantry_dnnl ()->memory_destroy (inner);
}

static gboolean
is_converted (const Argument *a)
{
  return a->element != GANTRY_F32 || a->reversed > 1;
}

static void
convert_in (const Argument *a, const void *buffer, float *converted)
{
  GantryUnalignedFloat *floats = converted;

  if (a->element != GANTRY_F32)
    gantry_convert_to_float (a->element, buffer, converted, a->n);
  else
    memcpy (converted, buffer, a->n * sizeof *converted);
  for (gsize run = 0; run < a->n && a->reversed > 1; run += a->reversed)
    for (gsize i = run, j = run + a->reversed - 1; i < j; i++, j--)
      {
        float kept = floats[i];

        floats[i] = floats[j];
        floats[j] = kept;
      }
}

/* An operand as the primitive wants it. @converted: room for it as float, when it is converted and reordered. */
static void
bring_in (const GantryLibrary *library, const Argument *a, void *buffer, float *converted, void *inside)
{
  if (!is_converted (a))
    {
      reorder (library, a, FALSE, buffer, inside);
      return;
    }
  if (a->reorder == NULL)
    converted = inside;
  convert_in (a, buffer, converted);
  reorder (library, a, FALSE, converted, inside);
}

static void
bring_out (const GantryLibrary *library, const Argument *a, void *buffer, float *converted, void *inside)
{
  if (a->element == GANTRY_F32)
    {
      reorder (library, a, TRUE, buffer, inside);
      return;
    }
  if (a->reorder == NULL)
    converted = inside;
  reorder (library, a, TRUE, converted, inside);
  gantry_convert_from_float (a->element, converted, buffer, a->n);
}

static void *
address_of (const Argument *a, void *const *buffers)
{
  return (guint8 *) buffers[a->buffer] + a->begin;
}

/* Once more, without the relu, which follows: see library-relu.c. It happens to models that diverge, so that nothing is kept for it; its
 * scratch memory is the library's own. @arguments: as for the primitive, without scratch memory */
static void
run_keeping_nan (const GantryLibrary *library, const Piece *piece, const dnnl_exec_arg_t *arguments, int n, GantryUnalignedFloat *result)
{
  dnnl_primitive_desc_t description = NULL;
  dnnl_primitive_t primitive = NULL;

  if (gantry_dnnl ()->primitive_desc_create (&description, piece->without_relu, NULL, library->engine, NULL) != dnnl_success
      || gantry_dnnl ()->primitive_create (&primitive, description) != dnnl_success)
    g_error ("oneDNN: a convolution that it does with a relu it does not without"); /* it has the same layouts */
  execute (library, primitive, arguments, n);
  gantry_library_relu (result, gantry_dnnl ()->memory_desc_get_size (&piece->without_relu->dst_desc) / sizeof *result);
  gantry_dnnl ()->primitive_destroy (primitive);
  gantry_dnnl ()->primitive_desc_destroy (description);
}

static void
run_epilogue (const GantryLibrary *library, const Piece *piece, void *const *buffers, void *result)
{
  const GantryUnalignedFloat *bias = piece->has_bias ? (gpointer) ((guint8 *) buffers[piece->bias] + piece->bias_begin) : NULL;

  for (guint i = 0; i < piece->n_arguments; i++)
    if (piece->arguments[i].argument == DNNL_ARG_DST)
      gantry_library_run_epilogue (&piece->arguments[i].inner, result, bias, piece->relu, library->pieces->len > 1 ? 1 : library->n_threads);
}

static void
run_piece (const GantryLibrary *library, const Piece *piece, void *const *buffers, guint8 *workspace, guint8 *packed)
{
  dnnl_exec_arg_t arguments[MAX_ARGUMENTS + 1];
  GantryUnalignedFloat *result = NULL;
  int n = 0;

  for (guint i = 0; i < piece->n_arguments; i++)
    {
      const Argument *a = &piece->arguments[i];
      void *buffer = address_of (a, buffers);
      void *inside = a->place == DIRECT ? buffer : (a->place == PACKED ? packed : workspace) + a->offset;

      if (a->place == WORKSPACE && !is_result (a->argument))
        bring_in (library, a, buffer, (float *) (gpointer) (workspace + a->converted), inside);
      if (is_result (a->argument))
        result = inside;
      arguments[n++] = (dnnl_exec_arg_t){ a->argument, memory_at (library, &a->inner, inside) };
    }
  if (gantry_dnnl ()->memory_desc_get_size (&piece->scratchpad) > 0)
    arguments[n++] = (dnnl_exec_arg_t){ DNNL_ARG_SCRATCHPAD, memory_at (library, &piece->scratchpad, workspace + piece->scratchpad_offset) };
  gantry_library_begin_watch ();
  execute (library, piece->primitive, arguments, n);
  if (piece->has_epilogue)
    run_epilogue (library, piece, buffers, result);
  if (piece->without_relu != NULL && gantry_library_end_watch (library->pieces->len > 1 ? 1 : library->n_threads))
    run_keeping_nan (library, piece, arguments, (int) piece->n_arguments, result);
  for (guint i = 0; i < piece->n_arguments; i++)
    {
      const Argument *a = &piece->arguments[i];

      if (a->place == WORKSPACE && is_result (a->argument))
        bring_out (library, a, address_of (a, buffers), (float *) (gpointer) (workspace + a->converted), workspace + a->offset);
    }
  while (n > 0)
    gantry_dnnl ()->memory_destroy (arguments[--n].memory);
}

static void
run_library (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const GantryLibrary *library = state;
  guint8 *workspace = library->workspace_bytes > 0 ? buffers[library->n_buffers] : NULL;
  guint8 *packed = library->packed_bytes > 0 ? buffers[library->n_buffers + (workspace != NULL)] : NULL;

  /* Of several pieces each is one thread's. */
  gantry_dnnl ()->set_num_threads (library->pieces->len > 1 ? 1 : (int) library->n_threads);
  for (gint64 i = begin; i < end; i++)
    run_piece (library, &g_array_index (library->pieces, Piece, i), buffers, workspace, packed);
}

static void
pack_piece (const GantryLibrary *library, const Piece *piece, void *const *buffers, guint8 *packed)
{
  for (guint i = 0; i < piece->n_arguments; i++)
    {
      const Argument *a = &piece->arguments[i];
      g_autofree float *converted = NULL;

      if (a->place != PACKED)
        continue;
      if (is_converted (a) && a->reorder != NULL)
        converted = g_new (float, a->n);
      bring_in (library, a, address_of (a, buffers), converted, packed + a->offset);
    }
}

static void
pack_library (gpointer state, void *const *buffers, void *packed)
{
  const GantryLibrary *library = state;

  gantry_dnnl ()->set_num_threads ((int) library->n_threads);
  for (guint i = 0; i < library->pieces->len; i++)
    pack_piece (library, &g_array_index (library->pieces, Piece, i), buffers, packed);
}

void
gantry_library_finish (GantryLibrary *library, guint n_buffers, GantryKernel *kernel)
{
  library->n_buffers = n_buffers;
  kernel->kind = GANTRY_KERNEL_LIBRARY;
  kernel->whole = library->pieces->len == 1 && library->n_threads > 1;
  kernel->n_tasks = library->pieces->len;
  kernel->state = library;
  kernel->free_state = gantry_library_free;
  kernel->func = run_library;
  kernel->workspace_bytes = library->workspace_bytes;
  kernel->packed_bytes = library->packed_bytes;
  if (library->packed_bytes > 0)
    kernel->pack = pack_library;
}

void
gantry_library_share (const GantryKernel *kernel, GantryKernel *other)
{
  GantryLibrary *library = kernel->state;

  g_atomic_ref_count_inc (&library->ref_count);
  gantry_library_finish (library, library->n_buffers, other);
}

static gboolean
is_computed_in_float (const GantryType *type)
{
  return (type->element == GANTRY_F32 || type->element == GANTRY_F16 || type->element == GANTRY_BF16) && gantry_type_elements (type) > 0;
}

GantryMade
gantry_library_make (const GantryModule *module, const GantryNode *node, const GantryLibraryLayouts *layouts, guint n_threads, GantryKernel *kernel)
{
  /* The library computes in float only on this class of processor; what has 16 bits is converted. */
  for (guint i = 0; i < node->n_operands; i++)
    if (!is_computed_in_float (gantry_node_operand_type (module, node, i)))
      return GANTRY_NOT_MINE;
  if (!is_computed_in_float (gantry_node_type (module, node)))
    return GANTRY_NOT_MINE;
  if (node->op == GANTRY_OP_DOT_GENERAL)
    return gantry_library_make_dot (module, node, n_threads, layouts, kernel);
  return gantry_library_make_convolution (module, node, layouts, n_threads, kernel);
}
