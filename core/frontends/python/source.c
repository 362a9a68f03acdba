/* SPDX-License-Identifier: Apache-2.0 */
/* Files parsed by `ast` and copied into C. */
#include "core/frontends/python/source.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include <glib/gstdio.h>
#include <string.h>

static void
node_free (gpointer data)
{
  GantryPyNode *node = data;

  Py_XDECREF (node->name);
  Py_XDECREF (node->value);
  g_free (node->list);
  g_free (node->list2);
  g_free (node->list3);
  g_free (node->list4);
  g_free (node->ops);
  g_free (node);
}

void
gantry_py_source_free (GantryPySource *source)
{
  if (source == NULL)
    return;
  gantry_py_source_free (source->older);
  g_free (source->file);
  g_strfreev (source->lines);
  g_ptr_array_unref (source->nodes);
  g_ptr_array_unref (source->functions);
  g_free (source);
}

static GantryPyNode *copy (GantryPySource *source, PyObject *tree);

static GantryPyNode *
child (GantryPySource *source, PyObject *tree, const char *field)
{
  PyObject *value = PyObject_GetAttrString (tree, field);
  GantryPyNode *node = NULL;

  if (value == NULL)
    PyErr_Clear ();
  else if (value != Py_None)
    node = copy (source, value);
  Py_XDECREF (value);
  return node;
}

static GantryPyNode **
children (GantryPySource *source, PyObject *tree, const char *field, guint32 *n)
{
  PyObject *values = PyObject_GetAttrString (tree, field);
  GantryPyNode **nodes;

  *n = 0;
  if (values == NULL || !PyList_Check (values))
    {
      PyErr_Clear ();
      Py_XDECREF (values);
      return NULL;
    }
  nodes = g_new0 (GantryPyNode *, PyList_GET_SIZE (values) + 1);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (values); i++)
    nodes[(*n)++] = PyList_GET_ITEM (values, i) != Py_None ? copy (source, PyList_GET_ITEM (values, i)) : NULL;
  Py_DECREF (values);
  return nodes;
}

static guint32
position (PyObject *tree, const char *field)
{
  PyObject *value = PyObject_GetAttrString (tree, field);
  guint32 number = 0;

  if (value != NULL && PyLong_Check (value))
    number = (guint32) PyLong_AsLong (value);
  PyErr_Clear ();
  Py_XDECREF (value);
  return number;
}

static const struct
{
  const char *name;
  const char *text;
} operators[GANTRY_PY_N_OPERATORS] = {
  [GANTRY_PY_ADD] = { "Add", "+" },
  [GANTRY_PY_SUB] = { "Sub", "-" },
  [GANTRY_PY_MULT] = { "Mult", "*" },
  [GANTRY_PY_DIV] = { "Div", "/" },
  [GANTRY_PY_MOD] = { "Mod", "%" },
  [GANTRY_PY_POW] = { "Pow", "**" },
  [GANTRY_PY_FLOOR_DIV] = { "FloorDiv", "//" },
  [GANTRY_PY_MAT_MULT] = { "MatMult", "@" },
  [GANTRY_PY_LSHIFT] = { "LShift", "<<" },
  [GANTRY_PY_RSHIFT] = { "RShift", ">>" },
  [GANTRY_PY_BIT_OR] = { "BitOr", "|" },
  [GANTRY_PY_BIT_XOR] = { "BitXor", "^" },
  [GANTRY_PY_BIT_AND] = { "BitAnd", "&" },
  [GANTRY_PY_UADD] = { "UAdd", "+" },
  [GANTRY_PY_USUB] = { "USub", "-" },
  [GANTRY_PY_INVERT] = { "Invert", "~" },
  [GANTRY_PY_NOT] = { "Not", "not" },
  [GANTRY_PY_AND] = { "And", "and" },
  [GANTRY_PY_OR] = { "Or", "or" },
  [GANTRY_PY_EQ] = { "Eq", "==" },
  [GANTRY_PY_NOT_EQ] = { "NotEq", "!=" },
  [GANTRY_PY_LT] = { "Lt", "<" },
  [GANTRY_PY_LT_E] = { "LtE", "<=" },
  [GANTRY_PY_GT] = { "Gt", ">" },
  [GANTRY_PY_GT_E] = { "GtE", ">=" },
  [GANTRY_PY_IS] = { "Is", "is" },
  [GANTRY_PY_IS_NOT] = { "IsNot", "is not" },
  [GANTRY_PY_IN] = { "In", "in" },
  [GANTRY_PY_NOT_IN] = { "NotIn", "not in" },
};

