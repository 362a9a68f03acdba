/* SPDX-License-Identifier: Apache-2.0 */
/* The documented text form of a module (docs/text-form.md): printing and parsing back gives an equal
 * module. Literals above a size are written as a reference to their file, or as hexadecimal. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean elide_literals; /* big literals as "..." : for people and views; does not parse back */
  gboolean locations;      /* print locations and origins */
} GantryTextOptions;

/** Returns: (transfer full) @options NULL: everything, so that it parses back. */
char *gantry_module_to_text (const GantryModule *module, const GantryTextOptions *options);
/** One line for one node, without indentation. */
char *gantry_node_to_text (const GantryModule *module, const GantryNode *node);
/** @file_name: for messages ("file:line:column: what") and for nodes without a location of their own. */
GantryModule *gantry_module_from_text (GantryContext *context, const char *text, gssize length, const char *file_name, GError **error);
/**
 * gantry_module_from_text_beside:
 * @path: (nullable): of the text: values are read only from files in its folder (gantry_file_map_beside()); NULL: from any
 * @files: (nullable) (element-type filename): gets the paths of the files whose values it reads, in their order
 */
GantryModule *gantry_module_from_text_beside (GantryContext *context, const char *text, gssize length, const char *file_name, const char *path,
                                              GPtrArray *files, GError **error);

/** "dense<i64[2]: 1, 2>": reads back bit for bit. Returns: (transfer full) */
char *gantry_literal_to_text (GantryContext *context, const GantryLiteral *literal);

G_END_DECLS
