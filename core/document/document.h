/* SPDX-License-Identifier: Apache-2.0 */
/* core/document: the one object that views observe and gantry-cli drives. It owns the opened model, the
 * settings and all results, runs long work on worker threads with progress and cancel, keeps the undo
 * history, starts the child that runs generated code, and reads and writes the .gantry session file. */
#pragma once
#include "core/compiler/compiler.h"
#include "profiler/recording.h"

G_BEGIN_DECLS

/* GantryCode: the texts of one kernel, as the run that made it kept them. */
typedef struct
{
  guint32 node;    /* node id of the last snapshot */
  char *kernel;    /* name */
  char *kind;      /* "generated", "library", "builtin" */
  char *texpr;     /* (nullable) */
  char *llvm_ir;   /* (nullable) */
  char *assembly;  /* (nullable) */
} GantryCode;

/**
 * GantryRunResult: one measured run. Immutable, reference counted.
 *
 * @planned_bytes: height of the planned device arena, workspaces included
 * @peak_bytes: the device's own high-water mark
 * @milliseconds: median of the runs measured
 * @plan: what was run
 */
typedef struct
{
  gatomicrefcount ref_count;
  char *uid; /* tells runs apart wherever their file goes */
  char *name;
  char *device;
  char *when; /* ISO 8601, UTC */
  guint n_threads;
  guint n_runs;
  double milliseconds, milliseconds_min, milliseconds_max;
  double compile_ms;
  guint64 planned_bytes, peak_bytes, constant_bytes;
  GantryPlan *plan;
  GantryRecording *recording;
  GPtrArray *codes; /* GantryCode */
} GantryRunResult;

GantryRunResult *gantry_run_result_new (void);
GantryRunResult *gantry_run_result_ref (GantryRunResult *result);
void gantry_run_result_unref (GantryRunResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryRunResult, gantry_run_result_unref)
/** @kind etc. are copied. */
void gantry_run_result_add_code (GantryRunResult *result, const GantryCode *code);
/** Returns: (nullable): the code that did the work of @node */
const GantryCode *gantry_run_result_code (const GantryRunResult *result, guint32 node);

/**
 * GantryOpenOptions: how a file is opened; all of it is kept in the session file.
 *
 * @dims: (array length=n_dims): sizes of symbolic dimensions; of a session they are added to its own
 * @settings: (nullable): how to compile; NULL: as the session says, or the defaults
 * @random_weights: a seed for made-up weights, -1 for the file's own
 */
typedef struct
{
  const GantryDimBinding *dims;
  guint n_dims;
  const GantryCompileSettings *settings;
  gint64 random_weights;
} GantryOpenOptions;
#define GANTRY_OPEN_OPTIONS_INIT { .random_weights = -1 }

#define GANTRY_TYPE_DOCUMENT (gantry_document_get_type ())
G_DECLARE_FINAL_TYPE (GantryDocument, gantry_document, GANTRY, DOCUMENT, GObject)

/**
 * GantryDocument:
 *
 * Properties (all notify on the thread that owns the document, the main loop's in the window):
 * - "path" (string, nullable): model or session file
 * - "title" (string): for the window
 * - "modified" (boolean): something is not in the session file
 * - "compilation" (pointer, GantryCompilation, nullable): changes as a whole
 * - "run" (pointer, GantryRunResult, nullable): the run shown
 * - "busy" (boolean), "progress" (double, negative: unknown), "activity" (string): long work under way
 * - "can-undo", "can-redo" (boolean)
 */
GantryDocument *gantry_document_new (void);

/* Reading */
const char *gantry_document_get_path (GantryDocument *document);
GantryCompilation *gantry_document_get_compilation (GantryDocument *document); /* (transfer none) (nullable) */
GantryModel *gantry_document_get_model (GantryDocument *document);             /* (transfer none) (nullable) */
const GantryCompileSettings *gantry_document_get_settings (GantryDocument *document);
GantryRunResult *gantry_document_get_run (GantryDocument *document);           /* (transfer none) (nullable) */
GPtrArray *gantry_document_get_runs (GantryDocument *document);                /* (element-type GantryRunResult) */
gboolean gantry_document_is_busy (GantryDocument *document);

/* Work, blocking: for gantry-cli, tests and worker threads of its own. */
/** @options (nullable). Opens a model or a .gantry session, compiles it (a refusal is kept in the compilation), loads its runs. */
gboolean gantry_document_open (GantryDocument *document, const char *path, const GantryOpenOptions *options,
                               const GantryProgress *progress, GError **error);
gboolean gantry_document_recompile (GantryDocument *document, const GantryProgress *progress, GError **error);
/** Writes everything into a session file, in one transaction. @path NULL: the file it came from. */
gboolean gantry_document_save (GantryDocument *document, const char *path, GError **error);
/** @result: (transfer none). It becomes the run shown. */
void gantry_document_add_run (GantryDocument *document, GantryRunResult *result);
void gantry_document_set_run (GantryDocument *document, GantryRunResult *result);

/* Work, on a worker thread; the results are set on the main loop. A new request cancels the one under way,
 * and an old answer is dropped. */
void gantry_document_open_async (GantryDocument *document, const char *path, const GantryOpenOptions *options,
                                 GAsyncReadyCallback callback, gpointer user_data);
gboolean gantry_document_open_finish (GantryDocument *document, GAsyncResult *result, GError **error);
void gantry_document_recompile_async (GantryDocument *document, GAsyncReadyCallback callback, gpointer user_data);
gboolean gantry_document_recompile_finish (GantryDocument *document, GAsyncResult *result, GError **error);
void gantry_document_save_async (GantryDocument *document, const char *path, GAsyncReadyCallback callback,
                                 gpointer user_data);
gboolean gantry_document_save_finish (GantryDocument *document, GAsyncResult *result, GError **error);

/**
 * gantry_document_run_async:
 * @cli: path of gantry-cli
 * @n_runs: measured runs
 *
 * Saves what is open to a private session file, starts `gantry-cli run --session` on it, follows its progress lines and
 * takes the new run from the file. However the child ends (a fault, a kill, an exit) the document is as it was,
 * and the error says how it ended and shows the last lines that it wrote.
 */
void gantry_document_run_async (GantryDocument *document, const char *cli, guint n_runs, GAsyncReadyCallback callback,
                                gpointer user_data);
gboolean gantry_document_run_finish (GantryDocument *document, GAsyncResult *result, GError **error);
/** Stops what is under way; its callback gets %G_IO_ERROR_CANCELLED. */
void gantry_document_cancel (GantryDocument *document);
/** Process id of the running child as text, NULL when none runs: for tests that kill it. */
const char *gantry_document_child_id (GantryDocument *document);

/* Edits: undoable, and each followed by recompile_async when a main loop runs the document. */
void gantry_document_set_pass_enabled (GantryDocument *document, const char *pass, gboolean enabled);
void gantry_document_set_finite_math (GantryDocument *document, gboolean finite_math);
void gantry_document_bind_dim (GantryDocument *document, const char *name, gint64 size); /* reopens the model */
void gantry_document_undo (GantryDocument *document);
void gantry_document_redo (GantryDocument *document);

G_END_DECLS
