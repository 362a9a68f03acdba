/* SPDX-License-Identifier: Apache-2.0 */
/* The shared tables. Everything goes through GantryInterner by value, so an id of a table of objects
 * (attributes, literals) is the id that the interner gave to the object's key. */
#include "core/graph/context-private.h"
#include "core/graph/dialect.h"
#include "core/graph/operation.h"
#include <string.h>

#define SMALL_LITERAL 4096
#define TABLE_BLOCK_BITS 12
#define TABLE_BLOCKS (1u << 14)

/* id -> pointer, in blocks that never move; written under the context's lock. */
typedef struct
{
  gpointer *blocks[TABLE_BLOCKS];
} PointerTable;

struct _GantryContext
{
  gatomicrefcount ref_count;
  GMutex lock;
  GantryArena *arena;
  GantryInterner *strings;
  GantryInterner *types;
  GantryInterner *attr_keys;
  GantryInterner *literal_keys;
  GantryInterner *locations;
  GantryInterner *foreign_ops;
  PointerTable *attrs;    /* GantryAttrs* by id */
  PointerTable *literals; /* GantryLiteral* by id */
  guint32 n_literals;
  guint32 last_node_id;
  guint32 last_function_id;
  GPtrArray *dialects;
};

static const GantryType unknown_type = { .kind = GANTRY_TYPE_UNKNOWN };
static const GantryAttrs no_attrs = { 0 };

static void
table_set (PointerTable *table, guint32 id, gpointer value)
{
  gpointer **block = &table->blocks[id >> TABLE_BLOCK_BITS];

  g_assert (id >> TABLE_BLOCK_BITS < TABLE_BLOCKS);
  if (*block == NULL)
    *block = g_new0 (gpointer, 1u << TABLE_BLOCK_BITS);
  (*block)[id & ((1u << TABLE_BLOCK_BITS) - 1)] = value;
}

static gpointer
table_get (const PointerTable *table, guint32 id)
{
  gpointer *block = id >> TABLE_BLOCK_BITS < TABLE_BLOCKS ? table->blocks[id >> TABLE_BLOCK_BITS] : NULL;

  return block != NULL ? block[id & ((1u << TABLE_BLOCK_BITS) - 1)] : NULL;
}

static void
table_free (PointerTable *table)
{
  for (guint i = 0; i < TABLE_BLOCKS && table->blocks[i] != NULL; i++)
    g_free (table->blocks[i]);
  g_free (table);
}

GantryContext *
gantry_context_new (void)
{
  GantryContext *context = g_new0 (GantryContext, 1);

  g_atomic_ref_count_init (&context->ref_count);
  g_mutex_init (&context->lock);
  context->arena = gantry_arena_new ();
  context->strings = gantry_interner_new ();
  context->types = gantry_interner_new ();
  context->attr_keys = gantry_interner_new ();
  context->literal_keys = gantry_interner_new ();
  context->locations = gantry_interner_new ();
  context->foreign_ops = gantry_interner_new ();
  context->attrs = g_new0 (PointerTable, 1);
  context->literals = g_new0 (PointerTable, 1);
  context->dialects = g_ptr_array_new ();
  return context;
}

GantryContext *
gantry_context_ref (GantryContext *context)
{
  g_atomic_ref_count_inc (&context->ref_count);
  return context;
}

void
gantry_context_unref (GantryContext *context)
{
  if (context == NULL || !g_atomic_ref_count_dec (&context->ref_count))
    return;
  for (guint32 id = 1; id <= context->n_literals; id++)
    gantry_literal_unref (table_get (context->literals, id));
  table_free (context->literals);
  table_free (context->attrs);
  gantry_interner_free (context->strings);
  gantry_interner_free (context->types);
  gantry_interner_free (context->attr_keys);
  gantry_interner_free (context->literal_keys);
  gantry_interner_free (context->locations);
  gantry_interner_free (context->foreign_ops);
  g_ptr_array_unref (context->dialects);
  gantry_arena_free (context->arena);
  g_mutex_clear (&context->lock);
  g_free (context);
}

/* Strings */

guint32
gantry_context_intern (GantryContext *context, const char *text)
{
  return text != NULL && *text != '\0' ? gantry_interner_add_string (context->strings, text) : 0;
}