/* "ast.Add" without its module. */
static const char *
class_of (PyObject *tree)
{
  const char *name = Py_TYPE (tree)->tp_name, *dot = strrchr (name, '.');

  return dot != NULL ? dot + 1 : name;
}

static guint8
operator_of (PyObject *op)
{
  for (guint i = 0; i < GANTRY_PY_N_OPERATORS; i++)
    if (strcmp (operators[i].name, class_of (op)) == 0)
      return (guint8) i;
  return GANTRY_PY_N_OPERATORS;
}

static guint8
operator_field (PyObject *tree)
{
  PyObject *op = PyObject_GetAttrString (tree, "op");
  guint8 code = op != NULL ? operator_of (op) : GANTRY_PY_N_OPERATORS;

  Py_XDECREF (op);
  return code;
}

static PyObject *
identifier (PyObject *tree, const char *field)
{
  PyObject *name = PyObject_GetAttrString (tree, field);

  if (name == NULL || name == Py_None)
    {
      PyErr_Clear ();
      Py_XDECREF (name);
      return NULL;
    }
  if (PyUnicode_Check (name))
    PyUnicode_InternInPlace (&name);
  return name;
}

static void
copy_compare (GantryPySource *source, GantryPyNode *node, PyObject *tree)
{
  PyObject *ops = PyObject_GetAttrString (tree, "ops");

  node->a = child (source, tree, "left");
  node->list = children (source, tree, "comparators", &node->n_list);
  node->ops = g_new0 (guint8, node->n_list + 1);
  for (guint i = 0; ops != NULL && i < node->n_list; i++)
    node->ops[i] = operator_of (PyList_GET_ITEM (ops, i));
  Py_XDECREF (ops);
}

static void
copy_arguments (GantryPySource *source, GantryPyNode *node, PyObject *tree)
{
  guint32 n_only, n_more;
  GantryPyNode **only = children (source, tree, "posonlyargs", &n_only);
  GantryPyNode **more = children (source, tree, "args", &n_more);

  node->list = g_new0 (GantryPyNode *, n_only + n_more + 1);
  for (guint i = 0; i < n_only; i++)
    node->list[node->n_list++] = only[i];
  for (guint i = 0; i < n_more; i++)
    node->list[node->n_list++] = more[i];
  g_free (only);
  g_free (more);
  node->list2 = children (source, tree, "kwonlyargs", &node->n_list2);
  node->list3 = children (source, tree, "defaults", &node->n_list3);
  node->list4 = children (source, tree, "kw_defaults", &node->n_list4);
  node->a = child (source, tree, "vararg");
  node->b = child (source, tree, "kwarg");
}

/* How the fields of one class of `ast` go into the slots of a node. */
typedef struct
{
  const char *name;
  guint8 kind;
  const char *a, *b, *c, *list, *list2, *identifier;
  gboolean has_op;
} Shape;

