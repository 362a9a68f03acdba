/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text form that docs/text-form.md describes into a module. Written by hand; the grammar nests
 * in tuple types alone, which keep a stack of their own. What a module means is not looked at: that is
 * the verifier's work. */
#include "core/base/error.h"
#include "core/graph/builder.h"
#include "core/graph/text-private.h"
#include <string.h>

/* The tables that find a node by its id are as long as the largest id: a short text must not ask for long ones. */
#define FREE_IDS (1u << 24)
#define IDS_PER_BYTE 16

typedef struct
{
  GantryTextReader reader;
  GantryContext *context;
  GantryBuilder *builder;
  guint32 file;         /* string id */
  GantryLocation start; /* of the node being read */
  guint64 max_id;
  GArray *ids;     /* guint32, used again for each list */
  GArray *parents; /* GantryTextParent: locations that led to others, by number */
  GantryTextLists lists;
} Parser;

/* TRUE when the builder holds no error; else the parser takes it over, with its place. */
static gboolean
builder_agrees (Parser *p)
{
  g_autoptr (GError) error = NULL;

  if (gantry_builder_check (p->builder, &error))
    return TRUE;
  return _gantry_text_fail (&p->reader, error->code, "%s", error->message);
}

/* "(%1, _, %2)" into p->ids */
static gboolean
read_ids (Parser *p, const char *what)
{
  GantryTextReader *r = &p->reader;
  guint32 id;

  g_array_set_size (p->ids, 0);
  if (!_gantry_text_expect (r, '(', what))
    return FALSE;
  if (_gantry_text_accept (r, ')'))
    return TRUE;
  do
    {
      id = 0;
      if (!_gantry_text_accept (r, '_') && !_gantry_text_id (&p->reader, '%', GANTRY_TEXT_MAX_ID, "a value, %id or _", &id))
        return FALSE;
      g_array_append_val (p->ids, id);
    }
  while (_gantry_text_accept (r, ','));
  return _gantry_text_expect (r, ')', "',' or ')' after a value");
}

static guint32 *
copy_ids (Parser *p)
{
  return g_memdup2 (p->ids->data, p->ids->len * sizeof (guint32));
}

/* Nodes */

/* Where the reader is: the location of a node that says none. */
static void
remember_place (Parser *p)
{
  _gantry_text_skip (&p->reader);
  p->start = (GantryLocation){ .file = p->file, .line = p->reader.line, .column = (guint32) (p->reader.at - p->reader.line_begin) + 1 };
}

/* (backward) */
static gboolean
read_phase (GantryTextReader *r, GantryNode *node)
{
  if (!_gantry_text_expect (r, '(', "'(' after phase"))
    return FALSE;
  for (guint phase = 0; phase < GANTRY_N_PHASES; phase++)
    if (_gantry_text_accept_word (r, gantry_phase_name (phase)))
      {
        node->phase = phase;
        return _gantry_text_expect (r, ')', "')' after a phase");
      }
  return _gantry_text_fail (r, GANTRY_ERROR_INVALID, "a phase is forward, backward or update");
}

/* scope(...) phase(...) loc(...) from(...), in any order; origins are left in p->ids. */
static gboolean
read_place (Parser *p, GantryNode *node)
{
  GantryTextReader *r = &p->reader;
  gboolean located = FALSE;

  g_array_set_size (p->ids, 0);
  for (;;)
    if (_gantry_text_accept_word (r, "scope"))
      {
        if (!_gantry_text_expect (r, '(', "'(' after scope") || !_gantry_text_interned (r, &node->scope) || !_gantry_text_expect (r, ')', "')' after a scope"))
          return FALSE;
      }
    else if (_gantry_text_accept_word (r, "phase"))
      {
        if (!read_phase (r, node))
          return FALSE;
      }
    else if (_gantry_text_accept_word (r, "loc"))
      {
        GantryTextParent read;

        if (!_gantry_text_location (r, p->parents, &read))
          return FALSE;
        located = TRUE;
        node->location = read.id;
      }
    else if (_gantry_text_accept_word (r, "from"))
      {
        if (!read_ids (p, "'(' after from"))
          return FALSE;
      }
    else
      break;
  if (!located)
    node->location = gantry_context_location (p->context, &p->start);
  if (p->ids->len > G_MAXUINT16)
    return _gantry_text_fail (r, GANTRY_ERROR_TOO_LARGE, "a node has at most %d origins", G_MAXUINT16);
  node->n_origins = (guint16) p->ids->len;
  return TRUE;
}