guint32
gantry_context_intern_len (GantryContext *context, const char *text, gsize length)
{
  return length > 0 ? gantry_interner_add (context->strings, text, length) : 0;
}

const char *
gantry_context_string (GantryContext *context, guint32 id)
{
  return gantry_interner_string (context->strings, id);
}

/* Types */

static guint32
intern_type (GantryContext *context, GantryTypeKind kind, GantryElementType element, guint n, const gint64 *values, GantryMemoryKind memory)
{
  gsize size = sizeof (GantryType) + n * sizeof (GantryDim);
  g_autofree GantryType *large = NULL;
  union
  {
    GantryType type;
    guint8 bytes[sizeof (GantryType) + GANTRY_MAX_RANK * sizeof (GantryDim)];
  } small;
  GantryType *type = &small.type;

  if (n > GANTRY_MAX_RANK)
    type = large = g_malloc (size);
  memset (type, 0, size);
  type->kind = kind;
  type->element = element;
  type->memory = memory;
  type->rank = n;
  if (n > 0)
    memcpy (type->dims, values, n * sizeof (GantryDim));
  return gantry_interner_add (context->types, type, size);
}

guint32
gantry_context_tensor_in (GantryContext *context, GantryElementType element, guint rank, const GantryDim *dims, GantryMemoryKind memory)
{
  GantryDim known[GANTRY_MAX_RANK];
  guint32 last = gantry_interner_count (context->strings);

  g_return_val_if_fail (rank <= GANTRY_MAX_RANK, 0);
  for (guint i = 0; i < rank; i++)
    known[i] = GANTRY_DIM_IS_SYMBOL (dims[i]) && -2 - dims[i] > (GantryDim) last ? GANTRY_DIM_UNKNOWN : dims[i];
  return intern_type (context, GANTRY_TYPE_TENSOR, element, rank, known, memory);
}

guint32
gantry_context_tensor (GantryContext *context, GantryElementType element, guint rank, const GantryDim *dims)
{
  return gantry_context_tensor_in (context, element, rank, dims, GANTRY_MEMORY_DEVICE);
}

guint32
gantry_context_scalar (GantryContext *context, GantryElementType element)
{
  return gantry_context_tensor (context, element, 0, NULL);
}

guint32
gantry_context_tuple (GantryContext *context, guint n, const guint32 *types)
{
  g_autofree gint64 *members = g_new (gint64, n + 1);

  for (guint i = 0; i < n; i++)
    members[i] = types[i];
  return intern_type (context, GANTRY_TYPE_TUPLE, GANTRY_ELEMENT_NONE, n, members, GANTRY_MEMORY_DEVICE);
}

guint32
gantry_context_token (GantryContext *context)
{
  return intern_type (context, GANTRY_TYPE_TOKEN, GANTRY_ELEMENT_NONE, 0, NULL, GANTRY_MEMORY_DEVICE);
}

const GantryType *
gantry_context_type (GantryContext *context, guint32 id)
{
  return id != 0 ? gantry_interner_get (context->types, id, NULL) : &unknown_type;
}

guint32
gantry_context_type_id (GantryContext *context, const GantryType *type)
{
  if (type->kind == GANTRY_TYPE_UNKNOWN)
    return 0;
  return gantry_interner_add (context->types, type, sizeof (GantryType) + type->rank * sizeof (GantryDim));
}

guint32
gantry_context_tuple_member (GantryContext *context, guint32 tuple, guint index)
{
  const GantryType *type = gantry_context_type (context, tuple);

  return type->kind == GANTRY_TYPE_TUPLE && index < type->rank ? (guint32) type->dims[index] : 0;
}

static void
append_dim (GantryContext *context, GString *text, GantryDim dim)
{
  if (GANTRY_DIM_IS_STATIC (dim))
    g_string_append_printf (text, "%" G_GINT64_FORMAT, dim);
  else if (dim == GANTRY_DIM_UNKNOWN)
    g_string_append_c (text, '?');
  else
    g_string_append (text, gantry_context_string (context, GANTRY_DIM_SYMBOL_ID (dim)));
}

