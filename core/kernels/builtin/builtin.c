/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that no tensor expression can say: sort, scatter and random bits, with the meaning that the
 * evaluator gives them. Sort and random bits run in parallel tasks; scatter in one, since updates of one
 * place come in order. */
#include "core/kernels/builtin/builtin.h"
#include "core/graph/operation.h"
#include <math.h>
#include <string.h>

static gboolean
cannot (GString *why, const char *text)
{
  g_string_append (why, text);
  return FALSE;
}

/* One element as a number that compares and adds as its type does */

typedef union
{
  double f;
  gint64 i;
  guint64 u;
} Number;

static Number
read_number (GantryElementType element, const void *p)
{
  Number x;

  if (gantry_element_is_float (element))
    x.f = gantry_element_read_double (element, p);
  else
    x.i = gantry_element_read_int (element, p);
  return x;
}

static gboolean
is_unsigned (GantryElementType element)
{
  return element == GANTRY_BOOL || !gantry_element_is_signed (element);
}

/* Sort: rows along one dimension, ordered by the first operand; NaN is larger than all else; stable. */

typedef struct
{
  Number key;
  gint64 row;
} SortItem;

typedef int (*CompareItems) (const SortItem *a, const SortItem *b);

static int
compare_floats (const SortItem *a, const SortItem *b)
{
  double x = a->key.f, y = b->key.f;

  if (isnan (x) || isnan (y))
    return (isnan (x) != 0) - (isnan (y) != 0);
  return (x > y) - (x < y);
}

static int
compare_floats_down (const SortItem *a, const SortItem *b)
{
  return compare_floats (b, a);
}

static int
compare_signed (const SortItem *a, const SortItem *b)
{
  return (a->key.i > b->key.i) - (a->key.i < b->key.i);
}

static int
compare_signed_down (const SortItem *a, const SortItem *b)
{
  return compare_signed (b, a);
}

static int
compare_unsigned (const SortItem *a, const SortItem *b)
{
  return (a->key.u > b->key.u) - (a->key.u < b->key.u);
}

static int
compare_unsigned_down (const SortItem *a, const SortItem *b)
{
  return compare_unsigned (b, a);
}

static CompareItems
comparison (const GantrySort *sort)
{
  if (gantry_element_is_float (sort->key))
    return sort->descending ? compare_floats_down : compare_floats;
  if (is_unsigned (sort->key))
    return sort->descending ? compare_unsigned_down : compare_unsigned;
  return sort->descending ? compare_signed_down : compare_signed;
}

/* Runs of doubled length are merged, from one half of the memory to the other and back. Returns: where they end up */
static SortItem *
merge_sort (SortItem *items, SortItem *spare, gint64 n, CompareItems compare)
{
  for (gint64 run = 1; run < n; run *= 2)
    {
      SortItem *swap = items;

      for (gint64 begin = 0; begin < n; begin += 2 * run)
        {
          gint64 middle = MIN (begin + run, n), end = MIN (begin + 2 * run, n), i = begin, j = middle;

          for (gint64 k = begin; k < end; k++)
            spare[k] = i < middle && (j >= end || compare (&items[i], &items[j]) <= 0) ? items[i++] : items[j++];
        }
      items = spare;
      spare = swap;
    }
  return items;
}

static void
sort_line (const GantrySort *sort, void *const *buffers, gint64 first, SortItem *items)
{
  const SortItem *sorted;

  for (gint64 i = 0; i < sort->length; i++)
    {
      items[i].row = first + i * sort->stride;
      items[i].key = read_number (sort->key, (const guint8 *) buffers[0] + (gsize) items[i].row * sort->sizes[0]);
    }
  sorted = merge_sort (items, items + sort->length, sort->length, comparison (sort));
  for (guint o = 0; o < sort->n; o++)
    {
      const guint8 *from = buffers[o];
      guint8 *to = buffers[sort->n + o];
      gsize size = sort->sizes[o];

      for (gint64 i = 0; i < sort->length; i++)
        memcpy (to + (gsize) (first + i * sort->stride) * size, from + (gsize) sorted[i].row * size, size);
    }
}

static void
run_sort (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const GantrySort *sort = state;
  g_autofree SortItem *items = g_new (SortItem, 2 * (gsize) sort->length + 1);

  for (gint64 line = begin; line < end; line++)
    sort_line (sort, buffers, line / sort->stride * sort->stride * sort->length + line % sort->stride, items);
}