static const Shape shapes[] = {
  { "Return", GANTRY_PY_RETURN, .a = "value" },
  { "Expr", GANTRY_PY_EXPR, .a = "value" },
  { "Assign", GANTRY_PY_ASSIGN, .a = "value", .list = "targets" },
  { "AugAssign", GANTRY_PY_AUG_ASSIGN, .a = "target", .b = "value", .has_op = TRUE },
  { "If", GANTRY_PY_IF, .a = "test", .list = "body", .list2 = "orelse" },
  { "While", GANTRY_PY_WHILE, .a = "test", .list = "body", .list2 = "orelse" },
  { "For", GANTRY_PY_FOR, .a = "target", .b = "iter", .list = "body", .list2 = "orelse" },
  { "FunctionDef", GANTRY_PY_FUNCTION_DEF, .a = "args", .list = "body", .list2 = "decorator_list", .identifier = "name" },
  { "ClassDef", GANTRY_PY_CLASS_DEF, .list = "body", .list2 = "decorator_list", .identifier = "name" },
  { "Pass", GANTRY_PY_PASS },
  { "Break", GANTRY_PY_BREAK },
  { "Continue", GANTRY_PY_CONTINUE },
  { "Raise", GANTRY_PY_RAISE, .a = "exc" },
  { "Assert", GANTRY_PY_ASSERT, .a = "test", .b = "msg" },
  { "With", GANTRY_PY_WITH, .list = "items", .list2 = "body" },
  { "Name", GANTRY_PY_NAME, .identifier = "id" },
  { "Attribute", GANTRY_PY_ATTRIBUTE, .a = "value", .identifier = "attr" },
  { "Subscript", GANTRY_PY_SUBSCRIPT, .a = "value", .b = "slice" },
  { "Slice", GANTRY_PY_SLICE, .a = "lower", .b = "upper", .c = "step" },
  { "Call", GANTRY_PY_CALL, .a = "func", .list = "args", .list2 = "keywords" },
  { "Starred", GANTRY_PY_STARRED, .a = "value" },
  { "BinOp", GANTRY_PY_BIN_OP, .a = "left", .b = "right", .has_op = TRUE },
  { "UnaryOp", GANTRY_PY_UNARY_OP, .a = "operand", .has_op = TRUE },
  { "BoolOp", GANTRY_PY_BOOL_OP, .list = "values", .has_op = TRUE },
  { "IfExp", GANTRY_PY_IF_EXP, .a = "test", .b = "body", .c = "orelse" },
  { "Lambda", GANTRY_PY_LAMBDA, .a = "args", .b = "body" },
  { "Tuple", GANTRY_PY_TUPLE, .list = "elts" },
  { "List", GANTRY_PY_LIST, .list = "elts" },
  { "Dict", GANTRY_PY_DICT, .list = "keys", .list2 = "values" },
  { "ListComp", GANTRY_PY_LIST_COMP, .a = "elt", .list = "generators" },
  { "GeneratorExp", GANTRY_PY_GENERATOR, .a = "elt", .list = "generators" },
  { "DictComp", GANTRY_PY_DICT_COMP, .a = "key", .b = "value", .list = "generators" },
  { "JoinedStr", GANTRY_PY_JOINED_STR, .list = "values" },
  { "FormattedValue", GANTRY_PY_FORMATTED_VALUE, .a = "value", .b = "format_spec" },
  { "comprehension", GANTRY_PY_COMPREHENSION, .a = "target", .b = "iter", .list = "ifs" },
  { "keyword", GANTRY_PY_KEYWORD, .a = "value", .identifier = "arg" },
  { "withitem", GANTRY_PY_WITH_ITEM, .a = "context_expr", .b = "optional_vars" },
  { "arg", GANTRY_PY_ARG, .identifier = "arg" },
};

static void
copy_fields (GantryPySource *source, GantryPyNode *node, PyObject *tree, const Shape *shape)
{
  node->kind = shape->kind;
  if (shape->a != NULL)
    node->a = child (source, tree, shape->a);
  if (shape->b != NULL)
    node->b = child (source, tree, shape->b);
  if (shape->c != NULL)
    node->c = child (source, tree, shape->c);
  if (shape->list != NULL)
    node->list = children (source, tree, shape->list, &node->n_list);
  if (shape->list2 != NULL)
    node->list2 = children (source, tree, shape->list2, &node->n_list2);
  if (shape->identifier != NULL)
    node->name = identifier (tree, shape->identifier);
  if (shape->has_op)
    node->op = operator_field (tree);
  if (shape->kind == GANTRY_PY_FORMATTED_VALUE)
    node->op = (guint8) position (tree, "conversion");
  if (shape->kind == GANTRY_PY_FUNCTION_DEF || shape->kind == GANTRY_PY_LAMBDA)
    g_ptr_array_add (source->functions, node);
}

/* What this front end has no name for; what lies inside may still define functions. */
static void
copy_unknown (GantryPySource *source, GantryPyNode *node, PyObject *tree, const char *name)
{
  static const char *const statements[] = { "AsyncFunctionDef", "Delete", "AnnAssign",  "AsyncFor", "AsyncWith", "Match", "Try",
                                            "TryStar",          "Import", "ImportFrom", "Nonlocal", NULL };

  node->kind = g_strv_contains (statements, name) ? GANTRY_PY_UNSUPPORTED_STATEMENT : GANTRY_PY_UNSUPPORTED_EXPRESSION;
  node->name = PyUnicode_InternFromString (name);
  node->list = children (source, tree, "body", &node->n_list);
  node->list2 = children (source, tree, "orelse", &node->n_list2);
  if (node->list == NULL)
    node->a = child (source, tree, "value");
}

