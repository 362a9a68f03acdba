/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the file that a node names as its source, for people to look at. A model of a stranger may name any file: ordinary ones
 * alone are read, up to a size, and none outside of the model's folder before the user asks for it. */
#pragma once
#include "core/base/file.h"

G_BEGIN_DECLS

/** What is said of a file beside its text. */
typedef enum
{
  GANTRY_SOURCE_AS_OPENED, /* it is what the model was made from, as far as is known */
  GANTRY_SOURCE_CHANGED,   /* it is one of the model's files, and not what it was when the model was opened */
  GANTRY_SOURCE_NEWER,     /* the model does not know it, and it was written after the model */
} GantrySourceAge;

/**
 * GantrySourceText: a file as text. Immutable.
 *
 * @text: UTF-8 that ends in a line feed, each of its lines too; nothing else in it separates lines
 * @n_cut: lines that are too long to show, which end in "…"
 * @is_utf8: FALSE: what is none stands in @text as U+FFFD
 */
typedef struct
{
  char *path;
  char *text;
  guint n_lines;
  guint n_cut;
  gboolean is_utf8;
  GantrySourceAge age;
} GantrySourceText;

void gantry_source_text_free (GantrySourceText *text);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantrySourceText, gantry_source_text_free)

/**
 * GantrySourceRequest: which file, and what is known of it.
 *
 * @path: absolute
 * @owner: (nullable): path of the model: without @anywhere the file has to lie in its folder or below it
 * @identity: of the file when the model was opened; zero where it is none of the model's files
 * @model_modified_ns: when the model was written; 0: not known
 */
typedef struct
{
  char *path, *owner;
  gboolean anywhere;
  GantryFileIdentity identity;
  gint64 model_modified_ns;
} GantrySourceRequest;

/**
 * gantry_source_text_read:
 *
 * Returns: (transfer full) (nullable): %NULL with %GANTRY_ERROR_OUTSIDE where the user would have to ask for it, %GANTRY_ERROR_TOO_LARGE,
 *  %GANTRY_ERROR_INVALID for what is no text, or %G_FILE_ERROR as gantry_file_map()
 */
GantrySourceText *gantry_source_text_read (const GantrySourceRequest *request, GError **error);
/** The same on a worker thread. @request is copied. */
void gantry_source_text_read_async (const GantrySourceRequest *request, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: (transfer full) (nullable): as gantry_source_text_read(), or NULL with %G_IO_ERROR_CANCELLED */
GantrySourceText *gantry_source_text_read_finish (GAsyncResult *result, GError **error);

G_END_DECLS