char *
gantry_context_type_text (GantryContext *context, guint32 id)
{
  const GantryType *type = gantry_context_type (context, id);
  GString *text;

  if (type->kind == GANTRY_TYPE_UNKNOWN)
    return g_strdup ("?");
  if (type->kind == GANTRY_TYPE_TOKEN)
    return g_strdup ("token");
  text = g_string_new (NULL);
  if (type->kind == GANTRY_TYPE_TUPLE)
    {
      for (guint i = 0; i < type->rank; i++)
        {
          g_autofree char *member = gantry_context_type_text (context, (guint32) type->dims[i]);

          g_string_append_printf (text, "%s%s", i == 0 ? "(" : ", ", member);
        }
      g_string_append (text, type->rank == 0 ? "()" : ")");
      return g_string_free (text, FALSE);
    }
  g_string_append (text, gantry_element_name (type->element));
  g_string_append_c (text, '[');
  for (guint i = 0; i < type->rank; i++)
    {
      if (i > 0)
        g_string_append_c (text, ',');
      append_dim (context, text, type->dims[i]);
    }
  g_string_append_c (text, ']');
  if (type->memory != GANTRY_MEMORY_DEVICE)
    g_string_append_printf (text, "@%s", gantry_memory_kind_name (type->memory));
  return g_string_free (text, FALSE);
}

/* Attributes */

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer user_data)
{
  GantryContext *context = user_data;

  return strcmp (gantry_context_string (context, ((const GantryAttr *) a)->key), gantry_context_string (context, ((const GantryAttr *) b)->key));
}

static gsize
list_bytes (const GantryAttr *attr)
{
  switch (attr->kind)
    {
    case GANTRY_ATTR_INTS: return attr->n * sizeof (gint64);
    case GANTRY_ATTR_FLOATS: return attr->n * sizeof (double);
    case GANTRY_ATTR_STRINGS: return attr->n * sizeof (guint32);
    default: return 0;
    }
}

static gboolean
is_list (const GantryAttr *attr)
{
  return attr->kind == GANTRY_ATTR_INTS || attr->kind == GANTRY_ATTR_FLOATS || attr->kind == GANTRY_ATTR_STRINGS;
}

/* The key of an attribute dictionary: the items with list pointers cut out, followed by the lists' bytes. */
static GByteArray *
attrs_key (const GantryAttr *items, guint n)
{
  GByteArray *key = g_byte_array_new ();

  for (guint i = 0; i < n; i++)
    {
      GantryAttr item = items[i];

      if (is_list (&item))
        item.i = 0;
      g_byte_array_append (key, (const guint8 *) &item, sizeof item);
      if (list_bytes (&items[i]) > 0)
        g_byte_array_append (key, (const guint8 *) items[i].ints, list_bytes (&items[i]));
    }
  return key;
}

guint32
_gantry_context_intern_attrs (GantryContext *context, GantryAttr *items, guint n)
{
  g_autoptr (GByteArray) key = NULL;
  guint32 id;

  g_qsort_with_data (items, (gint) n, sizeof *items, compare_keys, context);
  key = attrs_key (items, n);
  g_mutex_lock (&context->lock);
  id = gantry_interner_find (context->attr_keys, key->data, key->len);
  if (id == 0)
    {
      GantryAttrs *attrs = gantry_arena_alloc (context->arena, sizeof (GantryAttrs) + n * sizeof (GantryAttr));

      attrs->n = n;
      for (guint i = 0; i < n; i++)
        {
          attrs->items[i] = items[i];
          if (is_list (&items[i]))
            attrs->items[i].ints = gantry_arena_copy (context->arena, items[i].ints, list_bytes (&items[i]));
        }
      id = gantry_interner_add (context->attr_keys, key->data, key->len);
      table_set (context->attrs, id, attrs);
    }
  g_mutex_unlock (&context->lock);
  return id;
}

const GantryAttrs *
gantry_context_attrs (GantryContext *context, guint32 id)
{
  return id != 0 ? table_get (context->attrs, id) : &no_attrs;
}

/* Literals */

guint32
gantry_context_add_literal (GantryContext *context, GantryLiteral *literal)
{
  struct
  {
    gconstpointer address;
    guint64 size;
    guint32 type;
    guint32 splat;
  } head = { 0 };
  g_autoptr (GByteArray) key = g_byte_array_new ();
  guint32 id;

  head.size = literal->size;
  head.type = gantry_context_type_id (context, literal->type);
  head.splat = literal->splat;
  if (literal->size > SMALL_LITERAL)
    head.address = literal->data;
  g_byte_array_append (key, (const guint8 *) &head, sizeof head);
  if (literal->size > 0 && literal->size <= SMALL_LITERAL)
    g_byte_array_append (key, literal->data, literal->size);
  g_mutex_lock (&context->lock);
  id = gantry_interner_find (context->literal_keys, key->data, key->len);
  if (id == 0)
    {
      id = gantry_interner_add (context->literal_keys, key->data, key->len);
      context->n_literals = id;
      table_set (context->literals, id, gantry_literal_ref (literal));
    }
  g_mutex_unlock (&context->lock);
  return id;
}

