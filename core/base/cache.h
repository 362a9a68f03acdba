/* SPDX-License-Identifier: Apache-2.0 */
/* The user's folder of what can be made again (g_get_user_cache_dir()/gantry): a folder for each kind, in it an entry for each thing, a
 * file or a folder. What was not used for longest goes first. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** What all entries together may take. */
#define GANTRY_CACHE_BYTES ((guint64) 1 << 30)

/** Says that the entry at @path is of use: it is the last to go from now on. */
void gantry_cache_use (const char *path);

/** The largest entry that gantry_cache_read() takes. */
#define GANTRY_CACHE_MOST_ENTRY ((gsize) 256 << 20)

/**
 * gantry_cache_read:
 * @size: (out) (optional): without the NUL that is added
 *
 * Reads, and uses, the entry at @path: an ordinary file within %GANTRY_CACHE_MOST_ENTRY. What is something else (a queue, a device, a
 * folder, a file without end) is as if it were not there.
 *
 * Returns: (transfer full) (nullable): free with g_free()
 */
char *gantry_cache_read (const char *path, gsize *size);

/** An entry of the user's cache that somebody has open: no process removes it. */
typedef struct _GantryCacheHold GantryCacheHold;
/** Holds (flock(2), shared), and uses, the entry that @path is or lies in. (transfer full) (nullable): NULL where it lies elsewhere, or
 * cannot be held: it is the last to go then. Any thread. */
GantryCacheHold *gantry_cache_hold (const char *path);
/** @hold: (nullable) */
void gantry_cache_hold_free (GantryCacheHold *hold);

/**
 * gantry_cache_trim:
 * @folder: of the folders of entries
 * @most_bytes: that the entries may take
 * @spare_seconds: entries that were used in this time stay whatever they take: somebody may be about to read them
 *
 * Removes entries, those first that were not used for longest (the newest time of change in them), until the rest fits. What somebody
 * holds (gantry_cache_hold()) stays. Links are removed and not followed.
 *
 * Returns: how many were removed
 */
guint gantry_cache_trim (const char *folder, guint64 most_bytes, gint64 spare_seconds);

/** The user's, within %GANTRY_CACHE_BYTES, but what was used in the last day; at most once an hour, for it looks at every entry. */
void gantry_cache_trim_sometimes (void);

G_END_DECLS
