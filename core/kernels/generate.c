/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel from its tensor expressions: results of one shape share a nest of loops, and the tasks of
 * the nests follow each other. Before anything is emitted every operation is looked up in the list of
 * those that there is code for, since LLVM ends the process on what it cannot select. */
#include "core/kernels/generate-private.h"
#include "core/base/error.h"
#include <string.h>

#define MAX_TEXPR_NODES 16384
/* The emission calls itself for each node on the longest path; a thread's stack has room for that. */
#define MAX_DEPTH 12000

/* What there is code for */

static gboolean
can_reduce (guint op, GantryElementType type)
{
  switch (op)
    {
    case GANTRY_OP_ADD:
    case GANTRY_OP_MULTIPLY:
    case GANTRY_OP_MAXIMUM:
    case GANTRY_OP_MINIMUM:
      return TRUE;
    case GANTRY_OP_AND:
    case GANTRY_OP_OR:
    case GANTRY_OP_XOR:
      return !gantry_element_is_float (type);
    default:
      return FALSE;
    }
}

static gboolean
can_generate (const GantryTexpr *texpr, const GantryTx *tx)
{
  GantryElementType of = tx->kind >= GANTRY_TX_UNARY ? texpr->nodes[tx->a].type : 0;

  switch ((GantryTxKind) tx->kind)
    {
    case GANTRY_TX_UNARY:
      return gantry_emit_has_unary (tx->op, of);
    case GANTRY_TX_BINARY:
      return gantry_emit_has_binary (tx->op, of);
    case GANTRY_TX_BITCAST:
      return gantry_element_size (of) == gantry_element_size (tx->type);
    case GANTRY_TX_REDUCE:
      return can_reduce (tx->op, tx->type);
    case GANTRY_TX_CAST:
      return gantry_element_is_compiled (of);
    default:
      return TRUE;
    }
}

/* Nodes on the longest path to the root. */
static guint
depth_of (const GantryTexpr *texpr)
{
  g_autofree guint *depth = g_new0 (guint, texpr->n_nodes);
  guint deepest = 0;

  for (guint32 i = 0; i < texpr->n_nodes; i++)
    {
      const GantryTx *tx = &texpr->nodes[i];

      if (tx->kind == GANTRY_TX_LOAD)
        for (guint k = 0; k < tx->c; k++)
          depth[i] = MAX (depth[i], depth[texpr->pool[tx->b + k]]);
      if (tx->kind >= GANTRY_TX_UNARY)
        depth[i] = depth[tx->a];
      if (tx->kind == GANTRY_TX_BINARY || tx->kind == GANTRY_TX_SELECT)
        depth[i] = MAX (depth[i], depth[tx->b]);
      if (tx->kind == GANTRY_TX_SELECT)
        depth[i] = MAX (depth[i], depth[tx->c]);
      deepest = MAX (deepest, ++depth[i]);
    }
  return deepest;
}

gboolean
gantry_generate_check (const GantryTexpr *texpr, const GantryCompiler *compiler, GString *why)
{
  gsize before = why->len;

  if (texpr->n_nodes > MAX_TEXPR_NODES)
    g_string_append_printf (why, "its expression has %u nodes, at most %d can be compiled\n", texpr->n_nodes,
                            MAX_TEXPR_NODES);
  else if (depth_of (texpr) > MAX_DEPTH)
    g_string_append_printf (why, "its expression is nested %u deep, at most %d can be compiled\n", depth_of (texpr), MAX_DEPTH);
  for (guint32 i = 0; i < texpr->n_nodes && why->len == before; i++)
    {
      const GantryTx *tx = &texpr->nodes[i];

      if (!gantry_element_is_compiled (tx->type))
        g_string_append_printf (why, "there is no code for values of type %s\n", gantry_element_name (tx->type));
      else if ((tx->type == GANTRY_F16 || texpr->element == GANTRY_F16) && !compiler->has_f16c)
        g_string_append (why, "f16 needs a processor with F16C\n");
      else if (!can_generate (texpr, tx))
        g_string_append_printf (why, "there is no code for %s of %s\n",
                                tx->op != GANTRY_OP_NONE && gantry_op_info (tx->op) != NULL
                                  ? gantry_op_info (tx->op)->name : "a conversion",
                                gantry_element_name (texpr->nodes[tx->a].type));
    }
  return why->len == before;
}

/* Keys */

static void
append (GByteArray *key, gconstpointer data, gsize size)
{
  g_byte_array_append (key, data, (guint) size);
}