guint32
gantry_context_n_literals (GantryContext *context)
{
  guint32 n;

  g_mutex_lock (&context->lock);
  n = context->n_literals;
  g_mutex_unlock (&context->lock);
  return n;
}

GantryLiteral *
gantry_context_literal (GantryContext *context, guint32 id)
{
  return id != 0 ? table_get (context->literals, id) : NULL;
}

/* Scopes */

guint32
gantry_context_scope (GantryContext *context, const char *path)
{
  return gantry_context_intern (context, path);
}

const char *
gantry_context_scope_path (GantryContext *context, guint32 id)
{
  return gantry_context_string (context, id);
}

GantryInterner *
_gantry_context_locations (GantryContext *context)
{
  return context->locations;
}

/* Operations, counters, dialects */

guint16
gantry_context_foreign_op (GantryContext *context, const char *name)
{
  guint32 id = gantry_interner_add_string (context->foreign_ops, name);

  /* A model with more kinds of operations than this is hostile; the last code then stands for all the rest. */
  return (guint16) MIN (GANTRY_OP_FOREIGN + id - 1, G_MAXUINT16);
}

const char *
gantry_context_op_name (GantryContext *context, guint16 op)
{
  if (op >= GANTRY_OP_FOREIGN)
    return gantry_interner_string (context->foreign_ops, op - GANTRY_OP_FOREIGN + 1);
  return gantry_op_info (op) != NULL ? gantry_op_info (op)->name : "?";
}

guint32
gantry_context_next_node_id (GantryContext *context)
{
  return (guint32) g_atomic_int_add ((gint *) &context->last_node_id, 1) + 1;
}

guint32
gantry_context_last_node_id (GantryContext *context)
{
  return (guint32) g_atomic_int_get ((gint *) &context->last_node_id);
}

void
gantry_context_reserve_node_ids (GantryContext *context, guint32 id)
{
  g_mutex_lock (&context->lock);
  if (context->last_node_id < id)
    g_atomic_int_set ((gint *) &context->last_node_id, (gint) id);
  g_mutex_unlock (&context->lock);
}

void
gantry_context_return_node_ids (GantryContext *context, guint32 id)
{
  g_mutex_lock (&context->lock);
  if (context->last_node_id > id)
    g_atomic_int_set ((gint *) &context->last_node_id, (gint) id);
  g_mutex_unlock (&context->lock);
}

guint32
gantry_context_next_function_id (GantryContext *context)
{
  return (guint32) g_atomic_int_add ((gint *) &context->last_function_id, 1) + 1;
}

void
gantry_context_reserve_function_ids (GantryContext *context, guint32 id)
{
  g_mutex_lock (&context->lock);
  if (context->last_function_id < id)
    g_atomic_int_set ((gint *) &context->last_function_id, (gint) id);
  g_mutex_unlock (&context->lock);
}

void
gantry_context_add_dialect (GantryContext *context, const GantryDialect *dialect)
{
  g_mutex_lock (&context->lock);
  if (!g_ptr_array_find (context->dialects, dialect, NULL))
    g_ptr_array_add (context->dialects, (gpointer) dialect);
  g_mutex_unlock (&context->lock);
}

const GantryDialect *
gantry_context_dialect_of (GantryContext *context, guint16 op)
{
  const GantryDialect *found = NULL;
  const char *name;

  if (op < GANTRY_OP_FOREIGN)
    return NULL;
  name = gantry_context_op_name (context, op);
  g_mutex_lock (&context->lock);
  for (guint i = 0; i < context->dialects->len && found == NULL; i++)
    {
      const GantryDialect *dialect = g_ptr_array_index (context->dialects, i);
      gsize length = strlen (dialect->name);

      if (strncmp (name, dialect->name, length) == 0 && name[length] == '.')
        found = dialect;
    }
  g_mutex_unlock (&context->lock);
  return found;
}