gboolean
gantry_sort_read (GantrySort *sort, const GantryModule *module, const GantryNode *node, GString *why)
{
  const GantryType *type = gantry_node_operand_type (module, node, 0);
  gint64 dimension = gantry_attrs_int (module->context, node->attrs, "dimension", -1), elements;

  if (dimension < 0 || dimension >= type->rank)
    return cannot (why, "its dimension is not one of the operand's");
  if (node->n_operands > GANTRY_MAX_RANK)
    return cannot (why, "more than 16 operands");
  for (guint i = 0; i < node->n_operands; i++)
    if (!gantry_element_is_compiled (gantry_node_operand_type (module, node, i)->element)
        || gantry_type_elements (gantry_node_operand_type (module, node, i)) != gantry_type_elements (type))
      return cannot (why, "its operands differ in shape or are of a type that is not compiled");
  memset (sort, 0, sizeof *sort);
  sort->n = node->n_operands;
  sort->key = type->element;
  for (guint i = 0; i < sort->n; i++)
    sort->sizes[i] = gantry_element_size (gantry_node_operand_type (module, node, i)->element);
  sort->length = type->dims[dimension];
  sort->stride = 1;
  for (guint d = (guint) dimension + 1; d < type->rank; d++)
    sort->stride *= type->dims[d];
  elements = gantry_type_elements (type);
  sort->lines = elements > 0 ? elements / sort->length : 0;
  sort->descending = gantry_attrs_int (module->context, node->attrs, "descending", 0) != 0;
  return TRUE;
}

static GantryMade
make_sort (const GantryModule *module, const GantryNode *node, GantryKernel *kernel, GString *why)
{
  g_autofree GantrySort *sort = g_new (GantrySort, 1);

  if (!gantry_sort_read (sort, module, node, why))
    return GANTRY_CANNOT;
  kernel->n_tasks = sort->lines;
  kernel->state = g_steal_pointer (&sort);
  kernel->free_state = g_free;
  kernel->func = run_sort;
  return GANTRY_MADE;
}

/* Random bits: Philox 4x32-10 as core/eval/evaluator-extern.c describes it. A task is a run of blocks. */

#define BLOCKS_PER_TASK 4096

static void
philox (guint64 key, guint64 counter, guint32 c[4])
{
  guint32 k0 = (guint32) key, k1 = (guint32) (key >> 32);

  c[0] = (guint32) counter;
  c[1] = (guint32) (counter >> 32);
  c[2] = c[3] = 0;
  for (guint round = 0; round < 10; round++)
    {
      guint64 p = (guint64) c[0] * 0xD2511F53u, q = (guint64) c[2] * 0xCD9E8D57u;

      c[0] = (guint32) (q >> 32) ^ c[1] ^ k0;
      c[1] = (guint32) q;
      c[2] = (guint32) (p >> 32) ^ c[3] ^ k1;
      c[3] = (guint32) p;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
}

/* Buffers: state, new state, bits. */
static void
run_random (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const GantryRandomBits *random = state;
  guint words_each = random->size == 8 ? 2 : 1, per_block = 4 / words_each;
  guint64 seed[2];
  guint32 words[4];

  memcpy (seed, buffers[0], sizeof seed);
  if (begin == 0)
    {
      guint64 next[2] = { seed[0], seed[1] + (guint64) random->n_blocks };

      memcpy (buffers[1], next, sizeof next);
    }
  for (gint64 block = begin * BLOCKS_PER_TASK; block < MIN (end * BLOCKS_PER_TASK, random->n_blocks); block++)
    {
      philox (seed[0], seed[1] + (guint64) block, words);
      for (guint k = 0; k < per_block && block * per_block + k < random->elements; k++)
        memcpy ((guint8 *) buffers[2] + (gsize) (block * per_block + k) * random->size, &words[k * words_each], random->size);
    }
}

gboolean
gantry_random_bits_read (GantryRandomBits *random, const GantryModule *module, const GantryNode *node, GString *why)
{
  const GantryType *state = gantry_node_operand_type (module, node, 0);
  const GantryType *type = gantry_node_n_results (module, node) == 2 ? gantry_node_result_type (module, node, 1) : NULL;
  gint64 per_block;

  if (type == NULL || state->element != GANTRY_U64 || gantry_type_elements (state) != 2 || !gantry_element_is_integer (type->element)
      || !gantry_element_is_compiled (type->element))
    return cannot (why, "the state has to be u64[2] and the bits integers");
  random->elements = gantry_type_elements (type);
  random->size = gantry_element_size (type->element);
  per_block = random->size == 8 ? 2 : 4;
  random->n_blocks = (random->elements + per_block - 1) / per_block;
  return TRUE;
}

static GantryMade
make_random (const GantryModule *module, const GantryNode *node, GantryKernel *kernel, GString *why)
{
  g_autofree GantryRandomBits *random = g_new (GantryRandomBits, 1);

  if (!gantry_random_bits_read (random, module, node, why))
    return GANTRY_CANNOT;
  kernel->n_tasks = MAX ((random->n_blocks + BLOCKS_PER_TASK - 1) / BLOCKS_PER_TASK, 1);
  kernel->state = g_steal_pointer (&random);
  kernel->free_state = g_free;
  kernel->func = run_random;
  return GANTRY_MADE;
}

GantryMade
gantry_builtin_make (const GantryModule *module, const GantryNode *node, GantryKernel *kernel, GString *why)
{
  kernel->kind = GANTRY_KERNEL_BUILTIN;
  switch (node->op)
    {
    case GANTRY_OP_SORT: return make_sort (module, node, kernel, why);
    case GANTRY_OP_RNG_BIT_GENERATOR: return make_random (module, node, kernel, why);
    case GANTRY_OP_SCATTER: return gantry_builtin_make_scatter (module, node, kernel, why);
    default: return GANTRY_NOT_MINE;
    }
}