static void
append_layout (GByteArray *key, const GantryKxLayout *layout)
{
  append (key, &layout->n, sizeof layout->n);
  for (guint i = 0; i < layout->n; i++)
    {
      gint64 piece[] = { layout->pieces[i].dim, layout->pieces[i].divisor, layout->pieces[i].modulus,
                         layout->pieces[i].stride };

      append (key, piece, sizeof piece);
    }
}

static void
append_type (GByteArray *key, const GantryType *type)
{
  append (key, &type->element, sizeof type->element);
  append (key, &type->rank, sizeof type->rank);
  append (key, type->dims, type->rank * sizeof *type->dims);
}

static void
append_texpr (GByteArray *key, const GantryTexpr *texpr)
{
  guint32 head[] = { texpr->element, texpr->rank, texpr->n_axes, texpr->n_nodes, texpr->n_pool, texpr->root };

  append (key, head, sizeof head);
  append (key, texpr->shape, texpr->rank * sizeof *texpr->shape);
  append (key, texpr->axes, texpr->n_axes * sizeof *texpr->axes);
  append (key, texpr->nodes, texpr->n_nodes * sizeof *texpr->nodes);
  append (key, texpr->pool, texpr->n_pool * sizeof *texpr->pool);
}

GBytes *
gantry_generate_key (const GantryKernelSource *source)
{
  GByteArray *key = g_byte_array_new ();

  append (key, &source->n_inputs, sizeof source->n_inputs);
  for (guint i = 0; i < source->n_inputs; i++)
    {
      const GantryKxInput *input = &source->inputs[i];

      append_type (key, input->type);
      append (key, &input->splat, sizeof input->splat);
      if (input->splat)
        {
          append (key, &input->value_f, sizeof input->value_f);
          append (key, &input->value_i, sizeof input->value_i);
        }
      else
        append_layout (key, &input->layout);
    }
  for (guint i = 0; i < source->results->len; i++)
    {
      append_layout (key, &source->layouts[i]);
      append_texpr (key, g_ptr_array_index (source->results, i));
    }
  return g_byte_array_free_to_bytes (key);
}

/* Parts: results of one shape */

typedef struct
{
  GantryKx *kx;
  GantrySchedule schedule;
  gint64 first; /* task */
} Part;

static void
part_clear (gpointer data)
{
  Part *part = data;

  gantry_kx_free (part->kx);
}

static gboolean
same_shape (const GantryTexpr *a, const GantryTexpr *b)
{
  return a->rank == b->rank && memcmp (a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

gboolean
gantry_kernel_source_leads (const GantryKernelSource *source, guint i)
{
  const GantryTexpr *texpr = g_ptr_array_index (source->results, i);

  for (guint d = 0; d < texpr->rank; d++)
    if (texpr->shape[d] == 0)
      return FALSE;
  for (guint j = 0; j < i; j++)
    if (same_shape (texpr, g_ptr_array_index (source->results, j)))
      return FALSE;
  return TRUE;
}

GantryKx *
gantry_kernel_source_group (const GantryKernelSource *source, guint first, GError **error)
{
  g_autoptr (GantryKx) kx = gantry_kx_new (source->inputs, source->n_inputs);
  const GantryTexpr *leader = g_ptr_array_index (source->results, first);

  for (guint i = first; i < source->results->len; i++)
    if (same_shape (leader, g_ptr_array_index (source->results, i))
        && !gantry_kx_add (kx, g_ptr_array_index (source->results, i), i, &source->layouts[i], error))
      return NULL;
  gantry_kx_canonicalize (kx);
  return g_steal_pointer (&kx);
}

static gboolean
add_part (GArray *parts, const GantryKernelSource *source, guint first, guint vector_bytes, gint64 *n_tasks,
          GError **error)
{
  Part part = { .kx = gantry_kernel_source_group (source, first, error), .first = *n_tasks };

  if (part.kx == NULL)
    return FALSE;
  gantry_schedule_make (&part.schedule, part.kx, vector_bytes);
  g_array_append_val (parts, part);
  *n_tasks += part.schedule.n_tasks;
  return TRUE;
}

static GArray *
make_parts (const GantryKernelSource *source, guint vector_bytes, gint64 *n_tasks, GError **error)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (Part));

  g_array_set_clear_func (parts, part_clear);
  *n_tasks = 0;
  for (guint i = 0; i < source->results->len; i++)
    if (gantry_kernel_source_leads (source, i) && !add_part (parts, source, i, vector_bytes, n_tasks, error))
      return NULL;
  return g_steal_pointer (&parts);
}

/* Emission */

