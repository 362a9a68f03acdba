/* SPDX-License-Identifier: Apache-2.0 */
/* Operations in MLIR bytecode: a name, a mask of what follows, and that. Values are numbered from 0 within what is
 * isolated from above: arguments of a block first, then results in order; those of a region follow those around it. */
#include "core/frontends/xla/mlir-bytecode-private.h"

enum
{
  HAS_ATTRIBUTES = 1,
  HAS_RESULTS = 2,
  HAS_OPERANDS = 4,
  HAS_SUCCESSORS = 8,
  HAS_REGIONS = 16,
  HAS_USE_ORDERS = 32,
  HAS_PROPERTIES = 64,
};

/* Versions from which on. */
#define VERSION_SECTIONS 2 /* a region isolated from above is a section */
#define VERSION_USE_ORDERS 3
#define VERSION_ARGUMENT_PLACES 4

#define MOST_VALUES (1u << 30)

/* What stands before the regions of an operation. */
typedef struct
{
  const guint8 *at;
  const MlirOpName *name;
  guint64 location, attributes, properties; /* the latter two from 1 on, 0 for none */
  GArray *results;                          /* guint64 types */
  GArray *operands;                         /* guint64 values */
  guint64 n_regions;
  gboolean isolated;
} Raw;

/* The numbers of values, from @next to before @end, in a region. */
typedef struct
{
  guint64 next, end;
} Numbers;

static void
raw_init (Raw *raw)
{
  *raw = (Raw){ .results = g_array_new (FALSE, FALSE, sizeof (guint64)), .operands = g_array_new (FALSE, FALSE, sizeof (guint64)) };
}

static void
raw_clear (Raw *raw)
{
  g_array_unref (raw->results);
  g_array_unref (raw->operands);
}

static void
read_list (Mlir *m, MlirCursor *c, GArray *list)
{
  guint64 n = gantry_mlir_count (m, c);

  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      guint64 value = gantry_mlir_varint (m, c);

      g_array_append_val (list, value);
    }
}

/* In which order uses are listed does not matter here. */
static void
skip_use_orders (Mlir *m, MlirCursor *c, guint64 n_values)
{
  guint64 n = n_values != 1 ? gantry_mlir_count (m, c) : 1;

  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      guint64 count;

      if (n_values != 1)
        gantry_mlir_varint (m, c);
      count = gantry_mlir_varint (m, c) >> 1;
      for (guint64 j = 0; j < count && m->s.error == NULL; j++)
        gantry_mlir_varint (m, c);
    }
}

static void
read_raw (Mlir *m, MlirCursor *c, Raw *raw)
{
  MlirBytecode *b = m->bytecode;
  guint64 name;
  guint mask;

  g_array_set_size (raw->results, 0);
  g_array_set_size (raw->operands, 0);
  raw->at = c->at;
  name = gantry_mlir_varint (m, c);
  mask = gantry_mlir_byte (m, c);
  raw->location = gantry_mlir_varint (m, c);
  raw->attributes = (mask & HAS_ATTRIBUTES) != 0 ? gantry_mlir_varint (m, c) + 1 : 0;
  raw->properties = (mask & HAS_PROPERTIES) != 0 ? gantry_mlir_varint (m, c) + 1 : 0;
  if ((mask & HAS_RESULTS) != 0)
    read_list (m, c, raw->results);
  if ((mask & HAS_OPERANDS) != 0)
    read_list (m, c, raw->operands);
  if ((mask & HAS_SUCCESSORS) != 0)
    gantry_mlir_bytecode_fail (m, raw->at, GANTRY_ERROR_UNSUPPORTED, "a region of several blocks (dialect cf) is not read");
  if ((mask & HAS_USE_ORDERS) != 0)
    skip_use_orders (m, c, raw->results->len);
  raw->n_regions = (mask & HAS_REGIONS) != 0 ? gantry_mlir_varint (m, c) : 0;
  raw->isolated = (raw->n_regions & 1) != 0;
  raw->n_regions >>= 1;
  if (m->s.error == NULL && name >= b->op_names->len)
    gantry_mlir_bytecode_fail (m, raw->at, GANTRY_ERROR_INVALID, "operation name %" G_GUINT64_FORMAT " is not there", name);
  if (m->s.error == NULL)
    raw->name = &g_array_index (b->op_names, MlirOpName, name);
  if (raw->properties > b->properties->len)
    gantry_mlir_bytecode_fail (m, raw->at, GANTRY_ERROR_INVALID, "properties %" G_GUINT64_FORMAT " are not there", raw->properties - 1);
  m->s.at = (const char *) raw->at; /* of what is wrong with its attributes */
}

