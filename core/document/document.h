/* SPDX-License-Identifier: Apache-2.0 */
/* core/document: the one object that views observe and gantry-cli drives. It owns the opened model, the
 * settings and all results, runs long work on worker threads with progress and cancel, keeps the undo
 * history, starts the child that runs generated code, and reads and writes the .gantry session file. */
#pragma once
#include "core/compiler/allocations.h"
#include "core/compiler/compiler.h"
#include "core/document/forecast.h"
#include "core/document/plan-changes.h"
#include "core/planner/solver/solve.h"
#include "core/plan/memory-measure.h"
#include "profiler/recording.h"

G_BEGIN_DECLS

/**
 * GantryCode: the texts of one kernel, as the run that made it kept them. What was generated once for several is at one
 * address.
 *
 * @assembly: of the processor, or PTX where @arch is set
 * @schedule: the bound program: what is done by which block and thread
 * @cubin: machine code for @arch, for a disassembler
 * @is_measured: the assembler said the figures that follow, in registers and bytes of one thread, @shared_bytes of a block
 */
typedef struct
{
  guint32 node;   /* node id of the last snapshot */
  char *kernel;   /* name */
  char *kind;     /* "generated", "library", "builtin" */
  char *texpr;    /* (nullable) */
  char *llvm_ir;  /* (nullable) */
  char *assembly; /* (nullable) */
  char *schedule; /* (nullable) */
  char *arch;     /* (nullable): "sm_90a" */
  GBytes *cubin;  /* (nullable) */
  gboolean is_measured;
  guint32 registers, spill_store_bytes, spill_load_bytes, stack_bytes, shared_bytes;
} GantryCode;

/** Before GantryRunResult.when, where that is when a file was written. */
#define GANTRY_WHEN_OF_FILE "file of "

/**
 * GantryRunResult: one measured run. Immutable, reference counted.
 *
 * @peak_bytes: most that the device held, as measured; 0: it was not measured
 * @memory: (nullable): all that was measured of memory
 * @limit: of device memory, bytes, that it was planned and run within, and so is held against; 0: none, or an older file does not say
 * @copied_in_out: bytes of inputs and results that were copied since they could not be used where they lie; no file keeps it
 * @milliseconds: median of the runs measured: by the host's clock, and where a GPU was recorded by the GPU's, from its first work of a run to its last
 * @plan: what was run
 */
typedef struct
{
  gatomicrefcount ref_count;
  char *uid; /* tells runs apart wherever their file goes */
  char *name;
  char *device;
  char *arch;        /* "sm_90a": the GPU that ran code for that, "": the processor, "grid": that with schedules of a GPU; NULL: not known */
  char *when;        /* ISO 8601, UTC; after GANTRY_WHEN_OF_FILE that of the file it was read from: the recording does not say */
  char *program;     /* checksum of what was run; NULL: of what the document has compiled when the run is added */
  char *other_model; /* SHA-256 of the model that was run where that is not the one that is open: its file has changed since. Else NULL. "unknown" where
                      * its files were gone before they were hashed */
  guint n_threads;
  guint n_runs;
  double milliseconds, milliseconds_min, milliseconds_max;
  double compile_ms;
  guint64 peak_bytes, limit, copied_in_out;
  GantryPlan *plan;
  GantryMemoryMeasure *memory;
  char *unmeasured; /* (nullable): why there is no @memory, where it was to be measured; no file keeps it */
  GantryRecording *recording;
  GPtrArray *codes; /* GantryCode */
} GantryRunResult;

/** Whether more was touched than @limit bytes of device memory, 0: none, also without what whole pages make of it. */
gboolean gantry_run_result_exceeds (const GantryRunResult *run, guint64 limit);
/** Whether a GPU ran it: its times are then the GPU's where it was recorded, not the host's. */
gboolean gantry_run_result_is_of_gpu (const GantryRunResult *run);
/**
 * gantry_run_result_get_times:
 * @run: with a recording
 * @launch: (element-type double) (nullable): of each run, milliseconds that the host took before the GPU began, appended; nothing where
 *   the times are the host's
 *
 * Returns: (transfer full) (element-type double): milliseconds of each recorded run, by the clock that @milliseconds of @run is by
 */
GArray *gantry_run_result_get_times (const GantryRunResult *run, GArray *launch);
/** Returns: (transfer full): with a uid of its own and nothing else, to be filled before anyone else has it */
GantryRunResult *gantry_run_result_new (void);
GantryRunResult *gantry_run_result_ref (GantryRunResult *result);
void gantry_run_result_unref (GantryRunResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryRunResult, gantry_run_result_unref)
/**
 * gantry_run_result_is_of:
 *
 * Whether what ran is the program of @compilation: the same nodes computed, on values of the same sizes, however they were placed. The
 * file of the model may be exported again while it is open: what ran before is none of it, whatever its nodes are numbered.
 * Nodes that passes make have other ids each time that a model is compiled while it is open.
 */