static GantryPyNode *
copy (GantryPySource *source, PyObject *tree)
{
  GantryPyNode *node = g_new0 (GantryPyNode, 1);
  const char *name = class_of (tree);

  g_ptr_array_add (source->nodes, node);
  node->source = source;
  node->line = position (tree, "lineno");
  node->column = position (tree, "col_offset");
  node->end_line = position (tree, "end_lineno");
  node->end_column = position (tree, "end_col_offset");
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    if (strcmp (shapes[i].name, name) == 0)
      {
        copy_fields (source, node, tree, &shapes[i]);
        return node;
      }
  if (strcmp (name, "Constant") == 0)
    {
      node->kind = GANTRY_PY_CONSTANT;
      node->value = PyObject_GetAttrString (tree, "value");
    }
  else if (strcmp (name, "Compare") == 0)
    {
      node->kind = GANTRY_PY_COMPARE;
      copy_compare (source, node, tree);
    }
  else if (strcmp (name, "arguments") == 0)
    {
      node->kind = GANTRY_PY_ARGUMENTS;
      copy_arguments (source, node, tree);
    }
  else if (strcmp (name, "Global") == 0)
    {
      node->kind = GANTRY_PY_GLOBAL;
      node->value = PyObject_GetAttrString (tree, "names");
    }
  else
    copy_unknown (source, node, tree, name);
  return node;
}

static PyObject *
parse (const char *text, const char *file)
{
  PyCompilerFlags flags = { .cf_flags = PyCF_ONLY_AST, .cf_feature_version = PY_MINOR_VERSION };

  return Py_CompileStringExFlags (text, file, Py_file_input, &flags, -1);
}

/* Of what is on disk: another one where the file was written since. */
static GantryPyVersion
version_of (const char *file)
{
  GStatBuf at;

  return g_stat (file, &at) != 0 ? (GantryPyVersion){ 0 }
                                 : (GantryPyVersion){ .inode = at.st_ino, .size = at.st_size, .seconds = at.st_mtim.tv_sec, .nanoseconds = at.st_mtim.tv_nsec };
}

static gboolean
same_version (const GantryPyVersion *a, const GantryPyVersion *b)
{
  return a->inode == b->inode && a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

static GantryPySource *
read_source (const char *file)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GMappedFile) mapped = NULL;
  g_autofree char *text = NULL;
  GantryPyVersion version = version_of (file);
  GantryPySource *source;
  PyObject *tree;
  guint32 n;

  mapped = gantry_file_map_text (file, &error);
  if (mapped == NULL)
    {
      if (g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE))
        PyErr_SetString (PyExc_OSError, error->message);
      else
        PyErr_SetString (PyExc_OSError, "could not get source code");
      return NULL;
    }
  if (g_mapped_file_get_length (mapped) > 0)
    text = g_strndup (g_mapped_file_get_contents (mapped), g_mapped_file_get_length (mapped));
  else
    text = g_strdup ("");
  tree = parse (text, file);
  if (tree == NULL)
    return NULL;
  source = g_new0 (GantryPySource, 1);
  source->file = g_strdup (file);
  source->version = version;
  source->lines = g_strsplit (text, "\n", -1);
  source->n_lines = g_strv_length (source->lines);
  source->nodes = g_ptr_array_new_with_free_func (node_free);
  source->functions = g_ptr_array_new ();
  g_free (children (source, tree, "body", &n));
  Py_DECREF (tree);
  return source;
}

GantryPySource *
gantry_py_source_of (GHashTable *sources, const char *file)
{
  GantryPySource *known = g_hash_table_lookup (sources, file), *source;
  GantryPyVersion now = version_of (file);
  char *key = NULL;

  /* One that is gone stays what it was. */
  if (known != NULL && (now.inode == 0 || same_version (&known->version, &now)))
    return known;
  source = read_source (file);
  if (source == NULL)
    return NULL;
  source->older = known; /* graphs still refer to it */
  g_hash_table_steal_extended (sources, file, (gpointer *) &key, NULL);
  g_hash_table_insert (sources, key != NULL ? key : g_strdup (file), source);
  return source;
}

