/* SPDX-License-Identifier: Apache-2.0 */
/* Binary forms give the graph that their texts give. The pairs of tests/fixtures/xla were written by JAX (make-pairs.py
 * there); GANTRY_XLA_PAIRS names another folder of such pairs, NAME.hlo and NAME.hlo.pb. */
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include <string.h>

typedef struct
{
  char *folder, *text, *binary; /* names of files */
} Pair;

static GantryModule *
read_file (GantryContext *context, const char *folder, const char *name, GantryXlaInfo **info)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;
  GantryModule *module;

  g_assert_true (gantry_xla_reads (path));
  module = gantry_xla_import (context, path, NULL, info, NULL, &error);
  g_assert_no_error (error);
  gantry_verify (module, NULL, &error);
  if (error != NULL)
    g_error ("%s: %s", name, error->message);
  return module;
}

/* The text of a module but for its first line, which names its file, and numbers of functions, which are in the
 * order of the file. */
static char *
graph_of (const GantryModule *module)
{
  g_autofree char *text = gantry_module_to_text (module, &(GantryTextOptions){ .locations = FALSE });
  const char *line = strchr (text, '\n');
  g_autoptr (GRegex) numbers = g_regex_new (" #[0-9]+", 0, 0, NULL);

  g_assert_nonnull (line);
  return g_regex_replace (numbers, line, -1, 0, "", 0, NULL);
}

/* Where the text says no place of the program, its nodes stand in the text. */
static void
same_places (const GantryModule *text, const char *name, const GantryModule *binary)
{
  g_assert_cmpuint (text->n_nodes, ==, binary->n_nodes);
  for (guint32 i = 0; i < text->n_nodes; i++)
    {
      g_autofree char *expected = gantry_context_location_text (text->context, text->nodes[i].location);
      g_autofree char *found = gantry_context_location_text (binary->context, binary->nodes[i].location);

      g_assert_cmpuint (binary->nodes[i].location, !=, 0);
      if (strstr (expected, name) == NULL)
        g_assert_cmpstr (found, ==, expected);
    }
}

static void
same_lines (const char *text, const char *binary)
{
  g_auto (GStrv) expected = g_strsplit (text, "\n", -1), found = g_strsplit (binary, "\n", -1);

  for (guint i = 0; expected[i] != NULL && found[i] != NULL; i++)
    g_assert_cmpstr (found[i], ==, expected[i]);
  g_assert_cmpuint (g_strv_length (found), ==, g_strv_length (expected));
}

/* What the pretty form alone has, or writes in another way. */
static gboolean
is_pretty (const GantryNode *node, const char *key)
{
  static const char *const names[] = { "channel_handle", "output_operand_aliases", "operand_layouts", "result_layouts", "sdy.sharding_rule" };

  if (strcmp (key, "value") == 0 && node->op >= GANTRY_OP_FOREIGN)
    return TRUE; /* of an element type that there are no values of */
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (key, names[i]) == 0)
      return TRUE;
  return FALSE;
}

/* Bytecode says what a text leaves out because it is usual: what the text says has to be there. Both are in one
 * context. */
static void
same_attributes (const GantryModule *text, const GantryNode *node, guint32 found)
{
  const GantryAttrs *attrs = gantry_context_attrs (text->context, node->attrs);

  for (guint i = 0; i < attrs->n; i++)
    {
      const GantryAttr *item = &attrs->items[i];
      const char *key = gantry_context_string (text->context, item->key);
      const GantryAttr *other = gantry_attrs_find (text->context, found, key);

      if (is_pretty (node, key))
        continue;
      if (other == NULL)
        g_error ("%s: attribute %s is missing", gantry_node_op_name (text, node), key);
      g_assert_cmpint (other->kind, ==, item->kind);
      if (item->kind == GANTRY_ATTR_INTS)
        {
          g_assert_cmpmem (other->ints, other->n * sizeof (gint64), item->ints, item->n * sizeof (gint64));
        }
      else if (item->kind == GANTRY_ATTR_INT)
        g_assert_cmpint (other->i, ==, item->i);
      else if (item->kind == GANTRY_ATTR_FLOAT)
        g_assert_cmpfloat (other->f, ==, item->f);
      else if (item->kind == GANTRY_ATTR_STRING)
        g_assert_cmpstr (gantry_context_string (text->context, other->id), ==, gantry_context_string (text->context, item->id));
      else if (item->kind == GANTRY_ATTR_LITERAL)
        g_assert_true (gantry_literal_equal (gantry_context_literal (text->context, other->id), gantry_context_literal (text->context, item->id)));
      else if (item->kind == GANTRY_ATTR_TYPE)
        g_assert_cmpuint (other->id, ==, item->id);
    }
}