gboolean gantry_run_result_is_of (const GantryRunResult *run, const GantryCompilation *compilation);
/** Whether it is known that something else ran: neither the program of @compilation nor another version of its model. */
gboolean gantry_run_result_is_of_another (const GantryRunResult *run, const GantryCompilation *compilation);
/**
 * gantry_run_result_difference:
 * @steps: (array length=n_steps): of a plan of the same program
 *
 * What was measured is of the plan that was run. Times do not matter, and of a run without a plan nothing is known. O(n_steps)
 *
 * Returns: (transfer none) (nullable): %NULL where the same was done in the same order; else in what way the run was another:
 *  "with other placements", "in another order", "with the model as it was"
 */
const char *gantry_run_result_difference (const GantryRunResult *run, const GantryPlanStep *steps, guint32 n_steps);
/**
 * gantry_run_result_add_code:
 * @code: copied
 * @same: (nullable): one of @result that was generated once with it: LLVM IR, assembly, schedule and machine code are its
 *
 * Returns: (transfer none): what was added
 */
const GantryCode *gantry_run_result_add_code (GantryRunResult *result, const GantryCode *code, const GantryCode *same);
/** Returns: (nullable): the code that did the work of @node */
const GantryCode *gantry_run_result_code (const GantryRunResult *result, guint32 node);

/**
 * GantryOpenOptions: how a file is opened; what the model is opened with is kept in the session file.
 *
 * @bindings: (nullable): sizes of symbolic dimensions, values of inputs; of a session they are added to its own
 * @settings: (nullable): how to compile; NULL: as the session says, or the defaults
 * @random_weights: a seed for made-up weights, -1 for the file's own
 * @trusted: (nullable) (array zero-terminated=1): marks (gantry_model_program_mark()) of Python programs that may run; NULL: none
 * @run_program: the user says that the model, a Python program, may run
 * @changed_model: the user says that a session whose model's file has changed opens with the model as it is now: its runs are then of
 *  the model as it was, and the document is unsaved. Without it that is %GANTRY_ERROR_CHANGED, unless the session carries its model
 * @adjust: (nullable): changes the settings that come of this, before they are used; of the blocking open only
 */
typedef struct
{
  const GantryBindings *bindings;
  const GantryCompileSettings *settings;
  gint64 random_weights;
  void (*adjust) (GantryCompileSettings *settings, gpointer user_data);
  gpointer adjust_data;
  const char *const *trusted;
  gboolean run_program;
  gboolean changed_model;
} GantryOpenOptions;
#define GANTRY_OPEN_OPTIONS_INIT \
  { \
    .random_weights = -1 \
  }

/**
 * GantryVariant: a named way to place things. Immutable, reference counted.
 *
 * @policy: (nullable): statements; @choices: (nullable): single values; @limit: that the user gave, bytes, 0: none;
 *  @limit_part: it was given as this part of the peak of keeping everything, 0: in bytes
 * @by: GANTRY_DECIDED_BY_CLICK: made by hand; GANTRY_DECIDED_BY_SOLVER
 * @basis: what the figures are of (gantry_document_is_current()); 0: not known, as of all that come from a file
 * @predicted: FALSE: @figures are not known. They are those of its plan where that is made, else what was predicted
 * @gap: of a solution: how far it may be from the best, as a part of it; negative: not known
 * @proof, @method, @cut, @milliseconds: of a solution just found; not kept in the session file
 */
typedef struct
{
  gatomicrefcount ref_count;
  char *name;
  char *policy;
  GantryChoices *choices;
  guint64 limit;
  double limit_part;
  GantryDecider by;
  gboolean predicted;
  GantryPlanFigures figures;
  guint64 basis;
  double gap;
  GantryProof proof;
  const char *method; /* (nullable): static */
  gboolean cut;
  double milliseconds;
} GantryVariant;