/* The first line that CPython counts to a function: its first decorator's, where it has one. */
static guint32
first_line (const GantryPyNode *node)
{
  return node->n_list2 > 0 && node->kind == GANTRY_PY_FUNCTION_DEF ? node->list2[0]->line : node->line;
}

/* Of two lambdas that the code may begin in, the inner one. */
static gboolean
is_within (const GantryPyNode *node, const GantryPyNode *other)
{
  return node->b->line > other->b->line || (node->b->line == other->b->line && node->b->column > other->b->column);
}

/* Where the first instruction of a lambda stands: two may share a line. */
static gboolean
code_begins_in (PyCodeObject *code, const GantryPyNode *node)
{
  PyObject *positions = PyObject_CallMethod ((PyObject *) code, "co_positions", NULL);
  PyObject *all = positions != NULL ? PySequence_List (positions) : NULL;
  gboolean inside = FALSE;

  for (Py_ssize_t i = 0; all != NULL && !inside && i < PyList_GET_SIZE (all); i++)
    {
      PyObject *line = PyTuple_GET_ITEM (PyList_GET_ITEM (all, i), 0);
      PyObject *column = PyTuple_GET_ITEM (PyList_GET_ITEM (all, i), 2);
      PyObject *end = PyTuple_GET_ITEM (PyList_GET_ITEM (all, i), 3);

      if (!PyLong_Check (line) || !PyLong_Check (column) || !PyLong_Check (end) || PyLong_AsLong (end) <= PyLong_AsLong (column))
        continue;
      inside = PyLong_AsLong (line) == node->b->line && PyLong_AsLong (column) >= node->b->column
               && (node->b->end_line != node->b->line || PyLong_AsLong (end) <= node->b->end_column);
      break;
    }
  PyErr_Clear ();
  Py_XDECREF (positions);
  Py_XDECREF (all);
  return inside;
}

GantryPyNode *
gantry_py_source_function (GHashTable *sources, PyObject *function)
{
  PyCodeObject *code = (PyCodeObject *) PyFunction_GetCode (function);
  const char *file = PyUnicode_AsUTF8 (code->co_filename), *name = PyUnicode_AsUTF8 (code->co_name);
  GantryPySource *source = gantry_py_source_of (sources, file);
  GantryPyNode *found = NULL;
  gboolean sure = FALSE, begins;

  if (source == NULL)
    return NULL;
  for (guint i = 0; i < source->functions->len; i++)
    {
      GantryPyNode *node = g_ptr_array_index (source->functions, i);

      if (node->kind == GANTRY_PY_LAMBDA)
        {
          if (strcmp (name, "<lambda>") != 0 || node->line > (guint32) code->co_firstlineno || node->end_line < (guint32) code->co_firstlineno)
            continue;
          begins = code_begins_in (code, node);
          if (found == NULL || (begins && (!sure || is_within (node, found))))
            {
              found = node;
              sure = begins;
            }
        }
      else if (first_line (node) == (guint32) code->co_firstlineno && strcmp (PyUnicode_AsUTF8 (node->name), name) == 0)
        return node;
    }
  if (found == NULL)
    PyErr_SetString (PyExc_OSError, "could not get source code");
  return found;
}

char *
gantry_py_node_text (const GantryPyNode *node)
{
  const GantryPySource *source = node->source;
  GString *text = g_string_new (NULL);

  for (guint32 line = node->line; line >= 1 && line <= node->end_line && line <= source->n_lines; line++)
    {
      const char *words = source->lines[line - 1];
      gsize length = strlen (words), from = line == node->line ? MIN (node->column, length) : 0;
      gsize to = line == node->end_line ? MIN (node->end_column, length) : length;

      if (to > from)
        g_string_append_len (text, words + from, (gssize) (to - from));
      if (line != node->end_line)
        g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

char *
gantry_py_source_annotation (const GantryPyNode *node)
{
  const GantryPySource *source = node->source;
  const char *found = NULL;

  for (guint32 line = node->line > 1 ? node->line - 1 : 1; line <= node->end_line && line <= source->n_lines; line++)
    {
      const char *words = source->lines[line - 1], *mark = strstr (words, "# @jit.typing:");

      /* Of the line above only what stands there by itself. */
      if (mark != NULL && (line >= node->line || strspn (words, " \t") == (gsize) (mark - words)))
        found = mark + strlen ("# @jit.typing:");
    }
  return found != NULL ? g_strstrip (g_strdup (found)) : NULL;
}
