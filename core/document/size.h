/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as people write them, the same on the command line and in the window. */
#pragma once
#include "core/document/document.h"

G_BEGIN_DECLS

/** A size in bytes, or a part of the peak that keeping everything has. */
typedef struct
{
  guint64 bytes;
  double part; /* 0: @bytes counts */
} GantrySize;

/**
 * gantry_size_parse:
 * @text: 8GiB, 512M, 8GB, 1000 as gantry_bytes_parse() reads it, or 30%
 *
 * Returns: FALSE: %GANTRY_ERROR_INVALID, of 0 and 0% too: nothing fits into that
 */
gboolean gantry_size_parse (const char *text, GantrySize *size, GError **error);
/** In bytes, rounded down. @document: with a program that can be planned, where @size is a part. */
gboolean gantry_size_resolve (GantryDocument *document, const GantrySize *size, guint64 *bytes, GError **error);

/**
 * gantry_size_note:
 * @text: as of gantry_size_parse()
 *
 * A part of a peak that is not known whole yet is a part of what is known, and who asked for it should know.
 *
 * Returns: (transfer full) (nullable): "50% is of at least 12.8 MiB, ...": where @text is a part, and what kernels need is not counted
 */
char *gantry_size_note (GantryDocument *document, const char *text);
/** A limit as an entry shows it, rounded down; "" for 0: none. Returns: (transfer full) */
char *gantry_size_text (guint64 bytes);
/** The limit of @target as it was given: "50%", or as gantry_size_text(). Returns: (transfer full) */
char *gantry_size_limit_text (const GantryTarget *target);
/**
 * gantry_size_read:
 * @text: what the entry says now; empty: 0
 * @shown: the limit whose gantry_size_text() it began with
 *
 * The bytes that an entry means: a text that was not touched means the exact number that it stands for, and not the rounded one
 * that it shows.
 *
 * Returns: FALSE with @error as gantry_size_parse() and gantry_size_resolve()
 */
gboolean gantry_size_read (GantryDocument *document, const char *text, guint64 shown, guint64 *bytes, GError **error);

G_END_DECLS