/* "stablehlo.add" */
static char *
operation_name (Mlir *m, const Raw *raw)
{
  const char *dialect = g_ptr_array_index (m->bytecode->dialects, raw->name->dialect);
  g_autofree char *name = g_strndup ((const char *) raw->name->name.data, raw->name->name.length);
  g_autofree char *valid = g_utf8_make_valid (name, -1);

  return strcmp (dialect, "vhlo") == 0 ? gantry_vhlo_operation (valid) : g_strdup_printf ("%s.%s", dialect, valid);
}

/* Properties are the numbers of attributes in the order of their names. What is not known is numbered. */
static void
read_properties (Mlir *m, const Raw *raw, void (*take) (Mlir *m, const char *key, guint64 index, gpointer user_data), gpointer user_data)
{
  GantryWireSpan span = g_array_index (m->bytecode->properties, GantryWireSpan, raw->properties - 1);
  MlirCursor c = gantry_mlir_cursor (span);
  g_autofree char *name = g_strndup ((const char *) raw->name->name.data, raw->name->name.length);
  const char *known = strcmp (g_ptr_array_index (m->bytecode->dialects, raw->name->dialect), "vhlo") == 0 ? gantry_vhlo_attributes (name) : NULL;
  g_auto (GStrv) keys = g_strsplit (known != NULL ? known : "", " ", -1);
  guint n_keys = g_strv_length (keys);

  for (guint i = 0; c.at < c.end && m->s.error == NULL; i++)
    {
      g_autofree char *number = g_strdup_printf ("attribute_%u", i);

      take (m, i < n_keys ? keys[i] : number, gantry_mlir_varint (m, &c), user_data);
    }
}

/* Operations */

static void read_block (Mlir *m, MlirCursor *c, MlirFrame *frame, Numbers *numbers, const MlirFunction *function);

static void
set_property (Mlir *m, const char *key, guint64 index, gpointer user_data)
{
  MlirOp *op = user_data;

  gantry_mlir_bytecode_set (m, op->attrs, key, index, strcmp (key, "value") == 0 ? &op->literal : NULL);
}

/* How many blocks and values there are, where there are any. */
static guint64
region_head (Mlir *m, MlirCursor *c, guint64 before, Numbers *numbers)
{
  guint64 n_blocks = gantry_mlir_varint (m, c), n_values = n_blocks > 0 ? gantry_mlir_varint (m, c) : 0;

  if (n_values > MOST_VALUES || before > MOST_VALUES)
    gantry_mlir_bytecode_fail (m, c->at, GANTRY_ERROR_TOO_LARGE, "a region has more than a billion values");
  *numbers = (Numbers){ before, before + n_values };
  return m->s.error == NULL ? n_blocks : 0;
}

static void
read_region (Mlir *m, MlirCursor *c, MlirFrame *parent, MlirOp *op, const Numbers *around)
{
  guint32 function = gantry_builder_begin (m->b, op->name, 0);
  MlirFrame *frame = gantry_mlir_frame_new (parent, function);
  const guint8 *at = c->at;
  Numbers numbers;
  guint64 n_blocks = region_head (m, c, around->end, &numbers);

  g_ptr_array_add (op->frames, frame);
  g_array_append_val (op->regions, function);
  gantry_builder_set_place (m->b, 0, gantry_mlir_here (m, 0, 0));
  if (n_blocks > 1)
    gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_UNSUPPORTED, "a region of several blocks (dialect cf) is not read");
  else if (n_blocks == 1)
    read_block (m, c, frame, &numbers, NULL);
  gantry_builder_end (m->b, frame->results, m->s.error == NULL ? frame->n_results : 0);
}

/* Regions that are isolated are a section together; they see nothing of outside. */
static void
read_regions (Mlir *m, MlirCursor *c, MlirFrame *frame, MlirOp *op, const Raw *raw, const Numbers *numbers)
{
  const Numbers none = { 0, 0 };
  MlirCursor inside;

  if (raw->isolated && m->bytecode->version >= VERSION_SECTIONS)
    {
      GantryWireSpan span;

      gantry_mlir_section (m, c, &span);
      inside = gantry_mlir_cursor (span);
      c = &inside;
    }
  for (guint64 i = 0; i < raw->n_regions && m->s.error == NULL; i++)
    read_region (m, c, raw->isolated ? NULL : frame, op, raw->isolated ? &none : numbers);
}

