/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel from its tensor expressions: results of one shape share a nest of loops, and the tasks of
 * the nests follow each other. */
#include "core/kernels/cpu/generate.h"
#include "core/base/error.h"
#include "core/kernels/cpu/nest-private.h"
#include "core/kernels/schedule/loop-schedule.h"

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
add_part (GArray *parts, const GantryKernelSource *source, guint first, guint vector_bytes, gint64 *n_tasks, GError **error)
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

          if (needed[id] && (node->kind == GANTRY_KX_UNARY || node->kind == GANTRY_KX_BINARY) && gantry_emit_is_long (node->op, node->type))
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

      addresses[i] = LLVMBuildLoad2 (e->builder, pointer, LLVMBuildGEP2 (e->builder, pointer, LLVMGetParam (e->function, 1), &at, 1, ""), "");
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
gantry_generate (GantryCompiler *compiler, const GantryKernelSource *source, const char *name, gint64 *n_tasks, char **ir, char **assembly, GError **error)
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