GantryVariant *gantry_variant_ref (GantryVariant *variant);
void gantry_variant_unref (GantryVariant *variant);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryVariant, gantry_variant_unref)
/** The same with another name. */
GantryVariant *gantry_variant_renamed (const GantryVariant *variant, const char *name);
/** Whether what is predicted keeps to the limit: of what does not, the time is one that nobody gets. */
gboolean gantry_variant_fits (const GantryVariant *variant);
/** Whether it, or its policy, stores any value in fewer bits: results of a run are approximate. */
gboolean gantry_variant_is_approximate (const GantryVariant *variant);
/** Its name, which says so of one that is approximate. (transfer full) */
char *gantry_variant_shown_name (const GantryVariant *variant);

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
 * - "run" (pointer, GantryRunResult, nullable): the run shown. Compiling again to another program (a training step, other passes,
 *   another batch) shows the last run of that program, or none
 * - "busy" (boolean), "progress" (double, negative: unknown), "activity" (string): long work under way
 * - "can-undo", "can-redo" (boolean)
 * - "settings" (pointer, const GantryCompileSettings, nullable): any of them was edited
 * - "placements" (pointer, GantryPlacements, nullable): what policy and clicks decide, by node of the last snapshot;
 *   set at once by an edit
 * - "prediction" (pointer, GantryForecast, nullable): for these placements. Set before an edit returns where the answer is quick
 *   enough for a frame, else from a worker thread a little later
 * - "plan" (pointer, GantryPlan, nullable): the whole plan for them, from a worker thread; until it comes the one before.
 *   NULL when it does not fit: then "plan-error" is set
 * - "plan-error" (pointer, GError, nullable)
 * - "variants" (pointer, GPtrArray of GantryVariant): changes as a whole
 * - "front-progress" (double): of the search that gantry_document_keep_front() is about, from 0 to 1; -1: none is under way
 * - "front" (pointer, GPtrArray of GantryVariant, nullable): the last that was found, where it is of the program as it is
 * - "changes" (pointer, GantryPlanChanges, nullable): what came of the last change of the times that are planned with
 *
 * Signals:
 * - "error" (const char *what, const GError *error): work that an edit started has failed, so that no caller hears of it;
 *   @what for people: "The program could not be compiled again"
 */
GantryDocument *gantry_document_new (void);

/* Reading */
/** The file that is open: the model or recording, the session once there is one. (transfer none) (nullable): before the first. */
const char *gantry_document_get_path (GantryDocument *document);
/** The session file that it was opened from or saved to: (transfer none) (nullable). */
const char *gantry_document_get_session_path (GantryDocument *document);
/** All files that what is open was read from, for what writes others: the session, the model with all that belongs to it. (transfer full) */
GantryReadFiles *gantry_document_get_read_files (GantryDocument *document);
GantryCompilation *gantry_document_get_compilation (GantryDocument *document); /* (transfer none) (nullable) */
GantryModel *gantry_document_get_model (GantryDocument *document);             /* (transfer none) (nullable) */
/** Returns: (transfer none) (nullable): valid until the next edit; NULL while nothing is open */
const GantryCompileSettings *gantry_document_get_settings (GantryDocument *document);
GantryRunResult *gantry_document_get_run (GantryDocument *document); /* (transfer none) (nullable) */
/** As gantry_run_result_is_of_another() of @run (nullable: then %FALSE) and the document's compilation. Linear once for each of them */
gboolean gantry_document_is_run_of_another (GantryDocument *document, GantryRunResult *run);
GPtrArray *gantry_document_get_runs (GantryDocument *document); /* (element-type GantryRunResult) */
/** Which runs of the file are not among them, and why. (transfer none) (nullable): all are */
const GError *gantry_document_get_left_out (GantryDocument *document);
/**
 * gantry_document_get_plan_of_run:
 * @run: (nullable)
 *
 * What was run is planned with the workspaces that its kernels asked for, so its plan is the one to lay the measurement over, as long
 * as it is a plan of the program that is compiled, with the placements and the times as they are, and its kernels were made as those
 * are that is planned for. O(steps + buffers)
 *
 * Returns: (transfer none) (nullable): the plan of @run if it fits, else the document's, else the compilation's
 */
GantryPlan *gantry_document_get_plan_of_run (GantryDocument *document, const GantryRunResult *run);
/** Whether something is opened, compiled, run, solved or deleted now. Planning after an edit does not count. */
gboolean gantry_document_is_busy (GantryDocument *document);
/**
 * gantry_document_delete_run_async:
 * @run: one of the document's
 *
 * Deletes a run, from the session file too where it is in there, which is then smaller. There is no undo: ask before.
 */