static void
take_operands (Mlir *m, MlirFrame *frame, const Raw *raw, MlirOp *op)
{
  for (guint i = 0; i < raw->operands->len && m->s.error == NULL; i++)
    {
      guint64 value = g_array_index (raw->operands, guint64, i);
      gboolean known = FALSE;
      guint32 id = value < G_MAXUINT32 ? gantry_mlir_look_up (m, frame, (guint32) value + 1, 0, &known) : 0;

      if (!known)
        gantry_mlir_bytecode_fail (m, raw->at, GANTRY_ERROR_INVALID, "value %" G_GUINT64_FORMAT " is not defined before", value);
      g_array_append_val (op->operands, id);
    }
}

static guint64
next_number (Mlir *m, const guint8 *at, Numbers *numbers)
{
  if (numbers->next < numbers->end)
    return numbers->next++;
  gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "a region has more values than it says");
  return 0;
}

static void
define (Mlir *m, MlirFrame *frame, const guint8 *at, Numbers *numbers, guint32 id)
{
  gantry_mlir_define (m, frame, (guint32) next_number (m, at, numbers) + 1, &id, 1);
}

/* Results are numbered before what is in the regions of their operation. */
static void
read_operation (Mlir *m, MlirCursor *c, MlirFrame *frame, Numbers *numbers)
{
  Raw raw;
  MlirOp op;
  Numbers results = *numbers;
  g_autofree guint32 *ids = NULL;

  raw_init (&raw);
  gantry_mlir_op_init (m, &op);
  read_raw (m, c, &raw);
  if (m->s.error == NULL)
    op.name = operation_name (m, &raw);
  if (m->s.error == NULL)
    {
      op.n_results = raw.results->len;
      ids = g_new0 (guint32, op.n_results + 1);
      take_operands (m, frame, &raw, &op);
      for (guint i = 0; i < op.n_results && m->s.error == NULL; i++)
        {
          guint32 type = gantry_mlir_bytecode_type (m, raw.at, g_array_index (raw.results, guint64, i));

          g_array_append_val (op.types, type);
        }
      if (raw.properties != 0)
        read_properties (m, &raw, set_property, &op);
      if (raw.attributes != 0)
        gantry_mlir_bytecode_dictionary (m, op.attrs, raw.attributes - 1, &op.literal);
      op.place = gantry_mlir_bytecode_place (m, raw.at, raw.location);
      gantry_vhlo_finish (m, &op);
    }
  for (guint i = 0; i < op.n_results && m->s.error == NULL; i++)
    next_number (m, raw.at, numbers);
  if (m->s.error == NULL)
    read_regions (m, c, frame, &op, &raw, numbers);
  if (m->s.error == NULL && !gantry_mlir_finish (m, frame, &op, ids))
    for (guint i = 0; i < op.n_results && m->s.error == NULL; i++)
      define (m, frame, raw.at, &results, ids[i]);
  gantry_mlir_op_clear (&op);
  raw_clear (&raw);
}

/* Blocks */

static guint32
attributes_of (Mlir *m, const GArray *dictionaries, guint i)
{
  g_autoptr (GantryAttrList) list = gantry_attr_list_new (m->context);

  if (i < dictionaries->len)
    gantry_mlir_bytecode_dictionary (m, list, g_array_index (dictionaries, guint64, i), NULL);
  return gantry_attr_list_end (g_steal_pointer (&list));
}