/* %12 "name" */
static gboolean
read_node_id (Parser *p, GantryNode *node)
{
  remember_place (p);
  if (!_gantry_text_id (&p->reader, '%', p->max_id, "a value, %id", &node->id))
    return FALSE;
  if (node->id == 0)
    return _gantry_text_fail (&p->reader, GANTRY_ERROR_INVALID, "ids begin with %%1");
  return _gantry_text_peek (&p->reader) != '"' || _gantry_text_interned (&p->reader, &node->name);
}

static gboolean
read_operation (Parser *p, guint16 *op)
{
  GantryTextReader *r = &p->reader;
  g_autoptr (GString) name = NULL;
  const char *word;
  gsize length;

  if (_gantry_text_peek (r) == '"')
    {
      name = g_string_new (NULL);
      if (!_gantry_text_string (r, name))
        return FALSE;
      *op = gantry_context_foreign_op (p->context, name->str);
      return name->len > 0 || _gantry_text_fail (r, GANTRY_ERROR_INVALID, "an operation has to have a name");
    }
  length = _gantry_text_word (r, &word);
  *op = length > 0 ? gantry_op_from_name (word, (gssize) length) : GANTRY_OP_NONE;
  if (*op != GANTRY_OP_NONE && *op != GANTRY_OP_PARAMETER)
    return TRUE;
  r->at = word;
  return _gantry_text_expected (r, *op == GANTRY_OP_PARAMETER ? "an operation: parameters stand in the head of their function"
                                                              : "a core operation, or the name of another one in quotes");
}

static gboolean
read_parameter (Parser *p)
{
  GantryNode node = { .op = GANTRY_OP_PARAMETER };

  if (!read_node_id (p, &node) || !_gantry_text_expect (&p->reader, ':', "':' and the type of the parameter") || !_gantry_text_type (&p->reader, &node.type)
      || !_gantry_text_attributes (&p->reader, &p->lists, &node.attrs) || !read_place (p, &node))
    return FALSE;
  gantry_builder_add_node (p->builder, &node, NULL, (const guint32 *) (gpointer) p->ids->data);
  return builder_agrees (p);
}

static gboolean
read_node (Parser *p)
{
  GantryNode node = { 0 };
  g_autofree guint32 *operands = NULL;

  if (!read_node_id (p, &node) || !_gantry_text_expect (&p->reader, '=', "'=' and an operation") || !read_operation (p, &node.op)
      || !read_ids (p, "'(' and the operands"))
    return FALSE;
  operands = copy_ids (p);
  node.n_operands = p->ids->len;
  if (!_gantry_text_attributes (&p->reader, &p->lists, &node.attrs) || !_gantry_text_expect (&p->reader, ':', "':' and the type of the value")
      || !_gantry_text_type (&p->reader, &node.type) || !read_place (p, &node))
    return FALSE;
  gantry_builder_add_node (p->builder, &node, operands, (const guint32 *) (gpointer) p->ids->data);
  return builder_agrees (p);
}

/* Functions */

static gboolean
read_parameters (Parser *p)
{
  if (!_gantry_text_expect (&p->reader, '(', "'(' and the parameters"))
    return FALSE;
  if (_gantry_text_accept (&p->reader, ')'))
    return TRUE;
  do
    if (!read_parameter (p))
      return FALSE;
  while (_gantry_text_accept (&p->reader, ','));
  return _gantry_text_expect (&p->reader, ')', "',' or ')' after a parameter");
}

