/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for tensors: aligned as every device wants it, and large blocks from the system itself, so that giving one back really
 * shrinks the process. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/** What addresses of tensors are multiples of, in bytes: a line of the cache, the widest vector. */
#define GANTRY_TENSOR_ALIGNMENT 64u

/**
 * gantry_pages_new:
 * @size: bytes
 *
 * Aborts, as g_malloc() does, where the system has none left.
 *
 * Returns: (transfer full): @size zeros at a multiple of %GANTRY_TENSOR_ALIGNMENT, not %NULL for none either; pages of a large block
 *  that are never touched take no memory. Free with gantry_pages_free().
 */
gpointer gantry_pages_new (gsize size);
/** As gantry_pages_new(), but %NULL where the system has no pages left. */
gpointer gantry_pages_new_or_null (gsize size);

/**
 * gantry_pages_new_in_file:
 *
 * As gantry_pages_new(), but the pages are those of a file without a name in the folder for temporary files: what is written to them
 * can leave the process's memory (gantry_pages_drop()) and comes again when it is read.
 *
 * Returns: (transfer full) (nullable): %NULL where there is no room for the file. Free with gantry_pages_free().
 */
gpointer gantry_pages_new_in_file (gsize size);
/** @memory: (nullable): of one of the three */
void gantry_pages_free (gpointer memory);

/**
 * gantry_pages_drop:
 *
 * Gives the whole pages that lie within @size bytes at @memory back to the system. Of memory of the process what they held is
 * lost, and they read as zeros; of a file that is mapped (and, if privately, was not written to) they are read from it again.
 */
void gantry_pages_drop (gconstpointer memory, gsize size);

/**
 * gantry_pages_set_apart:
 * @memory: of a file that is mapped
 *
 * Whoever reads beside these pages does not bring them into memory, nor the other way round: where a page of a file is missing the system maps
 * its neighbours too, but not beyond the mapping, and pages that are left out of core dumps are a mapping of their own. There is room for some
 * ten thousands of those in a process.
 */
void gantry_pages_set_apart (gconstpointer memory, gsize size);

/**
 * GantryPageFacts: what is added up over several calls of gantry_pages_count(); all zero to begin with
 * @files: bytes of pages of files
 * @unknown: of some memory the system did not say what is there: no sum of it is a measurement
 */
typedef struct
{
  gsize files;
  gboolean unknown;
} GantryPageFacts;

/**
 * gantry_pages_count:
 * @facts: (inout): what is found is added to it
 *
 * Returns: how many bytes of the pages that @size bytes at @memory lie on, the first and last page included, take memory or swap
 *  now. Of a mapped file that is what this process has looked at. Where the system does not say it, 0, and @facts->unknown is set.
 */
gsize gantry_pages_count (gconstpointer memory, gsize size, GantryPageFacts *facts);

G_END_DECLS
