/* SPDX-License-Identifier: Apache-2.0 */
/* Python programs as models: a child process runs the program (gantry-cli python --graphs) and leaves its graphs as files. What
 * the program does, loops, crashes or prints, costs that import and nothing else. */
#pragma once
#include "core/base/progress.h"
#include "core/base/scratch.h"

G_BEGIN_DECLS

typedef struct
{
  char *name;       /* "Net.construct"; the second of that name "Net.construct#2" */
  char *arguments;  /* "f32[2,3]" */
  char *host_lines; /* "file:line: text" a line; "" where the graph needs no Python */
  char *policy;     /* statements of core/planner/policy/policy.h, one a line; "" where the program says nothing of memory */
  char *file;       /* text module in the folder */
} GantryProgramGraph;

void gantry_program_graph_free (gpointer graph); /* GDestroyNotify */

typedef struct
{
  char *file, *type, *message;
  guint line, column; /* from 1; 0: not known */
  char *calls;        /* "file:line:column: called from here, in Net.construct" a line, innermost first; "" where nothing called it */
} GantryProgramError;

typedef struct
{
  GantryScratch *scratch; /* the folder of the files, removed with this */
  GPtrArray *graphs;      /* (element-type GantryProgramGraph) */
  GPtrArray *errors;      /* (element-type GantryProgramError): what no graph could be made of */
  GPtrArray *sources;     /* (element-type filename): the program's own modules that it imported, full paths in their order */
  char *said;             /* the end of what the program printed */
  char *failure;          /* (nullable): how the program ended, where it did not end well */
} GantryProgramGraphs;

/** The program makes several graphs, and none of them was named, or one that it does not make. */
#define GANTRY_PROGRAM_CHOICE (gantry_program_choice_quark ())
/** Returns: the domain of such an error, whose code is %GANTRY_ERROR_INVALID; write it %GANTRY_PROGRAM_CHOICE */
GQuark gantry_program_choice_quark (void);
/** What such an error lists. Returns: (transfer none) (nullable) (element-type GantryProgramGraph): name and arguments alone; NULL: another error */
GPtrArray *gantry_program_choice_graphs (const GError *error);

/** Sets such an error: @message, then the names and arguments of @graphs (element-type GantryProgramGraph). */
void gantry_program_choice_set (GError **error, GPtrArray *graphs, const char *message);

void gantry_program_graphs_free (GantryProgramGraphs *graphs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryProgramGraphs, gantry_program_graphs_free)

/**
 * gantry_program_graphs_run:
 * @path: of a Python program
 * @sha256: (nullable): of what may run; where it has changed it is not run
 *
 * Runs it, for at most $GANTRY_PYTHON_SECONDS (600), and at most 64 MiB of output. Lines that it prints are reported as
 * progress.
 *
 * Returns: (transfer full) (nullable): NULL where it could not be run, was stopped or cancelled
 */
GantryProgramGraphs *gantry_program_graphs_run (const char *path, const char *sha256, const GantryProgress *progress, GError **error);

/**
 * gantry_program_graphs_find:
 * @entry: (nullable): name; NULL: the only one
 *
 * Returns: (nullable) (transfer none): NULL with an error that lists the graphs, or says why there is none
 */
const GantryProgramGraph *gantry_program_graphs_find (const GantryProgramGraphs *graphs, const char *path, const char *entry, GError **error);

G_END_DECLS