static void
read_arguments (Mlir *m, MlirCursor *c, MlirFrame *frame, Numbers *numbers, const MlirFunction *function)
{
  g_autoptr (GArray) dictionaries = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint64 n = gantry_mlir_count (m, c);

  if (function != NULL && function->arguments != 0)
    gantry_mlir_bytecode_elements (m, function->arguments - 1, dictionaries);
  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      const guint8 *at = c->at;
      guint64 type = gantry_mlir_varint (m, c), number = next_number (m, at, numbers);
      MlirPlace place = { 0 };
      g_autofree char *name = g_strdup_printf ("arg%" G_GUINT64_FORMAT, i);
      gboolean placed = m->bytecode->version < VERSION_ARGUMENT_PLACES || (type & 1) != 0;
      guint32 made;

      type = m->bytecode->version >= VERSION_ARGUMENT_PLACES ? type >> 1 : type;
      made = gantry_mlir_bytecode_type (m, at, type);
      if (placed)
        place = gantry_mlir_bytecode_place (m, at, gantry_mlir_varint (m, c));
      if (m->s.error != NULL)
        return;
      if (function != NULL)
        gantry_mlir_add_argument (m, frame, (guint32) number + 1, name, made, attributes_of (m, dictionaries, (guint) i), &place, gantry_mlir_here (m, 0, 0));
      else
        {
          guint32 id;

          gantry_builder_set_place (m->b, place.scope, place.location != 0 ? place.location : gantry_mlir_here (m, 0, 0));
          id = gantry_builder_parameter (m->b, made, name);
          gantry_mlir_define (m, frame, (guint32) number + 1, &id, 1);
        }
    }
  if (m->bytecode->version >= VERSION_USE_ORDERS && gantry_mlir_byte (m, c) != 0)
    skip_use_orders (m, c, n);
}

/* @function: (nullable): whose body it is */
static void
read_block (Mlir *m, MlirCursor *c, MlirFrame *frame, Numbers *numbers, const MlirFunction *function)
{
  guint64 head = gantry_mlir_varint (m, c);

  if (!gantry_xla_scan_enter (&m->s))
    return;
  if ((head & 1) != 0)
    read_arguments (m, c, frame, numbers, function);
  for (guint64 i = 0; i < head >> 1 && m->s.error == NULL; i++)
    read_operation (m, c, frame, numbers);
  m->s.depth--;
}

void
gantry_mlir_bytecode_body (Mlir *m, MlirFrame *frame, const MlirFunction *function, GArray *results)
{
  MlirCursor c = gantry_mlir_cursor (function->region);
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) dictionaries = g_array_new (FALSE, FALSE, sizeof (guint64));
  Numbers numbers;

  m->module = function->module;
  m->s.at = (const char *) function->region.data;
  if (region_head (m, &c, 0, &numbers) != 1)
    {
      gantry_mlir_bytecode_fail (m, function->region.data, GANTRY_ERROR_UNSUPPORTED, "a region of several blocks (dialect cf) is not read");
      return;
    }
  if (function->results != 0)
    gantry_mlir_bytecode_elements (m, function->results - 1, dictionaries);
  if (function->types != 0)
    gantry_mlir_bytecode_results (m, function->region.data, function->types - 1, types);
  for (guint i = 0; i < types->len; i++)
    {
      MlirResult result = { g_array_index (types, guint32, i), attributes_of (m, dictionaries, i) };

      g_array_append_val (results, result);
    }
  read_block (m, &c, frame, &numbers, function);
}

/* The index */

/* What is written about a function: numbers of attributes, from 1 on. */
typedef struct
{
  guint64 name, visibility, type, arguments, results;
} About;

static void
take_about (Mlir *m, const char *key, guint64 index, gpointer user_data)
{
  About *about = user_data;
  const struct
  {
    const char *key;
    guint64 *value;
  } keys[] = { { "sym_name", &about->name },
               { "sym_visibility", &about->visibility },
               { "function_type", &about->type },
               { "arg_attrs", &about->arguments },
               { "res_attrs", &about->results } };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (strcmp (key, keys[i].key) == 0)
      *keys[i].value = index + 1;
}

static void
index_function (Mlir *m, const Raw *raw, GantryWireSpan region)
{
  MlirFunction function = { .module = m->module, .region = region };
  About about = { 0 };
  g_autofree char *name = NULL, *visibility = NULL, *key = NULL;

  if (raw->properties != 0)
    read_properties (m, raw, take_about, &about);
  if (raw->attributes != 0)
    gantry_mlir_bytecode_each (m, raw->attributes - 1, take_about, &about);
  if (about.name == 0)
    gantry_mlir_bytecode_fail (m, raw->at, GANTRY_ERROR_INVALID, "a function has no name");
  if (m->s.error != NULL)
    return;
  name = gantry_mlir_bytecode_text (m, about.name - 1);
  visibility = about.visibility != 0 ? gantry_mlir_bytecode_text (m, about.visibility - 1) : g_strdup ("");
  key = g_strdup_printf ("%u:%s", m->module, name);
  function.public = strcmp (visibility, "private") != 0;
  function.has_body = region.length > 1;
  function.has_arguments = TRUE;
  function.types = about.type != 0 ? gantry_mlir_bytecode_type_of (m, about.type - 1) : 0;
  function.arguments = (guint32) about.arguments;
  function.results = (guint32) about.results;
  function.name = gantry_context_intern (m->context, name);
  function.function = gantry_context_next_function_id (m->context);
  g_array_append_val (m->functions, function);
  g_hash_table_insert (m->by_name, GUINT_TO_POINTER (gantry_context_intern (m->context, key)), GUINT_TO_POINTER (m->functions->len));
  g_ptr_array_add (m->info->functions, g_strdup (name));
  g_array_append_val (m->info->function_modules, function.module);
}