/* What only bytecode says would make the same program another one. */
static void
no_others (const GantryModule *text, const GantryNode *node, guint32 found)
{
  static const char *const names[] = { "channel_id", "channel_type" };
  const GantryAttrs *attrs = gantry_context_attrs (text->context, found);

  for (guint i = 0; i < attrs->n; i++)
    {
      const char *key = gantry_context_string (text->context, attrs->items[i].key);
      gboolean known = is_pretty (node, key) || gantry_attrs_find (text->context, node->attrs, key) != NULL;

      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        known = known || strcmp (names[k], key) == 0;
      if (!known)
        g_error ("%s: attribute %s is only in bytecode", gantry_node_op_name (text, node), key);
    }
}

/* Of an operand, from the first node on. */
static guint32
number_of (const GantryModule *module, const GantryNode *node, guint operand)
{
  return module->operands[node->operands + operand] - module->nodes[0].id;
}

static void
same_nodes (const GantryModule *text, const GantryModule *binary)
{
  g_assert_cmpuint (binary->n_nodes, ==, text->n_nodes);
  g_assert_cmpuint (binary->n_functions, ==, text->n_functions);
  for (guint32 i = 0; i < text->n_nodes; i++)
    {
      const GantryNode *a = &text->nodes[i], *b = &binary->nodes[i];

      g_assert_cmpstr (gantry_node_op_name (binary, b), ==, gantry_node_op_name (text, a));
      if (a->type != 0) /* of a complex constant a text has none */
        g_assert_cmpuint (b->type, ==, a->type);
      g_assert_cmpuint (b->n_operands, ==, a->n_operands);
      for (guint o = 0; o < a->n_operands; o++)
        g_assert_cmpuint (number_of (binary, b, o), ==, number_of (text, a, o));
      same_attributes (text, a, b->attrs);
      no_others (text, a, b->attrs);
    }
}

static void
test_pair (gconstpointer data)
{
  const Pair *pair = data;
  g_autoptr (GantryContext) context = gantry_context_new (), other = gantry_context_new ();
  gboolean bytecode = g_str_has_suffix (pair->binary, ".mlirbc");
  g_autoptr (GantryXlaInfo) text_info = NULL, binary_info = NULL;
  g_autoptr (GantryModule) text = read_file (context, pair->folder, pair->text, &text_info);
  g_autoptr (GantryModule) binary = read_file (bytecode ? context : other, pair->folder, pair->binary, &binary_info);
  g_autofree char *expected = graph_of (text), *found = graph_of (binary);

  if (bytecode)
    same_nodes (text, binary);
  else
    same_lines (expected, found);
  same_places (text, pair->text, binary);
  if (!bytecode) /* a text may name a reducer without writing it */
    g_assert_cmpuint (binary_info->n_operations, ==, text_info->n_operations);
}

/* Wherever a file is cut off, and whatever byte is another, it is a module or one error that names the file. */
static void
read_spoilt (const char *name, guint8 *data, gsize length)
{
  g_autofree guint8 *exact = g_memdup2 (data, MAX (length, 1));
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_xla_import_text (context, (const char *) exact, length, name, NULL, NULL, NULL, &error);

  g_assert_true ((module == NULL) == (error != NULL));
  if (error != NULL)
    g_assert_true (g_str_has_prefix (error->message, name));
}

static void
test_spoilt (gconstpointer data)
{
  const Pair *pair = data;
  g_autofree char *path = g_build_filename (pair->folder, pair->binary, NULL), *bytes = NULL;
  gsize length, step;

  g_assert_true (g_file_get_contents (path, &bytes, &length, NULL));
  step = MAX (length / 400, 1);
  for (gsize i = 0; i < length; i += step)
    {
      read_spoilt (pair->binary, (guint8 *) bytes, i);
      bytes[i] ^= 0x15;
      read_spoilt (pair->binary, (guint8 *) bytes, length);
      bytes[i] ^= 0x15;
    }
}

