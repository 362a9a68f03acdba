/* SPDX-License-Identifier: Apache-2.0 */
/* What the system says of the memory of this process: read from /proc, never worked out. */
#pragma once
#include "core/base/pages.h"

G_BEGIN_DECLS

/** Bytes that are in memory now, by what they are pages of, and the most since the last reset. */
typedef struct
{
  guint64 resident;
  guint64 anonymous, file, shared; /* of those: of no file; of files; of shared memory */
  guint64 peak;
} GantryProcessMemory;

/**
 * gantry_process_memory_read:
 *
 * The kernel counts by the processor: a figure may be off by 64 pages for each of them.
 *
 * Returns: FALSE where the system does not say: @memory is all zero then
 */
gboolean gantry_process_memory_read (GantryProcessMemory *memory);

/** Lets the peak begin anew. Returns: FALSE where the system does not do that: the peak is that of the whole process */
gboolean gantry_process_memory_reset_peak (void);

/** Bytes of memory that this machine has, used or not; what is larger is not to be allocated. */
guint64 gantry_process_memory_of_machine (void);

/** What the mappings of the process hold, in memory now: bytes. */
typedef struct
{
  guint64 programs; /* the program and its libraries: files of which some part can be run */
  guint64 files;    /* other files */
  guint64 code;     /* made at run time: memory of no file that can be run */
  guint64 rest;     /* heap, stacks, and what was mapped for data */
} GantryProcessMappings;

/** Walks through all pages: milliseconds for each GiB. Returns: FALSE where the system does not say */
gboolean gantry_process_memory_map (GantryProcessMappings *mappings);

/** @bytes: (out): of GantryProcessMappings.code alone, without a walk through all other pages. Returns: FALSE where the system does not say */
gboolean gantry_process_memory_code (guint64 *bytes);

/**
 * gantry_process_memory_trim:
 *
 * Lets the heap give back what is free, and the system take back the pages of the program and its libraries that are as in their
 * files: of a compiler that has done its work nothing need stay. What is needed again comes from the system's cache of those files.
 * From now on blocks of a MiB come from the system and go back to it.
 */
void gantry_process_memory_trim (void);

G_END_DECLS