void gantry_document_delete_run_async (GantryDocument *document, GantryRunResult *run, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: FALSE with @error where the file cannot be written; the run is then still there */
gboolean gantry_document_delete_run_finish (GantryDocument *document, GAsyncResult *result, GError **error);
/** Whether something would be lost with the document: edits (unless all are undone), notes or runs that are in no file. A model
 * that was only looked at is no loss. */
gboolean gantry_document_is_unsaved (GantryDocument *document);

/* Work, blocking: for gantry-cli, tests and worker threads of its own. */
/** @options (nullable). Opens a model or a .gantry session, compiles it (a refusal is kept in the compilation), loads its runs. */
gboolean gantry_document_open (GantryDocument *document, const char *path, const GantryOpenOptions *options, const GantryProgress *progress, GError **error);
/** Compiles the model again with the settings as they are. FALSE with @error, and what was there stays, where that fails */
gboolean gantry_document_recompile (GantryDocument *document, const GantryProgress *progress, GError **error);
/** Writes everything into a session file, in one transaction. @path NULL: the file it came from. */
gboolean gantry_document_save (GantryDocument *document, const char *path, GError **error);
/** Whether saves from now on carry the model's files along, so that the session opens where they are not. One that has them keeps
 * them. */
void gantry_document_set_embed (GantryDocument *document, gboolean embed);
/** @result: (transfer none). It becomes the run shown. */
void gantry_document_add_run (GantryDocument *document, GantryRunResult *result);
/** @result: (nullable) (transfer none): one of the document's becomes the run shown; no edit. */
void gantry_document_set_run (GantryDocument *document, GantryRunResult *result);

/* Work, on a worker thread; the results are set on the main loop. Opening cancels everything under way; compiling again
 * cancels compiling. A run or a search goes on when something is edited meanwhile. An old answer is dropped. */
/** @options: (nullable): copied. As gantry_document_open(), but for `adjust`, which is not called */
void
gantry_document_open_async (GantryDocument *document, const char *path, const GantryOpenOptions *options, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: FALSE with @error as gantry_document_open() has it, or %G_IO_ERROR_CANCELLED; what was open stays */
gboolean gantry_document_open_finish (GantryDocument *document, GAsyncResult *result, GError **error);

/**
 * gantry_document_recompile_async:
 * @callback: (nullable): NULL: a failure is told by the signal "error"
 *
 * As gantry_document_recompile(). A model has to be open.
 */
void gantry_document_recompile_async (GantryDocument *document, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: FALSE with @error, or %G_IO_ERROR_CANCELLED; the compilation is then the one before */
gboolean gantry_document_recompile_finish (GantryDocument *document, GAsyncResult *result, GError **error);
/**
 * gantry_document_reload_async:
 * @run_program: the user allows that a model that is a program runs as it is now; else only as it was when it was opened
 *
 * Opens the model's file again as it is now. Settings, placements, edits, runs and notes stay; gantry_document_recompile_finish() ends
 * it. Where it fails what was open stays. A session is unsaved where the file has brought another model: saved, it is of that one.
 */
void gantry_document_reload_async (GantryDocument *document, gboolean run_program, GAsyncReadyCallback callback, gpointer user_data);
/**
 * gantry_document_merge_runs_async:
 *
 * Reads the runs that others have added to the session file. The last of them becomes the run shown. Nothing is modified by it.
 */
void gantry_document_merge_runs_async (GantryDocument *document, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: how many came; 0 also with @error */
guint gantry_document_merge_runs_finish (GantryDocument *document, GAsyncResult *result, GError **error);

/**
 * gantry_document_save_async:
 * @path: (nullable): NULL: the file it came from; where there is none the answer is %GANTRY_ERROR_INVALID
 *
 * As gantry_document_save(), of the document as it is now: edits made meanwhile are unsaved afterwards.
 */
void gantry_document_save_async (GantryDocument *document, const char *path, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: FALSE with @error; the file is then as it was */
gboolean gantry_document_save_finish (GantryDocument *document, GAsyncResult *result, GError **error);

/**
 * gantry_document_can_run:
 * @error: why not: nothing is open, the program is refused, it does not fit as it is set now, or other work is under way
 *
 * Whether the program can be run as it is set. A limit that did not fit when the file was opened matters no more once it is lifted.
 */
gboolean gantry_document_can_run (GantryDocument *document, GError **error);
/** Exit status of gantry-cli run, where all is done and more memory was touched than its limit. */
#define GANTRY_CHILD_ABOVE_LIMIT 4
/**
 * gantry_document_run_async:
 * @cli: path of gantry-cli
 * @n_runs: measured runs
 *
 * Saves what is open to a private session file, starts `gantry-cli run --session` on it, follows its progress lines and
 * takes the new run from the file. However the child ends (a fault, a kill, an exit) the document is as it was,
 * and the error says how it ended and shows the last lines that it wrote.
 */
void gantry_document_run_async (GantryDocument *document, const char *cli, guint n_runs, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: FALSE with @error: %GANTRY_ERROR_UNSUPPORTED and others as the child says, or %G_IO_ERROR_CANCELLED */
gboolean gantry_document_run_finish (GantryDocument *document, GAsyncResult *result, GError **error);
/**
 * gantry_document_find_sizes_async:
 *
 * Asks the child, in the background, what the kernels of the program need (gantry-cli knows it from the user's cache, or makes them),
 * and plans with it. Nothing tells that it is under way; another compilation or a newer question drops its answer. NULL for
 * @callback: nobody waits.
 */
void gantry_document_find_sizes_async (GantryDocument *document, const char *cli, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: FALSE with @error, or %G_IO_ERROR_CANCELLED; plans then go on without */
gboolean gantry_document_find_sizes_finish (GantryDocument *document, GAsyncResult *result, GError **error);
/**
 * gantry_document_take_machine:
 *
 * The processor of this machine was measured (gantry-cli calibrate --keep), and what is kept of that has changed: what is open is planned
 * with it, unless somebody has said what it is planned for. No edit: nothing is modified by it.
 */
void gantry_document_take_machine (GantryDocument *document);
/** Stops everything under way; the callbacks get %G_IO_ERROR_CANCELLED. */
void gantry_document_cancel (GantryDocument *document);
/** Process id of the running child as text, NULL when none runs: for tests that kill it. */
const char *gantry_document_child_id (GantryDocument *document);

/* Edits: undoable, and each followed by the work that it asks for when a main loop runs the document: opening again,
 * compiling again, or only planning again. What fails then is told by the signal "error". */
/** @pass: name of one; nothing happens where it is so already. */
void gantry_document_set_pass_enabled (GantryDocument *document, const char *pass, gboolean enabled);
/** @finite_math: whether passes may take values for finite, neither infinite nor NaN; nothing happens where it is so already. */
void gantry_document_set_finite_math (GantryDocument *document, gboolean finite_math);
/** @bindings take the place of those before; @name: of the edit. Reopens the model; where that fails the edit is taken back
 * and the error told. */
void gantry_document_bind (GantryDocument *document, const GantryBindings *bindings, const char *name);
/** One more, or another size of it. */
void gantry_document_bind_dim (GantryDocument *document, const char *name, gint64 size);
/** Returns: (nullable) (transfer none): NULL while nothing is open */
const GantryBindings *gantry_document_get_bindings (GantryDocument *document);
/** @training: (nullable): NULL: no training step */
void gantry_document_set_training (GantryDocument *document, const GantryTrainingOptions *training);
void gantry_document_set_limit (GantryDocument *document, guint64 bytes); /* 0: none */
/** A limit that is @part (above 0) of the peak of keeping everything, and stays that when the program becomes another. */
void gantry_document_set_limit_part (GantryDocument *document, double part);
/** @target: copied: the machine that is planned for, with its limit; nothing happens where it is so already. */
void gantry_document_set_target (GantryDocument *document, const GantryTarget *target);
/** The order of execution and who gives places: an edit; nothing happens where it is so already. */
void gantry_document_set_allocation (GantryDocument *document, GantryOrderPolicy order, GantryAllocator allocator);
/** Plans with every order and allocator on a thread, as gantry_compilation_compare_allocations(). A program must be there. */
void gantry_document_compare_allocations_async (GantryDocument *document, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: (transfer full) (nullable) (element-type GantryAllocation) */
GArray *gantry_document_compare_allocations_finish (GantryDocument *document, GAsyncResult *result, GError **error);
/** Several of the above as one edit, for a dialog: @settings replaces them all but the choices. */
void gantry_document_set_settings (GantryDocument *document, const GantryCompileSettings *settings, const char *name);
/**
 * gantry_document_set_measured:
 * @run: (nullable): NULL: the times that the model predicts
 *
 * Plans with the times of @run, and with the link that it measured: "replan with measured times". They are kept by what the nodes
 * are, so they outlive the run; nodes that it did not run keep their predicted times. What differs is told by "changes".
 *
 * Returns: FALSE with %GANTRY_ERROR_INVALID where the run measured nothing of this program
 */
gboolean gantry_document_set_measured (GantryDocument *document, GantryRunResult *run, GError **error);
/**
 * gantry_document_set_kernel_sizes:
 *
 * What the kernels of a program need beside operands and results: plans count it where it is of the program that is compiled. It is
 * no edit, and kept in the session.
 */
void gantry_document_set_kernel_sizes (GantryDocument *document, GantryKernelSizes *sizes);
/**
 * gantry_document_predicted_elsewhere:
 * @run: a run of the program
 *
 * What is predicted for one machine, or for kernels of a library, is no prediction of what was measured on another, or without that: who
 * shows both says what it is for.
 *
 * Returns: (transfer full) (nullable): NULL where times are predicted for the machine and the kernels of @run, as far as is known,
 *  else what they are predicted for: the target, what ran that they were measured on, or "cpu, 2 threads with library"
 */
char *gantry_document_predicted_elsewhere (GantryDocument *document, const GantryRunResult *run);
/**
 * gantry_document_run_difference:
 * @run: of the program
 * @steps: (array length=n_steps): of the plan that it is shown beside
 *
 * In what way @run is not of what is planned: gantry_run_result_difference(), and how it was made that the plan is not for: other
 * threads, instructions, or library, or on another machine than the target.
 *
 * Returns: (transfer full) (nullable): "with other placements, with no library"; %NULL where it is of it
 */
char *gantry_document_run_difference (GantryDocument *document, const GantryRunResult *run, const GantryPlanStep *steps, guint32 n_steps);
/**
 * gantry_run_result_planned_elsewhere:
 *
 * Beside times of kernels stand those of the plan that ran, which are for a target.
 *
 * Returns: (transfer none) (nullable): that target's name, where the processor ran it and is another; of a GPU its name says nothing
 */
const char *gantry_run_result_planned_elsewhere (const GantryRunResult *run);
/** What the last edit of that kind changed; NULL before, and when another program came. (transfer none) (nullable) */
GantryPlanChanges *gantry_document_get_changes (GantryDocument *document);
/** Takes the last edit back, with the work that this asks for; nothing happens where there is none. */
void gantry_document_undo (GantryDocument *document);
/** Does again what was undone last; nothing happens where nothing was, or another edit has come since. */
void gantry_document_redo (GantryDocument *document);
/** What undo would take back, for a menu: "recompute of 12 values". (transfer none) (nullable) */
const char *gantry_document_get_undo_name (GantryDocument *document);
/** What redo would do again, likewise. (transfer none) (nullable) */
const char *gantry_document_get_redo_name (GantryDocument *document);

/* Placements (document-placing.c) */

GantryPlacements *gantry_document_get_placements (GantryDocument *document); /* (transfer none) (nullable) */
GantryForecast *gantry_document_get_prediction (GantryDocument *document);   /* (transfer none) (nullable) */
GantryPlan *gantry_document_get_plan (GantryDocument *document);             /* (transfer none) (nullable) */
const GError *gantry_document_get_plan_error (GantryDocument *document);     /* (nullable) */
/**
 * gantry_document_fits:
 *
 * Whether the placements as they are keep to the limits: the plan says so, and until it comes the prediction. What does not fit is
 * never run, so a time that is predicted for it is one that nobody gets: whoever shows or compares times asks this first.
 */
gboolean gantry_document_fits (GantryDocument *document);
/** Whether what is open is a recording of another program alone: nothing of it is planned. */
gboolean gantry_document_is_recording (GantryDocument *document);
/** What the plan would be that does not fit, to be looked at only: changes with the plan. (transfer none) (nullable) */
GantryPlan *gantry_document_get_refused_plan (GantryDocument *document);
/**
 * gantry_document_get_plan_figures:
 * @figures: (out caller-allocates): of what is placed now: of its plan, of the plan that it would be where it does not fit, or, until
 *  that is made, as predicted
 *
 * Reports, comparisons and variants have their figures from here. Linear in the steps.
 *
 * Returns: whether there are any
 */
gboolean gantry_document_get_plan_figures (GantryDocument *document, GantryPlanFigures *figures);
GPtrArray *gantry_document_get_reports (GantryDocument *document); /* (nullable) (element-type GantryPolicyReport) */
/**
 * gantry_document_get_missing:
 *
 * Placements by click or solver of values that the program does not have now, because its model was loaded again or a pass
 * switched: "recompute of tanh hidden". They have no effect, stay, and hold again when the values are back. Changes with
 * the placements.
 *
 * Returns: (transfer none) (element-type utf8)
 */
GPtrArray *gantry_document_get_missing (GantryDocument *document);
/** The same as a sentence that names the first of them. (transfer full) (nullable): NULL where each has its value */
char *gantry_document_missing_text (GantryDocument *document);
/** Takes them back: one edit. */
void gantry_document_forget_missing (GantryDocument *document);
/** Of the thread that owns the document, for candidates, what is allowed and why not, and analyses.
 *  (transfer none) (nullable): while nothing is compiled; a new one with each notify::compilation */
GantryPlanner *gantry_document_get_planner (GantryDocument *document);

#define GANTRY_PLACEMENT_UNSET (-1) /* no click: as the policy says */

/**
 * gantry_document_set_placement:
 * @snapshot: where the ids are from; they are followed to the last one
 * @nodes: (array length=n): values, or views of them; what takes no placement is passed over
 * @kind: GantryPlacementKind, or GANTRY_PLACEMENT_UNSET
 * @why: (out) (optional) (nullable) (transfer full): of those that cannot have it, how many and why
 *
 * One edit; another on the same values right after it becomes part of it.
 *
 * Returns: how many values it was set for
 */
guint gantry_document_set_placement (GantryDocument *document, guint snapshot, const guint32 *nodes, guint n, int kind, char **why);
/** Takes all clicks back: one edit. */
void gantry_document_clear_placements (GantryDocument *document);
/** FALSE and @error, with nothing changed, where the text has a mistake. */
gboolean gantry_document_set_policy (GantryDocument *document, const char *policy, GError **error); /* (nullable) */

/* Sets of values to place, as ids of the last snapshot. (transfer full) (element-type guint32) */
/** The values that decide for @nodes of @snapshot: what a click, or a search, stands for. */
GArray *gantry_document_placeable (GantryDocument *document, guint snapshot, const guint32 *nodes, guint n);
/** Of all nodes whose scope is @path or inside it. */
GArray *gantry_document_placeable_in_scope (GantryDocument *document, const char *path);
/** The same values in all equal blocks: those whose scopes are the same but for numbers ("layer.3", "iteration.12"). */
GArray *gantry_document_placeable_alike (GantryDocument *document, guint snapshot, const guint32 *nodes, guint n);

/* Variants (document-variants.c): kept in the session file; edits of the list are undoable. */

GPtrArray *gantry_document_get_variants (GantryDocument *document); /* (transfer none) (element-type GantryVariant) */
/** The placements, policy and limit as they are now, with what is predicted for them. Not added. (transfer full) */
GantryVariant *gantry_document_make_variant (GantryDocument *document, const char *name);
/** Adds, or replaces the one of that name. */
void gantry_document_add_variant (GantryDocument *document, GantryVariant *variant);
/** Nothing happens where there is no variant @from, or there is one @to already. */
void gantry_document_rename_variant (GantryDocument *document, const char *from, const char *to);
/** Nothing happens where there is none of that name. */
void gantry_document_delete_variant (GantryDocument *document, const char *name);
/** Makes the document's placements, policy and limit those of @variant: one edit. */
void gantry_document_load_variant (GantryDocument *document, GantryVariant *variant);
/**
 * gantry_document_predict_variants:
 *
 * Figures of variants and of the front are of a program, its passes, times, target, and what its kernels need. Predicts those anew that
 * are of before, as they would be once loaded, on a worker thread; then notifies "variants". Not an edit. What kept figures of a
 * solution say of the best there is (@gap, @proof) goes with them where they change.
 */
void gantry_document_predict_variants (GantryDocument *document);
/** @variant with the figures of now where they are known, else as it is. (transfer none) */
GantryVariant *gantry_document_get_figures (GantryDocument *document, GantryVariant *variant);
/** Whether the figures of @variant are of the program, the times and the target as they are now. */
gboolean gantry_document_is_current (GantryDocument *document, const GantryVariant *variant);

/**
 * gantry_document_solve_async:
 * @goal: what it points to is not kept; `better` is not called: "activity" tells the best so far
 *
 * Searches on a worker thread; clicks stay as they are. The answer is a variant that is neither added nor loaded yet.
 */
void gantry_document_solve_async (GantryDocument *document, const GantrySolveGoal *goal, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: (transfer full) (nullable): NULL with @error as gantry_solve(), or %G_IO_ERROR_CANCELLED */
GantryVariant *gantry_document_solve_finish (GantryDocument *document, GAsyncResult *result, GError **error);
/**
 * GantryDivided: the batch of a training step in as many microbatches as are fastest within a limit
 *
 * @batch: examples of a step, as before; @dim: the dimension that has those of one microbatch
 * @variant: placements of the program that has so many, with its figures
 * @n_tried: how many numbers of microbatches were searched with, up to @most_tried
 * @ended: others were not, for the search was ended by its time, by its user or by a number that has no program
 * @counted: the loss is a mean over the rows whose label is a class, which may be more in one microbatch than in another
 * @n_models: of which model of the document it is
 */
typedef struct
{
  GantryVariant *variant;
  guint microbatches;
  char *dim;
  gint64 batch;
  guint n_tried, most_tried;
  gboolean ended, counted;
  guint n_models;
} GantryDivided;

void gantry_divided_free (GantryDivided *divided);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryDivided, gantry_divided_free)
/** "64 as 4 microbatches of 16 (dimension 'batch'): ...", with what that means for results. (transfer full) */
char *gantry_divided_text (const GantryDivided *divided);
/**
 * gantry_document_divide:
 * @goal: of memory; its seconds are for all numbers of microbatches together
 * @prepare: (nullable): is given each program before it is searched, in a document of its own: to say what its kernels need
 *
 * As gantry_document_solve(), with as many microbatches as give the fastest step: each divisor of the batch is tried, in rising order, until
 * two behind the best one are no faster, or where none fits, two take no less when they keep everything. That loss and gradients stay those
 * of the whole batch is checked (gantry_training_check_examples()), and so is that a step goes on to have the same inputs.
 *
 * Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_INVALID where the batch cannot be divided, else as gantry_solve() of the last
 *  number that was tried
 */
GantryDivided *gantry_document_divide (GantryDocument *document, const GantrySolveGoal *goal,
                                       gboolean (*prepare) (GantryDocument *document, gpointer data, const GantryProgress *progress, GError **error),
                                       gpointer data, const GantryProgress *progress, GError **error);
/** The same on a worker thread; gantry_document_cancel_solve() ends it. */
void gantry_document_divide_async (GantryDocument *document, const GantrySolveGoal *goal, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: (transfer full) (nullable): as gantry_document_divide(), or %G_IO_ERROR_CANCELLED */
GantryDivided *gantry_document_divide_finish (GantryDocument *document, GAsyncResult *result, GError **error);
/** Makes the document's program, placements and limit (in bytes) those of @divided: one edit. Opens the model again. Returns: FALSE, and nothing
 * is changed: another model, or a newer one, was opened since it was asked for */
gboolean gantry_document_load_divided (GantryDocument *document, const GantryDivided *divided);
/** Points of the front of memory and time. @allowed: as GantrySolveGoal; @seconds: for all of it. */
void gantry_document_front_async (GantryDocument *document, guint n_points, guint allowed, double seconds, GAsyncReadyCallback callback, gpointer user_data);
/** (transfer full) (element-type GantryVariant): by falling peak */
GPtrArray *gantry_document_front_finish (GantryDocument *document, GAsyncResult *result, GError **error);
/**
 * gantry_document_get_front:
 *
 * The front that was last found, with what searches have found since that it does not beat. It is kept in the session: an unsaved one is
 * asked about. Linear in the program, once for each.
 *
 * Returns: (transfer none) (nullable) (element-type GantryVariant): by falling peak; NULL where none was found for the
 *  program as it is
 */
GPtrArray *gantry_document_get_front (GantryDocument *document);
/**
 * gantry_document_keep_front:
 * @n_points: of it, at most
 * @quiet_ms: how long nothing has happened before a search begins; 0: a front is searched for only where it is asked for
 *
 * From now on the front of a training step is searched for by itself, on a thread that gives way to all others: once the step is planned,
 * and nothing is edited, compiled, run or searched for. Whatever of that begins ends the search, and it begins anew when it is quiet
 * again. What it finds is the front where none was asked for, and takes the place of what it had found with other clicks, for another target or with
 * other times; it modifies nothing: who saves the session for another reason saves it along. "front-progress" tells of it.
 */
void gantry_document_keep_front (GantryDocument *document, guint n_points, guint quiet_ms);
/** Ends that search, until the next edit; nothing happens where there is none. */
void gantry_document_stop_front (GantryDocument *document);
/** Ends a search for a solution or a front that was asked for; its callback gets %G_IO_ERROR_CANCELLED. Other work goes on. */
void gantry_document_cancel_solve (GantryDocument *document);

/** Runs the main context of this thread until the work that edits have started is over: for programs without a main loop. */
void gantry_document_wait (GantryDocument *document);

/* Blocking, for gantry-cli. @error as gantry_solve(). */
/** Returns: (transfer full) (nullable): a variant that is neither added nor loaded */
GantryVariant *gantry_document_solve (GantryDocument *document, const GantrySolveGoal *goal, const GantryProgress *progress, GError **error);
/** @n_points: of it, at most; @allowed: as GantrySolveGoal; @seconds: for all of it. Returns: (transfer full) (nullable): as gantry_document_front_finish() */
GPtrArray *gantry_document_front (GantryDocument *document, guint n_points, guint allowed, double seconds, const GantryProgress *progress, GError **error);

/* Notes: free text, kept in the session file. */
const char *gantry_document_get_notes (GantryDocument *document); /* (transfer none) */
/** @notes: (nullable): NULL is "". The document is modified where they differ; undo does not take it back. */
void gantry_document_set_notes (GantryDocument *document, const char *notes);

G_END_DECLS