/* More expansions of elementary functions than this are shared. A call keeps no register of vectors and stands for some 3 % of the
 * time of a kernel that does nothing else, so that few of them are worth the time that LLVM takes. */
#define FEW_LONG 16

/* Counts what each turn of the innermost loop holds. */
static gboolean
has_many_long (GArray *parts)
{
  guint n = 0;

  for (guint i = 0; i < parts->len; i++)
    {
      const Part *part = &g_array_index (parts, Part, i);
      g_autofree guint8 *needed = gantry_kx_needed (part->kx, part->kx->roots, part->kx->n_roots);
      guint copies = part->schedule.rows * part->schedule.unroll;

      for (guint32 id = 0; id < part->kx->nodes->len; id++)
        {
          const GantryKxNode *node = gantry_kx_node (part->kx, id);

          if (needed[id] && (node->kind == GANTRY_KX_UNARY || node->kind == GANTRY_KX_BINARY)
              && gantry_emit_is_long (node->op, node->type))
            n += copies;
        }
    }
  return n > FEW_LONG;
}

static LLVMValueRef *
load_addresses (GantryEmit *e, guint n)
{
  LLVMTypeRef pointer = LLVMPointerTypeInContext (e->context, 0), i64 = LLVMInt64TypeInContext (e->context);
  LLVMValueRef *addresses = g_new (LLVMValueRef, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    {
      LLVMValueRef at = LLVMConstInt (i64, i, FALSE);

      addresses[i] = LLVMBuildLoad2 (e->builder, pointer,
                                     LLVMBuildGEP2 (e->builder, pointer, LLVMGetParam (e->function, 1), &at, 1, ""),
                                     "");
    }
  return addresses;
}

static LLVMValueRef
extreme (GantryEmit *e, LLVMIntPredicate better, LLVMValueRef x, LLVMValueRef y)
{
  return LLVMBuildSelect (e->builder, LLVMBuildICmp (e->builder, better, x, y, ""), x, y, "");
}

/* The tasks of the part among those asked for, when there are any. */
static void
emit_part (GantryEmit *e, Part *part, const LLVMValueRef *inputs, const LLVMValueRef *outputs)
{
  LLVMTypeRef i64 = LLVMInt64TypeInContext (e->context);
  LLVMValueRef first = LLVMConstInt (i64, (guint64) part->first, TRUE);
  LLVMValueRef last = LLVMConstInt (i64, (guint64) (part->first + part->schedule.n_tasks), TRUE);
  LLVMValueRef begin = extreme (e, LLVMIntSGT, LLVMGetParam (e->function, 2), first);
  LLVMValueRef end = extreme (e, LLVMIntSLT, LLVMGetParam (e->function, 3), last);
  LLVMBasicBlockRef work = LLVMAppendBasicBlockInContext (e->context, e->function, "part");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext (e->context, e->function, "done");

  LLVMBuildCondBr (e->builder, LLVMBuildICmp (e->builder, LLVMIntSLT, begin, end, ""), work, done);
  LLVMPositionBuilderAtEnd (e->builder, work);
  begin = LLVMBuildSub (e->builder, begin, first, "");
  end = LLVMBuildSub (e->builder, end, first, "");
  gantry_nest_emit (e, part->kx, &part->schedule, inputs, outputs, begin, end);
  LLVMBuildBr (e->builder, done);
  LLVMPositionBuilderAtEnd (e->builder, done);
}

LLVMMemoryBufferRef
gantry_generate (GantryCompiler *compiler, const GantryKernelSource *source, const char *name, gint64 *n_tasks,
                 char **ir, char **assembly, GError **error)
{
  g_autoptr (GArray) parts = make_parts (source, compiler->vector_bytes, n_tasks, error);
  g_autofree LLVMValueRef *addresses = NULL;
  GantryEmit emit;
  gboolean overflow = FALSE;
  LLVMMemoryBufferRef object;

  if (parts == NULL)
    return NULL;
  gantry_compiler_begin (compiler, name, &emit);
  emit.shares = has_many_long (parts);
  addresses = load_addresses (&emit, source->n_inputs + source->results->len);
  for (guint i = 0; i < parts->len; i++)
    {
      Part *part = &g_array_index (parts, Part, i);

      emit_part (&emit, part, addresses, addresses + source->n_inputs);
      overflow = overflow || part->kx->overflow;
    }
  LLVMBuildRetVoid (emit.builder);
  object = gantry_compiler_end (compiler, &emit, ir, assembly, error);
  if (object != NULL && overflow)
    {
      LLVMDisposeMemoryBuffer (object);
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "the expression is too large to be compiled");
      return NULL;
    }
  return object;
}