/* An error names the byte, and says what is there. */
static void
test_errors (void)
{
  static const struct
  {
    const char *data;
    gsize length;
    const char *message;
  } cases[] = {
    { "ML\xefR\x0f", 5, "x.mlirbc: byte 4: bytecode of version 7 is not read" },
    { "ML\xefR\x0dX", 6, "x.mlirbc: byte 5: what is written here ends too early" },
    { "ML\xefR\x0d\x00\x01\x09", 8, "x.mlirbc: byte 6: a section of 4 bytes has 0" },
    { "ML\xefR\x0d\x00", 6, "x.mlirbc: byte 6: a section is missing" },
    { "", 0, "x.hlo.pb: byte 0: no HLO module is here" },
    { "\x0a\x03xyz", 5, "x.hlo.pb: byte 4: a number does not end in its message" },
    { "\x0a\x01m\x12\x01"
      "e\x1a\x7f",
      8, "x.hlo.pb: byte 6: a field is longer than its message" },
    { "\x0a\x01m\x12\x01"
      "e",
      6, "x.hlo.pb: byte 0: no computation is in it" },
    /* a computation "e" with an instruction of no operation; of one whose operand is not there */
    { "\x0a\x01m\x12\x01"
      "e\x1a\x05\x0a\x01"
      "e\x12\x00",
      13, "x.hlo.pb: byte 13: an instruction has no operation" },
    { "\x0a\x01m\x12\x01"
      "e\x1a\x0f\x0a\x01"
      "e\x12\x0a\x12\x03neg\xa2\x02\x02\x07\x00",
      23, "x.hlo.pb: byte 13: operand 0 of instruction '' is 7, which is not defined before" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autofree char *copy = g_memdup2 (cases[i].data, cases[i].length + 1);

      g_assert_null (gantry_xla_import_text (context, copy, cases[i].length, cases[i].data[0] == 'M' ? "x.mlirbc" : "x.hlo.pb", NULL, NULL, NULL, &error));
      g_test_message ("%s", error->message);
      g_assert_true (g_str_has_prefix (error->message, cases[i].message));
    }
}

/* What jax.export serializes holds the same bytecode. */
static void
test_export (gconstpointer folder)
{
  g_autoptr (GantryContext) context = gantry_context_new (), other = gantry_context_new ();
  g_autoptr (GantryModule) alone = read_file (context, folder, "mlp.mlirbc", NULL);
  g_autoptr (GantryModule) inside = read_file (other, folder, "mlp.jax_export", NULL);
  g_autofree char *expected = graph_of (alone), *found = graph_of (inside);

  same_lines (expected, found);
}

/* Names of the program stand at the arguments, files and lines at all that has them, and donation at its argument. */
static void
test_bytecode_places (gconstpointer folder)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GantryModule) module = read_file (context, folder, "mlp.mlirbc", &info);
  const GantryFunction *entry = gantry_module_entry (module);
  guint n = 0;

  g_assert_cmpstr (info->format, ==, "StableHLO bytecode");
  g_assert_true (g_str_has_prefix (info->producer, "StableHLO_v1."));
  g_assert_cmpstr (gantry_context_string (context, module->nodes[entry->first_node].name), ==, "x");
  for (guint i = 0; i < entry->n_nodes; i++)
    {
      g_autofree char *place = gantry_context_location_text (context, module->nodes[entry->first_node + i].location);

      n += g_str_has_prefix (place, "program.py:9:");
    }
  g_assert_cmpuint (n, >=, 10);
}

static void
free_pair (gpointer data)
{
  Pair *pair = data;

  g_free (pair->folder);
  g_free (pair->text);
  g_free (pair->binary);
  g_free (pair);
}

static Pair *
new_pair (const char *folder, const char *name)
{
  Pair *pair = g_new0 (Pair, 1);

  pair->folder = g_strdup (folder);
  pair->binary = g_strdup (name);
  pair->text = g_strndup (name, strlen (name) - strlen (g_str_has_suffix (name, ".pb") ? ".pb" : "bc"));
  return pair;
}

static void
add_pairs (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".hlo.pb") || g_str_has_suffix (name, ".mlirbc"))
      {
        g_autofree char *path = g_strdup_printf ("/xla/binary/%s", name), *spoilt = g_strdup_printf ("/xla/spoilt/%s", name);

        g_test_add_data_func_full (path, new_pair (folder, name), test_pair, free_pair);
        g_test_add_data_func_full (spoilt, new_pair (folder, name), test_spoilt, free_pair);
      }
}

int
main (int argc, char **argv)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT"), *more = g_getenv ("GANTRY_XLA_PAIRS");
  g_autofree char *fixtures = g_build_filename (root != NULL ? root : ".", "tests", "fixtures", "xla", NULL);

  g_test_init (&argc, &argv, NULL);
  add_pairs (more != NULL ? more : fixtures);
  g_test_add_func ("/xla/binary-errors", test_errors);
  if (more == NULL)
    {
      g_test_add_data_func ("/xla/export", fixtures, test_export);
      g_test_add_data_func ("/xla/bytecode-places", fixtures, test_bytecode_places);
    }
  return g_test_run ();
}