/* After "func". */
static gboolean
read_function (Parser *p)
{
  GantryTextReader *r = &p->reader;
  g_autofree guint32 *results = NULL;
  guint n_results;
  guint32 name, id;

  if (!_gantry_text_expect (r, '@', "'@' and the name of the function") || !_gantry_text_name (&p->reader, "the name of the function", &name)
      || !_gantry_text_id (&p->reader, '#', GANTRY_TEXT_MAX_ID, "'#' and the id of the function", &id))
    return FALSE;
  if (id == 0)
    return _gantry_text_fail (r, GANTRY_ERROR_INVALID, "ids of functions begin with #1");
  gantry_builder_begin (p->builder, gantry_context_string (p->context, name), id);
  if (!read_parameters (p) || !_gantry_text_expect (r, '-', "'->' and the results") || !_gantry_text_expect (r, '>', "'->' and the results")
      || !read_ids (p, "'(' and the results"))
    return FALSE;
  results = copy_ids (p);
  n_results = p->ids->len;
  if (!_gantry_text_expect (r, '{', "'{' and the nodes of the function"))
    return FALSE;
  while (!_gantry_text_accept (r, '}'))
    if (!read_node (p))
      return FALSE;
  gantry_builder_end (p->builder, results, n_results);
  return TRUE;
}

static gboolean
read_module (Parser *p)
{
  GantryTextReader *r = &p->reader;
  guint32 name;

  if (!_gantry_text_accept_word (r, "module"))
    return _gantry_text_expected (r, "module");
  if (!_gantry_text_interned (r, &name) || !_gantry_text_expect (r, '{', "'{' and the functions of the module"))
    return FALSE;
  p->builder = gantry_builder_new (p->context, gantry_context_string (p->context, name));
  if (!_gantry_text_locations (r, p->parents))
    return FALSE;
  while (_gantry_text_accept_word (r, "func"))
    if (!read_function (p))
      return FALSE;
  return _gantry_text_expect (r, '}', "func or '}'")
         && (_gantry_text_peek (r) == '\0' && r->at == r->end ? TRUE : _gantry_text_expected (r, "the end of the text"));
}

static void
parser_init (Parser *p, GantryContext *context, const char *text, gsize length, const char *file_name)
{
  memset (p, 0, sizeof *p);
  p->context = context;
  p->reader = (GantryTextReader){ .context = context, .file_name = file_name, .begin = text, .at = text, .end = text + length, .line_begin = text, .line = 1 };
  p->reader.files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_mapped_file_unref);
  p->file = gantry_context_intern (context, file_name);
  p->max_id = MIN (FREE_IDS + (guint64) length * IDS_PER_BYTE, GANTRY_TEXT_MAX_ID);
  p->ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  p->parents = g_array_new (FALSE, FALSE, sizeof (GantryTextParent));
  _gantry_text_lists_init (&p->lists);
}

static void
parser_clear (Parser *p)
{
  g_hash_table_unref (p->reader.files);
  g_array_unref (p->ids);
  g_array_unref (p->parents);
  _gantry_text_lists_clear (&p->lists);
  gantry_builder_free (p->builder);
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
list_files (const GantryTextReader *reader, GPtrArray *files)
{
  GHashTableIter iter;
  gpointer path;

  g_hash_table_iter_init (&iter, reader->files);
  while (g_hash_table_iter_next (&iter, &path, NULL))
    g_ptr_array_add (files, g_strdup (path));
  g_ptr_array_sort (files, compare_paths);
}

GantryModule *
gantry_module_from_text_beside (GantryContext *context, const char *text, gssize length, const char *file_name, const char *path, GPtrArray *files,
                                GError **error)
{
  gsize size = length < 0 ? strlen (text) : (gsize) length;
  GantryModule *module = NULL;
  Parser p;

  file_name = file_name != NULL ? file_name : "text";
  if (size > GANTRY_TEXT_MAX_BYTES)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: a module's text may have at most 1 GiB", file_name);
      return NULL;
    }
  parser_init (&p, context, text, size, file_name);
  p.reader.beside = path;
  if (read_module (&p))
    {
      module = gantry_builder_finish (p.builder, &p.reader.error);
      if (module == NULL)
        gantry_error_prefix (&p.reader.error, "%s: ", file_name);
    }
  if (p.reader.error != NULL)
    g_propagate_error (error, p.reader.error);
  else if (files != NULL)
    list_files (&p.reader, files);
  parser_clear (&p);
  return module;
}

GantryModule *
gantry_module_from_text (GantryContext *context, const char *text, gssize length, const char *file_name, GError **error)
{
  return gantry_module_from_text_beside (context, text, length, file_name, NULL, NULL, error);
}
