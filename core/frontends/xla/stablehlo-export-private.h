/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: what the files of the StableHLO writer share. Text goes out as it is made, operation after
 * operation; a value is the name that it has there. The first error sticks, and nothing is written after it. */
#pragma once
#include "core/base/arena.h"
#include "core/base/base.h"
#include "core/graph/operation.h"
#include <gio/gio.h>

G_BEGIN_DECLS

/** A value: "%12", "%13#1"; of a tuple its members. */
typedef struct _MlirName MlirName;
struct _MlirName
{
  const char *text;
  const GantryType *type;
  MlirName **members; /* (nullable) */
};

/**
 * MlirExport:
 *
 * @out: what is not yet written to @stream
 * @node: (nullable): of the module, that is being written
 * @counter: of values
 * @indent: of the line
 * @dropped: names of operations that StableHLO has no word for and whose value is their operand's
 */
typedef struct
{
  GantryArena *arena;
  GantryContext *context;
  const GantryModule *module;
  const GantryNode *node;
  GString *out;
  GOutputStream *stream;
  GHashTable *dropped;
  guint counter, indent, depth;
  GError *error;
} MlirExport;

/* stablehlo-export.c */
void gantry_stablehlo_export_fail (MlirExport *m, const char *format, ...) G_GNUC_PRINTF (2, 3);
/** Writes the nodes of @function at the place that is reached. Returns: FALSE after an error; @results: its results */
gboolean gantry_stablehlo_export_function (MlirExport *m, const GantryFunction *function, MlirName **arguments, MlirName **results);
MlirName *gantry_stablehlo_export_node (MlirExport *m, MlirName **in, guint n);
/** The function that attribute @key names. */
const GantryFunction *gantry_stablehlo_export_body (MlirExport *m, const char *key);

/* stablehlo-export-text.c: types, values, attributes, places. */
/** "tensor<8x64xf32>" */
void gantry_stablehlo_print_type (GString *out, const GantryType *type);
void gantry_stablehlo_print_string (GString *out, const char *text);
/** "dense<...> : tensor<...>"; writes what was collected before where it is long. */
void gantry_stablehlo_print_literal (MlirExport *m, const GantryLiteral *literal);
/** " loc(...)" of the node, and the end of the line. */
void gantry_stablehlo_print_end (MlirExport *m);
/** Writes what was collected. */
void gantry_stablehlo_flush (MlirExport *m);
/** The begin of a line. */
void gantry_stablehlo_print_indent (MlirExport *m);
MlirName *gantry_stablehlo_new_name (MlirExport *m, const GantryType *type);
/** "%12:3"'s members. */
MlirName *gantry_stablehlo_new_names (MlirExport *m, const GantryType *const *types, guint n);
const GantryType *gantry_stablehlo_tensor (MlirExport *m, GantryElementType element, guint rank, const gint64 *dims);

/* Operations in the generic form: begin, attributes, regions between, end. */
/**
 * gantry_stablehlo_begin:
 * @name: "stablehlo.slice"
 * @types: of the results
 *
 * Writes "%1 = "stablehlo.slice"(%0)". Returns: what it gives: a tuple for several
 */
MlirName *gantry_stablehlo_begin (MlirExport *m, const char *name, MlirName **in, guint n, const GantryType *const *types, guint n_types);
/** " <{ ... }>": @format as of printf() */
void gantry_stablehlo_attributes (MlirExport *m, const char *format, ...) G_GNUC_PRINTF (2, 3);
/** " : (types) -> types" and the end of the line. */
void gantry_stablehlo_end (MlirExport *m, MlirName **in, guint n, const GantryType *const *types, guint n_types);
/** An operation without attributes and regions. */
MlirName *gantry_stablehlo_op (MlirExport *m, const char *name, const GantryType *type, guint n, ...);
/** A constant of one value. */
MlirName *gantry_stablehlo_splat (MlirExport *m, const GantryType *type, double value);
MlirName *gantry_stablehlo_integer (MlirExport *m, GantryElementType element, gint64 value);
MlirName *gantry_stablehlo_literal (MlirExport *m, const GantryLiteral *literal);
/** "^bb0(%1: tensor<f32>, ...):" and the values. */
void gantry_stablehlo_block (MlirExport *m, const GantryType *const *types, guint n, MlirName **arguments);
void gantry_stablehlo_return (MlirExport *m, MlirName **values, guint n);
void gantry_stablehlo_open (MlirExport *m);  /* " ({" */
void gantry_stablehlo_next (MlirExport *m);  /* "}, {" */
void gantry_stablehlo_close (MlirExport *m); /* "})" */

/* "array<i64: 1, 2>" and "[1, 2]" of a list attribute of the node; @n: how many there are at least, @fallback what is absent. */
char *gantry_stablehlo_array (MlirExport *m, const char *key, guint n, gint64 fallback);
char *gantry_stablehlo_list (MlirExport *m, const char *key);

/* The rules. */
MlirName *gantry_stablehlo_export_elementwise (MlirExport *m, MlirName **in, guint n);
MlirName *gantry_stablehlo_export_movement (MlirExport *m, MlirName **in, guint n);
MlirName *gantry_stablehlo_export_sum (MlirExport *m, MlirName **in, guint n);
MlirName *gantry_stablehlo_export_control (MlirExport *m, MlirName **in, guint n);

G_END_DECLS
