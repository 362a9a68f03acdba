/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that XLA writes for --xla_dump_to: the module of each compilation before, between and after its passes, each HLO as text (.txt) or
 * as a protocol buffer (.hlo.pb), and what buffer assignment made of the last. The passes stand in the files' names ("xla/service/dump.cc"):
 *   [TIME.]module_0005.NAME.before_optimizations.txt
 *   [TIME.]module_0005.NAME.0001.PIPELINE.after_PASS[.before_PASS].txt
 *   [TIME.]module_0005.NAME.cpu_after_optimizations[-buffer-assignment|-live-range|-memory-usage-report].txt */
#pragma once
#include "core/frontends/xla/xla.h"

G_BEGIN_DECLS

/**
 * GantryXlaDumpModule: one file.
 *
 * @pipeline: (nullable): NULL of the first and the last module
 * @pass: that has just run: "algsimp"; "pipeline-start", "before_optimizations", "after_optimizations"
 * @step: the number that the file's name gives it; 0 of the first, G_MAXUINT of the last
 */
typedef struct
{
  char *file; /* in the folder */
  char *pipeline, *pass;
  guint step;
  guint64 bytes;
} GantryXlaDumpModule;

/**
 * GantryXlaDumpCompilation: what one compilation has left.
 *
 * @name: "jit_step"; the second of that name "jit_step#2"
 * @modules: (element-type GantryXlaDumpModule): in the order of the passes
 * @assignment, @live_ranges: (nullable): files of the last module: where its buffers lie, and when they are alive
 */
typedef struct
{
  char *name;
  char *key; /* "module_0005.jit_step" */
  guint number;
  GPtrArray *modules;
  char *assignment, *live_ranges;
} GantryXlaDumpCompilation;

/**
 * GantryXlaDump:
 *
 * @compilations: (element-type GantryXlaDumpCompilation): in the order of their numbers; each has a module
 * @n_links: symbolic links with the name of a module, which are not followed
 * @files: (element-type utf8): names of all files of dumps, of those too that are not read
 * @problems: (element-type utf8): what was left out, each with its name: a pipe or a device in the place of a file, and, once read, a file
 *  that is broken
 */
typedef struct
{
  char *folder;
  GPtrArray *compilations;
  guint n_links;
  GPtrArray *files;
  GPtrArray *problems;
} GantryXlaDump;

void gantry_xla_dump_free (GantryXlaDump *dump);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryXlaDump, gantry_xla_dump_free)

/**
 * gantry_xla_dump_list:
 *
 * Reads the names alone. At most 100,000 entries; names that are not those of a dump are passed over.
 *
 * Returns: (transfer full) (nullable): NULL where @folder cannot be read, is no dump, or has too much
 */
GantryXlaDump *gantry_xla_dump_list (const char *folder, GError **error);

/**
 * gantry_xla_dump_map:
 * @file: of the folder
 *
 * Returns: (transfer full) (nullable): NULL also where it has become a symbolic link
 */
GMappedFile *gantry_xla_dump_map (const GantryXlaDump *dump, const char *file, GError **error);

/**
 * gantry_xla_dump_read:
 * @info: (out) (transfer full): of the last module
 *
 * Reads all modules of a compilation, at most 4,096 of them and 4 GiB of text. Nodes of each are matched with those of the one before
 * (gantry_xla_match()).
 *
 * Returns: (transfer full) (element-type GantryModule) (nullable): one for each file; a pass that changed nothing has the module of the
 *  one before; NULL in the place of a file that cannot be read, which is told in @dump's problems. NULL with an error that names the file
 *  where none can be read
 */
GPtrArray *gantry_xla_dump_read (GantryXlaDump *dump, const GantryXlaDumpCompilation *compilation, GantryContext *context, GantryXlaInfo **info,
                                 const GantryProgress *progress, GError **error);

/** How many nodes of a module have one of the module before that they were. */
typedef struct
{
  guint n_before, n_after, n_matched;
} GantryXlaMatch;

/**
 * gantry_xla_match:
 * @after: (transfer full): read behind @before, with its names of functions (GantryXlaOptions.like), and held by nobody else: its ids are given anew
 * @last_id: of the context before @after was read
 *
 * XLA keeps no identity from pass to pass. It is found again: by name (with operation and type); by structure, from operands to their
 * users and back, as in similarity flooding (Melnik et al. 2002); and by what the metadata says of source and scope, in order. What is
 * matched and still the same operation keeps its id; what became another one has the old one as its origin. A node without a match
 * comes from one that does the same over the same, as what a fusion computes twice, else from those that left its place in the source. Linear but for a
 * few rounds.
 *
 * Returns: (transfer full): @after under its new ids; @before where they are the same
 */
GantryModule *gantry_xla_match (GantryModule *before, GantryModule *after, guint32 last_id, GantryXlaMatch *match, GError **error);

G_END_DECLS
