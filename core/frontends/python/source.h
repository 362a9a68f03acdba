/* SPDX-License-Identifier: Apache-2.0 */
/* Source structures: what `ast` says about a file, copied into C once. The only place that knows the shapes of
 * CPython 3.11's tree is source.c. */
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  GANTRY_PY_UNSUPPORTED_STATEMENT, /* name: its class in `ast` */
  GANTRY_PY_UNSUPPORTED_EXPRESSION,
  /* statements */
  GANTRY_PY_RETURN,       /* a: value (nullable) */
  GANTRY_PY_EXPR,         /* a */
  GANTRY_PY_ASSIGN,       /* list: targets, a: value */
  GANTRY_PY_AUG_ASSIGN,   /* a: target, op, b: value */
  GANTRY_PY_IF,           /* a: test, list: body, list2: orelse */
  GANTRY_PY_WHILE,        /* likewise */
  GANTRY_PY_FOR,          /* a: target, b: iter, list: body, list2: orelse */
  GANTRY_PY_FUNCTION_DEF, /* name, a: arguments, list: body, list2: decorators */
  GANTRY_PY_CLASS_DEF,    /* name, list: body, list2: decorators: only looked into for its functions */
  GANTRY_PY_GLOBAL,       /* value: tuple of names */
  GANTRY_PY_PASS,
  GANTRY_PY_BREAK,
  GANTRY_PY_CONTINUE,
  GANTRY_PY_RAISE,  /* a: exception (nullable) */
  GANTRY_PY_ASSERT, /* a: test, b: message (nullable) */
  GANTRY_PY_WITH,   /* list: items (WITH_ITEM), list2: body */
  /* expressions */
  GANTRY_PY_CONSTANT,        /* value */
  GANTRY_PY_NAME,            /* name */
  GANTRY_PY_ATTRIBUTE,       /* a, name */
  GANTRY_PY_SUBSCRIPT,       /* a, b: index */
  GANTRY_PY_SLICE,           /* a, b, c (each nullable) */
  GANTRY_PY_CALL,            /* a: function, list: arguments, list2: KEYWORD */
  GANTRY_PY_STARRED,         /* a */
  GANTRY_PY_BIN_OP,          /* a, op, b */
  GANTRY_PY_UNARY_OP,        /* op, a */
  GANTRY_PY_BOOL_OP,         /* op: GANTRY_PY_AND or OR, list */
  GANTRY_PY_COMPARE,         /* a, list: comparators, ops: of each */
  GANTRY_PY_IF_EXP,          /* a: test, b, c */
  GANTRY_PY_LAMBDA,          /* a: arguments, b: body */
  GANTRY_PY_TUPLE,           /* list */
  GANTRY_PY_LIST,            /* list */
  GANTRY_PY_DICT,            /* list: keys (NULL: **), list2: values */
  GANTRY_PY_LIST_COMP,       /* a: element, list: COMPREHENSION */
  GANTRY_PY_GENERATOR,       /* likewise */
  GANTRY_PY_DICT_COMP,       /* a: key, b: value, list */
  GANTRY_PY_JOINED_STR,      /* list */
  GANTRY_PY_FORMATTED_VALUE, /* a: value, op: conversion, b: format (nullable) */
  /* parts */
  GANTRY_PY_COMPREHENSION, /* a: target, b: iter, list: ifs */
  GANTRY_PY_KEYWORD,       /* name (NULL: **), a */
  GANTRY_PY_WITH_ITEM,     /* a: context, b: variable (nullable) */
  GANTRY_PY_ARGUMENTS,     /* list: ARG (positional), list2: ARG (keyword only), list3: defaults, list4: keyword defaults (NULL: none);
                        * a: *vararg (nullable), b: **kwarg (nullable) */
  GANTRY_PY_ARG,           /* name */
} GantryPyKind;

typedef enum
{
  GANTRY_PY_ADD,
  GANTRY_PY_SUB,
  GANTRY_PY_MULT,
  GANTRY_PY_DIV,
  GANTRY_PY_MOD,
  GANTRY_PY_POW,
  GANTRY_PY_FLOOR_DIV,
  GANTRY_PY_MAT_MULT,
  GANTRY_PY_LSHIFT,
  GANTRY_PY_RSHIFT,
  GANTRY_PY_BIT_OR,
  GANTRY_PY_BIT_XOR,
  GANTRY_PY_BIT_AND,
  GANTRY_PY_UADD,
  GANTRY_PY_USUB,
  GANTRY_PY_INVERT,
  GANTRY_PY_NOT,
  GANTRY_PY_AND,
  GANTRY_PY_OR,
  GANTRY_PY_EQ,
  GANTRY_PY_NOT_EQ,
  GANTRY_PY_LT,
  GANTRY_PY_LT_E,
  GANTRY_PY_GT,
  GANTRY_PY_GT_E,
  GANTRY_PY_IS,
  GANTRY_PY_IS_NOT,
  GANTRY_PY_IN,
  GANTRY_PY_NOT_IN,
  GANTRY_PY_N_OPERATORS
} GantryPyOperator;

typedef struct _GantryPyNode GantryPyNode;
typedef struct _GantryPySource GantryPySource;

struct _GantryPyNode
{
  guint8 kind;
  guint8 op;
  guint16 line_hint;                          /* unused */
  guint32 line, column, end_line, end_column; /* lines from 1, columns from 0 in bytes */
  PyObject *name;                             /* (nullable): interned str */
  PyObject *value;                            /* (nullable) */
  GantryPyNode *a, *b, *c;
  GantryPyNode **list, **list2, **list3, **list4;
  guint32 n_list, n_list2, n_list3, n_list4;
  guint8 *ops;
  GantryPySource *source;
};

typedef struct
{
  guint64 inode; /* 0: there is no file */
  gint64 size, seconds, nanoseconds;
} GantryPyVersion;

struct _GantryPySource
{
  char *file;
  GantryPyVersion version; /* of the file when it was read */
  GantryPySource *older;   /* (nullable) (owned): what the file was before */
  char **lines;            /* NULL-terminated, without line ends */
  guint n_lines;
  GPtrArray *nodes;     /* all, to free them */
  GPtrArray *functions; /* GantryPyNode: FUNCTION_DEF and LAMBDA, in no order */
};

/**
 * gantry_py_source_of:
 *
 * The source of a file, parsed the first time it is asked for and when the file has been written since. Returns: (transfer none) (nullable): NULL with a
 * Python exception:
 *  OSError "could not get source code", SyntaxError
 */
GantryPySource *gantry_py_source_of (GHashTable *sources, const char *file);
void gantry_py_source_free (GantryPySource *source);

/** The definition of a function object. Returns: (nullable) (transfer none): NULL with a Python exception (OSError) */
GantryPyNode *gantry_py_source_function (GHashTable *sources, PyObject *function);

/** The text between a node's positions. Returns: (transfer full) */
char *gantry_py_node_text (const GantryPyNode *node);

/**
 * gantry_py_source_annotation:
 *
 * What stands behind `# @jit.typing:` in the lines of @node or the one above. Returns: (transfer full) (nullable)
 */
char *gantry_py_source_annotation (const GantryPyNode *node);

G_END_DECLS