static void index_block (Mlir *m, MlirCursor *c);

static void
index_region (Mlir *m, MlirCursor *c)
{
  Numbers numbers;
  guint64 n_blocks = region_head (m, c, 0, &numbers);

  for (guint64 i = 0; i < n_blocks && m->s.error == NULL; i++)
    index_block (m, c);
}

static void skip_regions (Mlir *m, MlirCursor *c, const Raw *raw, GantryWireSpan *span);

static void
skip_block (Mlir *m, MlirCursor *c)
{
  guint64 head = gantry_mlir_varint (m, c), n = (head & 1) != 0 ? gantry_mlir_count (m, c) : 0;
  GantryWireSpan span;
  Raw raw;

  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      guint64 type = gantry_mlir_varint (m, c);

      if (m->bytecode->version < VERSION_ARGUMENT_PLACES || (type & 1) != 0)
        gantry_mlir_varint (m, c);
    }
  if ((head & 1) != 0 && m->bytecode->version >= VERSION_USE_ORDERS && gantry_mlir_byte (m, c) != 0)
    skip_use_orders (m, c, n);
  raw_init (&raw);
  for (guint64 i = 0; i < head >> 1 && m->s.error == NULL; i++)
    {
      read_raw (m, c, &raw);
      skip_regions (m, c, &raw, &span);
    }
  raw_clear (&raw);
}

/* Goes behind the regions of an operation. @span: their bytes */
static void
skip_regions (Mlir *m, MlirCursor *c, const Raw *raw, GantryWireSpan *span)
{
  *span = (GantryWireSpan){ c->at, 0 };
  if (raw->n_regions == 0 || m->s.error != NULL)
    return;
  if (raw->isolated && m->bytecode->version >= VERSION_SECTIONS)
    {
      gantry_mlir_section (m, c, span);
      return;
    }
  if (!gantry_xla_scan_enter (&m->s))
    return;
  for (guint64 i = 0; i < raw->n_regions && m->s.error == NULL; i++)
    {
      Numbers numbers;
      guint64 n_blocks = region_head (m, c, 0, &numbers);

      for (guint64 block = 0; block < n_blocks && m->s.error == NULL; block++)
        skip_block (m, c);
    }
  m->s.depth--;
  span->length = (gsize) (c->at - span->data);
}

/* A module's operations; a function's region is left for later. */
static void
index_operation (Mlir *m, MlirCursor *c)
{
  Raw raw;
  g_autofree char *name = NULL;
  GantryWireSpan span;

  raw_init (&raw);
  read_raw (m, c, &raw);
  name = m->s.error == NULL ? operation_name (m, &raw) : NULL;
  skip_regions (m, c, &raw, &span);
  if (m->s.error == NULL && strcmp (name, "func.func") == 0 && raw.n_regions == 1)
    index_function (m, &raw, span);
  else if (m->s.error == NULL && strcmp (name, "builtin.module") == 0 && raw.n_regions == 1)
    {
      MlirCursor inside = gantry_mlir_cursor (span);

      index_region (m, &inside);
    }
  raw_clear (&raw);
}

static void
index_block (Mlir *m, MlirCursor *c)
{
  guint64 head = gantry_mlir_varint (m, c);

  if (!gantry_xla_scan_enter (&m->s))
    return;
  if ((head & 1) != 0)
    gantry_mlir_bytecode_fail (m, c->at, GANTRY_ERROR_INVALID, "a module has no arguments");
  for (guint64 i = 0; i < head >> 1 && m->s.error == NULL; i++)
    index_operation (m, c);
  m->s.depth--;
}

void
gantry_mlir_bytecode_index (Mlir *m, GantryWireSpan operations)
{
  MlirCursor c = gantry_mlir_cursor (operations);

  index_block (m, &c);
  m->info->n_modules = 1;
}
